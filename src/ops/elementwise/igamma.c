/* igamma.c - the incomplete gamma functions, by simd/math_igamma.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* The gradient in a is refused, as torch does; in x it is e^-x x^(a - 1) / gamma(a). */
static void igamma_slope(tn_gradient *g, const char *refusal, bool upper) {
    tn_tensor *a = g->in[0], *x = g->in[1], *log;
    if (g->want[0]) {
        tni_error(g->block, TN_UNSUPPORTED, "%s", refusal);
        tn_give(g, 0, NULL);
        return;
    }
    log = tnp_mul(tnp_sub_scalar(a, tn_int(1), 1), tnp_log(x));
    log = tnp_sub(tnp_sub(log, x, 1), tnp_lgamma(a), 1);
    log = tnp_mul(g->incoming[0], tnp_exp(log));
    tn_give(g, 1, upper ? tnp_neg(log) : log);
}
static void igamma_grad(tn_gradient *g) {
    igamma_slope(g, "the derivative for 'igamma: input' is not implemented.", false);
}
/* The lower incomplete gamma function, regularized: the integral of t^(a - 1) e^-t from 0 to x
 * over gamma(a), a self and x other. Two integer tensors are refused. */
TN_OPERATOR(igamma, "igamma(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_igamma(x, y)",
                   .differs = "refused grad of tensor 0: torch has none",
                   .python = "special.gammainc"),
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_POINTWISE(f, V_IGAMMA(self, other), TN_FLOATS_ONLY), .grad = igamma_grad,
            .domain = "self:0.6..6 other:0.6..6",
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64<3")

static void igammac_grad(tn_gradient *g) {
    igamma_slope(g, "the derivative for 'igammac: input' is not implemented.", true);
}
/* The upper incomplete gamma function, regularized: 1 - igamma, with all digits where it is
 * small. */
TN_OPERATOR(igammac, "igammac(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_igammac(x, y)",
                   .differs = "refused grad of tensor 0: torch has none",
                   .python = "special.gammaincc"),
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_POINTWISE(f, V_IGAMMAC(self, other), TN_FLOATS_ONLY), .grad = igammac_grad,
            .domain = "self:0.6..6 other:0.6..6",
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64<3")
