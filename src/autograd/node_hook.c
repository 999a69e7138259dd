/* node_hook.c - hooks of recorded calls run: they see all gradients of a call at once, before it
 * makes those of its inputs, and after. Removing them is in hook.c. */
#include "engine.h"
#include "../api/ops/creation.h"

/* What a hook sees and may change: n gradients, and those that came, for a hook after the call. */
typedef struct node_seen {
    tn_tensor **grads;
    int n;
    tn_tensor *const *came;
    int ncame;
} node_seen;

/* The gradient of result k that waits in n. */
static tn_tensor **node_pending(tni_node *n, int k) {
    return (tn_tensor **)(void *)&n->slot[n->nin + k].edge;
}

/* Takes `now` in place of gradient i: of results each is counted and stays, of inputs none is. */
static bool node_replace(tni_block *b, const tni_watch *w, const node_seen *s, int i,
                         tn_tensor *now) {
    tn_tensor *old = s->grads[i];
    if (now == old) return true;
    if (!old)
        return tni_error(b, TN_AUTOGRAD, "a hook gave a gradient where there is none, number %d",
                         i);
    if (!now && !w->after) now = tnp_zeros(tni_sizes(old), (tn_dtype)old->dtype, old->device);
    if (now ? !tni_hook_fits(b, now, old) : !w->after) return false;
    if (!w->after) {
        tni_retain(now);
        tni_release(b, old);
    }
    s->grads[i] = now;
    return true;
}

/* Runs hook *at of n, and goes on to the next one in *at. */
static bool node_hook(tni_block *b, tni_node *n, tni_watch **at, const node_seen *s) {
    const int64_t bytes = (int64_t)sizeof(tn_tensor *) * (s->n ? s->n : 1);
    tn_tensor **now = (tn_tensor **)tni_need(b, bytes);
    tni_watch *w = *at;
    bool ok;
    tn_guard g;
    if (!now) return false;
    if (s->n) memcpy(now, s->grads, sizeof *now * (size_t)s->n);
    g = tn_guard_begin();
    tni_fetch_add(&w->running, 1u);
    ok = w->all(now, s->n, s->came, s->ncame, w->user);
    tn_guard_end(&g, now, ok && !b->failed ? s->n : 0);
    if (!ok && !b->failed) tni_error(b, TN_INVALID, "a hook failed without setting an error");
    for (int i = 0; !b->failed && i < s->n; i++) node_replace(b, w, s, i, now[i]);
    tni_put(b, b, now, bytes);
    tni_watch_ran(b, n->owner, &n->watch, at);
    return !b->failed;
}

/* Whether w runs now: those added since this backward began wait for the next one. */
static bool node_runs(const tni_engine *e, const tni_watch *w, bool after) {
    return w->all && !w->removed && w->after == after && w->number <= e->last_hook;
}
static bool node_waits(const tni_engine *e, const tni_node *n, bool after) {
    const tni_watch *w = n->watch;
    while (w && !node_runs(e, w, after)) w = w->next;
    return w != NULL;
}
static bool node_hooks(tni_engine *e, tni_node *n, bool after, const node_seen *s) {
    for (tni_watch *w = n->watch; w;) {
        if (!node_runs(e, w, after)) {
            w = w->next;
            continue;
        }
        tni_engine_hold(e);
        if (!node_hook(e->b, n, &w, s)) return false;
    }
    return true;
}

/* The gradients that wait, side by side as hooks see them: an array of nout, to be put back. */
static tn_tensor **node_came(tni_block *b, tni_node *n, int64_t *bytes) {
    tn_tensor **came;
    *bytes = (int64_t)sizeof *came * (n->nout ? n->nout : 1);
    if (!(came = (tn_tensor **)tni_need(b, *bytes))) return NULL;
    for (int k = 0; k < n->nout; k++) came[k] = *node_pending(n, k);
    return came;
}

static bool node_before(tni_engine *e, tni_node *n) {
    int64_t bytes;
    tn_tensor **came;
    bool ok;
    if (!(came = node_came(e->b, n, &bytes))) return false;
    const node_seen s = {came, n->nout, NULL, 0};
    ok = node_hooks(e, n, false, &s);
    /* Each has the count of the one that it replaced. */
    for (int k = 0; k < n->nout; k++) *node_pending(n, k) = came[k];
    tni_put(e->b, e->b, came, bytes);
    return ok;
}

static bool node_after(tni_engine *e, tni_node *n, tn_gradient *g) {
    int64_t bytes;
    tn_tensor **came;
    bool ok;
    if (!(came = node_came(e->b, n, &bytes))) return false;
    const node_seen s = {g->give, g->nin, came, n->nout};
    ok = node_hooks(e, n, true, &s);
    tni_put(e->b, e->b, came, bytes);
    return ok;
}

static bool node_run(void *engine, tni_node *n, tn_gradient *g) {
    tni_engine *e = (tni_engine *)engine;
    if (!node_waits(e, n, g != NULL)) return true;
    return g ? node_after(e, n, g) : node_before(e, n);
}

TN_API int64_t tn_history_hook_add(tn_history *h, bool after, tn_history_hook hook, void *user,
                                   void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_watch *w, **at;
    if (!b) return 0;
    if (!h || !hook || h->owner->context != b->context) {
        tni_error(b, TN_INVALID, "tn_history_hook_add: expected a call of this context and a hook");
        return 0;
    }
    if (!(w = (tni_watch *)tni_need(b, (int64_t)sizeof *w))) return 0;
    memset(w, 0, sizeof *w);
    w->all = hook;
    w->run = node_run;
    w->after = after;
    for (at = &h->watch; *at; at = &(*at)->next) {}
    *at = w;
    return tni_watch_number(b, w, user, release);
}
