/* safetensors_save.c - writing the safetensors format, which safetensors.c reads.
 *
 * All that can be refused is refused before the file is made, and a file takes its name only when
 * it is complete. Tensors are written straight from their memory. */
#include "io.h"

/* Text of the header: first its length is counted (at NULL), then it is written. */
typedef struct safe_writer {
    char *at;
    int64_t n;
} safe_writer;

/* Appends n characters, or only counts them. */
static void safe_put(safe_writer *w, const char *text, int64_t n) {
    if (w->at) memcpy(w->at + w->n, text, (size_t)n);
    w->n += n;
}
static void safe_put_text(safe_writer *w, const char *text) {
    safe_put(w, text, (int64_t)strlen(text));
}
static void safe_put_int(safe_writer *w, int64_t v) {
    char text[24];
    safe_put(w, text, snprintf(text, sizeof text, "%lld", (long long)v));
}
/* A JSON string; control characters are escaped (RFC 8259, section 7), all else is UTF-8
 * as it is. */
static void safe_put_string(safe_writer *w, const char *text) {
    char code[8];
    safe_put(w, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') safe_put(w, "\\", 1);
        if (c >= 0x20)
            safe_put(w, text, 1);
        else
            safe_put(w, code, snprintf(code, sizeof code, "\\u%04x", c));
    }
    safe_put(w, "\"", 1);
}

static int64_t safe_tensor_bytes(const tn_tensor *t) { return t->numel * tni_dtype_size(t); }

/* The header's text. Tensors lie by falling element size, so that each is aligned; in the order
 * given among equals. safe_write_file writes them in the same order. */
static void safe_put_header(safe_writer *w, const tni_saving *p) {
    int64_t offset = 0;
    bool first = true;
    safe_put_text(w, "{");
    /* {"__metadata__": {"key": "value", ..}, if there are notes. */
    for (int64_t i = 0; i < p->nnotes; i++) {
        safe_put_text(w, i ? "," : "\"__metadata__\":{");
        safe_put_string(w, p->notes[i].key);
        safe_put_text(w, ":");
        safe_put_string(w, p->notes[i].value);
        first = false;
    }
    if (p->nnotes) safe_put_text(w, "}");
    /* Sizes 8, 4, 2 and 1; complex64 counts as 8. */
    for (int64_t each = 8; each; each /= 2)
        for (int64_t i = 0; i < p->n; i++) {
            const tn_tensor *t = p->at[i].tensor;
            if (tni_dtype_size(t) != each) continue;
            safe_put_text(w, first ? "" : ",");
            first = false;
            safe_put_string(w, p->at[i].name);
            safe_put_text(w, ":{\"dtype\":\"");
            safe_put_text(w, tni_dtype_safetensors(t->dtype));
            safe_put_text(w, "\",\"shape\":[");
            for (int d = 0; d < t->ndim; d++) {
                if (d) safe_put_text(w, ",");
                safe_put_int(w, t->size[d]);
            }
            safe_put_text(w, "],\"data_offsets\":[");
            safe_put_int(w, offset);
            safe_put_text(w, ",");
            /* data_offsets are first byte and end. */
            offset += safe_tensor_bytes(t);
            safe_put_int(w, offset);
            safe_put_text(w, "]}");
        }
    safe_put_text(w, "}");
    /* Data that begins at a multiple of 8 bytes can be mapped into memory. */
    while (w->n % 8) safe_put_text(w, " ");
}

TN_PRIV bool tni_text_fits(const char *text) {
    for (int n; text && *text; text += n)
        if ((n = tni_utf8(text)) == 0) return false;
    return text != NULL;
}

static int safe_compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts pointers to the names, so that equal ones are neighbours. */
TN_PRIV bool tni_names_differ(const tni_saving *p) {
    int64_t bytes, i = 1;
    const char **names;
    if (p->n < 2) return true;
    if (!tni_bytes(p->n, (int64_t)sizeof *names, &bytes)) return tni_memory_error(p->b, INT64_MAX);
    names = (const char **)tni_need(p->b, bytes);
    if (!names) return false;
    for (int64_t k = 0; k < p->n; k++) names[k] = p->at[k].name;
    qsort((void *)names, (size_t)p->n, sizeof *names, safe_compare_names);
    /* i stops at the second of two equal names. */
    while (i < p->n && strcmp(names[i - 1], names[i]) != 0) i++;
    if (i < p->n) tni_error(p->b, TN_INVALID, "the name \"%s\" is given twice", names[i]);
    tni_put(p->b, p->b, (void *)names, bytes);
    return i == p->n;
}

/* Refuses what a reader would, before a file is made; *data_bytes becomes the sum
 * of the tensors. */
static bool safe_check_plan(const tni_saving *p, int64_t *data_bytes) {
    *data_bytes = 0;
    if (p->n < 0 || p->nnotes < 0 || (p->n && !p->at) || (p->nnotes && !p->notes))
        return tni_error(p->b, TN_INVALID, "expected a list of tensors");
    for (int64_t i = 0; i < p->nnotes; i++)
        if (!tni_text_fits(p->notes[i].key) || !tni_text_fits(p->notes[i].value))
            return tni_error(p->b, TN_INVALID, "note %lld is NULL or not UTF-8", (long long)i);
    /* Each tensor: a name, a dtype that the format has, and data that lies here. */
    for (int64_t i = 0; i < p->n; i++) {
        const tn_tensor *t = p->at[i].tensor;
        if (!tni_text_fits(p->at[i].name) || strcmp(p->at[i].name, "__metadata__") == 0)
            return tni_error(p->b, TN_INVALID,
                             "the name of tensor %lld is NULL, not UTF-8, or __metadata__",
                             (long long)i);
        if (!t) return tni_error(p->b, TN_INVALID, "tensor \"%s\" is NULL", p->at[i].name);
        if (!tni_usable(p->b, t, p->at[i].name)) return false;
        if (!*tni_dtype_safetensors(t->dtype))
            return tni_error(p->b, TN_TYPE, "tensor \"%s\": safetensors does not support %s",
                             p->at[i].name, tni_dtype(t->dtype)->text);
        if (t->device != TN_CPU || (t->flags & TNI_META))
            return tni_error(p->b, TN_UNSUPPORTED, "tensor \"%s\" is not on the CPU",
                             p->at[i].name);
        /* The sum of all tensors is the length of the data. */
        if (!tni_add(*data_bytes, safe_tensor_bytes(t), data_bytes))
            return tni_memory_error(p->b, INT64_MAX);
    }
    return tni_names_differ(p);
}

/* Row-major elements of t through a small buffer. */
static bool safe_write_strided(tni_file *f, const tn_tensor *t) {
    char chunk[TNI_SAFE_CHUNK];
    int64_t each = tni_dtype_size(t), room = TNI_SAFE_CHUNK / each, used = 0,
            index[TN_MAX_DIMS] = {0};
    int64_t swap = tni_dtype((int)tni_real_of(t->dtype))->bytes;
    const char *base = tni_bytes_at(t);
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = 0;
        for (int d = 0; d < t->ndim; d++) at += index[d] * t->stride[d];
        memcpy(chunk + used++ * each, base + at * each, (size_t)each);
        /* The next index in row-major order. */
        for (int d = t->ndim - 1; d >= 0 && ++index[d] == t->size[d]; d--) index[d] = 0;
        /* Written when the buffer is full, or at the end. */
        if (used < room && i + 1 < t->numel) continue;
        if (!tni_host_is_little()) tni_swap_bytes(chunk, used * each / swap, swap);
        if (!tni_file_write(f, chunk, used * each)) return false;
        used = 0;
    }
    return true;
}

/* Contiguous tensors are written as they lie. */
TN_PRIV bool tni_file_write_tensor(tni_file *f, const tn_tensor *t) {
    if (t->numel == 0) return true;
    if ((t->flags & TNI_CONTIGUOUS) && tni_host_is_little())
        return tni_file_write(f, tni_bytes_at(t), safe_tensor_bytes(t));
    return safe_write_strided(f, t);
}

/* Length, header and data. */
static bool safe_write_all(const tni_saving *p, tni_file *f, const char *header, int64_t bytes) {
    uint8_t head[8];
    bool ok;
    /* The header's length in 8 bytes, little-endian. */
    for (int i = 0; i < 8; i++) head[i] = (uint8_t)((uint64_t)bytes >> 8 * i);
    ok = tni_file_write(f, head, 8) && tni_file_write(f, header, bytes);
    for (int64_t each = 8; ok && each; each /= 2)
        for (int64_t i = 0; ok && i < p->n; i++)
            if (tni_dtype_size(p->at[i].tensor) == each)
                ok = tni_file_write_tensor(f, p->at[i].tensor);
    return ok;
}

/* The header is written twice: to count its bytes, then into memory of that size. */
TN_PRIV bool tni_safetensors_save(const tni_saving *p, const char *path, tn_bytes *memory) {
    safe_writer w = {NULL, 0};
    int64_t data_bytes, bytes, all;
    bool ok;
    tni_file f;
    if (!safe_check_plan(p, &data_bytes)) return false;
    /* First with no memory, for the length. */
    safe_put_header(&w, p);
    bytes = w.n;
    if (bytes > TNI_SAFE_HEADER_MAX)
        return tni_error(p->b, TN_INVALID, "the names need a header of more than 100 MB");
    if (!tni_add(8 + bytes, data_bytes, &all)) return tni_memory_error(p->b, INT64_MAX);
    w.at = (char *)tni_need(p->b, bytes);
    if (!w.at) return false;
    w.n = 0;
    safe_put_header(&w, p);
    ok = tni_save_begin(p->b, &f, path, all, memory) &&
         tni_save_end(&f, safe_write_all(p, &f, w.at, bytes), memory);
    tni_put(p->b, p->b, w.at, bytes);
    return ok;
}

TN_API bool tn_safetensors_save_at(const char *file, int line, const char *path, const tn_named *at,
                                   int64_t n, const tn_note *notes, int64_t nnotes) {
    tni_saving p = {tni_io_enter(file, line), at, n, notes, nnotes};
    bool ok;
    if (!p.b) return false;
    ok = path ? tni_safetensors_save(&p, path, NULL)
              : tni_error(p.b, TN_INVALID, "the path is NULL");
    tni_io_leave(p.b);
    return ok;
}
