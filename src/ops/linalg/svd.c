/* svd.c - A = U diag(S) V^H: linalg.svd, linalg.svdvals, svd. */
#include "../../cpu/bidiagonal.h"
#include "factor.h"

typedef struct svd_sizes {
    int64_t m, n, least, u, v; /* A is m x n; U has u columns, V^H v rows */
    bool turned;               /* the adjoint is factored, as A has more columns than rows */
} svd_sizes;
static svd_sizes svd_sizes_of(const tn_frame *f) {
    TN_ARGS(linalg_svd_of, o, f);
    const tn_tensor *a = f->in[0];
    svd_sizes s;
    s.m = a->size[a->ndim - 2];
    s.n = a->size[a->ndim - 1];
    s.least = s.m < s.n ? s.m : s.n;
    s.u = !o->compute_uv ? 0 : o->full_matrices ? s.m : s.least;
    s.v = !o->compute_uv ? 0 : o->full_matrices ? s.n : s.least;
    s.turned = s.m < s.n;
    return s;
}
static int svd_wide(const tn_tensor *a) { return tni_is_complex(a->dtype) ? TN_C128 : TN_F64; }

static bool svd_check(tn_frame *f) {
    TN_ARGS(linalg_svd_of, o, f);
    const tn_tensor *a = f->in[0];
    const int64_t none = 0;
    int64_t size[TN_MAX_DIMS], more;
    svd_sizes s;
    if (!tni_matrix_fits(f, a, "A", false)) return false;
    if (o->driver)
        return tn_fail(f, TN_INVALID,
                       "keyword argument `driver=` is only supported on CUDA inputs "
                       "with cuSOLVER backend");
    if (f->recording && !o->compute_uv)
        return tn_fail(f, TN_AUTOGRAD, "the gradient needs U and V: compute_uv must be true");
    s = svd_sizes_of(f);
    if (!tni_singular_size(s.turned ? s.n : s.m, s.least, &more) || !tni_add(more, s.least, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    memcpy(size, a->size, (size_t)a->ndim * sizeof *size);
    size[a->ndim - 2] = s.least;
    if (!tn_announce(f, 1, tni_real_of(a->dtype), a->ndim - 1, size)) return false;
    if (!o->compute_uv)
        return tn_announce(f, 0, (tn_dtype)a->dtype, 1, &none) &&
               tn_announce(f, 2, (tn_dtype)a->dtype, 1, &none) &&
               tni_planes_ask(f, svd_wide(a), s.m, s.n, 0, 0, more);
    tni_matrix_shape(size, a, s.m, s.u);
    if (!tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, size)) return false;
    tni_matrix_shape(size, a, s.v, s.n);
    if (!tn_announce_columns(f, 2, (tn_dtype)a->dtype, a->ndim, size)) return false;
    /* The long side's vectors, and the short side's. */
    if (!tni_mul(s.least, s.least, &size[0]) || !tni_add(more, size[0], &more) ||
        !tni_mul(s.turned ? s.n : s.m, s.turned ? s.v : s.u, &size[0]) ||
        !tni_add(more, size[0], &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tni_planes_ask(f, svd_wide(a), s.m, s.n, 0, 0, more);
}
static void svd_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_svd_of, o, f);
    const svd_sizes s = svd_sizes_of(f);
    const tn_tensor *in = f->in[0];
    const int dtype = svd_wide(in);
    const int64_t m = s.turned ? s.n : s.m, wide = s.turned ? s.v : s.u;
    const tni_planes a = tni_planes_in(f, &scratch, dtype, m, s.least),
                     u = tni_planes_in(f, &scratch, dtype, o->compute_uv ? m : 0, wide),
                     v = tni_planes_in(f, &scratch, dtype, o->compute_uv ? s.least : 0, s.least);
    double *d = (double *)scratch;
    tn_tensor *values = f->out[1];
    tni_planes_load(&a, in, in, i, s.turned ? TNI_ADJOINT : TNI_AS_IS);
    tni_singular(f, &a, o->compute_uv ? &u : NULL, o->compute_uv ? &v : NULL, d,
                 d + s.least + (s.least & 1));
    for (int64_t k = 0; k < s.least; k++)
        tni_element_set(tni_bytes_at(values) + (i * s.least + k) * tni_dtype_size(values),
                        values->dtype, tn_float(d[k]));
    if (!o->compute_uv) return;
    tni_planes_store(s.turned ? &v : &u, f->out[0], i, TNI_AS_IS);
    tni_planes_store(s.turned ? &u : &v, f->out[2], i, TNI_ADJOINT);
}
static void svd_run(tn_frame *f) {
    const svd_sizes s = svd_sizes_of(f);
    const double k = (double)s.least, long_side = (double)(s.turned ? s.n : s.m);
    tn_each(f, tni_batches(f->in[0]), tni_effort(20 * k * k * long_side), svd_task);
}
static bool svd_verdict(tn_frame *f) {
    return tni_converged(f, f->out[1],
                         "The algorithm failed to converge because the input matrix "
                         "contained non-finite values");
}

/* x - x^H of x = a b */
static tn_tensor *svd_skew(tn_tensor *a, tn_tensor *b) {
    tn_tensor *x = tnp_matmul(a, b);
    return tnp_sub(x, tni_adjoint(x), 1);
}
/* t (..., n) times columns, and times rows, of x. */
static tn_tensor *svd_columns(tn_tensor *x, tn_tensor *t) {
    return tnp_mul(x, tnp_unsqueeze(t, -2));
}
static tn_tensor *svd_rows(tn_tensor *t, tn_tensor *x) { return tnp_mul(tnp_unsqueeze(t, -1), x); }
/* x (I - v^H v) */
static tn_tensor *svd_outside(tn_tensor *x, tn_tensor *v) {
    return tnp_sub(x, tnp_matmul(tnp_matmul(x, tni_adjoint(v)), v), 1);
}
/* gA = U (skew(U^H gU) / E S + S skew(V^H gV) / E + gS) V^H with E_ij = S_j^2 - S_i^2, and what gU
 * and gV have outside of the spaces of U and V, over S; of complex matrices also the imaginary
 * diagonal of U^H gU, over S (torch, svd_backward). */
static void svd_grad(tn_gradient *g) {
    tn_tensor *u = g->out[0], *s = g->out[1], *vh = g->out[2], *gu = g->incoming[0],
              *gs = g->incoming[1], *gv = g->incoming[2], *inner = NULL, *e, *t, *one;
    const int64_t m = u->size[u->ndim - 2], n = vh->size[vh->ndim - 1], k = s->size[s->ndim - 1];
    u = tnp_narrow(u, -1, 0, k);
    vh = tnp_narrow(vh, -2, 0, k);
    if (gu) gu = tnp_narrow(gu, -1, 0, k);
    if (gv) gv = tnp_narrow(gv, -2, 0, k);
    t = tnp_mul(s, s);
    e = tni_diagonal_filled(tnp_sub(tnp_unsqueeze(t, -2), tnp_unsqueeze(t, -1), 1), 1);
    if (gu) {
        t = svd_skew(tni_adjoint(u), gu);
        inner = svd_columns(tnp_div(t, e), s);
        if (t && tni_is_complex(t->dtype)) {
            one = tnp_div(tnp_diagonal(t, 0, -2, -1), tnp_mul_scalar(s, tn_int(2)));
            inner = tnp_add(inner, tni_diagonal_of(one), 1);
        }
    }
    if (gv) {
        t = svd_rows(s, tnp_div(svd_skew(vh, tni_adjoint(gv)), e));
        inner = inner ? tnp_add(inner, t, 1) : t;
    }
    if (gs) {
        t = tni_diagonal_of(gs);
        inner = inner ? tnp_add(inner, t, 1) : t;
    }
    if (inner && u && inner->dtype != u->dtype)
        inner = tnp_to_dtype(inner, (tn_dtype)u->dtype, false, false);
    t = tnp_matmul(u, inner);
    if (gu && m > k) {
        one = svd_columns(gu, tnp_reciprocal(s));
        t = tnp_add(t, tni_adjoint(svd_outside(tni_adjoint(one), tni_adjoint(u))), 1);
    }
    t = tnp_matmul(t, vh);
    if (gv && n > k)
        t = tnp_add(t, tnp_matmul(u, svd_rows(tnp_reciprocal(s), svd_outside(gv, vh))), 1);
    tn_give(g, 0, t);
}
/* linalg_svd; without compute_uv, U and Vh are empty. */
TN_OPERATOR(
    linalg_svd_of,
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
    "driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    TN_DOC(.shapes = "(*, m, n) -> (*, m, m or k), (*, k) real, (*, n or k, n), k = min(m, n)",
           .example = "tn_linalg_svd_of(x)",
           .differs = "gradcheck [full_matrices=True]: U or V is not unique | gradcheck "
                      "[compute_uv=False]: there are no U and V",
           .oracle = "phase U Vh; free U Vh; orthogonal U"),
    .forms = TN_OUT | TN_LEADING, .needs = "U,S,Vh", .check = svd_check, .run = svd_run,
    .verdict = svd_verdict, .grad = svd_grad,
    .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):distinct full_matrices=True | "
              "(3,4):distinct compute_uv=False | (0,0) | (0,3) full_matrices=True | "
              "(2,0,3,3) | (1,1):pd | (40,35):distinct")

static bool linalg_svd_compose(tn_frame *f) {
    TN_ARGS(linalg_svd, a, f);
    const tn_U_S_Vh r = tnp_linalg_svd_of(f->in[0], a->full_matrices, true, a->driver);
    f->out[0] = r.U;
    f->out[1] = r.S;
    f->out[2] = r.Vh;
    return r.S != NULL;
}
/* A = U diag(S) Vh: orthonormal columns in U and rows in Vh, S in falling order. With full_matrices
 * U and Vh are square, else they have min(m, n) columns and rows. */
TN_OPERATOR(
    linalg_svd,
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
    "Tensor S, Tensor Vh)",
    TN_DOC(.shapes = "(*, m, n) -> (*, m, m or k), (*, k) real, (*, n or k, n), k = min(m, n)",
           .example = "tn_linalg_svd(x)",
           .differs = "gradcheck [(3,5):distinct]: V is not unique | gradcheck "
                      "[(2,4,3):distinct]: U is not unique",
           .oracle = "phase U Vh; free U Vh; orthogonal U"),
    .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_svd_compose,
    .sample = "(3,3):invertible full_matrices=False | (2,4,3):distinct | (3,5):distinct")

static bool linalg_svdvals_compose(tn_frame *f) {
    TN_ARGS(linalg_svdvals, a, f);
    f->out[0] = tnp_linalg_svd_of(f->in[0], false, tni_grows_tape(f, 0), a->driver).S;
    return f->out[0] != NULL;
}
/* The singular values in falling order. */
TN_OPERATOR(linalg_svdvals, "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
            TN_DOC(.shapes = "(*, m, n) -> (*, min(m, n)) real", .example = "tn_linalg_svdvals(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_svdvals_compose,
            .sample = "(3,3):invertible | (2,4,3):distinct | (0,3):f64")

static bool svd_compose(tn_frame *f) {
    TN_ARGS(svd, a, f);
    tn_tensor *x = f->in[0];
    tn_U_S_Vh r;
    if (!tni_matrix_fits(f, x, "self", false)) return false;
    r = tnp_linalg_svd_of(x, !a->some, a->compute_uv || tni_grows_tape(f, 0), NULL);
    f->out[0] = r.U;
    f->out[1] = r.S;
    if (a->compute_uv) {
        f->out[2] = tni_adjoint(r.Vh);
    } else {
        int64_t size[TN_MAX_DIMS];
        const int64_t m = x->size[x->ndim - 2], n = x->size[x->ndim - 1];
        tni_matrix_shape(size, x, m, m);
        f->out[0] = tnp_zeros(tni_ints(size, x->ndim), (tn_dtype)x->dtype, (tn_device_id)x->device);
        tni_matrix_shape(size, x, n, n);
        f->out[2] = tnp_zeros(tni_ints(size, x->ndim), (tn_dtype)x->dtype, (tn_device_id)x->device);
    }
    return f->out[0] && f->out[1] && f->out[2];
}
/* U, S and V (not its adjoint) of self; some is full_matrices=False. Without compute_uv U and V are
 * zeros. */
TN_OPERATOR(
    svd,
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor "
    "V)",
    TN_DOC(.shapes = "(*, m, n) -> (*, m, k or m), (*, k) real, (*, n, k or n), k = min(m, n)",
           .example = "tn_svd(x)", .differs = "gradcheck [some=False]: V is not unique",
           .oracle = "phase U V; U S V' = self; orthogonal U; orthogonal V"),
    .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = svd_compose,
    .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):distinct | (0,3)")
