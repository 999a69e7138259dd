/* optimize.h - kernel entries of optimizer steps: K(ret, name, params).
 *
 * Each element goes through the same roundings as torch's single-tensor reference on vectors (fused
 * where its kernels fuse), so parameters agree with it to the bit. */
#ifndef TNI_KERNELS_OPTIMIZE_H
#define TNI_KERNELS_OPTIMIZE_H

#include "../base/base.h"

/* One tensor's options, as double; rounded to the type at use. */
typedef struct tni_adam {
    double decay; /* L2: g += decay * p; decoupled: p *= decay first; */
    bool decays, decoupled, maximize;
    double one_beta1, beta2, one_beta2, step, root,
        eps; /* 1 - beta1 ..., -lr / (1 - beta1^t), sqrt(1 - beta2^t) */
} tni_adam;

typedef struct tni_sgd {
    double decay, momentum, one_dampening, rate; /* rate: -lr */
    bool decays, nesterov, maximize, first;
} tni_sgd;

#define TNI_KERNELS_OPTIMIZE_TYPE(K, S)                                                       \
    /* p, m, v and, where not NULL, the running maximum of v are updated by the gradient g */ \
    K(void, adam_##S,                                                                         \
      (void *p, const void *g, void *m, void *v, void *most, int64_t n, const tni_adam *o))   \
    /* p and, where not NULL, the momentum m are updated by the gradient g */                 \
    K(void, sgd_##S, (void *p, const void *g, void *m, int64_t n, const tni_sgd *o))

/* A rule of fused_step; at: parameter, gradient, states, NULL if not used; c: its factors. */
#define TNI_KERNELS_RULE(K, name) K(void, name, (void *const *at, int64_t n, const double *c))
#define TNI_KERNELS_RULES(K, S)       \
    TNI_KERNELS_RULE(K, adagrad_##S)  \
    TNI_KERNELS_RULE(K, rmsprop_##S)  \
    TNI_KERNELS_RULE(K, adadelta_##S) \
    TNI_KERNELS_RULE(K, adamax_##S)   \
    TNI_KERNELS_RULE(K, nadam_##S)    \
    TNI_KERNELS_RULE(K, radam_##S)    \
    TNI_KERNELS_RULE(K, rprop_##S)    \
    TNI_KERNELS_RULE(K, asgd_##S)     \
    TNI_KERNELS_RULE(K, assign_##S)

#define TNI_KERNELS_OPTIMIZE(K)       \
    TNI_KERNELS_OPTIMIZE_TYPE(K, f32) \
    TNI_KERNELS_OPTIMIZE_TYPE(K, f64) \
    TNI_KERNELS_RULES(K, f32)         \
    TNI_KERNELS_RULES(K, f64)

#endif
