/* reflections.c - reflections as LAPACK packs them: geqrf, linalg.householder_product, orgqr,
 * ormqr. */
#include "../../cpu/householder.h"
#include "factor.h"

/* --- geqrf ------------------------------------------------------------------------------------ */

static int64_t least_of(const tn_tensor *a) {
    const int64_t m = a->size[a->ndim - 2], n = a->size[a->ndim - 1];
    return m < n ? m : n;
}
/* Scratch for an m x n matrix, another one, k factors and blocks of m rows for `columns`
 * columns. */
static bool reflections_ask(tn_frame *f, int dtype, int64_t m, int64_t n, int64_t q, int64_t k,
                            int64_t columns) {
    int64_t more;
    if (!tni_reflectors_size(m, columns, &more) || !tni_add(more, k, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tni_planes_ask(f, dtype, m, n, m, q, more);
}
static bool geqrf_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    int64_t size[TN_MAX_DIMS];
    if (!tni_matrix_fits(f, a, "self", false)) return false;
    memcpy(size, a->size, (size_t)a->ndim * sizeof *size);
    size[a->ndim - 2] = least_of(a);
    return tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tn_announce(f, 1, (tn_dtype)a->dtype, a->ndim - 1, size) &&
           reflections_ask(f, a->dtype, a->size[a->ndim - 2], a->size[a->ndim - 1], 0, least_of(a),
                           a->size[a->ndim - 1]);
}
static void geqrf_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0];
    tn_tensor *tau = f->out[1];
    const int64_t m = in->size[in->ndim - 2], n = in->size[in->ndim - 1], k = least_of(in);
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, m, n),
                     taus = tni_planes_in(f, &scratch, in->dtype, k, 1);
    tni_reflectors r = tni_reflectors_in(f, &scratch, in->dtype, m, n);
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    tni_qr_factor(&r, &a, &taus);
    tni_planes_store(&a, f->out[0], i, TNI_AS_IS);
    for (int64_t j = 0; j < k; j++) {
        const tni_pair v = tni_planes_get(&taus, j, 0);
        tni_element_set(tni_bytes_at(tau) + (i * k + j) * tni_dtype_size(tau), tau->dtype,
                        tni_is_complex(tau->dtype) ? tn_complex(v.re, v.im) : tn_float(v.re));
    }
}
static double geqrf_work(const tn_tensor *a) {
    return 4.0 * (double)a->size[a->ndim - 2] * (double)a->size[a->ndim - 1] * (double)least_of(a);
}
static void geqrf_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), tni_effort(geqrf_work(f->in[0])), geqrf_task);
}
/* A = Q R, packed: R on and above the diagonal, below it the vectors of the reflections whose
 * product Q is; tau are their factors. */
TN_OPERATOR(
    geqrf, "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    TN_DOC(.shapes = "(*, m, n) -> (*, m, n), (*, min(m, n)), float32, float64 or complex",
           .example = "tn_geqrf(x)"),
    .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU, .check = geqrf_check, .run = geqrf_run,
    .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):distinct | (0,3):f64 | (2,0):f64")

/* --- products --------------------------------------------------------------------------------- */

/* The factors of matrix i as a column. */
static void load_taus(const tni_planes *to, const tn_tensor *tau, const tn_tensor *like,
                      int64_t i) {
    const char *at = tni_batch_at(tau, 1, like, i);
    const int64_t step = tau->stride[tau->ndim - 1] * tni_dtype_size(tau);
    for (int64_t j = 0; j < to->m; j++) {
        const tn_scalar v = tni_element(at + j * step, tau->dtype);
        tni_planes_set(to, j, 0, tni_re_im(v.real, to->at[1] ? v.imaginary : 0));
    }
}
/* Whether t has the batches of a and so many dimensions less; name is torch's word for it. */
static bool reflections_batch(tn_frame *f, const tn_tensor *a, const tn_tensor *t, int less,
                              const char *name) {
    if (t->dtype != a->dtype)
        return tn_fail(f, TN_TYPE, "%s dtype %s does not match input dtype %s", name,
                       tni_scalar_type(t->dtype), tni_scalar_type(a->dtype));
    if (t->ndim != a->ndim - less)
        return tn_fail(f, TN_INVALID,
                       "Expected %s to have %d dimensions, as input has %d, but got %d", name,
                       a->ndim - less, a->ndim, t->ndim);
    return !memcmp(t->size, a->size, (size_t)(a->ndim - 2) * sizeof(int64_t)) ||
           tn_fail(f, TN_INVALID, "Expected batch dimensions of %s to be equal to input.shape[:-2]",
                   name);
}
static bool product_check(tn_frame *f) {
    const tn_tensor *a = f->in[0], *tau = f->in[1];
    int64_t m, n;
    if (!tni_matrix_fits(f, a, "input", false) || !reflections_batch(f, a, tau, 1, "tau") ||
        !tni_out_takes(f, 0, "result", a->dtype))
        return false;
    m = a->size[a->ndim - 2];
    n = a->size[a->ndim - 1];
    if (m < n || n < tau->size[tau->ndim - 1])
        return tn_fail(f, TN_INVALID,
                       "torch.linalg.householder_product: input.shape[%s must be greater than or "
                       "equal to %s.shape[-1], got %lld and %lld",
                       m < n ? "-2]" : "-1]", m < n ? "input" : "tau", (long long)(m < n ? m : n),
                       (long long)(m < n ? n : tau->size[tau->ndim - 1]));
    return tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           reflections_ask(f, a->dtype, m, n, n, tau->size[tau->ndim - 1], n);
}
static void product_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0], *tau = f->in[1];
    const int64_t m = in->size[in->ndim - 2], n = in->size[in->ndim - 1],
                  k = tau->size[tau->ndim - 1];
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, m, n),
                     q = tni_planes_in(f, &scratch, in->dtype, m, n),
                     taus = tni_planes_in(f, &scratch, in->dtype, k, 1);
    tni_reflectors r = tni_reflectors_in(f, &scratch, in->dtype, m, n);
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    load_taus(&taus, tau, in, i);
    tni_reflections_product(&r, &a, k, 0, &taus, &q);
    tni_planes_store(&q, f->out[0], i, TNI_AS_IS);
}
static void product_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), tni_effort(geqrf_work(f->in[0])), product_task);
}
/* H x = x - factor v (v^H x), with a number for each matrix. */
static tn_tensor *reflected(tn_tensor *v, tn_tensor *factor, tn_tensor *x) {
    return tnp_sub(x, tnp_mul(factor, tnp_matmul(v, tnp_matmul(tni_adjoint(v), x))), 1);
}
/* t with n columns of zeros behind it. */
static tn_tensor *columns_padded(tn_tensor *t, const tn_tensor *in, int64_t n) {
    int64_t size[TN_MAX_DIMS];
    tn_tensor *parts[2];
    if (n < 1) return t;
    tni_matrix_shape(size, in, in->size[in->ndim - 2], n);
    parts[0] = t;
    parts[1] = tnp_zeros(tni_ints(size, in->ndim), (tn_dtype)in->dtype, (tn_device_id)in->device);
    return tnp_cat(tn_tensors_of(parts, 2), -1);
}
/* gv and gt of Y = H_1 .. H_k C, of which p is Y and d is gY: columns for `packed`, which has n of
 * them, and factors. With P_i = H_(i+1) .. H_k C and G_i = (H_1 .. H_(i-1))^H gY, H_i = I - t v v^H
 * gets gt = -b^H a and gv = -conj(t) G a - t P b, where a = P^H v and b = G^H v. P_i is
 * H_i^-1 P_(i-1), and H^-1 = I - s v v^H with s = t / (t v^H v - 1) (torch,
 * householder_product_backward). */
static bool reflections_back(tn_tensor *in, tn_tensor *tau, tn_tensor *p, tn_tensor *d,
                             tn_tensor **gv, tn_tensor **gt) {
    tn_tensor *columns[64], *factors[64], *packed = tni_diagonal_filled(tnp_tril(in, -1), 1);
    const int64_t k = tau->size[tau->ndim - 1], n = in->size[in->ndim - 1];
    int held = 0;
    for (int64_t i = 0; i < k; i++) {
        tn_tensor *v = tnp_narrow(packed, -1, i, 1),
                  *t = tnp_unsqueeze(tnp_narrow(tau, -1, i, 1), -1),
                  *vv = tnp_matmul(tni_adjoint(v), v), *s, *a, *b, *tc;
        s = tnp_div(t, tnp_sub_scalar(tnp_mul(t, vv), tn_int(1), 1));
        tc = t && tni_is_complex(t->dtype) ? tnp_conj(t) : t;
        p = reflected(v, s, p);
        a = tnp_matmul(tni_adjoint(p), v);
        b = tnp_matmul(tni_adjoint(d), v);
        factors[held] = tnp_neg(tnp_squeeze_dim(tnp_matmul(tni_adjoint(b), a), -1));
        columns[held] =
            tnp_neg(tnp_add(tnp_mul(tc, tnp_matmul(d, a)), tnp_mul(t, tnp_matmul(p, b)), 1));
        if (!columns[held]) return false;
        d = reflected(v, tc, d);
        if (++held < 63 && i < k - 1) continue;
        /* As many columns as fit become one tensor. */
        columns[0] = tnp_cat(tn_tensors_of(columns, held), -1);
        factors[0] = tnp_cat(tn_tensors_of(factors, held), -1);
        held = 1;
    }
    if (k < 1) return false;
    *gv = tnp_tril(columns_padded(columns[0], in, n - k), -1);
    *gt = factors[0];
    return *gv != NULL;
}
static void product_grad(tn_gradient *g) {
    tn_tensor *gv, *gt;
    if (!reflections_back(g->in[0], g->in[1], g->out[0], g->incoming[0], &gv, &gt)) return;
    if (g->want[0]) tn_give(g, 0, gv);
    if (g->want[1]) tn_give(g, 1, gt);
}
/* The first columns of the product of reflections, as geqrf packs them. */
TN_OPERATOR(linalg_householder_product,
            "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
            TN_DOC(.shapes = "(*, m, n), (*, k) -> (*, m, n), k <= n <= m",
                   .example = "tn_linalg_householder_product(x, t)"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU, .needs = "input,tau,result",
            .check = product_check, .run = product_run, .grad = product_grad,
            .sample = "(3,3) (3) | (2,4,3) (2,2) | (5,2) (2) | (0,0):f64 (0):f64")
static bool orgqr_compose(tn_frame *f) {
    f->out[0] = tnp_linalg_householder_product(f->in[0], f->in[1]);
    return f->out[0] != NULL;
}
/* linalg_householder_product. */
TN_OPERATOR(orgqr, "orgqr(Tensor self, Tensor input2) -> Tensor",
            TN_DOC(.shapes = "(*, m, n), (*, k) -> (*, m, n), k <= n <= m",
                   .example = "tn_orgqr(x, t)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = orgqr_compose,
            .sample = "(3,3) (3) | (2,4,3) (2,2)")

/* --- ormqr ------------------------------------------------------------------------------------ */

static bool ormqr_check(tn_frame *f) {
    TN_ARGS(ormqr, o, f);
    const tn_tensor *a = f->in[0], *tau = f->in[1], *c = f->in[2];
    int64_t m, columns;
    if (!tni_matrix_fits(f, a, "self", false)) return false;
    if (c->ndim < 2)
        return tn_fail(f, TN_INVALID, "torch.ormqr: other must have at least 2 dimensions");
    if (!reflections_batch(f, a, tau, 1, "tau") || !reflections_batch(f, a, c, 0, "other"))
        return false;
    m = c->size[c->ndim - (o->left ? 2 : 1)];
    columns = c->size[c->ndim - (o->left ? 1 : 2)];
    if (m < tau->size[tau->ndim - 1])
        return tn_fail(f, TN_INVALID,
                       "torch.ormqr: other.shape[-%d] must be greater than or equal to "
                       "tau.shape[-1]",
                       o->left ? 2 : 1);
    if (m != a->size[a->ndim - 2])
        return tn_fail(f, TN_INVALID,
                       "torch.ormqr: other.shape[-%d] must be equal to input.shape[-2]",
                       o->left ? 2 : 1);
    if (tau->size[tau->ndim - 1] > least_of(a))
        return tn_fail(f, TN_INVALID,
                       "torch.ormqr: input.shape[-1] must be greater than or equal to "
                       "tau.shape[-1]");
    return tn_announce_columns(f, 0, (tn_dtype)a->dtype, c->ndim, c->size) &&
           reflections_ask(f, a->dtype, m, a->size[a->ndim - 1], columns, tau->size[tau->ndim - 1],
                           columns);
}
static void ormqr_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(ormqr, o, f);
    const tn_tensor *in = f->in[0], *tau = f->in[1], *c = f->in[2];
    const int64_t m = in->size[in->ndim - 2], n = in->size[in->ndim - 1],
                  k = tau->size[tau->ndim - 1], columns = c->size[c->ndim - (o->left ? 1 : 2)];
    const int turned = o->left ? TNI_AS_IS : TNI_ADJOINT; /* c q is (q^H c^H)^H */
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, m, n),
                     x = tni_planes_in(f, &scratch, in->dtype, m, columns),
                     taus = tni_planes_in(f, &scratch, in->dtype, k, 1);
    tni_reflectors r = tni_reflectors_in(f, &scratch, in->dtype, m, columns);
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    tni_planes_load(&x, c, c, i, turned);
    load_taus(&taus, tau, in, i);
    tni_reflections_apply(&r, &a, k, 0, &taus, &x, o->transpose == o->left);
    tni_planes_store(&x, f->out[0], i, turned);
}
static void ormqr_run(tn_frame *f) {
    const tn_tensor *c = f->in[2];
    tn_each(f, tni_batches(c),
            tni_effort(4.0 * (double)c->size[c->ndim - 1] * (double)c->size[c->ndim - 2] *
                       (double)f->in[0]->size[f->in[0]->ndim - 1]),
            ormqr_task);
}
/* gC is the adjoint Q times gY. What Q depends on: of Y = Q C as of linalg_householder_product; of
 * Y = Q^H C by Q gY with the gradient C, since <gY, Q^H C> = <Q gY, C>; and Y = C Q is
 * Y^H = Q^H C^H. */
static void ormqr_grad(tn_gradient *g) {
    TN_ARGS(ormqr, o, g);
    const bool plain = o->left != o->transpose; /* Q, not its adjoint, from the left */
    tn_tensor *c = tnp_ormqr(g->in[0], g->in[1], g->incoming[0], o->left, !o->transpose),
              *p = plain ? g->out[0] : c, *d = plain ? g->incoming[0] : g->in[2], *gv, *gt;
    if (g->want[2]) tn_give(g, 2, c);
    if (!g->want[0] && !g->want[1]) return;
    if (!o->left) {
        p = tni_adjoint(p);
        d = tni_adjoint(d);
    }
    if (!reflections_back(g->in[0], g->in[1], p, d, &gv, &gt)) return;
    if (g->want[0]) tn_give(g, 0, gv);
    if (g->want[1]) tn_give(g, 1, gt);
}
/* The product of input3 and Q (with transpose its adjoint) from the left or the right, where Q is
 * the square product of the reflections that geqrf packs in self and input2. */
TN_OPERATOR(ormqr,
            "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool "
            "transpose=False) -> Tensor",
            TN_DOC(.shapes = "(*, m, n), (*, k), (*, m, c) -> (*, m, c); of left=False (*, c, m)",
                   .example = "tn_ormqr(x, t, y)"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU,
            .needs = "self:self,input2,input3,result input2:self,input2,input3,result "
                     "input3:self,input2",
            .check = ormqr_check, .run = ormqr_run, .grad = ormqr_grad,
            .domain = "self:-0.5..0.5 input2:-0.5..0",
            .sample = "(3,3) (3) (3,2) | (2,4,3) (2,3) (2,4,2) transpose=True | (4,2) (2) (3,4) "
                      "left=False | (3,2) (2) (2,3) left=False transpose=True")
