/* thread.c - what a thread has of its own: its process, what it remembers of its context, and locks
 * that survive fork. Starts no thread (pool.c). */
#include "base.h"

#if TNI_THREADS == 1
#include <pthread.h>
#include <sched.h>
#include <sys/select.h>
#include <unistd.h>
#elif TNI_THREADS == 2
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#endif

#ifdef TNI_OBJECTS
TNI_THREAD_LOCAL tni_tls tni_this_thread;
uint32_t tni_epoch = 1;
#endif

/* --- guests ----------------------------------------------------------------------------------- */

TN_PRIV void tni_thread_away(tni_tls *own) {
    *own = tni_this_thread;
    tni_this_thread.block = NULL;
    tni_this_thread.epoch = 0;
    tni_this_thread.guest = true;
    tni_this_thread.token = 0;
    tni_this_thread.inside = 0;
    tni_this_thread.stop = NULL;
    tni_this_thread.own = own;
}

TN_PRIV uint64_t tni_thread_back(const tni_tls *own) {
    const uint64_t guest = tni_this_thread.token;
    tni_this_thread = *own;
    return guest;
}

/* --- the process ------------------------------------------------------------------------------ */

#if TNI_THREADS == 1 && !defined(__EMSCRIPTEN__)
static uint32_t thread_process; /* its number, kept current in children of fork by the handler */
static void thread_forked(void) { tni_store(&thread_process, (uint32_t)getpid()); }

/* A handler that runs in the child before any other thread can: with it no lock asks the system
 * for the number. libc drops it when the library is unloaded. */
TN_PRIV uint32_t tni_process(void) {
    uint32_t number = tni_load_relaxed(&thread_process);
    if (TNI_LIKELY(number != 0)) return number;
    /* Only the thread that sets the number registers the handler. */
    uint32_t none = 0;
    if (tni_swap_if(&thread_process, &none, (uint32_t)getpid()))
        pthread_atfork(NULL, NULL, thread_forked);
    return tni_load(&thread_process);
}
#else
TN_PRIV uint32_t tni_process(void) { return 1; }
#endif

/* --- locks ------------------------------------------------------------------------------------ */

#if TNI_THREADS
/* Lets the holder run; sleeps when it has less priority, so that yielding to it has no effect. */
static void thread_yield(bool sleep) {
#if TNI_THREADS == 1
    struct timeval moment = {0, 50};
    if (sleep)
        select(0, NULL, NULL, NULL, &moment);
    else
        sched_yield();
#else
    if (sleep)
        Sleep(1);
    else
        SwitchToThread();
#endif
}

/* The word is 0, or the process of the thread that has it. Another process' number is that of a
 * thread which existed in the parent only: taken over. */
static bool thread_lock_once(uint32_t *word, uint32_t process, bool *repair) {
    /* Free: ours. Else seen is the holder's process. */
    uint32_t seen = 0;
    if (TNI_LIKELY(tni_swap_if(word, &seen, process))) return true;
    return seen != process && tni_swap_if(word, &seen, process) && (*repair = true);
}

TN_PRIV bool tni_lock_repair(uint32_t *word) {
    enum { SPINS = 64, YIELDS = 1024 };
    uint32_t process = tni_process();
    bool repair = false;
    for (uint32_t spin = 0; !thread_lock_once(word, process, &repair); spin++) {
        /* Usually the holder is done in a moment; if not, it is given the processor. */
        if (spin < SPINS)
            tni_pause();
        else
            thread_yield(spin > YIELDS);
    }
    return repair;
}
TN_PRIV bool tni_lock_try(uint32_t *word) {
    bool repair = false;
    return thread_lock_once(word, tni_process(), &repair);
}
TN_PRIV void tni_lock(uint32_t *word) { tni_lock_repair(word); }
TN_PRIV void tni_unlock(uint32_t *word) { tni_store(word, 0u); }
#else
TN_PRIV bool tni_lock_repair(uint32_t *word) { return (void)word, false; }
TN_PRIV bool tni_lock_try(uint32_t *word) { return *word ? false : (*word = 1, true); }
TN_PRIV void tni_lock(uint32_t *word) { (void)word; }
TN_PRIV void tni_unlock(uint32_t *word) { *word = 0; }
#endif
