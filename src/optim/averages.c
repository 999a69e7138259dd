/* averages.c - ASGD, stochastic gradient descent whose parameters are averaged (B. Polyak, A.
 * Juditsky, 1992), and Rprop (M. Riedmiller, H. Braun, 1993), as torch.optim. */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/shape.h"

#include <math.h>

/* --- ASGD ------------------------------------------------------------------------------------- */

static bool asgd_check(const void *options) {
    const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)options;
    return tni_option_bound(o->lr, "learning rate") && tni_option_bound(o->lambd, "lambd value") &&
           tni_option_bound(o->alpha, "alpha value") &&
           tni_option_bound(o->weight_decay, "weight_decay value");
}
static bool asgd_step(tn_ostep *s) {
    enum { FACTORS = 5 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, o->weight_decay);
        double *eta = &s->kept[0][i], *mu = &s->kept[1][i];
        const double t = s->count[i];
        if (isnan(*eta)) *eta = (float)o->lr;
        to[2] = 1 - fma(o->lambd, *eta, 0);
        to[3] = -*eta;
        to[4] = isnan(*mu) ? 1 : *mu;
        /* Both are those of the next step, as torch keeps them. */
        *eta = o->lr / pow(1 + fma(o->lambd * o->lr, t, 0), o->alpha);
        *mu = 1 / fmax(1, t - o->t0);
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_ASGD, FACTORS);
}
/* Captured, eta begins as lr and mu as 1. */
static tn_tensor *asgd_begin(const void *options, const tn_tensor *p, int k) {
    const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)options;
    return k == 0
               ? tnp_zeros_like((tn_tensor *)(uintptr_t)p, TN_NO_DTYPE, TN_NO_DEVICE)
               : tnp_full(tn_empty_dims(), tn_float(k == 2 ? o->lr : 1), TN_F32, tn_device_of(p));
}
static void asgd_captured_one(const tn_ostep *s, int64_t i) {
    const tn_optim_asgd_args *o = (const tn_optim_asgd_args *)s->options[i];
    tn_tensor *p = s->param[i], *average = s->state[0][i], *eta = s->state[2][i];
    tn_tensor *mu = s->state[3][i], *t = tni_captured_next(s, 1, i);
    tn_tensor *g = tni_captured_gradient(s, i, o->maximize, o->lr, o->weight_decay, false);
    tnp_mul_(p, tni_captured_rest(tni_captured_times(eta, o->lambd)));
    tnp_addcmul_(p, g, eta, -1);
    tnp_add_(average, tnp_mul_(tnp_sub(p, average, 1), mu), 1);
    g = tni_captured_plus(tni_captured_by_rate(s, i, t, o->lr, o->lambd), 1);
    tnp_copy_(eta, tni_captured_by_rate(s, i, tnp_pow_scalar(g, tn_float(-o->alpha)), o->lr, 1));
    g = tnp_clamp_min_scalar(tni_captured_plus(t, -o->t0), tn_int(1));
    tnp_copy_(mu, tnp_reciprocal(g));
}
static bool asgd_captured(tn_ostep *s) { return tni_captured_each(s, asgd_captured_one); }
/* g += weight_decay p; p = (1 - lambd eta) p - eta g; ax += mu (p - ax); then eta = lr / (1 + lambd
 * lr t)^alpha, mu = 1 / max(1, t - t0). */
TN_OPTIMIZER(asgd,
             "ASGD(Tensor[] params, float lr=0.01, float lambd=0.0001, float alpha=0.75, float "
             "t0=1000000.0, float weight_decay=0.0, bool maximize=False, *, bool capturable=False)",
             TN_DOC(.example = "tn_optim_asgd(tn_parameters(net), .lr = 0.05)"), .state = "ax",
             .numbers = "eta, mu", .check = asgd_check, .begin = asgd_begin, .step = asgd_step,
             .counts = true, .capturable = offsetof(tn_optim_asgd_args, capturable),
             .captured = TNI_IF(capturable, asgd_captured, NULL))

/* --- Rprop ------------------------------------------------------------------------------------ */

static bool rprop_check(const void *options) {
    const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)options;
    if (!tni_option_bound(o->lr, "learning rate")) return false;
    return tni_option_etas(o->etas.at[0], o->etas.at[1]);
}
/* The sizes of steps begin as lr. */
static tn_tensor *rprop_begin(const void *options, const tn_tensor *p, int k) {
    const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)options;
    return tnp_full_like(k == 1 ? tni_gradient_or(p) : (tn_tensor *)(uintptr_t)p,
                         tn_float(k == 1 ? o->lr : 0), TN_NO_DTYPE, TN_NO_DEVICE);
}
static bool rprop_step(tn_ostep *s) {
    enum { FACTORS = 7 };
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_rprop_args *o = (const tn_optim_rprop_args *)s->options[i];
        double *to = tni_step_factors(s, i, FACTORS, o->maximize, 0);
        to[3] = o->etas.at[0];
        to[4] = o->etas.at[1];
        to[5] = o->step_sizes.at[0];
        to[6] = o->step_sizes.at[1];
    }
    return tni_step_by_rule(s, TN_OPTIMIZER_RULE_RPROP, FACTORS);
}
static bool rprop_captured(tn_ostep *s) { return tni_captured_count(s, 2, rprop_step); }
/* size *= etas[1] where g has the sign of the gradient before, etas[0] where it has the other one,
 * and stays within step_sizes; where the sign has turned, g = 0; p -= sign(g) size. */
TN_OPTIMIZER(rprop,
             "Rprop(Tensor[] params, float lr=0.01, float[2] etas=[0.5, 1.2], float[2] "
             "step_sizes=[1e-06, 50.0], *, bool maximize=False, bool capturable=False)",
             TN_DOC(.example = "tn_optim_rprop(tn_parameters(net))"), .state = "prev, step_size",
             .check = rprop_check, .begin = rprop_begin, .step = rprop_step, .counts = true,
             .capturable = offsetof(tn_optim_rprop_args, capturable),
             .captured = TNI_IF(capturable, rprop_captured, NULL))
