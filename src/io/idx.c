/* idx.c - IDX files, the format of MNIST, as tensors. */
#include "io.h"

/* http://yann.lecun.com/exdb/mnist: two zero bytes, a type, a number of dimensions, their sizes
 * (big-endian 32 bits), the elements (big-endian). */
static int idx_dtype(uint8_t type) {
    switch (type) {
    case 0x08: return TN_U8;
    case 0x09: return TN_I8;
    case 0x0B: return TN_I16;
    case 0x0C: return TN_I32;
    case 0x0D: return TN_F32;
    case 0x0E: return TN_F64;
    default: return TN_NO_DTYPE;
    }
}

/* Reads the header, which ends at f->at: dtype, number of dimensions, sizes. */
static bool idx_header(tni_file *f, int *dtype, int *ndim, int64_t *size) {
    uint8_t head[4], each[4];
    if (!tni_file_read(f, head, 4)) return false;
    *dtype = idx_dtype(head[2]);
    *ndim = head[3];
    /* gzip's first two bytes: the files are usually downloaded so. */
    if (head[0] == 0x1f && head[1] == 0x8b)
        return tni_error(f->b, TN_FORMAT, "'%s' is compressed; unpack it with gunzip first",
                         f->path);
    if (head[0] || head[1] || *dtype == TN_NO_DTYPE || *ndim > TN_MAX_DIMS)
        return tni_error(f->b, TN_FORMAT, "'%s' is not an IDX file", f->path);
    for (int i = 0; i < *ndim; i++) {
        if (!tni_file_read(f, each, 4)) return false;
        size[i] = (int64_t)each[0] << 24 | (int64_t)each[1] << 16 | (int64_t)each[2] << 8 | each[3];
    }
    return true;
}

static tn_tensor *idx_read(tni_file *f) {
    int64_t size[TN_MAX_DIMS] = {0}, numel, bytes;
    tn_tensor *t;
    int dtype, ndim;
    if (f->size < 4) {
        tni_error(f->b, TN_FORMAT, "'%s' is not an IDX file: %lld bytes", f->path,
                  (long long)f->size);
        return NULL;
    }
    /* The header must announce exactly the rest of the file, before memory is asked for. */
    if (!idx_header(f, &dtype, &ndim, size)) return NULL;
    /* The header must announce exactly the rest of the file, before memory is asked for. */
    if (!tni_numel_of(ndim, size, &numel) || !tni_bytes(numel, tni_dtype(dtype)->bytes, &bytes) ||
        f->size - f->at != bytes) {
        tni_error(f->b, TN_FORMAT, "'%s' is damaged: its header does not match its %lld bytes",
                  f->path, (long long)f->size);
        return NULL;
    }
    t = tni_new(f->b, dtype, ndim, size);
    if (!t) return NULL;
    if (bytes && !tni_file_read(f, t->storage->data, bytes)) {
        tni_drop(f->b, t);
        return NULL;
    }
    if (tni_host_is_little()) tni_swap_bytes(t->storage->data, numel, tni_dtype(dtype)->bytes);
    return t;
}

TN_API tn_tensor *tn_load_idx_at(const char *file, int line, const char *path) {
    tni_block *b = tni_io_enter(file, line);
    tn_tensor *t = NULL;
    tni_file f;
    if (!b) return NULL;
    if (tni_file_open(b, &f, path)) {
        t = idx_read(&f);
        tni_file_close(&f);
    }
    tni_io_leave(b);
    return t;
}
