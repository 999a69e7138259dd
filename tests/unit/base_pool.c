/* base_pool.c - promises of src/base's threads, call by call: who is woken and who waits, how tasks
 * are dealt out, what a job leaves behind, how a thread waits for a lock. The system's functions
 * are counted by name. */
#include "base_stand_ins.h"

#include <dlfcn.h>
#include <sys/select.h>

/* --- the system ------------------------------------------------------------------------------- */

static pthread_t first; /* the thread that tests run in */
static struct {
    int32_t asleep, waiting;    /* workers in a wait, the first thread in one */
    int32_t woken, all, called; /* by the first thread: one, all; by a worker: the first thread */
    int32_t locks, mutexes, conditions;
} seen;
static pthread_mutex_t *unmade; /* one that could not be made */
static int fail_mutex;          /* the k-th cannot be made */
static int fail_condition;
static void (*at_condition)(void); /* called once, when one is made */
static void (*at_join)(void);      /* called once, when a thread is waited for */
static __thread bool counting;     /* how this thread waits for a lock */
static int32_t yields, naps, misread;

#define SYSTEM(name)        \
    __typeof__(name) *real; \
    *(void **)(void *)&real = dlsym(RTLD_NEXT, #name)
static void add(int32_t *to, int32_t n) { __atomic_fetch_add(to, n, __ATOMIC_ACQ_REL); }
static int32_t of(const int32_t *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static bool is_first(void) { return pthread_equal(pthread_self(), first) != 0; }
static void once(void (**call)(void)) {
    void (*now)(void) = *call;
    *call = NULL;
    if (now) now();
}

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    SYSTEM(pthread_mutex_init);
    if (fail_mutex > 0 && --fail_mutex == 0) return unmade = m, ENOMEM;
    add(&seen.mutexes, 1);
    return real(m, a);
}
int pthread_mutex_destroy(pthread_mutex_t *m) {
    SYSTEM(pthread_mutex_destroy);
    add(&seen.mutexes, -1);
    return real(m);
}
int pthread_mutex_lock(pthread_mutex_t *m) {
    SYSTEM(pthread_mutex_lock);
    CHECK(m != unmade);
    add(&seen.locks, 1);
    return real(m);
}
int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) {
    SYSTEM(pthread_cond_init);
    once(&at_condition);
    if (fail_condition > 0 && --fail_condition == 0) return ENOMEM;
    add(&seen.conditions, 1);
    return real(c, a);
}
int pthread_cond_destroy(pthread_cond_t *c) {
    SYSTEM(pthread_cond_destroy);
    add(&seen.conditions, -1);
    return real(c);
}
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    SYSTEM(pthread_cond_wait);
    int32_t *n = is_first() ? &seen.waiting : &seen.asleep;
    add(n, 1);
    int result = real(c, m);
    add(n, -1);
    return result;
}
int pthread_cond_signal(pthread_cond_t *c) {
    SYSTEM(pthread_cond_signal);
    add(is_first() ? &seen.woken : &seen.called, 1);
    return real(c);
}
int pthread_cond_broadcast(pthread_cond_t *c) {
    SYSTEM(pthread_cond_broadcast);
    add(&seen.all, 1);
    return real(c);
}
int pthread_join(pthread_t t, void **result) {
    SYSTEM(pthread_join);
    once(&at_join);
    return real(t, result);
}
int sched_yield(void) {
    SYSTEM(sched_yield);
    if (counting) add(&yields, 1);
    return real();
}
int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
    SYSTEM(select);
    if (counting) add(&naps, 1);
    if (counting && (n || r || w || e || !t || t->tv_sec || t->tv_usec != 50)) add(&misread, 1);
    return real(n, r, w, e, t);
}

static bool comes_to(const int32_t *at, int32_t n) {
    for (int k = 0; k < 40000 && of(at) != n; k++) usleep(100);
    return of(at) == n;
}
static tn_context *begin_threads(int workers) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = workers;
    return begin(&o);
}
/* Nothing of a pool outlives it. */
static void end_pool(tn_context *c) {
    end(c);
    CHECK_EQ(of(&seen.mutexes), 0);
    CHECK_EQ(of(&seen.conditions), 0);
    CHECK(tni_this_thread.inside == 0 && tni_this_thread.stop == NULL);
}

/* --- who is woken ----------------------------------------------------------------------------- */

/* Tasks that wait until `all` of them run at the same time. */
typedef struct meeting {
    int32_t all, here;
    int64_t runs, index[2];
    bool slow; /* whoever is not the first thread lets it wait */
    int32_t late;
    uint32_t asked;
} meeting;
static void meet(void *arg, int64_t i) {
    meeting *x = (meeting *)arg;
    int32_t me = __atomic_fetch_add(&x->here, 1, __ATOMIC_ACQ_REL);
    if (me < 2) x->index[me] = i;
    for (int k = 0; k < 60000 && of(&x->here) < x->all; k++) usleep(20);
    CHECK(of(&x->here) >= x->all);
    __atomic_fetch_add(&x->runs, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&x->asked, 1u, __ATOMIC_RELEASE);
    if (!x->slow || is_first()) return;
    CHECK(comes_to(&seen.waiting, 1));
    __atomic_store_n(&x->late, 1, __ATOMIC_RELEASE);
}
static void as_many_are_woken_as_there_is_work(void) {
    static const struct {
        int32_t count, woken, all;
    } c[] = {{4, 0, 1}, {2, 1, 0}, {3, 2, 0}, {4, 0, 1}, {2, 1, 0}};
    tn_context *context = begin_threads(3);
    int64_t sum = 0;
    tni_parallel(context, 100, add_index, &sum); /* makes them */
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        meeting x = {c[i].count, 0, 0, {0, 0}, false, 0, 0};
        if (!CHECK(comes_to(&seen.asleep, 3))) break;
        seen.woken = seen.all = 0;
        tni_parallel(context, c[i].count, meet, &x);
        CHECK_EQ(x.runs, c[i].count);
        CHECK_EQ(seen.woken, c[i].woken);
        CHECK_EQ(seen.all, c[i].all);
    }
    end_pool(context);
}
static void a_caller_waits_for_the_last_task(void) {
    tn_context *c = begin_threads(1);
    for (int i = 0; i < 20; i++) {
        meeting x = {2, 0, 0, {0, 0}, true, 0, 0};
        seen.called = 0;
        tni_parallel(c, 2, meet, &x);
        CHECK_EQ(of(&x.late), 1);
        CHECK_EQ(of(&seen.called), 1);
        CHECK_EQ(x.runs, 2);
    }
    end_pool(c);
}

/* --- how tasks are dealt out ------------------------------------------------------------------ */

/* A call in progress that tests ask to stop. */
static void in_call(tni_work *w, uint32_t *request) {
    memset(w, 0, sizeof *w);
    w->stop.request = request;
    tni_here()->work = w;
}
static void many_tasks_are_dealt_out_in_grains(void) {
    static const struct {
        int64_t count, grain;
    } cases[] = {{2, 1},
                 {(int64_t)1 << 30, 1},
                 {((int64_t)1 << 30) + 1, 2},
                 {(int64_t)1 << 31, 2},
                 {((int64_t)1 << 31) + 1, 3},
                 {INT64_MAX, (int64_t)1 << 33}};
    tn_context *c = begin_threads(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        meeting x = {2, 0, 0, {-1, -1}, false, 0, 0};
        tni_work work;
        in_call(&work, &x.asked);
        tni_parallel(c, cases[i].count, meet, &x);
        tni_here()->work = NULL;
        CHECK_EQ(x.runs, 2); /* then it was stopped */
        CHECK_EQ(x.index[0] + x.index[1], cases[i].grain);
        CHECK(x.index[0] == 0 || x.index[1] == 0);
    }
    end_pool(c);
}
typedef struct stopping {
    uint32_t asked;
    int64_t at, runs;
} stopping;
static void stop_at(void *arg, int64_t i) {
    stopping *x = (stopping *)arg;
    __atomic_fetch_add(&x->runs, 1, __ATOMIC_ACQ_REL);
    CHECK(tni_stop_here() && tni_stop_here()->request == &x->asked);
    if (i >= x->at) __atomic_store_n(&x->asked, 1u, __ATOMIC_RELEASE);
}
static void host_in_order(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    ++*(int *)user;
    for (int64_t i = 0; i < count; i++) task(arg, i);
}
static void a_call_that_is_stopped_begins_no_task(void) {
    int hosts = 0;
    for (int kind = 0; kind < 3; kind++) { /* alone, with threads, with a host's */
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = kind ? 3 : -1;
        if (kind == 2) o.jobs.run = host_in_order, o.jobs.threads = 2, o.jobs.user = &hosts;
        tn_context *c = begin(&o);
        for (int64_t at = 0; at < 4; at++) {
            stopping x = {0, at, 0};
            tni_work work;
            in_call(&work, &x.asked);
            tni_parallel(c, 1000, stop_at, &x);
            CHECK(kind == 1 ? x.runs <= at + 4 : x.runs == at + 1);
            tni_parallel(c, 1000, stop_at, &x); /* asked already */
            CHECK(kind == 1 ? x.runs <= at + 4 : x.runs == at + 1);
            CHECK(tni_stopped() && work.stop.seen);
            tni_here()->work = NULL;
            CHECK(!tni_stopped());
        }
        end_pool(c);
    }
    CHECK_EQ(hosts, 8);
}

/* Numbers of jobs begin anew after 65536. */
static void nothing(void *arg, int64_t i) { (void)arg, (void)i; }
static void jobs_are_served_when_their_numbers_begin_anew(void) {
    tn_context *c = begin_threads(1);
    for (int i = 1; i < 65536; i++) tni_parallel(c, 2, nothing, NULL);
    CHECK(tn_set_threads(3)); /* workers that have seen no job */
    for (int i = 0; i < 3; i++) {
        meeting x = {3, 0, 0, {0, 0}, false, 0, 0};
        tni_parallel(c, 3, meet, &x);
        CHECK_EQ(x.here, 3);
        CHECK_EQ(x.runs, 3);
    }
    end_pool(c);
}

/* --- tasks that call -------------------------------------------------------------------------- */

static tn_context *other;
static int32_t inner_runs;
static void inner(void *arg, int64_t i) {
    CHECK(pthread_equal(pthread_self(), *(pthread_t *)arg));
    (void)i, add(&inner_runs, 1);
}
static void calls_another(void *arg, int64_t i) {
    pthread_t self = pthread_self();
    meet(arg, i);
    CHECK(tni_this_thread.inside > 0);
    tni_parallel(other, 5, inner, &self);
}
static void a_task_gets_no_threads_of_another_context(void) {
    tn_context_options o;
    int hosts = 0;
    memset(&o, 0, sizeof o);
    o.threads = 2;
    other = tn_context_new(&o);
    for (int host = 0; host < 2; host++) {
        meeting x = {host ? 1 : 2, 0, 0, {0, 0}, false, 0, 0};
        o.threads = 1;
        if (host) o.jobs.run = host_in_order, o.jobs.threads = 2, o.jobs.user = &hosts;
        tn_context *c = begin(&o);
        inner_runs = 0;
        tni_parallel(c, 2, calls_another, &x);
        CHECK(inner_runs == 10 && x.runs == 2 && tni_this_thread.inside == 0);
        CHECK(!other->pool && hosts == host);
        tn_context_use(NULL);
        tn_context_free(c);
    }
    CHECK(!tn_context_current() || tn_context_current() != other);
    tn_context_use(other);
    end_pool(other);
}
/* A host's thread in the midst of another call, which is asked to stop. */
static uint32_t foreign_asked = 1;
static tni_stop foreign;
static void host_at_work(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    (void)user;
    foreign.request = &foreign_asked;
    tni_this_thread.stop = &foreign;
    for (int64_t i = 0; i < count; i++) {
        task(arg, i);
        CHECK(tni_this_thread.stop == &foreign && tni_this_thread.inside == 0);
    }
    tni_this_thread.stop = NULL;
}
static void counts_unstopped(void *arg, int64_t i) {
    (void)i;
    *(int *)arg += !tni_stopped() && tni_this_thread.inside == 1;
}
static void a_hosts_thread_goes_on_with_what_it_was_at(void) {
    tn_context_options o;
    tni_work work;
    uint32_t asked = 0;
    int runs = 0;
    memset(&o, 0, sizeof o);
    o.jobs.run = host_at_work, o.jobs.threads = 2;
    tn_context *c = begin(&o);
    tni_parallel(c, 3, counts_unstopped, &runs); /* of no call */
    CHECK_EQ(runs, 3);
    in_call(&work, &asked);
    tni_parallel(c, 3, counts_unstopped, &runs);
    asked = 1;
    tni_parallel(c, 3, counts_unstopped, &runs);
    CHECK_EQ(runs, 6);
    tni_here()->work = NULL;
    end_pool(c);
}

/* --- what a pool needs and gives back --------------------------------------------------------- */

static void one_thread_needs_no_pool(void) {
    counted a;
    int hosts = 0;
    int64_t sum = 0, calls;
    tn_context_options o = counted_options(&a);
    o.threads = -1;
    for (int host = 0; host < 2; host++) {
        if (host) o.jobs.run = host_in_order, o.jobs.threads = 1, o.jobs.user = &hosts;
        tn_context *c = begin(&o);
        CHECK(tni_here() && tn_threads() == 1);
        calls = a.calls, seen.locks = 0, sum = 0;
        tni_parallel(c, 100, add_index, &sum);
        CHECK(sum == 5050 && a.calls == calls && !c->pool && !hosts && !seen.locks);
        CHECK(tn_set_threads(2));
        tni_parallel(c, 1, add_index, &sum);
        tni_parallel(c, 0, add_index, &sum);
        CHECK(sum == 5051 && a.calls == calls && !c->pool && !hosts && !seen.locks);
        end_pool(c);
        counted_check(&a);
    }
}
static size_t most_bytes;
static void *no_large(size_t bytes, void *user) {
    (void)user;
    if (bytes > most_bytes && bytes < (1 << 16)) most_bytes = bytes;
    return bytes == 1023 * sizeof(pthread_t) ? NULL : malloc(bytes);
}
static void plain_free(void *at, size_t bytes, void *user) { (void)bytes, (void)user, free(at); }
static void a_pool_has_at_most_1023_workers(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = no_large, o.allocator.free = plain_free;
    for (int k = 0; k < 2; k++) {
        o.threads = k ? 1023 : 5000;
        tn_context *c = begin(&o);
        CHECK(tni_here() != NULL);
        most_bytes = 0, seen.locks = 0;
        int64_t sum = 0;
        tni_parallel(c, 100, add_index, &sum);
        CHECK(sum == 5050 && seen.locks == 0); /* there was no memory for them */
        CHECK_EQ(most_bytes, 1023 * sizeof(pthread_t));
        end_pool(c);
    }
}
static void a_pool_is_made_whole_or_not_at_all(void) {
    for (int k = 0; k < 3; k++) {
        counted a;
        tn_context_options o = counted_options(&a);
        o.threads = 2;
        tn_context *c = begin(&o);
        CHECK(tni_here() != NULL);
        int64_t sum = 0, bytes = a.bytes;
        fail_mutex = k == 0, fail_condition = k, seen.locks = 0;
        tni_parallel(c, 100, add_index, &sum);
        CHECK(sum == 5050 && !fail_mutex && !fail_condition && !c->pool && a.bytes == bytes);
        CHECK(seen.mutexes == 0 && seen.conditions == 0 && seen.locks == 0);
        unmade = NULL;
        meeting x = {3, 0, 0, {0, 0}, false, 0, 0};
        tni_parallel(c, 3, meet, &x); /* it is tried again */
        CHECK(x.runs == 3 && c->pool && seen.mutexes == 1 && seen.conditions == 2);
        end_pool(c);
        counted_check(&a);
    }
}
static tn_context *twice;
static void makes_it_first(void) {
    int64_t sum = 0;
    tni_parallel(twice, 100, add_index, &sum);
    CHECK(sum == 5050 && twice->pool);
}
static void a_pool_that_is_made_twice_is_one(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    o.threads = 2;
    meeting x = {3, 0, 0, {0, 0}, false, 0, 0};
    twice = begin(&o);
    at_condition = makes_it_first;    /* another thread is faster */
    tni_parallel(twice, 3, meet, &x); /* with that one's threads */
    CHECK(x.runs == 3 && at_condition == NULL);
    CHECK(seen.mutexes == 1 && seen.conditions == 2);
    end_pool(twice);
    counted_check(&a);
}

/* --- fork ------------------------------------------------------------------------------------- */

#if defined(__SANITIZE_THREAD__)
#define CHILD_IS_ALONE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_IS_ALONE 1
#endif
#endif
#ifndef CHILD_IS_ALONE
static counted forked;
static tn_context *shared;
/* The pool is made anew: nobody sleeps or works in it yet. */
static bool child_has_a_pool_of_its_own(void *fails) {
    static const int32_t count[] = {3, 2, 3};
    int checks = check_failures;
    int64_t sum = 0;
    first = pthread_self();
    seen.asleep = seen.waiting = 0;
    tn_set_threads(3);
    if (fails) { /* no lock: no pool, as often as it is tried */
        for (int i = 0; i < 2; i++) {
            fail_mutex = 1, seen.locks = 0;
            tni_parallel(shared, 100, add_index, &sum);
            CHECK(fail_mutex == 0 && seen.locks == 0);
        }
        CHECK_EQ(sum, 2 * 5050);
        if (fails == &forked) { /* and so it ends */
            tn_context_free(shared);
            counted_check(&forked);
            return check_failures == checks;
        }
        unmade = NULL;
    }
    for (int i = 0; i < 3; i++) {
        meeting x = {count[i], 0, 0, {0, 0}, false, 0, 0};
        seen.woken = seen.all = 0;
        tni_parallel(shared, count[i], meet, &x);
        CHECK_EQ(x.runs, count[i]);
        if (i) CHECK(seen.woken == (count[i] == 2) && seen.all == (count[i] == 3));
        CHECK(comes_to(&seen.asleep, 2));
    }
    tn_context_free(shared);
    counted_check(&forked);
    return check_failures == checks;
}
static bool child_frees(void *none) {
    (void)none;
    tn_context_free(shared);
    return forked.bytes == 0 && forked.blocks == 0 && forked.wrong == 0;
}
static void children(void) {
    in_child(child_has_a_pool_of_its_own, NULL);
    in_child(child_has_a_pool_of_its_own, &seen);
    in_child(child_has_a_pool_of_its_own, &forked);
    in_child(child_frees, NULL);
}
static void *forks_in_a_thread(void *arg) {
    tn_context_use(shared);
    children();
    return arg;
}
static void forks(void *arg, int64_t i) { /* while two tasks are in progress */
    meeting *x = (meeting *)arg;
    meet(arg, i);
    if (is_first()) in_thread(forks_in_a_thread, NULL);
    add(&x->late, is_first());
    for (int k = 0; k < 200000 && of(&x->late) < 1; k++) usleep(100);
}
static void a_child_makes_its_own_pool_whatever_the_parents_was_at(void) {
    tn_context_options o = counted_options(&forked);
    meeting x = {3, 0, 0, {0, 0}, false, 0, 0};
    int64_t sum = 0;
    o.threads = 2;
    shared = begin(&o);
    in_child(child_frees, NULL); /* there is none yet */
    tni_parallel(shared, 100, add_index, &sum);
    CHECK(comes_to(&seen.asleep, 2));
    children();
    tni_parallel(shared, 3, forks, &x);
    CHECK_EQ(x.runs, 3);
    CHECK(comes_to(&seen.asleep, 2));
    CHECK(tn_set_threads(2));
    at_join = children; /* in the midst of an end */
    tni_parallel(shared, 100, add_index, &sum);
    CHECK(at_join == NULL && sum == 2 * 5050);
    end_pool(shared);
    counted_check(&forked);
}
#endif

/* --- locks ------------------------------------------------------------------------------------ */

static uint32_t word;
static int32_t waited;
static void *waits(void *arg) {
    counting = true;
    tni_lock(&word);
    __atomic_store_n(&waited, 1, __ATOMIC_RELEASE);
    tni_unlock(&word);
    return arg;
}
static void who_waits_long_for_a_lock_sleeps(void) {
    pthread_t t;
    tni_lock(&word);
    if (!CHECK(pthread_create(&t, NULL, waits, NULL) == 0)) return;
    for (int k = 0; k < 100000 && of(&naps) < 3; k++) usleep(100);
    CHECK(of(&naps) >= 3 && of(&misread) == 0);
    CHECK_EQ(of(&yields), 961); /* to the 1024th try, 64 pauses before */
    CHECK(of(&waited) == 0 && !tni_lock_try(&word));
    tni_unlock(&word);
    pthread_join(t, NULL);
    CHECK(of(&waited) == 1 && tni_lock_try(&word));
    tni_unlock(&word);
}

static uint32_t before_all[2];
__attribute__((constructor)) static void asks_first(void) {
    before_all[0] = tni_process(), before_all[1] = tni_process();
}
static void a_process_has_its_number_from_the_first_call_on(void) {
    CHECK_EQ(before_all[0], getpid());
    CHECK_EQ(before_all[1], getpid());
    CHECK_EQ(tni_process(), getpid());
}

static const check_test tests[] = {
    CHECK_TEST(as_many_are_woken_as_there_is_work),
    CHECK_TEST(a_caller_waits_for_the_last_task),
    CHECK_TEST(many_tasks_are_dealt_out_in_grains),
    CHECK_TEST(a_call_that_is_stopped_begins_no_task),
    CHECK_TEST(jobs_are_served_when_their_numbers_begin_anew),
    CHECK_TEST(a_task_gets_no_threads_of_another_context),
    CHECK_TEST(a_hosts_thread_goes_on_with_what_it_was_at),
    CHECK_TEST(one_thread_needs_no_pool),
    CHECK_TEST(a_pool_has_at_most_1023_workers),
    CHECK_TEST(a_pool_is_made_whole_or_not_at_all),
    CHECK_TEST(a_pool_that_is_made_twice_is_one),
#ifndef CHILD_IS_ALONE
    CHECK_TEST(a_child_makes_its_own_pool_whatever_the_parents_was_at),
#endif
    CHECK_TEST(who_waits_long_for_a_lock_sleeps),
    CHECK_TEST(a_process_has_its_number_from_the_first_call_on),
};

int main(int argc, char **argv) {
    first = pthread_self();
    return CHECK_MAIN(tests, argc, argv);
}
