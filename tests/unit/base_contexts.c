/* base_contexts.c - promises of src/base/context.c: which context a call is in, which block a
 * thread has and in what state it finds it, what the end of a context calls, and the words where
 * none can be made. */
#include "base_stand_ins.h"

#include <dlfcn.h>
#include <stdint.h>

/* The system's, called under the lock of what is process-wide: a thread may be told to keep it. */
static __thread bool keeps_lock;
static int32_t lock_is; /* 1: kept, 2: to be given back */
static int32_t of(const int32_t *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static void set(int32_t *at, int32_t to) { __atomic_store_n(at, to, __ATOMIC_RELEASE); }
int pthread_setspecific(pthread_key_t key, const void *value) {
    __typeof__(pthread_setspecific) *real;
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "pthread_setspecific");
    if (keeps_lock) {
        keeps_lock = false;
        set(&lock_is, 1);
        while (of(&lock_is) != 2) sched_yield();
    }
    return real(key, value);
}

/* --- options ---------------------------------------------------------------------------------- */

static void no_jobs(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    (void)user;
    for (int64_t i = 0; i < count; i++) task(arg, i);
}
static void numbers_of_threads_are_as_asked(void) {
    static const struct {
        bool host;
        int32_t threads, jobs, expected; /* 0: the cores */
    } cases[] = {{false, -7, 9, 1}, {false, -1, 9, 1}, {false, 0, 9, 0}, {false, 1, 9, 2},
                 {false, 6, 9, 7},  {true, 5, 9, 9},   {true, 5, 1, 1},  {true, 5, 0, 1},
                 {true, 5, -1, 1},  {true, -1, 2, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = cases[i].threads;
        o.jobs.run = cases[i].host ? no_jobs : NULL;
        o.jobs.threads = cases[i].jobs;
        tn_context *c = begin(&o);
        CHECK_EQ(tn_threads(), cases[i].expected ? cases[i].expected : tni_cores());
        end(c);
    }
}
static void a_context_begins_in_this_state(void) {
    tn_context *c = begin(NULL), *other = tn_context_new(NULL);
    tni_block *b = tni_here();
    CHECK(b && b->context == c && b->token && !b->next && c->blocks == b);
    CHECK(!((stand_in_context *)(void *)c)->above && !((stand_in_block *)(void *)b)->above);
    CHECK(c->id && other->id == c->id + 1 + (b->token > c->id)); /* one counter for both */
    CHECK(!c->pool && !c->profile && !c->ending && c->nleave == 2 && !c->cancel && !c->handler);
    CHECK(!other->blocks && tn_memory().live_tensors == 0);
    tn_context_free(other);
    end(c);
}
static void a_block_begins_empty(void) {
    counted a;
    tn_context_options o = counted_options(&a); /* gives memory that is not zero */
    tn_context *c = begin(&o);
    tni_block *b = tni_here(), empty;
    memset(&empty, 0, sizeof empty);
    CHECK(!memcmp(&b->failed, &empty.failed,
                  offsetof(tni_block, token) - offsetof(tni_block, failed)));
    CHECK(!b->error_text[0] && !b->error_code && !b->error_file && !b->error_line);
    CHECK(!b->returned && tn_ok());
    end(c);
    counted_check(&a);
}

/* --- what cannot be made ---------------------------------------------------------------------- */

static int told;
static tn_error_info last;
static void tell(const tn_error_info *e, void *user) { told++, last = *e, *(int *)user += 1; }
static void a_context_that_cannot_be_made_says_why(void) {
    tn_context_options o;
    tn_error_info e;
    int heard = 0;
    memset(&o, 0, sizeof o);
    tn_context *c = begin(NULL);
    tn_set_error_handler(tell, &heard);
    tni_place_set(tni_here(), "before.c", 3); /* an earlier call's line is not its place */
    o.isa = "abacus";
    CHECK(!tn_context_new(&o) && heard == 1 && tn_error_take(&e) && e.code == TN_UNSUPPORTED);
    CHECK_TEXT(e.message, "tn_context_new: options.isa: this CPU cannot run that instruction set");
    CHECK(!e.file && !e.line);
    o.isa = NULL;
    setenv("TN_ISA", "abacus", 1);
    CHECK(!tn_context_new(&o) && heard == 2 && tn_error_take(&e) && e.code == TN_UNSUPPORTED);
    CHECK_TEXT(e.message, "tn_context_new: TN_ISA: this CPU cannot run that instruction set");
    unsetenv("TN_ISA");
    leave_calls = 0, ready_fails = 1;
    CHECK(!tn_context_new(&o) && heard == 2 && tn_ok()); /* no memory: without words */
    CHECK(leave_calls == 2 && leave_order[0] == 'b' && leave_order[1] == 'a');
    ready_fails = 0;
    end(c);
}
static void a_default_context_that_cannot_be_made_says_why(void) {
    tn_error_info e;
    tn_context_free(NULL);
    for (int k = 0; k < 5; k++) {
        bool memory = k % 2 == 0;
        ready_fails = memory;
        if (!memory) setenv("TN_ISA", "abacus", 1);
        CHECK(!tn_context_current() && !tni_here() && !tn_ok());
        for (int taken = 0; taken < 2; taken++) {
            memset(&e, 0, sizeof e);
            CHECK(taken ? tn_error_take(&e) : tn_error_peek(&e));
            CHECK(e.code == (memory ? TN_MEMORY : TN_UNSUPPORTED) && !e.file && e.line == 0);
            CHECK_TEXT(e.message, memory ? "out of memory: cannot make a context"
                                         : "TN_ISA: this CPU cannot run that instruction set");
        }
        CHECK(tn_error_peek(NULL) && tn_error_take(NULL));
        ready_fails = 0;
        unsetenv("TN_ISA");
    }
    CHECK(tn_context_current() && tn_ok() && !tn_error_peek(&e));
    tn_context_free(NULL);
}

static tn_context *made_first;
static void makes_the_default(tn_context *c) {
    ready_hook = NULL;
    made_first = tn_context_current();
    CHECK(made_first && made_first != c);
}
static void *current(void *unused) { return (void)unused, tn_context_current(); }
static void a_default_context_that_is_made_twice_is_one(void) {
    pthread_t t;
    void *seen = NULL;
    tn_context_free(NULL);
    leave_calls = 0;
    ready_hook = makes_the_default; /* another thread is faster */
    CHECK(tn_context_current() == made_first && tn_ok());
    CHECK_EQ(leave_calls, 2); /* the second one has ended */
    CHECK(pthread_create(&t, NULL, current, NULL) == 0 && pthread_join(t, &seen) == 0);
    CHECK(seen == (void *)made_first); /* of every thread that has chosen none */
    tn_context_free(NULL);
    CHECK_EQ(leave_calls, 4);
}

/* --- which context ---------------------------------------------------------------------------- */

static void use_returns_what_was_chosen(void) {
    tni_epoch = 1; /* the first, or one that comes after 2^32 - 1 */
    tn_context *d = tn_context_current(), *a = tn_context_new(NULL), *b = tn_context_new(NULL);
    CHECK(d && tn_context_use(NULL) == NULL);
    CHECK(tn_context_use(a) == NULL && tn_context_current() == a);
    CHECK(tn_context_use(d) == a && tn_context_current() == d); /* the default one is no choice */
    CHECK(tn_context_use(b) == NULL && tn_context_use(NULL) == b && tn_context_current() == d);
    tn_context_use(a);
    tn_context_free(b); /* another one than the chosen */
    CHECK(tn_context_current() == a);
    tn_context_free(NULL); /* the default one */
    CHECK(tn_context_current() == a && tn_context_use(b) == a);
    CHECK(tn_context_use(NULL) == NULL);
    tn_context_free(a);
    tn_context_free(a), tn_context_free(b);
    tn_context_free(NULL);
}
static void contexts_end_in_any_order(void) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        tn_context *c[3], *d = tn_context_current();
        for (int k = 0; k < 3; k++) c[k] = tn_context_new(NULL);
        for (int k = 0; k < 3; k++) {
            tn_context_free(c[orders[i][k]]);
            for (int l = 0; l < 3; l++) {
                bool lives = true;
                for (int m = 0; m <= k; m++) lives = lives && orders[i][m] != l;
                tn_context_use(c[l]);
                CHECK(tn_context_current() == (lives ? c[l] : d));
            }
            tn_context_use(NULL);
        }
        tn_context_free(NULL);
    }
}
static void epochs_begin_anew(void) {
    tn_context *c = begin(NULL), *other = tn_context_new(NULL);
    tni_block *mine = tni_here();
    tni_epoch = UINT32_MAX - 1;
    CHECK(tni_here() == mine);
    tn_context_free(other);
    CHECK(tni_epoch == UINT32_MAX && tni_here() == mine);
    other = tn_context_new(NULL);
    tn_context_free(other);
    CHECK(tni_epoch == 1 && tni_here() == mine); /* 0 is a thread's that has no block */
    end(c);
}
static void isas_and_cancels_are_the_current_ones(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.isa = "scalar";
    tn_context *d = tn_context_current(), *c = begin(&o);
    CHECK_TEXT(tn_isa(), "scalar"); /* and the thread is attached */
    tn_cancel(NULL);
    CHECK(tni_stop_asked(c) && !tni_stop_asked(d));
    tn_cancel(d);
    tn_cancel_clear(NULL);
    CHECK(!tni_stop_asked(c) && tni_stop_asked(d));
    tn_cancel_clear(d);
    tn_context_use(NULL); /* not attached: the default one */
    tn_cancel(NULL);
    CHECK(!tni_stop_asked(c) && tni_stop_asked(d));
    tn_cancel_clear(NULL);
    CHECK(!tni_stop_asked(c) && !tni_stop_asked(d));
    tn_context_use(c);
    CHECK(tni_here() != NULL);
    tn_context_free(tn_context_new(NULL)); /* another one's end: until its next call it has none */
    tn_cancel(NULL);
    CHECK(!tni_stop_asked(c) && tni_stop_asked(d));
    tn_cancel_clear(NULL);
    CHECK(!tni_stop_asked(d) && tni_here()->context == c);
    tn_context_free(c); /* what the thread remembers of it is void */
    tn_cancel(NULL);
    CHECK(tni_stop_asked(d));
    tn_context_use(NULL);
    tn_context_free(NULL);
    tn_cancel(NULL), tn_cancel_clear(NULL); /* there is none */
}

/* --- which block ------------------------------------------------------------------------------ */

static void *attaches(void *arg) {
    tn_context_use((tn_context *)arg);
    return tni_here();
}
static void *block_of_a_thread(tn_context *c) {
    pthread_t t;
    void *block = NULL;
    if (CHECK(pthread_create(&t, NULL, attaches, c) == 0)) pthread_join(t, &block);
    return block;
}
static int adopted;
static void adopts(tni_block *b) { adopted++, CHECK(tni_here() == b); }
static void a_thread_comes_back_to_its_own_block(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o), *other = tn_context_new(NULL);
    tni_block *mine = tni_here();
    adopted = 0;
    adopt_hook = adopts;
    void *left = block_of_a_thread(c); /* belongs to nobody now */
    CHECK(left && left != (void *)mine);
    tn_context_use(other);
    CHECK(tni_here()->context == other);
    tn_context_use(c);
    CHECK(tni_here() == mine && adopted == 0);
    CHECK(block_of_a_thread(c) == left && adopted == 1);
    CHECK(((tni_block *)left)->token == 0 && mine->token != 0 && mine->next == NULL);
    tn_context_free(other);
    CHECK(tni_here() == mine && adopted == 1); /* also when the thread has to look for it */
    end(c);
    counted_check(&a);
}

static void *leaves_all_behind(void *arg) {
    static tni_work work;
    static tn_path path;
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    tni_error(b, TN_TYPE, "left behind");
    b->work = &work, b->path = &path, b->place_file = "f.c", b->place_hold = 3;
    b->quiet = 7, b->unstopped = 4;
    tni_hook_set(b, TNI_HOOK_RECORD | TNI_HOOK_PROFILE, true);
    return b;
}
static void *finds_nothing(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    CHECK(!b->work && !b->path && !b->place_file && !b->place_hold && tn_ok());
    CHECK(!b->quiet && !b->unstopped);
    CHECK_EQ(b->hooks, TNI_HOOK_PROFILE);
    return b;
}
static void what_an_ended_thread_was_at_is_over(void) {
    tn_context *c = begin(NULL);
    pthread_t t;
    void *first = NULL, *second = NULL;
    int heard = 0;
    told = 0;
    tn_set_error_handler(tell, &heard);
    CHECK(pthread_create(&t, NULL, leaves_all_behind, c) == 0 && pthread_join(t, &first) == 0);
    CHECK(pthread_create(&t, NULL, finds_nothing, c) == 0 && pthread_join(t, &second) == 0);
    CHECK(first && first == second && heard == 1 && told == 1 && last.code == TN_TYPE);
    CHECK(tni_here() != first && tn_ok());
    end(c);
}

/* A destructor of the user's, that runs after the library's, calls it once more. */
static pthread_key_t late;
static tn_context *late_context;
static bool late_attached;
static void calls_late(void *value) {
    tni_block *b = tni_here();
    late_attached = b && b->context == late_context && b->token != 0;
    void *at = tn_alloc(100);
    late_attached = late_attached && at;
    tn_alloc_free(at, 100);
    (void)value;
}
static void *sets_a_key(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    pthread_setspecific(late, arg);
    return b;
}
static void a_thread_that_calls_while_it_ends_attaches_anew(void) {
    tn_context *c = late_context = begin(NULL);
    pthread_t t;
    void *block = NULL;
    CHECK(pthread_key_create(&late, calls_late) == 0);
    tni_epoch = 1; /* the first, or one that comes after 2^32 - 1 */
    CHECK(pthread_create(&t, NULL, sets_a_key, c) == 0 && pthread_join(t, &block) == 0);
    CHECK(late_attached && block && block_of_a_thread(c) == block); /* and it ended again */
    CHECK(((tni_block *)block)->token == 0);
    pthread_key_delete(late);
    end(c);
}
static void keys_are_made_as_often_as_contexts_are_first(void) {
    pthread_key_t free_one, next;
    tn_context_free(NULL);
    CHECK(pthread_key_create(&free_one, NULL) == 0);
    pthread_key_delete(free_one);
    for (int i = 0; i < 3; i++) {
        tn_context *c = begin(NULL), *more = tn_context_new(NULL);
        CHECK(pthread_key_create(&next, NULL) == 0 && next != free_one); /* it is the library's */
        pthread_key_delete(next);
        tn_context_free(more);
        CHECK(pthread_key_create(&next, NULL) == 0 && next != free_one); /* one lives */
        pthread_key_delete(next);
        end(c);
        CHECK(pthread_key_create(&next, NULL) == 0 && next == free_one);
        pthread_key_delete(next);
    }
}

/* The thread whose block is free ends while this one gets memory for its own. */
static struct {
    pthread_t thread;
    int32_t may_end;
    bool waits;
    void *block;
    counted memory;
} racer;
static void *attaches_and_waits(void *arg) {
    void *block = attaches(arg);
    __atomic_store_n(&racer.block, block, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&racer.may_end, __ATOMIC_ACQUIRE)) sched_yield();
    return NULL;
}
static void *ends_the_racer(size_t bytes, void *user) {
    if (bytes == sizeof(stand_in_block) && racer.waits) {
        racer.waits = false;
        __atomic_store_n(&racer.may_end, 1, __ATOMIC_RELEASE);
        pthread_join(racer.thread, NULL);
    }
    return counted_alloc(bytes, user);
}
static void a_block_too_much_is_given_back(void) {
    tn_context_options o = counted_options(&racer.memory);
    o.allocator.alloc = ends_the_racer;
    tn_context *c = tn_context_new(&o);
    adopted = 0;
    adopt_hook = adopts;
    CHECK(pthread_create(&racer.thread, NULL, attaches_and_waits, c) == 0);
    while (!__atomic_load_n(&racer.block, __ATOMIC_ACQUIRE)) sched_yield();
    int64_t blocks = racer.memory.blocks;
    racer.waits = true;
    tn_context_use(c);
    CHECK((void *)tni_here() == racer.block && adopted == 1);
    CHECK(racer.memory.blocks == blocks && c->blocks == tni_here() && !c->blocks->next);
    end(c);
    counted_check(&racer.memory);
}

static int32_t hooks_seen;
static void *waits_for_hooks(void *arg) {
    tni_block *b = (tni_block *)attaches(arg);
    for (int on = 1; on >= 0; on--) {
        __atomic_fetch_add(&hooks_seen, 1, __ATOMIC_ACQ_REL);
        while ((tni_load_relaxed(&b->hooks) & TNI_HOOK_PROFILE) != (on ? TNI_HOOK_PROFILE : 0))
            sched_yield();
    }
    return NULL;
}
static void *has_only_this_hook(void *arg) {
    CHECK_EQ(((tni_block *)attaches(arg))->hooks, TNI_HOOK_PROFILE);
    return NULL;
}
static void hooks_reach_every_thread(void) {
    tn_context *c = begin(NULL);
    pthread_t t[3];
    hooks_seen = 0;
    tni_hook_set(tni_here(), TNI_HOOK_RECORD, true);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&t[i], NULL, waits_for_hooks, c) == 0);
    while (__atomic_load_n(&hooks_seen, __ATOMIC_ACQUIRE) < 3) sched_yield();
    CHECK(tn_profile_begin() && tni_here()->hooks == (TNI_HOOK_RECORD | TNI_HOOK_PROFILE));
    for (tni_block *b = c->blocks; b; b = b->next) CHECK(b->hooks & TNI_HOOK_PROFILE);
    while (__atomic_load_n(&hooks_seen, __ATOMIC_ACQUIRE) < 6) sched_yield(); /* each has it */
    in_thread(has_only_this_hook, c); /* also who comes later */
    tni_context_hook(c, TNI_HOOK_PROFILE, false);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    CHECK_EQ(tni_here()->hooks, TNI_HOOK_RECORD);
    tni_hook_set(tni_here(), TNI_HOOK_RECORD, false);
    end(c);
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct {
    void (*prepare)(void), (*call)(void);
    tn_context *context, *victim;
    int32_t prepared, go, done;
    uint32_t *word; /* another lock than that of what is process-wide */
    tn_ending ending;
    pthread_t ends;
    int32_t attached, may_end;
} locked;
static void *keeps(void *arg) {
    tn_context_use(locked.context);
    if (locked.word)
        tni_lock(locked.word), set(&lock_is, 1);
    else
        keeps_lock = true, tni_here();
    while (of(&lock_is) != 2) sched_yield();
    if (locked.word) tni_unlock(locked.word);
    return arg;
}
static void waits_to_go(void) {
    set(&locked.prepared, 1);
    while (!of(&locked.go)) sched_yield();
}
static void *calls(void *arg) {
    if (locked.prepare) locked.prepare();
    if (!ready_hook) waits_to_go();
    locked.call();
    set(&locked.done, 1);
    return arg;
}
/* The call has to wait until the thread that has the lock gives it back. */
static void waits_for_lock(uint32_t *word, void (*prepare)(void), void (*call)(void), int line) {
    pthread_t keeper, caller;
    locked.prepare = prepare, locked.call = call, locked.word = word;
    locked.prepared = locked.go = locked.done = lock_is = 0;
    if (!CHECK(!pthread_create(&caller, NULL, calls, NULL))) return;
    while (!of(&locked.prepared)) sched_yield();
    if (!CHECK(!pthread_create(&keeper, NULL, keeps, NULL))) return;
    while (of(&lock_is) != 1) sched_yield();
    set(&locked.go, 1);
    usleep(3000);
    if (!CHECK(!of(&locked.done))) printf("    line %d\n", line);
    set(&lock_is, 2);
    pthread_join(keeper, NULL), pthread_join(caller, NULL);
    CHECK(of(&locked.done) && tn_ok());
}
#define WAITS(word, prepare, call) waits_for_lock(word, prepare, call, __LINE__)

static void chooses(void) { tn_context_use(locked.context); }
static void chooses_and_attaches(void) { chooses(), tni_here(); }
static void makes_one(void) { locked.victim = tn_context_new(NULL); }
static void frees_one(void) { tn_context_free(locked.victim); }
static void uses(void) { tn_context_use(NULL); }
static void asks(void) { CHECK(tni_here() && tni_here()->context == locked.context); }
static void asks_for_default(void) { CHECK(tn_context_current() != locked.context); }
static void waits_while_made(tn_context *c) { (void)c, ready_hook = NULL, waits_to_go(); }
static void hooks(void) { tni_context_hook(locked.context, TNI_HOOK_PROFILE, false); }
static void *ends_when_told(void *arg) {
    chooses_and_attaches();
    set(&locked.attached, 1);
    while (!of(&locked.may_end)) sched_yield();
    return arg;
}
static void starts_a_thread(void) {
    locked.attached = locked.may_end = 0;
    CHECK(!pthread_create(&locked.ends, NULL, ends_when_told, NULL));
    while (!of(&locked.attached)) sched_yield();
}
static void ends_the_thread(void) { set(&locked.may_end, 1), pthread_join(locked.ends, NULL); }
static void adds_ending(void) { CHECK(tn_ending_add(&locked.ending)); }
static void removes_ending(void) { tn_ending_remove(&locked.ending); }
static void no_end(tn_ending *e) { (void)e; }
static void at_end_more(tn_context *c) { (void)c; }
static void adds_at_end(void) { tni_context_at_end(locked.context, at_end_more); }
static void adds_event(void) { tni_profile_add(tni_here(), "n", "f", 1, "t", 0, 0); }
static void begins_profile(void) { CHECK(!tn_profile_begin() && tn_error_take(NULL)); }
static void ends_profile(void) {
    CHECK(!tn_profile_end("/no/such/folder/x") && tn_error_take(NULL));
}
static void trims(void) { tn_memory_trim(); }
static void asks_memory(void) { CHECK(tn_memory().allocations > 0); }
static void resets_peak(void) { tn_memory_reset_peak(); }
static void gets_and_puts(void) { tn_alloc_free(tn_alloc(5000), 5000); }
static void calls_wait_for_the_locks_that_they_take(void) {
    tn_context_free(NULL);
    tn_context *c = locked.context = begin(NULL);
    CHECK(tni_here() && tn_profile_begin());
    uint32_t *memory = (uint32_t *)(void *)c->large, *profile = (uint32_t *)(void *)c->profile;
    locked.ending.end = no_end;
    WAITS(NULL, NULL, makes_one);
    WAITS(NULL, NULL, frees_one);
    WAITS(NULL, chooses, uses);
    WAITS(NULL, chooses, asks);
    WAITS(NULL, chooses_and_attaches, hooks);
    WAITS(NULL, starts_a_thread, ends_the_thread);
    WAITS(&c->ending_lock, chooses_and_attaches, adds_ending);
    WAITS(&c->ending_lock, chooses_and_attaches, removes_ending);
    WAITS(&c->lock, chooses_and_attaches, adds_at_end);
    WAITS(profile, chooses_and_attaches, adds_event);
    WAITS(profile, chooses_and_attaches, begins_profile);
    WAITS(profile, chooses_and_attaches, ends_profile);
    WAITS(memory, chooses_and_attaches, trims);
    WAITS(memory, chooses_and_attaches, asks_memory);
    WAITS(memory, chooses_and_attaches, resets_peak);
    WAITS(memory, chooses_and_attaches, gets_and_puts);
    ready_hook = waits_while_made; /* the default one, while this one's lock is kept */
    WAITS(NULL, NULL, asks_for_default);
    locked.victim = tn_context_new(NULL);
    WAITS(&locked.victim->ending_lock, NULL, frees_one);
    end(c);
    tn_context_free(NULL);
}

/* --- the end ---------------------------------------------------------------------------------- */

static tn_ending endings[5];
static char ended[8];
static int nended;
static void ending_ends(tn_ending *e) {
    CHECK(e->context == NULL && tn_context_current() != NULL);
    ended[nended++ & 7] = (char)('0' + (e - endings));
    if (e == &endings[1]) tn_ending_remove(&endings[0]);     /* it may remove others */
    if (e == &endings[3]) CHECK(tn_ending_add(&endings[4])); /* and add some */
    tn_ending_remove(e);                                     /* is gone already */
}
static void endings_are_called_newest_first(void) {
    for (int removed = -1; removed < 4; removed++) {
        static const char *const orders[] = {"3421", "3421", "3420", "341", "421"};
        tn_context *c = begin(NULL);
        memset(endings, 0, sizeof endings);
        memset(ended, 0, sizeof ended);
        nended = 0;
        for (int i = 0; i < 5; i++) endings[i].end = ending_ends;
        for (int i = 0; i < 4; i++) {
            CHECK(tn_ending_add(&endings[i]) && endings[i].context == c && !endings[i].newer);
            CHECK(endings[i].older == (i ? &endings[i - 1] : NULL) && c->ending == &endings[i]);
            if (i) CHECK(endings[i - 1].newer == &endings[i]);
        }
        if (removed >= 0) {
            tn_ending_remove(&endings[removed]);
            tn_ending_remove(&endings[removed]);
            CHECK(!endings[removed].context && c->ending == &endings[removed == 3 ? 2 : 3]);
            if (removed < 3)
                CHECK(endings[removed + 1].older == (removed ? &endings[removed - 1] : NULL));
            if (removed > 0)
                CHECK(endings[removed - 1].newer == (removed < 3 ? &endings[removed + 1] : NULL));
        }
        leave_calls = 0;
        end(c);
        CHECK_TEXT(ended, removed == 3 ? "21" : orders[removed + 1]);
        CHECK_EQ(leave_calls, 2);
    }
}

static tn_context *ends_in;
static void leave_looks(tn_context *c) {
    CHECK(c == ends_in && tn_context_current() == c);
    leave_say('z');
}
static void the_end_is_called_in_its_context(void) {
    tn_context *a = tn_context_new(NULL), *b = begin(NULL);
    tni_context_at_end(a, leave_looks), tni_context_at_end(b, leave_looks);
    leave_calls = 0, ends_in = a;
    tn_context_free(a); /* from another one, which stays chosen */
    CHECK(tn_context_current() == b && leave_calls == 3 && !memcmp(leave_order, "zba", 3));
    ends_in = b, leave_calls = 0;
    tn_context_free(b);
    CHECK(leave_calls == 3 && tn_context_use(NULL) == NULL);
    ends_in = tn_context_current(), leave_calls = 0;
    tni_context_at_end(ends_in, leave_looks);
    tn_context_free(NULL);
    CHECK_EQ(leave_calls, 3);
}
static void leave_1(tn_context *c) { (void)c, leave_say('1'); }
static void leave_2(tn_context *c) { (void)c, leave_say('2'); }
static void leave_3(tn_context *c) { (void)c, leave_say('3'); }
static void leave_4(tn_context *c) { (void)c, leave_say('4'); }
static void leave_5(tn_context *c) { (void)c, leave_say('5'); }
static void leave_6(tn_context *c) { (void)c, leave_say('6'); }
static void leave_7(tn_context *c) { (void)c, leave_say('7'); }
static void eight_are_called_at_the_end_and_no_ninth(void) {
    tn_context *c = begin(NULL);
    tni_context_at_end(c, leave_1), tni_context_at_end(c, leave_1);
    CHECK_EQ(c->nleave, 3);
    tni_context_at_end(c, leave_2), tni_context_at_end(c, leave_3);
    tni_context_at_end(c, leave_4), tni_context_at_end(c, leave_5);
    tni_context_at_end(c, leave_6), tni_context_at_end(c, leave_7);
    tni_context_at_end(c, leave_a), tni_context_at_end(c, leave_7);
    CHECK_EQ(c->nleave, 8);
    leave_calls = 0;
    end(c);
    CHECK(leave_calls == 8 && !memcmp(leave_order, "654321ba", 8));
}
static void errors_that_nobody_took_are_told_at_the_end(void) {
    tn_context *c = begin(NULL);
    int heard = 0;
    told = 0;
    tn_set_error_handler(tell, &heard);
    tni_error(tni_here(), TN_INDEX, "one");
    in_thread(attaches, c);
    tn_context_free(c);
    CHECK(heard == 1 && last.code == TN_INDEX);
    tn_context_use(NULL);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(numbers_of_threads_are_as_asked),
        CHECK_TEST(a_context_begins_in_this_state),
        CHECK_TEST(a_block_begins_empty),
        CHECK_TEST(a_context_that_cannot_be_made_says_why),
        CHECK_TEST(a_default_context_that_cannot_be_made_says_why),
        CHECK_TEST(a_default_context_that_is_made_twice_is_one),
        CHECK_TEST(use_returns_what_was_chosen),
        CHECK_TEST(contexts_end_in_any_order),
        CHECK_TEST(epochs_begin_anew),
        CHECK_TEST(isas_and_cancels_are_the_current_ones),
        CHECK_TEST(a_thread_comes_back_to_its_own_block),
        CHECK_TEST(what_an_ended_thread_was_at_is_over),
        CHECK_TEST(a_thread_that_calls_while_it_ends_attaches_anew),
        CHECK_TEST(keys_are_made_as_often_as_contexts_are_first),
        CHECK_TEST(a_block_too_much_is_given_back),
        CHECK_TEST(hooks_reach_every_thread),
        CHECK_TEST(calls_wait_for_the_locks_that_they_take),
        CHECK_TEST(endings_are_called_newest_first),
        CHECK_TEST(the_end_is_called_in_its_context),
        CHECK_TEST(eight_are_called_at_the_end_and_no_ninth),
        CHECK_TEST(errors_that_nobody_took_are_told_at_the_end),
    };
    return CHECK_MAIN(tests, argc, argv);
}
