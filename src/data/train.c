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
    bool classes;          /* accuracy makes sense */
    bool stopped;
} train_run;

static double train_nan(void) { return (double)NAN; }

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
    hits = tn_item(tnp_sum(same, tn_no_dims(), false, TN_NO_DTYPE));
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

/* --- one epoch -------------------------------------------------------------------------------- */

static bool train_step(train_run *r, const tn_batch *b) {
    const tn_train_args *a = r->a;
    tn_tensor *output, *loss;
    tn_backward_args backward;
    double hits;
    tn_optimizer_zero_grad(a->optimizer);
    loss = train_batch_loss(r, b, &output);
    if (!loss)
        return tn_ok() ? tni_nn_error(TN_INTERNAL, "the loss failed without setting an error")
                       : false;
    memset(&backward, 0, sizeof backward);
    backward.t = loss;
    if (!tn_backward_at(NULL, 0, &backward)) return false;
    if (a->clip_norm > 0)
        TNI_IF(clip_norm,
               (void)tn_nn_clip_grad_norm_at(NULL, 0, tn_parameters_at(NULL, 0, a->model),
                                             a->clip_norm, 2.0),
               tni_nn_error(TN_UNSUPPORTED, "clip_norm is not in this build"));
    if (!tn_ok()) return false;
    if (!tn_optimizer_step_at(NULL, 0, a->optimizer)) return false;
    r->p.batch_loss = tn_item(loss);
    hits = train_hits(output, b->nfields > 1 ? b->field[1] : NULL);
    r->classes = hits >= 0;
    r->hits += hits;
    r->loss_sum = fma(r->p.batch_loss, (double)b->n, r->loss_sum);
    r->p.items += b->n;
    r->p.step++;
    r->p.loss = r->loss_sum / (double)r->p.items;
    r->p.accuracy = r->classes ? r->hits / (double)r->p.items : train_nan();
    return tn_ok();
}

static bool train_epoch(train_run *r) {
    const tn_train_args *a = r->a;
    tn_device_id device;
    bool more = true;
    r->began = tn_now();
    r->loss_sum = r->hits = 0;
    r->p.step = r->p.items = 0;
    r->p.steps = tn_loader_batches(a->loader);
    r->p.loss = r->p.accuracy = r->p.batch_loss = r->p.test_loss = r->p.test_accuracy = train_nan();
    r->p.lr = tn_optimizer_get_at(NULL, 0, a->optimizer, 0, "lr");
    if (!train_tell(r, TN_EVENT_EPOCH)) return false;
    tn_module_train(a->model, true);
    device = train_device(a->model);
    while (more) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        more = train_next(a->loader, device, &b) && train_step(r, &b);
        tn_scope_end(mark);
        if (more && !train_tell(r, TN_EVENT_STEP)) return false;
    }
    return tn_ok() && train_tell(r, TN_EVENT_TRAINED);
}

/* --- evaluation ------------------------------------------------------------------------------- */

typedef struct train_sums {
    double loss, hits, items;
    bool classes;
} train_sums;

static bool train_evaluate_batch(tn_module *model, tn_module *loss, const tn_batch *b,
                                 train_sums *s) {
    tn_tensor *output, *value;
    double hits;
    if (b->nfields < 2) return tni_nn_error(TN_INVALID, "expected a batch of input and target");
    output = tn_forward_at(NULL, 0, model, b->field[0]);
    value = output ? train_loss_of(loss, output, b->field[1]) : NULL;
    if (!value) return false;
    hits = train_hits(output, b->field[1]);
    s->classes = hits >= 0;
    s->hits += hits;
    s->loss = fma(tn_item(value), (double)b->n, s->loss);
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
    memset(s, 0, sizeof *s);
    tn_loader_stop(loader);
    if (more) tn_module_train(model, false);
    while (more) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        more = train_next(loader, device, &b) && train_evaluate_batch(model, loss, &b, s);
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

static tn_state train_state(const tn_train_args *a, tn_named_number *epoch) {
    tn_state s;
    memset(&s, 0, sizeof s);
    s.model = a->model;
    s.optimizer = a->optimizer;
    s.schedule = a->schedule;
    s.generator = tn_default_generator();
    s.numbers = epoch;
    s.nnumbers = 1;
    s.loader_generator = tn_loader_generator(a->loader);
    s.test_generator = tn_loader_generator(a->test);
    return s;
}

/* Evaluation, schedule and checkpoint after an epoch's steps. */
static bool train_epoch_end(train_run *r) {
    const tn_train_args *a = r->a;
    tn_named_number done;
    train_sums s;
    done.name = "epoch";
    done.value = (double)(r->p.epoch + 1);
    if (a->test && (!train_evaluate(a->model, r->loss, a->test, &s, r) || r->stopped)) return false;
    if (a->schedule && !tn_schedule_step_at(NULL, 0, a->schedule)) return false;
    if (!train_tell(r, TN_EVENT_EPOCH_END)) return false;
    if (a->checkpoint) {
        tn_state state = train_state(a, &done);
        if (!tn_checkpoint_save_at(NULL, 0, a->checkpoint, &state) ||
            !train_tell(r, TN_EVENT_SAVED))
            return false;
    }
    return true;
}

static bool train_resume(train_run *r) {
    const tn_train_args *a = r->a;
    tn_named_number done;
    tn_state state;
    bool exists;
    if (!a->resume || !a->checkpoint) return true;
    if (!tn_file_exists_at(NULL, 0, a->checkpoint, &exists)) return false;
    if (!exists) return true;
    done.name = "epoch";
    if (!tni_checkpoint_number(a->checkpoint, done.name, &done.value)) return false;
    if (!tni_is_count(done.value))
        return tni_nn_error(TN_FORMAT,
                            "'%s': train.epoch is %g, expected the number of completed epochs",
                            a->checkpoint, done.value);
    state = train_state(a, &done);
    if (!tn_checkpoint_load_at(NULL, 0, a->checkpoint, &state)) return false;
    r->p.epoch = (int64_t)done.value;
    return true;
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
    if (!train_has_batches(a->loader, "the loader") ||
        (a->test && !train_has_batches(a->test, "the test loader")))
        return false;
    if (!train_resume(r) || !train_tell(r, TN_EVENT_BEGIN)) return false;
    for (; r->p.epoch < a->epochs; r->p.epoch++)
        if (!train_epoch(r) || !train_epoch_end(r)) return false;
    return train_tell(r, TN_EVENT_END);
}

TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args) {
    train_run r;
    tni_step step;
    if (!tn_ok()) return false;
    memset(&r, 0, sizeof r);
    tni_step_begin(&step, file, line, "train");
    r.a = args;
    if (!args || !args->model || !args->optimizer || !args->loader)
        tni_nn_error(TN_INVALID, "model, optimizer or loader is NULL");
    else
        train_run_all(&r);
    if (args && args->loader) tn_loader_stop(args->loader);
    if (args && args->model) tn_module_train(args->model, true);
    if (args && !args->loss) tn_module_free(r.loss);
    tni_step_end(&step);
    return tn_ok();
}
