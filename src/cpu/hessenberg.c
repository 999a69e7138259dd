/* hessenberg.c - before the iteration for eigenvalues: balancing (B. Parlett, C. Reinsch, 1969;
 * with norms of R. James, J. Langou, B. Lowery, On matrix balancing and eigenvector computation,
 * 2014) and the reduction to Hessenberg form by reflections (Golub, Van Loan, Matrix Computations,
 * 7.4.3). */
#include "eigen.h"

#include <float.h>

#include "../base/rounded_begin.inl"

/* --- balancing -------------------------------------------------------------------------------- */

static bool balance_zero(const tni_planes *a, int64_t i, int64_t j) {
    const tni_pair v = tni_planes_get(a, i, j);
    return v.re == 0 && v.im == 0;
}
/* Whether row i (or column i) has zeros alone in [low, high] beside its diagonal. */
static bool balance_alone(const tni_planes *a, const tni_balance *b, int64_t i, bool row) {
    for (int64_t k = b->low; k <= b->high; k++)
        if (k != i && !(row ? balance_zero(a, i, k) : balance_zero(a, k, i))) return false;
    return true;
}
static void balance_exchange(const tni_planes *a, double *by, int64_t i, int64_t k) {
    by[k] = (double)i;
    if (i == k) return;
    tni_columns_exchange(a, i, k);
    tni_rows_exchange(a, i, k);
}
/* Rows that isolate an eigenvalue go to the end, columns to the front. */
static void balance_permute(const tni_planes *a, tni_balance *b) {
    for (int64_t i = b->high; i >= 0 && b->high > 0; i--)
        if (balance_alone(a, b, i, true)) {
            balance_exchange(a, b->by, i, b->high--);
            i = b->high + 1;
        }
    if (b->high == 0) return;
    for (int64_t i = b->low; i <= b->high && b->low < b->high; i++)
        if (balance_alone(a, b, i, false)) {
            balance_exchange(a, b->by, i, b->low++);
            i = b->low - 1;
        }
}
/* Row (or column) i times a factor, a power of two. */
static void balance_scale(const tni_planes *a, int64_t i, double factor, bool row) {
    for (int64_t k = 0; k < a->n; k++) {
        const int64_t r = row ? i : k, c = row ? k : i;
        const tni_pair v = tni_planes_get(a, r, c);
        tni_planes_set(a, r, c, tni_re_im(v.re * factor, v.im * factor));
    }
}
/* The norm of row (or column) i in [low, high], and its largest element outside, too. */
static double balance_norm(const tni_planes *a, const tni_balance *b, int64_t i, bool row,
                           double *most) {
    double sum = 0, inner = 0, scale;
    int power;
    *most = 0;
    for (int64_t k = row ? b->low : 0; k <= (row ? a->n - 1 : b->high); k++) {
        const tni_pair v = row ? tni_planes_get(a, i, k) : tni_planes_get(a, k, i);
        const double size = fmax(fabs(v.re), fabs(v.im));
        *most = fmax(*most, size);
        if (k >= b->low && k <= b->high) inner = fmax(inner, size);
    }
    if (inner == 0) return 0;
    frexp(inner, &power);
    power = power < -1000 ? -1000 : power;
    scale = ldexp(1, -power);
    for (int64_t k = b->low; k <= b->high; k++) {
        const tni_pair v = row ? tni_planes_get(a, i, k) : tni_planes_get(a, k, i);
        const double re = v.re * scale, im = v.im * scale;
        sum += re * re + im * im;
    }
    return ldexp(sqrt(sum), power);
}
/* The power of two for column i (row i gets its inverse) that brings both norms nearest. */
static double balance_factor(double c, double r, double most_c, double most_r) {
    const double large = 1e290, little = 1e-290;
    double f = 1;
    for (; c < r / 2 && fmax(fmax(f, c), most_c) < large && fmin(r, most_r) > little; f *= 2) {
        c *= 2;
        most_c *= 2;
        r /= 2;
        most_r /= 2;
    }
    for (; c / 2 >= r && fmax(r, most_r) < large && fmin(fmin(f, c), most_c) > little; f /= 2) {
        c /= 2;
        most_c /= 2;
        r *= 2;
        most_r *= 2;
    }
    return f;
}
static bool balance_pass(const tni_planes *a, const tni_balance *b) {
    bool changed = false;
    for (int64_t i = b->low; i <= b->high; i++) {
        double most_c, most_r, f;
        const double c = balance_norm(a, b, i, false, &most_c),
                     r = balance_norm(a, b, i, true, &most_r);
        if (c == 0 || r == 0) continue;
        f = balance_factor(c, r, most_c, most_r);
        if (c * f + r / f >= 0.95 * (c + r)) continue;
        if (f < 1 && b->by[i] < 1 && f * b->by[i] <= 1e-290) continue;
        if (f > 1 && b->by[i] > 1 && b->by[i] >= 1e290 / f) continue;
        b->by[i] *= f;
        balance_scale(a, i, 1 / f, true);
        balance_scale(a, i, f, false);
        changed = true;
    }
    return changed;
}
TN_PRIV tni_balance tni_balance_of(const tni_planes *a, double *by) {
    tni_balance b = {0, 0, NULL};
    b.high = a->n - 1;
    b.by = by;
    balance_permute(a, &b);
    for (int64_t i = b.low; i <= b.high; i++) by[i] = 1;
    while (b.low < b.high && balance_pass(a, &b)) continue;
    return b;
}
TN_PRIV void tni_balance_undo(const tni_balance *b, const tni_planes *v) {
    for (int64_t i = b->low; i <= b->high && b->low < b->high; i++)
        if (b->by[i] != 1) balance_scale(v, i, b->by[i], true);
    for (int64_t i = b->low - 1; i >= 0; i--) tni_rows_exchange(v, i, (int64_t)b->by[i]);
    for (int64_t i = b->high + 1; i < v->n; i++) tni_rows_exchange(v, i, (int64_t)b->by[i]);
}

/* --- reduction -------------------------------------------------------------------------------- */

/* Columns [i + 1, high] of rows [0, high] times H, columns [i + 1, n) of rows [i + 1, high] times
 * its adjoint; v stands in column i from row i + 1 on, with room for a column in w. */
static void hessenberg_step(const tni_planes *a, int64_t i, int64_t high, tni_pair tau,
                            const tni_planes *w) {
    const tni_pair minus = tni_re_im(-tau.re, -tau.im), zero = {0, 0};
    tni_pair head = tni_planes_get(a, i + 1, i);
    tni_planes_set(a, i + 1, i, tni_re_im(1, 0));
    for (int64_t r = 0; r <= high; r++) tni_planes_set(w, r, 0, zero);
    for (int64_t c = i + 1; c <= high; c++)
        tni_column_add(w, 0, a, c, 0, high + 1, tni_planes_get(a, c, i));
    for (int64_t c = i + 1; c <= high; c++) {
        const tni_pair v = tni_planes_get(a, c, i);
        tni_column_add(a, c, w, 0, 0, high + 1, tni_pair_mul(minus, tni_re_im(v.re, -v.im)));
    }
    tni_planes_set(a, i + 1, i, head);
    tau.im = -tau.im;
    for (int64_t c = i + 1; c < a->n; c++) tni_reflect(a, i + 1, i, a, c, tau);
}
TN_PRIV void tni_hessenberg(tni_reflectors *r, const tni_planes *a, const tni_balance *b,
                            const tni_planes *q, const tni_planes *taus) {
    const int64_t n = b->high - b->low + 1, count = n > 2 ? n - 2 : 0;
    const tni_planes rows = tni_planes_part(a, 0, 0, b->high + 1, a->n),
                     w = tni_planes_part(&r->v, 0, 0, a->n, 1);
    for (int64_t i = b->low; i < b->low + count; i++) {
        const tni_pair tau = tni_reflection(&rows, i + 1, i);
        tni_planes_set(taus, i - b->low, 0, tau);
        hessenberg_step(&rows, i, b->high, tau, &w);
    }
    if (q) {
        const tni_planes from = tni_planes_part(a, b->low, b->low, n, n),
                         to = tni_planes_part(q, b->low, b->low, n, n);
        tni_planes_unit(q);
        if (n > 0) tni_reflections_product(r, &from, count, 1, taus, &to);
    }
    for (int64_t c = 0; c < a->n; c++)
        for (int64_t i = c + 2; i < a->n; i++) tni_planes_set(a, i, c, tni_re_im(0, 0));
}
#include "../base/rounded_end.inl"
