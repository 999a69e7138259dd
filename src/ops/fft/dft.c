/* dft.c - one discrete Fourier transform after another along a dimension: dft.
 *
 * Lengths whose prime factors are at most DFT_RADIX go through Stockham's autosort (W. Cochran et
 * al., "What is the fast Fourier transform?", 1967), radix 4 first; other lengths through a
 * convolution of a power of two (L. Bluestein, 1970). Several neighbours are transformed side by
 * side, and all is computed in f64, so neither threads nor vectors change a bit. */
#include "../../call/arguments.h"
#include "../../cpu/matrix.h"
#include "../../api/ops/fft.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../base/rounded_begin.inl"

enum { DFT_RADIX = 31, DFT_SIDE = 8, DFT_ROOM = 1 << 15, DFT_STAGES = 64 };

/* cos and -sin of 2 pi k / n, k < n: the roots of a forward transform. */
typedef struct dft_roots {
    double *re, *im;
    int64_t n;
} dft_roots;

/* What a call knows of its length: in shared scratch. chirp and filter: Bluestein's alone. */
typedef struct dft_plan {
    dft_roots roots;
    int64_t n, m, side; /* transformed: length m, columns side by side */
    double *chirp_re, *chirp_im, *filter_re, *filter_im;
} dft_plan;

typedef struct dft_note {
    int64_t n, m, side;
} dft_note;

/* n where its factors are small, else the power of two that holds the convolution. */
static int64_t dft_inner(int64_t n) {
    int64_t rest = n, m = 1;
    for (int64_t p = 2; p <= DFT_RADIX; p++)
        while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
    while (m < 2 * n - 1) m *= 2;
    return m;
}
/* sin and cos of 0 to pi / 4 by their series, so that no libm decides the bits; within a unit. */
static double dft_sine(double x) {
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
static double dft_cosine(double x) {
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
    return fma(z, p, 1);
}
/* The angle is taken within an eighth of the circle, where it is most exact. */
static void dft_root(int64_t k, int64_t n, double *re, double *im) {
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
static void dft_fill_roots(dft_roots *w) {
    for (int64_t k = 0; k < w->n; k++) dft_root(k, w->n, &w->re[k], &w->im[k]);
}

/* --- stages ----------------------------------------------------------------------------------- */

/* A stage of radix r over planes: m groups, each of `wide` neighbours. root_step: places in the
 * table of roots that one step of a twiddle takes. */
typedef struct dft_stage {
    const dft_roots *w;
    const double *xr, *xi;
    double *yr, *yi;
    int64_t r, m, wide, root_step;
} dft_stage;

static void dft_radix2(const dft_stage *s, int64_t p) {
    const int64_t n = s->wide, a = p * n, b = (p + s->m) * n, to = 2 * p * n;
    const double c = s->w->re[p * s->root_step], d = s->w->im[p * s->root_step];
    const double *TNI_RESTRICT xr = s->xr, *TNI_RESTRICT xi = s->xi;
    double *TNI_RESTRICT yr = s->yr + to, *TNI_RESTRICT yi = s->yi + to;
    for (int64_t q = 0; q < n; q++) {
        const double ur = xr[a + q] - xr[b + q], ui = xi[a + q] - xi[b + q];
        yr[q] = xr[a + q] + xr[b + q];
        yi[q] = xi[a + q] + xi[b + q];
        yr[n + q] = ur * c - ui * d;
        yi[n + q] = ur * d + ui * c;
    }
}
static void dft_radix4(const dft_stage *s, int64_t p) {
    const int64_t n = s->wide, half = s->m * n, at = p * n, to = 4 * p * n;
    const double *wr = s->w->re, *wi = s->w->im;
    const int64_t k = p * s->root_step;
    const double c1 = wr[k], d1 = wi[k], c2 = wr[2 * k], d2 = wi[2 * k], c3 = wr[3 * k],
                 d3 = wi[3 * k];
    const double *TNI_RESTRICT xr = s->xr + at, *TNI_RESTRICT xi = s->xi + at;
    double *TNI_RESTRICT yr = s->yr + to, *TNI_RESTRICT yi = s->yi + to;
    for (int64_t q = 0; q < n; q++) {
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
static void dft_radix_any(const dft_stage *s, int64_t p) {
    const int64_t n = s->wide, r = s->r, total = s->w->n;
    for (int64_t k = 0; k < r; k++) {
        const double c = s->w->re[p * k * s->root_step], d = s->w->im[p * k * s->root_step];
        double *TNI_RESTRICT yr = s->yr + (r * p + k) * n,
                             *TNI_RESTRICT yi = s->yi + (r * p + k) * n;
        for (int64_t j = 0; j < r; j++) {
            const int64_t root = j * k % r * (total / r), at = (p + s->m * j) * n;
            const double e = s->w->re[root], g = s->w->im[root];
            const double *TNI_RESTRICT xr = s->xr + at, *TNI_RESTRICT xi = s->xi + at;
            for (int64_t q = 0; q < n && !root; q++) { /* an infinity times 0 would be NaN */
                yr[q] = j ? yr[q] + xr[q] : xr[q];
                yi[q] = j ? yi[q] + xi[q] : xi[q];
            }
            for (int64_t q = 0; q < n && root; q++) {
                const double re = xr[q] * e - xi[q] * g, im = xr[q] * g + xi[q] * e;
                yr[q] = j ? yr[q] + re : re;
                yi[q] = j ? yi[q] + im : im;
            }
        }
        for (int64_t q = 0; q < n && p > 0 && k > 0; q++) {
            const double re = yr[q] * c - yi[q] * d;
            yi[q] = yr[q] * d + yi[q] * c;
            yr[q] = re;
        }
    }
}
static int64_t dft_next_radix(int64_t rest) {
    if (rest % 4 == 0) return 4;
    for (int64_t r = 2; r < rest; r++)
        if (rest % r == 0) return r;
    return rest;
}
/* Transforms `side` columns of length w->n in plane pairs x; y is room. True: the result is in
 * y. */
static bool dft_columns(const dft_roots *w, int64_t side, double *x, double *y) {
    const int64_t half = w->n * side;
    int64_t rest = w->n, done = 1;
    bool flipped = false;
    while (rest > 1) {
        const int64_t r = dft_next_radix(rest);
        double *from = flipped ? y : x, *to = flipped ? x : y;
        const dft_stage s = {w, from, from + half, to, to + half, r, rest / r, done * side, done};
        for (int64_t p = 0; p < s.m; p++)
            if (r == 4)
                dft_radix4(&s, p);
            else if (r == 2)
                dft_radix2(&s, p);
            else
                dft_radix_any(&s, p);
        flipped = !flipped;
        rest /= r;
        done *= r;
    }
    return flipped;
}

/* --- Bluestein -------------------------------------------------------------------------------- */

/* chirp_k = exp(-pi i k^2 / n), and the transform of its conjugate, over m. */
static void dft_fill_chirp(dft_plan *p, double *room) {
    const int64_t n = p->n, m = p->m;
    double *x = room, *y = room + 2 * m, *from;
    memset(x, 0, sizeof *x * (size_t)(2 * m));
    for (int64_t k = 0, square = 0; k < n; k++) { /* square: k^2 modulo 2 n */
        dft_root(square, 2 * n, &p->chirp_re[k], &p->chirp_im[k]);
        square = (square + 2 * k + 1) % (2 * n);
        x[k] = p->chirp_re[k];
        x[m + k] = -p->chirp_im[k];
        if (k) x[m - k] = x[k], x[2 * m - k] = x[m + k];
    }
    from = dft_columns(&p->roots, 1, x, y) ? y : x;
    for (int64_t k = 0; k < m; k++) {
        p->filter_re[k] = from[k] / (double)m;
        p->filter_im[k] = from[m + k] / (double)m;
    }
}
/* Rows below end times chirp; `end` on are 0. */
static void dft_times_chirp(const dft_plan *p, double *x) {
    const int64_t half = p->m * p->side;
    for (int64_t k = 0; k < p->n; k++)
        for (int64_t q = k * p->side; q < (k + 1) * p->side; q++) {
            const double re = x[q] * p->chirp_re[k] - x[half + q] * p->chirp_im[k];
            x[half + q] = x[q] * p->chirp_im[k] + x[half + q] * p->chirp_re[k];
            x[q] = re;
        }
}
static double *dft_convolve(const dft_plan *p, double *x, double *y) {
    const int64_t half = p->m * p->side;
    double *at, *to;
    dft_times_chirp(p, x);
    at = dft_columns(&p->roots, p->side, x, y) ? y : x;
    to = at == x ? y : x;
    /* The inverse transform is the forward one with the planes exchanged. */
    for (int64_t k = 0; k < p->m; k++)
        for (int64_t q = k * p->side; q < (k + 1) * p->side; q++) {
            const double re = at[q] * p->filter_re[k] - at[half + q] * p->filter_im[k];
            const double im = at[q] * p->filter_im[k] + at[half + q] * p->filter_re[k];
            to[q] = im;
            to[half + q] = re;
        }
    at = dft_columns(&p->roots, p->side, to, at) ? at : to;
    for (int64_t q = 0; q < half; q++) {
        const double re = at[half + q];
        at[half + q] = at[q];
        at[q] = re;
    }
    dft_times_chirp(p, at);
    return at;
}

/* --- the row ---------------------------------------------------------------------------------- */

/* Row-major but with the elements along d as neighbours. */
static void dft_strides(int ndim, int d, const int64_t *size, int64_t *stride) {
    int64_t step = size[d] > 1 ? size[d] : 1;
    stride[d] = 1;
    for (int e = ndim - 1; e >= 0; e--) {
        if (e == d) continue;
        stride[e] = step;
        step *= size[e] > 1 ? size[e] : 1;
    }
}
static bool dft_check(tn_frame *f) {
    TN_ARGS(dft, a, f);
    const tn_tensor *x = f->in[0];
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], numel, shared, each;
    int d;
    TN_NOTE(dft_note, note, f);
    const int dtype = x->dtype, real = tni_is_complex(dtype) ? (int)tni_real_of(dtype) : dtype;
    if (real != TN_F32 && real != TN_F64)
        return tn_fail(f, TN_UNSUPPORTED, "Unsupported dtype %s",
                       real == TN_F16    ? "Half"
                       : real == TN_BF16 ? "BFloat16"
                                         : tni_dtype(dtype)->text);
    if (!x->ndim)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)a->dim);
    if (!tni_dim_of(f, x->ndim, a->dim, &d)) return false;
    if (a->n < 1 || a->count < 0 || a->n > INT64_MAX / 4096)
        return tn_fail(f, TN_INVALID, "Invalid number of data points (%lld) specified",
                       (long long)a->n);
    memcpy(size, x->size, sizeof *size * (size_t)x->ndim);
    size[d] = a->count;
    if (!tni_numel_of(x->ndim, size, &numel))
        return tn_fail(f, TN_INVALID, "the result is too large");
    note->n = a->n;
    note->m = dft_inner(a->n);
    note->side = note->m > DFT_ROOM / DFT_SIDE ? DFT_ROOM / note->m : (int64_t)DFT_SIDE;
    if (note->side < 1) note->side = 1;
    /* Roots, filter, chirp and room to make them; then two plane pairs a worker. */
    shared = note->m == note->n ? 2 * note->m : 8 * note->m + 2 * note->n;
    each = 4 * note->m * note->side;
    dft_strides(x->ndim, d, size, stride);
    return tn_announce_strided(f, 0, tni_complex_of(real), x->ndim, size, stride) &&
           tn_scratch(f, shared, 8) && tn_scratch_each(f, each, 8);
}
/* The plan in shared scratch; room behind it where it is made. */
static dft_plan dft_plan_of(tn_frame *f, double **room) {
    TN_NOTE(dft_note, note, f);
    double *at = (double *)f->scratch;
    dft_plan p;
    p.n = note->n, p.m = note->m, p.side = note->side;
    p.roots.n = p.m, p.roots.re = at, p.roots.im = at + p.m;
    p.filter_re = at + 2 * p.m, p.filter_im = at + 3 * p.m;
    p.chirp_re = at + 4 * p.m, p.chirp_im = p.chirp_re + p.n;
    *room = p.chirp_im + p.n;
    return p;
}
/* Where line i of t along d begins, in elements. */
static int64_t dft_line(const tn_tensor *t, int d, int64_t i) {
    int64_t at = 0;
    for (int e = t->ndim - 1; e >= 0; e--)
        if (e != d) {
            at += i % t->size[e] * t->stride[e];
            i /= t->size[e];
        }
    return at;
}
/* n elements of x, `step` apart, to planes with `side` columns, and back. */
static void dft_load(const tn_tensor *x, int64_t at, int64_t step, int64_t n, int64_t side,
                     double *re, double *im) {
    const bool pairs = tni_is_complex(x->dtype);
    const float *f = (const float *)(const void *)tni_bytes_at(x);
    const double *d = (const double *)(const void *)tni_bytes_at(x);
    const bool narrow = x->dtype == TN_F32 || x->dtype == TN_C64;
    if (pairs) at *= 2, step *= 2;
    for (int64_t k = 0; k < n; k++, at += step) {
        re[k * side] = narrow ? (double)f[at] : d[at];
        im[k * side] = !pairs ? 0 : narrow ? (double)f[at + 1] : d[at + 1];
    }
}
static void dft_store(tn_tensor *y, int64_t at, int64_t step, int64_t n, int64_t side, double scale,
                      const double *re, const double *im) {
    float *f = (float *)(void *)tni_bytes_at(y);
    double *d = (double *)(void *)tni_bytes_at(y);
    for (int64_t k = 0; k < n; k++)
        if (y->dtype == TN_C64) {
            f[2 * (at + k * step)] = (float)(re[k * side] * scale);
            f[2 * (at + k * step) + 1] = (float)(im[k * side] * scale);
        } else {
            d[2 * (at + k * step)] = re[k * side] * scale;
            d[2 * (at + k * step) + 1] = im[k * side] * scale;
        }
}
static int64_t dft_lines(const tn_tensor *t, int d) {
    int64_t lines = 1;
    for (int e = 0; e < t->ndim; e++) lines *= e == d ? 1 : t->size[e];
    return lines;
}
static void dft_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(dft, a, f);
    tn_tensor *x = f->in[0], *y = f->out[0];
    double *room, *one = (double *)scratch, *at;
    const dft_plan p = dft_plan_of(f, &room);
    const int d = tni_dim(x->ndim, a->dim);
    const int64_t half = p.m * p.side, first = i * p.side, left = dft_lines(x, d) - first;
    const int64_t lines = left < p.side ? left : p.side;
    const int64_t in = x->size[d] < p.n ? x->size[d] : p.n, out = a->count < p.n ? a->count : p.n;
    double *two = one + 2 * half;
    memset(one, 0, sizeof *one * (size_t)(2 * half));
    /* The inverse: real and imaginary planes exchanged before and after. */
    for (int64_t q = 0; q < lines; q++)
        dft_load(x, dft_line(x, d, first + q), x->stride[d], in, p.side,
                 one + q + (a->inverse ? half : 0), one + q + (a->inverse ? 0 : half));
    if (p.m == p.n)
        at = dft_columns(&p.roots, p.side, one, two) ? two : one;
    else
        at = dft_convolve(&p, one, two);
    for (int64_t q = 0; q < lines; q++) {
        const int64_t to = dft_line(y, d, first + q);
        static const double zero[1] = {0};
        dft_store(y, to, y->stride[d], out, p.side, a->scale, at + q + (a->inverse ? half : 0),
                  at + q + (a->inverse ? 0 : half));
        dft_store(y, to + out * y->stride[d], y->stride[d], a->count - out, 0, 1, zero, zero);
    }
}
static void dft_run(tn_frame *f) {
    TN_ARGS(dft, a, f);
    double *room;
    dft_plan p = dft_plan_of(f, &room);
    const int64_t lines = dft_lines(f->in[0], tni_dim(f->in[0]->ndim, a->dim));
    if (!f->out[0]->numel) return;
    dft_fill_roots(&p.roots);
    if (p.m != p.n) dft_fill_chirp(&p, room);
    tn_each(f, (lines + p.side - 1) / p.side, tni_effort(100.0 * (double)(p.m * p.side)), dft_task);
}
/* The transform the other way, with the lengths exchanged. */
static void dft_grad(tn_gradient *g) {
    TN_ARGS(dft, a, g);
    const tn_tensor *x = g->in[0];
    const int64_t size = x->size[tni_dim(x->ndim, a->dim)];
    tn_tensor *t = tnp_dft(g->incoming[0], a->dim, a->n, size, !a->inverse, a->scale);
    tn_give(g, 0, t && !tni_is_complex(x->dtype) ? tnp_real(t) : t);
}
/* The discrete Fourier transform of length n along dim, times scale: self is cropped or gets zeros
 * behind it to have n elements, and the result likewise to have count. */
TN_OPERATOR(dft,
            "dft(Tensor self, int dim, int n, int count, bool inverse=False, float scale=1.0) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex, float32, float64 or complex",
                   .example = "tn_dft(x, -1, 8, 8)"),
            .forms = TN_OUT | TN_LEADING, .check = dft_check, .run = dft_run, .grad = dft_grad,
            .sample = "(8):c64 0 8 8 | (3,12) -1 12 7 | (2,37):c64 1 37 37 inverse=True | "
                      "(2,5,3) 1 6 4 scale=0.5 | (0,3) 1 3 3 | (35) 0 35 18 | (3,4) 0 2 3 True")

#include "../../base/rounded_end.inl"
