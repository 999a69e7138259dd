/* leaf.c - leaves, grad modes, .grad, hooks, and the public entries of backward. */
#include "autograd.h"

TN_API tn_tensor *tn_requires_grad_at(const char *file, int line, tn_tensor *t,
                                      bool requires_grad) {
    tni_block *b = tni_here();
    bool ok = true;
    if (!tni_enter(b, file, line)) return NULL;
    if (!t)
        ok = tni_error(b, TN_INVALID, "tn_requires_grad: the tensor is NULL");
    else if (!tni_belongs(b, t, "tn_requires_grad"))
        ok = false;
    else if (t->node)
        ok = tni_error(b, TN_AUTOGRAD,
                       "tn_requires_grad: only leaves can change; detach this result of %s first",
                       t->node->row->name);
    else if (requires_grad && t->flags & TNI_INFERENCE && !b->inference)
        ok = tni_error(b, TN_AUTOGRAD,
                       "tn_requires_grad: the tensor was made in inference mode; clone it first");
    else if (requires_grad && tni_dtype(t->dtype)->category < TNI_CAT_FLOAT)
        ok = tni_error(b, TN_TYPE,
                       "tn_requires_grad: only floating and complex tensors have gradients, not %s",
                       tni_dtype(t->dtype)->text);
    else if (requires_grad)
        t->flags |= TNI_REQUIRES | TNI_LEAF;
    else
        t->flags &= (uint16_t) ~(TNI_REQUIRES | TNI_LEAF);
    return tni_leave(b, ok) ? t : NULL;
}

/* A view learns at its next use that its base has got a history since. */
TN_API bool tn_needs_grad(const tn_tensor *t) {
    return t && (t->flags & TNI_REQUIRES || tni_view_is_stale(t));
}
TN_API bool tn_is_leaf(const tn_tensor *t) {
    return t && !t->node && !(t->flags & TNI_VIEW && t->base->node);
}
TN_API const char *tn_grad_fn(const tn_tensor *t) {
    return t && t->node ? t->node->row->name : NULL;
}
TN_API bool tn_is_inference(const tn_tensor *t) { return t && t->flags & TNI_INFERENCE; }
TN_API tn_tensor *tn_grad_of(const tn_tensor *t) { return t ? t->grad : NULL; }

static bool leaf_set_grad(tni_block *b, tn_tensor *t, tn_tensor *grad) {
    tn_tensor *old;
    if (!t) return tni_error(b, TN_INVALID, "tn_set_grad: the tensor is NULL");
    if (!tni_belongs(b, t, "tn_set_grad") || (grad && !tni_belongs(b, grad, "tn_set_grad")))
        return false;
    if (grad && (!tni_same_shape(t, grad) || t->dtype != grad->dtype))
        return tni_error(b, TN_INVALID,
                         "tn_set_grad: the gradient's shape or dtype differs from the tensor's");
    tni_retain(grad);
    old = t->grad;
    t->grad = grad;
    tni_release(b, old);
    return true;
}

TN_API bool tn_set_grad_at(const char *file, int line, tn_tensor *t, tn_tensor *grad) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) && tni_leave(b, leaf_set_grad(b, t, grad));
}
TN_API bool tnp_set_grad(tn_tensor *t, tn_tensor *grad) { return tn_set_grad_at(NULL, 0, t, grad); }

TN_API void tn_zero_grad(tn_tensor *t) {
    tni_block *b = t && t->grad ? tni_here() : NULL;
    tn_tensor *old;
    if (!b) return;
    old = t->grad;
    t->grad = NULL;
    tni_release(b, old);
}

TN_API bool tn_set_grad_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && !(b->no_grad & TNI_NO_GRAD);
    if (b)
        b->no_grad = (uint8_t)((b->no_grad & TNI_NO_GRAD_INFERENCE) | (enabled ? 0 : TNI_NO_GRAD));
    return before;
}
TN_API bool tn_grad_mode(void) {
    tni_block *b = tni_here();
    return b && !b->no_grad;
}
TN_API bool tn_set_inference_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && b->inference;
    if (!b) return false;
    b->inference = enabled ? TNI_INFERENCE : 0;
    b->no_grad = (uint8_t)((b->no_grad & TNI_NO_GRAD) | (enabled ? TNI_NO_GRAD_INFERENCE : 0));
    return before;
}
TN_API bool tn_set_anomaly_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && b->context->anomaly;
    if (b) b->context->anomaly = enabled;
    return before;
}

TN_PRIV bool tni_list_given(tni_block *b, tn_tensors l, const char *what) {
    if (l.n >= 0 && (l.at || !l.n)) return true;
    return tni_error(b, TN_INVALID, "%s: no list of tensors", what);
}

/* --- backward --------------------------------------------------------------------------------- */

TN_API bool tn_backward_at(const char *file, int line, const tn_backward_args *a) {
    return tn_backward_all_at(file, line, tn_tensors_of(&a->t, 1), &a->gradient, a);
}

TN_API bool tn_backward_all_at(const char *file, int line, tn_tensors outputs,
                               tn_tensor *const *seeds, const tn_backward_args *options) {
    static const tn_backward_args plain = {NULL, {NULL, 0}, false, false, NULL};
    const tn_backward_args *a = options ? options : &plain;
    tni_block *b = tni_here();
    tni_wanted w = {a->inputs, NULL, true, true};
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    ok = tni_list_given(b, outputs, "backward") && tni_list_given(b, a->inputs, "inputs");
    for (int64_t i = 0; ok && i < a->inputs.n; i++)
        if (!a->inputs.at[i] || a->inputs.at[i]->node)
            ok = tni_error(b, TN_AUTOGRAD, "backward: input %lld is not a leaf", (long long)i);
    ok = ok && tni_engine_run(b, outputs, seeds, a->retain_graph, a->create_graph,
                              a->inputs.n > 0 ? &w : NULL);
    if (!ok && !b->error_told) {
        b->error_told = true;
        tni_error_more(b, "\n  in backward");
    }
    return tni_leave(b, ok);
}

TN_API bool tn_grads_at(const char *file, int line, tn_tensors outputs, tn_tensors inputs,
                        tn_tensor **grads, const tn_grads_options *options) {
    static const tn_grads_options plain = {NULL, false, false, false};
    const tn_grads_options *o = options ? options : &plain;
    tni_block *b = tni_here();
    tni_wanted w = {inputs, grads, o->allow_unused, false};
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    for (int64_t i = 0; i < inputs.n; i++) grads[i] = NULL;
    ok = tni_list_given(b, outputs, "outputs") && tni_list_given(b, inputs, "inputs") &&
         tni_engine_run(b, outputs, o->seeds, o->retain_graph, o->create_graph, &w);
    return tni_leave(b, ok);
}

/* --- hooks and retained gradients ------------------------------------------------------------- */

/* A new watch at the end of the list of t's node, or of t's own as a leaf; NULL with MEMORY set. */
static tni_watch *leaf_watch(tni_block *b, tn_tensor *t) {
    tni_watch *w = (tni_watch *)tni_need(b, (int64_t)sizeof *w), **at;
    tni_extra *extra = w ? tni_extra_of(b, t) : NULL;
    if (!extra) return tni_put(b, b, w, (int64_t)sizeof *w), (tni_watch *)NULL;
    memset(w, 0, sizeof *w);
    w->out = t->node_out;
    for (at = t->node ? &t->node->watch : &extra->hooks; *at; at = &(*at)->next) {}
    *at = w;
    return w;
}

/* The watch at `at` goes. */
static void leaf_unwatch(tni_block *b, tni_block *owner, tni_watch **at) {
    tni_watch *w = *at;
    *at = w->next;
    if (w->retain) w->retain->flags &= (uint16_t)~TNI_RETAIN;
    if (w->release) w->release(w->user);
    tni_put(b, owner, w, (int64_t)sizeof *w);
}

static tni_watch *leaf_hook_add(tni_block *b, tn_tensor *t, tn_hook hook, const char *caller) {
    if (t && !tni_belongs(b, t, caller)) return NULL;
    if (t && tni_view_is_stale(t) && !tni_view_refresh(b, t)) return NULL;
    if (!t || !hook || !(t->flags & TNI_REQUIRES)) {
        tni_error(b, TN_AUTOGRAD, "%s: a hook and a tensor that requires grad are needed", caller);
        return NULL;
    }
    return leaf_watch(b, t);
}

TN_API int64_t tn_hook_add_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                              void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_watch *w;
    if (!tni_enter(b, file, line)) return 0;
    if (!(w = leaf_hook_add(b, t, hook, "tn_hook_add"))) return tni_leave(b, false), 0;
    w->call = hook;
    w->user = user;
    w->release = release;
    return w->number = (int64_t)tni_fetch_add_relaxed(&b->context->hooks, (uint64_t)1) + 1;
}
TN_API int64_t tn_hook_after_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                                void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_watch *w = NULL;
    if (!tni_enter(b, file, line)) return 0;
    if (t && t->node)
        tni_error(b, TN_AUTOGRAD, "tn_hook_after: the tensor is no leaf");
    else
        w = leaf_hook_add(b, t, hook, "tn_hook_after");
    if (!w) return tni_leave(b, false), 0;
    w->after = true;
    w->call = hook;
    w->user = user;
    w->release = release;
    return w->number = (int64_t)tni_fetch_add_relaxed(&b->context->hooks, (uint64_t)1) + 1;
}
TN_API int64_t tnp_hook_add(tn_tensor *t, tn_hook hook, void *user, void (*release)(void *user)) {
    return tn_hook_add_at(NULL, 0, t, hook, user, release);
}

static bool leaf_hook_remove(tni_block *b, tni_block *owner, tni_watch **at, int64_t number) {
    for (; *at; at = &(*at)->next) {
        tni_watch *w = *at;
        if (w->retain || w->removed || w->number != number) continue;
        w->removed = true;
        if (!tni_load(&w->running)) leaf_unwatch(b, owner, at);
        return true;
    }
    return false;
}

TN_API bool tn_hook_remove(tn_tensor *t, int64_t number) {
    tni_block *b = tni_here();
    if (!b || !t || !tni_extra_there(t)) return false;
    return leaf_hook_remove(b, t->owner, &tni_extra_there(t)->hooks, number) ||
           (t->node && leaf_hook_remove(b, t->node->owner, &t->node->watch, number));
}

TN_PRIV bool tni_watch_call(tni_block *b, tni_block *owner, tni_watch **list, tni_watch **at,
                            tn_tensor **grad) {
    tni_watch *w = *at;
    tn_guard g = tn_guard_begin();
    tn_tensor *now;
    bool after = w->after; /* what it returns is not read */
    tni_fetch_add(&w->running, 1u);
    now = w->call(*grad, w->user);
    tn_guard_end(&g, &now, b->failed || after ? 0 : 1);
    *at = w->next;
    if (tni_fetch_add(&w->running, (uint32_t)-1) == 1 && w->removed) {
        while (*list != w) list = &(*list)->next;
        leaf_unwatch(b, owner, list);
    }
    if (b->failed) return false;
    if (!now || now == *grad || after) return true;
    if (!tni_belongs(b, now, "a hook")) return false;
    if (!tni_same_shape(now, *grad))
        return tni_error(b, TN_AUTOGRAD, "a hook returned a gradient of another shape");
    if (tn_dtype_of(now) != tn_dtype_of(*grad))
        return tni_error(b, TN_AUTOGRAD, "a hook returned a gradient of another dtype: %s, not %s",
                         tn_dtype_name(tn_dtype_of(now)), tn_dtype_name(tn_dtype_of(*grad)));
    tni_retain(now);
    tni_release(b, *grad);
    *grad = now;
    return true;
}

static bool leaf_retain(tni_block *b, tn_tensor *t) {
    tni_watch *w;
    if (t && !tni_belongs(b, t, "tn_retain_grad")) return false;
    if (t && tni_view_is_stale(t) && !tni_view_refresh(b, t)) return false;
    if (!t || !(t->flags & TNI_REQUIRES))
        return tni_error(b, TN_AUTOGRAD, "tn_retain_grad: the tensor does not require grad");
    if (!t->node || t->flags & TNI_RETAIN) return true;
    if (!(w = leaf_watch(b, t))) return false;
    w->retain = t;
    t->flags |= TNI_RETAIN;
    return true;
}

TN_API bool tn_retain_grad_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) && tni_leave(b, leaf_retain(b, t));
}
TN_API bool tnp_retain_grad(tn_tensor *t) { return tn_retain_grad_at(NULL, 0, t); }
TN_API bool tn_retains_grad(const tn_tensor *t) { return t && t->flags & TNI_RETAIN; }

/* Where the watch of t, which is marked TNI_RETAIN, stands: the mark says that there is one. */
static tni_watch **leaf_retainer(tni_node *n, const tn_tensor *t) {
    tni_watch **at = &n->watch;
    while ((*at)->retain != t) at = &(*at)->next;
    return at;
}

TN_PRIV void tni_watch_move(tni_node *old, tn_tensor *t) {
    tni_watch **at = leaf_retainer(old, t), *w = *at;
    *at = w->next;
    w->out = t->node_out;
    w->next = t->node->watch;
    t->node->watch = w;
}

TN_PRIV void tni_watch_forget(tni_block *b, tn_tensor *t) {
    tni_watch **hooks = &((tni_extra *)t->extra)->hooks;
    while (*hooks) leaf_unwatch(b, t->owner, hooks);
    if (t->flags & TNI_RETAIN) leaf_unwatch(b, t->node->owner, leaf_retainer(t->node, t));
}

TN_PRIV void tni_watch_free(tni_block *b, tni_node *n) {
    while (n->watch) leaf_unwatch(b, n->owner, &n->watch);
}

/* --- recorded calls from outside -------------------------------------------------------------- */

TN_API tn_history *tn_history_of(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b && !b->failed && tni_view_is_stale(t) && !tni_view_refresh(b, t)) tni_leave(b, false);
    return t ? t->node : NULL;
}
TN_API tn_history *tn_history_hold(tn_history *h) {
    if (h) tni_fetch_add_relaxed(&h->refs, 1u);
    return h;
}
TN_API void tn_history_drop(tn_history *h) {
    tni_block *b = h ? tni_here() : NULL;
    if (b) tni_node_drop(b, h);
}
TN_API bool tn_history_only(const tn_history *h, const tn_tensor *t) {
    return h && t && t->node == h && tni_load(&h->refs) == 1;
}
TN_API const char *tn_history_name(const tn_history *h) { return h ? h->row->name : NULL; }
TN_API int tn_history_output(const tn_tensor *t) { return t && t->node ? (int)t->node_out : 0; }

TN_API bool tn_history_input(const tn_history *h, int i, tn_history **call, int *result,
                             tn_tensor **leaf) {
    void *edge;
    *call = NULL;
    *leaf = NULL;
    *result = 0;
    if (!h || i < 0 || i >= h->nin) return false;
    edge = h->slot[i].edge;
    if (edge && tni_edge_is_leaf(edge)) *leaf = tni_edge_leaf(edge);
    if (edge && !*leaf) *call = (tn_history *)edge, *result = (int)h->slot[i].edge_out;
    return true;
}

/* Slots of one geometry share the words. */
static bool history_is_large(const tni_node *n, int64_t elements) {
    const int64_t *words = (const int64_t *)(const void *)n;
    uint32_t last = 0;
    for (int i = 0; i < n->nin + n->nout; i++) {
        const tni_slot *s = &n->slot[i];
        int64_t numel = 1;
        if (s->at == last || s->kind == TNI_SLOT_ABSENT || s->kind == TNI_SLOT_NUMBER) continue;
        last = s->at;
        for (int d = 0; d < s->ndim; d++)
            if (!tni_mul(numel, words[s->at + (uint32_t)d], &numel)) return true;
        if (numel > elements) return true;
    }
    return false;
}

TN_API bool tn_history_lasts(const tn_tensor *t, int64_t elements) {
    const tni_node *waiting[64];
    int n = 0, seen = 0;
    if (t && t->node) waiting[n++] = t->node;
    while (n) {
        const tni_node *h = waiting[--n];
        if (history_is_large(h, elements)) return true;
        for (int i = 0; i < h->nin; i++) {
            const void *edge = h->slot[i].edge;
            if (!edge || tni_edge_is_leaf(edge)) continue;
            if (++seen == 64) return true;
            waiting[n++] = (const tni_node *)edge;
        }
    }
    return false;
}

/* --- history that goes ------------------------------------------------------------------------ */

TN_API bool tn_forget_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    tni_node *old;
    if (!tni_enter(b, file, line)) return false;
    if (!t) return tni_leave(b, tni_error(b, TN_INVALID, "tn_forget: the tensor is NULL"));
    if (!tni_belongs(b, t, "tn_forget")) return tni_leave(b, false);
    if (t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES) {
        tni_error(b, TN_AUTOGRAD, "Can't detach views in-place. Use detach() instead.");
        return tni_leave(b, false);
    }
    old = t->node;
    if (old && t->flags & TNI_RETAIN) leaf_unwatch(b, old->owner, leaf_retainer(old, t));
    t->node = NULL;
    t->node_out = 0;
    t->flags &= (uint16_t) ~(TNI_REQUIRES | TNI_LEAF);
    if (old) tni_node_drop(b, old);
    return tni_leave(b, true);
}
