/* whole.c - whole batches and their samples. */
#include "../api/ops/shape.h"
#include "whole.h"

TN_PRIV tn_tensor *tni_whole_align(tn_tensor *whole, int ndim, int to) {
    for (; whole && ndim < to; ndim++) whole = tnp_unsqueeze(whole, 1);
    return whole;
}

TN_PRIV tn_tensor *tni_whole_repeat(tn_tensor *t, int64_t size) {
    int64_t sizes[TN_MAX_DIMS + 1];
    sizes[0] = size;
    memcpy(sizes + 1, t->size, (size_t)t->ndim * sizeof *sizes);
    t = tnp_unsqueeze(t, 0);
    return t ? tnp_expand(t, tni_ints(sizes, t->ndim), false) : NULL;
}

TN_PRIV tn_tensor *tni_whole_join(tn_tensor *t) { return t ? tnp_flatten(t, 0, 1) : NULL; }

TN_PRIV tn_tensor *tni_whole_split(tn_tensor *t, int64_t size) {
    int64_t sizes[2];
    if (!t) return NULL;
    sizes[0] = size;
    sizes[1] = size ? t->size[0] / size : 0;
    return tnp_unflatten(t, 0, tni_ints(sizes, 2));
}

TN_PRIV tn_tensor *tni_whole_flat(tn_tensor *whole) {
    const int64_t sizes[2] = {whole->size[0], whole->size[0] ? whole->numel / whole->size[0] : 0};
    return tnp_reshape(whole, tni_ints(sizes, 2));
}

/* --- samples ---------------------------------------------------------------------------------- */

TN_PRIV tn_tensor *tni_whole_of(const tni_batch *batch, const tn_tensor *t) {
    const tni_extra *e = t && t->flags & TNI_BATCHED ? tni_extra_there(t) : NULL;
    return e && e->batch_number == batch->number ? e->batch : NULL;
}

TN_PRIV void tni_sample_follow(tn_tensor *t) {
    t->flags =
        (uint16_t)((t->flags & ~(unsigned)TNI_REQUIRES) | (tni_all_of(t)->flags & TNI_REQUIRES));
}

TN_PRIV tn_tensor *tni_sample_of(tni_block *b, const tni_batch *batch, tn_tensor *whole) {
    tn_tensor *t = tni_header(b, whole->dtype, whole->ndim - 1, whole->size + 1, whole->stride + 1);
    tni_extra *e;
    if (!t) return NULL;
    t->flags |= TNI_META | TNI_BATCHED;
    t->device = whole->device;
    t->offset = whole->offset;
    t->storage = tni_storage_wrap(b, NULL, whole->storage->bytes, NULL, NULL);
    e = t->storage ? tni_extra_of(b, t) : NULL;
    if (!e) {
        t->flags &= (uint16_t)~TNI_BATCHED;
        tni_drop(b, t);
        return NULL;
    }
    tni_retain(whole);
    e->batch = whole;
    e->batch_number = batch->number;
    tni_sample_follow(t);
    return t;
}
