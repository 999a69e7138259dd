/* fold.c - windows of images as columns, and columns as images. */
#include "nn.h"
#include "../api/ops/layers.h"

static bool unfold_forward(tn_mframe *f) {
    TN_FORWARD(unfold, s, a, f);
    f->out[0] = tnp_im2col(a->input, s->o.kernel_size, s->o.dilation, s->o.padding, s->o.stride);
    return f->out[0] != NULL;
}
/* The windows of an image as columns: row (c, i, j) has the elements at place (i, j) of channel c's
 * windows. */
TN_MODULE(unfold,
          "Unfold(int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C kH kW, L), L windows",
                 .example = "tn_nn_unfold(TN_DIMS(3), .padding = TN_DIMS(1))"),
          .repr = "kernel_size=, dilation=, padding=, stride=", .forward = unfold_forward,
          .sample = "[2]: (2,3,4,5) | [3,2] dilation=[2,1] padding=[1] stride=[2]: (2,6,5)")

static bool fold_forward(tn_mframe *f) {
    TN_FORWARD(fold, s, a, f);
    f->out[0] = tnp_col2im(a->input, s->o.output_size, s->o.kernel_size, s->o.dilation,
                           s->o.padding, s->o.stride);
    return f->out[0] != NULL;
}
/* Columns added into the windows of an image of output_size: what overlaps is summed. */
TN_MODULE(fold,
          "Fold(int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, "
          "int[2] stride=1)",
          TN_DOC(.shapes = "input (N, C kH kW, L), L windows -> (N, C, output_size)",
                 .example = "tn_nn_fold(TN_DIMS(4, 5), TN_DIMS(2))"),
          .repr = "output_size=, kernel_size=, dilation=, padding=, stride=",
          .forward = fold_forward,
          .sample = "[4,5] [2]: (2,12,12) | [6,5] [3,2] dilation=[2,1] padding=[1] stride=[2]: "
                    "(6,9)")
