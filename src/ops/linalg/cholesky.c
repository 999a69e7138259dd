/* cholesky.c - A = L L^H of positive definite matrices: linalg.cholesky_ex, linalg.cholesky. */
#include "../../cpu/lapack.h"
#include "factor.h"

/* Factors the lower triangle of l in place, column after column: column j less what the columns
 * before it contribute, over the root of its head. Returns the order of the first leading minor
 * that is not positive, 0: all are. */
static int32_t cholesky_columns(const tni_planes *l) {
    for (int64_t j = 0; j < l->n; j++) {
        tni_pair head;
        for (int64_t k = 0; k < j; k++) {
            const tni_pair v = tni_planes_get(l, j, k), minus = {-v.re, v.im};
            tni_column_add(l, j, l, k, j, l->n, minus);
        }
        head = tni_planes_get(l, j, j);
        if (!(head.re > 0)) return (int32_t)(j + 1);
        head.re = sqrt(head.re);
        head.im = 0;
        tni_planes_set(l, j, j, head);
        head = tni_planes_get(l, j, j); /* as rounded */
        for (int64_t i = j + 1; i < l->n; i++)
            tni_planes_set(l, i, j, tni_pair_div(tni_planes_get(l, i, j), head));
    }
    return 0;
}

/* The same by halves: A21 L11^-H below the first, and its square from the second. */
static int32_t cholesky_factor(const tni_planes *l) {
    const int64_t n = l->n, half = n / 2;
    tni_planes head, low, tail;
    int32_t info = 0;
    if (tni_lapack_cholesky(l, &info)) return info;
    if (n <= TNI_COLUMNS_ALONE) return cholesky_columns(l);
    head = tni_planes_part(l, 0, 0, half, half);
    low = tni_planes_part(l, half, 0, n - half, half);
    tail = tni_planes_part(l, half, half, n - half, n - half);
    info = cholesky_factor(&head);
    if (info) return info;
    tni_planes_solve_right(&low, &head, TNI_ADJOINT, false);
    for (int64_t j = 0; j < n - half; j += TNI_COLUMNS_ALONE) {
        /* Only the lower triangle of the square, so many columns at a time. */
        const int64_t wide =
            n - half - j < TNI_COLUMNS_ALONE ? n - half - j : (int64_t)TNI_COLUMNS_ALONE;
        const tni_planes c = tni_planes_part(&tail, j, j, n - half - j, wide),
                         a = tni_planes_part(&low, j, 0, n - half - j, half),
                         b = tni_planes_part(&low, j, 0, wide, half);
        tni_planes_product(&c, &a, TNI_AS_IS, &b, TNI_ADJOINT, -1, true);
    }
    info = cholesky_factor(&tail);
    return info ? info + (int32_t)half : 0;
}

static bool cholesky_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const int64_t n = a->ndim < 2 ? 0 : a->size[a->ndim - 1];
    return tni_matrix_fits(f, a, "self", true) && tni_out_takes(f, 0, NULL, a->dtype) &&
           tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tn_announce(f, 1, TN_I32, a->ndim - 2, a->size) &&
           tni_planes_ask(f, a->dtype, n, n, 0, 0, 0);
}
static void cholesky_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_cholesky_ex, a, f);
    const int64_t n = f->in[0]->size[f->in[0]->ndim - 1];
    const int how = a->upper ? TNI_ADJOINT : TNI_AS_IS; /* the triangle that is read and written */
    tni_planes l = tni_planes_in(f, &scratch, f->in[0]->dtype, n, n);
    tni_planes_load(&l, f->in[0], f->in[0], i, how);
    ((int32_t *)(void *)tni_bytes_at(f->out[1]))[i] = cholesky_factor(&l);
    tni_planes_clear(&l, false);
    tni_planes_store(&l, f->out[0], i, how);
}
static void cholesky_run(tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(f->in[0]), tni_effort(n * n * n / 3), cholesky_task);
}
static bool cholesky_verdict(tn_frame *f) {
    TN_ARGS(linalg_cholesky_ex, a, f);
    return !a->check_errors ||
           tn_info_verdict(
               f, 1,
               "The factorization could not be completed because the input is not "
               "positive-definite (the leading minor of order # is not positive-definite)");
}
/* gA = L^-H S L^-1, where S mirrors the lower triangle of L^H gL / 2. */
static void cholesky_grad(tn_gradient *g) {
    TN_ARGS(linalg_cholesky_ex, a, g);
    tn_tensor *l = g->out[0], *gl = g->incoming[0], *p, *s;
    if (a->upper) {
        l = tni_adjoint(l);
        gl = tni_adjoint(gl);
    }
    p = tnp_tril(tnp_matmul(tni_adjoint(l), gl), 0);
    s = tni_mean_of(p, tni_adjoint(tnp_tril(p, -1)));
    s = tnp_linalg_solve_triangular(tni_adjoint(l), s, true, true, false);
    tn_give(g, 0, tnp_linalg_solve_triangular(l, s, false, false, false));
}
/* The Cholesky factor L of A = L L^H: lower triangular with a positive diagonal, read from the
 * lower triangle of A. With upper: L^H, read from the upper triangle. info is 0, or the order of
 * the first leading minor that is not positive; with check_errors the latter is an error. */
TN_OPERATOR(
    linalg_cholesky_ex,
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)",
    TN_DOC(.shapes = "(*, n, n) -> (*, n, n), (*), float32, float64 or complex",
           .example = "tn_linalg_cholesky_ex(x)"),
    .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU, .needs = "L", .check = cholesky_check,
    .run = cholesky_run, .verdict = cholesky_verdict, .grad = cholesky_grad,
    .sample = "(3,3):pd | (2,4,4):pd upper=True | (5,5):pd check_errors=True | (2,0,3,3):pd "
              "| (0,0):pd | (35,35):pd")

static bool linalg_cholesky_compose(tn_frame *f) {
    TN_ARGS(linalg_cholesky, a, f);
    if (!tni_out_takes(f, 0, NULL, f->in[0]->dtype)) return false;
    f->out[0] = tnp_linalg_cholesky_ex(f->in[0], a->upper, true).L;
    return f->out[0] != NULL;
}
/* As linalg_cholesky_ex, but a matrix that is not positive definite is an error. */
TN_OPERATOR(linalg_cholesky, "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), float32, float64 or complex",
                   .example = "tn_linalg_cholesky(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_cholesky_compose,
            .sample = "(3,3):pd | (2,4,4):pd upper=True")
/* --- systems ---------------------------------------------------------------------------------- */

/* L L^H x = b, or U^H U x = b. */
static tn_tensor *cholesky_solved(tn_tensor *b, tn_tensor *l, bool upper) {
    tn_tensor *adjoint = tni_adjoint(l);
    b = tnp_linalg_solve_triangular(upper ? adjoint : l, b, false, true, false);
    return tnp_linalg_solve_triangular(upper ? l : adjoint, b, true, true, false);
}
static bool cholesky_solve_compose(tn_frame *f) {
    TN_ARGS(cholesky_solve, a, f);
    if (!tni_matrix_fits(f, f->in[0], "self", false) ||
        !tni_matrix_fits(f, f->in[1], "input2", true) ||
        !tni_out_takes(f, 0, "result", f->in[0]->dtype))
        return false;
    f->out[0] = cholesky_solved(f->in[0], f->in[1], a->upper);
    return f->out[0] != NULL;
}
/* X of A X = self, where input2 is the Cholesky factor of A: L, or with upper L^H. */
TN_OPERATOR(cholesky_solve,
            "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
            TN_DOC(.shapes = "(*, n, k), (*, n, n) -> (*, n, k), float32, float64 or complex",
                   .example = "tn_cholesky_solve(y, x)",
                   .differs = "grad of tensor 1: torch's is not of the triangle alone"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = cholesky_solve_compose,
            .sample = "(3,2) (3,3):lower | (2,4,3) (4,4):upper True | (0,2) (0,0)")
static bool cholesky_inverse_compose(tn_frame *f) {
    TN_ARGS(cholesky_inverse, a, f);
    tn_tensor *l = f->in[0];
    if (!tni_matrix_fits(f, l, "self", true) || !tni_out_takes(f, 0, "result", l->dtype))
        return false;
    f->out[0] =
        cholesky_solved(tnp_expand_as(tni_unit_of(l, l->size[l->ndim - 1]), l), l, a->upper);
    return f->out[0] != NULL;
}
/* The inverse of the matrix whose Cholesky factor is self: L, or with upper L^H. */
TN_OPERATOR(cholesky_inverse, "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), float32, float64 or complex",
                   .example = "tn_cholesky_inverse(x)",
                   .differs = "grad: torch's is not of the triangle alone"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = cholesky_inverse_compose,
            .sample = "(3,3):pd | (2,4,4):pd True | (0,0)")
