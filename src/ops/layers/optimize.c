/* optimize.c - a step of an optimizer over all parameters in one call: all change, or none.
 *
 * Numbers are lists with one member a parameter, or one for all, so that groups with options of
 * their own are one call, too; those of truth are 0 or 1. Half types are computed in float and
 * rounded once. */
#include "../../api/device.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

enum { OPT_TILE = 4096, OPT_STATES = TN_STEP_TENSORS };

/* A parameter's tensors: itself, gradient, states; NULL: not used. */
typedef struct opt_task {
    tn_context *context;
    tn_tensor *t[OPT_STATES];
    int n; /* tensors of t in use */
    int dtype;
    bool alike; /* all lie without gaps in one order of elements */
    /* steps n elements of each, all of dtype `compute` */
    void (*step)(const tni_kernels *k, int compute, void *const *at, int64_t n, const void *how);
    const void *how; /* tni_adam, tni_sgd, opt_ruled */
} opt_task;

static void opt_adam_step(const tni_kernels *k, int compute, void *const *at, int64_t n,
                          const void *how) {
    (compute == TN_F32 ? TNI_K(k, adam_f32) : TNI_K(k, adam_f64))(at[0], at[1], at[2], at[3], at[4],
                                                                  n, (const tni_adam *)how);
}
static void opt_sgd_step(const tni_kernels *k, int compute, void *const *at, int64_t n,
                         const void *how) {
    (compute == TN_F32 ? TNI_K(k, sgd_f32) : TNI_K(k, sgd_f64))(at[0], at[1], at[2], n,
                                                                (const tni_sgd *)how);
}

/* n elements from row-major number i on, to or from `room`, for tensors of any strides. */
static void opt_move(const tni_kernels *k, const tn_tensor *t, int64_t i, int64_t n, int compute,
                     void *room, bool back) {
    int64_t bytes = tni_dtype_size(t), size = tni_dtype(compute)->bytes;
    /* Contiguous by vectors; any other layout element by element. */
    if (t->flags & TNI_CONTIGUOUS) {
        if (back)
            tni_lanes_write(k, tni_bytes_at(t) + i * bytes, bytes, t->dtype, room, compute, n);
        else
            tni_lanes_read(k, room, compute, tni_bytes_at(t) + i * bytes, bytes, t->dtype, n);
        return;
    }
    for (int64_t e = 0; e < n; e++) {
        const int64_t at = tni_offset_of(t->ndim, t->size, t->stride, i + e);
        if (back)
            tni_lanes_save(tni_bytes_at(t) + at * bytes, bytes, t->dtype, (char *)room + e * size,
                           compute, 1);
        else
            tni_lanes_load((char *)room + e * size, compute, tni_bytes_at(t) + at * bytes, bytes,
                           t->dtype, 1);
    }
}

static void opt_block(void *arg, int64_t b) {
    const opt_task *o = (const opt_task *)arg;
    /* Block b of one parameter: OPT_TILE elements of it, its gradient and its states. */
    int64_t i = b * OPT_TILE,
            n = o->t[0]->numel - i < OPT_TILE ? o->t[0]->numel - i : (int64_t)OPT_TILE;
    int compute = tni_lanes_compute(o->dtype);
    const bool direct = compute == o->dtype && o->alike;
    void *at[OPT_STATES] = {NULL, NULL, NULL, NULL, NULL};
    float room[OPT_STATES][OPT_TILE];
    double wide[OPT_STATES][OPT_TILE / 4];
    /* In place if all lie alike and are of the compute type; otherwise through tiles. */
    if (direct) {
        TNI_PATH(optimizer_in_place);
        for (int k = 0; k < o->n; k++)
            at[k] = o->t[k] ? tni_bytes_at(o->t[k]) + i * tni_dtype_size(o->t[k]) : NULL;
        o->step(o->context->kernels, compute, at, n, o->how);
        return;
    }
    TNI_PATH(optimizer_tiles);
    for (int64_t e = 0, m; e < n; e += m) {
        /* A tile holds fewer doubles than floats. */
        int64_t step = compute == TN_F32 ? (int64_t)OPT_TILE : (int64_t)OPT_TILE / 4;
        m = n - e < step ? n - e : step;
        for (int k = 0; k < o->n; k++) {
            if (!o->t[k]) continue;
            at[k] = compute == TN_F32 ? (void *)room[k] : (void *)wide[k];
            opt_move(o->context->kernels, o->t[k], i + e, m, compute, at[k], false);
        }
        o->step(o->context->kernels, compute, at, m, o->how);
        for (int k = 0; k < o->n; k++) /* All but the gradient (1) are written back. */
            if (o->t[k] && k != 1)
                opt_move(o->context->kernels, o->t[k], i + e, m, compute, at[k], true);
    }
}

/* Whether a lies as b, which has the same sizes and no gaps. */
static bool opt_lies_as(const tn_tensor *a, const tn_tensor *b) {
    for (int d = 0; d < a->ndim; d++)
        if (a->size[d] != 1 && a->stride[d] != b->stride[d]) return false;
    return true;
}
static void opt_run(opt_task *o) {
    int64_t numel = o->t[0]->numel;
    o->dtype = o->t[0]->dtype;
    o->alike = tni_is_dense(o->t[0]);
    for (int k = 1; k < o->n && o->alike; k++) o->alike = !o->t[k] || opt_lies_as(o->t[k], o->t[0]);
    if (numel) tni_lanes_spread(o->context, (numel + OPT_TILE - 1) / OPT_TILE, numel, opt_block, o);
}

/* The number of parameter i in a list of one a parameter, or of one for all. */
static double opt_number(tn_floats l, int64_t i) { return l.at[l.n == 1 ? 0 : i]; }

static bool opt_numbers(tn_frame *f, tn_floats l, int64_t n, const char *name) {
    if (l.n == n || l.n == 1) return true;
    return tn_fail(f, TN_INVALID, "%s has %lld elements for %lld parameters", name, (long long)l.n,
                   (long long)n);
}

/* Checks list `t` against the parameters: as many members, with the same shapes and dtypes. If
 * `optional`, members may be NULL. */
static bool opt_list(tn_frame *f, tn_tensors p, tn_tensors t, const char *name, bool optional) {
    if (t.n != p.n && !(optional && t.n == 0))
        return tn_fail(f, TN_INVALID, "%s has %lld elements for %lld parameters", name,
                       (long long)t.n, (long long)p.n);
    for (int64_t i = 0; i < t.n; i++) {
        if (!t.at[i] && optional) continue;
        if (!t.at[i] || !tni_same_shape(p.at[i], t.at[i]) || p.at[i]->dtype != t.at[i]->dtype)
            return tn_fail(f, TN_INVALID, "%s[%lld] differs from its parameter in shape or dtype",
                           name, (long long)i);
    }
    return true;
}

static bool opt_parameters(tn_frame *f, tn_tensors p, tn_tensors grads) {
    /* A parameter is written, so no two of its elements may be one. */
    for (int64_t i = 0; i < p.n; i++) {
        if (!p.at[i] || !tni_is_float(p.at[i]->dtype) || !tni_dtype(p.at[i]->dtype)->computes)
            return tn_fail(f, TN_TYPE, "parameter %lld is not floating", (long long)i);
        if (tni_overlaps_itself(p.at[i]))
            return tn_fail(f, TN_INVALID, "parameter %lld overlaps itself", (long long)i);
    }
    return opt_list(f, p, grads, "grads", false);
}

static tn_tensor *opt_member(tn_tensors l, int64_t i) { return i < l.n ? l.at[i] : NULL; }

/* --- SGD -------------------------------------------------------------------------------------- */

static bool fused_sgd_check(tn_frame *f) {
    TN_ARGS(fused_sgd, a, f);
    /* All is checked before the first parameter changes. */
    int64_t n = a->self.n;
    if (!opt_parameters(f, a->self, a->grads) ||
        !opt_list(f, a->self, a->momentum_buffer_list, "momentum_buffer_list", true))
        return false;
    for (int64_t i = 0; i < n && opt_numbers(f, a->momentum, n, "momentum"); i++)
        if (opt_number(a->momentum, i) != 0 && !opt_member(a->momentum_buffer_list, i))
            return tn_fail(f, TN_INVALID, "parameter %lld has momentum but no buffer",
                           (long long)i);
    return opt_numbers(f, a->momentum, n, "momentum") && opt_numbers(f, a->lr, n, "lr") &&
           opt_numbers(f, a->dampening, n, "dampening") &&
           opt_numbers(f, a->weight_decay, n, "weight_decay") &&
           opt_numbers(f, a->nesterov, n, "nesterov") &&
           opt_numbers(f, a->maximize, n, "maximize") &&
           opt_numbers(f, a->is_first_step, n, "is_first_step");
}
/* Parameter i, with what the kernel would compute again and again. */
static void opt_sgd_of(opt_task *o, tni_sgd *s, const tn_fused_sgd_args *a, int64_t i) {
    memset(o, 0, sizeof *o);
    o->t[0] = a->self.at[i];
    o->t[1] = a->grads.at[i];
    /* Without momentum the buffer is not touched. */
    o->t[2] = opt_number(a->momentum, i) != 0 ? a->momentum_buffer_list.at[i] : NULL;
    o->n = 3;
    s->decay = opt_number(a->weight_decay, i);
    s->momentum = opt_number(a->momentum, i);
    s->one_dampening = 1 - opt_number(a->dampening, i);
    s->rate = -opt_number(a->lr, i);
    s->decays = s->decay != 0;
    s->nesterov = opt_number(a->nesterov, i) != 0;
    s->maximize = opt_number(a->maximize, i) != 0;
    /* At its first step the buffer becomes the gradient. */
    s->first = opt_number(a->is_first_step, i) != 0;
    o->how = s;
}
static void fused_sgd_run(tn_frame *f) {
    TN_ARGS(fused_sgd, a, f);
    for (int64_t i = 0; i < a->self.n; i++) {
        tni_sgd s;
        opt_task o;
        opt_sgd_of(&o, &s, a, i);
        o.context = f->block->context;
        o.step = opt_sgd_step;
        opt_run(&o);
    }
}
/* For each parameter p with gradient g: g += weight_decay p; with momentum b = momentum b + (1 -
 * dampening) g, b = g at its first step, and g = b or, nesterov, g + momentum b; p -= lr g.
 * Numbers: a list with one member a parameter, or one for all. */
TN_OPERATOR(fused_sgd,
            "_fused_sgd_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)?[] momentum_buffer_list, *, "
            "float[] lr, float[] momentum, "
            "float[] dampening, float[] weight_decay, float[] nesterov, float[] maximize, float[] "
            "is_first_step) -> ()",
            TN_DOC(.shapes = "lists of equally many tensors, one shape at each place; "
                             "momentum_buffer_list: those, or NULL for each",
                   .example = "tn_fused_sgd_(params, grads, buffers, lr, momentum, dampening, "
                              "decay, no, no, first)"),
            .check = fused_sgd_check, .run = fused_sgd_run,
            .sample = "{(2,3),(4)} {(2,3),(4)} {(2,3),(4)} lr=[0.1,0.2] momentum=[0.9] "
                      "dampening=[0.1] weight_decay=[0.01] "
                      "nesterov=[0.0] maximize=[0.0] is_first_step=[0.0] | {(5000)} {(5000)} "
                      "{(5000)} lr=[0.1] momentum=[0.0] dampening=[0.0] "
                      "weight_decay=[0.0] nesterov=[0.0] maximize=[1.0] is_first_step=[1.0] | "
                      "{(5)} {(5)} {(5)} lr=[0.1] momentum=[0.9] dampening=[0.0] "
                      "weight_decay=[0.1] nesterov=[1.0] maximize=[0.0] is_first_step=[0.0] | "
                      "{(5)} {(5)} {(5)} lr=[0.1] momentum=[0.9] dampening=[0.5] "
                      "weight_decay=[0.1] nesterov=[0.0] maximize=[0.0] is_first_step=[1.0]")

/* --- Adam ------------------------------------------------------------------------------------- */

typedef struct opt_adam { /* the common members of both rows' arguments */
    tn_tensors self, grads, m, v, most;
    tn_floats step, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize;
} opt_adam;

static bool opt_adam_check(tn_frame *f, const opt_adam *a) {
    /* As for SGD: tensors, numbers, then what goes together. */
    int64_t n = a->self.n;
    if (!opt_parameters(f, a->self, a->grads) || !opt_list(f, a->self, a->m, "exp_avgs", false) ||
        !opt_list(f, a->self, a->v, "exp_avg_sqs", false) ||
        !opt_list(f, a->self, a->most, "max_exp_avg_sqs", true))
        return false;
    if (!opt_numbers(f, a->step, n, "step") || !opt_numbers(f, a->lr, n, "lr") ||
        !opt_numbers(f, a->beta1, n, "beta1") || !opt_numbers(f, a->beta2, n, "beta2") ||
        !opt_numbers(f, a->eps, n, "eps") || !opt_numbers(f, a->weight_decay, n, "weight_decay") ||
        !opt_numbers(f, a->amsgrad, n, "amsgrad") || !opt_numbers(f, a->maximize, n, "maximize"))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (!(opt_number(a->step, i) >= 1))
            return tn_fail(f, TN_INVALID, "step counts from 1, got %g", opt_number(a->step, i));
        if (opt_number(a->amsgrad, i) != 0 && !opt_member(a->most, i))
            return tn_fail(f, TN_INVALID, "parameter %lld has amsgrad but no max_exp_avg_sqs",
                           (long long)i);
    }
    return true;
}

/* Parameter i, with factors of the kernel, in double. */
static void opt_adam_of(opt_task *t, tni_adam *o, const opt_adam *a, int64_t i, bool decoupled) {
    const double step = opt_number(a->step, i), beta1 = opt_number(a->beta1, i),
                 beta2 = opt_number(a->beta2, i), lr = opt_number(a->lr, i),
                 decay = opt_number(a->weight_decay, i);
    memset(t, 0, sizeof *t);
    t->t[0] = a->self.at[i];
    t->t[1] = a->grads.at[i];
    t->t[2] = a->m.at[i];
    t->t[3] = a->v.at[i];
    t->t[4] = opt_number(a->amsgrad, i) != 0 ? a->most.at[i] : NULL;
    t->n = 5;
    o->decays = decay != 0;
    o->decoupled = decoupled;
    o->decay = decoupled ? 1 - fma(lr, decay, 0) : decay; /* the product rounded, as torch's */
    o->maximize = opt_number(a->maximize, i) != 0;
    o->one_beta1 = 1 - beta1;
    o->beta2 = beta2;
    o->one_beta2 = 1 - beta2;
    /* Bias corrections of the two averages. */
    o->step = -(lr / (1 - pow(beta1, step)));
    o->root = sqrt(1 - pow(beta2, step));
    o->eps = opt_number(a->eps, i);
    t->how = o;
}
static void opt_adam_run(tn_frame *f, const opt_adam *a, bool decoupled) {
    for (int64_t i = 0; i < a->self.n; i++) {
        tni_adam o;
        opt_task t;
        opt_adam_of(&t, &o, a, i, decoupled);
        t.context = f->block->context;
        t.step = opt_adam_step;
        opt_run(&t);
    }
}

#define OPT_ADAM(op)                                                                         \
    static void op##_options(opt_adam *o, const tn_##op##_args *a) {                         \
        o->self = a->self, o->grads = a->grads, o->m = a->exp_avgs, o->v = a->exp_avg_sqs;   \
        o->most = a->max_exp_avg_sqs, o->step = a->step, o->lr = a->lr, o->beta1 = a->beta1; \
        o->beta2 = a->beta2, o->eps = a->eps, o->weight_decay = a->weight_decay;             \
        o->amsgrad = a->amsgrad, o->maximize = a->maximize;                                  \
    }
OPT_ADAM(fused_adam)
OPT_ADAM(fused_adamw)
#undef OPT_ADAM

static bool fused_adam_check(tn_frame *f) {
    TN_ARGS(fused_adam, a, f);
    opt_adam o;
    fused_adam_options(&o, a);
    return opt_adam_check(f, &o);
}
static void fused_adam_run(tn_frame *f) {
    TN_ARGS(fused_adam, a, f);
    opt_adam o;
    fused_adam_options(&o, a);
    opt_adam_run(f, &o, false);
}
/* For each parameter p with gradient g, t = step (from 1): g += weight_decay p; m += (1 -
 * beta1)(g - m); v = beta2 v + (1 - beta2) g^2; w = v, or its running maximum with amsgrad; p
 * -= lr / (1 - beta1^t) m / (sqrt(w) / sqrt(1 - beta2^t) + eps). Numbers: a list with one
 * member a parameter, or one for all. */
TN_OPERATOR(fused_adam,
            "_fused_adam_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
            "exp_avg_sqs, "
            "Tensor(d!)?[] max_exp_avg_sqs, *, float[] step, float[] lr, float[] beta1, float[] "
            "beta2, float[] eps, "
            "float[] weight_decay, float[] amsgrad, float[] maximize) -> ()",
            TN_DOC(.shapes = "lists of equally many tensors, one shape at each place; "
                             "max_exp_avg_sqs: those, or NULL for each",
                   .example = "tn_fused_adam_(params, grads, averages, squares, none, step, lr, "
                              "beta1, beta2, eps, decay, no, no)"),
            .check = fused_adam_check, .run = fused_adam_run,
            .domain = "exp_avg_sqs:0..1 max_exp_avg_sqs:0..1",
            .sample = "{(2,3),(4)} {(2,3),(4)} {(2,3),(4)} {(2,3),(4)} {} step=[3.0] lr=[0.1,0.2] "
                      "beta1=[0.9] beta2=[0.99] eps=[1e-8] "
                      "weight_decay=[0.01] amsgrad=[0.0] maximize=[0.0] | "
                      "{(5),(2,2)} {(5),(2,2)} {(5),(2,2)} {(5),(2,2)} {(5),(2,2)} step=[2.0] "
                      "lr=[0.1] beta1=[0.9,0.8] beta2=[0.99] eps=[1e-6] weight_decay=[0.1] "
                      "amsgrad=[1.0] maximize=[1.0]")

static bool fused_adamw_check(tn_frame *f) {
    TN_ARGS(fused_adamw, a, f);
    opt_adam o;
    fused_adamw_options(&o, a);
    return opt_adam_check(f, &o);
}
static void fused_adamw_run(tn_frame *f) {
    TN_ARGS(fused_adamw, a, f);
    opt_adam o;
    fused_adamw_options(&o, a);
    opt_adam_run(f, &o, true);
}
/* fused_adam with decoupled decay: first p *= 1 - lr weight_decay, and g stays as it is. */
TN_OPERATOR(fused_adamw,
            "_fused_adamw_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
            "exp_avg_sqs, "
            "Tensor(d!)?[] max_exp_avg_sqs, *, float[] step, float[] lr, float[] beta1, float[] "
            "beta2, float[] eps, "
            "float[] weight_decay, float[] amsgrad, float[] maximize) -> ()",
            TN_DOC(.shapes = "as fused_adam",
                   .example = "tn_fused_adamw_(params, grads, averages, squares, none, step, lr, "
                              "beta1, beta2, eps, decay, no, no)"),
            .check = fused_adamw_check, .run = fused_adamw_run,
            .domain = "exp_avg_sqs:0..1 max_exp_avg_sqs:0..1",
            .sample = "{(2,3),(4)} {(2,3),(4)} {(2,3),(4)} {(2,3),(4)} {} step=[3.0] lr=[0.1,0.2] "
                      "beta1=[0.9] beta2=[0.99] eps=[1e-8] "
                      "weight_decay=[0.01] amsgrad=[0.0] maximize=[0.0] | "
                      "{(5),(2,2)} {(5),(2,2)} {(5),(2,2)} {(5),(2,2)} {(5),(2,2)} step=[2.0] "
                      "lr=[0.1] beta1=[0.9,0.8] beta2=[0.99] eps=[1e-6] weight_decay=[0.1] "
                      "amsgrad=[1.0] maximize=[1.0]")

/* --- rules of rarer optimizers ---------------------------------------------------------------- */

/* A rule of fused_step: its loops, its factors, and its states, of which the last may be NULL. */
typedef struct opt_rule {
    const tni_kernel_assign_f32_at *f32;
    const tni_kernel_assign_f64_at *f64;
    int factors, states, optional;
} opt_rule;
#define OPT_RULE(name, factors, states, optional) \
    { tni_kernel_##name##_f32, tni_kernel_##name##_f64, factors, states, optional }
static const opt_rule opt_rules[] = {
    /* in the order of the words of OptimizerRule */
    OPT_RULE(adagrad, 5, 1, 0), OPT_RULE(rmsprop, 7, 3, 2), OPT_RULE(adadelta, 6, 2, 0),
    OPT_RULE(adamax, 7, 2, 0),  OPT_RULE(nadam, 9, 2, 0),   OPT_RULE(radam, 10, 2, 0),
    OPT_RULE(rprop, 7, 2, 0),   OPT_RULE(asgd, 5, 1, 0),    OPT_RULE(assign, 1, 0, 0)};
#undef OPT_RULE

/* What a kernel of a rule is given for a parameter. */
typedef struct opt_ruled {
    const opt_rule *rule;
    const double *factors;
} opt_ruled;

static void opt_rule_step(const tni_kernels *k, int compute, void *const *at, int64_t n,
                          const void *how) {
    const opt_ruled *r = (const opt_ruled *)how;
    (compute == TN_F32 ? r->rule->f32[k->isa] : r->rule->f64[k->isa])(at, n, r->factors);
}
static void opt_states(const tn_fused_step_args *a, tn_tensors *to) {
    to[0] = a->first;
    to[1] = a->second;
    to[2] = a->third;
}
static bool fused_step_check(tn_frame *f) {
    TN_ARGS(fused_step, a, f);
    static const char *const name[] = {"first", "second", "third"};
    tn_tensors state[3];
    opt_states(a, state);
    const opt_rule *rule = &opt_rules[a->rule - TN_OPTIMIZER_RULE_ADAGRAD];
    if (!opt_parameters(f, a->self, a->grads)) return false;
    for (int k = 0; k < 3; k++)
        if (!opt_list(f, a->self, state[k], name[k], k >= rule->states - rule->optional))
            return false;
    /* One list of factors a parameter, or one for all. */
    if (a->numbers.n == rule->factors ||
        (a->numbers.n % rule->factors == 0 && a->numbers.n / rule->factors == a->self.n))
        return true;
    return tn_fail(f, TN_INVALID,
                   "numbers has %lld elements, expected %d for each of %lld parameters",
                   (long long)a->numbers.n, rule->factors, (long long)a->self.n);
}
/* Parameter i with its states and its factors, which are r. */
static void opt_ruled_of(opt_task *o, opt_ruled *r, const tn_fused_step_args *a, int64_t i) {
    tn_tensors state[3];
    opt_states(a, state);
    r->rule = &opt_rules[a->rule - TN_OPTIMIZER_RULE_ADAGRAD];
    r->factors = a->numbers.at + (a->numbers.n == r->rule->factors ? 0 : i * r->rule->factors);
    memset(o, 0, sizeof *o);
    o->t[0] = a->self.at[i];
    o->t[1] = a->grads.at[i];
    for (int k = 0; k < 3 && k < r->rule->states; k++) o->t[2 + k] = opt_member(state[k], i);
    o->n = 2 + r->rule->states;
    o->how = r;
}
static void fused_step_run(tn_frame *f) {
    TN_ARGS(fused_step, a, f);
    for (int64_t i = 0; i < a->self.n; i++) {
        opt_ruled r;
        opt_task o;
        opt_ruled_of(&o, &r, a, i);
        o.context = f->block->context;
        o.step = opt_rule_step;
        opt_run(&o);
    }
}
/* A step of an optimizer by its rule, for each parameter with its gradient and its states; numbers:
 * the rule's factors (src/simd/optimize_rules.inl), for each parameter or once for all. assign:
 * parameters become the factor times what is given as gradients. */
TN_OPERATOR(fused_step,
            "_fused_step_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)?[] first, "
            "Tensor(c!)?[] second, Tensor(d!)?[] third, *, OptimizerRule rule, float[] numbers) "
            "-> ()",
            TN_DOC(.shapes = "lists of equally many tensors, one shape at each place; a state that "
                             "the rule does not have: an empty list",
                   .example = "tn_fused_step_(params, grads, sums, none, none, "
                              "TN_OPTIMIZER_RULE_ADAGRAD, numbers)",
                   .differs = "signature: torch has no such function"),
            .check = fused_step_check, .run = fused_step_run,
            .domain = "first:0.1..1 second:0.1..1 third:0.1..1",
            .sample = "{(2,3),(4)} {(2,3),(4)} {(2,3),(4)} {} {} rule=adagrad "
                      "numbers=[0.0,0.1,1.0,-0.1,1e-8,1.0,0.0,1.0,-0.2,1e-8] | "
                      "{(35)} {(35)} {(35)} {(35)} {(35)} rule=rmsprop "
                      "numbers=[0.0,0.0,1.0,-0.1,0.1,1e-3,0.9] | "
                      "{(0,3),()} {(0,3),()} {(0,3),()} {} {} rule=rmsprop "
                      "numbers=[1.0,0.1,1.0,-0.1,0.9,1e-3,0.0] | "
                      "{(5000)} {(5000)} {(5000)} {(5000)} {} rule=adadelta "
                      "numbers=[0.0,0.1,1.0,-0.1,0.9,1e-3] | "
                      "{(19)} {(19)} {(19)} {(19)} {} rule=adamax "
                      "numbers=[0.0,0.1,1.0,-0.1,0.9,0.99,1e-3] | "
                      "{(19)} {(19)} {(19)} {(19)} {} rule=nadam "
                      "numbers=[0.0,0.1,0.9,-0.1,0.9,0.99,1e-3,-0.2,0.5] | "
                      "{(19)} {(19)} {(19)} {(19)} {} rule=radam "
                      "numbers=[0.0,0.0,0.9,0.1,0.4,0.99,1e-3,0.5,0.7,0.8] | "
                      "{(5)} {(5)} {(5)} {(5)} {} rule=radam "
                      "numbers=[1.0,0.1,1.0,0.1,0.9,0.99,1e-3,0.5,0.7,0.0] | "
                      "{(19)} {(19)} {(19)} {(19)} {} rule=rprop "
                      "numbers=[0.0,0.0,1.0,0.5,1.2,1e-3,50.0] | "
                      "{(19)} {(19)} {(19)} {} {} rule=asgd numbers=[0.0,0.1,0.99,-0.1,0.25] | "
                      "{(19)} {(19)} {(19)} {} {} rule=asgd numbers=[1.0,0.0,0.99,-0.1,1.0] | "
                      "{(3,7)} {(3,7)} {} {} {} rule=assign numbers=[2.0]")

/* --- for backends ----------------------------------------------------------------------------- */

static void opt_plan_sgd(tn_step_plan *p, const tni_sgd *s) {
    p->decay = s->decay;
    p->momentum = s->momentum;
    p->one_dampening = s->one_dampening;
    p->rate = s->rate;
    p->decays = s->decays;
    p->maximize = s->maximize;
    p->nesterov = s->nesterov;
    p->first = s->first;
}
static void opt_plan_adam(tn_step_plan *p, const tni_adam *o) {
    p->decay = o->decay;
    p->one_beta1 = o->one_beta1;
    p->beta2 = o->beta2;
    p->one_beta2 = o->one_beta2;
    p->step = o->step;
    p->root = o->root;
    p->eps = o->eps;
    p->decays = o->decays;
    p->maximize = o->maximize;
    p->adam = true;
    p->decoupled = o->decoupled;
}

TN_API bool tn_step_plan_of(tn_step_plan *p, const tn_frame *f, int64_t i) {
    const bool decoupled = f->row->run == fused_adamw_run;
    opt_task task;
    memset(p, 0, sizeof *p);
    if (f->row->run == fused_step_run) {
        TN_ARGS(fused_step, a, f);
        opt_ruled r;
        if (i >= a->self.n) return false;
        opt_ruled_of(&task, &r, a, i);
        p->rule = (int)a->rule;
        p->factors = r.factors;
        p->nfactors = r.rule->factors;
    } else if (f->row->run == fused_sgd_run) {
        TN_ARGS(fused_sgd, a, f);
        tni_sgd s;
        if (i >= a->self.n) return false;
        opt_sgd_of(&task, &s, a, i);
        opt_plan_sgd(p, &s);
    } else {
        opt_adam a;
        tni_adam o;
        if (decoupled)
            fused_adamw_options(&a, (const tn_fused_adamw_args *)f->args);
        else
            fused_adam_options(&a, (const tn_fused_adam_args *)f->args);
        if (i >= a.self.n) return false;
        opt_adam_of(&task, &o, &a, i, decoupled);
        opt_plan_adam(p, &o);
    }
    memcpy(p->t, task.t, sizeof p->t);
    return true;
}
