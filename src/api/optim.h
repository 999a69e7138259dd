/* optim.h - optimizers, learning-rate schedules, clipping of gradients.
 *
 *     tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 1e-3);
 *     for (...) { tn_optimizer_zero_grad(opt); TN_SCOPE { tn_backward(loss(net)); }
 *         tn_optimizer_step(opt); }
 *
 * An optimizer is a row: options, names of its state tensors, and a step that makes one operator
 * call over all parameters of all groups. Formulas, defaults and state are torch's. One thread at a
 * time may use an optimizer. */
#ifndef TNI_API_OPTIM_H
#define TNI_API_OPTIM_H

#include "nn.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_optimizer tn_optimizer;
TNI_RESULT_OF(tn_optimizer)
typedef struct tn_orow tn_orow;
typedef struct tn_ostep tn_ostep; /* a step in progress */

/* --- the row ---------------------------------------------------------------------------------- */

enum { TN_OPTIM_STATES = 4, TN_OPTIM_KEPT = 2 };

/* A kind of optimizer. Its first parameter is `Tensor[] params`; all others have defaults and may
 * differ between groups. */
struct tn_orow {
    const char *name, *schema; /* "SGD(Tensor[] params, float lr=0.001, float momentum=0, ...)" */
    const tn_gen *gen;         /* of tn_optim_<name>_args */
    /* the fields of TN_OPTIMIZER, in this order */
    /* names of the state tensors, each of its parameter's dtype: "exp_avg, exp_avg_sq" */
    const char *state;
    /* names of numbers kept for a parameter, 0-dim f32 tensors like torch's: "mu_product" */
    const char *numbers;
    bool (*check)(const void *options);    /* of a group's options; false with an error */
    uint32_t (*uses)(const void *options); /* bit k: these options need state k; NULL: all */
    /* A new state k of param; NULL without an error if this param has none. The field is NULL for
     * zeros like the parameter. */
    tn_tensor *(*begin)(const void *options, const tn_tensor *param, int k);
    bool (*step)(tn_ostep *s); /* one operator call: all parameters change, or none */
    bool counts;               /* counts steps, in `step`, a 0-dim f32 tensor like torch's */
    /* The place of the option `capturable` in the options; 0: there is none. Where it is true, the
     * count and the numbers are 0-dim f32 tensors of the parameter's device, which a graph can
     * change: states behind the row's own, `step` first, to which begin gives values (`step` is 0).
     * `captured` is then the step: several calls, of which some may be done when one fails. */
    size_t capturable;
    bool (*captured)(tn_ostep *s);
};

/* The library's rows, in the order of their names. */
TN_API int64_t tn_orow_count(void);
TN_API const tn_orow *tn_orow_at(int64_t i); /* NULL out of range */

/* What a row's step sees: the n parameters that have a gradient. */
struct tn_ostep {
    tn_optimizer *optimizer; /* NULL: the caller keeps groups and states itself */
    int64_t n;
    tn_tensor **param, **grad;
    /* state[k][i], as begin makes it before the first step; NULL if parameter i does not use it;
     * of a captured step with the steps made before this one behind the row's own */
    tn_tensor **state[TN_OPTIM_STATES];
    /* kept[j][i], NaN before the first step; the step sets the values that are kept after it */
    double *kept[TN_OPTIM_KEPT];
    const double *count; /* steps of parameter i, with this one; NULL unless the row counts */
    const bool *first;   /* true if the state of parameter i was made for this step */
    const void *const *options; /* the argument struct of parameter i's group */
    /* of a captured step, the tensor that has lr in its place (tn_optimizer_set_rate), or NULL; the
     * field is NULL: no parameter has one */
    tn_tensor *const *rate;
    double *number; /* TN_OPTIM_NUMBERS * n numbers of scratch, for option lists */
};
enum { TN_OPTIM_NUMBERS = 12 };

/* --- optimizers ------------------------------------------------------------------------------- */

/* The constructor that generated functions call; args is the row's argument struct. The optimizer
 * holds the parameters, which are leaves and each in one group only. NULL with an error. */
TN_API tn_optimizer *tn_optimizer_make(const char *file, int line, const tn_orow *row,
                                       const void *args);
TN_API void tn_optimizer_free(tn_optimizer *o);
/* Adds a group; values are the options, by name, that differ from those of group 0. Returns its
 * number; -1 with an error. */
TN_API int tn_optimizer_group_at(const char *file, int line, tn_optimizer *o, tn_tensors params,
                                 const tn_value *values, int nvalues);
#define tn_optimizer_group(o, params, values, nvalues) \
    tn_optimizer_group_at(__FILE__, __LINE__, o, params, values, nvalues)
TN_API int tn_optimizer_groups(const tn_optimizer *o);
/* An option of a group that is a number ("lr"), or a boolean as 0 or 1. get returns NaN with an
 * error if there is none. tn_optimizer_set(opt, 0, "lr", 1e-4) */
TN_API bool tn_optimizer_set_at(const char *file, int line, tn_optimizer *o, int group,
                                const char *option, double value);
#define tn_optimizer_set(o, group, option, value) \
    tn_optimizer_set_at(__FILE__, __LINE__, o, group, option, value)
TN_API double tn_optimizer_get_at(const char *file, int line, const tn_optimizer *o, int group,
                                  const char *option);
#define tn_optimizer_get(o, group, option) tn_optimizer_get_at(__FILE__, __LINE__, o, group, option)

/* The rate of a group with `capturable` becomes that of a tensor of one floating element, of the
 * parameters' device, which each step reads there: a graph too, so a rate that changes needs no new
 * capture. tn_optimizer_set of "lr", schedules and loading write the tensor; so may the program.
 * tn_optimizer_get and saving read it, and steps after `capturable` was set to 0. The optimizer
 * holds it; NULL: the rate is a number again. False with an error.
 *     tn_optimizer_set_rate(adam, 0, tn_full(TN_DIMS(), 1e-3, .device = cuda)) */
TN_API bool tn_optimizer_set_rate_at(const char *file, int line, tn_optimizer *o, int group,
                                     tn_tensor *rate);
#define tn_optimizer_set_rate(o, group, rate) \
    tn_optimizer_set_rate_at(__FILE__, __LINE__, o, group, rate)

/* Makes a step with the parameters' .grad; parameters without .grad stay as they are. False with an
 * error, and then no parameter and no state has changed, but for those of groups with `capturable`.
 *
 * Where that option is true, steps are counted in memory of the parameter's device, so that
 * tn_capture_begin may capture a step: replays count on. A first step, which makes the state, comes
 * before the capture. */
TN_API bool tn_optimizer_step_at(const char *file, int line, tn_optimizer *o);
#define tn_optimizer_step(o) tn_optimizer_step_at(__FILE__, __LINE__, o)
TN_API void tn_optimizer_zero_grad(tn_optimizer *o);

/* The state: state.<i>.<name> of parameter i, counted through the groups, and group.<g>.<option> as
 * 0-dim f64 or i64. The list owns its tensors, which share their memory with the optimizer. Loading
 * is all or nothing. */
TN_API tn_named_list tn_optimizer_state_dict_at(const char *file, int line, const tn_optimizer *o);
#define tn_optimizer_state_dict(o) tn_optimizer_state_dict_at(__FILE__, __LINE__, o)
TN_API bool tn_optimizer_load_at(const char *file, int line, tn_optimizer *o, const tn_named *at,
                                 int64_t n);
#define tn_optimizer_load(o, at, n) tn_optimizer_load_at(__FILE__, __LINE__, o, at, n)

/* --- clipping --------------------------------------------------------------------------------- */

/* Scales the gradients so that their common norm of order norm_type (HUGE_VAL: the maximum) is at
 * most max_norm. Returns the norm before, 0 without gradients; NaN with an error. */
TN_API double tn_nn_clip_grad_norm_at(const char *file, int line, tn_tensors params,
                                      double max_norm, double norm_type);
#define tn_nn_clip_grad_norm_(params, max_norm) \
    tn_nn_clip_grad_norm_at(__FILE__, __LINE__, params, max_norm, 2.0)

/* --- learning rates --------------------------------------------------------------------------- */

/* A schedule changes the "lr" of every group at each tn_schedule_step, usually once an epoch, by
 * torch's recursive formulas. If the optimizer refuses a rate, such as a negative one, the step
 * fails and changes neither groups nor count. */
typedef struct tn_schedule tn_schedule;
/* Multiplies lr by gamma at every `every`-th step (torch.optim.lr_scheduler.StepLR). */
TN_USE_RESULT TN_API tn_schedule *tn_optim_step_lr_at(const char *file, int line, tn_optimizer *o,
                                                      int64_t every, double gamma);
#define tn_optim_step_lr(o, every, gamma) tn_optim_step_lr_at(__FILE__, __LINE__, o, every, gamma)
/* Moves lr from its initial value down to eta_min along half a cosine in t_max steps, then
 * up again (CosineAnnealingLR). */
TN_USE_RESULT TN_API tn_schedule *tn_optim_cosine_lr_at(const char *file, int line, tn_optimizer *o,
                                                        int64_t t_max, double eta_min);
#define tn_optim_cosine_lr(o, t_max, eta_min) \
    tn_optim_cosine_lr_at(__FILE__, __LINE__, o, t_max, eta_min)
/* Sets lr to its initial value times factor(step, user) (LambdaLR): any other schedule. */
TN_USE_RESULT TN_API tn_schedule *tn_optim_lambda_lr_at(const char *file, int line, tn_optimizer *o,
                                                        double (*factor)(int64_t step, void *user),
                                                        void *user);
#define tn_optim_lambda_lr(o, factor, user) \
    tn_optim_lambda_lr_at(__FILE__, __LINE__, o, factor, user)
TN_API bool tn_schedule_step_at(const char *file, int line, tn_schedule *s);
#define tn_schedule_step(s) tn_schedule_step_at(__FILE__, __LINE__, s)
TN_API void tn_schedule_free(tn_schedule *s); /* free it before its optimizer */
/* The number of steps made. tn_schedule_resume sets it and the initial lr of each group; the
 * current lr is part of the optimizer's state. */
TN_API int64_t tn_schedule_count(const tn_schedule *s);
TN_API bool tn_schedule_resume_at(const char *file, int line, tn_schedule *s, int64_t count,
                                  const double *initial, int ngroups);
#define tn_schedule_resume(s, count, initial, ngroups) \
    tn_schedule_resume_at(__FILE__, __LINE__, s, count, initial, ngroups)
TN_API double tn_schedule_initial(const tn_schedule *s, int group);

/* --- mixed precision -------------------------------------------------------------------------- */

/* Scales the loss, so that small gradients of half precision survive, and skips steps whose
 * gradients overflow, as torch.amp.GradScaler. Weights stay f32.
 *     tn_scaler *scaler = tn_scaler_new();
 *     tn_backward(tn_scaler_scale(scaler, loss));
 *     tn_scaler_step(scaler, opt); tn_scaler_update(scaler); */
typedef struct tn_scaler tn_scaler;
typedef struct tn_scaler_args {
    double init_scale;       /* 0: 65536 */
    double growth_factor;    /* above 1; 0: 2 */
    double backoff_factor;   /* between 0 and 1; 0: 0.5 */
    int64_t growth_interval; /* steps without an overflow before the scale grows; 0: 2000 */
} tn_scaler_args;
TN_USE_RESULT TN_API tn_scaler *tn_scaler_new_at(const char *file, int line,
                                                 const tn_scaler_args *args);
#define tn_scaler_new(...) TNI_CALL_AS(tn_scaler_new_at, tn_scaler_args, __VA_ARGS__)
TN_API void tn_scaler_free(tn_scaler *s);
/* loss times the scale; loss is f32, for the scale is beyond f16's largest number. */
TN_API tn_tensor *tn_scaler_scale_at(const char *file, int line, const tn_scaler *s,
                                     tn_tensor *loss);
#define tn_scaler_scale(s, loss) tn_scaler_scale_at(__FILE__, __LINE__, s, loss)
/* Divides the gradients by the scale, once before a step: to clip them. step does it unless that
 * was done, and steps if all are finite; a skipped step is no error. False with an error. */
TN_API bool tn_scaler_unscale_at(const char *file, int line, tn_scaler *s, tn_optimizer *o);
#define tn_scaler_unscale_(s, o) tn_scaler_unscale_at(__FILE__, __LINE__, s, o)
TN_API bool tn_scaler_step_at(const char *file, int line, tn_scaler *s, tn_optimizer *o);
#define tn_scaler_step(s, o) tn_scaler_step_at(__FILE__, __LINE__, s, o)
/* The scale of the next step: smaller after an overflow, larger after growth_interval steps without
 * one. */
TN_API bool tn_scaler_update_at(const char *file, int line, tn_scaler *s);
#define tn_scaler_update(s) tn_scaler_update_at(__FILE__, __LINE__, s)
/* The scale, and the steps without an overflow since it changed; resume sets both. */
TN_API double tn_scaler_get(const tn_scaler *s);
TN_API int64_t tn_scaler_count(const tn_scaler *s);
TN_API bool tn_scaler_resume_at(const char *file, int line, tn_scaler *s, double scale,
                                int64_t count);
#define tn_scaler_resume(s, scale, count) tn_scaler_resume_at(__FILE__, __LINE__, s, scale, count)

/* --- L-BFGS ----------------------------------------------------------------------------------- */

/* torch.optim.LBFGS: a step calls a closure several times, which makes the gradients new
 * (zero_grad, then backward) and returns the loss, a tensor of one number.
 *     static tn_tensor *loss_of(void *net) { ...; tn_backward(loss); return loss; }
 *     tn_lbfgs *opt = tn_lbfgs_new(tn_parameters(net), .strong_wolfe = true);
 *     double loss = tn_lbfgs_step(opt, loss_of, net); */
typedef struct tn_lbfgs tn_lbfgs;
typedef struct tn_lbfgs_args {
    tn_tensors params; /* floating leaves of one dtype on one device, which it holds */
    double lr;         /* 0: 1 */
    int64_t max_iter;  /* iterations of a step; 0: 20 */
    int64_t max_eval;  /* calls of the closure in a step; 0: max_iter * 5 / 4 */
    double tolerance_grad, tolerance_change; /* 0: 1e-7, 1e-9 */
    int64_t history_size;                    /* 0: 100 */
    bool strong_wolfe;                       /* a line search; without it steps have length lr */
    bool maximize;
} tn_lbfgs_args;
TN_USE_RESULT TN_API tn_lbfgs *tn_lbfgs_new_at(const char *file, int line,
                                               const tn_lbfgs_args *args);
#define tn_lbfgs_new(...) TNI_CALL_AS(tn_lbfgs_new_at, tn_lbfgs_args, .params = __VA_ARGS__)
TN_API void tn_lbfgs_free(tn_lbfgs *l);
TN_API void tn_lbfgs_zero_grad(tn_lbfgs *l); /* removes the gradients of its parameters */
/* The loss before the step; NaN with an error, and then parameters may have moved. */
TN_API double tn_lbfgs_step_at(const char *file, int line, tn_lbfgs *l,
                               tn_tensor *(*closure)(void *user), void *user);
#define tn_lbfgs_step(l, closure, user) tn_lbfgs_step_at(__FILE__, __LINE__, l, closure, user)
TN_API int64_t tn_lbfgs_evaluations(const tn_lbfgs *l); /* calls of the closure so far */

TNI_EXTERN_C_END
#endif
