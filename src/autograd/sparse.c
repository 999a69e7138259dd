/* sparse.c - sums of gradients of which one is sparse, sparse gradients as dense ones, and the
 * makers of sparse tensors: each carries these ways, so that a program without has none of this. */
#include "../api/ops/elementwise.h"
#include "../api/ops/indexing.h"
#include "../api/ops/shape.h"
#include "../api/sparse.h"
#include "autograd.h"

static tn_tensor *sparse_dense(tni_block *b, tn_tensor *t);
static tn_tensor *sparse_sum(tni_block *b, tn_tensor *x, tn_tensor *y);
static tn_tensor *sparse_copy(tni_block *b, tn_tensor *t);
static const tni_sparse_ways sparse_ways = {sparse_dense, sparse_sum, sparse_copy};

TN_PRIV bool tni_grad_layout(tni_block *b, const tn_tensor *t, const char *what) {
    const tn_layout layout = t ? tn_sparse_layout(t) : TN_STRIDED;
    return layout <= TN_SPARSE_COO ||
           tni_error(b, TN_UNSUPPORTED,
                     "%s: a gradient has layout %s, but expected strided or sparse_coo", what,
                     tni_layout_text((int)layout));
}

static tn_tensor *sparse_dense(tni_block *b, tn_tensor *t) {
    if (!tni_grad_layout(b, t, "backward")) return NULL;
    return tnp_sparse_to_dense(tn_sparse_part(t, 0), tn_sparse_part(t, 1), tni_sizes(t));
}

/* Whether more places stand in indices than t has elements, as torch asks. Meta tensors have no
 * indices to read, and no device has kernels for it. */
static bool sparse_repeats(const tn_tensor *t, const tn_tensor *indices) {
    return indices->size[1] > t->numel && !(indices->flags & (TNI_META | TNI_DEVICE));
}
/* The elements of both, one after the other; each place once where many repeat, so that sums of
 * sums do not grow without bound. */
static tn_tensor *sparse_both(tni_block *b, tn_tensor *x, tn_tensor *y) {
    tn_tensor *of[2], *part[2], *made;
    bool once;
    for (int k = 0; k < 2; k++) {
        of[0] = tn_sparse_part(x, k);
        of[1] = tn_sparse_part(y, k);
        if (!(part[k] = tnp_cat(tn_tensors_of(of, 2), k ? 0 : 1))) return NULL;
    }
    if ((once = sparse_repeats(x, part[0]))) {
        const tn_indices_values c = tnp_sparse_coalesce(part[0], part[1], tni_sizes(x));
        if (!(part[0] = c.indices) || !(part[1] = c.values)) return NULL;
    }
    made = tni_sparse_header(b, TN_SPARSE_COO, part, x->ndim, x->size, &sparse_ways);
    if (made && once) tn_set_coalesced(made, true);
    return made;
}

static tn_tensor *sparse_sum(tni_block *b, tn_tensor *x, tn_tensor *y) {
    const bool sparse = x->flags & y->flags & TNI_SPARSE;
    if (sparse && tn_sparse_part(x, 0)->size[0] == tn_sparse_part(y, 0)->size[0])
        return sparse_both(b, x, y);
    x = tni_grad_dense(b, x);
    y = x ? tni_grad_dense(b, y) : NULL;
    return y ? tnp_add(x, y, 1) : NULL;
}

static tn_tensor *sparse_copy(tni_block *b, tn_tensor *t) {
    tn_tensor *part[2], *made;
    part[0] = tn_sparse_part(t, 0);
    part[1] = tnp_clone(tn_sparse_part(t, 1), TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    if (!part[1]) return NULL;
    made = tni_sparse_header(b, TN_SPARSE_COO, part, t->ndim, t->size, &sparse_ways);
    if (made) tn_set_coalesced(made, tn_is_coalesced(t));
    return made;
}

TN_API tn_tensor *tn_sparse_new_at(const char *file, int line, tn_layout layout, tn_tensors parts,
                                   tn_ints size) {
    tni_block *b = tni_here();
    tn_tensor *t = NULL;
    if (!tni_enter(b, file, line)) return NULL;
    if (tni_sparse_may_be(b, (int)layout, parts, size))
        t = tni_sparse_header(b, (int)layout, parts.at, (int)size.n, size.at, &sparse_ways);
    return tni_leave(b, t != NULL) ? t : NULL;
}
TN_API tn_tensor *tn_sparse_coo_at(const char *file, int line, tn_tensor *indices,
                                   tn_tensor *values, tn_ints size) {
    tn_tensor *parts[2];
    parts[0] = indices;
    parts[1] = values;
    return tn_sparse_new_at(file, line, TN_SPARSE_COO, tn_tensors_of(parts, 2), size);
}
