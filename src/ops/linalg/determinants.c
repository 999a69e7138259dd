/* determinants.c - determinants by LU: linalg.det, linalg.slogdet, logdet. */
#include "../../cpu/matrix.h"
#include "factor.h"

/* The diagonal of U and the sign of the permutation, of square matrices. */
typedef struct determinant {
    tn_tensor *diagonal, *sign;
} determinant;
static bool determinant_of(tn_frame *f, const char *name, determinant *d) {
    tn_tensor *a = f->in[0], *exchanged;
    tn_LU_pivots_info lu;
    if (!tni_matrix_fits(f, a, name, true)) return false;
    lu = tnp_linalg_lu_factor_ex(a, true, false);
    d->diagonal = tnp_diagonal(lu.LU, 0, -2, -1);
    /* Each row that was exchanged with another turns the sign. */
    exchanged = tnp_ne(lu.pivots, tnp_arange_start(tn_int(1), tn_int(a->size[a->ndim - 1] + 1),
                                                   TN_I32, (tn_device_id)a->device));
    exchanged = tnp_remainder_scalar(tnp_sum(exchanged, tni_last_dim(), false, TN_I64), tn_int(2));
    d->sign = tnp_rsub_scalar(tnp_mul_scalar(exchanged, tn_int(2)), tn_int(1), 1);
    d->sign = tnp_to_dtype(d->sign, (tn_dtype)a->dtype, false, false);
    return d->sign != NULL;
}
static bool det_of(tn_frame *f, const char *name) {
    determinant d;
    if (!determinant_of(f, name, &d)) return false;
    f->out[0] = tnp_mul(tnp_prod(d.diagonal, -1, false, TN_NO_DTYPE), d.sign);
    return f->out[0] != NULL;
}
static bool linalg_det_compose(tn_frame *f) { return det_of(f, "A"); }
/* The determinants of square matrices. */
TN_OPERATOR(linalg_det, "linalg_det(Tensor A) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*), float32, float64 or complex",
                   .example = "tn_linalg_det(x)"),
            .forms = TN_OUT, .compose = linalg_det_compose,
            .sample = "(3,3):invertible | (2,4,4):invertible | (0,0):f64 | (2,0,3,3) | (1,1):pd")
static bool det_compose(tn_frame *f) { return det_of(f, "self"); }
/* linalg_det. */
TN_OPERATOR(det, "det(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*), float32, float64 or complex",
                   .example = "tn_det(x)"),
            .compose = det_compose, .sample = "(3,3):invertible | (2,4,4):invertible")

static bool slogdet_of(tn_frame *f, const char *name) {
    determinant d;
    if (!determinant_of(f, name, &d)) return false;
    f->out[0] = tnp_mul(tnp_prod(tnp_sgn(d.diagonal), -1, false, TN_NO_DTYPE), d.sign);
    f->out[1] = tnp_sum(tnp_log(tnp_abs(d.diagonal)), tni_last_dim(), false, TN_NO_DTYPE);
    return f->out[0] && f->out[1];
}
static bool linalg_slogdet_compose(tn_frame *f) { return slogdet_of(f, "A"); }
/* The sign of the determinant, of complex matrices its angle as a number of modulus 1, and the
 * logarithm of its modulus: 0 and -inf where it is 0. */
TN_OPERATOR(linalg_slogdet, "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
            TN_DOC(.shapes = "(*, n, n) -> (*), (*) real, float32, float64 or complex",
                   .example = "tn_linalg_slogdet(x)"),
            .forms = TN_OUT, .compose = linalg_slogdet_compose,
            .sample = "(3,3):invertible | (2,4,4):invertible | (0,0):f64 | (2,0,3,3) | (1,1):pd")
static bool slogdet_compose(tn_frame *f) { return slogdet_of(f, "self"); }
/* linalg_slogdet. */
TN_OPERATOR(slogdet, "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
            TN_DOC(.shapes = "(*, n, n) -> (*), (*) real, float32, float64 or complex",
                   .example = "tn_slogdet(x)"),
            .forms = TN_OUT, .compose = slogdet_compose, .sample = "(3,3):invertible")

static bool logdet_compose(tn_frame *f) {
    determinant d;
    tn_tensor *sign, *logs;
    if (!determinant_of(f, "self", &d)) return false;
    sign = tnp_mul(tnp_prod(tnp_sgn(d.diagonal), -1, false, TN_NO_DTYPE), d.sign);
    logs = tnp_sum(tnp_log(tnp_abs(d.diagonal)), tni_last_dim(), false, TN_NO_DTYPE);
    if (sign && tni_is_complex(sign->dtype))
        f->out[0] = tnp_add(tnp_log(sign), logs, 1);
    else
        f->out[0] = tnp_masked_fill_scalar(logs, tnp_eq_scalar(sign, tn_int(-1)), tn_float(NAN));
    return f->out[0] != NULL;
}
/* The logarithms of determinants: NaN where a real one is negative. */
TN_OPERATOR(logdet, "logdet(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*), float32, float64 or complex",
                   .example = "tn_logdet(x)"),
            .compose = logdet_compose, .sample = "(3,3):pd | (2,4,4):pd | (0,0)")
