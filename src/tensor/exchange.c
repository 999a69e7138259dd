/* exchange.c - tensors that take over the data of others: swapped, or shared. Headers, owners and
 * gradients stay; views keep the data that they had. */
#include "tensor.h"

/* True if views or aliases must see the swap and layouts allow it. */
static bool exchange_must_move_bytes(const tn_tensor *a, const tn_tensor *b) {
    if (tni_load(&a->storage->refs) == 1 && tni_load(&b->storage->refs) == 1) return false;
    if (a->storage == b->storage || a->dtype != b->dtype || a->device != b->device) return false;
    if ((a->flags | b->flags) & (TNI_META | TNI_READ_ONLY) || !tni_is_dense(a)) return false;
    return a->device == TN_CPU &&
           memcmp(a->stride, b->stride, (size_t)a->ndim * sizeof *a->stride) == 0;
}

/* In pieces, through the stack: no memory is needed, so it cannot fail. */
static void exchange_bytes(char *a, char *b, int64_t bytes) {
    char room[1024];
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof room) {
        int64_t rest = bytes - at;
        size_t n = rest < (int64_t)sizeof room ? (size_t)rest : sizeof room;
        memcpy(room, a + at, n);
        memcpy(a + at, b + at, n);
        memcpy(b + at, room, n);
    }
}

/* Exchanges storage, offset, strides, dtype and device; refs, scope, grad and shape stay. */
static void exchange_headers(tn_tensor *a, tn_tensor *b) {
    const uint16_t swapped_flags = TNI_CONTIGUOUS | TNI_META | TNI_DEVICE | TNI_READ_ONLY;
    uint16_t differ;
    tni_storage *storage = a->storage;
    int64_t offset = a->offset, stride;
    uint8_t dtype = a->dtype, device = a->device;
    /* Storage and offset say where the data are. */
    a->storage = b->storage;
    b->storage = storage;
    a->offset = b->offset;
    b->offset = offset;
    /* One after the other: dtype, device, strides, and the flags that follow from them. */
    a->dtype = b->dtype;
    b->dtype = dtype;
    a->device = b->device;
    b->device = device;
    for (int i = 0; i < a->ndim; i++) {
        stride = a->stride[i];
        a->stride[i] = b->stride[i];
        b->stride[i] = stride;
    }
    /* XOR with the bits that differ exchanges them. */
    differ = (uint16_t)((a->flags ^ b->flags) & swapped_flags);
    a->flags ^= differ;
    b->flags ^= differ;
}

static bool exchange_swap(tni_block *here, tn_tensor *a, tn_tensor *b) {
    bool must_move;
    if (!a || !b) return tni_error(here, TN_INVALID, "tn_swap_data: a tensor is NULL");
    if (!tni_belongs(here, a, "tn_swap_data") || !tni_belongs(here, b, "tn_swap_data"))
        return false;
    if ((a->flags | b->flags) & (TNI_BATCHED | TNI_SPARSE))
        return tni_error(here, TN_UNSUPPORTED,
                         "tn_swap_data: a tensor is sparse, or a sample of a batch");
    if (!tni_same_shape(a, b))
        return tni_error(here, TN_INVALID, "tn_swap_data: the shapes differ");
    if (a->base || b->base || a->node || b->node)
        return tni_error(here, TN_AUTOGRAD,
                         "tn_swap_data: neither tensor may be a view or a recorded result");
    must_move = exchange_must_move_bytes(a, b);
    /* Memory wrapped twice: some bytes would have to take two values. */
    if (must_move && tni_overlap(a, b))
        return tni_error(here, TN_INVALID,
                         "tn_swap_data: the memory of b overlaps that of a, a tensor of another "
                         "storage; clone one of them first");
    if (must_move)
        exchange_bytes(tni_bytes_at(a), tni_bytes_at(b), a->numel * tni_dtype_size(a));
    else
        exchange_headers(a, b);
    tni_fetch_add_relaxed(tni_version_of(a), 1u);
    tni_fetch_add_relaxed(tni_version_of(b), 1u);
    return true;
}

/* A pending error does not stop it: it is how a plan is carried out or taken back. */
TN_API bool tn_swap_data_at(const char *file, int line, tn_tensor *a, tn_tensor *b) {
    tni_block *here = tni_here();
    bool mine = tni_enter(here, file, line), ok = here && exchange_swap(here, a, b);
    return mine ? tni_leave(here, ok) : ok;
}
TN_API bool tnp_swap_data(tn_tensor *a, tn_tensor *b) { return tn_swap_data_at(NULL, 0, a, b); }

static bool exchange_may_set(tni_block *here, const tn_tensor *t, const tn_tensor *from) {
    /* A view shares its base's data, and a graph needs a floating leaf; sizes must fit
     * into the header. */
    if (!t || !from) return tni_error(here, TN_INVALID, "tn_set_data: a tensor is NULL");
    if (!tni_belongs(here, t, "tn_set_data") || !tni_belongs(here, from, "tn_set_data"))
        return false;
    if ((t->flags | from->flags) & (TNI_BATCHED | TNI_SPARSE))
        return tni_error(here, TN_UNSUPPORTED,
                         "tn_set_data: a tensor is sparse, or a sample of a batch");
    if (t->base) return tni_error(here, TN_AUTOGRAD, "tn_set_data: the tensor is a view");
    if (t->flags & TNI_REQUIRES && tni_dtype(from->dtype)->category < TNI_CAT_FLOAT)
        return tni_error(here, TN_TYPE,
                         "data set to a tensor that requires gradients must be floating point or "
                         "complex dtype");
    if ((t->flags ^ from->flags) & TNI_INFERENCE)
        return tni_error(here, TN_AUTOGRAD,
                         "tn_set_data: one of the tensors was made in inference mode");
    if (from->ndim > t->capacity)
        return tni_error(here, TN_UNSUPPORTED, "tn_set_data: %d dimensions cannot replace %d",
                         from->ndim, t->ndim);
    return true;
}

TN_API bool tn_set_data_at(const char *file, int line, tn_tensor *t, const tn_tensor *from) {
    const uint16_t taken_flags = TNI_CONTIGUOUS | TNI_META | TNI_DEVICE | TNI_READ_ONLY;
    tni_block *here = tni_here();
    tni_storage *old;
    if (!tni_enter(here, file, line)) return false;
    if (!exchange_may_set(here, t, from)) return tni_leave(here, false);
    /* The old storage is dropped last: it may be the new one. */
    old = t->storage;
    t->storage = from->storage;
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    /* Everything that describes the data; owner, scope, gradient and views stay t's. */
    t->offset = from->offset;
    t->numel = from->numel;
    t->ndim = from->ndim;
    t->dtype = from->dtype;
    t->device = from->device;
    for (int i = 0; i < from->ndim; i++) {
        t->size[i] = from->size[i];
        t->stride[i] = from->stride[i];
    }
    t->flags = (uint16_t)((t->flags & ~taken_flags) | (from->flags & taken_flags));
    tni_storage_release(here, old);
    return tni_leave(here, true);
}
