/* streams.c - streams of devices beside their own, which one a thread's calls go into, events; and
 * what memory and backwards have to know of them. A context without streams pays a look at one
 * pointer. */
#include "device.h"

/* --- which one -------------------------------------------------------------------------------- */

static tni_streams *streams_of(const tni_block *b) {
    return tni_load(&tni_tensors(b->context)->streams);
}

/* What the thread has for its current streams; NULL with MEMORY. It goes with the context. */
static tni_streams_now *stream_table(tni_block *b) {
    tni_streams_now *now = tni_state(b)->streams;
    if (now || !(now = (tni_streams_now *)tni_need(b, (int64_t)sizeof *now))) return now;
    memset(now, 0, sizeof *now);
    return tni_state(b)->streams = now;
}

TN_API void *tn_backend_stream(const tn_backend *backend, int32_t device) {
    tni_block *b = tni_here_if_any();
    tni_device *d;
    if (!b || !tni_streams_any(b) || !tni_state(b)->streams) return NULL;
    for (tn_device_id id = TN_META + 1; (d = tni_device_of(b, id)) != NULL; id++)
        if (d->backend == backend && d->index == device) return tni_stream_now(b, d)->handle;
    return NULL;
}

TN_API tn_stream *tn_stream_default(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_device_of(b, device) : NULL;
    return d ? &d->own : NULL;
}
TN_API tn_stream *tn_stream_current(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_device_of(b, device) : NULL;
    return d ? tni_stream_now(b, d) : NULL;
}
TN_API tn_stream *tn_stream_use(tn_stream *s) {
    tni_block *b = tni_here();
    tni_streams_now *now;
    tn_stream *before;
    if (!b || !s || s->context != b->context) return NULL;
    before = tni_stream_now(b, s->device);
    if (before != s && (now = stream_table(b)) != NULL) now->of[s->id] = s->number;
    return before;
}
TN_API tn_device_id tn_stream_device(const tn_stream *s) { return s ? s->id : TN_NO_DEVICE; }
TN_API int tn_stream_priority(const tn_stream *s) { return s ? s->priority : 0; }
TN_API void *tn_stream_handle(const tn_stream *s) { return s ? s->handle : NULL; }

/* --- made and given up ------------------------------------------------------------------------ */

static void streams_at_end(tn_context *c) {
    tni_streams *all = tni_tensors(c)->streams;
    for (uint32_t i = 1; all && i <= all->n; i++) {
        const tni_device *d = all->at[i].device;
        d->backend->streams->stream_free(d->index, all->at[i].handle);
    }
    tni_tensors(c)->streams = NULL;
}

/* The context's, made at first need; NULL with MEMORY. */
static tni_streams *streams_need(tni_block *b) {
    tni_streams *all = streams_of(b), *none = NULL;
    if (all || !(all = (tni_streams *)tni_need(b, (int64_t)sizeof *all))) return all;
    memset(all, 0, sizeof *all);
    if (tni_swap_if(&tni_tensors(b->context)->streams, &none, all)) {
        tni_context_at_end(b->context, streams_at_end);
        return all;
    }
    tni_put(b, b, all, (int64_t)sizeof *all);
    return none;
}

/* One that was given up, or one with a new number. NULL with an error. Under the lock. */
static tn_stream *stream_take(tni_block *b, tni_streams *all, tni_device *d, int priority) {
    tn_stream *s;
    for (uint32_t i = 1; i <= all->n; i++) {
        s = &all->at[i];
        if (!s->taken && s->device == d && s->priority == priority) return s;
    }
    if (all->n == TNI_STREAMS - 1) {
        tni_error(b, TN_UNSUPPORTED, "tn_stream_new: there are %d streams, the most of a context",
                  TNI_STREAMS - 1);
        return NULL;
    }
    s = &all->at[all->n + 1];
    s->handle = d->backend->streams->stream_new(d->index, priority);
    if (!s->handle) {
        tni_error(b, TN_MEMORY, "tn_stream_new: %s has no further stream", d->name);
        return NULL;
    }
    s->context = b->context;
    s->device = d;
    s->priority = priority;
    s->id = d->own.id;
    s->number = (uint8_t)(all->n + 1);
    tni_store(&all->n, all->n + 1);
    return s;
}

/* The device of a function that needs streams; NULL with an error. */
static tni_device *stream_device(tni_block *b, const char *function, tn_device_id device) {
    tni_device *d = tni_device_of(b, device);
    if (!d && device != TN_CPU && device != TN_META)
        tni_error(b, TN_INVALID, "%s: device number %d does not exist", function, (int)device);
    else if (!d || !d->backend->streams)
        tni_error(b, TN_UNSUPPORTED, "%s: %s has no streams", function, tn_device_name(device));
    else if (tni_device_open(b, d))
        return d;
    return NULL;
}

TN_API tn_stream *tn_stream_new_at(const char *file, int line, tn_device_id device, int priority) {
    tni_block *b = tni_here();
    tni_streams *all;
    tni_device *d;
    tn_stream *s = NULL;
    if (!tni_enter(b, file, line)) return NULL;
    d = stream_device(b, "tn_stream_new", device);
    all = d ? streams_need(b) : NULL;
    if (all) {
        tni_lock(&all->lock);
        s = stream_take(b, all, d, priority);
        if (s) s->taken = true;
        tni_unlock(&all->lock);
    }
    tni_leave(b, s != NULL);
    return s;
}
TN_API tn_stream *tnp_stream_new(tn_device_id device, int priority) {
    return tn_stream_new_at(NULL, 0, device, priority);
}

TN_API void tn_stream_free(tn_stream *s) {
    tni_streams *all;
    if (!s || !s->number) return;
    all = tni_load(&tni_tensors(s->context)->streams);
    tni_lock(&all->lock);
    s->taken = false;
    tni_unlock(&all->lock);
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Whether s is a stream of the context; else an error. */
static bool stream_there(tni_block *b, const char *function, const tn_stream *s) {
    if (s && s->context == b->context) return true;
    return tni_error(b, TN_INVALID, "%s: the stream is %s", function,
                     s ? "of another context" : "NULL");
}

TN_API bool tn_stream_synchronize_at(const char *file, int line, tn_stream *s) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    return tni_leave(b, stream_there(b, "tn_stream_synchronize", s) &&
                            tni_device_wait_for(b, s->device, s));
}
TN_API bool tnp_stream_synchronize(tn_stream *s) { return tn_stream_synchronize_at(NULL, 0, s); }

TN_API bool tn_stream_query(tn_stream *s) {
    const tn_backend *k = s ? s->device->backend : NULL;
    if (!k || !k->streams || !tni_load(&s->device->opened)) return true;
    return k->streams->stream_done(s->device->index, s->handle);
}

TN_PRIV bool tni_stream_join(tni_block *b, const tn_stream *s, const tn_stream *other) {
    const tn_backend_streams *k = other->device->backend->streams;
    const int32_t from = other->device->index;
    void *event;
    bool ok;
    if (s == other || !tni_load(&other->device->opened)) return true;
    if (!k || s->device->backend->streams != k)
        return tni_error(b, TN_INVALID, "a stream of %s cannot wait for one of %s", s->device->name,
                         other->device->name);
    event = k->event_new(from, false);
    if (!event)
        return tni_error(b, TN_MEMORY, "out of memory on %s for an event", other->device->name);
    ok = k->event_record(from, event, other->handle) &&
         k->event_before(s->device->index, event, s->handle);
    k->event_free(from, event);
    return ok || tni_error(b, TN_INTERNAL, "%s cannot wait for a stream", s->device->name);
}

TN_PRIV bool tni_device_across(tni_block *b, tni_device *d, void *to, tni_device *from,
                               const void *at, int64_t bytes) {
    const tn_stream *s = tni_stream_now(b, d), *other = tni_stream_now(b, from);
    char why[DEVICE_WHY] = "";
    if (TNI_UNLIKELY(tni_state(b)->capture != NULL)) return tni_capture_refuse(b, d);
    if (!tni_device_open(b, d) || !tni_stream_join(b, s, other)) return false;
    if (!d->backend->across(d->index, to, from->index, at, bytes, why, sizeof why))
        return tni_error(b, TN_INTERNAL, "a copy from %s to %s failed: %s", from->name, d->name,
                         why);
    return tni_stream_join(b, other, s);
}

TN_API bool tn_stream_wait_stream_at(const char *file, int line, tn_stream *s, tn_stream *other) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    return tni_leave(b, stream_there(b, "tn_stream_wait_stream", s) &&
                            stream_there(b, "tn_stream_wait_stream", other) &&
                            (s == other || tni_device_open(b, s->device)) &&
                            tni_stream_join(b, s, other));
}
TN_API bool tnp_stream_wait_stream(tn_stream *s, tn_stream *other) {
    return tn_stream_wait_stream_at(NULL, 0, s, other);
}

/* --- events ----------------------------------------------------------------------------------- */

struct tn_stream_event {
    tni_block *owner;
    tni_device *device; /* NULL: it was not recorded yet */
    void *handle;
    bool timing;
};

TN_API tn_stream_event *tn_event_new_at(const char *file, int line, bool timing) {
    tni_block *b = tni_here();
    tn_stream_event *e;
    if (!tni_enter(b, file, line)) return NULL;
    e = (tn_stream_event *)tni_need(b, (int64_t)sizeof *e);
    if (e) {
        memset(e, 0, sizeof *e);
        e->owner = b;
        e->timing = timing;
    }
    tni_leave(b, e != NULL);
    return e;
}
TN_API tn_stream_event *tnp_event_new(bool timing) { return tn_event_new_at(NULL, 0, timing); }

TN_API void tn_event_free(tn_stream_event *e) {
    tni_block *b = e ? tni_here_if_any() : NULL;
    if (!b) return;
    if (e->device) e->device->backend->streams->event_free(e->device->index, e->handle);
    tni_put(b, e->owner, e, (int64_t)sizeof *e);
}

static bool event_there(tni_block *b, const char *function, const tn_stream_event *e) {
    if (e && e->owner->context == b->context) return true;
    return tni_error(b, TN_INVALID, "%s: the event is %s", function,
                     e ? "of another context" : "NULL");
}

static bool event_record_in(tni_block *b, tn_stream_event *e, const tn_stream *s) {
    tni_device *d = stream_device(b, "tn_event_record", s->id);
    if (!d) return false;
    if (e->device && e->device != d)
        return tni_error(b, TN_INVALID, "tn_event_record: the event is of %s, the stream of %s",
                         e->device->name, d->name);
    if (!e->device) {
        e->handle = d->backend->streams->event_new(d->index, e->timing);
        if (!e->handle) return tni_error(b, TN_MEMORY, "out of memory on %s for an event", d->name);
        e->device = d;
    }
    return d->backend->streams->event_record(d->index, e->handle, s->handle) ||
           tni_error(b, TN_INTERNAL, "tn_event_record: %s cannot record an event", d->name);
}

TN_API bool tn_event_record_at(const char *file, int line, tn_stream_event *e, tn_stream *s) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    return tni_leave(b, event_there(b, "tn_event_record", e) &&
                            stream_there(b, "tn_event_record", s) && event_record_in(b, e, s));
}
TN_API bool tnp_event_record(tn_stream_event *e, tn_stream *s) {
    return tn_event_record_at(NULL, 0, e, s);
}

TN_API bool tn_stream_wait_event_at(const char *file, int line, tn_stream *s, tn_stream_event *e) {
    tni_block *b = tni_here();
    const tn_backend_streams *k;
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    ok = stream_there(b, "tn_stream_wait_event", s) && event_there(b, "tn_stream_wait_event", e);
    if (!ok || !e->device) return tni_leave(b, ok);
    k = e->device->backend->streams;
    if (s->device->backend->streams != k)
        ok = tni_error(b, TN_INVALID, "tn_stream_wait_event: the event is of %s, the stream of %s",
                       e->device->name, s->device->name);
    else if (tni_device_open(b, s->device))
        ok = k->event_before(s->device->index, e->handle, s->handle) ||
             tni_error(b, TN_INTERNAL, "%s cannot wait for an event", s->device->name);
    else
        ok = false;
    return tni_leave(b, ok);
}
TN_API bool tnp_stream_wait_event(tn_stream *s, tn_stream_event *e) {
    return tn_stream_wait_event_at(NULL, 0, s, e);
}

TN_API bool tn_event_query(tn_stream_event *e) {
    return !e || !e->device || e->device->backend->streams->event_done(e->device->index, e->handle);
}

TN_API bool tn_event_synchronize_at(const char *file, int line, tn_stream_event *e) {
    tni_block *b = tni_here();
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    ok = event_there(b, "tn_event_synchronize", e);
    if (ok && e->device && !e->device->backend->streams->event_wait(e->device->index, e->handle))
        ok = tni_error(b, TN_INTERNAL, "%s: a wait for an event failed", e->device->name);
    return tni_leave(b, ok);
}
TN_API bool tnp_event_synchronize(tn_stream_event *e) {
    return tn_event_synchronize_at(NULL, 0, e);
}

/* Why there is no time between both; NULL: there is one, in *ms. */
static const char *event_elapsed(const tn_stream_event *begin, const tn_stream_event *end,
                                 float *ms) {
    if (!begin->timing || !end->timing) return "both events must be made with timing";
    if (!begin->device || !end->device) return "both events must be recorded first";
    if (begin->device != end->device) return "the events are of two devices";
    if (begin->device->backend->streams->event_ms(begin->device->index, begin->handle, end->handle,
                                                  ms))
        return NULL;
    return "one of the events is not done; wait for it";
}

TN_API double tn_event_elapsed_ms_at(const char *file, int line, tn_stream_event *begin,
                                     tn_stream_event *end) {
    tni_block *b = tni_here();
    const char *wrong = NULL;
    float ms = -1;
    if (!tni_enter(b, file, line)) return -1;
    if (event_there(b, "tn_event_elapsed_ms", begin) && event_there(b, "tn_event_elapsed_ms", end))
        wrong = event_elapsed(begin, end, &ms);
    if (wrong) tni_error(b, TN_INVALID, "tn_event_elapsed_ms: %s", wrong);
    tni_leave(b, !b->failed);
    return ms;
}
TN_API double tnp_event_elapsed_ms(tn_stream_event *begin, tn_stream_event *end) {
    return tn_event_elapsed_ms_at(NULL, 0, begin, end);
}

/* --- memory ----------------------------------------------------------------------------------- */

TN_API bool tn_record_stream_at(const char *file, int line, tn_tensor *t, tn_stream *s) {
    tni_block *b = tni_here();
    const tn_backend_streams *k;
    bool ok = true;
    if (!tni_enter(b, file, line)) return false;
    if (!stream_there(b, "tn_record_stream", s)) return tni_leave(b, false);
    k = s->device->backend->streams;
    if (!t || !tni_belongs(b, t, "tn_record_stream"))
        ok = b->failed ? false : tni_error(b, TN_INVALID, "tn_record_stream: the tensor is NULL");
    else if (t->device != s->id)
        ok = tni_error(b, TN_INVALID, "tn_record_stream: the tensor is on %s, the stream of %s",
                       tn_device_name(t->device), s->device->name);
    else if (k && t->storage && t->storage->data)
        k->used(s->device->index, t->storage->data, s->handle);
    return tni_leave(b, ok);
}
TN_API bool tnp_record_stream(tn_tensor *t, tn_stream *s) {
    return tn_record_stream_at(NULL, 0, t, s);
}

/* Who wrote last is told from the storage, so that only streams that find another one there have to
 * say that they use the memory. */
static bool stream_touches(tni_block *b, tni_device *d, const tn_tensor *t, bool writes) {
    tni_storage *storage = t && t->flags & TNI_DEVICE ? t->storage : NULL;
    tni_streams_now *mine = tni_state(b)->streams;
    const tn_stream *now;
    if (tni_state(b)->capture) return true; /* each launch says it */
    if (!storage || !storage->data || t->device != d->own.id || !d->backend->streams) return true;
    now = tni_stream_now(b, d);
    if (mine) mine->ran[now->number] = true;
    if (storage->stream == now->number) return true;
    if (mine && mine->joins && !tni_stream_join(b, now, tni_stream_numbered(b, d, storage->stream)))
        return false;
    d->backend->streams->used(d->index, storage->data, now->handle);
    if (writes) storage->stream = now->number;
    return true;
}
TN_PRIV bool tni_stream_reads(tni_block *b, tni_device *d, const tn_tensor *t) {
    return stream_touches(b, d, t, false);
}
TN_PRIV bool tni_stream_writes(tni_block *b, tni_device *d, const tn_tensor *t) {
    return stream_touches(b, d, t, true);
}

/* --- backwards -------------------------------------------------------------------------------- */

TN_PRIV bool tni_streams_begin(tni_block *b, tni_streams_now *before) {
    tni_streams_now *now = stream_table(b);
    if (!now) return false;
    *before = *now;
    memset(now->ran, 0, sizeof now->ran);
    now->joins = true;
    return true;
}

TN_PRIV void tni_streams_go(tni_block *b, tn_device_id device, uint8_t number) {
    if (number && streams_of(b)->at[number].id != device) number = 0;
    tni_state(b)->streams->of[device] = number;
}

TN_PRIV bool tni_streams_end(tni_block *b, const tni_streams_now *before) {
    const tni_streams *all = streams_of(b);
    tni_streams_now *now = tni_state(b)->streams;
    const uint32_t n = tni_load(&all->n);
    tni_device *d;
    bool ok = true;
    memcpy(now->of, before->of, sizeof now->of);
    now->joins = before->joins;
    for (tn_device_id id = TN_META + 1; (d = tni_device_of(b, id)) != NULL; id++) {
        const tn_stream *s = tni_stream_now(b, d);
        if (!d->backend->streams) continue;
        if (now->ran[0]) ok = tni_stream_join(b, s, &d->own) && ok;
        for (uint32_t i = 1; i <= n; i++)
            if (now->ran[i] && all->at[i].device == d)
                ok = tni_stream_join(b, s, &all->at[i]) && ok;
    }
    for (int i = 0; i < TNI_STREAMS; i++) now->ran[i] = now->ran[i] || before->ran[i];
    return ok;
}
