/* conv3d.c - 3-D convolution and the gradients of its input and weight: the loops of conv.c and
 * conv_weight.c, where the taps along the depth are channels. */
#include "conv.h"
#include "../../api/ops/layers.h"

static bool conv3d_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv3d, a, f);
    return tni_cv_shape_of(f, s, 3, tni_sizes(f->in[0]), tni_sizes(f->in[1]), a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool conv3d_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], f->in[2], true) && conv3d_shape(f, &s) &&
           tni_cv_forward_check(f, &s);
}
static void conv3d_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv3d_shape(f, &s)) tni_cv_forward_run(f, &s);
}
static void conv3d_grad(tn_gradient *g) {
    TN_ARGS(conv3d, a, g);
    tn_tensor *x = g->in[0], *w = g->in[1], *d = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0,
                tnp_conv3d_input_grad(d, w, tni_sizes(x), a->stride, a->padding, a->dilation,
                                      a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv3d_weight_grad(d, x, tni_sizes(w), a->stride, a->padding, a->dilation,
                                       a->groups));
    if (g->in[2] && g->want[2]) tn_give(g, 2, tni_cv_bias_grad(d, 3));
}
/* conv2d of volumes: the sums also run along the depth. */
TN_OPERATOR(conv3d,
            "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] "
            "padding=0, int[3] dilation=1, int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, "
                             "kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
                   .example = "tn_conv3d(x, w, .padding = TN_DIMS(1))",
                   .python = "nn.functional.conv3d"),
            .forms = TN_OUT | TN_IMAGES, .autocast = TN_LOWER, .needs = "input:weight weight:input",
            .check = conv3d_check, .run = conv3d_run, .grad = conv3d_grad,
            .sample = "(2,2,4,3,5) (3,2,2,3,2) (3) padding=[1] | (1,2,5,4,4) (2,2,3,2,2) None "
                      "stride=[2,1,2] padding=[1,0,1] | (4,5,3,4) (4,2,2,2,2) (4) dilation=[2,1,1] "
                      "groups=2 | (2,3,3,4,4) (5,3,1,1,1) (5) | (0,2,3,3,3) (3,2,2,2,2) (3) | "
                      "(1,17,3,4,5) (19,17,3,3,3) None [1] [1] | (2,1,4,4,4) (1,1,2,2,2)",
            .node = "ConvolutionBackward0")

static bool conv3d_input_grad_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv3d_input_grad, a, f);
    return tni_cv_shape_of(f, s, 3, a->input_size, tni_sizes(f->in[1]), a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool conv3d_input_grad_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], NULL, true) &&
           conv3d_input_grad_shape(f, &s) && tni_cv_input_check(f, &s);
}
static void conv3d_input_grad_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv3d_input_grad_shape(f, &s)) tni_cv_input_run(f, &s);
}
/* As of conv2d_input_grad. */
static void conv3d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(conv3d_input_grad, a, g);
    tn_tensor *d = g->in[0], *w = g->in[1], *e = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0, tnp_conv3d(e, w, NULL, a->stride, a->padding, a->dilation, a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv3d_weight_grad(d, e, tni_sizes(w), a->stride, a->padding, a->dilation,
                                       a->groups));
}
/* The gradient of conv3d's input, as conv2d_input_grad. torch.nn.grad.conv3d_input. */
TN_OPERATOR(
    conv3d_input_grad,
    "conv3d_input_grad(Tensor grad, Tensor weight, int[] input_size, int[3] stride=1, int[3] "
    "padding=0, int[3] dilation=1, int groups=1) -> Tensor",
    TN_DOC(.shapes = "grad (N, O, D', H', W'), weight (O, C / groups, kD, kH, kW), input_size (N, "
                     "C, D, H, W) -> input_size",
           .example = "tn_conv3d_input_grad(d, w, TN_DIMS(1, 3, 4, 8, 8))"),
    .forms = TN_OUT | TN_IMAGES, .needs = "grad:weight weight:grad",
    .check = conv3d_input_grad_check, .run = conv3d_input_grad_run, .grad = conv3d_input_grad_grad,
    .sample = "(2,3,5,3,6) (3,2,2,3,2) [2,2,4,3,5] padding=[1] | (1,2,3,3,3) (2,2,3,2,2) "
              "[1,2,5,4,4] [2,1,2] [1,0,1] | (4,3,2,3) (4,2,2,2,2) [4,5,3,4] dilation=[2,1,1] "
              "groups=2 | (1,3,2,2,2) (3,2,1,1,1) [1,2,3,4,4] [2] | (1,19,3,4,5) (19,17,3,3,3) "
              "[1,17,3,4,5] [1] [1]")

static bool conv3d_weight_grad_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv3d_weight_grad, a, f);
    return tni_cv_shape_of(f, s, 3, tni_sizes(f->in[1]), a->weight_size, a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool conv3d_weight_grad_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], NULL, false) &&
           conv3d_weight_grad_shape(f, &s) && tni_cv_weight_check(f, &s);
}
static void conv3d_weight_grad_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv3d_weight_grad_shape(f, &s)) tni_cv_weight_run(f, &s);
}
/* As of conv2d_weight_grad. */
static void conv3d_weight_grad_grad(tn_gradient *g) {
    TN_ARGS(conv3d_weight_grad, a, g);
    tn_tensor *d = g->in[0], *x = g->in[1], *e = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0, tnp_conv3d(x, e, NULL, a->stride, a->padding, a->dilation, a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv3d_input_grad(d, e, tni_sizes(x), a->stride, a->padding, a->dilation,
                                      a->groups));
}
/* The gradient of conv3d's weight, as conv2d_weight_grad. torch.nn.grad.conv3d_weight. */
TN_OPERATOR(
    conv3d_weight_grad,
    "conv3d_weight_grad(Tensor grad, Tensor input, int[] weight_size, int[3] stride=1, int[3] "
    "padding=0, int[3] dilation=1, int groups=1) -> Tensor",
    TN_DOC(.shapes = "grad (N, O, D', H', W'), input (N, C, D, H, W), weight_size (O, C / groups, "
                     "kD, kH, kW) -> weight_size",
           .example = "tn_conv3d_weight_grad(d, x, TN_DIMS(16, 3, 3, 3, 3))"),
    .forms = TN_OUT, .needs = "grad:input input:grad", .check = conv3d_weight_grad_check,
    .run = conv3d_weight_grad_run, .grad = conv3d_weight_grad_grad,
    .sample = "(2,3,5,3,6) (2,2,4,3,5) [3,2,2,3,2] padding=[1] | (1,2,3,3,3) (1,2,5,4,4) "
              "[2,2,3,2,2] [2,1,2] [1,0,1] | (4,3,2,3) (4,5,3,4) [4,2,2,2,2] dilation=[2,1,1] "
              "groups=2 | (0,3,2,2,2) (0,2,3,3,3) [3,2,2,2,2] | (1,19,3,4,5) (1,17,3,4,5) "
              "[19,17,3,3,3] [1] [1]")
