/* iterate.c - several strided operands walked as one: dimensions ordered by stride, merged where
 * all operands allow.
 *
 * Dimension 0 of an iterator is the innermost. Dimensions of size 1 vanish; a shape of one element
 * has one dimension. */
#include "tensor.h"

/* Bytes from one index of dimension d (of a shape of ndim) to the next in t; 0 where t
 * is broadcast. */
static int64_t iterate_stride(const tn_tensor *t, int ndim, int d, int64_t bytes) {
    int at = d - (ndim - t->ndim);
    return at < 0 || t->size[at] == 1 ? 0 : t->stride[at] * bytes;
}

/* Whether dimension a belongs further in than b: by the first operand that steps along both
 * and tells. */
static bool iterate_inner(const tni_iterate *it, int a, int b) {
    for (int k = 0; k < it->n; k++) {
        int64_t x = it->stride[k][a], y = it->stride[k][b];
        if (x && y && x != y) return x < y;
    }
    return false;
}

static void iterate_swap(tni_iterate *it, int a, int b) {
    /* Sizes and the strides of all operands trade places. */
    int64_t size = it->size[a];
    it->size[a] = it->size[b];
    it->size[b] = size;
    for (int k = 0; k < it->n; k++) {
        int64_t stride = it->stride[k][a];
        it->stride[k][a] = it->stride[k][b];
        it->stride[k][b] = stride;
    }
}

/* Joins dimension d with the next outer one when every operand goes on there where it stopped. */
static bool iterate_merges(const tni_iterate *it, int d, int next) {
    for (int k = 0; k < it->n; k++)
        if (it->stride[k][next] != it->stride[k][d] * it->size[d]) return false;
    return true;
}

TN_PRIV void tni_iterate_init(tni_iterate *it, int ndim, const int64_t *size,
                              tn_tensor *const *operands, int n) {
    int kept = 0;
    it->n = n;
    it->ndim = 0;
    it->numel = 1;
    for (int k = 0; k < n; k++) {
        it->bytes[k] = tni_dtype_size(operands[k]);
        it->at[k] = tni_bytes_at(operands[k]);
    }
    /* Dimensions are taken from the right and sorted in by stride, the smallest first. */
    for (int d = ndim - 1; d >= 0; d--) {
        it->numel *= size[d];
        if (size[d] == 1) continue;
        it->size[it->ndim] = size[d];
        for (int k = 0; k < n; k++)
            it->stride[k][it->ndim] = iterate_stride(operands[k], ndim, d, it->bytes[k]);
        for (int at = it->ndim++; at > 0 && iterate_inner(it, at, at - 1); at--)
            iterate_swap(it, at, at - 1);
    }
    /* kept: the last dimension so far that could not take in the next one. */
    for (int d = 1; d < it->ndim; d++) {
        if (iterate_merges(it, kept, d)) {
            it->size[kept] *= it->size[d];
            continue;
        }
        kept++;
        it->size[kept] = it->size[d];
        for (int k = 0; k < n; k++) it->stride[k][kept] = it->stride[k][d];
    }
    /* A shape of one element: one dimension of size 1, whose stride is never used to step. */
    if (it->ndim) {
        it->ndim = kept + 1;
        return;
    }
    it->ndim = 1;
    it->size[0] = 1;
    for (int k = 0; k < n; k++) it->stride[k][0] = it->bytes[k];
}
