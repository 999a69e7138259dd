/* view.c - history of views and of bases that were written through them.
 *
 * A recorded write into a view gives its base the node as_strided_scatter(base, view); a view whose
 * storage was written since its own edge was made is, from then on, as_strided(base). These two
 * rows are all that the tape knows by name. */
#include "../api/ops/shape.h"
#include "call.h"

/* The two rows that the tape knows by name (ops/shape/strided.c). */
TN_PRIV_DECLARE(tn_row, tni_row_as_strided);
TN_PRIV_DECLARE(tn_row, tni_row_as_strided_scatter);

/* A frame that only makes a node: the row is not run. */
static void view_frame(tni_block *b, tni_call *c, const tn_row *row, const void *args) {
    tni_frame_begin(&c->f, b, row, TN_PLAIN, NULL, 0, args);
    c->f.nout = 1;
    c->f.recording = true;
    c->f.work.caller = b->work;
}

TN_PRIV bool tni_view_refresh(tni_block *b, tn_tensor *view) {
    tn_as_strided_args a;
    tni_call c;
    tni_node *n;
    if (TNI_INFERENCE_ONLY) { /* no nodes: it requires grad as its base does, a leaf */
        view->edge_version = tni_load_relaxed(tni_version_of(view));
        view->flags |= view->base->flags & (TNI_REQUIRES | TNI_LEAF);
        return true;
    }
    if (view->storage != view->base->storage) { /* left behind by tn_swap_data: its history stays */
        view->edge_version = tni_load_relaxed(tni_version_of(view));
        return true;
    }
    /* The view's geometry within the base's, as arguments of the row. */
    memset(&a, 0, sizeof a);
    a.size = tni_sizes(view);
    a.stride = tni_ints(view->stride, view->ndim);
    a.storage_offset = view->offset;
    a.self_stride = tni_ints(view->base->stride, view->base->ndim);
    a.self_offset = view->base->offset;
    view_frame(b, &c, &tni_row_as_strided, &a);
    /* The base becomes scatter(base as it was, the view that this call writes). */
    c.f.in_[0] = view->base;
    c.f.nin = 1;
    c.f.out_[0] = view;
    n = tni_node_new(&c.f);
    if (!n) return false;
    tni_node_hang(b, n, view, 0);
    return true;
}

/* What is written is self: out= records nothing. */
static bool view_may_rebase(tn_frame *f, const tn_tensor *view) {
    if (tni_overlaps_itself(view->base)) /* one write, several elements of the base */
        return tn_fail(f, TN_AUTOGRAD,
                       "self is a view of an expanded tensor without history and must not be "
                       "written in place; clone that tensor first");
    if (view->storage == view->base->storage) return true;
    return tn_fail(f, TN_AUTOGRAD,
                   "self is a view of a tensor whose data tn_swap_data replaced; clone it");
}

TN_PRIV TNI_NOINLINE tni_node *tni_view_rebase(tn_frame *f, tn_tensor *view) {
    tn_as_strided_scatter_args a;
    tni_call c;
    tni_node *n;
    if (!view_may_rebase(f, view)) return NULL;
    memset(&a, 0, sizeof a);
    a.size = tni_sizes(view);
    a.stride = tni_ints(view->stride, view->ndim);
    a.storage_offset = view->offset;
    a.self_stride = tni_ints(view->base->stride, view->base->ndim);
    a.self_offset = view->base->offset;
    view_frame(f->block, &c, &tni_row_as_strided_scatter, &a);
    c.f.in_[0] = view->base;
    c.f.in_[1] = view;
    c.f.nin = 2;
    c.f.out_[0] = view->base;
    n = tni_node_new(&c.f);
    if (!n) return NULL;
    if (n->slot[1].edge) /* the view's old history, no leaf's, gives way to the call in f */
        tni_node_drop(f->block, (tni_node *)n->slot[1].edge);
    tni_fetch_add_relaxed(&f->node->refs, 1u);
    /* The scatter's second input is the result of the call in f. */
    n->slot[1].edge = f->node;
    n->slot[1].edge_out = 0;
    return n;
}
