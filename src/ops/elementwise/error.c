/* error.c - error functions and the normal distribution: erfc, erfcx, erfinv, ndtr, log_ndtr,
 * ndtri, by simd/math_special.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* e^(factor x^2) */
static tn_tensor *error_bell(tn_tensor *x, double factor) {
    return tnp_exp(tni_times(tnp_square(x), factor));
}

/* -2 / sqrt(pi) e^(-x^2) */
static void erfc_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tni_times(error_bell(g->in[0], -1), -1.12837916709551257390)));
}
/* 1 - erf(self), with all digits where it is small. */
TN_OPERATOR(erfc, "erfc(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_erfc(x)",
                   .python = "special.erfc"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_ERFC(self)),
            .grad = erfc_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* 2 x y - 2 / sqrt(pi), y the result */
static void special_erfcx_grad(tn_gradient *g) {
    tn_tensor *slope = tni_times(tnp_mul(g->in[0], g->out[0]), 2);
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tnp_sub_scalar(slope, tn_float(1.12837916709551257390), 1)));
}
/* e^(self^2) erfc(self). */
TN_OPERATOR(special_erfcx, "special_erfcx(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_erfcx(x)",
                   .differs = "gradcheck [(35)]: at -6 it is 1e16, beside which others are lost | "
                              "gradcheck [(3,5)]: the same"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(F, V_ERFCX(self)),
            .grad = special_erfcx_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* sqrt(pi) / 2 e^(y^2), y the result */
static void erfinv_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tni_times(error_bell(g->out[0], 1), 0.88622692545275801365)));
}
/* The inverse of erf: infinite at -1 and 1, NaN beyond. */
TN_OPERATOR(erfinv, "erfinv(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_erfinv(x)",
                   .python = "special.erfinv"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(F, V_ERFINV(self)), .grad = erfinv_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<2")

/* e^(-x^2 / 2) / sqrt(2 pi) */
static void special_ndtr_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tni_times(error_bell(g->in[0], -0.5), 0.39894228040143267794)));
}
/* The distribution function of the normal distribution: erfc(-self / sqrt(2)) / 2. */
TN_OPERATOR(special_ndtr, "special_ndtr(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_ndtr(x)"),
            .forms = TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_NDTR(self)),
            .grad = special_ndtr_grad, .domain = "self:-1.5..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64", .node = "MulBackward1")

/* sqrt(2 / pi) / erfcx(-x / sqrt(2)) */
static void special_log_ndtr_grad(tn_gradient *g) {
    tn_tensor *by = tnp_special_erfcx(tni_times(g->in[0], -0.70710678118654752440));
    tn_give(g, 0, tnp_div(tni_times(g->incoming[0], 0.79788456080286535588), by));
}
/* log(ndtr(self)), with all digits also where ndtr is 0 or 1. */
TN_OPERATOR(special_log_ndtr, "special_log_ndtr(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_log_ndtr(x)"),
            .forms = TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_LOG_NDTR(self)),
            .grad = special_log_ndtr_grad, .domain = "self:-1.5..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* sqrt(2 pi) e^(y^2 / 2), y the result */
static void special_ndtri_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tni_times(error_bell(g->out[0], 0.5), 2.50662827463100050242)));
}
/* The inverse of ndtr: infinite at 0 and 1, NaN beyond. */
TN_OPERATOR(special_ndtri, "special_ndtri(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_ndtri(x)"),
            .forms = TN_OUT, .needs = "self:result", TN_POINTWISE(f, V_NDTRI(self)),
            .grad = special_ndtri_grad, .domain = "self:0.05..0.45",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<2")
