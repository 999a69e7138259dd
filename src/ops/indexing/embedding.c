/* embedding.c - rows of a table by index, and the gradient of the table.
 *
 * Gradients of one row are added in the order of the indices. Ranges are checked in look, before
 * the first write. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "index.h"
#include "../../cpu/walk.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../api/sparse.h"
#include "../../call/whole.h"

static bool embedding_check(tn_frame *f) {
    tn_tensor *weight = f->in[0], *indices = f->in[1];
    int64_t size[TN_MAX_DIMS];
    if (weight->ndim != 2) return tn_fail(f, TN_INVALID, "argument 'weight' must be 2-D");
    if (!tni_is_index(indices))
        return tn_fail(f, TN_TYPE,
                       "Expected tensor for argument #1 'indices' to have one of the following "
                       "scalar types: Long, Int; "
                       "but got %s instead (while checking arguments for embedding)",
                       tni_dtype(indices->dtype)->text);
    if (indices->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    /* The indices' shape and one dimension more, a row of the table. */
    memcpy(size, indices->size, sizeof(int64_t) * (size_t)indices->ndim);
    size[indices->ndim] = weight->size[1];
    return tn_announce(f, 0, (tn_dtype)weight->dtype, indices->ndim + 1, size);
}
static bool embedding_look(tn_frame *f) {
    return tni_index_range(f, f->in[1], 0, f->in[0]->size[0], 0);
}
static void embedding_run(tn_frame *f) {
    tn_tensor *weight = f->in[0], *out = f->out[0];
    const tn_tensor *index = f->in[1];
    int64_t bytes = tni_dtype_size(weight), row = weight->stride[0] * bytes,
            col = weight->stride[1] * bytes, n = weight->size[1];
    const char *table = tni_bytes_at(weight);
    char *to = tni_bytes_at(out);
    tni_walk w;
    if (out->numel == 0) return;
    /* A row of the table for each index; the result is new and dense, so `to` only moves on. */
    tni_walk_start(&w, index->ndim, index->size, &index, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++, to += n * bytes)
            tni_move_row(to, bytes,
                         table + tni_index_at(w.at[0] + i * w.row[0], index->dtype) * row, col, n,
                         bytes);
}
/* The rows that were taken, and what came in for each. */
static void embedding_grad_sparse(tn_gradient *g, int64_t padding_idx) {
    const tn_tensor *table = g->in[0];
    tn_tensor *at = tnp_to_dtype(g->in[1], TN_I64, false, true), *rows; /* indices of its own */
    int64_t size[2];
    size[0] = g->in[1]->numel;
    if (!(at = tnp_reshape(at, tni_ints(size, 1)))) return;
    size[1] = table->size[1];
    rows = tnp_reshape(g->incoming[0], tni_ints(size, 2));
    if (rows && padding_idx >= 0) {
        tn_tensor *kept = tnp_ne_scalar(at, tn_int(padding_idx));
        kept = kept ? tnp_select(tnp_nonzero(kept), 1, 0) : NULL;
        at = kept ? tnp_index_select(at, 0, kept) : NULL;
        rows = kept ? tnp_index_select(rows, 0, kept) : NULL;
    }
    if (!at || !rows) return;
    tn_give(g, 0, tn_sparse_coo_at(NULL, 0, tnp_unsqueeze(at, 0), rows, tni_sizes(table)));
}
/* A row of its own, so that the gradient is one loop over the indices. */
static void embedding_grad(tn_gradient *g) {
    TN_ARGS(embedding, a, g);
    if (a->sparse && a->scale_grad_by_freq) {
        tni_error(g->block, TN_INVALID, "scale_grad_by_freq not supported with sparse gradients");
        return;
    }
    if (a->sparse) {
        embedding_grad_sparse(g, a->padding_idx);
        return;
    }
    tn_give(g, 0,
            tnp_embedding_dense_backward(g->incoming[0], g->in[1], g->in[0]->size[0],
                                         a->padding_idx, a->scale_grad_by_freq));
}
/* One weight takes indices of any shape; weights of each sample are rows of one table. */
static tn_tensor *embedding_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(embedding, a, f);
    const tn_tensor *y = f->out[0];
    int64_t size, rows, sizes[TN_MAX_DIMS + 1];
    tn_tensor *at, *first, *table;
    if (!whole[0])
        return tnp_embedding(f->in[0], whole[1], a->padding_idx, a->scale_grad_by_freq, a->sparse);
    if (a->padding_idx >= 0 || a->scale_grad_by_freq || !f->in[0]->size[0] ||
        y->ndim >= TN_MAX_DIMS)
        return NULL;
    size = whole[0]->size[0], rows = f->in[0]->size[0];
    at = tni_whole_each(f, whole, 1, size);
    first = tnp_arange(tn_int(size), TN_I64, whole[0]->device);
    if (first) first = tnp_mul_scalar(tnp_unsqueeze(first, 1), tn_int(rows));
    at = at ? tni_whole_flat(at) : NULL;
    at = at && first ? tnp_add(at, first, 1) : NULL;
    table = at ? tni_whole_join(whole[0]) : NULL;
    at = table ? tnp_embedding(table, at, a->padding_idx, false, false) : NULL;
    if (!at) return NULL;
    sizes[0] = size;
    memcpy(sizes + 1, y->size, (size_t)y->ndim * sizeof *sizes);
    return tnp_reshape(at, tni_ints(sizes, y->ndim + 1));
}
/* The rows of the table weight at indices. Row padding_idx gets no gradient (-1: every row does);
 * scale_grad_by_freq divides a row's gradient by how often the row was taken. With sparse the
 * gradient of weight is a sparse tensor of the rows that were taken. */
TN_OPERATOR(
    embedding,
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    TN_DOC(.shapes = "weight (n, d), indices (*) -> (*, d)",
           .example = "tn_embedding(table, tokens)",
           .differs = "gradcheck [padding_idx]: the padding row's gradient is zero by definition | "
                      "parameter padding_idx: -1 is none, as in torch's schema"),
    .needs = "weight:indices", .check = embedding_check, .look = embedding_look,
    .run = embedding_run, .grad = embedding_grad,
    .sample = "(5,3) (4):i64<5 | (5,3) (2,7):i64<5 padding_idx=2 | (4,2) ():i64<4 | (3,2) "
              "(0):i64<3 | (5,3) (3):i32<5",
    .batched = TN_BATCHED(embedding_batched))

static bool embedding_dense_backward_check(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    tn_tensor *d = f->in[0], *indices = f->in[1];
    int64_t size[2];
    /* grad_output is the indices' shape and one dimension more, the row of d elements. */
    bool fits = d->ndim == indices->ndim + 1;
    for (int i = 0; fits && i < indices->ndim; i++) fits = d->size[i] == indices->size[i];
    if (!fits) return tn_fail(f, TN_INVALID, "the shapes of grad_output and indices do not match");
    if (!tni_index_dtype(f, indices, "embedding_dense_backward")) return false;
    if (a->num_weights < 0) return tn_fail(f, TN_INVALID, "num_weights is negative");
    size[0] = a->num_weights;
    size[1] = d->size[indices->ndim];
    /* A counter for each row of the table. */
    if (a->scale_grad_by_freq && !tn_scratch(f, a->num_weights, (int64_t)sizeof(int64_t)))
        return false;
    return tn_announce(f, 0, (tn_dtype)d->dtype, 2, size);
}
static bool embedding_dense_backward_look(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    return tni_index_range(f, f->in[1], 0, a->num_weights, 0);
}
/* Divides every row of the table's gradient by the count of its uses. */
static void embedding_scale(tn_tensor *out, const int64_t *count) {
    int64_t bytes = tni_dtype_size(out);
    char *at = tni_bytes_at(out);
    for (int64_t k = 0; k < out->size[0]; k++)
        for (int64_t i = 0; i < out->size[1]; i++, at += bytes) {
            tn_scalar s = tni_element(at, out->dtype);
            if (count[k] < 2) continue;
            s.real /= (double)count[k];
            s.imaginary /= (double)count[k];
            tni_element_set(at, out->dtype, s);
        }
}
static void embedding_dense_backward_run(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    tn_tensor *d = f->in[0], *indices = f->in[1], *out = f->out[0], head;
    const tn_tensor *pair[2];
    int64_t bytes = tni_dtype_size(d), n = out->size[1], step = d->stride[d->ndim - 1] * bytes,
            *count = (int64_t *)f->scratch;
    tni_walk w;
    tni_fill(out, tn_int(0));
    if (indices->numel == 0 || n == 0) return;
    if (a->scale_grad_by_freq) memset(count, 0, (size_t)a->num_weights * sizeof *count);
    /* grad_output without its last dimension, whose elements lie `step` bytes apart. */
    tni_stack_view(&head, d, indices->ndim, d->size, d->stride, d->offset);
    pair[0] = indices;
    pair[1] = &head;
    tni_walk_start(&w, indices->ndim, indices->size, pair, 2);
    /* One thread adds, in the indices' order, so a row's sum does not depend on the
     * number of threads. */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t k = tni_index_at(w.at[0] + i * w.row[0], indices->dtype);
            if (k == a->padding_idx) continue;
            if (a->scale_grad_by_freq) count[k]++;
            tni_add_row(tni_bytes_at(out) + k * n * bytes, bytes, w.at[1] + i * w.row[1], step, n,
                        d->dtype);
        }
    if (a->scale_grad_by_freq) embedding_scale(out, count);
}
/* The second gradient looks rows up again, with zeros in the padding row, which was left out. */
static void embedding_dense_backward_grad(tn_gradient *g) {
    TN_ARGS(embedding_dense_backward, a, g);
    tn_tensor *d = g->incoming[0], *padding;
    int64_t row[2];
    /* The counts of the first gradient are not kept. */
    if (a->scale_grad_by_freq) {
        tni_error(g->block, TN_AUTOGRAD,
                  "double backward of embedding is not supported with scale_grad_by_freq");
        return;
    }
    if (a->padding_idx >= 0 && a->padding_idx < a->num_weights) {
        tni_geometry v;
        /* v is the padding row of the table's gradient. */
        row[0] = 1;
        row[1] = d->size[1];
        v.ndim = 2;
        v.size[0] = 1;
        v.size[1] = row[1];
        v.stride[0] = row[1];
        v.stride[1] = 1;
        v.offset = a->padding_idx * row[1];
        padding = tni_zeros_of(d, 2, row);
        d = tni_place_at(g->block, tnp_clone(d, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT), padding, &v);
    }
    if (d) tn_give(g, 0, tnp_embedding(d, g->in[1], -1, false, false));
}
/* The gradient of embedding's table: adds the rows of grad_output at their indices, in order. */
TN_OPERATOR(embedding_dense_backward,
            "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int "
            "padding_idx, bool scale_grad_by_freq) "
            "-> Tensor",
            TN_DOC(.shapes = "grad_output (*, d), indices (*) -> (num_weights, d)",
                   .example = "tn_embedding_dense_backward(d, tokens, 1000, -1, false)"),
            .needs = "grad_output:indices", .check = embedding_dense_backward_check,
            .look = embedding_dense_backward_look, .run = embedding_dense_backward_run,
            .grad = embedding_dense_backward_grad,
            .sample = "(4,3) (4):i64<5 5 -1 False | (2,7,3) (2,7):i64<5 5 2 False | (2) ():i64<4 4 "
                      "-1 False | (0,2) (0):i64<3 3 0 False")
