/* pool.c - pooling over windows of lines, images and volumes, and its way back. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/layers.h"

/* Modules give the pooled tensor alone. */
static bool pool_alone(bool return_indices) {
    return !return_indices ||
           tni_nn_error(TN_UNSUPPORTED, "return_indices: only false is supported");
}

static bool max_pool2d_build(tn_module *m) {
    TN_SELF(max_pool2d, s, m);
    /* Windows lie side by side if no stride is given; fixed here, so the printed text shows it. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return pool_alone(s->o.return_indices);
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

/* A size for each dimension needs an input that has more dimensions. */
static bool pool_deep(const tn_tensor *input, tn_ints sizes) {
    return !input || sizes.n < 2 || tn_ndim(input) > sizes.n ||
           tni_nn_error(TN_INVALID, "Input dimension should be at least %lld, but is %d",
                        (long long)sizes.n + 1, tn_ndim(input));
}
static bool adaptive_avg_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool2d, s, a, f);
    if (!pool_deep(a->input, s->o.output_size)) return false;
    return (f->out[0] = tnp_adaptive_avg_pool2d(a->input, s->o.output_size)) != NULL;
}
/* Mean over windows that divide the image into output_size parts. */
TN_MODULE(adaptive_avg_pool2d, "AdaptiveAvgPool2d(int[2] output_size)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool2d(TN_DIMS(1))"),
          .repr = "output_size=", .forward = adaptive_avg_pool2d_forward,
          .sample = "[1]: (2,3,4,6) | [3,2]: (1,2,5,5)")

static bool max_pool1d_build(tn_module *m) {
    TN_SELF(max_pool1d, s, m);
    /* As in MaxPool2d. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return pool_alone(s->o.return_indices);
}
static bool max_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(max_pool1d, s, a, f);
    f->out[0] = tnp_max_pool1d(a->input, s->o.kernel_size, s->o.stride, s->o.padding, s->o.dilation,
                               s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* Largest element of each window of a line; stride is kernel_size when not given. */
TN_MODULE(
    max_pool1d,
    "MaxPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, "
    "bool return_indices=False, bool ceil_mode=False)",
    TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')", .example = "tn_nn_max_pool1d(TN_DIMS(2))"),
    .repr = "kernel_size=, stride=, padding=, dilation=, ceil_mode=", .build = max_pool1d_build,
    .forward = max_pool1d_forward, .sample = "[2]: (2,3,6) | [3] stride=[2] padding=[1]: (2,5)")

static bool avg_pool1d_build(tn_module *m) {
    TN_SELF(avg_pool1d, s, m);
    /* As in MaxPool2d. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return true;
}
static bool avg_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(avg_pool1d, s, a, f);
    f->out[0] = tnp_avg_pool1d(a->input, s->o.kernel_size, s->o.stride, s->o.padding,
                               s->o.ceil_mode, s->o.count_include_pad);
    return f->out[0] != NULL;
}
/* Mean of each window of a line. */
TN_MODULE(avg_pool1d,
          "AvgPool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool "
          "ceil_mode=False, bool count_include_pad=True)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')",
                 .example = "tn_nn_avg_pool1d(TN_DIMS(2))"),
          .repr = "kernel_size[1]=, stride[1]=, padding[1]=", .build = avg_pool1d_build,
          .forward = avg_pool1d_forward,
          .sample = "[2]: (2,3,6) | [3] stride=[2] padding=[1]: (2,5)")

static bool adaptive_avg_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool1d, s, a, f);
    return (f->out[0] = tnp_adaptive_avg_pool1d(a->input, s->o.output_size)) != NULL;
}
/* Mean over windows that divide a line into output_size parts. */
TN_MODULE(adaptive_avg_pool1d, "AdaptiveAvgPool1d(int[1] output_size)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool1d(TN_DIMS(4))"),
          .repr = "output_size=", .forward = adaptive_avg_pool1d_forward,
          .sample = "[1]: (2,3,6) | [3]: (2,5)")

static bool adaptive_avg_pool3d_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_avg_pool3d, s, a, f);
    if (!pool_deep(a->input, s->o.output_size)) return false;
    return (f->out[0] = tnp_adaptive_avg_pool3d(a->input, s->o.output_size)) != NULL;
}
/* Mean over windows that divide a volume into output_size parts. */
TN_MODULE(adaptive_avg_pool3d, "AdaptiveAvgPool3d(int[3] output_size)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_avg_pool3d(TN_DIMS(1))"),
          .repr = "output_size=", .forward = adaptive_avg_pool3d_forward,
          .sample = "[1]: (1,2,3,4,2) | [3,2,1]: (1,2,4,3,2)")

static bool lp_pool1d_forward(tn_mframe *f) {
    TN_FORWARD(lp_pool1d, s, a, f);
    f->out[0] =
        tnp_lp_pool1d(a->input, s->o.norm_type, s->o.kernel_size, s->o.stride, s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* The norm_type-norm of each window of a line. */
TN_MODULE(lp_pool1d,
          "LPPool1d(float norm_type, int[1] kernel_size, int[1]? stride=None, bool "
          "ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, L')",
                 .example = "tn_nn_lp_pool1d(2, TN_DIMS(3))"),
          .repr = "norm_type=, kernel_size=, stride=, ceil_mode=", .forward = lp_pool1d_forward,
          .sample = "2 [2]: (2,3,6) | 3 [3] stride=[2]: (2,7)")

static bool lp_pool2d_forward(tn_mframe *f) {
    TN_FORWARD(lp_pool2d, s, a, f);
    f->out[0] =
        tnp_lp_pool2d(a->input, s->o.norm_type, s->o.kernel_size, s->o.stride, s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* The norm_type-norm of each window. */
TN_MODULE(lp_pool2d,
          "LPPool2d(float norm_type, int[2] kernel_size, int[2]? stride=None, bool "
          "ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, H', W')",
                 .example = "tn_nn_lp_pool2d(2, TN_DIMS(3))"),
          .repr = "norm_type=, kernel_size=, stride=, ceil_mode=", .forward = lp_pool2d_forward,
          .sample = "2 [2]: (2,3,4,6) | 2 [3,2] stride=[2]: (1,2,5,5)")

/* --- volumes ---------------------------------------------------------------------------------- */

static bool max_pool3d_build(tn_module *m) {
    TN_SELF(max_pool3d, s, m);
    /* As in MaxPool2d. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return pool_alone(s->o.return_indices);
}
static bool max_pool3d_forward(tn_mframe *f) {
    TN_FORWARD(max_pool3d, s, a, f);
    f->out[0] = tnp_max_pool3d(a->input, s->o.kernel_size, s->o.stride, s->o.padding, s->o.dilation,
                               s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* Largest element of each window of a volume; stride is kernel_size when not given. */
TN_MODULE(max_pool3d,
          "MaxPool3d(int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, "
          "bool return_indices=False, bool ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, D', H', W')",
                 .example = "tn_nn_max_pool3d(TN_DIMS(2))"),
          .repr = "kernel_size=, stride=, padding=, dilation=, ceil_mode=",
          .build = max_pool3d_build, .forward = max_pool3d_forward,
          .sample = "[2]: (1,2,4,2,3) | [3,2,1] stride=[2] padding=[1,0,0]: (2,3,4,3)")

static bool avg_pool3d_build(tn_module *m) {
    TN_SELF(avg_pool3d, s, m);
    /* As in MaxPool2d. */
    if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;
    return true;
}
static bool avg_pool3d_forward(tn_mframe *f) {
    TN_FORWARD(avg_pool3d, s, a, f);
    f->out[0] = tnp_avg_pool3d(a->input, s->o.kernel_size, s->o.stride, s->o.padding,
                               s->o.ceil_mode, s->o.count_include_pad, s->o.divisor_override);
    return f->out[0] != NULL;
}
/* Mean of each window of a volume. */
TN_MODULE(
    avg_pool3d,
    "AvgPool3d(int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None)",
    TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, D', H', W')",
           .example = "tn_nn_avg_pool3d(TN_DIMS(2))"),
    .repr = "kernel_size=, stride=, padding=", .build = avg_pool3d_build,
    .forward = avg_pool3d_forward,
    .sample = "[2]: (1,2,4,2,3) | [3,2,1] stride=[2] padding=[1,0,0]: (2,3,4,3)")

static bool lp_pool3d_forward(tn_mframe *f) {
    TN_FORWARD(lp_pool3d, s, a, f);
    f->out[0] =
        tnp_lp_pool3d(a->input, s->o.norm_type, s->o.kernel_size, s->o.stride, s->o.ceil_mode);
    return f->out[0] != NULL;
}
/* The norm_type-norm of each window of a volume. */
TN_MODULE(lp_pool3d,
          "LPPool3d(float norm_type, int[3] kernel_size, int[3]? stride=None, bool "
          "ceil_mode=False)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, D', H', W')",
                 .example = "tn_nn_lp_pool3d(2, TN_DIMS(3))"),
          .repr = "norm_type=, kernel_size=, stride=, ceil_mode=", .forward = lp_pool3d_forward,
          .sample = "2 [2]: (1,2,4,2,3) | 2 [3,2,1] stride=[2]: (2,3,4,3)")

/* --- adaptive maxima -------------------------------------------------------------------------- */

/* build and forward of AdaptiveMaxPool1d .. 3d. */
#define POOL_MODULE_ADAPTIVE(name)                                                  \
    static bool name##_build(tn_module *m) {                                        \
        TN_SELF(name, s, m);                                                        \
        return pool_alone(s->o.return_indices);                                     \
    }                                                                               \
    static bool name##_forward(tn_mframe *f) {                                      \
        TN_FORWARD(name, s, a, f);                                                  \
        return (f->out[0] = tnp_##name(a->input, s->o.output_size).result) != NULL; \
    }

POOL_MODULE_ADAPTIVE(adaptive_max_pool1d)
/* Largest elements of windows that divide a line into output_size parts. */
TN_MODULE(adaptive_max_pool1d, "AdaptiveMaxPool1d(int[1] output_size, bool return_indices=False)",
          TN_DOC(.shapes = "input (N, C, L) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_max_pool1d(TN_DIMS(4))"),
          .repr = "output_size=", .build = adaptive_max_pool1d_build,
          .forward = adaptive_max_pool1d_forward, .sample = "[1]: (2,3,6) | [3]: (2,5)")

POOL_MODULE_ADAPTIVE(adaptive_max_pool2d)
/* Largest elements of windows that divide an image into output_size parts. */
TN_MODULE(adaptive_max_pool2d, "AdaptiveMaxPool2d(int[2] output_size, bool return_indices=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_max_pool2d(TN_DIMS(2))"),
          .repr = "output_size=", .build = adaptive_max_pool2d_build,
          .forward = adaptive_max_pool2d_forward, .sample = "[1]: (2,3,4,6) | [3,2]: (1,2,5,5)")

POOL_MODULE_ADAPTIVE(adaptive_max_pool3d)
/* Largest elements of windows that divide a volume into output_size parts. */
TN_MODULE(adaptive_max_pool3d, "AdaptiveMaxPool3d(int[3] output_size, bool return_indices=False)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_adaptive_max_pool3d(TN_DIMS(1))"),
          .repr = "output_size=", .build = adaptive_max_pool3d_build,
          .forward = adaptive_max_pool3d_forward,
          .sample = "[1]: (1,2,3,4,2) | [3,2,1]: (1,2,4,3,2)")
#undef POOL_MODULE_ADAPTIVE

/* --- the way back ----------------------------------------------------------------------------- */

/* build and forward of MaxUnpool1d .. 3d. */
#define POOL_MODULE_BACK(name)                                                                    \
    static bool name##_build(tn_module *m) {                                                      \
        TN_SELF(name, s, m);                                                                      \
        /* As in MaxPool2d. */                                                                    \
        if (!tn_ints_given(s->o.stride)) s->o.stride = s->o.kernel_size;                          \
        return true;                                                                              \
    }                                                                                             \
    static bool name##_forward(tn_mframe *f) {                                                    \
        TN_FORWARD(name, s, a, f);                                                                \
        f->out[0] = tnp_##name(a->input, a->indices, s->o.kernel_size, s->o.stride, s->o.padding, \
                               a->output_size);                                                   \
        return f->out[0] != NULL;                                                                 \
    }

POOL_MODULE_BACK(max_unpool1d)
/* The elements of pooled lines at the places that indices name, among zeros; they are those of
 * max_pool1d_with_indices. output_size chooses among the sizes of which the pooling makes the
 * input's. */
TN_MODULE(max_unpool1d, "MaxUnpool1d(int[1] kernel_size, int[1]? stride=None, int[1] padding=0)",
          TN_DOC(.shapes = "input, indices (N, C, L') -> (N, C, L)",
                 .example = "tn_nn_max_unpool1d(TN_DIMS(2))"),
          .call = "(Tensor input, Tensor indices, int[]? output_size=None) -> Tensor",
          .repr = "kernel_size[1]=, stride[1]=, padding[1]=", .build = max_unpool1d_build,
          .forward = max_unpool1d_forward,
          .sample = "[2]: (2,3,4) (2,3,4):i64:permutation | [3] stride=[2] padding=[1]: (2,5) "
                    "(2,5):i64:permutation")

POOL_MODULE_BACK(max_unpool2d)
/* The elements of pooled images at the places that indices name, among zeros; they are those of
 * max_pool2d_with_indices. output_size chooses among the sizes of which the pooling makes the
 * input's. */
TN_MODULE(max_unpool2d, "MaxUnpool2d(int[2] kernel_size, int[2]? stride=None, int[2] padding=0)",
          TN_DOC(.shapes = "input, indices (N, C, H', W') -> (N, C, H, W)",
                 .example = "tn_nn_max_unpool2d(TN_DIMS(2))"),
          .call = "(Tensor input, Tensor indices, int[]? output_size=None) -> Tensor",
          .repr = "kernel_size[2]=, stride[2]=, padding[2]=", .build = max_unpool2d_build,
          .forward = max_unpool2d_forward,
          .sample = "[2]: (2,3,1,4) (2,3,1,4):i64:permutation | [3,2] stride=[2]: (1,2,1,5) "
                    "(1,2,1,5):i64:permutation")

POOL_MODULE_BACK(max_unpool3d)
/* The elements of pooled volumes at the places that indices name, among zeros; they are those of
 * max_pool3d_with_indices. output_size chooses among the sizes of which the pooling makes the
 * input's. */
TN_MODULE(max_unpool3d, "MaxUnpool3d(int[3] kernel_size, int[3]? stride=None, int[3] padding=0)",
          TN_DOC(.shapes = "input, indices (N, C, D', H', W') -> (N, C, D, H, W)",
                 .example = "tn_nn_max_unpool3d(TN_DIMS(2))"),
          .call = "(Tensor input, Tensor indices, int[]? output_size=None) -> Tensor",
          .repr = "kernel_size[3]=, stride[3]=, padding[3]=", .build = max_unpool3d_build,
          .forward = max_unpool3d_forward,
          .sample = "[2]: (1,2,1,1,3) (1,2,1,1,3):i64:permutation | [3,2,1] stride=[2]: (1,1,1,4) "
                    "(1,1,1,4):i64:permutation")
#undef POOL_MODULE_BACK

/* --- fractional pools ------------------------------------------------------------------------- */

/* Exactly one of output_size and output_ratio; the ratios lie between 0 and 1. */
static bool fractional_options(tn_ints size, tn_floats ratio, int dims) {
    const bool sized = tn_ints_given(size), scaled = ratio.n >= 0;
    if (!sized && !scaled)
        return tni_nn_error(TN_INVALID, "requires either an output size or a pooling ratio");
    if (sized && scaled)
        return tni_nn_error(TN_INVALID, "only one of output_size and output_ratio may be given");
    if (scaled && ratio.n != 1 && ratio.n != dims)
        return tni_nn_error(TN_INVALID, "output_ratio: expected 1 or %d numbers, got %lld", dims,
                            (long long)ratio.n);
    for (int64_t i = 0; scaled && i < ratio.n; i++)
        if (!(ratio.at[i] > 0 && ratio.at[i] < 1))
            return tni_nn_error(TN_INVALID, "output_ratio must be between 0 and 1 (got %g)",
                                ratio.at[i]);
    return true;
}
/* The sizes of the output: as given, or the input's times the ratio. */
static tn_ints fractional_sizes(const tn_tensor *x, tn_ints size, tn_floats ratio, int dims,
                                int64_t to[3]) {
    if (ratio.n < 0) return size;
    for (int i = 0; i < dims; i++)
        to[i] = (int64_t)((double)tn_size(x, i - dims) * ratio.at[ratio.n == 1 ? 0 : i]);
    return tn_ints_of(to, dims);
}
/* Numbers that place the windows of each plane: as given, or drawn. */
static tn_tensor *fractional_samples(tn_tensor *x, tn_tensor *given, int dims) {
    int64_t sizes[3];
    if (given) return given;
    sizes[0] = tn_ndim(x) == dims + 1 ? 1 : tn_size(x, 0);
    sizes[1] = tn_size(x, -1 - dims);
    sizes[2] = dims;
    return tnp_rand(tn_ints_of(sizes, 3), NULL, tn_dtype_of(x), tn_device_of(x));
}
#define POOL_FRACTIONAL(name, dims)                                                    \
    static bool name##_build(tn_module *m) {                                           \
        TN_SELF(name, s, m);                                                           \
        return pool_alone(s->o.return_indices) &&                                      \
               fractional_options(s->o.output_size, s->o.output_ratio, dims);          \
    }                                                                                  \
    static bool name##_forward(tn_mframe *f) {                                         \
        TN_FORWARD(name, s, a, f);                                                     \
        int64_t to[3] = {0, 0, 0};                                                     \
        const tn_ints size =                                                           \
            fractional_sizes(a->input, s->o.output_size, s->o.output_ratio, dims, to); \
        tn_tensor *samples = fractional_samples(a->input, s->_random_samples, dims);   \
        if (!samples) return false;                                                    \
        f->out[0] = tnp_##name(a->input, s->o.kernel_size, size, samples).result;      \
        return f->out[0] != NULL;                                                      \
    }

POOL_FRACTIONAL(fractional_max_pool2d, 2)
/* Largest element of each of output_size windows, or of output_ratio times the input's sizes, at
 * random places. _random_samples, if given, places them. Benjamin Graham, Fractional max-pooling,
 * 2014. */
TN_MODULE(fractional_max_pool2d,
          "FractionalMaxPool2d(int[2] kernel_size, int[2]? output_size=None, float[]? "
          "output_ratio=None, bool return_indices=False, Tensor? _random_samples=None)",
          TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_fractional_max_pool2d(TN_DIMS(2), .output_size = TN_DIMS(7))"),
          .parts = "buffer _random_samples = _random_samples", .takes = "input(*, _, _, _)",
          .build = fractional_max_pool2d_build, .forward = fractional_max_pool2d_forward,
          .sample = "[2] [4,3] _random_samples=(2,3,2): (2,3,7,6)")

POOL_FRACTIONAL(fractional_max_pool3d, 3)
/* FractionalMaxPool2d of volumes. */
TN_MODULE(fractional_max_pool3d,
          "FractionalMaxPool3d(int[3] kernel_size, int[3]? output_size=None, float[]? "
          "output_ratio=None, bool return_indices=False, Tensor? _random_samples=None)",
          TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> (N, C, output_size)",
                 .example = "tn_nn_fractional_max_pool3d(TN_DIMS(2), .output_size = TN_DIMS(7))"),
          .parts = "buffer _random_samples = _random_samples", .takes = "input(*, _, _, _, _)",
          .build = fractional_max_pool3d_build, .forward = fractional_max_pool3d_forward,
          .sample = "[2] [4,3,2] _random_samples=(1,2,3): (1,2,7,6,5)")
#undef POOL_FRACTIONAL
