/* scaler.c - scaling of a loss, so that small gradients of half precision survive, and skipping of
 * steps whose gradients overflow (P. Micikevicius et al., Mixed Precision Training, 2018), as
 * torch.amp.GradScaler. */
#include "optim.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"

#include <math.h>

enum { SCALER_READY, SCALER_UNSCALED, SCALER_STEPPED };

/* How far an optimizer is since the last update. */
typedef struct scaler_state {
    const tn_optimizer *optimizer;
    int stage;
    bool overflow;
} scaler_state;

struct tn_scaler {
    double scale, growth_factor, backoff_factor;
    int64_t growth_interval, good; /* steps without an overflow */
    tni_buffer states;             /* scaler_state */
};

/* The largest scale: losses are f32. */
static const double scaler_most = 3.4028234663852886e38;
static bool scaler_fits(double scale, const char *name) {
    return (scale > 0 && scale <= scaler_most) ||
           tni_nn_error(TN_INVALID, "%s is %g, but must be positive and finite in f32", name,
                        scale);
}
static bool scaler_check(const tn_scaler *s) {
    if (!scaler_fits(s->scale, "init_scale")) return false;
    if (!(s->growth_factor > 1))
        return tni_nn_error(TN_INVALID, "growth_factor is %g, but must be above 1",
                            s->growth_factor);
    if (!(s->backoff_factor > 0 && s->backoff_factor < 1))
        return tni_nn_error(TN_INVALID, "backoff_factor is %g, but must be between 0 and 1",
                            s->backoff_factor);
    return s->growth_interval > 0 ||
           tni_nn_error(TN_INVALID, "growth_interval is %lld, but must be positive",
                        (long long)s->growth_interval);
}

TN_API tn_scaler *tn_scaler_new_at(const char *file, int line, const tn_scaler_args *args) {
    static const tn_scaler_args usual = {0, 0, 0, 0};
    const tn_scaler_args *a = args ? args : &usual;
    tn_scaler *s = NULL, made;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, "scaler_new");
    memset(&made, 0, sizeof made);
    made.scale = a->init_scale != 0 ? a->init_scale : 65536;
    made.growth_factor = a->growth_factor != 0 ? a->growth_factor : 2;
    made.backoff_factor = a->backoff_factor != 0 ? a->backoff_factor : 0.5;
    made.growth_interval = a->growth_interval ? a->growth_interval : 2000;
    if (scaler_check(&made)) s = (tn_scaler *)tn_alloc(sizeof *s);
    if (s) *s = made;
    tni_step_end(&step);
    return s;
}
TN_API void tn_scaler_free(tn_scaler *s) {
    if (!s || !tn_context_exists()) return;
    tni_buffer_free(&s->states);
    tn_alloc_free(s, sizeof *s);
}

TN_API tn_tensor *tn_scaler_scale_at(const char *file, int line, const tn_scaler *s,
                                     tn_tensor *loss) {
    tn_tensor *scaled = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, "scaler_scale");
    if (!s || !loss)
        tni_nn_error(TN_INVALID, "the scaler or the loss is NULL");
    else
        scaled = tnp_mul_scalar(loss, tn_float(s->scale));
    tni_step_end(&step);
    return scaled;
}

/* The state of an optimizer, made at its first use; NULL without memory. */
static scaler_state *scaler_state_of(tn_scaler *s, const tn_optimizer *o) {
    const int64_t n = s->states.n / (int64_t)sizeof(scaler_state);
    scaler_state *at = (scaler_state *)(void *)s->states.at, fresh;
    for (int64_t i = 0; i < n; i++)
        if (at[i].optimizer == o) return &at[i];
    memset(&fresh, 0, sizeof fresh);
    fresh.optimizer = o;
    return (scaler_state *)tni_buffer_add(&s->states, &fresh, (int64_t)sizeof fresh);
}

/* Whether all gradients are finite: their largest magnitude is. false with an error set, too. */
static bool scaler_finite(tn_tensor *const *grads, int64_t n) {
    tn_tensor *most = n ? tnp_total_norm(tn_tensors_of(grads, n), HUGE_VAL) : NULL;
    if (!n) return true;
    return most && isfinite(tn_item(most));
}

/* Gradients are divided by the scale, all or none. */
static bool scaler_divide(const tn_scaler *s, tn_tensor *const *grads, int64_t n) {
    if (!tn_whole_begin()) return false;
    for (int64_t i = 0; i < n && tn_ok(); i++) tnp_mul_scalar_(grads[i], tn_float(1 / s->scale));
    tn_whole_end();
    return tn_ok();
}

static bool scaler_unscale(tn_scaler *s, const tn_optimizer *o) {
    scaler_state *state = scaler_state_of(s, o);
    tn_tensor **grads;
    int64_t n = 0;
    bool ok = true;
    if (!state) return false;
    if (state->stage != SCALER_READY)
        return tni_nn_error(TN_INVALID, "the optimizer has been %s since the last update",
                            state->stage == SCALER_UNSCALED ? "unscaled" : "stepped");
    grads = (tn_tensor **)tni_alloc_each(o->n, sizeof *grads);
    if (!grads) return false;
    for (int64_t i = 0; ok && i < o->n; i++) {
        tn_tensor *grad = tn_grad_of(o->param[i]);
        if (grad) grads[n++] = grad;
        if (grad && tn_dtype_of(grad) == TN_F16)
            ok = tni_nn_error(TN_TYPE,
                              "parameter %lld has a gradient of float16, which is no "
                              "master weight's",
                              (long long)i);
    }
    if (ok) state->overflow = !scaler_finite(grads, n);
    ok = ok && tn_ok() && scaler_divide(s, grads, n);
    if (ok) state->stage = SCALER_UNSCALED;
    tn_alloc_free(grads, (size_t)o->n * sizeof *grads);
    return ok;
}

/* unscale, and (step) the optimizer's step, in a scope of its own without recording. */
static bool scaler_go(const char *file, int line, tn_scaler *s, tn_optimizer *o, bool step) {
    tni_step at;
    int64_t mark;
    scaler_state *state;
    bool mode, ok;
    if (!tn_ok()) return false;
    tni_step_begin(&at, file, line, step ? "scaler_step" : "scaler_unscale");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = mark >= 0 &&
         (s && o ? true : tni_nn_error(TN_INVALID, "the scaler or the optimizer is NULL"));
    state = ok ? scaler_state_of(s, o) : NULL;
    if (!state || !step || state->stage != SCALER_UNSCALED) ok = ok && scaler_unscale(s, o);
    state = ok ? scaler_state_of(s, o) : NULL;
    ok = state != NULL;
    if (ok && step) {
        ok = state->overflow || tn_optimizer_step_at(file, line, o);
        if (ok) state->stage = SCALER_STEPPED;
    }
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&at);
    return ok;
}
TN_API bool tn_scaler_unscale_at(const char *file, int line, tn_scaler *s, tn_optimizer *o) {
    return scaler_go(file, line, s, o, false);
}
TN_API bool tn_scaler_step_at(const char *file, int line, tn_scaler *s, tn_optimizer *o) {
    return scaler_go(file, line, s, o, true);
}

static bool scaler_update(tn_scaler *s) {
    const int64_t n = s->states.n / (int64_t)sizeof(scaler_state);
    scaler_state *at = (scaler_state *)(void *)s->states.at;
    bool any = false, overflow = false;
    for (int64_t i = 0; i < n; i++) {
        any = any || at[i].stage != SCALER_READY;
        overflow = overflow || at[i].overflow;
    }
    if (!any) return tni_nn_error(TN_INVALID, "no optimizer was unscaled or stepped before");
    if (overflow) {
        s->scale *= s->backoff_factor;
        s->good = 0;
    } else if (s->good >= s->growth_interval - 1) {
        /* A scale that would not be finite in f32 stays. */
        const double grown = s->scale * s->growth_factor;
        if (grown <= scaler_most) s->scale = grown;
        s->good = 0;
    } else {
        s->good++;
    }
    s->states.n = 0;
    return true;
}
TN_API bool tn_scaler_update_at(const char *file, int line, tn_scaler *s) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "scaler_update");
    ok = s ? scaler_update(s) : tni_nn_error(TN_INVALID, "the scaler is NULL");
    tni_step_end(&step);
    return ok;
}

TN_API double tn_scaler_get(const tn_scaler *s) { return s ? s->scale : (double)NAN; }
TN_API int64_t tn_scaler_count(const tn_scaler *s) { return s ? s->good : 0; }
TN_API bool tn_scaler_resume_at(const char *file, int line, tn_scaler *s, double scale,
                                int64_t count) {
    tni_step step;
    bool ok = true;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "scaler_resume");
    if (!s)
        ok = tni_nn_error(TN_INVALID, "the scaler is NULL");
    else if (count < 0)
        ok = tni_nn_error(TN_INVALID, "count is %lld, but must be 0 or more", (long long)count);
    else
        ok = scaler_fits(scale, "scale");
    if (ok) {
        s->scale = scale;
        s->good = count;
    }
    tni_step_end(&step);
    return ok;
}
