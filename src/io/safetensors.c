/* safetensors.c - reading the safetensors format (huggingface/safetensors, format.md): 8 bytes
 * length, a JSON header, the tensors' bytes, little-endian, without gaps.
 *
 * The header is untrusted: every length is checked against the file before memory is asked for;
 * names are unique UTF-8, offsets cover the data exactly, without overlap. The reader accepts what
 * the format's own library does. */
#include "json.h"

enum { SAFE_FREE_TENSORS = 65536 }; /* a file may have so many whatever data it has */

/* The dtype that the format calls so; TN_NO_DTYPE: none here. A dtype that the format lacks has ""
 * as its name there, which names nothing. */
static int safe_dtype_named(const char *name) {
    for (int d = 1; d < TN_DTYPE_COUNT; d++)
        if (*name && !strcmp(tni_dtype_safetensors(d), name)) return d;
    return TN_NO_DTYPE;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* What the header says of a tensor. offset: first byte and end in the data, behind the header. */
typedef struct safe_info {
    int dtype, ndim;
    int64_t size[TN_MAX_DIMS], offset[2], numel;
} safe_info;

/* {"dtype": .., "shape": [..], "data_offsets": [..]}, in any order, each once. `again`: it was read
 * before, so its strings are decoded. */
static bool safe_read_info(tni_json *c, safe_info *info, bool again) {
    int seen = 0;
    if (!tni_json_sign(c, '{')) return false;
    do {
        char *key = NULL, *name = NULL;
        int k;
        /* Keys and dtype names are strings, decoded by the first reading. */
        if (again)
            key = tni_json_decoded(c);
        else if (!tni_json_string(c, &key))
            return false;
        /* A bit for each key; `seen` refuses a key that comes twice or is missing. */
        k = strcmp(key, "dtype") == 0          ? 1
            : strcmp(key, "shape") == 0        ? 2
            : strcmp(key, "data_offsets") == 0 ? 4
                                               : 0;
        if (!k || (seen & k) || !tni_json_sign(c, ':')) return false;
        seen |= k;
        /* The value that belongs to the key. */
        if (k == 1) {
            if (again)
                name = tni_json_decoded(c);
            else if (!tni_json_string(c, &name))
                return false;
            info->dtype = safe_dtype_named(name);
        } else if (k == 2) {
            if ((info->ndim = tni_json_naturals(c, info->size, TN_MAX_DIMS)) < 0) return false;
        } else if (tni_json_naturals(c, info->offset, 2) != 2) {
            return false;
        }
    } while (tni_json_sign(c, ','));
    return seen == 7 && tni_json_sign(c, '}');
}

/* Whether dtype, shape and offsets agree with each other and with the data. Every product is
 * checked, since the numbers come from the file. */
static bool safe_info_fits(const safe_info *info, int64_t data_bytes) {
    int64_t numel, bytes;
    return info->dtype != TN_NO_DTYPE && tni_numel_of(info->ndim, info->size, &numel) &&
           tni_bytes(numel, tni_dtype(info->dtype)->bytes, &bytes) &&
           info->offset[0] <= info->offset[1] && info->offset[1] <= data_bytes &&
           info->offset[1] - info->offset[0] == bytes;
}

/* --- the open file ---------------------------------------------------------------------------- */

struct tn_safetensors {
    tni_block *owner;
    tni_file file; /* fd -1: not open now */
    char *path;
    tni_memory memory; /* the caller's, instead of a file, if memory.at is set */
    char *header;
    int64_t header_bytes, data_bytes, path_bytes;
    uint64_t hash;  /* of the header as it was read */
    int64_t *entry; /* offsets of the names in the header, in the order of the data */
    int64_t n, room;
    int64_t notes; /* offset behind the "{" of __metadata__; 0: none */
};

enum { SAFE_LENGTH = 8 }; /* bytes of the header's length, which the header follows */

static bool safe_bad(const tn_safetensors *f, int64_t at, const char *what) {
    return tni_error(f->owner, TN_FORMAT, "'%s' is not a valid safetensors file: %s, at byte %lld",
                     f->path, what, (long long)at);
}
/* The same at a place in the header, and at an offset of the data. */
static bool safe_bad_header(const tn_safetensors *f, const char *at, const char *what) {
    return safe_bad(f, SAFE_LENGTH + (at - f->header), what);
}
static bool safe_bad_data(const tn_safetensors *f, int64_t at, const char *what) {
    return safe_bad(f, SAFE_LENGTH + f->header_bytes + at, what);
}
static bool safe_changed(const tn_safetensors *f) {
    return tni_error(f->owner, TN_FORMAT, "'%s' has changed since it was opened", f->path);
}

/* FNV-1a, to notice that a file was replaced; safe_seek computes the same in pieces. */
static uint64_t safe_hash(const char *at, int64_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < n; i++) h = (h ^ (unsigned char)at[i]) * 0x100000001b3u;
    return h;
}

/* A reader at an offset of the header. */
static tni_json safe_at(const tn_safetensors *f, int64_t offset) {
    tni_json c = {f->header + offset, f->header + f->header_bytes};
    return c;
}

/* The description behind the name of entry i. The header was checked as a whole, so reading it
 * again cannot fail. */
static void safe_entry(const tn_safetensors *f, int64_t i, safe_info *info) {
    tni_json c = safe_at(f, f->entry[i]);
    /* From the name over the NULs behind it to the colon. */
    while (*c.at) c.at++;
    tni_json_sign(&c, ':');
    safe_read_info(&c, info, true);
    tni_numel_of(info->ndim, info->size, &info->numel);
}

/* Notes a tensor's name. The count is bounded by the data, so that a short file cannot ask for much
 * memory: beyond a floor, 8 bytes of data for a tensor. */
static bool safe_add_entry(tn_safetensors *f, int64_t offset) {
    if (f->n >= SAFE_FREE_TENSORS && f->n >= f->data_bytes / 8)
        return safe_bad_header(f, f->header + offset, "more tensors than data");
    /* Offsets are kept, not pointers or parsed descriptions: 8 bytes a tensor. */
    if (f->n == f->room) {
        int64_t room = f->room ? 2 * f->room : 32;
        int64_t *entry = (int64_t *)tni_need(f->owner, room * (int64_t)sizeof *entry);
        if (!entry) return false;
        if (f->n) memcpy(entry, f->entry, (size_t)f->n * sizeof *entry);
        if (f->entry) tni_put(f->owner, f->owner, f->entry, f->room * (int64_t)sizeof *entry);
        f->entry = entry;
        f->room = room;
    }
    f->entry[f->n++] = offset;
    return true;
}

/* {"key": "value", ..}: only checked here; tn_safetensors_note looks a key up in the text. */
static bool safe_read_notes(tn_safetensors *f, tni_json *c) {
    char *text;
    if (f->notes || !tni_json_sign(c, '{')) return false;
    f->notes = c->at - f->header;
    if (tni_json_sign(c, '}')) return true;
    do
        if (!tni_json_string(c, &text) || !tni_json_sign(c, ':') || !tni_json_string(c, &text))
            return false;
    while (tni_json_sign(c, ','));
    return tni_json_sign(c, '}');
}

/* Reads the header whole: checks each description and notes where the names are. */
static bool safe_read_header(tn_safetensors *f) {
    tni_json c = safe_at(f, 0);
    safe_info info;
    char *name;
    if (c.at == c.end || *c.at != '{')
        return safe_bad_header(f, c.at, "the header does not begin with {");
    /* Decoded strings end in NULs, so the text itself must not have one. */
    name = (char *)memchr(c.at, 0, (size_t)f->header_bytes);
    if (name) return safe_bad_header(f, name, "the header contains a NUL");
    c.at++;
    if (!tni_json_sign(&c, '}')) {
        do {
            if (!tni_json_string(&c, &name) || !tni_json_sign(&c, ':'))
                return safe_bad_header(f, c.at, "expected a name");
            if (strcmp(name, "__metadata__") == 0) {
                if (!safe_read_notes(f, &c))
                    return safe_bad_header(f, c.at, "malformed __metadata__");
                continue;
            }
            if (!safe_read_info(&c, &info, false))
                return safe_bad_header(f, c.at, "the description of a tensor is malformed");
            if (!safe_info_fits(&info, f->data_bytes))
                return safe_bad_header(f, name,
                                       "the dtype, shape and offsets of a tensor do not agree");
            if (!safe_add_entry(f, name - f->header)) return false;
        } while (tni_json_sign(&c, ','));
        if (!tni_json_sign(&c, '}'))
            return safe_bad_header(f, c.at, "expected } at the end of the header");
    }
    /* Writers fill the header up with spaces, so that the data is aligned. */
    while (c.at < c.end && (*c.at == ' ' || *c.at == 0)) c.at++;
    return c.at == c.end || safe_bad_header(f, c.at, "unexpected text after the header's }");
}

/* Sorts n entries by `less` in place: heapsort (Williams, CACM 7, 1964, algorithm 232), as qsort
 * takes no context and may allocate. An entry is the offset of its name in the header. */
typedef bool (*safe_less)(const tn_safetensors *f, int64_t a, int64_t b);
/* Lets v[i] sink until none of its children is larger. */
static void safe_sift(const tn_safetensors *f, int64_t *v, int64_t i, int64_t n, safe_less less) {
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        int64_t t;
        if (child + 1 < n && less(f, v[child], v[child + 1])) child++;
        if (!less(f, v[i], v[child])) return;
        t = v[i];
        v[i] = v[child];
        v[child] = t;
    }
}
/* A heap first, then the largest to the end, again and again. */
static void safe_sort(const tn_safetensors *f, int64_t *v, int64_t n, safe_less less) {
    for (int64_t i = n; i-- > 0;) safe_sift(f, v, i, n, less);
    for (int64_t k = n; k-- > 1;) {
        int64_t t = v[0];
        v[0] = v[k];
        v[k] = t;
        safe_sift(f, v, 0, k, less);
    }
}
static bool safe_less_name(const tn_safetensors *f, int64_t a, int64_t b) {
    return strcmp(f->header + a, f->header + b) < 0;
}
/* The offsets of an entry, read anew: comparing takes time but no memory for each tensor. */
static void safe_offsets_at(const tn_safetensors *f, int64_t entry, int64_t offset[2]) {
    tn_safetensors one = *f;
    safe_info info;
    one.entry = &entry;
    safe_entry(&one, 0, &info);
    offset[0] = info.offset[0];
    offset[1] = info.offset[1];
}
/* By first byte; an empty tensor before its neighbour at the same byte; else as in the header. */
static bool safe_less_offset(const tn_safetensors *f, int64_t a, int64_t b) {
    int64_t x[2], y[2];
    safe_offsets_at(f, a, x);
    safe_offsets_at(f, b, y);
    return x[0] != y[0] ? x[0] < y[0] : x[1] != y[1] ? x[1] < y[1] : a < b;
}

/* What holds for all tensors together: names differ, and the data is covered without gap or
 * overlap. Leaves the entries in the order of the data. */
static bool safe_check_entries(tn_safetensors *f) {
    int64_t end = 0, offset[2];
    bool sorted = true;
    safe_sort(f, f->entry, f->n, safe_less_name);
    for (int64_t i = 1; i < f->n; i++)
        if (strcmp(f->header + f->entry[i - 1], f->header + f->entry[i]) == 0)
            return safe_bad_header(f, f->header + f->entry[i], "a name appears twice");
    /* Usually the names' order is not the data's; a file whose order agrees is not sorted again. */
    for (int64_t i = 1; i < f->n && sorted; i++)
        sorted = safe_less_offset(f, f->entry[i - 1], f->entry[i]);
    if (!sorted) safe_sort(f, f->entry, f->n, safe_less_offset);
    for (int64_t i = 0; i < f->n; i++, end = offset[1]) {
        safe_offsets_at(f, f->entry[i], offset);
        if (offset[0] != end)
            return safe_bad_data(f, offset[0] < end ? offset[0] : end,
                                 offset[0] < end ? "tensors overlap" : "the data has a gap");
    }
    return end == f->data_bytes ||
           safe_bad_data(f, end, "the data is shorter or longer than the tensors");
}

/* Opens the file and reads its first bytes, the length of the header, little-endian. */
static bool safe_begin(tn_safetensors *f, int64_t *header_bytes) {
    uint8_t head[SAFE_LENGTH];
    uint64_t n = 0;
    if (f->memory.at)
        tni_file_over(f->owner, &f->file, f->path, f->memory.at, f->memory.bytes);
    else if (!tni_file_open(f->owner, &f->file, f->path))
        return false;
    if (f->file.size < SAFE_LENGTH) return safe_bad(f, f->file.size, "it is shorter than 8 bytes");
    if (!tni_file_read(&f->file, head, SAFE_LENGTH)) return false;
    for (int i = SAFE_LENGTH - 1; i >= 0; i--) n = n << 8 | head[i];
    if (n > TNI_SAFE_HEADER_MAX || (int64_t)n > f->file.size - SAFE_LENGTH)
        return safe_bad(f, 0, "the header's length exceeds the file or 100 MB");
    *header_bytes = (int64_t)n;
    return true;
}

/* The header, with a NUL behind it, in memory; its length has been checked against the file. */
static bool safe_load_header(tn_safetensors *f) {
    int64_t bytes;
    if (!safe_begin(f, &bytes)) return false;
    if (bytes == 0) return safe_bad(f, SAFE_LENGTH, "the header is empty");
    f->header = (char *)tni_need(f->owner, bytes + 1);
    if (!f->header) return false;
    f->header_bytes = bytes;
    f->data_bytes = f->file.size - SAFE_LENGTH - bytes;
    if (!tni_file_read(&f->file, f->header, bytes)) return false;
    f->header[bytes] = 0;
    f->hash = safe_hash(f->header, bytes);
    return safe_read_header(f) && safe_check_entries(f);
}

/* Also of a file that was opened in part. */
static void safe_close(tn_safetensors *f) {
    tni_block *b = f->owner;
    tni_file_close(&f->file);
    if (f->header) tni_put(b, b, f->header, f->header_bytes + 1);
    if (f->entry) tni_put(b, b, f->entry, f->room * (int64_t)sizeof *f->entry);
    if (f->path) tni_put(b, b, f->path, f->path_bytes);
    tni_put(b, b, f, (int64_t)sizeof *f);
}

TN_PRIV tn_safetensors *tni_safetensors_open(tni_block *b, const char *path,
                                             const tni_memory *memory) {
    tn_safetensors *f;
    if (!path) {
        tni_error(b, TN_INVALID, "the path is NULL");
        return NULL;
    }
    f = (tn_safetensors *)tni_need(b, (int64_t)sizeof *f);
    if (!f) return NULL;
    memset(f, 0, sizeof *f);
    f->owner = b;
    f->file.b = b;
    /* safe_close may be called from here on. */
    f->file.fd = -1;
    if (memory) f->memory = *memory;
    /* The path is kept for messages, and to open the file again. */
    f->path_bytes = (int64_t)strlen(path) + 1;
    f->path = (char *)tni_need(b, f->path_bytes);
    if (f->path) {
        memcpy(f->path, path, (size_t)f->path_bytes);
        if (safe_load_header(f)) return f;
    }
    safe_close(f);
    return NULL;
}

TN_API tn_safetensors *tn_safetensors_open_at(const char *file, int line, const char *path) {
    tni_block *b = tni_io_enter(file, line);
    tn_safetensors *f = b ? tni_safetensors_open(b, path, NULL) : NULL;
    if (b) tni_io_leave(b);
    return f;
}
TN_API tn_safetensors *tn_safetensors_open_memory_at(const char *file, int line, const void *data,
                                                     size_t bytes) {
    tni_block *b = tni_io_enter(file, line);
    tn_safetensors *f = NULL;
    tni_memory memory;
    if (!b) return NULL;
    if (tni_memory_of(b, &memory, data, bytes))
        f = tni_safetensors_open(b, TNI_MEMORY_NAME, &memory);
    tni_io_leave(b);
    return f;
}
TN_API void tn_safetensors_close(tn_safetensors *f) {
    if (f) safe_close(f);
}
TN_API int64_t tn_safetensors_count(const tn_safetensors *f) { return f ? f->n : 0; }
TN_API const char *tn_safetensors_name(const tn_safetensors *f, int64_t i) {
    return f && i >= 0 && i < f->n ? f->header + f->entry[i] : NULL;
}

TN_API const char *tn_safetensors_note(const tn_safetensors *f, const char *key) {
    tni_json c;
    if (!f || !key || !f->notes) return NULL;
    c = safe_at(f, f->notes);
    if (tni_json_sign(&c, '}')) return NULL;
    /* Strings were decoded when the header was read. */
    do {
        const char *k = tni_json_decoded(&c), *value;
        tni_json_sign(&c, ':');
        value = tni_json_decoded(&c);
        if (strcmp(k, key) == 0) return value;
    } while (tni_json_sign(&c, ','));
    return NULL;
}

/* --- data ------------------------------------------------------------------------------------- */

/* Moves the file to offset `at` of the data; files are read forward only, so going back opens it
 * anew and checks that it is still the same. */
static bool safe_seek(tn_safetensors *f, int64_t at) {
    int64_t target = SAFE_LENGTH + f->header_bytes + at, bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    char chunk[TNI_SAFE_CHUNK];
    /* Reading in the order of the data never goes back. */
    if (f->file.fd >= 0 && f->file.at <= target)
        return tni_file_skip(&f->file, target - f->file.at);
    if (f->file.memory) {
        f->file.at = target;
        return true;
    }
    tni_file_close(&f->file);
    if (!safe_begin(f, &bytes)) return false;
    if (bytes != f->header_bytes || f->file.size != SAFE_LENGTH + bytes + f->data_bytes)
        return safe_changed(f);
    /* The header again, only for its hash. */
    for (int64_t left = bytes; left > 0;) {
        int64_t n = left < (int64_t)sizeof chunk ? left : (int64_t)sizeof chunk;
        if (!tni_file_read(&f->file, chunk, n)) return false;
        for (int64_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)chunk[i]) * 0x100000001b3u;
        left -= n;
    }
    return hash == f->hash ? tni_file_skip(&f->file, at) : safe_changed(f);
}

/* A new tensor of the bytes of an entry. */
static tn_tensor *safe_read_new(tn_safetensors *f, const safe_info *info) {
    const int64_t bytes = info->offset[1] - info->offset[0];
    tn_tensor *t = tni_new(f->owner, info->dtype, info->ndim, info->size);
    int64_t each;
    if (!t) return NULL;
    /* An empty tensor has no place in the data. */
    if (bytes &&
        !(safe_seek(f, info->offset[0]) && tni_file_read(&f->file, t->storage->data, bytes))) {
        tni_drop(f->owner, t);
        return NULL;
    }
    /* The units of byte order: the numbers of a complex element are separate. */
    each = info->dtype == TN_C64 ? 4 : tni_dtype(info->dtype)->bytes;
    if (!tni_host_is_little() && bytes) tni_swap_bytes(t->storage->data, bytes / each, each);
    return t;
}

TN_PRIV tn_tensor *tni_safetensors_read(tn_safetensors *f, int64_t i) {
    safe_info info;
    tn_tensor *t;
    int64_t bytes;
    char *at = NULL;
    safe_entry(f, i, &info);
    bytes = info.offset[1] - info.offset[0];
    if (f->memory.lender && bytes)
        at = f->memory.at + SAFE_LENGTH + f->header_bytes + info.offset[0];
    if (at && tni_may_lend(at, info.dtype))
        t = tni_lend(f->memory.lender, at, info.dtype, info.ndim, info.size);
    else
        t = safe_read_new(f, &info);
    if (!t || info.dtype != TN_BOOL || tni_bools_fit(t->storage->data, bytes)) return t;
    safe_bad_data(f, info.offset[0], "a BOOL tensor contains bytes other than 0 and 1");
    tni_drop(f->owner, t);
    return NULL;
}

/* The handle belongs to the thread that opened it. */
static bool safe_here(tn_safetensors *f, tni_block *b) {
    return f->owner == b ||
           tni_error(b, TN_INVALID,
                     "an open safetensors file belongs to the thread that opened it");
}

TN_API tn_tensor *tn_safetensors_get_at(const char *file, int line, tn_safetensors *f,
                                        const char *name) {
    tni_block *b = tni_io_enter(file, line);
    tn_tensor *t = NULL;
    int64_t i = 0;
    if (!b) return NULL;
    if (!f || !name) {
        tni_error(b, TN_INVALID, "the file or the name is NULL");
    } else if (safe_here(f, b)) {
        /* One by one, in the order of the data: reading dwarfs the search. */
        while (i < f->n && strcmp(f->header + f->entry[i], name) != 0) i++;
        if (i < f->n)
            t = tni_safetensors_read(f, i);
        else
            tni_error(b, TN_INVALID, "'%s' has no tensor \"%s\"", f->path, name);
    }
    tni_io_leave(b);
    return t;
}

/* All tensors, owned by the list; n = -1 with an error. */
static void safe_load(tn_safetensors *f, tn_named_list *list) {
    int64_t bytes = 0;
    char *names;
    for (int64_t i = 0; i < f->n; i++) bytes += (int64_t)strlen(f->header + f->entry[i]) + 1;
    if (!tni_named_begin(list, f->n, bytes, &names)) return;
    for (int64_t i = 0; i < f->n; i++) {
        const char *name = f->header + f->entry[i];
        if (!tni_named_add(list, &names, name, (int64_t)strlen(name), tni_safetensors_read(f, i)))
            return;
    }
}

TN_PRIV tn_named_list tni_safetensors_load(tni_block *b, const char *path,
                                           const tni_memory *memory) {
    tn_named_list list = {NULL, -1, 0, true};
    tn_safetensors *f = tni_safetensors_open(b, path, memory);
    if (f) {
        safe_load(f, &list);
        safe_close(f);
    }
    return list;
}

TN_API tn_named_list tn_safetensors_load_at(const char *file, int line, const char *path) {
    tn_named_list list = {NULL, -1, 0, true};
    tni_block *b = tni_io_enter(file, line);
    if (!b) return list;
    list = tni_safetensors_load(b, path, NULL);
    tni_io_leave(b);
    return list;
}
