/* mpairs.c - modules with their options in pairs, beside torch: results of two calls in training
 * with a step of descent after each, of one in evaluation, names, order and values of the state
 * dict, refusals.
 *
 *     mpairs FOLDER [rows.h]
 *
 * FOLDER: tests/oracle/mpairs, made by tests/oracle/mpairs.py, which says what a case does. A
 * module that has no such file, or an option that its file does not name, fails. */
#include "../rows.h"
#include "msample.h"
#include "digest.h"

#include "../../src/api/modules.h"
#include "../../src/api/ops.h"

#include <math.h>
#include <stdio.h>

enum { OUTS = 8, LINE = 2048, PARAMS = 64 };

static int passed, failed, cases, refused, nrows, pairs;
static msample ms;

typedef struct state {
    FILE *file;
    char line[LINE], text[LINE];
    bool ahead;
    const tn_mrow *row;
} state;

static void wrong(const state *o, const char *what, const char *why) {
    tn_error_info e;
    failed++;
    printf("FAILED %s [%s] %.30s: %s\n", o->row->gen->type, o->text, what, why);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
}

static bool next_line(state *o) {
    if (o->ahead) return o->ahead = false, true;
    while (fgets(o->line, LINE, o->file))
        if (o->line[0] != '#') return o->line[strcspn(o->line, "\n")] = 0, true;
    return false;
}
static bool case_line(state *o) {
    return next_line(o) && !(o->ahead = o->line[0] == '!' || o->line[0] == '?');
}

static bool same(state *o, const char *rest, const tn_tensor *t) {
    char error[300];
    digest d;
    if (!digest_read(&d, rest)) return wrong(o, o->line, "the line cannot be read"), false;
    if (digest_is(&d, t, false, 256, error)) return true;
    return wrong(o, o->line, error), false;
}

/* Parameter k: ((7 i + 3 k) % 13 - 6) / 16. */
static int set_parameters(tn_module *m, tn_tensor **p) {
    tn_named_list all = tn_module_state_dict(m);
    int n = 0;
    for (int64_t e = 0; e < all.n && n < PARAMS; e++) {
        tn_tensor *t = all.at[e].tensor;
        if (!(t->flags & TNI_REQUIRES)) continue;
        for (int64_t i = 0; i < t->numel; i++)
            ((double *)(void *)tni_bytes_at(t))[i] = (double)((7 * i + 3 * n) % 13 - 6) / 16;
        p[n++] = t;
    }
    tn_named_free(all);
    return n;
}

static bool descend(tn_tensor **out, int n, tn_tensor **p, int np) {
    tn_tensor *roots[OUTS], *seeds[OUTS], *found[PARAMS];
    tn_grads_options options = {seeds, false, false, true};
    uint64_t from = 0;
    int nroots = 0;
    for (int k = 0; k < n; k++) {
        tn_tensor *w;
        if (!out[k]) continue;
        w = tni_new(tni_here(), out[k]->dtype, out[k]->ndim, out[k]->size);
        for (int64_t i = 0; i < w->numel; i++)
            ((double *)w->storage->data)[i] = sample_weight(from + (uint64_t)i);
        if (out[k]->flags & TNI_REQUIRES) roots[nroots] = out[k], seeds[nroots++] = w;
        from += (uint64_t)w->numel;
    }
    if (!np || !nroots) return true;
    if (!tn_grads(tn_tensors_of(roots, nroots), tn_tensors_of(p, np), found, &options))
        return false;
    for (int k = 0; k < np; k++) {
        tn_tensor *g = found[k] ? tnp_contiguous(found[k]) : NULL;
        for (int64_t i = 0; g && i < g->numel; i++)
            ((double *)(void *)tni_bytes_at(p[k]))[i] -= ((double *)(void *)tni_bytes_at(g))[i] / 8;
    }
    return true;
}

static bool check_state(state *o, tn_module *m) {
    tn_named_list all = tn_module_state_dict(m);
    bool ok = true;
    char name[100];
    for (int64_t e = 0; ok && e < all.n; e++) {
        int used = 0;
        ok = case_line(o) && sscanf(o->line, "s %99s %n", name, &used) == 1 &&
             strcmp(name, all.at[e].name) == 0;
        if (!ok) wrong(o, all.at[e].name, "another name in torch's state dict");
        ok = ok && same(o, o->line + used, all.at[e].tensor);
    }
    if (ok && case_line(o)) wrong(o, o->line, "torch's state dict has more"), ok = false;
    tn_named_free(all);
    return ok;
}

static bool check_module(state *o, tn_module *m) {
    tn_tensor *out[OUTS], *p[PARAMS];
    const int np = set_parameters(m, p);
    int n;
    tn_manual_seed(7);
    for (int call = 0; call < 3; call++) {
        if (call == 2) tn_module_train(m, false);
        memset(out, 0, sizeof out);
        if (!msample_call(&ms, m, out, OUTS, &n)) {
            if (o->line[0] != '?') wrong(o, "call", "fails, torch takes it");
            return o->line[0] == '?';
        }
        if (o->line[0] == '?') return wrong(o, "call", "taken, torch refuses it"), false;
        for (int k = 0; k < n; k++)
            if (out[k] && !(case_line(o) && o->line[0] == 'o' && same(o, o->line + 2, out[k])))
                return o->line[0] == 'o' || (wrong(o, o->line, "another number of results"), false);
        if (call < 2 && !descend(out, n, p, np)) return wrong(o, "backward", "fails"), false;
    }
    return check_state(o, m);
}

static void check_case(state *o) {
    tn_mrow as = *o->row;
    const bool refuses = o->line[0] == '?';
    const char *text = o->line + 2, *colon = strstr(text, ": ");
    const int before = failed;
    tn_module *m;
    if (!colon) return;
    snprintf(o->text, sizeof o->text, "%.*s%sdtype=float64%s", (int)(colon - text), text,
             colon == text ? "" : " ", colon);
    as.sample = o->text;
    cases++, refused += refuses;
    if (!msample_make(&ms, &as, 0, TN_F64)) {
        wrong(o, "case", ms.options.error[0] ? ms.options.error : ms.inputs.error);
    } else {
        ms.row = o->row;
        m = msample_module(&ms);
        if (!m && !refuses) wrong(o, "module", "refused, torch takes it");
        if (m) check_module(o, m);
        tn_module_free(m);
    }
    tn_error_take(NULL);
    passed += failed == before;
    while (case_line(o)) {}
}

static void check_row(const char *folder, const tn_mrow *row) {
    static state o;
    char path[1000], name[64];
    const tn_gen *gen = row->gen->make;
    memset(&o, 0, sizeof o);
    o.row = row;
    if (!row->forward) return; /* containers */
    if (gen->nparam && gen->param[0].type == TN_T_MODULES) return;
    nrows++;
    snprintf(path, sizeof path, "%s/%s.txt", folder, row->gen->type);
    o.file = fopen(path, "r");
    if (!o.file) {
        wrong(&o, "file", "no values of torch: run tests/oracle/mpairs.py");
        return;
    }
    if (fgets(o.line, LINE, o.file) && strstr(o.line, "pairs: "))
        pairs += atoi(strstr(o.line, "pairs: ") + 7);
    if (!fgets(o.line, LINE, o.file)) o.line[0] = 0;
    for (int i = 0; i < gen->nparam; i++) {
        snprintf(name, sizeof name, " %s ", gen->param[i].name);
        o.line[strcspn(o.line, "\n")] = ' ';
        if (gen->param[i].type != TN_T_DTYPE && gen->param[i].type != TN_T_DEVICE &&
            !strstr(o.line, name))
            wrong(&o, name, "an option without values of torch: run tests/oracle/mpairs.py");
    }
    while (next_line(&o)) {
        int64_t mark = tn_scope_begin();
        check_case(&o);
        tn_scope_end(mark);
    }
    fclose(o.file);
}

static const char *module_name(int64_t i) {
    return i < tn_mrow_count() ? tn_mrow_at(i)->name : NULL;
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {{"module", module_name}, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int64_t r = 0; r < tn_mrow_count(); r++)
        if (rows_take(0, r)) check_row(argc > 1 ? argv[1] : "tests/oracle/mpairs", tn_mrow_at(r));
    tn_context_free(NULL);
    printf("mpairs: %d modules, %d pairs of their options in %d cases, %d of them refused\n", nrows,
           pairs, cases, refused);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
