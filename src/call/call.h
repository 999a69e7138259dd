/* call.h - the door's private part: tape nodes, the generated tables, schemas. */
#ifndef TNI_CALL_CALL_H
#define TNI_CALL_CALL_H

#include "../device/device.h"

/* --- what this room adds to a thread's block and to a context --------------------------------- */

typedef bool (*tni_autocast_fn)(tni_block *b, const tn_row *row, unsigned how, bool given,
                                const char *file, int line, const void *args, void *results,
                                bool *ok);

typedef struct tni_saved_hooks tni_saved_hooks;
typedef struct tni_packed tni_packed;
struct tni_call;

typedef struct tni_call_block {
    tni_tensor_block tensors;
    uint64_t next_id; /* numbers of tape nodes */
    tni_node *dead;   /* nodes to free when the walk in progress ends */
    bool sweeping;
    uint32_t backwards; /* each within the one before */
    tn_recording *recording;
    struct tni_batch *batch; /* the innermost one that is open (vmap.c); NULL: none */
    /* With TNI_HOOK_CAST: whether the call is one of those that autocast changes, and then it is
     * made, with *ok (autocast.c); given: it has .out. */
    tni_autocast_fn autocast;
    struct tni_casts *casts; /* weights that autocast has cast; NULL: none */
    void (*casts_drop)(tni_block *b);
    bool casts_off; /* none are kept */
    /* With TNI_HOOK_SAVED: hooks of what calls save, the innermost ones; what a recorded call that
     * has ended does; what closes them (autograd/saved.c). */
    tni_saved_hooks *saved;
    bool (*pack)(struct tni_call *c);
    void (*saved_close)(tni_block *b);
} tni_call_block;
TNI_INLINE tni_call_block *tni_calls(const tni_block *b) { return (tni_call_block *)(uintptr_t)b; }

/* Both dtypes of a thread's autocast as one number, 0: off; to pause it and go on. */
TNI_INLINE uint32_t tni_autocast_modes(const tni_block *b) {
    return b->autocast | (uint32_t)b->autocast_device << 8;
}
TNI_INLINE void tni_autocast_set(tni_block *b, uint32_t modes) {
    b->autocast = (uint8_t)modes;
    b->autocast_device = (uint8_t)(modes >> 8);
    tni_hook_set(b, TNI_HOOK_CAST, modes != 0);
}

typedef struct tni_call_context {
    tni_tensor_context tensors;
    struct tni_rows *rows; /* operators registered at run time (table.c) */
    uint32_t rows_lock;    /* additions to them */
    uint32_t grad_lock;    /* publication of .grad */
    bool anomaly;
    tni_wide backwards, hooks, batches; /* numbers given out */
} tni_call_context;
TNI_INLINE tni_call_context *tni_library(const tn_context *c) {
    return (tni_call_context *)(uintptr_t)c;
}

/* --- the tape --------------------------------------------------------------------------------- */

/* A slot of a node: what is known of input or output i. */
typedef struct tni_slot {
    /* SAVED, OUT: the storage, counted (a header might hold the node); PACKED: tni_packed */
    void *saved;
    /* input: the node it came from, or leaf tensor | 1; output: its pending gradient, counted */
    void *edge;
    uint32_t version;  /* when saved: tni_slot_version */
    uint32_t edge_out; /* which output of the edge's node */
    /* in 8-byte words from the node: sizes (SAVED, outputs: then strides and offset); NUMBER: the
     * value; 0: sizes as output 0 */
    uint32_t at;
    uint8_t dtype, ndim, kind, device;
} tni_slot;
enum {
    TNI_SLOT_ABSENT,
    TNI_SLOT_GHOST,
    TNI_SLOT_SAVED,
    TNI_SLOT_NUMBER,
    TNI_SLOT_OUT,
    TNI_SLOT_PACKED
};
/* The version of t with TNI_APART as its highest bit; more: writes that are under way. */
TNI_INLINE uint32_t tni_slot_version(const tn_tensor *t, uint32_t more) {
    return ((tni_load_relaxed(tni_version_of(t)) + more) & 0x7fffffffu) |
           (uint32_t)(t->flags & TNI_APART) << 16;
}
TNI_INLINE bool tni_edge_is_leaf(const void *edge) { return ((uintptr_t)edge & 1) != 0; }
TNI_INLINE tn_tensor *tni_edge_leaf(const void *edge) {
    return (tn_tensor *)((uintptr_t)edge & ~(uintptr_t)1);
}

/* The head of what hangs on the node of a custom function (autograd/function.c). */
typedef struct tni_node_part {
    bool (*spend)(tni_block *b, struct tn_function *f); /* what it saved goes; was there any? */
    void (*free)(tni_block *b, struct tn_function *f);
} tni_node_part;

struct tni_node {
    const tn_row *row;
    uint64_t id; /* larger than those of its inputs */
    const char *file;
    int32_t line;
    uint32_t refs; /* tensors that came out of it, and nodes it feeds */
    tni_block *owner;
    union { /* the composed row that has a .node and made it its result, or NULL */
        const tn_row *as;
        tni_node *dead; /* worklist of freeing, which nobody shows */
    } named;
    tni_wide busy; /* number of the backward that has claimed it, 0: none */
    uint32_t bytes;
    int32_t nin;
    uint16_t nout;
    uint16_t queued : 1, useful : 1, released : 1, counted : 1, packed : 1, unused : 2,
        streamed : 1, stream : 8; /* streamed: the call was made in the stream of this number */
    uint32_t args_at; /* argument struct, in words from the node; 0: a custom function */
    struct tn_function *function; /* of a custom function: begins with tni_node_part */
    struct tni_watch *watch;      /* hooks on outputs and gradients to retain (autograd/) */
    tni_slot slot[1];             /* nin inputs, nout outputs; then argument struct, sizes, lists */
};
/* For a row that may be unregistered: `by` more recorded calls need it. */
TNI_INLINE void tni_row_use(const tn_row *row, int by) {
    if (TNI_UNLIKELY(row->uses != 0))
        tni_fetch_add((uint32_t *)(uintptr_t)&row->uses, (uint32_t)by);
}
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
/* Each list of tensors among the parameters: its number i, its value l (a tn_tensors). */
#define TNI_EACH_LIST(i, l, gen, args)                                        \
    for (int i = tni_list_after(gen, args, -1, &(l)); i < (int)(gen)->nparam; \
         i = tni_list_after(gen, args, i, &(l)))
TNI_INLINE int tni_list_after(const tn_gen *gen, const void *args, int i, tn_tensors *l) {
    for (i++; i < gen->nparam; i++) {
        if (gen->param[i].type != TN_T_TENSORS) continue;
        memcpy(l, (const char *)args + gen->param[i].offset, sizeof *l);
        break;
    }
    return i;
}
/* Hangs the node on output k of its call (replacing t's old history). */
TN_PRIV void tni_node_hang(tni_block *b, tni_node *n, tn_tensor *t, int k);
TN_PRIV void tni_node_release_saved(tni_block *b,
                                    tni_node *n);         /* what gradients read; edges stay */
TN_PRIV void tni_node_abandon(tni_block *b, tni_node *n); /* of a call that failed: never hung */
/* Frees the nodes that wait, unless a walk that does is under way (sweeping). */
TN_PRIV void tni_node_sweep(tni_block *b);

/* --- who waits for a gradient (watch.c) ------------------------------------------------------- */

TN_PRIV void tni_watch_end(tni_block *b, tni_block *owner, tni_watch **at); /* takes out *at */
TN_PRIV void tni_watch_free(tni_block *b, tni_node *n);
/* The wish of t, which has another node now, to retain its gradient leaves its old node. */
TN_PRIV void tni_watch_move(tni_node *old, tn_tensor *t);
/* t dies: its hooks go, and its node forgets it. */
TN_PRIV void tni_watch_forget(tni_block *b, tn_tensor *t);
/* t, which n had as an output, does not retain its gradient any more. */
TN_PRIV void tni_retain_forget(tni_block *b, tni_node *n, const tn_tensor *t);

/* The number a call was given where a tensor could stand, as a 0-dim tensor on the stack. */
typedef struct tni_number {
    tn_tensor header;
    tni_storage storage;
    double value[2];
} tni_number;
TN_PRIV tn_tensor *tni_number_wrap(tni_block *b, tni_number *n, tn_scalar value);

/* The one place that fills a frame: all fields but note and given, which belong to check and the
 * door, and the members of in_ and out_. Nothing is recorded or written yet; no tensors. */
TNI_INLINE void tni_frame_begin(tn_frame *f, tni_block *b, const tn_row *row, unsigned how,
                                const char *file, int line, const void *args) {
    memset(&f->work.stop, 0, sizeof f->work.stop);
    f->work.caller = NULL;
    f->work.file = file;
    f->work.line = line;
    f->block = b;
    f->row = row;
    f->args = args;
    f->in = f->in_;
    f->out = f->out_;
    f->nin = f->nout = 0;
    f->recording = f->meta = false;
    f->elsewhere = f->ngiven = 0;
    f->inplace = how & TN_IN_PLACE;
    f->type = 0;
    f->device = TN_CPU;
    memset(&f->unneeded, 0, offsetof(tn_frame, note) - offsetof(tn_frame, unneeded));
}
/* tn_frame.elsewhere; 0: the CPU, meta. IN_BATCH: an argument stands for all samples of a batch, or
 * random numbers are drawn in one; CHECKED: and check took the arguments for one sample. */
enum { TNI_ON_DEVICE = 1, TNI_FALLS_BACK, TNI_IN_BATCH, TNI_BATCH_CHECKED };
/* Whether a call that has passed door_may_record gets a node. */
TNI_INLINE bool tni_is_recorded(const tn_frame *f) { return !TNI_INFERENCE_ONLY && f->recording; }
TNI_INLINE unsigned tni_elsewhere(const tn_frame *f) { return TNI_DEVICE != 0 ? f->elsewhere : 0; }
/* Of two bytes of a frame, one after the other, whether any is not 0: recording and elsewhere, or
 * elsewhere and ngiven. */
TNI_INLINE unsigned tni_frame_has(const void *two) {
    uint16_t both;
    memcpy(&both, two, sizeof both);
    return both;
}
/* The call in f is the one under way in this thread; b->work = f->work.caller leaves it. */
TNI_INLINE void tni_frame_enter(tn_frame *f, tni_block *b) {
    f->work.caller = b->work;
    tni_place_set(b, f->work.file, f->work.line);
    b->work = &f->work;
}

/* A call in progress, with what only the door knows. */
typedef struct tni_call {
    tn_frame f;
    tn_tensor **in_more; /* in[] when lists need more room than the frame has */
    tn_tensor *holder;   /* of the array of a list result */
    int64_t in_bytes;
    uint32_t redirected; /* bit k: out[k] is a temporary that is copied into given[k], which was
                            given, or made for images */
    int32_t unknown_out, unknown_dim;
    bool unknown_columns; /* its last two dimensions are column-major */
    tni_node *rebase;     /* node for the base of a written view */
    tni_number number[TNI_NUMBERS];
} tni_call;

/* A batch that is open in a thread. Its functions stand here so that only programs that open one
 * have them. */
typedef struct tni_batch {
    struct tni_batch *outer;
    uint64_t number; /* greater than those of outer ones */
    int64_t size;
    int randomness;            /* tn_randomness */
    bool (*call)(tni_call *c); /* a call that check took, or that has drawn: gives the results */
    bool (*grads)(tni_block *b, tn_tensors outputs, tn_tensors inputs, tn_tensor **grads,
                  const tn_grads_options *options); /* of tensors some of which are batched */
} tni_batch;

/* Announces output k of images (N, C, ..), made of those of `like`: channels-last where torch keeps
 * that format, else row-major. strided: run writes any strides on the CPU. Otherwise, and on
 * devices, it writes a row-major temporary, which the door then copies, unless its row is made of
 * copies (TN_MOVES). The row has the form TN_IMAGES. */
TN_PRIV bool tni_announce_images(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                 const tn_tensor *like, bool strided);
/* Output 0, the only one, is row-major and has the shape of `like`, which is row-major as well. */
TN_PRIV bool tni_announce_flat(tn_frame *f, tn_dtype dtype, const tn_tensor *like);

/* Copies src into dst, of the same shape, with conversion and any strides; no overlap. Between two
 * devices it may fail with an error (cpu/across.c). */
TN_PRIV void tni_copy_elements(tni_block *b, tn_tensor *dst, const tn_tensor *src);

/* Whether a and b, broadcast, have each element at one address: leading dimensions of size 1 are of
 * no meaning, nor is the stride of any. */
TN_PRIV bool tni_same_place(const tn_tensor *a, const tn_tensor *b);
/* How many inputs, from the first, may be exactly the tensor that run writes. A loop reads an
 * element of all before it writes it. Otherwise look has read them before run writes, so in general
 * self alone may, which run reads no more once it writes there. */
TN_PRIV int tni_may_alias(const tn_frame *f);
/* Whether out= may be any other input as well: the result is made apart then. As in torch, rows
 * that look at an index, or only move elements, refuse it. */
TN_PRIV bool tni_takes_inputs(const tn_frame *f);

/* Whose memory a recorded call may not write, as a text behind "is"; NULL: it may (door.c). */
TN_PRIV const char *tni_unwritable(const tn_tensor *t);

/* History of views and written bases (view.c): a view whose base was written since gets a
 * new edge; the node of a base whose view is written. */
TNI_INLINE bool tni_view_is_stale(const tn_tensor *t) {
    return t->flags & TNI_VIEW && t->base->flags & TNI_REQUIRES &&
           t->edge_version != tni_load_relaxed(tni_version_of(t));
}
TN_PRIV bool tni_view_refresh(tni_block *b, tn_tensor *view);
TN_PRIV tni_node *tni_view_rebase(tn_frame *f, tn_tensor *view);

/* Runs the row of f, prepared; false: it was asked to stop, which is polled where all that it
 * writes is its own, or its verdict has failed with an error. Rare: where more is to be
 * thought of. */
TN_PRIV bool tni_run_rare(tn_frame *f);
TNI_INLINE bool tni_run(tn_frame *f, const tn_row *row, tni_block *b) {
    uint32_t *cancel = &b->context->cancel;
    if (TNI_UNLIKELY((row->gen->props & (TN_PROP_MUTATED | TN_PROP_VERDICT)) |
                     (f->generator != NULL) | tni_frame_has(&f->elsewhere) | b->unstopped |
                     tni_load_relaxed(cancel)))
        return tni_run_rare(f);
    f->work.stop.request = cancel;
    row->run(f);
    return TNI_LIKELY(!tni_load_relaxed(&f->work.stop.seen));
}

/* tn_call, all the way: what row->quick leaves. */
TN_PRIV bool tni_call_long(const tn_row *row, unsigned how, const char *file, int line,
                           const void *args, void *results);
/* A plain call that has failed with an error of its own, without a frame: tells of it; false. */
TN_PRIV bool tni_call_failed(tni_block *b, const tn_row *row, const char *file, int line,
                             const void *args, void *results);

/* --- calls on devices beside the CPU (device.c) ----------------------------------------------- */

/* For check: the call is on that device. False with an error: there is none. */
TN_PRIV bool tni_frame_place(tn_frame *f, tn_device_id device);
/* Some input is not on the CPU: places the call. False with an error: they are on several
 * devices. */
TN_PRIV bool tni_device_enter(tn_frame *f);
/* Behind check: the device's kernels of the call, f->on. False with an error: there are none;
 * without one, TNI_FALLS_BACK is set. */
TN_PRIV bool tni_device_find(tn_frame *f);
TN_PRIV bool tni_device_look(tn_frame *f);
TN_PRIV bool tni_device_looks(const tn_frame *f); /* whether it reads elements of the device */
TN_PRIV bool tni_device_run(tn_frame *f);
/* In place of it, of a call without data: counts the workspace that the kernel asks for. */
TN_PRIV bool tni_device_plan(tn_frame *f);
/* d, where the call is, is about to read its inputs, or to write what it writes, in the current
 * stream. False with an error. */
TN_PRIV bool tni_device_reads(tn_frame *f, tni_device *d);
TN_PRIV bool tni_device_writes(tn_frame *f, tni_device *d);
/* The fallback: arguments with copies of the call's tensors on the CPU; results of the call with
 * them copied back, to f->out. False with an error. */
TN_PRIV bool tni_device_take_copies(tn_frame *f, void *args, size_t room);
TN_PRIV bool tni_device_give_copies(tn_frame *f, tn_tensor *const *result);
TN_PRIV void
tni_run_nothing(tn_frame *f); /* run of a row that gives a view, or nothing but memory */

/* tn_scratch_each where tn_each has no more than so many tasks. */
TN_PRIV bool tni_scratch_each(tn_frame *f, int64_t tasks, int64_t count, int64_t bytes_each);
/* Of a composed row: results to f.out, in the caller's scope. */
TN_PRIV bool tni_compose(tni_call *c);
TN_PRIV bool tni_look(tn_frame *f); /* the row's look, which there is */

/* The versions of the tensors that the call in f was given to write. */
TN_PRIV void tni_bump_written(tn_frame *f);

/* Records the call in f for replay (record.c). */
TN_PRIV bool tni_record_call(tni_call *c);
/* While calls on devices are deferred: whether this one can be. False with an error. */
TN_PRIV bool tni_record_defers(tn_frame *f);
TN_PRIV void tni_record_undo(const tn_frame *f); /* takes the last one back, f's: it has failed */
TN_PRIV void tni_record_drop(tni_block *b);      /* the recording under way, if there is one */
/* Counts scratch memory of the call in progress, on a device or for TN_META on the CPU, in the
 * context's plan, if there is one; false without memory (plan.c). */
TN_PRIV bool tni_plan_scratch(tni_block *b, int device, int64_t bytes);

/* --- generated -------------------------------------------------------------------------------- */

#define TN_ROW_INDEX(op) TNI_JOIN(TNI_ROW_, op)

/* --- lookups and text ------------------------------------------------------------------------- */

/* Whether a view of `of` that this call gives has of's history, too: else it shares data alone. */
TNI_INLINE bool tni_view_has_history(const tn_frame *f, const tn_tensor *of) {
    return f->row->grad != tn_grad_zero &&
           !(tni_state(f->block)->no_grad && of->flags & TNI_REQUIRES);
}

TN_PRIV const tn_row *tni_row_find(const char *name);
/* "add(self=float32 (2, 3), other=2, alpha=1)" of a call, for messages and the profiler. */
TN_PRIV const char *tni_call_text(char *text, size_t room, const tn_row *row, const void *args);
/* What a call writes, by name: the first tensor of an in-place form, else "out". */
TN_PRIV const char *tni_written_name(const tn_frame *f);
/* Whether given tensor k shares no memory with those before it; else an error. */
TN_PRIV bool tni_given_apart(tn_frame *f, int k);
/* Appends operator and arguments, the chain of callers, to the pending error of f's block. */
TN_PRIV void tni_call_error(tn_frame *f);

/* Binds values to the parameters of a schema; false with the reason. */
TN_PRIV bool tni_bind_values(const tn_gen *gen, const tn_value *values, int nvalues,
                             bool with_defaults, void *args, char *reason, size_t room);

#endif
