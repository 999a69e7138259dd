/* ldl.c - A = L D L^T by diagonal pivoting (J. Bunch, L. Kaufman, Some stable methods for
 * calculating inertia and solving symmetric linear systems, 1977, algorithm A), column after column
 * of the lower triangle. */
#include "ldl.h"

/* |re| + |im|, by which LAPACK compares pivots. */
static double ldl_size(tni_pair v) { return fabs(v.re) + fabs(v.im); }
static tni_pair ldl_mirror(tni_pair v, bool hermitian) {
    return hermitian ? tni_re_im(v.re, -v.im) : v;
}
static double ldl_at(const tni_planes *a, int64_t i, int64_t j) {
    return ldl_size(tni_planes_get(a, i, j));
}

/* What row and column k are pivoted with. */
typedef struct ldl_pivot {
    int64_t with; /* the row that comes to row k, or to row k + 1 */
    int rows;     /* of the block; 0: the column is zero */
} ldl_pivot;
static ldl_pivot ldl_choose(const tni_planes *a, int64_t k, bool hermitian) {
    const double alpha = (1 + sqrt(17)) / 8,
                 here = hermitian ? fabs(tni_planes_get(a, k, k).re) : ldl_at(a, k, k);
    ldl_pivot p = {k, 1};
    double most = 0, other = 0, there;
    int64_t at = k;
    for (int64_t i = k + 1; i < a->n; i++)
        if (ldl_at(a, i, k) > most) most = ldl_at(a, at = i, k);
    if (here == 0 && most == 0) p.rows = 0;
    if (here != here || most != most) p.rows = 0;
    if (p.rows == 0 || here >= alpha * most) return p;
    /* The largest element beside the diagonal in row and column `at`. */
    for (int64_t j = k; j < at; j++) other = fmax(other, ldl_at(a, at, j));
    for (int64_t i = at + 1; i < a->n; i++) other = fmax(other, ldl_at(a, i, at));
    there = hermitian ? fabs(tni_planes_get(a, at, at).re) : ldl_at(a, at, at);
    if (here >= alpha * most * (most / other)) return p;
    p.with = at;
    if (there < alpha * other) p.rows = 2;
    return p;
}
static void ldl_swap(const tni_planes *a, int64_t i, int64_t j, int64_t r, int64_t c,
                     bool hermitian) {
    const tni_pair x = tni_planes_get(a, i, j), y = tni_planes_get(a, r, c);
    tni_planes_set(a, i, j, ldl_mirror(y, hermitian));
    tni_planes_set(a, r, c, ldl_mirror(x, hermitian));
}
/* Rows and columns i < j of what is left, columns from k on. */
static void ldl_exchange(const tni_planes *a, int64_t i, int64_t j, int64_t k, bool hermitian) {
    for (int64_t r = j + 1; r < a->n; r++) ldl_swap(a, r, i, r, j, false);
    for (int64_t c = i + 1; c < j; c++) ldl_swap(a, c, i, j, c, hermitian);
    ldl_swap(a, i, i, j, j, false);
    if (hermitian) tni_planes_set(a, j, i, ldl_mirror(tni_planes_get(a, j, i), true));
    if (i > k) ldl_swap(a, i, k, j, k, false);
}
static void ldl_real_diagonal(const tni_planes *a, int64_t i, bool hermitian) {
    if (hermitian) tni_planes_set(a, i, i, tni_re_im(tni_planes_get(a, i, i).re, 0));
}
/* The rest less column k times D^-1 times its mirror image; the column becomes L's. */
static void ldl_one(const tni_planes *a, int64_t k, bool hermitian) {
    const tni_pair d = tni_planes_get(a, k, k);
    for (int64_t j = k + 1; j < a->n; j++) {
        const tni_pair l = tni_pair_div(ldl_mirror(tni_planes_get(a, j, k), hermitian), d);
        tni_column_add(a, j, a, k, j, a->n, tni_re_im(-l.re, -l.im));
        ldl_real_diagonal(a, j, hermitian);
    }
    for (int64_t i = k + 1; i < a->n; i++)
        tni_planes_set(a, i, k, tni_pair_div(tni_planes_get(a, i, k), d));
}
/* (x y) D^-1 for D = (p conj(q); q r), scaled by q as LAPACK does. */
static void ldl_over(tni_pair *x, tni_pair *y, tni_pair p, tni_pair q, tni_pair r, bool hermitian) {
    const tni_pair qh = ldl_mirror(q, hermitian), one = {1, 0}, rq = tni_pair_div(r, q),
                   pq = tni_pair_div(p, qh);
    tni_pair t = tni_pair_mul(rq, pq), u, v, w;
    t = tni_pair_div(one, tni_re_im(t.re - 1, t.im));
    u = tni_pair_div(t, qh); /* t / qh and t / q */
    w = tni_pair_div(t, q);
    v = tni_pair_mul(rq, *x);
    v = tni_pair_mul(u, tni_re_im(v.re - y->re, v.im - y->im));
    t = tni_pair_mul(pq, *y);
    *y = tni_pair_mul(w, tni_re_im(t.re - x->re, t.im - x->im));
    *x = v;
}
static void ldl_two(const tni_planes *a, int64_t k, bool hermitian) {
    const tni_pair p = tni_planes_get(a, k, k), q = tni_planes_get(a, k + 1, k),
                   r = tni_planes_get(a, k + 1, k + 1);
    for (int64_t j = k + 2; j < a->n; j++) {
        tni_pair x = tni_planes_get(a, j, k), y = tni_planes_get(a, j, k + 1), v;
        ldl_over(&x, &y, p, q, r, hermitian);
        v = ldl_mirror(x, hermitian);
        tni_column_add(a, j, a, k, j, a->n, tni_re_im(-v.re, -v.im));
        v = ldl_mirror(y, hermitian);
        tni_column_add(a, j, a, k + 1, j, a->n, tni_re_im(-v.re, -v.im));
        ldl_real_diagonal(a, j, hermitian);
        /* No later column needs this row as it was. */
        tni_planes_set(a, j, k, x);
        tni_planes_set(a, j, k + 1, y);
    }
}
TN_PRIV int32_t tni_ldl_factor(const tni_planes *a, int32_t *pivots, bool hermitian) {
    int32_t info = 0;
    for (int64_t i = 0; i < a->n; i++) ldl_real_diagonal(a, i, hermitian);
    for (int64_t k = 0; k < a->n;) {
        const ldl_pivot p = ldl_choose(a, k, hermitian);
        const int64_t at = p.rows == 2 ? k + 1 : k;
        pivots[k] = (int32_t)(p.with + 1);
        if (p.rows == 2) pivots[k] = pivots[k + 1] = -(int32_t)(p.with + 1);
        if (p.rows == 0 && !info) info = (int32_t)(k + 1);
        if (p.with != at) ldl_exchange(a, at, p.with, k, hermitian);
        if (p.rows == 1) ldl_one(a, k, hermitian);
        if (p.rows == 2) ldl_two(a, k, hermitian);
        k = at + 1;
    }
    return info;
}

/* --- systems ---------------------------------------------------------------------------------- */

/* x = D^-1 L^-1 P x */
static void ldl_down(const tni_planes *ld, const int32_t *pivots, const tni_planes *x,
                     bool hermitian) {
    const int64_t n = ld->n;
    for (int64_t k = 0, rows; k < n; k += rows) {
        rows = pivots[k] < 0 && k + 1 < n ? 2 : 1;
        tni_rows_exchange(x, k + rows - 1, llabs(pivots[k + rows - 1]) - 1);
        for (int64_t c = 0; c < x->n; c++) {
            tni_pair u = tni_planes_get(x, k, c), v;
            tni_column_add(x, c, ld, k, k + rows, n, tni_re_im(-u.re, -u.im));
            if (rows == 1) {
                tni_planes_set(x, k, c, tni_pair_div(u, tni_planes_get(ld, k, k)));
                continue;
            }
            v = tni_planes_get(x, k + 1, c);
            tni_column_add(x, c, ld, k + 1, k + 2, n, tni_re_im(-v.re, -v.im));
            /* D x = b is x^H D = b^H, of a symmetric D x^T D = b^T. */
            u = ldl_mirror(u, hermitian);
            v = ldl_mirror(v, hermitian);
            ldl_over(&u, &v, tni_planes_get(ld, k, k), tni_planes_get(ld, k + 1, k),
                     tni_planes_get(ld, k + 1, k + 1), hermitian);
            tni_planes_set(x, k, c, ldl_mirror(u, hermitian));
            tni_planes_set(x, k + 1, c, ldl_mirror(v, hermitian));
        }
    }
}
static void ldl_conj(const tni_planes *x) {
    for (int64_t c = 0; c < x->n && x->at[1]; c++)
        for (int64_t r = 0; r < x->m; r++)
            tni_planes_set(x, r, c, ldl_mirror(tni_planes_get(x, r, c), true));
}
/* x = P^-1 L^-H x */
static void ldl_up(const tni_planes *ld, const int32_t *pivots, const tni_planes *x) {
    for (int64_t k = ld->n - 1, rows; k >= 0; k -= rows) {
        rows = pivots[k] < 0 && k > 0 ? 2 : 1;
        for (int64_t c = 0; c < x->n; c++)
            for (int64_t j = k - rows + 1; j <= k; j++) {
                const tni_pair v = tni_planes_get(x, j, c),
                               sum = tni_column_dot(ld, j, x, c, k + 1);
                tni_planes_set(x, j, c, tni_re_im(v.re - sum.re, v.im - sum.im));
            }
        tni_rows_exchange(x, k, llabs(pivots[k]) - 1);
    }
}
TN_PRIV void tni_ldl_solve(const tni_planes *ld, const int32_t *pivots, const tni_planes *x,
                           bool hermitian) {
    ldl_down(ld, pivots, x, hermitian);
    /* The dots along columns conjugate L, so those of a symmetric matrix take a conjugate x. */
    if (!hermitian) ldl_conj(x);
    ldl_up(ld, pivots, x);
    if (!hermitian) ldl_conj(x);
}
