/* grid_sample.c - an image at places that a grid names, and the grid of an affine map:
 * compositions, so that gradients of any order follow. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"

/* One dimension of n elements: the taps that a place reads, their numbers as floats and their
 * weights (NULL: 1), tensors (N, L). */
enum { GRID_TAPS = 4 };
typedef struct grid_axis {
    int64_t n;
    int taps;
    tn_tensor *at[GRID_TAPS], *weight[GRID_TAPS];
} grid_axis;

/* --- places ----------------------------------------------------------------------------------- */

/* times x + more. */
static tn_tensor *grid_line(tn_tensor *x, double times, double more) {
    return tnp_add_scalar(tnp_mul_scalar(x, tn_float(times)), tn_float(more), 1);
}
/* -1 and 1 are the first and the last element, or the ends of these. */
static tn_tensor *grid_position(tn_tensor *c, int64_t n, bool align_corners) {
    c = tnp_add_scalar(c, tn_float(1), 1);
    if (align_corners) return tnp_mul_scalar(c, tn_float((double)(n - 1) / 2));
    return grid_line(c, (double)n / 2, -0.5);
}
/* Positions beyond the ends, mirrored at these as often as it takes. */
static tn_tensor *grid_mirror(tn_tensor *p, int64_t n, bool align_corners) {
    const double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    tn_tensor *in, *rest, *odd;
    if (span <= 0) return tnp_mul_scalar(p, tn_float(0));
    in = tnp_abs(tnp_add_scalar(p, tn_float(-low), 1));
    rest = tnp_fmod_scalar(in, tn_float(span));
    odd = tnp_remainder_scalar(tnp_floor(tnp_mul_scalar(in, tn_float(1 / span))), tn_float(2));
    return tnp_where(tnp_eq_scalar(odd, tn_float(0)), tnp_add_scalar(rest, tn_float(low), 1),
                     grid_line(rest, -1, span + low));
}
/* A position as padding_mode wants it: zeros leave it where it is. */
static tn_tensor *grid_inside(tn_tensor *p, int64_t n, const tn_grid_sample_args *a) {
    if (a->padding_mode == TN_GRID_PADDING_ZEROS) return p;
    if (a->padding_mode == TN_GRID_PADDING_REFLECTION) p = grid_mirror(p, n, a->align_corners);
    return tnp_clamp(p, tn_float(0), tn_float((double)(n - 1)));
}

/* --- taps ------------------------------------------------------------------------------------- */

/* The cubic convolution's weight at distance d, with A = -0.75: |d| <= 1, or 1 < |d| < 2. */
static tn_tensor *grid_cubic(tn_tensor *d, bool outer) {
    const double a = -0.75;
    if (!outer) /* ((a + 2) d - (a + 3)) d^2 + 1 */
        return tnp_add_scalar(tnp_mul(grid_line(d, a + 2, -(a + 3)), tnp_mul(d, d)), tn_float(1),
                              1);
    /* ((a d - 5 a) d + 8 a) d - 4 a */
    d = tnp_add_scalar(
        tnp_mul(tnp_add_scalar(tnp_mul(grid_line(d, a, -5 * a), d), tn_float(8 * a), 1), d),
        tn_float(-4 * a), 1);
    return d;
}
static void grid_taps(grid_axis *x, tn_tensor *c, int64_t n, const tn_grid_sample_args *a) {
    tn_tensor *p = grid_position(c, n, a->align_corners), *first, *part;
    x->n = n;
    x->taps = a->mode == TN_GRID_MODE_NEAREST ? 1 : a->mode == TN_GRID_MODE_BILINEAR ? 2 : 4;
    if (a->mode != TN_GRID_MODE_BICUBIC) p = grid_inside(p, n, a);
    if (a->mode == TN_GRID_MODE_NEAREST) {
        x->at[0] = tnp_round(p);
        /* A factor of 1, by which the grid has a gradient, of zeros. */
        x->weight[0] = NULL;
        if (c && a->grid->flags & TNI_REQUIRES) x->weight[0] = grid_line(tnp_sign(p), 0, 1);
        return;
    }
    first = tnp_floor(p);
    part = tnp_sub(p, first, 1);
    if (a->mode == TN_GRID_MODE_BILINEAR) {
        x->at[0] = first;
        x->at[1] = tnp_add_scalar(first, tn_float(1), 1);
        x->weight[0] = tnp_sub(x->at[1], p, 1);
        x->weight[1] = part;
        return;
    }
    for (int i = 0; i < 4; i++) {
        /* The distance from the place to tap i - 1. */
        tn_tensor *d =
            i < 2 ? tnp_add_scalar(part, tn_float(1 - i), 1) : grid_line(part, -1, i - 1);
        x->at[i] = grid_inside(tnp_add_scalar(first, tn_float(i - 1), 1), n, a);
        x->weight[i] = grid_cubic(d, i == 0 || i == 3);
    }
}
/* Numbers of elements in a plane, of taps tap[] of all dimensions; `none` where one is outside. */
static tn_tensor *grid_flat(const grid_axis *axis, int dims, const int tap[3], int64_t none) {
    tn_tensor *flat = NULL, *inside = NULL;
    for (int k = dims - 1; k >= 0; k--) {
        tn_tensor *at = axis[k].at[tap[k]];
        tn_tensor *in = tnp_logical_and(tnp_ge_scalar(at, tn_float(0)),
                                        tnp_le_scalar(at, tn_float((double)(axis[k].n - 1))));
        at = tnp_to_dtype(tnp_where_scalar(in, at, tn_float(0)), TN_I64, false, false);
        flat = flat ? tnp_add(tnp_mul_scalar(flat, tn_int(axis[k].n)), at, 1) : at;
        inside = inside ? tnp_logical_and(inside, in) : in;
    }
    return tnp_where_scalar(inside, flat, tn_int(none));
}
/* The sum over all taps of weight times element: x (N, C, n) with a 0 behind each plane. */
static tn_tensor *grid_sum(tn_tensor *x, const grid_axis *axis, int dims, tn_ints size) {
    tn_tensor *sum = NULL;
    int tap[3] = {0, 0, 0};
    const int64_t none = x->size[2] - 1;
    for (bool more = true; more;) {
        tn_tensor *weight = NULL, *v = grid_flat(axis, dims, tap, none);
        if (!v) return NULL;
        v = tnp_gather(x, 2, tnp_expand(tnp_unsqueeze(v, 1), size, false), false);
        for (int k = 0; k < dims; k++) {
            tn_tensor *w = axis[k].weight[tap[k]];
            weight = weight && w ? tnp_mul(weight, w) : w ? w : weight;
        }
        if (weight) v = tnp_mul(v, tnp_unsqueeze(weight, 1));
        if (!(sum = sum ? tnp_add(sum, v, 1) : v)) return NULL;
        /* The next of all combinations. */
        more = false;
        for (int k = 0; k < dims && !more; k++) {
            more = ++tap[k] < axis[k].taps;
            if (!more) tap[k] = 0;
        }
    }
    return sum;
}

/* --- the row ---------------------------------------------------------------------------------- */

static bool grid_fits(tn_frame *f) {
    TN_ARGS(grid_sample, a, f);
    const tn_tensor *x = a->input, *grid = a->grid;
    char has[160], other[160];
    if (!tni_is_float(x->dtype) || x->dtype != grid->dtype)
        return tn_fail(f, TN_TYPE, "expected input and grid of one floating dtype, got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(grid->dtype)->text);
    if ((x->ndim != 4 && x->ndim != 5) || grid->ndim != x->ndim || x->size[0] != grid->size[0])
        return tn_fail(f, TN_INVALID,
                       "expected 4D or 5D input and grid with same number of dimensions and same "
                       "batch size, but got input %s and grid %s",
                       tni_shape_text(has, sizeof has, x->ndim, x->size),
                       tni_shape_text(other, sizeof other, grid->ndim, grid->size));
    if (grid->size[grid->ndim - 1] != x->ndim - 2)
        return tn_fail(f, TN_INVALID,
                       "expected grid to have size %d in last dimension, but got grid %s",
                       x->ndim - 2, tni_shape_text(other, sizeof other, grid->ndim, grid->size));
    for (int i = 2; i < x->ndim; i++)
        if (!x->size[i])
            return tn_fail(f, TN_INVALID,
                           "expected input to have non-empty spatial dimensions, but got %s",
                           tni_shape_text(has, sizeof has, x->ndim, x->size));
    return true;
}
static bool grid_sample_compose(tn_frame *f) {
    TN_ARGS(grid_sample, a, f);
    const int dims = a->input->ndim - 2;
    const tn_tensor *from = a->input;
    tn_tensor *x = a->input, *grid = a->grid, *pair[2];
    grid_axis axis[3];
    int64_t size[5], planes[3] = {from->size[0], from->size[1], 1}, places = 1;
    if (!grid_fits(f)) return false;
    for (int i = 0; i < dims; i++) {
        size[2 + i] = grid->size[1 + i];
        planes[2] *= from->size[2 + i];
        places *= grid->size[1 + i]; /* of tensors: the products are checked */
    }
    size[0] = planes[0];
    size[1] = planes[1];
    /* Half numbers are computed in float. */
    if (tni_dtype_size(from) == 2) {
        x = tnp_to_dtype(x, TN_F32, false, false);
        grid = tnp_to_dtype(grid, TN_F32, false, false);
    }
    const int64_t flat[3] = {planes[0], places, dims}, one[3] = {planes[0], planes[1], 1},
                  out[3] = {planes[0], planes[1], places};
    grid = tnp_reshape(grid, tni_ints(flat, 3));
    /* The grid says x, y, z; dimension k of axis is the k-th from the last. */
    for (int k = 0; k < dims; k++)
        grid_taps(&axis[k], tnp_select(grid, 2, k), from->size[dims + 1 - k], a);
    pair[0] = tnp_reshape(x, tni_ints(planes, 3));
    pair[1] = pair[0] ? tnp_zeros(tni_ints(one, 3), (tn_dtype)pair[0]->dtype, from->device) : NULL;
    x = tnp_cat(tn_tensors_of(pair, 2), 2);
    if (!x) return false;
    x = tnp_reshape(grid_sum(x, axis, dims, tni_ints(out, 3)), tni_ints(size, dims + 2));
    if (tni_dtype_size(from) == 2) x = tnp_to_dtype(x, (tn_dtype)from->dtype, false, false);
    return (f->out[0] = x) != NULL;
}
/* The input at the places of grid: x, y (and z) from -1 to 1 across the input. A place between
 * elements takes a mean of those around it (bilinear, or bicubic with A = -0.75) or the nearest.
 * Beyond the input are zeros, its border, or its reflection. With align_corners -1 and 1 are the
 * outermost elements, else their outer edges. Max Jaderberg et al., Spatial transformer networks,
 * 2015. */
TN_OPERATOR(grid_sample,
            "grid_sample(Tensor input, Tensor grid, GridMode mode=bilinear, GridPadding "
            "padding_mode=zeros, bool align_corners=False) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W), grid (N, H', W', 2) -> (N, C, H', W'); input (N, "
                             "C, D, H, W), grid (N, D', H', W', 3) -> (N, C, D', H', W')",
                   .example = "tn_grid_sample(x, y)",
                   .differs = "parameter align_corners: None stands for False there"),
            .autocast = TN_WIDE_CPU | TN_WIDEST_CUDA, .compose = grid_sample_compose,
            .domain = "grid:-1.3..1.3",
            .sample = "(2,3,4,5) (2,3,2,2) | (1,2,3,4) (1,2,5,2) nearest border | (2,2,5,4) "
                      "(2,3,2,2) bicubic reflection True | (1,2,3,2,4) (1,2,1,3,3) "
                      "padding_mode=reflection | (1,1,2,3,2) (1,3,1,2,3) nearest "
                      "align_corners=True | (1,2,3,3):f64 (1,0,2,2):f64 | (1,2,4,3) (1,2,2,2) "
                      "bicubic border | (1,1,2,3,2) (1,2,1,2,3) bicubic",
            .node = "GridSampler2DBackward0 input=4 | GridSampler3DBackward0")

/* --- affine_grid ------------------------------------------------------------------------------ */

/* n places across -1 to 1, in a shape in which they meet the others. */
static tn_tensor *affine_places(const tn_tensor *theta, int64_t n, bool align_corners,
                                const int64_t shape[5], int ndim) {
    tn_tensor *at;
    if (n <= 1) return tnp_zeros(tni_ints(shape, ndim), (tn_dtype)theta->dtype, theta->device);
    at = tnp_linspace(tn_float(-1), tn_float(1), n, (tn_dtype)theta->dtype, theta->device);
    if (!align_corners) at = tnp_mul_scalar(at, tn_float((double)(n - 1) / (double)n));
    return tnp_reshape(at, tni_ints(shape, ndim));
}
static bool affine_fits(tn_frame *f) {
    TN_ARGS(affine_grid, a, f);
    const tn_tensor *theta = a->theta;
    const int64_t dims = a->size.n - 2;
    char has[160], wants[160];
    if (!tni_is_float(theta->dtype))
        return tn_fail(f, TN_TYPE, "Expected theta to have floating point type, but got %s",
                       tni_dtype(theta->dtype)->text);
    if (dims != 2 && dims != 3)
        return tn_fail(f, TN_UNSUPPORTED,
                       "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                       "transforms, respectively; got %lld sizes",
                       (long long)a->size.n);
    for (int i = 0; i < a->size.n; i++)
        if (a->size.at[i] <= 0)
            return tn_fail(f, TN_INVALID, "Expected non-zero, positive output size. Got %s",
                           tni_shape_text(has, sizeof has, (int)a->size.n, a->size.at));
    if (theta->ndim == 3 && theta->size[0] == a->size.at[0] && theta->size[1] == dims &&
        theta->size[2] == dims + 1)
        return true;
    return tn_fail(f, TN_INVALID,
                   "Expected a batch of %dD affine matrices of shape Nx%dx%d for size %s, got %s",
                   (int)dims, (int)dims, (int)dims + 1,
                   tni_shape_text(wants, sizeof wants, (int)a->size.n, a->size.at),
                   tni_shape_text(has, sizeof has, theta->ndim, theta->size));
}
static bool affine_grid_compose(tn_frame *f) {
    TN_ARGS(affine_grid, a, f);
    const int dims = (int)a->size.n - 2, ndim = dims + 2;
    int64_t shape[5] = {1, 1, 1, 1, 1}, vector[5] = {1, 1, 1, 1, 1};
    tn_tensor *sum = NULL;
    if (!affine_fits(f)) return false;
    vector[0] = a->size.at[0];
    vector[ndim - 1] = dims;
    /* x times the first column, y times the second, .., and the last column. */
    for (int k = 0; k < dims; k++) {
        const int64_t n = a->size.at[ndim - 1 - k];
        tn_tensor *at, *column;
        for (int i = 0; i < ndim; i++) shape[i] = i == ndim - 2 - k ? n : 1;
        at = affine_places(a->theta, n, a->align_corners, shape, ndim);
        column = tnp_reshape(tnp_select(a->theta, 2, k), tni_ints(vector, ndim));
        at = tnp_mul(at, column);
        sum = sum ? tnp_add(sum, at, 1) : at;
    }
    sum = tnp_add(sum, tnp_reshape(tnp_select(a->theta, 2, dims), tni_ints(vector, ndim)), 1);
    return (f->out[0] = sum) != NULL;
}
/* The grid of grid_sample for a result of `size`, whose places are mapped by the matrices theta. */
TN_OPERATOR(affine_grid,
            "affine_grid(Tensor theta, int[] size, bool align_corners=False) -> Tensor",
            TN_DOC(.shapes = "theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); theta (N, 3, 4), "
                             "size (N, C, D, H, W) -> (N, D, H, W, 3)",
                   .example = "tn_affine_grid(x, TN_DIMS(1, 3, 8, 8))",
                   .differs = "parameter align_corners: None stands for False there"),
            .autocast = TN_LOWER, .compose = affine_grid_compose,
            .sample = "(2,2,3) [2,3,4,5] | (1,2,3) [1,1,3,1] True | (2,3,4) [2,1,2,3,2] | (1,3,4) "
                      "[1,2,1,3,4] align_corners=True",
            .node = "AffineGridGeneratorBackward0")
