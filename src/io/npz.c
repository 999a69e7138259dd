/* npz.c - NumPy's .npz files, zip archives (PKWARE's APPNOTE) of .npy files, as lists of tensors
 * and back.
 *
 * Read are stored and deflated members, also of zip64; written are stored ones of less than 4 GiB
 * in all. The directory is untrusted: members lie within the file, have together no more bytes than
 * it, and their CRC must be right. */
#include "io.h"

/* The bytes of the fields of each record, their bytes in all, and the places of fields. */
#define ZIP_LOCAL "42222244422"
#define ZIP_ENTRY "42222224442222244"
#define ZIP_END "42222442"
#define ZIP_FIND64 "4484"
#define ZIP_END64 "4822448888"
enum {
    ZIP_LOCAL_BYTES = 30,
    ZIP_ENTRY_BYTES = 46,
    ZIP_END_BYTES = 22,
    ZIP_FIND64_BYTES = 20,
    ZIP_END64_BYTES = 56,
    ZIP_FIELDS = 17
};
enum { LOCAL_NAME = 9, LOCAL_EXTRA };
enum {
    ENTRY_FLAGS = 3,
    ENTRY_METHOD,
    ENTRY_CRC = 7,
    ENTRY_PACKED,
    ENTRY_SIZE,
    ENTRY_NAME,
    ENTRY_EXTRA,
    ENTRY_NOTE,
    ENTRY_AT = 16
};
enum { END_COUNT = 4, END_BYTES, END_AT, FIND64_AT = 2, END64_COUNT = 7 };
/* Signatures, flags, methods. */
enum {
    ZIP_IS_LOCAL = 0x04034b50,
    ZIP_IS_ENTRY = 0x02014b50,
    ZIP_IS_END64 = 0x06064b50,
    ZIP_IS_FIND64 = 0x07064b50,
    ZIP_IS_END = 0x06054b50,
    ZIP_ENCRYPTED = 1,
    ZIP_UTF8 = 0x800,
    ZIP_DEFLATED = 8
};
/* Full fields, which stand for one in a field of zip64; bytes that a byte of deflate can become. */
#define ZIP_FULL16 UINT64_C(0xffff)
#define ZIP_FULL32 UINT64_C(0xffffffff)
enum { ZIP_MOST = 1032 };

/* The CRC-32 of bytes (APPNOTE 4.4.7: the polynomial 0x04C11DB7, reflected). */
static uint32_t zip_crc(const void *at, int64_t bytes) {
    const uint8_t *p = (const uint8_t *)at;
    uint32_t table[256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0u);
    }
    for (int64_t i = 0; i < bytes; i++) crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
    return crc ^ 0xffffffffu;
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct npz_reader {
    tni_block *b;
    const char *path;
    const uint8_t *at;
    int64_t bytes, left;      /* of the file; of it, what no member has taken */
    int64_t next, end, count; /* of the directory: its next entry, its end, its entries */
} npz_reader;

typedef struct npz_member {
    const uint8_t *name, *from;
    int64_t name_bytes, packed, size;
    uint32_t crc;
    bool deflated;
} npz_member;

static bool npz_bad(const npz_reader *z, const char *what) {
    return tni_error(z->b, TN_FORMAT, "'%s' is not a valid .npz file: %s", z->path, what);
}

static bool npz_bad_member(const npz_reader *z, const npz_member *m, const char *what) {
    return tni_error(z->b, TN_FORMAT, "'%s' is not a valid .npz file: its member \"%.*s\" %s",
                     z->path, m->name_bytes < 100 ? (int)m->name_bytes : 100, (const char *)m->name,
                     what);
}

/* The fields of a record, little-endian; whether it begins with this signature. */
static bool npz_fields(const uint8_t *at, const char *widths, uint64_t *v, uint64_t signature) {
    for (int i = 0; widths[i]; i++) {
        const int n = widths[i] - '0';
        v[i] = 0;
        for (int k = n; k-- > 0;) v[i] = v[i] << 8 | at[k];
        at += n;
    }
    return v[0] == signature;
}
/* The same at an offset that the file gave. */
static bool npz_fields_at(const npz_reader *z, uint64_t offset, int64_t bytes, const char *widths,
                          uint64_t *v, uint64_t signature) {
    return z->bytes >= bytes && offset <= (uint64_t)(z->bytes - bytes) &&
           npz_fields(z->at + offset, widths, v, signature);
}

/* Finds the directory: its record stands at the end, before a note of up to 65,535 bytes. */
static bool npz_directory(npz_reader *z) {
    int64_t at = z->bytes - ZIP_END_BYTES;
    const int64_t last = at - (int64_t)ZIP_FULL16;
    uint64_t end[ZIP_FIELDS], wide[ZIP_FIELDS], *v = &end[END_COUNT];
    while (at >= 0 && at >= last && !npz_fields(z->at + at, ZIP_END, end, ZIP_IS_END)) at--;
    if (at < 0 || at < last) return npz_bad(z, "it has no directory at its end");
    if (at >= ZIP_FIND64_BYTES &&
        npz_fields(z->at + at - ZIP_FIND64_BYTES, ZIP_FIND64, wide, ZIP_IS_FIND64)) {
        v = &wide[END64_COUNT];
        if (!npz_fields_at(z, wide[FIND64_AT], ZIP_END64_BYTES, ZIP_END64, wide, ZIP_IS_END64))
            return npz_bad(z, "its directory of zip64 is elsewhere");
    }
    /* Count, bytes, place. */
    if (v[2] > (uint64_t)z->bytes || v[1] > (uint64_t)z->bytes - v[2] ||
        v[0] > v[1] / ZIP_ENTRY_BYTES)
        return npz_bad(z, "its directory is beyond its end");
    z->count = (int64_t)v[0];
    z->next = (int64_t)v[2];
    z->end = (int64_t)(v[2] + v[1]);
    return true;
}

/* Numbers that are full in an entry stand in its field 1, one after the other: size, packed size,
 * place. */
static void npz_wide(const uint8_t *at, int64_t bytes, uint64_t *v) {
    static const uint8_t full[] = {ENTRY_SIZE, ENTRY_PACKED, ENTRY_AT};
    uint64_t field[2], wide[1];
    for (; bytes >= 4; at += field[1], bytes -= (int64_t)field[1]) {
        const uint8_t *p = at + 4;
        const bool here = npz_fields(at, "22", field, 1);
        field[1] += 4;
        if ((int64_t)field[1] > bytes) return;
        for (int i = 0; here && i < 3; i++) {
            if (v[full[i]] != ZIP_FULL32 || at + field[1] - p < 8) continue;
            npz_fields(p, "8", wide, 0);
            v[full[i]] = wide[0];
            p += 8;
        }
    }
}

/* The next entry of the directory, and where the bytes of its member lie: behind a record of their
 * own, which names it again. */
static bool npz_next(npz_reader *z, npz_member *m) {
    uint64_t v[ZIP_FIELDS], local[ZIP_FIELDS], all = ZIP_ENTRY_BYTES, from;
    int64_t most;
    if (z->end - z->next < ZIP_ENTRY_BYTES ||
        !npz_fields(z->at + z->next, ZIP_ENTRY, v, ZIP_IS_ENTRY))
        return npz_bad(z, "its directory is damaged");
    for (int i = ENTRY_NAME; i <= ENTRY_NOTE; i++) all += v[i];
    if (all > (uint64_t)(z->end - z->next)) return npz_bad(z, "its directory is damaged");
    m->name = z->at + z->next + ZIP_ENTRY_BYTES;
    m->name_bytes = (int64_t)v[ENTRY_NAME];
    z->next += (int64_t)all;
    npz_wide(m->name + m->name_bytes, (int64_t)v[ENTRY_EXTRA], v);
    m->crc = (uint32_t)v[ENTRY_CRC];
    m->deflated = v[ENTRY_METHOD] == ZIP_DEFLATED;
    if ((v[ENTRY_FLAGS] & ZIP_ENCRYPTED) || (!m->deflated && v[ENTRY_METHOD]))
        return npz_bad_member(z, m, "is encrypted, or compressed by another method than deflate");
    if (!npz_fields_at(z, v[ENTRY_AT], ZIP_LOCAL_BYTES, ZIP_LOCAL, local, ZIP_IS_LOCAL))
        return npz_bad_member(z, m, "does not begin where the directory says");
    from = v[ENTRY_AT] + ZIP_LOCAL_BYTES + local[LOCAL_NAME] + local[LOCAL_EXTRA];
    if (from > (uint64_t)z->bytes || v[ENTRY_PACKED] > (uint64_t)z->bytes - from)
        return npz_bad_member(z, m, "ends beyond the file");
    m->from = z->at + from;
    m->packed = (int64_t)v[ENTRY_PACKED];
    /* Together members have no more bytes than the file, and memory is asked for by size, which a
     * small file cannot make large. */
    z->left -= m->packed;
    if (z->left < 0) return npz_bad_member(z, m, "overlaps others");
    if (!tni_mul(m->packed, m->deflated ? ZIP_MOST : 1, &most) || v[ENTRY_SIZE] > (uint64_t)most ||
        (!m->deflated && v[ENTRY_SIZE] != v[ENTRY_PACKED]))
        return npz_bad_member(z, m, "has sizes that do not agree");
    m->size = (int64_t)v[ENTRY_SIZE];
    return true;
}

/* A member's tensor; unpacked is room of its size, or NULL if it is stored. */
static tn_tensor *npz_tensor(npz_reader *z, const npz_member *m, uint8_t *unpacked) {
    const uint8_t *data = m->from;
    char name[256];
    tni_file f;
    if (unpacked && !tni_inflate(m->from, m->packed, unpacked, m->size)) {
        npz_bad_member(z, m, "cannot be unpacked");
        return NULL;
    }
    if (unpacked) data = unpacked;
    if (zip_crc(data, m->size) != m->crc) {
        npz_bad_member(z, m, "has another CRC");
        return NULL;
    }
    /* As a path in messages. */
    snprintf(name, sizeof name, "%.100s/%.*s", z->path,
             m->name_bytes < 100 ? (int)m->name_bytes : 100, (const char *)m->name);
    tni_file_over(z->b, &f, name, (void *)(uintptr_t)data, m->size);
    return tni_npy_read(&f);
}
static tn_tensor *npz_read(npz_reader *z, const npz_member *m) {
    uint8_t *unpacked = NULL;
    tn_tensor *t;
    if (m->deflated && !(unpacked = (uint8_t *)tni_need(z->b, m->size + 1))) return NULL;
    t = npz_tensor(z, m, unpacked);
    if (unpacked) tni_put(z->b, z->b, unpacked, m->size + 1);
    return t;
}

/* All members, without the ".npy" of their names; n = -1 with an error. */
static void npz_all(npz_reader *z, tn_named_list *list) {
    npz_member m = {NULL, NULL, 0, 0, 0, 0, false};
    char *names;
    /* The names are shorter than the directory. */
    if (!npz_directory(z) || !tni_named_begin(list, z->count, z->end - z->next, &names)) return;
    while (list->n < z->count) {
        tn_tensor *t = npz_next(z, &m) ? npz_read(z, &m) : NULL;
        const char *name = names;
        int64_t n = m.name_bytes;
        if (n >= 4 && memcmp(m.name + n - 4, ".npy", 4) == 0) n -= 4;
        if (!tni_named_add(list, &names, m.name, n, t)) return;
        if ((int64_t)strlen(name) == n && tni_text_fits(name)) continue;
        npz_bad(z, "a member's name is not UTF-8");
        tni_named_add(list, &names, NULL, 0, NULL);
        return;
    }
}

/* A file, or memory if path is NULL. The whole file is read first, for its directory is at its end,
 * and tn_files have no seek. */
static void npz_load(tni_block *b, const char *path, const void *data, size_t bytes,
                     tn_named_list *list) {
    tni_memory memory;
    char *whole = NULL;
    npz_reader z;
    memset(&z, 0, sizeof z);
    if (path) {
        memory.at = whole = tni_file_whole(b, path, &memory.bytes);
        if (!whole) return;
    } else if (!tni_memory_of(b, &memory, data, bytes)) {
        return;
    }
    z.b = b;
    z.path = path ? path : TNI_MEMORY_NAME;
    z.at = (const uint8_t *)memory.at;
    z.bytes = z.left = memory.bytes;
    npz_all(&z, list);
    if (whole) tni_put(b, b, whole, memory.bytes + 1);
}

static tn_named_list npz_loaded(tni_block *b, const char *path, const void *data, size_t bytes) {
    tn_named_list list = {NULL, -1, 0, true};
    if (!b) return list;
    npz_load(b, path, data, bytes, &list);
    tni_io_leave(b);
    return list;
}

TN_API tn_named_list tn_load_npz_at(const char *file, int line, const char *path) {
    return npz_loaded(tni_io_enter(file, line), path ? path : "", NULL, 0);
}
TN_API tn_named_list tn_load_npz_memory_at(const char *file, int line, const void *data,
                                           size_t bytes) {
    return npz_loaded(tni_io_enter(file, line), NULL, data, bytes);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What is saved, and what the directory says of each: bytes and place in the file. */
typedef struct npz_entry {
    int64_t bytes, at;
    uint32_t crc;
} npz_entry;
typedef struct npz_writer {
    tni_saving s;
    npz_entry *entry;
    int64_t all;
} npz_writer;

static bool npz_put(tni_file *f, const char *widths, const uint64_t *v) {
    uint8_t record[ZIP_ENTRY_BYTES];
    int n = 0;
    for (int i = 0; widths[i]; i++)
        for (int k = 0; k < widths[i] - '0'; k++) record[n++] = (uint8_t)(v[i] >> 8 * k);
    return tni_file_write(f, record, n);
}

/* The record of member i, with its name: local, before its data, or in the directory. */
static bool npz_put_member(const npz_writer *w, tni_file *f, int64_t i, bool local) {
    const char *name = w->s.at[i].name;
    const npz_entry *e = &w->entry[i];
    const int64_t length = (int64_t)strlen(name);
    const uint64_t size = (uint64_t)e->bytes, named = (uint64_t)length + 4;
    /* Version 2.0 of the format; 33: 1 January 1980. A local record is the same without its first
     * two fields and its last ones. */
    uint64_t v[] = {ZIP_IS_ENTRY, 20,    20, ZIP_UTF8, 0, 0, 33, e->crc,         size,
                    size,         named, 0,  0,        0, 0, 0,  (uint64_t)e->at};
    if (local) v[1] = ZIP_IS_LOCAL;
    return npz_put(f, local ? ZIP_LOCAL : ZIP_ENTRY, local ? v + 1 : v) &&
           tni_file_write(f, name, length) && tni_file_write(f, ".npy", 4);
}

/* Member i: its CRC stands before its data, so they are made in memory first. */
static bool npz_write_member(npz_writer *w, tni_file *f, int64_t i) {
    npz_entry *e = &w->entry[i];
    void *data = tni_need(w->s.b, e->bytes);
    tni_file over;
    bool ok;
    if (!data) return false;
    e->at = f->at;
    tni_file_over(w->s.b, &over, TNI_MEMORY_NAME, data, e->bytes);
    ok = tni_npy_write(&over, w->s.at[i].tensor);
    if (ok) e->crc = zip_crc(data, e->bytes);
    ok = ok && npz_put_member(w, f, i, true) && tni_file_write(f, data, e->bytes);
    tni_put(w->s.b, w->s.b, data, e->bytes);
    return ok;
}

static bool npz_write(npz_writer *w, tni_file *f) {
    const uint64_t n = (uint64_t)w->s.n;
    bool ok = true;
    int64_t from;
    for (int64_t i = 0; ok && i < w->s.n; i++) ok = npz_write_member(w, f, i);
    from = f->at;
    for (int64_t i = 0; ok && i < w->s.n; i++) ok = npz_put_member(w, f, i, false);
    const uint64_t end[] = {ZIP_IS_END, 0, 0, n, n, (uint64_t)(f->at - from), (uint64_t)from, 0};
    return ok && npz_put(f, ZIP_END, end);
}

/* Refuses what cannot be saved, before a file is made; the length of each member and of all. */
static bool npz_check(npz_writer *w) {
    tni_block *b = w->s.b;
    w->all = ZIP_END_BYTES;
    for (int64_t i = 0; i < w->s.n; i++) {
        const char *name = w->s.at[i].name;
        int64_t bytes;
        if (!tni_text_fits(name) || strlen(name) + 4 > ZIP_FULL16)
            return tni_error(
                b, TN_INVALID,
                "the name of tensor %lld is NULL, not UTF-8, or longer than 65531 bytes",
                (long long)i);
        bytes = w->entry[i].bytes = tni_npy_bytes(b, w->s.at[i].tensor, name);
        if (bytes < 0) return false;
        bytes += ZIP_LOCAL_BYTES + ZIP_ENTRY_BYTES + 2 * ((int64_t)strlen(name) + 4);
        if (!tni_add(w->all, bytes, &w->all)) w->all = INT64_MAX;
        if (w->all >= (int64_t)ZIP_FULL32)
            return tni_error(b, TN_UNSUPPORTED, "a .npz file of 4 GiB or more is not written");
    }
    return tni_names_differ(&w->s);
}

/* Into a file, or into new memory if that is not NULL. */
static bool npz_save(npz_writer *w, const char *path, tn_bytes *memory) {
    tni_block *b = w->s.b;
    bool ok = false;
    int64_t bytes;
    tni_file f;
    if (w->s.n < 0 || w->s.n >= (int64_t)ZIP_FULL16 || (w->s.n && !w->s.at))
        return tni_error(b, TN_INVALID, "expected a list of up to 65534 tensors");
    bytes = (w->s.n + 1) * (int64_t)sizeof *w->entry;
    w->entry = (npz_entry *)tni_need(b, bytes);
    if (!w->entry) return false;
    if (npz_check(w))
        ok = tni_save_begin(b, &f, path, w->all, memory) &&
             tni_save_end(&f, npz_write(w, &f), memory);
    tni_put(b, b, w->entry, bytes);
    return ok;
}

static bool npz_saved(const char *file, int line, const char *path, const tn_named *at, int64_t n,
                      tn_bytes *memory) {
    npz_writer w = {{tni_io_enter(file, line), at, n, NULL, 0}, NULL, 0};
    bool ok;
    if (!w.s.b) return false;
    ok = npz_save(&w, path, memory);
    tni_io_leave(w.s.b);
    return ok;
}
TN_API bool tn_save_npz_at(const char *file, int line, const char *path, const tn_named *at,
                           int64_t n) {
    return npz_saved(file, line, path, at, n, NULL);
}
TN_API tn_bytes tn_save_npz_memory_at(const char *file, int line, const tn_named *at, int64_t n) {
    tn_bytes bytes = {NULL, 0};
    npz_saved(file, line, NULL, at, n, &bytes);
    return bytes;
}
