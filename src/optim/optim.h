/* optim.h (room) - optimizers and schedules: private part. Sees the public chapters alone. */
#ifndef TNI_OPTIM_OPTIM_H
#define TNI_OPTIM_OPTIM_H

#include "../nn/nn.h"
#include "../api/ops/layers.h"

/* A kind of optimizer; stands below its functions. The generator reads these lines. */
#define TN_OPTIMIZER(name_, schema_, doc, ...)                                        \
    TNI_ROW_BEGIN                                                                     \
    TN_PRIV_DECLARE(tn_gen, tni_ogen_##name_);                                        \
    TN_PRIV_DECLARE(tn_orow, tni_optimizer_##name_);                                  \
    TNI_PRIVATE_BEGIN                                                                 \
    TN_PRIV_DEFINE(tn_orow, tni_optimizer_##name_) = {.name = #name_,                 \
                                                      .schema = schema_,              \
                                                      .gen = &tni_ogen_##name_,       \
                                                      TNI_WITHOUT_##doc __VA_ARGS__}; \
    TNI_PRIVATE_END TNI_ROW_END

TN_PRIV const tn_orow *const *tni_orows(void); /* NULL-terminated, by name; generated */

TNI_INLINE tn_floats tni_numbers(const double *at, int64_t n) {
    tn_floats l = {at, n};
    return l;
}

/* That an option is not negative; NaN is refused as well. */
TN_PRIV bool tni_option_bound(double value, const char *what);
/* torch's other words for options out of their bounds. */
TN_PRIV bool tni_option_should(bool good, const char *what, const char *should, double value);
TN_PRIV bool tni_option_betas(double first, double second);
TN_PRIV bool tni_option_etas(double below, double above);
TN_PRIV bool tni_option_invalid(const char *what, double value, const char *expected);
/* For rows that step by fused_step: the first of parameter i's factors, of which the first three
 * are set (simd/optimize_rules.inl); then the call. */
TN_PRIV double *tni_step_factors(const tn_ostep *s, int64_t i, int factors, bool maximize,
                                 double decay);
TN_PRIV bool tni_step_by_rule(const tn_ostep *s, tn_optimizer_rule rule, int factors);
/* p's gradient; p itself while it has none, as when a file is loaded before the first backward. */
TNI_INLINE tn_tensor *tni_gradient_or(const tn_tensor *p) {
    tn_tensor *grad = tn_grad_of(p);
    return grad ? grad : (tn_tensor *)(uintptr_t)p;
}
/* Whether steps can be counted on the device; never, where no source says capturable. */
TNI_INLINE bool tni_can_be_captured(const tn_orow *row) {
    (void)row;
    return TNI_IF(capturable, row->captured != NULL, false);
}
/* Captured steps: count and numbers are tensors. The step of each parameter by itself; false with
 * an error. */
TN_PRIV bool tni_captured_each(tn_ostep *s, void (*one)(const tn_ostep *s, int64_t i));
/* A row's own step, which reads no count; then all counts, state k, rise by 1. */
TN_PRIV bool tni_captured_count(tn_ostep *s, int k, bool (*step)(tn_ostep *s));
/* t by lr by `by`, where lr is the tensor that has it, if there is one. */
TN_PRIV tn_tensor *tni_captured_by_rate(const tn_ostep *s, int64_t i, tn_tensor *t, double lr,
                                        double by);
/* Of parameter i: the gradient with its sign and decay; `decoupled` decays the parameter. */
TN_PRIV tn_tensor *tni_captured_gradient(const tn_ostep *s, int64_t i, bool maximize, double lr,
                                         double decay, bool decoupled);
/* m = lerp(m, g, 1 - beta1) and v = beta2 v + (1 - beta2) g^2, in place. */
TN_PRIV void tni_captured_moments(tn_tensor *m, tn_tensor *v, tn_tensor *g, tn_floats betas);
/* t by, t + by, base^t, 1 - t, 1 - beta^t. */
TN_PRIV tn_tensor *tni_captured_times(tn_tensor *t, double by);
TN_PRIV tn_tensor *tni_captured_plus(tn_tensor *t, double by);
TN_PRIV tn_tensor *tni_captured_power(double base, tn_tensor *t);
TN_PRIV tn_tensor *tni_captured_rest(tn_tensor *t);
TN_PRIV tn_tensor *tni_captured_correction(double beta, tn_tensor *t);
/* The count of parameter i, which is state k and rises by 1. */
TN_PRIV tn_tensor *tni_captured_next(const tn_ostep *s, int k, int64_t i);
/* Parameter i -= lr by, with lr as above. */
TN_PRIV void tni_captured_move(const tn_ostep *s, int64_t i, tn_tensor *by, double lr);
/* p += size (a / b) */
TN_PRIV void tni_captured_divided(tn_tensor *p, tn_tensor *size, tn_tensor *a, tn_tensor *b);
/* Writes n tensors in one call: to[i] becomes from[i], of its shape and dtype. */
TN_PRIV bool tni_step_assign(tn_tensor *const *to, tn_tensor *const *from, int64_t n);

/* Parameters that share options. */
typedef struct tni_group {
    char *options; /* the argument struct, then its lists */
    int64_t bytes;
    int64_t first, count; /* in the optimizer's parameters */
    tn_tensor *rate;      /* that has lr, held; NULL: lr is a number */
} tni_group;

struct tn_optimizer {
    const tn_orow *row;
    int nstates, nkept, ngroups, groups_room;
    int nown; /* of nstates: those that the row names; behind them count and numbers, captured */
    tni_group *group;
    int64_t n;         /* parameters */
    tn_tensor **param; /* n, held */
    tn_tensor **state; /* nstates * n, by parameter; held; NULL before the first step */
    double *count;     /* n: steps made */
    double *kept;      /* nkept * n numbers, by parameter; NaN before the first step */
    int64_t bytes;     /* of the block of count, kept, param, state, and the room for a step */
    void *step_room;
};
TN_PRIV bool tni_group_check(const tn_optimizer *o, const void *options); /* the row's check */
/* lr of groups whose rate is a tensor: from there to the options, and back. False with an error. */
TN_PRIV bool tni_rates_down(const tn_optimizer *o);
TN_PRIV bool tni_rates_up(const tn_optimizer *o);
/* A number of an argument struct. put: false with an error when the option is none, or cannot hold
 * it; take: false when it is none. */
TN_PRIV bool tni_option_put(const tn_param *p, char *options, double value);
TN_PRIV bool tni_option_take(const tn_param *p, const char *options, double *value);

TN_PRIV int tni_schedule_groups(const tn_schedule *s); /* that it moves */

/* Steps and epochs that a file may say are done: 0 to 2^53, whole. */
TN_PRIV bool tni_is_count(double value);

/* New states, counts and options of an optimizer, prepared and then exchanged with the old ones, or
 * dropped. take: as in tni_plan_load. */
typedef struct tni_optimizer_plan {
    tn_optimizer *o;
    tn_tensor **state; /* nstates * n, held */
    double *count, *kept;
    char **options; /* ngroups */
    size_t bytes;
    bool take;
} tni_optimizer_plan;
TN_PRIV bool tni_optimizer_plan_load(tni_optimizer_plan *l, tn_optimizer *o, const tn_named *at,
                                     int64_t n, bool take);
TN_PRIV void tni_optimizer_plan_end(tni_optimizer_plan *l,
                                    bool commit); /* after a load that failed, too */

#endif
