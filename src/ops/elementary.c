/* elementary.c - exponentials, logarithms, circular functions, and the activations of neural
 * networks. The functions are those of simd/math.h; gradients of activations are rows, too, so that
 * a backward pass is one loop. */
#include "drive.h"
#include "../gen/rows.h"

static tn_tensor *el_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }
static tn_tensor *el_times(tn_tensor *t, double by) { return tnp_mul_scalar(t, tn_float(by)); }
/* What is linear in pieces: its slope is constant on each. */
static void el_give_zeros(tn_gradient *g, int i) {
    if (g->want[i]) tn_give(g, i, tnp_zeros_like(g->incoming[0], TN_NO_DTYPE, TN_NO_DEVICE));
}

/* --- exponentials and logarithms -------------------------------------------------------------- */

static void exp_grad(tn_gradient *g) { tn_give(g, 0, tnp_mul(g->incoming[0], el_conj(g->out[0]))); }
/* e^self.   (*) -> (*), floating   tn_exp(x) */
TN_OPERATOR(exp, "exp(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:result",
            TN_POINTWISE(FC, V_EXP(self)), .grad = exp_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void expm1_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_add_scalar(el_conj(g->out[0]), tn_int(1), 1)));
}
/* e^self - 1, accurate near 0.   (*) -> (*), floating   tn_expm1(x) */
TN_OPERATOR(expm1, "expm1(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(Fc, V_EXPM1(self)), .grad = expm1_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void log_grad(tn_gradient *g) { tn_give(g, 0, tnp_div(g->incoming[0], el_conj(g->in[0]))); }
/* The natural logarithm.   (*) -> (*), floating   tn_log(x) */
TN_OPERATOR(log, "log(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG(self)), .grad = log_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

static void log1p_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], tnp_add_scalar(el_conj(g->in[0]), tn_int(1), 1)));
}
/* log(1 + self), accurate near 0.   (*) -> (*), floating   tn_log1p(x) */
TN_OPERATOR(log1p, "log1p(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(Fc, V_LOG1P(self)), .grad = log1p_grad,
            .domain = "self:-0.7..2", .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

static void log2_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], el_times(el_conj(g->in[0]), 0.69314718055994530942)));
}
/* The logarithm to base 2, exact for powers of 2.   (*) -> (*), floating   tn_log2(x) */
TN_OPERATOR(log2, "log2(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_LOG2(self)), .grad = log2_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

static void log10_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], el_times(el_conj(g->in[0]), 2.30258509299404568402)));
}
/* The logarithm to base 10.   (*) -> (*), floating   tn_log10(x) */
TN_OPERATOR(log10, "log10(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(Fc, V_LOG10(self)), .grad = log10_grad,
            .domain = "self:0.2..3", .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* --- circular and hyperbolic functions -------------------------------------------------------- */

static void sin_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], el_conj(tnp_cos(g->in[0]))));
}
/* The sine of self in radians, of any size.   (*) -> (*), floating   tn_sin(x) */
TN_OPERATOR(sin, "sin(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_SIN(self)), .grad = sin_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void cos_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], el_conj(tnp_sin(g->in[0])))));
}
/* The cosine of self in radians, of any size.   (*) -> (*), floating   tn_cos(x) */
TN_OPERATOR(cos, "cos(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_COS(self)), .grad = cos_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void tan_grad(tn_gradient *g) { /* 1 + tan^2 */
    tn_give(g, 0,
            tnp_mul(g->incoming[0], tnp_add_scalar(tnp_square(el_conj(g->out[0])), tn_int(1), 1)));
}
/* The tangent of self in radians.   (*) -> (*), floating   tn_tan(x) */
TN_OPERATOR(tan, "tan(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:result",
            TN_POINTWISE(Fc, V_TAN(self)), .grad = tan_grad, .domain = "self:-1.2..1.2",
            .sample = "(35) | (3,5) | () | (0,2)")

static tn_tensor *el_root(tn_tensor *x) { /* 1 / sqrt(1 - x^2), conjugate */
    return tnp_rsqrt(tnp_rsub_scalar(tnp_square(el_conj(x)), tn_int(1), 1));
}
static void asin_grad(tn_gradient *g) { tn_give(g, 0, tnp_mul(g->incoming[0], el_root(g->in[0]))); }
/* The angle in [-pi/2, pi/2] whose sine is self; real ones NaN beyond [-1, 1].   (*) -> (*),
 * floating tn_asin(x) */
TN_OPERATOR(asin, "asin(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_ASIN(self)), .grad = asin_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2)")

static void acos_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], el_root(g->in[0]))));
}
/* The angle in [0, pi] whose cosine is self; real ones NaN beyond [-1, 1].   (*) -> (*), floating
 * tn_acos(x) */
TN_OPERATOR(acos, "acos(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_ACOS(self)), .grad = acos_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2)")

static void atan_grad(tn_gradient *g) {
    tn_give(g, 0,
            tnp_div(g->incoming[0], tnp_add_scalar(tnp_square(el_conj(g->in[0])), tn_int(1), 1)));
}
/* The angle in (-pi/2, pi/2) whose tangent is self.   (*) -> (*), floating   tn_atan(x) */
TN_OPERATOR(atan, "atan(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_ATAN(self)), .grad = atan_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

/* other / r and -self / r over r, the distance from 0; 0 there */
static void atan2_grad(tn_gradient *g) {
    tn_tensor *y = g->in[0], *x = g->in[1], *away = tnp_logical_or(y, x), *d, *r;
    x = tnp_where_scalar(away, x, tn_int(1));
    r = tnp_hypot(y, x);
    d = tnp_where_scalar(away, g->incoming[0], tn_int(0));
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_div(tnp_div(x, r), r)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_neg(tnp_div(tnp_div(y, r), r))));
}
/* The angle of the point (other, self), in [-pi, pi]; the sign of a zero counts, as in C. Gradient
 * 0 where both are 0.   (*), (*) -> broadcast, floating   tn_atan2(y, x) */
TN_OPERATOR(atan2, "atan2(Tensor self, Tensor other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self,other other:self,other", TN_POINTWISE(F, V_ATAN2(self, other)),
            .grad = atan2_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4):i64 (4) | (9):i64 "
                      "(9):i64 | (5):bool (5):bool")

static void sinh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_cosh(el_conj(g->in[0]))));
}
/* (e^x - e^-x) / 2; 2 ULP.   (*) -> (*), floating   tn_sinh(x) */
TN_OPERATOR(sinh, "sinh(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_SINH(self)), .grad = sinh_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

static void cosh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_sinh(el_conj(g->in[0]))));
}
/* (e^x + e^-x) / 2; 2 ULP.   (*) -> (*), floating   tn_cosh(x) */
TN_OPERATOR(cosh, "cosh(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_COSH(self)), .grad = cosh_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

static void erf_grad(tn_gradient *g) { /* 2 / sqrt(pi) e^(-x^2) */
    tn_give(g, 0,
            tnp_mul(g->incoming[0],
                    el_times(tnp_exp(tnp_neg(tnp_square(g->in[0]))), 1.12837916709551257390)));
}
/* 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to self.   (*) -> (*), floating   tn_erf(x) */
TN_OPERATOR(erf, "erf(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_ERF(self)), .grad = erf_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* --- tanh and sigmoid ------------------------------------------------------------------------- */

static void tanh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_tanh_backward(g->incoming[0], g->out[0]));
}
/* The hyperbolic tangent.   (*) -> (*), floating   tn_tanh(x) */
TN_OPERATOR(tanh, "tanh(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(Fc, V_TANH(self)), .grad = tanh_grad,
            .domain = "self:-0.9..0.9", .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void tanh_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    tn_tensor *y = el_conj(g->in[1]);
    if (g->want[0]) tn_give(g, 0, tnp_tanh_backward(d, y));
    if (g->want[1])
        tn_give(g, 1, tnp_mul(el_conj(d), tnp_mul_scalar(tnp_mul(g->in[0], y), tn_int(-2))));
}
/* grad_output * (1 - output^2), conjugate in the bracket.   (*), (*) -> (*)   tn_tanh_backward(d,
 * y) */
TN_OPERATOR(tanh_backward, "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
            .needs = "grad_output:output output:grad_output,output",
            TN_POINTWISE(Fc, V_MUL(grad_output, V_CONJ(V_FNMA(output, output, V_ONE)))),
            .grad = tanh_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

static void sigmoid_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_sigmoid_backward(g->incoming[0], g->out[0]));
}
/* 1 / (1 + e^-self).   (*) -> (*), floating   tn_sigmoid(x) */
TN_OPERATOR(sigmoid, "sigmoid(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(Fc, V_SIGMOID(self)), .grad = sigmoid_grad,
            .domain = "self:-0.9..0.9", .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void sigmoid_backward_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *y = el_conj(g->in[1]);
    if (g->want[0]) tn_give(g, 0, tnp_sigmoid_backward(d, y));
    if (!g->want[1]) return;
    y = tnp_rsub_scalar(tnp_mul_scalar(y, tn_int(2)), tn_int(1), 1);
    tn_give(g, 1, tnp_mul(el_conj(d), tnp_mul(g->in[0], y)));
}
/* grad_output * (output * (1 - output)), conjugate in the bracket.   (*), (*) -> (*)
 * tn_sigmoid_backward(d, y) */
TN_OPERATOR(sigmoid_backward, "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
            .needs = "grad_output:output output:grad_output,output",
            TN_POINTWISE(Fc, V_MUL(grad_output, V_CONJ(V_MUL(V_SUB(V_ONE, output), output)))),
            .grad = sigmoid_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

TN_PRIV void tni_give_flat(tn_gradient *g, int i, tn_tensor *t) {
    tni_slot *s = &((tni_node *)g->node)->slot[i];
    tn_tensor *from = t, *yes;
    if (t && !g->block->no_grad && g->want[i]) {
        if (tni_edge_is_leaf(s->edge))
            from = tni_edge_leaf(s->edge);
        else if ((from = tni_share(g->block, t->storage, t)) != NULL)
            tni_node_hang(g->block, (tni_node *)s->edge, from, (int)s->edge_out);
        yes = tnp_ones(tni_ints(t->size, 0), TN_BOOL, t->flags & TNI_META ? TN_META : TN_NO_DEVICE);
        if (!from || (tni_same_shape(from, t) && from->dtype == t->dtype))
            t = tnp_where(yes, t, from);
    }
    tn_give(g, i, t);
}

/* --- rectifiers ------------------------------------------------------------------------------- */

static void relu_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->out[0], tn_int(0)));
}
/* self where it is above 0, else 0; NaN stays. Gradient 0 at 0.   (*) -> (*)   tn_relu(x) */
TN_OPERATOR(relu, "relu(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(FI, V_SEL(V_LT(self, V_ZERO()), V_ZERO(), self)),
            .grad = relu_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (4):u8")

static void threshold_grad(tn_gradient *g) {
    TN_ARGS(threshold, a, g);
    tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->in[0], a->threshold));
}
/* self where it is above threshold, else value; integers without the fraction of these numbers.
 * (*) -> (*)   tn_threshold(x, TN_NUM(0.1), 20) */
TN_OPERATOR(threshold, "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_CUTTING(FI, V_SEL(V_LE(self, threshold), value, self)), .grad = threshold_grad,
            .sample = "(35) 0.1 3.5 | (3,5) 0 1 | () 1 0 | (0,2) 0 0 | (9):i64 1 7")

static void threshold_backward_grad(tn_gradient *g) {
    TN_ARGS(threshold_backward, a, g);
    if (g->want[0]) tn_give(g, 0, tnp_threshold_backward(g->incoming[0], g->in[1], a->threshold));
    el_give_zeros(g, 1);
}
/* grad_output where self is above threshold, else 0.   (*), (*) -> (*)   tn_threshold_backward(d,
 * x, 0) */
TN_OPERATOR(threshold_backward,
            "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
            .needs = "grad_output:self",
            TN_CUTTING(FI, V_SEL(V_LE(self, threshold), V_ZERO(), grad_output)),
            .grad = threshold_backward_grad, .sample = "(35) (35) 0 | () () 0.5 | (0) (0) 0")

static void leaky_relu_grad(tn_gradient *g) {
    TN_ARGS(leaky_relu, a, g);
    tn_give(g, 0,
            tnp_leaky_relu_backward(g->incoming[0], g->in[0], tn_float(a->negative_slope), false));
}
/* self above 0, else negative_slope * self.   (*) -> (*), floating   tn_leaky_relu(x,
 * .negative_slope = 0.1) */
TN_OPERATOR(leaky_relu, "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_SEL(V_GT(self, V_ZERO()), self, V_MUL(self, negative_slope))),
            .grad = leaky_relu_grad, .sample = "(35) | (3,5) negative_slope=0.2 | () | (0,2)")

static void leaky_relu_backward_grad(tn_gradient *g) {
    TN_ARGS(leaky_relu_backward, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_leaky_relu_backward(g->incoming[0], g->in[1], a->negative_slope,
                                        a->self_is_result));
    el_give_zeros(g, 1);
}
/* grad_output where self is above 0, else negative_slope * grad_output.   (*), (*) -> (*)
 * tn_leaky_relu_backward(d, x, TN_NUM(0.1), false) */
TN_OPERATOR(leaky_relu_backward,
            "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
            "self_is_result) -> Tensor",
            .needs = "grad_output:self",
            TN_POINTWISE(F, V_SEL(V_GT(self, V_ZERO()), grad_output,
                                  V_MUL(grad_output, negative_slope))),
            .grad = leaky_relu_backward_grad,
            .sample = "(35) (35) 0.1 False | () () 0.5 False | (0) (0) 0.1 False")

static void elu_grad(tn_gradient *g) { /* scale, or scale input_scale alpha e^(x input_scale) */
    TN_ARGS(elu, a, g);
    tn_tensor *x = g->in[0], *d = g->incoming[0];
    tn_tensor *left =
        el_times(tnp_exp(el_times(tnp_clamp_max_scalar(x, tn_int(0)), a->input_scale)),
                 a->scale * a->input_scale * a->alpha);
    tn_give(g, 0, tnp_where(tnp_le_scalar(x, tn_int(0)), tnp_mul(d, left), el_times(d, a->scale)));
}
/* scale * self above 0, else scale * alpha * (e^(self * input_scale) - 1).   (*) -> (*), floating
 * tn_elu(x, .alpha = 1) */
TN_OPERATOR(elu, "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_MUL(scale, V_SEL(V_GT(self, V_ZERO()), self,
                                               V_MUL(alpha, V_EXPM1(V_MUL(self, input_scale)))))),
            .grad = elu_grad,
            .sample = "(35) | (3,5) alpha=0.7 | () alpha=1.5 scale=1.1 input_scale=0.8 | (0,2)")

static void hardtanh_grad(tn_gradient *g) {
    TN_ARGS(hardtanh, a, g);
    tn_tensor *x = g->in[0], *out;
    out = tnp_logical_or(tnp_le_scalar(x, tn_float(a->min_val)),
                         tnp_ge_scalar(x, tn_float(a->max_val)));
    tni_give_flat(g, 0, tnp_where_scalar_self(out, tn_int(0), g->incoming[0]));
}
/* self, but at least min_val and at most max_val; integers without the fraction of these numbers.
 * Gradient 0 at both, and passed at NaN.   (*) -> (*)   tn_hardtanh(x, .min_val = 0, .max_val = 6)
 */
TN_OPERATOR(hardtanh, "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_LIMITING(FI, V_MINIMUM(V_MAXIMUM(self, min_val), max_val)), .grad = hardtanh_grad,
            .sample = "(35) | (3,5) 0 6 | () -0.5 0.5 | (0,2) | (9):i64 | (9):i32 -1.5 2.5")

static void shrink_give(tn_gradient *g, double lambd) { /* what is nearer to 0 is constant */
    tn_tensor *x = g->in[0], *in;
    in = tnp_logical_and(tnp_ge_scalar(x, tn_float(-lambd)), tnp_le_scalar(x, tn_float(lambd)));
    tni_give_flat(g, 0, tnp_where_scalar_self(in, tn_int(0), g->incoming[0]));
}
static void hardshrink_grad(tn_gradient *g) {
    TN_ARGS(hardshrink, a, g);
    shrink_give(g, a->lambd);
}
/* 0 from -lambd to lambd, else self.   (*) -> (*), floating   tn_hardshrink(x, .lambd = 1) */
TN_OPERATOR(hardshrink, "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", .forms = TN_OUT,
            .needs = "self:self",
            TN_FLOATING(F,
                        V_SEL(M_AND(V_GE(self, V_NEG(lambd)), V_LE(self, lambd)), V_ZERO(), self)),
            .grad = hardshrink_grad, .sample = "(35) | (3,5) 1 | () | (0,2)")

static void softshrink_grad(tn_gradient *g) {
    TN_ARGS(softshrink, a, g);
    shrink_give(g, a->lambd);
}
/* self moved by lambd towards 0, 0 where it is nearer.   (*) -> (*), floating   tn_softshrink(x,
 * .lambd = 1) */
TN_OPERATOR(softshrink, "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", .forms = TN_OUT,
            .needs = "self:self",
            TN_FLOATING(F, V_SEL(V_GT(self, lambd), V_SUB(self, lambd),
                                 V_SEL(V_LT(self, V_NEG(lambd)), V_ADD(self, lambd),
                                       V_MUL(self, V_ZERO())))),
            .grad = softshrink_grad, .sample = "(35) | (3,5) 1 | () | (0,2)")

static void prelu_kernel_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *w = g->in[1], *d = g->incoming[0], *above;
    above = tnp_gt_scalar(x, tn_int(0));
    if (g->want[0]) tni_give_flat(g, 0, tnp_where(above, d, tnp_mul(d, w)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_where_scalar_self(above, tn_int(0), x)));
}
/* self above 0, else weight * self.   (*), (*) -> broadcast, floating   tn_prelu_kernel(x, w) */
TN_OPERATOR(prelu_kernel, "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
            .needs = "self:self,weight weight:self",
            TN_FLOATING(F, V_SEL(V_GT(self, V_ZERO()), self, V_MUL(weight, self))),
            .grad = prelu_kernel_grad,
            .sample = "(35) () | (2,3,5) (3,1) | () () | (0,3) (3) | (9) (9)")

static void hardswish_grad(tn_gradient *g) { /* 0, then x / 3 + 1 / 2, then 1 */
    tn_tensor *x = g->in[0], *d = g->incoming[0], *slope, *rest;
    slope = tnp_add_scalar(tnp_div_scalar(x, tn_int(3)), tn_float(0.5), 1);
    rest = tnp_where(tnp_lt_scalar(x, tn_int(3)), tnp_mul(d, slope), d);
    tn_give(g, 0, tnp_where_scalar_self(tnp_le_scalar(x, tn_int(-3)), tn_int(0), rest));
}
/* self * (self + 3, within 0 and 6) / 6.   (*) -> (*), floating   tn_hardswish(x) */
TN_OPERATOR(hardswish, "hardswish(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self",
            TN_FLOATING(F,
                        V_DIV(V_MUL(self, V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, V_SET(3))))),
                              V_SET(6))),
            .grad = hardswish_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* --- smooth activations ----------------------------------------------------------------------- */

static void silu_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_silu_backward(g->incoming[0], el_conj(g->in[0])));
}
/* self * sigmoid(self).   (*) -> (*), floating   tn_silu(x) */
TN_OPERATOR(silu, "silu(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_MUL(self, V_SIGMOID(self))), .grad = silu_grad,
            .domain = "self:-0.9..0.9", .sample = "(35) | (3,5) | () | (0,2)")

static void silu_backward_grad(tn_gradient *g) { /* s (1 - s) (2 + x (1 - 2 s)) */
    tn_tensor *d = g->incoming[0], *x = g->in[1], *s = tnp_sigmoid(x), *slope;
    if (g->want[0]) tn_give(g, 0, tnp_silu_backward(d, el_conj(x)));
    if (!g->want[1]) return;
    slope = tnp_add_scalar(tnp_mul(x, tnp_rsub_scalar(tnp_mul_scalar(s, tn_int(2)), tn_int(1), 1)),
                           tn_int(2), 1);
    slope = tnp_mul(tnp_mul(s, tnp_rsub_scalar(s, tn_int(1), 1)), slope);
    tn_give(g, 1, tnp_mul(tnp_mul(d, el_conj(g->in[0])), el_conj(slope)));
}
/* grad_output * s * (1 + self * (1 - s)), s = sigmoid(self).   (*), (*) -> (*) tn_silu_backward(d,
 * x) */
TN_OPERATOR(silu_backward, "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
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
/* self * Phi(self), Phi the normal distribution: gelu without approximation.   (*) -> (*), floating
 * tn_gelu_erf(x) */
TN_OPERATOR(gelu_erf, "gelu_erf(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self",
            TN_POINTWISE(F, V_MUL(V_MUL(V_SET(0.5), self),
                                  V_ADD(V_ONE, V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))),
            .grad = gelu_erf_grad, .sample = "(35) | (3,5) | () | (0,2)", .node = "GeluBackward0")

static void gelu_erf_backward_grad(tn_gradient *g) { /* d/dx (Phi + x phi) = phi (2 - x^2) */
    tn_tensor *d = g->incoming[0], *x = g->in[1], *sq;
    if (g->want[0]) tn_give(g, 0, tnp_gelu_erf_backward(d, x));
    if (!g->want[1]) return;
    sq = tnp_square(x);
    d = tnp_mul(tnp_mul(d, g->in[0]),
                el_times(tnp_exp(el_times(sq, -0.5)), 0.39894228040143267794));
    tn_give(g, 1, tnp_mul(d, tnp_rsub_scalar(sq, tn_int(2), 1)));
}
/* grad_output * (Phi(self) + self * phi(self)).   (*), (*) -> (*)   tn_gelu_erf_backward(d, x) */
TN_OPERATOR(
    gelu_erf_backward, "gelu_erf_backward(Tensor grad_output, Tensor self) -> Tensor",
    .needs = "grad_output:self self:grad_output,self",
    TN_POINTWISE(F, V_MUL(grad_output,
                          V_FMA(V_MUL(self, V_SET(0.39894228040143267794)),
                                V_EXP(V_MUL(V_SET(-0.5), V_MUL(self, self))),
                                V_MUL(V_SET(0.5),
                                      V_ADD(V_ONE,
                                            V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))))),
    .grad = gelu_erf_backward_grad, .sample = "(35) (35) | () () | (0) (0)")

static tn_tensor *gelu_inner(tn_tensor *x, double cubic) { /* sqrt(2 / pi) (x + cubic x^3) */
    return el_times(tnp_mul(x, tnp_add_scalar(el_times(tnp_square(x), cubic), tn_int(1), 1)),
                    0.79788456080286535588);
}
static void gelu_tanh_grad(tn_gradient *g) { /* (1 + t) / 2 + x (1 - t^2) u' / 2, t = tanh(u(x)) */
    tn_tensor *x = g->in[0], *t = tnp_tanh(gelu_inner(x, 0.044715));
    tn_tensor *slope = el_times(tnp_add_scalar(el_times(tnp_square(x), 3 * 0.044715), tn_int(1), 1),
                                0.79788456080286535588);
    tn_tensor *second = tnp_mul(tnp_mul(x, tnp_rsub_scalar(tnp_square(t), tn_int(1), 1)), slope);
    tn_tensor *first = tnp_add_scalar(t, tn_int(1), 1);
    tn_give(g, 0, tnp_mul(g->incoming[0], el_times(tnp_add(first, second, 1), 0.5)));
}
/* self * (1 + tanh(sqrt(2 / pi) (self + 0.044715 self^3))) / 2: gelu by tanh.   (*) -> (*),
 * floating   tn_gelu_tanh(x) */
TN_OPERATOR(gelu_tanh, "gelu_tanh(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self",
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
/* self * Phi(self), Phi the normal distribution, or its approximation by tanh.   (*) -> (*),
 * floating tn_gelu(x, .approximate = TN_APPROXIMATE_TANH) */
TN_OPERATOR(gelu, "gelu(Tensor self, *, Approximate approximate=none) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .compose = gelu_compose,
            .sample = "(35) | (3,5) approximate=tanh | () | (0,2)")

static void softplus_grad(tn_gradient *g) {
    TN_ARGS(softplus, a, g);
    tn_tensor *z = el_times(g->in[0], a->beta), *d = g->incoming[0];
    tn_give(g, 0,
            tnp_where(tnp_gt_scalar(z, tn_float(a->threshold)), d, tnp_mul(d, tnp_sigmoid(z))));
}
/* log(1 + e^(beta * self)) / beta; self where beta * self exceeds threshold.   (*) -> (*), floating
 * tn_softplus(x) */
TN_OPERATOR(softplus, "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
            .forms = TN_OUT, .needs = "self:self",
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
    turned = tnp_mul(tnp_sgn(x), tnp_div(tnp_real(tnp_mul(d, el_conj(x))), square));
    tn_give(g, 0, tnp_sub(tnp_div(d, below), turned, 1));
}
/* self / (1 + |self|).   (*) -> (*), floating   tn_softsign(x) */
TN_OPERATOR(softsign, "softsign(Tensor self) -> Tensor", .needs = "self:self",
            TN_POINTWISE(Fc, V_DIV(self, V_ADD(V_ONE, V_ABS(self)))), .grad = softsign_grad,
            .sample = "(35) | (3,5) | () | (0,2)")
