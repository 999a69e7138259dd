/* index.h - what rows with index tensors share: reading indices and masks, adding rows of elements
 * in order. */
#ifndef TNI_OPS_INDEXING_INDEX_H
#define TNI_OPS_INDEXING_INDEX_H

#include "../../call/rowform.h"
#include "../../cpu/drive.h"

TNI_INLINE int64_t tni_index_at(const char *at, int dtype) {
    if (dtype == TN_I64) {
        int64_t v;
        memcpy(&v, at, sizeof v);
        return v;
    } else {
        int32_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
}
TN_PRIV bool tni_index_dtype(tn_frame *f, const tn_tensor *index, const char *name);
/* Whether all of index lie in [low, size); else torch's error, which names dimension d. For look.
 * */
TN_PRIV bool tni_index_range(tn_frame *f, const tn_tensor *index, int64_t low, int64_t size, int d);
/* The same with an error of this code. */
TN_PRIV bool tni_index_range_or(tn_frame *f, const tn_tensor *index, int64_t low, int64_t size,
                                int d, tn_code code);

/* Whether the element is not zero (NaN is not); and how many are, over the shape that t is
 * broadcast to. */
TNI_INLINE bool tni_is_true(const char *at, int64_t bytes, bool floating) {
    uint64_t v[2] = {0, 0};
    if (bytes == 1 && !floating) return *at != 0;
    memcpy(v, at, (size_t)bytes);
    return floating ? (v[0] & ~(UINT64_C(1) << (8 * (bytes > 8 ? 8 : bytes) - 1))) != 0 : v[0] != 0;
}
TN_PRIV bool tni_true_at(const char *at, int dtype);
TN_PRIV int64_t tni_count_true(const tn_tensor *t, int ndim, const int64_t *size);

/* to[i] += from[i] for i = 0..n-1 in this order; steps in bytes. Additions of 16-bit floats round
 * one by one. */
TN_PRIV void tni_add_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                         int dtype);

/* --- gather.c: what the scatters share -------------------------------------------------------- */

/* What gather and the scatters check alike: dim, which goes into the note (tni_dim_note, or a
 * struct that begins with one), and the index; and for look the index's range. */
TN_PRIV bool tni_gather_arguments(tn_frame *f, int64_t dim, const char *name);
TN_PRIV bool tni_gather_look(tn_frame *f);
/* What a src must be beside that: self's dtype, no smaller than the index. Announces the result,
 * like self, in place with self's strides, which the row writes through. */
TN_PRIV bool tni_scatter_source(tn_frame *f, const char *name);
/* v becomes a header for walks over the index's shape: t's strides, but 0 along d, where the index
 * says how many steps to go. stride is v's memory. All other dimensions of index are no larger than
 * t's, so the walk stays inside t. */
TN_PRIV void tni_gather_line(tn_tensor *v, const tn_tensor *t, const tn_tensor *index, int d,
                             int64_t *stride);
/* Bytes from one element of t to the next along d; a 0-dim tensor has a single place, 0. */
TN_PRIV int64_t tni_gather_step(const tn_tensor *t, int d);
/* Gives d, of the index's shape, as the gradient of src (slot 2): zero for the rest of a src larger
 * than the index. */
TN_PRIV void tni_scatter_give(tn_gradient *g, tn_tensor *d);

#endif
