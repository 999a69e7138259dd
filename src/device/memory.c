/* memory.c - memory of devices: given out and taken back, what an error of it says, limits,
 * what a program asks about it; and memory of the host that devices reach. The backend keeps what
 * is freed. */
#include "device.h"

/* --- out of memory ---------------------------------------------------------------------------- */

enum { MEMORY_LARGEST = 3 };

/* t takes its place among the largest of a device, the largest first; tensors that share their
 * memory are one, named by the oldest. */
static void memory_rank(const tn_tensor **largest, const tn_tensor *t) {
    int i = 0, last;
    while (i < MEMORY_LARGEST && largest[i] && largest[i]->storage != t->storage &&
           largest[i]->storage->bytes >= t->storage->bytes)
        i++;
    if (i == MEMORY_LARGEST) return;
    last = largest[i] && largest[i]->storage == t->storage ? i : MEMORY_LARGEST - 1;
    memmove(largest + i + 1, largest + i, (size_t)(last - i) * sizeof *largest);
    largest[i] = t;
}

/* The largest tensors of d that this thread has made. Those that no scope holds could be freed by
 * other threads meanwhile, so with these they are left out. */
static void memory_largest(tni_block *b, const tni_device *d, const tn_tensor **largest) {
    for (int i = 0; i < MEMORY_LARGEST; i++) largest[i] = NULL;
    for (uint32_t depth = b->context->blocks->next ? 1 : 0; depth <= tni_state(b)->depth; depth++)
        for (const tn_tensor *t = *tni_scope_head(b, depth); t; t = t->next)
            if (t->flags & TNI_DEVICE && !(t->flags & TNI_FREED) && t->storage &&
                t->storage->data && t->storage->user == d)
                memory_rank(largest, t);
}

/* "; the largest tensors: (1000, 1000) float32 made at train.c:12, .." */
static void memory_explain(tni_block *b, const tni_device *d) {
    const tn_tensor *largest[MEMORY_LARGEST];
    char text[160];
    memory_largest(b, d, largest);
    for (int i = 0; i < MEMORY_LARGEST && largest[i]; i++) {
        const tn_tensor *t = largest[i];
        tni_error_more(b, "%s%s of %lld bytes",
                       i ? ", " : "; the largest tensors: ", tni_tensor_text(text, sizeof text, t),
                       (long long)t->storage->bytes);
        if (t->file) tni_error_more(b, " made at %s:%d", t->file, tni_line(b, t->file, t->line));
    }
    tni_unscoped_explain(b);
}

static bool memory_failed(tni_block *b, const tni_device *d, int64_t bytes, const char *why) {
    return tni_error(b, TN_INTERNAL, "a request of %lld bytes on %s failed: %s", (long long)bytes,
                     d->name, why);
}

/* why: what the backend said; "": no memory is left. */
static void memory_error(tni_block *b, const tni_device *d, int64_t bytes, const char *why) {
    tn_device_memory_info m = {0, 0, 0, 0, 0, 0};
    if (b->failed) return;
    if (*why) {
        memory_failed(b, d, bytes, why);
        return;
    }
    tni_error(b, TN_MEMORY, "out of memory on %s: %lld bytes were requested", d->name,
              (long long)bytes);
    if (d->backend->memory) {
        d->backend->memory(d->index, &m);
        tni_error_more(b, " with %lld in use, %lld reserved", (long long)m.used,
                       (long long)m.reserved);
    }
    if (m.limit) tni_error_more(b, " and a limit of %lld", (long long)m.limit);
    memory_explain(b, d);
}

/* --- given out and taken back ----------------------------------------------------------------- */

static void memory_release(void *data, void *user) {
    const tni_device *d = (const tni_device *)user;
    d->backend->free(d->index, data);
}

TN_PRIV void *tni_device_get(tni_block *b, int device, int64_t bytes,
                             void (**release)(void *data, void *user), void **user,
                             uint8_t *stream) {
    tni_device *d = tni_device_of(b, device);
    char why[DEVICE_WHY] = "";
    void *at;
    if (!d || !tni_device_open(b, d)) return NULL;
    if (TNI_UNLIKELY(tni_state(b)->capture != NULL) && !tni_state(b)->capture->scratch) {
        tni_capture_refuse(b, d);
        return NULL;
    }
    at = d->backend->alloc(d->index, bytes, why, sizeof why);
    if (!at && !*why && d->backend->trim) {
        d->backend->trim(d->index);
        at = d->backend->alloc(d->index, bytes, why, sizeof why);
    }
    if (!at) memory_error(b, d, bytes, why);
    *release = memory_release;
    *user = d;
    *stream = tni_stream_now(b, d)->number;
    return at;
}

/* --- of the host, for copies ------------------------------------------------------------------ */

static void memory_unpin(void *data, void *user) {
    const tni_device *d = (const tni_device *)user;
    d->backend->host_free(d->index, data);
}

TN_PRIV bool tni_pinned_storage(tni_block *b, tn_tensor *t, tni_device *d) {
    char why[DEVICE_WHY] = "";
    int64_t bytes;
    void *at;
    if (!d->backend->host_alloc || !t->numel) return tni_set_storage(b, t);
    if (!tni_extent(t, &bytes)) return tni_error(b, TN_INVALID, "the tensor is too large");
    if (!tni_device_open(b, d)) return false;
    at = d->backend->host_alloc(d->index, bytes, why, sizeof why);
    if (!at && *why) return memory_failed(b, d, bytes, why);
    if (!at)
        return tni_error(b, TN_MEMORY,
                         "out of memory on %s: %lld bytes of pinned memory were requested", d->name,
                         (long long)bytes);
    t->storage = tni_storage_wrap(b, at, bytes, memory_unpin, d);
    if (!t->storage) memory_unpin(at, d);
    return t->storage != NULL;
}

TN_PRIV tni_device *tni_pinned_by(const tn_tensor *t) {
    const bool pinned =
        t->storage && t->storage->kind == TNI_DATA_WRAPPED && t->storage->release == memory_unpin;
    return pinned ? (tni_device *)t->storage->user : NULL;
}

TN_API bool tn_is_pinned(const tn_tensor *t) {
    return tni_there(t, "tn_is_pinned") && tni_pinned_by(t) != NULL;
}

/* --- back to the driver ----------------------------------------------------------------------- */

static int64_t memory_reserved(const tni_device *d) {
    tn_device_memory_info m = {0, 0, 0, 0, 0, 0};
    if (d->backend->memory) d->backend->memory(d->index, &m);
    return m.reserved;
}

TN_PRIV int64_t tni_devices_trim(tni_block *b) {
    tni_device *d;
    int64_t bytes = 0;
    for (tn_device_id id = TN_META + 1; (d = tni_device_of(b, id)) != NULL; id++) {
        if (!tni_load(&d->opened) || !d->backend->trim) continue;
        bytes += memory_reserved(d);
        d->backend->trim(d->index);
        bytes -= memory_reserved(d);
    }
    return bytes > 0 ? bytes : 0; /* other threads go on */
}

/* --- what a program asks ---------------------------------------------------------------------- */

/* A device that is in use; NULL: it is not, or there is none. */
static tni_device *memory_device(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_device_of(b, device) : NULL;
    return d && tni_load(&d->opened) ? d : NULL;
}

TN_API tn_device_memory_info tn_device_memory(tn_device_id device) {
    const tni_device *d = memory_device(device);
    tn_device_memory_info m = {0, 0, 0, 0, 0, 0};
    if (d && d->backend->memory) d->backend->memory(d->index, &m);
    return m;
}

TN_API void tn_device_reset_peak(tn_device_id device) {
    const tni_device *d = memory_device(device);
    if (d && d->backend->reset_peak) d->backend->reset_peak(d->index);
}

TN_API int64_t tn_device_snapshot(tn_device_id device,
                                  void (*each)(const tn_device_piece *piece, void *user),
                                  void *user) {
    const tni_device *d = memory_device(device);
    return d && each && d->backend->snapshot ? d->backend->snapshot(d->index, each, user) : 0;
}

TN_API bool tn_device_memory_limit_at(const char *file, int line, tn_device_id device,
                                      int64_t bytes) {
    tni_block *b = tni_here();
    const tni_device *d;
    if (!tni_enter(b, file, line)) return false;
    d = tni_device_of(b, device);
    if (device != TN_CPU && device != TN_META && !d)
        tni_error(b, TN_INVALID, "tn_device_memory_limit: device number %d does not exist",
                  (int)device);
    else if (!d || !d->backend->limit)
        tni_error(b, TN_UNSUPPORTED, "tn_device_memory_limit: %s has no limit of memory",
                  tn_device_name(device));
    else if (bytes < 0)
        tni_error(b, TN_INVALID, "tn_device_memory_limit: expected 0 bytes or more, got %lld",
                  (long long)bytes);
    else
        d->backend->limit(d->index, bytes);
    return tni_leave(b, !b->failed);
}
TN_API bool tnp_device_memory_limit(tn_device_id device, int64_t bytes) {
    return tn_device_memory_limit_at(NULL, 0, device, bytes);
}
