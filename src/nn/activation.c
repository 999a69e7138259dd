/* activation.c - pointwise functions and softmax as modules: one operator each, and PReLU's slopes
 * as the only part. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"

/* A forward that is one operator call on the input x, with the options at o. */
#define ACTIVATION_FORWARD(name, ...)               \
    static bool name##_forward(tn_mframe *f) {      \
        TN_FORWARD(name, s, a, f);                  \
        tn_tensor *x = a->input;                    \
        (void)s;                                    \
        return (f->out[0] = (__VA_ARGS__)) != NULL; \
    }

ACTIVATION_FORWARD(relu, s->o.inplace ? tnp_relu_(x) : tnp_relu(x))
/* max(x, 0). */
TN_MODULE(relu, "ReLU(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_relu()"),
          .repr = "?inplace=", .forward = relu_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(leaky_relu, s->o.inplace ? tnp_leaky_relu_(x, s->o.negative_slope)
                                            : tnp_leaky_relu(x, s->o.negative_slope))
/* x where x > 0, else negative_slope * x. */
TN_MODULE(leaky_relu, "LeakyReLU(float negative_slope=0.01, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)",
                 .example = "tn_nn_leaky_relu(.negative_slope = 0.2)"),
          .repr = "negative_slope=, ?inplace=", .forward = leaky_relu_forward,
          .sample = ": (2,3) | negative_slope=0.2: (3)")

static bool prelu_reset(tn_module *m) {
    TN_SELF(prelu, s, m);
    return tn_nn_init_constant_(s->weight, s->o.init) != NULL;
}
ACTIVATION_FORWARD(prelu, tnp_prelu(x, s->weight))
/* x where x > 0, else weight * x, with one learned weight or one for each channel (dimension 1). */
TN_MODULE(prelu, "PReLU(int num_parameters=1, float init=0.25)",
          TN_DOC(.shapes = "input (N, num_parameters, *) -> the same, or (*) -> (*)",
                 .example = "tn_nn_prelu(.num_parameters = 8)"),
          .parts = "weight(num_parameters)", .repr = "num_parameters=", .reset = prelu_reset,
          .forward = prelu_forward, .sample = ": (2,3) | 3 init=0.1: (2,3,4) | 3: (2,3)")

ACTIVATION_FORWARD(gelu, tnp_gelu(x, s->o.approximate))
/* x * P(X <= x) for a standard normal X; approximate tanh: its usual approximation. */
TN_MODULE(gelu, "GELU(Approximate approximate=none)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_gelu()"),
          .repr = "approximate='=", .forward = gelu_forward,
          .sample = ": (2,3) | approximate=tanh: (3)")

ACTIVATION_FORWARD(silu, s->o.inplace ? tnp_silu_(x) : tnp_silu(x))
/* x * sigmoid(x). */
TN_MODULE(silu, "SiLU(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_silu()"),
          .repr = "?inplace=", .forward = silu_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(sigmoid, tnp_sigmoid(x))
/* 1 / (1 + exp(-x)). */
TN_MODULE(sigmoid, "Sigmoid()", TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_sigmoid()"),
          .forward = sigmoid_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(tanh, tnp_tanh(x))
/* The hyperbolic tangent. */
TN_MODULE(tanh, "Tanh()", TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_tanh()"),
          .forward = tanh_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(softplus, tnp_softplus(x, s->o.beta, s->o.threshold))
/* log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold. */
TN_MODULE(softplus, "Softplus(float beta=1.0, float threshold=20.0)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softplus()"),
          .repr = "beta=, threshold=", .forward = softplus_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(softsign, tnp_softsign(x))
/* x / (1 + |x|). */
TN_MODULE(softsign, "Softsign()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softsign()"),
          .forward = softsign_forward, .sample = ": (2,3)")

/* --- units with a slope below 0 --------------------------------------------------------------- */

ACTIVATION_FORWARD(elu, s->o.inplace ? tnp_elu_(x, s->o.alpha, 1, 1) : tnp_elu(x, s->o.alpha, 1, 1))
/* x where x > 0, else alpha * (exp(x) - 1). */
TN_MODULE(elu, "ELU(float alpha=1.0, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_elu(.alpha = 0.5)"),
          .repr = "alpha=, ?inplace=", .forward = elu_forward, .sample = ": (2,3) | alpha=0.5: (3)")

ACTIVATION_FORWARD(celu, s->o.inplace ? tnp_celu_(x, s->o.alpha) : tnp_celu(x, s->o.alpha))
/* max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). */
TN_MODULE(celu, "CELU(float alpha=1.0, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_celu(.alpha = 0.5)"),
          .repr = "alpha=, ?inplace=", .forward = celu_forward,
          .sample = ": (2,3) | alpha=0.5: (3)")

ACTIVATION_FORWARD(selu, s->o.inplace ? tnp_selu_(x) : tnp_selu(x))
/* ELU with the two numbers for which mean 0 and variance 1 are kept from layer to layer. */
TN_MODULE(selu, "SELU(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_selu()"),
          .repr = "?inplace=", .forward = selu_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(rrelu, s->o.inplace
                              ? tnp_rrelu_(x, s->o.lower, s->o.upper, s->base.training, NULL)
                              : tnp_rrelu(x, s->o.lower, s->o.upper, s->base.training, NULL))
/* x where x > 0, else x times a slope: in training one drawn for each element from [lower, upper),
 * otherwise (lower + upper) / 2. */
TN_MODULE(rrelu, "RReLU(float lower=0.125, float upper=0.3333333333333333, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_rrelu()"), .draws = "upper",
          .repr = "lower=, upper=, ?inplace=", .forward = rrelu_forward,
          .sample = ": (2,3) | lower=0.25 upper=0.5: (4,5)")

ACTIVATION_FORWARD(mish, s->o.inplace ? tnp_mish_(x) : tnp_mish(x))
/* x * tanh(log(1 + exp(x))). */
TN_MODULE(mish, "Mish(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_mish()"),
          .repr = "?inplace=", .forward = mish_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(log_sigmoid, tnp_log_sigmoid(x))
/* log(1 / (1 + exp(-x))). */
TN_MODULE(log_sigmoid, "LogSigmoid()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_log_sigmoid()"),
          .forward = log_sigmoid_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(tanhshrink, tnp_tanhshrink(x))
/* x - tanh(x). */
TN_MODULE(tanhshrink, "Tanhshrink()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_tanhshrink()"),
          .forward = tanhshrink_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(glu, tnp_glu(x, s->o.dim))
/* The first half along dim, times the sigmoid of the second. */
TN_MODULE(glu, "GLU(int dim=-1)",
          TN_DOC(.shapes = "input (*, 2 n, *) -> (*, n, *)", .example = "tn_nn_glu(.dim = 1)"),
          .repr = "dim=", .forward = glu_forward, .sample = ": (2,6) | dim=1: (2,4,3)")

/* --- units of straight pieces ----------------------------------------------------------------- */

ACTIVATION_FORWARD(relu6, s->o.inplace ? tnp_hardtanh_(x, 0, 6) : tnp_hardtanh(x, 0, 6))
/* min(max(x, 0), 6). */
TN_MODULE(relu6, "ReLU6(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_relu6()"),
          .repr = "?inplace=", .forward = relu6_forward, .sample = ": (2,3)")

static bool hardtanh_build(tn_module *m) {
    TN_SELF(hardtanh, s, m);
    return s->o.max_val > s->o.min_val ||
           tni_nn_error(TN_INVALID, "max_val (%g) must be greater than min_val (%g)", s->o.max_val,
                        s->o.min_val);
}
ACTIVATION_FORWARD(hardtanh, s->o.inplace ? tnp_hardtanh_(x, s->o.min_val, s->o.max_val)
                                          : tnp_hardtanh(x, s->o.min_val, s->o.max_val))
/* min(max(x, min_val), max_val). */
TN_MODULE(hardtanh, "Hardtanh(float min_val=-1.0, float max_val=1.0, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_hardtanh(.max_val = 2)"),
          .repr = "min_val=, max_val=, ?inplace=", .build = hardtanh_build,
          .forward = hardtanh_forward, .sample = ": (2,3) | min_val=-0.25 max_val=0.5: (3)")

ACTIVATION_FORWARD(hardsigmoid, s->o.inplace ? tnp_hardsigmoid_(x) : tnp_hardsigmoid(x))
/* min(max(x + 3, 0), 6) / 6. */
TN_MODULE(hardsigmoid, "Hardsigmoid(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_hardsigmoid()"),
          .forward = hardsigmoid_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(hardswish, s->o.inplace ? tnp_hardswish_(x) : tnp_hardswish(x))
/* x * min(max(x + 3, 0), 6) / 6. */
TN_MODULE(hardswish, "Hardswish(bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_hardswish()"),
          .forward = hardswish_forward, .sample = ": (2,3)")

ACTIVATION_FORWARD(hardshrink, tnp_hardshrink(x, s->o.lambd))
/* 0 where x is in [-lambd, lambd], else x. */
TN_MODULE(hardshrink, "Hardshrink(float lambd=0.5)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_hardshrink(.lambd = 1)"),
          .repr = "lambd", .forward = hardshrink_forward, .sample = ": (2,3) | 0.25: (3)")

ACTIVATION_FORWARD(softshrink, tnp_softshrink(x, s->o.lambd))
/* x moved towards 0 by lambd, and 0 where it is in [-lambd, lambd]. */
TN_MODULE(softshrink, "Softshrink(float lambd=0.5)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softshrink(.lambd = 1)"),
          .repr = "lambd", .forward = softshrink_forward, .sample = ": (2,3) | 0.25: (3)")

ACTIVATION_FORWARD(threshold,
                   s->o.inplace ? tnp_threshold_(x, tn_float(s->o.threshold), tn_float(s->o.value))
                                : tnp_threshold(x, tn_float(s->o.threshold), tn_float(s->o.value)))
/* x where x > threshold, else value. */
TN_MODULE(threshold, "Threshold(float threshold, float value, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_threshold(0.1, 20)"),
          .repr = "threshold=, value=, ?inplace=", .forward = threshold_forward,
          .sample = "0.1 2.0: (2,3) | -0.25 0.5: (3)")

/* --- softmax ---------------------------------------------------------------------------------- */

/* The dimension that torch takes, with a warning, where none is given: the first of a vector or of
 * (C, H, W), else the channels of (N, C, *). */
static int64_t activation_dim(const tn_tensor *x, int64_t dim) {
    int n = tn_ndim(x);
    return dim != TN_NONE ? dim : n == 0 || n == 1 || n == 3 ? 0 : 1;
}
ACTIVATION_FORWARD(softmax, tnp_softmax(x, activation_dim(x, s->o.dim), TN_NO_DTYPE))
/* exp(x_i) / sum exp(x_j) along dim. */
TN_MODULE(softmax, "Softmax(int? dim=None)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softmax(.dim = 1)"),
          .repr = "dim=", .forward = softmax_forward, .sample = "dim=1: (2,3) | : (4)")

ACTIVATION_FORWARD(log_softmax, tnp_log_softmax(x, activation_dim(x, s->o.dim), TN_NO_DTYPE))
/* The logarithm of softmax. */
TN_MODULE(log_softmax, "LogSoftmax(int? dim=None)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_log_softmax(.dim = 1)"),
          .repr = "dim=", .forward = log_softmax_forward, .sample = "dim=1: (2,3)")

ACTIVATION_FORWARD(softmin, tnp_softmax(tnp_neg(x), activation_dim(x, s->o.dim), TN_NO_DTYPE))
/* softmax of -x. */
TN_MODULE(softmin, "Softmin(int? dim=None)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_softmin(.dim = 1)"),
          .repr = "dim=", .forward = softmin_forward, .sample = "dim=1: (2,3) | : (4)")

static bool softmax2d_forward(tn_mframe *f) {
    TN_FORWARD(softmax2d, s, a, f);
    int n = tn_ndim(a->input);
    (void)s;
    if (n != 3 && n != 4)
        return tni_nn_error(TN_INVALID, "Softmax2d: expected input to be 3D or 4D, got %dD instead",
                            n);
    return (f->out[0] = tnp_softmax(a->input, -3, TN_NO_DTYPE)) != NULL;
}
/* softmax over the channels of images. */
TN_MODULE(softmax2d, "Softmax2d()",
          TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> the same",
                 .example = "tn_nn_softmax2d()"),
          .forward = softmax2d_forward, .sample = ": (2,3,2,2) | : (3,2,2)")

#undef ACTIVATION_FORWARD
