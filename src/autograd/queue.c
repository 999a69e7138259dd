/* queue.c - what waits in a backward: a heap of nodes by number, and a table of the leaves and
 * wanted tensors with their gradients so far. Small ones lie in the engine's frame. */
#include "engine.h"

/* --- the heap --------------------------------------------------------------------------------- */

/* Doubles a list of *room members, which begins inside the engine's frame. */
static bool engine_grow(tni_block *b, void **at, int64_t *room, int64_t each,
                        const void *inline_at) {
    int64_t bytes;
    void *more;
    if (!tni_bytes(*room * 2, each, &bytes) || !(more = tni_need(b, bytes))) return false;
    memcpy(more, *at, (size_t)(*room * each));
    if (*at != inline_at) tni_put(b, b, *at, *room * each);
    *at = more;
    *room *= 2;
    return true;
}

TN_PRIV bool tni_queue_push(tni_engine *e, tni_node *n) {
    int64_t i = e->nheap;
    if (i == e->heap_room) {
        void *at = e->heap;
        if (!engine_grow(e->b, &at, &e->heap_room, (int64_t)sizeof *e->heap, e->heap_inline))
            return false;
        e->heap = (tni_node **)at;
    }
    e->nheap++;
    /* Parents of smaller number move down until n's place is found. */
    while (i > 0 && e->heap[(i - 1) / 2]->id < n->id) {
        e->heap[i] = e->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap[i] = n;
    n->queued = 1;
    return true;
}

TN_PRIV tni_node *tni_queue_pop(tni_engine *e) {
    tni_node *top = e->heap[0], *last = e->heap[--e->nheap];
    /* The last node sinks from the top: at each level the child of larger number moves up. */
    int64_t i = 0, n = e->nheap;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && e->heap[child + 1]->id > e->heap[child]->id) child++;
        if (e->heap[child]->id <= last->id) break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    if (n) e->heap[i] = last;
    top->queued = 0;
    return top;
}

/* --- the table of leaves and wanted tensors --------------------------------------------------- */

/* Where (key, out) stands, or the free place for it: linear probing, at most half full. */
static int64_t engine_slot(const tni_engine *e, const void *key, uint32_t out) {
    uint64_t h = ((uint64_t)(uintptr_t)key >> 6) * 0x9e3779b97f4a7c15u + out;
    int64_t i = (int64_t)(h >> 20) & (e->table_room - 1);
    while (e->table[i].key && (e->table[i].key != key || e->table[i].out != out))
        i = (i + 1) & (e->table_room - 1);
    return i;
}

/* Twice the places; entries move, so pointers to them are good until the next new entry only. */
static bool engine_table_grow(tni_engine *e) {
    int64_t old_room = e->table_room, bytes = 2 * old_room * (int64_t)sizeof *e->table;
    tni_entry *old = e->table, *more = (tni_entry *)tni_need(e->b, bytes);
    if (!more) return false;
    memset(more, 0, (size_t)bytes);
    e->table = more;
    e->table_room = 2 * old_room;
    for (int64_t i = 0; i < old_room; i++)
        if (old[i].key) e->table[engine_slot(e, old[i].key, old[i].out)] = old[i];
    if (old != e->table_inline) tni_put(e->b, e->b, old, old_room * (int64_t)sizeof *old);
    return true;
}

TN_PRIV tni_entry *tni_entry_find(tni_engine *e, void *key, uint32_t out, bool make) {
    /* There already, or not to be made. */
    int64_t i = engine_slot(e, key, out);
    if (e->table[i].key || !make) return e->table[i].key ? &e->table[i] : NULL;
    /* At most half full, so a probe is short. Growing moves the free place. */
    if (2 * (e->nentries + 1) > e->table_room) {
        if (!engine_table_grow(e)) return NULL;
        i = engine_slot(e, key, out);
    }
    e->nentries++;
    e->table[i].key = key;
    e->table[i].out = out;
    e->table[i].grad = NULL;
    e->table[i].retained = e->table[i].sum = e->table[i].put = false;
    return &e->table[i];
}

TN_PRIV void tni_engine_hold(tni_engine *e) {
    if (e->hooked) return;
    e->hooked = true;
    e->sweeping = tni_calls(e->b)->sweeping;
    tni_calls(e->b)->sweeping = true;
}
