/* memory.c - growing text, pointer maps: what the tree needs of memory, on tn_alloc. */
#include "nn.h"

#include <stdlib.h>

/* A count that no size_t holds becomes the largest request, which tn_alloc refuses
 * with its error. */
TN_PRIV void *tni_alloc_each(int64_t n, size_t each) {
    bool fits = n >= 0 && (uint64_t)n <= SIZE_MAX / each;
    size_t bytes = fits ? (size_t)n * each : SIZE_MAX;
    return tn_alloc(bytes);
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* Marks b as failed; false. */
static bool buffer_fail(tni_buffer *b) {
    b->failed = true;
    return false;
}

/* Room for `bytes` more, by doubling; false with b->failed and an error set. */
static bool buffer_reserve(tni_buffer *b, int64_t bytes) {
    int64_t room = b->room ? b->room : 256;
    char *at;
    if (b->failed) return false;
    /* Below this bound doubling `room` cannot overflow. */
    if (bytes > PTRDIFF_MAX / 2 - b->n) {
        tni_nn_error(TN_MEMORY, "the text is too large");
        return buffer_fail(b);
    }
    while (room < b->n + bytes) room *= 2;
    if (room == b->room) return true;
    at = (char *)tn_alloc((size_t)room);
    if (!at) return buffer_fail(b);
    if (b->n) memcpy(at, b->at, (size_t)b->n);
    if (b->at) tn_alloc_free(b->at, (size_t)b->room);
    b->at = at;
    b->room = room;
    return true;
}

TN_PRIV void *tni_buffer_add(tni_buffer *b, const void *from, int64_t bytes) {
    char *to;
    if (!buffer_reserve(b, bytes)) return NULL;
    /* Growing may move the buffer, so `to` is valid until the next call. */
    to = b->at + b->n;
    if (bytes) memcpy(to, from, (size_t)bytes);
    b->n += bytes;
    return to;
}

TN_PRIV void tni_buffer_text(tni_buffer *b, const char *format, ...) {
    va_list list, again;
    int n;
    va_start(list, format);
    va_copy(again, list);
    /* Measured first, then written; it writes a NUL behind it, which n does not count. */
    n = tn_text_list(NULL, 0, format, list);
    if (n >= 0 && buffer_reserve(b, (int64_t)n + 1)) {
        tn_text_list(b->at + b->n, (size_t)n + 1, format, again);
        b->n += n;
    }
    va_end(again);
    va_end(list);
}

TN_PRIV void tni_buffer_free(tni_buffer *b) {
    if (b->at) tn_alloc_free(b->at, (size_t)b->room);
    memset(b, 0, sizeof *b);
}

TN_PRIV char *tni_text_copy(const char *text, size_t n) {
    char *to = (char *)tn_alloc(n + 1);
    if (!to) return NULL;
    if (n) memcpy(to, text, n);
    to[n] = 0;
    return to;
}
/* The text must still have its first length: memory is given back with its size. */
TN_PRIV void tni_text_free(char *text) {
    if (text) tn_alloc_free(text, strlen(text) + 1);
}

/* --- maps: open addressing, at most half full ------------------------------------------------- */

/* The place of key, or the free place where it belongs. Fibonacci hashing (Knuth, The Art of
 * Computer Programming 3, 6.4): a multiple of 2^64 / golden ratio mixes the address into the high
 * bits, so the low 20 are dropped. A free place exists because the map is at most half full. */
static int64_t map_slot(const tni_map *m, const void *key) {
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    int64_t i = (int64_t)(h >> 20) & (m->room - 1);
    while (m->key[i] && m->key[i] != key) i = (i + 1) & (m->room - 1);
    return i;
}

/* Twice the room. Nothing is ever removed, so every key moves over; on failure m is as before. */
static bool map_grow(tni_map *m) {
    tni_map next = {NULL, NULL, m->n, m->room ? 2 * m->room : 64};
    size_t bytes = (size_t)next.room * sizeof(void *);
    next.key = (const void **)tn_alloc(bytes);
    next.value = (void **)tn_alloc(bytes);
    if (!next.key || !next.value) {
        tni_map_free(&next);
        return false;
    }
    memset(next.key, 0, bytes);
    /* Places depend on the room, so each key is placed anew. */
    for (int64_t i = 0; i < m->room; i++) {
        if (!m->key[i]) continue;
        int64_t to = map_slot(&next, m->key[i]);
        next.key[to] = m->key[i];
        next.value[to] = m->value[i];
    }
    tni_map_free(m);
    *m = next;
    return true;
}

TN_PRIV void **tni_map_at(tni_map *m, const void *key, bool *fresh) {
    int64_t i;
    /* One more key must leave half of the places free. */
    if (2 * (m->n + 1) > m->room && !map_grow(m)) return NULL;
    i = map_slot(m, key);
    *fresh = !m->key[i];
    /* A new key has the value NULL until the caller sets it. */
    if (*fresh) {
        m->key[i] = key;
        m->value[i] = NULL;
        m->n++;
    }
    return &m->value[i];
}

TN_PRIV void **tni_map_find(const tni_map *m, const void *key) {
    int64_t i;
    if (!m->room) return NULL;
    i = map_slot(m, key);
    return m->key[i] ? &m->value[i] : NULL;
}

TN_PRIV void tni_map_free(tni_map *m) {
    size_t bytes = (size_t)m->room * sizeof(void *);
    if (m->key) tn_alloc_free((void *)m->key, bytes);
    if (m->value) tn_alloc_free(m->value, bytes);
    memset(m, 0, sizeof *m);
}
