/* engine.c - promises of autograd/engine.c: the order of nodes in graphs of hundreds, what becomes
 * of a .grad that is there already, and whose memory a new one is. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}
static double at(const tn_tensor *t, int i) {
    double v[64];
    if (!t || tn_numel(t) > 64 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}

/* --- order ------------------------------------------------------------------------------------ */

enum { NODES = 700, LEAVES = 40 };
static uint64_t state;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}
typedef struct web {
    tn_tensor *t[NODES], *loss;
    int from[NODES][2];
    double slope[NODES]; /* of the loss */
    bool in_loss[NODES];
} web;

/* Each node beyond the leaves is a sum of two earlier ones, near or far, times 1 and a half; the
 * loss is a sum of nodes here and there. Fan is wide, and paths are of any length. */
static void spin(web *w, int nodes) {
    w->loss = NULL;
    for (int i = 0; i < nodes; i++) {
        w->slope[i] = 0;
        w->in_loss[i] = i == nodes - 1 || !below(nodes / 8);
        if (i < LEAVES) {
            w->t[i] = leaf(i);
            continue;
        }
        for (int k = 0; k < 2; k++) w->from[i][k] = below(3) ? below(i) : i - 1 - below(LEAVES);
        w->t[i] = tnp_add(w->t[w->from[i][0]], w->t[w->from[i][1]], .5);
    }
    for (int i = 0; i < nodes; i++)
        if (w->in_loss[i]) w->loss = w->loss ? tnp_add(w->t[i], w->loss, 1) : w->t[i];
    w->loss = tn_sum(w->loss);
    for (int i = nodes - 1; i >= 0; i--) {
        w->slope[i] += w->in_loss[i];
        for (int k = 0; i >= LEAVES && k < 2; k++)
            w->slope[w->from[i][k]] += w->slope[i] * (k ? .5 : 1);
    }
}
static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(b) + 1e-9); }

static void every_node_waits_for_all_that_it_is_sent(void) {
    static web w;
    for (int k = 0; k < 12; k++)
        TN_SCOPE {
            int nodes = k < 8 ? 60 + 20 * k : NODES, wrong = 0;
            state = (uint64_t)k;
            spin(&w, nodes);
            for (int i = LEAVES; i < nodes; i += 9) tn_retain_grad(w.t[i]);
            CHECK(tn_backward(w.loss));
            for (int i = 0; i < nodes; i++) {
                tn_tensor *g = tn_grad_of(w.t[i]);
                bool told = i < LEAVES || (i - LEAVES) % 9 == 0;
                wrong += (g != NULL) != (told && w.slope[i] != 0);
                wrong += g && (!near(at(g, 0), w.slope[i]) || !near(at(g, 1), w.slope[i]));
            }
            CHECK_EQ(wrong, 0);
        }
}

/* The same of any nodes at once, several times each, and of those alone that lie above them. */
static void gradients_of_any_nodes_are_given_together(void) {
    static web w;
    static tn_tensor *wanted[NODES + 1], *grads[NODES + 1];
    for (int k = 0; k < 12; k++)
        TN_SCOPE {
            int nodes = k < 8 ? 60 + 20 * k : NODES, n = 0, which[NODES + 1] = {0}, wrong = 0;
            tn_grads_options o = {NULL, k % 2 == 0, false, true};
            state = 100 + (uint64_t)k;
            spin(&w, nodes);
            for (int i = k % 3; i < nodes; i += 1 + below(40)) which[n++] = i;
            which[n] = which[0], n++;
            for (int i = 0; i < n; i++) wanted[i] = w.t[which[i]];
            CHECK(tn_grads(TN_LIST(w.loss), tn_tensors_of(wanted, n), grads, &o));
            for (int i = 0; i < n; i++) {
                double slope = w.slope[which[i]];
                wrong += grads[i] ? !near(at(grads[i], 1), slope) : slope != 0;
            }
            CHECK_EQ(wrong, 0);
            for (int i = 0; i < LEAVES; i++) CHECK(!tn_grad_of(w.t[i]));
            CHECK(grads[0] != grads[n - 1] || !grads[0]);
        }
}

/* --- a gradient that is there ----------------------------------------------------------------- */

static double fixed[4] = {5, 5, 5, 5};
enum { PLAIN, VIEW, STRIDED, EXPANDED, READ_ONLY, OF_A_GRAPH, INFERENCE, KINDS };

static tn_tensor *five(int kind) {
    tn_wrap_options o;
    tn_tensor *t;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    switch (kind) {
    case VIEW: return tn_slice(tn_full(TN_DIMS(4), 5.0, .dtype = TN_F64), .end = 2);
    case STRIDED: return tn_slice(tn_full(TN_DIMS(4), 5.0, .dtype = TN_F64), .step = 2);
    case EXPANDED: return tn_expand(tn_full(TN_DIMS(1), 5.0, .dtype = TN_F64), TN_DIMS(2));
    case READ_ONLY: return tn_wrap(fixed, TN_DIMS(2), TN_F64, &o);
    case OF_A_GRAPH: return leaf(5);
    case INFERENCE:
        tn_set_inference_mode(true);
        t = tn_full(TN_DIMS(2), 5.0, .dtype = TN_F64);
        tn_set_inference_mode(false);
        return t;
    default: return tn_full(TN_DIMS(2), 5.0, .dtype = TN_F64);
    }
}

/* Added in place where that can be seen by nobody but who holds .grad; else .grad is a new one and
 * the one before keeps its value. Also where a graph of the gradient is made: never in place. */
static void a_gradient_is_added_in_place_where_it_may(void) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int create = 0; create < 2; create++)
            TN_SCOPE {
                bool place = kind <= STRIDED && !create;
                tn_tensor *x = leaf(1), *old = five(kind);
                CHECK(tn_set_grad(x, old));
                int64_t version = tn_version(old);
                CHECK(tn_backward(tn_sum(tn_mul_scalar(x, 3)), .create_graph = create != 0));
                CHECK(at(tn_grad_of(x), 0) == 8 && at(tn_grad_of(x), 1) == 8);
                if (!CHECK((tn_grad_of(x) == old) == place)) printf("    kind %d\n", kind);
                CHECK(at(old, 0) == (place ? 8 : 5) && at(old, 1) == (place ? 8 : 5));
                CHECK_EQ(tn_version(old) - version, place);
                CHECK(tn_grad_mode() && fixed[0] == 5 && fixed[1] == 5);
                tn_zero_grad(x);
            }
}

static tn_tensor *gives(tn_tensor *grad, void *user) {
    (void)grad;
    return (tn_tensor *)user;
}

/* Hooks may not give other dtypes, and a gradient without data fits none that has: no .grad is
 * changed then. */
static void what_hooks_give_is_added_or_nothing_is(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *narrow = tn_full(TN_DIMS(2), 2.0, .dtype = TN_F32), *old;
        tn_error_info e;
        CHECK(tn_hook_add(x, gives, narrow, NULL));
        CHECK(tn_set_grad(x, old = five(PLAIN)) && !tn_backward(tn_sum(x)));
        CHECK(tn_error_take(&e) && e.code == TN_AUTOGRAD &&
              strstr(e.message, "a hook returned a gradient of dtype"));
        CHECK(tn_grad_of(x) == old && at(old, 0) == 5 && at(narrow, 0) == 2);
    }
    for (int k = 0; k < 6; k++)
        TN_SCOPE {
            tn_tensor *x[6], *old[6], *sum = NULL;
            tn_tensor *meta = tn_empty(TN_DIMS(2), .dtype = TN_F64, .device = TN_META);
            for (int i = 0; i < 6; i++) {
                x[i] = leaf(1);
                CHECK(tn_set_grad(x[i], old[i] = five(i == k ? PLAIN : i)));
                sum = sum ? tn_add(sum, x[i]) : x[i];
            }
            int64_t number = tn_hook_add(x[k], gives, meta, NULL);
            CHECK(!tn_backward(tn_sum(sum), .retain_graph = true) && tn_error_take(NULL));
            for (int i = 0; i < 6; i++) CHECK(tn_grad_of(x[i]) == old[i] && at(old[i], 1) == 5);
            CHECK(tn_hook_remove(x[k], number));
            CHECK(tn_backward(tn_sum(sum)) && at(tn_grad_of(x[k]), 1) == 6);
        }
}

/* --- whose memory ----------------------------------------------------------------------------- */

/* .grad is the caller's own: no two leaves share it, nor a seed, a hook's tensor, or a node. */
static void a_new_gradient_is_nobody_elses(void) {
    for (int k = 0; k < 5; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *y = leaf(2), *other = five(k == 3 ? EXPANDED : PLAIN), *z;
            z = tn_add(x, y);
            if (k == 0) CHECK(tn_hook_add(x, gives, other, NULL));
            if (k == 1) CHECK(tn_hook_add(z, gives, other, NULL));
            CHECK(k < 2   ? tn_backward(tn_sum(z))
                  : k < 4 ? tn_backward(z, .gradient = other)
                          : tn_backward(x, .gradient = other));
            if (k == 4) CHECK(tn_backward(y, .gradient = other));
            CHECK(!tn_same_storage(tn_grad_of(x), tn_grad_of(y)));
            CHECK(!tn_same_storage(tn_grad_of(x), other) && !tn_same_storage(tn_grad_of(y), other));
            CHECK(tn_is_contiguous(tn_grad_of(x)) && tn_is_contiguous(tn_grad_of(y)));
            CHECK(at(tn_grad_of(x), 1) == 5 && at(tn_grad_of(y), 1) == (k == 0 ? 1 : 5));
            CHECK(tn_mul_scalar_(tn_grad_of(x), 2) && at(tn_grad_of(y), 1) == (k == 0 ? 1 : 5));
            CHECK(at(other, 0) == 5);
        }
}
static tn_tensor *keeps(tn_tensor *grad, void *user) {
    *(tn_tensor **)user = tn_hold(grad);
    return NULL;
}
/* A gradient that a hook has seen and keeps is not the one that later ones are added to. */
static void what_a_hook_keeps_is_not_written(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(1), *a = tn_mul_scalar(x, 2), *b = tn_mul_scalar(x, 3), *kept[2];
        CHECK(tn_hook_add(a, keeps, &kept[0], NULL) && tn_hook_add(b, keeps, &kept[1], NULL));
        CHECK(tn_backward(tn_sum(tn_add(tn_mul_scalar(a, 5), tn_mul_scalar(b, 7)))));
        CHECK(at(kept[0], 0) == 5 && at(kept[1], 0) == 7 && at(tn_grad_of(x), 0) == 31);
        CHECK(tn_fill_(kept[0], 0.0) && tn_fill_(kept[1], 0.0) && at(tn_grad_of(x), 1) == 31);
        tn_free(kept[0]), tn_free(kept[1]);
    }
    TN_SCOPE {
        tn_tensor *x = leaf(1), *kept, *g;
        CHECK(tn_hook_add(x, keeps, &kept, NULL) && tn_backward(tn_sum(tn_mul_scalar(x, 2))));
        g = tn_grad_of(x);
        CHECK(!tn_same_storage(g, kept) && at(kept, 0) == 2);
        tn_free(kept);
        CHECK(tn_backward(tn_sum(x)) && at(g, 0) == 3 && tn_grad_of(x) == g);
        tn_free(kept);
    }
}

/* from, from + 1, .. */
static tn_tensor *numbers(double from, int n) {
    tn_tensor *t = tn_zeros(TN_DIMS(n), .dtype = TN_F64);
    for (int i = 0; i < n; i++) ((double *)tn_data(t))[i] = from + i;
    return t;
}

/* --- what is given to inputs ------------------------------------------------------------------ */

/* Sums over whatever was broadcast: y = sum(w * (a * b)), every shape of up to three dimensions of
 * 1 or 3 against one of 2 or 3. */
static void gradients_are_summed_over_what_was_broadcast(void) {
    static const int64_t from[][3] = {{1, 1, 1}, {3, 1, 1}, {1, 3, 1}, {1, 1, 2},
                                      {3, 3, 1}, {3, 1, 2}, {1, 3, 2}, {3, 3, 2}};
    static const int64_t full[3] = {3, 3, 2};
    for (int k = 0; k < 8 * 4; k++)
        TN_SCOPE {
            const int64_t *size = from[k / 4] + (3 - k % 4);
            int n = k % 4, wrong = 0;
            tn_tensor *a = tn_requires_grad(tn_ones(tn_ints_of(size, n), .dtype = TN_F64));
            tn_tensor *b = tn_reshape(numbers(1, 18), tn_ints_of(full, 3));
            double want[18] = {0};
            for (int i = 0; i < 18; i++) {
                int64_t index[3] = {i / 6, i / 2 % 3, i % 2}, at_a = 0;
                for (int d = 0; d < n; d++)
                    at_a = at_a * size[d] + (size[d] == 1 ? 0 : index[3 - n + d]);
                want[at_a] += 1 + i;
            }
            CHECK(tn_backward(tn_sum(tn_mul(a, b))));
            CHECK(tn_ndim(tn_grad_of(a)) == n && tn_numel(tn_grad_of(a)) == tn_numel(a));
            for (int i = 0; i < tn_numel(a); i++) wrong += at(tn_grad_of(a), i) != want[i];
            CHECK_EQ(wrong, 0);
        }
}

static bool passes(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    return (void)f, (void)nin, (out[0] = tn_mul_scalar(in[0], 1)) != NULL;
}
static bool returns(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    return (void)grad_out, grad_in[0] = tn_clone((tn_tensor *)tn_function_user(f)), true;
}
/* Of another dtype, complex for real, of more or fewer dimensions; what does not fit is refused. */
static void gradients_take_the_dtype_and_the_shape_of_their_input(void) {
    static const tn_function_row row = {"gives", 1, passes, returns, NULL};
    static const int64_t three[] = {3}, one[] = {1}, rows[] = {3, 2}, column[] = {2, 1};
    for (int k = 0; k < 7; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *y = NULL, *given = NULL;
            double want = k == 3 ? 12 : 4;
            tn_error_info e;
            given = k == 0   ? tn_full(TN_DIMS(2), 4.0, .dtype = TN_F32)
                    : k == 1 ? tn_full(TN_DIMS(2), 4.0, .dtype = TN_C128)
                    : k == 2 ? tn_full(tn_empty_dims(), 4.0, .dtype = TN_F64)
                    : k == 3 ? tn_full(tn_ints_of(rows, 2), 4.0, .dtype = TN_C64)
                    : k == 4 ? tn_full(tn_ints_of(one, 1), 4.0, .dtype = TN_F64)
                    : k == 5 ? tn_full(tn_ints_of(three, 1), 4.0, .dtype = TN_F64)
                             : tn_full(tn_ints_of(column, 2), 4.0, .dtype = TN_F64);
            CHECK(tn_function_call(&row, TN_LIST(x), given, &y));
            if (k < 4) {
                CHECK(tn_backward(tn_sum(y)) && tn_dtype_of(tn_grad_of(x)) == TN_F64);
                CHECK(tn_ndim(tn_grad_of(x)) == 1 && tn_size(tn_grad_of(x), 0) == 2);
                CHECK(at(tn_grad_of(x), 0) == want && at(tn_grad_of(x), 1) == want);
                continue;
            }
            CHECK(!tn_backward(tn_sum(y)) && tn_error_take(&e) && !tn_grad_of(x));
            CHECK(strstr(e.message, "in the gradient of gives") != NULL);
            CHECK(strstr(e.message, k == 4   ? "has shape (1) for input 0 of shape (2)"
                                    : k == 5 ? "has shape (3) for input 0 of shape (2)"
                                             : "shape '(2)' is invalid") != NULL);
        }
}

/* Members of a list, more than there is inline room for, each with or without a gradient. */
static void members_of_long_lists_have_their_gradients(void) {
    for (int n = 1; n < 60; n += n < 12 ? 1 : 7)
        TN_SCOPE {
            tn_tensor *list[60], *joined;
            for (int i = 0; i < n; i++)
                list[i] = i % 3 == 1 ? tn_ones(TN_DIMS(2), .dtype = TN_F64) : leaf(i);
            joined = tn_cat(tn_tensors_of(list, n));
            CHECK(tn_backward(tn_sum(tn_mul(joined, numbers(0, 2 * n)))));
            for (int i = 0; i < n; i++) {
                tn_tensor *g = tn_grad_of(list[i]);
                CHECK(i % 3 == 1 ? !g : at(g, 0) == 2 * i && at(g, 1) == 2 * i + 1);
            }
        }
}

/* The second result of a call, written: it is the first and only one of the write. */
static void a_second_result_that_is_written_retains_its_gradient(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(numbers(0, 4));
        tn_var_mean_results m = tn_var_mean(x, .dim = TN_DIMS(0));
        CHECK(tn_retain_grad(m.mean) && tn_mul_scalar_(m.mean, 3));
        CHECK(tn_backward(tn_mul_scalar(m.mean, 5)));
        CHECK(at(tn_grad_of(m.mean), 0) == 5 && at(tn_grad_of(x), 0) == 15.0 / 4);
        CHECK(tnp_retain_grad(m.var) && tnp_retain_grad(m.mean) && tnp_retain_grad(x));
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool saves(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    for (int i = 0; i < 4 + 30 * nin; i++)
        if (!tn_function_save(f, in[i % nin])) return false;
    return (out[0] = tn_mul_scalar(in[0], 2)) != NULL;
}
static bool reads(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    grad_in[0] = tn_mul(tn_mul_scalar(grad_out[0], 2), tn_function_saved(f, 30));
    return grad_in[0] != NULL;
}
static tn_tensor *squares(tn_tensor *const *in, int nin, void *user) {
    return (void)user, tn_mul(in[0], in[nin - 1]);
}
static bool checked(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    return (out[0] = tn_mul(tn_mul(in[0], in[0]), in[0])) != NULL;
}
static void run_web(int k) {
    static web w;
    static tn_tensor *grads[NODES];
    tn_grads_options o = {NULL, false, false, true};
    state = (uint64_t)k;
    spin(&w, k < 2 ? 100 : NODES);
    if (k % 2)
        CHECK(tn_grads(TN_LIST(w.loss), tn_tensors_of(w.t, LEAVES), grads, &o));
    else
        CHECK(tn_backward(w.loss));
}
static void run(int k) {
    static const tn_function_row row = {"saves", 1, saves, reads, NULL};
    int64_t shape[TN_MAX_DIMS];
    tn_tensor *x = leaf(1), *out = NULL;
    char *text;
    for (int i = 0; i < TN_MAX_DIMS; i++) shape[i] = 1;
    switch (k) {
    case 4:
        CHECK(tn_function_call(&row, TN_LIST(x), NULL, &out) && tn_backward(tn_sum(out)));
        CHECK(at(tn_grad_of(x), 1) == 2);
        break;
    case 5:
        out = tn_checkpoint(squares, TN_LIST(x, x), NULL);
        CHECK(out && tn_backward(tn_sum(out)) && at(tn_grad_of(x), 1) == 2);
        break;
    case 6:
        CHECK(tn_gradcheck(checked, TN_LIST(x), NULL, NULL));
        CHECK(tn_gradgradcheck(checked, TN_LIST(x), NULL, NULL));
        break;
    case 7:
        for (int i = 0; i < 50; i++)
            out = tn_add(out ? out : x, tn_ones(tn_ints_of(shape, i % (TN_MAX_DIMS + 1))));
        CHECK(tn_hook_add(out, gives, NULL, NULL) && tn_retain_grad(out));
        CHECK(tn_backward(tn_sum(out), .create_graph = true));
        tn_zero_grad(x), tn_zero_grad(out);
        break;
    case 8:
        text = tn_to_text(x, NULL);
        if (CHECK(text != NULL)) tn_alloc_free(text, strlen(text) + 1);
        tn_generator_free(tn_generator_new(3));
        break;
    default: run_web(k);
    }
}

/* Whatever is done, once its tensors are gone its memory is: without a cache to the byte. */
static void nothing_is_left_behind(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.no_cache = true;
    o.threads = -1;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    for (int k = 0; k < 9; k++) {
        int64_t before = 0;
        for (int again = 0; again < 2; again++) {
            TN_SCOPE
                run(k);
            if (again && !CHECK_EQ(tn_memory().bytes_used, before)) printf("    case %d\n", k);
            before = tn_memory().bytes_used;
            CHECK_EQ(tn_memory().live_tensors, 0);
        }
    }
    tn_context_use(NULL);
    tn_context_free(c);
}

/* A gradient that nobody else holds becomes .grad without a copy, and what a step of backward has
 * made goes at its end. */
static void backward_holds_no_more_than_it_needs(void) {
    enum { N = 1 << 18 };
    int64_t bytes = N * 4;
    TN_SCOPE {
        tn_tensor *w = tn_ones(TN_DIMS(N)), *x = tn_requires_grad(tn_ones(TN_DIMS(N))), *y;
        y = tn_sum(tn_mul(x, w));
        int64_t before = tn_memory().bytes_used;
        tn_memory_reset_peak();
        CHECK(tn_backward(y));
        CHECK(tn_memory().bytes_peak - before < bytes * 3 / 2);
        tn_zero_grad(x);
        for (int i = 0; i < 20; i++) x = tn_mul_scalar(x, 2);
        y = tn_sum(tn_mul(x, w));
        before = tn_memory().bytes_used;
        tn_memory_reset_peak();
        CHECK(tn_backward(y));
        CHECK(tn_memory().bytes_peak - before < bytes * 7 / 2);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(every_node_waits_for_all_that_it_is_sent),
        CHECK_TEST(gradients_of_any_nodes_are_given_together),
        CHECK_TEST(a_gradient_is_added_in_place_where_it_may),
        CHECK_TEST(what_hooks_give_is_added_or_nothing_is),
        CHECK_TEST(a_new_gradient_is_nobody_elses),
        CHECK_TEST(what_a_hook_keeps_is_not_written),
        CHECK_TEST(gradients_are_summed_over_what_was_broadcast),
        CHECK_TEST(gradients_take_the_dtype_and_the_shape_of_their_input),
        CHECK_TEST(members_of_long_lists_have_their_gradients),
        CHECK_TEST(a_second_result_that_is_written_retains_its_gradient),
        CHECK_TEST(nothing_is_left_behind),
        CHECK_TEST(backward_holds_no_more_than_it_needs),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
