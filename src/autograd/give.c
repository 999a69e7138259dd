/* give.c - what the gradient of a row calls: it reads incoming gradients and gives those of inputs,
 * summed to their shape and converted to their dtype. Walks no tape. */
#include "give.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"
#include "autograd.h"

/* Sums t to the sizes of the input it is the gradient of: leading dimensions, then those broadcast
 * from 1. */
static tn_tensor *give_sum(tn_tensor *t, const tn_tensor *to) {
    int64_t dims[TN_MAX_DIMS];
    int n = 0, lead = t->ndim - to->ndim;
    if (lead < 0) return tnp_expand(t, tni_sizes(to), false);
    for (int i = 0; i < t->ndim; i++)
        if (i < lead || (to->size[i - lead] == 1 && t->size[i] != 1)) dims[n++] = i;
    if (n) t = tnp_sum(t, tni_ints(dims, n), true, TN_NO_DTYPE);
    return lead ? tnp_reshape(t, tni_sizes(to)) : t;
}

TN_API void tn_give(tn_gradient *g, int slot, tn_tensor *t) {
    const tn_tensor *to;
    if (!t || slot >= g->nin || !g->want[slot]) return;
    to = g->in[slot];
    /* The common case: it fits, and is the only one for this input. */
    if (TNI_LIKELY(t->dtype == to->dtype && tni_same_shape(t, to) && !g->give[slot] &&
                   !(t->flags & (TNI_STACK | TNI_DEVICE)))) {
        g->give[slot] = t;
        return;
    }
    if (TNI_UNLIKELY(t->flags & TNI_SPARSE) && !(t = tni_grad_dense(g->block, t))) return;
    if (t->flags & TNI_STACK) /* a number outlives this call as a tensor; a ghost has no data */
        t = tnp_clone(t, (tn_memory_format)0);
    /* Of a real input only the real part counts; then to its shape, then to its dtype. */
    if (t && tni_is_complex(t->dtype) && !tni_is_complex(to->dtype)) t = tnp_real(t);
    if (t && !tni_same_shape(t, to)) t = give_sum(t, to);
    if (t && (t->dtype != to->dtype || t->device != to->device))
        t = tnp_to(t, to->device, (tn_dtype)to->dtype, false, false);
    if (!t) return;
    /* A row that gives another shape is at fault, not its user. */
    if (!tni_same_shape(t, to)) {
        char a[128], c[128];
        tni_error(g->block, TN_INTERNAL, "the gradient of %s has shape %s for input %d of shape %s",
                  g->row->name, tni_shape_text(a, sizeof a, t->ndim, t->size), slot,
                  tni_shape_text(c, sizeof c, to->ndim, to->size));
        return;
    }
    /* An input that a row uses twice gets the sum. */
    g->give[slot] = g->give[slot] ? tnp_add(g->give[slot], t, 1) : t;
}

TN_API tn_tensor *tn_incoming(tn_gradient *g, int k) {
    const tn_tensor *out = g->out[k];
    if (!g->incoming[k] && out)
        g->incoming[k] = tnp_zeros(tni_sizes(out), (tn_dtype)out->dtype, out->device);
    return g->incoming[k];
}

TN_PRIV void tni_give_flat(tn_gradient *g, int i, tn_tensor *t) {
    tni_slot *s = &((tni_node *)g->node)->slot[i];
    tn_tensor *from = t, *yes;
    /* Only for a graph of gradients: where(true, t, input) has t's value, and a gradient of zero
     * for the input. */
    if (t && !(t->flags & TNI_BATCHED) && !tni_state(g->block)->no_grad && g->want[i]) {
        if (tni_edge_is_leaf(s->edge))
            from = tni_edge_leaf(s->edge);
        else if ((from = tni_share(g->block, t->storage, t)) != NULL)
            tni_node_hang(g->block, (tni_node *)s->edge, from, (int)s->edge_out);
        yes = tnp_ones(tni_ints(t->size, 0), TN_BOOL, t->device);
        if (!from || (tni_same_shape(from, t) && from->dtype == t->dtype))
            t = tnp_where(yes, t, from);
    }
    tn_give(g, i, t);
}
