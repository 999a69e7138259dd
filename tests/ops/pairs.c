/* pairs.c - operators with their options in pairs, beside torch's results, gradients and refusals.
 *
 *     pairs FOLDER [rows.h]
 *
 * FOLDER: tests/oracle/pairs, made by tests/oracle/pairs.py: for each row with options its cases,
 * "! dtype grid layout sample", then what torch gives: "o" of a result, "a" of a tensor that the
 * call changed, "g" of a gradient; or "? dtype grid layout sample", which torch refuses. A row
 * with options that has no such file, or an option that its file does not name, fails.
 *
 * Integers exactly; floats within 16 units in the last place of the largest, gradients within 256
 * (as tests/ops/oracle.c, which compares element by element). */
#include "../rows.h"
#include "digest.h"

#include <math.h>
#include <stdio.h>

enum { OUTS = 40, LINE = 4096 };

static int passed, failed, cases, refused, nrows, pairs;

typedef struct state {
    FILE *file;
    char line[LINE];
    bool ahead;
    const tn_row *row;
    tn_row as; /* the row with the case as its sample */
    sample s;
    int layout;
} state;

/* Whether .differs of the row leaves out this line: "g K" a gradient, "o" the result. .oracle
 * leaves out results that are unique up to a phase, or less. */
static bool differs(const state *o, const char *line, int result) {
    char place[40];
    if (line[0] == 'o' && (sample_oracle_has(o->row, "phase", result) ||
                           sample_oracle_has(o->row, "free", result)))
        return true;
    if (line[0] == 'g')
        snprintf(place, sizeof place, "grad of tensor %d", atoi(line + 1));
    else if (line[0] == 'o')
        snprintf(place, sizeof place, "result %d", result);
    else
        return false;
    return sample_differs(o->row, place, o->as.sample) != NULL;
}

static void wrong(const state *o, const char *what, const char *why) {
    tn_error_info e;
    failed++;
    printf("FAILED %s [%s] %s, layout %d, grid %d: %.4s: %s\n", o->row->name, o->as.sample,
           tn_dtype_name(o->s.dtype), o->layout, sample_grid, what, why);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
}

static bool next_line(state *o) {
    if (o->ahead) return o->ahead = false, true;
    while (fgets(o->line, LINE, o->file))
        if (o->line[0] != '#' && o->line[0] != '\n') {
            o->line[strcspn(o->line, "\n")] = 0;
            return true;
        }
    return false;
}

static void skip(state *o) {
    while (next_line(o) && !(o->ahead = o->line[0] == '!' || o->line[0] == '?')) {}
}

/* Gradients of sum(w . outputs), as tests/oracle/pairs.py weighs them. */
static bool make_grads(state *o, tn_tensor **grads) {
    if (!sample_make(&o->s, &o->as, 0, o->s.dtype, false)) return false;
    o->s.row = o->row;
    return sample_grads(&o->s, TN_PLAIN, grads);
}

/* at: the number of a result, of no meaning elsewhere. */
static bool check_line(state *o, const char *rest, int at, const tn_tensor *t, bool strides) {
    const double units = o->line[0] == 'g' ? 256 : 16;
    char error[300];
    digest d;
    if (!digest_read(&d, rest)) return wrong(o, o->line, "the oracle's line cannot be read"), false;
    if (!t) { /* zero where torch has zeros */
        if (strstr(rest, ") 0 0")) return true;
        return wrong(o, o->line, "no gradient arrives"), false;
    }
    if (digest_is(&d, t, strides, units, error) || differs(o, o->line, at)) return true;
    return wrong(o, o->line, error), false;
}

/* The lines of what torch gives. */
static void check_results(state *o, tn_tensor **out, int n) {
    tn_tensor *grads[SAMPLE_TENSORS];
    bool made = false, ok = true;
    int at = 0, k, used;
    while (next_line(o) && !(o->ahead = o->line[0] == '!' || o->line[0] == '?')) {
        if (!ok) continue;
        if (o->line[0] == 'o') {
            ok = at < n && check_line(o, o->line + 2, at, out[at], !o->layout);
            if (at++ >= n) wrong(o, o->line, "torch gives more results");
        } else if (sscanf(o->line, "a %d %n", &k, &used) == 1 && k < o->s.ntensors) {
            ok = check_line(o, o->line + used, 0, o->s.tensor[k], !o->layout);
        } else if (sscanf(o->line, "g %d %n", &k, &used) == 1 && k < o->s.ntensors) {
            if (!made && !(made = make_grads(o, grads)))
                wrong(o, o->line, "backward fails"), ok = false;
            ok = ok && check_line(o, o->line + used, 0, grads[k], false);
        } else
            wrong(o, o->line, "the oracle's line cannot be read"), ok = false;
    }
    if (ok && at != n)
        wrong(o, "call", "torch gives fewer results");
    else if (ok)
        passed++;
}

static void check_case(state *o, const char *text, tn_dtype dtype) {
    const bool refuses = o->line[0] == '?';
    static char kept[LINE];
    tn_tensor *out[OUTS];
    int n = 0;
    bool taken;
    strcpy(kept, text);
    o->as = *o->row;
    o->as.sample = kept;
    cases++, refused += refuses;
    if (!sample_make(&o->s, &o->as, 0, dtype, false) ||
        (o->layout && !sample_relayout(&o->s, o->layout))) {
        wrong(o, "case", o->s.error);
        skip(o);
        return;
    }
    o->s.row = o->row;
    tn_manual_seed(7);
    taken = sample_call(&o->s, TN_PLAIN, out, OUTS, &n);
    if (!taken && !refuses && !differs(o, "", 0)) {
        wrong(o, "call", "fails, torch takes it");
        skip(o);
        return;
    }
    if (taken && refuses && !differs(o, "", 0)) {
        wrong(o, "call", "taken, torch refuses it");
        return;
    }
    if (taken && !refuses)
        check_results(o, out, n);
    else
        passed++, skip(o);
    tn_error_take(NULL);
}

static bool is_option(const tn_param *p) {
    if (p->type == TN_T_TENSOR || p->type == TN_T_TENSORS) return (p->flags & TN_P_OPTIONAL) != 0;
    return p->type != TN_T_DEVICE && p->type != TN_T_GENERATOR;
}

/* "# options: a b c": that every option of the row is among them. */
static void check_options(state *o) {
    const tn_gen *gen = o->row->gen;
    char line[LINE], name[64];
    bool found = false;
    o->as = *o->row;
    while (!found && fgets(line, LINE, o->file)) {
        int n = 0;
        found = strncmp(line, "# options: ", 11) == 0;
        if (sscanf(line, "# pairs of options: %d", &n) == 1) pairs += n;
    }
    line[strcspn(line, "\n")] = ' ';
    for (int i = 0; i < gen->nparam; i++) {
        snprintf(name, sizeof name, " %s ", gen->param[i].name);
        if (is_option(&gen->param[i]) && (!found || !strstr(line, name)))
            wrong(o, "file", "an option without values of torch: run tests/oracle/pairs.py");
    }
}

static void check_row(const char *folder, const tn_row *row) {
    static state o;
    char path[1000], word[16];
    bool options = false;
    int used;
    memset(&o, 0, sizeof o);
    o.row = row;
    for (int i = 0; i < row->gen->nparam; i++) options = options || is_option(&row->gen->param[i]);
    if (!options) return;
    nrows++;
    snprintf(path, sizeof path, "%s/%s.txt", folder, row->name);
    o.as = *row;
    o.file = fopen(path, "r");
    if (!o.file) {
        wrong(&o, "file", "no values of torch: run tests/oracle/pairs.py");
        return;
    }
    check_options(&o);
    while (next_line(&o)) {
        int64_t mark = tn_scope_begin();
        if (sscanf(o.line + 1, " %15s %d %d %n", word, &sample_grid, &o.layout, &used) == 3)
            check_case(&o, o.line + 1 + used, sample_dtype(word));
        else
            wrong(&o, o.line, "the oracle's line cannot be read");
        tn_scope_end(mark);
    }
    sample_grid = 0;
    fclose(o.file);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "tests/oracle/pairs";
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int64_t r = 0; r < tn_row_count(); r++)
        if (rows_take(0, r)) check_row(folder, tn_row_at(r));
    tn_context_free(NULL);
    printf(
        "pairs: %d rows with options, %d pairs of their options in %d cases, %d of them refused\n",
        nrows, pairs, cases, refused);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
