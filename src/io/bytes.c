/* bytes.c - files of raw bytes as tensors, and what formats share. */
#include "io.h"

TN_PRIV tni_block *tni_io_enter(const char *file, int line) {
    tni_block *b = tni_here();
    if (!b || b->failed) return NULL;
    tni_place_set(b, file, line);
    return b;
}
TN_PRIV void tni_io_leave(tni_block *b) {
    /* A call from inside of another one leaves that to it. */
    if (b->failed && !b->work && !b->place_hold) tni_error_tell(b);
}

TN_PRIV bool tni_host_is_little(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

TN_PRIV void tni_swap_bytes(void *at, int64_t count, int64_t bytes) {
    uint8_t *p = (uint8_t *)at;
    /* Each element is reversed in place; elements of one byte stay as they are. */
    for (int64_t i = 0; i < count; i++, p += bytes)
        for (int64_t k = 0; k < bytes / 2; k++) {
            uint8_t c = p[k];
            p[k] = p[bytes - 1 - k];
            p[bytes - 1 - k] = c;
        }
}

TN_PRIV bool tni_bools_fit(const void *at, int64_t n) {
    const uint8_t *p = (const uint8_t *)at;
    uint8_t more = 0;
    for (int64_t i = 0; i < n; i++) more |= p[i];
    return more <= 1;
}

/* By reading, which pipes and a program's own file functions can do as well. */
TN_PRIV bool tni_file_skip(tni_file *f, int64_t bytes) {
    char drop[4096];
    while (bytes > 0) {
        int64_t n = bytes < (int64_t)sizeof drop ? bytes : (int64_t)sizeof drop;
        if (!tni_file_read(f, drop, n)) return false;
        bytes -= n;
    }
    return true;
}

TN_PRIV char *tni_file_whole(tni_block *b, const char *path, int64_t *bytes) {
    char *at = NULL;
    int64_t room;
    tni_file f;
    if (!tni_file_open(b, &f, path)) return NULL;
    *bytes = f.size;
    if (tni_add(f.size, 1, &room))
        at = (char *)tni_need(b, room);
    else
        tni_memory_error(b, INT64_MAX);
    if (at && !tni_file_read(&f, at, *bytes)) {
        tni_put(b, b, at, *bytes + 1);
        at = NULL;
    }
    tni_file_close(&f);
    if (at) at[*bytes] = 0;
    return at;
}

/* --- named lists ------------------------------------------------------------------------------ */

TN_API void tn_named_free(tn_named_list list) {
    if (!tn_context_exists()) return;
    for (int64_t i = 0; list.owned && i < list.n; i++) tn_free(list.at[i].tensor);
    if (list.at && list.bytes > 0) tn_alloc_free(list.at, (size_t)list.bytes);
}

TN_PRIV bool tni_named_begin(tn_named_list *list, int64_t n, int64_t name_bytes, char **names) {
    /* One block for entries and names, which tn_named_free frees whole. */
    list->owned = true;
    list->n = -1;
    list->at = NULL;
    if (!tni_bytes(n, (int64_t)sizeof *list->at, &list->bytes)) return false;
    list->bytes += name_bytes;
    if (list->bytes && !(list->at = (tn_named *)tn_alloc((size_t)list->bytes))) return false;
    list->n = 0;
    *names = list->at ? (char *)(list->at + n) : NULL;
    return true;
}

TN_PRIV bool tni_named_add(tn_named_list *list, char **names, const void *name, int64_t bytes,
                           tn_tensor *t) {
    if (!t) {
        tn_named_free(*list);
        list->at = NULL;
        list->n = -1;
        return false;
    }
    memcpy(*names, name, (size_t)bytes);
    (*names)[bytes] = 0;
    list->at[list->n].name = *names;
    list->at[list->n++].tensor = tni_move(t->owner, t, 0); /* the list's, whatever scope is open */
    *names += bytes + 1;
    return true;
}

TN_API tn_tensor *tn_named_find(tn_named_list list, const char *name) {
    for (int64_t i = 0; name && i < list.n; i++)
        if (strcmp(list.at[i].name, name) == 0) return list.at[i].tensor;
    return NULL;
}

/* --- paths ------------------------------------------------------------------------------------ */

TN_API bool tn_file_exists_at(const char *file, int line, const char *path, bool *exists) {
    tni_block *b = tni_io_enter(file, line);
    bool ok;
    /* A definite value even if the question cannot be answered. */
    if (exists) *exists = false;
    if (!b) return false;
    ok = exists ? tni_file_exists(b, path, exists)
                : tni_error(b, TN_INVALID, "tn_file_exists: argument 'exists' is NULL");
    tni_io_leave(b);
    return ok;
}

/* --- bytes ------------------------------------------------------------------------------------ */

TN_API tn_tensor *tn_load_bytes_at(const char *file, int line, const char *path) {
    tni_block *b = tni_io_enter(file, line);
    tn_tensor *t = NULL;
    tni_file f;
    bool ok;
    if (!b) return NULL;
    if (!tni_file_open(b, &f, path)) {
        tni_io_leave(b);
        return NULL;
    }
    t = tni_new(b, TN_U8, 1, &f.size);
    ok = t && tni_file_read(&f, t->storage->data, f.size);
    tni_file_close(&f);
    /* A tensor that was read in part is nobody's. */
    if (t && !ok) tni_drop(b, t);
    tni_io_leave(b);
    return ok ? t : NULL;
}

TN_API bool tn_save_bytes_at(const char *file, int line, const char *path, const void *data,
                             size_t n) {
    tni_block *b = tni_io_enter(file, line);
    const int64_t bytes = (int64_t)n; /* negative: there is no such memory */
    tni_file f;
    bool ok;
    if (!b) return false;
    if (bytes < 0 || (n && !data))
        ok =
            tni_error(b, TN_INVALID, "tn_save_bytes: %s", data ? "too many bytes" : "data is NULL");
    else if ((ok = tni_file_create(b, &f, path))) {
        ok = tni_file_write(&f, data, bytes) && tni_file_commit(&f);
        tni_file_close(&f);
    }
    tni_io_leave(b);
    return ok;
}
