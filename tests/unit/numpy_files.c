/* numpy_files.c - promises about NumPy's files: what NumPy wrote is read, what is written is a file
 * of NumPy, and what is damaged is an error. tests/python/test_formats.py has NumPy itself. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../refused.h"
#include "io/io.h"

#include <unistd.h>

static char folder[64], path[96];

/* np.save of np.arange(6, dtype='>i2').reshape(2, 3), in Fortran's order. */
static const char fortran[] =
    "\x93NUMPY\x01\x00\x76\x00{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }"
    "                                                           \n"
    "\x00\x00\x00\x03\x00\x01\x00\x04\x00\x02\x00\x05";

static void npy_in_fortrans_order_has_its_strides(void) {
    TN_SCOPE {
        int64_t v[6];
        tn_tensor *t = tn_load_npy_memory(fortran, sizeof fortran - 1);
        if (!CHECK(t && tn_dtype_of(t) == TN_I16 && tn_ndim(t) == 2)) continue;
        CHECK(tn_size(t, 0) == 2 && tn_size(t, 1) == 3);
        CHECK(tn_stride(t, 0) == 1 && tn_stride(t, 1) == 2);
        CHECK(tn_read_i64(t, v, 6));
        for (int i = 0; i < 6; i++) CHECK_EQ(v[i], i);
    }
}

static void npy_that_ends_anywhere_is_an_error(void) {
    tn_error_info e;
    for (size_t n = 0; n < sizeof fortran - 1; n++) {
        CHECK(!tn_load_npy_memory(fortran, n) && tn_error_take(&e));
        CHECK(e.code == TN_FORMAT || e.code == TN_FILE);
    }
    REFUSED(tn_load_npy_memory(fortran, sizeof fortran), TN_FORMAT, "shorter or longer");
    REFUSED(tn_load_npy_memory(NULL, 3), TN_INVALID, "the memory is NULL");
    REFUSED(tn_load_npy(NULL), TN_FILE, "the file name is empty");
}

static void npy_is_written_as_version_1(void) {
    static const char begin[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ";
    TN_SCOPE {
        tn_tensor *t = tn_arange(6, .dtype = TN_F32), *turned, *again;
        turned = tn_t(tn_reshape(t, TN_DIMS(3, 2)));
        tn_bytes m = tn_save_npy_memory(turned);
        if (!CHECK(m.n == 128 + 24)) continue;
        CHECK(memcmp(m.at, begin, sizeof begin - 1) == 0 && ((const char *)m.at)[127] == '\n');
        CHECK(tn_save_npy(path, turned));
        again = tn_load_npy(path);
        CHECK(again && tn_is_contiguous(again) && tn_equal(again, turned));
        again = tn_load_bytes(path);
        CHECK(again && memcmp(tn_data(again), m.at, m.n) == 0);
        tn_bytes_free(m);
    }
}

static void npy_has_no_bfloat16(void) {
    TN_SCOPE {
        tn_tensor *t = tn_ones(TN_DIMS(2), .dtype = TN_BF16);
        remove(path);
        REFUSED(tn_save_npy(path, t), TN_TYPE, "NumPy has no bfloat16; convert it first");
        REFUSED(tn_save_npy_memory(t).at, TN_TYPE, "NumPy has no bfloat16");
        REFUSED(tn_save_npy(path, NULL), TN_INVALID, "tensor \"t\" is NULL");
        CHECK(access(path, F_OK) != 0);
    }
}

/* np.savez_compressed of a = np.full(400, 2, 'u1'), packed by zlib. */
static const char packed[] =
    "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x06\xf1\x3b\xac\x4b\x00\x00\x00"
    "\x10\x02\x00\x00\x05\x00\x00\x00\x61\x2e\x6e\x70\x79\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50"
    "\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x5e\x53\x6a\xa8\xae\xa3\xa0\x9e\x96\x5f"
    "\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16"
    "\xa4\x02\xf9\x1a\x26\x06\x06\x3a\x9a\x3a\x0a\xb5\x0a\x64\x03\x2e\xa6\x51\x30\xa8\x00\x00"
    "\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x06\xf1\x3b\xac\x4b\x00"
    "\x00\x00\x10\x02\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00"
    "\x00\x00\x61\x2e\x6e\x70\x79\x50\x4b\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x33\x00\x00"
    "\x00\x6e\x00\x00\x00\x00\x00";

static void npz_that_is_packed_is_read(void) {
    tn_named_list list = tn_load_npz_memory(packed, sizeof packed - 1);
    if (!CHECK_EQ(list.n, 1)) return;
    CHECK_TEXT(list.at[0].name, "a");
    TN_SCOPE
        CHECK(tn_numel(list.at[0].tensor) == 400 && tn_item(tn_sum(list.at[0].tensor)) == 800);
    tn_named_free(list);
}

/* n literals of 9 bits in a block of the fixed codes, after which any number of bits is left of
 * what was read: a byte behind the end is one too many wherever the end is. */
static void inflate_takes_all_bytes_and_no_more(void) {
    for (int n = 0; n < 20; n++) {
        unsigned char from[40] = {3}, to[20];
        int bits = 3;
        for (int i = 0; i < n; i++)
            for (int k = 8; k >= 0; k--, bits++) /* 0x190: of 144, first bit first */
                from[bits / 8] = (unsigned char)(from[bits / 8] | (0x190 >> k & 1) << bits % 8);
        const int64_t bytes = (bits + 7 + 7) / 8; /* 0000000 ends the block */
        CHECK(tni_inflate(from, bytes, to, n) && (n == 0 || (to[0] == 144 && to[n - 1] == 144)));
        CHECK(!tni_inflate(from, bytes + 1, to, n) && !tni_inflate(from, bytes - 1, to, n));
        CHECK(!tni_inflate(from, bytes, to, n + 1));
    }
}

static void npz_with_any_byte_changed_is_an_error_or_read(void) {
    char bytes[sizeof packed];
    tn_error_info e;
    int refused = 0;
    for (size_t i = 0; i < sizeof packed - 1; i++)
        for (int bit = 0; bit < 8; bit++) {
            tn_named_list list;
            memcpy(bytes, packed, sizeof packed);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            list = tn_load_npz_memory(bytes, sizeof packed - 1);
            if (list.n < 0) refused++;
            CHECK((list.n < 0) == tn_error_take(&e));
            if (list.n < 0) CHECK(e.code == TN_FORMAT || e.code == TN_FILE);
            tn_named_free(list);
        }
    CHECK(refused > 700);
    for (size_t n = 0; n < sizeof packed - 1; n++)
        CHECK(tn_load_npz_memory(packed, n).n == -1 && tn_error_take(NULL));
}

/* What the directory's entry of the member says is checked: offset in it, byte, words. */
static void npz_entries_that_do_not_fit_are_refused(void) {
    static const struct {
        int at;
        unsigned char byte;
        const char *said;
    } c[] = {{0, 0, "its directory is damaged"},
             {8, 1, "is encrypted"},
             {10, 12, "compressed by another method than deflate"},
             {16, 0x55, "has another CRC"},
             {21, 0x7f, "ends beyond the file"},
             {20, 0, "has sizes that do not agree"},
             {20, 0x4c, "cannot be unpacked"}, /* a byte too many */
             {24, 5, "cannot be unpacked"},
             {29, 0x7f, "its directory is damaged"},
             {42, 1, "does not begin where"},
             {46, 0xff, "a member's name is not UTF-8"}};
    size_t entry = 0;
    while (memcmp(packed + entry, "PK\1\2", 4) != 0) entry++;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char bytes[sizeof packed];
        memcpy(bytes, packed, sizeof packed);
        bytes[entry + (size_t)c[i].at] = (char)c[i].byte;
        REFUSED(tn_load_npz_memory(bytes, sizeof packed - 1).at, TN_FORMAT, c[i].said);
    }
}

static void npz_comes_back_from_files_and_memory(void) {
    tn_named at[3] = {{"b", NULL}, {"a/weight", NULL}, {"", NULL}};
    TN_SCOPE {
        at[0].tensor = tn_arange(5);
        at[1].tensor = tn_ones(TN_DIMS(2, 0), .dtype = TN_BOOL);
        at[2].tensor = tn_sum(tn_full(TN_DIMS(2), 1.25, .dtype = TN_F64));
        tn_bytes m = tn_save_npz_memory(at, 3);
        CHECK(m.at && tn_save_npz(path, at, 3));
        tn_named_list file = tn_load_npz(path), memory = tn_load_npz_memory(m.at, m.n);
        CHECK(file.n == 3 && memory.n == 3 && file.owned);
        for (int i = 0; i < 3 && file.n == 3 && memory.n == 3; i++) {
            CHECK_TEXT(file.at[i].name, at[i].name);
            CHECK(tn_equal(file.at[i].tensor, at[i].tensor));
            CHECK(tn_equal(memory.at[i].tensor, at[i].tensor));
        }
        tn_named_free(file), tn_named_free(memory), tn_bytes_free(m);
        at[2].name = "b";
        REFUSED(tn_save_npz(path, at, 3), TN_INVALID, "the name \"b\" is given twice");
        at[2].name = NULL;
        REFUSED(tn_save_npz(path, at, 3), TN_INVALID, "the name of tensor 2 is NULL");
        REFUSED(tn_save_npz(path, at, -1), TN_INVALID, "expected a list of up to 65534 tensors");
        REFUSED(tn_save_npz(path, NULL, 1), TN_INVALID, "expected a list of up to 65534 tensors");
    }
}

static const check_test tests[] = {
    CHECK_TEST(npy_in_fortrans_order_has_its_strides),
    CHECK_TEST(npy_that_ends_anywhere_is_an_error),
    CHECK_TEST(npy_is_written_as_version_1),
    CHECK_TEST(npy_has_no_bfloat16),
    CHECK_TEST(npz_that_is_packed_is_read),
    CHECK_TEST(inflate_takes_all_bytes_and_no_more),
    CHECK_TEST(npz_with_any_byte_changed_is_an_error_or_read),
    CHECK_TEST(npz_entries_that_do_not_fit_are_refused),
    CHECK_TEST(npz_comes_back_from_files_and_memory),
};

int main(int argc, char **argv) {
    strcpy(folder, "/tmp/tn_numpy_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    int status = CHECK_MAIN(tests, argc, argv);
    remove(path);
    rmdir(folder);
    return status;
}
