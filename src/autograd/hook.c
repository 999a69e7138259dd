/* hook.c - who waits for a gradient: hooks, and tensors that retain theirs. A leaf has its list
 * among its extras, the outputs of a call theirs in the node. */
#include "autograd.h"

/* A new watch at the end of the list of t's node, or of t's own as a leaf; NULL with MEMORY set. */
static tni_watch *hook_watch(tni_block *b, tn_tensor *t) {
    tni_watch *w = (tni_watch *)tni_need(b, (int64_t)sizeof *w), **at;
    tni_extra *extra = w ? tni_extra_of(b, t) : NULL;
    if (!extra) {
        tni_put(b, b, w, (int64_t)sizeof *w);
        return (tni_watch *)NULL;
    }
    memset(w, 0, sizeof *w);
    /* At the end, so hooks run in the order in which they were added. */
    w->out = t->node_out;
    for (at = t->node ? &t->node->watch : &extra->hooks; *at; at = &(*at)->next) {}
    extra->forget = tni_watch_forget;
    *at = w;
    return w;
}

static tni_watch *hook_add(tni_block *b, tn_tensor *t, tn_hook hook, const char *caller) {
    /* A stale view gets its history first: the hook stands in the list of its node. */
    if (t && !tni_belongs(b, t, caller)) return NULL;
    if (t && tni_view_is_stale(t) && !tni_view_refresh(b, t)) return NULL;
    if (t && t->flags & TNI_BATCHED) {
        tni_error(b, TN_UNSUPPORTED, "%s: the tensor is a sample of a batch", caller);
        return NULL;
    }
    if (!t || !hook || !(t->flags & TNI_REQUIRES)) {
        tni_error(b, TN_AUTOGRAD, "%s: expected a hook and a tensor that requires grad", caller);
        return NULL;
    }
    return hook_watch(b, t);
}

/* Numbers rise, so the engine can tell hooks that were added during its backward. */
TN_PRIV int64_t tni_watch_number(tni_block *b, tni_watch *w, void *user,
                                 void (*release)(void *user)) {
    w->user = user;
    w->release = release;
    return w->number =
               (int64_t)tni_fetch_add_relaxed(&tni_library(b->context)->hooks, (uint64_t)1) + 1;
}

TN_API int64_t tn_hook_add_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                              void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_watch *w;
    if (!tni_enter(b, file, line)) return 0;
    if (!(w = hook_add(b, t, hook, "tn_hook_add"))) {
        tni_leave(b, false);
        return 0;
    }
    w->call = hook;
    return tni_watch_number(b, w, user, release);
}
TN_API int64_t tn_hook_after_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                                void (*release)(void *user)) {
    tni_block *b = tni_here();
    tni_watch *w = NULL;
    if (!tni_enter(b, file, line)) return 0;
    /* Hooks that run when .grad is there: only a leaf has one for sure. */
    if (t && t->node)
        tni_error(b, TN_AUTOGRAD, "tn_hook_after: the tensor is not a leaf");
    else
        w = hook_add(b, t, hook, "tn_hook_after");
    if (!w) {
        tni_leave(b, false);
        return 0;
    }
    w->after = true;
    w->call = hook;
    return tni_watch_number(b, w, user, release);
}
TN_API int64_t tnp_hook_add(tn_tensor *t, tn_hook hook, void *user, void (*release)(void *user)) {
    return tn_hook_add_at(NULL, 0, t, hook, user, release);
}

/* A hook that runs is only marked; tni_watch_ran takes it out when it ends. */
static bool hook_remove(tni_block *b, tni_block *owner, tni_watch **at, int64_t number) {
    for (; *at; at = &(*at)->next) {
        tni_watch *w = *at;
        if (w->retain || w->removed || w->number != number) continue;
        w->removed = true;
        if (!tni_load(&w->running)) tni_watch_end(b, owner, at);
        return true;
    }
    return false;
}

TN_API bool tn_hook_remove(tn_tensor *t, int64_t number) {
    tni_block *b = tni_here();
    if (!b || !tni_there(t, "tn_hook_remove") || !tni_extra_there(t)) return false;
    return hook_remove(b, t->owner, &tni_extra_there(t)->hooks, number) ||
           (t->node && hook_remove(b, t->node->owner, &t->node->watch, number));
}

TN_API bool tn_history_hook_remove(tn_history *h, int64_t number) {
    tni_block *b = tni_here();
    return b && h && hook_remove(b, h->owner, &h->watch, number);
}

TN_PRIV void tni_watch_ran(tni_block *b, tni_block *owner, tni_watch **list, tni_watch **at) {
    tni_watch *w = *at;
    /* The hook may have added or removed others: next is read now, behind it. */
    *at = w->next;
    if (tni_fetch_add(&w->running, (uint32_t)-1) == 1 && w->removed) {
        while (*list != w) list = &(*list)->next;
        tni_watch_end(b, owner, list);
    }
}

TN_PRIV bool tni_hook_fits(tni_block *b, const tn_tensor *now, const tn_tensor *grad) {
    if (!tni_belongs(b, now, "a hook") || !tni_grad_layout(b, now, "a hook")) return false;
    if (!tni_same_shape(now, grad))
        return tni_error(b, TN_AUTOGRAD, "a hook returned a gradient of a different shape");
    return tn_dtype_of(now) == tn_dtype_of(grad) ||
           tni_error(b, TN_AUTOGRAD, "a hook returned a gradient of dtype %s, expected %s",
                     tn_dtype_name(tn_dtype_of(now)), tn_dtype_name(tn_dtype_of(grad)));
}

TN_PRIV bool tni_watch_call(tni_block *b, tni_block *owner, tni_watch **list, tni_watch **at,
                            tn_tensor **grad) {
    tni_watch *w = *at;
    /* The guard keeps scopes and modes as they are, whatever the hook does. */
    tn_guard g = tn_guard_begin();
    tn_tensor *now;
    bool after = w->after; /* what it returns is not read */
    tni_fetch_add(&w->running, 1u);
    now = w->call(*grad, w->user);
    tn_guard_end(&g, &now, b->failed || after ? 0 : 1);
    tni_watch_ran(b, owner, list, at);
    if (b->failed) return false;
    /* What it returned takes the gradient's place if it has the same shape and dtype. */
    if (!now || now == *grad || after) return true;
    if (!tni_hook_fits(b, now, *grad)) return false;
    /* The hook's tensor is counted as the gradient it replaces was. */
    tni_retain(now);
    tni_release(b, *grad);
    *grad = now;
    return true;
}

static bool hook_retain(tni_block *b, tn_tensor *t) {
    tni_watch *w;
    if (t && !tni_belongs(b, t, "tn_retain_grad")) return false;
    if (t && tni_view_is_stale(t) && !tni_view_refresh(b, t)) return false;
    if (t && t->flags & TNI_BATCHED)
        return tni_error(b, TN_UNSUPPORTED, "tn_retain_grad: the tensor is a sample of a batch");
    if (!t || !(t->flags & TNI_REQUIRES))
        return tni_error(b, TN_AUTOGRAD, "tn_retain_grad: the tensor does not require grad");
    /* A leaf has .grad anyway. */
    if (!t->node || t->flags & TNI_RETAIN) return true;
    if (!(w = hook_watch(b, t))) return false;
    w->retain = t;
    t->flags |= TNI_RETAIN;
    return true;
}

TN_API bool tn_retain_grad_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) && tni_leave(b, hook_retain(b, t));
}
TN_API bool tnp_retain_grad(tn_tensor *t) { return tn_retain_grad_at(NULL, 0, t); }
TN_API bool tn_retains_grad(const tn_tensor *t) {
    return tni_there(t, "tn_retains_grad") && t->flags & TNI_RETAIN;
}
