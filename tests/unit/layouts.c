/* layouts.c - where elements lie: strides of results of channels-last operands, operands walked
 * together by the iterator, and the memory that headers and storages take. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <stdlib.h>

/* --- channels last ---------------------------------------------------------------------------- */

static bool is_rows(const int64_t *size, const int64_t *stride) {
    int64_t step = 1;
    for (int d = 3; d >= 0; step *= size[d--])
        if (size[d] != 1 && stride[d] != step) return false;
    return true;
}

/* A float32 tensor of channels last whose strides along dimensions of one element are odd in the
 * way that `kind` says. */
static tn_tensor *last(const int64_t *size, int kind, int64_t *stride) {
    static float memory[81];
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    stride[1] = 1, stride[3] = size[1], stride[2] = size[1] * size[3];
    stride[0] = stride[2] * size[2];
    for (int d = 0; d < 4; d++)
        if (size[d] == 1 && kind) stride[d] = kind == 1 ? 7 : kind == 2 ? 1 : 5 * d + 3;
    o.strides = tn_ints_of(stride, 4);
    return tn_wrap(memory, tn_ints_of(size, 4), TN_F32, &o);
}

/* As torch: rows where all are rows, else NHWC, dimensions of one element included. */
static void results_of_channels_last_operands_lie_so_too(void) {
    for (int k = 0; k < 81 * 16; k++)
        TN_SCOPE {
            int64_t size[4] = {1 + k % 3, 1 + k / 3 % 3, 1 + k / 9 % 3, 1 + k / 27 % 3}, a[4], b[4];
            tn_tensor *x = last(size, k / 81 % 4, a), *y = last(size, k / 324, b), *sum;
            bool rows = is_rows(size, a) && is_rows(size, b);
            int64_t h = size[2], w = size[3], c = size[1];
            int64_t want[2][4] = {{h * w * c, 1, w * c, c}, {c * h * w, h * w, w, 1}};
            sum = tnp_add(x, y, 1);
            if (CHECK(sum != NULL))
                for (int d = 0; d < 4; d++)
                    if (!CHECK_EQ(sum->stride[d], want[rows][d])) printf("    case %d\n", k);
        }
}

/* As torch 2.15 lays out the sum of two dense operands: strides along one element, which no address
 * depends on, are told too. */
static void results_of_dense_operands_have_torchs_strides(void) {
    static float memory[64];
    static const struct {
        int ndim;
        int64_t size[4], a[4], b[4], sum[4];
    } c[] = {{3, {3, 3, 1}, {1, 3, 1}, {3, 1, 9}, {1, 3, 3}},
             {4, {2, 3, 1, 1}, {1, 2, 2, 2}, {3, 1, 1, 99}, {1, 2, 2, 6}},
             {3, {2, 1, 2}, {1, 4, 2}, {1, 4, 2}, {1, 4, 2}},
             {4, {1, 2, 1, 1}, {77, 1, 1, 1}, {99, 1, 99, 50}, {2, 1, 1, 1}},
             {3, {2, 3, 1}, {3, 1, 1}, {3, 1, 6}, {3, 1, 1}},
             {3, {3, 1, 2}, {2, 77, 1}, {2, 2, 1}, {2, 2, 1}},
             {4, {1, 1, 2, 2}, {1, 99, 1, 2}, {1, 1, 2, 1}, {1, 4, 1, 2}},
             {3, {3, 3, 1}, {3, 1, 50}, {3, 1, 3}, {3, 1, 1}},
             {4, {2, 2, 1, 2}, {1, 2, 99, 4}, {4, 2, 2, 1}, {1, 2, 8, 4}},
             {4, {2, 2, 1, 2}, {4, 2, 99, 1}, {2, 4, 50, 1}, {4, 2, 8, 1}},
             {4, {3, 2, 1, 3}, {6, 1, 6, 2}, {1, 3, 99, 6}, {6, 1, 18, 2}},
             {4, {1, 2, 1, 2}, {77, 1, 1, 2}, {50, 2, 2, 1}, {4, 1, 1, 2}},
             {4, {3, 3, 1, 1}, {1, 3, 2, 2}, {1, 3, 1, 2}, {1, 3, 3, 3}},
             {4, {3, 1, 2, 2}, {4, 77, 2, 1}, {1, 77, 6, 3}, {4, 12, 2, 1}}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        TN_SCOPE {
            tn_wrap_options o;
            memset(&o, 0, sizeof o);
            o.strides = tn_ints_of(c[i].a, c[i].ndim);
            tn_tensor *a = tn_wrap(memory, tn_ints_of(c[i].size, c[i].ndim), TN_F32, &o), *b, *sum;
            o.strides = tn_ints_of(c[i].b, c[i].ndim);
            b = tn_wrap(memory, tn_ints_of(c[i].size, c[i].ndim), TN_F32, &o);
            sum = tnp_add(a, b, 1);
            for (int d = 0; sum && d < c[i].ndim; d++)
                if (!CHECK_EQ(sum->stride[d], c[i].sum[d])) printf("    case %d\n", (int)i);
            CHECK(sum != NULL);
        }
}

/* --- the iterator ----------------------------------------------------------------------------- */

static uint64_t state = 11;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

enum { OPERANDS = TNI_OPERANDS, ELEMENTS = 256, ROOM = 5000 };
typedef struct operand {
    tn_tensor t;
    tni_storage storage;
    int64_t dims[8];
    char memory[ROOM];
} operand;
static operand operands[OPERANDS];

/* Sizes of the last ndim of `size`, 1 here and there; strides in some order, with gaps. */
static tn_tensor *draw(operand *o, int ndim, const int64_t *size, bool whole) {
    int order[4], n = whole ? ndim : below(ndim + 1);
    int64_t step = 1;
    memset(&o->t, 0, sizeof o->t);
    memset(&o->storage, 0, sizeof o->storage);
    o->t.size = o->dims, o->t.stride = o->dims + 4, o->t.ndim = (uint8_t)n;
    o->t.dtype = (uint8_t)(whole ? TN_I32 : below(2) ? TN_U8 : TN_I16);
    o->t.storage = &o->storage, o->storage.data = o->memory, o->storage.kind = TNI_DATA_WRAPPED;
    o->t.offset = below(3), o->t.numel = 1;
    for (int d = 0; d < n; d++) {
        int other = below(d + 1);
        o->t.size[d] = !whole && !below(3) ? 1 : size[ndim - n + d];
        o->t.numel *= o->t.size[d];
        order[d] = order[other], order[other] = d;
    }
    for (int k = 0; k < n; k++) {
        o->t.stride[order[k]] = !whole && !below(8) ? 0 : step;
        step *= o->t.size[order[k]] * (below(4) ? 1 : 2);
    }
    return &o->t;
}

/* Where element i (of row-major numbers) of the shape lies in t. */
static const char *address(const tn_tensor *t, int ndim, const int64_t *size, int64_t i) {
    int64_t at = t->offset;
    for (int d = ndim - 1; d >= 0; i /= size[d--]) {
        int own = d - (ndim - t->ndim);
        if (own >= 0 && t->size[own] != 1) at += i % size[d] * t->stride[own];
    }
    return (const char *)t->storage->data + at * tni_dtype_size(t);
}

/* Every element of the first operand is met once, and with it those of the others. */
static void check_walk(const tni_iterate *it, int ndim, const int64_t *size) {
    int64_t n = 1, total = 1;
    bool met[ELEMENTS] = {false};
    for (int d = 0; d < it->ndim; d++) n *= it->size[d];
    for (int d = 0; d < ndim; d++) total *= size[d];
    if (!CHECK(it->numel == total && n == total)) return;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, number = 0;
        const char *at[OPERANDS];
        for (int k = 0; k < it->n; k++) at[k] = it->at[k];
        for (int d = 0; d < it->ndim; rest /= it->size[d++])
            for (int k = 0; k < it->n; k++) at[k] += rest % it->size[d] * it->stride[k][d];
        while (number < n && address(&operands[0].t, ndim, size, number) != at[0]) number++;
        if (!CHECK(number < n && !met[number])) return;
        met[number] = true;
        for (int k = 1; k < it->n; k++) CHECK(address(&operands[k].t, ndim, size, number) == at[k]);
    }
}

/* Dimensions rise by the strides of the first operand, which has all; two that follow each other in
 * every operand are one. */
static void check_form(const tni_iterate *it) {
    CHECK(it->ndim >= 1);
    for (int k = 0; k < it->n; k++) CHECK_EQ(it->bytes[k], tni_dtype_size(&operands[k].t));
    if (it->numel == 1) {
        CHECK(it->ndim == 1 && it->size[0] == 1);
        for (int k = 0; k < it->n; k++) CHECK_EQ(it->stride[k][0], it->bytes[k]);
        return;
    }
    for (int d = 0; d < it->ndim; d++) CHECK(it->size[d] != 1);
    for (int d = 1; d < it->ndim; d++) {
        bool joined = true;
        for (int k = 0; k < it->n; k++)
            joined = joined && it->stride[k][d] == it->stride[k][d - 1] * it->size[d - 1];
        CHECK(!joined && it->stride[0][d] > it->stride[0][d - 1]);
    }
}

static void operands_are_walked_together(void) {
    int merged = 0;
    for (int k = 0; k < 4000; k++) {
        int64_t size[4];
        int ndim = below(5), n = 1 + below(OPERANDS);
        tn_tensor *list[OPERANDS];
        tni_iterate it;
        for (int d = 0; d < ndim; d++) size[d] = 1 + below(4);
        for (int i = 0; i < n; i++) list[i] = draw(&operands[i], ndim, size, i == 0);
        tni_iterate_init(&it, ndim, size, list, n);
        check_walk(&it, ndim, size);
        check_form(&it);
        merged += it.ndim < ndim;
    }
    CHECK(merged > 1000);
}

/* Where the first operand stands still the next one decides; where none does all stays. */
static void the_first_that_moves_along_both_orders_them(void) {
    int64_t size[3] = {4, 3, 2}, strides[3][3] = {{0, 0, 1}, {1, 4, 12}, {6, 2, 1}};
    tn_tensor *list[3], *all[OPERANDS];
    tni_iterate it;
    for (int i = 0; i < 3; i++) {
        list[i] = draw(&operands[i], 3, size, true);
        memcpy(list[i]->stride, strides[i], sizeof strides[i]);
    }
    tni_iterate_init(&it, 3, size, list, 3);
    if (CHECK_EQ(it.ndim, 3)) { /* 0 before 1 before 2 by the second operand */
        CHECK(it.size[0] == 4 && it.size[1] == 3 && it.size[2] == 2);
        CHECK(it.stride[0][2] == 4 && it.stride[1][1] == 16 && it.stride[2][0] == 24);
    }
    tni_iterate_init(&it, 3, size, list + 2, 1);
    CHECK(it.ndim == 1 && it.size[0] == 24 && it.stride[0][0] == 4);
    tni_iterate_init(&it, 3, size, list, 1);
    CHECK(it.ndim == 2 && it.size[0] == 2 && it.stride[0][0] == 4 && it.stride[0][1] == 0);
    for (int i = 0; i < OPERANDS; i++) {
        all[OPERANDS - 1 - i] = draw(&operands[i], 3, size, true);
        memcpy(operands[i].t.stride, strides[0], sizeof strides[0]);
    }
    tni_iterate_init(&it, 3, size, all, OPERANDS);
    CHECK(it.ndim == 2 && it.size[0] == 2 && it.stride[7][0] == 4 && it.stride[7][1] == 0);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int64_t whole(int64_t bytes) { return (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN; }
static tn_context *begin(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    return c;
}

/* Room for 4, 8 or all dimensions. */
static void a_header_takes_the_room_of_its_dimensions(void) {
    tn_context *c = begin();
    int64_t ones[TN_MAX_DIMS], all = 0, before, bytes;
    for (int i = 0; i < TN_MAX_DIMS; i++) ones[i] = 1;
    for (int n = 0; n <= TN_MAX_DIMS; n++)
        TN_SCOPE {
            tn_tensor *t = tn_zeros(tn_ints_of(ones, n)), *v;
            int64_t room = n <= 4 ? 4 : n <= 8 ? 8 : TN_MAX_DIMS;
            before = tn_memory().bytes_used;
            v = tnp_detach(t);
            bytes = tn_memory().bytes_used - before;
            if (!CHECK_EQ(bytes, whole((int64_t)offsetof(tn_tensor, dims) + 16 * room)))
                printf("    of %d dimensions\n", n);
            CHECK_EQ(tn_memory().live_tensors, 2);
            CHECK(v->capacity == room && v->stride == v->size + room);
            tn_free(v);
            CHECK_EQ(tn_memory().bytes_used, before);
            all += bytes;
        }
    CHECK(all > 0 && tn_memory().live_tensors == 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

/* Up to 512 bytes lie behind their storage, and the rest of their last 64 bytes is zero; larger
 * ones have memory of their own. */
static void data_lie_behind_their_storage_or_apart(void) {
    tn_context *c = begin();
    int64_t head = whole((int64_t)sizeof(tni_storage));
    int64_t header = whole((int64_t)offsetof(tn_tensor, dims) + 16 * 4);
    tn_free(tn_zeros(TN_DIMS(1)));
    for (int64_t n = 0; n < 700; n += n < 2 || (n > 510 && n < 514) ? 1 : 17) {
        int64_t before = tn_memory().bytes_used, calls = tn_memory().allocations;
        tn_tensor *t = tn_empty(TN_DIMS(n), .dtype = TN_U8);
        int64_t bytes = tn_memory().bytes_used - before;
        CHECK_EQ(bytes, header + head + (n <= 512 ? whole(n) : n));
        CHECK_EQ(tn_memory().allocations - calls, n <= 512 ? 2 : 3);
        CHECK(t->storage->kind == (n <= 512 ? TNI_DATA_INSIDE : TNI_DATA_OWN));
        CHECK(t->storage->bytes == n && (uintptr_t)t->storage->data % TNI_ALIGN == 0);
        for (int64_t i = n; n <= 512 && i < whole(n); i++)
            CHECK_EQ(((const char *)t->storage->data)[i], 0);
        tn_free(t);
        CHECK_EQ(tn_memory().bytes_used, before);
        t = tn_empty(TN_DIMS(n), .dtype = TN_U8, .device = TN_META);
        CHECK_EQ(tn_memory().bytes_used - before, header + head);
        CHECK(!t->storage->data && t->storage->bytes == n && !tn_data(t));
        tn_free(t);
    }
    tn_context_use(NULL);
    tn_context_free(c);
}

/* With gaps between rows the memory reaches from the first element to the last. */
static void strided_memory_is_as_long_as_it_reaches(void) {
    int64_t size[3] = {3, 4, 2}, stride[3] = {100, 2, 50};
    tni_block *b = tni_here();
    TN_SCOPE {
        for (int k = 0; k < 4; k++) {
            tn_tensor *t = tni_header(b, TN_F64, k, size, stride);
            CHECK(t && tni_set_storage(b, t));
            CHECK_EQ(t->storage->bytes, 8 * (k == 0 ? 1 : k == 1 ? 201 : k == 2 ? 207 : 257));
            CHECK(!(t->flags & TNI_CONTIGUOUS) == (k > 0));
        }
    }
}

/* What a view may do follows from its base; a tensor that is held is its caller's alone. */
static void views_are_read_only_and_held_tensors_counted(void) {
    static float fixed[4] = {1, 2, 3, 4};
    tn_wrap_options o;
    tn_error_info e;
    tn_tensor *kept = NULL, *meta;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    int64_t before = tn_memory().live_tensors;
    TN_SCOPE {
        tn_tensor *t = tn_wrap(fixed, TN_DIMS(4), TN_F32, &o), *v = tn_slice(t, .end = 2);
        CHECK(!tn_fill_(v, 5.0) && tn_error_take(&e) && strstr(e.message, "read-only memory"));
        CHECK(!tn_fill_(tn_slice(v, .end = 1), 5.0) && tn_error_take(&e));
        CHECK(!tn_fill_(tn_detach(t), 5.0) && tn_error_take(&e) && fixed[0] == 1);
        meta = tn_slice(tn_empty(TN_DIMS(4), .device = TN_META), .end = 2);
        CHECK(tn_device_of(meta) == TN_META && !tn_data(meta) && !tn_is_view(kept));
        kept = tn_hold(tn_hold(tn_ones(TN_DIMS(2))));
    }
    CHECK_EQ(tn_memory().live_tensors, before + 1);
    tn_free(kept);
    CHECK_EQ(tn_memory().live_tensors, before + 1);
    tn_free(kept);
    CHECK_EQ(tn_memory().live_tensors, before);
}

/* Other headers on the same data know as well that these lie one after another. */
static void views_and_shares_know_their_layout(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(4, 3))), *y = tn_mul_scalar(x, 2), *g[2];
        tn_tensor *same[4], *rows = tn_slice(y, .start = 1), *columns = tn_transpose(y, 0, 1);
        same[0] = tn_view(y, TN_DIMS(2, 6)), same[1] = tn_detach(y), same[2] = rows;
        same[3] = tn_transpose(columns, 0, 1);
        for (int k = 0; k < 4; k++) {
            CHECK(same[k]->flags & TNI_CONTIGUOUS && !(same[k]->flags & TNI_INFERENCE));
            CHECK(tn_same_storage(same[k], y));
        }
        CHECK(!(columns->flags & TNI_CONTIGUOUS) && tn_same_storage(columns, y));
        CHECK(tn_grads(TN_LIST(tn_sum(tn_exp(y))), TN_LIST(x, y), g, NULL));
        CHECK(g[0]->flags & TNI_CONTIGUOUS && g[1]->flags & TNI_CONTIGUOUS);
        tn_set_inference_mode(true);
        CHECK(tn_ones(TN_DIMS(2))->flags & TNI_INFERENCE && !(tn_detach(x)->flags & TNI_INFERENCE));
        tn_set_inference_mode(false);
    }
}

/* All the terms that two tensors can have. */
static void tensors_of_the_most_dimensions_are_compared(void) {
    static char memory[8];
    tn_tensor *t[2];
    TN_SCOPE {
        for (int k = 0; k < 2; k++) {
            int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], step = 1;
            for (int d = 0; d < TN_MAX_DIMS; d++) size[d] = 2, stride[d] = step, step *= 3 + 2 * k;
            if (k) stride[0] = 2;
            t[k] = tni_header(tni_here(), TN_F64, TN_MAX_DIMS, size, stride);
            t[k]->storage = tni_storage_wrap(tni_here(), memory, 8, NULL, NULL);
        }
        if (sizeof(void *) == 8) /* as far as they reach */
            CHECK(tni_overlap(t[0], t[1]) && tni_overlap(t[1], t[0]));
        CHECK(!tni_overlaps_itself(t[0]));
    }
}

/* A tensor whose memory is refused is gone as a whole. */
static void what_has_no_memory_leaves_nothing(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.memory_cap = 1 << 20;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    TN_SCOPE {
        int64_t before = tn_memory().bytes_used;
        tn_error_info e;
        CHECK(!tn_empty(TN_DIMS(1 << 20), .dtype = TN_F64));
        CHECK(tn_error_take(&e) && e.code == TN_MEMORY);
        CHECK_EQ(tn_memory().live_tensors, 0);
        CHECK_EQ(tn_memory().bytes_used, before);
        CHECK(!tn_from(NULL, TN_DIMS(3), TN_F32) && tn_error_take(&e) && e.code == TN_INVALID);
        CHECK(!tn_wrap(NULL, TN_DIMS(3), TN_F32, NULL) && tn_error_take(&e));
        CHECK(!tn_wrap(NULL, TN_DIMS(-1), TN_F32, NULL) && tn_error_take(&e));
        CHECK_EQ(tn_memory().live_tensors, 0);
        CHECK_EQ(tn_memory().bytes_used, before);
    }
    tn_context_use(NULL);
    tn_context_free(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(results_of_channels_last_operands_lie_so_too),
        CHECK_TEST(results_of_dense_operands_have_torchs_strides),
        CHECK_TEST(operands_are_walked_together),
        CHECK_TEST(the_first_that_moves_along_both_orders_them),
        CHECK_TEST(a_header_takes_the_room_of_its_dimensions),
        CHECK_TEST(data_lie_behind_their_storage_or_apart),
        CHECK_TEST(strided_memory_is_as_long_as_it_reaches),
        CHECK_TEST(views_are_read_only_and_held_tensors_counted),
        CHECK_TEST(views_and_shares_know_their_layout),
        CHECK_TEST(tensors_of_the_most_dimensions_are_compared),
        CHECK_TEST(what_has_no_memory_leaves_nothing),
    };
    return CHECK_MAIN(tests, argc, argv);
}
