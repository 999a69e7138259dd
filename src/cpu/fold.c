/* fold.c - sums, products and extrema of rows, blocks and lanes, always in one order (lanes.h), and
 * the tree that adds the sums of blocks. */
#include "lanes.h"

/* --- plain reductions ------------------------------------------------------------------------- */

/* Products and integers: to[i] = to[i] op x[r][i]. In scalar code: products
 * over columns take five times torch's time. */
#define LANES_ROWS(name, type, OP)                                                              \
    static void lanes_##name(const char *at, int64_t step, int64_t rows, int64_t n, type *to) { \
        for (int64_t r = 0; r < rows; r++, at += step)                                          \
            for (int64_t i = 0; i < n; i++) {                                                   \
                type v;                                                                         \
                memcpy(&v, at + i * (int64_t)sizeof v, sizeof v);                               \
                to[i] = OP(to[i], v);                                                           \
            }                                                                                   \
    }
/* to[r] = all of row r. Integers may meet in any order: here in four chains. */
#define LANES_MANY(name, start, OP)                                                      \
    static void lanes_many_##name(const char *at, int64_t step, int64_t rows, int64_t n, \
                                  int64_t *to) {                                         \
        for (int64_t r = 0; r < rows; r++, at += step) {                                 \
            int64_t i = 0, a = start, b = start, c = start, d = start, v[4];             \
            for (; i + 4 <= n; i += 4) {                                                 \
                memcpy(v, at + 8 * i, sizeof v);                                         \
                a = OP(a, v[0]), b = OP(b, v[1]), c = OP(c, v[2]), d = OP(d, v[3]);      \
            }                                                                            \
            for (; i < n; i++) {                                                         \
                memcpy(v, at + 8 * i, 8);                                                \
                a = OP(a, v[0]);                                                         \
            }                                                                            \
            a = OP(a, b), c = OP(c, d);                                                  \
            to[r] = OP(a, c);                                                            \
        }                                                                                \
    }
#define LANES_OF_I64(name, start, OP)   \
    LANES_ROWS(name##_i64, int64_t, OP) \
    LANES_MANY(name##_i64, start, OP)
/* Integers wrap, as unsigned ones do by definition. */
#define LANES_ADD(a, v) (int64_t)((uint64_t)(a) + (uint64_t)(v))
#define LANES_MUL(a, v) (int64_t)((uint64_t)(a) * (uint64_t)(v))
#define LANES_LARGER(a, v) ((v) > (a) ? (v) : (a))
#define LANES_SMALLER(a, v) ((v) < (a) ? (v) : (a))
#define LANES_TIMES(a, v) (a) * (v)
LANES_OF_I64(sum, 0, LANES_ADD)
LANES_OF_I64(prod, 1, LANES_MUL)
LANES_OF_I64(max, INT64_MIN, LANES_LARGER)
LANES_OF_I64(min, INT64_MAX, LANES_SMALLER)
LANES_ROWS(prod_f32, float, LANES_TIMES)
LANES_ROWS(prod_f64, double, LANES_TIMES)

/* Sums and extrema of floats have kernels, all else plain loops. */
static void lanes_sum(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                      int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_sum_i64((const char *)x, step, rows, n, (int64_t *)to);
    else
        (compute == TN_F32 ? TNI_K(k, sum_rows_f32) : TNI_K(k, sum_rows_f64))(x, step, rows, n, to);
}
static void lanes_prod(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                       int64_t n, void *to) {
    const char *at = (const char *)x;
    (void)k;
    if (compute == TN_I64)
        lanes_prod_i64(at, step, rows, n, (int64_t *)to);
    else if (compute == TN_F32)
        lanes_prod_f32(at, step, rows, n, (float *)to);
    else
        lanes_prod_f64(at, step, rows, n, (double *)to);
}
static void lanes_extreme(const tni_kernels *k, int compute, const void *x, int64_t step,
                          int64_t rows, int64_t n, bool least, void *to) {
    (compute == TN_F32 ? TNI_K(k, extreme_rows_f32) : TNI_K(k, extreme_rows_f64))(x, step, rows, n,
                                                                                  least, to);
}
static void lanes_any(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                      int64_t n, void *to) {
    (void)k, (void)compute;
    lanes_max_i64((const char *)x, step, rows, n, (int64_t *)to);
}
static void lanes_all(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                      int64_t n, void *to) {
    (void)k, (void)compute;
    lanes_min_i64((const char *)x, step, rows, n, (int64_t *)to);
}
static void lanes_max(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                      int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_any(k, compute, x, step, rows, n, to);
    else
        lanes_extreme(k, compute, x, step, rows, n, false, to);
}
static void lanes_min(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                      int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_all(k, compute, x, step, rows, n, to);
    else
        lanes_extreme(k, compute, x, step, rows, n, true, to);
}

/* Each of many rows to one element. */
static void lanes_many_sum(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_many_sum_i64((const char *)x, step, rows, n, (int64_t *)to);
    else
        (compute == TN_F32 ? TNI_K(k, fold_sum_f32) : TNI_K(k, fold_sum_f64))(x, step, rows, n, to);
}
static void lanes_many_prod(const tni_kernels *k, int compute, const void *x, int64_t step,
                            int64_t rows, int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_many_prod_i64((const char *)x, step, rows, n, (int64_t *)to);
    else
        (compute == TN_F32 ? TNI_K(k, fold_prod_f32) : TNI_K(k, fold_prod_f64))(x, step, rows, n,
                                                                                to);
}
static void lanes_many_extreme(const tni_kernels *k, int compute, const void *x, int64_t step,
                               int64_t rows, int64_t n, bool least, void *to) {
    (compute == TN_F32 ? TNI_K(k, fold_extreme_f32) : TNI_K(k, fold_extreme_f64))(x, step, rows, n,
                                                                                  least, to);
}
static void lanes_many_any(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    (void)k, (void)compute;
    lanes_many_max_i64((const char *)x, step, rows, n, (int64_t *)to);
}
static void lanes_many_all(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    (void)k, (void)compute;
    lanes_many_min_i64((const char *)x, step, rows, n, (int64_t *)to);
}
static void lanes_many_max(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_many_any(k, compute, x, step, rows, n, to);
    else
        lanes_many_extreme(k, compute, x, step, rows, n, false, to);
}
static void lanes_many_min(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    if (compute == TN_I64)
        lanes_many_all(k, compute, x, step, rows, n, to);
    else
        lanes_many_extreme(k, compute, x, step, rows, n, true, to);
}

TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tni_reduction, tni_sum) = {0, false, lanes_sum, lanes_many_sum};
TN_PRIV_DEFINE(tni_reduction, tni_prod) = {1, false, lanes_prod, lanes_many_prod};
TN_PRIV_DEFINE(tni_reduction, tni_max) = {-1, true, lanes_max, lanes_many_max};
TN_PRIV_DEFINE(tni_reduction, tni_min) = {1, true, lanes_min, lanes_many_min};
TN_PRIV_DEFINE(tni_reduction, tni_any) = {-1, true, lanes_any, lanes_many_any};
TN_PRIV_DEFINE(tni_reduction, tni_all) = {1, true, lanes_all, lanes_many_all};
TNI_PRIVATE_END

#define FOLD_FILL(type, value)                                                          \
    {                                                                                   \
        type *at = (type *)to;                                                          \
        int64_t i = 0;                                                                  \
        for (; i + 4 <= n; i += 4) at[i] = at[i + 1] = at[i + 2] = at[i + 3] = (value); \
        for (; i < n; i++) at[i] = (value);                                             \
    }
TN_PRIV void tni_fill_lanes(void *to, int compute, double value, int64_t n) {
    if (compute == TN_F32) {
        const float v = (float)value;
        FOLD_FILL(float, v)
    } else if (compute == TN_F64) {
        FOLD_FILL(double, value)
    } else { /* infinity stands for the end of the range */
        const int64_t v = value == HUGE_VAL ? INT64_MAX : tni_truncate(value);
        FOLD_FILL(int64_t, v)
    }
}
#undef FOLD_FILL

/* A tree that is filled from the left, as a binary counter: the entry that waits at depth d stands
 * for 2^k blocks. */
TN_PRIV void tni_tree_begin(tni_tree *t, const tni_kernels *k, int compute, int64_t n) {
    t->kernels = k;
    t->compute = compute;
    t->n = n;
    t->depth = 0;
    t->count = 0;
}

/* The accumulators lie where the next entry will be pushed. */
TN_PRIV void *tni_tree_next(tni_tree *t) {
    memset(&t->part[t->depth], 0, sizeof t->part[0]);
    return &t->part[t->depth];
}

/* Adds the last entry to the one before it. Both stand for equally many blocks,
 * except at the end. */
static void tree_join(tni_tree *t) {
    t->depth--;
    tni_reduce_rows(t->kernels, &tni_sum, t->compute, &t->part[t->depth], 0, 1, t->n,
                    &t->part[t->depth - 1]);
}

TN_PRIV void tni_tree_push(tni_tree *t) {
    t->depth++;
    /* Each carry of the binary counter joins two subtrees of the same size. */
    for (int64_t c = t->count++; c & 1; c >>= 1) tree_join(t);
}

TN_PRIV void *tni_tree_end(tni_tree *t) {
    /* Sums of no blocks are zero. What waits is joined from the right, smaller subtrees first. */
    if (!t->depth) {
        tni_tree_next(t);
        t->depth++;
    }
    while (t->depth > 1) tree_join(t);
    return &t->part[0];
}

#undef LANES_ROWS
#undef LANES_MANY
#undef LANES_OF_I64
#undef LANES_ADD
#undef LANES_MUL
#undef LANES_LARGER
#undef LANES_SMALLER
#undef LANES_TIMES
