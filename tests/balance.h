/* balance.h - memory in use stays what it was, whatever becomes of a call.
 *
 * In a context without caches every byte that is got and not given back is seen. What a first call
 * makes for all later ones (a table that grows, a buffer that is kept) is told from a leak by
 * repeating it: the same call keeps nothing then. Failed calls of programs over the library of the
 * sanitizers are compared by tests/watch.c, one by one; this is for calls that give back in another
 * call what they have made, or that take over what they are given. */
#ifndef TESTS_BALANCE_H
#define TESTS_BALANCE_H

#include "../src/api/context.h"

/* Calls until nothing is kept any more, four times at most; the bytes that the last one has kept.
 * call takes the error that it leaves and frees what it has made. */
static inline int64_t balance_kept(void (*call)(void *arg), void *arg) {
    int64_t kept = 1;
    for (int n = 0; n < 4 && kept > 0; n++) {
        const tn_memory_stats before = tn_memory();
        tn_memory_stats after;
        call(arg);
        after = tn_memory();
        kept = after.bytes_used - before.bytes_used;
        if (kept <= 0 && after.live_tensors > before.live_tensors) kept = 1;
    }
    return kept;
}

#endif
