/* faults.cc - rows with indices on the CUDA backend, in emulation: an index out of range is told at
 * the next wait, by row and line of its call, and nothing else is harmed; and tensors of more
 * elements than a block has, for which rows' samples are too small, give the CPU's bits. */
#include "../../src/api/cuda.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <math.h>
#include <vector>

static tn_device_id cuda;

static tn_context *begin() {
    char why[200] = "";
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_backend_add(tn_cuda_backend(why, sizeof why)));
    cuda = tn_device("cuda:0");
    return c;
}
/* No error is left, and no memory. */
static void end(tn_context *c) {
    tn_error_info e;
    CHECK(!tn_error_take(&e));
    CHECK_EQ(tn_device_memory(cuda).used, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

static tn_tensor *up(tn_tensor *t) { return tnp_to(t, cuda, TN_NO_DTYPE, false, false); }
static tn_tensor *floats(std::vector<float> v, std::vector<int64_t> shape) {
    return tn_from(v.data(), tn_ints_of(shape.data(), (int64_t)shape.size()), TN_F32);
}
static tn_tensor *places(std::vector<int64_t> v) {
    const int64_t n = (int64_t)v.size();
    return tn_from(v.data(), tn_ints_of(&n, 1), TN_I64);
}
static tn_tensor *zeros() { return up(floats({0, 0, 0, 0}, {4})); }
/* Whether t, of a device, has these elements; reading waits, so a fault is taken before. */
static bool holds(tn_tensor *t, std::vector<double> v) {
    bool same = t && tn_numel(t) == (int64_t)v.size();
    for (size_t i = 0; same && i < v.size(); i++) same = at(t, (int64_t)i) == v[i];
    return same;
}
static void told(const char *text, int line) {
    CHECK(!tn_device_wait(cuda));
    says(TN_INDEX, text, line);
    CHECK(tn_device_wait(cuda));
}
#define TOLD(text) told(text, __LINE__)

/* --- faults ----------------------------------------------------------------------------------- */

static tn_tensor *select_at(const char *file, int line, tn_tensor *x, tn_tensor *index) {
    tn_index_select_args a;
    memset(&a, 0, sizeof a);
    a.self = x;
    a.index = index;
    return tn_index_select_at(file, line, &a);
}

static void an_index_out_of_range_is_told_at_the_next_wait() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = up(floats({5, 6, 7, 8}, {4}));
    tn_tensor *y = select_at("train.c", 81, x, up(places({1, 9, 3})));
    tn_error_info e;
    CHECK(y && !tn_error_peek(&e));
    TOLD("index_select on cuda:0, called at train.c:81: index 9 is out of range for size 4");
    CHECK(holds(y, {6, 5, 8})); /* the wrong one was read as 0 */
    CHECK(holds(tnp_index_select(x, 0, up(places({3, 0}))), {8, 5}));
    tn_scope_end(mark);
    end(c);
}

static void the_first_of_several_is_told() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = up(floats({5, 6, 7, 8}, {4}));
    CHECK(select_at("a.c", 1, x, up(places({-1}))) && select_at("b.c", 2, x, up(places({7}))));
    TOLD("called at a.c:1: index -1 is out of range for size 4");
    CHECK(select_at("c.c", 3, x, up(places({4}))) != NULL);
    TOLD("called at c.c:3: index 4 is out of range for size 4");
    tn_scope_end(mark);
    end(c);
}

/* Each context has its own. */
static void contexts_of_one_device_tell_their_own_faults() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = up(floats({5, 6, 7, 8}, {4}));
    CHECK(x && select_at("first.c", 1, x, up(places({9}))));
    tn_context *other = begin();
    const int64_t inner = tn_scope_begin();
    CHECK(tn_device_wait(cuda));
    tn_tensor *y = up(floats({1, 2}, {2}));
    CHECK(y && select_at("other.c", 2, y, up(places({0}))) && tn_device_wait(cuda));
    CHECK(select_at("other.c", 3, y, up(places({5}))) != NULL);
    tn_context_use(c);
    TOLD("called at first.c:1: index 9 is out of range for size 4");
    tn_context_use(other);
    TOLD("called at other.c:3: index 5 is out of range for size 2");
    tn_scope_end(inner);
    tn_context_use(c);
    tn_scope_end(mark);
    tn_context_use(NULL);
    tn_context_free(other);
    tn_context_use(c);
    end(c);
}

/* However many there are, whether others have ended without a wait or never waited at all. */
static void a_context_among_many_tells_its_own_fault() {
    enum { MANY = 200 };
    std::vector<tn_context *> idle;
    for (int i = 0; i < MANY; i++) { /* ended, with a fault that nobody was told */
        tn_context *c = begin();
        TN_SCOPE {
            CHECK(select_at("ended.c", i, up(floats({5, 6}, {2})), up(places({9}))));
        }
        CHECK_EQ(tn_device_memory(cuda).used, 0);
        tn_context_use(NULL);
        tn_context_free(c);
    }
    for (int i = 0; i < MANY; i++) {
        idle.push_back(begin());
        TN_SCOPE {
            CHECK(select_at("idle.c", i, up(floats({5, 6}, {2})), up(places({7}))));
        }
        tn_context *c = begin();
        TN_SCOPE {
            CHECK(select_at("a.c", 3, up(floats({5, 6}, {2})), up(places({2}))));
        }
        TOLD("called at a.c:3: index 2 is out of range for size 2");
        end(c);
    }
    for (int i = 0; i < MANY; i++) {
        tn_context_use(idle[(size_t)i]);
        TOLD("index 7 is out of range for size 2");
        end(idle[(size_t)i]);
    }
}

static void reading_tells_a_fault() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *y = select_at("a.c", 1, up(floats({5, 6}, {2})), up(places({2})));
    float v;
    CHECK(!tn_read_f32(y, &v, 1));
    says(TN_INDEX, "called at a.c:1: index 2 is out of range for size 2", __LINE__);
    CHECK(holds(y, {5}));
    tn_scope_end(mark);
    end(c);
}

static void a_copy_to_the_host_tells_a_fault() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *y = select_at("a.c", 7, up(floats({5, 6}, {2})), up(places({2})));
    CHECK(!tnp_to(y, TN_CPU, TN_NO_DTYPE, false, false));
    says(TN_INDEX, "called at a.c:7: index 2 is out of range for size 2", __LINE__);
    CHECK(tnp_to(y, TN_CPU, TN_NO_DTYPE, false, false) != NULL);
    tn_scope_end(mark);
    end(c);
}

static void nothing_is_read_of_a_tensor_without_elements() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *none = up(floats({}, {0})), *i = up(places({0})), *y;
    y = tnp_index_select(none, 0, i);
    TOLD("index_select on cuda:0");
    CHECK(holds(y, {0}));
    y = tnp_index(none, tn_tensors_of(&i, 1));
    TOLD("index 0 is out of range for size 0");
    CHECK(holds(y, {0}));
    tn_scope_end(mark);
    end(c);
}

static void rows_that_read_take_element_0() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = up(floats({1, 2, 3, 4}, {4})), *square = up(floats({1, 2, 3, 4}, {2, 2})), *y,
              *both[2] = {up(places({1, 0})), up(places({1, -3}))}, *end4 = up(places({4, 2}));
    y = tnp_gather(x, 0, end4, false);
    TOLD("gather on cuda:0");
    CHECK(holds(y, {1, 3}));
    y = tnp_embedding(square, up(places({1, 2})), -1, false, false);
    TOLD("embedding on cuda:0");
    CHECK(holds(y, {3, 4, 1, 2}));
    CHECK(holds(tnp_index(x, tn_tensors_of(&(both[0] = up(places({-4, -1}))), 1)), {1, 4}));
    y = tnp_index(x, tn_tensors_of(&(both[0] = up(places({-5, -1}))), 1));
    TOLD("index on cuda:0");
    CHECK(holds(y, {1, 4}));
    both[0] = up(places({1, 0}));
    y = tnp_index(square, tn_tensors_of(both, 2));
    TOLD("index -3 is out of range for size 2");
    CHECK(holds(y, {4, 1}));
    y = tnp_nll_loss_plain(square, up(places({1, 2})), NULL, -100, TN_REDUCTION_NONE);
    TOLD("nll_loss_plain on cuda:0, called at ?:0: index 2 is out of range for size 2");
    CHECK(holds(y, {-2, -3}));
    y = tnp_searchsorted(x, up(floats({2.5f}, {1})), false, false, NULL, up(places({0, 1, 9, 3})));
    TOLD("searchsorted on cuda:0");
    tn_scope_end(mark);
    end(c);
}

static void rows_that_write_leave_that_element_out() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *v = up(floats({1, 2, 3, 4}, {4})), *i = up(places({3, 4, -1, 3})), *y,
              *rows = up(floats({1, 2, 3, 4}, {4, 1})), *far = up(places({3, 4, -5, 3}));
    y = tnp_scatter(zeros(), 0, i, v);
    TOLD("scatter on cuda:0");
    CHECK(holds(y, {0, 0, 0, 4}));
    y = tnp_scatter_add(zeros(), 0, i, v);
    TOLD("scatter_add on cuda:0");
    CHECK(holds(y, {0, 0, 0, 5}));
    y = tnp_scatter_value(zeros(), 0, i, tn_float(7));
    TOLD("scatter_value on cuda:0");
    CHECK(holds(y, {0, 0, 0, 7}));
    y = tnp_index_add(zeros(), 0, i, v, 2);
    TOLD("index_add on cuda:0");
    CHECK(holds(y, {0, 0, 0, 10}));
    y = tnp_index_put(zeros(), tn_tensors_of(&far, 1), v, true);
    TOLD("index_put on cuda:0");
    CHECK(holds(y, {0, 0, 0, 5}));
    y = tnp_embedding_dense_backward(rows, i, 4, -1, false);
    TOLD("embedding_dense_backward on cuda:0");
    CHECK(holds(y, {0, 0, 0, 5}));
    y = tnp_one_hot(up(places({1, 2, -1})), 2);
    TOLD("one_hot on cuda:0");
    CHECK(holds(y, {0, 1, 0, 0, 0, 0}));
    tn_scope_end(mark);
    end(c);
}

/* What must be known before anything is written is looked at, and is an error at once. */
static void what_is_counted_is_refused_at_once() {
    tn_context *c = begin();
    const int64_t mark = tn_scope_begin();
    tn_tensor *x = up(floats({1, 2, 3, 4}, {4})), *mask = tnp_gt_scalar(x, tn_float(1)),
              *both[1] = {mask};
    REFUSED(tnp_masked_scatter(x, mask, up(floats({1, 2}, {2}))), TN_INVALID,
            "expected source of at least 3 elements, got 2");
    REFUSED(tnp_index_put(x, tn_tensors_of(both, 1), up(floats({1, 2}, {2})), false), TN_INVALID,
            "cannot be broadcast to indexing result of shape (3)");
    REFUSED(tnp_one_hot(up(places({1, -2})), -1), TN_INDEX, "Class values must be non-negative.");
    CHECK(tn_device_wait(cuda));
    tn_scope_end(mark);
    end(c);
}

/* --- more elements than a block has ----------------------------------------------------------- */

/* n floats, some of them equal, some NaN or a zero of either sign. */
static tn_tensor *mixed(int64_t n, uint64_t seed) {
    std::vector<float> v((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int k = (int)(seed >> 40) % 4001;
        v[(size_t)i] = k == 7 ? NAN : k == 8 ? -0.0f : k == 9 ? 0.0f : (float)(k - 2000) * 0.3f;
    }
    return floats(v, {n});
}
static tn_tensor *mixed_places(int64_t n, int64_t bound, uint64_t seed) {
    std::vector<int64_t> v((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v[(size_t)i] = (int64_t)(seed >> 33) % bound;
    }
    return places(v);
}
/* The same bits, but for the payload of NaN. */
static bool same(tn_tensor *want, tn_tensor *got) {
    tn_tensor *a = tnp_clone(want, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT),
              *b = tnp_clone(tnp_to(got, TN_CPU, TN_NO_DTYPE, false, false),
                             TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    if (!a || !b || tn_numel(a) != tn_numel(b) || tn_dtype_of(a) != tn_dtype_of(b)) return false;
    const int64_t bytes = tn_dtype_bytes(tn_dtype_of(a));
    for (int64_t i = 0; i < tn_numel(a); i++) {
        const char *x = (const char *)tn_data(a) + i * bytes,
                   *y = (const char *)tn_data(b) + i * bytes;
        if (!memcmp(x, y, (size_t)bytes)) continue;
        if (tn_dtype_of(a) != TN_F32 || !(*(const float *)x != *(const float *)x) ||
            !(*(const float *)y != *(const float *)y))
            return false;
    }
    return true;
}

static void long_lanes_are_sorted_as_on_the_cpu() {
    tn_context *c = begin();
    const int64_t sizes[][2] = {{1, 1025}, {3, 2048}, {2, 5000}, {5, 513}, {40, 30}};
    for (const auto &size : sizes)
        for (int way = 0; way < 4; way++) {
            const int64_t mark = tn_scope_begin(), dim = way < 2 ? 1 : 0,
                          turned[2] = {dim ? size[0] : size[1], dim ? size[1] : size[0]};
            tn_tensor *x = tnp_reshape(mixed(size[0] * size[1], 5), tn_ints_of(turned, 2));
            const tn_values_indices want = tnp_sort(x, dim, way % 2),
                                    got = tnp_sort(up(x), dim, way % 2);
            CHECK(same(want.values, got.values) && same(want.indices, got.indices));
            for (int64_t k : {(int64_t)1, (int64_t)7, (int64_t)256, (int64_t)257, size[1]}) {
                if (k > size[1]) continue;
                const tn_values_indices best = tnp_topk(x, k, dim, way % 2, true),
                                        on = tnp_topk(up(x), k, dim, way % 2, true);
                CHECK(same(best.values, on.values) && same(best.indices, on.indices));
            }
            tn_scope_end(mark);
        }
    end(c);
}

static void many_additions_to_one_place_keep_their_order() {
    tn_context *c = begin();
    for (int64_t bound : {(int64_t)1, (int64_t)7, (int64_t)900}) {
        const int64_t mark = tn_scope_begin(), n = 5000, two[2] = {n / 2, 2};
        tn_tensor *x = mixed(bound, 1), *v = mixed(n, 2), *i = mixed_places(n, bound, 3),
                  *rows = tnp_reshape(v, tn_ints_of(two, 2)), *half = mixed_places(n / 2, bound, 4),
                  *on = up(i);
        CHECK(same(tnp_scatter_add(x, 0, i, v), tnp_scatter_add(up(x), 0, on, up(v))));
        CHECK(same(tnp_scatter(x, 0, i, v), tnp_scatter(up(x), 0, on, up(v))));
        for (int adds = 0; adds < 2; adds++)
            CHECK(same(tnp_index_put(x, tn_tensors_of(&i, 1), v, adds),
                       tnp_index_put(up(x), tn_tensors_of(&on, 1), up(v), adds)));
        CHECK(same(tnp_index_add(x, 0, i, v, 0.3), tnp_index_add(up(x), 0, on, up(v), 0.3)));
        CHECK(same(tnp_embedding_dense_backward(rows, half, bound, 0, true),
                   tnp_embedding_dense_backward(up(rows), up(half), bound, 0, true)));
        tn_scope_end(mark);
    }
    end(c);
}

static void masks_of_many_tiles_choose_as_on_the_cpu() {
    tn_context *c = begin();
    for (int64_t n : {(int64_t)4096, (int64_t)4097, (int64_t)30000}) {
        const int64_t mark = tn_scope_begin();
        tn_tensor *x = mixed(n, 11), *mask = tnp_gt_scalar(x, tn_float(100)), *on = up(mask);
        CHECK(same(tnp_nonzero(mask), tnp_nonzero(on)));
        CHECK(same(tnp_masked_select(x, mask), tnp_masked_select(up(x), on)));
        CHECK(same(tnp_index(x, tn_tensors_of(&mask, 1)), tnp_index(up(x), tn_tensors_of(&on, 1))));
        CHECK(same(tnp_masked_scatter(x, mask, mixed(n, 12)),
                   tnp_masked_scatter(up(x), on, up(mixed(n, 12)))));
        tn_scope_end(mark);
    }
    end(c);
}

/* Slices are moved 16, 8, .. bytes at a time, as their size and places allow. */
static void slices_of_every_width_are_taken() {
    tn_context *c = begin();
    for (int64_t width = 1; width <= 17; width++) {
        const int64_t mark = tn_scope_begin(), size[2] = {9, width};
        tn_tensor *x = tnp_reshape(mixed(9 * width, 13), tn_ints_of(size, 2)),
                  *i = mixed_places(6, 9, 14), *on = up(i);
        for (int64_t from = 0; from < 2; from++) { /* from 1: places are no multiples of 16 */
            tn_tensor *part = tnp_narrow(x, 1, from && width > 1, width - (from && width > 1)),
                      *there = tnp_narrow(up(x), 1, from && width > 1, width - (from && width > 1));
            CHECK(same(tnp_index_select(part, 0, i), tnp_index_select(there, 0, on)));
            CHECK(same(tnp_embedding(part, i, -1, false, false),
                       tnp_embedding(there, on, -1, false, false)));
            CHECK(same(tnp_index(part, tn_tensors_of(&i, 1)),
                       tnp_index(there, tn_tensors_of(&on, 1))));
        }
        tn_scope_end(mark);
    }
    end(c);
}

static const check_test tests[] = {CHECK_TEST(an_index_out_of_range_is_told_at_the_next_wait),
                                   CHECK_TEST(the_first_of_several_is_told),
                                   CHECK_TEST(contexts_of_one_device_tell_their_own_faults),
                                   CHECK_TEST(a_context_among_many_tells_its_own_fault),
                                   CHECK_TEST(reading_tells_a_fault),
                                   CHECK_TEST(a_copy_to_the_host_tells_a_fault),
                                   CHECK_TEST(nothing_is_read_of_a_tensor_without_elements),
                                   CHECK_TEST(rows_that_read_take_element_0),
                                   CHECK_TEST(rows_that_write_leave_that_element_out),
                                   CHECK_TEST(what_is_counted_is_refused_at_once),
                                   CHECK_TEST(long_lanes_are_sorted_as_on_the_cpu),
                                   CHECK_TEST(many_additions_to_one_place_keep_their_order),
                                   CHECK_TEST(masks_of_many_tiles_choose_as_on_the_cpu),
                                   CHECK_TEST(slices_of_every_width_are_taken)};
int main(int argc, char **argv) {
    (void)argc; /* arguments of other programs of this folder are no names of tests */
    return CHECK_MAIN(tests, 1, argv);
}
