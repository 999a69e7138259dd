/* gradients.c - the edges of autograd: what backward, hooks, leaves, custom functions, checkpoints
 * and gradcheck refuse, with the reason, and that all is as before then. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <math.h>
#include <stdlib.h>

static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}
static tn_tensor *same(tn_tensor *grad, void *user) { return (void)user, grad; }

/* --- leaves ----------------------------------------------------------------------------------- */

static void leaves_are_made_and_unmade(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul(x, x), *base, *view, *made;
        bool was;
        REFUSED(tn_requires_grad(y), TN_AUTOGRAD,
                "only a leaf can change this; detach this result of mul");
        REFUSED(tn_set_requires_grad(y, false), TN_AUTOGRAD,
                "only a leaf can change this; detach this result of");
        REFUSED(tn_requires_grad(NULL), TN_INVALID, "tn_requires_grad: the tensor is NULL");
        REFUSED(tn_requires_grad(tn_zeros(TN_DIMS(2), .dtype = TN_I64)), TN_TYPE, "got int64");
        CHECK(tn_set_requires_grad(x, false) == x && !tn_needs_grad(x) && tn_is_leaf(x) &&
              !tn_is_leaf(y));
        CHECK(tn_set_requires_grad(tn_zeros(TN_DIMS(2), .dtype = TN_I64), false) != NULL);
        was = tn_set_inference_mode(true);
        made = tn_ones(TN_DIMS(2));
        CHECK(tn_requires_grad(made) == made && tn_set_requires_grad(made, false) == made);
        tn_set_inference_mode(was);
        REFUSED(tn_requires_grad(made), TN_AUTOGRAD, "made in inference mode; clone it first");
        base = tn_zeros(TN_DIMS(2), .dtype = TN_F64), view = tn_slice(base, .end = 1);
        CHECK(tn_is_leaf(view) && !tn_needs_grad(view));
        CHECK(tn_mul_(tn_slice(base, .start = 1), tn_slice(leaf(2), .end = 1)));
        CHECK(!tn_is_leaf(base) && !tn_is_leaf(view) && tn_needs_grad(view)); /* through its base */
    }
}
static void a_gradient_set_by_hand_fits_its_tensor(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *g = tn_ones(TN_DIMS(2), .dtype = TN_F64);
        REFUSED(tn_set_grad(NULL, g), TN_INVALID, "tn_set_grad: the tensor is NULL");
        REFUSED(tn_set_grad(x, tn_ones(TN_DIMS(2))), TN_INVALID,
                "the gradient must have the tensor's shape and dtype");
        REFUSED(tn_set_grad(x, tn_ones(TN_DIMS(3), .dtype = TN_F64)), TN_INVALID,
                "the gradient must have the tensor's shape and dtype");
        tn_zero_grad(x); /* has none */
        CHECK(tnp_set_grad(x, g) && tn_grad_of(x) == g && tn_set_grad(x, g));
        tn_zero_grad(x);
        CHECK(tn_grad_of(x) == NULL);
    }
}
static void another_contexts_tensors_are_refused_everywhere(void) {
    static const tn_function_row row = {"f", 1, NULL, NULL, NULL};
    tn_tensor *x, *out[1], *mine;
    tn_context *c = tn_context_new(NULL), *before;
    x = leaf(1);
    before = tn_context_use(c);
    TN_SCOPE {
        mine = leaf(1);
        REFUSED(tn_requires_grad(x), TN_INVALID, "belongs to another context");
        REFUSED(tn_set_grad(x, NULL), TN_INVALID, "belongs to another context");
        REFUSED(tn_set_grad(mine, x), TN_INVALID, "belongs to another context");
        REFUSED(tn_retain_grad(x), TN_INVALID, "belongs to another context");
        REFUSED(tn_hook_add(x, same, NULL, NULL), TN_INVALID, "belongs to another context");
        REFUSED(tn_backward(tn_sum(mine), .inputs = TN_LIST(x)), TN_INVALID, "another context");
        REFUSED(tn_backward(x, .gradient = mine), TN_INVALID, "belongs to another context");
        REFUSED(tn_function_call(&row, TN_LIST(x), NULL, out), TN_INVALID, "another context");
        REFUSED(tn_keep(x), TN_INVALID, "belongs to another thread or context");
        REFUSED(tn_swap_data_at(NULL, 0, x, mine), TN_INVALID, "belongs to another context");
        REFUSED(tn_swap_data_at(NULL, 0, mine, x), TN_INVALID, "belongs to another context");
        CHECK(tn_item(tn_select(mine, 0, 0)) == 1 && !tn_grad_of(mine));
    }
    tn_context_use(before);
    tn_context_free(c);
    tn_free(x);
}

/* --- backward --------------------------------------------------------------------------------- */

static void wrong_roots_and_inputs_are_named(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2), *y = tn_mul(x, x), *s = tn_sum(y), *plain = tn_ones(TN_DIMS(1));
        tn_tensor *grads[2];
        tn_grads_options unused = {NULL, true, false, true};
        REFUSED(tn_backward(NULL), TN_INVALID, "output 0 is NULL");
        REFUSED(tn_backward(plain), TN_AUTOGRAD,
                "does not require grad and does not have a grad_fn");
        REFUSED(tn_backward(y), TN_AUTOGRAD,
                "output 0 is float64 (2): only a tensor of one element");
        REFUSED(tn_backward(s, .gradient = x), TN_AUTOGRAD, "the gradient given for output 0 is");
        REFUSED(tn_backward(tnp_mul_scalar(s, tn_complex(0, 1))), TN_AUTOGRAD,
                "only for real scalar outputs but got complex128");
        REFUSED(tn_backward(s, .gradient = tnp_mul_scalar(s, tn_complex(0, 1))), TN_AUTOGRAD,
                "both must be real, or both complex");
        REFUSED(tn_backward(s, .inputs = TN_LIST(x, y)), TN_AUTOGRAD, "input 1 is not a leaf");
        REFUSED(tn_backward(s, .inputs = TN_LIST(NULL)), TN_AUTOGRAD, "input 0 is not a leaf");
        REFUSED(tn_backward(s, .inputs = TN_LIST(plain)), TN_AUTOGRAD, "does not require grad");
        REFUSED(tn_grads(TN_LIST(s), TN_LIST(x, NULL), grads, NULL), TN_INVALID, "input 1 is NULL");
        REFUSED(tn_grads(TN_LIST(NULL), TN_LIST(x), grads, NULL), TN_INVALID, "output 0 is NULL");
        REFUSED(tn_grads(TN_LIST(s), TN_LIST(leaf(1)), grads, NULL), TN_AUTOGRAD, "was not used");
        CHECK(tn_grads(TN_LIST(s), TN_LIST(leaf(1), x), grads, &unused) && !grads[0]);
        CHECK(at(grads[1], 0) == 4);
        unused.seeds = &y;
        CHECK(tn_grads(TN_LIST(x), TN_LIST(x), grads, &unused));
        CHECK(at(grads[0], 1) == 4 && !tn_grad_of(x)); /* a leaf as its own root */
        CHECK(tn_backward(s, .inputs = TN_LIST(leaf(7), x)) && at(tn_grad_of(x), 0) == 4);
    }
}
static void seeds_and_gradients_of_all_kinds_are_added(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(3), *g = tn_full(TN_DIMS(2), 5.0, .dtype = TN_F64), *y, *z;
        CHECK(tn_backward(x, .gradient = g) && at(tn_grad_of(x), 0) == 5);
        CHECK(tn_backward(x, .gradient = tn_grad_of(x)) && at(tn_grad_of(x), 0) == 10);
        CHECK(tn_backward(x, .gradient = tn_ones(TN_DIMS(2))) && at(tn_grad_of(x), 0) == 11);
        tn_zero_grad(x);
        y = tn_sum(tn_mul(tn_mul(x, x), x));
        CHECK(tn_backward(y, .create_graph = true) && at(tn_grad_of(x), 0) == 27);
        z = tn_hold(tn_grad_of(x));
        CHECK(tn_grad_fn(z) && tn_backward(y, .create_graph = true) && at(tn_grad_of(x), 0) == 54);
        CHECK(at(z, 0) == 27 && tn_backward(tn_sum(z)) && at(tn_grad_of(x), 1) == 54 + 18);
        tn_free(z), tn_zero_grad(x); /* a cycle through the graph of .grad */
    }
}
static void gradients_with_a_graph_are_the_leaves_own(void) {
    TN_SCOPE {
        tn_tensor *a = leaf(1), *b = leaf(2), *seed = tn_ones(TN_DIMS(2), .dtype = TN_F64), *g[1];
        CHECK(tn_backward(tn_sum(tn_add(a, b)), .create_graph = true)); /* one, expanded */
        CHECK(tn_grad_of(a) != tn_grad_of(b) && tn_is_contiguous(tn_grad_of(a)));
        CHECK(tn_mul_scalar_(tn_grad_of(a), 3) && at(tn_grad_of(a), 1) == 3);
        CHECK(at(tn_grad_of(b), 0) == 1);
        tn_zero_grad(a);
        CHECK(tn_backward(a, .gradient = seed, .create_graph = true) && tn_grad_of(a) != seed);
        CHECK(tn_mul_scalar_(tn_grad_of(a), 3) && at(seed, 0) == 1);
        tn_zero_grad(a);
        CHECK(tn_backward(a, .gradient = tn_mul(b, b), .create_graph = true));
        CHECK(tn_grads(TN_LIST(tn_sum(tn_grad_of(a))), TN_LIST(b), g, NULL) && at(g[0], 0) == 4);
        tn_zero_grad(a), tn_zero_grad(b);
    }
}
static void a_gradient_that_is_a_stale_view_is_added_to(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *w = leaf(2), *base = tn_zeros(TN_DIMS(4), .dtype = TN_F64);
        CHECK(tn_set_grad(x, tn_slice(base, .end = 2)));
        CHECK(tn_copy_(tn_slice(base, .start = 2), w)); /* the base has a history from here on */
        CHECK(tn_backward(tn_sum(tn_mul_scalar(x, 3))));
        CHECK(at(tn_grad_of(x), 0) == 3 && at(base, 0) == 0);
    }
}
static void only_the_outputs_that_were_used_have_gradients(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *grads[2];
        tn_list both = tn_chunk(tn_mul_scalar(x, 2), 2);
        tn_grads_options o = {NULL, true, false, true};
        int64_t number = tn_hook_add(both.at[1], same, NULL, NULL);
        CHECK(tn_retain_grad(both.at[1]) && tn_retain_grad(both.at[1]) && tn_retain_grad(x));
        CHECK(tn_grads(TN_LIST(tn_sum(both.at[0])), TN_LIST(both.at[1], both.at[0]), grads, &o));
        CHECK(!grads[0] && at(grads[1], 0) == 1);
        CHECK(tn_backward(tn_sum(both.at[0])) && !tn_grad_of(both.at[1]));
        CHECK(at(tn_grad_of(x), 0) == 2 && at(tn_grad_of(x), 1) == 0);
        CHECK(!tn_hook_remove(both.at[1], number + 1) && tn_hook_remove(both.at[1], number));
    }
}
/* torch's values. The gradient of a call on data given away still has its derivative of zeros. */
static void second_derivatives_of_what_is_linear_in_pieces_are_zeros(void) {
    for (int k = 0; k < 5; k++)
        TN_SCOPE {
            tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(1, 2, 2), 0.7, .dtype = TN_F64)), *y,
                      *g[1], *h[1];
            tn_grads_options o = {.create_graph = true};
            for (int leaf = 0; leaf < 2; leaf++) {
                tn_tensor *of = leaf ? x : tn_exp(x);
                y = k == 0   ? tn_relu(of)
                    : k == 1 ? tn_leaky_relu(of)
                    : k == 2 ? tn_hardtanh(of, .max_val = 9)
                    : k == 3 ? tn_max_pool2d(of, TN_DIMS(2, 2))
                             : tn_avg_pool2d(of, TN_DIMS(2, 2));
                CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(of), g, &o));
                CHECK(at(g[0], 0) == (k == 4 ? 0.25 : 1) && tn_needs_grad(g[0]));
                CHECK(tn_grads(TN_LIST(tn_sum(g[0])), TN_LIST(of), h, NULL));
                for (int i = 0; i < 4; i++) CHECK(at(h[0], i) == 0);
            }
            tn_grads_options none = {NULL};
            CHECK(tn_grads(TN_LIST(tn_sum(tn_hardtanh(x))), TN_LIST(x), g, &none));
            CHECK(!tn_needs_grad(g[0]));
        }
}
/* torch's values, but with NaN also for what is multiplied by it. k & 1: with a graph; k & 2: along
 * a dimension of two equal rows. */
static void gradients_of_a_product_neither_overflow_nor_hide_nan(void) {
    static const struct {
        double x[4], is[4];
        tn_dtype own, dtype;
    } rows[] = {
        {{0, 1e30, 1e30, 1}, {HUGE_VAL, 0, 0, 0}, TN_F32, TN_NO_DTYPE},
        {{1e30, -1e30, -1e30, 0}, {0, 0, 0, HUGE_VAL}, TN_F32, TN_NO_DTYPE},
        {{0, 0, 1e30, 1e30}, {0, 0, 0, 0}, TN_F32, TN_NO_DTYPE},
        {{3, 2, 0, (double)NAN}, {(double)NAN, (double)NAN, (double)NAN, 0}, TN_F32, TN_NO_DTYPE},
        {{300, 300, 2, 1}, {600, 600, HUGE_VAL, HUGE_VAL}, TN_F16, TN_F32},
        {{300, 300, 0, 1}, {0, 0, HUGE_VAL, 0}, TN_F16, TN_F32},
        {{1e-200, 2, 3, 1}, {6, 0, 0, 0}, TN_F64, TN_F32},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int k = 0; k < 4; k++)
            TN_SCOPE {
                tn_grads_options o = {.create_graph = k & 1};
                tn_tensor *x = tn_from(rows[r].x, TN_DIMS(4), TN_F64), *y, *g[1];
                if (k & 2) x = tn_expand(x, TN_DIMS(2, 4));
                tn_requires_grad(x = tn_to_dtype(x, rows[r].own));
                y = k & 2 ? tn_prod(x, .dim = 1, .dtype = rows[r].dtype)
                          : tn_prod(x, .dtype = rows[r].dtype);
                CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), g, &o));
                CHECK(tn_dtype_of(g[0]) == rows[r].own);
                for (int i = 0; i < (k & 2 ? 8 : 4); i++) {
                    double is = rows[r].is[i & 3], got = at(g[0], i);
                    /* By a division, the gradient of the NaN itself is NaN too. */
                    bool nan = is != is || (!(k & 1) && rows[r].x[i & 3] != rows[r].x[i & 3]);
                    CHECK(nan ? got != got : got == is);
                }
            }
}
static void a_replay_goes_through_second_derivatives(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2), *g[1], *h[1];
        tn_grads_options o = {.create_graph = true};
        tn_recording *r;
        CHECK(tn_record_begin());
        CHECK(tn_grads(TN_LIST(tn_sum(tn_exp(tn_hardtanh(x, .max_val = 9)))), TN_LIST(x), g, &o));
        CHECK(tn_grads(TN_LIST(tn_sum(g[0])), TN_LIST(x), h, NULL));
        r = tn_record_end();
        CHECK(r && fabs(at(h[0], 1) - exp(2)) < 1e-12);
        tn_set_grad_mode(false);
        CHECK(tn_fill_(x, 3.0));
        tn_set_grad_mode(true);
        CHECK(tn_replay(r) && fabs(at(h[0], 1) - exp(3)) < 1e-12);
        CHECK(at(g[0], 0) == at(h[0], 0));
        tn_recording_free(r);
    }
}
static void meta_graphs_have_shapes_of_gradients(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_empty(TN_DIMS(2, 3), .device = TN_META));
        CHECK(tn_backward(tn_sum(tn_mul(x, tn_exp(x)))));
        CHECK(tn_size(tn_grad_of(x), 1) == 3 && tn_device_of(tn_grad_of(x)) == TN_META);
        CHECK(tn_backward(tn_sum(tn_exp(x))) && tn_device_of(tn_grad_of(x)) == TN_META);
    }
}
static void a_recording_goes_through_backward(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2);
        tn_recording *r;
        CHECK(tn_record_begin());
        tn_zero_grad(x);
        CHECK(tn_backward(tn_sum(tn_mul(x, x))));
        r = tn_record_end();
        CHECK(r && at(tn_grad_of(x), 0) == 4);
        tn_set_grad_mode(false);
        CHECK(tn_fill_(x, 5.0));
        tn_set_grad_mode(true);
        CHECK(tn_replay(r) && at(tn_grad_of(x), 0) == 10);
        tn_recording_free(r);
    }
}
static void data_given_away_are_not_read_for_second_derivatives(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2), *y = tn_sum(tn_mul(x, x)),
                  *w = tn_ones(TN_DIMS(2), .dtype = TN_F64);
        CHECK(tn_swap_data_at(NULL, 0, x, w) && at(x, 0) == 1);
        CHECK(!tn_backward(y, .create_graph = true));
        says(TN_AUTOGRAD, "input 0, which the gradient of mul reads", __LINE__);
        CHECK(!tn_grad_of(x));
    }
}

/* --- hooks ------------------------------------------------------------------------------------ */

static tn_tensor *wrong_shape(tn_tensor *grad, void *user) {
    return (void)grad, (void)user, tn_ones(TN_DIMS(3), .dtype = TN_F64);
}
static tn_tensor *foreign(tn_tensor *grad, void *user) { return (void)grad, (tn_tensor *)user; }
static tn_tensor *again(tn_tensor *grad, void *user) { /* a backward through the same graph */
    tn_tensor *x = *(tn_tensor **)user, *g[1];
    (void)grad;
    if (x)
        CHECK(!tn_grads(TN_LIST(((tn_tensor **)user)[1]), TN_LIST(x), g, NULL));
    else
        CHECK(!tn_backward(((tn_tensor **)user)[1]));
    return NULL;
}
static void hooks_that_are_wrong_leave_all_as_it_was(void) {
    tn_context *c = tn_context_new(NULL);
    tn_tensor *other = (tn_context_use(c), tn_ones(TN_DIMS(2), .dtype = TN_F64)), *pair[2];
    tn_context_use(NULL);
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2), *s;
        int64_t n;
        REFUSED(tn_hook_add(NULL, same, NULL, NULL), TN_AUTOGRAD, "a hook and a tensor");
        REFUSED(tn_hook_add(x, NULL, NULL, NULL), TN_AUTOGRAD, "a hook and a tensor");
        REFUSED(tn_hook_add(tn_ones(TN_DIMS(1)), same, NULL, NULL), TN_AUTOGRAD,
                "that requires grad");
        REFUSED(tn_retain_grad(NULL), TN_AUTOGRAD, "does not require grad");
        REFUSED(tn_retain_grad(tn_ones(TN_DIMS(1))), TN_AUTOGRAD, "does not require grad");
        CHECK(!tn_hook_remove(NULL, 1) && !tn_hook_remove(x, 1) && !tn_hook_remove(y, 1));
        s = tn_sum(y);
        n = tn_hook_add(y, wrong_shape, NULL, NULL);
        REFUSED(tn_backward(s, .retain_graph = true), TN_AUTOGRAD,
                "a hook returned a gradient of a different shape");
        CHECK(tn_hook_remove(y, n));
        n = tn_hook_add(y, foreign, other, NULL);
        REFUSED(tn_backward(s, .retain_graph = true), TN_INVALID,
                "a hook: a tensor belongs to another");
        CHECK(tn_hook_remove(y, n));
        for (int k = 0; k < 2; k++) {
            pair[0] = k ? x : NULL, pair[1] = s;
            n = tn_hook_add(y, again, pair, NULL);
            REFUSED(tn_backward(s, .retain_graph = true), TN_AUTOGRAD,
                    "another backward is already running through this graph");
            CHECK(tn_hook_remove(y, n));
        }
        CHECK(!tn_grad_of(x) && tn_backward(s) && at(tn_grad_of(x), 0) == 2);
    }
    tn_context_free(c);
}

static struct {
    tn_tensor *t;
    int64_t self, other;
    int calls;
} removal;
static tn_tensor *removes_itself(tn_tensor *grad, void *user) {
    (void)grad, (void)user;
    removal.calls++;
    CHECK(tn_hook_remove(removal.t, removal.self) && !tn_hook_remove(removal.t, removal.self));
    CHECK(tn_hook_remove(removal.t, removal.other));
    return NULL;
}
static int64_t added_calls;
static tn_tensor *counts(tn_tensor *grad, void *user) { return (void)user, added_calls++, grad; }
static tn_tensor *adds(tn_tensor *grad, void *user) {
    for (int i = 0; i < 3; i++) CHECK(tn_hook_add(((tn_tensor **)user)[i], counts, NULL, NULL));
    return grad;
}
static void hooks_that_a_hook_adds_wait_for_the_next_backward(void) {
    for (int k = 0; k < 2; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *z = tn_mul(x, x), *y = tn_exp(z), *of[3];
            int64_t n = 0;
            of[0] = x, of[1] = z, of[2] = k ? x : y, added_calls = 0;
            CHECK((n = tn_hook_add(of[2], adds, of, NULL)) > 0);
            CHECK(tn_backward(tn_sum(y), .retain_graph = true) && added_calls == 0);
            CHECK(tn_hook_remove(of[2], n) && tn_backward(tn_sum(y)) && added_calls == 3);
        }
}
static void a_hook_behind_others_may_remove_itself_and_the_next(void) {
    for (int k = 0; k < 2; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2);
            removal.t = k ? x : y, removal.calls = 0;
            CHECK(tn_hook_add(removal.t, same, NULL, NULL));
            removal.self = tn_hook_add(removal.t, removes_itself, NULL, NULL);
            removal.other = tn_hook_add(removal.t, wrong_shape, NULL, NULL);
            CHECK(tn_backward(tn_sum(y), .retain_graph = true) && removal.calls == 1);
            CHECK(tn_backward(tn_sum(y)) && removal.calls == 1 && at(tn_grad_of(x), 0) == 4);
        }
}
/* An input of a backward in progress gets another history: written in place, or a view of what was.
 */
static tn_tensor *rewrites(tn_tensor *grad, void *user) {
    tn_tensor **pair = (tn_tensor **)user;
    tn_set_grad_mode(true);
    CHECK(tn_mul_scalar_(pair[0], 2) && tn_sum(pair[1]));
    return grad;
}
static void an_input_that_a_hook_writes_has_the_gradient_it_had(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *base = tn_mul_scalar(x, 3), *view = tn_slice(base, .end = 1);
            tn_tensor *pair[2], *g[3] = {NULL, NULL, NULL}, *z = k & 1 ? view : base, *y;
            tn_grads_options o;
            memset(&o, 0, sizeof o);
            o.create_graph = k > 1;
            pair[0] = base, pair[1] = z;
            y = tn_mul_scalar(z, 5);
            CHECK(tn_hook_add(y, rewrites, pair, NULL));
            CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(z, x, z), g, &o));
            CHECK(at(g[0], 0) == 5 && at(g[2], 0) == 5 && g[0] != g[2] && at(g[1], 0) == 15);
        }
}
static void a_retained_gradient_moves_past_other_watches(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2);
        CHECK(tn_hook_add(y, same, NULL, NULL) && tn_retain_grad(y) && tn_mul_scalar_(y, 3));
        CHECK(tn_backward(tn_sum(y)) && at(tn_grad_of(y), 0) == 1 && at(tn_grad_of(x), 0) == 6);
    }
}
static void nan_in_a_gradient_is_found_where_it_arises(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(0), *y = tn_sum(tn_mul(tn_sqrt(x), tn_zeros_like(x)));
        bool was = tn_set_anomaly_mode(true);
        REFUSED(tn_backward(y), TN_AUTOGRAD, "anomaly: the gradient of sqrt for input 0");
        CHECK(tn_backward(tn_sum(tn_add(x, tn_ones(TN_DIMS(2))))) && tn_set_anomaly_mode(was));
        CHECK(at(tn_grad_of(x), 0) == 1);
    }
}

/* --- views ------------------------------------------------------------------------------------ */

static void writes_through_views_that_cannot_be_recorded_are_refused(void) {
    static double one[1] = {5};
    int64_t zero[] = {0}, three[] = {3};
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.strides = tn_ints_of(zero, 1);
    TN_SCOPE {
        tn_tensor *x = leaf(1), *wide = tn_wrap(one, tn_ints_of(three, 1), TN_F64, &o);
        tn_tensor *base = tn_zeros(TN_DIMS(2), .dtype = TN_F64), *view = tn_view(base, TN_DIMS(2));
        REFUSED(tn_mul_(tn_slice(wide, .end = 1), tn_slice(x, .end = 1)), TN_AUTOGRAD,
                "self is a view of an expanded tensor without history");
        CHECK(tn_swap_data_at(NULL, 0, base, tn_ones(TN_DIMS(2)))); /* of another dtype */
        REFUSED(tn_mul_(view, x), TN_AUTOGRAD,
                "self is a view of a tensor whose data tn_swap_data replaced; clone it");
        CHECK(at(view, 0) == 0 && at(base, 0) == 1 && one[0] == 5);
        base = tn_slice(x, .end = 1);
        REFUSED(tn_mul_scalar_(base, 2), TN_AUTOGRAD, "self is a view of a leaf that requires");
        REFUSED(tn_mul_scalar_(x, 2), TN_AUTOGRAD, "self is a leaf that requires grad");
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(leaves_are_made_and_unmade),
        CHECK_TEST(a_gradient_set_by_hand_fits_its_tensor),
        CHECK_TEST(another_contexts_tensors_are_refused_everywhere),
        CHECK_TEST(wrong_roots_and_inputs_are_named),
        CHECK_TEST(seeds_and_gradients_of_all_kinds_are_added),
        CHECK_TEST(gradients_with_a_graph_are_the_leaves_own),
        CHECK_TEST(a_gradient_that_is_a_stale_view_is_added_to),
        CHECK_TEST(only_the_outputs_that_were_used_have_gradients),
        CHECK_TEST(second_derivatives_of_what_is_linear_in_pieces_are_zeros),
        CHECK_TEST(gradients_of_a_product_neither_overflow_nor_hide_nan),
        CHECK_TEST(a_replay_goes_through_second_derivatives),
        CHECK_TEST(meta_graphs_have_shapes_of_gradients),
        CHECK_TEST(a_recording_goes_through_backward),
        CHECK_TEST(data_given_away_are_not_read_for_second_derivatives),
        CHECK_TEST(hooks_that_are_wrong_leave_all_as_it_was),
        CHECK_TEST(hooks_that_a_hook_adds_wait_for_the_next_backward),
        CHECK_TEST(a_hook_behind_others_may_remove_itself_and_the_next),
        CHECK_TEST(an_input_that_a_hook_writes_has_the_gradient_it_had),
        CHECK_TEST(a_retained_gradient_moves_past_other_watches),
        CHECK_TEST(nan_in_a_gradient_is_found_where_it_arises),
        CHECK_TEST(writes_through_views_that_cannot_be_recorded_are_refused),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
