/* memory.c - what a context tells of its memory and asks of its allocator, beside a model: random
 * programs of tensors, views, wrapped memory, owners, scopes and foreign threads.
 *
 *     memory [SEED [COUNT]]
 *
 * After each step: bytes used, cached and peak, calls of the allocator, live tensors, and which
 * wrapped memory was released. Small blocks come from slabs of 64 KiB: used may be more by whole
 * slabs, which the allocator has seen. At the end every block is back, with the size it was asked
 * for. Contexts are plain, without caches, or under a cap. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, ROOTS = 40, TENSORS = 90, BLOCKS = 4096, SLAB = 65536, LARGE = 1024 };
enum { PLAIN, NO_CACHE, CAPPED };

typedef struct root { /* a storage and the tensor over it */
    int64_t bytes;    /* of its own data */
    bool header;      /* its first tensor is there: held, or the base of a view */
    bool wrapped;
    int released, tensors;
    char memory[64];
} root;
typedef struct handle {
    tn_tensor *t; /* NULL: gone */
    int root, owners;
    bool first, scoped;
} handle;

static struct {
    void *at;
    size_t bytes;
} blocks[BLOCKS];
static int nblocks;
static int64_t held, calls, slabs, cap;
static bool bad_free;

static struct {
    uint64_t random;
    int kind, nroots, nhandles;
    root root[ROOTS];
    handle handle[TENSORS];
    int64_t used, cached, peak, allocations, base; /* without slabs; base: before the program */
    int64_t classes[2000];                         /* cached blocks of each class */
    bool wrong;
    int64_t mark, away; /* headers freed in another thread, counted until the next new one */
} m;

/* --- the allocator ---------------------------------------------------------------------------- */

static void *give(size_t bytes, void *user) {
    void *at = malloc(bytes);
    (void)user;
    calls++;
    if (bytes == SLAB) slabs++;
    if (nblocks == BLOCKS || !at) return free(at), (void *)NULL;
    blocks[nblocks].at = at, blocks[nblocks++].bytes = bytes;
    held += (int64_t)bytes;
    if (cap && held > cap) bad_free = true;
    return at;
}
static void take(void *at, size_t bytes, void *user) {
    (void)user;
    for (int i = nblocks - 1; i >= 0; i--)
        if (blocks[i].at == at) {
            if (blocks[i].bytes != bytes) bad_free = true;
            held -= (int64_t)blocks[i].bytes;
            blocks[i] = blocks[--nblocks];
            memset(at, 0xdd, bytes);
            free(at);
            return;
        }
    bad_free = true;
}

/* --- the model -------------------------------------------------------------------------------- */

static int below(int n) {
    uint64_t z = m.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}
static void wrong(const char *what, int64_t is, int64_t should) {
    if (!m.wrong)
        printf("%s: %lld, not %lld\n", what, (long long)is, (long long)should), m.wrong = true;
}

/* The room of large data: eight sizes between two powers of two. */
static int64_t room_of(int64_t bytes, int *index) {
    int64_t power = LARGE;
    *index = 0;
    for (;; power *= 2)
        for (int64_t k = 9; k <= 16; k++, ++*index)
            if (power * k / 8 >= bytes) return power * k / 8;
}

static void model_get(int64_t bytes) {
    int index;
    int64_t room = room_of(bytes, &index);
    if (bytes <= LARGE || m.kind != PLAIN) return;
    if (m.classes[index])
        m.classes[index]--, m.cached -= room;
    else
        m.allocations++;
    m.used += bytes;
}
static void model_put(int64_t bytes) {
    int index;
    int64_t room = room_of(bytes, &index);
    if (bytes <= LARGE || m.kind != PLAIN) return;
    m.classes[index]++, m.cached += room;
    m.used -= bytes;
}

/* A handle has lost an owner. */
static void model_drop(handle *h) {
    root *r = &m.root[h->root];
    if (--h->owners) return;
    h->t = NULL;
    if (--r->tensors) return;
    r->header = false;
    if (r->wrapped)
        r->released--; /* now it is to be 0 again: the callback has added one */
    else
        model_put(r->bytes);
}

static int64_t live(void) {
    int64_t n = 0;
    for (int i = 0; i < m.nroots; i++) n += m.root[i].header;
    for (int i = 0; i < m.nhandles; i++) n += m.handle[i].t && !m.handle[i].first;
    return n;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void released(void *data, void *user) {
    root *r = (root *)user;
    if (data != r->memory) wrong("release of other memory", 1, 0);
    r->released++;
}

static handle *new_handle(tn_tensor *t, int of, bool first) {
    handle *h = &m.handle[m.nhandles++];
    memset(h, 0, sizeof *h);
    h->t = t, h->root = of, h->first = first, h->owners = 1;
    h->scoped = true;
    if (below(3) == 0) tn_hold(t), h->scoped = false;
    m.root[of].tensors++;
    return h;
}

/* Only what the cap forbids may fail; nothing has changed then. */
static bool refused(const tn_tensor *t, int64_t wanted) {
    tn_error_info e;
    m.away = 0; /* a header was asked for */
    if (t) return false;
    if (!tn_error_take(&e) || e.code != TN_MEMORY) {
        printf("%s\n", e.message);
        wrong("no error of memory", 0, 1);
    }
    if (!cap || held + 2 * wanted + 3 * SLAB <= cap) wrong("refused under the cap", held, cap);
    if (tn_memory().bytes_cached) wrong("refused with a cache", tn_memory().bytes_cached, 0);
    return true;
}

static void step_new(void) {
    static const int64_t sizes[] = {0,    1,    8,    512,  513,  1023, 1024,  1025,  1152,
                                    1153, 2048, 2049, 4095, 4096, 4608, 10000, 65536, 300000};
    int64_t bytes = sizes[below(18)] + (below(4) ? 0 : below(3000));
    tn_tensor *t;
    root *r = &m.root[m.nroots];
    if (m.nroots == ROOTS || m.nhandles == TENSORS) return;
    t = tnp_empty(tn_ints_of(&bytes, 1), TN_U8, TN_CPU);
    if (refused(t, bytes)) return;
    memset(r, 0, sizeof *r);
    r->bytes = bytes, r->header = true;
    model_get(bytes);
    if (bytes) memset(tn_data(t), m.nroots, (size_t)bytes);
    new_handle(t, m.nroots++, true);
}

static void step_wrap(void) {
    root *r = &m.root[m.nroots];
    int64_t n = below(64);
    tn_wrap_options o;
    tn_tensor *t;
    if (m.nroots == ROOTS || m.nhandles == TENSORS) return;
    memset(r, 0, sizeof *r);
    memset(&o, 0, sizeof o);
    o.release = released, o.user = r;
    t = tn_wrap(r->memory, tn_ints_of(&n, 1), TN_U8, &o);
    if (refused(t, 0)) return;
    r->bytes = n, r->wrapped = r->header = true;
    memset(r->memory, m.nroots, (size_t)n);
    new_handle(t, m.nroots++, true);
}

static handle *any(void) {
    for (int i = 0; i < 20 && m.nhandles; i++) {
        handle *h = &m.handle[below(m.nhandles)];
        if (h->t) return h;
    }
    return NULL;
}

static void step_view(void) {
    handle *h = any();
    tn_tensor *t;
    if (!h || m.nhandles == TENSORS) return;
    t = tnp_slice(h->t, 0, below(3), INT64_MAX, 1 + below(2));
    if (refused(t, 0)) return;
    new_handle(t, h->root, false);
}

static void step_owner(void) {
    handle *h = any();
    if (!h) return;
    if (below(2))
        tn_retain(h->t), h->owners++;
    else if (h->scoped && below(2))
        tn_take(h->t), h->scoped = false; /* of the same count */
    else if (h->scoped)
        tn_hold(h->t), h->scoped = false;
    else
        tn_hold(h->t), h->owners++;
}

static void *free_there(void *t) {
    tn_free((tn_tensor *)t);
    return NULL;
}
static void check_data(const handle *h) {
    const root *r = &m.root[h->root];
    int64_t n = tn_numel(h->t);
    const uint8_t *at = (const uint8_t *)tn_data(h->t);
    if (n && (at[0] != h->root || at[(n - 1) * tn_stride(h->t, 0)] != h->root))
        wrong("another's data", at[0], (int64_t)(r - m.root));
}
static void step_free(bool elsewhere) {
    handle *h = any();
    pthread_t thread;
    int64_t before = live();
    if (!h) return;
    check_data(h);
    elsewhere = elsewhere && !h->scoped;
    if (elsewhere) {
        pthread_create(&thread, NULL, free_there, h->t);
        pthread_join(thread, NULL);
    } else
        tn_free(h->t), h->scoped = false;
    model_drop(h);
    if (elsewhere) m.away += before - live();
}

static void end_scope(void) {
    tn_scope_end(m.mark);
    for (int i = 0; i < m.nhandles; i++)
        if (m.handle[i].t && m.handle[i].scoped)
            m.handle[i].scoped = false, model_drop(&m.handle[i]);
    m.mark = tn_scope_begin();
}

static void step_trim(void) {
    int64_t cached = tn_memory().bytes_cached, before = held, back = tn_memory_trim();
    if (back != cached) wrong("bytes trimmed", back, cached);
    if (before - held < cached) wrong("bytes given back", before - held, cached);
    memset(m.classes, 0, sizeof m.classes);
    m.cached = 0;
}

/* --- comparing -------------------------------------------------------------------------------- */

static void compare(void) {
    tn_memory_stats s = tn_memory();
    for (int i = 0; i < m.nroots; i++)
        if (m.root[i].released) wrong("releases of wrapped memory", m.root[i].released, 0);
    if (s.live_tensors != live() + m.away) wrong("live tensors", s.live_tensors, live() + m.away);
    if (s.allocations != calls && m.kind != CAPPED) wrong("allocations", s.allocations, calls);
    if (s.bytes_used + s.bytes_cached > held) wrong("held", held, s.bytes_used + s.bytes_cached);
    if (s.bytes_peak < s.bytes_used) wrong("peak below use", s.bytes_peak, s.bytes_used);
    if (m.kind == NO_CACHE && s.bytes_cached) wrong("cached", s.bytes_cached, 0);
    if (bad_free) wrong("a free of another size, or more than the cap", 1, 0);
    if (m.kind != PLAIN) return;
    if (s.bytes_used > m.peak) m.peak = s.bytes_used;
    if (s.bytes_used != m.base + m.used + slabs * SLAB)
        wrong("used", s.bytes_used, m.base + m.used + slabs * SLAB);
    if (s.bytes_cached != m.cached) wrong("cached", s.bytes_cached, m.cached);
    if (s.bytes_peak != m.peak) wrong("peak", s.bytes_peak, m.peak);
    if (calls - slabs != m.allocations) wrong("asked for", calls - slabs, m.allocations);
}

static void step(void) {
    int kind = below(20);
    if (kind < 6)
        step_new();
    else if (kind < 8)
        step_wrap();
    else if (kind < 11)
        step_view();
    else if (kind < 13)
        step_owner();
    else if (kind < 18)
        step_free(kind == 17);
    else if (kind == 18)
        below(3) ? (void)0 : end_scope();
    else if (below(2))
        step_trim();
    else
        tn_memory_reset_peak(), m.peak = tn_memory().bytes_used;
}

static void program(void) {
    int left;
    m.mark = tn_scope_begin();
    tn_free(tn_take(tnp_empty(tn_ints_of(&m.base, 1), TN_F32, TN_CPU))); /* the thread's block */
    m.base = tn_memory().bytes_used - slabs * SLAB;
    m.allocations = calls - slabs;
    m.peak = tn_memory().bytes_peak;
    for (int i = 0; i < STEPS && !m.wrong; i++) step(), compare();
    left = below(3); /* 0: all is freed by hand; else the context's end finds it */
    for (int i = 0; i < m.nhandles && left == 0 && !m.wrong; i++)
        while (m.handle[i].t) tn_free(m.handle[i].t), model_drop(&m.handle[i]);
    if (!m.wrong) compare();
    if (left == 0) tn_scope_end(m.mark);
}

static bool run(uint64_t seed) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    memset(&m, 0, sizeof m);
    m.random = seed, m.kind = below(3);
    held = calls = slabs = cap = 0, bad_free = false;
    o.allocator.alloc = give, o.allocator.free = take;
    o.threads = -1;
    o.no_cache = m.kind == NO_CACHE;
    if (m.kind == CAPPED) o.memory_cap = cap = 250000 + below(900000);
    c = tn_context_new(&o);
    tn_context_use(c);
    program();
    tn_context_free(c);
    tn_context_use(NULL);
    for (int i = 0; i < m.nroots && !m.wrong; i++) {
        const root *r = &m.root[i];
        if (r->wrapped && r->released != (r->tensors ? 1 : 0))
            wrong("releases at the end", r->released, r->tensors ? 1 : 0);
    }
    if (nblocks || held || bad_free) wrong("blocks are left, or of another size", held, 0);
    nblocks = 0;
    if (m.wrong) printf("seed %llu, kind %d\n", (unsigned long long)seed, m.kind);
    return !m.wrong;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 1000, passed = 0, failed = 0;
    for (int i = 0; i < count && failed < 5; i++)
        if (run(first + (uint64_t)i))
            passed++;
        else
            failed++;
    printf("memory: %d programs\n%d passed, %d failed\n", passed + failed, passed, failed);
    return failed != 0;
}
