/* py.h - the CPython module `tensorh._C`: the rows of the library as Python functions, methods and
 * classes.
 *
 * It sees api/ alone, as any program, and Python's limited API of 3.11, so that one build serves
 * every later version. Functions that return PyObject * return a new reference or NULL with a
 * Python exception; those that return int return -1 with one. Everything here holds the GIL but
 * what stands between py_long_begin and py_long_end.
 *
 * What follows from a row (names, arguments, defaults, errors) is never written here: parse.c reads
 * the row's table at run time, so that a new row needs no edit. */
#ifndef TNI_PY_PY_H
#define TNI_PY_PY_H

#include "python.h"

#include "../api/ops.h"
#include "../api/device.h"
#include "../api/plan.h"
#include "../api/vmap.h"
#include "../api/parallel.h"
#include "../api/sparse.h"

#ifdef TNI_OBJECTS
#define PY_PRIV TNI_HIDDEN
#else
#define PY_PRIV static TNI_UNUSED
#endif

/* --- objects ---------------------------------------------------------------------------------- */

/* A tensor's wrapper. It owns one count of t, and t knows it (tn_binding), so that a tensor has one
 * Python object at a time. */
typedef struct py_tensor {
    PyObject_HEAD tn_tensor *t;
    PyObject *dict, *weak; /* attributes and weak references; NULL until there are some */
    struct py_hook *hooks; /* those registered through it that still may run; see wrap.c */
    bool kept;             /* t owns the wrapper, not the wrapper t */
    bool tracked;          /* by the collector */
    int parts;             /* how many of the library's modules have a count of t, too */
} py_tensor;

/* A hook of a tensor and its handle. The tape owns one count of it. */
typedef struct py_hook {
    PyObject_HEAD PyObject *function; /* NULL: removed */
    py_tensor *on;                    /* in whose list it stands; not counted, NULL: none */
    struct py_hook *next;
    const tn_history *history; /* the call on which it hangs, to compare with; NULL: the tensor */
    tn_history *call;          /* whose hook it is until that ends; NULL: a tensor's */
    tn_tensor *seen;           /* the last gradient of a leaf, for a hook behind it; counted */
    int64_t number, sees;      /* sees: of the one that notes seen, 0: none */
    PyObject *weak;
} py_hook;

typedef struct py_dtype {
    PyObject_HEAD tn_dtype dtype;
} py_dtype;

typedef struct py_generator {
    PyObject_HEAD tn_generator *generator;
    tn_device_id device; /* for whose tensors it is meant; TN_NO_DEVICE: the CPU's */
    bool owned;
} py_generator;

/* Classes and interned words, made once at import. The module lives as long as the process. */
typedef struct py_state {
    PyTypeObject *tensor, *parameter, *dtype, *device, *size, *generator, *module, *memory_format;
    PyTypeObject *sparse; /* NULL: tensorh._sparse has not been imported */
    PyObject *dual_text;  /* writes dual tensors; NULL: outside their level */
    /* of a hook, a grad_fn, what it keeps, ctx of a Function */
    PyTypeObject *handle, *node, *saved, *context;
    PyObject *dtypes[TN_DTYPE_COUNT]; /* torch.float32, .. by number */
    PyObject *out, *requires_grad, *layout, *pin_memory, *size_word,
        *memory_format_word; /* keywords of many rows */
    PyObject *self, *input, *x, *a, *x1, *other, *x2, *dim, *axis, *keepdim,
        *keepdims; /* a parameter's other names */
    PyObject *f_back, *forward, *torch_function;
    PyObject *backward, *setup_context, *name_word, *backward_class, *separate;
    PyObject *parameters_, *buffers_, *modules_, *transient_, *training, *hooked, *row, *is_buffer;
    PyObject *sequential_forward;  /* a method of _Module */
    PyObject *no_kwargs, *strided; /* an empty dict; torch.strided */
    int lending[2], turn;          /* see py_lend */
    bool retired;
    bool hooked_all; /* there are hooks of all modules */
    bool planning;   /* a plan of memory asks each call for its line (plan.c) */
    int parallel;    /* models of several ranks: a backward may wait for others (ranks.c) */
} py_state;
#ifdef TNI_OBJECTS
extern TNI_HIDDEN py_state py;
#else
static py_state py;
#endif

TNI_INLINE bool py_is_tensor(PyObject *o) {
    return Py_TYPE(o) == py.tensor || Py_TYPE(o) == py.parameter ||
           PyType_IsSubtype(Py_TYPE(o), py.tensor);
}
TNI_INLINE tn_tensor *py_of(PyObject *o) { return ((py_tensor *)o)->t; }
/* Whether t has elements that the CPU may read: it is no sample of a batch, and on no device. */
TNI_INLINE bool py_on_cpu(const tn_tensor *t) {
    return tn_device_of(t) == TN_CPU && !tn_batch_depth(t);
}

/* --- memory.c --------------------------------------------------------------------------------- */

/* n elements of `size` bytes, zeroed; NULL without an exception if memory is short or the product
 * wraps. py_get_again keeps what stood at `at`, which stays the caller's if it fails. None
 * of the three needs the GIL. */
PY_PRIV void *py_get(size_t n, size_t size);
PY_PRIV void *py_get_again(void *at, size_t n, size_t size);
PY_PRIV void py_give(void *at);
/* For tn_wrap_options.release: user is a Py_buffer from py_get, or a tensor that was kept. */
PY_PRIV void py_own_buffer_end(void *data, void *user);
PY_PRIV void py_own_tensor_end(void *data, void *user);
PY_PRIV bool py_failing_begin(void); /* the allocator of tests, before a context is used */
PY_PRIV PyObject *py_inspect_fail_after(PyObject *self, PyObject *args);

/* --- wrap.c ----------------------------------------------------------------------------------- */

/* The wrapper of t, whose one count it takes over (released when it fails). NULL: an error of the
 * library is pending. */
PY_PRIV PyObject *py_wrap(tn_tensor *t);
PY_PRIV PyObject *py_wrap_as(PyTypeObject *type, tn_tensor *t); /* py.tensor or a subclass */
PY_PRIV PyObject *py_wrap_any(tn_tensor *t);                    /* where t may be sparse */
PY_PRIV PyObject *py_wrap_known(tn_tensor *t, PyObject *known); /* known: tn_binding(t) */
/* The same of a tensor that somebody else owns; None for NULL. */
PY_PRIV PyObject *py_wrap_borrowed(tn_tensor *t);
PY_PRIV void py_tensor_track(py_tensor *p); /* by the collector, from now on */
/* Hooks forget a wrapper that goes, or one hook its wrapper. */
PY_PRIV void py_hooks_part(py_tensor *p);
PY_PRIV void py_hook_unlink(py_hook *h);
PY_PRIV PyObject *py_hook_of_call(tn_history *call, PyObject *function, bool after);
PY_PRIV PyObject *py_hook_of_leaf(tn_tensor *leaf, PyObject *function, bool after);

/* Between the two a call knows tensors by address alone, while Python code may run (__index__, a
 * finalizer, another thread): what wrappers give up meanwhile (x.unsqueeze_(0)) stays until every
 * call that had begun by then has ended. Calls nest; r is passed through. They are counted in
 * turns, two at most: where something is retired, the turn changes as soon as all calls of the one
 * before have ended, so that calls which overlap without end keep nothing for ever. */
PY_PRIV void py_retire(tn_tensor *t);        /* takes the count */
PY_PRIV bool py_retire_memory(tn_tensor *t); /* of t, which is about to get other; or an error */
PY_PRIV bool py_retired_has(const tn_tensor *t);
PY_PRIV void py_retired_release(void);
TNI_INLINE bool py_lending(void) { return (py.lending[0] | py.lending[1]) != 0; }
TNI_INLINE int py_lend(void) { return py.lending[py.turn]++, py.turn; }
TNI_INLINE PyObject *py_lent(int turn, PyObject *r) {
    if (TNI_UNLIKELY(--py.lending[turn] == 0 && py.retired)) py_retired_release();
    return r;
}

/* --- error.c ---------------------------------------------------------------------------------- */

/* words.c: torch's words for an error of the library, with a space behind them, cut to room bytes;
 * empty where there are none. Returns how many bytes; *type becomes torch's class where it is not
 * that of the code. */
PY_PRIV size_t py_words_of(const char *message, char *to, size_t room, PyObject **type);
/* The pending error of the library as an exception, where none is set that came from Python code in
 * between. Returns NULL. */
PY_PRIV PyObject *py_raise(void);
PY_PRIV int py_errors_begin(PyObject *module); /* the classes of codes */
/* The line of Python code that is being run, as a place for the tape: cheap, decoded only where it
 * is shown. NULL and 0 outside of Python code. */
PY_PRIV void py_here(const char **file, int *line);
/* Whether code of the package calls. */
PY_PRIV bool py_here_is_ours(void);
PY_PRIV bool py_lines_begin(const char *package);
PY_PRIV void py_fork_watch(void); /* at import */

/* Around calls that may last: the GIL is released, and Ctrl-C asks the call to stop. */
typedef struct py_long {
    PyThreadState *state;
} py_long;
PY_PRIV py_long py_long_begin(void);
PY_PRIV void py_long_end(py_long l);
/* After a call that failed: true when it was stopped for a signal that is nobody's here, so that it
 * is to be made again. */
PY_PRIV bool py_stopped(void);
PY_PRIV bool py_long_under_way(void); /* in some thread */
/* Around what moves a generator, which threads of Python share. Calls nest. */
PY_PRIV void py_draw_begin(void);
PY_PRIV void py_draw_end(void);
PY_PRIV bool py_draw_start(void);  /* at import */
PY_PRIV void py_draw_forked(void); /* in the child of a fork */
/* Around Python code that C calls in a backward, in any thread: takes the GIL. Where no call that
 * lasts was under way, Ctrl-C stops those that this code makes, though it may not stop the rest. */
typedef struct py_inside {
    PyGILState_STATE state;
    uint32_t paused;
} py_inside;
PY_PRIV py_inside py_inside_begin(void);
PY_PRIV void py_inside_end(py_inside i);
enum { PY_LONG = 1 << 16 }; /* elements from which on a call is thought to last */

/* --- args.c: arguments as Python passes them -------------------------------------------------- */

PY_PRIV PyObject *py_args_tuple(PyObject *const *args, Py_ssize_t n);
PY_PRIV PyObject *py_args_dict(PyObject *const *values, PyObject *kwnames);
/* Arguments by position or name: to[i] is borrowed, NULL where none was given. */
PY_PRIV bool py_take(const char *what, const char *const *names, int n, PyObject *const *args,
                     Py_ssize_t nargs, PyObject *kwnames, PyObject **to);
/* What a dictionary has under a name, borrowed; NULL, with an exception only where that failed. */
PY_PRIV PyObject *py_entry(PyObject *dict, const char *name);

/* --- value.c: Python's objects as arguments --------------------------------------------------- */

/* false: not of that kind, without an exception; an exception only where Python code failed. */
PY_PRIV bool py_to_int(PyObject *o, int64_t *to);      /* int and what has __index__, not bool */
PY_PRIV bool py_to_index(PyObject *o, int64_t *to);    /* the same, and 0-dim integer tensors */
PY_PRIV bool py_to_bound(PyObject *o, int64_t *to);    /* the same, exceptions of __index__ stay */
PY_PRIV bool py_to_float(PyObject *o, double *to);     /* int, float, 0-dim tensors */
PY_PRIV bool py_to_scalar(PyObject *o, tn_scalar *to); /* and bool, complex */
PY_PRIV bool py_to_dtype(PyObject *o, tn_dtype *to);   /* torch.float32, float, int, bool */
PY_PRIV PyObject *py_from_scalar(tn_scalar s);
PY_PRIV PyObject *py_from_element(tn_scalar s, tn_dtype dtype); /* whose uint64 are bits of s */
/* An option as Python's object: numbers, truths, words, texts; NULL without an exception: it is
 * none of these. */
PY_PRIV PyObject *py_param_object(const tn_param *p, const void *args);

/* --- call.c, quick.c, run.c, group.c (parse.c and fault.c: bind.h) ---------------------------- */

/* conj and real of a real tensor; flatten where no dimensions are merged. */
typedef enum py_same_kind { SAME_NEVER, SAME_REAL, SAME_DIMS } py_same_kind;
/* The rows that share a name, in the order in which they are tried. */
typedef struct py_group {
    const char *name; /* "max", "add_" */
    unsigned how;     /* TN_PLAIN, TN_IN_PLACE */
    int nrows;
    bool method; /* its first parameter is `self` */
    /* of row[0], by position: so many arguments it wants, and so many it takes that are tensors,
     * numbers or lists of ints; spread: that many where the last is a list that arguments may be
     * the members of, else 0. most 0: none */
    uint8_t least, most, spread;
    uint8_t same;       /* py_same_kind: when it gives back what it is given, as torch does */
    PyObject *function; /* torch.max; borrowed from the module */
    const tn_row *row[8];
} py_group;
/* A call of the first row that the arguments fit. args[0..nargs-1], then the values of kwnames. */
PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
/* Arguments of what is no operator's row, by the same rules: a module's options, its forward.
 * names: the parameters' names, interned. What is bound lies in `args` until run returns;
 * elements: of the tensors given. */
typedef struct py_signature {
    const char *name;
    const tn_gen *gen;
    PyObject **names;
} py_signature;
typedef PyObject *(*py_bound_run)(void *user, const void *args, int64_t elements);
PY_PRIV PyObject *py_call_bound(const py_signature *s, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames, py_bound_run run, void *user);
/* The same, where nobody is asked about it. */
PY_PRIV PyObject *py_call_plain(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames);
/* The same, of rows alone: what an overload in Python calls. */
PY_PRIV PyObject *py_call_row(const py_group *g, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames);
/* The same of `first` and n more, where all are plain values of exact types that the first row
 * takes by position; *fits: whether that is so. */
PY_PRIV PyObject *py_call_quick(const py_group *g, PyObject *first, PyObject *const *rest,
                                Py_ssize_t n, bool *fits);
enum { PY_QUICK_BYTES = 128, PY_QUICK_INTS = 16 }; /* of its argument struct, of its list */
/* After a call with out= has failed, with its exception set: whether the call succeeded with the
 * tensors of out= in the results' shapes. */
PY_PRIV bool py_resized(const tn_row *row, const void *args, tn_tensor **results);
/* A row with its arguments bound: runs it and makes Python's results. records: whether some
 * argument requires a gradient. */
PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts,
                         bool records);
PY_PRIV bool py_records(const tn_gen *gen, const void *args);
PY_PRIV PyObject *py_results_list(tn_list l);          /* a tuple; takes the list */
PY_PRIV PyObject *py_results_type(const tn_row *row);  /* of several results; borrowed */
PY_PRIV const py_group *py_group_of(const char *name); /* NULL: none */
PY_PRIV int py_groups_begin(PyObject *module);         /* functions and methods of all rows */
PY_PRIV PyObject *py_registered(const char *name);     /* a function of a row registered since */

/* --- plan.c ----------------------------------------------------------------------------------- */

PY_PRIV PyObject *py_plan_begin(PyObject *self, PyObject *unused);
PY_PRIV PyObject *py_plan_end(PyObject *self, PyObject *unused);

/* --- row.c, docs.c, inspect.c ----------------------------------------------------------------- */

PY_PRIV bool py_row_is_method(const tn_row *row); /* of Tensor */
/* Whether the row takes requires_grad, layout and pin_memory, which no schema has: it makes a
 * tensor of numbers, or like another. */
PY_PRIV bool py_row_creates(const tn_gen *gen);
PY_PRIV bool py_row_is_apart(const tn_row *row);       /* it stands in a namespace alone */
PY_PRIV const char *py_row_comment(const tn_row *row); /* "": none */
/* Names of the row below torch, apart by blanks: "special.expit nn.functional.sigmoid"; or NULL. */
PY_PRIV const char *py_row_places(const tn_row *row);

/* Of parameter i what the schema says: its type and its default (value NULL: none). */
typedef struct py_param_text {
    const char *type, *value;
    size_t ntype, nvalue;
} py_param_text;
PY_PRIV bool py_row_param(const tn_row *row, int i, py_param_text *to);
/* A docstring with a signature, which the caller frees; NULL without memory. */
PY_PRIV char *py_docs_of(const py_group *g, bool method);
PY_PRIV PyObject *py_inspect_rows(PyObject *self, PyObject *unused);
PY_PRIV PyObject *py_inspect_memory(PyObject *self, PyObject *unused);
PY_PRIV PyObject *py_inspect_peak(PyObject *self, PyObject *unused);
PY_PRIV PyObject *py_inspect_pending(PyObject *self, PyObject *unused);

/* --- place.c ---------------------------------------------------------------------------------- */

PY_PRIV int py_places_begin(PyObject *module); /* before all that has a place */
PY_PRIV bool py_place(PyObject *module, const char *place, size_t n, PyObject *value);
/* A method or an attribute more for a class that stands. */
PY_PRIV int py_add_methods(PyTypeObject *type, PyMethodDef *methods);
PY_PRIV int py_add_attributes(PyTypeObject *type, PyGetSetDef *attributes);
/* A new class that no program makes instances of, which the module has as `name`. */
PY_PRIV PyTypeObject *py_place_class(PyObject *module, const char *name, const char *full,
                                     size_t bytes, unsigned flags, PyType_Slot *slots);

/* --- autograd.c, hook.c, function.c, node.c --------------------------------------------------- */

PY_PRIV int py_autograd_begin(PyObject *module);
PY_PRIV int py_devices_begin(PyObject *module);
PY_PRIV int py_modes_begin(PyObject *module);
PY_PRIV bool py_mode_inference(void); /* whether inference mode is on */
PY_PRIV int py_vmap_start(PyObject *module);
PY_PRIV int py_sparse_begin(PyObject *module);
PY_PRIV int py_hooks_begin(PyObject *module);
PY_PRIV int py_functions_begin(PyObject *module);
PY_PRIV int py_saved_begin(PyObject *module);
PY_PRIV PyObject *py_saved_of(tn_history *h, const char *name); /* torch's SavedTensor, new */
/* torch's words for what a graph has freed. */
#define PY_TWICE                                                                                  \
    "Trying to backward through the graph a second time (or directly access saved tensors after " \
    "they have already been freed). Saved intermediate values of the graph are freed when you "   \
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "     \
    "through the graph a second time or if you need to access saved tensors after calling "       \
    "backward."
PY_PRIV PyObject *py_saved_gone(void); /* raises torch's error for what was freed; NULL */
PY_PRIV int py_nodes_begin(PyObject *module);
PY_PRIV PyObject *
py_context_of(const tn_history *h); /* of a Function's call, borrowed; NULL: none */
PY_PRIV int py_context_outputs(PyObject *ctx);
PY_PRIV int py_context_result(PyObject *ctx, int i);          /* that output i is; -1: no tensor */
PY_PRIV const tn_history *py_context_history(PyObject *ctx);  /* NULL: before the call has ended */
PY_PRIV PyObject *py_node_of(tn_history *h, tn_tensor *leaf); /* grad_fn; None for neither */

/* --- parameter.c, kind.c, parts.c, mrow.c, module.c, tap.c ------------------------------------ */

enum { MROW_ARGS = 32 }; /* options of a module, arguments of a forward */

/* A kind of built-in module as Python sees it; made once for each row, for the process. */
typedef struct py_kind {
    const tn_mrow *row;
    const char *type;
    tn_gen make; /* the row's, with device before dtype as in torch */
    py_signature making, calling;
    int draws;      /* offset of the row's .draws, a float, among the options; -1: none */
    uint32_t tuple; /* bit k: option k is shown as a tuple of spread[k] numbers, 0: of its own */
    uint8_t spread[MROW_ARGS];
    PyObject *forward; /* the class's method; NULL: none of C */
} py_kind;

/* What is known of a module stands in `dict`, as in torch: _parameters, _buffers, _modules and,
 * of a built-in one, its options. `made` is made of that where it is needed, and dropped when
 * an option changes. */
typedef struct py_module {
    PyObject_HEAD PyObject *dict, *weak;
    const py_kind *kind; /* NULL: a user's class */
    tn_module *made;
    PyObject *names; /* of the parts of made, a tuple */
    bool direct;     /* its class's forward is one of C */
    bool reshaped;   /* some part has another shape than the options say */
} py_module;

TNI_INLINE bool py_is_module(PyObject *o) {
    return Py_TYPE(o) == py.module || PyType_IsSubtype(Py_TYPE(o), py.module);
}
/* Borrowed: a dictionary in a module's __dict__; NULL, without an exception, when there is none. */
PY_PRIV PyObject *py_module_dict(PyObject *self, PyObject *word);
/* Sets what nn.Module.__init__ sets. */
PY_PRIV int py_module_begin_one(PyObject *self);
PY_PRIV bool py_module_put(PyObject *dict, PyObject *word, PyObject *value); /* takes value */
PY_PRIV int py_parameters_begin(PyObject *module);
PY_PRIV int py_modules_begin(PyObject *module); /* _Module, functions */
PY_PRIV int py_taps_begin(PyObject *module);
/* The kind of a class; NULL, without an exception, when it is a user's. */
PY_PRIV const py_kind *py_kind_of(PyTypeObject *type);
PY_PRIV bool py_kind_has_option(const py_kind *k, PyObject *name);
/* Option i of options as Python's object; NULL without an exception: no attribute shows it. */
PY_PRIV PyObject *py_option(const py_kind *k, int i, const void *options);
TNI_INLINE const void *py_options(const tn_module *made) {
    return (const char *)made + made->gen->options;
}
PY_PRIV PyObject *py_kinds(PyObject *self, PyObject *unused);       /* class names */
PY_PRIV PyObject *py_kind_describe(PyObject *self, PyObject *name); /* what a class is made of */
PY_PRIV void py_mrow_drop(py_module *m);                            /* made */
/* Methods of _Module that a class of a row has as __init__, forward and reset_parameters. */
PY_PRIV PyObject *py_mrow_init(PyObject *self, PyObject *args, PyObject *kwargs);
PY_PRIV PyObject *py_mrow_method(PyObject *self, PyObject *args); /* of a row's class */
PY_PRIV PyObject *py_mrow_forward(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames);
PY_PRIV PyObject *py_mrow_reset(PyObject *self, PyObject *unused);

/* --- override.c ------------------------------------------------------------------------------- */

/* A call where nobody is asked about it: py_call_plain, which call.c hands down. */
typedef PyObject *(*py_plain_call)(const py_group *g, bool method, PyObject *const *args,
                                   Py_ssize_t nargs, PyObject *kwnames);
/* A call through the __torch_function__ of an argument; NotImplemented (a new reference): no
 * argument has a class that asks for calls. Where all keep Tensor's own, `plain` makes the call. */
PY_PRIV PyObject *py_overridden(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames, py_plain_call plain);
/* The same for Tensor's method of that name, where a class has a __torch_function__ of its own. */
PY_PRIV PyObject *py_overridden_method(const char *name, PyObject *const *args, Py_ssize_t n);
/* A result r (taken) of a method of self: of self's class, where that is a subclass. */
PY_PRIV PyObject *py_of_class(PyObject *self, PyObject *r);
PY_PRIV PyObject *py_wrap_alias(PyTypeObject *type, PyObject *o); /* a view of all of it */
PY_PRIV int py_override_begin(PyObject *module);
PY_PRIV int py_convert_begin(PyObject *module);
PY_PRIV int py_dlpack_begin(PyObject *module);
TNI_INLINE bool py_is_exact(PyObject *o) {
    return Py_TYPE(o) == py.tensor || Py_TYPE(o) == py.parameter;
}

/* --- the classes ------------------------------------------------------------------------------ */

/* Slots of the class Tensor; how many. */
PY_PRIV int py_wrap_slots(PyType_Slot *to);
PY_PRIV int py_number_slots(PyType_Slot *to);
PY_PRIV int py_index_slots(PyType_Slot *to);
PY_PRIV int py_create_slots(PyType_Slot *to);
PY_PRIV int py_buffer_slots(PyType_Slot *to);
PY_PRIV int py_tensor_begin(PyObject *module);
PY_PRIV int py_number_begin(PyObject *module);
PY_PRIV int py_types_begin(PyObject *module);
PY_PRIV int py_generators_begin(PyObject *module);
PY_PRIV int py_buffers_begin(PyObject *module);
PY_PRIV int py_create_begin(PyObject *module);
PY_PRIV PyObject *py_device_of(tn_device_id device);
/* The default device that the program has set in this thread; TN_NO_DEVICE: none. */
PY_PRIV tn_device_id py_default_device(void);
/* cuda.c. The device of that number, -1: the thread's current one. false with an exception, which
 * says why it cannot be used. */
PY_PRIV bool py_cuda_device(int index, tn_device_id *to);
PY_PRIV int py_cuda_set(int index); /* the current one; that before, -1 with an exception */
PY_PRIV int py_cuda_begin(PyObject *module);
PY_PRIV int py_stream_begin(PyObject *module); /* stream.c */
/* A name, a torch.device, or a number of CUDA's; false: none of these, without an exception, or
 * with one. */
PY_PRIV bool py_to_device(PyObject *o, tn_device_id *to);
/* What __reduce__ returns: the module's function of that name and one argument, which it takes. */
PY_PRIV PyObject *py_types_reduce(const char *function, PyObject *argument);
PY_PRIV const char *py_format_name(PyObject *format); /* of a memory_format */
PY_PRIV bool py_dtype_is_complex(tn_dtype d);
PY_PRIV bool py_dtype_is_float(tn_dtype d);
PY_PRIV int py_dtype_kind(tn_dtype d); /* of its elements: TN_KIND_BOOL .. TN_KIND_COMPLEX */
extern TNI_HIDDEN tn_print_options py_printing;
/* optim.c, loader.c, files.c: the functions behind tensorh.optim, tensorh.utils.data, and
 * tensorh.serialization with tensorh.safetensors. */
PY_PRIV int py_optim_begin(PyObject *module);
PY_PRIV int py_loader_begin(PyObject *module);
PY_PRIV int py_ranks_begin(PyObject *module);
PY_PRIV int py_files_begin(PyObject *module);
PY_PRIV PyObject *py_from_buffer(PyObject *o, bool may_copy); /* shares it */
/* nested.c: a sequence of numbers, tensors and arrays; lent, NULL with an exception. */
PY_PRIV tn_tensor *py_nested_tensor(PyObject *o, tn_dtype dtype);
PY_PRIV PyObject *py_nested_array(PyObject *o);
PY_PRIV bool py_nested_is_list(PyObject *o);
/* create.c: a list, array or number as an index, and as a value beside a tensor of dtype. */
PY_PRIV PyObject *py_index_tensor(PyObject *o);
PY_PRIV PyObject *py_index_refuse(PyObject *o); /* an exception: o is no index */
PY_PRIV PyObject *py_value_tensor(PyObject *o, tn_dtype dtype);

#endif
