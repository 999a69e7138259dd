/* copy.h - what copy.c has for other files: strides of a clone, and filling. */
#ifndef TNI_OPS_SHAPE_COPY_H
#define TNI_OPS_SHAPE_COPY_H

#include "../../call/rowform.h"

/* Sizes and strides of a clone of self: torch's preserve_format. */
TN_PRIV void tni_copy_strides(tni_shape *s, const tn_tensor *self);
/* t, copied channels-last if the images of `like`, of which it is made, lie so; NULL if t is. */
TN_PRIV tn_tensor *tni_images_as(tn_tensor *t, const tn_tensor *like);
/* Whether value can be a tensor's element without overflow, with torch's error; and every element
 * of t = value. */
TN_PRIV bool tni_fill_check(tn_frame *f, tn_scalar value, int dtype);
TN_PRIV void tni_fill(tn_tensor *t, tn_scalar value);

#endif
