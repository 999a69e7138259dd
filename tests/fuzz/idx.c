/* idx.c - any bytes as an IDX file: images with labels, and the tensor. What is read holds the
 * file's elements, and nothing else is a valid file. */
#include "fuzz.h"

/* The file that the format says t is. */
static void check_bytes(const tn_tensor *t, const uint8_t *data, size_t size) {
    tn_ints shape = tn_shape(t);
    size_t each = (size_t)tn_dtype_bytes(tn_dtype_of(t)), at = 4 + 4 * (size_t)shape.n;
    const uint8_t *own = (const uint8_t *)tn_data(t);
    const uint16_t little = 1;
    bool turn = *(const uint8_t *)&little == 1;
    MUST(size == at + (size_t)tn_numel(t) * each && data[3] == shape.n, "another size");
    for (size_t i = 0; i < (size_t)shape.n; i++) {
        const uint8_t *s = data + 4 + 4 * i;
        MUST(shape.at[i] == (int64_t)(((uint32_t)s[0] << 24) | ((uint32_t)s[1] << 16) |
                                      ((uint32_t)s[2] << 8) | s[3]),
             "another shape");
    }
    for (size_t i = 0; i < (size_t)tn_numel(t) * each; i++)
        MUST(own[turn ? i / each * each + (each - 1 - i % each) : i] == data[at + i],
             "another element");
}

/* The images with labels 0, as a data set; its last item. */
static void check_images(const tn_tensor *t, size_t size) {
    uint8_t labels[8 + 64] = {0, 0, 8, 1};
    tn_dataset *d;
    int64_t n = tn_ndim(t) ? tn_shape(t).at[0] : 0, mark;
    if (n > 64) return;
    labels[7] = (uint8_t)n;
    fuzz_put("labels", labels, 8 + (size_t)n);
    mark = fuzz_mark();
    d = tn_dataset_idx("in", "labels", 0.5, 0.25);
    fuzz_within(mark, size + 8 + (size_t)n);
    if (!d) {
        fuzz_error();
        return;
    }
    if (d->size) {
        int64_t item = 4, label = -1;
        float *image;
        void *to[2];
        for (int i = 0; i < d->field[0].ndim; i++) item *= d->field[0].size[i];
        image = (float *)malloc((size_t)item + 1);
        to[0] = image, to[1] = &label;
        MUST(image && d->get(d, d->size - 1, to) && label == 0, "the last item");
        free(image);
    }
    tn_dataset_free(d);
}

static bool one(const uint8_t *data, size_t size) {
    int64_t mark;
    tn_tensor *t;
    fuzz_put("in", data, size);
    mark = fuzz_mark();
    t = tn_load_idx("in");
    fuzz_within(mark, size);
    if (!t) {
        tn_code code = fuzz_error();
        MUST(code == TN_FORMAT || code == TN_FILE, "another error");
        return false;
    }
    check_bytes(t, data, size);
    check_images(t, size);
    tn_free(t);
    t = tn_load_bytes("in");
    MUST(t && tn_numel(t) == (int64_t)size && !memcmp(tn_data(t), data, size), "the bytes");
    tn_free(t);
    return true;
}

/* --- mutation: a header that says something, and data that fit it in half of the cases -------- */

#ifndef FUZZ_REPLAY
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static uint32_t some_size(void) {
    static const uint32_t sizes[] = {0,       1,          2,          3,          28,
                                     255,     65536,      0x7fffffff, 0x80000000, 0xffffffff,
                                     1 << 24, 0x10000001, 0x20000000, 0x40000000, 0xfffffffe};
    return fuzz_below(3) ? (uint32_t)fuzz_below(6)
                         : sizes[fuzz_below((int)(sizeof sizes / sizeof *sizes))];
}

/* Bytes that the header asks for, or `most` where they are more. */
static size_t fit(const uint8_t *data, size_t most) {
    static const size_t each[] = {1, 1, 0, 2, 4, 4, 8};
    size_t n = data[2] >= 8 && data[2] <= 14 ? each[data[2] - 8] : 1;
    size_t head = 4 + 4 * (size_t)data[3];
    if (head > most) return most;
    for (size_t i = 0; i < data[3] && n < most; i++) {
        const uint8_t *s = data + 4 + 4 * i;
        n *= ((size_t)s[0] << 24) | ((size_t)s[1] << 16) | ((size_t)s[2] << 8) | s[3];
    }
    return n < most - head ? head + n : most;
}

static void put_size(uint8_t *at) {
    uint32_t v = some_size();
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(v >> (24 - 8 * i));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    static const uint8_t types[] = {8, 9, 10, 11, 12, 13, 14, 15, 0, 255};
    size_t now;
    fuzz_seed(seed);
    if (size < 8 || most < 64 || !fuzz_below(8)) return LLVMFuzzerMutate(data, size, most);
    for (int n = 1 + fuzz_below(3); n > 0; n--) switch (fuzz_below(5)) {
        case 0: data[2] = types[fuzz_below((int)sizeof types)]; break;
        case 1: data[3] = (uint8_t)(fuzz_below(8) ? fuzz_below(5) : fuzz_below(256)); break;
        case 2:
        case 3: {
            size_t dim = (size_t)fuzz_below(data[3] ? data[3] : 1);
            if (8 + 4 * dim <= size) put_size(data + 4 + 4 * dim);
            break;
        }
        default: data[fuzz_below(fuzz_below(2) ? 4 : (int)size)] = (uint8_t)fuzz_below(256);
        }
    now = fuzz_below(2) ? fit(data, most) : size;
    if (now > size) memset(data + size, fuzz_below(256), now - size);
    return fuzz_below(16) ? now : now - (size_t)fuzz_below(3);
}
#endif

const fuzz_target fuzz_this = {"idx", NULL, one};
