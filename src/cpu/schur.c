/* schur.c - eigenvalues of real Hessenberg matrices by the implicit double shift QR iteration (J.
 * Francis, 1961; Golub, Van Loan, Matrix Computations, 7.5), with the deflation of M. Ahues and F.
 * Tisseur (LAPACK working note 122) and shifts, order and blocks of LAPACK's dlahqr. */
#include "eigen.h"

#include <float.h>

#include "../base/rounded_begin.inl"

static double *schur_at(const tni_schur *s, int64_t i, int64_t j) {
    return (double *)(void *)s->h->at[0] + i + j * s->h->ld;
}
#define H(i, j) (*schur_at(s, i, j))

TN_PRIV double tni_schur_least(int64_t n) { return DBL_MIN * ((double)n / DBL_EPSILON); }
TN_PRIV bool tni_schur_apart(double under, double over, double at, double apart, double least) {
    const double most = fmax(at, apart), sum = most + fmax(under, over);
    return !(fmin(under, over) * (fmax(under, over) / sum) <=
             fmax(least, DBL_EPSILON * (fmin(at, apart) * (most / sum))));
}

/* Whether the subdiagonal element in row k is negligible beside its neighbours. */
static bool schur_negligible(const tni_schur *s, int64_t k) {
    const double under = fabs(H(k, k - 1)), over = fabs(H(k - 1, k)),
                 least = tni_schur_least(s->high - s->low + 1);
    double size = fabs(H(k - 1, k - 1)) + fabs(H(k, k));
    if (under <= least) return true;
    if (size == 0) {
        if (k - 2 >= s->low) size += fabs(H(k - 1, k - 2));
        if (k + 1 <= s->high) size += fabs(H(k + 1, k));
    }
    if (under > DBL_EPSILON * size) return false;
    return !tni_schur_apart(under, over, fabs(H(k, k)), fabs(H(k - 1, k - 1) - H(k, k)), least);
}

/* Two numbers, both real or conjugate. */
typedef struct schur_shifts {
    double re1, re2, im; /* re1 + i im, re2 - i im */
} schur_shifts;

/* The eigenvalues of (a b; c d), if they are real twice the one nearer to d. */
static schur_shifts schur_shifts_of(double a, double b, double c, double d) {
    const double size = fabs(a) + fabs(b) + fabs(c) + fabs(d);
    schur_shifts w = {0, 0, 0};
    double mean, det, root;
    if (size == 0) return w;
    a /= size;
    b /= size;
    c /= size;
    d /= size;
    mean = (a + d) / 2;
    det = (a - mean) * (d - mean) - b * c;
    root = sqrt(fabs(det));
    if (det >= 0) {
        w.re1 = w.re2 = mean * size;
        w.im = root * size;
    } else {
        w.re1 = (fabs(mean + root - d) <= fabs(mean - root - d) ? mean + root : mean - root) * size;
        w.re2 = w.re1;
    }
    return w;
}
/* From the end of the block [l, i]; every tenth time without a deflation from elsewhere. */
static schur_shifts schur_choose(const tni_schur *s, int64_t l, int64_t i, int steps) {
    double size, middle;
    if (steps % 10 != 0) return schur_shifts_of(H(i - 1, i - 1), H(i - 1, i), H(i, i - 1), H(i, i));
    if (steps % 20 == 0) {
        size = fabs(H(i, i - 1)) + fabs(H(i - 1, i - 2));
        middle = H(i, i);
    } else {
        size = fabs(H(l + 1, l)) + fabs(H(l + 2, l + 1));
        middle = H(l, l);
    }
    middle += 0.75 * size;
    return schur_shifts_of(middle, -0.4375 * size, size, middle);
}
/* The row m from which a sweep may begin, as two small elements follow each other there, and the
 * first column of (H - shift 1)(H - shift 2), scaled. */
static int64_t schur_begin(const tni_schur *s, int64_t l, int64_t i, const schur_shifts *w,
                           double *v) {
    for (int64_t m = i - 2;; m--) {
        double size = fabs(H(m, m) - w->re2) + fabs(w->im) + fabs(H(m + 1, m));
        const double under = H(m + 1, m) / size;
        v[0] = under * H(m, m + 1) + (H(m, m) - w->re1) * ((H(m, m) - w->re2) / size) +
               w->im * (w->im / size);
        v[1] = under * (H(m, m) + H(m + 1, m + 1) - w->re1 - w->re2);
        v[2] = under * H(m + 2, m + 1);
        size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
        for (int k = 0; k < 3; k++) v[k] /= size;
        if (m == l || fabs(H(m, m - 1)) * (fabs(v[1]) + fabs(v[2])) <=
                          DBL_EPSILON * fabs(v[0]) *
                              (fabs(H(m - 1, m - 1)) + fabs(H(m, m)) + fabs(H(m + 1, m + 1))))
            return m;
    }
}
/* v becomes beta and the rest of a vector (1, v_1, ..), I - tau v v^T takes it to beta e_1. */
static double schur_reflection(double *v, int n) {
    const double rest = n > 2 ? tni_length(v[1], v[2]) : fabs(v[1]);
    double beta, tau;
    if (rest == 0) return 0;
    beta = -copysign(tni_length(v[0], rest), v[0]);
    tau = (beta - v[0]) / beta;
    for (int k = 1; k < n; k++) v[k] /= v[0] - beta;
    v[0] = beta;
    return tau;
}
/* Three columns (or two) of `rows` numbers times the reflection. */
static void schur_columns(double *x, int64_t ld, int64_t rows, const double *v, double tau, int n) {
    const double v1 = v[1], v2 = v[2], t1 = tau * v1, t2 = tau * v2;
    double *y = x + ld, *z = x + 2 * ld;
    if (n == 3)
        for (int64_t r = 0; r < rows; r++) {
            const double sum = x[r] + v1 * y[r] + v2 * z[r];
            x[r] -= sum * tau;
            y[r] -= sum * t1;
            z[r] -= sum * t2;
        }
    else
        for (int64_t r = 0; r < rows; r++) {
            const double sum = x[r] + v1 * y[r];
            x[r] -= sum * tau;
            y[r] -= sum * t1;
        }
}
static void schur_rows(double *x, int64_t ld, int64_t columns, const double *v, double tau, int n) {
    const double v1 = v[1], v2 = v[2], t1 = tau * v1, t2 = tau * v2;
    for (int64_t c = 0; c < columns; c++, x += ld) {
        double sum = x[0] + v1 * x[1];
        if (n == 3) sum += v2 * x[2];
        x[0] -= sum * tau;
        x[1] -= sum * t1;
        if (n == 3) x[2] -= sum * t2;
    }
}
/* A reflection of three neighbours as the kernel columns_reflect3 reads it. What is not near the
 * diagonal is brought up to date by many at a time. */
typedef struct schur_step {
    double v1, v2, tau, t1, t2, none;
} schur_step;
enum { SCHUR_TURNS = 16, SCHUR_BESIDE = 32 };

static schur_step schur_step_of(const double *v, double tau) {
    schur_step t = {0, 0, 0, 0, 0, 0};
    t.v1 = v[1];
    t.v2 = v[2];
    t.tau = tau;
    t.t1 = tau * v[1];
    t.t2 = tau * v[2];
    return t;
}
/* n turns of columns j to j + 2, j + 1 to j + 3, .. of x in rows [first, end). */
static void schur_columns_later(const tni_planes *x, int64_t j, int64_t first, int64_t end,
                                const schur_step *turns, int64_t n) {
    double *at = (double *)(void *)x->at[0] + first + j * x->ld;
    if (end > first && n > 0)
        TNI_K(x->k, columns_reflect3_f64)(at, x->ld, end - first, &turns->v1, n);
}
/* n turns of rows i to i + 2, i + 1 to i + 3, .. in columns [first, end): columns of a tile that is
 * turned over. */
static void schur_rows_later(const tni_planes *x, int64_t i, int64_t first, int64_t end,
                             const schur_step *turns, int64_t n) {
    double tile[(SCHUR_TURNS + 2) * SCHUR_BESIDE] = {0};
    for (int64_t c = first; c < end && n > 0; c += SCHUR_BESIDE) {
        const int64_t wide = end - c < SCHUR_BESIDE ? end - c : (int64_t)SCHUR_BESIDE;
        double *at = (double *)(void *)x->at[0] + i + c * x->ld;
        for (int64_t k = 0; k < wide; k++)
            for (int64_t r = 0; r < n + 2; r++) tile[r * SCHUR_BESIDE + k] = at[k * x->ld + r];
        TNI_K(x->k, columns_reflect3_f64)(tile, SCHUR_BESIDE, wide, &turns->v1, n);
        for (int64_t k = 0; k < wide; k++)
            for (int64_t r = 0; r < n + 2; r++) at[k * x->ld + r] = tile[r * SCHUR_BESIDE + k];
    }
}
/* The turns [from, k) reach the columns from `edge` on, the rows above them, and z. */
static void schur_catch_up(const tni_schur *s, int64_t from, int64_t k, int64_t edge,
                           const schur_step *turns) {
    schur_rows_later(s->h, from, edge, s->last + 1, turns, k - from);
    schur_columns_later(s->h, from, s->first, from, turns, k - from);
    if (s->z) schur_columns_later(s->z, from, 0, s->n, turns, k - from);
}
/* The first column that the turns which begin with row k leave for later. */
static int64_t schur_edge(const tni_schur *s, int64_t k) {
    return k + SCHUR_TURNS + 2 < s->last + 1 ? k + SCHUR_TURNS + 2 : s->last + 1;
}
/* The reflection of the last two rows and columns. */
static void schur_sweep_end(const tni_schur *s, int64_t k, const double *v, double tau) {
    const int64_t ld = s->h->ld;
    schur_rows(schur_at(s, k, k), ld, s->last - k + 1, v, tau, 2);
    schur_columns(schur_at(s, s->first, k), ld, k + 2 - s->first, v, tau, 2);
    if (s->z)
        schur_columns((double *)(void *)s->z->at[0] + k * s->z->ld, s->z->ld, s->n, v, tau, 2);
}
/* A sweep over the block [l, i] that begins in row m with v. */
static void schur_sweep(const tni_schur *s, int64_t l, int64_t i, int64_t m, double *v) {
    schur_step turns[SCHUR_TURNS] = {{0, 0, 0, 0, 0, 0}};
    int64_t from = m, edge = schur_edge(s, m);
    for (int64_t k = m; k < i; k++) {
        const int n = i - k + 1 < 3 ? 2 : 3;
        const int64_t end = k + 3 < i ? k + 3 : i;
        double tau;
        if (k > m) memcpy(v, schur_at(s, k, k - 1), (size_t)n * sizeof *v);
        tau = schur_reflection(v, n);
        if (k > m) {
            H(k, k - 1) = v[0];
            for (int x = 1; x < n; x++) H(k + x, k - 1) = 0;
        } else if (m > l) {
            H(k, k - 1) *= 1 - tau;
        }
        if (n == 2) {
            schur_catch_up(s, from, k, edge, turns);
            schur_sweep_end(s, k, v, tau);
            return;
        }
        turns[k - from] = schur_step_of(v, tau);
        schur_rows(schur_at(s, k, k), s->h->ld, edge - k, v, tau, 3);
        schur_columns(schur_at(s, from, k), s->h->ld, end - from + 1, v, tau, 3);
        if (k + 1 - from < SCHUR_TURNS) continue;
        schur_catch_up(s, from, k + 1, edge, turns);
        from = k + 1;
        edge = schur_edge(s, from);
    }
}

/* --- blocks of two ---------------------------------------------------------------------------- */

/* A rotation (c s; -s c) that makes (x y; z w) upper triangular, or its diagonal equal and z y
 * negative: then its eigenvalues are conjugate (LAPACK's dlanv2). */
typedef struct schur_block {
    double x, y, z, w, c, s;
} schur_block;

static void schur_turn(schur_block *b, double c, double s) {
    const double x = b->x * c + b->y * s, y = -b->x * s + b->y * c, z = b->z * c + b->w * s,
                 w = -b->z * s + b->w * c, old = b->c;
    b->x = x * c + z * s;
    b->y = y * c + w * s;
    b->z = -x * s + z * c;
    b->w = -y * s + w * c;
    b->c = b->c * c - b->s * s;
    b->s = old * s + b->s * c;
}
/* The diagonal is equal, so the eigenvalues are x +- sqrt(y z). */
static void schur_halves(schur_block *b) {
    double root_y, root_z, p, under, old = b->c;
    if (b->z == 0) return;
    if (b->y == 0) { /* exchange both rows and columns */
        b->y = -b->z;
        b->z = 0;
        b->c = -b->s;
        b->s = old;
        return;
    }
    if ((b->y > 0) != (b->z > 0)) return;
    root_y = sqrt(fabs(b->y));
    root_z = sqrt(fabs(b->z));
    p = copysign(root_y * root_z, b->z);
    under = 1 / sqrt(fabs(b->y + b->z));
    b->w = b->x - p;
    b->x += p;
    b->y -= b->z;
    b->z = 0;
    b->c = b->c * (root_y * under) - b->s * (root_z * under);
    b->s = old * (root_z * under) + b->s * (root_y * under);
}
static void schur_standard(schur_block *b) {
    const double apart = b->x - b->w, p = apart / 2, most = fmax(fabs(b->y), fabs(b->z)),
                 least = copysign(1, b->y) * copysign(1, b->z) * fmin(fabs(b->y), fabs(b->z)),
                 scale = fmax(fabs(p), most);
    double z, length, sum, c;
    b->c = 1;
    b->s = 0;
    if (b->z == 0) return;
    if (b->y == 0) {
        const double x = b->x;
        b->c = 0;
        b->s = 1;
        b->x = b->w;
        b->w = x;
        b->y = -b->z;
        b->z = 0;
        return;
    }
    if (apart == 0 && (b->y > 0) != (b->z > 0)) return;
    z = p / scale * p + most / scale * least;
    if (z >= 4 * DBL_EPSILON) { /* two real eigenvalues */
        z = p + copysign(sqrt(scale) * sqrt(z), p);
        b->x = b->w + z;
        b->w -= most / z * least;
        length = tni_length(b->z, z);
        b->c = z / length;
        b->s = b->z / length;
        b->y -= b->z;
        b->z = 0;
        return;
    }
    sum = b->y + b->z;
    length = tni_length(sum, apart);
    c = sqrt(0.5 * (1 + fabs(sum) / length));
    schur_turn(b, c, -(p / (length * c)) * copysign(1, sum));
    b->x = b->w = (b->x + b->w) / 2;
    schur_halves(b);
}
/* Rows k, k + 1 (or columns) turned; n numbers with `step` between them. */
static void schur_rotate(double *x, double *y, int64_t step, int64_t n, double c, double s) {
    for (int64_t i = 0; i < n; i++, x += step, y += step) {
        const double old = *x;
        *x = c * old + s * *y;
        *y = c * *y - s * old;
    }
}
/* The block in rows k and k + 1, whose eigenvalues are found. */
static void schur_pair(const tni_schur *s, int64_t k) {
    schur_block b = {H(k, k), H(k, k + 1), H(k + 1, k), H(k + 1, k + 1), 1, 0};
    schur_standard(&b);
    s->re[k] = b.x;
    s->re[k + 1] = b.w;
    s->im[k] = b.z == 0 ? 0 : sqrt(fabs(b.y)) * sqrt(fabs(b.z));
    s->im[k + 1] = -s->im[k];
    H(k, k) = b.x;
    H(k, k + 1) = b.y;
    H(k + 1, k) = b.z;
    H(k + 1, k + 1) = b.w;
    if (b.z == 0) s->im[k + 1] = 0;
    if (!s->z) return;
    if (s->last > k + 1)
        schur_rotate(schur_at(s, k, k + 2), schur_at(s, k + 1, k + 2), s->h->ld, s->last - k - 1,
                     b.c, b.s);
    schur_rotate(schur_at(s, s->first, k), schur_at(s, s->first, k + 1), 1, k - s->first, b.c, b.s);
    {
        double *z = (double *)(void *)s->z->at[0] + k * s->z->ld;
        schur_rotate(z, z + s->z->ld, 1, s->n, b.c, b.s);
    }
}

/* The last eigenvalues of [low, i] split off; returns where the rest ends, -2: no end. */
static int64_t schur_deflate(tni_schur *s, int64_t i) {
    const int64_t order = s->high - s->low + 1, steps = 30 * (order > 10 ? order : 10);
    int64_t l = s->low;
    for (int64_t step = 0; step <= steps; step++) {
        schur_shifts w;
        double v[3] = {0, 0, 0};
        int64_t k = i;
        while (k > l && !schur_negligible(s, k)) k--;
        l = k;
        if (l > s->low) H(l, l - 1) = 0;
        if (l >= i - 1) break;
        if (step == steps) return -2;
        if (!s->z) {
            s->first = l;
            s->last = i;
        }
        w = schur_choose(s, l, i, (int)((step + 1) % 20 == 0 ? 20 : (step + 1) % 20));
        k = schur_begin(s, l, i, &w, v);
        schur_sweep(s, l, i, k, v);
    }
    if (l == i) {
        s->re[i] = H(i, i);
        s->im[i] = 0;
    } else {
        schur_pair(s, l);
    }
    return l - 1;
}
TN_PRIV bool tni_schur_real(tni_schur *s) {
    s->first = 0;
    s->last = s->n - 1;
    for (int64_t i = 0; i < s->n; i++)
        if (i < s->low || i > s->high) {
            s->re[i] = H(i, i);
            s->im[i] = 0;
        }
    for (int64_t i = s->high; i >= s->low;) {
        i = schur_deflate(s, i);
        if (i == -2) return false;
    }
    return true;
}
#undef H
#include "../base/rounded_end.inl"
