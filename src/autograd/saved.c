/* saved.c - hooks of what calls keep for their gradients: a recorded call that has ended hands each
 * tensor that it keeps to the innermost hooks of its thread. What a call keeps, by name. */
#include "autograd.h"

/* The slot gets what the hooks make of its tensor. They are the user's: what the slot has may be
 * freed or packed by them, n and the hooks are counted by the caller. */
static bool saved_slot(tni_block *b, tni_node *n, tni_slot *s, tni_saved_hooks *hooks) {
    const int64_t mark = tni_begin(b);
    void *const saved = s->saved;
    const uint8_t kind = s->kind;
    tn_tensor *t = mark < 0 ? NULL : tni_slot_saved(b, n, s);
    tni_packed *p = t ? tni_pack(b, hooks, t) : NULL;
    /* t has counted the storage until now, so an equal address is the same storage. */
    const bool same = s->saved == saved && s->kind == kind;
    tni_end(b, mark);
    if (!p) return false;
    if (!same) {
        tni_packed_drop(b, p);
        return tni_error(b, TN_AUTOGRAD,
                         "a pack hook has freed or packed what it was given by a call of %s",
                         n->row->name);
    }
    tni_storage_release(b, (tni_storage *)s->saved);
    s->saved = p;
    s->kind = TNI_SLOT_PACKED;
    n->packed = 1;
    return true;
}
static bool saved_node(tni_block *b, tni_node *n) {
    tni_saved_hooks *hooks = tni_calls(b)->saved;
    bool ok = true;
    tni_fetch_add_relaxed(&n->refs, 1u);
    tni_fetch_add_relaxed(&hooks->refs, 1u);
    for (int i = 0; ok && i < n->nin + n->nout; i++)
        if (n->slot[i].saved && n->slot[i].kind != TNI_SLOT_PACKED)
            ok = saved_slot(b, n, &n->slot[i], hooks);
    tni_saved_forget(b, hooks);
    tni_node_drop(b, n);
    return ok;
}

/* Behind a call that was recorded. Where a hook fails, its new results go. */
static bool saved_call(tni_call *c) {
    tn_frame *f = &c->f;
    tni_block *b = f->block;
    int n = f->row->gen->props & TN_PROP_RETURNS_LIST ? f->nout : f->row->gen->nresults;
    bool kept = false;
    n = n < f->nout ? n : f->nout;
    for (int k = 0; f->node && k < n; k++) kept = kept || (f->out[k] && f->out[k]->node == f->node);
    if (!kept || saved_node(b, f->node)) return true;
    for (int k = 0; k < n; k++)
        if (f->out[k] && (k >= f->ngiven || f->out[k] != f->given[k])) tni_drop(b, f->out[k]);
    if (c->holder) tni_drop(b, c->holder);
    return false;
}

/* The innermost hooks go, unless a tensor that they packed needs them. */
static void saved_pop(tni_block *b) {
    tni_saved_hooks *s = tni_calls(b)->saved;
    tni_calls(b)->saved = s->outer;
    tni_saved_forget(b, s);
}

/* What a thread that has ended left open. */
static void saved_close(tni_block *b) {
    while (tni_calls(b)->saved) saved_pop(b);
    tni_hook_set(b, TNI_HOOK_SAVED, false);
}

/* A copy of the hooks, counted once; where that fails, NULL and they are released. */
static tni_saved_hooks *saved_copy(tni_block *b, const tn_saved_hooks *hooks, const char *what) {
    tni_saved_hooks *s = NULL;
    if (!hooks || !hooks->pack || !hooks->unpack)
        tni_error(b, TN_INVALID, "%s: expected the functions pack and unpack", what);
    else
        s = (tni_saved_hooks *)tni_need(b, (int64_t)sizeof *s);
    if (!s) {
        if (hooks && hooks->release) hooks->release(hooks->user);
        return NULL;
    }
    s->h = *hooks;
    s->outer = NULL;
    s->owner = b;
    s->refs = 1;
    return s;
}

TN_API bool tn_saved_hooks_push_at(const char *file, int line, const tn_saved_hooks *hooks) {
    tni_block *b = tni_here();
    tni_saved_hooks *s;
    if (!tni_enter(b, file, line)) {
        if (hooks && hooks->release) hooks->release(hooks->user);
        return false;
    }
    if (!(s = saved_copy(b, hooks, "tn_saved_hooks_push"))) return tni_leave(b, false);
    s->outer = tni_calls(b)->saved;
    tni_calls(b)->saved = s;
    tni_calls(b)->pack = saved_call;
    tni_calls(b)->saved_close = saved_close;
    tni_hook_set(b, TNI_HOOK_SAVED, true);
    return true;
}

TN_API bool tn_saved_hooks_pop(void) {
    tni_block *b = tni_here();
    if (!b || !tni_calls(b)->saved) return false;
    saved_pop(b);
    tni_hook_set(b, TNI_HOOK_SAVED, tni_calls(b)->saved != NULL);
    return true;
}

/* --- what a call has kept --------------------------------------------------------------------- */

/* The slot that keeps the argument or result of that name; -1: none. */
static int saved_find(const tni_node *n, const char *name) {
    const tn_gen *gen = n->row->gen;
    if (n->function) return -1;
    for (int i = 0; i < gen->nfixed; i++)
        if (strcmp(tn_gen_tensor(gen, i)->name, name) == 0)
            return n->slot[i].kind == TNI_SLOT_SAVED || n->slot[i].kind == TNI_SLOT_PACKED ? i : -1;
    for (int k = 0; k < gen->nresults && k < n->nout; k++) {
        const tni_slot *s = &n->slot[n->nin + k];
        const char *own = gen->nresults == 1 ? "result" : gen->result_names[k];
        if (own && strcmp(own, name) == 0)
            return s->kind == TNI_SLOT_OUT || s->kind == TNI_SLOT_PACKED ? n->nin + k : -1;
    }
    return -1;
}
static bool saved_there(tni_block *b, const tni_node *n, int i) {
    return n->slot[i].saved ||
           tni_error(b, TN_AUTOGRAD, "saved tensors of %s are read after they were freed",
                     n->row->name);
}

TN_API bool tn_history_keeps(const tn_history *h, const char *name) {
    return h && name && saved_find(h, name) >= 0;
}
TN_API tn_tensor *tn_history_saved(tn_history *h, const char *name) {
    tni_block *b = tni_here();
    const int i = h && name ? saved_find(h, name) : -1;
    tn_tensor *t = NULL;
    uint8_t no_grad;
    if (!b || i < 0) return NULL;
    no_grad = tni_state(b)->no_grad;
    tni_state(b)->no_grad = 0;           /* it has its history in any mode */
    tni_fetch_add_relaxed(&h->refs, 1u); /* an unpack hook may end its tensor */
    if (saved_there(b, h, i)) t = tni_slot_value(b, h, i);
    tni_node_drop(b, h);
    tni_state(b)->no_grad = no_grad;
    if (!t) tni_leave(b, false);
    return t;
}
TN_API bool tn_history_pack(tn_history *h, const char *name, const tn_saved_hooks *hooks) {
    tni_block *b = tni_here();
    const int i = h && name ? saved_find(h, name) : -1;
    tni_saved_hooks *s;
    bool ok;
    if (!b) {
        if (hooks && hooks->release) hooks->release(hooks->user);
        return false;
    }
    if (i < 0)
        ok = tni_error(b, TN_INVALID, "tn_history_pack: the call keeps no %s", name ? name : "?");
    else if (h->slot[i].kind == TNI_SLOT_PACKED)
        ok = tni_error(b, TN_INVALID, "tn_history_pack: hooks of %s have already been set", name);
    else
        ok = saved_there(b, h, i);
    if (!(s = saved_copy(b, hooks, "tn_history_pack"))) return tni_leave(b, false);
    if (ok) {
        tni_fetch_add_relaxed(&h->refs, 1u); /* the hook may end its tensor */
        ok = saved_slot(b, h, &h->slot[i], s);
        tni_node_drop(b, h);
    }
    tni_saved_forget(b, s); /* the packed tensor has its own count of them */
    return ok || tni_leave(b, false);
}
