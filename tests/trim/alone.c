/* alone.c - the samples of the rows in ROWS, with their gradients, as bits. What stands before it
 * names the rows: for the whole header many, for a trimmed one a single row. sample.c is that of
 * tests/ops without the headers of src/, which the packed implementation holds. */
#include "sample.c"

static void print_bits(const char *what, const tn_tensor *t) {
    int64_t index[TN_MAX_DIMS] = {0};
    printf("  %s", what);
    if (!t) {
        printf(" none\n");
        return;
    }
    printf(" %s (", tn_dtype_name((tn_dtype)t->dtype));
    for (int d = 0; d < t->ndim; d++) printf("%lld,", (long long)t->size[d]);
    printf(")");
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = t->offset;
        const tn_scalar v = {0, 0, 0, 0};
        tn_scalar x = v;
        for (int d = 0; d < t->ndim; d++) at += index[d] * t->stride[d];
        x = tni_element((const char *)t->storage->data + at * tni_dtype_size(t), t->dtype);
        printf(" %a", x.kind == TN_KIND_INT ? (double)x.integer : x.real);
        if (x.kind == TN_KIND_COMPLEX) printf("%+ai", x.imaginary);
        for (int d = t->ndim - 1; d >= 0 && ++index[d] == t->size[d]; d--) index[d] = 0;
    }
    printf("\n");
}

static void print_error(void) {
    tn_error_info e;
    if (tn_error_take(&e)) printf("  refused: %.40s\n", e.message);
}

static void print_row(const char *name) {
    static sample s;
    const tn_row *row = tn_row_named(name);
    for (int i = 0; row && i < sample_count(row); i++) {
        tn_tensor *out[8] = {NULL}, *grads[SAMPLE_TENSORS] = {NULL};
        int n = 0;
        int64_t mark = tn_scope_begin();
        tn_manual_seed(3);
        printf("%s %d\n", name, i);
        if (!sample_make(&s, row, i, TN_F32, false) || !sample_call(&s, TN_PLAIN, out, 8, &n))
            printf("  %s\n", s.error);
        for (int k = 0; k < n && k < 8; k++) print_bits("out", out[k]);
        print_error();
        if (sample_grads(&s, TN_PLAIN, grads))
            for (int k = 0; k < s.ntensors; k++) print_bits("grad", grads[k]);
        print_error();
        tn_scope_end(mark);
    }
    if (!row) printf("%s is not there\n", name);
    print_error();
}

int main(void) {
    static const char *const rows[] = {ROWS};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) print_row(rows[i]);
    return 0;
}
