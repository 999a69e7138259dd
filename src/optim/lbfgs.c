/* lbfgs.c - L-BFGS (J. Nocedal, 1980; D. Liu, J. Nocedal, 1989) over one vector of all parameters,
 * as torch.optim.LBFGS. The line search is that of Nocedal and Wright, Numerical Optimization,
 * algorithms 3.5 and 3.6, with the safeguards of minFunc (M. Schmidt). */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/linalg.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

#include <math.h>

struct tn_lbfgs {
    tn_lbfgs_args o;
    int64_t n; /* parameters */
    tn_tensor **param;
    /* What the last iteration has left, held: its direction, the gradients before and behind it. */
    tn_tensor *direction, *before, *gradient;
    double t, scale; /* its step; the first factor of the inverse Hessian */
    int64_t iterations, evaluations;
    /* The history, oldest first: changes of the gradient, steps, 1 / their product. */
    int64_t kept;
    tn_tensor **change, **step;
    double *ro, *al;
};

/* A step in progress. */
typedef struct lbfgs_run {
    tn_lbfgs *l;
    tn_tensor *(*closure)(void *user);
    void *user;
    int64_t evaluations;
} lbfgs_run;

/* A point of a line: step, loss, slope along the direction, gradient. */
typedef struct lbfgs_point {
    double t, loss, slope;
    tn_tensor *gradient;
} lbfgs_point;

/* --- all parameters as one vector ------------------------------------------------------------- */

static double lbfgs_dot(tn_tensor *a, tn_tensor *b) {
    tn_tensor *t = tnp_dot(a, b);
    return t ? tn_item(t) : (double)NAN;
}
static double lbfgs_norm(tn_tensor *x, double order) {
    tn_tensor *t = x ? tnp_total_norm(tn_tensors_of(&x, 1), order) : NULL;
    return t ? tn_item(t) : (double)NAN;
}
/* Keeps t beyond the scope in the place of what was there. */
static bool lbfgs_keep(tn_tensor **at, tn_tensor *t) {
    if (!t || !tn_retain(t)) return false;
    tn_release(*at);
    *at = t;
    return true;
}

static tn_tensor *lbfgs_gradient(const tn_lbfgs *l) {
    const int64_t all = -1;
    tn_tensor **part = (tn_tensor **)tni_alloc_each(l->n, sizeof *part), *flat = NULL;
    bool ok = part != NULL;
    for (int64_t i = 0; ok && i < l->n; i++) {
        tn_tensor *p = l->param[i], *g = tn_grad_of(p);
        if (!g) g = tnp_full(tn_shape(p), tn_float(0), tn_dtype_of(p), tn_device_of(p));
        part[i] = g ? tnp_reshape(g, tn_ints_of(&all, 1)) : NULL;
        ok = part[i] != NULL;
    }
    if (ok) flat = tnp_cat(tn_tensors_of(part, l->n), 0);
    if (part) tn_alloc_free(part, (size_t)l->n * sizeof *part);
    return flat && l->o.maximize ? tnp_neg(flat) : flat;
}

/* Parameters move by t times the direction; all, though a request to stop comes. */
static bool lbfgs_move(const tn_lbfgs *l, double t) {
    int64_t at = 0;
    if (!tn_whole_begin()) return false;
    for (int64_t i = 0; i < l->n && tn_ok(); i++) {
        tn_tensor *p = l->param[i], *part = tnp_narrow(l->direction, 0, at, tn_numel(p));
        part = part ? tnp_reshape(part, tn_shape(p)) : NULL;
        if (part) tnp_add_(p, part, t);
        at += tn_numel(p);
    }
    tn_whole_end();
    return tn_ok();
}

/* The closure's loss, the number that gets smaller; its tensors end with it. */
static bool lbfgs_loss(lbfgs_run *r, double *value, double *loss) {
    const int64_t mark = tn_scope_begin();
    const bool mode = tn_set_grad_mode(true);
    tn_tensor *t = mark >= 0 ? r->closure(r->user) : NULL;
    if (t)
        *value = tn_item(t);
    else if (tn_ok())
        tni_nn_error(TN_INVALID, "the closure returned NULL");
    *loss = r->l->o.maximize ? -*value : *value;
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    r->evaluations++;
    r->l->evaluations++;
    return tn_ok();
}

/* --- the line search -------------------------------------------------------------------------- */

typedef struct lbfgs_line {
    lbfgs_run *r;
    tn_tensor **begin; /* the parameters at the start */
    lbfgs_point start;
    double size; /* of the direction's largest element */
    int64_t most, turns;
} lbfgs_line;

/* The point at step t; the parameters are at the start again. */
static bool lbfgs_at(lbfgs_line *a, double t, lbfgs_point *p) {
    const tn_lbfgs *l = a->r->l;
    double value = 0;
    bool ok = lbfgs_move(l, t);
    memset(p, 0, sizeof *p);
    p->t = t;
    ok = ok && lbfgs_loss(a->r, &value, &p->loss);
    p->gradient = ok ? lbfgs_gradient(l) : NULL;
    if (p->gradient) p->slope = lbfgs_dot(p->gradient, l->direction);
    if (tn_ok())
        for (int64_t i = 0; i < l->n; i++) tnp_copy_(l->param[i], a->begin[i]);
    return tn_ok();
}

static double lbfgs_within(double t, double low, double high) {
    const double least = t > low ? t : low;
    return least < high ? least : high;
}
/* The minimum of the cubic through two points with their slopes, within bounds. */
static double lbfgs_cubic(const lbfgs_point *a, const lbfgs_point *b, double low, double high) {
    const lbfgs_point *left = a->t <= b->t ? a : b, *right = a->t <= b->t ? b : a;
    const double mean = fma(-3, (a->loss - b->loss) / (a->t - b->t), a->slope + b->slope);
    const double square = fma(mean, mean, -(a->slope * b->slope));
    double root, part;
    if (!(square >= 0)) return (low + high) / 2;
    root = sqrt(square);
    part = (right->slope + root - mean) / fma(2, root, right->slope - left->slope);
    return lbfgs_within(fma(-(right->t - left->t), part, right->t), low, high);
}
static bool lbfgs_too_high(const lbfgs_line *a, const lbfgs_point *p) {
    return p->loss > fma(1e-4 * p->t, a->start.slope, a->start.loss);
}
static bool lbfgs_is_flat(const lbfgs_line *a, const lbfgs_point *p) {
    return fabs(p->slope) <= -0.9 * a->start.slope;
}

/* Two points with a step between them that will do, or the one that it is: how many; 0: error. */
static int lbfgs_bracket(lbfgs_line *a, double t, lbfgs_point *ends) {
    lbfgs_point before = a->start, now;
    if (!lbfgs_at(a, t, &now)) return 0;
    while (a->turns < a->most) {
        const bool flat = lbfgs_is_flat(a, &now);
        if (lbfgs_too_high(a, &now) || (a->turns > 1 && now.loss >= before.loss) ||
            (!flat && now.slope >= 0)) {
            ends[0] = before;
            ends[1] = now;
            return 2;
        }
        if (flat) {
            ends[0] = now;
            return 1;
        }
        t = lbfgs_cubic(&before, &now, fma(0.01, now.t - before.t, now.t), now.t * 10);
        before = now;
        if (!lbfgs_at(a, t, &now)) return 0;
        a->turns++;
    }
    ends[0] = a->start;
    ends[1] = now;
    return 2;
}

/* A step between two ends, away from both after a small advance, which *stuck tells. */
static double lbfgs_inner(const lbfgs_point *ends, bool *stuck) {
    const double top = fmax(ends[0].t, ends[1].t), bottom = fmin(ends[0].t, ends[1].t);
    const double t = lbfgs_cubic(&ends[0], &ends[1], bottom, top);
    const bool again = *stuck;
    *stuck = false;
    if (!(fmin(top - t, t - bottom) < 0.1 * (top - bottom))) return t;
    if (!(again || t >= top || t <= bottom)) {
        *stuck = true;
        return t;
    }
    return fabs(t - top) < fabs(t - bottom) ? fma(-0.1, top - bottom, top)
                                            : fma(0.1, top - bottom, bottom);
}

/* A step for which the loss falls enough and the slope is small enough (strong Wolfe). */
static bool lbfgs_search(lbfgs_line *a, double t, lbfgs_point *found) {
    lbfgs_point ends[2], now;
    memset(ends, 0, sizeof ends);
    const int n = lbfgs_bracket(a, t, ends);
    int low = n == 2 && !(ends[0].loss <= ends[1].loss);
    bool stuck = false, done = n == 1;
    if (!n) return false;
    while (!done && a->turns < a->most) {
        if (fabs(ends[1].t - ends[0].t) * a->size < a->r->l->o.tolerance_change) break;
        if (!lbfgs_at(a, lbfgs_inner(ends, &stuck), &now)) return false;
        a->turns++;
        if (lbfgs_too_high(a, &now) || now.loss >= ends[low].loss) {
            ends[1 - low] = now;
            low = !(ends[0].loss <= ends[1].loss);
            continue;
        }
        done = lbfgs_is_flat(a, &now);
        if (!done && now.slope * (ends[1 - low].t - ends[low].t) >= 0) ends[1 - low] = ends[low];
        ends[low] = now;
    }
    *found = ends[low];
    return true;
}

static bool lbfgs_line_of(lbfgs_run *r, const lbfgs_point *start, double t, lbfgs_point *found) {
    tn_lbfgs *l = r->l;
    lbfgs_line a;
    bool ok;
    memset(&a, 0, sizeof a);
    a.r = r;
    a.start = *start;
    a.size = lbfgs_norm(l->direction, HUGE_VAL);
    a.most = l->o.max_eval - r->evaluations;
    a.begin = (tn_tensor **)tni_alloc_each(l->n, sizeof *a.begin);
    ok = a.begin != NULL;
    for (int64_t i = 0; ok && i < l->n; i++)
        ok = (a.begin[i] = tnp_clone(l->param[i], TN_MEMORY_FORMAT_PRESERVE_FORMAT)) != NULL;
    ok = ok && lbfgs_search(&a, t, found);
    if (a.begin) tn_alloc_free(a.begin, (size_t)l->n * sizeof *a.begin);
    return ok && tn_ok();
}

/* --- directions ------------------------------------------------------------------------------- */

/* Forgets the oldest part of the history. */
static void lbfgs_forget(tn_lbfgs *l) {
    tn_release(l->change[0]);
    tn_release(l->step[0]);
    l->kept--;
    memmove(l->change, l->change + 1, (size_t)l->kept * sizeof *l->change);
    memmove(l->step, l->step + 1, (size_t)l->kept * sizeof *l->step);
    memmove(l->ro, l->ro + 1, (size_t)l->kept * sizeof *l->ro);
}

/* The change of the gradient by the last step, where its curvature is positive. */
static bool lbfgs_remember(tn_lbfgs *l, tn_tensor *gradient) {
    tn_tensor *y = tnp_sub(gradient, l->before, 1),
              *s = tnp_mul_scalar(l->direction, tn_float(l->t));
    const double curvature = lbfgs_dot(y, s);
    int64_t i;
    if (!(curvature > 1e-10)) return tn_ok();
    if (l->kept == l->o.history_size) lbfgs_forget(l);
    i = l->kept;
    l->change[i] = l->step[i] = NULL;
    if (!lbfgs_keep(&l->change[i], y)) return false;
    if (!lbfgs_keep(&l->step[i], s)) {
        tn_release(l->change[i]);
        return false;
    }
    l->ro[i] = 1 / curvature;
    l->scale = curvature / lbfgs_dot(y, y);
    l->kept++;
    return tn_ok();
}

/* Minus the gradient times the inverse Hessian that the history gives (two loops). */
static bool lbfgs_direction(tn_lbfgs *l, tn_tensor *gradient) {
    tn_tensor *q;
    if (l->iterations == 1) {
        while (l->kept) lbfgs_forget(l);
        l->scale = 1;
    } else if (!lbfgs_remember(l, gradient)) {
        return false;
    }
    q = tnp_neg(gradient);
    for (int64_t i = l->kept - 1; q && i >= 0; i--) {
        l->al[i] = lbfgs_dot(l->step[i], q) * l->ro[i];
        q = tnp_add_(q, l->change[i], -l->al[i]);
    }
    if (q && l->scale != 1) q = tnp_mul_scalar_(q, tn_float(l->scale));
    for (int64_t i = 0; q && i < l->kept; i++)
        q = tnp_add_(q, l->step[i], fma(-lbfgs_dot(l->change[i], q), l->ro[i], l->al[i]));
    return q && lbfgs_keep(&l->direction, q);
}

/* --- the step --------------------------------------------------------------------------------- */

/* Moves along the direction; *at is the point before, and behind. */
static bool lbfgs_advance(lbfgs_run *r, lbfgs_point *at, bool last) {
    tn_lbfgs *l = r->l;
    double value = 0;
    if (l->o.strong_wolfe) {
        lbfgs_point found;
        memset(&found, 0, sizeof found);
        if (!lbfgs_line_of(r, at, l->t, &found)) return false;
        *at = found;
        l->t = found.t;
        return lbfgs_move(l, l->t);
    }
    if (!lbfgs_move(l, l->t)) return false;
    if (last) return true;
    return lbfgs_loss(r, &value, &at->loss) && (at->gradient = lbfgs_gradient(l)) != NULL;
}

/* One iteration; *more: another may follow. */
static bool lbfgs_iterate(lbfgs_run *r, lbfgs_point *at, bool last, bool *more) {
    tn_lbfgs *l = r->l;
    const double before = at->loss;
    *more = false;
    l->iterations++;
    if (!lbfgs_direction(l, at->gradient) || !lbfgs_keep(&l->before, at->gradient)) return false;
    l->t = l->o.lr;
    if (l->iterations == 1) l->t = fmin(1, 1 / lbfgs_norm(at->gradient, 1)) * l->t;
    at->t = 0;
    at->slope = lbfgs_dot(at->gradient, l->direction);
    if (at->slope > -l->o.tolerance_change) return tn_ok();
    if (!lbfgs_advance(r, at, last)) return false;
    if (last || r->evaluations >= l->o.max_eval) return true;
    if (lbfgs_norm(at->gradient, HUGE_VAL) <= l->o.tolerance_grad) return tn_ok();
    *more = !(lbfgs_norm(l->direction, HUGE_VAL) * fabs(l->t) <= l->o.tolerance_change) &&
            !(fabs(at->loss - before) < l->o.tolerance_change);
    return tn_ok();
}

static bool lbfgs_step(lbfgs_run *r, double *value) {
    tn_lbfgs *l = r->l;
    lbfgs_point at;
    bool more = true;
    memset(&at, 0, sizeof at);
    if (!lbfgs_loss(r, value, &at.loss) || !(at.gradient = lbfgs_gradient(l))) return false;
    if (lbfgs_norm(at.gradient, HUGE_VAL) <= l->o.tolerance_grad) return tn_ok();
    for (int64_t n = 1; more && n <= l->o.max_iter; n++) {
        const int64_t mark = tn_scope_begin();
        const bool ok = mark >= 0 && lbfgs_iterate(r, &at, n == l->o.max_iter, &more) &&
                        lbfgs_keep(&l->gradient, at.gradient);
        tn_scope_end(mark);
        if (!ok) {
            l->iterations = 0; /* the next step begins anew */
            return false;
        }
        at.gradient = l->gradient;
    }
    return tn_ok();
}

TN_API double tn_lbfgs_step_at(const char *file, int line, tn_lbfgs *l,
                               tn_tensor *(*closure)(void *user), void *user) {
    lbfgs_run r;
    tni_step step;
    double value = (double)NAN;
    int64_t mark;
    bool mode, ok;
    if (!tn_ok()) return value;
    tni_step_begin(&step, file, line, "lbfgs_step");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    memset(&r, 0, sizeof r);
    r.l = l;
    r.closure = closure;
    r.user = user;
    ok = l && closure ? lbfgs_step(&r, &value)
                      : tni_nn_error(TN_INVALID, "the optimizer or the closure is NULL");
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok ? value : (double)NAN;
}
TN_API void tn_lbfgs_zero_grad(tn_lbfgs *l) {
    for (int64_t i = 0; l && i < l->n; i++) tn_zero_grad(l->param[i]);
}
TN_API int64_t tn_lbfgs_evaluations(const tn_lbfgs *l) { return l ? l->evaluations : 0; }

/* --- making ----------------------------------------------------------------------------------- */

static bool lbfgs_check(const tn_lbfgs_args *o) {
    if (!tni_option_bound(o->lr, "learning rate")) return false;
    if (o->max_iter < 1 || o->max_eval < 1 || o->history_size < 1)
        return tni_nn_error(TN_INVALID, "max_iter, max_eval and history_size must be positive");
    if (!(o->tolerance_grad >= 0 && o->tolerance_change >= 0))
        return tni_nn_error(TN_INVALID, "tolerance_grad and tolerance_change must not be negative");
    if (o->params.n < 1 || !o->params.at)
        return tn_ok() ? tni_nn_error(TN_INVALID, "params: the list is empty") : false;
    for (int64_t i = 0; i < o->params.n; i++) {
        const tn_tensor *t = o->params.at[i];
        const tn_dtype dtype = t ? tn_dtype_of(t) : TN_NO_DTYPE;
        if (!t || !tn_is_leaf(t) ||
            (dtype != TN_F64 && dtype != TN_F32 && dtype != TN_F16 && dtype != TN_BF16))
            return tni_nn_error(TN_INVALID, "params[%lld] is no floating leaf", (long long)i);
        if (dtype != tn_dtype_of(o->params.at[0]) ||
            tn_device_of(t) != tn_device_of(o->params.at[0]))
            return tni_nn_error(TN_INVALID,
                                "params[%lld] has another dtype or device than the first",
                                (long long)i);
    }
    return true;
}

static bool lbfgs_make(tn_lbfgs *l) {
    const int64_t history = l->o.history_size;
    l->param = (tn_tensor **)tni_alloc_each(l->o.params.n, sizeof *l->param);
    l->change = (tn_tensor **)tni_alloc_each(history, sizeof *l->change);
    l->step = l->change ? (tn_tensor **)tni_alloc_each(history, sizeof *l->step) : NULL;
    l->ro = l->step ? (double *)tni_alloc_each(history, sizeof *l->ro) : NULL;
    l->al = l->ro ? (double *)tni_alloc_each(history, sizeof *l->al) : NULL;
    if (!l->param || !l->al) return false;
    for (int64_t i = 0; i < l->o.params.n; i++) {
        if (!(l->param[i] = tn_retain(l->o.params.at[i]))) return false;
        l->n++;
    }
    return true;
}

TN_API tn_lbfgs *tn_lbfgs_new_at(const char *file, int line, const tn_lbfgs_args *args) {
    tn_lbfgs *l = NULL;
    tn_lbfgs_args o;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, "lbfgs_new");
    memset(&o, 0, sizeof o);
    if (args) o = *args;
    if (o.lr == 0) o.lr = 1;
    if (o.max_iter == 0) o.max_iter = 20;
    if (o.max_eval == 0) /* 5 / 4 max_iter */
        o.max_eval =
            o.max_iter > 0 && o.max_iter < INT64_MAX / 2 ? o.max_iter + o.max_iter / 4 : o.max_iter;
    if (o.tolerance_grad == 0) o.tolerance_grad = 1e-7;
    if (o.tolerance_change == 0) o.tolerance_change = 1e-9;
    if (o.history_size == 0) o.history_size = 100;
    if (lbfgs_check(&o)) l = (tn_lbfgs *)tn_alloc(sizeof *l);
    if (l) {
        memset(l, 0, sizeof *l);
        l->o = o;
        if (!lbfgs_make(l)) {
            tn_lbfgs_free(l);
            l = NULL;
        }
    }
    tni_step_end(&step);
    return l;
}
TN_API void tn_lbfgs_free(tn_lbfgs *l) {
    size_t history;
    if (!l || !tn_context_exists()) return;
    history = (size_t)l->o.history_size;
    while (l->kept) lbfgs_forget(l);
    for (int64_t i = 0; i < l->n; i++) tn_release(l->param[i]);
    tn_release(l->direction);
    tn_release(l->before);
    tn_release(l->gradient);
    if (l->param) tn_alloc_free(l->param, (size_t)l->o.params.n * sizeof *l->param);
    if (l->change) tn_alloc_free(l->change, history * sizeof *l->change);
    if (l->step) tn_alloc_free(l->step, history * sizeof *l->step);
    if (l->ro) tn_alloc_free(l->ro, history * sizeof *l->ro);
    if (l->al) tn_alloc_free(l->al, history * sizeof *l->al);
    tn_alloc_free(l, sizeof *l);
}
