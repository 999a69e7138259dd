/* moments.c - relatives of Adam: Adamax (D. Kingma, J. Ba, 2015), NAdam (T. Dozat, 2016) and RAdam
 * (L. Liu et al., 2020), as torch.optim. */
#include "optim.h"

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
/* g += weight_decay p; m = lerp(m, g, 1 - beta1); u = max(beta2 u, |g| + eps); p -= lr / (1 -
 * beta1^t) m / u. */
TN_OPTIMIZER(adamax,
             "Adamax(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float "
             "eps=1e-08, float weight_decay=0.0, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adamax(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_inf", .check = adamax_check, .step = adamax_step,
             .counts = true)

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
/* g and p are decayed as in Adam or, decoupled_weight_decay, AdamW; u = beta1 (1 - 0.96^(t
 * momentum_decay) / 2), w = the same of t + 1, U = the product of all u; m and v as in Adam; d =
 * sqrt(v / (1 - beta2^t)) + eps; p -= lr (1 - u) / (1 - U) g / d + lr w / (1 - U w) m / d. */
TN_OPTIMIZER(nadam,
             "NAdam(Tensor[] params, float lr=0.002, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, float momentum_decay=0.004, bool "
             "decoupled_weight_decay=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_nadam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq", .numbers = "mu_product", .check = nadam_check,
             .step = nadam_step, .counts = true)

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
/* g, p, m and v as in NAdam; s = m / (1 - beta1^t) lr; r = 2 / (1 - beta2) - 1, q = r - 2 t beta2^t
 * / (1 - beta2^t); where q > 5, s *= sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((q - 4) (q - 2) r /
 * ((r - 4) (r - 2) q)); p -= s. */
TN_OPTIMIZER(radam,
             "RAdam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, bool decoupled_weight_decay=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_radam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq", .check = radam_check, .step = radam_step,
             .counts = true)
