/* lend.c - memory in place of a file: new memory that a format fills, and tensors over memory that
 * a caller lends. These have a storage each, so that their versions are their own, and one count of
 * them calls the caller's release at its end. */
#include "io.h"

struct tni_lender {
    uint32_t count; /* tensors over the memory, and the load while it lasts */
    bool writable;
    tni_block *b; /* of the load; not used after it */
    void *data;
    void (*release)(void *data, void *user);
    void *user;
};

TN_PRIV bool tni_memory_of(tni_block *b, tni_memory *memory, const void *data, size_t bytes) {
    static char nothing[1];
    memory->at = data ? (char *)(uintptr_t)data : nothing;
    memory->bytes = (int64_t)bytes;
    memory->lender = NULL;
    if (bytes && !data) return tni_error(b, TN_INVALID, "the memory is NULL");
    return bytes <= (size_t)PTRDIFF_MAX ||
           tni_error(b, TN_INVALID, "the memory cannot have %llu bytes", (unsigned long long)bytes);
}

TN_PRIV tni_lender *tni_lender_new(tni_block *b, const tn_load_args *args) {
    /* Apart from blocks: the last tensor may be freed by any thread, or with the context. */
    tni_lender *l = (tni_lender *)tni_get_apart(b->context, (int64_t)sizeof *l);
    if (!l) {
        tni_memory_error(b, (int64_t)sizeof *l);
        return NULL;
    }
    l->count = 1;
    l->writable = args->writable;
    l->b = b;
    l->data = (void *)(uintptr_t)args->data;
    l->release = args->release;
    l->user = args->user;
    return l;
}

/* One count less; the last calls release. */
static void lend_drop(tni_lender *l) {
    if (tni_fetch_add(&l->count, (uint32_t)-1) != 1) return;
    if (l->release) l->release(l->data, l->user);
    tni_put_apart(l);
}
static void lend_back(void *data, void *user) {
    (void)data;
    lend_drop((tni_lender *)user);
}

TN_PRIV void tni_lender_end(tni_lender *l, bool ok) {
    if (!l) return;
    /* After a failure no tensor is left, so nobody else reads this. */
    if (!ok) l->release = NULL;
    lend_drop(l);
}

TN_PRIV bool tni_may_lend(const void *at, int dtype) {
    return tni_host_is_little() && (uintptr_t)at % (uintptr_t)tni_align_of(dtype) == 0;
}

TN_PRIV tn_tensor *tni_lend(tni_lender *l, void *at, int dtype, int ndim, const int64_t *size) {
    tn_tensor *t = tni_header(l->b, dtype, ndim, size, NULL);
    if (!t) return NULL;
    t->storage = tni_storage_wrap(l->b, at, t->numel * tni_dtype_size(t), lend_back, l);
    if (!t->storage) {
        tni_drop(l->b, t);
        return NULL;
    }
    tni_fetch_add(&l->count, 1u);
    if (!l->writable) t->flags |= TNI_READ_ONLY;
    return t;
}

/* --- saving ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_save_begin(tni_block *b, tni_file *f, const char *path, int64_t bytes,
                            tn_bytes *memory) {
    if (!memory) return tni_file_create(b, f, path);
    memory->at = tni_get_apart(b->context, bytes);
    if (!memory->at) return tni_memory_error(b, bytes);
    memory->n = (size_t)bytes;
    tni_file_over(b, f, TNI_MEMORY_NAME, memory->at, bytes);
    return true;
}

TN_PRIV bool tni_save_end(tni_file *f, bool ok, tn_bytes *memory) {
    if (!memory) ok = ok && tni_file_commit(f);
    /* Closing without commit drops the temporary file. */
    tni_file_close(f);
    if (ok || !memory) return ok;
    tni_put_apart(memory->at);
    memory->at = NULL;
    memory->n = 0;
    return false;
}
