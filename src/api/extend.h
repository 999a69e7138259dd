/* extend.h - for code that builds on the library: module trees, trainers, bindings, own file
 * formats.
 *
 * A program that only calls operators needs nothing of this chapter. All functions work on the
 * calling thread's state. */
#ifndef TNI_API_EXTEND_H
#define TNI_API_EXTEND_H

#include "row.h"

TNI_EXTERN_C_BEGIN

/* --- what is being called, for messages ------------------------------------------------------- */

/* A link of the chain of calls above the operators: a module's forward, an optimizer's step. It
 * lies on the caller's stack. While one is pushed:
 * - errors are placed at the file and line of the outermost link;
 * - a message begins with what the innermost link's `text` writes, and ": " (nothing when that is
 * empty);
 * - the error handler is not called; popping the outermost link calls it when an error is pending.
 */
typedef struct tn_path {
    struct tn_path *caller; /* set by push */
    /* Writes the chain that ends in this link, NUL-terminated; called only where an error is made,
     * so that a call without error pays for two stores. It must not allocate. */
    void (*text)(const struct tn_path *path, char *to, size_t room);
    const char *file;
    int line;
} tn_path;
TN_API void tn_path_push(tn_path *path); /* text, file, line are set by the caller */
TN_API void tn_path_pop(tn_path *path);  /* the innermost link */
TN_API tn_path *tn_path_current(void);   /* NULL outside of all links */

/* Lines of another language: a call whose `line` is negative has its line told by `decode`, only
 * where a text is made of it. For the current context; NULL: none. */
TN_API void tn_lines_on(int (*decode)(const char *file, int line));

/* --- ownership -------------------------------------------------------------------------------- */

/* Ends the scopes above the mark as tn_scope_end, but hands those of the n tensors that belong to
 * one of them to the scope outside of the mark (to the caller, where there is none). Members that
 * are NULL, held, or of an outer scope are left as they are. Cannot fail. */
TN_API void tn_scope_leave(int64_t mark, tn_tensor *const *tensors, int64_t n);

/* Around code of the user in the midst of a call, a hook say: in between tn_scope_end ends only
 * scopes opened since, and after it scopes, modes and the current context are as before it. The n
 * tensors that it has returned are moved out of scopes that it left open. The guard's members are
 * private: only its size is for the caller. */
typedef struct tn_guard {
    tni_block *block;
    uint32_t depth, floor;
    uint16_t inference;
    uint8_t no_grad;
} tn_guard;
TN_API tn_guard tn_guard_begin(void);
TN_API void tn_guard_end(const tn_guard *guard, tn_tensor *const *returned, int64_t n);

/* One more owner of t, whatever scope or caller has it, for code that keeps a tensor that it was
 * given; dropped by tn_release. (tn_hold takes a tensor out of its scope, tn_free takes it out,
 * too: those are its owner's calls.) */
TN_API tn_tensor *tn_retain(tn_tensor *t);    /* returns t; NULL for NULL */
TN_API void tn_release(tn_tensor *t);         /* NULL is fine */
TN_API int64_t tn_owners(const tn_tensor *t); /* scopes, tapes, holders; 0 for NULL */

/* Takes a new tensor out of the scope that holds it, if one does: the caller owns it. Returns t. */
TN_API tn_tensor *tn_own(tn_tensor *t);

/* Gives one count of the caller's to the innermost scope (to nobody, where none is open): what a
 * hook or a function returns that another owner has, too. Returns a tensor to go on with, t but for
 * one of another thread; NULL with MEMORY set. */
TN_API tn_tensor *tn_lend(tn_tensor *t);
TN_API tn_tensor *tn_base_of(const tn_tensor *t); /* of a view, borrowed; NULL: no view */

/* The object by which another language knows t; NULL: none. The tensor does not own it (who frees
 * it says tn_set_binding(t, NULL, NULL) before), unless release is given: then it is called when
 * the tensor goes. The object's address is even. false with MEMORY set, only where release or a
 * hook is there. */
TN_API void *tn_binding(const tn_tensor *t);
TN_API bool tn_set_binding(tn_tensor *t, void *object, void (*release)(void *object));

/* Exchanges what two tensors of the same shape hold: storage, offset, strides, dtype, device.
 * Headers, owners, requires_grad and .grad stay, so whoever has a pointer sees the other's data.
 * Views of them and other tensors on their storage see it, too, where dtype, strides and device are
 * the same; else they stay with the data that they had, and are views of it no more: a recorded
 * write to one is refused. Both versions advance. Neither may be a view or the result of a recorded
 * call: false with an error then (or for a NULL, or shapes that differ), else it cannot fail. */
TN_API bool tn_swap_data_at(const char *file, int line, tn_tensor *a, tn_tensor *b);
#define tn_swap_data(a, b) tn_swap_data_at(__FILE__, __LINE__, a, b)
TN_API bool tnp_swap_data(tn_tensor *a, tn_tensor *b);
/* t holds from now on what `from` holds, shared: storage, shape, strides, dtype, device. Its
 * history, requires_grad and .grad stay, and its views stay with the data that they had. An error
 * for a view, and for integers where t requires grad. */
TN_API bool tn_set_data_at(const char *file, int line, tn_tensor *t, const tn_tensor *from);
#define tn_set_data(t, from) tn_set_data_at(__FILE__, __LINE__, t, from)

/* Calls in between are made though the context is asked to stop: what must happen as a whole. false
 * with CANCELLED when the request stands at the begin; then nothing is begun. They nest. */
TN_API bool tn_whole_begin(void);
TN_API void tn_whole_end(void);
/* Around code of a user's that is called in between: what it calls can be stopped. Returns what
 * tn_whole_resume takes. */
TN_API uint32_t tn_whole_pause(void);
TN_API void tn_whole_resume(uint32_t paused);

/* --- what ends with a context ----------------------------------------------------------------- */

/* Threads or handles of code beside the library that work in a context. tn_context_free calls `end`
 * of those that are still there, newest first, in a thread that uses the context, before anything
 * of it is gone; `end` may add or remove others. The struct lies in its owner's memory. */
typedef struct tn_ending {
    void (*end)(struct tn_ending *e); /* set by the owner; e has been removed */
    struct tn_ending *older, *newer;
    tn_context *context;
} tn_ending;
TN_API bool tn_ending_add(tn_ending *e); /* to the current context */
TN_API void tn_ending_remove(tn_ending *e);

/* --- schemas at run time ---------------------------------------------------------------------- */

/* Tables of a schema text, "Block(int d, float p=0.1) -> ()" or "f(Tensor input, Tensor? mask=None)
 * -> (Tensor out, Tensor weights)": the argument struct is laid out as the generator lays it out.
 * NULL and INVALID with the column when it does not parse. Freed with tn_schema_free. */
TN_API tn_gen *tn_schema_new(const char *schema);
TN_API void tn_schema_free(tn_gen *gen);

/* Fills args (gen->args_size bytes) with the defaults, then with the values, by position or name;
 * lists and strings stay the caller's. false with an error that names `what` and the parameter:
 * unknown, twice, missing, wrong kind. with_defaults false keeps what args holds and asks for no
 * required value. */
TN_API bool tn_bind(const char *file, int line, const char *what, const tn_gen *gen,
                    const tn_value *values, int nvalues, bool with_defaults, void *args);

/* One element of that dtype at `at`. */
TN_API tn_scalar tn_element(const void *at, tn_dtype dtype);

/* --- small things ----------------------------------------------------------------------------- */

/* The next 64 random bits of the stream, as torch's random64: the first 32-bit word is the high
 * half. */
TN_API uint64_t tn_random64(tn_generator *generator);
/* Seconds of the context's clock, from an arbitrary start. */
TN_API double tn_now(void);

TNI_EXTERN_C_END
#endif
