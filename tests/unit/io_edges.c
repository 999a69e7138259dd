/* io_edges.c - the edges of src/io: strings and escapes of headers, files that change while
 * they are open, every file operation failing in turn, lists and notes that make no sense. */
#define _XOPEN_SOURCE 700
#include "../../src/api/io.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static void write_bytes(const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n);
    if (f) fclose(f);
}
/* A safetensors file of this header and so many zero bytes of data. */
static void write_file(const char *header, size_t data) {
    size_t n = strlen(header);
    char *all = (char *)calloc(1, 8 + n + data);
    for (int i = 0; i < 8; i++) all[i] = (char)((uint64_t)n >> 8 * i);
    memcpy(all + 8, header, n);
    write_bytes(all, 8 + n + data);
    free(all);
}
static tn_safetensors *opened(const char *header, size_t data) {
    write_file(header, data);
    return tn_safetensors_open(path);
}
static tn_named named(const char *name, tn_tensor *t) {
    tn_named one;
    one.name = name, one.tensor = t;
    return one;
}
static bool save(const tn_named *at, int64_t n, const tn_note *notes, int64_t nnotes) {
    return tn_safetensors_save_at(__FILE__, __LINE__, path, at, n, notes, nnotes);
}

/* --- headers ---------------------------------------------------------------------------------- */

#define TENSOR "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}"

static void names_are_json_strings(void) {
    static const char *const names[][2] = {{"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
                                           {"\\uD83D\\uDE00", "\xf0\x9f\x98\x80"},
                                           {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
                                           {"\\uabcd", "\xea\xaf\x8d"},
                                           {"\xc3\xa9", "\xc3\xa9"},
                                           {"", ""}};
    static const char *const bad[] = {
        "\\ud800", "\\ud800\\u0041", "\\udc00",       "\\u12",          "\\q",
        "\\u12G4", "\\ud83d\\u12",   "\\ud83dxxxxxx", "\\ud83d\\n0000", "\\ud83d\\uffff",
        "\\u0000", "\x01",           "\xff",          "\\ud83d\\u12G4"};
    char header[300];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(header, sizeof header, "{ \t\r\n\"%s" TENSOR "\t\r}  ", names[i][0]);
        tn_safetensors *f = opened(header, 1);
        if (CHECK(f != NULL)) CHECK_TEXT(tn_safetensors_name(f, 0), names[i][1]);
        tn_safetensors_close(f);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(header, sizeof header, "{\"%s" TENSOR "}", bad[i]);
        if (!CHECK(!opened(header, 1))) printf("    %s\n", bad[i]);
        says(TN_FORMAT, "expected a name", __LINE__);
    }
}
static void headers_that_end_early_are_refused(void) {
    static const char header[] =
        "{\"__metadata__\":{\"a\":\"b\"},\"\\ud83d\\ude00\":{\"dtype\":\"U8\",\"shape\":[1],"
        "\"data_offsets\":[0,1]}}";
    char cut[sizeof header];
    for (size_t n = 0; n < sizeof header - 1; n++) {
        memcpy(cut, header, n), cut[n] = 0;
        CHECK(!opened(cut, 1) && tn_error_take(NULL));
    }
    REFUSED(opened(" {}", 0), TN_FORMAT, "the header does not begin with {");
    REFUSED(opened("{} x", 0), TN_FORMAT, "unexpected text after the header's }");
    REFUSED(opened("{}", 1), TN_FORMAT, "the data is shorter or longer than the tensors");
    REFUSED(opened("{\"__metadata__\":{},\"__metadata__\":{}}", 0), TN_FORMAT, "malformed __meta");
    REFUSED(opened("{\"a\":{\"dtype\":\"U8\",\"shape\":[4611686018427387904,4],"
                   "\"data_offsets\":[0,0]}}",
                   0),
            TN_FORMAT, "do not agree");
    REFUSED(opened("{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],"
                   "\"data_offsets\":[0,0]}}",
                   0),
            TN_FORMAT, "do not agree");
    REFUSED(opened("{\"a\":{\"dtype\":\"X9\",\"shape\":[],\"data_offsets\":[0,0]}}", 0), TN_FORMAT,
            "do not agree");
    REFUSED(tn_safetensors_open(NULL), TN_INVALID, "the path is NULL");
}
static void a_million_tensors_need_data(void) {
    size_t room = 200000 * 70, at = 0;
    char *header = (char *)malloc(room);
    header[at++] = '{';
    for (int i = 0; i < 150000; i++)
        at += (size_t)snprintf(header + at, room - at,
                               "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
                               i ? "," : "", i);
    snprintf(header + at, room - at, "}");
    REFUSED(opened(header, 0), TN_FORMAT, "more tensors than data");
    free(header);
}
/* 65536 tensors whatever data there are, more with 8 bytes for each. */
static void a_tensor_beyond_the_65536th_needs_data(void) {
    size_t room = 65540 * 90, at;
    char *header = (char *)malloc(room);
    for (int k = 0; k < 4; k++) {
        int n = 65536 + (k > 0), data = k == 2 ? 65537 * 8 : k == 3 ? 65537 * 8 - 1 : 0;
        at = (size_t)snprintf(header, room,
                              "{\"t\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]}",
                              data, data);
        for (int i = 1; i < n; i++)
            at += (size_t)snprintf(
                header + at, room - at,
                ",\"t%05d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[%d,%d]}", i, data,
                data);
        snprintf(header + at, room - at, "}");
        tn_safetensors *f = opened(header, (size_t)data);
        CHECK_EQ(tn_safetensors_count(f), k % 2 ? 0 : n);
        if (k % 2) says(TN_FORMAT, "more tensors than data", __LINE__);
        tn_safetensors_close(f);
    }
    free(header);
}
static int64_t taken; /* bytes */
static int null_open(const char *name, int flags, int mode, void *user) {
    (void)name, (void)flags, (void)mode, (void)user;
    return 5;
}
static int64_t null_write(int fd, const void *from, size_t n, void *user) {
    (void)fd, (void)from, (void)user;
    return taken += (int64_t)n, (int64_t)n;
}
static int null_done(int fd, void *user) { return (void)fd, (void)user, 0; }
static int null_rename(const char *from, const char *to, void *user) {
    return (void)from, (void)to, (void)user, 0;
}
static void a_header_has_at_most_100_megabytes(void) {
    const int64_t most = 100000000;
    for (int64_t n = most - 1; n < most + 2; n++) { /* its second byte is none of a header */
        unsigned char head[10] = {0, 0, 0, 0, 0, 0, 0, 0, '{', 0};
        for (int i = 0; i < 8; i++) head[i] = (unsigned char)(n >> 8 * i);
        write_bytes(head, sizeof head);
        CHECK(truncate(path, 8 + n) == 0);
        REFUSED(tn_safetensors_open(path), TN_FORMAT,
                n > most ? "the header's length exceeds the file or 100 MB"
                         : "the header contains a NUL");
    }
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.files.open = null_open, o.files.write = null_write, o.files.sync = null_done;
    o.files.close = null_done, o.files.rename = null_rename;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    int64_t n = most - (int64_t)strlen("{\"__metadata__\":{\"k\":\"\"}}");
    char *value = (char *)malloc((size_t)n + 2);
    tn_note note = {"k", value};
    memset(value, 'v', (size_t)n + 1);
    value[n] = 0, taken = 0;
    CHECK(save(NULL, 0, &note, 1) && taken == 8 + most);
    value[n] = 'v', value[n + 1] = 0;
    REFUSED(save(NULL, 0, &note, 1), TN_INVALID, "the names need a header of more than 100 MB");
    CHECK_EQ(taken, 8 + most);
    free(value);
    tn_context_use(NULL);
    tn_context_free(c);
}
static void what_is_asked_of_nothing_is_nothing(void) {
    tn_named_list none = {NULL, 0, 0, true};
    tn_safetensors *f = opened("{\"__metadata__\":{}}", 0);
    CHECK(f && tn_safetensors_count(f) == 0 && tn_safetensors_note(f, "a") == NULL);
    CHECK(tn_safetensors_note(f, NULL) == NULL && tn_safetensors_note(NULL, "a") == NULL);
    CHECK(!tn_safetensors_name(f, 0) && !tn_safetensors_name(f, -1) &&
          !tn_safetensors_name(NULL, 0));
    CHECK(tn_safetensors_count(NULL) == 0 && tn_named_find(none, "a") == NULL);
    CHECK(tn_named_find(none, NULL) == NULL);
    REFUSED(tn_safetensors_get(f, "a"), TN_INVALID, "has no tensor \"a\"");
    REFUSED(tn_safetensors_get(f, NULL), TN_INVALID, "the file or the name is NULL");
    REFUSED(tn_safetensors_get(NULL, "a"), TN_INVALID, "the file or the name is NULL");
    REFUSED(tn_file_exists(path, NULL), TN_INVALID, "argument 'exists' is NULL");
    tn_safetensors_close(f), tn_safetensors_close(NULL), tn_named_free(none);
    CHECK_EQ(tn_safetensors_load(path).n, 0);
}

/* --- files that change ------------------------------------------------------------------------ */

static tn_safetensors *shared;
static void *elsewhere(void *unused) {
    REFUSED(tn_safetensors_get(shared, "x"), TN_INVALID, "belongs to the thread that opened it");
    return unused;
}
/* 300 tensors, so that the header is longer than a chunk; the last one first, then the first. */
static void a_file_that_has_changed_is_noticed(void) {
    enum { MANY = 300 };
    static char names[MANY][16];
    tn_named list[MANY];
    pthread_t t;
    for (int change = 0; change < 6; change++)
        TN_SCOPE {
            tn_tensor *x = tn_arange(4, .dtype = TN_F32), *got;
            for (int i = 0; i < MANY; i++)
                snprintf(names[i], sizeof *names, "t%d", i), list[i] = named(names[i], x);
            CHECK(save(list, MANY, NULL, 0));
            shared = tn_safetensors_open(path);
            CHECK(shared && tn_safetensors_get(shared, "t299"));
            if (change == 0 && CHECK(pthread_create(&t, NULL, elsewhere, NULL) == 0))
                pthread_join(t, NULL);
            if (change == 1) CHECK(truncate(path, 100) == 0);
            if (change == 2) remove(path);
            if (change == 3) names[7][1] = 'x', CHECK(save(list, MANY, NULL, 0));
            if (change == 4) CHECK(save(list, MANY - 1, NULL, 0));
            if (change == 5) CHECK(truncate(path, 5) == 0);
            got = tn_safetensors_get(shared, "t0");
            CHECK(change ? !got : got && tn_item(tn_select(got, 0, 3)) == 3);
            if (change) CHECK(tn_error_take(NULL));
            tn_safetensors_close(shared);
        }
    write_file("{}", 0);
}

/* --- each operation fails --------------------------------------------------------------------- */

static int op, fail_at; /* operation number fail_at fails */
static bool fails(void) { return ++op == fail_at ? (errno = EIO, true) : false; }
static int f_open(const char *p, int flags, int mode, void *user) {
    (void)user;
    return fails() ? -1 : open(p, flags, mode);
}
static int64_t f_read(int fd, void *to, size_t n, void *user) {
    (void)user;
    return fails() ? -1 : read(fd, to, n);
}
static int64_t f_write(int fd, const void *from, size_t n, void *user) {
    (void)user;
    return fails() ? -1 : write(fd, from, n);
}
static int64_t f_size(int fd, void *user) {
    struct stat s;
    (void)user;
    return fails() || fstat(fd, &s) != 0 ? -1 : (int64_t)s.st_size;
}
static bool all_loads(void) { /* bytes, then tensors against their order */
    tn_safetensors *f;
    bool ok = tn_load_bytes(path) != NULL;
    f = ok ? tn_safetensors_open(path) : NULL;
    ok = f && tn_safetensors_get(f, "b") && tn_safetensors_get(f, "a");
    tn_safetensors_close(f);
    return ok;
}
static bool idx_load(void) { return tn_load_idx(path) != NULL; }
static tn_tensor *strided;
static bool a_save(void) {
    tn_named one = named("s", strided);
    return save(&one, 1, NULL, 0);
}
/* Runs with each operation failing in turn; then what is at path is what was there. */
static void sweep(bool (*run)(void)) {
    bool ok = false;
    struct stat before, after;
    CHECK(stat(path, &before) == 0);
    for (fail_at = 1; !ok && fail_at < 100; fail_at++)
        TN_SCOPE {
            op = 0;
            ok = run();
            if (ok && op >= fail_at)
                ok = false; /* the folder's sync may fail unseen */
            else if (!ok)
                CHECK(tn_error_take(NULL));
            if (!ok && run != a_save)
                CHECK(stat(path, &after) == 0 && after.st_size == before.st_size);
        }
    CHECK(ok && fail_at > 4);
    fail_at = 0;
}
/* A load that fails leaves no tensor, also where no scope would end it. */
static void a_load_that_fails_leaves_no_tensor(void) {
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.files.open = f_open, o.files.read = f_read, o.files.write = f_write, o.files.size = f_size;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    for (int kind = 0; kind < 4; kind++) {
        int failed = 0;
        bool ok = false;
        fail_at = 0;
        if (kind < 2)
            write_bytes(idx, sizeof idx);
        else
            TN_SCOPE {
                tn_named list[2];
                for (int i = 0; i < 2; i++) list[i] = named(i ? "b" : "a", tn_zeros(TN_DIMS(9)));
                CHECK(save(list, 2, NULL, 0));
            }
        for (int k = 1; !ok && k < 40; k++) {
            tn_named_list got = {NULL, -1, 0, true};
            tn_safetensors *f = NULL;
            tn_tensor *t = NULL;
            int64_t live = tn_memory().live_tensors;
            op = 0, fail_at = k;
            if (kind == 0) t = tn_load_bytes(path);
            if (kind == 1) t = tn_load_idx(path);
            if (kind == 2) got = tn_safetensors_load(path);
            if (kind == 3 && (f = tn_safetensors_open(path)) != NULL)
                t = tn_safetensors_get(f, "b");
            ok = t || got.n == 2;
            failed += !ok;
            CHECK(ok ? tn_ok() : tn_error_take(NULL));
            CHECK(tn_memory().live_tensors == (ok ? live + (t ? 1 : 2) : live));
            CHECK(ok || (got.n == -1 && !got.at));
            tn_free(t), tn_named_free(got), tn_safetensors_close(f);
            CHECK_EQ(tn_memory().live_tensors, live);
        }
        CHECK(ok && failed >= 3);
    }
    fail_at = 0;
    tn_context_use(NULL);
    tn_context_free(c);
}
static void every_failing_operation_is_an_error(void) {
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};
    tn_context_options o;
    tn_context *c;
    tn_named list[3];
    memset(&o, 0, sizeof o);
    o.files.open = f_open, o.files.read = f_read, o.files.write = f_write, o.files.size = f_size;
    c = tn_context_new(&o);
    tn_context_use(c);
    TN_SCOPE {
        tn_tensor *x = tn_zeros(TN_DIMS(5000)); /* longer than what skipping reads at once */
        list[0] = named("a", x), list[1] = named("c", x), list[2] = named("b", x);
        CHECK(save(list, 3, NULL, 0));
        sweep(all_loads);
        write_bytes(idx, sizeof idx);
        sweep(idx_load);
        strided = tn_t(tn_ones(TN_DIMS(100, 90)));
        sweep(a_save);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

/* --- saving ----------------------------------------------------------------------------------- */

static void lists_that_make_no_sense_are_refused(void) {
    static const float pair[] = {1, 2, 3, 4};
    tn_note notes[1] = {{"k", "v"}};
    tn_named_list got;
    TN_SCOPE {
        tn_tensor *x = tn_from(pair, TN_DIMS(1), TN_F32), *c;
        tn_named list[2];
        list[0] = named("a", x), list[1] = named("b", x);
        REFUSED(save(list, -1, NULL, 0), TN_INVALID, "expected a list of tensors");
        REFUSED(save(NULL, 1, NULL, 0), TN_INVALID, "expected a list of tensors");
        REFUSED(save(list, 1, notes, -1), TN_INVALID, "expected a list of tensors");
        REFUSED(save(list, 1, NULL, 1), TN_INVALID, "expected a list of tensors");
        notes[0].value = "\xff";
        REFUSED(save(list, 1, notes, 1), TN_INVALID, "note 0 is NULL or not UTF-8");
        notes[0].key = NULL;
        REFUSED(save(list, 1, notes, 1), TN_INVALID, "note 0 is NULL or not UTF-8");
        list[1].name = "__metadata__";
        REFUSED(save(list, 2, NULL, 0), TN_INVALID, "is NULL, not UTF-8, or __metadata__");
        list[1].name = "a";
        REFUSED(save(list, 2, NULL, 0), TN_INVALID, "the name \"a\" is given twice");
        list[1] = named("b", tn_from(pair, tn_empty_dims(), TN_C128));
        REFUSED(save(list, 2, NULL, 0), TN_TYPE,
                "tensor \"b\": safetensors does not support complex128");
        list[1] = named("b", tn_empty(TN_DIMS(1), .device = TN_META));
        REFUSED(save(list, 2, NULL, 0), TN_UNSUPPORTED, "tensor \"b\" is not on the CPU");
        list[1] = named("b", NULL);
        REFUSED(save(list, 2, NULL, 0), TN_INVALID, "tensor \"b\" is NULL");
        REFUSED(tn_safetensors_save_at(NULL, 0, NULL, list, 1, NULL, 0), TN_INVALID,
                "path is NULL");
        c = tn_from(pair, TN_DIMS(2), TN_C64);
        list[1] = named("b", tn_flip(c, TN_DIMS(0))), list[0] = named("a", tn_slice(c, .step = 2));
        CHECK(save(list, 2, NULL, 0) && tn_ok());
        got = tn_safetensors_load(path);
        list[0].tensor = tn_named_find(got, "b");
        CHECK(list[0].tensor && ((const float *)tn_data(list[0].tensor))[0] == 3);
        tn_named_free(got);
    }
}

/* --- IDX -------------------------------------------------------------------------------------- */

static void every_idx_type_is_read(void) {
    static const struct {
        uint8_t type;
        tn_dtype dtype;
        uint8_t one[8]; /* 1, big-endian */
    } types[] = {{0x08, TN_U8, {1}},           {0x09, TN_I8, {1}},
                 {0x0B, TN_I16, {0, 1}},       {0x0C, TN_I32, {0, 0, 0, 1}},
                 {0x0D, TN_F32, {0x3f, 0x80}}, {0x0E, TN_F64, {0x3f, 0xf0}}};
    uint8_t file[16] = {0, 0, 0, 1, 0, 0, 0, 1}, empty[8] = {0, 0, 8, 1, 0, 0, 0, 0};
    uint8_t wide[40] = {0, 0, 8, 8}, zip[4] = {0x1f, 0x8b, 8, 0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        TN_SCOPE {
            file[2] = types[i].type;
            memcpy(file + 8, types[i].one, 8);
            write_bytes(file, 8 + (size_t)tn_dtype_bytes(types[i].dtype));
            tn_tensor *t = tn_load_idx(path);
            CHECK(t && tn_dtype_of(t) == types[i].dtype && tn_item(t) == 1);
        }
    memset(wide + 4, 0xff, 32);
    TN_SCOPE {
        write_bytes(empty, sizeof empty);
        CHECK(tn_numel(tn_load_idx(path)) == 0 && tn_ok());
        write_bytes(wide, 36);
        REFUSED(tn_load_idx(path), TN_FORMAT, "its header does not match its 36 bytes");
        write_bytes(zip, 4);
        REFUSED(tn_load_idx(path), TN_FORMAT, "is compressed; unpack it with gunzip first");
        zip[1] = 0;
        write_bytes(zip, 4);
        REFUSED(tn_load_idx(path), TN_FORMAT, "is not an IDX file");
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(names_are_json_strings),
        CHECK_TEST(headers_that_end_early_are_refused),
        CHECK_TEST(a_million_tensors_need_data),
        CHECK_TEST(a_tensor_beyond_the_65536th_needs_data),
        CHECK_TEST(a_header_has_at_most_100_megabytes),
        CHECK_TEST(what_is_asked_of_nothing_is_nothing),
        CHECK_TEST(a_file_that_has_changed_is_noticed),
        CHECK_TEST(a_load_that_fails_leaves_no_tensor),
        CHECK_TEST(every_failing_operation_is_an_error),
        CHECK_TEST(lists_that_make_no_sense_are_refused),
        CHECK_TEST(every_idx_type_is_read),
    };
    int failed;
    snprintf(path, sizeof path, "/tmp/tn_io_%ld", (long)getpid());
    failed = CHECK_MAIN(tests, argc, argv);
    remove(path);
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
