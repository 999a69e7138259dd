/* moves.c - how gamma and beta numbers move with their parameters, by simd/math_draws.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

/* They have no derivatives, and say so if backward meets them, as torch's. */
static void moves_refuse(tn_gradient *g, const char *words) {
    tni_error(g->block, TN_UNSUPPORTED, "%s", words);
    for (int i = 0; i < g->nin; i++)
        if (g->want[i]) tn_give(g, i, NULL);
}
static void standard_gamma_grad_grad(tn_gradient *g) {
    moves_refuse(g, "the derivative for '_standard_gamma_grad' is not implemented.");
}
/* The derivative of a draw of _standard_gamma in self, the shape, at the value output of the draw:
 * the quantile moves, the probability stays. -(dF / da) / f, F the distribution function igamma and
 * f its density: M. Figurnov et al., "Implicit reparameterization gradients", 2018. NaN where self
 * is not positive or output is negative. */
TN_OPERATOR(standard_gamma_grad, "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_standard_gamma_grad(x, y)",
                   .differs = "gradcheck: it is refused | refused grad of tensor 0: torch has none "
                              "| refused grad of tensor "
                              "1: torch has none"),
            TN_POINTWISE(f, V_GAMMA_MOVE(self, output), TN_FLOATS_ONLY | TN_SAME_DTYPES),
            .grad = standard_gamma_grad_grad, .domain = "self:0.1..20 output:0.05..30",
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (40):f64 (40):f64")

static void dirichlet_grad_grad(tn_gradient *g) {
    moves_refuse(g, "the derivative for '_dirichlet_grad' is not implemented.");
}
/* The derivative of a beta number x in its first parameter alpha at the same probability, over 1 -
 * x; total is the sum of both parameters. Of a row of Dirichlet numbers, whose concentrations add
 * up to total, the gradient in alpha is grad (incoming - sum(x incoming)). NaN where x is not
 * within 0..1 or alpha is not positive. */
TN_OPERATOR(dirichlet_grad, "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
            TN_DOC(.shapes = "(*), (*), (*) -> broadcast, floating",
                   .example = "tn_dirichlet_grad(p, x, y)",
                   .differs = "gradcheck: it is refused | refused grad of tensor 0: torch has none "
                              "| refused grad of tensor "
                              "1: torch has none | refused grad of tensor 2: torch has none"),
            TN_POINTWISE(f, V_BETA_MOVE(x, alpha, total), TN_FLOATS_ONLY),
            .grad = dirichlet_grad_grad, .domain = "x:0.02..0.98 alpha:0.1..9 total:9.2..30",
            .sample = "(35) (35) (35) | (2,3,5) (3,1) () | () (4) (4) | (0,3) (3) () | (40):f64 "
                      "(40):f64 (40):f64")
