/* group_norm.c - norms that are composed of other rows: over groups of channels, and by the root of
 * the mean square alone. Half types are computed in float32 and rounded once. */
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../shape/copy.h"

static bool group_half(const tn_tensor *x) { return x->dtype == TN_F16 || x->dtype == TN_BF16; }
static tn_tensor *group_wide(tn_tensor *x) {
    return group_half(x) ? tnp_to_dtype(x, TN_F32, false, false) : x;
}
static tn_tensor *group_narrow(tn_tensor *y, const tn_tensor *like) {
    return y && y->dtype != like->dtype && group_half(like)
               ? tnp_to_dtype(y, (tn_dtype)like->dtype, false, false)
               : y;
}

/* t has a number for each channel. */
static bool group_fits(tn_frame *f, const char *name, const tn_tensor *t) {
    const tn_tensor *x = f->in[0];
    if (!t || (t->ndim == 1 && t->size[0] == x->size[1])) return true;
    return tn_fail(f, TN_INVALID,
                   "Expected %s to be a vector of size equal to the number of channels in input, "
                   "%lld, but got %lld elements in %d dimensions",
                   name, (long long)x->size[1], (long long)t->numel, t->ndim);
}

static bool group_norm_compose(tn_frame *f) {
    TN_ARGS(group_norm, a, f);
    tn_tensor *x = a->input, *y, *weight = a->weight, *bias = a->bias;
    int64_t shape[3], wide[TN_MAX_DIMS], each, plane = 1;
    if (x->ndim < 2)
        return tn_fail(f, TN_INVALID,
                       "Expected at least 2 dimensions for input tensor but received %d", x->ndim);
    if (a->num_groups < 1)
        return tn_fail(f, TN_INVALID, "Expected num groups to be greater than 0, got %lld",
                       (long long)a->num_groups);
    if (!x->size[1] || x->size[1] % a->num_groups)
        return tn_fail(f, TN_INVALID,
                       "Expected number of channels in input to be divisible by num_groups, but "
                       "got %lld channels and num_groups=%lld",
                       (long long)x->size[1], (long long)a->num_groups);
    for (int i = 2; i < x->ndim; i++) plane = x->size[i] ? plane : 0;
    if (!plane) return tn_fail(f, TN_INVALID, "Expected HxW to be greater than 0, got 0");
    if (!group_fits(f, "weight", weight) || !group_fits(f, "bias", bias)) return false;
    if (x->numel && !tni_is_float(x->dtype))
        return tn_fail(f, TN_UNSUPPORTED, "expected a floating dtype, got %s",
                       tni_dtype(x->dtype)->text);
    /* Each group of a sample is a row that layer_norm normalises. */
    shape[0] = x->size[0];
    shape[1] = a->num_groups;
    shape[2] = each = x->size[0] ? x->numel / x->size[0] / a->num_groups : 1;
    y = group_wide(x);
    if (x->numel) {
        y = tnp_layer_norm(tnp_reshape(y, tni_ints(shape, 3)), tni_ints(&each, 1), NULL, NULL,
                           a->eps);
        y = tnp_reshape(y, tni_sizes(x));
    }
    for (int i = 0; i < x->ndim; i++) wide[i] = i == 1 ? x->size[1] : 1;
    weight = weight ? tnp_reshape(group_wide(weight), tni_ints(wide, x->ndim)) : NULL;
    bias = bias ? tnp_reshape(group_wide(bias), tni_ints(wide, x->ndim)) : NULL;
    if (!y || (a->weight && !weight) || (a->bias && !bias)) return false;
    if (weight && bias)
        y = tnp_addcmul(bias, y, weight, 1);
    else if (weight || bias)
        y = weight ? tnp_mul(y, weight) : tnp_add(y, bias, 1);
    else if (!x->numel)
        y = tnp_mul_scalar(y, tn_int(1));
    return (f->out[0] = tni_images_as(group_narrow(y, x), x)) != NULL;
}
/* Normalises each group of channels of each sample, then scales and shifts each channel.
 * Y. Wu and K. He, Group Normalization, 2018. */
TN_OPERATOR(group_norm,
            "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
            "float eps=1e-05) -> Tensor",
            TN_DOC(.shapes = "input (N, C, *), weight (C), bias (C) -> (N, C, *), floating",
                   .example = "tn_group_norm(x, 3)"),
            .autocast = TN_WIDE_CUDA, .compose = group_norm_compose,
            .sample = "(2,4,3) 2 (4) (4) | (3,6) 3 | (2,4,3,2) 4 (4) eps=0.1 | (0,4,3) 2 (4) (4) | "
                      "(2,6,5) 1 None (6)",
            .node = "NativeGroupNormBackward0")

/* The last dimensions of x are those of shape, and weight has this shape. */
static bool rms_fits(tn_frame *f, tn_ints shape, const tn_tensor *weight) {
    const tn_tensor *x = f->in[0];
    bool same = shape.n <= x->ndim;
    if (shape.n < 1)
        return tn_fail(f, TN_INVALID,
                       "Expected normalized_shape to be at least 1-dimensional, i.e., containing "
                       "at least one element, but got normalized_shape = []");
    if (weight) {
        bool fits = weight->ndim == shape.n;
        for (int64_t i = 0; fits && i < shape.n; i++) fits = weight->size[i] == shape.at[i];
        if (!fits)
            return tn_fail(f, TN_INVALID,
                           "Expected weight to be of same shape as normalized_shape, but got "
                           "another shape");
    }
    for (int64_t i = 0; same && i < shape.n; i++)
        same = x->size[x->ndim - shape.n + i] == shape.at[i];
    return same || tn_fail(f, TN_INVALID,
                           "Given normalized_shape, expected input whose last dimensions are "
                           "those, but got input of another size");
}

static bool rms_norm_compose(tn_frame *f) {
    TN_ARGS(rms_norm, a, f);
    tn_tensor *x, *y, *weight = a->weight;
    int64_t last[TN_MAX_DIMS];
    double eps;
    bool wide;
    if (!rms_fits(f, a->normalized_shape, a->weight)) return false;
    if (!(x = group_wide(a->input))) return false;
    for (int64_t i = 0; i < a->normalized_shape.n; i++) last[i] = i - a->normalized_shape.n;
    /* By default the distance from 1 to the next number of the type that is computed in. */
    wide = x->dtype == TN_F64 || x->dtype == TN_C128;
    eps = wide ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    if (a->eps.given == TN_GIVEN) eps = a->eps.value;
    y = tnp_mean(tnp_mul(x, x), tni_ints(last, a->normalized_shape.n), true, TN_NO_DTYPE);
    y = tnp_mul(x, tnp_rsqrt(tnp_add_scalar(y, tn_float(eps), 1)));
    if (weight) y = tnp_mul(y, group_wide(weight));
    return (f->out[0] = group_narrow(y, a->input)) != NULL;
}
/* input / sqrt(mean(input^2) + eps) * weight over the last dimensions.
 * B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019. */
TN_OPERATOR(rms_norm,
            "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) "
            "-> Tensor",
            TN_DOC(.shapes = "input (*, normalized_shape) -> the same, floating or complex",
                   .example = "tn_rms_norm(x, TN_DIMS(3))"),
            .autocast = TN_WIDE_CUDA, .compose = rms_norm_compose,
            .sample = "(2,5) [5] (5) | (2,3,4) [3,4] | (2,3,4) [4] (4) eps=0.1 | (0,4) [4] (4)")
