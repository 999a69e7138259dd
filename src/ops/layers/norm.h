/* norm.h - what layer_norm.c has for batch_norm.c. */
#ifndef TNI_OPS_LAYERS_NORM_H
#define TNI_OPS_LAYERS_NORM_H

#include "../../call/call.h"

TN_PRIV bool tni_norm_floating(tn_frame *f, const tn_tensor *x); /* else an error */
/* n numbers of t (contiguous or not, 1-D) to the compute type; `other` where t is absent. */
TN_PRIV void tni_norm_numbers(void *to, int compute, const tn_tensor *t, int64_t n, double other);
TN_PRIV tn_tensor *tni_norm_rsqrt(tn_tensor *var, double eps); /* 1 / sqrt(var + eps) */

#endif
