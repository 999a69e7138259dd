/* factored.c - Adafactor (N. Shazeer, M. Stern, 2018) as torch.optim: a matrix keeps the means of
 * its squared gradients by row and by column alone. */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/linalg.h"
#include "../api/ops/reduction.h"

#include <float.h>
#include <math.h>

enum { FACTORED_ROW, FACTORED_COLUMN, FACTORED_ALL, FACTORED_STATES };

static bool adafactor_check(const void *options) {
    const tn_optim_adafactor_args *o = (const tn_optim_adafactor_args *)options;
    const double first = o->eps.at[0], second = o->eps.at[1];
    return tni_option_should(o->lr >= 0, "Learning rate", ">= 0", o->lr) &&
           tni_option_should(o->beta2_decay <= 0, "beta2_decay", "<= 0", o->beta2_decay) &&
           tni_option_should(first >= 0 || first == -1, "epsilon1", ">= 0", first) &&
           tni_option_should(second >= 0, "epsilon2", ">= 0", second) &&
           tni_option_should(o->d >= 1, "Clipping threshold d", ">= 1", o->d) &&
           tni_option_should(o->weight_decay >= 0, "weight_decay", ">= 0", o->weight_decay);
}

/* Means of rows (.., m, 1) and columns (.., 1, n) of a matrix; else those of all elements. */
static tn_tensor *adafactor_begin(const void *options, const tn_tensor *p, int k) {
    tn_ints shape = tn_shape(p);
    int64_t size[TN_MAX_DIMS];
    (void)options;
    if ((shape.n > 1) == (k == FACTORED_ALL)) return NULL;
    for (int64_t d = 0; d < shape.n; d++) size[d] = shape.at[d];
    if (k != FACTORED_ALL) size[shape.n - (k == FACTORED_ROW ? 1 : 2)] = 1;
    return tnp_zeros(tn_ints_of(size, shape.n), tn_dtype_of(p), tn_device_of(p));
}

/* The distance from 1 to the next number. */
static double factored_epsilon(tn_dtype dtype) {
    return dtype == TN_F64   ? DBL_EPSILON
           : dtype == TN_F32 ? (double)FLT_EPSILON
           : dtype == TN_F16 ? 0.0009765625
                             : 0.0078125;
}
/* The root of the mean of squares; 0 of no elements. */
static double factored_rms(tn_tensor *t) {
    const double n = t ? (double)tn_numel(t) : 0;
    tn_tensor *norm = tnp_linalg_vector_norm(t, 2, tn_empty_dims(), false, TN_NO_DTYPE);
    return norm && n > 0 ? tn_item(norm) / sqrt(n) : 0;
}
/* The mean of squares along a dimension, kept: the square of a norm over its number. */
static tn_tensor *factored_mean(tn_tensor *g, int64_t dim) {
    tn_tensor *norm = tnp_linalg_vector_norm(g, 2, tn_ints_of(&dim, 1), true, TN_NO_DTYPE);
    const double n = (double)tn_shape(g).at[tn_ndim(g) + dim];
    return tnp_div_scalar(tnp_square(norm), tn_float(n > 0 ? n : 1));
}

/* A parameter of a step: what is there, and what it becomes. */
typedef struct factored_param {
    const tn_optim_adafactor_args *o;
    double step, eps;
    tn_tensor *param, *state[FACTORED_STATES];
} factored_param;

/* The estimate of the squares, from states that move towards this gradient's. */
static tn_tensor *factored_estimate(factored_param *f, tn_tensor *g) {
    const tn_scalar weight = tn_float(pow(f->step, f->o->beta2_decay));
    const int64_t last = -1, before = -2;
    tn_tensor **s = f->state;
    if (s[FACTORED_ALL])
        return s[FACTORED_ALL] = tnp_lerp_scalar(s[FACTORED_ALL], tnp_mul(g, g), weight);
    s[FACTORED_ROW] = tnp_lerp_scalar(s[FACTORED_ROW], factored_mean(g, last), weight);
    s[FACTORED_COLUMN] = tnp_lerp_scalar(s[FACTORED_COLUMN], factored_mean(g, before), weight);
    return tnp_div(
        tnp_matmul(s[FACTORED_ROW], s[FACTORED_COLUMN]),
        tnp_clamp_min_scalar(tnp_mean(s[FACTORED_ROW], tn_ints_of(&before, 1), true, TN_NO_DTYPE),
                             tn_float(f->eps)));
}
/* Replaces parameter and states by those after the step. */
static bool factored_step(factored_param *f, tn_tensor *g) {
    const tn_optim_adafactor_args *o = f->o;
    const double root = 1 / sqrt(f->step), rms = factored_rms(f->param);
    const double alpha = (rms > o->eps.at[1] ? rms : o->eps.at[1]) * (root < o->lr ? root : o->lr);
    tn_tensor *update;
    double clip;
    if (o->maximize && !(g = tnp_neg(g))) return false;
    if (o->weight_decay != 0)
        f->param = tnp_mul_scalar(f->param, tn_float(1 - fma(o->lr, o->weight_decay, 0)));
    update = tnp_clamp_min_scalar(factored_estimate(f, g), tn_float(f->eps * f->eps));
    update = tnp_mul(tnp_rsqrt(update), g);
    clip = factored_rms(update) / o->d;
    f->param = tnp_add(f->param, update, -alpha / (clip > 1 ? clip : 1));
    return f->param != NULL;
}

/* All is computed beside the parameters first; then one call writes it. */
static bool adafactor_step(tn_ostep *s) {
    /* The numbers' room holds what is written and what it becomes. */
    tn_tensor **to = (tn_tensor **)(void *)s->number, **from = to + s->n * (1 + FACTORED_STATES);
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_adafactor_args *o = (const tn_optim_adafactor_args *)s->options[i];
        factored_param f;
        f.o = o;
        f.step = s->count[i];
        f.eps = o->eps.at[0] >= 0 ? o->eps.at[0] : factored_epsilon(tn_dtype_of(s->param[i]));
        f.param = s->param[i];
        for (int k = 0; k < FACTORED_STATES; k++) f.state[k] = s->state[k][i];
        if (!factored_step(&f, s->grad[i])) return false;
        to[n] = s->param[i];
        from[n++] = f.param;
        for (int k = 0; k < FACTORED_STATES; k++) {
            if (!f.state[k]) continue;
            to[n] = s->state[k][i];
            from[n++] = f.state[k];
        }
    }
    return tni_step_assign(to, from, n);
}
/* g = -g to maximise; a = max(eps[1], rms(p)) min(lr, 1 / sqrt(t)); p *= 1 - lr weight_decay; w =
 * t^beta2_decay; the means of g^2 by row and by column move by w towards those of g, V = rows
 * columns / max(mean of rows, eps[0]); without two dimensions V = lerp(V, g^2, w); u = g /
 * max(sqrt(V), eps[0]); p -= a u / max(1, rms(u) / d). eps[0]: -1 is the dtype's epsilon. */
TN_OPTIMIZER(adafactor,
             "Adafactor(Tensor[] params, float lr=0.01, float beta2_decay=-0.8, float[2] "
             "eps=[-1.0, 0.001], float d=1.0, float weight_decay=0.0, *, bool maximize=False)",
             TN_DOC(.example = "tn_optim_adafactor(tn_parameters(net), .lr = 0.02)",
                    .differs = "parameter eps: None for the epsilon of the dtype is -1 in C"),
             .state = "row_var, col_var, variance", .check = adafactor_check,
             .begin = adafactor_begin, .step = adafactor_step, .counts = true)
