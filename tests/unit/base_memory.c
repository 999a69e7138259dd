/* base_memory.c - promises of src/base/alloc.c in bytes: classes, slabs, what the cache keeps,
 * where a cap lies, what is counted, and the words of its errors. The allocator is a script: it
 * lends large memory that is not there. */
#include "base_stand_ins.h"

#include <stdint.h>

enum { LENT = 4096 }; /* bytes behind a pointer, of any larger size asked for */
typedef struct lender {
    int64_t calls, live, bytes, refuse; /* refuse: sizes from here on; 0: none */
    size_t last;
    uintptr_t shift; /* of what is given, from a multiple of 64 */
    char *slab;      /* the last 64 KiB */
} lender;
static void *lend(size_t bytes, void *user) {
    lender *l = (lender *)user;
    void *raw = NULL;
    l->calls++, l->last = bytes;
    if (l->refuse && (int64_t)bytes >= l->refuse) return NULL;
    if (posix_memalign(&raw, 64, (bytes <= 1 << 20 ? bytes : LENT) + 128)) return NULL;
    memset(raw, 0xa5, (bytes <= 1 << 20 ? bytes : LENT) + 128);
    l->live++, l->bytes += (int64_t)bytes;
    char *at = (char *)raw + 64 + l->shift;
    at[-1] = (char)l->shift;
    if (bytes == 65536) l->slab = at;
    return at;
}
static void take_back(void *at, size_t bytes, void *user) {
    lender *l = (lender *)user;
    l->live--, l->bytes -= (int64_t)bytes;
    free((char *)at - 64 - ((char *)at)[-1]);
}
static tn_context_options lent_options(lender *l) {
    tn_context_options o;
    memset(&o, 0, sizeof o), memset(l, 0, sizeof *l);
    o.allocator.alloc = lend, o.allocator.free = take_back, o.allocator.user = l;
    o.threads = -1;
    return o;
}
static tn_context *begin_lent(lender *l) {
    tn_context_options o = lent_options(l);
    return begin(&o);
}
static void end_lent(tn_context *c, const lender *l) {
    end(c);
    CHECK(l->live == 0 && l->bytes == 0);
}
static void says(tn_code code, const char *text, int line) {
    tn_error_info e = {TN_OK, "no error", NULL, 0};
    tn_error_take(&e);
    if (!CHECK(e.code == code && !strcmp(e.message, text) && !e.file && !e.line))
        printf("    line %d: %s\n", line, e.message);
}
#define SAYS(code, text) says(code, text, __LINE__)

/* --- classes ---------------------------------------------------------------------------------- */

/* The smallest (8 + j) / 8 of a power of two, or multiple of 64, that is enough. */
static int64_t room_of(int64_t bytes) {
    if (bytes <= 1024) return (bytes + 63) / 64 * 64;
    int64_t power = 1024;
    while (2 * power < bytes) power *= 2;
    for (int64_t j = 1; j <= 8; j++)
        if (power / 8 * (8 + j) >= bytes) return power / 8 * (8 + j);
    return 0;
}
static void a_size_has_the_smallest_room_that_is_enough(void) {
    static const int64_t near[] = {-65, -64, -63, -2, -1, 0, 1, 2, 63, 64, 65};
    lender l;
    tn_context *c = begin_lent(&l);
    for (int log = 6; log < 62 && !c->options.no_cache; log++)
        for (int64_t j = 8; j < 16; j++)
            for (size_t k = 0; k < sizeof near / sizeof *near; k++) {
                int64_t bytes = ((int64_t)1 << log) / 8 * j + near[k], used = c->used;
                if (bytes <= 0 || room_of(bytes) > PTRDIFF_MAX / 2 - 128) continue;
                void *at = tni_get_apart(c, bytes);
                CHECK(at && (uintptr_t)at % 64 == 0);
                CHECK_EQ(l.last, room_of(bytes) + 128);
                CHECK_EQ(c->used, used + bytes);
                tni_put_apart(at);
                CHECK_EQ(c->cached, room_of(bytes));
                CHECK_EQ(tn_memory_trim(), room_of(bytes));
                CHECK(c->used == used && c->cached == 0 && tn_memory_trim() == 0);
            }
    end_lent(c, &l);
}
/* Classes have lists of their own: blocks of all of them, freed in one order, come back in another,
 * each where it was. */
static void each_class_has_its_own_blocks(void) {
    enum {
        LOGS = sizeof(void *) == 8 ? 57 : 25,
        MOST = 16 + 8 * (LOGS - 10)
    }; /* all: in 63 bits */
    static void *at[MOST];
    static int64_t bytes[MOST];
    lender l;
    tn_context *c = begin_lent(&l);
    int n = 0;
    for (int64_t k = 64; k <= 1024; k += 64) bytes[n++] = k;
    for (int log = 10; log < LOGS; log++)
        for (int64_t j = 9; j <= 16; j++) bytes[n++] = ((int64_t)1 << log) / 8 * j;
    CHECK_EQ(n, MOST);
    if (!c->options.no_cache) {
        for (int i = 0; i < n; i++) CHECK((at[i] = tni_get_apart(c, bytes[i])) != NULL);
        for (int i = 0; i < n; i++) tni_put_apart(at[i]);
        int64_t calls = l.calls;
        for (int i = n; i-- > 0;) CHECK(tni_get_apart(c, bytes[i] - (i & 1)) == at[i]);
        CHECK(l.calls == calls && c->cached == 0);
    }
    end_lent(c, &l);
}
static void the_last_class_ends_below_half_the_memory(void) {
    const int64_t half = PTRDIFF_MAX / 2;
    lender l;
    tn_context *c = begin_lent(&l);
    CHECK(tni_here() != NULL);
    int64_t calls = l.calls;
    CHECK(!tni_get_apart(c, half) && !tni_get_apart(c, half + 1) && !tni_get_apart(c, INT64_MAX));
    CHECK(!tni_get_apart(c, 0) && !tni_get_apart(c, -1) && !tni_get_apart(c, INT64_MIN));
    CHECK(!tni_raw_get(c, half + 1) && l.calls == calls);
    void *at = tni_raw_get(c, half);
    CHECK(at && l.calls == calls + 1 && (int64_t)l.last == half);
    tni_raw_put(c, at, half);
    tni_raw_put(c, NULL, 5), tni_put_apart(NULL);
    CHECK_EQ(tn_memory().allocations, l.calls);
    end_lent(c, &l);
}

/* --- slabs ------------------------------------------------------------------------------------ */

/* From 64 KiB 1023 blocks of 64 bytes, wherever they lie; what is left of one is used up. */
static void slabs_are_cut_to_the_end(void) {
    for (uintptr_t shift = 0; shift < 64; shift += 16) {
        static char *at[1100];
        lender l;
        tn_context *c = begin_lent(&l);
        tni_block *b = tni_here();
        if (c->options.no_cache) {
            end_lent(c, &l);
            continue;
        }
        l.shift = shift;
        int64_t calls = l.calls;
        int n = 0;
        while (n < 1100 && l.calls <= calls + 1 && (at[n] = (char *)tni_get(b, 64 - n % 64))) n++;
        CHECK_EQ(n, 1024); /* the last one is of the second slab */
        CHECK(c->used == 2 * 65536 && c->peak == 2 * 65536 && tn_memory().bytes_used == 2 * 65536);
        for (int i = 1; i < n - 1; i++) CHECK(at[i] == at[i - 1] + 64);
        for (int i = 0; i < n; i++) tni_put(b, b, at[i], 64 - i % 64);
        for (int i = n; i-- > 0;) CHECK(tni_get(b, 64) == at[i]); /* newest first */
        char *second = l.slab;
        calls = l.calls;
        for (int i = 0; i < 63; i++) {
            at[i] = (char *)tni_get(b, 1024 - i);
            CHECK(at[i] >= second && at[i] + 1024 <= second + 65536 && (uintptr_t)at[i] % 64 == 0);
        }
        CHECK(l.calls == calls);
        CHECK(tni_get(b, 1024) && l.calls == calls + 1 && l.slab != second);
        at[0] = (char *)tni_get(b, 897); /* 960 left, of 1023 - 1 - 63 * 16 blocks: 14 * 64 */
        CHECK(at[0] >= l.slab && at[0] < l.slab + 65536);
        at[0] = (char *)tni_get(b, 896);
        CHECK(at[0] >= second && at[0] + 896 <= second + 65536 && l.calls == calls + 1);
        end_lent(c, &l);
    }
}
static void a_slab_that_is_used_up_leaves_nothing(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    tni_block *b = tni_here();
    for (int i = 0; i < 1023; i++) CHECK(tni_get(b, 64) != NULL);
    CHECK(tni_get(b, 1024) != NULL); /* from another one */
    for (int i = 0; i < TNI_BINS; i++) CHECK(b->bin[i] == NULL);
    end_lent(c, &l);
}
static void sizes_up_to_1024_are_small(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    tni_block *b = tni_here();
    CHECK(tni_get(b, 64) != NULL);
    int64_t used = c->used;
    void *at = tni_get(b, 1024), *large = tni_get(b, 1025);
    if (!c->options.no_cache) CHECK_EQ(c->used, used + 1025);
    tni_put(b, b, at, 1024), tni_put(b, b, large, 1025);
    CHECK_EQ(c->used, used);
    if (!c->options.no_cache) CHECK(c->cached == 1152 && tni_get(b, 1000) == at);
    end_lent(c, &l);
}
static tni_block *owner;
static void *from_elsewhere[40];
static void *gives_back(void *arg) {
    tn_context_use((tn_context *)arg);
    for (int i = 0; i < 40; i++) tni_put(tni_here(), owner, from_elsewhere[i], 1 + i * 26);
    CHECK(tni_here() != owner && !tni_here()->returned);
    return NULL;
}
static void what_others_free_is_the_owners_in_its_size(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    owner = tni_here();
    for (int i = 0; i < 40; i++) from_elsewhere[i] = tni_get(owner, 1 + i * 26);
    void *room = owner->slab;
    in_thread(gives_back, c);
    if (!c->options.no_cache) {
        CHECK(owner->returned != NULL);
        for (int bin = 16; bin > 0; bin--)
            for (int i = 0; i < 40; i++)
                if ((1 + i * 26 + 63) / 64 == bin) { /* oldest first: the list was turned round */
                    void *at = tni_get(owner, 64 * bin);
                    int found = 0;
                    for (int k = 0; k < 40; k++)
                        found += from_elsewhere[k] == at && (1 + k * 26 + 63) / 64 == bin;
                    CHECK_EQ(found, 1);
                }
        CHECK(!owner->returned && owner->slab == room);
    }
    end_lent(c, &l);
}

/* --- what the cache keeps --------------------------------------------------------------------- */

static void the_cache_keeps_twice_the_peak_and_64_megabytes(void) {
    const int64_t keep = 64 << 20;
    lender l;
    tn_context *c = begin_lent(&l);
    CHECK(tni_here() != NULL);
    if (!c->options.no_cache) {
        void *all = tn_alloc((size_t)keep), *one = tn_alloc(1152), *two = tn_alloc(1152),
             *three = tn_alloc(1152);
        tn_alloc_free(all, (size_t)keep);
        CHECK_EQ(c->cached, keep);
        tn_alloc_free(one, 1152);
        tn_memory_reset_peak();
        CHECK_EQ(c->peak, 2 * 1152);
        tn_alloc_free(two, 1152);
        CHECK_EQ(c->cached, keep + 2 * 1152);
        one = tn_alloc(1152);
        CHECK_EQ(c->cached, keep + 1152);
        tn_alloc_free(one, 1152);
        tn_memory_reset_peak(); /* 1152 in use: as much beside it, and no more */
        CHECK_EQ(c->peak, 1152);
        tn_alloc_free(three, 1152);
        CHECK(c->cached == keep + 2 * 1152 && c->used == 0); /* it was not kept */
        CHECK(tn_memory_trim() == keep + 2 * 1152);
        all = tn_alloc((size_t)keep), one = tn_alloc(1152), two = tn_alloc(1152);
        tn_alloc_free(all, (size_t)keep), tn_alloc_free(one, 1152);
        tn_memory_reset_peak();
        CHECK_EQ(c->peak, 1152);
        tn_alloc_free(two, 1152); /* exactly twice the peak and 64 megabytes */
        CHECK_EQ(c->cached, keep + 2 * 1152);
    }
    end_lent(c, &l);
}
static void without_a_cache_all_comes_from_the_allocator(void) {
    lender l;
    tn_context_options o = lent_options(&l);
    o.no_cache = true;
    tn_context *c = begin(&o);
    tni_block *b = tni_here();
    for (int64_t bytes = 1; bytes < 5000; bytes += 61) {
        int64_t calls = l.calls, live = l.live, used = c->used;
        void *at = tni_get(b, bytes);
        CHECK(at && (uintptr_t)at % 64 == 0 && l.calls == calls + 1);
        CHECK((int64_t)l.last == bytes + 128 && c->used == used + bytes);
        tni_put(b, b, at, bytes);
        CHECK(l.live == live && c->used == used && c->cached == 0);
    }
    end_lent(c, &l);
}

/* --- what is counted -------------------------------------------------------------------------- */

static void blocks_end_in_any_order(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    CHECK(tni_here() != NULL);
    for (int order = 0; order < 256; order++) { /* four digits; an end may be left out */
        void *at[4];
        int64_t used = c->used, now = 0;
        for (int i = 0; i < 4; i++) at[i] = tn_alloc((size_t)(2000 << i)), now += 2000 << i;
        CHECK(c->used == used + now && c->peak >= c->used);
        for (int k = 0; k < 4; k++) {
            int i = order >> 2 * k & 3;
            tn_alloc_free(at[i], (size_t)(2000 << i));
            now -= at[i] ? 2000 << i : 0;
            at[i] = NULL;
            CHECK_EQ(c->used, used + now);
        }
        if (order % 7 == 0) continue; /* the end of the context finds them */
        for (int i = 0; i < 4; i++) tn_alloc_free(at[i], (size_t)(2000 << i));
    }
    CHECK_EQ(tn_memory().allocations, l.calls);
    end_lent(c, &l);
}
/* What the allocator gave is linked under the lock, which another thread has meanwhile. */
static uint32_t *other_has;
static int32_t other_is_done;
static void *lets_go(void *arg) {
    usleep(5000);
    __atomic_store_n(&other_is_done, 1, __ATOMIC_RELEASE);
    tni_unlock(other_has);
    return arg;
}
static pthread_t other;
static void *lend_locked(size_t bytes, void *user) {
    if (other_has && tni_lock_try(other_has)) pthread_create(&other, NULL, lets_go, NULL);
    return lend(bytes, user);
}
static void what_the_allocator_gave_is_linked_under_the_lock(void) {
    lender l;
    tn_context_options o = lent_options(&l);
    o.allocator.alloc = lend_locked;
    tn_context *c = begin(&o);
    CHECK(tni_here() != NULL);
    other_has = (uint32_t *)(void *)c->large, other_is_done = 0;
    void *at = tn_alloc(70000);
    CHECK(at && __atomic_load_n(&other_is_done, __ATOMIC_ACQUIRE) == 1);
    pthread_join(other, NULL);
    other_has = NULL;
    tn_alloc_free(at, 70000);
    end_lent(c, &l);
}
static void peaks_are_the_most_that_was_in_use(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    CHECK(tni_here() != NULL);
    void *a = tn_alloc(10000), *b = tn_alloc(20000);
    CHECK_EQ(tn_memory().bytes_peak, 30000);
    tn_alloc_free(a, 10000);
    CHECK_EQ(tn_memory().bytes_peak, 30000);
    a = tn_alloc(9999);
    CHECK(tn_memory().bytes_peak == 30000 && tn_memory().bytes_used == 29999);
    tn_alloc_free(b, 20000);
    tn_memory_reset_peak();
    CHECK_EQ(tn_memory().bytes_peak, 9999);
    b = tn_alloc(1);
    CHECK_EQ(tn_memory().bytes_peak, 10000);
    tn_alloc_free(a, 9999), tn_alloc_free(b, 1);
    end_lent(c, &l);
}
/* A child of fork takes the lock over in the midst of a change: what is counted and the ways back
 * are made anew from the lists. */
static void a_list_half_way_through_a_change_is_put_right(void) {
    for (int first = 0; first < 3; first++) {
        lender l;
        tn_context *c = begin_lent(&l);
        uint32_t *lock = (uint32_t *)(void *)c->large;
        CHECK(tni_need(tni_here(), 10) != NULL); /* a slab, where there are any */
        void *at[3], *kept[2] = {tn_alloc(3000), tn_alloc(5000)};
        for (int i = 0; i < 3; i++) at[i] = tn_alloc((size_t)(2000 << i));
        for (int i = 0; i < 2; i++) tn_alloc_free(kept[i], i ? 5000 : 3000);
        tn_memory_stats before = tn_memory(), after;
        if (!c->options.no_cache) CHECK(before.bytes_cached == 3072 + 5120);
        for (int i = 0; i < 3; i++) ((void **)at[i])[-7] = at[i]; /* a way back to nowhere */
        *lock = tni_process() + 1;
        c->used += 17, c->cached -= 5;
        after = tn_memory();
        CHECK(after.bytes_used == before.bytes_used && after.bytes_cached == before.bytes_cached);
        for (int i = 0; i < 3; i++) {
            int k = (first + i) % 3;
            tn_alloc_free(at[k], (size_t)(2000 << k));
            CHECK(tn_memory().bytes_used == (after.bytes_used -= 2000 << k));
        }
        end_lent(c, &l);
    }
}

/* --- caps and errors -------------------------------------------------------------------------- */

static void a_cap_is_a_number_of_bytes(void) {
    lender l;
    tn_context_options o = lent_options(&l);
    tn_context *c = tn_context_new(&o);
    int64_t alone = l.bytes, with;
    tn_context_use(c);
    void *at = tn_alloc(5000);
    CHECK(at != NULL);
    with = l.bytes;
    tn_alloc_free(at, 5000);
    end_lent(c, &l);
    for (int64_t less = -1; less < 2; less++) {
        o.memory_cap = alone - less;
        CHECK(!(c = tn_context_new(&o)) == (less > 0));
        if (c) tn_context_free(c);
        o.memory_cap = with - less;
        c = begin(&o);
        for (int round = 0; round < 3; round++) {
            at = tn_alloc(5000);
            CHECK((at != NULL) == (less <= 0));
            if (!at) CHECK(tn_error_take(NULL));
            CHECK(l.bytes <= with - less);
            tn_alloc_free(at, 5000);
            if (round == 1) tn_memory_trim();
        }
        end_lent(c, &l);
    }
    for (o.memory_cap = -1; o.memory_cap < 1; o.memory_cap++) { /* none */
        c = begin(&o);
        CHECK((at = tn_alloc(1 << 19)) != NULL);
        tn_alloc_free(at, 1 << 19);
        end_lent(c, &l);
    }
    o.memory_cap = 1;
    CHECK(!tn_context_new(&o));
    CHECK(l.live == 0 && l.bytes == 0);
}
static int told;
static void tell(const tn_error_info *e, void *user) { (void)e, ++*(int *)user; }
static void wanted(char *text, int64_t bytes, int cap) {
    sprintf(text, "out of memory: cannot allocate %lld bytes with 7777 in use%s", (long long)bytes,
            cap ? " and a cap of 1048576" : "");
}
static void what_cannot_be_had_is_said_in_these_words(void) {
    lender l;
    char text[120];
    tn_context_options o = lent_options(&l);
    for (int cap = 0; cap < 2; cap++) {
        o.memory_cap = cap ? 1 << 20 : 0;
        tn_context *c = begin(&o);
        tni_block *b = tni_here();
        void *at = tn_alloc(7777);
        told = 0;
        tn_set_error_handler(tell, &told);
        tni_place_set(b, "before.c", 5);
        l.refuse = 1 << 20;
        CHECK(!tn_alloc(2000000) && told == 1);
        SAYS(TN_MEMORY, cap ? "out of memory: cannot allocate 2000000 bytes with 7777 in use and a "
                              "cap of 1048576"
                            : "out of memory: cannot allocate 2000000 bytes with 7777 in use");
        CHECK(!tn_alloc((size_t)PTRDIFF_MAX / 2) && told == 2);
        wanted(text, PTRDIFF_MAX / 2, cap);
        SAYS(TN_MEMORY, text);
        CHECK(!tn_alloc((size_t)PTRDIFF_MAX / 2 + 1) && !tn_alloc(SIZE_MAX) && told == 3);
        wanted(text, INT64_MAX, cap);
        SAYS(TN_MEMORY, text);
        CHECK(!tni_need(b, 3000000) && told == 3); /* the call in progress tells */
        SAYS(TN_MEMORY, cap ? "out of memory: cannot allocate 3000000 bytes with 7777 in use and a "
                              "cap of 1048576"
                            : "out of memory: cannot allocate 3000000 bytes with 7777 in use");
        CHECK(!tni_get(b, 3000000) && tn_ok());
        at = tni_need(b, 40);
        CHECK(at && tn_ok());
        tni_put(b, b, at, 40);
        l.refuse = 0;
        end_lent(c, &l);
    }
}
static void the_cache_is_given_up_once(void) {
    lender l;
    tn_context *c = begin_lent(&l);
    CHECK(tni_here() != NULL);
    if (!c->options.no_cache) {
        tn_alloc_free(tn_alloc(50000), 50000);
        CHECK_EQ(c->cached, 53248);
        l.refuse = 60000;
        int64_t calls = l.calls;
        CHECK(!tni_raw_get(c, 60000) && l.calls == calls + 2 && c->cached == 0); /* tried again */
        CHECK(!tni_raw_get(c, 60000) && l.calls == calls + 3); /* nothing to give up */
        CHECK_EQ(l.calls, tn_memory().allocations);
        l.refuse = 0;
    }
    end_lent(c, &l);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_size_has_the_smallest_room_that_is_enough),
        CHECK_TEST(each_class_has_its_own_blocks),
        CHECK_TEST(the_last_class_ends_below_half_the_memory),
        CHECK_TEST(slabs_are_cut_to_the_end),
        CHECK_TEST(a_slab_that_is_used_up_leaves_nothing),
        CHECK_TEST(sizes_up_to_1024_are_small),
        CHECK_TEST(what_others_free_is_the_owners_in_its_size),
        CHECK_TEST(the_cache_keeps_twice_the_peak_and_64_megabytes),
        CHECK_TEST(without_a_cache_all_comes_from_the_allocator),
        CHECK_TEST(blocks_end_in_any_order),
        CHECK_TEST(what_the_allocator_gave_is_linked_under_the_lock),
        CHECK_TEST(peaks_are_the_most_that_was_in_use),
        CHECK_TEST(a_list_half_way_through_a_change_is_put_right),
        CHECK_TEST(a_cap_is_a_number_of_bytes),
        CHECK_TEST(what_cannot_be_had_is_said_in_these_words),
        CHECK_TEST(the_cache_is_given_up_once),
    };
    return CHECK_MAIN(tests, argc, argv);
}
