/* matrix_exp.c - the exponential of matrices: linalg.matrix_exp. */
#include "../../cpu/lu.h"
#include "../../cpu/tridiagonal.h"
#include "factor.h"

#include "../../simd/matrix_exp.inl"

/* to = [to +] weight from */
static void mexp_add(const tni_planes *to, const tni_planes *from, double weight, bool add) {
    for (int part = 0; part < 2 && to->at[part]; part++)
        for (int64_t i = 0; i < to->m * to->n; i++) {
            double *x = (double *)(void *)to->at[part] + i;
            const double y = ((const double *)(const void *)from->at[part])[i];
            *x = add ? fma(weight, y, *x) : weight * y;
        }
}
static void mexp_times(const tni_planes *to, const tni_planes *a, const tni_planes *b) {
    tni_planes_product(to, a, TNI_AS_IS, b, TNI_AS_IS, 1, false);
}
/* The largest sum of moduli in a column. */
static double mexp_norm(const tni_planes *a) {
    double most = 0;
    for (int64_t c = 0; c < a->n; c++) {
        double sum = 0;
        for (int64_t r = 0; r < a->m; r++) {
            const tni_pair v = tni_planes_get(a, r, c);
            sum += sqrt(fma(v.re, v.re, v.im * v.im));
        }
        if (!(sum <= most)) most = sum;
        if (most != most) return most;
    }
    return most;
}

enum { EXP_A, EXP_U, EXP_V, EXP_W, EXP_POWERS, EXP_PLANES = 9 }; /* powers 0, 2, 4, 6, 8 */

/* Odd terms in U, even ones in V. */
static void mexp_parts(const tni_planes *p, int degree) {
    const double *b = mexp_weights[degree];
    const int top = degree < 4 ? degree + 1 : 3; /* powers 2, .., 2 top are there */
    tni_planes_unit(&p[EXP_POWERS]);
    mexp_times(&p[EXP_POWERS + 1], &p[EXP_A], &p[EXP_A]);
    for (int k = 2; k <= top; k++)
        mexp_times(&p[EXP_POWERS + k], &p[EXP_POWERS + k - 1], &p[EXP_POWERS + 1]);
    for (int odd = 0; odd <= 1; odd++) {
        const tni_planes *to = odd ? &p[EXP_W] : &p[EXP_V];
        if (degree == 4) { /* A6 times what is above 7, too */
            for (int k = 1; k <= 3; k++)
                mexp_add(&p[EXP_U], &p[EXP_POWERS + k], b[6 + 2 * k + odd], k > 1);
            mexp_times(to, &p[EXP_POWERS + 3], &p[EXP_U]);
        }
        for (int k = 0; k <= top; k++)
            mexp_add(to, &p[EXP_POWERS + k], b[2 * k + odd], degree == 4 || k > 0);
    }
    mexp_times(&p[EXP_U], &p[EXP_A], &p[EXP_W]);
}
/* p[EXP_A] becomes its exponential; false where it is not finite. */
static bool mexp_of(const tni_planes *p, int32_t *pivots) {
    const double norm = mexp_norm(&p[EXP_A]);
    int degree = 0, squarings = 0;
    if (norm - norm != 0) return false;
    while (degree < 4 && norm > mexp_reach[degree]) degree++;
    if (norm > mexp_reach[4]) frexp(norm / mexp_reach[4], &squarings);
    tni_planes_scale(&p[EXP_A], -squarings);
    mexp_parts(p, degree);
    /* (V - U) X = V + U */
    mexp_add(&p[EXP_A], &p[EXP_V], 1, false);
    mexp_add(&p[EXP_A], &p[EXP_U], 1, true);
    mexp_add(&p[EXP_V], &p[EXP_U], -1, true);
    tni_lu_factor(&p[EXP_V], pivots);
    tni_lu_solve(&p[EXP_V], pivots, &p[EXP_A], false);
    for (; squarings > 0; squarings--) {
        mexp_times(&p[EXP_W], &p[EXP_A], &p[EXP_A]);
        tni_planes_copy(&p[EXP_A], &p[EXP_W]);
    }
    return true;
}

static int mexp_wide(const tn_tensor *a) { return tni_is_complex(a->dtype) ? TN_C128 : TN_F64; }
static bool mexp_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const int64_t n = a->ndim < 2 ? 0 : a->size[a->ndim - 1];
    int64_t rows;
    if (!tni_matrix_fits(f, a, "self", true)) return false;
    if (!tni_mul(n, EXP_PLANES, &rows))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_announce(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tni_planes_ask(f, mexp_wide(a), rows, n, 0, 0, n);
}
static void mexp_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0];
    const int64_t n = in->size[in->ndim - 1];
    tni_planes p[EXP_PLANES];
    for (int k = 0; k < EXP_PLANES; k++) p[k] = tni_planes_in(f, &scratch, mexp_wide(in), n, n);
    tni_planes_load(&p[EXP_A], in, in, i, TNI_AS_IS);
    if (!mexp_of(p, (int32_t *)scratch))
        for (int64_t k = 0; k < n * n; k++)
            tni_planes_set(&p[EXP_A], k % n, k / n, tni_re_im(NAN, NAN));
    tni_planes_store(&p[EXP_A], f->out[0], i, TNI_AS_IS);
}
static void mexp_run(tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(f->in[0]), tni_effort(30 * n * n * n), mexp_task);
}
/* The upper right block of the exponential of (A^H g; 0 A^H) (R. Mathias, 1996, theorem 2.1). */
static void mexp_grad(tn_gradient *g) {
    tn_tensor *a = tni_adjoint(g->in[0]), *d = g->incoming[0], *rows[2], *parts[2];
    const int64_t n = g->in[0]->size[g->in[0]->ndim - 1];
    parts[0] = a;
    parts[1] = d;
    rows[0] = tnp_cat(tn_tensors_of(parts, 2), -1);
    parts[0] = tnp_mul_scalar(a, tn_int(0));
    parts[1] = a;
    rows[1] = tnp_cat(tn_tensors_of(parts, 2), -1);
    a = tnp_linalg_matrix_exp(tnp_cat(tn_tensors_of(rows, 2), -2));
    tn_give(g, 0, tnp_narrow(tnp_narrow(a, -2, 0, n), -1, n, n));
}
/* The exponential of square matrices. */
TN_OPERATOR(linalg_matrix_exp, "linalg_matrix_exp(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), float32, float64 or complex",
                   .example = "tn_linalg_matrix_exp(x)",
                   .differs = "call: not of 16-bit floats, as every factorization"),
            .forms = TN_LEADING, .needs = "self", .check = mexp_check, .run = mexp_run,
            .grad = mexp_grad,
            .sample = "(3,3) | (2,4,4) | (3,3):invertible | (0,0):f64 | (1,1) | (7,7):pd")
static bool matrix_exp_compose(tn_frame *f) {
    tn_tensor *a = f->in[0];
    const tn_dtype dtype = (tn_dtype)a->dtype;
    const bool half = dtype == TN_F16 || dtype == TN_BF16;
    if (half) a = tnp_to_dtype(a, TN_F32, false, false);
    a = tnp_linalg_matrix_exp(a);
    f->out[0] = half ? tnp_to_dtype(a, dtype, false, false) : a;
    return f->out[0] != NULL;
}
/* linalg_matrix_exp; of 16-bit floats computed in float32. */
TN_OPERATOR(matrix_exp, "matrix_exp(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), floating or complex",
                   .example = "tn_matrix_exp(x)"),
            .compose = matrix_exp_compose, .sample = "(3,3) | (2,4,4)")
