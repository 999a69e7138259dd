/* moments.c - relatives of Adam: Adamax (D. Kingma, J. Ba, 2015), NAdam (T. Dozat, 2016) and RAdam
 * (L. Liu et al., 2020), as torch.optim. */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/shape.h"

#include <math.h>

static bool moments_check(double lr, tn_floats betas, double eps, double decay) {
    return tni_option_bound(lr, "learning rate") && tni_option_bound(eps, "epsilon value") &&
           tni_option_betas(betas.at[0], betas.at[1]) &&
           tni_option_bound(decay, "weight_decay value");
}
/* Decay apart from the gradient: the parameter's factor, 1 - lr decay as torch rounds it. */
static void moments_decay(double *to, double lr, double decay, bool decoupled) {
    if (!decoupled || decay == 0) return;
    to[1] = 0;
    to[2] = 1 - fma(lr, decay, 0);
}

/* --- Adamax ----------------------------------------------------------------------------------- */

static bool adamax_check(const void *options) {
    const tn_optim_adamax_args *o = (const tn_optim_adamax_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay);
}
static bool adamax_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adamax_args *o = (const tn_optim_adamax_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        to[3] = -(o->lr / (1 - pow(o->betas.at[0], s->count[i])));
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ADAMAX, FACTORS);
}
static void adamax_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_adamax_args *o = (const tn_optim_adamax_args *)s->options[i];
    tn_tensor *m = s->state[0][i], *u = s->state[1][i];
    tn_tensor *t = tni_captured_next(s, 2, i);
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, false);
    tnp_lerp_scalar_(m, g, tn_float(1 - o->betas.at[0]));
    tnp_copy_(u, tnp_maximum(tni_captured_times(u, o->betas.at[1]),
                             tni_captured_plus(tnp_abs(g), o->eps)));
    t = tnp_reciprocal(tni_captured_correction(o->betas.at[0], t));
    tni_captured_divided(s->param[i], tni_captured_by_rate(s, i, t, o->lr, -1), m, u);
}
static bool adamax_captured(tn_ostep *s) { return tni_captured_each(s, adamax_captured_one); }
/* g += weight_decay p; m = lerp(m, g, 1 - beta1); u = max(beta2 u, |g| + eps); p -= lr / (1 -
 * beta1^t) m / u. */
TN_OPTIMIZER(adamax,
             "Adamax(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float "
             "eps=1e-08, float weight_decay=0.0, *, bool maximize=False, bool capturable=False)",
             TN_DOC(.example = "tn_optim_adamax(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_inf", .check = adamax_check, .step = adamax_step,
             .counts = true, .capturable = offsetof(tn_optim_adamax_args, capturable),
             .captured = TNI_IF(capturable, adamax_captured, NULL))

/* --- NAdam ------------------------------------------------------------------------------------ */

static bool nadam_check(const void *options) {
    const tn_optim_nadam_args *o = (const tn_optim_nadam_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay) &&
           tni_option_bound(o->momentum_decay, "momentum_decay value");
}
/* beta1 (1 - 0.96^(t momentum_decay) / 2): the momentum of step t. */
static double nadam_momentum(const tn_optim_nadam_args *o, double t) {
    return o->betas.at[0] * fma(-0.5, pow(0.96, fma(t, o->momentum_decay, 0)), 1);
}
static bool nadam_step(tn_ostep *s) {
    enum { FACTORS = 9 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_nadam_args *o = (const tn_optim_nadam_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        const double t = s->count[i], now = nadam_momentum(o, t), next = nadam_momentum(o, t + 1);
        double *product = &s->kept[0][i];
        /* The product of all momenta is kept as float, as torch keeps it. */
        *product = isnan(*product) ? (float)now : (float)*product * (float)now;
        moments_decay(to, o->lr, o->weight_decay, o->decoupled_weight_decay);
        to[3] = -o->lr * (1 - now) / (1 - *product);
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
        to[7] = -o->lr * next / (1 - fma(*product, next, 0));
        to[8] = 1 - pow(o->betas.at[1], t);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_NADAM, FACTORS);
}
/* The product of all momenta begins at 1. */
static tn_tensor *nadam_begin(const void *options, const tn_tensor *p, int k) {
    (void)options;
    return k < 2 ? tnp_zeros_like((tn_tensor *)(uintptr_t)p, TN_NO_DTYPE, TN_NO_DEVICE)
                 : tnp_full(tn_empty_dims(), tn_float(1), TN_F32, tn_device_of(p));
}
static tn_tensor *nadam_captured_momentum(const tn_optim_nadam_args *o, tn_tensor *t) {
    tn_tensor *power = tni_captured_power(0.96, tni_captured_times(t, o->momentum_decay));
    return tni_captured_plus(tni_captured_times(power, -0.5 * o->betas.at[0]), o->betas.at[0]);
}
static void nadam_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_nadam_args *o = (const tn_optim_nadam_args *)s->options[i];
    const bool decoupled = o->decoupled_weight_decay;
    tn_tensor *m = s->state[0][i], *v = s->state[1][i];
    tn_tensor *t = tni_captured_next(s, 2, i);
    tn_tensor *now = nadam_captured_momentum(o, t);
    tn_tensor *next = nadam_captured_momentum(o, tni_captured_plus(t, 1));
    tn_tensor *product = tnp_mul_(s->state[3][i], now);
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, decoupled), *d;
    tni_captured_moments(m, v, g, o->betas);
    d = tnp_sqrt_(tnp_div(v, tni_captured_correction(o->betas.at[1], t)));
    d = tni_captured_plus(d, o->eps);
    now = tnp_div(tni_captured_rest(now), tni_captured_rest(product));
    next = tnp_div(next, tni_captured_rest(tnp_mul(product, next)));
    now = tni_captured_by_rate(s, i, now, o->lr, -1);
    next = tni_captured_by_rate(s, i, next, o->lr, -1);
    tni_captured_divided(s->param[i], now, g, d);
    tni_captured_divided(s->param[i], next, m, d);
}
static bool nadam_captured(tn_ostep *s) { return tni_captured_each(s, nadam_captured_one); }
/* g and p are decayed as in Adam or, decoupled_weight_decay, AdamW; u = beta1 (1 - 0.96^(t
 * momentum_decay) / 2), w = the same of t + 1, U = the product of all u; m and v as in Adam; d =
 * sqrt(v / (1 - beta2^t)) + eps; p -= lr (1 - u) / (1 - U) g / d + lr w / (1 - U w) m / d. */
TN_OPTIMIZER(nadam,
             "NAdam(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, float momentum_decay=0.004, bool "
             "decoupled_weight_decay=False, *, bool maximize=False, bool capturable=False)",
             TN_DOC(.example = "tn_optim_nadam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq", .numbers = "mu_product", .check = nadam_check,
             .begin = nadam_begin, .step = nadam_step, .counts = true,
             .capturable = offsetof(tn_optim_nadam_args, capturable),
             .captured = TNI_IF(capturable, nadam_captured, NULL))

/* --- RAdam ------------------------------------------------------------------------------------ */

static bool radam_check(const void *options) {
    const tn_optim_radam_args *o = (const tn_optim_radam_args *)options;
    return moments_check(o->lr, o->betas, o->eps, o->weight_decay);
}
/* The rectifier of step t; 0 while too few steps were made to know the variance. */
static double radam_rectifier(double beta2, double t, double corrected) {
    const double most = 2 / (1 - beta2) - 1, now = most - 2 * t * pow(beta2, t) / corrected;
    if (!(now > 5)) return 0;
    return sqrt((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now));
}
static bool radam_step(tn_ostep *s) {
    enum { FACTORS = 10 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_radam_args *o = (const tn_optim_radam_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        const double t = s->count[i], corrected = 1 - pow(o->betas.at[1], t);
        moments_decay(to, o->lr, o->weight_decay, o->decoupled_weight_decay);
        to[3] = o->lr;
        to[4] = o->betas.at[0];
        to[5] = o->betas.at[1];
        to[6] = o->eps;
        to[7] = 1 - pow(o->betas.at[0], t);
        to[8] = sqrt(corrected);
        to[9] = radam_rectifier(o->betas.at[1], t, corrected);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RADAM, FACTORS);
}
/* The rectifier of step t, times the root of the squares' correction c; 0: do not adapt. */
static tn_tensor *radam_captured_rectifier(double beta2, tn_tensor *t, tn_tensor *c) {
    const double most = 2 / (1 - beta2) - 1;
    tn_tensor *power = tnp_mul(t, tni_captured_power(beta2, t)), *now, *r;
    now = tni_captured_plus(tni_captured_times(tnp_div(power, c), -2), most);
    r = tnp_mul(tni_captured_plus(now, -4), tni_captured_plus(now, -2));
    r = tni_captured_times(tnp_div(r, now), most / ((most - 4) * (most - 2)));
    r = tnp_sqrt(tnp_mul(r, c));
    return tnp_where_scalar(tnp_gt_scalar(now, tn_int(5)), r, tn_int(0));
}
static void radam_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_radam_args *o = (const tn_optim_radam_args *)s->options[i];
    const bool decoupled = o->decoupled_weight_decay;
    tn_tensor *m = s->state[0][i], *v = s->state[1][i];
    tn_tensor *t = tni_captured_next(s, 2, i);
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, decoupled), *r;
    tn_tensor *size = tni_captured_correction(o->betas.at[0], t);
    tni_captured_moments(m, v, g, o->betas);
    size = tni_captured_by_rate(s, i, tnp_reciprocal(size), o->lr, -1);
    r = radam_captured_rectifier(o->betas.at[1], t, tni_captured_correction(o->betas.at[1], t));
    /* r / (sqrt(v) + eps), or 1 where it does not adapt */
    g = tnp_div(r, tni_captured_plus(tnp_sqrt(v), o->eps));
    g = tnp_where_scalar(tnp_gt_scalar(r, tn_int(0)), g, tn_int(1));
    tnp_add_(s->param[i], tnp_mul_(tnp_mul(m, g), size), 1);
}
static bool radam_captured(tn_ostep *s) { return tni_captured_each(s, radam_captured_one); }
/* g, p, m and v as in NAdam; s = m / (1 - beta1^t) lr; r = 2 / (1 - beta2) - 1, q = r - 2 t beta2^t
 * / (1 - beta2^t); where q > 5, s *= sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((q - 4) (q - 2) r /
 * ((r - 4) (r - 2) q)); p -= s. */
TN_OPTIMIZER(
    radam,
    "RAdam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
    "float weight_decay=0.0, bool decoupled_weight_decay=False, *, bool maximize=False, bool "
    "capturable=False)",
    TN_DOC(.example = "tn_optim_radam(tn_parameters(net), .lr = 1e-3)"),
    .state = "exp_avg, exp_avg_sq", .check = radam_check, .step = radam_step, .counts = true,
    .capturable = offsetof(tn_optim_radam_args, capturable),
    .captured = TNI_IF(capturable, radam_captured, NULL))
