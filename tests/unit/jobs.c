/* jobs.c - operators on a host's job system: one with fewer threads than it says, one that runs
 * jobs in any order, one that does other work of the game while it waits, and one whose workers
 * call the library themselves. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdint.h>

/* --- the work --------------------------------------------------------------------------------- */

enum { SIDE = 150, PARTS = 7 };

/* Operators of several kinds, forward and backward: their bits. */
static uint64_t bits_of(const tn_tensor *t) {
    const unsigned char *at = (const unsigned char *)tn_data(t);
    uint64_t sum = 14695981039346656037u;
    for (int64_t i = 0; at && i < tn_numel(t) * 4; i++) sum = (sum ^ at[i]) * 1099511628211u;
    return at ? sum : 0;
}
static uint64_t work(uint64_t seed) {
    uint64_t sum = 0;
    TN_SCOPE {
        tn_generator *g = tn_generator_new(seed);
        tn_tensor *a = tn_requires_grad(tn_randn(TN_DIMS(SIDE, SIDE), .generator = g));
        tn_tensor *y = tn_softmax(tn_tanh(tn_matmul(a, a)), 1);
        if (tn_backward(tn_sum(tn_mul(y, y)))) sum = bits_of(y) * 31 + bits_of(tn_grad_of(a));
        tn_generator_free(g);
    }
    return sum;
}
static uint64_t expected[PARTS];
static void expect(void) { /* what no thread beside the caller's gives */
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    for (int i = 0; i < PARTS; i++) CHECK((expected[i] = work((uint64_t)i)) != 0);
    tn_context_use(NULL);
    tn_context_free(c);
}
static tn_context *begin(void (*run)(void (*)(void *, int64_t), void *, int64_t, void *),
                         int32_t threads, void *user) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.jobs.run = run;
    o.jobs.threads = threads;
    o.jobs.user = user;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

/* --- one thread ------------------------------------------------------------------------------- */

typedef struct host {
    int64_t runs, jobs;
    void (*between)(struct host *); /* other work, before a job */
    int depth;
} host;
static void forwards(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    host *h = (host *)user;
    h->runs++;
    for (int64_t i = 0; i < count; i++) {
        if (h->between && i == 1) h->between(h);
        task(arg, i);
        h->jobs++;
    }
}
static void backwards(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    ((host *)user)->runs++;
    for (int64_t i = count; i-- > 0;) task(arg, i);
}
static void a_host_may_have_fewer_threads_and_any_order(void) {
    for (int32_t threads = -1; threads < 200; threads = threads * 2 + 3)
        for (int order = 0; order < 2; order++) {
            host h = {0, 0, NULL, 0};
            tn_context *c = begin(order ? backwards : forwards, threads, &h);
            CHECK_EQ(tn_threads(), threads < 1 ? 1 : threads);
            CHECK(work(1) == expected[1] && (h.runs > 0) == (threads > 1));
            end(c);
        }
}

/* Work of the game that its job system does in the caller's thread while that waits. */
static uint64_t other;
static void trains(host *h) {
    if (h->depth == 3) return; /* its operators wait for jobs as well */
    h->depth++;
    CHECK(tn_ok() && tn_grad_mode() && !tn_path_current());
    other += work(2) == expected[2];
    tn_set_grad_mode(false); /* and leaves it so */
    h->depth--;
}
static void a_host_that_waits_may_use_the_library(void) {
    host h = {0, 0, trains, 0};
    tn_context *c = begin(forwards, 4, &h);
    other = 0;
    tn_no_grad {
        TN_SCOPE {
            tn_tensor *a = tn_ones(TN_DIMS(SIDE, SIDE));
            CHECK(tn_matmul(a, a) && other > 2);
            CHECK(!tn_grad_mode());
        }
    }
    CHECK(tn_grad_mode());
    int64_t asked = 0;
    for (int i = 0; i < 20; i++) {
        CHECK(work(3) == expected[3]);
        if (i == 3) asked = tn_memory().allocations; /* it takes over the state of the last one */
    }
    if (tn_memory().bytes_cached > 0) /* sanitizers have no cache */
        CHECK_EQ(tn_memory().allocations, asked);
    tn_tensor *x = tn_ones(TN_DIMS(SIDE, SIDE)), *y;
    CHECK(tn_record_begin()); /* the game's calls are not recorded with it */
    y = tn_matmul(x, x);
    tn_recording *r = tn_record_end();
    uint64_t before = other;
    int64_t runs = h.runs;
    h.between = NULL;
    CHECK(tn_replay(r) && other == before && h.runs > runs);
    tn_recording_free(r);
    tn_free(x), tn_free(y);
    end(c);
}
static int told;
static void tell(const tn_error_info *e, void *user) {
    (void)user;
    told += e->code == TN_INVALID;
}
static void fails(host *h) {
    if (h->depth++) return;
    TN_SCOPE {
        CHECK(!tn_matmul(tn_ones(TN_DIMS(2, 3)), tn_ones(TN_DIMS(2, 3))) && !tn_ok());
    }
    CHECK_EQ(told, 1); /* its own handler call, at its own end */
    tn_scope_begin();
    CHECK(tn_error_take(NULL) && tn_ones(TN_DIMS(3)) && !tn_ones(TN_DIMS(-3)));
}
static void errors_of_that_work_are_its_own(void) {
    host h = {0, 0, fails, 0};
    tn_context *c = begin(forwards, 4, &h);
    tn_set_error_handler(tell, NULL);
    told = 0;
    TN_SCOPE {
        tn_tensor *a = tn_ones(TN_DIMS(SIDE, SIDE));
        CHECK(tn_matmul(a, a) && tn_ok());
        h.depth = 0, told = 0;
        CHECK(tn_matmul(a, a) && tn_ok());
    }
    CHECK(tn_ok());
    tn_set_error_handler(NULL, NULL);
    tn_context_use(NULL);
    tn_context_free(c);
}
static void cancels(host *h) {
    (void)h;
    tn_cancel(NULL);
}
static void a_request_to_stop_made_by_a_job_ends_the_call(void) {
    host h = {0, 0, cancels, 0};
    tn_context *c = begin(forwards, 4, &h);
    TN_SCOPE {
        tn_error_info e;
        tn_tensor *a = tn_ones(TN_DIMS(SIDE, SIDE));
        CHECK(!tn_matmul(a, a) && tn_error_take(&e) && e.code == TN_CANCELLED);
        tn_cancel_clear(NULL);
        h.between = NULL;
        CHECK(tn_matmul(a, a) != NULL);
    }
    end(c);
}

/* --- a real one ------------------------------------------------------------------------------- */

/* Threads that take jobs from a list; who waits for a batch takes any job meanwhile. */
enum { WORKERS = 3, QUEUE = 1024 };
typedef struct batch {
    void (*task)(void *, int64_t);
    void *arg;
    int64_t left;
} batch;
typedef struct job {
    batch *of;
    int64_t index;
} job;
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    job queue[QUEUE];
    int n;
    bool quit;
    pthread_t worker[WORKERS];
    tn_context *context;
} hosts = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static bool hosts_take(job *to) { /* under the lock: the newest first */
    if (!hosts.n) return false;
    *to = hosts.queue[--hosts.n];
    return true;
}
static void hosts_do(const job *j) { /* without the lock */
    j->of->task(j->of->arg, j->index);
    pthread_mutex_lock(&hosts.lock);
    j->of->left--;
    pthread_cond_broadcast(&hosts.more);
    pthread_mutex_unlock(&hosts.lock);
}
static void *hosts_main(void *arg) {
    job j;
    tn_context_use(hosts.context);
    pthread_mutex_lock(&hosts.lock);
    while (!hosts.quit) {
        if (!hosts_take(&j)) {
            pthread_cond_wait(&hosts.more, &hosts.lock);
            continue;
        }
        pthread_mutex_unlock(&hosts.lock);
        hosts_do(&j);
        pthread_mutex_lock(&hosts.lock);
    }
    pthread_mutex_unlock(&hosts.lock);
    return arg;
}
static void hosts_run(void (*task)(void *, int64_t), void *arg, int64_t count, void *user) {
    batch b = {task, arg, count};
    job j;
    (void)user;
    for (int64_t i = 0; i < count; i++) {
        bool room;
        pthread_mutex_lock(&hosts.lock);
        room = hosts.n < QUEUE;
        if (room) {
            hosts.queue[hosts.n].of = &b;
            hosts.queue[hosts.n++].index = i;
        }
        pthread_cond_broadcast(&hosts.more);
        pthread_mutex_unlock(&hosts.lock);
        if (room) continue;
        j.of = &b, j.index = i;
        hosts_do(&j);
    }
    pthread_mutex_lock(&hosts.lock);
    while (b.left) {
        if (!hosts_take(&j)) {
            pthread_cond_wait(&hosts.more, &hosts.lock);
            continue;
        }
        pthread_mutex_unlock(&hosts.lock);
        hosts_do(&j);
        pthread_mutex_lock(&hosts.lock);
    }
    pthread_mutex_unlock(&hosts.lock);
}
static int32_t right;
static void game_job(void *arg, int64_t i) { /* in a worker, or in whoever waits */
    (void)arg;
    if (work((uint64_t)i % PARTS) == expected[i % PARTS])
        __atomic_fetch_add(&right, 1, __ATOMIC_RELAXED);
}
static void jobs_of_the_game_run_operators_as_jobs(void) {
    enum { JOBS = 60 };
    tn_context *c = begin(hosts_run, WORKERS + 1, NULL);
    hosts.context = c;
    hosts.quit = false;
    right = 0;
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&hosts.worker[i], NULL, hosts_main, NULL) == 0);
    hosts_run(game_job, NULL, JOBS, NULL);
    CHECK_EQ(right, JOBS);
    CHECK(work(5) == expected[5]);
    pthread_mutex_lock(&hosts.lock);
    hosts.quit = true;
    pthread_cond_broadcast(&hosts.more);
    pthread_mutex_unlock(&hosts.lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(hosts.worker[i], NULL);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_host_may_have_fewer_threads_and_any_order),
        CHECK_TEST(a_host_that_waits_may_use_the_library),
        CHECK_TEST(errors_of_that_work_are_its_own),
        CHECK_TEST(a_request_to_stop_made_by_a_job_ends_the_call),
        CHECK_TEST(jobs_of_the_game_run_operators_as_jobs),
    };
    expect();
    return CHECK_MAIN(tests, argc, argv);
}
