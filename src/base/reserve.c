/* reserve.c - memory that a context took from the allocator in advance, given out in spans.
 *
 * The first span that is large enough is cut at its end; a span that comes back joins its
 * neighbours, so that what was cut small can be given out whole. Only blocks that the caches do not
 * have come from here, so a search through a list is quick enough. The caller has the lock of large
 * blocks. A child of fork may take that over half way through a change: each change becomes visible
 * by one store, or loses a span for as long as the child lives. */
#include "base.h"

typedef struct reserve_span {  /* a free one */
    struct reserve_span *next; /* at a higher address */
    int64_t bytes;
} reserve_span;

struct tni_reserve {
    struct tni_reserve *next;
    int64_t bytes; /* from this struct on, as the allocator gave them */
    reserve_span *free;
};

static int64_t reserve_round(int64_t bytes) {
    return (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN;
}

TN_PRIV void tni_reserve_add(struct tni_reserve **list, void *raw, int64_t bytes) {
    struct tni_reserve *r = (struct tni_reserve *)raw;
    /* Spans begin and end at multiples of TNI_ALIGN. */
    uintptr_t start = ((uintptr_t)raw + sizeof *r + TNI_ALIGN - 1) & ~(uintptr_t)(TNI_ALIGN - 1);
    reserve_span *s = (reserve_span *)(void *)((char *)raw + (start - (uintptr_t)raw));
    s->next = NULL;
    s->bytes = (bytes - (int64_t)(start - (uintptr_t)raw)) / TNI_ALIGN * TNI_ALIGN;
    r->bytes = bytes;
    r->free = s;
    r->next = *list;
    tni_store(list, r);
}

TN_PRIV void *tni_reserve_take(struct tni_reserve *list, int64_t bytes) {
    if (bytes > (int64_t)(PTRDIFF_MAX / 2)) return NULL;
    const int64_t want = reserve_round(bytes);
    for (struct tni_reserve *r = list; r; r = r->next)
        for (reserve_span **at = &r->free, *s; (s = *at) != NULL; at = &s->next) {
            if (s->bytes < want) continue;
            const int64_t left = s->bytes - want;
            if (left)
                tni_store(&s->bytes, left);
            else
                tni_store(at, s->next);
            return (char *)s + left;
        }
    return NULL;
}

TN_PRIV bool tni_reserve_give(struct tni_reserve *list, void *at, int64_t bytes) {
    struct tni_reserve *r = list;
    while (r && (uintptr_t)at - (uintptr_t)r >= (uintptr_t)r->bytes) r = r->next;
    if (!r) return false;
    /* Its neighbours in the list: before ends at or below s, after begins at or above its end. */
    reserve_span *s = (reserve_span *)at, *before = NULL, *after = r->free;
    for (; after && after < s; after = after->next) before = after;
    s->bytes = reserve_round(bytes);
    s->next = after;
    if (after && (char *)s + s->bytes == (char *)after) {
        s->bytes += after->bytes;
        s->next = after->next;
    }
    if (before && (char *)before + before->bytes == (char *)s) {
        tni_store(&before->next, s->next);
        tni_store(&before->bytes, before->bytes + s->bytes);
    } else
        tni_store(before ? &before->next : &r->free, s);
    return true;
}

TN_PRIV int64_t tni_reserve_left(const struct tni_reserve *list) {
    int64_t bytes = 0;
    for (const struct tni_reserve *r = list; r; r = r->next)
        for (const reserve_span *s = r->free; s; s = s->next) bytes += s->bytes;
    return bytes;
}

TN_PRIV void *tni_reserve_remove(struct tni_reserve **list, int64_t *bytes) {
    struct tni_reserve *r = *list;
    if (!r) return NULL;
    *list = r->next;
    *bytes = r->bytes;
    return r;
}
