/* base_reserve.c - memory taken in advance, caps that move, and blocks in which the allocator is
 * not called. */
#include "base_stand_ins.h"

#include <stdint.h>

#define CACHED(c) (!(c)->options.no_cache)
static void error_is(tn_code code, const char *text, const char *file, int line) {
    tn_error_info e = {TN_OK, "no error", NULL, 0};
    tn_error_take(&e);
    CHECK_EQ(e.code, code);
    CHECK_TEXT(e.message, text);
    CHECK(file ? e.file && strstr(e.file, file) && e.line == line : !e.file);
}

/* --- the reserve ------------------------------------------------------------------------------ */

static void a_context_lives_on_its_reserve(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    if (CACHED(c)) {
        int64_t calls = a.calls, bytes = a.bytes;
        CHECK(tn_memory_reserve(4 << 20));
        CHECK_EQ(a.calls, calls + 1);
        CHECK_EQ(a.bytes, bytes + (4 << 20) + 128);
        CHECK(tn_memory().bytes_reserved >= 4 << 20 && tn_memory().bytes_used == 0);
        for (int round = 0; round < 3; round++) {
            void *at[40];
            for (int i = 0; i < 40; i++) {
                at[i] = tn_alloc((size_t)(1500 * (i + round)));
                CHECK(at[i] && (uintptr_t)at[i] % 64 == 0);
                memset(at[i], i, (size_t)(1500 * (i + round)));
            }
            void *small = tni_need(tni_here(), 64); /* a slab */
            CHECK(small != NULL);
            tni_put(tni_here(), tni_here(), small, 64);
            for (int i = 0; i < 40; i++) tn_alloc_free(at[i], (size_t)(1500 * (i + round)));
            CHECK_EQ(a.calls, calls + 1);
            CHECK_EQ(tn_memory().allocations, a.calls);
        }
    }
    end(c);
    counted_check(&a);
}
static void what_comes_back_is_whole_again(void) {
    static char memory[64 * 1000 + 100];
    for (int order = 0; order < 720; order++) {
        struct tni_reserve *list = NULL;
        char *at[6];
        int64_t bytes[6] = {1, 64, 65, 900, 6400, 13}, all;
        tni_reserve_add(&list, memory + order % 48 / 8 * 8, 64 * 1000);
        all = tni_reserve_left(list);
        CHECK(all >= 64 * 998 && all % 64 == 0);
        for (int i = 0; i < 6; i++) {
            at[i] = (char *)tni_reserve_take(list, bytes[i]);
            if (!CHECK(at[i] && (uintptr_t)at[i] % 64 == 0)) return;
            memset(at[i], i + 1, (size_t)bytes[i]);
        }
        for (int i = 0; i < 6; i++) CHECK(at[i][0] == i + 1 && at[i][bytes[i] - 1] == i + 1);
        int left = order, n = 6, place[6] = {0, 1, 2, 3, 4, 5};
        for (; n; n--) { /* each order of six */
            int k = left % n, i = place[k];
            left /= n;
            CHECK(tni_reserve_give(list, at[i], bytes[i]));
            place[k] = place[n - 1];
        }
        CHECK_EQ(tni_reserve_left(list), all);
        void *whole = tni_reserve_take(list, all); /* one span */
        CHECK(whole && tni_reserve_left(list) == 0 && !tni_reserve_take(list, 1));
        CHECK(tni_reserve_give(list, whole, all));
        CHECK(!tni_reserve_take(list, all + 1) && !tni_reserve_take(list, INT64_MAX));
        CHECK(!tni_reserve_give(list, memory + sizeof memory, 64) &&
              !tni_reserve_give(NULL, at, 1));
        CHECK(!tni_reserve_give(list, &list, 8));
        int64_t given;
        CHECK(tni_reserve_remove(&list, &given) && given == 64 * 1000 && !list);
        CHECK(!tni_reserve_remove(&list, &given));
    }
}
static void a_reserve_that_is_used_up_falls_back_to_the_allocator(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    if (CACHED(c)) {
        CHECK(tn_memory_reserve(100000) && tn_memory_reserve(50000));
        int64_t calls = a.calls;
        void *first = tn_alloc(90000), *second = tn_alloc(40000), *third = tn_alloc(90000);
        CHECK(first && second && third);
        CHECK_EQ(a.calls, calls + 1);
        tn_alloc_free(first, 90000), tn_alloc_free(second, 40000), tn_alloc_free(third, 90000);
        /* What the cache gives up joins: one class serves another. */
        CHECK(tn_memory_trim() > 0 && a.calls == calls + 1);
        CHECK(tn_memory().bytes_reserved >= 150000);
        first = tn_alloc(80000);
        CHECK(first && a.calls == calls + 1);
        tn_alloc_free(first, 80000);
        a.fail_at = calls + 2, a.for_ever = true;
        first = tn_alloc(95000); /* another class: the cache is given up for it */
        CHECK(first != NULL);
        tn_alloc_free(first, 95000);
    }
    end(c);
    counted_check(&a);
}
static void reserves_that_cannot_be_had_are_errors(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    CHECK(tn_memory_reserve(0));
    CHECK(!tn_memory_reserve(-1));
    error_is(TN_INVALID, "tn_memory_reserve: expected 0 bytes or more, got -1", "base_reserve.c",
             __LINE__ - 2);
    if (CACHED(c)) {
        a.fail_at = a.calls + 1;
        CHECK(!tn_memory_reserve(5000));
        error_is(TN_MEMORY, "out of memory: cannot allocate 5000 bytes with 0 in use",
                 "base_reserve.c", __LINE__ - 2);
        CHECK(!tn_memory_reserve(INT64_MAX) && tn_error_take(NULL));
        CHECK(!tn_memory_reserve(INT64_MAX - 64) && tn_error_take(NULL));
        CHECK_EQ(tn_memory().bytes_reserved, 0);
        tn_set_memory_cap(a.bytes + 5000 + 127);
        CHECK(!tn_memory_reserve(5000) && tn_error_take(NULL));
        tn_set_memory_cap(a.bytes + 5000 + 128);
        CHECK(tn_memory_reserve(5000));
    }
    end(c);
    counted_check(&a);
}
static void a_cap_of_one_byte_leaves_the_reserve(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    if (CACHED(c)) {
        CHECK(tn_memory_reserve(1 << 20));
        int64_t calls = a.calls;
        tn_set_memory_cap(1);
        for (int i = 0; i < 50; i++) {
            void *at = tn_alloc((size_t)(10000 * i + 1));
            CHECK(at != NULL);
            tn_alloc_free(at, (size_t)(10000 * i + 1));
        }
        CHECK(!tn_alloc(1 << 20) && tn_error_take(NULL) && a.calls == calls);
        tn_set_memory_cap(0);
        void *at = tn_alloc(1 << 20);
        CHECK(at && a.calls == calls + 1);
        tn_alloc_free(at, 1 << 20);
    }
    end(c);
    counted_check(&a);
}

/* --- no allocation ---------------------------------------------------------------------------- */

static int told;
static void tell(const tn_error_info *e, void *user) { (void)e, ++*(int *)user; }
static void a_request_in_the_block_is_refused_with_its_size(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    if (!CACHED(c)) { /* nothing is refused */
        tn_expect_no_alloc {
            CHECK(tni_get(tni_here(), 5000) && tn_ok());
        }
        end(c);
        return;
    }
    void *cached = tn_alloc(5000);
    tn_alloc_free(cached, 5000);
    int64_t calls = a.calls;
    told = 0;
    tn_set_error_handler(tell, &told);
    tn_expect_no_alloc {
        void *at = tn_alloc(5000);
        CHECK(at == cached);
        tn_alloc_free(at, 5000);
        CHECK(!tn_alloc(7000) && told == 1);
        error_is(TN_MEMORY, "inside tn_expect_no_alloc 7296 bytes would come from the allocator",
                 NULL, 0);
        tn_expect_no_alloc {
            CHECK(tn_ok());
        }
        CHECK(!tni_get(tni_here(), 64)); /* a slab: who asked goes on without it */
        CHECK(!tn_ok() && told == 1);
        CHECK(tn_memory_trim() == 0 && a.calls == calls);
    }
    CHECK_EQ(told, 2); /* at the end of the block at the latest */
    error_is(TN_MEMORY, "inside tn_expect_no_alloc 65536 bytes would come from the allocator", NULL,
             0);
    tn_expect_no_alloc {
        CHECK(!tn_memory_reserve(100));
    }
    error_is(TN_MEMORY, "inside tn_expect_no_alloc 100 bytes would come from the allocator",
             "base_reserve.c", __LINE__ - 3);
    CHECK(a.calls == calls && tn_memory().bytes_cached > 0);
    void *at = tn_alloc(7000);
    CHECK(at && a.calls == calls + 1);
    tn_alloc_free(at, 7000);
    end(c);
    counted_check(&a);
}
static void what_is_freed_in_the_block_stays_in_the_cache(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    tn_context *c = begin(&o);
    CHECK(tn_ok());
    if (CACHED(c)) {
        for (int inside = 0; inside < 2; inside++) {
            void *at = tn_alloc(100 << 20); /* beyond what is kept, as the peak is reset */
            int64_t blocks = a.blocks;
            tn_set_no_alloc_mode(inside);
            tn_alloc_free(at, 100 << 20);
            c->peak = 0;
            at = NULL;
            tn_set_no_alloc_mode(false);
            CHECK(a.blocks == blocks && tn_memory().bytes_cached >= 100 << 20);
            tn_memory_trim();
            at = tn_alloc(100 << 20), blocks = a.blocks, c->peak = 0;
            tn_set_no_alloc_mode(inside);
            tn_alloc_free(at, 100 << 20);
            tn_set_no_alloc_mode(false);
            CHECK_EQ(a.blocks, blocks - !inside);
            tn_memory_trim();
        }
    }
    end(c);
    counted_check(&a);
}
static void the_mode_is_of_one_context(void) {
    counted a;
    tn_context_options o = counted_options(&a), plain;
    memset(&plain, 0, sizeof plain);
    o.threads = -1;
    tn_context *c = begin(&o), *other = tn_context_new(&plain);
    CHECK(tn_ok());
    if (CACHED(c)) {
        tn_expect_no_alloc {
            tn_context_use(other); /* its allocator may be called */
            void *at = tn_alloc(9000);
            CHECK(at != NULL);
            tn_alloc_free(at, 9000);
            tn_context_use(c);
            CHECK(!tn_alloc(9000) && tn_error_take(NULL));
        }
        CHECK(!tn_set_no_alloc_mode(true) && tn_set_no_alloc_mode(false));
    }
    tn_context_free(other);
    end(c);
    counted_check(&a);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_context_lives_on_its_reserve),
        CHECK_TEST(what_comes_back_is_whole_again),
        CHECK_TEST(a_reserve_that_is_used_up_falls_back_to_the_allocator),
        CHECK_TEST(reserves_that_cannot_be_had_are_errors),
        CHECK_TEST(a_cap_of_one_byte_leaves_the_reserve),
        CHECK_TEST(a_request_in_the_block_is_refused_with_its_size),
        CHECK_TEST(what_is_freed_in_the_block_stays_in_the_cache),
        CHECK_TEST(the_mode_is_of_one_context),
    };
    return CHECK_MAIN(tests, argc, argv);
}
