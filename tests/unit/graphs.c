/* graphs.c - promises of src/autograd: gradients of random graphs, all and wanted ones, against
 * sums over their edges; who owns a .grad; functions of one's own; what is refused, and how. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static uint64_t state = 11;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}
static tn_tensor *number(double v) { return tnp_full(TN_EMPTY_DIMS, tn_float(v), TN_F64, TN_CPU); }
static tn_tensor *vector(double v) { return tnp_full(TN_DIMS(3), tn_float(v), TN_F64, TN_CPU); }
static double item(const tn_tensor *t) { return t ? tn_item(t) : NAN; }
static double first(const tn_tensor *t) { return t ? *(const double *)tn_data(t) : NAN; }

/* The pending error has this code and these words. */
static bool says(tn_code code, const char *words) {
    tn_error_info e;
    if (!tn_error_take(&e)) return printf("    no error: %s\n", words), false;
    if (e.code == code && strstr(e.message, words)) return true;
    return printf("    \"%s\"\n    \"%s\"\n", e.message, words), false;
}

/* --- random graphs ---------------------------------------------------------------------------- */

enum { LEAVES = 60, NODES = 260 };

/* v = a * b, or a + 2 b, or 3 a; slopes[i]: of the sum of the last values along node i. */
static struct {
    int a, b, how;
    double v, slope;
    bool reaches;
} node[NODES];
static tn_tensor *value[NODES];

static void build(int roots) {
    for (int i = 0; i < NODES; i++) {
        int from = i - 40 < 0 ? 0 : i - 40;
        node[i].how = i < LEAVES ? -1 : below(3);
        node[i].a = i ? (below(4) ? from + below(i - from) : below(i)) : 0;
        node[i].b = i ? below(i) : 0;
        tn_tensor *a = value[node[i].a], *b = value[node[i].b];
        if (i < LEAVES)
            value[i] = tn_requires_grad(number(0.5 + 0.01 * i));
        else
            value[i] = node[i].how == 0   ? tnp_mul(a, b)
                       : node[i].how == 1 ? tnp_add(a, b, 2)
                                          : tnp_mul_scalar(a, tn_float(0.75));
        node[i].v = item(value[i]);
        node[i].slope = i >= NODES - roots ? 1 : 0;
        node[i].reaches = i >= NODES - roots;
    }
    for (int i = NODES - 1; i >= LEAVES; i--) {
        double s = node[i].slope;
        if (!node[i].reaches) continue;
        node[node[i].a].slope += node[i].how == 0   ? s * node[node[i].b].v
                                 : node[i].how == 1 ? s
                                                    : 0.75 * s;
        node[node[i].a].reaches = true;
        if (node[i].how == 2) continue;
        node[node[i].b].slope += node[i].how == 0 ? s * node[node[i].a].v : 2 * s;
        node[node[i].b].reaches = true;
    }
}

static bool near(const tn_tensor *t, double want) {
    return fabs(item(t) - want) <= 1e-9 * (fabs(want) + 1);
}

static int hook_calls;
static tn_tensor *count_hook(tn_tensor *grad, void *user) {
    hook_calls++;
    *(double *)user = item(grad);
    return NULL;
}

static void every_leaf_has_the_sum_over_its_paths(void) {
    for (int round = 0; round < 8; round++) {
        int64_t live = tn_memory().live_tensors, used = tn_memory().bytes_used;
        double seen[NODES];
        TN_SCOPE {
            int roots = 1 + round % 4, hooks = 0;
            tn_backward_args a;
            build(roots);
            memset(&a, 0, sizeof a);
            for (int i = LEAVES; i < NODES; i += 7) {
                tn_retain_grad(value[i]);
                hooks += node[i].reaches;
                tn_hook_add(value[i], count_hook, &seen[i], NULL);
            }
            tn_tensor *sum = value[NODES - 1];
            for (int k = 1; k < roots; k++) sum = tnp_add(sum, value[NODES - 1 - k], 1);
            a.t = sum, a.retain_graph = true;
            hook_calls = 0;
            CHECK(tn_backward_at(__FILE__, __LINE__, &a));
            CHECK_EQ(hook_calls, hooks);
            for (int i = 0; i < LEAVES; i++)
                CHECK(node[i].reaches ? near(tn_grad_of(value[i]), node[i].slope)
                                      : !tn_grad_of(value[i]));
            for (int i = LEAVES; i < NODES; i += 7) {
                CHECK(node[i].reaches
                          ? near(tn_grad_of(value[i]), node[i].slope) &&
                                fabs(seen[i] - node[i].slope) < 1e-9 * (1 + fabs(seen[i]))
                          : !tn_grad_of(value[i]));
                CHECK(i % 7 != LEAVES % 7 || !tn_is_leaf(value[i]));
            }
            a.retain_graph = false;
            CHECK(tn_backward_at(__FILE__, __LINE__, &a));
            for (int i = 0; i < LEAVES; i++)
                if (node[i].reaches) CHECK(near(tn_grad_of(value[i]), 2 * node[i].slope));
            CHECK(!tn_backward_at(__FILE__, __LINE__, &a) &&
                  says(TN_AUTOGRAD, "backward ran a second time through a graph whose saved "
                                    "tensors were freed; pass retain_graph to the first"));
        }
        CHECK_EQ(tn_memory().live_tensors, live);
        if (round) CHECK_EQ(tn_memory().bytes_used, used); /* the first makes what is kept */
    }
}

static void wanted_inputs_alone_get_gradients(void) {
    for (int round = 0; round < 12; round++) {
        int64_t live = tn_memory().live_tensors, used = tn_memory().bytes_used;
        TN_SCOPE {
            tn_tensor *in[20], *grads[20], *outs[3], *seeds[3];
            int which[20], roots = 1 + round % 3, n = 1 + below(20);
            tn_grads_options o = {seeds, true, false, true};
            build(roots);
            for (int k = 0; k < roots; k++) {
                outs[k] = value[NODES - 1 - k];
                seeds[k] = k == 1 ? number(1) : NULL;
            }
            bool all = true;
            for (int k = 0; k < n; k++) {
                bool again = true;
                while (again) {
                    which[k] = below(NODES), again = false;
                    for (int j = 0; j < k; j++) again = again || which[j] == which[k];
                }
                in[k] = value[which[k]];
                all = all && node[which[k]].reaches;
            }
            CHECK(tn_grads(tn_tensors_of(outs, roots), tn_tensors_of(in, n), grads, &o));
            for (int k = 0; k < n; k++)
                CHECK(node[which[k]].reaches ? near(grads[k], node[which[k]].slope) : !grads[k]);
            for (int i = 0; i < LEAVES; i++) CHECK(!tn_grad_of(value[i]));
            o.allow_unused = false;
            CHECK(tn_grads(tn_tensors_of(outs, roots), tn_tensors_of(in, n), grads, &o) == all);
            if (!all)
                CHECK(says(TN_AUTOGRAD,
                           "was not used in the graph; set allow_unused to permit that"));
            for (int k = 0; !all && k < n; k++) CHECK(!grads[k]);
        }
        CHECK_EQ(tn_memory().live_tensors, live);
        if (round) CHECK_EQ(tn_memory().bytes_used, used);
    }
}

static void backward_into_some_leaves_leaves_the_others(void) {
    TN_SCOPE {
        tn_tensor *few[5], *mid;
        tn_backward_args a;
        build(1);
        memset(&a, 0, sizeof a);
        for (int i = 0; i < 5; i++) few[i] = value[i * 11];
        a.t = value[NODES - 1], a.inputs = tn_tensors_of(few, 5), a.retain_graph = true;
        CHECK(tn_backward_at(__FILE__, __LINE__, &a));
        for (int i = 0; i < LEAVES; i++)
            CHECK(i % 11 == 0 && i < 55 && node[i].reaches
                      ? near(tn_grad_of(value[i]), node[i].slope)
                      : !tn_grad_of(value[i]));
        mid = value[NODES - 1];
        a.inputs = tn_tensors_of(&mid, 1);
        CHECK(!tn_backward_at(__FILE__, __LINE__, &a) &&
              says(TN_AUTOGRAD, "backward: input 0 is not a leaf"));
        mid = NULL;
        CHECK(!tn_backward_at(__FILE__, __LINE__, &a) &&
              says(TN_AUTOGRAD, "backward: input 0 is not a leaf\n  in backward") + 1);
        tn_error_take(NULL);
    }
}

/* --- who owns a gradient ---------------------------------------------------------------------- */

static void leaves_do_not_share_their_gradients(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *b = tn_requires_grad(vector(2));
        tn_tensor *seed = vector(5), *sum = tnp_add(a, b, 1), *was;
        CHECK(tn_backward(sum, .gradient = seed, .retain_graph = true));
        CHECK(first(tn_grad_of(a)) == 5 && first(tn_grad_of(b)) == 5);
        *(double *)tn_data(seed) = 70;
        *(double *)tn_data(tn_grad_of(a)) = 60;
        CHECK(first(tn_grad_of(b)) == 5 && first(tn_grad_of(a)) == 60 && first(seed) == 70);
        was = tn_grad_of(a);
        CHECK(tn_backward(sum, .gradient = seed, .retain_graph = true));
        CHECK(tn_grad_of(a) == was && first(was) == 130 && first(tn_grad_of(b)) == 75);
        CHECK(first(seed) == 70);
        tn_zero_grad(a);
        CHECK(!tn_grad_of(a) && tn_grad_of(b));
        CHECK(tn_backward(tnp_sum(a, TN_NO_DIMS, false, TN_NO_DTYPE)));
        CHECK(first(tn_grad_of(a)) == 1 && tn_is_contiguous(tn_grad_of(a)));
        CHECK(tn_grad_of(a)->storage->bytes >= 24); /* its own memory, not an expanded number */
    }
}

static tn_tensor *answer(tn_tensor *grad, void *user) { return (void)grad, (tn_tensor *)user; }
static void what_a_caller_has_given_is_not_taken_for_a_gradient(void) {
    for (int held = 0; held < 2; held++)
        TN_SCOPE {
            tn_tensor *a = tn_requires_grad(vector(1)), *other = vector(9), *seed = vector(5);
            tn_tensor *b = tn_requires_grad(vector(1));
            if (held) tn_hold(seed), tn_hold(other);
            CHECK(tn_backward(b, .gradient = seed));
            CHECK(tn_hook_add(a, answer, other, NULL) > 0);
            CHECK(tn_backward(a, .gradient = seed));
            CHECK(tn_backward(tnp_add(a, b, 1), .gradient = vector(5)));
            CHECK(tn_backward(tnp_add(a, b, -1), .gradient = vector(6)));
            CHECK(first(tn_grad_of(a)) == 27 && first(tn_grad_of(b)) == 4);
            CHECK(first(seed) == 5 && first(other) == 9);
            if (held) tn_free(seed), tn_free(other);
        }
}

static void what_a_hook_returns_must_fit(void) {
    tn_context *own = tn_context_new(NULL), *was = tn_context_use(own);
    tn_tensor *foreign = tn_hold(vector(9));
    tn_context_use(was);
    for (int leaf = 0; leaf < 2; leaf++)
        TN_SCOPE {
            tn_tensor *a = tn_requires_grad(vector(1)), *b = tnp_mul_scalar(a, tn_float(2));
            int64_t n = tn_hook_add(leaf ? a : b, answer, foreign, NULL);
            CHECK(!tn_backward(b, .gradient = vector(1), .retain_graph = true) &&
                  says(TN_INVALID, "a hook: a tensor belongs to another context"));
            CHECK(tn_hook_remove(leaf ? a : b, n) && !tn_hook_remove(leaf ? a : b, n));
            n = tn_hook_add(leaf ? a : b, answer, number(1), NULL);
            CHECK(!tn_backward(b, .gradient = vector(1), .retain_graph = true) &&
                  says(TN_AUTOGRAD, "a hook returned a gradient of a different shape"));
            CHECK(tn_hook_remove(leaf ? a : b, n) && !tn_grad_of(a));
            n = tn_hook_add(leaf ? a : b, answer, vector(3), NULL);
            CHECK(tn_backward(b, .gradient = vector(1)));
            CHECK(first(tn_grad_of(a)) == (leaf ? 3 : 6));
        }
    tn_context_use(own);
    tn_free(foreign);
    tn_context_use(was);
    tn_context_free(own);
}

static void a_gradient_with_a_history_is_replaced_not_written(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(3)), *g;
        tn_tensor *sum = tnp_sum(tnp_mul(a, a), TN_NO_DIMS, false, TN_NO_DTYPE);
        CHECK(tn_backward(sum, .create_graph = true));
        g = tn_hold(tn_grad_of(a));
        CHECK(tn_needs_grad(g) && first(g) == 6);
        CHECK(tn_backward(sum, .retain_graph = true));
        CHECK(first(g) == 6 && first(tn_grad_of(a)) == 12 && tn_grad_of(a) != g);
        CHECK(!tn_set_grad(a, vector(1)) + 1 && first(tn_grad_of(a)) == 1);
        CHECK(tn_set_grad(a, NULL) && !tn_grad_of(a));
        CHECK(!tn_set_grad(a, number(1)) &&
              says(TN_INVALID, "the gradient must have the tensor's shape and dtype"));
        CHECK(!tn_set_grad(a, tn_ones(TN_DIMS(3))) &&
              says(TN_INVALID, "the gradient must have the tensor's shape and dtype"));
        CHECK(!tn_set_grad(NULL, a) && says(TN_INVALID, "the tensor is NULL"));
        tn_free(g);
    }
}

static void results_of_grads_are_the_callers_own(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *b = tn_requires_grad(vector(2)), *in[2], *g[2];
        tn_tensor *seed = vector(5), *sum = tnp_add(a, b, 1);
        tn_grads_options o = {&seed, false, false, false};
        in[0] = a, in[1] = b;
        CHECK(tn_grads(tn_tensors_of(&sum, 1), tn_tensors_of(in, 2), g, &o));
        CHECK(g[0] != g[1] && g[0] != seed && g[1] != seed && first(g[0]) == 5);
        tn_tensor *leaf = tn_requires_grad(vector(7));
        seed = leaf, sum = tnp_add(a, b, 1);
        CHECK(tn_grads(tn_tensors_of(&sum, 1), tn_tensors_of(in, 2), g, &o));
        CHECK(!tn_needs_grad(g[0]) && g[0]->storage != leaf->storage && first(g[1]) == 7);
    }
}

/* --- hooks of recorded calls ------------------------------------------------------------------ */

typedef struct call_hook {
    tn_history *call;
    int64_t number;
    int runs, released, n, ncame;
    double factor, grad, came;
    tn_tensor *gives; /* in place of the first; NULL: that times factor */
    bool removes, fails, none;
} call_hook;
static bool on_call(tn_tensor **grads, int n, tn_tensor *const *came, int ncame, void *user) {
    call_hook *h = (call_hook *)user;
    h->runs++;
    h->n = n;
    h->ncame = ncame;
    h->grad = first(grads[0]);
    h->came = came ? first(came[0]) : NAN;
    if (h->removes) CHECK(tn_history_hook_remove(h->call, h->number) && !h->released);
    grads[0] = h->none ? NULL : h->gives ? h->gives : tnp_mul_scalar(grads[0], tn_float(h->factor));
    return !h->fails;
}
static void call_hook_goes(void *user) { ((call_hook *)user)->released++; }
static void hang(call_hook *h, tn_tensor *on, bool after) {
    h->call = tn_history_of(on);
    h->number = tn_history_hook_add(h->call, after, on_call, h, call_hook_goes);
    CHECK(h->number > 0);
}

static void hooks_of_a_call_see_all_its_gradients(void) {
    call_hook before, behind;
    memset(&before, 0, sizeof before);
    memset(&behind, 0, sizeof behind);
    before.factor = 10, behind.factor = 7;
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *b = tn_requires_grad(vector(5));
        tn_tensor *ab = tnp_mul(a, b);
        hang(&before, ab, false);
        hang(&behind, ab, true);
        CHECK(tn_backward(tnp_sum(ab, TN_NO_DIMS, false, TN_NO_DTYPE), .retain_graph = true));
        CHECK(before.runs == 1 && before.n == 1 && before.ncame == 0 && before.grad == 1);
        CHECK(behind.runs == 1 && behind.n == 2 && behind.ncame == 1);
        CHECK(behind.grad == 50 && behind.came == 10);
        CHECK(first(tn_grad_of(a)) == 350 && first(tn_grad_of(b)) == 10);
        CHECK(tn_history_hook_remove(behind.call, behind.number) && behind.released == 1);
        CHECK(!tn_history_hook_remove(behind.call, behind.number));
        before.none = true; /* zero */
        CHECK(tn_backward(tnp_sum(ab, TN_NO_DIMS, false, TN_NO_DTYPE), .retain_graph = true));
        CHECK(first(tn_grad_of(a)) == 350 && behind.runs == 1 && !before.released);
    }
    CHECK(before.released == 1 && behind.released == 1 && before.runs == 2);
}

static void hooks_of_a_call_may_go_and_fail(void) {
    call_hook h[3];
    memset(h, 0, sizeof h);
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *b = tnp_mul_scalar(a, tn_float(2)),
                  *sum = tnp_sum(b, TN_NO_DIMS, false, TN_NO_DTYPE);
        for (int i = 0; i < 3; i++) h[i].factor = 1, hang(&h[i], b, i == 2);
        h[0].removes = true;
        h[1].fails = true;
        CHECK(!tn_backward(sum, .retain_graph = true) && !tn_grad_of(a) && h[0].released == 1);
        CHECK(says(TN_INVALID, "a hook failed without setting an error"));
        h[1].fails = false;
        h[1].gives = number(1);
        CHECK(!tn_backward(sum, .retain_graph = true) && says(TN_AUTOGRAD, "different shape"));
        h[1].gives = NULL;
        h[2].gives = tn_ones(TN_DIMS(3));
        CHECK(!tn_backward(sum, .retain_graph = true) && says(TN_AUTOGRAD, "of dtype float32"));
        h[2].gives = NULL;
        h[2].none = true; /* then the input gets no gradient */
        CHECK(tn_backward(sum, .retain_graph = true) && !tn_grad_of(a) && h[0].runs == 1);
        CHECK(!tn_history_hook_add(NULL, true, on_call, NULL, NULL) &&
              says(TN_INVALID, "expected a call of this context and a hook"));
        CHECK(!tn_history_hook_add(h[1].call, true, NULL, NULL, NULL) && says(TN_INVALID, "hook"));
        CHECK(!tn_history_hook_remove(NULL, 1) && tn_ok());
    }
    CHECK(h[1].released == 1 && h[2].released == 1);
}

static void what_cannot_be_run_backward_is_refused(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *plain = vector(1), *g[2], *none = NULL;
        tn_tensor *twice = tnp_mul_scalar(a, tn_float(2)), *two = number(2);
        tn_grads_options o = {NULL, true, false, false};
        CHECK(!tn_backward(twice) &&
              says(TN_AUTOGRAD, "output 0 is float64 (3): only a tensor of one element has an"));
        CHECK(!tn_backward(plain) &&
              says(TN_AUTOGRAD, "element 0 of tensors does not require grad"));
        CHECK(!tn_backward(NULL) && says(TN_INVALID, "output 0 is NULL\n  in backward"));
        CHECK(!tn_backward(twice, .gradient = two) &&
              says(TN_AUTOGRAD,
                   "the gradient given for output 0 is float64 (), but the output is float64 (3)"));
        tn_tensor *sum = tnp_sum(twice, TN_NO_DIMS, false, TN_NO_DTYPE);
        g[0] = a;
        CHECK(!tn_grads(tn_tensors_of(&sum, 1), tn_tensors_of(&plain, 1), g, &o) && !g[0] &&
              says(TN_AUTOGRAD, "input 0 does not require grad"));
        CHECK(!tn_grads(tn_tensors_of(&sum, 1), tn_tensors_of(&none, 1), g, &o) &&
              says(TN_INVALID, "input 0 is NULL"));
        CHECK(!tn_grads(tn_tensors_of(&none, 1), tn_tensors_of(&a, 1), g, &o) && !g[0] &&
              says(TN_INVALID, "output 0 is NULL"));
        tn_tensor *f = tn_ones(TN_DIMS(3)); /* another dtype is converted */
        o.seeds = &f;
        CHECK(tn_grads(tn_tensors_of(&a, 1), tn_tensors_of(&a, 1), g, &o) && first(g[0]) == 1);
        CHECK(tn_dtype_of(g[0]) == TN_F64);
        CHECK(tn_backward(twice, .gradient = f) && first(tn_grad_of(a)) == 2);
        CHECK(tn_dtype_of(tn_grad_of(a)) == TN_F64);
    }
}

static void only_leaves_can_be_told_to_require_grad(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *twice = tnp_mul_scalar(a, tn_float(2));
        CHECK(tn_is_leaf(a) && !tn_is_leaf(twice) && !tn_is_leaf(NULL) && tn_needs_grad(twice));
        CHECK(!tn_requires_grad(NULL) && says(TN_INVALID, "the tensor is NULL"));
        CHECK(!tn_requires_grad(twice) && says(TN_AUTOGRAD, "detach this result of mul"));
        CHECK(!tn_requires_grad(tnp_zeros(TN_DIMS(2), TN_I64, TN_CPU)) &&
              says(TN_TYPE, "only floating and complex tensors can require grad, got int64"));
        CHECK(tn_set_requires_grad(a, false) == a && !tn_needs_grad(a) && !tn_grad_fn(a));
        bool was = tn_set_inference_mode(true);
        tn_tensor *made = vector(1);
        CHECK(tn_requires_grad(made) == made && tn_set_requires_grad(made, false));
        CHECK(!tn_set_inference_mode(was) + 1 && !tn_set_inference_mode(was));
        CHECK(!tn_requires_grad(made) && says(TN_AUTOGRAD, "inference mode; clone it first"));
        CHECK(!tn_hook_add(a, count_hook, NULL, NULL) && says(TN_AUTOGRAD, "a hook and a tensor"));
        CHECK(!tn_hook_add(twice, NULL, NULL, NULL) && says(TN_AUTOGRAD, "a hook and a tensor"));
        CHECK(!tn_hook_add(NULL, count_hook, NULL, NULL) && says(TN_AUTOGRAD, "a hook and a"));
        CHECK(!tn_retain_grad(a) && says(TN_AUTOGRAD, "the tensor does not require grad"));
        CHECK(!tn_hook_remove(twice, 1) && !tn_hook_remove(NULL, 1) && tn_ok());
        CHECK(!tn_set_anomaly_mode(true) && tn_set_anomaly_mode(false));
        CHECK(tn_set_grad_mode(false) && !tn_set_grad_mode(true) && tn_grad_mode());
    }
}

/* Memory of a thread that has ended serves the next. */
static void *leaves_modes(void *user) {
    bool plain = tn_grad_mode() && !tn_set_inference_mode(true) && tn_set_grad_mode(false);
    *(int *)user += plain && !tn_grad_mode();
    return NULL;
}
static void every_thread_begins_with_gradients_on(void) {
    int plain = 0;
    for (int i = 0; i < 4; i++) {
        pthread_t t;
        if (CHECK(pthread_create(&t, NULL, leaves_modes, &plain) == 0)) pthread_join(t, NULL);
    }
    CHECK(plain == 4 && tn_grad_mode());
}

/* --- functions of one's own ------------------------------------------------------------------- */

typedef struct own {
    int released, saves, outs, fails,
        seen_null; /* fails: 1 forward silently, 2 backward, 3 no output */
    bool give_in;
} own;

static bool own_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    own *o = (own *)tn_function_user(f);
    for (int i = 0; i < o->saves; i++)
        if (!tn_function_save(f, in[i % nin])) return false;
    if (o->fails == 1) return false;
    out[0] = o->give_in ? in[0] : tnp_mul_scalar(in[0], tn_float(2));
    if (o->outs == 2 && o->fails != 3) out[1] = tnp_zeros(TN_DIMS(2), TN_I64, TN_CPU);
    return true;
}
static bool own_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    own *o = (own *)tn_function_user(f);
    double sum = 0;
    for (int i = 0; i < o->saves; i++) {
        tn_tensor *t = tn_function_saved(f, i);
        if (!t) return false;
        sum += (i + 1) * first(t);
    }
    o->seen_null += o->outs == 2 && !grad_out[1];
    if (o->fails == 2) return false;
    grad_in[0] = tnp_mul_scalar(grad_out[0], tn_float(o->saves ? sum : 1));
    return !tn_function_saved(f, o->saves) && says(TN_INDEX, "tn_function_saved: ");
}
static void own_release(void *user) { ((own *)user)->released++; }
static const tn_function_row own_row = {"own", 1, own_forward, own_backward, own_release};
static const tn_function_row own_two = {"own", 2, own_forward, own_backward, own_release};

static void a_function_keeps_what_it_saves_and_is_released_once(void) {
    int64_t live = tn_memory().live_tensors, used = tn_memory().bytes_used;
    for (int saves = 0; saves < 20; saves++) {
        own o = {0, saves, 1 + saves % 2, 0, 0, saves % 3 == 1};
        TN_SCOPE {
            tn_tensor *in[2], *out[2], *leaf = tn_requires_grad(vector(2));
            double want = 0;
            in[0] = saves % 4 < 2 ? leaf : tnp_mul_scalar(leaf, tn_float(1)), in[1] = vector(5);
            for (int i = 0; i < saves; i++) want += (i + 1) * (i % 2 ? 5 : 2);
            CHECK(
                tn_function_call(o.outs == 2 ? &own_two : &own_row, tn_tensors_of(in, 2), &o, out));
            CHECK(out[0] != in[0] && first(out[0]) == (o.give_in ? 2 : 4));
            CHECK_TEXT(tn_grad_fn(out[0]), "own");
            if (o.outs == 2) CHECK(!tn_needs_grad(out[1]) && !tn_grad_fn(out[1]));
            CHECK_EQ(o.released, 0);
            CHECK(tn_backward(tnp_sum(out[0], TN_NO_DIMS, false, TN_NO_DTYPE)));
            CHECK(first(tn_grad_of(leaf)) == (saves ? want : 1));
            CHECK(o.seen_null == (o.outs == 2));
        }
        CHECK_EQ(o.released, 1);
        CHECK_EQ(tn_memory().live_tensors, live);
    }
    CHECK_EQ(tn_memory().bytes_used, used);
}

static void a_function_that_fails_says_so_and_is_released(void) {
    own o = {0, 1, 1, 1, 0, false};
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(vector(2)), *out[2], *plain = vector(3);
        tn_tensors in = tn_tensors_of(&x, 1);
        CHECK(!tn_function_call(&own_row, in, &o, out) && o.released == 1);
        CHECK(says(TN_INVALID, "own: forward failed without setting an error"));
        o.fails = 3, o.outs = 2;
        CHECK(!tn_function_call(&own_two, in, &o, out) && o.released == 2);
        CHECK(says(TN_INVALID, "own: forward did not set output 1"));
        o.fails = 2, o.outs = 1;
        CHECK(tn_function_call(&own_row, in, &o, out) && o.released == 2);
        CHECK(!tn_backward(tnp_sum(out[0], TN_NO_DIMS, false, TN_NO_DTYPE)));
        CHECK(says(TN_INVALID, "own: backward failed without setting an error") && !tn_grad_of(x));
        o.fails = 0;
        CHECK(tn_function_call(&own_row, tn_tensors_of(&plain, 1), &o, out) && o.released == 3);
        CHECK(!tn_needs_grad(out[0]) && first(out[0]) == 6);
        tn_set_grad_mode(false);
        CHECK(tn_function_call(&own_row, in, &o, out) && o.released == 4 && !tn_needs_grad(out[0]));
        tn_set_grad_mode(true);
        CHECK(tn_function_call(&own_row, in, &o, out));
        *(double *)tn_data(x) = 3; /* not seen; a write by a call is */
        tn_set_requires_grad(x, false);
        CHECK(tnp_add_(x, x, 1) != NULL);
        CHECK(!tn_backward(tnp_sum(out[0], TN_NO_DIMS, false, TN_NO_DTYPE)));
        CHECK(says(TN_AUTOGRAD, "own: saved tensor 0 was modified in place after it was saved"));
        CHECK(!tn_function_saved(NULL, 0) &&
              says(TN_INDEX, "tn_function_saved: index 0 is out of range for 0 saved tensors"));
        CHECK(!tn_function_save(NULL, x) && says(TN_INVALID, "tn_function_save: NULL"));
        CHECK(!tn_function_user(NULL));
    }
    CHECK_EQ(o.released, 6);
}

/* --- checkpoints ------------------------------------------------------------------------------ */

static int runs;
static tn_tensor *noisy(tn_tensor *const *in, int nin, void *user) {
    runs++;
    if (user && runs == *(int *)user)
        return tn_error_set(TN_INVALID, "n.c", 1, "no more"), (tn_tensor *)NULL;
    tn_tensor *sum = tnp_mul(in[0], tn_randn(TN_DIMS(3), .dtype = TN_F64));
    for (int i = 1; i < nin; i++) sum = tnp_add(sum, tnp_mul(in[i], in[i]), 1);
    return sum;
}

static void a_checkpoint_draws_the_same_numbers_again(void) {
    TN_SCOPE {
        tn_tensor *in[65], *y, *g;
        double with, after;
        in[0] = tn_requires_grad(vector(1)), in[1] = tn_requires_grad(vector(4)), in[2] = vector(3);
        for (int i = 3; i < 65; i++) in[i] = in[2];
        tn_manual_seed(5);
        y = noisy(in, 3, NULL);
        CHECK(tn_backward(tnp_sum(y, TN_NO_DIMS, false, TN_NO_DTYPE)));
        with = first(tn_grad_of(in[0]));
        CHECK(tn_rand(TN_DIMS(1)));
        CHECK(first(tn_grad_of(in[1])) == 8);
        g = tn_rand(TN_DIMS(1), .dtype = TN_F64), after = first(g);
        tn_zero_grad(in[0]), tn_zero_grad(in[1]);
        tn_manual_seed(5), runs = 0;
        y = tn_checkpoint(noisy, tn_tensors_of(in, 3), NULL);
        CHECK(y && runs == 1 && tn_needs_grad(y));
        (void)!tn_rand(TN_DIMS(1));
        CHECK(tn_backward(tnp_sum(y, TN_NO_DIMS, false, TN_NO_DTYPE)) && runs == 2);
        CHECK(first(tn_grad_of(in[0])) == with && first(tn_grad_of(in[1])) == 8);
        CHECK(!tn_grad_of(in[2]) && first(tn_rand(TN_DIMS(1), .dtype = TN_F64)) == after);
        CHECK(tn_checkpoint(noisy, tn_tensors_of(in, 64), NULL) != NULL);
        CHECK(!tn_checkpoint(noisy, tn_tensors_of(in, 65), NULL) &&
              says(TN_INVALID, "checkpoint: expected at most 64 inputs"));
        y = tn_checkpoint(noisy, tn_tensors_of(in, 3), NULL);
        CHECK(
            !tn_backward(tnp_sum(y, TN_NO_DIMS, false, TN_NO_DTYPE), .create_graph = true) &&
            says(TN_UNSUPPORTED, "checkpoint: create_graph is not supported through a checkpoint"));
    }
}

static void a_checkpoint_that_fails_leaves_all_as_it_was(void) {
    int64_t live = tn_memory().live_tensors;
    for (int at = 1; at < 3; at++)
        TN_SCOPE {
            tn_tensor *in = tn_requires_grad(vector(1)), *y;
            uint8_t before[TN_GENERATOR_BYTES], now[TN_GENERATOR_BYTES];
            runs = 0;
            y = tn_checkpoint(noisy, tn_tensors_of(&in, 1), &at);
            CHECK((y != NULL) == (at == 2));
            tn_generator_state(tn_default_generator(), before);
            if (y) CHECK(!tn_backward(tnp_sum(y, TN_NO_DIMS, false, TN_NO_DTYPE)));
            CHECK(says(TN_INVALID, "no more") && !tn_grad_of(in) && tn_grad_mode());
            tn_generator_state(tn_default_generator(), now);
            CHECK(!memcmp(before, now, sizeof now));
        }
    CHECK_EQ(tn_memory().live_tensors, live);
}

static void anomalies_name_input_and_shape(void) {
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(vector(1)), *z = tn_requires_grad(vector(0));
        tn_set_anomaly_mode(true);
        tn_tensor *bad = tnp_mul(a, tnp_sqrt(tnp_mul(z, z)));
        CHECK(!tn_backward(tnp_sum(bad, TN_NO_DIMS, false, TN_NO_DTYPE)));
        CHECK(says(TN_AUTOGRAD, "anomaly: the gradient of mul for input 0, float64 (3), has NaN") ||
              !tn_grad_of(a));
        CHECK(!tn_grad_of(a) && !tn_grad_of(z));
        CHECK(tn_backward(tnp_sum(tnp_mul(a, a), TN_NO_DIMS, false, TN_NO_DTYPE)));
        CHECK(first(tn_grad_of(a)) == 2);
        tn_set_anomaly_mode(false);
        tn_error_take(NULL);
    }
}

static const check_test tests[] = {
    CHECK_TEST(every_leaf_has_the_sum_over_its_paths),
    CHECK_TEST(wanted_inputs_alone_get_gradients),
    CHECK_TEST(backward_into_some_leaves_leaves_the_others),
    CHECK_TEST(leaves_do_not_share_their_gradients),
    CHECK_TEST(what_a_caller_has_given_is_not_taken_for_a_gradient),
    CHECK_TEST(what_a_hook_returns_must_fit),
    CHECK_TEST(a_gradient_with_a_history_is_replaced_not_written),
    CHECK_TEST(results_of_grads_are_the_callers_own),
    CHECK_TEST(hooks_of_a_call_see_all_its_gradients),
    CHECK_TEST(hooks_of_a_call_may_go_and_fail),
    CHECK_TEST(what_cannot_be_run_backward_is_refused),
    CHECK_TEST(only_leaves_can_be_told_to_require_grad),
    CHECK_TEST(every_thread_begins_with_gradients_on),
    CHECK_TEST(a_function_keeps_what_it_saves_and_is_released_once),
    CHECK_TEST(a_function_that_fails_says_so_and_is_released),
    CHECK_TEST(a_checkpoint_draws_the_same_numbers_again),
    CHECK_TEST(a_checkpoint_that_fails_leaves_all_as_it_was),
    CHECK_TEST(anomalies_name_input_and_shape),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
