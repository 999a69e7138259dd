/* conv.h - checks that the rows of convolutions share (conv_shape.c), and their runs. */
#ifndef TNI_OPS_LAYERS_CONV_H
#define TNI_OPS_LAYERS_CONV_H

#include "../../cpu/conv.h"
#include "../../call/rowform.h"

/* Fills s from the sizes of input (n, c, h, w) or (c, h, w) and weight, and from the options, or
 * of three `dims` with d before h. Returns false with an error. */
TN_PRIV bool tni_cv_shape_of(tn_frame *f, tni_cv_shape *s, int dims, tn_ints x, tn_ints w,
                             tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups);
/* All must have one floating or complex dtype, or an integer one where these are allowed. bias may
 * be NULL. */
TN_PRIV bool tni_cv_check_dtypes(tn_frame *f, const tn_tensor *a, const tn_tensor *b,
                                 const tn_tensor *bias, bool integers);
/* The gradient of the output must have the output's shape. */
TN_PRIV bool tni_cv_check_grad(tn_frame *f, const tni_cv_shape *s, const tn_tensor *d);
/* The sizes of the output (n, o, oh, ow), with or without n and depth; returns their number. */
TN_PRIV int tni_cv_output_size(const tni_cv_shape *s, int64_t size[5]);
/* The same of the input (n, c, h, w). */
TN_PRIV int tni_cv_input_size(const tni_cv_shape *s, int64_t size[5]);

/* Checks and runs of a convolution, and of the gradients of its input and weight, of shape s. */
TN_PRIV bool tni_cv_forward_check(tn_frame *f, const tni_cv_shape *s);
TN_PRIV void tni_cv_forward_run(tn_frame *f, const tni_cv_shape *s);
TN_PRIV bool tni_cv_input_check(tn_frame *f, const tni_cv_shape *s);
TN_PRIV void tni_cv_input_run(tn_frame *f, const tni_cv_shape *s);
TN_PRIV bool tni_cv_weight_check(tn_frame *f, const tni_cv_shape *s);
TN_PRIV void tni_cv_weight_run(tn_frame *f, const tni_cv_shape *s);
/* The gradient of bias, from that of an output of `dims` dimensions. */
TN_PRIV tn_tensor *tni_cv_bias_grad(tn_tensor *d, int dims);

#endif
