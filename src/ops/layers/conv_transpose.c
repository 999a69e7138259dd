/* conv_transpose.c - transposed convolutions, and those of one dimension: compositions of the
 * convolutions of two and three dimensions.
 *
 * A transposed convolution is the gradient of a convolution's input. One dimension is two with a
 * height of 1. */
#include "conv.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"

static bool conv_fits_dims(tn_frame *f, const tn_tensor *x, const tn_tensor *w, int dims) {
    char has[160];
    if (x->ndim != dims + 1 && x->ndim != dims + 2)
        return tn_fail(f, TN_INVALID,
                       "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of "
                       "size: %s",
                       dims + 1, dims + 2, f->row->name,
                       tni_shape_text(has, sizeof has, x->ndim, x->size));
    return w->ndim == dims + 2 ||
           tn_fail(f, TN_INVALID, "expected weight of %d dimensions, got %s", dims + 2,
                   tni_shape_text(has, sizeof has, w->ndim, w->size));
}

/* --- conv1d ----------------------------------------------------------------------------------- */

/* A list of one dimension as that of two, whose first number is `first`. */
static bool conv_one(tn_frame *f, tn_ints l, const char *name, int64_t first, int64_t low,
                     int64_t to[2]) {
    to[0] = first;
    return tni_each_of(f, l, name, 1, low, to + 1);
}
static bool conv1d_compose(tn_frame *f) {
    TN_ARGS(conv1d, a, f);
    int64_t stride[2], padding[2], dilation[2];
    tn_tensor *y;
    if (!conv_fits_dims(f, a->input, a->weight, 1) ||
        !conv_one(f, a->stride, "stride", 1, 1, stride) ||
        !conv_one(f, a->padding, "padding", 0, 0, padding) ||
        !conv_one(f, a->dilation, "dilation", 1, 1, dilation))
        return false;
    y = tnp_conv2d(tnp_unsqueeze(a->input, -2), tnp_unsqueeze(a->weight, -2), a->bias,
                   tni_ints(stride, 2), tni_ints(padding, 2), tni_ints(dilation, 2), a->groups);
    f->out[0] = tnp_squeeze_dim(y, -2);
    return f->out[0] != NULL;
}
/* conv2d of lines: y(n, o, q) = bias(o) + sum over c, j of weight(o, c, j) input(n, c, q stride + j
 * dilation - padding). */
TN_OPERATOR(conv1d,
            "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] "
            "padding=0, int[1] dilation=1, int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, L) or (C, L), weight (O, C / groups, k), bias (O) -> "
                             "(N, O, L') or (O, L')",
                   .example = "tn_conv1d(x, w, .padding = TN_DIMS(1))",
                   .python = "nn.functional.conv1d"),
            .autocast = TN_LOWER, .compose = conv1d_compose,
            .sample = "(2,3,8) (4,3,3) (4) padding=[1] | (1,2,9) (3,2,2) None stride=[2] | (4,7) "
                      "(6,2,3) (6) dilation=[2] groups=2 | (0,2,5) (3,2,2) (3) | (2,1,70) (5,1,7)",
            .node = "SqueezeBackward1")

/* --- conv_tbc --------------------------------------------------------------------------------- */

static bool conv_tbc_fits(tn_frame *f) {
    TN_ARGS(conv_tbc, a, f);
    const tn_tensor *x = a->self, *w = a->weight, *b = a->bias;
    if (x->ndim != 3)
        return tn_fail(f, TN_INVALID, "Input must have 3 dims: time, batch, input channels");
    if (w->ndim != 3)
        return tn_fail(f, TN_INVALID,
                       "Weight tensor must have 3 dims: width, input channels, output channels.");
    if (b->ndim != 1) return tn_fail(f, TN_INVALID, "Bias must be 1-D");
    if (x->size[2] != w->size[1])
        return tn_fail(f, TN_INVALID,
                       "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
    if (b->size[0] != w->size[2])
        return tn_fail(f, TN_INVALID,
                       "Bias size must equal dim 2 in the weight tensor (output channels).");
    return (a->pad >= -INT32_MAX && a->pad <= INT32_MAX && x->size[0] <= INT64_MAX / 2) ||
           tn_fail(f, TN_INVALID, "pad is %lld, expected a number of 32 bits", (long long)a->pad);
}
/* One product for each tap, of the times whose neighbour at this tap is there. */
static bool conv_tbc_compose(tn_frame *f) {
    TN_ARGS(conv_tbc, a, f);
    tn_tensor *x = a->self, *w = a->weight, *y;
    if (!conv_tbc_fits(f)) return false;
    const int64_t taps = w->size[0], times = x->size[0] - taps + 1 + 2 * a->pad;
    const int64_t size[3] = {times, x->size[1], w->size[2]};
    if (times < 0)
        return tn_fail(f, TN_INVALID, "Trying to create tensor with negative dimension %lld",
                       (long long)times);
    y = tnp_to_dtype(a->bias, (tn_dtype)x->dtype, false, false);
    y = tnp_clone(tnp_expand(y, tni_ints(size, 3), false), TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    for (int64_t j = 0; y && j < taps && (j == 0 || y->numel > 0); j++) {
        const int64_t from = j > a->pad ? j - a->pad : 0, to = a->pad > j ? a->pad - j : 0;
        const int64_t rest = x->size[0] - from, n = rest < times - to ? rest : times - to;
        const int64_t around[6] = {0, 0, 0, 0, to, times - to - n};
        tn_tensor *part;
        if (n <= 0) continue;
        part = tnp_matmul(tnp_narrow(x, 0, from, n), tnp_select(w, 0, j));
        if (n < times) part = tnp_constant_pad_nd(part, tni_ints(around, 6), tn_int(0));
        y = tnp_add(y, part, 1);
    }
    return (f->out[0] = y) != NULL;
}
/* conv1d of tensors whose first dimension is time: y(t, n, o) = bias(o) + sum over j, c of
 * weight(j, c, o) self(t + j - pad, n, c). Integers, too. */
TN_OPERATOR(conv_tbc, "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
            TN_DOC(.shapes = "self (T, N, C), weight (k, C, O), bias (O) -> (T', N, O)",
                   .example = "tn_conv_tbc(x, w, b, .pad = 1)", .python = "nn.functional.conv_tbc"),
            .forms = TN_OUT, .autocast = TN_LOWER, .compose = conv_tbc_compose,
            .sample = "(8,2,3) (3,3,4) (4) 1 | (9,1,2) (2,2,3) (3) | (3,2,1) (3,1,2) (2) 2 | "
                      "(5,0,2) (3,2,2) (2) | (70,2,1) (7,1,5) (5)")

/* --- transposed ------------------------------------------------------------------------------- */

typedef struct conv_back {
    int64_t stride[3], padding[3], more[3], dilation[3], size[5];
    int ndim;
} conv_back;

/* The sizes of the output: the input of which a convolution with w makes one of x's shape. */
static bool conv_back_of(tn_frame *f, conv_back *v, const tn_tensor *x, const tn_tensor *w,
                         int dims, int64_t groups) {
    const int64_t channels = x->size[x->ndim - 1 - dims];
    int64_t *size = v->size;
    if (groups < 1 || w->size[0] % groups != 0)
        return tn_fail(f, TN_INVALID, "%lld input channels are not divisible into %lld groups",
                       (long long)w->size[0], (long long)groups);
    if (w->size[0] != channels)
        return tn_fail(f, TN_INVALID,
                       "Given transposed=1, weight expects %lld input channels, but got %lld",
                       (long long)w->size[0], (long long)channels);
    v->ndim = x->ndim;
    if (x->ndim == dims + 2) *size++ = x->size[0];
    if (!tni_mul(w->size[1], groups, size++))
        return tn_fail(f, TN_MEMORY, "the weight is too large");
    for (int i = 0; i < dims; i++) {
        const int64_t n = x->size[x->ndim - dims + i], k = w->size[2 + i];
        int64_t reach, moved;
        if (v->more[i] >= v->stride[i] && v->more[i] >= v->dilation[i])
            return tn_fail(f, TN_INVALID,
                           "output padding must be smaller than either stride or dilation, but "
                           "got output_padding: %lld, stride: %lld, dilation: %lld",
                           (long long)v->more[i], (long long)v->stride[i],
                           (long long)v->dilation[i]);
        if (n < 1 || k < 1)
            return tn_fail(f, TN_INVALID,
                           "expected input and weight with elements along all "
                           "dimensions of the kernel");
        if (!tni_mul(n - 1, v->stride[i], &moved) || !tni_mul(k - 1, v->dilation[i], &reach) ||
            !tni_add(moved, reach, &moved) || !tni_add(moved, v->more[i] + 1, &moved))
            return tn_fail(f, TN_MEMORY, "the sizes are too large");
        size[i] = moved - 2 * v->padding[i];
        if (size[i] < 1)
            return tn_fail(f, TN_INVALID,
                           "the output would have %lld elements along dimension %d of the kernel",
                           (long long)size[i], i);
    }
    return true;
}
/* x with zeros behind it where the convolution of an output has more elements than x: those that
 * output_padding adds beyond a stride. */
static tn_tensor *conv_fill(const conv_back *v, tn_tensor *x, const tn_tensor *w, int dims) {
    for (int i = 0; i < dims && x; i++) {
        const int at = x->ndim - dims + i;
        const int64_t reach = (w->size[2 + i] - 1) * v->dilation[i] + 1,
                      n = (v->size[at] + 2 * v->padding[i] - reach) / v->stride[i] + 1;
        int64_t size[5];
        tn_tensor *both[2] = {x, NULL};
        if (n == x->size[at]) continue;
        for (int d = 0; d < x->ndim; d++) size[d] = d == at ? n - x->size[d] : x->size[d];
        both[1] = tnp_new_zeros(x, tni_ints(size, x->ndim), TN_NO_DTYPE, TN_NO_DEVICE);
        x = tnp_cat(tn_tensors_of(both, 2), at);
    }
    return x;
}
/* y + bias, a number for each channel. */
static tn_tensor *conv_plus(tn_frame *f, tn_tensor *y, tn_tensor *bias, int dims) {
    const int64_t shape[4] = {-1, 1, 1, 1};
    char has[160];
    if (!y || !bias) return y;
    if (bias->ndim != 1 || bias->size[0] != y->size[y->ndim - 1 - dims] ||
        bias->dtype != y->dtype) {
        tn_fail(f, TN_INVALID, "expected bias (%lld) of the input's dtype, got %s",
                (long long)y->size[y->ndim - 1 - dims],
                tni_shape_text(has, sizeof has, bias->ndim, bias->size));
        return NULL;
    }
    return tnp_add(y, tnp_reshape(bias, tni_ints(shape, dims + 1)), 1);
}
static bool conv_options(tn_frame *f, conv_back *v, int dims, tn_ints stride, tn_ints padding,
                         tn_ints more, tn_ints dilation) {
    return tni_each_of(f, stride, "stride", dims, 1, v->stride) &&
           tni_each_of(f, padding, "padding", dims, 0, v->padding) &&
           tni_each_of(f, more, "output_padding", dims, 0, v->more) &&
           tni_each_of(f, dilation, "dilation", dims, 1, v->dilation);
}

static bool conv_transpose1d_compose(tn_frame *f) {
    TN_ARGS(conv_transpose1d, a, f);
    int64_t stride[2], padding[2], more[2], dilation[2];
    tn_tensor *y;
    if (!conv_fits_dims(f, a->input, a->weight, 1) ||
        !conv_one(f, a->stride, "stride", 1, 1, stride) ||
        !conv_one(f, a->padding, "padding", 0, 0, padding) ||
        !conv_one(f, a->output_padding, "output_padding", 0, 0, more) ||
        !conv_one(f, a->dilation, "dilation", 1, 1, dilation))
        return false;
    y = tnp_conv_transpose2d(tnp_unsqueeze(a->input, -2), tnp_unsqueeze(a->weight, -2), a->bias,
                             tni_ints(stride, 2), tni_ints(padding, 2), tni_ints(more, 2),
                             a->groups, tni_ints(dilation, 2));
    f->out[0] = tnp_squeeze_dim(y, -2);
    return f->out[0] != NULL;
}
/* conv_transpose2d of lines. */
TN_OPERATOR(conv_transpose1d,
            "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, "
            "int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, L) or (C, L), weight (C, O / groups, k), bias (O) -> "
                             "(N, O, L') or (O, L')",
                   .example = "tn_conv_transpose1d(x, w, .stride = TN_DIMS(2))",
                   .python = "nn.functional.conv_transpose1d"),
            .autocast = TN_LOWER, .compose = conv_transpose1d_compose,
            .sample = "(2,3,5) (3,4,3) (4) stride=[2] padding=[1] output_padding=[1] | (1,2,4) "
                      "(2,3,2) | (4,5) (4,3,2) (6) groups=2 dilation=[2]",
            .node = "SqueezeBackward1")

static bool conv_transpose2d_compose(tn_frame *f) {
    TN_ARGS(conv_transpose2d, a, f);
    conv_back v;
    tn_tensor *y;
    if (!conv_fits_dims(f, a->input, a->weight, 2) ||
        !conv_options(f, &v, 2, a->stride, a->padding, a->output_padding, a->dilation) ||
        !conv_back_of(f, &v, a->input, a->weight, 2, a->groups))
        return false;
    /* The gradient's row conjugates the weight. */
    y = tnp_conv2d_input_grad(conv_fill(&v, a->input, a->weight, 2), tnp_conj(a->weight),
                              tni_ints(v.size, v.ndim), a->stride, a->padding, a->dilation,
                              a->groups);
    f->out[0] = conv_plus(f, y, a->bias, 2);
    return f->out[0] != NULL;
}
/* The transposed map of conv2d: each element of input, times the kernel, is added to the output at
 * stride times its place, less padding. output_padding adds to the output's size on one side.
 * Vincent Dumoulin and Francesco Visin, A guide to convolution arithmetic for deep learning. */
TN_OPERATOR(conv_transpose2d,
            "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] "
            "stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) "
            "-> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W), weight (C, O / groups, kH, kW), "
                             "bias (O) -> (N, O, H', W') or (O, H', W')",
                   .example = "tn_conv_transpose2d(x, w, .stride = TN_DIMS(2))",
                   .python = "nn.functional.conv_transpose2d"),
            .autocast = TN_LOWER, .compose = conv_transpose2d_compose,
            .sample = "(2,3,4,5) (3,4,3,2) (4) stride=[2] padding=[1] output_padding=[1] | "
                      "(1,2,4,3) (2,3,2,2) | (4,3,5) (4,3,2,3) (6) groups=2 dilation=[1,2] | "
                      "(1,2,3,3) (2,2,1,2) None [2,3] [0,1] [1,2]",
            .node = "ConvolutionBackward0")

static bool conv_transpose3d_compose(tn_frame *f) {
    TN_ARGS(conv_transpose3d, a, f);
    conv_back v;
    tn_tensor *y;
    if (!conv_fits_dims(f, a->input, a->weight, 3) ||
        !conv_options(f, &v, 3, a->stride, a->padding, a->output_padding, a->dilation) ||
        !conv_back_of(f, &v, a->input, a->weight, 3, a->groups))
        return false;
    y = tnp_conv3d_input_grad(conv_fill(&v, a->input, a->weight, 3), tnp_conj(a->weight),
                              tni_ints(v.size, v.ndim), a->stride, a->padding, a->dilation,
                              a->groups);
    f->out[0] = conv_plus(f, y, a->bias, 3);
    return f->out[0] != NULL;
}
/* conv_transpose2d of volumes. */
TN_OPERATOR(conv_transpose3d,
            "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] "
            "stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) "
            "-> Tensor",
            TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W), weight (C, O / groups, kD, "
                             "kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
                   .example = "tn_conv_transpose3d(x, w, .stride = TN_DIMS(2))",
                   .python = "nn.functional.conv_transpose3d"),
            .autocast = TN_LOWER, .compose = conv_transpose3d_compose,
            .sample = "(1,2,3,2,3) (2,3,2,3,2) (3) stride=[2] padding=[1] output_padding=[1] | "
                      "(1,2,2,3,2) (2,2,2,2,2) | (2,2,3,2) (2,3,2,1,2) (6) groups=2 "
                      "dilation=[2,1,1]",
            .node = "ConvolutionBackward0")
