/* loss.h - what loss.c has for the other files of losses. */
#ifndef TNI_OPS_LAYERS_LOSS_H
#define TNI_OPS_LAYERS_LOSS_H

#include "../../api/ops/layers.h"
#include "../../call/call.h"

/* The mean or sum of the elements, or all of them. */
TN_PRIV tn_tensor *tni_loss_reduced(tn_tensor *t, tn_reduction reduction);
/* The same as the result of a composed row. */
TN_PRIV bool tni_loss_result(tn_frame *f, tn_tensor *t, tn_reduction reduction);
/* t, which counts as at least `least`; the gradient is t's own, as of torch's clamp_ without
 * recording. */
TN_PRIV tn_tensor *tni_at_least(tn_tensor *t, double least);

#endif
