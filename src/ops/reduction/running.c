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

/* Rows of m columns: value and place of the extremum so far, which the row before has. Of equal
 * elements the last one counts, and each NaN takes the place of all before, as in torch. */
#define RUN_EXTREME(name, field, beats)                                                           \
    static void run_##name##_apart(tni_scan_cell *x, int64_t *place, int64_t first, int64_t rows, \
                                   tni_scan_cell *best, int64_t *at) {                            \
        tni_scan_cell v = *best;                                                                  \
        int64_t k = *at;                                                                          \
        for (int64_t r = 0; r < rows; r++) {                                                      \
            if (beats(x[r].field, v.field)) {                                                     \
                v = x[r];                                                                         \
                k = first + r;                                                                    \
            }                                                                                     \
            x[r] = v;                                                                             \
            place[r] = k;                                                                         \
        }                                                                                         \
        *best = v;                                                                                \
        *at = k;                                                                                  \
    }                                                                                             \
    static void run_##name(tni_scan_cell *x, tni_scan_cell *place, int64_t first, int64_t rows,   \
                           int64_t m) {                                                           \
        for (int64_t r = 0, i = 0; r < rows; r++)                                                 \
            for (int64_t c = 0; c < m; c++, i++) {                                                \
                const tni_scan_cell v = x[i], best = x[i - m];                                    \
                const bool wins = beats(v.field, best.field);                                     \
                x[i] = wins ? v : best;                                                           \
                place[i].k = wins ? first + r : place[i - m].k;                                   \
            }                                                                                     \
    }
#define RUN_ABOVE(v, best) ((v) >= (best) || (v) != (v))
#define RUN_BELOW(v, best) ((v) <= (best) || (v) != (v))
RUN_EXTREME(max_f64, d, RUN_ABOVE)
RUN_EXTREME(min_f64, d, RUN_BELOW)
RUN_EXTREME(max_i64, k, RUN_ABOVE)
RUN_EXTREME(min_i64, k, RUN_BELOW)
#undef RUN_EXTREME
#undef RUN_ABOVE
#undef RUN_BELOW

/* `beside` sequences of one column, one after the other: a new extremum is rare, so a branch is
 * faster than a choice. */
static void extreme_apart(const tni_scan *j, int64_t at, int64_t beside) {
    const tni_kernels *k = j->context->kernels;
    const int64_t bytes = tni_dtype(j->from)->bytes;
    for (int64_t l = 0; l < beside; l++, at += j->n) {
        tni_scan_cell x[RUN_PART], best;
        int64_t place = 0;
        tni_lanes_read(k, &best, j->compute, j->x + at * bytes, bytes, j->from, 1);
        for (int64_t r = 0; r < j->n && !tni_stopped(); r += RUN_PART) {
            const int64_t rows = j->n - r < RUN_PART ? j->n - r : (int64_t)RUN_PART,
                          from = (at + r) * bytes;
            tni_lanes_read(k, x, j->compute, j->x + from, bytes, j->from, rows);
            if (j->compute == TN_I64)
                (j->least ? run_min_i64_apart : run_max_i64_apart)(x, j->index + at + r, r, rows,
                                                                   &best, &place);
            else
                (j->least ? run_min_f64_apart : run_max_f64_apart)(x, j->index + at + r, r, rows,
                                                                   &best, &place);
            tni_lanes_write(k, j->y + from, bytes, j->to, x, j->compute, rows);
        }
    }
}
static void extreme_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    tni_scan_cell x[TNI_SCAN_ROOM + TNI_SCAN_COLUMNS], place[TNI_SCAN_ROOM + TNI_SCAN_COLUMNS];
    const size_t state = (size_t)p.m * sizeof *x;
    if (j->inner == 1) {
        TNI_PATH(running_apart);
        extreme_apart(j, p.at, p.beside);
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

/* row = log(e^(row before) + e^row), by the loop of logaddexp, in f64 and complex128. */
static void exponents_task(void *arg, int64_t i) {
    const tni_scan *j = (const tni_scan *)arg;
    const tni_scan_part p = tni_scan_part_of(j, i);
    const tni_kernels *k = j->context->kernels;
    const int type = j->pairs ? TNI_IN_C128 : TNI_IN_F64;
    /* The loop takes whole vectors, complex numbers one at a time: what stands behind the columns
     * of a row is computed, too, and not read. */
    const int64_t lane = j->pairs ? 2 : k->lanes[type], vectors = (p.m + lane - 1) / lane,
                  bytes = lane * (int64_t)sizeof(double), step[2] = {bytes, bytes};
    tni_scan_cell x[TNI_SCAN_ROOM], row[TNI_SCAN_COLUMNS + 16];
    memset(row, 0, sizeof row);
    for (int64_t r = 0, rows; r < j->n && !tni_stopped(); r += rows) {
        rows = j->n - r < p.rows ? j->n - r : p.rows;
        tni_scan_load(j, &p, j->x, r, rows, x);
        for (int64_t n = 0; n < rows; n++) {
            tni_scan_cell next[TNI_SCAN_COLUMNS + 16], *at = x + n * p.m;
            const char *in[2];
            if (r || n) {
                memset(next, 0, sizeof next);
                memcpy(next, at, (size_t)p.m * sizeof *at);
                in[0] = (const char *)row;
                in[1] = (const char *)next;
                tni_loops_logaddexp[k->isa][type]((char *)row, in, step, vectors, NULL);
                memcpy(at, row, (size_t)p.m * sizeof *at);
            } else
                memcpy(row, at, (size_t)p.m * sizeof *at);
        }
        tni_scan_save(j, &p, r, rows, x);
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
    tni_scan j;
    if (!f->in[0]->numel) return;
    tni_scan_plan(f, &j, f->in[0], NULL, a->dim, TNI_SCAN_COLUMNS);
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
        /* Where both are minus infinity, all before is nothing. */
        factor = tnp_masked_fill_scalar(factor, tnp_isnan(factor), tn_int(0));
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
