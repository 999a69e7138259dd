/* memory.c - any allocation may fail: every row of operators, modules and optimizers with its k-th
 * allocation failing, k = 1, 2, .. until none is left, once and from there on for ever.
 *
 *     memory [samples=N] [rows.h] [once]      samples a row, 0: all; once: no retry
 *
 * A run is: an operator's call with backward, in place, with out=, or in place of a recorded view
 * with backward, while a recording is made; a module made, called with
 * backward, copied, loaded, saved to a file and loaded from it; an optimizer made, stepped, its
 * state taken and loaded, and a step alone. After a failure: an error that says MEMORY, not one
 * block more than before, inputs, random state and .grad as they were where the run promises all
 * or nothing, and a retry that gives the bits of a run without failures. */
#include "../rows.h"
#include "msample.h"

#include "../../src/optim/optim.h"
#include "../../src/api/ops.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTS = 64, PARAMETERS = 3, LIMIT = 100000 };

/* --- an allocator that fails ------------------------------------------------------------------ */

static struct {
    int64_t calls, fail_at, live; /* fail_at: number of the call that fails, 0: none */
    bool for_ever;
} heap;
static void *heap_alloc(size_t bytes, void *user) {
    void *at;
    (void)user;
    heap.calls++;
    if (heap.fail_at && (heap.for_ever ? heap.calls >= heap.fail_at : heap.calls == heap.fail_at))
        return NULL;
    at = malloc(bytes);
    heap.live += at != NULL;
    return at;
}
static void heap_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    heap.live -= at != NULL;
    free(at);
}

/* --- bits ------------------------------------------------------------------------------------- */

static uint64_t hash;
static void add_bytes(const void *from, size_t n) {
    for (size_t i = 0; i < n; i++) hash = (hash ^ ((const uint8_t *)from)[i]) * 0x100000001b3u;
}
/* Shape and elements in row-major order. */
static void add_tensor(const tn_tensor *t, bool contents) {
    int64_t index[TN_MAX_DIMS] = {0}, at = 0;
    if (!t) {
        add_bytes("none", 4);
        return;
    }
    add_bytes(&t->dtype, 1);
    add_bytes(t->size, (size_t)t->ndim * sizeof *t->size);
    if (!contents || t->flags & TNI_META) return;
    for (int64_t i = 0; i < t->numel; i++) {
        add_bytes(tni_bytes_at(t) + at * tni_dtype_size(t), (size_t)tni_dtype_size(t));
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d];
            index[d] = 0;
        }
    }
}
static bool add_module(const tn_module *m) {
    tn_named_list list = tn_module_state_dict(m);
    const bool ok = list.n >= 0;
    for (int64_t i = 0; i < list.n; i++) add_tensor(list.at[i].tensor, true);
    tn_named_free(list);
    return ok;
}

/* --- one file, in memory ---------------------------------------------------------------------- */

static struct {
    char at[1 << 20];
    int64_t n, place;
} file;
static int file_open(const char *name, int flags, int mode, void *user) {
    (void)name, (void)mode, (void)user;
    if (flags & O_CREAT) file.n = 0;
    file.place = 0;
    return 1000;
}
static int64_t file_read(int fd, void *to, size_t bytes, void *user) {
    const int64_t left = file.n - file.place, n = (int64_t)bytes < left ? (int64_t)bytes : left;
    (void)fd, (void)user;
    memcpy(to, file.at + file.place, (size_t)n);
    file.place += n;
    return n;
}
static int64_t file_write(int fd, const void *from, size_t bytes, void *user) {
    (void)fd, (void)user;
    if (file.n + (int64_t)bytes > (int64_t)sizeof file.at) return -1;
    memcpy(file.at + file.n, from, bytes);
    file.n += (int64_t)bytes;
    return (int64_t)bytes;
}
static int64_t file_size(int fd, void *user) { return (void)fd, (void)user, file.n; }
static int file_done(int fd, void *user) { return (void)fd, (void)user, 0; }
static int file_rename(const char *from, const char *to, void *user) {
    return (void)from, (void)to, (void)user, 0;
}
static int file_remove(const char *name, void *user) { return (void)name, (void)user, 0; }

/* --- what is run ------------------------------------------------------------------------------ */

enum form { PLAIN, IN_PLACE, OUT, IN_VIEW, FORMS };
typedef struct work {
    const char *kind, *name;
    const tn_row *row;
    const tn_mrow *module;
    const tn_orow *optimizer;
    int sample, form, flag, number; /* of an optimizer: the option that is true, the one not 0 */
    bool step_alone;
} work;

static sample s; /* of the run in progress */
static msample ms;
static tn_optimizer *o;
static tn_tensor *given[OUTS], *parameter[PARAMETERS];
static bool published; /* a first result is there: inputs and random state may have changed */

static bool backward(tn_tensor **out, int n) {
    for (int k = 0; k < n; k++) {
        tn_backward_args a;
        if (!out[k] || !(out[k]->flags & TNI_REQUIRES)) continue;
        memset(&a, 0, sizeof a);
        a.t = out[k];
        a.retain_graph = true;
        a.gradient = tnp_ones_like(out[k], TN_NO_DTYPE, TN_NO_DEVICE);
        if (!a.gradient || !tn_backward_at("memory", 2, &a)) return false;
    }
    return true;
}

static bool is_uninitialised(const tn_row *row) {
    return strncmp(row->name, "empty", 5) == 0 || strncmp(row->name, "new_empty", 9) == 0;
}

/* A row that only writes in place, "fill_.Scalar": a leaf cannot be given to it. */
static bool only_inplace(const tn_row *row) {
    size_t base = strcspn(row->schema, ".(");
    return base && row->schema[base - 1] == '_';
}

static bool make_operator(const work *w) {
    const tn_row *row = w->row;
    int n = 0;
    if (!sample_make(&s, row, w->sample, TN_F32, false)) return false;
    if ((w->form == IN_PLACE || w->form == IN_VIEW) && s.value[0].type != TN_T_TENSOR) return false;
    if (w->form == IN_VIEW && s.value[0].as.tensor->dtype != TN_F32) return false;
    if ((w->form == PLAIN || w->form == IN_VIEW) && (row->grad || row->compose) &&
        (w->form == IN_VIEW || !only_inplace(row)))
        for (int t = 0; t < s.ntensors; t++)
            if (s.tensor[t]->dtype == TN_F32 && !sample_is_written(&s, t))
                s.tensor[t]->flags |= TNI_REQUIRES | TNI_LEAF;
    if (w->form != OUT) return true;
    if (!sample_call(&s, TN_PLAIN, given, OUTS, &n) || s.nvalues == SAMPLE_VALUES) return false;
    for (int k = 0; k < n; k++)
        if (!given[k] ||
            !(given[k] = tnp_empty(tni_sizes(given[k]), (tn_dtype)given[k]->dtype, TN_NO_DEVICE)))
            return false;
    memset(&s.value[s.nvalues], 0, sizeof s.value[0]);
    s.value[s.nvalues].name = "out";
    s.value[s.nvalues].type = n == 1 ? TN_T_TENSOR : TN_T_TENSORS;
    s.value[s.nvalues].as.tensors = tn_tensors_of(given, n);
    if (n == 1) s.value[s.nvalues].as.tensor = given[0];
    s.nvalues++;
    return true;
}

/* Self gives way to a view of something that was made of it. */
static bool call_view(tn_tensor **out, int *n) {
    tn_tensor *self = s.value[0].as.tensor, *made, *view;
    bool ok;
    made = tnp_unsqueeze(self, 0);
    if (made) made = tnp_mul_scalar(made, tn_float(1));
    view = made ? tnp_select(made, 0, 0) : NULL;
    if (!view || !tn_record_begin()) return false;
    sample_replace(&s, self, view);
    ok = sample_call(&s, TN_IN_PLACE, out, OUTS, n);
    sample_replace(&s, view, self);
    tn_recording_free(tn_record_end());
    return ok;
}
static bool call_operator(const work *w, tn_tensor **out, int *n) {
    if (w->form == IN_VIEW) return call_view(out, n);
    return sample_call(&s, w->form == IN_PLACE ? TN_IN_PLACE : TN_PLAIN, out, OUTS, n);
}

static bool run_operator(const work *w) {
    tn_tensor *out[OUTS];
    int n = 0;
    if (!call_operator(w, out, &n)) return false;
    published = true;
    if (!backward(out, n)) return false;
    for (int k = 0; k < n; k++) add_tensor(out[k], !is_uninitialised(w->row));
    for (int t = 0; t < s.ntensors; t++) add_tensor(s.tensor[t]->grad, true);
    return true;
}

static bool make_module(const work *w) { return msample_make(&ms, w->module, w->sample, TN_F32); }

static bool call_module(tn_module *m) {
    tn_tensor *out[OUTS];
    int n = 0;
    if (!msample_call(&ms, m, out, OUTS, &n) || !backward(out, n)) return false;
    for (int k = 0; k < n; k++) add_tensor(out[k], true);
    return add_module(m);
}

static bool copy_module(tn_module *m) {
    tn_module *copy = tn_module_copy(m);
    tn_named_list state = tn_module_state_dict(m);
    char *text = tn_module_text(m);
    bool ok = copy && text && state.n >= 0 && tn_module_load(copy, state) &&
              tn_module_save_file(m, "file") && tn_module_load_file(copy, "file") &&
              tn_module_to(copy, TN_F64, TN_NO_DEVICE);
    ok = ok && add_module(copy);
    if (text) tn_alloc_free(text, strlen(text) + 1);
    tn_named_free(state);
    tn_module_free(copy);
    return ok;
}

static bool run_module(const work *w) {
    tn_module *m;
    bool ok;
    published = true; /* the basic guarantee */
    m = msample_module(&ms);
    ok = m && (w->form ? copy_module(m) : !w->module->forward || call_module(m));
    tn_module_free(m);
    return ok;
}

static tn_optimizer *new_optimizer(const work *w) {
    const tn_gen *gen = w->optimizer->gen;
    tn_value v[3];
    tni_args args;
    memset(v, 0, sizeof v);
    v[0].type = TN_T_TENSORS;
    v[0].as.tensors = tn_tensors_of(parameter, PARAMETERS);
    for (int k = 1, p; k < 3; k++) {
        p = k == 1 ? w->flag : w->number;
        v[k].name = gen->param[p].name;
        v[k].type = p ? gen->param[p].type : 0;
        if (v[k].type == TN_T_BOOL)
            v[k].as.boolean = true;
        else
            v[k].as.real = 0.5;
    }
    const int n = 1 + (w->flag > 0) + (w->number > 0);
    if (!w->flag) v[1] = v[2];
    if (!tn_bind("memory", 3, w->optimizer->name, gen, v, n, true, args.at)) return NULL;
    return tn_optimizer_make("memory", 4, w->optimizer, args.at);
}

static bool make_optimizer(const work *w) {
    for (int i = 0; i < PARAMETERS; i++) {
        tn_tensor *g = tnp_full(TN_DIMS(2, 3), tn_float(0.25 * (i + 1)), TN_F32, TN_NO_DEVICE);
        parameter[i] = tnp_full(TN_DIMS(2, 3), tn_float(1 - i), TN_F32, TN_NO_DEVICE);
        if (!g || !tn_requires_grad(parameter[i]) || !tn_set_grad(parameter[i], g)) return false;
    }
    o = w->step_alone ? new_optimizer(w) : NULL;
    return o || !w->step_alone;
}

static void add_optimizer(void) {
    tn_named_list state = tn_optimizer_state_dict(o);
    for (int64_t i = 0; i < state.n; i++) add_tensor(state.at[i].tensor, true);
    tn_named_free(state);
    for (int i = 0; i < PARAMETERS; i++) add_tensor(parameter[i], true);
}

static bool run_optimizer(const work *w) {
    bool ok;
    tn_named_list state;
    if (w->step_alone) return tn_optimizer_step(o);
    published = true;
    o = new_optimizer(w);
    state = tn_optimizer_state_dict(o);
    ok = o && state.n >= 0 && tn_optimizer_load(o, state.at, state.n);
    for (int64_t i = 0; ok && i < state.n; i++) add_tensor(state.at[i].tensor, true);
    tn_named_free(state);
    tn_optimizer_free(o);
    o = NULL;
    return ok;
}

/* --- the sweep -------------------------------------------------------------------------------- */

typedef struct tally {
    int64_t rows, runs, points, held;
} tally;
static tally total[3];
static int64_t passed, failed;
static int samples;
static bool once;

static bool make(const work *w) {
    bool ok = w->row ? make_operator(w) : w->module ? make_module(w) : make_optimizer(w);
    if (!ok) tn_error_take(NULL);
    return ok;
}
static bool run(const work *w) {
    published = false;
    hash = 0xcbf29ce484222325u;
    tn_manual_seed(7);
    return w->row ? run_operator(w) : w->module ? run_module(w) : run_optimizer(w);
}
/* The leaves' gradients go, so that a second run begins as the first. */
static void forget(const work *w) {
    const sample *from = w->row ? &s : &ms.inputs;
    for (int t = 0; !w->optimizer && t < from->ntensors; t++) tn_zero_grad(from->tensor[t]);
}
/* What a failed run may not have changed. */
static uint64_t visible(const work *w) {
    uint8_t state[TN_GENERATOR_BYTES];
    const uint64_t was = hash;
    uint64_t h;
    hash = 1;
    if (w->row) {
        for (int t = 0; t < s.ntensors; t++) add_tensor(s.tensor[t], true);
        for (int t = 0; t < s.ntensors; t++) add_tensor(s.tensor[t]->grad, true);
        tn_generator_state(tn_default_generator(), state);
        add_bytes(state, sizeof state);
    } else if (w->optimizer && o) {
        add_optimizer();
    }
    h = hash, hash = was;
    return h;
}

static bool held(const work *w, const char *what, bool ok, int64_t k) {
    if (ok) return true;
    if (++failed < 30)
        printf("FAILED memory %s %s, sample %d, form %d, allocation %d %s: %s\n", w->kind, w->name,
               w->sample, w->form, (int)k, heap.for_ever ? "and all later" : "", what);
    return false;
}

/* One point; *last: nothing failed. */
static void point(const work *w, int64_t k, uint64_t wanted, tally *sum, bool *last) {
    int64_t mark = tn_scope_begin(), inner, live;
    uint64_t before;
    tn_error_info e;
    bool ok, good = make(w);
    tn_manual_seed(7);
    before = visible(w);
    live = heap.live;
    inner = tn_scope_begin();
    heap.fail_at = heap.calls + k;
    ok = run(w);
    *last = heap.calls < heap.fail_at;
    heap.fail_at = 0;
    e.code = TN_OK;
    good = held(w, "ended with an error untold", tn_error_take(&e) != ok, k) && good;
    good = held(w, "the error is not of memory", ok || e.code == TN_MEMORY, k) && good;
    if (!ok && !published)
        good = held(w, "something visible has changed", visible(w) == before, k) && good;
    tn_scope_end(inner);
    forget(w);
    good = held(w, "a block is left", heap.live == live || (ok && w->step_alone), k) && good;
    if (ok && !w->step_alone) good = held(w, "other bits", hash == wanted, k) && good;
    if (!ok && !once) {
        good = held(w, "a retry fails", run(w), k) && good;
        if (w->step_alone) add_optimizer();
        good = held(w, "a retry gives other bits", hash == wanted, k) && good;
        forget(w);
    }
    tn_error_take(NULL);
    tn_optimizer_free(o);
    o = NULL;
    tn_scope_end(mark);
    if (!*last) sum->points++, sum->held += good;
}

static void sweep(const work *w, tally *sum) {
    int64_t mark = tn_scope_begin();
    bool ok = make(w) && run(w);
    uint64_t wanted;
    if (ok && w->step_alone) add_optimizer();
    wanted = hash;
    forget(w);
    tn_error_take(NULL); /* a form that the sample does not take */
    tn_optimizer_free(o);
    o = NULL;
    tn_scope_end(mark);
    if (!ok) return;
    sum->runs++;
    for (int ever = 0; ever < (once ? 1 : 2); ever++) {
        bool last = false;
        const int64_t had = failed;
        heap.for_ever = ever != 0;
        for (int64_t k = 1; !last && k < LIMIT && failed < had + 3; k++)
            point(w, k, wanted, sum, &last);
    }
}

static void sweep_alone(const work *w, tally *sum) { /* in a context of its own */
    tn_context_options options;
    tn_context *c, *before;
    memset(&options, 0, sizeof options);
    options.allocator.alloc = heap_alloc;
    options.allocator.free = heap_free;
    options.files.open = file_open, options.files.read = file_read;
    options.files.write = file_write, options.files.size = file_size;
    options.files.sync = options.files.close = file_done;
    options.files.rename = file_rename, options.files.remove = file_remove;
    options.no_cache = true;
    options.threads = -1;
    c = tn_context_new(&options);
    before = tn_context_use(c);
    sweep(w, sum);
    tn_context_use(before);
    tn_context_free(c);
    held(w, "blocks are left at the context's end", heap.live == 0, 0);
    heap.live = 0;
}

/* --- all rows --------------------------------------------------------------------------------- */

static work work_of(int kind, const char *name) {
    static const char *const kinds[] = {"operator", "module", "optimizer"};
    work w;
    memset(&w, 0, sizeof w);
    w.kind = kinds[kind];
    w.name = name;
    return w;
}

static void row_ends(int kind, const char *name, const tally *was, int64_t had) {
    total[kind].rows += total[kind].runs > was->runs;
    if (total[kind].runs == was->runs)
        printf("left out: %s: no sample of it runs in float32\n", name);
    passed += failed == had;
}

static void each_operator(void) {
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        const int all = sample_count(row), count = samples && samples < all ? samples : all;
        const tally was = total[0];
        const int64_t had = failed;
        if (!rows_take(0, r)) continue;
        for (int i = 0; i < count; i++)
            for (int form = PLAIN; form < FORMS; form++) {
                work w = work_of(0, row->name);
                w.row = row, w.sample = i, w.form = form;
                if ((form == IN_PLACE || form == IN_VIEW) && !(row->forms & TN_INPLACE)) continue;
                if (form == OUT && !(row->forms & TN_OUT)) continue;
                sweep_alone(&w, &total[0]);
            }
        row_ends(0, row->name, &was, had);
    }
}

static void each_module(void) {
    for (int r = 0; tni_mrows()[r]; r++) {
        const tn_mrow *row = tni_mrows()[r];
        const tally was = total[1];
        const int64_t had = failed;
        if (!rows_take(1, r)) continue;
        for (int i = 0; i < msample_count(row) && (!samples || i < samples); i++)
            for (int form = 0; form < 2; form++) { /* called; copied, loaded and saved */
                work w = work_of(1, row->name);
                w.module = row, w.sample = i, w.form = form;
                sweep_alone(&w, &total[1]);
            }
        row_ends(1, row->name, &was, had);
    }
}

#define OPTIMIZER(name) TN_PRIV_DECLARE(tn_orow, tni_optimizer_##name);
#include "optimizers.inc"
#undef OPTIMIZER
static const tn_orow *const optimizers[] = {
#define OPTIMIZER(name) &tni_optimizer_##name,
#include "optimizers.inc"
#undef OPTIMIZER
};

static const char *module_name(int64_t i) { return tni_mrows()[i] ? tni_mrows()[i]->name : NULL; }
static const char *optimizer_name(int64_t i) {
    return i < (int64_t)(sizeof optimizers / sizeof *optimizers) ? optimizers[i]->name : NULL;
}

/* Each option that is a word or a number apart, and each pair of them that the row takes; but
 * capturable, whose step may be half done where it fails (tn_optimizer_step). */
static void each_optimizer(void) {
    for (size_t r = 0; r < sizeof optimizers / sizeof *optimizers; r++) {
        const tn_orow *row = optimizers[r];
        const tally was = total[2];
        const int64_t had = failed;
        if (!rows_take(2, (int64_t)r)) continue;
        for (int flag = 0; flag < row->gen->nparam; flag++)
            for (int number = 0; number < row->gen->nparam; number++) {
                work w = work_of(2, row->name);
                if (flag && row->gen->param[flag].type != TN_T_BOOL) continue;
                if (flag && row->gen->param[flag].offset == row->capturable) continue;
                if (number && row->gen->param[number].type != TN_T_FLOAT) continue;
                w.optimizer = row, w.flag = flag, w.number = number;
                sweep_alone(&w, &total[2]);
                w.step_alone = true;
                sweep_alone(&w, &total[2]);
            }
        row_ends(2, row->name, &was, had);
    }
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {
        ROWS_OPERATORS, {"module", module_name}, {"optimizer", optimizer_name}, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++) {
        if (strncmp(argv[a], "samples=", 8) == 0) samples = atoi(argv[a] + 8);
        if (strcmp(argv[a], "once") == 0) once = true;
    }
    each_operator();
    each_module();
    each_optimizer();
    printf(once ? "once: " : "promise 4: ");
    for (int k = 0; k < 3; k++)
        printf("%s%lld of %lld points of %lld %ss", k ? ", " : "", (long long)total[k].held,
               (long long)total[k].points, (long long)total[k].rows, work_of(k, "").kind);
    if (!once) printf(" (once and for ever; no leak, all or nothing, a retry gives the same bits)");
    printf("\n");
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
