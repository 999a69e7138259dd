/* record.c - see record.h. */
#include "record.h"

#include <stdlib.h>

record record_new(int64_t room) {
    record r;
    r.n = 0;
    r.at = (uint8_t *)malloc((size_t)room);
    r.room = r.at ? room : 0;
    return r;
}

bool record_same(const record *a, const record *b) {
    return a->n == b->n && a->n <= a->room && a->n <= b->room &&
           memcmp(a->at, b->at, (size_t)a->n) == 0;
}

bool record_leaves_out(const tn_row *row) {
    return strncmp(row->name, "empty", 5) == 0 || strncmp(row->name, "new_empty", 9) == 0;
}

static void record_bytes(record *r, const void *from, size_t n) {
    if (r->n + (int64_t)n <= r->room) memcpy(r->at + r->n, from, n);
    r->n += (int64_t)n;
}

void record_put(record *r, tn_tensor *t) {
    int64_t at = 0, index[TN_MAX_DIMS] = {0}, each;
    record_bytes(r, t ? &t->dtype : (const uint8_t *)"", 1);
    if (!t || t->flags & TNI_META) return;
    each = tni_dtype_size(t);
    record_bytes(r, t->size, (size_t)t->ndim * sizeof *t->size);
    for (int64_t i = 0; i < t->numel; i++) {
        const char *element = tni_bytes_at(t) + at * each;
        tn_scalar v = tni_element(element, t->dtype);
        if (v.kind >= TN_KIND_FLOAT && (v.real != v.real || v.imaginary != v.imaginary))
            record_bytes(r, "NaN", 3);
        else
            record_bytes(r, element, (size_t)each);
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d];
            index[d] = 0;
        }
    }
}

/* sum + the sum of the squares of t */
static tn_tensor *record_squares(tn_tensor *sum, tn_tensor *t) {
    tn_tensor *square = tnp_mul(t, t);
    if (square && tni_is_complex(square->dtype)) square = tnp_real(square);
    square = square ? tnp_sum(square, tn_ints_of(NULL, -1), false, TN_F64) : NULL;
    return sum && square ? tnp_add(sum, square, 1) : square ? square : sum;
}

bool record_run(record *r, sample *s, int layout) {
    tn_tensor *out[RECORD_OUTS], *sum = NULL;
    int n = 0;
    bool ok = !layout || sample_relayout(s, layout);
    r->n = 0;
    tn_manual_seed(11);
    for (int t = 0; ok && t < s->ntensors; t++)
        if (s->row->grad && tni_dtype(s->tensor[t]->dtype)->category >= TNI_CAT_FLOAT &&
            !(s->row->gen->props & TN_PROP_MUTATED))
            s->tensor[t]->flags |= TNI_REQUIRES | TNI_LEAF;
    ok = ok && sample_call(s, TN_PLAIN, out, RECORD_OUTS, &n);
    for (int k = 0; ok && k < n; k++) {
        record_put(r, out[k]);
        if (out[k] && tn_needs_grad(out[k])) sum = record_squares(sum, out[k]);
    }
    if (ok && sum && tn_backward(sum))
        for (int t = 0; t < s->ntensors; t++) record_put(r, s->tensor[t]->grad);
    for (int t = 0; t < s->ntensors; t++) tn_zero_grad(s->tensor[t]);
    tn_error_take(NULL);
    return ok;
}
