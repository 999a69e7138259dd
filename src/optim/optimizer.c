/* optimizer.c - groups of parameters with options, states, and the step. Knows no kind
 * of optimizer. */
#include "optim.h"
#include "../api/device.h"
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"

#include <math.h>

/* --- rows ------------------------------------------------------------------------------------- */

TN_API int64_t tn_orow_count(void) {
    int64_t n = 0;
    while (tni_orows()[n]) n++;
    return n;
}
TN_API const tn_orow *tn_orow_at(int64_t i) {
    return i >= 0 && i < tn_orow_count() ? tni_orows()[i] : NULL;
}

/* --- options ---------------------------------------------------------------------------------- */

TN_PRIV bool tni_is_count(double value) {
    return value >= 0 && value <= 9007199254740992.0 && value == floor(value);
}

TN_PRIV bool tni_group_check(const tn_optimizer *o, const void *options) {
    if (!o->row->check || o->row->check(options)) return true;
    /* A user's check may return false without an error. */
    return tn_ok() ? tni_nn_error(TN_INVALID, "the options are not valid") : false;
}

/* A copy of an argument struct with its lists behind it. The parameters in it are forgotten: the
 * optimizer holds them itself. NULL with an error. */
static char *optim_copy_options(const tn_gen *gen, const char *args, int64_t *bytes) {
    int64_t head = (gen->args_size + 7) / 8 * 8;
    char *to, why[200];
    if (!tn_args_check(gen, args, why, sizeof why)) {
        tni_nn_error(TN_INVALID, "%s", why);
        return NULL;
    }
    *bytes = head + 8 * tn_args_words(gen, args);
    to = (char *)tn_alloc((size_t)*bytes);
    if (!to) return NULL;
    memcpy(to, args, gen->args_size);
    tn_args_copy(gen, to, (int64_t *)(void *)(to + head));
    tn_args_forget(gen, to);
    return to;
}

/* --- room ------------------------------------------------------------------------------------- */

enum { OPTIM_POINTERS = 4 }; /* of a step, beside its states: param, grad, options, rate */

/* Bytes that a step over n parameters needs, as optim_lay shares them out: pointers, `first` and
 * `made`, index, count, kept and numbers. */
static int64_t optim_step_room(int64_t n, int nstates, int nkept) {
    return n * (int64_t)((size_t)(OPTIM_POINTERS + nstates) * sizeof(void *) + 2 * sizeof(bool) +
                         8 + (size_t)(TN_OPTIM_NUMBERS + 1 + nkept) * sizeof(double));
}

/* Bytes of the one block for n parameters: counts, kept numbers, parameters, states, the room for a
 * step. */
static int64_t optim_bytes(int64_t n, int nstates, int nkept) {
    return n * (int64_t)((size_t)(1 + nstates) * sizeof(void *) +
                         (size_t)(1 + nkept) * sizeof(double)) +
           optim_step_room(n, nstates, nkept) + 64;
}

/* Makes room for n parameters and moves the first o->n. A step then allocates nothing
 * but new states. */
static bool optim_grow(tn_optimizer *o, int64_t n) {
    int64_t bytes;
    char *at;
    tn_tensor **param, **state;
    double *count, *kept;
    if (n < 0 || n > PTRDIFF_MAX / 1024) return tni_nn_error(TN_MEMORY, "too many parameters");
    bytes = optim_bytes(n, o->nstates, o->nkept);
    at = (char *)tn_alloc((size_t)bytes);
    if (!at) return false;
    memset(at, 0, (size_t)bytes);
    /* The block: n counts, n * nkept numbers, n parameters, n * nstates states, then the room for a
     * step. */
    count = (double *)(void *)at;
    kept = count + n;
    param = (tn_tensor **)(void *)(kept + n * o->nkept);
    state = param + n;
    for (int64_t i = o->n * o->nkept; i < n * o->nkept; i++) kept[i] = (double)NAN;
    /* Parameters and states keep their owners; only their places change. */
    for (int64_t i = 0; i < o->n; i++) {
        count[i] = o->count[i];
        param[i] = o->param[i];
        for (int k = 0; k < o->nstates; k++)
            state[i * o->nstates + k] = o->state[i * o->nstates + k];
        for (int j = 0; j < o->nkept; j++) kept[i * o->nkept + j] = o->kept[i * o->nkept + j];
    }
    if (o->count) tn_alloc_free(o->count, (size_t)o->bytes);
    o->count = count;
    o->kept = kept;
    o->param = param;
    o->state = state;
    o->step_room = state + n * o->nstates;
    o->bytes = bytes;
    return true;
}

/* Room for one more group, by doubling. */
static bool optim_more_groups(tn_optimizer *o) {
    int room = o->groups_room ? 2 * o->groups_room : 2;
    tni_group *group;
    if (o->ngroups < o->groups_room) return true;
    group = (tni_group *)tn_alloc((size_t)room * sizeof *group);
    if (!group) return false;
    if (o->ngroups) memcpy(group, o->group, (size_t)o->ngroups * sizeof *group);
    if (o->group) tn_alloc_free(o->group, (size_t)o->groups_room * sizeof *group);
    o->group = group;
    o->groups_room = room;
    return true;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Leaves, each once in all groups. A list with n = -1 comes from a tn_parameters that failed. */
static bool optim_check_params(const tn_optimizer *o, tn_tensors params) {
    tni_map seen = {NULL, NULL, 0, 0};
    bool fresh = true, ok = true;
    if (params.n < 0)
        return tn_ok() ? tni_nn_error(TN_INVALID, "params: expected a list of tensors") : false;
    if (params.n == 0 || !params.at) return tni_nn_error(TN_INVALID, "params: the list is empty");
    /* A parameter that is in two groups would be stepped twice. */
    for (int64_t i = 0; ok && i < o->n; i++) ok = tni_map_at(&seen, o->param[i], &fresh) != NULL;
    for (int64_t i = 0; ok && i < params.n; i++) {
        tn_tensor *t = params.at[i];
        if (!t)
            ok = tni_nn_error(TN_INVALID, "params[%lld] is NULL", (long long)i);
        else if (tn_owners(t) == 0)
            ok = tn_retain(t) != NULL; /* the error of a freed tensor */
        else if (!tn_is_leaf(t))
            ok = tni_nn_error(TN_INVALID, "params[%lld] is not a leaf", (long long)i);
        else if (!tni_map_at(&seen, t, &fresh))
            ok = false;
        else if (!fresh)
            ok = tni_nn_error(TN_INVALID, "params[%lld] is already in the optimizer", (long long)i);
    }
    tni_map_free(&seen);
    return ok;
}

/* Adds a group with a copy of the options. Nothing has changed on failure. */
static bool optim_add(tn_optimizer *o, tn_tensors params, const char *args) {
    tni_group g = {NULL, 0, o->n, 0, NULL};
    if (!optim_check_params(o, params)) return false;
    g.options = optim_copy_options(o->row->gen, args, &g.bytes);
    if (!g.options) return false;
    /* All that can fail is done before the optimizer changes. */
    if (tni_group_check(o, g.options) && optim_more_groups(o) && optim_grow(o, o->n + params.n)) {
        g.count = params.n;
        for (int64_t i = 0; i < params.n; i++) o->param[o->n++] = tn_retain(params.at[i]);
        o->group[o->ngroups++] = g;
        return true;
    }
    tn_alloc_free(g.options, (size_t)g.bytes);
    return false;
}

/* The number of names in "a, b, c". */
static int optim_count_names(const char *names) {
    int n = names && *names;
    for (; names && *names; names++) n += *names == ',';
    return n;
}

/* An optimizer with one group; the first parameter of every row is the list of parameters. */
static tn_optimizer *optim_new(const tn_orow *row, const void *args) {
    const tn_param *p = row ? &row->gen->param[0] : NULL;
    tn_tensors params;
    tn_optimizer *o;
    if (!row || !args) {
        tni_nn_error(TN_INVALID, "no row or the arguments are NULL");
        return NULL;
    }
    /* The options hold the list of parameters first. */
    memcpy(&params, (const char *)args + p->offset, sizeof params);
    o = (tn_optimizer *)tn_alloc(sizeof *o);
    if (!o) return NULL;
    memset(o, 0, sizeof *o);
    o->row = row;
    o->nown = optim_count_names(row->state);
    o->nkept = optim_count_names(row->numbers);
    o->nstates = o->nown + (tni_can_be_captured(row) ? 1 + o->nkept : 0);
    if (optim_add(o, params, (const char *)args)) return o;
    tn_optimizer_free(o);
    return NULL;
}

TN_API tn_optimizer *tn_optimizer_make(const char *file, int line, const tn_orow *row,
                                       const void *args) {
    tn_optimizer *o = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, row ? row->name : NULL);
    o = optim_new(row, args);
    tni_step_end(&step);
    return o;
}

TN_API void tn_optimizer_free(tn_optimizer *o) {
    if (!o || !tn_context_exists()) return;
    for (int64_t i = 0; i < o->n; i++) tn_release(o->param[i]);
    /* States that were never made are NULL, which releasing allows. */
    for (int64_t i = 0; i < o->n * o->nstates; i++) tn_release(o->state[i]);
    for (int g = 0; g < o->ngroups; g++) {
        tn_release(o->group[g].rate);
        tn_alloc_free(o->group[g].options, (size_t)o->group[g].bytes);
    }
    if (o->group) tn_alloc_free(o->group, (size_t)o->groups_room * sizeof *o->group);
    if (o->count) tn_alloc_free(o->count, (size_t)o->bytes);
    tn_alloc_free(o, sizeof *o);
}

TN_API int tn_optimizer_group_at(const char *file, int line, tn_optimizer *o, tn_tensors params,
                                 const tn_value *values, int nvalues) {
    tni_args args;
    tni_step step;
    bool ok;
    if (!tn_ok()) return -1;
    tni_step_begin(&step, file, line, o ? o->row->name : NULL);
    ok = o && o->row->gen->args_size <= sizeof args.at;
    if (!ok) tni_nn_error(TN_INVALID, "optimizer is NULL");
    /* An option that is not given is that of the first group. */
    ok = ok && tni_rates_down(o);
    if (ok) memcpy(args.at, o->group[0].options, o->row->gen->args_size);
    ok = ok &&
         (nvalues == 0 ||
          tn_bind(file, line, o->row->name, o->row->gen, values, nvalues, false, args.at)) &&
         optim_add(o, params, args.at);
    tni_step_end(&step);
    return ok ? o->ngroups - 1 : -1;
}

TN_API int tn_optimizer_groups(const tn_optimizer *o) { return o ? o->ngroups : 0; }

/* --- numbers among the options ---------------------------------------------------------------- */

/* An option of a group by name; NULL with an error. */
static const tn_param *optim_option(const tn_optimizer *o, int group, const char *name) {
    const tn_param *p = o && name && group >= 0 && group < o->ngroups
                            ? tn_param_named(o->row->gen, name, SIZE_MAX)
                            : NULL;
    if (!p)
        tni_nn_error(TN_INVALID, "option \"%s\" does not exist in group %d", name ? name : "",
                     group);
    return p;
}

/* An option that is always a number or a truth, which a schedule may move. */
static bool optim_is_number(const tn_param *p) {
    const unsigned type = tn_type_kept(p->type, p->flags);
    return type == TN_T_FLOAT || type == TN_T_INT || type == TN_T_BOOL;
}

TN_PRIV bool tni_option_put(const tn_param *p, char *options, double value) {
    const unsigned type = tn_type_kept(p->type, p->flags);
    if (!optim_is_number(p)) return tni_nn_error(TN_TYPE, "option \"%s\" is not a number", p->name);
    /* The row's check says later whether the value makes sense; here whether the type
     * can hold it. */
    if (type == TN_T_FLOAT) return tn_param_set_number(p, options, tn_float(value));
    if (type == TN_T_BOOL && value != 0 && value != 1)
        return tni_nn_error(TN_INVALID, "%s is %g, expected 0 or 1", p->name, value);
    if (!tni_is_count(fabs(value)))
        return tni_nn_error(TN_INVALID, "%s is %g, expected an integer", p->name, value);
    return tn_param_set_number(p, options, tn_int((int64_t)value));
}

TN_PRIV bool tni_option_take(const tn_param *p, const char *options, double *value) {
    tn_scalar s;
    if (!optim_is_number(p) || !tn_param_number(p, options, &s)) return false;
    *value = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    return true;
}

/* --- rates that are tensors ------------------------------------------------------------------- */

static const tn_param *optim_rate_option(const tn_optimizer *o) {
    return tn_param_named(o->row->gen, "lr", SIZE_MAX);
}
/* The tensor that has lr of group g, or NULL. */
static tn_tensor *optim_rate_of(const tn_optimizer *o, int g) {
    (void)o, (void)g;
    return TNI_IF(capturable, o->group[g].rate, NULL);
}
/* A rate without data, in a plan, says nothing: the number stays as it was. */
static bool optim_rate_down(const tn_optimizer *o, int g) {
    const tn_tensor *rate = optim_rate_of(o, g);
    const double lr = rate ? tni_nn_item(rate) : (double)NAN;
    return tn_ok() && (isnan(lr) || tni_option_put(optim_rate_option(o), o->group[g].options, lr));
}
static bool optim_rate_up(const tn_optimizer *o, int g) {
    tn_tensor *rate = optim_rate_of(o, g);
    double lr;
    if (rate && tni_option_take(optim_rate_option(o), o->group[g].options, &lr))
        tnp_fill_(rate, tn_float(lr));
    return tn_ok();
}
TN_PRIV bool tni_rates_down(const tn_optimizer *o) {
    const int groups = TNI_IF(capturable, o->ngroups, 0);
    for (int g = 0; g < groups && tn_ok(); g++) optim_rate_down(o, g);
    return tn_ok();
}
TN_PRIV bool tni_rates_up(const tn_optimizer *o) {
    const int groups = TNI_IF(capturable, o->ngroups, 0);
    for (int g = 0; g < groups && tn_ok(); g++) optim_rate_up(o, g);
    return tn_ok();
}

static bool optim_captures(const tn_optimizer *o, const char *options) {
    return tni_can_be_captured(o->row) &&
           *(const bool *)(const void *)(options + o->row->capturable);
}

static bool optim_rate_fits(const tn_optimizer *o, int group, const tn_tensor *rate) {
    const tni_group *g = o && group >= 0 && group < o->ngroups ? &o->group[group] : NULL;
    if (!g) return tni_nn_error(TN_INVALID, "group %d does not exist", group);
    if (rate && (tn_numel(rate) != 1 || tni_dtype_kind(tn_dtype_of(rate)) != 'f'))
        return tni_nn_error(TN_INVALID, "the rate: expected a tensor of one floating element");
    if (rate && tn_device_of(rate) != tn_device_of(o->param[g->first]))
        return tni_nn_error(TN_INVALID, "the rate is on %s, the parameters on %s",
                            tn_device_name(tn_device_of(rate)),
                            tn_device_name(tn_device_of(o->param[g->first])));
    return !rate || optim_captures(o, g->options) ||
           tni_nn_error(TN_UNSUPPORTED, "a rate that is a tensor needs the option capturable");
}

TN_API bool tn_optimizer_set_rate_at(const char *file, int line, tn_optimizer *o, int group,
                                     tn_tensor *rate) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = optim_rate_fits(o, group, rate) && optim_rate_down(o, group);
    /* Steps compute with a number: of shape (1) it is the same memory as one of (). */
    if (ok && rate && tn_ndim(rate)) rate = tnp_view(rate, tn_empty_dims());
    ok = ok && tn_ok() && (!rate || tn_retain(rate));
    if (ok) {
        tn_release(o->group[group].rate);
        o->group[group].rate = rate;
    }
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

/* Sets one number and checks the group; a value that is refused is taken back. */
static bool optim_set(tn_optimizer *o, int group, const char *option, double value) {
    const tn_param *p = optim_option(o, group, option);
    double before;
    if (!p) return false;
    if (!tni_option_take(p, o->group[group].options, &before))
        return tni_nn_error(TN_TYPE, "option \"%s\" is not a number", option);
    if (!tni_option_put(p, o->group[group].options, value)) return false;
    if (tni_group_check(o, o->group[group].options) &&
        (p != optim_rate_option(o) || optim_rate_up(o, group)))
        return true;
    tni_option_put(p, o->group[group].options, before);
    return false;
}

TN_API bool tn_optimizer_set_at(const char *file, int line, tn_optimizer *o, int group,
                                const char *option, double value) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    ok = optim_set(o, group, option, value);
    tni_step_end(&step);
    return ok;
}

TN_API double tn_optimizer_get_at(const char *file, int line, const tn_optimizer *o, int group,
                                  const char *option) {
    tni_step step;
    const tn_param *p;
    const tn_tensor *rate;
    double value = (double)NAN;
    /* reading is allowed with an error pending */
    tni_step_begin(&step, file, line, o ? o->row->name : "optimizer");
    p = optim_option(o, group, option);
    /* value stays NaN on error, so an ignored error shows. */
    rate = p && p == optim_rate_option(o) ? optim_rate_of(o, group) : NULL;
    if (rate && (tn_data(rate) || tn_device_data(rate)))
        value = tn_item(rate);
    else if (p && !tni_option_take(p, o->group[group].options, &value))
        tni_nn_error(TN_TYPE, "option \"%s\" is not a number", option);
    tni_step_end(&step);
    return value;
}

/* --- the step --------------------------------------------------------------------------------- */

/* What a step works on, laid over the optimizer's room. */
typedef struct optim_step {
    tn_ostep s;
    tn_tensor **param, **grad, **rate, **state[TN_OPTIM_STATES];
    const void **options;
    double *count, *kept[TN_OPTIM_KEPT], *number;
    bool *first;
    uint8_t *made;  /* bit k: state k was made for this step */
    int64_t *index; /* of parameter i of the step in the optimizer */
} optim_step;

/* Shares out the room: 8-byte numbers first, then pointers, then bytes, so that all are aligned. */
static void optim_lay(tn_optimizer *o, optim_step *w) {
    char *at = (char *)o->step_room;
    int64_t n = o->n;
    w->number = (double *)(void *)at;
    w->count = w->number + TN_OPTIM_NUMBERS * n;
    for (int j = 0; j < o->nkept; j++) w->kept[j] = w->count + (1 + j) * n;
    w->index = (int64_t *)(void *)(w->count + (1 + o->nkept) * n);
    w->param = (tn_tensor **)(void *)(w->index + n);
    w->grad = w->param + n;
    w->rate = w->grad + n;
    w->options = (const void **)(void *)(w->rate + n);
    for (int k = 0; k < o->nstates; k++) w->state[k] = w->rate + (2 + k) * n;
    w->first = (bool *)(void *)(w->rate + (2 + o->nstates) * n);
    w->made = (uint8_t *)(w->first + n);
}

static bool optim_any_captures(const tn_optimizer *o) {
    bool any = false;
    for (int g = 0; g < o->ngroups && !any; g++) any = optim_captures(o, o->group[g].options);
    return any;
}

/* The parameters that have a gradient, group by group, of groups that are captured or of those that
 * are not; a step passes over the others, as in torch. */
static void optim_collect(tn_optimizer *o, optim_step *w, bool captured) {
    int64_t n = 0;
    for (int g = 0; g < o->ngroups; g++)
        for (int64_t i = o->group[g].first; i < o->group[g].first + o->group[g].count; i++) {
            tn_tensor *grad = tn_grad_of(o->param[i]);
            if (!grad || optim_captures(o, o->group[g].options) != captured) continue;
            w->param[n] = o->param[i];
            w->grad[n] = grad;
            w->options[n] = o->group[g].options;
            w->rate[n] = o->group[g].rate;
            /* The count of this step, which begins at 1; it is kept only if the step succeeds. */
            w->count[n] = o->count[i] + 1;
            for (int j = 0; j < o->nkept; j++) w->kept[j][n] = o->kept[i * o->nkept + j];
            w->index[n] = i;
            w->made[n] = 0;
            w->first[n++] = false;
        }
    w->s.n = n;
}

/* A 0-dim state of parameter i, which counts on the host until it is captured. */
static tn_tensor *optim_begin_number(const tn_optimizer *o, int64_t i, int k) {
    const int j = k - o->nown;
    const double value = j ? o->kept[i * o->nkept + j - 1] : o->count[i];
    return isnan(value)
               ? NULL
               : tnp_full(tn_empty_dims(), tn_float(value), TN_F32, tn_device_of(o->param[i]));
}

/* State k of parameter i before its first step; NULL with an error, or if it has none. */
static tn_tensor *optim_begin(const tn_optimizer *o, const void *options, int64_t i, int k) {
    const tn_tensor *p = o->param[i];
    tn_tensor *number = k < o->nown ? NULL : TNI_IF(capturable, optim_begin_number(o, i, k), NULL);
    if (number || !tn_ok()) return number;
    return o->row->begin ? o->row->begin(options, p, k)
                         : tnp_zeros_like((tn_tensor *)(uintptr_t)p, TN_NO_DTYPE, TN_NO_DEVICE);
}

/* Makes the states that the options need and that do not exist yet; `made` notes them. */
static bool optim_make_states(tn_optimizer *o, optim_step *w, bool captured) {
    const uint32_t own = (1u << o->nown) - 1;
    bool rated = tn_is_capturing(); /* then no state is made */
    for (int64_t i = 0; i < w->s.n; i++) {
        uint32_t uses = (o->row->uses ? o->row->uses(w->options[i]) : own) & own;
        if (captured) uses |= ~own;
        for (int k = 0; k < o->nstates; k++) {
            tn_tensor **state = &o->state[w->index[i] * o->nstates + k];
            if (!*state && (uses >> k & 1)) {
                if (!rated && !tni_rates_down(o)) return false; /* some begin with the rate */
                rated = true;
                tn_tensor *t = optim_begin(o, w->options[i], w->index[i], k);
                if (!t && !tn_ok()) return false;
                w->state[k][i] = NULL;
                if (!t) continue;
                *state = tn_retain(t);
                w->made[i] = (uint8_t)(w->made[i] | 1u << k);
                w->first[i] = true;
            }
            w->state[k][i] = uses >> k & 1 ? *state : NULL;
        }
    }
    return true;
}

/* After a step that failed the states are as before it: takes back those that were made. */
static void optim_drop_states(tn_optimizer *o, const optim_step *w) {
    for (int64_t i = 0; i < w->s.n; i++)
        for (int k = 0; k < o->nstates; k++) {
            tn_tensor **state = &o->state[w->index[i] * o->nstates + k];
            if (!(w->made[i] >> k & 1)) continue;
            tn_release(*state);
            *state = NULL;
        }
}

/* Count and numbers of parameters that are captured no more come from their tensors, which go when
 * the step is done. */
static bool optim_bring_down(const tn_optimizer *o, optim_step *w) {
    for (int64_t i = 0; tni_can_be_captured(o->row) && i < w->s.n; i++) {
        tn_tensor *const *number = o->state + w->index[i] * o->nstates + o->nown;
        if (!*number) continue;
        w->count[i] = tn_item(number[0]) + 1;
        for (int j = 0; j < o->nkept; j++) w->kept[j][i] = tn_item(number[1 + j]);
    }
    return tn_ok();
}

/* Keeps what is counted on the host; of a captured step that is nothing. */
static void optim_keep(tn_optimizer *o, const optim_step *w, bool captured) {
    for (int64_t i = 0; i < w->s.n; i++) {
        const int64_t at = w->index[i];
        o->count[at] = captured ? 0 : w->count[i];
        for (int j = 0; j < o->nkept; j++) /* as files have them */
            o->kept[at * o->nkept + j] = captured ? (double)NAN : (double)(float)w->kept[j][i];
        for (int k = o->nown; TNI_IF(capturable, !captured, false) && k < o->nstates; k++) {
            tn_release(o->state[at * o->nstates + k]);
            o->state[at * o->nstates + k] = NULL;
        }
    }
}

/* Whether a graph may hold the step, which a replay makes again. */
static bool optim_graph_holds(const tn_optimizer *o, const optim_step *w, bool captured) {
    if (o->row->counts && !captured)
        return tni_nn_error(TN_UNSUPPORTED, "steps are counted on the host, which no replay does%s",
                            o->row->captured ? "; the option capturable counts them on the device"
                                             : "");
    for (int64_t i = 0; i < w->s.n; i++)
        if (w->made[i])
            return tni_nn_error(TN_UNSUPPORTED, "the first step makes the state, which each replay "
                                                "would do; step once before the capture");
    return true;
}

/* One step over the groups that are captured, or over the others. Counts change at the end, when
 * nothing can fail. */
static bool optim_step_run(tn_optimizer *o, bool captured) {
    optim_step w;
    bool ok;
    memset(&w, 0, sizeof w);
    optim_lay(o, &w);
    optim_collect(o, &w, captured);
    if (w.s.n == 0) return true;
    for (int g = 0; !captured && !tn_is_capturing() && g < o->ngroups; g++) /* a rate is a number */
        if (!optim_captures(o, o->group[g].options) && !optim_rate_down(o, g)) return false;
    /* The row's step sees lists of n, over the optimizer's own room. */
    w.s.optimizer = o;
    w.s.param = w.param;
    w.s.grad = w.grad;
    w.s.options = w.options;
    w.s.number = w.number;
    w.s.first = w.first;
    for (int64_t i = 0; captured && i < w.s.n && !w.s.rate; i++)
        if (w.rate[i]) w.s.rate = w.rate;
    w.s.count = o->row->counts ? w.count : NULL;
    for (int k = 0; k < o->nstates; k++) w.s.state[k] = w.state[k];
    for (int j = 0; j < o->nkept; j++) w.s.kept[j] = w.kept[j];
    ok = optim_make_states(o, &w, captured) && (captured || optim_bring_down(o, &w)) &&
         (!tn_is_capturing() || optim_graph_holds(o, &w, captured)) &&
         (captured ? o->row->captured : o->row->step)(&w.s);
    if (!ok && tn_ok()) tni_nn_error(TN_INTERNAL, "the step failed without setting an error");
    if (ok)
        optim_keep(o, &w, captured);
    else
        optim_drop_states(o, &w);
    return ok;
}

TN_API bool tn_optimizer_step_at(const char *file, int line, tn_optimizer *o) {
    tni_step step;
    int64_t mark;
    bool ok, mode;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, o ? o->row->name : NULL);
    /* Steps change parameters in place, which recording would refuse for leaves. */
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    ok = o ? (!optim_any_captures(o) || optim_step_run(o, true)) && optim_step_run(o, false)
           : tni_nn_error(TN_INVALID, "optimizer is NULL");
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_optimizer_zero_grad(tn_optimizer *o) {
    for (int64_t i = 0; o && i < o->n; i++) tn_zero_grad(o->param[i]);
}
