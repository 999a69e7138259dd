/* across.c - copies and fills of whole tensors, wherever they are. Between devices bytes go as they
 * lie, through the host where the backend does not copy from one to the other; another layout or
 * dtype goes through a dense copy in dst's dtype, made on src's side, and one on dst's. Waits where
 * the host reads. Hot: all copies begin here. */
#include "drive.h"

/* A new row-major tensor of like's shape; meta: without data. */
static tn_tensor *across_new(tni_block *b, const tn_tensor *like, int dtype, int device,
                             bool meta) {
    tn_tensor *t = tni_header(b, dtype, like->ndim, like->size, NULL);
    if (!t) return NULL;
    tni_set_device(t, device, meta);
    if (tni_set_storage(b, t)) return t;
    tni_drop(b, t);
    return NULL;
}

/* Whether both fill their memory without gaps, in the same order. */
static bool across_alike(const tn_tensor *a, const tn_tensor *b) {
    if (a->dtype != b->dtype || !tni_is_dense(a) || !tni_is_dense(b)) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->size[i] != 1 && a->stride[i] != b->stride[i]) return false;
    return true;
}

/* How bytes go between d and t of the CPU: only where d reaches t's memory by itself they may go
 * later. */
static enum tn_copy across_how(const tni_device *d, const tn_tensor *t, bool up, bool later) {
    const tni_device *by = later ? tni_pinned_by(t) : NULL;
    const int how = up ? TN_COPY_UP : TN_COPY_DOWN;
    return (enum tn_copy)(by && by->backend == d->backend ? how | TN_COPY_LATER : how);
}

/* Between two that lie alike, on the CPU and on a device, or on devices that copy to each other.
 * later: nobody waits, where the CPU's memory allows it. */
static bool across_bytes(tni_block *b, tn_tensor *to, const tn_tensor *from, bool later) {
    tni_device *up = tni_device_of(b, to->device), *down = tni_device_of(b, from->device);
    tni_device *d = up ? up : down;
    const int64_t bytes = to->numel * tni_dtype_size(to);
    if (up && down)
        return tni_device_across(b, up, tni_bytes_at(to), down, tni_bytes_at(from), bytes);
    if (!tni_device_bytes(b, d, tni_bytes_at(to), tni_bytes_at(from), bytes,
                          across_how(d, up ? from : to, up != NULL, later)))
        return false;
    /* What the host may read now is whole: a fault of the kernels before is told here. */
    return up || later || tni_device_wait(b, d);
}

static bool across_sides(tni_block *b, tn_tensor *dst, const tn_tensor *src, bool later) {
    const tn_tensor *from = src;
    tn_tensor *to = dst, *dense;
    if (!across_alike(dst, src)) {
        if (src->dtype != dst->dtype || !(src->flags & TNI_CONTIGUOUS)) {
            from = dense = across_new(b, dst, dst->dtype, src->device, false);
            if (!dense) return false;
            tni_copy_elements(b, dense, src);
        }
        if (!(dst->flags & TNI_CONTIGUOUS)) to = across_new(b, dst, dst->dtype, dst->device, false);
        if (!to) return false;
    }
    if (!across_bytes(b, to, from, later && to == dst)) return false;
    if (to != dst) tni_copy_elements(b, dst, to);
    return true;
}

/* Whether both are on devices that cannot copy to each other. */
static bool across_by_host(tni_block *b, const tn_tensor *dst, const tn_tensor *src) {
    const tni_device *to = tni_device_of(b, dst->device), *from = tni_device_of(b, src->device);
    return to && from && (to->backend != from->backend || !to->backend->across);
}

/* Where there are streams: both sides are there in the current ones of their devices. */
static TNI_NOINLINE bool across_streams(tni_block *b, const tn_tensor *dst, const tn_tensor *src) {
    tni_device *to = tni_device_of(b, dst->device);
    tni_device *from = src ? tni_device_of(b, src->device) : NULL;
    return (!to || tni_stream_writes(b, to, dst)) && (!from || tni_stream_reads(b, from, src));
}

static bool across_copy(tni_block *b, tn_tensor *dst, const tn_tensor *src, bool later) {
    const tni_device *d = tni_device_of(b, dst->device);
    tn_tensor *host;
    int64_t mark;
    bool ok;
    if (!dst->numel) return true;
    if (tni_streams_any(b) && !across_streams(b, dst, src)) return false;
    if (dst->device == src->device) {
        d->backend->elements(d->index, dst, src);
        return true;
    }
    mark = tni_begin(b);
    ok = mark >= 0;
    if (ok && across_by_host(b, dst, src)) {
        host = across_new(b, src, src->dtype, TN_CPU, false);
        ok = host && across_sides(b, host, src, false) && across_sides(b, dst, host, false);
    } else if (ok) {
        ok = across_sides(b, dst, src, later);
    }
    tni_end(b, mark);
    return ok;
}

TN_PRIV void tni_across_fill(tn_tensor *t, const void *unit) {
    const tni_device *d = tni_device_of(t->owner, t->device);
    if (tni_streams_any(t->owner) && !across_streams(tni_here(), t, NULL)) return;
    d->backend->fill(d->index, t, unit);
}

TN_PRIV void tni_copy_elements(tni_block *b, tn_tensor *dst, const tn_tensor *src) {
    if (TNI_UNLIKELY((dst->flags | src->flags) & TNI_DEVICE))
        across_copy(b, dst, src, false);
    else
        tni_copy_run(b->context, dst, (tn_tensor *)(uintptr_t)src);
}

TN_PRIV void tni_copy_later(tni_block *b, tn_tensor *dst, const tn_tensor *src) {
    if ((dst->flags | src->flags) & TNI_DEVICE)
        across_copy(b, dst, src, true);
    else
        tni_copy_elements(b, dst, src);
}

TN_PRIV tn_tensor *tni_device_down(tni_block *b, const tn_tensor *t) {
    tn_tensor *here = across_new(b, t, t->dtype, TN_CPU, false);
    tni_device *d = tni_device_of(b, t->device);
    if (!here || !d) return NULL;
    if (across_copy(b, here, t, false) && tni_device_wait(b, d)) return here;
    tni_drop(b, here);
    return NULL;
}

TN_PRIV tn_tensor *tni_device_up(tni_block *b, tn_tensor *t, int device) {
    tn_tensor *there = NULL;
    const bool meta = tni_without_data(b, device);
    if (device == TN_META || tni_device_of(b, device))
        there = across_new(b, t, t->dtype, device, meta);
    else
        tni_error(b, TN_UNSUPPORTED, "device number %d does not exist", device);
    if (there && !meta && !across_copy(b, there, t, false)) {
        tni_drop(b, there);
        there = NULL;
    }
    tni_drop(b, t);
    return there;
}

/* --- pinned memory ---------------------------------------------------------------------------- */

/* The first device that has such memory. */
static tni_device *across_pins(tni_block *b) {
    tni_device *d;
    for (tn_device_id id = TN_META + 1; (d = tni_device_of(b, id)) != NULL; id++)
        if (d->backend->host_alloc) return d;
    tni_error(b, TN_UNSUPPORTED, "tn_pin: there is no device with pinned memory");
    return NULL;
}

TN_PRIV bool tni_pin_result(tni_block *b, tn_tensor *t, int device) {
    return tni_pinned_storage(b, t, tni_device_of(b, device));
}

static tn_tensor *across_pin(tni_block *b, const tn_tensor *t) {
    tni_device *d;
    tn_tensor *made;
    if (!t) tni_error(b, TN_INVALID, "tn_pin: the tensor is NULL");
    if (!t || !tni_belongs(b, t, "tn_pin")) return NULL;
    if (t->device != TN_CPU) {
        tni_error(b, TN_INVALID, "tn_pin: expected a tensor of the CPU, got one of %s",
                  tn_device_name(t->device));
        return NULL;
    }
    if (!(d = across_pins(b))) return NULL;
    made = tni_header(b, t->dtype, t->ndim, t->size, tni_is_dense(t) ? t->stride : NULL);
    if (!made) return NULL;
    if (!tni_pinned_storage(b, made, d)) {
        tni_drop(b, made);
        return NULL;
    }
    if (made->numel) tni_copy_run(b->context, made, (tn_tensor *)(uintptr_t)t);
    return made;
}

TN_API tn_tensor *tn_pin_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    tn_tensor *made;
    if (!tni_enter(b, file, line)) return NULL;
    made = across_pin(b, t);
    tni_leave(b, made != NULL);
    return made;
}
TN_API tn_tensor *tnp_pin(tn_tensor *t) { return tn_pin_at(NULL, 0, t); }

/* --- for backends ----------------------------------------------------------------------------- */

TN_API void *tn_device_data(const tn_tensor *t) {
    return tni_there(t, "tn_device_data") && t->storage && t->storage->data ? tni_bytes_at(t)
                                                                            : NULL;
}

TN_API void tn_host_elements(tn_tensor *dst, const tn_tensor *src) {
    tni_copy_run(dst->owner->context, dst, (tn_tensor *)(uintptr_t)src);
}
