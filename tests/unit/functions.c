/* functions.c - the edges of custom functions, checkpoints, gradient checks and rows of one's own:
 * whatever the user's part does wrong is an error that says so, and nothing is left behind. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <stdlib.h>

static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}

/* --- custom functions ------------------------------------------------------------------------- */

/* What a function's parts are to do, by its user pointer. */
typedef struct plan {
    bool silent, says, lies, none, whole, both, back_silent, back_says, saved_wrong, unwanted;
    int released;
} plan;

static bool planned(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    plan *p = (plan *)tn_function_user(f);
    (void)nin;
    if (p->silent) return false;
    if (p->says) return tn_error_set(TN_INDEX, NULL, 0, "forward says no");
    REFUSED(tn_function_save(f, NULL), TN_INVALID, "tn_function_save: NULL");
    CHECK(!tn_function_saved(f, 0));
    says(TN_INDEX, "tn_function_saved: index 0 is out of range for 0 saved tensors", __LINE__);
    out[0] = p->none ? NULL : p->whole ? tn_argmax(in[0]) : tn_mul_scalar(in[0], 2);
    out[1] = p->whole ? tn_argmax(in[0]) : tn_mul_scalar(in[0], 3);
    if (!tn_function_save(f, in[0]) || (out[1] && !tn_function_save(f, out[1]))) return false;
    CHECK(tn_function_saved(f, 0) && !tn_function_saved(f, -1) && tn_error_take(NULL));
    CHECK(tn_function_saved(f, 1) || !out[1]);
    if (p->lies) tn_error_set(TN_INDEX, NULL, 0, "forward went on");
    return true;
}
static bool planned_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    plan *p = (plan *)tn_function_user(f);
    tn_tensor *g = grad_out[0] ? tn_mul_scalar(grad_out[0], 2) : NULL;
    tn_tensor *h = grad_out[1] ? tn_mul_scalar(grad_out[1], 3) : NULL;
    if (p->back_silent) return false;
    if (p->back_says) return tn_error_set(TN_INDEX, NULL, 0, "backward says no");
    if (p->saved_wrong) return tn_function_saved(f, 2) != NULL;
    if (!tn_function_saved(f, 0) || !tn_function_saved(f, 1)) return false;
    grad_in[0] = g && h ? tn_add(g, h) : g ? g : h;
    if (p->unwanted) grad_in[1] = tn_ones(TN_DIMS(2), .dtype = TN_F64); /* nobody asked for it */
    return true;
}
static void planned_gone(void *user) { ((plan *)user)->released++; }
static const tn_function_row planned_row = {"planned", 2, planned, planned_back, planned_gone};
static const tn_function_row bare_row = {"bare", 2, planned, planned_back, NULL};

static void forwards_that_fail_say_so(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *out[2];
        static plan p; /* lives as long as the graph */
        memset(&p, 0, sizeof p), p.silent = true;
        REFUSED(tn_function_call(&planned_row, TN_LIST(x), &p, out), TN_INVALID,
                "planned: forward failed without setting an error");
        CHECK(p.released == 1 && !out[0]);
        memset(&p, 0, sizeof p), p.says = true;
        REFUSED(tn_function_call(&planned_row, TN_LIST(x), &p, out), TN_INDEX, "forward says no");
        memset(&p, 0, sizeof p), p.lies = true;
        REFUSED(tn_function_call(&planned_row, TN_LIST(x), &p, out), TN_INDEX, "went on");
        memset(&p, 0, sizeof p), p.none = true;
        REFUSED(tn_function_call(&planned_row, TN_LIST(x), &p, out), TN_INVALID,
                "planned: forward did not set output 0");
        CHECK(p.released == 1);
        CHECK(tn_function_user(NULL) == NULL && !tn_function_save(NULL, x) && tn_error_take(NULL));
        REFUSED(tn_function_saved(NULL, 3), TN_INDEX,
                "tn_function_saved: index 3 is out of range for 0 saved tensors");
        tn_error_set(TN_INDEX, NULL, 0, "before");
        CHECK(!tn_function_call(&bare_row, TN_LIST(x), &p, out) && !out[0] && tn_error_take(NULL));
    }
}
/* What a part that fails has left is no tensor. */
static tn_tensor *const nowhere = (tn_tensor *)(uintptr_t)64;
static bool fails_late(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    out[0] = tn_mul_scalar(in[0], 2), out[1] = tn_function_user(f) ? nowhere : out[0];
    return out[1] == out[0] || tn_error_set(TN_INDEX, NULL, 0, "forward is late");
}
static bool fails_late_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f, (void)grad_out, grad_in[0] = nowhere;
    return tn_error_set(TN_INDEX, NULL, 0, "backward is late");
}
static tn_tensor *fails_late_hook(tn_tensor *grad, void *user) {
    (void)grad, (void)user, tn_error_set(TN_INDEX, NULL, 0, "a hook is late");
    return nowhere;
}
static void what_a_part_that_fails_leaves_is_not_read(void) {
    static const tn_function_row row = {"late", 2, fails_late, fails_late_back, NULL};
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2), *out[2];
        int64_t n;
        REFUSED(tn_function_call(&row, TN_LIST(x), x, out), TN_INDEX, "forward is late");
        CHECK(!out[0] && !out[1] && tn_function_call(&row, TN_LIST(x), NULL, out));
        REFUSED(tn_backward(tn_sum(out[0])), TN_INDEX, "backward is late");
        CHECK((n = tn_hook_add(y, fails_late_hook, NULL, NULL)) > 0);
        REFUSED(tn_backward(tn_sum(y), .retain_graph = true), TN_INDEX, "a hook is late");
        CHECK(tn_hook_remove(y, n) && tn_backward(tn_sum(y)) && at(tn_grad_of(x), 0) == 2);
    }
}
static void outputs_without_gradients_leave_the_tape(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *out[2];
        static plan p; /* lives as long as the graph */
        bool was;
        memset(&p, 0, sizeof p), p.whole = true;
        CHECK(tn_function_call(&planned_row, TN_LIST(x), &p, out) && !tn_needs_grad(out[0]));
        CHECK_EQ(p.released, 1);
        memset(&p, 0, sizeof p), p.unwanted = true;
        CHECK(tn_function_call(&planned_row, TN_LIST(x, NULL), &p, out) && tn_needs_grad(out[1]));
        CHECK(tn_backward(tn_sum(out[1])) && at(tn_grad_of(x), 0) == 3);
        was = tn_set_grad_mode(false);
        CHECK(tn_function_call(&planned_row, TN_LIST(x), &p, out) && !tn_needs_grad(out[0]));
        tn_set_grad_mode(was);
        CHECK(tn_function_call(&bare_row, TN_LIST(tn_ones(TN_DIMS(2))), &p, out));
        CHECK(!tn_needs_grad(out[1]) && p.released == 1);
    }
}
static void backwards_that_fail_say_so(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *out[2], *s, *y = tn_mul_scalar(x, 1);
        static plan p; /* lives as long as the graph */
        memset(&p, 0, sizeof p);
        CHECK(tn_function_call(&planned_row, TN_LIST(y), &p, out));
        s = tn_add(tn_sum(out[0]), tn_sum(out[1]));
        p.back_silent = true;
        REFUSED(tn_backward(s, .retain_graph = true), TN_INVALID,
                "planned: backward failed without setting an error");
        p.back_silent = false, p.back_says = true;
        REFUSED(tn_backward(s, .retain_graph = true), TN_INDEX, "backward says no");
        p.back_says = false, p.saved_wrong = true;
        REFUSED(tn_backward(s, .retain_graph = true), TN_INDEX,
                "tn_function_saved: index 2 is out of range for 2 saved tensors");
        p.saved_wrong = false;
        CHECK(tn_backward(s, .retain_graph = true) && at(tn_grad_of(x), 0) == 5);
        CHECK(tn_backward(s, .create_graph = true) && at(tn_grad_of(x), 0) == 10);
        tn_zero_grad(x);
        CHECK(tn_touch(y));
        REFUSED(tn_backward(s), TN_AUTOGRAD,
                "planned: saved tensor 0 was modified in place after it was saved");
        CHECK(!tn_grad_of(x));
    }
    TN_SCOPE { /* a leaf that was given other data */
        tn_tensor *x = leaf(1), *out[2];
        static plan p; /* lives as long as the graph */
        memset(&p, 0, sizeof p);
        CHECK(tn_function_call(&planned_row, TN_LIST(x), &p, out));
        CHECK(tn_swap_data_at(NULL, 0, x, tn_ones(TN_DIMS(2))));
        REFUSED(tn_backward(tn_sum(out[0])), TN_AUTOGRAD, "saved tensor 0 was modified");
    }
}

/* --- checkpoints ------------------------------------------------------------------------------ */

static int times; /* the forward of a checkpoint has run */
static tn_tensor *outer;
static tn_tensor *plain(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    times++;
    return tn_mul(in[0], in[1]);
}
static tn_tensor *nothing(tn_tensor *const *in, int nin, void *user) {
    return (void)in, (void)nin, (void)user, NULL;
}
static tn_tensor *once(tn_tensor *const *in, int nin, void *user) { /* fails when it runs again */
    (void)nin, (void)user;
    return times++ ? (tn_error_set(TN_INDEX, NULL, 0, "not again"), (tn_tensor *)NULL)
                   : tn_mul_scalar(in[0], 2);
}
static tn_tensor *of_outside(tn_tensor *const *in, int nin, void *user) {
    return (void)in, (void)nin, (void)user, outer;
}
static void checkpoints_outside_of_any_scope_are_made(void) {
    tn_tensor *x = leaf(2), *y;
    times = 0;
    y = tn_checkpoint(plain, TN_LIST(x, x), NULL);
    CHECK(y && at(y, 0) == 4 && times == 1);
    TN_SCOPE
        CHECK(tn_backward(tn_sum(y)) && times == 2 && at(tn_grad_of(x), 0) == 4);
    tn_free(y), tn_free(x);
}
static void checkpoints_run_twice_or_say_why_not(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2), *fixed = tn_full(TN_DIMS(2), 3.0, .dtype = TN_F64), *y, *many[65];
        times = 0;
        y = tn_checkpoint(plain, TN_LIST(x, fixed), NULL);
        CHECK(tn_backward(tn_sum(y)) && at(tn_grad_of(x), 0) == 3 && times == 2);
        CHECK(!tn_grad_of(fixed));
        y = tn_checkpoint(plain, TN_LIST(x, fixed), NULL);
        REFUSED(tn_backward(tn_sum(y), .create_graph = true), TN_UNSUPPORTED,
                "checkpoint: create_graph is not supported through a checkpoint");
        REFUSED(tn_checkpoint(nothing, TN_LIST(x), NULL), TN_INVALID, "checkpoint: forward failed");
        for (int i = 0; i < 65; i++) many[i] = x;
        REFUSED(tn_checkpoint(plain, tn_tensors_of(many, 65), NULL), TN_INVALID,
                "at most 64 inputs");
        REFUSED(tn_checkpoint(plain, TN_LIST(x, NULL), NULL), TN_INVALID, "tn_function_save: NULL");
        times = 0;
        y = tn_checkpoint(once, TN_LIST(x), NULL);
        REFUSED(tn_backward(tn_sum(y)), TN_INDEX, "not again");
        y = tn_checkpoint(plain, TN_LIST(x, fixed), NULL);
        CHECK(tn_fill_(fixed, 7.0));
        REFUSED(tn_backward(tn_sum(y)), TN_AUTOGRAD,
                "saved tensor 1 was modified in place after it was saved");
        CHECK(at(tn_grad_of(x), 0) == 3);
        outer = tn_mul_scalar(leaf(5), 1);
        y = tn_checkpoint(of_outside, TN_LIST(x), NULL);
        CHECK(y && at(y, 0) == 5);
    }
}

/* --- gradient checks -------------------------------------------------------------------------- */

static int mode; /* of `checked` */
static bool checked(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    switch (mode) {
    case 0: return false;
    case 1: return (out[0] = tn_detach(in[0])) != NULL;
    case 2: return (out[0] = tn_mul(in[0], tn_detach(in[0]))) != NULL; /* half the slope */
    case 3: return tn_error_set(TN_INDEX, NULL, 0, "lies"), out[0] = in[0], true;
    case 4: return (out[0] = tn_mul_scalar(in[0], 3)) != NULL; /* second derivative: none */
    case 5:
        *nout = 3; /* a hole, whole numbers, and one that counts */
        out[0] = NULL, out[1] = tn_argmax(in[0]), out[2] = tn_mul(in[0], in[0]);
        return out[2] != NULL;
    case 6: return (out[0] = tn_mul(in[0], tn_conj(tn_detach(in[0])))) != NULL;
    case 7: return (out[0] = tn_exp(in[0])) != NULL;
    default: return (out[0] = tn_mul(in[0], in[1] ? in[1] : in[0])) != NULL;
    }
}
static bool check(int m, tn_tensors in) { return mode = m, tn_gradcheck(checked, in, NULL, NULL); }
static bool twice(int m, tn_tensors in) {
    return mode = m, tn_gradgradcheck(checked, in, NULL, NULL);
}
static void gradient_checks_say_what_differs(void) {
    tn_gradcheck_options loose = {0.5, 10, 10}, strict = {0.25, 1e-15, 1e-15};
    TN_SCOPE {
        tn_tensor *x = leaf(1.5), *many[33], *z = tn_full(TN_DIMS(1), 1, .dtype = TN_C128);
        tn_tensor *narrow = tn_requires_grad(tn_ones(TN_DIMS(1)));
        for (int i = 0; i < 33; i++) many[i] = x;
        z = tn_requires_grad(tn_mul(z, tn_ones_like(z)));
        CHECK(!check(0, TN_LIST(x)) && tn_ok());
        CHECK(!twice(0, TN_LIST(x)) && tn_ok());
        REFUSED(check(1, TN_LIST(x)), TN_AUTOGRAD, "gradcheck: no output requires grad");
        REFUSED(check(2, TN_LIST(x)), TN_AUTOGRAD,
                "gradcheck: input 0, element 0: the gradient is");
        REFUSED(check(6, TN_LIST(z)), TN_AUTOGRAD, "gradcheck: input 0, element 0");
        REFUSED(check(3, TN_LIST(x)), TN_INDEX, "lies");
        REFUSED(twice(3, TN_LIST(x)), TN_INDEX, "lies");
        CHECK(check(4, TN_LIST(x)) && twice(4, TN_LIST(x)) && check(5, TN_LIST(x)));
        CHECK(twice(5, TN_LIST(x)) && check(8, TN_LIST(x, NULL)) && twice(8, TN_LIST(x, NULL)));
        CHECK(check(8, TN_LIST(x, tn_clone(tn_detach(x)))) && check(7, TN_LIST(z)) &&
              twice(7, TN_LIST(z)));
        REFUSED(check(7, TN_LIST(narrow)), TN_INVALID, "no float64 or complex128 input");
        REFUSED(check(7, TN_LIST(tn_detach(x))), TN_INVALID, "no float64 or complex128 input");
        REFUSED(check(7, tn_tensors_of(many, 33)), TN_INVALID,
                "gradcheck: expected at most 32 inputs");
        REFUSED(twice(7, tn_tensors_of(many, 33)), TN_INVALID,
                "gradgradcheck: expected at most 32 inputs");
        mode = 2;
        CHECK(tn_gradcheck(checked, TN_LIST(x), NULL, &loose));
        mode = 7;
        CHECK(!tn_gradcheck(checked, TN_LIST(x), NULL, &strict) && tn_error_take(NULL));
        CHECK(at(x, 0) == 1.5 && at(x, 1) == 1.5);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(forwards_that_fail_say_so),
        CHECK_TEST(what_a_part_that_fails_leaves_is_not_read),
        CHECK_TEST(outputs_without_gradients_leave_the_tape),
        CHECK_TEST(backwards_that_fail_say_so),
        CHECK_TEST(checkpoints_outside_of_any_scope_are_made),
        CHECK_TEST(checkpoints_run_twice_or_say_why_not),
        CHECK_TEST(gradient_checks_say_what_differs),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
