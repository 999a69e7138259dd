/* bilinear.c - a bilinear form of two vectors, and sums, means or maxima of rows of a table:
 * compositions. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../cpu/drive.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"

/* --- bilinear --------------------------------------------------------------------------------- */

static bool bilinear_fits(tn_frame *f) {
    TN_ARGS(bilinear, a, f);
    const tn_tensor *x = a->input1, *y = a->input2, *w = a->weight, *b = a->bias;
    char has[160], other[160];
    const int last = x->ndim - 1;
    bool same = x->ndim && x->ndim == y->ndim;
    for (int i = 0; same && i < last; i++) same = x->size[i] == y->size[i];
    if (!same)
        return tn_fail(f, TN_INVALID,
                       "input1 and input2 must have the same sizes but for the last, got %s and %s",
                       tni_shape_text(has, sizeof has, x->ndim, x->size),
                       tni_shape_text(other, sizeof other, y->ndim, y->size));
    if (w->ndim != 3 || w->size[1] != x->size[last] || w->size[2] != y->size[last])
        return tn_fail(f, TN_INVALID, "expected weight (out, %lld, %lld), got %s",
                       (long long)x->size[last], (long long)y->size[last],
                       tni_shape_text(has, sizeof has, w->ndim, w->size));
    return !b || (b->ndim == 1 && b->size[0] == w->size[0]) ||
           tn_fail(f, TN_INVALID, "expected bias (%lld), got %s", (long long)w->size[0],
                   tni_shape_text(has, sizeof has, b->ndim, b->size));
}
static bool bilinear_compose(tn_frame *f) {
    TN_ARGS(bilinear, a, f);
    static const int64_t order[3] = {1, 0, 2};
    const tn_tensor *w = a->weight;
    tn_tensor *y;
    int64_t rows = 1, size[TN_MAX_DIMS];
    if (!bilinear_fits(f)) return false;
    const int last = a->input1->ndim - 1;
    for (int i = 0; i < last; i++) rows *= size[i] = a->input1->size[i];
    size[last] = w->size[0];
    const int64_t left[2] = {rows, w->size[1]}, wide[2] = {w->size[1], w->size[0] * w->size[2]},
                  each[3] = {rows, w->size[0], w->size[2]}, right[3] = {rows, w->size[2], 1};
    /* x (rows, in1) times W (in1, out in2) is (rows, out, in2), which meets y (rows, in2, 1). */
    y = tnp_matmul(tnp_reshape(a->input1, tni_ints(left, 2)),
                   tnp_reshape(tnp_permute(a->weight, tni_ints(order, 3)), tni_ints(wide, 2)));
    y = tnp_bmm(tnp_reshape(y, tni_ints(each, 3)), tnp_reshape(a->input2, tni_ints(right, 3)));
    y = tnp_reshape(y, tni_ints(size, last + 1));
    if (a->bias) y = tnp_add(y, a->bias, 1);
    return (f->out[0] = y) != NULL;
}
/* Element o is input1^T weight_o input2 + bias_o. */
TN_OPERATOR(bilinear,
            "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
            TN_DOC(.shapes = "input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) "
                             "-> (*, out)",
                   .example = "tn_bilinear(x, y, weight)", .python = "nn.functional.bilinear"),
            .autocast = TN_UNCAST_CPU | TN_WIDEST_CUDA, .compose = bilinear_compose,
            .sample = "(2,3) (2,4) (5,3,4) (5) | (2,3,2) (2,3,3) (4,2,3) | (3) (2) (4,3,2) (4) | "
                      "(0,2) (0,3) (2,2,3) (2)",
            .node = "AddBackward0 bias=1 | UnsafeViewBackward0")

/* --- embedding_bag ---------------------------------------------------------------------------- */

static bool bag_fits(tn_frame *f) {
    TN_ARGS(embedding_bag, a, f);
    const tn_tensor *at = a->input, *w = a->weight, *scale = a->per_sample_weights;
    const int64_t p = a->padding_idx;
    if (w->ndim != 2)
        return tn_fail(f, TN_INVALID, "expected weight of 2 dimensions, got %d", w->ndim);
    if (at->ndim != 1 && at->ndim != 2)
        return tn_fail(f, TN_INVALID,
                       "input has to be 1D or 2D Tensor, but got Tensor of dimension "
                       "%d",
                       at->ndim);
    if (!a->offsets != (at->ndim == 2))
        return tn_fail(f, TN_INVALID,
                       at->ndim == 2 ? "if input is 2D, then offsets has to be None, as input is "
                                       "treated as a mini-batch of fixed length sequences"
                                     : "offsets has to be a 1D Tensor but got None");
    if (a->offsets && (a->offsets->ndim != 1 || !tni_is_index(a->offsets) ||
                       (a->include_last_offset && !a->offsets->numel)))
        return tn_fail(f, TN_INVALID, "offsets has to be a 1D Tensor of int32 or int64%s",
                       a->include_last_offset ? " with at least one element" : "");
    if (scale && a->mode != TN_BAG_MODE_SUM)
        return tn_fail(f, TN_UNSUPPORTED, "per_sample_weights is only supported for mode='sum'");
    if (scale && scale->dtype != w->dtype)
        return tn_fail(f, TN_TYPE, "expected per_sample_weights to have the same type as weight");
    if (scale && !tni_same_shape(scale, at))
        return tn_fail(f, TN_INVALID,
                       "expected per_sample_weights to have the same shape as the "
                       "input");
    if (a->scale_grad_by_freq && a->mode == TN_BAG_MODE_MAX)
        return tn_fail(f, TN_INVALID,
                       "max mode does not support scaling the gradient by the "
                       "frequency");
    if (a->sparse && a->mode == TN_BAG_MODE_MAX)
        return tn_fail(f, TN_INVALID, "max mode does not support sparse weights");
    return p == TN_NONE || (p >= -w->size[0] && p < w->size[0]) ||
           tn_fail(f, TN_INVALID,
                   "padding_idx must be within the number of embeddings, %lld, "
                   "but is %lld",
                   (long long)w->size[0], (long long)p);
}
/* The bag of each of n indices: the last whose offset is not behind it. */
static tn_tensor *bag_numbers(const tn_embedding_bag_args *a, int64_t n, int64_t *bags) {
    const tn_device_id device = a->weight->device;
    const tn_ints flat = tni_ints(&n, 1);
    tn_tensor *i = tnp_arange(tn_int(n), TN_I64, device), *offsets = a->offsets;
    if (!offsets) {
        const int64_t each = a->input->size[1];
        const int64_t two[2] = { *bags = a->input->size[0], each}, one[2] = {*bags, 1};
        i = tnp_reshape(tnp_arange(tn_int(*bags), TN_I64, device), tni_ints(one, 2));
        return tnp_reshape(tnp_expand(i, tni_ints(two, 2), false), flat);
    }
    *bags = offsets->numel - (a->include_last_offset ? 1 : 0);
    if (a->include_last_offset) offsets = tnp_narrow(offsets, 0, 0, *bags);
    offsets = tnp_to_dtype(offsets, TN_I64, false, false);
    return tnp_add_scalar(tnp_searchsorted(offsets, i, false, true, NULL, NULL), tn_int(-1), 1);
}
/* An index that does not exist is torch's RuntimeError here, not the IndexError of a place. */
static void bag_range(tni_block *b) {
    if (b->failed != TN_INDEX) return;
    b->failed = b->error_code = TN_INVALID;
    tni_error_more(b, "\n  Expected idx >= 0 && idx < num_embeddings");
}
static bool embedding_bag_compose(tn_frame *f) {
    TN_ARGS(embedding_bag, a, f);
    tn_tensor *w = a->weight, *at = a->input, *bag, *rows, *y, *count;
    const int64_t n = at->numel, d = w->ndim == 2 ? w->size[1] : 0;
    const tn_dtype wide = w->dtype == TN_F16 || w->dtype == TN_BF16 ? TN_F32 : (tn_dtype)w->dtype;
    int64_t bags, padding = a->padding_idx;
    if (!bag_fits(f) || !(bag = bag_numbers(a, n, &bags))) return false;
    if (padding != TN_NONE && padding < 0) padding += w->size[0];
    at = tnp_reshape(at, tni_ints(&n, 1));
    /* What is padding goes to a bag behind the others. */
    if (padding != TN_NONE)
        bag = tnp_masked_fill_scalar(bag, tnp_eq_scalar(at, tn_int(padding)), tn_int(bags));
    rows =
        tnp_embedding(w, at, padding == TN_NONE ? -1 : padding, a->scale_grad_by_freq, a->sparse);
    if (!rows) bag_range(f->block);
    /* Halves are added in float32. */
    if (wide != w->dtype) rows = tnp_to_dtype(rows, wide, false, false);
    if (a->per_sample_weights) {
        const int64_t column[2] = {n, 1};
        tn_tensor *scale = tnp_reshape(a->per_sample_weights, tni_ints(column, 2));
        if (wide != w->dtype) scale = tnp_to_dtype(scale, wide, false, false);
        rows = tnp_mul(rows, scale);
    }
    const int64_t size[2] = {bags + 1, d}, column[2] = {bags + 1, 1}, ones[2] = {n, 1};
    y = tnp_zeros(tni_ints(size, 2), wide, w->device);
    if (a->mode == TN_BAG_MODE_MAX) {
        y = tnp_index_reduce(y, 0, bag, rows, "amax", false);
    } else {
        y = tnp_index_add(y, 0, bag, rows, 1);
    }
    if (a->mode == TN_BAG_MODE_MEAN) {
        count = tnp_zeros(tni_ints(column, 2), wide, w->device);
        count = tnp_index_add(count, 0, bag, tnp_ones(tni_ints(ones, 2), wide, w->device), 1);
        y = tnp_div(y, tnp_clamp_min_scalar(count, tn_int(1)));
    }
    y = tnp_narrow(y, 0, 0, bags);
    if (wide != w->dtype) y = tnp_to_dtype(y, (tn_dtype)w->dtype, false, false);
    return (f->out[0] = y) != NULL;
}
/* Sums, means or maxima of rows of the table weight, one for each bag of indices: a row of input,
 * or input from one of offsets to the next. An empty bag is 0. per_sample_weights are factors of
 * the rows in a sum; indices padding_idx are left out; with include_last_offset the last offset is
 * the end. With sparse the gradient of weight is a sparse tensor of the rows that were taken. */
TN_OPERATOR(embedding_bag,
            "_embedding_bags(Tensor input, Tensor weight, Tensor? offsets=None, bool "
            "scale_grad_by_freq=False, BagMode mode=mean, Tensor? per_sample_weights=None, bool "
            "include_last_offset=False, int? padding_idx=None, bool sparse=False) -> Tensor",
            TN_DOC(.shapes = "input (n) and offsets (B), or input (B, n); weight (rows, d), "
                             "per_sample_weights like input -> (B, d)",
                   .example = "tn_embedding_bag(tokens, table, .offsets = index)",
                   .differs = "signature: the first result of torch's embedding_bag | grad of "
                              "tensor 1 at ties: equal largest elements share it"),
            .compose = embedding_bag_compose,
            .sample = "(3,4):i64<5 (5,3) | (6):i64<5 (5,3) (2):i64<1 mode=sum | (2,4):i64<5 (5,3) "
                      "mode=max | (2,3):i64<5 (5,2) mode=sum per_sample_weights=(2,3) | "
                      "(3,4):i64<5 (5,2) padding_idx=2 | (0,2):i64<3 (3,2)")
