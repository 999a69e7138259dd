/* matrix.h - kernel entries of linear algebra: K(ret, name, params). Columns are contiguous. */
#ifndef TNI_KERNELS_MATRIX_H
#define TNI_KERNELS_MATRIX_H

#include "../base/base.h"

/* The chains in which column_dot adds: element i goes into chain i mod 16. */
enum { TNI_DOT_LANES = 16 };

#define TNI_KERNELS_MATRIX_TYPE(K, S)                                          \
    /* y[i] = fma(a, x[i], y[i]) */                                            \
    K(void, column_add_##S, (void *y, const void *x, double a, int64_t n))     \
    /* the sum of x[i] y[i]: 16 chains of fma in rising i, folded by halves */ \
    K(double, column_dot_##S, (const void *x, const void *y, int64_t n))
/* n rotations of neighbours among columns `step` apart, from the first on: with (c, s) from cs, x =
 * fma(c, x, s y) and y = fma(c, y, -s x) of column k and the next one.
 *
 * columns_reflect: n reflections of complex neighbours in two planes, each five numbers: both parts
 * of tau and of v, and Re(tau v). x loses u = tau x + Re(tau v) y, and y loses u conj(v); nothing
 * is fused.
 *
 * columns_reflect3: n reflections of three real neighbours, each six numbers: v1, v2, tau, tau v1,
 * tau v2 and one that is not read. With u = x + v1 y + v2 z, x, y, z lose u tau, u tau v1, u tau
 * v2. */
#define TNI_KERNELS_MATRIX(K)                                                              \
    TNI_KERNELS_MATRIX_TYPE(K, f32)                                                        \
    TNI_KERNELS_MATRIX_TYPE(K, f64)                                                        \
    K(void, columns_rotate_f64,                                                            \
      (double *q, int64_t step, int64_t rows, const double *cs, int64_t n))                \
    K(void, columns_reflect_f64,                                                           \
      (double *re, double *im, int64_t step, int64_t rows, const double *turn, int64_t n)) \
    K(void, columns_reflect3_f64,                                                          \
      (double *q, int64_t step, int64_t rows, const double *turn, int64_t n))

#endif
