/* numpy.c - any bytes as NumPy's .npy and .npz files. What is read is written as a file that holds
 * the same, and nothing else is a valid file. */
#include "fuzz.h"

static void check_error(void) {
    tn_code code = fuzz_error();
    MUST(code == TN_FORMAT || code == TN_FILE || code == TN_MEMORY, "another error");
}

static bool same(tn_tensor *a, tn_tensor *b) {
    bool ok = a && b && tn_dtype_of(a) == tn_dtype_of(b) && tn_ndim(a) == tn_ndim(b);
    int64_t mark = tn_scope_begin();
    size_t n = (size_t)(tn_numel(a) * tn_dtype_bytes(tn_dtype_of(a)));
    for (int i = 0; ok && i < tn_ndim(a); i++) ok = tn_size(a, i) == tn_size(b, i);
    ok = ok && (!n || memcmp(tn_data(tn_contiguous(a)), tn_data(tn_contiguous(b)), n) == 0);
    tn_scope_end(mark);
    return ok;
}

static bool one_npy(const uint8_t *data, size_t size) {
    int64_t mark = fuzz_mark();
    tn_tensor *t = tn_load_npy("in"), *again, *over;
    fuzz_within(mark, size);
    over = t ? tn_load_npy_memory(data, size) : NULL;
    if (!t) {
        check_error();
        return false;
    }
    MUST(tn_save_npy("out", t), "it is not saved");
    again = tn_load_npy("out");
    MUST(same(t, again) && same(t, over), "another tensor");
    tn_free(again), tn_free(over), tn_free(t);
    return true;
}

static bool one_npz(const uint8_t *data, size_t size) {
    int64_t mark = fuzz_mark();
    tn_named_list list = tn_load_npz("in"), again;
    tn_bytes bytes;
    fuzz_within(mark,
                4096 * size); /* deflate makes 1032 of a byte, once packed and once as tensors */
    if (list.n < 0) {
        check_error();
        return false;
    }
    again = tn_load_npz_memory(data, size);
    MUST(again.n == list.n, "memory has another list");
    tn_named_free(again);
    bytes = tn_save_npz_memory(list.at, list.n);
    if (bytes.at) {
        again = tn_load_npz_memory(bytes.at, bytes.n);
        MUST(again.n == list.n, "another list");
        for (int64_t i = 0; i < list.n; i++)
            MUST(same(list.at[i].tensor, again.at[i].tensor) &&
                     strcmp(list.at[i].name, again.at[i].name) == 0,
                 "another member");
        tn_named_free(again);
    } else {
        MUST(fuzz_error() == TN_INVALID, "another error"); /* a name that came twice */
    }
    tn_bytes_free(bytes);
    tn_named_free(list);
    return true;
}

static bool one(const uint8_t *data, size_t size) {
    bool npy, npz;
    fuzz_put("in", data, size);
    npy = one_npy(data, size);
    npz = one_npz(data, size);
    return npy || npz;
}

const fuzz_target fuzz_this = {"numpy", NULL, one};
