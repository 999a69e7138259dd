/* reduce.h - kernel entries of reductions: K(ret, name, params).
 *
 * One shape serves rows and columns: `rows` rows of n elements, `step` bytes apart, are combined
 * into n accumulators, each by a chain in row order. A contiguous run of elements is rows of
 * TNI_LANE_BYTES, whose accumulators are then folded by halves (tni_fold): so the order is the same
 * for every vector width. Elements are f32 or f64 (i64 needs no vectors: cpu/fold.c; other types
 * are converted first: cpu/elements.c). */
#ifndef TNI_KERNELS_REDUCE_H
#define TNI_KERNELS_REDUCE_H

#include "../base/base.h"

enum {
    TNI_BLOCK = 4096,     /* elements of a contiguous block, the unit of every reduction's tree */
    TNI_BLOCK_ROWS = 64,  /* rows of a block, where columns are reduced */
    TNI_LANE_BYTES = 256, /* lanes of a block: 64 of f32, 32 of f64 and i64 */
    TNI_SUBTREE = 16      /* blocks that one task combines */
};
enum { TNI_NORM_SQUARE, TNI_NORM_ABS, TNI_NORM_NONZERO };

#define TNI_KERNELS_REDUCE_TYPE(K, S)                                                              \
    /* to[i] += x[0][i], += x[1][i] ... */                                                         \
    K(void, sum_rows_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))        \
    /* to[i] = the larger (`least`: smaller) of to[i] and x[r][i]: a NaN wins, the first of equals \
     * stays */                                                                                    \
    K(void, extreme_rows_##S,                                                                      \
      (const void *x, int64_t step, int64_t rows, int64_t n, bool least, void *to))                \
    /* to[r] = the sum, product, largest (`least`: smallest) of row r, n elements side by side, at \
     * most TNI_BLOCK, in the order of a block */                                                  \
    K(void, fold_sum_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))        \
    K(void, fold_prod_##S, (const void *x, int64_t step, int64_t rows, int64_t n, void *to))       \
    K(void, fold_extreme_##S,                                                                      \
      (const void *x, int64_t step, int64_t rows, int64_t n, bool least, void *to))                \
    /* value[i] and index[i] (row number + first, as an element) of the first extremum or first    \
     * NaN */                                                                                      \
    K(void, arg_rows_##S,                                                                          \
      (const void *x, int64_t step, int64_t rows, int64_t n, int64_t first, bool least,            \
       void *value, void *index))                                                                  \
    /* one[i] += x[r][i] - mean[i], two[i] += (x[r][i] - mean[i])^2 */                             \
    K(void, deviation_rows_##S,                                                                    \
      (const void *x, int64_t step, int64_t rows, int64_t n, const void *mean, void *one,          \
       void *two))                                                                                 \
    /* to[i] = x[i]^2, |x[i]|, x[i] != 0 (TNI_NORM_...); to may be x */                            \
    K(void, norm_map_##S, (const void *x, int64_t n, int kind, void *to))                          \
    /* x[i] = |x[i]|^p */                                                                          \
    K(void, power_##S, (void *x, int64_t n, double p))
#define TNI_KERNELS_REDUCE(K)                                                                      \
    TNI_KERNELS_REDUCE_TYPE(K, f32)                                                                \
    TNI_KERNELS_REDUCE_TYPE(K, f64)                                                                \
    /* to[r] = the sum of the products, each fused with the sum before it, of rows of x and y */   \
    K(void, fold_dot_f32,                                                                          \
      (const void *x, const void *y, int64_t step, int64_t rows, int64_t n, void *to))

#endif
