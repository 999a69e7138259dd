/* loads.c - states loaded into every module row, whole and spoilt, strict and not: what fits is
 * taken over, converted, into the same tensors; what does not is refused, and then nothing has
 * changed. Beside a model of torch's load_state_dict: a shape is refused however strict it is,
 * missing and unexpected names only when it is; of tied tensors the last given stands.
 *
 * A module is made twice: one gives its state, one, two containers deep, takes it. */
#include "../rows.h"
#include "msample.h"

#include <math.h>

enum { ENTRIES = 160, ELEMENTS = 4096 };
static long passed, failed;
static char about[300];

static bool check(bool ok, const char *what) {
    passed += ok, failed += !ok;
    if (!ok && failed < 30) printf("FAILED %s: %s\n", about, what);
    return ok;
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* Element k of entry i: small integers, exact in every dtype. */
static double pattern(int64_t i, int64_t k) { return (double)((5 * i + 3 * k) % 2); }
static tn_tensor *patterned(const tn_tensor *like, tn_dtype dtype, int64_t i) {
    static double data[ELEMENTS];
    tn_ints shape = tn_shape(like);
    if (tn_numel(like) > ELEMENTS) return NULL;
    for (int64_t k = 0; k < tn_numel(like); k++) data[k] = pattern(i, k);
    return tnp_to_dtype(tn_from(data, shape, TN_F64), dtype, false, true);
}
static bool is_patterned(const tn_tensor *t, int64_t i) {
    static double data[ELEMENTS];
    if (!tn_read_f64(t, data, tn_numel(t))) return false;
    for (int64_t k = 0; k < tn_numel(t); k++)
        if (data[k] != pattern(i, k)) return false;
    return true;
}
static bool is_filled(const tn_tensor *t, double value) {
    static double data[ELEMENTS];
    if (!tn_read_f64(t, data, tn_numel(t))) return false;
    for (int64_t k = 0; k < tn_numel(t); k++)
        if (data[k] != value) return false;
    return true;
}

/* --- one load --------------------------------------------------------------------------------- */

typedef struct taker {
    tn_module *outer;   /* Sequential(Sequential(module)) */
    tn_named_list here; /* of outer */
    tn_dtype dtype[ENTRIES];
    bool needs[ENTRIES];
} taker;

/* What is loaded: the entry of `here` for which each is meant, -1: none; fits: of that shape. */
typedef struct given {
    tn_named at[ENTRIES + 2];
    char name[ENTRIES + 2][120];
    int64_t of[ENTRIES + 2], n;
    bool fits[ENTRIES + 2];
} given;

static void whole(given *g, const taker *t) {
    g->n = t->here.n;
    for (int64_t i = 0; i < g->n; i++) {
        snprintf(g->name[i], sizeof g->name[i], "%s", t->here.at[i].name);
        g->at[i].name = g->name[i];
        g->at[i].tensor = patterned(t->here.at[i].tensor, t->dtype[i], i);
        g->of[i] = i;
        g->fits[i] = true;
    }
}

static void sevens(const taker *t) {
    bool mode = tn_set_grad_mode(false);
    for (int64_t i = 0; i < t->here.n; i++) tnp_fill_(t->here.at[i].tensor, tn_int(1));
    for (int64_t i = 0; i < t->here.n; i++)
        if (tn_dtype_of(t->here.at[i].tensor) != TN_BOOL)
            tnp_fill_(t->here.at[i].tensor, tn_int(7));
    tn_set_grad_mode(mode);
}

static void load(const taker *t, const given *g, bool strict, const char *what) {
    int64_t from[ENTRIES], wrong_shapes = 0, missing = 0, unexpected = 0;
    tn_error_info e = {TN_OK, "", NULL, 0};
    bool expected, ok;
    char text[160];
    for (int64_t i = 0; i < t->here.n; i++) from[i] = -1;
    for (int64_t i = 0; i < g->n; i++) {
        unexpected += g->of[i] < 0;
        wrong_shapes += !g->fits[i];
        if (g->of[i] >= 0) from[g->of[i]] = i;
    }
    for (int64_t i = 0; i < t->here.n; i++) missing += from[i] < 0;
    expected = !wrong_shapes && (!strict || !(missing || unexpected));
    sevens(t);
    ok = tn_module_load_at(__FILE__, __LINE__, t->outer, g->at, g->n, strict);
    snprintf(text, sizeof text, "%s, %s: %s", what, strict ? "strict" : "not strict",
             ok ? "taken" : "refused");
    check(ok == expected, text);
    if (tn_error_take(&e)) {
        check(!ok && e.code == TN_INVALID, text);
        check(!wrong_shapes || strstr(e.message, "size mismatch for "), text);
        check(!(strict && missing) || strstr(e.message, "missing ("), text);
        check(!(strict && unexpected) || strstr(e.message, "unexpected ("), text);
    }
    for (int64_t i = 0; i < t->here.n; i++) {
        tn_tensor *now = t->here.at[i].tensor;
        check(tn_dtype_of(now) == t->dtype[i] && tn_needs_grad(now) == t->needs[i], text);
        check(ok && from[i] >= 0 ? is_patterned(now, i)
                                 : is_filled(now, tn_dtype_of(now) == TN_BOOL ? 1 : 7),
              text);
    }
}
static void load_both(const taker *t, const given *g, const char *what) {
    load(t, g, true, what);
    load(t, g, false, what);
}

/* --- spoilt lists ----------------------------------------------------------------------------- */

static void names_spoilt(const taker *t, int64_t i) {
    static const char *const forms[] = {"x%s", "%s.", "%sx", ".%s", "0.%s", "%s.weight"};
    given g;
    for (int k = 0; k < 6; k++) { /* another name: one missing, one unexpected */
        whole(&g, t);
        snprintf(g.name[i], sizeof g.name[i], forms[k], t->here.at[i].name);
        g.of[i] = -1;
        load_both(t, &g, forms[k]);
    }
    whole(&g, t);
    snprintf(g.name[i], sizeof g.name[i], "%s", strchr(t->here.at[i].name, '.') + 1);
    g.of[i] = -1;
    load_both(t, &g, "a prefix less");
    whole(&g, t); /* one missing */
    g.n--;
    if (i < g.n) g.at[i] = g.at[g.n], g.of[i] = g.of[g.n];
    load_both(t, &g, "one is missing");
    whole(&g, t); /* one more */
    g.at[g.n].name = "other", g.at[g.n].tensor = g.at[i].tensor;
    g.of[g.n] = -1, g.fits[g.n++] = true;
    load_both(t, &g, "one too many");
}

static void shapes_spoilt(const taker *t, int64_t i) {
    const tn_tensor *now = t->here.at[i].tensor;
    const int n = tn_ndim(now);
    given g;
    for (int k = 0; k < 4; k++) {
        whole(&g, t);
        if (n == 0 && k != 1) continue; /* torch takes one element of a vector */
        g.fits[i] = false;
        if (k == 0) g.at[i].tensor = tnp_unsqueeze(g.at[i].tensor, 0);
        if (k == 1) g.at[i].tensor = tnp_zeros(TN_DIMS(2, 1), t->dtype[i], TN_CPU);
        if (k == 2) g.at[i].tensor = tnp_select(g.at[i].tensor, 0, 0);
        if (k == 3) g.at[i].tensor = tnp_cat(TN_LIST(g.at[i].tensor, g.at[i].tensor), n - 1);
        if (k == 1 && n == 2 && tn_size(now, 0) == 2 && tn_size(now, 1) == 1) continue;
        load_both(t, &g, "another shape");
        g.at[g.n].name = "other", g.at[g.n].tensor = g.at[i].tensor; /* and an unexpected one */
        g.of[g.n] = -1, g.fits[g.n++] = true;
        load_both(t, &g, "another shape, and one too many");
    }
}

static void dtypes_and_layouts(const taker *t) {
    static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_F16,  TN_BF16, TN_I64,
                                      TN_I32, TN_U8,  TN_BOOL, TN_C64};
    given g;
    for (int d = 0; d < 9; d++) {
        whole(&g, t);
        for (int64_t i = 0; i < g.n; i++)
            g.at[i].tensor = patterned(t->here.at[i].tensor, dtypes[d], i);
        load_both(t, &g, tn_dtype_name(dtypes[d]));
    }
    whole(&g, t);
    for (int64_t i = 0; i < g.n; i++)
        if (tn_ndim(g.at[i].tensor) > 1)
            g.at[i].tensor =
                tnp_transpose(tnp_contiguous(tnp_transpose(g.at[i].tensor, 0, 1)), 0, 1);
    load_both(t, &g, "transposed in memory");
    whole(&g, t);
    for (int64_t i = 0; i < g.n / 2; i++) { /* the other way round */
        tn_named one = g.at[i];
        int64_t of = g.of[i];
        g.at[i] = g.at[g.n - 1 - i], g.of[i] = g.of[g.n - 1 - i];
        g.at[g.n - 1 - i] = one, g.of[g.n - 1 - i] = of;
    }
    load_both(t, &g, "in another order");
}

static void its_own_state(const taker *t) {
    sevens(t);
    check(tn_module_load_at(__FILE__, __LINE__, t->outer, t->here.at, t->here.n, true), "own");
    for (int64_t i = 0; i < t->here.n; i++)
        check(is_filled(t->here.at[i].tensor, t->dtype[i] == TN_BOOL ? 1 : 7), "own values");
}

/* --- modules ---------------------------------------------------------------------------------- */

static tn_module *within(tn_module *m) {
    return tn_nn_sequential(TN_MODULES(tn_nn_sequential(TN_MODULES(m))));
}

/* One module under two names: both are in the state, and what is given last stands. */
static void tied(tn_module *m) {
    taker t;
    given g;
    memset(&t, 0, sizeof t);
    t.outer = tn_nn_module_list(TN_MODULES(tn_module_hold(m), m));
    t.here = tn_module_state_dict(t.outer);
    check(t.outer && t.here.n > 0 && t.here.n % 2 == 0, "both names of tied tensors");
    for (int64_t i = 0; i < t.here.n; i++) t.dtype[i] = tn_dtype_of(t.here.at[i].tensor);
    whole(&g, &t);
    check(tn_module_load_at(__FILE__, __LINE__, t.outer, g.at, g.n, true), "tied, all");
    for (int64_t i = 0; i < g.n / 2; i++)
        check(t.here.at[i].tensor == t.here.at[i + g.n / 2].tensor &&
                  is_patterned(t.here.at[i].tensor, i + g.n / 2),
              "tied: the last stands");
    check(tn_module_load_at(__FILE__, __LINE__, t.outer, g.at, g.n / 2, false), "tied, half");
    for (int64_t i = 0; i < g.n / 2; i++)
        check(is_patterned(t.here.at[i].tensor, i), "tied: the first alone");
    check(!tn_module_load_at(__FILE__, __LINE__, t.outer, g.at, g.n / 2, true), "tied, strict");
    tn_error_take(NULL);
    tn_named_free(t.here);
    tn_module_free(t.outer);
}

static void sample_of(const tn_mrow *row, int number) {
    msample m;
    taker t;
    tn_module *made = NULL;
    memset(&t, 0, sizeof t);
    snprintf(about, sizeof about, "%s, sample %d", row->name, number);
    if (msample_make(&m, row, number, TN_F32)) made = msample_module(&m);
    if (!check(made != NULL, "made")) return;
    t.outer = within(made);
    t.here = tn_module_state_dict(t.outer);
    check(t.outer && t.here.n >= 0 && t.here.n <= ENTRIES, "has a state");
    for (int64_t i = 0; i < t.here.n; i++) {
        t.dtype[i] = tn_dtype_of(t.here.at[i].tensor);
        t.needs[i] = tn_needs_grad(t.here.at[i].tensor);
    }
    dtypes_and_layouts(&t);
    for (int64_t i = 0; i < t.here.n; i++) {
        int64_t mark = tn_scope_begin();
        names_spoilt(&t, i);
        shapes_spoilt(&t, i);
        tn_scope_end(mark);
    }
    its_own_state(&t);
    if (t.here.n) tied(tn_module_copy(made));
    tn_named_free(t.here);
    tn_module_free(t.outer);
    check(tn_ok(), "no error is left");
    tn_error_print();
}

static const char *module_name(int64_t i) {
    return i < tn_mrow_count() ? tn_mrow_at(i)->name : NULL;
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {{"module", module_name}, {NULL, NULL}};
    long rows = 0, states = 0;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int64_t r = 0; r < tn_mrow_count(); r++) {
        if (!rows_take(0, r)) continue;
        rows++;
        for (int i = 0; i < msample_count(tn_mrow_at(r)); i++, states++) {
            int64_t mark = tn_scope_begin();
            sample_of(tn_mrow_at(r), i);
            tn_scope_end(mark);
            check(tn_memory().live_tensors == 0, "nothing is left");
        }
    }
    printf("states loaded into %ld modules of %ld rows\n", states, rows);
    printf("%ld passed, %ld failed\n", passed, failed);
    tn_context_free(NULL);
    return failed != 0;
}
