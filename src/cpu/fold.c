/* fold.c - sums, products and extrema of rows, blocks and lanes, always in one order (lanes.h), and
 * the tree that adds the sums of blocks. */
#include "lanes.h"

/* --- plain reductions ------------------------------------------------------------------------- */

/* Products and integers: to[i] = to[i] op x[r][i]. Vector code would gain little here. */
#define LANES_ROWS(name, type, expression)                                                      \
    static void lanes_##name(const char *at, int64_t step, int64_t rows, int64_t n, type *to) { \
        for (int64_t r = 0; r < rows; r++, at += step)                                          \
            for (int64_t i = 0; i < n; i++) {                                                   \
                type a = to[i], v;                                                              \
                memcpy(&v, at + i * (int64_t)sizeof v, sizeof v);                               \
                to[i] = expression;                                                             \
            }                                                                                   \
    }
/* Integers wrap, as unsigned ones do by definition. */
LANES_ROWS(sum_i64, int64_t, (int64_t)((uint64_t)a + (uint64_t)v))
LANES_ROWS(prod_i64, int64_t, (int64_t)((uint64_t)a *(uint64_t)v))
LANES_ROWS(max_i64, int64_t, v > a ? v : a)
LANES_ROWS(min_i64, int64_t, v < a ? v : a)
LANES_ROWS(prod_f32, float, a *v)
LANES_ROWS(prod_f64, double, a *v)

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

static void lanes_many_sum(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    (compute == TN_F32 ? TNI_K(k, fold_sum_f32) : TNI_K(k, fold_sum_f64))(x, step, rows, n, to);
}
static void lanes_many_max(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    (compute == TN_F32 ? TNI_K(k, fold_extreme_f32) : TNI_K(k, fold_extreme_f64))(x, step, rows, n,
                                                                                  false, to);
}
static void lanes_many_min(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t rows, int64_t n, void *to) {
    (compute == TN_F32 ? TNI_K(k, fold_extreme_f32) : TNI_K(k, fold_extreme_f64))(x, step, rows, n,
                                                                                  true, to);
}

/* The last few lanes, where vectors do not pay. */
#define LANES_FOLD(name, type, expression)                  \
    static void lanes_fold_##name(void *lanes, int64_t h) { \
        for (type *to = (type *)lanes; h; h /= 2)           \
            for (int64_t i = 0; i < h; i++) {               \
                type a = to[i], v = to[i + h];              \
                to[i] = expression;                         \
            }                                               \
    }
#define LANES_FOLDS(name, expression)                                                      \
    LANES_FOLD(name##_f32, float, expression)                                              \
    LANES_FOLD(name##_f64, double, expression)                                             \
    static void lanes_fold_##name(int compute, void *lanes, int64_t h) {                   \
        (compute == TN_F32 ? lanes_fold_##name##_f32 : lanes_fold_##name##_f64)(lanes, h); \
    }
LANES_FOLDS(sum, a + v)
LANES_FOLDS(prod, a *v)
LANES_FOLDS(max, v > a || v != v ? v : a)
LANES_FOLDS(min, v < a || v != v ? v : a)

TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tni_reduction, tni_sum) = {0, false, lanes_sum, lanes_fold_sum, lanes_many_sum};
TN_PRIV_DEFINE(tni_reduction, tni_prod) = {1, false, lanes_prod, lanes_fold_prod, NULL};
TN_PRIV_DEFINE(tni_reduction, tni_max) = {-1, true, lanes_max, lanes_fold_max, lanes_many_max};
TN_PRIV_DEFINE(tni_reduction, tni_min) = {1, true, lanes_min, lanes_fold_min, lanes_many_min};
TN_PRIV_DEFINE(tni_reduction, tni_any) = {-1, true, lanes_any, NULL, NULL};
TN_PRIV_DEFINE(tni_reduction, tni_all) = {1, true, lanes_all, NULL, NULL};
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

/* Lanes past n hold the identity, so folding may start at the power of two that covers them. */
TN_PRIV void tni_reduce_block(const tni_kernels *k, const tni_reduction *op, int compute,
                              const void *x, int64_t n, void *to) {
    int64_t size = compute == TN_F32 ? 4 : 8, lanes = TNI_LANE_BYTES / size, h = 1,
            used = n < lanes ? n : lanes;
    tni_room room;
    /* Accumulators: as many lanes as the elements fill, up to a power of two. */
    char *acc = (char *)&room;
    while (h < used) h *= 2;
    tni_fill_lanes(acc, compute, tni_identity(op), h);
    /* Whole rows of lanes, then the elements that are left over into the first lanes. */
    if (n >= lanes) tni_reduce_rows(k, op, compute, x, TNI_LANE_BYTES, n / lanes, lanes, acc);
    if (n % lanes)
        tni_reduce_rows(k, op, compute, (const char *)x + n / lanes * TNI_LANE_BYTES, 0, 1,
                        n % lanes, acc);
    tni_reduce_fold(k, op, compute, acc, h);
    memcpy(to, acc, (size_t)size);
}

TN_PRIV void tni_reduce_fold(const tni_kernels *k, const tni_reduction *op, int compute,
                             void *lanes, int64_t n) {
    int64_t size = compute == TN_F32 ? 4 : 8, h = n / 2;
    char *acc = (char *)lanes;
    /* Upper half onto lower half, by vectors while the halves are long. */
    for (; h > 8 || (h && compute == TN_I64); h /= 2)
        tni_reduce_rows(k, op, compute, acc + h * size, 0, 1, h, acc);
    if (compute != TN_I64) op->fold(compute, acc, h);
}

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
#undef LANES_FOLD
#undef LANES_FOLDS
