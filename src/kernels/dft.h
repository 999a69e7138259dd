/* dft.h - kernel entries of Fourier transforms (ops/fft/dft.c): K(ret, name, params). They compute
 * as simd/dft_stages.inl does, bit for bit, many columns side by side. */
#ifndef TNI_KERNELS_DFT_H
#define TNI_KERNELS_DFT_H

#include "../base/base.h"

/* A stage of radix r over planes of rows, each of `side` columns. Row (p + m j) wide + q of x, j <
 * r, gives row (r p + k) wide + q of y, k < r; p < m, q < wide. Rows lie x_step and y_step apart.
 *
 * What is multiplied to power k of group p is root (k p) p_step of the table of n roots; with
 * `each`, a column has its own: column c that of (k - 1) k_step + p p_step + c in the table. */
typedef struct tni_dft_stage {
    const double *xr, *xi;
    double *yr, *yi;
    int64_t r, m, wide, side, x_step, y_step;
    const double *re, *im;
    int64_t n, p_step, k_step;
    bool each; /* radix 4 only */
} tni_dft_stage;

#define TNI_KERNELS_DFT(K)                           \
    K(void, dft_stage_f64, (const tni_dft_stage *s)) \
    /* cos and sin of 2 pi k / n, k = 0..n / 8 */    \
    K(void, dft_eighth_f64, (double *c, double *s, int64_t n))

#endif
