/* running.c - running extrema with their places, and running log-sums of exponentials, along one
 * dimension.
 *
 * Each sequence is one chain in the order of its elements (scan.h); so threads change no bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "reduction.h"
#include "scan.h"
#include "../../call/arguments.h"
#include "../elementwise/gradients.h"
#include "../../gen/rows.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- extrema ---------------------------------------------------------------------------------- */

enum { RUN_WIDE = 8, RUN_PART = 512 }; /* sequences of one column that a task takes side by side */

/* run_NAME_chain: `rows` elements x of one sequence, the first of which has index `first`, to y and
 * their places; best and at come from the elements before and are left for those behind. A new
 * extremum is rare, so a branch is faster than a choice. Of equal elements the last one counts, and
 * each NaN takes the place of all before, as in torch. */
#define RUN_CHAIN(name, type, field, beats)                                                   \
    static void run_##name##_chain(const void *from, void *to, int64_t *place, int64_t first, \
                                   int64_t rows, tni_scan_cell *best, int64_t *at) {          \
        const type *x = (const type *)from;                                                   \
        type *y = (type *)to, v = (type)best->field;                                          \
        int64_t k = *at;                                                                      \
        for (int64_t r = 0; r < rows; r++) {                                                  \
            if (beats(x[r], v)) {                                                             \
                v = x[r];                                                                     \
                k = first + r;                                                                \
            }                                                                                 \
            y[r] = v;                                                                         \
            place[r] = k;                                                                     \
        }                                                                                     \
        best->field = v;                                                                      \
        *at = k;                                                                              \
    }
/* Rows of m columns: value and place of the extremum so far, which the row before has. */
#define RUN_ROWS(name, field, beats)                                                            \
    static void run_##name(tni_scan_cell *x, tni_scan_cell *place, int64_t first, int64_t rows, \
                           int64_t m) {                                                         \
        for (int64_t r = 0, i = 0; r < rows; r++)                                               \
            for (int64_t c = 0; c < m; c++, i++) {                                              \
                const tni_scan_cell v = x[i], best = x[i - m];                                  \
                const bool wins = beats(v.field, best.field);                                   \
                x[i] = wins ? v : best;                                                         \
                place[i].k = wins ? first + r : place[i - m].k;                                 \
            }                                                                                   \
    }
#define RUN_ABOVE(v, best) ((v) >= (best) || (v) != (v))
#define RUN_BELOW(v, best) ((v) <= (best) || (v) != (v))
RUN_CHAIN(max_f32, float, d, RUN_ABOVE)
RUN_CHAIN(min_f32, float, d, RUN_BELOW)
RUN_CHAIN(max_f64, double, d, RUN_ABOVE)
RUN_CHAIN(min_f64, double, d, RUN_BELOW)
RUN_CHAIN(max_i64, int64_t, k, RUN_ABOVE)
RUN_CHAIN(min_i64, int64_t, k, RUN_BELOW)
RUN_ROWS(max_f64, d, RUN_ABOVE)
RUN_ROWS(min_f64, d, RUN_BELOW)
RUN_ROWS(max_i64, k, RUN_ABOVE)
RUN_ROWS(min_i64, k, RUN_BELOW)
#undef RUN_CHAIN
#undef RUN_ROWS
#undef RUN_ABOVE
#undef RUN_BELOW

typedef void (*run_chain)(const void *, void *, int64_t *, int64_t, int64_t, tni_scan_cell *,
                          int64_t *);
/* The chain of elements of this dtype; NULL: they go through a buffer. */
static run_chain run_chain_of(int dtype, bool least) {
    switch (dtype) {
    case TN_F32: return least ? run_min_f32_chain : run_max_f32_chain;
    case TN_F64: return least ? run_min_f64_chain : run_max_f64_chain;
    case TN_I64: return least ? run_min_i64_chain : run_max_i64_chain;
    default: return NULL;
    }
}
/* A sequence of one column, whose first element is `at`. */
static void extreme_line(const tni_scan *j, int64_t at) {
    const tni_kernels *k = j->context->kernels;
    const int64_t bytes = tni_dtype(j->from)->bytes;
    const run_chain there = run_chain_of(j->from, j->least),
                    chain = there ? there : run_chain_of(j->compute, j->least);
    const char *x = j->x + at * bytes;
    char *y = j->y + at * bytes;
    tni_scan_cell part[RUN_PART], best;
    int64_t place = 0;
    /* The first element wins against itself. */
    tni_lanes_read(k, &best, j->compute, x, bytes, j->from, 1);
    for (int64_t r = 0; r < j->n && !tni_stopped(); r += RUN_PART) {
        const int64_t rows = j->n - r < RUN_PART ? j->n - r : (int64_t)RUN_PART;
        if (there) {
            chain(x + r * bytes, y + r * bytes, j->index + at + r, r, rows, &best, &place);
            continue;
        }
        tni_lanes_read(k, part, j->compute, x + r * bytes, bytes, j->from, rows);
        chain(part, part, j->index + at + r, r, rows, &best, &place);
        tni_lanes_write(k, y + r * bytes, bytes, j->to, part, j->compute, rows);
    }
}
static void extreme_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    tni_scan_cell x[TNI_SCAN_ROOM + TNI_SCAN_COLUMNS], place[TNI_SCAN_ROOM + TNI_SCAN_COLUMNS];
    const size_t state = (size_t)p.m * sizeof *x;
    if (j->inner == 1) {
        TNI_PATH(running_apart);
        for (int64_t l = 0; l < p.beside; l++) extreme_line(j, p.at + l * j->n);
        return;
    }
    TNI_PATH(running_columns);
    /* Every first element wins against itself. */
    tni_scan_load(j, &p, j->x, 0, 1, x);
    memset(place, 0, state);
    for (int64_t r = 0, rows; r < j->n && !tni_stopped(); r += rows) {
        rows = j->n - r < p.rows ? j->n - r : p.rows;
        tni_scan_load(j, &p, j->x, r, rows, x + p.m);
        if (j->compute == TN_I64)
            (j->least ? run_min_i64 : run_max_i64)(x + p.m, place + p.m, r, rows, p.m);
        else
            (j->least ? run_min_f64 : run_max_f64)(x + p.m, place + p.m, r, rows, p.m);
        tni_scan_save(j, &p, r, rows, x + p.m);
        tni_scan_save_index(j, &p, r, rows, place + p.m);
        /* The last row is the next state. */
        memcpy(x, x + rows * p.m, state);
        memcpy(place, place + rows * p.m, state);
    }
}

static bool extreme_scan_check(tn_frame *f, int64_t dim) {
    const tn_tensor *x = f->in[0];
    int d;
    /* As torch, a complex number alone is taken, because nothing is compared. */
    if ((tni_is_complex(x->dtype) && x->ndim && x->numel) || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "numbers of dtype %s cannot be ordered",
                       tni_dtype(x->dtype)->text);
    return tni_dim_of(f, x->ndim, dim, &d) &&
           tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size) &&
           tn_announce(f, 1, TN_I64, x->ndim, x->size) && tni_dense_scratch(f, x);
}
static void extreme_scan_run(tn_frame *f, int64_t dim, bool least) {
    tni_scan j;
    if (!f->in[0]->numel) return;
    if (tni_is_complex(f->in[0]->dtype)) { /* one number */
        tni_copy_elements(f->block, f->out[0], f->in[0]);
        memset(tni_bytes_at(f->out[1]), 0, sizeof(int64_t));
        return;
    }
    tni_scan_plan(f, &j, f->in[0], NULL, dim, RUN_WIDE);
    j.index = (int64_t *)(void *)tni_bytes_at(f->out[1]);
    j.least = least;
    tni_scan_run(&j, extreme_task);
}
/* To the chosen elements, each as often as it was chosen. */
static void extreme_scan_grad(tn_gradient *g, int64_t dim) {
    tn_tensor *d = g->incoming[0], *x = g->in[0];
    if (!d) return;
    d = tnp_scatter_add(tnp_zeros_like(d, TN_NO_DTYPE, TN_NO_DEVICE), dim, g->out[1], d);
    tn_give(g, 0, x->ndim ? d : tnp_reshape(d, tni_sizes(x)));
}

static bool cummax_check(tn_frame *f) {
    TN_ARGS(cummax, a, f);
    return extreme_scan_check(f, a->dim);
}
static void cummax_run(tn_frame *f) {
    TN_ARGS(cummax, a, f);
    extreme_scan_run(f, a->dim, false);
}
static void cummax_grad(tn_gradient *g) {
    TN_ARGS(cummax, a, g);
    extreme_scan_grad(g, a->dim);
}
/* The largest of the elements up to each one along dim, and its index: of equal elements the last
 * one. From a NaN on, all are NaN. */
TN_OPERATOR(cummax, "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            TN_DOC(.shapes = "self (*) -> values, indices (*)",
                   .example = "tn_values_indices m = tn_cummax(x, 0);"),
            .forms = TN_OUT, .needs = "indices", .check = cummax_check, .run = cummax_run,
            .grad = cummax_grad,
            .sample =
                "(35) 0 | (2,3,4) 1 | (3,70) -1 | () 0 | (0,3) 0 | (70,130) 0 | (9,3,600) 2 | "
                "(40):i64<5 0 | (4,5):i32 1 | (9):bool 0 | (3,4):f16 1 | (5,3):u8<3 0")

static bool cummin_check(tn_frame *f) {
    TN_ARGS(cummin, a, f);
    return extreme_scan_check(f, a->dim);
}
static void cummin_run(tn_frame *f) {
    TN_ARGS(cummin, a, f);
    extreme_scan_run(f, a->dim, true);
}
static void cummin_grad(tn_gradient *g) {
    TN_ARGS(cummin, a, g);
    extreme_scan_grad(g, a->dim);
}
/* The smallest of the elements up to each one along dim, and its index: of equal elements the last
 * one. From a NaN on, all are NaN. */
TN_OPERATOR(cummin, "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            TN_DOC(.shapes = "self (*) -> values, indices (*)",
                   .example = "tn_values_indices m = tn_cummin(x, 0);"),
            .forms = TN_OUT, .needs = "indices", .check = cummin_check, .run = cummin_run,
            .grad = cummin_grad,
            .sample =
                "(35) 0 | (2,3,4) 1 | (3,70) -1 | () 0 | (0,3) 0 | (70,130) 0 | (9,3,600) 2 | "
                "(40):i64<5 0 | (4,5):i32 1 | (9):bool 0 | (3,4):f16 1 | (5,3):u8<3 0")

/* --- logcumsumexp ----------------------------------------------------------------------------- */

/* Complex numbers: row = log(e^(row before) + e^row), by the loop of logaddexp, one at a time. */
static void exponents_pairs(const tni_scan *j, const tni_scan_part *p) {
    const tni_kernels *k = j->context->kernels;
    const int64_t step[2] = {2 * sizeof(double), 2 * sizeof(double)};
    tni_scan_cell x[TNI_SCAN_ROOM], row[TNI_SCAN_COLUMNS];
    for (int64_t r = 0, rows; r < j->n && !tni_stopped(); r += rows) {
        rows = j->n - r < p->rows ? j->n - r : p->rows;
        tni_scan_load(j, p, j->x, r, rows, x);
        for (int64_t n = 0; n < rows; n++) {
            tni_scan_cell *at = x + n * p->m;
            const char *in[2] = {(const char *)row, (const char *)at};
            if (r || n)
                tni_loops_logaddexp[k->isa][TNI_IN_C128]((char *)row, in, step, p->m / 2, NULL);
            else
                memcpy(row, at, (size_t)p->m * sizeof *at);
            memcpy(at, row, (size_t)p->m * sizeof *at);
        }
        tni_scan_save(j, p, r, rows, x);
    }
}

/* What real numbers keep of a block of rows of m columns, behind the row before: the largest so far
 * and the sum of e^(x - largest); factor: what the sum before is multiplied with. Loops of whole
 * vectors compute what stands behind the block, too. */
enum { RUN_BEHIND = 16, RUN_CELLS = (int)TNI_SCAN_ROOM + RUN_BEHIND };
typedef struct run_exponents {
    double top[TNI_SCAN_COLUMNS + TNI_SCAN_ROOM];
    tni_scan_cell sum[(int)TNI_SCAN_COLUMNS + RUN_CELLS], factor[RUN_CELLS];
} run_exponents;

/* n numbers, by the loop of e^x or of log x. */
static void exponents_of(tni_loop loop, const tni_kernels *k, void *to, const void *from,
                         int64_t n) {
    const int64_t lane = k->lanes[TNI_IN_F64], step[1] = {lane * (int64_t)sizeof(double)};
    const char *in[1] = {(const char *)from};
    loop((char *)to, in, step, (n + lane - 1) / lane, NULL);
}
/* The n elements in b->sum + m to their log-sums in b->factor. Equal numbers have a difference of 0
 * though they be infinite. Products are rounded before they are added. */
#include "../../base/rounded_begin.inl"
static TNI_NOINLINE void exponents_block(run_exponents *b, const tni_kernels *k, int64_t n,
                                         int64_t m) {
    double *top = b->top;
    tni_scan_cell *sum = b->sum, *factor = b->factor;
    for (int64_t i = 0; i < n; i++) {
        const double v = sum[m + i].d, before = top[i], most = v >= before || v != v ? v : before;
        top[m + i] = most;
        sum[m + i].d = v == most ? 0 : v - most;
        factor[i].d = before == most ? 0 : before - most;
    }
    memset(sum + m + n, 0, RUN_BEHIND * sizeof *sum);
    memset(factor + n, 0, RUN_BEHIND * sizeof *factor);
    exponents_of(tni_loops_exp[k->isa][TNI_IN_F64], k, sum + m, sum + m, n);
    exponents_of(tni_loops_exp[k->isa][TNI_IN_F64], k, factor, factor, n);
    for (int64_t i = 0; i < n; i++) sum[m + i].d = sum[i].d * factor[i].d + sum[m + i].d;
    exponents_of(tni_loops_log[k->isa][TNI_IN_F64], k, factor, sum + m, n);
    for (int64_t i = 0; i < n; i++) factor[i].d += top[m + i];
}
#include "../../base/rounded_end.inl"
static void exponents_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    run_exponents b;
    if (j->pairs) {
        exponents_pairs(j, &p);
        return;
    }
    for (int64_t c = 0; c < p.m; c++) {
        b.top[c] = -INFINITY;
        b.sum[c].d = 0;
    }
    for (int64_t r = 0, rows; r < j->n && !tni_stopped(); r += rows) {
        rows = j->n - r < p.rows ? j->n - r : p.rows;
        tni_scan_load(j, &p, j->x, r, rows, b.sum + p.m);
        exponents_block(&b, j->context->kernels, rows * p.m, p.m);
        tni_scan_save(j, &p, r, rows, b.factor);
        /* The last row is the next one's row before. */
        memcpy(b.top, b.top + rows * p.m, (size_t)p.m * sizeof *b.top);
        memcpy(b.sum, b.sum + rows * p.m, (size_t)p.m * sizeof *b.sum);
    }
}

static bool logcumsumexp_check(tn_frame *f) {
    TN_ARGS(logcumsumexp, a, f);
    const tn_tensor *x = a->self;
    int d;
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "expected a floating or complex dtype, got %s",
                       tni_dtype(x->dtype)->text);
    return tni_dim_of(f, x->ndim, a->dim, &d) &&
           tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size) && tni_dense_scratch(f, x);
}
static void logcumsumexp_run(tn_frame *f) {
    TN_ARGS(logcumsumexp, a, f);
    const tn_tensor *x = f->in[0];
    const int64_t n = x->ndim ? x->size[tni_dim(x->ndim, a->dim)] : 1;
    tni_scan j;
    if (!x->numel) return;
    /* Short sequences go side by side, so that there is enough for whole vectors. */
    tni_scan_plan(f, &j, x, NULL, a->dim, n < RUN_PART ? TNI_SCAN_COLUMNS : 1);
    tni_scan_run(&j, exponents_task);
}
/* dx_i = e^(x_i - y_i) s_i with s_i = dy_i + e^(y_i - y_(i+1)) s_(i+1): of real numbers no factor
 * is above 1, and no gradient goes through a logarithm. */
static void logcumsumexp_grad(tn_gradient *g) {
    TN_ARGS(logcumsumexp, a, g);
    tn_tensor *d = g->incoming[0], *x = g->in[0], *y = g->out[0], *before, *factor, *pair[2];
    const int64_t n = x->ndim ? x->size[tni_dim(x->ndim, a->dim)] : 1;
    if (n > 1 && x->numel) {
        before = tnp_slice(y, a->dim, 0, n - 1, 1);
        factor = tnp_exp(tnp_sub(before, tnp_slice(y, a->dim, 1, n, 1), 1));
        /* Where both are infinite, all before is nothing; NaN stays. */
        factor = tnp_masked_fill_scalar(
            factor, tnp_logical_and(tnp_isnan(factor), tnp_isinf(before)), tn_int(0));
        pair[0] = tnp_zeros_like(tnp_slice(y, a->dim, 0, 1, 1), TN_NO_DTYPE, TN_NO_DEVICE);
        pair[1] = factor;
        factor = pair[0] && pair[1] ? tnp_cat(tn_tensors_of(pair, 2), a->dim) : NULL;
        d = tnp_linear_recurrence(d, tni_conj_of(factor), a->dim, true);
    }
    tn_give(g, 0, tnp_mul(d, tni_conj_of(tnp_exp(tnp_sub(x, y, 1)))));
}
/* y_i = log(e^(x_0) + ... + e^(x_i)) along dim, without overflow on the way. Sums are f64, or
 * complex128, as in torch. */
TN_OPERATOR(
    logcumsumexp, "logcumsumexp(Tensor self, int dim) -> Tensor",
    TN_DOC(.shapes = "self (*) -> (*), floating or complex", .example = "tn_logcumsumexp(x, 0)"),
    .forms = TN_OUT, .needs = "self:self,result", .check = logcumsumexp_check,
    .run = logcumsumexp_run, .grad = logcumsumexp_grad,
    .sample = "(35) 0 | (2,3,4) 1 | (3,70) -1 | () 0 | (0,3) 0 | (70,130) 0 | (9,3,600) 2 | "
              "(3,4):f16 1")
