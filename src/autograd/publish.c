/* publish.c - the end of a backward: staged gradients become .grad, or headers for the caller.
 *
 * Everything that can fail comes first (hooks, sums that are not in place, copies); what changes
 * .grad runs under one lock a context and cannot fail. */
#include "engine.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

/* Hooks of a leaf that may replace its gradient; those that run after it come in engine_after. */
static bool engine_leaf_hooks(tni_engine *e, tni_entry *entry) {
    tn_tensor *leaf = (tn_tensor *)entry->key;
    tni_extra *extra = tni_extra_there(leaf);
    if (!extra || entry->retained) return true;
    for (tni_watch *w = extra->hooks; w;) {
        tni_engine_hold(e);
        /* Each may replace the gradient that the next one sees. */
        if (w->removed || w->after || w->number > e->last_hook)
            w = w->next;
        else if (!tni_watch_call(e->b, leaf->owner, &extra->hooks, &w, &entry->grad))
            return false;
    }
    return true;
}

/* Whether .grad is to be row-major: where its leaf is, or is not dense. Else it lies as the leaf
 * does; what a tensor retains is row-major. */
static bool engine_row_major(const tni_entry *entry) {
    const tn_tensor *leaf = (const tn_tensor *)entry->key;
    return entry->retained || leaf->flags & TNI_CONTIGUOUS || !tni_is_dense(leaf);
}

/* Whether grad lies in memory as .grad is to lie. */
static bool engine_lies(const tni_entry *entry) {
    const tn_tensor *leaf = (const tn_tensor *)entry->key, *grad = entry->grad;
    if (engine_row_major(entry)) return (grad->flags & TNI_CONTIGUOUS) != 0;
    for (int i = 0; i < leaf->ndim; i++)
        if (leaf->size[i] != 1 && grad->stride[i] != leaf->stride[i]) return false;
    return true;
}

/* Whether grad may become .grad itself: nobody else holds it, nor an outer scope, whose tensors the
 * caller sees (a seed, what a hook returned), and it lies well. */
static bool engine_takes(const tni_engine *e, const tni_entry *entry) {
    const tn_tensor *grad = entry->grad;
    /* One count is the entry's; another the scope's, if grad belongs to that of this backward. */
    uint32_t mine = 1u + (grad->depth == tni_state(e->b)->depth ? 1u : 0u);
    return !grad->base && grad->owner == e->b && tni_load(&grad->refs) <= mine &&
           tni_load(&grad->storage->refs) == 1 && engine_lies(entry);
}

/* A copy that lies as .grad is to. */
static tn_tensor *engine_copy(tni_engine *e, const tni_entry *entry) {
    tn_tensor *leaf = (tn_tensor *)entry->key, *grad = entry->grad, *made;
    const tni_sparse_ways *ways = tni_ways_of(grad);
    if (ways) return ways->copy(e->b, grad);
    if (engine_row_major(entry)) return tnp_clone(grad, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    made = tnp_empty_like(leaf, (tn_dtype)grad->dtype, TN_NO_DEVICE);
    return made ? tnp_copy_(made, grad) : NULL;
}

/* Whether grad is added to .grad in place, which cannot fail then. (A record under way takes note
 * of it, and that can; but a record without memory has failed anyway.) */
static bool engine_adds(const tni_engine *e, const tn_tensor *old, const tn_tensor *grad) {
    return !e->create && !((old->flags | grad->flags) & TNI_SPARSE) &&
           !(old->flags & (TNI_REQUIRES | TNI_READ_ONLY | TNI_INFERENCE)) &&
           old->device == grad->device && old->dtype == grad->dtype &&
           old->storage != grad->storage && tni_same_shape(old, grad) && !tni_view_is_stale(old) &&
           (old->flags & TNI_CONTIGUOUS || !tni_overlaps_itself(old));
}

/* A tensor may have been given data of another shape since it was used. */
static bool engine_fits(tni_engine *e, const tni_entry *entry) {
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
static bool engine_ready(tni_engine *e, tni_entry *entry) {
    tn_tensor *old = ((tn_tensor *)entry->key)->grad, *made;
    if (!engine_fits(e, entry)) return false;
    if (old ? engine_adds(e, old, entry->grad) : engine_takes(e, entry)) return true;
    made = old ? tni_grad_sum(e->b, old, entry->grad) : engine_copy(e, entry);
    if (!made) return false;
    tni_retain(made);
    tni_release(e->b, entry->grad);
    entry->grad = made;
    entry->sum = old != NULL;
    return true;
}

/* Makes the staged gradient .grad, or adds it. Cannot fail: engine_ready has seen to it. */
static void engine_put(tni_engine *e, tni_entry *entry) {
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
    tni_entry *at;
    int64_t left;
} engine_walk;
TNI_INLINE engine_walk engine_walk_begin(tni_engine *e) {
    engine_walk w = {e->table, e->nentries};
    return w;
}
TNI_INLINE tni_entry *engine_next(engine_walk *w) {
    /* Places without key are free; entries without gradient have nothing to publish. */
    while (w->left) {
        tni_entry *entry = w->at++;
        if (!entry->key) continue;
        w->left--;
        if (entry->grad) return entry;
    }
    return NULL;
}

/* Hooks that see a leaf whose .grad has changed. */
static bool engine_after(tni_engine *e) {
    for (int64_t i = 0; i < e->table_room; i++) {
        tn_tensor *leaf = (tn_tensor *)e->table[i].key;
        tni_extra *extra = leaf && e->table[i].put ? tni_extra_there(leaf) : NULL;
        for (tni_watch *w = extra ? extra->hooks : NULL; w;) {
            /* They see the leaf itself, whose .grad is set; what they return is not read. */
            tn_tensor *seen = leaf;
            tni_engine_hold(e);
            if (w->removed || !w->after || w->number > e->last_hook)
                w = w->next;
            else if (!tni_watch_call(e->b, leaf->owner, &extra->hooks, &w, &seen))
                return false;
        }
    }
    return true;
}

TN_PRIV bool tni_publish(tni_engine *e) {
    /* Three walks over the entries: hooks, which may fail, without the lock;
     * preparation; publication. */
    uint32_t *lock = &tni_library(e->b->context)->grad_lock;
    engine_walk w = engine_walk_begin(e);
    tni_entry *entry;
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
static tn_tensor *engine_fresh(tni_engine *e, tn_tensor *grad) {
    tn_tensor *t;
    if (grad->flags & TNI_REQUIRES && !grad->node)
        return tnp_clone(grad, (tn_memory_format)0); /* a leaf as seed */
    t = tni_share(e->b, grad->storage, grad);
    if (t && grad->node) tni_node_hang(e->b, grad->node, t, (int)grad->node_out);
    return t;
}

/* The entry of wanted input i, made by engine_want. */
static tni_entry *engine_wanted(tni_engine *e, int64_t i) {
    return tni_entry_find(e, e->place[i].key, e->place[i].out, false);
}

/* Hooks of wanted leaves, once for each. */
static bool engine_wanted_hooks(tni_engine *e) {
    for (int64_t i = 0; i < e->wanted->inputs.n; i++) {
        tni_entry *entry = engine_wanted(e, i);
        bool leaf = e->place[i].key == (void *)e->wanted->inputs.at[i];
        if (!leaf || !entry->grad || entry->put) continue;
        entry->put = true;
        if (!engine_leaf_hooks(e, entry)) return false;
    }
    return true;
}

/* What was found for the values of a sparse input, at its places. */
static bool engine_at_places(tni_engine *e, const tni_wanted *w, int64_t i) {
    const tn_tensor *of = w->inputs.at[i];
    const tni_extra *x = tni_extra_there(of);
    tni_extra *made;
    tn_tensor *part[3];
    if (!x) return true; /* not reached: it is sparse */
    memcpy(part, x->part, sizeof part);
    part[part[2] ? 2 : 1] = w->grads[i];
    w->grads[i] = tni_sparse_header(e->b, x->layout, part, of->ndim, of->size, x->ways);
    made = w->grads[i] ? tni_extra_there(w->grads[i]) : NULL;
    if (made) made->coalesced = x->coalesced;
    return made != NULL;
}

TN_PRIV bool tni_hand_out(tni_engine *e) {
    const tni_wanted *w = e->wanted;
    /* All gradients are there before the first is handed out. */
    if (w->into_grad) return tni_publish(e);
    if (e->leaf_hooks && !engine_wanted_hooks(e)) return false;
    for (int64_t i = 0; i < w->inputs.n && !w->allow_unused; i++)
        if (!engine_wanted(e, i)->grad)
            return tni_error(
                e->b, TN_AUTOGRAD,
                "input %lld was not used in the graph; set allow_unused to permit that",
                (long long)i);
    for (int64_t i = 0; i < w->inputs.n; i++) {
        /* A header for each; one that fails leaves nothing to the caller. */
        tn_tensor *grad = engine_wanted(e, i)->grad;
        w->grads[i] = NULL;
        if (grad && !(w->grads[i] = engine_fresh(e, grad))) return false;
        if (grad && w->inputs.at[i]->flags & TNI_SPARSE && !engine_at_places(e, w, i)) return false;
    }
    /* Counted for the caller, to outlive the scope of this backward. */
    for (int64_t i = 0; i < w->inputs.n; i++) tni_retain(w->grads[i]);
    return true;
}
