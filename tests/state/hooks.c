/* hooks.c - hooks and gathered gradients beside a model: which hooks a backward calls, in which
 * order, with what, and whose memory a .grad is.
 *
 *     hooks [SEED [COUNT]]
 *
 * A program makes leaves and sums r = a + alpha * b, puts hooks of all kinds on them, and runs
 * backward several times. A gradient is g * (1, 2, 3), so one number stands for it; all numbers are
 * exact. Results are visited newest first, then the leaves, in any order, then the hooks that see
 * leaves afterwards. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 3, TENSORS = 14, HOOKS = 120, CALLS = 400, KEPT = 60, ROUNDS = 8 };
enum {
    SEE,
    DOUBLE,
    GIVE_SAME,
    GIVE_VIEW,
    GIVE_SHARED,
    KEEP,
    REMOVE_SELF,
    REMOVE_OTHER,
    ADD,
    FAIL,
    KINDS
};

typedef struct hook {
    int kind, at, target; /* the tensor it is on; the hook it removes, or the tensor it adds to */
    bool after, live, is_new, gone; /* live: in the model; gone: removed in the library */
    int64_t number;
    int released;
} hook;
typedef struct item {
    tn_tensor *t;
    int a, b;
    double alpha;
    bool retains, has_grad;
    double grad;     /* the model's */
    tn_tensor *same; /* .grad before this backward, held: it is written, or left as it was */
    double before;
} item;
typedef struct call {
    int hook;
    double grad;
} call;

static struct {
    uint64_t random;
    int n, nhooks, ncalls, nexpected, nkept;
    item item[TENSORS];
    hook hook[HOOKS];
    call call[CALLS], expected[CALLS];
    struct {
        tn_tensor *t;
        double grad;
    } kept[KEPT];
    int64_t last_number;
    bool wrong, failed, leaf_failed, after_failed;
} m;

static int below(int n) {
    uint64_t z = m.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}
static void wrong(const char *what, double is, double should) {
    if (!m.wrong) printf("%s: %g, not %g\n", what, is, should);
    m.wrong = true;
}

static tn_tensor *thrice(double g) {
    double v[3] = {g, 2 * g, 3 * g};
    return tn_from_f64(v, TN_DIMS(3));
}
static double number_of(const tn_tensor *t) {
    double v[3] = {0, 0, 0};
    if (!t || !tn_read_f64(t, v, 3) || v[1] != 2 * v[0] || v[2] != 3 * v[0]) {
        wrong("a gradient that is no multiple of (1, 2, 3)", v[1], 2 * v[0]);
        return -777;
    }
    return v[0];
}

/* --- hooks ------------------------------------------------------------------------------------ */

static void let_go(void *user) { ((hook *)user)->released++; }
static void put_hook(int kind, int at, bool after, int target);

static tn_tensor *ran(tn_tensor *grad, void *user) {
    hook *h = (hook *)user;
    item *on = &m.item[h->at];
    call *c = &m.call[m.ncalls < CALLS - 1 ? m.ncalls++ : CALLS - 1];
    c->hook = (int)(h - m.hook);
    if (h->after && grad != on->t) wrong("a hook after that sees another tensor", 0, 1);
    c->grad = number_of(h->after ? tn_grad_of(grad) : grad);
    switch (h->kind) {
    case DOUBLE: return tnp_mul_scalar(grad, tn_float(2));
    case GIVE_SAME: return grad;
    case GIVE_VIEW: return tnp_detach(m.item[h->target].t);
    case GIVE_SHARED: {
        tn_tensor *t = thrice(0);
        if (!tn_set_data(t, m.item[h->target].t)) wrong("set_data", 0, 1);
        return t;
    }
    case KEEP:
        if (m.nkept == KEPT || h->after) return NULL;
        m.kept[m.nkept].grad = c->grad;
        m.kept[m.nkept++].t = tn_retain(grad);
        return NULL;
    case REMOVE_SELF:
        if (!tn_hook_remove(on->t, h->number)) wrong("a hook cannot remove itself", 0, 1);
        h->gone = true;
        return NULL;
    case REMOVE_OTHER: {
        hook *o = &m.hook[h->target];
        if (!o->gone && o != h && !tn_hook_remove(m.item[o->at].t, o->number))
            wrong("a hook cannot remove another", 0, 1);
        if (o != h) o->gone = true;
        return NULL;
    }
    case ADD: put_hook(SEE, h->target, h->after, 0); return NULL;
    case FAIL: return tn_error_set(TN_INVALID, __FILE__, __LINE__, "on purpose"), (tn_tensor *)NULL;
    default: return NULL;
    }
}

/* In a hook, the model adds it too when it comes to that call (expect_one): by then it is there. */
static void put_hook(int kind, int at, bool after, int target) {
    hook *h = &m.hook[m.nhooks];
    if (m.nhooks == HOOKS) return;
    memset(h, 0, sizeof *h);
    h->kind = kind, h->at = at, h->after = after, h->target = target, h->is_new = true;
    h->number = after ? tn_hook_after(m.item[at].t, ran, h, let_go)
                      : tn_hook_add(m.item[at].t, ran, h, let_go);
    if (h->number <= m.last_number) wrong("a number again", (double)h->number, 0);
    m.last_number = h->number;
    m.nhooks++;
}

static void step_hook(void) {
    int at = below(m.n), kind = below(FAIL + (below(6) == 0)), target = 0;
    bool after = at < LEAVES && below(3) == 0;
    if (after && kind == KEEP) kind = SEE;
    if (kind == ADD) target = at;
    if (kind == GIVE_VIEW || kind == GIVE_SHARED) target = below(LEAVES);
    if (kind == REMOVE_OTHER) {
        if (!m.nhooks) return;
        target = below(m.nhooks);
        if (at < LEAVES && (m.hook[target].at != at || m.hook[target].after != after)) kind = SEE;
    }
    put_hook(kind, at, after, target);
    if (m.nhooks < HOOKS) m.hook[m.nhooks - 1].live = true, m.hook[m.nhooks - 1].is_new = false;
}

static void step_remove(void) {
    hook *h = m.nhooks ? &m.hook[below(m.nhooks)] : NULL;
    if (!h || !h->live) return;
    if (!tn_hook_remove(m.item[h->at].t, h->number)) wrong("a hook is not found", 0, 1);
    h->live = false, h->gone = true;
    if (h->released != 1) wrong("releases of a removed hook", h->released, 1);
}

/* --- the model of a backward ------------------------------------------------------------------ */

/* The hooks of tensor i, in order; false: one has failed. Those that `is_new` were added during
 * this run. */
static bool expect_hooks(int i, bool after, int nhooks, double *g) {
    for (int k = 0; k < nhooks; k++) {
        hook *h = &m.hook[k];
        call *c = &m.expected[m.nexpected];
        if (!h->live || h->at != i || h->after != after || m.nexpected == CALLS - 1) continue;
        m.nexpected++;
        c->hook = k, c->grad = *g;
        if (h->kind == DOUBLE && !after) *g *= 2;
        if ((h->kind == GIVE_VIEW || h->kind == GIVE_SHARED) && !after) *g = h->target + 1;
        if (h->kind == REMOVE_SELF) h->live = false;
        if (h->kind == REMOVE_OTHER && h->target != k) m.hook[h->target].live = false;
        if (h->kind == FAIL) return false;
    }
    return true;
}

static bool expect_results(int from, double *g, bool *reached, int nhooks) {
    for (int i = from; i >= LEAVES; i--) {
        const item *r = &m.item[i];
        if (!reached[i]) continue;
        if (!expect_hooks(i, false, nhooks, &g[i])) return false;
        g[r->a] += g[i], g[r->b] += r->alpha * g[i];
        reached[r->a] = reached[r->b] = true;
    }
    return true;
}

/* What comes: calls into m.expected, gradients into the items. Returns whether it fails. */
static bool expect_backward(int from, double seed, int nhooks) {
    double g[TENSORS] = {0};
    bool reached[TENSORS] = {false}, ok = true;
    m.nexpected = 0, m.leaf_failed = m.after_failed = false;
    g[from] = seed, reached[from] = true;
    if (!expect_results(from, g, reached, nhooks)) return false;
    for (int i = 0; i < LEAVES; i++)
        if (reached[i] && !expect_hooks(i, false, nhooks, &g[i])) m.leaf_failed = true;
    if (m.leaf_failed) return false;
    for (int i = 0; i < m.n; i++)
        if (reached[i] && (i < LEAVES || m.item[i].retains)) {
            m.item[i].grad = (m.item[i].has_grad ? m.item[i].grad : 0) + g[i];
            m.item[i].has_grad = true;
        }
    for (int i = 0; i < LEAVES; i++)
        if (reached[i] && !expect_hooks(i, true, nhooks, &m.item[i].grad))
            m.after_failed = true, ok = false;
    return ok;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Calls at one tensor (all results are one), those before and those after apart, keep their
 * order. */
static int group_of(const call *c) {
    const hook *h = &m.hook[c->hook];
    return h->at >= LEAVES ? 0 : 1 + h->at + (h->after ? LEAVES : 0);
}
static void compare_calls(void) {
    int order = 0;
    for (int k = 0; k < m.ncalls; k++) {
        int g = group_of(&m.call[k]), class = g == 0 ? 0 : g <= LEAVES ? 1 : 2;
        if (class < order) wrong("a call too late: results, leaves, after", class, order);
        order = class;
    }
    for (int g = 0; g <= 2 * LEAVES; g++) {
        int a = 0, b = 0;
        for (;; a++, b++) {
            while (a < m.ncalls && group_of(&m.call[a]) != g) a++;
            while (b < m.nexpected && group_of(&m.expected[b]) != g) b++;
            if (a == m.ncalls && (b == m.nexpected || m.leaf_failed || m.after_failed)) break;
            if (a == m.ncalls || b == m.nexpected) {
                wrong("calls of hooks", m.ncalls, m.nexpected);
                return;
            }
            if (m.call[a].hook != m.expected[b].hook)
                wrong("another hook", m.call[a].hook, m.expected[b].hook);
            if (m.call[a].grad != m.expected[b].grad)
                wrong("what a hook sees", m.call[a].grad, m.expected[b].grad);
        }
    }
}

static void compare_memory(const tn_tensor *seed) {
    for (int i = 0; i < m.n; i++) {
        const tn_tensor *g = tn_grad_of(m.item[i].t);
        if (!g) continue;
        if (tn_same_storage(g, seed)) wrong(".grad is the seed", i, -1);
        for (int k = 0; k < m.n; k++) {
            if (tn_same_storage(g, m.item[k].t)) wrong(".grad shares with a value", i, k);
            if (k != i && tn_grad_of(m.item[k].t) && tn_same_storage(g, tn_grad_of(m.item[k].t)))
                wrong(".grad shares with another", i, k);
        }
        for (int k = 0; k < m.nkept; k++)
            if (tn_same_storage(g, m.kept[k].t)) wrong(".grad shares with a kept one", i, k);
    }
    for (int k = 0; k < m.nkept; k++)
        if (number_of(m.kept[k].t) != m.kept[k].grad)
            wrong("a kept gradient has changed", number_of(m.kept[k].t), m.kept[k].grad);
}

static void compare_grads(bool create, const bool *touched) {
    for (int i = 0; i < m.n; i++) {
        item *r = &m.item[i];
        tn_tensor *g = tn_grad_of(r->t);
        if (!g != !r->has_grad) wrong("a .grad is there", g != NULL, r->has_grad);
        if (g && number_of(g) != r->grad) wrong("a .grad", number_of(g), r->grad);
        if (!r->same) continue;
        if (touched[i] && create == (g == r->same))
            wrong("written in place", g == r->same, !create);
        if (touched[i] && create && number_of(r->same) != r->before)
            wrong("the .grad before", number_of(r->same), r->before);
        tn_release(r->same);
        r->same = NULL;
    }
}

static void compare_hooks(void) {
    for (int k = 0; k < m.nhooks; k++) {
        hook *h = &m.hook[k];
        if (h->is_new) h->is_new = false, h->live = true;
        if (h->released != !h->live) wrong("releases of a hook", h->released, !h->live);
    }
}

static bool step_backward(void) {
    int from = m.n - 1 - below(m.n - LEAVES), nhooks = m.nhooks;
    double seed = 1 + below(3);
    bool create = below(4) == 0, touched[TENSORS], ok, should;
    tn_tensor *s = thrice(seed);
    double before[TENSORS];
    for (int i = 0; i < m.n; i++) {
        item *r = &m.item[i];
        if (r->has_grad && below(2)) r->same = tn_retain(tn_grad_of(r->t)), r->before = r->grad;
        before[i] = r->has_grad ? r->grad : 0;
    }
    m.ncalls = 0;
    should = expect_backward(from, seed, nhooks);
    ok = tn_backward(m.item[from].t, .gradient = s, .retain_graph = true, .create_graph = create);
    for (int i = 0; i < m.n; i++) touched[i] = m.item[i].grad != before[i];
    if (ok != should) wrong("backward is done", ok, should);
    if (!ok && !tn_error_take(NULL)) wrong("no error", 0, 1);
    compare_calls();
    if (!m.leaf_failed && !m.after_failed) compare_hooks();
    compare_grads(create, touched);
    compare_memory(s);
    return !m.leaf_failed && !m.after_failed;
}

/* --- steps on .grad --------------------------------------------------------------------------- */

static void step_grad(void) {
    int i = below(LEAVES), kind = below(5);
    item *r = &m.item[i];
    if (kind == 0) {
        tn_zero_grad(r->t);
        r->has_grad = false, r->grad = 0;
    } else if (kind == 1) {
        if (!tn_set_grad(r->t, NULL)) wrong("set_grad", 0, 1);
        r->has_grad = false, r->grad = 0;
    } else if (kind == 2) {
        if (!tn_set_grad(r->t, thrice(5))) wrong("set_grad", 0, 1);
        r->has_grad = true, r->grad = 5;
    } else if (kind == 3) { /* memory of another layout, with places between that stay */
        static const double wide[6] = {5, -1, 10, -1, 15, -1};
        tn_tensor *t = tn_from_f64(wide, TN_DIMS(6));
        if (!tn_set_grad(r->t, tnp_slice(t, 0, 0, INT64_MAX, 2))) wrong("set_grad", 0, 1);
        r->has_grad = true, r->grad = 5;
    } else if (r->has_grad) { /* zeroed in place */
        tnp_zero_(tn_grad_of(r->t));
        r->grad = 0;
    }
}

static void make(void) {
    for (m.n = 0; m.n < LEAVES; m.n++) m.item[m.n].t = tn_requires_grad(thrice(m.n + 1));
    int most = LEAVES + 3 + below(TENSORS - LEAVES - 3);
    for (; m.n < most; m.n++) {
        item *r = &m.item[m.n];
        r->a = below(m.n), r->b = below(m.n), r->alpha = below(3) - 1.0;
        if (r->alpha == 0) r->alpha = 2;
        r->t = tnp_add(m.item[r->a].t, m.item[r->b].t, r->alpha);
        r->retains = below(3) == 0;
        if (r->retains && !tn_retain_grad(r->t)) wrong("retain_grad", 0, 1);
    }
}

static bool program(uint64_t seed) {
    int64_t before = tn_memory().live_tensors, mark = tn_scope_begin();
    memset(&m, 0, sizeof m);
    m.random = seed;
    make();
    for (int round = 0; round < ROUNDS && !m.wrong; round++) {
        for (int i = below(6); i > 0; i--) step_hook();
        if (below(3) == 0) step_remove();
        if (below(2)) step_grad();
        if (!step_backward()) break;
    }
    for (int k = 0; k < m.nkept; k++) tn_release(m.kept[k].t);
    for (int i = 0; i < m.n; i++) tn_release(m.item[i].same);
    tn_scope_end(mark);
    for (int k = 0; k < m.nhooks; k++)
        if (m.hook[k].released != 1) wrong("releases at the end", m.hook[k].released, 1);
    if (tn_memory().live_tensors != before)
        wrong("tensors are left", (double)tn_memory().live_tensors, (double)before);
    if (m.wrong) printf("seed %llu\n", (unsigned long long)seed);
    return !m.wrong;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 1000, passed = 0, failed = 0;
    for (int i = 0; i < count && failed < 5; i++)
        if (program(first + (uint64_t)i))
            passed++;
        else
            failed++;
    printf("hooks: %d programs\n%d passed, %d failed\n", passed + failed, passed, failed);
    return failed != 0;
}
