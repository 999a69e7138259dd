/* calls.c - every row of operators, modules and optimizers with arguments at the ends of their
 * ranges (tuples.h): a result or an error, never a report of a sanitizer, an internal error, an
 * element outside of its memory, or a call that does not end.
 *
 *     calls [SEED [TUPLES [rows.h]]]
 *
 * TUPLES different tuples a row. Operators: each by row with backward, by name, with out=, in
 * place, and on meta; modules: made by their options, called with backward, copied, loaded;
 * optimizers: made by their options, stepped, loaded. Memory is capped at 64 MiB; what does not
 * fit is done again on meta. */
#define _XOPEN_SOURCE 700 /* alarm */
#include "../rows.h"
#include "../ops/msample.h"
#include "tuples.h"

#include "../../src/optim/optim.h"
#include "../../src/api/ops.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RESULTS = 64, SECONDS = 60, MOST = 4096, SHAPES = 4 };

static const char *at_row = "";
static uint64_t at_seed;
static int64_t failed;
static void hangs(int signal_number) {
    (void)signal_number;
    fprintf(stderr, "a call does not end: calls %llu 1 row=%s\n", (unsigned long long)at_seed,
            at_row);
    _exit(3);
}

static bool wrong(const char *how, const char *what) {
    failed++;
    printf("FAILED calls %llu 1 row=%s, %s: %s\n", (unsigned long long)at_seed, at_row, how, what);
    return false;
}

/* A refusal is taken: of any kind but internal. */
static tn_code refusal(const char *how) {
    tn_error_info e;
    if (!tn_error_take(&e)) return wrong(how, "no result and no error"), TN_INTERNAL;
    if (e.code == TN_INTERNAL) wrong(how, e.message);
    return e.code;
}

/* --- results ---------------------------------------------------------------------------------- */

/* Its elements lie inside of its storage; then it is differentiated and copied. */
static void use(const char *how, tn_tensor **result, int n) {
    for (int i = 0; i < n; i++) {
        tn_tensor *t = result[i];
        int64_t bytes;
        if (!t || tn_device_of(t) != TN_CPU) continue;
        if (t->numel && (!tni_extent(t, &bytes) || t->offset < 0 ||
                         t->offset * tni_dtype_size(t) + bytes > t->storage->bytes)) {
            wrong(how, "a result outside of its memory");
            return;
        }
        if (tn_needs_grad(t)) {
            tn_tensor *square = tnp_mul(t, t);
            if (square && tni_is_complex(square->dtype)) square = tnp_real(square);
            if (square)
                tn_backward(tnp_sum(square, tn_no_dims(), false, TN_NO_DTYPE),
                            .create_graph = tuple_below(4) == 0, .retain_graph = true);
            tn_error_take(NULL);
        }
        if (t->numel < 1000) tn_free(tnp_clone(t, (tn_memory_format)0));
        tn_error_take(NULL);
    }
}

/* After create_graph a leaf and its .grad hold each other, as torch's do. */
static void forget(sample *s) {
    for (int v = 0; v < s->nvalues; v++) {
        tn_value *value = &s->value[v];
        if (value->type == TN_T_TENSOR && value->as.tensor) tn_zero_grad(value->as.tensor);
        for (int64_t i = 0; value->type == TN_T_TENSORS && i < value->as.tensors.n; i++)
            if (value->as.tensors.at[i]) tn_zero_grad(value->as.tensors.at[i]);
    }
}

/* --- one tuple of an operator ----------------------------------------------------------------- */

enum form { FORM_PLAIN, FORM_NAMED, FORM_OUT, FORM_INPLACE, FORM_META, FORMS };
static const char *const form_names[] = {"by row", "by name", "out=", "in place", "on meta"};

typedef struct shapes { /* of the plain call's results */
    int n, ndim[SHAPES], dtype[SHAPES];
    int64_t size[SHAPES][TN_MAX_DIMS];
} shapes;

static void keep_shapes(shapes *k, tn_tensor **result, int n) {
    for (k->n = 0; k->n < n && k->n < SHAPES && result[k->n]; k->n++) {
        const tn_tensor *t = result[k->n];
        k->ndim[k->n] = t->ndim;
        k->dtype[k->n] = t->dtype;
        for (int d = 0; d < t->ndim; d++) k->size[k->n][d] = t->size[d];
    }
}

static void give_out(sample *s, tuple *t, const shapes *k) {
    tn_value *v = &s->value[s->nvalues];
    tn_tensor **given = t->members + TUPLE_MEMBERS - SHAPES;
    const int n = s->row->gen->nresults;
    if (n > SHAPES || s->nvalues >= SAMPLE_VALUES) return;
    for (int i = 0; i < n; i++) {
        bool meta = false, other = s->ntensors && tuple_below(4) == 0;
        given[i] = NULL;
        if (i < k->n && tuple_below(4)) /* unwritten, unless something is made of it before */
            given[i] = (other ? tnp_zeros : tnp_empty)(tn_ints_of(k->size[i], k->ndim[i]),
                                                       (tn_dtype)k->dtype[i], TN_NO_DEVICE);
        if (!given[i]) tn_error_take(NULL), given[i] = tuple_tensor(s, NULL, &meta);
        if (other) given[i] = tuple_tensor(s, given[i], &meta);
    }
    memset(v, 0, sizeof *v);
    v->name = "out";
    v->type = n == 1 ? TN_T_TENSOR : TN_T_TENSORS;
    if (n == 1)
        v->as.tensor = given[0];
    else
        v->as.tensors = tn_tensors_of(given, n);
    s->nvalues++;
}

static tn_dtype some_dtype(void) {
    static const tn_dtype of[] = {TN_F32, TN_F32, TN_F32, TN_F64, TN_F64,
                                  TN_I64, TN_I32, TN_F16, TN_C64, TN_BOOL};
    return of[tuple_below(10)];
}

/* The tuple of this seed; false when the row has no such sample. */
static bool draw(const tn_row *row, uint64_t seed, sample *s, tuple *t) {
    const int count = sample_count(row);
    tn_dtype dtype;
    tuple_seed(seed);
    dtype = some_dtype();
    if (count) {
        if (!sample_make(s, row, (int)tuple_below(count), dtype, false)) return false;
    } else {
        memset(s, 0, sizeof *s);
        s->row = row;
    }
    tuple_spoil(t, s, row->gen);
    if (t->meta && tuple_below(6)) tuple_to_meta(s);
    return true;
}

static bool do_form(enum form form, sample *s, tn_tensor **result, int *n) {
    char name[80];
    snprintf(name, sizeof name, "%s%s", s->row->name,
             form == FORM_NAMED && s->row->forms & TN_INPLACE && tuple_below(3) == 0 ? "_" : "");
    if (form == FORM_NAMED)
        return tn_call_named("calls", 1, name, s->value, s->nvalues, result, RESULTS, n);
    return sample_call(s, form == FORM_INPLACE ? TN_IN_PLACE : TN_PLAIN, result, RESULTS, n);
}

static bool form_applies(const tn_row *row, enum form form, bool no_room) {
    if (form == FORM_OUT) return (row->forms & TN_OUT) != 0;
    if (form == FORM_INPLACE) return (row->forms & TN_INPLACE) != 0;
    return form != FORM_META || no_room;
}

static void ask_for_meta(sample *s) {
    tn_value *v = &s->value[s->nvalues];
    const tn_gen *gen = s->row->gen;
    tuple_to_meta(s);
    for (int p = 0; p < gen->nparam; p++) {
        bool given = false;
        if (gen->param[p].type != TN_T_DEVICE || s->nvalues >= SAMPLE_VALUES) continue;
        for (int k = 0; k < s->nvalues; k++)
            given = given || (s->value[k].name && !strcmp(s->value[k].name, gen->param[p].name));
        if (given) continue;
        memset(v, 0, sizeof *v);
        v->name = gen->param[p].name;
        v->type = TN_T_DEVICE;
        v->as.device = TN_META;
        s->nvalues++;
        return;
    }
}

typedef struct tally {
    int64_t tuples, accepted, spoilt_accepted;
    int64_t ninputs;
    uint64_t seen[MOST];
} tally;

static bool is_new(tally *t, uint64_t hash) {
    for (int64_t i = 0; i < t->tuples; i++)
        if (t->seen[i] == hash) return false;
    if (t->tuples < MOST) t->seen[t->tuples++] = hash;
    return true;
}

/* false: this tuple was there already. */
static bool one_tuple(const tn_row *row, uint64_t seed, tally *sum) {
    static sample s;
    static tuple t;
    tn_tensor *result[RESULTS];
    shapes kept = {0, {0}, {0}, {{0}}};
    bool fresh = true, no_room = false;
    at_seed = seed;
    for (int form = 0; form < FORMS && fresh; form++) {
        int64_t mark = tn_scope_begin();
        bool ok = form_applies(row, (enum form)form, no_room) && draw(row, seed, &s, &t);
        if (ok && form == FORM_PLAIN) fresh = is_new(sum, tuple_hash(&s));
        if (ok && fresh) {
            bool was = tn_set_grad_mode(form == FORM_PLAIN || tuple_below(2) == 0);
            int n = 0;
            if (form != FORM_INPLACE || tuple_below(2)) tuple_leaves(&s);
            if (form == FORM_OUT) give_out(&s, &t, &kept);
            if (form == FORM_META) ask_for_meta(&s);
            alarm(SECONDS);
            ok = do_form((enum form)form, &s, result, &n);
            if (ok) use(form_names[form], result, n);
            if (ok && form == FORM_PLAIN) keep_shapes(&kept, result, n);
            if (!ok && refusal(form_names[form]) == TN_MEMORY) no_room = true;
            alarm(0);
            if (form == FORM_PLAIN) sum->accepted += ok, sum->spoilt_accepted += ok && t.spoilt > 0;
            tn_set_grad_mode(was);
            forget(&s);
        }
        tn_scope_end(mark);
        if (tn_memory().live_tensors) wrong(form_names[form], "tensors are left");
    }
    return fresh;
}

/* --- one tuple of a module -------------------------------------------------------------------- */

static void use_module(tn_module *m) {
    tn_named_list state = tn_module_state_dict(m);
    tn_module *copy = tn_module_copy(m);
    char *text = tn_module_text(m);
    if (text) tn_alloc_free(text, strlen(text) + 1);
    if (copy && state.n >= 0) tn_module_load(copy, state);
    tn_error_take(NULL);
    if (tuple_below(3) == 0) tn_module_to(m, some_dtype(), TN_NO_DEVICE), tn_error_take(NULL);
    tn_named_free(state);
    tn_module_free(copy);
}

static bool module_tuple(const tn_mrow *row, uint64_t seed, tally *sum) {
    static msample s;
    static tuple t[2];
    tn_tensor *result[RESULTS];
    tn_module *m = NULL;
    uint64_t hash;
    int64_t mark = tn_scope_begin();
    int n = 0;
    bool ok, fresh = false;
    at_seed = seed;
    tuple_seed(seed);
    ok = msample_make(&s, row, (int)tuple_below(msample_count(row)),
                      tuple_below(3) ? TN_F32 : some_dtype());
    if (!ok) tn_error_take(NULL);
    memset(t, 0, sizeof t);
    if (ok && tuple_below(3)) tuple_spoil(&t[0], &s.options, s.make.gen);
    if (ok && tuple_below(3)) tuple_spoil(&t[1], &s.inputs, s.call.gen);
    hash = ok ? tuple_hash(&s.options) * 31 + tuple_hash(&s.inputs) : 0;
    if (ok && is_new(sum, hash)) {
        fresh = true;
        alarm(SECONDS);
        m = msample_module(&s);
        if (!m) refusal("made");
        tuple_leaves(&s.inputs);
        if (m) tn_module_train(m, tuple_below(4) != 0);
        ok = m && row->forward && msample_call(&s, m, result, RESULTS, &n);
        if (ok) use("called", result, n);
        if (m && row->forward && !ok) refusal("called");
        if (m) use_module(m);
        alarm(0);
        ok = ok || (m && !row->forward);
        sum->accepted += ok, sum->spoilt_accepted += ok && t[0].spoilt + t[1].spoilt > 0;
        forget(&s.inputs), forget(&s.options);
        if (m) {
            tn_named_list list = tn_module_parameters(m);
            for (int64_t i = 0; i < list.n; i++) tn_zero_grad(list.at[i].tensor);
            tn_named_free(list);
        }
    }
    tn_error_take(NULL);
    tn_module_free(m);
    tn_scope_end(mark);
    if (tn_memory().live_tensors) wrong("module", "tensors are left");
    return fresh;
}

/* --- one tuple of an optimizer ---------------------------------------------------------------- */

#define OPTIMIZER(name) TN_PRIV_DECLARE(tn_orow, tni_optimizer_##name);
#include "optimizers.inc"
#undef OPTIMIZER
static const tn_orow *const optimizers[] = {
#define OPTIMIZER(name) &tni_optimizer_##name,
#include "optimizers.inc"
#undef OPTIMIZER
};
enum { OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

static tn_tensor *some_parameter(const sample *s) {
    bool meta = false;
    tn_tensor *t = tnp_ones(tn_ints_of(TN_DIMS(2, 3).at, tuple_below(3)), TN_F32, TN_NO_DEVICE);
    if (t && tuple_below(3) == 0) t = tuple_tensor(s, t, &meta);
    t = t ? tnp_detach(t) : NULL;
    t = t ? tn_requires_grad(t) : NULL;
    if (t && tuple_below(5)) {
        tn_tensor *g = tnp_ones_like(t, TN_NO_DTYPE, TN_NO_DEVICE);
        tn_set_grad(t, tuple_below(6) ? g : tuple_tensor(s, g, &meta));
    }
    tn_error_take(NULL);
    return t;
}

static bool step_and_load(tn_optimizer *o, const sample *s) {
    tn_named_list state;
    bool ok = tn_optimizer_step(o);
    if (!ok) refusal("step");
    state = tn_optimizer_state_dict(o);
    if (state.n > 0 && tuple_below(2)) {
        bool meta = false;
        tn_named changed[64];
        int64_t n = state.n < 64 ? state.n : 64;
        memcpy(changed, state.at, (size_t)n * sizeof *changed);
        const int64_t k = tuple_below(n);
        changed[k].tensor = tuple_tensor(s, changed[k].tensor, &meta);
        tn_optimizer_load(o, changed, n);
        tn_error_take(NULL);
    }
    tn_named_free(state);
    if (tuple_below(3) == 0) tn_optimizer_set(o, (int)tuple_int(s), "lr", tuple_float());
    if (tuple_below(3) == 0) tn_nn_clip_grad_norm_(tn_tensors_of(s->tensor, 1), tuple_float());
    tn_error_take(NULL);
    if (ok && !tn_optimizer_step(o)) refusal("second step");
    return ok;
}

static bool optimizer_tuple(const tn_orow *row, uint64_t seed, tally *sum) {
    static sample s;
    static tuple t;
    tni_args args;
    tn_optimizer *o = NULL;
    int64_t mark = tn_scope_begin();
    const int64_t n = (tuple_seed(seed), 1 + tuple_below(3));
    bool fresh;
    at_seed = seed;
    memset(&s, 0, sizeof s);
    s.ntensors = 1;
    s.tensor[0] = tnp_ones(TN_DIMS(2, 3), TN_F32, TN_NO_DEVICE);
    for (int64_t i = 0; i < n; i++) s.list[i] = some_parameter(&s);
    s.tensor[0] = s.list[0];
    s.nvalues = 1;
    s.value[0].type = TN_T_TENSORS;
    s.value[0].as.tensors = tn_tensors_of(s.list, n);
    tuple_spoil(&t, &s, row->gen);
    if (tuple_below(2)) s.value[0].as.tensors = tn_tensors_of(s.list, n);
    fresh = is_new(sum, tuple_hash(&s));
    alarm(SECONDS);
    if (fresh) {
        bool ok = tn_bind("calls", 1, row->name, row->gen, s.value, s.nvalues, true, args.at);
        o = ok ? tn_optimizer_make("calls", 2, row, args.at) : NULL;
        if (!o) refusal("made");
        ok = o && step_and_load(o, &s);
        sum->accepted += ok, sum->spoilt_accepted += ok && t.spoilt > 0;
    }
    alarm(0);
    tn_optimizer_free(o);
    for (int64_t i = 0; i < n; i++) tn_zero_grad(s.list[i]);
    tn_scope_end(mark);
    if (tn_memory().live_tensors) wrong("optimizer", "tensors are left");
    return fresh;
}

/* --- all rows --------------------------------------------------------------------------------- */

typedef struct job {
    const tn_row *row;
    const tn_mrow *module;
    const tn_orow *optimizer;
} job;

static job job_at(int64_t i) {
    job j = {NULL, NULL, NULL};
    int64_t modules = 0;
    while (tni_mrows()[modules]) modules++;
    if (i < tn_row_count())
        j.row = tn_row_at(i);
    else if ((i -= tn_row_count()) < modules)
        j.module = tni_mrows()[i];
    else if ((i -= modules) < (int64_t)OPTIMIZERS)
        j.optimizer = optimizers[i];
    return j;
}

static const char *job_name(job j) {
    return j.row ? j.row->name : j.module ? j.module->name : j.optimizer->name;
}

static const char *job_text(int64_t i) {
    const job j = job_at(i);
    return j.row || j.module || j.optimizer ? job_name(j) : NULL;
}

static void one_job(job j, int64_t number, uint64_t seed, int64_t count) {
    static tally sum;
    const int64_t tries = count > 1 ? 30 * count : 1;
    const uint64_t from = count > 1 ? (seed << 32) + ((uint64_t)number << 20) : seed;
    memset(&sum, 0, sizeof sum);
    at_row = job_name(j);
    for (int64_t k = 0; k < tries && sum.tuples < count && failed < 20; k++) {
        if (j.row)
            one_tuple(j.row, from + (uint64_t)k, &sum);
        else if (j.module)
            module_tuple(j.module, from + (uint64_t)k, &sum);
        else
            optimizer_tuple(j.optimizer, from + (uint64_t)k, &sum);
    }
    printf("tuples %s %s %lld accepted %lld drawn %lld\n",
           j.row      ? "operator"
           : j.module ? "module"
                      : "optimizer",
           at_row, (long long)sum.tuples, (long long)sum.accepted, (long long)sum.spoilt_accepted);
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 20, rows = 0;
    static const rows_table tables[] = {{"row", job_text}, {NULL, NULL}};
    tn_context_options o;
    tn_context *context;
    if (!rows_begin(argc, argv, tables)) return 1;
    memset(&o, 0, sizeof o);
    o.memory_cap = 64 << 20;
    o.threads = -1;
    o.no_cache = true;
    context = tn_context_new(&o);
    tn_context_use(context);
    signal(SIGALRM, hangs);
    if (count > MOST) count = MOST;
    for (int64_t i = 0;; i++) {
        const job j = job_at(i);
        if (!j.row && !j.module && !j.optimizer) break;
        if (!rows_take(0, i)) continue;
        one_job(j, i, seed, count);
        rows++;
    }
    tn_context_free(context);
    printf("%lld passed, %lld failed\n", (long long)(rows - (failed > 0)), (long long)failed);
    return failed != 0;
}
