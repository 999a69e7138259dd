/* adam.c - Adam (Kingma, Ba, 2015) and AdamW (Loshchilov, Hutter, 2019), as torch.optim. */
#include "optim.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/shape.h"
#include "../api/ops/layers.h"

/* Both have the same options, but each its own struct. adam_view holds those of a group. */
typedef struct adam_view {
    double lr, beta1, beta2, eps, weight_decay;
    bool amsgrad, maximize;
} adam_view;
#define ADAM_OPTIONS(name)                                                         \
    static adam_view name##_options(const void *options) {                         \
        const tn_optim_##name##_args *o = (const tn_optim_##name##_args *)options; \
        adam_view a = {o->lr,           o->betas.at[0], o->betas.at[1], o->eps,    \
                       o->weight_decay, o->amsgrad,     o->maximize};              \
        return a;                                                                  \
    }
ADAM_OPTIONS(adam)
ADAM_OPTIONS(adamw)
#undef ADAM_OPTIONS

/* torch's bounds; written so that NaN is refused as well. */
static bool adam_check_options(adam_view o) {
    return tni_option_bound(o.lr, "learning rate") && tni_option_bound(o.eps, "epsilon value") &&
           tni_option_betas(o.beta1, o.beta2) &&
           tni_option_bound(o.weight_decay, "weight_decay value");
}

/* The option lists of a step, n numbers each. */
enum {
    ADAM_STEP,
    ADAM_LR,
    ADAM_BETA1,
    ADAM_BETA2,
    ADAM_EPS,
    ADAM_DECAY,
    ADAM_AMSGRAD,
    ADAM_MAXIMIZE,
    ADAM_LISTS
};
/* Fills s->number, which has room for ADAM_LISTS lists of n numbers, one behind the other: list k
 * has its number for parameter i of the step at k * n + i. */
static void adam_lists(const tn_ostep *s, adam_view (*of)(const void *options),
                       tn_floats list[ADAM_LISTS]) {
    for (int k = 0; k < ADAM_LISTS; k++) list[k] = tni_numbers(s->number + k * s->n, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        adam_view o = of(s->options[i]);
        /* Number i of the first list; list k is k * n further. */
        double *to = s->number + i;
        to[ADAM_STEP * s->n] = s->count[i];
        to[ADAM_LR * s->n] = o.lr;
        to[ADAM_BETA1 * s->n] = o.beta1;
        to[ADAM_BETA2 * s->n] = o.beta2;
        to[ADAM_EPS * s->n] = o.eps;
        to[ADAM_DECAY * s->n] = o.weight_decay;
        to[ADAM_AMSGRAD * s->n] = o.amsgrad;
        to[ADAM_MAXIMIZE * s->n] = o.maximize;
    }
}

/* Of parameter i, whose number of steps is a tensor, as the sizes of the step are then. */
static void adam_one(const tn_ostep *s, int64_t i, adam_view o, bool decoupled) {
    const double beta[2] = {o.beta1, o.beta2};
    const tn_floats betas = {beta, 2};
    tn_tensor *v = s->state[1][i], *t = tni_captured_next(s, 3, i), *root, *size;
    tn_tensor *g = tni_captured_gradient(s, i, o.maximize, o.lr, o.weight_decay, decoupled);
    tni_captured_moments(s->state[0][i], v, g, betas);
    if (o.amsgrad) v = tnp_copy_(s->state[2][i], tnp_maximum(s->state[2][i], v));
    root = tnp_sqrt(tni_captured_correction(o.beta2, t));
    size = tnp_reciprocal(tni_captured_correction(o.beta1, t));
    size = tni_captured_by_rate(s, i, size, o.lr, -1);
    tni_captured_divided(s->param[i], size, s->state[0][i],
                         tni_captured_plus(tnp_div_(tnp_sqrt(v), root), o.eps));
}

/* The functions of a row. uses: bit k says that state k is needed: exp_avg, exp_avg_sq and,
 * for amsgrad, max_exp_avg_sq. */
#define ADAM_ROW(name, operator_)                                                            \
    static bool name##_check(const void *options) {                                          \
        return adam_check_options(name##_options(options));                                  \
    }                                                                                        \
    static uint32_t name##_uses(const void *options) {                                       \
        return name##_options(options).amsgrad ? 7u : 3u;                                    \
    }                                                                                        \
    static bool name##_step(tn_ostep *s) {                                                   \
        tn_floats l[ADAM_LISTS];                                                             \
        adam_lists(s, name##_options, l);                                                    \
        return operator_(tn_tensors_of(s->param, s->n), tn_tensors_of(s->grad, s->n),        \
                         tn_tensors_of(s->state[0], s->n), tn_tensors_of(s->state[1], s->n), \
                         tn_tensors_of(s->state[2], s->n), l[ADAM_STEP], l[ADAM_LR],         \
                         l[ADAM_BETA1], l[ADAM_BETA2], l[ADAM_EPS], l[ADAM_DECAY],           \
                         l[ADAM_AMSGRAD], l[ADAM_MAXIMIZE]);                                 \
    }

ADAM_ROW(adam, tnp_fused_adam_)
static void adam_captured_one(const tn_ostep *s, int64_t i) {
    adam_one(s, i, adam_options(s->options[i]), false);
}
static bool adam_captured(tn_ostep *s) { return tni_captured_each(s, adam_captured_one); }
/* m = lerp(m, g, 1 - beta1); v = beta2 v + (1 - beta2) g^2; p -= lr / (1 - beta1^t) * m / (sqrt(v)
 * / sqrt(1 - beta2^t) + eps); weight_decay is added to g. amsgrad: the largest v so far. */
TN_OPTIMIZER(adam,
             "Adam(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
             "float weight_decay=0.0, "
             "bool amsgrad=False, *, bool maximize=False, bool capturable=False)",
             TN_DOC(.example = "tn_optim_adam(tn_parameters(net), .lr = 1e-3)"),
             .state = "exp_avg, exp_avg_sq, max_exp_avg_sq", .check = adam_check, .uses = adam_uses,
             .step = adam_step, .counts = true,
             .capturable = offsetof(tn_optim_adam_args, capturable),
             .captured = TNI_IF(capturable, adam_captured, NULL))

ADAM_ROW(adamw, tnp_fused_adamw_)
static void adamw_captured_one(const tn_ostep *s, int64_t i) {
    adam_one(s, i, adamw_options(s->options[i]), true);
}
static bool adamw_captured(tn_ostep *s) { return tni_captured_each(s, adamw_captured_one); }
/* Adam, with the weights decayed by themselves: p *= 1 - lr * weight_decay. */
TN_OPTIMIZER(
    adamw,
    "AdamW(Tensor[] params, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, "
    "float weight_decay=0.01, "
    "bool amsgrad=False, *, bool maximize=False, bool capturable=False)",
    TN_DOC(.example = "tn_optim_adamw(tn_parameters(net), .lr = 1e-3, .weight_decay = 0.1)"),
    .state = "exp_avg, exp_avg_sq, max_exp_avg_sq", .check = adamw_check, .uses = adamw_uses,
    .step = adamw_step, .counts = true, .capturable = offsetof(tn_optim_adamw_args, capturable),
    .captured = TNI_IF(capturable, adamw_captured, NULL))

#undef ADAM_ROW
