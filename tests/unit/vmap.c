/* vmap.c - batches: what a function of one sample gives for all, beside a loop; gradients of
 * each sample, nested batches, random numbers, errors, and memory that runs out. */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/vmap.h"
#include "../check.h"

static bool refused(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    const bool there = tn_error_take(&e) && e.code == code && strstr(e.message, text);
    if (!there) printf("    got %s\n", e.message);
    return there;
}
static bool alike(tn_tensor *a, tn_tensor *b) {
    const tn_tensor *same = tn_allclose(a, b, .rtol = 1e-5, .atol = 1e-6);
    return same && tn_item(same) != 0;
}
static tn_tensors list(tn_tensor *const *at, int64_t n) {
    return tn_tensors_of((tn_tensor **)(uintptr_t)at, n);
}

/* --- functions of one sample ------------------------------------------------------------------ */

static bool distance(tn_tensor *const *in, tn_tensor **out, void *user) {
    (void)user;
    return (out[0] = tn_linalg_vector_norm(tn_sub(in[0], in[1]))) != NULL;
}
static void a_function_of_one_sample(void) {
    TN_SCOPE {
        tn_tensor *in[2] = {tn_randn(TN_DIMS(4, 3)), tn_randn(TN_DIMS(3))}, *d = NULL;
        const int64_t dims[2] = {0, TN_NONE};
        CHECK(tn_vmap(distance, list(in, 2), dims, &d, 1, NULL, TN_RANDOM_ERROR));
        CHECK_EQ(tn_vmap_depth(), 0);
        for (int64_t i = 0; i < 4; i++) {
            tn_tensor *one[2] = {tn_select(in[0], 0, i), in[1]}, *want;
            CHECK(distance(one, &want, NULL) && alike(tn_select(d, 0, i), want));
        }
        /* The samples may stand in any dimension, and all inputs be batched. */
        in[0] = tn_randn(TN_DIMS(3, 4));
        in[1] = tn_randn(TN_DIMS(3, 4));
        CHECK(tn_vmap(distance, list(in, 2), ((int64_t[2]){1, -1}), &d, 1, NULL, TN_RANDOM_ERROR));
        CHECK(alike(d, tn_linalg_vector_norm(tn_sub(in[0], in[1]), .dim = TN_DIMS(0))));
    }
}

/* Shape and history are those of one sample. */
static bool looks(tn_tensor *const *in, tn_tensor **out, void *user) {
    (void)user;
    CHECK_EQ(tn_ndim(in[0]), 1);
    CHECK_EQ(tn_size(in[0], 0), 3);
    CHECK_EQ(tn_vmap_depth(), 1);
    CHECK_EQ(tn_batch_depth(in[0]), 1);
    CHECK(!tn_data(in[0]));
    CHECK(tn_needs_grad(in[0]) && !tn_is_leaf(tn_neg(in[0])));
    out[0] = tn_add_(tn_clone(in[0]), in[0]);                   /* in place */
    out[1] = tn_zeros(TN_DIMS(2));                              /* the same for all */
    out[2] = tn_transpose(tn_view(in[0], TN_DIMS(1, 3)), 0, 1); /* a view */
    return out[2] != NULL;
}
static void what_a_sample_looks_like(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_randn(TN_DIMS(2, 3))), *out[3];
        CHECK(tn_vmap(looks, list(&x, 1), NULL, out, 3, NULL, TN_RANDOM_ERROR));
        CHECK(alike(out[0], tn_mul(x, tn_full(TN_DIMS(1), 2.0))));
        CHECK_EQ(tn_size(out[1], 0), 2);
        CHECK_EQ(tn_size(out[2], 1), 3);
        /* Gradients pass through. */
        tn_backward(tn_sum(out[0]));
        CHECK(alike(tn_grad_of(x), tn_full(TN_DIMS(2, 3), 2.0)));
    }
}

/* --- gradients of each sample ----------------------------------------------------------------- */

/* in: the weights of a network, one image, its class. out: the gradients of the weights. */
static tn_tensor *network(tn_tensor *const *w, tn_tensor *image, tn_tensor *label) {
    tn_tensor *x = tn_relu(tn_conv2d(tn_unsqueeze(image, 0), w[0], .bias = w[1]));
    x = tn_linear(tn_flatten(tn_max_pool2d(x, TN_DIMS(2, 2)), .start_dim = 1), w[2], .bias = w[3]);
    return tn_cross_entropy(x, tn_unsqueeze(label, 0));
}
static bool gradients(tn_tensor *const *in, tn_tensor **out, void *user) {
    tn_tensor *w[4], *loss;
    const tn_grads_options options = {NULL, false, false, false};
    (void)user;
    for (int i = 0; i < 4; i++) {
        w[i] = tn_vmap_depth() ? tn_batch_each(in[i]) : in[i];
        w[i] = tn_requires_grad(tn_detach(w[i]));
    }
    loss = network(w, in[4], in[5]);
    return loss && tn_grads(list(&loss, 1), list(w, 4), out, &options);
}
static void gradients_of_each_sample(void) {
    TN_SCOPE {
        enum { SAMPLES = 5 };
        tn_tensor *in[6] = {tn_randn(TN_DIMS(4, 2, 3, 3)),
                            tn_randn(TN_DIMS(4)),
                            tn_randn(TN_DIMS(3, 16)),
                            tn_randn(TN_DIMS(3)),
                            tn_randn(TN_DIMS(SAMPLES, 2, 6, 6)),
                            tn_randint(3, TN_DIMS(SAMPLES))},
                  *got[4], *want[4];
        const int64_t dims[6] = {TN_NONE, TN_NONE, TN_NONE, TN_NONE, 0, 0};
        CHECK(tn_vmap(gradients, list(in, 6), dims, got, 4, NULL, TN_RANDOM_ERROR));
        for (int64_t s = 0; s < SAMPLES; s++) {
            tn_tensor *one[6];
            memcpy(one, in, sizeof one);
            one[4] = tn_select(in[4], 0, s);
            one[5] = tn_select(in[5], 0, s);
            CHECK(gradients(one, want, NULL));
            for (int i = 0; i < 4; i++) CHECK(alike(tn_select(got[i], 0, s), want[i]));
        }
    }
}

/* --- nested ----------------------------------------------------------------------------------- */

static bool pairs_inner(tn_tensor *const *in, tn_tensor **out, void *user) {
    CHECK_EQ(tn_vmap_depth(), 2);
    return (out[0] = tn_dot(in[0], *(tn_tensor **)user)) != NULL;
}
static bool pairs_outer(tn_tensor *const *in, tn_tensor **out, void *user) {
    tn_tensor *mine = in[0];
    return tn_vmap(pairs_inner, list((tn_tensor *[]){(tn_tensor *)user}, 1), NULL, out, 1, &mine,
                   TN_RANDOM_ERROR);
}
static void batches_nest(void) {
    TN_SCOPE {
        tn_tensor *a = tn_randn(TN_DIMS(3, 4)), *b = tn_randn(TN_DIMS(5, 4)), *d;
        CHECK(tn_vmap(pairs_outer, list(&a, 1), NULL, &d, 1, b, TN_RANDOM_ERROR));
        CHECK(alike(d, tn_matmul(a, tn_transpose(b, 0, 1))));
    }
}

/* --- random numbers --------------------------------------------------------------------------- */

static bool draws(tn_tensor *const *in, tn_tensor **out, void *user) {
    (void)user;
    out[0] = tn_rand(TN_DIMS(4));
    out[1] = out[0] ? tn_dropout(in[0], 0.5, true) : NULL;
    return out[1] != NULL;
}
static void random_numbers(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 50)), *out[2];
        CHECK(!tn_vmap(draws, list(&x, 1), NULL, out, 2, NULL, TN_RANDOM_ERROR));
        CHECK(refused(TN_UNSUPPORTED, "random numbers in a batch"));
        CHECK(tn_vmap(draws, list(&x, 1), NULL, out, 2, NULL, TN_RANDOM_SAME));
        for (int k = 0; k < 2; k++)
            CHECK(tn_item(tn_equal(tn_select(out[k], 0, 0), tn_select(out[k], 0, 1))) != 0);
        CHECK(tn_vmap(draws, list(&x, 1), NULL, out, 2, NULL, TN_RANDOM_DIFFERENT));
        for (int k = 0; k < 2; k++)
            CHECK(tn_item(tn_equal(tn_select(out[k], 0, 0), tn_select(out[k], 0, 1))) == 0);
    }
}

/* --- in steps --------------------------------------------------------------------------------- */

static void in_steps(void) {
    TN_SCOPE {
        tn_tensor *x = tn_randn(TN_DIMS(2, 3)), *y, *z;
        CHECK(!tn_vmap_end());
        CHECK(tn_vmap_begin(2, TN_RANDOM_ERROR));
        y = tn_batched(x, 0);
        z = tn_unbatched(tn_sin(y), 1);
        CHECK(tn_vmap_end());
        CHECK(alike(z, tn_transpose(tn_sin(x), 0, 1)));
        /* A batch of nothing has the shapes. */
        CHECK(tn_vmap_begin(0, TN_RANDOM_ERROR));
        z = tn_unbatched(tn_sort(tn_batched(tn_zeros(TN_DIMS(0, 3)), 0)).values, 0);
        CHECK_EQ(tn_size(z, 1), 3);
        CHECK(tn_vmap_end());
        /* What is left when its batch has ended says so. */
        CHECK(!tn_neg(y) && refused(TN_INVALID, "has ended"));
    }
}

static tn_tensor *lone; /* written by what differs from sample to sample */
static int wrong;
static bool wrongly(tn_tensor *const *in, tn_tensor **out, void *user) {
    (void)user;
    switch (wrong) {
    case 0: out[0] = tn_item(in[0]) > 0 ? in[0] : NULL; break;
    case 1: out[0] = tn_add_(lone, in[0]); break;
    case 2: out[0] = tn_add(in[0], in[0], .out = lone); break;
    case 3: out[0] = tn_matmul(in[0], tn_zeros(TN_DIMS(5, 5))); break;
    case 4: out[0] = tn_nonzero(in[0]); break;
    case 5:
        tn_backward(tn_sum(in[0]));
        out[0] = NULL;
        break;
    case 6: out[0] = tn_batched(in[0], 0); break;
    default: out[0] = NULL;
    }
    return out[0] != NULL;
}
static void errors(void) {
    TN_SCOPE {
        static const struct {
            tn_code code;
            const char *text;
        } says[] = {{TN_UNSUPPORTED, "tn_item"},
                    {TN_UNSUPPORTED, "the same for all samples"},
                    {TN_UNSUPPORTED, "out="},
                    {TN_INVALID, "cannot be multiplied"},
                    {TN_UNSUPPORTED, "depends on data"},
                    {TN_UNSUPPORTED, "use tn_grads"},
                    {TN_INVALID, "already"},
                    {TN_INVALID, "the function failed"}};
        tn_tensor *x = tn_from_f32(((float[]){0, 1, 1, 1}), TN_DIMS(2, 2)), *out;
        lone = tn_zeros(TN_DIMS(2));
        for (wrong = 0; wrong < (int)(sizeof says / sizeof *says); wrong++) {
            tn_tensor *in = wrong == 0 ? tn_select(x, 1, 0) : x;
            CHECK(!tn_vmap(wrongly, list(&in, 1), NULL, &out, 1, NULL, TN_RANDOM_ERROR));
            CHECK(refused(says[wrong].code, says[wrong].text));
            CHECK_EQ(tn_vmap_depth(), 0);
        }
        CHECK(!tn_vmap(distance, list(&x, 1), ((int64_t[1]){2}), &out, 1, NULL, TN_RANDOM_ERROR));
        CHECK(refused(TN_INVALID, "no dimension 2"));
        CHECK(!tn_vmap(distance, list(&x, 1), ((int64_t[1]){TN_NONE}), &out, 1, NULL,
                       TN_RANDOM_ERROR));
        CHECK(refused(TN_INVALID, "no input is batched"));
        CHECK(!tn_vmap_begin(-1, TN_RANDOM_ERROR) && refused(TN_INVALID, "-1 samples"));
        CHECK(!tn_batched(x, 0) && refused(TN_INVALID, "no batch is open"));
    }
}

/* --- memory that runs out --------------------------------------------------------------------- */

static int64_t left = -1; /* allocations that succeed still; -1: all */
static void *failing_alloc(size_t bytes, void *user) {
    (void)user;
    if (left == 0) return NULL;
    left -= left > 0;
    return malloc(bytes);
}
static void failing_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}
static bool several(tn_tensor *const *in, tn_tensor **out, void *user) {
    tn_tensor *w = tn_requires_grad(tn_detach(in[0])), *y;
    const tn_grads_options options = {NULL, false, false, false};
    (void)user;
    y = tn_sum(tn_mul(tn_sort(tn_transpose(w, 0, 1)).values, tn_cumsum(w, 0)));
    out[1] = tn_index_select(in[0], 0, tn_zeros(TN_DIMS(2), .dtype = TN_I64));
    return out[1] && tn_grads(list(&y, 1), list(&w, 1), out, &options);
}
static void each_allocation_may_fail(void) {
    tn_context_options o;
    tn_context *c;
    int64_t failures = 0;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.allocator.alloc = failing_alloc;
    o.allocator.free = failing_free;
    tn_context_use(c = tn_context_new(&o));
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(3, 4, 4)), *out[2];
        for (bool done = false; !done; failures += !done)
            TN_SCOPE {
                left = failures;
                done = tn_vmap(several, list(&x, 1), NULL, out, 2, NULL, TN_RANDOM_ERROR);
                left = -1;
                CHECK(done || (refused(TN_MEMORY, "") && !out[0] && !out[1]));
                CHECK_EQ(tn_vmap_depth(), 0);
                CHECK(failures < 5000);
                done = done || failures >= 5000;
            }
    }
    CHECK(failures > 50);
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_function_of_one_sample),
        CHECK_TEST(what_a_sample_looks_like),
        CHECK_TEST(gradients_of_each_sample),
        CHECK_TEST(batches_nest),
        CHECK_TEST(random_numbers),
        CHECK_TEST(in_steps),
        CHECK_TEST(errors),
        CHECK_TEST(each_allocation_may_fail),
    };
    const int failed = CHECK_MAIN(tests, argc, argv);
    return failed || tn_memory().live_tensors != 0;
}
