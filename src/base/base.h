/* base.h - the room that knows no tensor: blocks, memory, errors, threads, files, time. A game
 * could use it alone, as tests/unit/base_alone.c does. Rooms above add to blocks and contexts by
 * structs that begin with those of here.
 *
 * `tni_block` is a thread in a context: everything that a call touches without a lock. It is found
 * once, at the public entry (tni_here), and handed down as the first argument `b`. A block outlives
 * its thread and is adopted by the next one; tn_context_free frees them all. */
#ifndef TNI_BASE_BASE_H
#define TNI_BASE_BASE_H

#include "../api/beside.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- checked size arithmetic: the only place where sizes are multiplied or added -------------- */

TNI_INLINE bool tni_mul(int64_t a, int64_t b, int64_t *to) {
#if defined(__GNUC__) || defined(__clang__)
    return !__builtin_mul_overflow(a, b, to);
#else
    if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
              : (b > 0 ? a < INT64_MIN / b : a && b < INT64_MAX / a))
        return false;
    *to = a * b;
    return true;
#endif
}
TNI_INLINE bool tni_add(int64_t a, int64_t b, int64_t *to) {
#if defined(__GNUC__) || defined(__clang__)
    return !__builtin_add_overflow(a, b, to);
#else
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *to = a + b;
    return true;
#endif
}
/* count * each as a size_t that malloc could take. */
TNI_INLINE bool tni_bytes(int64_t count, int64_t each, int64_t *to) {
    *to = 0;
    return count >= 0 && each >= 0 && tni_mul(count, each, to) && *to <= (int64_t)(PTRDIFF_MAX / 2);
}

/* A condition that cannot hold, kept for the day when its proof, which stands beside it, breaks;
 * without a proof, a test stands instead. Counts of branches leave it out. */
#ifdef TNI_COVERAGE
#define TNI_NEVER(condition) false
#else
#define TNI_NEVER(condition) (condition)
#endif

/* --- atomics: one spelling for gcc, clang, and one thread ------------------------------------- */

#if defined(TN_NO_THREADS) || defined(__TINYC__) || \
    defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define TNI_THREADS 0 /* none */
#elif defined(_WIN32)
#define TNI_THREADS 2 /* Win32 */
#else
#define TNI_THREADS 1 /* POSIX */
#endif

/* tni_wide: 64 bits that are read and written as one, aligned so where uint64_t would not be. */
#if defined(__GNUC__) && !defined(__TINYC__)
typedef uint64_t tni_wide __attribute__((aligned(8)));
#define tni_load(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define tni_load_relaxed(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#define tni_store(at, v) __atomic_store_n(at, v, __ATOMIC_RELEASE)
#define tni_store_relaxed(at, v) __atomic_store_n(at, v, __ATOMIC_RELAXED)
#define tni_fetch_add(at, v) __atomic_fetch_add(at, v, __ATOMIC_ACQ_REL)
#define tni_fetch_add_relaxed(at, v) __atomic_fetch_add(at, v, __ATOMIC_RELAXED)
#define tni_exchange(at, v) __atomic_exchange_n(at, v, __ATOMIC_ACQ_REL)
#define tni_swap_if(at, expected, v) \
    __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#else
typedef uint64_t tni_wide;
#define tni_load(at) (*(at))
#define tni_load_relaxed(at) (*(at))
#define tni_store(at, v) ((void)(*(at) = (v)))
#define tni_store_relaxed(at, v) ((void)(*(at) = (v)))
#define tni_fetch_add(at, v) ((*(at) += (v)) - (v))
#define tni_fetch_add_relaxed(at, v) ((*(at) += (v)) - (v))
#define tni_exchange(at, v) tni_exchange_plain(at, v)
TNI_INLINE void *tni_exchange_plain(void *at, void *v) { /* pointers only */
    void *old = *(void **)at;
    return *(void **)at = v, old;
}
#define tni_swap_if(at, expected, v) \
    (*(at) == *(expected) ? (*(at) = (v), 1) : (*(expected) = *(at), 0))
#endif

/* --- blocks ----------------------------------------------------------------------------------- */

enum {
    TNI_ALIGN = 64,   /* of every block of memory and all tensor data */
    TNI_BINS = 17,    /* free lists of 64, 128, ... 1024 bytes; [0] unused */
    TNI_SMALL = 1024, /* up to this many bytes a request is served from the thread's own bins */
    TNI_ERROR_TEXT = 1600,
    TNI_WARNING_TEXT = 640
};

struct tni_block {
    tn_context *context;
    /* state of the thread that is read at each call */
    uint8_t failed;     /* tn_code of the untaken error */
    uint8_t quiet;      /* counts: failures here are expected and not told to the handler */
    uint8_t told;       /* the handler knows the untaken error */
    bool error_told;    /* the pending error names its operator already; cleared when it is taken */
    bool error_forward; /* ... and the forward call of its gradient */
    bool no_alloc;      /* inside tn_expect_no_alloc */
    uint32_t
        hooks; /* TNI_HOOK_*: recording, profiling, a warning to be told; 0 on the fast path. The
                  profiler sets it from other threads: read it with tni_load_relaxed, write it with
                  tni_hook_set */
    tni_work *work;         /* innermost call in progress */
    const char *place_file; /* of the module call or backward in progress, outermost user line */
    int32_t place_line;
    /* > 0: a module call or a backward holds the place; inner calls leave it. */
    uint32_t place_hold;
    /* > 0: calls run although the context was cancelled, to finish what must happen as a whole. */
    uint32_t unstopped;
    tn_path *path;           /* chain of module calls above the operators (api/beside.h) */
    struct tn_group *group;  /* of ranks, that the thread works in (group/); NULL: it is alone */
    int64_t live_count;      /* tensors, counted by their room */
    uint8_t autocast;        /* tn_dtype in which suitable calls compute (TNI_HOOK_CAST), 0: off */
    uint8_t autocast_device; /* the same of tensors on devices */
    uint8_t warned; /* a warning waits: for the handler (TNI_HOOK_WARNING) or to be taken */
    /* memory */
    void *bin[TNI_BINS];
    char *slab, *slab_end;
    struct tni_slab *slabs;
    uint64_t token;  /* of the thread that has it, 0: free for adoption */
    tni_block *next; /* of the context */
    bool binned;     /* small blocks that are freed go to bin; not where the caches are bypassed */
    tn_code error_code;
    int error_line;
    const char *error_file;
    char error_text[TNI_ERROR_TEXT];
    int warning_line;
    const char *warning_file;
    char warning_text[TNI_WARNING_TEXT];
    /* written by other threads: on a line of its own */
    char apart[TNI_ALIGN];
    void *returned; /* small blocks freed elsewhere: first word links, second is the bin */
    char behind[TNI_ALIGN];
};

enum {
    TNI_HOOK_RECORD = TNI_REPLAYS,
    TNI_HOOK_PROFILE = 2 * TNI_PROFILES,
    TNI_HOOK_WARNING = 4,
    TNI_HOOK_CAST = 8,
    TNI_HOOK_SAVED = 16
};
TNI_INLINE void tni_hook_set(tni_block *b, uint32_t hook, bool on) {
    uint32_t old = tni_load_relaxed(&b->hooks);
    while (!tni_swap_if(&b->hooks, &old, on ? old | hook : old & ~hook)) {}
}

struct tn_context {
    tn_context_options options;
    const struct tni_kernels
        *kernels; /* loops of the chosen instruction set; set by a room above */
    int isa;      /* TNI_ISA_*, chosen when the context is made */
    tni_block *blocks;
    uint32_t hooks;                          /* that a new block begins with */
    uint32_t lock;                           /* tni_lock: the functions called at the end */
    uint32_t cancel;                         /* 1: calls are asked to stop (tni_stopped) */
    int64_t used, peak, cached, allocations; /* under large's own lock: read them by tn_memory */
    struct tni_large *large;                 /* large blocks, cached and in use (alloc.c) */
    struct tni_pool *pool;                   /* threads (thread.c), made at first need */
    int32_t threads;                         /* that work at one operator, the caller's included */
    struct tni_profile *profile;
    void (*token_ends)(uint64_t token);        /* all contexts' blocks of this token are free */
    int (*decode)(const char *file, int line); /* lines of another language; NULL: none */
    tn_error_handler handler;
    void *handler_user;
    void (*leave[8])(tn_context *); /* called at the context's end, newest first */
    int nleave;
    struct tn_ending *ending; /* newest first; under ending_lock */
    uint32_t ending_lock;
    uint64_t id;
    tn_context *next; /* registry of live contexts */
};

/* What the rooms above make of blocks and contexts. */
typedef struct tni_rooms {
    int64_t context_bytes, block_bytes; /* of structs that begin with tn_context and tni_block */
    /* The last step of making a context, which is all zero beyond base's part and has no block yet:
     * registers what is to be called at the end. false: no memory, the context is not made. */
    bool (*ready)(tn_context *c);
    void (*adopt)(tni_block *b); /* closes what the block's former thread left open */
    /* Adds to the error of a thread that is out of memory what may be the reason; or NULL. */
    void (*explain)(tni_block *b);
    /* Gives back what they keep for reuse: bytes; or NULL. */
    int64_t (*trim)(tni_block *b);
} tni_rooms;
/* Defined once, by the room on top (call/ready.c). */
TN_PRIV const tni_rooms *tni_rooms_above(void);

/* The calling thread's block in its current context: one TLS read and an epoch test when nothing
 * changed. NULL only when there is no memory for a first block. */
TN_PRIV tni_block *tni_here_slow(void);
#if defined(TN_NO_THREADS) || defined(__TINYC__)
#define TNI_THREAD_LOCAL
#elif defined(__cplusplus)
#define TNI_THREAD_LOCAL thread_local
#else
#define TNI_THREAD_LOCAL __thread
#endif
#ifdef TNI_OBJECTS
extern TNI_HIDDEN TNI_THREAD_LOCAL tni_tls tni_this_thread;
extern TNI_HIDDEN uint32_t tni_epoch;
#else
static TNI_THREAD_LOCAL tni_tls tni_this_thread;
static uint32_t tni_epoch = 1; /* moves when a context dies: what threads remember of it is void */
#endif
TNI_INLINE tni_block *tni_here(void) {
    return TNI_LIKELY(tni_this_thread.epoch == tni_load_relaxed(&tni_epoch)) ? tni_this_thread.block
                                                                             : tni_here_slow();
}
TN_PRIV bool tni_context_any(void); /* whether there is a context at all */
/* The same, but NULL where no context is left: what lived in one is no more. */
TNI_INLINE tni_block *tni_here_if_any(void) {
    if (TNI_LIKELY(tni_this_thread.epoch == tni_load_relaxed(&tni_epoch)))
        return tni_this_thread.block;
    return tni_context_any() ? tni_here_slow() : NULL;
}
/* The calling thread's context if it has one by now, else the default one, which may be NULL. Takes
 * no lock: for signal handlers. */
TN_PRIV tn_context *tni_context_known(void);
TN_PRIV void tni_context_hook(tn_context *c, uint32_t hook, bool on); /* in all blocks */
/* Around a host's code that runs in the midst of a call and may use the library for other work: the
 * thread has a state as new, in the same context. back restores its own and returns the token of
 * the guest, to be ended (tn_context.token_ends); 0: it has not used the library. */
TN_PRIV void tni_thread_away(tni_tls *own);
TN_PRIV uint64_t tni_thread_back(const tni_tls *own);
/* To be called at the end of a context (rooms above base clean up with it); a function is
 * registered once. The thread that frees the context is attached to it while `leave` runs. At
 * most 8. */
TN_PRIV void tni_context_at_end(tn_context *c, void (*leave)(tn_context *));

/* --- memory ----------------------------------------------------------------------------------- */

/* 64-byte aligned, uninitialised. NULL without setting an error. `bytes` > 0 is given back exactly
 * at free. Small requests come from the block's bins over slabs, large ones from the context's
 * cache of size classes (steps of 1/8), both from the allocator when options.no_cache. */
TN_PRIV void *tni_get(tni_block *b, int64_t bytes);
TN_PRIV void tni_put(tni_block *b, tni_block *owner, void *at,
                     int64_t bytes); /* from any thread: owner is who got it */
/* The same with the error MEMORY set. */
TN_PRIV void *tni_need(tni_block *b, int64_t bytes);
TN_PRIV bool tni_memory_error(tni_block *b, int64_t bytes);
TN_PRIV int64_t tni_memory_used(tn_context *c); /* bytes, as tn_memory counts them */
/* The fast path for small blocks: bin = bytes / 64, rounded up. */
TNI_INLINE void *tni_get_bin(tni_block *b, int bin) {
    void *at = b->bin[bin];
    if (TNI_LIKELY(at != NULL)) {
        b->bin[bin] = *(void **)at; /* the next free one */
        return at;
    }
    return tni_get(b, (int64_t)bin * TNI_ALIGN);
}
/* Its counterpart: 0 < bytes <= TNI_SMALL. */
TNI_INLINE void tni_put_bin(tni_block *b, tni_block *owner, void *at, int64_t bytes) {
    const int64_t bin = (bytes + TNI_ALIGN - 1) / TNI_ALIGN;
    if (TNI_LIKELY(b == owner && b->binned))
        *(void **)at = b->bin[bin], b->bin[bin] = at;
    else
        tni_put(b, owner, at, bytes);
}
TN_PRIV int64_t
tni_cache_clear(tn_context *c); /* every cached large block back to the allocator; its bytes */
/* Memory with its size and context written before it, for owners that know neither block nor
 * thread (tn_alloc). */
TN_PRIV void *tni_get_apart(tn_context *c, int64_t bytes);
TN_PRIV void tni_put_apart(void *at);
/* The allocator itself, counted and under the cap; aligned as malloc does. At the end of a context
 * everything got by the functions above goes back by itself, but not these. */
TN_PRIV void *tni_raw_get(tn_context *c, int64_t bytes);
TN_PRIV void tni_raw_put(tn_context *c, void *at, int64_t bytes);
/* Bytes that a sanitizer is to report every use of, or not any more; without one nothing. */
TN_PRIV void tni_poison(void *at, size_t bytes, bool on);
TN_PRIV bool tni_memory_begin(tn_context *c);
/* Memory taken in advance (reserve.c), under the lock of large blocks. `bytes` at `raw` become the
 * newest of a list of reserves. take: NULL if none has so much; give: false if `at` is
 * from none. */
struct tni_reserve;
TN_PRIV void tni_reserve_add(struct tni_reserve **list, void *raw, int64_t bytes);
TN_PRIV void *tni_reserve_take(struct tni_reserve *list, int64_t bytes);
TN_PRIV bool tni_reserve_give(struct tni_reserve *list, void *at, int64_t bytes);
TN_PRIV int64_t tni_reserve_left(const struct tni_reserve *list);
/* Takes the newest off the list: its memory, and how much that is; NULL: none. */
TN_PRIV void *tni_reserve_remove(struct tni_reserve **list, int64_t *bytes);
TN_PRIV void tni_memory_leave_block(tni_block *b); /* frees the slabs; b is not used any more */
TN_PRIV void tni_memory_end(tn_context *c);

/* --- text of numbers -------------------------------------------------------------------------- */

/* In the text of one number, as printf writes it, the locale's decimal point becomes '.'. Returns
 * the length. */
TN_PRIV int tni_point(char *number);

/* --- errors ----------------------------------------------------------------------------------- */

/* Sets the block's error with the place of the outermost public call; an untaken earlier one stays.
 * Returns false. The text is cut at TNI_ERROR_TEXT. */
TN_PRIV bool tni_error(tni_block *b, tn_code code, const char *format, ...) TNI_PRINTF(3, 4);
TN_PRIV bool tni_error_list(tni_block *b, tn_code code, const char *format, va_list list);
/* Appends to the pending error's message. */
TN_PRIV void tni_error_more(tni_block *b, const char *format, ...) TNI_PRINTF(2, 3);
/* The line as a user knows it. */
TNI_INLINE int tni_line(const tni_block *b, const char *file, int line) {
    return line < 0 && b->context->decode && file ? b->context->decode(file, line) : line;
}
/* Tells the handler; called by the outermost public call when it has failed. */
TN_PRIV void tni_error_tell(tni_block *b);
/* At the start of a public function outside of the door: its caller's line, unless it is called
 * from inside of another one. */
TNI_INLINE void tni_place_set(tni_block *b, const char *file, int line) {
    if (!b->work && !b->place_hold) b->place_file = file, b->place_line = line;
}
/* The same, and false when an error is pending; at the end: ok, after the outermost call has told
 * the handler of its failure. */
TNI_INLINE bool tni_enter(tni_block *b, const char *file, int line) {
    if (!b || b->failed) return false;
    tni_place_set(b, file, line);
    return true;
}
TNI_INLINE bool tni_leave(tni_block *b, bool ok) {
    if (!ok && !b->work && !b->place_hold) tni_error_tell(b);
    return ok;
}
/* The error of a public function that is not told its caller's line: without a place, told.
 * Returns false. */
TN_PRIV bool tni_error_apart(tni_block *b, tn_code code, const char *format, ...) TNI_PRINTF(3, 4);
/* At the start of a public function that is not told its caller's line: the last call's is not
 * its place. */
TNI_INLINE void tni_place_unknown(tni_block *b) { tni_place_set(b, NULL, 0); }
/* Sets the thread's warning, with the place of the call in progress, unless one waits. The handler
 * gets it from tni_warning_tell, which the outermost calls make while TNI_HOOK_WARNING is set and
 * nothing is in progress. */
TN_PRIV void tni_warning(tni_block *b, const char *format, ...) TNI_PRINTF(2, 3);
TN_PRIV TNI_NOINLINE void tni_warning_tell(tni_block *b);
/* Takes the error of a thread that has ended; calls the handler if nobody has. */
TN_PRIV void tni_error_leave(tni_block *b);
/* Why threads without a block have none, for tn_error_peek; NULL: out of memory. Said by context.c,
 * which makes the default context. */
TN_PRIV void tni_error_without_context(const tn_error_info *reason);

/* --- threads ---------------------------------------------------------------------------------- */

/* A lock that a child of fork takes over from a dead parent thread: the word holds the
 * process number. */
TN_PRIV void tni_lock(uint32_t *word);
TN_PRIV void tni_unlock(uint32_t *word);
/* The same; true when the lock was taken over, so that what it guards may be half changed. */
TN_PRIV bool tni_lock_repair(uint32_t *word);
TN_PRIV bool tni_lock_try(uint32_t *word);
/* While another thread is waited for that is about to be done. */
TNI_INLINE void tni_pause(void) {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(__TINYC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("yield");
#endif
}
/* A number of this process, the same in all its threads, another one in a child of fork;
 * never 0. */
TN_PRIV uint32_t tni_process(void);
/* Runs task(arg, i) once for i in 0..count-1 on the context's threads, the caller among them;
 * returns when all are done, or when the call in progress is asked to stop: a task is a block of
 * work, before which that is polled. A call from inside a task runs serially, and so does one while
 * another thread has the pool. Tasks must not depend on who runs them or in what order, and must
 * not use the caller's block. */
TN_PRIV void tni_parallel(tn_context *c, int64_t count, void (*task)(void *arg, int64_t i),
                          void *arg);
TN_PRIV void tni_pool_free(tn_context *c);
TN_PRIV int tni_cores(void);

/* Whether a request to stop stands in c. */
TNI_INLINE bool tni_stop_asked(tn_context *c) { return tni_load_relaxed(&c->cancel) != 0; }
/* Polls that are counted, and may make the request, in tests that set tni_poll_ran. */
#ifdef TNI_COUNT_POLLS
extern void (*tni_poll_ran)(const tni_stop *s);
#define TNI_POLL(s) (tni_poll_ran ? tni_poll_ran(s) : (void)0)
#else
#define TNI_POLL(s) ((void)0)
#endif
TNI_INLINE bool tni_stop_seen(tni_stop *s) {
    if (!s || !s->request) return false;
    TNI_POLL(s);
    if (!tni_load_relaxed(s->request) && !tni_load_relaxed(&s->seen)) return false;
    tni_store_relaxed(&s->seen, 1u);
    return true;
}
/* Of the call that this thread works at: another thread's, or its own innermost one. NULL: none. */
TNI_INLINE tni_stop *tni_stop_here(void) {
    const tni_block *b = tni_this_thread.block;
    if (tni_this_thread.stop) return tni_this_thread.stop;
    return b && b->work ? &b->work->stop : NULL;
}
/* Polled between blocks of work, in any thread that works at a call: what is left need not
 * be done. */
TNI_INLINE bool tni_stopped(void) { return tni_stop_seen(tni_stop_here()); }
/* The same at step i of a loop over single elements: it polls once each 65536 of them. */
TNI_INLINE bool tni_stopped_at(int64_t i) { return !(i & 0xffff) && tni_stopped(); }

/* --- CPU, files, time ------------------------------------------------------------------------- */

/* Which vector instruction sets the compiler can make functions for. On x86-64 all of them, the
 * scalar one included, use the FMA instruction, unless TN_NO_FMA asks for libm's fma. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__TINYC__) && !defined(TN_NO_FMA)
#define TNI_X86 1
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__TINYC__)
#define TNI_ARM 1
#elif defined(__wasm_simd128__)
#define TNI_WASM 1
#endif
/* Those that this build has kernels of, by the switches of api/config.h. Where one leaves out the
 * scalar set, the other set still borrows from its text. */
#if defined(TN_ISA_ONLY_AVX2) && defined(TNI_X86) || \
    defined(TN_ISA_ONLY_WASM128) && defined(TNI_WASM)
#define TNI_HAS_SCALAR 0
#else
#define TNI_HAS_SCALAR 1
#endif
#if defined(TNI_X86) && !defined(TN_ISA_ONLY_SCALAR)
#define TNI_HAS_AVX2 1
#else
#define TNI_HAS_AVX2 0
#endif
#if TNI_HAS_AVX2 && TNI_HAS_SCALAR && !defined(TN_NO_AVX512)
#define TNI_HAS_AVX512 1
#else
#define TNI_HAS_AVX512 0
#endif
#if defined(TNI_ARM) && !defined(TN_ISA_ONLY_SCALAR)
#define TNI_HAS_NEON 1
#else
#define TNI_HAS_NEON 0
#endif
#if defined(TNI_WASM) && !defined(TN_ISA_ONLY_SCALAR)
#define TNI_HAS_WASM128 1
#else
#define TNI_HAS_WASM128 0
#endif

enum {
    TNI_ISA_SCALAR = 0,
    TNI_ISA_AVX2,
    TNI_ISA_AVX512,
    TNI_ISA_NEON,
    TNI_ISA_WASM128,
    TNI_ISA_COUNT
};
/* Tables of kernels end behind the last set of this build. */
#if TNI_HAS_WASM128
#define TNI_ISA_END 5
#elif TNI_HAS_NEON
#define TNI_ISA_END 4
#elif TNI_HAS_AVX512
#define TNI_ISA_END 3
#else
#define TNI_ISA_END (1 + TNI_HAS_AVX2)
#endif
/* The best instruction set of this build that this CPU and system run, or the one named (NULL: by
 * $TN_ISA, if set); else -1. */
TN_PRIV int tni_isa_pick(const char *name);
/* Whether the name is that of an instruction set which this build leaves out (NULL: as above). */
TN_PRIV bool tni_isa_left_out(const char *name);
TN_PRIV const char *tni_isa_name(int isa);
TN_PRIV bool tni_cpu_has_fma(void);
/* What an x86 CPU can run that says ecx in leaf 1 and ebx in leaf 7, under a system that saves the
 * registers of xcr0. */
enum { TNI_CPU_FMA = 1, TNI_CPU_AVX2 = 2, TNI_CPU_AVX512 = 4 };
TN_PRIV unsigned tni_cpu_has(uint32_t ecx, uint32_t ebx, uint32_t xcr0);

/* Whole-file reading and atomic writing through the context's table; errors are set with path and
 * reason. A function that fails has closed the file; tni_file_close may be called once more. A path
 * that is no regular file (a pipe, a terminal) is written directly. Reading and writing stop with
 * CANCELLED when the context is asked to. */
typedef struct tni_file {
    tni_block *b;
    int fd;           /* -1: closed */
    const char *path; /* the caller's, for as long as the file is open */
    char *temporary;  /* name written to, renamed to path by tni_file_commit */
    char *memory;     /* read from or written into instead of a file; NULL: a file */
    int64_t at, size;
} tni_file;
/* f over memory instead of a file, to read its bytes or to write as many; `name` is its path in
 * messages. */
TN_PRIV void tni_file_over(tni_block *b, tni_file *f, const char *name, void *memory,
                           int64_t bytes);
TN_PRIV bool tni_file_open(tni_block *b, tni_file *f, const char *path);
/* Whether path leads to something; false with an error where that cannot be told. */
TN_PRIV bool tni_file_exists(tni_block *b, const char *path, bool *exists);
TN_PRIV bool tni_file_read(tni_file *f, void *to,
                           int64_t bytes); /* exactly; a short file is an error */
TN_PRIV bool tni_file_create(tni_block *b, tni_file *f,
                             const char *path); /* a temporary beside path */
TN_PRIV bool tni_file_write(tni_file *f, const void *from, int64_t bytes);
TN_PRIV bool tni_file_commit(tni_file *f);    /* sync, close, rename, sync folder */
TN_PRIV void tni_file_close(tni_file *f);     /* also drops an uncommitted temporary */
TN_PRIV void tni_files_fill(tn_files *files); /* NULL members become the system's */

TN_PRIV double tni_now(tn_context *c); /* seconds */
TN_PRIV double tni_clock(void);        /* the system's, whatever the context has */

/* Bytes of the UTF-8 character at `at` in a text that ends with NUL (1 for that); 0: it is none.
 * Refuses long forms, surrogates, and what is beyond U+10FFFF (RFC 3629). */
TN_PRIV int tni_utf8(const char *at);

/* Profiler: the door brackets calls with these while TNI_HOOK_PROFILE is set. text:
 * arguments, cut. */
TN_PRIV void tni_profile_add(tni_block *b, const char *name, const char *file, int line,
                             const char *text, double begin, double end);
TN_PRIV bool tni_profile_on(tn_context *c);

#endif
