/* group.c - groups of ranks: the thread's current one, making and leaving them, and what a
 * backend's failure becomes. Moves no byte itself. */
#include "group.h"

/* --- life ------------------------------------------------------------------------------------- */

static void group_end(tn_ending *e) { tn_group_free((tn_group *)(void *)e); }

static int64_t group_bytes(int32_t size) {
    return (int64_t)sizeof(tn_group) + 2 * ((int64_t)size + 1) * (int64_t)sizeof(int64_t) +
           (int64_t)size * TNI_GROUP_WORD;
}

TN_PRIV tn_group *tni_group_make(tni_block *b, const tn_group_backend *backend, void *state,
                                 int32_t rank, int32_t size) {
    tn_group *g = (tn_group *)tni_need(b, group_bytes(size));
    if (!g) {
        backend->leave(state);
        return NULL;
    }
    memset(g, 0, sizeof *g);
    g->ending.end = group_end;
    g->backend = backend;
    g->state = state;
    g->owner = b;
    g->rank = rank;
    g->size = size;
    g->limit = 1800; /* as torch's gloo */
    g->give = (int64_t *)(void *)(g + 1);
    g->take = g->give + size + 1;
    g->words = g->take + size + 1;
    if (tn_ending_add(&g->ending)) return g;
    tni_put(b, b, g, group_bytes(size));
    backend->leave(state);
    return NULL;
}

TN_API tn_group *tn_group_new_at(const char *file, int line, const tn_group_backend *backend,
                                 void *state, int32_t rank, int32_t size) {
    tni_block *b = tni_here();
    const bool known =
        backend && backend->version == TN_GROUP_VERSION && backend->bytes == sizeof *backend;
    tn_group *g = NULL;
    if (!tni_enter(b, file, line)) {
        if (known) backend->leave(state);
        return NULL;
    }
    if (!known)
        tni_error(b, TN_INVALID, "tn_group_new: the backend is of another version");
    else if (size < 1 || size > TNI_RANKS || rank < 0 || rank >= size) {
        tni_error(b, TN_INVALID, "tn_group_new: rank %d is none of 1 to 1024 ranks, got %d of them",
                  (int)rank, (int)size);
        backend->leave(state);
    } else
        g = tni_group_make(b, backend, state, rank, size);
    tni_leave(b, g != NULL);
    return g;
}

TN_API void tn_group_free(tn_group *g) {
    tni_block *b = g ? tni_here_if_any() : NULL;
    if (!b) return;
    if (b->group == g) b->group = NULL;
    tn_ending_remove(&g->ending);
    if (g->release) g->release(g->kept);
    tni_group_room_free(b, g);
    g->backend->leave(g->state);
    tni_put(b, g->owner, g, group_bytes(g->size));
}

/* --- what a thread sees ----------------------------------------------------------------------- */

TN_API tn_group *tn_group_use(tn_group *g) {
    tni_block *b = tni_here();
    tn_group *before = b ? b->group : NULL;
    if (!b) return before;
    if (g && (g->rank < 0 || g->owner->context != b->context)) {
        tni_error_apart(b, TN_INVALID,
                        g->rank < 0 ? "tn_group_use: the thread has to join the place first"
                                    : "tn_group_use: the group belongs to another context");
        return before;
    }
    b->group = g;
    return before;
}
TN_API tn_group *tn_group_current(void) {
    tni_block *b = tni_here();
    return b ? b->group : NULL;
}
TN_API int32_t tn_group_rank(const tn_group *g) { return g ? g->rank : 0; }
TN_API int32_t tn_group_size(const tn_group *g) { return g ? g->size : 1; }
TN_API const char *tn_group_kind(const tn_group *g) { return g ? g->backend->kind : "one"; }

TN_API bool tn_group_set_limit_at(const char *file, int line, tn_group *g, double seconds) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    if (!(seconds > 0) || !g)
        return tni_leave(b, tni_error(b, TN_INVALID,
                                      "tn_group_set_limit: expected a group and more than 0 "
                                      "seconds, got %g",
                                      seconds));
    g->limit = seconds;
    return true;
}

TN_API void tn_group_keep(tn_group *g, void *at, void (*release)(void *at)) {
    if (g->release) g->release(g->kept);
    g->kept = at;
    g->release = release;
}
TN_API void *tn_group_kept(const tn_group *g) { return g->kept; }

/* --- calls of the backend --------------------------------------------------------------------- */

static bool group_stopped(void *call) { return tni_stop_seen((tni_stop *)call); }

TN_PRIV tn_group_wait tni_group_wait(const tn_group *g) {
    tn_group_wait w;
    w.seconds = g->limit;
    w.stopped = group_stopped;
    w.call = tni_stop_here();
    w.why[0] = 0;
    return w;
}

TN_PRIV bool tni_group_failed(tni_block *b, const tn_group *g, const tn_group_wait *w) {
    const tni_stop *stop = (const tni_stop *)w->call;
    if (stop && tni_load_relaxed(&stop->seen))
        return tni_error(b, TN_CANCELLED, "the call was cancelled");
    return tni_error(b, TN_INTERNAL, "rank %d of %d: %s", (int)g->rank, (int)g->size, w->why);
}

TN_PRIV bool tni_group_gather(tni_block *b, tn_group *g, const void *mine, void *all,
                              const int64_t *at) {
    tn_group_wait w = tni_group_wait(g);
    return g->backend->gather(g->state, mine, all, at, &w) || tni_group_failed(b, g, &w);
}
TN_PRIV bool tni_group_exchange(tni_block *b, tn_group *g, const void *mine, const int64_t *give,
                                void *theirs, const int64_t *take) {
    tn_group_wait w = tni_group_wait(g);
    return g->backend->exchange(g->state, mine, give, theirs, take, &w) ||
           tni_group_failed(b, g, &w);
}
TN_PRIV bool tni_group_send(tni_block *b, tn_group *g, int32_t to, int64_t tag, const void *head,
                            void *other, int64_t bytes, const void *data, int64_t n) {
    tn_group_wait w = tni_group_wait(g);
    return g->backend->send(g->state, to, tag, head, other, bytes, data, n, &w) ||
           tni_group_failed(b, g, &w);
}
TN_PRIV bool tni_group_recv(tni_block *b, tn_group *g, int32_t from, int64_t tag, const void *head,
                            void *other, int64_t bytes, void *data, int64_t n) {
    tn_group_wait w = tni_group_wait(g);
    return g->backend->recv(g->state, from, tag, head, other, bytes, data, n, &w) ||
           tni_group_failed(b, g, &w);
}

TN_PRIV bool tni_group_share(tni_block *b, tn_group *g, const void *mine, void *all,
                             int64_t bytes) {
    tni_group_even(g->take, g->size, bytes);
    return tni_group_gather(b, g, mine, all, g->take);
}

TN_PRIV void *tni_group_room(tni_block *b, tn_group *g, int64_t bytes) {
    tni_group_room_free(b, g);
    g->room = tni_need(b, bytes);
    g->room_bytes = bytes;
    g->room_owner = b;
    return g->room;
}
TN_PRIV void tni_group_room_free(tni_block *b, tn_group *g) {
    if (g->room) tni_put(b, g->room_owner, g->room, g->room_bytes);
    g->room = NULL;
}
