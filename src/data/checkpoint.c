/* checkpoint.c - a model with its optimizer, schedule and random state in one file, for exact
 * resume. The layout is described in api/train.h; version 1 must load for ever. */
#include "../api/train.h"
#include "../optim/optim.h"
#include "data.h"
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"

#include <math.h>

/* Where a checkpoint lies: in a file, or in memory. */
typedef struct checkpoint_place {
    const char *path; /* of memory: a name for messages */
    const void *data; /* memory to load from */
    size_t bytes;
    tn_bytes *saved; /* memory that was saved */
    bool memory;
} checkpoint_place;

static const char checkpoint_format[] = "tensor.h checkpoint", checkpoint_version[] = "1";

/* --- out -------------------------------------------------------------------------------------- */

/* A tensor and the offset of its name in `names`, which may move while it grows. */
typedef struct checkpoint_entry {
    int64_t name;
    tn_tensor *tensor; /* of the scope, or borrowed */
} checkpoint_entry;
typedef struct checkpoint_list {
    tni_buffer names, entries;
} checkpoint_list;

/* Adds t under prefix and name; a tensor on another device as a copy, since files hold the CPU's.
 * false also for t NULL, a call that failed. */
static bool checkpoint_add(checkpoint_list *l, const char *prefix, const char *name, tn_tensor *t) {
    checkpoint_entry e = {l->names.n, t};
    if (!t) return false;
    if (tn_device_of(t) != TN_CPU) e.tensor = tnp_empty(tn_shape(t), tn_dtype_of(t), TN_CPU);
    if (e.tensor && e.tensor != t) e.tensor = tnp_copy_(e.tensor, t);
    tni_buffer_text(&l->names, "%s%s", prefix, name);
    tni_buffer_add(&l->names, "", 1);
    return e.tensor && tni_buffer_add(&l->entries, &e, sizeof e) && !l->names.failed;
}

/* n = -1 says that making the list failed. */
static bool checkpoint_add_list(checkpoint_list *l, const char *prefix, tn_named_list list) {
    for (int64_t i = 0; i < list.n; i++)
        if (!checkpoint_add(l, prefix, list.at[i].name, list.at[i].tensor)) return false;
    return list.n >= 0;
}

/* "schedule.count", i64, and "schedule.initial", the first rate of each group. */
static bool checkpoint_add_schedule(checkpoint_list *l, const tn_schedule *s) {
    int64_t count = tn_schedule_count(s), groups = tni_schedule_groups(s);
    tn_tensor *initial = tnp_empty(tn_ints_of(&groups, 1), TN_F64, TN_CPU);
    for (int g = 0; initial && g < (int)groups; g++)
        ((double *)tn_data(initial))[g] = tn_schedule_initial(s, g);
    return checkpoint_add(l, "schedule.", "count",
                          tnp_from(&count, tn_empty_dims(), TN_I64, TN_CPU)) &&
           checkpoint_add(l, "schedule.", "initial", initial);
}

/* A generator's state as "rng.<name>", u8. */
static bool checkpoint_add_generator(checkpoint_list *l, const char *name,
                                     const tn_generator *generator) {
    static const int64_t size = TN_GENERATOR_BYTES;
    tn_tensor *t = tnp_empty(tn_ints_of(&size, 1), TN_U8, TN_CPU);
    if (t) tn_generator_state(generator, (uint8_t *)tn_data(t));
    return checkpoint_add(l, "rng.", name, t);
}

/* Entries become a list whose names no longer move; the notes say format and version. */
static bool checkpoint_write(const checkpoint_place *to, checkpoint_list *l) {
    tn_save_args args;
    tn_note notes[2];
    int64_t n = l->entries.n / (int64_t)sizeof(checkpoint_entry);
    const checkpoint_entry *e = (const checkpoint_entry *)(const void *)l->entries.at;
    tn_named *at = (tn_named *)tn_alloc((size_t)(n + 1) * sizeof *at);
    bool ok;
    if (!at) return false;
    /* All names are there now, so pointers into them stay valid. */
    for (int64_t i = 0; i < n; i++) {
        at[i].name = l->names.at + e[i].name;
        at[i].tensor = e[i].tensor;
    }
    notes[0].key = "format";
    notes[0].value = checkpoint_format;
    notes[1].key = "version";
    notes[1].value = checkpoint_version;
    memset(&args, 0, sizeof args);
    args.notes = notes;
    args.nnotes = 2;
    args.at = at;
    args.n = n;
    if (to->memory) {
        *to->saved = tn_save_memory_at(NULL, 0, &args);
        ok = to->saved->at != NULL;
    } else {
        ok = tn_safetensors_save_at(NULL, 0, to->path, at, n, notes, 2);
    }
    tn_alloc_free(at, (size_t)(n + 1) * sizeof *at);
    return ok;
}

/* What can be said of a state without looking at a file. */
static bool checkpoint_state_fits(const checkpoint_place *place, const tn_state *s) {
    if (!place->path || !s) return tni_nn_error(TN_INVALID, "no path or no state");
    if (s->schedule && !s->optimizer)
        return tni_nn_error(TN_INVALID, "a schedule needs its optimizer");
    if (s->nnumbers < 0 || (s->nnumbers && !s->numbers))
        return tni_nn_error(TN_INVALID, "numbers: expected a list");
    for (int64_t i = 0; i < s->nnumbers; i++)
        if (!s->numbers[i].name)
            return tni_nn_error(TN_INVALID, "number %lld has no name", (long long)i);
    return true;
}

static bool checkpoint_save(const checkpoint_place *to, const tn_state *s) {
    tn_named_list model = {NULL, 0, 0, false}, optimizer = {NULL, 0, 0, true};
    checkpoint_list l;
    bool ok = true;
    memset(&l, 0, sizeof l);
    /* Lists of borrowed tensors: nothing is copied before the file is written. */
    if (s->model) model = tn_module_state_dict_at(NULL, 0, s->model);
    if (s->optimizer) optimizer = tn_optimizer_state_dict_at(NULL, 0, s->optimizer);
    /* Parts that the state does not have are left out of the file. */
    ok = checkpoint_add_list(&l, "model.", model) &&
         checkpoint_add_list(&l, "optimizer.", optimizer) &&
         (!s->schedule || checkpoint_add_schedule(&l, s->schedule)) &&
         (!s->generator || checkpoint_add_generator(&l, "cpu", s->generator)) &&
         (!s->loader_generator || checkpoint_add_generator(&l, "loader", s->loader_generator)) &&
         (!s->test_generator || checkpoint_add_generator(&l, "test", s->test_generator));
    /* The program's own numbers, as doubles. */
    for (int64_t i = 0; ok && i < s->nnumbers; i++)
        ok = checkpoint_add(&l, "train.", s->numbers[i].name,
                            tnp_from(&s->numbers[i].value, tn_empty_dims(), TN_F64, TN_CPU));
    ok = ok && checkpoint_write(to, &l);
    tni_buffer_free(&l.names);
    tni_buffer_free(&l.entries);
    tn_named_free(model);
    tn_named_free(optimizer);
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

/* An open file of this format and version. */
static tn_safetensors *checkpoint_open(const checkpoint_place *from) {
    tn_safetensors *f = from->memory
                            ? tn_safetensors_open_memory_at(NULL, 0, from->data, from->bytes)
                            : tn_safetensors_open_at(NULL, 0, from->path);
    const char *format = tn_safetensors_note(f, "format"),
               *version = tn_safetensors_note(f, "version");
    bool ok = format && version && strcmp(format, checkpoint_format) == 0 &&
              strcmp(version, checkpoint_version) == 0;
    if (!f || ok) return f;
    tni_nn_error(
        TN_FORMAT, "'%s' is not a checkpoint of version %s (format \"%s\", version \"%s\")",
        from->path, checkpoint_version, format ? format : "none", version ? version : "none");
    tn_safetensors_close(f);
    return NULL;
}

static bool checkpoint_bad(const char *path, const char *what) {
    return tni_nn_error(TN_FORMAT, "'%s': %s is missing, damaged or does not match", path, what);
}

/* The parts beside model and optimizer, checked and ready to be set without a failure. Pointers
 * lead into tensors of the file's list; NULL: the file has none, or none is wanted. */
typedef struct checkpoint_rest {
    int64_t count;
    const double *initial;
    const uint8_t *rng, *loader, *test;
} checkpoint_rest;

/* The schedule's count and first rates, one for each of its groups, all finite. */
static bool checkpoint_check_schedule(const char *path, tn_named_list list, const tn_schedule *s,
                                      checkpoint_rest *r) {
    const tn_tensor *count = tn_named_find(list, "schedule.count"),
                    *initial = tn_named_find(list, "schedule.initial");
    int groups = tni_schedule_groups(s);
    if (!count || tn_dtype_of(count) != TN_I64 || tn_numel(count) != 1 || !initial ||
        tn_dtype_of(initial) != TN_F64 || tn_numel(initial) != groups)
        return checkpoint_bad(path, "the schedule");
    r->count = tn_item_int(count);
    r->initial = (const double *)tn_data(initial);
    for (int g = 0; g < groups; g++)
        if (r->initial[g] - r->initial[g] != 0) return checkpoint_bad(path, "schedule.initial");
    return (r->count >= 0 && tni_is_count((double)r->count)) ||
           checkpoint_bad(path, "schedule.count");
}

/* A state that a generator accepts, which only trying it on another generator can tell. */
static bool checkpoint_check_generator(const char *path, const tn_tensor *state,
                                       const uint8_t **rng) {
    tn_generator *probe;
    bool ok;
    if (!state || tn_dtype_of(state) != TN_U8 || tn_numel(state) != TN_GENERATOR_BYTES)
        return checkpoint_bad(path, "the random state");
    *rng = (const uint8_t *)tn_data(state);
    probe = tn_generator_new(0);
    ok = probe && tn_generator_set_state(probe, *rng);
    tn_generator_free(probe);
    return ok;
}

/* The tensor train.<name>; NULL if there is none. Names are compared behind the prefix, as a
 * program may choose long ones. */
static const tn_tensor *checkpoint_number(tn_named_list list, const char *name) {
    for (int64_t i = 0; i < list.n; i++)
        if (strncmp(list.at[i].name, "train.", 6) == 0 && strcmp(list.at[i].name + 6, name) == 0)
            return list.at[i].tensor;
    return NULL;
}
static bool checkpoint_number_fits(const char *path, const char *name, const tn_tensor *t) {
    return !t || (tn_dtype_of(t) == TN_F64 && tn_numel(t) == 1) ||
           tni_nn_error(TN_FORMAT, "'%s': train.%.200s is not a number", path, name);
}

/* Loaders' generators may be missing, as files of loaders without one are loaded too. A number
 * that is missing becomes NaN. */
static bool checkpoint_check_rest(const char *path, tn_named_list list, const tn_state *s,
                                  checkpoint_rest *r) {
    const tn_tensor *loader = tn_named_find(list, "rng.loader"),
                    *test = tn_named_find(list, "rng.test");
    memset(r, 0, sizeof *r);
    if (s->schedule && !checkpoint_check_schedule(path, list, s->schedule, r)) return false;
    if (s->generator && !checkpoint_check_generator(path, tn_named_find(list, "rng.cpu"), &r->rng))
        return false;
    if (s->loader_generator && loader && !checkpoint_check_generator(path, loader, &r->loader))
        return false;
    if (s->test_generator && test && !checkpoint_check_generator(path, test, &r->test))
        return false;
    /* Numbers of the program: a number that is missing fits. */
    for (int64_t i = 0; i < s->nnumbers; i++) {
        const char *name = s->numbers[i].name;
        if (!checkpoint_number_fits(path, name, checkpoint_number(list, name))) return false;
    }
    return tn_ok();
}

/* Sets what was checked; nothing here can fail. */
static void checkpoint_load_rest(const tn_state *s, tn_named_list list, const checkpoint_rest *r) {
    if (s->schedule)
        tn_schedule_resume_at(NULL, 0, s->schedule, r->count, r->initial,
                              tni_schedule_groups(s->schedule));
    if (r->rng) tn_generator_set_state(s->generator, r->rng);
    if (r->loader) tn_generator_set_state(s->loader_generator, r->loader);
    if (r->test) tn_generator_set_state(s->test_generator, r->test);
    for (int64_t i = 0; i < s->nnumbers; i++) {
        const tn_tensor *t = checkpoint_number(list, s->numbers[i].name);
        s->numbers[i].value = t ? *(const double *)tn_data(t) : (double)NAN;
    }
}

TN_PRIV bool tni_checkpoint_number(const char *path, const char *name, double *value) {
    const checkpoint_place from = {path, NULL, 0, NULL, false};
    tn_safetensors *f = checkpoint_open(&from);
    int64_t mark = tn_scope_begin(), i = 0, n = tn_safetensors_count(f);
    bool ok = f != NULL;
    *value = (double)NAN;
    /* By the names in the header: the file's data is read for this number alone. */
    for (; i < n; i++) {
        const char *at = tn_safetensors_name(f, i);
        if (strncmp(at, "train.", 6) == 0 && strcmp(at + 6, name) == 0) break;
    }
    if (i < n) {
        const tn_tensor *t = tn_safetensors_get_at(NULL, 0, f, tn_safetensors_name(f, i));
        ok = t && checkpoint_number_fits(path, name, t);
        if (ok) *value = *(const double *)tn_data(t);
    }
    tn_safetensors_close(f);
    tn_scope_end(mark);
    return ok;
}

/* Prepares model and optimizer, and then exchanges both or neither. `at` is room for the entries of
 * one part at a time. */
static bool checkpoint_load_parts(const tn_state *s, tn_named_list list, tn_named *at) {
    tni_plan model = {{NULL, 0, 0, false}};
    tni_optimizer_plan optimizer;
    bool ok = true;
    memset(&optimizer, 0, sizeof optimizer);
    if (s->optimizer)
        ok = tni_optimizer_plan_load(&optimizer, s->optimizer, at,
                                     checkpoint_select(list, "optimizer.", at), true);
    if (s->model && ok)
        ok = tni_plan_load(&model, s->model, at, checkpoint_select(list, "model.", at), true, true);
    /* Both exchanged, or both dropped. */
    tni_plan_end(&model, ok);
    tni_optimizer_plan_end(&optimizer, ok);
    return ok;
}

/* Checks format and version by the header, reads the whole file, checks all parts, and then
 * changes the state. */
static bool checkpoint_load(const checkpoint_place *from, const tn_state *s) {
    tn_safetensors *f = checkpoint_open(from);
    tn_named_list list;
    checkpoint_rest rest;
    tn_named *at = NULL;
    tn_load_args args;
    bool ok;
    /* Only the notes were needed; loading opens the file anew. */
    tn_safetensors_close(f);
    if (!f) return false;
    memset(&args, 0, sizeof args);
    args.data = from->data;
    args.bytes = from->bytes;
    list = from->memory ? tn_load_memory_at(NULL, 0, &args)
                        : tn_safetensors_load_at(NULL, 0, from->path);
    if (list.n >= 0) at = (tn_named *)tn_alloc((size_t)(list.n + 1) * sizeof *at);
    /* Checks first; then model and optimizer, which may fail; then the rest, which cannot. */
    ok = at && checkpoint_check_rest(from->path, list, s, &rest) &&
         checkpoint_load_parts(s, list, at);
    if (ok) checkpoint_load_rest(s, list, &rest);
    if (at) tn_alloc_free(at, (size_t)(list.n + 1) * sizeof *at);
    tn_named_free(list);
    return ok;
}

/* --- both ------------------------------------------------------------------------------------- */

/* A public call around save or load: not recorded, in a scope of its own. */
static bool checkpoint_run(const char *file, int line, const checkpoint_place *place,
                           const tn_state *state,
                           bool (*run)(const checkpoint_place *place, const tn_state *state)) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "checkpoint");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    /* The state is checked before a file is touched. */
    ok = checkpoint_state_fits(place, state) && run(place, state);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    const checkpoint_place to = {path, NULL, 0, NULL, false};
    return checkpoint_run(file, line, &to, state, checkpoint_save);
}
TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state) {
    const checkpoint_place from = {path, NULL, 0, NULL, false};
    return checkpoint_run(file, line, &from, state, checkpoint_load);
}
TN_API tn_bytes tn_checkpoint_save_memory_at(const char *file, int line, const tn_state *state) {
    tn_bytes saved = {NULL, 0};
    const checkpoint_place to = {"memory", NULL, 0, &saved, true};
    checkpoint_run(file, line, &to, state, checkpoint_save);
    return saved;
}
TN_API bool tn_checkpoint_load_memory_at(const char *file, int line, const void *data, size_t bytes,
                                         const tn_state *state) {
    const checkpoint_place from = {"memory", data, bytes, NULL, true};
    return checkpoint_run(file, line, &from, state, checkpoint_load);
}
