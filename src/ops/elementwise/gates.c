/* gates.c - activations that modern networks put where relu was: mish, glu, hardsigmoid,
 * log_sigmoid; and celu, selu, tanhshrink, which are other rows with numbers chosen. */
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../autograd/give.h"
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* --- one loop each ---------------------------------------------------------------------------- */

/* 1/6 between -3 and 3, else 0, also at NaN */
static void hardsigmoid_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *in;
    in = tnp_logical_and(tnp_gt_scalar(x, tn_int(-3)), tnp_lt_scalar(x, tn_int(3)));
    tn_give(g, 0, tni_where_or_zero(in, tni_times(g->incoming[0], 1.0 / 6)));
}
/* clamp(self + 3, 0, 6) / 6. */
TN_OPERATOR(hardsigmoid, "hardsigmoid(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_hardsigmoid(x)",
                   .differs = "grad: torch's 1/6 is rounded to float32"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F,
                         V_DIV(V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, V_SET(3)))), V_SET(6)),
                         TN_FLOATS_ONLY),
            .grad = hardsigmoid_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* t + x sigmoid(x) (1 - t^2), where t = tanh(softplus(x)) */
static void mish_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *t = tnp_tanh(tnp_softplus(x, 1, 20)), *slope;
    slope = tnp_mul(tnp_mul(x, tnp_sigmoid(x)), tnp_rsub_scalar(tnp_square(t), tn_int(1), 1));
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_add(t, slope, 1)));
}
/* self * tanh(log(1 + e^self)).
 * D. Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019. */
TN_OPERATOR(mish, "mish(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_mish(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_MUL(self, V_TANH(V_LOG1P(V_EXP(self)))), TN_FLOATS_ONLY),
            .grad = mish_grad, .sample = "(35) | (3,5) | () | (0,2)")

static void log_sigmoid_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_sigmoid(tnp_neg(g->in[0]))));
}
/* log(1 / (1 + e^-self)), without overflow: the exponential is of -|self|. */
TN_OPERATOR(log_sigmoid, "log_sigmoid(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_log_sigmoid(x)",
                   .python = "nn.functional.logsigmoid"),
            .forms = TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_SUB(V_MINIMUM(self, V_ZERO()), V_LOG1P(V_EXP(V_NEG(V_ABS(self))))),
                         TN_FLOATS_ONLY),
            .grad = log_sigmoid_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* self: d s; gate: d self s (1 - s), where s = sigmoid(gate) */
static void glu_gate_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *s = tnp_sigmoid(g->in[1]);
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, s));
    if (g->want[1]) tn_give(g, 1, tnp_sigmoid_backward(tnp_mul(d, g->in[0]), s));
}
/* self * sigmoid(gate). */
TN_OPERATOR(glu_gate, "_glu_gate(Tensor self, Tensor gate) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> (*), floating", .example = "tn_glu_gate(x, y)"),
            .needs = "self:gate gate:self,gate",
            TN_POINTWISE(F, V_MUL(self, V_SIGMOID(gate)), TN_FLOATS_ONLY), .grad = glu_gate_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () () | (0) (0)")

/* --- composed --------------------------------------------------------------------------------- */

static bool glu_compose(tn_frame *f) {
    TN_ARGS(glu, a, f);
    tn_tensor *x = f->in[0];
    int64_t n;
    int at;
    if (!x->ndim)
        return tn_fail(f, TN_INVALID,
                       "glu does not support scalars because halving size must be even");
    if (!tni_dim_of(f, x->ndim, a->dim, &at)) return false;
    n = x->size[at];
    if (n % 2)
        return tn_fail(f, TN_INVALID,
                       "Halving dimension must be even, but dimension %d is size %lld", at,
                       (long long)n);
    f->out[0] = tnp_glu_gate(tnp_narrow(x, at, 0, n / 2), tnp_narrow(x, at, n / 2, n / 2));
    return f->out[0] != NULL;
}
/* The first half of self along dim, times the sigmoid of the second.
 * Y. Dauphin et al., Language Modeling with Gated Convolutional Networks, 2017. */
TN_OPERATOR(glu, "glu(Tensor self, int dim=-1) -> Tensor",
            TN_DOC(.shapes = "(*, 2 n, *) -> (*, n, *), floating", .example = "tn_glu(x)",
                   .python = "nn.functional.glu"),
            .forms = TN_OUT, .autocast = TN_UNCAST, .compose = glu_compose,
            .sample = "(70) | (4,5) 0 | (3,6) | (2,4,3) 1 | (0,2)", .node = "GluBackward0")

static bool celu_compose(tn_frame *f) {
    TN_ARGS(celu, a, f);
    if (a->alpha == 0)
        return tn_fail(f, TN_INVALID, "ZeroDivisionError: alpha cannot be 0 for CELU");
    return (f->out[0] = tnp_elu(f->in[0], a->alpha, 1, 1 / a->alpha)) != NULL;
}
/* max(0, self) + min(0, alpha * (e^(self / alpha) - 1)).
 * J. Barron, Continuously Differentiable Exponential Linear Units, 2017. */
TN_OPERATOR(celu, "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_celu(x, .alpha = 2)",
                   .differs = "grad: torch rounds 1 / alpha to float32",
                   .python = "nn.functional.celu_"),
            .forms = TN_INPLACE, .autocast = TN_UNCAST, .compose = celu_compose,
            .sample = "(35) | (3,5) 0.7 | () 1.5 | (0,2)", .node = "CeluBackward0")

static bool selu_compose(tn_frame *f) {
    f->out[0] =
        tnp_elu(f->in[0], 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
    return f->out[0] != NULL;
}
/* elu with the two numbers for which mean 0 and variance 1 are kept from layer to layer.
 * G. Klambauer et al., Self-Normalizing Neural Networks, 2017. */
TN_OPERATOR(selu, "selu(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_selu(x)",
                   .python = "nn.functional.selu_"),
            .forms = TN_INPLACE, .compose = selu_compose, .sample = "(35) | (3,5) | () | (0,2)",
            .node = "EluBackward0")

static bool tanhshrink_compose(tn_frame *f) {
    return (f->out[0] = tnp_sub(f->in[0], tnp_tanh(f->in[0]), 1)) != NULL;
}
/* self - tanh(self). */
TN_OPERATOR(tanhshrink, "tanhshrink(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_tanhshrink(x)",
                   .python = "nn.functional.tanhshrink"),
            .compose = tanhshrink_compose, .domain = "self:0.5..2",
            .sample = "(35) | (3,5) | () | (0,2)")
