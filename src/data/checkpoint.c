/* checkpoint.c - a model with its optimizer, schedule and random state in one file, for exact
 * resume. The layout is described in api/train.h; version 1 must load for ever. */
#include "../api/train.h"
#include "../optim/optim.h"

#include <stdlib.h>

static const char checkpoint_format[] = "tensor.h checkpoint", checkpoint_version[] = "1";

/* --- out -------------------------------------------------------------------------------------- */

typedef struct checkpoint_entry {
    int64_t name;
    tn_tensor *tensor; /* of the scope, or borrowed */
} checkpoint_entry;
typedef struct checkpoint_list {
    tni_buffer names, entries;
} checkpoint_list;

static bool checkpoint_add(checkpoint_list *l, const char *prefix, const char *name, tn_tensor *t) {
    checkpoint_entry e = {l->names.n, t};
    if (!t) return false;
    if (tn_device_of(t) != TN_CPU) e.tensor = tnp_empty(tn_shape(t), tn_dtype_of(t), TN_CPU);
    if (e.tensor && e.tensor != t) e.tensor = tnp_copy_(e.tensor, t);
    tni_buffer_text(&l->names, "%s%s", prefix, name);
    tni_buffer_add(&l->names, "", 1);
    return e.tensor && tni_buffer_add(&l->entries, &e, sizeof e) && !l->names.failed;
}

static bool checkpoint_add_list(checkpoint_list *l, const char *prefix, tn_named_list list) {
    for (int64_t i = 0; i < list.n; i++)
        if (!checkpoint_add(l, prefix, list.at[i].name, list.at[i].tensor)) return false;
    return list.n >= 0;
}

static bool checkpoint_add_schedule(checkpoint_list *l, const tn_schedule *s,
                                    const tn_optimizer *o) {
    int64_t count = tn_schedule_count(s), groups = tn_optimizer_groups(o);
    tn_tensor *initial = tnp_empty(tn_ints_of(&groups, 1), TN_F64, TN_CPU);
    for (int g = 0; initial && g < (int)groups; g++)
        ((double *)tn_data(initial))[g] = tn_schedule_initial(s, g);
    return checkpoint_add(l, "schedule.", "count",
                          tn_from_at(NULL, 0, &count, tn_empty_dims(), TN_I64)) &&
           checkpoint_add(l, "schedule.", "initial", initial);
}

static bool checkpoint_add_generator(checkpoint_list *l, const tn_generator *generator) {
    static const int64_t size = TN_GENERATOR_BYTES;
    tn_tensor *t = tnp_empty(tn_ints_of(&size, 1), TN_U8, TN_CPU);
    if (t) tn_generator_get(generator, (uint8_t *)tn_data(t));
    return checkpoint_add(l, "rng.", "cpu", t);
}

static bool checkpoint_write(const char *path, checkpoint_list *l) {
    tn_note notes[2];
    int64_t n = l->entries.n / (int64_t)sizeof(checkpoint_entry);
    const checkpoint_entry *e = (const checkpoint_entry *)(const void *)l->entries.at;
    tn_named *at = (tn_named *)tn_alloc((size_t)(n + 1) * sizeof *at);
    bool ok;
    if (!at) return false;
    for (int64_t i = 0; i < n; i++) {
        at[i].name = l->names.at + e[i].name;
        at[i].tensor = e[i].tensor;
    }
    notes[0].key = "format", notes[0].value = checkpoint_format;
    notes[1].key = "version", notes[1].value = checkpoint_version;
    ok = tn_safetensors_save_at(NULL, 0, path, at, n, notes, 2);
    tn_alloc_free(at, (size_t)(n + 1) * sizeof *at);
    return ok;
}

static bool checkpoint_save(const char *path, const tn_state *s) {
    tn_named_list model = {NULL, 0, 0, false}, optimizer = {NULL, 0, 0, true};
    checkpoint_list l;
    bool ok = true;
    memset(&l, 0, sizeof l);
    if (s->schedule && !s->optimizer)
        return tni_nn_error(TN_INVALID, "a schedule is saved with its optimizer");
    if (s->model) model = tn_module_state_dict(s->model);
    if (s->optimizer) optimizer = tn_optimizer_state_dict(s->optimizer);
    ok = checkpoint_add_list(&l, "model.", model) &&
         checkpoint_add_list(&l, "optimizer.", optimizer) &&
         (!s->schedule || checkpoint_add_schedule(&l, s->schedule, s->optimizer)) &&
         (!s->generator || checkpoint_add_generator(&l, s->generator));
    for (int64_t i = 0; ok && i < s->nnumbers; i++)
        ok = checkpoint_add(&l, "train.", s->numbers[i].name,
                            tn_from_at(NULL, 0, &s->numbers[i].value, tn_empty_dims(), TN_F64));
    ok = ok && checkpoint_write(path, &l);
    tni_buffer_free(&l.names);
    tni_buffer_free(&l.entries);
    tn_named_free(model);
    tn_named_free(optimizer);
    return ok;
}

TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "checkpoint");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = path && state ? checkpoint_save(path, state)
                       : tni_nn_error(TN_INVALID, "no path or no state");
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

/* --- in --------------------------------------------------------------------------------------- */

/* The entries whose names begin with prefix, without it; at is room for list.n. */
static int64_t checkpoint_select(tn_named_list list, const char *prefix, tn_named *at) {
    size_t n = strlen(prefix);
    int64_t count = 0;
    for (int64_t i = 0; i < list.n; i++)
        if (strncmp(list.at[i].name, prefix, n) == 0) {
            at[count].name = list.at[i].name + n;
            at[count++].tensor = list.at[i].tensor;
        }
    return count;
}

static bool checkpoint_version_fits(const char *path) {
    tn_safetensors *f = tn_safetensors_open_at(NULL, 0, path);
    const char *format = tn_safetensors_note(f, "format"),
               *version = tn_safetensors_note(f, "version");
    bool ok = format && version && strcmp(format, checkpoint_format) == 0 &&
              strcmp(version, checkpoint_version) == 0;
    if (f && !ok)
        tni_nn_error(TN_FORMAT,
                     "'%s' is no checkpoint of version %s (format \"%s\", version \"%s\")", path,
                     checkpoint_version, format ? format : "none", version ? version : "none");
    tn_safetensors_close(f);
    return f && ok;
}

/* What is loaded last cannot fail once it is checked: schedule and generator. */
typedef struct checkpoint_rest {
    int64_t count;
    double *initial;
    const uint8_t *rng;
} checkpoint_rest;

static bool checkpoint_check_rest(const char *path, tn_named_list list, const tn_state *s,
                                  checkpoint_rest *r) {
    const tn_tensor *count = tn_named_find(list, "schedule.count"),
                    *initial = tn_named_find(list, "schedule.initial");
    const tn_tensor *rng = tn_named_find(list, "rng.cpu");
    tn_generator *probe;
    bool ok;
    memset(r, 0, sizeof *r);
    if (s->schedule) {
        if (!count || !initial || tn_dtype_of(initial) != TN_F64 ||
            tn_numel(initial) != tn_optimizer_groups(s->optimizer))
            return tni_nn_error(TN_FORMAT, "'%s': the schedule is missing or does not fit", path);
        r->count = tn_item_int(count);
        r->initial = (double *)tn_data(initial);
        if (!tn_ok() || r->count < 0)
            return tni_nn_error(TN_FORMAT, "'%s': the schedule is damaged", path);
    }
    if (!s->generator) return true;
    if (!rng || tn_dtype_of(rng) != TN_U8 || tn_numel(rng) != TN_GENERATOR_BYTES)
        return tni_nn_error(TN_FORMAT, "'%s': the random state is missing or damaged", path);
    r->rng = (const uint8_t *)tn_data(rng);
    probe = tn_generator_new(0);
    ok = probe && tn_generator_set(probe, r->rng);
    tn_generator_free(probe);
    return ok;
}

/* Both parts are prepared before either changes. */
static bool checkpoint_load_parts(const tn_state *s, tn_named_list list, tn_named *at) {
    tni_plan model = {{NULL, 0, 0, false}};
    tni_optimizer_plan optimizer;
    bool ok = true;
    memset(&optimizer, 0, sizeof optimizer);
    if (s->optimizer)
        ok = tni_optimizer_plan_load(&optimizer, s->optimizer, at,
                                     checkpoint_select(list, "optimizer.", at));
    if (s->model && ok)
        ok = tni_plan_load(&model, s->model, at, checkpoint_select(list, "model.", at), true);
    tni_plan_end(&model, ok);
    tni_optimizer_plan_end(&optimizer, ok);
    return ok;
}

static bool checkpoint_load(const char *path, const tn_state *s) {
    tn_named_list list;
    checkpoint_rest rest;
    tn_named *at = NULL;
    bool ok;
    if (!checkpoint_version_fits(path)) return false;
    list = tn_safetensors_load_at(NULL, 0, path);
    if (list.n >= 0) at = (tn_named *)tn_alloc((size_t)(list.n + 1) * sizeof *at);
    ok = at && checkpoint_check_rest(path, list, s, &rest) && checkpoint_load_parts(s, list, at);
    if (ok && s->schedule)
        tn_schedule_resume(s->schedule, rest.count, rest.initial,
                           tn_optimizer_groups(s->optimizer));
    if (ok && s->generator) tn_generator_set(s->generator, rest.rng);
    for (int64_t i = 0; ok && i < s->nnumbers; i++) {
        char name[128];
        const tn_tensor *t;
        snprintf(name, sizeof name, "train.%s", s->numbers[i].name);
        t = tn_named_find(list, name);
        s->numbers[i].value = t && tn_numel(t) == 1 ? tn_item(t) : 0.0 / 0.0;
    }
    if (at) tn_alloc_free(at, (size_t)(list.n + 1) * sizeof *at);
    tn_named_free(list);
    return ok;
}

TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "checkpoint");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = path && state ? checkpoint_load(path, state)
                       : tni_nn_error(TN_INVALID, "no path or no state");
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}
