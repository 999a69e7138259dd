/* geometry.h - sizes, strides and offset of a view before it exists, and gradients written at such
 * a place. */
#ifndef TNI_OPS_SHAPE_GEOMETRY_H
#define TNI_OPS_SHAPE_GEOMETRY_H

#include "../../call/rowform.h"

/* Sizes, strides and offset of a view, in elements. */
typedef struct tni_geometry {
    int ndim;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], offset;
} tni_geometry;
TN_PRIV void tni_geometry_of(tni_geometry *v, const tn_tensor *t);
TN_PRIV void tni_geometry_remove(tni_geometry *v, int d);
TN_PRIV void tni_geometry_insert(tni_geometry *v, int d, int64_t size, int64_t stride);
/* Output k is the view v of f->in[0]. */
TN_PRIV bool tni_announce_geometry(tn_frame *f, int k, const tni_geometry *v);
/* The run of a row whose outputs are all views. */
TN_PRIV void tni_run_nothing(tn_frame *f);
/* into, a new row-major tensor, with src written at v (recorded where gradients are). NULL passes
 * errors on. */
TN_PRIV tn_tensor *tni_place_at(tni_block *b, tn_tensor *into, tn_tensor *src,
                                const tni_geometry *v);
TN_PRIV tn_tensor *tni_zeros_of(tn_tensor *like, int ndim, const int64_t *size);

/* What the check of a row that gives a view or a copy tells its run (TN_NOTE). */
typedef struct tni_copy_note {
    bool copies;
} tni_copy_note;
/* The gradient of a view that leaves elements out; v was computed from g->in[0]. */
TN_PRIV void tni_geometry_give(tn_gradient *g, const tni_geometry *v);

#endif
