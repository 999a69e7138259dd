/* geometry.c - geometries of views: taken from a tensor, changed, announced. Has no rows.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "geometry.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/shape.h"

TN_PRIV void tni_geometry_of(tni_geometry *v, const tn_tensor *t) {
    v->ndim = t->ndim;
    v->offset = t->offset;
    for (int i = 0; i < t->ndim; i++) {
        v->size[i] = t->size[i];
        v->stride[i] = t->stride[i];
    }
}

TN_PRIV bool tni_announce_geometry(tn_frame *f, int k, const tni_geometry *v) {
    tn_tensor *of = f->in[0];
    /* The common case, one view of an ordinary tensor, skips what lists, out= and headers on
     * the stack need. */
    if (TNI_UNLIKELY(k || f->ngiven || of->flags & TNI_STACK))
        return tn_announce_view(f, k, of, v->ndim, v->size, v->stride, v->offset);
    if (!f->nout) f->nout = 1;
    f->out[0] = tni_view_of(f->block, of, v->ndim, v->size, v->stride, v->offset,
                            tni_view_has_history(f, of));
    return f->out[0] != NULL;
}

TN_PRIV void tni_geometry_remove(tni_geometry *v, int d) {
    for (v->ndim--; d < v->ndim; d++) {
        v->size[d] = v->size[d + 1];
        v->stride[d] = v->stride[d + 1];
    }
}

TN_PRIV void tni_geometry_insert(tni_geometry *v, int d, int64_t size, int64_t stride) {
    /* Those from d on move back by one place. */
    for (int i = v->ndim++; i > d; i--) {
        v->size[i] = v->size[i - 1];
        v->stride[i] = v->stride[i - 1];
    }
    v->size[d] = size;
    v->stride[d] = stride;
}

TN_PRIV tn_tensor *tni_place_at(tni_block *b, tn_tensor *into, tn_tensor *src,
                                const tni_geometry *v) {
    tn_ints size = tni_ints(v->size, v->ndim), stride = tni_ints(v->stride, v->ndim);
    tn_tensor *at;
    if (!into || !src) return NULL;
    /* With a gradient of the gradient wanted, the write is an operator that the tape records; else
     * it happens in place, which saves a copy. */
    if (!tni_state(b)->no_grad)
        return tnp_as_strided_scatter(into, src, size, stride, into->offset + v->offset,
                                      tn_no_dims(), 0, false);
    at = tnp_as_strided(into, size, stride, into->offset + v->offset, tn_no_dims(), 0);
    return at && tnp_copy_(at, src) ? into : NULL;
}

/* new_zeros takes dtype and device from `like`; NULL passes errors on. */
TN_PRIV tn_tensor *tni_zeros_of(tn_tensor *like, int ndim, const int64_t *size) {
    return tnp_new_zeros(like, tni_ints(size, ndim), TN_NO_DTYPE, TN_NO_DEVICE);
}

TN_PRIV void tni_run_nothing(tn_frame *f) { (void)f; }

TN_PRIV void tni_geometry_give(tn_gradient *g, const tni_geometry *v) {
    tn_tensor *d = g->incoming[0], *self = g->in[0];
    tn_give(g, 0, tni_place_at(g->block, tni_zeros_of(d, self->ndim, self->size), d, v));
}
