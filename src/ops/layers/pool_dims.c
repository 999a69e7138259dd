/* pool_dims.c - resizing and poolings that are others with more dimensions or other numbers:
 * compositions of resample and of the poolings of two dimensions. */
#include "pool.h"
#include "../../call/arguments.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

#include <math.h>

/* --- interpolate ------------------------------------------------------------------------------ */

/* Modes that torch has for inputs of 3, 4 and 5 dimensions. */
static bool pool_mode_fits(tn_frame *f, int ndim, tn_resize_mode mode) {
    const int wants = mode == TN_RESIZE_MODE_LINEAR                                       ? 3
                      : mode == TN_RESIZE_MODE_TRILINEAR                                  ? 5
                      : mode == TN_RESIZE_MODE_BILINEAR || mode == TN_RESIZE_MODE_BICUBIC ? 4
                                                                                          : ndim;
    if (ndim >= 3 && ndim <= 5 && ndim == wants) return true;
    return tn_fail(
        f, TN_UNSUPPORTED,
        "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD); linear takes "
        "3D, bilinear and bicubic 4D, trilinear 5D",
        ndim);
}
static bool interpolate_size(tn_frame *f, const tn_interpolate_args *a, int64_t size[3],
                             double scale[3]) {
    const tn_tensor *x = f->in[0];
    const int dims = x->ndim - 2;
    const bool by_size = tn_ints_given(a->size), by_scale = a->scale_factor.n >= 0;
    if (by_size == by_scale)
        return tn_fail(f, TN_INVALID,
                       by_size ? "only one of size or scale_factor should be defined"
                               : "either size or scale_factor should be defined");
    if (by_size) return tni_each_of(f, a->size, "size", dims, 1, size);
    if (a->scale_factor.n != 1 && a->scale_factor.n != dims)
        return tn_fail(f, TN_INVALID,
                       "Input and scale_factor must have the same number of spatial dimensions, "
                       "but got input with %d and %lld factors",
                       dims, (long long)a->scale_factor.n);
    for (int i = 0; i < dims; i++) {
        scale[i] = a->scale_factor.at[a->scale_factor.n == 1 ? 0 : i];
        const double n = floor((double)x->size[2 + i] * scale[i]);
        if (!(n >= 1 && n <= INT32_MAX))
            return tn_fail(f, TN_INVALID,
                           "Input and output sizes should be greater than 0, but got scale_factor "
                           "%g",
                           scale[i]);
        size[i] = (int64_t)n;
    }
    return true;
}
static bool interpolate_compose(tn_frame *f) {
    TN_ARGS(interpolate, a, f);
    tn_floats scales = {NULL, -1};
    double scale[3] = {0};
    int64_t size[3];
    if (!pool_mode_fits(f, f->in[0]->ndim, a->mode) || !interpolate_size(f, a, size, scale))
        return false;
    if (scale[0] > 0 && !a->recompute_scale_factor && a->mode != TN_RESIZE_MODE_AREA) {
        scales.at = scale;
        scales.n = f->in[0]->ndim - 2;
    }
    f->out[0] = tnp_resample(f->in[0], tni_ints(size, f->in[0]->ndim - 2), scales, a->mode,
                             a->align_corners, a->antialias);
    return f->out[0] != NULL;
}
/* The input's planes in another size, or scaled by scale_factor. With align_corners the first and
 * last elements of input and output are at the same places; else elements are squares that cover
 * the plane. antialias stretches the filter where the image shrinks. recompute_scale_factor takes
 * the ratio of the sizes in the place of scale_factor. */
TN_OPERATOR(interpolate,
            "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, ResizeMode "
            "mode=nearest, bool align_corners=False, bool recompute_scale_factor=False, bool "
            "antialias=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, sizes), of 1 to 3 sizes -> (N, C, size)",
                   .example = "tn_interpolate(x, .size = TN_DIMS(32, 32))",
                   .differs = "parameter align_corners: None stands for False there | "
                              "parameter recompute_scale_factor: None stands for False there"),
            .compose = interpolate_compose,
            .sample = "(2,3,4,5) [7,3] | (1,2,5) None [1.7] mode=linear | (1,2,6,7) None [0.6,1.3] "
                      "mode=bicubic | (1,2,3,4,3) [5] mode=trilinear align_corners=True | "
                      "(1,2,9,8) [4,5] mode=bilinear antialias=True | (1,2,5,7) [3,4] mode=area | "
                      "(1,2,4,5) None [2.5] mode=bilinear recompute_scale_factor=True")

/* --- one dimension, and three ----------------------------------------------------------------- */

/* x (N, C, L) or (C, L) with a height of 1. */
static tn_tensor *pool_lines(tn_frame *f, tn_tensor *x) {
    char has[160];
    if (x->ndim == 2 || x->ndim == 3) return tnp_unsqueeze(x, -2);
    tn_fail(f, TN_INVALID, "Expected 2D or 3D input to %s, but got %s", f->row->name,
            tni_shape_text(has, sizeof has, x->ndim, x->size));
    return NULL;
}
/* The list of one dimension as that of two. */
static bool pool_one(tn_frame *f, tn_ints l, const char *name, int64_t first, int64_t low,
                     int64_t to[2]) {
    to[0] = first;
    return tni_each_of(f, l, name, 1, low, to + 1);
}

static bool max_pool1d_compose(tn_frame *f) {
    TN_ARGS(max_pool1d, a, f);
    int64_t kernel[2], stride[2], padding[2], dilation[2];
    tn_tensor *x = pool_lines(f, a->self);
    if (!x || !pool_one(f, a->kernel_size, "kernel_size", 1, 1, kernel) ||
        !pool_one(f, a->stride.n > 0 ? a->stride : a->kernel_size, "stride", 1, 1, stride) ||
        !pool_one(f, a->padding, "padding", 0, 0, padding) ||
        !pool_one(f, a->dilation, "dilation", 1, 1, dilation))
        return false;
    x = tnp_max_pool2d(x, tni_ints(kernel, 2), tni_ints(stride, 2), tni_ints(padding, 2),
                       tni_ints(dilation, 2), a->ceil_mode);
    return (f->out[0] = tnp_squeeze_dim(x, -2)) != NULL;
}
/* max_pool2d of lines. */
TN_OPERATOR(max_pool1d,
            "max_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
            "int[1] dilation=1, bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
                   .example = "tn_max_pool1d(x, TN_DIMS(2))",
                   .differs = "parameter stride: [] there and None here: as the kernel"),
            .compose = max_pool1d_compose,
            .sample = "(2,3,8) [2] | (2,9) [3] [2] [1] | (1,2,9) [2] dilation=[2] | (1,2,8) [3] "
                      "ceil_mode=True | (0,2,4) [2]",
            .node = "SqueezeBackward1")

static bool avg_pool1d_compose(tn_frame *f) {
    TN_ARGS(avg_pool1d, a, f);
    int64_t kernel[2], stride[2], padding[2];
    tn_tensor *x = pool_lines(f, a->self);
    if (!x || !pool_one(f, a->kernel_size, "kernel_size", 1, 1, kernel) ||
        !pool_one(f, a->stride.n > 0 ? a->stride : a->kernel_size, "stride", 1, 1, stride) ||
        !pool_one(f, a->padding, "padding", 0, 0, padding))
        return false;
    x = tnp_avg_pool2d(x, tni_ints(kernel, 2), tni_ints(stride, 2), tni_ints(padding, 2),
                       a->ceil_mode, a->count_include_pad, TN_NONE);
    return (f->out[0] = tnp_squeeze_dim(x, -2)) != NULL;
}
/* avg_pool2d of lines. */
TN_OPERATOR(avg_pool1d,
            "avg_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
                   .example = "tn_avg_pool1d(x, TN_DIMS(2))",
                   .differs = "parameter stride: [] there and None here: as the kernel",
                   .python = "nn.functional.avg_pool1d"),
            .compose = avg_pool1d_compose,
            .sample = "(2,3,8) [2] | (2,9) [3] [2] [1] | (1,2,8) [3] [2] [1] ceil_mode=True "
                      "count_include_pad=False | (0,2,4) [2]",
            .node = "SqueezeBackward1")

static bool pool_adaptive_fits(tn_frame *f, const tn_tensor *x, int dims) {
    char has[160];
    return x->ndim == dims + 1 || x->ndim == dims + 2 ||
           tn_fail(f, TN_INVALID, "%s(): Expected %dD or %dD tensor, but got %s", f->row->name,
                   dims + 1, dims + 2, tni_shape_text(has, sizeof has, x->ndim, x->size));
}
static bool adaptive_avg_pool1d_compose(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool1d, a, f);
    const tn_floats none = {NULL, -1};
    int64_t size[1];
    if (!pool_adaptive_fits(f, a->self, 1) ||
        !tni_each_of(f, a->output_size, "output_size", 1, 0, size))
        return false;
    f->out[0] = tnp_resample(a->self, tni_ints(size, 1), none, TN_RESIZE_MODE_AREA, false, false);
    return f->out[0] != NULL;
}
/* adaptive_avg_pool2d of lines. */
TN_OPERATOR(adaptive_avg_pool1d, "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
                   .example = "tn_adaptive_avg_pool1d(x, TN_DIMS(4))",
                   .python = "nn.functional.adaptive_avg_pool1d"),
            .compose = adaptive_avg_pool1d_compose,
            .sample = "(2,3,7) [3] | (2,5) [1] | (1,2,3) [5]", .node = "SqueezeBackward1")

static bool adaptive_avg_pool3d_compose(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool3d, a, f);
    const tn_floats none = {NULL, -1};
    int64_t size[3];
    if (!pool_adaptive_fits(f, a->self, 3) ||
        !tni_each_of(f, a->output_size, "output_size", 3, 0, size))
        return false;
    f->out[0] = tnp_resample(a->self, tni_ints(size, 3), none, TN_RESIZE_MODE_AREA, false, false);
    return f->out[0] != NULL;
}
/* adaptive_avg_pool2d of volumes. */
TN_OPERATOR(adaptive_avg_pool3d, "adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
            TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, "
                             "D', H', W')",
                   .example = "tn_adaptive_avg_pool3d(x, TN_DIMS(1))",
                   .python = "nn.functional.adaptive_avg_pool3d"),
            .autocast = TN_WIDE_CPU, .compose = adaptive_avg_pool3d_compose,
            .sample = "(1,2,4,5,3) [2,3,2] | (2,3,4,5) [1,1,1] | (1,2,2,3,2) [3,4,3]",
            .node = "AdaptiveAvgPool3DBackward0")

/* --- norms of windows ------------------------------------------------------------------------- */

/* (sum of x^p)^(1/p) over a window of k elements, of the window's mean: as torch, the sign of a
 * negative sum is kept. */
static tn_tensor *pool_norm(tn_tensor *mean, double p, double k) {
    tn_tensor *positive = tnp_mul(tnp_sign(mean), tnp_relu(tnp_abs(mean)));
    return tnp_pow_scalar(tnp_mul_scalar(positive, tn_float(k)), tn_float(1 / p));
}
static bool pool_root_fits(tn_frame *f, double p) {
    return p != 0 || tn_fail(f, TN_INVALID, "norm_type must not be 0");
}
static tn_ints pool_zero(void) {
    static const int64_t zero[1] = {0};
    return tni_ints(zero, 1);
}
/* Powers of infinity: the largest magnitude of each window, or the smallest. */
static tn_tensor *pool_limit(tn_tensor *x, double p, int dims, tn_ints kernel, tn_ints stride,
                             bool ceil_mode) {
    static const int64_t one[1] = {1};
    const tn_ints pad = pool_zero(), dilation = tni_ints(one, 1);
    tn_tensor *y = p > 0 ? tnp_abs(x) : tnp_neg(tnp_abs(x));
    y = dims == 1   ? tnp_max_pool1d(y, kernel, stride, pad, dilation, ceil_mode)
        : dims == 2 ? tnp_max_pool2d(y, kernel, stride, pad, dilation, ceil_mode)
                    : tnp_max_pool3d(y, kernel, stride, pad, dilation, ceil_mode);
    return p > 0 ? y : tnp_neg(y);
}
static bool lp_pool1d_compose(tn_frame *f) {
    TN_ARGS(lp_pool1d, a, f);
    tn_tensor *mean;
    int64_t kernel[1] = {0};
    if (!pool_root_fits(f, a->norm_type) ||
        !tni_each_of(f, a->kernel_size, "kernel_size", 1, 1, kernel))
        return false;
    if (isinf(a->norm_type)) {
        f->out[0] = pool_limit(a->input, a->norm_type, 1, a->kernel_size, a->stride, a->ceil_mode);
        return f->out[0] != NULL;
    }
    mean = tnp_avg_pool1d(tnp_pow_scalar(a->input, tn_float(a->norm_type)), a->kernel_size,
                          a->stride, pool_zero(), a->ceil_mode, true);
    f->out[0] = pool_norm(mean, a->norm_type, (double)kernel[0]);
    return f->out[0] != NULL;
}
/* The norm of each window of a line: the norm_type-th root of the sum of powers. */
TN_OPERATOR(lp_pool1d,
            "lp_pool1d(Tensor input, float norm_type, int[1] kernel_size, int[1]? stride=None, "
            "bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
                   .example = "tn_lp_pool1d(x, 2, TN_DIMS(2))",
                   .python = "nn.functional.lp_pool1d"),
            .compose = lp_pool1d_compose, .domain = "input:0.2..2",
            .sample = "(2,3,8) 2.0 [2] | (2,9) 3.0 [3] [2] | (1,2,8) 1.5 [3] ceil_mode=True")
static bool lp_pool2d_compose(tn_frame *f) {
    TN_ARGS(lp_pool2d, a, f);
    tn_tensor *mean;
    int64_t kernel[2];
    if (!pool_root_fits(f, a->norm_type) ||
        !tni_each_of(f, a->kernel_size, "kernel_size", 2, 1, kernel))
        return false;
    if (isinf(a->norm_type)) {
        f->out[0] = pool_limit(a->input, a->norm_type, 2, a->kernel_size, a->stride, a->ceil_mode);
        return f->out[0] != NULL;
    }
    mean = tnp_avg_pool2d(tnp_pow_scalar(a->input, tn_float(a->norm_type)), tni_ints(kernel, 2),
                          a->stride, pool_zero(), a->ceil_mode, true, TN_NONE);
    f->out[0] = pool_norm(mean, a->norm_type, (double)kernel[0] * (double)kernel[1]);
    return f->out[0] != NULL;
}
/* The norm of each window: the norm_type-th root of the sum of powers. */
TN_OPERATOR(lp_pool2d,
            "lp_pool2d(Tensor input, float norm_type, int[2] kernel_size, int[2]? stride=None, "
            "bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
                   .example = "tn_lp_pool2d(x, 2, TN_DIMS(2, 2))",
                   .python = "nn.functional.lp_pool2d"),
            .compose = lp_pool2d_compose, .domain = "input:0.2..2",
            .sample = "(2,3,6,8) 2.0 [2] | (2,5,7) 3.0 [3,2] [2] | (1,2,5,7) 1.5 [2] "
                      "ceil_mode=True")

static bool lp_pool3d_compose(tn_frame *f) {
    TN_ARGS(lp_pool3d, a, f);
    tn_tensor *mean;
    int64_t kernel[3];
    if (!pool_root_fits(f, a->norm_type) ||
        !tni_each_of(f, a->kernel_size, "kernel_size", 3, 1, kernel))
        return false;
    if (isinf(a->norm_type)) {
        f->out[0] = pool_limit(a->input, a->norm_type, 3, a->kernel_size, a->stride, a->ceil_mode);
        return f->out[0] != NULL;
    }
    mean = tnp_avg_pool3d(tnp_pow_scalar(a->input, tn_float(a->norm_type)), tni_ints(kernel, 3),
                          a->stride, pool_zero(), a->ceil_mode, true, TN_NONE);
    f->out[0] =
        pool_norm(mean, a->norm_type, (double)kernel[0] * (double)kernel[1] * (double)kernel[2]);
    return f->out[0] != NULL;
}
/* The norm of each window of a volume: the norm_type-th root of the sum of powers. */
TN_OPERATOR(lp_pool3d,
            "lp_pool3d(Tensor input, float norm_type, int[3] kernel_size, int[3]? stride=None, "
            "bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, "
                             "D', H', W')",
                   .example = "tn_lp_pool3d(x, 2, TN_DIMS(2))",
                   .python = "nn.functional.lp_pool3d"),
            .compose = lp_pool3d_compose, .domain = "input:0.2..2",
            .sample = "(1,2,4,6,4) 2.0 [2] | (2,5,3,4) 3.0 [3,2,2] [2,1,2] | (1,2,3,5,2) 1.5 [2] "
                      "ceil_mode=True")

/* --- local_response_norm ---------------------------------------------------------------------- */

static bool local_response_norm_compose(tn_frame *f) {
    TN_ARGS(local_response_norm, a, f);
    tn_tensor *x = a->input, *mean;
    if (x->ndim < 3)
        return tn_fail(f, TN_INVALID,
                       "Expected 3D or higher dimensionality input (got %d dimensions)", x->ndim);
    if (a->size < 1 || a->size > INT32_MAX || !tni_is_float(x->dtype))
        return tn_fail(f, TN_INVALID,
                       "expected a floating input and a size from 1, got %s and %lld",
                       tni_dtype(x->dtype)->text, (long long)a->size);
    if (!x->numel) return (f->out[0] = tnp_mul(x, x)) != NULL;
    /* Means over channels: of planes (channels, all elements behind them). With padding on both
     * sides an even size has a mean too many at the end. */
    const int64_t plane[4] = {x->size[0], 1, x->size[1], -1}, kernel[2] = {a->size, 1},
                  one[1] = {1}, pad[2] = {a->size / 2, 0};
    mean = tnp_avg_pool2d(tnp_reshape(tnp_mul(x, x), tni_ints(plane, 4)), tni_ints(kernel, 2),
                          tni_ints(one, 1), tni_ints(pad, 2), false, true, TN_NONE);
    mean = tnp_reshape(tnp_narrow(mean, 2, 0, x->size[1]), tni_sizes(x));
    mean = tnp_add_scalar(tnp_mul_scalar(mean, tn_float(a->alpha)), tn_float(a->k), 1);
    f->out[0] = tnp_div(x, tnp_pow_scalar(mean, tn_float(a->beta)));
    return f->out[0] != NULL;
}
/* x / (k + alpha mean of x^2 over size channels around)^beta; channels beyond the ends count as 0.
 * Alex Krizhevsky et al., ImageNet classification with deep convolutional neural networks, 2012. */
TN_OPERATOR(
    local_response_norm,
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, "
    "float k=1.0) -> Tensor",
    TN_DOC(.shapes = "input (N, C, *) -> the same", .example = "tn_local_response_norm(x, 5)",
           .python = "nn.functional.local_response_norm"),
    .autocast = TN_WIDE_CPU, .compose = local_response_norm_compose,
    .sample = "(2,5,4) 3 alpha=0.5 | (2,5,3,2) 2 | (1,4,2,3,2) 4 alpha=1.0 beta=0.5 k=2.0 | "
              "(0,3,2) 2")
