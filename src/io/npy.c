/* npy.c - NumPy's .npy files, versions 1.0 to 3.0 (numpy/lib/format.py), as tensors and back.
 *
 * The header is a Python literal of three keys. It is read as data: it becomes JSON in place.
 * Objects, records, texts and dates are refused. Files are written as version 1.0, row-major and
 * little-endian. */
#include "json.h"

enum {
    NPY_MAGIC = 6,     /* bytes of the magic, which two of the version follow */
    NPY_LONGEST = 4096 /* a longer header describes no tensor */
};
static const char npy_magic[] = "\x93NUMPY";

/* Dtypes that NumPy has. */
#define NPY_KNOWN(NAME, text, bytes, kind, alias, computes, loop, largest, digits, safetensors, \
                  dlpack, buffer)                                                               \
    sizeof buffer > 1,
static const uint8_t npy_known[TN_DTYPE_COUNT] = {0, TN_DTYPES(NPY_KNOWN)};
#undef NPY_KNOWN

static bool npy_bad(const tni_file *f, const char *what) {
    return tni_error(f->b, TN_FORMAT, "'%s' is not a valid .npy file: %s", f->path, what);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* What the header says. */
typedef struct npy_info {
    int dtype, ndim;
    bool swapped, fortran; /* the other byte order; the first index runs fastest */
    int64_t size[TN_MAX_DIMS];
} npy_info;

/* The letter and the bytes of dtype d, as in "f4". */
static void npy_code(char code[16], int d) {
    snprintf(code, 16, "%c%d", tni_dtype_kind((tn_dtype)d), tni_dtype(d)->bytes);
}

/* The dtype of "<f4": byte order, letter of the kind, bytes. */
static bool npy_dtype(const tni_file *f, const char *text, npy_info *info) {
    const char order = *text;
    char code[16];
    info->swapped = order == (tni_host_is_little() ? '>' : '<');
    if (order && strchr("<>|=", order)) text++;
    for (int d = 1; d < TN_DTYPE_COUNT; d++) {
        npy_code(code, d);
        if (!npy_known[d] || strcmp(code, text) != 0) continue;
        info->dtype = d;
        return true;
    }
    if (*text == 'O')
        return tni_error(f->b, TN_FORMAT, "'%s' holds Python objects, which are not read", f->path);
    return tni_error(f->b, TN_FORMAT,
                     "'%s' has elements of NumPy's dtype '%.20s', which is none of"
                     " tensors",
                     f->path, text);
}

/* A Python literal as JSON, in place: quotes, tuples, no comma before a bracket, no L behind a long
 * integer of Python 2. */
static void npy_to_json(char *at) {
    char *comma = NULL, last = 0;
    for (; *at; at++) {
        if (*at == ' ') continue;
        if (*at == '\'') *at = '"';
        if (*at == '(') *at = '[';
        if (*at == ')') *at = ']';
        if (*at == 'L' && last >= '0' && last <= '9') *at = ' ';
        if ((*at == ']' || *at == '}') && comma) *comma = ' ';
        comma = *at == ',' ? at : NULL;
        last = *at;
    }
}

/* Whether this word stands there; then c is behind it. */
static bool npy_word(tni_json *c, const char *word) {
    const size_t n = strlen(word) - 1;
    if (!tni_json_sign(c, *word)) return false;
    if (strncmp(c->at, word + 1, n) != 0) {
        c->at--;
        return false;
    }
    c->at += n;
    return true;
}

/* A key and its value; its bit, 0 with an error. */
static int npy_entry(const tni_file *f, tni_json *c, npy_info *info) {
    char *key, *dtype;
    bool bad = !tni_json_string(c, &key) || !tni_json_sign(c, ':');
    if (!bad && strcmp(key, "descr") == 0) {
        if (tni_json_sign(c, '['))
            tni_error(f->b, TN_FORMAT,
                      "'%s' has elements of a structured dtype, which is none of"
                      " tensors",
                      f->path);
        else if (tni_json_string(c, &dtype))
            return npy_dtype(f, dtype, info) ? 1 : 0;
    } else if (!bad && strcmp(key, "fortran_order") == 0) {
        info->fortran = npy_word(c, "True");
        if (info->fortran || npy_word(c, "False")) return 2;
    } else if (!bad && strcmp(key, "shape") == 0) {
        info->ndim = tni_json_naturals(c, info->size, TN_MAX_DIMS);
        if (info->ndim >= 0) return 4;
        npy_bad(f, "its shape is no list of up to 16 sizes");
    }
    if (!f->b->failed) npy_bad(f, "its header is malformed");
    return 0;
}

/* The dictionary of a header: each key once, in any order. */
static bool npy_dictionary(const tni_file *f, char *text, int64_t bytes, npy_info *info) {
    tni_json c = {text, text + bytes};
    int seen = 0, key;
    text[bytes] = 0;
    npy_to_json(text);
    if (!tni_json_sign(&c, '{')) return npy_bad(f, "its header is no dictionary");
    do {
        key = npy_entry(f, &c, info);
        if (!key) return false;
        if (seen & key) return npy_bad(f, "its header has a key twice");
        seen |= key;
    } while (tni_json_sign(&c, ','));
    if (seen != 7 || !tni_json_sign(&c, '}')) return npy_bad(f, "its header lacks a key");
    tni_json_sign(&c, ' ');
    return c.at == c.end || npy_bad(f, "text follows its header");
}

/* Magic, version, length of the header in 2 or 4 bytes, header. */
static bool npy_header(tni_file *f, npy_info *info) {
    char text[NPY_LONGEST + 1];
    uint8_t head[NPY_MAGIC + 2 + 4];
    const int64_t left = f->size - f->at;
    int64_t bytes = 0;
    int wide;
    if (left < NPY_MAGIC + 4) return npy_bad(f, "it is too short");
    if (!tni_file_read(f, head, NPY_MAGIC + 4)) return false;
    if (memcmp(head, npy_magic, NPY_MAGIC) != 0) return npy_bad(f, "its first bytes are others");
    if (head[NPY_MAGIC] < 1 || head[NPY_MAGIC] > 3 || head[NPY_MAGIC + 1])
        return npy_bad(f, "its version is not 1.0, 2.0 or 3.0");
    wide = head[NPY_MAGIC] > 1 ? 2 : 0;
    if (f->size - f->at < wide) return npy_bad(f, "it is too short");
    if (!tni_file_read(f, head + NPY_MAGIC + 4, wide)) return false;
    for (int i = wide + 1; i >= 0; i--) bytes = bytes << 8 | head[NPY_MAGIC + 2 + i];
    if (bytes > f->size - f->at) return npy_bad(f, "it ends within its header");
    if (bytes > NPY_LONGEST) return npy_bad(f, "its header is longer than 4096 bytes");
    return tni_file_read(f, text, bytes) && npy_dictionary(f, text, bytes, info);
}

/* t, new, with its dimensions in the other order; NULL with an error. */
static tn_tensor *npy_reversed(tni_block *b, tn_tensor *t) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_tensor *v;
    for (int i = 0; i < t->ndim; i++) {
        size[i] = t->size[t->ndim - 1 - i];
        stride[i] = t->stride[t->ndim - 1 - i];
    }
    v = tni_view_of(b, t, t->ndim, size, stride, 0, false);
    tni_drop(b, t);
    return v;
}

static void npy_reverse(npy_info *info) {
    for (int i = 0, k = info->ndim - 1; i < k; i++, k--) {
        const int64_t size = info->size[i];
        info->size[i] = info->size[k];
        info->size[k] = size;
    }
}

TN_PRIV tn_tensor *tni_npy_read(tni_file *f) {
    int64_t numel, bytes, each;
    npy_info info;
    tn_tensor *t;
    memset(&info, 0, sizeof info);
    if (!npy_header(f, &info)) return NULL;
    /* The header must announce exactly the rest of the file, before memory is asked for. */
    if (!tni_numel_of(info.ndim, info.size, &numel) ||
        !tni_bytes(numel, tni_dtype(info.dtype)->bytes, &bytes) || f->size - f->at != bytes) {
        npy_bad(f, "its data are shorter or longer than its shape says");
        return NULL;
    }
    if (info.fortran) npy_reverse(&info);
    t = tni_new(f->b, info.dtype, info.ndim, info.size);
    if (!t) return NULL;
    if (bytes && !tni_file_read(f, t->storage->data, bytes)) {
        tni_drop(f->b, t);
        return NULL;
    }
    /* The numbers of a complex element are separate. */
    each = tni_dtype((int)tni_real_of(info.dtype))->bytes;
    if (info.swapped) tni_swap_bytes(t->storage->data, bytes / each, each);
    if (info.dtype == TN_BOOL && !tni_bools_fit(t->storage->data, bytes)) {
        npy_bad(f, "its booleans have bytes other than 0 and 1");
        tni_drop(f->b, t);
        return NULL;
    }
    return info.fortran ? npy_reversed(f->b, t) : t;
}

/* A file, or memory if path is NULL. */
static tn_tensor *npy_load(tni_block *b, const char *path, const void *data, size_t bytes) {
    tni_memory memory;
    tn_tensor *t = NULL;
    tni_file f;
    if (!b) return NULL;
    if (path ? tni_file_open(b, &f, path) : tni_memory_of(b, &memory, data, bytes)) {
        if (!path) tni_file_over(b, &f, TNI_MEMORY_NAME, memory.at, memory.bytes);
        t = tni_npy_read(&f);
        tni_file_close(&f);
    }
    tni_io_leave(b);
    return t;
}

TN_API tn_tensor *tn_load_npy_at(const char *file, int line, const char *path) {
    return npy_load(tni_io_enter(file, line), path ? path : "", NULL, 0);
}
TN_API tn_tensor *tn_load_npy_memory_at(const char *file, int line, const void *data,
                                        size_t bytes) {
    return npy_load(tni_io_enter(file, line), NULL, data, bytes);
}

/* --- writing ---------------------------------------------------------------------------------- */

enum { NPY_ALIGN = 64, NPY_ROOM = 512 }; /* the data begin at a multiple; 16 sizes of 20 digits */

/* All that stands before the data; its length. */
static int npy_head(char text[NPY_ROOM], const tn_tensor *t) {
    int n = NPY_MAGIC + 4;
    char code[16];
    npy_code(code, t->dtype);
    memcpy(text, npy_magic, NPY_MAGIC);
    text[NPY_MAGIC] = 1;
    text[NPY_MAGIC + 1] = 0;
    n += snprintf(text + n, NPY_ROOM - (size_t)n,
                  "{'descr': '%c%s', 'fortran_order': False, "
                  "'shape': (",
                  tni_dtype_size(t) > 1 ? '<' : '|', code);
    for (int i = 0; i < t->ndim; i++)
        n +=
            snprintf(text + n, NPY_ROOM - (size_t)n, i ? " %lld," : "%lld,", (long long)t->size[i]);
    /* A tuple of one size keeps its comma. */
    if (t->ndim > 1) n--;
    n += snprintf(text + n, NPY_ROOM - (size_t)n, "), }");
    /* Spaces, then a newline before the data. */
    while ((n + 1) % NPY_ALIGN) text[n++] = ' ';
    text[n++] = '\n';
    text[NPY_MAGIC + 2] = (char)((n - NPY_MAGIC - 4) & 255);
    text[NPY_MAGIC + 3] = (char)((n - NPY_MAGIC - 4) >> 8);
    return n;
}

TN_PRIV int64_t tni_npy_bytes(tni_block *b, const tn_tensor *t, const char *name) {
    char text[NPY_ROOM];
    int64_t bytes;
    if (!t)
        tni_error(b, TN_INVALID, "tensor \"%s\" is NULL", name);
    else if (!tni_usable(b, t, name))
        return -1;
    else if (t->device != TN_CPU || (t->flags & TNI_META))
        tni_error(b, TN_UNSUPPORTED, "tensor \"%s\" is not on the CPU", name);
    else if (!npy_known[t->dtype])
        tni_error(b, TN_TYPE, "tensor \"%s\": NumPy has no %s; convert it first", name,
                  tni_dtype(t->dtype)->text);
    else if (!tni_add(npy_head(text, t), t->numel * tni_dtype_size(t), &bytes))
        tni_memory_error(b, INT64_MAX);
    else
        return bytes;
    return -1;
}

TN_PRIV bool tni_npy_write(tni_file *f, const tn_tensor *t) {
    char text[NPY_ROOM];
    return tni_file_write(f, text, npy_head(text, t)) && tni_file_write_tensor(f, t);
}

/* Into a file, or into new memory if that is not NULL. */
static bool npy_save(tni_block *b, const char *path, const tn_tensor *t, tn_bytes *memory) {
    int64_t bytes;
    tni_file f;
    bool ok;
    if (!b) return false;
    bytes = tni_npy_bytes(b, t, "t");
    ok = bytes >= 0 && tni_save_begin(b, &f, path, bytes, memory) &&
         tni_save_end(&f, tni_npy_write(&f, t), memory);
    tni_io_leave(b);
    return ok;
}

TN_API bool tn_save_npy_at(const char *file, int line, const char *path, const tn_tensor *t) {
    return npy_save(tni_io_enter(file, line), path, t, NULL);
}
TN_API tn_bytes tn_save_npy_memory_at(const char *file, int line, const tn_tensor *t) {
    tn_bytes bytes = {NULL, 0};
    npy_save(tni_io_enter(file, line), NULL, t, &bytes);
    return bytes;
}
