/* spmm.c - products of a sparse matrix of float32 or float64 on the CPU: with a dense one, and of
 * two dense ones at the places of a sparse one. Each is the other's gradient.
 *
 * Elements of a result are sums in the order of the indices, by columns in parallel, so they do not
 * depend on threads. sparse_mm calls them; of other dtypes, and on devices, it is composed.
 * Hot: the loops are over elements (base/cold_begin.inl). */
#include "index.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"

/* A dense matrix, or values as one of one column; steps in elements. */
typedef struct spmm_matrix {
    const char *at;
    int64_t row, column;
} spmm_matrix;
typedef struct spmm_job {
    const tn_tensor *indices;
    spmm_matrix x, y; /* values and dense; of dots, the dense matrices */
    char *out;
    int64_t n, rows, m; /* places; rows of out; columns of the dense matrices */
    int64_t width;      /* columns, or places, of a task */
    int dtype;
} spmm_job;

static spmm_matrix spmm_of(const tn_tensor *t) {
    spmm_matrix m = {t->numel ? tni_bytes_at(t) : NULL, t->stride[0],
                     t->ndim > 1 ? t->stride[1] : 1};
    return m;
}
static int64_t spmm_index(const tn_tensor *t, int64_t d, int64_t i) {
    const int64_t at = d * t->stride[0] + i * t->stride[1];
    return tni_index_at(tni_bytes_at(t) + at * tni_dtype_size(t), t->dtype);
}

/* Polls for a request to stop: rows may be long. */
TNI_INLINE bool spmm_stopped(int64_t i) { return !(i & 0xff) && tni_stopped(); }

/* Loops over neighbours go eight at a time, others one by one. dot: the sum of products, in eight
 * lanes that are added in pairs. */
#include "../../base/rounded_begin.inl"
enum { SPMM_LANES = 8 };
#define SPMM_LOOPS(T)                                                                           \
    static void spmm_add_##T(T *TNI_RESTRICT to, const T *TNI_RESTRICT from, int64_t step, T v, \
                             int64_t m) {                                                       \
        int64_t k = 0;                                                                          \
        for (; step == 1 && k + SPMM_LANES <= m; k += SPMM_LANES)                               \
            for (int u = 0; u < SPMM_LANES; u++) to[k + u] += v * from[k + u];                  \
        for (; k < m; k++) to[k] += v * from[k * step];                                         \
    }                                                                                           \
    static T spmm_dot_##T(const T *TNI_RESTRICT x, int64_t sx, const T *TNI_RESTRICT y,         \
                          int64_t sy, int64_t m) {                                              \
        T sum[SPMM_LANES] = {0};                                                                \
        int64_t k = 0;                                                                          \
        for (; sx == 1 && sy == 1 && k + SPMM_LANES <= m; k += SPMM_LANES)                      \
            for (int u = 0; u < SPMM_LANES; u++) sum[u] += x[k + u] * y[k + u];                 \
        for (; k < m; k++) sum[k % SPMM_LANES] += x[k * sx] * y[k * sy];                        \
        for (int half = SPMM_LANES / 2; half; half /= 2)                                        \
            for (int u = 0; u < half; u++) sum[u] += sum[u + half];                             \
        return sum[0];                                                                          \
    }                                                                                           \
    static void spmm_product_##T(const spmm_job *j, int64_t first, int64_t width) {             \
        const T *values = (const T *)(const void *)j->x.at,                                     \
                *dense = (const T *)(const void *)j->y.at;                                      \
        T *out = (T *)(void *)j->out;                                                           \
        for (int64_t i = 0; i < j->rows && !spmm_stopped(i); i++)                               \
            memset(out + i * j->m + first, 0, (size_t)width * sizeof(T));                       \
        for (int64_t i = 0; i < j->n && !spmm_stopped(i); i++)                                  \
            spmm_add_##T(out + spmm_index(j->indices, 0, i) * j->m + first,                     \
                         dense + spmm_index(j->indices, 1, i) * j->y.row + first * j->y.column, \
                         j->y.column, values[i * j->x.row], width);                             \
    }                                                                                           \
    static void spmm_dots_##T(const spmm_job *j, int64_t first, int64_t width) {                \
        const T *x = (const T *)(const void *)j->x.at, *y = (const T *)(const void *)j->y.at;   \
        for (int64_t i = first; i < first + width && !spmm_stopped(i - first); i++)             \
            ((T *)(void *)j->out)[i] =                                                          \
                spmm_dot_##T(x + spmm_index(j->indices, 0, i) * j->x.row, j->x.column,          \
                             y + spmm_index(j->indices, 1, i) * j->y.row, j->y.column, j->m);   \
    }
SPMM_LOOPS(float)
SPMM_LOOPS(double)
#undef SPMM_LOOPS
#include "../../base/rounded_end.inl"

static void spmm_product_task(void *arg, int64_t task) {
    const spmm_job *j = (const spmm_job *)arg;
    const int64_t first = task * j->width, rest = j->m - first;
    if (j->dtype == TN_F32)
        spmm_product_float(j, first, rest < j->width ? rest : j->width);
    else
        spmm_product_double(j, first, rest < j->width ? rest : j->width);
}
static void spmm_dots_task(void *arg, int64_t task) {
    const spmm_job *j = (const spmm_job *)arg;
    const int64_t first = task * j->width, rest = j->n - first;
    if (j->dtype == TN_F32)
        spmm_dots_float(j, first, rest < j->width ? rest : j->width);
    else
        spmm_dots_double(j, first, rest < j->width ? rest : j->width);
}
/* Tasks of `width` of all columns or places, of which one has `each` products: as many as there are
 * threads, where the work is worth it. */
static void spmm_run(tn_frame *f, spmm_job *j, int64_t all, int64_t each,
                     void (*task)(void *arg, int64_t i)) {
    const int64_t threads = (double)all * (double)each < 1 << 15 ? 1 : tn_threads();
    j->width = (all / threads / SPMM_LANES + 1) * SPMM_LANES;
    tni_parallel(f->block->context, (all + j->width - 1) / j->width, task, j);
}

/* --- checks ----------------------------------------------------------------------------------- */

static bool spmm_check(tn_frame *f, const tn_tensor *x, const tn_tensor *y, const char *name) {
    const tn_tensor *indices = f->in[0];
    if (indices->ndim != 2 || indices->size[0] != 2)
        return tn_fail(f, TN_INVALID, "expected indices of shape (2, n)");
    if (!tni_index_dtype(f, indices, name)) return false;
    if ((x->dtype != TN_F32 && x->dtype != TN_F64) || x->dtype != y->dtype)
        return tn_fail(f, TN_TYPE,
                       "expected two tensors of float32, or two of float64, but got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(y->dtype)->text);
    return true;
}
static bool spmm_range(tn_frame *f, int64_t rows, int64_t columns) {
    const tn_tensor *indices = f->in[0];
    for (int64_t d = 0; indices->numel && d < 2; d++)
        for (int64_t i = 0; i < indices->size[1]; i++) {
            const int64_t k = spmm_index(indices, d, i), size = d ? columns : rows;
            if (tni_stopped_at(i)) return false;
            if (k < 0 || k >= size)
                return tn_fail(f, TN_INDEX, "index %lld is out of range for dim %lld of size %lld",
                               (long long)k, (long long)d, (long long)size);
        }
    return true;
}
/* n elements, each with a row of m numbers. */
static spmm_job spmm_job_of(const tn_frame *f, int64_t n, int64_t m) {
    spmm_job j;
    memset(&j, 0, sizeof j);
    j.indices = f->in[0];
    j.x = spmm_of(f->in[1]);
    j.y = spmm_of(f->in[2]);
    j.out = tni_bytes_at(f->out[0]);
    j.n = n;
    j.m = m;
    j.dtype = f->out[0]->dtype;
    return j;
}
/* The indices of the transpose. */
static tn_tensor *spmm_turned(tn_tensor *indices) {
    const int64_t first = 0;
    return tnp_flip(indices, tni_ints(&first, 1));
}

/* --- products --------------------------------------------------------------------------------- */

static bool sparse_product_check(tn_frame *f) {
    TN_ARGS(sparse_product, a, f);
    const tn_tensor *values = f->in[1], *dense = f->in[2];
    int64_t size[2], numel;
    if (!spmm_check(f, values, dense, "sparse_product")) return false;
    if (values->ndim != 1 || values->size[0] != f->in[0]->size[1])
        return tn_fail(f, TN_INVALID, "expected as many values as there are indices");
    if (dense->ndim != 2) return tn_fail(f, TN_INVALID, "expected a matrix as argument 'dense'");
    size[0] = a->rows;
    size[1] = dense->size[1];
    if (!tni_numel_of(2, size, &numel))
        return tn_fail(f, TN_INVALID, "rows is negative or too large");
    return tn_announce(f, 0, (tn_dtype)dense->dtype, 2, size);
}
static bool sparse_product_look(tn_frame *f) {
    TN_ARGS(sparse_product, a, f);
    return spmm_range(f, a->rows, f->in[2]->size[0]);
}
static void sparse_product_run(tn_frame *f) {
    spmm_job j = spmm_job_of(f, f->in[1]->numel, f->out[0]->size[1]);
    if (!f->out[0]->numel) return;
    j.rows = f->out[0]->size[0];
    spmm_run(f, &j, j.m, j.n, spmm_product_task);
}
static void sparse_product_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[1]) tn_give(g, 1, tnp_sparse_dots(g->in[0], d, g->in[2]));
    if (g->want[2])
        tn_give(g, 2, tnp_sparse_product(spmm_turned(g->in[0]), g->in[1], g->in[2]->size[0], d));
}
/* The product of a sparse matrix of that many rows and a dense one, on the CPU; see sparse_mm. */
TN_OPERATOR(sparse_product,
            "sparse_product(Tensor indices, Tensor values, int rows, Tensor dense) -> Tensor",
            TN_DOC(.shapes = "indices (2, n), values (n), dense (k, m), both float32 or float64 -> "
                             "(rows, m)",
                   .example = "tn_sparse_product(index, v, 4, x)",
                   .differs = "signature: torch's is sparse.mm of sparse tensors"),
            .needs = "values:indices values:dense dense:indices dense:values",
            .check = sparse_product_check, .look = sparse_product_look, .run = sparse_product_run,
            .grad = sparse_product_grad,
            .sample = "(2,7):i64<3 (7) 3 (3,4) | (2,35):i64<6 (35) 6 (6,35) | (2,0):i64<3 (0) 3 "
                      "(3,4) | (2,5):i32<2 (5) 4 (2,0) | (2,9):i64<3 (9) 3 (3,70)")

static bool sparse_dots_check(tn_frame *f) {
    const tn_tensor *x = f->in[1], *y = f->in[2];
    int64_t size[1];
    if (!spmm_check(f, x, y, "sparse_dots")) return false;
    if (x->ndim != 2 || y->ndim != 2 || x->size[1] != y->size[1])
        return tn_fail(f, TN_INVALID, "expected two matrices with as many columns");
    size[0] = f->in[0]->size[1];
    return tn_announce(f, 0, (tn_dtype)x->dtype, 1, size);
}
static bool sparse_dots_look(tn_frame *f) {
    return spmm_range(f, f->in[1]->size[0], f->in[2]->size[0]);
}
static void sparse_dots_run(tn_frame *f) {
    spmm_job j = spmm_job_of(f, f->out[0]->numel, f->in[1]->size[1]);
    if (!f->out[0]->numel) return;
    spmm_run(f, &j, j.n, j.m, spmm_dots_task);
}
static void sparse_dots_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[1]) tn_give(g, 1, tnp_sparse_product(g->in[0], d, g->in[1]->size[0], g->in[2]));
    if (g->want[2])
        tn_give(g, 2, tnp_sparse_product(spmm_turned(g->in[0]), d, g->in[2]->size[0], g->in[1]));
}
/* The elements of x y^T at the places in indices, on the CPU: the gradient of values in
 * sparse_product. */
TN_OPERATOR(
    sparse_dots, "sparse_dots(Tensor indices, Tensor x, Tensor y) -> Tensor",
    TN_DOC(.shapes = "indices (2, n), x (rows, m), y (k, m), both float32 or float64 -> (n)",
           .example = "tn_sparse_dots(index, x, y)",
           .differs = "signature: torch's is sparse.sampled_addmm"),
    .needs = "x:indices x:y y:indices y:x", .check = sparse_dots_check, .look = sparse_dots_look,
    .run = sparse_dots_run, .grad = sparse_dots_grad,
    .sample = "(2,7):i64<3 (3,4) (3,4) | (2,35):i64<6 (6,35) (6,35) | (2,0):i64<3 (3,4) (5,4) "
              "| (2,5):i32<2 (4,0) (2,0) | (2,3):i64<2 (2,9) (2,9)")
