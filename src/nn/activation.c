/* activation.c - pointwise functions and softmax as modules: one operator each, and PReLU's slopes
 * as the only part. */
#include "nn.h"
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

#undef ACTIVATION_FORWARD
