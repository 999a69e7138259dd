/* sgd.c - stochastic gradient descent with momentum (torch.optim.SGD). */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/layers.h"

/* torch's bounds; written so that NaN is refused as well. */
static bool sgd_check(const void *options) {
    const tn_optim_sgd_args *o = (const tn_optim_sgd_args *)options;
    if (!tni_option_bound(o->lr, "learning rate") ||
        !tni_option_bound(o->momentum, "momentum value") ||
        !tni_option_bound(o->weight_decay, "weight_decay value"))
        return false;
    return !o->nesterov || (o->momentum > 0 && o->dampening == 0) ||
           tni_nn_error(
               TN_INVALID,
               "Nesterov momentum requires a momentum and zero dampening; nesterov is true");
}
/* Bit 0: the momentum buffer. */
static uint32_t sgd_uses(const void *options) {
    return ((const tn_optim_sgd_args *)options)->momentum != 0;
}
/* As the gradient lies. */
static tn_tensor *sgd_begin(const void *options, const tn_tensor *p, int k) {
    (void)options;
    (void)k;
    return tnp_zeros_like(tni_gradient_or(p), TN_NO_DTYPE, TN_NO_DEVICE);
}
/* Lays the options out as seven lists of n numbers, one behind the other, and steps all parameters
 * in one call. first: the buffer is new and begins as the gradient. */
static bool sgd_step(tn_ostep *s) {
    double *lr = s->number, *momentum = lr + s->n, *dampening = momentum + s->n,
           *decay = dampening + s->n;
    double *nesterov = decay + s->n, *maximize = nesterov + s->n, *first = maximize + s->n;
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_sgd_args *o = (const tn_optim_sgd_args *)s->options[i];
        lr[i] = o->lr;
        momentum[i] = o->momentum;
        dampening[i] = o->dampening;
        decay[i] = o->weight_decay;
        nesterov[i] = o->nesterov;
        maximize[i] = o->maximize;
        first[i] = s->first[i];
    }
    return tnp_fused_sgd_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n),
                          tn_tensors_of(s->state[0], s->n), tni_numbers(lr, s->n),
                          tni_numbers(momentum, s->n), tni_numbers(dampening, s->n),
                          tni_numbers(decay, s->n), tni_numbers(nesterov, s->n),
                          tni_numbers(maximize, s->n), tni_numbers(first, s->n));
}
/* g += weight_decay * p; b = momentum * b + (1 - dampening) * g (b = g at first); p -= lr *
 * (nesterov ? g + momentum * b : b). */
TN_OPTIMIZER(sgd,
             "SGD(Tensor[] params, float lr=0.001, float momentum=0.0, float dampening=0.0, float "
             "weight_decay=0.0, "
             "bool nesterov=False, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_sgd(tn_parameters(net), .lr = 0.1, .momentum = 0.9)"),
             .state = "momentum_buffer", .check = sgd_check, .uses = sgd_uses, .begin = sgd_begin,
             .step = sgd_step)
