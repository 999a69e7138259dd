/* formats.c - promises of src/io, to the byte: what a save writes, what each spelling of a header
 * means, what is refused and in which words, IDX files of every dtype. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/io.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[100];

static void write_bytes(const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n);
    if (f) fclose(f);
}
/* The header's length, the header, data bytes 1, 2, 3 ... */
static void write_file(const char *header, size_t n, size_t data) {
    unsigned char *all = (unsigned char *)malloc(n + data + 8);
    for (int i = 0; i < 8; i++) all[i] = (unsigned char)((uint64_t)n >> 8 * i);
    memcpy(all + 8, header, n);
    for (size_t i = 0; i < data; i++) all[8 + n + i] = (unsigned char)(i + 1);
    write_bytes(all, 8 + n + data);
    free(all);
}
/* "" or what is said of the file behind "is not a valid safetensors file:", but for the place. */
static const char *opened(const char *header, size_t data) {
    static char said[300];
    tn_error_info e;
    char *colon;
    write_file(header, strlen(header), data);
    tn_safetensors *f = tn_safetensors_open(path);
    tn_safetensors_close(f);
    if (f) return "";
    if (!CHECK(tn_error_take(&e)) || !CHECK(e.code == TN_FORMAT)) return "?";
    colon = strstr(e.message, "file: ");
    snprintf(said, sizeof said, "%s", colon ? colon + 6 : e.message);
    if (CHECK(strstr(said, ", at byte "))) *strstr(said, ", at byte ") = 0;
    return said;
}

/* --- headers ---------------------------------------------------------------------------------- */

#define ONE(rest) "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}" rest

static const struct {
    const char *header;
    size_t data;
    const char *said;
} headers[] = {
    {ONE("}"), 2, ""},
    {ONE("}  "), 2, ""},
    {"{ \"a\" : {\t\"data_offsets\" : [ 0 , 2 ] ,\n\"shape\" : [ 2 ] , \"dtype\" : \"U8\" } }", 2,
     ""},
    {"{}", 0, ""},
    {"{ }", 0, ""},
    {"{}", 1, "the data is shorter or longer than the tensors"},
    {" {}", 0, "the header does not begin with {"},
    {"[]", 0, "the header does not begin with {"},
    {"{} x", 0, "unexpected text after the header's }"},
    {ONE("}}"), 2, "unexpected text after the header's }"},
    {ONE(""), 2, "expected } at the end of the header"},
    {ONE("]"), 2, "expected } at the end of the header"},
    {ONE(",}"), 2, "expected a name"},
    {"{a}", 0, "expected a name"},
    {"{\"a\" 1}", 0, "expected a name"},
    {"{\"a}", 0, "expected a name"},
    {"{\"a\":1}", 0, "the description of a tensor is malformed"},
    {"{\"a\":{}}", 0, "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\" \"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"type\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2,],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[02],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2.0],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":2,\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[92233720368547758070],\"data_offsets\":[0,2]}}", 2,
     "the description of a tensor is malformed"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775807],\"data_offsets\":[0,2]}}", 2,
     "the dtype, shape and offsets of a tensor do not agree"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
     "the dtype, shape and offsets of a tensor do not agree"},
    {"{\"a\":{\"dtype\":\"U9\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
     "the dtype, shape and offsets of a tensor do not agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}", 2,
     "the dtype, shape and offsets of a tensor do not agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2,
     "the dtype, shape and offsets of a tensor do not agree"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 2,
     "the dtype, shape and offsets of a tensor do not agree"},
    {ONE("}"), 3, "the data is shorter or longer than the tensors"},
    {ONE(",\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2,3]}}"), 3,
     "a name appears twice"},
    {ONE(",\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2,3]}}"), 3, ""},
    {ONE(",\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[1,2]}}"), 2, "tensors overlap"},
    {ONE(",\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[3,4]}}"), 4,
     "the data has a gap"},
    {ONE(",\"0\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]}}"), 2, ""},
    {"{\"__metadata__\":{}}", 0, ""},
    {"{\"__metadata__\":{\"k\":\"v\"},\"__metadata__\":{}}", 0, "malformed __metadata__"},
    {"{\"__metadata__\":1}", 0, "malformed __metadata__"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "malformed __metadata__"},
    {"{\"__metadata__\":{\"k\" \"v\"}}", 0, "malformed __metadata__"},
    {"{\"__metadata__\":{\"k\":\"v\",}}", 0, "malformed __metadata__"},
    {"{\"__metadata__\":{\"k\":\"v\"", 0, "malformed __metadata__"},
};
static void a_header_is_valid_or_refused_in_these_words(void) {
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (!CHECK_TEXT(opened(headers[i].header, headers[i].data), headers[i].said))
            printf("    %s\n", headers[i].header);
}

static void lengths_that_cannot_be_are_refused(void) {
    static const char *const said[] = {"it is shorter than 8 bytes", "the header is empty",
                                       "the header's length exceeds the file or 100 MB",
                                       "the header's length exceeds the file or 100 MB"};
    static const unsigned char head[4][10] = {{2, 0, 0, 0, 0, 0, 0},
                                              {0, 0, 0, 0, 0, 0, 0, 0},
                                              {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'},
                                              {2, 0, 0, 0, 0, 0, 0, 0x80, '{', '}'}};
    static const size_t n[] = {7, 8, 10, 10};
    tn_error_info e;
    for (int i = 0; i < 4; i++) {
        write_bytes(head[i], n[i]);
        CHECK(!tn_safetensors_open(path) && tn_error_take(&e) && strstr(e.message, said[i]));
    }
    write_file("{\0}", 3, 0);
    CHECK(!tn_safetensors_open(path) && tn_error_take(&e) &&
          strstr(e.message, "the header contains a NUL"));
    CHECK(!tn_safetensors_open(NULL) && tn_error_take(&e) && e.code == TN_INVALID);
}

/* What a name in JSON is; NULL: no name. */
static const struct {
    const char *json, *name;
} names[] = {
    {"a b", "a b"},
    {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
    {"\\u0041\\u007f\\u007F", "A\x7f\x7f"},
    {"\\u0080\\u00e9\\u07ff", "\xc2\x80\xc3\xa9\xdf\xbf"},
    {"\\u0800\\uAbCd\\ud7ff\\ue000\\uffff",
     "\xe0\xa0\x80\xea\xaf\x8d\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"},
    {"\\ud800\\udc00\\ud83d\\ude00\\udbff\\udfff",
     "\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"},
    {"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
     "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
    {"\\u0000", NULL},
    {"\\x", NULL},
    {"\\u12", NULL},
    {"\\u12g4", NULL},
    {"\\u12G4", NULL},
    {"\\u12/4", NULL},
    {"\\u12:4", NULL},
    {"\\ud800", NULL},
    {"\\ud800x12345", NULL},
    {"\\ud800\\n12345", NULL},
    {"\\ud800\\ndc00", NULL},
    {"\\ud800xudc00", NULL},
    {"\\ud800/xdc00", NULL},
    {"\\ud800\\udbff", NULL},
    {"\\ud800\\udc0g", NULL},
    {"\\udbff\\ue000", NULL},
    {"\\ud800\\ud800", NULL},
    {"\\ud800\\ue000", NULL},
    {"\\udc00", NULL},
    {"\\udfff\\udc00", NULL},
    {"\n", NULL},
    {"\x1f", NULL},
    {"\xc1\xbf", NULL},
    {"\x80", NULL},
    {"\xc2", NULL},
    {"\xe0\x9f\xbf", NULL},
    {"\xed\xa0\x80", NULL},
    {"\xf0\x8f\xbf\xbf", NULL},
    {"\xf4\x90\x80\x80", NULL},
    {"\xf5\x80\x80\x80", NULL},
    {"\xe2\x82", NULL},
    {"\xe2\x28\xa1", NULL},
};
static void names_are_json_strings(void) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char header[300];
        tn_safetensors *f;
        snprintf(header, sizeof header,
                 "{\"%s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
                 "\"__metadata__\":{\"k\":\"1\",\"%s\":\"%s\"}}",
                 names[i].json, names[i].json, names[i].json);
        write_file(header, strlen(header), 1);
        f = tn_safetensors_open(path);
        if (!names[i].name) {
            CHECK(!f && tn_error_take(NULL));
            continue;
        }
        if (!CHECK(f != NULL)) tn_error_print();
        CHECK_TEXT(tn_safetensors_name(f, 0), names[i].name);
        CHECK_TEXT(tn_safetensors_note(f, names[i].name), names[i].name);
        CHECK_TEXT(tn_safetensors_note(f, "k"), "1");
        CHECK(!tn_safetensors_note(f, "j") && !tn_safetensors_note(f, NULL));
        CHECK(!tn_safetensors_name(f, 1) && !tn_safetensors_name(f, -1));
        tn_safetensors_close(f);
    }
    CHECK(!tn_safetensors_name(NULL, 0) && tn_safetensors_count(NULL) == 0);
    CHECK(!tn_safetensors_note(NULL, "k"));
}

/* --- order ------------------------------------------------------------------------------------ */

/* 100 tensors of one byte, empty ones among them, their descriptions in any order. */
static void entries_come_in_the_order_of_the_data(void) {
    enum { N = 100 };
    static char header[N * 80];
    static const int steps[] = {1, 7, 13, 49, 99};
    int64_t used = 0;
    for (int s = 0; s < 5; s++) {
        size_t at = 0;
        for (int k = 0; k < N; k++) {
            int i = k * steps[s] % N, empty = i % 10 == 5, from = i - (i + 4) / 10;
            at += (size_t)snprintf(
                header + at, sizeof header - at,
                "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]}",
                k ? "," : "{", i * 7919 % 1000, !empty, from, from + !empty);
        }
        strcpy(header + at, "}");
        write_file(header, strlen(header), 90);
        tn_safetensors *f = tn_safetensors_open(path);
        CHECK_EQ(tn_safetensors_count(f), N);
        for (int i = 0, byte = 0; i < N; i++)
            TN_SCOPE {
                char name[20];
                bool empty = i % 10 == 5;
                snprintf(name, sizeof name, "t%d", i * 7919 % 1000);
                tn_tensor *t = tn_safetensors_get(f, name);
                CHECK(t && tn_numel(t) == !empty);
                if (t && !empty) CHECK_EQ(*(uint8_t *)tn_data(t), ++byte);
                if (!empty && i % 10 != 4 && i % 10 != 6)
                    CHECK_TEXT(tn_safetensors_name(f, i), name);
            }
        tn_safetensors_close(f);
        if (s) CHECK_EQ(tn_memory().bytes_used, used); /* the first makes what is kept */
        used = tn_memory().bytes_used;
    }
    CHECK(tn_ok());
}

/* Two of up to 9 names are the same, wherever they stand; or none is. */
static void names_that_stand_twice_are_found(void) {
    static const char *const all[] = {"m", "c", "x", "a", "mm", "zz", "b", "", "k"};
    for (int n = 2; n <= 9; n++)
        for (int i = 0; i < n; i++)
            for (int k = i; k < n; k++) { /* k == i: none */
                char header[1000] = "";
                size_t at = 0;
                for (int e = 0; e < n; e++)
                    at += (size_t)snprintf(
                        header + at, sizeof header - at,
                        "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                        e ? "," : "{", all[e == k ? i : e], e, e + 1);
                strcpy(header + at, "}");
                if (!CHECK_TEXT(opened(header, (size_t)n), k == i ? "" : "a name appears twice"))
                    printf("    %s\n", header);
            }
}

/* --- saving ----------------------------------------------------------------------------------- */

static size_t read_file(unsigned char *to, size_t room) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, room, f) : 0;
    if (f) fclose(f);
    return n;
}

static void a_saved_file_has_these_bytes(void) {
    static const char want[] =
        "{\"__metadata__\":{\"a\\\"\\\\\":\"\\u0001\\u001f \",\"b\":\"\"},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"c\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[8,16]},"
        "\"i\":{\"dtype\":\"I32\",\"shape\":[2,1],\"data_offsets\":[16,24]},"
        "\"h\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[24,28]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[28,31]},"
        "\"e\":{\"dtype\":\"BOOL\",\"shape\":[0,2],\"data_offsets\":[31,31]}}";
    static const unsigned char data[] = {0,    0,    0, 0, 0,    0,    0xf8, 0x3f, 0, 0,    0x80,
                                         0x3f, 0,    0, 0, 0xc0, 1,    0,    0,    0, 0xfe, 0xff,
                                         0xff, 0xff, 3, 1, 0xff, 0xff, 7,    8,    9};
    static const double d = 1.5;
    static const float c[] = {1, -2};
    static const int32_t i[] = {1, -2};
    static const int16_t h[] = {259, -1};
    static const uint8_t u[] = {7, 8, 9};
    tn_note notes[] = {{"a\"\\", "\x01\x1f "}, {"b", ""}};
    unsigned char got[2000];
    size_t n, length = (sizeof want - 1 + 7) / 8 * 8;
    TN_SCOPE {
        tn_named list[] = {{"u", tn_from(u, TN_DIMS(3), TN_U8)},
                           {"d", tn_from(&d, TN_DIMS(1), TN_F64)},
                           {"e", tnp_zeros(TN_DIMS(0, 2), TN_BOOL, TN_CPU)},
                           {"i", tn_from(i, TN_DIMS(2, 1), TN_I32)},
                           {"h", tn_from(h, TN_DIMS(2), TN_I16)},
                           {"c", tn_from(c, TN_EMPTY_DIMS, TN_C64)}};
        CHECK(tn_safetensors_save_at(__FILE__, __LINE__, path, list, 6, notes, 2));
    }
    n = read_file(got, sizeof got);
    CHECK_EQ(n, 8 + length + sizeof data);
    CHECK(got[0] == (length & 255) && got[1] == length >> 8 && !got[2] && !got[7]);
    CHECK(memcmp(got + 8, want, sizeof want - 1) == 0);
    for (size_t k = sizeof want - 1; k < length; k++) CHECK_EQ(got[8 + k], ' ');
    CHECK(memcmp(got + 8 + length, data, sizeof data) == 0);
}

static void every_dtype_comes_back_also_from_other_strides(void) {
    for (int dtype = 1; dtype < TN_DTYPE_COUNT; dtype++)
        TN_SCOPE {
            int64_t each = tn_dtype_bytes((tn_dtype)dtype), n = 35 * 130;
            tn_tensor *t = tnp_empty(TN_DIMS(35, 130), (tn_dtype)dtype, TN_CPU), *back;
            tn_named list[2] = {{"t", NULL}, {"plain", t}};
            tn_wrap_options o;
            memset(&o, 0, sizeof o);
            int64_t stride[2] = {1, 35};
            o.strides = tn_ints_of(stride, 2);
            if (!CHECK(t != NULL)) continue;
            unsigned char *p = (unsigned char *)tn_data(t);
            for (int64_t k = 0; k < n * each; k++)
                p[k] = (unsigned char)(dtype == TN_BOOL ? k % 3 == 1 : (k * 37 + k / 256) % 251);
            list[0].tensor = tn_wrap(p, TN_DIMS(35, 130), (tn_dtype)dtype, &o);
            if (dtype == TN_C128) {
                CHECK(!tn_safetensors_save(path, list, 2) && tn_error_take(NULL));
                continue;
            }
            if (!CHECK(tn_safetensors_save(path, list, 2))) tn_error_print();
            tn_named_list got = tn_safetensors_load(path);
            CHECK(got.n == 2 && got.owned);
            back = tn_named_find(got, "plain");
            CHECK(back && (int)tn_dtype_of(back) == dtype &&
                  !memcmp(tn_data(back), p, (size_t)(n * each)));
            back = tn_named_find(got, "t");
            CHECK(back && (int)tn_dtype_of(back) == dtype && tn_size(back, 1) == 130);
            for (int64_t k = 0; back && k < n; k++)
                if (memcmp((char *)tn_data(back) + k * each, p + (k % 130 * 35 + k / 130) * each,
                           (size_t)each)) {
                    CHECK_EQ(k, n); /* row-major */
                    break;
                }
            CHECK(!tn_named_find(got, "tt") && !tn_named_find(got, NULL));
            tn_named_free(got);
        }
}

static void saves_that_cannot_be_are_refused_in_these_words(void) {
    tn_error_info e;
    TN_SCOPE {
        tn_tensor *t = tn_ones(TN_DIMS(2)), *meta = tnp_empty(TN_DIMS(2), TN_F32, TN_META);
        tn_tensor *wide = tnp_zeros(TN_DIMS(1), TN_C128, TN_CPU);
        tn_note bad = {"k", NULL}, worse = {"\xff", "v"};
        struct {
            tn_named at[3];
            int64_t n;
            const tn_note *notes;
            int64_t nnotes;
            const char *said;
        } c[] = {
            {{{"a", t}}, -1, NULL, 0, "expected a list of tensors"},
            {{{"a", t}}, 1, NULL, 1, "expected a list of tensors"},
            {{{"a", t}}, 1, &bad, 1, "note 0 is NULL or not UTF-8"},
            {{{"a", t}}, 1, &worse, 1, "note 0 is NULL or not UTF-8"},
            {{{"a", t}, {NULL, t}}, 2, NULL, 0, "is NULL, not UTF-8, or __metadata__"},
            {{{"\xc3", t}}, 1, NULL, 0, "is NULL, not UTF-8, or __metadata__"},
            {{{"__metadata__", t}}, 1, NULL, 0, "is NULL, not UTF-8, or __metadata__"},
            {{{"a", NULL}}, 1, NULL, 0, "tensor \"a\" is NULL"},
            {{{"a", wide}}, 1, NULL, 0, "tensor \"a\": safetensors does not support complex128"},
            {{{"a", meta}}, 1, NULL, 0, "tensor \"a\" is not on the CPU"},
            {{{"b", t}, {"a", t}, {"b", t}}, 3, NULL, 0, "the name \"b\" is given twice"}};
        remove(path);
        for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
            CHECK(
                !tn_safetensors_save_at("here", 9, path, c[i].at, c[i].n, c[i].notes, c[i].nnotes));
            if (CHECK(tn_error_take(&e) && strstr(e.message, c[i].said))) continue;
            printf("    %s\n    %s\n", e.message, c[i].said);
        }
        CHECK(!tn_safetensors_save(NULL, c[0].at, 1) && tn_error_take(&e));
        CHECK(access(path, F_OK) != 0);
    }
}

static void a_file_that_changes_while_open_is_noticed(void) {
    static const char ab[] = ONE(",\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}");
    char other[sizeof ab];
    tn_error_info e;
    for (int change = 0; change < 4; change++)
        TN_SCOPE {
            write_file(ab, sizeof ab - 1, 4);
            tn_safetensors *f = tn_safetensors_open(path);
            tn_tensor *b = tn_safetensors_get(f, "b");
            CHECK(b && ((uint8_t *)tn_data(b))[0] == 3 && ((uint8_t *)tn_data(b))[1] == 4);
            strcpy(other, ab);
            if (change == 1) other[2] = 'c';
            if (change == 2) strcpy(strchr(other, ']'), "] ");
            if (change) write_file(other, strlen(other), change == 3 ? 5 : 4);
            tn_tensor *a = tn_safetensors_get(f, "a");
            CHECK((a != NULL) == (change == 0));
            if (a) CHECK(((uint8_t *)tn_data(a))[0] == 1 && ((uint8_t *)tn_data(a))[1] == 2);
            if (change) CHECK(tn_error_take(&e) && strstr(e.message, "has changed"));
            CHECK(!tn_safetensors_get(f, NULL) && tn_error_take(&e) && e.code == TN_INVALID);
            tn_safetensors_close(f);
        }
}

static void a_bool_is_0_or_1(void) {
    static const char b[] = "{\"a\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]}}";
    tn_error_info e;
    for (unsigned char k = 0; k < 4; k++) {
        unsigned char all[200] = {0};
        all[0] = (unsigned char)strlen(b);
        memcpy(all + 8, b, strlen(b));
        all[8 + strlen(b) + 1] = k;
        write_bytes(all, strlen(b) + 11);
        tn_named_list got = tn_safetensors_load(path);
        CHECK_EQ(got.n, k < 2 ? 1 : -1);
        if (k >= 2) CHECK(tn_error_take(&e) && strstr(e.message, "bytes other than 0 and 1"));
        tn_named_free(got);
    }
    CHECK(tn_ok());
}

/* --- IDX and bytes ---------------------------------------------------------------------------- */

static void idx_files_are_tensors_of_their_dtype(void) {
    static const struct {
        unsigned char type;
        tn_dtype dtype;
    } c[] = {{0x08, TN_U8},  {0x09, TN_I8},  {0x0B, TN_I16},
             {0x0C, TN_I32}, {0x0D, TN_F32}, {0x0E, TN_F64}};
    static const unsigned char data[] = {0xc0, 0x20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        TN_SCOPE {
            unsigned char file[40] = {0, 0, c[i].type, 2, 0, 0, 0, 2, 0, 0, 0, 1};
            int64_t each = tn_dtype_bytes(c[i].dtype);
            memcpy(file + 12, data, sizeof data);
            write_bytes(file, 12 + (size_t)(2 * each));
            tn_tensor *t = tn_load_idx(path);
            if (!CHECK(t && tn_dtype_of(t) == c[i].dtype && tn_ndim(t) == 2)) continue;
            CHECK(tn_size(t, 0) == 2 && tn_size(t, 1) == 1);
            const unsigned char *p = (const unsigned char *)tn_data(t);
            const uint16_t one = 1;
            bool little = *(const unsigned char *)&one == 1;
            for (int64_t k = 0; k < 2 * each; k++)
                CHECK_EQ(p[k], data[little ? k / each * each + each - 1 - k % each : k]);
        }
}

static void idx_files_that_are_none_are_refused(void) {
    static const struct {
        unsigned char bytes[16];
        size_t n;
        const char *said;
    } c[] = {{{0, 0, 8}, 3, "is not an IDX file: 3 bytes"},
             {{0, 0, 8, 0, 7}, 5, ""},
             {{0, 0, 8, 0}, 4, "is damaged"},
             {{0, 0, 8, 0, 7, 7}, 6, "is damaged"},
             {{0, 0, 8, 1, 0, 0, 0, 2, 5, 6}, 10, ""},
             {{0, 0, 8, 1, 0, 0, 0, 2, 5}, 9, "is damaged"},
             {{0, 0, 8, 1, 0, 0, 0, 0}, 8, ""},
             {{0, 0, 8, 1, 1, 0, 0, 2, 5, 6}, 10, "is damaged"},
             {{0, 0, 8, 1, 0, 1, 0, 2, 5, 6}, 10, "is damaged"},
             {{0, 0, 8, 1, 0, 0, 1, 2, 5, 6}, 10, "is damaged"},
             {{1, 0, 8, 0, 7}, 5, "is not an IDX file"},
             {{0, 1, 8, 0, 7}, 5, "is not an IDX file"},
             {{0, 0, 7, 0, 7}, 5, "is not an IDX file"},
             {{0, 0, 10, 0, 7}, 5, "is not an IDX file"},
             {{0, 0, 15, 0, 7}, 5, "is not an IDX file"},
             {{0, 0, 8, 255, 7}, 5, "is not an IDX file"},
             {{0, 0, 8, TN_MAX_DIMS + 1, 7}, 5, "is not an IDX file"},
             {{0x1f, 0x8b, 8, 0, 7}, 5, "is compressed; unpack it with gunzip first"},
             {{0x1f, 0, 8, 0, 7}, 5, "is not an IDX file"},
             {{0, 0x8b, 8, 0, 7}, 5, "is not an IDX file"}};
    tn_error_info e;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        TN_SCOPE {
            write_bytes(c[i].bytes, c[i].n);
            tn_tensor *t = tn_load_idx(path);
            CHECK((t != NULL) == !*c[i].said);
            if (!t && !CHECK(tn_error_take(&e) && strstr(e.message, c[i].said)))
                printf("    %d %s\n", (int)i, e.message);
        }
}

static void idx_files_have_up_to_the_most_dimensions(void) {
    unsigned char file[4 + 4 * TN_MAX_DIMS + 3] = {0, 0, 8, TN_MAX_DIMS};
    for (int i = 0; i < TN_MAX_DIMS; i++) file[7 + 4 * i] = i == 5 ? 3 : 1;
    file[sizeof file - 1] = 9;
    write_bytes(file, sizeof file);
    TN_SCOPE {
        tn_tensor *t = tn_load_idx(path);
        CHECK(t && tn_ndim(t) == TN_MAX_DIMS && tn_numel(t) == 3 && tn_size(t, 5) == 3);
        if (t) CHECK_EQ(((uint8_t *)tn_data(t))[2], 9);
    }
}

static void idx_sizes_are_big_endian(void) {
    static const unsigned char none[] = {0, 0, 8, 2, 1, 2, 3, 4, 0, 0, 0, 0};
    unsigned char file[8 + 0x01ff] = {0, 0, 8, 1, 0, 0, 1, 0xff};
    TN_SCOPE {
        write_bytes(none, sizeof none); /* of no elements: any sizes do */
        tn_tensor *t = tn_load_idx(path);
        CHECK(t && tn_size(t, 0) == 0x01020304 && tn_size(t, 1) == 0);
        write_bytes(file, sizeof file);
        t = tn_load_idx(path);
        CHECK(t && tn_size(t, 0) == 0x01ff);
    }
}

static void a_failed_load_keeps_nothing(void) {
    int64_t live = tn_memory().live_tensors;
    bool there = true;
    tn_error_info e;
    remove(path);
    CHECK(!tn_load_bytes_at("f.c", 3, path) && tn_error_take(&e));
    CHECK(e.line == 3 && e.code == TN_FILE && !strcmp(e.file, "f.c"));
    CHECK(!tn_load_idx(path) && tn_error_take(NULL));
    CHECK(tn_file_exists(path, &there) && !there);
    CHECK(!tn_file_exists(path, NULL) && tn_error_take(&e) && e.code == TN_INVALID);
    write_bytes("abc", 3);
    CHECK(tn_file_exists(path, &there) && there);
    TN_SCOPE {
        tn_tensor *t = tn_load_bytes(path);
        CHECK(t && tn_numel(t) == 3 && tn_dtype_of(t) == TN_U8 && !memcmp(tn_data(t), "abc", 3));
    }
    CHECK_EQ(tn_memory().live_tensors, live);
}

static int told;
static void on_error(const tn_error_info *e, void *user) { told += e->line == 3 && user == &told; }
static void no_words(const tn_path *at, char *to, size_t room) { (void)at, (void)room, *to = 0; }
static void a_handler_hears_of_a_failed_load(void) {
    tn_path above = {NULL, no_words, "above.c", 3};
    told = 0;
    remove(path);
    tn_set_error_handler(on_error, &told);
    CHECK(!tn_load_bytes_at("f.c", 3, path) && told == 1 && tn_error_take(NULL));
    CHECK(!tn_load_idx_at("f.c", 3, path) && told == 2 && tn_error_take(NULL));
    CHECK(!tn_safetensors_open_at("f.c", 3, path) && told == 3 && tn_error_take(NULL));
    tn_path_push(&above);
    CHECK(!tn_load_bytes_at("f.c", 9, path) && told == 3);
    CHECK(!tn_load_bytes_at("f.c", 9, path)); /* nothing while an error is pending */
    tn_path_pop(&above);
    CHECK(told == 4 && tn_error_take(NULL));
    tn_set_error_handler(NULL, NULL);
}

static const check_test tests[] = {
    CHECK_TEST(a_header_is_valid_or_refused_in_these_words),
    CHECK_TEST(lengths_that_cannot_be_are_refused),
    CHECK_TEST(names_are_json_strings),
    CHECK_TEST(entries_come_in_the_order_of_the_data),
    CHECK_TEST(names_that_stand_twice_are_found),
    CHECK_TEST(a_saved_file_has_these_bytes),
    CHECK_TEST(every_dtype_comes_back_also_from_other_strides),
    CHECK_TEST(saves_that_cannot_be_are_refused_in_these_words),
    CHECK_TEST(a_file_that_changes_while_open_is_noticed),
    CHECK_TEST(a_bool_is_0_or_1),
    CHECK_TEST(idx_files_are_tensors_of_their_dtype),
    CHECK_TEST(idx_files_that_are_none_are_refused),
    CHECK_TEST(idx_files_have_up_to_the_most_dimensions),
    CHECK_TEST(idx_sizes_are_big_endian),
    CHECK_TEST(a_failed_load_keeps_nothing),
    CHECK_TEST(a_handler_hears_of_a_failed_load),
};

int main(int argc, char **argv) {
    strcpy(folder, "/tmp/tn_formats_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    int status = CHECK_MAIN(tests, argc, argv);
    remove(path);
    rmdir(folder);
    return status;
}
