/* rowwise.h - kernel entries of softmax and normalisation: K(ret, name, params).
 *
 * As in reduce.h: `rows` rows of n columns, steps in bytes, parameters and accumulators one a
 * column. A long contiguous row is rows of TNI_LANE_BYTES with the parameters repeated. */
#ifndef TNI_KERNELS_ROWWISE_H
#define TNI_KERNELS_ROWWISE_H

#include "../base/base.h"

/* What rows of x and y (and of dy) mean to a kernel. */
typedef struct tni_sweep {
    const void *x, *dy;
    void *y;                         /* may be x; NULL where only sums are wanted */
    int64_t x_step, dy_step, y_step; /* bytes from row to row */
    int64_t rows, n;
    const void *mean, *scale, *bias; /* a value a column */
    void *one, *two;                 /* accumulators, one a column */
} tni_sweep;

/* A row of normalisation: n elements with weights of their own; any of weight, bias NULL. */
typedef struct tni_norm_row {
    const void *x, *dy, *weight, *bias;
    void *y, *one, *two;
    int64_t n;
    double mean, scale, a, b;
} tni_norm_row;

enum { TNI_SOFT_EXP, TNI_SOFT_SHIFT, TNI_SOFT_SCALE };

#define TNI_KERNELS_ROWWISE_TYPE(K, S)                               \
    /* y = e = exp(x - mean), one += e */                            \
    K(void, exp_rows_##S, (const tni_sweep *r))                      \
    /* y = exp(x - mean) * scale, x - mean - scale, or x * scale */  \
    K(void, soft_rows_##S, (const tni_sweep *r, int kind))           \
    /* with a mean and a scale for each row, not column: y = exp(x - \
     * mean), x - mean - scale, or x * scale */                      \
    K(void, soft_each_##S, (const tni_sweep *r, int kind))           \
    /* x = log x */                                                  \
    K(void, log_##S, (void *x, int64_t n))                           \
    /* y = (x - mean) * scale + bias, the last two fused */          \
    K(void, affine_rows_##S, (const tni_sweep *r))                   \
    /* y = (x - mean) * scale * weight + bias, the last two fused */ \
    K(void, norm_row_##S, (const tni_norm_row *r))
#define TNI_KERNELS_ROWWISE(K)                                                                   \
    TNI_KERNELS_ROWWISE_TYPE(K, f32)                                                             \
    TNI_KERNELS_ROWWISE_TYPE(K, f64)                                                             \
    /* one += dy * x; without x: one += dy */                                                    \
    K(void, dot_rows_f32, (const tni_sweep *r))                                                  \
    /* y = x * (dy - scale), or, of a log-softmax x, dy - exp(x) * scale */                      \
    K(void, soft_back_rows_f32, (const tni_sweep *r, bool log))                                  \
    /* the same with a scale for each row, not column; all have x's step */                      \
    K(void, soft_back_each_f32, (const tni_sweep *r, bool log))                                  \
    /* one += dy, two += dy * (x - mean) */                                                      \
    K(void, moments_rows_f32, (const tni_sweep *r))                                              \
    /* y = dy * scale + (x - mean) * bias + one */                                               \
    K(void, affine_back_rows_f32, (const tni_sweep *r))                                          \
    /* h = (x - mean) * scale, g = dy * weight: one[lane] += g, two[lane] += g * h over lanes of \
     * 64 */                                                                                     \
    K(void, norm_moments_f32, (const tni_norm_row *r))                                           \
    /* y = scale * (g - a - h * b) */                                                            \
    K(void, norm_back_f32, (const tni_norm_row *r))                                              \
    /* one[i] += dy[i] * h[i], two[i] += dy[i] */                                                \
    K(void, norm_weights_f32, (const tni_norm_row *r))

#endif
