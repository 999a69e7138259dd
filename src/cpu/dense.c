/* dense.c - a tensor's elements side by side in row-major order: where they lie, or as a copy in
 * the call's scratch. */
#include "lanes.h"

TN_PRIV bool tni_dense_scratch(tn_frame *f, const tn_tensor *t) {
    return !t || t->flags & TNI_CONTIGUOUS || tn_scratch(f, t->numel, tni_dtype_size(t));
}

TN_PRIV const char *tni_dense(tn_frame *f, const tn_tensor *t, char **room) {
    int64_t stride[TN_MAX_DIMS];
    tni_storage storage;
    tn_tensor to;
    if (!t) return NULL;
    if (t->flags & TNI_CONTIGUOUS) return t->numel ? tni_bytes_at(t) : NULL;
    TNI_PATH(dense_copy);
    /* A tensor on the stack over the scratch memory, which a plain copy fills. */
    memset(&storage, 0, sizeof storage);
    storage.data = *room;
    tni_row_major(t->ndim, t->size, stride);
    tni_stack_view(&to, t, t->ndim, t->size, stride, 0);
    to.storage = &storage;
    tni_copy_elements(f->block, &to, t);
    /* The next piece of scratch begins aligned, as tn_scratch has counted it. */
    *room += (t->numel * tni_dtype_size(t) + TNI_ALIGN - 1) & -TNI_ALIGN;
    return (const char *)storage.data;
}
