/* nn_lbfgs.c - promises of L-BFGS: torch's trajectories, both ways of steps, errors. */
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

/* Rosenbrock's function of the pairs of x and y: (1 - x)^2 + 100 (y - x^2)^2. */
typedef struct valley {
    tn_tensor *x, *y;
    int calls, fail_at;
} valley;
static tn_tensor *valley_loss(void *user) {
    valley *v = (valley *)user;
    tn_tensor *a, *b, *loss;
    if (++v->calls == v->fail_at) return NULL;
    tn_zero_grad(v->x);
    tn_zero_grad(v->y);
    a = tn_sum(tn_square(tn_rsub_scalar(v->x, 1)));
    b = tn_sum(tn_square(tn_sub(v->y, tn_square(v->x))));
    loss = tn_add(a, tn_mul_scalar(b, 100));
    return tn_backward(loss) ? loss : NULL;
}
static valley valley_new(void) {
    static const double x[2] = {-1.2, 0.5}, y[2] = {1, -0.7};
    valley v = {NULL, NULL, 0, 0};
    v.x = tn_requires_grad(tn_from(x, TN_DIMS(2), TN_F64));
    v.y = tn_requires_grad(tn_from(y, TN_DIMS(2), TN_F64));
    return v;
}

/* Losses before each step, and where it ends, by torch.optim.LBFGS in float64. */
static const double searched[] = {
    114.69999999999999, 4.9323334777351056, 3.9467922605103594, 2.195122456850885,
    1.3376084527578176, 0.5726445483541142, 1.645860392845735, 38.0};
static const double plain[] = {
    114.69999999999999, 6.687828670575258, 4.387168818534411, 2.5997188270431613,
    1.447855114614427, 0.6956400818747744, 1.2837730740203757, 120.0};
static bool near_to(double a, double b) { return fabs(a - b) <= 1e-7 * fmax(1, fabs(b)); }

static void steps_are_torchs(void) {
    TN_SCOPE {
        valley v = valley_new();
        tn_tensor *both[2];
        tn_lbfgs *o;
        both[0] = v.x, both[1] = v.y;
        o = tn_lbfgs_new(tn_tensors_of(both, 2), .max_iter = 5, .strong_wolfe = true,
                         .history_size = 4);
        for (int i = 0; i < 6; i++)
            if (!CHECK(near_to(tn_lbfgs_step(o, valley_loss, &v), searched[i])))
                printf("    step %d\n", i);
        CHECK(near_to(tn_item(tn_sum(v.x)), searched[6]) && v.calls == (int)searched[7]);
        CHECK(tn_lbfgs_evaluations(o) == v.calls);
        tn_lbfgs_free(o);
        v = valley_new();
        both[0] = v.x, both[1] = v.y;
        o = tn_lbfgs_new(tn_tensors_of(both, 2), .lr = 0.1);
        for (int i = 0; i < 6; i++)
            if (!CHECK(near_to(tn_lbfgs_step(o, valley_loss, &v), plain[i])))
                printf("    step %d\n", i);
        CHECK(near_to(tn_item(tn_sum(v.x)), plain[6]) && v.calls == (int)plain[7]);
        tn_lbfgs_free(o);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void it_finds_the_minimum(void) {
    TN_SCOPE {
        valley v = valley_new();
        tn_tensor *both[2];
        tn_lbfgs *o;
        both[0] = v.x, both[1] = v.y;
        o = tn_lbfgs_new(tn_tensors_of(both, 2), .max_iter = 100, .strong_wolfe = true);
        for (int i = 0; i < 3; i++) tn_lbfgs_step(o, valley_loss, &v);
        CHECK(fabs(tn_item(tn_sum(v.x)) - 2) < 1e-4 && fabs(tn_item(tn_sum(v.y)) - 2) < 1e-4);
        tn_lbfgs_free(o);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void errors_are_told(void) {
    TN_SCOPE {
        valley v = valley_new();
        tn_tensor *one[2], *whole = tn_zeros(TN_DIMS(2), .dtype = TN_I64);
        tn_lbfgs *o;
        one[0] = v.x, one[1] = v.y;
        o = tn_lbfgs_new(tn_tensors_of(one, 2), .strong_wolfe = true);
        v.fail_at = 3;
        CHECK(isnan(tn_lbfgs_step(o, valley_loss, &v)) && says(TN_INVALID, "returned NULL"));
        v.fail_at = 0;
        CHECK(tn_lbfgs_step(o, valley_loss, &v) > 0);
        CHECK(isnan(tn_lbfgs_step(NULL, valley_loss, &v)) && says(TN_INVALID, "NULL"));
        CHECK(isnan(tn_lbfgs_step(o, NULL, &v)) && says(TN_INVALID, "NULL"));
        tn_lbfgs_free(o);
        CHECK(!tn_lbfgs_new(tn_tensors_of(one, 2), .lr = -1) && says(TN_INVALID, "lr"));
        CHECK(!tn_lbfgs_new(tn_tensors_of(one, 2), .max_iter = -1) && says(TN_INVALID, "max_iter"));
        CHECK(!tn_lbfgs_new(tn_tensors_of(one, 0)) && says(TN_INVALID, "empty"));
        one[1] = whole;
        CHECK(!tn_lbfgs_new(tn_tensors_of(one, 2)) && says(TN_INVALID, "params[1]"));
        one[1] = tn_requires_grad(tn_zeros(TN_DIMS(2)));
        CHECK(!tn_lbfgs_new(tn_tensors_of(one, 2)) && says(TN_INVALID, "another dtype"));
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(steps_are_torchs),
    CHECK_TEST(it_finds_the_minimum),
    CHECK_TEST(errors_are_told),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
