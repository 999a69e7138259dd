/* base.c - promises of src/base: errors, memory, contexts, and any allocation may fail.
 *
 * Built with base's objects alone: the call room is a stand-in. -DTNI_BYPASS_CACHE=0 in a
 * sanitizer build tests the caches, too. */
#include "base_stand_ins.h"

#include <setjmp.h>

/* --- arithmetic ------------------------------------------------------------------------------- */

static void sizes_that_wrap_are_refused(void) {
    int64_t r;
    CHECK(!tni_mul(INT64_MAX, 2, &r) && !tni_mul(INT64_MIN, -1, &r) && tni_mul(INT64_MAX, 1, &r));
    CHECK(!tni_add(INT64_MAX, 1, &r) && !tni_add(INT64_MIN, -1, &r) && tni_add(INT64_MAX, -1, &r));
    CHECK(!tni_bytes(-1, 4, &r) && !tni_bytes((int64_t)1 << 61, 4, &r) && tni_bytes(3, 4, &r) &&
          r == 12);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void first_error_stays_until_taken(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_error_info e;
    CHECK(tn_ok() && !tn_error_peek(&e) && !tn_error_take(NULL) && !tn_error_print());
    CHECK(!tni_error(b, TN_TYPE, "one %d", 1));
    CHECK(!tni_error(b, TN_INDEX, "two"));
    CHECK(!tn_error_set(TN_FILE, "x.c", 3, "three"));
    tni_error_more(b, ", and %s", "more");
    CHECK(!tn_ok() && tn_error_peek(&e) && tn_error_take(&e));
    CHECK_EQ(e.code, TN_TYPE);
    CHECK_TEXT(e.message, "one 1, and more");
    CHECK(tn_ok() && !tn_error_take(NULL));
    tni_error_more(b, "nothing is pending");
    CHECK(!tn_error_set(TN_FILE, "x.c", 3, "three %s", "a") && tn_error_take(&e));
    CHECK_TEXT(e.file, "x.c");
    CHECK_EQ(e.line, 3);
    CHECK(!tn_error_set((tn_code)15, NULL, 3, "x") && tn_error_take(&e));
    CHECK_EQ(e.code, TN_INTERNAL);
    CHECK(e.file == NULL && e.line == 0);
    end(c);
}

static void place_is_the_users_outermost_line(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_error_info e;
    static tni_work outer, middle, inner;
    outer.file = "user.c", outer.line = 10;
    middle.file = "model.c", middle.line = 20, middle.caller = &outer;
    inner.caller = &middle; /* a call from inside the library has no file */
    b->work = &inner;
    tni_error(b, TN_INVALID, "x");
    CHECK(tn_error_take(&e));
    CHECK_TEXT(e.file, "user.c");
    CHECK_EQ(e.line, 10);
    b->place_file = "train.c", b->place_line = 30; /* a module call around them */
    tn_error_set(TN_INVALID, "inside.c", 1, "x");
    CHECK(tn_error_take(&e));
    CHECK_TEXT(e.file, "train.c");
    CHECK_EQ(e.line, 30);
    b->work = NULL;
    tn_error_set(TN_INVALID, "later.c", 40, "x"); /* not the line of the call before */
    CHECK(tn_error_take(&e));
    CHECK_TEXT(e.file, "later.c");
    CHECK(!tn_set_threads(0) && tn_error_take(&e) && !e.file);
    end(c);
}

static void long_messages_are_cut(void) {
    tn_context *c = begin(NULL);
    static char text[3 * TNI_ERROR_TEXT];
    memset(text, 'x', sizeof text - 1);
    tn_error_info e;
    tni_error(tni_here(), TN_INVALID, "%s", text);
    tni_error_more(tni_here(), "%s", text);
    CHECK(tn_error_take(&e));
    CHECK_EQ(strlen(e.message), TNI_ERROR_TEXT - 1);
    end(c);
}

static int told;
static tn_code told_code;
static jmp_buf told_jump;
static void on_error(const tn_error_info *e, void *user) {
    told++, told_code = e->code, *(int *)user += 1;
}
static void on_error_jump(const tn_error_info *e, void *user) {
    (void)e, (void)user, told++, longjmp(told_jump, 1);
}

static void handler_hears_each_error_once(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    int mine = 0;
    told = 0;
    tn_set_error_handler(on_error, &mine);
    tn_error_set(TN_TYPE, "f.c", 1, "x");
    tn_error_set(TN_TYPE, "f.c", 1, "later");
    tni_error_tell(b);
    CHECK_EQ(told, 1);
    CHECK_EQ(mine, 1);
    tn_error_take(NULL);
    tni_error_tell(b);
    CHECK_EQ(told, 1);
    b->quiet = 1;
    tni_error(b, TN_FILE, "expected");
    tni_error_tell(b);
    CHECK_EQ(told, 1);
    b->quiet = 0;
    end(c); /* nobody took it */
    CHECK_EQ(told, 2);
    CHECK_EQ(told_code, TN_FILE);
}

static void handler_may_jump(void) {
    tn_context *c = begin(NULL);
    told = 0;
    tn_set_error_handler(on_error_jump, NULL);
    if (setjmp(told_jump) == 0) {
        tn_error_set(TN_TYPE, "f.c", 1, "x");
        CHECK(false);
    }
    CHECK(told == 1 && tn_error_take(NULL));
    tni_error(tni_here(), TN_TYPE, "y");
    if (setjmp(told_jump) == 0) tn_context_free(c); /* jumps out, having changed nothing */
    CHECK(told == 2 && tn_context_current() == c);
    end(c);
}

static void each_code_has_a_text(void) {
    CHECK_TEXT(tn_code_name(TN_OK), "no error");
    CHECK_TEXT(tn_code_name(TN_INTERNAL), "internal error");
    CHECK_TEXT(tn_code_name((tn_code)TN_ERROR_COUNT), "unknown error");
    CHECK_TEXT(tn_code_name((tn_code)15), "unknown error");
}

/* --- memory ----------------------------------------------------------------------------------- */

static void all_sizes_are_aligned_and_apart(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    tni_block *b = tni_here();
    enum { N = 400 };
    static unsigned char *at[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            int64_t bytes = 1 + (int64_t)i * i / 3;
            at[i] = (unsigned char *)tni_get(b, bytes);
            CHECK(at[i] && (uintptr_t)at[i] % TNI_ALIGN == 0);
            memset(at[i], i & 255, (size_t)bytes);
        }
        for (int i = 0; i < N; i++) {
            int64_t bytes = 1 + (int64_t)i * i / 3, same = 0;
            for (int64_t k = 0; k < bytes; k++) same += at[i][k] == (i & 255);
            CHECK_EQ(same, bytes);
            tni_put(b, b, at[i], bytes);
        }
    }
    CHECK(!tni_get(b, 0) && !tni_get(b, -5) && !tni_get(b, INT64_MAX) &&
          !tni_get(b, (int64_t)1 << 62) && tn_ok());
    tni_put(b, b, NULL, 10);
    tn_alloc_free(NULL, 10);
    end(c);
    counted_check(&a);
}

static void memory_in_use_is_counted_exactly(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    int64_t before = tn_memory().bytes_used;
    void *p = tn_alloc(100000), *q = tn_alloc(1), *r = tn_alloc(0);
    CHECK(p && q && r);
    CHECK_EQ(tn_memory().bytes_used, before + 100002);
    tn_alloc_free(p, 100000);
    CHECK_EQ(tn_memory().bytes_used, before + 2);
    CHECK_EQ(tn_memory().bytes_peak, before + 100002);
    tn_memory_reset_peak();
    CHECK_EQ(tn_memory().bytes_peak, before + 2);
    int64_t calls = tn_memory().allocations, held = a.bytes, cached = tn_memory().bytes_cached;
    CHECK_EQ(calls, a.calls);
    if (!c->options.no_cache) {
        CHECK(cached >= 100000 && cached <= 112500);
        p = tn_alloc(99999);
        CHECK_EQ(tn_memory().allocations, calls); /* the same class: from the cache */
        CHECK_EQ(tn_memory().bytes_cached, 0);
        tn_alloc_free(p, 99999);
        CHECK_EQ(tn_memory_trim(), cached);
        CHECK(a.bytes <= held - 100000);
        CHECK_EQ(tn_memory().bytes_cached, 0);
    }
    tn_alloc_free(q, 1);
    tn_alloc_free(r, 0);
    CHECK_EQ(tn_memory().bytes_used, before);
    tn_alloc(5000); /* not freed: the context's end finds it */
    end(c);
    counted_check(&a);
}

static void classes_waste_at_most_an_eighth(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    for (int64_t bytes = 1025; bytes < (int64_t)1 << 27 && !c->options.no_cache;
         bytes += bytes / 7 + 1) {
        tn_alloc_free(tn_alloc((size_t)bytes), (size_t)bytes);
        int64_t room = tn_memory_trim();
        CHECK(room >= bytes && room <= bytes + bytes / 8 + 64);
    }
    end(c);
    counted_check(&a);
}

static void steps_settle_to_no_allocations(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    tni_block *b = tni_here();
    int64_t settled = 0;
    for (int step = 0; step < 5 && !c->options.no_cache; step++) {
        void *at[50];
        if (step == 2) settled = a.calls;
        for (int i = 0; i < 50; i++) at[i] = tni_get(b, 40 + i * i * i);
        for (int i = 0; i < 50; i++) tni_put(b, b, at[i], 40 + i * i * i);
    }
    CHECK_EQ(settled ? a.calls - settled : 0, 0);
    end(c);
}

static void sizes_that_do_not_come_back_are_not_hoarded(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    for (int i = 0; i < 60; i++) { /* 0.5 GB in all, one at a time */
        size_t bytes = (size_t)(1 << 20) + (size_t)i * 300000;
        tn_alloc_free(tn_alloc(bytes), bytes);
    }
    CHECK(a.bytes < ((int64_t)64 << 20) + 3 * (int64_t)20000000);
    end(c);
    counted_check(&a);
}

static void cap_holds_and_is_refused_before_the_allocator(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.memory_cap = 1 << 20;
    tn_context *c = begin(&o);
    tni_block *b = tni_here();
    int64_t calls = a.calls;
    CHECK(!tn_alloc(2 << 20));
    CHECK_EQ(a.calls, calls);
    tn_error_info e;
    CHECK(tn_error_take(&e) && e.code == TN_MEMORY && strstr(e.message, "a cap of 1048576"));
    CHECK(!tni_need(b, INT64_MAX) && tn_error_take(&e) && e.code == TN_MEMORY);
    void *small[20000];
    int n = 0;
    while (n < 20000 && (small[n] = tni_get(b, 512))) n++;
    CHECK(n > 800 && n < 2100);
    CHECK(a.most <= o.memory_cap);
    while (n--) tni_put(b, b, small[n], 512);
    end(c);
    counted_check(&a);
    /* what is cached gives way */
    o = counted_options(&a);
    o.memory_cap = 1 << 20;
    c = begin(&o);
    tn_alloc_free(tn_alloc(600000), 600000);
    void *p = tn_alloc(700000);
    CHECK(p != NULL && a.most <= o.memory_cap);
    tn_alloc_free(p, 700000);
    end(c);
    counted_check(&a);
    /* what the allocator refuses does not count */
    o = counted_options(&a);
    o.memory_cap = 1 << 20;
    c = begin(&o);
    CHECK(tni_here() != NULL);
    for (int i = 0; i < 5; i++) {
        a.fail_at = a.calls + 1;
        CHECK(!tn_alloc(300000) && tn_error_take(NULL));
    }
    CHECK((p = tn_alloc(700000)) != NULL);
    tn_alloc_free(p, 700000);
    end(c);
    counted_check(&a);
    o.memory_cap = 100;
    CHECK(!tn_context_new(&o));
    counted_check(&a);
}

static void cache_gives_way_when_the_allocator_has_none(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    tn_alloc_free(tn_alloc(5000), 5000);
    bool cached = tn_memory().bytes_cached > 0;
    a.fail_at = a.calls + 1;
    void *p = tn_alloc(9000);
    CHECK(cached ? p != NULL : p == NULL);
    CHECK_EQ(tn_memory().bytes_cached, 0);
    tn_alloc_free(p, 9000);
    tn_error_take(NULL);
    end(c);
    counted_check(&a);
}

/* --- memory and threads ----------------------------------------------------------------------- */

enum { FOREIGN = 3000 };
typedef struct foreign {
    tn_context *context;
    tni_block *owner;
    void *at[FOREIGN];
} foreign;
static int64_t foreign_bytes(int i) { return 1 + (i * 37) % 1500; }
static void *foreign_free(void *arg) {
    foreign *f = (foreign *)arg;
    tn_context_use(f->context);
    tni_block *b = tni_here();
    CHECK(b && b != f->owner);
    for (int i = 0; i < FOREIGN; i++) tni_put(b, f->owner, f->at[i], foreign_bytes(i));
    return NULL;
}
static void foreign_frees_come_back_to_the_owner(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    static foreign f;
    f.context = c;
    f.owner = tni_here();
    int64_t settled = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < FOREIGN; i++) {
            f.at[i] = tni_get(f.owner, foreign_bytes(i));
            memset(f.at[i], round, (size_t)foreign_bytes(i));
        }
        if (round == 1) settled = a.bytes;
        in_thread(foreign_free, &f);
    }
    CHECK(a.bytes <= settled);
    end(c);
    counted_check(&a);
}

/* One thread makes blocks, others free them at the same time, and back. */
typedef struct exchange_box {
    tn_context *context;
    void *slot[64];
    tni_block *owner[64];
    uint32_t lock;
} exchange_box;
static void *exchange_run(void *arg) {
    exchange_box *x = (exchange_box *)arg;
    tn_context_use(x->context);
    tni_block *b = tni_here();
    uint32_t random = (uint32_t)(uintptr_t)&random | 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        int at = (int)(random >> 26);
        int64_t bytes = 40 + at * 40;
        void *mine = tni_get(b, bytes);
        memset(mine, at, (size_t)bytes);
        tni_lock(&x->lock);
        void *old = x->slot[at];
        tni_block *owner = x->owner[at];
        x->slot[at] = mine;
        x->owner[at] = b;
        tni_unlock(&x->lock);
        if (old) tni_put(b, owner, old, bytes);
    }
    return NULL;
}
static void blocks_may_die_in_any_thread(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    static exchange_box x;
    memset(&x, 0, sizeof x);
    x.context = c;
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, exchange_run, &x);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 64; i++)
        if (x.slot[i]) tni_put(tni_here(), x.owner[i], x.slot[i], 40 + i * 40);
    end(c);
    counted_check(&a);
}

/* --- contexts --------------------------------------------------------------------------------- */

static void default_context_is_made_and_made_again(void) {
    tn_context *c = tn_context_current();
    CHECK(c != NULL && tn_ok());
    CHECK(tn_context_use(NULL) == NULL);
    tn_context_free(NULL);
    tn_context_free(NULL); /* there is none: fine */
    CHECK(tn_context_current() != NULL && tn_ok());
    tn_context_free(NULL);
}

static void contexts_are_made_and_freed_without_a_byte_left(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    for (int i = 0; i < 1000; i++) {
        tn_context *c = begin(&o);
        void *p = tn_alloc(3000);
        tni_need(tni_here(), 100);
        CHECK(p && tn_profile_begin());
        if (i % 2) tn_alloc_free(p, 3000);
        leave_calls = 0;
        end(c);
        CHECK(leave_calls == 2 && leave_order[0] == 'b' && leave_order[1] == 'a');
    }
    counted_check(&a);
    int calls = ready_calls;
    ready_fails = 1;
    CHECK(!tn_context_new(&o) && ready_calls == calls + 1);
    ready_fails = 0;
    counted_check(&a);
}

static void use_changes_the_context_and_returns_the_one_before(void) {
    tn_context *a = tn_context_new(NULL), *b = tn_context_new(NULL), *d = tn_context_current();
    CHECK(tn_context_use(a) == NULL && tn_context_current() == a);
    tn_error_set(TN_TYPE, NULL, 0, "in a");
    CHECK(tn_context_use(b) == a && tn_ok() && tn_context_current() == b);
    tn_context_free(a); /* not the current one */
    CHECK(tn_context_current() == b);
    CHECK(tn_context_use(a) == b); /* dead: the default one */
    CHECK(tn_context_current() == d);
    tn_context_use(b);
    tn_context_free(b);
    CHECK(tn_context_current() == d);
    /* a new context at the address of a dead one is not taken for it */
    tn_context *e = tn_context_new(NULL);
    CHECK(tn_context_current() == d && tn_context_use(d) == NULL);
    tn_context_free(e);
    tn_context_free(e);
}

static void *thread_block(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    tni_need(b, 700);
    tn_error_set(TN_TYPE, NULL, 0, "left behind");
    return b;
}
static int adopted;
static void adopt(tni_block *b) { adopted++, CHECK(tni_here() == b); }
static void ended_threads_leave_their_blocks_to_new_ones(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    tni_block *mine = tni_here();
    int heard = 0;
    told = adopted = 0;
    tn_set_error_handler(on_error, &heard);
    adopt_hook = adopt;
    void *first = NULL;
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        void *block = NULL;
        pthread_create(&t, NULL, thread_block, c);
        pthread_join(t, &block);
        if (!i) first = block;
        CHECK(block == first && block != (void *)mine);
    }
    CHECK_EQ(adopted, 19);
    CHECK_EQ(heard, 20); /* each error when it was set, none twice */
    CHECK(tni_here() == mine);
    adopt_hook = NULL;
    end(c);
    counted_check(&a);
}

/* Gives the last context's memory once more, so that contexts lie at one address. */
static void *recycled_at;
static void *recycled_alloc(size_t bytes, void *user) {
    void *at = bytes == sizeof(stand_in_context) ? recycled_at : NULL;
    if (at) return recycled_at = NULL, at;
    return (void)user, malloc(bytes);
}
static void recycled_free(void *at, size_t bytes, void *user) {
    (void)user;
    if (bytes == sizeof(stand_in_context) && !recycled_at)
        recycled_at = at;
    else
        free(at);
}
typedef struct outliving {
    tn_context *context;
    int32_t turn;
    bool fine;
} outliving;
static void *outliving_run(void *arg) {
    outliving *x = (outliving *)arg;
    tn_context_use(x->context);
    tn_alloc_free(tn_alloc(10), 10);
    __atomic_store_n(&x->turn, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&x->turn, __ATOMIC_ACQUIRE) != 2) sched_yield();
    tn_context *now = tn_context_current(); /* the default one */
    void *p = tn_alloc(10);
    x->fine = now && now != x->context && p;
    tn_alloc_free(p, 10);
    return NULL;
}
static void threads_survive_their_context(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = recycled_alloc;
    o.allocator.free = recycled_free;
    outliving x = {tn_context_new(&o), 0, false};
    pthread_t t;
    pthread_create(&t, NULL, outliving_run, &x);
    while (__atomic_load_n(&x.turn, __ATOMIC_ACQUIRE) != 1) sched_yield();
    tn_context_free(x.context);
    CHECK(tn_context_new(&o) == x.context); /* another one at its address */
    __atomic_store_n(&x.turn, 2, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    CHECK(x.fine);
    tn_context_free(x.context);
    tn_context_free(NULL);
    free(recycled_at);
}

static void *first_call(void *arg) { return (void)arg, (void *)tn_context_current(); }
static void default_context_is_made_once_by_many_threads(void) {
    for (int round = 0; round < 20; round++) {
        tn_context_free(NULL);
        pthread_t t[4];
        void *c[4];
        for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, first_call, NULL);
        for (int i = 0; i < 4; i++) pthread_join(t[i], &c[i]);
        for (int i = 0; i < 4; i++) CHECK(c[i] && c[i] == c[0]);
    }
    tn_context_free(NULL);
}

static void nothing_process_wide_outlives_the_last_context(void) {
    pthread_key_t before, after; /* the system gives the first free one */
    tn_context_free(NULL);
    CHECK(pthread_key_create(&before, NULL) == 0);
    pthread_key_delete(before);
    for (int i = 0; i < 3; i++) {
        CHECK(tn_context_current() != NULL);
        tn_context_free(NULL);
    }
    CHECK(pthread_key_create(&after, NULL) == 0 && after == before);
    pthread_key_delete(after);
}

static void cancel_is_seen_and_cleared(void) {
    tn_context *c = begin(NULL);
    CHECK(!tni_stop_asked(c));
    tn_cancel(c);
    CHECK(tni_stop_asked(c));
    tn_cancel_clear(NULL); /* no lock, no allocation: it may be a signal handler */
    CHECK(!tni_here() || tni_here()->context == c);
    tn_cancel_clear(c);
    CHECK(!tni_stop_asked(c));
    end(c);
}

/* --- the k-th allocation fails ---------------------------------------------------------------- */

/* A program that uses every part of the room; returns false when something failed. */
static bool everything_once(const tn_context_options *o) {
    tn_context *c = tn_context_new(o);
    if (!c) return false;
    tn_context_use(c);
    tn_error_info e = {TN_OK, "", NULL, 0};
    tni_block *b = tni_here();
    void *p = tn_alloc(5000), *q = b ? tni_get(b, 80) : NULL;
    bool ok = p && q && tn_profile_begin();
    int64_t sum = 0;
    if (b) tni_profile_add(b, "add", "f.c", 1, "x", 0, 1);
    if (b) tni_parallel(c, 100, add_index, &sum);
    CHECK(!b || sum == 5050); /* without memory for threads, by the caller */
    ok = ok && tn_profile_end("/tmp/tn_base_oom.json");
    if (!b && ((counted *)o->allocator.user)->for_ever) /* without a block there is an error, too */
        CHECK(!tn_ok() && tn_error_take(&e) && e.code == TN_MEMORY);
    if (!ok && tn_error_take(&e)) CHECK_EQ(e.code, TN_MEMORY);
    if (q) tni_put(b, b, q, 80);
    tn_alloc_free(p, 5000);
    end(c);
    return ok;
}
static void any_allocation_may_fail(void) {
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        int64_t points = 0, calls = 1;
        for (int64_t k = 1; k <= calls + 1; k++) {
            counted a;
            tn_context_options o = counted_options(&a);
            o.threads = 2;
            a.fail_at = k;
            a.for_ever = for_ever != 0;
            bool ok = everything_once(&o);
            if (ok && a.calls < k) break;
            calls = a.calls > calls ? a.calls : calls;
            points++;
            counted_check(&a);
        }
        CHECK(points >= 8);
    }
    remove("/tmp/tn_base_oom.json");
}

static const check_test tests[] = {
    CHECK_TEST(sizes_that_wrap_are_refused),
    CHECK_TEST(first_error_stays_until_taken),
    CHECK_TEST(place_is_the_users_outermost_line),
    CHECK_TEST(long_messages_are_cut),
    CHECK_TEST(handler_hears_each_error_once),
    CHECK_TEST(handler_may_jump),
    CHECK_TEST(each_code_has_a_text),
    CHECK_TEST(all_sizes_are_aligned_and_apart),
    CHECK_TEST(memory_in_use_is_counted_exactly),
    CHECK_TEST(classes_waste_at_most_an_eighth),
    CHECK_TEST(steps_settle_to_no_allocations),
    CHECK_TEST(sizes_that_do_not_come_back_are_not_hoarded),
    CHECK_TEST(cap_holds_and_is_refused_before_the_allocator),
    CHECK_TEST(cache_gives_way_when_the_allocator_has_none),
    CHECK_TEST(foreign_frees_come_back_to_the_owner),
    CHECK_TEST(blocks_may_die_in_any_thread),
    CHECK_TEST(default_context_is_made_and_made_again),
    CHECK_TEST(contexts_are_made_and_freed_without_a_byte_left),
    CHECK_TEST(use_changes_the_context_and_returns_the_one_before),
    CHECK_TEST(ended_threads_leave_their_blocks_to_new_ones),
    CHECK_TEST(threads_survive_their_context),
    CHECK_TEST(default_context_is_made_once_by_many_threads),
    CHECK_TEST(nothing_process_wide_outlives_the_last_context),
    CHECK_TEST(cancel_is_seen_and_cleared),
    CHECK_TEST(any_allocation_may_fail),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
