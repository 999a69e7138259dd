/* io.c - promises of src/io: what is saved is loaded, any byte string is a file or an error, a
 * failed save leaves the old file, and any allocation may fail. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/io.h"
#include "../check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static char *path_of(const char *name) {
    static char path[4][160];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}
static void write_bytes(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n);
    if (f) fclose(f);
}
/* A safetensors file of this header and so many data bytes. */
static void write_file(const char *path, const char *header, size_t data) {
    char *all = (char *)calloc(1, strlen(header) + data + 8);
    size_t n = strlen(header);
    for (int i = 0; i < 8; i++) all[i] = (char)((uint64_t)n >> 8 * i);
    memcpy(all + 8, header, n);
    write_bytes(path, all, 8 + n + data);
    free(all);
}
static tn_code taken(char *message, size_t room) {
    tn_error_info e;
    if (!tn_error_take(&e)) return TN_OK;
    snprintf(message, room, "%s", e.message);
    return e.code;
}

/* --- round trips ------------------------------------------------------------------------------ */

static void what_is_saved_is_loaded(void) {
    static const float f32[] = {1, 2.5f, -3, 0, 1e-30f, 7};
    static const double f64[] = {3.14159, -1};
    static const int64_t i64[] = {1, -2, INT64_MAX};
    static const uint8_t truth[] = {1, 0, 1}, u8[] = {9};
    int64_t s23[] = {2, 3}, s2[] = {2}, s3[] = {3}, s0[] = {0, 4};
    tn_named list[6] = {{"w", NULL},      {"model.long name \"\\\xc3\xa9\n", NULL},
                        {"i", NULL},      {"b", NULL},
                        {"scalar", NULL}, {"empty", NULL}};
    tn_note notes[] = {{"format", "a \"test\""}, {"version", "1"}};
    tn_named_list got;
    tn_safetensors *f;
    float back[6];
    TN_SCOPE {
        list[0].tensor = tn_from(f32, tn_ints_of(s23, 2), TN_F32);
        list[1].tensor = tn_from(f64, tn_ints_of(s2, 1), TN_F64);
        list[2].tensor = tn_from(i64, tn_ints_of(s3, 1), TN_I64);
        list[3].tensor = tn_from(truth, tn_ints_of(s3, 1), TN_BOOL);
        list[4].tensor = tn_from(u8, tn_empty_dims(), TN_U8);
        list[5].tensor = tn_from(f32, tn_ints_of(s0, 2), TN_F32);
        CHECK(tn_safetensors_save_at(__FILE__, __LINE__, path_of("a"), list, 6, notes, 2));
        got = tn_safetensors_load(path_of("a"));
        CHECK_EQ(got.n, 6);
        for (int i = 0; i < 6 && got.n == 6; i++) {
            tn_tensor *t = tn_named_find(got, list[i].name);
            CHECK(t && tn_dtype_of(t) == tn_dtype_of(list[i].tensor) &&
                  tn_numel(t) == tn_numel(list[i].tensor));
            CHECK(t && tn_ndim(t) == tn_ndim(list[i].tensor));
            CHECK(t && memcmp(tn_data(t), tn_data(list[i].tensor),
                              (size_t)(tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t)))) == 0);
        }
        CHECK(tn_named_find(got, "nothing") == NULL && tn_ok());
        tn_named_free(got);
    }
    f = tn_safetensors_open(path_of("a"));
    CHECK_EQ(tn_safetensors_count(f), 6);
    CHECK_TEXT(tn_safetensors_note(f, "format"), "a \"test\"");
    CHECK_TEXT(tn_safetensors_note(f, "version"), "1");
    CHECK(tn_safetensors_note(f, "x") == NULL);
    TN_SCOPE { /* against the file's order, and twice */
        for (int round = 0; round < 2; round++)
            for (int64_t i = 5; i >= 0; i--)
                CHECK(tn_safetensors_get(f, tn_safetensors_name(f, i)) != NULL);
        CHECK(tn_read_f32(tn_safetensors_get(f, "w"), back, 6) && back[1] == 2.5f && back[5] == 7);
        CHECK(tn_safetensors_get(f, "no") == NULL && tn_error_take(NULL));
    }
    tn_safetensors_close(f);
    CHECK(tn_ok());
}

static void strided_tensors_are_saved_row_major(void) {
    static float data[5000 * 2];
    int64_t size[] = {2, 5000}, stride[] = {1, 2};
    tn_wrap_options o;
    tn_named list[] = {{"t", NULL}};
    tn_named_list got;
    for (int i = 0; i < 10000; i++) data[i] = (float)i;
    memset(&o, 0, sizeof o);
    o.strides = tn_ints_of(stride, 2);
    TN_SCOPE {
        list[0].tensor = tn_wrap(data, tn_ints_of(size, 2), TN_F32, &o);
        CHECK(tn_safetensors_save(path_of("s"), list, 1));
        got = tn_safetensors_load(path_of("s"));
        CHECK(got.n == 1 && tn_is_contiguous(got.at[0].tensor));
        for (int i = 0; got.n == 1 && i < 5000; i++)
            if (((float *)tn_data(got.at[0].tensor))[i] != (float)(2 * i) ||
                ((float *)tn_data(got.at[0].tensor))[5000 + i] != (float)(2 * i + 1)) {
                CHECK(!"elements in order");
                break;
            }
        tn_named_free(got);
    }
}

static void empty_list_is_a_file(void) {
    tn_named_list got;
    CHECK(tn_safetensors_save(path_of("e"), NULL, 0));
    got = tn_safetensors_load(path_of("e"));
    CHECK_EQ(got.n, 0);
    tn_named_free(got);
}

/* --- refusals --------------------------------------------------------------------------------- */

static const struct {
    const char *header;
    int data;
    const char *says; /* NULL: valid */
} headers[] = {
    {"{}", 0, NULL},
    {"{ \"a\" : { \"dtype\":\"U8\", \"shape\" : [ 2 ] , \"data_offsets\":[0,2] } } ", 2, NULL},
    {"{\"a\":{\"data_offsets\":[0,2],\"shape\":[],\"dtype\":\"F16\"}}", 2, NULL},
    {"{\"\\u00e9\\ud83d\\ude00\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0,
     NULL},
    {"{\"__metadata__\":{},\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, NULL},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"a\":{\"dtype\":\"U8\","
     "\"shape\":[1],\"data_offsets\":[0,1]}}",
     2, NULL},
    {"", 0, "empty"},
    {"[]", 0, "does not begin"},
    {" {}", 0, "does not begin"},
    {"{", 0, "expected"},
    {"{}x", 0, "unexpected"},
    {"{\"a\":1}", 0, "description"},
    {"{\"a\":{}}", 0, "description"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}", 2, "}"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"x\":1}}", 2, "description"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "description"},
    {"{\"a\":{\"dtype\":\"Q8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "agree"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1, "agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 3, "shorter or longer"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, "gap"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,1]}}", 2, "agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 2, "description"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[01],\"data_offsets\":[0,1]}}", 1, "description"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,0]}}", 0,
     "description"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,9223372036854775807,9223372036854775807],\"data_"
     "offsets\":[0,0]}}",
     0, "agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\","
     "\"shape\":[1],\"data_offsets\":[1,2]}}",
     2, "twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\","
     "\"shape\":[2],\"data_offsets\":[1,3]}}",
     3, "overlap"},
    {"{\"a\\u0000\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "expected"},
    {"{\"a\\ud800\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "expected"},
    {"{\"a\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "expected"},
    {"{\"a\t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "expected"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "metadata"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "metadata"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]"
     "}}",
     1, "description"},
};

static void malformed_headers_are_refused(void) {
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char message[400] = "";
        tn_named_list got;
        write_file(path_of("h"), headers[i].header, (size_t)headers[i].data);
        got = tn_safetensors_load(path_of("h"));
        if (headers[i].says) {
            CHECK(got.n == -1 && taken(message, sizeof message) == TN_FORMAT &&
                  strstr(message, headers[i].says));
        } else {
            CHECK(got.n >= 0);
            taken(message, sizeof message);
        }
        if ((got.n < 0) != (headers[i].says != NULL) ||
            (headers[i].says && !strstr(message, headers[i].says)))
            printf("    %s\n    %s\n", headers[i].header, message);
        tn_named_free(got);
    }
}

static void every_cut_and_every_flipped_byte_is_a_file_or_an_error(void) {
    static const char header[] = "{\"__metadata__\":{\"k\":\"v\"},\"\\u00e9a\":{\"dtype\":\"F32\","
                                 "\"shape\":[2,1],\"data_offsets\":[0,8]},"
                                 "\"b\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[8,9]}}";
    unsigned char all[400];
    size_t n = 8 + sizeof header - 1 + 9;
    memset(all, 0, sizeof all);
    all[0] = (unsigned char)(sizeof header - 1);
    memcpy(all + 8, header, sizeof header - 1);
    for (size_t cut = 0; cut <= n; cut++) {
        tn_named_list got;
        write_bytes(path_of("c"), all, cut);
        got = tn_safetensors_load(path_of("c"));
        CHECK((got.n == 2) == (cut == n));
        tn_named_free(got);
        tn_error_take(NULL);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            tn_safetensors *f;
            all[i] ^= (unsigned char)(1 << bit);
            write_bytes(path_of("c"), all, n);
            f = tn_safetensors_open(path_of("c"));
            tn_safetensors_note(f, "k");
            TN_SCOPE {
                for (int64_t k = 0; k < tn_safetensors_count(f); k++)
                    tn_safetensors_get(f, tn_safetensors_name(f, k));
            }
            tn_safetensors_close(f);
            tn_error_take(NULL);
            all[i] ^= (unsigned char)(1 << bit);
        }
}

static void wrong_saves_are_refused(void) {
    double one = 1;
    TN_SCOPE {
        tn_tensor *t = tn_from(&one, tn_empty_dims(), TN_F64);
        tn_named twice[] = {{"a", NULL}, {"b", NULL}, {"a", NULL}};
        tn_named nothing[] = {{"a", NULL}};
        tn_named bad[] = {{"a\xff", NULL}};
        for (int i = 0; i < 3; i++) twice[i].tensor = t;
        bad[0].tensor = t;
        CHECK(!tn_safetensors_save(path_of("w"), twice, 3) && tn_error_take(NULL));
        CHECK(!tn_safetensors_save(path_of("w"), nothing, 1) && tn_error_take(NULL));
        CHECK(!tn_safetensors_save(path_of("w"), bad, 1) && tn_error_take(NULL));
        CHECK(!tn_safetensors_save(NULL, twice, 1) && tn_error_take(NULL));
        CHECK(!tn_safetensors_save(path_of("no/such/folder"), twice, 1) && tn_error_take(NULL));
    }
    CHECK(access(path_of("w"), F_OK) != 0);
    CHECK(tn_safetensors_load(path_of("missing")).n == -1 && tn_error_take(NULL));
    CHECK(tn_safetensors_load(folder).n == -1 && tn_error_take(NULL));
}

/* --- IDX -------------------------------------------------------------------------------------- */

static void idx_files_are_tensors(void) {
    static const unsigned char u8[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    static const unsigned char i32[] = {0, 0, 12, 1, 0, 0, 0, 2, 0, 0, 1, 0, 255, 255, 255, 254};
    static const unsigned char gz[] = {0x1f, 0x8b, 8, 0, 1, 2, 3, 4};
    TN_SCOPE {
        tn_tensor *t;
        write_bytes(path_of("u8"), u8, sizeof u8);
        t = tn_load_idx(path_of("u8"));
        CHECK(t && tn_dtype_of(t) == TN_U8 && tn_ndim(t) == 2 && tn_size(t, 1) == 3 &&
              ((uint8_t *)tn_data(t))[5] == 6);
        write_bytes(path_of("i32"), i32, sizeof i32);
        t = tn_load_idx(path_of("i32"));
        CHECK(t && tn_dtype_of(t) == TN_I32 && ((int32_t *)tn_data(t))[0] == 256 &&
              ((int32_t *)tn_data(t))[1] == -2);
        for (size_t cut = 0; cut < sizeof u8; cut++) {
            write_bytes(path_of("u8"), u8, cut);
            CHECK(!tn_load_idx(path_of("u8")) && tn_error_take(NULL));
        }
        write_bytes(path_of("gz"), gz, sizeof gz);
        CHECK(!tn_load_idx(path_of("gz")));
        {
            tn_error_info e;
            CHECK(tn_error_take(&e) && strstr(e.message, "gunzip") && e.line == __LINE__ - 3);
        }
        t = tn_load_bytes(path_of("gz"));
        CHECK(t && tn_numel(t) == 8 && ((uint8_t *)tn_data(t))[1] == 0x8b);
    }
}

/* --- failing allocations ---------------------------------------------------------------------- */

static int64_t allowed, live;
static void *count_alloc(size_t bytes, void *user) {
    void *p;
    (void)user;
    if (allowed-- <= 0) return NULL;
    p = malloc(bytes);
    live += p != NULL;
    return p;
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user, (void)bytes;
    live -= at != NULL;
    free(at);
}

static bool save_and_load(void) {
    static const float f32[] = {1, 2, 3, 4, 5, 6};
    int64_t size[] = {2, 3};
    tn_named list[] = {{"a", NULL}, {"b", NULL}, {"c", NULL}};
    tn_named_list got = {NULL, -1, 0, true};
    int64_t mark = tn_scope_begin();
    for (int i = 0; i < 3; i++) list[i].tensor = tn_from(f32, tn_ints_of(size, 2), TN_F32);
    if (tn_ok() && tn_safetensors_save(path_of("k"), list, 3))
        got = tn_safetensors_load(path_of("k"));
    tn_named_free(got);
    tn_scope_end(mark);
    return got.n == 3;
}

static void every_failing_allocation_is_an_error_without_a_leak(void) {
    for (int64_t k = 0; k < 10000; k++) {
        tn_context_options o;
        tn_context *c;
        bool done;
        memset(&o, 0, sizeof o);
        o.allocator.alloc = count_alloc;
        o.allocator.free = count_free;
        o.no_cache = true;
        o.threads = -1;
        allowed = INT64_MAX;
        c = tn_context_new(&o);
        tn_context_use(c);
        tn_ok();
        allowed = k;
        done = save_and_load();
        CHECK(done == tn_ok());
        allowed = INT64_MAX;
        tn_error_take(NULL);
        CHECK(done || save_and_load()); /* a retry works */
        CHECK_EQ(tn_memory().live_tensors, 0);
        tn_context_use(NULL);
        tn_context_free(c);
        CHECK_EQ(live, 0);
        if (done) break;
    }
}

static const check_test tests[] = {
    CHECK_TEST(what_is_saved_is_loaded),
    CHECK_TEST(strided_tensors_are_saved_row_major),
    CHECK_TEST(empty_list_is_a_file),
    CHECK_TEST(malformed_headers_are_refused),
    CHECK_TEST(every_cut_and_every_flipped_byte_is_a_file_or_an_error),
    CHECK_TEST(wrong_saves_are_refused),
    CHECK_TEST(idx_files_are_tensors),
    CHECK_TEST(every_failing_allocation_is_an_error_without_a_leak),
};

int main(int argc, char **argv) {
    char command[100];
    int failed;
    strcpy(folder, "/tmp/tn_io_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
