/* engine.c - backward: a heap of nodes by number, gradients pending in the nodes, leaves staged and
 * published at the end.
 *
 * A node's number is larger than those of its inputs, so taking the largest first is a topological
 * order: no count of dependencies, no recursion. A node is claimed by one backward (busy holds its
 * number); a second one is refused. Nothing visible changes before publish, which adds to .grad
 * under one lock a context and cannot fail. Hooks may free what backward runs through: roots and
 * wanted tensors are counted, nodes wait from the first hook to the end. */
#include "engine.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

/* --- sending gradients ------------------------------------------------------------------------ */

/* The gradient of output k that waits in n. */
TNI_INLINE tn_tensor **engine_pending(tni_node *n, uint32_t k) {
    return (tn_tensor **)(void *)&n->slot[n->nin + (int32_t)k].edge;
}

/* Adds grad (borrowed) to *to, which then has one count. In place when nobody else can see the sum
 * so far. */
static bool engine_accumulate(tni_engine *e, tn_tensor **to, tn_tensor *grad) {
    tn_tensor *sum = *to;
    if (!sum) {
        tni_retain(grad);
        *to = grad;
        return true;
    }
    /* Only this engine counts sum, and sum alone its storage: the addition in place is
     * seen by nobody. */
    if (!e->create && !((sum->flags ^ grad->flags) & TNI_BATCHED) && tni_load(&sum->refs) == 1 &&
        !sum->base && sum->owner == e->b && sum->flags & TNI_CONTIGUOUS &&
        tni_load(&sum->storage->refs) == 1 && !(grad->flags & TNI_SPARSE))
        return tnp_add_(sum, grad, 1) != NULL;
    sum = tni_grad_sum(e->b, sum, grad);
    if (!sum) return false;
    tni_retain(sum);
    tni_release(e->b, *to);
    *to = sum;
    return true;
}

/* Makes n this backward's own, with an error if another one has it or its saved
 * tensors are gone. */
static bool engine_claim(tni_engine *e, tni_node *n) {
    uint64_t expected = 0;
    if (!tni_swap_if(&n->busy, &expected, e->number)) {
        if (expected == e->number) return true;
        tni_error(e->b, TN_AUTOGRAD, "another backward is already running through this graph");
        tni_node_error(e->b, n);
        return false;
    }
    if (n->released) { /* all else of the node is read by who has claimed it */
        tni_store(&n->busy, (uint64_t)0);
        tni_error(e->b, TN_AUTOGRAD,
                  "backward ran a second time through a graph whose saved tensors were freed; pass "
                  "retain_graph to the first");
        tni_node_error(e->b, n);
        return false;
    }
    return true;
}

/* The node is given up, unless it is among those that are useful: they are all claimed to
 * the end. */
static void engine_leave(tni_engine *e, tni_node *n) {
    if (!e->wanted) tni_store(&n->busy, (uint64_t)0);
}

/* Drops the gradients that wait in n. */
static void engine_clear(tni_engine *e, tni_node *n) {
    for (int k = 0; k < n->nout; k++) {
        tn_tensor *pending = (tn_tensor *)n->slot[n->nin + k].edge;
        n->slot[n->nin + k].edge = NULL;
        if (pending) tni_release(e->b, pending);
    }
}

/* Adds grad to what waits for output `out` of a node, or for a leaf. With wanted inputs, only what
 * leads to one is followed. */
static bool engine_send(tni_engine *e, void *edge, uint32_t out, tn_tensor *grad) {
    tni_node *n = (tni_node *)edge;
    if (TNI_UNLIKELY(grad->flags & TNI_SPARSE) && !tni_grad_layout(e->b, grad, "backward"))
        return false;
    if (tni_edge_is_leaf(edge)) {
        tni_entry *entry = tni_entry_find(e, tni_edge_leaf(edge), 0, !e->wanted);
        if (!entry) return e->wanted != NULL;
        if (tni_extra_there((tn_tensor *)entry->key)) e->leaf_hooks = true;
        return engine_accumulate(e, &entry->grad, grad);
    }
    if (e->wanted && !n->useful) return true;
    if (TNI_UNLIKELY(grad->flags & TNI_SPARSE) && !(grad = tni_grad_dense(e->b, grad)))
        return false;
    /* A node that had no gradient yet is claimed and queued; a failure gives it back. */
    /* Claimed to the end: no other backward may run through it meanwhile. */
    if (!engine_claim(e, n)) return false;
    if (engine_accumulate(e, engine_pending(n, out), grad) && (n->queued || tni_queue_push(e, n)))
        return true;
    if (n->queued) return false; /* its turn to be cleared comes with the heap */
    engine_clear(e, n);
    engine_leave(e, n);
    return false;
}

/* --- one node --------------------------------------------------------------------------------- */

/* Stages the gradient of t, which is no leaf but wants .grad, and counts both until the end. */
static bool engine_retain(tni_engine *e, tn_tensor *t, tn_tensor *grad) {
    tni_entry *entry;
    if (e->wanted && !e->wanted->into_grad) return true;
    if (!(entry = tni_entry_find(e, t, 0, true))) return false;
    tni_retain(t);
    tni_retain(grad);
    entry->retained = true;
    entry->grad = grad;
    return true;
}

/* Hooks, then retained gradients and inputs of tn_grads that are outputs of this node. */
static bool engine_watch(tni_engine *e, tni_node *n) {
    for (tni_watch *w = n->watch; w;) {
        tn_tensor **pending = engine_pending(n, w->out);
        /* Hooks added since this backward began wait for the next one; without a gradient there is
         * nothing to see. */
        if (w->retain || w->all || w->number > e->last_hook || !*pending) {
            w = w->next;
            continue;
        }
        tni_engine_hold(e);
        if (!tni_watch_call(e->b, n->owner, &n->watch, &w, pending)) return false;
    }
    for (tni_watch *w = n->watch; w; w = w->next) {
        tn_tensor *pending = *engine_pending(n, w->out);
        if (w->retain && pending && !engine_retain(e, w->retain, pending)) return false;
    }
    /* Wanted results of this node: their gradients are complete now. */
    if (e->wanted)
        for (uint32_t k = 0; k < n->nout; k++) {
            tni_entry *entry = tni_entry_find(e, n, k, false);
            tn_tensor *pending = *engine_pending(n, k);
            if (entry && pending) {
                tni_retain(pending);
                entry->grad = pending;
            }
        }
    return true;
}

/* A finite sum has no NaN among its terms; only where it is not finite are they looked at. */
static bool engine_has_nan(tn_tensor *t) {
    const tn_tensor *sum, *dense;
    tn_scalar v;
    t = tni_values_of(t);
    if (t->flags & TNI_META) return false;
    if (t->flags & TNI_DEVICE && !(t = tnp_to(t, TN_CPU, TN_NO_DTYPE, false, false))) return false;
    sum = tnp_sum(t, tn_no_dims(), false, TN_NO_DTYPE);
    if (!sum) return false;
    v = tni_element(tni_bytes_at(sum), sum->dtype);
    if (v.real - v.real == 0 && v.imaginary - v.imaginary == 0) return false;
    dense = tnp_contiguous(t);
    for (int64_t i = 0; dense && i < dense->numel; i++) {
        v = tni_element(tni_bytes_at(dense) + i * tni_dtype_size(dense), dense->dtype);
        if (v.real != v.real || v.imaginary != v.imaginary) return true;
    }
    return false;
}

/* In anomaly mode: an error that names the forward call if a gradient has a NaN. */
static bool engine_anomaly(tni_engine *e, tni_node *n, const tn_gradient *g) {
    for (int i = 0; i < n->nin; i++) {
        char text[128];
        if (!g->give[i] || !engine_has_nan(g->give[i])) continue;
        tni_error(e->b, TN_AUTOGRAD, "anomaly: the gradient of %s for input %d, %s, has NaN",
                  n->row->name, i, tni_tensor_text(text, sizeof text, g->give[i]));
        tni_node_error(e->b, n);
        return false;
    }
    return !e->b->failed;
}

/* Hooks of the call n itself, where it has any. */
static bool engine_call_hooks(tni_engine *e, tni_node *n, tn_gradient *g) {
    for (tni_watch *w = n->watch; w; w = w->next)
        if (w->run) return w->run(e, n, g);
    return true;
}

/* Whether an edge, or NULL, leads to a wanted input. */
static bool engine_leads(tni_engine *e, void *edge) {
    if (!edge) return false;
    return tni_edge_is_leaf(edge) ? tni_entry_find(e, tni_edge_leaf(edge), 0, false) != NULL
                                  : ((tni_node *)edge)->useful;
}

/* With wanted inputs a row is asked for what leads to one alone; a hook or a custom function may
 * look at the others. */
static void engine_narrow(tni_engine *e, const tni_node *n, tni_gradient_room *room) {
    if (n->function || n->watch) return;
    for (int i = 0; i < n->nin; i++)
        room->want[i] = room->want[i] && engine_leads(e, n->slot[i].edge);
}

static bool engine_gradients(tni_engine *e, tni_node *n, tn_gradient *g) {
    /* The fused gradient cannot be differentiated again, so a graph of gradients takes
     * the plain one. */
    void (*grad)(tn_gradient *) = !e->create && n->row->fused ? n->row->fused : n->row->grad;
    if (n->function) {
        if (!tni_function_backward(g)) return false;
    } else
        grad(g);
    if (e->b->failed || (n->watch && !engine_call_hooks(e, n, g))) return false;
    if (tni_library(e->b->context)->anomaly && !engine_anomaly(e, n, g)) return false;
    for (int i = 0; i < n->nin; i++)
        if (g->give[i] && !engine_send(e, n->slot[i].edge, n->slot[i].edge_out, g->give[i]))
            return false;
    return true;
}

/* The node of the largest number: hooks, its gradient, then its inputs get theirs. All that it
 * makes lives in a scope of its own. */
static bool engine_step(tni_engine *e) {
    tni_block *b = e->b;
    tni_node *n = tni_queue_pop(e);
    tn_gradient g;
    tni_gradient_room room;
    int64_t mark = tni_begin(b);
    bool ok = mark >= 0;
    room.bytes = 0;
    ok = ok && (!(n->watch || e->wanted) || engine_watch(e, n)) &&
         (!n->watch || engine_call_hooks(e, n, NULL));
    if (ok) {
        ok = tni_gradient_open(b, n, &g, &room, e->create);
        if (ok && e->wanted) engine_narrow(e, n, &room);
        ok = ok && engine_gradients(e, n, &g);
        /* The first error of a backward names the row and its forward call, once. */
        if (!ok && !b->error_forward) {
            b->error_forward = true;
            tni_error_more(b, "\n  in the gradient of %s", n->row->name);
            tni_node_error(b, n);
        }
    }
    engine_clear(e, n);
    /* Everything that was made for this node goes before its saved tensors do. */
    tni_end(b, mark);
    tni_gradient_close(b, &room);
    if (ok && !e->keep) tni_node_release_saved(b, n);
    engine_leave(e, n);
    return ok;
}

/* --- streams of devices ----------------------------------------------------------------------- */

/* The next node's calls go into the stream of its own call. Of a node that has none, as a view's,
 * they go where its gradient was made; the calls wait for what they read. */
static void engine_turn(tni_engine *e, const tni_streams_now *before) {
    const tni_node *n = e->heap[0];
    memcpy(tni_state(e->b)->streams->of, before->of, sizeof before->of);
    if (n->streamed) { /* results lie on the call's device; those of `to` came from another one */
        const int all = n->nin + n->nout;
        for (int i = 0; i < all; i++) {
            const tn_device_id device = n->slot[(n->nin + i) % all].device;
            if (device <= TN_META) continue;
            tni_streams_go(e->b, device, n->stream);
            return;
        }
        return;
    }
    for (int k = 0; k < n->nout; k++) {
        const tn_tensor *t = (const tn_tensor *)n->slot[n->nin + k].edge;
        if (t && t->flags & TNI_DEVICE && t->storage) {
            tni_streams_go(e->b, t->device, t->storage->stream);
            return;
        }
    }
}

/* All steps, where the context has streams. */
static TNI_NOINLINE bool engine_steps_in_streams(tni_engine *e) {
    tni_streams_now before;
    bool ok = tni_streams_begin(e->b, &before);
    if (!ok) return false;
    while (ok && e->nheap) {
        engine_turn(e, &before);
        ok = engine_step(e);
    }
    return tni_streams_end(e->b, &before) && ok;
}

/* --- inputs that are wanted ------------------------------------------------------------------- */

typedef struct engine_nodes {
    tni_node **at;
    int64_t n, room;
} engine_nodes;

/* Adds n to the list unless it is there, and claims it. */
static bool engine_reach(tni_engine *e, engine_nodes *l, tni_node *n) {
    if (tni_load(&n->busy) == e->number) return true;
    /* The list doubles. */
    if (l->n == l->room) {
        int64_t room = l->room ? 2 * l->room : 64;
        tni_node **more = (tni_node **)tni_need(e->b, room * (int64_t)sizeof *more);
        if (!more) return false;
        if (l->n) memcpy(more, l->at, (size_t)l->n * sizeof *more);
        tni_put(e->b, e->b, l->at, l->room * (int64_t)sizeof *more);
        l->at = more;
        l->room = room;
    }
    if (!engine_claim(e, n)) return false;
    n->useful = 0;
    l->at[l->n++] = n;
    return true;
}

/* Whether n has a wanted output, or an input that leads to one. Inputs have smaller numbers and
 * were marked before. */
static bool engine_is_useful(tni_engine *e, const tni_node *n) {
    for (uint32_t k = 0; k < n->nout; k++)
        if (tni_entry_find(e, (void *)(uintptr_t)n, k, false)) return true;
    for (int i = 0; i < n->nin; i++)
        if (engine_leads(e, n->slot[i].edge)) return true;
    return false;
}

static int engine_by_id(const void *a, const void *b) {
    uint64_t x = (*(tni_node *const *)a)->id, y = (*(tni_node *const *)b)->id;
    return x < y ? -1 : x > y;
}

/* Marks the nodes from which a wanted input is reached; a walk by worklist, then once by
 * rising number. */
static bool engine_mark(tni_engine *e, tn_tensors roots, engine_nodes *l) {
    /* The list grows while it is walked: all nodes that the roots lead to. */
    bool ok = true;
    for (int64_t i = 0; ok && i < roots.n; i++)
        if (roots.at[i] && roots.at[i]->node) ok = engine_reach(e, l, roots.at[i]->node);
    for (int64_t at = 0; ok && at < l->n; at++) {
        tni_node *n = l->at[at];
        for (int i = 0; ok && i < n->nin; i++)
            if (n->slot[i].edge && !tni_edge_is_leaf(n->slot[i].edge))
                ok = engine_reach(e, l, (tni_node *)n->slot[i].edge);
    }
    if (!ok) return false;
    /* By rising number, so a node comes after its inputs. */
    if (l->n > 1) qsort(l->at, (size_t)l->n, sizeof *l->at, engine_by_id);
    for (int64_t i = 0; i < l->n; i++) l->at[i]->useful = engine_is_useful(e, l->at[i]);
    return true;
}

/* Makes the entries of wanted inputs and notes where each stands. */
static bool engine_want(tni_engine *e) {
    const tni_wanted *w = e->wanted;
    int64_t bytes;
    if (!w->inputs.n) return true;
    if (!tni_bytes(w->inputs.n, (int64_t)sizeof *e->place, &bytes) ||
        !(e->place = (tni_place *)tni_need(e->b, bytes)))
        return false;
    for (int64_t i = 0; i < w->inputs.n; i++) {
        /* Each input must be there, require grad, and be of this context. */
        tn_tensor *t = w->inputs.at[i];
        tni_place *place = &e->place[i];
        if (!t) return tni_error(e->b, TN_INVALID, "input %lld is NULL", (long long)i);
        t = tni_values_of(t);
        if (!(t->flags & TNI_REQUIRES))
            return tni_error(e->b, TN_AUTOGRAD, "input %lld does not require grad", (long long)i);
        if (!tni_belongs(e->b, t, "backward")) return false;
        if (tni_view_is_stale(t) && !tni_view_refresh(e->b, t)) return false;
        /* A result is found at its node, a leaf at itself. */
        place->key = t->node ? (void *)t->node : (void *)t;
        place->out = t->node ? t->node_out : 0;
        if (!tni_entry_find(e, place->key, place->out, true)) return false;
    }
    return true;
}

/* --- a backward ------------------------------------------------------------------------------- */

/* A new tensor of one element, 1. A replay must fill it again, meta has no data, and a device has
 * its own: then by the operator. */
static tn_tensor *engine_one(tni_block *b, const tn_tensor *root) {
    tn_tensor *t;
    if (root->flags & (TNI_META | TNI_DEVICE) || tni_load_relaxed(&b->hooks))
        return tnp_ones_like((tn_tensor *)(uintptr_t)root, TN_NO_DTYPE, TN_NO_DEVICE);
    t = tni_new(b, root->dtype, root->ndim, root->size);
    if (t) tni_element_set(t->storage->data, t->dtype, tn_float(1));
    return t;
}

/* The gradient that backward begins with at a root: the one given, of the root's dtype, or 1
 * for one element. */
static tn_tensor *engine_seed(tni_engine *e, tn_tensor *root, tn_tensor *seed, int64_t i) {
    char a[128], c[128];
    if (!seed && root->numel == 1 && tni_is_complex(root->dtype)) {
        tni_error(e->b, TN_AUTOGRAD,
                  "grad can be implicitly created only for real scalar outputs but got %s",
                  tni_dtype(root->dtype)->text);
        return NULL;
    }
    if (!seed) {
        if (root->numel == 1) return engine_one(e->b, root);
        tni_error(e->b, TN_AUTOGRAD,
                  "output %lld is %s: only a tensor of one element has an implicit gradient of 1",
                  (long long)i, tni_tensor_text(a, sizeof a, root));
        return NULL;
    }
    if (!tni_usable(e->b, seed, "backward")) return NULL;
    /* A seed must be of the root's kind and shape; its dtype is converted. */
    if (tni_is_complex(seed->dtype) != tni_is_complex(root->dtype)) {
        tni_error(e->b, TN_AUTOGRAD,
                  "the gradient given for output %lld is %s, but the output is %s: both must be "
                  "real, or both complex",
                  (long long)i, tni_dtype(seed->dtype)->text, tni_dtype(root->dtype)->text);
        return NULL;
    }
    if (tni_same_shape(seed, root))
        return seed->dtype == root->dtype
                   ? seed
                   : tnp_to(seed, TN_NO_DEVICE, (tn_dtype)root->dtype, false, false);
    tni_error(e->b, TN_AUTOGRAD, "the gradient given for output %lld is %s, but the output is %s",
              (long long)i, tni_tensor_text(a, sizeof a, seed), tni_tensor_text(c, sizeof c, root));
    return NULL;
}

/* Checks the roots and sends them their seeds. */
static bool engine_roots(tni_engine *e, tn_tensors roots, tn_tensor *const *seeds) {
    for (int64_t i = 0; i < roots.n; i++) {
        tn_tensor *t = roots.at[i], *seed;
        if (!t) return tni_error(e->b, TN_INVALID, "output %lld is NULL", (long long)i);
        if (!(t->flags & TNI_REQUIRES))
            return tni_error(
                e->b, TN_AUTOGRAD,
                "element %lld of tensors does not require grad and does not have a grad_fn",
                (long long)i);
        if (!tni_belongs(e->b, t, "backward")) return false;
        /* The edge of a root: its node, or itself as a leaf. */
        if (!(seed = engine_seed(e, t, seeds ? seeds[i] : NULL, i))) return false;
        if (!engine_send(e, t->node ? (void *)t->node : (void *)((uintptr_t)t | 1), t->node_out,
                         seed))
            return false;
    }
    return true;
}

/* Roots that are views of a base written since lead to the base now; before the walk that marks
 * what is useful. */
static bool engine_refresh(tni_engine *e, tn_tensors roots) {
    for (int64_t i = 0; i < roots.n; i++) {
        tn_tensor *t = roots.at[i];
        if (t && tni_view_is_stale(t) && !tni_view_refresh(e->b, t)) return false;
    }
    return true;
}

/* After a failure: pending gradients and claims of the nodes still queued go. */
static void engine_unqueue(tni_engine *e) {
    for (int64_t i = 0; i < e->nheap; i++) {
        engine_clear(e, e->heap[i]);
        e->heap[i]->queued = 0;
        engine_leave(e, e->heap[i]);
    }
}

/* Memory of the engine and counts of its entries, after publish or after a failure. */
static void engine_drop(tni_engine *e) {
    for (int64_t i = 0, left = e->nentries; left; i++) {
        left -= e->table[i].key != NULL;
        if (!e->table[i].key) continue;
        tni_release(e->b, e->table[i].grad);
        if (e->table[i].retained) tni_release(e->b, (tn_tensor *)e->table[i].key);
    }
    if (e->place) tni_put(e->b, e->b, e->place, e->wanted->inputs.n * (int64_t)sizeof *e->place);
    if (e->heap != e->heap_inline)
        tni_put(e->b, e->b, e->heap, e->heap_room * (int64_t)sizeof *e->heap);
    if (e->table != e->table_inline)
        tni_put(e->b, e->b, e->table, e->table_room * (int64_t)sizeof *e->table);
}

/* Gives up the nodes that engine_mark claimed; each was counted since. */
static void engine_unmark(tni_engine *e, engine_nodes *l) {
    for (int64_t i = 0; i < l->n; i++) {
        l->at[i]->useful = 0;
        tni_store(&l->at[i]->busy, (uint64_t)0);
        tni_node_drop(e->b, l->at[i]);
    }
    tni_put(e->b, e->b, l->at, l->room * (int64_t)sizeof *l->at);
}

static bool engine_go(tni_engine *e, tn_tensors roots, tn_tensor *const *seeds) {
    /* Stale views first, since the walk that marks follows the history as it is. */
    engine_nodes nodes = {NULL, 0, 0};
    bool ok = engine_refresh(e, roots);
    if (ok && e->wanted) {
        ok = engine_want(e) && engine_mark(e, roots, &nodes);
        for (int64_t i = 0; i < nodes.n; i++) tni_fetch_add_relaxed(&nodes.at[i]->refs, 1u);
    }
    ok = ok && engine_roots(e, roots, seeds);
    /* Each step may queue nodes of smaller number only, so this ends. */
    if (TNI_UNLIKELY(tni_streams_any(e->b)) && ok) ok = engine_steps_in_streams(e);
    while (ok && e->nheap) ok = engine_step(e);
    if (ok) ok = e->wanted ? tni_hand_out(e) : tni_publish(e);
    /* After success the heap is empty. */
    engine_unqueue(e);
    engine_unmark(e, &nodes);
    return ok;
}

/* Counts roots and wanted tensors, which a hook may free, up or down. */
static void engine_count(tni_block *b, tn_tensors l, bool up) {
    for (int64_t i = 0; i < l.n; i++)
        if (up)
            tni_retain(l.at[i]);
        else
            tni_release(b, l.at[i]);
}

/* Results go to the caller's scope; after a failure there are none. */
static void engine_results(tni_block *b, const tni_wanted *w, bool ok) {
    for (int64_t i = 0; i < w->inputs.n; i++)
        if (!ok)
            w->grads[i] = NULL;
        else if (w->grads[i])
            tni_move(b, w->grads[i], tni_state(b)->depth);
}

TN_PRIV bool tni_engine_run(tni_block *b, tn_tensors roots, tn_tensor *const *seeds, bool keep,
                            bool create, const tni_wanted *wanted) {
    tni_engine e;
    uint8_t no_grad = tni_state(b)->no_grad;
    uint16_t inference = tni_state(b)->inference;
    const uint32_t autocast = tni_autocast_modes(b);
    int64_t mark = tni_begin(b);
    bool ok;
    if (mark < 0) return false;
    if (tni_calls(b)->backwards >= TNI_BACKWARDS) {
        tni_end(b, mark);
        return tni_error(b, TN_INVALID, "%d calls of backward, each within the one before",
                         TNI_BACKWARDS);
    }
    if (autocast) tni_autocast_set(b, 0); /* gradients have their tensors' dtypes */
    /* The struct is set field by field: its inline memory stays as it is. */
    e.b = b;
    e.keep = keep || create;
    e.create = create;
    e.leaf_hooks = e.hooked = false;
    e.number = tni_fetch_add_relaxed(&tni_library(b->context)->backwards, (uint64_t)1) + 1;
    e.last_hook = (int64_t)tni_load_relaxed(&tni_library(b->context)->hooks);
    e.wanted = wanted;
    e.place = NULL;
    /* Queue and table begin in the frame: small graphs need no memory. */
    e.heap = e.heap_inline;
    e.nheap = 0;
    e.heap_room = TNI_HEAP;
    e.table = e.table_inline;
    e.nentries = 0;
    e.table_room = TNI_TABLE;
    for (int i = 0; i < TNI_TABLE; i++) e.table_inline[i].key = NULL;
    /* Gradients are recorded if the caller wants a graph of them. */
    tni_state(b)->no_grad = create ? 0 : TNI_NO_GRAD;
    tni_state(b)->inference = 0; /* .grad belongs to tensors that are none of inference */
    b->place_hold++;
    tni_calls(b)->backwards++;
    engine_count(b, roots, true);
    if (wanted) engine_count(b, wanted->inputs, true);
    ok = engine_go(&e, roots, seeds);
    /* In the reverse order of the beginning; nodes whose freeing a hook put off go last. */
    engine_drop(&e);
    b->place_hold--;
    tni_calls(b)->backwards--;
    tni_state(b)->no_grad = no_grad;
    tni_state(b)->inference = inference;
    if (autocast) tni_autocast_set(b, autocast);
    tni_end(b, mark);
    /* Results move to the caller's scope, now that this one has ended. */
    if (wanted && !wanted->into_grad) engine_results(b, wanted, ok);
    if (wanted) engine_count(b, wanted->inputs, false);
    engine_count(b, roots, false);
    if (e.hooked) {
        tni_calls(b)->sweeping = e.sweeping;
        tni_node_sweep(b);
    }
    return ok;
}
