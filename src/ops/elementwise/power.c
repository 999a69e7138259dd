/* power.c - powers and roots, element by element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

static void square_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_mul_scalar(tni_conj_of(g->in[0]), tn_int(2))));
}
/* self * self. */
TN_OPERATOR(square, "square(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_square(x)"), .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(FIC, V_SQUARE(self), TN_COUNTS_BOOL),
            .grad = square_grad, .sample = "(35) | (3,5) | () | (0,2)", .node = "PowBackward0")

/* b a^(b - 1), 0 where b = 0; a^b log a, 0 where a = 0 and b >= 0 */
static void pow_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1], *slope;
    if (g->want[0]) {
        /* At a = 0, b = 0 the product is 0 * infinity: chosen away, not multiplied away. */
        slope = tnp_mul(b, tnp_pow(a, tnp_sub_scalar(b, tn_int(1), 1)));
        tn_give(g, 0,
                tni_where_or_zero(tnp_ne_scalar(b, tn_int(0)), tnp_mul(d, tni_conj_of(slope))));
    }
    if (g->want[1]) {
        /* 0^b is constant in b for b >= 0, where a^b log a would be 0 * -infinity. */
        tn_tensor *flat = tnp_eq_scalar(a, tn_int(0));
        slope = tnp_mul(g->out[0], tnp_log(a));
        if (!tni_is_complex(b->dtype)) flat = tnp_logical_and(flat, tnp_ge_scalar(b, tn_int(0)));
        tn_give(g, 1, tni_where_or_zero(tnp_logical_not(flat), tnp_mul(d, tni_conj_of(slope))));
    }
}
/* self to the power of exponent, as C's pow; exponents 2 and 3 are products. Integers wrap. With an
 * integer self, a negative number as exponent is refused; negative elements of an exponent tensor
 * give 0, except for the bases 1 and -1. */
TN_OPERATOR(
    pow, "pow.Tensor_Tensor(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_pow_scalar(x, 2)"),
    .forms = TN_INPLACE | TN_OUT, .needs = "self:self,exponent exponent:self,exponent,result",
    TN_POINTWISE(FIc, V_POW(self, exponent), TN_NO_NEGATIVE_POWER), .grad = pow_grad,
    .domain = "self:0.3..2",
    .sample =
        "(35) (35) | (2,3) (3) | (9) 2 | (9) 3 | (9) -1.5 | (9):i64 3 | 2 (9) | () () | (0) 2",
    .node = "PowBackward0 exponent=number | PowBackward2 self=number | PowBackward1")

/* 1 / (2 sqrt(x)), from the result */
static void sqrt_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], tni_conj_of(tnp_mul_scalar(g->out[0], tn_int(2)))));
}
/* The square root, correctly rounded. */
TN_OPERATOR(sqrt, "sqrt(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sqrt(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result", TN_POINTWISE(Fc, V_SQRT(self)),
            .grad = sqrt_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* the share of each side, a / h and b / h; NaN at 0, as torch */
static void hypot_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *h = g->out[0];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_div(g->in[0], h)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_div(g->in[1], h)));
}
/* sqrt(self^2 + other^2) without overflow on the way. Infinite if either is infinite, even if the
 * other is NaN. Two integer tensors are refused. */
TN_OPERATOR(hypot, "hypot(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_hypot(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,result other:other,result",
            TN_POINTWISE(F, V_HYPOT(self, other), TN_FLOATS_ONLY), .grad = hypot_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64")

/* -x^(-3/2) / 2, from the result y = x^(-1/2) */
static void rsqrt_grad(tn_gradient *g) {
    tn_tensor *y = tni_conj_of(g->out[0]);
    tn_give(g, 0,
            tnp_mul(tnp_mul_scalar(g->incoming[0], tn_float(-0.5)), tnp_mul(y, tnp_mul(y, y))));
}
/* 1 / sqrt(self). */
TN_OPERATOR(rsqrt, "rsqrt(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_rsqrt(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result",
            TN_POINTWISE(Fc, V_DIV(V_ONE, V_SQRT(self))), .grad = rsqrt_grad,
            .domain = "self:0.2..3", .sample = "(35) | (3,5) | () | (0,2)")
