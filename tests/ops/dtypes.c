/* dtypes.c - `dtype=` of a row that takes it: where that is bool or an integer, the same bits as of
 * the input converted beforehand, for every pair of real dtypes, layouts, and elements that the
 * dtype cannot hold; and where it is float32 or float64 and nothing is computed in the input's.
 * (What is asked for in 16-bit floats is computed in more.) No row is named.
 *
 *     dtypes [step=N] [rows.h]      every Nth pair */
#include "../rows.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>

enum { OUTS = 40, DTYPES = 15, WHOLE = 6, TARGETS = 8 };

/* the first of them whole numbers, then with the next two what is asked for */
static const tn_dtype dtypes[DTYPES] = {TN_BOOL, TN_U8,  TN_I8,  TN_I16,    TN_I32,
                                        TN_I64,  TN_F32, TN_F64, TN_F16,    TN_BF16,
                                        TN_U16,  TN_U32, TN_U64, TN_F8E4M3, TN_F8E5M2};
static record result[2];
static int64_t compared, failed;

/* Sample i of the row with dtype=to, its first tensor converted beforehand or not. */
static bool run(const tn_row *row, int i, tn_dtype from, int layout, tn_dtype to, bool before) {
    static sample s;
    record *r = &result[before];
    tn_tensor *out[OUTS];
    int n = 0;
    r->n = 0;
    if (!sample_make(&s, row, i, from, false) || !sample_relayout(&s, layout)) return false;
    if (tni_is_float((int)to) && s.tensor[0]->dtype != from) return false; /* it says another */
    for (int k = 0; k < s.nvalues; k++)
        if (s.value[k].type == TN_T_DTYPE) return false;
    if (before) sample_replace(&s, s.tensor[0], tnp_to_dtype(s.tensor[0], to, false, false));
    memset(&s.value[s.nvalues], 0, sizeof *s.value);
    s.value[s.nvalues].type = TN_T_DTYPE;
    s.value[s.nvalues].name = "dtype";
    s.value[s.nvalues++].as.dtype = to;
    if (!sample_call(&s, TN_PLAIN, out, OUTS, &n)) return false;
    for (int k = 0; k < n; k++) record_put(r, out[k]);
    return true;
}

static bool same(const tn_row *row, int i, tn_dtype from, int layout, tn_dtype to) {
    bool ok[2] = {false, false}, equal;
    for (int before = 0; before < 2; before++) {
        TN_SCOPE
            ok[before] = run(row, i, from, layout, to, before);
        tn_error_take(NULL);
        if (!ok[0]) return false;
    }
    equal = ok[1] && record_same(&result[0], &result[1]);
    compared++;
    failed += !equal;
    if (!equal && failed <= 20)
        printf("FAILED %s, sample %d, grid %d, layout %d: %s with dtype=%s is another than %s\n",
               row->name, i, sample_grid, layout, tn_dtype_name(from), tn_dtype_name(to),
               ok[1] ? "of what was converted" : "an error");
    return true;
}

static bool one_row(const tn_row *row, int64_t step) {
    bool any = false;
    int64_t pair = 0;
    for (int i = 0; i < sample_count(row); i++)
        for (sample_grid = 0; sample_grid <= SAMPLE_ENDS; sample_grid += SAMPLE_ENDS)
            for (int layout = 0; layout < SAMPLE_EXPANDED; layout++)
                for (int p = 0; p < DTYPES * TARGETS; p++) {
                    const tn_dtype from = dtypes[p / TARGETS];
                    if (p % TARGETS >= WHOLE && (layout || tni_dtype(from)->computes)) continue;
                    if (pair++ % step == 0 && same(row, i, from, layout, dtypes[p % TARGETS]))
                        any = true;
                }
    return any;
}

static bool takes_dtype(const tn_row *row) {
    const tn_gen *gen = row->gen;
    if (!gen->nparam || gen->param[0].type != TN_T_TENSOR || sample_draws(row) ||
        strstr(row->name, "empty"))
        return false;
    for (int i = 1; i < gen->nparam; i++)
        if (gen->param[i].type == TN_T_DTYPE && !strcmp(gen->param[i].name, "dtype")) return true;
    return false;
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int64_t rows = 0, step = 1;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "step=", 5) == 0) step = atoi(argv[a] + 5);
    for (int k = 0; k < 2; k++) result[k] = record_new(1 << 22);
    for (int64_t j = 0; j < tn_row_count(); j++) {
        const tn_row *row = tn_row_at(j);
        if (!rows_take(0, j) || !takes_dtype(row)) continue;
        rows += one_row(row, step);
    }
    for (int k = 0; k < 2; k++) free(result[k].at);
    tn_context_free(NULL);
    printf("dtypes: %lld rows, %lld calls\n", (long long)rows, (long long)compared);
    printf("%lld passed, %lld failed\n", (long long)rows, (long long)failed);
    return failed != 0;
}
