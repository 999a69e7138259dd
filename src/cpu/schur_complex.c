/* schur_complex.c - eigenvalues of complex Hessenberg matrices by the implicit single shift QR
 * iteration with J. Wilkinson's shift (Golub, Van Loan, Matrix Computations, 7.5); deflation,
 * shifts and order are those of LAPACK's zlahqr, which keeps the subdiagonal real. */
#include "eigen.h"

#include <float.h>

#include "../base/rounded_begin.inl"

static tni_pair csch_get(const tni_schur *s, int64_t i, int64_t j) {
    return tni_planes_get(s->h, i, j);
}
static void csch_set(const tni_schur *s, int64_t i, int64_t j, tni_pair v) {
    tni_planes_set(s->h, i, j, v);
}
/* |re| + |im| */
static double csch_size(tni_pair v) { return fabs(v.re) + fabs(v.im); }
static tni_pair csch_less(tni_pair a, tni_pair b) { return tni_re_im(a.re - b.re, a.im - b.im); }
static tni_pair csch_conj(tni_pair a) { return tni_re_im(a.re, -a.im); }
/* The root with a real part that is not negative. */
static tni_pair csch_root(tni_pair v) {
    const double length = tni_length(v.re, v.im);
    double re, im;
    if (length == 0) return v;
    re = sqrt(length / 2 + fabs(v.re) / 2);
    im = fabs(v.im) / (2 * re);
    return v.re >= 0 ? tni_re_im(re, copysign(im, v.im)) : tni_re_im(im, copysign(re, v.im));
}

static bool csch_negligible(const tni_schur *s, int64_t k) {
    const tni_pair at = csch_get(s, k, k), before = csch_get(s, k - 1, k - 1);
    const double under = csch_size(csch_get(s, k, k - 1)), over = csch_size(csch_get(s, k - 1, k)),
                 least = tni_schur_least(s->high - s->low + 1);
    double size = csch_size(before) + csch_size(at);
    if (under <= least) return true;
    if (size == 0) {
        if (k - 2 >= s->low) size += fabs(csch_get(s, k - 1, k - 2).re);
        if (k + 1 <= s->high) size += fabs(csch_get(s, k + 1, k).re);
    }
    if (fabs(csch_get(s, k, k - 1).re) > DBL_EPSILON * size) return false;
    return !tni_schur_apart(under, over, csch_size(at), csch_size(csch_less(before, at)), least);
}
/* The eigenvalue of the last 2 x 2 block of [l, i] that is nearer to its end; every tenth time
 * another number. */
static tni_pair csch_shift(const tni_schur *s, int64_t l, int64_t i, int steps) {
    tni_pair t = csch_get(s, i, i), u, x, y, half;
    double size;
    if (steps % 20 == 0) return tni_re_im(t.re + 0.75 * fabs(csch_get(s, i, i - 1).re), t.im);
    if (steps % 10 == 0) {
        t = csch_get(s, l, l);
        return tni_re_im(t.re + 0.75 * fabs(csch_get(s, l + 1, l).re), t.im);
    }
    u = tni_pair_mul(csch_root(csch_get(s, i - 1, i)), csch_root(csch_get(s, i, i - 1)));
    size = csch_size(u);
    if (size == 0) return t;
    x = csch_less(csch_get(s, i - 1, i - 1), t);
    x = tni_re_im(x.re / 2, x.im / 2);
    size = fmax(size, csch_size(x));
    half = tni_re_im(x.re / size, x.im / size);
    y = tni_re_im(u.re / size, u.im / size);
    y = tni_re_im(half.re * half.re - half.im * half.im + (y.re * y.re - y.im * y.im),
                  2 * (half.re * half.im) + 2 * (y.re * y.im));
    y = csch_root(y);
    y = tni_re_im(size * y.re, size * y.im);
    if (csch_size(x) > 0 && x.re * y.re + x.im * y.im < 0) y = tni_re_im(-y.re, -y.im);
    y = tni_re_im(x.re + y.re, x.im + y.im);
    return csch_less(t, tni_pair_mul(u, tni_pair_div(u, y)));
}
/* The row from which a sweep may begin, and the first column of H - shift, scaled. */
static int64_t csch_begin(const tni_schur *s, int64_t l, int64_t i, tni_pair shift, tni_pair *v) {
    for (int64_t m = i - 1;; m--) {
        const tni_pair at = csch_get(s, m, m), after = csch_get(s, m + 1, m + 1);
        tni_pair first = csch_less(at, shift);
        double under = csch_get(s, m + 1, m).re;
        const double size = csch_size(first) + fabs(under);
        first = tni_re_im(first.re / size, first.im / size);
        under /= size;
        v[0] = first;
        v[1] = tni_re_im(under, 0);
        if (m == l || fabs(csch_get(s, m, m - 1).re) * fabs(under) <=
                          DBL_EPSILON * (csch_size(first) * (csch_size(at) + csch_size(after))))
            return m;
    }
}
/* v becomes a real beta and the rest of (1, v_1); returns tau (LAPACK's larfg). */
static tni_pair csch_reflection(tni_pair *v) {
    const double rest = tni_length(v[1].re, v[1].im);
    tni_pair tau = {0, 0};
    double beta;
    if (rest == 0 && v[0].im == 0) return tau;
    beta = -copysign(tni_length(tni_length(v[0].re, v[0].im), rest), v[0].re);
    tau = tni_re_im((beta - v[0].re) / beta, -v[0].im / beta);
    v[1] = tni_pair_div(v[1], tni_re_im(v[0].re - beta, v[0].im));
    v[0] = tni_re_im(beta, 0);
    return tau;
}
/* A reflection of two neighbouring rows and columns, as the kernel columns_reflect reads it. What
 * is not near the diagonal is brought up to date by many at a time. */
typedef struct csch_turn {
    tni_pair tau, v;
    double t2; /* Re(tau v) */
} csch_turn;
enum { CSCH_TURNS = 16, CSCH_BESIDE = 16 };

/* n turns of columns j, j + 1; j + 1, j + 2; .. of x in rows [first, end). */
static void csch_columns(const tni_planes *x, int64_t j, int64_t first, int64_t end,
                         const csch_turn *turn, int64_t n) {
    double *re = (double *)(void *)x->at[0] + first + j * x->ld,
           *im = (double *)(void *)x->at[1] + first + j * x->ld;
    if (end > first) TNI_K(x->k, columns_reflect_f64)(re, im, x->ld, end - first, &turn->tau.re, n);
}
/* A turn of rows i and i + 1 of x in columns [first, end). */
static void csch_rows(const tni_planes *x, int64_t i, int64_t first, int64_t end,
                      const csch_turn *turn) {
    double *ar = (double *)(void *)x->at[0] + i, *ai = (double *)(void *)x->at[1] + i;
    const tni_pair tau = turn->tau, v = turn->v;
    for (int64_t c = first * x->ld; c < end * x->ld; c += x->ld) {
        const double re = tau.re * ar[c] + tau.im * ai[c] + turn->t2 * ar[c + 1],
                     im = tau.re * ai[c] - tau.im * ar[c] + turn->t2 * ai[c + 1];
        ar[c] -= re;
        ai[c] -= im;
        ar[c + 1] -= re * v.re - im * v.im;
        ai[c + 1] -= re * v.im + im * v.re;
    }
}
/* Columns [0, wide) of n rows of a plane to or from a tile, whose rows lie one after another. */
static void csch_tile(double *plane, int64_t ld, int64_t n, int64_t wide, double *tile, bool out) {
    for (int64_t c = 0; c < wide; c++)
        for (int64_t r = 0; r < n; r++) {
            double *at = plane + c * ld + r, *there = tile + r * CSCH_BESIDE + c;
            if (out)
                *at = *there;
            else
                *there = *at;
        }
}
/* n turns of rows i, i + 1; i + 1, i + 2; .. in columns [first, end): of a tile that is turned over
 * these are columns, and the turns conjugates. */
static void csch_rows_later(const tni_planes *x, int64_t i, int64_t n, int64_t first, int64_t end,
                            const csch_turn *turns) {
    double re[(CSCH_TURNS + 1) * CSCH_BESIDE] = {0}, im[(CSCH_TURNS + 1) * CSCH_BESIDE] = {0};
    csch_turn turned[CSCH_TURNS] = {{{0, 0}, {0, 0}, 0}};
    for (int64_t k = 0; k < n; k++) {
        turned[k] = turns[k];
        turned[k].tau = csch_conj(turns[k].tau);
        turned[k].v = csch_conj(turns[k].v);
    }
    for (int64_t c = first; c < end; c += CSCH_BESIDE) {
        const int64_t wide = end - c < CSCH_BESIDE ? end - c : (int64_t)CSCH_BESIDE;
        double *x_re = (double *)(void *)x->at[0] + i + c * x->ld,
               *x_im = (double *)(void *)x->at[1] + i + c * x->ld;
        csch_tile(x_re, x->ld, n + 1, wide, re, false);
        csch_tile(x_im, x->ld, n + 1, wide, im, false);
        TNI_K(x->k, columns_reflect_f64)(re, im, CSCH_BESIDE, wide, &turned->tau.re, n);
        csch_tile(x_re, x->ld, n + 1, wide, re, true);
        csch_tile(x_im, x->ld, n + 1, wide, im, true);
    }
}
/* The first column that the turns which begin with row k leave for later. */
static int64_t csch_edge(const tni_schur *s, int64_t k) {
    return k + CSCH_TURNS + 2 < s->last + 1 ? k + CSCH_TURNS + 2 : s->last + 1;
}
static void csch_row_times(const tni_planes *x, int64_t i, int64_t first, int64_t end,
                           tni_pair by) {
    for (int64_t c = first; c < end; c++)
        tni_planes_set(x, i, c, tni_pair_mul(tni_planes_get(x, i, c), by));
}
static void csch_column_times(const tni_planes *x, int64_t j, int64_t first, int64_t end,
                              tni_pair by) {
    for (int64_t r = first; r < end; r++)
        tni_planes_set(x, r, j, tni_pair_mul(tni_planes_get(x, r, j), by));
}
/* Row and column j times a number of modulus 1 and its conjugate. */
static void csch_phase(const tni_schur *s, int64_t j, tni_pair row) {
    if (s->last > j) csch_row_times(s->h, j, j + 1, s->last + 1, row);
    csch_column_times(s->h, j, s->first, j, csch_conj(row));
    if (s->z) csch_column_times(s->z, j, 0, s->n, csch_conj(row));
}
static tni_pair csch_unit(tni_pair v) {
    const double length = tni_length(v.re, v.im);
    return tni_re_im(v.re / length, v.im / length);
}
/* Element (k, k - 1) becomes real. */
static void csch_make_real(const tni_schur *s, int64_t k) {
    const tni_pair v = csch_get(s, k, k - 1);
    if (v.im == 0) return;
    csch_set(s, k, k - 1, tni_re_im(tni_length(v.re, v.im), 0));
    csch_phase(s, k, csch_conj(csch_unit(v)));
}
/* In the middle the first reflection leaves a subdiagonal that is not real. */
static void csch_sweep_phase(const tni_schur *s, int64_t i, int64_t m, tni_pair tau) {
    const tni_pair phase = csch_unit(tni_re_im(1 - tau.re, -tau.im));
    csch_set(s, m + 1, m, tni_pair_mul(csch_get(s, m + 1, m), csch_conj(phase)));
    if (m + 2 <= i) csch_set(s, m + 2, m + 1, tni_pair_mul(csch_get(s, m + 2, m + 1), phase));
    for (int64_t j = m; j <= i; j++)
        if (j != m + 1) csch_phase(s, j, phase);
}
static void csch_sweep(const tni_schur *s, int64_t l, int64_t i, int64_t m, tni_pair *v) {
    csch_turn turns[CSCH_TURNS] = {{{0, 0}, {0, 0}, 0}};
    int64_t from = m, edge = csch_edge(s, m);
    for (int64_t k = m; k < i; k++) {
        csch_turn *t = turns + (k - from);
        if (k > m) {
            v[0] = csch_get(s, k, k - 1);
            v[1] = csch_get(s, k + 1, k - 1);
        }
        t->tau = csch_reflection(v);
        t->v = v[1];
        if (k > m) {
            csch_set(s, k, k - 1, v[0]);
            csch_set(s, k + 1, k - 1, tni_re_im(0, 0));
        }
        t->t2 = t->tau.re * v[1].re - t->tau.im * v[1].im;
        csch_rows(s->h, k, k, edge, t);
        csch_columns(s->h, k, from, (k + 2 < i ? k + 2 : i) + 1, t, 1);
        if (k + 1 - from < CSCH_TURNS && k + 1 < i && (k != m || m == l)) continue;
        csch_rows_later(s->h, from, k + 1 - from, edge, s->last + 1, turns);
        csch_columns(s->h, from, s->first, from, turns, k + 1 - from);
        if (s->z) csch_columns(s->z, from, 0, s->n, turns, k + 1 - from);
        from = k + 1;
        edge = csch_edge(s, from);
        if (k == m && m != l) csch_sweep_phase(s, i, m, t->tau);
    }
    csch_make_real(s, i);
}
/* The last eigenvalue of [low, i] splits off. */
static bool csch_deflate(tni_schur *s, int64_t i) {
    const int64_t order = s->high - s->low + 1, steps = 30 * (order > 10 ? order : 10);
    int64_t l = s->low;
    for (int64_t step = 0; step <= steps; step++) {
        tni_pair v[2] = {{0, 0}, {0, 0}}, shift;
        int64_t k = i;
        while (k > l && !csch_negligible(s, k)) k--;
        l = k;
        if (l > s->low) csch_set(s, l, l - 1, tni_re_im(0, 0));
        if (l >= i) {
            const tni_pair value = csch_get(s, i, i);
            s->re[i] = value.re;
            s->im[i] = value.im;
            return true;
        }
        if (!s->z) {
            s->first = l;
            s->last = i;
        }
        shift = csch_shift(s, l, i, (int)((step + 1) % 20 == 0 ? 20 : (step + 1) % 20));
        k = csch_begin(s, l, i, shift, v);
        csch_sweep(s, l, i, k, v);
    }
    return false;
}
TN_PRIV bool tni_schur_complex(tni_schur *s) {
    s->first = 0;
    s->last = s->n - 1;
    for (int64_t i = 0; i < s->n; i++) {
        const tni_pair value = csch_get(s, i, i);
        if (i >= s->low && i <= s->high) continue;
        s->re[i] = value.re;
        s->im[i] = value.im;
    }
    for (int64_t i = s->low + 1; i <= s->high; i++) csch_make_real(s, i);
    for (int64_t i = s->high; i >= s->low; i--)
        if (!csch_deflate(s, i)) return false;
    return true;
}
#include "../base/rounded_end.inl"
