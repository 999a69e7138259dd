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
#include <stdlib.h>

enum { LONGEST = 67, SPECIALS = 9, MOST = 8 };

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

/* Pointwise rows: of tensors, and numbers, which are 0.5 where they have no default. */
static bool takes(const tn_row *row) {
    if (!row->rules || !row->gen || row->gen->nresults != 1) return false;
    return row->gen->nfixed >= 1 && row->gen->nfixed <= 3 && row->gen->nparam <= MOST;
}

/* Values of a call on `in` as every operand; returns their number. */
static int values_of(const tn_row *row, tn_tensor *in, tn_value *v) {
    int n = 0;
    memset(v, 0, MOST * sizeof *v);
    for (int i = 0; i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        if (p->type != TN_T_TENSOR && p->flags & TN_P_DEFAULT) continue;
        v[n].name = p->name;
        v[n].type = p->type;
        if (p->type == TN_T_TENSOR)
            v[n].as.tensor = i == 0 && row->rules & TN_TAKES_MASK ? tn_ge_scalar(in, 0) : in;
        else if (p->type == TN_T_BOOL)
            v[n].as.boolean = false;
        else
            v[n].type = TN_T_SCALAR, v[n].as.scalar = tn_float(0.5);
        n++;
    }
    return n;
}

/* The bytes of element i, those of any NaN alike (docs/differences.md). */
static void element(const tn_tensor *t, const char *at, uint8_t *to) {
    const tn_scalar value = tni_element(at, t->dtype);
    memcpy(to, at, (size_t)tni_dtype_size(t));
    if (isnan(value.real)) memset(to, 0x7f, (size_t)tni_dtype_size(t));
}

/* The row on x as every operand; bytes of an element of the result, 0: it does not take this
 * dtype. */
static int64_t run(const tn_row *row, const double *x, int n, tn_dtype dtype, uint8_t *to) {
    tn_value v[MOST];
    tn_tensor *in = tn_empty(TN_DIMS(n), .dtype = dtype), *out[1] = {NULL};
    int count = 0;
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        tni_element_set((char *)tn_data(in) + i * tni_dtype_size(in), (int)dtype, tn_float(x[i]));
    if (tn_call_row(__FILE__, __LINE__, row, TN_PLAIN, v, values_of(row, in, v), out, 1, &count)) {
        bytes = tni_dtype_size(out[0]);
        for (int i = 0; i < n; i++)
            element(out[0], (const char *)tn_data(out[0]) + i * bytes, to + i * bytes);
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

static bool all; /* every place, not a sample of them */

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
            for (int k = 0; k < n; k += all || n < 18 || k < 2 || k + 3 > n ? 1 : 5, ++*checked)
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
    printf("promise 9: %lld pointwise rows, %lld places of NaN, +-0, +-Inf, denormal, MAX in 1..67 "
           "elements: what one element gives; scalar = SIMD bitwise\n",
           (long long)rows, (long long)checked);
    CHECK(rows > 60 && checked > 100000);
}

/* --- layouts ---------------------------------------------------------------------------------- */

enum { FOLDED = 2 * 3 * 5 * 7 };

/* (2, 3, 5, 7) with element i special where i % 3 < 2: row-major, transposed, every second element,
 * one element repeated along two dimensions, channels last. */
static tn_tensor *laid(tn_dtype dtype, int layout) {
    static const int64_t last[] = {0, 3, 1, 2};
    tn_tensor *t =
        layout == 1 ? tn_transpose(tn_empty(TN_DIMS(7, 3, 5, 2), .dtype = dtype), 0, 3)
        : layout == 2
            ? tn_slice(tn_empty(TN_DIMS(2, 3, 5, 14), .dtype = dtype), .dim = 3, .step = 2)
        : layout == 4
            ? tn_permute(tn_empty(TN_DIMS(2, 5, 7, 3), .dtype = dtype), tn_ints_of(last, 4))
            : tn_empty(TN_DIMS(2, 3, 5, 7), .dtype = dtype);
    if (layout == 3) t = tn_empty(TN_DIMS(2, 1, 5, 1), .dtype = dtype);
    for (int64_t i = 0; i < tn_numel(t); i++) {
        int64_t at = 0, rest = i;
        for (int d = 3; d >= 0; rest /= tn_size(t, d), d--)
            at += rest % tn_size(t, d) * tn_stride(t, d);
        tni_element_set((char *)tn_data(t) + at * tni_dtype_size(t), (int)dtype,
                        tn_float(i % 3 < 2 ? special((int)(i % SPECIALS), dtype) : 0.37));
    }
    return layout == 3 ? tn_expand(t, TN_DIMS(2, 3, 5, 7)) : t;
}

/* Each element of the row on a layout is what the row gives on that element alone. */
static int64_t layout_holds(const tn_row *row, tn_dtype dtype, int layout) {
    int64_t right = 0;
    tn_value v[MOST];
    tn_tensor *in = laid(dtype, layout), *flat = tn_contiguous(in), *out[1] = {NULL};
    int count = 0;
    if (!tn_call_row(__FILE__, __LINE__, row, TN_PLAIN, v, values_of(row, in, v), out, 1, &count)) {
        tn_error_take(NULL);
        return -1;
    }
    out[0] = tn_contiguous(out[0]);
    for (int64_t i = 0; i < FOLDED; i++) {
        double x;
        uint8_t alone[16], here[16];
        x = tni_element((const char *)tn_data(flat) + i * tni_dtype_size(flat), (int)dtype).real;
        if (!run(row, &x, 1, dtype, alone)) return -1;
        element(out[0], (const char *)tn_data(out[0]) + i * tni_dtype_size(out[0]), here);
        right += memcmp(alone, here, (size_t)tni_dtype_size(out[0])) == 0;
    }
    return right;
}

static void special_values_do_not_depend_on_the_layout(void) {
    int64_t rows = 0, elements = 0, wrong = 0;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        if (!takes(row)) continue;
        rows++;
        for (int layout = 0; layout < 5; layout++)
            for (int single = 0; single < 2; single++) {
                int64_t right = -1;
                tn_context_use(by_set[1]);
                TN_SCOPE
                    right = layout_holds(row, single ? TN_F32 : TN_F64, layout);
                tn_context_use(NULL);
                elements += right > 0 ? right : 0;
                if (right < 0 || right == FOLDED) continue;
                wrong++;
                printf("    %s, layout %d\n", row->name, layout);
            }
    }
    CHECK_EQ(wrong, 0);
    CHECK(elements > 100000);
    printf("promise 9: %lld pointwise rows in 5 layouts, %lld elements: what one element gives\n",
           (long long)rows, (long long)elements);
}

static const check_test tests[] = {CHECK_TEST(special_values_do_not_depend_on_their_place),
                                   CHECK_TEST(special_values_do_not_depend_on_the_layout)};

int main(int argc, char **argv) {
    tn_context_options o;
    int status;
    all = getenv("TN_FULL") != NULL;
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
