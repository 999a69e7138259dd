/* plan.c - the memory that calls on tensors without data would take, on meta for the CPU and on
 * each device: storages counted from making to release, scratch while its call prepares, under one
 * lock a context.
 *
 * A record is needed while its storage lives, and as long as it is part of the peak; all others are
 * used again, so a plan of many steps takes no more memory than one step's. Records do not count as
 * memory in use, which the plan reads. */
#include "../api/plan.h"
#include "call.h"

typedef struct plan_record {
    int64_t bytes, count;
    int64_t born, died; /* moments; died 0: the storage lives; born 0: free, `next` links */
    int64_t next;
    const char *what, *file;
    int line;
    uint8_t device;
    char shape[TN_PLAN_TEXT];
} plan_record;

typedef struct plan_device {
    int64_t bytes, peak; /* of storages and scratch, now and at most */
    int64_t moment;      /* when the peak was reached; 0: nothing was counted */
} plan_device;

struct tni_memory_plan {
    uint32_t lock;
    bool active;
    uint64_t number; /* storages of plans before do not count */
    int64_t moment;  /* number of the newest change */
    int64_t used;    /* bytes of the host in use at the beginning */
    int64_t instead; /* bytes that meta storages would take beyond what they take so */
    int64_t peak;    /* of the host, with all that is real */
    plan_device on[UINT8_MAX + 1];
    plan_record *record;
    int64_t n, room, spare; /* spare: the first free record; -1: none */
};

/* What the allocator counts for a request (base/alloc.c): small ones are whole bins; a device,
 * whole grains. */
static int64_t plan_rounded(const tni_block *b, int device, int64_t bytes) {
    const tni_device *d = tni_device_of(b, device);
    int64_t grain = TNI_ALIGN, whole;
    if (d && d->backend->grain > 0) grain = d->backend->grain;
    if (!d && bytes > TNI_SMALL) return bytes;
    return tni_add(bytes, grain - 1, &whole) ? whole - whole % grain : bytes;
}

/* --- records, under the lock ------------------------------------------------------------------ */

static bool plan_is_done(const struct tni_memory_plan *p, const plan_record *r) {
    const int64_t peak = p->on[r->device].moment;
    return r->born && r->died && (r->died <= peak || r->born > peak);
}

/* Frees the records that no later answer needs. */
static void plan_sweep(struct tni_memory_plan *p) {
    for (int64_t i = 0; i < p->n; i++) {
        plan_record *r = &p->record[i];
        if (!plan_is_done(p, r)) continue;
        r->born = 0;
        r->next = p->spare;
        p->spare = i;
    }
}

static bool plan_grow(tn_context *c, struct tni_memory_plan *p) {
    int64_t room = p->room ? 2 * p->room : 256, bytes;
    if (!tni_bytes(room, (int64_t)sizeof *p->record, &bytes)) return false;
    plan_record *more = (plan_record *)tni_raw_get(c, bytes);
    if (!more) return false;
    if (p->n) memcpy(more, p->record, (size_t)p->n * sizeof *more);
    tni_raw_put(c, p->record, p->room * (int64_t)sizeof *more);
    p->record = more;
    p->room = room;
    return true;
}

/* The index of a record for a storage that is made now; -1 without memory. */
static int64_t plan_record_new(tn_context *c, struct tni_memory_plan *p) {
    int64_t i = p->spare;
    if (i < 0 && p->n == p->room) {
        /* Sweeping pays only if it frees many, so the room grows where it does not. */
        plan_sweep(p);
        i = p->spare;
        if (i < 0 && !plan_grow(c, p)) return -1;
    }
    if (i < 0) return p->n++;
    p->spare = p->record[i].next;
    return i;
}

/* --- counting --------------------------------------------------------------------------------- */

/* Who asks for memory, as the user knows it: the outermost operator, his line. */
static void plan_place(const tni_block *b, plan_record *r) {
    const tni_work *outer = b->work;
    while (outer && outer->caller) outer = outer->caller;
    /* A frame begins with its work. */
    r->what = outer ? ((const tn_frame *)(const void *)outer)->row->name : "";
    r->file = b->place_file;
    r->line = b->place_line; /* read at the end: a binding's decoder takes locks of its own */
}

static void plan_look(const tni_block *b, struct tni_memory_plan *p) {
    const int64_t now = p->instead + tni_memory_used(b->context) - p->used;
    if (now > p->peak) p->peak = now;
}

/* A record of so many bytes; `instead` is what they add to the host's memory in use. NULL without
 * memory. */
static plan_record *plan_add(tni_block *b, struct tni_memory_plan *p, int device, int64_t bytes,
                             int64_t instead) {
    plan_device *on = &p->on[device];
    const int64_t i = plan_record_new(b->context, p);
    if (i < 0) return NULL;
    plan_record *r = &p->record[i];
    r->bytes = bytes;
    r->count = 1;
    r->born = ++p->moment;
    r->died = 0;
    r->device = (uint8_t)device;
    plan_place(b, r);
    on->bytes += bytes;
    if (on->bytes > on->peak || !on->moment) {
        on->peak = on->bytes;
        on->moment = p->moment;
    }
    p->instead += instead;
    plan_look(b, p);
    return r;
}

static void plan_drop(struct tni_memory_plan *p, plan_record *r, int64_t instead) {
    r->died = ++p->moment;
    p->on[r->device].bytes -= r->bytes;
    p->instead -= instead;
}

/* The plan in progress, locked; NULL: none. */
static struct tni_memory_plan *plan_lock(tn_context *c) {
    struct tni_memory_plan *p = tni_load(&tni_tensors(c)->plan);
    if (!p) return NULL;
    tni_lock(&p->lock);
    if (p->active) return p;
    tni_unlock(&p->lock);
    return NULL;
}

/* A storage with data of the CPU has one head of TNI_ALIGN bytes, a planned one is larger, as is
 * one of a device. */
static int64_t plan_instead(const tni_block *b, const tni_planned *s, int device) {
    if (device != TN_META) return 0;
    return plan_rounded(b, device, s->storage.bytes) + TNI_ALIGN - (int64_t)s->storage.room;
}

TN_PRIV bool tni_plan_add(tni_block *b, const tn_tensor *t, tni_planned *s) {
    struct tni_memory_plan *p = plan_lock(b->context);
    s->plan = 0;
    if (!p) return true;
    plan_record *r = plan_add(b, p, t->device, plan_rounded(b, t->device, s->storage.bytes),
                              plan_instead(b, s, t->device));
    if (r) {
        tni_tensor_text(r->shape, sizeof r->shape, t);
        s->plan = p->number;
        s->record = r - p->record;
    }
    tni_unlock(&p->lock);
    return r != NULL;
}

TN_PRIV void tni_plan_drop(const tni_planned *s) {
    const tni_block *b = s->storage.owner;
    struct tni_memory_plan *p = s->plan ? plan_lock(b->context) : NULL;
    if (!p) return;
    if (s->plan == p->number) {
        plan_record *r = &p->record[s->record];
        plan_drop(p, r, plan_instead(b, s, r->device));
    }
    tni_unlock(&p->lock);
}

TN_PRIV bool tni_plan_scratch(tni_block *b, int device, int64_t bytes) {
    struct tni_memory_plan *p = plan_lock(b->context);
    if (!p) return true;
    const int64_t whole = plan_rounded(b, device, bytes), instead = device == TN_META ? whole : 0;
    plan_record *r = plan_add(b, p, device, whole, instead);
    if (r) {
        snprintf(r->shape, sizeof r->shape, "scratch");
        plan_drop(p, r, instead);
    }
    tni_unlock(&p->lock);
    return r != NULL || tni_memory_error(b, bytes);
}

/* --- the answer, from records that nobody else has -------------------------------------------- */

/* Order of the parts: parts of one line, operator and shape stand side by side. */
static int plan_by_kind(const void *a, const void *b) {
    const plan_record *x = (const plan_record *)a, *y = (const plan_record *)b;
    int order = strcmp(x->what, y->what);
    if (!order) order = strcmp(x->shape, y->shape);
    if (!order) order = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    return order ? order : (x->line > y->line) - (x->line < y->line);
}
static int plan_by_bytes(const void *a, const void *b) {
    const plan_record *x = (const plan_record *)a, *y = (const plan_record *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return plan_by_kind(a, b);
}

/* Records of a device that were alive at its peak, from `first` on: moves them there and gives
 * their number. */
static int64_t plan_alive(const tni_block *b, struct tni_memory_plan *p, int device,
                          int64_t first) {
    const int64_t peak = p->on[device].moment;
    int64_t n = first;
    for (int64_t i = first; i < p->n; i++) {
        plan_record r = p->record[i];
        if (!r.born || r.device != device || r.born > peak || (r.died && r.died <= peak)) continue;
        r.line = tni_line(b, r.file, r.line);
        p->record[i] = p->record[n];
        p->record[n++] = r;
    }
    return n - first;
}

/* One record for all of a kind, the largest first; their number. */
static int64_t plan_merge(plan_record *record, int64_t n) {
    int64_t kinds = 0;
    if (n) qsort(record, (size_t)n, sizeof *record, plan_by_kind);
    for (int64_t i = 0; i < n; i++) {
        plan_record *last = kinds ? &record[kinds - 1] : NULL;
        if (last && plan_by_kind(last, &record[i]) == 0) {
            last->bytes += record[i].bytes;
            last->count++;
        } else
            record[kinds++] = record[i];
    }
    if (kinds) qsort(record, (size_t)kinds, sizeof *record, plan_by_bytes);
    return kinds;
}

/* From n records of that device alone. */
static void plan_answer(const struct tni_memory_plan *p, int device, plan_record *record, int64_t n,
                        tn_plan *plan) {
    const int64_t peak = p->on[device].peak, kinds = plan_merge(record, n);
    memset(plan, 0, sizeof *plan);
    plan->device = (tn_device_id)(device == TN_META ? TN_CPU : device);
    plan->peak = plan->tensor_peak = plan->rest = peak;
    /* Tiny tensors may fit into what is in use. */
    if (device == TN_META && p->peak > peak) plan->peak = p->peak;
    plan->end = p->on[device].bytes;
    for (; plan->nparts < TN_PLAN_PARTS && plan->nparts < kinds; plan->nparts++) {
        const plan_record *r = &record[plan->nparts];
        tn_plan_part *part = &plan->part[plan->nparts];
        part->bytes = r->bytes;
        part->count = r->count;
        part->what = r->what;
        part->file = r->file;
        part->line = r->line;
        memcpy(part->shape, r->shape, sizeof part->shape);
        plan->rest -= r->bytes;
    }
}

/* The CPU, and behind it the devices on which something was counted; the first `room` into plans.
 * How many there are. */
static int32_t plan_answers(const tni_block *b, struct tni_memory_plan *p, tn_plan *plans,
                            int32_t room) {
    int64_t first = 0;
    int32_t n = 0;
    for (int device = TN_META; device <= UINT8_MAX; device++) {
        if (device != TN_META && !p->on[device].moment) continue;
        if (n < room) {
            const int64_t alive = plan_alive(b, p, device, first);
            plan_answer(p, device, p->record + first, alive, &plans[n]);
            first += alive;
        }
        n++;
    }
    return n;
}

/* --- public ----------------------------------------------------------------------------------- */

static void plan_clear(tn_context *c, const struct tni_memory_plan *p) {
    tni_raw_put(c, p->record, p->room * (int64_t)sizeof *p->record);
}

static void plan_at_end(tn_context *c) {
    struct tni_memory_plan *p = tni_tensors(c)->plan;
    if (!p) return;
    tni_tensors(c)->plan = NULL;
    plan_clear(c, p);
    tni_raw_put(c, p, (int64_t)sizeof *p);
}

/* The context's plan, which lives as long as it; NULL with MEMORY. */
static struct tni_memory_plan *plan_of(tni_block *b) {
    struct tni_memory_plan **at = &tni_tensors(b->context)->plan, *p = tni_load(at), *none = NULL;
    if (p) return p;
    p = (struct tni_memory_plan *)tni_raw_get(b->context, (int64_t)sizeof *p);
    if (!p) {
        tni_memory_error(b, (int64_t)sizeof *p);
        return (struct tni_memory_plan *)NULL;
    }
    memset(p, 0, sizeof *p);
    p->spare = -1;
    tni_context_at_end(b->context, plan_at_end);
    if (tni_swap_if(at, &none, p)) return p;
    tni_raw_put(b->context, p, (int64_t)sizeof *p);
    return none; /* another thread's */
}

TN_API bool tn_plan_begin_at(const char *file, int line) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    struct tni_memory_plan *p = plan_of(b);
    if (!p) return tni_leave(b, false);
    tni_lock(&p->lock);
    const bool was_on = p->active;
    if (!was_on) {
        p->active = true;
        p->number++;
        p->moment = p->instead = p->peak = 0;
        memset(p->on, 0, sizeof p->on);
        p->used = tni_memory_used(b->context);
        tni_store_relaxed(&tni_tensors(b->context)->planning, 1u);
    }
    tni_unlock(&p->lock);
    return !was_on ||
           tni_leave(b, tni_error(b, TN_INVALID, "tn_plan_begin: a plan is already in progress"));
}

TN_API int32_t tn_plan_end_at(const char *file, int line, tn_plan *plans, int32_t room) {
    tni_block *b = tni_here();
    int32_t n;
    for (int32_t i = 0; plans && i < room; i++) memset(&plans[i], 0, sizeof plans[i]);
    if (!b) return 0;
    tni_place_set(b, file, line);
    struct tni_memory_plan *p = plan_lock(b->context);
    if (!p) {
        tni_error(b, TN_INVALID, "tn_plan_end: no plan is in progress");
        return tni_leave(b, false);
    }
    plan_look(b, p);
    /* The records go with this call; the next plan has its own. */
    struct tni_memory_plan ended = *p;
    p->active = false;
    tni_store_relaxed(&tni_tensors(b->context)->planning, 0u);
    p->record = NULL;
    p->n = p->room = 0;
    p->spare = -1;
    tni_unlock(&p->lock);
    n = plan_answers(b, &ended, plans, plans ? room : 0);
    plan_clear(b->context, &ended);
    return b->failed ? 0 : n;
}
