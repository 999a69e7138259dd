/* null.c - see null.h. It knows the library by its public functions, as any backend: what a
 * backend has to do stands here in short. */
#include "null.h"
#include "order.h"
#include "tested.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { DEVICES = ORDER_DEVICES, BARE = 2, ALIGN = 64, STALE = 256, PAGE = 4096 };
#define ROOM ((size_t)256 << 20) /* of a stream; pages that are never touched cost nothing */
#define ALL (ROOM * ORDER_STREAMS)

int64_t null_blocks, null_fail_alloc = -1, null_fail_copy = -1;
int64_t null_allocs, null_copies, null_kernels, null_foreign, null_kept, null_trims, null_pinned,
    null_laters, null_across_copies, null_opened, null_waits, null_events, null_graphs,
    null_launches, null_refuse_graph;
const char *null_broken, *null_lost;

/* --- memory: first fit in one range of addresses ---------------------------------------------- */

typedef struct block {
    struct block *next; /* by address */
    size_t at, bytes;
    order_uses uses;
} block;
typedef struct memory {
    char *base;
    block *first;
    int open;    /* functions that run; 0: nobody may read */
    size_t used; /* bytes from base that were ever given out */
    struct {
        size_t at, bytes;
    } stale[STALE]; /* new and freed since it was open: NaN when it is open again */
    int nstale;
    tn_device_memory_info info;
} memory;
static memory memories[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void memory_protect(memory *m, int how) {
    if (m->used && mprotect(m->base, m->used, how)) abort();
}
static void memory_open(int device) {
    memory *m = &memories[device];
    pthread_mutex_lock(&lock);
    if (m->open++ == 0) {
        memory_protect(m, PROT_READ | PROT_WRITE);
        while (m->nstale) {
            m->nstale--;
            memset(m->base + m->stale[m->nstale].at, 0xff, m->stale[m->nstale].bytes);
        }
    }
    pthread_mutex_unlock(&lock);
}
static void memory_close(int device) {
    memory *m = &memories[device];
    pthread_mutex_lock(&lock);
    if (--m->open == 0) memory_protect(m, PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* --- streams ---------------------------------------------------------------------------------- */

typedef struct stream {
    int number; /* of all */
    bool taken;
} stream;
static stream streams[ORDER_ALL];

/* The number of a device's stream. */
static int stream_of(int device, const void *handle) {
    return handle ? ((const stream *)handle)->number : device * ORDER_STREAMS;
}
static int stream_now(int device) {
    return stream_of(device, device == BARE ? NULL : tn_backend_stream(tn_null_backend(), device));
}
static block *block_of(int device, const void *data) {
    const memory *m = &memories[device];
    const size_t at = (size_t)((const char *)data - m->base);
    for (block *p = m->first; p && m->base; p = p->next)
        if (at >= p->at && at < p->at + p->bytes) return p;
    return NULL;
}
/* Something that was asked touches t; it may be of the host, or nothing. */
static void touch(int device, const tn_tensor *t, bool writes) {
    const void *data = t && tn_numel(t) ? tn_device_data(t) : NULL;
    block *p = data && tn_device_of(t) != TN_CPU ? block_of(device, data) : NULL;
    if (p && writes) order_write(&p->uses, stream_now(device));
    if (p && !writes) order_read(&p->uses, stream_now(device));
}

/* NaN in each floating dtype, before anybody can read it. */
static void memory_spoil(int device, const block *of) {
    memory *m = &memories[device];
    if (m->nstale == STALE) {
        memory_open(device);
        memory_close(device);
    }
    if (m->open) {
        memset(m->base + of->at, 0xff, of->bytes);
    } else {
        m->stale[m->nstale].at = of->at;
        m->stale[m->nstale++].bytes = of->bytes;
    }
}

static bool null_open(int32_t device, uint64_t owner, char *why, size_t room) {
    memory *m = &memories[device];
    void *base;
    (void)owner;
    null_opened += device < BARE;
    if (m->base) return true;
    base = mmap(NULL, ALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        snprintf(why, room, "no addresses are left");
        return false;
    }
    m->base = (char *)base;
    return true;
}

static void null_close(int32_t device, uint64_t owner) {
    (void)device;
    (void)owner;
    null_opened--;
}

/* What was freed and is not used by any stream any more. */
static void memory_sweep(memory *m) {
    for (block **at = &m->first; *at;) {
        block *p = *at;
        if (!p->uses.freed || !order_is_over(&p->uses)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free(p);
    }
}

/* Each stream has addresses of its own. */
static void *null_alloc(int32_t device, int64_t bytes, char *why, size_t room) {
    memory *m = &memories[device];
    const size_t wanted = ((size_t)bytes + ALIGN - 1) / ALIGN * ALIGN;
    const int now = stream_now(device);
    block **at = &m->first, *made;
    size_t from = (size_t)(now % ORDER_STREAMS) * ROOM;
    const size_t end = from + ROOM;
    null_allocs++;
    if (null_lost) snprintf(why, room, "%s", null_lost);
    if (null_lost || null_fail_alloc == 0 || null_kept) return NULL;
    if (m->info.limit && m->info.used + (int64_t)wanted > m->info.limit) return NULL;
    if (null_fail_alloc > 0) null_fail_alloc--;
    memory_sweep(m);
    while (*at && (*at)->at < from) at = &(*at)->next;
    for (; *at && (*at)->at - from < wanted; at = &(*at)->next) from = (*at)->at + (*at)->bytes;
    if (from + wanted > end || !(made = (block *)calloc(1, sizeof *made))) return NULL;
    made->uses.owner = made->uses.writer = now;
    made->next = *at;
    made->at = from;
    made->bytes = wanted;
    *at = made;
    null_blocks++;
    m->info.used += (int64_t)wanted;
    if (m->info.peak < m->info.used) m->info.peak = m->info.used;
    if (from + wanted > m->used) {
        m->used = (from + wanted + PAGE - 1) / PAGE * PAGE;
        memory_protect(m, m->open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
    memory_spoil(device, made);
    return m->base + from;
}

static void null_free(int32_t device, void *data) {
    memory *m = &memories[device];
    block **at = &m->first, *gone;
    while (*at && m->base + (*at)->at != (char *)data) at = &(*at)->next;
    gone = *at;
    if (!gone || gone->uses.freed) abort(); /* never given out, or freed twice */
    memory_spoil(device, gone);
    m->info.used -= (int64_t)gone->bytes;
    null_blocks--;
    order_free(&gone->uses);
    memory_sweep(m);
}

static void null_trim(int32_t device) {
    (void)device;
    null_kept = 0;
    null_trims++;
}
static void null_memory(int32_t device, tn_device_memory_info *to) {
    *to = memories[device].info;
    to->reserved = to->used + null_kept;
    to->calls = null_allocs;
}
static void null_reset_peak(int32_t device) {
    memories[device].info.peak = memories[device].info.used;
}
static void null_limit(int32_t device, int64_t bytes) { memories[device].info.limit = bytes; }
static int64_t null_snapshot(int32_t device, void (*each)(const tn_device_piece *piece, void *user),
                             void *user) {
    const memory *m = &memories[device];
    int64_t n = 0;
    for (const block *b = m->first; b; b = b->next) {
        const tn_device_piece piece = {m->base + b->at, m->base, (int64_t)b->bytes, true};
        if (b->uses.freed) continue;
        each(&piece, user);
        n++;
    }
    return n;
}

static void *null_host_alloc(int32_t device, int64_t bytes, char *why, size_t room) {
    void *at = NULL;
    (void)device;
    if (null_lost) {
        snprintf(why, room, "%s", null_lost);
        return NULL;
    }
    if (null_fail_alloc == 0) return NULL;
    if (null_fail_alloc > 0) null_fail_alloc--;
    if (posix_memalign(&at, ALIGN, (size_t)bytes)) return NULL;
    null_pinned++;
    return at;
}
static void null_host_free(int32_t device, void *at) {
    (void)device;
    null_pinned--;
    free(at);
}

/* --- copies ----------------------------------------------------------------------------------- */

static bool null_copy(int32_t device, void *to, const void *from, int64_t bytes, enum tn_copy how,
                      char *why, size_t room) {
    block *there;
    null_copies++;
    null_laters += (how & TN_COPY_LATER) != 0;
    if (null_fail_copy == 0) {
        snprintf(why, room, "the bus is on fire");
        return false;
    }
    if (null_fail_copy > 0) null_fail_copy--;
    order_ask(stream_now(device));
    there = block_of(device, how & TN_COPY_UP ? to : from);
    if (there && how & TN_COPY_UP) order_write(&there->uses, stream_now(device));
    if (there && how & TN_COPY_DOWN) order_read(&there->uses, stream_now(device));
    memory_open(device);
    memcpy(to, from, (size_t)bytes);
    memory_close(device);
    if (!(how & TN_COPY_LATER)) order_merge(&order_host, &order_streams[stream_now(device)]);
    return true;
}

static bool null_across(int32_t device, void *to, int32_t from_device, const void *from,
                        int64_t bytes, char *why, size_t room) {
    null_across_copies++;
    if (null_fail_copy == 0) {
        snprintf(why, room, "the bus is on fire");
        return false;
    }
    if (null_fail_copy > 0) null_fail_copy--;
    order_ask(stream_now(device));
    order_read(&block_of(from_device, from)->uses, stream_now(device));
    order_write(&block_of(device, to)->uses, stream_now(device));
    memory_open(device);
    memory_open(from_device);
    memcpy(to, from, (size_t)bytes);
    memory_close(from_device);
    memory_close(device);
    return true;
}

/* --- graphs: what was asked, to be done later ------------------------------------------------- */

typedef struct deferred {
    struct deferred *next;
    tn_frame *f;       /* a kernel's call; NULL: elements go from one place to another */
    tn_walk_plan walk; /* with one place the element at `unit` goes there */
    int64_t bytes;     /* of an element */
    unsigned char unit[16];
} deferred;
typedef struct graph {
    int device;
    bool bad; /* it cannot hold what was asked */
    deferred *first, **end;
} graph;
static _Thread_local graph *capturing; /* by this thread; NULL: calls are carried out */

/* One more; NULL: there is no memory. */
static deferred *defer(void) {
    deferred *p = (deferred *)calloc(1, sizeof *p);
    if (!p) capturing->bad = true;
    if (!p) return NULL;
    *capturing->end = p;
    capturing->end = &p->next;
    return p;
}
/* dst's elements from src, of its dtype, or from `unit`. */
static void defer_walk(tn_tensor *dst, const tn_tensor *src, const void *unit) {
    tn_tensor *both[2] = {dst, (tn_tensor *)(uintptr_t)src};
    deferred *p = NULL;
    if (src && tn_dtype_of(dst) != tn_dtype_of(src))
        capturing->bad = true;
    else
        p = defer();
    if (!p) return;
    tn_walk_plan_of(&p->walk, both, src ? 2 : 1);
    p->bytes = tn_dtype_bytes(tn_dtype_of(dst));
    if (unit) memcpy(p->unit, unit, (size_t)p->bytes);
}
static void walk_done(const deferred *p) {
    const tn_walk_plan *w = &p->walk;
    int64_t index[TN_MAX_DIMS] = {0}, at[2] = {0, 0};
    for (int64_t i = w->numel; i > 0; i--) {
        memcpy(w->at[0] + at[0], w->n > 1 ? w->at[1] + at[1] : (const char *)p->unit,
               (size_t)p->bytes);
        for (int d = 0; d < w->ndim; d++) {
            for (int k = 0; k < w->n; k++) at[k] += w->stride[k][d];
            if (++index[d] < w->size[d]) break;
            for (int k = 0; k < w->n; k++) at[k] -= w->stride[k][d] * w->size[d];
            index[d] = 0;
        }
    }
}

static void null_elements(int32_t device, tn_tensor *dst, const tn_tensor *src) {
    if (capturing) {
        defer_walk(dst, src, NULL);
        return;
    }
    order_ask(stream_now(device));
    touch(device, src, false);
    touch(device, dst, true);
    memory_open(device);
    tn_host_elements(dst, src);
    memory_close(device);
}

static void null_fill(int32_t device, tn_tensor *dst, const void *unit) {
    const tn_ints size = tn_shape(dst), stride = tn_strides(dst);
    const int64_t each = tn_dtype_bytes(tn_dtype_of(dst));
    int64_t index[TN_MAX_DIMS] = {0};
    char *at = (char *)tn_device_data(dst);
    if (capturing) {
        defer_walk(dst, NULL, unit);
        return;
    }
    order_ask(stream_now(device));
    touch(device, dst, true);
    memory_open(device);
    for (int64_t i = tn_numel(dst); i > 0; i--) {
        memcpy(at, unit, (size_t)each);
        for (int64_t d = size.n - 1; d >= 0; d--) {
            at += stride.at[d] * each;
            if (++index[d] < size.at[d]) break;
            at -= stride.at[d] * size.at[d] * each;
            index[d] = 0;
        }
    }
    memory_close(device);
}

static bool null_wait(int32_t device, tn_fault *fault, char *why, size_t room) {
    (void)fault;
    for (int k = 0; k < ORDER_STREAMS; k++)
        order_merge(&order_host, &order_streams[device * ORDER_STREAMS + k]);
    if (null_broken) snprintf(why, room, "%s", null_broken);
    return !null_broken;
}

/* --- kernels: the CPU's ----------------------------------------------------------------------- */

static bool look_of(tn_frame *f, int device) {
    bool ok;
    if (!f->row->look) return true;
    order_ask(stream_now(device));
    for (int i = 0; i < f->nin; i++) touch(device, f->in[i], false);
    memory_open(device);
    ok = f->row->look(f);
    memory_close(device);
    order_merge(&order_host, &order_streams[stream_now(device)]); /* it has waited */
    return ok;
}
/* Tensors of a call that are not in the device's memory, where a kernel could not reach them,
 * beside numbers. */
static int64_t foreign_of(tn_tensor *const *at, int n, int device) {
    const char *base = memories[device].base;
    int64_t foreign = 0;
    for (int i = 0; i < n; i++) {
        const char *data = at[i] && tn_numel(at[i]) ? (char *)tn_device_data(at[i]) : NULL;
        if (!data || (tn_device_of(at[i]) == TN_CPU && !tn_ndim(at[i]))) continue;
        foreign += data < base || data >= base + ALL;
    }
    return foreign;
}
static void run_of(tn_frame *f, int device) {
    deferred *p = capturing ? defer() : NULL;
    if (p) p->f = f;
    if (capturing) return;
    null_kernels++;
    null_foreign += foreign_of(f->in, f->nin, device) + foreign_of(f->out, f->nout, device);
    order_ask(stream_now(device));
    for (int i = 0; i < f->nin; i++) touch(device, f->in[i], false);
    for (int k = 0; k < f->nout; k++) touch(device, f->out[k], true);
    memory_open(device);
    f->row->run(f);
    memory_close(device);
}
static bool null_look(tn_frame *f) { return look_of(f, tn_frame_device(f)); }
/* Of one row, which has no use for it: as much as its input. */
static const char *const null_worker = "tril";
static bool null_workspace(tn_frame *f) {
    return tn_device_scratch(f, tn_numel(f->in[0]) * tn_dtype_bytes(tn_dtype_of(f->in[0])));
}
static void null_run(tn_frame *f) { run_of(f, tn_frame_device(f)); }
static bool bare_look(tn_frame *f) { return look_of(f, BARE); }
static void bare_run(tn_frame *f) { run_of(f, BARE); }

static void null_properties(int32_t device, tn_device_properties *to) {
    snprintf(to->name, sizeof to->name, "null number %d", (int)device);
    to->memory = 1 << 20;
}

/* --- streams and events ----------------------------------------------------------------------- */

static void *stream_new(int32_t device, int32_t priority) {
    (void)priority;
    for (int k = 1; k < ORDER_STREAMS; k++) {
        stream *s = &streams[device * ORDER_STREAMS + k];
        if (s->taken) continue;
        s->number = device * ORDER_STREAMS + k;
        s->taken = true;
        return s;
    }
    return NULL;
}
static void stream_free(int32_t device, void *s) {
    (void)device;
    ((stream *)s)->taken = false;
}
static bool stream_wait(int32_t device, void *s, tn_fault *fault, char *why, size_t room) {
    (void)fault;
    null_waits++;
    order_merge(&order_host, &order_streams[stream_of(device, s)]);
    if (null_broken) snprintf(why, room, "%s", null_broken);
    return !null_broken;
}
/* Nothing is done before the host has waited for it, or has asked twice. */
static bool stream_done(int32_t device, void *s) {
    static int asked;
    const order_clock *clock = &order_streams[stream_of(device, s)];
    if (!order_has(&order_host, clock) && ++asked % 2) return false;
    order_merge(&order_host, clock);
    return true;
}

typedef struct event {
    order_clock clock;
    double ms;
    bool timing;
    int asked;
} event;
static void *event_new(int32_t device, bool timing) {
    event *e;
    (void)device;
    if (null_fail_alloc == 0) return NULL;
    if (null_fail_alloc > 0) null_fail_alloc--;
    e = (event *)calloc(1, sizeof *e);
    if (!e) return NULL;
    e->timing = timing;
    null_events++;
    return e;
}
static void event_free(int32_t device, void *e) {
    (void)device;
    null_events--;
    free(e);
}
static bool event_record(int32_t device, void *at, void *s) {
    event *e = (event *)at;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    e->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    e->asked = 0;
    order_ask(stream_of(device, s));
    e->clock = order_streams[stream_of(device, s)];
    return true;
}
static bool event_before(int32_t device, void *e, void *s) {
    order_merge(&order_streams[stream_of(device, s)], &((event *)e)->clock);
    return true;
}
static bool event_wait(int32_t device, void *e) {
    (void)device;
    null_waits++;
    order_merge(&order_host, &((event *)e)->clock);
    return !null_broken;
}
static bool event_done(int32_t device, void *at) {
    event *e = (event *)at;
    (void)device;
    if (!order_has(&order_host, &e->clock) && !e->asked++) return false;
    order_merge(&order_host, &e->clock);
    return true;
}
static bool event_ms(int32_t device, void *begin, void *end, float *ms) {
    const event *a = (const event *)begin, *z = (const event *)end;
    (void)device;
    if (!order_has(&order_host, &a->clock) || !order_has(&order_host, &z->clock)) return false;
    *ms = (float)(z->ms - a->ms);
    return a->timing && z->timing;
}
static void memory_used(int32_t device, void *data, void *s) {
    block *p = block_of(device, data);
    if (p) p->uses.told[stream_of(device, s)] = true;
}

/* --- captures --------------------------------------------------------------------------------- */

static void graph_free(int32_t device, void *at) {
    graph *g = (graph *)at;
    deferred *p = g->first;
    (void)device;
    while (p) {
        deferred *gone = p;
        p = p->next;
        free(gone);
    }
    free(g);
    null_graphs--;
}
static bool capture_begin(int32_t device, void *s) {
    if (!s || stream_of(device, s) != stream_now(device)) abort();
    if (null_refuse_graph == 1) return false;
    capturing = (graph *)calloc(1, sizeof *capturing);
    if (!capturing) return false;
    capturing->device = device;
    capturing->end = &capturing->first;
    null_graphs++;
    return true;
}
static void *capture_end(int32_t device, void *s) {
    graph *g = capturing;
    if (!g || stream_of(device, s) != stream_now(device)) abort();
    capturing = NULL;
    if (!g->bad && null_refuse_graph != 2) return g;
    graph_free(device, g);
    return NULL;
}
static bool graph_launch(int32_t device, void *at, void *s) {
    const graph *g = (const graph *)at;
    if (g->device != device || stream_of(device, s) != stream_now(device)) abort();
    if (null_refuse_graph == 3) return false;
    null_launches++;
    order_ask(stream_now(device));
    for (const deferred *p = g->first; p; p = p->next) {
        block *to = p->f ? NULL : block_of(device, p->walk.at[0]);
        block *from = p->f || p->walk.n < 2 ? NULL : block_of(device, p->walk.at[1]);
        if (p->f) {
            run_of(p->f, device);
            continue;
        }
        if (from) order_read(&from->uses, stream_now(device));
        if (to) order_write(&to->uses, stream_now(device));
        memory_open(device);
        walk_done(p);
        memory_close(device);
    }
    return true;
}

static const tn_backend_streams null_streams = {
    stream_new,    stream_free,  stream_wait,  stream_done, event_new, event_free,
    event_record,  event_before, event_wait,   event_done,  event_ms,  memory_used,
    capture_begin, capture_end,  graph_launch, graph_free};

const tn_backend *tn_null_backend(void) {
    static tn_backend null = {TN_BACKEND_VERSION,
                              sizeof null,
                              "null",
                              2,
                              0,
                              NULL,
                              null_open,
                              null_alloc,
                              null_free,
                              null_copy,
                              null_elements,
                              null_fill,
                              null_wait,
                              null_trim,
                              null_memory,
                              null_reset_peak,
                              null_limit,
                              null_snapshot,
                              null_host_alloc,
                              null_host_free,
                              null_properties,
                              &null_streams,
                              null_close,
                              null_across,
                              ALIGN};
    tn_device_row *rows;
    int32_t n = 1;
    if (null.rows) return &null;
    rows = (tn_device_row *)calloc((size_t)tn_row_count() + 1, sizeof *rows);
    if (!rows) return NULL;
    rows[0].look = null_look; /* every expression */
    rows[0].run = null_run;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        if (!row->run || row->rules || row->forms & TN_MOVES) continue;
        rows[n].name = row->name;
        rows[n].scratch = strcmp(row->name, null_worker) != 0;
        if (!rows[n].scratch) rows[n].prepare = null_workspace;
        rows[n].look = null_look;
        rows[n++].run = null_run;
    }
    null.rows = rows;
    null.nrows = n;
    return &null;
}

static bool bare_open(int32_t device, uint64_t owner, char *why, size_t room) {
    return null_open(device + BARE, owner, why, room);
}
static void *bare_alloc(int32_t device, int64_t bytes, char *why, size_t room) {
    return null_alloc(device + BARE, bytes, why, room);
}
static void bare_free(int32_t device, void *at) { null_free(device + BARE, at); }
static bool bare_copy(int32_t device, void *to, const void *from, int64_t bytes, enum tn_copy how,
                      char *why, size_t room) {
    return null_copy(device + BARE, to, from, bytes, how, why, room);
}
static void bare_elements(int32_t device, tn_tensor *dst, const tn_tensor *src) {
    null_elements(device + BARE, dst, src);
}
static void bare_fill(int32_t device, tn_tensor *dst, const void *unit) {
    null_fill(device + BARE, dst, unit);
}
const tn_backend *tn_bare_backend(void) {
    static const tn_device_row rows[] = {{NULL, false, bare_look, NULL, bare_run}};
    static const tn_backend bare = {TN_BACKEND_VERSION,
                                    sizeof bare,
                                    "bare",
                                    1,
                                    1,
                                    rows,
                                    bare_open,
                                    bare_alloc,
                                    bare_free,
                                    bare_copy,
                                    bare_elements,
                                    bare_fill,
                                    null_wait,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    0};
    return &bare;
}

/* --- for rows.c ------------------------------------------------------------------------------- */

bool tested_begin(tn_device_id *device, tn_device_id *bare) {
    if (!tn_backend_add(tn_null_backend()) || !tn_backend_add(tn_bare_backend())) return false;
    *device = tn_device("null:0");
    *bare = tn_device("bare:0");
    return true;
}
int64_t tested_blocks(void) { return null_blocks; }
void tested_row(const tn_row *row) { (void)row; }
int64_t tested_foreign(void) {
    const int64_t n = null_foreign;
    null_foreign = 0;
    return n;
}
