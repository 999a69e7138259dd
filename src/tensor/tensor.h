/* tensor.h (room) - headers over shared storage, shapes and strides, dtypes, text. Knows no
 * operator.
 *
 * Fields of a header but `refs` belong to whoever has the tensor alone; `refs`, `version`
 * and `edge_version` are atomic. Nothing here copies a header: shapes travel as (ndim,
 * size[], stride[]). */
#ifndef TNI_TENSOR_TENSOR_H
#define TNI_TENSOR_TENSOR_H

#include "../api/extend.h"
#include "../base/base.h"

enum tni_flags {
    TNI_REQUIRES = 1, /* requires a gradient: a leaf that asked, or an output of a recorded call */
    TNI_LEAF = 2,     /* a leaf that gathers .grad */
    TNI_META = 4,     /* shape without data */
    TNI_GHOST = 8,    /* stands for a tensor that a gradient did not ask for; the door refuses it */
    TNI_NUMBER = 16,  /* a wrapped number: lowest promotion tier; lives on the frame's stack */
    TNI_VIEW = 32,    /* base is set */
    TNI_CONTIGUOUS = 64, /* row-major, dense */
    TNI_STACK = 128,     /* not from the cache: no counting */
    TNI_READ_ONLY = 256,
    TNI_RETAIN = 512, /* keeps .grad though it is no leaf */
    TNI_INFERENCE =
        1024,         /* made in inference mode: no graph may read its data, only that mode write */
    TNI_FREED = 2048, /* freed: waits in its owner's block for its next use. With TNI_GHOST, so that
                         whoever looks for a rare tensor finds it */
#ifdef TN_NO_DEVICES
    TNI_DEVICE = 0, /* no tensor is elsewhere: what stands behind this flag is left out */
#else
    TNI_DEVICE = 4096, /* data on a device beside the CPU, which only its backend may read */
#endif
    TNI_BATCHED = 8192, /* one sample, which stands for all of a batch (call/vmap.c). With TNI_META:
                           who reads data finds none */
    TNI_SPARSE = 16384, /* a shape over parts (sparse.c). With TNI_META, for the same reason */
    TNI_APART = 32768   /* it counts its writes in `apart` of its storage, as its views do */
};

/* Who freed a tensor: in a header that TN_CHECK keeps, in the place of its sizes. */
typedef struct tni_freed {
    const char *file; /* NULL: unknown */
    int32_t line, how;
} tni_freed;
enum {
    TNI_FREED_AT,    /* tn_free at that line */
    TNI_FREED_END,   /* tn_scope_end at that line */
    TNI_FREED_SCOPE, /* the end of the scope that was begun at that line */
    TNI_FREED_AFTER  /* some time after the call at that line */
};

/* What this room adds to a thread's block, which it begins with. */
enum { TNI_SCOPES = 64 }; /* depth of scopes that costs no memory of its own */
enum { TNI_NO_GRAD = 1, TNI_NO_GRAD_INFERENCE = 2 };
typedef struct tni_tensor_block {
    tni_block block;
    uint8_t device;     /* where tensors are made from nothing; 0: on the CPU */
    uint8_t no_grad;    /* TNI_NO_GRAD | TNI_NO_GRAD_INFERENCE; not 0: nothing is recorded */
    uint16_t inference; /* TNI_INFERENCE in inference mode: what new tensors are marked with */
    uint32_t depth;     /* of the innermost scope; 0: none */
    uint32_t floor;     /* scopes that a callback may not end (tn_guard) */
    uint32_t scope_room;
    tn_tensor **scope_more; /* scopes from TNI_SCOPES on; room for scope_room */
    /* Freed headers of 4, 8 and 16 dimensions, linked by `next`: this memory holds nothing but
     * headers, so a pointer to a freed one leads to TNI_FREED or to a header made since. */
    tn_tensor *spare[3];
    /* TN_CHECK: freed headers that are not used again, oldest first, linked by `next`; the places
     * of open scopes, room for TNI_SCOPES once one is known; who frees now. */
    tn_tensor *kept, *kept_last;
    int64_t kept_bytes;
    tni_freed *opened, freeing;
    int64_t unscoped_look;   /* from so many live tensors on: are too many in no scope? */
    tn_generator *generator; /* the thread's default; NULL: the context's */
    tn_tensor
        *scope[TNI_SCOPES]; /* live tensors by the scope that holds them; [0]: held by nobody's */
    struct tni_streams_now *streams; /* of devices: current ones; NULL: each its own (device/) */
    struct tni_capture *capture;     /* that is under way; NULL: calls are carried out (device/) */
    bool deferred;                   /* calls on devices are recorded, not carried out (call/) */
    char apart[TNI_ALIGN];
    tn_tensor *returned; /* freed by other threads */
    char behind[TNI_ALIGN];
} tni_tensor_block;
TNI_INLINE tni_tensor_block *tni_state(const tni_block *b) {
    return (tni_tensor_block *)(uintptr_t)b;
}

TNI_INLINE int tni_default_device(const tni_block *b) {
    return TNI_UNLIKELY(tni_state(b)->device != 0) ? tni_state(b)->device : TN_CPU;
}

/* What this room adds to a context. */
typedef struct tni_tensor_context {
    tn_context context;
    tn_dtype default_dtype;
    uint32_t unscoped_told;       /* it has warned of a loop without TN_SCOPE */
    tni_wide unscoped;            /* of so many tensors; 0: the default, all ones: never */
    tn_generator *generator;      /* the default one, made at first need */
    struct tni_device *devices;   /* beside the CPU (device/) */
    struct tni_streams *streams;  /* of these devices; NULL: none was made yet */
    struct tni_memory_plan *plan; /* of memory, kept from the first one on (call/plan.c) */
    uint32_t planning;            /* one is in progress */
    uint32_t device_fallback;     /* rows without a kernel run on the CPU */
    struct tni_wrapped *wrapped;  /* the user's memory under tensors, to be released */
    uint32_t wrapped_lock; /* its own: who takes it over from a dead thread repairs the list */
} tni_tensor_context;
TNI_INLINE tni_tensor_context *tni_tensors(const tn_context *c) {
    return (tni_tensor_context *)(uintptr_t)c;
}

typedef struct tni_storage {
    uint32_t refs, version;
    tni_block *owner;
    void *data; /* NULL: meta, or no bytes */
    int64_t bytes;
    uint32_t room; /* bytes of the storage's own block */
    uint8_t kind;  /* TNI_DATA_* */
    uint8_t stream; /* TNI_DATA_DEVICE: in which it was written last; 0: its device's own */
    void (*release)(void *data, void *user);
    void *user;
    uint32_t apart; /* writes through tensors with TNI_APART, which `version` does not count */
} tni_storage;      /* 64 bytes or fewer; TNI_DATA_INSIDE: the data follow, aligned */
enum { TNI_DATA_INSIDE = 1, TNI_DATA_OWN, TNI_DATA_WRAPPED, TNI_DATA_DEVICE, TNI_DATA_PLANNED };
/* TNI_DATA_PLANNED: of a tensor without data that was made while the context had a plan
 * (call/plan.c). Its header has TNI_META, and where it would be: meta, which stands for the CPU, or
 * a device. */
typedef struct tni_planned {
    tni_storage storage; /* first */
    uint64_t plan;       /* its number; 0: none counts it */
    int64_t record;
} tni_planned;
enum { TNI_INSIDE = 512 }; /* data up to this many bytes lie behind their storage */

struct tn_tensor {
    uint16_t flags, depth; /* depth: of the scope that holds it, 0: the caller does */
    uint32_t refs;         /* 0: freed. The end of a header sets these three in one store */
    uint8_t dtype, ndim, capacity, device;
    int32_t line;
    tni_block *owner;
    tni_storage *storage;
    int64_t offset; /* in elements */
    int64_t numel;
    int64_t *size, *stride; /* into dims below; of a ghost, into its node */
    tni_node *node;         /* the call that made it, NULL for leaves */
    uint32_t node_out;      /* which output of it */
    uint32_t
        edge_version; /* version of the storage when `node` was hung here (views notice writes) */
    tn_tensor *base;  /* of a view; counted */
    tn_tensor *grad;  /* gathered; counted */
    const char *file;
    tn_tensor *prev, *next; /* live list of the owner's block, newest first */
    void *extra;            /* a binding's object with 1 added, or a tni_extra; NULL mostly */
    int64_t dims[2 * 4];    /* in fact 2 * capacity: sizes, then strides */
};

/* How often the memory of t was written: by tensors that count together with it. */
TNI_INLINE uint32_t *tni_version_of(const tn_tensor *t) {
    return TNI_UNLIKELY(t->flags & TNI_APART) ? &t->storage->apart : &t->storage->version;
}

typedef enum tni_category {
    TNI_CAT_BOOL,
    TNI_CAT_INT,
    TNI_CAT_FLOAT,
    TNI_CAT_COMPLEX
} tni_category;
/* A line of TN_DTYPES (api/types.h). */
typedef struct tni_dtype_info {
    double largest;
    uint8_t bytes, category, is_signed, computes, digits; /* category: tni_category */
    char text[27]; /* "float32", behind it "float", its alias, and "F32", that of safetensors */
} tni_dtype_info;
TN_PRIV const tni_dtype_info *tni_dtype(int dtype); /* of TN_NO_DTYPE: zeros, text "None" */
TNI_INLINE const char *tni_dtype_alias(int d) { return strchr(tni_dtype(d)->text, 0) + 1; }
TNI_INLINE const char *tni_dtype_safetensors(int d) { return strchr(tni_dtype_alias(d), 0) + 1; }
TNI_INLINE bool tni_is_float(int d) { return tni_dtype(d)->category == TNI_CAT_FLOAT; }
/* Bit d: the switches of api/config.h leave dtype d out. No tensor has it, nothing is computed
 * in it. */
#ifdef TN_NO_COMPLEX
#define TNI_NO_COMPLEX_BITS (1u << TN_C64 | 1u << TN_C128)
#else
#define TNI_NO_COMPLEX_BITS 0u
#endif
#ifdef TN_NO_HALF
#define TNI_NO_HALF_BITS (1u << TN_F16 | 1u << TN_BF16)
#else
#define TNI_NO_HALF_BITS 0u
#endif
TNI_INLINE bool tni_dtype_left_out(int d) {
    return (TNI_NO_COMPLEX_BITS | TNI_NO_HALF_BITS) >> d & 1;
}
/* The error of such a dtype. Returns false. */
TN_PRIV TNI_NOINLINE bool tni_dtype_error(tni_block *b, int dtype);
TNI_INLINE bool tni_is_complex(int d) { return tni_dtype(d)->category == TNI_CAT_COMPLEX; }
TNI_INLINE bool tni_is_int(int d) {
    return tni_dtype(d)->category == TNI_CAT_INT;
} /* without bool */
TN_PRIV tn_dtype tni_real_of(int dtype);     /* C64 -> F32 */
TN_PRIV tn_dtype tni_complex_of(int dtype);  /* F32 -> C64, F64 -> C128, F16 -> C64 */
TN_PRIV bool tni_can_cast(int from, int to); /* torch.can_cast: category may not fall */

/* What the address of an element is a multiple of. */
TN_PRIV int tni_align_of(int dtype);

/* One element, any dtype to any: as torch's .to (wrap, truncate; NaN to int is 0 for
 * sanity's sake). */
TN_PRIV tn_scalar tni_element(const void *at, int dtype);
TN_PRIV void tni_element_set(void *at, int dtype, tn_scalar value);
/* The bits of an element of 1, 2, 4 or 8 bytes as a number, on machines of either byte order. */
TNI_INLINE uint64_t tni_bits_at(const char *at, int64_t bytes) {
    uint64_t wide;
    uint32_t word;
    uint16_t half;
    switch (bytes) {
    case 8: return memcpy(&wide, at, sizeof wide), wide;
    case 4: return memcpy(&word, at, sizeof word), word;
    case 2: return memcpy(&half, at, sizeof half), half;
    default: return *(const uint8_t *)at;
    }
}
TN_PRIV float tni_f16_to_f32(uint16_t h);
TN_PRIV uint16_t tni_f32_to_f16(float f); /* to nearest even */
TNI_INLINE float tni_bf16_to_f32(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
/* Truncated; NaN is 0, what does not fit INT64_MIN, which cut to fewer bits is 0. */
TNI_INLINE int64_t tni_truncate(double v) {
    if (v >= -9223372036854775808.0 && v < 9223372036854775808.0) return (int64_t)v;
    return v != v ? 0 : INT64_MIN;
}
TNI_INLINE uint16_t tni_f32_to_bf16(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)0x7fc0;
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* --- shapes ----------------------------------------------------------------------------------- */

typedef struct tni_shape {
    int ndim;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
} tni_shape;
/* Elements at most, strides and offsets of views too: in bytes they and a few sums of them fit. */
#define TNI_MOST ((int64_t)1 << 58)
TN_PRIV bool tni_numel_of(int ndim, const int64_t *size,
                          int64_t *numel); /* checked; false: negative or too large */
TN_PRIV void tni_row_major(int ndim, const int64_t *size, int64_t *stride);
TN_PRIV void tni_channels_last(int ndim, const int64_t *size,
                               int64_t *stride); /* 4 or 5 dimensions */
TN_PRIV bool tni_like_channels_last(const tn_tensor *t);
TN_PRIV bool tni_is_row_major(int ndim, const int64_t *size, const int64_t *stride);
TN_PRIV bool
tni_is_dense(const tn_tensor *t); /* no gaps, no overlap, in some order of dimensions */
/* Broadcasts b into s (sizes); false when they do not fit. */
TN_PRIV bool tni_broadcast(tni_shape *s, int ndim, const int64_t *size);
TNI_INLINE bool tni_same_shape(const tn_tensor *a, const tn_tensor *b) {
    if (a->ndim != b->ndim) return false;
    for (int i = a->ndim - 1; i >= 0; i--)
        if (a->size[i] != b->size[i]) return false;
    return true;
}
/* Row-major strides of sizes that a tensor has, so that they were checked; returns its elements. */
TNI_INLINE int64_t tni_flat_strides(int ndim, const int64_t *size, int64_t *stride) {
    int64_t step = 1;
    bool empty = false;
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = step;
        empty = empty || size[i] == 0;
        step *= size[i] ? size[i] : 1;
    }
    return empty ? 0 : step;
}
/* One element stands for all: a wrapped number, or a tensor expanded in every dimension. */
TNI_INLINE bool tni_is_repeated(const tn_tensor *t) {
    if (t->flags & TNI_NUMBER) return true;
    if (!t->ndim || t->stride[t->ndim - 1]) return false;
    for (int i = 0; i < t->ndim; i++)
        if (t->stride[i]) return false;
    return t->numel > 1;
}
/* A tensor, no wrapped number, whose elements lie one after another. */
TNI_INLINE bool tni_is_flat(const tn_tensor *t) {
    return (t->flags & (TNI_CONTIGUOUS | TNI_NUMBER)) == TNI_CONTIGUOUS;
}
TNI_INLINE tn_ints tni_ints(const int64_t *at, int64_t n) {
    tn_ints l = {at, n};
    return l;
}
TNI_INLINE tn_ints tni_sizes(const tn_tensor *t) {
    tn_ints l = {t->size, t->ndim};
    return l;
}
/* dim in [-ndim, ndim) to [0, ndim); a 0-dim tensor has one virtual dimension. -1: out of range. */
TNI_INLINE int tni_dim(int ndim, int64_t dim) {
    const int64_t n = ndim ? ndim : 1;
    return dim < -n || dim >= n ? -1 : (int)(dim < 0 ? dim + n : dim);
}
/* Strides of a pointwise result over n operands broadcast to s (torch's rule: keeps the operands'
 * order of dimensions). */
TN_PRIV void tni_like_strides(tni_shape *s, const tn_tensor *const *operands, int n);
/* Bytes from t's first element to the end of its furthest one; false: too large to be memory, or a
 * negative stride. */
TN_PRIV bool tni_extent(const tn_tensor *t, int64_t *bytes);
/* Exact test: do two strided sets of elements share a byte? And does one overlap itself? */
TN_PRIV bool tni_overlap(const tn_tensor *a, const tn_tensor *b);
TN_PRIV bool tni_overlaps_itself(const tn_tensor *t);

/* --- loops without TN_SCOPE (unscoped.c) ------------------------------------------------------ */

/* Warns where too many tensors of b are in no scope; sets when to look again. */
TN_PRIV void tni_unscoped_look(tni_block *b);
/* Adds to an error of memory how many tensors are in no scope, if there are many. */
TN_PRIV void tni_unscoped_explain(tni_block *b);

/* --- making and freeing ----------------------------------------------------------------------- */

/* A header in the current scope of b, count 1, no storage yet. numel and CONTIGUOUS are set from
 * size and stride. */
TN_PRIV tn_tensor *tni_header(tni_block *b, int dtype, int ndim, const int64_t *size,
                              const int64_t *stride);
/* The same with the shape of a row-major tensor. */
TN_PRIV tn_tensor *tni_header_flat(tni_block *b, int dtype, const tn_tensor *like);
/* The same, of few dimensions, with uninitialised memory behind its storage, where the elements of
 * `like` lie. */
enum { TNI_FEW_DIMS = 4 };
TN_PRIV tn_tensor *tni_new_small(tni_block *b, const tn_tensor *like);
TN_PRIV bool
tni_set_storage(tni_block *b,
                tn_tensor *t); /* new uninitialised memory for its extent; numel 0 is fine */
TN_PRIV tn_tensor *tni_new(tni_block *b, int dtype, int ndim,
                           const int64_t *size); /* row-major, with storage */
/* Whether t may be used, and is of b's context; else an error that begins with `what`. */
TN_PRIV bool tni_belongs(tni_block *b, const tn_tensor *t, const char *what);
/* A view, no node yet: storage and, where it will share the history of `of`, base are shared. */
TN_PRIV tn_tensor *tni_view_of(tni_block *b, tn_tensor *of, int ndim, const int64_t *size,
                               const int64_t *stride, int64_t offset, bool history);
TN_PRIV tn_tensor *tni_share(tni_block *b, tni_storage *s,
                             const tn_tensor *like); /* another header on the same data */
/* The user's memory as a storage; release (NULL: nothing) is called once, by the last count or at
 * the context's end. */
TN_PRIV tni_storage *tni_storage_wrap(tni_block *b, void *data, int64_t bytes,
                                      void (*release)(void *data, void *user), void *user);
TN_PRIV void tni_storage_release(tni_block *b, tni_storage *s);
/* Whether a plan of memory is in progress: new tensors of devices have no data then. */
TNI_INLINE bool tni_is_planning(const tni_block *b) {
    return tni_load_relaxed(&tni_tensors(b->context)->planning) != 0;
}
/* Whether a new tensor of that device has no data. */
TNI_INLINE bool tni_without_data(const tni_block *b, int device) {
    return device == TN_META || (device > TN_META && tni_is_planning(b));
}
/* Says where the data of t, a header without storage, is or will be; meta: it has none. */
TNI_INLINE void tni_set_device(tn_tensor *t, int device, bool meta) {
    t->device = (uint8_t)device;
    if (TNI_UNLIKELY(device != TN_CPU)) t->flags |= meta ? TNI_META : TNI_DEVICE;
}
/* Memory of a device, bytes > 0, how it is given back, with its device as user, and the number of
 * the stream that it belongs to; NULL with an error (device/). */
TN_PRIV void *tni_device_get(tni_block *b, int device, int64_t bytes,
                             void (**release)(void *data, void *user), void **user,
                             uint8_t *stream);
/* t, of a device, as a new row-major tensor of the CPU in the current scope; NULL with an error
 * (cpu/across.c). */
TN_PRIV tn_tensor *tni_device_down(tni_block *b, const tn_tensor *t);
/* Counts s, new and without data, for t in the plan in progress, if any; false without memory and
 * without an error. The second is for its end. */
TN_PRIV bool tni_plan_add(tni_block *b, const tn_tensor *t, tni_planned *s);
TN_PRIV void tni_plan_drop(const tni_planned *s);
/* The elements of t, new and on the CPU, as a new tensor of another device in the current scope; t
 * is dropped. NULL with an error (cpu/across.c). */
TN_PRIV tn_tensor *tni_device_up(tni_block *b, tn_tensor *t, int device);
TN_PRIV void tni_release(tni_block *b, tn_tensor *t); /* drops a count; the last one frees */
TNI_INLINE void tni_retain(tn_tensor *t) {
    if (t) tni_fetch_add_relaxed(&t->refs, 1u);
}
/* TN_CHECK is for the files of this room and of autograd/; what others see is the same with and
 * without it. */
#ifdef TN_CHECK
#define TNI_CHECK 1
#ifndef TN_CHECK_BYTES
#define TN_CHECK_BYTES (64 << 20)
#endif
#else
#define TNI_CHECK 0
#endif
/* Whether t is freed, which is known as long as its header's memory belongs to the library and
 * nothing was made there since: contexts without caches give it back at once. With TN_CHECK it is
 * known as long as the header is kept. */
TNI_INLINE bool tni_is_freed(const tn_tensor *t) { return (t->flags & TNI_FREED) != 0; }
/* What is wrong with t, which is freed: "is freed (it was made at game.c:28)", and with TN_CHECK
 * "was freed at game.c:31 (it was made at game.c:28)". Returns text. */
TN_PRIV const char *tni_freed_text(char *text, size_t room, const tn_tensor *t);
/* The error of t, which is freed: "tn_item: the tensor is freed ..". Returns false. The second is
 * for public functions that are not told their caller's line. */
TN_PRIV TNI_NOINLINE bool tni_freed_error(tni_block *b, const tn_tensor *t, const char *what);
TN_PRIV TNI_NOINLINE bool tni_freed_apart(tni_block *b, const tn_tensor *t, const char *what);
/* Whether t, not NULL, may be used; else false and that error. */
TNI_INLINE bool tni_usable(tni_block *b, const tn_tensor *t, const char *what) {
    return TNI_LIKELY(!tni_is_freed(t)) || tni_freed_error(b, t, what);
}
/* Whether t can be read by a function that does not fail: it is not NULL and, where TN_CHECK looks,
 * not freed, which is an error then. */
TNI_INLINE bool tni_there(const tn_tensor *t, const char *what) {
    return t && (!TNI_CHECK || !tni_is_freed(t) || tni_freed_apart(tni_here(), t, what));
}
/* The list of a scope's tensors; into it, and out. */
TNI_INLINE tn_tensor **tni_scope_head(tni_block *b, uint32_t depth) {
    return TNI_LIKELY(depth < TNI_SCOPES) ? &tni_state(b)->scope[depth]
                                          : &tni_state(b)->scope_more[depth - TNI_SCOPES];
}

TNI_INLINE void tni_scope_link(tni_block *b, tn_tensor *t, uint32_t depth) {
    tn_tensor **head = tni_scope_head(b, depth);
    t->depth = (uint16_t)depth;
    t->prev = NULL;
    t->next = *head;
    if (*head) (*head)->prev = t;
    *head = t;
}

TNI_INLINE void tni_scope_unlink(tni_block *b, tn_tensor *t) {
    tn_tensor *const prev = t->prev, *const next = t->next;
    if (prev)
        prev->next = next;
    else
        *tni_scope_head(b, t->depth) = next;
    if (next) next->prev = prev;
}
/* Opens a scope and returns the depth before, the mark that tni_end takes; -1 with MEMORY set, then
 * nothing is open and tni_end(b, -1) does nothing. tni_end releases what scopes deeper than the
 * mark still hold. */
TN_PRIV int64_t tni_begin_deep(tni_block *b);
TNI_INLINE int64_t tni_begin(tni_block *b) {
    return TNI_LIKELY(tni_state(b)->depth < TNI_SCOPES - 1) ? (int64_t)tni_state(b)->depth++
                                                            : tni_begin_deep(b);
}
TN_PRIV void tni_end(tni_block *b, int64_t mark);
/* Moves t, of b, with the count its scope has, to the scope of that depth (0: out of all scopes).
 * Returns t. */
TNI_INLINE tn_tensor *tni_move(tni_block *b, tn_tensor *t, int64_t depth) {
    tni_scope_unlink(b, t);
    tni_scope_link(b, t, (uint32_t)depth);
    return t;
}
/* Drops the count that t's scope has; t lives on if somebody else counts it. */
TN_PRIV void tni_drop(tni_block *b, tn_tensor *t);
TN_PRIV void tni_tensors_at_end(tn_context *c); /* releases the user's memory under live tensors */
/* Called when the last count of a header with a node goes (call/ sets it: tensor knows no tape). */
TN_PRIV void tni_node_drop(tni_block *b, tni_node *node);

/* A header over of's storage that lives on the caller's stack: uncounted, for loops that
 * take tensors. */
TNI_INLINE void tni_stack_view(tn_tensor *v, const tn_tensor *of, int ndim, const int64_t *size,
                               const int64_t *stride, int64_t offset) {
    memset(v, 0, offsetof(tn_tensor, dims));
    v->refs = 1;
    v->dtype = of->dtype;
    v->ndim = (uint8_t)ndim;
    v->device = of->device;
    v->owner = of->owner;
    v->storage = of->storage;
    v->offset = offset;
    v->size = (int64_t *)(uintptr_t)size;
    v->stride = (int64_t *)(uintptr_t)stride;
    v->numel = 1;
    for (int i = 0; i < ndim; i++) v->numel *= size[i];
    v->flags = (uint16_t)(TNI_STACK | (of->flags & TNI_DEVICE) |
                          (tni_is_row_major(ndim, size, stride) ? TNI_CONTIGUOUS : 0));
}

/* The power of two that an element's bytes are, three bits a dtype; a tensor has no TN_NO_DTYPE. */
#define TNI_WIDTH(NAME, text, bytes, ...)                                                        \
    | (uint64_t)((bytes) / 16 * 4 + (bytes) / 8 % 2 * 3 + (bytes) / 4 % 2 * 2 + (bytes) / 2 % 2) \
            << 3 * TN_##NAME
TNI_INLINE int tni_width(int dtype) {
    return (int)((UINT64_C(0) TN_DTYPES(TNI_WIDTH)) >> 3 * dtype & 7);
}
#undef TNI_WIDTH
TNI_INLINE int64_t tni_dtype_size(const tn_tensor *t) { return (int64_t)1 << tni_width(t->dtype); }
TNI_INLINE char *tni_bytes_at(const tn_tensor *t) {
    return (char *)t->storage->data + t->offset * tni_dtype_size(t);
}

/* --- extras that few tensors have ------------------------------------------------------------- */

/* What waits for a gradient: a hook, or a tensor that retains it. A leaf has its list among the
 * extras, the outputs of a call theirs in the node. */
typedef struct tni_watch {
    struct tni_watch *next;
    tn_tensor *retain; /* not counted: the tensor takes itself out when it dies; NULL: a hook */
    tn_hook call;
    tn_history_hook all; /* of a recorded call, in place of call */
    /* runs the hooks of a recorded call, which only programs that add one have: without g on the
     * gradients that wait in n, with it on those that n gives */
    bool (*run)(void *engine, struct tni_node *n, struct tn_gradient *g);
    void *user;
    void (*release)(void *);
    int64_t number;
    uint32_t out;     /* of the node */
    uint32_t running; /* calls in progress; if removed meanwhile, it goes when they are over */
    bool removed;
    bool after; /* sees the leaf when its .grad is there; of a call: what it gives */
} tni_watch;
typedef struct tni_extra {
    tni_watch *hooks;                           /* of a leaf */
    void (*forget)(tni_block *b, tn_tensor *t); /* where t waits for gradients: before it dies */
    void *binding;                              /* a language binding's own object */
    void (*binding_release)(void *);
    tn_tensor *batch;      /* of a batched tensor: all samples, in dimension 0; counted */
    uint64_t batch_number; /* which batch */
    tn_tensor *part[3];    /* of a sparse tensor; counted */
    const struct tni_sparse_ways *ways; /* what backward does with it (autograd.h) */
    uint8_t layout;                     /* tn_layout */
    bool coalesced;
} tni_extra;
/* NULL where there are none, or nothing but a binding's object that the tensor does not own. */
TNI_INLINE tni_extra *tni_extra_there(const tn_tensor *t) {
    return (uintptr_t)t->extra & 1 ? NULL : (tni_extra *)t->extra;
}
TN_PRIV tni_extra *tni_extra_of(tni_block *b,
                                tn_tensor *t); /* made at first need; NULL with MEMORY set */
TN_PRIV void tni_extra_free(tni_block *b, tn_tensor *t); /* t has some */
/* The batch that t is a sample of, and its number; NULL and 0: of none. */
TNI_INLINE tn_tensor *tni_batch_of_sample(const tn_tensor *t) {
    const tni_extra *e = TNI_UNLIKELY(t->flags & TNI_BATCHED) ? tni_extra_there(t) : NULL;
    return e ? e->batch : NULL;
}
TNI_INLINE uint64_t tni_batch_number(const tn_tensor *t) {
    const tni_extra *e = TNI_UNLIKELY(t->flags & TNI_BATCHED) ? tni_extra_there(t) : NULL;
    return e ? e->batch_number : 0;
}
/* All samples of a batched tensor; of another tensor, itself. */
TNI_INLINE tn_tensor *tni_all_of(const tn_tensor *t) {
    for (const tn_tensor *up; (up = tni_batch_of_sample(t)) != NULL;) t = up;
    return (tn_tensor *)(uintptr_t)t;
}
/* A sparse tensor over parts of one device, which fit (sparse.c); its values, the last part; of
 * another tensor, itself. */
TN_PRIV tn_tensor *tni_sparse_header(tni_block *b, int layout, tn_tensor *const *part, int ndim,
                                     const int64_t *size, const struct tni_sparse_ways *ways);
/* torch's name of a layout of tn_layout. */
TN_PRIV const char *tni_layout_text(int layout);
/* Whether parts and size make a sparse tensor; if not, false with an error of tn_sparse_new. */
TN_PRIV bool tni_sparse_may_be(tni_block *b, int layout, tn_tensors parts, tn_ints size);
TNI_INLINE tn_tensor *tni_values_of(const tn_tensor *t) {
    const tni_extra *e = TNI_UNLIKELY(t->flags & TNI_SPARSE) ? tni_extra_there(t) : NULL;
    return e ? e->part[e->part[2] ? 2 : 1] : (tn_tensor *)(uintptr_t)t;
}

/* --- iterating -------------------------------------------------------------------------------- */

/* Up to 8 operands over one broadcast shape, dimensions ordered by stride and merged where all
 * operands allow. dimension 0 is the innermost. Strides are in bytes; 0 where broadcast. */
enum { TNI_OPERANDS = 8 };
typedef struct tni_iterate {
    int n, ndim;
    int64_t numel;
    int64_t size[TN_MAX_DIMS];
    int64_t stride[TNI_OPERANDS][TN_MAX_DIMS];
    char *at[TNI_OPERANDS];
    int64_t bytes[TNI_OPERANDS];
} tni_iterate;
/* operands[0] is written; the shape is `s` (row-major sizes), operands broadcast to it from
 * the right. */
TN_PRIV void tni_iterate_init(tni_iterate *it, int ndim, const int64_t *size,
                              tn_tensor *const *operands, int n);

/* --- text ------------------------------------------------------------------------------------- */

/* "(2, 3)" / "float32 (2, 3)" into text; returns text. */
TN_PRIV const char *tni_shape_text(char *text, size_t room, int ndim, const int64_t *size);
TN_PRIV const char *tni_tensor_text(char *text, size_t room, const tn_tensor *t);
TN_PRIV const char *tni_scalar_text(char *text, size_t room, tn_scalar s);
TN_PRIV void tni_float_text(char *text, size_t room, double v); /* as Python's repr */

/* --- random streams (generator.c) ------------------------------------------------------------- */

struct tn_generator {
    tn_context *context;
    uint32_t mt[624];
    int32_t at;      /* next word; 624: twist first */
    bool has_normal; /* a second Box-Muller value waits */
    bool seeded;
    double normal;
    uint64_t seed;
    uint64_t draws; /* on devices, since it was seeded: each is a Philox stream of its own */
};
#define TNI_DEFAULT_SEED 67280421310721u /* torch's: c10::detail::default_rng_seed_val */
TN_PRIV tn_generator *tni_generator_default(tni_block *b); /* NULL with MEMORY set */
TN_PRIV uint32_t tni_random32(tn_generator *g);
TN_PRIV uint64_t tni_random64(tn_generator *g); /* torch's: first word is the high half */
TN_PRIV void tni_random_fill(tn_generator *g, uint32_t *to, int64_t n); /* n tempered words, fast */
TN_PRIV void tni_philox(uint64_t key, uint64_t subsequence, uint64_t offset,
                        uint32_t to[4]); /* 4 words, stateless */

#endif
