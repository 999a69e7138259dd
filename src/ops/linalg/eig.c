/* eig.c - eigenvalues of square matrices that need not be symmetric: linalg.eig, linalg.eigvals. */
#include "../../cpu/eigen.h"
#include "factor.h"

static int eig_wide(const tn_tensor *a) { return tni_is_complex(a->dtype) ? TN_C128 : TN_F64; }
static tn_dtype eig_complex(const tn_tensor *a) {
    return tni_real_of(a->dtype) == TN_F32 ? TN_C64 : TN_C128;
}

/* Values as output 0, vectors as output 1. */
static bool eig_announce(tn_frame *f, bool vectors) {
    const tn_tensor *a = f->in[0];
    int64_t n, more, values;
    if (!tni_matrix_fits(f, a, "self", true) ||
        !tni_out_takes(f, 0, "eigenvalues", (int)eig_complex(a)) ||
        !tni_out_takes(f, 1, "eigenvectors", (int)eig_complex(a)))
        return false;
    n = a->size[a->ndim - 1];
    if (!tni_eigen_size(n, vectors, &more) || !tni_add(n, n, &values) ||
        !tni_add(more, values, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_announce(f, 0, eig_complex(a), a->ndim - 1, a->size) &&
           (!vectors || tn_announce_columns(f, 1, eig_complex(a), a->ndim, a->size)) &&
           tni_planes_ask(f, eig_wide(a), n, n, 0, 0, more);
}
static bool eig_look(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const int64_t n = a->size[a->ndim - 1], row = a->stride[a->ndim - 2] * tni_dtype_size(a),
                  column = a->stride[a->ndim - 1] * tni_dtype_size(a);
    for (int64_t i = 0; a->numel > 0 && i < tni_batches(a); i++) {
        const char *at = tni_batch_at(a, 2, a, i);
        for (int64_t k = 0; k < n * n; k++) {
            const tn_scalar v = tni_element(at + k / n * row + k % n * column, a->dtype);
            const double im = tni_is_complex(a->dtype) ? v.imaginary : 0;
            if (v.real - v.real != 0 || im - im != 0)
                return tn_fail(f, TN_INVALID,
                               "torch.linalg.eig: input tensor should not contain infs or NaNs.");
        }
    }
    return true;
}
static void eig_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0];
    tn_tensor *to = f->out[0];
    const int64_t n = in->size[in->ndim - 1];
    const bool vectors = f->nout > 1;
    const tni_planes a = tni_planes_in(f, &scratch, eig_wide(in), n, n);
    double *values = (double *)scratch;
    tni_planes v = a;
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    tni_eigen(f, &a, values, vectors ? &v : NULL, values + 2 * n);
    for (int64_t k = 0; k < n; k++)
        tni_element_set(tni_bytes_at(to) + (i * n + k) * tni_dtype_size(to), to->dtype,
                        tn_complex(values[k], values[n + k]));
    if (vectors && v.at[1]) tni_planes_store(&v, f->out[1], i, TNI_AS_IS);
}
static void eig_run(tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(f->in[0]), tni_effort((f->nout > 1 ? 25 : 10) * n * n * n), eig_task);
}
static bool eig_verdict(tn_frame *f) {
    return tni_converged(f, f->out[0],
                         "The algorithm failed to converge because the input matrix is "
                         "ill-conditioned or has too many repeated eigenvalues");
}
static bool eig_check(tn_frame *f) { return eig_announce(f, true); }
static bool eigvals_check(tn_frame *f) { return eig_announce(f, false); }

/* --- gradient --------------------------------------------------------------------------------- */

static bool phases_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    return tni_matrix_fits(f, a, "self", true) &&
           tn_announce(f, 0, tni_real_of(a->dtype), a->ndim - 1, a->size);
}
static bool phases_look(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const int64_t n = a->size[a->ndim - 1],
                  step = (a->stride[a->ndim - 2] + a->stride[a->ndim - 1]) * tni_dtype_size(a);
    for (int64_t i = 0; a->numel > 0 && tni_is_complex(a->dtype) && i < tni_batches(a); i++)
        for (int64_t k = 0; k < n; k++)
            if (!(fabs(tni_element(tni_batch_at(a, 2, a, i) + k * step, a->dtype).imaginary) <=
                  0.01))
                return tn_fail(f, TN_INVALID,
                               "The eigenvectors in the complex case are "
                               "specified up to multiplication by e^{i phi}. The specified loss "
                               "function depends on this quantity, so it is ill-defined.");
    return true;
}
static void phases_run(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    tn_tensor *to = f->out[0];
    const int64_t n = a->size[a->ndim - 1],
                  step = (a->stride[a->ndim - 2] + a->stride[a->ndim - 1]) * tni_dtype_size(a);
    for (int64_t i = 0; to->numel > 0 && i < tni_batches(a); i++)
        for (int64_t k = 0; k < n; k++)
            tni_element_set(
                tni_bytes_at(to) + (i * n + k) * tni_dtype_size(to), to->dtype,
                tn_float(tni_element(tni_batch_at(a, 2, a, i) + k * step, a->dtype).real));
}
static void phases_grad(tn_gradient *g) { tn_give(g, 0, tni_diagonal_of(g->incoming[0])); }
/* The diagonal of V^H gV, which is real if what was differentiated does not depend on the phases of
 * the eigenvectors V; an imaginary part above 0.01 is an error. */
TN_OPERATOR(linalg_eig_phases, "_linalg_eig_phases(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) real", .example = "tn_linalg_eig_phases(x)",
                   .differs = "signature: torch has no such function"),
            .forms = TN_LEADING, .check = phases_check, .look = phases_look, .run = phases_run,
            .grad = phases_grad,
            .sample = "(3,3):symmetric | (2,4,4):symmetric | (0,0):f64 | (1,1):symmetric")

/* gA = V^-H (diag(gL) + (V^H gV - V^H V Re diag(V^H gV)) / E) V^H with E_ij = conj(L_j - L_i),
 * where the quotient counts as 0 on the diagonal (C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann,
 * R. Haeb-Umbach, On the computation of complex-valued gradients, 2017). */
static void eig_grad(tn_gradient *g) {
    tn_tensor *l = g->out[0], *v = g->out[1], *adjoint = tni_adjoint(v), *inner, *a;
    if (g->incoming[1]) {
        tn_tensor *e = tnp_sub(tnp_unsqueeze(l, -2), tnp_unsqueeze(l, -1), 1), *product, *norms;
        product = tnp_matmul(adjoint, g->incoming[1]);
        norms = tnp_unsqueeze(tnp_linalg_eig_phases(product), -2);
        inner = tnp_sub(product, tnp_matmul(adjoint, tnp_mul(v, norms)), 1);
        inner = tnp_div(inner, tni_diagonal_filled(tnp_conj(e), 1));
        inner = tni_diagonal_filled(inner, 0);
        if (g->incoming[0]) inner = tnp_add(inner, tni_diagonal_of(g->incoming[0]), 1);
        a = tnp_matmul(inner, adjoint);
    } else {
        a = tnp_mul(tnp_unsqueeze(tn_incoming(g, 0), -1), adjoint);
    }
    tn_give(g, 0, tnp_linalg_solve(adjoint, a, true));
}
/* Eigenvalues, in no order, and eigenvectors of norm 1 as columns: A V = V diag(L). Both are
 * complex also if A is real. An element that is not finite is an error. */
TN_OPERATOR(linalg_eig, "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) complex, (*, n, n) complex",
                   .example = "tn_linalg_eig(x)", .oracle = "phase eigenvectors"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU,
            .needs = "eigenvalues,eigenvectors", .check = eig_check, .look = eig_look,
            .run = eig_run, .verdict = eig_verdict, .grad = eig_grad,
            .sample = "(3,3):distinct | (2,3,3):distinct | (1,1):pd | (0,0):f64 | (2,0,3,3):f64 | "
                      "(7,7):distinct")

/* linalg_eigvals without a gradient. */
TN_OPERATOR(linalg_eigvals_of, "_linalg_eigvals(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) complex", .example = "tn_linalg_eigvals_of(x)"),
            .forms = TN_OUT | TN_LEADING, .check = eigvals_check, .look = eig_look, .run = eig_run,
            .verdict = eig_verdict,
            .sample = "(3,3):distinct | (2,3,3):distinct | (1,1):pd | (0,0):f64 | (2,0,3,3):f64 | "
                      "(7,7):distinct")
static bool eigvals_compose(tn_frame *f) {
    if (!tni_out_takes(f, 0, "eigenvalues", (int)eig_complex(f->in[0]))) return false;
    f->out[0] = tni_grows_tape(f, 0) ? tnp_linalg_eig(f->in[0]).eigenvalues
                                     : tnp_linalg_eigvals_of(f->in[0]);
    return f->out[0] != NULL;
}
/* Eigenvalues, in no order; complex also if the matrix is real. */
TN_OPERATOR(linalg_eigvals, "linalg_eigvals(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) complex", .example = "tn_linalg_eigvals(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = eigvals_compose,
            .sample = "(3,3):distinct | (2,3,3):distinct | (0,0):f64")
