/* scope.c - who owns a tensor: scopes, holders, threads; and guards around code of the user. Counts
 * and memory are in storage.c. */
#include "tensor.h"

TN_PRIV int64_t tni_begin_deep(tni_block *b) {
    /* The first TNI_SCOPES lists stand in the block; deeper ones in an array that doubles. */
    uint32_t have = tni_state(b)->scope_room, room = have ? 2 * have : 64;
    if (tni_state(b)->depth >= UINT16_MAX) {
        tni_error(b, TN_INVALID, "more than %d scopes are open", UINT16_MAX);
        return -1;
    }
    /* Room for twice as many lists, of which the new ones are empty. */
    if (tni_state(b)->depth + 1 - TNI_SCOPES >= have) {
        tn_tensor **more = (tn_tensor **)tni_need(b, (int64_t)room * (int64_t)sizeof *more);
        if (!more) return -1;
        memset(more, 0, room * sizeof *more);
        if (have) {
            memcpy(more, tni_state(b)->scope_more, have * sizeof *more);
            tni_put(b, b, tni_state(b)->scope_more, (int64_t)have * (int64_t)sizeof *more);
        }
        /* The depth grows only when the list is there. */
        tni_state(b)->scope_more = more;
        tni_state(b)->scope_room = room;
    }
    return (int64_t)tni_state(b)->depth++;
}

/* If others count t as well, it lives on outside of all scopes. */
TN_PRIV void tni_drop(tni_block *b, tn_tensor *t) {
    if (t->depth && t->owner == b && tni_load(&t->refs) > 1) tni_move(b, t, 0);
    tni_release(b, t);
}

TN_PRIV void tni_end(tni_block *b, int64_t mark) {
    if (mark < 0) return; /* no scope was opened */
    /* Scopes from the innermost on. Each drop takes the head of the list off, so the loop ends. */
    while (tni_state(b)->depth > (uint64_t)mark) {
        tn_tensor **head = tni_scope_head(b, tni_state(b)->depth), *t;
        while ((t = *head) != NULL) tni_drop(b, t);
        tni_state(b)->depth--;
    }
}

/* --- public ----------------------------------------------------------------------------------- */

TN_API int64_t tn_owners(const tn_tensor *t) { return t ? (int64_t)tni_load(&t->refs) : 0; }

TN_API int64_t tn_scope_begin(void) {
    tni_block *b = tni_here();
    return b ? tni_begin(b) : -1;
}

TN_API void tn_scope_end(int64_t mark) {
    tni_block *b = tni_here();
    if (b)
        tni_end(b, mark >= 0 && mark < (int64_t)tni_state(b)->floor ? (int64_t)tni_state(b)->floor
                                                                    : mark);
}

TN_API tn_tensor *tn_keep(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!t || !b) return t;
    /* Scopes are lists of one thread. */
    if (t->owner != b) {
        tni_error_apart(
            b, TN_INVALID,
            "tn_keep: the tensor belongs to another thread or context; tn_hold it there first");
        return NULL;
    }
    return t->depth ? tni_move(b, t, t->depth - 1) : t;
}

TN_API tn_tensor *tn_hold(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!t || !b) return t;
    /* The scope's count becomes the caller's; a tensor that is in none gets one more. */
    if (t->owner == b && t->depth) return tni_move(b, t, 0);
    tni_retain(t);
    return t;
}

TN_API tn_tensor *tn_own(tn_tensor *t) {
    if (t && t->depth && t->owner == tni_here()) tni_move(t->owner, t, 0);
    return t;
}

TN_API void tn_free(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b) tni_drop(b, t);
}

TN_API void tn_list_free(tn_list list) {
    tni_block *b = tni_here();
    if (!b) return;
    for (int64_t i = 0; list.at && i < list.n; i++)
        if (list.at[i]) tni_drop(b, list.at[i]);
    if (list.holder) tni_drop(b, list.holder);
}

TN_API void tn_scope_leave(int64_t mark, tn_tensor *const *tensors, int64_t n) {
    tni_block *b = tni_here();
    if (!b || mark < 0) return;
    if (mark < (int64_t)tni_state(b)->floor) mark = (int64_t)tni_state(b)->floor;
    /* Those that are to survive move to the scope that stays, then the others end. */
    for (int64_t i = 0; i < n; i++)
        if (tensors[i] && tensors[i]->owner == b && tensors[i]->depth > mark)
            tni_move(b, tensors[i], mark);
    tni_end(b, mark);
}

TN_API tn_guard tn_guard_begin(void) {
    tni_block *b = tni_here();
    tn_guard g = {b, 0, 0, 0, 0};
    if (!b) return g;
    g.depth = tni_state(b)->depth;
    g.floor = tni_state(b)->floor;
    g.inference = tni_state(b)->inference;
    g.no_grad = tni_state(b)->no_grad;
    /* Scopes below this one cannot be ended until tn_guard_end. */
    tni_state(b)->floor = tni_state(b)->depth;
    return g;
}
TN_API void tn_guard_end(const tn_guard *g, tn_tensor *const *returned, int64_t n) {
    tni_block *b = g->block;
    if (!b) return;
    /* The user's code may have chosen another context. */
    if (tni_here() != b) tn_context_use(b->context);
    tn_scope_leave(g->depth, returned, n);
    tni_state(b)->floor = g->floor;
    tni_state(b)->inference = g->inference;
    tni_state(b)->no_grad = g->no_grad;
}

TN_API tn_tensor *tn_retain(tn_tensor *t) {
    tni_retain(t);
    return t;
}

TN_API void tn_release(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b) tni_release(b, t);
}
