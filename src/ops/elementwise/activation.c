/* activation.c - the activations of neural networks. Their gradients are rows as well, so that
 * each is one loop. */
#include "../../autograd/give.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* --- tanh and sigmoid ------------------------------------------------------------------------- */

static void tanh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_tanh_backward(g->incoming[0], g->out[0]));
}
/* The hyperbolic tangent. */
TN_OPERATOR(tanh, "tanh(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_tanh(x)",
                   .python = "nn.functional.tanh"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result", TN_POINTWISE(Fc, V_TANH(self)),
            .grad = tanh_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* of d (1 - y^2): by d once more; by y -2 d y */
static void tanh_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    tn_tensor *y = tni_conj_of(g->in[1]);
    if (g->want[0]) tn_give(g, 0, tnp_tanh_backward(d, y));
    if (g->want[1])
        tn_give(g, 1, tnp_mul(tni_conj_of(d), tnp_mul_scalar(tnp_mul(g->in[0], y), tn_int(-2))));
}
/* grad_output * (1 - output^2); for complex numbers the bracket is conjugated. */
TN_OPERATOR(tanh_backward, "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_tanh_backward(d, y)"),
            .needs = "grad_output:output output:grad_output,output",
            TN_POINTWISE(Fc, V_MUL(grad_output, V_CONJ(V_FNMA(output, output, V_ONE)))),
            .grad = tanh_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

static void sigmoid_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_sigmoid_backward(g->incoming[0], g->out[0]));
}
/* 1 / (1 + e^-self). */
TN_OPERATOR(sigmoid, "sigmoid(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sigmoid(x)",
                   .python = "nn.functional.sigmoid special.expit"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result", TN_POINTWISE(Fc, V_SIGMOID(self)),
            .grad = sigmoid_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* of d (1 - y) y: by d once more; by y d (1 - 2 y) */
static void sigmoid_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *y = tni_conj_of(g->in[1]);
    if (g->want[0]) tn_give(g, 0, tnp_sigmoid_backward(d, y));
    if (!g->want[1]) return;
    y = tnp_rsub_scalar(tnp_mul_scalar(y, tn_int(2)), tn_int(1), 1);
    tn_give(g, 1, tnp_mul(tni_conj_of(d), tnp_mul(g->in[0], y)));
}
/* grad_output * (output * (1 - output)); for complex numbers the outer bracket is conjugated. */
TN_OPERATOR(sigmoid_backward, "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_sigmoid_backward(d, y)"),
            .needs = "grad_output:output output:grad_output,output",
            TN_POINTWISE(Fc, V_MUL(grad_output, V_CONJ(V_MUL(V_SUB(V_ONE, output), output)))),
            .grad = sigmoid_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

/* --- rectifiers ------------------------------------------------------------------------------- */

/* The result is above 0 where self is, so self need not be kept; a NaN passes the gradient. */
static void relu_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->out[0], tn_int(0)));
}
/* self where it is above 0, else 0; a NaN stays. The gradient at 0 is 0. */
TN_OPERATOR(relu, "relu(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_relu(x)",
                   .python = "nn.functional.relu_"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result",
            TN_POINTWISE(FI, V_SEL(V_LT(self, V_ZERO()), V_ZERO(), self)), .grad = relu_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (4):u8")

static void threshold_grad(tn_gradient *g) {
    TN_ARGS(threshold, a, g);
    tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->in[0], a->threshold));
}
/* self where it is above threshold, else value. For integers both numbers lose their fraction. */
TN_OPERATOR(threshold, "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_threshold(x, 0.1, 20)",
                   .python = "nn.functional.threshold_"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(FI, V_SEL(V_LE(self, threshold), value, self), TN_CUTS_NUMBERS),
            .grad = threshold_grad,
            .sample = "(35) 0.1 3.5 | (3,5) 0 1 | () 1 0 | (0,2) 0 0 | (9):i64 1 7")

/* Linear in grad_output, and a step in self. */
static void threshold_backward_grad(tn_gradient *g) {
    TN_ARGS(threshold_backward, a, g);
    if (g->want[0]) tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->in[1], a->threshold));
    tni_give_zeros(g, 1);
}
/* grad_output where self is above threshold, else 0. */
TN_OPERATOR(threshold_backward,
            "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_threshold_backward(d, x, 0)"),
            .needs = "grad_output:self",
            TN_POINTWISE(FI, V_SEL(V_LE(self, threshold), V_ZERO(), grad_output), TN_CUTS_NUMBERS),
            .grad = threshold_backward_grad, .sample = "(35) (35) 0 | () () 0.5 | (0) (0) 0")

static void leaky_relu_grad(tn_gradient *g) {
    TN_ARGS(leaky_relu, a, g);
    tn_give(g, 0,
            tnp_leaky_relu_backward(g->incoming[0], g->in[0], tn_float(a->negative_slope), false));
}
/* self where it is above 0, else negative_slope * self. */
TN_OPERATOR(leaky_relu, "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating",
                   .example = "tn_leaky_relu(x, .negative_slope = 0.1)",
                   .python = "nn.functional.leaky_relu_"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_SEL(V_GT(self, V_ZERO()), self, V_MUL(self, negative_slope))),
            .grad = leaky_relu_grad, .sample = "(35) | (3,5) negative_slope=0.2 | () | (0,2)")

/* Linear in grad_output, and a step in self. */
static void leaky_relu_backward_grad(tn_gradient *g) {
    TN_ARGS(leaky_relu_backward, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_leaky_relu_backward(g->incoming[0], g->in[1], a->negative_slope,
                                        a->self_is_result));
    tni_give_zeros(g, 1);
}
/* grad_output where self is above 0, else negative_slope * grad_output. */
TN_OPERATOR(
    leaky_relu_backward,
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
    "self_is_result) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_leaky_relu_backward(d, x, 0.1, false)"),
    .needs = "grad_output:self",
    TN_POINTWISE(F, V_SEL(V_GT(self, V_ZERO()), grad_output, V_MUL(grad_output, negative_slope))),
    .grad = leaky_relu_backward_grad,
    .sample = "(35) (35) 0.1 False | () () 0.5 False | (0) (0) 0.1 False")

/* scale above 0, else scale input_scale alpha e^(x input_scale); x is cut at 0 first, as an
 * infinity of the unused branch would become NaN in the second gradient */
static void elu_grad(tn_gradient *g) {
    TN_ARGS(elu, a, g);
    tn_tensor *x = g->in[0], *d = g->incoming[0];
    tn_tensor *left =
        tni_times(tnp_exp(tni_times(tnp_clamp_max_scalar(x, tn_int(0)), a->input_scale)),
                  a->scale * a->input_scale * a->alpha);
    tn_give(g, 0, tnp_where(tnp_le_scalar(x, tn_int(0)), tnp_mul(d, left), tni_times(d, a->scale)));
}
/* scale * self where self is above 0, else scale * alpha * (e^(self * input_scale) - 1). */
TN_OPERATOR(elu, "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_elu(x, .alpha = 1)",
                   .python = "nn.functional.elu_"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_MUL(scale, V_SEL(V_GT(self, V_ZERO()), self,
                                               V_MUL(alpha, V_EXPM1(V_MUL(self, input_scale)))))),
            .grad = elu_grad,
            .sample = "(35) | (3,5) alpha=0.7 | () alpha=1.5 scale=1.1 input_scale=0.8 | (0,2)")

/* 0 at and beyond both bounds; a NaN is not beyond, so it passes. */
static void hardtanh_grad(tn_gradient *g) {
    TN_ARGS(hardtanh, a, g);
    tn_tensor *x = g->in[0], *out;
    out = tnp_logical_or(tnp_le_scalar(x, tn_float(a->min_val)),
                         tnp_ge_scalar(x, tn_float(a->max_val)));
    tni_give_flat(g, 0, tnp_where_scalar_self(out, tn_int(0), g->incoming[0]));
}
/* self limited to [min_val, max_val]. For integers both numbers lose their fraction. The gradient
 * is 0 at both bounds and passes at NaN. */
TN_OPERATOR(hardtanh, "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_hardtanh(x, .min_val = 0, .max_val = 6)",
                   .python = "nn.functional.hardtanh_"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(FI, V_MINIMUM(V_MAXIMUM(self, min_val), max_val),
                         TN_CUTS_NUMBERS | TN_NO_NEGATIVE_LIMITS),
            .grad = hardtanh_grad,
            .sample = "(35) | (3,5) 0 6 | () -0.5 0.5 | (0,2) | (9):i64 | (9):i32 -1.5 2.5")

/* What is nearer to 0 than lambd gives a constant 0; elsewhere the slope is 1. */
static void shrink_give(tn_gradient *g, double lambd) {
    tn_tensor *x = g->in[0], *in;
    in = tnp_logical_and(tnp_ge_scalar(x, tn_float(-lambd)), tnp_le_scalar(x, tn_float(lambd)));
    tni_give_flat(g, 0, tnp_where_scalar_self(in, tn_int(0), g->incoming[0]));
}
static void hardshrink_grad(tn_gradient *g) {
    TN_ARGS(hardshrink, a, g);
    shrink_give(g, a->lambd);
}
/* 0 where self is in [-lambd, lambd], else self. */
TN_OPERATOR(hardshrink, "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_hardshrink(x, .lambd = 1)"),
            .forms = TN_OUT, .needs = "self:self",
            TN_POINTWISE(F,
                         V_SEL(M_AND(V_GE(self, V_NEG(lambd)), V_LE(self, lambd)), V_ZERO(), self),
                         TN_FLOATS_ONLY),
            .grad = hardshrink_grad, .sample = "(35) | (3,5) 1 | () | (0,2)")

static void softshrink_grad(tn_gradient *g) {
    TN_ARGS(softshrink, a, g);
    shrink_give(g, a->lambd);
}
/* self moved towards 0 by lambd, which is not negative; 0 where |self| is at most lambd. */
TN_OPERATOR(softshrink, "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_softshrink(x, .lambd = 1)"),
            .forms = TN_OUT, .needs = "self:self",
            TN_POINTWISE(F,
                         V_SEL(V_GT(self, lambd), V_SUB(self, lambd),
                               V_SEL(V_LT(self, V_NEG(lambd)), V_ADD(self, lambd),
                                     V_MUL(self, V_ZERO()))),
                         TN_FLOATS_ONLY | TN_NUMBERS_FROM_0),
            .grad = softshrink_grad, .sample = "(35) | (3,5) 1 | () | (0,2)")

/* self: d above 0, else w d; weight: x d at or below 0, which the engine sums to weight's shape */
static void prelu_kernel_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *w = g->in[1], *d = g->incoming[0], *above;
    above = tnp_gt_scalar(x, tn_int(0));
    if (g->want[0]) tni_give_flat(g, 0, tnp_where(above, d, tnp_mul(d, w)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_where_scalar_self(above, tn_int(0), x)));
}
/* self where it is above 0, else weight * self. */
TN_OPERATOR(prelu_kernel, "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_prelu_kernel(x, w)"),
            .needs = "self:self,weight weight:self",
            TN_POINTWISE(F, V_SEL(V_GT(self, V_ZERO()), self, V_MUL(weight, self)), TN_FLOATS_ONLY),
            .grad = prelu_kernel_grad,
            .sample = "(35) () | (2,3,5) (3,1) | () () | (0,3) (3) | (9) (9)")

static bool prelu_fits(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1];
    int64_t channels = x->ndim > 1 ? x->size[1] : 1;
    if (x->dtype != w->dtype)
        return tn_fail(f, TN_TYPE, "prelu: Type promoting not supported. Got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(w->dtype)->text);
    if (w->ndim > 1)
        return tn_fail(f, TN_INVALID,
                       "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d",
                       w->ndim);
    if (w->numel == 1) return true;
    if (!x->ndim) return tn_fail(f, TN_INVALID, "Not allow zero-dim input tensor.");
    return w->numel == channels ||
           tn_fail(f, TN_INVALID,
                   "Mismatch of parameter numbers and input channel size. Found parameter numbers "
                   "= %lld and channel size = %lld.",
                   (long long)w->numel, (long long)channels);
}
static bool prelu_compose(tn_frame *f) {
    int64_t wide[TN_MAX_DIMS];
    int n = f->in[0]->ndim;
    if (!prelu_fits(f)) return false;
    /* As many dimensions as self, the channels in their place. */
    for (int i = 0; i < n; i++) wide[i] = i == (n > 1) ? f->in[1]->numel : 1;
    f->out[0] = tnp_prelu_kernel(f->in[0], tnp_reshape(f->in[1], tni_ints(wide, n)));
    return f->out[0] != NULL;
}
/* self where it is above 0, else weight * self. weight has one element, or one for each channel;
 * the channels are dimension 1, and a vector is one channel. */
TN_OPERATOR(prelu, "prelu(Tensor self, Tensor weight) -> Tensor",
            TN_DOC(.shapes = "(N, C, *), () or (1) or (C) -> (N, C, *), floating",
                   .example = "tn_prelu(x, w)", .python = "nn.functional.prelu"),
            .autocast = TN_LOWER, .compose = prelu_compose,
            .sample = "(2,3,5) (3) | (35) (1) | () () | (0,3) (3) | (3,4) () | (2,0) (0)")

/* 0 up to -3, then x / 3 + 1 / 2, then 1 from 3 on */
static void hardswish_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *d = g->incoming[0], *slope, *rest;
    slope = tnp_add_scalar(tnp_div_scalar(x, tn_int(3)), tn_float(0.5), 1);
    rest = tnp_where(tnp_lt_scalar(x, tn_int(3)), tnp_mul(d, slope), d);
    tn_give(g, 0, tnp_where_scalar_self(tnp_le_scalar(x, tn_int(-3)), tn_int(0), rest));
}
/* self * clamp(self + 3, 0, 6) / 6. */
TN_OPERATOR(hardswish, "hardswish(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_hardswish(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F,
                         V_DIV(V_MUL(self, V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, V_SET(3))))),
                               V_SET(6)),
                         TN_FLOATS_ONLY),
            .grad = hardswish_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* --- smooth activations ----------------------------------------------------------------------- */

static void silu_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_silu_backward(g->incoming[0], tni_conj_of(g->in[0])));
}
/* self * sigmoid(self). */
TN_OPERATOR(silu, "silu(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_silu(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_MUL(self, V_SIGMOID(self))), .grad = silu_grad,
            .domain = "self:-0.9..0.9", .sample = "(35) | (3,5) | () | (0,2)")

/* by self: s (1 - s) (2 + x (1 - 2 s)), where s = sigmoid(x) */
static void silu_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *x = g->in[1], *s = tnp_sigmoid(x), *slope;
    if (g->want[0]) tn_give(g, 0, tnp_silu_backward(d, tni_conj_of(x)));
    if (!g->want[1]) return;
    slope = tnp_add_scalar(tnp_mul(x, tnp_rsub_scalar(tnp_mul_scalar(s, tn_int(2)), tn_int(1), 1)),
                           tn_int(2), 1);
    slope = tnp_mul(tnp_mul(s, tnp_rsub_scalar(s, tn_int(1), 1)), slope);
    tn_give(g, 1, tnp_mul(tnp_mul(d, tni_conj_of(g->in[0])), tni_conj_of(slope)));
}
/* grad_output * s * (1 + self * (1 - s)), where s = sigmoid(self). */
TN_OPERATOR(silu_backward, "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_silu_backward(d, x)"),
            .needs = "grad_output:self self:grad_output,self",
            TN_POINTWISE(Fc, V_MUL(grad_output,
                                   V_MUL(V_SIGMOID(self),
                                         V_FMA(self, V_SUB(V_ONE, V_SIGMOID(self)), V_ONE)))),
            .grad = silu_backward_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) (35) | () () | (0) (0)")

/* Phi(x) = (1 + erf(x / sqrt 2)) / 2 and phi(x) = e^(-x^2 / 2) / sqrt(2 pi) */
static void gelu_erf_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_gelu_erf_backward(g->incoming[0], g->in[0]));
}
/* self * Phi(self), where Phi is the normal distribution: gelu without approximation. */
TN_OPERATOR(gelu_erf, "gelu_erf(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_gelu_erf(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_MUL(V_MUL(V_SET(0.5), self),
                                  V_ADD(V_ONE, V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))),
            .grad = gelu_erf_grad, .sample = "(35) | (3,5) | () | (0,2)", .node = "GeluBackward0")

/* by self: d/dx (Phi + x phi) = phi (2 - x^2), as phi' = -x phi */
static void gelu_erf_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *x = g->in[1], *sq;
    if (g->want[0]) tn_give(g, 0, tnp_gelu_erf_backward(d, x));
    if (!g->want[1]) return;
    sq = tnp_square(x);
    d = tnp_mul(tnp_mul(d, g->in[0]),
                tni_times(tnp_exp(tni_times(sq, -0.5)), 0.39894228040143267794));
    tn_give(g, 1, tnp_mul(d, tnp_rsub_scalar(sq, tn_int(2), 1)));
}
/* grad_output * (Phi(self) + self * phi(self)): phi is the density of the
 * normal distribution Phi. */
TN_OPERATOR(
    gelu_erf_backward, "gelu_erf_backward(Tensor grad_output, Tensor self) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> (*)", .example = "tn_gelu_erf_backward(d, x)"),
    .needs = "grad_output:self self:grad_output,self",
    TN_POINTWISE(F, V_MUL(grad_output,
                          V_FMA(V_MUL(self, V_SET(0.39894228040143267794)),
                                V_EXP(V_MUL(V_SET(-0.5), V_MUL(self, self))),
                                V_MUL(V_SET(0.5),
                                      V_ADD(V_ONE,
                                            V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))))),
    .grad = gelu_erf_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

/* sqrt(2 / pi) (x + cubic x^3): Hendrycks and Gimpel 2016, "Gaussian Error Linear Units" */
static tn_tensor *gelu_inner(tn_tensor *x, double cubic) {
    return tni_times(tnp_mul(x, tnp_add_scalar(tni_times(tnp_square(x), cubic), tn_int(1), 1)),
                     0.79788456080286535588);
}
/* (1 + t) / 2 + x (1 - t^2) u' / 2, where t = tanh(u), u = gelu_inner(x) */
static void gelu_tanh_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *t = tnp_tanh(gelu_inner(x, 0.044715));
    tn_tensor *slope =
        tni_times(tnp_add_scalar(tni_times(tnp_square(x), 3 * 0.044715), tn_int(1), 1),
                  0.79788456080286535588);
    tn_tensor *second = tnp_mul(tnp_mul(x, tnp_rsub_scalar(tnp_square(t), tn_int(1), 1)), slope);
    tn_tensor *first = tnp_add_scalar(t, tn_int(1), 1);
    tn_give(g, 0, tnp_mul(g->incoming[0], tni_times(tnp_add(first, second, 1), 0.5)));
}
/* self * (1 + tanh(sqrt(2 / pi) (self + 0.044715 self^3))) / 2: gelu approximated by tanh. */
TN_OPERATOR(gelu_tanh, "gelu_tanh(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_gelu_tanh(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F,
                         V_MUL(V_MUL(V_SET(0.5), self),
                               V_ADD(V_ONE, V_TANH(V_MUL(V_MUL(V_SET(0.79788456080286535588), self),
                                                         V_FMA(V_MUL(V_SET(0.044715), self), self,
                                                               V_ONE)))))),
            .grad = gelu_tanh_grad, .sample = "(35) | (3,5) | () | (0,2)", .node = "GeluBackward0")

static bool gelu_compose(tn_frame *f) {
    TN_ARGS(gelu, a, f);
    f->out[0] =
        a->approximate == TN_APPROXIMATE_TANH ? tnp_gelu_tanh(f->in[0]) : tnp_gelu_erf(f->in[0]);
    return f->out[0] != NULL;
}
/* self * Phi(self), where Phi is the normal distribution, or its approximation by tanh. */
TN_OPERATOR(gelu, "gelu(Tensor self, *, Approximate approximate=none) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating",
                   .example = "tn_gelu(x, .approximate = TN_APPROXIMATE_TANH)",
                   .python = "nn.functional.gelu"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_UNCAST, .compose = gelu_compose,
            .sample = "(35) | (3,5) approximate=tanh | () | (0,2)")

/* sigmoid(beta x); 1 where the row is the identity */
static void softplus_grad(tn_gradient *g) {
    TN_ARGS(softplus, a, g);
    tn_tensor *z = tni_times(g->in[0], a->beta), *d = g->incoming[0];
    tn_give(g, 0,
            tnp_where(tnp_gt_scalar(z, tn_float(a->threshold)), d, tnp_mul(d, tnp_sigmoid(z))));
}
/* log(1 + e^(beta * self)) / beta; self where beta * self exceeds threshold. */
TN_OPERATOR(softplus, "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_softplus(x)",
                   .python = "nn.functional.softplus"),
            .forms = TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(F, V_SEL(V_GT(V_MUL(self, beta), threshold), self,
                                  V_DIV(V_LOG1P(V_EXP(V_MUL(self, beta))), beta))),
            .grad = softplus_grad,
            .sample = "(35) | (3,5) beta=2 | () beta=1 threshold=0.5 | (0,2)")

/* d / (1 + |x|)^2; of complex numbers d / (1 + |x|) - sgn(x) Re(d x*) / (1 + |x|)^2 */
static void softsign_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *d = g->incoming[0], *turned;
    tn_tensor *below = tnp_add_scalar(tnp_abs(x), tn_int(1), 1), *square = tnp_square(below);
    if (!tni_is_complex(x->dtype)) {
        tn_give(g, 0, tnp_div(d, square));
        return;
    }
    turned = tnp_mul(tnp_sgn(x), tnp_div(tnp_real(tnp_mul(d, tni_conj_of(x))), square));
    tn_give(g, 0, tnp_sub(tnp_div(d, below), turned, 1));
}
/* self / (1 + |self|). */
TN_OPERATOR(softsign, "softsign(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_softsign(x)",
                   .python = "nn.functional.softsign"),
            .needs = "self:self", TN_POINTWISE(Fc, V_DIV(self, V_ADD(V_ONE, V_ABS(self)))),
            .grad = softsign_grad, .sample = "(35) | (3,5) | () | (0,2)")
