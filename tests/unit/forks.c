/* forks.c - what a child of fork finds where the parent's other threads were at work: the list of
 * wrapped memory half way through a change, a loader's lock held. */
#define _GNU_SOURCE /* syscall */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

static int64_t asked; /* for the number of the process */
#ifdef __linux__
pid_t getpid(void) {
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return (pid_t)syscall(SYS_getpid);
}
#endif

/* Runs a test's part in a child of fork; it passes when the part returns true in time. */
static int in_child(bool (*run)(void *), void *arg) {
    int status = -1;
    pid_t pid;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(run(arg) ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status; /* 256: the part was false; 14: it hangs */
}

/* --- wrapped memory --------------------------------------------------------------------------- */

/* The way back from the list's first member leads out of it; the child takes other locks of the
 * context before that list's. */
typedef struct wrapped_like {
    tni_storage storage;
    struct wrapped_like *prev, *next;
} wrapped_like;
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
static void no_release(void *data, void *user) { (void)data, (void)user; }
static void no_leave(tn_context *c) { (void)c; }
static wrapped_like *wrapped_first(tn_context *c) {
    return (wrapped_like *)(void *)tni_tensors(c)->wrapped;
}
static bool child_repairs_wrapped(void *arg) {
    tn_context *c = (tn_context *)arg;
    wrapped_like *first = wrapped_first(c), *second = first->next;
    tni_context_at_end(c, no_leave);
    tni_storage_release(tni_here(), &first->storage);
    return wrapped_first(c) == second && !second->prev;
}
static void wrapped_memory_is_repaired(void) {
    static double data[2];
    tn_context *c = tn_context_current();
    tni_storage *s[2];
    wrapped_like stray;
    holder h = {&tni_tensors(c)->wrapped_lock, 0};
    pthread_t t;
    for (int i = 0; i < 2; i++) s[i] = tni_storage_wrap(tni_here(), &data[i], 8, no_release, NULL);
    if (!CHECK(s[0] && s[1])) return;
    pthread_create(&t, NULL, holder_run, &h);
    while (__atomic_load_n(&h.turn, __ATOMIC_ACQUIRE) != 1) sched_yield();
    memset(&stray, 0, sizeof stray);
    wrapped_first(c)->prev = &stray;
    CHECK_EQ(in_child(child_repairs_wrapped, c), 0);
    wrapped_first(c)->prev = NULL;
    __atomic_store_n(&h.turn, 2, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++) tni_storage_release(tni_here(), s[i]);
    CHECK(!tni_tensors(c)->wrapped);
}

/* --- endings: as wrapped memory --------------------------------------------------------------- */

static void no_end(tn_ending *e) { (void)e; }
static bool child_repairs_endings(void *arg) {
    tn_context *c = (tn_context *)arg;
    tn_ending *first = c->ending, *second = first->older;
    tn_ending_remove(first);
    return c->ending == second && !second->newer;
}
static void endings_are_repaired(void) {
    tn_context *c = tn_context_current();
    tn_ending e[2], stray;
    holder h = {&c->ending_lock, 0};
    pthread_t t;
    memset(&stray, 0, sizeof stray);
    for (int i = 0; i < 2; i++) {
        e[i].end = no_end;
        CHECK(tn_ending_add(&e[i]));
    }
    pthread_create(&t, NULL, holder_run, &h);
    while (__atomic_load_n(&h.turn, __ATOMIC_ACQUIRE) != 1) sched_yield();
    e[1].newer = &stray;
    CHECK_EQ(in_child(child_repairs_endings, c), 0);
    e[1].newer = NULL;
    __atomic_store_n(&h.turn, 2, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++) tn_ending_remove(&e[i]);
    CHECK(!c->ending);
}

/* --- loaders ---------------------------------------------------------------------------------- */

enum { BATCHES = 240, FREERS = 4 };
static tn_tensor *batches[BATCHES];
static int32_t arrived;
static bool get_number(const tn_dataset *d, int64_t index, void *const *to) {
    (void)d;
    memcpy(to[0], &index, sizeof index);
    return true;
}
static void *free_some(void *arg) {
    __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < FREERS) {}
    for (int i = (int)(intptr_t)arg; i < BATCHES; i += FREERS) tn_free(batches[i]);
    return NULL;
}
/* Threads give the batches back at once; what the child then takes is theirs, each once. */
static bool child_gives_back(void *arg) {
    tn_loader *l = (tn_loader *)arg;
    pthread_t t[FREERS];
    int64_t before;
    tn_batch b;
    for (int i = 0; i < FREERS; i++)
        if (pthread_create(&t[i], NULL, free_some, (void *)(intptr_t)i)) return false;
    for (int i = 0; i < FREERS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < BATCHES; i++) {
        if (!tn_loader_next(l, &b)) return false;
        for (int k = 0; k < i; k++)
            if (tn_data(batches[k]) == tn_data(b.field[0])) return false;
        batches[i] = b.field[0];
    }
    for (int i = 0; i < BATCHES; i++) tn_free(batches[i]);
    before = tn_memory().bytes_used;
    tn_loader_free(l);
    return tn_memory().bytes_used < before - BATCHES * 64; /* the buffers, and all counted */
}
static void batches_are_given_back_by_threads_of_a_child(void) {
    tn_dataset like;
    tn_loader *l;
    tn_batch b;
    memset(&like, 0, sizeof like);
    like.size = 2 * BATCHES;
    like.nfields = 1;
    like.field[0].dtype = TN_I64;
    like.get = get_number;
    l = tn_loader_new(tn_dataset_new(&like), .batch_size = 1, .workers = 2);
    for (int i = 0; i < BATCHES; i++) {
        int64_t before = asked;
        if (CHECK(tn_loader_next(l, &b))) batches[i] = b.field[0];
        if (i) CHECK_EQ(asked, before); /* no lock asks the system */
    }
    for (int i = 0; i < 40; i++)
        if (!CHECK_EQ(in_child(child_gives_back, l), 0)) break;
    for (int i = 0; i < BATCHES; i++) tn_free(batches[i]);
    tn_loader_free(l);
}

static const check_test tests[] = {
    CHECK_TEST(wrapped_memory_is_repaired),
    CHECK_TEST(endings_are_repaired),
    CHECK_TEST(batches_are_given_back_by_threads_of_a_child),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
