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
TN_API void tn_lines_on(int (*decode)(const char *file, int line));

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

/* --- time ------------------------------------------------------------------------------------- */

/* The context's clock in seconds, from an arbitrary start. */
TN_API double tn_now(void);

/* --- private: a call in progress -------------------------------------------------------------- */

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

TNI_EXTERN_C_END

#endif
