/* storage.c - making and freeing headers and storages; scopes.
 *
 * A header stands in the list of the scope that holds it (list 0: no scope does), so a scope's end
 * is a walk over its own list. Who counts a header: its scope or its caller, views of it (base),
 * tape nodes that saved it, .grad. A header whose last count goes in a foreign thread gives up all
 * it holds there and returns to its owner block by a lock-free list; fields of the list itself are
 * touched by the owner alone. */
#include "tensor.h"

/* --- lists of the scopes ---------------------------------------------------------------------- */

static tn_tensor **scope_head(tni_block *b, uint32_t depth) {
    return TNI_LIKELY(depth < TNI_SCOPES) ? &b->scope[depth] : &b->scope_more[depth - TNI_SCOPES];
}

static void scope_link(tni_block *b, tn_tensor *t, uint32_t depth) {
    tn_tensor **head = scope_head(b, depth);
    t->depth = (uint16_t)depth;
    t->prev = NULL;
    t->next = *head;
    if (*head) (*head)->prev = t;
    *head = t;
}

static void scope_unlink(tni_block *b, tn_tensor *t) {
    if (t->prev)
        t->prev->next = t->next;
    else
        *scope_head(b, t->depth) = t->next;
    if (t->next) t->next->prev = t->prev;
}

TN_PRIV int64_t tni_begin_deep(tni_block *b) {
    uint32_t have = b->scope_room, room = have ? 2 * have : 64;
    if (b->depth >= UINT16_MAX) {
        tni_error(b, TN_INVALID, "more than %d scopes are open", UINT16_MAX);
        return -1;
    }
    if (b->depth + 1 - TNI_SCOPES >= have) {
        tn_tensor **more = (tn_tensor **)tni_need(b, (int64_t)room * (int64_t)sizeof *more);
        if (!more) return -1;
        memset(more, 0, room * sizeof *more);
        if (have) {
            memcpy(more, b->scope_more, have * sizeof *more);
            tni_put(b, b, b->scope_more, (int64_t)have * (int64_t)sizeof *more);
        }
        b->scope_more = more;
        b->scope_room = room;
    }
    return (int64_t)b->depth++;
}

TN_PRIV tn_tensor *tni_move(tni_block *b, tn_tensor *t, int64_t depth) {
    scope_unlink(b, t);
    scope_link(b, t, (uint32_t)depth);
    return t;
}

TN_PRIV void tni_drop(tni_block *b, tn_tensor *t) {
    if (t->depth && t->owner == b && tni_load(&t->refs) > 1) tni_move(b, t, 0);
    tni_release(b, t);
}

TN_PRIV void tni_end(tni_block *b, int64_t mark) {
    if (mark < 0) return; /* no scope was opened */
    while (b->depth > (uint64_t)mark) {
        tn_tensor **head = scope_head(b, b->depth), *t;
        while ((t = *head) != NULL) tni_drop(b, t);
        b->depth--;
    }
}

/* --- headers ---------------------------------------------------------------------------------- */

static int header_capacity(int ndim) {
    return ndim <= TNI_FEW_DIMS ? TNI_FEW_DIMS : ndim <= 8 ? 8 : TN_MAX_DIMS;
}
static int64_t header_bytes(int capacity) { /* whole bins */
    size_t bytes = offsetof(tn_tensor, dims) + 2 * (size_t)capacity * sizeof(int64_t);
    return (int64_t)((bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN);
}

/* Takes back the headers that other threads have freed. */
static TNI_NOINLINE void header_drain(tni_block *b) {
#ifndef TN_NO_THREADS
    tn_tensor *t = tni_exchange(&b->returned_tensors, (tn_tensor *)NULL);
    while (t) {
        tn_tensor *next = (tn_tensor *)(void *)t->storage; /* the link, see header_free */
        scope_unlink(b, t);
        b->live_count--;
        tni_put(b, b, t, header_bytes(t->capacity));
        t = next;
    }
#else
    (void)b;
#endif
}

/* All but shape, flags and scope; NULL without an error. */
TNI_INLINE tn_tensor *header_get(tni_block *b, int dtype, int ndim, int capacity) {
    tn_tensor *t;
    if (TNI_UNLIKELY(tni_load_relaxed(&b->returned_tensors) != NULL)) header_drain(b);
    t = (tn_tensor *)tni_get_bin(b, (int)(header_bytes(capacity) / TNI_ALIGN));
    if (TNI_UNLIKELY(!t)) return NULL;
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
    tn_tensor *t = header_get(b, dtype, ndim, capacity);
    if (TNI_UNLIKELY(!t)) tni_memory_error(b, header_bytes(capacity));
    return t;
}

/* The shape of a row-major tensor, and the current scope. */
TNI_INLINE tn_tensor *header_like(tni_block *b, tn_tensor *t, const tn_tensor *like) {
    for (int i = 0; i < like->ndim; i++) t->size[i] = like->size[i];
    t->numel = tni_flat_strides(t->ndim, t->size, t->stride);
    t->flags = (uint16_t)(TNI_CONTIGUOUS | b->inference);
    scope_link(b, t, b->depth);
    b->live_count++;
    return t;
}

TN_PRIV tn_tensor *tni_header_flat(tni_block *b, int dtype, const tn_tensor *like) {
    tn_tensor *t = header_new(b, dtype, like->ndim);
    return TNI_LIKELY(t != NULL) ? header_like(b, t, like) : NULL;
}

/* A size of a dimension in t, a new header, that numel cannot be multiplied by: an error. */
static TNI_NOINLINE tn_tensor *header_refuse(tni_block *b, tn_tensor *t, int i, int64_t size) {
    tni_put(b, b, t, header_bytes(t->capacity));
    tni_error(b, TN_INVALID, "size %lld of dimension %d is negative or too large", (long long)size,
              i);
    return NULL;
}

/* A header of this shape in the current scope. stride NULL: row-major. */
TNI_INLINE tn_tensor *header_shaped(tni_block *b, int dtype, int ndim, const int64_t *size,
                                    const int64_t *stride) {
    int64_t numel = 1;
    bool contiguous = true, empty = false;
    tn_tensor *t = header_new(b, dtype, ndim);
    if (TNI_UNLIKELY(!t)) return NULL;
    for (int i = ndim - 1; i >= 0; i--) {
        const int64_t n = t->size[i] = size[i];
        t->stride[i] = stride ? stride[i] : numel;
        if (n == 1) continue;
        contiguous = contiguous && t->stride[i] == numel;
        if (TNI_UNLIKELY(n == 0))
            empty = true;
        else if (TNI_UNLIKELY(n < 0 || !tni_mul(numel, n, &numel) || numel > TNI_MOST))
            return header_refuse(b, t, i, n);
    }
    t->numel = empty ? 0 : numel;
    t->flags = (uint16_t)((contiguous || empty ? TNI_CONTIGUOUS : 0) | b->inference);
    scope_link(b, t, b->depth);
    b->live_count++;
    return t;
}

TN_PRIV tn_tensor *tni_header(tni_block *b, int dtype, int ndim, const int64_t *size,
                              const int64_t *stride) {
    return header_shaped(b, dtype, ndim, size, stride);
}

static void header_free(tni_block *b, tn_tensor *t) {
    if (TNI_LIKELY(t->owner == b)) {
        scope_unlink(b, t);
        b->live_count--;
        tni_put_bin(b, b, t, header_bytes(t->capacity));
        return;
    }
    tn_tensor *head = tni_load(&t->owner->returned_tensors);
    do t->storage = (tni_storage *)(void *)head;
    while (!tni_swap_if(&t->owner->returned_tensors, &head, t));
}

/* --- storage ---------------------------------------------------------------------------------- */

enum {
    STORAGE_INSIDE = 512, /* data up to this many bytes lie behind their storage, */
    STORAGE_HEAD = (sizeof(tni_storage) + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN /* aligned */
};

/* A storage with room for data behind it; NULL without an error. */
TNI_INLINE tni_storage *storage_inside(tni_block *b, int64_t bytes) {
    int64_t room = STORAGE_HEAD + ((bytes + TNI_ALIGN - 1) & -TNI_ALIGN);
    tni_storage *s = (tni_storage *)tni_get_bin(b, (int)(room / TNI_ALIGN));
    if (TNI_UNLIKELY(!s)) return NULL;
    s->refs = 1;
    s->version = 0;
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

static tni_storage *storage_new(tni_block *b, int64_t bytes, bool meta) {
    bool inside = !meta && bytes <= STORAGE_INSIDE;
    tni_storage *s = storage_inside(b, inside ? bytes : 0);
    if (TNI_UNLIKELY(!s))
        return tni_memory_error(b, STORAGE_HEAD + (inside ? bytes : 0)), (tni_storage *)NULL;
    if (inside) return s;
    s->data = NULL;
    s->bytes = bytes;
    if (meta) return s;
    s->kind = TNI_DATA_OWN;
    s->data = tni_get(b, bytes);
    if (TNI_LIKELY(s->data != NULL)) return s;
    tni_put(b, b, s, STORAGE_HEAD);
    return tni_memory_error(b, bytes), (tni_storage *)NULL;
}

/* A storage whose release is to be called stands in the context's list. */
typedef struct tni_wrapped {
    tni_storage storage; /* first */
    struct tni_wrapped *prev, *next;
} tni_wrapped;

/* A child of fork may take the lock over from a thread half way through a change: going forward the
 * list is right at any moment. */
static void storage_lock(tn_context *c) {
    if (TNI_LIKELY(!tni_lock_repair(&c->wrapped_lock))) return;
    tni_wrapped *before = NULL;
    for (tni_wrapped *w = c->wrapped; w; before = w, w = w->next) w->prev = before;
}

TN_PRIV tni_storage *tni_storage_wrap(tni_block *b, void *data, int64_t bytes,
                                      void (*release)(void *data, void *user), void *user) {
    tn_context *c = b->context;
    tni_wrapped *w = (tni_wrapped *)tni_need(b, (int64_t)sizeof *w);
    if (!w) return NULL;
    memset(w, 0, sizeof *w);
    w->storage.refs = 1;
    w->storage.owner = b;
    w->storage.data = data;
    w->storage.bytes = bytes;
    w->storage.room = (uint32_t)sizeof *w;
    w->storage.kind = TNI_DATA_WRAPPED;
    w->storage.release = release;
    w->storage.user = user;
    if (!release) return &w->storage;
    storage_lock(c);
    w->next = c->wrapped;
    if (w->next) w->next->prev = w;
    tni_store(&c->wrapped, w);
    tni_unlock(&c->wrapped_lock);
    return &w->storage;
}

static TNI_NOINLINE void storage_unwrap(tni_storage *s) {
    tni_wrapped *w = (tni_wrapped *)(void *)s;
    tn_context *c = s->owner->context;
    if (!s->release) return;
    storage_lock(c);
    tni_store(w->prev ? &w->prev->next : &c->wrapped, w->next);
    if (w->next) w->next->prev = w->prev;
    tni_unlock(&c->wrapped_lock);
    s->release(s->data, s->user);
}

/* Memory that does not lie in slabs goes back, whoever still counts it. */
TN_PRIV void tni_tensors_at_end(tn_context *c) {
    while (c->wrapped) storage_unwrap(&c->wrapped->storage);
}

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

TN_PRIV bool tni_set_storage(tni_block *b, tn_tensor *t) {
    int64_t bytes;
    if (t->flags & TNI_CONTIGUOUS) {
        if (!tni_bytes(t->numel, tni_dtype_size(t), &bytes))
            return tni_error(b, TN_INVALID, "a tensor of %lld elements is too large",
                             (long long)t->numel);
    } else if (!tni_extent(t, &bytes))
        return tni_error(b, TN_INVALID, "strides reach too far");
    t->storage = storage_new(b, bytes, (t->flags & TNI_META) != 0);
    return t->storage != NULL;
}

TN_PRIV tn_tensor *tni_new_small(tni_block *b, const tn_tensor *like) {
    const int64_t bytes = like->numel << tni_width(like->dtype);
    tn_tensor *t = header_get(b, like->dtype, like->ndim, TNI_FEW_DIMS);
    if (TNI_UNLIKELY(!t)) return tni_memory_error(b, header_bytes(TNI_FEW_DIMS)), (tn_tensor *)NULL;
    t->storage = storage_inside(b, bytes);
    if (TNI_LIKELY(t->storage != NULL)) return header_like(b, t, like);
    tni_put(b, b, t, header_bytes(TNI_FEW_DIMS));
    return tni_memory_error(b, STORAGE_HEAD + bytes), (tn_tensor *)NULL;
}

TN_PRIV tn_tensor *tni_new(tni_block *b, int dtype, int ndim, const int64_t *size) {
    tn_tensor *t = tni_header(b, dtype, ndim, size, NULL);
    if (!t || tni_set_storage(b, t)) return t;
    tni_drop(b, t);
    return NULL;
}

TN_PRIV tn_tensor *tni_share(tni_block *b, tni_storage *s, const tn_tensor *like) {
    tn_tensor *t = tni_header(b, like->dtype, like->ndim, like->size, like->stride);
    if (!t) return NULL;
    t->storage = s;
    tni_fetch_add_relaxed(&s->refs, 1u);
    t->offset = like->offset;
    t->device = like->device;
    t->flags &= (uint16_t)~TNI_INFERENCE;
    t->flags |= like->flags & (TNI_META | TNI_READ_ONLY | TNI_INFERENCE);
    return t;
}

TN_PRIV tn_tensor *tni_view_of(tni_block *b, tn_tensor *of, int ndim, const int64_t *size,
                               const int64_t *stride, int64_t offset, bool history) {
    const unsigned kept = TNI_META | TNI_READ_ONLY | TNI_INFERENCE;
    tn_tensor *t = header_shaped(b, of->dtype, ndim, size, stride);
    if (TNI_UNLIKELY(!t)) return NULL;
    t->storage = of->storage; /* counted: the base may exchange its own, see tn_swap_data */
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    t->offset = offset;
    t->device = of->device;
    /* inference: what a view is depends on its base */
    t->flags = (uint16_t)((t->flags & ~(unsigned)TNI_INFERENCE) | (of->flags & kept));
    if (TNI_UNLIKELY(!history)) return t;
    t->flags |= TNI_VIEW;
    t->base = of->base ? of->base : of;
    tni_fetch_add_relaxed(&t->base->refs, 1u);
    t->edge_version = tni_load_relaxed(&t->storage->version);
    return t;
}

/* --- counts ----------------------------------------------------------------------------------- */

TN_PRIV void tni_release(tni_block *b, tn_tensor *t) {
    while (t) {
        tn_tensor *grad, *base;
        if (tni_load(&t->refs) != 1 && tni_fetch_add(&t->refs, (uint32_t)-1) != 1) return;
        grad = t->grad;
        base = t->base;
        if (t->extra && tni_extra_there(t)) tni_extra_free(b, t);
        if (TNI_UNLIKELY(t->node != NULL)) tni_node_drop(b, t->node);
        if (t->storage) storage_release(b, t->storage);
        header_free(b, t);
        if (grad && base) tni_release(b, base), base = NULL;
        t = grad ? grad : base;
    }
}

TN_PRIV bool tni_belongs(tni_block *b, const tn_tensor *t, const char *what) {
    if (TNI_LIKELY(t->owner->context == b->context)) return true;
    return tni_error(b, TN_INVALID, "%s: a tensor belongs to another context", what);
}

/* --- extras ----------------------------------------------------------------------------------- */

TN_PRIV tni_extra *tni_extra_of(tni_block *b, tn_tensor *t) {
    tni_extra *e = tni_extra_there(t);
    if (e) return e;
    e = (tni_extra *)tni_need(b, (int64_t)sizeof *e);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    e->binding = tn_binding(t);
    t->extra = e;
    return e;
}

TN_PRIV void tni_extra_free(tni_block *b, tn_tensor *t) {
    tni_extra *e = (tni_extra *)t->extra;
    tni_watch_forget(b, t);
    t->extra = NULL;
    if (e->binding_release) e->binding_release(e->binding);
    tni_put(b, t->owner, e, (int64_t)sizeof *e);
}

/* --- public ----------------------------------------------------------------------------------- */

TNI_EXTERN_C_BEGIN

TN_API int64_t tn_owners(const tn_tensor *t) { return t ? (int64_t)tni_load(&t->refs) : 0; }

TN_API void *tn_binding(const tn_tensor *t) {
    tni_extra *e = tni_extra_there(t);
    return e ? e->binding : t->extra ? (char *)t->extra - 1 : NULL;
}

TN_API bool tn_set_binding(tn_tensor *t, void *object, void (*release)(void *object)) {
    tni_extra *e = release ? tni_extra_of(tni_here(), t) : tni_extra_there(t);
    if (release && !e) return false;
    if (e) {
        e->binding = object;
        e->binding_release = release;
    } else {
        t->extra = object ? (char *)object + 1 : NULL;
    }
    return true;
}

TN_API int64_t tn_scope_begin(void) {
    tni_block *b = tni_here();
    return b ? tni_begin(b) : -1;
}

TN_API void tn_scope_end(int64_t mark) {
    tni_block *b = tni_here();
    if (b) tni_end(b, mark >= 0 && mark < (int64_t)b->floor ? (int64_t)b->floor : mark);
}

TN_API tn_tensor *tn_keep(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!t || !b) return t;
    if (t->owner != b) {
        tni_error_apart(
            b, TN_INVALID,
            "tn_keep: the tensor belongs to another thread or context; tn_hold it there first");
        return NULL;
    }
    return t->depth ? tni_move(b, t, t->depth - 1) : t;
}

TN_API tn_tensor *tn_hold(tn_tensor *t) {
    tni_block *b = tni_here();
    if (!t || !b) return t;
    if (t->owner == b && t->depth) return tni_move(b, t, 0);
    tni_retain(t);
    return t;
}

TN_API tn_tensor *tn_own(tn_tensor *t) {
    if (t && t->depth && t->owner == tni_here()) tni_move(t->owner, t, 0);
    return t;
}

TN_API void tn_free(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b) tni_drop(b, t);
}

TN_API void tn_list_free(tn_list list) {
    tni_block *b = tni_here();
    if (!b) return;
    for (int64_t i = 0; list.at && i < list.n; i++)
        if (list.at[i]) tni_drop(b, list.at[i]);
    if (list.holder) tni_drop(b, list.holder);
}

TNI_EXTERN_C_END
