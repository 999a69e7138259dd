/* group.h - several ranks that work together: each runs the same program on its own part of the
 * data, and they exchange tensors by the operators tn_distributed_...
 *
 * A group is what one rank sees of them. Ranks are threads of this process (tn_group_threads,
 * tn_group_spawn), or whatever a backend makes them (tn_group_new). A thread without a group is a
 * world of one rank: there every one of these operators is the call that it is for one.
 *
 *     static bool rank(int32_t r, void *user) {
 *         tn_tensor *x = tn_full(TN_DIMS(2), r);
 *         return tn_distributed_all_reduce(x) && tn_print(x);
 *     }
 *     tn_group_spawn(4, rank, NULL); // four times [6., 6.]
 *
 * All ranks of a group make the same calls in the same order. A call in which they differ (other
 * operators, shapes, dtypes, options) is an error on every rank, has changed nothing, and the next
 * call may be right. A rank that leaves (tn_group_free), or waits beyond the time limit, ends the
 * group: calls of the others, also those under way, fail and say which rank it was. Sums are made
 * in a fixed tree of the ranks, so the same ranks give the same bits whoever comes first, and all
 * ranks have them. */
#ifndef TNI_API_GROUP_H
#define TNI_API_GROUP_H

#include "device.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_group tn_group;

/* --- programs --------------------------------------------------------------------------------- */

/* Runs body(rank, user) in `ranks` new threads, each in a group of all of them, which is its
 * current one, in the caller's context and in a scope of its own; returns when all have returned.
 * Each draws from a default generator of its own, seeded as a new context's. False with the error
 * of the rank that failed first: its body returned false, or left an error. False with INVALID for
 * less than 1 or more than 1024 ranks, UNSUPPORTED without threads. */
typedef bool (*tn_group_body)(int32_t rank, void *user);
TN_API bool tn_group_spawn_at(const char *file, int line, int32_t ranks, tn_group_body body,
                              void *user);
#define tn_group_spawn(ranks, body, user) tn_group_spawn_at(__FILE__, __LINE__, ranks, body, user)

/* A meeting place of 1 to 1024 ranks that are threads of this process, in any context. Each thread
 * joins once, by its rank, and gets the group; in one context each needs a default generator of its
 * own (tn_set_default_generator) to draw from. The place may be freed when all have joined; until
 * then tn_group_free of it is the end for those that have. NULL with an error. */
TN_API tn_group *tn_group_threads_at(const char *file, int line, int32_t ranks);
#define tn_group_threads(ranks) tn_group_threads_at(__FILE__, __LINE__, ranks)
TN_API tn_group *tn_group_join_at(const char *file, int line, tn_group *place, int32_t rank);
#define tn_group_join(place, rank) tn_group_join_at(__FILE__, __LINE__, place, rank)
/* Leaves the group, which ends with it in this thread; NULL is allowed. A context that ends frees
 * its groups. Other ranks fail in their next call in which this one is missing. */
TN_API void tn_group_free(tn_group *g);

/* Makes g the calling thread's group in its current context (NULL: it is alone) and returns the one
 * before. One thread at a time uses a group. */
TN_API tn_group *tn_group_use(tn_group *g);
TN_API tn_group *tn_group_current(void); /* NULL: none */
/* The number of this rank, from 0, and of all; of NULL, 0 and 1. -1 of a place. */
TN_API int32_t tn_group_rank(const tn_group *g);
TN_API int32_t tn_group_size(const tn_group *g);
TN_API const char *tn_group_kind(const tn_group *g); /* "threads"; "one" of NULL */

/* Called by all ranks of g: those with the same color, 0 or more, are a new group, in the order of
 * their ranks. The caller frees it. NULL without an error for a negative color; with an error, on
 * all ranks, if one of them fails. g NULL: the new group has one rank. */
TN_API tn_group *tn_group_split_at(const char *file, int line, tn_group *g, int32_t color);
#define tn_group_split(g, color) tn_group_split_at(__FILE__, __LINE__, g, color)

/* How long a call of this rank waits for others: 1800 seconds at the start. False with INVALID
 * unless it is above 0. */
TN_API bool tn_group_set_limit_at(const char *file, int line, tn_group *g, double seconds);
#define tn_group_set_limit(g, seconds) tn_group_set_limit_at(__FILE__, __LINE__, g, seconds)

/* --- backends --------------------------------------------------------------------------------- */

/* How a call of a backend waits, and where it says why it failed. */
typedef struct tn_group_wait {
    double seconds;              /* at most */
    bool (*stopped)(void *call); /* whether the call is to end early; asked now and then */
    void *call;
    char why[256]; /* a sentence without a full stop: "rank 2 has left the group" */
} tn_group_wait;

#define TN_GROUP_VERSION 1
/* What makes several ranks of the host a group. `rank` is the state that one rank was made with;
 * one thread at a time uses it. Memory is the host's. All but send and recv are called by all
 * ranks, in the same order, with sizes that fit. Each returns when the caller's memory may be used
 * again, or false and why; then every further call fails as well, on all ranks. */
typedef struct tn_group_backend {
    uint32_t version, bytes; /* TN_GROUP_VERSION, sizeof(tn_group_backend) */
    const char *kind;        /* "mpi" */
    /* all[at[r] .. at[r + 1]) is on every rank what rank r gave as `mine`; at has size + 1 numbers
     * from 0, equal on all ranks (MPI_Allgatherv). mine may lie in `all`, in its place */
    bool (*gather)(void *rank, const void *mine, void *all, const int64_t *at, tn_group_wait *w);
    /* mine[give[r] .. give[r + 1]) goes to rank r; what comes from it goes to theirs[take[r] ..
     * take[r + 1]) (MPI_Alltoallv). A rank's part for itself may lie in its place already */
    bool (*exchange)(void *rank, const void *mine, const int64_t *give, void *theirs,
                     const int64_t *take, tn_group_wait *w);
    /* Between two ranks: the n bytes at `data` go from one call of send to one of recv with the
     * same tag, if the `bytes` at `head`, which describe them, are equal; else both calls return
     * true and the other's head is in `other`. */
    bool (*send)(void *rank, int32_t to, int64_t tag, const void *head, void *other, int64_t bytes,
                 const void *data, int64_t n, tn_group_wait *w);
    bool (*recv)(void *rank, int32_t from, int64_t tag, const void *head, void *other,
                 int64_t bytes, void *data, int64_t n, tn_group_wait *w);
    /* The state of rank `me` in a new group of n of this one's ranks. n 0: the caller is in none,
     * and the result is NULL. NULL without n 0: why */
    void *(*part)(void *rank, const int32_t *member, int32_t n, int32_t me, tn_group_wait *w);
    void (*leave)(void *rank); /* gives the state back; others that wait for this rank fail */
} tn_group_backend;

/* A group over a backend's state of this rank, which it takes over, on failure too; the caller
 * frees it. NULL with an error: another version, a rank that is none of 1 to 1024. */
TN_API tn_group *tn_group_new_at(const char *file, int line, const tn_group_backend *backend,
                                 void *state, int32_t rank, int32_t size);
#define tn_group_new(backend, state, rank, size) \
    tn_group_new_at(__FILE__, __LINE__, backend, state, rank, size)

/* --- for devices: a call of a distributed row ------------------------------------------------- */

typedef enum tn_collective_kind {
    TN_BROADCAST = 1,
    TN_ALL_REDUCE,
    TN_REDUCE,
    TN_ALL_GATHER,
    TN_REDUCE_SCATTER,
    TN_ALL_TO_ALL,
    TN_SEND,
    TN_RECV,
    TN_BARRIER
} tn_collective_kind;
/* What a call asks for. Tensors of rows that take one are both input and output. */
typedef struct tn_collective {
    tn_group *group; /* NULL: one rank */
    tn_collective_kind kind;
    int32_t rank, size;
    int32_t peer; /* src or dst; -1: none */
    int32_t op;   /* a tn_reduce_op, or 0 */
    tn_tensor *input, *output;
} tn_collective;
/* For look, prepare and run of a device's row. */
TN_API void tn_collective_of(tn_collective *c, const tn_frame *f);
/* For look: waits until all ranks of the group are in the same call, as the CPU's rows do; false
 * with the error that all ranks have. Not for TN_SEND and TN_RECV. */
TN_API bool tn_collective_meet(tn_frame *f, const tn_collective *c);
/* For look, behind tn_collective_meet: what each rank has at `mine`, in their order. */
TN_API bool tn_collective_share(tn_frame *f, const tn_collective *c, const void *mine, void *all,
                                int64_t bytes);
/* One pointer that a device's backend keeps with a group; release(at) is called when the group is
 * freed. kept: NULL before keep. */
TN_API void tn_group_keep(tn_group *g, void *at, void (*release)(void *at));
TN_API void *tn_group_kept(const tn_group *g);

TNI_EXTERN_C_END
#endif
