/* life.h - what the programs of this lane share: a context whose memory is counted, errors taken,
 * the bits of a tensor as one number. */
#ifndef TNI_TESTS_LIFE_H
#define TNI_TESTS_LIFE_H

#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdlib.h>

#define LIFE_UNUSED __attribute__((unused))

/* Allocations that the contexts of this program have not given back, and all that there were. */
static int64_t life_live, life_mallocs;
static void *life_alloc(size_t bytes, void *user) {
    void *p = malloc(bytes);
    (void)user;
    if (!p) return NULL;
    __atomic_fetch_add(&life_live, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&life_mallocs, 1, __ATOMIC_RELAXED);
    return p;
}
static void life_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    __atomic_fetch_sub(&life_live, at != NULL, __ATOMIC_RELAXED);
    free(at);
}

/* Options of a context with so many threads; every block comes from the allocator. */
static LIFE_UNUSED tn_context_options life_options(int32_t threads) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = life_alloc;
    o.allocator.free = life_free;
    o.threads = threads > 1 ? threads - 1 : -1;
    o.no_cache = true;
    return o;
}
static LIFE_UNUSED tn_context *life_begin(const tn_context_options *o) {
    tn_context *c = tn_context_new(o);
    CHECK(c != NULL);
    tn_context_use(c);
    return c;
}
/* Ends the current context c: nothing of it may live. */
static LIFE_UNUSED void life_end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(life_live, 0);
}

/* Takes the pending error: its code, TN_OK when there is none. */
static LIFE_UNUSED tn_code life_taken(void) {
    tn_error_info e;
    return tn_error_take(&e) ? e.code : TN_OK;
}

/* FNV-1a of the elements of a tensor; 0 for NULL. */
static LIFE_UNUSED uint64_t life_bits(tn_tensor *t) {
    uint64_t h = 0xcbf29ce484222325u;
    if (!t) return 0;
    TN_SCOPE {
        tn_tensor *flat = tn_contiguous(tn_detach(t));
        int64_t bytes = flat ? tn_numel(flat) * tn_dtype_bytes(tn_dtype_of(flat)) : 0;
        const unsigned char *at = flat ? (const unsigned char *)tn_data(flat) : NULL;
        for (int64_t i = 0; i < bytes; i++) h = (h ^ at[i]) * 0x100000001b3u;
    }
    return h;
}

/* Runs in a thread with a stack of so many bytes (0: the usual one) and waits for it. */
static LIFE_UNUSED void life_thread(void *(*run)(void *), void *arg, size_t stack) {
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    if (stack) CHECK(pthread_attr_setstacksize(&a, stack) == 0);
    if (CHECK(pthread_create(&t, &a, run, arg) == 0)) pthread_join(t, NULL);
    pthread_attr_destroy(&a);
}

/* How deep this run goes: 0 quick, 1 a sample, 2 all. */
static LIFE_UNUSED int life_depth(void) {
    const char *full = getenv("TN_FULL"), *quick = getenv("TN_QUICK");
    return full && *full ? 2 : quick && *quick ? 0 : 1;
}

#endif
