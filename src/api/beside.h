/* beside.h - helpers for bindings: names in messages, calls at exit, uninterruptible calls, time.
 *
 * This chapter knows no tensor. A program that only calls operators does not need it. All functions
 * use the calling thread's state. */
#ifndef TNI_API_BESIDE_H
#define TNI_API_BESIDE_H

#include "context.h"

TNI_EXTERN_C_BEGIN

typedef struct tni_block tni_block; /* a thread in a context */

/* --- the chain of calls, for messages --------------------------------------------------------- */

/* A link of the chain of calls above the operators, such as a module's forward or an optimizer's
 * step. It lies on the caller's stack. While a link is pushed:
 * - errors have the file and line of the outermost link;
 * - a message begins with the text of the innermost link and ": ", unless that text is empty;
 * - the error handler waits: popping the outermost link calls it if an error is pending. */
typedef struct tn_path {
    struct tn_path *caller; /* set by push */
    /* Writes the chain that ends in this link, NUL-terminated. Only errors call it, so a call
     * without one pays for two stores. It must not allocate. */
    void (*text)(const struct tn_path *path, char *to, size_t room);
    const char *file;
    int line;
} tn_path;
TN_API void tn_path_push(tn_path *path); /* the caller has set text, file and line */
TN_API void tn_path_pop(tn_path *path);  /* pops the innermost link */
TN_API tn_path *tn_path_current(void);   /* the innermost link, or NULL */

/* For bindings: sets the current context's function that turns a negative `line` of a call into a
 * line number, when a text needs it. NULL: none. */
TN_API void tn_set_line_decoder(int (*decode)(const char *file, int line));

/* --- changes that belong together ------------------------------------------------------------- */

/* Calls between begin and end ignore requests to stop: for changes that belong together.
 * begin returns false with CANCELLED if a request stands already; then there is nothing to
 * end. They nest. */
TN_API bool tn_whole_begin(void);
TN_API void tn_whole_end(void);
/* Around a user's code inside them, whose calls can be stopped. resume takes
 * what pause returned. */
TN_API uint32_t tn_whole_pause(void);
TN_API void tn_whole_resume(uint32_t paused);

/* --- the end of a context --------------------------------------------------------------------- */

/* Something that must end before its context does, such as a thread of the program. tn_context_free
 * calls `end` of each, newest first, in a thread that uses the context and before it frees
 * anything. `end` may add or remove others. The struct lies in its owner's memory. */
typedef struct tn_ending {
    void (*end)(struct tn_ending *e); /* set by the owner; e is already removed when it runs */
    struct tn_ending *older, *newer;
    tn_context *context;
} tn_ending;
TN_API bool tn_ending_add(tn_ending *e); /* to the current context; false with an error */
TN_API void tn_ending_remove(tn_ending *e);

/* --- text ------------------------------------------------------------------------------------- */

/* vsnprintf, whose numbers have a '.' in any locale. No wide characters, no long double. */
TN_API int tn_text_list(char *to, size_t room, const char *format, va_list list);

/* --- time ------------------------------------------------------------------------------------- */

/* The context's clock in seconds, from an arbitrary start. */
TN_API double tn_now(void);

/* --- private: a call in progress, a thread ---------------------------------------------------- */

/* A request to stop, as seen by one call. */
typedef struct tni_stop {
    const uint32_t *request; /* the context's word; NULL: the call ignores requests */
    uint32_t seen;           /* not 0: a poll has seen a request, so the call fails */
} tni_stop;

/* A public call in progress; an operator's frame begins with it. */
typedef struct tni_work {
    tni_stop stop;
    struct tni_work *caller; /* the thread's call around it; NULL: none */
    const char *file;        /* the user's line; NULL: unknown */
    int line;
} tni_work;

/* What a thread remembers of the library. */
typedef struct tni_tls {
    tni_block *block;
    uint32_t epoch;
    bool guest; /* of a fiber or a host's job: the end of the thread is not its end */
    uint64_t token;
    tn_context *context;       /* chosen by tn_context_use; NULL: the default one */
    uint64_t context_id;       /* of context: another one may come to lie at its address */
    int32_t inside;            /* a task of tni_parallel runs: further calls run serially */
    tni_stop *stop;            /* in a task of another thread's call: that call's; else NULL */
    struct tn_fiber *fiber;    /* that the thread runs as; NULL: as itself */
    const struct tni_tls *own; /* of a guest in a host's job: what the caller waits with */
} tni_tls;

/* --- fibers ----------------------------------------------------------------------------------- */

/* Scopes, modes, the pending error, a recording and the current context belong to a thread. A
 * program that switches stacks within its threads (fibers, coroutines) makes them belong to a fiber
 * by one call after each switch:
 *     tn_fiber mine = {0};                  // once a fiber, in memory that does not move
 *     swap_to(other); tn_fiber_use(&mine);  // this fiber goes on
 * A fiber begins like a new thread and costs as much memory as one. One that never switches inside
 * a scope, a mode block, a recording or a call needs none. A fiber may go on in another thread
 * unless it is inside a call. The members are private and zero at first. */
typedef struct tn_fiber {
    tni_tls other; /* of the fiber; while a thread runs as it: of that thread */
    uint32_t running;
} tn_fiber;
/* The calling thread runs as this fiber from here on (NULL: as itself). False with INVALID if
 * another thread runs as it. */
TN_API bool tn_fiber_use(tn_fiber *fiber);
TN_API tn_fiber *tn_fiber_current(void); /* NULL: the thread itself */
/* What the fiber left open ends as with a thread: its scopes and its error when another thread or
 * fiber takes its memory over. If the calling thread runs as it, it runs as itself then. False with
 * INVALID if another thread runs as it. The struct is zero afterwards. */
TN_API bool tn_fiber_end(tn_fiber *fiber);

TNI_EXTERN_C_END

#endif
