/* dft_roots.inl - what the CPU (ops/fft/dft.c) and a device (cuda/dft.cu) share of Fourier
 * transforms: lengths, radices and roots of unity. TNI_DFT says whose functions they are. */
#include "dft_series.h"

enum {
    DFT_RADIX = 31,      /* the largest radix */
    DFT_LARGE = 1 << 15, /* longer ones are made of two shorter ones */
    DFT_TWIST = 64,      /* bytes of neighbours that share a twiddle's first part (dft_twist) */
    DFT_FINE = 1 << 10   /* roots of dft_fine */
};

/* n where its factors are small, else the power of two that holds the convolution. */
TNI_DFT int64_t dft_inner(int64_t n) {
    int64_t rest = n, m = 1;
    for (int64_t p = 2; p <= DFT_RADIX; p++)
        while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
    while (m < 2 * n - 1) m *= 2;
    return m;
}
TNI_DFT int64_t dft_next_radix(int64_t rest) {
    if (rest % 4 == 0) return 4;
    for (int64_t r = 2; r < rest; r++)
        if (rest % r == 0) return r;
    return rest;
}
/* The rows of a large line as a matrix, at most as many as it has columns; 0: it is not large. */
TNI_DFT int64_t dft_large_rows(int64_t m) {
    int64_t rows = 1, rest = m;
    if (m <= DFT_LARGE) return 0;
    while (rest > 1) {
        const int64_t r = dft_next_radix(rest), next = r == 4 && rows > m / rows / 16 ? 2 : r;
        if (rows * next > m / (rows * next)) break;
        rows *= next;
        rest /= next;
    }
    return rows;
}
/* sin and cos of 0 to pi / 4 by their series, so that no libm decides the bits; within a unit. */
TNI_DFT double dft_sine(double x) {
    const double at[TNI_DFT_SINES] = TNI_DFT_SINE, z = x * x;
    double p = at[0];
    for (int i = 1; i < TNI_DFT_SINES; i++) p = fma(z, p, at[i]);
    return fma(x * z, p, x);
}
TNI_DFT double dft_cosine(double x) {
    const double at[TNI_DFT_COSINES] = TNI_DFT_COSINE, z = x * x;
    double p = at[0];
    for (int i = 1; i < TNI_DFT_COSINES; i++) p = fma(z, p, at[i]);
    return p;
}
/* cos and -sin of `turn` eighths of the circle, and of an angle within the next one with cosine c
 * and sine s: that from its beginning, or, of an odd turn, that to its end. */
TNI_DFT void dft_turned(int turn, double c, double s, double *re, double *im) {
    const double a = turn & 1 ? s : c, b = turn & 1 ? c : s; /* within the quarter */
    switch (turn >> 1) {
    case 0: *re = a, *im = -b; break;
    case 1: *re = -b, *im = -a; break;
    case 2: *re = -a, *im = b; break;
    default: *re = b, *im = a; break;
    }
}
/* Root k of n of a forward transform, cos and -sin of 2 pi k / n. The angle is taken within an
 * eighth of the circle, where it is most exact. */
TNI_DFT void dft_root(int64_t k, int64_t n, double *re, double *im) {
    const int64_t turn = 8 * k / n, part = 8 * k - turn * n; /* of n: within the eighth */
    const double angle = TNI_DFT_EIGHTH * ((double)(turn & 1 ? n - part : part) / (double)n);
    dft_turned((int)turn, dft_cosine(angle), dft_sine(angle), re, im);
}

/* The roots of a large n by two tables: root k is coarse k / DFT_FINE times fine k % DFT_FINE. */
typedef struct dft_fine {
    double *coarse_re, *coarse_im, *fine_re, *fine_im;
} dft_fine;
TNI_DFT int64_t dft_coarse(int64_t n) { return (n - 1) / DFT_FINE + 1; }
TNI_DFT void dft_fine_root(const dft_fine *t, int64_t k, double *re, double *im) {
    const int64_t i = k / DFT_FINE, j = k % DFT_FINE;
    const double a = t->coarse_re[i], b = t->coarse_im[i], c = t->fine_re[j], d = t->fine_im[j];
    *re = fma(-b, d, a * c);
    *im = fma(b, c, a * d);
}
