/* dims.c - the dimensions that a reduction takes away: a result meets what it came from, and how
 * many elements met in one. */
#include "reduction.h"
#include "../../api/ops/shape.h"

TN_PRIV tn_tensor *tni_dims_keep(tn_tensor *t, const tn_tensor *x, tn_ints dim, bool keepdim) {
    int64_t size[TN_MAX_DIMS];
    bool gone[TN_MAX_DIMS];
    if (!t || keepdim || x->ndim == t->ndim || !t->ndim) return t; /* 0-dim goes with any shape */
    tni_dims_gone(x, dim, gone);
    for (int d = 0; d < x->ndim; d++) size[d] = gone[d] ? 1 : x->size[d];
    return tnp_reshape(t, tni_ints(size, x->ndim));
}

TN_PRIV double tni_dims_count(const tn_tensor *x, tn_ints dim) {
    double n = 1;
    bool gone[TN_MAX_DIMS];
    tni_dims_gone(x, dim, gone);
    for (int d = 0; d < x->ndim; d++)
        if (gone[d]) n *= (double)x->size[d];
    return n;
}
