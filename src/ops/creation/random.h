/* random.h (creation) - what rows that draw random numbers share (random.c). */
#ifndef TNI_OPS_CREATION_RANDOM_H
#define TNI_OPS_CREATION_RANDOM_H

#include "../../cpu/lanes.h"
#include "../../call/rowform.h"

enum {
    TNI_RANDOM_TILE = 4096,    /* elements that are converted at once, in a buffer on the stack */
    TNI_RANDOM_BLOCK = 1 << 16 /* elements between two polls of a loop over single ones */
};

/* Of which dtypes: of every one but complex ones and wide unsigned ones, with these, of floating
 * ones, of floating and complex ones. */
enum { TNI_RANDOM_ANY, TNI_RANDOM_WHOLE, TNI_RANDOM_FLOATS, TNI_RANDOM_COMPLEX };
/* Announces a new tensor for random numbers of these kinds. */
TN_PRIV bool tni_random_new(tn_frame *f, tn_ints size, tn_dtype dtype, tn_device_id device,
                            int kinds);
/* Announces a result like self, in place or new: dense, in self's order of dimensions, so that
 * elements can be drawn in the order of memory. */
TN_PRIV bool tni_random_self(tn_frame *f, int kinds);
/* What was overwritten has no part in the result. */
TN_PRIV void tni_random_zero_grad(tn_gradient *g);
/* A double in [0, 1) of 53 random bits, as torch's. */
TN_PRIV double tni_random_u53(tn_generator *g);
/* A normal number, one at a time, as torch draws them for small tensors. */
TN_PRIV double tni_random_normal(tn_frame *f);

#endif
