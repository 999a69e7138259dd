/* safetensors.c - any bytes as a safetensors file, read in every way that there is: whole, and
 * opened, tensor by tensor from the last to the first. The ways agree; what was read, saved and
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

static void check_saved(tn_named_list l) {
    tn_named_list again;
    MUST(tn_safetensors_save("saved", l.at, l.n), "what was loaded cannot be saved");
    again = tn_safetensors_load("saved");
    MUST(again.n == l.n, "what was saved cannot be loaded");
    for (int64_t i = 0; i < l.n; i++)
        MUST(same_tensor(l.at[i].tensor, tn_named_find(again, l.at[i].name)),
             "a tensor has changed on its way");
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
    if (valid) check_saved(l);
    tn_named_free(l);
    return valid;
}

const fuzz_target fuzz_this = {"safetensors", NULL, one};

#ifndef FUZZ_REPLAY
#include "mutate.inl"
#endif
