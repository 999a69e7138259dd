/* optim.h - optimizers with parameter groups, learning-rate schedules, gradient clipping.
 *
 *     tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 1e-3);
 *     for (...) { tn_optimizer_zero_grad(opt); TN_SCOPE { tn_backward(loss(net)); }
 *         tn_optimizer_step(opt); }
 *
 * An optimizer is a row (TN_OPTIMIZER in src/optim/): options, names of its state tensors, and the
 * step as one operator call over all parameters of all groups. Formulas, defaults and state are
 * torch's. */
#ifndef TNI_API_OPTIM_H
#define TNI_API_OPTIM_H

#include "nn.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_optimizer tn_optimizer;
typedef struct tn_orow tn_orow;
typedef struct tn_ostep tn_ostep; /* a step in progress */

/* The trainable parameters of a module, each once, in torch's order: borrowed until the module's
 * next such call or its end. n = -1 on error, which an optimizer's constructor passes on. */
TN_API tn_tensors tn_parameters_at(const char *file, int line, tn_module *m);
#define tn_parameters(m) tn_parameters_at(__FILE__, __LINE__, m)

/* --- the row ---------------------------------------------------------------------------------- */

enum { TN_OPTIM_STATES = 4 };

/* A kind of optimizer. Its first parameter is `Tensor[] params`; all others have defaults and may
 * differ by group. */
struct tn_orow {
    const char *name, *schema; /* "SGD(Tensor[] params, float lr=0.001, float momentum=0, ...)" */
    const tn_gen *gen;         /* of tn_optim_<name>_args */
    /* the fields of TN_OPTIMIZER, in this order */
    const char
        *state; /* names of the state tensors, each like its parameter: "exp_avg, exp_avg_sq" */
    bool (*check)(const void *options); /* the options of a group; false with an error */
    uint32_t (*uses)(
        const void *options);  /* bit k: state k is used with these options; NULL: all */
    bool (*step)(tn_ostep *s); /* one operator call: all parameters change, or none */
    bool counts; /* keeps a number of steps (`step`, a 0-dim f32 tensor, as torch's) */
};

/* The rows of the library, by number, in the order of their names. */
TN_API int64_t tn_orow_count(void);
TN_API const tn_orow *tn_orow_at(int64_t i); /* NULL out of range */

/* What a row's step sees: n parameters that have a gradient. options[i] is the argument struct of
 * i's group. */
struct tn_ostep {
    tn_optimizer *optimizer; /* NULL: somebody else keeps groups and states */
    int64_t n;
    tn_tensor **param, **grad;
    tn_tensor **state[TN_OPTIM_STATES]; /* zero before the first step; NULL members: not used by
                                           that group */
    const double *count; /* steps of parameter i, this one included; NULL unless the row counts */
    const bool *first;   /* the state of parameter i was made for this step */
    const void *const *options;
    double *number; /* TN_OPTIM_NUMBERS * n numbers of scratch for option lists */
};
enum { TN_OPTIM_NUMBERS = 8 };

/* --- optimizers ------------------------------------------------------------------------------- */

/* args: the row's argument struct. Holds the parameters: leaves, each in one group only. */
TN_API tn_optimizer *tn_optimizer_make(const char *file, int line, const tn_orow *row,
                                       const void *args);
TN_API void tn_optimizer_free(tn_optimizer *o);
/* Another group, with options by name that differ from those of group 0. Returns its number, -1 on
 * error. */
TN_API int tn_optimizer_group_at(const char *file, int line, tn_optimizer *o, tn_tensors params,
                                 const tn_value *values, int nvalues);
#define tn_optimizer_group(o, params, values, nvalues) \
    tn_optimizer_group_at(__FILE__, __LINE__, o, params, values, nvalues)
TN_API int tn_optimizer_groups(const tn_optimizer *o);
/* A number among the options of a group ("lr"); booleans are 0 and 1. get: NaN and an error when
 * there is none. */
TN_API bool tn_optimizer_set_at(const char *file, int line, tn_optimizer *o, int group,
                                const char *option, double value);
#define tn_optimizer_set(o, group, option, value) \
    tn_optimizer_set_at(__FILE__, __LINE__, o, group, option, value)
TN_API double tn_optimizer_get_at(const char *file, int line, const tn_optimizer *o, int group,
                                  const char *option);
#define tn_optimizer_get(o, group, option) tn_optimizer_get_at(__FILE__, __LINE__, o, group, option)

/* Strong guarantee: all parameters and states have moved, or none. Parameters without .grad are
 * left as they are. */
TN_API bool tn_optimizer_step_at(const char *file, int line, tn_optimizer *o);
#define tn_optimizer_step(o) tn_optimizer_step_at(__FILE__, __LINE__, o)
TN_API void tn_optimizer_zero_grad(tn_optimizer *o);

/* state.<i>.<name> of parameter i (counted through the groups), group.<g>.<option> as 0-dim f64 or
 * i64. The list owns its tensors' counts: states are shared with the optimizer, not copied.
 * Loading: all or nothing. */
TN_API tn_named_list tn_optimizer_state_dict_at(const char *file, int line, const tn_optimizer *o);
#define tn_optimizer_state_dict(o) tn_optimizer_state_dict_at(__FILE__, __LINE__, o)
TN_API bool tn_optimizer_load_at(const char *file, int line, tn_optimizer *o, const tn_named *at,
                                 int64_t n);
#define tn_optimizer_load(o, at, n) tn_optimizer_load_at(__FILE__, __LINE__, o, at, n)

/* --- clipping --------------------------------------------------------------------------------- */

/* Scales the gradients so that their common norm (2; HUGE_VAL: maximum) is at most max_norm.
 * Returns the norm before; NaN and an error when it fails. No gradients: 0. */
TN_API double tn_clip_grad_norm_at(const char *file, int line, tn_tensors params, double max_norm,
                                   double norm_type);
#define tn_clip_grad_norm(params, max_norm) \
    tn_clip_grad_norm_at(__FILE__, __LINE__, params, max_norm, 2.0)

/* --- learning rates --------------------------------------------------------------------------- */

/* A schedule moves the "lr" of every group, by torch's recursive formulas, at tn_schedule_step
 * (once an epoch). A rate that the optimizer refuses, as a negative one, fails: all groups and the
 * count are as before. */
typedef struct tn_schedule tn_schedule;
/* lr *= gamma every `every` steps (torch.optim.lr_scheduler.StepLR). */
TN_API tn_schedule *tn_step_lr_at(const char *file, int line, tn_optimizer *o, int64_t every,
                                  double gamma);
#define tn_step_lr(o, every, gamma) tn_step_lr_at(__FILE__, __LINE__, o, every, gamma)
/* From the initial lr down to eta_min along half a cosine in t_max steps, and up again
 * (CosineAnnealingLR). */
TN_API tn_schedule *tn_cosine_lr_at(const char *file, int line, tn_optimizer *o, int64_t t_max,
                                    double eta_min);
#define tn_cosine_lr(o, t_max, eta_min) tn_cosine_lr_at(__FILE__, __LINE__, o, t_max, eta_min)
/* lr = initial lr * factor(step, user) (LambdaLR): any other schedule. */
TN_API tn_schedule *tn_lambda_lr_at(const char *file, int line, tn_optimizer *o,
                                    double (*factor)(int64_t step, void *user), void *user);
#define tn_lambda_lr(o, factor, user) tn_lambda_lr_at(__FILE__, __LINE__, o, factor, user)
TN_API bool tn_schedule_step_at(const char *file, int line, tn_schedule *s);
#define tn_schedule_step(s) tn_schedule_step_at(__FILE__, __LINE__, s)
TN_API void tn_schedule_free(tn_schedule *s); /* before its optimizer */
/* How many steps were made; setting it is for resuming (the optimizer's lr is restored by its own
 * state). */
TN_API int64_t tn_schedule_count(const tn_schedule *s);
TN_API bool tn_schedule_resume_at(const char *file, int line, tn_schedule *s, int64_t count,
                                  const double *initial, int ngroups);
#define tn_schedule_resume(s, count, initial, ngroups) \
    tn_schedule_resume_at(__FILE__, __LINE__, s, count, initial, ngroups)
TN_API double tn_schedule_initial(const tn_schedule *s, int group);

TNI_EXTERN_C_END
#endif
