/* least_squares.c - what stands on singular values: linalg.pinv, matrix_rank, lstsq, polar,
 * matrix_sqrth. */
#include "../../cpu/bidiagonal.h"
#include "factor.h"

#include <float.h>

static int wide_of(const tn_tensor *a) { return tni_is_complex(a->dtype) ? TN_C128 : TN_F64; }
static double unit_of(const tn_tensor *a) {
    return tni_real_of(a->dtype) == TN_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
}
/* What singular values must exceed, the largest being `most`: atol or rtol times that, by default
 * eps max(m, n). */
static double tolerance_of(const tn_tensor *a, tn_maybe atol, tn_maybe rtol, double most) {
    const int64_t m = a->size[a->ndim - 2], n = a->size[a->ndim - 1];
    const double at = atol.given == TN_GIVEN ? atol.value : 0,
                 rel = rtol.given == TN_GIVEN ? rtol.value
                       : at > 0               ? 0
                                              : unit_of(a) * (double)(m > n ? m : n);
    return fmax(at, rel * most);
}

/* --- pinv ------------------------------------------------------------------------------------- */

static bool pinv_check(tn_frame *f) {
    TN_ARGS(linalg_pinv_float, o, f);
    const tn_tensor *a = f->in[0];
    int64_t size[TN_MAX_DIMS], m, n, k, more, square;
    if (a->ndim < 2)
        return tn_fail(f, TN_INVALID,
                       "linalg.pinv: expected a tensor with 2 or more dimensions, got %d", a->ndim);
    if (!tni_matrix_fits(f, a, "self", o->hermitian && a->numel > 0) ||
        !tni_out_takes(f, 0, "result", a->dtype))
        return false;
    m = a->size[a->ndim - 2];
    n = a->size[a->ndim - 1];
    k = m < n ? m : n;
    tni_matrix_shape(size, a, n, m);
    if (!tni_singular_size(m > n ? m : n, k, &more) || !tni_mul(k, k, &square) ||
        !tni_add(more, square, &more) || !tni_add(more, k + 2, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_announce(f, 0, (tn_dtype)a->dtype, a->ndim, size) &&
           tni_planes_ask(f, wide_of(a), m, n, 2 * m, n, more);
}
/* a, long side first, becomes U diag(d) V^H with the k columns of u and v. */
static bool factored(tn_frame *f, const tn_tensor *in, int64_t i, bool turned, bool mirrored,
                     const tni_planes *a, const tni_planes *u, const tni_planes *v, double *d,
                     void *scratch) {
    tni_planes_load(a, in, in, i, turned ? TNI_ADJOINT : TNI_AS_IS);
    for (int64_t c = 0; mirrored && c < a->n; c++)
        for (int64_t r = c; r < a->m; r++) {
            const tni_pair x = tni_planes_get(a, r, c);
            tni_planes_set(a, c, r, tni_re_im(x.re, r == c ? 0 : -x.im));
        }
    return tni_singular(f, a, u, v, d, scratch);
}
static void pinv_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_pinv_float, o, f);
    const tn_tensor *in = f->in[0];
    const int64_t m = in->size[in->ndim - 2], n = in->size[in->ndim - 1], k = m < n ? m : n;
    const bool turned = m < n, zero = k == 0;
    const int dtype = wide_of(in);
    const tni_planes a = tni_planes_in(f, &scratch, dtype, turned ? n : m, k),
                     u = tni_planes_in(f, &scratch, dtype, a.m, k),
                     v = tni_planes_in(f, &scratch, dtype, k, k),
                     x = tni_planes_in(f, &scratch, dtype, k, a.m);
    double *d = (double *)scratch, least;
    bool ok;
    if (zero) return;
    ok = factored(f, in, i, turned, o->hermitian, &a, &u, &v, d, d + k + (k & 1));
    least = tolerance_of(in, o->atol, o->rtol, d[0]);
    /* V diag(1 / d) U^H, of the adjoint where that was factored. */
    for (int64_t c = 0; c < k; c++) {
        const double s = !ok ? NAN : d[c] > least ? 1 / d[c] : 0;
        for (int64_t r = 0; r < k; r++) {
            const tni_pair y = tni_planes_get(&v, r, c);
            tni_planes_set(&v, r, c, tni_re_im(y.re * s, y.im * s));
        }
    }
    tni_planes_product(&x, &v, TNI_AS_IS, &u, TNI_ADJOINT, 1, false);
    tni_planes_store(&x, f->out[0], i, turned ? TNI_ADJOINT : TNI_AS_IS);
}
static double singular_work(const tn_tensor *a) {
    const double m = (double)a->size[a->ndim - 2], n = (double)a->size[a->ndim - 1];
    return 20 * m * n * fmin(m, n);
}
static void pinv_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), tni_effort(singular_work(f->in[0])), pinv_task);
}
/* The gradient of the pseudoinverse p of a (G. Golub, V. Pereyra, 1973): -(p g^H p)^H and what g
 * has outside of a's row and column space. */
static tn_tensor *pinv_back(tn_tensor *g, tn_tensor *p, tn_tensor *a) {
    tn_tensor *gh = tni_adjoint(g), *ph = tni_adjoint(p), *first, *left, *right;
    first = tni_adjoint(tnp_matmul(p, tnp_matmul(gh, p)));
    left = tnp_matmul(gh, tnp_matmul(p, ph)); /* (I - a p) g^H p p^H */
    left = tnp_sub(left, tnp_matmul(a, tnp_matmul(p, left)), 1);
    right = tnp_matmul(tnp_matmul(ph, p), gh); /* p^H p g^H (I - p a) */
    right = tnp_sub(right, tnp_matmul(tnp_matmul(right, p), a), 1);
    return tnp_sub(tnp_add(left, right, 1), first, 1);
}
static void pinv_grad(tn_gradient *g) {
    tn_give(g, 0, pinv_back(g->incoming[0], g->out[0], g->in[0]));
}
/* The pseudoinverse: singular values count as 0 unless they exceed atol and rtol times the largest,
 * rtol being eps max(m, n) by default (0 where atol is given). With hermitian only the lower
 * triangle is read. */
TN_OPERATOR(linalg_pinv_float,
            "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
            "hermitian=False) -> Tensor",
            TN_DOC(.shapes = "(*, m, n) -> (*, n, m), float32, float64 or complex",
                   .example = "tn_linalg_pinv_float(x)"),
            .forms = TN_OUT | TN_LEADING, .needs = "self,result", .check = pinv_check,
            .run = pinv_run, .grad = pinv_grad,
            .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):distinct rtol=0.3 | "
                      "(3,3):symmetric hermitian=True | (0,3):f64 | (2,3,0):f64 | (1,1):pd | "
                      "(4,3):distinct atol=0.5")
static bool pinv_rcond_compose(tn_frame *f) {
    TN_ARGS(linalg_pinv, a, f);
    if (!tni_out_takes(f, 0, "result", f->in[0]->dtype)) return false;
    f->out[0] = tnp_linalg_pinv_float(f->in[0], tn_some(0), tn_some(a->rcond), a->hermitian);
    return f->out[0] != NULL;
}
/* linalg_pinv_float with rtol = rcond. */
TN_OPERATOR(linalg_pinv, "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
            TN_DOC(.shapes = "(*, m, n) -> (*, n, m)", .example = "tn_linalg_pinv(x, 1e-3)"),
            .forms = TN_OUT, .compose = pinv_rcond_compose, .sample = "(2,4,3):distinct 0.1")
static bool pinverse_compose(tn_frame *f) {
    TN_ARGS(pinverse, a, f);
    f->out[0] = tnp_linalg_pinv_float(f->in[0], tn_some(0), tn_some(a->rcond), false);
    return f->out[0] != NULL;
}
/* linalg_pinv. */
TN_OPERATOR(pinverse, "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
            TN_DOC(.shapes = "(*, m, n) -> (*, n, m)", .example = "tn_pinverse(x)"),
            .autocast = TN_WIDE_CPU, .compose = pinverse_compose,
            .sample = "(2,4,3):distinct | (3,3):invertible 0.1")

/* --- rank ------------------------------------------------------------------------------------- */

static bool rank_of(tn_frame *f, const char *name, tn_maybe atol, tn_maybe rtol, bool hermitian) {
    tn_tensor *a = f->in[0], *s, *least;
    int64_t size[TN_MAX_DIMS];
    if (!tni_matrix_fits(f, a, name, hermitian && a->numel > 0) ||
        !tni_out_takes(f, 0, "result", TN_I64))
        return false;
    if (a->numel == 0) {
        memcpy(size, a->size, (size_t)a->ndim * sizeof *size);
        f->out[0] = tnp_zeros(tni_ints(size, a->ndim - 2), TN_I64, (tn_device_id)a->device);
        return f->out[0] != NULL;
    }
    s = hermitian ? tnp_abs(tnp_linalg_eigvalsh(a, "L")) : tnp_linalg_svdvals(a, NULL);
    least = tnp_mul_scalar(tnp_amax(s, tni_last_dim(), true),
                           tn_float(tolerance_of(a, tn_some(0), rtol, 1)));
    if (atol.given == TN_GIVEN && atol.value > 0) {
        if (rtol.given != TN_GIVEN) least = tnp_mul_scalar(least, tn_int(0));
        least = tnp_clamp_min_scalar(least, tn_float(atol.value));
    }
    f->out[0] = tnp_sum(tnp_gt(s, least), tni_last_dim(), false, TN_NO_DTYPE);
    return f->out[0] != NULL;
}
static bool rank_float_compose(tn_frame *f) {
    TN_ARGS(linalg_matrix_rank_float, a, f);
    return rank_of(f, "self", a->atol, a->rtol, a->hermitian);
}
/* The number of singular values above atol and rtol times the largest; by default rtol is eps
 * max(m, n), 0 where atol is given. With hermitian only the lower triangle is read. */
TN_OPERATOR(
    linalg_matrix_rank_float,
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
    "bool hermitian=False) -> Tensor",
    TN_DOC(.shapes = "(*, m, n) -> (*) int64", .example = "tn_linalg_matrix_rank_float(x)"),
    .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = rank_float_compose,
    .sample = "(3,3):invertible | (2,4,3):distinct rtol=0.3 | (3,3):symmetric hermitian=True "
              "| (0,3):f64 | (4,3):distinct atol=0.5")
static bool rank_compose(tn_frame *f) {
    TN_ARGS(linalg_matrix_rank, a, f);
    return rank_of(f, "self", tn_some(a->tol), tn_some(0), a->hermitian);
}
/* The number of singular values above tol. */
TN_OPERATOR(linalg_matrix_rank,
            "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
            TN_DOC(.shapes = "(*, m, n) -> (*) int64", .example = "tn_linalg_matrix_rank(x, 0.1)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = rank_compose,
            .sample = "(2,4,3):distinct 0.5")

/* --- polar, square root ----------------------------------------------------------------------- */

static bool polar_compose(tn_frame *f) {
    tn_tensor *a = f->in[0], *v;
    tn_U_S_Vh r;
    if (!tni_matrix_fits(f, a, "A", false)) return false;
    if (a->size[a->ndim - 2] < a->size[a->ndim - 1])
        return tn_fail(f, TN_INVALID, "linalg.polar: A must have at least as many rows as columns");
    r = tnp_linalg_svd_of(a, false, true, NULL);
    v = tni_adjoint(r.Vh);
    f->out[0] = tnp_matmul(r.U, r.Vh);
    f->out[1] = tnp_matmul(tnp_mul(v, tnp_unsqueeze(r.S, -2)), r.Vh);
    return f->out[0] && f->out[1];
}
/* A = U H: U with orthonormal columns, H Hermitian and positive semidefinite. */
TN_OPERATOR(linalg_polar, "linalg_polar(Tensor A) -> (Tensor U, Tensor H)",
            TN_DOC(.shapes = "(*, m, n), m >= n -> (*, m, n), (*, n, n)",
                   .example = "tn_linalg_polar(x)", .oracle = "U H = A; orthogonal U"),
            .forms = TN_OUT, .autocast = TN_UNCAST, .compose = polar_compose,
            .sample = "(3,3):invertible | (2,4,3):distinct | (0,0):f64")
static bool sqrth_compose(tn_frame *f) {
    const tn_eigenvalues_eigenvectors r = tnp_linalg_eigh_of(f->in[0], "L", true);
    f->out[0] = tnp_matmul(tnp_mul(r.eigenvectors, tnp_unsqueeze(tnp_sqrt(r.eigenvalues), -2)),
                           tni_adjoint(r.eigenvectors));
    return f->out[0] != NULL;
}
/* The Hermitian positive definite X with X X = self, of which the lower triangle is read. */
TN_OPERATOR(linalg_matrix_sqrth, "linalg_matrix_sqrth(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n)", .example = "tn_linalg_matrix_sqrth(x)"),
            .autocast = TN_WIDE, .compose = sqrth_compose,
            .sample = "(3,3):pd | (2,4,4):pd | (0,0)")

/* --- lstsq ------------------------------------------------------------------------------------ */

static bool lstsq_check(tn_frame *f) {
    TN_ARGS(linalg_lstsq_matrix, o, f);
    const tn_tensor *a = f->in[0], *b = f->in[1];
    const int64_t none = 0;
    int64_t more, square, size[TN_MAX_DIMS], m, n, rows, k, rhs;
    if (!tni_matrix_fits(f, a, "self", false) || !tni_matrix_fits(f, b, "b", false)) return false;
    m = a->size[a->ndim - 2];
    n = a->size[a->ndim - 1];
    rhs = b->size[b->ndim - 1];
    k = m < n ? m : n;
    rows = m > n ? m : n;
    if (a->dtype != b->dtype || a->ndim != b->ndim ||
        memcmp(a->size, b->size, (size_t)(a->ndim - 1) * sizeof *size) != 0)
        return tn_fail(f, TN_INVALID, "b must have the dtype, the batches and the rows of self");
    /* a, u, v and what tni_singular needs, and reflectors for one of a and the right sides. */
    if (!tni_singular_size(rows, k, &more) || !tni_mul(rows, k, &square) ||
        !tni_add(more, square, &more) || !tni_add(more, square, &more) || !tni_mul(k, k, &square) ||
        !tni_add(more, square, &more) || !tni_reflectors_size(rows, k > rhs ? k : rhs, &square) ||
        !tni_add(more, square, &more) || !tni_add(more, 2 * k + 4, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    tni_matrix_shape(size, a, rows, rhs);
    return (o->full_rank ? tn_announce(f, 1, TN_I64, 1, &none)
                         : tn_announce(f, 1, TN_I64, a->ndim - 2, a->size)) &&
           tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, size) &&
           tni_planes_ask(f, wide_of(a), rows, rhs, rows, rhs, more);
}
/* The largest sum of the moduli of a column. */
static double largest_column(const tni_planes *x) {
    double most = 0;
    for (int64_t c = 0; c < x->n; c++) {
        double sum = 0;
        for (int64_t r = 0; r < x->m; r++) {
            const tni_pair v = tni_planes_get(x, r, c);
            sum += fabs(v.re) + fabs(v.im);
        }
        most = fmax(most, sum);
    }
    return most;
}
/* Whether R, in r's upper triangle, is so far from singular that every driver calls its rank full;
 * copy is as large as R. */
static bool plainly_of_full_rank(const tni_planes *r, const tni_planes *copy, double rcond) {
    const tni_planes upper = tni_planes_part(r, 0, 0, r->n, r->n);
    double norm;
    for (int64_t i = 0; i < r->n; i++) {
        const tni_pair v = tni_planes_get(r, i, i);
        if (v.re == 0 && v.im == 0) return false;
    }
    tni_planes_copy(copy, &upper);
    tni_planes_clear(copy, true);
    norm = largest_column(copy);
    tni_planes_unit(copy);
    tni_planes_solve(&upper, copy, true, false);
    return norm * largest_column(copy) * rcond * 10 * (double)r->n < 1;
}
/* By A = Q R: x = R^-1 Q^H b. A wide A has A^H = Q R: x = Q (R^-H b; 0). False: the rank may not be
 * full. */
static bool lstsq_by_qr(tn_frame *f, const tni_planes *a, const tni_planes *x, bool turned,
                        double rcond, void *scratch) {
    const int64_t k = a->n;
    const int dtype = a->at[1] ? TN_C128 : TN_F64;
    const tni_planes taus = tni_planes_in(f, &scratch, dtype, k, 1),
                     copy = tni_planes_in(f, &scratch, dtype, k, k),
                     top = tni_planes_part(x, 0, 0, k, x->n),
                     rest = tni_planes_part(x, k, 0, a->m - k, x->n);
    tni_reflectors r = tni_reflectors_in(f, &scratch, dtype, a->m, k > x->n ? k : x->n);
    tni_planes upper = tni_planes_part(a, 0, 0, k, k);
    tni_qr_factor(&r, a, &taus);
    if (rcond >= 0 && !plainly_of_full_rank(a, &copy, rcond)) return false;
    if (!turned) {
        tni_reflections_apply(&r, a, k, 0, &taus, x, true);
        tni_planes_solve(&upper, &top, true, false);
        return true;
    }
    /* R^H is a lower triangle. */
    for (int64_t c = 0; c < k; c++)
        for (int64_t i = 0; i <= c; i++) {
            const tni_pair v = tni_planes_get(a, i, c);
            tni_planes_set(&copy, c, i, tni_re_im(v.re, -v.im));
        }
    tni_planes_solve(&copy, &top, false, false);
    for (int64_t c = 0; c < rest.n; c++)
        for (int64_t i = 0; i < rest.m; i++) tni_planes_set(&rest, i, c, tni_re_im(0, 0));
    tni_reflections_apply(&r, a, k, 0, &taus, x, false);
    return true;
}
/* By singular values: x = V S^+ U^H b, of the adjoint U S^+ V^H b. x is in place of b, t has room
 * for S^+ U^H b. Returns the rank. */
static int64_t lstsq_by_svd(const tni_planes *u, const tni_planes *v, const double *d,
                            const tni_planes *b, const tni_planes *t, bool turned, double rcond) {
    const tni_planes *left = turned ? u : v, *right = turned ? v : u,
                     from = tni_planes_part(b, 0, 0, right->m, b->n),
                     to = tni_planes_part(b, 0, 0, left->m, b->n);
    int64_t rank = 0;
    while (rank < v->n && (d[rank] > rcond * d[0] || (rank == 0 && d[0] > 0))) rank++;
    tni_planes_product(t, right, TNI_ADJOINT, &from, TNI_AS_IS, 1, false);
    for (int64_t c = 0; c < t->n; c++)
        for (int64_t r = 0; r < t->m; r++) {
            const tni_pair y = tni_planes_get(t, r, c);
            const double s = d[r] != d[r] ? NAN : r < rank ? 1 / d[r] : 0;
            tni_planes_set(t, r, c, tni_re_im(y.re * s, y.im * s));
        }
    tni_planes_product(&to, left, TNI_AS_IS, t, TNI_AS_IS, 1, false);
    return rank;
}
/* Rows of x from the n-th on become 0. */
static void lstsq_clear(const tni_planes *x, int64_t n) {
    for (int64_t c = 0; c < x->n; c++)
        for (int64_t r = n; r < x->m; r++) tni_planes_set(x, r, c, tni_re_im(0, 0));
}
static void lstsq_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_lstsq_matrix, o, f);
    const tn_tensor *in = f->in[0];
    const int64_t m = in->size[in->ndim - 2], n = in->size[in->ndim - 1], rows = m > n ? m : n,
                  k = m < n ? m : n, rhs = f->in[1]->size[in->ndim - 1];
    const bool turned = m < n;
    const int dtype = wide_of(in);
    const double rcond = o->rcond.given == TN_GIVEN ? o->rcond.value : unit_of(in) * (double)rows;
    const tni_planes x = tni_planes_in(f, &scratch, dtype, rows, rhs),
                     b = tni_planes_in(f, &scratch, dtype, rows, rhs),
                     a = tni_planes_in(f, &scratch, dtype, rows, k),
                     given = tni_planes_part(&x, 0, 0, m, rhs),
                     source = tni_planes_part(&b, 0, 0, m, rhs);
    int64_t rank = k;
    bool solved = true;
    tni_planes_load(&given, f->in[1], f->in[1], i, TNI_AS_IS);
    tni_planes_load(&a, in, in, i, turned ? TNI_ADJOINT : TNI_AS_IS);
    if (k > 0) solved = lstsq_by_qr(f, &a, &x, turned, o->full_rank ? -1 : rcond, scratch);
    if (!solved) {
        const tni_planes u = tni_planes_in(f, &scratch, dtype, rows, k),
                         v = tni_planes_in(f, &scratch, dtype, k, k),
                         t = tni_planes_part(&x, 0, 0, k, rhs);
        double *d = (double *)scratch;
        factored(f, in, i, turned, false, &a, &u, &v, d, d + k + (k & 1));
        tni_planes_load(&source, f->in[1], f->in[1], i, TNI_AS_IS);
        rank = lstsq_by_svd(&u, &v, d, &b, &t, turned, rcond);
    }
    const tni_planes *answer = solved ? &x : &b;
    lstsq_clear(answer, k > 0 ? n : 0);
    tni_planes_store(answer, f->out[0], i, TNI_AS_IS);
    if (!o->full_rank) ((int64_t *)(void *)tni_bytes_at(f->out[1]))[i] = rank;
}
static void lstsq_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), tni_effort(singular_work(f->in[0])), lstsq_task);
}
/* X = A^+ b: gb = A^+^H gX, gA that of the pseudoinverse for gX b^H. */
static void lstsq_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *d = tnp_narrow(tn_incoming(g, 0), -2, 0, a->size[a->ndim - 1]),
              *p = tnp_linalg_pinv_float(a, tn_no_float(), tn_no_float(), false);
    if (g->want[1]) tn_give(g, 1, tnp_matmul(tni_adjoint(p), d));
    if (g->want[0]) tn_give(g, 0, pinv_back(tnp_matmul(d, tni_adjoint(g->in[1])), p, a));
}
/* The solutions of linalg_lstsq for batches of self's shape, with zeros below if self has more rows
 * than columns, and the ranks. With full_rank these are not looked at. */
TN_OPERATOR(
    linalg_lstsq_matrix,
    "_linalg_lstsq_matrices(Tensor self, Tensor b, float? rcond=None, bool "
    "full_rank=False) -> (Tensor solution, Tensor rank)",
    TN_DOC(.shapes = "(*, m, n), (*, m, k) -> (*, max(m, n), k), (*)",
           .example = "tn_linalg_lstsq_matrix(x, y)",
           .differs = "signature: torch has no such function | result 0 [rcond=0.5]: the rank is "
                      "that of singular values, not of pivots | result 1 [rcond=0.5]: the same | "
                      "result 0 [rcond=1.0]: the rank "
                      "is that of singular values, not of pivots | result 1 [rcond=1.0]: "
                      "the same"),
    .forms = TN_LEADING, .needs = "self,b", .check = lstsq_check, .run = lstsq_run,
    .grad = lstsq_grad,
    .sample =
        "(4,3):distinct (4,2):distinct | (3,5):distinct (3,2):distinct | (2,3,3):invertible "
        "(2,3,2):distinct "
        "full_rank=True | (4,3):distinct (4,2):distinct | (0,3):f64 (0,2):f64 | (2,3):distinct "
        "(2,2):distinct full_rank=True")

static bool lstsq_compose(tn_frame *f) {
    TN_ARGS(linalg_lstsq, o, f);
    tn_tensor *a = f->in[0], *b = f->in[1];
    const char *driver = o->driver ? o->driver : "gelsy";
    const bool vectors =
        b->ndim == 1 || (a->ndim > 1 && b->ndim == a->ndim - 1 &&
                         !memcmp(a->size, b->size, (size_t)b->ndim * sizeof *b->size));
    tn_solution_rank r;
    bool values;
    int64_t none = 0, m, n;
    tni_shape s;
    if (a->ndim > 1 && b->ndim < 1)
        return tn_fail(f, TN_INVALID, "torch.linalg.lstsq: other must have at least 1 dimension");
    if (vectors) b = tnp_unsqueeze(b, -1);
    if (!b || !tni_matrix_fits(f, a, "self", false)) return false;
    if (a->dtype != b->dtype)
        return tn_fail(f, TN_TYPE,
                       "torch.linalg.lstsq: Expected input and other to have the same dtype, but "
                       "got %s and %s",
                       tni_dtype(a->dtype)->text, tni_dtype(b->dtype)->text);
    if (!tni_matrix_fits(f, b, "b", false) || !tni_batches_fit(f, &s, a, "self", b, "b"))
        return false;
    m = a->size[a->ndim - 2];
    n = a->size[a->ndim - 1];
    if (b->size[b->ndim - 2] != m)
        return tn_fail(f, TN_INVALID,
                       "torch.linalg.lstsq: input.size(-2) should match other.size(-%d), but they "
                       "are %lld and %lld",
                       vectors ? 1 : 2, (long long)m, (long long)b->size[b->ndim - 2]);
    s.size[s.ndim] = m;
    s.size[s.ndim + 1] = n;
    a = tnp_expand(a, tni_ints(s.size, s.ndim + 2), false);
    s.size[s.ndim + 1] = b->size[b->ndim - 1];
    b = tnp_expand(b, tni_ints(s.size, s.ndim + 2), false);
    if (strcmp(driver, "gels") != 0 && strcmp(driver, "gelsy") != 0 &&
        strcmp(driver, "gelsd") != 0 && strcmp(driver, "gelss") != 0)
        return tn_fail(f, TN_INVALID,
                       "parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got %s",
                       driver);
    r = tnp_linalg_lstsq_matrix(a, b, o->rcond, !strcmp(driver, "gels"));
    r.solution = tnp_narrow(r.solution, -2, 0, n);
    f->out[0] = vectors ? tnp_squeeze_dim(r.solution, -1) : r.solution;
    f->out[2] = r.rank;
    values = !strcmp(driver, "gelsd") || !strcmp(driver, "gelss");
    f->out[3] = values ? tnp_linalg_svdvals(tnp_detach(a), NULL)
                       : tnp_zeros(tni_ints(&none, 1), tni_real_of(f->in[0]->dtype),
                                   (tn_device_id)f->in[0]->device);
    if (m > n && strcmp(driver, "gelsy") != 0) {
        tn_tensor *off = tnp_abs(tnp_sub(tnp_matmul(a, r.solution), b, 1));
        f->out[1] = tnp_sum(tnp_mul(off, off), tni_ints(tni_last_dims, 1), false, TN_NO_DTYPE);
    } else {
        f->out[1] = tnp_zeros(tni_ints(&none, 1), tni_real_of(f->in[0]->dtype),
                              (tn_device_id)f->in[0]->device);
    }
    return f->out[0] && f->out[1] && f->out[3];
}
/* X that makes |self X - b| least, the shortest of these if there are several; b may be a vector.
 * driver: gels (full rank), gelsy, gelsd, gelss (singular values up to rcond times the largest
 * count as 0; eps max(m, n) by default). residuals, of m > n and not gelsy: the squares that
 * remain; rank: not gels; singular_values: gelsd and gelss. */
TN_OPERATOR(
    linalg_lstsq,
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
    "solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    TN_DOC(.shapes = "(*, m, n), (*, m, k) or (*, m) -> (*, n, k) or (*, n), (*, k), (*), (*, "
                     "min(m, n))",
           .example = "tn_linalg_lstsq(x, y)",
           .differs = "result 0 [rcond=0.5]: the rank is that of singular values, not of pivots | "
                      "result 2 [rcond=0.5]: the same | grad [rcond=0.5]: the same | gradcheck "
                      "[driver=gelsd]: singular_values has no gradient, as in torch "
                      "| gradcheck [driver=gelss]: the same | result 0 [rcond=1.0]: the rank "
                      "is that of singular values, not of pivots | result 1 [rcond=1.0]: the "
                      "same | result 2 [rcond=1.0]: the same | grad [rcond=1.0]: the same"),
    .autocast = TN_WIDE_CPU, .compose = lstsq_compose,
    .sample = "(4,3):distinct (4,2):distinct | (3,5):distinct (3,2):distinct driver=gelsd | "
              "(2,3,3):invertible "
              "(2,3,2):distinct driver=gels | (4,3):distinct (4,2):distinct driver=gels | "
              "(4,3):distinct (4,2):distinct "
              "driver=gelss")
