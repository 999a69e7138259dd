/* pool.c - the threads that work at one operator, and how its tasks are dealt out.
 *
 * A pool has one job at a time: count tasks, taken one by one from an atomic counter by the
 * caller and by those workers that are awake in time. Workers are made at the first job, and
 * never afterwards but after tn_set_threads and in a child of fork. Results cannot depend on who
 * does what: tasks are independent and fixed by the caller. */
#include "sync.h"

#ifdef TNI_COUNT_POLLS
void (*tni_poll_ran)(const tni_stop *s);
#endif

#include <fenv.h>

#if TNI_THREADS == 1
#include <unistd.h>
#endif

/* --- cores ------------------------------------------------------------------------------------ */

#if TNI_THREADS == 1 && defined(__linux__)
/* Those that the process may run on, which taskset and containers make fewer. */
static int pool_affinity(void) {
    static const char title[] = "Cpus_allowed:\t"; /* then a mask in hexadecimal, with commas */
    char line[2048];
    int cores = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status)) {
        if (strncmp(line, title, sizeof title - 1)) continue;
        for (const char *c = line + sizeof title - 1; *c; c++) {
            /* Counts the bits of each hexadecimal digit. */
            int digit = *c >= '0' && *c <= '9' ? *c - '0' : *c >= 'a' && *c <= 'f' ? *c - 'W' : 0;
            for (; digit; digit &= digit - 1) cores++;
        }
        break;
    }
    fclose(status);
    return cores;
}
#endif

TN_PRIV int tni_cores(void) {
    /* Cores that the process may use, where the system says so, else those that are
     * online; 1 to 1024. */
    long n = 0;
#if TNI_THREADS == 2
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    n = (long)info.dwNumberOfProcessors;
#elif TNI_THREADS == 1
#ifdef __linux__
    n = pool_affinity();
#endif
    if (n < 1) n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void pool_serial(int64_t count, void (*task)(void *, int64_t), void *arg) {
    for (int64_t i = 0; i < count && !tni_stopped(); i++) task(arg, i);
}

/* A task that a host's thread runs; the thread is marked as a worker meanwhile. */
typedef struct pool_host_job {
    void (*task)(void *, int64_t);
    void *arg;
    tni_stop *stop;
} pool_host_job;
static void pool_host_task(void *arg, int64_t i) {
    const pool_host_job *job = (const pool_host_job *)arg;
    tni_stop *outer = tni_this_thread.stop, none = {NULL, 0};
    if (tni_stop_seen(job->stop)) return;
    tni_this_thread.stop = job->stop ? job->stop : &none; /* not what the host's thread is at */
    tni_this_thread.inside++;
    job->task(job->arg, i);
    tni_this_thread.inside--;
    tni_this_thread.stop = outer;
}

#if TNI_THREADS

/* `state` is a number of the job, whether it takes workers, and how many work at it. The fields
 * of a job are written while it is closed and nobody works at it, so a worker that has counted
 * itself in reads them at rest. */
enum {
    POOL_COUNT = 0x7fff,
    POOL_OPEN = 0x8000,
    POOL_JOB = 0x10000,
    POOL_SPINS = 2000,
    POOL_MOST = 1024
};
#define POOL_NUMBER 0xffff0000u

struct tni_pool {
    uint32_t busy;    /* tni_lock_try: a job is on, or the threads change */
    uint32_t process; /* whose threads these are */
    int32_t workers;  /* that exist; fewer than wanted where the system refused some */
    int32_t wanted;
    tni_thread *thread; /* room for `wanted` */
    tni_mutex mutex;
    tni_condition work, done;
    int32_t sleeping; /* workers in a wait, under the mutex */
    uint32_t ending;  /* the workers are to return */
    void (*task)(void *, int64_t);
    void *arg;
    tni_stop *stop; /* of the call that the job is part of */
    int64_t count, grain;
    /* `next` and `state` change with each task: each has a cache line of its own. */
    char apart[TNI_ALIGN];
    uint32_t next; /* the next `grain` tasks */
    char apart_too[TNI_ALIGN];
    uint32_t state;
};

static void pool_take(struct tni_pool *p) {
    /* Takes runs of `grain` tasks until none is left. Whoever finds none is done, even while
     * others still work. */
    int64_t grain = p->grain, count = p->count;
    for (;;) {
        int64_t at = (int64_t)tni_fetch_add_relaxed(&p->next, 1u) * grain;
        if (at >= count) return;
        for (int64_t i = at; i < count && i < at + grain; i++) {
            if (tni_stop_seen(p->stop)) return;
            p->task(p->arg, i);
        }
    }
}

static bool pool_has_job(uint32_t state, uint32_t seen) {
    return (state & POOL_OPEN) && (state & POOL_NUMBER) != seen;
}

/* Spins for a moment, then sleeps, until there is a job that is not the one seen; false: the
 * pool ends. */
static bool pool_await(struct tni_pool *p, uint32_t seen) {
    /* Jobs follow each other quickly in a program that computes: spinning saves a
     * wait and a wake. */
    for (int spin = 0; spin < POOL_SPINS; spin++) {
        if (pool_has_job(tni_load(&p->state), seen)) return true;
        tni_pause();
    }
    /* Under the mutex the conditions are read again, so a job that is opened in between is not
     * slept through. */
    tni_mutex_enter(&p->mutex);
    p->sleeping++;
    while (!tni_load(&p->ending) && !pool_has_job(tni_load(&p->state), seen))
        tni_condition_wait(&p->work, &p->mutex);
    p->sleeping--;
    tni_mutex_exit(&p->mutex);
    return !tni_load(&p->ending);
}

static void pool_serve(struct tni_pool *p) {
#ifdef FE_DFL_ENV
    fesetenv(FE_DFL_ENV); /* not the mode of whoever made the first call */
#endif
    tni_this_thread.inside = 1;
    uint32_t seen = 1; /* no number of a job */
    while (pool_await(p, seen)) {
        /* No worker can count itself in any more. */
        uint32_t state = tni_load(&p->state);
        /* Counts itself in, unless the job is closed first. */
        while (pool_has_job(state, seen) && !tni_swap_if(&p->state, &state, state + 1)) {}
        if (!pool_has_job(state, seen)) continue; /* closed meanwhile */
        seen = state & POOL_NUMBER;
        tni_this_thread.stop = p->stop;
        pool_take(p);
        tni_this_thread.stop = NULL; /* its frame may be gone from here on */
        /* Counts itself out: from here on the fields may be those of the next job. */
        state = tni_fetch_add(&p->state, (uint32_t)-1) - 1;
        if (state & (POOL_OPEN | POOL_COUNT)) continue;
        tni_mutex_enter(&p->mutex); /* the last one, and the caller waits */
        tni_condition_wake(&p->done);
        tni_mutex_exit(&p->mutex);
    }
}

TNI_THREAD_MAIN(pool_main, pool) {
    pool_serve((struct tni_pool *)pool);
    return 0;
}

static int64_t pool_thread_bytes(const struct tni_pool *p) {
    return p->wanted * (int64_t)sizeof(tni_thread);
}

/* The parts that a child of fork makes anew; the process last, or a failure would pass for done. */
static bool pool_init(struct tni_pool *p) {
    p->workers = 0;
    p->sleeping = 0;
    p->ending = 0;
    tni_store(&p->state, p->state & POOL_NUMBER);
    /* All three, or none of them. */
    if (!tni_mutex_init(&p->mutex)) return false;
    if (tni_condition_init(&p->work)) {
        if (tni_condition_init(&p->done)) {
            p->process = tni_process();
            return true;
        }
        tni_condition_free(&p->work);
    }
    tni_mutex_free(&p->mutex);
    return false;
}

/* Ends the workers and waits for them. No job is on, for the caller has the pool. */
static void pool_end(tn_context *c, struct tni_pool *p) {
    tni_mutex_enter(&p->mutex);
    tni_store(&p->ending, 1u);
    tni_condition_wake_all(&p->work);
    tni_mutex_exit(&p->mutex);
    for (int i = 0; i < p->workers; i++) tni_thread_join(p->thread[i]);
    tni_raw_put(c, p->thread, pool_thread_bytes(p));
    p->thread = NULL;
    p->workers = p->wanted = 0;
    p->ending = 0;
}

/* Makes the workers exist that the context wants now. What the system refuses is not asked
 * for again. */
static void pool_prepare(tn_context *c, struct tni_pool *p, int32_t wanted) {
    if (TNI_UNLIKELY(p->process != tni_process())) { /* the parent's threads are not here */
        tni_raw_put(c, p->thread, pool_thread_bytes(p));
        p->thread = NULL;
        p->wanted = 0;
        if (!pool_init(p)) return;
    }
    /* As many as last time, the usual case. */
    if (TNI_LIKELY(p->wanted == wanted)) return;
    if (p->wanted) pool_end(c, p);
    p->thread = (tni_thread *)tni_raw_get(c, wanted * (int64_t)sizeof(tni_thread));
    if (!p->thread) return;
    p->wanted = wanted;
    while (p->workers < wanted && tni_thread_start(&p->thread[p->workers], pool_main, p))
        p->workers++;
}

static struct tni_pool *pool_of(tn_context *c) {
    /* Made at the first job, by one of the threads that come first. */
    struct tni_pool *p = tni_load(&c->pool), *none = NULL;
    if (TNI_LIKELY(p != NULL)) return p;
    p = (struct tni_pool *)tni_raw_get(c, (int64_t)sizeof *p);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    /* Another thread may have stored its pool meanwhile: then this one goes. */
    if (pool_init(p)) {
        if (tni_swap_if(&c->pool, &none, p)) return p;
        tni_mutex_free(&p->mutex);
        tni_condition_free(&p->work);
        tni_condition_free(&p->done);
    }
    tni_raw_put(c, p, (int64_t)sizeof *p);
    return none; /* another thread's */
}

static void pool_open(struct tni_pool *p, int64_t count, void (*task)(void *, int64_t), void *arg) {
    const int64_t most = (int64_t)1 << 30; /* `next` must not wrap */
    p->task = task;
    p->arg = arg;
    p->stop = tni_stop_here();
    p->count = count;
    p->grain = (count - 1) / most + 1;
    /* The fields are written before the job is opened by this store, which releases them. */
    tni_store_relaxed(&p->next, 0u);
    tni_store(&p->state, ((tni_load_relaxed(&p->state) & POOL_NUMBER) + POOL_JOB) | POOL_OPEN);
    /* Who looked for a job before the store is asleep by the time we are in. */
    tni_mutex_enter(&p->mutex);
    /* No more workers than tasks beside the caller's own. */
    if (p->sleeping >= count)
        for (int64_t i = 1; i < count; i++) tni_condition_wake(&p->work);
    else if (p->sleeping)
        tni_condition_wake_all(&p->work);
    tni_mutex_exit(&p->mutex);
}

static void pool_close(struct tni_pool *p) {
    uint32_t state = tni_load(&p->state);
    while (!tni_swap_if(&p->state, &state, state & ~(uint32_t)POOL_OPEN)) {}
    /* Those that still work have begun their last tasks: the wait is short. */
    for (int spin = 0; spin < POOL_SPINS; spin++) {
        if (!(tni_load(&p->state) & POOL_COUNT)) return;
        tni_pause();
    }
    tni_mutex_enter(&p->mutex);
    while (tni_load(&p->state) & POOL_COUNT) tni_condition_wait(&p->done, &p->mutex);
    tni_mutex_exit(&p->mutex);
}

/* false: somebody else has the pool, or there is none. */
static bool pool_run(tn_context *c, int32_t threads, int64_t count, void (*task)(void *, int64_t),
                     void *arg) {
    /* Another thread's job does not wait for this one: the caller then works alone. */
    struct tni_pool *p = pool_of(c);
    if (!p || !tni_lock_try(&p->busy)) return false;
    pool_prepare(c, p, (threads < POOL_MOST ? threads : POOL_MOST) - 1);
    /* Without workers the caller does it all, outside of the pool. */
    bool any = p->workers > 0;
    if (any) {
        pool_open(p, count, task, arg);
        tni_this_thread.inside++;
        pool_take(p);
        tni_this_thread.inside--;
        pool_close(p);
    }
    tni_unlock(&p->busy);
    return any;
}

TN_PRIV void tni_pool_free(tn_context *c) {
    struct tni_pool *p = c->pool;
    if (!p) return;
    /* In a child of fork the threads, and whatever they hold, are the parent's. */
    if (p->process == tni_process()) {
        if (p->wanted) pool_end(c, p);
        tni_mutex_free(&p->mutex);
        tni_condition_free(&p->work);
        tni_condition_free(&p->done);
    }
    tni_raw_put(c, p->thread, pool_thread_bytes(p));
    tni_raw_put(c, p, (int64_t)sizeof *p);
}

#undef POOL_NUMBER
#else
static bool pool_run(tn_context *c, int32_t threads, int64_t count, void (*task)(void *, int64_t),
                     void *arg) {
    return (void)c, (void)threads, (void)count, (void)task, (void)arg, false;
}
TN_PRIV void tni_pool_free(tn_context *c) { (void)c; }
#endif

TN_PRIV void tni_parallel(tn_context *c, int64_t count, void (*task)(void *arg, int64_t i),
                          void *arg) {
    int32_t threads = tni_load_relaxed(&c->threads);
    /* Jobs of a host, the context's threads, or the caller alone. Inside a task always the last. */
    if (count > 1 && threads > 1 && !tni_this_thread.inside) {
        const tn_jobs *jobs = &c->options.jobs;
        if (jobs->run) {
            pool_host_job job = {task, arg, tni_stop_here()};
            tni_tls own;
            tni_thread_away(&own); /* a host that waits may do other work of its own */
            jobs->run(pool_host_task, &job, count, jobs->user);
            const uint64_t guest = tni_thread_back(&own);
            if (TNI_UNLIKELY(guest)) c->token_ends(guest);
            return;
        }
        if (pool_run(c, threads, count, task, arg)) return;
    }
    pool_serial(count, task, arg);
}

/* --- public ----------------------------------------------------------------------------------- */

TN_API bool tn_set_threads(int32_t threads) {
    tni_block *b = tni_here();
    if (!b) return false;
    /* Takes effect at the next job: pool_prepare makes or ends workers. */
    if (threads < 1 || threads > 1024) {
        tni_place_unknown(b);
        tni_error(b, TN_INVALID, "tn_set_threads: expected 1 to 1024 threads, got %d",
                  (int)threads);
        tni_error_tell(b);
        return false;
    }
    tni_store_relaxed(&b->context->threads, threads);
    return true;
}

TN_API int32_t tn_threads(void) {
    tni_block *b = tni_here();
    return b ? tni_load_relaxed(&b->context->threads) : 1;
}
