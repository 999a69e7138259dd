/* bessel.c - Bessel functions of orders 0 and 1 and Airy's function, by simd/math_bessel.h. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* f / x, and `limit` less than nothing at 0: what stands beside it there is the value at 0 */
static tn_tensor *bessel_over(tn_tensor *f, tn_tensor *x, double limit) {
    tn_tensor *zero = tnp_eq_scalar(x, tn_int(0));
    return tnp_where_scalar_self(zero, tn_float(limit),
                                 tnp_div(f, tnp_where_scalar_self(zero, tn_int(1), x)));
}
static void bessel_give(tn_gradient *g, tn_tensor *slope) {
    tn_give(g, 0, tnp_mul(g->incoming[0], slope));
}

/* --- I ---------------------------------------------------------------------------------------- */

static void i0_grad(tn_gradient *g) { bessel_give(g, tnp_special_i1(g->in[0])); }
/* The modified Bessel function of the first kind of order 0. */
TN_OPERATOR(i0, "i0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_i0(x)", .python = "special.i0"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(f, V_I0(self)),
            .grad = i0_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* i1e - sgn(x) i0e */
static void special_i0e_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0];
    bessel_give(g, tnp_sub(tnp_special_i1e(x), tnp_mul(tnp_sgn(x), g->out[0]), 1));
}
/* i0(self) e^-|self|. */
TN_OPERATOR(special_i0e, "special_i0e(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_i0e(x)"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_I0E(self)),
            .grad = special_i0e_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* i0 - i1 / x */
static void special_i1_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0];
    bessel_give(g, tnp_sub(tnp_i0(x), bessel_over(g->out[0], x, 0.5), 1));
}
/* The modified Bessel function of the first kind of order 1. */
TN_OPERATOR(special_i1, "special_i1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_i1(x)"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_I1(self)),
            .grad = special_i1_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* i0e - i1e / x - sgn(x) i1e */
static void special_i1e_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *y = g->out[0];
    bessel_give(g, tnp_sub(tnp_sub(tnp_special_i0e(x), bessel_over(y, x, 0.5), 1),
                           tnp_mul(tnp_sgn(x), y), 1));
}
/* special_i1(self) e^-|self|. */
TN_OPERATOR(special_i1e, "special_i1e(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_i1e(x)"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_I1E(self)),
            .grad = special_i1e_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static bool special_modified_bessel_i0_compose(tn_frame *f) {
    f->out[0] = tnp_i0(f->in[0]);
    return f->out[0] != NULL;
}
/* i0, by another name. */
TN_OPERATOR(special_modified_bessel_i0, "special_modified_bessel_i0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_modified_bessel_i0(x)"),
            .forms = TN_OUT, .autocast = TN_UNCAST, .compose = special_modified_bessel_i0_compose,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64",
            .node = "SpecialModifiedBesselI0Backward0")

static bool special_modified_bessel_i1_compose(tn_frame *f) {
    f->out[0] = tnp_special_i1(f->in[0]);
    return f->out[0] != NULL;
}
/* special_i1, by another name. */
TN_OPERATOR(special_modified_bessel_i1, "special_modified_bessel_i1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_modified_bessel_i1(x)"),
            .forms = TN_OUT, .autocast = TN_UNCAST, .compose = special_modified_bessel_i1_compose,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64",
            .node = "SpecialModifiedBesselI1Backward0")

/* --- K ---------------------------------------------------------------------------------------- */

static void special_modified_bessel_k0_grad(tn_gradient *g) {
    bessel_give(g, tnp_neg(tnp_special_modified_bessel_k1(g->in[0])));
}
/* The modified Bessel function of the second kind of order 0; infinite at 0, NaN below. */
TN_OPERATOR(special_modified_bessel_k0, "special_modified_bessel_k0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_modified_bessel_k0(x)"),
            .forms = TN_OUT, .needs = "self:self", TN_POINTWISE(f, V_K0(self)),
            .grad = special_modified_bessel_k0_grad, .domain = "self:0.2..4",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* -k0 - k1 / x */
static void special_modified_bessel_k1_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0];
    bessel_give(g, tnp_neg(tnp_add(tnp_special_modified_bessel_k0(x), tnp_div(g->out[0], x), 1)));
}
/* The modified Bessel function of the second kind of order 1; infinite at 0, NaN below. */
TN_OPERATOR(special_modified_bessel_k1, "special_modified_bessel_k1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_modified_bessel_k1(x)"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_K1(self)),
            .grad = special_modified_bessel_k1_grad, .domain = "self:0.2..4",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* special_modified_bessel_k0(self) e^self. It has no gradient, as in torch. */
TN_OPERATOR(special_scaled_modified_bessel_k0,
            "special_scaled_modified_bessel_k0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating",
                   .example = "tn_special_scaled_modified_bessel_k0(x)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_K0E(self)), .domain = "self:0.2..4",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* special_modified_bessel_k1(self) e^self. It has no gradient, as in torch. */
TN_OPERATOR(special_scaled_modified_bessel_k1,
            "special_scaled_modified_bessel_k1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating",
                   .example = "tn_special_scaled_modified_bessel_k1(x)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_K1E(self)), .domain = "self:0.2..4",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* --- J and Y ---------------------------------------------------------------------------------- */

static void special_bessel_j0_grad(tn_gradient *g) {
    bessel_give(g, tnp_neg(tnp_special_bessel_j1(g->in[0])));
}
/* The Bessel function of the first kind of order 0. */
TN_OPERATOR(special_bessel_j0, "special_bessel_j0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_bessel_j0(x)"),
            .forms = TN_OUT, .needs = "self:self", TN_POINTWISE(f, V_J0(self)),
            .grad = special_bessel_j0_grad, .domain = "self:0.2..1.8",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* j0 - j1 / x */
static void special_bessel_j1_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0];
    bessel_give(g, tnp_sub(tnp_special_bessel_j0(x), bessel_over(g->out[0], x, 0.5), 1));
}
/* The Bessel function of the first kind of order 1. */
TN_OPERATOR(special_bessel_j1, "special_bessel_j1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_bessel_j1(x)"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_J1(self)),
            .grad = special_bessel_j1_grad, .domain = "self:0.2..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void special_bessel_y0_grad(tn_gradient *g) {
    bessel_give(g, tnp_neg(tnp_special_bessel_y1(g->in[0])));
}
/* The Bessel function of the second kind of order 0; -inf at 0, NaN below. */
TN_OPERATOR(special_bessel_y0, "special_bessel_y0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_bessel_y0(x)",
                   .differs = "grad: torch's y1 has 12 digits, this one 15"),
            .forms = TN_OUT, .needs = "self:self", TN_POINTWISE(f, V_Y0(self)),
            .grad = special_bessel_y0_grad, .domain = "self:1.5..2.5",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* y0 - y1 / x; at 0 both are infinite, and so is the slope */
static void special_bessel_y1_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *slope;
    slope = tnp_sub(tnp_special_bessel_y0(x), tnp_div(g->out[0], x), 1);
    bessel_give(g, tnp_where_scalar_self(tnp_eq_scalar(x, tn_int(0)), tn_float(INFINITY), slope));
}
/* The Bessel function of the second kind of order 1; -inf at 0, NaN below. */
TN_OPERATOR(special_bessel_y1, "special_bessel_y1(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_bessel_y1(x)",
                   .differs = "grad: torch's y0 has 12 digits, this one 15"),
            .forms = TN_OUT, .needs = "self:self,result", TN_POINTWISE(f, V_Y1(self)),
            .grad = special_bessel_y1_grad, .domain = "self:0.3..1.5",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* sin(self) / self, 1 at 0. It has no gradient, as in torch. */
TN_OPERATOR(special_spherical_bessel_j0, "special_spherical_bessel_j0(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating",
                   .example = "tn_special_spherical_bessel_j0(x)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_SPHERICAL_J0(self)), .domain = "self:0.2..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* --- Ai --------------------------------------------------------------------------------------- */

/* Airy's function Ai. It has no gradient, as in torch. */
TN_OPERATOR(special_airy_ai, "special_airy_ai(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_airy_ai(x)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_AIRY_AI(self)), .domain = "self:-1.5..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")
