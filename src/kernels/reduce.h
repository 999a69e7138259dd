/* reduce.h - kernel entries of reductions: K(ret, name, params).
 *
 * One shape serves rows and columns: `rows` rows of n elements, `step` bytes apart, are combined into n
 * accumulators, each by a chain in row order. A contiguous run of elements is rows of TNI_LANE_BYTES, whose
 * accumulators are then folded by halves (tni_fold): so the order is the same for every vector width.
 * Elements are f32, f64 or i64; other types are converted into tiles first (ops/lanes.c). */
#ifndef TNI_KERNELS_REDUCE_H
#define TNI_KERNELS_REDUCE_H

#include "../base/base.h"

enum {
    TNI_BLOCK = 4096,     /* elements of a contiguous block, the unit of every reduction's tree */
    TNI_BLOCK_ROWS = 64,  /* rows of a block, where columns are reduced */
    TNI_LANE_BYTES = 256, /* lanes of a block: 64 of f32, 32 of f64 and i64 */
    TNI_SUBTREE = 16      /* blocks that one task combines */
};

/* to[i] = to[i] op x[0][i] op x[1][i] ... max and min: a NaN wins, the first of equals stays. */
typedef void (*tni_reduce_rows)(const void *x, int64_t step, int64_t rows, int64_t n, void *to);

#define TNI_KERNELS_REDUCE_TYPE(K, S)                                                                        \
    K(void, sum_rows_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))                  \
    K(void, prod_rows_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))                 \
    K(void, max_rows_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))                  \
    K(void, min_rows_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))                  \
    /* value[i] and index[i] (row number + first, as an element) of the first extremum or first NaN */       \
    K(void, argmax_rows_##S,                                                                                 \
      (const void *x, int64_t step, int64_t rows, int64_t n, int64_t first, void *value, void *index))       \
    K(void, argmin_rows_##S,                                                                                 \
      (const void *x, int64_t step, int64_t rows, int64_t n, int64_t first, void *value, void *index))
#define TNI_KERNELS_REDUCE_FLOAT(K, S)                                                                       \
    /* one[i] += x[r][i] - mean[i], two[i] += (x[r][i] - mean[i])^2 */                                       \
    K(void, deviation_rows_##S,                                                                              \
      (const void *x, int64_t step, int64_t rows, int64_t n, const void *mean, void *one, void *two))        \
    /* to[i] += x[r][i] * y[r][i], fused */                                                                  \
    K(void, dot_rows_##S, (const void *x, const void *y, int64_t step, int64_t rows, int64_t n, void *to))   \
    /* In place on n elements: |x|, x^2, |x|^p, x != 0, exp(x - p). `kind` is TNI_MAP_*. */                  \
    K(void, map_##S, (void *x, int64_t n, int kind, double p))
#define TNI_KERNELS_REDUCE(K)                                                                                \
    TNI_KERNELS_REDUCE_TYPE(K, f32)                                                                          \
    TNI_KERNELS_REDUCE_TYPE(K, f64)                                                                          \
    TNI_KERNELS_REDUCE_TYPE(K, i64)                                                                          \
    TNI_KERNELS_REDUCE_FLOAT(K, f32)                                                                         \
    TNI_KERNELS_REDUCE_FLOAT(K, f64)

enum { TNI_MAP_NONE, TNI_MAP_ABS, TNI_MAP_SQUARE, TNI_MAP_POWER, TNI_MAP_NONZERO, TNI_MAP_EXP };

#endif
