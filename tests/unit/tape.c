/* tape.c - what backward promises: right gradients through views and writes, refusals that name the
 * forward line, hooks, functions, checkpoints, nothing left behind. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

static tn_tensor *numbers(int64_t n) {
    double v[16];
    for (int i = 0; i < 16; i++) v[i] = 0.5 + i;
    return tn_requires_grad(tn_from_f64(v, TN_DIMS(n)));
}
static double at(tn_tensor *t, int i) {
    double v[64] = {0};
    if (!t || tn_numel(t) > 64 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
static const char *taken(void) {
    static char text[1700];
    tn_error_info e;
    text[0] = 0;
    if (tn_error_take(&e)) snprintf(text, sizeof text, "%s", e.message);
    return text;
}

static void backward_adds_to_grad(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(3);
        CHECK(tn_backward(tn_sum(tn_mul(x, x))));
        CHECK(at(tn_grad_of(x), 2) == 5);
        CHECK(tn_backward(tn_sum(tn_mul(x, x))));
        CHECK(at(tn_grad_of(x), 2) == 10);
        tn_zero_grad(x);
        CHECK(tn_grad_of(x) == NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_second_backward_names_the_forward_line(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2), *y = tn_sum(tn_mul(x, x));
        int line = __LINE__ - 1;
        char place[64];
        CHECK(tn_backward(y));
        CHECK(!tn_backward(y));
        snprintf(place, sizeof place, "tape.c:%d", line);
        const char *text = taken();
        CHECK(strstr(text, "second time") != NULL);
        CHECK(strstr(text, place) != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void retain_graph_allows_another(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2), *y = tn_sum(tn_mul(x, x));
        CHECK(tn_backward(y, .retain_graph = true));
        CHECK(tn_backward(y));
        CHECK(at(tn_grad_of(x), 0) == 2);
    }
}

static void a_write_after_saving_is_refused(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2), *h = tn_mul_scalar(x, 2), *y = tn_mul(h, h);
        CHECK(tn_add_scalar_(h, 1) != NULL);
        CHECK(!tn_backward(tn_sum(y)));
        CHECK(strstr(taken(), "modified in place") != NULL);
        CHECK(tn_grad_of(x) == NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_leaf_is_not_written_in_place(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2);
        CHECK(tn_mul_scalar_(x, 2) == NULL);
        CHECK(strstr(taken(), "leaf") != NULL);
        tn_set_grad_mode(false);
        CHECK(tn_mul_scalar_(x, 2) == x);
        tn_set_grad_mode(true);
        CHECK(at(x, 0) == 1);
    }
}

static void a_write_through_a_view_reaches_the_base(void) {
    TN_SCOPE { /* z = x*x; z[1:3] *= 3; dL/dx = 2x, 6x, 6x, 2x */
        tn_tensor *x = numbers(4), *z = tn_mul(x, x),
                  *v = tn_slice(z, .dim = 0, .start = 1, .end = 3);
        CHECK(tn_mul_scalar_(v, 3) == v);
        CHECK(tn_backward(tn_sum(z)));
        CHECK(at(tn_grad_of(x), 0) == 1 && at(tn_grad_of(x), 1) == 9 &&
              at(tn_grad_of(x), 2) == 15 && at(tn_grad_of(x), 3) == 7);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_view_sees_a_write_into_its_base(void) {
    TN_SCOPE { /* v = z[0:2]; z *= 5; sum(v) gives 10x for the first two */
        tn_tensor *x = numbers(3), *z = tn_mul(x, x),
                  *v = tn_slice(z, .dim = 0, .start = 0, .end = 2);
        CHECK(tn_mul_scalar_(z, 5) == z);
        CHECK(tn_backward(tn_sum(v)));
        CHECK(at(tn_grad_of(x), 0) == 5 && at(tn_grad_of(x), 1) == 15 && at(tn_grad_of(x), 2) == 0);
    }
}

static void higher_derivatives_of_a_cube(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(1), *y = tn_mul(tn_mul(x, x), x), *g[1], *h[1], *k[1];
        tn_grads_options o = {NULL, true, true, false};
        CHECK(tn_grads(TN_LIST(y), TN_LIST(x), g, &o) && at(g[0], 0) == 0.75);
        CHECK(tn_grads(TN_LIST(g[0]), TN_LIST(x), h, &o) && at(h[0], 0) == 3);
        CHECK(tn_grads(TN_LIST(h[0]), TN_LIST(x), k, &o) && at(k[0], 0) == 6);
        CHECK(tn_grad_of(x) == NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void create_graph_leaves_nothing_when_grad_is_dropped(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2);
        CHECK(tn_backward(tn_sum(tn_mul(tn_mul(x, x), x)), .create_graph = true));
        CHECK(tn_needs_grad(tn_grad_of(x)));
        tn_zero_grad(x);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static tn_tensor *doubling(tn_tensor *grad, void *user) {
    ++*(int *)user;
    return tn_mul_scalar(grad, 2);
}

static void hooks_see_and_replace_gradients(void) {
    int calls = 0;
    TN_SCOPE {
        tn_tensor *x = numbers(2), *h = tn_mul_scalar(x, 3);
        int64_t first = tn_hook_add(x, doubling, &calls, NULL),
                inner = tn_hook_add(h, doubling, &calls, NULL);
        CHECK(first > 0 && inner > 0 && tn_retain_grad(h));
        CHECK(tn_backward(tn_sum(h)));
        CHECK_EQ(calls, 2);
        CHECK(at(tn_grad_of(x), 0) == 12);
        CHECK(tn_grad_of(h) != NULL);
        CHECK(tn_hook_remove(x, first) && !tn_hook_remove(x, first));
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* A view taken before its base got a history: it learns of it where it is asked. */
static void hooks_of_a_view_see_the_history_of_its_base(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(4), *base = tn_ones(TN_DIMS(4)), *v, *w;
        int calls = 0;
        v = tn_slice(base, .end = 2), w = tn_slice(base, .start = 2);
        CHECK(!tn_needs_grad(v) && tn_mul_(base, x));
        CHECK(tn_needs_grad(v) && tn_hook_add(v, doubling, &calls, NULL) > 0);
        CHECK(tn_needs_grad(w) && tn_retain_grad(w));
        CHECK(tn_backward(tn_sum(tn_add(v, w))));
        CHECK(calls == 1 && at(tn_grad_of(w), 0) == 1);
        CHECK(at(tn_grad_of(x), 0) == 2 && at(tn_grad_of(x), 2) == 1);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool cube_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tn_mul(tn_mul(in[0], in[0]), in[0]);
    return nin == 1 && tn_function_save(f, in[0]);
}
static bool cube_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *x = tn_function_saved(f, 0);
    grad_in[0] = tn_mul(grad_out[0], tn_mul_scalar(tn_mul(x, x), 3));
    return true;
}
static void a_custom_function_has_its_gradient_and_the_second(void) {
    static const tn_function_row cube = {"cube", 1, cube_forward, cube_backward, NULL};
    TN_SCOPE {
        tn_tensor *x = numbers(2), *y, *g[1], *h[1];
        tn_grads_options o = {NULL, true, true, false};
        CHECK(tn_function_call(&cube, TN_LIST(x), NULL, &y));
        CHECK_TEXT(tn_grad_fn(y), "cube");
        CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), g, &o) && at(g[0], 1) == 6.75);
        CHECK(tn_grads(TN_LIST(tn_sum(g[0])), TN_LIST(x), h, &o) && at(h[0], 1) == 9);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* exp, whose gradient reads the result. */
static bool exp_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tn_exp(in[0]);
    return nin == 1 && tn_function_save(f, out[0]) && tn_function_save(f, in[0]);
}
static bool exp_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    grad_in[0] = tn_mul(grad_out[0], tn_function_saved(f, 0));
    return true;
}
static void a_custom_function_may_save_its_result(void) {
    static const tn_function_row own_exp = {"own_exp", 1, exp_forward, exp_backward, NULL};
    TN_SCOPE {
        tn_tensor *x = numbers(2), *h = tn_mul_scalar(x, 2), *y, *z, *g[1], *k[1];
        tn_grads_options o = {NULL, true, true, false};
        double e = 0;
        CHECK(tn_function_call(&own_exp, TN_LIST(h), NULL, &y));
        e = at(y, 1);
        CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), g, &o) && at(g[0], 1) == 2 * e);
        CHECK(tn_grads(TN_LIST(tn_sum(g[0])), TN_LIST(x), k, &o) && at(k[0], 1) == 4 * e);
        CHECK(tn_function_call(&own_exp, TN_LIST(h), NULL, &z));
        CHECK(tn_copy_(h, z) != NULL); /* its history leads to the call that has saved it */
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool double_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tn_mul(in[0], in[0]);
    return nin == 2 && tn_function_save(f, in[0]) && tn_function_save(f, in[1]);
}
static bool double_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *x = tn_function_saved(f, 0), *other = x ? tn_function_saved(f, 1) : NULL;
    if (!other) return false;
    grad_in[0] = tn_mul(grad_out[0], tn_mul_scalar(x, 2));
    return true;
}
/* A leaf or a tensor that needs no gradient, written once before it is saved; then it gets the data
 * of one whose version is what was saved by then: by bytes (the same dtype) or by storage. */
static void what_a_function_has_saved_is_not_exchanged_unseen(void) {
    static const tn_function_row row = {"double", 1, double_forward, double_backward, NULL};
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            const tn_dtype dtype = k & 1 ? TN_F64 : TN_F32;
            tn_tensor *x = tn_ones(TN_DIMS(3)), *plain = tn_ones(TN_DIMS(3)), *y = NULL, *fresh;
            CHECK(tn_add_scalar_(x, 1) && tn_add_scalar_(plain, 1) && tn_requires_grad(x));
            CHECK(tn_function_call(&row, TN_LIST(x, plain), NULL, &y));
            fresh = tn_full(TN_DIMS(3), 7.0, .dtype = dtype);
            if (k & 2) tn_requires_grad(fresh);
            CHECK(tn_swap_data(k & 2 ? x : plain, fresh));
            CHECK(!tn_backward(tn_sum(y)));
            CHECK(strstr(taken(), "was modified in place") != NULL);
            CHECK(tn_grad_of(x) == NULL);
        }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static tn_tensor *twice_squared(tn_tensor *const *in, int nin, void *user) {
    (void)nin;
    return tn_mul(tn_mul(in[0], in[0]), (tn_tensor *)user);
}
static void a_checkpoint_gives_the_same_gradients(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(3), *w = numbers(3),
                  *y = tn_checkpoint(twice_squared, TN_LIST(x), w);
        CHECK(tn_ok());
        CHECK(tn_backward(tn_sum(y)));
        CHECK(at(tn_grad_of(x), 1) == 2 * 1.5 * 1.5);
        CHECK(at(tn_grad_of(w), 1) == 2.25);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool anomaly_stops_at_the_first_nan_result;
static void anomaly_mode_names_the_operator(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2), *zero = tn_mul_scalar(x, 0), *y = tn_mul(tn_log(zero), zero);
        tn_set_anomaly_mode(true);
        anomaly_stops_at_the_first_nan_result = tn_backward(tn_sum(y));
        tn_set_anomaly_mode(false);
        CHECK(!anomaly_stops_at_the_first_nan_result);
        CHECK(strstr(taken(), "NaN") != NULL);
    }
}

static void unused_inputs_are_named_or_null(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2), *y = numbers(2), *g[2];
        tn_grads_options o = {NULL, true, false, true};
        CHECK(!tn_grads(TN_LIST(tn_sum(x)), TN_LIST(x, y), g, NULL));
        CHECK(strstr(taken(), "input 1") != NULL);
        CHECK(tn_grads(TN_LIST(tn_sum(x)), TN_LIST(x, y), g, &o) && g[0] && !g[1]);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_scope_keeps_what_is_kept(void) {
    tn_tensor *kept = NULL, *held = NULL;
    TN_SCOPE {
        TN_SCOPE {
            kept = tn_keep(numbers(2));
            held = tn_hold(numbers(3));
            for (int i = 0; i < 3; i++)
                TN_SCOPE {
                    numbers(4);
                    if (i == 1) break;
                }
        }
        CHECK_EQ(tn_memory().live_tensors, 2);
        CHECK(at(kept, 1) == 1.5);
    }
    CHECK_EQ(tn_memory().live_tensors, 1);
    tn_free(held);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(backward_adds_to_grad),
        CHECK_TEST(a_second_backward_names_the_forward_line),
        CHECK_TEST(retain_graph_allows_another),
        CHECK_TEST(a_write_after_saving_is_refused),
        CHECK_TEST(a_leaf_is_not_written_in_place),
        CHECK_TEST(a_write_through_a_view_reaches_the_base),
        CHECK_TEST(a_view_sees_a_write_into_its_base),
        CHECK_TEST(higher_derivatives_of_a_cube),
        CHECK_TEST(create_graph_leaves_nothing_when_grad_is_dropped),
        CHECK_TEST(hooks_see_and_replace_gradients),
        CHECK_TEST(hooks_of_a_view_see_the_history_of_its_base),
        CHECK_TEST(a_custom_function_has_its_gradient_and_the_second),
        CHECK_TEST(a_custom_function_may_save_its_result),
        CHECK_TEST(what_a_function_has_saved_is_not_exchanged_unseen),
        CHECK_TEST(a_checkpoint_gives_the_same_gradients),
        CHECK_TEST(anomaly_mode_names_the_operator),
        CHECK_TEST(unused_inputs_are_named_or_null),
        CHECK_TEST(a_scope_keeps_what_is_kept),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
