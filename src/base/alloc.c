/* alloc.c - memory of a context: small blocks from a thread's own bins, large ones from a cache
 * of size classes.
 *
 * Everything is a multiple of 64 bytes, 64-byte aligned, on top of an allocator that aligns as
 * malloc does.
 *   small  <= 1024 bytes. A bin (free list) a multiple of 64 in each tni_block, filled from 64
 *          KiB slabs: no lock, no counting. Freed in another thread, a block goes on its owner's
 *          list `returned`.
 *   large  a header before the data; freed ones wait in a list of their class (steps of 1/8),
 *          under one lock a context. What is in use is a list as well, so that the end of a context
 *          finds all of it.
 * Both come from the reserve while it lasts (reserve.c), else from the allocator. Slabs go back at
 * the context's end. `used` counts slabs whole and large
 * blocks as asked for; the cap counts every byte that the allocator has given. The allocator is
 * never called under the lock. */
#include "base.h"

/* Sanitizers see each block only when it comes from the allocator: there the caches
 * are bypassed. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define TNI_SANITIZED 1
#endif
#if __has_feature(address_sanitizer)
#define TNI_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TNI_SANITIZED 1
#define TNI_POISON 1
#endif
#ifndef TNI_BYPASS_CACHE
#ifdef TNI_SANITIZED
#define TNI_BYPASS_CACHE 1
#else
#define TNI_BYPASS_CACHE 0
#endif
#endif
#ifdef TNI_POISON
#include <sanitizer/asan_interface.h>
#endif

enum {
    ALLOC_SLAB = 65536,
    ALLOC_STEPS = 8, /* classes between two powers of two */
    /* [1..16] 64..1024, then 1152, 1280, ... to beyond 2^61 */
    ALLOC_CLASSES = TNI_BINS + ALLOC_STEPS * 52,
    ALLOC_KEEP = 64 << 20 /* the cache may always hold this much */
};

typedef struct alloc_header {         /* 64 bytes or fewer, right before the data */
    struct alloc_header *next, *prev; /* in use: list of those; cached: next of the class */
    tn_context *context;
    void *raw;           /* what the allocator gave */
    int64_t room, asked; /* bytes behind the header; bytes that the caller wanted */
} alloc_header;

struct tni_slab {
    struct tni_slab *next;
};

struct tni_large {
    uint32_t lock;
    int64_t held;  /* bytes that the allocator has given */
    int64_t slabs; /* bytes of slabs, part of tn_context.used */
    struct tni_reserve *reserve;
    alloc_header *live;
    alloc_header *cache[ALLOC_CLASSES];
};

/* --- size classes ----------------------------------------------------------------------------- */

/* Class of a size and the bytes that all blocks of it have; 0: larger than any memory. */
static int alloc_class(int64_t bytes, int64_t *room) {
    if (bytes <= TNI_SMALL) {
        *room = (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN;
        return (int)(*room / TNI_ALIGN);
    }
    if (bytes > PTRDIFF_MAX / 2) return 0;
#if defined(__GNUC__) && !defined(__TINYC__)
    int log = 63 - __builtin_clzll((unsigned long long)(bytes - 1));
#else
    int log = 10;
    while (bytes > (int64_t)2 << log) log++;
#endif
    /* 2^log < bytes <= 2^(log + 1). Steps of an eighth of 2^log: a class wastes an eighth
     * at most. */
    int64_t step = ((int64_t)1 << log) / ALLOC_STEPS, n = (bytes - 1 - ((int64_t)1 << log)) / step;
    *room = ((int64_t)1 << log) + (n + 1) * step;
    return TNI_BINS + (log - 10) * ALLOC_STEPS + (int)n;
}

/* --- the allocator, counted ------------------------------------------------------------------- */

/* malloc behind the table's functions, and the free of an allocator that has none. */
static void *alloc_malloc(size_t bytes, void *user) { return (void)user, malloc(bytes); }
static void alloc_free(void *at, size_t bytes, void *user) { (void)bytes, (void)user, free(at); }
static void alloc_no_free(void *at, size_t bytes, void *user) { (void)at, (void)bytes, (void)user; }

/* A child of fork may find the lock of a thread that it does not have, half way through a
 * change. Lists change by one store each, so going forward is right at any moment; the rest is
 * put right from there. */
static void alloc_repair(tn_context *c, struct tni_large *m) {
    c->used = m->slabs;
    alloc_header *before = NULL;
    for (alloc_header *h = m->live; h; before = h, h = h->next) {
        h->prev = before;
        c->used += h->asked;
    }
    c->cached = 0;
    for (int i = 0; i < ALLOC_CLASSES; i++)
        for (alloc_header *h = m->cache[i]; h; h = h->next) c->cached += h->room;
}

static struct tni_large *alloc_lock(tn_context *c) {
    struct tni_large *m = c->large;
    if (TNI_UNLIKELY(tni_lock_repair(&m->lock))) alloc_repair(c, m);
    return m;
}

/* Counts bytes that the allocator is about to give; false where the cap does not allow them.
 * Counting comes first, so threads together cannot pass the cap. */
static bool alloc_reserve(tn_context *c, int64_t bytes) {
    struct tni_large *m = alloc_lock(c);
    int64_t after;
    bool fits = tni_add(m->held, bytes, &after) &&
                (c->options.memory_cap <= 0 || after <= c->options.memory_cap);
    if (fits) {
        m->held = after;
        c->allocations++;
    }
    tni_unlock(&m->lock);
    return fits;
}

static void alloc_unreserve(tn_context *c, int64_t bytes) {
    struct tni_large *m = alloc_lock(c);
    m->held -= bytes;
    tni_unlock(&m->lock);
}

/* The allocator's answer, NULL where it or the cap refuses. */
static void *alloc_once(tn_context *c, int64_t bytes) {
    if (bytes > (int64_t)(PTRDIFF_MAX / 2) || !alloc_reserve(c, bytes)) return NULL;
    void *at = c->options.allocator.alloc((size_t)bytes, c->options.allocator.user);
    if (!at) alloc_unreserve(c, bytes);
    return at;
}

/* The calling thread's block, if it is in tn_expect_no_alloc. */
static tni_block *alloc_expects_none(void) {
    tni_block *b = tni_this_thread.block;
    bool known = b && tni_this_thread.epoch == tni_load_relaxed(&tni_epoch);
    return known && b->no_alloc ? b : NULL;
}

/* Whether the allocator may not be asked, with the error that says so. */
static bool alloc_refused(int64_t bytes) {
    tni_block *b = alloc_expects_none();
    if (TNI_LIKELY(!b)) return false;
    tni_error(b, TN_MEMORY, "inside tn_expect_no_alloc %lld bytes would come from the allocator",
              (long long)bytes);
    return true;
}

static void *alloc_from_reserve(tn_context *c, int64_t bytes) {
    if (TNI_LIKELY(!tni_load(&c->large->reserve))) return NULL;
    struct tni_large *m = alloc_lock(c);
    void *at = tni_reserve_take(m->reserve, bytes);
    tni_unlock(&m->lock);
    return at;
}

TN_PRIV void *tni_raw_get(tn_context *c, int64_t bytes) {
    void *at = alloc_from_reserve(c, bytes);
    if (at) return at;
    if (alloc_refused(bytes)) return NULL;
    /* What the cache holds may be all that is missing: it goes back before the second attempt. */
    at = alloc_once(c, bytes);
    if (TNI_UNLIKELY(!at) && tni_cache_clear(c) > 0) {
        at = alloc_from_reserve(c, bytes);
        if (!at) at = alloc_once(c, bytes);
    }
    return at;
}

static bool alloc_to_reserve(tn_context *c, void *at, int64_t bytes) {
    if (TNI_LIKELY(!tni_load(&c->large->reserve))) return false;
    struct tni_large *m = alloc_lock(c);
    bool given = tni_reserve_give(m->reserve, at, bytes);
    tni_unlock(&m->lock);
    return given;
}

TN_PRIV void tni_raw_put(tn_context *c, void *at, int64_t bytes) {
    if (!at || alloc_to_reserve(c, at, bytes)) return;
    alloc_unreserve(c, bytes);
    c->options.allocator.free(at, (size_t)bytes, c->options.allocator.user);
}

/* --- large blocks ----------------------------------------------------------------------------- */

enum { ALLOC_BEFORE = 2 * TNI_ALIGN }; /* at most, of the data: slack to align, and the header */

/* The header ends where the data begin, which is a multiple of TNI_ALIGN. */
static void *alloc_data(alloc_header *h) { return (char *)h + TNI_ALIGN; }
static alloc_header *alloc_of(void *data) {
    return (alloc_header *)(void *)((char *)data - TNI_ALIGN);
}

/* List changes use tni_store in the order that alloc_repair relies on: next is right
 * at any moment. */
static void alloc_link(tn_context *c, struct tni_large *m, alloc_header *h,
                       int64_t bytes) { /* under the lock */
    h->asked = bytes;
    h->prev = NULL;
    h->next = m->live;
    if (h->next) h->next->prev = h;
    tni_store(&m->live, h);
    c->used += bytes;
    if (c->used > c->peak) c->peak = c->used;
}

static void alloc_unlink(tn_context *c, struct tni_large *m, alloc_header *h) { /* under the lock */
    if (h->prev)
        tni_store(&h->prev->next, h->next);
    else
        tni_store(&m->live, h->next);
    if (h->next) h->next->prev = h->prev;
    c->used -= h->asked;
}

/* A block from the allocator with room for the header and for aligning it; not in any list yet. */
static alloc_header *alloc_fresh(tn_context *c, int64_t room) {
    int64_t whole;
    if (!tni_add(room, ALLOC_BEFORE, &whole)) return NULL;
    char *raw = (char *)tni_raw_get(c, whole);
    if (!raw) return NULL;
    uintptr_t data = ((uintptr_t)raw + ALLOC_BEFORE) & ~(uintptr_t)(TNI_ALIGN - 1);
    alloc_header *h = alloc_of(raw + (data - (uintptr_t)raw));
    h->raw = raw;
    h->room = room;
    h->context = c;
    return h;
}

/* Where the caches are bypassed, from the last byte asked for to the end of what the
 * allocator gave. */
static void alloc_poison_tail(alloc_header *h) {
#ifdef TNI_POISON
    char *end = (char *)alloc_data(h) + h->asked, *last = (char *)h->raw + h->room + ALLOC_BEFORE;
    if (h->context->options.no_cache) ASAN_POISON_MEMORY_REGION(end, (size_t)(last - end));
#else
    (void)h;
#endif
}

TN_PRIV void tni_poison(void *at, size_t bytes, bool on) {
#ifdef TNI_POISON
    if (on)
        ASAN_POISON_MEMORY_REGION(at, bytes);
    else
        ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#else
    (void)at, (void)bytes, (void)on;
#endif
}

static void alloc_release(alloc_header *h) {
#ifdef TNI_POISON
    ASAN_UNPOISON_MEMORY_REGION(h->raw, (size_t)(h->room + ALLOC_BEFORE));
#endif
    tni_raw_put(h->context, h->raw, h->room + ALLOC_BEFORE);
}

TN_PRIV void *tni_get_apart(tn_context *c, int64_t bytes) {
    int64_t room;
    int index = alloc_class(bytes, &room);
    if (!index || bytes <= 0) return NULL;
    /* Without caches there are no classes: sanitizers see the size that was asked for. */
    if (c->options.no_cache) room = bytes;
    struct tni_large *m = alloc_lock(c);
    /* A cached block of the class, or else a new one, linked under a second lock: the allocator is
     * not called under it. */
    alloc_header *h = m->cache[index];
    if (h) {
        tni_store(&m->cache[index], h->next);
        c->cached -= h->room;
        alloc_link(c, m, h, bytes);
    }
    tni_unlock(&m->lock);
    /* Nothing cached: the allocator is asked. */
    if (!h) {
        h = alloc_fresh(c, room);
        if (!h) return NULL;
        alloc_lock(c);
        alloc_link(c, m, h, bytes);
        tni_unlock(&m->lock);
    }
    alloc_poison_tail(h);
    return alloc_data(h);
}

TN_PRIV void tni_put_apart(void *at) {
    if (!at) return;
    alloc_header *h = alloc_of(at);
    tn_context *c = h->context;
    int64_t room;
    int index = alloc_class(h->room, &room);
    struct tni_large *m = alloc_lock(c);
    alloc_unlink(c, m, h);
    /* Steps of training settle within twice their peak; blocks beyond that are of sizes that do
     * not come back. */
    bool keep = !c->options.no_cache &&
                (c->used + c->cached + h->room <= 2 * c->peak + ALLOC_KEEP || alloc_expects_none());
    if (keep) {
        h->next = m->cache[index];
        tni_store(&m->cache[index], h);
        c->cached += h->room;
    }
    tni_unlock(&m->lock);
    if (!keep) alloc_release(h);
}

TN_PRIV int64_t tni_cache_clear(tn_context *c) {
    /* Collects all cached blocks under the lock, then releases them without it. */
    alloc_header *all = NULL;
    struct tni_large *m = alloc_lock(c);
    for (int i = 0; i < ALLOC_CLASSES; i++)
        for (alloc_header *h = m->cache[i]; h; h = m->cache[i]) {
            m->cache[i] = h->next;
            h->next = all;
            all = h;
        }
    /* What the caches held, all of which is now in `all`. */
    int64_t bytes = c->cached;
    c->cached = 0;
    tni_unlock(&m->lock);
    while (all) {
        alloc_header *h = all;
        all = h->next;
        alloc_release(h);
    }
    return bytes;
}

/* --- small blocks ----------------------------------------------------------------------------- */

typedef struct alloc_small { /* a free one */
    struct alloc_small *next;
    uintptr_t bin; /* while it is on `returned` */
} alloc_small;

static void alloc_push(tni_block *b, uintptr_t bin, void *at) {
    ((alloc_small *)at)->next = (alloc_small *)b->bin[bin];
    b->bin[bin] = at;
}

/* Blocks that other threads have freed, into the bins. */
static void alloc_drain(tni_block *b) {
    alloc_small *s = (alloc_small *)tni_exchange(&b->returned, (void *)NULL);
    while (s) {
        alloc_small *next = s->next;
        alloc_push(b, s->bin, s);
        s = next;
    }
}

static bool alloc_new_slab(tni_block *b) {
    tn_context *c = b->context;
    /* A slab counts as used as a whole, whether its blocks are or not. */
    char *raw = (char *)tni_raw_get(c, ALLOC_SLAB);
    if (!raw) return false;
    struct tni_large *m = alloc_lock(c);
    m->slabs += ALLOC_SLAB;
    c->used += ALLOC_SLAB;
    if (c->used > c->peak) c->peak = c->used;
    tni_unlock(&m->lock);
    /* What is left of the old slab is a block of its own size: it goes into that bin. */
    if (b->slab < b->slab_end)
        alloc_push(b, (uintptr_t)(b->slab_end - b->slab) / TNI_ALIGN, b->slab);
    struct tni_slab *slab = (struct tni_slab *)(void *)raw;
    slab->next = b->slabs;
    b->slabs = slab;
    /* The first block begins aligned behind the slab's link. */
    uintptr_t first = ((uintptr_t)raw + sizeof *slab + TNI_ALIGN - 1) & ~(uintptr_t)(TNI_ALIGN - 1);
    b->slab = raw + (first - (uintptr_t)raw);
    b->slab_end = b->slab + (ALLOC_SLAB - (int64_t)(b->slab - raw)) / TNI_ALIGN * TNI_ALIGN;
    return true;
}

TNI_NOINLINE static void *alloc_refill(tni_block *b, int bin) {
    /* The bin is empty: first what other threads gave back, then the slab, then a new one. */
    if (tni_load_relaxed(&b->returned)) {
        alloc_drain(b);
        void *at = b->bin[bin];
        if (at) {
            b->bin[bin] = ((alloc_small *)at)->next;
            return at;
        }
    }
    /* Blocks are cut off the slab's front; no header stands before them. */
    if (b->slab_end - b->slab < (ptrdiff_t)bin * TNI_ALIGN && !alloc_new_slab(b)) return NULL;
    void *at = b->slab;
    b->slab += (ptrdiff_t)bin * TNI_ALIGN;
    return at;
}

TN_PRIV void *tni_get(tni_block *b, int64_t bytes) {
    if (bytes > TNI_SMALL || bytes <= 0 || b->context->options.no_cache)
        return tni_get_apart(b->context, bytes);
    /* The bin of the smallest multiple of TNI_ALIGN that is large enough. */
    int bin = (int)((bytes + TNI_ALIGN - 1) / TNI_ALIGN);
    alloc_small *at = (alloc_small *)b->bin[bin];
    if (TNI_LIKELY(at != NULL)) {
        b->bin[bin] = at->next;
        return at;
    }
    return alloc_refill(b, bin);
}

/* Where the caches are bypassed each block knows its size: a wrong one at free is reported as a
 * bad access. */
static void alloc_check_size(void *at, int64_t bytes) {
#ifdef TNI_POISON
    alloc_header *h = alloc_of(at);
    if (bytes == h->asked) return;
    ASAN_POISON_MEMORY_REGION(at, (size_t)h->asked);
    *(volatile char *)at = 0; /* the size given to tni_put is not the one given to tni_get */
#else
    (void)at, (void)bytes;
#endif
}

/* From another thread: onto the owner's list without a lock. Only the owner takes from it, and all
 * at once, so the list cannot be confused by a block that comes back (ABA). */
static void alloc_give_back(tni_block *owner, uintptr_t bin, void *at) {
    alloc_small *s = (alloc_small *)at;
    s->bin = bin;
    void *head = tni_load_relaxed(&owner->returned);
    do s->next = (alloc_small *)head;
    while (!tni_swap_if(&owner->returned, &head, at));
}

TN_PRIV void tni_put(tni_block *b, tni_block *owner, void *at, int64_t bytes) {
    if (!at) return;
    if (TNI_LIKELY(bytes <= TNI_SMALL && !owner->context->options.no_cache)) {
        uintptr_t bin = (uintptr_t)(bytes + TNI_ALIGN - 1) / TNI_ALIGN;
        /* Its own bins need no lock; another thread's are reached by its list only. */
        if (TNI_LIKELY(b == owner))
            alloc_push(b, bin, at);
        else
            alloc_give_back(owner, bin, at);
        return;
    }
    if (owner->context->options.no_cache) alloc_check_size(at, bytes);
    tni_put_apart(at);
}

TN_PRIV int64_t tni_memory_used(tn_context *c) {
    struct tni_large *m = alloc_lock(c);
    const int64_t used = c->used;
    tni_unlock(&m->lock);
    return used;
}

TN_PRIV bool tni_memory_error(tni_block *b, int64_t bytes) {
    /* The numbers are of this moment: other threads go on. */
    const long long used = tni_memory_used(b->context), cap = b->context->options.memory_cap;
    if (b->failed) return false;
    if (cap > 0)
        tni_error(b, TN_MEMORY,
                  "out of memory: cannot allocate %lld bytes with %lld in use and a cap of %lld",
                  (long long)bytes, used, cap);
    else
        tni_error(b, TN_MEMORY, "out of memory: cannot allocate %lld bytes with %lld in use",
                  (long long)bytes, used);
    if (tni_rooms_above()->explain) tni_rooms_above()->explain(b);
    return false;
}

TN_PRIV void *tni_need(tni_block *b, int64_t bytes) {
    void *at = tni_get(b, bytes);
    if (TNI_UNLIKELY(!at)) tni_memory_error(b, bytes);
    return at;
}

/* --- begin and end of a context --------------------------------------------------------------- */

TN_PRIV bool tni_memory_begin(tn_context *c) {
    tn_allocator *a = &c->options.allocator;
    if (!a->alloc) {
        a->alloc = alloc_malloc;
        a->free = alloc_free;
    }
    if (!a->free) a->free = alloc_no_free; /* an arena */
    if (TNI_BYPASS_CACHE) c->options.no_cache = true;
    /* The context and this struct count under the cap, as all that the allocator gives. */
    int64_t bytes = tni_rooms_above()->context_bytes + (int64_t)sizeof(struct tni_large);
    if (c->options.memory_cap > 0 && c->options.memory_cap < bytes) return false;
    c->large = (struct tni_large *)a->alloc(sizeof *c->large, a->user);
    if (!c->large) return false;
    memset(c->large, 0, sizeof *c->large);
    c->large->held = bytes; /* the context itself was got by context.c */
    c->allocations = 2;
    return true;
}

TN_PRIV void tni_memory_leave_block(tni_block *b) {
    while (b->slabs) {
        struct tni_slab *slab = b->slabs;
        b->slabs = slab->next;
        tni_raw_put(b->context, slab, ALLOC_SLAB);
    }
}

TN_PRIV void tni_memory_end(tn_context *c) {
    /* Slabs have gone with their blocks; what is left is in use or cached, and each of these
     * has a header. */
    tni_cache_clear(c);
    while (c->large->live) {
        alloc_header *h = c->large->live;
        c->large->live = h->next;
        alloc_release(h);
    }
    int64_t bytes;
    for (void *at; (at = tni_reserve_remove(&c->large->reserve, &bytes)) != NULL;)
        c->options.allocator.free(at, (size_t)bytes, c->options.allocator.user);
    c->options.allocator.free(c->large, sizeof *c->large, c->options.allocator.user);
    c->large = NULL;
}

/* --- public ----------------------------------------------------------------------------------- */

TN_API tn_memory_stats tn_memory(void) {
    tn_memory_stats s = {0, 0, 0, 0, 0, 0};
    tni_block *b = tni_here();
    if (!b) return s;
    /* All of one moment: read under the lock that changes them. */
    tn_context *c = b->context;
    struct tni_large *m = alloc_lock(c);
    s.bytes_used = c->used;
    s.bytes_peak = c->peak;
    s.bytes_cached = c->cached;
    s.allocations = c->allocations;
    s.bytes_reserved = tni_reserve_left(m->reserve);
    tni_unlock(&m->lock);
    s.live_tensors = b->live_count;
    return s;
}

TN_API void tn_memory_reset_peak(void) {
    tni_block *b = tni_here();
    if (!b) return;
    struct tni_large *m = alloc_lock(b->context);
    b->context->peak = b->context->used;
    tni_unlock(&m->lock);
}

TN_API int64_t tn_memory_trim(void) {
    tni_block *b = tni_here();
    int64_t bytes = 0;
    if (!b || b->no_alloc) return 0;
    if (tni_rooms_above()->trim) bytes = tni_rooms_above()->trim(b);
    return bytes + tni_cache_clear(b->context);
}

TN_API bool tn_memory_reserve_at(const char *file, int line, int64_t bytes) {
    enum { PAGE = 4096 };
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    tn_context *c = b->context;
    if (bytes < 0) {
        tni_error(b, TN_INVALID, "tn_memory_reserve: expected 0 bytes or more, got %lld",
                  (long long)bytes);
        return tni_leave(b, false);
    }
    if (!bytes || c->options.no_cache) return true;
    if (alloc_refused(bytes)) return tni_leave(b, false);
    /* Its own head lies before what it gives, which is aligned. */
    int64_t whole;
    char *raw = NULL;
    if (tni_add(bytes, 2 * TNI_ALIGN, &whole)) raw = (char *)alloc_once(c, whole);
    if (!raw) return tni_leave(b, tni_memory_error(b, bytes));
    for (int64_t i = 0; i < whole; i += PAGE) ((volatile char *)raw)[i] = 0;
    struct tni_large *m = alloc_lock(c);
    tni_reserve_add(&m->reserve, raw, whole);
    tni_unlock(&m->lock);
    return true;
}

TN_API void tn_set_memory_cap(int64_t bytes) {
    tni_block *b = tni_here();
    if (!b) return;
    struct tni_large *m = alloc_lock(b->context);
    b->context->options.memory_cap = bytes;
    tni_unlock(&m->lock);
}

TN_API bool tn_set_no_alloc_mode(bool enabled) {
    tni_block *b = tni_here();
    if (!b) return false;
    const bool before = b->no_alloc;
    b->no_alloc = enabled && !b->context->options.no_cache;
    /* An error inside of a call that went on without the memory has not been told. */
    if (before && !enabled) tni_leave(b, !b->failed);
    return before;
}

TN_API void *tn_alloc(size_t bytes) {
    tni_block *b = tni_here();
    if (!b) return NULL;
    tni_place_unknown(b);
    /* A size beyond any memory stays beyond it as an int64; none is one byte. */
    int64_t want = bytes > (size_t)(PTRDIFF_MAX / 2) ? INT64_MAX : bytes ? (int64_t)bytes : 1;
    void *at = tni_get_apart(b->context, want);
    if (at) return at;
    tni_memory_error(b, want);
    tni_error_tell(b);
    return NULL;
}

TN_API void tn_alloc_free(void *at, size_t bytes) {
    if (at) alloc_check_size(at, bytes ? (int64_t)bytes : 1);
    tni_put_apart(at);
}

#undef TNI_SANITIZED
#undef TNI_POISON
