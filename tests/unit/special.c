/* special.c - special values mean the same at every position: each pointwise row with NaN, zeros,
 * infinities, denormals and the largest numbers at each place of 1 to 67 elements gives there what
 * it gives alone, elsewhere what it gives without them, and the same bits by every instruction
 * set that this machine has. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../../src/call/rowform.h"
#include "../check.h"

#include <float.h>
#include <math.h>

enum { LONGEST = 67, SPECIALS = 9 };

static double special(int i, tn_dtype dtype) {
    const bool single = dtype == TN_F32;
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

/* Rows of tensors alone, or with numbers that have defaults. */
static bool takes(const tn_row *row) {
    if (!row->loop || !row->gen || row->gen->nresults != 1) return false;
    for (int i = 0; i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        if (p->type != TN_T_TENSOR && !(p->flags & TN_P_DEFAULT)) return false;
    }
    return row->gen->nfixed >= 1 && row->gen->nfixed <= 3;
}

/* The row on x as every operand; bytes of an element of the result, 0: it does not take this
 * dtype. */
static int64_t run(const tn_row *row, const double *x, int n, tn_dtype dtype, uint8_t *to) {
    tn_value v[3];
    tn_tensor *in = tn_empty(TN_DIMS(n), .dtype = dtype), *out[1] = {NULL};
    int count = 0;
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        tni_element_set((char *)tn_data(in) + i * tni_dtype_size(in), dtype, tn_float(x[i]));
    memset(v, 0, sizeof v);
    for (int i = 0; i < row->gen->nfixed; i++) {
        v[i].type = TN_T_TENSOR;
        v[i].as.tensor = i == 0 && row->loop & TNI_FORM_SELECT ? tn_ge_scalar(in, 0) : in;
    }
    if (tn_call_row(__FILE__, __LINE__, row, TN_PLAIN, v, row->gen->nfixed, out, 1, &count)) {
        bytes = tni_dtype_size(out[0]);
        for (int i = 0; i < n; i++) { /* a NaN has no bits of its own (docs/differences.md) */
            const char *at = (const char *)tn_data(out[0]) + i * bytes;
            const tn_scalar value = tni_element(at, out[0]->dtype);
            memcpy(to + i * bytes, at, (size_t)bytes);
            if (isnan(value.real)) memset(to + i * bytes, 0x7f, (size_t)bytes);
        }
    } else {
        tn_error_take(NULL);
    }
    return bytes;
}

static tn_context *by_set[2]; /* scalar, and the best that there is */

typedef struct results {
    int64_t bytes;
    uint8_t at[LONGEST * 8];
} results;

static void run_by(int set, const tn_row *row, const double *x, int n, tn_dtype dtype,
                   results *to) {
    tn_context_use(by_set[set]);
    TN_SCOPE
        to->bytes = run(row, x, n, dtype, to->at);
    tn_context_use(NULL);
}

/* One special value among n elements at place k. */
static bool place(const tn_row *row, const double *plain, int n, int k, double value,
                  tn_dtype dtype, const results *without, const results *alone) {
    double x[LONGEST];
    results got[2];
    memcpy(x, plain, (size_t)n * sizeof *x);
    x[k] = value;
    for (int set = 0; set < 2; set++) {
        run_by(set, row, x, n, dtype, &got[set]);
        for (int i = 0; i < n; i++) {
            const uint8_t *is = got[set].at + i * alone->bytes;
            const uint8_t *due = i == k ? alone->at : without->at + i * alone->bytes;
            if (memcmp(is, due, (size_t)alone->bytes) == 0) continue;
            printf("    %s of %s, set %d: %g at %d of %d changes element %d\n", row->name,
                   tn_dtype_name(dtype), set, value, k, n, i);
            return false;
        }
    }
    return true;
}

static bool row_holds(const tn_row *row, tn_dtype dtype, int64_t *checked) {
    double plain[LONGEST];
    results without, alone;
    for (int i = 0; i < LONGEST; i++) plain[i] = (i % 2 ? -1 : 1) * (0.11 + 0.013 * i);
    for (int v = 0; v < SPECIALS; v++) {
        double value = special(v, dtype);
        run_by(0, row, &value, 1, dtype, &alone);
        if (!alone.bytes) return true;
        for (int n = 1; n <= LONGEST; n++) {
            run_by(0, row, plain, n, dtype, &without);
            for (int k = 0; k < n; k += n < 18 || k < 2 || k + 3 > n ? 1 : 5, ++*checked)
                if (!place(row, plain, n, k, value, dtype, &without, &alone)) return false;
        }
    }
    return true;
}

static void special_values_do_not_depend_on_their_place(void) {
    int64_t rows = 0, checked = 0;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        if (!takes(row)) continue;
        rows++;
        CHECK(row_holds(row, TN_F32, &checked));
        CHECK(row_holds(row, TN_F64, &checked));
    }
    printf("    %lld rows, %lld places\n", (long long)rows, (long long)checked);
    CHECK(rows > 60 && checked > 100000);
}

static const check_test tests[] = {CHECK_TEST(special_values_do_not_depend_on_their_place)};

int main(int argc, char **argv) {
    tn_context_options o;
    int status;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    by_set[1] = tn_context_new(&o);
    o.isa = "scalar";
    by_set[0] = tn_context_new(&o);
    status = CHECK_MAIN(tests, argc, argv);
    tn_context_free(by_set[0]);
    tn_context_free(by_set[1]);
    return status;
}
