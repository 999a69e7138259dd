/* cumulative.c - running sums and products along one dimension, and linear recurrences.
 *
 * A tensor is outer x n x inner about its dimension. Each of the outer x inner sequences is
 * one chain in the order of its elements, CUM_COLUMNS neighbours side by side; so threads
 * change no bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

enum { CUM_COLUMNS = 64 };

typedef struct cum_job {
    tn_context *context;
    const char *x, *factor; /* dense; factor: of a recurrence */
    char *y;
    int from, to; /* dtypes, of the real parts */
    int64_t n, inner, chunks;
    bool pairs, reverse; /* complex numbers; from the last element on */
} cum_job;

/* The columns of task i, at most CUM_COLUMNS: how many; *at: the first element. */
static int64_t cum_columns(const cum_job *j, int64_t i, int64_t *at) {
    int64_t c = i % j->chunks * CUM_COLUMNS;
    *at = i / j->chunks * j->n * j->inner + c;
    return j->inner - c < CUM_COLUMNS ? j->inner - c : (int64_t)CUM_COLUMNS;
}

/* Accumulators are f64 or int64, rounded at each element, as torch does it. */
static void cumsum_task(void *arg, int64_t i) {
    const cum_job *j = (const cum_job *)arg;
    int64_t at, m = cum_columns(j, i, &at), bytes = tni_dtype(j->from)->bytes,
                out = tni_dtype(j->to)->bytes;
    double sum[CUM_COLUMNS], row[CUM_COLUMNS];
    int compute = tni_is_float(j->to) ? TN_F64 : TN_I64;
    /* m columns go down together, row by row. */
    memset(sum, 0, (size_t)m * sizeof *sum);
    for (int64_t r = 0; r < j->n && !tni_stopped(); r++, at += j->inner) {
        tni_lanes_load(row, compute, j->x + at * bytes, bytes, j->from, m);
        tni_reduce_rows(j->context->kernels, &tni_sum, compute, row, 0, 1, m, sum);
        tni_lanes_save(j->y + at * out, out, j->to, sum, compute, m);
    }
}

/* The dtype of a running sum or product of x where none is asked for. */
static tn_dtype cum_dtype(const tn_tensor *x) {
    return tni_dtype(x->dtype)->category <= TNI_CAT_INT ? TN_I64 : (tn_dtype)x->dtype;
}
static bool cum_check(tn_frame *f, const tn_tensor *x, int64_t dim, tn_dtype dtype) {
    int d;
    if (dtype == TN_BOOL || !tni_dtype(x->dtype)->computes || !tni_dtype((int)dtype)->computes ||
        tni_is_complex(x->dtype) != tni_is_complex((int)dtype))
        return tn_fail(f, TN_TYPE, "cannot convert from %s to %s; convert the input first",
                       tni_dtype(x->dtype)->text, tni_dtype((int)dtype)->text);
    return tni_dim_of(f, x->ndim, dim, &d) && tn_announce(f, 0, dtype, x->ndim, x->size) &&
           tni_dense_scratch(f, x);
}
static bool cumsum_check(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    return cum_check(f, a->self, a->dim, a->dtype ? a->dtype : cum_dtype(a->self));
}
/* task over x along dim, with factor (or NULL) beside it. */
static void cum_start(tn_frame *f, const tn_tensor *x, const tn_tensor *factor, int64_t dim,
                      bool reverse, void (*task)(void *, int64_t)) {
    char *room = (char *)f->scratch;
    int d = tni_dim(x->ndim, dim);
    int64_t outer = 1;
    cum_job j;
    if (!x->numel) return;
    /* Of a complex tensor, inner counts real parts and imaginary ones. */
    j.context = f->block->context;
    j.x = tni_dense(f, x, &room);
    j.factor = tni_dense(f, factor, &room);
    j.y = tni_bytes_at(f->out[0]);
    j.pairs = tni_is_complex(x->dtype);
    j.from = j.pairs ? (int)tni_real_of(x->dtype) : x->dtype;
    j.to = j.pairs ? (int)tni_real_of(f->out[0]->dtype) : f->out[0]->dtype;
    j.reverse = reverse;
    j.n = x->ndim ? x->size[d] : 1;
    j.inner = j.pairs ? 2 : 1;
    /* Sizes before d make outer, those behind it inner. */
    for (int e = 0; e < x->ndim; e++)
        if (e < d)
            outer *= x->size[e];
        else if (e > d)
            j.inner *= x->size[e];
    j.chunks = (j.inner + CUM_COLUMNS - 1) / CUM_COLUMNS;
    tni_lanes_spread(j.context, outer * j.chunks, x->numel, task, &j);
}

static void cumsum_run(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    cum_start(f, a->self, NULL, a->dim, false, cumsum_task);
}
static void cumsum_grad(tn_gradient *g) { /* sums from the other end */
    TN_ARGS(cumsum, a, g);
    tn_ints dim = tni_ints(&a->dim, 1);
    if (a->self->ndim)
        tn_give(g, 0,
                tnp_flip(tnp_cumsum(tnp_flip(g->incoming[0], dim), a->dim, TN_NO_DTYPE), dim));
    else
        tn_give(g, 0, g->incoming[0]);
}
/* y_i = x_0 + ... + x_i along dim. Integers and bool are summed in int64. */
TN_OPERATOR(cumsum, "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_cumsum(x, 0)"), .forms = TN_OUT,
            .check = cumsum_check, .run = cumsum_run, .grad = cumsum_grad,
            .sample = "(5) 0 | (2,3,4) 1 | (3,70) -1 | (70,130) 0 | () 0 | (0,3) 0 | (4,5):i32 1 | "
                      "(4):bool 0 | (3,4):f16 1 | (2,3):c64 1 | "
                      "(3) 0 dtype=float64")

/* to[k] *= row[k] for m numbers, two of them a complex one in pairs. */
static void cum_times(const cum_job *j, int compute, double *to, const double *row, int64_t m) {
    if (!j->pairs)
        tni_reduce_rows(j->context->kernels, &tni_prod, compute, row, 0, 1, m, to);
    else
        for (int64_t k = 0; k < m; k += 2) tni_complex_times(to + k, row + k);
}

static void cumprod_task(void *arg, int64_t i) {
    const cum_job *j = (const cum_job *)arg;
    int64_t at, m = cum_columns(j, i, &at), bytes = tni_dtype(j->from)->bytes,
                out = tni_dtype(j->to)->bytes;
    double product[CUM_COLUMNS], row[CUM_COLUMNS];
    int compute = tni_is_float(j->to) ? TN_F64 : TN_I64;
    tni_fill_lanes(product, compute, 1, m);
    /* 1 as a complex number: imaginary parts begin at 0. */
    for (int64_t k = 1; j->pairs && k < m; k += 2) product[k] = 0;
    for (int64_t r = 0; r < j->n && !tni_stopped(); r++, at += j->inner) {
        tni_lanes_load(row, compute, j->x + at * bytes, bytes, j->from, m);
        cum_times(j, compute, product, row, m);
        tni_lanes_save(j->y + at * out, out, j->to, product, compute, m);
    }
}

/* In the dtype of the tensor that is written, if one is given, as in torch. */
static bool cumprod_check(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    const tn_tensor *x = a->self;
    tn_dtype dtype = a->dtype ? a->dtype : f->ngiven ? (tn_dtype)f->given[0]->dtype : cum_dtype(x);
    if (f->inplace && (int)dtype != x->dtype)
        return tn_fail(f, TN_TYPE,
                       "Bad in-place call: input tensor dtype %s and output tensor dtype %s should "
                       "match",
                       tni_dtype(x->dtype)->text, tni_dtype((int)dtype)->text);
    return cum_check(f, x, a->dim, dtype);
}
static void cumprod_run(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    cum_start(f, a->self, NULL, a->dim, false, cumprod_task);
}
/* t one step further along dim, `first` before it. */
static tn_tensor *cum_shifted(tn_tensor *t, int64_t dim, int64_t first) {
    tn_tensor *pair[2];
    if (!t || !t->numel) return t;
    if (!t->ndim) return tnp_full_like(t, tn_int(first), TN_NO_DTYPE, TN_NO_DEVICE);
    pair[0] = tnp_full_like(tnp_slice(t, dim, 0, 1, 1), tn_int(first), TN_NO_DTYPE, TN_NO_DEVICE);
    pair[1] = tnp_slice(t, dim, 0, t->size[tni_dim(t->ndim, dim)] - 1, 1);
    return pair[0] && pair[1] ? tnp_cat(tn_tensors_of(pair, 2), dim) : NULL;
}
static tn_tensor *cum_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }
/* dx_i = y_(i-1) s_i with s_i = dy_i + x_(i+1) s_(i+1): no division, so zeros are like others. */
static void cumprod_grad(tn_gradient *g) {
    TN_ARGS(cumprod, a, g);
    tn_tensor *d = g->incoming[0], *x = g->in[0], *sums;
    /* The gradient has the dtype of the result, which may be wider than x's. */
    if (d && x->dtype != d->dtype) x = tnp_to_dtype(x, (tn_dtype)d->dtype, false, false);
    sums = tnp_linear_recurrence(d, cum_conj(x), a->dim, true);
    tn_give(g, 0, tnp_mul(cum_conj(cum_shifted(g->out[0], a->dim, 1)), sums));
}
/* y_i = x_0 * ... * x_i along dim. Integers and bool are multiplied in int64, or in the dtype of
 * the tensor that is written. */
TN_OPERATOR(cumprod, "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_cumprod(x, 0)"),
            .forms = TN_OUT | TN_INPLACE, .needs = "self:self,result", .check = cumprod_check,
            .run = cumprod_run, .grad = cumprod_grad,
            .sample = "(5) 0 | (2,3,4) 1 | (3,70) -1 | (70,130) 0 | () 0 | (0,3) 0 | (4,5):i32 1 | "
                      "(4):bool 0 | (3,4):f16 1 | (2,3):c64 1 | (4,40):c64 0 | (1,3) 0 | "
                      "(3) 0 dtype=float64 | (40):i64 0")

static void recurrence_task(void *arg, int64_t i) {
    const cum_job *j = (const cum_job *)arg;
    int64_t at, m = cum_columns(j, i, &at), bytes = tni_dtype(j->from)->bytes;
    /* Backwards from the last row, each multiplied by the factor of the row after it. */
    const int64_t step = j->reverse ? -j->inner : j->inner;
    const char *factors = j->reverse ? j->factor + j->inner * bytes : j->factor;
    double sum[CUM_COLUMNS], row[CUM_COLUMNS], factor[CUM_COLUMNS];
    if (j->reverse) at += (j->n - 1) * j->inner;
    for (int64_t r = 0; r < j->n && !tni_stopped(); r++, at += step) {
        tni_lanes_load(row, TN_F64, j->x + at * bytes, bytes, j->from, m);
        /* sum = row + factor sum; the first row is taken as it is. */
        if (r) {
            tni_lanes_load(factor, TN_F64, factors + at * bytes, bytes, j->from, m);
            cum_times(j, TN_F64, sum, factor, m);
            tni_reduce_rows(j->context->kernels, &tni_sum, TN_F64, row, 0, 1, m, sum);
        } else
            memcpy(sum, row, (size_t)m * sizeof *sum);
        tni_lanes_save(j->y + at * bytes, bytes, j->to, sum, TN_F64, m);
    }
}

static bool linear_recurrence_check(tn_frame *f) {
    TN_ARGS(linear_recurrence, a, f);
    /* Both have one shape and one floating dtype. */
    const tn_tensor *x = f->in[0], *factor = f->in[1];
    char has[128], wants[128];
    int d;
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT || !tni_dtype(x->dtype)->computes ||
        factor->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "expected two tensors of one floating dtype, got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(factor->dtype)->text);
    if (!tni_same_shape(x, factor))
        return tn_fail(f, TN_INVALID, "factor has shape %s, but input has shape %s",
                       tni_shape_text(has, sizeof has, factor->ndim, factor->size),
                       tni_shape_text(wants, sizeof wants, x->ndim, x->size));
    return tni_dim_of(f, x->ndim, a->dim, &d) &&
           tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size) && tni_dense_scratch(f, x) &&
           tni_dense_scratch(f, factor);
}
static void linear_recurrence_run(tn_frame *f) {
    TN_ARGS(linear_recurrence, a, f);
    cum_start(f, f->in[0], f->in[1], a->dim, a->reverse, recurrence_task);
}
/* The two directions are each other's gradient for input; a factor's is what came in over it times
 * the y that it was multiplied with. */
static void linear_recurrence_grad(tn_gradient *g) {
    TN_ARGS(linear_recurrence, a, g);
    tn_tensor *d = tnp_linear_recurrence(g->incoming[0], cum_conj(g->in[1]), a->dim, !a->reverse);
    if (g->want[0]) tn_give(g, 0, d);
    if (!g->want[1]) return;
    if (a->reverse)
        tn_give(g, 1, tnp_mul(cum_shifted(d, a->dim, 0), cum_conj(g->out[0])));
    else
        tn_give(g, 1, tnp_mul(d, cum_conj(cum_shifted(g->out[0], a->dim, 0))));
}
/* y_i = input_i + factor_i y_(i-1) along dim; with reverse y_i = input_i + factor_(i+1) y_(i+1).
 * The first element (with reverse the last) is that of input. */
TN_OPERATOR(linear_recurrence,
            "linear_recurrence(Tensor input, Tensor factor, int dim, bool reverse=False) -> Tensor",
            TN_DOC(.shapes = "input (*), factor (*) -> (*), floating",
                   .example = "tn_linear_recurrence(x, y, 0)"),
            .forms = TN_OUT, .needs = "input:factor factor:factor,result",
            .check = linear_recurrence_check, .run = linear_recurrence_run,
            .grad = linear_recurrence_grad,
            .sample = "(5) (5) 0 | (2,3,4) (2,3,4) 1 True | (3,70) (3,70) -1 reverse=True | "
                      "(20,130) (20,130) 0 | () () 0 | (0,3) (0,3) 0 | (3,0) (3,0) 0 True | "
                      "(1,3) (1,3) 0 True | (2,3):c64 (2,3):c64 1 | (4,40):c64 (4,40):c64 0 True | "
                      "(3,4):f16 (3,4):f16 1")
