/* train.c - the training loop: epochs of steps, evaluation, schedule, checkpoint, events to
 * a callback. */
#include "../api/train.h"
#include "../optim/optim.h"
#include "data.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

#include <math.h>

typedef struct train_run {
    const tn_train_args *a;
    tn_module *loss; /* owned when a->loss is NULL */
    tn_progress p;
    double began;
    double loss_sum, hits; /* over the items so far */
    double step_loss;      /* of the batches of this step so far */
    bool classes;          /* accuracy makes sense */
    bool stopped;
    int64_t since; /* epochs done when patience began to count */
} train_run;

static double train_nan(void) { return (double)NAN; }

static void train_no_figures(tn_progress *p) {
    p->loss = p->accuracy = p->batch_loss = p->test_loss = p->test_accuracy = train_nan();
}

/* Tells the callback; false: the run ends here. */
static bool train_tell(train_run *r, tn_event event) {
    r->p.event = event;
    r->p.seconds = tn_now() - r->began;
    r->p.rate = r->p.seconds > 0 ? (double)r->p.items / r->p.seconds : 0;
    r->p.remaining =
        r->p.step > 0 ? r->p.seconds / (double)r->p.step * (double)(r->p.steps - r->p.step) : 0;
    if (!r->a->on || r->a->on(&r->p, r->a->user)) return tn_ok();
    r->stopped = true;
    return false;
}

/* --- devices ---------------------------------------------------------------------------------- */

/* Where the model's first parameter is; the CPU if it has none. */
static tn_device_id train_device(tn_module *model) {
    const int64_t mark = tn_scope_begin();
    const tn_tensors params = tn_parameters_at(NULL, 0, model);
    const tn_device_id device = params.n > 0 ? tn_device_of(params.at[0]) : TN_CPU;
    tn_scope_end(mark);
    return device;
}
/* The next batch, on that device. */
static bool train_next(tn_loader *loader, tn_device_id device, tn_batch *b) {
    if (!tn_loader_next_at(NULL, 0, loader, b)) return false;
    for (int i = 0; i < b->nfields; i++) {
        tn_tensor *t = b->field[i];
        if (tn_device_of(t) == device) continue;
        b->field[i] = tnp_copy_(tnp_empty(tn_shape(t), tn_dtype_of(t), device), t);
        if (!b->field[i]) return false;
    }
    return true;
}

/* --- loss and accuracy ------------------------------------------------------------------------ */

static tn_tensor *train_loss_of(tn_module *loss, tn_tensor *output, tn_tensor *target) {
    tn_value values[2];
    tn_tensor *result = NULL;
    memset(values, 0, sizeof values);
    values[0].type = values[1].type = TN_T_TENSOR;
    values[0].as.tensor = output;
    values[1].as.tensor = target;
    return tn_module_call_values(NULL, 0, loss, values, 2, &result, 1) ? result : NULL;
}

/* Items whose largest output is the target's; -1: the target is no class. */
static double train_hits(tn_tensor *output, tn_tensor *target) {
    tn_tensor *same;
    double hits;
    bool mode;
    if (!output || !target || tn_ndim(output) != 2 || tn_ndim(target) != 1 ||
        tn_dtype_of(target) != TN_I64)
        return -1;
    mode = tn_set_grad_mode(false);
    same = tnp_eq(tnp_argmax(output, 1, false), target);
    hits = tni_nn_item(tnp_sum(same, tn_no_dims(), false, TN_NO_DTYPE));
    tn_set_grad_mode(mode);
    return hits;
}

static tn_tensor *train_batch_loss(train_run *r, const tn_batch *b, tn_tensor **output) {
    *output = NULL;
    if (r->a->batch_loss) return r->a->batch_loss(r->a->model, b, output, r->a->user);
    if (b->nfields < 2)
        return tni_nn_error(TN_INVALID, "expected a batch of input and target"), (tn_tensor *)NULL;
    *output = tn_forward_at(NULL, 0, r->a->model, b->field[0]);
    return *output ? train_loss_of(r->loss, *output, b->field[1]) : NULL;
}

/* Autocast on both kinds of devices, and what was set before; TN_NO_DTYPE: it stays as it is. */
typedef struct train_cast {
    tn_dtype dtype, host, device;
} train_cast;
static train_cast train_cast_begin(tn_dtype dtype) {
    train_cast c = {dtype, TN_NO_DTYPE, TN_NO_DTYPE};
    if (dtype)
        TNI_IF(autocast,
               (c.host = tn_set_autocast(dtype), c.device = tn_set_device_autocast(dtype)),
               tni_nn_error(TN_UNSUPPORTED, "autocast is not in this build"));
    return c;
}
static void train_cast_end(train_cast c) {
    if (c.dtype)
        TNI_IF(autocast, (tn_set_autocast(c.host), tn_set_device_autocast(c.device)), (void)0);
}

/* --- one epoch -------------------------------------------------------------------------------- */

/* Adds the gradients of a batch, one of `share` of its step. The loss; NULL with an error. */
static tn_tensor *train_gradients(train_run *r, const tn_batch *b, int64_t share,
                                  tn_tensor **output) {
    const tn_train_args *a = r->a;
    const train_cast cast = train_cast_begin(a->autocast);
    tn_tensor *loss = train_batch_loss(r, b, output), *part = loss;
    tn_backward_args backward;
    train_cast_end(cast);
    if (!loss && tn_ok()) tni_nn_error(TN_INTERNAL, "the loss failed without setting an error");
    if (loss && share > 1) part = tnp_div_scalar(loss, tn_int(share));
    if (loss && a->scaler)
        part = TNI_IF(scaler, tn_scaler_scale_at(NULL, 0, a->scaler, part),
                      (tni_nn_error(TN_UNSUPPORTED, "scaler is not in this build"), NULL));
    memset(&backward, 0, sizeof backward);
    backward.t = part;
    return part && tn_backward_at(NULL, 0, &backward) ? loss : NULL;
}

/* Moves the parameters by their gradients. */
static bool train_update(train_run *r) {
    const tn_train_args *a = r->a;
    if (a->scaler && a->clip_norm > 0 &&
        !TNI_IF(scaler, tn_scaler_unscale_at(NULL, 0, a->scaler, a->optimizer), false))
        return false;
    if (a->clip_norm > 0)
        TNI_IF(clip_norm,
               (void)tn_nn_clip_grad_norm_at(NULL, 0, tn_parameters_at(NULL, 0, a->model),
                                             a->clip_norm, 2.0),
               tni_nn_error(TN_UNSUPPORTED, "clip_norm is not in this build"));
    if (!tn_ok()) return false;
    if (a->scaler)
        return TNI_IF(scaler,
                      tn_scaler_step_at(NULL, 0, a->scaler, a->optimizer) &&
                          tn_scaler_update_at(NULL, 0, a->scaler),
                      false);
    return tn_optimizer_step_at(NULL, 0, a->optimizer);
}

/* The batch `at` of the epoch's n: the first of a step, the last, or between. */
static bool train_batch(train_run *r, const tn_batch *b, int64_t at, int64_t n) {
    const tn_train_args *a = r->a;
    const int64_t each = a->accumulate > 1 ? a->accumulate : 1, first = at - at % each;
    const int64_t share = n - first < each ? n - first : each;
    tn_tensor *output = NULL, *loss;
    double value, hits;
    if (at == first) {
        tn_optimizer_zero_grad(a->optimizer);
        r->step_loss = 0;
    }
    loss = train_gradients(r, b, share, &output);
    if (!loss || (at + 1 == first + share && !train_update(r))) return false;
    value = tni_nn_item(loss);
    hits = train_hits(output, b->nfields > 1 ? b->field[1] : NULL);
    r->classes = hits >= 0;
    r->hits += hits;
    r->loss_sum = fma(value, (double)b->n, r->loss_sum);
    r->step_loss += value;
    r->p.items += b->n;
    r->p.loss = r->loss_sum / (double)r->p.items;
    r->p.accuracy = r->classes ? r->hits / (double)r->p.items : train_nan();
    if (at + 1 < first + share) return tn_ok();
    r->p.batch_loss = r->step_loss / (double)share;
    r->p.step++;
    return tn_ok();
}

static bool train_epoch(train_run *r) {
    const tn_train_args *a = r->a;
    const int64_t n = tn_loader_batches(a->loader), each = a->accumulate > 1 ? a->accumulate : 1;
    tn_device_id device;
    bool more = true;
    r->began = tn_now();
    r->loss_sum = r->hits = 0;
    r->p.step = r->p.items = 0;
    r->p.steps = n / each + (n % each != 0);
    train_no_figures(&r->p);
    r->p.lr = tn_optimizer_get_at(NULL, 0, a->optimizer, 0, "lr");
    if (!train_tell(r, TN_EVENT_EPOCH)) return false;
    tn_module_train(a->model, true);
    device = train_device(a->model);
    for (int64_t at = 0; more; at++) {
        const int64_t mark = tn_scope_begin(), step = r->p.step;
        tn_batch b;
        more = train_next(a->loader, device, &b) && train_batch(r, &b, at, n);
        tn_scope_end(mark);
        if (more && r->p.step > step && !train_tell(r, TN_EVENT_STEP)) return false;
    }
    return tn_ok() && train_tell(r, TN_EVENT_TRAINED);
}

/* --- evaluation ------------------------------------------------------------------------------- */

typedef struct train_sums {
    double loss, hits, items;
    bool classes;
} train_sums;

static bool train_evaluate_batch(tn_module *model, tn_module *loss, const tn_batch *b,
                                 train_sums *s, tn_dtype autocast) {
    train_cast cast;
    tn_tensor *output, *value;
    double hits;
    if (b->nfields < 2) return tni_nn_error(TN_INVALID, "expected a batch of input and target");
    cast = train_cast_begin(autocast);
    output = tn_forward_at(NULL, 0, model, b->field[0]);
    value = output ? train_loss_of(loss, output, b->field[1]) : NULL;
    train_cast_end(cast);
    if (!value) return false;
    hits = train_hits(output, b->field[1]);
    s->classes = hits >= 0;
    s->hits += hits;
    s->loss = fma(tni_nn_item(value), (double)b->n, s->loss);
    s->items += (double)b->n;
    return tn_ok();
}

/* The mode of a module, which is held for as long as it is noted. */
typedef struct train_mode {
    tn_module *m;
    bool training;
} train_mode;

static bool train_note_mode(tn_module *m, const char *path, void *user) {
    train_mode mode;
    (void)path;
    memset(&mode, 0, sizeof mode);
    mode.m = m;
    mode.training = m->training;
    if (!tni_buffer_add((tni_buffer *)user, &mode, sizeof mode)) return false;
    tn_module_hold(m);
    return true;
}

static void train_restore_modes(tni_buffer *modes) {
    train_mode *mode = (train_mode *)(void *)modes->at;
    for (int64_t i = 0; i < modes->n / (int64_t)sizeof *mode; i++) {
        mode[i].m->training = mode[i].training;
        tn_module_free(mode[i].m);
    }
    tni_buffer_free(modes);
}

/* Goes over the loader in eval mode; tell may be NULL. */
static bool train_evaluate(tn_module *model, tn_module *loss, tn_loader *loader, train_sums *s,
                           train_run *tell) {
    tni_buffer modes = {NULL, 0, 0, false};
    bool more = tn_module_walk_at(NULL, 0, model, train_note_mode, &modes),
         mode = tn_set_grad_mode(false);
    const tn_device_id device = train_device(model);
    const tn_dtype autocast = tell ? tell->a->autocast : TN_NO_DTYPE;
    memset(s, 0, sizeof *s);
    tn_loader_stop(loader);
    if (more) tn_module_train(model, false);
    while (more) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        more = train_next(loader, device, &b) && train_evaluate_batch(model, loss, &b, s, autocast);
        tn_scope_end(mark);
        if (more && tell) {
            tell->p.test_loss = s->loss / s->items;
            tell->p.test_accuracy = s->classes ? s->hits / s->items : train_nan();
            more = train_tell(tell, TN_EVENT_EVALUATE);
        }
    }
    tn_loader_stop(loader);
    train_restore_modes(&modes);
    tn_set_grad_mode(mode);
    return tn_ok();
}

static tn_module *train_default_loss(void) {
    return tnp_nn_cross_entropy_loss(NULL, -100, TN_REDUCTION_MEAN, 0, TN_NO_DTYPE, TN_NO_DEVICE);
}

TN_API bool tn_evaluate_at(const char *file, int line, tn_module *model, tn_module *loss,
                           tn_loader *loader, double *mean_loss, double *accuracy) {
    tn_module *own = NULL;
    train_sums s;
    tni_step step;
    bool ok = model && loader;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "evaluate");
    if (!ok) tni_nn_error(TN_INVALID, "model or loader is NULL");
    if (ok && !loss) loss = own = train_default_loss();
    ok = ok && loss && train_evaluate(model, loss, loader, &s, NULL);
    tn_module_free(own);
    tni_step_end(&step);
    if (ok && mean_loss) *mean_loss = s.items > 0 ? s.loss / s.items : train_nan();
    if (ok && accuracy) *accuracy = s.classes ? s.hits / s.items : train_nan();
    return ok;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* The numbers of a checkpoint. Those of the best epoch have names for what is watched: another
 * watch begins anew. */
enum { TRAIN_EPOCH, TRAIN_BEST, TRAIN_BEST_EPOCH, TRAIN_SINCE, TRAIN_SCALE, TRAIN_SCALE_STEPS };
static const char *const train_names[2][6] = {
    {"epoch", "loss_best", "loss_best_epoch", "loss_since", "scale", "scale_steps"},
    {"epoch", "accuracy_best", "accuracy_best_epoch", "accuracy_since", "scale", "scale_steps"}};
typedef struct train_saved {
    tn_state state;
    tn_named_number number[6];
} train_saved;

static void train_state(train_run *r, train_saved *s, double epochs) {
    const tn_train_args *a = r->a;
    memset(s, 0, sizeof *s);
    s->state.model = a->model;
    s->state.optimizer = a->optimizer;
    s->state.schedule = a->schedule;
    s->state.generator = tn_default_generator();
    s->state.numbers = s->number;
    s->state.loader_generator = tn_loader_generator(a->loader);
    s->state.test_generator = tn_loader_generator(a->test);
    s->state.nnumbers = a->scaler ? 6 : 4;
    for (int i = 0; i < 6; i++) s->number[i].name = train_names[a->watch][i];
    s->number[TRAIN_EPOCH].value = epochs;
    s->number[TRAIN_BEST].value = r->p.best;
    s->number[TRAIN_BEST_EPOCH].value = (double)r->p.best_epoch;
    s->number[TRAIN_SINCE].value = (double)r->since;
    if (!a->scaler) return;
    s->number[TRAIN_SCALE].value = TNI_IF(scaler, tn_scaler_get(a->scaler), 0);
    s->number[TRAIN_SCALE_STEPS].value = TNI_IF(scaler, (double)tn_scaler_count(a->scaler), 0);
}
static bool train_save(train_run *r, const char *path) {
    train_saved s;
    train_state(r, &s, (double)(r->p.epoch + 1));
    return tn_checkpoint_save_at(NULL, 0, path, &s.state);
}

/* Notes whether this epoch is the best so far; false with an error, too. */
static bool train_better(train_run *r) {
    const tn_train_args *a = r->a;
    const bool accuracy = a->watch == TN_WATCH_ACCURACY;
    const double loss = a->test ? r->p.test_loss : r->p.loss;
    const double value = !accuracy ? loss : a->test ? r->p.test_accuracy : r->p.accuracy;
    const double gain = accuracy ? value - r->p.best : r->p.best - value;
    if (accuracy && isnan(value) && (a->best || a->patience > 0))
        return tni_nn_error(TN_INVALID, "the accuracy is watched, but targets are no classes");
    if (isnan(value) || (r->p.best_epoch >= 0 && !(gain > a->min_delta))) return false;
    r->p.best = value;
    r->p.best_epoch = r->p.epoch;
    r->since = r->p.epoch + 1;
    return true;
}

/* Evaluation, schedule and checkpoints after an epoch's steps. */
static bool train_epoch_end(train_run *r) {
    const tn_train_args *a = r->a;
    train_sums s;
    bool better;
    if (a->test && (!train_evaluate(a->model, r->loss, a->test, &s, r) || r->stopped)) return false;
    if (a->schedule && !tn_schedule_step_at(NULL, 0, a->schedule)) return false;
    better = train_better(r);
    if (!tn_ok() || !train_tell(r, TN_EVENT_EPOCH_END)) return false;
    if (better && a->best && !train_save(r, a->best)) return false;
    return !a->checkpoint || (train_save(r, a->checkpoint) && train_tell(r, TN_EVENT_SAVED));
}

/* The state behind a checkpoint's numbers. */
static bool train_go_on(train_run *r, const train_saved *s) {
    const tn_named_number *n = s->number;
    r->p.epoch = r->since = (int64_t)n[TRAIN_EPOCH].value;
    if (tni_is_count(n[TRAIN_SINCE].value)) r->since = (int64_t)n[TRAIN_SINCE].value;
    if (tni_is_count(n[TRAIN_BEST_EPOCH].value)) {
        r->p.best = n[TRAIN_BEST].value;
        r->p.best_epoch = (int64_t)n[TRAIN_BEST_EPOCH].value;
    }
    if (s->state.nnumbers <= TRAIN_SCALE || !tni_is_count(n[TRAIN_SCALE_STEPS].value)) return true;
    return TNI_IF(scaler,
                  tn_scaler_resume_at(NULL, 0, r->a->scaler, n[TRAIN_SCALE].value,
                                      (int64_t)n[TRAIN_SCALE_STEPS].value),
                  true);
}

static bool train_resume(train_run *r) {
    const tn_train_args *a = r->a;
    train_saved s;
    double epochs;
    bool exists;
    if (!a->resume || !a->checkpoint) return true;
    if (!tn_file_exists_at(NULL, 0, a->checkpoint, &exists)) return false;
    if (!exists) return true;
    if (!tni_checkpoint_number(a->checkpoint, "epoch", &epochs)) return false;
    if (!tni_is_count(epochs))
        return tni_nn_error(TN_FORMAT,
                            "'%s': train.epoch is %g, expected the number of completed epochs",
                            a->checkpoint, epochs);
    train_state(r, &s, epochs);
    return tn_checkpoint_load_at(NULL, 0, a->checkpoint, &s.state) && train_go_on(r, &s);
}

static bool train_has_batches(tn_loader *l, const char *name) {
    if (tn_loader_batches(l)) return true;
    return tni_nn_error(TN_INVALID, "%s has no batches: its data set has %lld items", name,
                        (long long)tn_loader_dataset(l)->size);
}

static bool train_run_all(train_run *r) {
    const tn_train_args *a = r->a;
    r->loss = a->loss;
    if (!r->loss && !(r->loss = train_default_loss())) return false;
    tn_loader_stop(a->loader);
    r->began = tn_now();
    r->p.epochs = a->epochs;
    r->p.best = train_nan();
    r->p.best_epoch = -1;
    train_no_figures(&r->p);
    if (!train_has_batches(a->loader, "the loader") ||
        (a->test && !train_has_batches(a->test, "the test loader")))
        return false;
    if (!train_resume(r) || !train_tell(r, TN_EVENT_BEGIN)) return false;
    for (; r->p.epoch < a->epochs; r->p.epoch++) {
        if (a->patience > 0 && r->p.epoch - r->since >= a->patience) break;
        if (!train_epoch(r) || !train_epoch_end(r)) return false;
    }
    return train_tell(r, TN_EVENT_END);
}

static bool train_check(const tn_train_args *a) {
    if (!a || !a->model || !a->optimizer || !a->loader)
        return tni_nn_error(TN_INVALID, "model, optimizer or loader is NULL");
    if (a->accumulate < 0 || a->patience < 0)
        return tni_nn_error(TN_INVALID, "%s is %lld, which is negative",
                            a->accumulate < 0 ? "accumulate" : "patience",
                            (long long)(a->accumulate < 0 ? a->accumulate : a->patience));
    if (!(a->min_delta >= 0))
        return tni_nn_error(TN_INVALID, "min_delta is %g, expected 0 or more", a->min_delta);
    if (a->autocast && a->autocast != TN_BF16 && a->autocast != TN_F16)
        return tni_nn_error(TN_INVALID, "autocast is %s, expected bfloat16 or float16",
                            tn_dtype_name(a->autocast));
    if (a->watch != TN_WATCH_LOSS && a->watch != TN_WATCH_ACCURACY)
        return tni_nn_error(TN_INVALID, "watch is %d, which is none of tn_watch", (int)a->watch);
    if (a->best && a->checkpoint && strcmp(a->best, a->checkpoint) == 0)
        return tni_nn_error(TN_INVALID, "best and checkpoint are one file, '%s'", a->best);
    return true;
}

TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args) {
    train_run r;
    tni_step step;
    if (!tn_ok()) return false;
    memset(&r, 0, sizeof r);
    tni_step_begin(&step, file, line, "train");
    r.a = args;
    if (train_check(args)) train_run_all(&r);
    if (args && args->loader) tn_loader_stop(args->loader);
    if (args && args->model) tn_module_train(args->model, true);
    if (args && !args->loss) tn_module_free(r.loss);
    tni_step_end(&step);
    return tn_ok();
}
