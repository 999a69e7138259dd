/* realtime.c - what a steady inference does in a thread that must not wait, such as an audio
 * callback: system calls, locks of the system, locks of the library, requests for memory. A child
 * runs it where the kernel kills a process at its first system call other than write. */
#define _GNU_SOURCE
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../check.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 64, STEPS = 2000 };

/* --- what is counted -------------------------------------------------------------------------- */

static int64_t mallocs, mutexes;

#define SYSTEM(name)        \
    __typeof__(name) *real; \
    *(void **)(void *)&real = dlsym(RTLD_NEXT, #name)
int pthread_mutex_lock(pthread_mutex_t *m) {
    SYSTEM(pthread_mutex_lock);
    __atomic_fetch_add(&mutexes, 1, __ATOMIC_RELAXED);
    return real(m);
}
#ifdef __GLIBC__
void *__libc_malloc(size_t n);
void *malloc(size_t n) {
    __atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
    return __libc_malloc(n);
}
#endif

/* --- the work --------------------------------------------------------------------------------- */

static float sound[SAMPLES];
typedef struct effect {
    tn_context *context;
    tn_module *net;
    tn_tensor *in, *out;
    tn_recording *step;
} effect;

static bool calls(effect *e);
static void effect_begin(effect *e, int32_t threads) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = threads;
    e->context = tn_context_new(&o);
    tn_context_use(e->context);
    tn_set_inference_mode(true);
    tn_manual_seed(1);
    e->net = tn_sequential(tn_nn_linear(SAMPLES, 300), tn_nn_tanh(), tn_nn_linear(300, SAMPLES));
    e->in = tn_wrap(sound, TN_DIMS(1, SAMPLES), TN_F32, NULL);
    CHECK(tn_record_begin());
    TN_SCOPE {
        e->out = tn_keep(tn_forward(e->net, e->in));
    }
    e->step = tn_record_end();
    CHECK(e->step && tn_replay(e->step) && calls(e)); /* warm from here on */
}
static void effect_end(effect *e) {
    CHECK(!tn_error_print());
    tn_recording_free(e->step);
    tn_free(e->out), tn_free(e->in);
    tn_module_free(e->net);
    tn_context_use(NULL);
    tn_context_free(e->context);
}
static bool replays(effect *e) {
    bool ok = true;
    for (int i = 0; i < STEPS && ok; i++) {
        sound[i % SAMPLES] += 0.125f;
        tn_touch(e->in);
        ok = tn_replay(e->step);
    }
    return ok;
}
static bool calls(effect *e) {
    bool ok = true;
    for (int i = 0; i < STEPS && ok; i++)
        TN_SCOPE {
            sound[i % SAMPLES] += 0.125f;
            tn_touch(e->in);
            ok = tn_forward(e->net, e->in) != NULL;
        }
    return ok;
}

/* --- the tests -------------------------------------------------------------------------------- */

/* How a child ends that runs the work under seccomp's strict mode: 0 if it made no system call. */
static int strictly(bool (*work)(effect *), effect *e) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool ok =
            work(e); /* what a child of fork does once: its process number, its copied pages */
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(77);
        ok = ok && work(e);
        syscall(SYS_exit, ok ? 0 : 1); /* the one exit that the mode allows */
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}
static bool asks_the_system(effect *e) {
    static int round;
    (void)e;
    return !round++ || getppid() > 0;
}
static void steady_work_makes_no_system_call(void) {
    effect e;
    effect_begin(&e, -1);
    int status = strictly(asks_the_system, &e);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("this system has no seccomp: system calls are not looked at\n");
    } else {
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* the mode is on */
        CHECK_EQ(strictly(replays, &e), 0);
        CHECK_EQ(strictly(calls, &e), 0);
    }
    effect_end(&e);
}
/* The locks of the library in this context are taken: whoever wants one yields, and is killed. */
static bool (*locked_work)(effect *);
static bool while_locked(effect *e) {
    static int round;
    tn_context *c = e->context;
    uint32_t *const lock[] = {(uint32_t *)(void *)c->large,
                              &c->lock,
                              &c->ending_lock,
                              &tni_tensors(c)->wrapped_lock,
                              &tni_library(c)->rows_lock,
                              &tni_library(c)->grad_lock};
    if (!round++) return locked_work(e);
    for (size_t i = 0; i < sizeof lock / sizeof *lock; i++) tni_lock(lock[i]);
    return locked_work(e);
}
static bool small_calls(effect *e) {
    bool ok = true;
    for (int i = 0; i < STEPS && ok; i++)
        TN_SCOPE {
            ok = tn_tanh(tn_add(e->in, e->in)) != NULL;
        }
    return ok;
}
static void only_calls_with_large_results_take_a_lock(void) {
    effect e;
    effect_begin(&e, -1);
    locked_work = replays;
    int status = strictly(while_locked, &e);
    if (!(WIFEXITED(status) && WEXITSTATUS(status) == 77)) {
        CHECK_EQ(status, 0);
        locked_work = small_calls; /* up to 1 KiB: from the thread's own memory */
        CHECK_EQ(strictly(while_locked, &e), 0);
        locked_work = calls; /* the hidden layer has 1,200 bytes */
        status = strictly(while_locked, &e);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    effect_end(&e);
}
static void steady_work_takes_no_mutex_and_no_memory(void) {
    effect e;
    effect_begin(&e, -1);
    for (int kind = 0; kind < 2; kind++) {
        int64_t m = mallocs, l = mutexes;
        tn_expect_no_alloc {
            CHECK(kind ? calls(&e) : replays(&e));
        }
        CHECK_EQ(mallocs, m);
        CHECK_EQ(mutexes, l);
    }
    free(malloc(1));
    effect_end(&e);
    CHECK(mallocs > 0);
}
static void a_pool_takes_a_mutex_for_each_parallel_call(void) {
    effect e;
    effect_begin(&e, 1);
    tn_tensor *big = tn_ones(TN_DIMS(400, 400)), *y = tn_matmul(big, big);
    int64_t l = mutexes;
    tn_free(y);
    y = tn_matmul(big, big);
    CHECK(mutexes > l);
    tn_free(y), tn_free(big);
    effect_end(&e);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(steady_work_makes_no_system_call),
        CHECK_TEST(only_calls_with_large_results_take_a_lock),
        CHECK_TEST(steady_work_takes_no_mutex_and_no_memory),
        CHECK_TEST(a_pool_takes_a_mutex_for_each_parallel_call),
    };
    return CHECK_MAIN(tests, argc, argv);
}
#else
static void steady_work_is_looked_at_on_linux_without_sanitizers(void) {}
int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(steady_work_is_looked_at_on_linux_without_sanitizers)};
    return CHECK_MAIN(tests, argc, argv);
}
#endif
