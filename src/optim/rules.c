/* rules.c - what optimizers that step by fused_step share. */
#include "optim.h"

TN_PRIV bool tni_option_bound(double value, const char *name) {
    return value >= 0 ||
           tni_nn_error(TN_INVALID, "%s is %g, but must not be negative", name, value);
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
