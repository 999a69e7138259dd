/* storage.c - making and freeing headers and storages. Knows no scope but the lists they keep.
 *
 * A header stands in the list of the scope that holds it (list 0: no scope does), so a scope's end
 * is a walk over its own list. Who counts a header: its scope or its caller, views of it (base),
 * tape nodes that saved it, .grad. A header whose last count goes in a foreign thread gives up all
 * it holds there and returns to its owner block by a lock-free list; fields of the list itself are
 * touched by the owner alone. A freed header says so (TNI_FREED) until its memory is the next
 * header. */
#include "tensor.h"

/* --- headers ---------------------------------------------------------------------------------- */

/* Dimensions that a header has room for: 4, 8 or all, so that headers come in three sizes. */
static int header_capacity(int ndim) {
    return ndim <= TNI_FEW_DIMS ? TNI_FEW_DIMS : ndim <= 8 ? 8 : TN_MAX_DIMS;
}
static int64_t header_bytes(int capacity) { /* whole bins */
    size_t bytes = offsetof(tn_tensor, dims) + 2 * (size_t)capacity * sizeof(int64_t);
    return (int64_t)((bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN);
}

/* Headers of that capacity that wait for their next use. */
TNI_INLINE tn_tensor **header_spare(tni_block *b, int capacity) {
    return &tni_state(b)->spare[(unsigned)capacity / 8];
}

/* Memory of a header of b that is in no list, for its next use. */
TNI_INLINE void header_reuse(tni_block *b, tn_tensor *t) {
    tn_tensor **spare = header_spare(b, t->capacity);
    t->flags = TNI_FREED | TNI_GHOST;
    t->depth = 0;
    t->refs = 0;
    if (TNI_UNLIKELY(!b->binned)) {
        tni_put(b, b, t, header_bytes(t->capacity));
        return;
    }
    t->next = *spare;
    *spare = t;
}

#ifdef TN_CHECK
/* What nobody may read in a header that is kept: not its flags, owner, sizes and places. */
static void header_poison(tn_tensor *t, bool on) {
    char *at = (char *)t;
    tni_poison(at + offsetof(tn_tensor, storage),
               offsetof(tn_tensor, size) - offsetof(tn_tensor, storage), on);
    tni_poison(at + offsetof(tn_tensor, node),
               offsetof(tn_tensor, file) - offsetof(tn_tensor, node), on);
}

/* Gives up the oldest of the kept headers until `most` bytes are left. */
static void header_forget(tni_block *b, int64_t most) {
    tni_tensor_block *s = tni_state(b);
    while (s->kept && s->kept_bytes > most) {
        tn_tensor *t = s->kept;
        s->kept = t->next;
        s->kept_bytes -= header_bytes(t->capacity);
        header_poison(t, false);
        header_reuse(b, t);
    }
}

/* Writes who frees t, before its header goes or returns to its owner. */
static void header_freed_by(tni_block *b, tn_tensor *t) {
    tni_freed f = {b->place_file, b->place_line, TNI_FREED_AFTER};
    if (tni_state(b)->freeing.file) f = tni_state(b)->freeing;
    memcpy(t->dims, &f, sizeof f);
}

/* Gives up all of them; false if none were kept. */
static bool header_forgot(tni_block *b) {
    const bool any = tni_state(b)->kept != NULL;
    header_forget(b, 0);
    return any;
}

/* Keeps t as the newest of the freed headers. */
static void header_put(tni_block *b, tn_tensor *t) {
    const int64_t cap = b->context->options.memory_cap / 8, most = TN_CHECK_BYTES;
    tni_tensor_block *s = tni_state(b);
    t->flags = TNI_FREED | TNI_GHOST;
    t->depth = 0;
    t->refs = 0;
    t->next = NULL;
    if (s->kept)
        s->kept_last->next = t;
    else
        s->kept = t;
    s->kept_last = t;
    s->kept_bytes += header_bytes(t->capacity);
    header_poison(t, true);
    header_forget(b, cap > 0 && cap < most ? cap : most);
}

/* All that is kept goes before it fails. */
static tn_tensor *header_get_kept(tni_block *b, int capacity) {
    tn_tensor *t = (tn_tensor *)tni_get(b, header_bytes(capacity)), **spare;
    if (t) return t;
    header_forget(b, 0);
    spare = header_spare(b, capacity);
    if (!*spare) return (tn_tensor *)tni_get(b, header_bytes(capacity));
    t = *spare;
    *spare = t->next;
    return t;
}
#else
static void header_freed_by(tni_block *b, tn_tensor *t) { (void)b, (void)t; }
TNI_INLINE bool header_forgot(tni_block *b) { return (void)b, false; }
TNI_INLINE void header_put(tni_block *b, tn_tensor *t) { header_reuse(b, t); }
static tn_tensor *header_get_kept(tni_block *b, int capacity) {
    return (tn_tensor *)tni_get(b, header_bytes(capacity));
}
#endif

/* Memory for a header where none waits: a thread of even use does not come here. */
static TNI_NOINLINE tn_tensor *header_fresh(tni_block *b, int capacity) {
    if (TNI_UNLIKELY(b->live_count >= tni_state(b)->unscoped_look)) tni_unscoped_look(b);
    return header_get_kept(b, capacity);
}

/* Takes back the headers that other threads have freed. */
static TNI_NOINLINE void header_drain(tni_block *b) {
#ifndef TN_NO_THREADS
    tn_tensor *t = tni_exchange(&tni_state(b)->returned, (tn_tensor *)NULL);
    while (t) {
        tn_tensor *next = (tn_tensor *)(void *)t->storage; /* the link, see header_free */
        tni_scope_unlink(b, t);
        b->live_count--;
        header_put(b, t);
        t = next;
    }
#else
    (void)b;
#endif
}

/* All but shape, flags and scope; NULL without an error. */
TNI_INLINE tn_tensor *header_get(tni_block *b, int dtype, int ndim, int capacity) {
    tn_tensor *t, **spare = header_spare(b, capacity);
    if (TNI_UNLIKELY(tni_load_relaxed(&tni_state(b)->returned) != NULL)) header_drain(b);
    t = *spare;
    if (TNI_LIKELY(t != NULL))
        *spare = t->next;
    else if (!(t = header_fresh(b, capacity)))
        return NULL;
    /* Each field is set: the memory held another header before. */
    t->refs = 1;
    t->dtype = (uint8_t)dtype;
    t->ndim = (uint8_t)ndim;
    t->capacity = (uint8_t)capacity;
    t->device = TN_CPU;
    t->line = b->place_line;
    t->owner = b;
    t->storage = NULL;
    t->offset = 0;
    t->size = (int64_t *)(void *)((char *)t + offsetof(tn_tensor, dims)); /* dims, at its length */
    t->stride = t->size + capacity;
    t->node = NULL;
    t->node_out = 0;
    t->edge_version = 0;
    t->base = t->grad = NULL;
    t->file = b->place_file;
    t->extra = NULL;
    return t;
}

TNI_INLINE tn_tensor *header_new(tni_block *b, int dtype, int ndim) {
    const int capacity = header_capacity(ndim);
    tn_tensor *t;
    /* The switches of api/config.h refuse dtypes here, where every tensor begins. */
    if (tni_dtype_left_out(dtype)) {
        tni_dtype_error(b, dtype);
        return (tn_tensor *)NULL;
    }
    t = header_get(b, dtype, ndim, capacity);
    if (TNI_UNLIKELY(!t)) tni_memory_error(b, header_bytes(capacity));
    return t;
}

/* The shape of a row-major tensor, and the current scope. */
TNI_INLINE tn_tensor *header_like(tni_block *b, tn_tensor *t, const tn_tensor *like) {
    for (int i = 0; i < like->ndim; i++) t->size[i] = like->size[i];
    t->numel = tni_flat_strides(t->ndim, t->size, t->stride);
    t->flags = (uint16_t)(TNI_CONTIGUOUS | tni_state(b)->inference);
    tni_scope_link(b, t, tni_state(b)->depth);
    b->live_count++;
    return t;
}

TN_PRIV tn_tensor *tni_header_flat(tni_block *b, int dtype, const tn_tensor *like) {
    tn_tensor *t = header_new(b, dtype, like->ndim);
    return TNI_LIKELY(t != NULL) ? header_like(b, t, like) : NULL;
}

/* A size of a dimension in t, a new header, that numel cannot be multiplied by: an error. */
static TNI_NOINLINE tn_tensor *header_refuse(tni_block *b, tn_tensor *t, int i, int64_t size) {
    header_put(b, t);
    tni_error(b, TN_INVALID, "size %lld of dimension %d is negative or too large", (long long)size,
              i);
    return NULL;
}

/* A header of this shape in the current scope. stride NULL: row-major. */
TNI_INLINE tn_tensor *header_shaped(tni_block *b, int dtype, int ndim, const int64_t *size,
                                    const int64_t *stride) {
    /* numel skips sizes of 0, so that strides of an empty tensor are checked as well. */
    int64_t numel = 1;
    bool contiguous = true, empty = false;
    tn_tensor *t = header_new(b, dtype, ndim);
    if (TNI_UNLIKELY(!t)) return NULL;
    for (int i = ndim - 1; i >= 0; i--) {
        /* A dimension of 1 has any stride and changes nothing else. */
        const int64_t n = t->size[i] = size[i];
        t->stride[i] = stride ? stride[i] : numel;
        if (n == 1) continue;
        contiguous = contiguous && t->stride[i] == numel;
        if (TNI_UNLIKELY(n == 0))
            empty = true;
        else if (TNI_UNLIKELY(n < 0 || !tni_mul(numel, n, &numel) || numel > TNI_MOST))
            return header_refuse(b, t, i, n);
    }
    /* An empty tensor counts as contiguous. */
    t->numel = empty ? 0 : numel;
    t->flags = (uint16_t)((contiguous || empty ? TNI_CONTIGUOUS : 0) | tni_state(b)->inference);
    tni_scope_link(b, t, tni_state(b)->depth);
    b->live_count++;
    return t;
}

TN_PRIV tn_tensor *tni_header(tni_block *b, int dtype, int ndim, const int64_t *size,
                              const int64_t *stride) {
    return header_shaped(b, dtype, ndim, size, stride);
}

static void header_free(tni_block *b, tn_tensor *t) {
    header_freed_by(b, t);
    if (TNI_LIKELY(t->owner == b)) {
        tni_scope_unlink(b, t);
        b->live_count--;
        header_put(b, t);
        return;
    }
    /* Another thread's header: onto its owner's list, linked by the field of the storage,
     * which is gone. It stands in its scope's list until the owner takes it out. */
    tn_tensor *head = tni_load(&tni_state(t->owner)->returned);
    t->flags = TNI_FREED | TNI_GHOST;
    t->refs = 0;
    do t->storage = (tni_storage *)(void *)head;
    while (!tni_swap_if(&tni_state(t->owner)->returned, &head, t));
}

/* --- storage ---------------------------------------------------------------------------------- */

enum {
    STORAGE_HEAD = (sizeof(tni_storage) + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN /* aligned */
};

/* A storage with room for data behind it; NULL without an error. */
TNI_INLINE tni_storage *storage_inside(tni_block *b, int64_t bytes) {
    int64_t room = STORAGE_HEAD + ((bytes + TNI_ALIGN - 1) & -TNI_ALIGN);
    tni_storage *s = (tni_storage *)tni_get_bin(b, (int)(room / TNI_ALIGN));
    if (TNI_UNLIKELY(!s)) return NULL;
    s->refs = 1;
    s->version = 0;
    s->apart = 0;
    s->owner = b;
    s->bytes = bytes;
    s->room = (uint32_t)room;
    s->kind = TNI_DATA_INSIDE;
    s->data = (char *)s + STORAGE_HEAD;
    if (bytes) { /* whole vectors may be read and written up to the end of the block */
        uint64_t *last = (uint64_t *)(void *)((char *)s + room - TNI_ALIGN);
        for (int i = 0; i < TNI_ALIGN / 8; i++) last[i] = 0;
    }
    return s;
}

static tni_storage *storage_new(tni_block *b, int64_t bytes) {
    /* Small data lie behind the storage, in one block; large ones apart. */
    bool inside = bytes <= TNI_INSIDE;
    tni_storage *s;
    do s = storage_inside(b, inside ? bytes : 0);
    while (TNI_UNLIKELY(!s) && header_forgot(b));
    if (TNI_UNLIKELY(!s)) {
        tni_memory_error(b, STORAGE_HEAD + (inside ? bytes : 0));
        return (tni_storage *)NULL;
    }
    if (inside) return s;
    s->bytes = bytes;
    s->kind = TNI_DATA_OWN;
    do s->data = tni_get(b, bytes);
    while (TNI_UNLIKELY(!s->data) && header_forgot(b));
    if (TNI_LIKELY(s->data != NULL)) return s;
    tni_put(b, b, s, STORAGE_HEAD);
    tni_memory_error(b, bytes);
    return (tni_storage *)NULL;
}

/* A storage whose release is to be called stands in the context's list. */
typedef struct tni_wrapped {
    tni_storage storage; /* first */
    struct tni_wrapped *prev, *next;
} tni_wrapped;

/* A child of fork may take the lock over from a thread half way through a change: going forward the
 * list is right at any moment. */
static void storage_lock(tn_context *c) {
    if (TNI_LIKELY(!tni_lock_repair(&tni_tensors(c)->wrapped_lock))) return;
    tni_wrapped *before = NULL;
    for (tni_wrapped *w = tni_tensors(c)->wrapped; w; before = w, w = w->next) w->prev = before;
}

TN_PRIV tni_storage *tni_storage_wrap(tni_block *b, void *data, int64_t bytes,
                                      void (*release)(void *data, void *user), void *user) {
    tn_context *c = b->context;
    /* All wrapped storages have room for the links; those with a release are linked. */
    tni_wrapped *w = (tni_wrapped *)tni_need(b, (int64_t)sizeof *w);
    if (!w) return NULL;
    memset(w, 0, sizeof *w);
    /* A storage like any other, but for where its memory goes. */
    w->storage.refs = 1;
    w->storage.owner = b;
    w->storage.data = data;
    w->storage.bytes = bytes;
    w->storage.room = (uint32_t)sizeof *w;
    w->storage.kind = TNI_DATA_WRAPPED;
    w->storage.release = release;
    w->storage.user = user;
    /* With a release it is linked, so that the context's end calls it if nobody did. */
    if (!release) return &w->storage;
    storage_lock(c);
    w->next = tni_tensors(c)->wrapped;
    if (w->next) w->next->prev = w;
    tni_store(&tni_tensors(c)->wrapped, w);
    tni_unlock(&tni_tensors(c)->wrapped_lock);
    return &w->storage;
}

/* Out of the list before release is called, which may make or free tensors. */
static TNI_NOINLINE void storage_unwrap(tni_storage *s) {
    tni_wrapped *w = (tni_wrapped *)(void *)s;
    tn_context *c = s->owner->context;
    if (s->kind == TNI_DATA_PLANNED) {
        tni_plan_drop((const tni_planned *)(const void *)s);
        return;
    }
    if (!s->release) return;
    storage_lock(c);
    tni_store(w->prev ? &w->prev->next : &tni_tensors(c)->wrapped, w->next);
    if (w->next) w->next->prev = w->prev;
    tni_unlock(&tni_tensors(c)->wrapped_lock);
    s->release(s->data, s->user);
}

/* Memory that does not lie in slabs goes back, whoever still counts it. */
TN_PRIV void tni_tensors_at_end(tn_context *c) {
    while (tni_tensors(c)->wrapped) storage_unwrap(&tni_tensors(c)->wrapped->storage);
}

/* The only owner needs no atomic subtraction: nobody else can add one. */
TNI_INLINE void storage_release(tni_block *b, tni_storage *s) {
    if (tni_load(&s->refs) != 1 && tni_fetch_add(&s->refs, (uint32_t)-1) != 1) return;
    if (TNI_UNLIKELY(s->kind != TNI_DATA_INSIDE)) {
        if (s->kind == TNI_DATA_OWN)
            tni_put(b, s->owner, s->data, s->bytes);
        else
            storage_unwrap(s);
    }
    tni_put_bin(b, s->owner, s, s->room);
}

TN_PRIV void tni_storage_release(tni_block *b, tni_storage *s) { storage_release(b, s); }

/* Of meta, where only the size is known. In a context that plans, storages have room for their
 * plan. */
static tni_storage *storage_of_meta(tni_block *b, const tn_tensor *t, int64_t bytes) {
    const bool plans = tni_load(&tni_tensors(b->context)->plan) != NULL;
    tni_storage *s = storage_inside(b, plans ? (int64_t)sizeof(tni_planned) - STORAGE_HEAD : 0);
    if (!s) {
        tni_memory_error(b, STORAGE_HEAD);
        return (tni_storage *)NULL;
    }
    s->data = NULL;
    s->bytes = bytes;
    if (!plans) return s;
    s->kind = TNI_DATA_PLANNED;
    if (tni_plan_add(b, t, (tni_planned *)(void *)s)) return s;
    tni_put_bin(b, b, s, s->room);
    tni_memory_error(b, bytes);
    return (tni_storage *)NULL;
}

/* Of meta, or of a device: there like memory of the user's, so the context's end gives it back if
 * nobody did. */
static TNI_NOINLINE tni_storage *storage_elsewhere(tni_block *b, const tn_tensor *t,
                                                   int64_t bytes) {
    void (*release)(void *data, void *user) = NULL;
    void *data = NULL, *user = NULL;
    uint8_t stream = 0;
    tni_storage *s;
    if (t->flags & TNI_META) return storage_of_meta(b, t, bytes);
    if (bytes && !(data = tni_device_get(b, t->device, bytes, &release, &user, &stream)))
        return NULL;
    s = tni_storage_wrap(b, data, bytes, release, user);
    if (s) {
        s->kind = TNI_DATA_DEVICE;
        s->stream = stream;
    } else if (release) {
        release(data, user);
    }
    return s;
}

TN_PRIV bool tni_set_storage(tni_block *b, tn_tensor *t) {
    int64_t bytes;
    /* Memory for all that the strides reach: with gaps, more than its elements. */
    if (t->flags & TNI_CONTIGUOUS) {
        if (!tni_bytes(t->numel, tni_dtype_size(t), &bytes))
            return tni_error(b, TN_INVALID, "a tensor of %lld elements is too large",
                             (long long)t->numel);
    } else if (!tni_extent(t, &bytes))
        return tni_error(b, TN_INVALID, "the strides reach too far");
    t->storage = TNI_UNLIKELY(t->flags & (TNI_META | TNI_DEVICE)) ? storage_elsewhere(b, t, bytes)
                                                                  : storage_new(b, bytes);
    return t->storage != NULL;
}

TN_PRIV tn_tensor *tni_new_small(tni_block *b, const tn_tensor *like) {
    /* One block for the header, one for storage and data, both from bins. */
    const int64_t bytes = like->numel << tni_width(like->dtype);
    tn_tensor *t = header_get(b, like->dtype, like->ndim, TNI_FEW_DIMS);
    if (TNI_UNLIKELY(!t)) {
        tni_memory_error(b, header_bytes(TNI_FEW_DIMS));
        return (tn_tensor *)NULL;
    }
    t->storage = storage_inside(b, bytes);
    /* Linked into the scope last: a header without memory was never seen. */
    if (TNI_LIKELY(t->storage != NULL)) return header_like(b, t, like);
    header_put(b, t);
    tni_memory_error(b, STORAGE_HEAD + bytes);
    return (tn_tensor *)NULL;
}

TN_PRIV tn_tensor *tni_new(tni_block *b, int dtype, int ndim, const int64_t *size) {
    tn_tensor *t = tni_header(b, dtype, ndim, size, NULL);
    if (!t || tni_set_storage(b, t)) return t;
    tni_release(b, t);
    return NULL;
}

/* t, without a batch or parts yet, as the sample or sparse tensor that `like` is. NULL without
 * memory. */
static TNI_NOINLINE tn_tensor *storage_with_extra(tni_block *b, tn_tensor *t,
                                                  const tn_tensor *like) {
    const tni_extra *from = tni_extra_there(like);
    tni_extra *e = tni_extra_of(b, t);
    if (!e) {
        tni_release(b, t);
        return (tn_tensor *)NULL;
    }
    if (like->flags & TNI_SPARSE) {
        t->flags = (uint16_t)((t->flags & ~(unsigned)TNI_CONTIGUOUS) | TNI_SPARSE);
        e->layout = from->layout;
        e->coalesced = from->coalesced;
        for (int i = 0; i < 3; i++) {
            tni_retain(from->part[i]);
            e->part[i] = from->part[i];
        }
        return t;
    }
    t->flags |= TNI_BATCHED;
    e->batch = from->batch;
    e->batch_number = from->batch_number;
    tni_retain(e->batch);
    return t;
}

TN_PRIV tn_tensor *tni_share(tni_block *b, tni_storage *s, const tn_tensor *like) {
    tn_tensor *t = tni_header(b, like->dtype, like->ndim, like->size, like->stride);
    if (!t) return NULL;
    t->storage = s;
    /* The flags that belong to the data come from `like`; those of the layout were set
     * from its strides. */
    tni_fetch_add_relaxed(&s->refs, 1u);
    t->offset = like->offset;
    t->device = like->device;
    t->flags &= (uint16_t)~TNI_INFERENCE;
    t->flags |= like->flags & (TNI_META | TNI_DEVICE | TNI_READ_ONLY | TNI_INFERENCE | TNI_APART);
    return like->flags & (TNI_BATCHED | TNI_SPARSE) ? storage_with_extra(b, t, like) : t;
}

TN_PRIV tn_tensor *tni_view_of(tni_block *b, tn_tensor *of, int ndim, const int64_t *size,
                               const int64_t *stride, int64_t offset, bool history) {
    const unsigned kept = TNI_META | TNI_DEVICE | TNI_READ_ONLY | TNI_INFERENCE | TNI_APART;
    tn_tensor *t = header_shaped(b, of->dtype, ndim, size, stride);
    if (TNI_UNLIKELY(!t)) return NULL;
    t->storage = of->storage; /* counted: the base may exchange its own, see tn_swap_data */
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    t->offset = offset;
    t->device = of->device;
    /* inference: what a view is depends on its base */
    t->flags = (uint16_t)((t->flags & ~(unsigned)TNI_INFERENCE) | (of->flags & kept));
    if (TNI_UNLIKELY(!history)) return t;
    /* The base of a view is never a view itself, so chains stay short. */
    t->flags |= TNI_VIEW;
    t->base = of->base ? of->base : of;
    tni_fetch_add_relaxed(&t->base->refs, 1u);
    t->edge_version = tni_load_relaxed(tni_version_of(t));
    return t;
}

/* --- counts ----------------------------------------------------------------------------------- */

static tn_tensor *storage_batch(const tn_tensor *t) {
    const tni_extra *e = tni_extra_there(t);
    return e ? e->batch : NULL;
}

/* The parts of a sparse tensor; no deeper, as a part has none. */
static TNI_NOINLINE void storage_drop_parts(tni_block *b, const tn_tensor *t) {
    tni_extra *e = tni_extra_there(t);
    for (int i = 0; i < 3; i++) {
        tn_tensor *part = e->part[i];
        e->part[i] = NULL;
        if (part) tni_release(b, part);
    }
}

/* A loop instead of recursion: .grad and base die with t, and may have their own. */
TN_PRIV void tni_release(tni_block *b, tn_tensor *t) {
    while (t) {
        tn_tensor *grad, *base, *batch;
        /* Who drops it now had no count. */
        if (TNI_CHECK && tni_is_freed(t)) {
            tni_freed_apart(b, t, "freed twice");
            return;
        }
        if (tni_load(&t->refs) != 1 && tni_fetch_add(&t->refs, (uint32_t)-1) != 1) return;
        grad = t->grad;
        base = t->base;
        batch = t->extra ? storage_batch(t) : NULL;
        if (t->extra && tni_extra_there(t)) {
            if (t->flags & TNI_SPARSE) storage_drop_parts(b, t);
            tni_extra_free(b, t);
        }
        if (TNI_UNLIKELY(t->node != NULL)) tni_node_drop(b, t->node);
        if (t->storage) storage_release(b, t->storage);
        header_free(b, t);
        if (batch) tni_release(b, batch); /* as deep as batches nest */
        /* Two to follow: one by a call, the other by the loop. */
        if (grad && base) {
            tni_release(b, base);
            base = NULL;
        }
        t = grad ? grad : base;
    }
}

TN_PRIV bool tni_belongs(tni_block *b, const tn_tensor *t, const char *what) {
    if (!tni_usable(b, t, what)) return false;
    if (TNI_LIKELY(t->owner->context == b->context)) return true;
    return tni_error(b, TN_INVALID, "%s: a tensor belongs to another context", what);
}
