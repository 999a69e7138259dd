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
 * fma(c, x, s y) and y = fma(c, y, -s x) of column k and the next one. */
#define TNI_KERNELS_MATRIX(K)       \
    TNI_KERNELS_MATRIX_TYPE(K, f32) \
    TNI_KERNELS_MATRIX_TYPE(K, f64) \
    K(void, columns_rotate_f64,     \
      (double *q, int64_t step, int64_t rows, const double *cs, int64_t n))

#endif
