/* engine.h - the state of one backward, which the engine's parts share: queue.c,
 * publish.c, engine.c. */
#ifndef TNI_AUTOGRAD_ENGINE_H
#define TNI_AUTOGRAD_ENGINE_H

#include "../api/ops/elementwise.h"
#include "autograd.h"

enum {
    TNI_HEAP = 32,
    TNI_TABLE = 8,
    TNI_BACKWARDS = 1000 /* each within the one before: a thread's stack has an end */
};

typedef struct tni_entry {
    void *key; /* leaf, tensor that retains its gradient (counted), or node of a wanted tensor */
    uint32_t out;
    tn_tensor *grad; /* staged, counted */
    bool retained;   /* key is no leaf, but retains its gradient */
    bool sum;        /* grad takes the place of .grad, which is in it */
    bool put;        /* .grad has it; of a wanted leaf: its hooks have run */
} tni_entry;

/* Where a wanted input stood at the beginning: a hook may give it another history. */
typedef struct tni_place {
    void *key;
    uint32_t out;
} tni_place;

typedef struct tni_engine {
    tni_block *b;
    bool keep, create, leaf_hooks;
    bool hooked, sweeping; /* hooked: nodes wait from here on; sweeping: did they before */
    uint64_t number;
    int64_t last_hook; /* at the beginning: those added since wait for the next backward */
    const tni_wanted *wanted;
    tni_place *place; /* of each wanted input, NULL: none yet */
    tni_node **heap;
    int64_t nheap, heap_room;
    tni_entry *table; /* open addressing over a power of two */
    int64_t nentries, table_room;
    tni_node *heap_inline[TNI_HEAP];
    tni_entry table_inline[TNI_TABLE];
} tni_engine;

/* The node of the largest number comes first. false: no memory. */
TN_PRIV bool tni_queue_push(tni_engine *e, tni_node *n);
TN_PRIV tni_node *tni_queue_pop(tni_engine *e);
/* The entry of (key, out); NULL: there is none and `make` is false, or no memory. */
TN_PRIV tni_entry *tni_entry_find(tni_engine *e, void *key, uint32_t out, bool make);
/* A hook is about to run: nodes that lose their last count wait until the end of this backward. */
TN_PRIV void tni_engine_hold(tni_engine *e);

/* x + y, each of which may be sparse; NULL with an error. */
TNI_INLINE tn_tensor *tni_grad_sum(tni_block *b, tn_tensor *x, tn_tensor *y) {
    const tni_sparse_ways *w = tni_ways_of(x) ? tni_ways_of(x) : tni_ways_of(y);
    return w ? w->sum(b, x, y) : tnp_add(x, y, 1);
}

/* Adds staged gradients to .grad. Fails, with nothing changed, before the first one or not at all;
 * hooks that see the new .grad may fail after it. */
TN_PRIV bool tni_publish(tni_engine *e);
/* Gradients of wanted inputs: to .grad, or as new headers to the caller. */
TN_PRIV bool tni_hand_out(tni_engine *e);

#endif
