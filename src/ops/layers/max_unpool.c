/* max_unpool.c - elements back at the places that a pooling of maxima took them from: compositions
 * of scatter. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../shape/copy.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"

/* What a row is given, of one to three dimensions. */
typedef struct unpool_call {
    tn_tensor *x, *indices;
    tn_ints kernel, stride, padding, output;
    int dims;
} unpool_call;

/* Sizes of the result: output_size, or those of which windows without gaps have the input's. */
static bool unpool_size(tn_frame *f, const unpool_call *c, int64_t size[3]) {
    const int dims = c->dims;
    const int64_t *in = c->x->size + c->x->ndim - dims;
    const int64_t given = tn_ints_given(c->output) ? c->output.n : 0;
    int64_t k[3], stride[3], pad[3];
    if (!tni_each_of(f, c->kernel, "kernel_size", dims, 1, k) ||
        !tni_each_of(f, c->stride.n > 0 ? c->stride : c->kernel, "stride", dims, 1, stride) ||
        !tni_each_of(f, c->padding, "padding", dims, 0, pad))
        return false;
    if (given && given != dims && given != dims + 2)
        return tn_fail(f, TN_INVALID,
                       "output_size should be a sequence containing %d or %d elements, but it has "
                       "a length of %lld",
                       dims, dims + 2, (long long)given);
    for (int i = 0; i < dims; i++) {
        if (in[i] > INT32_MAX) return tn_fail(f, TN_MEMORY, "the input is too large");
        const int64_t usual = (in[i] - 1) * stride[i] + k[i] - 2 * pad[i];
        size[i] = given ? c->output.at[given - dims + i] : usual;
        if (size[i] <= usual - stride[i] || size[i] >= usual + stride[i])
            return tn_fail(f, TN_INVALID,
                           "invalid output_size, dim %d is %lld and must be between %lld and %lld",
                           i, (long long)size[i], (long long)(usual - stride[i]),
                           (long long)(usual + stride[i]));
        if (size[i] < 0)
            return tn_fail(f, TN_INVALID,
                           "output_size must contain non-negative sizes, but dim %d is %lld", i,
                           (long long)size[i]);
    }
    return true;
}
static bool unpool_fits(tn_frame *f, const unpool_call *c) {
    const tn_tensor *x = c->x, *at = c->indices;
    char has[160], wants[160];
    bool same = x->ndim == at->ndim, some = true;
    for (int i = 0; same && i < x->ndim; i++) same = x->size[i] == at->size[i];
    for (int i = 0; i < x->ndim; i++) some = some && (x->size[i] || (!i && x->ndim == c->dims + 2));
    if (at->dtype != TN_I64)
        return tn_fail(f, TN_TYPE, "elements in indices should be type int64 but got %s",
                       tni_dtype(at->dtype)->text);
    if ((x->ndim != c->dims + 1 && x->ndim != c->dims + 2) || !some)
        return tn_fail(f, TN_INVALID,
                       "Input should be a %dd or %dd tensor with non-zero sizes behind the batch, "
                       "but got %s",
                       c->dims + 1, c->dims + 2, tni_shape_text(has, sizeof has, x->ndim, x->size));
    if (!same)
        return tn_fail(f, TN_INVALID,
                       "Expected shape of indices to be same as that of the input (%s) but got %s",
                       tni_shape_text(wants, sizeof wants, x->ndim, x->size),
                       tni_shape_text(has, sizeof has, at->ndim, at->size));
    return tni_is_float(x->dtype) || tn_fail(f, TN_UNSUPPORTED, "%s is not implemented for %s",
                                             f->row->name, tni_dtype(x->dtype)->text);
}
static bool unpool_compose(tn_frame *f, const unpool_call *c) {
    const int lead = c->x->ndim - c->dims;
    int64_t size[TN_MAX_DIMS], from[2] = {1, 1}, to[2] = {1, 1};
    tn_tensor *y;
    if (!unpool_fits(f, c) || !unpool_size(f, c, size + lead)) return false;
    /* As planes of flat elements. */
    for (int i = 0; i < c->x->ndim; i++) {
        if (i < lead) size[i] = c->x->size[i];
        if (!tni_mul(from[i >= lead], c->x->size[i], &from[i >= lead]) ||
            !tni_mul(to[i >= lead], size[i], &to[i >= lead]))
            return tn_fail(f, TN_MEMORY, "the result is too large");
    }
    tn_tensor *const at = tnp_reshape(c->indices, tni_ints(from, 2));
    tn_tensor *const x = tnp_reshape(c->x, tni_ints(from, 2));
    y = tnp_zeros(tni_ints(to, 2), (tn_dtype)c->x->dtype, c->x->device);
    /* Without places, indices are not read; the history stays. */
    if (to[0] && to[1])
        y = tnp_scatter(y, 1, at, x);
    else
        y = tnp_scatter(y, 1, tnp_narrow(at, 1, 0, 0), tnp_narrow(x, 1, 0, 0));
    y = tnp_reshape(y, tni_ints(size, c->x->ndim));
    return (f->out[0] = c->dims == 2 ? tni_images_as(y, c->x) : y) != NULL;
}
#define UNPOOL(name, dims)                                                                        \
    static bool name##_compose(tn_frame *f) {                                                     \
        TN_ARGS(name, a, f);                                                                      \
        const unpool_call c = {a->input,       a->indices, a->kernel_size, a->stride, a->padding, \
                               a->output_size, dims};                                             \
        return unpool_compose(f, &c);                                                             \
    }

UNPOOL(max_unpool1d, 1)
/* max_unpool2d of lines. */
TN_OPERATOR(max_unpool1d,
            "max_unpool1d(Tensor input, Tensor indices, int[1] kernel_size, int[1]? stride=None, "
            "int[1] padding=0, int[]? output_size=None) -> Tensor",
            TN_DOC(.shapes = "input, indices (N, C, L') or (C, L') -> (N, C, L) or (C, L)",
                   .example = "tn_max_unpool1d(x, index, TN_DIMS(2))",
                   .differs = "gradcheck: of elements at one place the last one stays",
                   .python = "nn.functional.max_unpool1d"),
            .autocast = TN_WIDE_CPU, .compose = max_unpool1d_compose,
            .sample = "(2,3,4) (2,3,4):i64:permutation [2] | (2,3) (2,3):i64:permutation [3] [2] | "
                      "(1,2,3) (1,2,3):i64:permutation [2] output_size=[5] | (1,4) "
                      "(1,4):i64:permutation [2] [2] [1] | (0,2,3):f64 (0,2,3):i64 [2]")

UNPOOL(max_unpool2d, 2)
/* Each element at the place in its plane that indices names, as max_pool2d_with_indices gives them;
 * 0 where none is. output_size chooses among the sizes of which the pooling makes the input's. */
TN_OPERATOR(max_unpool2d,
            "max_unpool2d(Tensor input, Tensor indices, int[2] kernel_size, int[2]? stride=None, "
            "int[2] padding=0, int[]? output_size=None) -> Tensor",
            TN_DOC(.shapes = "input, indices (N, C, H', W') or (C, H', W') -> (N, C, H, W) or (C, "
                             "H, W)",
                   .example = "tn_max_unpool2d(x, index, TN_DIMS(2))",
                   .differs = "gradcheck: of elements at one place the last one stays",
                   .python = "nn.functional.max_unpool2d"),
            .autocast = TN_WIDE_CPU, .compose = max_unpool2d_compose,
            .sample = "(2,3,1,4) (2,3,1,4):i64:permutation [2] | (2,1,3) (2,1,3):i64:permutation "
                      "[3,2] [2,1] [1,0] | (1,2,1,2) (1,2,1,2):i64:permutation [2] "
                      "output_size=[3,5] | (0,2,2,2):f64 (0,2,2,2):i64 [2]")

UNPOOL(max_unpool3d, 3)
/* max_unpool2d of volumes. */
TN_OPERATOR(max_unpool3d,
            "max_unpool3d(Tensor input, Tensor indices, int[3] kernel_size, int[3]? stride=None, "
            "int[3] padding=0, int[]? output_size=None) -> Tensor",
            TN_DOC(.shapes = "input, indices (N, C, D', H', W') or (C, D', H', W') -> (N, C, D, H, "
                             "W) or (C, D, H, W)",
                   .example = "tn_max_unpool3d(x, index, TN_DIMS(2))",
                   .differs = "gradcheck: of elements at one place the last one stays",
                   .python = "nn.functional.max_unpool3d"),
            .autocast = TN_WIDE_CPU, .compose = max_unpool3d_compose,
            .sample =
                "(1,2,1,1,3) (1,2,1,1,3):i64:permutation [2] | (2,1,1,4) (2,1,1,4):i64:permutation "
                "[2,1,2] [1,2,2] | (1,1,1,1,5) (1,1,1,1,5):i64:permutation [2] output_size=[3,2,9]")
#undef UNPOOL
