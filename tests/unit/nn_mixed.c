/* nn_mixed.c - promises of mixed precision: casts of weights that are kept, the scaler of losses, a
 * training in bf16 that reaches what float32 reaches. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/base/base.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>

static bool says(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    tn_error_take(&e);
    if (e.code == code && strstr(e.message, text)) return true;
    printf("    got %s: %s\n", tn_code_name(e.code), e.message);
    return false;
}
static tn_tensor *counting(int64_t n, int64_t m) {
    return tn_clone(tn_reshape(tn_arange(n * m, .dtype = TN_F32), TN_DIMS(n, m)));
}

/* --- casts of weights ------------------------------------------------------------------------- */

static void casts_of_weights_are_kept_until_autocast_ends(void) {
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(counting(3, 3)), *x = counting(2, 3), *y, *z;
        const int64_t owners = tn_owners(w);
        tn_set_autocast(TN_BF16);
        TN_SCOPE
            CHECK(tn_matmul(x, w) != NULL);
        CHECK(tn_owners(w) > owners); /* the cache holds it, after its scope */
        y = tn_matmul(x, w);
        z = tn_matmul(x, w);
        CHECK_EQ(tn_item(tn_all(tn_eq(y, z))), 1);
        /* Both graphs share the cast, and each can be gone through. */
        CHECK(tn_backward(tn_sum(y)) && tn_backward(tn_sum(z)));
        CHECK_EQ(tn_item(tn_sum(tn_grad_of(w))), 2 * 3 * tn_item(tn_sum(x)));
        tn_no_grad
            tn_mul_scalar_(w, 2); /* a write: it is cast again */
        CHECK_EQ(tn_item(tn_sum(tn_matmul(x, w))), 2 * tn_item(tn_sum(y)));
        tn_set_autocast(TN_NO_DTYPE);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void what_is_cast_without_recording_is_not_kept(void) {
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(counting(2, 2)), *y;
        tn_set_autocast(TN_BF16);
        tn_no_grad
            CHECK(tn_matmul(w, w) != NULL);
        y = tn_matmul(w, w);
        CHECK(tn_needs_grad(y) && tn_backward(tn_sum(y)) && tn_grad_of(w));
        tn_clear_autocast_cache();
        CHECK(tn_set_autocast_cache(false));
        CHECK(tn_matmul(w, w) != NULL);
        CHECK(!tn_set_autocast_cache(true));
        for (int i = 0; i < 50; i++) CHECK(tn_matmul(w, tn_requires_grad(counting(2, 2))) != NULL);
        tn_set_autocast(TN_NO_DTYPE);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void autocast_of_devices_is_apart(void) {
    TN_SCOPE {
        tn_tensor *w = counting(2, 2);
        CHECK(tn_set_device_autocast(TN_F16) == TN_NO_DTYPE && tn_device_autocast() == TN_F16);
        CHECK(tn_autocast() == TN_NO_DTYPE && tn_dtype_of(tn_mm(w, w)) == TN_F32);
        CHECK(tn_set_device_autocast(TN_NO_DTYPE) == TN_F16);
    }
}

/* --- the scaler ------------------------------------------------------------------------------- */

static void the_scaler_scales_skips_and_grows(void) {
    tn_module *m = tn_nn_linear(2, 1, .bias = false);
    tn_optimizer *o = tn_optim_sgd(tn_parameters(m), .lr = 1);
    tn_scaler *s = tn_scaler_new(.init_scale = 8, .growth_interval = 2);
    tn_tensor *w = tn_module_tensor(m, "weight");
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(1, 2)), *loss = tn_sum(tn_forward(m, x));
        double before = tn_item(tn_sum(w)), scaled;
        CHECK(!tn_scaler_update(s) && says(TN_INVALID, "no optimizer"));
        scaled = tn_item(tn_scaler_scale(s, loss));
        CHECK_EQ(scaled, 8 * tn_item(loss));
        CHECK(tn_backward(tn_scaler_scale(s, loss)) && tn_item(tn_amax(tn_grad_of(w))) == 8);
        CHECK(tn_scaler_unscale_(s, o) && tn_item(tn_amax(tn_grad_of(w))) == 1);
        CHECK(!tn_scaler_unscale_(s, o) && says(TN_INVALID, "unscaled"));
        CHECK(tn_scaler_step(s, o) && fabs(tn_item(tn_sum(w)) - (before - 2)) < 1e-5);
        CHECK(!tn_scaler_step(s, o) && says(TN_INVALID, "stepped"));
        CHECK(tn_scaler_update(s) && tn_scaler_get(s) == 8 && tn_scaler_count(s) == 1);
        CHECK(tn_scaler_step(s, o) && tn_scaler_update(s) && tn_scaler_get(s) == 16);
        /* An overflow: no step, half the scale. */
        before = tn_item(tn_sum(w));
        tn_fill_(tn_grad_of(w), (double)INFINITY);
        CHECK(tn_scaler_step(s, o) && tn_item(tn_sum(w)) == before);
        CHECK(tn_scaler_update(s) && tn_scaler_get(s) == 8 && tn_scaler_count(s) == 0);
        tn_fill_(tn_grad_of(w), (double)NAN);
        CHECK(tn_scaler_step(s, o) && tn_item(tn_sum(w)) == before && tn_scaler_update(s));
        CHECK(tn_scaler_resume(s, 32, 1) && tn_scaler_get(s) == 32 && tn_scaler_count(s) == 1);
    }
    CHECK(!tn_scaler_resume(s, 0, 1) && says(TN_INVALID, "positive"));
    CHECK(!tn_scaler_new(.growth_factor = 0.5) && says(TN_INVALID, "growth_factor"));
    CHECK(!tn_scaler_new(.backoff_factor = 1) && says(TN_INVALID, "backoff_factor"));
    CHECK(!tn_scaler_new(.growth_interval = -1) && says(TN_INVALID, "growth_interval"));
    CHECK(!tn_scaler_new(.init_scale = (double)INFINITY) && says(TN_INVALID, "init_scale"));
    CHECK(!tn_scaler_step(s, NULL) && says(TN_INVALID, "NULL"));
    CHECK(!tn_scaler_scale(NULL, NULL) && says(TN_INVALID, "NULL"));
    tn_scaler_free(s);
    tn_optimizer_free(o);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- accuracy --------------------------------------------------------------------------------- */

enum { POINTS = 192, CLASSES = 3, STEPS = 120 };

/* Points on three arms of a spiral. */
static void spiral(float *x, int64_t *y) {
    for (int i = 0; i < POINTS; i++) {
        const double r = (double)(i / CLASSES) / (POINTS / CLASSES);
        const double a = 2.1 * (i % CLASSES) + 2.5 * r;
        x[2 * i] = (float)(r * cos(a) + 0.02 * sin(3.1 * i));
        x[2 * i + 1] = (float)(r * sin(a) + 0.02 * cos(2.3 * i));
        y[i] = i % CLASSES;
    }
}
/* The share of points that a net knows after training in a dtype. */
static double trained(tn_dtype half) {
    static float at[2 * POINTS];
    static int64_t class_of[POINTS];
    tn_module *net;
    tn_optimizer *o;
    tn_scaler *s = tn_scaler_new(.growth_interval = 20);
    double share = 0;
    spiral(at, class_of);
    tn_manual_seed(5);
    net = tn_sequential(tn_nn_linear(2, 32), tn_nn_tanh(), tn_nn_linear(32, 32), tn_nn_tanh(),
                        tn_nn_linear(32, CLASSES));
    o = tn_optim_adam(tn_parameters(net), .lr = 0.02);
    TN_SCOPE {
        tn_tensor *x = tn_from(at, TN_DIMS(POINTS, 2), TN_F32);
        tn_tensor *y = tn_from(class_of, TN_DIMS(POINTS), TN_I64), *best;
        for (int i = 0; i < STEPS; i++)
            TN_SCOPE {
                tn_tensor *loss;
                tn_set_autocast(half);
                loss = tn_cross_entropy(tn_forward(net, x), y);
                CHECK_EQ(tn_dtype_of(loss), TN_F32);
                tn_set_autocast(TN_NO_DTYPE);
                tn_optimizer_zero_grad(o);
                CHECK(tn_backward(tn_scaler_scale(s, loss)));
                CHECK(tn_scaler_step(s, o) && tn_scaler_update(s));
            }
        best = tn_argmax(tn_forward(net, x), .dim = 1);
        share = tn_item(tn_sum(tn_eq(best, y))) / POINTS;
    }
    CHECK(tn_scaler_get(s) > 65536); /* it has grown: nothing overflowed for long */
    tn_scaler_free(s);
    tn_optimizer_free(o);
    tn_module_free(net);
    return share;
}
static void a_training_in_half_precision_learns_as_float32_does(void) {
    const double single = trained(TN_NO_DTYPE), bf16 = trained(TN_BF16);
    printf("accuracy: float32 %.3f, bfloat16 %.3f\n", single, bf16);
    CHECK(single > 0.97 && bf16 > 0.97 && fabs(single - bf16) < 0.02);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(casts_of_weights_are_kept_until_autocast_ends),
    CHECK_TEST(what_is_cast_without_recording_is_not_kept),
    CHECK_TEST(autocast_of_devices_is_apart),
    CHECK_TEST(the_scaler_scales_skips_and_grows),
    CHECK_TEST(a_training_in_half_precision_learns_as_float32_does),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
