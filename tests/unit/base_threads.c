/* base_threads.c - promises of src/base: the pool, locks, fork, instruction sets. */
#include "base_stand_ins.h"

#include <fenv.h>

/* --- threads ---------------------------------------------------------------------------------- */

enum { TASKS = 5000 };
typedef struct once {
    tn_context *context;
    uint8_t runs[TASKS];
    int64_t others; /* tasks that another thread than the first has run */
    int64_t arrived;
    pthread_t first;
    int rounding;
} once;
static void once_task(void *arg, int64_t i) {
    once *x = (once *)arg;
    x->runs[i]++; /* its own byte: a second run would be a race, too */
    for (volatile int k = 0; k < 200;) k = k + 1;
    if (!pthread_equal(pthread_self(), x->first)) {
        __atomic_fetch_add(&x->others, 1, __ATOMIC_RELAXED);
        if (fegetround() != FE_TONEAREST) __atomic_store_n(&x->rounding, 1, __ATOMIC_RELAXED);
    }
}
static void once_check(once *x, int64_t count) {
    memset(x->runs, 0, sizeof x->runs);
    x->first = pthread_self();
    tni_parallel(x->context, count, once_task, x);
    for (int64_t i = 0; i < TASKS; i++) CHECK_EQ(x->runs[i], i < count);
}
/* Two tasks that wait for each other, so that two threads must have them. */
static void once_meet(void *arg, int64_t i) {
    once *x = (once *)arg;
    __atomic_fetch_add(&x->arrived, 1, __ATOMIC_ACQ_REL);
    for (int k = 0; k < 10000000 && __atomic_load_n(&x->arrived, __ATOMIC_ACQUIRE) < 2; k++)
        sched_yield();
    once_task(arg, i);
}
static void once_check_two(once *x) {
    memset(x->runs, 0, sizeof x->runs);
    x->first = pthread_self();
    x->others = x->arrived = 0;
    tni_parallel(x->context, 2, once_meet, x);
    CHECK(x->others >= 1); /* 2: the caller came late */
    CHECK(x->runs[0] == 1 && x->runs[1] == 1);
}
static int threads_alive(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
static void *thread_of_no_use(void *arg) { return arg; }
static void each_task_runs_once(void) {
    in_thread(thread_of_no_use, NULL); /* ThreadSanitizer makes one of its own with the first */
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = 3;
    tn_context *c = begin(&o);
    static once x;
    x.context = c;
    x.others = 0;
    CHECK_EQ(tn_threads(), 4);
    int alone = threads_alive();
    tni_parallel(c, 0, once_task, &x);
    once_check(&x, 1);
    CHECK_EQ(threads_alive(), alone); /* made at first need */
    once_check(&x, TASKS);
    CHECK_EQ(threads_alive(), alone + 3);
    for (int i = 0; i < 300; i++) once_check(&x, 1 + i % 7);
    once_check(&x, TASKS);
    CHECK_EQ(threads_alive(), alone + 3);
    once_check_two(&x);
    CHECK(tn_set_threads(2));
    once_check(&x, TASKS);
    once_check_two(&x);
    CHECK_EQ(threads_alive(), alone + 1);
    CHECK(tn_set_threads(1));
    x.others = 0;
    once_check(&x, TASKS);
    CHECK_EQ(x.others, 0);
    CHECK(!tn_set_threads(0) && tn_error_take(NULL) && !tn_set_threads(-3) && tn_error_take(NULL));
    CHECK_EQ(tn_threads(), 1);
    end(c);
    CHECK_EQ(threads_alive(), alone);
    counted_check(&a);
}

static void pool_threads_have_the_default_floating_point_mode(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 3;
    tn_context *c = begin(&o);
    static once x;
    x.context = c;
    fesetround(FE_UPWARD);
    once_check(&x, TASKS);
    once_check_two(&x);
    fesetround(FE_TONEAREST);
    CHECK_EQ(x.rounding, 0);
    end(c);
}

typedef struct nested {
    tn_context *context;
    int64_t sum;
} nested;
static void nested_task(void *arg, int64_t i) {
    nested *x = (nested *)arg;
    int64_t sum = 0;
    (void)i;
    tni_parallel(x->context, 10, add_index, &sum);
    __atomic_fetch_add(&x->sum, sum, __ATOMIC_RELAXED);
}
static void nested_calls_run_serially(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 3;
    nested x = {begin(&o), 0};
    for (int i = 0; i < 50; i++) tni_parallel(x.context, 20, nested_task, &x);
    CHECK_EQ(x.sum, 50 * 20 * 55);
    end(x.context);
}

static void *busy_caller(void *arg) {
    int64_t sum = 0;
    for (int i = 0; i < 300; i++) tni_parallel((tn_context *)arg, 50, add_index, &sum);
    CHECK_EQ(sum, 300 * 1275);
    return NULL;
}
static void several_threads_may_call_at_once(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 2;
    tn_context *c = begin(&o);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, busy_caller, c);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    end(c);
}

static int host_runs;
static void host_run(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    CHECK_EQ(*(int *)user, 42);
    host_runs++;
    for (int64_t i = count; i-- > 0;) task(arg, i); /* any order */
}
static void host_jobs_are_used_instead_of_own_threads(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    int user = 42;
    o.jobs.run = host_run;
    o.jobs.threads = 5;
    o.jobs.user = &user;
    int alone = threads_alive();
    nested x = {begin(&o), 0};
    CHECK_EQ(tn_threads(), 5);
    host_runs = 0;
    tni_parallel(x.context, 20, nested_task, &x);
    CHECK_EQ(x.sum, 20 * 55);
    CHECK_EQ(host_runs, 1); /* nested ones did not reach it */
    CHECK_EQ(threads_alive(), alone);
    end(x.context);
}

static struct {
    uint32_t lock;
    int64_t n;
} guarded;
static void *guarded_run(void *arg) {
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        tni_lock(&guarded.lock);
        guarded.n++;
        tni_unlock(&guarded.lock);
    }
    return NULL;
}
static void locks_exclude(void) {
    pthread_t t[3];
    guarded.n = 0;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, guarded_run, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    CHECK_EQ(guarded.n, 60000);
    CHECK(tni_lock_try(&guarded.lock) && !tni_lock_try(&guarded.lock));
    tni_unlock(&guarded.lock);
}

/* --- fork ------------------------------------------------------------------------------------- */

/* ThreadSanitizer cannot follow threads that a child makes; AddressSanitizer's allocator hangs in
 * the child when another thread was in it at the fork. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_IS_ALONE 1
#elif defined(__SANITIZE_ADDRESS__)
#define FORK_IS_QUIET 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_IS_ALONE 1
#elif __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define FORK_IS_QUIET 1
#endif
#endif
static bool child_works(void *arg) {
    tn_context *c = (tn_context *)arg;
#ifdef CHILD_IS_ALONE
    tn_set_threads(1);
#endif
    tni_block *b = tni_here();
    if (!b || b->context != c) return false;
    int64_t sum = 0;
    for (int i = 0; i < 20; i++) {
        void *p = tn_alloc(5000), *q = tni_get(b, 100);
        if (!p || !q) return false;
        tni_parallel(c, 100, add_index, &sum);
        tn_alloc_free(p, 5000);
        tni_put(b, b, q, 100);
    }
#ifndef CHILD_IS_ALONE
    if (threads_alive() != tn_threads()) return false; /* it has its own */
#endif
    tn_memory_stats s = tn_memory();
    tn_context_use(NULL);
    tn_context_free(c);
    return sum == 20 * 5050 && s.bytes_used >= 0 && tn_context_current() && tn_ok();
}

typedef struct holder {
    uint32_t *word;
    int32_t turn;
} holder;
static void *holder_run(void *arg) { /* holds a lock until told */
    holder *h = (holder *)arg;
    tni_lock(h->word);
    __atomic_store_n(&h->turn, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&h->turn, __ATOMIC_ACQUIRE) != 2) sched_yield();
    tni_unlock(h->word);
    return NULL;
}
static bool child_takes_lock(void *arg) {
    bool repair = tni_lock_repair((uint32_t *)arg);
    tni_unlock((uint32_t *)arg);
    bool again = tni_lock_repair((uint32_t *)arg);
    tni_unlock((uint32_t *)arg);
    return repair && !again;
}
static void child_of_fork_takes_over_locks(void) {
    tn_context *c = begin(NULL);
    uint32_t *words[2];
    words[0] = &c->lock;
    words[1] = (uint32_t *)(void *)c->large; /* its lock is first */
    for (int i = 0; i < 2; i++) {
        holder h = {words[i], 0};
        pthread_t t;
        pthread_create(&t, NULL, holder_run, &h);
        while (__atomic_load_n(&h.turn, __ATOMIC_ACQUIRE) != 1) sched_yield();
        in_child(child_takes_lock, words[i]);
        in_child(child_works, c);
        __atomic_store_n(&h.turn, 2, __ATOMIC_RELEASE);
        pthread_join(t, NULL);
    }
    end(c);
}

static int32_t load_stop;
static void *load_run(void *arg) {
    tn_context *c = (tn_context *)arg;
    tn_context_use(c);
    int64_t sum = 0;
    while (!__atomic_load_n(&load_stop, __ATOMIC_ACQUIRE)) {
        void *p = tn_alloc(20000), *q = tn_alloc(3000);
        tni_parallel(c, 8, add_index, &sum);
        tn_alloc_free(p, 20000);
        tn_alloc_free(q, 3000);
    }
    return NULL;
}
static void forks_under_load_do_not_hang(void) {
#ifdef FORK_IS_QUIET
    const int threads = 0;
#else
    const int threads = 2;
#endif
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 2;
    tn_context *c = begin(&o);
    pthread_t t[2];
    load_stop = 0;
    for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, load_run, c);
    for (int i = 0; i < 40; i++) in_child(child_works, c);
    __atomic_store_n(&load_stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    end(c);
}

/* --- instruction sets ------------------------------------------------------------------------- */

/* Each bit of what a CPU says of itself, alone missing: what is left of all that it could run. */
static void instruction_sets_need_these_bits(void) {
    enum { FMA = TNI_CPU_FMA, AVX2 = FMA | TNI_CPU_AVX2, ALL = AVX2 | TNI_CPU_AVX512 };
    static const struct {
        int word, bit; /* leaf 1 ecx, leaf 7 ebx, XCR0 */
        unsigned left;
    } needs[] = {{0, 12, 0},    {0, 27, 0},    {0, 28, 0},    {0, 29, FMA},  {1, 5, FMA},
                 {1, 16, AVX2}, {1, 17, AVX2}, {1, 30, AVX2}, {1, 31, AVX2}, {2, 1, 0},
                 {2, 2, 0},     {2, 5, AVX2},  {2, 6, AVX2},  {2, 7, AVX2}};
    uint32_t least[3] = {0, 0, 0};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        least[needs[i].word] |= 1u << needs[i].bit;
    CHECK_EQ(tni_cpu_has(least[0], least[1], least[2]), ALL);
    CHECK_EQ(tni_cpu_has(UINT32_MAX, UINT32_MAX, UINT32_MAX), ALL);
    CHECK_EQ(tni_cpu_has(least[0], 0, least[2]), FMA);
    CHECK_EQ(tni_cpu_has(0, 0, 0), 0);
    for (int word = 0; word < 3; word++)
        for (int bit = 0; bit < 32; bit++)
            for (int others = 0; others < 2; others++) { /* the bits that nothing needs */
                uint32_t w[3];
                unsigned left = ALL;
                for (int k = 0; k < 3; k++) w[k] = others ? UINT32_MAX : least[k];
                w[word] &= ~(1u << bit);
                for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
                    if (needs[i].word == word && needs[i].bit == bit) left = needs[i].left;
                if (!CHECK_EQ(tni_cpu_has(w[0], w[1], w[2]), left)) printf("%d %d\n", word, bit);
            }
}
static bool child_with_bad_isa(void *arg) {
    (void)arg;
    setenv("TN_ISA", "abacus", 1);
    tn_error_info e = {TN_OK, NULL, NULL, 0};
    bool fine = !tni_here() && !tn_ok() && tn_error_peek(&e) && e.code == TN_UNSUPPORTED &&
                tn_error_take(&e);
    fine = fine && !tn_alloc(10) && !tn_error_set(TN_TYPE, NULL, 0, "x") &&
           tn_memory().bytes_used == 0;
    fine = fine && !tn_profile_begin() && !tn_profile_end("x") && tn_memory_trim() == 0 &&
           tn_threads() == 1;
    tn_memory_reset_peak(), tn_set_error_handler(NULL, NULL), tn_cancel(NULL),
        tn_cancel_clear(NULL), tn_context_free(NULL);
    fine = fine && strcmp(tn_isa(), "none") == 0 && !tn_context_current() && !tn_set_threads(2);
    setenv("TN_ISA", "scalar", 1);
    return fine && strcmp(tn_isa(), "scalar") == 0 && tn_ok();
}
static void instruction_sets_are_named_or_refused(void) {
    CHECK_EQ(tni_isa_pick("scalar"), TNI_ISA_SCALAR);
    CHECK_EQ(tni_isa_pick("abacus"), -1);
    int best = tni_isa_pick("");
    CHECK(best >= 0 && tni_isa_pick(tni_isa_name(best)) == best);
    CHECK_TEXT(tni_isa_name(-1), "none");
    CHECK_TEXT(tni_isa_name(99), "none");
#if defined(__x86_64__)
    CHECK_EQ(tni_isa_pick("neon"), -1);
    __builtin_cpu_init();
    CHECK_EQ(tni_isa_pick("avx2") >= 0,
             __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    CHECK_EQ(tni_isa_pick("avx512") >= 0, __builtin_cpu_supports("avx512vl") &&
                                              __builtin_cpu_supports("avx512bw") &&
                                              __builtin_cpu_supports("avx512dq"));
    CHECK_EQ(tni_cpu_has_fma(), !!__builtin_cpu_supports("fma"));
#endif
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.isa = "abacus";
    tn_error_info e;
    CHECK(!tn_context_new(&o) && tn_error_take(&e) && e.code == TN_UNSUPPORTED);
    o.isa = "scalar";
    tn_context *c = begin(&o);
    CHECK_TEXT(tn_isa(), "scalar");
    end(c);
    tn_context_free(NULL);
    in_child(child_with_bad_isa, NULL);
}

static const check_test tests[] = {
    CHECK_TEST(each_task_runs_once),
    CHECK_TEST(pool_threads_have_the_default_floating_point_mode),
    CHECK_TEST(nested_calls_run_serially),
    CHECK_TEST(several_threads_may_call_at_once),
    CHECK_TEST(host_jobs_are_used_instead_of_own_threads),
    CHECK_TEST(locks_exclude),
    CHECK_TEST(child_of_fork_takes_over_locks),
    CHECK_TEST(forks_under_load_do_not_hang),
    CHECK_TEST(instruction_sets_need_these_bits),
    CHECK_TEST(instruction_sets_are_named_or_refused),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
