/* programs.c - random programs of views, writes in place, no-grad writes, exchanges of data, custom
 * functions, hooks and frees in any order: a value is right, a gradient is right or refused, and
 * nothing is left.
 *
 *     programs [SEED [COUNT]]
 *
 * Each program makes up to 24 tensors of a few doubles by random steps and carries them out in the
 * library and in the model (model.h). After each step all values are compared; at random moments
 * and at the end the gradients of a random result by all leaves. The library may refuse a write
 * (a leaf, partial overlap) or a backward (a saved tensor was modified): then nothing has changed.
 * It may not be silently wrong. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 22 };

static int64_t right, refused, writes_refused, grads_checked;
static int64_t steps_done[24], exchanged, hooks_run, hooks_freed;
static int functions; /* calls of custom functions whose data were not released yet */

static void wrong(model *m, const char *what) {
    if (!m->wrong) printf("%s\n  program: %s\n", what, m->log);
    m->wrong = true;
}

/* --- choosing --------------------------------------------------------------------------------- */

static model_tensor *any(model *m) {
    for (int tries = 0; tries < 40; tries++) {
        model_tensor *a = &m->tensor[model_below(m, m->ntensors)];
        if (a->t) return a;
    }
    return NULL;
}

static model_tensor *any_like(model *m, const model_tensor *a) {
    for (int tries = 0; tries < 20; tries++) {
        model_tensor *b = any(m);
        if (b && model_same_shape(a, b)) return b;
    }
    return &m->tensor[a - m->tensor];
}

static int number(const model *m, const model_tensor *a) { return (int)(a - m->tensor); }

/* Whether the call failed; only some codes are refusals. */
static bool refusal(model *m, bool failed) {
    tn_error_info e;
    if (!failed) return false;
    if (!tn_error_take(&e))
        wrong(m, "a call failed without an error");
    else if (e.code != TN_AUTOGRAD && e.code != TN_INVALID) {
        printf("%s\n", e.message);
        wrong(m, "an error of another kind");
    }
    model_say(m, " (refused)");
    return true;
}

/* --- arithmetic of the model ------------------------------------------------------------------ */

typedef struct cells {
    int n, at[MODEL_CELLS];
    double value[MODEL_CELLS], dual[MODEL_CELLS][MODEL_SEEDS];
} cells;

static void load(const model *m, const model_tensor *a, cells *to) {
    to->n = model_cells(a, to->at);
    for (int i = 0; i < to->n; i++) {
        to->value[i] = m->value[a->values][to->at[i]];
        memcpy(to->dual[i], m->dual[a->duals][to->at[i]], sizeof to->dual[i]);
    }
}

static void store(model *m, const model_tensor *a, const cells *from, bool history) {
    int at[MODEL_CELLS], n = model_cells(a, at);
    for (int i = 0; i < n; i++) {
        m->value[a->values][at[i]] = from->value[i];
        if (history) memcpy(m->dual[a->duals][at[i]], from->dual[i], sizeof from->dual[i]);
    }
}

/* x becomes f(x), whose derivative is df. */
static void chain(cells *x, int i, double f, double df) {
    x->value[i] = f;
    for (int s = 0; s < MODEL_SEEDS; s++) x->dual[i][s] *= df;
}

enum { ADD, MUL, SIN, SIGMOID, SCALE, COPY, FILL, POINTWISE };
static const char *const pointwise_names[] = {"add",     "mul",  "sin", "sigmoid",
                                              "mul 0.5", "copy", "fill"};

static void pointwise(int op, cells *x, const cells *y) {
    for (int i = 0; i < x->n; i++) {
        double v = x->value[i], w = y->value[i];
        switch (op) {
        case ADD:
            x->value[i] = v + 2 * w;
            for (int s = 0; s < MODEL_SEEDS; s++) x->dual[i][s] += 2 * y->dual[i][s];
            break;
        case MUL:
            x->value[i] = v * w;
            for (int s = 0; s < MODEL_SEEDS; s++)
                x->dual[i][s] = x->dual[i][s] * w + v * y->dual[i][s];
            break;
        case SIN: chain(x, i, sin(v), cos(v)); break;
        case SIGMOID: {
            double f = 1 / (1 + exp(-v));
            chain(x, i, f, f * (1 - f));
            break;
        }
        case SCALE: chain(x, i, 0.5 * v, 0.5); break;
        case COPY:
            x->value[i] = w;
            memcpy(x->dual[i], y->dual[i], sizeof x->dual[i]);
            break;
        default: chain(x, i, 0.25, 0);
        }
    }
}

/* --- steps: new tensors ----------------------------------------------------------------------- */

static void step_leaf(model *m) {
    static const int64_t sizes[][MODEL_DIMS] = {{3}, {2, 3}, {3, 2}, {2}, {2, 2, 2}, {4}, {1, 3}};
    static const int dims[] = {1, 2, 2, 1, 3, 1, 2};
    int which = model_below(m, 8), ndim = which == 7 ? 0 : dims[which];
    const int64_t *size = sizes[which % 7];
    double data[MODEL_CELLS];
    model_tensor *a;
    int64_t n = 1;
    bool grad = model_below(m, 3) != 0;
    tn_tensor *t = tnp_empty(tn_ints_of(size, ndim), TN_F64, TN_NO_DEVICE);
    for (int d = 0; d < ndim; d++) n *= size[d];
    for (int64_t i = 0; i < n; i++) data[i] = (model_below(m, 400) - 200) / 100.0;
    grad = grad && m->nseeds + n <= MODEL_SEEDS;
    memcpy(tn_data(t), data, (size_t)n * sizeof *data);
    a = model_new(m, t, ndim, size);
    memcpy(m->value[a->values], data, (size_t)n * sizeof *data);
    model_say(m, "; %d = leaf %d%s", number(m, a), which, grad ? " grad" : "");
    if (!grad) return;
    tn_requires_grad(t);
    a->seed = m->nseeds;
    for (int64_t i = 0; i < n; i++) m->dual[a->duals][i][m->nseeds++] = 1;
}

static void step_pointwise(model *m, int op) {
    model_tensor *a = any(m), *b, *c;
    cells x, y;
    tn_tensor *t;
    if (!a) return;
    b = any_like(m, a);
    model_say(m, "; %s %d %d", pointwise_names[op], number(m, a), number(m, b));
    t = op == ADD       ? tnp_add(a->t, b->t, 2)
        : op == MUL     ? tnp_mul(a->t, b->t)
        : op == SIN     ? tnp_sin(a->t)
        : op == SIGMOID ? tnp_sigmoid(a->t)
                        : tnp_mul_scalar(a->t, tn_float(0.5));
    if (!t) {
        refusal(m, true), wrong(m, "a new result was refused");
        return;
    }
    load(m, a, &x), load(m, b, &y);
    pointwise(op, &x, &y);
    c = model_new(m, t, a->ndim, a->size);
    store(m, c, &x, tn_grad_mode());
}

/* Sums along a dimension, softmax along the last, or matmul. */
static void step_reduce(model *m) {
    model_tensor *a = any(m), *c;
    cells x, y;
    int64_t last, rows;
    bool soft = model_below(m, 2);
    tn_tensor *t;
    if (!a || !a->ndim) return;
    last = a->size[a->ndim - 1];
    rows = model_numel(a) / last;
    model_say(m, "; %s %d", soft ? "softmax" : "sum", number(m, a));
    int64_t dim = -1;
    t = soft ? tnp_softmax(a->t, -1, TN_NO_DTYPE)
             : tnp_sum(a->t, tn_ints_of(&dim, 1), false, TN_NO_DTYPE);
    if (!t) {
        refusal(m, true), wrong(m, "a new result was refused");
        return;
    }
    load(m, a, &x);
    memset(&y, 0, sizeof y);
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0, most = -HUGE_VAL, mean[MODEL_SEEDS] = {0};
        for (int64_t i = r * last; i < (r + 1) * last; i++) most = fmax(most, x.value[i]);
        for (int64_t i = r * last; soft && i < (r + 1) * last; i++)
            sum += x.value[i] = exp(x.value[i] - most);
        for (int64_t i = r * last; i < (r + 1) * last; i++) {
            double p = soft ? x.value[i] / sum : 1;
            for (int s = 0; s < MODEL_SEEDS; s++) mean[s] += p * x.dual[i][s];
            if (!soft) y.value[r] += x.value[i];
        }
        if (!soft) memcpy(y.dual[r], mean, sizeof mean);
        for (int64_t i = r * last; soft && i < (r + 1) * last; i++) {
            y.value[i] = x.value[i] / sum;
            for (int s = 0; s < MODEL_SEEDS; s++)
                y.dual[i][s] = y.value[i] * (x.dual[i][s] - mean[s]);
        }
    }
    c = model_new(m, t, soft ? a->ndim : a->ndim - 1, a->size);
    store(m, c, &y, tn_grad_mode());
}

static void step_matmul(model *m) {
    model_tensor *a = any(m), *b = any(m), *c;
    int64_t size[2];
    cells x, y, z;
    tn_tensor *t;
    if (!a || !b || a->ndim != 2 || b->ndim != 2 || a->size[1] != b->size[0]) return;
    size[0] = a->size[0], size[1] = b->size[1];
    if (!(t = tnp_matmul(a->t, b->t))) {
        refusal(m, true), wrong(m, "a matmul was refused");
        return;
    }
    model_say(m, "; matmul %d %d", number(m, a), number(m, b));
    load(m, a, &x), load(m, b, &y);
    memset(&z, 0, sizeof z);
    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++)
            for (int64_t k = 0; k < a->size[1]; k++) {
                int64_t p = i * a->size[1] + k, q = k * size[1] + j, o = i * size[1] + j;
                z.value[o] += x.value[p] * y.value[q];
                for (int s = 0; s < MODEL_SEEDS; s++)
                    z.dual[o][s] += x.dual[p][s] * y.value[q] + x.value[p] * y.dual[q][s];
            }
    c = model_new(m, t, 2, size);
    store(m, c, &z, tn_grad_mode());
}

/* --- steps: views ----------------------------------------------------------------------------- */

static void step_view(model *m) {
    model_tensor *a = any(m), v;
    int kind = model_below(m, 7), d;
    int64_t i;
    bool history;
    tn_tensor *t = NULL;
    if (!a) return;
    v = *a;
    history = tn_grad_mode() || !tn_needs_grad(a->t);
    d = a->ndim ? model_below(m, a->ndim) : 0;
    model_say(m, "; view%d %d", kind, number(m, a));
    switch (kind) {
    case 0: /* transpose the first two */
        if (a->ndim < 2) return;
        t = tnp_transpose(a->t, 0, 1);
        v.size[0] = a->size[1], v.size[1] = a->size[0];
        v.stride[0] = a->stride[1], v.stride[1] = a->stride[0];
        break;
    case 1: /* all but the first */
        if (!a->ndim || a->size[d] < 2) return;
        t = tnp_slice(a->t, d, 1, INT64_MAX, 1);
        v.size[d]--, v.offset += a->stride[d];
        break;
    case 2: /* every second */
        if (!a->ndim) return;
        t = tnp_slice(a->t, d, 0, INT64_MAX, 2);
        v.size[d] = (a->size[d] + 1) / 2, v.stride[d] *= 2;
        break;
    case 3:
        if (!a->ndim) return;
        i = model_below(m, (int)a->size[d]);
        t = tnp_select(a->t, d, i);
        v.offset += i * a->stride[d];
        for (v.ndim--; d < v.ndim; d++) v.size[d] = a->size[d + 1], v.stride[d] = a->stride[d + 1];
        break;
    case 4: /* a new dimension, repeated */
        if (a->ndim == MODEL_DIMS || 2 * model_numel(a) > MODEL_CELLS) return;
        for (d = v.ndim++; d > 0; d--) v.size[d] = a->size[d - 1], v.stride[d] = a->stride[d - 1];
        v.size[0] = 2, v.stride[0] = 0;
        t = tnp_expand(a->t, tn_ints_of(v.size, v.ndim), false);
        break;
    case 5:
        if (a->ndim == MODEL_DIMS) return;
        t = tnp_unsqueeze(a->t, 0);
        for (d = v.ndim++; d > 0; d--) v.size[d] = a->size[d - 1], v.stride[d] = a->stride[d - 1];
        v.size[0] = 1, v.stride[0] = 1;
        break;
    default: t = tnp_detach(a->t), history = false;
    }
    if (!t) {
        refusal(m, true), wrong(m, "a view was refused");
        return;
    }
    v.t = t;
    model_alias(m, &v, t, history);
}

/* --- steps: writes and frees ------------------------------------------------------------------ */

static void step_write(model *m) {
    model_tensor *a = any(m), *b;
    int op = model_below(m, POINTWISE);
    cells x, y;
    tn_tensor *t;
    if (!a) return;
    b = any_like(m, a);
    model_say(m, "; %s_ %d %d%s", pointwise_names[op], number(m, a), number(m, b),
              tn_grad_mode() ? "" : " no-grad");
    load(m, a, &x), load(m, b, &y);
    switch (op) {
    case ADD: t = tnp_add_(a->t, b->t, 2); break;
    case MUL: t = tnp_mul_(a->t, b->t); break;
    case SIN: t = tnp_sin_(a->t); break;
    case SIGMOID: t = tnp_sigmoid_(a->t); break;
    case SCALE: t = tnp_mul_scalar_(a->t, tn_float(0.5)); break;
    case COPY: t = tnp_copy_(a->t, b->t); break;
    default: t = tnp_fill_(a->t, tn_float(0.25));
    }
    if (refusal(m, !t)) {
        writes_refused++;
        return;
    }
    pointwise(op, &x, &y);
    store(m, a, &x, tn_grad_mode());
}

static void step_free(model *m) {
    model_tensor *a = any(m);
    if (!a) return;
    model_say(m, "; free %d", number(m, a));
    tn_free(a->t);
    a->t = NULL;
}

static void step_hold(model *m) {
    model_tensor *a = any(m);
    if (!a || a->held) return;
    model_say(m, "; hold %d", number(m, a));
    tn_hold(a->t);
    a->held = true;
}

/* The data of two tensors change places; their histories stay. Of one layout: all that share the
 * data see it (of another, they would part). */
static void step_exchange(model *m) {
    model_tensor *a = any(m), *b;
    cells x, y;
    if (!a) return;
    b = any_like(m, a);
    if (a->values == b->values || !tn_is_contiguous(a->t)) return;
    for (int d = 0; d < a->ndim; d++)
        if (tn_stride(a->t, d) != tn_stride(b->t, d)) return;
    model_say(m, "; exchange %d %d", number(m, a), number(m, b));
    load(m, a, &x), load(m, b, &y);
    if (refusal(m, !tn_swap_data(a->t, b->t))) return;
    exchanged++;
    store(m, a, &y, false);
    store(m, b, &x, false);
}

/* --- steps: functions and hooks --------------------------------------------------------------- */

static bool square_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tnp_mul(in[0], in[0]);
    return nin == 1 && out[0] && tn_function_save(f, in[0]);
}
static bool square_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *x = tn_function_saved(f, 0);
    if (!x) return false;
    grad_in[0] = tnp_mul(grad_out[0], tnp_mul_scalar(x, tn_float(2)));
    return grad_in[0] != NULL;
}
static bool wave_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tnp_sigmoid(in[0]);
    return nin == 1 && out[0] && tn_function_save(f, out[0]);
}
static bool wave_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *y = tn_function_saved(f, 0);
    if (!y) return false;
    grad_in[0] = tnp_mul(grad_out[0], tnp_sub(y, tnp_mul(y, y), 1));
    return grad_in[0] != NULL;
}
static void function_released(void *user) { --*(int *)user; }

/* x^2, which keeps its input, or a sigmoid, which keeps its result. */
static void step_function(model *m) {
    static const tn_function_row rows[] = {
        {"square", 1, square_forward, square_backward, function_released},
        {"wave", 1, wave_forward, wave_backward, function_released}};
    model_tensor *a = any(m), *c;
    tn_tensor *y = NULL;
    const int which = model_below(m, 2);
    cells x;
    if (!a) return;
    model_say(m, "; function%d %d", which, number(m, a));
    functions++;
    if (!tn_function_call(&rows[which], tn_tensors_of(&a->t, 1), &functions, &y)) {
        refusal(m, true), wrong(m, "a function was refused");
        return;
    }
    load(m, a, &x);
    for (int i = 0; i < x.n; i++) {
        const double v = x.value[i], f = 1 / (1 + exp(-v));
        if (which)
            chain(&x, i, f, f * (1 - f));
        else
            chain(&x, i, v * v, 2 * v);
    }
    c = model_new(m, y, a->ndim, a->size);
    store(m, c, &x, tn_grad_mode());
}

/* A hook that sees the gradient, gives it back as another tensor, or frees a tensor of the program
 * that is no leaf (those are being differentiated by). */
static tn_tensor *hook(tn_tensor *grad, void *user) {
    model *m = (model *)user;
    const int kind = model_below(m, 3);
    hooks_run++;
    if (kind == 1) return tnp_clone(grad, (tn_memory_format)0);
    if (kind == 2) {
        model_tensor *a = any(m);
        if (a && a->seed < 0 && number(m, a) != m->asked) {
            tn_free(a->t);
            a->t = NULL, hooks_freed++;
        }
    }
    return NULL;
}
static void step_hook(model *m) {
    model_tensor *a = any(m);
    if (!a || !tn_needs_grad(a->t)) return;
    model_say(m, "; hook %d", number(m, a));
    if (!tn_hook_add(a->t, hook, m, NULL)) refusal(m, true), wrong(m, "a hook was refused");
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)); }

static void compare_values(model *m) {
    for (int k = 0; k < m->ntensors && !m->wrong; k++) {
        model_tensor *a = &m->tensor[k];
        double got[MODEL_CELLS];
        cells x;
        if (!a->t) continue;
        load(m, a, &x);
        if (!tn_read_f64(a->t, got, x.n)) {
            wrong(m, "a tensor cannot be read");
            return;
        }
        for (int i = 0; i < x.n; i++)
            if (!near(got[i], x.value[i])) {
                printf("tensor %d element %d is %.17g, not %.17g\n", k, i, got[i], x.value[i]);
                wrong(m, "a wrong value");
                return;
            }
    }
}

/* The gradients by all leaves of sum(weight * a). */
static void compare_leaf(model *m, const cells *x, const double *weight, const model_tensor *leaf,
                         tn_tensor *grad) {
    double got[MODEL_CELLS] = {0};
    int n = (int)model_numel(leaf);
    if (grad) tn_read_f64(grad, got, n);
    for (int i = 0; i < n && !m->wrong; i++) {
        double sum = 0;
        for (int k = 0; k < x->n; k++) sum += weight[k] * x->dual[k][leaf->seed + i];
        if (near(sum, got[i])) continue;
        printf("gradient by leaf %d element %d is %.17g, not %.17g\n", number(m, leaf), i, got[i],
               sum);
        wrong(m, "a wrong gradient");
    }
    grads_checked++;
}

/* By tn_grads, or by backward into .grad. */
static bool differentiate(model *m, tn_tensor *loss, tn_tensor **leaf, int n, tn_tensor **grad,
                          const tn_grads_options *options) {
    if (model_below(m, 3))
        return tn_grads(tn_tensors_of(&loss, 1), tn_tensors_of(leaf, n), grad, options);
    if (!tn_backward(loss, .retain_graph = true)) {
        for (int k = 0; k < n; k++)
            if (tn_grad_of(leaf[k])) wrong(m, "a refused backward has left a .grad");
        return false;
    }
    for (int k = 0; k < n; k++) grad[k] = tn_grad_of(leaf[k]);
    return true;
}

static void compare_gradients(model *m) {
    model_tensor *a = any(m);
    tn_tensor *leaf[MODEL_TENSORS], *grad[MODEL_TENSORS], *w, *loss;
    int which[MODEL_TENSORS], n = 0;
    double weight[MODEL_CELLS];
    tn_grads_options options = {NULL, true, false, true};
    cells x;
    if (!a) return;
    load(m, a, &x);
    if (!tn_needs_grad(a->t)) {
        for (int i = 0; i < x.n; i++)
            for (int s = 0; s < m->nseeds; s++)
                if (x.dual[i][s] != 0) wrong(m, "a tensor has lost its history");
        return;
    }
    for (int k = 0; k < m->ntensors; k++)
        if (m->tensor[k].t && m->tensor[k].seed >= 0) leaf[n] = m->tensor[k].t, which[n++] = k;
    if (!n) return;
    for (int i = 0; i < x.n; i++) weight[i] = 1 + i % 3;
    options.create_graph = model_below(m, 3) == 0;
    model_say(m, "; backward %d", number(m, a));
    m->asked = number(m, a);
    bool was = tn_set_grad_mode(true);
    w = tnp_empty(tn_ints_of(a->size, a->ndim), TN_F64, TN_NO_DEVICE);
    memcpy(tn_data(w), weight, (size_t)x.n * sizeof *weight);
    loss = tnp_sum(tnp_mul(a->t, w), tn_ints_of(NULL, -1), false, TN_NO_DTYPE);
    if (refusal(m, !differentiate(m, loss, leaf, n, grad, &options)))
        refused++;
    else {
        right++;
        for (int k = 0; k < n; k++) compare_leaf(m, &x, weight, &m->tensor[which[k]], grad[k]);
    }
    for (int k = 0; k < n; k++) tn_zero_grad(leaf[k]);
    tn_set_grad_mode(was);
}

/* --- a program -------------------------------------------------------------------------------- */

static void step(model *m) {
    int kind = model_below(m, 24);
    bool was = true;
    if (model_below(m, 6) == 0) was = tn_set_grad_mode(false);
    if (kind < 2)
        step_leaf(m);
    else if (kind < 8)
        step_view(m);
    else if (kind < 12)
        step_pointwise(m, model_below(m, SCALE + 1));
    else if (kind < 14)
        (kind == 12 ? step_reduce : step_matmul)(m);
    else if (kind < 19)
        step_write(m);
    else if (kind < 20)
        step_free(m);
    else
        (kind == 20   ? step_exchange
         : kind == 21 ? step_function
         : kind == 22 ? step_hook
                      : step_hold)(m);
    steps_done[kind]++;
    tn_set_grad_mode(was);
}

static bool program(model *m, uint64_t seed) {
    int64_t before = tn_memory().live_tensors, mark = tn_scope_begin();
    memset(m, 0, sizeof *m);
    m->random = seed;
    snprintf(m->log, sizeof m->log, "seed %llu", (unsigned long long)seed);
    step_leaf(m), step_leaf(m);
    for (int i = 0; i < STEPS && !m->wrong && !model_full(m); i++) {
        step(m);
        compare_values(m);
        if (model_below(m, 8) == 0 && !m->wrong) compare_gradients(m);
    }
    for (int i = 0; i < 3 && !m->wrong; i++) compare_gradients(m);
    tn_scope_end(mark);
    for (int k = model_below(m, 7), i = 0; i < MODEL_TENSORS; i++) { /* in an order of its own */
        model_tensor *a = &m->tensor[(k + 7 * i) % MODEL_TENSORS];
        if (a->t && a->held) tn_free(a->t);
    }
    if (!m->wrong && tn_memory().live_tensors != before) wrong(m, "tensors are left");
    if (!m->wrong && functions) wrong(m, "a function's data were not released, or twice");
    functions = 0;
    return !m->wrong;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000, passed = 0, failed = 0;
    static model m;
    tn_context_options options;
    memset(&options, 0, sizeof options);
    options.no_cache = true; /* a sanitizer sees each block end where it ends */
    options.threads = -1;
    tn_context *context = tn_context_new(&options);
    tn_context_use(context);
    for (int64_t i = 0; i < count && failed < 5; i++)
        if (program(&m, first + (uint64_t)i))
            passed++;
        else
            failed++;
    tn_context_free(context);
    printf("programs %lld right %lld refused %lld writes_refused %lld frees %lld exchanges %lld "
           "functions %lld hooks %lld hook_frees %lld gradients %lld\n",
           (long long)(passed + failed), (long long)right, (long long)refused,
           (long long)writes_refused, (long long)steps_done[19], (long long)exchanged,
           (long long)steps_done[21], (long long)hooks_run, (long long)hooks_freed,
           (long long)grads_checked);
    if (right < refused) failed++, printf("more is refused than done\n");
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
