/* split.c - a group of some ranks of another: who is in it, and whether all could make it. */
#include "group.h"

enum { SPLIT_NONE = -1, SPLIT_FAILED = -2 };

/* Whether all ranks say the same; false with the error that all have, of the first that does
 * not. */
static bool split_all(tni_block *b, tn_group *g, bool ok, int32_t *said) {
    const int32_t mine = ok;
    const bool pending = b->failed != 0;
    if (!tni_group_share(b, g, &mine, said, (int64_t)sizeof mine)) return false;
    for (int32_t r = 0; r < g->size && !pending; r++)
        if (!said[r])
            return tni_error(b, TN_INTERNAL, "rank %d of %d: rank %d failed to split the group",
                             (int)g->rank, (int)g->size, (int)r);
    return !pending;
}

/* The ranks of this one's color. */
static int32_t split_members(const tn_group *g, const int32_t *color, int32_t *member,
                             int32_t *me) {
    int32_t n = 0;
    if (color[g->rank] < 0) return 0;
    for (int32_t r = 0; r < g->size; r++) {
        if (r == g->rank) *me = n;
        if (color[r] == color[g->rank]) member[n++] = r;
    }
    return n;
}

/* Behind the colors: `said` and `member` have room for all ranks. */
static tn_group *split_part(tni_block *b, tn_group *g, int32_t *said, int32_t *member) {
    int32_t me = 0;
    const int32_t n = split_members(g, said, member, &me);
    tn_group_wait w = tni_group_wait(g);
    void *state = g->backend->part(g->state, member, n, me, &w);
    tn_group *made = NULL;
    if (n && !state)
        tni_group_failed(b, g, &w);
    else if (n)
        made = tni_group_make(b, g->backend, state, me, n);
    if (made) made->limit = g->limit;
    if (split_all(b, g, !n || made, said)) return made;
    tn_group_free(made);
    return NULL;
}

static tn_group *split_group(tni_block *b, tn_group *g, int32_t color) {
    const int64_t bytes = 2 * (int64_t)g->size * (int64_t)sizeof(int32_t);
    int32_t *said = (int32_t *)tni_need(b, bytes), few[TNI_RANKS];
    tn_group *made = NULL;
    bool ok = said != NULL;
    /* A rank without memory says so, as others wait for it. */
    if (!ok) color = SPLIT_FAILED;
    if (!tni_group_share(b, g, &color, ok ? said : few, (int64_t)sizeof color)) ok = false;
    for (int32_t r = 0; ok && r < g->size; r++)
        if (said[r] == SPLIT_FAILED)
            ok = tni_error(b, TN_MEMORY, "rank %d of %d: rank %d is out of memory", (int)g->rank,
                           (int)g->size, (int)r);
    if (ok) made = split_part(b, g, said, said + g->size);
    if (said) tni_put(b, b, said, bytes);
    return made;
}

TN_API tn_group *tn_group_split_at(const char *file, int line, tn_group *g, int32_t color) {
    tni_block *b = tni_here();
    tn_group *made = NULL;
    if (!tni_enter(b, file, line)) return NULL;
    if (color < 0) color = SPLIT_NONE;
    if (g && g->rank < 0)
        tni_error(b, TN_INVALID, "tn_group_split: the thread has to join the place first");
    else if (g)
        made = split_group(b, g, color);
    else if (color >= 0) {
        void *state = tni_threads_alone(b);
        if (state) made = tni_group_make(b, tni_threads_backend(), state, 0, 1);
    }
    tni_leave(b, !b->failed);
    return made;
}
