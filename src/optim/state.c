/* state.c - an optimizer's state as named tensors, out and in. Its layout is part of
 * checkpoints: version 1 is
 *
 *   state.<i>.step            0-dim f32: steps of parameter i, where the row counts them
 *   state.<i>.<number>        0-dim f32: the row's numbers; absent before the first step
 *   state.<i>.<name>          the row's state tensors, of the parameter's dtype; absent before the
 *                             first step
 *   group.<g>.<option>        0-dim f64 (floats), 0-dim i64 (ints, bools, words), 1-dim f64 (lists
 *                             of floats) */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"

#include <math.h>
#include <stdlib.h>

/* --- out -------------------------------------------------------------------------------------- */

typedef struct dict_entry {
    int64_t name;
    tn_tensor *tensor; /* held */
} dict_entry;
typedef struct dict_list {
    tni_buffer names, entries;
    bool failed;
} dict_list;

/* t as "<kind>.<number>.<name>". */
static void dict_add(dict_list *d, tn_tensor *t, const char *kind, int64_t number, tni_span name) {
    dict_entry e = {d->names.n, t};
    tni_buffer_text(&d->names, "%s.%lld.%.*s", kind, (long long)number, name.n, name.at);
    tni_buffer_add(&d->names, "", 1);
    if (!t || d->failed || d->names.failed || !tni_buffer_add(&d->entries, &e, sizeof e))
        d->failed = true;
    else
        tn_retain(t);
}

static tni_span dict_span(const char *text) {
    tni_span s = {text, (int)strlen(text)};
    return s;
}

/* The number k of "a, b, c". */
static tni_span dict_state_name(const char *names, int k) {
    tni_span list = dict_span(names), item = {NULL, 0};
    while (tni_item_next(&list, &item) && k-- > 0) continue;
    return item;
}

/* Of state k, those of captured steps, too. */
static tni_span dict_name_of(const tn_optimizer *o, int k) {
    if (!tni_can_be_captured(o->row) || k < o->nown) return dict_state_name(o->row->state, k);
    return k == o->nown ? dict_span("step") : dict_state_name(o->row->numbers, k - o->nown - 1);
}

static void dict_add_number(dict_list *d, double value, int64_t i, tni_span name) {
    const float number = (float)value;
    dict_add(d, tnp_from(&number, tn_empty_dims(), TN_F32, TN_CPU), "state", i, name);
}

/* Counts, numbers and states of all parameters. What was never made is left out. */
static void dict_add_states(dict_list *d, const tn_optimizer *o) {
    for (int64_t i = 0; i < o->n; i++) {
        tn_tensor *const *state = o->state + i * o->nstates;
        if (o->row->counts && o->count[i] > 0)
            dict_add_number(d, o->count[i], i, dict_span("step"));
        /* Where steps are counted on the device, none of the host's numbers is there. */
        for (int k = o->nown; tni_can_be_captured(o->row) && k < o->nstates; k++)
            if (state[k]) dict_add(d, state[k], "state", i, dict_name_of(o, k));
        for (int j = 0; j < o->nkept; j++)
            if (!isnan(o->kept[i * o->nkept + j]))
                dict_add_number(d, o->kept[i * o->nkept + j], i,
                                dict_state_name(o->row->numbers, j));
        for (int k = 0; k < o->nown; k++)
            if (state[k]) dict_add(d, state[k], "state", i, dict_name_of(o, k));
    }
}

/* One option of a group as a tensor. The parameters and a float? that is None are left out. */
static void dict_add_option(dict_list *d, const tn_param *p, const char *options, int g) {
    tn_scalar s;
    tn_floats list;
    tn_tensor *t = NULL;
    if (p->type == TN_T_FLOATS) {
        memcpy(&list, options + p->offset, sizeof list);
        t = tnp_from(list.at, tn_ints_of(&list.n, 1), TN_F64, TN_CPU);
    } else if (!tn_param_number(p, options, &s)) {
        return;
    } else if (s.kind == TN_KIND_FLOAT) {
        t = tnp_from(&s.real, tn_empty_dims(), TN_F64, TN_CPU);
    } else if (s.kind != TN_KIND_NONE || TN_TYPES_CODE >> p->type & 1) { /* no word is 0 */
        t = tnp_from(&s.integer, tn_empty_dims(), TN_I64, TN_CPU);
    } else {
        return;
    }
    dict_add(d, t, "group", g, dict_span(p->name));
}

/* `capturable`, which is younger than version 1, is written where it is true. */
static bool dict_has_option(const tn_orow *row, const tn_param *p, const char *options) {
    return !row->capturable || p->offset != row->capturable ||
           *(const bool *)(const void *)(options + p->offset);
}

/* The list in one block, entries and then names, of which it takes over the tensors. n = -1 with an
 * error, and the tensors are released. */
static tn_named_list dict_list_of(const dict_list *d) {
    tn_named_list list = {NULL, 0, 0, true};
    int64_t n = d->entries.n / (int64_t)sizeof(dict_entry);
    const dict_entry *e = (const dict_entry *)(const void *)d->entries.at;
    list.bytes = n * (int64_t)sizeof *list.at + d->names.n;
    list.n = -1;
    /* One byte more, so that an empty list is no request for 0 bytes. */
    if (!d->failed) list.at = (tn_named *)tn_alloc((size_t)list.bytes + 1);
    list.bytes++;
    if (!list.at) {
        for (int64_t i = 0; i < n; i++) tn_release(e[i].tensor);
        return list;
    }
    /* Offsets become pointers now that the names lie still. */
    memcpy(list.at + n, d->names.at, (size_t)d->names.n);
    for (int64_t i = 0; i < n; i++) {
        list.at[i].name = (const char *)(list.at + n) + e[i].name;
        list.at[i].tensor = e[i].tensor;
    }
    list.n = n;
    return list;
}

static tn_named_list dict_of(const tn_optimizer *o) {
    tn_named_list list = {NULL, -1, 0, true};
    dict_list d;
    int64_t mark;
    if (!o) tni_nn_error(TN_INVALID, "optimizer is NULL");
    if (!o || !tni_rates_down(o)) return list;
    memset(&d, 0, sizeof d);
    /* The list holds its tensors; the scope frees the headers made on the way. */
    mark = tn_scope_begin();
    /* Version 1 of the layout: states by parameter, then options by group. */
    dict_add_states(&d, o);
    for (int g = 0; g < o->ngroups; g++)
        for (int i = 0; i < o->row->gen->nparam; i++)
            if (dict_has_option(o->row, &o->row->gen->param[i], o->group[g].options))
                dict_add_option(&d, &o->row->gen->param[i], o->group[g].options, g);
    list = dict_list_of(&d);
    tni_buffer_free(&d.names);
    tni_buffer_free(&d.entries);
    tn_scope_end(mark);
    return list;
}

TN_API tn_named_list tn_optimizer_state_dict_at(const char *file, int line, const tn_optimizer *o) {
    tn_named_list list = {NULL, -1, 0, true};
    tni_step step;
    if (!tn_ok()) return list;
    tni_place_begin(&step, file, line);
    list = dict_of(o);
    tni_step_end(&step);
    return list;
}

/* --- in --------------------------------------------------------------------------------------- */

/* An empty plan: counts 0, no states, the options as they are. One block holds counts, states and
 * pointers to options. */
static bool dict_begin(tni_optimizer_plan *l, tn_optimizer *o) {
    size_t pointers = (size_t)(o->n * o->nstates) + (size_t)o->ngroups;
    memset(l, 0, sizeof *l);
    l->o = o;
    l->bytes = pointers * sizeof(void *) + (size_t)(o->n * (1 + o->nkept) + 1) * sizeof(double);
    l->count = (double *)tn_alloc(l->bytes);
    if (!l->count) return false;
    memset(l->count, 0, l->bytes);
    l->kept = l->count + o->n;
    for (int64_t i = 0; i < o->n * o->nkept; i++) l->kept[i] = (double)NAN;
    /* Behind the numbers, of which there is one more than needed: no request for 0 bytes. */
    l->state = (tn_tensor **)(void *)(l->kept + o->n * o->nkept + 1);
    l->options = (char **)(void *)(l->state + o->n * o->nstates);
    for (int g = 0; g < o->ngroups; g++) {
        l->options[g] = (char *)tn_alloc((size_t)o->group[g].bytes);
        if (!l->options[g]) return false;
        memcpy(l->options[g], o->group[g].options, (size_t)o->group[g].bytes);
        /* The copied struct points at its own lists, not at the optimizer's. */
        tn_args_move(o->row->gen, l->options[g], o->group[g].options, o->group[g].bytes,
                     l->options[g]);
    }
    return true;
}

/* Exchanges the plan with what the optimizer has, or drops it; then releases the old or the new. */
TN_PRIV void tni_optimizer_plan_end(tni_optimizer_plan *l, bool commit) {
    tn_optimizer *o = l->o;
    if (!l->count) return;
    /* With commit the old state is released, else the new one. */
    for (int64_t i = 0; i < o->n * o->nstates; i++) {
        tn_tensor *old = commit ? o->state[i] : l->state[i];
        if (commit) o->state[i] = l->state[i];
        tn_release(old);
    }
    for (int64_t i = 0; commit && i < o->n; i++) o->count[i] = l->count[i];
    for (int64_t i = 0; commit && i < o->n * o->nkept; i++) o->kept[i] = l->kept[i];
    for (int g = 0; g < o->ngroups; g++) {
        char *old = commit ? o->group[g].options : l->options[g];
        if (commit) o->group[g].options = l->options[g];
        if (old) tn_alloc_free(old, (size_t)o->group[g].bytes);
    }
    tn_alloc_free(l->count, l->bytes);
    if (commit) tni_rates_up(o);
}

/* "state.12.exp_avg" -> 12 and "exp_avg"; NULL if it has another form, or the number is not below
 * limit. strtoll ends at INT64_MAX, which is above every limit. */
static const char *dict_number(const char *name, const char *prefix, int64_t limit,
                               int64_t *number) {
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9') return NULL;
    *number = (int64_t)strtoll(name + n, &end, 10);
    return *end == '.' && *number >= 0 && *number < limit ? end + 1 : NULL;
}

/* One entry of parameter i that is a number: its count, or one of the row's. *is: it is. */
static bool dict_load_number(tni_optimizer_plan *l, int64_t i, const char *name, const tn_named *e,
                             bool *is) {
    tn_optimizer *o = l->o;
    double *to = o->row->counts && strcmp(name, "step") == 0 ? &l->count[i] : NULL;
    for (int j = 0; !to && j < o->nkept; j++)
        if (tni_span_is(dict_state_name(o->row->numbers, j), name)) to = &l->kept[i * o->nkept + j];
    *is = to != NULL;
    if (!to) return true;
    if (tn_numel(e->tensor) != 1)
        return tni_nn_error(TN_INVALID, "%s: expected one number", e->name);
    *to = tn_item(e->tensor);
    return to != &l->count[i] || tni_is_count(*to) ||
           tni_nn_error(TN_INVALID, "%s is %g, expected a number of steps", e->name, *to);
}

/* What has the shape of state k of parameter i; NULL with an error. */
static const tn_tensor *dict_state_like(const tn_optimizer *o, int64_t i, int k) {
    const tn_tensor *like = o->param[i];
    for (int g = 0; o->row->begin && g < o->ngroups; g++)
        if (i >= o->group[g].first && i < o->group[g].first + o->group[g].count)
            like = o->row->begin(o->group[g].options, o->param[i], k);
    if (!like && tn_ok())
        tni_nn_error(TN_INVALID, "parameter %lld has no such state", (long long)i);
    return like;
}

/* One state of parameter i, converted to the parameter's dtype and device. */
static bool dict_load_state(tni_optimizer_plan *l, int64_t i, const char *name, const tn_named *e) {
    tn_optimizer *o = l->o;
    tn_ints b = tn_shape(e->tensor);
    tn_tensor *t;
    for (int k = 0; k < o->nown; k++) {
        tn_tensor **to = &l->state[i * o->nstates + k];
        if (!tni_span_is(dict_state_name(o->row->state, k), name)) continue;
        if (*to) return tni_nn_error(TN_INVALID, "%s appears twice", e->name);
        const tn_tensor *like = dict_state_like(o, i, k);
        if (!like) return false;
        tn_ints a = tn_shape(like);
        if (a.n != b.n || (a.n && memcmp(a.at, b.at, (size_t)a.n * sizeof *a.at) != 0))
            return tni_nn_error(TN_INVALID, "%s: the shape is not that of the parameter's state",
                                e->name);
        /* Tensors of a file that was just read are nobody else's and are taken without a copy. */
        t = e->tensor;
        if (!l->take || tn_dtype_of(t) != tn_dtype_of(o->param[i]) ||
            tn_device_of(t) != tn_device_of(o->param[i])) {
            t = tnp_empty(a, tn_dtype_of(o->param[i]), tn_device_of(o->param[i]));
            if (!t || !tnp_copy_(t, e->tensor)) return false;
        }
        *to = tn_retain(t);
        return true;
    }
    return tni_nn_error(TN_INVALID, "%s: the optimizer has no such state", e->name);
}

/* Writes an option of a group from e: one number, or all numbers of a list. */
static bool dict_load_value(const tn_param *p, char *options, const tn_named *e) {
    tn_floats list;
    int words = 0;
    double value;
    /* The list keeps its length; only its numbers change. */
    if (p->type == TN_T_FLOATS) {
        memcpy(&list, options + p->offset, sizeof list);
        return tn_read_f64(e->tensor, (double *)(uintptr_t)list.at, list.n);
    }
    if (tn_numel(e->tensor) != 1)
        return tni_nn_error(TN_INVALID, "%s: expected one number", e->name);
    value = tn_item(e->tensor);
    /* A word is written by its number; 0 stands for None. */
    if (p->flags & TN_P_MAYBE) return tn_param_set_number(p, options, tn_float(value));
    if (p->type != TN_T_ENUM) return tni_option_put(p, options, value);
    while (p->words && p->words[words]) words++;
    return (tni_is_count(value) &&
            tn_param_set_number(p, options, value == 0 ? tn_none() : tn_int((int64_t)value))) ||
           tni_nn_error(TN_INVALID, "%s is %g, expected the number of a value, 1 to %d", e->name,
                        value, words);
}

static bool dict_load_option(tni_optimizer_plan *l, int64_t g, const char *name,
                             const tn_named *e) {
    const tn_param *p = tn_param_named(l->o->row->gen, name, SIZE_MAX);
    return p ? dict_load_value(p, l->options[g], e)
             : tni_nn_error(TN_INVALID, "%s: the optimizer has no such option", e->name);
}

/* Reads all entries into the plan, then checks the options of each group together. */
static bool dict_load_each(tni_optimizer_plan *l, const tn_named *at, int64_t n) {
    if (n < 0 || (n && !at)) return tni_nn_error(TN_INVALID, "expected a list of named tensors");
    for (int64_t i = 0; i < n; i++) {
        int64_t number;
        const char *name;
        if (!at[i].name || !at[i].tensor)
            return tni_nn_error(TN_INVALID, "entry %lld has no name or no tensor", (long long)i);
        /* A name says by its prefix where the entry belongs. */
        if ((name = dict_number(at[i].name, "state.", l->o->n, &number)) != NULL) {
            bool is;
            if (!dict_load_number(l, number, name, &at[i], &is)) return false;
            if (!is && !dict_load_state(l, number, name, &at[i])) return false;
        } else if ((name = dict_number(at[i].name, "group.", l->o->ngroups, &number)) != NULL) {
            if (!dict_load_option(l, number, name, &at[i])) return false;
        } else {
            return tni_nn_error(TN_INVALID, "%s: the optimizer has no such parameter or group",
                                at[i].name);
        }
    }
    /* Options are checked when all are there: some are valid only together. */
    for (int g = 0; g < l->o->ngroups; g++)
        if (!tni_group_check(l->o, l->options[g])) return false;
    return tn_ok();
}

TN_PRIV bool tni_optimizer_plan_load(tni_optimizer_plan *l, tn_optimizer *o, const tn_named *at,
                                     int64_t n, bool take) {
    if (!tni_rates_down(o) || !dict_begin(l, o)) return false;
    l->take = take;
    return dict_load_each(l, at, n);
}

TN_API bool tn_optimizer_load_at(const char *file, int line, tn_optimizer *o, const tn_named *at,
                                 int64_t n) {
    tni_optimizer_plan l;
    tni_step step;
    int64_t mark;
    bool ok = o && n >= 0 && (at || !n), mode;
    if (!tn_ok()) return false;
    memset(&l, 0, sizeof l);
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    if (!ok) tni_nn_error(TN_INVALID, "expected an optimizer and a list of tensors");
    /* Everything that can fail fills the plan; then it is exchanged or dropped. */
    ok = ok && tni_optimizer_plan_load(&l, o, at, n, false);
    tni_optimizer_plan_end(&l, ok);
    ok = ok && tn_ok();
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}
