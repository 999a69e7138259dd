/* gamma.c - the logarithm of the gamma function and its derivatives, by simd/math_gamma.h, and the
 * zeta function, by simd/math_special.h. */
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

/* psi'(x) = zeta(2, x), which has derivatives of any order */
static void digamma_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_special_zeta_scalar_self(tn_float(2), g->in[0])));
}
/* The derivative of lgamma; at 0 an infinity of the other sign, at negative integers NaN. */
TN_OPERATOR(digamma, "digamma(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_digamma(x)",
                   .differs = "grad: torch's trigamma has 9 digits, this one 15",
                   .python = "special.digamma special.psi"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(F, V_DIGAMMA(self)),
            .grad = digamma_grad, .domain = "self:2.2..12",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* The gradient in s is refused, as torch does; in q it is -s zeta(s + 1, q). */
static void special_zeta_grad(tn_gradient *g) {
    tn_tensor *s = g->in[0], *q = g->in[1], *slope;
    if (g->want[0]) {
        tni_error(g->block, TN_UNSUPPORTED, "the derivative for 'zeta' is not implemented.");
        tn_give(g, 0, NULL);
        return;
    }
    slope = tnp_mul(tnp_neg(s), tnp_special_zeta(tnp_add_scalar(s, tn_int(1), 1), q));
    tn_give(g, 1, tnp_mul(g->incoming[0], slope));
}
/* Hurwitz' zeta function, the sum of (other + k)^-self for k = 0, 1, ...: infinite where self is 1
 * or other is 0 or a negative integer, NaN where self is below 1. Below other = 0 only an integer
 * self has a value. */
TN_OPERATOR(special_zeta, "special_zeta(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_special_zeta(x, y)",
                   .differs = "refused grad of tensor 0: torch has none"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(f, V_ZETA(self, other)), .grad = special_zeta_grad,
            .domain = "self:1.3..6 other:0.4..8",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | 3 (4):i64<9")

static bool polygamma_compose(tn_frame *f) {
    TN_ARGS(polygamma, a, f);
    double factor = a->n % 2 ? 1 : -1;
    if (a->n < 0) return tn_fail(f, TN_INVALID, "polygamma(n, x) does not support negative n.");
    for (int64_t k = 2; k <= a->n && factor - factor == 0; k++) factor *= (double)k;
    f->out[0] =
        a->n == 0
            ? tnp_digamma(f->in[0])
            : tni_times(tnp_special_zeta_scalar_self(tn_float((double)a->n + 1), f->in[0]), factor);
    return f->out[0] != NULL;
}
/* The derivative of order n of digamma: (-1)^(n + 1) n! zeta(n + 1, self). */
TN_OPERATOR(
    polygamma, "polygamma(int n, Tensor self) -> Tensor",
    TN_DOC(.shapes = "self (*) -> (*), floating", .example = "tn_polygamma(1, x)",
           .differs = "grad [0 (]: torch's trigamma has 9 digits, this one 15 | result 0 [1 (]: "
                      "the same",
           .python = "special.polygamma"),
    .forms = TN_OUT, .autocast = TN_UNCAST, .compose = polygamma_compose, .domain = "self:2.2..12",
    .sample = "0 (35) | 3 () | 2 (0,2) | 2 (4):i64<9", .node = "PolygammaBackward0")
