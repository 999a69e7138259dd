/* bidiagonal.c - singular values and vectors: reduction to a real bidiagonal matrix by blocks of
 * reflections (J. Dongarra, S. Hammarling, D. Sorensen, 1989), then the implicit QR iteration that
 * keeps the relative accuracy of small values (J. Demmel, W. Kahan, Accurate singular values of
 * bidiagonal matrices, 1990). */
#include "bidiagonal.h"
#include "lapack.h"

#include <float.h>

/* --- reduction -------------------------------------------------------------------------------- */

/* What a panel needs: A = A0 - V Y^H - X U^H, where V is in A0 below the diagonal, U apart. */
typedef struct bi_panel {
    tni_planes a, u, x, y, t; /* t: room for dots */
    int64_t first;
} bi_panel;

/* to -= p (q^H v), rows and columns of p and q as given. */
static void bi_project(const bi_panel *b, const tni_planes *to, const tni_planes *p,
                       const tni_planes *q, const tni_planes *v) {
    const tni_planes dots = tni_planes_part(&b->t, 0, 0, p->n, 1);
    tni_planes_product(&dots, q, TNI_ADJOINT, v, TNI_AS_IS, 1, false);
    tni_planes_product(to, p, TNI_AS_IS, &dots, TNI_AS_IS, -1, true);
}
static void bi_times(const tni_planes *x, tni_pair tau) {
    for (int64_t r = 0; r < x->m; r++)
        tni_planes_set(x, r, 0, tni_pair_mul(tau, tni_planes_get(x, r, 0)));
}
/* to -= p q^H of row r of q. */
static void bi_less(const tni_planes *to, const tni_planes *p, const tni_planes *q, int64_t r,
                    int64_t c) {
    const tni_planes row = tni_planes_part(q, r, c, 1, p->n);
    tni_planes_product(to, p, TNI_AS_IS, &row, TNI_ADJOINT, -1, true);
}

/* Column i, by a reflection from the left: y = tau A^H v, and A becomes A - v y^H. */
static double bi_left(const bi_panel *b, int64_t i, const tni_planes *taus) {
    const tni_planes *a = &b->a;
    const int64_t k = i - b->first, m = a->m - i, n = a->n - i - 1;
    const tni_planes column = tni_planes_part(a, i, i, m, 1),
                     rest = tni_planes_part(a, i, i + 1, m, n),
                     v = tni_planes_part(a, i, b->first, m, k),
                     x = tni_planes_part(&b->x, i, 0, m, k),
                     y = tni_planes_part(&b->y, i + 1, 0, n, k),
                     u = tni_planes_part(&b->u, i + 1, b->first, n, k),
                     to = tni_planes_part(&b->y, i + 1, k, n, 1);
    double d;
    tni_pair tau;
    bi_less(&column, &v, &b->y, i, 0);
    bi_less(&column, &x, &b->u, i, b->first);
    tau = tni_reflection(a, i, i);
    tni_planes_set(taus, i, 0, tau);
    d = tni_planes_get(a, i, i).re;
    tni_planes_set(a, i, i, tni_re_im(1, 0));
    tni_planes_product(&to, &rest, TNI_ADJOINT, &column, TNI_AS_IS, 1, false);
    bi_project(b, &to, &y, &v, &column);
    bi_project(b, &to, &u, &x, &column);
    bi_times(&to, tau);
    return d;
}
/* Row i behind the diagonal, by a reflection from the right: x = tau A u, and A becomes A - x u^H.
 */
static double bi_right(const bi_panel *b, int64_t i, const tni_planes *taus) {
    const tni_planes *a = &b->a;
    const int64_t k = i - b->first, m = a->m - i - 1, n = a->n - i - 1;
    const tni_planes z = tni_planes_part(&b->u, i + 1, i, n, 1),
                     rest = tni_planes_part(a, i + 1, i + 1, m, n),
                     v = tni_planes_part(a, i + 1, b->first, m, k + 1),
                     y = tni_planes_part(&b->y, i + 1, 0, n, k + 1),
                     x = tni_planes_part(&b->x, i + 1, 0, m, k),
                     u = tni_planes_part(&b->u, i + 1, b->first, n, k),
                     to = tni_planes_part(&b->x, i + 1, k, m, 1);
    tni_pair tau;
    double e;
    /* The row's adjoint is U's next column, which becomes its reflection. */
    for (int64_t c = 0; c < n; c++) {
        const tni_pair w = tni_planes_get(a, i, i + 1 + c);
        tni_planes_set(&z, c, 0, tni_re_im(w.re, -w.im));
    }
    bi_less(&z, &y, a, i, b->first);
    bi_less(&z, &u, &b->x, i, 0);
    tau = tni_reflection(&b->u, i + 1, i);
    tni_planes_set(taus, i, 0, tau);
    e = tni_planes_get(&z, 0, 0).re;
    tni_planes_set(&z, 0, 0, tni_re_im(1, 0));
    tni_planes_product(&to, &rest, TNI_AS_IS, &z, TNI_AS_IS, 1, false);
    bi_project(b, &to, &v, &y, &z);
    bi_project(b, &to, &x, &u, &z);
    bi_times(&to, tau);
    return e;
}
/* Q^H A P is bidiagonal: d on its diagonal, e right of it. */
static void bi_reduce(bi_panel *b, const tni_planes *left, const tni_planes *right, double *d,
                      double *e) {
    const int64_t m = b->a.m, n = b->a.n;
    for (b->first = 0; b->first < n; b->first += TNI_REFLECTIONS) {
        const int64_t end = n - b->first < TNI_REFLECTIONS ? n : b->first + TNI_REFLECTIONS,
                      k = end - b->first;
        tni_planes rest, v, y, x, u;
        for (int64_t i = b->first; i < end; i++) {
            d[i] = bi_left(b, i, left);
            if (i < n - 1) e[i] = bi_right(b, i, right);
        }
        if (end == n) return;
        rest = tni_planes_part(&b->a, end, end, m - end, n - end);
        v = tni_planes_part(&b->a, end, b->first, m - end, k);
        y = tni_planes_part(&b->y, end, 0, n - end, k);
        x = tni_planes_part(&b->x, end, 0, m - end, k);
        u = tni_planes_part(&b->u, end, b->first, n - end, k);
        tni_planes_product(&rest, &v, TNI_AS_IS, &y, TNI_ADJOINT, -1, true);
        tni_planes_product(&rest, &x, TNI_AS_IS, &u, TNI_ADJOINT, -1, true);
    }
}

/* --- iteration -------------------------------------------------------------------------------- */

/* A block that no zero divides, seen from the end where a sweep begins; seen from the other end it
 * is the transpose, so u and v trade places. */
typedef struct bi_block {
    double *d, *e;
    int64_t n;     /* of e */
    int64_t first; /* column */
    int step;
    tni_rotations *u, *v;
} bi_block;

/* The smaller singular value of (f g; 0 h). */
static double bi_least(double f, double g, double h) {
    const double fa = fabs(f), ga = fabs(g), ha = fabs(h), low = fmin(fa, ha), high = fmax(fa, ha);
    if (low == 0) return 0;
    if (ga < high) {
        const double as = 1 + low / high, at = (high - low) / high, au = ga / high * (ga / high);
        return low * (2 / (sqrt(fma(as, as, au)) + sqrt(fma(at, at, au))));
    } else {
        const double au = high / ga, as = 1 + low / high, at = (high - low) / high;
        if (au == 0) return low * high / ga;
        return 2 * (low * (1 / (sqrt(fma(as * au, as * au, 1)) + sqrt(fma(at * au, at * au, 1))))) *
               au;
    }
}

static void bi_put(double **cs, double c, double s) {
    if (!*cs) return;
    (*cs)[0] = c;
    (*cs)[1] = s;
    *cs += 2;
}
/* A sweep without shift, whose every product is accurate. */
static void bi_sweep_zero(const bi_block *b) {
    const int64_t t = b->step;
    double *d = b->d, *e = b->e, *u = tni_rotations_begin(b->u, b->first, b->step, b->n),
           *v = tni_rotations_begin(b->v, b->first, b->step, b->n), c = 1, s = 0, oc = 1, os = 0, r;
    for (int64_t k = 0; k < b->n; k++) {
        tni_rotation_of(d[k * t] * c, e[k * t], &c, &s, &r);
        if (k > 0) e[(k - 1) * t] = os * r;
        tni_rotation_of(oc * r, d[(k + 1) * t] * s, &oc, &os, &d[k * t]);
        bi_put(&v, c, s);
        bi_put(&u, oc, os);
    }
    r = d[b->n * t] * c;
    d[b->n * t] = r * oc;
    e[(b->n - 1) * t] = r * os;
}
static void bi_sweep(const bi_block *b, double shift) {
    const int64_t t = b->step;
    double *d = b->d, *e = b->e, *u = tni_rotations_begin(b->u, b->first, b->step, b->n),
           *v = tni_rotations_begin(b->v, b->first, b->step, b->n), c, s, r,
           f = (fabs(d[0]) - shift) * (copysign(1, d[0]) + shift / d[0]), g = e[0];
    for (int64_t k = 0; k < b->n; k++) {
        double *dk = d + k * t, *dn = dk + t, *ek = e + k * t;
        tni_rotation_of(f, g, &c, &s, &r);
        if (k > 0) ek[-t] = r;
        f = fma(c, *dk, s * *ek);
        *ek = fma(c, *ek, -(s * *dk));
        g = s * *dn;
        *dn = c * *dn;
        bi_put(&v, c, s);
        tni_rotation_of(f, g, &c, &s, &r);
        *dk = r;
        f = fma(c, *ek, s * *dn);
        *dn = fma(c, *dn, -(s * *ek));
        if (k < b->n - 1) {
            g = s * ek[t];
            ek[t] = c * ek[t];
        }
        bi_put(&u, c, s);
    }
    e[(b->n - 1) * t] = f;
}

/* Sets to 0 what is small beside its neighbours, from the block's beginning; *least: a bound below
 * the smallest singular value. True if an e became 0. */
static bool bi_deflate(const bi_block *b, double tol, double *least) {
    const int64_t t = b->step;
    double mu = fabs(b->d[0]);
    if (fabs(b->e[(b->n - 1) * t]) <= tol * fabs(b->d[b->n * t])) {
        b->e[(b->n - 1) * t] = 0;
        return true;
    }
    *least = mu;
    for (int64_t k = 0; k < b->n; k++) {
        const double e = fabs(b->e[k * t]);
        if (e <= tol * mu) {
            b->e[k * t] = 0;
            return true;
        }
        mu = fabs(b->d[(k + 1) * t]) * (mu / (mu + e));
        *least = fmin(*least, mu);
    }
    return false;
}

static bool bi_iterate(double *d, double *e, int64_t n, tni_rotations *u, tni_rotations *v) {
    const double tol = 10 * DBL_EPSILON;
    int64_t last = n - 1, left = 60 * n, first, known = -1, known_last = -1;
    bool down = true;
    while (last > 0) {
        double most = fabs(d[last]), least = 0, shift, head;
        bi_block b;
        for (first = last; first > 0; first--) {
            if (fabs(e[first - 1]) <= 1e-301) {
                e[first - 1] = 0;
                break;
            }
            most = fmax(most, fmax(fabs(d[first - 1]), fabs(e[first - 1])));
        }
        if (first == last) {
            last--;
            continue;
        }
        if (left-- < 1) return false;
        if (known < 0 || first > known_last || last < known) down = fabs(d[first]) >= fabs(d[last]);
        known = first;
        known_last = last;
        b.n = last - first;
        b.step = down ? 1 : -1;
        b.d = down ? d + first : d + last;
        b.e = down ? e + first : e + last - 1;
        b.first = down ? first : last;
        b.u = down ? u : v;
        b.v = down ? v : u;
        if (bi_deflate(&b, tol, &least)) continue;
        /* The shift, unless it would spoil a small value or not be seen beside d[0]. */
        head = fabs(b.d[0]);
        shift = bi_least(b.d[(b.n - 1) * b.step], b.e[(b.n - 1) * b.step], b.d[b.n * b.step]);
        if ((double)n * tol * (least / most) <= DBL_EPSILON || head == 0 ||
            shift / head * (shift / head) < DBL_EPSILON)
            bi_sweep_zero(&b);
        else
            bi_sweep(&b, shift);
    }
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

TN_PRIV bool tni_singular_size(int64_t m, int64_t n, int64_t *elements) {
    /* u; x, y, z, taus; e and twice the rotations; reflectors. */
    int64_t square, rows, columns, block;
    return tni_mul(n, n, &square) && tni_mul(m, TNI_REFLECTIONS + 1, &rows) &&
           tni_mul(n, TNI_REFLECTIONS + 8 + 64, &columns) && tni_reflectors_size(m, m, &block) &&
           tni_add(square, rows, &square) && tni_add(square, columns, &square) &&
           tni_add(square, block, &square) && tni_add(square, 512, elements);
}

/* Falling values, none negative, with their columns. */
static void bi_sort(double *d, const tni_planes *u, const tni_planes *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (!signbit(d[i])) continue;
        d[i] = -d[i];
        for (int64_t r = 0; v && r < v->m; r++) {
            const tni_pair x = tni_planes_get(v, r, i);
            tni_planes_set(v, r, i, tni_re_im(-x.re, -x.im));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t most = i;
        double x;
        for (int64_t k = i + 1; k < n; k++)
            if (d[k] > d[most]) most = k;
        if (most == i) continue;
        x = d[i];
        d[i] = d[most];
        d[most] = x;
        if (u) tni_columns_exchange(u, i, most);
        if (v) tni_columns_exchange(v, i, most);
    }
}

TN_PRIV bool tni_singular(tn_frame *f, const tni_planes *a, const tni_planes *u,
                          const tni_planes *v, double *d, void *scratch) {
    const int64_t m = a->m, n = a->n;
    const int dtype = a->at[1] ? TN_C128 : TN_F64;
    const double most = tni_planes_largest(a);
    int power = 0;
    bool ok = most - most == 0;
    const tni_lapack said = ok ? tni_lapack_singular(a, u, v, d) : TNI_LAPACK_NOTHING;
    if (said != TNI_LAPACK_NOTHING) {
        ok = said == TNI_LAPACK_DONE;
    } else if (ok) {
        bi_panel b;
        const tni_planes left = tni_planes_in(f, &scratch, dtype, n, 1),
                         right = tni_planes_in(f, &scratch, dtype, n, 1);
        tni_reflectors r = tni_reflectors_in(f, &scratch, dtype, m, m);
        tni_rotations ur, vr;
        double *e;
        b.a = *a;
        b.u = tni_planes_in(f, &scratch, dtype, n, n);
        b.x = tni_planes_in(f, &scratch, dtype, m, TNI_REFLECTIONS);
        b.y = tni_planes_in(f, &scratch, dtype, n, TNI_REFLECTIONS);
        b.t = tni_planes_in(f, &scratch, dtype, TNI_REFLECTIONS, 1);
        e = (double *)scratch;
        ur = tni_rotations_in(u, e + n, n);
        vr = tni_rotations_in(v, e + n + tni_rotations_size(n), n);
        if (most > 0) frexp(most, &power);
        tni_planes_scale(a, -power);
        bi_reduce(&b, &left, &right, d, e);
        if (u) tni_reflections_product(&r, a, n, 0, &left, u);
        if (v) tni_reflections_product(&r, &b.u, n - 1, 1, &right, v);
        ok = bi_iterate(d, e, n, &ur, &vr);
        tni_rotations_apply(&ur);
        tni_rotations_apply(&vr);
        bi_sort(d, u, v, n);
    }
    for (int64_t i = 0; i < n; i++) d[i] = ok ? ldexp(d[i], power) : NAN;
    return ok;
}
