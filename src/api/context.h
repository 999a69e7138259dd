/* context.h - contexts: memory, threads, devices, random state, errors.
 *
 * The process has one default context, made at the first call, so a small program never names one.
 * A thread attaches to a context at its first call there and never has to detach. Any thread may
 * call any function of this chapter, unless its comment says otherwise. */
#ifndef TNI_API_CONTEXT_H
#define TNI_API_CONTEXT_H

#include "types.h"

TNI_EXTERN_C_BEGIN

/* --- memory, files, threads: tables of functions that a program can replace ------------------- */

/* Where all memory comes from, called from any thread. alloc returns memory aligned as malloc's, or
 * NULL if there is none; the library aligns its own blocks to 64 bytes. free gets the same `bytes`
 * as alloc. */
typedef struct tn_allocator {
    void *(*alloc)(size_t bytes, void *user);
    void (*free)(void *at, size_t bytes, void *user);
    void *user;
} tn_allocator;

/* File operations, each like the POSIX function of that name: -1 and errno on failure. A NULL
 * member stands for the system's function. */
typedef struct tn_files {
    int (*open)(const char *path, int flags, int mode, void *user);
    int64_t (*read)(int fd, void *to, size_t bytes, void *user);
    int64_t (*write)(int fd, const void *from, size_t bytes, void *user);
    int64_t (*size)(int fd, void *user);
    int (*sync)(int fd, void *user);
    int (*close)(int fd, void *user);
    int (*rename)(const char *from, const char *to, void *user);
    int (*remove)(const char *path, void *user);
    void *user;
} tn_files;

/* A host's job system. run calls task(arg, i) once for each i in 0..count-1, on any threads, in any
 * order, and returns when all calls have returned. While it waits it may do other work that uses
 * the library, as if in a thread of its own. It is never called from inside a task. */
typedef struct tn_jobs {
    void (*run)(void (*task)(void *arg, int64_t i), void *arg, int64_t count, void *user);
    int32_t threads; /* how many jobs run at once; a hint */
    void *user;
} tn_jobs;

typedef struct tn_context_options {
    tn_allocator allocator; /* alloc NULL: malloc and free */
    tn_files files;         /* all NULL: the system's */
    tn_jobs jobs;           /* run NULL: the library's own threads */
    int32_t threads;        /* own threads beside the caller's; 0: number of cores - 1, -1: none */
    int64_t memory_cap;     /* most bytes in use at a time; 0: no cap */
    bool no_cache;          /* takes every block from the allocator: for tests and sanitizers */
    /* "scalar", "avx2", "avx512", "neon", "wasm128"; NULL: $TN_ISA, else the CPU's best */
    const char *isa;
    /* seconds, for profiler and progress; NULL: the system's monotonic clock */
    double (*clock)(void *user);
    void *clock_user;
} tn_context_options;

typedef struct tn_memory_stats {
    int64_t bytes_used, bytes_peak; /* in use now; most in use since tn_memory_reset_peak */
    int64_t bytes_cached;           /* kept for reuse */
    int64_t allocations;            /* calls of the allocator since the context was made */
    int64_t live_tensors;           /* made by this thread, or by ended ones whose block it took */
    int64_t bytes_reserved;         /* what is left of tn_memory_reserve */
} tn_memory_stats;

/* A new context, which the caller frees; NULL with an error. NULL or zero-filled options
 * are the defaults. */
TN_API tn_context *tn_context_new(const tn_context_options *options);
/* Frees all memory and threads of a context; its tensors and loaders end with it. NULL means the
 * default context. A pending error reaches the handler. No other thread may be inside a call of
 * this context. */
TN_API void tn_context_free(tn_context *context);
/* The calling thread's context: the default one, unless tn_context_use set another. NULL only
 * without memory. */
TN_API tn_context *tn_context_current(void);
/* Sets the calling thread's context (NULL: the default one) and returns the one before (NULL: the
 * default one). */
TN_API tn_context *tn_context_use(tn_context *context);

/* False before the first context was made, and after the last one was freed: what lived in it is no
 * more then, and freeing it does nothing. */
TN_API bool tn_context_exists(void);

/* Memory of the current context. */
TN_API tn_memory_stats tn_memory(void);
TN_API void tn_memory_reset_peak(void);
/* Returns cached blocks to the allocator or the reserve, and what devices keep for reuse to their
 * drivers, for which it waits; the result is their number of bytes. */
TN_API int64_t tn_memory_trim(void);
/* Takes memory from the allocator now, in one block, from which the context is served before it
 * asks the allocator again. Every page is written once, so its first use is no page fault. The
 * block goes back at the context's end. False with MEMORY. A context without a cache (no_cache, or
 * a build with AddressSanitizer) takes nothing. */
TN_API bool tn_memory_reserve_at(const char *file, int line, int64_t bytes);
#define tn_memory_reserve(bytes) tn_memory_reserve_at(__FILE__, __LINE__, bytes)
/* Sets tn_context_options.memory_cap of the current context: 0 is no cap, 1 that the allocator
 * gives nothing more. What is in use stays.
 *     tn_memory_reserve(64 << 20); tn_set_memory_cap(1);     never more than 64 MiB */
TN_API void tn_set_memory_cap(int64_t bytes);

/* A block for code that must not wait for an allocator, such as a frame or an audio callback after
 * its warm-up. The calling thread does not call the context's allocator inside: a call that needs
 * it fails with MEMORY, the user's line and the number of bytes, and has changed nothing. Memory
 * freed inside stays in the cache. Costs nothing while memory comes from the caches, nor outside.
 * A context without a cache (see tn_memory_reserve) refuses nothing.
 *     tn_expect_no_alloc { tn_replay(step); } */
#define tn_expect_no_alloc \
    TNI_MODE_BLOCK(TNI_JOIN(tni_no_alloc_, __LINE__), tn_set_no_alloc_mode, true)
/* Sets this mode for the calling thread and returns the one before. When it ends, a pending error
 * reaches the handler. */
TN_API bool tn_set_no_alloc_mode(bool enabled);

/* Memory of the current context for code that builds on the library: 64-byte aligned,
 * uninitialised; NULL with an error. Free it with the same `bytes`. */
TN_API void *tn_alloc(size_t bytes);
TN_API void tn_alloc_free(void *at, size_t bytes);

/* How many threads work at one operator, the caller included: 1 to 1024, else false and INVALID.
 * Results have the same bits for any number. */
TN_API bool tn_set_threads(int32_t threads);
TN_API int32_t tn_threads(void);
/* The instruction set in use, as tn_context_options.isa names it. */
TN_API const char *tn_isa(void);

/* Asks the running calls of a context to stop: operators at their next block of work, files at
 * their next 16 MiB. They fail with TN_CANCELLED and change nothing. Calls that write existing
 * tensors (in-place forms, out, running statistics, an optimizer's step) run to their end. New
 * calls fail until tn_cancel_clear ends the request. A signal handler may call tn_cancel. */
TN_API void tn_cancel(tn_context *context);
TN_API void tn_cancel_clear(tn_context *context);

/* --- errors ----------------------------------------------------------------------------------- */

#define TN_ERRORS(X)                        \
    X(OK, "no error")                       \
    X(INVALID, "invalid argument")          \
    X(TYPE, "wrong dtype or argument type") \
    X(INDEX, "index out of range")          \
    X(MEMORY, "out of memory")              \
    X(UNSUPPORTED, "not supported")         \
    X(FILE, "file or input error")          \
    X(FORMAT, "malformed file")             \
    X(CANCELLED, "cancelled")               \
    X(AUTOGRAD, "autograd error")           \
    X(LINALG, "linear algebra error")       \
    X(INTERNAL, "internal error")           \
    X(WARNING, "warning")

typedef enum tn_code {
#define TNI_ENUMERATOR(NAME, text) TN_##NAME,
    TN_ERRORS(TNI_ENUMERATOR)
#undef TNI_ENUMERATOR
        TN_ERROR_COUNT
} tn_code;

/* An error: what happened, where in the user's program, inside which operators. The texts live
 * until the thread's next error. */
typedef struct tn_error_info {
    tn_code code;
    const char *message; /* reason, operator, arguments with shapes and dtypes, chain of calls */
    const char *file;    /* of the outermost public call; NULL if unknown */
    int line;
} tn_error_info;

typedef void (*tn_error_handler)(const tn_error_info *error, void *user);

/* True if the calling thread has no pending error in its current context. */
TN_API bool tn_ok(void);
/* Reads the pending error and leaves it pending; false if there is none. */
TN_API bool tn_error_peek(tn_error_info *error);
/* Takes the pending error (error may be NULL), after which operators run again; false if there is
 * none.     tn_error_info e; if (tn_error_take(&e)) log_line(e.message); */
TN_API bool tn_error_take(tn_error_info *error);
/* Writes the pending error to stderr and takes it; false if there is none. So it does with a
 * warning that no handler was given, which is no error: the result is that of the error. */
TN_API bool tn_error_print(void);
/* Sets an error, for code that builds on the library; a pending error stays instead. Returns false,
 * so that a function can end with it. Numbers have a '.' in every locale. */
TN_API bool tn_error_set(tn_code code, const char *file, int line, const char *format, ...)
    TNI_PRINTF(4, 5);
TN_API bool tn_error_set_list(tn_code code, const char *file, int line, const char *format,
                              va_list list);
/* Sets the current context's handler (NULL: none). It is called in the thread that makes an error,
 * at the end of the failed call, and may longjmp. */
TN_API void tn_set_error_handler(tn_error_handler handler, void *user);

/* A warning has the code TN_WARNING and makes nothing fail: tn_ok, tn_error_peek and tn_error_take
 * do not see it. The handler gets it at the beginning of the thread's next outermost call, where it
 * may longjmp as well. Without a handler it waits for tn_error_print or this function, which takes
 * the calling thread's warning; false if there is none. There is one warning: of a loop without
 * TN_SCOPE, once a context. "100000 tensors outside of TN_SCOPE are alive, the last made at
 * train.c:12: a loop without TN_SCOPE?" */
TN_API bool tn_warning_take(tn_error_info *warning);
/* From how many tensors on, alive in one thread and in no scope, the current context warns. 0: the
 * default, 100,000; -1: never. A tenth of that is enough once 4 GiB are in use. A context that has
 * warned may warn once more. */
TN_API void tn_set_unscoped_warning(int64_t tensors);
TN_API const char *tn_code_name(tn_code code); /* "invalid argument" */

/* --- profiler --------------------------------------------------------------------------------- */

/* Records every operator call of the current context until tn_profile_end, which writes a Chrome
 * trace (chrome://tracing, Perfetto) to path: name, shapes, user's line, thread, start, duration.
 * False with an error. */
TN_API bool tn_profile_begin_at(const char *file, int line);
#define tn_profile_begin() tn_profile_begin_at(__FILE__, __LINE__)
TN_API bool tn_profile_end_at(const char *file, int line, const char *path);
#define tn_profile_end(path) tn_profile_end_at(__FILE__, __LINE__, path)

TNI_EXTERN_C_END
#endif
