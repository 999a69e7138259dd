/* rules.c - what optimizers that step by fused_step share. */
#include "optim.h"
#include "../api/ops/elementwise.h"

#include <math.h>

/* A number as Python prints it: 1.0, not 1. */
static const char *option_text(double value, char to[40]) {
    char number[32];
    snprintf(number, sizeof number, "%.9g", value);
    snprintf(to, 40, "%s%s", number, number[strspn(number, "-0123456789")] ? "" : ".0");
    return to;
}
TN_PRIV bool tni_option_bound(double value, const char *what) {
    const bool rate = !strcmp(what, "learning rate"), epsilon = !strcmp(what, "epsilon value");
    const int n = (int)strcspn(what, " "); /* the option's name */
    char text[40];
    return value >= 0 || tni_nn_error(TN_INVALID, "Invalid %s: %s, but %.*s must not be negative",
                                      what, option_text(value, text), rate || epsilon ? 3 : n,
                                      rate      ? "lr"
                                      : epsilon ? "eps"
                                                : what);
}
TN_PRIV bool tni_option_should(bool good, const char *what, const char *should, double value) {
    char text[40];
    return good || tni_nn_error(TN_INVALID, "%s should be %s but is: %s", what, should,
                                option_text(value, text));
}
TN_PRIV bool tni_option_betas(double first, double second) {
    const int at = first >= 0 && first < 1;
    char text[40];
    return (at && second >= 0 && second < 1) ||
           tni_nn_error(TN_INVALID,
                        "Invalid beta parameter at index %d: %s, expected betas in [0, 1)", at,
                        option_text(at ? second : first, text));
}
TN_PRIV bool tni_option_etas(double below, double above) {
    char text[40], more[40];
    return (below > 0 && below < 1 && above > 1) ||
           tni_nn_error(TN_INVALID,
                        "Invalid eta values: %s, %s, expected etas in (0, 1) and above 1",
                        option_text(below, text), option_text(above, more));
}
TN_PRIV bool tni_option_invalid(const char *what, double value, const char *expected) {
    char text[40];
    return tni_nn_error(TN_INVALID, "Invalid %s: %s, expected %s", what, option_text(value, text),
                        expected);
}

TN_PRIV double *tni_step_factors(const tn_ostep *s, int64_t i, int factors, bool maximize,
                                 double decay) {
    double *to = s->number + i * factors;
    to[0] = maximize;
    to[1] = decay;
    to[2] = 1; /* the parameter's factor before the step */
    return to;
}

TN_PRIV bool tni_step_by_rule(const tn_ostep *s, tn_optimizer_rule rule, int factors) {
    tn_tensors state[3];
    for (int k = 0; k < 3; k++) state[k] = tn_tensors_of(s->state[k], s->state[k] ? s->n : 0);
    return tnp_fused_step_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n), state[0],
                           state[1], state[2], rule, tni_numbers(s->number, s->n * factors));
}

TN_PRIV bool tni_step_assign(tn_tensor *const *to, tn_tensor *const *from, int64_t n) {
    static const double one = 1;
    const tn_tensors none = tn_tensors_of(NULL, 0);
    return tnp_fused_step_(tn_tensors_of(to, n), tn_tensors_of(from, n), none, none, none,
                           TN_OPTIMIZER_RULE_ASSIGN, tni_numbers(&one, 1));
}

/* --- captured steps --------------------------------------------------------------------------- */

TN_PRIV TNI_NOINLINE tn_tensor *tni_captured_times(tn_tensor *t, double by) {
    return tnp_mul_scalar(t, tn_float(by));
}
TN_PRIV tn_tensor *tni_captured_by_rate(const tn_ostep *s, int64_t i, tn_tensor *t, double lr,
                                        double by) {
    tn_tensor *rate = s->rate ? s->rate[i] : NULL;
    return rate ? tni_captured_times(tnp_mul(t, rate), by) : tni_captured_times(t, by * lr);
}
TN_PRIV TNI_NOINLINE tn_tensor *tni_captured_plus(tn_tensor *t, double by) {
    return tnp_add_scalar(t, tn_float(by), 1);
}
TN_PRIV TNI_NOINLINE tn_tensor *tni_captured_power(double base, tn_tensor *t) {
    return tnp_pow_scalar_self(tn_float(base), t);
}
TN_PRIV TNI_NOINLINE tn_tensor *tni_captured_rest(tn_tensor *t) {
    return tnp_rsub_scalar(t, tn_int(1), 1);
}
TN_PRIV tn_tensor *tni_captured_correction(double beta, tn_tensor *t) {
    return tni_captured_rest(tni_captured_power(beta, t));
}
TN_PRIV bool tni_captured_each(tn_ostep *s, void (*one)(const tn_ostep *s, int64_t i)) {
    for (int64_t i = 0; i < s->n && tn_ok(); i++) {
        const int64_t mark = tn_scope_begin();
        one(s, i);
        tn_scope_end(mark);
    }
    return tn_ok();
}
TN_PRIV TNI_NOINLINE tn_tensor *tni_captured_next(const tn_ostep *s, int k, int64_t i) {
    return tnp_add_scalar_(s->state[k][i], tn_int(1), 1);
}
TN_PRIV bool tni_captured_count(tn_ostep *s, int k, bool (*step)(tn_ostep *s)) {
    tn_tensor **count = s->state[k];
    bool ok;
    s->state[k] = NULL;
    ok = step(s);
    s->state[k] = count;
    for (int64_t i = 0; ok && i < s->n; i++) ok = tni_captured_next(s, k, i) != NULL;
    return ok;
}
TN_PRIV tn_tensor *tni_captured_gradient(const tn_ostep *s, int64_t i, bool maximize, double lr,
                                         double decay, bool decoupled) {
    tn_tensor *g = maximize ? tnp_neg(s->grad[i]) : s->grad[i];
    if (decay == 0) return g;
    if (!decoupled) return tnp_add(g, s->param[i], decay);
    if (s->rate && s->rate[i]) {
        tn_tensor *kept = tni_captured_rest(tni_captured_times(s->rate[i], decay));
        return tnp_mul_(s->param[i], kept) ? g : NULL;
    }
    return tnp_mul_scalar_(s->param[i], tn_float(1 - fma(lr, decay, 0))) ? g : NULL;
}
TN_PRIV void tni_captured_moments(tn_tensor *m, tn_tensor *v, tn_tensor *g, tn_floats betas) {
    tnp_lerp_scalar_(m, g, tn_float(1 - betas.at[0]));
    tnp_addcmul_(tnp_mul_scalar_(v, tn_float(betas.at[1])), g, g, 1 - betas.at[1]);
}
TN_PRIV void tni_captured_move(const tn_ostep *s, int64_t i, tn_tensor *by, double lr) {
    if (s->rate && s->rate[i])
        tnp_addcmul_(s->param[i], by, s->rate[i], -1);
    else
        tnp_add_(s->param[i], by, -lr);
}
TN_PRIV void tni_captured_divided(tn_tensor *p, tn_tensor *size, tn_tensor *a, tn_tensor *b) {
    tnp_add_(p, tnp_mul_(tnp_div(a, b), size), 1);
}
