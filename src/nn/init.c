/* init.c - initial values, as torch.nn.init: the same formulas in double, the same draws. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"

#include <math.h>

/* One fill in progress: it is not recorded, so filling a leaf that requires grad is allowed. */
typedef struct init_quiet {
    tni_step step;
    bool mode;
    int64_t mark;
} init_quiet;
/* false where nothing is to be filled: an error is pending, or t is NULL, which is an absent part
 * such as the bias of bias=False. Then init_end must not be called. */
static bool init_begin(init_quiet *q, const char *file, int line, tn_tensor *t) {
    if (!t || !tn_ok()) return false;
    tni_place_begin(&q->step, file, line);
    /* Results of the fills below are headers that nobody needs: the scope frees them. */
    q->mark = tn_scope_begin();
    q->mode = tn_set_grad_mode(false);
    return true;
}
/* Undoes init_begin; t, or NULL where the fill failed. */
static tn_tensor *init_end(init_quiet *q, tn_tensor *t, const tn_tensor *result) {
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
    tni_step_end(&q->step);
    return result ? t : NULL;
}

TN_API tn_tensor *tn_nn_init_constant_at(const char *file, int line, tn_tensor *t, double value) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_fill_(t, tn_float(value))) : NULL;
}
TN_API tn_tensor *tn_nn_init_uniform_at(const char *file, int line, tn_tensor *t, double from,
                                        double to) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_uniform_(t, from, to, NULL)) : NULL;
}
TN_API tn_tensor *tn_nn_init_normal_at(const char *file, int line, tn_tensor *t, double mean,
                                       double std) {
    init_quiet q;
    return init_begin(&q, file, line, t) ? init_end(&q, t, tnp_normal_(t, mean, std, NULL)) : NULL;
}

/* torch.nn.init.calculate_gain: the factor that keeps the variance of activations through a layer
 * with this nonlinearity. param is the negative slope of leaky relu. NaN with an error. */
static double init_gain(tn_nn_init_for nonlinearity, double param) {
    switch (nonlinearity) {
    case TN_INIT_LINEAR:
    case TN_INIT_SIGMOID: return 1;
    case TN_INIT_TANH: return 5.0 / 3;
    case TN_INIT_RELU: return sqrt(2.0);
    case TN_INIT_LEAKY_RELU: return sqrt(2.0 / fma(param, param, 1));
    case TN_INIT_SELU: return 3.0 / 4;
    default: tni_nn_error(TN_INVALID, "the nonlinearity is unknown"); return (double)NAN;
    }
}
TN_API double tn_nn_init_gain_at(const char *file, int line, tn_nn_init_for nonlinearity,
                                 double param) {
    tni_step step;
    double gain;
    tni_place_begin(&step, file, line);
    gain = init_gain(nonlinearity, param);
    tni_step_end(&step);
    return gain;
}

/* Fan in and fan out: how many inputs one output reads, and how many outputs read one input. For a
 * weight (O, I, k..) they are I and O times the receptive field k..; Linear's is (O, I). They are
 * doubles, whose products do not overflow. */
static bool init_fans(const tn_tensor *t, double *in, double *out) {
    tn_ints shape = tn_shape(t);
    double field = 1;
    *in = *out = 0;
    if (shape.n < 2)
        return tni_nn_error(TN_INVALID, "fan in and fan out need a tensor of 2 or more dimensions");
    for (int64_t i = 2; i < shape.n; i++) field *= (double)shape.at[i];
    *in = (double)shape.at[1] * field;
    *out = (double)shape.at[0] * field;
    return true;
}

/* gain / sqrt(fan): He et al. 2015, "Delving Deep into Rectifiers", section 2.2. */
static bool init_kaiming_std(const tn_tensor *t, double a, tn_fan mode, tn_nn_init_for nonlinearity,
                             double *std) {
    double in, out, gain;
    if (mode != TN_FAN_IN && mode != TN_FAN_OUT)
        return tni_nn_error(TN_INVALID, "mode: expected TN_FAN_IN or TN_FAN_OUT");
    if (!init_fans(t, &in, &out)) return false;
    gain = init_gain(nonlinearity, a);
    *std = gain / sqrt(mode == TN_FAN_OUT ? out : in);
    /* NaN says that init_gain has set an error. */
    return gain == gain;
}

/* Draws with standard deviation std about 0. The uniform distribution within +-b has the standard
 * deviation b / sqrt(3). Of an empty tensor a fan may be 0, which makes std infinite. */
typedef tn_tensor *init_draw(tn_tensor *t, double std);
static tn_tensor *init_draw_normal(tn_tensor *t, double std) {
    return tn_numel(t) == 0 ? t : tnp_normal_(t, 0, std, NULL);
}
static tn_tensor *init_draw_uniform(tn_tensor *t, double std) {
    return tn_numel(t) == 0 ? t : tnp_uniform_(t, -(sqrt(3.0) * std), sqrt(3.0) * std, NULL);
}
/* gain * sqrt(2 / (in + out)): Glorot and Bengio 2010, "Understanding the difficulty of training
 * deep feedforward neural networks", section 4.2. */
static tn_tensor *init_xavier(const char *file, int line, tn_tensor *t, init_draw *draw,
                              double gain) {
    double in, out;
    init_quiet q;
    const tn_tensor *drawn = NULL;
    if (!init_begin(&q, file, line, t)) return NULL;
    if (init_fans(t, &in, &out)) drawn = draw(t, gain * sqrt(2.0 / (in + out)));
    return init_end(&q, t, drawn);
}
static tn_tensor *init_kaiming(const char *file, int line, tn_tensor *t, init_draw *draw, double a,
                               tn_fan mode, tn_nn_init_for nonlinearity) {
    double std = 0;
    init_quiet q;
    const tn_tensor *drawn = NULL;
    if (!init_begin(&q, file, line, t)) return NULL;
    if (init_kaiming_std(t, a, mode, nonlinearity, &std)) drawn = draw(t, std);
    return init_end(&q, t, drawn);
}

TN_API tn_tensor *tn_nn_init_xavier_uniform_at(const char *file, int line, tn_tensor *t,
                                               double gain) {
    return init_xavier(file, line, t, init_draw_uniform, gain);
}
TN_API tn_tensor *tn_nn_init_xavier_normal_at(const char *file, int line, tn_tensor *t,
                                              double gain) {
    return init_xavier(file, line, t, init_draw_normal, gain);
}
TN_API tn_tensor *tn_nn_init_kaiming_uniform_at(const char *file, int line, tn_tensor *t, double a,
                                                tn_fan mode, tn_nn_init_for nonlinearity) {
    return init_kaiming(file, line, t, init_draw_uniform, a, mode, nonlinearity);
}
TN_API tn_tensor *tn_nn_init_kaiming_normal_at(const char *file, int line, tn_tensor *t, double a,
                                               tn_fan mode, tn_nn_init_for nonlinearity) {
    return init_kaiming(file, line, t, init_draw_normal, a, mode, nonlinearity);
}

/* torch's reset_parameters of Linear and of convolutions. With a = sqrt(5) the gain is sqrt(1 / 3),
 * so the weight lies within 1 / sqrt(fan in), as the bias does. */
TN_PRIV bool tni_init_affine(tn_tensor *weight, tn_tensor *bias) {
    double in, out, bound;
    if (!tn_nn_init_kaiming_uniform_(weight, sqrt(5.0), TN_FAN_IN, TN_INIT_LEAKY_RELU))
        return false;
    if (!bias) return true;
    if (!init_fans(weight, &in, &out)) return false;
    bound = in > 0 ? 1 / sqrt(in) : 0;
    return tn_nn_init_uniform_(bias, -bound, bound) != NULL;
}
