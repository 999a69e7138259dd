/* record.h - shapes and elements of results one after another, to be compared bit by bit. */
#ifndef TNI_TESTS_RECORD_H
#define TNI_TESTS_RECORD_H

#include "sample.h"

enum { RECORD_BYTES = 1 << 22 };
typedef struct record { /* shapes and elements, one after another */
    int64_t n;
    uint8_t *at;
} record;

static void record_bytes(record *r, const void *from, size_t n) {
    if (r->n + (int64_t)n <= RECORD_BYTES) memcpy(r->at + r->n, from, n);
    r->n += (int64_t)n;
}

/* The elements in row-major order: padding between them is nobody's. A NaN has no bits of its
 * own. */
static void record_put(record *r, tn_tensor *t) {
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

#endif
