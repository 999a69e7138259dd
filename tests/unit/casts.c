/* casts.c - every dtype becomes every other as torch's does (tests/oracle/casts.txt), at the ends
 * of both ranges: as a tensor of them all, of every second one of a longer one, of one, and
 * element by element; by the scalar loops and by the best instruction set. */
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

enum { MOST = 1000, LINE = 1 << 15, SIZE = 16 };

static char from[MOST * SIZE], wanted[MOST * SIZE]; /* elements, row-major */
static char not_a_number[MOST][2]; /* of wanted: the real part, the imaginary one */
static int64_t count, compared;
static tn_dtype source;

/* Bits in hexadecimal into `size` bytes at `to`; whether they are a NaN's. */
static char put(char *to, int64_t size, const char *text) {
    const uint64_t bits = strtoull(text, NULL, 16);
    uint32_t word = (uint32_t)bits;
    uint16_t half = (uint16_t)bits;
    uint8_t byte = (uint8_t)bits;
    const void *at = size == 8 ? (const void *)&bits
                     : size == 4 ? (const void *)&word
                     : size == 2 ? (const void *)&half
                                 : (const void *)&byte;
    memcpy(to, at, (size_t)size);
    return text[0] == 'n';
}

/* The elements of a line behind its colon; how many. */
static int64_t elements(char *text, tn_dtype dtype, char *to) {
    const int parts = tni_is_complex((int)dtype) ? 2 : 1;
    const tn_dtype part = tni_real_of((int)dtype);
    const int64_t size = tn_dtype_bytes(part);
    int64_t n = 0;
    for (char *at = strtok(text, " \n"); at && n < MOST; at = strtok(NULL, " \n"), n++) {
        for (int k = 0; k < parts; k++) {
            char *place = to + (n * parts + k) * size;
            not_a_number[n][k] = put(place, size, k ? strchr(at, ',') + 1 : at);
            if (not_a_number[n][k])
                tni_element_set(place, (int)part, tn_float((double)NAN));
        }
    }
    return n;
}

static bool is_nan(const char *at, tn_dtype dtype) {
    const tn_scalar s = tni_element(at, (int)dtype);
    return s.real != s.real;
}
static bool same(const char *at, int64_t i, tn_dtype dtype) {
    const int parts = tni_is_complex((int)dtype) ? 2 : 1;
    const tn_dtype part = tni_real_of((int)dtype);
    const int64_t size = tn_dtype_bytes(part);
    for (int k = 0; k < parts; k++) {
        const char *w = wanted + (i * parts + k) * size;
        if (not_a_number[i][k] ? !is_nan(at + k * size, part)
                               : memcmp(at + k * size, w, (size_t)size) != 0)
            return false;
    }
    return true;
}

static bool element_is(const char *at, int64_t i, tn_dtype dtype, const char *how) {
    char text[4][40];
    compared++;
    if (same(at, i, dtype)) return true;
    const int64_t size = tn_dtype_bytes(dtype);
    const tn_scalar v[3] = {tni_element(from + i * tn_dtype_bytes(source), (int)source),
                            tni_element(at, (int)dtype),
                            tni_element(wanted + i * size, (int)dtype)};
    for (int k = 0; k < 3; k++) tni_scalar_text(text[k], sizeof text[k], v[k]);
    printf("    %s %s as %s, %s: %s, not %s\n", tn_dtype_name(source), text[0],
           tn_dtype_name(dtype), how, text[1], text[2]);
    return false;
}
static bool tensor_is(const tn_tensor *t, int64_t at, tn_dtype dtype, const char *how) {
    bool ok = t != NULL;
    for (int64_t i = 0; ok && i < t->numel && i < count; i++)
        ok = element_is(tni_bytes_at(t) + i * tn_dtype_bytes(dtype), at + i, dtype, how);
    return ok;
}

static bool becomes(tn_dtype to) {
    const int64_t bytes = tn_dtype_bytes(source);
    tn_tensor *all = tnp_empty(TN_DIMS(count), source, TN_NO_DEVICE);
    tn_tensor *wide = tnp_zeros(TN_DIMS(count, 2), source, TN_NO_DEVICE);
    if (!CHECK(all && wide)) return false;
    memcpy(tn_data(all), from, (size_t)(count * bytes));
    wide = tnp_select(wide, 1, 1);
    bool ok = tnp_copy_(wide, all) != NULL;
    ok = ok && tensor_is(tnp_to_dtype(all, to, false, false), 0, to, "as a vector");
    tn_tensor *apart = tnp_to_dtype(wide, to, false, false);
    ok = ok && tensor_is(tnp_contiguous(apart), 0, to, "with gaps");
    for (int64_t i = 0; ok && i < count; i++) {
        char one[SIZE];
        tni_element_set(one, (int)to, tni_element(from + i * bytes, (int)source));
        ok = element_is(one, i, to, "as an element");
        if (i % 7) continue;
        tn_tensor *tail = tnp_narrow(all, 0, i, 1);
        ok = ok && tensor_is(tnp_to_dtype(tail, to, false, false), i, to, "alone");
    }
    return ok;
}

/* "float16: ..." is what the lines below it convert, "float16 > int8: ..." what becomes of it. */
static bool line_is_true(char *line) {
    char first[24], second[24] = "", *rest = strchr(line, ':');
    bool ok = false;
    if (!CHECK(rest && sscanf(line, "%23[a-z0-9_] > %23[a-z0-9_]", first, second) >= 1))
        return false;
    if (!second[0]) {
        source = tn_dtype_named(first);
        count = elements(rest + 1, source, from);
        return CHECK(count > 1);
    }
    const tn_dtype to = tn_dtype_named(second);
    if (!CHECK(tn_dtype_named(first) == source && elements(rest + 1, to, wanted) == count))
        return false;
    TN_SCOPE { ok = becomes(to); }
    if (tn_error_print()) ok = false;
    return CHECK(ok);
}

static void every_dtype_becomes_every_other_as_in_torch(void) {
    static char line[LINE];
    static const char *const sets[] = {"scalar", NULL};
    for (int s = 0; s < 2; s++) {
        tn_context_options options;
        memset(&options, 0, sizeof options);
        options.isa = sets[s];
        tn_context *c = tn_context_new(&options), *before = tn_context_use(c);
        FILE *f = fopen("tests/oracle/casts.txt", "r");
        int lines = 0;
        if (!CHECK(f && c)) return;
        while (fgets(line, sizeof line, f))
            if (line[0] != '#') lines++, line_is_true(line);
        fclose(f);
        CHECK_EQ(lines, (TN_DTYPE_COUNT - 1) * TN_DTYPE_COUNT); /* one is none */
        tn_context_use(before);
        tn_context_free(c);
    }
    CHECK(compared > 50000);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(every_dtype_becomes_every_other_as_in_torch)};
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
