/* nn_memory_files.c - promises about modules and checkpoints in memory, and about copying one
 * module's state into another: all or nothing. */
#include <math.h>
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"
#include "../refused.h"

static tn_module *net_new(uint64_t seed, int64_t width) {
    tn_manual_seed(seed);
    return tn_sequential(tn_nn_linear(4, width), tn_nn_batch_norm1d(width), tn_nn_relu(),
                         tn_nn_linear(width, 2));
}
static bool same(const tn_tensor *a, const tn_tensor *b) {
    return a && b && tn_numel(a) == tn_numel(b) &&
           memcmp(tn_data(a), tn_data(b), (size_t)(tn_numel(a) * tn_dtype_bytes(tn_dtype_of(a)))) ==
               0;
}
static bool same_state(const tn_module *a, const tn_module *b) {
    tn_named_list x = tn_module_state_dict(a), y = tn_module_state_dict(b);
    bool ok = x.n == y.n;
    for (int64_t i = 0; ok && i < x.n; i++) ok = same(x.at[i].tensor, y.at[i].tensor);
    tn_named_free(x);
    tn_named_free(y);
    return ok;
}

static int released;
static void count_release(void *data, void *user) { released += data == user; }

/* --- modules ---------------------------------------------------------------------------------- */

static void a_module_is_saved_and_loaded(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8);
    tn_bytes m = tn_module_save_memory(a);
    int64_t borrowed = 3;
    CHECK(!same_state(a, b));
    CHECK(tn_module_load_memory(b, m.at, m.n, .borrowed = &borrowed) && borrowed == 0);
    memset(m.at, 255, m.n);
    tn_bytes_free(m);
    CHECK(same_state(a, b));
    tn_module_free(a);
    tn_module_free(b);
    CHECK(tn_ok());
}

static void a_module_computes_with_borrowed_memory(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8);
    tn_bytes m = tn_module_save_memory(a);
    tn_tensor *weight = tn_module_tensor(b, "0.weight");
    int64_t borrowed = 0;
    released = 0;
    CHECK(tn_module_load_memory(b, m.at, m.n, .borrow = true, .release = count_release,
                                .user = m.at, .borrowed = &borrowed));
    CHECK_EQ(borrowed, 9); /* 2 of each Linear, 5 of BatchNorm1d */
    CHECK(tn_module_tensor(b, "0.weight") == weight && tn_is_read_only(weight));
    CHECK((char *)tn_data(weight) > (char *)m.at && (char *)tn_data(weight) < (char *)m.at + m.n);
    CHECK(same_state(a, b));
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(3, 4));
        tn_module_train(a, false);
        tn_module_train(b, false);
        tn_tensor *y = tn_forward(b, x);
        CHECK(y && same(tn_forward(a, x), y));
        tn_module_train(b, true);
        CHECK(!tn_forward(b, x)); /* the running statistics are read-only */
        says(TN_INVALID, "read", __LINE__);
    }
    /* Loading again, by a copy, gives the memory back. */
    CHECK_EQ(released, 0);
    CHECK(tn_module_copy_from(b, a, 1));
    CHECK(released == 1 && same_state(a, b) && !tn_is_read_only(weight));
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(released, 1);
    tn_bytes_free(m);
}

static void borrowed_tensors_of_another_dtype_are_converted(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8);
    tn_bytes m = tn_module_save_memory(a);
    int64_t borrowed = 9;
    CHECK(tn_module_to(b, TN_F64, TN_NO_DEVICE));
    released = 0;
    CHECK(tn_module_load_memory(b, m.at, m.n, .borrow = true, .release = count_release,
                                .user = m.at, .borrowed = &borrowed));
    CHECK_EQ(borrowed, 1); /* num_batches_tracked */
    CHECK_EQ(released, 0);
    tn_module_free(b);
    CHECK_EQ(released, 1);
    b = tn_sequential(tn_nn_linear(2, 2));
    TN_SCOPE {
        tn_named half[2] = {{"0.weight", tn_ones(TN_DIMS(2, 2), .dtype = TN_F16)},
                            {"0.bias", tn_ones(TN_DIMS(2), .dtype = TN_F16)}};
        tn_bytes h = tn_save_memory(half, 2);
        released = 0;
        CHECK(tn_module_load_memory(b, h.at, h.n, .borrow = true, .release = count_release,
                                    .user = h.at, .borrowed = &borrowed));
        CHECK(borrowed == 0 && released == 1); /* nothing is borrowed any more */
        tn_bytes_free(h);
    }
    tn_module_free(a);
    tn_module_free(b);
    tn_bytes_free(m);
}

static void what_does_not_fit_changes_nothing(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 9), *kept = tn_module_copy(b);
    tn_bytes m = tn_module_save_memory(a);
    released = 0;
    REFUSED(
        tn_module_load_memory(b, m.at, m.n, .borrow = true, .release = count_release, .user = m.at),
        TN_INVALID, "size mismatch for 0.weight");
    REFUSED(tn_module_load_memory(b, m.at, m.n), TN_INVALID, "size mismatch for 0.weight");
    REFUSED(tn_module_load_memory(b, m.at, m.n - 1), TN_FORMAT, "at byte");
    REFUSED(tn_module_load_memory(b, m.at, m.n, .borrow = true, .writable = true), TN_INVALID,
            "read-only");
    REFUSED(tn_module_load_memory(b, m.at, m.n, .release = count_release), TN_INVALID, "borrow");
    REFUSED(tn_module_load_memory((tn_module *)NULL, m.at, m.n), TN_INVALID, "NULL");
    REFUSED(tn_module_save_memory((tn_module *)NULL).at, TN_INVALID, "NULL");
    CHECK(same_state(b, kept) && released == 0);
    tn_module_free(a);
    tn_module_free(b);
    tn_module_free(kept);
    tn_bytes_free(m);
}

/* --- checkpoints ------------------------------------------------------------------------------ */

static void a_checkpoint_is_saved_and_loaded(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8);
    tn_optimizer *oa = tn_optim_adam(tn_parameters(a)), *ob = tn_optim_adam(tn_parameters(b));
    tn_named_number epoch[1] = {{"epoch", 3}}, none[1] = {{"epoch", 0}};
    tn_state sa = {a, oa, NULL, NULL, epoch, 1, NULL, NULL},
             sb = {b, ob, NULL, NULL, none, 1, NULL, NULL};
    tn_bytes m, again;
    TN_SCOPE {
        tn_backward(tn_sum(tn_forward(a, tn_randn(TN_DIMS(5, 4)))));
        tn_optimizer_step(oa);
    }
    m = tn_checkpoint_save_memory(&sa);
    CHECK(tn_checkpoint_load_memory(m.at, m.n, &sb) && none[0].value == 3 && same_state(a, b));
    again = tn_checkpoint_save_memory(&sb);
    CHECK(again.at && again.n == m.n && memcmp(again.at, m.at, m.n) == 0);
    for (size_t n = 0; n < m.n; n += 41) {
        REFUSED(tn_checkpoint_load_memory(m.at, n, &sb), TN_FORMAT, "'memory' is not a valid");
        CHECK(same_state(a, b) && none[0].value == 3);
    }
    tn_bytes_free(again);
    again = tn_module_save_memory(a);
    REFUSED(tn_checkpoint_load_memory(again.at, again.n, &sb), TN_FORMAT,
            "'memory' is not a checkpoint");
    REFUSED(tn_checkpoint_load_memory(m.at, m.n, NULL), TN_INVALID, "no state");
    REFUSED(tn_checkpoint_save_memory(NULL).at, TN_INVALID, "no state");
    tn_bytes_free(m);
    tn_bytes_free(again);
    tn_optimizer_free(oa);
    tn_optimizer_free(ob);
    tn_module_free(a);
    tn_module_free(b);
}

/* --- copy_from -------------------------------------------------------------------------------- */

static void copy_from_mixes_floats_and_copies_integers(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8), *old = tn_module_copy(b);
    tn_tensor *weight = tn_module_tensor(b, "3.weight");
    TN_SCOPE {
        tn_forward(a, tn_randn(TN_DIMS(5, 4))); /* running statistics, one batch */
        CHECK(tn_module_copy_from(b, a, 0.25));
        tn_named_list x = tn_module_state_dict(a), y = tn_module_state_dict(old),
                      z = tn_module_state_dict(b);
        for (int64_t i = 0; i < z.n; i++) {
            const float *s = (float *)tn_data(x.at[i].tensor),
                        *d = (float *)tn_data(y.at[i].tensor),
                        *r = (float *)tn_data(z.at[i].tensor);
            if (tn_dtype_of(z.at[i].tensor) == TN_I64)
                CHECK(tn_item_int(z.at[i].tensor) == 1);
            else
                for (int64_t k = 0; k < tn_numel(z.at[i].tensor); k++)
                    if (r[k] != 0.75f * d[k] + 0.25f * s[k]) {
                        /* The sum is rounded once: an ulp or so from this. */
                        float e = r[k] - (0.75f * d[k] + 0.25f * s[k]);
                        CHECK(e < 1e-7f && e > -1e-7f);
                    }
        }
        tn_named_free(x);
        tn_named_free(y);
        tn_named_free(z);
    }
    CHECK(tn_module_tensor(b, "3.weight") == weight && tn_needs_grad(weight) && tn_is_leaf(weight));
    CHECK(tn_module_copy_from(b, old, 0) && !same_state(b, old));
    CHECK(tn_module_copy_from(b, a, 1) && same_state(b, a));
    CHECK(tn_module_copy_from(b, b, 0.3) && same_state(b, a));
    tn_module_free(a);
    tn_module_free(b);
    tn_module_free(old);
}

static void copy_from_has_the_same_bits_for_any_threads(void) {
    int32_t threads = tn_threads();
    tn_module *a, *b[2];
    for (int i = 0; i < 2; i++) {
        tn_manual_seed(5);
        a = tn_nn_linear(700, 701);
        b[i] = tn_nn_linear(700, 701);
        CHECK(tn_set_threads(i ? 4 : 1));
        for (int k = 0; k < 3; k++) CHECK(tn_module_copy_from(b[i], a, 0.005));
        tn_module_free(a);
    }
    CHECK(same_state(b[0], b[1]));
    CHECK(tn_set_threads(threads));
    tn_module_free(b[0]);
    tn_module_free(b[1]);
}

static void copy_from_names_what_differs_and_changes_nothing(void) {
    tn_module *a = net_new(1, 8), *b = net_new(2, 8), *kept = tn_module_copy(b);
    tn_module *wide = net_new(3, 9), *half = net_new(4, 8), *fewer = tn_nn_linear(4, 8);
    tn_module *renamed = tn_sequential(tn_nn_linear(4, 8), tn_nn_relu(), tn_nn_linear(8, 2));
    const double nan = (double)NAN;
    CHECK(tn_module_to(half, TN_BF16, TN_NO_DEVICE));
    REFUSED(tn_module_copy_from(b, wide, 1), TN_INVALID,
            "\"0.weight\" is float32 (8, 4) in dst and float32 (9, 4) in src");
    REFUSED(tn_module_copy_from(b, half, 1), TN_INVALID,
            "\"0.weight\" is float32 (8, 4) in dst and bfloat16 (8, 4) in src");
    REFUSED(tn_module_copy_from(b, fewer, 1), TN_INVALID,
            "tensor 0 is \"0.weight\" in dst and \"weight\" in src");
    REFUSED(tn_module_copy_from(b, renamed, 1), TN_INVALID,
            "tensor 2 is \"1.weight\" in dst and \"2.weight\" in src");
    REFUSED(tn_module_copy_from(renamed, b, 1), TN_INVALID,
            "tensor 2 is \"2.weight\" in dst and \"1.weight\" in src");
    REFUSED(tn_module_copy_from(b, a, 1.5), TN_INVALID, "tau is 1.5");
    REFUSED(tn_module_copy_from(b, a, -0.1), TN_INVALID, "tau is -0.1");
    REFUSED(tn_module_copy_from(b, a, nan), TN_INVALID, "tau is");
    REFUSED(tn_module_copy_from(b, (tn_module *)NULL, 1), TN_INVALID, "NULL");
    REFUSED(tn_module_copy_from((tn_module *)NULL, a, 1), TN_INVALID, "NULL");
    CHECK(same_state(b, kept));
    tn_module_free(a);
    tn_module_free(b);
    tn_module_free(kept);
    tn_module_free(wide);
    tn_module_free(half);
    tn_module_free(fewer);
    tn_module_free(renamed);
}

/* --- failing allocations ---------------------------------------------------------------------- */

static int64_t allocations, failing; /* number `failing` and all later ones fail; -1: none */
static void *count_alloc(size_t bytes, void *user) {
    (void)user;
    return failing >= 0 && allocations++ >= failing ? NULL : malloc(bytes);
}
static void count_free(void *at, size_t bytes, void *user) { (void)user, (void)bytes, free(at); }

static void a_failing_allocation_changes_nothing(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.allocator.alloc = count_alloc, o.allocator.free = count_free;
    failing = -1;
    c = tn_context_new(&o);
    tn_context_use(c);
    tn_module *a = net_new(1, 8), *b = net_new(2, 8), *kept = tn_module_copy(b);
    tn_bytes m = tn_module_save_memory(a);
    for (int what = 0; what < 3; what++) {
        bool done = false;
        for (int64_t k = 0; !done && k < 1000; k++) {
            int64_t used;
            CHECK(tn_module_copy_from(b, kept, 1));
            used = tn_memory().bytes_used;
            released = 0, allocations = 0, failing = k;
            done = what == 0   ? tn_module_copy_from(b, a, 0.5)
                   : what == 1 ? tn_module_load_memory(b, m.at, m.n)
                               : tn_module_load_memory(b, m.at, m.n, .borrow = true,
                                                       .release = count_release, .user = m.at);
            failing = -1;
            CHECK(released == 0);
            if (done) break;
            CHECK(tn_error_take(NULL) && same_state(b, kept));
            CHECK_EQ(tn_memory().bytes_used, used);
        }
        CHECK(done);
    }
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(released, 1);
    tn_module_free(kept);
    tn_bytes_free(m);
    tn_context_use(NULL);
    tn_context_free(c);
}

static const check_test tests[] = {
    CHECK_TEST(a_module_is_saved_and_loaded),
    CHECK_TEST(a_module_computes_with_borrowed_memory),
    CHECK_TEST(borrowed_tensors_of_another_dtype_are_converted),
    CHECK_TEST(what_does_not_fit_changes_nothing),
    CHECK_TEST(a_checkpoint_is_saved_and_loaded),
    CHECK_TEST(copy_from_mixes_floats_and_copies_integers),
    CHECK_TEST(copy_from_has_the_same_bits_for_any_threads),
    CHECK_TEST(copy_from_names_what_differs_and_changes_nothing),
    CHECK_TEST(a_failing_allocation_changes_nothing),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
