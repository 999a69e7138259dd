/* scopes.c - every operator, called where scopes are open, nested or none:
 * what is kept, owned, held, moved or retained outlives the scope with the same contents, whatever
 * goes first, input or result; all else is gone with it, to the last tensor and byte.
 *
 *     scopes [SAMPLES [NAME]]     so many samples a row; of rows whose name has NAME in it
 *
 * From the row table and its samples, with and without gradients. Each case runs twice; what the
 * second run leaves behind, tensors or bytes, is an error. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../rows.h"
#include "../ops/sample.h"
#include "api.h"

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))
enum { OUTS = 40 };

static int passed, failed;

/* One call of a row in progress. */
typedef struct deed {
    const tn_row *row;
    int number; /* of the sample */
    bool graph; /* inputs require gradients */
    sample s;
    tn_tensor *out[OUTS];
    int n;
    uint64_t hash[OUTS];
    const char *wrong; /* what did not hold */
} deed;

static bool wrong(deed *d, const char *what) {
    if (!d->wrong) d->wrong = what;
    return false;
}

/* Inputs, in the current scope. */
static bool inputs(deed *d) {
    if (!sample_make(&d->s, d->row, d->number, TN_F32, false)) return wrong(d, "sample");
    for (int t = 0; d->graph && t < d->s.ntensors; t++)
        if (tni_dtype(d->s.tensor[t]->dtype)->category >= TNI_CAT_FLOAT &&
            !sample_is_written(&d->s, t))
            tn_requires_grad(d->s.tensor[t]);
    return tn_ok() || wrong(d, "inputs");
}
static bool call(deed *d) {
    tn_manual_seed(3);
    if (!sample_call(&d->s, TN_PLAIN, d->out, OUTS, &d->n)) return wrong(d, "call");
    for (int k = 0; k < d->n; k++) {
        for (int t = 0; t < d->s.ntensors; t++)
            if (d->out[k] == d->s.tensor[t]) {
                d->n = 0;
                return wrong(d, "a result is an input");
            }
        d->hash[k] = api_hash(d->out[k]);
    }
    return true;
}
static bool as_before(deed *d) {
    for (int k = 0; k < d->n; k++)
        if (api_hash(d->out[k]) != d->hash[k]) return wrong(d, "contents changed");
    return true;
}
static void free_inputs(deed *d) {
    for (int t = 0; t < d->s.ntensors; t++) tn_free(d->s.tensor[t]);
}
static void free_outs(deed *d) {
    for (int k = 0; k < d->n; k++) tn_free(d->out[k]);
}

/* --- no scope --------------------------------------------------------------------------------- */

static void inputs_go_first(deed *d) {
    if (!inputs(d) || !call(d)) return;
    free_inputs(d);
    as_before(d);
    free_outs(d);
}
static void results_go_first(deed *d) {
    if (!inputs(d) || !call(d)) return;
    free_outs(d);
    free_inputs(d);
}
static void results_backwards(deed *d) {
    if (!inputs(d) || !call(d)) return;
    for (int t = d->s.ntensors - 1; t >= 0; t--) tn_free(d->s.tensor[t]);
    while (d->n) as_before(d), tn_free(d->out[--d->n]);
}

/* --- scopes ----------------------------------------------------------------------------------- */

static void nothing_is_kept(deed *d) {
    TN_SCOPE {
        if (inputs(d)) call(d);
    }
}
static void kept_of_a_scope(deed *d) {
    if (!inputs(d)) return;
    TN_SCOPE {
        if (call(d))
            for (int k = 0; k < d->n; k++) tn_keep(d->out[k]);
    }
    as_before(d);
    free_inputs(d);
    as_before(d);
    free_outs(d);
}
static void kept_with_inputs_inside(deed *d) {
    TN_SCOPE {
        TN_SCOPE {
            if (inputs(d) && call(d))
                for (int k = 0; k < d->n; k++) tn_keep(d->out[k]);
        }
        as_before(d);
    }
}
static void kept_twice(deed *d) {
    TN_SCOPE {
        TN_SCOPE {
            if (inputs(d) && call(d))
                for (int k = 0; k < d->n; k++) tn_keep(tn_keep(d->out[k]));
        }
        TN_SCOPE {
            (void)!tn_zeros(TN_DIMS(3));
        }
    }
    as_before(d);
    free_outs(d);
}
static void owned(deed *d) {
    TN_SCOPE {
        TN_SCOPE {
            if (inputs(d) && call(d))
                for (int k = 0; k < d->n; k++) tn_take(d->out[k]);
        }
    }
    as_before(d);
    free_outs(d);
}
static void held(deed *d) {
    TN_SCOPE {
        if (inputs(d) && call(d))
            for (int k = 0; k < d->n; k++) tn_hold(tn_hold(d->out[k]));
    }
    as_before(d);
    free_outs(d);
    as_before(d);
    free_outs(d);
}
static void retained(deed *d) {
    TN_SCOPE {
        if (inputs(d) && call(d))
            for (int k = 0; k < d->n; k++) tn_retain(d->out[k]);
    }
    as_before(d);
    for (int k = 0; k < d->n; k++) tn_release(d->out[k]);
}
static void lent(deed *d) {
    TN_SCOPE {
        if (inputs(d) && call(d))
            for (int k = 0; k < d->n; k++) tn_hold(d->out[k]);
        TN_SCOPE {
            for (int k = 0; k < d->n; k++) tn_retain(d->out[k]), tn_lend(d->out[k]);
        }
        as_before(d);
        for (int k = 0; k < d->n; k++) tn_release(d->out[k]);
    }
}
static void freed_inside(deed *d) {
    TN_SCOPE {
        if (inputs(d) && call(d)) {
            free_inputs(d);
            TN_SCOPE {
                as_before(d);
            }
            free_outs(d);
        }
    }
}
static void freed_in_an_inner_scope(deed *d) {
    TN_SCOPE {
        if (inputs(d) && call(d))
            TN_SCOPE {
                free_outs(d), free_inputs(d);
            }
    }
}
static void left(deed *d) {
    int64_t outer = tn_scope_begin(), mark = tn_scope_begin();
    tn_scope_begin();
    if (inputs(d) && call(d)) tn_scope_leave(mark, d->out, d->n);
    as_before(d);
    tn_scope_leave(outer, d->out, d->n);
    as_before(d);
    free_outs(d);
}
static void by_marks(deed *d) { /* an end closes what was opened above it */
    int64_t mark = tn_scope_begin();
    tn_scope_begin(), tn_scope_begin();
    if (inputs(d) && call(d)) tn_keep(d->out[0]);
    tn_scope_end(mark);
}
static void with_its_list(deed *d) { /* a list's array goes with its members */
    TN_SCOPE {
        if (inputs(d) && call(d)) tn_list_free((tn_list){d->out, d->n, NULL});
        tn_list_free((tn_list){NULL, 0, NULL});
    }
}

/* --- inside call-backs ------------------------------------------------------------------------ */

static bool in_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    deed *d = (deed *)tn_function_user(f);
    int64_t mark = tn_scope_begin(); /* left open: as it was before */
    (void)mark, (void)nin;
    if (!call(d)) return false;
    out[0] = d->n ? d->out[0] : tn_neg(in[0]); /* a row without results */
    return out[0] != NULL;
}
static bool no_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f, (void)grad_out;
    grad_in[0] = NULL;
    return true;
}
static void made_in_a_function(deed *d) {
    static const tn_function_row row = {"made", 1, in_forward, no_backward, NULL};
    TN_SCOPE {
        tn_tensor *out[1] = {NULL}, *x = tn_requires_grad(tn_ones(TN_DIMS(2)));
        if (inputs(d) && tn_function_call(&row, tn_tensors_of(&x, 1), d, out)) {
            const bool any = d->n != 0;
            d->out[0] = tn_take(out[0]);
            d->n = 1;
            if (!any) free_outs(d), d->n = 0;
        } else
            d->n = 0, wrong(d, "function");
    }
    as_before(d);
    free_outs(d);
}

static tn_tensor *in_hook(tn_tensor *grad, void *user) {
    deed *d = (deed *)user;
    tn_scope_begin(); /* left open */
    if (inputs(d)) call(d);
    return tn_mul(grad, grad);
}
static tn_tensor *in_hook_kept(tn_tensor *grad, void *user) {
    deed *d = (deed *)user;
    if (inputs(d) && call(d))
        for (int k = 0; k < d->n; k++) tn_take(d->out[k]);
    return (void)grad, (tn_tensor *)NULL;
}
static void made_in_a_hook(deed *d) {
    tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2))), *grad = NULL;
    uint64_t hash = 0;
    TN_SCOPE {
        tn_hook_add(x, in_hook_kept, d, NULL);
        tn_backward(tn_sum(x));
    }
    as_before(d);
    free_outs(d);
    tn_free(x);
    TN_SCOPE {
        x = tn_requires_grad(tn_ones(TN_DIMS(2)));
        if (!tn_hook_add(x, in_hook, d, NULL)) wrong(d, "hook");
        tn_backward(tn_sum(x));
        hash = api_hash(grad = tn_hold(tn_grad_of(x)));
    }
    if (api_hash(grad) != hash) wrong(d, "the hook's gradient changed");
    tn_free(grad);
}

/* --- gradients and records -------------------------------------------------------------------- */

/* A gradient that a scope made is the leaf's. */
static void gradients_stay(deed *d) {
    uint64_t hash[SAMPLE_TENSORS];
    int64_t had[SAMPLE_TENSORS];
    if (!inputs(d)) return;
    TN_SCOPE {
        if (call(d))
            for (int k = 0; k < d->n; k++)
                if (tn_needs_grad(d->out[k]) && tn_numel(d->out[k]) && tn_ok())
                    tn_backward(tn_sum(tn_abs(d->out[k])), .retain_graph = true);
        tn_error_take(NULL); /* without a gradient by definition */
        for (int t = 0; t < d->s.ntensors; t++) hash[t] = api_hash(tn_grad_of(d->s.tensor[t]));
    }
    for (int t = 0; t < d->s.ntensors; t++) {
        had[t] = tn_owners(tn_grad_of(d->s.tensor[t]));
        if (api_hash(tn_grad_of(d->s.tensor[t])) != hash[t]) wrong(d, "a gradient changed");
        if (had[t] > 1) wrong(d, "a gradient has another owner");
    }
    free_inputs(d);
}
/* The graph of a result outlives the scope of what lies between. */
static void graphs_stay(deed *d) {
    tn_tensor *loss = NULL;
    if (!inputs(d)) return;
    TN_SCOPE {
        if (call(d) && tn_needs_grad(d->out[0])) {
            tn_tensor *part = tn_abs(d->out[0]);
            loss = tn_take(tn_sum(part));
        }
    }
    if (loss) tn_backward(loss);
    tn_error_take(NULL);
    free_inputs(d);
    tn_free(loss);
}
static void recorded(deed *d) {
    tn_recording *r = NULL;
    const bool redraws = sample_draws(d->row);
    if (!inputs(d)) return;
    tn_set_grad_mode(false);
    TN_SCOPE {
        tn_record_begin();
        if (call(d))
            for (int k = 0; k < d->n; k++) tn_keep(d->out[k]);
        r = tn_record_end();
        if (!r) d->n = 0;
        tn_error_take(NULL); /* a row that is not recorded */
    }
    tn_set_grad_mode(true);
    if (r) {
        as_before(d);
        tn_manual_seed(3);
        if (!tn_replay(r)) tn_error_take(NULL);
        free_inputs(d);
        if (!redraws) as_before(d);
        free_outs(d);
    } else
        free_inputs(d);
    tn_recording_free(r);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(deed *d);
} places[] = {
#define PLACE(f) \
    { #f, f }
    PLACE(inputs_go_first),
    PLACE(results_go_first),
    PLACE(results_backwards),
    PLACE(nothing_is_kept),
    PLACE(kept_of_a_scope),
    PLACE(kept_with_inputs_inside),
    PLACE(kept_twice),
    PLACE(owned),
    PLACE(held),
    PLACE(retained),
    PLACE(lent),
    PLACE(freed_inside),
    PLACE(freed_in_an_inner_scope),
    PLACE(left),
    PLACE(by_marks),
    PLACE(with_its_list),
    PLACE(made_in_a_function),
    PLACE(made_in_a_hook),
    PLACE(gradients_stay),
    PLACE(graphs_stay),
    PLACE(recorded),
};

static void report(const char *name, const char *text, const char *place, bool graph,
                   const char *what) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    if (!what && tn_ok()) {
        passed++;
        return;
    }
    failed++;
    tn_error_take(&e);
    printf("FAILED %s [%s] %s%s: %s; %s\n", name, text, place, graph ? ", recorded" : "",
           what ? what : "an error", e.message);
}

static void row_in_place(const tn_row *row, int number, int place, bool graph) {
    deed d;
    api_alive before, after;
    char left_text[80];
    for (int again = 0; again < 2; again++) {
        memset(&d, 0, sizeof d);
        d.row = row, d.number = number, d.graph = graph;
        before = api_count();
        places[place].run(&d);
        after = api_count();
        if (after.tensors != before.tensors || (again && after.bytes != before.bytes)) {
            snprintf(left_text, sizeof left_text, "%lld tensors and %lld bytes are left",
                     (long long)(after.tensors - before.tensors),
                     (long long)(after.bytes - before.bytes));
            wrong(&d, left_text);
        }
        if (d.wrong || !tn_ok()) break;
    }
    report(row->name, d.s.text, places[place].name, graph, d.wrong);
}
static bool writes_self(const tn_row *row) { /* fill_: gives back what it was given */
    const size_t base = strcspn(row->schema, ".(");
    return base && row->schema[base - 1] == '_';
}
static void rows(int samples) {
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        if (!rows_take(0, i) || !row->sample || writes_self(row)) continue;
        for (int k = 0; k < sample_count(row) && k < samples; k++)
            for (int p = 0; p < LENGTH(places); p++)
                for (int graph = 0; graph <= (row->grad || row->compose ? 1 : 0); graph++)
                    row_in_place(row, k, p, graph);
    }
}

int main(int argc, char **argv) {
    tn_context_options o;
    tn_context *c;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    memset(&o, 0, sizeof o);
    setvbuf(stdout, NULL, _IOLBF, 0);
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    rows(argc > 1 ? atoi(argv[1]) : 100);
    tn_context_use(NULL);
    tn_context_free(c);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
