/* autograd.h (room) - the engine's parts: it walks nodes and knows rows; of operators only those
 * that add, sum and reshape gradients. */
#ifndef TNI_AUTOGRAD_AUTOGRAD_H
#define TNI_AUTOGRAD_AUTOGRAD_H

#include "../call/call.h"

/* Results of a backward with named inputs: gradient i goes to grads[i]. */
typedef struct tni_wanted {
    tn_tensors inputs;
    tn_tensor **grads;
    bool allow_unused, into_grad; /* into_grad: added to .grad of the inputs instead */
} tni_wanted;

/* seeds: one a root, NULL: ones. wanted NULL: all leaves gather .grad. */
TN_PRIV bool tni_engine_run(tni_block *b, tn_tensors roots, tn_tensor *const *seeds, bool keep,
                            bool create, const tni_wanted *wanted);

/* false with an error where a list of tensors has no count or no memory, or a freed member. */
TNI_INLINE bool tni_list_given(tni_block *b, tn_tensors l, const char *what) {
    if (l.n < 0 || (!l.at && l.n))
        return tni_error(b, TN_INVALID, "%s: expected a list of tensors", what);
    for (int64_t i = 0; i < l.n; i++)
        if (l.at[i] && !tni_usable(b, l.at[i], what)) return false;
    return true;
}

/* After a run of *at, which then is the next one: it goes if it was removed meanwhile. */
TN_PRIV void tni_watch_ran(tni_block *b, tni_block *owner, tni_watch **list, tni_watch **at);
/* The number of a new watch w, which tells the engine whether it was added during a backward. */
TN_PRIV int64_t tni_watch_number(tni_block *b, tni_watch *w, void *user,
                                 void (*release)(void *user));
/* Whether what a hook gave may stand in for grad; else with an error. */
TN_PRIV bool tni_hook_fits(tni_block *b, const tn_tensor *now, const tn_tensor *grad);
/* Calls hook *at of the list on *grad, which it may replace, and goes on to the next one in *at. A
 * hook that was removed meanwhile is freed when it runs no more. owner: of the list's memory. */
TN_PRIV bool tni_watch_call(tni_block *b, tni_block *owner, tni_watch **list, tni_watch **at,
                            tn_tensor **grad);

/* The gradients of one node: fills g from the node and calls the row. ghosts.c */
typedef struct tni_ghost {
    tn_tensor header;
    tni_storage storage;
    double value[2];
    int64_t stride[TN_MAX_DIMS];
} tni_ghost;
enum { TNI_GHOSTS = 8 };
typedef struct tni_gradient_room {
    tn_tensor **pointers; /* in, out, incoming, give */
    bool *want;
    tni_ghost *ghosts;
    int64_t bytes; /* of memory taken beyond the inline room; 0: none */
    tn_tensor *inline_pointers[4 * TNI_GHOSTS];
    bool inline_want[TNI_GHOSTS];
    tni_ghost inline_ghosts[TNI_GHOSTS];
} tni_gradient_room;
TN_PRIV bool tni_gradient_open(tni_block *b, tni_node *n, tn_gradient *g, tni_gradient_room *room,
                               bool create);
TN_PRIV void tni_gradient_close(tni_block *b, tni_gradient_room *room);
/* A new header on the storage that the slot has saved. */
TN_PRIV tn_tensor *tni_slot_saved(tni_block *b, const tni_node *n, const tni_slot *s);
/* What slot i, input or then output, keeps, with its history; NULL with an error. */
TN_PRIV tn_tensor *tni_slot_value(tni_block *b, tni_node *n, int i);

/* Hooks of what is saved (pack.c, saved.c): those that are open in a thread, and those that a
 * packed tensor needs. */
struct tni_saved_hooks {
    tn_saved_hooks h;
    tni_saved_hooks *outer; /* of the thread that opened them */
    tni_block *owner;
    uint32_t refs;
};

TN_PRIV void tni_saved_forget(tni_block *b, tni_saved_hooks *s); /* drops a count */
/* What a tensor led to when it was saved: a call's output, or a
 * leaf, or nothing; borrowed. */
typedef struct tni_saved_edge {
    tni_node *node;
    tn_tensor *leaf;
    int out;
} tni_saved_edge;
/* What these hooks make of t; NULL with an error. The caller counts them. */
TN_PRIV tni_packed *tni_pack(tni_block *b, tni_saved_hooks *s, tn_tensor *t);
/* The same of t with what it leads to, which the packed one counts. */
TN_PRIV tni_packed *tni_pack_whole(tni_block *b, tni_saved_hooks *s, tn_tensor *t);
TN_PRIV const tni_saved_edge *tni_packed_edge(const tni_packed *p);
TN_PRIV void tni_packed_drop(tni_block *b, tni_packed *p);
/* What a packed value begins with: a program without hooks has no more of pack.c. */
typedef struct tni_packed_ways {
    void (*drop)(tni_block *b, tni_packed *p);
    tn_tensor *(*unpack)(tni_block *b, tni_packed *p, const tni_saved_edge *edge);
} tni_packed_ways;
/* The tensor again, of the shape that it had, with the history of the edge; NULL with an error. */
TNI_INLINE tn_tensor *tni_unpack(tni_block *b, tni_packed *p, const tni_saved_edge *edge) {
    return ((const tni_packed_ways *)(const void *)p)->unpack(b, p, edge);
}

/* False with an error where t is sparse, but no COO: such gradients are taken nowhere. sparse.c */
TN_PRIV bool tni_grad_layout(tni_block *b, const tn_tensor *t, const char *what);
/* What backward does with a sparse gradient: makes it dense; adds gradients of which one is sparse;
 * copies its values. NULL with an error. Each sparse tensor carries them (sparse.c). */
typedef struct tni_sparse_ways {
    tn_tensor *(*dense)(tni_block *b, tn_tensor *t);
    tn_tensor *(*sum)(tni_block *b, tn_tensor *x, tn_tensor *y);
    tn_tensor *(*copy)(tni_block *b, tn_tensor *t);
} tni_sparse_ways;
/* Those of a tensor; NULL: it is not sparse. */
TNI_INLINE const tni_sparse_ways *tni_ways_of(const tn_tensor *t) {
    const tni_extra *e = TNI_UNLIKELY(t->flags & TNI_SPARSE) ? tni_extra_there(t) : NULL;
    return e ? e->ways : NULL;
}
TNI_INLINE tn_tensor *tni_grad_dense(tni_block *b, tn_tensor *t) {
    const tni_sparse_ways *w = t ? tni_ways_of(t) : NULL;
    return w ? w->dense(b, t) : t;
}

/* A custom function (function.c), in the node of its call. */
struct tn_function {
    tni_node_part part; /* first */
    const tn_function_row *row;
    void *user;
    tni_block *b;
    tni_node *node; /* once it is on the tape; not counted */
    struct function_saved *saved;
    int64_t nsaved, room;
    uint64_t written; /* bit i: input i < 64 was written in place */
};
TN_PRIV bool tni_function_backward(tn_gradient *g);

/* Adds the forward call of n to the pending error. history.c */
TN_PRIV void tni_node_error(tni_block *b, const tni_node *n);

#endif
