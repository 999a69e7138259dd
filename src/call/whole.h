/* whole.h - whole batches, which rows with .batched compute with: the samples of a batch stand in
 * dimension 0 of an ordinary tensor. */
#ifndef TNI_CALL_WHOLE_H
#define TNI_CALL_WHOLE_H

#include "call.h"

/* .batched = TN_BATCHED(fn): a program of one file has such functions if it defines TN_VMAP, and a
 * trimmed one if it calls tn_vmap; otherwise samples are computed one after another. */
#if defined TENSOR_TRIM && !defined TN_VMAP && TNI_NAMES_tni_vmap_call
#define TN_BATCHED(fn) (0 ? fn : NULL)
#else
#define TN_BATCHED(fn) TNI_IF(tni_vmap_call, fn, NULL)
#endif

/* All samples of t; NULL if it is none of this batch's. */
TN_PRIV tn_tensor *tni_whole_of(const tni_batch *batch, const tn_tensor *t);
/* `whole`, which has the samples in dimension 0, as one of them, which counts it: a header in the
 * current scope. NULL with an error. */
TN_PRIV tn_tensor *tni_sample_of(tni_block *b, const tni_batch *batch, tn_tensor *whole);
/* A sample requires grad as the whole batch does now. */
TN_PRIV void tni_sample_follow(tn_tensor *t);
/* A call of tni_batch.call (vmap.c). */
TN_PRIV bool tni_vmap_call(tni_call *c);

/* Input i of the call: of all samples, or the same for all. */
TNI_INLINE tn_tensor *tni_whole_input(const tn_frame *f, tn_tensor *const *whole, int i) {
    return whole[i] ? whole[i] : f->in[i];
}
/* whole, samples of ndim dimensions, with dimensions of size 1 in front of them until they have
 * `to`. NULL with an error. */
TN_PRIV tn_tensor *tni_whole_align(tn_tensor *whole, int ndim, int to);
/* t, the same for all, as `size` samples: a view. NULL with an error. */
TN_PRIV tn_tensor *tni_whole_repeat(tn_tensor *t, int64_t size);
/* Input i as samples, repeated if it is the same for all. */
TNI_INLINE tn_tensor *tni_whole_each(const tn_frame *f, tn_tensor *const *whole, int i,
                                     int64_t size) {
    return whole[i] ? whole[i] : tni_whole_repeat(f->in[i], size);
}
/* (size, n, ..) as (size n, ..), and back. NULL with an error; t NULL: NULL. */
TN_PRIV tn_tensor *tni_whole_join(tn_tensor *t);
TN_PRIV tn_tensor *tni_whole_split(tn_tensor *t, int64_t size);
/* whole as (size, elements of a sample). */
TN_PRIV tn_tensor *tni_whole_flat(tn_tensor *whole);

#endif
