/* cumulative.c - running sums and products along one dimension, and linear recurrences.
 *
 * Each sequence is one chain in the order of its elements (scan.h); so threads change no bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "scan.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Sequences of one column each go CUM_APART at a time, because the next sum of a chain waits for
 * the one before. Those that go through the buffer have a part of it each. */
enum { CUM_APART = 4, CUM_PART = (int)TNI_SCAN_ROOM / CUM_APART, CUM_WIDE = 16 };

/* How elements reach the sums: as they lie in x and y, or through the buffer. */
typedef struct cum_way {
    const void *x;
    void *y;
    int64_t step; /* elements from sequence to sequence, or from row to row */
} cum_way;

/* cum_NAME_chains: `rows` elements of each of `lines` sequences; state holds what comes before them
 * and takes what they give. cum_NAME_rows: of m columns side by side, row by row. */
#define CUM_SCAN(name, type, field, expression)                                           \
    static void cum_##name##_chains(const cum_way *w, int64_t rows, int64_t lines,        \
                                    tni_scan_cell *state) {                               \
        const int64_t step = w->step, apart = lines == CUM_APART ? CUM_APART : 1;         \
        for (int64_t l = 0; l < lines; l += apart, state += apart) {                      \
            const type *x = (const type *)w->x + l * step;                                \
            type *y = (type *)w->y + l * step;                                            \
            tni_scan_cell a = state[0], b = a, c = a, d = a;                              \
            if (apart == 1) {                                                             \
                for (int64_t i = 0; i < rows; i++)                                        \
                    y[i] = (type)(a.field = expression(a.field, x[i]));                   \
                state[0] = a;                                                             \
                continue;                                                                 \
            }                                                                             \
            b = state[1], c = state[2], d = state[3];                                     \
            for (int64_t i = 0; i < rows; i++) {                                          \
                y[i] = (type)(a.field = expression(a.field, x[i]));                       \
                y[i + step] = (type)(b.field = expression(b.field, x[i + step]));         \
                y[i + 2 * step] = (type)(c.field = expression(c.field, x[i + 2 * step])); \
                y[i + 3 * step] = (type)(d.field = expression(d.field, x[i + 3 * step])); \
            }                                                                             \
            state[0] = a, state[1] = b, state[2] = c, state[3] = d;                       \
        }                                                                                 \
    }                                                                                     \
    static void cum_##name##_rows(const cum_way *w, int64_t rows, int64_t m,              \
                                  tni_scan_cell *state) {                                 \
        const type *x = (const type *)w->x;                                               \
        type *y = (type *)w->y;                                                           \
        for (int64_t r = 0; r < rows; r++, x += w->step, y += w->step)                    \
            for (int64_t c = 0; c < m; c++)                                               \
                y[c] = (type)(state[c].field = expression(state[c].field, x[c]));         \
    }
#define CUM_PLUS(a, b) ((a) + (b))
#define CUM_TIMES(a, b) ((a) * (b))
/* Integers wrap, as unsigned ones do by definition. */
#define CUM_PLUS_WRAPS(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define CUM_TIMES_WRAPS(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
CUM_SCAN(sum_f32, float, d, CUM_PLUS)
CUM_SCAN(sum_f64, double, d, CUM_PLUS)
CUM_SCAN(sum_i64, int64_t, k, CUM_PLUS_WRAPS)
CUM_SCAN(prod_f32, float, d, CUM_TIMES)
CUM_SCAN(prod_f64, double, d, CUM_TIMES)
CUM_SCAN(prod_i64, int64_t, k, CUM_TIMES_WRAPS)
#undef CUM_SCAN
#undef CUM_PLUS
#undef CUM_TIMES
#undef CUM_PLUS_WRAPS
#undef CUM_TIMES_WRAPS

typedef void (*cum_loop)(const cum_way *, int64_t, int64_t, tni_scan_cell *);
/* By the dtype of the elements, then sums and products; chains, then rows. */
static const cum_loop cum_loops[3][2][2] = {
    {{cum_sum_f32_chains, cum_sum_f32_rows}, {cum_prod_f32_chains, cum_prod_f32_rows}},
    {{cum_sum_f64_chains, cum_sum_f64_rows}, {cum_prod_f64_chains, cum_prod_f64_rows}},
    {{cum_sum_i64_chains, cum_sum_i64_rows}, {cum_prod_i64_chains, cum_prod_i64_rows}}};

/* Complex numbers in the buffer: products of two cells with the two above. */
static void cum_prod_pairs(tni_scan_cell *x, int64_t rows, int64_t m, tni_scan_cell *state) {
    for (int64_t r = 0; r < rows; r++, x += m)
        for (int64_t c = 0; c < m; c += 2) {
            double a[2] = {state[c].d, state[c + 1].d};
            const double b[2] = {x[c].d, x[c + 1].d};
            tni_complex_times(a, b);
            for (int k = 0; k < 2; k++) x[c + k].d = state[c + k].d = a[k];
        }
}

/* 0 or 1, with which a sum or a product begins. */
static void cum_begin(const tni_scan *j, tni_scan_cell *state, int64_t m) {
    for (int64_t c = 0; c < m; c++)
        if (j->compute == TN_I64)
            state[c].k = j->product;
        else
            state[c].d = j->product && !(j->pairs && c % 2);
}

/* The loop for elements of this dtype; NULL: they go through the buffer. */
static cum_loop cum_loop_of(const tni_scan *j, int dtype, bool rows) {
    const int t = dtype == TN_F32 ? 0 : dtype == TN_F64 ? 1 : dtype == TN_I64 ? 2 : -1;
    return t < 0 || (j->product && j->pairs) ? NULL : cum_loops[t][j->product][rows];
}
/* The sequences of part p of one column each, or, side by side in the rows of a tensor, of several:
 * read and written where they lie. */
static void cum_in_place(const tni_scan *j, const tni_scan_part *p, cum_loop loop) {
    const bool chains = j->inner == 1;
    const int64_t bytes = tni_dtype(j->from)->bytes, most = chains ? (int64_t)CUM_PART : p->rows;
    tni_scan_cell state[TNI_SCAN_COLUMNS];
    cum_begin(j, state, chains ? (int64_t)CUM_APART : p->m);
    for (int64_t r = 0; r < j->n && !tni_stopped(); r += most) {
        const int64_t at = (p->at + r * j->inner) * bytes;
        const cum_way w = {j->x + at, j->y + at, chains ? j->n : j->inner};
        loop(&w, j->n - r < most ? j->n - r : most, p->m, state);
    }
}
/* Sequences of one column, apart from each other in the buffer. */
static void cum_task_apart(const tni_scan *j, const tni_scan_part *p) {
    tni_scan_cell x[TNI_SCAN_ROOM], state[CUM_APART];
    const tni_kernels *k = j->context->kernels;
    const cum_way w = {x, x, CUM_PART};
    const int64_t bytes = tni_dtype(j->from)->bytes, out = tni_dtype(j->to)->bytes;
    cum_begin(j, state, CUM_APART);
    for (int64_t r = 0; r < j->n && !tni_stopped(); r += CUM_PART) {
        const int64_t rows = j->n - r < CUM_PART ? j->n - r : (int64_t)CUM_PART;
        for (int64_t l = 0; l < p->beside; l++)
            tni_lanes_read(k, x + l * CUM_PART, j->compute, j->x + (p->at + l * j->n + r) * bytes,
                           bytes, j->from, rows);
        cum_loop_of(j, j->compute, false)(&w, rows, p->beside, state);
        for (int64_t l = 0; l < p->beside; l++)
            tni_lanes_write(k, j->y + (p->at + l * j->n + r) * out, out, j->to, x + l * CUM_PART,
                            j->compute, rows);
    }
}
/* Rows of columns in the buffer. */
static void cum_task_columns(const tni_scan *j, const tni_scan_part *p) {
    tni_scan_cell x[TNI_SCAN_ROOM], state[TNI_SCAN_COLUMNS];
    const cum_loop loop = cum_loop_of(j, j->compute, true);
    const cum_way w = {x, x, p->m};
    cum_begin(j, state, p->m);
    for (int64_t r = 0; r < j->n && !tni_stopped(); r += p->rows) {
        const int64_t rows = j->n - r < p->rows ? j->n - r : p->rows;
        tni_scan_load(j, p, j->x, r, rows, x);
        if (loop)
            loop(&w, rows, p->m, state);
        else
            cum_prod_pairs(x, rows, p->m, state);
        tni_scan_save(j, p, r, rows, x);
    }
}
/* Accumulators are f64 or int64, rounded at each element, as torch does it. */
static void cum_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    const cum_loop loop = j->from == j->to ? cum_loop_of(j, j->from, j->inner > 1) : NULL;
    if (loop && (j->inner == 1 || p.beside == 1)) {
        TNI_PATH(cum_in_place);
        cum_in_place(j, &p, loop);
    } else if (j->inner == 1) {
        TNI_PATH(cum_apart);
        cum_task_apart(j, &p);
    } else {
        TNI_PATH(cum_columns);
        cum_task_columns(j, &p);
    }
}
static void cum_run(tn_frame *f, int64_t dim, bool product) {
    const tn_tensor *x = f->in[0];
    tni_scan j;
    if (!x->numel) return;
    tni_scan_plan(f, &j, x, NULL, dim, CUM_WIDE);
    if (j.inner == 1) j.beside = CUM_APART;
    j.product = product;
    tni_scan_run(&j, cum_task);
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
static void cumsum_run(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    cum_run(f, a->dim, false);
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
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_cumsum(x, 0)"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CUDA, .check = cumsum_check,
            .run = cumsum_run, .grad = cumsum_grad,
            .sample = "(5) 0 | (2,3,4) 1 | (3,70) -1 | (70,130) 0 | () 0 | (0,3) 0 | (4,5):i32 1 | "
                      "(4):bool 0 | (3,4):f16 1 | (2,3):c64 1 | "
                      "(3) 0 dtype=float64 | (5,520) 1")

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
    cum_run(f, a->dim, true);
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
            .forms = TN_OUT | TN_INPLACE | TN_LEADING, .autocast = TN_WIDE_CUDA,
            .needs = "self:self,result", .check = cumprod_check, .run = cumprod_run,
            .grad = cumprod_grad,
            .sample = "(5) 0 | (2,3,4) 1 | (3,70) -1 | (70,130) 0 | () 0 | (0,3) 0 | (4,5):i32 1 | "
                      "(4):bool 0 | (3,4):f16 1 | (2,3):c64 1 | (4,40):c64 0 | (1,3) 0 | "
                      "(3) 0 dtype=float64 | (40):i64 0 | (5,520) 1")

/* Rows of m columns in order, or backwards: row = row + factor (row before); of the first one, the
 * row before is absent. state holds the row before. Products are rounded before they are added. */
#include "../../base/rounded_begin.inl"
static TNI_NOINLINE void recurrence_rows(const tni_scan *j, tni_scan_cell *x,
                                         const tni_scan_cell *factor, int64_t rows, int64_t m,
                                         bool begins, double *state) {
    for (int64_t k = 0; k < rows; k++) {
        tni_scan_cell *row = x + (j->reverse ? rows - 1 - k : k) * m;
        const tni_scan_cell *by = factor + (row - x);
        if (begins && k == 0)
            for (int64_t c = 0; c < m; c++) state[c] = row[c].d;
        else if (j->pairs)
            for (int64_t c = 0; c < m; c += 2) {
                const double re = state[c], im = state[c + 1], x_re = by[c].d, x_im = by[c + 1].d;
                row[c].d = state[c] = fma(re, x_re, -(im * x_im)) + row[c].d;
                row[c + 1].d = state[c + 1] = fma(re, x_im, im * x_re) + row[c + 1].d;
            }
        else
            for (int64_t c = 0; c < m; c++) row[c].d = state[c] = state[c] * by[c].d + row[c].d;
    }
}
#include "../../base/rounded_end.inl"
static void recurrence_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    tni_scan_cell x[TNI_SCAN_ROOM], factor[TNI_SCAN_ROOM];
    double state[TNI_SCAN_COLUMNS];
    for (int64_t done = 0, rows; done < j->n && !tni_stopped(); done += rows) {
        rows = j->n - done < p.rows ? j->n - done : p.rows;
        /* Backwards, a row is multiplied by the factor of the row after it; the last has none. */
        const int64_t first = j->reverse ? j->n - done - rows : done;
        tni_scan_load(j, &p, j->x, first, rows, x);
        if (j->reverse)
            tni_scan_load(j, &p, j->factor, first + 1, rows - !done, factor);
        else
            tni_scan_load(j, &p, j->factor, first, rows, factor);
        recurrence_rows(j, x, factor, rows, p.m, !done, state);
        tni_scan_save(j, &p, first, rows, x);
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
    tni_scan j;
    if (!f->in[0]->numel) return;
    tni_scan_plan(f, &j, f->in[0], f->in[1], a->dim, CUM_WIDE);
    j.reverse = a->reverse;
    tni_scan_run(&j, recurrence_task);
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
            .forms = TN_OUT | TN_LEADING, .needs = "input:factor factor:factor,result",
            .check = linear_recurrence_check, .run = linear_recurrence_run,
            .grad = linear_recurrence_grad,
            .sample = "(5) (5) 0 | (2,3,4) (2,3,4) 1 True | (3,70) (3,70) -1 reverse=True | "
                      "(20,130) (20,130) 0 | () () 0 | (0,3) (0,3) 0 | (3,0) (3,0) 0 True | "
                      "(1,3) (1,3) 0 True | (2,3):c64 (2,3):c64 1 | (4,40):c64 (4,40):c64 0 True | "
                      "(3,4):f16 (3,4):f16 1")
