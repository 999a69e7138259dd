/* base_stand_ins.h - what the tests of src/base share: the room above it, a counting allocator,
 * threads, fork. */
#ifndef TNI_TESTS_BASE_STAND_INS_H
#define TNI_TESTS_BASE_STAND_INS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../check.h"
#include "../../src/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static TNI_UNUSED int ready_calls, ready_fails, leave_calls;
static TNI_UNUSED void (*ready_hook)(tn_context *c); /* called while a context is made */
static char leave_order[8];
static TNI_UNUSED void leave_say(char name) {
    int at = __atomic_fetch_add(&leave_calls, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&leave_order[at & 7], name, __ATOMIC_RELAXED);
}
static TNI_UNUSED void leave_a(tn_context *c) { (void)c, leave_say('a'); }
static TNI_UNUSED void leave_b(tn_context *c) { (void)c, leave_say('b'); }
static TNI_UNUSED void (*adopt_hook)(tni_block *b); /* called where a thread adopts a block */
typedef struct stand_in_context {
    tn_context context;
    int64_t above;
} stand_in_context;
typedef struct stand_in_block {
    tni_block block;
    int64_t above;
} stand_in_block;
static bool stand_in_ready(tn_context *c) {
    __atomic_fetch_add(&ready_calls, 1, __ATOMIC_RELAXED);
    tni_context_at_end(c, leave_a);
    tni_context_at_end(c, leave_b);
    tni_context_at_end(c, leave_b);
    if (ready_hook) ready_hook(c);
    return !ready_fails;
}
static void stand_in_adopt(tni_block *b) {
    if (adopt_hook) adopt_hook(b);
}
TN_PRIV const tni_rooms *tni_rooms_above(void) {
    static const tni_rooms rooms = {(int64_t)sizeof(stand_in_context),
                                    (int64_t)sizeof(stand_in_block), stand_in_ready,
                                    stand_in_adopt, NULL, NULL};
    return &rooms;
}

/* An allocator that counts what it gave, checks sizes at free, and fails from the k-th call on,
 * once or for ever. */
typedef struct counted {
    int64_t bytes, blocks, calls, wrong, fail_at, most;
    bool for_ever;
} counted;
static TNI_UNUSED void *counted_alloc(size_t bytes, void *user) {
    counted *a = (counted *)user;
    int64_t call = __atomic_add_fetch(&a->calls, 1, __ATOMIC_RELAXED);
    if (a->fail_at && (call == a->fail_at || (a->for_ever && call > a->fail_at))) return NULL;
    int64_t *at = (int64_t *)malloc(bytes + 16);
    if (!at) return NULL;
    memset(at, 0xa5, bytes < 65536 ? bytes + 16 : 65536); /* as memory is that was used before */
    at[0] = (int64_t)bytes;
    int64_t now = __atomic_add_fetch(&a->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&a->most, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&a->most, &most, now, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {}
    __atomic_add_fetch(&a->blocks, 1, __ATOMIC_RELAXED);
    return at + 2;
}
static TNI_UNUSED void counted_free(void *p, size_t bytes, void *user) {
    counted *a = (counted *)user;
    int64_t *at = (int64_t *)p - 2;
    if (at[0] != (int64_t)bytes) __atomic_add_fetch(&a->wrong, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&a->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&a->blocks, 1, __ATOMIC_RELAXED);
    free(at);
}
static TNI_UNUSED tn_context_options counted_options(counted *a) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    memset(a, 0, sizeof *a);
    o.allocator.alloc = counted_alloc;
    o.allocator.free = counted_free;
    o.allocator.user = a;
    return o;
}
static TNI_UNUSED void counted_check(const counted *a) {
    CHECK_EQ(a->bytes, 0);
    CHECK_EQ(a->blocks, 0);
    CHECK_EQ(a->wrong, 0);
}

/* A context of its own, current until the test ends. */
static TNI_UNUSED tn_context *begin(const tn_context_options *o) {
    tn_context *c = tn_context_new(o);
    CHECK(c != NULL);
    tn_context_use(c);
    return c;
}
static TNI_UNUSED void end(tn_context *c) {
    tn_context_use(NULL);
    tn_context_free(c);
}
static TNI_UNUSED void in_thread(void *(*run)(void *), void *arg) {
    pthread_t t;
    if (CHECK(pthread_create(&t, NULL, run, arg) == 0)) pthread_join(t, NULL);
}
/* Runs a test's part in a child of fork; it passes when the part returns true in time. */
static TNI_UNUSED void in_child(bool (*run)(void *), void *arg) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        bool fine = run(arg);
        fflush(stdout); /* what it checked */
        _exit(fine ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_EQ(status, 0); /* 256: the part was false; 14: it hangs */
}

/* A task whose sum over 0..n-1 is n (n + 1) / 2. */
static TNI_UNUSED void add_index(void *arg, int64_t i) {
    __atomic_fetch_add((int64_t *)arg, i + 1, __ATOMIC_RELAXED);
}

#endif
