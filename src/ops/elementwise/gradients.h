/* gradients.h - functions that gradients and composed rows of several files here share. Given
 * NULL, the mark of an error, they return NULL. */
#ifndef TNI_OPS_ELEMENTWISE_GRADIENTS_H
#define TNI_OPS_ELEMENTWISE_GRADIENTS_H

#include "../../call/call.h"

TN_PRIV tn_tensor *tni_conj_of(tn_tensor *t);          /* t itself where it is real */
/* t, or in the default dtype where it is of integers: what composed rows of floats begin with. */
TN_PRIV tn_tensor *tni_as_float(tn_frame *f, tn_tensor *t);
TN_PRIV tn_tensor *tni_times(tn_tensor *t, double by); /* t itself for 1 */
/* t where the mask is true, else 0: no NaN of the other branch gets through. */
TN_PRIV tn_tensor *tni_where_or_zero(tn_tensor *mask, tn_tensor *t);
/* Zeros, of incoming's shape for one input, of its own for all: of what is constant in pieces. */
TN_PRIV void tni_give_zeros(tn_gradient *g, int i);
TN_PRIV void tni_give_zeros_all(tn_gradient *g);

#endif
