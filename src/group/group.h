/* group.h - what rows and the files of this room know of a group of ranks: its backend's functions
 * with errors, and memory for what they bring. Knows no tensor. */
#ifndef TNI_GROUP_GROUP_H
#define TNI_GROUP_GROUP_H

#include "../api/group.h"
#include "../base/base.h"

enum { TNI_RANKS = 1024, TNI_GROUP_WORD = 320 };

struct tn_group {
    tn_ending ending; /* first: a context that ends frees its groups */
    const tn_group_backend *backend;
    void *state;
    tni_block *owner; /* of this memory */
    int32_t rank, size;
    double limit;
    int64_t *give, *take; /* size + 1 numbers each, for a call */
    void *words;          /* TNI_GROUP_WORD bytes of each rank, for what they tell each other */
    void *room;           /* of the call in progress */
    int64_t room_bytes;
    tni_block *room_owner;
    void *kept; /* tn_group_keep */
    void (*release)(void *at);
};

/* A group over a state, which leaves with it; NULL with MEMORY, and then the state has left. */
TN_PRIV tn_group *tni_group_make(tni_block *b, const tn_group_backend *backend, void *state,
                                 int32_t rank, int32_t size);
/* Calls of the backend: false with an error that names the rank. Bytes as in api/group.h. */
TN_PRIV bool tni_group_gather(tni_block *b, tn_group *g, const void *mine, void *all,
                              const int64_t *at);
TN_PRIV bool tni_group_exchange(tni_block *b, tn_group *g, const void *mine, const int64_t *give,
                                void *theirs, const int64_t *take);
TN_PRIV bool tni_group_send(tni_block *b, tn_group *g, int32_t to, int64_t tag, const void *head,
                            void *other, int64_t bytes, const void *data, int64_t n);
TN_PRIV bool tni_group_recv(tni_block *b, tn_group *g, int32_t from, int64_t tag, const void *head,
                            void *other, int64_t bytes, void *data, int64_t n);
/* The same number of bytes of each rank, in order. */
TN_PRIV bool tni_group_share(tni_block *b, tn_group *g, const void *mine, void *all, int64_t bytes);
/* How a call of the backend waits; its failure as the error, which names the rank. Returns
 * false. */
TN_PRIV tn_group_wait tni_group_wait(const tn_group *g);
TN_PRIV bool tni_group_failed(tni_block *b, const tn_group *g, const tn_group_wait *w);
/* Memory of the call in progress, bytes > 0, in place of what the last call left; NULL with an
 * error. */
TN_PRIV void *tni_group_room(tni_block *b, tn_group *g, int64_t bytes);
TN_PRIV void tni_group_room_free(tni_block *b, tn_group *g);
/* Sets to[0 .. n] to i times each. */
TNI_INLINE void tni_group_even(int64_t *to, int32_t n, int64_t each) {
    for (int32_t i = 0; i <= n; i++) to[i] = i * each;
}

/* --- threads of this process (threads.c) ------------------------------------------------------ */

TN_PRIV const tn_group_backend *tni_threads_backend(void);
/* The state of the one rank of a world of its own; NULL with an error. */
TN_PRIV void *tni_threads_alone(tni_block *b);
/* A place; NULL with an error of the function `what`. */
TN_PRIV tn_group *tni_threads_place(tni_block *b, int32_t ranks, const char *what);
TN_PRIV void tni_threads_over(tn_group *place, const char *why); /* for all that have joined */

#endif
