/* clock.c - seconds since some moment, never backwards, for profiler and progress; results never
 * depend on it. */
#include "base.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

TN_PRIV double tni_clock(void) {
    LARGE_INTEGER ticks, rate;
    QueryPerformanceFrequency(&rate);
    QueryPerformanceCounter(&ticks);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
}
#else
#include <sys/time.h>
#include <time.h>

/* Strict C modes hide the POSIX clock when <time.h> was read before anyone could ask for it. */
#if defined(__linux__) && !defined(CLOCK_MONOTONIC) && !defined(__cplusplus)
#include <sched.h> /* struct timespec */
extern int clock_gettime(int, struct timespec *);
#define CLOCK_MONOTONIC 1
#endif

TN_PRIV double tni_clock(void) {
#ifdef CLOCK_MONOTONIC
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) == 0) return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
    struct timeval v;
    gettimeofday(&v, NULL);
    return (double)v.tv_sec + 1e-6 * (double)v.tv_usec;
}
#endif

TN_PRIV double tni_now(tn_context *c) {
    return c->options.clock ? c->options.clock(c->options.clock_user) : tni_clock();
}

TN_API double tn_now(void) {
    tni_block *b = tni_here();
    return b ? tni_now(b->context) : 0;
}
