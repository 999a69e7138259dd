/* householder.c - reflections: alone, and as products of blocks. */
#include "householder.h"
#include "lapack.h"

#include "../base/rounded_begin.inl"

TN_PRIV double tni_length(double a, double b) {
    const double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b));
    const double ratio = most > 0 ? least / most : 0;
    return most * sqrt(1 + ratio * ratio);
}

/* The sum of squares of n numbers, in chains of every eighth one. */
static double column_squares(const char *at, int bytes, int64_t n) {
    double chain[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const double *wide = (const double *)(const void *)at;
    const float *narrow = (const float *)(const void *)at;
    int64_t i = 0;
    if (bytes == 8)
        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++) chain[k] += wide[i + k] * wide[i + k];
    else
        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++) chain[k] += (double)narrow[i + k] * (double)narrow[i + k];
    for (int k = 0; i < n; i++, k++) {
        const double v = bytes == 8 ? wide[i] : (double)narrow[i];
        chain[k] += v * v;
    }
    for (int half = 4; half > 0; half /= 2)
        for (int k = 0; k < half; k++) chain[k] += chain[k + half];
    return chain[0];
}
/* The norm by scaled numbers, no square of which overflows. */
static double column_norm_scaled(const tni_planes *a, int64_t i, int64_t j) {
    double most = 0, sum = 0, scale;
    int power;
    for (int64_t r = i; r < a->m; r++) {
        const tni_pair v = tni_planes_get(a, r, j);
        if (v.re != v.re || v.im != v.im) return v.re + v.im;
        most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
    }
    if (most == 0 || most - most != 0) return most;
    frexp(most, &power);
    scale = ldexp(1, -power); /* infinite where even ldexp of elements would take two steps */
    for (int64_t r = i; r < a->m; r++) {
        const tni_pair v = tni_planes_get(a, r, j);
        const double re = power > -1000 ? v.re * scale : ldexp(v.re, -power),
                     im = power > -1000 ? v.im * scale : ldexp(v.im, -power);
        sum = fma(re, re, fma(im, im, sum));
    }
    return ldexp(sqrt(sum), power);
}
TN_PRIV double tni_column_norm(const tni_planes *a, int64_t i, int64_t j) {
    double sum = 0;
    for (int part = 0; part < 2 && a->at[part] && i < a->m; part++)
        sum += column_squares(a->at[part] + (i + j * a->ld) * a->bytes, a->bytes, a->m - i);
    /* Within this range no square has overflowed, and none that counts has vanished. */
    return sum > 1e-280 && sum < 1e290 ? sqrt(sum) : column_norm_scaled(a, i, j);
}
/* a[i.., j] divided by a number, in double. */
static void column_divide(const tni_planes *a, int64_t i, int64_t j, tni_pair under) {
    double *wide = (double *)(void *)a->at[0] + j * a->ld;
    float *narrow = (float *)(void *)a->at[0] + j * a->ld;
    if (a->at[1])
        for (int64_t r = i; r < a->m; r++)
            tni_planes_set(a, r, j, tni_pair_div(tni_planes_get(a, r, j), under));
    else if (a->bytes == 8)
        for (int64_t r = i; r < a->m; r++) wide[r] /= under.re;
    else
        for (int64_t r = i; r < a->m; r++) narrow[r] = (float)((double)narrow[r] / under.re);
}

TN_PRIV tni_pair tni_reflection(const tni_planes *a, int64_t i, int64_t j) {
    const tni_pair head = tni_planes_get(a, i, j);
    const double rest = tni_column_norm(a, i + 1, j);
    tni_pair tau = {0, 0}, under, beta = {0, 0};
    if (rest == 0 && head.im == 0) return tau;
    beta.re = tni_length(tni_length(head.re, head.im), rest);
    if (head.re == head.re) beta.re = copysign(beta.re, head.re); /* no NaN, whose sign is chance */
    beta.re = -beta.re;
    tau.re = (beta.re - head.re) / beta.re;
    tau.im = -head.im / beta.re;
    under.re = head.re - beta.re;
    under.im = head.im;
    column_divide(a, i + 1, j, under);
    tni_planes_set(a, i, j, beta);
    return tau;
}

TN_PRIV void tni_reflect(const tni_planes *a, int64_t i, int64_t j, const tni_planes *x, int64_t c,
                         tni_pair tau) {
    const tni_planes v = tni_planes_part(a, i, j, a->m - i, 1),
                     to = tni_planes_part(x, i, c, x->m - i, 1);
    tni_pair head = tni_planes_get(&to, 0, 0), w = tni_column_dot(&v, 0, &to, 0, 1), minus;
    w.re += head.re;
    w.im += head.im;
    w = tni_pair_mul(tau, w);
    head.re -= w.re;
    head.im -= w.im;
    minus.re = -w.re;
    minus.im = -w.im;
    tni_planes_set(&to, 0, 0, head);
    tni_column_add(&to, 0, &v, 0, 1, v.m, minus);
}

/* --- blocks ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_reflectors_size(int64_t m, int64_t n, int64_t *elements) {
    int64_t v, w;
    if (n < TNI_REFLECTIONS) n = TNI_REFLECTIONS; /* w also holds V^H V */
    return tni_mul(m, TNI_REFLECTIONS, &v) && tni_mul(n, 2 * TNI_REFLECTIONS, &w) &&
           tni_add(v, w, &v) && tni_add(v, TNI_REFLECTIONS * TNI_REFLECTIONS, elements);
}
TN_PRIV tni_reflectors tni_reflectors_in(tn_frame *f, void **scratch, int dtype, int64_t m,
                                         int64_t n) {
    tni_reflectors r;
    if (n < TNI_REFLECTIONS) n = TNI_REFLECTIONS;
    r.v = tni_planes_in(f, scratch, dtype, m, TNI_REFLECTIONS);
    r.t = tni_planes_in(f, scratch, dtype, TNI_REFLECTIONS, TNI_REFLECTIONS);
    r.w = tni_planes_in(f, scratch, dtype, TNI_REFLECTIONS, n);
    r.u = tni_planes_in(f, scratch, dtype, TNI_REFLECTIONS, n);
    return r;
}

/* T[:c, c] = -tau_c T[:c, :c] V[:, :c]^H v_c, of which dots is V^H V. */
static void reflectors_join(const tni_reflectors *r, const tni_planes *dots, int64_t j,
                            const tni_planes *taus) {
    enum { K = TNI_REFLECTIONS };
    double re[K * K] = {0}, im[K * K] = {0};
    const int64_t k = r->t.n;
    const bool complex_ = r->t.at[1] != NULL;
    for (int64_t c = 0; c < k; c++) {
        const tni_pair tau = tni_planes_get(taus, j + c, 0);
        double *to = re + c * K, *to_im = im + c * K;
        for (int64_t y = 0; y < c; y++) {
            const tni_pair v = tni_planes_get(dots, y, c);
            const double *from = re + y * K, *from_im = im + y * K;
            for (int64_t x = 0; x <= y; x++) to[x] += from[x] * v.re;
            for (int64_t x = 0; x <= y && complex_; x++) {
                to[x] -= from_im[x] * v.im;
                to_im[x] += from[x] * v.im + from_im[x] * v.re;
            }
        }
        for (int64_t x = 0; x < c; x++) {
            const tni_pair v = tni_pair_mul(tau, tni_re_im(to[x], to_im[x]));
            to[x] = -v.re;
            to_im[x] = -v.im;
        }
        to[c] = tau.re;
        to_im[c] = tau.im;
        for (int64_t x = 0; x < k; x++) tni_planes_set(&r->t, x, c, tni_re_im(to[x], to_im[x]));
    }
}
TN_PRIV void tni_reflectors_take(tni_reflectors *r, const tni_planes *a, int64_t i, int64_t j,
                                 int64_t k, const tni_planes *taus) {
    const tni_planes from = tni_planes_part(a, i, j, a->m - i, k);
    tni_planes dots;
    r->v.m = from.m;
    r->v.n = k;
    tni_planes_copy(&r->v, &from);
    tni_planes_clear(&r->v, false);
    for (int64_t c = 0; c < k; c++) tni_planes_set(&r->v, c, c, tni_re_im(1, 0));
    r->t.m = r->t.n = k;
    dots = tni_planes_part(&r->w, 0, 0, k, k);
    tni_planes_product(&dots, &r->v, TNI_ADJOINT, &r->v, TNI_AS_IS, 1, false);
    reflectors_join(r, &dots, j, taus);
}

TN_PRIV void tni_reflectors_apply(const tni_reflectors *r, const tni_planes *x, bool adjoint) {
    const tni_planes w = tni_planes_part(&r->w, 0, 0, r->v.n, x->n),
                     u = tni_planes_part(&r->u, 0, 0, r->v.n, x->n);
    tni_planes_product(&w, &r->v, TNI_ADJOINT, x, TNI_AS_IS, 1, false);
    tni_planes_product(&u, &r->t, adjoint ? TNI_ADJOINT : TNI_AS_IS, &w, TNI_AS_IS, 1, false);
    tni_planes_product(x, &r->v, TNI_AS_IS, &u, TNI_AS_IS, -1, true);
}

/* Of the n reflections the block that begins with number j. */
static int64_t reflections_in(int64_t n, int64_t j) {
    return n - j < TNI_REFLECTIONS ? n - j : (int64_t)TNI_REFLECTIONS;
}
TN_PRIV void tni_reflections_product(tni_reflectors *r, const tni_planes *a, int64_t n,
                                     int64_t below, const tni_planes *taus, const tni_planes *q) {
    if (below == 0 && tni_lapack_product(a, n, taus, q)) return;
    tni_planes_unit(q);
    if (n < 1) return;
    /* From the last block to the first: what lies left of it and above is still the unit matrix. */
    for (int64_t j = (n - 1) / TNI_REFLECTIONS * TNI_REFLECTIONS; j >= 0; j -= TNI_REFLECTIONS) {
        const tni_planes x = tni_planes_part(q, j + below, j + below, q->m - j - below,
                                             q->n - j - below > 0 ? q->n - j - below : 0);
        tni_reflectors_take(r, a, j + below, j, reflections_in(n, j), taus);
        tni_reflectors_apply(r, &x, false);
    }
}
TN_PRIV void tni_reflections_apply(tni_reflectors *r, const tni_planes *a, int64_t n, int64_t below,
                                   const tni_planes *taus, const tni_planes *x, bool adjoint) {
    const int64_t blocks = (n + TNI_REFLECTIONS - 1) / TNI_REFLECTIONS;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t j = (adjoint ? b : blocks - 1 - b) * TNI_REFLECTIONS;
        const tni_planes part = tni_planes_part(x, j + below, 0, x->m - j - below, x->n);
        tni_reflectors_take(r, a, j + below, j, reflections_in(n, j), taus);
        tni_reflectors_apply(r, &part, adjoint);
    }
}

/* Columns [j, end) alone. */
static void qr_columns(const tni_planes *a, const tni_planes *taus, int64_t j, int64_t last,
                       int64_t end) {
    for (; j < last; j++) {
        tni_pair tau = tni_reflection(a, j, j);
        tni_planes_set(taus, j, 0, tau);
        tau = tni_planes_get(taus, j, 0); /* as rounded */
        tau.im = -tau.im;
        for (int64_t c = j + 1; c < end; c++) tni_reflect(a, j, j, a, c, tau);
    }
}
TN_PRIV void tni_qr_factor(tni_reflectors *r, const tni_planes *a, const tni_planes *taus) {
    const int64_t least = taus->m;
    if (tni_lapack_qr(a, taus)) return;
    if (a->n <= TNI_COLUMNS_ALONE) {
        qr_columns(a, taus, 0, least, a->n);
        return;
    }
    for (int64_t j = 0; j < least; j += TNI_REFLECTIONS) {
        const int64_t k = reflections_in(least, j);
        const tni_planes rest = tni_planes_part(a, j, j + k, a->m - j, a->n - j - k);
        qr_columns(a, taus, j, j + k, j + k);
        if (rest.n < 1) continue;
        tni_reflectors_take(r, a, j, j, k, taus);
        tni_reflectors_apply(r, &rest, true);
    }
}
#include "../base/rounded_end.inl"
