/* conv.c - convolutions and transposed ones over lines, images and volumes. */
#include "nn.h"
#include "../api/ops/layers.h"

/* --- convolutions ----------------------------------------------------------------------------- */

/* Group g maps its share of the input's channels to its share of the filters. */
static bool conv_module_options(int64_t in, int64_t out, int64_t groups, bool mode_fits) {
    if (groups < 1 || in % groups || out % groups)
        return tni_nn_error(
            TN_INVALID,
            "in_channels (%lld) and out_channels (%lld) must be multiples of groups (%lld)",
            (long long)in, (long long)out, (long long)groups);
    return mode_fits ||
           tni_nn_error(TN_INVALID, TNI_IF(padding_mode,
                                           "padding_mode: a transposed convolution has zeros alone",
                                           "padding_mode is not in this build, but for zeros"));
}
/* The input with its own elements around it, as the mode says; the convolution then pads with
 * nothing. NULL with an error. */
static tn_tensor *conv_padded(tn_tensor *x, tn_padding_mode mode, int dims, tn_ints *padding) {
    static const char *const words[] = {"reflect", "replicate", "circular"};
    static const int64_t none[1] = {0};
    int64_t sides[6];
    if (mode == TN_PADDING_MODE_ZEROS) return x;
    for (int i = 0; i < 2 * dims; i++)
        sides[i] = padding->at[padding->n == 1 ? 0 : dims - 1 - i / 2];
    *padding = tn_ints_of(none, 1);
    return tnp_pad(x, tn_ints_of(sides, 2 * dims), words[mode - TN_PADDING_MODE_REFLECT],
                   TN_NO_FLOAT);
}
/* build and reset of all convolutions, each on its own struct; `last` is the last padding mode that
 * it has. Fan in is in_channels / groups times
 * the kernel's elements, read off the weight's shape. */
#define CONV_MODULE(name, last)                                                         \
    static bool name##_build(tn_module *m) {                                            \
        TN_SELF(name, s, m);                                                            \
        return conv_module_options(s->o.in_channels, s->o.out_channels, s->o.groups,    \
                                   s->o.padding_mode <= TNI_IF(padding_mode,            \
                                                               TN_PADDING_MODE_##last,  \
                                                               TN_PADDING_MODE_ZEROS)); \
    }                                                                                   \
    static bool name##_reset(tn_module *m) {                                            \
        TN_SELF(name, s, m);                                                            \
        return tni_init_affine(s->weight, s->bias);                                     \
    }
/* forward of Conv1d .. Conv3d; sizes of one number stand for all dimensions. */
#define CONV_MODULE_FORWARD(name, dims)                                                            \
    static bool name##_forward(tn_mframe *f) {                                                     \
        TN_FORWARD(name, s, a, f);                                                                 \
        tn_ints padding = s->o.padding;                                                            \
        tn_tensor *x = TNI_IF(padding_mode,                                                        \
                              conv_padded(a->input, s->o.padding_mode, dims, &padding), a->input); \
        f->out[0] =                                                                                \
            tnp_##name(x, s->weight, s->bias, s->o.stride, padding, s->o.dilation, s->o.groups);   \
        return f->out[0] != NULL;                                                                  \
    }

CONV_MODULE(conv1d, CIRCULAR)
CONV_MODULE_FORWARD(conv1d, 1)
/* Cross-correlation of lines with out_channels filters. */
TN_MODULE(
    conv1d,
    "Conv1d(int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, int[1] "
    "padding=0, int[1] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, L) -> (N, out_channels, L')",
           .example = "tn_nn_conv1d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _)",
    .repr = "in_channels, out_channels, kernel_size[1]=, stride[1]=, ?padding[1]=, ?dilation[1]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv1d_build, .reset = conv1d_reset, .forward = conv1d_forward,
    .sample = "2 3 [3]: (2,2,7) | 4 6 [2] stride=[2] padding=[1] groups=2 bias=False: (1,4,6) | "
              "2 2 [3] padding=[2] padding_mode=circular: (2,2,4)")

CONV_MODULE(conv2d, CIRCULAR)
CONV_MODULE_FORWARD(conv2d, 2)
/* Cross-correlation with out_channels filters. */
TN_MODULE(
    conv2d,
    "Conv2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, int[2] "
    "padding=0, int[2] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, H, W) -> (N, out_channels, H', W')",
           .example = "tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0], kernel_size[1]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _, _)",
    .repr = "in_channels, out_channels, kernel_size[2]=, stride[2]=, ?padding[2]=, ?dilation[2]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv2d_build, .reset = conv2d_reset, .forward = conv2d_forward,
    .sample =
        "2 3 [3]: (2,2,5,6) | 4 6 [3,2] stride=[2] padding=[1,0] groups=2 bias=False: (1,4,7,7) "
        "| 2 2 [2] padding=[1,2] padding_mode=reflect: (1,2,3,4)")

CONV_MODULE(conv3d, CIRCULAR)
CONV_MODULE_FORWARD(conv3d, 3)
/* Cross-correlation of volumes with out_channels filters. */
TN_MODULE(
    conv3d,
    "Conv3d(int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, int[3] "
    "padding=0, int[3] dilation=1, int groups=1, bool bias=True, PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')",
           .example = "tn_nn_conv3d(16, 33, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(out_channels, in_channels / groups, kernel_size[0], kernel_size[1], "
             "kernel_size[2]); "
             "bias(out_channels) if bias",
    .takes = "input(*, in_channels, _, _, _)",
    .repr = "in_channels, out_channels, kernel_size[3]=, stride[3]=, ?padding[3]=, ?dilation[3]=, "
            "?groups=, ?bias=, ?padding_mode=",
    .build = conv3d_build, .reset = conv3d_reset, .forward = conv3d_forward,
    .sample = "2 3 [2]: (1,2,3,4,3) | 2 4 [2,1,3] stride=[2] padding=[1,0,1] groups=2 bias=False: "
              "(1,2,3,4,3)")
#undef CONV_MODULE_FORWARD

/* --- transposed convolutions ------------------------------------------------------------------ */

/* What of a transposed convolution decides output_padding. */
typedef struct conv_to {
    tn_ints kernel, stride, padding, dilation, more;
    int dims;
} conv_to;
static int64_t conv_at(tn_ints l, int i) { return l.at[l.n == 1 ? 0 : i]; }
/* output_padding: as the option says, or what makes the output's last sizes `size`. */
static bool conv_output_padding(const conv_to *v, tn_tensor *x, tn_ints size, int64_t to[3]) {
    const int ndim = (int)tn_ndim(x);
    const int given = tn_ints_given(size) ? (int)size.n : 0, extra = given - v->dims;
    if (given && extra != 0 && given != ndim)
        return tni_nn_error(TN_INVALID,
                            "ConvTranspose%dD: for %dD input, output_size must have %d or %d "
                            "elements (got %d)",
                            v->dims, ndim, v->dims, ndim, given);
    for (int i = 0; i < v->dims; i++) {
        to[i] = conv_at(v->more, i);
        if (!given) continue;
        const int64_t least = (tn_size(x, i - v->dims) - 1) * conv_at(v->stride, i) -
                              2 * conv_at(v->padding, i) +
                              conv_at(v->dilation, i) * (conv_at(v->kernel, i) - 1) + 1;
        to[i] = size.at[extra + i] - least;
        if (to[i] < 0 || to[i] >= conv_at(v->stride, i))
            return tni_nn_error(TN_INVALID,
                                "requested an output size of %lld along dimension %d, but valid "
                                "sizes range from %lld to %lld",
                                (long long)size.at[extra + i], i, (long long)least,
                                (long long)(least + conv_at(v->stride, i) - 1));
    }
    return true;
}
#define CONV_TRANSPOSE_FORWARD(name, n)                                                 \
    static bool name##_forward(tn_mframe *f) {                                          \
        TN_FORWARD(name, s, a, f);                                                      \
        int64_t more[3];                                                                \
        const conv_to v = {s->o.kernel_size, s->o.stride,         s->o.padding,         \
                           s->o.dilation,    s->o.output_padding, n};                   \
        if (!conv_output_padding(&v, a->input, a->output_size, more)) return false;     \
        f->out[0] = tnp_##name(a->input, s->weight, s->bias, s->o.stride, s->o.padding, \
                               tn_ints_of(more, n), s->o.groups, s->o.dilation);        \
        return f->out[0] != NULL;                                                       \
    }

CONV_MODULE(conv_transpose1d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose1d, 1)
/* The transposed map of Conv1d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding. */
TN_MODULE(
    conv_transpose1d,
    "ConvTranspose1d(int in_channels, int out_channels, int[1] kernel_size, int[1] stride=1, "
    "int[1] padding=0, int[1] output_padding=0, int groups=1, bool bias=True, int[1] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, L) -> (N, out_channels, L')",
           .example = "tn_nn_conv_transpose1d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _)",
    .repr = "in_channels, out_channels, kernel_size[1]=, stride[1]=, ?padding[1]=, ?dilation[1]=, "
            "?output_padding[1]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose1d_build, .reset = conv_transpose1d_reset,
    .forward = conv_transpose1d_forward,
    .sample = "2 3 [3]: (2,2,4) | 4 6 [2] stride=[2] padding=[1] output_padding=[1] groups=2 "
              "bias=False: (1,4,5)")

CONV_MODULE(conv_transpose2d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose2d, 2)
/* The transposed map of Conv2d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding. */
TN_MODULE(
    conv_transpose2d,
    "ConvTranspose2d(int in_channels, int out_channels, int[2] kernel_size, int[2] stride=1, "
    "int[2] padding=0, int[2] output_padding=0, int groups=1, bool bias=True, int[2] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, H, W) -> (N, out_channels, H', W')",
           .example = "tn_nn_conv_transpose2d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0], kernel_size[1]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _, _)",
    .repr = "in_channels, out_channels, kernel_size[2]=, stride[2]=, ?padding[2]=, ?dilation[2]=, "
            "?output_padding[2]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose2d_build, .reset = conv_transpose2d_reset,
    .forward = conv_transpose2d_forward,
    .sample = "2 3 [3]: (2,2,3,4) | 4 6 [3,2] stride=[2] padding=[1,0] output_padding=[1,0] "
              "groups=2 bias=False: (1,4,3,3)")

CONV_MODULE(conv_transpose3d, ZEROS)
CONV_TRANSPOSE_FORWARD(conv_transpose3d, 3)
/* The transposed map of Conv3d. output_size chooses among the sizes of which a convolution makes
 * the input's, in place of output_padding. */
TN_MODULE(
    conv_transpose3d,
    "ConvTranspose3d(int in_channels, int out_channels, int[3] kernel_size, int[3] stride=1, "
    "int[3] padding=0, int[3] output_padding=0, int groups=1, bool bias=True, int[3] dilation=1, "
    "PaddingMode padding_mode=zeros)",
    TN_DOC(.shapes = "input (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')",
           .example = "tn_nn_conv_transpose3d(16, 8, TN_DIMS(3), .stride = TN_DIMS(2))"),
    .parts = "weight(in_channels, out_channels / groups, kernel_size[0], kernel_size[1], "
             "kernel_size[2]); "
             "bias(out_channels) if bias",
    .call = "(Tensor input, int[]? output_size=None) -> Tensor",
    .takes = "input(*, in_channels, _, _, _)",
    .repr = "in_channels, out_channels, kernel_size[3]=, stride[3]=, ?padding[3]=, ?dilation[3]=, "
            "?output_padding[3]=, ?groups=, ?bias=, ?padding_mode=",
    .build = conv_transpose3d_build, .reset = conv_transpose3d_reset,
    .forward = conv_transpose3d_forward,
    .sample = "2 3 [2]: (1,2,2,3,2) | 2 4 [2,1,3] stride=[2] padding=[1,0,1] groups=2 bias=False: "
              "(1,2,3,2,3)")
#undef CONV_MODULE
#undef CONV_TRANSPOSE_FORWARD
