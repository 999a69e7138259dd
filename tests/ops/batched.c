/* batched.c - every row on batched tensors (api/vmap.h): each sample of the batch is what the call
 * on it alone gives, whichever of the tensors are batched, with gradients.
 *
 *     batched [rows.h]
 *
 * The samples of a batch are the row's sample, its elements in the opposite order, and the row's
 * sample again. Sums may follow another order of memory, so they are compared within units. */
#include "../../src/api/vmap.h"
#include "../rows.h"
#include "elements.h"
#include "sample.h"

#include <stdio.h>

enum { MEMBERS = 3, ALL = -1 };

static int64_t passed, failed, refused;

typedef struct batch {
    sample s;
    tn_tensor *member[SAMPLE_TENSORS][MEMBERS];
    tn_tensor *want[MEMBERS][SAMPLE_OUTS], *grad[MEMBERS][SAMPLE_TENSORS];
    int n;
} batch;

static void fail(const batch *b, int which, const char *what) {
    tn_error_info e;
    failed++;
    printf("FAILED batched %s [%s] %s, tensor %d batched: %s\n", b->s.row->name, b->s.text,
           tn_dtype_name(b->s.dtype), which, what);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
}

/* Equal, or within 64 units at the largest value. */
static bool alike(tn_tensor *a, tn_tensor *b) {
    double most = 0, unit;
    if (!a || !b || a->dtype != b->dtype || !tni_same_shape(a, b)) return false;
    a = tnp_contiguous(a), b = tnp_contiguous(b);
    if (!a || !b) return false;
    if (!a->numel ||
        memcmp(tni_bytes_at(a), tni_bytes_at(b), (size_t)(a->numel * tni_dtype_size(a))) == 0)
        return true;
    unit = 64 * sample_epsilon(a->dtype);
    for (int64_t i = 0; i < 2 * a->numel; i++) {
        const tn_tensor *t = i < a->numel ? a : b;
        tn_scalar v = tni_element(tni_bytes_at(t) + i % a->numel * tni_dtype_size(t), t->dtype);
        double each = fabs(v.real) + fabs(v.imaginary);
        if (each < 1e300 && each > most) most = each;
    }
    for (int64_t i = 0; i < a->numel; i++) {
        tn_scalar x = tni_element(tni_bytes_at(a) + i * tni_dtype_size(a), a->dtype),
                  y = tni_element(tni_bytes_at(b) + i * tni_dtype_size(b), b->dtype);
        if (x.kind < TN_KIND_FLOAT
                ? x.integer != y.integer
                : !((x.real == y.real || (x.real != x.real && y.real != y.real) ||
                     fabs(x.real - y.real) <= unit * most) &&
                    fabs(x.imaginary - y.imaginary) <= unit * most))
            return false;
    }
    return true;
}

static tn_tensor *turned(const sample *s, int t) {
    int64_t dims[TN_MAX_DIMS];
    for (int d = 0; d < s->tensor[t]->ndim; d++) dims[d] = d;
    return s->structure[t] ? tnp_clone(s->tensor[t], (tn_memory_format)0)
                           : tnp_flip(s->tensor[t], tni_ints(dims, s->tensor[t]->ndim));
}

/* Puts member m of the batched tensors into the call. */
static void put(batch *b, int which, int m, bool copy) {
    for (int t = 0; t < b->s.ntensors; t++) {
        tn_tensor *by = b->member[t][which == ALL || which == t ? m : 0];
        if (copy) by = tnp_clone(by, (tn_memory_format)0);
        sample_replace(&b->s, b->s.tensor[t], by);
    }
}

static bool differentiable(const batch *b, unsigned how) {
    return how == TN_PLAIN && b->s.row->grad && b->s.row->grad != tn_grad_zero &&
           (b->s.dtype == TN_F64 || b->s.dtype == TN_F32);
}

/* What the calls on each member alone give; false where one is refused. */
static bool expect(batch *b, int which, unsigned how) {
    for (int m = 0; m < MEMBERS; m++) {
        put(b, which, m, true);
        if (!sample_call(&b->s, how, b->want[m], SAMPLE_OUTS, &b->n)) return false;
        memset(b->grad[m], 0, sizeof b->grad[m]);
        put(b, which, m, true);
        if (differentiable(b, how) && !sample_grads(&b->s, how, b->grad[m])) {
            tn_error_take(NULL);
            memset(b->grad[m], 0, sizeof b->grad[m]);
        }
    }
    return true;
}

/* The batched tensors into the call. */
static bool lift(batch *b, int which, bool leaves) {
    for (int t = 0; t < b->s.ntensors; t++) {
        tn_tensor *by = b->member[t][0];
        if (which == ALL || which == t || leaves) {
            const bool apart = b->s.row->run != tni_run_nothing; /* not what reads strides */
            const int64_t dim = by->ndim > 1 && which == ALL && apart ? 1 : 0;
            tn_tensor *each[MEMBERS];
            for (int m = 0; m < MEMBERS; m++)
                each[m] = which == ALL || which == t ? b->member[t][m] : by;
            if (!(by = tnp_stack(tn_tensors_of(each, MEMBERS), dim))) return false;
            if (!(by = tn_batched_at(__FILE__, __LINE__, by, dim))) return false;
        } else
            by = tnp_clone(by, (tn_memory_format)0);
        sample_replace(&b->s, b->s.tensor[t], by);
    }
    return true;
}

static bool compare(batch *b, int which, tn_tensor *got, tn_tensor *const *want, const char *what) {
    tn_tensor *whole = tn_unbatched_at(__FILE__, __LINE__, got, 0);
    bool ok = whole != NULL;
    for (int m = 0; ok && m < MEMBERS; m++) ok = alike(tnp_select(whole, 0, m), want[m]);
    if (!ok) fail(b, which, what);
    passed += ok;
    return ok;
}

static void check_results(batch *b, int which, unsigned how) {
    tn_tensor *got[SAMPLE_OUTS], *want[MEMBERS];
    tn_error_info e;
    int n = 0;
    if (!sample_call(&b->s, how, got, SAMPLE_OUTS, &n)) {
        if (tn_error_peek(&e) && e.code == TN_UNSUPPORTED) { /* said, with a reason */
            refused++;
            tn_error_take(NULL);
        } else
            fail(b, which, "is refused");
        return;
    }
    if (n != b->n) fail(b, which, "gives another number of results");
    for (int k = 0; n == b->n && k < n; k++) {
        for (int m = 0; m < MEMBERS; m++) want[m] = b->want[m][k];
        if (!compare(b, which, got[k], want, "differs from the calls one by one")) return;
    }
}

static void check_grads(batch *b, int which) {
    tn_tensor *grad[SAMPLE_TENSORS] = {NULL}, *want[MEMBERS];
    bool any = false;
    for (int t = 0; t < b->s.ntensors; t++) any = any || b->grad[0][t];
    if (!any) return;
    if (!lift(b, which, true)) {
        fail(b, which, "cannot be batched");
        return;
    }
    if (!sample_grads(&b->s, TN_PLAIN, grad)) {
        tn_error_info e;
        if (tn_error_peek(&e) && e.code == TN_UNSUPPORTED && !strstr(e.message, "same for all")) {
            refused++;
            tn_error_take(NULL);
        } else
            fail(b, which, "its gradient is refused");
        return;
    }
    for (int t = 0; t < b->s.ntensors; t++) {
        if (!b->grad[0][t]) continue;
        for (int m = 0; m < MEMBERS; m++) want[m] = b->grad[m][t];
        if (!compare(b, which, grad[t], want, "its gradient differs")) return;
    }
}

static void check(batch *b, int which, unsigned how) {
    if (!expect(b, which, how)) {
        tn_error_take(NULL);
        return;
    }
    if (!tn_vmap_begin_at(__FILE__, __LINE__, MEMBERS, TN_RANDOM_ERROR)) {
        fail(b, which, "no batch");
        return;
    }
    if (lift(b, which, false))
        check_results(b, which, how);
    else
        fail(b, which, "cannot be batched");
    if (differentiable(b, how)) check_grads(b, which);
    tn_vmap_end();
}

static void check_sample(const tn_row *row, int i, tn_dtype dtype) {
    static batch b;
    if (!sample_make(&b.s, row, i, dtype, false) || !b.s.ntensors) return;
    for (int t = 0; t < b.s.ntensors; t++) {
        b.member[t][0] = b.member[t][2] = tnp_clone(b.s.tensor[t], (tn_memory_format)0);
        if (!(b.member[t][1] = turned(&b.s, t))) return;
    }
    for (int which = ALL; which < (b.s.ntensors > 1 ? b.s.ntensors : 0); which++) {
        check(&b, which, TN_PLAIN);
        if (row->forms & TN_INPLACE) check(&b, which, TN_IN_PLACE);
    }
}

int main(int argc, char **argv) {
    static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_I64, TN_BOOL, TN_C128, TN_BF16};
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int64_t j = 0; j < tn_row_count(); j++) {
        const tn_row *row = tn_row_at(j);
        if (!rows_take(0, j) || sample_draws(row) || sample_reads_memory(row)) continue;
        for (int i = 0; i < sample_count(row); i++)
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
                TN_SCOPE {
                    check_sample(row, i, dtypes[d]);
                    tn_error_take(NULL);
                }
    }
    printf("batched: %lld results of samples, %lld calls refused as unsupported\n",
           (long long)passed, (long long)refused);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
