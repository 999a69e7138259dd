/* ranges_nn.h - ranges.c: modules, optimizers, data, files. */
#ifndef TESTS_EDGES_NUMBERS_NN_H
#define TESTS_EDGES_NUMBERS_NN_H

#include "ranges_core.h"

/* --- modules ---------------------------------------------------------------------------------- */

typedef struct block {
    tn_module base;
    tn_tensor *t;
} block;
static bool block_forward(tn_mframe *f) {
    f->out[0] = tn_input(f, as_int(given)) ? tn_neg(tn_input(f, 0)) : NULL;
    return f->out[0] || tn_error_set(TN_INDEX, NULL, 0, "no such input");
}
static const tn_mrow block_row = {.name = "Block", .size = sizeof(block), .forward = block_forward};
static bool block_with(int kind, int dtype, int64_t size, int64_t n, bool give) {
    const int64_t sizes[2] = {size, 2};
    block *s = (block *)tn_module_new(&block_row);
    if (!s) return false;
    if (give)
        tn_part_give(&s->base, (tn_part_kind)kind, "t", &s->t, x);
    else
        tn_part_tensor(&s->base, (tn_part_kind)kind, "t", &s->t, (tn_dtype)dtype,
                       tn_ints_of(n == 2 || n == 1 ? sizes : NULL, n));
    return module(tn_module_finish(&s->base));
}
static bool part_kind(int64_t v) { return block_with(as_int(v), TN_F32, 2, 2, false); }
static bool part_dtype(int64_t v) { return block_with(TN_PARAM, as_int(v), 2, 2, false); }
static bool part_size(int64_t v) { return block_with(TN_PARAM, TN_F32, v, 2, false); }
static bool part_dims(int64_t v) { return block_with(TN_BUFFER, TN_F32, 2, v, false); }
static bool give_kind(int64_t v) { return block_with(as_int(v), TN_F32, 2, 2, true); }
static bool struct_size(int64_t v) {
    tn_mrow row = block_row;
    void *s;
    row.size = (size_t)v;
    s = tn_module_new(&row);
    return module(s ? tn_module_finish((tn_module *)s) : NULL);
}
static bool forward_input(int64_t v) {
    block *s = (block *)tn_module_new(&block_row);
    tn_module *m = s ? tn_module_finish(&s->base) : NULL;
    bool ok = false;
    given = v;
    ok = tensor(tn_forward(m, x));
    tn_module_free(m);
    return ok;
}
static bool named_module(int64_t v) {
    return module(tn_module_named("Identity", NULL, as_int(v > 0 ? -v : v)));
}
static bool call_room(int64_t v) {
    tn_tensor *out[64] = {NULL};
    tn_tensor *args[1] = {x};
    bool ok = tn_module_call(NULL, 0, model, NULL, args, out, as_int(v > 64 ? -v : v));
    tn_free(ok ? out[0] : NULL);
    return ok;
}
static bool call_values(int64_t v) {
    tn_value value = {TN_T_TENSOR, NULL, {NULL}};
    tn_tensor *out[1] = {NULL};
    bool ok = false;
    value.as.tensor = x;
    ok = tn_module_call_values(NULL, 0, model, &value, as_int(v > 1 ? -v : v), out, 1);
    tn_free(ok ? out[0] : NULL);
    return ok;
}
static bool call_values_room(int64_t v) {
    tn_value value = {TN_T_TENSOR, NULL, {NULL}};
    tn_tensor *out[64] = {NULL};
    bool ok = false;
    value.as.tensor = x;
    ok = tn_module_call_values(NULL, 0, model, &value, 1, out, as_int(v > 64 ? -v : v));
    tn_free(ok ? out[0] : NULL);
    return ok;
}
static bool hooked(tn_mframe *f, void *user) { return (void)f, (void)user, true; }
static bool module_when(int64_t v) {
    int64_t number = tn_module_hook(model, as_int(v), hooked, NULL, NULL);
    return number && tn_module_hook_remove(model, number);
}
static bool given_module(int64_t v) { /* what a constructor is given is its own, also if it fails */
    const bool ok = module(tn_sequential(tn_nn_linear(2, 2), v ? NULL : tn_nn_relu()));
    tn_manual_seed(7);
    return ok;
}
static bool module_number(int64_t v) { return tn_module_hook_remove(model, v); }
static bool part_at(int64_t v) {
    (void)tn_part_child_of(model, as_int(v));
    return tn_part_tensor_of(model, as_int(v)) ||
           (tn_ok() && tn_error_set(TN_INDEX, NULL, 0, "no such part"));
}
static bool module_load(int64_t v) { return tn_module_load_at(NULL, 0, model, NULL, v, false); }
static bool module_to(tn_dtype dtype, tn_device_id device) {
    tn_module *m = tn_module_copy(model);
    bool ok = tn_module_to(m, dtype, device);
    tn_module_free(m);
    return ok;
}
static bool module_dtype(int64_t v) { return module_to((tn_dtype)as_int(v), TN_NO_DEVICE); }
static bool module_device(int64_t v) { return module_to(TN_NO_DTYPE, (tn_device_id)as_int(v)); }
static bool gain_for(int64_t v) {
    return tn_nn_init_gain((tn_nn_init_for)as_int(v), 1) > 0 && tn_ok();
}
static bool init(int64_t fan, int64_t by) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *t = tn_zeros(TN_DIMS(3, 2));
        ok = tn_nn_init_kaiming_uniform_(t, 0, (tn_fan)as_int(fan), (tn_nn_init_for)as_int(by)) &&
             tn_nn_init_kaiming_normal_(t, 0, (tn_fan)as_int(fan), (tn_nn_init_for)as_int(by));
    }
    if (ok) tn_manual_seed(7);
    return ok;
}
static bool init_fan(int64_t v) { return init(v, TN_INIT_RELU); }
static bool init_by(int64_t v) { return init(TN_FAN_IN, v); }

/* --- optimizers ------------------------------------------------------------------------------- */

static bool optimizer_params(int64_t v) {
    tn_optimizer *o = tn_optim_sgd(tn_tensors_of(NULL, v));
    tn_optimizer_free(o);
    return o != NULL;
}
static bool group_params(int64_t v) {
    return tn_optimizer_group(optimizer, tn_tensors_of(NULL, v), NULL, 0) >= 0;
}
static bool group_values(int64_t v) {
    tn_module *m = tn_nn_linear(1, 1);
    tn_optimizer *o = tn_optim_sgd(tn_parameters(m));
    tn_value value = {TN_T_FLOAT, "lr", {NULL}};
    tn_tensor *more = tn_requires_grad(tn_ones(TN_DIMS(1)));
    bool ok = false;
    value.as.real = 0.5;
    tn_manual_seed(7);
    ok = tn_optimizer_group(o, tn_tensors_of(&more, 1), &value, as_int(v > 1 ? -v : v)) == 1;
    tn_free(more);
    tn_optimizer_free(o);
    tn_module_free(m);
    return ok;
}
static bool group_set(int64_t v) { return tn_optimizer_set(optimizer, as_int(v), "lr", 0.1); }
static bool group_rate(int64_t v) {
    return tn_optimizer_set_rate(optimizer, as_int(v), (tn_tensor *)NULL);
}
static bool group_get(int64_t v) { return tn_optimizer_get(optimizer, as_int(v), "lr") == 0.1; }
static bool optimizer_load(int64_t v) { return tn_optimizer_load(optimizer, NULL, v); }
static bool clip_params(int64_t v) { return tn_nn_clip_grad_norm_(tn_tensors_of(NULL, v), 1) == 0; }
static bool every_steps(int64_t v) { return rate(tn_optim_step_lr(optimizer, v, 0.5)); }
static bool t_max(int64_t v) {
    tn_schedule *s = tn_optim_cosine_lr(optimizer, v, 0);
    if (s && !tn_schedule_step(s)) tn_error_print();
    tn_schedule_free(s);
    return s && tn_optimizer_set(optimizer, 0, "lr", 0.1);
}
static double times(int64_t step, void *user) { return (void)step, (double)*(int64_t *)user; }
static bool lambda_factor(int64_t v) {
    bool ok = rate(tn_optim_lambda_lr(optimizer, times, &v));
    tn_error_info e = {TN_OK, "none", NULL, 0};
    if (!ok) tn_error_take(&e);
    tn_optimizer_set(optimizer, 0, "lr", 0.1);
    return ok || tn_error_set(e.code, NULL, 0, "refused");
}
static double flat(int64_t step, void *user) { return (void)step, (void)user, 1; }
static bool resumed(int64_t count, int ngroups) {
    const double initial[1] = {0.1};
    tn_schedule *s = tn_optim_lambda_lr(optimizer, flat, NULL);
    bool ok = tn_schedule_resume(s, count, initial, ngroups);
    if (ok && (!tn_schedule_step(s) || tn_schedule_count(s) != count + 1)) ok = false;
    tn_schedule_free(s);
    return ok;
}
static bool resume_count(int64_t v) { return resumed(v, 1); }
static bool resume_groups(int64_t v) { return resumed(1, as_int(v)); }
static bool scaler(tn_scaler *s) {
    tn_scaler_free(s);
    return s != NULL;
}
static bool scaler_interval(int64_t v) { return scaler(tn_scaler_new(.growth_interval = v)); }
static bool scaler_count(int64_t v) {
    tn_scaler *s = tn_scaler_new();
    const bool ok = tn_scaler_resume(s, 8, v) && tn_scaler_count(s) == v;
    tn_scaler_free(s);
    return ok;
}
/* A step by a scaler, whose gradients are those of no loss: none. */
static bool scaler_step(int64_t v) {
    tn_scaler *s = tn_scaler_new();
    bool ok = true;
    (void)v;
    TN_SCOPE
        ok = tn_scaler_scale(s, x) != NULL;
    ok = ok && tn_scaler_unscale_(s, optimizer) && tn_scaler_step(s, optimizer) &&
         tn_scaler_update(s) && tn_scaler_get(s) > 0;
    tn_scaler_free(s);
    return ok;
}
static bool lbfgs(tn_lbfgs *l) {
    tn_lbfgs_free(l);
    return l != NULL;
}
static bool lbfgs_iterations(int64_t v) {
    return lbfgs(tn_lbfgs_new(tn_parameters(model), .max_iter = v));
}
static bool lbfgs_evaluations(int64_t v) {
    return lbfgs(tn_lbfgs_new(tn_parameters(model), .max_eval = v));
}
static bool lbfgs_history(int64_t v) {
    return lbfgs(tn_lbfgs_new(tn_parameters(model), .history_size = v));
}
static tn_tensor *lbfgs_loss(void *t) {
    tn_tensor *loss = tn_sum(tn_square((tn_tensor *)t));
    tn_zero_grad((tn_tensor *)t);
    return tn_backward(loss) ? loss : NULL;
}
static bool lbfgs_step(int64_t v) {
    bool ok = false;
    (void)v;
    TN_SCOPE {
        tn_tensor *t = tn_requires_grad(tn_full(TN_DIMS(3), 2, .dtype = TN_F32));
        tn_lbfgs *l = tn_lbfgs_new(tn_tensors_of(&t, 1), .strong_wolfe = true, .max_iter = 4);
        ok = l && tn_lbfgs_step(l, lbfgs_loss, t) == 12 && tn_lbfgs_evaluations(l) > 1;
        tn_lbfgs_zero_grad(l);
        ok = ok && !tn_grad_of(t);
        tn_lbfgs_free(l);
    }
    return ok;
}
static bool initial_group(int64_t v) {
    return tn_schedule_initial(schedule, as_int(v)) == 0.1 ||
           tn_error_set(TN_INDEX, NULL, 0, "no such group");
}

/* --- data ------------------------------------------------------------------------------------- */

static int ended;
static int64_t get_fails; /* not 0: each get */
static bool no_get(const tn_dataset *d, int64_t index, void *const *to) {
    return (void)d, (void)index, (void)to, get_fails == 0;
}
static void end_set(tn_dataset *d) { (void)d, ended++; }
static tn_dataset *set_with(int64_t size, int nfields, int ndim, int64_t length, int dtype) {
    tn_dataset like;
    memset(&like, 0, sizeof like);
    like.size = size, like.nfields = nfields, like.get = no_get, like.destroy = end_set;
    like.field[0].dtype = (tn_dtype)dtype, like.field[0].ndim = ndim;
    for (int i = 0; i < TN_MAX_DIMS; i++) like.field[0].size[i] = i == 1 ? length : 1;
    for (int k = 1; k < TN_MAX_FIELDS; k++) like.field[k] = like.field[0];
    return tn_dataset_new(&like);
}
/* The set alone, then a batch of it. */
static bool batch_of(tn_dataset *d, int64_t batch, int32_t workers, int32_t prefetch,
                     bool shuffle) {
    tn_loader *l;
    tn_batch b;
    bool ok = false;
    if (!d) return false;
    l = tn_loader_new(d, .batch_size = batch, .workers = workers, .prefetch = prefetch,
                      .shuffle = shuffle);
    if (!l) return false;
    TN_SCOPE {
        ok = tn_loader_next(l, &b) || tn_ok();
    }
    if (tn_loader_batches(l) < 0) ok = false;
    tn_loader_free(l);
    tn_manual_seed(7);
    return ok;
}
static bool set_get(int64_t v) {
    bool ok = false;
    get_fails = v;
    ok = batch_of(set_with(3, 1, 1, 1, TN_F32), 2, 0, 2, true);
    get_fails = 0;
    return ok;
}
static bool set_get_apart(int64_t v) {
    bool ok = false;
    get_fails = v;
    ok = batch_of(set_with(3, 1, 1, 1, TN_F32), 2, 1, 2, false);
    get_fails = 0;
    return ok;
}
static bool set_size(int64_t v) { return batch_of(set_with(v, 1, 1, 1, TN_F32), 2, 0, 2, false); }
static bool set_shuffled(int64_t v) {
    return batch_of(set_with(v, 1, 1, 1, TN_F32), 2, 0, 2, true);
}
static bool set_fields(int64_t v) {
    return batch_of(set_with(3, as_int(v), 1, 1, TN_F32), 2, 0, 2, 0);
}
static bool field_dims(int64_t v) {
    return batch_of(set_with(3, 1, as_int(v), 1, TN_F32), 2, 0, 2, 0);
}
static bool field_size(int64_t v) { return batch_of(set_with(3, 4, 2, v, TN_F64), 2, 0, 2, 0); }
static bool field_dtype(int64_t v) { return batch_of(set_with(3, 1, 1, 1, as_int(v)), 2, 0, 2, 0); }
static bool set_tensors(int64_t v) {
    return set(tn_dataset_tensors(tn_tensors_of(v == 1 ? &x : NULL, v)));
}
static bool slice_from(int64_t v) {
    return set(tn_dataset_slice(set_with(2, 1, 1, 1, TN_F32), v, 2));
}
static bool slice_to(int64_t v) {
    return set(tn_dataset_slice(set_with(2, 1, 1, 1, TN_F32), 0, v));
}
static bool batch_size(int64_t v) { return batch_of(set_with(3, 1, 1, 1, TN_F32), v, 0, 2, false); }
static bool batch_workers(int64_t v) {
    return batch_of(set_with(3, 1, 1, 1, TN_F32), 1, as_int(v), 2, false);
}
static bool batch_prefetch(int64_t v) {
    return batch_of(set_with(3, 1, 1, 1, TN_F32), 1, 1, as_int(v), true);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool save_count(int64_t v) {
    return tn_safetensors_save_at(NULL, 0, "/dev/null", NULL, v, NULL, 0);
}
static bool save_notes(int64_t v) {
    return tn_safetensors_save_at(NULL, 0, "/dev/null", NULL, 0, NULL, v);
}
static bool name_at(int64_t v) { return tn_safetensors_name(opened, v) != NULL; }
static bool find_count(int64_t v) {
    tn_named_list l = {NULL, 0, 0, false};
    l.n = v > 0 ? -v : v;
    (void)tn_named_find(l, "x");
    l.n = -1;
    tn_named_free(l);
    return tn_ok();
}
static bool saved_numbers(int64_t v) {
    tn_state s;
    memset(&s, 0, sizeof s);
    s.nnumbers = v;
    return tn_checkpoint_save("/dev/null", &s);
}
static bool loaded_numbers(int64_t v) {
    tn_state s;
    memset(&s, 0, sizeof s);
    s.nnumbers = v;
    return tn_checkpoint_load(path, &s);
}
static tn_loader *three(void) {
    tn_tensor *both[2] = {tn_ones(TN_DIMS(3, 3)), tn_zeros(TN_DIMS(3), .dtype = TN_I64)};
    return tn_loader_new(tn_dataset_tensors(tn_tensors_of(both, 2)));
}
static bool quits(const tn_progress *p, void *user) { return (void)user, p->event < TN_EVENT_STEP; }
static bool trains(tn_train_args a) {
    bool ok = false;
    TN_SCOPE {
        tn_loader *l = three();
        tn_module *m = tn_nn_linear(3, 2);
        tn_optimizer *o = tn_optim_sgd(tn_parameters(m));
        tn_train_log *log = tn_train_log_new(.on = quits);
        a.model = m, a.optimizer = o, a.loader = l, a.on = tn_train_log_on, a.user = log;
        ok = tn_train_at(__FILE__, __LINE__, &a) &&
             tn_train_log_on(&(tn_progress){.epoch = a.epochs}, log);
        tn_train_log_free(log);
        tn_optimizer_free(o);
        tn_module_free(m);
        tn_loader_free(l);
    }
    tn_manual_seed(7);
    return ok;
}

static bool train_epochs(int64_t v) { return trains((tn_train_args){.epochs = v}); }
static bool train_accumulate(int64_t v) {
    return trains((tn_train_args){.epochs = 1, .accumulate = v});
}
static bool train_patience(int64_t v) {
    return trains((tn_train_args){.epochs = 1, .patience = v});
}

/* Any number of an epoch, in a line of any room. */
static bool progress_room(int64_t v) {
    char text[100];
    tn_progress p = {.event = TN_EVENT_STEP, .epoch = v, .epochs = v, .step = v, .steps = v};
    const size_t room = v > 0 && v < 100 ? (size_t)v : sizeof text;
    return tn_progress_text(&p, text, room) > 0 && strlen(text) < room;
}
static bool save_bytes(int64_t v) { return tn_save_bytes("/dev/null", NULL, (size_t)v); }

/* A table of files one operation of which returns a number. */
static int which;
static int odd_open(const char *name, int flags, int mode, void *user) {
    return (void)name, (void)flags, (void)mode, (void)user, which == 0 ? as_int(given) : 1000000;
}
static int64_t odd_read(int fd, void *to, size_t bytes, void *user) {
    (void)fd, (void)user;
    memset(to, 0, bytes);
    return which == 1 ? given : (int64_t)bytes;
}
static int64_t odd_write(int fd, const void *from, size_t bytes, void *user) {
    return (void)fd, (void)from, (void)user, which == 2 ? given : (int64_t)bytes;
}
static int64_t odd_size(int fd, void *user) {
    return (void)fd, (void)user, which == 3 ? given : 32;
}
static int odd_int(int fd, void *user) {
    return (void)fd, (void)user, which == 4 ? as_int(given) : 0;
}
static int odd_rename(const char *from, const char *to, void *user) {
    return (void)from, (void)to, (void)user, which == 5 ? as_int(given) : 0;
}
static int odd_remove(const char *name, void *user) { return (void)name, (void)user, 0; }
static bool files_with(int operation, int64_t v) {
    tn_context_options o = plain();
    tn_context *c, *before;
    tn_named one = {"x", NULL};
    bool exists, ok = false;
    which = operation, given = v;
    o.memory_cap = 16 << 20;
    o.files.open = odd_open, o.files.read = odd_read, o.files.write = odd_write;
    o.files.size = odd_size, o.files.sync = odd_int, o.files.close = odd_int;
    o.files.rename = odd_rename, o.files.remove = odd_remove;
    if (!(c = tn_context_new(&o))) return false;
    before = tn_context_use(c);
    tn_free(tn_load_bytes("/a")), tn_error_take(NULL);
    tn_free(tn_load_idx("/a")), tn_error_take(NULL);
    tn_free(tn_load_npy("/a")), tn_error_take(NULL);
    tn_named_free(tn_load_npz("/a")), tn_error_take(NULL);
    tn_free(tn_load_csv("/a")), tn_error_take(NULL);
    tn_named_free(tn_safetensors_load("/a")), tn_error_take(NULL);
    tn_named_free(tn_safetensors_load_index("/a")), tn_error_take(NULL);
    tn_safetensors_close(tn_safetensors_open("/a")), tn_error_take(NULL);
    tn_file_exists("/a", &exists), tn_error_take(NULL);
    one.tensor = tn_ones(TN_DIMS(100));
    ok = tn_safetensors_save("/tmp/ranges.none", &one, 1) || tn_error_take(NULL);
    tn_free(one.tensor);
    tn_context_use(before);
    tn_context_free(c);
    return ok;
}
static bool files_open(int64_t v) { return files_with(0, v); }
static bool files_read(int64_t v) { return files_with(1, v); }
static bool files_write(int64_t v) { return files_with(2, v); }
static bool files_size(int64_t v) { return files_with(3, v); }
static bool files_close(int64_t v) { return files_with(4, v); }
static bool files_rename(int64_t v) { return files_with(5, v); }

/* --- every kind of module --------------------------------------------------------------------- */

/* Each int of a constructor, and each member of its lists, is v; where it is made after all,
 * forward
 * is called. Either is right. */
static bool modules_with(int64_t v) {
    for (int64_t i = 0; i < tn_mrow_count(); i++) {
        const tn_gen *gen = tn_mrow_at(i)->gen->make;
        for (int p = 0; gen && p < gen->nparam; p++) {
            const int type = gen->param[p].type;
            int64_t ints[2] = {v, v};
            tn_value value[20];
            int n = 0;
            tn_module *m;
            if (type != TN_T_INT && type != TN_T_INTS && type != TN_T_DTYPE && type != TN_T_ENUM)
                continue;
            for (int q = 0; q < gen->nparam && n < 20; q++) {
                static const int64_t ones[1] = {1};
                const int kind = gen->param[q].type;
                if (q != p && (gen->param[q].flags & (TN_P_DEFAULT | TN_P_OPTIONAL))) continue;
                memset(&value[n], 0, sizeof value[n]);
                value[n].name = gen->param[q].name;
                value[n].type = kind;
                if (kind == TN_T_INT || kind == TN_T_ENUM)
                    value[n].as.integer = q == p ? v : 2;
                else if (kind == TN_T_INTS)
                    value[n].as.ints = tn_ints_of(q == p ? ints : ones, q == p ? 2 : 1);
                else if (kind == TN_T_DTYPE)
                    value[n].as.dtype = (tn_dtype)as_int(v);
                n++;
            }
            m = tn_module_named(tn_mrow_at(i)->gen->type, value, n);
            if (m) text(tn_module_text(m)), tensor(tn_forward(m, x));
            tn_module_free(m);
            tn_error_take(NULL);
        }
    }
    tn_manual_seed(7);
    return true;
}

#endif
