/* rounding.c - to whole numbers, and to the next number of the type, element by element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* The largest integer that is not above self. Integers stay as they are. */
TN_OPERATOR(floor, "floor(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_floor(x)"), .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_FLOOR(self)), .grad = tni_give_zeros_all, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

/* The smallest integer that is not below self. */
TN_OPERATOR(ceil, "ceil(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_ceil(x)"), .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_CEIL(self)), .grad = tni_give_zeros_all, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

/* The nearest integer; halves go to the even one. */
TN_OPERATOR(round, "round(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_round(x)", .python = "special.round"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FI, V_ROUND(self)),
            .grad = tni_give_zeros_all, .domain = "self:0.6..1.4",
            .sample = "(35) | (3,5) | () | (0,2)")

/* self without its fraction. */
TN_OPERATOR(trunc, "trunc(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_trunc(x)"), .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_TRUNC(self)), .grad = tni_give_zeros_all, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

/* trunc is constant between jumps */
static void frac_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }
/* The fraction: self - trunc(self). */
TN_OPERATOR(frac, "frac(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_frac(x)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(F, V_SUB(self, V_TRUNC(self))),
            .grad = frac_grad, .domain = "self:0.2..0.8", .sample = "(35) | (3,5) | () | (0,2)")

/* A step of self passes its gradient; where both are equal the result is other, and none passes. */
static void nextafter_grad(tn_gradient *g) {
    if (g->want[0]) tn_give(g, 0, tni_where_or_zero(tnp_ne(g->in[0], g->in[1]), g->incoming[0]));
    if (g->want[1]) tn_give(g, 1, tnp_zeros_like(g->in[1], TN_NO_DTYPE, TN_NO_DEVICE));
}
/* The next number after self in the direction of other, in the result's dtype; other where both are
 * equal. Has no gradient. Two integer tensors are refused. */
TN_OPERATOR(nextafter, "nextafter(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_nextafter(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,other",
            TN_POINTWISE(F, V_NEXTAFTER(self, other), TN_FLOATS_ONLY | TN_STEPS_IN_DTYPE),
            .grad = nextafter_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64")
