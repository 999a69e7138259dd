/* memory.c - named tensors from and to memory, in any format that the library reads. */
#include "io.h"

TN_API void tn_bytes_free(tn_bytes bytes) {
    if (bytes.at && tn_context_exists()) tn_alloc_free(bytes.at, bytes.n);
}

/* How many tensors of a list point into memory that was lent. */
static int64_t memory_borrowed(tn_named_list list) {
    int64_t n = 0;
    for (int64_t i = 0; i < list.n; i++) n += tn_is_wrapped(list.at[i].tensor);
    return n;
}

static tn_named_list memory_load(tni_block *b, const tn_load_args *args) {
    tn_named_list list = {NULL, -1, 0, true};
    const char *name = args->name ? args->name : TNI_MEMORY_NAME;
    tni_memory memory;
    if (!tni_memory_of(b, &memory, args->data, args->bytes)) return list;
    if (args->borrow && !(memory.lender = tni_lender_new(b, args))) return list;
    list = tni_safetensors_load(b, name, &memory);
    if (args->borrowed && list.n >= 0) *args->borrowed = memory_borrowed(list);
    tni_lender_end(memory.lender, list.n >= 0);
    return list;
}

TN_API tn_named_list tn_load_memory_at(const char *file, int line, const tn_load_args *args) {
    tn_named_list list = {NULL, -1, 0, true};
    tni_block *b = tni_io_enter(file, line);
    if (!b) return list;
    if (!args)
        tni_error(b, TN_INVALID, "tn_load_memory: the arguments are NULL");
    else if (!args->borrow && (args->release || args->writable))
        tni_error(b, TN_INVALID, "tn_load_memory: release and writable are options of borrow");
    else
        list = memory_load(b, args);
    tni_io_leave(b);
    return list;
}

TN_API tn_bytes tn_save_memory_at(const char *file, int line, const tn_save_args *args) {
    tn_bytes bytes = {NULL, 0};
    tni_saving s;
    memset(&s, 0, sizeof s);
    s.b = tni_io_enter(file, line);
    if (!s.b) return bytes;
    if (args) {
        s.at = args->at;
        s.n = args->n;
        s.notes = args->notes;
        s.nnotes = args->nnotes;
        tni_safetensors_save(&s, NULL, &bytes);
    } else {
        tni_error(s.b, TN_INVALID, "tn_save_memory: the arguments are NULL");
    }
    tni_io_leave(s.b);
    return bytes;
}
