/* pairs.c - distances between all rows of matrices: cdist, pdist.
 *
 * A task takes PAIR_WIDE rows of x2 as columns, which go side by side through the columns of x1:
 * each distance is one chain in their order, so threads change no bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../cpu/drive.h"
#include "../../cpu/matrix.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

enum { PAIR_WIDE = 64, PAIR_DEEP = 64 }; /* rows of x2, and their columns, in the buffer */
enum { PAIR_COUNT, PAIR_SUM, PAIR_SQUARES, PAIR_MOST, PAIR_POWERS };

typedef struct pair_job {
    const tni_kernels *kernels;
    const tn_tensor *x1, *x2;
    tn_tensor *out;
    int64_t rows, others, columns, blocks; /* of x1, of x2, of both; of PAIR_WIDE rows of x2 */
    double p;
    int way;
} pair_job;

static int pair_way(double p) {
    return p == 0          ? PAIR_COUNT
           : p == 1        ? PAIR_SUM
           : p == 2        ? PAIR_SQUARES
           : p == HUGE_VAL ? PAIR_MOST
                           : PAIR_POWERS;
}

/* sums[j] of the differences of one row and PAIR_WIDE others, `deep` columns of them. Nothing else
 * points at sum, so compilers may use vectors. */
#include "../../base/rounded_begin.inl"
#define PAIR_LOOP(T, expression)                            \
    for (int64_t c = 0; c < deep; c++, others += PAIR_WIDE) \
        for (int j = 0; j < PAIR_WIDE; j++) {               \
            const T d = others[j] - row[c];                 \
            sum[j] = expression;                            \
        }                                                   \
    break;
#define PAIR_ROW(suffix, T, absolute, power)                                                \
    static void pair_row_##suffix(const pair_job *job, const T *row, const T *others,       \
                                  int64_t deep, T *sums) {                                  \
        T powers[PAIR_WIDE], sum[PAIR_WIDE];                                                \
        memcpy(sum, sums, sizeof sum);                                                      \
        switch (job->way) {                                                                 \
        case PAIR_COUNT: PAIR_LOOP(T, sum[j] + (d != d ? d : (T)(d != 0)))                  \
        case PAIR_SUM: PAIR_LOOP(T, sum[j] + absolute(d))                                   \
        case PAIR_SQUARES: PAIR_LOOP(T, sum[j] + d * d)                                     \
        case PAIR_MOST: PAIR_LOOP(T, absolute(d) > sum[j] || d != d ? absolute(d) : sum[j]) \
        default:                                                                            \
            for (int64_t c = 0; c < deep; c++, others += PAIR_WIDE) {                       \
                for (int j = 0; j < PAIR_WIDE; j++) powers[j] = others[j] - row[c];         \
                TNI_K(job->kernels, power)(powers, PAIR_WIDE, job->p);                      \
                for (int j = 0; j < PAIR_WIDE; j++) sum[j] += powers[j];                    \
            }                                                                               \
        }                                                                                   \
        memcpy(sums, sum, sizeof sum);                                                      \
    }
PAIR_ROW(f32, float, fabsf, power_f32)
PAIR_ROW(f64, double, fabs, power_f64)
#undef PAIR_ROW
#undef PAIR_LOOP
#include "../../base/rounded_end.inl"

/* The root of sums; p 0, 1 and infinity have none. */
static void pair_root(const pair_job *job, void *sums, int64_t n) {
    const bool narrow = job->out->dtype == TN_F32;
    if (job->way == PAIR_POWERS) {
        if (narrow)
            TNI_K(job->kernels, power_f32)(sums, n, 1 / job->p);
        else
            TNI_K(job->kernels, power_f64)(sums, n, 1 / job->p);
    }
    for (int64_t j = 0; j < n && job->way == PAIR_SQUARES; j++)
        if (narrow)
            ((float *)sums)[j] = sqrtf(((float *)sums)[j]);
        else
            ((double *)sums)[j] = sqrt(((double *)sums)[j]);
}
/* Task i: a batch and a block of x2's rows. Sums stand in the result between pieces of columns. */
static void pair_task(void *arg, int64_t i) {
    const pair_job *job = (const pair_job *)arg;
    const tn_tensor *x1 = job->x1, *x2 = job->x2;
    const int64_t bytes = tni_dtype_size(x1), batch = i / job->blocks,
                  first = i % job->blocks * PAIR_WIDE,
                  wide = job->others - first < PAIR_WIDE ? job->others - first : (int64_t)PAIR_WIDE;
    const char *one = tni_batch_at(x1, 2, job->out, batch),
               *two = tni_batch_at(x2, 2, job->out, batch);
    char *to = tni_bytes_at(job->out) + (batch * job->rows * job->others + first) * bytes;
    const int64_t down1 = x1->stride[x1->ndim - 2] * bytes,
                  down2 = x2->stride[x2->ndim - 2] * bytes,
                  next1 = x1->stride[x1->ndim - 1] * bytes,
                  next2 = x2->stride[x2->ndim - 1] * bytes;
    union {
        float f[PAIR_DEEP * PAIR_WIDE];
        double d[PAIR_DEEP * PAIR_WIDE];
    } others;
    union {
        float f[PAIR_WIDE];
        double d[PAIR_WIDE];
    } sums, row;
    memset(&others, 0, sizeof others);
    for (int64_t c = 0; (c < job->columns || c == 0) && !tni_stopped(); c += PAIR_DEEP) {
        const int64_t deep = job->columns - c < PAIR_DEEP ? job->columns - c : (int64_t)PAIR_DEEP;
        /* A piece of the rows of x2, turned: column k of row j at k PAIR_WIDE + j. */
        for (int64_t j = 0; j < wide; j++)
            for (int64_t k = 0; k < deep; k++)
                tni_move_one((char *)&others + (k * PAIR_WIDE + j) * bytes,
                             two + (first + j) * down2 + (c + k) * next2, bytes);
        for (int64_t r = 0; r < job->rows; r++) {
            char *at = to + r * job->others * bytes;
            memset(&sums, 0, sizeof sums);
            if (c) memcpy(&sums, at, (size_t)(wide * bytes));
            tni_move_row((char *)&row, bytes, one + r * down1 + c * next1, next1, deep, bytes);
            if (bytes == 4)
                pair_row_f32(job, row.f, others.f, deep, sums.f);
            else
                pair_row_f64(job, row.d, others.d, deep, sums.d);
            if (c + deep >= job->columns) pair_root(job, &sums, wide);
            memcpy(at, &sums, (size_t)(wide * bytes));
        }
    }
}

static bool cdist_check(tn_frame *f) {
    TN_ARGS(cdist, a, f);
    const tn_tensor *x1 = a->x1, *x2 = a->x2;
    tn_tensor one, two, *pair[2];
    tni_shape s;
    for (int k = 0; k < 2; k++)
        if (f->in[k]->ndim < 2)
            return tn_fail(f, TN_INVALID, "only supports at least 2D tensors, %s got: %dD",
                           k ? "x2" : "x1", f->in[k]->ndim);
    if (x1->dtype != x2->dtype || (x1->dtype != TN_F32 && x1->dtype != TN_F64))
        return tn_fail(f, TN_UNSUPPORTED, "expected float32 or float64 in both, got %s and %s",
                       tni_dtype(x1->dtype)->text, tni_dtype(x2->dtype)->text);
    if (x1->size[x1->ndim - 1] != x2->size[x2->ndim - 1])
        return tn_fail(f, TN_INVALID,
                       "x1 and x2 must have the same number of columns. x1: %lld x2: %lld",
                       (long long)x1->size[x1->ndim - 1], (long long)x2->size[x2->ndim - 1]);
    if (!(a->p >= 0)) return tn_fail(f, TN_INVALID, "only supports non-negative p values");
    /* Their batches broadcast. */
    tni_stack_view(&one, x1, x1->ndim - 2, x1->size, x1->stride, x1->offset);
    tni_stack_view(&two, x2, x2->ndim - 2, x2->size, x2->stride, x2->offset);
    pair[0] = &one;
    pair[1] = &two;
    if (!tni_broadcast_all(f, &s, pair, 2)) return false;
    s.size[s.ndim++] = x1->size[x1->ndim - 2];
    s.size[s.ndim++] = x2->size[x2->ndim - 2];
    return tn_announce(f, 0, (tn_dtype)x1->dtype, s.ndim, s.size);
}
static void cdist_run(tn_frame *f) {
    TN_ARGS(cdist, a, f);
    pair_job job;
    tn_tensor *out = f->out[0];
    if (!out->numel) return;
    job.kernels = f->block->context->kernels;
    job.x1 = a->x1;
    job.x2 = a->x2;
    job.out = out;
    job.rows = out->size[out->ndim - 2];
    job.others = out->size[out->ndim - 1];
    job.columns = a->x1->size[a->x1->ndim - 1];
    job.blocks = (job.others + PAIR_WIDE - 1) / PAIR_WIDE;
    job.p = a->p;
    job.way = pair_way(a->p);
    /* Work is counted in elements; it cannot overflow where the tensors themselves fit. */
    tni_lanes_spread(f->block->context, out->numel / (job.rows * job.others) * job.blocks,
                     out->numel * (job.columns < 64 ? 1 + job.columns : 64), pair_task, &job);
}
/* dy/dx1 of |x1 - x2|_p for all pairs, (.., rows, others, columns): sgn(d) |d|^(p-1) / y^(p-1), 0
 * where y is. Of infinite p all largest differences have it whole, as in torch. */
static tn_tensor *pair_slopes(tn_tensor *d, tn_tensor *y, double p) {
    /* 1 in the place of 0, so that no derivative of these is infinite beside a factor 0. */
    tn_tensor *safe = tnp_masked_fill_scalar(y, tnp_eq_scalar(y, tn_int(0)), tn_int(1)), *slope;
    switch (pair_way(p)) {
    case PAIR_COUNT: return tnp_mul_scalar(d, tn_int(0));
    case PAIR_SUM: return tnp_sgn(d);
    case PAIR_SQUARES: return tnp_div(d, safe);
    case PAIR_MOST: return tnp_mul(tnp_sgn(d), tnp_eq(tnp_abs(d), y));
    default: break;
    }
    slope = tnp_masked_fill_scalar(tnp_abs(d), tnp_eq_scalar(d, tn_int(0)), tn_int(1));
    slope = tnp_mul(tnp_sgn(d), tnp_pow_scalar(slope, tn_float(p - 1)));
    return tnp_div(slope, tnp_pow_scalar(safe, tn_float(p - 1)));
}
static void cdist_grad(tn_gradient *g) {
    TN_ARGS(cdist, a, g);
    const int64_t others = -2, rows = -3;
    tn_tensor *d = tnp_sub(tnp_unsqueeze(g->in[0], -2), tnp_unsqueeze(g->in[1], -3), 1);
    d = tnp_mul(pair_slopes(d, tnp_unsqueeze(g->out[0], -1), a->p),
                tnp_unsqueeze(g->incoming[0], -1));
    if (g->want[0]) tn_give(g, 0, tnp_sum(d, tni_ints(&others, 1), false, TN_NO_DTYPE));
    if (g->want[1]) tn_give(g, 1, tnp_neg(tnp_sum(d, tni_ints(&rows, 1), false, TN_NO_DTYPE)));
}
/* The p-norms of all differences of rows of x1 and rows of x2; batches broadcast. */
TN_OPERATOR(cdist, "_cdist(Tensor x1, Tensor x2, float p=2.0) -> Tensor",
            TN_DOC(.shapes = "x1 (.., p, m), x2 (.., r, m), float32 or float64 -> (.., p, r)",
                   .example = "tn_cdist(x, y, .p = 1)",
                   .differs = "signature: torch.cdist has a mode, too; so has Python's function of "
                              "that name | gradcheck [0.5]: steep beside 0 | gradcheck [1.5]: the "
                              "second one is"),
            .autocast = TN_WIDE, .needs = "x1:x1,x2,result x2:x1,x2,result", .check = cdist_check,
            .run = cdist_run, .grad = cdist_grad,
            .sample =
                "(3,5) (4,5) | (2,3,4) (3,4) 1.0 | (70,3) (130,3) | (5,0) (3,0) | (0,3) (4,3) "
                "| (3,70) (4,70) 3.0 | (4,6) (5,6) 0.0 | (4,6) (5,6) inf | (4,6) (5,6) 0.5 | "
                "(2,1,3,4) (3,5,4) 1.5")

static bool pdist_compose(tn_frame *f) {
    TN_ARGS(pdist, a, f);
    tn_tensor *x = a->self, *upper;
    int64_t size[2];
    if (x->ndim != 2) return tn_fail(f, TN_INVALID, "only supports 2D tensors, got: %dD", x->ndim);
    if (!tni_is_float(x->dtype)) return tn_fail(f, TN_TYPE, "only supports floating-point dtypes");
    if (!(a->p >= 0)) return tn_fail(f, TN_INVALID, "only supports non-negative p values");
    size[0] = size[1] = x->size[0];
    if (size[0] <= 1) { /* no pairs, of any floating dtype */
        size[0] = 0;
        f->out[0] = tnp_zeros(tni_ints(size, 1), (tn_dtype)x->dtype, x->device);
        return f->out[0] != NULL;
    }
    upper = tnp_triu(tnp_full(tni_ints(size, 2), tn_bool(true), TN_BOOL, x->device), 1);
    f->out[0] = tnp_masked_select(tnp_cdist(x, x, a->p), upper);
    return f->out[0] != NULL;
}
/* The p-norms of the differences of each row and each later one. */
TN_OPERATOR(pdist, "pdist(Tensor self, float p=2.0) -> Tensor",
            TN_DOC(.shapes = "self (n, m), float32 or float64 -> (n (n - 1) / 2)",
                   .example = "tn_pdist(x, .p = 1)", .python = "nn.functional.pdist"),
            .autocast = TN_WIDE_CUDA, .compose = pdist_compose,
            .sample = "(4,3) | (5,2) 1.0 | (1,3) | (0,3) | (9,35) 3.0 | (4,6) 0.0 | (4,6) inf")
