/* devices.c - devices by name and number: cpu, meta, and those of the backends that were added;
 * bytes up and down, and what waits for them. */
#include "device.h"

enum { DEVICES_MOST = UINT8_MAX - TN_META, DEVICES_OF_ONE = 64 };

static tni_wide devices_owners; /* contexts that have added a backend, once for each */

/* --- names and numbers ------------------------------------------------------------------------ */

/* The devices of b's context, of which TN_NO_DEVICES leaves none. */
static tni_device *device_first(const tni_block *b) {
    return TNI_DEVICE != 0 ? tni_load(&tni_tensors(b->context)->devices) : NULL;
}

TN_PRIV tni_device *tni_device_of(const tni_block *b, tn_device_id device) {
    /* Backends are numbered behind meta, in the order of the list. */
    tni_device *d = device_first(b);
    if (!d || device <= TN_META) return NULL;
    for (tn_device_id id = TN_META + 1; d && id < device; id++) d = d->next;
    return d;
}

/* Whether d is called so: "null:1", or "null" for the first of its kind. */
static bool device_is(const tni_device *d, const char *name) {
    return strcmp(d->name, name) == 0 || (d->index == 0 && strcmp(d->backend->kind, name) == 0);
}

TN_API tn_device_id tn_device_at(const char *file, int line, const char *name) {
    tni_block *b = tni_here();
    tn_device_id id = TN_META;
    if (!tni_enter(b, file, line)) return TN_NO_DEVICE;
    if (name && strcmp(name, "cpu") == 0) return TN_CPU;
    if (name && strcmp(name, "meta") == 0) return TN_META;
    for (const tni_device *d = device_first(b); d; d = d->next) {
        id++;
        if (name && device_is(d, name)) return id;
    }
    tni_error(b, TN_INVALID, "tn_device: device '%.40s' does not exist; expected cpu, meta%s",
              name ? name : "(NULL)",
              device_first(b)   ? " or a registered backend"
              : TNI_DEVICE != 0 ? ""
                                : "; others are not in this build (TN_NO_DEVICES)");
    tni_leave(b, false);
    return TN_NO_DEVICE;
}

TN_API tn_device_id tnp_device(const char *name) { return tn_device_at(NULL, 0, name); }

TN_API const char *tn_device_name(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_device_of(b, device) : NULL;
    if (device == TN_CPU) return "cpu";
    if (device == TN_META) return "meta";
    return d ? d->name : "none";
}

TN_API tn_device_id tn_default_device(void) {
    tni_block *b = tni_here();
    return b ? tni_default_device(b) : TN_CPU;
}

TN_API tn_device_id tn_set_default_device_at(const char *file, int line, tn_device_id device) {
    tni_block *b = tni_here();
    const tn_device_id before = b ? tni_default_device(b) : TN_CPU;
    if (!b || device == TN_NO_DEVICE) return before;
    /* Also while an error waits: the end of a block restores. */
    if (device == TN_CPU || device == TN_META || tni_device_of(b, device)) {
        tni_state(b)->device = (uint8_t)(device == TN_CPU ? 0 : device);
    } else if (tni_enter(b, file, line)) {
        tni_error(b, TN_INVALID, "tn_set_default_device: device number %d does not exist",
                  (int)device);
        tni_leave(b, false);
    }
    return before;
}
TN_API tn_device_id tnp_set_default_device(tn_device_id device) {
    return tn_set_default_device_at(NULL, 0, device);
}

/* The number of d's context, as its tickets have it. */
static uint64_t device_owner(const tni_device *d) {
    return tni_load_relaxed(&d->tickets) >> TN_OWNER_BIT;
}

/* --- backends --------------------------------------------------------------------------------- */

static bool device_has_streams(const tn_backend_streams *s) {
    const bool some = s->capture_begin || s->capture_end || s->graph_launch || s->graph_free,
               all = s->capture_begin && s->capture_end && s->graph_launch && s->graph_free;
    return some == all && s->stream_new && s->stream_free && s->stream_wait && s->stream_done &&
           s->event_new && s->event_free && s->event_record && s->event_before && s->event_wait &&
           s->event_done && s->event_ms && s->used;
}

/* Why the backend cannot be added to a context that has these devices; NULL: it can. */
static const char *device_wrong(const tn_backend *k, const tni_device *d) {
    int64_t count = k && k->version == TN_BACKEND_VERSION ? k->count : 0;
    if (!k) return "it is NULL";
    if (k->version != TN_BACKEND_VERSION || k->bytes != sizeof *k)
        return "it was compiled with another version of the header";
    if (!k->kind || !*k->kind || strlen(k->kind) > 20 || strchr(k->kind, ':') ||
        strcmp(k->kind, "cpu") == 0 || strcmp(k->kind, "meta") == 0)
        return "its kind must be a name of 1 to 20 letters, and neither cpu nor meta";
    if (k->count < 1 || k->count > DEVICES_OF_ONE || k->nrows < 0 || (k->nrows && !k->rows))
        return "it must have 1 to 64 devices, and rows";
    if (!k->open || !k->alloc || !k->free || !k->copy || !k->elements || !k->fill || !k->wait)
        return "one of its functions is NULL";
    if (!k->host_alloc != !k->host_free) return "it has one of host_alloc and host_free";
    if (k->streams && !device_has_streams(k->streams))
        return "one of its streams' functions is NULL";
    if (k->across && !k->streams) return "it copies between its devices and has no streams";
    for (; d; d = d->next, count++)
        if (strcmp(d->backend->kind, k->kind) == 0) return "another one has its kind";
    return count > DEVICES_MOST ? "there are too many devices" : NULL;
}

static void devices_at_end(tn_context *c) {
    for (tni_device *d = tni_tensors(c)->devices; d; d = d->next)
        if (d->backend->close && tni_load(&d->opened)) d->backend->close(d->index, device_owner(d));
}

TN_API bool tn_backend_add(const tn_backend *backend) {
    tni_block *b = tni_here();
    tni_device *made, **end;
    tn_device_id id = TN_META + 1;
    const char *wrong;
    uint64_t owner;
    if (!b || b->failed) return false;
    if (TNI_DEVICE == 0)
        return tni_error_apart(b, TN_UNSUPPORTED,
                               "tn_backend_add: devices are not in this build (TN_NO_DEVICES)");
    end = &tni_tensors(b->context)->devices;
    for (const tni_device *d = *end; d; d = d->next)
        if (d->backend == backend) return true;
    wrong = device_wrong(backend, *end);
    if (wrong) return tni_error_apart(b, TN_INVALID, "tn_backend_add: %s", wrong);
    /* All of them in one block, which goes with the context; linked when they are complete. */
    for (const tni_device *d = *end; d; d = d->next) id++;
    made = (tni_device *)tni_need(b, backend->count * (int64_t)sizeof *made);
    if (!made) return tni_leave(b, false);
    memset(made, 0, (size_t)backend->count * sizeof *made);
    owner = tni_fetch_add_relaxed(&devices_owners, 1) + 1;
    for (int32_t i = 0; i < backend->count; i++) {
        snprintf(made[i].name, sizeof made[i].name, "%s:%d", backend->kind, (int)i);
        made[i].backend = backend;
        made[i].index = i;
        made[i].tickets = (owner & TN_OWNER_MOST) << TN_OWNER_BIT;
        made[i].own.context = b->context;
        made[i].own.device = &made[i];
        made[i].own.id = id + i;
        made[i].next = i + 1 < backend->count ? &made[i + 1] : NULL;
    }
    while (*end) end = &(*end)->next;
    tni_store(end, made);
    tni_context_at_end(b->context, devices_at_end);
    return true;
}

TN_API bool tn_device_fallback(bool on) {
    tni_block *b = tni_here();
    uint32_t *fallback = b ? &tni_tensors(b->context)->device_fallback : NULL;
    const bool was = fallback && tni_load_relaxed(fallback);
    if (fallback) tni_store_relaxed(fallback, on ? 1u : 0u);
    return was;
}

/* --- what a device does ----------------------------------------------------------------------- */

TN_PRIV bool tni_device_open(tni_block *b, tni_device *d) {
    char why[DEVICE_WHY] = "";
    bool ok;
    if (TNI_LIKELY(tni_load(&d->opened))) return true;
    tni_lock(&d->held_lock);
    ok = d->opened || d->backend->open(d->index, device_owner(d), why, sizeof why);
    if (ok) tni_store(&d->opened, 1u);
    tni_unlock(&d->held_lock);
    return ok || tni_error(b, TN_UNSUPPORTED, "%s cannot be used: %s", d->name, why);
}

static bool device_computes_nothing(tni_block *b, const tni_device *d) {
    return tni_error(b, TN_UNSUPPORTED,
                     "the host cannot read %s or wait for it while a graph is captured", d->name);
}

TN_PRIV bool tni_device_bytes(tni_block *b, tni_device *d, void *to, const void *from,
                              int64_t bytes, enum tn_copy how) {
    char why[DEVICE_WHY] = "";
    if (!bytes) return true;
    if (TNI_UNLIKELY(tni_state(b)->capture != NULL)) return tni_capture_refuse(b, d);
    if (TNI_UNLIKELY(tni_state(b)->deferred) && how & TN_COPY_DOWN)
        return device_computes_nothing(b, d);
    if (!tni_device_open(b, d)) return false;
    return d->backend->copy(d->index, to, from, bytes, how, why, sizeof why) ||
           tni_error(b, TN_INTERNAL, "a copy of %lld bytes %s %s failed: %s", (long long)bytes,
                     how & TN_COPY_UP ? "to" : "from", d->name, why);
}

/* The call of a ticket that a graph keeps; of one that is gone *to stays. */
static void device_held_ticket(tni_device *d, uint64_t number, tni_ticket *to) {
    tni_lock(&d->held_lock);
    for (const tni_held *h = d->held; h; h = h->next_ticket)
        if (h->number == number) *to = h->ticket;
    tni_unlock(&d->held_lock);
}

/* The error of a fault, with the call of its ticket; false. */
static bool device_fault(tni_block *b, tni_device *d, const tn_fault *fault) {
    tni_ticket t = {NULL, NULL, 0};
    if (fault->ticket & TNI_HELD_TICKET)
        device_held_ticket(d, fault->ticket, &t);
    else if (fault->ticket + TNI_TICKETS > tni_load_relaxed(&d->tickets))
        t = d->ticket[fault->ticket % TNI_TICKETS];
    return tni_error(b, TN_INDEX,
                     "%s on %s, called at %s:%d: index %lld is out of range for size %lld",
                     t.row ? t.row : "a call", d->name, t.file ? t.file : "?", (int)t.line,
                     (long long)fault->value, (long long)fault->bound);
}

TN_PRIV tn_stream *tni_stream_numbered(const tni_block *b, tni_device *d, uint8_t number) {
    return number ? &tni_load(&tni_tensors(b->context)->streams)->at[number] : &d->own;
}
TN_PRIV tn_stream *tni_stream_now(const tni_block *b, tni_device *d) {
    const tni_streams_now *now = tni_state(b)->streams;
    return tni_stream_numbered(b, d, now ? now->of[d->own.id] : 0);
}

TN_PRIV bool tni_device_wait_for(tni_block *b, tni_device *d, const tn_stream *s) {
    char why[DEVICE_WHY] = "";
    tn_fault fault = {0, 0, 0, device_owner(d)};
    bool ok;
    if (!tni_load(&d->opened)) return true;
    if (tni_state(b)->capture) return tni_capture_refuse(b, d);
    if (tni_state(b)->deferred) return device_computes_nothing(b, d);
    if (s && d->backend->streams)
        ok = d->backend->streams->stream_wait(d->index, s->handle, &fault, why, sizeof why);
    else
        ok = d->backend->wait(d->index, &fault, why, sizeof why);
    if (!ok) return tni_error(b, TN_INTERNAL, "%s: %s", d->name, why);
    return !fault.ticket || device_fault(b, d, &fault);
}

TN_PRIV bool tni_device_wait(tni_block *b, tni_device *d) {
    return tni_device_wait_for(b, d, tni_streams_any(b) ? tni_stream_now(b, d) : NULL);
}

/* --- captures --------------------------------------------------------------------------------- */

TN_PRIV bool tni_capture_refuse(tni_block *b, const tni_device *d) {
    tni_state(b)->capture->spoiled = true;
    return tni_error(b, TN_UNSUPPORTED, "a graph of %s cannot hold what waits for the host",
                     d->name);
}

/* A new one of the capture under way; NULL: it is spoiled. */
static tni_held *device_hold(tni_block *b) {
    tni_capture *c = tni_state(b)->capture;
    tni_held *h = (tni_held *)tni_need(b, (int64_t)sizeof *h);
    if (!h) c->spoiled = true;
    if (!h) return NULL;
    memset(h, 0, sizeof *h);
    h->next = c->held;
    return c->held = h;
}

TN_PRIV void tni_capture_keep(tni_block *b, tni_device *d, void *scratch) {
    tni_held *h = device_hold(b);
    if (h)
        h->scratch = scratch;
    else
        d->backend->free(d->index, scratch);
}

static uint64_t device_capture_ticket(const tn_frame *f, tni_device *d, uint64_t number) {
    tni_held *h = device_hold(f->block);
    if (!h) return number;
    h->number = number | TNI_HELD_TICKET;
    h->ticket.row = f->row->name;
    h->ticket.file = f->work.file;
    h->ticket.line = f->work.line;
    tni_lock(&d->held_lock);
    h->next_ticket = d->held;
    d->held = h;
    tni_unlock(&d->held_lock);
    return h->number;
}

TN_PRIV void tni_held_free(tni_block *b, tni_block *owner, tni_device *d, tni_held *held) {
    while (held) {
        tni_held *h = held, **at = &d->held;
        held = h->next;
        if (h->scratch) d->backend->free(d->index, h->scratch);
        tni_lock(&d->held_lock);
        while (h->number && *at && *at != h) at = &(*at)->next_ticket;
        if (h->number && *at) *at = h->next_ticket;
        tni_unlock(&d->held_lock);
        tni_put(b, owner, h, (int64_t)sizeof *h);
    }
}

TN_API uint64_t tn_device_ticket(const tn_frame *f) {
    tni_device *d = tni_device_of(f->block, f->device);
    const uint64_t number = d ? tni_fetch_add_relaxed(&d->tickets, 1) + 1 : 1;
    tni_ticket *t = d ? &d->ticket[number % TNI_TICKETS] : NULL;
    if (!t) return number;
    if (TNI_UNLIKELY(tni_state(f->block)->capture != NULL))
        return device_capture_ticket(f, d, number);
    t->row = f->row->name;
    t->file = f->work.file;
    t->line = f->work.line;
    return number;
}

TN_API tn_device_properties tn_device_properties_of(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_device_of(b, device) : NULL;
    tn_device_properties p;
    memset(&p, 0, sizeof p);
    if (d && d->backend->properties) d->backend->properties(d->index, &p);
    return p;
}

TN_API bool tn_device_wait_at(const char *file, int line, tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d;
    if (!tni_enter(b, file, line)) return false;
    if (device == TN_CPU || device == TN_META) return true;
    d = tni_device_of(b, device);
    if (d) return tni_leave(b, tni_device_wait_for(b, d, NULL));
    tni_error(b, TN_INVALID, "tn_device_wait: device number %d does not exist", (int)device);
    return tni_leave(b, false);
}
TN_API bool tnp_device_wait(tn_device_id device) { return tn_device_wait_at(NULL, 0, device); }
