/* sparse.c - operators of the parts of sparse tensors: indices (sparse dimensions, n) and values
 * (n, dense dimensions..).
 *
 * A place in the sparse dimensions has a key, its row-major number there. sparse_keys checks ranges
 * and makes the keys; all else is composed of it and of index_add, index_select, sort, so gradients
 * of values follow. Values of one place are added in the order of the indices. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "index.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"

/* --- keys ------------------------------------------------------------------------------------- */

static bool sparse_keys_check(tn_frame *f) {
    TN_ARGS(sparse_keys, a, f);
    const tn_tensor *indices = f->in[0];
    int64_t numel, size[1];
    if (indices->ndim != 2)
        return tn_fail(f, TN_INVALID, "indices must have 2 dimensions, but got %d", indices->ndim);
    if (!tni_index_dtype(f, indices, "sparse_keys")) return false;
    if (a->size.n != indices->size[0])
        return tn_fail(f, TN_INVALID, "indices has %lld rows, but the size %lld dimensions",
                       (long long)indices->size[0], (long long)a->size.n);
    if (a->size.n > TN_MAX_DIMS || !tni_numel_of((int)a->size.n, a->size.at, &numel))
        return tn_fail(f, TN_INVALID, "the size is negative or too large");
    size[0] = indices->size[1];
    return tn_announce(f, 0, TN_I64, 1, size);
}
/* The address of the first index of row d, and the bytes from one to the next. */
static const char *sparse_row(const tn_tensor *indices, int64_t d, int64_t *step) {
    const int64_t bytes = tni_dtype_size(indices);
    *step = indices->stride[1] * bytes;
    return tni_bytes_at(indices) + d * indices->stride[0] * bytes;
}
static bool sparse_keys_look(tn_frame *f) {
    TN_ARGS(sparse_keys, a, f);
    const tn_tensor *indices = f->in[0];
    for (int64_t d = 0; indices->numel && d < indices->size[0]; d++) {
        int64_t step;
        const char *at = sparse_row(indices, d, &step);
        for (int64_t i = 0; i < indices->size[1]; i++) {
            const int64_t k = tni_index_at(at + i * step, indices->dtype);
            if (tni_stopped_at(i)) return false;
            if (k < 0)
                return tn_fail(f, TN_INVALID, "found negative index %lld for dim %lld",
                               (long long)k, (long long)d);
            if (k >= a->size.at[d])
                return tn_fail(f, TN_INVALID,
                               "size is inconsistent with indices: for dim %lld, size is %lld but "
                               "found index %lld",
                               (long long)d, (long long)a->size.at[d], (long long)k);
        }
    }
    return true;
}
static void sparse_keys_run(tn_frame *f) {
    TN_ARGS(sparse_keys, a, f);
    const tn_tensor *indices = f->in[0];
    int64_t *key = (int64_t *)(void *)tni_bytes_at(f->out[0]), n = f->out[0]->numel;
    if (n) memset(key, 0, (size_t)n * sizeof *key);
    /* Each is below the product of the sizes, which check has bounded. */
    for (int64_t d = 0; n && d < indices->size[0]; d++) {
        int64_t step;
        const char *at = sparse_row(indices, d, &step);
        for (int64_t i = 0; i < n; i++) {
            if (tni_stopped_at(i)) return;
            key[i] = key[i] * a->size.at[d] + tni_index_at(at + i * step, indices->dtype);
        }
    }
}
/* The row-major number in size of each column of indices. */
TN_OPERATOR(sparse_keys, "sparse_keys(Tensor indices, int[] size) -> Tensor",
            TN_DOC(.shapes = "indices (d, n), d sizes -> (n) int64",
                   .example = "tn_sparse_keys(index, TN_DIMS(4, 4))",
                   .differs = "signature: torch has no such function"),
            .check = sparse_keys_check, .look = sparse_keys_look, .run = sparse_keys_run,
            .grad = tn_grad_zero,
            .sample =
                "(2,7):i64<4 [4,4] | (1,35):i64<6 [6] | (0,3):i64<1 [] | (3,0):i64<2 [2,3,2] | "
                "(3,5):i32<2 [2,3,4] | (2,1):i64<3 [3,5]")

static bool sparse_distinct_check(tn_frame *f) {
    int64_t size[1] = {TN_UNKNOWN};
    if (f->in[0]->ndim != 1 || f->in[0]->dtype != TN_I64)
        return tn_fail(f, TN_TYPE, "expected a vector of int64");
    return tn_announce(f, 0, TN_I64, 1, size) && tn_announce(f, 1, TN_I64, 1, f->in[0]->size);
}
/* Counts the elements that differ from the one before. Unless NULL, `to` gets them, and group[i]
 * the number of the last one up to element i. */
static int64_t sparse_distinct_walk(const tn_tensor *t, int64_t *to, int64_t *group) {
    const char *at = tni_bytes_at(t);
    const int64_t step = t->stride[0] * (int64_t)sizeof *to;
    int64_t n = 0, before = 0;
    for (int64_t i = 0; i < t->size[0] && !tni_stopped_at(i); i++) {
        const int64_t v = tni_index_at(at + i * step, TN_I64);
        const bool differs = !i || v != before;
        if (to && differs) to[n] = v;
        n += differs;
        before = v;
        if (group) group[i] = n - 1;
    }
    return n;
}
static bool sparse_distinct_look(tn_frame *f) {
    f->count = sparse_distinct_walk(f->in[0], NULL, NULL);
    return !tn_cancelled(f);
}
static void sparse_distinct_run(tn_frame *f) {
    if (f->in[0]->numel)
        sparse_distinct_walk(f->in[0], (int64_t *)(void *)tni_bytes_at(f->out[0]),
                             (int64_t *)(void *)tni_bytes_at(f->out[1]));
}
/* self without the elements that are equal to the one before, and for each element of self its
 * place among them: of sorted keys, each once. */
TN_OPERATOR(sparse_distinct, "sparse_distinct(Tensor self) -> (Tensor values, Tensor group)",
            TN_DOC(.shapes = "self (n) int64 -> (m), (n)",
                   .example = "tn_sparse_distinct(tn_sparse_keys(index, TN_DIMS(4, 4)))",
                   .differs = "signature: torch's is unique_consecutive"),
            .check = sparse_distinct_check, .look = sparse_distinct_look,
            .run = sparse_distinct_run, .grad = tn_grad_zero,
            .sample = "(35):i64<2 | (0):i64<2 | (1):i64<9 | (7):i64<1")

/* --- coalesced and dense ---------------------------------------------------------------------- */

/* n zeros of one place each: values' shape with n in place of its first size. */
static tn_tensor *sparse_zeros(const tn_tensor *values, int64_t n) {
    int64_t size[TN_MAX_DIMS];
    memcpy(size, values->size, (size_t)values->ndim * sizeof *size);
    size[0] = n;
    return tnp_zeros(tni_ints(size, values->ndim), (tn_dtype)values->dtype, values->device);
}
/* That values has n rows; other shapes are checked by what is called. */
static bool sparse_values_check(tn_frame *f, const tn_tensor *indices, const tn_tensor *values) {
    if (indices->ndim != 2)
        return tn_fail(f, TN_INVALID, "indices must have 2 dimensions, but got %d", indices->ndim);
    if (values->ndim < 1 || values->size[0] != indices->size[1])
        return tn_fail(f, TN_INVALID,
                       "indices and values must have same nnz, but got nnz from indices: %lld, nnz "
                       "from values: %lld",
                       (long long)indices->size[1],
                       (long long)(values->ndim ? values->size[0] : 1));
    return true;
}
/* That the size is a tensor's, and its dense dimensions those of values. */
static bool sparse_size_check(tn_frame *f, const tn_tensor *indices, const tn_tensor *values,
                              tn_ints size) {
    const int64_t d = indices->ndim == 2 ? indices->size[0] : 0;
    int64_t numel;
    if (!sparse_values_check(f, indices, values)) return false;
    if (size.n != d + values->ndim - 1)
        return tn_fail(f, TN_INVALID,
                       "the size has %lld dimensions, but indices and values have %lld + %d",
                       (long long)size.n, (long long)d, values->ndim - 1);
    if (size.n > TN_MAX_DIMS || !tni_numel_of((int)size.n, size.at, &numel))
        return tn_fail(f, TN_INVALID, "the size is negative or too large");
    for (int i = 1; i < values->ndim; i++)
        if (values->size[i] != size.at[d + i - 1])
            return tn_fail(f, TN_INVALID,
                           "values has size %lld in dimension %d, but size says %lld",
                           (long long)values->size[i], i, (long long)size.at[d + i - 1]);
    return true;
}

/* Equal keys together. */
typedef struct sparse_groups {
    tn_tensor *order, *each, *group; /* what sorts the keys; each once; of key order[i] its place in
                                        each */
} sparse_groups;
static bool sparse_group(tn_tensor *keys, sparse_groups *g) {
    tn_values_indices sorted = tnp_sort(keys, -1, false);
    tn_values_group once = tnp_sparse_distinct(sorted.values);
    g->order = sorted.indices;
    g->each = once.values;
    g->group = once.group;
    return g->each != NULL;
}
/* The sums of the rows of values that have one key, added in their order: memory is written from
 * the first sum to the last. */
static tn_tensor *sparse_sums(const sparse_groups *g, tn_tensor *values) {
    tn_tensor *rows = tnp_index_select(values, 0, g->order);
    return tnp_index_add(sparse_zeros(values, g->each->size[0]), 0, g->group, rows, 1);
}
/* The columns of indices that have these keys. */
static tn_tensor *sparse_places(tn_tensor *keys, tn_ints size, int64_t d) {
    tn_tensor *row[TN_MAX_DIMS];
    if (!d) {
        const int64_t none[2] = {0, keys->size[0]};
        return tnp_zeros(tni_ints(none, 2), TN_I64, keys->device);
    }
    for (int64_t i = d - 1; i >= 0; i--) {
        const tn_scalar n = tn_int(size.at[i] ? size.at[i] : 1);
        row[i] = i ? tnp_remainder_scalar(keys, n) : keys;
        keys = i ? tnp_floor_divide_scalar(keys, n) : keys;
        if (!row[i] || !keys) return NULL;
    }
    return tnp_stack(tn_tensors_of(row, d), 0);
}
static bool sparse_coalesce_compose(tn_frame *f) {
    TN_ARGS(sparse_coalesce, a, f);
    tn_tensor *values = f->in[1], *keys;
    sparse_groups g;
    int64_t d;
    if (!sparse_size_check(f, f->in[0], values, a->size)) return false;
    d = f->in[0]->size[0];
    keys = tnp_sparse_keys(f->in[0], tni_ints(a->size.at, d));
    if (!keys || !sparse_group(keys, &g)) return false;
    f->out[0] = sparse_places(g.each, a->size, d);
    f->out[1] = sparse_sums(&g, values);
    return f->out[0] && f->out[1];
}
/* Places in row-major order, each once, with the sum of its values. */
TN_OPERATOR(
    sparse_coalesce,
    "sparse_coalesce(Tensor indices, Tensor values, int[] size) -> (Tensor indices, Tensor "
    "values)",
    TN_DOC(.shapes = "indices (d, n), values (n, *), d sizes and those of * -> (d, m), (m, *)",
           .example = "tn_sparse_coalesce(index, v, TN_DIMS(4, 4))",
           .differs = "signature: torch's is a method of sparse tensors"),
    .compose = sparse_coalesce_compose,
    .sample = "(2,7):i64<3 (7) [3,3] | (1,5):i64<2 (5,3) [4,3] | (0,3):i64<1 (3) [] | "
              "(3,0):i64<2 (0,2) [2,3,2,2] | (2,35):i64<4 (35) [4,5]",
    .node = "CoalesceBackward0")

static bool sparse_to_dense_compose(tn_frame *f) {
    TN_ARGS(sparse_to_dense, a, f);
    tn_tensor *values = f->in[1], *keys, *flat;
    int64_t d, n = 1;
    if (!sparse_size_check(f, f->in[0], values, a->size)) return false;
    d = f->in[0]->size[0];
    keys = tnp_sparse_keys(f->in[0], tni_ints(a->size.at, d));
    if (!keys) return false;
    for (int64_t i = 0; i < d; i++) n *= a->size.at[i];
    flat = tnp_index_add(sparse_zeros(values, n), 0, keys, values, 1);
    f->out[0] = flat ? tnp_reshape(flat, a->size) : NULL;
    return f->out[0] != NULL;
}
/* The tensor of that size with the values added at their places, and 0 elsewhere. */
TN_OPERATOR(sparse_to_dense, "sparse_to_dense(Tensor indices, Tensor values, int[] size) -> Tensor",
            TN_DOC(.shapes = "indices (d, n), values (n, *), d sizes and those of * -> size",
                   .example = "tn_sparse_to_dense(index, v, TN_DIMS(4, 4))",
                   .differs = "signature: torch's is a method of sparse tensors"),
            .compose = sparse_to_dense_compose,
            .sample = "(2,7):i64<3 (7) [3,3] | (1,5):i64<2 (5,3) [4,3] | (0,3):i64<1 (3) [] | "
                      "(3,0):i64<2 (0,2) [2,3,2,2] | (2,35):i64<4 (35) [4,5]",
            .node = "ToDenseBackward0")

static bool sparse_take_compose(tn_frame *f) {
    tn_tensor *self = f->in[0], *indices = f->in[1], *keys;
    int64_t size[TN_MAX_DIMS + 1], n = 1, d;
    if (indices->ndim != 2)
        return tn_fail(f, TN_INVALID, "indices must have 2 dimensions, but got %d", indices->ndim);
    d = indices->size[0];
    if (d > self->ndim)
        return tn_fail(f, TN_INVALID, "indices has %lld rows, but self only %d dimensions",
                       (long long)d, self->ndim);
    keys = tnp_sparse_keys(indices, tni_ints(self->size, d));
    if (!keys) return false;
    for (int64_t i = 0; i < d; i++) n *= self->size[i];
    size[0] = n;
    memcpy(size + 1, self->size + d, (size_t)(self->ndim - d) * sizeof *size);
    if (self->ndim - d + 1 > TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    self = tnp_reshape(self, tni_ints(size, (int)(self->ndim - d + 1)));
    f->out[0] = self ? tnp_index_select(self, 0, keys) : NULL;
    return f->out[0] != NULL;
}
/* The elements of self at the places in indices: the values of a sparse tensor that has self's
 * elements there. */
TN_OPERATOR(sparse_take, "sparse_take(Tensor self, Tensor indices) -> Tensor",
            TN_DOC(.shapes = "self (d sizes, *), indices (d, n) -> (n, *)",
                   .example = "tn_sparse_take(x, index)",
                   .differs = "signature: torch's is Tensor.sparse_mask"),
            .compose = sparse_take_compose,
            .sample =
                "(4,5) (2,7):i64<4 | (2,3,4) (1,5):i64<2 | () (0,3):i64<1 | (2,3) (2,0):i64<2 | "
                "(35) (1,35):i64<35")

/* --- products --------------------------------------------------------------------------------- */

static bool sparse_mm_compose(tn_frame *f) {
    TN_ARGS(sparse_mm, a, f);
    tn_tensor *indices = f->in[0], *values = f->in[1], *dense = f->in[2], *row, *col, *sum;
    int64_t size[2];
    if (!sparse_values_check(f, indices, values)) return false;
    if (indices->size[0] != 2 || values->ndim != 1 || dense->ndim != 2)
        return tn_fail(f, TN_INVALID,
                       "expected indices (2, n), values (n) and a matrix as argument 'dense'");
    if (values->dtype != dense->dtype)
        return tn_fail(f, TN_TYPE, "values is %s, but argument 'dense' is %s",
                       tni_dtype(values->dtype)->text, tni_dtype(dense->dtype)->text);
    if (a->rows < 0) return tn_fail(f, TN_INVALID, "rows is negative");
    if (dense->device == TN_CPU && (dense->dtype == TN_F32 || dense->dtype == TN_F64))
        return (f->out[0] = tnp_sparse_product(indices, values, a->rows, dense)) != NULL;
    size[0] = a->rows;
    size[1] = dense->size[1];
    sum = tnp_zeros(tni_ints(size, 2), (tn_dtype)dense->dtype, dense->device);
    row = tnp_select(indices, 0, 0);
    col = tnp_select(indices, 0, 1);
    dense = col ? tnp_index_select(dense, 0, col) : NULL;
    dense = dense ? tnp_mul(dense, tnp_unsqueeze(values, 1)) : NULL;
    f->out[0] = dense && sum && row ? tnp_index_add(sum, 0, row, dense, 1) : NULL;
    return f->out[0] != NULL;
}
/* The product of a sparse matrix of that many rows and a dense one. */
TN_OPERATOR(sparse_mm, "sparse_mm(Tensor indices, Tensor values, int rows, Tensor dense) -> Tensor",
            TN_DOC(.shapes = "indices (2, n), values (n), dense (k, m) -> (rows, m)",
                   .example = "tn_sparse_mm(index, v, 4, x)",
                   .differs = "signature: torch's is sparse.mm of sparse tensors"),
            .autocast = TN_WIDE_CUDA, .compose = sparse_mm_compose,
            .sample =
                "(2,7):i64<3 (7) 3 (3,4) | (2,35):i64<6 (35) 6 (6,1) | (2,0):i64<3 (0) 3 (3,4) | "
                "(2,5):i64<2 (5) 4 (2,0)",
            .node = "SparseAddmmBackward0")

/* --- softmax ---------------------------------------------------------------------------------- */

/* indices without row dim, and the sizes without it. */
static tn_tensor *sparse_without(tn_tensor *indices, int64_t dim, tn_ints size, int64_t *rest) {
    const int64_t d = indices->size[0];
    tn_tensor *part[2];
    for (int64_t i = 0, k = 0; i < d; i++)
        if (i != dim) rest[k++] = size.at[i];
    part[0] = tnp_narrow(indices, 0, 0, dim);
    part[1] = part[0] ? tnp_narrow(indices, 0, dim + 1, d - dim - 1) : NULL;
    return part[1] ? tnp_cat(tn_tensors_of(part, 2), 0) : NULL;
}
/* x less its group's largest element, and the group's sum of exponentials, at each place. */
static tn_tensor *sparse_shifted(tn_tensor *x, int64_t groups, tn_tensor *group, tn_tensor **sum) {
    tn_tensor *largest = sparse_zeros(x, groups), *e;
    largest = largest ? tnp_index_reduce(largest, 0, group, tnp_detach(x), "amax", false) : NULL;
    largest = largest ? tnp_index_select(largest, 0, group) : NULL;
    x = largest ? tnp_sub(x, largest, 1) : NULL;
    e = x ? tnp_exp(x) : NULL;
    *sum = e ? tnp_index_add(sparse_zeros(e, groups), 0, group, e, 1) : NULL;
    *sum = *sum ? tnp_index_select(*sum, 0, group) : NULL;
    return *sum ? x : NULL;
}
static bool sparse_softmax_compose(tn_frame *f) {
    TN_ARGS(sparse_softmax, a, f);
    tn_tensor *indices = f->in[0], *x = f->in[1], *keys, *group, *sum;
    int64_t rest[TN_MAX_DIMS];
    sparse_groups g;
    const int64_t dims = a->size.n, dim = a->dim < 0 ? a->dim + dims : a->dim;
    if (!sparse_size_check(f, indices, x, a->size)) return false;
    if (tni_dtype(x->dtype)->category != TNI_CAT_FLOAT)
        return tn_fail(f, TN_TYPE, "expected floating values, got %s", tni_dtype(x->dtype)->text);
    if (dim < 0 || dim >= dims)
        return tn_fail(f, TN_INDEX,
                       "Dimension out of range (expected to be in range of [%lld, %lld], but got "
                       "%lld)",
                       (long long)-dims, (long long)dims - 1, (long long)a->dim);
    if (dim >= indices->size[0]) {
        const int64_t inner = dim - indices->size[0] + 1;
        f->out[0] =
            a->log ? tnp_log_softmax(x, inner, TN_NO_DTYPE) : tnp_softmax(x, inner, TN_NO_DTYPE);
        return f->out[0] != NULL;
    }
    keys = sparse_without(indices, dim, a->size, rest);
    keys = keys ? tnp_sparse_keys(keys, tni_ints(rest, indices->size[0] - 1)) : NULL;
    if (!keys || !sparse_group(keys, &g)) return false;
    group = tnp_scatter(g.group, 0, g.order, g.group); /* as the places stand in indices */
    x = group ? sparse_shifted(x, g.each->size[0], group, &sum) : NULL;
    if (!x) return false;
    f->out[0] = a->log ? tnp_sub(x, tnp_log(sum), 1) : tnp_div(tnp_exp(x), sum);
    return f->out[0] != NULL;
}
/* The values of the softmax along dim (with log, of its logarithm) of the elements that are there,
 * each once; all others count as -infinity. */
TN_OPERATOR(sparse_softmax,
            "sparse_softmax(Tensor indices, Tensor values, int[] size, int dim, bool log=False) -> "
            "Tensor",
            TN_DOC(.shapes = "indices (d, n), values (n, *), d sizes and those of * -> (n, *)",
                   .example = "tn_sparse_softmax(index, v, TN_DIMS(4, 4), 1)",
                   .differs = "signature: torch's is sparse.softmax of sparse tensors"),
            .compose = sparse_softmax_compose,
            .sample = "(2,7):i64<3 (7) [3,3] 1 | (1,5):i64<5 (5,3) [5,3] 0 True | "
                      "(1,5):i64<5 (5,3) [5,3] -1 | (2,0):i64<2 (0) [2,3] 0 | "
                      "(2,35):i64<4 (35) [4,4] 0 True")

/* --- rows of matrices ------------------------------------------------------------------------- */

static bool sparse_ends_compose(tn_frame *f) {
    TN_ARGS(convert_indices_from_coo_to_csr, a, f);
    tn_tensor *at;
    if (f->in[0]->ndim != 1)
        return tn_fail(f, TN_INVALID, "expected a vector, but got %d dimensions", f->in[0]->ndim);
    if (a->size < 0 || a->size == INT64_MAX)
        return tn_fail(f, TN_INVALID, "the size is negative or too large");
    at = tnp_arange(tn_int(a->size + 1), (tn_dtype)f->in[0]->dtype, f->in[0]->device);
    f->out[0] = at ? tnp_searchsorted(f->in[0], at, a->out_int32, false, NULL, NULL) : NULL;
    return f->out[0] != NULL;
}
/* Of sorted row indices, where each row begins, and the end of the last. */
TN_OPERATOR(convert_indices_from_coo_to_csr,
            "_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> "
            "Tensor",
            TN_DOC(.shapes = "self (n) integers in order -> (size + 1)",
                   .example = "tn_convert_indices_from_coo_to_csr(tn_arange(4), 4)"),
            .compose = sparse_ends_compose,
            .sample = "(4):i64<1 3 | (0):i64<2 2 | (1):i64<3 4 out_int32=True | (5):i64<1 0")

/* Of n elements the row: how many rows have ended before it. */
static tn_tensor *sparse_rows(tn_tensor *ends, int64_t n) {
    const int64_t rows = ends->size[0] - 1, size[1] = {n + 1}, inner[1] = {rows > 1 ? rows - 1 : 0};
    tn_tensor *count = tnp_zeros(tni_ints(size, 1), TN_I64, ends->device);
    tn_tensor *one = tnp_ones(tni_ints(inner, 1), TN_I64, ends->device);
    ends = tnp_narrow(ends, 0, rows > 0 ? 1 : 0, inner[0]);
    count = count && one && ends ? tnp_index_add(count, 0, ends, one, 1) : NULL;
    count = count ? tnp_cumsum(count, 0, TN_NO_DTYPE) : NULL;
    return count ? tnp_narrow(count, 0, 0, n) : NULL;
}
static bool sparse_from_ends_compose(tn_frame *f) {
    TN_ARGS(convert_indices_from_csr_to_coo, a, f);
    tn_tensor *ends = f->in[0], *col = f->in[1], *part[2], *at;
    const tn_dtype to = a->out_int32 ? TN_I32 : TN_I64;
    if (ends->ndim != 1 || col->ndim != 1 || ends->size[0] < 1)
        return tn_fail(f, TN_INVALID, "expected vectors as crow_indices and col_indices");
    at = sparse_rows(ends, col->size[0]);
    at = at ? tnp_to_dtype(at, to, false, false) : NULL;
    col = at ? tnp_to_dtype(col, to, false, false) : NULL;
    part[a->transpose] = at;
    part[!a->transpose] = col;
    f->out[0] = col ? tnp_stack(tn_tensors_of(part, 2), 0) : NULL;
    return f->out[0] != NULL;
}
/* The indices of a matrix whose rows end at crow_indices[1..]; with transpose, of its transpose. */
TN_OPERATOR(convert_indices_from_csr_to_coo,
            "_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool "
            "out_int32=False, bool transpose=False) -> Tensor",
            TN_DOC(.shapes = "crow_indices (rows + 1), col_indices (n) -> (2, n)",
                   .example = "tn_convert_indices_from_csr_to_coo(tn_arange(5), tn_arange(4))"),
            .compose = sparse_from_ends_compose,
            .sample = "(1):i64<1 (0):i64<2 | (4):i64<1 (0):i64<3 | (3):i64<1 (0):i64<2 "
                      "transpose=True")
