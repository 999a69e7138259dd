/* frame.c - what check, look and run may do with their call (api/row.h): announce results, ask for
 * scratch, fail. Runs nothing; what a gradient may do is autograd/give.c. */
#include "call.h"

TNI_INLINE tni_call *frame_call(tn_frame *f) { return (tni_call *)(void *)f; }

TN_PRIV bool tni_same_place(const tn_tensor *a, const tn_tensor *b) {
    const int most = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (a->storage != b->storage || a->offset != b->offset || a->dtype != b->dtype) return false;
    for (int d = 1; d <= most; d++) { /* from the last */
        const int i = a->ndim - d, k = b->ndim - d;
        const int64_t size = i < 0 ? 1 : a->size[i];
        if (size != (k < 0 ? 1 : b->size[k])) return false;
        if (size > 1 && a->stride[i] != b->stride[k]) return false;
    }
    return true;
}

TN_PRIV int tni_may_alias(const tn_frame *f) {
    const uint32_t forms = f->row->forms;
    if (f->row->rules) return f->nin;
    if (!(forms & TN_INPLACE)) return 0;
    return f->inplace && forms & TN_ALIAS ? f->nin : 1;
}

TN_PRIV bool tni_takes_inputs(const tn_frame *f) {
    return !f->inplace && !f->row->look && !(f->row->forms & TN_MOVES) &&
           !(f->row->gen->props & TN_PROP_MUTATED);
}

/* Whether t, given for a result, is an input that run may read after it has written. */
static bool frame_reads(const tn_frame *f, const tn_tensor *t) {
    if (!tni_takes_inputs(f)) return false;
    for (int i = tni_may_alias(f); i < f->nin; i++)
        if (f->in[i] && tni_same_place(t, f->in[i])) return true;
    return false;
}

/* The given tensor of output k: as announced, or written through a temporary. */
static bool frame_take_given(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                             const int64_t *stride) {
    tn_tensor *t = f->given[k], *made;
    char has[128], wants[128];
    /* exact: run may write into t itself. */
    bool same = t->ndim == ndim, exact;
    for (int i = 0; same && i < ndim; i++) same = t->size[i] == size[i];
    if (!same)
        return tn_fail(f, TN_INVALID, "%s has shape %s, but the result has %s", tni_written_name(f),
                       tni_shape_text(has, sizeof has, t->ndim, t->size),
                       tni_shape_text(wants, sizeof wants, ndim, size));
    if (!tni_can_cast((int)dtype, t->dtype))
        return tn_fail(f, TN_TYPE, "result type %s can't be cast to the desired output type %s",
                       tni_dtype((int)dtype)->text, tni_dtype(t->dtype)->text);
    exact = f->row->rules != 0 || t->dtype == dtype; /* a loop writes any layout and dtype */
    exact = exact && !f->row->verdict && !frame_reads(f, t);
    for (int i = 0; exact && stride && i < ndim; i++)
        exact = size[i] == 1 || t->stride[i] == stride[i];
    if (exact) {
        f->out[k] = t;
        return true;
    }
    /* Otherwise a temporary, copied into t after run (redirected). */
    made = f->out[k] = tni_header(f->block, (int)dtype, ndim, size, stride);
    if (!made) return false;
    if (TNI_UNLIKELY(f->device != TN_CPU)) tni_set_device(made, f->device, f->meta);
    frame_call(f)->redirected |= 1u << k;
    return true;
}

/* Output k and those before it are there, if only as NULL: undo looks at them. */
TNI_INLINE void frame_reach(tn_frame *f, int k) {
    if (TNI_UNLIKELY(f->nout < k))
        while (f->nout < k) f->out[f->nout++] = NULL;
    if (f->nout == k) f->out[f->nout++] = NULL;
}

TN_API bool tn_announce_strided(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                const int64_t *stride) {
    tn_tensor *t;
    frame_reach(f, k);
    if (TNI_UNLIKELY(dtype <= TN_NO_DTYPE || dtype >= TN_DTYPE_COUNT))
        return tn_fail(f, TN_TYPE, "a result must have a dtype");
    /* A loop writes any strides; other rows write the announced ones. */
    if (TNI_UNLIKELY(k < f->ngiven)) {
        int64_t row_major[TN_MAX_DIMS], numel;
        if (!tni_numel_of(ndim, size, &numel))
            return tn_fail(f, TN_INVALID, "the result is too large");
        if (!stride && !f->row->rules) {
            tni_row_major(ndim, size, row_major);
            stride = row_major;
        }
        return frame_take_given(f, k, dtype, ndim, size, f->row->rules ? NULL : stride);
    }
    /* A new tensor: a header now, memory after check and look. */
    t = f->out[k] = tni_header(f->block, (int)dtype, ndim, size, stride);
    if (TNI_UNLIKELY(!t)) return false;
    if (TNI_UNLIKELY(f->device != TN_CPU)) tni_set_device(t, f->device, f->meta);
    return true;
}

TN_API bool tn_announce(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size) {
    tni_call *c = frame_call(f);
    /* A size that only look knows stands as 0 until then; one dimension of one output at most. */
    for (int i = 0; i < ndim; i++)
        if (TNI_UNLIKELY(size[i] == TN_UNKNOWN)) {
            int64_t none[TN_MAX_DIMS];
            /* On meta there is no data to count, and a given tensor has a size already. */
            if (f->meta)
                return tn_fail(
                    f, TN_UNSUPPORTED,
                    "the result's size depends on data, which a meta tensor does not have");
            if (f->ngiven)
                return tn_fail(f, TN_UNSUPPORTED,
                               "out= is not supported when the result's size depends on data");
            /* Announced with 0 in its place; door_counted writes the true size. */
            memcpy(none, size, (size_t)ndim * sizeof *none);
            none[i] = 0;
            c->unknown_out = k;
            c->unknown_dim = i;
            return tn_announce_strided(f, k, dtype, ndim, none, NULL);
        }
    return tn_announce_strided(f, k, dtype, ndim, size, NULL);
}

TN_PRIV bool tni_announce_flat(tn_frame *f, tn_dtype dtype, const tn_tensor *like) {
    /* Given, and as the result will be: written where it is. Otherwise as any announcement. */
    if (TNI_UNLIKELY(f->ngiven || f->device != TN_CPU)) {
        tn_tensor *given = f->ngiven ? f->given[0] : NULL;
        if (!given || given->dtype != dtype || !tni_same_shape(given, like))
            return tn_announce(f, 0, dtype, like->ndim, like->size);
        f->nout = 1;
        f->out[0] = given;
        return true;
    }
    f->nout = 1;
    f->out[0] = tni_header_flat(f->block, (int)dtype, like);
    return f->out[0] != NULL;
}

TN_API bool tn_announce_like(tn_frame *f, int k, const tn_tensor *like, tn_dtype dtype) {
    tni_shape s;
    if (like->flags & TNI_CONTIGUOUS) return tn_announce(f, k, dtype, like->ndim, like->size);
    s.ndim = like->ndim;
    memcpy(s.size, like->size, sizeof(int64_t) * (size_t)s.ndim);
    tni_like_strides(&s, &like, 1);
    return tn_announce_strided(f, k, dtype, s.ndim, s.size, s.stride);
}

/* Output k, new and with the result's strides, waits in given[k] for what run writes. */
static bool frame_turn(tn_frame *f, int k) {
    tn_tensor *made = f->out[k];
    f->given[k] = made;
    f->out[k] = NULL;
    if (!tni_set_storage(f->block, made) ||
        !tn_announce(f, k, (tn_dtype)made->dtype, made->ndim, made->size)) {
        tni_drop(f->block, made);
        return false;
    }
    frame_call(f)->redirected |= 1u << k;
    return true;
}

TN_PRIV bool tni_announce_images(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size,
                                 const tn_tensor *like, bool strided) {
    int64_t stride[TN_MAX_DIMS], numel;
    const bool moves = (f->row->forms & TN_MOVES) != 0;
    strided = moves || (!tni_elsewhere(f) && (strided || f->meta));
    if (ndim != like->ndim || !tni_like_channels_last(like) || !tni_numel_of(ndim, size, &numel) ||
        (k < f->ngiven && !strided))
        return tn_announce(f, k, dtype, ndim, size);
    tni_channels_last(ndim, size, stride);
    if (!tn_announce_strided(f, k, dtype, ndim, size, stride)) return false;
    /* One channel, or images of one pixel, lie as row by row. */
    return strided || f->elsewhere == TNI_IN_BATCH || f->out[k]->flags & TNI_CONTIGUOUS ||
           frame_turn(f, k);
}

TN_API bool tn_announce_view(tn_frame *f, int k, tn_tensor *of, int ndim, const int64_t *size,
                             const int64_t *stride, int64_t offset) {
    /* A view has no memory of its own, so it cannot be written into a given tensor. */
    frame_reach(f, k);
    if (TNI_UNLIKELY(f->ngiven))
        return tn_fail(f, TN_UNSUPPORTED, "out= is not supported for a view");
    if (TNI_UNLIKELY(of->flags & TNI_STACK))
        return tn_fail(f, TN_TYPE, "cannot make a view of a number");
    f->out[k] = tni_view_of(f->block, of, ndim, size, stride, offset, tni_view_has_history(f, of));
    return f->out[k] != NULL;
}

TN_API bool tn_announce_count(tn_frame *f, int64_t count) {
    tni_call *c = frame_call(f);
    if (count < 0 || count > 60000)
        return tn_fail(f, TN_INVALID, "expected at most 60000 results, got %lld", (long long)count);
    /* The array of results lies in the holder's data: 8 bytes a pointer. */
    c->holder = tni_new(f->block, TN_I64, 1, &count);
    if (!c->holder) return false;
    f->out = (tn_tensor **)c->holder->storage->data;
    memset((void *)f->out, 0, (size_t)count * sizeof *f->out);
    f->nout = (int)count;
    return true;
}

TN_API bool tn_fail(tn_frame *f, tn_code code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    tni_error_list(f->block, code, format, list);
    va_end(list);
    return false;
}

TN_API bool tn_cancelled(const tn_frame *f) {
    return tni_stop_seen((tni_stop *)(uintptr_t)&f->work.stop);
}

TN_API void tn_grad_zero(tn_gradient *g) { (void)g; }

TN_PRIV const char *tni_written_name(const tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    return !f->inplace ? "out" : f->nin ? tn_gen_tensor(gen, 0)->name : "self";
}
