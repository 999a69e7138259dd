/* sparse.c - sums of gradients of which one is sparse, and sparse gradients as dense ones. */
#include "../api/ops/elementwise.h"
#include "../api/ops/indexing.h"
#include "../api/ops/shape.h"
#include "../api/sparse.h"
#include "autograd.h"

TN_PRIV tn_tensor *tni_grad_dense(tn_tensor *t) {
    return t && t->flags & TNI_SPARSE
               ? tnp_sparse_to_dense(tn_sparse_part(t, 0), tn_sparse_part(t, 1), tni_sizes(t))
               : t;
}

/* The elements of both, one after the other. */
static tn_tensor *sparse_both(tni_block *b, tn_tensor *x, tn_tensor *y) {
    tn_tensor *of[2], *part[2];
    for (int k = 0; k < 2; k++) {
        of[0] = tn_sparse_part(x, k);
        of[1] = tn_sparse_part(y, k);
        if (!(part[k] = tnp_cat(tn_tensors_of(of, 2), k ? 0 : 1))) return NULL;
    }
    return tni_sparse_header(b, TN_SPARSE_COO, part, x->ndim, x->size);
}

TN_PRIV tn_tensor *tni_grad_sum_sparse(tni_block *b, tn_tensor *x, tn_tensor *y) {
    const bool sparse = x->flags & y->flags & TNI_SPARSE;
    if (sparse && tn_sparse_part(x, 0)->size[0] == tn_sparse_part(y, 0)->size[0])
        return sparse_both(b, x, y);
    x = tni_grad_dense(x);
    y = x ? tni_grad_dense(y) : NULL;
    return y ? tnp_add(x, y, 1) : NULL;
}

TN_PRIV tn_tensor *tni_grad_copy_sparse(tni_block *b, tn_tensor *t) {
    tn_tensor *part[2], *made;
    part[0] = tn_sparse_part(t, 0);
    part[1] = tnp_clone(tn_sparse_part(t, 1), TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    if (!part[1]) return NULL;
    made = tni_sparse_header(b, TN_SPARSE_COO, part, t->ndim, t->size);
    if (made) tn_set_coalesced(made, tn_is_coalesced(t));
    return made;
}
