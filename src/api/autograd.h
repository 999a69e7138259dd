/* autograd.h - gradients: leaves, backward, modes, hooks, custom functions, checkpoint, checks.
 *
 * The tape is dynamic: an operator whose input requires a gradient hangs a node on its output. A
 * graph is used by one backward at a time; a second one is refused, not raced. */
#ifndef TNI_API_AUTOGRAD_H
#define TNI_API_AUTOGRAD_H

#include "random.h"

TNI_EXTERN_C_BEGIN

/* Makes a floating or complex tensor without history a leaf that gathers .grad. Returns t; NULL on
 * error. */
TN_API tn_tensor *tn_requires_grad_at(const char *file, int line, tn_tensor *t, bool requires_grad);
#define tn_requires_grad(t) tn_requires_grad_at(__FILE__, __LINE__, t, true)
#define tn_no_requires_grad(t) tn_requires_grad_at(__FILE__, __LINE__, t, false)
TN_API bool tn_needs_grad(const tn_tensor *t); /* torch's x.requires_grad */
TN_API bool tn_is_leaf(const tn_tensor *t);
TN_API const char *tn_grad_fn(const tn_tensor *t); /* name of the operator that made it, or NULL */
TN_API bool tn_is_inference(const tn_tensor *t);   /* made in inference mode, or a view of such */
/* t loses its history and becomes a leaf that does not require grad; an error for a view. */
TN_API bool tn_forget_at(const char *file, int line, tn_tensor *t);
#define tn_forget(t) tn_forget_at(__FILE__, __LINE__, t)
/* The gathered gradient: borrowed, NULL when there is none. */
TN_API tn_tensor *tn_grad_of(const tn_tensor *t);
/* Holds grad; NULL clears. */
TN_API bool tn_set_grad_at(const char *file, int line, tn_tensor *t, tn_tensor *grad);
#define tn_set_grad(t, grad) tn_set_grad_at(__FILE__, __LINE__, t, grad)
TN_API bool tnp_set_grad(tn_tensor *t, tn_tensor *grad);
TN_API void tn_zero_grad(tn_tensor *t); /* drops .grad, as torch's set_to_none */
/* Keeps .grad of a tensor that is no leaf. */
TN_API bool tn_retain_grad_at(const char *file, int line, tn_tensor *t);
#define tn_retain_grad(t) tn_retain_grad_at(__FILE__, __LINE__, t)
TN_API bool tnp_retain_grad(tn_tensor *t);
TN_API bool tn_retains_grad(const tn_tensor *t); /* retained, and no leaf; false for NULL */

/* Grad mode of the calling thread: off, nothing is recorded. Returns the mode before. */
TN_API bool tn_set_grad_mode(bool enabled);
TN_API bool tn_grad_mode(void);
/* Inference mode: as no-grad, and what is made stays out of graphs for good. Such a tensor is an
 * input like any other, but outside of the mode it cannot be saved for backward, nor be written,
 * nor require grad: clone it. A view is what its base is. The two modes nest in any order, each
 * with what its own function returned. */
TN_API bool tn_set_inference_mode(bool enabled);

typedef struct tn_backward_args {
    tn_tensor *gradient; /* seed; NULL: 1 for a one-element tensor */
    tn_tensors inputs;   /* n = 0: all leaves gather .grad; else only these */
    bool retain_graph;   /* keep saved tensors for another backward */
    bool create_graph;   /* record the gradients themselves; keeps the graph, too */
    tn_tensor *t;
} tn_backward_args;
/* Adds the gradients of t to .grad of the leaves. Strong guarantee: on error no .grad has changed.
 * tn_backward(loss);  tn_backward(loss, .retain_graph = true) */
TN_API bool tn_backward_at(const char *file, int line, const tn_backward_args *args);
#ifndef __cplusplus
#define tn_backward(...) TNI_CALL(tn_backward, .t = __VA_ARGS__)
#endif
/* The same from several outputs. seeds: NULL, or one an output (NULL members as above); options:
 * NULL, or those above, of which t and gradient are not read. */
TN_API bool tn_backward_all_at(const char *file, int line, tn_tensors outputs,
                               tn_tensor *const *seeds, const tn_backward_args *options);
#define tn_backward_all(outputs, seeds, options) \
    tn_backward_all_at(__FILE__, __LINE__, outputs, seeds, options)
/* Gradients of outputs with respect to inputs, .grad untouched; grads[i] is new, or NULL for an
 * input that was not used (allow_unused, else an error). seeds: NULL, or one a output (NULL members
 * as in backward). */
typedef struct tn_grads_options {
    tn_tensor *const *seeds;
    bool retain_graph, create_graph, allow_unused;
} tn_grads_options;
TN_API bool tn_grads_at(const char *file, int line, tn_tensors outputs, tn_tensors inputs,
                        tn_tensor **grads, const tn_grads_options *options);
#define tn_grads(outputs, inputs, grads, options) \
    tn_grads_at(__FILE__, __LINE__, outputs, inputs, grads, options)

/* A hook sees the gradient of t before it goes on and may return another (a new tensor of the same
 * dtype), the same, or NULL with an error set to stop backward. Returns a number for
 * tn_hook_remove, 0 on error. A hook may remove itself and others, add others, which run from the
 * next backward on, free tensors, and run backward; one that runs is released when it returns.
 * What it leaves open or changed in its thread, scopes, modes, the current context, is then as it
 * was before.
 * Hooks of a tensor that is written in place stay with the value before; a gradient that it
 * retains is of the value after. */
typedef tn_tensor *(*tn_hook)(tn_tensor *grad, void *user);
TN_API int64_t tn_hook_add_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                              void (*release)(void *user));
#define tn_hook_add(t, ...) tn_hook_add_at(__FILE__, __LINE__, t, __VA_ARGS__)
TN_API int64_t tnp_hook_add(tn_tensor *t, tn_hook hook, void *user, void (*release)(void *user));
TN_API bool tn_hook_remove(tn_tensor *t, int64_t number);
/* A hook that sees the leaf t itself when a backward has changed its .grad: after all leaves have
 * theirs. What it returns is not read; an error stops the hooks that follow, not the gradients. */
TN_API int64_t tn_hook_after_at(const char *file, int line, tn_tensor *t, tn_hook hook, void *user,
                                void (*release)(void *user));
#define tn_hook_after(t, ...) tn_hook_after_at(__FILE__, __LINE__, t, __VA_ARGS__)

/* A function with a gradient of one's own. forward runs without recording and returns outputs (new
 * tensors) through out[0..nout-1]; backward gets the output gradients (NULL: zero) and returns
 * input gradients (new, or NULL for zero), written with operators, so that they can be
 * differentiated again. One that fails returns false with an error set: what it left in out or
 * grad_in is not looked at, and the caller's outputs are NULL. `save` keeps a tensor for backward;
 * saved(i) reads it there. release(user) is called once: when the graph goes, at the end of a call
 * that is not recorded, or that fails. */
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
/* forward has written input i in place: when that is an output, too, the tensor itself gets this
 * call as its history (and its base, where it is a view and output 0). A leaf that requires grad
 * cannot: that is an error behind forward. */
TN_API bool tn_function_written(tn_function *f, int i);

/* Runs `forward` without keeping its graph and again in backward (torch.utils.checkpoint); the
 * random state is restored for the second run. */
typedef tn_tensor *(*tn_checkpoint_fn)(tn_tensor *const *in, int nin, void *user);
TN_API tn_tensor *tn_checkpoint_at(const char *file, int line, tn_checkpoint_fn forward,
                                   tn_tensors in, void *user);
#define tn_checkpoint(forward, in, user) tn_checkpoint_at(__FILE__, __LINE__, forward, in, user)

/* A recorded call as something to look at, torch's grad_fn: borrowed from the tensor that it made,
 * or from a later call; who keeps it holds it. */
typedef struct tni_node tn_history;
TN_API tn_history *tn_history_of(tn_tensor *t);    /* NULL: a leaf */
TN_API tn_history *tn_history_hold(tn_history *h); /* one more owner; returns h */
TN_API void tn_history_drop(tn_history *h);        /* NULL is fine */
/* Whether h made t and has no other owner; false for NULL. */
TN_API bool tn_history_only(const tn_history *h, const tn_tensor *t);
TN_API const char *tn_history_name(const tn_history *h);
/* The name that torch gives the call, cut to the room: "AddBackward0", a custom function's own.
 * Empty for NULL. */
TN_API void tn_history_text(const tn_history *h, char *text, size_t room);
TN_API int tn_history_output(const tn_tensor *t); /* which result of its call t is; 0 for a leaf */
/* Where input i came from: a call and which result of it, or a leaf; both NULL where no gradient
 * goes. false: there is no such input. */
TN_API bool tn_history_input(const tn_history *h, int i, tn_history **call, int *result,
                             tn_tensor **leaf);
/* The user pointer of a function's call whose row has that release; NULL for all else. */
TN_API void *tn_history_user(const tn_history *h, void (*release)(void *user));
/* Whether a backward from t may last: a call of more elements leads to it, or dozens of calls. */
TN_API bool tn_history_lasts(const tn_tensor *t, int64_t elements);

/* Anomaly mode: backward stops at the first gradient with a NaN and names operator, line and shape.
 */
TN_API bool tn_set_anomaly_mode(bool enabled);

/* Compares gradients with Richardson-extrapolated differences in f64 or c128. true when all agree
 * within rtol * max(1, |g|); else false and an error that names input, element and both numbers. */
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
