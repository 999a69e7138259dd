/* engine.c - backward: a heap of nodes by number, gradients pending in the nodes, leaves staged and
 * published at the end.
 *
 * A node's number is larger than those of its inputs, so taking the largest first is a topological
 * order: no count of dependencies, no recursion. A node is claimed by one backward (busy holds its
 * number); a second one is refused. Nothing visible changes before publish, which adds to .grad
 * under one lock a context and cannot fail. Hooks may free what backward runs through: roots and
 * wanted tensors are counted, nodes wait from the first hook to the end. */
#include "autograd.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

enum { ENGINE_HEAP = 32, ENGINE_TABLE = 8 };

typedef struct engine_entry {
    void *key; /* leaf, tensor that retains its gradient (counted), or node of a wanted tensor */
    uint32_t out;
    tn_tensor *grad; /* staged, counted */
    bool retained;   /* key is no leaf, but retains its gradient */
    bool sum;        /* grad takes the place of .grad, which is in it */
    bool put;        /* .grad has it; of a wanted leaf: its hooks have run */
} engine_entry;

/* Where a wanted input stood at the beginning: a hook may give it another history. */
typedef struct engine_place {
    void *key;
    uint32_t out;
} engine_place;

typedef struct engine {
    tni_block *b;
    bool keep, create, leaf_hooks;
    bool hooked, sweeping; /* hooked: nodes wait from here on; sweeping: did they before */
    uint64_t number;
    int64_t last_hook; /* at the beginning: those added since wait for the next backward */
    const tni_wanted *wanted;
    engine_place *place; /* of each wanted input, NULL: none yet */
    tni_node **heap;
    int64_t nheap, heap_room;
    engine_entry *table; /* open addressing over a power of two */
    int64_t nentries, table_room;
    tni_node *heap_inline[ENGINE_HEAP];
    engine_entry table_inline[ENGINE_TABLE];
} engine;

/* --- the heap --------------------------------------------------------------------------------- */

static bool engine_grow(tni_block *b, void **at, int64_t *room, int64_t each,
                        const void *inline_at) {
    int64_t bytes;
    void *more;
    if (!tni_bytes(*room * 2, each, &bytes) || !(more = tni_need(b, bytes))) return false;
    memcpy(more, *at, (size_t)(*room * each));
    if (*at != inline_at) tni_put(b, b, *at, *room * each);
    *at = more;
    *room *= 2;
    return true;
}

static bool engine_push(engine *e, tni_node *n) {
    int64_t i = e->nheap;
    if (i == e->heap_room) {
        void *at = e->heap;
        if (!engine_grow(e->b, &at, &e->heap_room, (int64_t)sizeof *e->heap, e->heap_inline))
            return false;
        e->heap = (tni_node **)at;
    }
    e->nheap++;
    while (i > 0 && e->heap[(i - 1) / 2]->id < n->id) {
        e->heap[i] = e->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    e->heap[i] = n;
    n->queued = 1;
    return true;
}

static tni_node *engine_pop(engine *e) {
    tni_node *top = e->heap[0], *last = e->heap[--e->nheap];
    int64_t i = 0, n = e->nheap;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && e->heap[child + 1]->id > e->heap[child]->id) child++;
        if (e->heap[child]->id <= last->id) break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    if (n) e->heap[i] = last;
    top->queued = 0;
    return top;
}

/* --- the table of leaves and wanted tensors --------------------------------------------------- */

static int64_t engine_slot(const engine *e, const void *key, uint32_t out) {
    uint64_t h = ((uint64_t)(uintptr_t)key >> 6) * 0x9e3779b97f4a7c15u + out;
    int64_t i = (int64_t)(h >> 20) & (e->table_room - 1);
    while (e->table[i].key && (e->table[i].key != key || e->table[i].out != out))
        i = (i + 1) & (e->table_room - 1);
    return i;
}

static bool engine_table_grow(engine *e) {
    int64_t old_room = e->table_room, bytes = 2 * old_room * (int64_t)sizeof *e->table;
    engine_entry *old = e->table, *more = (engine_entry *)tni_need(e->b, bytes);
    if (!more) return false;
    memset(more, 0, (size_t)bytes);
    e->table = more;
    e->table_room = 2 * old_room;
    for (int64_t i = 0; i < old_room; i++)
        if (old[i].key) e->table[engine_slot(e, old[i].key, old[i].out)] = old[i];
    if (old != e->table_inline) tni_put(e->b, e->b, old, old_room * (int64_t)sizeof *old);
    return true;
}

static engine_entry *engine_find(engine *e, void *key, uint32_t out, bool make) {
    int64_t i = engine_slot(e, key, out);
    if (e->table[i].key || !make) return e->table[i].key ? &e->table[i] : NULL;
    if (2 * (e->nentries + 1) > e->table_room) {
        if (!engine_table_grow(e)) return NULL;
        i = engine_slot(e, key, out);
    }
    e->nentries++;
    e->table[i].key = key;
    e->table[i].out = out;
    e->table[i].grad = NULL;
    e->table[i].retained = e->table[i].sum = e->table[i].put = false;
    return &e->table[i];
}

/* --- sending gradients ------------------------------------------------------------------------ */

/* The gradient of output k that waits in n. */
TNI_INLINE tn_tensor **engine_pending(tni_node *n, uint32_t k) {
    return (tn_tensor **)(void *)&n->slot[n->nin + (int32_t)k].edge;
}

/* Adds grad (borrowed) to *to, which then has one count. In place when nobody else can see the sum
 * so far. */
static bool engine_accumulate(engine *e, tn_tensor **to, tn_tensor *grad) {
    tn_tensor *sum = *to;
    if (!sum) {
        tni_retain(grad);
        *to = grad;
        return true;
    }
    if (!e->create && tni_load(&sum->refs) == 1 && !sum->base && sum->owner == e->b &&
        sum->flags & TNI_CONTIGUOUS && tni_load(&sum->storage->refs) == 1)
        return tnp_add_(sum, grad, 1) != NULL;
    sum = tnp_add(sum, grad, 1);
    if (!sum) return false;
    tni_retain(sum);
    tni_release(e->b, *to);
    *to = sum;
    return true;
}

static bool engine_claim(engine *e, tni_node *n) {
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
static void engine_leave(engine *e, tni_node *n) {
    if (!e->wanted) tni_store(&n->busy, (uint64_t)0);
}

static void engine_clear(engine *e, tni_node *n) {
    for (int k = 0; k < n->nout; k++) {
        tn_tensor *pending = (tn_tensor *)n->slot[n->nin + k].edge;
        n->slot[n->nin + k].edge = NULL;
        if (pending) tni_release(e->b, pending);
    }
}

static bool engine_send(engine *e, void *edge, uint32_t out, tn_tensor *grad) {
    tni_node *n = (tni_node *)edge;
    if (tni_edge_is_leaf(edge)) {
        engine_entry *entry = engine_find(e, tni_edge_leaf(edge), 0, !e->wanted);
        if (!entry) return e->wanted != NULL;
        if (tni_extra_there((tn_tensor *)entry->key)) e->leaf_hooks = true;
        return engine_accumulate(e, &entry->grad, grad);
    }
    if (e->wanted && !n->useful) return true;
    if (!engine_claim(e, n)) return false;
    if (engine_accumulate(e, engine_pending(n, out), grad) && (n->queued || engine_push(e, n)))
        return true;
    if (n->queued) return false; /* its turn to be cleared comes with the heap */
    engine_clear(e, n);
    engine_leave(e, n);
    return false;
}

/* --- one node --------------------------------------------------------------------------------- */

/* A hook is about to run: nodes that lose their last count wait until the end of this backward. */
static void engine_hold(engine *e) {
    if (e->hooked) return;
    e->hooked = true;
    e->sweeping = tni_calls(e->b)->sweeping;
    tni_calls(e->b)->sweeping = true;
}

static bool engine_retain(engine *e, tn_tensor *t, tn_tensor *grad) {
    engine_entry *entry;
    if (e->wanted && !e->wanted->into_grad) return true;
    if (!(entry = engine_find(e, t, 0, true))) return false;
    tni_retain(t), tni_retain(grad);
    entry->retained = true;
    entry->grad = grad;
    return true;
}

/* Hooks, then retained gradients and inputs of tn_grads that are outputs of this node. */
static bool engine_watch(engine *e, tni_node *n) {
    for (tni_watch *w = n->watch; w;) {
        tn_tensor **pending = engine_pending(n, w->out);
        if (w->retain || w->number > e->last_hook || !*pending) {
            w = w->next;
            continue;
        }
        engine_hold(e);
        if (!tni_watch_call(e->b, n->owner, &n->watch, &w, pending)) return false;
    }
    for (tni_watch *w = n->watch; w; w = w->next) {
        tn_tensor *pending = *engine_pending(n, w->out);
        if (w->retain && pending && !engine_retain(e, w->retain, pending)) return false;
    }
    if (e->wanted)
        for (uint32_t k = 0; k < n->nout; k++) {
            engine_entry *entry = engine_find(e, n, k, false);
            tn_tensor *pending = *engine_pending(n, k);
            if (entry && pending) tni_retain(pending), entry->grad = pending;
        }
    return true;
}

static bool engine_has_nan(const tn_tensor *t) {
    tn_tensor *mask = tnp_isnan((tn_tensor *)(uintptr_t)t);
    tn_tensor *any = mask ? tnp_any(mask) : NULL;
    return any && tn_item(any) != 0;
}

static bool engine_anomaly(engine *e, tni_node *n, const tn_gradient *g) {
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

static bool engine_gradients(engine *e, tni_node *n, tn_gradient *g) {
    void (*grad)(tn_gradient *) = !e->create && n->row->fused ? n->row->fused : n->row->grad;
    if (n->function) {
        if (!tni_function_backward(g)) return false;
    } else
        grad(g);
    if (e->b->failed) return false;
    if (tni_library(e->b->context)->anomaly && !engine_anomaly(e, n, g)) return false;
    for (int i = 0; i < n->nin; i++)
        if (g->give[i] && !engine_send(e, n->slot[i].edge, n->slot[i].edge_out, g->give[i]))
            return false;
    return true;
}

static bool engine_step(engine *e) {
    tni_block *b = e->b;
    tni_node *n = engine_pop(e);
    tn_gradient g;
    tni_gradient_room room;
    int64_t mark = tni_begin(b);
    bool ok = mark >= 0;
    room.bytes = 0;
    ok = ok && (!(n->watch || e->wanted) || engine_watch(e, n));
    if (ok) {
        ok = tni_gradient_open(b, n, &g, &room, e->create) && engine_gradients(e, n, &g);
        if (!ok && !b->error_forward) {
            b->error_forward = true;
            tni_error_more(b, "\n  in the gradient of %s", n->row->name);
            tni_node_error(b, n);
        }
    }
    engine_clear(e, n);
    tni_end(b, mark);
    tni_gradient_close(b, &room);
    if (ok && !e->keep) tni_node_release_saved(b, n);
    engine_leave(e, n);
    return ok;
}

/* --- inputs that are wanted ------------------------------------------------------------------- */

typedef struct engine_nodes {
    tni_node **at;
    int64_t n, room;
} engine_nodes;

static bool engine_reach(engine *e, engine_nodes *l, tni_node *n) {
    if (tni_load(&n->busy) == e->number) return true;
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

static bool engine_is_useful(engine *e, const tni_node *n) {
    for (uint32_t k = 0; k < n->nout; k++)
        if (engine_find(e, (void *)(uintptr_t)n, k, false)) return true;
    for (int i = 0; i < n->nin; i++) {
        void *edge = n->slot[i].edge;
        if (!edge) continue;
        if (tni_edge_is_leaf(edge) ? engine_find(e, tni_edge_leaf(edge), 0, false) != NULL
                                   : ((tni_node *)edge)->useful)
            return true;
    }
    return false;
}

static int engine_by_id(const void *a, const void *b) {
    uint64_t x = (*(tni_node *const *)a)->id, y = (*(tni_node *const *)b)->id;
    return x < y ? -1 : x > y;
}

/* Marks the nodes from which a wanted input is reached; a walk by worklist, then once by
 * rising number. */
static bool engine_mark(engine *e, tn_tensors roots, engine_nodes *l) {
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
    if (l->n > 1) qsort(l->at, (size_t)l->n, sizeof *l->at, engine_by_id);
    for (int64_t i = 0; i < l->n; i++) l->at[i]->useful = engine_is_useful(e, l->at[i]);
    return true;
}

static bool engine_want(engine *e) {
    const tni_wanted *w = e->wanted;
    int64_t bytes;
    if (!w->inputs.n) return true;
    if (!tni_bytes(w->inputs.n, (int64_t)sizeof *e->place, &bytes) ||
        !(e->place = (engine_place *)tni_need(e->b, bytes)))
        return false;
    for (int64_t i = 0; i < w->inputs.n; i++) {
        tn_tensor *t = w->inputs.at[i];
        engine_place *place = &e->place[i];
        if (!t) return tni_error(e->b, TN_INVALID, "input %lld is NULL", (long long)i);
        if (!(t->flags & TNI_REQUIRES))
            return tni_error(e->b, TN_AUTOGRAD, "input %lld does not require grad", (long long)i);
        if (!tni_belongs(e->b, t, "backward")) return false;
        if (tni_view_is_stale(t) && !tni_view_refresh(e->b, t)) return false;
        place->key = t->node ? (void *)t->node : (void *)t;
        place->out = t->node ? t->node_out : 0;
        if (!engine_find(e, place->key, place->out, true)) return false;
    }
    return true;
}

/* --- publishing ------------------------------------------------------------------------------- */

static bool engine_leaf_hooks(engine *e, engine_entry *entry) {
    tn_tensor *leaf = (tn_tensor *)entry->key;
    tni_extra *extra = tni_extra_there(leaf);
    if (!extra || entry->retained) return true;
    for (tni_watch *w = extra->hooks; w;) {
        engine_hold(e);
        if (w->removed || w->after || w->number > e->last_hook)
            w = w->next;
        else if (!tni_watch_call(e->b, leaf->owner, &extra->hooks, &w, &entry->grad))
            return false;
    }
    return true;
}

/* Whether .grad is to be row-major: where its leaf is, or is not dense. Else it lies as the leaf
 * does; what a tensor retains is row-major. */
static bool engine_row_major(const engine_entry *entry) {
    const tn_tensor *leaf = (const tn_tensor *)entry->key;
    return entry->retained || leaf->flags & TNI_CONTIGUOUS || !tni_is_dense(leaf);
}

static bool engine_lies(const engine_entry *entry) {
    const tn_tensor *leaf = (const tn_tensor *)entry->key, *grad = entry->grad;
    if (engine_row_major(entry)) return (grad->flags & TNI_CONTIGUOUS) != 0;
    for (int i = 0; i < leaf->ndim; i++)
        if (leaf->size[i] != 1 && grad->stride[i] != leaf->stride[i]) return false;
    return true;
}

/* Whether grad may become .grad itself: nobody else holds it, nor an outer scope, whose tensors the
 * caller sees (a seed, what a hook returned), and it lies well. */
static bool engine_takes(const engine *e, const engine_entry *entry) {
    const tn_tensor *grad = entry->grad;
    uint32_t mine = 1u + (grad->depth == tni_state(e->b)->depth ? 1u : 0u);
    return !grad->base && grad->owner == e->b && tni_load(&grad->refs) <= mine &&
           tni_load(&grad->storage->refs) == 1 && engine_lies(entry);
}

/* A copy that lies as .grad is to. */
static tn_tensor *engine_copy(const engine_entry *entry) {
    tn_tensor *leaf = (tn_tensor *)entry->key, *grad = entry->grad, *made;
    if (engine_row_major(entry)) return tnp_clone(grad, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    made = tnp_empty_like(leaf, (tn_dtype)grad->dtype, TN_NO_DEVICE);
    return made ? tnp_copy_(made, grad) : NULL;
}

/* Whether grad is added to .grad in place, which cannot fail then. (A record under way takes note
 * of it, and that can; but a record without memory has failed anyway.) */
static bool engine_adds(const engine *e, const tn_tensor *old, const tn_tensor *grad) {
    return !e->create && !(old->flags & (TNI_REQUIRES | TNI_READ_ONLY | TNI_INFERENCE)) &&
           !((old->flags ^ grad->flags) & TNI_META) && old->dtype == grad->dtype &&
           old->storage != grad->storage && tni_same_shape(old, grad) && !tni_view_is_stale(old) &&
           (old->flags & TNI_CONTIGUOUS || !tni_overlaps_itself(old));
}

/* A tensor may have been given data of another shape since it was used. */
static bool engine_fits(engine *e, const engine_entry *entry) {
    const tn_tensor *leaf = (const tn_tensor *)entry->key;
    char a[128], c[128];
    if (tni_same_shape(leaf, entry->grad)) return true;
    return tni_error(e->b, TN_AUTOGRAD,
                     "the gradient of a tensor is %s, but the tensor is now %s: its data was "
                     "replaced after the call that used it",
                     tni_tensor_text(a, sizeof a, entry->grad), tni_tensor_text(c, sizeof c, leaf));
}

/* Makes all that publishing needs, so that it cannot fail: sums that are not in place, copies of
 * shared gradients. */
static bool engine_ready(engine *e, engine_entry *entry) {
    tn_tensor *old = ((tn_tensor *)entry->key)->grad, *made;
    if (!engine_fits(e, entry)) return false;
    if (old ? engine_adds(e, old, entry->grad) : engine_takes(e, entry)) return true;
    made = old ? tnp_add(old, entry->grad, 1) : engine_copy(entry);
    if (!made) return false;
    tni_retain(made);
    tni_release(e->b, entry->grad);
    entry->grad = made;
    entry->sum = old != NULL;
    return true;
}

static void engine_put(engine *e, engine_entry *entry) {
    tn_tensor *leaf = (tn_tensor *)entry->key, *old = leaf->grad;
    entry->put = true;
    if (old && !entry->sum) {
        tnp_add_(old, entry->grad, 1); /* the staged gradient is released with the table */
        return;
    }
    leaf->grad = entry->grad; /* its count goes over */
    entry->grad = NULL;
    tni_release(e->b, old);
}

/* A walk over the entries whose gradients are to be published. */
typedef struct engine_walk {
    engine_entry *at;
    int64_t left;
} engine_walk;
TNI_INLINE engine_walk engine_walk_begin(engine *e) {
    engine_walk w = {e->table, e->nentries};
    return w;
}
TNI_INLINE engine_entry *engine_next(engine_walk *w) {
    while (w->left) {
        engine_entry *entry = w->at++;
        if (!entry->key) continue;
        w->left--;
        if (entry->grad) return entry;
    }
    return NULL;
}

/* Hooks that see a leaf whose .grad has changed. */
static bool engine_after(engine *e) {
    for (int64_t i = 0; i < e->table_room; i++) {
        tn_tensor *leaf = (tn_tensor *)e->table[i].key;
        tni_extra *extra = leaf && e->table[i].put ? tni_extra_there(leaf) : NULL;
        for (tni_watch *w = extra ? extra->hooks : NULL; w;) {
            tn_tensor *seen = leaf;
            engine_hold(e);
            if (w->removed || !w->after || w->number > e->last_hook)
                w = w->next;
            else if (!tni_watch_call(e->b, leaf->owner, &extra->hooks, &w, &seen))
                return false;
        }
    }
    return true;
}

static bool engine_publish(engine *e) {
    uint32_t *lock = &tni_library(e->b->context)->grad_lock;
    engine_walk w = engine_walk_begin(e);
    engine_entry *entry;
    bool ok = true;
    while (ok && e->leaf_hooks && (entry = engine_next(&w)) != NULL)
        ok = engine_leaf_hooks(e, entry);
    if (!ok) return false;
    tni_lock(lock); /* here already: a sum must not miss what another backward adds */
    w = engine_walk_begin(e);
    while (ok && (entry = engine_next(&w)) != NULL) ok = engine_ready(e, entry);
    w = engine_walk_begin(e);
    e->b->unstopped++; /* all or none */
    while (ok && (entry = engine_next(&w)) != NULL) engine_put(e, entry);
    e->b->unstopped--;
    tni_unlock(lock);
    return ok && !e->b->failed && (!e->leaf_hooks || engine_after(e));
}

/* A header of its own for the caller: grad may be a user's seed, or stand for two inputs. */
static tn_tensor *engine_fresh(engine *e, tn_tensor *grad) {
    tn_tensor *t;
    if (grad->flags & TNI_REQUIRES && !grad->node)
        return tnp_clone(grad, (tn_memory_format)0); /* a leaf as seed */
    t = tni_share(e->b, grad->storage, grad);
    if (t && grad->node) tni_node_hang(e->b, grad->node, t, (int)grad->node_out);
    return t;
}

/* The entry of wanted input i, made by engine_want. */
static engine_entry *engine_wanted(engine *e, int64_t i) {
    return engine_find(e, e->place[i].key, e->place[i].out, false);
}

/* Hooks of wanted leaves, once for each. */
static bool engine_wanted_hooks(engine *e) {
    for (int64_t i = 0; i < e->wanted->inputs.n; i++) {
        engine_entry *entry = engine_wanted(e, i);
        bool leaf = e->place[i].key == (void *)e->wanted->inputs.at[i];
        if (!leaf || !entry->grad || entry->put) continue;
        entry->put = true;
        if (!engine_leaf_hooks(e, entry)) return false;
    }
    return true;
}

static bool engine_hand_out(engine *e) {
    const tni_wanted *w = e->wanted;
    if (w->into_grad) return engine_publish(e);
    if (e->leaf_hooks && !engine_wanted_hooks(e)) return false;
    for (int64_t i = 0; i < w->inputs.n && !w->allow_unused; i++)
        if (!engine_wanted(e, i)->grad)
            return tni_error(
                e->b, TN_AUTOGRAD,
                "input %lld was not used in the graph; set allow_unused to permit that",
                (long long)i);
    for (int64_t i = 0; i < w->inputs.n; i++) {
        tn_tensor *grad = engine_wanted(e, i)->grad;
        w->grads[i] = NULL;
        if (grad && !(w->grads[i] = engine_fresh(e, grad))) return false;
    }
    for (int64_t i = 0; i < w->inputs.n; i++) tni_retain(w->grads[i]);
    return true;
}

/* --- a backward ------------------------------------------------------------------------------- */

/* A new tensor of one element, 1. A replay must fill it again, and meta has no data: then by
 * the operator. */
static tn_tensor *engine_one(tni_block *b, const tn_tensor *root) {
    tn_tensor *t;
    if (root->flags & TNI_META || tni_load_relaxed(&b->hooks))
        return tnp_ones_like((tn_tensor *)(uintptr_t)root, TN_NO_DTYPE, TN_NO_DEVICE);
    t = tni_new(b, root->dtype, root->ndim, root->size);
    if (t) tni_element_set(t->storage->data, t->dtype, tn_float(1));
    return t;
}

static tn_tensor *engine_seed(engine *e, tn_tensor *root, tn_tensor *seed, int64_t i) {
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

static bool engine_roots(engine *e, tn_tensors roots, tn_tensor *const *seeds) {
    for (int64_t i = 0; i < roots.n; i++) {
        tn_tensor *t = roots.at[i], *seed;
        if (!t) return tni_error(e->b, TN_INVALID, "output %lld is NULL", (long long)i);
        if (!(t->flags & TNI_REQUIRES))
            return tni_error(e->b, TN_AUTOGRAD,
                             "output %lld does not require grad and has no history", (long long)i);
        if (!tni_belongs(e->b, t, "backward")) return false;
        if (!(seed = engine_seed(e, t, seeds ? seeds[i] : NULL, i))) return false;
        if (!engine_send(e, t->node ? (void *)t->node : (void *)((uintptr_t)t | 1), t->node_out,
                         seed))
            return false;
    }
    return true;
}

/* Roots that are views of a base written since lead to the base now; before the walk that marks
 * what is useful. */
static bool engine_refresh(engine *e, tn_tensors roots) {
    for (int64_t i = 0; i < roots.n; i++) {
        tn_tensor *t = roots.at[i];
        if (t && tni_view_is_stale(t) && !tni_view_refresh(e->b, t)) return false;
    }
    return true;
}

/* After a failure: pending gradients and claims of the nodes still queued go. */
static void engine_unqueue(engine *e) {
    for (int64_t i = 0; i < e->nheap; i++) {
        engine_clear(e, e->heap[i]);
        e->heap[i]->queued = 0;
        engine_leave(e, e->heap[i]);
    }
}

static void engine_drop(engine *e) {
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

static void engine_unmark(engine *e, engine_nodes *l) {
    for (int64_t i = 0; i < l->n; i++) {
        l->at[i]->useful = 0;
        tni_store(&l->at[i]->busy, (uint64_t)0);
        tni_node_drop(e->b, l->at[i]);
    }
    tni_put(e->b, e->b, l->at, l->room * (int64_t)sizeof *l->at);
}

static bool engine_go(engine *e, tn_tensors roots, tn_tensor *const *seeds) {
    engine_nodes nodes = {NULL, 0, 0};
    bool ok = engine_refresh(e, roots);
    if (ok && e->wanted) {
        ok = engine_want(e) && engine_mark(e, roots, &nodes);
        for (int64_t i = 0; i < nodes.n; i++) tni_fetch_add_relaxed(&nodes.at[i]->refs, 1u);
    }
    ok = ok && engine_roots(e, roots, seeds);
    while (ok && e->nheap) ok = engine_step(e);
    if (ok) ok = e->wanted ? engine_hand_out(e) : engine_publish(e);
    engine_unqueue(e);
    engine_unmark(e, &nodes);
    return ok;
}

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
    engine e;
    uint8_t no_grad = tni_state(b)->no_grad;
    uint16_t inference = tni_state(b)->inference;
    int64_t mark = tni_begin(b);
    bool ok;
    if (mark < 0) return false;
    e.b = b;
    e.keep = keep || create;
    e.create = create;
    e.leaf_hooks = e.hooked = false;
    e.number = tni_fetch_add_relaxed(&tni_library(b->context)->backwards, (uint64_t)1) + 1;
    e.last_hook = (int64_t)tni_load_relaxed(&tni_library(b->context)->hooks);
    e.wanted = wanted;
    e.place = NULL;
    e.heap = e.heap_inline;
    e.nheap = 0;
    e.heap_room = ENGINE_HEAP;
    e.table = e.table_inline;
    e.nentries = 0;
    e.table_room = ENGINE_TABLE;
    for (int i = 0; i < ENGINE_TABLE; i++) e.table_inline[i].key = NULL;
    tni_state(b)->no_grad = create ? 0 : TNI_NO_GRAD;
    tni_state(b)->inference = 0; /* .grad belongs to tensors that are none of inference */
    b->place_hold++;
    engine_count(b, roots, true);
    if (wanted) engine_count(b, wanted->inputs, true);
    ok = engine_go(&e, roots, seeds);
    engine_drop(&e);
    b->place_hold--;
    tni_state(b)->no_grad = no_grad;
    tni_state(b)->inference = inference;
    tni_end(b, mark);
    if (wanted && !wanted->into_grad) engine_results(b, wanted, ok);
    if (wanted) engine_count(b, wanted->inputs, false);
    engine_count(b, roots, false);
    if (e.hooked) tni_calls(b)->sweeping = e.sweeping, tni_node_sweep(b);
    return ok;
}
