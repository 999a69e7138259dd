/* affine_grid.c - the grid of an affine map for grid_sample, a composition. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"

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
