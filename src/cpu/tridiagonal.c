/* tridiagonal.c - eigenvalues and eigenvectors of Hermitian matrices: reduction to a real
 * tridiagonal matrix by blocks of reflections (J. Dongarra, S. Hammarling, D. Sorensen, 1989), then
 * the implicit QL or QR iteration, from the end with the smaller diagonal (B. Parlett, The
 * symmetric eigenvalue problem, chapter 8). */
#include "tridiagonal.h"
#include "lapack.h"

#include <float.h>

/* --- scale ------------------------------------------------------------------------------------ */

TN_PRIV void tni_planes_scale(const tni_planes *a, int power) {
    const double scale = ldexp(1, power); /* exact where it is neither 0 nor infinite */
    if (power == 0) return;
    for (int part = 0; part < 2 && a->at[part]; part++)
        for (int64_t c = 0; c < a->n; c++) {
            double *v = (double *)(void *)a->at[part] + c * a->ld;
            for (int64_t r = 0; r < a->m; r++)
                v[r] = power > -1000 && power < 1000 ? v[r] * scale : ldexp(v[r], power);
        }
}
TN_PRIV double tni_planes_largest(const tni_planes *a) {
    double most = 0;
    for (int part = 0; part < 2 && a->at[part]; part++)
        for (int64_t c = 0; c < a->n; c++) {
            const double *v = (const double *)(const void *)a->at[part] + c * a->ld;
            for (int64_t r = 0; r < a->m; r++) {
                const double x = fabs(v[r]);
                if (!(x <= most)) most = x;
                if (most != most) return most;
            }
        }
    return most;
}

/* --- reduction -------------------------------------------------------------------------------- */

/* x -= a b^H, where b is the first k numbers of row r. */
static void tri_less(const tni_planes *x, const tni_planes *a, const tni_planes *b, int64_t r) {
    const tni_planes row = tni_planes_part(b, r, 0, 1, a->n);
    tni_planes_product(x, a, TNI_AS_IS, &row, TNI_ADJOINT, -1, true);
}
/* x -= a (b^H v), with room for b^H v in t. */
static void tri_project(const tni_planes *x, const tni_planes *a, const tni_planes *b,
                        const tni_planes *v, const tni_planes *t) {
    const tni_planes dots = tni_planes_part(t, 0, 0, a->n, 1);
    tni_planes_product(&dots, b, TNI_ADJOINT, v, TNI_AS_IS, 1, false);
    tni_planes_product(x, a, TNI_AS_IS, &dots, TNI_AS_IS, -1, true);
}

/* w = tau A v - |tau|^2 (v^H A v) / 2 v of A as the panel's earlier columns leave it; then
 * H^H A H = A - v w^H - w v^H. */
static void tri_column(const tni_planes *a, const tni_planes *w, int64_t first, int64_t i,
                       tni_pair tau, const tni_planes *t) {
    const int64_t k = i - first, n = a->n - i - 1;
    const tni_planes v = tni_planes_part(a, i + 1, i, n, 1),
                     rest = tni_planes_part(a, i + 1, i + 1, n, n),
                     to = tni_planes_part(w, i + 1, k, n, 1),
                     vs = tni_planes_part(a, i + 1, first, n, k),
                     ws = tni_planes_part(w, i + 1, 0, n, k);
    tni_pair s;
    tni_planes_product(&to, &rest, TNI_AS_IS, &v, TNI_AS_IS, 1, false);
    tri_project(&to, &vs, &ws, &v, t);
    tri_project(&to, &ws, &vs, &v, t);
    s = tni_column_dot(&v, 0, &to, 0, 0);
    for (int64_t r = 0; r < n; r++)
        tni_planes_set(&to, r, 0, tni_pair_mul(tau, tni_planes_get(&to, r, 0)));
    s.re *= -0.5 * fma(tau.re, tau.re, tau.im * tau.im);
    s.im = 0;
    tni_column_add(&to, 0, &v, 0, 0, n, s);
}
/* a becomes Q^H A Q: d its diagonal, e what stands below it; the reflections of Q stay in a. */
static void tri_reduce(const tni_planes *a, const tni_planes *taus, double *d, double *e,
                       const tni_planes *w, const tni_planes *t) {
    const int64_t n = a->n;
    for (int64_t first = 0; first < n; first += TNI_REFLECTIONS) {
        const int64_t end = n - first < TNI_REFLECTIONS ? n : first + TNI_REFLECTIONS, m = n - end;
        const tni_planes panel = tni_planes_part(a, 0, first, n, end - first);
        tni_planes rest, v, ws;
        for (int64_t i = first; i < end; i++) {
            const int64_t k = i - first;
            const tni_planes column = tni_planes_part(a, i, i, n - i, 1),
                             vs = tni_planes_part(a, i, first, n - i, k),
                             x = tni_planes_part(w, i, 0, n - i, k);
            tni_pair tau;
            tri_less(&column, &vs, w, i);
            tri_less(&column, &x, &panel, i);
            d[i] = tni_planes_get(a, i, i).re;
            if (i == n - 1) break;
            tau = tni_reflection(a, i + 1, i);
            tni_planes_set(taus, i, 0, tau);
            e[i] = tni_planes_get(a, i + 1, i).re;
            tni_planes_set(a, i + 1, i, tni_re_im(1, 0));
            tri_column(a, w, first, i, tau, t);
        }
        if (m < 1) return;
        rest = tni_planes_part(a, end, end, m, m);
        v = tni_planes_part(a, end, first, m, end - first);
        ws = tni_planes_part(w, end, 0, m, end - first);
        tni_planes_product(&rest, &v, TNI_AS_IS, &ws, TNI_ADJOINT, -1, true);
        tni_planes_product(&rest, &ws, TNI_AS_IS, &v, TNI_ADJOINT, -1, true);
    }
}

/* --- iteration -------------------------------------------------------------------------------- */

/* A block [first, last] that no zero divides, seen from the end where eigenvalues are found: its
 * diagonal is d[0], d[step], ..., what stands beside it e[0], e[step], ... */
typedef struct tri_block {
    double *d, *e;
    int64_t n;     /* rotations of a sweep */
    int64_t other; /* the column at the other end */
    int step;
} tri_block;

static bool tri_is_zero(double e, double x, double y) {
    return fabs(e) <= DBL_EPSILON * sqrt(fabs(x)) * sqrt(fabs(y)) || fabs(e) < 1e-301;
}

/* One sweep from the far end, with the eigenvalue of the first 2 x 2 block that is nearer to d[0]
 * as shift. */
static void tri_sweep(const tri_block *b, tni_rotations *rotations) {
    const int64_t t = b->step;
    double *cs = tni_rotations_begin(rotations, b->other, -b->step, b->n), *d = b->d, *e = b->e;
    double half = (d[t] - d[0]) / (2 * e[0]), r = sqrt(fma(half, half, 1)), c = 1, s = 1, p = 0, g;
    if (fabs(half) > 1e150) r = fabs(half);
    g = d[b->n * t] - d[0] + e[0] / (half + copysign(r, half));
    for (int64_t k = b->n - 1; k >= 0; k--) {
        const double f = s * e[k * t], x = c * e[k * t];
        tni_rotation_of(g, f, &c, &s, &r);
        if (k != b->n - 1) e[(k + 1) * t] = r;
        g = d[(k + 1) * t] - p;
        r = fma(d[k * t] - g, s, 2 * c * x);
        p = s * r;
        d[(k + 1) * t] = g + p;
        g = fma(c, r, -x);
        if (cs) {
            *cs++ = c;
            *cs++ = s;
        }
    }
    d[0] -= p;
    e[0] = g;
}

/* False if the iteration does not end. */
static bool tri_iterate(double *d, double *e, int64_t n, tni_rotations *rotations) {
    int64_t last = n - 1, left = 30 * n, first, known = -1, known_last = -1;
    int step = 1;
    while (last > 0) {
        tri_block b;
        for (first = last; first > 0; first--)
            if (tri_is_zero(e[first - 1], d[first - 1], d[first])) {
                e[first - 1] = 0;
                break;
            }
        if (first == last) {
            last--;
            continue;
        }
        if (left-- < 1) return false;
        /* A block that is new decides for an end; a part of it keeps that. */
        if (known < 0 || first > known_last || last < known)
            step = fabs(d[last]) < fabs(d[first]) ? -1 : 1;
        known = first;
        known_last = last;
        b.n = last - first;
        b.step = step;
        b.d = step > 0 ? d + first : d + last;
        b.e = step > 0 ? e + first : e + last - 1;
        b.other = step > 0 ? last : first;
        tri_sweep(&b, rotations);
    }
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

TN_PRIV bool tni_hermitian_size(int64_t n, int64_t *elements) {
    /* taus, e, w and the dots; reflectors; rotations. */
    int64_t panel, block;
    return tni_mul(n, TNI_REFLECTIONS + 4 + 32, &panel) && tni_reflectors_size(n, n, &block) &&
           tni_add(panel, block, &panel) && tni_add(panel, TNI_REFLECTIONS + 256, elements);
}

/* Rising values with their columns. */
static void tri_sort(double *d, const tni_planes *q, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        double x;
        for (int64_t k = i + 1; k < n; k++)
            if (d[k] < d[least]) least = k;
        if (least == i) continue;
        x = d[i];
        d[i] = d[least];
        d[least] = x;
        if (q) tni_columns_exchange(q, i, least);
    }
}

TN_PRIV bool tni_hermitian(tn_frame *f, const tni_planes *a, const tni_planes *q, double *d,
                           void *scratch) {
    const int64_t n = a->n;
    const int dtype = a->at[1] ? TN_C128 : TN_F64;
    const double most = tni_planes_largest(a);
    int power = 0;
    bool ok = most - most == 0;
    const tni_lapack said = ok ? tni_lapack_hermitian(a, q, d) : TNI_LAPACK_NOTHING;
    if (said != TNI_LAPACK_NOTHING) {
        ok = said == TNI_LAPACK_DONE;
    } else if (ok && n > 0) {
        const tni_planes taus = tni_planes_in(f, &scratch, dtype, n, 1),
                         w = tni_planes_in(f, &scratch, dtype, n, TNI_REFLECTIONS),
                         t = tni_planes_in(f, &scratch, dtype, TNI_REFLECTIONS, 1);
        tni_reflectors r = tni_reflectors_in(f, &scratch, dtype, n, n);
        double *e = (double *)scratch;
        tni_rotations rotations = tni_rotations_in(q, e + n, n);
        if (most > 0) frexp(most, &power);
        tni_planes_scale(a, -power);
        tri_reduce(a, &taus, d, e, &w, &t);
        if (q) tni_reflections_product(&r, a, n - 1, 1, &taus, q);
        ok = tri_iterate(d, e, n, &rotations);
        tni_rotations_apply(&rotations);
        tri_sort(d, q, n);
    }
    for (int64_t i = 0; i < n; i++) d[i] = ok ? ldexp(d[i], power) : NAN;
    return ok;
}
