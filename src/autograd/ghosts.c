/* ghosts.c - what a gradient sees of its call: saved tensors, and ghosts (shape and dtype only) of
 * the others.
 *
 * Ghosts live on the engine's stack and point at the sizes in the node; the door refuses their data
 * by name, so a need that a row forgot is an error and never garbage. */
#include "autograd.h"

/* A header without data over the sizes in the node, or over those of output 0 where they
 * are the same. */
static void ghost_make(tni_block *b, tni_node *n, const tni_slot *s, tni_ghost *ghost,
                       const int64_t *like) {
    tn_tensor *t = &ghost->header;
    memset(t, 0, offsetof(tn_tensor, dims));
    t->refs = 1;
    t->dtype = s->dtype;
    t->ndim = s->ndim;
    t->capacity = TN_MAX_DIMS;
    t->flags = TNI_GHOST | TNI_STACK | TNI_CONTIGUOUS;
    tni_set_device(t, s->device, tni_without_data(b, s->device));
    t->owner = b;
    /* The strides are made up: row-major, since nothing is read through them. */
    t->size = s->at ? (int64_t *)(void *)n + s->at : (int64_t *)(uintptr_t)like;
    t->stride = ghost->stride;
    t->numel = tni_flat_strides(t->ndim, t->size, t->stride);
}

/* Whether the saved storage is as it was when the call saved it. */
static bool ghost_version(tni_block *b, const tni_node *n, const tni_slot *s,
                          const tni_storage *storage, int i) {
    const bool apart = s->version >> 31;
    const uint32_t then = s->version & 0x7fffffffu,
                   now =
                       tni_load_relaxed(apart ? &storage->apart : &storage->version) & 0x7fffffffu;
    if (TNI_LIKELY(now == then)) return true;
    tni_error(b, TN_AUTOGRAD,
              "%s %d, which the gradient of %s reads, was modified in place after the call: it is "
              "at version %u, expected %u",
              i < n->nin ? "input" : "output", i < n->nin ? i : i - n->nin, n->row->name, now,
              then);
    tni_node_error(b, n);
    return false;
}

TN_PRIV tn_tensor *tni_slot_saved(tni_block *b, const tni_node *n, const tni_slot *s) {
    const int64_t *words = (const int64_t *)(const void *)n + s->at;
    tni_storage *storage = (tni_storage *)s->saved;
    tn_tensor *t = tni_header(b, s->dtype, s->ndim, words, words + s->ndim);
    if (!t) return NULL;
    /* Counted for the header, which lives as long as the gradient runs. */
    t->storage = storage;
    tni_fetch_add_relaxed(&storage->refs, 1u);
    t->offset = words[2 * s->ndim];
    tni_set_device(t, s->device, s->device == TN_META || storage->kind == TNI_DATA_PLANNED);
    return t;
}

/* What a hook gives back of slot i; with a graph of gradients it has the history of what was saved:
 * an input's, or this node of an output. */
static tn_tensor *ghost_unpack(tni_block *b, tni_node *n, int i, bool create) {
    const tni_slot *s = &n->slot[i];
    tni_saved_edge edge = {NULL, NULL, 0};
    tn_tensor *t;
    if (create && i >= n->nin) {
        if (tni_dtype(s->dtype)->category >= TNI_CAT_FLOAT && i - n->nin < n->row->gen->nresults)
            edge.node = n;
        edge.out = i - n->nin;
    } else if (create && s->edge) {
        edge.leaf = tni_edge_is_leaf(s->edge) ? tni_edge_leaf(s->edge) : NULL;
        edge.node = edge.leaf ? NULL : (tni_node *)s->edge;
        edge.out = (int)s->edge_out;
    }
    t = tni_unpack(b, (tni_packed *)s->saved, &edge);
    if (!t) tni_node_error(b, n);
    return t;
}

/* A leaf that still has the storage stands for itself. */
static tn_tensor *ghost_input(tni_block *b, tni_node *n, int i, tni_ghost *ghost,
                              const int64_t *like, bool create) {
    tni_slot *s = &n->slot[i];
    tn_tensor *t, *leaf = s->edge && tni_edge_is_leaf(s->edge) ? tni_edge_leaf(s->edge) : NULL;
    /* By kind: absent, a number, a ghost, or saved. */
    if (s->kind == TNI_SLOT_ABSENT) return NULL;
    if (s->kind == TNI_SLOT_NUMBER) {
        tn_scalar value = tni_element((int64_t *)(void *)n + s->at, s->dtype);
        return tni_number_wrap(b, (tni_number *)(void *)ghost, value);
    }
    if (s->kind == TNI_SLOT_GHOST) {
        ghost_make(b, n, s, ghost, like);
        return &ghost->header;
    }
    if (TNI_UNLIKELY(s->kind == TNI_SLOT_PACKED)) return ghost_unpack(b, n, i, create);
    if (!ghost_version(b, n, s, (tni_storage *)s->saved, i)) return NULL;
    if (leaf && leaf->storage == s->saved) return leaf;
    /* The leaf has other memory now: a new header cannot join the graph of gradients
     * as this leaf. */
    if (leaf && create) {
        tni_error(b, TN_AUTOGRAD,
                  "input %d, which the gradient of %s reads, was given other memory after the call",
                  i, n->row->name);
        tni_node_error(b, n);
        return NULL;
    }
    /* With a graph of gradients, the header continues the input's history. */
    t = tni_slot_saved(b, n, s);
    if (t && create && s->edge) tni_node_hang(b, (tni_node *)s->edge, t, (int)s->edge_out);
    return t;
}

/* A saved result has this node as its history when gradients are recorded. */
static tn_tensor *ghost_output(tni_block *b, tni_node *n, int k, tni_ghost *ghost,
                               const int64_t *like, bool create) {
    tni_slot *s = &n->slot[n->nin + k];
    tn_tensor *t;
    if (s->kind == TNI_SLOT_ABSENT) return NULL;
    if (TNI_UNLIKELY(s->kind == TNI_SLOT_PACKED)) return ghost_unpack(b, n, n->nin + k, create);
    if (s->kind != TNI_SLOT_OUT) {
        ghost_make(b, n, s, ghost, like);
        return &ghost->header;
    }
    if (!ghost_version(b, n, s, (tni_storage *)s->saved, n->nin + k)) return NULL;
    t = tni_slot_saved(b, n, s);
    if (t && create && tni_dtype(s->dtype)->category >= TNI_CAT_FLOAT && k < n->row->gen->nresults)
        tni_node_hang(b, n, t, k);
    return t;
}

TN_PRIV tn_tensor *tni_slot_value(tni_block *b, tni_node *n, int i) {
    tni_ghost ghost; /* not used: the slot keeps a tensor */
    return i < n->nin ? ghost_input(b, n, i, &ghost, NULL, true)
                      : ghost_output(b, n, i - n->nin, &ghost, NULL, true);
}

/* The copied argument struct gets the tensors as the gradient may see them. */
static void ghost_patch(tni_node *n, tn_gradient *g) {
    const tn_gen *gen = n->row->gen;
    char *args = (char *)((int64_t *)(void *)n + n->args_at);
    for (int i = 0; i < gen->nfixed; i++)
        if (n->slot[i].kind != TNI_SLOT_NUMBER)
            memcpy(args + tn_gen_tensor(gen, i)->offset, &g->in[i], sizeof g->in[i]);
    if (gen->props & TN_PROP_LISTS) tni_args_members(gen, args, g->in + gen->nfixed);
    g->args = args;
}

/* Room for all slots: in the engine's frame if they are few. */
static bool ghost_room(tni_block *b, int slots, tni_gradient_room *room) {
    room->bytes = 0;
    room->pointers = room->inline_pointers;
    room->want = room->inline_want;
    room->ghosts = room->inline_ghosts;
    if (slots <= TNI_GHOSTS) return true;
    /* Ghosts first, which need the strictest alignment. */
    room->bytes =
        (int64_t)slots * (int64_t)(sizeof(tni_ghost) + 4 * sizeof(tn_tensor *) + sizeof(bool));
    room->ghosts = (tni_ghost *)tni_need(b, room->bytes);
    if (!room->ghosts) return false;
    room->pointers = (tn_tensor **)(void *)(room->ghosts + slots);
    room->want = (bool *)(room->pointers + 4 * slots);
    return true;
}

TN_PRIV bool tni_gradient_open(tni_block *b, tni_node *n, tn_gradient *g, tni_gradient_room *room,
                               bool create) {
    /* like: sizes of output 0, which ghosts of the same shape share. */
    int slots = n->nin + n->nout;
    const int64_t *like =
        n->nout && n->slot[n->nin].at ? (int64_t *)(void *)n + n->slot[n->nin].at : NULL;
    if (!ghost_room(b, slots, room)) return false;
    g->block = b;
    g->row = n->row;
    g->nin = n->nin;
    g->nout = n->nout;
    /* One array: in and out, then incoming, then give, `slots` places each. */
    g->in = room->pointers;
    g->out = g->in + n->nin;
    g->incoming = room->pointers + slots;
    g->give = room->pointers + 2 * slots;
    g->want = room->want;
    g->node = n;
    g->args = NULL;
    /* Inputs as the row may see them; a custom function gets shapes, and asks for what it saved. */
    for (int i = 0; i < n->nin; i++) {
        tni_slot *s = &n->slot[i];
        room->want[i] = s->edge != NULL;
        g->give[i] = NULL;
        g->in[i] = n->function ? NULL : ghost_input(b, n, i, &room->ghosts[i], like, create);
        if (n->function) {
            ghost_make(b, n, s, &room->ghosts[i], like);
            g->in[i] = s->kind ? &room->ghosts[i].header : NULL;
        }
        if (b->failed) return false;
    }
    /* Outputs: their gradients wait in the slots' edges. */
    for (int k = 0; k < n->nout; k++) {
        g->incoming[k] = (tn_tensor *)n->slot[n->nin + k].edge;
        g->out[k] = ghost_output(b, n, k, &room->ghosts[n->nin + k], like, create);
        if (b->failed) return false;
    }
    if (!n->function) ghost_patch(n, g);
    return true;
}

TN_PRIV void tni_gradient_close(tni_block *b, tni_gradient_room *room) {
    if (room->bytes) tni_put(b, b, room->ghosts, room->bytes);
}
