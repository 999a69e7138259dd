/* squares.c - Adagrad (J. Duchi et al., 2011), RMSprop (T. Tieleman, G. Hinton, 2012) and Adadelta
 * (M. Zeiler, 2012), which divide by roots of running squares, as torch.optim. */
#include "optim.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/creation.h"

#include <math.h>

/* --- Adagrad ---------------------------------------------------------------------------------- */

static bool adagrad_check(const void *options) {
    const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)options;
    return tni_option_bound(o->lr, "learning rate") &&
           tni_option_bound(o->lr_decay, "lr_decay value") &&
           tni_option_bound(o->weight_decay, "weight_decay value") &&
           tni_option_bound(o->initial_accumulator_value, "initial_accumulator_value value") &&
           tni_option_bound(o->eps, "epsilon value");
}
/* The sum begins at a value of the options. */
static tn_tensor *adagrad_begin(const void *options, const tn_tensor *p, int k) {
    const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)options;
    (void)k;
    return tnp_full_like((tn_tensor *)(uintptr_t)p, tn_float(o->initial_accumulator_value),
                         TN_NO_DTYPE, TN_NO_DEVICE);
}
static bool adagrad_step(tn_ostep *s) {
    enum { FACTORS = 5 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adagrad_args *o = (const tn_optim_adagrad_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -(o->lr / (1 + fma(s->count[i] - 1, o->lr_decay, 0)));
        to[4] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADAGRAD, FACTORS);
}
/* g += weight_decay p; sum += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps). */
TN_OPTIMIZER(adagrad,
             "Adagrad(Tensor[] params, float lr=0.01, float lr_decay=0.0, float weight_decay=0.0, "
             "float initial_accumulator_value=0.0, float eps=1e-10, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adagrad(tn_parameters(net), .lr = 0.05)"), .state = "sum",
             .check = adagrad_check, .begin = adagrad_begin, .step = adagrad_step, .counts = true)

/* --- RMSprop ---------------------------------------------------------------------------------- */

static bool rmsprop_check(const void *options) {
    const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)options;
    return tni_option_bound(o->lr, "learning rate") && tni_option_bound(o->eps, "epsilon value") &&
           tni_option_bound(o->momentum, "momentum value") &&
           tni_option_bound(o->weight_decay, "weight_decay value") &&
           tni_option_bound(o->alpha, "alpha value");
}
/* Bit 1: the momentum's buffer; bit 2: the average that is subtracted. */
static uint32_t rmsprop_uses(const void *options) {
    const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)options;
    return 1u | (o->momentum > 0 ? 2u : 0) | (o->centered ? 4u : 0);
}
static bool rmsprop_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -o->lr;
        to[4] = o->alpha;
        to[5] = o->eps;
        to[6] = o->momentum;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RMSPROP, FACTORS);
}
static void rmsprop_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_rmsprop_args *o = (const tn_optim_rmsprop_args *)s->options[i];
    tn_tensor *v = s->state[0][i], *b = s->state[1][i], *m = s->state[2][i], *w = v, *d;
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, false);
    tni_captured_next(s, 3, i);
    tnp_addcmul_(tnp_mul_scalar_(v, tn_float(o->alpha)), g, g, 1 - o->alpha);
    if (o->centered) w = tnp_addcmul(v, tnp_lerp_scalar_(m, g, tn_float(1 - o->alpha)), m, -1);
    d = tnp_div(g, tni_captured_plus(tnp_sqrt(w), o->eps));
    if (o->momentum > 0) d = tnp_add_(tnp_mul_scalar_(b, tn_float(o->momentum)), d, 1);
    tni_captured_move(s, i, d, o->lr);
}
static bool rmsprop_captured(tn_ostep *s) {
    return s->rate ? tni_captured_each(s, rmsprop_captured_one)
                   : tni_captured_count(s, 3, rmsprop_step);
}
/* g += weight_decay p; v = alpha v + (1 - alpha) g^2; centered: m = lerp(m, g, 1 - alpha), which is
 * subtracted: w = v - m^2, else w = v; d = g / (sqrt(w) + eps); b = momentum b + d; p -= lr b, or
 * lr d without momentum. */
TN_OPTIMIZER(
    rmsprop,
    "RMSprop(Tensor[] params, float lr=0.01, float alpha=0.99, float eps=1e-08, float "
    "weight_decay=0.0, float momentum=0.0, bool centered=False, bool maximize=False, "
    "*, bool capturable=False)",
    TN_DOC(.example = "tn_optim_rmsprop(tn_parameters(net), .lr = 1e-3, .centered = true)"),
    .state = "square_avg, momentum_buffer, grad_avg", .check = rmsprop_check, .uses = rmsprop_uses,
    .step = rmsprop_step, .counts = true, .capturable = offsetof(tn_optim_rmsprop_args, capturable),
    .captured = TNI_IF(capturable, rmsprop_captured, NULL))

/* --- Adadelta --------------------------------------------------------------------------------- */

static bool adadelta_check(const void *options) {
    const tn_optim_adadelta_args *o = (const tn_optim_adadelta_args *)options;
    if (!(o->rho >= 0 && o->rho <= 1))
        return tni_option_invalid("rho value", o->rho, "a number in [0, 1]");
    return tni_option_bound(o->lr, "learning rate") && tni_option_bound(o->eps, "epsilon value") &&
           tni_option_bound(o->weight_decay, "weight_decay value");
}
static bool adadelta_step(tn_ostep *s) {
    enum { FACTORS = 6 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adadelta_args *o = (const tn_optim_adadelta_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -o->lr;
        to[4] = o->rho;
        to[5] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADADELTA, FACTORS);
}
static void adadelta_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_adadelta_args *o = (const tn_optim_adadelta_args *)s->options[i];
    tn_tensor *v = s->state[0][i], *u = s->state[1][i], *d;
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, false);
    tni_captured_next(s, 2, i);
    tnp_addcmul_(tnp_mul_scalar_(v, tn_float(o->rho)), g, g, 1 - o->rho);
    d = tnp_sqrt(tni_captured_plus(u, o->eps));
    d = tnp_mul(tnp_div(d, tnp_sqrt(tni_captured_plus(v, o->eps))), g);
    tnp_addcmul_(tnp_mul_scalar_(u, tn_float(o->rho)), d, d, 1 - o->rho);
    tni_captured_move(s, i, d, o->lr);
}
static bool adadelta_captured(tn_ostep *s) {
    return s->rate ? tni_captured_each(s, adadelta_captured_one)
                   : tni_captured_count(s, 2, adadelta_step);
}
/* g += weight_decay p; v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps) g; u = rho u +
 * (1 - rho) d^2; p -= lr d. */
TN_OPTIMIZER(adadelta,
             "Adadelta(Tensor[] params, float lr=1.0, float rho=0.9, float eps=1e-06, float "
             "weight_decay=0.0, *, bool maximize=False, bool capturable=False)",
             TN_DOC(.example = "tn_optim_adadelta(tn_parameters(net))"),
             .state = "square_avg, acc_delta", .check = adadelta_check, .step = adadelta_step,
             .counts = true, .capturable = offsetof(tn_optim_adadelta_args, capturable),
             .captured = TNI_IF(capturable, adadelta_captured, NULL))
