/* eigen.c - eigenvalues and eigenvectors of square matrices: balancing, Hessenberg and Schur form,
 * then back substitution (Golub, Van Loan, Matrix Computations, 7.6), with LAPACK's norms and
 * phases. */
#include "eigen.h"
#include "lapack.h"
#include "tridiagonal.h"

#include <float.h>

#include "../base/rounded_begin.inl"

/* --- back substitution ------------------------------------------------------------------------ */

/* (T - value) x = 0 for the eigenvalue of row k, or of rows k - 1 and k. The parts of x are columns
 * of doubles; im is NULL where the value and the matrix are real. */
typedef struct eigen_back {
    const tni_planes *t;
    double *re, *im;
    tni_pair value;
    double least; /* no divisor is smaller */
    int64_t rows;
} eigen_back;

static double eigen_size(tni_pair v) { return fabs(v.re) + fabs(v.im); }
static tni_pair eigen_of(const eigen_back *b, int64_t i) {
    return tni_re_im(b->re[i], b->im ? b->im[i] : 0);
}
static void eigen_put(const eigen_back *b, int64_t i, tni_pair v) {
    b->re[i] = v.re;
    if (b->im) b->im[i] = v.im;
}
static void eigen_times(const eigen_back *b, int power) {
    for (int64_t i = 0; i < b->rows; i++) {
        b->re[i] = ldexp(b->re[i], power);
        if (b->im) b->im[i] = ldexp(b->im[i], power);
    }
}
/* Scales x so that what divides x_i by `under` stays below 1e150; true if it was scaled. */
static bool eigen_guard(const eigen_back *b, double most, double under) {
    int has, may;
    if (under >= 1 || most <= under * 1e150) return false;
    frexp(most, &has);
    frexp(under * 1e150, &may);
    eigen_times(b, may - has - 1);
    return true;
}
/* x[0..end) -= v T[0..end, j] */
static void eigen_spread(const eigen_back *b, int64_t j, int64_t end, tni_pair v) {
    const double *re = (const double *)(const void *)b->t->at[0] + j * b->t->ld,
                 *im = (const double *)(const void *)b->t->at[1];
    if (im) {
        im += j * b->t->ld;
        for (int64_t i = 0; i < end; i++) {
            b->re[i] -= v.re * re[i] - v.im * im[i];
            b->im[i] -= v.re * im[i] + v.im * re[i];
        }
        return;
    }
    for (int64_t i = 0; i < end; i++) b->re[i] -= v.re * re[i];
    for (int64_t i = 0; b->im && i < end; i++) b->im[i] -= v.im * re[i];
}
/* Large numbers are scaled down before they spread. */
static void eigen_calm(const eigen_back *b, double most) {
    int power;
    if (most <= 1e100) return;
    frexp(most, &power);
    eigen_times(b, -power);
}
static tni_pair eigen_less(const eigen_back *b, int64_t i, int64_t j) {
    tni_pair v = tni_planes_get(b->t, i, j);
    if (i == j) v = tni_re_im(v.re - b->value.re, v.im - b->value.im);
    return v;
}
static tni_pair eigen_divisor(const eigen_back *b, tni_pair v) {
    return eigen_size(v) < b->least ? tni_re_im(b->least, 0) : v;
}
static void eigen_one(const eigen_back *b, int64_t j) {
    const tni_pair under = eigen_divisor(b, eigen_less(b, j, j));
    eigen_guard(b, eigen_size(eigen_of(b, j)), eigen_size(under));
    eigen_put(b, j, tni_pair_div(eigen_of(b, j), under));
    eigen_calm(b, eigen_size(eigen_of(b, j)));
    eigen_spread(b, j, j, eigen_of(b, j));
}
/* Rows j and j + 1, by elimination with the largest element as pivot. */
static void eigen_two(const eigen_back *b, int64_t j) {
    const tni_pair a[2][2] = {{eigen_less(b, j, j), eigen_less(b, j, j + 1)},
                              {eigen_less(b, j + 1, j), eigen_less(b, j + 1, j + 1)}};
    int row = 0, column = 0;
    tni_pair top, under, ratio, v, x, y;
    for (int k = 1; k < 4; k++)
        if (eigen_size(a[k / 2][k % 2]) > eigen_size(a[row][column])) {
            row = k / 2;
            column = k % 2;
        }
    top = eigen_divisor(b, a[row][column]);
    ratio = tni_pair_div(a[1 - row][column], top);
    v = tni_pair_mul(ratio, a[row][1 - column]);
    under = eigen_divisor(
        b, tni_re_im(a[1 - row][1 - column].re - v.re, a[1 - row][1 - column].im - v.im));
    eigen_guard(b, 4 * fmax(eigen_size(eigen_of(b, j)), eigen_size(eigen_of(b, j + 1))),
                fmin(eigen_size(top), eigen_size(under)));
    x = eigen_of(b, j + row);
    y = eigen_of(b, j + 1 - row);
    v = tni_pair_mul(ratio, x);
    y = tni_pair_div(tni_re_im(y.re - v.re, y.im - v.im), under);
    v = tni_pair_mul(a[row][1 - column], y);
    x = tni_pair_div(tni_re_im(x.re - v.re, x.im - v.im), top);
    eigen_put(b, j + column, x);
    eigen_put(b, j + 1 - column, y);
    eigen_calm(b, fmax(eigen_size(x), eigen_size(y)));
    eigen_spread(b, j + 1, j, eigen_of(b, j + 1));
    eigen_spread(b, j, j, eigen_of(b, j));
}
/* Whether rows j - 1 and j are a block. */
static bool eigen_paired(const tni_planes *t, int64_t j) {
    return j > 0 && !t->at[1] && tni_planes_get(t, j, j - 1).re != 0;
}
/* x from row `last` upwards; the rows below are known, and so is what they have spread. */
static void eigen_solve(const eigen_back *b, int64_t last) {
    double most = 0;
    int power;
    for (int64_t j = last; j >= 0; j--) {
        if (eigen_paired(b->t, j))
            eigen_two(b, --j);
        else
            eigen_one(b, j);
    }
    for (int64_t i = 0; i < b->rows; i++) most = fmax(most, eigen_size(eigen_of(b, i)));
    frexp(most, &power);
    eigen_times(b, -power);
}
/* The eigenvector of row k, or with k - 1 of a pair, whose value has a positive imaginary part. */
static void eigen_vector(eigen_back *b, int64_t k, int64_t n) {
    const bool pair = eigen_paired(b->t, k);
    const double y = pair ? tni_planes_get(b->t, k - 1, k).re : 0,
                 z = pair ? tni_planes_get(b->t, k, k - 1).re : 0;
    b->rows = k + 1;
    b->least = fmax(DBL_EPSILON * eigen_size(b->value), tni_schur_least(n));
    for (int64_t i = 0; i < n; i++) eigen_put(b, i, tni_re_im(0, 0));
    if (!pair) {
        eigen_put(b, k, tni_re_im(1, 0));
        eigen_spread(b, k, k, tni_re_im(1, 0));
        eigen_solve(b, k - 1);
        return;
    }
    if (fabs(y) >= fabs(z)) {
        eigen_put(b, k - 1, tni_re_im(1, 0));
        eigen_put(b, k, tni_re_im(0, b->value.im / y));
    } else {
        eigen_put(b, k - 1, tni_re_im(-b->value.im / z, 0));
        eigen_put(b, k, tni_re_im(0, 1));
    }
    eigen_spread(b, k, k - 1, eigen_of(b, k));
    eigen_spread(b, k - 1, k - 1, eigen_of(b, k - 1));
    eigen_solve(b, k - 2);
}
/* x: the eigenvectors of t; of a pair of a real t, the parts of the first one. */
static void eigen_vectors(const tni_planes *t, const double *values, const tni_planes *x) {
    const int64_t n = t->n;
    for (int64_t k = n - 1; k >= 0; k--) {
        const bool pair = eigen_paired(t, k);
        const int64_t first = pair ? k - 1 : k;
        double *re = (double *)(void *)x->at[0] + first * x->ld;
        eigen_back b = {t, re, NULL, {0, 0}, 0, 0};
        b.value = tni_re_im(values[first], values[n + first]);
        if (x->at[1]) b.im = (double *)(void *)x->at[1] + first * x->ld;
        if (pair) b.im = re + x->ld;
        eigen_vector(&b, k, n);
        k = first;
    }
}

/* --- norms ------------------------------------------------------------------------------------ */

/* Column j of v: norm 1, and the element of the largest modulus real. */
static void eigen_normalise(const tni_planes *v, int64_t j, bool keep_sign) {
    const double norm = tni_column_norm(v, 0, j);
    double most = -1;
    int64_t at = 0;
    tni_pair head, turn;
    for (int64_t i = 0; i < v->m; i++) {
        const tni_pair x = tni_planes_get(v, i, j);
        const tni_pair y = tni_re_im(x.re / norm, x.im / norm);
        const double size = y.re * y.re + y.im * y.im;
        tni_planes_set(v, i, j, y);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    head = tni_planes_get(v, at, j);
    if (keep_sign && head.im == 0) return;
    most = tni_length(head.re, head.im);
    if (keep_sign && head.re < 0 && fabs(head.re) > fabs(head.im)) most = -most; /* as lartg */
    turn = tni_re_im(head.re / most, -head.im / most);
    for (int64_t i = 0; i < v->m; i++)
        tni_planes_set(v, i, j, tni_pair_mul(turn, tni_planes_get(v, i, j)));
    tni_planes_set(v, at, j, tni_re_im(tni_planes_get(v, at, j).re, 0));
}
/* Of a real matrix: complex columns from those of r, in which a pair has its parts side by side. */
static void eigen_widen(const tni_planes *r, const double *values, const tni_planes *v) {
    const int64_t n = r->n;
    for (int64_t j = 0; j < n; j++) {
        const bool pair = values[n + j] > 0 && j + 1 < n;
        for (int64_t i = 0; i < n; i++) {
            const tni_pair x = {tni_planes_get(r, i, j).re,
                                pair ? tni_planes_get(r, i, j + 1).re : 0};
            tni_planes_set(v, i, j, x);
        }
        eigen_normalise(v, j, true);
        for (int64_t i = 0; i < n && pair; i++) {
            const tni_pair x = tni_planes_get(v, i, j);
            tni_planes_set(v, i, j + 1, tni_re_im(x.re, -x.im));
        }
        j += pair;
    }
}

/* v: what stands in the columns of a, with norms and phases; of a real a in the room of q and x. */
static void eigen_give(const tni_planes *a, const double *values, const tni_planes *q,
                       const tni_planes *x, tni_planes *v) {
    *v = *a;
    if (!a->at[1]) {
        v->at[0] = q->at[0];
        v->at[1] = x->at[0];
        eigen_widen(a, values, v);
        return;
    }
    for (int64_t j = 0; j < a->n; j++) eigen_normalise(v, j, false);
}

/* --- all of it -------------------------------------------------------------------------------- */

TN_PRIV bool tni_eigen_size(int64_t n, bool vectors, int64_t *elements) {
    /* Reflectors, which stay; Q and the vectors; taus, factors of balancing. */
    int64_t block, more;
    return tni_mul(n, vectors ? n : 0, &more) && tni_add(more, more, elements) &&
           tni_reflectors_size(n, n, &block) && tni_mul(n, 4, &more) &&
           tni_add(*elements, more, elements) && tni_add(*elements, block, elements) &&
           tni_add(*elements, 8, elements);
}
TN_PRIV bool tni_eigen(tn_frame *f, const tni_planes *a, double *values, tni_planes *v,
                       void *scratch) {
    const int64_t n = a->n;
    const int dtype = a->at[1] ? TN_C128 : TN_F64;
    const double most = tni_planes_largest(a);
    int power = 0;
    bool ok = most - most == 0;
    const tni_lapack said =
        ok && n > 0 ? tni_lapack_eigen(a, values, v != NULL) : TNI_LAPACK_NOTHING;
    const tni_planes taus = tni_planes_in(f, &scratch, dtype, n, 1),
                     q = tni_planes_in(f, &scratch, dtype, v ? n : 0, n),
                     x = tni_planes_in(f, &scratch, dtype, v ? n : 0, n);
    tni_reflectors r = tni_reflectors_in(f, &scratch, dtype, n, n);
    tni_schur s = {a, v ? &q : NULL, n, 0, 0, values, values + n, 0, 0};
    tni_balance b = {0, 0, NULL};
    if (said != TNI_LAPACK_NOTHING) {
        ok = said == TNI_LAPACK_DONE;
    } else if (ok && n > 0) {
        if (most > 0) frexp(most, &power);
        tni_planes_scale(a, -power);
        b = tni_balance_of(a, (double *)scratch);
        tni_hessenberg(&r, a, &b, s.z, &taus);
        s.low = b.low;
        s.high = b.high;
        ok = a->at[1] ? tni_schur_complex(&s) : tni_schur_real(&s);
        if (ok && v) {
            eigen_vectors(a, values, &x);
            tni_planes_product(a, &q, TNI_AS_IS, &x, TNI_AS_IS, 1, false);
            tni_balance_undo(&b, a);
        }
    }
    if (ok && n > 0 && v) eigen_give(a, values, &q, &x, v);
    for (int64_t i = 0; i < 2 * n; i++) values[i] = ok ? ldexp(values[i], power) : NAN;
    return ok;
}
#include "../base/rounded_end.inl"
