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

/* t stands in a scope. If others count it as well, it lives on outside of all scopes. */
TNI_INLINE void scope_leave_shared(tni_block *b, tn_tensor *t) {
    if (t->owner == b && tni_load(&t->refs) > 1) tni_move(b, t, 0);
}

TN_PRIV void tni_drop(tni_block *b, tn_tensor *t) {
    if (t->depth) scope_leave_shared(b, t);
    tni_release(b, t);
}

/* Who frees from here on, for TN_CHECK; returns who did. */
TNI_INLINE tni_freed scope_freeing(tni_block *b, const tni_freed now) {
    const tni_freed before = tni_state(b)->freeing;
    if (TNI_CHECK) tni_state(b)->freeing = now;
    return before;
}

TN_PRIV void tni_end(tni_block *b, int64_t mark) {
    if (mark < 0) return; /* no scope was opened */
    /* Scopes from the innermost on. Each drop takes the head of the list off, so the loop ends. */
    while (tni_state(b)->depth > (uint64_t)mark) {
        const uint32_t depth = tni_state(b)->depth;
        tn_tensor **head = tni_scope_head(b, depth), *t;
        tni_freed *opened = TNI_CHECK && tni_state(b)->opened && depth < TNI_SCOPES
                                ? &tni_state(b)->opened[depth]
                                : NULL;
        const tni_freed before = tni_state(b)->freeing;
        /* The line of tn_scope_end, or of the beginning. */
        if (opened && !before.file) scope_freeing(b, *opened);
        while ((t = *head) != NULL) tni_drop(b, t);
        scope_freeing(b, before);
        if (opened) opened->file = NULL;
        tni_state(b)->depth--;
    }
}

/* Remembers where the innermost scope was begun; without memory that is not known. */
static void scope_opened(tni_block *b, const char *file, int line) {
    tni_tensor_block *s = tni_state(b);
    const int64_t bytes = TNI_SCOPES * (int64_t)sizeof *s->opened;
    if (!s->opened && (s->opened = (tni_freed *)tni_get(b, bytes)) != NULL)
        memset(s->opened, 0, (size_t)bytes);
    if (!s->opened || s->depth >= TNI_SCOPES) return;
    s->opened[s->depth].file = file;
    s->opened[s->depth].line = line;
    s->opened[s->depth].how = TNI_FREED_SCOPE;
}

/* Scopes that a callback may not end stay. */
static void scope_end(tni_block *b, int64_t mark) {
    const int64_t floor = (int64_t)tni_state(b)->floor;
    tni_end(b, mark >= 0 && mark < floor ? floor : mark);
}

static TNI_NOINLINE void scope_free_again(tni_block *b, const char *file, int line, tn_tensor *t) {
    tni_place_set(b, file, line);
    tni_leave(b, tni_freed_error(b, t, "freed twice"));
}

TNI_INLINE void scope_free(tni_block *b, const char *file, int line, tn_tensor *t) {
    if (t->depth)
        scope_leave_shared(b, t);
    else if (TNI_UNLIKELY(tni_is_freed(t))) {
        scope_free_again(b, file, line, t);
        return;
    }
    tni_release(b, t);
}

static void scope_list_free(tni_block *b, const char *file, int line, tn_list list) {
    for (int64_t i = 0; list.at && i < list.n; i++)
        if (list.at[i]) scope_free(b, file, line, list.at[i]);
    if (list.holder) scope_free(b, file, line, list.holder);
}

/* --- public: names in brackets are macros with TN_CHECK --------------------------------------- */

TN_API int64_t tn_owners(const tn_tensor *t) { return t ? (int64_t)tni_load(&t->refs) : 0; }

TN_API int64_t(tn_scope_begin)(void) {
    tni_block *b = tni_here();
    return b ? tni_begin(b) : -1;
}
TN_API int64_t tn_scope_begin_at(const char *file, int line) {
    tni_block *b = tni_here();
    const int64_t mark = b ? tni_begin(b) : -1;
    if (TNI_CHECK && mark >= 0) scope_opened(b, file, line);
    return mark;
}

TN_API void(tn_scope_end)(int64_t mark) {
    tni_block *b = tni_here();
    if (b) scope_end(b, mark);
}
TN_API void tn_scope_end_at(const char *file, int line, int64_t mark) {
    const tni_freed at = {file, line, TNI_FREED_END};
    tni_block *b = tni_here();
    if (!b) return;
    const tni_freed before = scope_freeing(b, at);
    scope_end(b, mark);
    scope_freeing(b, before);
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
    if (t->depth) return tni_move(b, t, t->depth - 1);
    if (TNI_LIKELY(!tni_is_freed(t))) return t;
    tni_freed_apart(b, t, "tn_keep");
    return NULL;
}

TN_API tn_tensor *tn_hold(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!t || !b) return t;
    /* The scope's count becomes the caller's; a tensor that is in none gets one more. */
    if (t->owner == b && t->depth) return tni_move(b, t, 0);
    if (TNI_UNLIKELY(tni_is_freed(t))) {
        tni_freed_apart(b, t, "tn_hold");
        return NULL;
    }
    tni_retain(t);
    return t;
}

TN_API tn_tensor *tn_take(tn_tensor *t) {
    if (tni_there(t, "tn_take") && t->depth && t->owner == tni_here()) tni_move(t->owner, t, 0);
    return t;
}

TN_API void(tn_free)(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b) scope_free(b, NULL, 0, t);
}
TN_API void tn_free_at(const char *file, int line, tn_tensor *t) {
    const tni_freed at = {file, line, TNI_FREED_AT};
    tni_block *b = t ? tni_here() : NULL;
    if (!b) return;
    const tni_freed before = scope_freeing(b, at);
    scope_free(b, file, line, t);
    scope_freeing(b, before);
}

TN_API void(tn_list_free)(tn_list list) {
    tni_block *b = tni_here();
    if (b) scope_list_free(b, NULL, 0, list);
}
TN_API void tn_list_free_at(const char *file, int line, tn_list list) {
    const tni_freed at = {file, line, TNI_FREED_AT};
    tni_block *b = tni_here();
    if (!b) return;
    const tni_freed before = scope_freeing(b, at);
    scope_list_free(b, file, line, list);
    scope_freeing(b, before);
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
    tn_guard g = {b, 0, 0, 0, 0, 0, false};
    if (!b) return g;
    g.depth = tni_state(b)->depth;
    g.floor = tni_state(b)->floor;
    g.inference = tni_state(b)->inference;
    g.no_grad = tni_state(b)->no_grad;
    g.device = tni_state(b)->device;
    g.no_alloc = b->no_alloc;
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
    tni_state(b)->device = g->device;
    b->no_alloc = g->no_alloc;
}

TN_API tn_tensor *tn_retain(tn_tensor *t) {
    if (t && TNI_UNLIKELY(tni_is_freed(t))) {
        tni_freed_apart(tni_here(), t, "tn_retain");
        return NULL;
    }
    tni_retain(t);
    return t;
}

TN_API void tn_release(tn_tensor *t) {
    /* After the last context's end t is no more: objects of C++ that are static end then. */
    tni_block *b = t ? tni_here_if_any() : NULL;
    if (b) tni_release(b, t);
}
