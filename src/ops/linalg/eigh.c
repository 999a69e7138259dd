/* eigh.c - eigenvalues of Hermitian matrices: linalg.eigh, linalg.eigvalsh. */
#include "../../cpu/tridiagonal.h"
#include "factor.h"

/* The dtype that factorizations by iteration compute in. */
static int eigh_wide(const tn_tensor *a) { return tni_is_complex(a->dtype) ? TN_C128 : TN_F64; }

static bool eigh_check(tn_frame *f) {
    TN_ARGS(linalg_eigh_of, o, f);
    const tn_tensor *a = f->in[0];
    const int64_t none = 0, n = a->ndim < 2 ? 0 : a->size[a->ndim - 1];
    int64_t more;
    if (!tni_matrix_fits(f, a, "A", true)) return false;
    if (!o->UPLO || !strchr("LUlu", o->UPLO[0]) || !o->UPLO[0] || o->UPLO[1])
        return tn_fail(f, TN_INVALID, "Expected UPLO argument to be 'L' or 'U', but got %s",
                       o->UPLO ? o->UPLO : "None");
    if (f->recording && !o->compute_v)
        return tn_fail(f, TN_AUTOGRAD, "the gradient needs eigenvectors: compute_v must be true");
    if (!tni_hermitian_size(n, &more) || !tni_add(more, n, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_announce(f, 0, tni_real_of(a->dtype), a->ndim - 1, a->size) &&
           (o->compute_v ? tn_announce_columns(f, 1, (tn_dtype)a->dtype, a->ndim, a->size)
                         : tn_announce(f, 1, (tn_dtype)a->dtype, 1, &none)) &&
           tni_planes_ask(f, eigh_wide(a), n, n, o->compute_v ? n : 0, n, more);
}
/* Both triangles from the one that is read. */
static void eigh_load(const tni_planes *a, const tn_tensor *in, int64_t i, bool upper) {
    tni_planes_load(a, in, in, i, upper ? TNI_ADJOINT : TNI_AS_IS);
    for (int64_t c = 0; c < a->n; c++) {
        tni_pair v = tni_planes_get(a, c, c);
        tni_planes_set(a, c, c, tni_re_im(v.re, 0));
        for (int64_t r = c + 1; r < a->n; r++) {
            v = tni_planes_get(a, r, c);
            tni_planes_set(a, c, r, tni_re_im(v.re, -v.im));
        }
    }
}
static void eigh_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_eigh_of, o, f);
    const tn_tensor *in = f->in[0];
    tn_tensor *values = f->out[0];
    const int64_t n = in->size[in->ndim - 1];
    const bool upper = o->UPLO[0] == 'U' || o->UPLO[0] == 'u';
    const tni_planes a = tni_planes_in(f, &scratch, eigh_wide(in), n, n),
                     q = tni_planes_in(f, &scratch, eigh_wide(in), o->compute_v ? n : 0, n);
    double *d = (double *)scratch;
    eigh_load(&a, in, i, upper);
    tni_hermitian(f, &a, o->compute_v ? &q : NULL, d, d + n);
    for (int64_t k = 0; k < n; k++)
        tni_element_set(tni_bytes_at(values) + (i * n + k) * tni_dtype_size(values), values->dtype,
                        tn_float(d[k]));
    if (o->compute_v) tni_planes_store(&q, f->out[1], i, TNI_AS_IS);
}
static void eigh_run(tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(f->in[0]), tni_effort(9 * n * n * n), eigh_task);
}
static bool eigh_verdict(tn_frame *f) {
    return tni_converged(f, f->out[0],
                         "The algorithm failed to converge because the input matrix is "
                         "ill-conditioned or contained non-finite values");
}
/* gA = V (diag(gl) + V^H gV / E) V^H, where E_ij = l_j - l_i, and 1 on the diagonal, where V^H gV
 * counts as 0; then the Hermitian part of that (M. Giles, An extended collection of matrix
 * derivative results, 2008, 3.1). */
static void eigh_grad(tn_gradient *g) {
    tn_tensor *l = g->out[0], *v = g->out[1], *adjoint = tni_adjoint(v), *inner, *a;
    if (g->incoming[1]) {
        tn_tensor *e = tnp_sub(tnp_unsqueeze(l, -2), tnp_unsqueeze(l, -1), 1);
        inner = tnp_div(tnp_matmul(adjoint, g->incoming[1]), tni_diagonal_filled(e, 1));
        inner = tni_diagonal_filled(inner, 0);
        if (g->incoming[0]) inner = tnp_add(inner, tni_diagonal_of(g->incoming[0]), 1);
        a = tnp_matmul(v, tnp_matmul(inner, adjoint));
    } else {
        a = tnp_matmul(tnp_mul(v, tnp_unsqueeze(tn_incoming(g, 0), -2)), adjoint);
    }
    tn_give(g, 0, tni_mean_of(a, tni_adjoint(a)));
}
/* Eigenvalues in rising order and, with compute_v, eigenvectors as columns of Hermitian matrices,
 * of which the triangle UPLO ('L' or 'U') is read. */
TN_OPERATOR(linalg_eigh_of,
            "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, "
            "Tensor eigenvectors)",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) real, (*, n, n)",
                   .example = "tn_linalg_eigh_of(x)",
                   .differs = "gradcheck [compute_v=False]: there are no eigenvectors",
                   .oracle = "phase eigenvectors; eigenvectors eigenvalues eigenvectors' = A"),
            .forms = TN_OUT | TN_LEADING, .needs = "eigenvalues,eigenvectors", .check = eigh_check,
            .run = eigh_run, .verdict = eigh_verdict, .grad = eigh_grad,
            .sample = "(3,3):symmetric | (2,4,4):symmetric U | (3,3):pd compute_v=False | "
                      "(0,0):f64 | (2,0,3,3):f64 | (1,1):symmetric | (7,7):symmetric")

static bool eigh_out_takes(tn_frame *f) {
    return tni_out_takes(f, 0, NULL, (int)tni_real_of(f->in[0]->dtype)) &&
           tni_out_takes(f, 1, NULL, f->in[0]->dtype);
}
static bool linalg_eigh_compose(tn_frame *f) {
    TN_ARGS(linalg_eigh, a, f);
    tn_eigenvalues_eigenvectors r;
    if (!eigh_out_takes(f)) return false;
    r = tnp_linalg_eigh_of(f->in[0], a->UPLO, true);
    f->out[0] = r.eigenvalues;
    f->out[1] = r.eigenvectors;
    return f->out[0] != NULL;
}
/* Eigenvalues in rising order and eigenvectors as columns of Hermitian matrices, of which the
 * triangle UPLO ('L' or 'U') is read. */
TN_OPERATOR(linalg_eigh,
            "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) real, (*, n, n)", .example = "tn_linalg_eigh(x)",
                   .oracle = "phase eigenvectors; eigenvectors eigenvalues eigenvectors' = self"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_eigh_compose,
            .sample = "(3,3):symmetric | (2,4,4):symmetric U")

static bool linalg_eigvalsh_compose(tn_frame *f) {
    TN_ARGS(linalg_eigvalsh, a, f);
    if (!eigh_out_takes(f)) return false;
    f->out[0] = tnp_linalg_eigh_of(f->in[0], a->UPLO, tni_grows_tape(f, 0)).eigenvalues;
    return f->out[0] != NULL;
}
/* Eigenvalues in rising order of Hermitian matrices, of which the triangle UPLO ('L' or 'U') is
 * read. */
TN_OPERATOR(linalg_eigvalsh, "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n) real", .example = "tn_linalg_eigvalsh(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_eigvalsh_compose,
            .sample = "(3,3):symmetric | (2,4,4):symmetric U | (0,0):f64")
