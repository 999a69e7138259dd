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

enum { DFT_SIDE = 8, DFT_ROOM = 1 << 15, DFT_STAGES = 64 };

#define TNI_DFT static TNI_UNUSED
#include "../../simd/dft_stages.inl"
#undef TNI_DFT

/* What a call knows of its length: in shared scratch. chirp and filter: Bluestein's alone. */
typedef struct dft_plan {
    dft_roots roots;
    int64_t n, m, side; /* transformed: length m, columns side by side */
    double *chirp_re, *chirp_im, *filter_re, *filter_im;
} dft_plan;

typedef struct dft_note {
    int64_t n, m, side;
} dft_note;

static void dft_fill_roots(dft_roots *w) {
    for (int64_t k = 0; k < w->n; k++) dft_root(k, w->n, &w->re[k], &w->im[k]);
}

/* --- stages ----------------------------------------------------------------------------------- */

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
        for (int64_t p = 0; p < s.m; p++) dft_radix(&s, p, 0, s.wide);
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
