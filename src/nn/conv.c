/* conv.c - convolution and pooling over images (N, C, H, W). */
#include "nn.h"
#include "../api/ops/layers.h"

/* --- Conv2d ----------------------------------------------------------------------------------- */

static bool conv2d_build(tn_module *m) {
    TN_SELF(conv2d, s, m);
    /* Group g maps its share of the input's channels to its share of the filters. */
    if (s->o.groups < 1 || s->o.in_channels % s->o.groups || s->o.out_channels % s->o.groups)
        return tni_nn_error(
            TN_INVALID,
            "in_channels (%lld) and out_channels (%lld) must be multiples of groups (%lld)",
            (long long)s->o.in_channels, (long long)s->o.out_channels, (long long)s->o.groups);
    if (s->o.padding_mode != TN_PADDING_MODE_ZEROS)
        return tni_nn_error(TN_UNSUPPORTED, "padding_mode: only zeros is supported");
    return true;
}
static bool conv2d_reset(tn_module *m) {
    TN_SELF(conv2d, s, m);
    /* Fan in is in_channels / groups * kH * kW, read off the weight's shape. */
    return tni_init_affine(s->weight, s->bias);
}
static bool conv2d_forward(tn_mframe *f) {
    TN_FORWARD(conv2d, s, a, f);
    /* input (N, C, H, W) or (C, H, W); sizes of one number stand for both dimensions. */
    f->out[0] = tnp_conv2d(a->input, s->weight, s->bias, s->o.stride, s->o.padding, s->o.dilation,
                           s->o.groups);
    return f->out[0] != NULL;
}
/* Cross-correlation with out_channels filters. */
TN_MODULE(
    conv2d,
    "Conv2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, int[2] "
    "padding=0, "
    "int[2] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, H, W) -> (N, out_channels, H', W')",
           .example = "tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0], kernel_size[1]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _, _)",
    .repr = "in_channels, out_channels, kernel_size[2]=, stride[2]=, ?padding[2]=, ?dilation[2]=, "
            "?groups=, ?bias=, "
            "?padding_mode=",
    .build = conv2d_build, .reset = conv2d_reset, .forward = conv2d_forward,
    .sample =
        "2 3 [3]: (2,2,5,6) | 4 6 [3,2] stride=[2] padding=[1,0] groups=2 bias=False: (1,4,7,7)")

/* --- pooling ---------------------------------------------------------------------------------- */

static bool max_pool2d_build(tn_module *m) {
    TN_SELF(max_pool2d, s, m);
    /* Windows lie side by side if no stride is given; fixed here, so the printed text shows it. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return !s->o.return_indices ||
           tni_nn_error(TN_UNSUPPORTED, "return_indices: only false is supported");
}
static bool max_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(max_pool2d, s, a, f);
    f->out[0] = tnp_max_pool2d(a->input, s->o.kernel_size, s->o.stride, s->o.padding, s->o.dilation,
                               s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* Largest element of each window; stride is kernel_size when not given. */
TN_MODULE(max_pool2d,
          "MaxPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, "
          "bool return_indices=False, bool ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
                 .example = "tn_nn_max_pool2d(TN_DIMS(2))"),
          .repr = "kernel_size=, stride=, padding=, dilation=, ceil_mode=",
          .build = max_pool2d_build, .forward = max_pool2d_forward,
          .sample = "[2]: (2,3,4,6) | [3,2] stride=[2] padding=[1]: (1,2,5,5)")

static bool avg_pool2d_build(tn_module *m) {
    TN_SELF(avg_pool2d, s, m);
    /* As in MaxPool2d. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return true;
}
static bool avg_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(avg_pool2d, s, a, f);
    /* divisor_override None is passed on: then each window is divided by its number of elements. */
    f->out[0] = tnp_avg_pool2d(a->input, s->o.kernel_size, s->o.stride, s->o.padding,
                               s->o.ceil_mode, s->o.count_include_pad, s->o.divisor_override);
    return f->out[0] != NULL;
}
/* Mean of each window. */
TN_MODULE(
    avg_pool2d,
    "AvgPool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None)",
    TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
           .example = "tn_nn_avg_pool2d(TN_DIMS(2))"),
    .repr = "kernel_size=, stride=, padding=", .build = avg_pool2d_build,
    .forward = avg_pool2d_forward,
    .sample = "[2]: (2,3,4,6) | [3] stride=[2] padding=[1]: (1,2,5,5)")

static bool adaptive_avg_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool2d, s, a, f);
    return (f->out[0] = tnp_adaptive_avg_pool2d(a->input, s->o.output_size)) != NULL;
}
/* Mean over windows that divide the image into output_size parts. */
TN_MODULE(adaptive_avg_pool2d, "AdaptiveAvgPool2d(int[2] output_size)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool2d(TN_DIMS(1))"),
          .repr = "output_size=", .forward = adaptive_avg_pool2d_forward,
          .sample = "[1]: (2,3,4,6) | [3,2]: (1,2,5,5)")
