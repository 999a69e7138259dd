/* leaf.c - leaves, grad modes, .grad, hooks, and the public entries of backward. */
#include "autograd.h"

static bool leaf_enter(tni_block *b, const char *file, int line) {
    if (!b || b->failed) return false;
    if (!b->frame && !b->place_hold) b->place_file = file, b->place_line = line;
    return true;
}

static bool leaf_done(tni_block *b, bool ok) {
    if (!ok && !b->frame && !b->place_hold) tni_error_tell(b);
    return ok;
}

TN_API tn_tensor *tn_requires_grad_at(const char *file, int line, tn_tensor *t,
                                      bool requires_grad) {
    tni_block *b = tni_here();
    bool ok = true;
    if (!leaf_enter(b, file, line)) return NULL;
    if (!t)
        ok = tni_error(b, TN_INVALID, "tn_requires_grad: the tensor is NULL");
    else if (t->node)
        ok = tni_error(b, TN_AUTOGRAD,
                       "tn_requires_grad: only leaves can change; detach this result of %s first",
                       t->node->row->name);
    else if (requires_grad && tni_dtype(t->dtype)->category < TNI_CAT_FLOAT)
        ok = tni_error(b, TN_TYPE,
                       "tn_requires_grad: only floating and complex tensors have gradients, not %s",
                       tni_dtype(t->dtype)->text);
    else if (requires_grad)
        t->flags |= TNI_REQUIRES | TNI_LEAF;
    else
        t->flags &= (uint16_t) ~(TNI_REQUIRES | TNI_LEAF);
    return leaf_done(b, ok) ? t : NULL;
}

/* A view learns at its next use that its base has got a history since. */
TN_API bool tn_needs_grad(const tn_tensor *t) {
    return t && ((t->flags | (t->flags & TNI_VIEW ? t->base->flags : 0)) & TNI_REQUIRES) != 0;
}
TN_API bool tn_is_leaf(const tn_tensor *t) {
    return t && !t->node && !(t->flags & TNI_VIEW && t->base->node);
}
TN_API const char *tn_grad_fn(const tn_tensor *t) {
    return t && t->node ? t->node->row->name : NULL;
}
TN_API tn_tensor *tn_grad_of(const tn_tensor *t) { return t ? t->grad : NULL; }

TN_API bool tn_set_grad(tn_tensor *t, tn_tensor *grad) {
    tni_block *b = tni_here();
    tn_tensor *old;
    if (!b) return false;
    if (!t) return tni_error(b, TN_INVALID, "tn_set_grad: the tensor is NULL");
    if (grad && (!tni_same_shape(t, grad) || t->dtype != grad->dtype))
        return tni_error(b, TN_INVALID,
                         "tn_set_grad: the gradient's shape or dtype differs from the tensor's");
    tni_retain(grad);
    old = t->grad;
    t->grad = grad;
    if (old) tni_release(b, old);
    return true;
}

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
    bool before = b && !b->no_grad;
    if (b) b->no_grad = !enabled;
    return before;
}
TN_API bool tn_grad_mode(void) {
    tni_block *b = tni_here();
    return b && !b->no_grad;
}
TN_API bool tn_set_inference_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && b->inference;
    if (b) b->inference = enabled, b->no_grad = enabled;
    return before;
}
TN_API bool tn_set_anomaly_mode(bool enabled) {
    tni_block *b = tni_here();
    bool before = b && b->context->anomaly;
    if (b) b->context->anomaly = enabled;
    return before;
}

/* --- backward --------------------------------------------------------------------------------- */

TN_API bool tn_backward_at(const char *file, int line, const tn_backward_args *a) {
    tni_block *b = tni_here();
    tni_wanted w;
    bool ok = true;
    if (!leaf_enter(b, file, line)) return false;
    w.inputs = a->inputs;
    w.grads = NULL;
    w.allow_unused = w.into_grad = true;
    for (int64_t i = 0; ok && i < a->inputs.n; i++)
        if (!a->inputs.at[i] || a->inputs.at[i]->node)
            ok = tni_error(b, TN_AUTOGRAD, "backward: input %lld is not a leaf", (long long)i);
    ok = ok && tni_engine_run(b, tn_tensors_of(&a->t, 1), &a->gradient, a->retain_graph,
                              a->create_graph, a->inputs.n > 0 ? &w : NULL);
    if (!ok && !b->error_told) {
        b->error_told = true;
        tni_error_more(b, "\n  in backward");
    }
    return leaf_done(b, ok);
}

TN_API bool tn_grads_at(const char *file, int line, tn_tensors outputs, tn_tensors inputs,
                        tn_tensor **grads, const tn_grads_options *options) {
    static const tn_grads_options plain = {NULL, false, false, false};
    const tn_grads_options *o = options ? options : &plain;
    tni_block *b = tni_here();
    tni_wanted w;
    bool ok;
    if (!leaf_enter(b, file, line)) return false;
    for (int64_t i = 0; i < inputs.n; i++) grads[i] = NULL;
    w.inputs = inputs;
    w.grads = grads;
    w.allow_unused = o->allow_unused;
    w.into_grad = false;
    ok = tni_engine_run(b, outputs, o->seeds, o->retain_graph, o->create_graph, &w);
    return leaf_done(b, ok);
}

/* --- hooks ------------------------------------------------------------------------------------ */

static tni_watch *leaf_watch(tni_block *b, tn_tensor *t) {
    tni_watch *w = (tni_watch *)tni_need(b, (int64_t)sizeof *w), **at;
    if (!w) return NULL;
    memset(w, 0, sizeof *w);
    w->out = t->node_out;
    for (at = &t->node->watch; *at; at = &(*at)->next) {}
    *at = w;
    return w;
}

TN_API int64_t tn_hook_add(tn_tensor *t, tn_hook hook, void *user, void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_hook_entry *h, **at;
    tni_extra *extra;
    if (!b || b->failed) return 0;
    if (!t || !hook || !(t->flags & TNI_REQUIRES)) {
        tni_error(b, TN_AUTOGRAD, "tn_hook_add: a hook and a tensor that requires grad are needed");
        return 0;
    }
    if (!(extra = tni_extra_of(b, t))) return 0;
    if (t->node) {
        tni_watch *w = leaf_watch(b, t);
        if (!w) return 0;
        h = &w->hook;
    } else {
        if (!(h = (tni_hook_entry *)tni_need(b, (int64_t)sizeof *h))) return 0;
        for (at = &extra->hooks; *at; at = &(*at)->next) {}
        *at = h;
    }
    h->call = hook;
    h->user = user;
    h->release = release;
    h->next = NULL;
    return h->number = ++extra->hook_count;
}

TN_API bool tn_hook_remove(tn_tensor *t, int64_t number) {
    tni_block *b = tni_here();
    if (!b || !t || !t->extra) return false;
    for (tni_hook_entry **at = &t->extra->hooks; *at; at = &(*at)->next) {
        tni_hook_entry *h = *at;
        if (h->number != number) continue;
        *at = h->next;
        if (h->release) h->release(h->user);
        tni_put(b, t->owner, h, (int64_t)sizeof *h);
        return true;
    }
    for (tni_watch **at = t->node ? &t->node->watch : NULL; at && *at; at = &(*at)->next) {
        tni_watch *w = *at;
        if (w->retain || w->hook.number != number || w->out != t->node_out) continue;
        *at = w->next;
        if (w->hook.release) w->hook.release(w->hook.user);
        tni_put(b, t->node->owner, w, (int64_t)sizeof *w);
        return true;
    }
    return false;
}

TN_API bool tn_retain_grad(tn_tensor *t) {
    tni_block *b = tni_here();
    tni_watch *w;
    if (!b || b->failed) return false;
    if (!t || !(t->flags & TNI_REQUIRES))
        return tni_error(b, TN_AUTOGRAD, "tn_retain_grad: the tensor does not require grad");
    if (!t->node || t->flags & TNI_RETAIN) return true;
    if (!tni_extra_of(b, t) || !(w = leaf_watch(b, t))) return false;
    w->retain = t;
    t->flags |= TNI_RETAIN;
    return true;
}

/* A dying tensor takes its wish to retain a gradient out of its node. */
TN_PRIV void tni_watch_forget(tni_block *b, tn_tensor *t) {
    for (tni_watch **at = t->node ? &t->node->watch : NULL; at && *at;) {
        tni_watch *w = *at;
        if (w->retain != t) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        tni_put(b, t->node->owner, w, (int64_t)sizeof *w);
    }
}

TN_PRIV void tni_watch_free(tni_block *b, tni_node *n) {
    while (n->watch) {
        tni_watch *w = n->watch;
        n->watch = w->next;
        if (w->retain) w->retain->flags &= (uint16_t)~TNI_RETAIN;
        if (w->hook.release) w->hook.release(w->hook.user);
        tni_put(b, n->owner, w, (int64_t)sizeof *w);
    }
}
