/* call.h - the door's private part: tape nodes, the generated tables, devices, schemas. */
#ifndef TNI_CALL_CALL_H
#define TNI_CALL_CALL_H

#include "../tensor/tensor.h"

/* --- the tape --------------------------------------------------------------------------------- */

/* A slot of a node: what is known of input or output i. */
typedef struct tni_slot {
    void *saved;      /* SAVED, OUT: the storage, counted (a header might come to hold the node) */
    void *edge;       /* input: node it came from, or leaf tensor | 1; output: its pending gradient,
                    counted */
    uint32_t version; /* of the storage when saved */
    uint32_t edge_out; /* which output of the edge's node */
    uint32_t at; /* in 8-byte words from the node: sizes (SAVED, outputs: then strides and offset);
                    NUMBER: the value; 0: sizes as output 0 */
    uint8_t dtype, ndim, kind, flags; /* flags: TNI_SLOT_META */
} tni_slot;
enum { TNI_SLOT_META = 1 };
enum { TNI_SLOT_ABSENT, TNI_SLOT_GHOST, TNI_SLOT_SAVED, TNI_SLOT_NUMBER, TNI_SLOT_OUT };
TNI_INLINE bool tni_edge_is_leaf(const void *edge) { return ((uintptr_t)edge & 1) != 0; }
TNI_INLINE tn_tensor *tni_edge_leaf(const void *edge) {
    return (tn_tensor *)((uintptr_t)edge & ~(uintptr_t)1);
}

struct tni_node {
    const tn_row *row;
    uint64_t id; /* larger than those of its inputs */
    const char *file;
    int32_t line;
    uint32_t refs; /* tensors that came out of it, and nodes it feeds */
    tni_block *owner;
    tni_node *dead; /* worklist of freeing */
    tni_wide busy;  /* number of the backward that has claimed it, 0: none */
    uint32_t bytes;
    int32_t nin;
    uint16_t nout;
    uint16_t queued : 1, useful : 1, released : 1;
    uint16_t named : 13; /* the composed row that has a .node and made it its result, 1 + number */
    uint32_t args_at;    /* argument struct, in words from the node; 0: a custom function */
    struct tn_function *function; /* of a custom function */
    struct tni_watch *watch;      /* hooks on outputs and gradients to retain (autograd/) */
    tni_slot slot[1];             /* nin inputs, nout outputs; then argument struct, sizes, lists */
};
/* The node of the call in f, whose outputs are made: edges and saved tensors are counted, refs is
 * 0. NULL with MEMORY set. */
TN_PRIV tni_node *tni_node_new(tn_frame *f);
/* The same in short, of tensors that are row-major, of one shape and without offset, which has one
 * new result: hung on it. false with MEMORY set. */
TN_PRIV bool tni_node_flat(tni_block *b, const tn_row *row, const void *args, tn_tensor *const *in,
                           int nin, tn_tensor *out);
/* The same of a view of `in` whose gradient reads neither's elements. */
TN_PRIV bool tni_node_view(tni_block *b, const tn_row *row, const void *args, tn_tensor *in,
                           tn_tensor *out);
/* What an argument struct points at beside tensors, its lists of numbers and texts: 8-byte words
 * that a copy of them takes, and that copy, made from `to` on; args then points there. */
TN_PRIV int64_t tni_args_words(const tn_gen *gen, const void *args);
TN_PRIV int64_t *tni_args_copy(const tn_gen *gen, void *args, int64_t *to);
/* Lists of tensors in copied arguments get their members from the slots behind the single ones. */
TN_PRIV void tni_args_members(const tn_gen *gen, void *args, tn_tensor **slots);
/* Hangs the node on output k of its call (replacing t's old history). */
TN_PRIV void tni_node_hang(tni_block *b, tni_node *n, tn_tensor *t, int k);
TN_PRIV void tni_node_release_saved(tni_block *b,
                                    tni_node *n);         /* what gradients read; edges stay */
TN_PRIV void tni_node_abandon(tni_block *b, tni_node *n); /* of a call that failed: never hung */
/* Frees the nodes that wait, unless a walk that does is under way (b->sweeping). */
TN_PRIV void tni_node_sweep(tni_block *b);
TN_PRIV void tni_watch_free(tni_block *b, tni_node *n); /* autograd/ */
/* autograd/: the wish of t, which n has now, to retain its gradient leaves its old node */
TN_PRIV void tni_watch_move(tni_node *old, tn_tensor *t);
TN_PRIV void tni_function_free(tni_block *b, struct tn_function *f); /* autograd/ */
/* What it has saved goes; whether there was something. */
TN_PRIV bool tni_function_spend(tni_block *b, struct tn_function *f);

/* The number a call was given where a tensor could stand, as a 0-dim tensor on the stack. */
typedef struct tni_number {
    tn_tensor header;
    tni_storage storage;
    double value[2];
} tni_number;
TN_PRIV tn_tensor *tni_number_wrap(tni_block *b, tni_number *n, tn_scalar value);

/* A call in progress, with what only the door knows. */
typedef struct tni_call {
    tn_frame f;
    tn_tensor **in_more; /* in[] when lists need more room than the frame has */
    tn_tensor *holder;   /* of the array of a list result */
    int64_t in_bytes;
    uint32_t redirected; /* bit k: out[k] is a temporary that is copied into given[k] */
    int32_t unknown_out, unknown_dim;
    tni_node *rebase; /* node for the base of a written view */
    tni_number number[TNI_NUMBERS];
} tni_call;

/* Output 0, the only one, is row-major and has the shape of `like`, which is row-major, too. */
TN_PRIV bool tni_announce_flat(tn_frame *f, tn_dtype dtype, const tn_tensor *like);

/* Copies src into dst, of the same shape, with conversion and any strides; no overlap
 * (ops/drive.c). */
TN_PRIV void tni_copy_elements(tni_block *b, tn_tensor *dst, const tn_tensor *src);

/* Whose memory a recorded call may not write, as a text behind "is"; NULL: it may (door.c). */
TN_PRIV const char *tni_unwritable(const tn_tensor *t);

/* History of views and written bases (autograd/view.c): a view whose base was written since gets a
 * new edge; the node of a base whose view is written. */
TNI_INLINE bool tni_view_is_stale(const tn_tensor *t) {
    return t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES &&
           t->edge_version != tni_load_relaxed(&t->storage->version);
}
TN_PRIV bool tni_view_refresh(tni_block *b, tn_tensor *view);
TN_PRIV tni_node *tni_view_rebase(tn_frame *f, tn_tensor *view);

/* Runs the row of f, prepared; false: it was asked to stop, which is polled where all that it
 * writes is its own. Rare: where more is to be thought of. */
TN_PRIV bool tni_run_rare(tn_frame *f);
TNI_INLINE bool tni_run(tn_frame *f, const tn_row *row, tni_block *b) {
    uint32_t *cancel = &b->context->cancel;
    if (TNI_UNLIKELY((row->gen->props & TN_PROP_MUTATED) | (f->generator != NULL) | f->ngiven |
                     b->unstopped | tni_load_relaxed(cancel)))
        return tni_run_rare(f);
    f->stop.request = cancel;
    row->run(f);
    return TNI_LIKELY(!tni_load_relaxed(&f->stop.seen));
}

/* tn_call, all the way: what row->quick leaves. */
TN_PRIV bool tni_call_long(const tn_row *row, unsigned how, const char *file, int line,
                           const void *args, void *results);
/* A plain call that has failed with an error of its own, without a frame: tells of it; false. */
TN_PRIV bool tni_call_failed(tni_block *b, const tn_row *row, const char *file, int line,
                             const void *args, void *results);

/* Of a composed row: results to f.out, in the caller's scope. */
TN_PRIV bool tni_compose(tni_call *c);
TN_PRIV bool tni_look(tn_frame *f); /* the row's look, which there is */

/* The versions of the tensors that the call in f was given to write. */
TN_PRIV void tni_bump_written(tn_frame *f);

/* Records the call in f for replay (record.c). */
TN_PRIV bool tni_record_call(tni_call *c);
TN_PRIV void tni_record_drop(tni_block *b); /* the recording under way, if there is one */

/* --- generated -------------------------------------------------------------------------------- */

#define TN_ROW_INDEX(op) TNI_JOIN(TNI_ROW_, op)

/* --- lookups and text ------------------------------------------------------------------------- */

/* Whether a list of numbers is given, or absent by name where the schema allows it; all zero bytes
 * are neither. */
TNI_INLINE bool tni_list_is_said(const tn_param *p, const void *args) {
    tn_ints l;
    memcpy(&l, (const char *)args + p->offset, sizeof l);
    return l.n >= 0 ? l.at != NULL : l.n == -1 && p->flags & TN_P_OPTIONAL;
}
/* Whether a view of `of` that this call gives has of's history, too: else it shares data alone. */
TNI_INLINE bool tni_view_has_history(const tn_frame *f, const tn_tensor *of) {
    return f->row->grad != tn_grad_zero && !(f->block->no_grad && of->flags & TNI_REQUIRES);
}

TN_PRIV const tn_row *tni_row_find(const char *name);
/* "add(self=float32 (2, 3), other=2, alpha=1)" of a call, for messages and the profiler. */
TN_PRIV const char *tni_call_text(char *text, size_t room, const tn_row *row, const void *args);
/* What a call writes, by name: the first tensor of an in-place form, else "out". */
TN_PRIV const char *tni_written_name(const tn_frame *f);
/* Appends operator and arguments, the chain of callers, to the pending error of f's block. */
TN_PRIV void tni_call_error(tn_frame *f);

/* Binds values to the parameters of a schema; false with the reason. */
TN_PRIV bool tni_bind_values(const tn_gen *gen, const tn_value *values, int nvalues,
                             bool with_defaults, void *args, char *reason, size_t room);

/* --- devices ---------------------------------------------------------------------------------- */

/* A backend beside the CPU. Functions marked optional may be NULL. */
typedef struct tni_device {
    const char *name;                                            /* "cuda:0" */
    void *(*alloc)(struct tni_device *d, int64_t bytes);         /* required */
    void (*free)(struct tni_device *d, void *at, int64_t bytes); /* required */
    bool (*copy)(struct tni_device *d, void *to, const void *from, int64_t bytes,
                 int direction);               /* required */
    void (*synchronize)(struct tni_device *d); /* optional */
    void (*const *run)(tn_frame *);            /* by row index; NULL entry: no kernel */
    uint32_t nrun;
    void *user;
    struct tni_device *next;
} tni_device;

#endif
