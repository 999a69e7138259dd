/* memory_files.c - promises about state dicts in memory: the same bytes as files, borrowed where
 * alignment allows, released once, and nothing happens after a refusal. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "../../src/api/io.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <unistd.h>

/* Five dtypes, so that elements of 8, 4, 2 and 1 bytes lie one after another, and an empty one. */
enum { PARTS = 6 };
static tn_named parts[PARTS] = {{"b", NULL}, {"i", NULL},     {"h", NULL},
                                {"f", NULL}, {"empty", NULL}, {"t", NULL}};
static void parts_make(void) {
    parts[0].tensor = tn_tensor_of_dtype(TN_U8, TN_DIMS(3), 1, 2, 3);
    parts[1].tensor = tn_tensor_of(TN_DIMS(2), 7, INT64_MIN);
    parts[2].tensor = tn_tensor_of_dtype(TN_F16, TN_DIMS(3), 1, 0.5, -2);
    parts[3].tensor = tn_tensor_of(TN_DIMS(2, 2), 1, 2.5, 3, 4);
    parts[4].tensor = tn_zeros(TN_DIMS(0, 3));
    parts[5].tensor = tn_tensor_of_dtype(TN_BOOL, TN_DIMS(2), 1, 0);
}
static bool same(const tn_tensor *a, const tn_tensor *b) {
    size_t n = a && b ? (size_t)(tn_numel(a) * tn_dtype_bytes(tn_dtype_of(a))) : 0;
    return a && b && tn_dtype_of(a) == tn_dtype_of(b) && tn_ndim(a) == tn_ndim(b) &&
           tn_numel(a) == tn_numel(b) && (n == 0 || memcmp(tn_data(a), tn_data(b), n) == 0);
}
static void check_parts(tn_named_list l) {
    CHECK_EQ(l.n, PARTS);
    for (int i = 0; i < PARTS; i++) CHECK(same(tn_named_find(l, parts[i].name), parts[i].tensor));
}

static int released;
static void *released_data;
static void count_release(void *data, void *user) {
    released += *(int *)user;
    released_data = data;
}
static int one = 1;

/* --- saving ----------------------------------------------------------------------------------- */

static void memory_has_the_bytes_of_the_file(void) {
    char path[] = "/tmp/tn_memory_XXXXXX";
    static const tn_note notes[] = {{"format", "pt"}};
    int fd = mkstemp(path);
    tn_bytes m, f;
    char *file;
    TN_SCOPE {
        parts_make();
        m = tn_save_memory(parts, PARTS, .notes = notes, .nnotes = 1);
        CHECK(tn_safetensors_save_at(__FILE__, __LINE__, path, parts, PARTS, notes, 1));
        f.n = (size_t)tn_numel(tn_load_bytes(path));
        file = check_file(path);
        CHECK(m.at && m.n == f.n && file && memcmp(m.at, file, m.n) == 0);
        CHECK((uintptr_t)m.at % 64 == 0);
        free(file);
        tn_bytes_free(m);
        m = tn_save_memory(NULL, 0);
        CHECK(m.at && m.n == 16);
        tn_bytes_free(m);
    }
    close(fd);
    unlink(path);
    m.at = NULL;
    m.n = 0;
    tn_bytes_free(m);
    CHECK(tn_ok());
}

static void what_cannot_be_saved_gives_no_memory(void) {
    TN_SCOPE {
        tn_named twice[2] = {{"a", tn_ones(TN_DIMS(2))}, {"a", tn_ones(TN_DIMS(2))}};
        tn_named wide[1] = {{"a", tn_zeros(TN_DIMS(1), .dtype = TN_C128)}};
        REFUSED(tn_save_memory(twice, 2).at, TN_INVALID, "given twice");
        REFUSED(tn_save_memory(wide, 1).at, TN_TYPE, "complex128");
        REFUSED(tn_save_memory(NULL, 1).at, TN_INVALID, "list of tensors");
        REFUSED(tn_save_memory_at(NULL, 0, NULL).at, TN_INVALID, "NULL");
    }
}

static void a_request_to_stop_ends_saving_and_loading(void) {
    TN_SCOPE {
        tn_bytes m;
        int64_t used;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        used = tn_memory().bytes_used;
        released = 0;
        tn_cancel(NULL);
        REFUSED(tn_save_memory(parts, PARTS).at, TN_CANCELLED, "writing 'memory'");
        CHECK(tn_load_memory(m.at, m.n, .borrow = true, .release = count_release, .user = &one).n ==
              -1);
        says(TN_CANCELLED, "reading 'memory'", __LINE__);
        CHECK(tn_memory().bytes_used == used && released == 0);
        tn_cancel_clear(NULL);
        tn_bytes_free(m);
    }
}

/* --- loading ---------------------------------------------------------------------------------- */

static void copies_know_nothing_of_the_memory(void) {
    TN_SCOPE {
        tn_bytes m;
        tn_named_list l;
        int64_t borrowed = 5;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        l = tn_load_memory(m.at, m.n, .borrowed = &borrowed);
        memset(m.at, 255, m.n);
        tn_bytes_free(m);
        check_parts(l);
        CHECK_EQ(borrowed, 0);
        for (int64_t i = 0; i < l.n; i++)
            CHECK(!tn_is_wrapped(l.at[i].tensor) && !tn_is_read_only(l.at[i].tensor));
        tn_named_free(l);
    }
}

static void aligned_memory_is_borrowed_and_released_once(void) {
    TN_SCOPE {
        tn_bytes m;
        tn_named_list l;
        tn_tensor *kept, *view;
        int64_t borrowed = 0;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        released = 0;
        l = tn_load_memory(m.at, m.n, .borrow = true, .release = count_release, .user = &one,
                           .borrowed = &borrowed);
        check_parts(l);
        CHECK_EQ(borrowed, PARTS - 1); /* all but the empty one */
        for (int64_t i = 0; i < l.n; i++) {
            tn_tensor *t = l.at[i].tensor;
            const char *at = (const char *)tn_data(t);
            if (!tn_numel(t)) continue;
            CHECK(tn_is_wrapped(t) && tn_is_read_only(t));
            CHECK(at >= (char *)m.at && at < (char *)m.at + m.n);
            CHECK(tn_storage_bytes(t) == tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t)));
        }
        kept = tn_named_find(l, "f");
        REFUSED(tn_add_scalar_(kept, 1), TN_INVALID, "read");
        view = tn_hold(tn_reshape(kept, TN_DIMS(4)));
        tn_named_free(l);
        CHECK_EQ(released, 0); /* the view has its storage */
        CHECK(at(view, 1) == 2.5);
        tn_free(view);
        CHECK(released == 1 && released_data == m.at);
        tn_bytes_free(m);
    }
}

static void writable_memory_is_written(void) {
    TN_SCOPE {
        tn_bytes m;
        tn_named_list l;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        l = tn_load_memory(m.at, m.n, .borrow = true, .writable = true);
        CHECK(tn_fill_(tn_named_find(l, "f"), 9) != NULL);
        CHECK_EQ(tn_version(tn_named_find(l, "i")), 0); /* each has a version of its own */
        tn_named_free(l);
        l = tn_load_memory(m.at, m.n);
        CHECK(at(tn_named_find(l, "f"), 3) == 9 && at(tn_named_find(l, "i"), 0) == 7);
        tn_named_free(l);
        tn_bytes_free(m);
    }
}

static void unaligned_elements_are_copied(void) {
    TN_SCOPE {
        static char room[2000];
        int64_t borrowed;
        tn_bytes m;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        CHECK(m.n + 8 < sizeof room);
        for (int shift = 0; shift < 8; shift++) {
            char *file = room + (64 - (uintptr_t)room % 64) % 64 + shift;
            tn_named_list l;
            int64_t expected = shift == 0 ? 5 : shift == 4 ? 4 : shift % 2 == 0 ? 3 : 2;
            memcpy(file, m.at, m.n);
            released = 0;
            l = tn_load_memory(file, m.n, .borrow = true, .release = count_release, .user = &one,
                               .borrowed = &borrowed);
            check_parts(l);
            CHECK_EQ(borrowed, expected);
            CHECK_EQ(released, 0);
            tn_named_free(l);
            CHECK_EQ(released, 1);
        }
        tn_bytes_free(m);
    }
}

static void memory_without_borrowed_tensors_is_released_at_once(void) {
    TN_SCOPE {
        tn_named empty[1] = {{"e", tn_zeros(TN_DIMS(0))}};
        tn_bytes m = tn_save_memory(empty, 1);
        tn_named_list l;
        released = 0;
        l = tn_load_memory(m.at, m.n, .borrow = true, .release = count_release, .user = &one);
        CHECK(l.n == 1 && released == 1);
        tn_named_free(l);
        CHECK_EQ(released, 1);
        tn_bytes_free(m);
    }
}

static void the_end_of_a_context_releases(void) {
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    tn_named f = {"f", tn_tensor_of(TN_DIMS(2), 1, 2)};
    tn_bytes m = tn_save_memory(&f, 1);
    released = 0;
    tn_load_memory(m.at, m.n, .borrow = true, .release = count_release, .user = &one);
    CHECK_EQ(released, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(released, 1);
}

/* --- refusals --------------------------------------------------------------------------------- */

/* Every prefix of a file, and each byte of its header changed: an error with its place, and the
 * memory is not released. */
static void damaged_memory_is_refused_with_its_place(void) {
    TN_SCOPE {
        tn_bytes m;
        char *copy;
        parts_make();
        m = tn_save_memory(parts, PARTS);
        copy = (char *)malloc(m.n);
        released = 0;
        for (size_t n = 0; n < m.n; n++) {
            char *cut = (char *)malloc(n ? n : 1);
            memcpy(cut, m.at, n);
            CHECK(
                tn_load_memory(cut, n, .borrow = true, .release = count_release, .user = &one).n ==
                -1);
            says(TN_FORMAT, ", at byte ", __LINE__);
            free(cut);
        }
        memcpy(copy, m.at, m.n);
        copy[m.n - 1] = 2; /* of the bool tensor, which is read last */
        CHECK(tn_load_memory(copy, m.n, .borrow = true, .release = count_release, .user = &one,
                             .name = "net.safetensors")
                  .n == -1);
        says(TN_FORMAT, "'net.safetensors' is not a valid safetensors file: a BOOL tensor",
             __LINE__);
        copy[9] = '!';
        CHECK(tn_load_memory(copy, m.n).n == -1);
        says(TN_FORMAT, "'memory' is not a valid safetensors file: expected a name, at byte 9",
             __LINE__);
        CHECK_EQ(released, 0);
        CHECK(tn_load_memory(NULL, 5).n == -1);
        says(TN_INVALID, "the memory is NULL", __LINE__);
        CHECK(tn_load_memory(NULL, 0).n == -1);
        says(TN_FORMAT, "shorter than 8 bytes", __LINE__);
        CHECK(tn_load_memory(m.at, m.n, .release = count_release).n == -1);
        says(TN_INVALID, "options of borrow", __LINE__);
        CHECK(tn_load_memory(m.at, m.n, .writable = true).n == -1);
        says(TN_INVALID, "options of borrow", __LINE__);
        CHECK(tn_load_memory_at(NULL, 0, NULL).n == -1);
        says(TN_INVALID, "NULL", __LINE__);
        free(copy);
        tn_bytes_free(m);
    }
}

static void memory_opens_as_a_file_does(void) {
    TN_SCOPE {
        static const tn_note notes[] = {{"format", "pt"}};
        tn_safetensors *f;
        tn_bytes m;
        parts_make();
        m = tn_save_memory(parts, PARTS, .notes = notes, .nnotes = 1);
        f = tn_safetensors_open_memory(m.at, m.n);
        CHECK_EQ(tn_safetensors_count(f), PARTS);
        CHECK_TEXT(tn_safetensors_note(f, "format"), "pt");
        for (int round = 0; round < 2; round++) /* forwards and backwards */
            for (int i = 0; i < PARTS; i++) {
                const tn_named *p = &parts[round ? PARTS - 1 - i : i];
                tn_tensor *t = tn_safetensors_get(f, p->name);
                CHECK(same(t, p->tensor) && !tn_is_wrapped(t));
            }
        tn_safetensors_close(f);
        CHECK(!tn_safetensors_open_memory("short", 5));
        says(TN_FORMAT, "at byte 5", __LINE__);
        tn_bytes_free(m);
    }
}

/* --- failing allocations ---------------------------------------------------------------------- */

static int64_t allocations, failing; /* number `failing` and all later ones fail; -1: none */
static void *count_alloc(size_t bytes, void *user) {
    (void)user;
    return failing >= 0 && allocations++ >= failing ? NULL : malloc(bytes);
}
static void count_free(void *at, size_t bytes, void *user) { (void)user, (void)bytes, free(at); }

static void every_failing_allocation_is_an_error_without_a_leak(void) {
    tn_context_options o;
    tn_context *c;
    bool done = false;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.allocator.alloc = count_alloc, o.allocator.free = count_free;
    failing = -1;
    c = tn_context_new(&o);
    tn_context_use(c);
    parts_make();
    tn_bytes m = tn_save_memory(parts, PARTS);
    tn_load_memory(m.at, m.n + 1, .borrow = true); /* what is made at first need */
    tn_error_take(NULL);
    for (int64_t k = 0; !done && k < 200; k++) {
        int64_t used = tn_memory().bytes_used;
        tn_named_list l;
        tn_bytes again;
        released = 0, allocations = 0, failing = k;
        l = tn_load_memory(m.at, m.n, .borrow = true, .release = count_release, .user = &one);
        again = tn_save_memory(parts, PARTS);
        failing = -1;
        done = l.n >= 0 && again.at;
        CHECK(done || (tn_error_take(NULL) && !again.at));
        CHECK_EQ(released, 0);
        tn_named_free(l);
        CHECK_EQ(released, l.n >= 0);
        tn_bytes_free(again);
        CHECK_EQ(tn_memory().bytes_used, used);
    }
    CHECK(done);
    tn_bytes_free(m);
    for (int i = 0; i < PARTS; i++) tn_free(parts[i].tensor);
    tn_context_use(NULL);
    tn_context_free(c);
}

static const check_test tests[] = {
    CHECK_TEST(memory_has_the_bytes_of_the_file),
    CHECK_TEST(what_cannot_be_saved_gives_no_memory),
    CHECK_TEST(a_request_to_stop_ends_saving_and_loading),
    CHECK_TEST(copies_know_nothing_of_the_memory),
    CHECK_TEST(aligned_memory_is_borrowed_and_released_once),
    CHECK_TEST(writable_memory_is_written),
    CHECK_TEST(unaligned_elements_are_copied),
    CHECK_TEST(memory_without_borrowed_tensors_is_released_at_once),
    CHECK_TEST(the_end_of_a_context_releases),
    CHECK_TEST(damaged_memory_is_refused_with_its_place),
    CHECK_TEST(memory_opens_as_a_file_does),
    CHECK_TEST(every_failing_allocation_is_an_error_without_a_leak),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
