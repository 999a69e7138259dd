/* dft_stages.inl - roots of unity and the stages of a Fourier transform. TNI_DFT says whose
 * functions they are: the CPU's (ops/fft/dft.c), or a device's (cuda/dft.cu). */

enum { DFT_RADIX = 31 };

/* cos and -sin of 2 pi k / n, k < n: the roots of a forward transform. */
typedef struct dft_roots {
    double *re, *im;
    int64_t n;
} dft_roots;

/* n where its factors are small, else the power of two that holds the convolution. */
TNI_DFT int64_t dft_inner(int64_t n) {
    int64_t rest = n, m = 1;
    for (int64_t p = 2; p <= DFT_RADIX; p++)
        while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
    while (m < 2 * n - 1) m *= 2;
    return m;
}
/* sin and cos of 0 to pi / 4 by their series, so that no libm decides the bits; within a unit. */
TNI_DFT double dft_sine(double x) {
    const double z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = fma(z, p, -1.0 / 1307674368000.0);
    p = fma(z, p, 1.0 / 6227020800.0);
    p = fma(z, p, -1.0 / 39916800);
    p = fma(z, p, 1.0 / 362880);
    p = fma(z, p, -1.0 / 5040);
    p = fma(z, p, 1.0 / 120);
    p = fma(z, p, -1.0 / 6);
    return fma(x * z, p, x);
}
TNI_DFT double dft_cosine(double x) {
    const double z = x * x;
    double p = -1.0 / 6402373705728000.0;
    p = fma(z, p, 1.0 / 20922789888000.0);
    p = fma(z, p, -1.0 / 87178291200.0);
    p = fma(z, p, 1.0 / 479001600);
    p = fma(z, p, -1.0 / 3628800);
    p = fma(z, p, 1.0 / 40320);
    p = fma(z, p, -1.0 / 720);
    p = fma(z, p, 1.0 / 24);
    p = fma(z, p, -0.5);
    return fma(z, p, 1.0);
}
/* The angle is taken within an eighth of the circle, where it is most exact. */
TNI_DFT void dft_root(int64_t k, int64_t n, double *re, double *im) {
    const int64_t turn = 8 * k / n, half = turn & 1;
    const double step = 0.78539816339744830961566; /* pi / 4 */
    const int64_t part = 8 * k - turn * n;         /* of n: within the eighth */
    const double angle = step * ((double)(half ? n - part : part) / (double)n);
    const double s = dft_sine(angle), c = dft_cosine(angle), a = half ? s : c, b = half ? c : s;
    /* a, b: cosine and sine within the quarter. */
    switch (turn >> 1) {
    case 0: *re = a, *im = -b; break;
    case 1: *re = -b, *im = -a; break;
    case 2: *re = -a, *im = b; break;
    default: *re = b, *im = a; break;
    }
}

/* A stage of radix r over planes: m groups, each of `wide` neighbours. root_step: places in the
 * table of roots that one step of a twiddle takes. */
typedef struct dft_stage {
    const dft_roots *w;
    const double *xr, *xi;
    double *yr, *yi;
    int64_t r, m, wide, root_step;
} dft_stage;

TNI_DFT void dft_radix2(const dft_stage *s, int64_t p, int64_t q, int64_t end) {
    const int64_t n = s->wide, a = p * n, b = (p + s->m) * n, to = 2 * p * n;
    const double c = s->w->re[p * s->root_step], d = s->w->im[p * s->root_step];
    const double *TNI_RESTRICT xr = s->xr, *TNI_RESTRICT xi = s->xi;
    double *TNI_RESTRICT yr = s->yr + to, *TNI_RESTRICT yi = s->yi + to;
    for (; q < end; q++) {
        const double ur = xr[a + q] - xr[b + q], ui = xi[a + q] - xi[b + q];
        yr[q] = xr[a + q] + xr[b + q];
        yi[q] = xi[a + q] + xi[b + q];
        yr[n + q] = ur * c - ui * d;
        yi[n + q] = ur * d + ui * c;
    }
}
TNI_DFT void dft_radix4(const dft_stage *s, int64_t p, int64_t q, int64_t end) {
    const int64_t n = s->wide, half = s->m * n, at = p * n, to = 4 * p * n;
    const double *wr = s->w->re, *wi = s->w->im;
    const int64_t k = p * s->root_step;
    const double c1 = wr[k], d1 = wi[k], c2 = wr[2 * k], d2 = wi[2 * k], c3 = wr[3 * k],
                 d3 = wi[3 * k];
    const double *TNI_RESTRICT xr = s->xr + at, *TNI_RESTRICT xi = s->xi + at;
    double *TNI_RESTRICT yr = s->yr + to, *TNI_RESTRICT yi = s->yi + to;
    for (; q < end; q++) {
        const double ar = xr[q] + xr[2 * half + q], ai = xi[q] + xi[2 * half + q];
        const double br = xr[q] - xr[2 * half + q], bi = xi[q] - xi[2 * half + q];
        const double cr = xr[half + q] + xr[3 * half + q], ci = xi[half + q] + xi[3 * half + q];
        const double dr = xr[half + q] - xr[3 * half + q], di = xi[half + q] - xi[3 * half + q];
        /* -i d = (di, -dr) */
        const double er = br + di, ei = bi - dr, fr = ar - cr, fi = ai - ci, gr = br - di,
                     gi = bi + dr;
        yr[q] = ar + cr;
        yi[q] = ai + ci;
        yr[n + q] = er * c1 - ei * d1;
        yi[n + q] = er * d1 + ei * c1;
        yr[2 * n + q] = fr * c2 - fi * d2;
        yi[2 * n + q] = fr * d2 + fi * c2;
        yr[3 * n + q] = gr * c3 - gi * d3;
        yi[3 * n + q] = gr * d3 + gi * c3;
    }
}
/* Any radix, by its definition. */
TNI_DFT void dft_radix_any(const dft_stage *s, int64_t p, int64_t first, int64_t end) {
    const int64_t n = s->wide, r = s->r, total = s->w->n;
    for (int64_t k = 0; k < r; k++) {
        const double c = s->w->re[p * k * s->root_step], d = s->w->im[p * k * s->root_step];
        double *TNI_RESTRICT yr = s->yr + (r * p + k) * n,
                             *TNI_RESTRICT yi = s->yi + (r * p + k) * n;
        for (int64_t j = 0; j < r; j++) {
            const int64_t root = j * k % r * (total / r), at = (p + s->m * j) * n;
            const double e = s->w->re[root], g = s->w->im[root];
            const double *TNI_RESTRICT xr = s->xr + at, *TNI_RESTRICT xi = s->xi + at;
            for (int64_t q = first; q < end && !root; q++) { /* an infinity times 0 would be NaN */
                yr[q] = j ? yr[q] + xr[q] : xr[q];
                yi[q] = j ? yi[q] + xi[q] : xi[q];
            }
            for (int64_t q = first; q < end && root; q++) {
                const double re = xr[q] * e - xi[q] * g, im = xr[q] * g + xi[q] * e;
                yr[q] = j ? yr[q] + re : re;
                yi[q] = j ? yi[q] + im : im;
            }
        }
        for (int64_t q = first; q < end && p > 0 && k > 0; q++) {
            const double re = yr[q] * c - yi[q] * d;
            yi[q] = yr[q] * d + yi[q] * c;
            yr[q] = re;
        }
    }
}
TNI_DFT int64_t dft_next_radix(int64_t rest) {
    if (rest % 4 == 0) return 4;
    for (int64_t r = 2; r < rest; r++)
        if (rest % r == 0) return r;
    return rest;
}
/* Neighbours q to end - 1 of group p. */
TNI_DFT void dft_radix(const dft_stage *s, int64_t p, int64_t q, int64_t end) {
    if (s->r == 4)
        dft_radix4(s, p, q, end);
    else if (s->r == 2)
        dft_radix2(s, p, q, end);
    else
        dft_radix_any(s, p, q, end);
}
