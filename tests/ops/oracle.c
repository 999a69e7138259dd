/* oracle.c - every row's samples against what torch gave (tests/oracle/data, made by
 * tests/oracle/make.py).
 *
 *     oracle FOLDER [rows.h] [paths=FILE] [grids=FOLDER]
 *
 * Compared: dtype, sizes, strides and values of results and of what the call changes; in float64
 * and complex128 also gradients of sum(w . outputs). The values again with inputs in four other
 * layouts, and in place on a slice. Every sample has to be compared in one dtype at least.
 * grids: zeros, ties and equal values in every row with a gradient, in float64: the places where a
 * function is not smooth, or its gradient is divided by zero, are torch's.
 * paths: appends the paths that ran for a value that was right (tests/ops/run.sh).
 *
 * Integers and bool exactly. A float x of a pointwise row may differ from torch's y by 4 units in
 * the last place at |y|; of other rows, in complex numbers, whose parts cancel, and in the
 * pointwise rows named below, by 16 at |y| plus the largest |value| of the output; a gradient by
 * 256 at |y| plus 1 plus that. */
#include "../rows.h"
#include "clauses.h"

#include <pthread.h>
#include <stdio.h>

enum { OUTS = 40, KEEP = 48, LINE = 1 << 16 };

static int passed, failed;
static const char *grids;

/* --- paths ------------------------------------------------------------------------------------ */

#ifdef TNI_COUNT_PATHS
enum { PATHS = 1000 };
static struct {
    const char *name;
    int isa;
    bool ran, proved; /* since the last check began; for a value that was right */
} path[PATHS];
static int npaths;
static pthread_mutex_t path_lock = PTHREAD_MUTEX_INITIALIZER;

void tni_path_ran(const char *name, int isa) {
    int i = 0;
    pthread_mutex_lock(&path_lock);
    while (i < npaths && (path[i].isa != isa || strcmp(path[i].name, name) != 0)) i++;
    if (i < PATHS) path[i].name = name, path[i].isa = isa, path[i].ran = true;
    if (i == npaths && i < PATHS) npaths++;
    pthread_mutex_unlock(&path_lock);
}
static void paths_begin(void) {
    for (int i = 0; i < npaths; i++) path[i].ran = false;
}
static void paths_proved(void) {
    for (int i = 0; i < npaths; i++) path[i].proved = path[i].proved || path[i].ran;
}
static void paths_write(const char *to) {
    FILE *f = to ? fopen(to, "a") : NULL;
    for (int i = 0; f && i < npaths; i++)
        if (path[i].proved) fprintf(f, "%s %d\n", path[i].name, path[i].isa);
    if (f) fclose(f);
}
#else
static void paths_begin(void) {}
static void paths_proved(void) {}
static void paths_write(const char *to) { (void)to; }
#endif

/* --- comparing -------------------------------------------------------------------------------- */

typedef struct oracle {
    FILE *file;
    char line[LINE];
    bool ahead;        /* line holds the next line already */
    uint64_t compared; /* samples of the row, a bit each */
    const tn_row *row;
    sample s;
    char what[80], path[1000];
} oracle;

static bool excepted(const oracle *o) { return sample_differs(o->row, o->what, o->s.text) != NULL; }

static bool next_line(oracle *o) {
    if (o->ahead) return o->ahead = false, true;
    while (fgets(o->line, LINE, o->file))
        if (sscanf(o->line, "grid %d", &sample_grid) != 1 && o->line[0] != '#') return true;
    return false;
}

static void right(void) {
    passed++;
    paths_proved();
}
static void wrong(oracle *o, const char *format, ...) TNI_PRINTF(2, 3);
static void wrong(oracle *o, const char *format, ...) {
    va_list list;
    tn_error_info e;
    failed++;
    printf("FAILED %s [%s] %s %s: ", o->row->name, o->s.text, tn_dtype_name(o->s.dtype), o->what);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
}

/* Pointwise rows whose expression subtracts nearly equal numbers: torch's value is itself off by
 * some units of the larger ones, so they are held to the largest value of the output. */
static const char *const cancelling[] = {"gelu_erf", "gelu_erf_backward", "gelu_tanh"};
static bool is_exact_form(const tn_row *row) {
    for (size_t i = 0; i < sizeof cancelling / sizeof *cancelling; i++)
        if (strcmp(cancelling[i], row->name) == 0) return false;
    return row->rules != 0;
}

/* Allowed units in the last place: what docs/numerics.md states. */
static double allowed(const tn_row *row, int dtype) {
    return (is_exact_form(row) ? 4 : 16) * sample_epsilon(dtype);
}

static int64_t element_at(const tn_tensor *t, int64_t i) {
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at += i % t->size[d] * t->stride[d];
        i /= t->size[d];
    }
    return at;
}

static bool close_enough(double x, double y, double tolerance, double scale) {
    if (x == y || (x != x && y != y)) return true;
    return fabs(x - y) <= tolerance * (fabs(y) + scale);
}

/* The values line against the kept elements of t; of result k, whose absolute values may be all
 * that is unique; -1: of another tensor. */
static bool compare_values(oracle *o, const tn_tensor *t, int k) {
    int64_t step = t->numel <= KEEP ? 1 : (t->numel + KEEP - 1) / KEEP;
    bool is_float = tni_dtype(t->dtype)->category >= TNI_CAT_FLOAT,
         is_complex = tni_is_complex(t->dtype);
    double want[2 * KEEP + 2], scale = 0, tolerance = allowed(o->row, t->dtype);
    char *at = o->line;
    bool phase;
    int n = 0, per = is_complex ? 2 : 1;
    if (t->numel == 0) return true;
    for (int64_t i = 0; i < t->numel; i += step)
        for (int p = 0; p < per; p++) {
            char *end;
            if (is_float)
                want[n] = strtod(at, &end);
            else {
                long long v = strtoll(at, &end, 10);
                tn_scalar s =
                    tni_element(tni_bytes_at(t) + element_at(t, i) * tni_dtype_size(t), t->dtype);
                if (end == at || s.integer != v)
                    return wrong(o, "element %lld is %lld, torch gives %lld", (long long)i,
                                 (long long)s.integer, v),
                           false;
            }
            if (end == at) return wrong(o, "the oracle's line ends early"), false;
            at = end;
            if (is_float && fabs(want[n]) > scale && fabs(want[n]) < 1e300) scale = fabs(want[n]);
            n++;
        }
    if (!is_float) return true;
    if (k >= 0 && sample_oracle_has(o->row, "free", k)) return true;
    phase = k >= 0 && sample_oracle_has(o->row, "phase", k);
    for (int i = 0; phase && i < n; i += per)
        want[i] = is_complex ? hypot(want[i], want[i + 1]) : fabs(want[i]);
    scale = is_exact_form(o->row) && !is_complex ? 1e-300 : scale + 1e-300;
    if (strncmp(o->what, "grad", 4) == 0)
        scale += 1, tolerance *= 16;
    else if (sample_grid)
        tolerance *= 4096; /* values have their own run */
    n = 0;
    for (int64_t i = 0; i < t->numel; i += step) {
        tn_scalar s = tni_element(tni_bytes_at(t) + element_at(t, i) * tni_dtype_size(t), t->dtype);
        for (int p = 0; p < per; p++, n++) {
            double has = p ? s.imaginary : s.real;
            if (phase && p) continue;
            if (phase) has = hypot(s.real, s.imaginary);
            double denormal = t->dtype == TN_F16                          ? 0x1p-24
                              : t->dtype == TN_F64 || t->dtype == TN_C128 ? 0
                                                                          : 0x1p-149;
            if (close_enough(has, want[n], tolerance, scale) || fabs(has - want[n]) <= denormal)
                continue;
            if (fabs(want[n]) > 65504 && t->dtype == TN_F16 && fabs(has) > 65504)
                continue; /* f64 has more range */
            if (fabs(want[n]) > 3.4028234e38 && t->dtype != TN_F64 && fabs(has) > 3.4028234e38)
                continue;
            return wrong(o, "element %lld is %.17g, torch gives %.17g", (long long)i, has, want[n]),
                   false;
        }
    }
    return true;
}

static bool compare_shape(oracle *o, const tn_tensor *t, bool strides) {
    char word[16];
    int ndim, n, at = 0;
    if (sscanf(o->line, "%*s %15s %d%n", word, &ndim, &at) < 2 &&
        sscanf(o->line, "%*s %*d %15s %d%n", word, &ndim, &at) < 2)
        return wrong(o, "the oracle's line cannot be read"), false;
    if (sample_dtype(word) != (tn_dtype)t->dtype)
        return wrong(o, "dtype %s, torch gives %s", tn_dtype_name((tn_dtype)t->dtype), word), false;
    if (ndim != t->ndim) return wrong(o, "%d dimensions, torch gives %d", t->ndim, ndim), false;
    for (int d = 0; d < ndim * (strides ? 2 : 1); d++) {
        long long v;
        int64_t has = d < ndim ? t->size[d] : t->stride[d - ndim];
        sscanf(o->line + at, "%lld%n", &v, &n);
        at += n;
        if (v != has)
            return wrong(o, "%s %d is %lld, torch gives %lld", d < ndim ? "size" : "stride",
                         d % ndim, (long long)has, v),
                   false;
    }
    return true;
}

static void skip_sample(oracle *o) {
    while (next_line(o))
        if (strncmp(o->line, "sample", 6) == 0) {
            o->ahead = true;
            return;
        }
}

static void check_grads(oracle *o) {
    tn_tensor *grads[SAMPLE_TENSORS];
    bool made = false, ok = true;
    while (ok && next_line(o)) {
        int k;
        if (strncmp(o->line, "sample", 6) == 0) {
            o->ahead = true;
            break;
        }
        if (sscanf(o->line, "grad %d", &k) != 1 || k >= o->s.ntensors) continue;
        snprintf(o->what, sizeof o->what, "grad of tensor %d", k);
        if (!made && !sample_grads(&o->s, TN_PLAIN, grads)) {
            wrong(o, "backward fails");
            ok = false;
            break;
        }
        made = true;
        if (!grads[k]) { /* zero where torch has zeros */
            bool zero = true;
            next_line(o);
            for (char *c = o->line; *c; c++) zero = zero && strchr("0x.p+- \n", *c) != NULL;
            if (!zero) wrong(o, "no gradient arrives");
            continue;
        }
        ok = compare_shape(o, grads[k], false) && next_line(o) &&
             (excepted(o) || compare_values(o, grads[k], -1));
        if (ok) right();
    }
    if (!ok) skip_sample(o);
}

/* The lines "after k": the tensors that the call changed. */
static bool check_changed(oracle *o, bool strides) {
    int k;
    while (next_line(o)) {
        if (sscanf(o->line, "after %d", &k) != 1) return o->ahead = true;
        snprintf(o->what, sizeof o->what, "tensor %d after the call", k);
        if (k >= o->s.ntensors || !compare_shape(o, o->s.tensor[k], strides) || !next_line(o) ||
            !compare_values(o, o->s.tensor[k], -1))
            return false;
    }
    return true;
}

static bool check_results(oracle *o, tn_tensor **out, int n, int nout, const char *how) {
    const bool strides = !how[0];
    char why[200];
    if (n != nout) return wrong(o, "%d results, torch gives %d%s", n, nout, how), false;
    for (int k = 0; k < n; k++) {
        snprintf(o->what, sizeof o->what, "result %d", k);
        if (!next_line(o)) return wrong(o, "the oracle's lines end early"), false;
        if (excepted(o)) {
            if (!compare_shape(o, out[k], strides) || !next_line(o)) return false;
            continue;
        }
        snprintf(o->what, sizeof o->what, "result %d%s", k, how);
        if (!compare_shape(o, out[k], strides) || !next_line(o) || !compare_values(o, out[k], k))
            return false;
    }
    if (!clauses_hold(&o->s, out, n, why)) return wrong(o, "%s%s", why, how), false;
    return check_changed(o, !how[0]);
}

/* The sample's values once more from inputs in another layout; `in_place`: also written there. */
static void check_layout(oracle *o, int i, tn_dtype dtype, int nout, int layout, bool in_place) {
    tn_tensor *out[OUTS];
    static const char *const names[] = {"", ", inputs transposed",    ", inputs sliced",
                                        "", ", inputs channels last", ", inputs of mixed layouts"};
    const char *how = in_place ? ", in place on a slice" : names[layout];
    int n;
    tn_error_info e;
    o->ahead = false;
    if (!sample_make(&o->s, o->row, i, dtype, false) || !sample_relayout(&o->s, layout)) {
        wrong(o, "%s", "no such sample");
        return;
    }
    snprintf(o->what, sizeof o->what, "call%s", how);
    paths_begin();
    tn_manual_seed(7);
    if (sample_call(&o->s, in_place ? TN_IN_PLACE : TN_PLAIN, out, OUTS, &n)) {
        if (check_results(o, out, n, nout, how)) right();
        return;
    }
    tn_error_peek(&e);
    if (!strstr(e.message, "stride")) wrong(o, "fails"); /* view() refuses such a layout */
    tn_error_take(NULL);
}

static void check_layouts(oracle *o, int i, tn_dtype dtype, int nout, bool in_place) {
    const long at = ftell(o->file);
    if (!sample_draws(o->row) && !sample_reads_memory(o->row) && o->s.ntensors)
        for (int layout = SAMPLE_TRANSPOSED; layout <= SAMPLE_MIXED + in_place; layout++) {
            const bool last = layout > SAMPLE_MIXED;
            int64_t mark;
            if (layout == SAMPLE_EXPANDED) continue;
            mark = tn_scope_begin();
            check_layout(o, i, dtype, nout, last ? SAMPLE_SLICED : layout, last);
            tn_scope_end(mark);
            fseek(o->file, at, SEEK_SET);
        }
    o->ahead = false;
}

static void check_sample(oracle *o, int i, tn_dtype dtype, int nout) {
    tn_tensor *out[OUTS];
    int n;
    bool ok, in_place;
    const long at = ftell(o->file);
    snprintf(o->what, sizeof o->what, "call");
    if (!sample_make(&o->s, o->row, i, dtype, false)) {
        wrong(o, "%s", o->s.error);
        skip_sample(o);
        return;
    }
    tn_manual_seed(7);
    paths_begin();
    if (!sample_call(&o->s, TN_PLAIN, out, OUTS, &n)) {
        if (!excepted(o) || dtype == TN_F32 || dtype == TN_F64)
            wrong(o, "fails, torch takes it");
        else
            tn_error_take(NULL);
        skip_sample(o);
        return;
    }
    o->compared |= (uint64_t)1 << i;
    ok = check_results(o, out, n, nout, "");
    if (!ok) {
        skip_sample(o);
        return;
    }
    right();
    in_place = o->row->forms & TN_INPLACE && nout == 1 && o->s.value[0].type == TN_T_TENSOR &&
               o->s.value[0].as.tensor->dtype == out[0]->dtype &&
               tni_same_shape(o->s.value[0].as.tensor, out[0]);
    paths_begin();
    check_grads(o);
    if (sample_grid) return;
    fseek(o->file, at, SEEK_SET);
    check_layouts(o, i, dtype, nout, in_place);
    skip_sample(o);
}

/* Whether the row's gradients are in this folder, or it writes what it is given. */
static bool has_gradients(oracle *o, const char *folder) {
    bool found = false;
    snprintf(o->path, sizeof o->path, "%s/%s.txt", folder, o->row->name);
    FILE *f = fopen(o->path, "r");
    while (f && !found && fgets(o->line, LINE, f)) found = strncmp(o->line, "grad ", 5) == 0;
    if (f) fclose(f);
    const unsigned lists = TN_PROP_MUTATED | TN_PROP_LISTS;
    return found || (!o->row->grad && (o->row->gen->props & lists) == lists);
}

static void check_row(const char *folder, const tn_row *row) {
    static oracle o;
    memset(&o, 0, sizeof o);
    o.row = row;
    if (grids && !has_gradients(&o, folder)) return;
    snprintf(o.path, sizeof o.path, "%s/%s.txt", grids ? grids : folder, row->name);
    o.file = fopen(o.path, "r");
    if (!o.file) {
        failed++;
        printf("FAILED %s has no values of torch: run tests/oracle/make.py\n", row->name);
        return;
    }
    while (next_line(&o)) {
        int i, nout;
        char word[16];
        int64_t mark = tn_scope_begin();
        if (sscanf(o.line, "sample %d %15s %d", &i, word, &nout) == 3 && i < sample_count(row))
            check_sample(&o, i, sample_dtype(word), nout);
        tn_scope_end(mark);
    }
    fclose(o.file);
    sample_grid = 0;
    for (int i = 0; !grids && i < sample_count(row); i++)
        if (!(o.compared >> i & 1)) {
            failed++;
            printf("FAILED %s: sample %d is compared with torch in no dtype\n", row->name, i);
        }
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "tests/oracle/data", *paths = NULL;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 2; a < argc; a++)
        if (strncmp(argv[a], "paths=", 6) == 0)
            paths = argv[a] + 6;
        else if (strncmp(argv[a], "grids=", 6) == 0)
            grids = argv[a] + 6;
    for (int64_t r = 0; r < tn_row_count(); r++)
        if (rows_take(0, r)) check_row(folder, tn_row_at(r));
    tn_context_free(NULL);
    paths_write(paths);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
