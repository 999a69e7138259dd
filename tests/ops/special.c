/* special.c - special values in every row: each sample of each row with NaN, zeros, infinities,
 * denormals and the largest numbers at each place of its tensors gives the same bits by the scalar
 * loops and by the best instruction set, forward and backward. No row is named here.
 *
 *     special [places=N] [rows.h]      at most N places a tensor */
#include "../rows.h"
#include "record.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTS = 40, SPECIALS = 9, LARGEST = 20000 };

static double special(int i, tn_dtype dtype) {
    const bool single = dtype != TN_F64;
    const double values[SPECIALS] = {NAN,
                                     0.0,
                                     -0.0,
                                     HUGE_VAL,
                                     -HUGE_VAL,
                                     single ? (double)FLT_MIN / 8 : DBL_MIN / 8,
                                     single ? -(double)FLT_MIN / 8 : -DBL_MIN / 8,
                                     single ? (double)FLT_MAX : DBL_MAX,
                                     single ? -(double)FLT_MAX : -DBL_MAX};
    return values[i];
}

/* A sample with value v at element `place` of tensor t; false where it is refused. */
static bool run(const tn_row *row, int i, tn_dtype dtype, int t, int64_t place, int v, record *r) {
    static sample s;
    tn_tensor *out[OUTS], *sum = NULL;
    int n = 0;
    r->n = 0;
    tn_manual_seed(11);
    if (!sample_make(&s, row, i, dtype, false)) return false;
    tni_element_set((char *)tn_data(s.tensor[t]) + place * tni_dtype_size(s.tensor[t]), (int)dtype,
                    tn_float(special(v, dtype)));
    for (int k = 0; k < s.ntensors; k++)
        if (row->grad && s.tensor[k]->dtype == dtype && !(row->gen->props & TN_PROP_MUTATED))
            s.tensor[k]->flags |= TNI_REQUIRES | TNI_LEAF;
    if (!sample_call(&s, TN_PLAIN, out, OUTS, &n)) return tn_error_take(NULL), false;
    for (int k = 0; k < n; k++) {
        record_put(r, out[k]);
        if (!out[k] || !tn_needs_grad(out[k])) continue;
        tn_tensor *part = tnp_sum(out[k], tn_no_dims(), false, TN_NO_DTYPE);
        sum = sum && part ? tnp_add(sum, part, 1) : part ? part : sum;
    }
    for (int k = 0; k < s.ntensors; k++) record_put(r, s.tensor[k]); /* what is written */
    if (sum && tn_backward(sum))
        for (int k = 0; k < s.ntensors; k++) record_put(r, s.tensor[k]->grad);
    for (int k = 0; k < s.ntensors; k++) tn_zero_grad(s.tensor[k]);
    tn_error_take(NULL);
    return true;
}

static tn_context *by_set[2]; /* scalar, and the best that there is */
static record result[2];
static int64_t compared, failed, places = 67;

static bool same(const tn_row *row, int i, tn_dtype dtype, int t, int64_t place, int v) {
    bool ok[2];
    for (int set = 0; set < 2; set++) {
        tn_context_use(by_set[set]);
        TN_SCOPE
            ok[set] = run(row, i, dtype, t, place, v, &result[set]);
        tn_error_take(NULL);
    }
    tn_context_use(NULL);
    if (!ok[0] && !ok[1]) return false;
    compared++;
    if (ok[0] == ok[1] && record_same(&result[0], &result[1])) return true;
    if (++failed < 40)
        printf("FAILED values %s, sample %d, %s: %g at %lld of tensor %d: not scalar's bits\n",
               row->name, i, tn_dtype_name(dtype), special(v, dtype), (long long)place, t);
    return true;
}

/* The tensors of a sample that take a special value: their sizes, 0 where not. None of a sample
 * with more than LARGEST elements. */
static int sizes_of(const tn_row *row, int i, tn_dtype dtype, int64_t *numel) {
    int n = 0;
    TN_SCOPE {
        sample s;
        if (sample_make(&s, row, i, dtype, false))
            for (; n < s.ntensors; n++)
                numel[n] = s.tensor[n]->dtype == dtype ? s.tensor[n]->numel : 0;
        for (int t = 0; t < n; t++)
            if (s.tensor[t]->numel > LARGEST) n = 0;
    }
    tn_error_take(NULL);
    return n;
}

static bool one_sample(const tn_row *row, int i, tn_dtype dtype) {
    int64_t numel[SAMPLE_TENSORS];
    const int n = sizes_of(row, i, dtype, numel);
    bool any = false;
    for (int t = 0; t < n; t++) {
        int64_t step = numel[t] / places + 1;
        if (step > 1) step |= 1; /* lanes are even */
        for (int64_t k = 0; k < numel[t] && failed < 40; k += step)
            for (int v = 0; v < SPECIALS; v++)
                if (same(row, i, dtype, t, k, v))
                    any = true;
                else if (v == 1)
                    return any; /* a dtype that the row does not take */
    }
    return any;
}

int main(int argc, char **argv) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    tn_context_options o;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int64_t rows = 0;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "places=", 7) == 0) places = atoi(argv[a] + 7);
    memset(&o, 0, sizeof o);
    o.threads = -1;
    by_set[1] = tn_context_new(&o);
    o.isa = "scalar";
    by_set[0] = tn_context_new(&o);
    for (int set = 0; set < 2; set++) result[set] = record_new(1 << 22);
    for (int64_t j = 0; j < tn_row_count(); j++) {
        const tn_row *row = tn_row_at(j);
        bool any = false;
        if (!rows_take(0, j) || strstr(row->name, "empty")) continue;
        for (int i = 0; i < sample_count(row); i++)
            for (int d = 0; d < 4; d++) any = one_sample(row, i, dtypes[d]) || any;
        rows += any;
    }
    for (int set = 0; set < 2; set++) tn_context_free(by_set[set]), free(result[set].at);
    tn_context_free(NULL);
    printf("special: %lld rows, %lld calls\n", (long long)rows, (long long)compared);
    printf("%lld passed, %lld failed\n", (long long)rows, (long long)failed);
    return failed != 0;
}
