/* context.h - what owns everything: memory, threads, devices, random state, errors.
 *
 * The process has one default context, made at the first call, so a small program never names one.
 * A thread attaches to the context it uses at its first call there and needs no good-bye.
 * Thread-safety: every function here may be called from any thread, but where it says otherwise. */
#ifndef TNI_API_CONTEXT_H
#define TNI_API_CONTEXT_H

#include "types.h"

TNI_EXTERN_C_BEGIN

/* --- memory, files, time, threads: tables that a program (or a test) can replace -------------- */

/* All memory comes from here. `bytes` is given back exactly at free. alloc returns NULL when it has
 * none. Alignment: at least that of malloc; the library aligns its own blocks to 64 bytes. */
typedef struct tn_allocator {
    void *(*alloc)(size_t bytes, void *user);
    void (*free)(void *at, size_t bytes, void *user);
    void *user;
} tn_allocator;

/* File operations, each as POSIX's of that name: -1 and errno on failure. NULL members take the
 * system's. */
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

/* A host's job system. `run` calls task(arg, i) once for each i in 0..count-1, on any threads, and
 * returns when all are done. */
typedef struct tn_jobs {
    void (*run)(void (*task)(void *arg, int64_t i), void *arg, int64_t count, void *user);
    int32_t threads; /* how many run at once; a hint */
    void *user;
} tn_jobs;

typedef struct tn_context_options {
    tn_allocator allocator; /* alloc NULL: malloc and free */
    tn_files files;         /* all NULL: the system's */
    tn_jobs jobs;           /* run NULL: own threads */
    int32_t threads; /* own threads beside the caller's: 0 is the number of cores - 1, -1 is none */
    int64_t memory_cap; /* bytes in use at most, 0: no cap */
    bool no_cache;      /* every block from the allocator: for tests and sanitizers */
    const char *isa; /* "scalar", "avx2", "avx512", "neon"; NULL: $TN_ISA, else the best there is */
    double (*clock)(
        void *); /* seconds, for profiler and progress; NULL: the system's monotonic clock */
    void *clock_user;
} tn_context_options;

typedef struct tn_memory_stats {
    int64_t bytes_used, bytes_peak; /* asked for and not freed */
    int64_t bytes_cached;           /* held for reuse */
    int64_t allocations;            /* calls of the allocator since the context was made */
    int64_t live_tensors;           /* in the calling thread's block and those adopted */
} tn_memory_stats;

/* A new context; NULL when there is no memory. Zero-filled options are the defaults. */
TN_API tn_context *tn_context_new(const tn_context_options *options);
/* Frees every byte and thread of it. Tensors and loaders of it are gone. NULL frees the default
 * context. An error that nobody took reaches the handler. Other threads must not be inside a call
 * of this context. */
TN_API void tn_context_free(tn_context *context);
/* The calling thread's current context, the default one when none was set; NULL only without
 * memory. */
TN_API tn_context *tn_context_current(void);
/* Makes context (NULL: the default one) the calling thread's; returns the one before (NULL: the
 * default). */
TN_API tn_context *tn_context_use(tn_context *context);

TN_API tn_memory_stats tn_memory(void);
TN_API void tn_memory_reset_peak(void);
/* Gives cached blocks back to the allocator; returns the bytes. */
TN_API int64_t tn_memory_trim(void);
/* Memory of the current context for code that lives beside the library; 64-byte aligned,
 * uninitialised; NULL with an error set. Free it with the same size. */
TN_API void *tn_alloc(size_t bytes);
TN_API void tn_alloc_free(void *at, size_t bytes);

/* Threads used by one operator, the caller's included. Results have the same bits for any number.
 */
TN_API bool tn_set_threads(int32_t threads);
TN_API int32_t tn_threads(void);
TN_API const char *tn_isa(void);

/* Asks running operators of the context to stop at their next block of work, and files that are
 * read or written at their next 16 MiB; they fail with TN_CANCELLED and nothing visible has
 * changed. Calls that write what was there before them (in-place forms, out, running statistics,
 * parameters of an optimizer) go on to their end. While the request stands, new calls fail at once.
 * May be called from a signal handler. tn_cancel_clear ends the request. */
TN_API void tn_cancel(tn_context *context);
TN_API void tn_cancel_clear(tn_context *context);

/* --- errors ----------------------------------------------------------------------------------- */

#define TN_ERRORS(X)                           \
    X(OK, "no error")                          \
    X(INVALID, "invalid argument")             \
    X(TYPE, "wrong dtype or kind of argument") \
    X(INDEX, "index out of range")             \
    X(MEMORY, "out of memory")                 \
    X(UNSUPPORTED, "not supported")            \
    X(FILE, "file or input error")             \
    X(FORMAT, "malformed file")                \
    X(CANCELLED, "cancelled")                  \
    X(AUTOGRAD, "autograd error")              \
    X(INTERNAL, "internal error")

typedef enum tn_code {
#define TNI_ENUMERATOR(NAME, text) TN_##NAME,
    TN_ERRORS(TNI_ENUMERATOR)
#undef TNI_ENUMERATOR
        TN_ERROR_COUNT
} tn_code;

/* An error: what, where in the user's program, inside which operators. The texts belong to the
 * thread's block and live until its next error. */
typedef struct tn_error_info {
    tn_code code;
    const char
        *message;     /* operator, arguments with shapes and dtypes, reason, chain, forward line */
    const char *file; /* of the outermost public call; NULL where unknown */
    int line;
} tn_error_info;

typedef void (*tn_error_handler)(const tn_error_info *error, void *user);

/* True while the calling thread has no untaken error in its current context. */
TN_API bool tn_ok(void);
/* Reads the pending error without taking it; false when there is none. */
TN_API bool tn_error_peek(tn_error_info *error);
/* Takes the pending error, so that operators run again; false when there is none. error may be
 * NULL. */
TN_API bool tn_error_take(tn_error_info *error);
/* Writes the pending error to stderr and takes it; false when there was none. */
TN_API bool tn_error_print(void);
/* Sets an error by hand, for code beside the library; an earlier untaken one stays. Returns false.
 */
TN_API bool tn_error_set(tn_code code, const char *file, int line, const char *format, ...)
    TNI_PRINTF(4, 5);
/* Called where an error is set, in the thread that made it; it may longjmp. NULL: none. Per
 * context. */
TN_API void tn_error_on(tn_error_handler handler, void *user);
TN_API const char *tn_code_name(tn_code code);

/* --- profiler --------------------------------------------------------------------------------- */

/* Records every operator call of the context until tn_profile_end, which writes a Chrome trace
 * (chrome://tracing, Perfetto) with name, shapes, user's line, thread, start and duration. */
TN_API bool tn_profile_begin_at(const char *file, int line);
#define tn_profile_begin() tn_profile_begin_at(__FILE__, __LINE__)
TN_API bool tn_profile_end_at(const char *file, int line, const char *path);
#define tn_profile_end(path) tn_profile_end_at(__FILE__, __LINE__, path)

TNI_EXTERN_C_END
#endif
