/* sync.h - threads, mutexes and conditions of the system, one spelling for POSIX and Windows. Only
 * where TNI_THREADS is not 0. Locks that survive fork are those of base.h. */
#ifndef TNI_BASE_SYNC_H
#define TNI_BASE_SYNC_H

#include "base.h"

#if TNI_THREADS == 1
#include <errno.h>
#include <pthread.h>
#include <sys/time.h>

typedef pthread_t tni_thread;
typedef pthread_mutex_t tni_mutex;
typedef pthread_cond_t tni_condition;
TNI_INLINE bool tni_mutex_init(tni_mutex *m) { return pthread_mutex_init(m, NULL) == 0; }
TNI_INLINE void tni_mutex_free(tni_mutex *m) { pthread_mutex_destroy(m); }
TNI_INLINE void tni_mutex_enter(tni_mutex *m) { pthread_mutex_lock(m); }
TNI_INLINE void tni_mutex_exit(tni_mutex *m) { pthread_mutex_unlock(m); }
TNI_INLINE bool tni_condition_init(tni_condition *c) { return pthread_cond_init(c, NULL) == 0; }
TNI_INLINE void tni_condition_free(tni_condition *c) { pthread_cond_destroy(c); }
TNI_INLINE void tni_condition_wait(tni_condition *c, tni_mutex *m) { pthread_cond_wait(c, m); }
/* Waits for at most so many milliseconds, less than a second. */
TNI_INLINE void tni_condition_wait_ms(tni_condition *c, tni_mutex *m, int ms) {
    struct timeval now;
    struct timespec until;
    gettimeofday(&now, NULL);
    until.tv_sec = now.tv_sec + (now.tv_usec + ms * 1000) / 1000000;
    until.tv_nsec = (long)(now.tv_usec + ms * 1000) % 1000000 * 1000;
    pthread_cond_timedwait(c, m, &until);
}
TNI_INLINE void tni_condition_wake(tni_condition *c) { pthread_cond_signal(c); }
TNI_INLINE void tni_condition_wake_all(tni_condition *c) { pthread_cond_broadcast(c); }
TNI_INLINE void tni_thread_join(tni_thread t) { pthread_join(t, NULL); }
/* A thread's function, which TNI_THREAD_MAIN(name, arg) begins and `return 0` ends. */
#define TNI_THREAD_MAIN(name, arg) static void *name(void *arg)
TNI_INLINE bool tni_thread_start(tni_thread *t, void *(*run)(void *), void *arg) {
    return pthread_create(t, NULL, run, arg) == 0;
}
#elif TNI_THREADS == 2
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

typedef HANDLE tni_thread;
typedef SRWLOCK tni_mutex;
typedef CONDITION_VARIABLE tni_condition;
TNI_INLINE bool tni_mutex_init(tni_mutex *m) { return InitializeSRWLock(m), true; }
TNI_INLINE void tni_mutex_free(tni_mutex *m) { (void)m; }
TNI_INLINE void tni_mutex_enter(tni_mutex *m) { AcquireSRWLockExclusive(m); }
TNI_INLINE void tni_mutex_exit(tni_mutex *m) { ReleaseSRWLockExclusive(m); }
TNI_INLINE bool tni_condition_init(tni_condition *c) {
    return InitializeConditionVariable(c), true;
}
TNI_INLINE void tni_condition_free(tni_condition *c) { (void)c; }
TNI_INLINE void tni_condition_wait(tni_condition *c, tni_mutex *m) {
    SleepConditionVariableSRW(c, m, INFINITE, 0);
}
TNI_INLINE void tni_condition_wait_ms(tni_condition *c, tni_mutex *m, int ms) {
    SleepConditionVariableSRW(c, m, (DWORD)ms, 0);
}
TNI_INLINE void tni_condition_wake(tni_condition *c) { WakeConditionVariable(c); }
TNI_INLINE void tni_condition_wake_all(tni_condition *c) { WakeAllConditionVariable(c); }
TNI_INLINE void tni_thread_join(tni_thread t) { WaitForSingleObject(t, INFINITE), CloseHandle(t); }
#define TNI_THREAD_MAIN(name, arg) static DWORD WINAPI name(void *arg)
TNI_INLINE bool tni_thread_start(tni_thread *t, LPTHREAD_START_ROUTINE run, void *arg) {
    return (*t = CreateThread(NULL, 0, run, arg, 0, NULL)) != NULL;
}
#endif

#endif
