/* threads.c - ranks that are threads of one process, in shared memory.
 *
 * A call of all ranks has two turns. At the first each rank has said where its memory is; then each
 * reads that of the others; behind the second it may be written again. Waiting for the first can
 * fail: a rank has left, takes too long, or is stopped, and the world is over for all. From there
 * on every rank is at work in the call, so nothing ends it, and the second turn comes soon. */
#include "group.h"

#if TNI_THREADS
#include "../base/sync.h"

enum { THREADS_SLICE = 20 }; /* milliseconds between two looks at requests and clock */
enum { MESSAGE_POSTED, MESSAGE_TAKEN, MESSAGE_DONE };

/* A call of send, on its stack. */
typedef struct threads_message {
    struct threads_message *next;
    int32_t from, to, state;
    int64_t tag, bytes, n;
    const void *head, *data;
    void *other;
} threads_message;

/* A rank, which is its state. */
typedef struct threads_slot {
    struct threads_world *world;
    int32_t rank;
    bool joined, left, here; /* here: it waits for the turn, or has made it */
    /* what the call in progress gives */
    const void *mine;
    const int64_t *give;
} threads_slot;

typedef struct threads_world {
    tni_mutex mutex;
    tni_condition changed;
    tn_context *context; /* of the memory */
    uint32_t process;
    int32_t size, owners; /* owners: ranks that have joined, and the place */
    int32_t joined, arrived;
    uint32_t turn;
    bool over;
    char why[256];
    threads_message *posted;
    threads_slot slot[1]; /* size */
} threads_world;

/* --- a world ---------------------------------------------------------------------------------- */

static int64_t threads_bytes(int32_t size) {
    return (int64_t)sizeof(threads_world) + (size - 1) * (int64_t)sizeof(threads_slot);
}

/* With so many owners; NULL without memory and without an error. */
static threads_world *threads_new(tn_context *c, int32_t size, int32_t owners) {
    threads_world *w = (threads_world *)tni_raw_get(c, threads_bytes(size));
    if (!w) return NULL;
    memset(w, 0, (size_t)threads_bytes(size));
    w->context = c;
    w->process = tni_process();
    w->size = size;
    w->owners = owners;
    for (int32_t r = 0; r < size; r++) {
        w->slot[r].world = w;
        w->slot[r].rank = r;
    }
    if (tni_mutex_init(&w->mutex)) {
        if (tni_condition_init(&w->changed)) return w;
        tni_mutex_free(&w->mutex);
    }
    tni_raw_put(c, w, threads_bytes(size));
    return NULL;
}

static void threads_delete(threads_world *w) {
    tni_condition_free(&w->changed);
    tni_mutex_free(&w->mutex);
    tni_raw_put(w->context, w, threads_bytes(w->size));
}

/* Ends the world, under its lock; the first reason stays. False. */
static bool threads_over(threads_world *w, const char *why) {
    if (!w->over) snprintf(w->why, sizeof w->why, "%s", why);
    w->over = true;
    tni_condition_wake_all(&w->changed);
    return false;
}

/* An owner goes, under the lock, which it gives back. In a child of fork the world is the
 * parent's. */
static void threads_drop(threads_world *w) {
    const bool last = --w->owners == 0;
    tni_condition_wake_all(&w->changed);
    tni_mutex_exit(&w->mutex);
    if (last) threads_delete(w);
}

static void threads_leave(void *state) {
    threads_slot *s = (threads_slot *)state;
    threads_world *w = s->world;
    if (w->process != tni_process()) return;
    tni_mutex_enter(&w->mutex);
    s->left = true;
    threads_drop(w);
}
static void threads_leave_place(void *state) {
    threads_world *w = (threads_world *)state;
    if (w->process != tni_process()) return;
    tni_mutex_enter(&w->mutex);
    if (w->joined < w->size) threads_over(w, "the place was freed before all ranks had joined");
    threads_drop(w);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool threads_says(tn_group_wait *w, const char *why) {
    snprintf(w->why, sizeof w->why, "%s", why);
    return false;
}

/* The ranks that are not here yet, as "2, 5". */
static const char *threads_missing(const threads_world *w, char *text, size_t room) {
    size_t n = 0;
    text[0] = 0;
    for (int32_t r = 0; r < w->size && n + 16 < room; r++)
        if (!w->slot[r].here)
            n += (size_t)snprintf(text + n, room - n, "%s%d", n ? ", " : "", (int)r);
    return text;
}

/* Whether the call may wait on, under the lock: not stopped, and within its time. Else `text` says
 * why not. */
static bool threads_patient(const threads_slot *s, tn_group_wait *w, double since, const char *whom,
                            char *text, size_t room) {
    if (w->stopped && w->stopped(w->call))
        snprintf(text, room, "rank %d was asked to stop", (int)s->rank);
    else if (tni_clock() - since > w->seconds)
        snprintf(text, room, "rank %d has waited %g seconds for rank %s", (int)s->rank, w->seconds,
                 whom);
    else
        return true;
    return false;
}

/* Under the lock, of a call that all ranks are to make: one that never will. */
static bool threads_whole(threads_world *w) {
    char text[64];
    if (w->over) return false;
    for (int32_t r = 0; r < w->size; r++) {
        if (!w->slot[r].left || w->slot[r].here) continue;
        snprintf(text, sizeof text, "rank %d has left the group", (int)r);
        return threads_over(w, text);
    }
    return true;
}

static void threads_turn(threads_world *w) {
    w->arrived = 0;
    w->turn++;
    for (int32_t r = 0; r < w->size; r++) w->slot[r].here = false;
    tni_condition_wake_all(&w->changed);
}

/* The first turn. */
static bool threads_arrive(threads_slot *s, tn_group_wait *wait) {
    threads_world *w = s->world;
    const double since = tni_clock();
    char text[160], whom[96];
    bool ok;
    if (w->process != tni_process()) return threads_says(wait, "its ranks are in another process");
    tni_mutex_enter(&w->mutex);
    const uint32_t turn = w->turn;
    s->here = true;
    ok = threads_whole(w);
    if (ok && ++w->arrived == w->size) threads_turn(w);
    while (ok && w->turn == turn) {
        tni_condition_wait_ms(&w->changed, &w->mutex, THREADS_SLICE);
        if (w->turn != turn) break;
        ok = threads_whole(w);
        if (ok && !threads_patient(s, wait, since, threads_missing(w, whom, sizeof whom), text,
                                   sizeof text))
            ok = threads_over(w, text);
    }
    if (!ok) threads_says(wait, w->why);
    tni_mutex_exit(&w->mutex);
    return ok;
}

/* The second. */
static bool threads_finish(threads_slot *s) {
    threads_world *w = s->world;
    tni_mutex_enter(&w->mutex);
    const uint32_t turn = w->turn;
    if (++w->arrived == w->size) threads_turn(w);
    while (w->turn == turn) tni_condition_wait(&w->changed, &w->mutex);
    tni_mutex_exit(&w->mutex);
    return true;
}

/* --- calls of all ranks ----------------------------------------------------------------------- */

/* What lies in its place already is not touched: others read it. */
static void threads_copy(void *to, int64_t at, const void *from, int64_t begin, int64_t n) {
    char *there = (char *)to + at;
    if (n > 0 && there != (const char *)from + begin)
        memcpy(there, (const char *)from + begin, (size_t)n);
}

static bool threads_gather(void *rank, const void *mine, void *all, const int64_t *at,
                           tn_group_wait *w) {
    threads_slot *s = (threads_slot *)rank, *of = s->world->slot;
    s->mine = mine;
    if (!threads_arrive(s, w)) return false;
    for (int32_t r = 0; r < s->world->size; r++)
        threads_copy(all, at[r], of[r].mine, 0, at[r + 1] - at[r]);
    return threads_finish(s);
}

static bool threads_exchange(void *rank, const void *mine, const int64_t *give, void *theirs,
                             const int64_t *take, tn_group_wait *w) {
    threads_slot *s = (threads_slot *)rank, *of = s->world->slot;
    s->mine = mine;
    s->give = give;
    if (!threads_arrive(s, w)) return false;
    for (int32_t r = 0; r < s->world->size; r++)
        threads_copy(theirs, take[r], of[r].mine, of[r].give[s->rank], take[r + 1] - take[r]);
    return threads_finish(s);
}

static void *threads_part(void *rank, const int32_t *member, int32_t n, int32_t me,
                          tn_group_wait *w) {
    threads_slot *s = (threads_slot *)rank, *of = s->world->slot;
    threads_world *made = n && !me ? threads_new(s->world->context, n, n) : NULL, *mine = made;
    for (int32_t r = 0; made && r < n; r++) made->slot[r].joined = true;
    if (made) made->joined = n;
    s->mine = made;
    if (!threads_arrive(s, w)) {
        if (made) threads_delete(made);
        return NULL;
    }
    if (n) mine = (threads_world *)(uintptr_t)of[member[0]].mine;
    threads_finish(s);
    if (n && !mine) threads_says(w, "out of memory");
    return n && mine ? &mine->slot[me] : NULL;
}

/* --- between two ranks ------------------------------------------------------------------------ */

static void threads_unlink(threads_world *w, const threads_message *m) {
    threads_message **at = &w->posted;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
}

/* Whether the call waits on for rank `whom`, under the lock. */
static bool threads_expect(threads_slot *s, tn_group_wait *wait, double since, int32_t whom) {
    threads_world *w = s->world;
    char text[160], name[16];
    snprintf(name, sizeof name, "%d", (int)whom);
    if (w->over) return threads_says(wait, w->why);
    if (w->slot[whom].left) {
        snprintf(text, sizeof text, "rank %s has left the group", name);
        return threads_says(wait, text);
    }
    return threads_patient(s, wait, since, name, text, sizeof text) || threads_says(wait, text);
}

static bool threads_send(void *rank, int32_t to, int64_t tag, const void *head, void *other,
                         int64_t bytes, const void *data, int64_t n, tn_group_wait *wait) {
    threads_slot *s = (threads_slot *)rank;
    threads_world *w = s->world;
    threads_message m = {NULL, s->rank, to, MESSAGE_POSTED, tag, bytes, n, head, data, other};
    threads_message **last = &w->posted;
    const double since = tni_clock();
    bool ok = true;
    if (w->process != tni_process()) return threads_says(wait, "its ranks are in another process");
    tni_mutex_enter(&w->mutex);
    while (*last) last = &(*last)->next;
    *last = &m;
    tni_condition_wake_all(&w->changed);
    while (m.state != MESSAGE_DONE) {
        /* Once it is taken, the other rank reads this stack and is done soon. */
        if (m.state == MESSAGE_POSTED && !(ok = threads_expect(s, wait, since, to))) {
            threads_unlink(w, &m);
            break;
        }
        tni_condition_wait_ms(&w->changed, &w->mutex, THREADS_SLICE);
    }
    tni_mutex_exit(&w->mutex);
    return ok;
}

/* The first message to s from that rank with that tag, under the lock; NULL: none yet. */
static threads_message *threads_find(const threads_slot *s, int32_t from, int64_t tag) {
    for (threads_message *m = s->world->posted; m; m = m->next)
        if (m->to == s->rank && m->from == from && m->tag == tag) return m;
    return NULL;
}

static bool threads_recv(void *rank, int32_t from, int64_t tag, const void *head, void *other,
                         int64_t bytes, void *data, int64_t n, tn_group_wait *wait) {
    threads_slot *s = (threads_slot *)rank;
    threads_world *w = s->world;
    threads_message *m;
    const double since = tni_clock();
    bool ok = true;
    if (w->process != tni_process()) return threads_says(wait, "its ranks are in another process");
    tni_mutex_enter(&w->mutex);
    while (!(m = threads_find(s, from, tag)) && (ok = threads_expect(s, wait, since, from)))
        tni_condition_wait_ms(&w->changed, &w->mutex, THREADS_SLICE);
    if (m) {
        threads_unlink(w, m);
        m->state = MESSAGE_TAKEN;
        memcpy(other, m->head, (size_t)bytes);
        memcpy(m->other, head, (size_t)bytes);
        tni_mutex_exit(&w->mutex);
        if (!memcmp(other, head, (size_t)bytes)) threads_copy(data, 0, m->data, 0, n);
        tni_mutex_enter(&w->mutex);
        m->state = MESSAGE_DONE;
        tni_condition_wake_all(&w->changed);
    }
    tni_mutex_exit(&w->mutex);
    return ok;
}

/* --- making and joining ----------------------------------------------------------------------- */

TNI_ROW_BEGIN
static const tn_group_backend threads_backend = {.version = TN_GROUP_VERSION,
                                                 .bytes = sizeof(tn_group_backend),
                                                 .kind = "threads",
                                                 .gather = threads_gather,
                                                 .exchange = threads_exchange,
                                                 .send = threads_send,
                                                 .recv = threads_recv,
                                                 .part = threads_part,
                                                 .leave = threads_leave};
static const tn_group_backend threads_place = {.version = TN_GROUP_VERSION,
                                               .bytes = sizeof(tn_group_backend),
                                               .kind = "threads",
                                               .leave = threads_leave_place};
TNI_ROW_END

TN_PRIV const tn_group_backend *tni_threads_backend(void) { return &threads_backend; }

TN_PRIV void *tni_threads_alone(tni_block *b) {
    threads_world *w = threads_new(b->context, 1, 1);
    if (!w) {
        tni_memory_error(b, threads_bytes(1));
        return NULL;
    }
    w->slot[0].joined = true;
    w->joined = 1;
    return &w->slot[0];
}

/* The state of that rank, which joins; NULL with an error. */
static void *threads_join(tni_block *b, threads_world *w, int32_t rank) {
    threads_slot *s = NULL;
    tni_mutex_enter(&w->mutex);
    if (rank < 0 || rank >= w->size)
        tni_error(b, TN_INVALID, "tn_group_join: expected a rank from 0 to %d, got %d",
                  (int)w->size - 1, (int)rank);
    else if (w->slot[rank].joined)
        tni_error(b, TN_INVALID, "tn_group_join: rank %d has joined already", (int)rank);
    else {
        s = &w->slot[rank];
        s->joined = true;
        w->joined++;
        w->owners++;
    }
    tni_mutex_exit(&w->mutex);
    return s;
}

TN_PRIV tn_group *tni_threads_place(tni_block *b, int32_t ranks, const char *what) {
    threads_world *w;
    if (ranks < 1 || ranks > TNI_RANKS) {
        tni_error(b, TN_INVALID, "%s: expected 1 to %d ranks, got %d", what, (int)TNI_RANKS,
                  (int)ranks);
        return NULL;
    }
    if ((w = threads_new(b->context, ranks, 1)) != NULL)
        return tni_group_make(b, &threads_place, w, -1, ranks);
    tni_memory_error(b, threads_bytes(ranks));
    return NULL;
}

TN_API tn_group *tn_group_threads_at(const char *file, int line, int32_t ranks) {
    tni_block *b = tni_here();
    tn_group *g;
    if (!tni_enter(b, file, line)) return NULL;
    g = tni_threads_place(b, ranks, "tn_group_threads");
    tni_leave(b, g != NULL);
    return g;
}

TN_API tn_group *tn_group_join_at(const char *file, int line, tn_group *place, int32_t rank) {
    tni_block *b = tni_here();
    tn_group *g = NULL;
    void *state;
    if (!tni_enter(b, file, line)) return NULL;
    if (!place || place->backend != &threads_place)
        tni_error(b, TN_INVALID, "tn_group_join: expected a place made by tn_group_threads");
    else if ((state = threads_join(b, (threads_world *)place->state, rank)) != NULL)
        g = tni_group_make(b, &threads_backend, state, rank, place->size);
    tni_leave(b, g != NULL);
    return g;
}

TN_PRIV void tni_threads_over(tn_group *place, const char *why) {
    threads_world *w = (threads_world *)place->state;
    tni_mutex_enter(&w->mutex);
    threads_over(w, why);
    tni_mutex_exit(&w->mutex);
}
#else
TN_PRIV const tn_group_backend *tni_threads_backend(void) { return NULL; }
TN_PRIV void *tni_threads_alone(tni_block *b) {
    tni_error(b, TN_UNSUPPORTED, "this build has no threads");
    return NULL;
}
static bool threads_none(const char *file, int line) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) &&
           tni_leave(b, tni_error(b, TN_UNSUPPORTED, "this build has no threads"));
}
TN_API tn_group *tn_group_threads_at(const char *file, int line, int32_t ranks) {
    return (void)ranks, threads_none(file, line), (tn_group *)NULL;
}
TN_API tn_group *tn_group_join_at(const char *file, int line, tn_group *place, int32_t rank) {
    return (void)place, (void)rank, threads_none(file, line), (tn_group *)NULL;
}
TN_PRIV tn_group *tni_threads_place(tni_block *b, int32_t ranks, const char *what) {
    (void)ranks, (void)what, tni_threads_alone(b);
    return NULL;
}
TN_PRIV void tni_threads_over(tn_group *place, const char *why) { (void)place, (void)why; }
#endif
