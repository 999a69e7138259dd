/* lu.c - A = P L U with partial pivoting, half of the columns after the other (S. Toledo, Locality
 * of reference in LU decomposition with partial pivoting, 1997). */
#include "lapack.h"
#include "lu.h"

enum { LU_COLUMNS = 8 }; /* so few go one by one */

/* |re| + |im|, by which LAPACK compares pivots. */
static int64_t lu_largest(const tni_planes *a, int64_t j) {
    int64_t at = j;
    double most = -1;
    if (!a->at[1] && a->bytes == 8) {
        const double *v = (const double *)(const void *)a->at[0] + j * a->ld;
        for (int64_t i = j; i < a->m; i++)
            if (fabs(v[i]) > most) most = fabs(v[at = i]);
    } else if (!a->at[1]) {
        const float *v = (const float *)(const void *)a->at[0] + j * a->ld;
        for (int64_t i = j; i < a->m; i++)
            if (fabs((double)v[i]) > most) most = fabs((double)v[at = i]);
    } else {
        for (int64_t i = j; i < a->m; i++) {
            const tni_pair v = tni_planes_get(a, i, j);
            const double size = fabs(v.re) + fabs(v.im);
            if (size > most) {
                most = size;
                at = i;
            }
        }
    }
    return at;
}

TN_PRIV void tni_lu_exchange(const tni_planes *a, const int32_t *pivots, int64_t n, bool back) {
    for (int part = 0; part < 2 && a->at[part]; part++)
        for (int64_t c = 0; c < a->n; c++) {
            char *column = a->at[part] + c * a->ld * a->bytes;
            for (int64_t s = 0; s < n; s++) {
                const int64_t k = back ? n - 1 - s : s, i = pivots[k] - 1;
                if (i == k) continue;
                if (a->bytes == 8) {
                    double *v = (double *)(void *)column, x = v[k];
                    v[k] = v[i];
                    v[i] = x;
                } else {
                    float *v = (float *)(void *)column, x = v[k];
                    v[k] = v[i];
                    v[i] = x;
                }
            }
        }
}

/* a[j+1.., j] /= a[j, j] */
static void lu_divide(const tni_planes *a, int64_t j, tni_pair head) {
    if (!a->at[1] && a->bytes == 8) {
        double *v = (double *)(void *)a->at[0] + j * a->ld;
        for (int64_t i = j + 1; i < a->m; i++) v[i] /= head.re;
    } else if (!a->at[1]) {
        float *v = (float *)(void *)a->at[0] + j * a->ld;
        for (int64_t i = j + 1; i < a->m; i++) v[i] /= (float)head.re;
    } else {
        for (int64_t i = j + 1; i < a->m; i++)
            tni_planes_set(a, i, j, tni_pair_div(tni_planes_get(a, i, j), head));
    }
}

/* A few columns, each brought up to date with those before it. */
static int32_t lu_columns(const tni_planes *a, int32_t *pivots, int64_t least) {
    int32_t info = 0;
    for (int64_t j = 0; j < least; j++) {
        const int64_t i = lu_largest(a, j);
        tni_pair head;
        const tni_planes one = tni_planes_part(a, j, 0, a->m - j, a->n);
        const int32_t swap = (int32_t)(i - j + 1);
        pivots[j] = (int32_t)(i + 1);
        if (i != j) tni_lu_exchange(&one, &swap, 1, false);
        head = tni_planes_get(a, j, j);
        if (head.re == 0 && head.im == 0) {
            if (!info) info = (int32_t)(j + 1);
            continue;
        }
        lu_divide(a, j, head);
        for (int64_t c = j + 1; c < a->n; c++) {
            const tni_pair v = tni_planes_get(a, j, c);
            tni_column_add(a, c, a, j, j + 1, a->m, tni_re_im(-v.re, -v.im));
        }
    }
    return info;
}

TN_PRIV int32_t tni_lu_factor(const tni_planes *a, int32_t *pivots) {
    const int64_t least = a->m < a->n ? a->m : a->n, half = least / 2;
    tni_planes left, right, above, under, corner;
    int32_t info = 0, other;
    if (tni_lapack_lu(a, pivots, &info)) return info;
    if (least <= LU_COLUMNS && a->n <= 2 * LU_COLUMNS) return lu_columns(a, pivots, least);
    if (least <= LU_COLUMNS) { /* wide: the square part, then a triangular system */
        left = tni_planes_part(a, 0, 0, a->m, least);
        right = tni_planes_part(a, 0, least, a->m, a->n - least);
        info = lu_columns(&left, pivots, least);
        tni_lu_exchange(&right, pivots, least, false);
        under = tni_planes_part(&left, 0, 0, least, least);
        tni_planes_solve(&under, &right, false, true);
        return info;
    }
    left = tni_planes_part(a, 0, 0, a->m, half);
    right = tni_planes_part(a, 0, half, a->m, a->n - half);
    info = tni_lu_factor(&left, pivots);
    /* The rest: rows exchanged, U's rows above, products of both below. */
    tni_lu_exchange(&right, pivots, half, false);
    corner = tni_planes_part(a, 0, 0, half, half);
    above = tni_planes_part(&right, 0, 0, half, right.n);
    tni_planes_solve(&corner, &above, false, true);
    under = tni_planes_part(a, half, 0, a->m - half, half);
    right = tni_planes_part(&right, half, 0, a->m - half, right.n);
    tni_planes_product(&right, &under, TNI_AS_IS, &above, TNI_AS_IS, -1, true);
    other = tni_lu_factor(&right, pivots + half);
    tni_lu_exchange(&under, pivots + half, least - half, false);
    for (int64_t i = half; i < least; i++) pivots[i] += (int32_t)half;
    return info ? info : other ? other + (int32_t)half : 0;
}

TN_PRIV void tni_lu_solve(const tni_planes *lu, const int32_t *pivots, const tni_planes *x,
                          bool adjoint) {
    if (!adjoint) tni_lu_exchange(x, pivots, lu->n, false);
    tni_planes_solve(lu, x, false, !adjoint);
    tni_planes_solve(lu, x, true, adjoint);
    if (adjoint) tni_lu_exchange(x, pivots, lu->n, true);
}
