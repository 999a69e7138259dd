/* gamma.c - the logarithm of the gamma function and its derivative, by simd/math_gamma.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

static void lgamma_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_digamma(g->in[0])));
}
/* The logarithm of the absolute value of the gamma function; infinite at 0 and at negative
 * integers. */
TN_OPERATOR(lgamma, "lgamma(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_lgamma(x)",
                   .python = "special.gammaln"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_LGAMMA(self)),
            .grad = lgamma_grad, .domain = "self:2.2..12",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* psi'(y) for y >= 1/2: the steps up to y + 10 and Stirling's series there (Abramowitz, Stegun,
 * 1964, 6.4.6 and 6.4.11). Made of operators, so it has derivatives of any order. */
static tn_tensor *gamma_second(tn_tensor *y) {
    static const double series[] = {7.0 / 6,  -691.0 / 2730, 5.0 / 66, -1.0 / 30,
                                    1.0 / 42, -1.0 / 30,     1.0 / 6};
    tn_tensor *sum = tnp_reciprocal(tnp_square(y)), *i, *z, *p;
    for (int k = 1; k < 10; k++)
        sum = tnp_add(sum, tnp_reciprocal(tnp_square(tnp_add_scalar(y, tn_int(k), 1))), 1);
    i = tnp_reciprocal(tnp_add_scalar(y, tn_int(10), 1));
    z = tnp_square(i);
    p = tni_times(z, series[0]);
    for (int k = 1; k < 7; k++) p = tnp_mul(tnp_add_scalar(p, tn_float(series[k]), 1), z);
    /* 1 / a + 1 / (2 a^2) + p / a */
    p = tnp_mul(tnp_add_scalar(tnp_add(p, i, 0.5), tn_int(1), 1), i);
    return tnp_add(sum, p, 1);
}
/* Below 1/2 by reflection: pi^2 / sin^2(pi x) - psi'(1 - x). */
static void digamma_grad(tn_gradient *g) {
    const double pi = 3.14159265358979323846;
    tn_tensor *x = g->in[0], *low = tnp_lt_scalar(x, tn_float(0.5)), *turned, *sine, *slope;
    turned = tnp_where(low, tnp_rsub_scalar(x, tn_int(1), 1), x);
    sine = tnp_sin(tni_times(tnp_where_scalar(low, x, tn_float(0.5)), pi));
    slope = gamma_second(turned);
    slope = tnp_where(low, tnp_neg(slope), slope);
    slope = tnp_add(
        slope,
        tnp_where_scalar(low, tni_times(tnp_reciprocal(tnp_square(sine)), pi * pi), tn_int(0)), 1);
    tn_give(g, 0, tnp_mul(g->incoming[0], slope));
}
/* The derivative of lgamma; at 0 an infinity of the other sign, at negative integers NaN. */
TN_OPERATOR(digamma, "digamma(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_digamma(x)",
                   .differs = "grad: torch's trigamma has 9 digits, this one 15",
                   .python = "special.digamma special.psi"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_DIGAMMA(self)),
            .grad = digamma_grad, .domain = "self:2.2..12",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")
