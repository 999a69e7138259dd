/* autograd.h - gradients: leaves, backward, modes, hooks, custom functions.
 *
 * The tape is dynamic: an operator whose input requires a gradient records a node, which its result
 * keeps. One backward at a time may use a graph; a second one fails with an error.
 *     tn_tensor *w = tn_requires_grad(tn_randn(TN_DIMS(3)));
 *     tn_backward(tn_sum(tn_mul(w, w)));          tn_grad_of(w) is 2 w */
#ifndef TNI_API_AUTOGRAD_H
#define TNI_API_AUTOGRAD_H

#include "random.h"

TNI_EXTERN_C_BEGIN

/* Makes a floating or complex tensor without history a leaf that collects .grad. Returns t; NULL
 * with an error. */
TN_API tn_tensor *tn_requires_grad_at(const char *file, int line, tn_tensor *t, bool requires_grad);
#define tn_requires_grad(t) tn_requires_grad_at(__FILE__, __LINE__, t, true)
#define tn_set_requires_grad(t, requires_grad) \
    tn_requires_grad_at(__FILE__, __LINE__, t, requires_grad)
TN_API bool tn_needs_grad(const tn_tensor *t); /* torch's x.requires_grad */
TN_API bool tn_is_leaf(const tn_tensor *t);
TN_API const char *tn_grad_fn(const tn_tensor *t); /* operator that made t; NULL for a leaf */
TN_API bool tn_is_inference(const tn_tensor *t);   /* made in inference mode, or a view of one */
/* Drops t's history (torch's detach_): t becomes a leaf that requires no grad. False with an error
 * for a view of a tensor that requires grad. */
TN_API bool tn_detach_inplace_at(const char *file, int line, tn_tensor *t);
#define tn_detach_(t) tn_detach_inplace_at(__FILE__, __LINE__, t)
/* t's .grad, borrowed; NULL if there is none. */
TN_API tn_tensor *tn_grad_of(const tn_tensor *t);
/* Sets .grad, as one more owner of grad; NULL clears it. False and INVALID if shape, dtype or
 * device differ, UNSUPPORTED if grad is sparse in another layout than COO. */
TN_API bool tn_set_grad_at(const char *file, int line, tn_tensor *t, tn_tensor *grad);
#define tn_set_grad(t, grad) tn_set_grad_at(__FILE__, __LINE__, t, grad)
TN_API bool tnp_set_grad(tn_tensor *t, tn_tensor *grad);
TN_API void tn_zero_grad(tn_tensor *t); /* drops .grad, like torch's set_to_none */
/* Makes a tensor with history keep its .grad as well. */
TN_API bool tn_retain_grad_at(const char *file, int line, tn_tensor *t);
#define tn_retain_grad(t) tn_retain_grad_at(__FILE__, __LINE__, t)
TN_API bool tnp_retain_grad(tn_tensor *t);
TN_API bool tn_retains_grad(const tn_tensor *t); /* false for a leaf and for NULL */

/* Sets the calling thread's grad mode and returns the one before. While it is off,
 * nothing is recorded. */
TN_API bool tn_set_grad_mode(bool enabled);
TN_API bool tn_grad_mode(void);
/* Sets the calling thread's inference mode and returns the one before. It records nothing, like
 * no-grad, and tensors made in it never join a graph: outside of the mode they are inputs like any
 * other, but cannot be saved for backward, written, or require grad (clone them instead). A view is
 * as its base is. Both modes nest in any order. */
TN_API bool tn_set_inference_mode(bool enabled);

/* Sets the dtype of the calling thread's autocast, TN_BF16 or TN_F16, any other: off, and returns
 * the one before, TN_NO_DTYPE for off. While it is on, products of matrices and convolutions cast
 * f32 inputs to it, and losses, norms of matrices, decompositions and the like cast halves to f32,
 * as torch's autocast: a row's field .autocast says which. tn_set_autocast is that of tensors on
 * the CPU, tn_set_device_autocast that of tensors on any other device. Results have the dtype of
 * the inputs then; gradients have that of the tensors. In place and with .out nothing is cast.
 * Backward computes without it. */
TN_API tn_dtype tn_set_autocast(tn_dtype dtype);
TN_API tn_dtype tn_autocast(void);
TN_API tn_dtype tn_set_device_autocast(tn_dtype dtype);
TN_API tn_dtype tn_device_autocast(void);
/* Casts of f32 leaves that require grad are kept until both are off, so that a weight that is used
 * twice is cast once; after a write to the weight it is cast again. The weights are held as long.
 * tn_set_autocast_cache(false): none is kept from now on; returns what was set before.
 * tn_clear_autocast_cache forgets them. */
TN_API bool tn_set_autocast_cache(bool enabled);
TN_API void tn_clear_autocast_cache(void);

/* Blocks without recording. Like TN_SCOPE they also end at return and goto (gcc, clang, C++), and
 * `break` leaves the block.
 *     tn_no_grad { tn_sub_(w, tn_grad_of(w), .alpha = 0.1); }
 *     tn_inference_mode { y = tn_forward(net, x); } */
#define tn_no_grad TNI_MODE_BLOCK(TNI_JOIN(tni_no_grad_, __LINE__), tn_set_grad_mode, false)
#define tn_inference_mode \
    TNI_MODE_BLOCK(TNI_JOIN(tni_inference_, __LINE__), tn_set_inference_mode, true)

typedef struct tn_backward_args {
    tn_tensor *gradient; /* the gradient of t; NULL: 1, if t has one element */
    tn_tensors inputs;   /* n = 0: all leaves collect .grad; else only these */
    bool retain_graph;   /* keep saved tensors for another backward */
    bool create_graph;   /* record the gradients themselves; also keeps the graph */
    tn_tensor *t;
    TNI_NAMED_OPTIONS
} tn_backward_args;
/* Adds the gradients of t to .grad of the leaves. False with an error, and then no
 * .grad has changed.
 *     tn_backward(loss);     tn_backward(loss, .retain_graph = true); */
TN_API bool tn_backward_at(const char *file, int line, const tn_backward_args *args);
#ifndef __cplusplus
#define tn_backward(...) TNI_CALL(tn_backward, .t = __VA_ARGS__)
#endif
/* The same for several outputs. seeds: NULL, or a gradient for each output (NULL: as above).
 * options: NULL, or as above; its t and gradient are ignored. */
TN_API bool tn_backward_all_at(const char *file, int line, tn_tensors outputs,
                               tn_tensor *const *seeds, const tn_backward_args *options);
#define tn_backward_all(outputs, seeds, ...) \
    tn_backward_all_at(__FILE__, __LINE__, outputs, seeds, __VA_ARGS__)
/* Gradients of outputs with respect to inputs, without a change of .grad. grads[i] is new, or NULL
 * for an unused input (if allow_unused; otherwise that is an error). options may be NULL; seeds as
 * in tn_backward_all. False with an error, and then all of grads are NULL. */
typedef struct tn_grads_options {
    tn_tensor *const *seeds;
    bool retain_graph, create_graph, allow_unused;
} tn_grads_options;
TN_API bool tn_grads_at(const char *file, int line, tn_tensors outputs, tn_tensors inputs,
                        tn_tensor **grads, const tn_grads_options *options);
#define tn_grads(outputs, inputs, grads, ...) \
    tn_grads_at(__FILE__, __LINE__, outputs, inputs, grads, __VA_ARGS__)

/* Adds a hook, which sees the gradient of t before it is passed on. It returns that gradient, a new
 * tensor of the same dtype in its place, or NULL with an error to stop backward.
 *
 * A hook may remove itself and others, add others (they run from the next backward on), free
 * tensors, and run backward. A hook that is removed while it runs is released when it
 * returns. Scopes, modes and the current context that it changed are restored then. If t is
 * written in place, its hooks stay with the value before; a gradient that it retains is that
 * of the value after.
 *
 * Returns a number for tn_hook_remove; 0 with an error. release(user) is called once, when the hook
 * ends; it may be NULL. */
typedef tn_tensor *(*tn_hook)(tn_tensor *grad, void *user);
TN_API int64_t tn_hook_add_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                              void (*release)(void *user));
#define tn_hook_add(t, ...) tn_hook_add_at(__FILE__, __LINE__, t, __VA_ARGS__)
TN_API int64_t tnp_hook_add(tn_tensor *t, tn_hook hook, void *user, void (*release)(void *user));
TN_API bool tn_hook_remove(tn_tensor *t, int64_t number);
/* Adds a hook that gets the leaf t itself after a backward that changed its .grad, once all leaves
 * have theirs. Its result is ignored. An error stops later hooks; the gradients stay. */
TN_API int64_t tn_hook_after_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                                void (*release)(void *user));
#define tn_hook_after(t, ...) tn_hook_after_at(__FILE__, __LINE__, t, __VA_ARGS__)

/* A function with your own gradient (torch's autograd.Function). forward runs without recording and
 * puts new tensors into out[0..nout-1]. backward gets the gradients of the outputs (NULL: zero) and
 * puts those of the inputs into grad_in (new, or NULL for zero); written with operators, they can
 * be differentiated again. In forward tn_function_save keeps a tensor, which tn_function_saved(f,
 * i) returns in backward.
 *
 * A function that fails returns false with an error; what it left in out or grad_in is ignored, and
 * the caller's outputs are NULL. release(user) is called once: when the graph ends, or at the end
 * of a call that failed or was not recorded. */
typedef struct tn_function tn_function; /* a call in progress or on the tape */
typedef struct tn_function_row {
    const char *name;
    int nout;
    bool (*forward)(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out);
    bool (*backward)(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in);
    void (*release)(void *user);
} tn_function_row;
TN_API bool tn_function_call_at(const char *file, int line, const tn_function_row *row,
                                tn_tensors in, void *user, tn_tensor **out);
#define tn_function_call(row, in, user, out) \
    tn_function_call_at(__FILE__, __LINE__, row, in, user, out)
TN_API bool tn_function_save(tn_function *f, tn_tensor *t);
TN_API tn_tensor *tn_function_saved(tn_function *f, int i);
TN_API void *tn_function_user(tn_function *f);
/* Says in forward that input i was written in place. If the input is also an output, this call
 * becomes its history, and that of its base if it is a view and output 0. A written leaf that
 * requires grad is an error after forward. */
TN_API bool tn_function_written(tn_function *f, int i);

/* Hooks of what recorded calls keep for their gradients, for example to keep it on disk or in fewer
 * bits. While they are open in a thread, pack gets each tensor that a call keeps, without its
 * history and as the gradient must see it, once the call has been made; what it returns, NULL with
 * an error, is kept in its place. unpack gives it back when a gradient reads it, which may be
 * several times or never: a tensor of the same shape, NULL with an error. drop(value) ends it; it
 * may be NULL. pack must not write the tensor, nor free or pack what the call keeps: that is an
 * error of AUTOGRAD. The innermost hooks count. A call whose pack fails, fails; what it wrote in
 * place is written. unpack, drop and release(user) may be called in another thread; release is
 * called once. */
typedef struct tn_saved_hooks {
    void *(*pack)(tn_tensor *t, void *user);
    tn_tensor *(*unpack)(void *value, void *user);
    void (*drop)(void *value, void *user);
    void (*release)(void *user);
    void *user;
} tn_saved_hooks;
/* Opens hooks in the calling thread, of which a copy is kept, until tn_saved_hooks_pop. False with
 * an error; release has been called then. */
TN_API bool tn_saved_hooks_push_at(const char *file, int line, const tn_saved_hooks *hooks);
#define tn_saved_hooks_push(hooks) tn_saved_hooks_push_at(__FILE__, __LINE__, hooks)
/* Closes the innermost ones; false if there are none. */
TN_API bool tn_saved_hooks_pop(void);

/* Runs forward without keeping its graph, and again in backward with the same random state
 * (torch.utils.checkpoint): memory for time. Returns its result; NULL with an error. */
typedef tn_tensor *(*tn_checkpoint_fn)(tn_tensor *const *in, int nin, void *user);
TN_API tn_tensor *tn_checkpoint_at(const char *file, int line, tn_checkpoint_fn forward,
                                   tn_tensors in, void *user);
#define tn_checkpoint(forward, in, user) tn_checkpoint_at(__FILE__, __LINE__, forward, in, user)

/* A recorded call, torch's grad_fn, to be inspected. It is borrowed from its result or from a later
 * call; hold it to keep it. */
typedef struct tni_node tn_history;
TN_API tn_history *tn_history_of(tn_tensor *t);    /* NULL for a leaf */
TN_API tn_history *tn_history_hold(tn_history *h); /* one more owner; returns h */
TN_API void tn_history_free(tn_history *h);        /* NULL is allowed */
/* True if h made t and has no other owner; false for NULL. */
TN_API bool tn_history_only(const tn_history *h, const tn_tensor *t);
TN_API const char *tn_history_name(const tn_history *h); /* the row's name */
/* Writes torch's name of the call ("AddBackward0", a custom function's own name), cut to `room`
 * bytes; empty for NULL. */
TN_API void tn_history_text(const tn_history *h, char *text, size_t room);
/* What h keeps for its gradient of the argument or the result of that name ("self", "result"): the
 * tensor with its history, a leaf itself; NULL if it keeps none (tn_history_keeps), or with an
 * error: it was freed, or written in place. */
TN_API tn_tensor *tn_history_saved(tn_history *h, const char *name);
TN_API bool tn_history_keeps(const tn_history *h, const char *name);
/* Packs it by hooks, as if they had been open at the call. False with an error; release has been
 * called then, too. */
TN_API bool tn_history_pack(tn_history *h, const char *name, const tn_saved_hooks *hooks);
/* Adds a hook of h, which sees the gradients of all its results at once in each backward, behind
 * the hooks of the results themselves; with after those that h gives its inputs, beside what came.
 * NULL stands for no gradient. It may put others into grads, of the same shape and dtype: NULL in
 * place of a result's is zero. False with an error stops backward. As for tn_hook_add, it may do
 * what it likes; a number is returned, 0 with an error, and release(user) is called once. */
typedef bool (*tn_history_hook)(tn_tensor **grads, int n, tn_tensor *const *came, int ncame,
                                void *user);
TN_API int64_t tn_history_hook_add(tn_history *h, bool after, tn_history_hook hook, void *user,
                                   void (*release)(void *user));
TN_API bool tn_history_hook_remove(tn_history *h, int64_t number);
/* Which result of its call t is; 0 for a leaf. */
TN_API int tn_history_output(const tn_tensor *t);
/* Where input i came from: a call and the number of its result, or a leaf; both are NULL if the
 * input gets no gradient. False if there is no input i. */
TN_API bool tn_history_input(const tn_history *h, int i, tn_history **call, int *result,
                             tn_tensor **leaf);
/* The user pointer of a custom function whose row has that release; else NULL. */
TN_API void *tn_history_user(const tn_history *h, void (*release)(void *user));
/* True if a backward from t may take long: a call of more elements, or dozens of calls,
 * lead to t. */
TN_API bool tn_history_lasts(const tn_tensor *t, int64_t elements);

/* Sets the current context's anomaly mode and returns the one before. While it is on, backward
 * stops at the first gradient with a NaN and names operator, line and shape. */
TN_API bool tn_set_anomaly_mode(bool enabled);

/* Compares the gradients of fn with Richardson-extrapolated differences; inputs are f64 or
 * complex128. True if all agree within rtol * max(1, |g|) + atol; else false with an error that
 * names input, element and both numbers. tn_gradgradcheck compares second derivatives. options
 * may be NULL. */
typedef bool (*tn_check_fn)(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user);
typedef struct tn_gradcheck_options {
    double step; /* 0: 1e-3 scaled by the element */
    double rtol; /* 0: 1e-6 */
    double atol; /* 0: 1e-8 */
} tn_gradcheck_options;
TN_API bool tn_gradcheck_at(const char *file, int line, tn_check_fn fn, tn_tensors in, void *user,
                            const tn_gradcheck_options *options);
TN_API bool tn_gradgradcheck_at(const char *file, int line, tn_check_fn fn, tn_tensors in,
                                void *user, const tn_gradcheck_options *options);
#define tn_gradcheck(fn, ...) tn_gradcheck_at(__FILE__, __LINE__, fn, __VA_ARGS__)
#define tn_gradgradcheck(fn, ...) tn_gradgradcheck_at(__FILE__, __LINE__, fn, __VA_ARGS__)
TN_API bool tnp_gradcheck(tn_check_fn fn, tn_tensors in, void *user,
                          const tn_gradcheck_options *options);
TN_API bool tnp_gradgradcheck(tn_check_fn fn, tn_tensors in, void *user,
                              const tn_gradcheck_options *options);

TNI_EXTERN_C_END
#endif
