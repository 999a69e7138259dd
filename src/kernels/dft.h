/* dft.h - kernel entries of Fourier transforms (ops/fft/dft.c): K(ret, name, params).
 *
 * They work on planes of real and imaginary parts, rows of `side` columns that are transformed side
 * by side. All pointers are to numbers of the kernel's type. cuda/dft.cu has the same arithmetic,
 * bit for bit. */
#ifndef TNI_KERNELS_DFT_H
#define TNI_KERNELS_DFT_H

#include "../base/base.h"
#include "../simd/dft_series.h"

/* A stage of radix r over planes of rows, each of `side` columns. Row (p + m j) wide + q of x, j <
 * r, gives row (r p + k) wide + q of y, k < r; p < m, q < wide. Rows lie x_step and y_step apart.
 * With r = 16 it is two stages of radix 4.
 *
 * What is multiplied to power k of group p is root (k p) p_step of the table of n roots; with
 * `each`, a column has its own: column c that of (k - 1) k_step + p p_step + c in the table. */
typedef struct tni_dft_stage {
    const void *xr, *xi;
    void *yr, *yi;
    int64_t r, m, wide, side, x_step, y_step;
    const void *re, *im, *root_re, *root_im; /* root: of an odd radix, those of n */
    int64_t n, p_step, k_step;
    bool each;
} tni_dft_stage;

/* n elements of lines to or from planes: element k of line q is number line[q] + k step of data,
 * its imaginary part `apart` behind it; 0: it has none, and what is loaded has 0. What is stored is
 * times scale, the imaginary part times im_scale. */
typedef struct tni_dft_move {
    void *data, *re, *im;
    const int64_t *line;
    int64_t step, apart, n, lines, side;
    double scale, im_scale;
} tni_dft_move;

/* The last step of a column pass: row k, column q of x times root k (first + q), which is that of
 * row k in base times the one of row k, column q in part, to number q rows + k of y. */
typedef struct tni_dft_twist {
    const void *xr, *xi, *base_re, *base_im, *part_re, *part_im;
    void *yr, *yi;
    int64_t rows, side, part_step;
} tni_dft_twist;

/* Rows of planes times one number each, of w. */
typedef struct tni_dft_times {
    const void *xr, *xi, *wr, *wi;
    void *yr, *yi;
    int64_t n, side;
} tni_dft_times;

/* unpack: the transform of m pairs of real neighbours to half of that of 2 m real numbers; pack:
 * what is such a half, the imaginary parts times sign, to what pairs are the transform of. In
 * place; the real part of element m is in the place of the imaginary one of element 0. re, im: the
 * first roots of 2 m. */
typedef struct tni_dft_half {
    void *xr, *xi;
    const void *re, *im;
    int64_t m, side;
    double sign;
} tni_dft_half;

#define TNI_KERNELS_DFT_OF(K, S)                     \
    K(void, dft_stage_##S, (const tni_dft_stage *s)) \
    K(void, dft_load_##S, (const tni_dft_move *v))   \
    K(void, dft_store_##S, (const tni_dft_move *v))  \
    K(void, dft_twist_##S, (const tni_dft_twist *t)) \
    K(void, dft_times_##S, (const tni_dft_times *t)) \
    K(void, dft_unpack_##S, (const tni_dft_half *h)) \
    K(void, dft_pack_##S, (const tni_dft_half *h))
#define TNI_KERNELS_DFT(K)                                                            \
    TNI_KERNELS_DFT_OF(K, f32)                                                        \
    TNI_KERNELS_DFT_OF(K, f64)                                                        \
    /* cos and sin of part / n eighths of a circle, `count` of them; part may be c */ \
    K(void, dft_angles_f64, (const double *part, double n, int64_t count, double *c, double *s))

#endif
