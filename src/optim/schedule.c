/* schedule.c - learning rates that change, by torch's recursive formulas
 * (torch/optim/lr_scheduler.py), in double. */
#include "optim.h"

#include <math.h>

typedef double (*schedule_fn)(const tn_schedule *s, int group, double lr);

struct tn_schedule {
    tn_optimizer *o;
    schedule_fn next; /* the rate of a group at s->count, from the one before */
    int64_t count, every;
    double gamma, eta_min;
    double (*factor)(int64_t step, void *user);
    void *user;
    int ngroups;
    double *initial; /* a group */
    double *rate;    /* a group's next, while a step decides */
};

/* A schedule at count 0 in one block, with two lists of a number for each group
 * behind the struct. */
static tn_schedule *schedule_make(tn_optimizer *o, schedule_fn next) {
    tn_schedule *s;
    size_t bytes;
    if (!o) {
        tni_nn_error(TN_INVALID, "optimizer is NULL");
        return NULL;
    }
    bytes = sizeof *s + 2 * (size_t)o->ngroups * sizeof(double);
    s = (tn_schedule *)tn_alloc(bytes);
    if (!s) return NULL;
    memset(s, 0, bytes);
    s->o = o;
    s->next = next;
    s->ngroups = o->ngroups;
    /* The lists lie behind the struct. */
    s->initial = (double *)(void *)(s + 1);
    s->rate = s->initial + s->ngroups;
    for (int g = 0; g < s->ngroups; g++) s->initial[g] = tn_optimizer_get_at(NULL, 0, o, g, "lr");
    /* An optimizer whose row has no lr has set an error. */
    if (tn_ok()) return s;
    tn_schedule_free(s);
    return NULL;
}

/* A constructor's work; bad: what is wrong with its arguments, or NULL. */
static tn_schedule *schedule_new(const char *file, int line, const char *name, tn_optimizer *o,
                                 schedule_fn next, const char *bad) {
    tn_schedule *s = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, name);
    if (bad)
        tni_nn_error(TN_INVALID, "%s", bad);
    else
        s = schedule_make(o, next);
    tni_step_end(&step);
    return s;
}

/* The rates for s->count: of all groups, or of none with an error. */
static bool schedule_rates(tn_schedule *s) {
    /* Each is set, which checks it, and taken back; then all are set, which cannot fail. */
    for (int g = 0; g < s->ngroups; g++) {
        double lr = tn_optimizer_get_at(NULL, 0, s->o, g, "lr");
        s->rate[g] = s->next(s, g, lr);
        if (!tn_optimizer_set_at(NULL, 0, s->o, g, "lr", s->rate[g]) ||
            !tn_optimizer_set_at(NULL, 0, s->o, g, "lr", lr))
            return false;
    }
    for (int g = 0; g < s->ngroups; g++) tn_optimizer_set_at(NULL, 0, s->o, g, "lr", s->rate[g]);
    return tn_ok();
}

TN_API void tn_schedule_free(tn_schedule *s) {
    if (s && tn_context_exists())
        tn_alloc_free(s, sizeof *s + 2 * (size_t)s->ngroups * sizeof(double));
}

/* StepLR: one factor gamma each `every` steps. */
static double schedule_step_next(const tn_schedule *s, int group, double lr) {
    (void)group;
    return s->count % s->every ? lr : lr * s->gamma;
}
TN_API tn_schedule *tn_optim_step_lr_at(const char *file, int line, tn_optimizer *o, int64_t every,
                                        double gamma) {
    tn_schedule *s = schedule_new(file, line, "optim_step_lr", o, schedule_step_next,
                                  every < 1 ? "every must be positive" : NULL);
    if (!s) return NULL;
    /* Set after the construction, which does not call `next`. */
    s->every = every;
    s->gamma = gamma;
    return s;
}

/* CosineAnnealingLR (Loshchilov and Hutter 2017, "SGDR", equation 5) in torch's recursive form: the
 * rate follows from the one before, so a rate that was set by hand is scaled on. */
static double schedule_cosine_next(const tn_schedule *s, int group, double lr) {
    const double pi = 3.14159265358979323846;
    double t = (double)s->every, n = (double)s->count, range = s->initial[group] - s->eta_min;
    int64_t turn = (s->count - 1 - s->every) % (2 * s->every);
    double by = (1 + cos(pi * n / t)) / (1 + cos(pi * (n - 1) / t));
    /* At the bottom the divisor above is 0, and torch starts from the difference instead. fma(..,
     * 0) is a product that no compiler fuses with the sum, so it rounds as torch's does. */
    if (turn == 0) return lr + fma(range, (1 - cos(pi / t)) / 2, 0);
    return fma(by, lr - s->eta_min, 0) + s->eta_min;
}
TN_API tn_schedule *tn_optim_cosine_lr_at(const char *file, int line, tn_optimizer *o,
                                          int64_t t_max, double eta_min) {
    bool fits = t_max >= 1 && tni_is_count((double)t_max);
    tn_schedule *s = schedule_new(file, line, "optim_cosine_lr", o, schedule_cosine_next,
                                  fits ? NULL : "t_max: expected 1 to 2^53");
    if (!s) return NULL;
    s->every = t_max;
    s->eta_min = eta_min;
    return s;
}

/* LambdaLR: the program's function of the count, times the first rate. */
static double schedule_lambda_next(const tn_schedule *s, int group, double lr) {
    (void)lr;
    return s->initial[group] * s->factor(s->count, s->user);
}
TN_API tn_schedule *tn_optim_lambda_lr_at(const char *file, int line, tn_optimizer *o,
                                          double (*factor)(int64_t step, void *user), void *user) {
    tn_schedule *s = schedule_new(file, line, "optim_lambda_lr", o, schedule_lambda_next,
                                  factor ? NULL : "factor is NULL");
    tni_step step;
    bool ok;
    if (!s) return NULL;
    s->factor = factor;
    s->user = user;
    /* torch sets the rates for count 0 at once; the program's function may fail. */
    tni_step_begin(&step, file, line, "optim_lambda_lr");
    ok = schedule_rates(s);
    tni_step_end(&step);
    if (ok) return s;
    tn_schedule_free(s);
    return NULL;
}

/* One step; the count stays as it was if a rate is refused. */
static bool schedule_step(tn_schedule *s) {
    if (!s) return tni_nn_error(TN_INVALID, "schedule is NULL");
    s->count++;
    if (schedule_rates(s)) return true;
    s->count--;
    return false;
}
TN_API bool tn_schedule_step_at(const char *file, int line, tn_schedule *s) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "schedule");
    ok = schedule_step(s);
    tni_step_end(&step);
    return ok;
}

TN_PRIV int tni_schedule_groups(const tn_schedule *s) { return s->ngroups; }
TN_API int64_t tn_schedule_count(const tn_schedule *s) { return s ? s->count : 0; }
TN_API double tn_schedule_initial(const tn_schedule *s, int group) {
    return s && group >= 0 && group < s->ngroups ? s->initial[group] : (double)NAN;
}
TN_API bool tn_schedule_resume_at(const char *file, int line, tn_schedule *s, int64_t count,
                                  const double *initial, int ngroups) {
    tni_step step;
    bool ok = s && count >= 0 && tni_is_count((double)count) && initial && ngroups == s->ngroups;
    tni_place_begin(&step, file, line);
    if (!ok) tni_nn_error(TN_INVALID, "the schedule's state does not match");
    tni_step_end(&step);
    if (!ok) return false;
    /* The rate itself is an option of the optimizer, which its own state brings back. */
    s->count = count;
    memcpy(s->initial, initial, (size_t)ngroups * sizeof *initial);
    return true;
}
