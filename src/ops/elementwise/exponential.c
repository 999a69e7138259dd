/* exponential.c - exponentials, logarithms and the error function, by those of simd/math.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

static void exp_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tni_conj_of(g->out[0])));
}
/* e^self. */
TN_OPERATOR(exp, "exp(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_exp(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(FC, V_EXP(self)), .grad = exp_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* e^x, from the result y = e^x - 1 */
static void expm1_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_add_scalar(tni_conj_of(g->out[0]), tn_int(1), 1)));
}
/* e^self - 1, accurate near 0. */
TN_OPERATOR(expm1, "expm1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_expm1(x)",
                   .python = "special.expm1"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(Fc, V_EXPM1(self)), .grad = expm1_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void log_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], tni_conj_of(g->in[0])));
}
/* The natural logarithm. */
TN_OPERATOR(log, "log(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_log(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG(self)), .grad = log_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

static void log1p_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], tnp_add_scalar(tni_conj_of(g->in[0]), tn_int(1), 1)));
}
/* log(1 + self), accurate near 0. */
TN_OPERATOR(log1p, "log1p(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_log1p(x)",
                   .python = "special.log1p"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG1P(self)), .grad = log1p_grad, .domain = "self:-0.7..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* 1 / (x log 2) */
static void log2_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_div(g->incoming[0], tni_times(tni_conj_of(g->in[0]), 0.69314718055994530942)));
}
/* The logarithm to base 2; exact for powers of 2. */
TN_OPERATOR(log2, "log2(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_log2(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG2(self)), .grad = log2_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* 1 / (x log 10) */
static void log10_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_div(g->incoming[0], tni_times(tni_conj_of(g->in[0]), 2.30258509299404568402)));
}
/* The logarithm to base 10. */
TN_OPERATOR(log10, "log10(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_log10(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG10(self)), .grad = log10_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* the share of each side: e^a / (e^a + e^b) is the sigmoid of a - b */
static void logaddexp_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tni_conj_of(tnp_sigmoid(tnp_sub(a, b, 1)))));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tni_conj_of(tnp_sigmoid(tnp_sub(b, a, 1)))));
}
/* log(e^self + e^other), without overflow on the way. Near 0 it is as exact as the larger of both
 * is. Two integer tensors are refused. */
TN_OPERATOR(logaddexp, "logaddexp(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_logaddexp(x, y)"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(Fc, V_LOGADDEXP(self, other), TN_FLOATS_ONLY), .grad = logaddexp_grad,
            .domain = "self:0..2 other:0..2",
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64<3")

/* 2 / sqrt(pi) e^(-x^2) */
static void erf_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0],
                    tni_times(tnp_exp(tnp_neg(tnp_square(g->in[0]))), 1.12837916709551257390)));
}
/* 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to self. */
TN_OPERATOR(erf, "erf(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_erf(x)",
                   .python = "special.erf"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_ERF(self)),
            .grad = erf_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* 2^x log 2, from the result */
static void exp2_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tni_times(tni_conj_of(g->out[0]), 0.69314718055994530942)));
}
/* 2 to the power of self. */
TN_OPERATOR(exp2, "exp2(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_exp2(x)",
                   .python = "special.exp2"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result",
            TN_POINTWISE(Fc, V_POW(V_SET(2), self)), .grad = exp2_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* the share of each side: 2^a / (2^a + 2^b) is the sigmoid of (a - b) log 2 */
static void logaddexp2_grad(tn_gradient *g) {
    const double ln2 = 0.69314718055994530942;
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_sigmoid(tni_times(tnp_sub(a, b, 1), ln2))));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_sigmoid(tni_times(tnp_sub(b, a, 1), ln2))));
}
/* log2(2^self + 2^other), without overflow on the way. Two integer tensors are refused. */
TN_OPERATOR(logaddexp2, "logaddexp2(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_logaddexp2(x, y)"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(F, V_LOGADDEXP2(self, other), TN_FLOATS_ONLY), .grad = logaddexp2_grad,
            .domain = "self:0..2 other:0..2",
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64<3")
