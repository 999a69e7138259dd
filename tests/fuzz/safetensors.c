/* safetensors.c - any bytes as a safetensors file, read in every way that there is: whole, and
 * opened, tensor by tensor from the last to the first, and from memory, copied and borrowed. The
 * ways agree; what was read, saved and
 * read again is the same, and saved again the same bytes. */
#include "fuzz.h"

static int64_t bytes_of(const tn_tensor *t) { return tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t)); }

static bool same_tensor(const tn_tensor *a, const tn_tensor *b) {
    tn_ints x = tn_shape(a), y = tn_shape(b);
    return a && b && tn_dtype_of(a) == tn_dtype_of(b) && x.n == y.n &&
           (x.n == 0 || !memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at)) &&
           (bytes_of(a) == 0 || !memcmp(tn_data(a), tn_data(b), (size_t)bytes_of(a)));
}

/* The format's rule: 8 bytes, the header, the tensors without a gap. */
static void check_sum(tn_named_list l, const uint8_t *data, size_t size) {
    int64_t sum = 8;
    for (int i = 7; i >= 0; i--) sum += (int64_t)data[i] << 8 * i;
    for (int64_t i = 0; i < l.n; i++) sum += bytes_of(l.at[i].tensor);
    MUST(sum == (int64_t)size, "the tensors do not cover the data");
}

static void check_opened(tn_named_list l, size_t size) {
    int64_t mark = fuzz_mark(), n;
    tn_safetensors *f = tn_safetensors_open("in");
    fuzz_within(mark, size);
    n = tn_safetensors_count(f);
    if (!f) {
        MUST(l.n < 0 && fuzz_error() == TN_FORMAT, "loaded, but cannot be opened");
        return;
    }
    MUST(l.n < 0 || l.n == n, "opened and loaded differ in their number");
    for (int64_t i = n; i-- > 0;) {
        const char *name = tn_safetensors_name(f, i);
        tn_tensor *t = tn_safetensors_get(f, name);
        fuzz_within(mark, size);
        MUST(t || fuzz_error() == TN_FORMAT, "no tensor of a name that there is");
        MUST(l.n < 0 || (t && same_tensor(t, l.at[i].tensor) && !strcmp(name, l.at[i].name)),
             "opened and loaded differ");
        tn_free(t);
    }
    tn_safetensors_note(f, "format");
    tn_safetensors_close(f);
}

static int released;
static void count_release(void *data, void *user) { released += data == user; }

/* The same bytes in memory, from an aligned place on or from the next byte. */
static void check_memory(tn_named_list l, const uint8_t *data, size_t size, bool borrow,
                         bool aligned) {
    uint8_t *room = (uint8_t *)malloc(size + 1), *at = room + !aligned;
    int64_t mark = fuzz_mark(), borrowed = -1;
    tn_named_list m;
    MUST(room, "the test has no memory");
    if (size) memcpy(at, data, size);
    released = 0;
    m = tn_load_memory(at, size, .borrow = borrow, .borrowed = &borrowed, .user = at,
                       .release = borrow ? count_release : NULL);
    fuzz_within(mark, size);
    MUST(m.n == l.n, "memory and file differ in their number");
    MUST(m.n >= 0 ? borrowed >= 0 && (borrow || !borrowed) : fuzz_error() == TN_FORMAT,
         "not a FORMAT error");
    MUST(released == (borrow && m.n >= 0 && !borrowed), "released too early");
    for (int64_t i = 0; i < m.n; i++) {
        const tn_tensor *t = m.at[i].tensor;
        MUST(!strcmp(m.at[i].name, l.at[i].name) && same_tensor(t, l.at[i].tensor),
             "memory and file differ");
        MUST(tn_is_wrapped(t) == tn_is_read_only(t), "a borrowed tensor can be written");
        borrowed -= tn_is_wrapped(t);
        /* Copies must live without the memory. */
        MUST(tn_is_wrapped(t) || (uintptr_t)tn_data(t) - (uintptr_t)at >= size,
             "a copy lies in the memory");
    }
    MUST(m.n < 0 || borrowed == 0, "another number of tensors is borrowed");
    tn_named_free(m);
    MUST(released == (borrow && m.n >= 0), "not released once");
    free(room);
}

static void check_saved(tn_named_list l) {
    tn_named_list again;
    MUST(tn_safetensors_save("saved", l.at, l.n), "what was loaded cannot be saved");
    again = tn_safetensors_load("saved");
    MUST(again.n == l.n, "what was saved cannot be loaded");
    for (int64_t i = 0; i < l.n; i++)
        MUST(same_tensor(l.at[i].tensor, tn_named_find(again, l.at[i].name)),
             "a tensor has changed on its way");
    {
        size_t n;
        const uint8_t *saved = fuzz_get("saved", &n);
        tn_bytes memory = tn_save_memory(l.at, l.n);
        MUST(memory.at && memory.n == n && !memcmp(memory.at, saved, n),
             "saved to memory are other bytes");
        tn_bytes_free(memory);
    }
    MUST(tn_safetensors_save("again", again.at, again.n), "saving again");
    MUST(fuzz_same_files("saved", "again"), "the second file differs from the first");
    tn_named_free(again);
}

static bool one(const uint8_t *data, size_t size) {
    int64_t mark;
    tn_named_list l;
    bool valid;
    fuzz_put("in", data, size);
    mark = fuzz_mark();
    l = tn_safetensors_load("in");
    fuzz_within(mark, size);
    valid = l.n >= 0;
    if (valid)
        check_sum(l, data, size);
    else
        MUST(fuzz_error() == TN_FORMAT, "not a FORMAT error");
    check_opened(l, size);
    check_memory(l, data, size, false, true);
    check_memory(l, data, size, true, true);
    check_memory(l, data, size, true, false);
    if (valid) check_saved(l);
    tn_named_free(l);
    return valid;
}

const fuzz_target fuzz_this = {"safetensors", NULL, one};

#ifndef FUZZ_REPLAY
#include "mutate.inl"
#endif
