
/* src/tensor_py.c - the CPython module tensorh._C, in one file on tensor.h and tensor_nn.h, which it compiles in */
/* tensor_py.c - the CPython module tensorh._C, in one file on tensor.h and tensor_nn.h, which it
 * compiles in. src/tensor_py.c is its root: a new file gets its line here. */

/* src/py/python.h - Python's own headers, which want to be first: the limited API of 3.11 */
/* python.h - Python's own headers, which want to be first: the limited API of 3.11. */

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TNI_OBJECTS
#define TENSOR_STATIC
#define TN_EXPORT
#define TNI_ALL_HOT
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#ifndef TN_NN_HEADER_NAME
#define TN_NN_HEADER_NAME "tensor_nn.h"
#endif
#include TN_NN_HEADER_NAME
#endif


/* src/py/py.h - the CPython module `tensorh._C`: the rows of the library as Python functions, methods and classes */
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

/* A file uses those above it and none below (make check-headers). */

/* src/py/memory.c - the shim's own memory, with sizes that may not wrap, and the allocator of tests */
/* memory.c - the shim's own memory, with sizes that may not wrap, and the allocator of tests. */

/* With TENSORH_TEST_ALLOCATOR set at import the library's memory and the shim's count down here,
 * every block of the library by a call of its own. */
static struct {
    bool on, once;
    long long left; /* until one fails, and all after it unless `once`; -1: none fails */
} py_failing = {false, false, -1};

/* Whether this allocation is to fail. No lock: exact only while one thread allocates. */
static bool py_failing_now(void) {
    if (py_failing.left > 0) {
        py_failing.left--;
        return false;
    }
    if (py_failing.left < 0) return false;
    if (py_failing.once) py_failing.left = -1;
    return true;
}

static void *py_failing_alloc(size_t bytes, void *user) {
    (void)user;
    return py_failing_now() ? NULL : malloc(bytes);
}
static void py_failing_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}

/* Makes a context with the counting allocator the default, if the environment asks for it. */
PY_PRIV bool py_failing_begin(void) {
    const char *asked = getenv("TENSORH_TEST_ALLOCATOR");
    tn_context_options options;
    if (!asked || !*asked) return true;
    memset(&options, 0, sizeof options);
    options.allocator.alloc = py_failing_alloc;
    options.allocator.free = py_failing_free;
    /* no cache: each block of the library is a call of the allocator */
    options.no_cache = true;
    options.threads = -1;
    tn_context *context = tn_context_new(&options);
    if (context) tn_context_use(context);
    py_failing.on = context != NULL;
    return py_failing.on;
}

PY_PRIV void *py_get(size_t n, size_t size) {
    if ((size && n > SIZE_MAX / size) || py_failing_now()) return NULL;
    return calloc(n ? n : 1, size);
}
PY_PRIV void *py_get_again(void *at, size_t n, size_t size) {
    if ((size && n > SIZE_MAX / size) || py_failing_now()) return NULL;
    return realloc(at, n ? n * size : 1);
}
PY_PRIV void py_give(void *at) { free(at); }

/* In any thread: the last tensor over a buffer may end in a backward. */
PY_PRIV void py_own_buffer_end(void *data, void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    PyBuffer_Release((Py_buffer *)user);
    py_give(user);
    PyGILState_Release(state);
}

PY_PRIV void py_own_tensor_end(void *data, void *user) {
    (void)data;
    tn_release((tn_tensor *)user);
}

/* _fail_after(n, once): sets the count and returns the one before. */
PY_PRIV PyObject *py_inspect_fail_after(PyObject *self, PyObject *args) {
    long long left;
    int once = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "L|p", &left, &once)) return NULL;
    if (!py_failing.on)
        return PyErr_Format(PyExc_RuntimeError, "import with TENSORH_TEST_ALLOCATOR=1");
    long long before = py_failing.left;
    py_failing.left = left < 0 ? -1 : left;
    py_failing.once = once != 0;
    return PyLong_FromLongLong(before);
}

/* src/py/draw.c - one thread draws at a time: generators have no lock of their own, and threads of Python share them */
/* draw.c - one thread draws at a time: generators have no lock of their own, and threads of Python
 * share them. */

static struct {
    PyThread_type_lock lock;
    unsigned long owner; /* while depth > 0; both under the GIL */
    int depth;
} py_drawing;

/* With the GIL, which is let go while another thread draws. */
PY_PRIV void py_draw_begin(void) {
    unsigned long here = PyThread_get_thread_ident();
    if (!py_drawing.depth || py_drawing.owner != here) {
        /* without waiting first: nearly always nobody draws */
        if (!PyThread_acquire_lock(py_drawing.lock, NOWAIT_LOCK)) {
            /* the owner needs the GIL to end its call */
            PyThreadState *state = PyEval_SaveThread();
            PyThread_acquire_lock(py_drawing.lock, WAIT_LOCK);
            PyEval_RestoreThread(state);
        }
        py_drawing.owner = here;
    }
    py_drawing.depth++;
}

PY_PRIV void py_draw_end(void) {
    if (--py_drawing.depth == 0) PyThread_release_lock(py_drawing.lock);
}

PY_PRIV bool py_draw_start(void) {
    py_drawing.lock = PyThread_allocate_lock();
    return py_drawing.lock != NULL;
}

/* In the child of a fork: whoever drew in another thread is gone. */
PY_PRIV void py_draw_forked(void) {
    if (py_drawing.depth && py_drawing.owner == PyThread_get_thread_ident()) return;
    /* the old one stays locked by a thread that does not exist here */
    PyThread_type_lock lock = PyThread_allocate_lock();
    if (lock) py_drawing.lock = lock;
    py_drawing.depth = 0;
}

/* src/py/place.c - names below torch: `_spaces` holds {"linalg": {"cholesky": function, ..}, ..}, of rows and of exceptions */
/* place.c - names below torch: `_spaces` holds {"linalg": {"cholesky": function, ..}, ..}, of rows
 * and of exceptions. The package's namespaces (linalg.py, nn/functional.py, ..) look there. */

/* The dictionary of a namespace, borrowed; made at first need. */
static PyObject *py_place_space(PyObject *spaces, const char *name, size_t n) {
    PyObject *key = PyUnicode_FromStringAndSize(name, (Py_ssize_t)n);
    PyObject *space = key ? PyDict_GetItemWithError(spaces, key) : NULL;
    if (key && !space && !PyErr_Occurred() && (space = PyDict_New()) != NULL) {
        if (PyDict_SetItem(spaces, key, space)) Py_CLEAR(space);
        Py_XDECREF(space); /* spaces holds it */
    }
    Py_XDECREF(key);
    return space;
}

/* Puts a value at the n bytes of `place`: "nn.functional.relu". */
PY_PRIV bool py_place(PyObject *module, const char *place, size_t n, PyObject *value) {
    PyObject *all = PyObject_GetAttrString(module, "_spaces"), *space = NULL, *name;
    size_t dot = n;
    bool ok = false;
    /* a place has a dot at least: rows of torch itself have none (docs/rows.md) */
    while (place[--dot] != '.') continue;
    if (all) space = py_place_space(all, place, dot);
    name = space ? PyUnicode_FromStringAndSize(place + dot + 1, (Py_ssize_t)(n - dot - 1)) : NULL;
    if (name) ok = !PyDict_SetItem(space, name, value);
    Py_XDECREF(name);
    Py_XDECREF(all);
    return ok;
}

PY_PRIV int py_places_begin(PyObject *module) {
    PyObject *all = PyDict_New();
    int bad = !all || PyModule_AddObjectRef(module, "_spaces", all);
    Py_XDECREF(all);
    return bad ? -1 : 0;
}

/* --- classes that stand ----------------------------------------------------------------------- */

PY_PRIV int py_add_methods(PyTypeObject *type, PyMethodDef *methods) {
    for (PyMethodDef *m = methods; m->ml_name; m++) {
        /* a heap type without Py_TPFLAGS_IMMUTABLETYPE takes attributes as any class of
         * Python does */
        PyObject *o = PyDescr_NewMethod(type, m);
        int bad = !o || PyObject_SetAttrString((PyObject *)type, m->ml_name, o);
        Py_XDECREF(o);
        if (bad) return -1;
    }
    return 0;
}

PY_PRIV int py_add_attributes(PyTypeObject *type, PyGetSetDef *attributes) {
    for (PyGetSetDef *a = attributes; a->name; a++) {
        PyObject *o = PyDescr_NewGetSet(type, a);
        int bad = !o || PyObject_SetAttrString((PyObject *)type, a->name, o);
        Py_XDECREF(o);
        if (bad) return -1;
    }
    return 0;
}

PY_PRIV PyTypeObject *py_place_class(PyObject *module, const char *name, const char *full,
                                     size_t bytes, unsigned flags, PyType_Slot *slots) {
    /* programs get instances from the library alone: calling the class is a TypeError, or the
     * error of a Py_tp_new that comes first */
    if (slots->slot != Py_tp_new) flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
    PyType_Spec spec = {full, (int)bytes, 0, Py_TPFLAGS_DEFAULT | flags, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* src/py/words.c - torch's words for errors of the library that programs and people look for: they come first, and the library's own text follows with what it knows */
/* words.c - torch's words for errors of the library that programs and people look for: they come
 * first, and the library's own text follows with what it knows. */

#define PY_OVERLAP                                                                       \
    "unsupported operation: more than one element of the written-to tensor refers to a " \
    "single memory location. Please clone() the tensor before performing the operation."
#define PY_SHARED                                                                               \
    "unsupported operation: some elements of the input tensor and the written-to tensor refer " \
    "to a single memory location. Please clone() the tensor before performing the operation."
#define PY_WRITTEN                                                                  \
    "one of the variables needed for gradient computation has been modified by an " \
    "inplace operation"

static const struct {
    const char *ours, *torch; /* part of a message, * any text; what stands before it then */
    bool value;               /* torch raises a ValueError */
} py_words[] = {
    {"was modified in place after the call", PY_WRITTEN, false},
    {"was modified in place after it was saved", PY_WRITTEN, false},
    {"backward ran a second time through a graph whose", PY_TWICE, false},
    {"are read after they were freed", PY_TWICE, false},
    {"was not used in the graph; set allow_unused",
     "One of the differentiated Tensors appears to not have been used in the graph. Set "
     "allow_unused=True if this is the desired behavior.",
     false},
    {" is a view of a leaf that requires grad and must not be written in place",
     "a view of a leaf Variable that requires grad is being used in an in-place operation.", false},
    {" is a leaf that requires grad and must not be written in place",
     "a leaf Variable that requires grad is being used in an in-place operation.", false},
    {"was made in inference mode and must not be written",
     "Inplace update to inference tensor outside InferenceMode is not allowed.", false},
    {"was made in inference mode and cannot be saved for backward",
     "Inference tensors cannot be saved for backward. To work around you can make a clone to get a "
     "normal tensor and use it in autograd.",
     false},
    {"only floating and complex tensors can require grad",
     "only Tensors of floating point and complex dtype can require gradients", false},
    {" overlaps itself; clone it first", PY_OVERLAP, false},
    {" partly overlaps input ", PY_SHARED, false},
    {" is also input * the operator reads while writing", PY_SHARED, false},
    {"out= does not support gradients, but an argument requires grad",
     "functions with out=... arguments don't support automatic differentiation, but one of the "
     "arguments requires grad.",
     false},
    {"cannot be written in place*  in abs(", "In-place abs is not supported for complex tensors.",
     false},
    {"the operator is not defined for bool*  in sub(",
     "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
     "`logical_xor()` operator instead.",
     false},
    {"inferred dtype *  in linspace(", "torch.linspace()", false},
    {"inferred dtype *  in logspace(", "torch.logspace()", false},
    {"size * of dimension * is negative or too large", "Storage size calculation overflowed.",
     false},
    {"self has shape *, but the result has ",
     "The output's shape doesn't match the broadcast shape.", false},
    {": pooling of ", "pooling is not implemented for this dtype.", false},
    {"is larger than the padded input, ", "Output size is too small.", false},
    {"expected sizes of at least 1, except for N",
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input.", false},
    {"kernel_size must have 1 or", "kernel_size must either be a single int, or a tuple of ints.",
     false},
    {"(batch mode) tensor with non-zero dimensions behind",
     "Expected input to have non-zero size for non-batch dimensions.", false},
    {"Input dimension should be at least", NULL, true},
    {"expected a non-empty list of Tensors", NULL, true},
    {"out tensors 0 and 1 overlap*  in aminmax",
     "aminmax(): the `min` and `max` out= tensors must not overlap.", true},
    {"invalid output_size, dim ", NULL, true},
    {"set_data: a tensor is sparse",
     "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
     "tensor type.",
     false},
    {"stride (*) must be from 1*  in conv", "non-positive stride is not supported.", false},
    {"stride (0*) must be from 1", "stride should not be zero.", false},
    {"stride (*) must be from 1", "stride should be greater than zero.", false},
    {"output_size (*) must be from 0",
     "elements of output_size must be greater than or equal to 0.", false},
    {"expected more than 1 value per channel when training", NULL, true},
    {"Expected more than 1 spatial element when training", NULL, true},
    {"requested an output size of", NULL, true},
    {"(N, C) or (C), and at least a class",
     "Expected non-empty vector or matrix with optional 0-dim batch size.", false},
    {"expected the same number*  in triplet_margin_loss", "All inputs should have same dimension.",
     false},
    {"input and target differ in the size of the batch",
     "Expected input batch_size to match target batch_size.", true},
    {", expected a probability in [0, 1]", NULL, true},
};

/* Whether the parts of words, which * divides, stand in message one after the other. */
static bool py_words_in(const char *message, const char *words) {
    for (;;) {
        const size_t n = strcspn(words, "*");
        while (*message && strncmp(message, words, n)) message++;
        if (strncmp(message, words, n)) return false;
        if (!words[n]) return true;
        message += n;
        words += n + 1;
    }
}

PY_PRIV size_t py_words_of(const char *message, char *to, size_t room, PyObject **type) {
    static const char nan[] = "anomaly: the gradient of ", input[] = " for input ";
    to[0] = '\0';
    for (size_t i = 0; i < sizeof py_words / sizeof *py_words; i++)
        if (py_words_in(message, py_words[i].ours)) {
            const size_t n = py_words[i].torch ? strlen(py_words[i].torch) : 0;
            if (py_words[i].value) *type = PyExc_ValueError;
            if (!n) return 0;
            return (size_t)snprintf(to, room, "%s%s", py_words[i].torch,
                                    py_words[i].torch[n - 1] == '.' ? " " : ": ");
        }
    if (strncmp(message, nan, sizeof nan - 1) == 0) {
        const char *name = message + sizeof nan - 1, *end = strstr(name, input);
        if (end)
            return (size_t)snprintf(to, room,
                                    "Function '%.*s' returned nan values in its %dth "
                                    "output. ",
                                    (int)(end - name), name, atoi(end + sizeof input - 1));
    }
    return 0;
}

/* src/py/error.c - the library's errors as Python's exceptions, lines of Python code as places, Ctrl-C */
/* error.c - the library's errors as Python's exceptions, lines of Python code as places, Ctrl-C.
 *
 * The tape keeps for each call a place that costs no search: the code object and the offset of the
 * instruction. It becomes a line only where a text is made of it. */

#if !defined(_WIN32)
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#endif

/* --- exceptions ------------------------------------------------------------------------------- */

/* Whether a function of C is named here: tn_item: .. at the start, tn_reshape(..) further on. */
static bool py_raise_names(const char *message, const char *at) {
    if (strncmp(at, "tn_", 3)) return false;
    if (at == message) return true;
    return at[-1] == ' ' && at[strspn(at, "_abcdefghijklmnopqrstuvwxyz0123456789")] == '(';
}

enum { PY_WORDS = 640, PY_ROW_NAME = 64 }; /* longer names of rows stay as they are */

/* Whether a row is named here: "in max_dim(..", "called by cross_entropy", "forward call: mul". */
static bool py_raise_calls(const char *message, const char *at) {
    static const char *const before[] = {"\n  in ", ", called by ",
                                         "\n  forward call: ", "the gradient of "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const size_t n = strlen(before[i]);
        if ((size_t)(at - message) >= n && !memcmp(at - n, before[i], n)) return true;
    }
    return false;
}

/* The name of a row, which begins at `from`, as Python spells it: "max" of "max_dim". Returns the
 * end of the row's name. */
static const char *py_raise_row(const char *from, char **to) {
    const size_t n = strspn(from, "_abcdefghijklmnopqrstuvwxyz0123456789");
    char name[PY_ROW_NAME];
    const tn_row *row;
    for (size_t k = n; k && k + 1 >= n && k < sizeof name; k--) { /* with and without a last _ */
        snprintf(name, sizeof name, "%.*s", (int)k, from);
        if (!(row = tn_row_named(name))) continue;
        const size_t length = strcspn(row->schema, ".(");
        if (length >= sizeof name) return from;
        memcpy(*to, row->schema, length);
        *to += length;
        return from + (row->schema[length - 1] == '_' ? n : k);
    }
    return from;
}

/* Messages in torch's words, which call dtypes by another name: Float is float32. */
static bool py_raise_is_typed(const char *message) {
    static const char *const said[] = {
        "t be cast to the desired output type", "scalar type", "must have the same dtype, got",
        "Index put requires the source",        "same dtype",  "same dtypes but"};
    const char *line = strchr(message, '\n');
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *at = strstr(message, said[i]);
        if (at && (!line || at < line)) return true;
    }
    return false;
}

/* The dtype whose name begins at `from`, as torch calls it. Returns the end of the name. */
static const char *py_raise_dtype(const char *from, char **to) {
    static const char *const names[][2] = {{"float32", "Float"},
                                           {"float64", "Double"},
                                           {"float16", "Half"},
                                           {"bfloat16", "BFloat16"},
                                           {"complex64", "ComplexFloat"},
                                           {"uint8", "Byte"},
                                           {"complex128", "ComplexDouble"},
                                           {"int64", "Long"},
                                           {"int32", "Int"},
                                           {"int16", "Short"},
                                           {"int8", "Char"},
                                           {"bool", "Bool"}};
    const size_t n = strspn(from, "_abcdefghijklmnopqrstuvwxyz0123456789");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i][0]) != n || memcmp(from, names[i][0], n)) continue;
        *to += snprintf(*to, 16, "%s", names[i][1]);
        return from + n;
    }
    memcpy(*to, from, n);
    *to += n;
    return from + n;
}

/* The message with Python's names of functions, behind torch's words; *type: its class. */
static PyObject *py_raise_text(const char *message, PyObject **type) {
    char words[PY_WORDS], *text, *to;
    const size_t begin = py_words_of(message, words, sizeof words, type);
    bool typed = py_raise_is_typed(message);
    /* room for the longest spelling of each name; that of a dtype is at most a third longer */
    size_t room = begin + strlen(message) * 3 / 2 + 16;
    for (const char *at = message; *at; at++)
        if (py_raise_calls(message, at)) room += PY_ROW_NAME;
    if (!(text = (char *)py_get(room, 1))) return PyErr_NoMemory();
    memcpy(text, words, begin);
    to = text + begin;
    for (const char *from = message; *from; from++) {
        if (typed) from = py_raise_dtype(from, &to);
        if (*from == '\n') typed = false;
        if (py_raise_calls(message, from)) from = py_raise_row(from, &to);
        if (!*from) break;
        if (py_raise_names(message, from))
            from += 2;
        else
            *to++ = *from;
    }
    PyObject *o = PyUnicode_DecodeUTF8(text, to - text, "replace");
    py_give(text);
    return o;
}

/* The class of each code: one of Python's, or a new one of this module, as _C.NAME and at a place
 * below torch, a RuntimeError and of `base`. A code without a line is a RuntimeError. */
static struct py_raise_class {
    tn_code code;
    const char *name, *place, *base; /* place NULL: the class is Python's */
    PyObject *type;
} py_raise_classes[] = {
    {TN_INDEX, "IndexError", NULL, NULL, NULL},
    {TN_MEMORY, "OutOfMemoryError", "OutOfMemoryError", "MemoryError", NULL},
    {TN_UNSUPPORTED, "NotImplementedError", NULL, NULL, NULL},
    {TN_FILE, "OSError", NULL, NULL, NULL},
    {TN_CANCELLED, "KeyboardInterrupt", NULL, NULL, NULL},
    {TN_LINALG, "_LinAlgError", "linalg.LinAlgError", "RuntimeError", NULL},
};
enum { RAISE_CLASSES = sizeof py_raise_classes / sizeof *py_raise_classes };

/* The class of a line: Python's, or a new one below it, published as
 * torch.linalg.LinAlgError, say. */
static bool py_raise_make(struct py_raise_class *c, PyObject *module, PyObject *builtins) {
    char name[64];
    c->type = PyObject_GetAttrString(builtins, c->base ? c->base : c->name);
    if (!c->type || !c->place) return c->type != NULL;
    PyObject *base = c->type, *bases = base == PyExc_RuntimeError
                                           ? PyTuple_Pack(1, base)
                                           : PyTuple_Pack(2, base, PyExc_RuntimeError);
    snprintf(name, sizeof name, "torch._C.%s", c->name);
    c->type = bases ? PyErr_NewException(name, bases, NULL) : NULL;
    Py_XDECREF(bases);
    Py_DECREF(base);
    return c->type && !PyModule_AddObjectRef(module, c->name, c->type) &&
           (!strchr(c->place, '.') || py_place(module, c->place, strlen(c->place), c->type));
}

PY_PRIV int py_errors_begin(PyObject *module) {
    PyObject *builtins = PyImport_ImportModule("builtins");
    bool ok = builtins != NULL;
    for (size_t i = 0; ok && i < RAISE_CLASSES; i++)
        ok = py_raise_make(&py_raise_classes[i], module, builtins);
    Py_XDECREF(builtins);
    return ok ? 0 : -1;
}

PY_PRIV PyObject *py_raise(void) {
    tn_error_info info;
    PyObject *type = PyExc_RuntimeError;
    /* a failure without an error would be a fault of this shim: SystemError says so */
    if (!tn_error_take(&info)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an error");
        return NULL;
    }
    if (PyErr_Occurred()) return NULL; /* from a hook, say: the library's error came of it */
    for (size_t i = 0; i < RAISE_CLASSES; i++)
        if (py_raise_classes[i].code == info.code) type = py_raise_classes[i].type;
    PyObject *text = py_raise_text(info.message, &type);
    if (text) PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

/* A code object that was recorded. It stays for the rest of the process, as tape nodes hold `file`.
 * So there are as many as a program has, and no more where it makes code all the time: then sites
 * are files alone, and lines are looked up at once. */
typedef struct py_site {
    PyObject *code; /* counted; NULL: a file */
    bool ours;      /* code of the package, which no user wants to see */
    char file[1];   /* the place's file, NUL-terminated */
} py_site;

enum { SITES_MOST = 1024, SITE_FILES_MOST = 256 };

static struct {
    py_site **at; /* by hash of the code's address; a power of two */
    size_t room, used;
    py_site *last;
    py_site *file[SITE_FILES_MOST];
    int nfiles;
    char package[1024]; /* directory of the package, with a slash at its end */
    int (*instruction)(PyFrameObject *frame); /* its offset; NULL: unknown here */
} py_lines;

/* Where the site of a code object is, or would go: linear probing. */
static size_t py_lines_slot(const PyObject *code) {
    /* the address times 2^64 over the golden ratio (Knuth): low bits are alignment */
    size_t i = (size_t)((uintptr_t)code >> 4) * 11400714819323198485u;
    i ^= i >> 32;
    for (i &= py_lines.room - 1; py_lines.at[i] && py_lines.at[i]->code != code;)
        i = (i + 1) & (py_lines.room - 1);
    return i;
}

/* Twice the room; false without memory, and the table stays as it was. */
static bool py_lines_grow(void) {
    size_t old = py_lines.room, room = old ? 2 * old : 256;
    py_site **before = py_lines.at, **at = (py_site **)py_get(room, sizeof *at);
    if (!at) return false;
    py_lines.at = at;
    py_lines.room = room;
    /* open addressing has no removal, so each site is put in anew */
    for (size_t i = 0; i < old; i++)
        if (before[i]) py_lines.at[py_lines_slot(before[i]->code)] = before[i];
    py_give(before);
    return true;
}

/* A site of a code object, or of a file (code NULL). It is never freed. */
static py_site *py_lines_new(PyObject *code, const char *file) {
    size_t n = strlen(file) + 1;
    py_site *s = (py_site *)py_get(sizeof *s + n, 1);
    if (!s) return NULL;
    /* counted for good, so that its address is never that of another code object */
    s->code = Py_XNewRef(code);
    memcpy(s->file, file, n);
    s->ours = py_lines.package[0] && !strncmp(file, py_lines.package, strlen(py_lines.package));
    return s;
}

/* The site of a file; NULL without room for one more. */
static py_site *py_lines_file(const char *file) {
    for (int i = py_lines.nfiles; i--;)
        if (!strcmp(py_lines.file[i]->file, file)) return py_lines.file[i];
    py_site *s = py_lines.nfiles < SITE_FILES_MOST ? py_lines_new(NULL, file) : NULL;
    return s ? py_lines.file[py_lines.nfiles++] = s : NULL;
}

/* A site for a code object that has none yet; NULL: no memory, and no exception. */
static py_site *py_lines_add(PyObject *code) {
    PyObject *name = PyObject_GetAttrString(code, "co_filename");
    const char *file = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    py_site *s = NULL;
    if (file && py_lines.used >= SITES_MOST)
        s = py_lines_file(file);
    else if (file && (2 * py_lines.used < py_lines.room || py_lines_grow()) &&
             (s = py_lines_new(code, file)) != NULL)
        py_lines.at[py_lines_slot(code)] = s, py_lines.used++;
    Py_XDECREF(name);
    /* a place is for messages: without memory there is none, and no exception */
    PyErr_Clear();
    return s;
}

/* The site of a code object, made at first need. */
static py_site *py_lines_site(PyObject *code) {
    /* a loop calls from one code object again and again */
    if (py_lines.last && py_lines.last->code == code) return py_lines.last;
    py_site *s = py_lines.room ? py_lines.at[py_lines_slot(code)] : NULL;
    if (!s) s = py_lines_add(code);
    if (s && s->code) py_lines.last = s;
    return s;
}

/* The line for the tape: an instruction of a code object that stays, or the line itself. */
static int py_lines_number(const py_site *s, PyFrameObject *frame) {
    /* -1 is no place, so instruction k is -2 - k; units of two bytes */
    if (s->code && py_lines.instruction) return -2 - py_lines.instruction(frame) / 2;
    int line = PyFrame_GetLineNumber(frame);
    return line < 0 ? 0 : line;
}

PY_PRIV void py_here(const char **file, int *line) {
    /* borrowed in the limited API, so held while its f_back are walked */
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    *file = NULL;
    *line = 0;
    Py_XINCREF(frame);
    while (frame && frame != Py_None) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *next;
        py_site *s = code ? py_lines_site(code) : NULL;
        Py_XDECREF(code);
        /* the first frame outside of the package is the user's line */
        if (s && !s->ours) {
            *file = s->file;
            *line = py_lines_number(s, (PyFrameObject *)frame);
            break;
        }
        next = PyObject_GetAttr(frame, py.f_back);
        if (!next) PyErr_Clear();
        Py_DECREF(frame);
        frame = next;
    }
    Py_XDECREF(frame);
}

PY_PRIV bool py_here_is_ours(void) {
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *code = frame ? (PyObject *)PyFrame_GetCode((PyFrameObject *)frame) : NULL;
    const py_site *s = code ? py_lines_site(code) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(frame);
    return s && s->ours;
}

/* The line of an instruction: code.co_lines() gives (first, end, line) by offset. */
static int py_lines_of_code(PyObject *code, long offset) {
    PyObject *all = PyObject_CallMethod(code, "co_lines", NULL), *one;
    int line = 0;
    while (all && !line && (one = PyIter_Next(all)) != NULL) {
        /* a line may be None: code without a source line */
        long part[3] = {0, 0, 0};
        for (Py_ssize_t i = 0; i < 3; i++) {
            PyObject *o = PyTuple_GetItem(one, i);
            if (o && o != Py_None) part[i] = PyLong_AsLong(o);
        }
        if (offset >= part[0] && offset < part[1]) line = (int)part[2];
        Py_DECREF(one);
    }
    Py_XDECREF(all);
    return line;
}

/* A line for an instruction of a place, for the library. In any thread, and with an exception
 * set perhaps, which stays. */
static int py_decode(const char *file, int line) {
    /* `file` is a member of the site, so its address leads to it */
    const py_site *s = (const py_site *)(const void *)(file - offsetof(py_site, file));
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    line = py_lines_of_code(s->code, (-2 - (long)line) * 2);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return line;
}

/* PyFrame_GetLasti is not in the limited API: found in the interpreter where that exports it. */
static void py_lines_find(void) {
#if !defined(_WIN32)
    void *here = dlopen(NULL, RTLD_LAZY), *found = here ? dlsym(here, "PyFrame_GetLasti") : NULL;
    memcpy(&py_lines.instruction, &found, sizeof found);
    if (here) dlclose(here);
#endif
}

PY_PRIV bool py_lines_begin(const char *package) {
    py_lines_find();
    tn_set_line_decoder(py_decode);
    snprintf(py_lines.package, sizeof py_lines.package, "%s", package);
    return true;
}

/* --- calls that last -------------------------------------------------------------------------- */

/* While some call lasts, SIGINT does what it did before, and asks the context to stop. Who is
 * stopped asks Python whether that was meant for it; where not, the call is made again. */
#if !defined(_WIN32)
static struct {
    int calls; /* that last; under the GIL */
    struct sigaction before;
    tn_context *context;
    volatile sig_atomic_t asked;
} py_interrupt;
static __thread int py_interrupt_mine; /* calls of this thread that last */

/* The handler: only what is safe in a signal. tn_cancel sets a flag; then Python's own handler
 * notes the signal. */
static void py_interrupt_seen(int number) {
    py_interrupt.asked = 1;
    tn_cancel(py_interrupt.context);
    if (py_interrupt.before.sa_handler != SIG_DFL && py_interrupt.before.sa_handler != SIG_IGN)
        py_interrupt.before.sa_handler(number);
}

/* A call that lasts begins, with the GIL. The first one watches SIGINT. */
static void py_interrupt_begin(void) {
    struct sigaction now;
    py_interrupt_mine++;
    /* one handler serves all calls that last */
    if (py_interrupt.calls++) return;
    py_interrupt.context = tn_context_current();
    memset(&now, 0, sizeof now);
    now.sa_handler = py_interrupt_seen;
    sigemptyset(&now.sa_mask);
    sigaction(SIGINT, NULL, &py_interrupt.before);
    if (py_interrupt.before.sa_handler == SIG_DFL || py_interrupt.before.sa_handler == SIG_IGN ||
        py_interrupt.before.sa_flags & SA_SIGINFO)
        py_interrupt.context = NULL; /* Python does not watch: leave it as it is */
    else
        sigaction(SIGINT, &now, NULL);
}

/* SIGINT as it was, unless the program has given it another handler meanwhile. */
static void py_interrupt_restore(void) {
    struct sigaction now;
    if (py_interrupt.context && !sigaction(SIGINT, NULL, &now) &&
        now.sa_handler == py_interrupt_seen)
        sigaction(SIGINT, &py_interrupt.before, NULL);
    /* the request was for calls that have ended */
    if (py_interrupt.asked) tn_cancel_clear(py_interrupt.context);
    py_interrupt.asked = 0;
}

static void py_interrupt_end(void) {
    py_interrupt_mine--;
    if (--py_interrupt.calls == 0) py_interrupt_restore();
}

/* In the child of a fork the calls of other threads are gone. */
static void py_forked(void) {
    bool others = py_interrupt.calls > py_interrupt_mine;
    py_interrupt.calls = py_interrupt_mine;
    if (others && !py_interrupt.calls) py_interrupt_restore();
    py_draw_forked();
}
PY_PRIV void py_fork_watch(void) { pthread_atfork(NULL, NULL, py_forked); }
#else
static void py_interrupt_begin(void) {}
static void py_interrupt_end(void) {}
PY_PRIV void py_fork_watch(void) {}
#endif

PY_PRIV py_long py_long_begin(void) {
    py_long l;
    /* with the GIL, which guards its counts */
    py_interrupt_begin();
    l.state = PyEval_SaveThread();
    return l;
}

PY_PRIV void py_long_end(py_long l) {
    PyEval_RestoreThread(l.state);
    py_interrupt_end();
}

PY_PRIV bool py_long_under_way(void) {
#if !defined(_WIN32)
    return py_interrupt.calls != 0;
#else
    return false;
#endif
}

PY_PRIV py_inside py_inside_begin(void) {
    py_inside i;
    i.state = PyGILState_Ensure();
    /* a backward that may not be stopped holds requests back; calls of the hook heed them */
    i.paused = py_long_under_way() ? 0 : tn_whole_pause();
    return i;
}

PY_PRIV void py_inside_end(py_inside i) {
    if (i.paused) tn_whole_resume(i.paused);
    PyGILState_Release(i.state);
}

PY_PRIV bool py_stopped(void) {
    tn_error_info info;
    if (!tn_error_peek(&info) || info.code != TN_CANCELLED || PyErr_Occurred()) return false;
    /* runs Python's handler: KeyboardInterrupt, or a handler of the program's that goes on */
    if (PyErr_CheckSignals()) return false;
    tn_error_take(NULL);
    PyEval_RestoreThread(PyEval_SaveThread()); /* whose call was meant may need the GIL to end */
    return true;
}

/* src/py/args.c - arguments as Python passes them, an array and the names of those behind the positional ones, as a tuple, as a dictionary and by name */
/* args.c - arguments as Python passes them, an array and the names of those behind the positional
 * ones, as a tuple, as a dictionary and by name. Nothing here knows a row or a tensor. */

PY_PRIV PyObject *py_entry(PyObject *dict, const char *name) {
    PyObject *word = PyUnicode_FromString(name);
    /* borrowed, which is safe as long as the caller keeps the dictionary and runs no Python code */
    PyObject *o = word ? PyDict_GetItemWithError(dict, word) : NULL;
    Py_XDECREF(word);
    return o;
}

/* The n arguments as a new tuple, as tp_call and Python functions want them. */
PY_PRIV PyObject *py_args_tuple(PyObject *const *args, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    /* PyTuple_SetItem takes the reference, also when it fails */
    for (Py_ssize_t i = 0; all && i < n; i++) PyTuple_SetItem(all, i, Py_NewRef(args[i]));
    return all;
}

/* The values behind the positional arguments by their names, a new dictionary. */
PY_PRIV PyObject *py_args_dict(PyObject *const *values, PyObject *kwnames) {
    PyObject *all = PyDict_New();
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(kwnames); i++)
        if (PyDict_SetItem(all, PyTuple_GetItem(kwnames, i), values[i])) Py_CLEAR(all);
    return all;
}

PY_PRIV bool py_take(const char *what, const char *const *names, int n, PyObject *const *args,
                     Py_ssize_t nargs, PyObject *kwnames, PyObject **to) {
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    /* messages are those of CPython for functions written in Python */
    if (nargs > n) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments (%zd given)", what, n,
                     nargs);
        return false;
    }
    for (int i = 0; i < n; i++) to[i] = i < nargs ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < nkw; k++) {
        PyObject *name = PyTuple_GetItem(kwnames, k);
        /* names of **words need not be interned, so they are compared as text */
        int i = 0;
        while (i < n && PyUnicode_CompareWithASCIIString(name, names[i]) != 0) i++;
        if (i == n || to[i]) {
            PyErr_Format(PyExc_TypeError,
                         i == n ? "%s() got an unexpected keyword argument '%U'"
                                : "%s() got multiple values for argument '%U'",
                         what, name);
            return false;
        }
        to[i] = args[nargs + k];
    }
    return true;
}

/* src/py/wrap.c - a tensor and its one Python object, the wrapper: its life, the hooks it knows, and tensors that wrappers have given up while a call may still read them */
/* wrap.c - a tensor and its one Python object, the wrapper: its life, the hooks it knows, and
 * tensors that wrappers have given up while a call may still read them.
 *
 * A wrapper without attributes is not tracked by the collector: it can be part of no cycle. One
 * with attributes, or of a subclass, that C code outlives (a gradient, a module's part) goes over
 * to the tensor when Python drops it, and comes back with the next py_wrap. Until then nothing else
 * leads to it: weak references to it have ended, and the collector does not know it. */

/* --- wrappers --------------------------------------------------------------------------------- */

/* Wrappers to be used again. Each keeps a reference to its class and one to itself, which its next
 * user takes over. */
enum { FREE_MOST = 256 };
static struct {
    py_tensor *at[FREE_MOST];
    int n;
} py_free_wrappers;

PY_PRIV PyObject *py_wrap_as(PyTypeObject *type, tn_tensor *t) {
    py_tensor *p;
    if (!t) return py_raise();
    if (type == py.tensor && py_free_wrappers.n) {
        /* its class and its count of itself are as py_tensor_dealloc left them */
        p = py_free_wrappers.at[--py_free_wrappers.n];
    } else if (type == py.tensor) {
        /* made for the collector but not tracked yet: it has no attributes */
        p = PyObject_GC_New(py_tensor, type);
    } else {
        p = (py_tensor *)PyType_GenericAlloc(type, 0); /* tracked: it may have anything */
    }
    /* the count of t is taken in either case */
    if (!p) return tn_release(t), NULL;
    p->t = t;
    p->dict = p->weak = NULL;
    p->hooks = NULL;
    p->kept = false;
    p->parts = 0;
    p->tracked = type != py.tensor;
    /* no release function: the wrapper owns the tensor, not the other way round */
    tn_set_binding(t, p, NULL);
    return (PyObject *)p;
}

PY_PRIV PyObject *py_wrap(tn_tensor *t) { return py_wrap_as(py.tensor, t); }

/* The class of sparse tensors; the import registers it. NULL with an exception. */
static PyTypeObject *py_wrap_sparse(void) {
    PyObject *m = py.sparse ? NULL : PyImport_ImportModule("tensorh._sparse");
    Py_XDECREF(m);
    if (!py.sparse && !PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "tensorh._sparse has no class");
    return py.sparse;
}
PY_PRIV PyObject *py_wrap_any(tn_tensor *t) {
    PyTypeObject *type = py.tensor;
    if (t && tn_sparse_layout(t) != TN_STRIDED && !(type = py_wrap_sparse()))
        return tn_release(t), NULL;
    return py_wrap_as(type, t);
}

PY_PRIV PyObject *py_wrap_borrowed(tn_tensor *t) {
    PyObject *known = t ? (PyObject *)tn_binding(t) : NULL;
    if (known) return py_wrap_known(t, known);
    return t ? py_wrap_any(tn_retain(t)) : Py_NewRef(Py_None);
}

/* --- hooks and their wrapper ------------------------------------------------------------------ */

/* The tape owns a hook: it runs though every wrapper is gone. A hook whose function reaches its own
 * tensor is a cycle that leads through the tape, which the collector cannot see; so the wrapper
 * visits the hooks in place of the tape where nobody else leads to them: when it has the only count
 * of its tensor, and that the only one of the call that made it. A built-in module that has the
 * wrapper among its parameters has a count more, and goes with it. */

PY_PRIV int py_hooks_visit(const py_tensor *p, visitproc visit, void *arg) {
    /* the wrapper's own count, and those of the library's modules that have the wrapper as
     * a part */
    const int64_t own = 1 + (int64_t)p->parts;
    /* while another thread runs a backward, counts change without the GIL */
    if (p->kept || !p->t || tn_owners(p->t) != own || py_long_under_way()) return 0;
    for (py_hook *h = p->hooks; h; h = h->next)
        if (!h->history || tn_history_only(h->history, p->t)) Py_VISIT((PyObject *)h);
    return 0;
}

PY_PRIV void py_hooks_part(py_tensor *p) {
    while (p->hooks) {
        py_hook *h = p->hooks;
        p->hooks = h->next;
        /* the tape still owns h: it runs, and knows no wrapper */
        h->on = NULL;
        h->next = NULL;
    }
}

PY_PRIV void py_hook_unlink(py_hook *h) {
    if (!h->on) return;
    struct py_hook **at = &h->on->hooks;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    h->on = NULL;
    h->next = NULL;
}

/* --- wrappers that C outlives ----------------------------------------------------------------- */

/* Idempotent: the collector must not get an object twice. */
PY_PRIV void py_tensor_track(py_tensor *p) {
    if (p->tracked) return;
    p->tracked = true;
    PyObject_GC_Track((PyObject *)p);
}

/* The tensor owns the wrapper: p->t is borrowed then, and p->kept says so. */
static void py_tensor_binding_release(void *object) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_tensor *p = (py_tensor *)object;
    p->t = NULL;
    Py_DECREF((PyObject *)p);
    PyGILState_Release(state);
}

PY_PRIV PyObject *py_wrap_known(tn_tensor *t, PyObject *known) {
    py_tensor *p = (py_tensor *)known;
    if (!p->kept) return Py_NewRef(known);
    tn_set_binding(t, p, NULL); /* Python owns the wrapper again, with the count it had */
    tn_retain(t);
    p->kept = false;
    py_tensor_track(p);
    return known;
}

/* Gives the wrapper, of which Python has nothing left, to the tensor, if it is worth keeping and
 * somebody else has the tensor. */
static bool py_tensor_keep(py_tensor *p) {
    bool plain =
        Py_TYPE((PyObject *)p) == py.tensor && (!p->dict || !PyDict_Size(p->dict)) && !p->hooks;
    if (plain || !p->t || tn_owners(p->t) < 2) return false;
    if (!tn_set_binding(p->t, p, py_tensor_binding_release)) return tn_error_take(NULL), false;
    /* from refcount 0 back to 1, the tensor's: nothing of the wrapper has been freed yet */
    Py_INCREF((PyObject *)p);
    p->kept = true;
    p->tracked = false;
    /* the wrapper's count: p->t is borrowed from now on */
    tn_release(p->t);
    return true;
}

/* Ends the weak references to a wrapper of which Python has nothing left. Their callbacks may look
 * at the tensor: they get another wrapper then, and this one has no tensor more. */
static void py_tensor_forget(py_tensor *p) {
    if (p->t) tn_set_binding(p->t, NULL, NULL);
    PyObject_ClearWeakRefs((PyObject *)p);
    if (p->t && !tn_binding(p->t)) {
        tn_set_binding(p->t, p, NULL);
    } else if (p->t) {
        tn_release(p->t);
        p->t = NULL;
    }
}

/* tp_dealloc: the wrapper goes to its tensor (py_tensor_keep), to the free list, or for good. */
static void py_tensor_dealloc(PyObject *self) {
    py_tensor *p = (py_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    tn_tensor *t;
    /* first of all: the collector may not see a half-freed object */
    if (p->tracked || type != py.tensor) PyObject_GC_UnTrack(self);
    if (TNI_UNLIKELY(p->weak != NULL)) py_tensor_forget(p);
    if (TNI_UNLIKELY(p->dict || p->hooks || type != py.tensor) && py_tensor_keep(p)) return;
    if (p->hooks) py_hooks_part(p);
    if ((t = p->t) != NULL) {
        /* before anything that runs Python code: a finalizer finds a tensor without wrapper */
        p->t = NULL;
        tn_set_binding(t, NULL, NULL);
    }
    Py_CLEAR(p->dict);
    if (t) tn_release(t);
    if (TNI_LIKELY(type == py.tensor && py_free_wrappers.n < FREE_MOST)) {
        /* to the free list: one count of itself, and its class keeps the count that it has */
        Py_INCREF(self);
        py_free_wrappers.at[py_free_wrappers.n++] = p;
        return;
    }
    /* limited API: tp_free through its slot; an instance of a heap type has a count of the type */
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* What the collector may follow: the class (since 3.9 instances of heap types visit it),
 * attributes, hooks. */
static int py_tensor_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_tensor *)self)->dict);
    return ((py_tensor *)self)->hooks ? py_hooks_visit((py_tensor *)self, visit, arg) : 0;
}

/* Breaks a cycle: attributes alone, as hooks belong to the tape. */
static int py_tensor_clear(PyObject *self) {
    Py_CLEAR(((py_tensor *)self)->dict);
    return 0;
}

/* The first attribute makes the wrapper a possible part of a cycle. */
static int py_tensor_setattr(PyObject *self, PyObject *name, PyObject *value) {
    int bad = PyObject_GenericSetAttr(self, name, value);
    if (((py_tensor *)self)->dict) py_tensor_track((py_tensor *)self);
    return bad;
}

/* --- tensors that wrappers have given up ------------------------------------------------------ */

static struct {
    tn_tensor **at;
    size_t n, room;
} py_retired[2]; /* by the turn in which they were given up */

/* Gives up a count of t: now, or when the calls that may read t have ended. */
PY_PRIV void py_retire(tn_tensor *t) {
    /* no call is under way: nobody can know t by its address alone */
    if (!py_lending()) {
        tn_release(t);
        return;
    }
    if (py_retired[py.turn].n == py_retired[py.turn].room) {
        size_t room = 2 * py_retired[py.turn].room + 16;
        tn_tensor **at = (tn_tensor **)py_get_again(py_retired[py.turn].at, room, sizeof *at);
        if (!at) return; /* it stays for good: nobody may fail here */
        py_retired[py.turn].at = at;
        py_retired[py.turn].room = room;
    }
    py_retired[py.turn].at[py_retired[py.turn].n++] = t;
    py.retired = true;
    /* the other turn has neither calls nor tensors: calls from now on count there, so this one
     * can end */
    if (!py.lending[!py.turn] && !py_retired[!py.turn].n) py.turn = !py.turn;
}

PY_PRIV bool py_retire_memory(tn_tensor *t) {
    /* another header over the same memory keeps it */
    tn_tensor *alias = py_lending() ? tnp_detach(t) : NULL;
    if (alias) py_retire(tn_take(alias));
    return alias || !py_lending();
}

PY_PRIV bool py_retired_has(const tn_tensor *t) {
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < py_retired[turn].n; i++)
            if (py_retired[turn].at[i] == t) return true;
    return false;
}

/* What was retired in the turn before, whose calls have all ended; then that turn comes again. The
 * end of a tensor may run Python code, and this. */
PY_PRIV void py_retired_release(void) {
    for (int before = !py.turn; !py.lending[before]; before = !py.turn) {
        while (py_retired[before].n && py.turn != before)
            tn_release(py_retired[before].at[--py_retired[before].n]);
        if (py.turn == before) continue;
        if (!py_retired[py.turn].n) break;
        py.turn = before;
    }
    py.retired = py_retired[0].n || py_retired[1].n;
}

PY_PRIV int py_wrap_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_tp_dealloc, (void *)py_tensor_dealloc},
                                 {Py_tp_traverse, (void *)py_tensor_traverse},
                                 {Py_tp_clear, (void *)py_tensor_clear},
                                 {Py_tp_setattro, (void *)py_tensor_setattr}};
    memcpy(to, slots, sizeof slots);
    return 4;
}

/* src/py/value.c - Python's numbers, words and types as arguments of a call */
/* value.c - Python's numbers, words and types as arguments of a call. */

/* An exception that a conversion has left says no more than "not of that kind". */
static bool py_value_no(void) {
    PyErr_Clear();
    return false;
}

/* An exact int of 64 bits; an OverflowError otherwise. */
static bool py_value_long(PyObject *o, int64_t *to) {
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    /* -1 alone would be a value: the flag tells */
    if (overflow) {
        PyErr_SetString(PyExc_OverflowError, "int does not fit into 64 bits");
        return false;
    }
    *to = v;
    return true;
}

/* An integer, or what has __index__, whose exceptions stay. */
static bool py_value_index(PyObject *o, int64_t *to) {
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    /* torch takes neither True nor a float as an int; a tensor only where py_to_index is asked */
    if (PyBool_Check(o) || py_is_tensor(o) || PyFloat_Check(o)) return false;
    if (!PyIndex_Check(o)) return false;
    PyObject *i = PyNumber_Index(o);
    bool ok = i && py_value_long(i, to);
    Py_XDECREF(i);
    return ok;
}

/* Of the exceptions of __index__ stay those that do not speak of the argument: too large a number,
 * no memory, Ctrl-C. */
PY_PRIV bool py_to_int(PyObject *o, int64_t *to) {
    if (py_value_index(o, to)) return true;
    bool stays = PyErr_ExceptionMatches(PyExc_OverflowError) ||
                 PyErr_ExceptionMatches(PyExc_MemoryError) ||
                 !PyErr_ExceptionMatches(PyExc_Exception);
    return PyErr_Occurred() && !stays ? py_value_no() : false;
}

/* A tensor of no dimensions and without a graph stands for its number. */
static bool py_value_item(PyObject *o, tn_scalar *to) {
    if (!py_is_tensor(o)) return false;
    const tn_tensor *t = py_of(o);
    if (tn_ndim(t) || tn_needs_grad(t) || tn_device_of(t) == TN_META || tn_batch_depth(t))
        return false;
    *to = tnp_item_scalar(t); /* of a device it waits */
    return tn_ok() || (py_raise(), false);
}

PY_PRIV bool py_to_index(PyObject *o, int64_t *to) {
    tn_scalar s;
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    if (py_value_item(o, &s) && s.kind == TN_KIND_INT) {
        *to = s.integer;
        return true;
    }
    return py_to_int(o, to);
}

PY_PRIV bool py_to_bound(PyObject *o, int64_t *to) {
    tn_scalar s;
    if (py_value_item(o, &s) && s.kind == TN_KIND_INT) {
        *to = s.integer;
        return true;
    }
    return py_value_index(o, to);
}

/* NumPy's bool, which is no bool of Python's. */
static bool py_value_is_truth(PyObject *o) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    /* "bool" or "bool_": its name differs by NumPy's version */
    bool is = text && strncmp(text, "bool", 4) == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return is;
}

PY_PRIV bool py_to_scalar(PyObject *o, tn_scalar *to) {
    /* the exact types first, as most numbers are */
    if (PyFloat_CheckExact(o)) {
        *to = tn_float(PyFloat_AsDouble(o));
        return true;
    }
    if (o == Py_True || o == Py_False) {
        *to = tn_bool(o == Py_True);
        return true;
    }
    if (PyLong_CheckExact(o)) {
        to->kind = TN_KIND_INT;
        to->imaginary = 0;
        if (!py_value_long(o, &to->integer)) return false;
        to->real = (double)to->integer;
        return true;
    }
    if (py_value_item(o, to)) return true;
    /* of several elements, or with a graph */
    if (py_is_tensor(o)) return false;
    if (PyComplex_Check(o)) {
        *to = tn_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
        return true;
    }
    if (PyFloat_Check(o)) {
        *to = tn_float(PyFloat_AsDouble(o));
        return true;
    }
    int64_t i;
    if (PyIndex_Check(o)) return py_to_int(o, &i) ? (*to = tn_int(i), true) : false;
    if (PyUnicode_Check(o) || PySequence_Check(o) || !PyNumber_Check(o)) return false;
    bool truth = py_value_is_truth(o);
    PyObject *f = PyNumber_Float(o); /* NumPy's float32, bool_; o may be gone now */
    if (!f) return py_value_no();
    *to = truth ? tn_bool(PyFloat_AsDouble(f) != 0) : tn_float(PyFloat_AsDouble(f));
    Py_DECREF(f);
    return true;
}

PY_PRIV bool py_to_float(PyObject *o, double *to) {
    tn_scalar s;
    if (PyFloat_CheckExact(o)) {
        *to = PyFloat_AsDouble(o);
        return true;
    }
    if (!py_to_scalar(o, &s) || s.kind == TN_KIND_COMPLEX) return false;
    /* an int beyond 2^53 is rounded, as float(i) */
    *to = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    return true;
}

PY_PRIV bool py_to_dtype(PyObject *o, tn_dtype *to) {
    if (Py_TYPE(o) == py.dtype) {
        *to = ((py_dtype *)o)->dtype;
        if (*to) return true;
        PyErr_Format(PyExc_NotImplementedError,
                     "%R is a name alone: the smallest complex dtype is complex64", o);
        return false;
    }
    /* Python's own classes stand for dtypes: float is float64, as in NumPy */
    if (o == (PyObject *)&PyFloat_Type) {
        *to = TN_F64;
        return true;
    }
    if (o == (PyObject *)&PyLong_Type) {
        *to = TN_I64;
        return true;
    }
    if (o == (PyObject *)&PyBool_Type) {
        *to = TN_BOOL;
        return true;
    }
    if (o == (PyObject *)&PyComplex_Type) {
        *to = TN_C128;
        return true;
    }
    return false;
}

/* A new number of the scalar's kind. */
PY_PRIV PyObject *py_from_scalar(tn_scalar s) {
    switch (s.kind) {
    case TN_KIND_BOOL: return PyBool_FromLong(s.integer != 0);
    case TN_KIND_INT: return PyLong_FromLongLong(s.integer);
    case TN_KIND_COMPLEX: return PyComplex_FromDoubles(s.real, s.imaginary);
    default: return PyFloat_FromDouble(s.real);
    }
}

PY_PRIV PyObject *py_from_element(tn_scalar s, tn_dtype dtype) {
    return dtype == TN_U64 ? PyLong_FromUnsignedLongLong((uint64_t)s.integer) : py_from_scalar(s);
}

PY_PRIV PyObject *py_param_object(const tn_param *p, const void *args) {
    const char *text;
    tn_scalar s;
    if (p->type == TN_T_STRING) {
        memcpy(&text, (const char *)args + p->offset, sizeof text);
        return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
    }
    if (!tn_param_number(p, args, &s) || (TN_TYPES_CODE >> p->type & 1 && !p->words)) return NULL;
    if (s.kind == TN_KIND_NONE) Py_RETURN_NONE;
    if (p->words) return PyUnicode_FromString(p->words[s.integer - 1]);
    if (s.kind == TN_KIND_BOOL) return PyBool_FromLong(s.integer != 0);
    return s.kind == TN_KIND_INT ? PyLong_FromLongLong(s.integer) : PyFloat_FromDouble(s.real);
}

/* src/py/types.c - dtype, Size, memory_format, layout: small classes beside Tensor */
/* types.c - dtype, Size, memory_format, layout: small classes beside Tensor. */

/* --- dtype ------------------------------------------------------------------------------------ */

/* complex32 is a name alone: programs list it among dtypes, and every call refuses it. */
static const char *py_dtype_text(PyObject *self) {
    const tn_dtype d = ((py_dtype *)self)->dtype;
    return d ? tn_dtype_name(d) : "complex32";
}
static PyObject *py_dtype_repr(PyObject *self) {
    return PyUnicode_FromFormat("torch.%s", py_dtype_text(self));
}
static PyObject *py_dtype_itemsize(PyObject *self, void *unused) {
    const tn_dtype d = ((py_dtype *)self)->dtype;
    (void)unused;
    return PyLong_FromLong(d ? tn_dtype_bytes(d) : 4);
}
PY_PRIV bool py_dtype_is_complex(tn_dtype d) { return tni_dtype_kind(d) == 'c'; }
PY_PRIV bool py_dtype_is_float(tn_dtype d) { return tni_dtype_kind(d) == 'f'; }
PY_PRIV int py_dtype_kind(tn_dtype d) {
    switch (tni_dtype_kind(d)) {
    case 'b': return TN_KIND_BOOL;
    case 'f': return TN_KIND_FLOAT;
    case 'c': return TN_KIND_COMPLEX;
    default: return TN_KIND_INT;
    }
}
static PyObject *py_dtype_floating(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(py_dtype_is_float(((py_dtype *)self)->dtype));
}
static PyObject *py_dtype_complex(PyObject *self, void *unused) {
    const tn_dtype d = ((py_dtype *)self)->dtype;
    (void)unused;
    return PyBool_FromLong(!d || py_dtype_is_complex(d));
}
static PyObject *py_dtype_signed(PyObject *self, void *unused) {
    const char kind = tni_dtype_kind(((py_dtype *)self)->dtype);
    (void)unused;
    return PyBool_FromLong(kind != 'b' && kind != 'u');
}
/* Objects of these classes are pickled as a call of a function of _C: their classes are named
 * torch's, where an unpickler would look for them. */
PY_PRIV PyObject *py_types_reduce(const char *function, PyObject *argument) {
    PyObject *module = argument ? PyImport_ImportModule("tensorh._C") : NULL;
    PyObject *f = module ? PyObject_GetAttrString(module, function) : NULL;
    PyObject *r = f ? Py_BuildValue("O(O)", f, argument) : NULL;
    Py_XDECREF(argument);
    Py_XDECREF(module);
    Py_XDECREF(f);
    return r;
}
static PyObject *py_dtype_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_types_reduce("_dtype", PyUnicode_FromString(py_dtype_text(self)));
}
/* _dtype(name): what pickles call. */
static PyObject *py_dtype_named(PyObject *self, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    tn_dtype d = text ? tn_dtype_named(text) : TN_NO_DTYPE;
    (void)self;
    if (d != TN_NO_DTYPE || (text && !strcmp(text, "complex32"))) return Py_NewRef(py.dtypes[d]);
    return PyErr_Occurred() ? NULL
                            : PyErr_Format(PyExc_ValueError, "dtype %R does not exist", name);
}
/* torch.float32.to_complex(): the complex dtype of such parts. */
static PyObject *py_dtype_to_complex(PyObject *self, PyObject *unused) {
    tn_dtype d = ((py_dtype *)self)->dtype;
    (void)unused;
    if (!d || py_dtype_is_complex(d)) return Py_NewRef(self);
    if (d == TN_F32 || d == TN_F64) return Py_NewRef(py.dtypes[d == TN_F32 ? TN_C64 : TN_C128]);
    return PyErr_Format(PyExc_RuntimeError, "Unknown Complex ScalarType for %s", tn_dtype_name(d));
}
/* torch.complex64.to_real(): the dtype of the parts. */
static PyObject *py_dtype_to_real(PyObject *self, PyObject *unused) {
    tn_dtype d = ((py_dtype *)self)->dtype;
    (void)unused;
    if (!d) d = TN_F16;
    return Py_NewRef(py.dtypes[d == TN_C64 ? TN_F32 : d == TN_C128 ? TN_F64 : d]);
}
static PyGetSetDef py_dtype_attributes[] = {
    {"itemsize", py_dtype_itemsize, NULL, "bytes of an element", NULL},
    {"is_floating_point", py_dtype_floating, NULL, NULL, NULL},
    {"is_complex", py_dtype_complex, NULL, NULL, NULL},
    {"is_signed", py_dtype_signed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_dtype_methods[] = {{"__reduce__", py_dtype_reduce, METH_NOARGS, NULL},
                                         {"to_complex", py_dtype_to_complex, METH_NOARGS, NULL},
                                         {"to_real", py_dtype_to_real, METH_NOARGS, NULL},
                                         {NULL, NULL, 0, NULL}};
static PyType_Slot py_dtype_slots[] = {{Py_tp_repr, (void *)py_dtype_repr},
                                       {Py_tp_getset, py_dtype_attributes},
                                       {Py_tp_methods, py_dtype_methods},
                                       {0, NULL}};
static PyType_Spec py_dtype_spec = {"torch.dtype", sizeof(py_dtype), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    py_dtype_slots};

static int py_dtype_begin(PyObject *module) {
#define PY_DTYPE_ALIAS(NAME, text, bytes, kind, alias, ...) #alias,
    static const char *const aliases[] = {"chalf", TN_DTYPES(PY_DTYPE_ALIAS)};
#undef PY_DTYPE_ALIAS
    py.dtype = (PyTypeObject *)PyType_FromSpec(&py_dtype_spec);
    if (!py.dtype || PyModule_AddObjectRef(module, "dtype", (PyObject *)py.dtype)) return -1;
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        /* one object for each dtype and for good: they are compared by identity */
        PyObject *o = PyType_GenericAlloc(py.dtype, 0);
        if (!o) return -1;
        ((py_dtype *)o)->dtype = (tn_dtype)d;
        py.dtypes[d] = o;
        if (PyModule_AddObjectRef(module, py_dtype_text(o), o)) return -1;
        if (*aliases[d] && PyModule_AddObjectRef(module, aliases[d], o)) return -1;
    }
    return 0;
}

/* --- Size ------------------------------------------------------------------------------------- */

/* A tuple (taken) as a Size. */
static PyObject *py_size_from(PyObject *tuple) {
    Py_ssize_t n = tuple ? PyTuple_Size(tuple) : 0;
    PyObject *all = tuple ? PyType_GenericAlloc(py.size, n) : NULL;
    for (Py_ssize_t i = 0; all && i < n; i++)
        PyTuple_SetItem(all, i, Py_NewRef(PyTuple_GetItem(tuple, i)));
    Py_XDECREF(tuple);
    return all;
}
/* A new Size (taken) with what stands for an int as one. */
static PyObject *py_size_of_ints(PyObject *all) {
    int64_t v;
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(all); i++) {
        PyObject *one = PyTuple_GetItem(all, i);
        /* torch.Size([True]) is torch.Size([1]) */
        bool truth = PyBool_Check(one);
        if (PyLong_CheckExact(one)) continue;
        if (truth || py_to_index(one, &v)) {
            PyObject *as = PyLong_FromLongLong(truth ? one == Py_True : v);
            if (!as || PyTuple_SetItem(all, i, as)) Py_CLEAR(all);
            continue;
        }
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is %R)", i,
                     Py_TYPE(one));
        Py_CLEAR(all);
    }
    return all;
}
/* torch.Size(iterable). */
static PyObject *py_size_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *from = NULL;
    (void)type;
    if (kwargs && PyDict_Size(kwargs))
        return PyErr_Format(PyExc_TypeError, "torch.Size() takes no keyword arguments");
    if (!PyArg_ParseTuple(args, "|O:Size", &from)) return NULL;
    /* a tuple first: an iterable has no length */
    PyObject *all = from ? PySequence_Tuple(from) : PyTuple_New(0);
    all = py_size_from(all);
    return py_size_of_ints(all);
}
static PyObject *py_size_add(PyObject *a, PyObject *b) {
    if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
    return py_size_of_ints(py_size_from(PySequence_Concat(a, b)));
}
/* (2, 3) * 2 is a Size again: the slot of tuple, and its result converted. */
static PyObject *py_size_repeat(PyObject *self, Py_ssize_t n) {
    ssizeargfunc repeat = (ssizeargfunc)PyType_GetSlot(&PyTuple_Type, Py_sq_repeat);
    return py_size_from(repeat(self, n));
}
/* x[i] is an int, x[i:j] a Size. */
static PyObject *py_size_get(PyObject *self, PyObject *key) {
    binaryfunc get = (binaryfunc)PyType_GetSlot(&PyTuple_Type, Py_mp_subscript);
    PyObject *r = get(self, key);
    return r && PySlice_Check(key) ? py_size_from(r) : r;
}
static PyObject *py_size_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_types_reduce("_size", PySequence_List(self));
}
static PyObject *py_size_repr(PyObject *self) {
    PyObject *list = PySequence_List(self);
    PyObject *r = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : NULL;
    Py_XDECREF(list);
    return r;
}
static PyObject *py_size_named(PyObject *self, PyObject *list) {
    (void)self;
    return PyObject_CallFunctionObjArgs((PyObject *)py.size, list, NULL);
}
/* size.numel(): the product of the elements. */
static PyObject *py_size_numel(PyObject *self, PyObject *unused) {
    uint64_t numel = 1; /* wraps, as torch's */
    int64_t v;
    (void)unused;
    for (Py_ssize_t i = 0; i < PyTuple_Size(self); i++) {
        if (!py_to_int(PyTuple_GetItem(self, i), &v)) return NULL;
        numel *= (uint64_t)v;
    }
    return PyLong_FromLongLong((int64_t)numel);
}
static PyMethodDef py_size_methods[] = {
    {"numel", py_size_numel, METH_NOARGS, "number of elements of a tensor of this size"},
    {"__reduce__", py_size_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_size_slots[] = {{Py_tp_new, (void *)py_size_new},
                                      {Py_nb_add, (void *)py_size_add},
                                      {Py_sq_repeat, (void *)py_size_repeat},
                                      {Py_mp_subscript, (void *)py_size_get},
                                      {Py_tp_repr, (void *)py_size_repr},
                                      {Py_tp_methods, py_size_methods},
                                      {0, NULL}};
static PyType_Spec py_size_spec = {"torch.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                   py_size_slots};

/* --- memory formats and layouts --------------------------------------------------------------- */

typedef struct py_word {
    PyObject_HEAD const char *name;
} py_word;

PY_PRIV const char *py_format_name(PyObject *o) { return ((py_word *)o)->name; }
static PyObject *py_word_repr(PyObject *self) {
    return PyUnicode_FromFormat("torch.%s", ((py_word *)self)->name);
}
static PyObject *py_word_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_types_reduce("_word", PyUnicode_FromString(((py_word *)self)->name));
}
static PyObject *py_word_named(PyObject *self, PyObject *name) {
    return PyObject_GetAttr(self, name);
}
static PyMethodDef py_word_methods[] = {{"__reduce__", py_word_reduce, METH_NOARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
static PyType_Slot py_word_slots[] = {
    {Py_tp_repr, (void *)py_word_repr}, {Py_tp_methods, py_word_methods}, {0, NULL}};

/* Creates a class and its constants, e.g. torch.memory_format with torch.channels_last; new
 * reference. type_name is module.Class. NULL with an exception. */
static PyObject *py_words_begin(PyObject *module, const char *type_name, const char *const *names) {
    PyType_Spec spec = {type_name, sizeof(py_word), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, py_word_slots};
    PyObject *type = PyType_FromSpec(&spec);
    bool bad = !type || PyModule_AddObjectRef(module, strchr(type_name, '.') + 1, type);
    for (; !bad && *names; names++) {
        PyObject *o = PyType_GenericAlloc((PyTypeObject *)type, 0);
        if (o) ((py_word *)o)->name = *names;
        bad = !o || PyModule_AddObjectRef(module, *names, o);
        /* the module has it */
        Py_XDECREF(o);
    }
    if (bad) Py_CLEAR(type);
    return type;
}

static int py_formats_begin(PyObject *module) {
    static const char *const formats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d", NULL};
    static const char *const layouts[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                          "sparse_bsr", "sparse_bsc", NULL};
    py.memory_format = (PyTypeObject *)py_words_begin(module, "torch.memory_format", formats);
    PyObject *layout = py.memory_format ? py_words_begin(module, "torch.layout", layouts) : NULL;
    if (!layout) return -1;
    /* the module and torch.strided have it */
    Py_DECREF(layout);
    py.strided = PyObject_GetAttrString(module, "strided");
    return py.strided ? 0 : -1;
}

/* What pickles call. */
static PyMethodDef py_types_functions[] = {{"_dtype", py_dtype_named, METH_O, NULL},
                                           {"_size", py_size_named, METH_O, NULL},
                                           {"_word", py_word_named, METH_O, NULL},
                                           {NULL, NULL, 0, NULL}};

PY_PRIV int py_types_begin(PyObject *module) {
    if (py_dtype_begin(module) || py_formats_begin(module) ||
        PyModule_AddFunctions(module, py_types_functions))
        return -1;
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyTuple_Type);
    py.size = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&py_size_spec, bases) : NULL;
    Py_XDECREF(bases);
    return py.size ? PyModule_AddObjectRef(module, "Size", (PyObject *)py.size) : -1;
}

/* src/py/cuda.c - CUDA's devices */
/* cuda.c - CUDA's devices. Their module is looked for and opened when a program first uses one;
 * tensorh/_cuda.py says where it may be. And what torch.cuda asks of a device. */

static struct {
    tn_device_id first; /* cuda:0; TN_NO_DEVICE: not found yet */
    int count;
    bool used;   /* a call has asked for one of them */
    bool forked; /* the process is the child of one that had them */
} py_cuda;
static __thread int py_cuda_now; /* the thread's current device */

/* --- finding them ----------------------------------------------------------------------------- */

/* Whether the context has such devices. */
static bool py_cuda_find(void) {
    const char *name;
    if (py_cuda.first) return true;
    for (tn_device_id id = TN_META + 1; strcmp(name = tn_device_name(id), "none") != 0; id++) {
        if (strncmp(name, "cuda:", 5)) continue;
        if (!py_cuda.count++) py_cuda.first = id;
    }
    return py_cuda.count != 0;
}

/* The same, behind an attempt to open the module; false with an exception that says why not. */
static bool py_cuda_open(void) {
    PyObject *module, *r;
    if (py_cuda.forked)
        return PyErr_Format(PyExc_RuntimeError,
                            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                            "multiprocessing, you must use the 'spawn' start method"),
               false;
    if (py_cuda_find()) return true;
    module = PyImport_ImportModule("tensorh._cuda");
    r = module ? PyObject_CallMethod(module, "open", NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(r);
    return r && py_cuda_find();
}

PY_PRIV bool py_cuda_device(int index, tn_device_id *to) {
    if (!py_cuda_open()) return false;
    if (index < 0) index = py_cuda_now;
    if (index >= py_cuda.count)
        return PyErr_Format(PyExc_RuntimeError,
                            "there is no device 'cuda:%d' here: the last one is cuda:%d", index,
                            py_cuda.count - 1),
               false;
    py_cuda.used = true;
    *to = py_cuda.first + index;
    return true;
}

PY_PRIV int py_cuda_set(int index) {
    const int before = py_cuda_now;
    tn_device_id id;
    if (!py_cuda_device(index, &id)) return -1;
    py_cuda_now = index;
    return before;
}

/* _cuda_load(path): None, or why the module at that path gives no device. */
static PyObject *py_cuda_load(PyObject *self, PyObject *o) {
    const char *path = PyUnicode_AsUTF8AndSize(o, NULL), *why;
    tn_error_info info;
    (void)self;
    if (!path) return NULL;
#ifdef TNI_OBJECTS
    why = "an extension of separate objects (make python) loads no modules";
    (void)info;
#else
    if (tn_device_load(path)) Py_RETURN_NONE;
    if (!tn_error_take(&info)) return PyErr_NoMemory();
    why = strstr(info.message, " here: ");
    why = why ? why + strlen(" here: ") : info.message;
#endif
    return PyUnicode_FromString(why);
}

/* --- what torch.cuda asks --------------------------------------------------------------------- */

/* The device of a number, -1: the current one; false with an exception. */
static bool py_cuda_asked(PyObject *o, tn_device_id *to) {
    int64_t index;
    if (!py_to_int(o, &index)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected the number of a device");
        return false;
    }
    return py_cuda_device(index < -1 || index > INT16_MAX ? INT16_MAX : (int)index, to);
}

static PyObject *py_cuda_index(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    return py_cuda_asked(o, &id) ? PyLong_FromLong(id - py_cuda.first) : NULL;
}
static PyObject *py_cuda_state(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    py_cuda_find();
    return Py_BuildValue("(iN)", py_cuda.count, PyBool_FromLong(py_cuda.used));
}
static PyObject *py_cuda_fork(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    py_cuda.forked = true;
    Py_RETURN_NONE;
}
/* Other threads of Python go on meanwhile. */
static PyObject *py_cuda_wait(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    PyThreadState *state = PyEval_SaveThread();
    const bool ok = tnp_device_wait(id);
    PyEval_RestoreThread(state);
    return ok ? Py_NewRef(Py_None) : py_raise();
}
static PyObject *py_cuda_memory(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    const tn_device_memory_info m = tn_device_memory(id);
    return Py_BuildValue("(LLLLLL)", (long long)m.used, (long long)m.peak, (long long)m.reserved,
                         (long long)m.calls, (long long)m.most, (long long)m.limit);
}
static PyObject *py_cuda_limit(PyObject *self, PyObject *args) {
    PyObject *device;
    long long bytes;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "OL", &device, &bytes) || !py_cuda_asked(device, &id)) return NULL;
    return tnp_device_memory_limit(id, bytes) ? Py_NewRef(Py_None) : py_raise();
}
static void py_cuda_piece(const tn_device_piece *piece, void *list) {
    PyObject *one;
    if (PyErr_Occurred()) return;
    one = Py_BuildValue("(KKLN)", (unsigned long long)(uintptr_t)piece->segment,
                        (unsigned long long)(uintptr_t)piece->at, (long long)piece->bytes,
                        PyBool_FromLong(piece->used));
    if (one) PyList_Append(list, one);
    Py_XDECREF(one);
}
static PyObject *py_cuda_snapshot(PyObject *self, PyObject *o) {
    PyObject *list;
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    if (!(list = PyList_New(0))) return NULL;
    tn_device_snapshot(id, py_cuda_piece, list);
    if (PyErr_Occurred()) Py_CLEAR(list);
    return list;
}
static PyObject *py_cuda_reset_peak(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    tn_device_reset_peak(id);
    Py_RETURN_NONE;
}
static PyObject *py_cuda_properties(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    const tn_device_properties p = tn_device_properties_of(id);
    return Py_BuildValue("{sssisisisisisLsLsL}", "name", p.name, "major", p.major, "minor", p.minor,
                         "multi_processor_count", p.processors, "max_threads_per_multi_processor",
                         p.threads, "runtime", p.runtime, "total_memory", (long long)p.memory,
                         "L2_cache_size", (long long)p.cache, "left", (long long)p.left);
}
static PyObject *py_cuda_trim(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLongLong(tn_memory_trim());
}

/* Numbers of devices: -1 is the current one. */
static PyMethodDef py_cuda_functions[] = {
    {"_cuda_load", py_cuda_load, METH_O, NULL},
    {"_cuda_state", py_cuda_state, METH_NOARGS, "(devices found, whether one was asked for)"},
    {"_cuda_forked", py_cuda_fork, METH_NOARGS, "in the child of a process that had devices"},
    {"_cuda_index", py_cuda_index, METH_O, "the number of a device that is there"},
    {"_cuda_wait", py_cuda_wait, METH_O, NULL},
    {"_cuda_memory", py_cuda_memory, METH_O, 
     "(in use, at most, reserved, calls of the driver, reserved at most, limit)"},
    {"_cuda_limit", py_cuda_limit, METH_VARARGS, "at most so many bytes are reserved; 0: no limit"},
    {"_cuda_snapshot", py_cuda_snapshot, METH_O, "[(segment, address, bytes, in use), ..]"},
    {"_cuda_reset_peak", py_cuda_reset_peak, METH_O, NULL},
    {"_cuda_properties", py_cuda_properties, METH_O, NULL},
    {"_memory_trim", py_cuda_trim, METH_NOARGS, "gives back what is kept for reuse: bytes"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_cuda_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_cuda_functions);
}

/* src/py/device.c - torch.device, and the device that functions which make tensors of nothing take where they are given none */
/* device.c - torch.device, and the device that functions which make tensors of nothing take where
 * they are given none. That one belongs to the calling thread. */

/* --- the class -------------------------------------------------------------------------------- */

typedef struct py_device {
    PyObject_HEAD tn_device_id id; /* TN_NO_DEVICE: CUDA's, which is looked for when it is used */
    int index; /* -1: none; "cpu:0" is the same place as "cpu", but not equal to it, as in torch */
} py_device;

/* A new object: devices are compared by value. */
static PyObject *py_device_make(tn_device_id id, int index) {
    PyObject *o = PyType_GenericAlloc(py.device, 0);
    if (!o) return NULL;
    ((py_device *)o)->id = id;
    ((py_device *)o)->index = index;
    return o;
}

/* The index at the end of a name; -1: it has none. */
static int py_device_number(const char *name) {
    const char *colon = strchr(name, ':');
    return colon ? (int)strtol(colon + 1, NULL, 10) : -1;
}

PY_PRIV PyObject *py_device_of(tn_device_id id) {
    const char *name = tn_device_name(id);
    return py_device_make(strncmp(name, "cuda:", 5) ? id : TN_NO_DEVICE, py_device_number(name));
}

/* What follows "cuda": nothing, or a colon and a number as it is printed. */
static bool py_device_cuda(const char *rest, int *index) {
    const size_t digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
    *index = digits ? (int)strtol(rest + 1, NULL, 10) : -1;
    if (!*rest) return true;
    return digits && digits < 6 && !rest[digits + 1] && (digits == 1 || rest[1] != '0');
}

/* The device that a name says, and its index. false with an exception. */
static bool py_device_parse(PyObject *text, tn_device_id *to, int *index) {
    Py_ssize_t n;
    const char *name = PyUnicode_AsUTF8AndSize(text, &n);
    if (!name) return false;
    /* a NUL inside would be cut off */
    bool good = (Py_ssize_t)strlen(name) == n;
    const bool cuda = good && !strncmp(name, "cuda", 4) && (!name[4] || name[4] == ':');
    if (cuda) good = py_device_cuda(name + 4, index);
    if (!good) return PyErr_Format(PyExc_RuntimeError, "Invalid device string: %R", text), false;
    *to = TN_NO_DEVICE;
    if (cuda) return true;
    for (*to = TN_CPU, *index = 0; *to <= TN_META; ++*to) { /* those without an index of theirs */
        const size_t type = strlen(tn_device_name(*to));
        if (!strncmp(name, tn_device_name(*to), type) && !strcmp(name + type, ":0")) return true;
    }
    *to = tnp_device(name);
    if (*to == TN_NO_DEVICE) return py_raise(), false;
    *index = py_device_number(tn_device_name(*to));
    return true;
}

/* A number of a device; false with an exception, or without one: it is none. */
static bool py_device_index_of(PyObject *o, int64_t *to) {
    if (!py_to_int(o, to)) return false;
    if (*to >= 0 && *to <= INT16_MAX) return true;
    PyErr_Format(PyExc_RuntimeError,
                 *to < 0 ? "Device index must not be negative" : "Device index %R is too large", o);
    return false;
}

PY_PRIV bool py_to_device(PyObject *o, tn_device_id *to) {
    int index;
    int64_t number;
    if (Py_TYPE(o) == py.device) {
        *to = ((py_device *)o)->id;
        return *to || py_cuda_device(((py_device *)o)->index, to);
    }
    /* a number is that of one of CUDA's */
    if (PyLong_CheckExact(o))
        return py_device_index_of(o, &number) && py_cuda_device((int)number, to);
    return PyUnicode_Check(o) && py_device_parse(o, to, &index) &&
           (*to || py_cuda_device(index, to));
}

/* A type and an index as a name; NULL with an exception. */
static PyObject *py_device_joined(PyObject *type, PyObject *index) {
    int64_t at;
    if (!PyUnicode_Check(type))
        return PyErr_Format(PyExc_TypeError,
                            "device(): argument 'type' must be str where 'index' is given");
    if (!py_to_int(index, &at)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "device(): argument 'index' must be int, not %R",
                         Py_TYPE(index));
        return NULL;
    }
    /* torch.device("cuda:0", 1) is refused */
    if (PyUnicode_FindChar(type, ':', 0, PyUnicode_GetLength(type), 1) >= 0)
        return PyErr_Format(PyExc_RuntimeError,
                            "type (string) must not include an index because index was passed "
                            "explicitly: %U",
                            type);
    if (at < 0) return PyErr_Format(PyExc_RuntimeError, "Device index must not be negative");
    return PyUnicode_FromFormat("%U:%lld", type, (long long)at);
}

/* _device(name): what pickles call. */
static PyObject *py_device_named(PyObject *self, PyObject *name) {
    tn_device_id id;
    int index;
    (void)self;
    if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "_device(): a name");
    return py_device_parse(name, &id, &index) ? py_device_make(id, index) : NULL;
}

/* torch.device(name), torch.device(type, index), torch.device(number) of CUDA, or
 * torch.device(device), which is that object. */
static PyObject *py_device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"type", "index", NULL};
    PyObject *what, *index = Py_None;
    int64_t number;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", (char **)(uintptr_t)names, &what,
                                     &index))
        return NULL;
    /* devices do not change, so the same object will do */
    if (index == Py_None && Py_TYPE(what) == py.device) return Py_NewRef(what);
    if (index == Py_None && PyLong_CheckExact(what))
        return py_device_index_of(what, &number) ? py_device_make(TN_NO_DEVICE, (int)number) : NULL;
    if (index == Py_None && !PyUnicode_Check(what))
        return PyErr_Format(PyExc_TypeError,
                            "device(): argument 'type' must be str or device, not %R",
                            Py_TYPE(what));
    PyObject *name = index == Py_None ? Py_NewRef(what) : py_device_joined(what, index);
    PyObject *r = name ? py_device_named(NULL, name) : NULL;
    Py_XDECREF(name);
    return r;
}

/* The index, -1: none. */
static int py_device_at(PyObject *self) { return ((const py_device *)self)->index; }
static PyObject *py_device_type(PyObject *self, void *unused) {
    const tn_device_id id = ((const py_device *)self)->id;
    const char *name = id ? tn_device_name(id) : "cuda";
    (void)unused;
    return PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ":"));
}
static PyObject *py_device_index(PyObject *self, void *unused) {
    (void)unused;
    if (py_device_at(self) < 0) Py_RETURN_NONE;
    return PyLong_FromLong(py_device_at(self));
}
/* The type and the index, by the format for both or the format for the type alone. */
static PyObject *py_device_text(PyObject *self, const char *both, const char *alone) {
    PyObject *type = py_device_type(self, NULL);
    const int at = py_device_at(self);
    PyObject *r = type ? PyUnicode_FromFormat(at < 0 ? alone : both, type, at) : NULL;
    Py_XDECREF(type);
    return r;
}
static PyObject *py_device_str(PyObject *self) { return py_device_text(self, "%U:%d", "%U"); }
static PyObject *py_device_repr(PyObject *self) {
    return py_device_text(self, "device(type='%U', index=%d)", "device(type='%U')");
}
static PyObject *py_device_compare(PyObject *a, PyObject *b, int how) {
    /* the other side may know better */
    if (Py_TYPE(b) != py.device || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    const py_device *x = (const py_device *)a, *y = (const py_device *)b;
    bool same = x->id == y->id && x->index == y->index;
    return PyBool_FromLong(same == (how == Py_EQ));
}
static Py_hash_t py_device_hash(PyObject *self) {
    const py_device *d = (const py_device *)self;
    return 1000 * (Py_hash_t)d->id + d->index + 2; /* never -1 */
}
static PyObject *py_device_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_types_reduce("_device", py_device_str(self));
}

/* --- the default ------------------------------------------------------------------------------ */

/* How many threads' lists have had a device: none, as a rule, and then no list is looked for. */
static int64_t py_devices_set;

/* The thread's list: what set_default_device set, or None, then that of each block entered. Its
 * last is the library's default (tn_set_default_device), which rows and modules read. A borrowed
 * reference; NULL: it has none and is not to make one, or with an exception. */
static PyObject *py_device_list(bool make) {
    PyObject *dict = PyThreadState_GetDict(), *list;
    if (!dict) return NULL;
    list = PyDict_GetItemWithError(dict, (PyObject *)py.device);
    if (list || !make || PyErr_Occurred()) return list;
    if ((list = PyList_New(1)) != NULL) {
        PyList_SetItem(list, 0, Py_NewRef(Py_None));
        if (PyDict_SetItem(dict, (PyObject *)py.device, list)) Py_CLEAR(list);
    }
    if (!list) return NULL;
    py_devices_set++;
    Py_DECREF(list); /* dict holds it */
    return list;
}

/* The last of the list, borrowed; NULL: none. */
static PyObject *py_device_now(void) {
    PyObject *list, *last;
    if (!py_devices_set) return NULL;
    list = py_device_list(false);
    last = list ? PyList_GetItem(list, PyList_Size(list) - 1) : NULL;
    /* without memory there is no default */
    PyErr_Clear();
    return last == Py_None ? NULL : last;
}

PY_PRIV tn_device_id py_default_device(void) {
    PyObject *now = py_device_now();
    tn_device_id id = TN_NO_DEVICE;
    /* it was found when it became the default */
    if (now && !py_to_device(now, &id)) PyErr_Clear();
    return id;
}

/* The library's default after a change of the list. */
static void py_device_tell(void) {
    const tn_device_id device = py_default_device();
    tnp_set_default_device(device ? device : TN_CPU);
}

/* with torch.device("meta"): pushed onto the thread's list. */
static PyObject *py_device_enter(PyObject *self, PyObject *unused) {
    PyObject *list = py_device_list(true);
    tn_device_id id;
    (void)unused;
    if (!list || !py_to_device(self, &id) || PyList_Append(list, self)) return NULL;
    py_device_tell();
    return Py_NewRef(self);
}

/* The end of a with block: pops the thread's list. Arguments, an exception perhaps, do
 * not matter. */
static PyObject *py_device_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    PyObject *list = py_device_list(false);
    const Py_ssize_t n = list ? PyList_Size(list) : 0;
    (void)self, (void)args, (void)nargs;
    if (n < 2)
        return PyErr_Format(PyExc_RuntimeError, "cannot leave a device that was not entered");
    if (PyList_SetSlice(list, n - 1, n, NULL)) return NULL;
    py_device_tell();
    Py_RETURN_NONE;
}

/* torch.set_default_device: of the calling thread alone. */
static PyObject *py_device_set_default(PyObject *self, PyObject *device) {
    PyObject *list, *made = NULL;
    tn_device_id id;
    (void)self;
    if (device != Py_None &&
        !(made = PyObject_CallFunctionObjArgs((PyObject *)py.device, device, NULL)))
        return NULL;
    if (made && !py_to_device(made, &id)) return Py_DECREF(made), NULL;
    list = py_device_list(true);
    /* takes the reference; entry 0 is below all blocks. In a block it also acts at once */
    if (list && made && PyList_Size(list) > 1)
        PyList_SetItem(list, PyList_Size(list) - 1, Py_NewRef(made));
    if (list) PyList_SetItem(list, 0, made ? made : Py_NewRef(Py_None));
    if (!list) Py_XDECREF(made);
    py_device_tell();
    return list ? Py_NewRef(Py_None) : NULL;
}

static PyObject *py_device_get_default(PyObject *self, PyObject *unused) {
    const tn_device_id now = py_default_device();
    (void)self, (void)unused;
    return py_device_of(now ? now : TN_CPU);
}

/* _cuda_set(index): the thread's current device of CUDA, which "cuda" means. Returns the one
 * before. */
static PyObject *py_device_set_cuda(PyObject *self, PyObject *o) {
    int64_t index;
    (void)self;
    if (!py_device_index_of(o, &index))
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "expected the number of a device");
    const int before = py_cuda_set((int)index);
    if (before < 0) return NULL;
    py_device_tell(); /* the default may be "cuda" */
    return PyLong_FromLong(before);
}

/* What a function of the package that makes tensors gives them: device, or the default; None where
 * there is none. */
static PyObject *py_device_or_default(PyObject *self, PyObject *device) {
    PyObject *now = device == Py_None ? py_device_now() : device;
    (void)self;
    return Py_NewRef(now ? now : Py_None);
}

/* --- slots ------------------------------------------------------------------------------------ */

static PyGetSetDef py_device_attributes[] = {{"type", py_device_type, NULL, NULL, NULL},
                                             {"index", py_device_index, NULL, NULL, NULL},
                                             {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_device_methods[] = {
    {"__reduce__", py_device_reduce, METH_NOARGS, NULL},
    {"__enter__", py_device_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void *)py_device_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_device_slots[] = {{Py_tp_new, (void *)py_device_new},
                                        {Py_tp_repr, (void *)py_device_repr},
                                        {Py_tp_str, (void *)py_device_str},
                                        {Py_tp_hash, (void *)py_device_hash},
                                        {Py_tp_richcompare, (void *)py_device_compare},
                                        {Py_tp_getset, py_device_attributes},
                                        {Py_tp_methods, py_device_methods},
                                        {0, NULL}};
static PyType_Spec py_device_spec = {"torch.device", sizeof(py_device), 0, Py_TPFLAGS_DEFAULT,
                                     py_device_slots};

static PyMethodDef py_device_functions[] = {
    {"_device", py_device_named, METH_O, NULL}, /* what pickles call */
    {"set_default_device", py_device_set_default, METH_O,
     "set_default_device(device): where this thread's functions that make tensors of nothing make "
     "them, if they are told no device; None: the CPU"},
    {"get_default_device", py_device_get_default, METH_NOARGS,
     "get_default_device(): where new tensors are"},
    {"_device_or_default", py_device_or_default, METH_O, NULL},
    {"_cuda_set", py_device_set_cuda, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_devices_begin(PyObject *module) {
    py.device = (PyTypeObject *)PyType_FromSpec(&py_device_spec);
    if (!py.device || PyModule_AddObjectRef(module, "device", (PyObject *)py.device)) return -1;
    return PyModule_AddFunctions(module, py_device_functions);
}

/* src/py/stream.c - streams, events and graphs of CUDA's devices, as tensorh/cuda/streams.py and graphs.py call them: capsules, which give up what they have made when nobody has them any more */
/* stream.c - streams, events and graphs of CUDA's devices, as tensorh/cuda/streams.py and graphs.py
 * call them: capsules, which give up what they have made when nobody has them any more. */

static const char stream_name[] = "tensorh stream", event_name[] = "tensorh event",
                  graph_name[] = "tensorh graph";

/* --- capsules --------------------------------------------------------------------------------- */

/* The context may have ended before its last capsule. */
static void stream_drop(PyObject *o) {
    if (tn_context_exists()) tn_stream_free((tn_stream *)PyCapsule_GetPointer(o, stream_name));
}
static void stream_drop_event(PyObject *o) {
    if (tn_context_exists()) tn_event_free((tn_stream_event *)PyCapsule_GetPointer(o, event_name));
}
static tn_stream *stream_of(PyObject *o) {
    return (tn_stream *)PyCapsule_GetPointer(o, stream_name);
}
static tn_stream_event *stream_event_of(PyObject *o) {
    return (tn_stream_event *)PyCapsule_GetPointer(o, event_name);
}
/* s, which somebody else has; NULL: there was an error. */
static PyObject *stream_lent(tn_stream *s) {
    return s ? PyCapsule_New(s, stream_name, NULL) : py_raise();
}
static PyObject *stream_said(bool ok) { return ok ? Py_NewRef(Py_None) : py_raise(); }

/* The device of a number, -1: the current one; false with an exception. */
static bool stream_device_of(int index, tn_device_id *to) {
    return py_cuda_device(index < -1 || index > INT16_MAX ? INT16_MAX : index, to);
}

/* --- streams ---------------------------------------------------------------------------------- */

static PyObject *stream_new(PyObject *self, PyObject *args) {
    int index, priority;
    tn_device_id id;
    tn_stream *s;
    PyObject *o;
    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &index, &priority) || !stream_device_of(index, &id))
        return NULL;
    s = tnp_stream_new(id, priority);
    if (!s) return py_raise();
    o = PyCapsule_New(s, stream_name, stream_drop);
    if (!o) tn_stream_free(s);
    return o;
}
static PyObject *stream_default(PyObject *self, PyObject *args) {
    int index;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &index) || !stream_device_of(index, &id)) return NULL;
    return stream_lent(tn_stream_default(id));
}
static PyObject *stream_current(PyObject *self, PyObject *args) {
    int index;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &index) || !stream_device_of(index, &id)) return NULL;
    return stream_lent(tn_stream_current(id));
}
static PyObject *stream_use(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    return s ? stream_lent(tn_stream_use(s)) : NULL;
}
static PyObject *stream_facts(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    if (!s) return NULL;
    return Py_BuildValue("(NiLL)", py_device_of(tn_stream_device(s)), tn_stream_priority(s),
                         (long long)(intptr_t)tn_stream_handle(s), (long long)(intptr_t)s);
}
static PyObject *stream_query(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    return s ? PyBool_FromLong(tn_stream_query(s)) : NULL;
}
/* Other threads of Python go on meanwhile. */
static PyObject *stream_wait(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    PyThreadState *state;
    bool ok;
    (void)self;
    if (!s) return NULL;
    state = PyEval_SaveThread();
    ok = tnp_stream_synchronize(s);
    PyEval_RestoreThread(state);
    return stream_said(ok);
}
static PyObject *stream_wait_stream(PyObject *self, PyObject *args) {
    PyObject *a, *c;
    tn_stream *s, *other;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(s = stream_of(a)) || !(other = stream_of(c)))
        return NULL;
    return stream_said(tnp_stream_wait_stream(s, other));
}
static PyObject *stream_record(PyObject *self, PyObject *args) {
    PyObject *t, *o;
    tn_stream *s;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &t, &o) || !(s = stream_of(o))) return NULL;
    if (!py_is_tensor(t)) return PyErr_SetString(PyExc_TypeError, "expected a tensor"), NULL;
    return stream_said(tnp_record_stream(py_of(t), s));
}

/* --- events ----------------------------------------------------------------------------------- */

static PyObject *stream_event_new(PyObject *self, PyObject *o) {
    const int timing = PyObject_IsTrue(o);
    if (timing < 0) return NULL;
    tn_stream_event *e = tnp_event_new(timing);
    PyObject *made;
    (void)self;
    if (!e) return py_raise();
    made = PyCapsule_New(e, event_name, stream_drop_event);
    if (!made) tn_event_free(e);
    return made;
}
/* Calls with an event and a stream. */
static PyObject *stream_both(PyObject *args, bool (*call)(tn_stream_event *, tn_stream *)) {
    PyObject *a, *c;
    tn_stream_event *e;
    tn_stream *s;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(e = stream_event_of(a)) || !(s = stream_of(c)))
        return NULL;
    return stream_said(call(e, s));
}
static bool stream_before(tn_stream_event *e, tn_stream *s) { return tnp_stream_wait_event(s, e); }
static PyObject *stream_event_record(PyObject *self, PyObject *args) {
    (void)self;
    return stream_both(args, tnp_event_record);
}
static PyObject *stream_event_before(PyObject *self, PyObject *args) {
    (void)self;
    return stream_both(args, stream_before);
}
static PyObject *stream_event_query(PyObject *self, PyObject *o) {
    tn_stream_event *e = stream_event_of(o);
    (void)self;
    return e ? PyBool_FromLong(tn_event_query(e)) : NULL;
}
static PyObject *stream_event_wait(PyObject *self, PyObject *o) {
    tn_stream_event *e = stream_event_of(o);
    PyThreadState *state;
    bool ok;
    (void)self;
    if (!e) return NULL;
    state = PyEval_SaveThread();
    ok = tnp_event_synchronize(e);
    PyEval_RestoreThread(state);
    return stream_said(ok);
}
static PyObject *stream_event_ms(PyObject *self, PyObject *args) {
    PyObject *a, *c;
    tn_stream_event *begin, *end;
    double ms;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(begin = stream_event_of(a)) ||
        !(end = stream_event_of(c)))
        return NULL;
    ms = tnp_event_elapsed_ms(begin, end);
    return tn_ok() ? PyFloat_FromDouble(ms) : py_raise();
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void stream_drop_graph(PyObject *o) {
    if (tn_context_exists()) tn_recording_free((tn_recording *)PyCapsule_GetPointer(o, graph_name));
}
static PyObject *stream_graph_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return stream_said(tn_capture_begin());
}
static PyObject *stream_graph_end(PyObject *self, PyObject *unused) {
    tn_recording *r = tn_record_end();
    PyObject *made;
    (void)self, (void)unused;
    if (!r) return py_raise();
    made = PyCapsule_New(r, graph_name, stream_drop_graph);
    if (!made) tn_recording_free(r);
    return made;
}
static PyObject *stream_graph_replay(PyObject *self, PyObject *o) {
    tn_recording *r = (tn_recording *)PyCapsule_GetPointer(o, graph_name);
    (void)self;
    return r ? stream_said(tn_replay(r)) : NULL;
}
static PyObject *stream_graph_captures(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(tn_is_capturing());
}

/* Numbers of devices: -1 is the current one. */
static PyMethodDef stream_functions[] = {
    {"_stream_new", stream_new, METH_VARARGS, "of a device's number and a priority"},
    {"_stream_default", stream_default, METH_VARARGS, "the own one of a device's number"},
    {"_stream_current", stream_current, METH_VARARGS, "the thread's of a device's number"},
    {"_stream_use", stream_use, METH_O, "makes it current; the one before"},
    {"_stream_facts", stream_facts, METH_O, "(device, priority, handle, identity)"},
    {"_stream_query", stream_query, METH_O, NULL},
    {"_stream_wait", stream_wait, METH_O, "the host waits for it"},
    {"_stream_wait_stream", stream_wait_stream, METH_VARARGS, NULL},
    {"_stream_record", stream_record, METH_VARARGS, "(tensor, stream)"},
    {"_event_new", stream_event_new, METH_O, "with or without timing"},
    {"_event_record", stream_event_record, METH_VARARGS, "(event, stream)"},
    {"_event_before", stream_event_before, METH_VARARGS, "(event, stream that waits for it)"},
    {"_event_query", stream_event_query, METH_O, NULL},
    {"_event_wait", stream_event_wait, METH_O, "the host waits for it"},
    {"_event_ms", stream_event_ms, METH_VARARGS, "from one to another"},
    {"_graph_begin", stream_graph_begin, METH_NOARGS, "the thread's calls are captured"},
    {"_graph_end", stream_graph_end, METH_NOARGS, "until here: the graph"},
    {"_graph_replay", stream_graph_replay, METH_O, NULL},
    {"_graph_captures", stream_graph_captures, METH_NOARGS, "whether the thread's calls are"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_stream_begin(PyObject *module) {
    return PyModule_AddFunctions(module, stream_functions);
}

/* src/py/generator.c - Generator: a stream of random numbers, and the default one */
/* generator.c - Generator: a stream of random numbers, and the default one. */

/* The device where a generator is to draw; false with an exception. */
static bool py_generator_place(PyObject *device, tn_device_id *id) {
    *id = TN_NO_DEVICE;
    if (py_to_device(device, id) && *id != TN_META) return true;
    if (!PyErr_Occurred())
        PyErr_Format(*id == TN_NO_DEVICE ? PyExc_TypeError : PyExc_RuntimeError,
                     *id == TN_NO_DEVICE
                         ? "Generator(): argument 'device' must be str or torch.device, not %R"
                         : "Generator(): no random numbers are drawn on %R",
                     device);
    return false;
}

/* torch.Generator(device=None): a stream of its own, seeded as torch seeds it. */
static PyObject *py_generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"device", NULL};
    PyObject *device = Py_None;
    tn_device_id id = TN_CPU;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", (char **)(uintptr_t)names, &device))
        return NULL;
    if (device != Py_None && !py_generator_place(device, &id)) return NULL;
    py_generator *g = (py_generator *)PyType_GenericAlloc(type, 0);
    if (!g) return NULL;
    g->generator = tn_generator_new(67280421310721u); /* torch's default seed */
    g->device = id;
    /* the default generator is the library's, these are ours */
    g->owned = true;
    if (g->generator) return (PyObject *)g;
    Py_DECREF((PyObject *)g);
    return py_raise();
}
static void py_generator_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    py_generator *g = (py_generator *)self;
    if (g->owned) tn_generator_free(g->generator);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}
/* A seed of 64 bits: negative ones wrap, up to 2^64 - 1, as torch takes them. */
static bool py_generator_seed_of(PyObject *o, uint64_t *seed) {
    PyObject *i = PyNumber_Index(o);
    int overflow;
    if (!i && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_RuntimeError, "manual_seed expected a long, but got %R", Py_TYPE(o));
    }
    if (!i) return false;
    long long v = PyLong_AsLongLongAndOverflow(i, &overflow);
    *seed = overflow > 0 ? PyLong_AsUnsignedLongLong(i) : (uint64_t)v;
    Py_DECREF(i);
    /* -2^63 and below, or 2^64 and more */
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
        return false;
    }
    return true;
}
/* g.manual_seed(seed): returns g, as torch. */
static PyObject *py_generator_manual_seed(PyObject *self, PyObject *o) {
    uint64_t seed;
    if (!py_generator_seed_of(o, &seed)) return NULL;
    /* a call that draws in another thread ends first */
    py_draw_begin();
    tn_generator_seed(((py_generator *)self)->generator, seed);
    py_draw_end();
    return Py_NewRef(self);
}
/* g.get_state(): the state in torch's format, a new uint8 tensor. */
static PyObject *py_generator_get_state(PyObject *self, PyObject *unused) {
    uint8_t state[TN_GENERATOR_BYTES];
    const int64_t size[1] = {TN_GENERATOR_BYTES};
    (void)unused;
    py_draw_begin();
    tn_generator_state(((py_generator *)self)->generator, state);
    py_draw_end();
    /* copied */
    tn_tensor *t = tnp_from(state, tn_ints_of(size, 1), TN_U8, TN_CPU);
    return t ? py_wrap(tn_take(t)) : py_raise();
}
/* g.set_state(state): takes what get_state gave; the library checks the content. */
static PyObject *py_generator_set_state(PyObject *self, PyObject *o) {
    if (!py_is_tensor(o) || tn_dtype_of(py_of(o)) != TN_U8 || !tn_is_contiguous(py_of(o)) ||
        tn_numel(py_of(o)) != TN_GENERATOR_BYTES)
        return PyErr_Format(PyExc_TypeError, "expected a torch.ByteTensor of %d elements",
                            (int)TN_GENERATOR_BYTES);
    /* copied first: the tensor may be written by another thread while this one waits */
    uint8_t state[TN_GENERATOR_BYTES];
    memcpy(state, tn_data(py_of(o)), sizeof state);
    py_draw_begin();
    bool ok = tn_generator_set_state(((py_generator *)self)->generator, state);
    py_draw_end();
    return ok ? Py_NewRef(self) : py_raise();
}
/* torch's state begins with the seed. */
static PyObject *py_generator_initial_seed(PyObject *self, PyObject *unused) {
    uint8_t state[TN_GENERATOR_BYTES];
    uint64_t seed;
    (void)unused;
    py_draw_begin();
    tn_generator_state(((py_generator *)self)->generator, state);
    py_draw_end();
    memcpy(&seed, state, sizeof seed);
    return PyLong_FromUnsignedLongLong(seed);
}
static PyObject *py_generator_seed(PyObject *self, PyObject *unused) {
    PyObject *os = PyImport_ImportModule("os");
    /* the system's random numbers, as torch */
    PyObject *bytes = os ? PyObject_CallMethod(os, "urandom", "i", 8) : NULL;
    const char *at = bytes ? PyBytes_AsString(bytes) : NULL;
    uint64_t seed = 0;
    (void)unused;
    if (at) memcpy(&seed, at, sizeof seed);
    Py_XDECREF(os);
    Py_XDECREF(bytes);
    if (!at) return NULL;
    py_draw_begin();
    tn_generator_seed(((py_generator *)self)->generator, seed);
    py_draw_end();
    return PyLong_FromUnsignedLongLong(seed);
}
/* A new generator in the same state: the two go apart from there. */
static PyObject *py_generator_clone(PyObject *self, PyObject *unused) {
    PyObject *args = PyTuple_New(0), *state = py_generator_get_state(self, unused);
    PyObject *g = args && state ? py_generator_new(py.generator, args, NULL) : NULL;
    if (g) ((py_generator *)g)->device = ((const py_generator *)self)->device;
    PyObject *r = g ? py_generator_set_state(g, state) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(state);
    Py_XDECREF(g);
    return r;
}
static PyObject *py_generator_device(PyObject *self, void *unused) {
    const tn_device_id device = ((const py_generator *)self)->device;
    (void)unused;
    return py_device_of(device ? device : TN_CPU);
}
static PyGetSetDef py_generator_attributes[] = {{"device", py_generator_device, NULL, NULL, NULL},
                                                {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_generator_methods[] = {
    {"manual_seed", py_generator_manual_seed, METH_O, "seeds the stream; returns it"},
    {"initial_seed", py_generator_initial_seed, METH_NOARGS, "the seed of the stream"},
    {"seed", py_generator_seed, METH_NOARGS, "seeds the stream with a random number; returns it"},
    {"clone_state", py_generator_clone, METH_NOARGS, "a new generator in the same state"},
    {"get_state", py_generator_get_state, METH_NOARGS, "torch's state, a uint8 tensor"},
    {"set_state", py_generator_set_state, METH_O, "continues from a state"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_generator_slots[] = {{Py_tp_new, (void *)py_generator_new},
                                           {Py_tp_dealloc, (void *)py_generator_dealloc},
                                           {Py_tp_getset, py_generator_attributes},
                                           {Py_tp_methods, py_generator_methods},
                                           {0, NULL}};
static PyType_Spec py_generator_spec = {"torch._C.Generator", sizeof(py_generator), 0,
                                        Py_TPFLAGS_DEFAULT, py_generator_slots};

/* Generator, and default_generator, whose stream the library owns. */
PY_PRIV int py_generators_begin(PyObject *module) {
    py.generator = (PyTypeObject *)PyType_FromSpec(&py_generator_spec);
    if (!py.generator || PyModule_AddObjectRef(module, "Generator", (PyObject *)py.generator))
        return -1;
    py_generator *g = (py_generator *)PyType_GenericAlloc(py.generator, 0);
    if (!g) return -1;
    g->generator = tn_default_generator();
    int bad = PyModule_AddObjectRef(module, "default_generator", (PyObject *)g);
    Py_DECREF((PyObject *)g);
    return bad;
}

/* src/py/row.c - what Python asks of a row: its comment, its places below torch, a parameter's text */
/* row.c - what Python asks of a row: its comment, its places below torch, a parameter's text.
 *
 * Comments and places are in gen/docs.inl by row index. A row registered at run time has none. */


/* src/gen/docs.inl - what the comments of the rows say, by row index: docstrings (py/docs.c) */
/* docs.inl - what the comments of the rows say, by row index: docstrings (py/docs.c).
 * Generated by tools/optable from src/ops; `make headers` writes it again. */
static const char *const py_docs_comment[] = {
    /* abs */
    "|self|, real for complex numbers; the smallest integer stays as it is. The gradient at 0 is 0. A\n"
    "complex tensor cannot be changed in place.\n"
    "(*) -> (*)",
    /* acos */
    "The angle in [0, pi] whose cosine is self; NaN for real numbers outside [-1, 1].\n"
    "(*) -> (*), floating",
    /* adaptive_avg_pool1d */
    "adaptive_avg_pool2d of lines.\n"
    "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
    /* adaptive_avg_pool2d */
    "The means of output_size windows that cover the input: row p of H' covers the rows of H from\n"
    "floor(p H / H') up to, but not including, ceil((p + 1) H / H'); columns likewise.\n"
    "self (N, C, H, W) or (C, H, W), output_size (H', W') -> (N, C, H', W') or (C, H', W')",
    /* adaptive_avg_pool2d_input_grad */
    "The gradient of adaptive_avg_pool2d's input.\n"
    "grad (N, C, H', W'), input_size (N, C, H, W) -> input_size",
    /* adaptive_avg_pool3d */
    "adaptive_avg_pool2d of volumes.\n"
    "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W')",
    /* adaptive_max_pool1d */
    "The largest elements of output_size windows that cover a line, and their numbers in it.\n"
    "self (N, C, L) or (C, L) -> result, indices: (N, C, L') or (C, L')",
    /* adaptive_max_pool2d */
    "The largest elements of the windows of adaptive_avg_pool2d, and their numbers in the plane, row\n"
    "by row.\n"
    "self (N, C, H, W) or (C, H, W), output_size (H', W') -> result, indices: (N, C, H', W') or (C, H', W')",
    /* adaptive_max_pool3d */
    "adaptive_max_pool2d of volumes.\n"
    "self (N, C, D, H, W) or (C, D, H, W), output_size (D', H', W') -> result, indices: (N, C, D', H', W') or (C, D', H', W')",
    /* add */
    "self + alpha * other, rounded once. For bools: logical or.\n"
    "(*), (*) -> broadcast",
    /* addcdiv */
    "self + value * tensor1 / tensor2. tensor1 and tensor2 must not both be integers.\n"
    "(*), (*), (*) -> broadcast",
    /* addcmul */
    "self + value * tensor1 * tensor2.\n"
    "(*), (*), (*) -> broadcast",
    /* addmm */
    "beta * self + alpha * mat1 mat2, where self is broadcast. If beta is 0, self is ignored,\n"
    "even a NaN.\n"
    "self (m, n) or broadcast to it, mat1 (m, k), mat2 (k, n) -> (m, n)",
    /* affine_grid */
    "The grid of grid_sample for a result of `size`, whose places are mapped by the matrices theta.\n"
    "theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); theta (N, 3, 4), size (N, C, D, H, W) -> (N, D, H, W, 3)",
    /* all */
    "Whether all elements are nonzero.\n"
    "self (*) -> bool ()",
    /* all_dims */
    "Whether all elements over dim are nonzero, by the rules of any_dims.\n"
    "self (*) -> bool, self's shape without dim, 1 there when keepdim",
    /* allclose */
    "Whether isclose holds for all pairs, as a 0-dim bool.\n"
    "self, other (*) broadcast -> bool ()",
    /* alpha_dropout */
    "In training, sets each element with probability p to the lowest value of selu, then scales and\n"
    "shifts all so that mean 0 and variance 1 stay. Otherwise returns the input itself.\n"
    "input (*) -> (*), floating",
    /* amax */
    "The largest element over dim, or of all elements if dim is empty. A NaN wins. Equal elements\n"
    "share the gradient.\n"
    "self (*) -> self's shape without dim, 1 there when keepdim",
    /* amin */
    "The smallest element over dim, or of all elements if dim is empty. A NaN wins. Equal elements\n"
    "share the gradient.\n"
    "self (*) -> self's shape without dim, 1 there when keepdim",
    /* aminmax */
    "The smallest and the largest element along dim, or of all elements if dim is absent.\n"
    "self (*) -> min, max: self's shape without dim, 1 there when keepdim",
    /* angle */
    "The argument of a complex number, in [-pi, pi]; of real numbers pi below 0, else 0, and NaN of\n"
    "NaN.\n"
    "(*) -> (*), real",
    /* any */
    "Whether any element is nonzero.\n"
    "self (*) -> bool ()",
    /* any_dims */
    "Whether any element over dim is nonzero; NaN counts as nonzero. If dim is absent, over all\n"
    "elements; if it is empty, for each element. uint8 gives uint8, all other dtypes bool.\n"
    "self (*) -> bool, self's shape without dim, 1 there when keepdim",
    /* arange */
    "The numbers 0, 1, .. below end: int64 for an int, the default dtype for a float.\n"
    "-> (ceil(end))",
    /* arange_start */
    "The numbers start, start + 1, .. below end.\n"
    "-> (ceil(end - start))",
    /* arange_start_step */
    "The numbers start, start + step, .. up to end, which is not included.\n"
    "-> (ceil((end - start) / step))",
    /* argmax */
    "The index of the largest element along dim, the first among equal elements. Without dim, the\n"
    "index in the flattened tensor.\n"
    "self (*) -> int64, self's shape without dim, 1 there when keepdim",
    /* argmin */
    "The index of the smallest element along dim, the first among equal elements. Without dim, the\n"
    "index in the flattened tensor.\n"
    "self (*) -> int64, self's shape without dim, 1 there when keepdim",
    /* argsort */
    "The indices that sort self along dim. Stable: equal elements keep their order.\n"
    "self (*) -> (*) int64",
    /* as_strided */
    "A view of self's memory, whatever self's shape: element `index` is at storage_offset +\n"
    "sum(stride[i] * index[i]). self_stride and self_offset tell the gradient how self lay in that\n"
    "memory, by default as it lies now.\n"
    "self (*) -> size",
    /* as_strided_scatter */
    "A copy of self with src written to the places that as_strided would view, or added to them with\n"
    "accumulate, in row-major order.\n"
    "self (*), src size -> self's",
    /* asin */
    "The angle in [-pi/2, pi/2] whose sine is self; NaN for real numbers outside [-1, 1].\n"
    "(*) -> (*), floating",
    /* asinh */
    "The number whose sinh is self; of complex numbers -i asin(i self).\n"
    "(*) -> (*), floating",
    /* atan */
    "The angle in (-pi/2, pi/2) whose tangent is self.\n"
    "(*) -> (*), floating",
    /* atan2 */
    "The angle of the point (x = other, y = self), in [-pi, pi]. The sign of a zero counts, as in C.\n"
    "The gradient is 0 where both are 0.\n"
    "(*), (*) -> broadcast, floating",
    /* avg_pool1d */
    "avg_pool2d of lines.\n"
    "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
    /* avg_pool2d */
    "The mean of each window. With count_include_pad, padding counts as elements of value 0;\n"
    "divisor_override replaces the number of elements. Floating dtypes, which are summed in double,\n"
    "and int64, which drops the fraction.\n"
    "self (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
    /* avg_pool2d_input_grad */
    "The gradient of avg_pool2d's input: divides each element of grad and adds it to all elements\n"
    "of its window.\n"
    "grad (N, C, H', W'), input_size (N, C, H, W) -> input_size",
    /* avg_pool3d */
    "avg_pool2d of volumes.\n"
    "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W')",
    /* avg_pool3d_input_grad */
    "The gradient of avg_pool3d's input: divides each element of grad and adds it to all elements\n"
    "of its window.\n"
    "grad (N, C, D', H', W'), input_size (N, C, D, H, W) -> input_size",
    /* bartlett_window */
    "The triangle 1 - |2 k / (n - 1) - 1|; periodic: of a window of one point more, without the last\n"
    "one.\n"
    "-> (window_length), floating",
    /* batch_norm */
    "(x - mean) / sqrt(var + eps) * weight + bias for each channel. In training, mean and var are\n"
    "those of the batch, and running_mean and running_var move towards them by `momentum` (with var\n"
    "divided by n - 1, not n). Otherwise they are running_mean and running_var.\n"
    "input (N, C, *), the others (C) -> as input",
    /* batch_norm_backward */
    "The gradients of batch_norm's input, weight and bias in training, in one pass, from the\n"
    "statistics that it saved. Not for f64, not differentiable.\n"
    "grad_out, input (N, C, *), weight, mean, rstd (C) -> grad_input, grad_weight, grad_bias",
    /* bce */
    "-(target log input + (1 - target) log(1 - input)), with logarithms limited to at least -100: the\n"
    "terms of binary_cross_entropy.\n"
    "input in [0, 1], target (*) -> (*), floating",
    /* bernoulli */
    "Each element is 1 with the probability given by self's element, in [0, 1], and 0 otherwise.\n"
    "self (*) -> (*)",
    /* bernoulli_float */
    "Sets each element of self to 1 with probability p and to 0 otherwise.\n"
    "self (*) -> self",
    /* bilinear */
    "Element o is input1^T weight_o input2 + bias_o.\n"
    "input1 (*, in1), input2 (*, in2), weight (out, in1, in2), bias (out) -> (*, out)",
    /* binary_cross_entropy */
    "-weight (target log input + (1 - target) log(1 - input)), where input holds probabilities\n"
    "in [0, 1].\n"
    "input, target (*), weight broadcast to it -> () or (*)",
    /* binary_cross_entropy_with_logits */
    "binary_cross_entropy of sigmoid(input), without overflow: (1 - t) x + (1 + (pos_weight - 1) t)\n"
    "log(1 + e^-x), with x = input and t = target.\n"
    "input, target (*), weight, pos_weight broadcast to it -> () or (*)",
    /* binomial */
    "Numbers of the binomial distribution: successes in count trials of probability prob. NaN where\n"
    "one of them is.\n"
    "count (*), prob (*) -> broadcast, floating",
    /* bitwise_and */
    "self & other.\n"
    "(*), (*) -> broadcast",
    /* bitwise_left_shift */
    "self * 2^other, wrapping. The result is 0 if other is not in 0..31, for int64 not in 0..63.\n"
    "(*), (*) -> broadcast",
    /* bitwise_not */
    "~self; for bools: logical not.\n"
    "(*) -> (*)",
    /* bitwise_or */
    "self | other.\n"
    "(*), (*) -> broadcast",
    /* bitwise_right_shift */
    "floor(self / 2^other).\n"
    "(*), (*) -> broadcast",
    /* bitwise_xor */
    "self ^ other.\n"
    "(*), (*) -> broadcast",
    /* blackman_window */
    "0.42 - 0.5 cos(2 pi k / (n - 1)) + 0.08 cos(4 pi k / (n - 1)); periodic: of a window of one point\n"
    "more, without the last one.\n"
    "-> (window_length), floating",
    /* bmm */
    "The products of two batches of matrices, pair by pair.\n"
    "self (b, m, k), mat2 (b, k, n) -> (b, m, n)",
    /* broadcast_to */
    "self expanded to size. A view.\n"
    "self (3) -> (4, 3)",
    /* bucketize */
    "The number of each value's bucket: how many of the sorted boundaries are below it, or with right\n"
    "below or equal to it.\n"
    "self (*), boundaries (n) -> (*), int64 or int32",
    /* cat */
    "The tensors one behind the other along dim. Their other sizes must agree; dtypes are promoted.\n"
    "tensors (n1, m), (n2, m) -> (n1 + n2, m)",
    /* cauchy */
    "Fills self with random numbers of the Cauchy distribution around median, of width sigma.\n"
    "self (*) -> self",
    /* cdist */
    "The p-norms of all differences of rows of x1 and rows of x2; batches broadcast.\n"
    "x1 (.., p, m), x2 (.., r, m), float32 or float64 -> (.., p, r)",
    /* ceil */
    "The smallest integer that is not below self.\n"
    "(*) -> (*)",
    /* celu */
    "max(0, self) + min(0, alpha * (e^(self / alpha) - 1)).\n"
    "J. Barron, Continuously Differentiable Exponential Linear Units, 2017.\n"
    "(*) -> (*), floating",
    /* channel_shuffle */
    "The channels (dimension 1) in another order: the first of each group, then the second of each,\n"
    "and so on. X. Zhang et al., ShuffleNet, 2018. Channels-last images stay so.\n"
    "self (N, C, *) -> (N, C, *)",
    /* cholesky_inverse */
    "The inverse of the matrix whose Cholesky factor is self: L, or with upper L^H.\n"
    "(*, n, n) -> (*, n, n), float32, float64 or complex",
    /* cholesky_solve */
    "X of A X = self, where input2 is the Cholesky factor of A: L, or with upper L^H.\n"
    "(*, n, k), (*, n, n) -> (*, n, k), float32, float64 or complex",
    /* chunk */
    "At most `chunks` pieces of equal size along dim; the last one may be smaller. Views.\n"
    "self (5, 3) -> (2, 3), (2, 3), (1, 3) for 3 chunks",
    /* circular_pad */
    "self as one period of what is around it: b c | a b c | a b. As mode circular of pad, but no\n"
    "number is negative. The result is row-major.\n"
    "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + padding[1]); of 4 and 6: 2 and 3 dimensions",
    /* clamp */
    "self limited to at least min, then to at most max; None means no bound. No gradient passes where\n"
    "self equals a bound.\n"
    "(*) -> (*)",
    /* clamp_max */
    "The smaller of self and max.\n"
    "(*), (*) -> broadcast",
    /* clamp_min */
    "The larger of self and min.\n"
    "(*), (*) -> broadcast",
    /* clamp_tensor */
    "clamp with tensors as bounds.\n"
    "(*), (*), (*) -> broadcast",
    /* clone */
    "A copy with its own memory, in self's order of dimensions or in the given memory format.\n"
    "self (*) -> (*)",
    /* col2im */
    "Adds each column's elements to the places of its window: planes of output_size of the columns\n"
    "that im2col makes. torch's F.fold. Elements that windows share are sums; what lies in the padding\n"
    "is left out. Floating and complex dtypes, and bool.\n"
    "input (N, C kH kW, L) or (C kH kW, L), L windows -> (N, C, H, W) or (C, H, W), output_size (H, W)",
    /* conj */
    "The complex conjugate, as a new tensor; of a real tensor a view.\n"
    "self (*) -> (*)",
    /* constant_pad_nd */
    "self with elements of value, 0 by default, around it: pad[0] before and pad[1] behind the last\n"
    "dimension, pad[2] and pad[3] around the one before, and so on. Negative numbers leave elements\n"
    "out. Images that are channels-last stay so.\n"
    "self (n, m), pad of 4 -> (pad[2] + n + pad[3], pad[0] + m + pad[1])",
    /* contiguous */
    "self in row-major order: a view if it already is, else a copy.\n"
    "self (*) -> (*)",
    /* conv1d */
    "conv2d of lines: y(n, o, q) = bias(o) + sum over c, j of weight(o, c, j) input(n, c, q stride + j\n"
    "dilation - padding).\n"
    "input (N, C, L) or (C, L), weight (O, C / groups, k), bias (O) -> (N, O, L') or (O, L')",
    /* conv1d_padding */
    "conv1d with no padding (valid), or with as much as makes the output as long as the input\n"
    "(same).\n"
    "input (N, C, L) or (C, L), weight (O, C / groups, k), bias (O) -> (N, O, L') or (O, L')",
    /* conv2d */
    "y(n, o, p, q) = bias(o) + sum over c, i, j of weight(o, c, i, j) input(n, c, p stride + i\n"
    "dilation - padding, ...), where input is zero outside its bounds. The output channels of group g\n"
    "read only the input channels of group g. All dtypes but bool; only floating ones are fast.\n"
    "input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW), bias (O) -> (N, O, H', W') or (O, H', W')",
    /* conv2d_input_grad */
    "The gradient of conv2d's input, from grad, the gradient of its output: at each row, the sum of\n"
    "weight(o, c, i, j) grad(n, o, p, q) over all o, i, j for which p stride + i dilation - padding is\n"
    "that row; columns likewise. A complex weight is conjugated. torch.nn.grad.conv2d_input.\n"
    "grad (N, O, H', W'), weight (O, C / groups, kH, kW), input_size (N, C, H, W) -> input_size",
    /* conv2d_padding */
    "conv2d with no padding (valid), or with as much as makes the output as large as the input\n"
    "(same).\n"
    "input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW), bias (O) -> (N, O, H', W') or (O, H', W')",
    /* conv2d_weight_grad */
    "The gradient of conv2d's weight, from grad, the gradient of its output: the sum over n, p,\n"
    "q of grad(n, o, p, q) input(n, c, p stride + i dilation - padding, ...). A complex input\n"
    "is conjugated. torch.nn.grad.conv2d_weight.\n"
    "grad (N, O, H', W'), input (N, C, H, W), weight_size (O, C / groups, kH, kW) -> weight_size",
    /* conv3d */
    "conv2d of volumes: the sums also run along the depth.\n"
    "input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
    /* conv3d_input_grad */
    "The gradient of conv3d's input, as conv2d_input_grad. torch.nn.grad.conv3d_input.\n"
    "grad (N, O, D', H', W'), weight (O, C / groups, kD, kH, kW), input_size (N, C, D, H, W) -> input_size",
    /* conv3d_padding */
    "conv3d with no padding (valid), or with as much as makes the output as large as the input\n"
    "(same).\n"
    "input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
    /* conv3d_weight_grad */
    "The gradient of conv3d's weight, as conv2d_weight_grad. torch.nn.grad.conv3d_weight.\n"
    "grad (N, O, D', H', W'), input (N, C, D, H, W), weight_size (O, C / groups, kD, kH, kW) -> weight_size",
    /* conv_tbc */
    "conv1d of tensors whose first dimension is time: y(t, n, o) = bias(o) + sum over j, c of\n"
    "weight(j, c, o) self(t + j - pad, n, c). Integers, too.\n"
    "self (T, N, C), weight (k, C, O), bias (O) -> (T', N, O)",
    /* conv_transpose1d */
    "conv_transpose2d of lines.\n"
    "input (N, C, L) or (C, L), weight (C, O / groups, k), bias (O) -> (N, O, L') or (O, L')",
    /* conv_transpose2d */
    "The transposed map of conv2d: each element of input, times the kernel, is added to the output at\n"
    "stride times its place, less padding. output_padding adds to the output's size on one side.\n"
    "Vincent Dumoulin and Francesco Visin, A guide to convolution arithmetic for deep learning.\n"
    "input (N, C, H, W) or (C, H, W), weight (C, O / groups, kH, kW), bias (O) -> (N, O, H', W') or (O, H', W')",
    /* conv_transpose3d */
    "conv_transpose2d of volumes.\n"
    "input (N, C, D, H, W) or (C, D, H, W), weight (C, O / groups, kD, kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
    /* convert_indices_from_coo_to_csr */
    "Of sorted row indices, where each row begins, and the end of the last.\n"
    "self (n) integers in order -> (size + 1)",
    /* convert_indices_from_csr_to_coo */
    "The indices of a matrix whose rows end at crow_indices[1..]; with transpose, of its transpose.\n"
    "crow_indices (rows + 1), col_indices (n) -> (2, n)",
    /* copy */
    "Overwrites self with src, broadcast and converted to self's dtype.\n"
    "self (*), src broadcast to it -> self",
    /* copysign */
    "|self| with the sign of other, which may be a zero or NaN; integers give floats. The gradient at\n"
    "0 is 0.\n"
    "(*), (*) -> broadcast",
    /* corrcoef */
    "Pearson's correlations of variables, the rows of self: their covariances over both standard\n"
    "deviations.\n"
    "self (variables, n) or (n) -> (variables, variables), or ()",
    /* cos */
    "The cosine of self in radians; self may be of any size.\n"
    "(*) -> (*), floating",
    /* cosh */
    "(e^self + e^-self) / 2, within 2 ULP.\n"
    "(*) -> (*), floating",
    /* cosine_embedding_loss */
    "1 - c where target is 1, max(0, c - margin) where it is -1, 0 elsewhere, where c is the cosine of\n"
    "the angle between the vectors input1 and input2.\n"
    "input1, input2 (N, D), target (N), or (D) and () -> () or (N)",
    /* cosine_similarity */
    "x1 . x2 / (|x1| |x2|) along dim of the shape to which both broadcast, where each length counts as\n"
    "at least eps.\n"
    "x1, x2 (*), broadcast together -> (*) without dim",
    /* count_nonzero */
    "The number of nonzero elements over dim, or of all if dim is absent or empty; NaN counts as\n"
    "nonzero.\n"
    "self (*) -> int64, self's shape without dim",
    /* cov */
    "The covariances of variables, the rows of self, from observations, its columns. fweights:\n"
    "how often each observation was made; aweights: how much it counts. The products of deviations\n"
    "from the weighted mean are divided by the sum of weights less correction.\n"
    "self (variables, n) or (n), fweights (n) integers, aweights (n) floating -> (variables, variables), or () of one variable",
    /* cross_entropy */
    "With class numbers as target: nll_loss(log_softmax(input), target). With\n"
    "probabilities as target: -sum(target log_softmax(input)). label_smoothing mixes the\n"
    "target with the uniform distribution.\n"
    "input (N, C, *), target (N, *) int64 or (N, C, *) floating, weight (C) -> () or (N, *)",
    /* ctc_loss */
    "The loss of connectionist temporal classification: -log of the probability, under log_probs, of\n"
    "all sequences of T labels that become targets when repeated labels are taken once and then blanks\n"
    "left out. The mean divides each loss by its target's length first. zero_infinity makes an\n"
    "infinite loss, of a target that is too long, 0.\n"
    "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one dimension -> () or (N)",
    /* ctc_loss_input_grad */
    "The gradient of log_probs in ctc_loss_plain, as torch has it: grad times exp(log_probs) less the\n"
    "part of all paths that is in a state of the class. Together with the gradient of log_softmax that\n"
    "is the gradient of the loss.\n"
    "grad (N) or (), the others as in ctc_loss_plain -> like log_probs",
    /* ctc_loss_plain */
    "ctc_loss of each sample.\n"
    "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one dimension, lengths (N) -> (N) or ()",
    /* ctc_loss_tensor */
    "ctc_loss with lengths in tensors.\n"
    "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one dimension, lengths (N) -> () or (N)",
    /* cummax */
    "The largest of the elements up to each one along dim, and its index: of equal elements the last\n"
    "one. From a NaN on, all are NaN.\n"
    "self (*) -> values, indices (*)",
    /* cummin */
    "The smallest of the elements up to each one along dim, and its index: of equal elements the last\n"
    "one. From a NaN on, all are NaN.\n"
    "self (*) -> values, indices (*)",
    /* cumprod */
    "y_i = x_0 * ... * x_i along dim. Integers and bool are multiplied in int64, or in the dtype of\n"
    "the tensor that is written.\n"
    "self (*) -> (*)",
    /* cumsum */
    "y_i = x_0 + ... + x_i along dim. Integers and bool are summed in int64.\n"
    "self (*) -> (*)",
    /* deg2rad */
    "Degrees as radians: pi / 180 self.\n"
    "(*) -> (*), floating",
    /* det */
    "linalg_det.\n"
    "(*, n, n) -> (*), float32, float64 or complex",
    /* detach */
    "A view of the same memory without history: gradients do not flow through it to self.\n"
    "self (*) -> (*)",
    /* dft */
    "The discrete Fourier transform of length n along dim, times scale: self is cropped or gets zeros\n"
    "behind it to have n elements, and the result likewise to have count. With hermitian, self is the\n"
    "first half of a signal whose other half mirrors it, n / 2 + 1 elements at most, and the result is\n"
    "real.\n"
    "self (*) -> (*) complex, or real with hermitian; float32, float64 or complex",
    /* diagonal */
    "The diagonal of dim1 and dim2, moved right by `offset`, as the last dimension. A view.\n"
    "self (n, m) -> (min(n, m - offset))",
    /* digamma */
    "The derivative of lgamma; at 0 an infinity of the other sign, at negative integers NaN.\n"
    "(*) -> (*), floating",
    /* dirichlet_grad */
    "The derivative of a beta number x in its first parameter alpha at the same probability, over 1 -\n"
    "x; total is the sum of both parameters. Of a row of Dirichlet numbers, whose concentrations add\n"
    "up to total, the gradient in alpha is grad (incoming - sum(x incoming)). NaN where x is not\n"
    "within 0..1 or alpha is not positive.\n"
    "(*), (*), (*) -> broadcast, floating",
    /* distributed_all_gather */
    "The inputs of all ranks, one after the other in the order of ranks, into every rank's output.\n"
    "input (n, *), output (ranks n, *) or (ranks, n, *), of one dtype",
    /* distributed_all_reduce */
    "Every rank's tensor becomes the sum, or what op says, of all ranks' tensors, element by element,\n"
    "with the same bits on all. Integers wrap and have no avg; the sum and product of bools are or and\n"
    "and; a NaN wins min and max. Complex numbers have sum and avg alone, bits (band, bor, bxor)\n"
    "integers and bools.\n"
    "tensor (*), the same on all ranks",
    /* distributed_all_to_all */
    "Part r of the input, of as many equal parts along dim 0 as there are ranks, goes to rank r; part\n"
    "r of the output is what came from rank r.\n"
    "input (ranks n, *), output (ranks n, *), of one dtype",
    /* distributed_barrier */
    "Returns when all ranks of the group have called it.\n"
    "none",
    /* distributed_broadcast */
    "Every rank's tensor becomes that of rank src of the group.\n"
    "tensor (*), the same on all ranks",
    /* distributed_recv */
    "Receives into the tensor what rank src of the group sends to this one with the same tag. Shape\n"
    "and dtype are the same on both ends. src -1: from nobody, the tensor stays.\n"
    "tensor (*)",
    /* distributed_reduce */
    "The same for rank dst alone: its tensor becomes the sum, those of the other ranks stay.\n"
    "tensor (*), the same on all ranks",
    /* distributed_reduce_scatter */
    "The sum, or what op says, of all ranks' inputs; rank r gets the r-th of as many equal parts as\n"
    "there are ranks.\n"
    "input (ranks n, *) or (ranks, n, *), output (n, *), of one dtype",
    /* distributed_send */
    "Sends the tensor to rank dst of the group, which receives it with the same tag; returns when it\n"
    "has it. dst -1: to nobody.\n"
    "tensor (*)",
    /* div */
    "self / other; integers give floats.\n"
    "(*), (*) -> broadcast",
    /* div_mode */
    "self / other, rounded by rounding_mode: `trunc` (towards 0), `floor`, or None (not at all).\n"
    "(*), (*) -> broadcast",
    /* div_trunc */
    "self / other rounded towards 0.\n"
    "(*), (*) -> broadcast",
    /* dot */
    "The sum of the products of two vectors; neither is conjugated.\n"
    "self (n), tensor (n) -> ()",
    /* dropout */
    "In training, zeroes each element with probability p and scales the others by 1 / (1 - p).\n"
    "Otherwise returns the input itself.\n"
    "input (*) -> (*), floating or complex",
    /* elu */
    "scale * self where self is above 0, else scale * alpha * (e^(self * input_scale) - 1).\n"
    "(*) -> (*), floating",
    /* embedding */
    "The rows of the table weight at indices. Row padding_idx gets no gradient (-1: every row does);\n"
    "scale_grad_by_freq divides a row's gradient by how often the row was taken. With sparse the\n"
    "gradient of weight is a sparse tensor of the rows that were taken.\n"
    "weight (n, d), indices (*) -> (*, d)",
    /* embedding_bag */
    "Sums, means or maxima of rows of the table weight, one for each bag of indices: a row of input,\n"
    "or input from one of offsets to the next. An empty bag is 0. per_sample_weights are factors of\n"
    "the rows in a sum; indices padding_idx are left out; with include_last_offset the last offset is\n"
    "the end. With sparse the gradient of weight is a sparse tensor of the rows that were taken.\n"
    "input (n) and offsets (B), or input (B, n); weight (rows, d), per_sample_weights like input -> (B, d)",
    /* embedding_dense_backward */
    "The gradient of embedding's table: adds the rows of grad_output at their indices, in order.\n"
    "grad_output (*, d), indices (*) -> (num_weights, d)",
    /* empty */
    "A tensor whose elements are not initialised.\n"
    "-> size",
    /* empty_like */
    "Not initialised, with self's sizes, dtype and order of dimensions.\n"
    "self (*) -> (*)",
    /* empty_permuted */
    "A tensor whose elements are not initialised, and whose dimensions lie in memory in the order of\n"
    "physical_layout, the outermost first.\n"
    "-> size",
    /* eq */
    "self == other; false if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* equal */
    "Whether both tensors have the same size and elements, in the dtype common to both, as a 0-dim\n"
    "bool. A NaN equals nothing, not even itself.\n"
    "self (*), other (*) -> bool ()",
    /* erf */
    "2 / sqrt(pi) times the integral of e^(-t^2) from 0 to self.\n"
    "(*) -> (*), floating",
    /* erfc */
    "1 - erf(self), with all digits where it is small.\n"
    "(*) -> (*), floating",
    /* erfinv */
    "The inverse of erf: infinite at -1 and 1, NaN beyond.\n"
    "(*) -> (*), floating",
    /* exp */
    "e^self.\n"
    "(*) -> (*), floating",
    /* exp2 */
    "2 to the power of self.\n"
    "(*) -> (*), floating",
    /* expand */
    "Dimensions of size 1 repeated to the given size without a copy; -1 keeps a size. New dimensions\n"
    "come in front. A view.\n"
    "self (3, 1) -> (2, 3, 4)",
    /* expand_as */
    "self expanded to the sizes of other. A view.\n"
    "self (3), other (4, 3) -> (4, 3)",
    /* expm1 */
    "e^self - 1, accurate near 0.\n"
    "(*) -> (*), floating",
    /* exponential */
    "Fills self with exponentially distributed random numbers of rate lambd.\n"
    "self (*) -> self",
    /* eye */
    "A square matrix with ones on the diagonal and zeros elsewhere.\n"
    "-> (n, n)",
    /* eye_m */
    "An n x m matrix with ones on the diagonal and zeros elsewhere.\n"
    "-> (n, m)",
    /* feature_alpha_dropout */
    "alpha_dropout of whole channels: all elements with the same first two numbers are dropped\n"
    "together.\n"
    "input (N, C, *) -> (N, C, *), floating",
    /* fft_fft */
    "The discrete Fourier transform along dim, of length n: self is cropped or gets zeros behind it.\n"
    "\n"
    "self (*) -> (*) complex",
    /* fft_fft2 */
    "The discrete Fourier transform over two dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_fftfreq */
    "The frequencies of fft's n results, in their order, for samples d apart.\n"
    "(n)",
    /* fft_fftn */
    "The discrete Fourier transform over several dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_fftshift */
    "Frequency 0 in the middle: from the order of fft's results to that of the frequencies.\n"
    "self (*) -> (*)",
    /* fft_hfft */
    "The real spectrum of a Hermitian signal, of which self is half along dim, of length n: self is\n"
    "cropped or gets zeros behind it.\n"
    "self (*) -> (*) real",
    /* fft_hfft2 */
    "The real spectrum of a Hermitian signal, of which self is half over two dimensions, of lengths\n"
    "s.\n"
    "self (*) -> (*) real",
    /* fft_hfftn */
    "The real spectrum of a Hermitian signal, of which self is half over several dimensions, of\n"
    "lengths s.\n"
    "self (*) -> (*) real",
    /* fft_ifft */
    "The inverse of fft along dim, of length n: self is cropped or gets zeros behind it.\n"
    "self (*) -> (*) complex",
    /* fft_ifft2 */
    "The inverse of fft over two dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_ifftn */
    "The inverse of fft over several dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_ifftshift */
    "The inverse of fftshift.\n"
    "self (*) -> (*)",
    /* fft_ihfft */
    "The inverse of hfft: half of a Hermitian signal from its real spectrum along dim, of length n:\n"
    "self is cropped or gets zeros behind it.\n"
    "self (*) -> (*) complex",
    /* fft_ihfft2 */
    "The inverse of hfft: half of a Hermitian signal from its real spectrum over two dimensions, of\n"
    "lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_ihfftn */
    "The inverse of hfft: half of a Hermitian signal from its real spectrum over several dimensions,\n"
    "of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_irfft */
    "The inverse of rfft: real numbers from half of their spectrum along dim, of length n: self is\n"
    "cropped or gets zeros behind it.\n"
    "self (*) -> (*) real",
    /* fft_irfft2 */
    "The inverse of rfft: real numbers from half of their spectrum over two dimensions, of lengths s.\n"
    "\n"
    "self (*) -> (*) real",
    /* fft_irfftn */
    "The inverse of rfft: real numbers from half of their spectrum over several dimensions, of\n"
    "lengths s.\n"
    "self (*) -> (*) real",
    /* fft_rfft */
    "The transform of real numbers: the half of the spectrum that is no mirror of the other along\n"
    "dim, of length n: self is cropped or gets zeros behind it.\n"
    "self (*) -> (*) complex",
    /* fft_rfft2 */
    "The transform of real numbers: the half of the spectrum that is no mirror of the other over two\n"
    "dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fft_rfftfreq */
    "The frequencies of rfft's results for n samples, d apart.\n"
    "(n / 2 + 1)",
    /* fft_rfftn */
    "The transform of real numbers: the half of the spectrum that is no mirror of the other over\n"
    "several dimensions, of lengths s.\n"
    "self (*) -> (*) complex",
    /* fill */
    "Sets every element of self to value.\n"
    "self (*) -> self",
    /* flatten */
    "The dimensions from start_dim to end_dim merged into one. A view if possible, else a copy.\n"
    "self (2, 3, 4) -> (2, 12)",
    /* flip */
    "A copy with the order of elements reversed along the given dimensions.\n"
    "self (*) -> (*)",
    /* float_power */
    "pow in float64, or in complex128 if either is complex.\n"
    "(*), (*) -> broadcast",
    /* floor */
    "The largest integer that is not above self. Integers stay as they are.\n"
    "(*) -> (*)",
    /* floor_divide */
    "floor(self / other), computed as (self - remainder) / other.\n"
    "(*), (*) -> broadcast",
    /* fmax */
    "The larger element of each pair; a NaN counts as absent. Equal elements share the gradient.\n"
    "(*), (*) -> broadcast",
    /* fmin */
    "The smaller element of each pair; a NaN counts as absent. Equal elements share the gradient.\n"
    "(*), (*) -> broadcast",
    /* fmod */
    "self - other * trunc(self / other), computed exactly. The result has the sign of self.\n"
    "(*), (*) -> broadcast",
    /* frac */
    "The fraction: self - trunc(self).\n"
    "(*) -> (*), floating",
    /* fractional_max_pool2d */
    "The largest elements of output_size windows of kernel_size and their numbers in the plane.\n"
    "random_samples, numbers of [0, 1) for the columns and the rows of each plane, place the windows.\n"
    "Benjamin Graham, Fractional max-pooling, 2014.\n"
    "self (N, C, H, W) or (C, H, W), random_samples (N, C, 2) -> result, indices: (N, C, output_size)",
    /* fractional_max_pool3d */
    "fractional_max_pool2d of volumes; random_samples are those of depth, rows and columns.\n"
    "self (N, C, D, H, W) or (C, D, H, W), random_samples (N, C, 3) -> result, indices: (N, C, output_size)",
    /* frexp */
    "self as mantissa 2^exponent, 1/2 <= |mantissa| < 1; 0, infinities and NaN are their mantissa,\n"
    "with exponent 0.\n"
    "(*) -> (*), (*) int32",
    /* full */
    "All elements fill_value: int64 for an int, the default dtype for a float.\n"
    "-> size",
    /* full_like */
    "All elements fill_value, with self's sizes, dtype and order of dimensions.\n"
    "self (*) -> (*)",
    /* fused_adam */
    "For each parameter p with gradient g, t = step (from 1): g += weight_decay p; m += (1 -\n"
    "beta1)(g - m); v = beta2 v + (1 - beta2) g^2; w = v, or its running maximum with amsgrad; p\n"
    "-= lr / (1 - beta1^t) m / (sqrt(w) / sqrt(1 - beta2^t) + eps). Numbers: a list with one\n"
    "member a parameter, or one for all.\n"
    "lists of equally many tensors, one shape at each place; max_exp_avg_sqs: those, or NULL for each",
    /* fused_adamw */
    "fused_adam with decoupled decay: first p *= 1 - lr weight_decay, and g stays as it is.\n"
    "as fused_adam",
    /* fused_sgd */
    "For each parameter p with gradient g: g += weight_decay p; with momentum b = momentum b + (1 -\n"
    "dampening) g, b = g at its first step, and g = b or, nesterov, g + momentum b; p -= lr g.\n"
    "Numbers: a list with one member a parameter, or one for all.\n"
    "lists of equally many tensors, one shape at each place; momentum_buffer_list: those, or NULL for each",
    /* fused_step */
    "A step of an optimizer by its rule, for each parameter with its gradient and its states; numbers:\n"
    "the rule's factors (src/simd/optimize_rules.inl), for each parameter or once for all. assign:\n"
    "parameters become the factor times what is given as gradients.\n"
    "lists of equally many tensors, one shape at each place; a state that the rule does not have: an empty list",
    /* gather */
    "out[i][j] = self[index[i][j]][j] for dim 0, and likewise for other dims.\n"
    "self (*), index (*) -> index's shape",
    /* gaussian_nll_loss */
    "The negative log-likelihood of target under normal distributions of mean input and variance var,\n"
    "(log var + (input - target)^2 / var) / 2, to which full adds log(2 pi) / 2 (Nix and Weigend 1994,\n"
    "Estimating the mean and variance of the target probability distribution). var counts as at least\n"
    "eps; where it is negative, the loss is NaN.\n"
    "input, target (*), var (*), without the last dimension or with 1 in one dimension -> () or (*)",
    /* gcd */
    "The greatest common divisor of two integers, at least 0; 0 of 0 and 0.\n"
    "(*), (*) -> broadcast, integers",
    /* ge */
    "self >= other; false if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* gelu */
    "self * Phi(self), where Phi is the normal distribution, or its approximation by tanh.\n"
    "(*) -> (*), floating",
    /* gelu_erf */
    "self * Phi(self), where Phi is the normal distribution: gelu without approximation.\n"
    "(*) -> (*), floating",
    /* gelu_erf_backward */
    "grad_output * (Phi(self) + self * phi(self)): phi is the density of the\n"
    "normal distribution Phi.\n"
    "(*), (*) -> (*)",
    /* gelu_tanh */
    "self * (1 + tanh(sqrt(2 / pi) (self + 0.044715 self^3))) / 2: gelu approximated by tanh.\n"
    "(*) -> (*), floating",
    /* geometric */
    "Fills self with numbers of trials, 1 or more, until one succeeds with probability p.\n"
    "self (*) -> self",
    /* geqrf */
    "A = Q R, packed: R on and above the diagonal, below it the vectors of the reflections whose\n"
    "product Q is; tau are their factors.\n"
    "(*, m, n) -> (*, m, n), (*, min(m, n)), float32, float64 or complex",
    /* glu */
    "The first half of self along dim, times the sigmoid of the second.\n"
    "Y. Dauphin et al., Language Modeling with Gated Convolutional Networks, 2017.\n"
    "(*, 2 n, *) -> (*, n, *), floating",
    /* glu_gate */
    "self * sigmoid(gate).\n"
    "(*), (*) -> (*), floating",
    /* grid_sample */
    "The input at the places of grid: x, y (and z) from -1 to 1 across the input. A place between\n"
    "elements takes a mean of those around it (bilinear, or bicubic with A = -0.75) or the nearest.\n"
    "Beyond the input are zeros, its border, or its reflection. With align_corners -1 and 1 are the\n"
    "outermost elements, else their outer edges. Max Jaderberg et al., Spatial transformer networks,\n"
    "2015.\n"
    "input (N, C, H, W), grid (N, H', W', 2) -> (N, C, H', W'); input (N, C, D, H, W), grid (N, D', H', W', 3) -> (N, C, D', H', W')",
    /* group_norm */
    "Normalises each group of channels of each sample, then scales and shifts each channel.\n"
    "Y. Wu and K. He, Group Normalization, 2018.\n"
    "input (N, C, *), weight (C), bias (C) -> (N, C, *), floating",
    /* grouped_mm */
    "One product a group. A tensor of three dimensions has a matrix for each; one of two is cut where\n"
    "offs says that groups end: the rows of mat_a, or the columns of mat_b, if the other has three\n"
    "dimensions; if both have two, the columns of mat_a and the rows of mat_b, and each group gives a\n"
    "matrix. What lies behind the last end is 0 in the result. A bias is refused, as in torch.\n"
    "mat_a (M, K) or (G, M, K), mat_b (K, N) or (G, K, N), offs (G) int32 -> (M, N) if one has two dimensions, else (G, M, N), floating",
    /* gt */
    "self > other; false if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* hamming_window */
    "alpha - beta cos(2 pi k / (n - 1)); periodic: of a window of one point more, without the last\n"
    "one.\n"
    "-> (window_length), floating",
    /* hann_window */
    "0.5 - 0.5 cos(2 pi k / (n - 1)); periodic: of a window of one point more, without the last\n"
    "one.\n"
    "-> (window_length), floating",
    /* hardshrink */
    "0 where self is in [-lambd, lambd], else self.\n"
    "(*) -> (*), floating",
    /* hardsigmoid */
    "clamp(self + 3, 0, 6) / 6.\n"
    "(*) -> (*), floating",
    /* hardswish */
    "self * clamp(self + 3, 0, 6) / 6.\n"
    "(*) -> (*), floating",
    /* hardtanh */
    "self limited to [min_val, max_val]. For integers both numbers lose their fraction. The gradient\n"
    "is 0 at both bounds and passes at NaN.\n"
    "(*) -> (*)",
    /* heaviside */
    "0 below 0, values at 0, 1 above. Both tensors have one dtype.\n"
    "(*), (*) -> broadcast",
    /* hinge_embedding_loss */
    "input where target is 1, max(0, margin - input) where it is -1, the sum of both elsewhere.\n"
    "input, target (*), broadcast together -> () or (*)",
    /* histc */
    "How many elements lie in each of `bins` equal parts of [min, max], or of the elements' range if\n"
    "both are equal. NaN lies nowhere.\n"
    "self (*) floating -> (bins)",
    /* histogram */
    "How many elements lie in each of `bins` equal parts of range, or of the elements' range, and the\n"
    "parts' edges. With weight, the sum of the elements' weights; density: over the sum of all and the\n"
    "width. NaN lies nowhere.\n"
    "self (*) floating, weight (*) -> hist (bins), bin_edges (bins + 1)",
    /* histogram_bins */
    "histogram with edges given, which ascend.\n"
    "self (*) floating, bins (m), weight (*) -> hist (m - 1), bin_edges (m)",
    /* huber_loss */
    "d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), with d = input - target.\n"
    "input, target (*) -> () or (*)",
    /* hypot */
    "sqrt(self^2 + other^2) without overflow on the way. Infinite if either is infinite, even if the\n"
    "other is NaN. Two integer tensors are refused.\n"
    "(*), (*) -> broadcast, floating",
    /* i0 */
    "The modified Bessel function of the first kind of order 0.\n"
    "(*) -> (*), floating",
    /* igamma */
    "The lower incomplete gamma function, regularized: the integral of t^(a - 1) e^-t from 0 to x\n"
    "over gamma(a), a self and x other. Two integer tensors are refused.\n"
    "(*), (*) -> broadcast, floating",
    /* igammac */
    "The upper incomplete gamma function, regularized: 1 - igamma, with all digits where it is\n"
    "small.\n"
    "(*), (*) -> broadcast, floating",
    /* im2col */
    "The windows of each plane as columns: row (c, i, j) of the result has the element at place (i, j)\n"
    "of every window of channel c, windows in row-major order, 0 in the padding. torch's F.unfold.\n"
    "Floating and complex dtypes, and bool.\n"
    "input (N, C, H, W) or (C, H, W) -> (N, C kH kW, L) or (C kH kW, L), L windows",
    /* imag */
    "The imaginary part of a complex tensor, as a view.\n"
    "self (*) complex -> (*) real",
    /* index */
    "self[indices[0], indices[1], ..]. An index is int64 or int32 (negative numbers count from the\n"
    "end), a bool mask, or NULL for a whole dimension. The indices broadcast. Their shape replaces the\n"
    "indexed dimensions if these are neighbours; otherwise it comes first.\n"
    "self (5, 3), {(2)} -> (2, 3); {NULL, (4)} -> (5, 4); {(5, 3) bool} -> (true ones)",
    /* index_add */
    "A copy of self with alpha * source[i] added at place index[i] along dim, in the\n"
    "order of index.\n"
    "self (5, 3), index (n), source (n, 3) -> (5, 3)",
    /* index_put */
    "A copy of self with self[indices] = values, or += values with accumulate, in the order of the\n"
    "indices. values broadcast to the shape that index gives.\n"
    "self (5, 3), {(2)}, values broadcast to (2, 3) -> (5, 3)",
    /* index_reduce */
    "A copy of self whose place index[i] along dim is combined with source[i]: reduce is prod, mean,\n"
    "amax or amin, with the rules of scatter_reduce.\n"
    "self (5, 3), index (n), source (n, 3) -> (5, 3)",
    /* index_select */
    "The parts of self at the places index[i] along dim, as a copy.\n"
    "self (5, 3), index (n) -> (n, 3)",
    /* instance_norm */
    "batch_norm of each sample by itself: (x - mean) / sqrt(var + eps) * weight + bias, with the mean\n"
    "and variance of one channel in one sample. running_mean and running_var move by `momentum`\n"
    "towards the means of these over all samples. Without use_input_stats they stand in their place.\n"
    "Dmitry Ulyanov et al., Instance normalization: the missing ingredient for fast stylization,\n"
    "2016.\n"
    "input (N, C, *), the others (C) -> as input",
    /* interpolate */
    "The input's planes in another size, or scaled by scale_factor. With align_corners the first and\n"
    "last elements of input and output are at the same places; else elements are squares that cover\n"
    "the plane. antialias stretches the filter where the image shrinks. recompute_scale_factor takes\n"
    "the ratio of the sizes in the place of scale_factor.\n"
    "input (N, C, sizes), of 1 to 3 sizes -> (N, C, size)",
    /* inverse */
    "linalg_inv.\n"
    "(*, n, n) -> (*, n, n), float32, float64 or complex",
    /* isclose */
    "For each pair of elements: |self - other| <= atol + rtol * |other|, or both are equal.\n"
    "self, other (*) broadcast -> (*) bool",
    /* isfinite */
    "Whether each element is neither infinite nor NaN.\n"
    "(*) -> (*), bool",
    /* isinf */
    "Whether each element is infinite. A complex number is infinite if either part is.\n"
    "(*) -> (*), bool",
    /* isnan */
    "Whether each element is NaN. A complex number is NaN if either part is.\n"
    "(*) -> (*), bool",
    /* isneginf */
    "Whether each element is -infinity.\n"
    "(*) -> (*), bool",
    /* isposinf */
    "Whether each element is +infinity.\n"
    "(*) -> (*), bool",
    /* isreal */
    "Whether each element has no imaginary part; true of all real numbers.\n"
    "(*) -> (*), bool",
    /* istft */
    "The signal whose stft is nearest to self: frames' inverse transforms, weighted by the window and\n"
    "added, over the sum of squared windows. length: of the signal; zeros beyond the last frame.\n"
    "self (n_fft / 2 + 1, frames) or (b, n_fft / 2 + 1, frames), complex; n_fft frequencies unless onesided -> (n) or (b, n)",
    /* kaiser_window */
    "I0(beta sqrt(1 - s^2)) / I0(beta), s = 2 k / (n - 1) - 1; periodic: of a window of one point\n"
    "more, without the last one.\n"
    "-> (window_length), floating",
    /* kl_div */
    "target (log target - input), where input holds logarithms. With log_target the target does too:\n"
    "e^target (target - input). batchmean divides the sum by the first size of input alone.\n"
    "input, target (*) -> () or (*)",
    /* kthvalue */
    "The k-th smallest element along dim, counted from 1, and its index: of equal elements the one\n"
    "that a stable sort would put there. NaN counts as the largest.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* l1_loss */
    "|input - target|.\n"
    "input, target (*) -> () or (*)",
    /* layer_norm */
    "(x - mean) / sqrt(var + eps) * weight + bias. mean and var are taken over the last dimensions,\n"
    "whose sizes are normalized_shape; var divides by n, not n - 1.\n"
    "input (*, normalized_shape), weight, bias (normalized_shape) -> as input",
    /* layer_norm_backward */
    "The gradients of layer_norm's input, weight and bias, in one pass. Not for\n"
    "f64, not differentiable.\n"
    "grad_out, input (*, normalized_shape) -> grad_input, grad_weight, grad_bias",
    /* lcm */
    "The least common multiple of two integers, at least 0; 0 if one is 0.\n"
    "(*), (*) -> broadcast, integers",
    /* ldexp */
    "self 2^other. Whole exponents do not overflow on the way.\n"
    "(*), (*) -> broadcast, floating",
    /* le */
    "self <= other; false if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* leaky_relu */
    "self where it is above 0, else negative_slope * self.\n"
    "(*) -> (*), floating",
    /* leaky_relu_backward */
    "grad_output where self is above 0, else negative_slope * grad_output.\n"
    "(*), (*) -> (*)",
    /* lerp */
    "self + weight * (end - self), computed from end for weights of 1/2 and more. All tensors have one\n"
    "dtype, except a weight without dimensions, and out= beside a number as weight.\n"
    "(*), (*), (*) -> broadcast",
    /* lgamma */
    "The logarithm of the absolute value of the gamma function; infinite at 0 and at negative\n"
    "integers.\n"
    "(*) -> (*), floating",
    /* linalg_cholesky */
    "As linalg_cholesky_ex, but a matrix that is not positive definite is an error.\n"
    "(*, n, n) -> (*, n, n), float32, float64 or complex",
    /* linalg_cholesky_ex */
    "The Cholesky factor L of A = L L^H: lower triangular with a positive diagonal, read from the\n"
    "lower triangle of A. With upper: L^H, read from the upper triangle. info is 0, or the order of\n"
    "the first leading minor that is not positive; with check_errors the latter is an error.\n"
    "(*, n, n) -> (*, n, n), (*), float32, float64 or complex",
    /* linalg_det */
    "The determinants of square matrices.\n"
    "(*, n, n) -> (*), float32, float64 or complex",
    /* linalg_eig */
    "Eigenvalues, in no order, and eigenvectors of norm 1 as columns: A V = V diag(L). Both are\n"
    "complex also if A is real. An element that is not finite is an error.\n"
    "(*, n, n) -> (*, n) complex, (*, n, n) complex",
    /* linalg_eig_phases */
    "The diagonal of V^H gV, which is real if what was differentiated does not depend on the phases of\n"
    "the eigenvectors V; an imaginary part above 0.01 is an error.\n"
    "(*, n, n) -> (*, n) real",
    /* linalg_eigh */
    "Eigenvalues in rising order and eigenvectors as columns of Hermitian matrices, of which the\n"
    "triangle UPLO ('L' or 'U') is read.\n"
    "(*, n, n) -> (*, n) real, (*, n, n)",
    /* linalg_eigh_of */
    "Eigenvalues in rising order and, with compute_v, eigenvectors as columns of Hermitian matrices,\n"
    "of which the triangle UPLO ('L' or 'U') is read.\n"
    "(*, n, n) -> (*, n) real, (*, n, n)",
    /* linalg_eigvals */
    "Eigenvalues, in no order; complex also if the matrix is real.\n"
    "(*, n, n) -> (*, n) complex",
    /* linalg_eigvals_of */
    "linalg_eigvals without a gradient.\n"
    "(*, n, n) -> (*, n) complex",
    /* linalg_eigvalsh */
    "Eigenvalues in rising order of Hermitian matrices, of which the triangle UPLO ('L' or 'U') is\n"
    "read.\n"
    "(*, n, n) -> (*, n) real",
    /* linalg_householder_product */
    "The first columns of the product of reflections, as geqrf packs them.\n"
    "(*, m, n), (*, k) -> (*, m, n), k <= n <= m",
    /* linalg_inv */
    "As linalg_inv_ex, but a matrix that is singular is an error.\n"
    "(*, n, n) -> (*, n, n), float32, float64 or complex",
    /* linalg_inv_ex */
    "The inverses of square matrices. info is 0, or the place of the first zero pivot from 1; with\n"
    "check_errors the latter is an error.\n"
    "(*, n, n) -> (*, n, n), (*), float32, float64 or complex",
    /* linalg_ldl_factor */
    "As linalg_ldl_factor_ex, but a block of D that is zero is an error.\n"
    "(*, n, n) -> (*, n, n), (*, n), float32, float64 or complex",
    /* linalg_ldl_factor_ex */
    "A = L D L^T, with hermitian L D L^H, of symmetric matrices whose lower triangle is read, by the\n"
    "pivoting of Bunch and Kaufman. LD has the unit lower triangular L below the blocks of 1 and 2\n"
    "rows of D. pivots are LAPACK's: p > 0, row i was exchanged with row p - 1; two equal p < 0, the\n"
    "rows i and i + 1 are a block, and row i + 1 was exchanged with row -p - 1. info is 0, or the\n"
    "number of the first block that is zero, counted from 1; with check_errors the latter is an\n"
    "error.\n"
    "(*, n, n) -> (*, n, n), (*, n), (*), float32, float64 or complex",
    /* linalg_ldl_solve */
    "X of A X = B, where LD and pivots are linalg_ldl_factor of A, of the same hermitian.\n"
    "(*, n, n), (*, n), (*, n, k) -> (*, n, k)",
    /* linalg_lstsq */
    "X that makes |self X - b| least, the shortest of these if there are several; b may be a vector.\n"
    "driver: gels (full rank), gelsy, gelsd, gelss (singular values up to rcond times the largest\n"
    "count as 0; eps max(m, n) by default). residuals, of m > n and not gelsy: the squares that\n"
    "remain; rank: not gels; singular_values: gelsd and gelss.\n"
    "(*, m, n), (*, m, k) or (*, m) -> (*, n, k) or (*, n), (*, k), (*), (*, min(m, n))",
    /* linalg_lstsq_matrix */
    "The solutions of linalg_lstsq for batches of self's shape, with zeros below if self has more rows\n"
    "than columns, and the ranks. With full_rank these are not looked at.\n"
    "(*, m, n), (*, m, k) -> (*, max(m, n), k), (*)",
    /* linalg_lu */
    "A = P L U: P a permutation, L lower triangular with ones on its diagonal, U upper triangular.\n"
    "(*, m, n) -> (*, m, m), (*, m, k), (*, k, n), k = min(m, n)",
    /* linalg_lu_factor */
    "As linalg_lu_factor_ex, but a zero on the diagonal of U is an error.\n"
    "(*, m, n) -> (*, m, n), (*, min(m, n)), float32, float64 or complex",
    /* linalg_lu_factor_ex */
    "A = P L U with partial pivoting, packed: L below the diagonal (its own is ones), U on and above\n"
    "it. Row i was exchanged with row pivots[i] - 1. info is 0, or the number of the first zero on U's\n"
    "diagonal, counted from 1; with check_errors the latter is an error.\n"
    "(*, m, n) -> (*, m, n), (*, min(m, n)), (*), float32, float64 or complex",
    /* linalg_lu_solve */
    "X of A X = B, or with left=False of X A = B, where LU and pivots are linalg_lu_factor of A; with\n"
    "adjoint of the conjugate transpose of A.\n"
    "(*, n, n), (*, n), (*, n, k) -> (*, n, k)",
    /* linalg_matrix_exp */
    "The exponential of square matrices.\n"
    "(*, n, n) -> (*, n, n), float32, float64 or complex",
    /* linalg_matrix_power */
    "The n-th power of square matrices, for n < 0 of their inverses.\n"
    "(*, m, m) -> (*, m, m)",
    /* linalg_matrix_rank */
    "The number of singular values above tol.\n"
    "(*, m, n) -> (*) int64",
    /* linalg_matrix_rank_float */
    "The number of singular values above atol and rtol times the largest; by default rtol is eps\n"
    "max(m, n), 0 where atol is given. With hermitian only the lower triangle is read.\n"
    "(*, m, n) -> (*) int64",
    /* linalg_matrix_sqrth */
    "The Hermitian positive definite X with X X = self, of which the lower triangle is read.\n"
    "(*, n, n) -> (*, n, n)",
    /* linalg_pinv */
    "linalg_pinv_float with rtol = rcond.\n"
    "(*, m, n) -> (*, n, m)",
    /* linalg_pinv_float */
    "The pseudoinverse: singular values count as 0 unless they exceed atol and rtol times the largest,\n"
    "rtol being eps max(m, n) by default (0 where atol is given). With hermitian only the lower\n"
    "triangle is read.\n"
    "(*, m, n) -> (*, n, m), float32, float64 or complex",
    /* linalg_polar */
    "A = U H: U with orthonormal columns, H Hermitian and positive semidefinite.\n"
    "(*, m, n), m >= n -> (*, m, n), (*, n, n)",
    /* linalg_qr */
    "A = Q R, where Q has orthonormal columns and R is upper triangular with a real diagonal. mode is\n"
    "'reduced', 'complete' (Q is square) or 'r' (Q is empty and not computed).\n"
    "(*, m, n) -> (*, m, k), (*, k, n), float32, float64 or complex",
    /* linalg_slogdet */
    "The sign of the determinant, of complex matrices its angle as a number of modulus 1, and the\n"
    "logarithm of its modulus: 0 and -inf where it is 0.\n"
    "(*, n, n) -> (*), (*) real, float32, float64 or complex",
    /* linalg_solve */
    "As linalg_solve_ex, but a matrix that is singular is an error.\n"
    "(*, n, n), (*, n, k) or (*, n) -> B's",
    /* linalg_solve_ex */
    "X of A X = B, or with left=False of X A = B. B is a vector if it has one dimension, or if it has\n"
    "the shape of A without the last dimension. info is 0, or the place of the first zero pivot from\n"
    "1; with check_errors the latter is an error.\n"
    "(*, n, n), (*, n, k) or (*, n) -> B's, (*)",
    /* linalg_solve_lu */
    "linalg_solve_ex of matrices B alone.\n"
    "(*, n, n), (*, n, k) -> (*, n, k), (*), float32, float64 or complex",
    /* linalg_solve_triangular */
    "X of A X = B, or with left=False of X A = B, where A is triangular. Only that triangle is read;\n"
    "with unitriangular=True its diagonal is not read and counts as ones.\n"
    "(*, n, n), (*, n, k) -> (*, n, k), float32, float64 or complex",
    /* linalg_svd */
    "A = U diag(S) Vh: orthonormal columns in U and rows in Vh, S in falling order. With full_matrices\n"
    "U and Vh are square, else they have min(m, n) columns and rows.\n"
    "(*, m, n) -> (*, m, m or k), (*, k) real, (*, n or k, n), k = min(m, n)",
    /* linalg_svd_of */
    "linalg_svd; without compute_uv, U and Vh are empty.\n"
    "(*, m, n) -> (*, m, m or k), (*, k) real, (*, n or k, n), k = min(m, n)",
    /* linalg_svdvals */
    "The singular values in falling order.\n"
    "(*, m, n) -> (*, min(m, n)) real",
    /* linalg_tensorinv */
    "The inverse of self as a matrix whose rows are its first ind dimensions.\n"
    "self with prod(shape[:ind]) = prod(shape[ind:]) -> shape[ind:] + shape[:ind]",
    /* linalg_tensorsolve */
    "X of tensordot(self, X, X.ndim) = other, after dims of self are moved to its end.\n"
    "self (other's sizes, rest), other (*) -> (rest)",
    /* linalg_vector_norm */
    "(sum |x|^ord)^(1 / ord) over dim, or over all elements if dim is absent. ord inf gives the\n"
    "largest |x|, -inf the smallest, 0 the number of nonzero elements.\n"
    "self (*) floating or complex -> real, self's shape without dim, 1 there when keepdim",
    /* linear */
    "input weight^T + bias; without bias, input weight^T.\n"
    "input (*, in), weight (out, in), bias (out) -> (*, out)",
    /* linear_cross_entropy */
    "cross_entropy of linear(input, linear_weight, linear_bias). Dimensions of linear_weight between\n"
    "the first and the last are those of a loss of several dimensions.\n"
    "input (N, D) or (D), linear_weight (C, *, D), target (N, *) int64 or (N, C, *) floating, linear_bias (C, *), weight (C) -> () or (N, *)",
    /* linear_recurrence */
    "y_i = input_i + factor_i y_(i-1) along dim; with reverse y_i = input_i + factor_(i+1) y_(i+1).\n"
    "The first element (with reverse the last) is that of input.\n"
    "input (*), factor (*) -> (*), floating",
    /* linear_rows */
    "linear for one batch of rows. The gradient of weight has the same memory layout as weight.\n"
    "input (m, k), weight (n, k), bias (n) -> (m, n)",
    /* linspace */
    "`steps` values from start to end, both included, evenly spaced.\n"
    "-> (steps)",
    /* local_response_norm */
    "x / (k + alpha mean of x^2 over size channels around)^beta; channels beyond the ends count as 0.\n"
    "Alex Krizhevsky et al., ImageNet classification with deep convolutional neural networks, 2012.\n"
    "input (N, C, *) -> the same",
    /* log */
    "The natural logarithm.\n"
    "(*) -> (*), floating",
    /* log10 */
    "The logarithm to base 10.\n"
    "(*) -> (*), floating",
    /* log1p */
    "log(1 + self), accurate near 0.\n"
    "(*) -> (*), floating",
    /* log2 */
    "The logarithm to base 2; exact for powers of 2.\n"
    "(*) -> (*), floating",
    /* log_normal */
    "Fills self with numbers whose logarithm is normal, of the given mean and standard deviation.\n"
    "self (*) -> self",
    /* log_sigmoid */
    "log(1 / (1 + e^-self)), without overflow: the exponential is of -|self|.\n"
    "(*) -> (*), floating",
    /* log_softmax */
    "log_softmax(x)_i = x_i - max x - log sum_j exp(x_j - max x) along dim, computed in dtype if\n"
    "it is given, which takes the real part of complex numbers.\n"
    "self (*) -> (*), floating",
    /* log_softmax_backward */
    "The gradient of log_softmax from its output y, in one pass: dy - exp(y) sum(dy). Not for\n"
    "f64, not differentiable.\n"
    "grad_output (*), output (*) -> (*)",
    /* logaddexp */
    "log(e^self + e^other), without overflow on the way. Near 0 it is as exact as the larger of both\n"
    "is. Two integer tensors are refused.\n"
    "(*), (*) -> broadcast, floating",
    /* logaddexp2 */
    "log2(2^self + 2^other), without overflow on the way. Two integer tensors are refused.\n"
    "(*), (*) -> broadcast, floating",
    /* logcumsumexp */
    "y_i = log(e^(x_0) + ... + e^(x_i)) along dim, without overflow on the way. Sums are f64, or\n"
    "complex128, as in torch.\n"
    "self (*) -> (*), floating or complex",
    /* logdet */
    "The logarithms of determinants: NaN where a real one is negative.\n"
    "(*, n, n) -> (*), float32, float64 or complex",
    /* logical_and */
    "Whether both elements are true (nonzero).\n"
    "(*), (*) -> broadcast, bool",
    /* logical_not */
    "Whether the element is false (zero).\n"
    "(*) -> (*), bool",
    /* logical_or */
    "Whether at least one of both elements is true (nonzero).\n"
    "(*), (*) -> broadcast, bool",
    /* logical_xor */
    "Whether exactly one of both elements is true (nonzero).\n"
    "(*), (*) -> broadcast, bool",
    /* logit */
    "log(self / (1 - self)), the inverse of the sigmoid, of self moved into [eps, 1 - eps] if eps is\n"
    "given.\n"
    "(*) -> (*), floating",
    /* logspace */
    "base to the power of `steps` numbers from start to end, both included, evenly spaced.\n"
    "-> (steps)",
    /* logsumexp */
    "log(sum(exp(x))) over dim, or over all elements if dim is empty, without overflow.\n"
    "self (*) -> floating, self's shape without dim, 1 there when keepdim",
    /* lp_pool1d */
    "The norm of each window of a line: the norm_type-th root of the sum of powers.\n"
    "input (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
    /* lp_pool2d */
    "The norm of each window: the norm_type-th root of the sum of powers.\n"
    "input (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
    /* lp_pool3d */
    "The norm of each window of a volume: the norm_type-th root of the sum of powers.\n"
    "input (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W')",
    /* lt */
    "self < other; false if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* lu_solve */
    "linalg_lu_solve with B first.\n"
    "(*, n, k), (*, n, n), (*, n) -> (*, n, k)",
    /* lu_unpack */
    "P, L and U of what linalg_lu_factor gives. Without unpack_data L and U are empty, without\n"
    "unpack_pivots P is.\n"
    "(*, m, n), (*, k) -> (*, m, m), (*, m, k), (*, k, n), k = min(m, n)",
    /* margin_ranking_loss */
    "max(0, -target (input1 - input2) + margin), with target 1 if input1 should rank higher, else -1.\n"
    "\n"
    "input1, input2, target (*), broadcast together -> () or (*)",
    /* masked_fill */
    "A copy of self with value where the mask is true.\n"
    "self (*), mask (*) broadcast, value number or 0-dim -> (*)",
    /* masked_scatter */
    "A copy of self in which the places where the mask is true get the elements of\n"
    "source, in order.\n"
    "self (*), mask (*) broadcast, source (n), n at least the number of true ones -> (*)",
    /* masked_select */
    "The elements where the mask is true, in row-major order.\n"
    "self (*), mask (*) broadcast -> (true ones)",
    /* matmul */
    "The matrix product with torch's rules. A 1-D operand is a row on the left and a column on the\n"
    "right; leading dimensions are batches and broadcast. Both have one dtype, not bool.\n"
    "self (*, m, k), other (*, k, n) -> (*, m, n)",
    /* matrix_exp */
    "linalg_matrix_exp; of 16-bit floats computed in float32.\n"
    "(*, n, n) -> (*, n, n), floating or complex",
    /* matrix_power */
    "linalg_matrix_power.\n"
    "(*, m, m) -> (*, m, m)",
    /* max */
    "The largest of all elements. A NaN wins. Equal elements share the gradient.\n"
    "self (*) -> ()",
    /* max_dim */
    "The largest element along dim and its index, the first among equal elements. A NaN wins.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* max_other */
    "maximum by torch's other name.\n"
    "(*), (*) -> broadcast",
    /* max_pool1d */
    "max_pool2d of lines.\n"
    "self (N, C, L) or (C, L) -> (N, C, L') or (C, L')",
    /* max_pool1d_with_indices */
    "The largest element of each window of a line, as max_pool1d, and its number in the line.\n"
    "self (N, C, L) or (C, L) -> result, indices: (N, C, L') or (C, L')",
    /* max_pool2d */
    "The largest element of each window. A NaN wins, padding never does; the first of equal elements\n"
    "gets the gradient. stride None means kernel_size; ceil_mode keeps a last window that is cut off.\n"
    "Real dtypes but bool.\n"
    "self (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
    /* max_pool2d_input_grad */
    "The gradient of max_pool2d's input: adds each element of grad to the element that its window\n"
    "chose. indices count the places of a window row by row: uint8, or int32 if a window has more than\n"
    "256. A place outside the window adds nothing.\n"
    "grad (N, C, H', W'), indices like grad, input_size (N, C, H, W) -> input_size",
    /* max_pool2d_pick */
    "The element of each window at the place that indices names; 0 for a place outside the window. The\n"
    "derivative of max_pool2d_input_grad.\n"
    "self (N, C, H, W), indices (N, C, H', W') -> (N, C, H', W')",
    /* max_pool2d_with_indices */
    "The largest element of each window, as max_pool2d, and its number in the plane, row by row.\n"
    "self (N, C, H, W) or (C, H, W) -> result, indices: (N, C, H', W') or (C, H', W')",
    /* max_pool3d */
    "max_pool2d of volumes.\n"
    "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', W')",
    /* max_pool3d_with_indices */
    "The largest element of each window of a volume and its number in the volume, row by row. A NaN\n"
    "wins, padding never does; the first of equal elements is taken. stride None means kernel_size;\n"
    "ceil_mode keeps a last window that is cut off. Real dtypes but bool.\n"
    "self (N, C, D, H, W) or (C, D, H, W) -> result, indices: (N, C, D', H', W') or (C, D', H', W')",
    /* max_unpool1d */
    "max_unpool2d of lines.\n"
    "input, indices (N, C, L') or (C, L') -> (N, C, L) or (C, L)",
    /* max_unpool2d */
    "Each element at the place in its plane that indices names, as max_pool2d_with_indices gives them;\n"
    "0 where none is. output_size chooses among the sizes of which the pooling makes the input's.\n"
    "input, indices (N, C, H', W') or (C, H', W') -> (N, C, H, W) or (C, H, W)",
    /* max_unpool3d */
    "max_unpool2d of volumes.\n"
    "input, indices (N, C, D', H', W') or (C, D', H', W') -> (N, C, D, H, W) or (C, D, H, W)",
    /* maximum */
    "The larger element of each pair; NaN if either is NaN. Equal elements share the gradient.\n"
    "(*), (*) -> broadcast",
    /* mean */
    "The sum over dim divided by the number of elements; NaN if there are none.\n"
    "Floating or complex.\n"
    "self (*) -> self's shape without dim, 1 there when keepdim",
    /* median */
    "The median of all elements, the lower one of two. A NaN wins, and of no elements it is NaN.\n"
    "self (*) -> ()",
    /* median_dim */
    "The median along dim, the lower one of two, and its index: of equal elements the one that a\n"
    "stable sort would put there. A NaN wins.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* meshgrid */
    "The coordinates of a grid: result i repeats tensor i along all other dimensions. Views.\n"
    "tensors (n), (m) -> (n, m), (n, m); \"xy\": (m, n)",
    /* min */
    "The smallest of all elements. A NaN wins. Equal elements share the gradient.\n"
    "self (*) -> ()",
    /* min_dim */
    "The smallest element along dim and its index, the first among equal elements. A NaN wins.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* min_other */
    "minimum by torch's other name.\n"
    "(*), (*) -> broadcast",
    /* minimum */
    "The smaller element of each pair; NaN if either is NaN. Equal elements share the gradient.\n"
    "(*), (*) -> broadcast",
    /* mish */
    "self * tanh(log(1 + e^self)).\n"
    "D. Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.\n"
    "(*) -> (*), floating",
    /* mm */
    "The product of two matrices, without broadcasting.\n"
    "self (m, k), mat2 (k, n) -> (m, n)",
    /* mode */
    "The commonest element along dim, the smallest among equally common ones, and the index where it\n"
    "stands last. NaN equals nothing.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* movedim */
    "Dimension source[i] goes to place destination[i]; the others keep their order. A view.\n"
    "self (a, b, c) -> (b, c, a)",
    /* mse_loss */
    "(input - target)^2.\n"
    "input, target (*) -> () or (*)",
    /* mul */
    "self * other. For bools: logical and.\n"
    "(*), (*) -> broadcast",
    /* multi_margin_loss */
    "sum over i other than the label y of weight[y] max(0, margin - input[y] + input[i])^p, divided by\n"
    "the number of classes; p is 1 or 2 (Crammer and Singer 2001, On the algorithmic implementation of\n"
    "multiclass kernel-based vector machines).\n"
    "input (N, C) or (C) floating, target (N) or () int64, weight (C) -> () or (N)",
    /* multilabel_margin_loss */
    "The sum over labels y of a sample and classes i that are none of its labels of max(0, 1 -\n"
    "input[y] + input[i]), divided by the number of classes. A row of target has the labels of its\n"
    "sample up to the first -1.\n"
    "input (N, C) or (C) floating, target like it int64 -> () or (N)",
    /* multilabel_margin_loss_plain */
    "multilabel_margin_loss of each sample.\n"
    "input (N, C) or (C) floating, target like it int64 -> (N) or ()",
    /* multilabel_soft_margin_loss */
    "The mean over classes of weight (target log(1 + e^-input) + (1 - target) log(1 + e^input)), for\n"
    "each sample.\n"
    "input, target (*, C), weight (C) -> () or (*)",
    /* multinomial */
    "Indices of the last dimension, drawn by its weights, which need not add up to 1; num_samples for\n"
    "each row. Without replacement no index comes twice.\n"
    "self (*, m), floating, 1-d or 2-d -> (*, num_samples), int64",
    /* mv */
    "The product of a matrix and a vector.\n"
    "self (m, k), vec (k) -> (m)",
    /* mvlgamma */
    "The logarithm of the multivariate gamma function of dimension p: p (p - 1) / 4 log pi and the sum\n"
    "of lgamma(self - k / 2) for k in 0..p - 1.\n"
    "(*) -> (*), floating",
    /* nan_to_num */
    "self with NaN replaced by nan (0), infinities by posinf and neginf (the largest and the smallest\n"
    "number of the dtype).\n"
    "(*) -> (*)",
    /* nanmedian */
    "The median of all elements that are not NaN, the lower one of two; NaN if there are none.\n"
    "self (*) -> ()",
    /* nanmedian_dim */
    "The median along dim of the elements that are not NaN, the lower one of two, and its index; NaN\n"
    "where there are none.\n"
    "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
    /* nanquantile */
    "quantile of the elements that are not NaN; NaN where there are none.\n"
    "self (*) float32 or float64, q () or (n) -> (n) if q has it, then self's shape without dim, 1 there when keepdim",
    /* nanquantile_scalar */
    "nanquantile for one fraction q.\n"
    "self (*) float32 or float64 -> self's shape without dim, 1 there when keepdim",
    /* narrow */
    "`length` positions along dim, beginning at start. A view.\n"
    "self (.., n, ..) -> (.., length, ..)",
    /* ne */
    "self != other; true if either is NaN.\n"
    "(*), (*) -> broadcast, bool",
    /* neg */
    "-self.\n"
    "(*) -> (*)",
    /* new_empty */
    "Not initialised, with self's dtype and device.\n"
    "-> size",
    /* new_full */
    "All elements fill_value, with self's dtype and device.\n"
    "-> size",
    /* new_ones */
    "All elements 1, with self's dtype and device.\n"
    "-> size",
    /* new_zeros */
    "All elements 0, with self's dtype and device.\n"
    "-> size",
    /* nextafter */
    "The next number after self in the direction of other, in the result's dtype; other where both are\n"
    "equal. Has no gradient. Two integer tensors are refused.\n"
    "(*), (*) -> broadcast, floating",
    /* nll_loss */
    "-weight[target] input[target] for each sample; weight is 1 if absent, and a sample whose target\n"
    "is ignore_index counts 0. The mean divides the sum by the sum of the weights.\n"
    "input (N, C, *) log-probabilities, target (N, *) int64, weight (C) -> () or (N, *)",
    /* nll_loss_input_grad */
    "The gradient of nll_loss's input: -weight[target] grad (divided by total_weight for the mean) at\n"
    "each sample's class, else 0.\n"
    "grad () or (N, *), target (N, *), weight (C), total_weight () -> input_size (N, C, *)",
    /* nll_loss_plain */
    "nll_loss with a weight that needs no gradient.\n"
    "input (N, C, *) log-probabilities, target (N, *) int64, weight (C) -> () or (N, *)",
    /* nonzero */
    "The indices of all nonzero elements, one row for each, in row-major order.\n"
    "self (n dimensions) -> (found, n) int64",
    /* nonzero_static */
    "The indices of the first `size` nonzero elements, one row for each, in row-major order; rows that\n"
    "are left have fill_value. Its shape does not depend on data, as that of nonzero does.\n"
    "self (n dimensions) -> (size, n) int64",
    /* norm */
    "torch.norm for a vector of any shape: linalg_vector_norm with ord = p (2 if absent).\n"
    "self (*) floating or complex -> real, self's shape without dim, 1 there when keepdim",
    /* normal */
    "Fills self with normal random numbers of the given mean and standard deviation.\n"
    "self (*) -> self",
    /* one_hot */
    "Each class number as a vector with a 1 at that class and 0 elsewhere. num_classes -1 means the\n"
    "largest class plus one.\n"
    "self (*) int64 -> (*, classes) int64",
    /* ones */
    "All elements 1, of the default dtype unless one is given.\n"
    "-> size",
    /* ones_like */
    "All elements 1, with self's sizes, dtype and order of dimensions.\n"
    "self (*) -> (*)",
    /* orgqr */
    "linalg_householder_product.\n"
    "(*, m, n), (*, k) -> (*, m, n), k <= n <= m",
    /* ormqr */
    "The product of input3 and Q (with transpose its adjoint) from the left or the right, where Q is\n"
    "the square product of the reflections that geqrf packs in self and input2.\n"
    "(*, m, n), (*, k), (*, m, c) -> (*, m, c); of left=False (*, c, m)",
    /* outer */
    "The products of each element of self and each of vec2.\n"
    "self (n), vec2 (m) -> (n, m)",
    /* pad */
    "The input with pad[0] elements before and pad[1] behind the last dimension, pad[2] and pad[3]\n"
    "around the one before, and so on; negative numbers leave elements out. Mode constant pads with\n"
    "value (0) and takes any number of dimensions. The others pad the last 1 to 3 dimensions with the\n"
    "input's own elements: reflect mirrors them at the ends, replicate repeats the ends, circular\n"
    "begins again at the other end.\n"
    "input (*, L) -> (*, pad[0] + L + pad[1])",
    /* pairwise_distance */
    "The p-norm of x1 - x2 + eps along the last dimension.\n"
    "x1, x2 (*, D), broadcast together -> (*), or (*, 1) with keepdim",
    /* pdist */
    "The p-norms of the differences of each row and each later one.\n"
    "self (n, m), float32 or float64 -> (n (n - 1) / 2)",
    /* permute */
    "Dimension dims[i] of self becomes dimension i. A view.\n"
    "self (N, C, H, W) -> (N, H, W, C) for dims 0, 2, 3, 1",
    /* pinverse */
    "linalg_pinv.\n"
    "(*, m, n) -> (*, n, m)",
    /* pixel_shuffle */
    "Images enlarged by upscale_factor r: r * r channels become the r x r pixels in the place of one,\n"
    "row by row. W. Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient\n"
    "Sub-Pixel Convolutional Neural Network, 2016. Channels-last images stay so.\n"
    "self (*, C * r * r, H, W) -> (*, C, H * r, W * r)",
    /* pixel_unshuffle */
    "The opposite of pixel_shuffle: images reduced by downscale_factor r, whose r x r pixels become\n"
    "channels. Channels-last images stay so.\n"
    "self (*, C, H * r, W * r) -> (*, C * r * r, H, W)",
    /* poisson */
    "Numbers of the Poisson distribution, each of the rate that self's element says.\n"
    "self (*) -> (*), floating",
    /* poisson_nll_loss */
    "The negative log-likelihood of the counts target: exp(input) - target input where input holds\n"
    "logarithms of expectations, else input - target log(input + eps). full adds Stirling's\n"
    "approximation of log(target!), target log target - target + log(2 pi target) / 2, for targets\n"
    "above 1.\n"
    "input, target (*), broadcast together -> () or (*)",
    /* polygamma */
    "The derivative of order n of digamma: (-1)^(n + 1) n! zeta(n + 1, self).\n"
    "self (*) -> (*), floating",
    /* pow */
    "self to the power of exponent, as C's pow; exponents 2 and 3 are products. Integers wrap. With an\n"
    "integer self, a negative number as exponent is refused; negative elements of an exponent tensor\n"
    "give 0, except for the bases 1 and -1.\n"
    "(*), (*) -> broadcast",
    /* prelu */
    "self where it is above 0, else weight * self. weight has one element, or one for each channel;\n"
    "the channels are dimension 1, and a vector is one channel.\n"
    "(N, C, *), () or (1) or (C) -> (N, C, *), floating",
    /* prelu_kernel */
    "self where it is above 0, else weight * self.\n"
    "(*), (*) -> broadcast, floating",
    /* prod */
    "The product over dim, or of all elements if dim is absent. Integers and bool are\n"
    "multiplied in int64.\n"
    "self (*) -> self's shape without dim, 1 there when keepdim",
    /* quantile */
    "The elements below which the fractions q of all elements along dim lie, or of self if dim is\n"
    "absent. Between two elements interpolation chooses: linear, lower, higher, midpoint or nearest.\n"
    "NaN if there is one.\n"
    "self (*) float32 or float64, q () or (n) -> (n) if q has it, then self's shape without dim, 1 there when keepdim",
    /* quantile_scalar */
    "quantile for one fraction q.\n"
    "self (*) float32 or float64 -> self's shape without dim, 1 there when keepdim",
    /* rad2deg */
    "Radians as degrees: 180 / pi self.\n"
    "(*) -> (*), floating",
    /* rand */
    "Random numbers, uniform in [0, 1).\n"
    "-> size",
    /* rand_like */
    "Uniform random numbers in [0, 1), with self's sizes and dtype.\n"
    "self (*) -> (*)",
    /* randint */
    "Random integers in [0, high), int64 unless a dtype is given.\n"
    "-> size",
    /* randint_low */
    "Random integers in [low, high), int64 unless a dtype is given.\n"
    "-> size",
    /* randn */
    "Normal random numbers with mean 0 and standard deviation 1.\n"
    "-> size",
    /* randn_like */
    "Normal random numbers with mean 0 and standard deviation 1, with self's sizes and dtype.\n"
    "self (*) -> (*)",
    /* random */
    "Fills self with random integers from 0 to the largest that its dtype can hold. For floating\n"
    "dtypes the largest is that up to which they hold all integers exactly.\n"
    "self (*) -> self",
    /* randperm */
    "The numbers 0 .. n - 1 in random order, int64 unless a dtype is given.\n"
    "-> (n)",
    /* real */
    "The real part, as a view; of a real tensor the tensor itself, as a view.\n"
    "self (*) complex -> (*) real",
    /* reciprocal */
    "1 / self.\n"
    "(*) -> (*), floating",
    /* reflection_pad */
    "self with its own elements around it, mirrored at the first and last one, which are not repeated:\n"
    "c b | a b c | b a. As mode reflect of pad, but no number is negative.\n"
    "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + padding[1]); of 4 and 6: 2 and 3 dimensions",
    /* relu */
    "self where it is above 0, else 0; a NaN stays. The gradient at 0 is 0.\n"
    "(*) -> (*)",
    /* remainder */
    "self - other * floor(self / other). The result has the sign of other.\n"
    "(*), (*) -> broadcast",
    /* renorm */
    "self with each part along dim whose norm of order p is above maxnorm scaled down to it.\n"
    "self (*) of two or more dimensions, floating or complex -> (*)",
    /* repeat */
    "self repeated repeats[i] times along dimension i; more repeats than dimensions add\n"
    "dimensions in front.\n"
    "self (2, 3) -> (4, 3)",
    /* replication_pad */
    "self with its first and last elements repeated around it: a a | a b c | c c. As mode replicate of\n"
    "pad, but no number is negative.\n"
    "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + padding[1]); of 4 and 6: 2 and 3 dimensions",
    /* resample */
    "The last dimensions in another size, as interpolate makes them. The mode is that of all\n"
    "dimensions: linear, bilinear and trilinear are one; area takes the mean of windows that cover the\n"
    "dimension. scales count in the place of the ratios of sizes.\n"
    "self (*, sizes), size of 1 to 3 -> (*, size)",
    /* resample_input_grad */
    "The gradient of resample's input: each element of grad, times its weights, is added to the\n"
    "elements of which its sum was made. dims: how many of the last dimensions have another size.\n"
    "grad (*, size), input_size (*, sizes) -> input_size",
    /* reshape */
    "The same elements in the same order with other sizes, one of which may be -1 and is computed. A\n"
    "view if strides can describe it, else a copy.\n"
    "self (2, 6) -> (3, 4)",
    /* rms_norm */
    "input / sqrt(mean(input^2) + eps) * weight over the last dimensions.\n"
    "B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.\n"
    "input (*, normalized_shape) -> the same, floating or complex",
    /* roll */
    "Elements moved by shifts[i] places along dims[i]; those that leave at one end come in at the\n"
    "other. Without dims the flattened tensor is rolled.\n"
    "self (*) -> (*)",
    /* round */
    "The nearest integer; halves go to the even one.\n"
    "(*) -> (*)",
    /* rrelu */
    "self where it is above 0, else self times a slope: in training one drawn for each element from\n"
    "[lower, upper), otherwise (lower + upper) / 2.\n"
    "(*) -> (*), floating",
    /* rrelu_noise */
    "The factors of rrelu in training: 1 where self is above 0 or NaN, else a number drawn uniformly\n"
    "from [lower, upper). Of half types they are float32.\n"
    "(*) -> (*), floating",
    /* rsqrt */
    "1 / sqrt(self).\n"
    "(*) -> (*), floating",
    /* rsub */
    "other - alpha * self, as in 1 - x with a number on the left.\n"
    "(*), (*) -> broadcast",
    /* sample_dirichlet */
    "Numbers of the Dirichlet distribution: each row of the last dimension is positive and adds up to\n"
    "1. self has the concentrations. The gradient is that of the numbers whose probabilities stay\n"
    "(_dirichlet_grad).\n"
    "self (.., n) -> (.., n), floating",
    /* scaled_dot_product_attention */
    "softmax(query key^T * scale + mask) value. scale None means 1 / sqrt(E). attn_mask is bool, true\n"
    "where a position may be seen, or floating and added to the scores. A row that sees nothing gives\n"
    "zeros, as in torch. enable_gqa: key and value may have fewer heads, dimension -3, than query, of\n"
    "which each serves several.\n"
    "query (*, L, E), key (*, S, E), value (*, S, Ev), attn_mask (*, L, S) -> (*, L, Ev)",
    /* scatter */
    "A copy of self with out[index[i][j]][j] = src[i][j] for dim 0, and likewise for other dims.\n"
    "self (*), index and src (*) of no larger sizes -> self's shape",
    /* scatter_add */
    "A copy of self with out[index[i][j]][j] += src[i][j] for dim 0, and likewise for other dims,\n"
    "added in row-major order.\n"
    "self (*), index and src (*) of no larger sizes -> self's shape",
    /* scatter_reduce */
    "A copy of self with out[index[i][j]][j] combined with src[i][j] for dim 0, and likewise for other\n"
    "dims: reduce is sum, prod, mean, amax or amin. Without include_self an element of self does not\n"
    "count where one of src comes. Means of integers are rounded down. The gradient of amax and amin\n"
    "is shared by equal elements.\n"
    "self (*), index and src (*) of no larger sizes -> self's shape",
    /* scatter_src_reduce */
    "scatter that adds or multiplies: scatter_add, or scatter_reduce with prod.\n"
    "self (*), index and src (*) of no larger sizes -> self's shape",
    /* scatter_value */
    "A copy of self with out[index[i][j]][j] = value for dim 0, and likewise for other dims.\n"
    "self (*), index (*) of no larger sizes -> self's shape",
    /* scatter_value_reduce */
    "A copy of self with value added to, or multiplied with, each place that the index names, as often\n"
    "as it names it.\n"
    "self (*), index (*) of no larger sizes -> self's shape",
    /* searchsorted */
    "Where each value of self belongs in sorted_sequence, which is sorted along its last dimension:\n"
    "before equal elements, or behind them with right or side \"right\". sorter holds the indices that\n"
    "sort it, as argsort gives them. NaN belongs behind all.\n"
    "sorted_sequence (n) or (.., n), self (*) or (.., m) -> self's shape, int64 or int32",
    /* segment_reduce */
    "Segments of data along axis, reduced to one element each: reduce is sum, mean, prod, max or min\n"
    "(or amax, amin). Either lengths says how long they are, one after another, or offsets where each\n"
    "begins and the last ends. initial is joined to each segment; without it an empty one gives 0,\n"
    "NaN, 1, or an infinity. With unsafe, lengths may leave a rest.\n"
    "data (*, n, *), lengths (*, S) or offsets (*, S + 1) -> (*, S, *), floating",
    /* select */
    "The part of self at one position along dim, without that dimension. A view.\n"
    "self (n, m) -> (m)",
    /* selu */
    "elu with the two numbers for which mean 0 and variance 1 are kept from layer to layer.\n"
    "G. Klambauer et al., Self-Normalizing Neural Networks, 2017.\n"
    "(*) -> (*), floating",
    /* sgn */
    "self / |self|, and 0 for 0: the sign of a real number, the direction of a complex one.\n"
    "(*) -> (*)",
    /* sigmoid */
    "1 / (1 + e^-self).\n"
    "(*) -> (*), floating",
    /* sigmoid_backward */
    "grad_output * (output * (1 - output)); for complex numbers the outer bracket is conjugated.\n"
    "(*), (*) -> (*)",
    /* sign */
    "-1, 0 or 1, the sign of self; 0 for NaN.\n"
    "(*) -> (*)",
    /* signbit */
    "Whether the sign bit of each element is set, also for -0 and NaN.\n"
    "(*) -> (*), bool",
    /* silu */
    "self * sigmoid(self).\n"
    "(*) -> (*), floating",
    /* silu_backward */
    "grad_output * s * (1 + self * (1 - s)), where s = sigmoid(self).\n"
    "(*), (*) -> (*)",
    /* sin */
    "The sine of self in radians; self may be of any size.\n"
    "(*) -> (*), floating",
    /* sinc */
    "sin(pi self) / (pi self); 1 at 0.\n"
    "(*) -> (*), floating",
    /* sinh */
    "(e^self - e^-self) / 2, within 2 ULP.\n"
    "(*) -> (*), floating",
    /* slice */
    "self[start:end:step] along dim. Negative positions count from the end; those beyond the end are\n"
    "cut to it. A view.\n"
    "self (.., n, ..) -> (.., ceil((end - start) / step), ..)",
    /* slogdet */
    "linalg_slogdet.\n"
    "(*, n, n) -> (*), (*) real, float32, float64 or complex",
    /* smooth_l1_loss */
    "d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target.\n"
    "input, target (*) -> () or (*)",
    /* soft_margin_loss */
    "log(1 + exp(-target input)), with target 1 or -1.\n"
    "input (*) floating or complex, target broadcast to it -> () or (*)",
    /* softmax */
    "softmax(x)_i = exp(x_i - max x) / sum_j exp(x_j - max x) along dim, computed in dtype if it is\n"
    "given, which takes the real part of complex numbers. A row of -inf gives NaN.\n"
    "self (*) -> (*), floating",
    /* softmax_backward */
    "The gradient of softmax from its output y, in one pass: y (dy - sum(y dy)). Not for\n"
    "f64, not differentiable.\n"
    "grad_output (*), output (*) -> (*)",
    /* softplus */
    "log(1 + e^(beta * self)) / beta; self where beta * self exceeds threshold.\n"
    "(*) -> (*), floating",
    /* softshrink */
    "self moved towards 0 by lambd, which is not negative; 0 where |self| is at most lambd.\n"
    "(*) -> (*), floating",
    /* softsign */
    "self / (1 + |self|).\n"
    "(*) -> (*), floating",
    /* sort */
    "The elements sorted along dim, and the index of each before. Stable: equal elements keep their\n"
    "order. NaN counts as the largest.\n"
    "self (*) -> values, indices (*)",
    /* sparse_coalesce */
    "Places in row-major order, each once, with the sum of its values.\n"
    "indices (d, n), values (n, *), d sizes and those of * -> (d, m), (m, *)",
    /* sparse_distinct */
    "self without the elements that are equal to the one before, and for each element of self its\n"
    "place among them: of sorted keys, each once.\n"
    "self (n) int64 -> (m), (n)",
    /* sparse_dots */
    "The elements of x y^T at the places in indices, on the CPU: the gradient of values in\n"
    "sparse_product.\n"
    "indices (2, n), x (rows, m), y (k, m), both float32 or float64 -> (n)",
    /* sparse_keys */
    "The row-major number in size of each column of indices.\n"
    "indices (d, n), d sizes -> (n) int64",
    /* sparse_mm */
    "The product of a sparse matrix of that many rows and a dense one.\n"
    "indices (2, n), values (n), dense (k, m) -> (rows, m)",
    /* sparse_product */
    "The product of a sparse matrix of that many rows and a dense one, on the CPU; see sparse_mm.\n"
    "indices (2, n), values (n), dense (k, m), both float32 or float64 -> (rows, m)",
    /* sparse_softmax */
    "The values of the softmax along dim (with log, of its logarithm) of the elements that are there,\n"
    "each once; all others count as -infinity.\n"
    "indices (d, n), values (n, *), d sizes and those of * -> (n, *)",
    /* sparse_take */
    "The elements of self at the places in indices: the values of a sparse tensor that has self's\n"
    "elements there.\n"
    "self (d sizes, *), indices (d, n) -> (n, *)",
    /* sparse_to_dense */
    "The tensor of that size with the values added at their places, and 0 elsewhere.\n"
    "indices (d, n), values (n, *), d sizes and those of * -> size",
    /* special_airy_ai */
    "Airy's function Ai. It has no gradient, as in torch.\n"
    "(*) -> (*), floating",
    /* special_bessel_j0 */
    "The Bessel function of the first kind of order 0.\n"
    "(*) -> (*), floating",
    /* special_bessel_j1 */
    "The Bessel function of the first kind of order 1.\n"
    "(*) -> (*), floating",
    /* special_bessel_y0 */
    "The Bessel function of the second kind of order 0; -inf at 0, NaN below.\n"
    "(*) -> (*), floating",
    /* special_bessel_y1 */
    "The Bessel function of the second kind of order 1; -inf at 0, NaN below.\n"
    "(*) -> (*), floating",
    /* special_chebyshev_polynomial_t */
    "Chebyshev's polynomial of the first kind of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_chebyshev_polynomial_u */
    "Chebyshev's polynomial of the second kind of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_chebyshev_polynomial_v */
    "Chebyshev's polynomial of the third kind of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_chebyshev_polynomial_w */
    "Chebyshev's polynomial of the fourth kind of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_entr */
    "-self log(self), the entropy of a probability; 0 at 0, -inf below.\n"
    "(*) -> (*), floating",
    /* special_erfcx */
    "e^(self^2) erfc(self).\n"
    "(*) -> (*), floating",
    /* special_hermite_polynomial_h */
    "The physicist's Hermite polynomial of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_hermite_polynomial_he */
    "The probabilist's Hermite polynomial of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_i0e */
    "i0(self) e^-|self|.\n"
    "(*) -> (*), floating",
    /* special_i1 */
    "The modified Bessel function of the first kind of order 1.\n"
    "(*) -> (*), floating",
    /* special_i1e */
    "special_i1(self) e^-|self|.\n"
    "(*) -> (*), floating",
    /* special_laguerre_polynomial_l */
    "Laguerre's polynomial of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_legendre_polynomial_p */
    "Legendre's polynomial of degree n.\n"
    "(*), (*) -> broadcast, floating",
    /* special_log_ndtr */
    "log(ndtr(self)), with all digits also where ndtr is 0 or 1.\n"
    "(*) -> (*), floating",
    /* special_modified_bessel_i0 */
    "i0, by another name.\n"
    "(*) -> (*), floating",
    /* special_modified_bessel_i1 */
    "special_i1, by another name.\n"
    "(*) -> (*), floating",
    /* special_modified_bessel_k0 */
    "The modified Bessel function of the second kind of order 0; infinite at 0, NaN below.\n"
    "(*) -> (*), floating",
    /* special_modified_bessel_k1 */
    "The modified Bessel function of the second kind of order 1; infinite at 0, NaN below.\n"
    "(*) -> (*), floating",
    /* special_ndtr */
    "The distribution function of the normal distribution: erfc(-self / sqrt(2)) / 2.\n"
    "(*) -> (*), floating",
    /* special_ndtri */
    "The inverse of ndtr: infinite at 0 and 1, NaN beyond.\n"
    "(*) -> (*), floating",
    /* special_scaled_modified_bessel_k0 */
    "special_modified_bessel_k0(self) e^self. It has no gradient, as in torch.\n"
    "(*) -> (*), floating",
    /* special_scaled_modified_bessel_k1 */
    "special_modified_bessel_k1(self) e^self. It has no gradient, as in torch.\n"
    "(*) -> (*), floating",
    /* special_shifted_chebyshev_polynomial_t */
    "Chebyshev's polynomial of the first kind of degree n, at 2 x - 1.\n"
    "(*), (*) -> broadcast, floating",
    /* special_shifted_chebyshev_polynomial_u */
    "Chebyshev's polynomial of the second kind of degree n, at 2 x - 1.\n"
    "(*), (*) -> broadcast, floating",
    /* special_shifted_chebyshev_polynomial_v */
    "Chebyshev's polynomial of the third kind of degree n, at 2 x - 1.\n"
    "(*), (*) -> broadcast, floating",
    /* special_shifted_chebyshev_polynomial_w */
    "Chebyshev's polynomial of the fourth kind of degree n, at 2 x - 1.\n"
    "(*), (*) -> broadcast, floating",
    /* special_spherical_bessel_j0 */
    "sin(self) / self, 1 at 0. It has no gradient, as in torch.\n"
    "(*) -> (*), floating",
    /* special_xlog1py */
    "self log(1 + other); 0 where self is 0, NaN where other is.\n"
    "(*), (*) -> broadcast, floating",
    /* special_zeta */
    "Hurwitz' zeta function, the sum of (other + k)^-self for k = 0, 1, ...: infinite where self is 1\n"
    "or other is 0 or a negative integer, NaN where self is below 1. Below other = 0 only an integer\n"
    "self has a value.\n"
    "(*), (*) -> broadcast, floating",
    /* split */
    "Pieces of split_size along dim; the last one may be smaller. Views.\n"
    "self (5, 3) -> (2, 3), (2, 3), (1, 3)",
    /* split_with_sizes */
    "Pieces of the given sizes along dim. Views.\n"
    "self (5, 3) -> (1, 3), (4, 3)",
    /* sqrt */
    "The square root, correctly rounded.\n"
    "(*) -> (*), floating",
    /* square */
    "self * self.\n"
    "(*) -> (*)",
    /* squeeze */
    "self without its dimensions of size 1. A view.\n"
    "self (1, 3, 1) -> (3)",
    /* squeeze_dim */
    "self without dimension dim if its size is 1, else all of self. A view.\n"
    "self (2, 1) -> (2)",
    /* squeeze_dims */
    "self without those of the given dimensions whose size is 1. A view.\n"
    "self (1, 3, 1) -> (3)",
    /* stack */
    "Tensors of one shape, one behind the other along a new dimension.\n"
    "tensors (3), (3) -> (2, 3)",
    /* standard_gamma */
    "Numbers of the gamma distribution of rate 1, each of the shape that self's element says; NaN\n"
    "below 0. The gradient is that of the number whose probability stays (_standard_gamma_grad).\n"
    "self (*) -> (*), floating",
    /* standard_gamma_grad */
    "The derivative of a draw of _standard_gamma in self, the shape, at the value output of the draw:\n"
    "the quantile moves, the probability stays. -(dF / da) / f, F the distribution function igamma and\n"
    "f its density: M. Figurnov et al., \"Implicit reparameterization gradients\", 2018. NaN where self\n"
    "is not positive or output is negative.\n"
    "(*), (*) -> broadcast, floating",
    /* std */
    "The standard deviation: the square root of var.\n"
    "self (*) floating or complex -> self's shape without dim, 1 there when keepdim",
    /* stft */
    "The spectra of frames of n_fft elements, hop_length (n_fft / 4) from one to the next, weighted by\n"
    "the window, which stands in the middle of a frame. center: frame k is around element k\n"
    "hop_length, by pad_mode beyond the ends. onesided: of real numbers, frequencies 0 to n_fft / 2.\n"
    "normalized: divided by sqrt(n_fft).\n"
    "self (n) or (b, n), floating or complex, window (win_length) -> (n_fft / 2 + 1, frames) or (b, n_fft / 2 + 1, frames), complex; n_fft frequencies unless onesided",
    /* sub */
    "self - alpha * other, rounded once. bool is refused.\n"
    "(*), (*) -> broadcast",
    /* sum */
    "The sum over dim, or over all elements if dim is absent. Integers and bool are summed in int64,\n"
    "f16 and bf16 in float.\n"
    "self (*) -> self's shape without dim, 1 there when keepdim",
    /* svd */
    "U, S and V (not its adjoint) of self; some is full_matrices=False. Without compute_uv U and V are\n"
    "zeros.\n"
    "(*, m, n) -> (*, m, k or m), (*, k) real, (*, n, k or n), k = min(m, n)",
    /* t */
    "The transpose of a matrix; vectors and 0-dim tensors stay as they are. A view.\n"
    "self (n, m) -> (m, n)",
    /* take_along_dim */
    "gather, but negative indices count from the end, and all dimensions except dim broadcast. Without\n"
    "dim it takes from the flattened tensor. With the result of argsort as indices it gives the sorted\n"
    "tensor.\n"
    "self (5, 3), indices (2, 3) -> (2, 3)",
    /* tan */
    "The tangent of self in radians.\n"
    "(*) -> (*), floating",
    /* tanh */
    "The hyperbolic tangent.\n"
    "(*) -> (*), floating",
    /* tanh_backward */
    "grad_output * (1 - output^2); for complex numbers the bracket is conjugated.\n"
    "(*), (*) -> (*)",
    /* tanhshrink */
    "self - tanh(self).\n"
    "(*) -> (*)",
    /* threshold */
    "self where it is above threshold, else value. For integers both numbers lose their fraction.\n"
    "(*) -> (*)",
    /* threshold_backward */
    "grad_output where self is above threshold, else 0.\n"
    "(*), (*) -> (*)",
    /* to */
    "self on another device, and converted to dtype if one is given. A view if nothing changes. With\n"
    "non_blocking nobody waits for copies between a device and pinned memory (tn_pin).\n"
    "self (*) -> (*)",
    /* to_dtype */
    "self converted to dtype. Integers wrap; floats lose their fraction as integers and round to the\n"
    "nearest, ties to even, as smaller floats; complex numbers lose their imaginary part as real ones.\n"
    "A view if nothing changes, unless copy is set.\n"
    "self (*) -> (*)",
    /* topk */
    "The k largest (or smallest) elements along dim and their indices, sorted if sorted is true. Among\n"
    "equal elements the first ones are taken.\n"
    "self (.., n, ..) -> values, indices (.., k, ..)",
    /* total_norm */
    "The norm of all elements of a list: linalg_vector_norm of the norms, each in its tensor's dtype.\n"
    "Without a gradient, so that a program that clips holds none.\n"
    "tensors (*) floating or complex -> () real",
    /* transpose */
    "The same elements with two dimensions exchanged. A view.\n"
    "self (.., n, .., m, ..) -> (.., m, .., n, ..)",
    /* triangular_solve */
    "X of A X = self, of the triangle of A or, with transpose, of A^T; and a copy of A. torch keeps it\n"
    "for old programs: linalg_solve_triangular.\n"
    "(*, n, k), (*, n, n) -> (*, n, k), (*, n, n)",
    /* tril */
    "The lower triangle of each matrix: elements above the diagonal become 0. A positive `diagonal`\n"
    "keeps that many diagonals more.\n"
    "self (*, n, m) -> (*, n, m)",
    /* triplet_margin_loss */
    "max(0, margin + d(anchor, positive) - d(anchor, negative)), with d the distance of\n"
    "pairwise_distance; with swap, the smaller of d(anchor, negative) and d(positive, negative)\n"
    "(Balntas et al. 2016, Learning local feature descriptors with triplets).\n"
    "anchor, positive, negative (*, D), broadcast together -> () or (*)",
    /* triu */
    "The upper triangle of each matrix: elements below the diagonal become 0. A positive `diagonal`\n"
    "zeroes that many diagonals more.\n"
    "self (*, n, m) -> (*, n, m)",
    /* trunc */
    "self without its fraction.\n"
    "(*) -> (*)",
    /* unbind */
    "The part at each position along dim, without that dimension. Views.\n"
    "self (2, 3) -> (3), (3)",
    /* unflatten */
    "Dimension dim split into several; one of their sizes may be -1 and is computed. A view.\n"
    "self (2, 12) -> (2, 3, 4)",
    /* unfold */
    "All pieces of `size` along a dimension, `step` apart, as a last dimension. A view, which shows an\n"
    "element several times if step is less than size.\n"
    "self (.., n, ..) -> (.., (n - size) / step + 1, .., size)",
    /* uniform */
    "Fills self with random numbers, uniform in [from, to).\n"
    "self (*) -> self",
    /* unsqueeze */
    "A new dimension of size 1 before dimension dim; -1 puts it last. A view.\n"
    "self (3) -> (3, 1)",
    /* var */
    "The sum of squared deviations from the mean over dim, divided by n - correction (1 if absent).\n"
    "The variance of complex numbers is real.\n"
    "self (*) floating or complex -> self's shape without dim, 1 there when keepdim",
    /* var_mean */
    "The variance and the mean over dim, in one pass.\n"
    "self (*) floating or complex -> var, mean: self's shape without dim",
    /* view */
    "The same elements in the same order with other sizes, one of which may be -1 and is computed.\n"
    "Always a view: an error if no strides can describe it.\n"
    "self (2, 6) -> (3, 4)",
    /* view_as_complex */
    "The pairs in the last dimension as complex numbers. A view.\n"
    "self (*, 2) float32 or float64 -> (*)",
    /* view_as_real */
    "The real and imaginary parts as a new last dimension of size 2. A view.\n"
    "self (*) complex -> (*, 2) real",
    /* view_dtype */
    "The same bytes as elements of another dtype: a view. If their sizes differ, the last dimension,\n"
    "whose stride must be 1, becomes longer or shorter. It has no history: no gradient flows through\n"
    "it to self.\n"
    "self (*, n) -> (*, n self's bytes / dtype's bytes)",
    /* where */
    "self where condition is true, else other.\n"
    "(*) bool, (*), (*) -> broadcast",
    /* xlogy */
    "self log(other); 0 where self is 0, NaN where other is.\n"
    "(*), (*) -> broadcast, floating",
    /* zero */
    "Sets every element of self to 0.\n"
    "self (*) -> self",
    /* zeros */
    "All elements 0, of the default dtype unless one is given.\n"
    "-> size",
    /* zeros_like */
    "All elements 0, with self's sizes, dtype and order of dimensions.\n"
    "self (*) -> (*)"};
/* Where Python has a row below torch; NULL: in torch alone. */
static const char *const py_docs_place[] = {
    NULL /* abs */,
    NULL /* acos */,
    "nn.functional.adaptive_avg_pool1d" /* adaptive_avg_pool1d */,
    "nn.functional.adaptive_avg_pool2d" /* adaptive_avg_pool2d */,
    NULL /* adaptive_avg_pool2d_input_grad */,
    "nn.functional.adaptive_avg_pool3d" /* adaptive_avg_pool3d */,
    NULL /* adaptive_max_pool1d */,
    NULL /* adaptive_max_pool2d */,
    NULL /* adaptive_max_pool3d */,
    NULL /* add */,
    NULL /* addcdiv */,
    NULL /* addcmul */,
    NULL /* addmm */,
    NULL /* affine_grid */,
    NULL /* all */,
    NULL /* all_dims */,
    NULL /* allclose */,
    NULL /* alpha_dropout */,
    NULL /* amax */,
    NULL /* amin */,
    NULL /* aminmax */,
    NULL /* angle */,
    NULL /* any */,
    NULL /* any_dims */,
    NULL /* arange */,
    NULL /* arange_start */,
    NULL /* arange_start_step */,
    NULL /* argmax */,
    NULL /* argmin */,
    NULL /* argsort */,
    NULL /* as_strided */,
    NULL /* as_strided_scatter */,
    NULL /* asin */,
    NULL /* asinh */,
    NULL /* atan */,
    NULL /* atan2 */,
    "nn.functional.avg_pool1d" /* avg_pool1d */,
    "nn.functional.avg_pool2d" /* avg_pool2d */,
    NULL /* avg_pool2d_input_grad */,
    "nn.functional.avg_pool3d" /* avg_pool3d */,
    NULL /* avg_pool3d_input_grad */,
    NULL /* bartlett_window */,
    "nn.functional.batch_norm" /* batch_norm */,
    NULL /* batch_norm_backward */,
    NULL /* bce */,
    NULL /* bernoulli */,
    NULL /* bernoulli_float */,
    "nn.functional.bilinear" /* bilinear */,
    NULL /* binary_cross_entropy */,
    NULL /* binary_cross_entropy_with_logits */,
    NULL /* binomial */,
    NULL /* bitwise_and */,
    NULL /* bitwise_left_shift */,
    NULL /* bitwise_not */,
    NULL /* bitwise_or */,
    NULL /* bitwise_right_shift */,
    NULL /* bitwise_xor */,
    NULL /* blackman_window */,
    NULL /* bmm */,
    NULL /* broadcast_to */,
    NULL /* bucketize */,
    NULL /* cat */,
    NULL /* cauchy */,
    NULL /* cdist */,
    NULL /* ceil */,
    "nn.functional.celu_" /* celu */,
    "nn.functional.channel_shuffle" /* channel_shuffle */,
    NULL /* cholesky_inverse */,
    NULL /* cholesky_solve */,
    NULL /* chunk */,
    NULL /* circular_pad */,
    NULL /* clamp */,
    NULL /* clamp_max */,
    NULL /* clamp_min */,
    NULL /* clamp_tensor */,
    NULL /* clone */,
    "nn.functional.fold" /* col2im */,
    NULL /* conj */,
    NULL /* constant_pad_nd */,
    NULL /* contiguous */,
    "nn.functional.conv1d" /* conv1d */,
    NULL /* conv1d_padding */,
    "nn.functional.conv2d" /* conv2d */,
    NULL /* conv2d_input_grad */,
    NULL /* conv2d_padding */,
    NULL /* conv2d_weight_grad */,
    "nn.functional.conv3d" /* conv3d */,
    NULL /* conv3d_input_grad */,
    NULL /* conv3d_padding */,
    NULL /* conv3d_weight_grad */,
    "nn.functional.conv_tbc" /* conv_tbc */,
    "nn.functional.conv_transpose1d" /* conv_transpose1d */,
    "nn.functional.conv_transpose2d" /* conv_transpose2d */,
    "nn.functional.conv_transpose3d" /* conv_transpose3d */,
    NULL /* convert_indices_from_coo_to_csr */,
    NULL /* convert_indices_from_csr_to_coo */,
    NULL /* copy */,
    NULL /* copysign */,
    NULL /* corrcoef */,
    NULL /* cos */,
    NULL /* cosh */,
    NULL /* cosine_embedding_loss */,
    "nn.functional.cosine_similarity" /* cosine_similarity */,
    NULL /* count_nonzero */,
    NULL /* cov */,
    NULL /* cross_entropy */,
    "nn.functional.ctc_loss" /* ctc_loss */,
    NULL /* ctc_loss_input_grad */,
    NULL /* ctc_loss_plain */,
    "nn.functional.ctc_loss" /* ctc_loss_tensor */,
    NULL /* cummax */,
    NULL /* cummin */,
    NULL /* cumprod */,
    NULL /* cumsum */,
    NULL /* deg2rad */,
    NULL /* det */,
    NULL /* detach */,
    NULL /* dft */,
    NULL /* diagonal */,
    "special.digamma special.psi" /* digamma */,
    NULL /* dirichlet_grad */,
    NULL /* distributed_all_gather */,
    NULL /* distributed_all_reduce */,
    NULL /* distributed_all_to_all */,
    NULL /* distributed_barrier */,
    NULL /* distributed_broadcast */,
    NULL /* distributed_recv */,
    NULL /* distributed_reduce */,
    NULL /* distributed_reduce_scatter */,
    NULL /* distributed_send */,
    NULL /* div */,
    NULL /* div_mode */,
    NULL /* div_trunc */,
    NULL /* dot */,
    NULL /* dropout */,
    "nn.functional.elu_" /* elu */,
    NULL /* embedding */,
    NULL /* embedding_bag */,
    NULL /* embedding_dense_backward */,
    NULL /* empty */,
    NULL /* empty_like */,
    NULL /* empty_permuted */,
    NULL /* eq */,
    NULL /* equal */,
    "special.erf" /* erf */,
    "special.erfc" /* erfc */,
    "special.erfinv" /* erfinv */,
    NULL /* exp */,
    "special.exp2" /* exp2 */,
    NULL /* expand */,
    NULL /* expand_as */,
    "special.expm1" /* expm1 */,
    NULL /* exponential */,
    NULL /* eye */,
    NULL /* eye_m */,
    NULL /* feature_alpha_dropout */,
    "fft.fft" /* fft_fft */,
    "fft.fft2" /* fft_fft2 */,
    "fft.fftfreq" /* fft_fftfreq */,
    "fft.fftn" /* fft_fftn */,
    "fft.fftshift" /* fft_fftshift */,
    "fft.hfft" /* fft_hfft */,
    "fft.hfft2" /* fft_hfft2 */,
    "fft.hfftn" /* fft_hfftn */,
    "fft.ifft" /* fft_ifft */,
    "fft.ifft2" /* fft_ifft2 */,
    "fft.ifftn" /* fft_ifftn */,
    "fft.ifftshift" /* fft_ifftshift */,
    "fft.ihfft" /* fft_ihfft */,
    "fft.ihfft2" /* fft_ihfft2 */,
    "fft.ihfftn" /* fft_ihfftn */,
    "fft.irfft" /* fft_irfft */,
    "fft.irfft2" /* fft_irfft2 */,
    "fft.irfftn" /* fft_irfftn */,
    "fft.rfft" /* fft_rfft */,
    "fft.rfft2" /* fft_rfft2 */,
    "fft.rfftfreq" /* fft_rfftfreq */,
    "fft.rfftn" /* fft_rfftn */,
    NULL /* fill */,
    NULL /* flatten */,
    NULL /* flip */,
    NULL /* float_power */,
    NULL /* floor */,
    NULL /* floor_divide */,
    NULL /* fmax */,
    NULL /* fmin */,
    NULL /* fmod */,
    NULL /* frac */,
    NULL /* fractional_max_pool2d */,
    NULL /* fractional_max_pool3d */,
    NULL /* frexp */,
    NULL /* full */,
    NULL /* full_like */,
    NULL /* fused_adam */,
    NULL /* fused_adamw */,
    NULL /* fused_sgd */,
    NULL /* fused_step */,
    NULL /* gather */,
    NULL /* gaussian_nll_loss */,
    NULL /* gcd */,
    NULL /* ge */,
    "nn.functional.gelu" /* gelu */,
    NULL /* gelu_erf */,
    NULL /* gelu_erf_backward */,
    NULL /* gelu_tanh */,
    NULL /* geometric */,
    NULL /* geqrf */,
    "nn.functional.glu" /* glu */,
    NULL /* glu_gate */,
    NULL /* grid_sample */,
    NULL /* group_norm */,
    "nn.functional.grouped_mm" /* grouped_mm */,
    NULL /* gt */,
    NULL /* hamming_window */,
    NULL /* hann_window */,
    NULL /* hardshrink */,
    NULL /* hardsigmoid */,
    NULL /* hardswish */,
    "nn.functional.hardtanh_" /* hardtanh */,
    NULL /* heaviside */,
    NULL /* hinge_embedding_loss */,
    NULL /* histc */,
    NULL /* histogram */,
    NULL /* histogram_bins */,
    NULL /* huber_loss */,
    NULL /* hypot */,
    "special.i0" /* i0 */,
    "special.gammainc" /* igamma */,
    "special.gammaincc" /* igammac */,
    "nn.functional.unfold" /* im2col */,
    NULL /* imag */,
    NULL /* index */,
    NULL /* index_add */,
    NULL /* index_put */,
    NULL /* index_reduce */,
    NULL /* index_select */,
    "nn.functional.instance_norm" /* instance_norm */,
    NULL /* interpolate */,
    NULL /* inverse */,
    NULL /* isclose */,
    NULL /* isfinite */,
    NULL /* isinf */,
    NULL /* isnan */,
    NULL /* isneginf */,
    NULL /* isposinf */,
    NULL /* isreal */,
    NULL /* istft */,
    NULL /* kaiser_window */,
    NULL /* kl_div */,
    NULL /* kthvalue */,
    NULL /* l1_loss */,
    "nn.functional.layer_norm" /* layer_norm */,
    NULL /* layer_norm_backward */,
    NULL /* lcm */,
    NULL /* ldexp */,
    NULL /* le */,
    "nn.functional.leaky_relu_" /* leaky_relu */,
    NULL /* leaky_relu_backward */,
    NULL /* lerp */,
    "special.gammaln" /* lgamma */,
    "linalg.cholesky" /* linalg_cholesky */,
    "linalg.cholesky_ex" /* linalg_cholesky_ex */,
    "linalg.det" /* linalg_det */,
    "linalg.eig" /* linalg_eig */,
    NULL /* linalg_eig_phases */,
    "linalg.eigh" /* linalg_eigh */,
    NULL /* linalg_eigh_of */,
    "linalg.eigvals" /* linalg_eigvals */,
    NULL /* linalg_eigvals_of */,
    "linalg.eigvalsh" /* linalg_eigvalsh */,
    "linalg.householder_product" /* linalg_householder_product */,
    "linalg.inv" /* linalg_inv */,
    "linalg.inv_ex" /* linalg_inv_ex */,
    "linalg.ldl_factor" /* linalg_ldl_factor */,
    "linalg.ldl_factor_ex" /* linalg_ldl_factor_ex */,
    "linalg.ldl_solve" /* linalg_ldl_solve */,
    "linalg.lstsq" /* linalg_lstsq */,
    NULL /* linalg_lstsq_matrix */,
    "linalg.lu" /* linalg_lu */,
    "linalg.lu_factor" /* linalg_lu_factor */,
    "linalg.lu_factor_ex" /* linalg_lu_factor_ex */,
    "linalg.lu_solve" /* linalg_lu_solve */,
    "linalg.matrix_exp" /* linalg_matrix_exp */,
    "linalg.matrix_power" /* linalg_matrix_power */,
    "linalg.matrix_rank" /* linalg_matrix_rank */,
    "linalg.matrix_rank" /* linalg_matrix_rank_float */,
    "linalg.matrix_sqrth" /* linalg_matrix_sqrth */,
    "linalg.pinv" /* linalg_pinv */,
    "linalg.pinv" /* linalg_pinv_float */,
    "linalg.polar" /* linalg_polar */,
    "linalg.qr" /* linalg_qr */,
    "linalg.slogdet" /* linalg_slogdet */,
    "linalg.solve" /* linalg_solve */,
    "linalg.solve_ex" /* linalg_solve_ex */,
    NULL /* linalg_solve_lu */,
    "linalg.solve_triangular" /* linalg_solve_triangular */,
    "linalg.svd" /* linalg_svd */,
    NULL /* linalg_svd_of */,
    "linalg.svdvals" /* linalg_svdvals */,
    "linalg.tensorinv" /* linalg_tensorinv */,
    "linalg.tensorsolve" /* linalg_tensorsolve */,
    "linalg.vector_norm" /* linalg_vector_norm */,
    "nn.functional.linear" /* linear */,
    NULL /* linear_cross_entropy */,
    NULL /* linear_recurrence */,
    NULL /* linear_rows */,
    NULL /* linspace */,
    "nn.functional.local_response_norm" /* local_response_norm */,
    NULL /* log */,
    NULL /* log10 */,
    "special.log1p" /* log1p */,
    NULL /* log2 */,
    NULL /* log_normal */,
    "nn.functional.logsigmoid" /* log_sigmoid */,
    "special.log_softmax" /* log_softmax */,
    NULL /* log_softmax_backward */,
    NULL /* logaddexp */,
    NULL /* logaddexp2 */,
    NULL /* logcumsumexp */,
    NULL /* logdet */,
    NULL /* logical_and */,
    NULL /* logical_not */,
    NULL /* logical_or */,
    NULL /* logical_xor */,
    "special.logit" /* logit */,
    NULL /* logspace */,
    "special.logsumexp" /* logsumexp */,
    "nn.functional.lp_pool1d" /* lp_pool1d */,
    "nn.functional.lp_pool2d" /* lp_pool2d */,
    "nn.functional.lp_pool3d" /* lp_pool3d */,
    NULL /* lt */,
    NULL /* lu_solve */,
    NULL /* lu_unpack */,
    NULL /* margin_ranking_loss */,
    NULL /* masked_fill */,
    NULL /* masked_scatter */,
    NULL /* masked_select */,
    NULL /* matmul */,
    NULL /* matrix_exp */,
    NULL /* matrix_power */,
    NULL /* max */,
    NULL /* max_dim */,
    NULL /* max_other */,
    NULL /* max_pool1d */,
    NULL /* max_pool1d_with_indices */,
    NULL /* max_pool2d */,
    NULL /* max_pool2d_input_grad */,
    NULL /* max_pool2d_pick */,
    NULL /* max_pool2d_with_indices */,
    NULL /* max_pool3d */,
    NULL /* max_pool3d_with_indices */,
    "nn.functional.max_unpool1d" /* max_unpool1d */,
    "nn.functional.max_unpool2d" /* max_unpool2d */,
    "nn.functional.max_unpool3d" /* max_unpool3d */,
    NULL /* maximum */,
    NULL /* mean */,
    NULL /* median */,
    NULL /* median_dim */,
    NULL /* meshgrid */,
    NULL /* min */,
    NULL /* min_dim */,
    NULL /* min_other */,
    NULL /* minimum */,
    NULL /* mish */,
    NULL /* mm */,
    NULL /* mode */,
    NULL /* movedim */,
    NULL /* mse_loss */,
    NULL /* mul */,
    NULL /* multi_margin_loss */,
    NULL /* multilabel_margin_loss */,
    NULL /* multilabel_margin_loss_plain */,
    NULL /* multilabel_soft_margin_loss */,
    NULL /* multinomial */,
    NULL /* mv */,
    "special.multigammaln" /* mvlgamma */,
    NULL /* nan_to_num */,
    NULL /* nanmedian */,
    NULL /* nanmedian_dim */,
    NULL /* nanquantile */,
    NULL /* nanquantile_scalar */,
    NULL /* narrow */,
    NULL /* ne */,
    NULL /* neg */,
    NULL /* new_empty */,
    NULL /* new_full */,
    NULL /* new_ones */,
    NULL /* new_zeros */,
    NULL /* nextafter */,
    NULL /* nll_loss */,
    NULL /* nll_loss_input_grad */,
    NULL /* nll_loss_plain */,
    NULL /* nonzero */,
    NULL /* nonzero_static */,
    NULL /* norm */,
    NULL /* normal */,
    "nn.functional.one_hot" /* one_hot */,
    NULL /* ones */,
    NULL /* ones_like */,
    NULL /* orgqr */,
    NULL /* ormqr */,
    NULL /* outer */,
    "nn.functional.pad" /* pad */,
    "nn.functional.pairwise_distance" /* pairwise_distance */,
    "nn.functional.pdist" /* pdist */,
    NULL /* permute */,
    NULL /* pinverse */,
    "nn.functional.pixel_shuffle" /* pixel_shuffle */,
    "nn.functional.pixel_unshuffle" /* pixel_unshuffle */,
    NULL /* poisson */,
    NULL /* poisson_nll_loss */,
    "special.polygamma" /* polygamma */,
    NULL /* pow */,
    "nn.functional.prelu" /* prelu */,
    NULL /* prelu_kernel */,
    NULL /* prod */,
    NULL /* quantile */,
    NULL /* quantile_scalar */,
    NULL /* rad2deg */,
    NULL /* rand */,
    NULL /* rand_like */,
    NULL /* randint */,
    NULL /* randint_low */,
    NULL /* randn */,
    NULL /* randn_like */,
    NULL /* random */,
    NULL /* randperm */,
    NULL /* real */,
    NULL /* reciprocal */,
    NULL /* reflection_pad */,
    "nn.functional.relu_" /* relu */,
    NULL /* remainder */,
    NULL /* renorm */,
    NULL /* repeat */,
    NULL /* replication_pad */,
    NULL /* resample */,
    NULL /* resample_input_grad */,
    NULL /* reshape */,
    NULL /* rms_norm */,
    NULL /* roll */,
    "special.round" /* round */,
    "nn.functional.rrelu_" /* rrelu */,
    NULL /* rrelu_noise */,
    NULL /* rsqrt */,
    NULL /* rsub */,
    NULL /* sample_dirichlet */,
    "nn.functional.scaled_dot_product_attention" /* scaled_dot_product_attention */,
    NULL /* scatter */,
    NULL /* scatter_add */,
    NULL /* scatter_reduce */,
    NULL /* scatter_src_reduce */,
    NULL /* scatter_value */,
    NULL /* scatter_value_reduce */,
    NULL /* searchsorted */,
    NULL /* segment_reduce */,
    NULL /* select */,
    "nn.functional.selu_" /* selu */,
    NULL /* sgn */,
    "nn.functional.sigmoid special.expit" /* sigmoid */,
    NULL /* sigmoid_backward */,
    NULL /* sign */,
    NULL /* signbit */,
    NULL /* silu */,
    NULL /* silu_backward */,
    NULL /* sin */,
    "special.sinc" /* sinc */,
    NULL /* sinh */,
    NULL /* slice */,
    NULL /* slogdet */,
    NULL /* smooth_l1_loss */,
    NULL /* soft_margin_loss */,
    "special.softmax" /* softmax */,
    NULL /* softmax_backward */,
    "nn.functional.softplus" /* softplus */,
    NULL /* softshrink */,
    "nn.functional.softsign" /* softsign */,
    NULL /* sort */,
    NULL /* sparse_coalesce */,
    NULL /* sparse_distinct */,
    NULL /* sparse_dots */,
    NULL /* sparse_keys */,
    NULL /* sparse_mm */,
    NULL /* sparse_product */,
    NULL /* sparse_softmax */,
    NULL /* sparse_take */,
    NULL /* sparse_to_dense */,
    "special.airy_ai" /* special_airy_ai */,
    "special.bessel_j0" /* special_bessel_j0 */,
    "special.bessel_j1" /* special_bessel_j1 */,
    "special.bessel_y0" /* special_bessel_y0 */,
    "special.bessel_y1" /* special_bessel_y1 */,
    "special.chebyshev_polynomial_t" /* special_chebyshev_polynomial_t */,
    "special.chebyshev_polynomial_u" /* special_chebyshev_polynomial_u */,
    "special.chebyshev_polynomial_v" /* special_chebyshev_polynomial_v */,
    "special.chebyshev_polynomial_w" /* special_chebyshev_polynomial_w */,
    "special.entr" /* special_entr */,
    "special.erfcx" /* special_erfcx */,
    "special.hermite_polynomial_h" /* special_hermite_polynomial_h */,
    "special.hermite_polynomial_he" /* special_hermite_polynomial_he */,
    "special.i0e" /* special_i0e */,
    "special.i1" /* special_i1 */,
    "special.i1e" /* special_i1e */,
    "special.laguerre_polynomial_l" /* special_laguerre_polynomial_l */,
    "special.legendre_polynomial_p" /* special_legendre_polynomial_p */,
    "special.log_ndtr" /* special_log_ndtr */,
    "special.modified_bessel_i0" /* special_modified_bessel_i0 */,
    "special.modified_bessel_i1" /* special_modified_bessel_i1 */,
    "special.modified_bessel_k0" /* special_modified_bessel_k0 */,
    "special.modified_bessel_k1" /* special_modified_bessel_k1 */,
    "special.ndtr" /* special_ndtr */,
    "special.ndtri" /* special_ndtri */,
    "special.scaled_modified_bessel_k0" /* special_scaled_modified_bessel_k0 */,
    "special.scaled_modified_bessel_k1" /* special_scaled_modified_bessel_k1 */,
    "special.shifted_chebyshev_polynomial_t" /* special_shifted_chebyshev_polynomial_t */,
    "special.shifted_chebyshev_polynomial_u" /* special_shifted_chebyshev_polynomial_u */,
    "special.shifted_chebyshev_polynomial_v" /* special_shifted_chebyshev_polynomial_v */,
    "special.shifted_chebyshev_polynomial_w" /* special_shifted_chebyshev_polynomial_w */,
    "special.spherical_bessel_j0" /* special_spherical_bessel_j0 */,
    "special.xlog1py" /* special_xlog1py */,
    "special.zeta" /* special_zeta */,
    NULL /* split */,
    NULL /* split_with_sizes */,
    NULL /* sqrt */,
    NULL /* square */,
    NULL /* squeeze */,
    NULL /* squeeze_dim */,
    NULL /* squeeze_dims */,
    NULL /* stack */,
    NULL /* standard_gamma */,
    NULL /* standard_gamma_grad */,
    NULL /* std */,
    NULL /* stft */,
    NULL /* sub */,
    NULL /* sum */,
    NULL /* svd */,
    NULL /* t */,
    NULL /* take_along_dim */,
    NULL /* tan */,
    "nn.functional.tanh" /* tanh */,
    NULL /* tanh_backward */,
    "nn.functional.tanhshrink" /* tanhshrink */,
    "nn.functional.threshold_" /* threshold */,
    NULL /* threshold_backward */,
    NULL /* to */,
    NULL /* to_dtype */,
    NULL /* topk */,
    NULL /* total_norm */,
    NULL /* transpose */,
    NULL /* triangular_solve */,
    NULL /* tril */,
    NULL /* triplet_margin_loss */,
    NULL /* triu */,
    NULL /* trunc */,
    NULL /* unbind */,
    NULL /* unflatten */,
    NULL /* unfold */,
    NULL /* uniform */,
    NULL /* unsqueeze */,
    NULL /* var */,
    NULL /* var_mean */,
    NULL /* view */,
    NULL /* view_as_complex */,
    NULL /* view_as_real */,
    NULL /* view_dtype */,
    NULL /* where */,
    "special.xlogy" /* xlogy */,
    NULL /* zero */,
    NULL /* zeros */,
    NULL /* zeros_like */};
/* src/py/row.c goes on */

PY_PRIV const char *py_row_comment(const tn_row *row) {
    const size_t known = sizeof py_docs_comment / sizeof py_docs_comment[0];
    return row->gen->index < known ? py_docs_comment[row->gen->index] : "";
}

PY_PRIV const char *py_row_places(const tn_row *row) {
    const size_t known = sizeof py_docs_place / sizeof py_docs_place[0];
    return row->gen->index < known ? py_docs_place[row->gen->index] : NULL;
}

/* Whether a row stands in a namespace alone, as its own name begins with it: linalg_cholesky is
 * neither in torch nor a method of Tensor. */
PY_PRIV bool py_row_is_apart(const tn_row *row) {
    const char *place = py_row_places(row), *name = row->schema;
    if (!place) return false;
    /* "linalg.cholesky" against "linalg_cholesky(": equal up to the end of the place */
    for (; *place == *name || (*place == '.' && *name == '_'); place++) name++;
    return *name == '(' || *name == '.';
}

PY_PRIV bool py_row_is_method(const tn_row *row) {
    const tn_param *first = row->gen->param;
    /* torch has no method of what stands in a namespace alone */
    return row->gen->nparam && !strcmp(first->name, "self") && first->type == TN_T_TENSOR &&
           !py_row_is_apart(row);
}

PY_PRIV bool py_row_creates(const tn_gen *gen) {
    /* at most one tensor, which the result imitates, and a device as the last parameter */
    return gen->nparam > 1 && gen->nfixed <= 1 && gen->param[gen->nparam - 1].type == TN_T_DEVICE;
}

PY_PRIV bool py_row_param(const tn_row *row, int i, py_param_text *to) {
    const char *at = strchr(row->schema, '(');
    memset(to, 0, sizeof *to);
    for (int k = -1; at && *at != ')';) {
        /* to the next comma outside of brackets: int[2] and default (0, 1) have commas of
         * their own */
        int depth = 0;
        size_t n = 0;
        for (at += strspn(at, "(, "); at[n] && (depth || (at[n] != ',' && at[n] != ')')); n++)
            depth += (at[n] == '(' || at[n] == '[') - (at[n] == ')' || at[n] == ']');
        /* a lone * says that keywords follow and is no parameter */
        if (*at != '*' && ++k == i) {
            size_t value = 0, name;
            /* "int dim=-1": the type before the last blank, the name, the default behind = */
            while (value < n && at[value] != '=') value++;
            for (name = value; name && at[name - 1] != ' ';) name--;
            to->type = at;
            to->ntype = name ? name - 1 : 0;
            to->value = value < n ? at + value + 1 : NULL;
            to->nvalue = value < n ? n - value - 1 : 0;
            return true;
        }
        at += n;
    }
    return false;
}

/* src/py/parse.c - Python's arguments into a row's argument struct: one walk over the row's parameters serves every row, every overload, every method */
/* parse.c - Python's arguments into a row's argument struct: one walk over the row's parameters
 * serves every row, every overload, every method.
 *
 * On the way of a call that fits nothing is allocated: the struct and short lists lie on the stack.
 * Texts are made only where nothing fits. */

/* src/py/bind.h - the arguments of one call on their way into a row's struct: parse.c fills a py_bind, call.c runs the row, fault.c says what did not fit */
/* bind.h - the arguments of one call on their way into a row's struct: parse.c fills a py_bind,
 * call.c runs the row, fault.c says what did not fit. */

enum { BIND_BYTES = 512, BIND_INTS = 64, BIND_TENSORS = 32, BIND_MORE = 16 };

/* What a conversion did not like; the texts are made at the end. */
typedef enum py_bind_fault {
    FAULT_NONE,
    FAULT_KIND,    /* of argument `at` */
    FAULT_COMMON,  /* of a keyword that no schema has */
    FAULT_MANY,    /* positional arguments */
    FAULT_UNKNOWN, /* keyword `at` */
    FAULT_TWICE,
    FAULT_MISSING, /* parameter `at` */
    FAULT_RAISED   /* an exception is set */
} py_bind_fault;

typedef struct py_bind {
    const tn_row *row;
    const tn_gen *gen;
    PyObject **names; /* NULL: the row's */
    union {
        double align;
        void *pointer;
        char bytes[BIND_BYTES];
    } args;
    uint64_t bound;    /* bit a parameter */
    int64_t elements;  /* of the tensors given */
    PyObject *foreign; /* borrowed: an argument with a __torch_function__ of its own */
    PyObject *given;   /* borrowed: the argument at fault */
    py_bind_fault fault;
    int at;
    int place;          /* the member of `given` at fault; -1: given itself */
    bool method, named; /* named: given came by keyword */
    bool lenient;       /* 0-dim tensors are numbers */
    bool requires_grad; /* of a row that makes a tensor of nothing */
    const char *common; /* the keyword that no schema has, and what it has to be */
    const char *common_kind;
    int64_t ints[BIND_INTS];
    double floats[BIND_TENSORS];
    tn_tensor *tensors[BIND_TENSORS];
    int nints, nfloats, ntensors, nmore, nheld;
    void *more[BIND_MORE];     /* long lists */
    PyObject *held[BIND_MORE]; /* members of lists, which other threads may change */
} py_bind;

TNI_INLINE void py_bind_begin(py_bind *b, const tn_row *row, bool method, bool lenient) {
    b->row = row;
    b->gen = row ? row->gen : NULL;
    b->names = NULL;
    b->bound = 0;
    b->elements = 0;
    b->fault = FAULT_NONE;
    b->given = NULL;
    b->requires_grad = false;
    b->place = -1;
    b->method = method;
    b->named = false;
    b->lenient = lenient;
    b->nints = b->nfloats = b->ntensors = b->nmore = b->nheld = 0;
}

TNI_INLINE void py_bind_end(py_bind *b) {
    for (int i = 0; i < b->nmore; i++) PyMem_Free(b->more[i]);
    for (int i = 0; i < b->nheld; i++) Py_DECREF(b->held[i]);
    b->nmore = b->nheld = 0;
}

/* The defaults, then the arguments. false: b->fault says what did not fit; to be ended in either
 * case. how: of the call, as out= is no keyword of an in-place form. */
PY_PRIV bool py_bind_fill(py_bind *b, unsigned how, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
PY_PRIV const char *py_bind_kind(const tn_param *p); /* what an error calls its type */

/* Exceptions for a bind that failed; each returns NULL. name: of the function. */
PY_PRIV PyObject *py_fault_raise(const py_bind *b, const char *name, Py_ssize_t nargs,
                                 PyObject *kwnames);
PY_PRIV PyObject *py_fault_overflow(const py_bind *b, const char *name);
/* Of a group none of whose rows fits: the types given, and all schemas. */
PY_PRIV PyObject *py_fault_overloads(const py_group *g, bool method, PyObject *const *args,
                                     Py_ssize_t nargs, PyObject *kwnames);

/* Notes the first fault. An exception that a conversion left (of __index__, say) goes before it. */
static bool py_bind_no(py_bind *b, py_bind_fault fault, int at) {
    b->fault = PyErr_Occurred() ? FAULT_RAISED : fault;
    b->at = at;
    return false;
}

TNI_INLINE bool py_bind_put(py_bind *b, size_t offset, const void *value, size_t bytes) {
    memcpy(b->args.bytes + offset, value, bytes);
    return true;
}

/* Room for n members of a list: `here` has some left, else it is got and freed at the end. */
static void *py_bind_room(py_bind *b, Py_ssize_t n, size_t each, void *here, int *used, int room) {
    if (n <= room - *used) {
        void *at = (char *)here + (size_t)*used * each;
        *used += (int)n;
        return at;
    }
    /* the blocks of long lists are freed by py_bind_end, also when a later argument does not fit */
    if (b->nmore == BIND_MORE || (size_t)n > PY_SSIZE_T_MAX / each) return PyErr_NoMemory(), NULL;
    void *at = PyMem_Malloc((size_t)n * each);
    if (!at) return PyErr_NoMemory(), NULL;
    return b->more[b->nmore++] = at;
}

/* --- one value -------------------------------------------------------------------------------- */

/* The tensor of o, borrowed: the caller of the function holds its arguments for the call. */
static bool py_bind_tensor_of(py_bind *b, PyObject *o, tn_tensor **to) {
    if (Py_TYPE(o) != py.tensor && Py_TYPE(o) != py.parameter) {
        /* exact tensors, nearly all, have left by the first comparison; the rest may have a
         * __torch_function__, of which the first one found is enough: override.c looks at all */
        if (!PyType_IsSubtype(Py_TYPE(o), py.tensor)) {
            if (!b->foreign && !PyType_Check(o) && Py_TYPE(o) != &PyLong_Type &&
                Py_TYPE(o) != &PyFloat_Type && PyObject_HasAttr(o, py.torch_function))
                b->foreign = o;
            return false;
        }
        /* a subclass is asked even if it fits */
        if (!b->foreign) b->foreign = o;
    }
    *to = py_of(o);
    b->elements += tn_numel(*to);
    return true;
}

/* A number. In the first pass a 0-dim tensor is none, so that a row of two tensors goes before
 * one of a tensor and a number. */
static bool py_bind_scalar(const py_bind *b, PyObject *o, tn_scalar *s) {
    return (b->lenient || !py_is_tensor(o)) && py_to_scalar(o, s);
}

/* A tensor, borrowed; None if optional; a number where the schema says Tensor|Scalar. */
static bool py_bind_tensor(py_bind *b, const tn_param *p, PyObject *o) {
    tn_tensor *t = NULL;
    tn_scalar s;
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return false;
    } else if (!py_bind_tensor_of(b, o, &t)) {
        /* Tensor|Scalar: the tensor is NULL then, and the number lies beside it */
        if (!(p->flags & TN_P_NUMBER) || !py_bind_scalar(b, o, &s)) return false;
        /* two numbers are no call of a row: torch takes none in pow(2, 3) */
        if (p != b->gen->param) {
            memcpy(&t, b->args.bytes + b->gen->param->offset, sizeof t);
            if (!t && b->gen->param->flags & TN_P_NUMBER) return false;
            t = NULL;
        }
        py_bind_put(b, p->number_offset, &s, sizeof s);
    }
    return py_bind_put(b, p->offset, &t, sizeof t);
}

/* A list of tensors, None among them where the schema has Tensor?[]. */
static bool py_bind_tensors(py_bind *b, const tn_param *p, PyObject *o) {
    /* a list may change while the call runs, with the GIL released: its members are held by
     * a tuple */
    if (PyList_Check(o)) {
        if (b->nheld == BIND_MORE || !(o = PyList_AsTuple(o))) return false;
        b->held[b->nheld++] = o;
    }
    if (!PyTuple_Check(o)) return false;
    Py_ssize_t n = PyTuple_Size(o);
    tn_tensor **at = (tn_tensor **)py_bind_room(b, n ? n : 1, sizeof *at, b->tensors, &b->ntensors,
                                                BIND_TENSORS);
    if (!at) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_GetItem(o, i);
        at[i] = NULL;
        /* place: so that the message says which member it was */
        if (!(one == Py_None && p->flags & TN_P_HOLES) && !py_bind_tensor_of(b, one, &at[i])) {
            b->place = (int)i;
            return false;
        }
    }
    tn_tensors l = tn_tensors_of(at, n);
    return py_bind_put(b, p->offset, &l, sizeof l);
}

/* Whether one int is a list. A size is one only where ints may stand in its place, as torch has it
 * for the first parameter, or the one after self: randint(0, 10) has no size. */
static bool py_bind_int_is_list(const py_bind *b, const tn_param *p) {
    const tn_param *first = b->gen->param;
    return p == first || (p == first + 1 && first->type == TN_T_TENSOR) ||
           strcmp(p->name, "size") != 0;
}

/* Whether p's default is the empty list; torch takes None in its place: amax(x, None). */
static bool py_bind_none_is_empty(const py_bind *b, const tn_param *p) {
    py_param_text text;
    return b->row && p->flags & TN_P_DEFAULT && /* without a row: of a module */
           py_row_param(b->row, (int)(p - b->gen->param), &text) && text.nvalue == 2 &&
           !strncmp(text.value, "[]", 2);
}

/* A list of ints, or one int where that may stand for a list. */
static bool py_bind_ints(py_bind *b, const tn_param *p, PyObject *o) {
    tn_ints l = tn_no_dims();
    int64_t one;
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return py_bind_none_is_empty(b, p);
    } else if (PyTuple_Check(o) || PyList_Check(o)) {
        /* no copy: __index__ of a member may change a list, so each look is checked, and l.n is
         * that of the beginning */
        bool tuple = PyTuple_Check(o);
        l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
        int64_t *at =
            (int64_t *)py_bind_room(b, l.n ? l.n : 1, sizeof *at, b->ints, &b->nints, BIND_INTS);
        if (!at) return false;
        for (Py_ssize_t i = 0; i < l.n; i++) {
            PyObject *member = tuple ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
            if (!member || !py_to_index(member, &at[i])) {
                b->place = (int)i;
                return false;
            }
        }
        l.at = at;
    } else {
        /* one int stands for a list of one: dim=0 */
        if (!py_bind_int_is_list(b, p) || !py_to_index(o, &one)) return false;
        int64_t *at = (int64_t *)py_bind_room(b, 1, sizeof *at, b->ints, &b->nints, BIND_INTS);
        if (!at) return false;
        *at = one;
        l = tn_ints_of(at, 1);
    }
    return py_bind_put(b, p->offset, &l, sizeof l);
}

/* A list of floats; a tuple or list alone. */
static bool py_bind_floats(py_bind *b, const tn_param *p, PyObject *o) {
    tn_floats l = {NULL, -1};
    bool tuple = PyTuple_Check(o);
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return false;
    } else {
        /* a float is no list of one: schemas that mean that have a float */
        if (!tuple && !PyList_Check(o)) return false;
        l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
        double *at = (double *)py_bind_room(b, l.n ? l.n : 1, sizeof *at, b->floats, &b->nfloats,
                                            BIND_TENSORS);
        if (!at) return false;
        for (Py_ssize_t i = 0; i < l.n; i++) {
            PyObject *member = tuple ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
            if (!member || !py_to_float(member, &at[i])) {
                b->place = (int)i;
                return false;
            }
        }
        l.at = at;
    }
    return py_bind_put(b, p->offset, &l, sizeof l);
}

/* A float, a float? or a Scalar. None is TN_NONE or tn_no_float. */
static bool py_bind_number(py_bind *b, const tn_param *p, PyObject *o) {
    tn_scalar s = tn_none();
    double d;
    bool none = o == Py_None;
    if (none ? !(p->flags & TN_P_OPTIONAL) : !py_bind_scalar(b, o, &s)) return false;
    /* a Scalar keeps its kind: 2 and 2.0 promote differently */
    if (p->type == TN_T_SCALAR && !(p->flags & (TN_P_DOUBLE | TN_P_MAYBE))) {
        py_bind_put(b, p->offset, &s, sizeof s);
        return true;
    }
    /* a float parameter: no order and no rounding of a complex number is right */
    if (s.kind == TN_KIND_COMPLEX) return false;
    d = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    if (p->flags & TN_P_MAYBE) {
        tn_maybe m = none ? tn_no_float() : tn_some(d);
        py_bind_put(b, p->offset, &m, sizeof m);
    } else {
        py_bind_put(b, p->offset, &d, sizeof d);
    }
    return true;
}

/* A word of the schema: a str, or a memory_format, whose name is the word. */
static bool py_bind_word(py_bind *b, const tn_param *p, PyObject *o) {
    const char *text = PyUnicode_Check(o)               ? PyUnicode_AsUTF8AndSize(o, NULL)
                       : Py_TYPE(o) == py.memory_format ? py_format_name(o)
                                                        : NULL;
    int32_t word = 0;
    if (!text && !(o == Py_None && p->flags & TN_P_OPTIONAL)) return false;
    for (int k = 0; text && p->words[k]; k++)
        if (strcmp(p->words[k], text) == 0) word = k + 1;
    if (text && !word) {
        /* torch raises both kinds of error, by parameter */
        bool value = !strcmp(p->name, "reduction") || !strcmp(p->name, "padding_mode");
        PyErr_Format(value ? PyExc_ValueError : PyExc_RuntimeError,
                     "%s is not a valid value for %s", text, p->name);
        return false;
    }
    return py_bind_put(b, p->offset, &word, sizeof word);
}

/* An int, by __index__; None is TN_NONE. In the first pass a 0-dim tensor is none, so that
 * max(x, t) is not max(x, dim). */
static bool py_bind_int(py_bind *b, const tn_param *p, PyObject *o) {
    int64_t integer = TN_NONE;
    if (!b->lenient && py_is_tensor(o)) return false;
    if (!(o == Py_None && p->flags & TN_P_OPTIONAL) && !py_to_index(o, &integer)) return false;
    return py_bind_put(b, p->offset, &integer, sizeof integer);
}

/* True and False alone: torch takes no 1 for a bool. */
static bool py_bind_bool(py_bind *b, const tn_param *p, PyObject *o) {
    const bool truth = o == Py_True;
    if (!truth && o != Py_False) return false;
    return py_bind_put(b, p->offset, &truth, sizeof truth);
}

static bool py_bind_dtype(py_bind *b, const tn_param *p, PyObject *o) {
    tn_dtype dtype = TN_NO_DTYPE;
    if (o != Py_None && !py_to_dtype(o, &dtype)) return false;
    return py_bind_put(b, p->offset, &dtype, sizeof dtype);
}

static bool py_bind_device(py_bind *b, const tn_param *p, PyObject *o) {
    tn_device_id device = TN_NO_DEVICE;
    if (o != Py_None && !py_to_device(o, &device)) return false;
    return py_bind_put(b, p->offset, &device, sizeof device);
}

/* Borrowed from the wrapper, which the caller holds. */
static bool py_bind_generator(py_bind *b, const tn_param *p, PyObject *o) {
    tn_generator *generator = NULL;
    if (o != Py_None && Py_TYPE(o) != py.generator) return false;
    if (o != Py_None) generator = ((py_generator *)o)->generator;
    return py_bind_put(b, p->offset, &generator, sizeof generator);
}

/* UTF-8 that the str object keeps, so it lives as long as the argument. */
static bool py_bind_string(py_bind *b, const tn_param *p, PyObject *o) {
    const char *text = NULL;
    if (!(o == Py_None && p->flags & TN_P_OPTIONAL) &&
        !(PyUnicode_Check(o) && (text = PyUnicode_AsUTF8AndSize(o, NULL)) != NULL))
        return false;
    return py_bind_put(b, p->offset, &text, sizeof text);
}

/* The ways of TN_TYPES: from Python, and what an error calls them. */
#define PY_WAY_TENSOR \
    { py_bind_tensor, "Tensor" }
#define PY_WAY_TENSORS \
    { py_bind_tensors, "tuple of Tensors" }
#define PY_WAY_WHOLE \
    { py_bind_int, "int" }
#define PY_WAY_REAL \
    { py_bind_number, "float" }
#define PY_WAY_MAYBE \
    { py_bind_number, "float" }
#define PY_WAY_TRUTH \
    { py_bind_bool, "bool" }
#define PY_WAY_NUMBER \
    { py_bind_number, "Number" }
#define PY_WAY_WHOLES \
    { py_bind_ints, "tuple of ints" }
#define PY_WAY_REALS \
    { py_bind_floats, "tuple of floats" }
#define PY_WAY_DTYPE \
    { py_bind_dtype, "torch.dtype" }
#define PY_WAY_DEVICE \
    { py_bind_device, "torch.device" }
#define PY_WAY_GENERATOR \
    { py_bind_generator, "torch.Generator" }
#define PY_WAY_WORD \
    { py_bind_word, "str" }
#define PY_WAY_STRING \
    { py_bind_string, "str" }
#define PY_WAY_MODULE \
    { NULL, "Module" }
#define PY_WAY_MODULES \
    { NULL, "Modules" }
static const struct py_bind_type {
    bool (*bind)(py_bind *b, const tn_param *p, PyObject *o); /* NULL: not from Python */
    const char *kind;
} py_bind_types[TN_TYPE_COUNT] = {{NULL, ""},
#define PY_TYPE(NAME, text, list, c, cxx, lies, traits, way) PY_WAY_##way,
                                  TN_TYPES(PY_TYPE)
#undef PY_TYPE
};

/* Argument o as parameter i, which may be given once. */
static bool py_bind_one(py_bind *b, int i, PyObject *o) {
    if (b->bound >> i & 1) return py_bind_no(b, FAULT_TWICE, i);
    b->bound |= (uint64_t)1 << i;
    const tn_param *p = &b->gen->param[i];
    bool (*bind)(py_bind *, const tn_param *, PyObject *) = py_bind_types[p->type].bind;
    if (TNI_LIKELY(bind && bind(b, p, o))) return true;
    b->given = o;
    return py_bind_no(b, FAULT_KIND, i);
}

/* --- keywords --------------------------------------------------------------------------------- */

/* The interned names of a row's parameters, by the row's number. A number may come to another row
 * after tn_unregister: then they are made again. */
typedef struct py_row_names {
    const tn_row *row;
    PyObject **at;
} py_row_names;
static struct {
    py_row_names *of;
    uint32_t room;
} py_names;

static bool py_names_grow(uint32_t room) {
    py_row_names *of = (py_row_names *)PyMem_Calloc(room, sizeof *of);
    if (!of) return false;
    if (py_names.room) memcpy(of, py_names.of, py_names.room * sizeof *of);
    PyMem_Free(py_names.of);
    py_names.of = of;
    py_names.room = room;
    return true;
}

/* The names of row, made at the first call by keyword. NULL: no memory, or an exception. */
static PyObject **py_names_of(const tn_row *row) {
    const int n = row->gen->nparam;
    py_row_names *names;
    PyObject **at;
    if (row->gen->index >= py_names.room && !py_names_grow(row->gen->index + 64)) return NULL;
    names = &py_names.of[row->gen->index];
    if (names->row == row) return names->at;
    at = (PyObject **)PyMem_Calloc((size_t)n + 1, sizeof *at);
    for (int i = 0; at && i < n; i++)
        /* words that were interned so far stay interned; only the array goes */
        if (!(at[i] = PyUnicode_InternFromString(row->gen->param[i].name))) {
            PyMem_Free(at);
            return NULL;
        }
    if (!at) return NULL;
    PyMem_Free(names->at);
    names->row = row;
    return names->at = at;
}

/* Names of **words that a program makes are not interned. */
static bool py_names_is(PyObject *name, PyObject *word) {
    return name == word || PyUnicode_Compare(name, word) == 0;
}

/* torch's and NumPy's other names of a parameter. */
static PyObject *py_names_other(PyObject *name) {
    if (py_names_is(name, py.input) || py_names_is(name, py.x) || py_names_is(name, py.a) ||
        py_names_is(name, py.x1))
        return py.self;
    if (py_names_is(name, py.x2)) return py.other;
    if (py_names_is(name, py.self)) return py.input;
    if (py_names_is(name, py.axis)) return py.dim;
    if (py_names_is(name, py.keepdims)) return py.keepdim;
    return NULL;
}

/* By address first: names in source code are interned. */
static int py_names_find(PyObject **at, int n, PyObject *name) {
    for (int i = 0; i < n; i++)
        if (at[i] == name) return i;
    for (int i = 0; i < n; i++)
        if (PyUnicode_Compare(at[i], name) == 0) return i;
    return -1;
}

/* out=: a tensor, or a tuple or list of as many as the row has results, behind the parameters. */
static bool py_bind_out(py_bind *b, PyObject *o) {
    const tn_gen *gen = b->gen;
    tn_tensor *given[4];
    if (o == Py_None) return true;
    if (gen->nresults == 1) {
        if (!py_bind_tensor_of(b, o, &given[0])) return false;
    } else {
        if (PyList_Check(o)) {
            if (b->nheld == BIND_MORE || !(o = PyList_AsTuple(o))) return false;
            b->held[b->nheld++] = o;
        }
        if (!PyTuple_Check(o) || PyTuple_Size(o) != gen->nresults || gen->nresults > 4)
            return false;
        /* several results: every one of them */
        for (int k = 0; k < gen->nresults; k++)
            if (!py_bind_tensor_of(b, PyTuple_GetItem(o, k), &given[k])) return false;
    }
    py_bind_put(b, gen->out_offset, given, (size_t)gen->nresults * sizeof given[0]);
    return true;
}

/* Keywords that no schema has: of all rows with out=, of all that make tensors. */
static bool py_bind_common(py_bind *b, unsigned how, PyObject *name, PyObject *o, bool *fits) {
    if (b->gen->out_offset != UINT16_MAX && !b->method && !(how & TN_IN_PLACE) &&
        py_names_is(name, py.out)) {
        b->common = "out";
        b->common_kind = b->gen->nresults == 1 ? "Tensor" : "tuple of Tensors";
        *fits = py_bind_out(b, o);
        return true;
    }
    if (!py_row_creates(b->gen)) return false;
    /* accepted and without effect, but for requires_grad: there is one layout and no
     * pinned memory */
    b->common_kind = "bool";
    if (py_names_is(name, py.requires_grad)) {
        b->common = "requires_grad";
        *fits = PyBool_Check(o);
        b->requires_grad = o == Py_True;
    } else if (py_names_is(name, py.pin_memory)) {
        b->common = "pin_memory";
        *fits = PyBool_Check(o) || o == Py_None;
    } else {
        b->common = "layout";
        b->common_kind = "torch.layout";
        *fits = o == py.strided || o == Py_None;
        return py_names_is(name, py.layout);
    }
    return true;
}

/* Keyword k of the call: a parameter by its name, a common keyword, or another name of
 * a parameter. */
static bool py_bind_keyword(py_bind *b, unsigned how, PyObject *name, PyObject *o, int k) {
    PyObject **at = b->names ? b->names : py_names_of(b->row), *other;
    bool fits;
    if (!at) return PyErr_NoMemory(), py_bind_no(b, FAULT_RAISED, k);
    /* torch's own names first: a row may have a parameter that is called `a` or `x` */
    int i = py_names_find(at, b->gen->nparam, name);
    if (i < 0 && py_bind_common(b, how, name, o, &fits)) {
        b->given = o;
        return fits || py_bind_no(b, FAULT_COMMON, k);
    }
    if (i < 0 && (other = py_names_other(name)) != NULL)
        i = py_names_find(at, b->gen->nparam, other);
    b->named = true;
    return i < 0 ? py_bind_no(b, FAULT_UNKNOWN, k) : py_bind_one(b, i, o);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* x.view(2, 3): the only positional parameter is a list, and all arguments are its members. 0: they
 * are not; -1: a fault. */
static int py_bind_varargs(py_bind *b, int first, PyObject *const *args, Py_ssize_t nargs) {
    const tn_param *p = &b->gen->param[first];
    if (first >= b->gen->nparam || p->type != TN_T_INTS || p->flags & TN_P_KEYWORD) return 0;
    if (nargs == 1 && (PyTuple_Check(args[0]) || PyList_Check(args[0]))) return 0;
    /* x.view(2, 3) but not roll(x, 1, 2): another positional parameter could be meant */
    for (int i = first + 1; i < b->gen->nparam; i++)
        if (!(b->gen->param[i].flags & TN_P_KEYWORD) && nargs > 1) return 0;
    int used = b->nints;
    int64_t *at = (int64_t *)py_bind_room(b, nargs, sizeof *at, b->ints, &b->nints, BIND_INTS);
    if (!at) return py_bind_no(b, FAULT_RAISED, first), -1;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (py_to_index(args[i], &at[i])) continue;
        /* the room is given back; a single argument that is no int may be something
         * else (x.sum(None)) */
        b->nints = used;
        b->given = args[i];
        bool list = PyTuple_Check(args[i]) || PyList_Check(args[i]);
        if (PyErr_Occurred() || (nargs > 1 && !list)) return py_bind_no(b, FAULT_KIND, first), -1;
        return 0;
    }
    tn_ints l = tn_ints_of(at, nargs);
    py_bind_put(b, p->offset, &l, sizeof l);
    b->bound |= (uint64_t)1 << first;
    return 1;
}

/* Rows that make tensors of nothing make them where the thread does by default. The package's own
 * calls of them count on the CPU. */
static void py_bind_place(py_bind *b) {
    const tn_device_id cpu = TN_CPU;
    /* a row of tensors makes its results where they are, and modules belong to who makes them */
    if (!b->row || b->gen->nfixed || b->gen->props & TN_PROP_LISTS) return;
    if (tn_default_device() == TN_CPU || !py_here_is_ours()) return;
    for (int i = 0; i < b->gen->nparam; i++) {
        const tn_param *p = &b->gen->param[i];
        tn_device_id asked;
        if (p->type != TN_T_DEVICE) continue;
        memcpy(&asked, b->args.bytes + p->offset, sizeof asked);
        if (asked == TN_NO_DEVICE) py_bind_put(b, p->offset, &cpu, sizeof cpu);
    }
}

PY_PRIV bool py_bind_fill(py_bind *b, unsigned how, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    const tn_gen *gen = b->gen;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0, at = 0;
    /* absent options are the schema's defaults, so a call needs to say only what differs */
    memcpy(b->args.bytes, gen->defaults, gen->args_size);
    if (b->method && !py_bind_one(b, 0, args[at++])) return false;
    if (nargs > at) {
        int list = py_bind_varargs(b, (int)at, args + at, nargs - at);
        if (list < 0) return false;
        if (list) at = nargs;
    }
    for (; at < nargs; at++) {
        if (at >= gen->nparam || gen->param[at].flags & TN_P_KEYWORD)
            return py_bind_no(b, FAULT_MANY, (int)at);
        if (!py_bind_one(b, (int)at, args[at])) return false;
    }
    for (Py_ssize_t k = 0; k < nkw; k++)
        if (!py_bind_keyword(b, how, PyTuple_GetItem(kwnames, k), args[nargs + k], (int)k))
            return false;
    /* required parameters may also come by keyword, so this is known only now */
    for (int i = 0; i < gen->nparam; i++)
        if (!(b->bound >> i & 1) && tn_param_is_required(&gen->param[i]))
            return py_bind_no(b, FAULT_MISSING, i);
    py_bind_place(b);
    return true;
}

PY_PRIV const char *py_bind_kind(const tn_param *p) {
    return p->flags & TN_P_NUMBER ? "Tensor or Number" : py_bind_types[p->type].kind;
}

/* src/py/fault.c - torch's messages for arguments that do not fit, from what parse.c left in a py_bind */
/* fault.c - torch's messages for arguments that do not fit, from what parse.c left in a py_bind. */

/* The name of o's class, without its module, as torch says it. `text` has room for it. */
static const char *py_fault_type(PyObject *o, char *text, size_t room) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, room, "%s", s ? s : "?");
    Py_XDECREF(name);
    /* __name__ of a metaclass may raise; this is a message, so "?" will do */
    PyErr_Clear();
    return text;
}

/* A parameter's name as torch says it. */
static const char *py_fault_param(const py_bind *b, int i) {
    const char *name = b->gen->param[i].name;
    return !b->method && !strcmp(name, "self") ? "input" : name;
}

/* "argument 'dim' (position 1)"; by its name alone where that was given. */
static const char *py_fault_argument(const py_bind *b, char *text, size_t room) {
    const char *name = b->fault == FAULT_COMMON ? b->common : py_fault_param(b, b->at);
    if (b->named || b->fault == FAULT_COMMON)
        snprintf(text, room, "argument '%s'", name);
    else
        snprintf(text, room, "argument '%s' (position %d)", name, b->at + (b->method ? 0 : 1));
    return text;
}

/* An int of more than 64 bits, said with its place; other exceptions stay as they are. */
PY_PRIV PyObject *py_fault_overflow(const py_bind *b, const char *name) {
    char argument[96];
    if (!b->given || !PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    const tn_param *p = &b->gen->param[b->at];
    /* torch's, which depend on the code path that unpacks the int */
    PyObject *kind = p->type == TN_T_INT                     ? PyExc_ValueError
                     : p->type != TN_T_INTS                  ? PyExc_OverflowError
                     : p->count < 0 /* what torch unpacks */ ? PyExc_TypeError
                                                             : PyExc_ValueError;
    PyErr_Clear();
    return PyErr_Format(kind, "%s(): %s: Overflow when unpacking long long", name,
                        py_fault_argument(b, argument, sizeof argument));
}

/* "f(): argument 'x' must be K, not T", or the same of a member of a list. */
static PyObject *py_fault_of_kind(const py_bind *b, const char *name) {
    char argument[96], type[80];
    const char *kind =
        b->fault == FAULT_KIND ? py_bind_kind(&b->gen->param[b->at]) : b->common_kind;
    py_fault_argument(b, argument, sizeof argument);
    if (b->place < 0)
        return PyErr_Format(PyExc_TypeError, "%s(): %s must be %s, not %s", name, argument, kind,
                            py_fault_type(b->given, type, sizeof type));
    /* new: the list may have changed, so this may fail */
    PyObject *member = PySequence_GetItem(b->given, b->place);
    if (!member) return NULL;
    py_fault_type(member, type, sizeof type);
    Py_DECREF(member);
    return PyErr_Format(PyExc_TypeError,
                        "%s(): %s must be %s, but found element of type %s at pos %d", name,
                        argument, kind, type, b->place);
}

/* What has no default and was not given, all of it. */
static PyObject *py_fault_missing(const py_bind *b, const char *name) {
    PyObject *text = PyUnicode_FromString("");
    int n = 0;
    for (int i = 0; text && i < b->gen->nparam; i++) {
        const tn_param *p = &b->gen->param[i];
        if (b->bound >> i & 1 || !tn_param_is_required(p)) continue;
        PyObject *more =
            PyUnicode_FromFormat("%U%s\"%s\"", text, n++ ? ", " : "", py_fault_param(b, i));
        Py_DECREF(text);
        text = more;
    }
    if (text)
        PyErr_Format(PyExc_TypeError, "%s() missing %d required positional argument%s: %U", name, n,
                     n == 1 ? "s" : "", text); /* which is torch's plural */
    Py_XDECREF(text);
    return NULL;
}

/* "f() takes 2 positional arguments but 3 were given", in CPython's words. */
static PyObject *py_fault_many(const py_bind *b, const char *name, Py_ssize_t nargs) {
    int self = b->method, least = 0, most = 0;
    /* positional parameters, and those without a default; self is not counted, as in CPython */
    for (int i = self; i < b->gen->nparam && !(b->gen->param[i].flags & TN_P_KEYWORD); i++) {
        most++;
        least += !(b->gen->param[i].flags & TN_P_DEFAULT);
    }
    int given = (int)nargs - self;
    const char *s = most == 1 ? "" : "s", *were = given == 1 ? "was" : "were";
    if (least < most)
        return PyErr_Format(PyExc_TypeError,
                            "%s() takes from %d to %d positional argument%s but %d %s given", name,
                            least, most, s, given, were);
    return PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %d %s given",
                        name, most, s, given, were);
}

PY_PRIV PyObject *py_fault_raise(const py_bind *b, const char *name, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    /* the exception of Python code stands */
    switch (b->fault) {
    case FAULT_RAISED: return NULL;
    case FAULT_KIND:
    case FAULT_COMMON: return py_fault_of_kind(b, name);
    case FAULT_MANY: return py_fault_many(b, name, nargs);
    case FAULT_MISSING: return py_fault_missing(b, name);
    case FAULT_TWICE:
        return PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", name,
                            py_fault_param(b, b->at));
    default:
        return PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name,
                            kwnames ? PyTuple_GetItem(kwnames, b->at) : NULL);
    }
}

/* "(Tensor, int, dim=str)" */
static PyObject *py_fault_given(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                                Py_ssize_t from) {
    PyObject *text = PyUnicode_FromString("(");
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = from; text && i < nargs + nkw; i++) {
        char type[80];
        /* positional types first, then name=type, as torch lists them */
        const char *comma = i > from ? ", " : "";
        py_fault_type(args[i], type, sizeof type);
        PyObject *more = i < nargs
                             ? PyUnicode_FromFormat("%U%s%s", text, comma, type)
                             : PyUnicode_FromFormat("%U%s%U=%s", text, comma,
                                                    PyTuple_GetItem(kwnames, i - nargs), type);
        Py_DECREF(text);
        text = more;
    }
    return text;
}

PY_PRIV PyObject *py_fault_overloads(const py_group *g, bool method, PyObject *const *args,
                                     Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *given = py_fault_given(args, nargs, kwnames, method ? 1 : 0);
    PyObject *text = given ? PyUnicode_FromFormat("%s() received an invalid combination of "
                                                  "arguments - got %U), but expected one of:",
                                                  g->name, given)
                           : NULL;
    /* text is replaced by each longer one, which is new; NULL ends it with the exception */
    for (int i = 0; text && i < g->nrows; i++) {
        const char *schema = strchr(g->row[i]->schema, '(');
        PyObject *more = PyUnicode_FromFormat("%U\n * %s", text, schema ? schema : "");
        Py_DECREF(text);
        text = more;
    }
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(given);
    Py_XDECREF(text);
    return NULL;
}

/* src/py/resize.c - torch gives a tensor of another shape that is passed as out= the result's, with a warning if it had elements */
/* resize.c - torch gives a tensor of another shape that is passed as out= the result's, with a
 * warning if it had elements. The library refuses such a call before it writes anything; it is made
 * again here without the tensors, which then take what it gives. */

typedef struct resize_call {
    tn_tensor *given[4], *made[4];
    int n;
} resize_call;

static bool resize_same_shape(const tn_tensor *a, const tn_tensor *b) {
    if (tn_ndim(a) != tn_ndim(b)) return false;
    for (int i = 0; i < tn_ndim(a); i++)
        if (tn_size(a, i) != tn_size(b, i)) return false;
    return true;
}

/* Rows of evenly spaced numbers fill any tensor of as many elements, as it lies. */
static bool resize_spaced(const tn_row *row) {
    return !strncmp(row->name, "arange", 6) || !strcmp(row->name, "linspace") ||
           !strcmp(row->name, "logspace");
}
static bool resize_fills(const tn_tensor *to, const tn_tensor *made) {
    return tn_numel(to) == tn_numel(made) && !tn_needs_grad(to) &&
           tn_device_of(to) == tn_device_of(made) && tn_dtype_of(to) == tn_dtype_of(made);
}
static bool resize_fill(tn_tensor *to, tn_tensor *made) {
    tn_tensor *shaped = tnp_view(made, tn_shape(to));
    const bool ok = shaped && tnp_copy_(to, shaped);
    tn_free(shaped);
    return ok;
}

/* Whether all given tensors can have the results' shapes, of which some are others. */
static bool resize_helps(const resize_call *c) {
    bool other = false;
    for (int k = 0; k < c->n; k++) {
        const tn_tensor *to = c->given[k], *made = c->made[k];
        if (tn_needs_grad(to) || tn_is_view(to) || tn_device_of(to) != tn_device_of(made))
            return false;
        other = other || !resize_same_shape(to, made);
    }
    return other;
}

/* Whether all given tensors can take the results' elements. */
static bool resize_fits(const resize_call *c) {
    for (int k = 0; k < c->n; k++)
        if (py_dtype_kind(tn_dtype_of(c->made[k])) > py_dtype_kind(tn_dtype_of(c->given[k])))
            return false;
    return true;
}

/* "[2, 3]"; cut where it is longer than the room. */
static void resize_text(char *to, size_t room, const tn_tensor *t) {
    size_t at = 0;
    for (int i = 0; i < tn_ndim(t) && at + 24 < room; i++)
        at +=
            (size_t)snprintf(to + at, room - at, "%s%lld", i ? ", " : "", (long long)tn_size(t, i));
    to[at] = 0;
}

static bool resize_warn(const tn_row *row, const tn_tensor *to, const tn_tensor *made) {
    char has[256], wants[256];
    const bool spaced = resize_spaced(row);
    if (!tn_numel(to) || (spaced && row->name[0] == 'l')) return true;
    resize_text(has, sizeof has, to);
    resize_text(wants, sizeof wants, made);
    if (spaced)
        return PyErr_WarnFormat(
                   PyExc_UserWarning, 1,
                   "The number of elements in the out tensor of shape [%s] is %lld which does not "
                   "match the computed number of elements %lld. Note that this may occur as a "
                   "result of rounding error. The out tensor will be resized to a tensor of shape "
                   "(%s,).",
                   has, (long long)tn_numel(to), (long long)tn_numel(made), wants) == 0;
    return PyErr_WarnFormat(
               PyExc_UserWarning, 1,
               "An output with one or more elements was resized since it had shape [%s], which "
               "does not match the required output shape [%s]. This behavior is deprecated, and in "
               "a future PyTorch release outputs will not be resized unless they have zero "
               "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to "
               "zero elements with t.resize_(0).",
               has, wants) == 0;
}

/* The given tensor becomes the result: its elements are copied, or it takes their memory. */
static bool resize_take(tn_tensor *to, tn_tensor *made) {
    if (resize_same_shape(to, made)) return tnp_copy_(to, made) != NULL;
    tn_tensor *fits = tnp_to_dtype(made, tn_dtype_of(to), false, true);
    const bool ok = fits && py_retire_memory(to) && tn_set_data_at(NULL, 0, to, fits);
    tn_free(fits);
    return ok;
}

/* The call with given tensors of the right shapes, whose dtypes it sees then. If it fails they have
 * what they had. */
static bool resize_again(const tn_row *row, const void *args, resize_call *c) {
    tn_tensor *had[4] = {NULL}, *results[8];
    bool ok = true;
    for (int k = 0; ok && k < c->n; k++) {
        tn_tensor *to = c->given[k];
        tn_tensor *room = tnp_empty_like(c->made[k], tn_dtype_of(to), TN_NO_DEVICE);
        had[k] = tnp_detach(to);
        ok = room && had[k] && py_retire_memory(to) && tn_set_data_at(NULL, 0, to, room);
        tn_free(room);
    }
    ok = ok && tn_call(row, 0, NULL, 0, args, results);
    for (int k = 0; k < c->n; k++) {
        if (!ok && had[k]) tn_set_data_at(NULL, 0, c->given[k], had[k]);
        tn_free(had[k]);
    }
    return ok;
}

/* New tensors have the dtype of the given one where none is asked for. */
static void resize_dtype(const tn_gen *gen, char *args, const tn_tensor *to) {
    const tn_dtype dtype = tn_dtype_of(to);
    for (int i = 0; py_row_creates(gen) && i < gen->nparam; i++) {
        tn_dtype asked;
        if (gen->param[i].type != TN_T_DTYPE) continue;
        memcpy(&asked, args + gen->param[i].offset, sizeof asked);
        if (!asked) memcpy(args + gen->param[i].offset, &dtype, sizeof dtype);
    }
}

PY_PRIV bool py_resized(const tn_row *row, const void *args, tn_tensor **results) {
    const tn_gen *gen = row->gen;
    union {
        void *aligned;
        char bytes[BIND_BYTES];
    } without;
    resize_call c;
    tn_error_info error;
    PyObject *type, *value, *trace;
    bool ok;
    if (gen->out_offset == UINT16_MAX || gen->nresults > 4) return false;
    c.n = gen->nresults;
    memcpy(c.given, (const char *)args + gen->out_offset, (size_t)c.n * sizeof *c.given);
    if (!c.given[0]) return false;
    PyErr_Fetch(&type, &value, &trace);
    memcpy(without.bytes, args, gen->args_size);
    memset(without.bytes + gen->out_offset, 0, (size_t)c.n * sizeof *c.given);
    resize_dtype(gen, without.bytes, c.given[0]);
    const bool mode = tn_set_grad_mode(false);
    const bool called = tn_call(row, 0, NULL, 0, without.bytes, c.made);
    if (!called) tn_error_take(&error);
    const bool fills = called && resize_spaced(row) && resize_fills(c.given[0], c.made[0]);
    ok = called && (fills || resize_helps(&c));
    for (int k = 0; ok && !fills && k < c.n; k++) ok = resize_warn(row, c.given[k], c.made[k]);
    if (ok && fills)
        ok = resize_fill(c.given[0], c.made[0]);
    else if (ok && !resize_fits(&c))
        ok = resize_again(row, args, &c);
    else
        for (int k = 0; ok && k < c.n; k++) ok = resize_take(c.given[k], c.made[k]);
    if (called && !tn_ok()) py_raise();
    for (int k = 0; called && k < c.n; k++) tn_free(tn_take(c.made[k]));
    tn_set_grad_mode(mode);
    if (ok || PyErr_Occurred()) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        for (int k = 0; ok && k < c.n; k++) results[k] = c.given[k];
    } else {
        PyErr_Restore(type, value, trace);
    }
    return ok;
}

/* src/py/run.c - a row whose arguments are bound is run, and its results become Python's */
/* run.c - a row whose arguments are bound is run, and its results become Python's. */

/* --- results ---------------------------------------------------------------------------------- */

/* As torch prints it: a line for each result. */
static PyObject *py_results_repr(PyObject *self, PyObject *unused) {
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__match_args__");
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    PyObject *text = fields && name ? PyUnicode_FromFormat("torch.return_types.%S(", name) : NULL;
    (void)unused;
    for (Py_ssize_t k = 0; text && k < PyTuple_Size(self); k++) {
        PyObject *field = PySequence_GetItem(fields, k); /* a program may have set them */
        PyObject *more = field ? PyUnicode_FromFormat("%U%s\n%S=%R", text, k ? "," : "", field,
                                                      PyTuple_GetItem(self, k))
                               : NULL;
        Py_XDECREF(field);
        Py_DECREF(text);
        text = more;
    }
    PyObject *r = text ? PyUnicode_FromFormat("%U)", text) : NULL;
    Py_XDECREF(fields);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return r;
}
static PyMethodDef py_results_def = {"__repr__", py_results_repr, METH_NOARGS, NULL};

/* The named tuple of a row with several results, made at its first call. */
PY_PRIV PyObject *py_results_type(const tn_row *row) {
    static PyObject *types; /* by name */
    PyStructSequence_Field fields[9];
    char name[96];
    /* made once: types of named tuples are compared by identity */
    if (!types && !(types = PyDict_New())) return NULL;
    PyObject *type = py_entry(types, row->name);
    if (type || PyErr_Occurred()) return type;
    memset(fields, 0, sizeof fields);
    for (int k = 0; k < row->gen->nresults; k++) fields[k].name = row->gen->result_names[k];
    /* the schema's name, max, not that of the row, max_dim */
    snprintf(name, sizeof name, "torch.return_types.%.*s", (int)strcspn(row->schema, ".("),
             row->schema);
    PyStructSequence_Desc desc = {name, NULL, fields, row->gen->nresults};
    type = (PyObject *)PyStructSequence_NewType(&desc);
    PyObject *repr = type ? PyDescr_NewMethod((PyTypeObject *)type, &py_results_def) : NULL;
    int bad = !repr || PyObject_SetAttrString(type, "__repr__", repr) ||
              PyDict_SetItemString(types, row->name, type);
    Py_XDECREF(repr);
    Py_XDECREF(type); /* the dictionary has it */
    if (bad) return NULL;
    return type;
}

/* One result: a new tensor, or a given one, which has a wrapper or has lost it meanwhile. */
TNI_INLINE PyObject *py_result_of(tn_tensor *t) {
    /* a result that was given (out=, x.add_) has a wrapper already, which is the result */
    PyObject *known = (PyObject *)tn_binding(t);
    if (known) return py_wrap_known(t, known);
    /* its wrapper let it go while the call ran: the count is the retired list's */
    if (TNI_UNLIKELY(py.retired) && py_retired_has(t)) return py_wrap(tn_retain(t));
    return py_wrap(tn_take(t));
}

/* A named tuple of the results r, which it takes; None of a row without results. */
static PyObject *py_results_several(const tn_row *row, tn_tensor **r) {
    int n = row->gen->nresults;
    bool named = n && strncmp(row->schema, "var_mean", 8) != 0; /* torch names no results of it */
    PyObject *type = named ? py_results_type(row) : NULL;
    PyObject *all = !n       ? Py_NewRef(Py_None)
                    : !named ? PyTuple_New(n)
                    : type   ? PyStructSequence_New((PyTypeObject *)type)
                             : NULL;
    for (int k = 0; k < n; k++) {
        /* all results are taken even after a failure, as each has a count */
        PyObject *one = r[k] ? py_result_of(r[k]) : Py_NewRef(Py_None);
        if (all && one && !named) {
            PyTuple_SetItem(all, k, one);
        } else if (all && one) {
            PyStructSequence_SetItem(all, k, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

PY_PRIV PyObject *py_results_list(tn_list l) {
    PyObject *all = PyTuple_New((Py_ssize_t)l.n);
    for (int64_t i = 0; i < l.n; i++) {
        PyObject *one = l.at[i] ? py_wrap(tn_take(l.at[i])) : Py_NewRef(Py_None);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    /* the holder owned the array; the tensors were taken one by one */
    tn_free(tn_take(l.holder));
    return all;
}

/* "-> bool": the row's result is a 0-dim tensor in C. */
static PyObject *py_result_truth(tn_tensor *t) {
    bool truth = tnp_item_int(t) != 0;
    tn_free(tn_take(t));
    return tn_ok() ? PyBool_FromLong(truth) : py_raise();
}

/* --- running ---------------------------------------------------------------------------------- */

PY_PRIV bool py_records(const tn_gen *gen, const void *args) {
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    /* lists are not walked: a place too many costs little */
    return (gen->props & TN_PROP_LISTS) != 0;
}

/* tn_call around the locks it needs. A call that was stopped for somebody else's Ctrl-C is
 * made again. */
static bool py_run_call(const tn_row *row, unsigned how, const char *file, int line,
                        const void *args, void *results, bool lasts) {
    const bool draws = (row->gen->props & TN_PROP_GENERATOR) != 0;
    bool ok;
    do {
        /* the generator before the GIL: who waits for it lets go of the GIL */
        if (TNI_UNLIKELY(draws)) py_draw_begin();
        if (lasts) {
            py_long l = py_long_begin();
            ok = tn_call(row, how, file, line, args, results);
            py_long_end(l);
        } else {
            ok = tn_call(row, how, file, line, args, results);
        }
        if (TNI_UNLIKELY(draws)) py_draw_end();
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    return ok;
}

/* Runs the row and makes its result, new. The struct's tensors are borrowed from the
 * caller's arguments. */
PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts,
                         bool records) {
    const tn_gen *gen = row->gen;
    const char *file = NULL;
    int line = 0;
    union {
        tn_tensor *one[8];
        tn_list list;
    } r;
    /* the place is only for the tape's messages and for plans; errors here have a traceback of
     * Python's */
    if (TNI_UNLIKELY(py.planning) || (records && tn_grad_mode())) py_here(&file, &line);
    lasts = lasts || !gen->nresults; /* it may wait for other ranks */
    if (TNI_UNLIKELY(!py_run_call(row, how, file, line, args, &r, lasts))) {
        py_raise();
        if (how != TN_PLAIN || !py_resized(row, args, r.one)) return NULL;
    }
    if (gen->props & TN_PROP_RETURNS_LIST) return py_results_list(r.list);
    if (gen->nresults != 1) return py_results_several(row, r.one);
    if (TNI_UNLIKELY(gen->props & TN_PROP_TRUTH)) return py_result_truth(r.one[0]);
    return py_result_of(r.one[0]);
}

/* src/py/override.c - __torch_function__: a call with an argument of a class that wants to be asked about calls goes to that class first */
/* override.c - __torch_function__: a call with an argument of a class that wants to be asked about
 * calls goes to that class first.
 *
 * Tensors and parameters of exactly these classes cost one comparison in parse.c and never come
 * here. A subclass that keeps Tensor's own __torch_function__ is served without Python code: the
 * row runs, its results become of that class. */

enum { ASKED_MOST = 32 };

/* Arguments with a __torch_function__, one a class: subclasses first, then as they stand. */
typedef struct py_asked {
    PyObject *who[ASKED_MOST]; /* counted */
    int n;
    bool standard; /* all have Tensor's own */
} py_asked;

static struct {
    PyObject *key;      /* of the thread's dictionary: tensors are plain there */
    PyObject *disabled; /* _disabled_torch_function_impl */
    int offs;           /* threads in which that is so, at most */
} py_override;

/* --- off, in a thread ------------------------------------------------------------------------- */

/* Whether this thread takes tensors of subclasses for plain ones. No lookup where no
 * thread does. */
static bool py_override_off(void) {
    PyObject *all = py_override.offs ? PyThreadState_GetDict() : NULL;
    /* the thread's dictionary, so a thread that ends takes it along */
    return all && PyDict_GetItemWithError(all, py_override.key) == Py_True;
}

/* Returns what was before. */
static bool py_override_set_off(bool off) {
    bool before = py_override_off();
    PyObject *all = before == off ? NULL : PyThreadState_GetDict();
    if (!all || PyDict_SetItem(all, py_override.key, off ? Py_True : Py_False)) return before;
    py_override.offs += off ? 1 : -1;
    return before;
}

typedef struct py_disable {
    PyObject_HEAD bool before;
} py_disable;

/* DisableTorchFunctionSubclass: a with block in which subclasses are plain, in this thread. */
static PyObject *py_disable_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    ((py_disable *)self)->before = py_override_set_off(true);
    return Py_NewRef(self);
}
static PyObject *py_disable_exit(PyObject *self, PyObject *unused) {
    (void)unused;
    py_override_set_off(((py_disable *)self)->before);
    Py_RETURN_NONE;
}
static PyMethodDef py_disable_methods[] = {{"__enter__", py_disable_enter, METH_NOARGS, NULL},
                                           {"__exit__", py_disable_exit, METH_VARARGS, NULL},
                                           {NULL, NULL, 0, NULL}};
static PyType_Slot py_disable_slots[] = {{Py_tp_methods, py_disable_methods}, {0, NULL}};
static PyType_Spec py_disable_spec = {"torch.DisableTorchFunctionSubclass", sizeof(py_disable), 0,
                                      Py_TPFLAGS_DEFAULT, py_disable_slots};

/* --- who wants to be asked -------------------------------------------------------------------- */

static PyObject *py_override_standard(PyObject *, PyObject *, PyObject *);
static PyObject *py_override_disabled(PyObject *, PyObject *, PyObject *);

/* Whether f is Tensor's own __torch_function__, bound to some class. */
static bool py_override_is_standard(PyObject *f) {
    return PyCFunction_Check(f) &&
           PyCFunction_GetFunction(f) == (PyCFunction)(void *)py_override_standard;
}

/* Adds o where it wants; false with an exception. */
static bool py_asked_add(py_asked *a, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    int at = a->n;
    /* exact tensors, common values and classes; subclasses of Tensor where that is off */
    if (type == py.tensor || type == py.parameter || type == &PyLong_Type || o == Py_None ||
        type == &PyFloat_Type || PyType_Check(o) || (py_is_tensor(o) && py_override_off()))
        return true;
    for (int i = 0; i < a->n; i++)
        if (Py_TYPE(a->who[i]) == type) return true;
    /* of the class: torch looks there, not in the object */
    PyObject *f = PyObject_GetAttr((PyObject *)type, py.torch_function);
    if (!f && !PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    if (!f) return PyErr_Clear(), true;
    bool wants = f != py_override.disabled, standard = py_override_is_standard(f);
    Py_DECREF(f);
    if (!wants) return true;
    if (a->n == ASKED_MOST)
        return PyErr_Format(PyExc_TypeError, "too many classes with __torch_function__"), false;
    /* before the first one of which it is a subclass */
    for (int i = a->n - 1; i >= 0; i--)
        if (PyType_IsSubtype(type, Py_TYPE(a->who[i]))) at = i;
    memmove(a->who + at + 1, a->who + at, (size_t)(a->n - at) * sizeof a->who[0]);
    a->who[at] = Py_NewRef(o);
    a->n++;
    a->standard = a->standard && standard;
    return true;
}

static void py_asked_begin(py_asked *a) {
    a->n = 0;
    a->standard = true;
}
static void py_asked_end(py_asked *a) {
    while (a->n) Py_DECREF(a->who[--a->n]);
}

/* The arguments, and the members of those that are lists. To be ended in either case. */
static bool py_asked_find(py_asked *a, PyObject *const *args, Py_ssize_t n) {
    bool ok = true;
    py_asked_begin(a);
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *o = args[i];
        bool tuple = Py_TYPE(o) == &PyTuple_Type, list = Py_TYPE(o) == &PyList_Type;
        if (!tuple && !list) ok = py_asked_add(a, o);
        for (Py_ssize_t k = 0; ok && tuple && k < PyTuple_Size(o); k++)
            ok = py_asked_add(a, PyTuple_GetItem(o, k));
        for (Py_ssize_t k = 0; ok && list && k < PyList_Size(o); k++) { /* which may change */
            PyObject *one = Py_NewRef(PyList_GetItem(o, k));
            ok = py_asked_add(a, one);
            Py_DECREF(one);
        }
    }
    return ok;
}

/* The classes that are asked, a new tuple: `types` of __torch_function__. */
static PyObject *py_asked_types(const py_asked *a) {
    PyObject *types = PyTuple_New(a->n);
    for (int i = 0; types && i < a->n; i++)
        PyTuple_SetItem(types, i, Py_NewRef((PyObject *)Py_TYPE(a->who[i])));
    return types;
}

/* The TypeError for a call that every class has refused. */
static PyObject *py_asked_nobody(const py_asked *a, PyObject *func) {
    PyObject *types = py_asked_types(a), *name = PyObject_GetAttrString(func, "__name__");
    if (types && name) { /* HasAttr clears an exception */
        const char *of = PyObject_HasAttrString(func, "__objclass__") ? "Tensor." : "";
        PyErr_Format(PyExc_TypeError,
                     "Multiple dispatch failed for 'torch.%s%S'; all __torch_function__ handlers "
                     "returned NotImplemented: no implementation found on types %R",
                     of, name, types);
    }
    Py_XDECREF(types);
    Py_XDECREF(name);
    return NULL;
}

/* Asks one after another, or nobody if a has none. Ends a. */
static PyObject *py_asked_ask(py_asked *a, PyObject *func, PyObject *args, PyObject *kwargs) {
    PyObject *types = py_asked_types(a), *r = types ? Py_NewRef(Py_NotImplemented) : NULL;
    if (kwargs && !PyDict_Size(kwargs)) kwargs = NULL;
    for (int i = 0; r == Py_NotImplemented && i < a->n; i++) {
        PyObject *f = PyObject_GetAttr(a->who[i], py.torch_function);
        Py_DECREF(r);
        /* NULL in place of kwargs ends the arguments */
        r = f ? PyObject_CallFunctionObjArgs(f, func, types, args, kwargs, NULL) : NULL;
        Py_XDECREF(f);
    }
    if (r == Py_NotImplemented) {
        Py_DECREF(r);
        r = py_asked_nobody(a, func);
    }
    Py_XDECREF(types);
    py_asked_end(a);
    return r;
}

/* --- results of a subclass -------------------------------------------------------------------- */

/* A view of all of o as an instance of type: a slice, or of 0 dimensions a view, is recorded
 * as such. */
PY_PRIV PyObject *py_wrap_alias(PyTypeObject *type, PyObject *o) {
    const char *file;
    int line;
    py_here(&file, &line);
    tn_tensor *t = py_of(o);
    const tn_slice_args s = {0, TN_NONE, TN_NONE, 1, t};
    const tn_view_args v = {t, tn_empty_dims()};
    tn_tensor *r = tn_ndim(t) ? tn_slice_at(file, line, &s) : tn_view_at(file, line, &v);
    return r ? py_wrap_as(type, tn_take(r)) : py_raise();
}

/* o as an instance of type; takes o. A tensor that nobody else has just changes its wrapper. */
static PyObject *py_override_as(PyObject *o, PyTypeObject *type) {
    py_tensor *p = (py_tensor *)o;
    PyObject *r;
    if (!py_is_tensor(o) || PyType_IsSubtype(Py_TYPE(o), type)) return o;
    /* a result that only this call knows: its tensor goes to a wrapper of the other class,
     * without a view */
    if (Py_REFCNT(o) == 1 && Py_TYPE(o) == py.tensor && !p->dict && !p->weak) {
        tn_tensor *t = p->t;
        /* the count of the tensor goes over to the new wrapper */
        p->t = NULL;
        tn_set_binding(t, NULL, NULL);
        r = py_wrap_as(type, t);
    } else {
        r = py_wrap_alias(type, o);
    }
    Py_DECREF(o);
    return r;
}

/* A result, or a list or tuple of results, as type; takes o. */
static PyObject *py_override_convert(PyObject *o, PyTypeObject *type) {
    if ((!PyTuple_Check(o) && !PyList_Check(o)) || Py_TYPE(o) == py.size)
        return py_override_as(o, type);
    /* lists may contain themselves */
    if (Py_EnterRecursiveCall(" in __torch_function__")) return Py_DECREF(o), NULL;
    /* a copy, as conversion makes objects and the sequence may be a tuple */
    PyObject *list = PySequence_List(o), *r = NULL;
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *one = py_override_convert(Py_NewRef(PyList_GetItem(list, i)), type);
        if (!one || PyList_SetItem(list, i, one)) Py_CLEAR(list);
    }
    if (list) r = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(o), list, NULL);
    Py_XDECREF(list);
    Py_DECREF(o);
    Py_LeaveRecursiveCall();
    return r;
}

PY_PRIV PyObject *py_of_class(PyObject *self, PyObject *r) {
    py_asked a;
    if (!r || Py_TYPE(self) == py.tensor || Py_TYPE(self) == py.parameter) return r;
    if (!py_asked_find(&a, &self, 1)) return py_asked_end(&a), Py_DECREF(r), NULL;
    /* a class whose __torch_function__ is disabled gets plain tensors */
    bool wants = a.n > 0;
    py_asked_end(&a);
    return wants ? py_override_convert(r, Py_TYPE(self)) : r;
}

/* --- __torch_function__ of Tensor ------------------------------------------------------------- */

/* x.grad stays what it is: `func` is Tensor.grad.__get__. */
static bool py_override_keeps(PyObject *func) {
    PyObject *of = PyObject_GetAttrString(func, "__self__");
    PyObject *name = of ? PyObject_GetAttrString(of, "__name__") : NULL;
    bool keeps = name && PyUnicode_Check(name) && !PyType_Check(of) &&
                 !PyUnicode_CompareWithASCIIString(name, "grad");
    Py_XDECREF(of);
    Py_XDECREF(name);
    PyErr_Clear();
    return keeps;
}

/* (func, types, args=(), kwargs=None): the call on plain tensors, its results of the class. */
static PyObject *py_override_standard(PyObject *cls, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"func", "types", "args", "kwargs", NULL};
    PyObject *func, *types, *given = NULL, *words = NULL, *r;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", (char **)(uintptr_t)names, &func,
                                     &types, &given, &words))
        return NULL;
    if (words == Py_None) words = NULL;
    if (words && !PyDict_Check(words))
        return PyErr_Format(PyExc_TypeError, "__torch_function__(): kwargs must be a dict, not %R",
                            Py_TYPE(words));
    types = PySequence_Tuple(types);
    for (Py_ssize_t i = 0; types && i < PyTuple_Size(types); i++) {
        /* torch's rule: a class answers only where it derives from every class that is involved */
        int sub = PyObject_IsSubclass(cls, PyTuple_GetItem(types, i));
        if (sub == 1) continue;
        Py_DECREF(types);
        return sub < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    given = types ? given ? PySequence_Tuple(given) : PyTuple_New(0) : NULL;
    Py_XDECREF(types);
    if (!given) return NULL;
    /* plain inside, so that the rows run and nobody is asked twice */
    bool before = py_override_set_off(true);
    r = PyObject_Call(func, given, words);
    py_override_set_off(before);
    Py_DECREF(given);
    return r && !py_override_keeps(func) ? py_override_convert(r, (PyTypeObject *)cls) : r;
}

static PyObject *py_override_disabled(PyObject *cls, PyObject *args, PyObject *kwargs) {
    (void)cls, (void)args, (void)kwargs;
    return Py_NewRef(Py_NotImplemented);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The class that results are of, where all keep Tensor's __torch_function__. */
static PyTypeObject *py_asked_class(const py_asked *a) {
    for (int i = 0; i < a->n; i++) {
        /* a subclass of all the others; none if two are unrelated */
        int k = 0;
        while (k < a->n && PyType_IsSubtype(Py_TYPE(a->who[i]), Py_TYPE(a->who[k]))) k++;
        if (k == a->n) return Py_TYPE(a->who[i]);
    }
    return NULL;
}

PY_PRIV PyObject *py_overridden(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames, py_plain_call plain) {
    py_asked a;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyTypeObject *type;
    if (!py_asked_find(&a, args, nargs + nkw)) return py_asked_end(&a), NULL;
    if (!a.n) return Py_NewRef(Py_NotImplemented);
    /* no Python code: the row runs, and its results become of that class */
    if (a.standard && (type = py_asked_class(&a)) != NULL) {
        PyObject *r = plain(g, method, args, nargs, kwnames);
        if (r) r = py_override_convert(r, type);
        return py_asked_end(&a), r;
    }
    /* what torch passes as func: the function, or Tensor's method */
    PyObject *func =
        method ? PyObject_GetAttrString((PyObject *)py.tensor, g->name) : Py_NewRef(g->function);
    PyObject *tuple = func ? py_args_tuple(args, nargs) : NULL;
    PyObject *dict = tuple && nkw ? py_args_dict(args + nargs, kwnames) : NULL;
    PyObject *r =
        tuple && (dict || !nkw) ? py_asked_ask(&a, func, tuple, dict) : (py_asked_end(&a), NULL);
    Py_XDECREF(func);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

PY_PRIV PyObject *py_overridden_method(const char *name, PyObject *const *args, Py_ssize_t n) {
    py_asked a;
    if (!py_asked_find(&a, args, n)) return py_asked_end(&a), NULL;
    if (!a.n || a.standard) return py_asked_end(&a), Py_NewRef(Py_NotImplemented);
    PyObject *func = PyObject_GetAttrString((PyObject *)py.tensor, name);
    PyObject *tuple = func ? py_args_tuple(args, n) : NULL;
    PyObject *r = tuple ? py_asked_ask(&a, func, tuple, NULL) : (py_asked_end(&a), NULL);
    Py_XDECREF(func);
    Py_XDECREF(tuple);
    return r;
}

/* --- for Python: torch.overrides -------------------------------------------------------------- */

/* Who wants to be asked, of any sequence. To be ended in either case. */
static bool py_override_arguments(py_asked *a, PyObject *arguments) {
    py_asked_begin(a);
    PyObject *all = PySequence_Tuple(arguments);
    bool ok = all != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(all); i++)
        ok = py_asked_add(a, PyTuple_GetItem(all, i));
    Py_XDECREF(all);
    return ok;
}

/* (arguments): whether one of them wants to be asked. */
static PyObject *py_override_has(PyObject *self, PyObject *arguments) {
    py_asked a;
    (void)self;
    if (!PyTuple_Check(arguments) && !PyList_Check(arguments))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of arguments");
    PyObject *r = py_override_arguments(&a, arguments) ? PyBool_FromLong(a.n > 0) : NULL;
    return py_asked_end(&a), r;
}

/* (func, arguments, args, kwargs): asks those among arguments that want to be. */
static PyObject *py_override_handle(PyObject *self, PyObject *args) {
    py_asked a;
    PyObject *func, *arguments, *given, *words;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO!O!", &func, &arguments, &PyTuple_Type, &given, &PyDict_Type,
                          &words))
        return NULL;
    if (!PyTuple_Check(arguments) && !PyList_Check(arguments))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of arguments");
    if (!py_override_arguments(&a, arguments)) return py_asked_end(&a), NULL;
    return py_asked_ask(&a, func, given, words);
}

static PyMethodDef py_override_functions[] = {
    {"_disabled_torch_function_impl", (PyCFunction)(void *)py_override_disabled,
     METH_VARARGS | METH_KEYWORDS, "as __torch_function__: the class is served as a plain tensor"},
    {"_has_torch_function", py_override_has, METH_O, NULL},
    {"_handle_torch_function", py_override_handle, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_override_method = {
    "__torch_function__", (PyCFunction)(void *)py_override_standard,
    METH_VARARGS | METH_KEYWORDS | METH_CLASS,
    "(func, types, args=(), kwargs=None): func on plain tensors, its results of this class"};

PY_PRIV int py_override_begin(PyObject *module) {
    PyObject *type = PyType_FromSpec(&py_disable_spec), *m;
    if (!type || PyModule_AddObjectRef(module, "DisableTorchFunctionSubclass", type)) return -1;
    py_override.key = PyUnicode_InternFromString("tensorh.functions_off");
    if (!py_override.key || PyModule_AddFunctions(module, py_override_functions)) return -1;
    py_override.disabled = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
    m = PyDescr_NewClassMethod(py.tensor, &py_override_method);
    int bad = !m || PyObject_SetAttr((PyObject *)py.tensor, py.torch_function, m);
    Py_XDECREF(m);
    return bad || !py_override.disabled ? -1 : 0;
}

/* src/py/call.c - a call by Python: the first row of a group that the arguments fit, else an overload in Python, else an error */
/* call.c - a call by Python: the first row of a group that the arguments fit, else an overload in
 * Python, else an error. Who has a __torch_function__ of its own is asked first (override.c). */

/* Runs the row of b, whose arguments fit. Whether the call may last decides if the GIL
 * is released. */
static PyObject *py_bound_call(py_bind *b, unsigned how) {
    bool lasts = b->elements >= PY_LONG;
    if (!b->gen->nfixed && b->nints) { /* makes a tensor of that size, perhaps */
        double numel = 1;
        for (int i = 0; i < b->nints; i++) numel *= (double)b->ints[i];
        lasts = lasts || numel >= PY_LONG;
    }
    /* a double: sizes that overflow are refused by the row, not here */
    PyObject *r = py_run(b->row, how, b->args.bytes, lasts, py_records(b->gen, b->args.bytes));
    /* a new tensor that nobody else has seen: it may still become a leaf */
    if (r && b->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(r), true)) {
        Py_DECREF(r);
        return py_raise();
    }
    return r;
}

/* What torch takes and no row does, as Python functions by name: tensorh/_overloads.py, read where
 * nothing fits. NotImplemented: there is none. A TypeError is raised where it is returned. */
static PyObject *py_overloads_call(const char *name, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames) {
    static PyObject *all;
    /* loaded at the first call that fits no row, as import tensorh should be quick */
    if (!all) {
        PyObject *module = PyImport_ImportModule("tensorh._overloads");
        all = module ? PyObject_GetAttrString(module, "OVERLOADS") : NULL;
        Py_XDECREF(module);
        if (!all) return NULL;
    }
    /* borrowed: OVERLOADS is never changed */
    PyObject *f = py_entry(all, name);
    if (!f) return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    PyObject *tuple = py_args_tuple(args, nargs), *r = NULL;
    PyObject *dict = tuple && kwnames ? py_args_dict(args + nargs, kwnames) : NULL;
    if (tuple && (dict || !kwnames)) r = PyObject_Call(f, tuple, dict);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    /* returned rather than raised: a TypeError that is the answer, not a misfit */
    if (r && PyExceptionInstance_Check(r)) {
        PyErr_SetObject((PyObject *)Py_TYPE(r), r);
        Py_DECREF(r);
        return NULL;
    }
    if (r ||
        !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_AttributeError)))
        return r;
    PyErr_Clear(); /* it does not fit that form either: the rows say what they want */
    return Py_NewRef(Py_NotImplemented);
}

enum py_calls {
    CALL_PLAIN = 1, /* nobody is asked */
    CALL_ROWS = 2   /* no overloads */
};

/* No row fits: subclasses are asked, then overloads, and then the misfit is said. b: of the
 * last row. */
static PyObject *py_call_rest(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call,
                              const py_bind *b) {
    PyObject *r = call & CALL_PLAIN ? Py_NewRef(Py_NotImplemented)
                                    : py_overridden(g, method, args, nargs, kwnames, py_call_plain);
    if (r == Py_NotImplemented && !(call & CALL_ROWS)) {
        Py_DECREF(r);
        r = py_overloads_call(g->name, args, nargs, kwnames);
    }
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    /* one row: what is wrong with its argument; several: all schemas, as torch lists them */
    if (g->nrows > 1) return py_fault_overloads(g, method, args, nargs, kwnames);
    return py_fault_raise(b, g->name, nargs, kwnames);
}

/* The first row that fits. The second pass takes 0-dim tensors for numbers, which the first one
 * does not. b is ended before any return, as it holds lists. */
static PyObject *py_call_rows(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call) {
    py_bind b;
    b.foreign = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < g->nrows; i++) {
            py_bind_begin(&b, g->row[i], method, pass == 1);
            bool fits = py_bind_fill(&b, g->how, args, nargs, kwnames);
            PyObject *r = NULL;
            /* asked once, whatever row they were met in; who is asked may call this function
             * again, plainly */
            if (TNI_UNLIKELY(b.foreign != NULL) && !(call & CALL_PLAIN) &&
                (fits || b.fault != FAULT_RAISED)) {
                r = py_overridden(g, method, args, nargs, kwnames, py_call_plain);
                if (r != Py_NotImplemented) return py_bind_end(&b), r;
                Py_DECREF(r);
                call |= CALL_PLAIN;
            }
            r = fits ? py_bound_call(&b, g->how) : NULL;
            py_bind_end(&b);
            if (fits) return r;
            /* Python code of an argument has raised: no other row is tried */
            if (b.fault == FAULT_RAISED) return py_fault_overflow(&b, g->name);
        }
    }
    return py_call_rest(g, method, args, nargs, kwnames, call, &b);
}

/* lend: tensors are known by address from here on (py.h). */
PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, 0));
}

/* As py_call, but nobody is asked: for calls that a __torch_function__ makes itself. */
PY_PRIV PyObject *py_call_plain(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, CALL_PLAIN));
}

/* As py_call, but without overloads: for Python functions that are written around their row. */
PY_PRIV PyObject *py_call_row(const py_group *g, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, false, args, nargs, kwnames, CALL_ROWS));
}

/* Binds arguments of a module and runs it: a signature in place of a row, 0-dim tensors
 * are numbers. */
PY_PRIV PyObject *py_call_bound(const py_signature *s, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames, py_bound_run run, void *user) {
    py_bind b;
    b.foreign = NULL;
    py_bind_begin(&b, NULL, false, true);
    /* no row: names and parameters are the module's */
    b.gen = s->gen;
    b.names = s->names;
    const int turn = py_lend();
    bool fits = py_bind_fill(&b, TN_PLAIN, args, nargs, kwnames);
    PyObject *r =
        fits ? run(user, b.args.bytes, b.elements) : py_fault_raise(&b, s->name, nargs, kwnames);
    py_bind_end(&b);
    return py_lent(turn, r);
}

/* src/py/quick.c - calls of plain values: exact tensors, floats, ints and bools, by position */
/* quick.c - calls of plain values: exact tensors, floats, ints and bools, by position. What else
 * there may be is left to parse.c. */

/* What an exact tensor, float, int or bool, or a few ints, say to a parameter: the walk above in
 * short, for the first row of a group. It refuses what it does not know. */
typedef struct py_quick {
    union {
        double align;
        void *pointer;
        char bytes[PY_QUICK_BYTES];
    } args;
    int64_t elements;
    bool records;
    int64_t ints[PY_QUICK_INTS];
} py_quick;

TNI_INLINE bool py_quick_int(PyObject *o, int64_t *to) {
    int overflow;
    if (Py_TYPE(o) != &PyLong_Type) return false;
    *to = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
}

/* A list of ints: the n arguments from `at` on, or one tuple. */
static bool py_quick_ints(py_quick *q, const tn_param *p, PyObject *const *at, Py_ssize_t n) {
    /* a Size is a tuple of ints as well; other subclasses and lists go the long way */
    PyObject *tuple =
        n == 1 && (Py_TYPE(at[0]) == &PyTuple_Type || Py_TYPE(at[0]) == py.size) ? at[0] : NULL;
    if (tuple) n = PyTuple_Size(tuple);
    if (n > PY_QUICK_INTS) return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!py_quick_int(tuple ? PyTuple_GetItem(tuple, i) : at[i], &q->ints[i])) return false;
    /* points into q, which lives until the call has returned */
    tn_ints l = tn_ints_of(q->ints, n);
    memcpy(q->args.bytes + p->offset, &l, sizeof l);
    return true;
}

static bool py_quick_value(py_quick *q, const tn_param *p, PyObject *o) {
    int64_t integer;
    bool truth = o == Py_True;
    /* bool is a subclass of int but not of this exact type, so True is no int here */
    if (p->type == TN_T_INT) {
        if (!py_quick_int(o, &integer)) return false;
        memcpy(q->args.bytes + p->offset, &integer, sizeof integer);
    } else if (p->type == TN_T_BOOL) {
        if (!truth && o != Py_False) return false;
        memcpy(q->args.bytes + p->offset, &truth, sizeof truth);
    } else {
        /* Tensor|Scalar with a float, x * 2.0: the tensor stays NULL, as the defaults have it */
        tn_scalar s;
        if (!(p->flags & TN_P_NUMBER) || Py_TYPE(o) != &PyFloat_Type) return false;
        s = tn_float(PyFloat_AsDouble(o));
        memcpy(q->args.bytes + p->number_offset, &s, sizeof s);
    }
    return true;
}

PY_PRIV PyObject *py_call_quick(const py_group *g, PyObject *first, PyObject *const *rest,
                                Py_ssize_t n, bool *fits) {
    py_quick q;
    const tn_gen *gen = g->row[0]->gen;
    *fits = false;
    /* no exception is set on any way out before *fits is true: parse.c begins anew */
    if (n + 1 < g->least || !py_is_exact(first) || (n >= g->most && !g->spread)) return NULL;
    q.elements = 0;
    q.records = false;
    /* defaults of what is not given */
    memcpy(q.args.bytes, gen->defaults, gen->args_size);
    for (Py_ssize_t i = 0; i <= n; i++) {
        const tn_param *p = &gen->param[i];
        PyObject *o = i ? rest[i - 1] : first;
        if (TNI_LIKELY(p->type == TN_T_TENSOR && py_is_exact(o))) {
            tn_tensor *t = py_of(o);
            memcpy(q.args.bytes + p->offset, &t, sizeof t);
            q.elements += tn_numel(t);
            q.records = q.records || tn_needs_grad(t);
        } else if (p->type == TN_T_INTS) {
            if ((i != n && i + 1 != g->spread) || !py_quick_ints(&q, p, rest + i - 1, n - i + 1))
                return NULL;
            break;
        } else if (!py_quick_value(&q, p, o)) {
            return NULL;
        }
    }
    *fits = true;
    const int turn = py_lend(); /* another thread may run in a call that lasts */
    return py_lent(turn, py_run(g->row[0], g->how, q.args.bytes, q.elements >= PY_LONG, q.records));
}

/* src/py/docs.c - docstrings of rows: a signature that `inspect` reads, the row's comment, its schema */
/* docs.c - docstrings of rows: a signature that `inspect` reads, the row's comment, its schema.
 *
 * Everything comes from the row: names and flags from its table, defaults from its schema, the text
 * from gen/docs.inl. A row registered at run time has no comment. */

/* Text that grows; at is NULL once memory was missing. */
typedef struct py_docs_text {
    char *at;
    size_t n, room;
} py_docs_text;

/* Appends n bytes; after a failure t->at is NULL and the rest is dropped. */
static void py_docs_put_bytes(py_docs_text *t, const char *from, size_t n) {
    if (!t->at) return;
    if (t->n + n >= t->room) {
        /* twice as much each time, so that a text of n bytes costs O(n) */
        size_t room = 2 * (t->n + n) + 64;
        char *at = (char *)py_get_again(t->at, room, 1);
        if (!at) py_give(t->at);
        t->at = at;
        t->room = room;
        if (!at) return;
    }
    memcpy(t->at + t->n, from, n);
    t->n += n;
    t->at[t->n] = '\0';
}
static void py_docs_put(py_docs_text *t, const char *text) {
    py_docs_put_bytes(t, text, strlen(text));
}

/* "=3" behind a parameter, in Python's spelling: words in quotes, None for an absent default. */
static void py_docs_put_default(py_docs_text *t, const tn_row *row, int i) {
    const tn_param *p = &row->gen->param[i];
    py_param_text text;
    if (!(p->flags & TN_P_DEFAULT) && p->type != TN_T_GENERATOR) return;
    bool has = py_row_param(row, i, &text) && text.value;
    /* words and texts are bare in a schema and quoted in Python */
    bool word = has && (p->type == TN_T_ENUM || p->type == TN_T_STRING) &&
                strncmp(text.value, "None", 4) != 0 && *text.value != '\'';
    py_docs_put(t, word ? "='" : "=");
    if (has)
        py_docs_put_bytes(t, text.value, text.nvalue);
    else
        py_docs_put(t, "None");
    if (word) py_docs_put(t, "'");
}

/* What a keyword of Python is called here; it can be given by place alone. */
static const char *py_docs_reserved(const char *name) {
    return !strcmp(name, "from") ? "from_" : !strcmp(name, "lambda") ? "lambda_" : NULL;
}

/* "(a, b=1, *, c=2": what inspect.signature parses of the first line of __doc__. */
static void py_docs_put_params(py_docs_text *t, const tn_row *row, bool method, unsigned how) {
    const tn_gen *gen = row->gen;
    bool star = false, first = true;
    for (int i = 0; i < gen->nparam; i++, first = false) {
        const tn_param *p = &gen->param[i];
        const char *reserved = py_docs_reserved(p->name);
        if (!first) py_docs_put(t, ", ");
        if (p->flags & TN_P_KEYWORD && !star) py_docs_put(t, "*, ");
        star = star || p->flags & TN_P_KEYWORD;
        if (!strcmp(p->name, "self"))
            py_docs_put(t, method ? "$self" : "input");
        else
            py_docs_put(t, reserved ? reserved : p->name);
        py_docs_put_default(t, row, i);
        /* a name that Python reserves can be given by position alone */
        if (reserved) py_docs_put(t, ", /");
    }
    /* keywords that no schema has */
    bool out = gen->out_offset != UINT16_MAX && how == TN_PLAIN && !method;
    if (!out && !py_row_creates(gen)) return;
    py_docs_put(t, star ? "" : first ? "*" : ", *");
    if (out) py_docs_put(t, ", out=None");
    if (py_row_creates(gen)) py_docs_put(t, ", requires_grad=False");
}

/* The comment of the row, and its schema. */
static void py_docs_put_row(py_docs_text *t, const tn_row *row) {
    const char *comment = py_row_comment(row);
    if (*comment) {
        py_docs_put(t, comment);
        py_docs_put(t, "\n\n");
    }
    py_docs_put(t, row->schema);
}

PY_PRIV char *py_docs_of(const py_group *g, bool method) {
    py_docs_text t = {(char *)py_get(256, 1), 0, 256};
    /* CPython takes "name(signature)\n--\n\n" from the docstring's beginning
     * as __text_signature__ */
    py_docs_put(&t, g->name);
    py_docs_put(&t, "(");
    if (g->nrows == 1)
        py_docs_put_params(&t, g->row[0], method, g->how);
    else
        py_docs_put(&t, method      ? "$self, *args, **kwargs"
                        : g->method ? "input, *args, **kwargs"
                                    : "*args, **kwargs");
    py_docs_put(&t, ")\n--\n\n");
    for (int i = 0; i < g->nrows; i++) {
        if (i) py_docs_put(&t, "\n\n");
        py_docs_put_row(&t, g->row[i]);
    }
    return t.at;
}

/* src/py/group.c - functions and methods of all rows: rows of one name are a group, a group is a function of the module, a method of Tensor, or both */
/* group.c - functions and methods of all rows: rows of one name are a group, a group is a function
 * of the module, a method of Tensor, or both. They are made from the table of rows at import. */

enum { GROUPS_MOST = 1024 }; /* as many names as there are trampolines below */

static struct {
    py_group at[GROUPS_MOST];
    int n;
} py_groups;

/* self in place of r, a new view or copy of it, where torch gives back what it was given. */
static PyObject *py_groups_same(const py_group *g, PyObject *self, PyObject *r) {
    const tn_tensor *t, *made;
    if (!r || r == self || !py_is_tensor(self) || !py_is_tensor(r) || !py_is_exact(self)) return r;
    t = py_of(self);
    made = py_of(r);
    if (g->same == SAME_REAL ? py_dtype_is_complex(tn_dtype_of(t))
                             : tn_ndim(made) != tn_ndim(t) || !tn_same_storage(made, t))
        return r;
    Py_DECREF(r);
    return Py_NewRef(self);
}

/* A method of a class knows nothing but self, so each name has a function of its own; they differ
 * in a number alone. A function of a module knows its group. */
static PyObject *py_groups_method(int k, PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    /* vectorcall has self apart; py_call has it as the first argument */
    PyObject *few[12], **all = few;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    bool fits = false;
    /* plain values first: most calls end here */
    PyObject *r = kwnames ? NULL : py_call_quick(&py_groups.at[k], self, args, n, &fits);
    if (fits) return py_groups.at[k].same ? py_groups_same(&py_groups.at[k], self, r) : r;
    if (n + nkw + 1 > 12 && !(all = (PyObject **)PyMem_Malloc((size_t)(n + nkw + 1) * sizeof *all)))
        return PyErr_NoMemory();
    /* borrowed, all of them: the caller holds them during the call */
    all[0] = self;
    for (Py_ssize_t i = 0; i < n + nkw; i++) all[i + 1] = args[i];
    r = py_call(&py_groups.at[k], true, all, n + 1, kwnames);
    if (all != few) PyMem_Free(all);
    return py_groups.at[k].same ? py_groups_same(&py_groups.at[k], self, r) : r;
}

#define GROUP_METHOD(k)                                                                       \
    static PyObject *py_group_method_##k(PyObject *self, PyObject *const *args, Py_ssize_t n, \
                                         PyObject *kwnames) {                                 \
        return py_groups_method(0x0##k, self, args, n, kwnames);                              \
    }
#define GROUP_ENTRY(k) py_group_method_##k,
/* clang-format off */
#define GROUPS_16(X, k)                                                                      \
    X(k##0) X(k##1) X(k##2) X(k##3) X(k##4) X(k##5) X(k##6) X(k##7)                          \
    X(k##8) X(k##9) X(k##a) X(k##b) X(k##c) X(k##d) X(k##e) X(k##f)
#define GROUPS_256(X, k)                                                                     \
    GROUPS_16(X, k##0) GROUPS_16(X, k##1) GROUPS_16(X, k##2) GROUPS_16(X, k##3)              \
    GROUPS_16(X, k##4) GROUPS_16(X, k##5) GROUPS_16(X, k##6) GROUPS_16(X, k##7)              \
    GROUPS_16(X, k##8) GROUPS_16(X, k##9) GROUPS_16(X, k##a) GROUPS_16(X, k##b)              \
    GROUPS_16(X, k##c) GROUPS_16(X, k##d) GROUPS_16(X, k##e) GROUPS_16(X, k##f)
/* clang-format on */
#define GROUPS_ALL(X) GROUPS_256(X, 0) GROUPS_256(X, 1) GROUPS_256(X, 2) GROUPS_256(X, 3)
GROUPS_ALL(GROUP_METHOD)

typedef PyObject *(*py_groups_fast)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static const py_groups_fast py_groups_entry[GROUPS_MOST] = {GROUPS_ALL(GROUP_ENTRY)};

/* torch.f of a group, which the capsule `self` knows. */
static PyObject *py_groups_function(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                    PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    bool fits = false;
    PyObject *r = NULL;
    if (TNI_LIKELY(g != NULL) && n && !kwnames)
        r = py_call_quick(g, args[0], args + 1, n - 1, &fits);
    if (!fits && g) r = py_call(g, false, args, n, kwnames);
    return g && g->same && n ? py_groups_same(g, args[0], r) : r;
}

/* The same without overloads: for functions in Python that are written around their row. */
static PyObject *py_groups_row(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    return g ? py_call_row(g, args, n, kwnames) : NULL;
}

/* Linear: asked at import and by names, not by calls. */
PY_PRIV const py_group *py_group_of(const char *name) {
    for (int i = 0; i < py_groups.n; i++)
        if (strcmp(py_groups.at[i].name, name) == 0) return &py_groups.at[i];
    return NULL;
}

/* Room for a name that lives as long as the process. */
static char *py_groups_name(const char *base, size_t n, const char *more) {
    char *name = (char *)py_get(n + strlen(more) + 1, 1);
    if (!name) return NULL;
    memcpy(name, base, n);
    strcpy(name + n, more);
    return name;
}

/* Whether py_call_quick reads a parameter of this kind by position. */
static bool py_group_is_plain(const tn_param *p) {
    return !(p->flags & TN_P_KEYWORD) && (p->type == TN_T_TENSOR || p->type == TN_T_INT ||
                                          p->type == TN_T_BOOL || p->type == TN_T_INTS);
}

/* What py_call_quick needs to know of the first row, counted once; most 0: it does not try. */
static void py_group_count(py_group *g) {
    const tn_gen *gen = g->row[0]->gen;
    int least = 0, most = 0, positional = 0;
    for (int i = 0; i < gen->nparam; i++) {
        if (tn_param_is_required(&gen->param[i])) least = i + 1;
        if (!(gen->param[i].flags & TN_P_KEYWORD)) positional = i + 1;
    }
    /* up to the first parameter that is not plain; a list of ints ends it, as it may take all
     * the rest */
    while (most < gen->nparam && py_group_is_plain(&gen->param[most]))
        if (gen->param[most++].type == TN_T_INTS) break;
    if (!most || gen->param[0].type != TN_T_TENSOR || least > most ||
        gen->args_size > PY_QUICK_BYTES)
        return;
    g->least = (uint8_t)least;
    g->most = (uint8_t)most;
    if (gen->param[most - 1].type == TN_T_INTS && most == positional) g->spread = (uint8_t)most;
}

/* A group of one row. Its name is the schema's up to the overload: "add" of "add.Tensor(..". */
static void py_group_fill(py_group *g, const tn_row *row, unsigned how, const char *more) {
    g->name = py_groups_name(row->schema, strcspn(row->schema, ".("), more);
    g->how = how;
    g->nrows = 1;
    g->row[0] = row;
    g->method = py_row_is_method(row);
    if (how == TN_PLAIN && (!strcmp(g->name, "conj") || !strcmp(g->name, "real")))
        g->same = SAME_REAL;
    if (!strcmp(g->name, "flatten")) g->same = SAME_DIMS;
    py_group_count(g);
}

/* Adds a row to the group of its name, or makes that. */
static bool py_groups_add(const tn_row *row, unsigned how, const char *more) {
    size_t n = strcspn(row->schema, ".(");
    for (int i = 0; i < py_groups.n; i++) {
        py_group *g = &py_groups.at[i];
        if (strncmp(g->name, row->schema, n) || strcmp(g->name + n, more)) continue;
        /* rows beyond the room can be called by name */
        if (g->nrows < (int)(sizeof g->row / sizeof g->row[0])) g->row[g->nrows++] = row;
        return true;
    }
    if (py_groups.n == GROUPS_MOST) return true; /* calls by name remain */
    py_group *g = &py_groups.at[py_groups.n];
    py_group_fill(g, row, how, more);
    if (!g->name) return false;
    py_groups.n++;
    return true;
}

/* A row whose name ends in _ has that form alone; others have one in place if they say so. */
static bool py_groups_add_forms(const tn_row *row) {
    size_t n = strcspn(row->schema, ".(");
    if (n && row->schema[n - 1] == '_')
        return py_groups_add(row, row->forms & TN_INPLACE ? TN_IN_PLACE : TN_PLAIN, "");
    return py_groups_add(row, TN_PLAIN, "") &&
           (!(row->forms & TN_INPLACE) || py_groups_add(row, TN_IN_PLACE, "_"));
}

/* A definition that Python keeps a pointer to. */
static PyMethodDef *py_groups_def(const py_group *g, bool method, void *function) {
    PyMethodDef *def = (PyMethodDef *)py_get(1, sizeof *def);
    if (!def) return PyErr_NoMemory(), NULL;
    def->ml_name = g->name;
    def->ml_meth = (PyCFunction)function;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    def->ml_doc = py_docs_of(g, method);
    if (!def->ml_doc) return py_give(def), PyErr_NoMemory(), NULL;
    return def;
}

/* A function of the module whose `self` is a capsule with the group. New; NULL with
 * an exception. */
static PyObject *py_groups_as_function(const py_group *g, void *function) {
    PyMethodDef *def = py_groups_def(g, false, function);
    PyObject *self = def ? PyCapsule_New((void *)(uintptr_t)g, "tensorh.group", NULL) : NULL;
    PyObject *f = self ? PyCFunction_New(def, self) : NULL;
    Py_XDECREF(self);
    return f;
}

/* The function of a group at the places of its rows; a name that ends in _ is the in-place form. */
static bool py_group_place(PyObject *module, const py_group *g) {
    const bool in_place = g->name[strlen(g->name) - 1] == '_';
    for (int i = 0; i < g->nrows; i++) {
        const char *at = py_row_places(g->row[i]);
        for (size_t n; at && *at; at += n + strspn(at + n, " ")) {
            n = strcspn(at, " ");
            if ((at[n - 1] == '_') == in_place && !py_place(module, at, n, g->function))
                return false;
        }
    }
    return true;
}

/* The group as a function of the module and its namespaces, and as a method of Tensor. */
static int py_groups_publish(py_group *g, PyObject *module) {
    PyObject *f = py_groups_as_function(g, (void *)py_groups_function), *m;
    int bad = !f || (!py_row_is_apart(g->row[0]) && PyModule_AddObjectRef(module, g->name, f));
    g->function = f; /* counted: it stays */
    if (bad || !py_group_place(module, g)) return -1;
    if (!g->method) return 0;
    if (PyObject_HasAttrString((PyObject *)py.tensor, g->name)) return 0; /* x.real, by hand */
    /* Python keeps the address of def for good */
    PyMethodDef *def = py_groups_def(g, true, (void *)py_groups_entry[g - py_groups.at]);
    m = def ? PyDescr_NewMethod(py.tensor, def) : NULL;
    bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, g->name, m);
    Py_XDECREF(m);
    return bad ? -1 : 0;
}

/* What a dictionary of functions that stay has under name; made at first need. */
static PyObject *py_groups_kept(PyObject **kept, const char *name, const py_group *g,
                                void *function) {
    if (!*kept && !(*kept = PyDict_New())) return NULL;
    PyObject *f = py_entry(*kept, name);
    if (f || PyErr_Occurred()) return Py_XNewRef(f);
    f = py_groups_as_function(g, function);
    if (f && PyDict_SetItemString(*kept, name, f)) Py_CLEAR(f);
    return f;
}

/* A row that was registered since the import, by its name or torch's; a group of its own. */
PY_PRIV PyObject *py_registered(const char *name) {
    static PyObject *kept;
    const tn_row *row = tn_row_named(name);
    const py_group *known = py_group_of(name);
    PyObject *f = kept ? py_entry(kept, name) : NULL;
    if (f || PyErr_Occurred()) return Py_XNewRef(f);
    if (!row && !known) return NULL;
    if (known) return py_groups_kept(&kept, name, known, (void *)py_groups_function);
    py_group *g = (py_group *)py_get(1, sizeof *g); /* stays, as the row does */
    if (!g) return PyErr_NoMemory();
    py_group_fill(g, row, TN_PLAIN, "");
    if (!g->name) return py_give(g), PyErr_NoMemory();
    return g->function = py_groups_kept(&kept, name, g, (void *)py_groups_function);
}

/* _return_type(name): the class of the named results of torch.max, say. */
static PyObject *py_results_named(PyObject *self, PyObject *o) {
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    const py_group *g = name ? py_group_of(name) : NULL;
    (void)self;
    for (int i = 0; g && i < g->nrows; i++)
        if (g->row[i]->gen->nresults > 1) return Py_XNewRef(py_results_type(g->row[i]));
    if (PyErr_Occurred()) return NULL;
    return PyErr_Format(PyExc_AttributeError, "function %R has no named results", o);
}

/* _row(name): the function of that name without the overloads in Python. */
static PyObject *py_groups_row_named(PyObject *self, PyObject *o) {
    static PyObject *kept;
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    const py_group *g = name ? py_group_of(name) : NULL;
    (void)self;
    if (g) return py_groups_kept(&kept, name, g, (void *)py_groups_row);
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_AttributeError, "row %R does not exist", o);
}
static PyMethodDef py_groups_functions[] = {{"_row", py_groups_row_named, METH_O, NULL},
                                            {"_return_type", py_results_named, METH_O, NULL},
                                            {NULL, NULL, 0, NULL}};

PY_PRIV int py_groups_begin(PyObject *module) {
    for (int64_t i = 0; i < tn_row_count(); i++)
        if (!py_groups_add_forms(tn_row_at(i))) return PyErr_NoMemory(), -1;
    for (int i = 0; i < py_groups.n; i++)
        if (py_groups_publish(&py_groups.at[i], module)) return -1;
    return PyModule_AddFunctions(module, py_groups_functions);
}

/* src/py/inspect.c - what the package's tests and stubs ask: all rows, memory in use, allocations that fail on purpose */
/* inspect.c - what the package's tests and stubs ask: all rows, memory in use, allocations that
 * fail on purpose. None of it is a user's. */

/* --- rows ------------------------------------------------------------------------------------- */

/* ((name, type, default as in the schema or None, optional, keyword, words or None), ..) */
static PyObject *py_inspect_params(const tn_row *row) {
    PyObject *all = PyTuple_New(row->gen->nparam);
    for (int i = 0; all && i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        py_param_text text;
        py_row_param(row, i, &text);
        /* None, or the words as a list; N of Py_BuildValue takes it */
        PyObject *words = p->words ? PyList_New(0) : Py_NewRef(Py_None);
        for (int k = 0; words && p->words && p->words[k]; k++) {
            PyObject *word = PyUnicode_FromString(p->words[k]);
            if (!word || PyList_Append(words, word)) Py_CLEAR(words);
            Py_XDECREF(word);
        }
        PyObject *one =
            words
                ? Py_BuildValue("ss#z#NNN", p->name, text.type, (Py_ssize_t)text.ntype, text.value,
                                (Py_ssize_t)text.nvalue, PyBool_FromLong(p->flags & TN_P_OPTIONAL),
                                PyBool_FromLong(p->flags & TN_P_KEYWORD), words)
                : NULL;
        if (!one || PyTuple_SetItem(all, i, one)) Py_CLEAR(all);
    }
    return all;
}

/* [{"torch": "max", "schema": .., "params": ..}, ..] */
PY_PRIV PyObject *py_inspect_rows(PyObject *self, PyObject *unused) {
    PyObject *all = PyList_New(0);
    (void)self, (void)unused;
    for (int64_t i = 0; all && i < tn_row_count(); i++) {
        /* N in the format takes a reference, s and z copy a text */
        const tn_row *row = tn_row_at(i);
        const tn_gen *gen = row->gen;
        PyObject *params = py_inspect_params(row);
        PyObject *one =
            params ? Py_BuildValue(
                         "{ss#,ss,ss,sz,sz,sz,sN,sN,sN,sN,si,sN}", "torch", row->schema,
                         (Py_ssize_t)strcspn(row->schema, ".("), "name", row->name, "schema",
                         row->schema, "sample", row->sample, "domain", row->domain, "places",
                         py_row_places(row), "method", PyBool_FromLong(py_row_is_method(row)),
                         "out", PyBool_FromLong(gen->out_offset != UINT16_MAX), "inplace",
                         PyBool_FromLong(row->forms & TN_INPLACE), "creates",
                         PyBool_FromLong(py_row_creates(gen)), "results",
                         gen->props & TN_PROP_RETURNS_LIST ? -1 : gen->nresults, "params", params)
                   : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* (bytes in use, living tensors, calls of the allocator so far) */
PY_PRIV PyObject *py_inspect_memory(PyObject *self, PyObject *unused) {
    tn_memory_stats m = tn_memory();
    (void)self, (void)unused;
    return Py_BuildValue("LLL", (long long)m.bytes_used, (long long)m.live_tensors,
                         (long long)m.allocations);
}

/* Most bytes in use since the last call of this. */
PY_PRIV PyObject *py_inspect_peak(PyObject *self, PyObject *unused) {
    tn_memory_stats m = tn_memory();
    (void)self, (void)unused;
    tn_memory_reset_peak();
    return PyLong_FromLongLong((long long)m.bytes_peak);
}

/* The library's error that a call has left behind, which is a fault of src/py; or None. */
PY_PRIV PyObject *py_inspect_pending(PyObject *self, PyObject *unused) {
    tn_error_info info;
    (void)self, (void)unused;
    if (!tn_error_take(&info)) Py_RETURN_NONE;
    return PyUnicode_FromString(info.message);
}

/* src/py/plan.c - what tensorh.will_it_fit (tensorh/_plan.py) asks of the library's plan of memory */
/* plan.c - what tensorh.will_it_fit (tensorh/_plan.py) asks of the library's plan of memory. */

/* _plan_begin(): tensors of meta and of devices have no data from here on, and count. */
PY_PRIV PyObject *py_plan_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (!tn_plan_begin_at(NULL, 0)) return py_raise();
    py.planning = true;
    Py_RETURN_NONE;
}

/* (bytes, count, what, shape, file or None, line) */
static PyObject *py_plan_part(const tn_plan_part *p) {
    return Py_BuildValue("LLsszi", (long long)p->bytes, (long long)p->count, p->what, p->shape,
                         p->file, p->line);
}

/* (device, peak, tensor_peak, rest, parts) */
static PyObject *py_plan_of(const tn_plan *plan) {
    PyObject *parts = PyTuple_New(plan->nparts);
    for (int i = 0; parts && i < plan->nparts; i++) {
        PyObject *part = py_plan_part(&plan->part[i]);
        if (!part || PyTuple_SetItem(parts, i, part)) Py_CLEAR(parts);
    }
    if (!parts) return NULL;
    return Py_BuildValue("sLLLN", tn_device_name(plan->device), (long long)plan->peak,
                         (long long)plan->tensor_peak, (long long)plan->rest, parts);
}

/* _plan_end(): a tuple for each device, that of the CPU first. */
PY_PRIV PyObject *py_plan_end(PyObject *self, PyObject *unused) {
    enum { PLANS = 65 };
    tn_plan *plan = (tn_plan *)PyMem_Malloc(PLANS * sizeof *plan);
    (void)self, (void)unused;
    py.planning = false;
    if (!plan) {
        tn_plan_end_at(NULL, 0, NULL, 0);
        return PyErr_NoMemory();
    }
    const int n = tn_plan_end_at(NULL, 0, plan, PLANS);
    PyObject *all = n ? PyTuple_New(n < PLANS ? n : PLANS) : py_raise();
    for (int i = 0; all && i < n && i < PLANS; i++) {
        PyObject *one = py_plan_of(&plan[i]);
        if (!one || PyTuple_SetItem(all, i, one)) Py_CLEAR(all);
    }
    PyMem_Free(plan);
    return all;
}

/* src/py/buffer.c - memory shared by the buffer protocol: that of other objects (NumPy) as a tensor, and that of a tensor for other objects */
/* buffer.c - memory shared by the buffer protocol: that of other objects (NumPy) as a tensor, and
 * that of a tensor for other objects.
 *
 * A buffer is shared, not copied, where the function says so: the tensor holds it until the last
 * tensor over it goes. */

/* A tensor is exported with its dtype's first format. Of the two C types of 64 bits it is that of
 * np.int64: NumPy prints the other one with its name. */
#if LONG_MAX > INT32_MAX
#define BUFFER_I64 "l"
#define BUFFER_U64 "L"
#else
#define BUFFER_I64 "q"
#define BUFFER_U64 "Q"
#endif
static const struct {
    const char *format; /* "": none */
    tn_dtype dtype;
} py_buffer_formats[] = {{BUFFER_I64, TN_I64},
                         {BUFFER_U64, TN_U64},
#define BUFFER_FORMAT(NAME, text, bytes, kind, alias, computes, loop, largest, digits, \
                      safetensors, dlpack, buffer)                                     \
    {buffer, TN_##NAME},
                         TN_DTYPES(BUFFER_FORMAT)
#undef BUFFER_FORMAT
                             {"l", TN_I64},
                         {"L", TN_U64},
                         {"c", TN_U8}};
enum { BUFFER_FORMATS = sizeof py_buffer_formats / sizeof py_buffer_formats[0] };

/* The dtype of a format of the struct module; TN_NO_DTYPE: none has it, or its bytes are in
 * another order. */
static tn_dtype py_buffer_dtype(const Py_buffer *v) {
    const char *f = v->format ? v->format : "B";
    /* prefixes of native byte order; sizes are compared below */
    if (*f == '@' || *f == '=' || (*f == '<' && PY_LITTLE_ENDIAN)) f++;
    for (int i = 0; *f && i < BUFFER_FORMATS; i++) {
        tn_dtype d = py_buffer_formats[i].dtype;
        bool sized = tn_dtype_bytes(d) == v->itemsize;
        /* "l" has 4 bytes with standard sizes */
        if (strcmp(f, py_buffer_formats[i].format) == 0)
            return sized ? d : v->itemsize == 4 ? (*f == 'l' ? TN_I32 : TN_U32) : TN_NO_DTYPE;
    }
    return TN_NO_DTYPE;
}

/* Its shape and strides in elements; false with an exception. */
static bool py_buffer_layout(const Py_buffer *v, int64_t *size, int64_t *stride) {
    if (v->ndim > TN_MAX_DIMS) return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
    for (int i = 0; i < v->ndim; i++) {
        size[i] = v->shape[i];
        /* strides of the protocol are bytes, the library's are elements */
        stride[i] = v->strides[i] / v->itemsize;
        if (v->strides[i] % v->itemsize) {
            PyErr_Format(PyExc_ValueError, "given numpy array strides not a multiple of the "
                                           "element byte size. Copy array first");
            return false;
        }
        if (v->strides[i] < 0) {
            PyErr_Format(PyExc_ValueError,
                         "At least one stride in the given numpy array is negative, and tensors "
                         "with negative strides are not supported. (You can probably work around "
                         "this by making a copy of your array with array.copy().)");
            return false;
        }
    }
    return true;
}

/* A tensor over the buffer v, which it releases with its last view. NULL with an exception; v is
 * the caller's then. */
static tn_tensor *py_buffer_tensor(Py_buffer *v) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype = py_buffer_dtype(v);
    memset(&o, 0, sizeof o);
    /* torch's message for an array of the other byte order */
    if (dtype == TN_NO_DTYPE && v->format && *v->format == (PY_LITTLE_ENDIAN ? '>' : '<')) {
        PyErr_Format(PyExc_ValueError,
                     "given numpy array has byte order different from the native byte order. "
                     "Conversion between byte orders is currently not supported.");
        return NULL;
    }
    if (dtype == TN_NO_DTYPE) {
        PyErr_Format(PyExc_TypeError, "can't convert a buffer of format '%s' to a tensor",
                     v->format ? v->format : "");
        return NULL;
    }
    if (!py_buffer_layout(v, size, stride)) return NULL;
    o.strides = tn_ints_of(stride, v->ndim);
    /* owns v and the reference to the object in it */
    o.release = py_own_buffer_end;
    o.user = v;
    o.read_only = v->readonly != 0;
    tn_tensor *t = tn_wrap_at(NULL, 0, v->buf, tn_ints_of(size, v->ndim), dtype, &o);
    if (!t) py_raise();
    return t;
}

PY_PRIV PyObject *py_from_buffer(PyObject *o, bool may_copy) {
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, v, PyBUF_RECORDS_RO)) { /* no pointers to rows */
        py_give(v);
        if (PyErr_ExceptionMatches(PyExc_ValueError)) /* NumPy has no format for the dtype */
            PyErr_Format(PyExc_TypeError, "can't convert a %R of this dtype to a tensor",
                         Py_TYPE(o));
        return NULL;
    }
    if (v->ndim && (!v->shape || !v->strides)) { /* numpy.datetime64 gives none */
        PyBuffer_Release(v);
        py_give(v);
        return PyErr_Format(PyExc_TypeError, "can't convert a %R to a tensor", Py_TYPE(o));
    }
    /* memory that is not aligned is undefined to read in C */
    bool odd = v->itemsize > 1 && (uintptr_t)v->buf % (uintptr_t)v->itemsize;
    for (int i = 0; i < v->ndim; i++) odd = odd || v->strides[i] < 0;
    if (odd && may_copy && PyObject_HasAttrString(o, "copy")) { /* NumPy: forwards, aligned */
        PyBuffer_Release(v);
        py_give(v);
        PyObject *copy = PyObject_CallMethod(o, "copy", NULL);
        PyObject *r = copy ? py_from_buffer(copy, false) : NULL;
        Py_XDECREF(copy);
        return r;
    }
    tn_tensor *t = py_buffer_tensor(v);
    if (t) return py_wrap(tn_take(t));
    PyBuffer_Release(v);
    py_give(v);
    return NULL;
}

/* --- a tensor as a buffer --------------------------------------------------------------------- */

/* The shape and strides of an exported buffer, and its tensor, because self may have another one
 * by then. */
typedef struct py_buffer_given {
    tn_tensor *tensor;
    Py_ssize_t room[2 * TN_MAX_DIMS];
} py_buffer_given;

/* Whether the strides are in an order that the flags of a request allow. */
static bool py_buffer_ordered(const tn_tensor *t, int flags) {
    bool rows = tn_is_contiguous(t), columns = true;
    int64_t step = 1;
    for (int i = 0; i < tn_ndim(t); i++) {
        columns = columns && (tn_size(t, i) == 1 || tn_stride(t, i) == step);
        step *= tn_size(t, i);
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) return rows;
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) return rows;
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) return columns;
    return (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS || rows || columns;
}

/* The number of the format that t is given in; -1 with an exception: it is not as asked for. */
static int py_buffer_format(const tn_tensor *t, int flags) {
    int k = 0;
    const tn_dtype dtype = tn_dtype_of(t);
    while (py_buffer_formats[k].dtype != dtype) k++;
    const bool none = !*py_buffer_formats[k].format;
    if (none || !py_on_cpu(t) || tn_needs_grad(t)) {
        if (none)
            PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", tn_dtype_name(dtype));
        else
            PyErr_SetString(PyExc_BufferError,
                            "the tensor requires grad, is not on the CPU, or a sample of a batch");
        return -1;
    }
    if (flags & PyBUF_WRITABLE && tn_is_read_only(t)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is on read-only memory");
        return -1;
    }
    if (!py_buffer_ordered(t, flags)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    return k;
}

/* bf_getbuffer: 0, or -1 with an exception. The block in view->internal lives until the release. */
static int py_buffer_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t), k = py_buffer_format(t, flags);
    /* PEP 3118: NULL before any failure */
    view->obj = NULL;
    if (k < 0) return -1;
    py_buffer_given *given = (py_buffer_given *)py_get(1, sizeof *given);
    if (!given) return PyErr_NoMemory(), -1;
    Py_ssize_t *room = given->room;
    /* a view of its own: it keeps the memory, not the Python object */
    given->tensor = tn_take(tnp_detach(t)); /* t.data may be replaced */
    if (!given->tensor) return py_give(given), py_raise(), -1;
    view->itemsize = tn_dtype_bytes(tn_dtype_of(t));
    for (int i = 0; i < n; i++) {
        room[i] = (Py_ssize_t)tn_size(t, i);
        room[n + i] = (Py_ssize_t)tn_stride(t, i) * view->itemsize;
    }
    static char none[16];
    view->buf = tn_numel(t) ? tn_data(t) : none;
    view->len = (Py_ssize_t)tn_numel(t) * view->itemsize;
    view->readonly = tn_is_read_only(t);
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)py_buffer_formats[k].format : NULL;
    view->ndim = flags & PyBUF_ND ? n : 1;
    view->shape = flags & PyBUF_ND ? room : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? room + n : NULL;
    view->suboffsets = NULL;
    /* for py_buffer_releasebuffer; view->obj is the count that PyBuffer_Release drops */
    view->internal = given;
    view->obj = Py_NewRef(self);
    return 0;
}

/* bf_releasebuffer. CPython drops view->obj itself. */
static void py_buffer_releasebuffer(PyObject *self, Py_buffer *view) {
    py_buffer_given *given = (py_buffer_given *)view->internal;
    (void)self;
    tn_release(given->tensor);
    py_give(given);
}

/* --- functions -------------------------------------------------------------------------------- */

/* torch.from_numpy: shares the array's memory, or refuses. */
static PyObject *py_buffer_from_numpy(PyObject *self, PyObject *o) {
    (void)self;
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o) || py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %R)", Py_TYPE(o));
    return py_from_buffer(o, false);
}

/* Bytes of any kind as elements of a dtype, from `offset` bytes on. */
static tn_tensor *py_buffer_over(Py_buffer *v, tn_dtype dtype, long long count, long long offset) {
    /* checked by division: the product of count and size may wrap */
    long long each = tn_dtype_bytes(dtype), left = offset < 0 ? -1 : (long long)v->len - offset;
    tn_wrap_options o;
    if (v->len <= 0 || count == 0)
        PyErr_Format(PyExc_ValueError, "both buffer length (%zd) and count (%lld) must not be 0",
                     v->len, count);
    else if (left <= 0)
        PyErr_Format(PyExc_ValueError,
                     "offset (%lld bytes) must be non-negative and no greater "
                     "than buffer length (%zd bytes) minus 1",
                     offset, v->len);
    else if (count < 0 && left % each)
        PyErr_Format(PyExc_ValueError,
                     "buffer length (%lld bytes) after offset (%lld bytes) must "
                     "be a multiple of element size (%lld)",
                     left, offset, each);
    else if (count > left / each)
        PyErr_Format(PyExc_ValueError,
                     "requested buffer length (%lld * %lld bytes) after offset "
                     "(%lld bytes) must not be greater than actual buffer "
                     "length (%zd bytes)",
                     count, each, offset, v->len);
    if (PyErr_Occurred()) return NULL;
    const int64_t size[1] = {count < 0 ? left / each : count};
    memset(&o, 0, sizeof o);
    o.release = py_own_buffer_end;
    o.user = v;
    o.read_only = v->readonly != 0;
    tn_tensor *t = tn_wrap_at(NULL, 0, (char *)v->buf + offset, tn_ints_of(size, 1), dtype, &o);
    if (!t) py_raise();
    return t;
}

/* torch.frombuffer: any object with the buffer protocol, read as elements of dtype. */
static PyObject *py_buffer_frombuffer(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"buffer", "dtype", "count", "offset", "requires_grad", NULL};
    PyObject *from, *dtype = NULL;
    long long count = -1, offset = 0;
    tn_dtype of;
    int grad = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O!LLp:frombuffer", (char **)(uintptr_t)names,
                                     &from, py.dtype, &dtype, &count, &offset, &grad))
        return NULL;
    if (!dtype)
        return PyErr_Format(PyExc_TypeError,
                            "frombuffer() missing 1 required positional arguments: \"dtype\"");
    if (!py_to_dtype(dtype, &of)) return NULL;
    if (!PyObject_CheckBuffer(from) || py_is_tensor(from))
        return PyErr_Format(PyExc_ValueError, "object does not implement Python buffer protocol.");
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    /* PyBUF_SIMPLE: contiguous bytes; who has none raises */
    if (PyObject_GetBuffer(from, v, PyBUF_SIMPLE)) return py_give(v), NULL;
    tn_tensor *t = py_buffer_over(v, of, count, offset);
    /* not taken: released here */
    if (!t) {
        PyBuffer_Release(v);
        return py_give(v), NULL;
    }
    PyObject *o = py_wrap(tn_take(t));
    if (o && grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
}

static PyMethodDef py_buffer_functions[] = {
    {"from_numpy", py_buffer_from_numpy, METH_O, "a tensor over the memory of an array"},
    {"frombuffer", (PyCFunction)(void *)py_buffer_frombuffer, METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): over its memory"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_buffers_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_buffer_functions);
}

PY_PRIV int py_buffer_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_bf_getbuffer, (void *)py_buffer_getbuffer},
                                 {Py_bf_releasebuffer, (void *)py_buffer_releasebuffer}};
    memcpy(to, slots, sizeof slots);
    return 2;
}

/* src/py/nested.c - nested sequences of numbers, tensors and arrays as a tensor: one walk finds the shape and dtype, another one copies the elements */
/* nested.c - nested sequences of numbers, tensors and arrays as a tensor: one walk finds the shape
 * and dtype, another one copies the elements. */

/* A list of lists of numbers being read: its shape, and the widest kind of number in it. */
typedef struct py_nested {
    int ndim;
    int64_t size[TN_MAX_DIMS], numel;
    int kind;       /* TN_KIND_* of the widest */
    int numbers;    /* of the widest that is a Python number; 0: none */
    tn_dtype dtype; /* of members that are tensors or arrays; TN_NO_DTYPE: none */
    tn_dtype asked; /* for the result; TN_NO_DTYPE: what the members are */
    bool big;       /* some int has more than 64 bits with its sign */
    int64_t written;
    char *to; /* elements of the staging dtype */
} py_nested;

/* A bytearray is a list of ints, as torch has it; other buffers are arrays. */
PY_PRIV bool py_nested_is_list(PyObject *o) {
    return (PyList_Check(o) || PyTuple_Check(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o))) &&
           !py_is_tensor(o) && (!PyObject_CheckBuffer(o) || PyByteArray_Check(o));
}

/* A member that is a tensor or an array, as a tensor; NULL: neither (or an exception). */
PY_PRIV PyObject *py_nested_array(PyObject *o) {
    if (py_is_tensor(o)) return Py_NewRef(o);
    if (PyFloat_CheckExact(o) || PyLong_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
        !PyObject_CheckBuffer(o))
        return NULL;
    return py_from_buffer(o, true);
}

/* The shape, by the first member at each depth; walks check the others. o is held, as members
 * are new objects. */
static bool py_nested_shape(py_nested *n, PyObject *o) {
    Py_INCREF(o);
    while (py_nested_is_list(o)) {
        /* __len__ is Python code, so it may fail or lie: the walks compare again */
        Py_ssize_t size = PySequence_Size(o);
        if (size < 0 || n->ndim == TN_MAX_DIMS) {
            Py_DECREF(o);
            if (size >= 0) PyErr_Format(PyExc_ValueError, "too many dimensions");
            return false;
        }
        n->size[n->ndim++] = size;
        PyObject *first = size ? PySequence_GetItem(o, 0) : NULL;
        Py_DECREF(o);
        if (!size) return true;
        if (!(o = first)) return false;
    }
    /* an array or tensor at the bottom adds its own dimensions */
    PyObject *array = py_is_tensor(o) ? NULL : py_nested_array(o);
    for (int i = 0; array && i < tn_ndim(py_of(array)); i++) {
        if (n->ndim == TN_MAX_DIMS) {
            Py_DECREF(array), Py_DECREF(o);
            return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
        }
        n->size[n->ndim++] = tn_size(py_of(array), i);
    }
    if (n->ndim && PyUnicode_Check(o))
        PyErr_Format(PyExc_ValueError, "too many dimensions 'str'");
    else if (!array && (PyUnicode_Check(o) || PyBytes_Check(o)))
        PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'",
                     PyBytes_Check(o) ? "bytes" : "str");
    Py_XDECREF(array);
    Py_DECREF(o);
    return !PyErr_Occurred();
}

/* The message for a member of another length than the first one; size -1: it is no sequence. */
static bool py_nested_misfit(const py_nested *n, int dim, Py_ssize_t size) {
    if (size < 0)
        PyErr_Format(PyExc_TypeError, "not a sequence at dim %d", dim);
    else
        PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                     (long long)n->size[dim], dim, size);
    return false;
}

/* Writes a number as an element of the staging dtype (py_nested_staging). */
static void py_nested_put(py_nested *n, tn_scalar s) {
    double d[2] = {s.kind >= TN_KIND_FLOAT ? s.real : (double)s.integer,
                   s.kind == TN_KIND_COMPLEX ? s.imaginary : 0};
    switch (n->kind) {
    case TN_KIND_BOOL: n->to[n->written] = s.integer != 0; break;
    case TN_KIND_INT: memcpy(n->to + 8 * n->written, &s.integer, 8); break;
    case TN_KIND_FLOAT: memcpy(n->to + 8 * n->written, d, 8); break;
    default: memcpy(n->to + 16 * n->written, d, 16); break;
    }
    n->written++;
}

/* A tensor of one element also stands for its number. */
static bool py_nested_array_walk(py_nested *n, PyObject *array, int dim, bool number) {
    tn_tensor *t = py_of(array), *flat;
    /* its shape must be what is left of the shape at this depth */
    bool fits = tn_ndim(t) == n->ndim - dim;
    for (int i = dim; fits && i < n->ndim; i++) fits = tn_size(t, i - dim) == n->size[i];
    if (number && dim == n->ndim && !(fits = tn_numel(t) == 1)) {
        PyErr_Format(PyExc_ValueError,
                     "only one element tensors can be converted to Python scalars");
        return false;
    }
    if (!fits) return py_nested_misfit(n, dim, tn_ndim(t) ? (Py_ssize_t)tn_size(t, 0) : -1);
    if (!n->to) {
        tn_dtype d = tn_dtype_of(t);
        /* dtypes of arrays promote among themselves; numbers beside them join later */
        tn_scalar kind = tn_numel(t) ? tn_none() : tn_float(0);
        n->dtype = n->dtype ? tn_promote(n->dtype, d) : d;
        kind.kind = py_dtype_kind(d);
        if (kind.kind > n->kind) n->kind = kind.kind;
        return true;
    }
    /* element by element: rare, and any dtype */
    flat = tnp_reshape(t, TN_DIMS(-1));
    for (int64_t i = 0; flat && i < tn_numel(t); i++) {
        tn_tensor *one = tnp_select(flat, 0, i);
        py_nested_put(n, tnp_item_scalar(one));
        tn_free(one);
    }
    tn_free(flat);
    return tn_ok() || (py_raise(), false);
}

/* The error for a member that is neither a number nor a sequence. */
static void py_nested_unknown(PyObject *o) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    bool text = PyUnicode_Check(o) || PyBytes_Check(o);
    if (name && text) PyErr_Format(PyExc_TypeError, "new(): invalid data type '%U'", name);
    if (name && !text) PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %U", name);
    Py_XDECREF(name);
}

/* A member that is a number. One beyond int64 fits uint64 or a list of floats. */
static bool py_nested_number(py_nested *n, PyObject *o, tn_scalar *s) {
    if (py_to_scalar(o, s)) {
        if (!n->to || n->asked != TN_U64 || s->kind != TN_KIND_INT || s->integer >= 0) return true;
        PyErr_SetString(PyExc_OverflowError, "can't convert negative int to unsigned");
        return false;
    }
    if (!PyErr_Occurred()) return py_nested_unknown(o), false;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError) || !PyLong_Check(o)) return false;
    /* an int beyond int64: it may fit uint64, or be meant as a float */
    PyErr_Clear();
    n->big = true;
    /* in the first walk its kind is enough; as a bool it is true */
    *s = tn_int(1);
    if (!n->to || n->asked == TN_BOOL) return true;
    if (n->kind >= TN_KIND_FLOAT)
        *s = tn_float(PyLong_AsDouble(o));
    else if (n->asked == TN_U64)
        s->integer = (int64_t)PyLong_AsUnsignedLongLong(o);
    else
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return !PyErr_Occurred();
}

/* Twice over all members: to learn the kind (to is NULL), and to write. */
static bool py_nested_walk(py_nested *n, PyObject *o, int dim) {
    tn_scalar s;
    if (py_nested_is_list(o)) {
        Py_ssize_t size = PySequence_Size(o);
        if (size < 0) return false;
        if (dim >= n->ndim || size != n->size[dim])
            return dim >= n->ndim ? (PyErr_Format(PyExc_ValueError,
                                                  "only one element tensors can be converted to "
                                                  "Python scalars"),
                                     false)
                                  : py_nested_misfit(n, dim, size);
        for (Py_ssize_t i = 0; i < size; i++) {
            /* new, and freed at once: a sequence may make its members */
            PyObject *member = PySequence_GetItem(o, i);
            bool ok = member && py_nested_walk(n, member, dim + 1);
            Py_XDECREF(member);
            if (!ok) return false;
        }
        return true;
    }
    PyObject *array = py_nested_array(o);
    if (array) {
        bool ok = py_nested_array_walk(n, array, dim, py_is_tensor(o));
        Py_DECREF(array);
        return ok;
    }
    if (PyErr_Occurred()) return false;
    if (dim != n->ndim) return py_nested_misfit(n, dim, -1);
    if (!py_nested_number(n, o, &s)) return false;
    if (!n->to && s.kind > n->kind) n->kind = s.kind;
    if (!n->to && s.kind > n->numbers) n->numbers = s.kind;
    if (n->to) py_nested_put(n, s);
    return true;
}

/* What all members promote to; the default dtype, where there are none. */
static tn_dtype py_nested_dtype(const py_nested *n) {
    /* float64 as the default makes complex numbers complex128 */
    bool wide = tn_default_dtype() == TN_F64;
    tn_dtype own = n->numbers == TN_KIND_BOOL      ? TN_BOOL
                   : n->numbers == TN_KIND_INT     ? TN_I64
                   : n->numbers == TN_KIND_COMPLEX ? (wide ? TN_C128 : TN_C64)
                                                   : tn_default_dtype();
    if (!n->dtype) return own;
    return n->numbers ? tn_promote(n->dtype, own) : n->dtype;
}

/* Whether number i fits an integer dtype. Unsigned dtypes compare the magnitude, as torch does. */
static bool py_nested_fits_integer(const py_nested *n, int64_t i, int bits, bool whole) {
    if (n->kind == TN_KIND_FLOAT) {
        /* 2^bits is exact in a double, 2^bits - 1 need not be */
        double v, top = ldexp(1, bits - (whole ? 0 : 1));
        memcpy(&v, n->to + 8 * i, sizeof v);
        return v >= (whole ? 0 : -top) && v < top;
    }
    int64_t v, most = INT64_MAX;
    if (bits < 64) most = (int64_t)(((uint64_t)1 << (bits - (whole ? 0 : 1))) - 1);
    memcpy(&v, n->to + 8 * i, sizeof v);
    return bits == 64 || (v >= -most - (whole ? 0 : 1) && v <= most);
}

/* Whether the numbers are some of dtype; no complex ones as real ones. */
static bool py_nested_fits(const py_nested *n, tn_dtype dtype) {
    if (n->kind == TN_KIND_COMPLEX && dtype && dtype != TN_BOOL && !py_dtype_is_complex(dtype)) {
        PyErr_SetString(PyExc_TypeError, "must be real number, not complex");
        return false;
    }
    /* no dtype was asked for, or it takes any number */
    if (!dtype || (n->kind != TN_KIND_INT && n->kind != TN_KIND_FLOAT) || dtype == TN_BOOL ||
        py_dtype_is_float(dtype) || py_dtype_is_complex(dtype))
        return true;
    const bool whole = tni_dtype_kind(dtype) == 'u';
    for (int64_t i = 0; i < n->written; i++) {
        if (py_nested_fits_integer(n, i, 8 * tn_dtype_bytes(dtype), whole)) continue;
        PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow",
                     tn_dtype_name(dtype));
        return false;
    }
    return true;
}

/* The dtype that numbers of a TN_KIND_ are read in. */
static tn_dtype py_nested_staging(int kind) {
    switch (kind) {
    case TN_KIND_BOOL: return TN_BOOL;
    case TN_KIND_INT: return TN_I64;
    case TN_KIND_COMPLEX: return TN_C128;
    default: return TN_F64;
    }
}

/* A new tensor of Python's numbers; dtype TN_NO_DTYPE: theirs. */
PY_PRIV tn_tensor *py_nested_tensor(PyObject *o, tn_dtype dtype) {
    py_nested n;
    memset(&n, 0, sizeof n);
    n.numel = 1;
    if (!py_nested_shape(&n, o) || !py_nested_walk(&n, o, 0)) return NULL;
    /* complex arrays beside real numbers: all are staged as complex */
    if (n.dtype && n.dtype >= TN_C64 && n.dtype <= TN_C128) n.kind = TN_KIND_COMPLEX;
    n.asked = dtype ? dtype : py_nested_dtype(&n);
    /* too big for int64: staged as the kind that was asked for */
    if (n.big && py_dtype_kind(n.asked) > n.kind) n.kind = py_dtype_kind(n.asked);
    tn_tensor *t = tnp_empty(tn_ints_of(n.size, n.ndim), py_nested_staging(n.kind), TN_CPU), *as;
    if (!t) return NULL;
    /* a tensor without elements may have no memory */
    static char none[16];
    n.to = tn_numel(t) ? (char *)tn_data(t) : none;
    bool ok = py_nested_walk(&n, o, 0);
    if (ok && n.written != tn_numel(t))
        PyErr_SetString(PyExc_RuntimeError, "the sequence changed while being read");
    if (!ok || PyErr_Occurred() || !py_nested_fits(&n, dtype)) return tn_free(t), NULL;
    /* written behind the library's back */
    tn_touch(t);
    if (n.asked == tn_dtype_of(t)) return t;
    as = tnp_to_dtype(t, n.asked, false, false);
    tn_free(t);
    return as;
}

/* src/py/create.c - tensors from Python data: tensor(..), as_tensor(..), Tensor(..); and back: tolist */
/* create.c - tensors from Python data: tensor(..), as_tensor(..), Tensor(..); and back: tolist. */

/* --- functions -------------------------------------------------------------------------------- */

/* Keywords of tensor() and as_tensor(). */
typedef struct py_making {
    PyObject *data;
    tn_dtype dtype;
    tn_device_id device;
    int requires_grad;
} py_making;

/* Reads the keywords into m; false with an exception. data is borrowed from args. */
static bool py_making_parse(py_making *m, PyObject *args, PyObject *kwargs, const char *format) {
    static const char *names[] = {"data", "dtype", "device", "requires_grad", "pin_memory", NULL};
    PyObject *dtype = Py_None, *device = Py_None;
    int pinned = 0;
    m->dtype = TN_NO_DTYPE;
    m->device = TN_NO_DEVICE;
    m->requires_grad = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, (char **)(uintptr_t)names, &m->data,
                                     &dtype, &device, &m->requires_grad, &pinned))
        return false;
    if (dtype != Py_None && !py_to_dtype(dtype, &m->dtype)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "tensor(): argument 'dtype' must be torch.dtype, not %R",
                         Py_TYPE(dtype));
        return false;
    }
    if (device != Py_None && !py_to_device(device, &m->device)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "tensor(): argument 'device' must be torch.device");
        return false;
    }
    /* the default device is for a program's calls, not for those of the package */
    if (device == Py_None && (m->device = py_default_device()) && py_here_is_ours())
        m->device = TN_NO_DEVICE;
    return true;
}

/* The conversion that m asks for, or a new reference to the tensor itself if nothing changes. */
static PyObject *py_making_finish(const py_making *m, PyObject *o, bool copy) {
    tn_tensor *t = py_of(o);
    tn_dtype dtype = m->dtype ? m->dtype : tn_dtype_of(t);
    if (!copy && dtype == tn_dtype_of(t) && (!m->device || m->device == tn_device_of(t))) return o;
    /* a copy is a leaf; without one the conversion is recorded, as torch does */
    tn_tensor *detached = copy ? tnp_detach(t) : NULL;
    tn_tensor *r = m->device ? tnp_to(copy ? detached : t, m->device, dtype, false, copy)
                             : tnp_to_dtype(copy ? detached : t, dtype, false, copy);
    if (detached) tn_free(detached);
    /* taken: r has its own count of the memory */
    Py_DECREF(o);
    PyObject *made = r ? py_wrap(tn_take(r)) : py_raise();
    if (made && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(made), true)) {
        Py_DECREF(made);
        return py_raise();
    }
    return made;
}

/* A tensor of the numbers in m->data: made on the CPU, then moved. */
static PyObject *py_making_of_numbers(const py_making *m) {
    tn_tensor *t = py_nested_tensor(m->data, m->dtype);
    if (!t) return py_raise();
    PyObject *o = py_wrap(tn_take(t));
    if (o && m->device) {
        py_making plain = *m;
        /* the numbers have their dtype already */
        plain.dtype = TN_NO_DTYPE;
        o = py_making_finish(&plain, o, false);
    }
    if (o && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
}

/* The elements of a storage (tensorh/storage.py) as a tensor of dtype in the same memory; NULL if
 * o is none, or with an exception. */
static PyObject *py_create_storage(PyObject *o, tn_dtype dtype) {
    if (PyList_Check(o) || PyTuple_Check(o) || PyNumber_Check(o)) return NULL;
    if (!PyObject_HasAttrString(o, "_as_tensor")) return NULL;
    PyObject *f = PyObject_GetAttrString(o, "_as_tensor"), *r = NULL;
    if (f) r = PyObject_CallFunctionObjArgs(f, dtype ? py.dtypes[dtype] : Py_None, NULL);
    Py_XDECREF(f);
    return r;
}

/* torch.tensor(data, ..): always a copy, and a leaf. */
static PyObject *py_create_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|$OOpp:tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (!array && !PyErr_Occurred()) array = py_create_storage(m.data, m.dtype);
    /* tensor(x) copies what as_tensor(x) shares */
    if (array) return py_making_finish(&m, array, true);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

/* torch.as_tensor(data, ..): shares an array's memory where dtype and device allow it. */
static PyObject *py_create_as_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|OOpp:as_tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

/* --- torch.Tensor(..) ------------------------------------------------------------------------- */

/* Sizes of Tensor(2, 3); false: not only ints, without an exception. */
static bool py_create_sizes(PyObject *args, int64_t *sizes, int64_t *n) {
    *n = PyTuple_Size(args);
    if (*n > TN_MAX_DIMS) return false;
    for (int64_t i = 0; i < *n; i++)
        if (!py_to_index(PyTuple_GetItem(args, (Py_ssize_t)i), &sizes[i]))
            return PyErr_Clear(), false;
    return true;
}

/* Tensor(), Tensor(2, 3), Tensor(size): not initialised; Tensor(tensor): over the same elements;
 * Tensor(sequence): a copy. All of the default dtype but the tensor's. */
static PyObject *py_create_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    int64_t sizes[TN_MAX_DIMS], n = PyTuple_Size(args);
    PyObject *one = n == 1 ? PyTuple_GetItem(args, 0) : NULL, *storage;
    tn_tensor *t;
    tn_device_id device = TN_CPU;
    if (kwargs && PyDict_Size(kwargs)) {
        PyObject *o = py_entry(kwargs, "device");
        if (!o && PyErr_Occurred()) return NULL;
        if (!o || PyDict_Size(kwargs) > 1)
            return PyErr_Format(PyExc_TypeError, "new() takes only device= as a keyword");
        if (o != Py_None && !py_to_device(o, &device)) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "device= must be a device");
            return NULL;
        }
    }
    /* Tensor(x): the same elements, as an instance of the class */
    if (one && py_is_tensor(one)) return py_wrap_alias(type, one);
    if (one && Py_TYPE(one) == py.size) args = one;
    /* not initialised, as torch.Tensor is */
    if (n == 0) {
        sizes[0] = 0;
        t = tnp_empty(tn_ints_of(sizes, 1), TN_NO_DTYPE, device);
    } else if (py_create_sizes(args, sizes, &n)) {
        t = tnp_empty(tn_ints_of(sizes, n), TN_NO_DTYPE, device);
    } else if (one && (storage = py_create_storage(one, tn_default_dtype()))) {
        PyObject *r = py_wrap_alias(type, storage);
        Py_DECREF(storage);
        return r;
    } else if (PyErr_Occurred()) {
        return NULL;
    } else if (one && !PySequence_Check(one) && !PyObject_CheckBuffer(one)) {
        return PyErr_Format(PyExc_TypeError, "new(): data must be a sequence (got %R)",
                            Py_TYPE(one));
    } else if (one) {
        PyObject *o = py_value_tensor(one, tn_default_dtype());
        if (!o) return NULL;
        t = tnp_to_dtype(py_of(o), tn_default_dtype(), false, true);
        Py_DECREF(o);
    } else {
        return PyErr_Format(PyExc_TypeError, "new() received an invalid combination of arguments");
    }
    return t ? py_wrap_as(type, tn_take(t)) : py_raise();
}

PY_PRIV PyObject *py_index_refuse(PyObject *o) {
    return PyErr_Format(PyUnicode_Check(o) ? PyExc_TypeError : PyExc_IndexError,
                        "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                        "Variables are valid indices (got %R)",
                        Py_TYPE(o));
}

/* An index that is a list or an array, as a new tensor; NULL with an exception. */
PY_PRIV PyObject *py_index_tensor(PyObject *o) {
    py_making m = {o, TN_NO_DTYPE, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return array;
    if (PyErr_Occurred()) return NULL;
    if (!py_nested_is_list(o)) return py_index_refuse(o);
    /* x[[]] selects nothing: an empty list is one of indices */
    if (!PySequence_Size(o)) m.dtype = TN_I64;
    return py_making_of_numbers(&m);
}

/* A value beside a tensor, as a new tensor of dtype; arrays are shared if they have it. */
PY_PRIV PyObject *py_value_tensor(PyObject *o, tn_dtype dtype) {
    py_making m = {o, dtype, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

/* --- to lists --------------------------------------------------------------------------------- */

/* Elements from `at` on as nested lists. dim: the dimension that this list is of. */
static PyObject *py_list_of(const char *at, const tn_tensor *t, int dim) {
    if (dim == tn_ndim(t)) return py_from_element(tn_element(at, tn_dtype_of(t)), tn_dtype_of(t));
    int64_t n = tn_size(t, dim), step = tn_stride(t, dim) * tn_dtype_bytes(tn_dtype_of(t));
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *one = py_list_of(at + i * step, t, dim + 1);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one)) Py_CLEAR(list);
    }
    return list;
}

/* x.tolist(): nested lists; a number of a 0-dim tensor. */
static PyObject *py_create_tolist(PyObject *self, PyObject *unused) {
    (void)unused;
    const tn_device_id device = tn_device_of(py_of(self));
    if (tn_batch_depth(py_of(self)))
        return PyErr_Format(PyExc_RuntimeError, "vmap: tolist() of a tensor that stands for all "
                                                "samples of a batch is not possible");
    if (device == TN_META)
        return PyErr_Format(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    /* Building lists may run finalizers, which may replace self's memory; this alias keeps it. */
    tn_tensor *t = tn_take(tnp_detach(py_of(self)));
    if (t && device != TN_CPU) {
        tn_tensor *copy = tn_take(tnp_to(t, TN_CPU, tn_dtype_of(t), false, false));
        tn_release(t);
        t = copy;
    }
    if (!t) return py_raise();
    PyObject *all = py_list_of((const char *)tn_data(t), t, 0);
    tn_release(t);
    return all;
}

static PyMethodDef py_create_functions[] = {
    {"tensor", (PyCFunction)(void *)py_create_tensor, METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False): a new tensor, a copy of data"},
    {"as_tensor", (PyCFunction)(void *)py_create_as_tensor, METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None): shares the data where that is possible"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_create_method = {"tolist", py_create_tolist, METH_NOARGS,
                                       "the elements as nested lists of Python numbers"};

PY_PRIV int py_create_begin(PyObject *module) {
    PyObject *m = PyDescr_NewMethod(py.tensor, &py_create_method);
    int bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, "tolist", m) ||
              PyModule_AddFunctions(module, py_create_functions);
    Py_XDECREF(m);
    return bad ? -1 : 0;
}

PY_PRIV int py_create_slots(PyType_Slot *to) {
    const PyType_Slot slot = {Py_tp_new, (void *)py_create_new};
    *to = slot;
    return 1;
}

/* src/py/number.c - Tensor as a number: operators, their reflected and in-place forms, comparisons, conversions to Python's numbers */
/* number.c - Tensor as a number: operators, their reflected and in-place forms, comparisons,
 * conversions to Python's numbers. Each operator is the row of that name. */

/* Groups of the operators, found at import. */
/* clang-format off */
#define NUMBER_GROUPS(X) \
    X(add) X(sub) X(mul) X(div) X(floor_divide) X(remainder) X(pow) X(matmul) X(rsub) \
    X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) X(bitwise_right_shift) \
    X(bitwise_not) X(neg) X(abs) X(reciprocal) X(lt) X(le) X(eq) X(ne) X(gt) X(ge) X(add_) \
    X(sub_) X(mul_) X(div_) X(floor_divide_) X(remainder_) X(pow_) X(bitwise_and_) \
    X(bitwise_or_) X(bitwise_xor_) X(bitwise_left_shift_) X(bitwise_right_shift_)
/* clang-format on */
static struct {
#define NUMBER_MEMBER(name) const py_group *name;
    NUMBER_GROUPS(NUMBER_MEMBER)
} py_number;

/* Whether o can stand beside a tensor; what else there is may know better (NotImplemented). */
static bool py_number_fits(PyObject *o) {
    tn_scalar s;
    if (py_is_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o)) return true;
    if (PyObject_HasAttr(o, py.torch_function)) return true;
    if (py_to_scalar(o, &s)) return true;
    PyErr_Clear();
    return false;
}

/* An array of NumPy's as a tensor, for both sides of an operator; NULL: it is none. */
static PyObject *py_number_array(PyObject *o) {
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
        PyMemoryView_Check(o))
        return NULL;
    PyObject *t = py_from_buffer(o, true);
    if (!t) PyErr_Clear();
    return t;
}

/* The operator g with a tensor a on the left. NotImplemented makes Python ask b's
 * reflected method. */
static PyObject *py_number_call(const py_group *g, PyObject *a, PyObject *b) {
    /* exact tensors and floats first */
    bool fits;
    PyObject *args[2] = {a, b}, *quick = py_call_quick(g, a, &b, 1, &fits);
    if (TNI_LIKELY(fits)) return quick;
    if (TNI_LIKELY(py_number_fits(b))) return py_call(g, true, args, 2, NULL);
    /* an array would otherwise take its elements one by one */
    if (!(args[1] = py_number_array(b))) Py_RETURN_NOTIMPLEMENTED;
    PyObject *r = py_call(g, true, args, 2, NULL);
    Py_DECREF(args[1]);
    return r;
}

/* A reflected operator of a subclass: asks its __torch_function__; NotImplemented: it has none. */
static PyObject *py_number_asked(const char *name, PyObject *a, PyObject *b) {
    PyObject *args[2] = {b, a};
    if (TNI_LIKELY(py_is_exact(b))) return Py_NewRef(Py_NotImplemented);
    return py_overridden_method(name, args, 2);
}

/* A number as a 0-dim tensor, for rows that want one in the first place; of dtype where that is of
 * the number's kind or a wider one, as a number does not widen what it stands beside. */
static PyObject *py_number_tensor(PyObject *o, tn_dtype dtype) {
    tn_scalar s;
    if (!py_to_scalar(o, &s)) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NOTIMPLEMENTED;
    }
    tn_tensor *own = tnp_full(tn_empty_dims(), s, TN_NO_DTYPE, TN_CPU), *t = own;
    /* a number of a wider kind keeps its own dtype, and promotion widens */
    if (own && py_dtype_kind(dtype) >= s.kind) {
        t = tnp_to_dtype(own, dtype, false, true);
        tn_free(own);
    }
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* a op b with a tensor b and a number or array a. */
static PyObject *py_number_reflected(const py_group *g, const char *name, PyObject *a,
                                     PyObject *b) {
    PyObject *r = py_number_asked(name, a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    PyObject *t = py_number_array(a);
    if (!t) t = py_number_tensor(a, tn_dtype_of(py_of(b)));
    if (!t || t == Py_NotImplemented) return t;
    r = py_number_call(g, t, b);
    Py_DECREF(t);
    return r;
}

#define NUMBER_COMMUTES(name)                                          \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {      \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)  \
                               : py_number_call(py_number.name, b, a); \
    }
#define NUMBER_ORDERED(name, reflected)                                                \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {                      \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)                  \
                               : py_number_reflected(py_number.name, reflected, a, b); \
    }
#define NUMBER_INPLACE(name)                                      \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) { \
        return py_number_call(py_number.name, a, b);              \
    }
#define NUMBER_UNARY(name)                                                            \
    static PyObject *py_number_##name(PyObject *a) {                                  \
        bool fits;                                                                    \
        PyObject *quick = py_call_quick(py_number.name, a, NULL, 0, &fits);           \
        return TNI_LIKELY(fits) ? quick : py_call(py_number.name, true, &a, 1, NULL); \
    }
NUMBER_COMMUTES(add)
NUMBER_COMMUTES(mul)
NUMBER_COMMUTES(bitwise_and)
NUMBER_COMMUTES(bitwise_or)
NUMBER_COMMUTES(bitwise_xor)
NUMBER_ORDERED(floor_divide, "__rfloordiv__")
NUMBER_ORDERED(remainder, "__rmod__")
NUMBER_ORDERED(bitwise_left_shift, "__rlshift__")
NUMBER_ORDERED(bitwise_right_shift, "__rrshift__")
NUMBER_INPLACE(add_)
NUMBER_INPLACE(sub_)
NUMBER_INPLACE(mul_)
NUMBER_INPLACE(div_)
NUMBER_INPLACE(floor_divide_)
NUMBER_INPLACE(remainder_)
NUMBER_INPLACE(bitwise_and_)
NUMBER_INPLACE(bitwise_or_)
NUMBER_INPLACE(bitwise_xor_)
NUMBER_INPLACE(bitwise_left_shift_)
NUMBER_INPLACE(bitwise_right_shift_)
NUMBER_UNARY(neg)
NUMBER_UNARY(abs)
NUMBER_UNARY(bitwise_not)

/* a - b; a number on the left is the row rsub, b.rsub(a). */
static PyObject *py_number_sub(PyObject *a, PyObject *b) {
    if (py_is_tensor(a)) return py_number_call(py_number.sub, a, b);
    PyObject *r = py_number_asked("__rsub__", a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    return py_number_call(py_number.rsub, b, a);
}
/* An array beside a tensor, both of the dtype to which they promote. */
static PyObject *py_number_matmul_array(PyObject *a, PyObject *b) {
    PyObject *x = py_is_tensor(a) ? Py_NewRef(a) : py_number_array(a);
    PyObject *y = !x ? NULL : py_is_tensor(b) ? Py_NewRef(b) : py_number_array(b), *r = NULL;
    if (x && y) {
        /* matmul promotes nothing, so both are converted */
        tn_dtype d = tn_promote(tn_dtype_of(py_of(x)), tn_dtype_of(py_of(y)));
        PyObject *as = d ? py.dtypes[d] : Py_None, *args[2] = {x, as}, *both[2];
        const py_group *to = py_group_of("to");
        both[0] = py_call(to, true, args, 2, NULL);
        args[0] = y;
        both[1] = both[0] ? py_call(to, true, args, 2, NULL) : NULL;
        if (both[1]) r = py_call(py_number.matmul, true, both, 2, NULL);
        Py_XDECREF(both[0]);
        Py_XDECREF(both[1]);
    } else {
        r = Py_NewRef(Py_NotImplemented);
    }
    Py_XDECREF(x);
    Py_XDECREF(y);
    return r;
}
/* a @ b. Numbers are refused, as by the row; arrays are converted. */
static PyObject *py_number_matmul(PyObject *a, PyObject *b) {
    if (py_is_tensor(a) && (py_is_tensor(b) || PyObject_HasAttr(b, py.torch_function)))
        return py_number_call(py_number.matmul, a, b);
    return py_number_matmul_array(a, b);
}
/* number / tensor: number times the reciprocal, as torch has it. */
static PyObject *py_number_div(PyObject *a, PyObject *b) {
    if (py_is_tensor(a)) return py_number_call(py_number.div, a, b);
    PyObject *r = py_number_asked("__rtruediv__", a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    PyObject *array = py_number_fits(a) ? NULL : py_number_array(a), *one;
    if (array) {
        r = py_number_call(py_number.div, array, b);
        Py_DECREF(array);
        return r;
    }
    if (!py_number_fits(a)) Py_RETURN_NOTIMPLEMENTED;
    /* two roundings, which are torch's */
    one = py_call(py_number.reciprocal, true, &b, 1, NULL);
    r = one ? py_number_call(py_number.mul, one, a) : NULL;
    Py_XDECREF(one);
    return r;
}
/* The row also takes a number as its first argument. */
static PyObject *py_number_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    PyObject *args[2] = {a, b}, *r, *t = NULL;
    /* pow(a, b, m) is of ints */
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (py_is_tensor(a)) return py_number_call(py_number.pow, a, b);
    if ((r = py_number_asked("__rpow__", a, b)) != Py_NotImplemented) return r;
    Py_DECREF(r);
    if (!py_number_fits(a) && !(args[0] = t = py_number_array(a))) Py_RETURN_NOTIMPLEMENTED;
    r = py_call(py_number.pow, false, args, 2, NULL);
    Py_XDECREF(t);
    return r;
}
static PyObject *py_number_pow_(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return py_number_call(py_number.pow_, a, b);
}
static PyObject *py_number_positive(PyObject *a) { return Py_NewRef(a); }

/* --- comparisons ------------------------------------------------------------------------------ */

/* Py_LT .. Py_GE are 0 .. 5 in the stable ABI, which is the order here. */
static PyObject *py_number_compare(PyObject *a, PyObject *b, int how) {
    const py_group *const group[] = {py_number.lt, py_number.le, py_number.eq,
                                     py_number.ne, py_number.gt, py_number.ge}; /* Py_LT .. Py_GE */
    return py_number_call(group[how], a, b);
}

/* --- conversions ------------------------------------------------------------------------------ */

/* The only element of self; else the error that the conversion raises. */
static bool py_number_scalar(PyObject *self, tn_scalar *s, PyObject *error, const char *what) {
    tn_tensor *t = py_of(self);
    if (tn_numel(t) != 1) {
        PyErr_Format(error, "%s", what);
        return false;
    }
    *s = tnp_item_scalar(t);
    return tn_ok() || (py_raise(), false);
}

/* bool(x), "if x": -1 with an exception. */
static int py_number_bool(PyObject *self) {
    tn_scalar s;
    tn_tensor *t = py_of(self);
    if (!py_number_scalar(self, &s, PyExc_RuntimeError,
                          tn_numel(t)
                              ? "Boolean value of Tensor with more than one value is ambiguous"
                              : "Boolean value of Tensor with no values is ambiguous"))
        return -1;
    return s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT ? s.integer != 0
                                                           : s.real != 0 || s.imaginary != 0;
}

static PyObject *py_number_float(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_ValueError,
                          "only one element tensors can be converted to Python scalars"))
        return NULL;
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        return PyErr_Format(PyExc_RuntimeError, "cannot convert a complex element to float");
    /* a uint64 lies in the scalar as the bits of an int64 */
    return PyFloat_FromDouble(s.kind >= TN_KIND_FLOAT              ? s.real
                              : tn_dtype_of(py_of(self)) == TN_U64 ? (double)(uint64_t)s.integer
                                                                   : (double)s.integer);
}

/* An integer element, or a truth as 0 or 1. */
static PyObject *py_number_whole(PyObject *self, tn_scalar s) {
    if (s.kind == TN_KIND_BOOL) return PyLong_FromLong(s.integer != 0);
    return py_from_element(s, tn_dtype_of(py_of(self)));
}

static PyObject *py_number_int(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_ValueError,
                          "only one element tensors can be converted to Python scalars"))
        return NULL;
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        return PyErr_Format(PyExc_RuntimeError, "cannot convert a complex element to int");
    return s.kind >= TN_KIND_FLOAT ? PyLong_FromDouble(s.real) : py_number_whole(self, s);
}

/* operator.index(x), a list's index: integers and truths alone. */
static PyObject *py_number_index(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_TypeError,
                          "only integer tensors of a single element can be converted to an index"))
        return NULL;
    if (s.kind >= TN_KIND_FLOAT)
        return PyErr_Format(
            PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    return py_number_whole(self, s);
}

PY_PRIV int py_number_slots(PyType_Slot *to) {
    /* binary slots get their operands in the order of the source: either may be the tensor */
    const PyType_Slot slots[] = {{Py_nb_add, (void *)py_number_add},
                                 {Py_nb_subtract, (void *)py_number_sub},
                                 {Py_nb_multiply, (void *)py_number_mul},
                                 {Py_nb_true_divide, (void *)py_number_div},
                                 {Py_nb_floor_divide, (void *)py_number_floor_divide},
                                 {Py_nb_remainder, (void *)py_number_remainder},
                                 {Py_nb_power, (void *)py_number_pow},
                                 {Py_nb_matrix_multiply, (void *)py_number_matmul},
                                 {Py_nb_and, (void *)py_number_bitwise_and},
                                 {Py_nb_or, (void *)py_number_bitwise_or},
                                 {Py_nb_xor, (void *)py_number_bitwise_xor},
                                 {Py_nb_lshift, (void *)py_number_bitwise_left_shift},
                                 {Py_nb_rshift, (void *)py_number_bitwise_right_shift},
                                 {Py_nb_inplace_add, (void *)py_number_add_},
                                 {Py_nb_inplace_subtract, (void *)py_number_sub_},
                                 {Py_nb_inplace_multiply, (void *)py_number_mul_},
                                 {Py_nb_inplace_true_divide, (void *)py_number_div_},
                                 {Py_nb_inplace_floor_divide, (void *)py_number_floor_divide_},
                                 {Py_nb_inplace_remainder, (void *)py_number_remainder_},
                                 {Py_nb_inplace_power, (void *)py_number_pow_},
                                 {Py_nb_inplace_and, (void *)py_number_bitwise_and_},
                                 {Py_nb_inplace_or, (void *)py_number_bitwise_or_},
                                 {Py_nb_inplace_xor, (void *)py_number_bitwise_xor_},
                                 {Py_nb_inplace_lshift, (void *)py_number_bitwise_left_shift_},
                                 {Py_nb_inplace_rshift, (void *)py_number_bitwise_right_shift_},
                                 {Py_nb_negative, (void *)py_number_neg},
                                 {Py_nb_positive, (void *)py_number_positive},
                                 {Py_nb_absolute, (void *)py_number_abs},
                                 {Py_nb_invert, (void *)py_number_bitwise_not},
                                 {Py_nb_bool, (void *)py_number_bool},
                                 {Py_nb_float, (void *)py_number_float},
                                 {Py_nb_int, (void *)py_number_int},
                                 {Py_nb_index, (void *)py_number_index},
                                 {Py_tp_richcompare, (void *)py_number_compare}};
    memcpy(to, slots, sizeof slots);
    return (int)(sizeof slots / sizeof slots[0]);
}

PY_PRIV int py_number_begin(PyObject *module) {
    bool found = true;
    (void)module;
#define NUMBER_FIND(name) found = (py_number.name = py_group_of(#name)) != NULL && found;
    NUMBER_GROUPS(NUMBER_FIND)
    return found ? 0 : -1;
}

/* src/py/index.c - x[...] and x[...] = v: ints, slices, ellipsis, None, masks, integer tensors, mixed, as NumPy and torch have them */
/* index.c - x[...] and x[...] = v: ints, slices, ellipsis, None, masks, integer tensors, mixed, as
 * NumPy and torch have them.
 *
 * Basic members make views one after another; a tensor among them takes its place in a list for
 * the row `index`, which reads, or `index_put_`, which writes through the view. */

enum { INDEX_MOST = 2 * TN_MAX_DIMS, INDEX_ROWS = 50000 }; /* a row returns 60000 tensors at most */

/* An index being applied: `at` is the view so far, owned; `dim` the dimension that comes next. */
typedef struct py_indexing {
    tn_tensor *at;
    int dim;
    int taken;     /* dimensions of the caller's tensor before dim, less dim */
    bool new_view; /* at is ours, not the caller's tensor */
    const char *file;
    int line;
    int nlists, covered; /* members of list, and the dimensions that they take */
    tn_tensor *list[TN_MAX_DIMS];
    PyObject *held[2 * INDEX_MOST]; /* what is made of lists and arrays */
    int nheld;
    int turn; /* see py_lend */
} py_indexing;

/* The next view, which replaces the one before. view is lent and owned from here on. */
static bool py_index_step(py_indexing *x, tn_tensor *view) {
    if (!view) return py_raise(), false;
    if (x->new_view) tn_free(x->at);
    x->at = tn_take(view);
    x->new_view = true;
    return true;
}

/* x[i]: one dimension less. The row would say dim without those that were taken before. */
static bool py_index_int(py_indexing *x, int64_t i) {
    const tn_select_args a = {x->at, x->dim, i};
    int64_t size = x->dim < tn_ndim(x->at) ? tn_size(x->at, x->dim) : 0;
    if (x->dim < tn_ndim(x->at) && (i >= size || i < -size)) {
        PyErr_Format(PyExc_IndexError,
                     "index %lld is out of bounds for dimension %d with size %lld", (long long)i,
                     x->dim + x->taken, (long long)size);
        return false;
    }
    x->taken++;
    return py_index_step(x, tn_select_at(x->file, x->line, &a));
}

/* Part k of a slice, by its class's descriptor, which is found once. */
static PyObject *py_index_part(PyObject *slice, int k) {
    static const char *const names[] = {"start", "stop", "step"};
    static PyObject *member[3];
    static descrgetfunc get;
    if (TNI_UNLIKELY(!member[k])) {
        member[k] = PyObject_GetAttrString((PyObject *)&PySlice_Type, names[k]);
        if (!member[k]) return NULL;
        /* PySlice_Unpack is no use: it does not tell an absent bound from a given one */
        get = (descrgetfunc)PyType_GetSlot(Py_TYPE(member[k]), Py_tp_descr_get);
    }
    return get(member[k], slice, (PyObject *)&PySlice_Type);
}

/* The same as a number: absent is TN_NONE. */
static bool py_index_bound(PyObject *slice, int k, int64_t *to) {
    PyObject *o = py_index_part(slice, k);
    /* x[True:] is x[1:], as in Python, where bool is an int */
    bool truth = o && PyBool_Check(o);
    bool ok = o && (o == Py_None || truth || py_to_bound(o, to));
    if (truth) *to = o == Py_True;
    if (ok && o != Py_None && *to == TN_NONE) *to = -INT64_MAX;    /* which is a number, too */
    if (o && !ok && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* beyond any size */
        PyObject *zero = PyLong_FromLong(0);
        PyErr_Clear();
        *to = zero && PyObject_RichCompareBool(o, zero, Py_LT) == 1 ? -INT64_MAX : INT64_MAX;
        Py_XDECREF(zero);
        ok = true;
    }
    if (o && !ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "slice indices must be integers or None or have an __index__ method");
    Py_XDECREF(o);
    return ok;
}

/* x[i:j:k]: a view unless it is all of the dimension. */
static bool py_index_slice(py_indexing *x, PyObject *slice) {
    tn_slice_args a = {x->dim, TN_NONE, TN_NONE, TN_NONE, x->at};
    if (!py_index_bound(slice, 0, &a.start) || !py_index_bound(slice, 1, &a.end) ||
        !py_index_bound(slice, 2, &a.step))
        return false;
    if (a.step == TN_NONE) a.step = 1;
    /* torch has no negative strides */
    if (a.step <= 0) {
        PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
        return false;
    }
    /* x[:] of one dimension needs no view */
    if (a.start != TN_NONE || a.end != TN_NONE || a.step != 1)
        if (!py_index_step(x, tn_slice_at(x->file, x->line, &a))) return false;
    x->dim++;
    return true;
}

/* x[None]: a dimension of 1. */
static bool py_index_none(py_indexing *x) {
    const tn_unsqueeze_args a = {x->at, x->dim};
    if (!py_index_step(x, tn_unsqueeze_at(x->file, x->line, &a))) return false;
    x->dim++;
    x->taken--;
    return true;
}

/* A tensor member: it indexes one dimension, a mask as many as it has. */
static bool py_index_by(py_indexing *x, tn_tensor *t) {
    tn_dtype d = tn_dtype_of(t);
    int takes = d == TN_BOOL || d == TN_U8 ? tn_ndim(t) : 1;
    if (d == TN_U8 && PyErr_WarnEx(PyExc_UserWarning,
                                   "indexing with dtype torch.uint8 is now deprecated, please use "
                                   "a dtype torch.bool instead.",
                                   1))
        return false;
    if (x->dim + takes > tn_ndim(x->at) || x->nlists + x->dim - x->covered >= TN_MAX_DIMS) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    /* dimensions before it that slices took: NULL in the list, all of them */
    for (; x->covered < x->dim; x->covered++) x->list[x->nlists++] = NULL;
    x->list[x->nlists++] = t;
    x->dim = x->covered += takes;
    return true;
}

/* True and False add a dimension of one or none. */
static bool py_index_truth(py_indexing *x, bool truth) {
    tn_tensor *mask;
    if (!py_index_none(x)) return false;
    x->dim--;
    /* a mask of the new dimension, which selects it or nothing */
    mask = tnp_full(TN_DIMS(1), tn_bool(truth), TN_BOOL, TN_CPU);
    PyObject *o = mask ? py_wrap(tn_take(mask)) : py_raise();
    if (!o) return false;
    x->held[x->nheld++] = o;
    return py_index_by(x, py_of(o));
}

/* How many dimensions of the tensor a member takes; -1: an ellipsis. */
static int py_index_takes(PyObject *o) {
    if (o == Py_Ellipsis) return -1;
    if (o == Py_None || PyBool_Check(o)) return 0;
    if (py_is_tensor(o)) {
        tn_dtype d = tn_dtype_of(py_of(o));
        return d == TN_BOOL || d == TN_U8 ? tn_ndim(py_of(o)) : 1;
    }
    return 1;
}

/* Of an int of more than 64 bits, or an __index__ that failed. */
static bool py_index_misfit(PyObject *o) {
    if (!PyErr_Occurred()) py_index_refuse(o);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return false;
}

/* Applies one member of the key, borrowed. */
static bool py_index_member(py_indexing *x, PyObject *o) {
    int64_t i;
    /* ints and what has __index__, but not what is more than a number */
    if (PyLong_CheckExact(o) ||
        (PyIndex_Check(o) && !PyBool_Check(o) && !py_is_tensor(o) && !PyObject_CheckBuffer(o)))
        return py_to_int(o, &i) ? py_index_int(x, i) : py_index_misfit(o);
    if (PySlice_Check(o)) return py_index_slice(x, o);
    if (o == Py_None) return py_index_none(x);
    if (PyBool_Check(o)) return py_index_truth(x, o == Py_True);
    if (!py_is_tensor(o)) { /* a list, an array */
        if (x->nheld == INDEX_MOST || !(o = py_index_tensor(o))) return false;
        x->held[x->nheld++] = o;
    }
    /* a 0-dim tensor stands for its number: a truth, or an int that makes a view */
    tn_dtype d = tn_dtype_of(py_of(o));
    if (!tn_ndim(py_of(o)) && (d == TN_BOOL || d == TN_U8)) {
        bool truth = tnp_item_int(py_of(o)) != 0;
        return tn_ok() ? py_index_truth(x, truth) : (py_raise(), false);
    }
    if (!tn_ndim(py_of(o)) && d != TN_F32 && py_to_index(o, &i)) return py_index_int(x, i);
    return py_index_by(x, py_of(o));
}

/* Whether a list is meant as a tuple of indices: it has members that are no numbers. */
static bool py_index_is_tuple(PyObject *key) {
    if (!PyList_CheckExact(key) || PyList_Size(key) >= INDEX_MOST) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(key); i++) {
        PyObject *o = PyList_GetItem(key, i);
        if (o == Py_None || o == Py_Ellipsis || PySlice_Check(o) || py_is_tensor(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o)))
            return true;
    }
    return false;
}

static bool py_index_apply(py_indexing *x, PyObject *key);

/* The same by another key (taken), which stays as long as the indexing. */
static bool py_index_apply_held(py_indexing *x, PyObject *key) {
    if (!key) return false;
    x->held[x->nheld++] = key;
    return py_index_apply(x, key);
}

/* Whether the number of dimensions that o takes is known without making a tensor. */
static bool py_index_is_plain(PyObject *o) {
    return o == Py_None || o == Py_Ellipsis || PySlice_Check(o) || PyLong_Check(o) ||
           py_is_tensor(o) || (PyIndex_Check(o) && !PyObject_CheckBuffer(o));
}

/* A tuple in which lists and arrays are tensors: next to an ellipsis it matters how many dimensions
 * they take. */
static PyObject *py_index_settled(PyObject *key) {
    PyObject *all = PyTuple_New(PyTuple_Size(key));
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(key); i++) {
        PyObject *o = PyTuple_GetItem(key, i);
        o = py_index_is_plain(o) ? Py_NewRef(o) : py_index_tensor(o);
        if (!o || PyTuple_SetItem(all, i, o)) Py_CLEAR(all);
    }
    return all;
}

/* Applies a key: a tuple's members one after another, or the one member that it is. */
static bool py_index_apply(py_indexing *x, PyObject *key) {
    if (TNI_UNLIKELY(py_index_is_tuple(key))) return py_index_apply_held(x, PyList_AsTuple(key));
    bool tuple = PyTuple_Check(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1;
    int takes = 0, dots = 0;
    bool plain = true;
    if (n > INDEX_MOST) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    /* first how many dimensions the members take, so that an ellipsis takes the rest */
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, i) : key;
        int k = py_index_takes(o);
        if (k < 0) dots++;
        takes += k < 0 ? 0 : k;
        plain = plain && (PyLong_CheckExact(o) || py_index_is_plain(o));
    }
    if (dots && !plain) return py_index_apply_held(x, py_index_settled(key));
    int rest = tn_ndim(x->at) - takes;
    if (rest < 0) {
        PyErr_Format(PyExc_IndexError,
                     tn_ndim(x->at) == 0 ? "invalid index of a 0-dim tensor. Use `tensor.item()` "
                                           "in Python to convert a 0-dim tensor to a number"
                                         : "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, i) : key;
        if (o == Py_Ellipsis)
            x->dim += rest;
        else if (!py_index_member(x, o))
            return false;
    }
    return true;
}

/* Begins an indexing of t, borrowed. To be ended. */
static void py_index_begin(py_indexing *x, tn_tensor *t) {
    x->at = t;
    x->dim = x->taken = x->nlists = x->covered = x->nheld = 0;
    x->new_view = false;
    x->file = NULL;
    x->line = 0;
    /* members are known by address while Python code of later ones runs */
    x->turn = py_lend();
    if (py.planning || (tn_needs_grad(t) && tn_grad_mode())) py_here(&x->file, &x->line);
}

/* Drops what was made, and lets waiting releases happen. */
static void py_index_end(py_indexing *x) {
    for (int i = 0; i < x->nheld; i++) Py_DECREF(x->held[i]);
    if (x->new_view) tn_free(x->at);
    py_lent(x->turn, NULL);
}

/* x[key] of a subclass, or NotImplemented. */
static PyObject *py_index_asked(PyObject *self, PyObject *key, PyObject *value) {
    PyObject *args[3] = {self, key, value};
    return py_overridden_method(value ? "__setitem__" : "__getitem__", args, value ? 3 : 2);
}

/* x[i]; *fits: whether it is just that, and within x. */
static PyObject *py_index_one(PyObject *self, PyObject *key, bool *fits) {
    const char *file = NULL;
    int line = 0, overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(key, &overflow);
    /* before the tensor is looked at: py_here may run Python code */
    if (tn_needs_grad(py_of(self)) && tn_grad_mode()) py_here(&file, &line);
    tn_tensor *t = py_of(self), *r;
    tn_ints size = tn_shape(t);
    *fits = !overflow && size.n > 0 && i < size.at[0] && i >= -size.at[0];
    if (!*fits) return NULL;
    const tn_select_args a = {t, 0, i};
    r = tn_select_at(file, line, &a);
    return TNI_LIKELY(r != NULL) ? py_wrap(tn_take(r)) : py_raise();
}

/* x[key]: a view, or a copy where a tensor indexes. */
PY_PRIV PyObject *py_index_get(PyObject *self, PyObject *key) {
    py_indexing x;
    tn_tensor *r;
    /* an int and exact tensors: nothing has to be asked or held */
    if (TNI_LIKELY(Py_TYPE(key) == &PyLong_Type && py_is_exact(self))) {
        bool fits;
        PyObject *o = py_index_one(self, key, &fits);
        if (TNI_LIKELY(fits)) return o;
    }
    if (TNI_UNLIKELY(!py_is_exact(self))) {
        PyObject *o = py_index_asked(self, key, NULL);
        if (o != Py_NotImplemented) return o;
        Py_DECREF(o);
    }
    py_index_begin(&x, py_of(self));
    if (!py_index_apply(&x, key)) return py_index_end(&x), NULL;
    if (x.nlists) {
        tn_index_args a;
        memset(&a, 0, sizeof a);
        a.self = x.at;
        a.indices = tn_tensors_of(x.list, x.nlists);
        r = tn_index_at(x.file, x.line, &a);
    } else if (x.new_view) {
        /* the view goes over to the result */
        r = x.at;
        x.new_view = false;
    } else {
        const tn_slice_args a = {0, TN_NONE, TN_NONE, 1, x.at};
        r = tn_ndim(x.at) ? tn_slice_at(x.file, x.line, &a)
                          : tnp_view(x.at, tn_empty_dims()); /* x[...]: an alias */
    }
    py_index_end(&x);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* --- assignment ------------------------------------------------------------------------------- */

/* Through the lists: one element of another dtype is converted, more are refused. */
static bool py_index_put(py_indexing *x, tn_tensor *v) {
    tn_index_put_args a;
    tn_tensor *as = NULL;
    /* torch converts a single element, and refuses a tensor of another dtype */
    bool other = tn_dtype_of(v) != tn_dtype_of(x->at) && tn_numel(v) == 1;
    if (other && !(as = tnp_to_dtype(v, tn_dtype_of(x->at), false, false))) return false;
    if (as) tn_take(as);
    memset(&a, 0, sizeof a);
    a.self = x->at;
    a.indices = tn_tensors_of(x->list, x->nlists);
    a.values = as ? as : v;
    bool ok = tn_index_put_inplace_at(x->file, x->line, &a) != NULL;
    if (as) tn_free(as);
    return ok;
}

/* Whether a number is written as an element, which rounds to an infinity, and not by a fill, which
 * refuses what is too large: torch does so with one element of 16 bits. */
static bool py_index_rounds(const py_indexing *x, const tn_scalar *s) {
    const tn_dtype dtype = tn_dtype_of(x->at);
    return !x->nlists && tn_numel(x->at) == 1 && (dtype == TN_F16 || dtype == TN_BF16) &&
           (s->kind == TN_KIND_INT || s->kind == TN_KIND_FLOAT);
}

/* An integer beyond 64 bits in a tensor of other elements than uint64. */
static bool py_index_overflows(const py_indexing *x, PyObject *value) {
    int overflow = 0;
    if (PyLong_Check(value) && tn_dtype_of(x->at) != TN_U64)
        PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return overflow != 0;
}

/* What is no number, or is written as an element, as a tensor, held. */
static tn_tensor *py_index_made(py_indexing *x, PyObject *value) {
    PyErr_Clear();
    if (py_index_overflows(x, value)) return NULL;
    if (value == Py_None)
        return PyErr_Format(PyExc_TypeError, "can't assign a NoneType to a tensor"), NULL;
    PyObject *o = py_value_tensor(value, tn_dtype_of(x->at));
    return o ? py_of(x->held[x->nheld++] = o) : NULL;
}

/* Writes value, a number or a tensor that broadcasts, into the view or through the lists. */
static bool py_index_write(py_indexing *x, PyObject *value) {
    tn_scalar s;
    tn_tensor *v = NULL, *made = NULL;
    bool ok;
    if (py_is_tensor(value)) {
        v = py_of(value);
    } else if (!py_to_scalar(value, &s) || py_index_rounds(x, &s)) {
        if (!(v = py_index_made(x, value))) return false;
    } else if (!x->nlists) {
        /* a number without lists: one fill of the view */
        const tn_fill_args a = {x->at, s};
        return tn_fill_inplace_at(x->file, x->line, &a) || (py_raise(), false);
    } else {
        v = tnp_full(tn_empty_dims(), s, tn_dtype_of(x->at), tn_device_of(x->at));
        if (!v) return py_raise(), false;
        made = tn_take(v);
    }
    int most = x->nlists ? 0 : tn_ndim(x->at);
    while (tn_ndim(v) > most && tn_size(v, 0) == 1) { /* torch drops leading ones */
        tn_tensor *less = tnp_select(v, 0, 0);
        if (made) tn_free(made);
        if (!less) return py_raise(), false;
        v = made = tn_take(less);
    }
    /* What is smaller may lie where it is written: x[1] = x[1][0], x[:] = x[0], x[mask] = x[0]. */
    if (tn_numel(v) < (x->nlists ? 2 : tn_numel(x->at)) && tn_same_storage(v, x->at)) {
        tn_tensor *copy = tnp_clone(v, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
        if (made) tn_free(made);
        if (!copy) return py_raise(), false;
        v = made = tn_take(copy);
    }
    const tn_copy_args a = {x->at, v};
    ok = x->nlists ? py_index_put(x, v) : tn_copy_inplace_at(x->file, x->line, &a) != NULL;
    if (made) tn_free(made);
    return ok || (py_raise(), false);
}

/* x[key] = value, or del x[key] (value NULL), which torch refuses. */
static int py_index_set(PyObject *self, PyObject *key, PyObject *value) {
    py_indexing x;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    if (TNI_UNLIKELY(!py_is_exact(self) || (py_is_tensor(value) && !py_is_exact(value)))) {
        PyObject *o = py_index_asked(self, key, value);
        Py_XDECREF(o);
        if (o != Py_NotImplemented) return o ? 0 : -1;
    }
    py_index_begin(&x, py_of(self));
    /* a value with a history is recorded as well */
    if (!x.file && py_is_tensor(value) && tn_needs_grad(py_of(value)) && tn_grad_mode())
        py_here(&x.file, &x.line);
    bool ok = py_index_apply(&x, key) && py_index_write(&x, value);
    py_index_end(&x);
    return ok ? 0 : -1;
}

/* --- a sequence ------------------------------------------------------------------------------- */

static Py_ssize_t py_index_length(PyObject *self) {
    tn_tensor *t = py_of(self);
    if (tn_ndim(t)) return (Py_ssize_t)tn_size(t, 0);
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

/* Over more rows than one unbind returns: over those of its parts, one part after the other. */
static PyObject *py_index_iterate_parts(PyObject *self) {
    PyObject *tools = PyImport_ImportModule("itertools"), *each = NULL;
    PyObject *chain = tools ? PyObject_GetAttrString(tools, "chain") : NULL;
    PyObject *parts = chain ? PyObject_CallMethod(self, "split", "i", INDEX_ROWS) : NULL;
    if (parts) each = PyObject_CallMethod(chain, "from_iterable", "(O)", parts);
    Py_XDECREF(parts);
    Py_XDECREF(chain);
    Py_XDECREF(tools);
    return each;
}

/* iter(x): over the rows, which one unbind makes; a later write to x is seen through them. */
static PyObject *py_index_iterate(PyObject *self) {
    const char *file = NULL;
    int line = 0;
    if (tn_needs_grad(py_of(self))) py_here(&file, &line);
    if (!tn_ndim(py_of(self))) return PyErr_Format(PyExc_TypeError, "iteration over a 0-d tensor");
    if (tn_size(py_of(self), 0) > INDEX_ROWS) return py_index_iterate_parts(self);
    /* a subclass is asked about unbind, and its rows are of its class */
    if (!py_is_exact(self)) {
        PyObject *tuple = py_call(py_group_of("unbind"), true, &self, 1, NULL);
        PyObject *each = tuple ? PyObject_GetIter(tuple) : NULL;
        Py_XDECREF(tuple);
        return each;
    }
    const tn_unbind_args a = {0, py_of(self)};
    tn_list l = tn_unbind_at(file, line, &a);
    if (!l.at && !tn_ok()) return py_raise();
    PyObject *all = py_results_list(l), *it = all ? PyObject_GetIter(all) : NULL;
    Py_XDECREF(all);
    return it;
}

PY_PRIV int py_index_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_mp_subscript, (void *)py_index_get},
                                 {Py_mp_ass_subscript, (void *)py_index_set},
                                 {Py_mp_length, (void *)py_index_length},
                                 {Py_tp_iter, (void *)py_index_iterate}};
    memcpy(to, slots, sizeof slots);
    return (int)(sizeof slots / sizeof slots[0]);
}

/* src/py/tensor.c - the class Tensor: its attributes, and methods that are no rows */
/* tensor.c - the class Tensor: its attributes, and methods that are no rows. */

tn_print_options py_printing;

/* --- attributes ------------------------------------------------------------------------------- */

/* A tensor's shape or strides as a Size or a tuple, copied first: an allocation may run a
 * finalizer that turns the tensor. */
static PyObject *py_tensor_ints(tn_ints ints, bool size) {
    int64_t at[TN_MAX_DIMS];
    Py_ssize_t count = (Py_ssize_t)ints.n;
    for (int64_t i = 0; i < ints.n; i++) at[i] = ints.at[i];
    PyObject *all = size ? PyType_GenericAlloc(py.size, count) : PyTuple_New(count);
    for (int64_t i = 0; all && i < ints.n; i++) {
        PyObject *n = PyLong_FromLongLong(at[i]);
        if (!n || PyTuple_SetItem(all, (Py_ssize_t)i, n)) Py_CLEAR(all);
    }
    return all;
}

/* A Size, new at each look: the tensor may be turned in place. */
static PyObject *py_tensor_shape(PyObject *self, void *unused) {
    (void)unused;
    return py_tensor_ints(tn_shape(py_of(self)), true);
}
static PyObject *py_tensor_dtype(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(py.dtypes[tn_dtype_of(py_of(self))]);
}
static PyObject *py_tensor_device(PyObject *self, void *unused) {
    (void)unused;
    return py_device_of(tn_device_of(py_of(self)));
}
static PyObject *py_tensor_ndim(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(tn_ndim(py_of(self)));
}
static PyObject *py_tensor_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(tn_dtype_bytes(tn_dtype_of(py_of(self))));
}
static PyObject *py_tensor_nbytes(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(tn_numel(py_of(self)) * tn_dtype_bytes(tn_dtype_of(py_of(self))));
}
static PyObject *py_tensor_version(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(tn_version(py_of(self)));
}
static PyObject *py_tensor_is_leaf(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(tn_is_leaf(py_of(self)));
}
static PyObject *py_tensor_requires_grad(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(tn_needs_grad(py_of(self)));
}
/* False for all that torch has and this library does not: mps, sparse, quantized. */
static PyObject *py_tensor_never(PyObject *self, void *unused) {
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static PyObject *py_tensor_retains_grad(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(tn_retains_grad(py_of(self)));
}

/* x.requires_grad = bool. */
static int py_tensor_set_requires_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value || !PyBool_Check(value)) {
        PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
        return -1;
    }
    /* already so: a tensor with history may be set to True, too */
    if (value == Py_True && tn_needs_grad(py_of(self))) return 0;
    if (tn_requires_grad_at(NULL, 0, py_of(self), value == Py_True)) return 0;
    py_raise();
    return -1;
}

/* x.grad, new, or None. A warning for tensors that never have one. */
static PyObject *py_tensor_grad(PyObject *self, void *unused) {
    tn_tensor *t = py_of(self), *grad = tn_grad_of(t);
    (void)unused;
    /* torch's warning, which may be an error */
    if (!grad && !tn_is_leaf(t) && !tn_retains_grad(t) &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
                     "Its .grad attribute won't be populated during autograd.backward(). Call "
                     ".retain_grad() on it before if it should, or look at the leaf Tensor.",
                     1))
        return NULL;
    /* looked up again: the warning may have run Python code */
    return py_wrap_borrowed(tn_grad_of(py_of(self)));
}
/* x.grad = tensor or None. The library checks that it fits. */
static int py_tensor_set_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (value && value != Py_None && !py_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError,
                     "assigned grad expected to be a Tensor or None but got grad of type %R",
                     Py_TYPE(value));
        return -1;
    }
    /* torch refuses this cycle */
    if (value == self) {
        PyErr_Format(PyExc_RuntimeError, "can't assign Variable as its own grad");
        return -1;
    }
    if (tnp_set_grad(py_of(self), value && value != Py_None ? py_of(value) : NULL)) return 0;
    py_raise();
    return -1;
}

/* A row of one tensor as an attribute: x.T, x.real. */
static PyObject *py_tensor_by_row(PyObject *self, void *name) {
    /* found at each look: attributes are seldom */
    const py_group *g = py_group_of((const char *)name);
    return g ? py_call(g, true, &self, 1, NULL) : NULL;
}

/* x.imag = v: writes through the view. */
static int py_tensor_set_part(PyObject *self, PyObject *value, void *name) {
    PyObject *part;
    if (!value)
        return PyErr_Format(PyExc_AttributeError, "cannot delete '%s'", (const char *)name), -1;
    if (!(part = py_tensor_by_row(self, name))) return -1;
    const int bad = PyObject_SetItem(part, Py_Ellipsis, value);
    Py_DECREF(part);
    return bad;
}

/* x.T: all dimensions in reverse order. */
static PyObject *py_tensor_reversed(PyObject *self, void *unused) {
    int64_t dims[TN_MAX_DIMS];
    const char *file;
    int line;
    (void)unused;
    py_here(&file, &line);
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t);
    for (int i = 0; i < n; i++) dims[i] = n - 1 - i;
    const tn_permute_args a = {t, tn_ints_of(dims, n)};
    tn_tensor *r = tn_permute_at(file, line, &a);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* name: "H", which is of one matrix; "mT" or "mH", of many. */
static PyObject *py_tensor_matrices(PyObject *self, void *name) {
    const char *file, *which = (const char *)name;
    int line, n = tn_ndim(py_of(self));
    bool one = !strcmp(which, "H");
    /* nothing to exchange */
    if (!n) return py_tensor_reversed(self, NULL);
    if (one ? n != 2 : n == 1)
        return PyErr_Format(PyExc_RuntimeError,
                            "tensor.%s is only supported on %s. Got %d-D tensor.", which,
                            one ? "matrices (2-D tensors)" : "matrices or batches of matrices", n);
    py_here(&file, &line);
    const tn_transpose_args a = {py_of(self), -2, -1};
    tn_tensor *r = tn_transpose_at(file, line, &a);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* x.H, x.mH: conjugated where that changes anything. */
static PyObject *py_tensor_adjoint(PyObject *self, void *name) {
    PyObject *m = py_tensor_matrices(self, name);
    const py_group *g = py_group_of("conj");
    if (!m || !g || !py_dtype_is_complex(tn_dtype_of(py_of(self)))) return m;
    PyObject *r = py_call(g, true, &m, 1, NULL);
    Py_DECREF(m);
    return r;
}

/* x.is_cpu, x.is_cuda, x.is_meta: whether the device is of that type. */
static PyObject *py_tensor_on(PyObject *self, void *name) {
    const char *device = tn_device_name(tn_device_of(py_of(self)));
    const size_t n = strlen((const char *)name);
    return PyBool_FromLong(!strncmp(device, (const char *)name, n) && strcspn(device, ":") == n);
}
static PyObject *py_tensor_layout(PyObject *self, void *unused) {
    (void)self, (void)unused;
    return Py_NewRef(py.strided);
}

/* x.__dict__: from now on x may be part of a cycle. */
static PyObject *py_tensor_dict(PyObject *self, void *unused) {
    PyObject *dict = PyObject_GenericGetDict(self, unused);
    if (dict) py_tensor_track((py_tensor *)self);
    return dict;
}

static PyGetSetDef py_tensor_attributes[] = {
    {"shape", py_tensor_shape, NULL, "sizes, as torch.Size", NULL},
    {"dtype", py_tensor_dtype, NULL, "type of the elements", NULL},
    {"device", py_tensor_device, NULL, "where the elements are", NULL},
    {"ndim", py_tensor_ndim, NULL, "number of dimensions", NULL},
    {"itemsize", py_tensor_itemsize, NULL, "bytes of an element", NULL},
    {"nbytes", py_tensor_nbytes, NULL, "bytes of all elements", NULL},
    {"_version", py_tensor_version, NULL, "how often the storage was written", NULL},
    {"is_leaf", py_tensor_is_leaf, NULL, "whether no recorded call made it", NULL},
    {"retains_grad", py_tensor_retains_grad, NULL, "whether .grad is kept though it is no leaf",
     NULL},
    {"requires_grad", py_tensor_requires_grad, py_tensor_set_requires_grad,
     "whether calls with it are recorded", NULL},
    {"grad", py_tensor_grad, py_tensor_set_grad, "the gathered gradient, or None", NULL},
    {"_grad", py_tensor_grad, py_tensor_set_grad, NULL, NULL},
    {"real", py_tensor_by_row, py_tensor_set_part, "the real parts, a view", (void *)"real"},
    {"imag", py_tensor_by_row, py_tensor_set_part, "the imaginary parts, a view", (void *)"imag"},
    {"T", py_tensor_reversed, NULL, "the dimensions in reverse order", NULL},
    {"mT", py_tensor_matrices, NULL, "the last two dimensions exchanged", (void *)"mT"},
    {"H", py_tensor_adjoint, NULL, "a matrix transposed and conjugated", (void *)"H"},
    {"mH", py_tensor_adjoint, NULL, "the last two dimensions exchanged, conjugated", (void *)"mH"},
    {"layout", py_tensor_layout, NULL, "torch.strided", NULL},
    {"is_cpu", py_tensor_on, NULL, "whether it is in CPU memory", (void *)"cpu"},
    {"is_cuda", py_tensor_on, NULL, "whether it is in a GPU's memory", (void *)"cuda"},
    {"is_meta", py_tensor_on, NULL, "whether it has a shape and no data", (void *)"meta"},
    {"is_mps", py_tensor_never, NULL, NULL, NULL},
    {"is_xpu", py_tensor_never, NULL, NULL, NULL},
    {"is_mkldnn", py_tensor_never, NULL, NULL, NULL},
    {"is_nested", py_tensor_never, NULL, NULL, NULL},
    {"is_sparse_csr", py_tensor_never, NULL, NULL, NULL},
    {"is_sparse", py_tensor_never, NULL, NULL, NULL},
    {"is_quantized", py_tensor_never, NULL, NULL, NULL},
    {"__dict__", py_tensor_dict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef py_tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_tensor, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_tensor, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* --- methods that are no rows ----------------------------------------------------------------- */

/* The text of a subclass: "tensor(" becomes its name, lines are indented as much. */
static PyObject *py_tensor_repr_as(const char *text, const char *name) {
    PyObject *r = PyUnicode_FromFormat("%s(", name), *space = PyUnicode_FromString(" ");
    PyObject *indent = space ? PySequence_Repeat(space, (Py_ssize_t)strlen(name) + 1) : NULL;
    for (text += strlen("tensor("); r && indent && *text;) {
        /* line by line; the first seven blanks of a line are the indent of "tensor(" */
        size_t n = strcspn(text, "\n") + 1;
        bool last = text[n - 1] == 0, empty = !last && text[n] == '\n';
        PyObject *line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)(last ? n - 1 : n), NULL), *more;
        text += last ? n - 1 : n;
        int spaces = 0;
        while (!last && !empty && *text == ' ' && spaces < 7) text++, spaces++;
        more = !line    ? NULL
               : spaces ? PyUnicode_FromFormat("%U%U%U", r, line, indent)
                        : PyUnicode_Concat(r, line);
        Py_XDECREF(line);
        Py_DECREF(r);
        r = more;
    }
    Py_XDECREF(space);
    Py_XDECREF(indent);
    return r;
}

static PyObject *py_tensor_repr(PyObject *self) {
    /* a copy, as the width depends on the class's name */
    tn_print_options o = py_printing;
    PyObject *type = NULL, *r;
    const char *name = NULL;
    if (py.dual_text && tn_needs_grad(py_of(self))) {
        PyObject *f = Py_NewRef(py.dual_text);
        r = PyObject_CallFunctionObjArgs(f, self, NULL);
        Py_DECREF(f);
        if (r != Py_None) return r;
        Py_DECREF(r);
    }
    if (!py_is_exact(self)) {
        if (!(type = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__")) ||
            !(name = PyUnicode_AsUTF8AndSize(type, NULL)))
            return Py_XDECREF(type), NULL;
        o.linewidth = (o.linewidth ? o.linewidth : 80) + 6 - (int)strlen(name);
        if (o.linewidth < 10) o.linewidth = 10;
    }
    char *text = tnp_to_text(py_of(self), &o);
    r = !text ? py_raise() : name ? py_tensor_repr_as(text, name) : PyUnicode_FromString(text);
    /* the library's memory, with the size that it was got with */
    if (text) tn_alloc_free(text, strlen(text) + 1);
    Py_XDECREF(type);
    return r;
}

/* x.item(): the error of several elements is the library's. */
static PyObject *py_tensor_item(PyObject *self, PyObject *unused) {
    (void)unused;
    tn_scalar s = tnp_item_scalar(py_of(self));
    return tn_ok() ? py_from_element(s, tn_dtype_of(py_of(self))) : py_raise();
}

/* The one keyword dim=. */
static bool py_tensor_dim_word(PyObject *kwnames, Py_ssize_t *n) {
    PyObject *name = PyTuple_GetItem(kwnames, 0);
    if (*n + PyTuple_Size(kwnames) == 1 && PyUnicode_Compare(name, py.dim) == 0)
        return (*n = 1) != 0;
    PyErr_SetString(PyExc_TypeError, "dim= is the only keyword");
    return false;
}

/* x.size(), x.size(dim). */
static PyObject *py_tensor_size(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    if (TNI_UNLIKELY(kwnames != NULL) && !py_tensor_dim_word(kwnames, &n)) return NULL;
    int64_t dim;
    if (n == 0 || args[0] == Py_None) return py_tensor_shape(self, NULL);
    if (n > 1 || !py_to_int(args[0], &dim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "size(): argument 'dim' must be int");
        return NULL;
    }
    /* out of the range in any case: the library says so */
    if (dim < INT32_MIN || dim > INT32_MAX) dim = INT32_MAX;
    int64_t size = tn_size(py_of(self), (int)dim);
    return tn_ok() ? PyLong_FromLongLong(size) : py_raise();
}

/* x.stride(), x.stride(dim). */
static PyObject *py_tensor_stride(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    if (TNI_UNLIKELY(kwnames != NULL) && !py_tensor_dim_word(kwnames, &n)) return NULL;
    int64_t dim;
    if (n == 0 || args[0] == Py_None) return py_tensor_ints(tn_strides(py_of(self)), false);
    /* as size(dim) */
    if (n > 1 || !py_to_int(args[0], &dim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "stride(): argument 'dim' must be int");
        return NULL;
    }
    if (dim < INT32_MIN || dim > INT32_MAX) dim = INT32_MAX;
    int64_t stride = tn_stride(py_of(self), (int)dim);
    return tn_ok() ? PyLong_FromLongLong(stride) : py_raise();
}

static PyObject *py_tensor_dim(PyObject *self, PyObject *unused) {
    return py_tensor_ndim(self, unused);
}
static PyObject *py_tensor_numel(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(tn_numel(py_of(self)));
}
static PyObject *py_tensor_storage_offset(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLongLong(tn_storage_offset(py_of(self)));
}
static PyObject *py_tensor_data_ptr(PyObject *self, PyObject *unused) {
    (void)unused;
    const tn_tensor *t = py_of(self);
    const bool plain = tn_device_of(t) == TN_CPU || tn_device_of(t) == TN_META;
    return PyLong_FromVoidPtr(plain ? tn_data(t) : tn_device_data(t));
}
static PyObject *py_tensor_element_size(PyObject *self, PyObject *unused) {
    return py_tensor_itemsize(self, unused);
}
static PyObject *py_tensor_retain_grad(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!tn_needs_grad(py_of(self)))
        return PyErr_Format(PyExc_RuntimeError,
                            "can't retain_grad on Tensor that has requires_grad=False");
    if (tn_is_leaf(py_of(self))) Py_RETURN_NONE;
    if (!tnp_retain_grad(py_of(self))) return py_raise();
    Py_RETURN_NONE;
}

#define TENSOR_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_tensor_methods[] = {
    {"item", py_tensor_item, METH_NOARGS, "the only element as a Python number"},
    {"size", TENSOR_FAST(py_tensor_size), METH_FASTCALL | METH_KEYWORDS,
     "sizes, or that of one dimension"},
    {"stride", TENSOR_FAST(py_tensor_stride), METH_FASTCALL | METH_KEYWORDS,
     "strides in elements, or one of them"},
    {"dim", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"ndimension", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"numel", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"nelement", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"storage_offset", py_tensor_storage_offset, METH_NOARGS, "of the first element, in elements"},
    {"data_ptr", py_tensor_data_ptr, METH_NOARGS, "address of the first element"},
    {"element_size", py_tensor_element_size, METH_NOARGS, "bytes of an element"},
    {"retain_grad", py_tensor_retain_grad, METH_NOARGS, "keeps .grad of a tensor that is no leaf"},
    {NULL, NULL, 0, NULL}};

/* id(self), as torch has it. */
static Py_hash_t py_tensor_hash(PyObject *self) { return (Py_hash_t)(uintptr_t)self; }

/* Makes the class of the slots that its files bring. */
PY_PRIV int py_tensor_begin(PyObject *module) {
    /* ended by a zero slot */
    PyType_Slot slots[64] = {{Py_tp_repr, (void *)py_tensor_repr},
                             {Py_tp_hash, (void *)py_tensor_hash},
                             {Py_tp_methods, py_tensor_methods},
                             {Py_tp_members, py_tensor_members},
                             {Py_tp_getset, py_tensor_attributes}};
    PyType_Spec spec = {"torch.Tensor", sizeof(py_tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    int n = 5;
    n += py_wrap_slots(slots + n);
    n += py_number_slots(slots + n);
    n += py_index_slots(slots + n);
    n += py_create_slots(slots + n);
    n += py_buffer_slots(slots + n);
    py.tensor = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.tensor ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)py.tensor) : -1;
}

/* src/py/optim.c - a step of an optimizer's row over torch's param_groups and state */
/* optim.c - a step of an optimizer's row over torch's param_groups and state.
 *
 * The groups and the state stay Python's lists and dictionaries, which users read and edit; a step
 * looks its parameters, options and states up there and makes one call of the row. It knows no kind
 * of optimizer: names and kinds of options and states are the row's. All parameters change, or none
 * and the state is as it was. */

enum { PY_OPTIM_ARGS = 256, PY_OPTIM_LISTS = 16, PY_OPTIM_PARAMS = 32, PY_OPTIM_ROWS = 64 };
enum { PY_OPTIM_SCALARS = 1 + TN_OPTIM_KEPT };

/* A row and its words, made at its first step. */
typedef struct py_optim_row {
    const tn_orow *row;
    PyObject *option[PY_OPTIM_PARAMS]; /* by parameter of the row; NULL for the list of tensors */
    /* scalar: "step", then the row's numbers */
    PyObject *state[TN_OPTIM_STATES], *scalar[PY_OPTIM_SCALARS], *params;
    int nstates, nscalars;
} py_optim_row;

static py_optim_row *py_optim_rows[PY_OPTIM_ROWS];

/* The options of a group as the row reads them. */
typedef struct py_optim_group {
    union {
        double align;
        void *pointer;
        char bytes[PY_OPTIM_ARGS];
    } args;
    double lists[PY_OPTIM_LISTS];
    int used;        /* of lists */
    tn_tensor *rate; /* of a captured step, that has lr: held; NULL: a number */
} py_optim_group;

/* One step; its arrays have room for n parameters of which s.n have a gradient. */
typedef struct py_optim_step {
    const py_optim_row *r;
    PyObject *groups, *state;
    Py_ssize_t ngroups, n;
    bool captured; /* count and numbers are tensors of the device, states behind the row's own */
    bool moves;    /* a state was made, or brought to the device */
    int64_t elements;
    py_optim_group *group;
    tn_ostep s;
    tn_tensor **rate;                    /* of each parameter's group */
    const void *rated;                   /* options that have the number of their rate already */
    PyObject **of;                       /* state dictionaries, counted */
    PyObject **param;                    /* wrappers, counted: keys of new state dictionaries */
    PyObject **scalar[PY_OPTIM_SCALARS]; /* tensors of one number, counted */
    double *value[PY_OPTIM_SCALARS];
    uint8_t *made; /* bit k: state k was put there for this step; PY_MADE_SCALAR << j, .._DICT */
    bool *first;
} py_optim_step;
enum { PY_MADE_SCALAR = 16, PY_MADE_DICT = 128 };

/* --- rows ------------------------------------------------------------------------------------- */

/* The words of "exp_avg, exp_avg_sq", *n of at most `most`. */
static bool py_optim_words(const char *text, PyObject **words, int *count, int most) {
    const char *at = text ? text : "";
    while (*at && *count < most) {
        size_t n = strcspn(at, ", ");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (!(words[(*count)++] = PyUnicode_InternFromString(word))) return false;
        at += n;
        at += strspn(at, ", ");
    }
    return true;
}

/* The row of a number, made at first use and kept. NULL with an exception. */
static const py_optim_row *py_optim_row_at(long i) {
    const tn_orow *row = i >= 0 && i < PY_OPTIM_ROWS ? tn_orow_at(i) : NULL;
    if (!row || row->gen->nparam > PY_OPTIM_PARAMS || row->gen->args_size > PY_OPTIM_ARGS)
        return PyErr_Format(PyExc_ValueError, "optimizer row %ld does not exist", i), NULL;
    if (py_optim_rows[i]) return py_optim_rows[i];
    py_optim_row *r = (py_optim_row *)py_get(1, sizeof *r);
    if (!r) return PyErr_NoMemory(), NULL;
    r->row = row;
    bool ok = (r->params = PyUnicode_InternFromString("params")) != NULL &&
              py_optim_words("step", r->scalar, &r->nscalars, 1) &&
              py_optim_words(row->numbers, r->scalar, &r->nscalars, PY_OPTIM_SCALARS) &&
              py_optim_words(row->state, r->state, &r->nstates, TN_OPTIM_STATES);
    for (int k = 0; ok && k < row->gen->nparam; k++)
        if (row->gen->param[k].type != TN_T_TENSORS)
            ok = (r->option[k] = PyUnicode_InternFromString(row->gen->param[k].name)) != NULL;
    if (ok) return py_optim_rows[i] = r;
    py_give(r); /* the words are interned */
    return NULL;
}

/* Whether a default of a list stands for None, as Adafactor's eps[0]. */
static bool py_optim_absent(double v) { return v == -1; }

/* A parameter's default as Python writes it: 0 for a float of zero, as torch's own. */
static PyObject *py_optim_default(const tn_gen *gen, const tn_param *p) {
    tn_floats l;
    tn_scalar s;
    /* betas: a tuple, as torch's defaults have it */
    if (p->type == TN_T_FLOATS) {
        memcpy(&l, (const char *)gen->defaults + p->offset, sizeof l);
        PyObject *all = PyTuple_New((Py_ssize_t)l.n);
        for (int64_t k = 0; all && k < l.n; k++)
            PyTuple_SetItem(all, (Py_ssize_t)k,
                            py_optim_absent(l.at[k]) ? Py_NewRef(Py_None)
                                                     : PyFloat_FromDouble(l.at[k]));
        return all;
    }
    if (tn_param_number(p, gen->defaults, &s) && s.kind == TN_KIND_FLOAT && s.real == 0 &&
        !(p->flags & TN_P_MAYBE))
        return PyLong_FromLong(0);
    return py_param_object(p, gen->defaults);
}

/* (("lr", 0.001, False), ..): name, default, whether by keyword alone. */
static PyObject *py_optim_options(const tn_gen *gen) {
    PyObject *all = PyList_New(0);
    for (int k = 0; all && k < gen->nparam; k++) {
        const tn_param *p = &gen->param[k];
        if (p->type == TN_T_TENSORS) continue;
        PyObject *value = py_optim_default(gen, p);
        PyObject *one = value ? Py_BuildValue("sNO", p->name, value,
                                              p->flags & TN_P_KEYWORD ? Py_True : Py_False)
                              : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* Of a step: those that the row names, and of captured ones the numbers behind them. */
static int py_optim_states(const py_optim_row *r) {
    return r->nstates + (r->row->captured ? r->nscalars : 0);
}

/* [(number, "Adam", schema, options, states, numbers, counts), ..] of all rows. */
static PyObject *py_optim_list(PyObject *self, PyObject *unused) {
    PyObject *all = PyList_New(0);
    (void)self, (void)unused;
    for (int64_t i = 0; all && i < tn_orow_count(); i++) {
        const tn_orow *row = tn_orow_at(i);
        PyObject *options = py_optim_options(row->gen);
        PyObject *one =
            options ? Py_BuildValue("Ls#sNssO", (long long)i, row->schema,
                                    (Py_ssize_t)strcspn(row->schema, ".("), row->schema, options,
                                    row->state ? row->state : "", row->numbers ? row->numbers : "",
                                    row->counts ? Py_True : Py_False)
                    : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* --- options ---------------------------------------------------------------------------------- */

/* The error for an option that is not of its type; one of Python code stays. */
static bool py_optim_misfit(const tn_param *p, PyObject *o) {
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "option '%s' of a parameter group: %R is not a valid value",
                     p->name, o);
    return false;
}

/* An option of a group as the row reads it, one function a way of TN_TYPES. `none` says that o is
 * None and the row allows it. Lists lie in g->lists: the step outlives the tuple they came from. */

/* A float, or a float? of which None is a value. */
static bool py_optim_real(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    char *at = g->args.bytes + p->offset;
    const tn_tensor *t = py_is_tensor(o) ? py_of(o) : NULL;
    double d = 0;
    /* one of a device without data, in a plan, leaves the default */
    if (t && tn_device_of(t) > TN_META && !tn_device_data(t)) return true;
    if (t && tn_ndim(t) && tn_numel(t) == 1) {
        d = tn_item(t); /* as torch takes it, of any shape */
        if (!tn_ok()) return py_raise(), false;
    } else if (!none && !py_to_float(o, &d)) {
        return py_optim_misfit(p, o);
    }
    if (p->flags & TN_P_MAYBE) {
        const tn_maybe m = none ? tn_no_float() : tn_some(d);
        memcpy(at, &m, sizeof m);
    } else {
        memcpy(at, &d, sizeof d);
    }
    return true;
}

/* torch asks only whether a flag is true: 1 and None are flags as well. */
static bool py_optim_truth(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    const int is = PyObject_IsTrue(o);
    const bool truth = is > 0;
    (void)none;
    if (is < 0) return false;
    memcpy(g->args.bytes + p->offset, &truth, sizeof truth);
    return true;
}

static bool py_optim_whole(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    int64_t i = TN_NONE;
    if (!none && !py_to_index(o, &i)) return py_optim_misfit(p, o);
    memcpy(g->args.bytes + p->offset, &i, sizeof i);
    return true;
}

/* Whether number i of a list may be None. The struct still has the default. */
static bool py_optim_none_at(const tn_param *p, const py_optim_group *g, int64_t i) {
    tn_floats l;
    memcpy(&l, g->args.bytes + p->offset, sizeof l);
    return i < l.n && py_optim_absent(l.at[i]);
}

/* A tuple or list of floats, of as many as the row says (betas: 2). */
static bool py_optim_reals(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    bool tuple = PyTuple_Check(o);
    tn_floats l;
    (void)none;
    if (!tuple && !PyList_Check(o)) return py_optim_misfit(p, o);
    l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
    l.at = g->lists + g->used;
    if ((p->count >= 0 && l.n != p->count) || l.n > PY_OPTIM_LISTS - g->used)
        return py_optim_misfit(p, o);
    for (int64_t i = 0; i < l.n; i++) {
        /* NULL where Python code that py_to_float ran has made the list shorter. */
        PyObject *one =
            tuple ? PyTuple_GetItem(o, (Py_ssize_t)i) : PyList_GetItem(o, (Py_ssize_t)i);
        double *to = g->lists + g->used + i;
        const bool may = py_optim_none_at(p, g, i);
        if (may && one == Py_None)
            *to = -1;
        else if (!one || !py_to_float(one, to) || (may && py_optim_absent(*to)))
            return py_optim_misfit(p, o);
    }
    g->used += (int)l.n;
    memcpy(g->args.bytes + p->offset, &l, sizeof l);
    return true;
}

/* A word of the schema, numbered from 1; 0 is None. */
static bool py_optim_word(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    const char *text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    int32_t word = 0;
    for (int32_t k = 0; text && p->words[k]; k++)
        if (strcmp(p->words[k], text) == 0) word = k + 1;
    if (!word && !none) return py_optim_misfit(p, o);
    memcpy(g->args.bytes + p->offset, &word, sizeof word);
    return true;
}

/* The ways of TN_TYPES; NULL: no option of an optimizer has this type. */
#define PY_OPTIM_TENSOR NULL
#define PY_OPTIM_TENSORS NULL
#define PY_OPTIM_WHOLE py_optim_whole
#define PY_OPTIM_REAL py_optim_real
#define PY_OPTIM_MAYBE py_optim_real
#define PY_OPTIM_TRUTH py_optim_truth
#define PY_OPTIM_NUMBER py_optim_real
#define PY_OPTIM_WHOLES NULL
#define PY_OPTIM_REALS py_optim_reals
#define PY_OPTIM_DTYPE NULL
#define PY_OPTIM_DEVICE NULL
#define PY_OPTIM_GENERATOR NULL
#define PY_OPTIM_WORD py_optim_word
#define PY_OPTIM_STRING NULL
#define PY_OPTIM_MODULE NULL
#define PY_OPTIM_MODULES NULL
#define PY_OPTIM_WAY(NAME, text, list, c, cxx, lies, traits, way) PY_OPTIM_##way,
typedef bool (*py_optim_way)(const tn_param *p, PyObject *o, bool none, py_optim_group *g);
static const py_optim_way py_optim_ways[TN_TYPE_COUNT] = {NULL, TN_TYPES(PY_OPTIM_WAY)};

static bool py_optim_option(const tn_param *p, PyObject *o, py_optim_group *g) {
    const bool none = o == Py_None && p->flags & TN_P_OPTIONAL;
    return py_optim_ways[p->type] ? py_optim_ways[p->type](p, o, none, g) : py_optim_misfit(p, o);
}

/* Held: a rate as steps compute with it, of no dimension, in the same memory. */
static tn_tensor *py_optim_rate(tn_tensor *t) {
    if (tn_ndim(t) == 0) return tn_retain(t);
    const bool mode = tn_set_grad_mode(false);
    t = tnp_view(t, tn_empty_dims());
    tn_set_grad_mode(mode);
    return t ? tn_take(t) : NULL;
}

/* The options of a group, checked by the row; what the group lacks has its default. captured: lr
 * may stay a tensor. */
static bool py_optim_group_read(const py_optim_row *r, PyObject *group, bool captured,
                                py_optim_group *g) {
    const tn_gen *gen = r->row->gen;
    g->used = 0;
    g->rate = NULL;
    memcpy(g->args.bytes, gen->defaults, gen->args_size);
    for (int k = 0; k < gen->nparam; k++) {
        /* borrowed, and held while Python code of the conversion may change the group */
        PyObject *o = r->option[k] ? PyDict_GetItemWithError(group, r->option[k]) : NULL;
        if (!o && PyErr_Occurred()) return false;
        if (!o) continue;
        if (captured && py_is_tensor(o) && !strcmp(gen->param[k].name, "lr")) {
            g->rate = py_optim_rate(py_of(o));
            if (!g->rate) return py_raise(), false;
            continue;
        }
        Py_INCREF(o);
        bool ok = py_optim_option(&gen->param[k], o, g);
        Py_DECREF(o);
        if (!ok) return false;
    }
    if (!r->row->check || r->row->check(g->args.bytes)) return true;
    tn_error_info info;
    /* a check that refuses a value is a ValueError, as torch raises it */
    if (tn_error_peek(&info) && info.code == TN_INVALID) {
        PyErr_SetString(PyExc_ValueError, info.message);
        tn_error_take(NULL);
    } else {
        py_raise();
    }
    return false;
}

/* _optim_check(number, group): the options of a group, as a step would read them. */
static PyObject *py_optim_check(PyObject *self, PyObject *args) {
    py_optim_group g;
    PyObject *group;
    long i;
    (void)self;
    if (!PyArg_ParseTuple(args, "lO!", &i, &PyDict_Type, &group)) return NULL;
    const py_optim_row *r = py_optim_row_at(i);
    if (!r || !py_optim_group_read(r, group, false, &g)) return NULL;
    Py_RETURN_NONE;
}

/* --- what a step works on --------------------------------------------------------------------- */

/* The list of parameters of a group, borrowed. */
static PyObject *py_optim_params(const py_optim_row *r, PyObject *group) {
    PyObject *list = PyDict_Check(group) ? PyDict_GetItemWithError(group, r->params) : NULL;
    if (list && PyList_Check(list)) return list;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a parameter group must be a dict with a list 'params'");
    return NULL;
}

/* Lays the arrays of a step into one block, largest alignment first. */
static bool py_optim_lay(py_optim_step *w) {
    int states = py_optim_states(w->r), scalars = w->r->nscalars;
    for (Py_ssize_t g = 0; g < w->ngroups; g++) {
        PyObject *list = py_optim_params(w->r, PyList_GetItem(w->groups, g));
        if (!list) return false;
        w->n += PyList_Size(list);
    }
    size_t n = (size_t)w->n + 1, pointers = (size_t)(6 + states + scalars);
    size_t numbers = (size_t)(TN_OPTIM_NUMBERS + scalars);
    size_t bytes = (size_t)w->ngroups * sizeof *w->group +
                   n * (pointers * sizeof(void *) + numbers * sizeof(double) + 2);
    /* n is bounded, so that the product of bytes cannot wrap */
    char *at = n < PY_SSIZE_T_MAX / 1024 ? (char *)py_get(1, bytes) : NULL;
    if (!at) return PyErr_NoMemory(), false;
    w->group = (py_optim_group *)(void *)at;
    w->s.number = (double *)(void *)(w->group + w->ngroups);
    for (int j = 0; j < scalars; j++)
        w->value[j] = w->s.number + (size_t)(TN_OPTIM_NUMBERS + j) * n;
    w->s.param = (tn_tensor **)(void *)(w->s.number + numbers * n);
    w->s.grad = w->s.param + n;
    for (int k = 0; k < states; k++) w->s.state[k] = w->s.grad + (size_t)(k + 1) * n;
    w->of = (PyObject **)(void *)(w->s.grad + (size_t)(states + 1) * n);
    w->param = w->of + n;
    for (int j = 0; j < scalars; j++) w->scalar[j] = w->param + (size_t)(1 + j) * n;
    const void **options = (const void **)(void *)(w->param + (size_t)(1 + scalars) * n);
    w->s.options = options;
    w->rate = (tn_tensor **)(void *)(options + n);
    w->made = (uint8_t *)(w->rate + n);
    w->first = (bool *)(w->made + n);
    w->s.first = w->first;
    w->s.count = w->r->row->counts ? w->value[0] : NULL;
    for (int j = 1; j < scalars; j++) w->s.kept[j - 1] = w->value[j];
    return true;
}

/* The state dictionary of a parameter; made if it has none. */
static PyObject *py_optim_state_of(py_optim_step *w, PyObject *param, uint8_t *made) {
    PyObject *d = PyDict_GetItemWithError(w->state, param);
    if (d && !PyDict_Check(d))
        return PyErr_Format(PyExc_TypeError, "the state of a parameter must be a dict, got %R", d);
    if (d || PyErr_Occurred()) return Py_XNewRef(d);
    /* made: taken out again if the step fails */
    d = PyDict_New();
    if (!d || PyDict_SetItem(w->state, param, d)) Py_CLEAR(d);
    if (d) *made |= PY_MADE_DICT;
    return d;
}

/* Puts a new tensor into the state; a new reference to its wrapper. */
static PyObject *py_optim_put(PyObject *d, PyObject *name, tn_tensor *t) {
    PyObject *o = t ? py_wrap(tn_take(t)) : py_raise();
    if (o && PyDict_SetItem(d, name, o)) Py_CLEAR(o);
    return o;
}

/* Counted: the tensor of number j of parameter i, a 0-dim float32 as torch's; number 0 counts the
 * steps, others are NaN before the first one. */
static bool py_optim_scalar(py_optim_step *w, int64_t i, int j) {
    PyObject *name = w->r->scalar[j], *o = PyDict_GetItemWithError(w->of[i], name);
    double value = j ? (double)NAN : 0;
    float now;
    /* a tensor that can be written in place stays the same object, as in torch */
    bool fits = o && py_is_tensor(o) && tn_ndim(py_of(o)) == 0 && tn_dtype_of(py_of(o)) == TN_F32 &&
                tn_device_of(py_of(o)) == TN_CPU && !tn_needs_grad(py_of(o)) &&
                !tn_is_read_only(py_of(o));
    if (!o && PyErr_Occurred()) return false;
    if (o && !py_to_float(o, &value)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "state %R must be a number, got %R", name, o);
        return false;
    }
    now = (float)value;
    if (!o) w->made[i] = (uint8_t)(w->made[i] | PY_MADE_SCALAR << j);
    w->scalar[j][i] =
        fits ? Py_NewRef(o)
             : py_optim_put(w->of[i], name, tnp_from(&now, tn_empty_dims(), TN_F32, TN_CPU));
    /* the step that is about to be made */
    w->value[j][i] = j ? value : value + 1;
    return w->scalar[j][i] != NULL;
}

/* A new state k of parameter i; NULL with an error, or if it has none. */
static tn_tensor *py_optim_begin_state(py_optim_step *w, int64_t i, int k) {
    const tn_orow *row = w->r->row;
    tn_tensor *p = w->s.param[i];
    tn_tensor *rate = w->rate[i];
    /* some begin with the rate; one without data, in a plan, leaves the number that was there */
    if (rate && w->rated != w->s.options[i] && !tn_is_capturing()) {
        w->rated = w->s.options[i];
        if (tn_data(rate) || tn_device_data(rate))
            tn_param_set_number(tn_param_named(row->gen, "lr", SIZE_MAX),
                                (char *)(uintptr_t)w->rated, tn_float(tn_item(rate)));
    }
    if (k == w->r->nstates) return tnp_zeros(tn_empty_dims(), TN_F32, tn_device_of(p)); /* step */
    return row->begin ? row->begin(w->s.options[i], p, k)
                      : tnp_zeros_like(p, TN_NO_DTYPE, TN_NO_DEVICE);
}

/* State k of parameter i, held; made if it has none yet. */
static bool py_optim_one_state(py_optim_step *w, int64_t i, int k) {
    PyObject *o = PyDict_GetItemWithError(w->of[i], w->r->state[k]), *put = NULL;
    if (!o && PyErr_Occurred()) return false;
    /* lazily, as torch: a state begins with the first gradient */
    if (!o || o == Py_None) {
        tn_tensor *t = py_optim_begin_state(w, i, k);
        if (!t && tn_ok()) return true;
        o = put = py_optim_put(w->of[i], w->r->state[k], t);
        if (!o) return false;
        w->made[i] = (uint8_t)(w->made[i] | 1u << k);
        w->first[i] = w->moves = true;
    }
    bool ok = py_is_tensor(o);
    if (ok) w->s.state[k][i] = tn_retain(py_of(o));
    if (!ok) PyErr_Format(PyExc_TypeError, "state %R must be a tensor", w->r->state[k]);
    Py_XDECREF(put);
    return ok;
}

/* Number j of parameter i as a state of its device, held: a 0-dim float32. */
static bool py_optim_number(py_optim_step *w, int64_t i, int j) {
    PyObject *name = w->r->scalar[j], *o = PyDict_GetItemWithError(w->of[i], name), *put = NULL;
    const tn_device_id device = tn_device_of(w->s.param[i]);
    double value = 0;
    bool fits = o && py_is_tensor(o) && tn_ndim(py_of(o)) == 0 && tn_dtype_of(py_of(o)) == TN_F32 &&
                tn_device_of(py_of(o)) == device && !tn_needs_grad(py_of(o));
    if (!o && PyErr_Occurred()) return false;
    if (o && !fits && !py_to_float(o, &value)) return false;
    if (!fits) {
        if (!o) w->made[i] = (uint8_t)(w->made[i] | PY_MADE_SCALAR << j);
        w->moves = true;
        o = put = py_optim_put(w->of[i], name,
                               o ? tnp_full(tn_empty_dims(), tn_float(value), TN_F32, device)
                                 : py_optim_begin_state(w, i, w->r->nstates + j));
        if (!o) return false;
    }
    w->s.state[w->r->nstates + j][i] = tn_retain(py_of(o));
    Py_XDECREF(put);
    return true;
}

/* Adds a parameter that has a gradient to the step, with the state that the options use. */
static bool py_optim_add(py_optim_step *w, PyObject *param, const py_optim_group *g) {
    const tn_orow *row = w->r->row;
    int64_t i = w->s.n;
    if (!py_is_tensor(param))
        return PyErr_Format(PyExc_TypeError, "optimizer can only optimize Tensors, not %R", param),
               false;
    /* borrowed until it is held below */
    tn_tensor *grad = tn_grad_of(py_of(param));
    if (!grad || i >= w->n) return true;
    w->s.n++;
    w->s.param[i] = tn_retain(py_of(param));
    w->s.grad[i] = tn_retain(grad);
    w->param[i] = Py_NewRef(param);
    ((const void **)(uintptr_t)w->s.options)[i] = g->args.bytes;
    w->rate[i] = g->rate;
    if (g->rate) w->s.rate = w->rate;
    w->elements += tn_numel(w->s.param[i]);
    uint32_t uses = row->uses ? row->uses(g->args.bytes) : UINT32_MAX;
    if (!row->counts && !(uses & ((1u << w->r->nstates) - 1))) return true;
    if (!(w->of[i] = py_optim_state_of(w, param, &w->made[i]))) return false;
    for (int j = row->counts ? 0 : 1; j < w->r->nscalars; j++)
        if (!(w->captured ? py_optim_number : py_optim_scalar)(w, i, j)) return false;
    for (int k = 0; k < w->r->nstates; k++)
        if (uses >> k & 1 && !py_optim_one_state(w, i, k)) return false;
    return true;
}

/* All groups: options, then parameters. Lists are held, as conversions run Python code. */
static bool py_optim_collect(py_optim_step *w) {
    for (Py_ssize_t g = 0; g < w->ngroups && g < PyList_Size(w->groups); g++) {
        /* new: Python code of a conversion may change either list */
        PyObject *group = Py_XNewRef(PyList_GetItem(w->groups, g));
        PyObject *list = group ? Py_XNewRef(py_optim_params(w->r, group)) : NULL;
        bool ok = list && py_optim_group_read(w->r, group, w->captured, &w->group[g]);
        for (Py_ssize_t i = 0; ok && i < PyList_Size(list); i++) {
            PyObject *param = Py_NewRef(PyList_GetItem(list, i));
            ok = py_optim_add(w, param, &w->group[g]);
            Py_DECREF(param);
        }
        Py_XDECREF(list);
        Py_XDECREF(group);
        if (!ok) return false;
    }
    return true;
}

/* What was put into the state for a step that failed goes again; an exception stays. */
static void py_optim_undo(py_optim_step *w) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (int64_t i = 0; i < w->s.n; i++) {
        for (int k = 0; k < w->r->nstates; k++)
            if (w->made[i] >> k & 1) PyDict_DelItem(w->of[i], w->r->state[k]);
        for (int j = 0; j < w->r->nscalars; j++)
            if (w->made[i] & PY_MADE_SCALAR << j) PyDict_DelItem(w->of[i], w->r->scalar[j]);
        if (w->made[i] & PY_MADE_DICT) PyDict_DelItem(w->state, w->param[i]);
        PyErr_Clear(); /* somebody else took it out */
    }
    PyErr_Restore(type, value, trace);
}

/* Releases what the step held. The arrays are one block, which begins with the groups. */
static void py_optim_end(py_optim_step *w) {
    for (int64_t i = 0; i < w->s.n; i++) {
        tn_release(w->s.param[i]);
        tn_release(w->s.grad[i]);
        for (int k = 0; k < py_optim_states(w->r); k++) tn_release(w->s.state[k][i]);
        Py_XDECREF(w->of[i]);
        Py_XDECREF(w->param[i]);
        for (int j = 0; j < w->r->nscalars; j++) Py_XDECREF(w->scalar[j][i]);
    }
    for (Py_ssize_t g = 0; g < w->ngroups; g++) tn_release(w->group[g].rate);
    py_give(w->group);
}

/* --- the step --------------------------------------------------------------------------------- */

static void py_optim_text(const tn_path *path, char *to, size_t room) {
    const py_optim_step *const *w = (const py_optim_step *const *)(const void *)(path + 1);
    snprintf(to, room, "%s", (*w)->r->row->name);
}

/* The row's step, outside of any tape. It needs no Python object, so the GIL may go. */
static bool py_optim_run(py_optim_step *w) {
    struct {
        tn_path path;
        const py_optim_step *of;
    } link;
    bool ok, lasts = w->elements >= PY_LONG;
    py_long l = {NULL};
    /* errors name the optimizer and the user's line by this link of the path */
    memset(&link, 0, sizeof link);
    link.path.text = py_optim_text;
    link.of = w;
    py_here(&link.path.file, &link.path.line);
    if (lasts) l = py_long_begin();
    tn_path_push(&link.path);
    int64_t mark = tn_scope_begin();
    bool mode = tn_set_grad_mode(false);
    ok = (w->captured ? w->r->row->captured : w->r->row->step)(&w->s);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tn_path_pop(&link.path);
    if (lasts) py_long_end(l);
    return ok;
}

static bool py_optim_go(py_optim_step *w) {
    if (!w->s.n) return true;
    if (w->moves && tn_is_capturing()) {
        PyErr_SetString(PyExc_RuntimeError, "a first step makes the optimizer's state, which each "
                                            "replay would do: step once before the capture");
        return false;
    }
    while (!py_optim_run(w))
        if (!py_stopped()) return py_raise(), false;
    for (int64_t i = 0; i < w->s.n; i++)
        for (int j = 0; j < w->r->nscalars; j++) {
            if (!w->scalar[j][i]) continue;
            tn_tensor *t = py_of(w->scalar[j][i]);
            *(float *)tn_data(t) = (float)w->value[j][i];
            tn_touch(t);
        }
    return true;
}

/* _optim_step(number, param_groups, state, captured): groups that are captured, or none that is */
static PyObject *py_optim_do(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    py_optim_step w;
    (void)self;
    if (n != 4 || !PyLong_Check(args[0]) || !PyList_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError,
                            "param_groups must be a list of dicts, and state a dict of dicts");
    memset(&w, 0, sizeof w);
    w.r = py_optim_row_at(PyLong_AsLong(args[0]));
    if (!w.r) return NULL;
    w.groups = args[1];
    w.state = args[2];
    w.ngroups = PyList_Size(w.groups);
    w.captured = args[3] == Py_True && w.r->row->captured;
    if (!py_optim_lay(&w)) return NULL;
    const int turn = py_lend();
    bool ok = py_optim_collect(&w) && py_optim_go(&w);
    if (!ok) py_optim_undo(&w);
    py_optim_end(&w);
    return py_lent(turn, ok ? Py_NewRef(Py_None) : NULL);
}

/* --- gradients -------------------------------------------------------------------------------- */

/* A gradient of zeros instead, cut off from its graph; in place where it has none. */
static bool py_optim_zero(tn_tensor *t) {
    tn_tensor *grad = tn_grad_of(t);
    if (!tn_needs_grad(grad)) return tnp_zero_(grad) != NULL;
    tn_tensor *cut = tnp_detach(grad);
    bool ok = cut && tnp_zero_(cut) && tnp_set_grad(t, cut);
    tn_free(cut);
    return ok;
}

/* _optim_zero_grad(params, set_to_none) */
static PyObject *py_optim_zero_grad(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (n != 2 || !PyList_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "'params' of a parameter group must be a list");
    int none = PyObject_IsTrue(args[1]);
    if (none < 0) return NULL;
    bool mode = tn_set_grad_mode(false), ok = true;
    for (Py_ssize_t i = 0; ok && i < PyList_Size(args[0]); i++) {
        PyObject *o = Py_NewRef(PyList_GetItem(args[0], i));
        if (!py_is_tensor(o)) {
            PyErr_Format(PyExc_TypeError, "optimizer can only optimize Tensors, not %R", o);
            ok = false;
        } else if (tn_grad_of(py_of(o))) {
            ok = none ? tnp_set_grad(py_of(o), NULL) : py_optim_zero(py_of(o));
            if (!ok) py_raise();
        }
        Py_DECREF(o);
    }
    tn_set_grad_mode(mode);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* _optim_closure(closure): its value, called while calls are recorded. */
static PyObject *py_optim_closure(PyObject *self, PyObject *closure) {
    (void)self;
    bool mode = tn_set_grad_mode(true);
    PyObject *loss = PyObject_CallNoArgs(closure);
    tn_set_grad_mode(mode);
    return loss;
}

#define PY_OPTIM_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_optim_functions[] = {
    {"_optimizers", py_optim_list, METH_NOARGS, NULL},
    {"_optim_check", py_optim_check, METH_VARARGS, NULL},
    {"_optim_step", PY_OPTIM_FAST(py_optim_do), METH_FASTCALL, NULL},
    {"_optim_zero_grad", PY_OPTIM_FAST(py_optim_zero_grad), METH_FASTCALL, NULL},
    {"_optim_closure", py_optim_closure, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_optim_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_optim_functions);
}

/* src/py/loader.c - what torch.utils.data needs of C: seeds as torch draws them, rows gathered into a batch */
/* loader.c - what torch.utils.data needs of C: seeds as torch draws them, rows gathered into a
 * batch. Order and workers are Python's (tensorh/utils/data). */

/* _draw(generator): int64 random_() of torch, 63 bits; None: the default generator. */
static PyObject *py_loader_draw(PyObject *self, PyObject *o) {
    (void)self;
    if (o != Py_None && Py_TYPE(o) != py.generator)
        return PyErr_Format(PyExc_TypeError, "expected a torch.Generator, got %R", Py_TYPE(o));
    tn_generator *g = o == Py_None ? tn_default_generator() : ((py_generator *)o)->generator;
    if (!g) return py_raise();
    py_draw_begin();
    uint64_t drawn = tn_random64(g);
    py_draw_end();
    return PyLong_FromLongLong((long long)(drawn & INT64_MAX));
}

/* The `count` numbers of a list as rows of a tensor with `size` rows; negative ones count from
 * the end. */
static bool py_loader_rows(PyObject *list, int64_t count, int64_t size, int64_t *to) {
    for (Py_ssize_t i = 0; i < count && i < PyList_Size(list); i++) {
        PyObject *o = Py_XNewRef(PyList_GetItem(list, i)); /* __index__ may change the list */
        int64_t row;
        bool ok = o && py_to_index(o, &row);
        if (o && !ok && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "expected an index, got %R", o);
        Py_XDECREF(o);
        if (!ok) return false;
        if (row < -size || row >= size) {
            PyErr_Format(PyExc_IndexError,
                         "index %lld is out of bounds for dimension 0 with size %lld",
                         (long long)row, (long long)size);
            return false;
        }
        to[i] = row < 0 ? row + size : row;
    }
    return true;
}

/* Rows of t by number. Large batches release the GIL. */
static tn_tensor *py_loader_select(tn_tensor *t, tn_tensor *rows) {
    tn_tensor *r;
    /* elements of the result, compared without their product */
    bool lasts =
        tn_numel(rows) && tn_size(t, 0) && tn_numel(t) / tn_size(t, 0) >= PY_LONG / tn_numel(rows);
    do {
        if (lasts) {
            py_long l = py_long_begin();
            r = tnp_index_select(t, 0, rows);
            py_long_end(l);
        } else {
            r = tnp_index_select(t, 0, rows);
        }
    } while (!r && py_stopped());
    return r;
}

/* _gather(tensors, rows): a list with the rows of each tensor, recorded by no tape. */
static PyObject *py_loader_gather(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (n != 2 || !PyTuple_Check(args[0]) || !PyList_Check(args[1]) || !PyTuple_Size(args[0]))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of tensors and a list of rows");
    /* the list may be changed by an __index__: compared again below */
    int64_t count = PyList_Size(args[1]);
    tn_tensor *rows = tnp_empty(tn_ints_of(&count, 1), TN_I64, TN_CPU);
    if (!rows) return py_raise();
    PyObject *all = PyList_New(0), *first = PyTuple_GetItem(args[0], 0);
    bool ok = all && py_is_tensor(first) && tn_ndim(py_of(first)) &&
              py_loader_rows(args[1], count, tn_size(py_of(first), 0), (int64_t *)tn_data(rows)) &&
              PyList_Size(args[1]) == count;
    bool mode = tn_set_grad_mode(false);
    const int turn = py_lend(); /* another thread may run */
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(args[0]); i++) {
        PyObject *o = PyTuple_GetItem(args[0], i), *one = NULL;
        if (py_is_tensor(o)) {
            tn_tensor *r = py_loader_select(py_of(o), rows);
            one = r ? py_wrap(tn_take(r)) : py_raise();
        }
        ok = one && !PyList_Append(all, one);
        Py_XDECREF(one);
    }
    py_lent(turn, NULL);
    tn_set_grad_mode(mode);
    tn_free(rows);
    if (ok) return all;
    Py_XDECREF(all);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected tensors with rows");
    return NULL;
}

static PyMethodDef py_loader_functions[] = {
    {"_draw", py_loader_draw, METH_O, NULL},
    {"_gather", (PyCFunction)(void *)py_loader_gather, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_loader_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_loader_functions);
}

/* src/py/ranks.c - groups of ranks and models that several ranks train, for tensorh/distributed.py and tensorh/nn/parallel.py */
/* ranks.c - groups of ranks and models that several ranks train, for tensorh/distributed.py and
 * tensorh/nn/parallel.py. A group is a capsule, which leaves it when it goes. All that waits for
 * other ranks runs without the GIL, as they may be threads of this interpreter. */

static const char ranks_group[] = "tensorh.group_of_ranks", ranks_model[] = "tensorh.parallel",
                  ranks_gone[] = "tensorh.gone";

static void ranks_end_group(PyObject *o) {
    tn_group_free((tn_group *)PyCapsule_GetPointer(o, ranks_group));
}
static void ranks_end_model(PyObject *o) {
    tn_parallel_free((tn_parallel *)PyCapsule_GetPointer(o, ranks_model));
    py.parallel--;
}

/* A group as a capsule, which owns it; an error of the library as an exception. */
static PyObject *ranks_wrap(tn_group *g) {
    PyObject *o = g ? PyCapsule_New(g, ranks_group, ranks_end_group) : py_raise();
    if (g && !o) tn_group_free(g);
    return o;
}
/* None: NULL, one rank. False with an exception. */
static bool ranks_of(PyObject *o, tn_group **to) {
    *to = NULL;
    if (o == Py_None) return true;
    *to = (tn_group *)PyCapsule_GetPointer(o, ranks_group);
    if (*to) return true;
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, "the process group was destroyed, or is none");
    return false;
}

/* _ranks_threads(n): the meeting place of n threads. */
static PyObject *ranks_threads(PyObject *self, PyObject *o) {
    const long n = PyLong_AsLong(o);
    (void)self;
    if (n == -1 && PyErr_Occurred()) return NULL;
    return ranks_wrap(tn_group_threads_at(NULL, 0, n > INT32_MAX || n < 0 ? 0 : (int32_t)n));
}

/* _ranks_join(place, rank) */
static PyObject *ranks_join(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *place;
    int rank;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &o, &rank) || !ranks_of(o, &place)) return NULL;
    return ranks_wrap(tn_group_join_at(NULL, 0, place, rank));
}

/* _ranks_use(group): the calling thread's group from here on; None: it is alone. */
static PyObject *ranks_use(PyObject *self, PyObject *o) {
    tn_group *g;
    (void)self;
    if (!ranks_of(o, &g)) return NULL;
    tn_group_use(g);
    if (!tn_ok()) return py_raise();
    Py_RETURN_NONE;
}

/* _ranks_split(group, color): None for a negative color. */
static PyObject *ranks_split(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *g, *made;
    int color;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &o, &color) || !ranks_of(o, &g)) return NULL;
    py_long l = py_long_begin();
    made = tn_group_split_at(NULL, 0, g, color);
    py_long_end(l);
    if (!made && tn_ok()) Py_RETURN_NONE;
    return ranks_wrap(made);
}

/* _ranks_limit(group, seconds) */
static PyObject *ranks_limit(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *g;
    double seconds;
    (void)self;
    if (!PyArg_ParseTuple(args, "Od", &o, &seconds) || !ranks_of(o, &g)) return NULL;
    if (!tn_group_set_limit_at(NULL, 0, g, seconds)) return py_raise();
    Py_RETURN_NONE;
}

/* _ranks_leave(group): now, not when the capsule goes. */
static PyObject *ranks_leave(PyObject *self, PyObject *o) {
    tn_group *g;
    (void)self;
    if (!ranks_of(o, &g)) return NULL;
    if (g && (PyCapsule_SetDestructor(o, NULL) || PyCapsule_SetName(o, ranks_gone))) return NULL;
    tn_group_free(g);
    Py_RETURN_NONE;
}

/* The tensors of a tuple, borrowed, in memory of py_get; NULL with an exception. */
static tn_tensor **ranks_tensors(PyObject *tuple) {
    const Py_ssize_t n = PyTuple_Size(tuple);
    tn_tensor **t = (tn_tensor **)py_get((size_t)n + 1, sizeof *t);
    if (!t) return (tn_tensor **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(tuple, i);
        if (!py_is_tensor(o)) {
            py_give(t);
            PyErr_SetString(PyExc_TypeError, "expected tensors");
            return NULL;
        }
        t[i] = py_of(o);
    }
    return t;
}

/* _parallel(parameters, buffers, group, bucket_bytes): their model, a capsule. */
static PyObject *ranks_parallel(PyObject *self, PyObject *args) {
    PyObject *parameters, *buffers, *group, *o = NULL;
    tn_data_parallel_args a;
    tn_tensor **p, **b;
    tn_parallel *made = NULL;
    long long bytes;
    (void)self;
    memset(&a, 0, sizeof a);
    if (!PyArg_ParseTuple(args, "O!O!OL", &PyTuple_Type, &parameters, &PyTuple_Type, &buffers,
                          &group, &bytes) ||
        !ranks_of(group, &a.group))
        return NULL;
    p = ranks_tensors(parameters);
    b = p ? ranks_tensors(buffers) : NULL;
    if (b) {
        a.parameters = tn_tensors_of(p, PyTuple_Size(parameters));
        a.buffers = tn_tensors_of(b, PyTuple_Size(buffers));
        a.bucket_bytes = bytes;
        const int turn = py_lend();
        py_long l = py_long_begin();
        made = tn_data_parallel_at(NULL, 0, &a);
        py_long_end(l);
        py_lent(turn, NULL);
        o = made ? PyCapsule_New(made, ranks_model, ranks_end_model) : py_raise();
        if (o) py.parallel++;
        if (made && !o) tn_parallel_free(made);
    }
    py_give(b);
    py_give(p);
    return o;
}

/* _parallel_sync(model, whether): what it was before. */
static PyObject *ranks_sync(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_parallel *p;
    int sync;
    (void)self;
    if (!PyArg_ParseTuple(args, "Op", &o, &sync)) return NULL;
    p = (tn_parallel *)PyCapsule_GetPointer(o, ranks_model);
    return p ? PyBool_FromLong(tn_parallel_set_sync(p, sync != 0)) : NULL;
}

/* _parallel_share(model): rank 0's buffers to all. */
static PyObject *ranks_share(PyObject *self, PyObject *o) {
    tn_parallel *p = (tn_parallel *)PyCapsule_GetPointer(o, ranks_model);
    bool ok;
    (void)self;
    if (!p) return NULL;
    py_long l = py_long_begin();
    ok = tn_parallel_share_at(NULL, 0, p);
    py_long_end(l);
    if (!ok) return py_raise();
    Py_RETURN_NONE;
}

static PyMethodDef ranks_functions[] = {{"_ranks_threads", ranks_threads, METH_O, NULL},
                                        {"_ranks_join", ranks_join, METH_VARARGS, NULL},
                                        {"_ranks_use", ranks_use, METH_O, NULL},
                                        {"_ranks_split", ranks_split, METH_VARARGS, NULL},
                                        {"_ranks_limit", ranks_limit, METH_VARARGS, NULL},
                                        {"_ranks_leave", ranks_leave, METH_O, NULL},
                                        {"_parallel", ranks_parallel, METH_VARARGS, NULL},
                                        {"_parallel_sync", ranks_sync, METH_VARARGS, NULL},
                                        {"_parallel_share", ranks_share, METH_O, NULL},
                                        {NULL, NULL, 0, NULL}};

PY_PRIV int py_ranks_begin(PyObject *module) {
    return PyModule_AddFunctions(module, ranks_functions);
}

/* src/py/files.c - memory of tensors as bytes for readers and writers in Python; safetensors and NumPy's files */
/* files.c - memory of tensors as bytes for readers and writers in Python; safetensors and NumPy's
 * files.
 *
 * A file's tensors are read straight into the memory of new tensors, and written straight from it:
 * no copy lies in between. */

/* --- memory ----------------------------------------------------------------------------------- */

/* _storage_bytes(t): uint8 over the storage of t from its begin to t's last element; it keeps t. */
static PyObject *py_files_bytes(PyObject *self, PyObject *o) {
    (void)self;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
    tn_tensor *t = py_of(o), *bytes;
    int64_t end = tn_numel(t) ? tn_storage_offset(t) + 1 : 0, each = tn_dtype_bytes(tn_dtype_of(t));
    static char none[64];
    tn_wrap_options options;
    if (!py_on_cpu(t)) return PyErr_Format(PyExc_RuntimeError, "expected a tensor in CPU memory");
    /* strides are not negative, so the last element is the farthest */
    for (int i = 0; end && i < tn_ndim(t); i++) end += (tn_size(t, i) - 1) * tn_stride(t, i);
    memset(&options, 0, sizeof options);
    options.release = py_own_tensor_end;
    if (!(options.user = tn_take(tnp_detach(t)))) return py_raise(); /* t.data may be replaced */
    char *at = end ? (char *)tn_data(t) - tn_storage_offset(t) * each : none;
    end *= each;
    bytes = tn_wrap_at(NULL, 0, at, tn_ints_of(&end, 1), TN_U8, &options);
    if (bytes) return py_wrap(tn_take(bytes));
    tn_release((tn_tensor *)options.user);
    return py_raise();
}

/* _from_memory(buffer, dtype, from, numel): a tensor over a part of a buffer, which it keeps. None
 * where the part is not aligned for the dtype. */
static PyObject *py_files_from_memory(PyObject *self, PyObject *args) {
    PyObject *o, *dtype_of;
    long long from, numel;
    tn_dtype dtype;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOLL", &o, &dtype_of, &from, &numel)) return NULL;
    if (!py_to_dtype(dtype_of, &dtype))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "no dtype");
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, v, PyBUF_SIMPLE)) return py_give(v), NULL;
    int64_t each = tn_dtype_bytes(dtype), size = numel;
    tn_wrap_options options;
    PyObject *r = NULL;
    memset(&options, 0, sizeof options);
    options.release = py_own_buffer_end;
    options.user = v;
    options.read_only = v->readonly != 0;
    /* by division: a product could wrap */
    if (from < 0 || numel < 0 || from > v->len || numel > (v->len - from) / each) {
        PyErr_Format(PyExc_ValueError, "the range is outside the buffer");
    } else if (((uintptr_t)v->buf + (uintptr_t)from) % (uintptr_t)each) {
        /* the caller copies then */
        r = Py_NewRef(Py_None);
    } else {
        tn_tensor *t =
            tn_wrap_at(NULL, 0, (char *)v->buf + from, tn_ints_of(&size, 1), dtype, &options);
        if (t) return py_wrap(tn_take(t));
        py_raise();
    }
    PyBuffer_Release(v);
    py_give(v);
    return r;
}

/* _crc32c(buffer): the checksum CRC-32C of its bytes (Castagnoli's polynomial, reflected). */
static PyObject *py_files_crc32c(PyObject *self, PyObject *o) {
    Py_buffer v;
    uint32_t table[256], crc = 0xffffffffu;
    (void)self;
    if (PyObject_GetBuffer(o, &v, PyBUF_SIMPLE)) return NULL;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0x82f63b78u : 0u);
    }
    const unsigned char *at = (const unsigned char *)v.buf;
    for (Py_ssize_t i = 0; i < v.len; i++) crc = (crc >> 8) ^ table[(crc ^ at[i]) & 0xff];
    PyBuffer_Release(&v);
    return PyLong_FromUnsignedLong(crc ^ 0xffffffffu);
}

/* --- safetensors ------------------------------------------------------------------------------ */

/* What is written: names and notes are Python's texts, kept with their list. */
typedef struct py_files_save {
    tn_named *at;
    tn_note *note;
    Py_ssize_t n, nnotes;
    PyObject *kept;
} py_files_save;

/* The UTF-8 of a text, which `kept` keeps. */
static const char *py_files_text(PyObject *kept, PyObject *o, const char *what) {
    Py_ssize_t n = 0;
    const char *text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &n) : NULL;
    if (!text && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: expected str", what);
    if (text && strlen(text) != (size_t)n) {
        PyErr_Format(PyExc_ValueError, "%s: embedded null character", what);
        return NULL;
    }
    return text && !PyList_Append(kept, o) ? text : NULL;
}

/* Fills the lists of names and notes; false with an exception, and what was held so far is
 * counted in s->n. */
static bool py_files_save_fill(py_files_save *s, PyObject *tensors, PyObject *notes) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    /* not more than there was room for: __hash__ and __eq__ of keys are Python code */
    while (s->n < PyDict_Size(tensors) && PyDict_Next(tensors, &at, &key, &value)) {
        if (!py_is_tensor(value))
            return PyErr_Format(PyExc_ValueError,
                                "Key `%S` is invalid, expected torch.Tensor but "
                                "received %R",
                                key, Py_TYPE(value)),
                   false;
        if (!(s->at[s->n].name = py_files_text(s->kept, key, "a tensor's name"))) return false;
        /* held, as the GIL is released while it is written */
        s->at[s->n++].tensor = tn_retain(py_of(value));
    }
    for (at = 0; notes && PyDict_Next(notes, &at, &key, &value); s->nnotes++) {
        s->note[s->nnotes].key = py_files_text(s->kept, key, "metadata");
        if (!s->note[s->nnotes].key) return false;
        s->note[s->nnotes].value = py_files_text(s->kept, value, "metadata");
        if (!s->note[s->nnotes].value) return false;
    }
    return true;
}

/* What is to be written of dictionaries, metadata NULL or one; false with an exception. In any case
 * it is given back by py_files_save_end. */
static bool py_files_save_begin(py_files_save *s, PyObject *tensors, PyObject *notes) {
    memset(s, 0, sizeof *s);
    if (notes && !PyDict_Check(notes))
        return PyErr_Format(PyExc_TypeError, "metadata: expected a dict of str"), false;
    s->at = (tn_named *)py_get((size_t)PyDict_Size(tensors) + 1, sizeof *s->at);
    s->note = (tn_note *)py_get(notes ? (size_t)PyDict_Size(notes) + 1 : 1, sizeof *s->note);
    s->kept = PyList_New(0);
    if (s->at && s->note && s->kept) return py_files_save_fill(s, tensors, notes);
    return PyErr_NoMemory(), false;
}
static void py_files_save_end(py_files_save *s) {
    for (Py_ssize_t i = 0; i < s->n; i++) tn_release(s->at[i].tensor);
    py_give(s->at);
    py_give(s->note);
    Py_XDECREF(s->kept);
}

/* _safetensors_save(path, tensors, notes) */
static PyObject *py_files_safe_save(PyObject *self, PyObject *args) {
    PyObject *tensors, *notes, *path;
    py_files_save s;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&O!O", PyUnicode_FSConverter, &path, &PyDict_Type, &tensors,
                          &notes))
        return NULL;
    bool ok = py_files_save_begin(&s, tensors, notes == Py_None ? NULL : notes);
    if (ok) {
        do {
            py_long l = py_long_begin();
            /* a bytes object, which keeps the text */
            ok = tn_safetensors_save_at(NULL, 0, PyBytes_AsString(path), s.at, s.n, s.note,
                                        s.nnotes);
            py_long_end(l);
        } while (!ok && py_stopped());
        if (!ok) py_raise();
    }
    py_files_save_end(&s);
    Py_DECREF(path);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* {name: tensor} of a list, which is freed; after an error its exception. */
static PyObject *py_files_dict(tn_named_list list) {
    PyObject *all = list.n < 0 ? py_raise() : PyDict_New();
    for (int64_t i = 0; all && i < list.n; i++) {
        /* the list has a count, the wrapper gets its own */
        PyObject *one = py_wrap_borrowed(list.at[i].tensor);
        if (!one || PyDict_SetItemString(all, list.at[i].name, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    tn_named_free(list);
    return all;
}

static PyObject *py_files_load(PyObject *o, tn_named_list (*load)(const char *file, int line,
                                                                  const char *path)) {
    PyObject *path;
    tn_named_list list;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    do {
        py_long l = py_long_begin();
        list = load(NULL, 0, PyBytes_AsString(path));
        py_long_end(l);
    } while (list.n < 0 && py_stopped());
    Py_DECREF(path);
    return py_files_dict(list);
}

/* _safetensors_load(path): {name: tensor} in the file's order. */
static PyObject *py_files_safe_load(PyObject *self, PyObject *o) {
    (void)self;
    return py_files_load(o, tn_safetensors_load_at);
}
/* _safetensors_load_index(path): {name: tensor}, file by file. */
static PyObject *py_files_safe_load_index(PyObject *self, PyObject *o) {
    (void)self;
    return py_files_load(o, tn_safetensors_load_index_at);
}

/* --- an open file ----------------------------------------------------------------------------- */

static void py_files_close(PyObject *capsule) {
    tn_safetensors_close((tn_safetensors *)PyCapsule_GetPointer(capsule, "tensorh.safetensors"));
}

/* _safetensors_open(path): a capsule, which closes the file when it goes. */
static PyObject *py_files_safe_open(PyObject *self, PyObject *o) {
    PyObject *path, *capsule;
    (void)self;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    tn_safetensors *f = tn_safetensors_open_at(NULL, 0, PyBytes_AsString(path));
    Py_DECREF(path);
    if (!f) return py_raise();
    capsule = PyCapsule_New(f, "tensorh.safetensors", py_files_close);
    if (!capsule) tn_safetensors_close(f);
    return capsule;
}

/* _safetensors_names(file) */
static PyObject *py_files_safe_names(PyObject *self, PyObject *o) {
    const tn_safetensors *f =
        (const tn_safetensors *)PyCapsule_GetPointer(o, "tensorh.safetensors");
    PyObject *all = f ? PyList_New(0) : NULL;
    (void)self;
    for (int64_t i = 0; all && i < tn_safetensors_count(f); i++) {
        PyObject *name = PyUnicode_FromString(tn_safetensors_name(f, i));
        if (!name || PyList_Append(all, name)) Py_CLEAR(all);
        Py_XDECREF(name);
    }
    return all;
}

/* _safetensors_get(file, name): a new tensor. */
static PyObject *py_files_safe_get(PyObject *self, PyObject *args) {
    PyObject *capsule;
    const char *name;
    tn_tensor *t;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &name)) return NULL;
    tn_safetensors *f = (tn_safetensors *)PyCapsule_GetPointer(capsule, "tensorh.safetensors");
    if (!f) return NULL;
    /* stopped by Ctrl-C that was somebody else's: made again */
    do t = tn_safetensors_get_at(NULL, 0, f, name);
    while (!t && py_stopped());
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* --- NumPy's files ---------------------------------------------------------------------------- */

/* A file to read: bytes in memory, or a path. */
typedef struct py_files_source {
    PyObject *path; /* bytes; NULL: a buffer */
    Py_buffer buffer;
} py_files_source;

static bool py_files_source_begin(py_files_source *s, PyObject *o) {
    s->path = NULL;
    if (PyObject_CheckBuffer(o)) return PyObject_GetBuffer(o, &s->buffer, PyBUF_SIMPLE) == 0;
    return PyUnicode_FSConverter(o, &s->path) != 0;
}
static void py_files_source_end(py_files_source *s) {
    if (s->path)
        Py_DECREF(s->path);
    else
        PyBuffer_Release(&s->buffer);
}

/* _npy_load(path or buffer): a tensor. */
static PyObject *py_files_npy_load(PyObject *self, PyObject *o) {
    py_files_source s;
    tn_tensor *t;
    (void)self;
    if (!py_files_source_begin(&s, o)) return NULL;
    do {
        py_long l = py_long_begin();
        t = s.path ? tn_load_npy_at(NULL, 0, PyBytes_AsString(s.path))
                   : tn_load_npy_memory_at(NULL, 0, s.buffer.buf, (size_t)s.buffer.len);
        py_long_end(l);
    } while (!t && py_stopped());
    py_files_source_end(&s);
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* _npz_load(path or buffer): {name: tensor} in the file's order. */
static PyObject *py_files_npz_load(PyObject *self, PyObject *o) {
    py_files_source s;
    tn_named_list list;
    (void)self;
    if (!py_files_source_begin(&s, o)) return NULL;
    do {
        py_long l = py_long_begin();
        list = s.path ? tn_load_npz_at(NULL, 0, PyBytes_AsString(s.path))
                      : tn_load_npz_memory_at(NULL, 0, s.buffer.buf, (size_t)s.buffer.len);
        py_long_end(l);
    } while (list.n < 0 && py_stopped());
    py_files_source_end(&s);
    return py_files_dict(list);
}

/* What a saving function returns: None where ok, bytes where it wrote memory. */
static PyObject *py_files_saved(bool ok, tn_bytes bytes) {
    PyObject *r = NULL;
    if (bytes.at)
        r = PyBytes_FromStringAndSize((const char *)bytes.at, (Py_ssize_t)bytes.n);
    else if (ok)
        r = Py_NewRef(Py_None);
    else
        py_raise();
    tn_bytes_free(bytes);
    return r;
}

/* _npy_save(path or None, tensor): None; bytes without a path. */
static PyObject *py_files_npy_save(PyObject *self, PyObject *args) {
    PyObject *to, *o, *path = NULL;
    tn_bytes bytes = {NULL, 0};
    bool ok = false;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &to, &o)) return NULL;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
    if (to != Py_None && !PyUnicode_FSConverter(to, &path)) return NULL;
    /* held, as the GIL is released while it is written */
    tn_tensor *t = tn_retain(py_of(o));
    do {
        py_long l = py_long_begin();
        if (path)
            ok = tn_save_npy_at(NULL, 0, PyBytes_AsString(path), t);
        else
            bytes = tn_save_npy_memory_at(NULL, 0, t);
        py_long_end(l);
    } while (!ok && !bytes.at && py_stopped());
    tn_release(t);
    Py_XDECREF(path);
    return py_files_saved(ok, bytes);
}

/* _npz_save(path or None, {name: tensor}): None; bytes without a path. */
static PyObject *py_files_npz_save(PyObject *self, PyObject *args) {
    PyObject *to, *tensors, *path = NULL;
    tn_bytes bytes = {NULL, 0};
    bool ok = false;
    py_files_save s;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!", &to, &PyDict_Type, &tensors)) return NULL;
    if (to != Py_None && !PyUnicode_FSConverter(to, &path)) return NULL;
    const bool filled = py_files_save_begin(&s, tensors, NULL);
    do {
        if (!filled) break;
        py_long l = py_long_begin();
        if (path)
            ok = tn_save_npz_at(NULL, 0, PyBytes_AsString(path), s.at, s.n);
        else
            bytes = tn_save_npz_memory_at(NULL, 0, s.at, s.n);
        py_long_end(l);
    } while (!ok && !bytes.at && py_stopped());
    py_files_save_end(&s);
    Py_XDECREF(path);
    return filled ? py_files_saved(ok, bytes) : NULL;
}

/* --- tables as text --------------------------------------------------------------------------- */

/* The names of a list, which is freed. */
static PyObject *py_files_names(tn_named_list list) {
    PyObject *all = PyList_New(0);
    for (int64_t i = 0; all && i < list.n; i++) {
        PyObject *name = PyUnicode_FromString(list.at[i].name);
        if (!name || PyList_Append(all, name)) Py_CLEAR(all);
        Py_XDECREF(name);
    }
    tn_named_free(list);
    return all;
}

/* _csv_load(path, delimiter, header, dtype or None): (tensor, names of a header). */
static PyObject *py_files_csv_load(PyObject *self, PyObject *args) {
    PyObject *path, *dtype, *t_of, *names, *pair = NULL;
    tn_named_list list = {NULL, 0, 0, false};
    tn_csv_args a;
    tn_tensor *t;
    int delimiter, header;
    (void)self;
    memset(&a, 0, sizeof a);
    if (!PyArg_ParseTuple(args, "O&CiO", PyUnicode_FSConverter, &path, &delimiter, &header, &dtype))
        return NULL;
    if (delimiter < 1 || delimiter > 127)
        PyErr_Format(PyExc_ValueError, "delimiter: %c is not of ASCII", delimiter);
    else if (dtype != Py_None && !py_to_dtype(dtype, &a.dtype))
        PyErr_Format(PyExc_TypeError, "dtype: expected a dtype");
    if (PyErr_Occurred()) {
        Py_DECREF(path);
        return NULL;
    }
    a.path = PyBytes_AsString(path);
    a.delimiter = (char)delimiter;
    a.header = (tn_csv_header)header;
    a.columns = &list;
    do {
        py_long l = py_long_begin();
        t = tn_load_csv_at(NULL, 0, &a);
        py_long_end(l);
    } while (!t && py_stopped());
    Py_DECREF(path);
    if (!t) return py_raise();
    t_of = py_wrap(tn_take(t));
    names = py_files_names(list);
    if (t_of && names) pair = PyTuple_Pack(2, t_of, names);
    Py_XDECREF(t_of);
    Py_XDECREF(names);
    return pair;
}

/* --- a profile -------------------------------------------------------------------------------- */

/* _profile_begin(): calls are recorded from now on. */
static PyObject *py_files_profile_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return tn_profile_begin_at(NULL, 0) ? Py_NewRef(Py_None) : py_raise();
}

/* _profile_end(path): what was recorded, as a Chrome trace. */
static PyObject *py_files_profile_end(PyObject *self, PyObject *o) {
    PyObject *path;
    (void)self;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    bool ok = tn_profile_end_at(NULL, 0, PyBytes_AsString(path));
    Py_DECREF(path);
    return ok ? Py_NewRef(Py_None) : py_raise();
}

static PyMethodDef py_files_functions[] = {
    {"_profile_begin", py_files_profile_begin, METH_NOARGS, NULL},
    {"_profile_end", py_files_profile_end, METH_O, NULL},
    {"_crc32c", py_files_crc32c, METH_O, NULL},
    {"_storage_bytes", py_files_bytes, METH_O, NULL},
    {"_from_memory", py_files_from_memory, METH_VARARGS, NULL},
    {"_safetensors_save", py_files_safe_save, METH_VARARGS, NULL},
    {"_safetensors_load", py_files_safe_load, METH_O, NULL},
    {"_safetensors_load_index", py_files_safe_load_index, METH_O, NULL},
    {"_safetensors_open", py_files_safe_open, METH_O, NULL},
    {"_safetensors_names", py_files_safe_names, METH_O, NULL},
    {"_csv_load", py_files_csv_load, METH_VARARGS, NULL},
    {"_npy_load", py_files_npy_load, METH_O, NULL},
    {"_npy_save", py_files_npy_save, METH_VARARGS, NULL},
    {"_npz_load", py_files_npz_load, METH_O, NULL},
    {"_npz_save", py_files_npz_save, METH_VARARGS, NULL},
    {"_safetensors_get", py_files_safe_get, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_files_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_files_functions);
}

/* src/py/saved.c - hooks of what calls keep for their gradients, and what a grad_fn keeps, as objects */
/* saved.c - hooks of what calls keep for their gradients, and what a grad_fn keeps, as objects. */

/* --- hooks ------------------------------------------------------------------------------------ */

/* A pair of Python functions, which the tape owns. */
static void *py_saved_pack(tn_tensor *t, void *user) {
    const py_inside inside = py_inside_begin();
    PyObject *seen = py_wrap_borrowed(t);
    PyObject *r =
        seen ? PyObject_CallFunctionObjArgs(PyTuple_GetItem((PyObject *)user, 0), seen, NULL)
             : NULL;
    /* the exception stays set; the library's error only ends the call (py_raise) */
    if (!r) tn_error_set(TN_INVALID, NULL, 0, "a pack hook has failed");
    Py_XDECREF(seen);
    py_inside_end(inside);
    return r;
}

static tn_tensor *py_saved_unpack(void *value, void *user) {
    const py_inside inside = py_inside_begin();
    PyObject *r =
        PyObject_CallFunctionObjArgs(PyTuple_GetItem((PyObject *)user, 1), (PyObject *)value, NULL);
    tn_tensor *t = NULL;
    if (r && py_is_tensor(r))
        t = tn_lend(tn_retain(py_of(r)));
    else if (r)
        PyErr_Format(PyExc_TypeError,
                     "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                     "type %R",
                     Py_TYPE(r));
    if (!t) tn_error_set(TN_INVALID, NULL, 0, "an unpack hook has failed");
    Py_XDECREF(r);
    py_inside_end(inside);
    return t;
}

/* A packed value, or the pair. */
static void py_saved_drop(void *value, void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    (void)user;
    Py_DECREF((PyObject *)value);
    PyGILState_Release(state);
}
static void py_saved_release(void *user) { py_saved_drop(user, NULL); }

/* The hooks of two functions, with a new count of their pair; false with an exception. */
static bool py_saved_hooks_of(PyObject *const *args, Py_ssize_t n, tn_saved_hooks *h) {
    if (n != 2 || !PyCallable_Check(args[0]) || !PyCallable_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError,
                        "incompatible function arguments: expected two functions, pack_hook and "
                        "unpack_hook");
        return false;
    }
    h->pack = py_saved_pack;
    h->unpack = py_saved_unpack;
    h->drop = py_saved_drop;
    h->release = py_saved_release;
    return (h->user = PyTuple_Pack(2, args[0], args[1])) != NULL;
}

/* _push_saved_hooks(pack, unpack), until _pop_saved_hooks(). */
static PyObject *py_saved_push(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    tn_saved_hooks h;
    (void)self;
    if (!py_saved_hooks_of(args, n, &h)) return NULL;
    if (tn_saved_hooks_push_at(NULL, 0, &h)) Py_RETURN_NONE;
    return py_raise();
}
static PyObject *py_saved_pop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(tn_saved_hooks_pop());
}

/* The error of torch for what was freed; NULL. */
PY_PRIV PyObject *py_saved_gone(void) {
    PyErr_SetString(PyExc_RuntimeError, PY_TWICE);
    return NULL;
}

/* --- what a call keeps ------------------------------------------------------------------------ */

/* torch's SavedTensor: what a call keeps of the argument or result of a name. */
typedef struct py_saved {
    PyObject_HEAD tn_history *history; /* counted */
    char name[64];
} py_saved;

PY_PRIV PyObject *py_saved_of(tn_history *h, const char *name) {
    py_saved *s = (py_saved *)PyType_GenericAlloc(py.saved, 0);
    if (!s) return NULL;
    s->history = tn_history_hold(h);
    snprintf(s->name, sizeof s->name, "%s", name);
    return (PyObject *)s;
}

static PyObject *py_saved_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)type, (void)args, (void)kwargs;
    return PyErr_Format(PyExc_RuntimeError,
                        "Trying to create a SavedTensor object from Python is forbidden.");
}

static void py_saved_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    tn_history_free(((py_saved *)self)->history);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *py_saved_register(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    const py_saved *s = (py_saved *)self;
    tn_saved_hooks h;
    if (!py_saved_hooks_of(args, n, &h)) return NULL;
    if (tn_history_pack(s->history, s->name, &h)) Py_RETURN_NONE;
    return py_raise();
}

static PyMethodDef py_saved_methods[] = {
    {"register_hooks", (PyCFunction)(void *)py_saved_register, METH_FASTCALL,
     "register_hooks(pack_hook, unpack_hook)\n\nwhat is kept goes through these"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_saved_functions[] = {
    {"_push_saved_hooks", (PyCFunction)(void *)py_saved_push, METH_FASTCALL, NULL},
    {"_pop_saved_hooks", py_saved_pop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_saved_begin(PyObject *module) {
    PyType_Slot slots[] = {{Py_tp_new, (void *)py_saved_new},
                           {Py_tp_dealloc, (void *)py_saved_dealloc},
                           {Py_tp_methods, py_saved_methods},
                           {0, NULL}};
    py.saved = py_place_class(module, "_SavedTensor", "torch._C._autograd.SavedTensor",
                              sizeof(py_saved), 0, slots);
    return !py.saved ? -1 : PyModule_AddFunctions(module, py_saved_functions);
}

/* src/py/function.c - torch.autograd.Function: apply, ctx, and what lies between them and the tape */
/* function.c - torch.autograd.Function: apply, ctx, and what lies between them and the tape.
 *
 * ctx belongs to the tape while the call is recorded. Outputs that are tensors and not marked are
 * those that the tape knows; all others pass by it. */

enum { FUNCTION_OUTS = 128 }; /* differentiable outputs of a call */

/* Shape of an input or output, and who it is for the tape. */
typedef struct py_fact {
    int64_t size[TN_MAX_DIMS];
    int32_t ndim,
        number;     /* number: argument of an input; of an output its number on the tape, -1 */
    tn_dtype dtype; /* TN_NO_DTYPE: no tensor */
    tn_device_id device;
} py_fact;

typedef struct py_context {
    PyObject_HEAD PyObject *dict, *weak;
    struct py_apply *apply;          /* in progress */
    PyObject *cls, *name, *needs;    /* the Function, "MyFnBackward", needs_input_grad */
    PyObject *saved, *dirty, *fixed; /* as given by save_for_backward, mark_..: tuples or NULL */
    PyObject *places;                /* which of saved are tensors: all that is kept of it */
    tn_function_row row;
    tn_function *f;        /* while it is in progress or on the tape */
    tn_history *history;   /* not counted: it outlives f; NULL before the call has ended */
    py_fact *fact;         /* inputs, then outputs */
    uint64_t saves_output; /* bit i: saved tensor i < 64 is an output */
    int32_t nargs, nin, nout;
    bool materialize;
} py_context;

/* One apply, on the stack. */
typedef struct py_apply {
    py_context *ctx;
    PyObject *const *args;
    PyObject *result; /* of forward */
    tn_tensor *out[FUNCTION_OUTS];
} py_apply;

/* --- forward ---------------------------------------------------------------------------------- */

/* A new tuple of `first`, unless it is NULL, and n arguments. */
static PyObject *py_function_tuple(PyObject *first, PyObject *const *args, Py_ssize_t n) {
    Py_ssize_t k = first ? 1 : 0;
    PyObject *all = PyTuple_New(n + k);
    if (all && first) PyTuple_SetItem(all, 0, Py_NewRef(first));
    for (Py_ssize_t i = 0; all && i < n; i++) PyTuple_SetItem(all, i + k, Py_NewRef(args[i]));
    return all;
}

/* cls.name(*args), new. args may be NULL with an exception, which goes on. */
static PyObject *py_function_method(PyObject *cls, PyObject *name, PyObject *args) {
    PyObject *f = args ? PyObject_GetAttr(cls, name) : NULL;
    PyObject *r = f ? PyObject_Call(f, args, NULL) : NULL;
    Py_XDECREF(f);
    return r;
}

/* forward(ctx, ..), or forward(..) and then setup_context(ctx, (..), output). */
static PyObject *py_function_forward(py_context *ctx, PyObject *const *args) {
    /* _separate: whether the class has a setup_context; autograd/function.py sets it */
    PyObject *separate = PyObject_GetAttr(ctx->cls, py.separate);
    bool split = separate == Py_True;
    if (!separate) return NULL;
    Py_DECREF(separate);
    PyObject *all = py_function_tuple(split ? NULL : (PyObject *)ctx, args, ctx->nargs);
    PyObject *r = py_function_method(ctx->cls, py.forward, all), *more, *done;
    if (r && split) {
        more = PyTuple_Pack(3, (PyObject *)ctx, all, r);
        done = py_function_method(ctx->cls, py.setup_context, more);
        Py_XDECREF(more);
        if (!done) Py_CLEAR(r);
        Py_XDECREF(done);
    }
    Py_XDECREF(all);
    return r;
}

static Py_ssize_t py_function_count(PyObject *r) { return PyTuple_Check(r) ? PyTuple_Size(r) : 1; }
/* Output i of forward, borrowed: of the tuple, or the one thing it returned. */
static PyObject *py_function_at(PyObject *r, Py_ssize_t i) {
    return PyTuple_Check(r) ? PyTuple_GetItem(r, i) : r;
}
/* Whether a tuple, NULL for an empty one, holds this very object. */
static bool py_function_holds(PyObject *tuple, PyObject *o) {
    for (Py_ssize_t i = tuple ? PyTuple_Size(tuple) : 0; i--;)
        if (PyTuple_GetItem(tuple, i) == o) return true;
    return false;
}

/* Notes shape, dtype and device: backward needs them when the tensor may be gone. */
static void py_function_fact(py_fact *to, const tn_tensor *t, int number) {
    tn_ints shape = tn_shape(t);
    to->number = number;
    to->dtype = tn_dtype_of(t);
    to->device = tn_device_of(t);
    to->ndim = (int32_t)shape.n;
    memcpy(to->size, shape.at, (size_t)shape.n * sizeof *to->size);
}

/* Whether o is one of the arguments. */
static bool py_function_takes(const py_apply *a, PyObject *o) {
    for (int i = 0; i < a->ctx->nargs; i++)
        if (a->args[i] == o) return true;
    return false;
}

/* The outputs for the tape, borrowed from a->result. A tensor with a history or a wish of its own
 * that is no input, a parameter say, goes by another header. */
static bool py_function_outputs(py_apply *a, tn_tensor **out) {
    py_context *ctx = a->ctx;
    Py_ssize_t n = py_function_count(a->result);
    /* inputs stand before outputs in one block; ctx->fact stays the old one if this fails */
    py_fact *fact = (py_fact *)py_get_again(ctx->fact, (size_t)(ctx->nin + n + 1), sizeof *fact);
    if (!fact) return PyErr_NoMemory(), false;
    ctx->fact = fact;
    ctx->nout = (int32_t)n;
    ctx->row.nout = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = py_function_at(a->result, i);
        py_fact *to = &fact[ctx->nin + i];
        to->dtype = TN_NO_DTYPE;
        to->number = -1;
        /* passes by the tape, as what mark_non_differentiable names does */
        if (!py_is_tensor(o)) continue;
        py_function_fact(to, py_of(o), -1);
        if (py_function_holds(ctx->fixed, o)) continue;
        if (ctx->row.nout == FUNCTION_OUTS) {
            PyErr_Format(PyExc_RuntimeError, "%U returned more than %d tensors", ctx->name,
                         FUNCTION_OUTS);
            return false;
        }
        const tn_detach_args detach = {py_of(o)};
        to->number = ctx->row.nout++;
        out[to->number] = tn_needs_grad(py_of(o)) && !py_function_takes(a, o)
                              ? tn_detach_at(NULL, 0, &detach)
                              : py_of(o);
        if (!out[to->number]) return false;
    }
    return true;
}

/* Input number i on the tape of argument o; -1: it is none. */
static int py_function_input(const py_apply *a, PyObject *o) {
    for (int i = 0; i < a->ctx->nin; i++)
        if (a->args[a->ctx->fact[i].number] == o) return i;
    return -1;
}

/* Whether argument o, number i of mark_dirty, may be written in place. The rules and texts
 * are torch's. */
static bool py_function_dirty_one(const py_apply *a, PyObject *o, Py_ssize_t i) {
    const char *text = NULL;
    if (!py_is_tensor(o)) {
        PyErr_Format(PyExc_RuntimeError,
                     "mark_dirty can only accept variables, but argument %zd is of type %R", i,
                     Py_TYPE(o));
        return false;
    }
    tn_tensor *t = py_of(o), *base = tn_base_of(t);
    /* by identity: what forward returns must be the very tensor */
    bool returned = false;
    for (Py_ssize_t k = py_function_count(a->result); k--;)
        returned = returned || py_function_at(a->result, k) == o;
    if (tn_is_leaf(t) && tn_needs_grad(t))
        text = "a leaf Variable that requires grad has been used in an in-place operation.";
    else if (base && tn_is_leaf(base) && tn_needs_grad(base))
        text = "a view of a leaf Variable that requires grad is being used in an in-place "
               "operation.";
    else if (!returned)
        text = "Some elements marked as dirty during the forward method were not returned as "
               "output. The inputs that are modified inplace must all be outputs of the Function.";
    else if (base && py_function_at(a->result, 0) != o)
        text = "a view that was marked as dirty has to be the first output";
    if (text) PyErr_SetString(PyExc_RuntimeError, text);
    return !text;
}

/* Tells the tape which inputs forward has written. */
static bool py_function_mark_dirty(const py_apply *a) {
    py_context *ctx = a->ctx;
    for (Py_ssize_t i = 0; ctx->dirty && i < PyTuple_Size(ctx->dirty); i++) {
        PyObject *o = PyTuple_GetItem(ctx->dirty, i);
        int input;
        if (!py_function_dirty_one(a, o, i)) return false;
        input = py_function_input(a, o);
        if (input < 0 &&
            PyErr_WarnEx(PyExc_UserWarning,
                         "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is "
                         "not an input, there is no need to pass it to mark_dirty().",
                         1))
            return false;
        if (input >= 0 && !tn_function_written(ctx->f, input)) return false;
    }
    return true;
}

/* Gives what save_for_backward names to the tape, which owns it: a ctx that held tensors would
 * be a cycle. */
static bool py_function_save(const py_apply *a, tn_tensor *const *out) {
    py_context *ctx = a->ctx;
    PyObject *places = ctx->saved ? PyTuple_New(PyTuple_Size(ctx->saved)) : NULL;
    if (ctx->saved && !places) return false;
    ctx->places = places;
    for (Py_ssize_t i = 0, k = 0; ctx->saved && i < PyTuple_Size(ctx->saved); i++) {
        PyObject *o = PyTuple_GetItem(ctx->saved, i);
        PyTuple_SetItem(places, i, PyBool_FromLong(o != Py_None));
        if (o == Py_None) continue;
        if (!tn_function_save(ctx->f, py_of(o))) return false;
        /* an output that is saved needs its history in backward; an input that was written
         * is one */
        bool is_output = py_function_holds(ctx->dirty, o) || py_function_input(a, o) < 0;
        for (int j = 0; is_output && k < 64 && j < ctx->row.nout; j++)
            if (out[j] == py_of(o)) ctx->saves_output |= (uint64_t)1 << k;
        k++;
    }
    return true;
}

/* Releases what lasted for the call alone. */
static void py_function_settle(py_context *ctx) {
    Py_CLEAR(ctx->dirty);
    Py_CLEAR(ctx->fixed);
    Py_CLEAR(ctx->saved);
}

/* What the tape calls for the forward of ctx. */
static bool py_function_run(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    py_apply *a = ((py_context *)tn_function_user(f))->apply;
    bool ok;
    (void)in, (void)nin;
    a->ctx->f = f;
    a->result = py_function_forward(a->ctx, a->args);
    ok = a->result && py_function_outputs(a, out) && py_function_mark_dirty(a) &&
         py_function_save(a, out);
    /* the exception stays set, and py_raise prefers it */
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "the forward of a Function has failed");
    return ok;
}

/* --- backward --------------------------------------------------------------------------------- */

/* The gradient of an output, new: what came, zeros, or None as set_materialize_grads says. */
static PyObject *py_function_incoming(const py_context *ctx, const py_fact *fact,
                                      tn_tensor *const *grad_out) {
    tn_tensor *t = fact->number >= 0 ? grad_out[fact->number] : NULL;
    if (t) return py_wrap_borrowed(t);
    if (fact->dtype == TN_NO_DTYPE || !ctx->materialize) return Py_NewRef(Py_None);
    t = tnp_zeros(tn_ints_of(fact->size, fact->ndim), fact->dtype, fact->device);
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* The user's backward(ctx, *grads), as a tuple. */
static PyObject *py_function_call_back(py_context *ctx, tn_tensor *const *grad_out) {
    PyObject *args = PyTuple_New(ctx->nout + 1), *r = NULL, *all = NULL;
    if (args) PyTuple_SetItem(args, 0, Py_NewRef((PyObject *)ctx));
    for (int i = 0; args && i < ctx->nout; i++) {
        PyObject *one = py_function_incoming(ctx, &ctx->fact[ctx->nin + i], grad_out);
        if (one)
            PyTuple_SetItem(args, i + 1, one);
        else
            Py_CLEAR(args);
    }
    if (args) r = py_function_method(ctx->cls, py.backward, args);
    Py_XDECREF(args);
    if (!r || PyTuple_Check(r)) return r;
    /* a single gradient need not be in a tuple */
    all = PyTuple_Pack(1, r);
    Py_DECREF(r);
    return all;
}

/* As many gradients as arguments; more only where they are None. */
static bool py_function_right_count(const py_context *ctx, PyObject *grads) {
    Py_ssize_t n = PyTuple_Size(grads), most = n;
    while (most > ctx->nargs && PyTuple_GetItem(grads, most - 1) == Py_None) most--;
    if (most == ctx->nargs) return true;
    PyErr_Format(PyExc_RuntimeError,
                 "function %U returned an incorrect number of gradients (expected %d, got %zd)",
                 ctx->name, (int)ctx->nargs, n);
    return false;
}

/* A list of ints, for messages. */
static PyObject *py_function_sizes(const int64_t *size, int64_t n) {
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *one = PyLong_FromLongLong(size[i]);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* Whether grad is of the input's shape or can be summed to it. */
static bool py_function_fits(const py_context *ctx, const py_fact *fact, const tn_tensor *grad) {
    tn_ints s = tn_shape(grad);
    bool fits = s.n >= fact->ndim;
    PyObject *got, *want;
    /* from the last dimension on, as broadcasting aligns them */
    for (int d = 1; fits && d <= fact->ndim; d++)
        fits = fact->size[fact->ndim - d] == 1 || fact->size[fact->ndim - d] == s.at[s.n - d];
    if (fits) return true;
    got = py_function_sizes(s.at, s.n);
    want = py_function_sizes(fact->size, fact->ndim);
    if (got && want)
        PyErr_Format(PyExc_RuntimeError,
                     "Function %U returned an invalid gradient at index %d - got %R but expected "
                     "shape compatible with %R",
                     ctx->name, (int)fact->number, got, want);
    Py_XDECREF(got);
    Py_XDECREF(want);
    return false;
}

/* Gives the user's gradients to the tape: one an input; arguments that are no tensors have None. */
static bool py_function_give(const py_context *ctx, PyObject *grads, tn_tensor **grad_in) {
    for (int i = 0, k = 0; i < ctx->nargs; i++) {
        PyObject *g = PyTuple_GetItem(grads, i), *type;
        bool input = k < ctx->nin && ctx->fact[k].number == i;
        if (input) k++;
        if (g == Py_None) continue;
        if (!input) {
            PyErr_Format(PyExc_RuntimeError,
                         "function %U returned a gradient different than None at position %d, but "
                         "the corresponding forward input was not a Variable",
                         ctx->name, i + 1);
            return false;
        }
        if (!py_is_tensor(g)) {
            type = PyObject_GetAttr((PyObject *)Py_TYPE(g), py.name_word);
            if (type) PyErr_Format(PyExc_RuntimeError, "expected Variable or None (got %U)", type);
            Py_XDECREF(type);
            return false;
        }
        /* what nobody asks for need not fit */
        if (PyTuple_GetItem(ctx->needs, i) != Py_True) continue;
        if (!py_function_fits(ctx, &ctx->fact[k - 1], py_of(g))) return false;
        /* lent to the scope of the pass, with a count of its own: grads may go */
        if (!(grad_in[k - 1] = tn_lend(tn_retain(py_of(g))))) return false;
    }
    return true;
}

/* What the tape calls for the backward of ctx. false ends the pass with an error. */
static bool py_function_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    /* in any thread of a backward */
    const py_inside inside = py_inside_begin();
    py_context *ctx = (py_context *)tn_function_user(f);
    PyObject *grads = py_function_call_back(ctx, grad_out);
    bool ok = grads && py_function_right_count(ctx, grads) && py_function_give(ctx, grads, grad_in);
    Py_XDECREF(grads);
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "the backward of a Function has failed");
    py_inside_end(inside);
    return ok;
}

/* The tape drops its count of ctx. ctx may live on in Python, without a call. */
static void py_function_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_context *ctx = (py_context *)user;
    ctx->f = NULL;
    ctx->history = NULL;
    Py_DECREF((PyObject *)ctx);
    PyGILState_Release(state);
}

PY_PRIV PyObject *py_context_of(const tn_history *h) {
    return (PyObject *)tn_history_user(h, py_function_release);
}
PY_PRIV int py_context_outputs(PyObject *ctx) { return ((py_context *)ctx)->nout; }
PY_PRIV int py_context_result(PyObject *ctx, int i) {
    const py_context *c = (const py_context *)ctx;
    return c->fact[c->nin + i].number;
}
PY_PRIV const tn_history *py_context_history(PyObject *ctx) { return ((py_context *)ctx)->history; }

/* --- apply ------------------------------------------------------------------------------------ */

/* Output i of the call as the caller sees it. */
static PyObject *py_function_output(const py_apply *a, PyObject *o, const py_fact *fact) {
    tn_tensor *t = fact->number >= 0 ? a->out[fact->number] : NULL;
    if (!t || t == py_of(o)) return Py_NewRef(o);
    return py_wrap(tn_take(t)); /* another header: o is an input, or has a history of its own */
}

/* The outputs as the caller sees them, a tuple if forward returned one. */
static PyObject *py_function_results(const py_apply *a) {
    const py_context *ctx = a->ctx;
    PyObject *all;
    if (!PyTuple_Check(a->result)) return py_function_output(a, a->result, &ctx->fact[ctx->nin]);
    all = PyTuple_New(ctx->nout);
    for (int i = 0; i < ctx->nout; i++) {
        /* made for all even after a failure, as each takes its header of the tape */
        PyObject *one =
            py_function_output(a, PyTuple_GetItem(a->result, i), &ctx->fact[ctx->nin + i]);
        if (all && one) {
            PyTuple_SetItem(all, i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

/* A call that the tape records: forward runs inside tn_function_call_at. */
static PyObject *py_apply_recorded(py_context *ctx, PyObject *const *args, tn_tensor **in) {
    py_apply a;
    const char *file;
    int line;
    const int turn = py_lend();
    PyObject *r;
    a.ctx = ctx;
    a.args = args;
    a.result = NULL;
    ctx->apply = &a;
    py_here(&file, &line);
    Py_INCREF((PyObject *)ctx); /* for the tape, which releases it in any case */
    bool ok = tn_function_call_at(file, line, &ctx->row, tn_tensors_of(in, ctx->nin), ctx, a.out);
    /* an output may be no part of a graph; every other output leads to the call */
    for (int j = 0; ok && j < ctx->row.nout && !ctx->history; j++)
        ctx->history = tn_history_of(a.out[j]);
    /* an output that is an input keeps the history it had: another call's */
    if (ctx->history && py_context_of(ctx->history) != (PyObject *)ctx) ctx->history = NULL;
    py_function_settle(ctx);
    ctx->apply = NULL;
    r = ok ? py_function_results(&a) : py_raise();
    Py_XDECREF(a.result);
    return py_lent(turn, r);
}

/* Output o of a call that is not recorded. An input that was not written is returned as a new
 * tensor over its memory. */
static PyObject *py_apply_apart(const py_context *ctx, PyObject *const *args, PyObject *o) {
    for (int i = 0; i < ctx->nargs; i++)
        if (o == args[i] && py_is_tensor(o) && !py_function_holds(ctx->dirty, o)) {
            const tn_detach_args a = {py_of(o)};
            return py_wrap(tn_take(tn_detach_at(NULL, 0, &a)));
        }
    return Py_NewRef(o);
}

/* Nothing requires a gradient: forward alone. */
static PyObject *py_apply_plain(py_context *ctx, PyObject *const *args) {
    /* as torch: forward records nothing in either case */
    bool mode = tn_set_grad_mode(false);
    PyObject *given = py_function_forward(ctx, args), *r = NULL;
    tn_set_grad_mode(mode);
    if (given && !PyTuple_Check(given))
        r = py_apply_apart(ctx, args, given);
    else if (given)
        r = PyTuple_New(PyTuple_Size(given));
    for (Py_ssize_t i = 0; r && given && PyTuple_Check(given) && i < PyTuple_Size(given); i++) {
        PyObject *one = py_apply_apart(ctx, args, PyTuple_GetItem(given, i));
        if (!one || PyTuple_SetItem(r, i, one)) Py_CLEAR(r);
    }
    Py_XDECREF(given);
    return r;
}

/* The tensors among args, and which of them require a gradient. */
static bool py_apply_inputs(py_context *ctx, PyObject *const *args, tn_tensor **in, bool *wants) {
    *wants = false;
    if (!(ctx->needs = PyTuple_New(ctx->nargs))) return false;
    /* two more, so that a Function without arguments has some memory as well */
    ctx->fact = (py_fact *)py_get((size_t)(ctx->nargs + 2), sizeof *ctx->fact);
    if (!ctx->fact) return PyErr_NoMemory(), false;
    for (int i = 0; i < ctx->nargs; i++) {
        bool tensor = py_is_tensor(args[i]), want = tensor && tn_needs_grad(py_of(args[i]));
        PyTuple_SetItem(ctx->needs, i, PyBool_FromLong(want));
        *wants = *wants || want;
        if (!tensor) continue;
        in[ctx->nin] = py_of(args[i]);
        py_function_fact(&ctx->fact[ctx->nin], in[ctx->nin], i);
        ctx->nin++;
    }
    /* needs_input_grad says what requires a gradient, also in no-grad mode */
    *wants = *wants && tn_grad_mode();
    return true;
}

/* A ctx of the class that autograd/function.py made for the Function: "MyFnBackward". */
static py_context *py_context_new(PyObject *cls) {
    PyObject *type = PyObject_GetAttr(cls, py.backward_class);
    py_context *ctx = NULL;
    if (type && (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py.context)))
        PyErr_Format(PyExc_TypeError, "apply() is called on a subclass of Function");
    else if (type)
        ctx = (py_context *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    if (ctx) {
        ctx->cls = Py_NewRef(cls);
        ctx->materialize = true;
        ctx->row.forward = py_function_run;
        ctx->row.backward = py_function_back;
        ctx->row.release = py_function_release;
        ctx->name = PyObject_GetAttr(type, py.name_word);
        /* the name lies in ctx->name, which ctx holds */
        ctx->row.name = ctx->name ? PyUnicode_AsUTF8AndSize(ctx->name, NULL) : NULL;
        if (!ctx->row.name) Py_CLEAR(ctx);
    }
    Py_XDECREF(type);
    return ctx;
}

/* By keyword: Python brings the arguments in order. */
static PyObject *py_apply_named(PyObject *cls, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    /* rare, so Python's inspect does it */
    PyObject *module = PyImport_ImportModule("tensorh.autograd.function"), *r = NULL;
    PyObject *f = module ? PyObject_GetAttrString(module, "_apply_with_names") : NULL;
    PyObject *all = f ? py_function_tuple(cls, args, n) : NULL, *named = all ? PyDict_New() : NULL;
    bool ok = named != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(kwnames); i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(kwnames, i), args[n + i]) == 0;
    if (ok) r = PyObject_Call(f, all, named);
    Py_XDECREF(module);
    Py_XDECREF(f);
    Py_XDECREF(all);
    Py_XDECREF(named);
    return r;
}

/* cls.apply(*args): a new ctx for each call. */
/* Whether one of the arguments is a sample of a batch: tensorh/_vmap.py then calls apply. */
static bool py_apply_is_batched(PyObject *const *args, Py_ssize_t n) {
    if (TNI_LIKELY(!tn_vmap_depth())) return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (py_is_tensor(args[i]) && tn_batch_depth(py_of(args[i]))) return true;
    return false;
}
static PyObject *py_apply_batched(PyObject *cls, PyObject *const *args, Py_ssize_t n) {
    PyObject *module = PyImport_ImportModule("tensorh._vmap"), *r = NULL;
    PyObject *f = module ? PyObject_GetAttrString(module, "apply") : NULL;
    PyObject *all = f ? py_function_tuple(cls, args, n) : NULL;
    if (all) r = PyObject_Call(f, all, NULL);
    Py_XDECREF(module);
    Py_XDECREF(f);
    Py_XDECREF(all);
    return r;
}

static PyObject *py_function_apply(PyObject *cls, PyObject *const *args, Py_ssize_t n,
                                   PyObject *kwnames) {
    tn_tensor *few[16], **in = few;
    bool wants;
    PyObject *r = NULL;
    py_context *ctx;
    /* forward's signature is needed to bring them in order */
    if (kwnames && PyTuple_Size(kwnames)) return py_apply_named(cls, args, n, kwnames);
    if (py_apply_is_batched(args, n)) return py_apply_batched(cls, args, n);
    if (!(ctx = py_context_new(cls))) return NULL;
    ctx->nargs = (int32_t)n;
    if (n > 16 && !(in = (tn_tensor **)py_get((size_t)n, sizeof *in)))
        PyErr_NoMemory();
    else if (py_apply_inputs(ctx, args, in, &wants))
        r = wants ? py_apply_recorded(ctx, args, in) : py_apply_plain(ctx, args);
    if (in != few) py_give(in);
    Py_DECREF((PyObject *)ctx);
    return r;
}

/* --- ctx -------------------------------------------------------------------------------------- */

/* Sets a slot of ctx to a tuple of the arguments. The old one goes last, as that may run
 * Python code. */
static PyObject *py_context_keep(PyObject **to, PyObject *const *args, Py_ssize_t n) {
    PyObject *all = py_function_tuple(NULL, args, n), *before = *to;
    if (!all) return NULL;
    *to = all;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}
/* ctx.save_for_backward(*tensors): kept in ctx until forward has ended. */
static PyObject *py_context_save(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) /* None keeps its place among saved_tensors */
        if (args[i] != Py_None && !py_is_tensor(args[i])) {
            PyObject *type = PyObject_GetAttr((PyObject *)Py_TYPE(args[i]), py.name_word);
            if (type)
                PyErr_Format(PyExc_TypeError,
                             "save_for_backward can only save variables, but argument %zd is of "
                             "type %U",
                             i, type);
            Py_XDECREF(type);
            return NULL;
        }
    return py_context_keep(&((py_context *)self)->saved, args, n);
}
static PyObject *py_context_dirty(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return py_context_keep(&((py_context *)self)->dirty, args, n);
}
static PyObject *py_context_fixed(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return py_context_keep(&((py_context *)self)->fixed, args, n);
}
static PyObject *py_context_materialize(PyObject *self, PyObject *value) {
    int truth = PyObject_IsTrue(value);
    if (truth < 0) return NULL;
    ((py_context *)self)->materialize = truth > 0;
    Py_RETURN_NONE;
}
static PyObject *py_context_name(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(((py_context *)self)->name);
}
static PyObject *py_context_repr(PyObject *self) {
    return PyUnicode_FromFormat("<torch.autograd.function.%U object at %p>",
                                ((py_context *)self)->name, (void *)self);
}

/* Saved tensor k of the tape. While calls are recorded, a saved output is a new tensor that has its
 * history again. */
static PyObject *py_context_saved_one(const py_context *ctx, int k) {
    tn_error_info info;
    /* lent by the pass, or new: of the scope then */
    const int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_function_saved(ctx->f, k);
    PyObject *wrapped = t ? py_wrap_borrowed(t) : NULL;
    tn_scope_end(mark);
    if (t) return wrapped;
    if (!tn_error_peek(&info) || info.code != TN_INDEX) return py_raise();
    tn_error_take(NULL);
    return py_saved_gone();
}

/* ctx.saved_tensors: a new tuple; in forward what was given, later what the tape has. */
static PyObject *py_context_saved(PyObject *self, void *unused) {
    py_context *ctx = (py_context *)self;
    Py_ssize_t n = ctx->places ? PyTuple_Size(ctx->places) : 0;
    PyObject *all;
    (void)unused;
    /* nothing has been given to the tape yet */
    if (ctx->saved && ctx->apply) return Py_NewRef(ctx->saved); /* in forward */
    all = PyTuple_New(n);
    for (Py_ssize_t i = 0, k = 0; all && i < n; i++) {
        bool there = PyTuple_GetItem(ctx->places, i) == Py_True;
        PyObject *one = there ? py_context_saved_one(ctx, (int)k++) : Py_NewRef(Py_None);
        if (one)
            PyTuple_SetItem(all, i, one);
        else
            Py_CLEAR(all);
    }
    return all;
}
static PyObject *py_context_variables(PyObject *self, void *unused) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "'saved_variables' is deprecated; use 'saved_tensors'", 1))
        return NULL;
    return py_context_saved(self, unused);
}
static PyObject *py_context_needs(PyObject *self, void *unused) {
    PyObject *needs = ((py_context *)self)->needs;
    (void)unused;
    return needs ? Py_NewRef(needs) : PyTuple_New(0);
}
static PyObject *py_context_materializes(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((py_context *)self)->materialize);
}

/* What the collector may follow. Saved tensors are the tape's. */
static int py_context_traverse(PyObject *self, visitproc visit, void *arg) {
    py_context *ctx = (py_context *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(ctx->dict);
    Py_VISIT(ctx->cls);
    Py_VISIT(ctx->saved);
    Py_VISIT(ctx->dirty);
    Py_VISIT(ctx->fixed);
    return 0;
}
static int py_context_clear(PyObject *self) {
    py_context *ctx = (py_context *)self;
    Py_CLEAR(ctx->dict);
    Py_CLEAR(ctx->saved);
    Py_CLEAR(ctx->dirty);
    Py_CLEAR(ctx->fixed);
    Py_CLEAR(ctx->places);
    return 0;
}
/* The tape holds a count while the call is on it, so ctx goes after its call. */
static void py_context_dealloc(PyObject *self) {
    py_context *ctx = (py_context *)self;
    PyTypeObject *type = Py_TYPE(self);
    /* first of all: the collector may not see a half-freed object */
    PyObject_GC_UnTrack(self);
    if (ctx->weak) PyObject_ClearWeakRefs(self);
    py_context_clear(self);
    Py_CLEAR(ctx->cls);
    Py_CLEAR(ctx->name);
    Py_CLEAR(ctx->needs);
    py_give(ctx->fact);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* --- the classes ------------------------------------------------------------------------------ */

#define FUNCTION_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_context_methods[] = {
    {"save_for_backward", FUNCTION_FAST(py_context_save), METH_FASTCALL,
     "keeps tensors for backward, where saved_tensors has them"},
    {"mark_dirty", FUNCTION_FAST(py_context_dirty), METH_FASTCALL,
     "names inputs that forward has written in place, and returns"},
    {"mark_non_differentiable", FUNCTION_FAST(py_context_fixed), METH_FASTCALL,
     "names outputs that no gradient is asked of"},
    {"set_materialize_grads", py_context_materialize, METH_O,
     "whether backward gets zeros, not None, for an output without gradient (True)"},
    {"name", py_context_name, METH_NOARGS, "the Function's name and Backward"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_context_attributes[] = {
    {"saved_tensors", py_context_saved, NULL, "what save_for_backward was given", NULL},
    {"saved_variables", py_context_variables, NULL, "the old name of saved_tensors", NULL},
    {"needs_input_grad", py_context_needs, NULL, "for each argument: whether it needs one", NULL},
    {"materialize_grads", py_context_materializes, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef py_context_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_context, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_context, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyMethodDef py_function_methods[] = {
    {"apply", FUNCTION_FAST(py_function_apply), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "apply(*args)\n\nruns forward, and records the call where an argument requires grad"},
    {NULL, NULL, 0, NULL}};

static PyObject *py_function_type(PyObject *module, const char *name, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return type;
}

PY_PRIV int py_functions_begin(PyObject *module) {
    PyType_Slot context[] = {
        {Py_tp_dealloc, (void *)py_context_dealloc}, {Py_tp_traverse, (void *)py_context_traverse},
        {Py_tp_clear, (void *)py_context_clear},     {Py_tp_repr, (void *)py_context_repr},
        {Py_tp_methods, py_context_methods},         {Py_tp_members, py_context_members},
        {Py_tp_getset, py_context_attributes},       {0, NULL}};
    PyType_Slot function[] = {{Py_tp_methods, py_function_methods}, {0, NULL}};
    PyType_Spec context_spec = {"torch.autograd.function.FunctionCtx", sizeof(py_context), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                context};
    PyType_Spec function_spec = {"torch._C._FunctionBase", sizeof(PyObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function};
    /* Function, in Python, derives from this base: apply is its class method */
    PyObject *base = py_function_type(module, "_FunctionBase", &function_spec);
    py.context = (PyTypeObject *)py_function_type(module, "_FunctionCtx", &context_spec);
    Py_XDECREF(base);
    return base && py.context ? 0 : -1;
}

/* src/py/hook.c - hooks of tensors run in a backward, and their handles */
/* hook.c - hooks of tensors run in a backward, and their handles. Which hooks a wrapper knows, and
 * how the collector sees them, is in wrap.c. */

/* --- a hook that runs ------------------------------------------------------------------------- */

/* The gradient that hook `function` returned in place of grad, as a tensor for the tape. NULL with
 * an exception. */
static tn_tensor *py_hook_result(PyObject *r, tn_tensor *grad) {
    PyObject *type;
    if (r == Py_None) return grad;
    if (py_is_tensor(r)) return py_of(r) == grad ? grad : tn_lend(tn_retain(py_of(r)));
    type = PyObject_GetAttr((PyObject *)Py_TYPE(r), py.name_word);
    if (type) PyErr_Format(PyExc_TypeError, "expected Variable, but hook returned '%U'", type);
    Py_XDECREF(type);
    return NULL;
}

/* Calls the hook with t. replaces: its result stands in for t. NULL: it raised. */
static tn_tensor *py_hook_run(py_hook *h, tn_tensor *t, bool replaces) {
    /* the hook may remove itself, and h->function with it */
    PyObject *function = Py_NewRef(h->function), *seen = py_wrap_borrowed(t);
    PyObject *r = seen ? PyObject_CallFunctionObjArgs(function, seen, NULL) : NULL;
    tn_tensor *now = !r ? NULL : replaces ? py_hook_result(r, t) : t;
    /* the exception stays set; the library's error only ends the pass (py_raise) */
    if (!now) tn_error_set(TN_INVALID, NULL, 0, "a hook has failed");
    Py_XDECREF(r);
    Py_XDECREF(seen);
    Py_DECREF(function);
    return now;
}

/* What the tape calls with a gradient, in any thread. */
static tn_tensor *py_hook_call(tn_tensor *grad, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *now = h->function ? py_hook_run(h, grad, true) : grad;
    py_inside_end(inside);
    return now;
}

/* The same behind .grad of a leaf. Its result changes nothing. */
static tn_tensor *py_hook_after(tn_tensor *leaf, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    if (h->function) py_hook_run(h, leaf, false);
    py_inside_end(inside);
    return NULL;
}

/* The tape drops its count of the hook. */
static void py_hook_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_hook_unlink((py_hook *)user);
    ((py_hook *)user)->call = NULL;
    Py_DECREF((PyObject *)user);
    PyGILState_Release(state);
}

/* --- hooks of recorded calls ------------------------------------------------------------------ */

/* Gradients as a tuple, None where there is none; ctx: those of the results of a Function's call,
 * whose outputs may be no tensors. */
static PyObject *py_hook_tuple(PyObject *ctx, tn_tensor *const *grads, int n) {
    const int size = ctx ? py_context_outputs(ctx) : n;
    PyObject *all = PyTuple_New(size);
    for (int i = 0; all && i < size; i++) {
        const int at = ctx ? py_context_result(ctx, i) : i;
        PyObject *one = at >= 0 && grads[at] ? py_wrap_borrowed(grads[at]) : Py_NewRef(Py_None);
        if (one)
            PyTuple_SetItem(all, i, one);
        else
            Py_CLEAR(all);
    }
    return all;
}

/* What hook h returned, r, into grads, which it saw as py_hook_tuple has it. */
static bool py_hook_put(const py_hook *h, PyObject *r, PyObject *ctx, tn_tensor **grads, int n) {
    const int size = ctx ? py_context_outputs(ctx) : n;
    PyObject *name;
    if (r == Py_None) return true;
    if (!PyTuple_Check(r)) {
        name = PyObject_GetAttr((PyObject *)Py_TYPE(r), py.name_word);
        if (name) PyErr_Format(PyExc_TypeError, "expected tuple, but hook returned '%U'", name);
        Py_XDECREF(name);
        return false;
    }
    if (PyTuple_Size(r) != size) {
        name = h->function ? PyObject_GetAttr(h->function, py.name_word) : NULL;
        if (!name) PyErr_Clear();
        PyErr_Format(PyExc_RuntimeError,
                     "hook '%S' has returned an incorrect number of values (got %zd, but expected "
                     "%d)",
                     name ? name : Py_None, PyTuple_Size(r), size);
        Py_XDECREF(name);
        return false;
    }
    for (int i = 0; i < size; i++) {
        PyObject *one = PyTuple_GetItem(r, i);
        const int at = ctx ? py_context_result(ctx, i) : i;
        tn_tensor *now = NULL;
        if (at < 0) continue;
        if (one != Py_None && !(now = py_hook_result(one, grads[at]))) return false;
        grads[at] = now;
    }
    return true;
}

/* Calls h with tuples, which it takes; `came` only for a hook behind its call. What it returns goes
 * into grads. */
static bool py_hook_of_tuples(py_hook *h, PyObject *seen, PyObject *came, bool after, PyObject *ctx,
                              tn_tensor **grads, int n) {
    PyObject *function = Py_NewRef(h->function); /* the hook may remove itself */
    PyObject *r = !seen || (after && !came) ? NULL
                  : after ? PyObject_CallFunctionObjArgs(function, seen, came, NULL)
                          : PyObject_CallFunctionObjArgs(function, seen, NULL);
    const bool ok = r && py_hook_put(h, r, ctx, grads, n);
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "a hook has failed");
    Py_XDECREF(r);
    Py_XDECREF(seen);
    Py_XDECREF(came);
    Py_DECREF(function);
    return ok;
}

/* What the tape calls before and behind a call. */
static bool py_hook_before_call(tn_tensor **grads, int n, tn_tensor *const *came, int ncame,
                                void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    PyObject *ctx = py_context_of(h->call);
    const bool ok = !h->function ||
                    py_hook_of_tuples(h, py_hook_tuple(ctx, grads, n), NULL, false, ctx, grads, n);
    (void)came, (void)ncame;
    py_inside_end(inside);
    return ok;
}
static bool py_hook_behind_call(tn_tensor **grads, int n, tn_tensor *const *came, int ncame,
                                void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    PyObject *ctx = py_context_of(h->call);
    const bool ok =
        !h->function || py_hook_of_tuples(h, py_hook_tuple(NULL, grads, n),
                                          py_hook_tuple(ctx, came, ncame), true, NULL, grads, n);
    py_inside_end(inside);
    return ok;
}

/* register_hook (after) and register_prehook of a grad_fn: a handle, new. */
PY_PRIV PyObject *py_hook_of_call(tn_history *call, PyObject *function, bool after) {
    py_hook *h;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a hook has to be callable, not %R",
                            Py_TYPE(function));
    if (!(h = (py_hook *)PyType_GenericAlloc(py.handle, 0))) return NULL;
    h->function = Py_NewRef(function);
    Py_INCREF((PyObject *)h); /* for the tape */
    h->call = call;
    h->number = tn_history_hook_add(call, after, after ? py_hook_behind_call : py_hook_before_call,
                                    h, py_hook_release);
    if (h->number) return (PyObject *)h;
    h->call = NULL;
    Py_DECREF((PyObject *)h);
    Py_DECREF((PyObject *)h);
    return py_raise();
}

/* The same of a leaf's AccumulateGrad: before, with the gradient that comes; behind, with nothing
 * given and the gradient that came. */
static tn_tensor *py_hook_leaf_before(tn_tensor *grad, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *now = grad;
    bool ok = !h->function ||
              py_hook_of_tuples(h, py_hook_tuple(NULL, &grad, 1), NULL, false, NULL, &now, 1);
    if (ok && !now) ok = (now = tnp_zeros_like(grad, TN_NO_DTYPE, TN_NO_DEVICE)) != NULL;
    py_inside_end(inside);
    return ok ? now : NULL;
}
static tn_tensor *py_hook_leaf_sees(tn_tensor *grad, void *user) {
    py_hook *h = (py_hook *)user;
    tn_release(h->seen);
    h->seen = tn_retain(grad);
    return grad;
}
static tn_tensor *py_hook_leaf_behind(tn_tensor *leaf, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *seen = h->seen;
    (void)leaf;
    h->seen = NULL;
    if (h->function)
        py_hook_of_tuples(h, PyTuple_New(0), py_hook_tuple(NULL, &seen, 1), true, NULL, NULL, 0);
    tn_release(seen);
    py_inside_end(inside);
    return NULL;
}

/* --- handles ---------------------------------------------------------------------------------- */

typedef enum py_hook_kind {
    HOOK_TENSOR,
    HOOK_AFTER,
    HOOK_LEAF_BEFORE,
    HOOK_LEAF_BEHIND
} py_hook_kind;

/* Hangs h on its tensor; false with an error of the library. */
static bool py_hook_hang(py_hook *h, tn_tensor *t, py_hook_kind kind) {
    tn_hook run = kind == HOOK_TENSOR ? py_hook_call : py_hook_leaf_before;
    if (kind == HOOK_TENSOR || kind == HOOK_LEAF_BEFORE)
        return (h->number = tn_hook_add_at(NULL, 0, t, run, h, py_hook_release)) != 0;
    /* the one that sees goes before the other, which has the count of h */
    if (kind == HOOK_LEAF_BEHIND &&
        !(h->sees = tn_hook_add_at(NULL, 0, t, py_hook_leaf_sees, h, NULL)))
        return false;
    run = kind == HOOK_AFTER ? py_hook_after : py_hook_leaf_behind;
    if ((h->number = tn_hook_after_at(NULL, 0, t, run, h, py_hook_release)) != 0) return true;
    if (h->sees) tn_hook_remove(t, h->sees);
    return false;
}

/* register_hook and the one after accumulation: a handle, new. The tape has a count as well. */
static PyObject *py_hook_add(PyObject *self, PyObject *function, py_hook_kind kind) {
    py_tensor *p = (py_tensor *)self;
    py_hook *h;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a hook has to be callable, not %R",
                            Py_TYPE(function));
    if (!tn_needs_grad(p->t))
        return PyErr_Format(PyExc_RuntimeError,
                            "cannot register a hook on a tensor that doesn't require gradient");
    if (kind == HOOK_AFTER && !tn_is_leaf(p->t))
        return PyErr_Format(PyExc_RuntimeError, "post accumulate grad hooks cannot be registered "
                                                "on non-leaf tensors");
    if (!(h = (py_hook *)PyType_GenericAlloc(py.handle, 0))) return NULL;
    h->function = Py_NewRef(function);
    /* one count for the caller, one for the tape */
    Py_INCREF((PyObject *)h);
    if (!py_hook_hang(h, p->t, kind)) {
        Py_DECREF((PyObject *)h);
        Py_DECREF((PyObject *)h);
        return py_raise();
    }
    /* for py_hooks_visit: which call the hook hangs on */
    h->history = tn_history_of(p->t);
    h->on = p;
    h->next = p->hooks;
    p->hooks = h;
    /* a hook may lead back to its tensor */
    py_tensor_track((py_tensor *)self);
    return (PyObject *)h;
}

/* handle.remove(): the hook runs no more. Twice is allowed. */
static PyObject *py_hook_remove(PyObject *self, PyObject *unused) {
    py_hook *h = (py_hook *)self;
    PyObject *function = h->function;
    (void)unused;
    /* NULL first: the end of the function may run Python code that removes again */
    h->function = NULL;
    if (h->on && h->on->t) {
        if (h->sees) tn_hook_remove(h->on->t, h->sees);
        tn_hook_remove(h->on->t, h->number);
    }
    if (h->call) tn_history_hook_remove(h->call, h->number);
    Py_XDECREF(function);
    Py_RETURN_NONE;
}

static PyObject *py_hook_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}
static PyObject *py_hook_exit(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)args, (void)n;
    return py_hook_remove(self, NULL);
}
static PyObject *py_hook_id(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((py_hook *)self)->number);
}

static int py_hook_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_hook *)self)->function);
    return 0;
}
static int py_hook_clear(PyObject *self) {
    Py_CLEAR(((py_hook *)self)->function);
    return 0;
}
/* Neither Python nor the tape has a count left. */
static void py_hook_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    /* before its members go, as the collector might visit them */
    PyObject_GC_UnTrack(self);
    if (((py_hook *)self)->weak) PyObject_ClearWeakRefs(self);
    py_hook_clear(self);
    tn_release(((py_hook *)self)->seen);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}
/* --- the classes ------------------------------------------------------------------------------ */

static PyObject *py_tensor_register_hook(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, HOOK_TENSOR);
}
static PyObject *py_tensor_register_after(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, HOOK_AFTER);
}
/* register_hook (after) and register_prehook of a leaf's AccumulateGrad. */
PY_PRIV PyObject *py_hook_of_leaf(tn_tensor *leaf, PyObject *function, bool after) {
    PyObject *self = py_wrap_borrowed(leaf);
    PyObject *h =
        self ? py_hook_add(self, function, after ? HOOK_LEAF_BEHIND : HOOK_LEAF_BEFORE) : NULL;
    Py_XDECREF(self);
    return h;
}

static PyMethodDef py_tensor_hook_methods[] = {
    {"register_hook", py_tensor_register_hook, METH_O,
     "register_hook(hook)\n\nhook(grad) sees the gradient of this tensor in each backward and may "
     "return another; the handle's remove() ends it"},
    {"register_post_accumulate_grad_hook", py_tensor_register_after, METH_O,
     "register_post_accumulate_grad_hook(hook)\n\nhook(tensor) is called when a backward has "
     "changed .grad of this leaf, after all leaves have theirs"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_hook_methods[] = {
    {"remove", py_hook_remove, METH_NOARGS, "the hook runs no more"},
    {"__enter__", py_hook_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void *)py_hook_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_hook_attributes[] = {{"id", py_hook_id, NULL, NULL, NULL},
                                           {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef py_hook_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_hook, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

PY_PRIV int py_hooks_begin(PyObject *module) {
    PyType_Slot hook[] = {{Py_tp_dealloc, (void *)py_hook_dealloc},
                          {Py_tp_traverse, (void *)py_hook_traverse},
                          {Py_tp_clear, (void *)py_hook_clear},
                          {Py_tp_methods, py_hook_methods},
                          {Py_tp_members, py_hook_members},
                          {Py_tp_getset, py_hook_attributes},
                          {0, NULL}};
    py.handle = py_place_class(module, "_RemovableHandle", "torch.utils.hooks.RemovableHandle",
                               sizeof(py_hook), Py_TPFLAGS_HAVE_GC, hook);
    return !py.handle ? -1 : py_add_methods(py.tensor, py_tensor_hook_methods);
}

/* src/py/node.c - recorded calls as objects: grad_fn and next_functions */
/* node.c - recorded calls as objects: grad_fn and next_functions. The ctx of a Function is the
 * object of its own call. */

/* A recorded call, or a leaf that gathers (torch's AccumulateGrad). One object at a time for each:
 * they stand in a table by address. */
typedef struct py_node {
    PyObject_HEAD tn_history *history; /* counted */
    tn_tensor *leaf;                   /* counted */
    struct py_node *next;
} py_node;
enum { NODE_SLOTS = 256 };
static py_node *py_nodes[NODE_SLOTS];

/* The slot of a key: the top 8 bits of a product by 2^64 over the golden ratio (Knuth). */
static py_node **py_node_slot(const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return &py_nodes[hash >> 56];
}

/* The class of a call: torch's name of it below graph.Node, made when it is first met; borrowed. */
static PyObject *py_node_classes;
static PyTypeObject *py_node_class(const tn_history *h) {
    char name[160];
    PyObject *type, *slots;
    if (h)
        tn_history_text(h, name, sizeof name);
    else
        snprintf(name, sizeof name, "AccumulateGrad");
    if (!py_node_classes && !(py_node_classes = PyDict_New())) return NULL;
    if ((type = py_entry(py_node_classes, name)) != NULL) return (PyTypeObject *)type;
    if (PyErr_Occurred() || !(slots = PyTuple_New(0))) return NULL;
    type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){sOss}", name, (PyObject *)py.node,
                                 "__slots__", slots, "__module__", "torch.autograd");
    Py_DECREF(slots);
    if (!type) return NULL;
    if (PyDict_SetItemString(py_node_classes, name, type)) Py_CLEAR(type);
    Py_XDECREF(type); /* the dictionary has it */
    return (PyTypeObject *)type;
}

/* The object of a call or of a leaf, new. One object at a time, so that identity means sameness. */
PY_PRIV PyObject *py_node_of(tn_history *h, tn_tensor *leaf) {
    const void *key = h ? (const void *)h : (const void *)leaf;
    /* borrowed from the tape */
    PyObject *context = h ? py_context_of(h) : NULL;
    py_node **slot = py_node_slot(key), *n;
    PyTypeObject *type;
    /* py_context_of or the caller may have found a graph that was freed */
    if (!tn_ok()) return py_raise();
    if (!key) Py_RETURN_NONE;
    if (context) return Py_NewRef(context);
    for (n = *slot; n; n = n->next)
        if (n->history == h && n->leaf == leaf) return Py_NewRef((PyObject *)n);
    if (!(type = py_node_class(h)) || !(n = (py_node *)PyType_GenericAlloc(type, 0))) return NULL;
    /* the node keeps its call: grad_fn stays valid though the tensor goes */
    n->history = tn_history_hold(h);
    n->leaf = tn_retain(leaf);
    n->next = *slot;
    *slot = n;
    return (PyObject *)n;
}

/* Not tracked by the collector: a node holds no Python object. */
static void py_node_dealloc(PyObject *self) {
    py_node *n = (py_node *)self,
            **at = py_node_slot(n->history ? (void *)n->history : (void *)n->leaf);
    PyTypeObject *type = Py_TYPE(self);
    /* out of the table first: dropping may run Python code that looks there */
    for (; *at; at = &(*at)->next)
        if (*at == n) {
            *at = n->next;
            break;
        }
    tn_history_free(n->history);
    tn_release(n->leaf);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* "AddBackward0"; a leaf gathers. */
static void py_node_text(const py_node *n, char *to, size_t room) {
    if (n->history)
        tn_history_text(n->history, to, room);
    else
        snprintf(to, room, "torch::autograd::AccumulateGrad");
}

static PyObject *py_node_repr(PyObject *self) {
    char text[160];
    const char *last = text;
    py_node_text((py_node *)self, text, sizeof text);
    /* "torch::autograd::AccumulateGrad" without its namespaces */
    for (const char *at = text; (at = strstr(at, "::")) != NULL;) last = at += 2;
    return PyUnicode_FromFormat("<%s object at %p>", last, (void *)self);
}
static PyObject *py_node_name(PyObject *self, PyObject *unused) {
    char text[160];
    (void)unused;
    py_node_text((py_node *)self, text, sizeof text);
    return PyUnicode_FromString(text);
}

/* next_functions: a tuple of (grad_fn, number of its result), one an input. */
static PyObject *py_node_inputs(const tn_history *h) {
    PyObject *list = PyList_New(0), *tuple;
    tn_history *call;
    tn_tensor *leaf;
    int result;
    for (int i = 0; list && tn_history_input(h, i, &call, &result, &leaf); i++) {
        PyObject *node = py_node_of(call, leaf);
        /* N takes node; an input without history is (None, 0) */
        PyObject *one = node ? Py_BuildValue("(Ni)", node, result) : NULL;
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}
static PyObject *py_node_next(PyObject *self, void *unused) {
    (void)unused;
    return py_node_inputs(((py_node *)self)->history);
}
static PyObject *py_node_variable(PyObject *self, void *unused) {
    tn_tensor *leaf = ((py_node *)self)->leaf;
    (void)unused;
    if (leaf) return py_wrap_borrowed(leaf);
    return PyErr_Format(PyExc_AttributeError, "%R has no attribute 'variable'", self);
}

/* _saved_self, _raw_saved_self: what the call keeps of its argument or result of that name. */
static PyObject *py_node_kept(PyObject *self, const char *name) {
    tn_history *h = ((py_node *)self)->history;
    const bool raw = strncmp(name, "_raw_saved_", 11) == 0;
    PyObject *wrapped;
    tn_error_info info;
    int64_t mark;
    tn_tensor *t;
    name += raw ? 11 : 7;
    if (!tn_history_keeps(h, name)) return NULL;
    PyErr_Clear();
    if (raw) return py_saved_of(h, name);
    mark = tn_scope_begin();
    t = tn_history_saved(h, name);
    wrapped = t ? py_wrap_borrowed(t) : NULL;
    tn_scope_end(mark);
    if (t) return wrapped;
    if (PyErr_Occurred() || !tn_error_peek(&info) || !strstr(info.message, "freed"))
        return py_raise();
    tn_error_take(NULL);
    return py_saved_gone();
}
static PyObject *py_node_getattr(PyObject *self, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(self, name);
    const char *text;
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || (strncmp(text, "_saved_", 7) != 0 && strncmp(text, "_raw_saved_", 11) != 0))
        return NULL;
    return py_node_kept(self, text);
}

/* --- hooks, and a dictionary for programs ----------------------------------------------------- */

static PyObject *py_node_hook(PyObject *self, PyObject *function, bool after) {
    const py_node *n = (const py_node *)self;
    return n->history ? py_hook_of_call(n->history, function, after)
                      : py_hook_of_leaf(n->leaf, function, after);
}
static PyObject *py_node_register_hook(PyObject *self, PyObject *function) {
    return py_node_hook(self, function, true);
}
static PyObject *py_node_register_prehook(PyObject *self, PyObject *function) {
    return py_node_hook(self, function, false);
}

/* The dictionaries by the address of a call or a leaf. A hook that does nothing drops one when its
 * call ends: objects of calls come and go. */
static PyObject *py_node_dicts;
static bool py_node_rests(tn_tensor **grads, int n, tn_tensor *const *came, int ncame, void *user) {
    (void)grads, (void)n, (void)came, (void)ncame, (void)user;
    return true;
}
static tn_tensor *py_node_leaf_rests(tn_tensor *grad, void *user) {
    (void)user;
    return grad;
}
static void py_node_forget(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *key = PyLong_FromVoidPtr(user), *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (key && PyDict_DelItem(py_node_dicts, key)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_XDECREF(key);
    PyGILState_Release(state);
}
static PyObject *py_node_dict(tn_history *h, tn_tensor *leaf) {
    void *at = h ? (void *)h : (void *)leaf;
    PyObject *key = PyLong_FromVoidPtr(at), *dict = NULL;
    bool ok = key && (py_node_dicts || (py_node_dicts = PyDict_New()));
    if (ok && (dict = PyDict_GetItemWithError(py_node_dicts, key)) != NULL) {
        Py_DECREF(key);
        return Py_NewRef(dict);
    }
    ok = ok && !PyErr_Occurred() && (dict = PyDict_New()) != NULL &&
         !PyDict_SetItem(py_node_dicts, key, dict);
    if (ok && !(h ? tn_history_hook_add(h, false, py_node_rests, at, py_node_forget)
                  : tn_hook_add_at(NULL, 0, leaf, py_node_leaf_rests, at, py_node_forget))) {
        py_node_forget(at);
        Py_CLEAR(dict);
        py_raise();
    }
    Py_XDECREF(key);
    return dict;
}
static PyObject *py_node_metadata(PyObject *self, void *unused) {
    const py_node *n = (const py_node *)self;
    (void)unused;
    return py_node_dict(n->history, n->leaf);
}

static PyMethodDef py_node_methods[] = {
    {"name", py_node_name, METH_NOARGS, "as torch names the call"},
    {"register_hook", py_node_register_hook, METH_O,
     "register_hook(hook)\n\nhook(grad_inputs, grad_outputs) sees what the call gives in each "
     "backward, and what came for it; it may return a tuple in place of grad_inputs"},
    {"register_prehook", py_node_register_prehook, METH_O,
     "register_prehook(hook)\n\nhook(grad_outputs) sees what comes for the results of the call in "
     "each backward, before it runs, and may return a tuple in its place"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_node_attributes[] = {
    {"next_functions", py_node_next, NULL, "where its inputs came from: (grad_fn, result)", NULL},
    {"variable", py_node_variable, NULL, "the leaf, of an AccumulateGrad", NULL},
    {"metadata", py_node_metadata, NULL, "a dictionary for programs, of this call", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* What a ctx has of a node: function.c stands below and knows no nodes. */
static PyObject *py_node_of_context(PyObject *self, void *unused) {
    (void)unused;
    return py_node_inputs(py_context_history(self));
}
static tn_history *py_node_context_call(PyObject *self) {
    const tn_history *h = py_context_history(self);
    if (!h) PyErr_SetString(PyExc_RuntimeError, "the call of this Function is not on the tape");
    return (tn_history *)(uintptr_t)h;
}
static PyObject *py_context_register_hook(PyObject *self, PyObject *function) {
    tn_history *h = py_node_context_call(self);
    return h ? py_hook_of_call(h, function, true) : NULL;
}
static PyObject *py_context_register_prehook(PyObject *self, PyObject *function) {
    tn_history *h = py_node_context_call(self);
    return h ? py_hook_of_call(h, function, false) : NULL;
}
static PyObject *py_context_metadata(PyObject *self, void *unused) {
    tn_history *h = py_node_context_call(self);
    (void)unused;
    return h ? py_node_dict(h, NULL) : NULL;
}
static PyMethodDef py_context_hooks[] = {
    {"register_hook", py_context_register_hook, METH_O, "as of a grad_fn"},
    {"register_prehook", py_context_register_prehook, METH_O, "as of a grad_fn"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_context_inputs[] = {
    {"next_functions", py_node_of_context, NULL, "where the inputs came from", NULL},
    {"metadata", py_context_metadata, NULL, "a dictionary for programs, of this call", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PY_PRIV int py_nodes_begin(PyObject *module) {
    PyType_Slot node[] = {
        {Py_tp_dealloc, (void *)py_node_dealloc},  {Py_tp_repr, (void *)py_node_repr},
        {Py_tp_getattro, (void *)py_node_getattr}, {Py_tp_methods, py_node_methods},
        {Py_tp_getset, py_node_attributes},        {0, NULL}};
    py.node = py_place_class(module, "_Node", "torch.autograd.graph.Node", sizeof(py_node),
                             Py_TPFLAGS_BASETYPE, node);
    if (!py.node || py_add_methods(py.context, py_context_hooks)) return -1;
    return py_add_attributes(py.context, py_context_inputs);
}

/* src/py/autograd.c - backward, autograd.grad, grad modes as classes, what a tensor tells of its history */
/* autograd.c - backward, autograd.grad, grad modes as classes, what a tensor tells of its history.
 *
 * A backward that may last releases the GIL. It is asked to stop only where Ctrl-C would raise: a
 * pass that was stopped has freed a part of its graph and cannot be made again. */

/* Whether o is given and true; -1 with an exception. */
static int py_truth_or(PyObject *o, int otherwise) {
    /* torch takes any truth for these flags */
    return o && o != Py_None ? PyObject_IsTrue(o) : otherwise;
}

/* --- lists of tensors ------------------------------------------------------------------------- */

typedef struct py_tensors {
    PyObject *all; /* a tuple, which keeps the members */
    tn_tensor **at;
    Py_ssize_t n;
    tn_tensor *few[8];
} py_tensors;

static void py_tensors_end(py_tensors *l) {
    Py_XDECREF(l->all);
    if (l->at != l->few) py_give(l->at);
}

/* A tensor, or a sequence of tensors (and None, with holes). To be ended in either case. */
static bool py_tensors_of(py_tensors *l, const char *what, PyObject *o, bool holes) {
    l->at = l->few;
    /* held by the tuple: hooks may change the sequence meanwhile */
    l->all = py_is_tensor(o) || (holes && o == Py_None) ? PyTuple_Pack(1, o) : PySequence_Tuple(o);
    if (!l->all) return false;
    l->n = PyTuple_Size(l->all);
    if (l->n > 8 && !(l->at = (tn_tensor **)py_get((size_t)l->n, sizeof *l->at))) {
        l->at = l->few;
        return PyErr_NoMemory(), false;
    }
    for (Py_ssize_t i = 0; i < l->n; i++) {
        PyObject *one = PyTuple_GetItem(l->all, i);
        l->at[i] = NULL;
        if (holes && one == Py_None) continue;
        if (!py_is_tensor(one)) {
            PyErr_Format(PyExc_TypeError, "element %zd of %s tuple is not a Tensor", i, what);
            return false;
        }
        l->at[i] = py_of(one);
    }
    return true;
}

/* --- a pass ----------------------------------------------------------------------------------- */

typedef struct py_pass {
    tn_tensors outputs, inputs;
    tn_tensor *const *seeds; /* NULL, or one an output */
    bool retain, create, allow_unused;
    tn_tensor **grads; /* of the inputs; NULL: they are added to .grad */
} py_pass;

/* module.name(), new; NULL with an exception. */
static PyObject *py_called(const char *module, const char *name) {
    PyObject *m = PyImport_ImportModule(module);
    PyObject *r = m ? PyObject_CallMethod(m, name, NULL) : NULL;
    Py_XDECREF(m);
    return r;
}

/* Whether Ctrl-C raises KeyboardInterrupt in this thread. */
static bool py_pass_stops(void) {
    PyObject *signal = NULL, *now = NULL, *usual = NULL, *here = NULL, *main = NULL;
    bool stops = true;
    /* a program that never imported threading has one thread */
    if (py_entry(PyImport_GetModuleDict(), "threading")) {
        here = py_called("threading", "current_thread");
        main = py_called("threading", "main_thread");
        stops = here && here == main;
    }
    if (stops && (signal = PyImport_ImportModule("signal")) != NULL) {
        /* a handler of the program's own may go on, and then the pass may not stop */
        now = PyObject_CallMethod(signal, "getsignal", "i", 2); /* SIGINT, everywhere */
        usual = PyObject_GetAttrString(signal, "default_int_handler");
    }
    stops = stops && now && now == usual;
    Py_XDECREF(signal);
    Py_XDECREF(now);
    Py_XDECREF(usual);
    Py_XDECREF(here);
    Py_XDECREF(main);
    PyErr_Clear();
    return stops;
}

/* The pass itself, with or without the GIL: it touches no Python object. */
static bool py_pass_call(const py_pass *p, const char *file, int line) {
    if (p->grads) {
        const tn_grads_options o = {p->seeds, p->retain, p->create, p->allow_unused};
        return tn_grads_at(file, line, p->outputs, p->inputs, p->grads, &o);
    }
    const tn_backward_args a = {NULL, p->inputs, p->retain, p->create, NULL};
    return tn_backward_all_at(file, line, p->outputs, p->seeds, &a);
}

/* torch's error of a seed of another shape than its output's. Returns false. */
static bool py_pass_refuse(const py_pass *p, int64_t i) {
    PyObject *seed = py_wrap_borrowed(p->seeds[i]), *output = py_wrap_borrowed(p->outputs.at[i]);
    PyObject *has = seed ? PyObject_GetAttrString(seed, "shape") : NULL;
    PyObject *wants = output ? PyObject_GetAttrString(output, "shape") : NULL;
    if (has && wants)
        PyErr_Format(PyExc_RuntimeError,
                     "Mismatch in shape: grad_output[%zd] has a shape of %S and output[%zd] has a "
                     "shape of %S.",
                     (Py_ssize_t)i, has, (Py_ssize_t)i, wants);
    Py_XDECREF(seed);
    Py_XDECREF(output);
    Py_XDECREF(has);
    Py_XDECREF(wants);
    return false;
}

/* Whether the seeds have their outputs' shapes; false with an exception. */
static bool py_pass_fits(const py_pass *p) {
    for (int64_t i = 0; p->seeds && i < p->outputs.n; i++) {
        const tn_tensor *seed = p->seeds[i], *of = p->outputs.at[i];
        if (!seed || !tn_needs_grad(of)) continue;
        const tn_ints a = tn_shape(seed), c = tn_shape(of);
        bool same = a.n == c.n;
        for (int64_t d = 0; same && d < a.n; d++) same = a.at[d] == c.at[d];
        if (!same) return py_pass_refuse(p, i);
    }
    return true;
}

/* Runs a pass with the GIL released if it lasts. false: an error of the library, or
 * an exception. */
static bool py_pass_run(const py_pass *p) {
    const char *file;
    int line;
    bool lasts = py.parallel > 0, stops, ok;
    if (!py_pass_fits(p)) return false;
    for (int64_t i = 0; i < p->outputs.n && !lasts; i++)
        /* through the whole graph, until PY_LONG elements are counted */
        lasts = tn_history_lasts(p->outputs.at[i], PY_LONG);
    py_here(&file, &line);
    stops = lasts && py_pass_stops();
    /* from here on no request stops the pass; an earlier request is heeded now */
    while (!stops && !tn_whole_begin())
        if (!py_stopped()) return false;
    if (lasts) {
        py_long l = py_long_begin();
        ok = py_pass_call(p, file, line);
        py_long_end(l);
    } else {
        ok = py_pass_call(p, file, line);
    }
    if (!stops) tn_whole_end();
    if (!ok && stops) py_stopped(); /* KeyboardInterrupt, where it came to that */
    return ok;
}

/* --- backward --------------------------------------------------------------------------------- */

/* Whether all inputs are leaves, for which the library adds to .grad itself. */
static bool py_backward_leaves(const tn_tensors inputs) {
    for (int64_t i = 0; i < inputs.n; i++)
        if (!tn_is_leaf(inputs.at[i])) return false;
    return true;
}

/* The first .grad of t, a copy, as grad may share the memory of a seed. It lies as backward has it:
 * as a leaf does, else row-major. */
static tn_tensor *py_backward_first(tn_tensor *t, tn_tensor *grad) {
    if (tn_is_contiguous(t) || !tn_is_leaf(t))
        return tnp_clone(grad, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    tn_tensor *made = tnp_empty_like(t, tn_dtype_of(grad), TN_NO_DEVICE);
    if (made && !tnp_copy_(made, grad)) tn_free(made), made = NULL;
    return made;
}

/* Adds grad to .grad of t. */
static bool py_backward_gather(tn_tensor *t, tn_tensor *grad) {
    tn_tensor *old = tn_grad_of(t), *now;
    now = tn_take(old ? tnp_add(old, grad, 1) : py_backward_first(t, grad));
    bool ok = now && tnp_set_grad(t, now);
    if (now) tn_release(now);
    return ok;
}

/* backward with inputs that are no leaves: their gradients, then added to .grad. */
static bool py_backward_inner(py_pass *p) {
    tn_tensor **grads = (tn_tensor **)py_get((size_t)p->inputs.n, sizeof *grads);
    bool ok, mode;
    if (!grads) return PyErr_NoMemory(), false;
    p->grads = grads;
    p->allow_unused = true;
    ok = py_pass_run(p);
    /* .grad has a history with create_graph alone */
    mode = tn_set_grad_mode(p->create);
    for (int64_t i = 0; i < p->inputs.n; i++) {
        if (ok && grads[i]) ok = py_backward_gather(p->inputs.at[i], grads[i]);
        tn_release(tn_take(grads[i]));
    }
    tn_set_grad_mode(mode);
    py_give(grads);
    return ok;
}

/* torch's warning of backward(create_graph=True), once a process; false: it raises. */
static bool py_backward_warns(void) {
    PyObject *module = PyImport_ImportModule("tensorh._overloads");
    PyObject *done =
        !module
            ? NULL
            : PyObject_CallMethod(
                  module, "warn_once", "ss",
                  "Using backward() with create_graph=True will create a reference cycle between "
                  "the parameter and its gradient which can cause a memory leak. We recommend "
                  "using autograd.grad when creating the graph to avoid this. If you have to use "
                  "this function, make sure to reset the .grad fields of your parameters to None "
                  "after use to break the cycle and avoid the leak.",
                  "create_graph");
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done != NULL;
}

/* The rest of a backward: flags and inputs. Takes what is set in p. */
static PyObject *py_backward_with(py_pass *p, PyObject *retain, PyObject *create, PyObject *in) {
    py_tensors inputs = {NULL, inputs.few, 0, {NULL}};
    /* retain_graph is create_graph if it is not given */
    int creates = py_truth_or(create, 0), retains = py_truth_or(retain, creates);
    bool ok = creates >= 0 && retains >= 0;
    p->create = creates > 0;
    p->retain = retains > 0;
    if (ok && p->create) ok = py_backward_warns();
    if (ok && in && in != Py_None) {
        ok = py_tensors_of(&inputs, "inputs", in, false);
        if (ok && !inputs.n) {
            PyErr_SetString(PyExc_RuntimeError,
                            "`inputs` argument to `backward()` cannot be empty.");
            ok = false;
        }
        if (ok) p->inputs = tn_tensors_of(inputs.at, inputs.n);
    }
    if (ok && !(py_backward_leaves(p->inputs) ? py_pass_run(p) : py_backward_inner(p)))
        py_raise(), ok = false;
    py_tensors_end(&inputs);
    if (!ok) return NULL;
    Py_RETURN_NONE;
}

/* x.backward(..). "_lent": between py_lend and py_lent, see below. */
static PyObject *py_tensor_backward_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *kwnames) {
    static const char *const names[] = {"gradient", "retain_graph", "create_graph", "inputs"};
    PyObject *a[4];
    tn_tensor *t = py_of(self), *seed = NULL;
    py_pass p;
    /* no inputs: all leaves */
    memset(&p, 0, sizeof p);
    if (!py_take("backward", names, 4, args, nargs, kwnames, a)) return NULL;
    if (a[0] && a[0] != Py_None) {
        if (!py_is_tensor(a[0]))
            return PyErr_Format(PyExc_TypeError, "gradient can be either of Tensor or None, not %R",
                                Py_TYPE(a[0]));
        seed = py_of(a[0]);
    }
    p.outputs = tn_tensors_of(&t, 1);
    /* one seed, NULL for a gradient of 1 */
    p.seeds = &seed;
    return py_backward_with(&p, a[1], a[2], a[3]);
}

/* The seeds of outputs; o may be NULL. */
static bool py_seeds_of(py_tensors *seeds, PyObject *o, const py_tensors *outputs, py_pass *p) {
    if (!o || o == Py_None) return true;
    if (!py_tensors_of(seeds, "gradients", o, true)) return false;
    p->seeds = seeds->at;
    if (seeds->n == outputs->n) return true;
    PyErr_Format(PyExc_RuntimeError, "got %zd tensors and %zd gradients", outputs->n, seeds->n);
    return false;
}

/* autograd.backward(tensors, ..): grad_variables (4) is the old name of grad_tensors (1). */
static PyObject *py_autograd_backward_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                           PyObject *kwnames) {
    static const char *const names[] = {"tensors",      "grad_tensors",   "retain_graph",
                                        "create_graph", "grad_variables", "inputs"};
    PyObject *a[6], *r = NULL;
    py_tensors outputs = {NULL, outputs.few, 0, {NULL}}, seeds = {NULL, seeds.few, 0, {NULL}};
    py_pass p;
    (void)self;
    memset(&p, 0, sizeof p);
    if (!py_take("backward", names, 6, args, nargs, kwnames, a)) return NULL;
    if (!a[0])
        return PyErr_Format(PyExc_TypeError,
                            "backward() missing 1 required positional argument: 'tensors'");
    if (py_tensors_of(&outputs, "tensors", a[0], false) &&
        py_seeds_of(&seeds, a[1] ? a[1] : a[4], &outputs, &p)) {
        p.outputs = tn_tensors_of(outputs.at, outputs.n);
        r = py_backward_with(&p, a[2], a[3], a[5]);
    }
    /* whatever failed above: an end of an empty list does nothing */
    py_tensors_end(&outputs);
    py_tensors_end(&seeds);
    return r;
}

/* --- autograd.grad ---------------------------------------------------------------------------- */

/* The gradient of a sparse input, which it takes, with each place once. */
static PyObject *py_grad_each_once(PyObject *grad) {
    PyObject *r = grad == Py_None ? Py_NewRef(grad) : PyObject_CallMethod(grad, "_each_once", NULL);
    Py_DECREF(grad);
    return r;
}

/* A tuple of the gradients, which it takes; None or zeros for those that are not there. */
static PyObject *py_grad_results(const py_pass *p, bool materialize) {
    PyObject *all = PyTuple_New((Py_ssize_t)p->inputs.n);
    for (int64_t i = 0; i < p->inputs.n; i++) {
        tn_tensor *t = p->grads[i], *of = p->inputs.at[i];
        if (!t && materialize) t = tnp_zeros(tn_shape(of), tn_dtype_of(of), tn_device_of(of));
        /* taken in any case, so that a failure leaks nothing */
        PyObject *one = t ? py_wrap_any(tn_take(t)) : materialize ? py_raise() : Py_NewRef(Py_None);
        if (one && tn_sparse_layout(of) != TN_STRIDED) one = py_grad_each_once(one);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

/* Runs the pass into an array of gradients, on the stack for few inputs. */
static PyObject *py_grad_of(py_pass *p, bool materialize) {
    tn_tensor *few[8];
    PyObject *r;
    p->grads = few;
    if (p->inputs.n > 8 && !(p->grads = (tn_tensor **)py_get((size_t)p->inputs.n, sizeof *few)))
        return PyErr_NoMemory();
    r = py_pass_run(p) ? py_grad_results(p, materialize) : py_raise();
    if (p->grads != few) py_give(p->grads);
    return r;
}

/* allow_unused and materialize_grads, of which one follows from the other. */
static bool py_grad_unused(py_pass *p, PyObject *allow, int materialize) {
    int allows = py_truth_or(allow, materialize);
    p->allow_unused = allows > 0;
    if (allows < 0 || materialize < 0) return false;
    if (!materialize || allows) return true;
    PyErr_SetString(PyExc_ValueError, "Expected allow_unused to be True or not passed when "
                                      "materialize_grads=True, but got: allow_unused=False.");
    return false;
}

/* autograd.grad(outputs, inputs, ..): a new tuple of gradients. */
/* The same for a batch of seeds: tensorh/_vmap.py. */
static PyObject *py_grad_batched(PyObject *const *a) {
    PyObject *module = PyImport_ImportModule("tensorh._vmap"), *r = NULL;
    if (module)
        r = PyObject_CallMethod(module, "seeded", "OOOOOOO", a[0], a[1], a[2] ? a[2] : Py_None,
                                a[3] ? a[3] : Py_None, a[4] ? a[4] : Py_False,
                                a[6] ? a[6] : Py_None, a[8] ? a[8] : Py_False);
    Py_XDECREF(module);
    return r;
}

static PyObject *py_autograd_grad_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames) {
    static const char *const names[] = {"outputs",      "inputs",           "grad_outputs",
                                        "retain_graph", "create_graph",     "only_inputs",
                                        "allow_unused", "is_grads_batched", "materialize_grads"};
    PyObject *a[9], *r = NULL;
    py_tensors outputs = {NULL, outputs.few, 0, {NULL}}, seeds = {NULL, seeds.few, 0, {NULL}},
               inputs = {NULL, inputs.few, 0, {NULL}};
    py_pass p;
    (void)self;
    memset(&p, 0, sizeof p);
    if (!py_take("grad", names, 9, args, nargs, kwnames, a)) return NULL;
    if (!a[0] || !a[1])
        return PyErr_Format(PyExc_TypeError, "grad() missing required argument: '%s'",
                            a[0] ? "inputs" : "outputs");
    int create = py_truth_or(a[4], 0), retain = py_truth_or(a[3], create),
        batched = py_truth_or(a[7], 0), materialize = py_truth_or(a[8], 0);
    if (create < 0 || retain < 0 || batched < 0 || !py_grad_unused(&p, a[6], materialize))
        return NULL;
    /* only_inputs (5) is ignored, as in torch */
    if (batched) return py_grad_batched(a);
    p.create = create > 0;
    p.retain = retain > 0;
    if (py_tensors_of(&outputs, "outputs", a[0], false) &&
        py_tensors_of(&inputs, "inputs", a[1], false) && py_seeds_of(&seeds, a[2], &outputs, &p)) {
        p.outputs = tn_tensors_of(outputs.at, outputs.n);
        p.inputs = tn_tensors_of(inputs.at, inputs.n);
        r = inputs.n ? py_grad_of(&p, materialize > 0)
                     : PyErr_Format(PyExc_RuntimeError,
                                    "`inputs` argument to `grad()` cannot be empty.");
    }
    py_tensors_end(&outputs);
    py_tensors_end(&seeds);
    py_tensors_end(&inputs);
    return r;
}

/* --- what a tensor tells ---------------------------------------------------------------------- */

static PyObject *py_tensor_requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                          PyObject *kwnames) {
    static const char *const names[] = {"requires_grad"};
    PyObject *value;
    if (!py_take("requires_grad_", names, 1, args, n, kwnames, &value)) return NULL;
    if (value && !PyBool_Check(value))
        return PyErr_Format(PyExc_TypeError,
                            "requires_grad_(): argument 'requires_grad' must be bool, not %R",
                            Py_TYPE(value));
    /* by the attribute, which a subclass may override */
    if (PyObject_SetAttr(self, py.requires_grad, value ? value : Py_True)) return NULL;
    return Py_NewRef(self);
}

static PyObject *py_tensor_detach_(PyObject *self, PyObject *unused) {
    const char *file;
    int line;
    (void)unused;
    py_here(&file, &line);
    return tn_detach_inplace_at(file, line, py_of(self)) ? Py_NewRef(self) : py_raise();
}

static PyObject *py_tensor_is_inference(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(tn_is_inference(py_of(self)));
}

/* x.data: the same memory, without history and without a place on the tape. Writes through it are
 * not counted as writes to x. */
static PyObject *py_tensor_data(PyObject *self, void *unused) {
    const tn_detach_args a = {py_of(self)};
    (void)unused;
    tn_tensor *t = tn_detach_at(NULL, 0, &a);
    return t && tn_count_apart(t) ? py_wrap(tn_take(t)) : py_raise();
}

static int py_tensor_set_data(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Deleting tensor data is not allowed. Delete tensor instead!");
        return -1;
    }
    if (!py_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %R",
                     Py_TYPE(value));
        return -1;
    }
    /* Keep the old memory until running calls end: another thread may read it. */
    if (!py_retire_memory(py_of(self))) return py_raise(), -1;
    if (tn_set_data_at(NULL, 0, py_of(self), py_of(value))) return 0;
    py_raise();
    return -1;
}

static PyObject *py_tensor_base(PyObject *self, void *unused) {
    (void)unused;
    /* as _is_view */
    return py_wrap_borrowed(tn_is_inference(py_of(self)) ? NULL : tn_base_of(py_of(self)));
}

static PyObject *py_tensor_output_nr(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(tn_history_output(py_of(self)));
}

static PyObject *py_tensor_grad_fn(PyObject *self, void *unused) {
    (void)unused;
    return py_node_of(tn_history_of(py_of(self)), NULL);
}

/* What hooks do to the tensors of a pass does not concern it. */
#define AUTOGRAD_LENT(name)                                                        \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, \
                          PyObject *kwnames) {                                     \
        const int turn = py_lend();                                                \
        return py_lent(turn, name##_lent(self, args, nargs, kwnames));             \
    }
AUTOGRAD_LENT(py_tensor_backward)
AUTOGRAD_LENT(py_autograd_backward)
AUTOGRAD_LENT(py_autograd_grad)

#define AUTOGRAD_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_tensor_history_methods[] = {
    {"backward", AUTOGRAD_FAST(py_tensor_backward), METH_FASTCALL | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)\n\n"
     "adds the gradients of this tensor to .grad of the leaves (of inputs)"},
    {"requires_grad_", AUTOGRAD_FAST(py_tensor_requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     "requires_grad_(requires_grad=True)\n\nmakes a leaf that gathers .grad"},
    {"detach_", py_tensor_detach_, METH_NOARGS, "makes it a leaf that does not require grad"},
    {"is_inference", py_tensor_is_inference, METH_NOARGS, "whether inference mode made it"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_tensor_history[] = {
    {"data", py_tensor_data, py_tensor_set_data, "the same memory without history", NULL},
    {"_base", py_tensor_base, NULL, "the tensor whose view this is, or None", NULL},
    {"output_nr", py_tensor_output_nr, NULL, "which result of grad_fn it is", NULL},
    {"grad_fn", py_tensor_grad_fn, NULL, "the recorded call that made it, or None", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef py_autograd_functions[] = {
    {"_backward", AUTOGRAD_FAST(py_autograd_backward), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_grad", AUTOGRAD_FAST(py_autograd_grad), METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_autograd_begin(PyObject *module) {
    if (py_add_methods(py.tensor, py_tensor_history_methods)) return -1;
    if (py_add_attributes(py.tensor, py_tensor_history)) return -1;
    return PyModule_AddFunctions(module, py_autograd_functions);
}

/* src/py/mode.c - grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode as context managers and decorators; anomaly mode */
/* mode.c - grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode as context managers
 * and decorators; anomaly mode. Modes belong to the calling thread. */

typedef enum py_mode_kind { MODE_NO_GRAD, MODE_ENABLE, MODE_SET, MODE_INFERENCE } py_mode_kind;

/* Nested uses of one object keep the modes before them as bits, the innermost in bit 0. */
typedef struct py_mode {
    PyObject_HEAD py_mode_kind kind;
    bool mode, first; /* first: of set_grad_enabled, the mode when it was made */
    uint64_t grad, inference;
} py_mode;

/* The library has a setter alone, which returns the mode before. */
PY_PRIV bool py_mode_inference(void) {
    bool now = tn_set_inference_mode(true);
    if (!now) tn_set_inference_mode(false);
    return now;
}

/* with mode: sets it, and keeps the mode before as a bit. */
static PyObject *py_mode_enter(PyObject *self, PyObject *unused) {
    py_mode *m = (py_mode *)self;
    (void)unused;
    if (m->kind == MODE_INFERENCE) {
        /* inference mode turns recording off, and on again with mode=False */
        m->inference = m->inference << 1 | tn_set_inference_mode(m->mode);
        m->grad = m->grad << 1 | tn_set_grad_mode(!m->mode);
    } else {
        m->grad = m->grad << 1 | tn_set_grad_mode(m->mode);
    }
    return Py_NewRef(self);
}

/* The end of a with block, with or without an exception: the mode before. */
static PyObject *py_mode_exit(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    py_mode *m = (py_mode *)self;
    (void)args, (void)n;
    /* set_grad_enabled acts when it is made, so it goes back to the mode before that */
    tn_set_grad_mode(m->kind == MODE_SET ? m->first : (m->grad & 1) != 0);
    m->grad >>= 1;
    if (m->kind == MODE_INFERENCE) {
        tn_set_inference_mode((m->inference & 1) != 0);
        m->inference >>= 1;
    }
    Py_RETURN_NONE;
}

/* A new one of the same kind, for one call of a decorated function. */
static PyObject *py_mode_clone(PyObject *self, PyObject *unused) {
    py_mode *m = (py_mode *)self, *one = (py_mode *)PyType_GenericAlloc(Py_TYPE(self), 0);
    (void)unused;
    if (!one) return NULL;
    one->kind = m->kind == MODE_SET ? MODE_ENABLE : m->kind; /* it acts when entered */
    one->mode = m->mode;
    return (PyObject *)one;
}

/* A function that enters a clone of self around each call and each step of a generator. */
static PyObject *py_mode_decorate(PyObject *self, PyObject *function) {
    PyObject *module = PyImport_ImportModule("tensorh.autograd.grad_mode");
    PyObject *r = module ? PyObject_CallMethod(module, "_decorate", "OO", self, function) : NULL;
    Py_XDECREF(module);
    return r;
}

/* mode(function): decorates it, as torch's modes do. */
static PyObject *py_mode_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_mode *m = (py_mode *)self;
    if (PyTuple_Size(args) != 1 || (kwargs && PyDict_Size(kwargs)))
        return PyErr_Format(PyExc_TypeError, "expected one function to decorate");
    if (m->kind == MODE_SET) tn_set_grad_mode(m->first); /* what it did when made is undone */
    return py_mode_decorate(self, PyTuple_GetItem(args, 0));
}

/* The one argument `name`, borrowed; false with an exception. */
static bool py_mode_argument(const char *what, const char *name, PyObject *args, PyObject *kwargs,
                             PyObject **to) {
    Py_ssize_t n = PyTuple_Size(args), nkw = kwargs ? PyDict_Size(kwargs) : 0;
    *to = n ? PyTuple_GetItem(args, 0) : nkw ? py_entry(kwargs, name) : NULL;
    if (n + nkw <= 1 && (*to || n + nkw == 0)) return true;
    if (PyErr_Occurred()) return false;
    PyErr_Format(PyExc_TypeError, "%s() takes at most one argument, '%s'", what, name);
    return false;
}

/* An object of the class, or `over` decorated by one. */
static PyObject *py_mode_make(PyTypeObject *type, py_mode_kind kind, bool mode, PyObject *over) {
    py_mode *m = (py_mode *)PyType_GenericAlloc(type, 0);
    PyObject *r;
    if (!m) return NULL;
    m->kind = kind;
    m->mode = mode;
    if (!over) return (PyObject *)m;
    r = py_mode_decorate((PyObject *)m, over);
    Py_DECREF((PyObject *)m);
    return r;
}

static PyObject *py_mode_new_no_grad(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *over;
    if (!py_mode_argument("no_grad", "orig_func", args, kwargs, &over)) return NULL;
    return py_mode_make(type, MODE_NO_GRAD, false, over == Py_None ? NULL : over);
}
static PyObject *py_mode_new_enable(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *over;
    if (!py_mode_argument("enable_grad", "orig_func", args, kwargs, &over)) return NULL;
    return py_mode_make(type, MODE_ENABLE, true, over == Py_None ? NULL : over);
}
/* set_grad_enabled(mode) acts at once; as a context manager it is undone at the end. */
static PyObject *py_mode_new_set(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *mode;
    if (!py_mode_argument("set_grad_enabled", "mode", args, kwargs, &mode)) return NULL;
    if (!mode || !PyBool_Check(mode))
        return PyErr_Format(PyExc_TypeError, "set_grad_enabled(): argument 'enabled' (position 1) "
                                             "must be bool");
    PyObject *m = py_mode_make(type, MODE_SET, mode == Py_True, NULL);
    if (m) ((py_mode *)m)->first = tn_set_grad_mode(mode == Py_True);
    return m;
}
/* inference_mode(mode=True), or inference_mode(function) as a decorator. */
static PyObject *py_mode_new_inference(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *mode;
    if (!py_mode_argument("inference_mode", "mode", args, kwargs, &mode)) return NULL;
    if (mode && !PyBool_Check(mode)) {
        if (PyCallable_Check(mode)) return py_mode_make(type, MODE_INFERENCE, true, mode);
        return PyErr_Format(PyExc_TypeError, "inference_mode(): mode must be bool");
    }
    return py_mode_make(type, MODE_INFERENCE, !mode || mode == Py_True, NULL);
}

/* torch shows set_grad_enabled alone as the call that makes it. */
static PyObject *py_mode_repr(PyObject *self) {
    const py_mode *m = (py_mode *)self;
    if (m->kind == MODE_SET)
        return PyUnicode_FromFormat("torch.autograd.grad_mode.set_grad_enabled(mode=%s)",
                                    m->mode ? "True" : "False");
    /* object.__repr__, by its slot */
    return ((reprfunc)PyType_GetSlot(&PyBaseObject_Type, Py_tp_repr))(self);
}

static PyObject *py_mode_is_grad_enabled(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(tn_grad_mode());
}
static PyObject *py_mode_is_inference(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(py_mode_inference());
}
/* Sets anomaly mode of the process; returns the one before. */
static PyObject *py_mode_set_anomaly(PyObject *self, PyObject *mode) {
    int truth = PyObject_IsTrue(mode);
    (void)self;
    return truth < 0 ? NULL : PyBool_FromLong(tn_set_anomaly_mode(truth > 0));
}

static PyObject *py_mode_is_anomaly(PyObject *self, PyObject *unused) {
    bool now = tn_set_anomaly_mode(true);
    (void)self, (void)unused;
    tn_set_anomaly_mode(now);
    return PyBool_FromLong(now);
}

#define MODE_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_mode_methods[] = {
    {"__enter__", py_mode_enter, METH_NOARGS, NULL},
    {"__exit__", MODE_FAST(py_mode_exit), METH_FASTCALL, NULL},
    {"clone", py_mode_clone, METH_NOARGS, "another one of the same kind"},
    {NULL, NULL, 0, NULL}};
/* _set_autocast(dtype or None): sets that of the thread, and returns the one before. */
static PyObject *py_mode_set_autocast(PyObject *self, PyObject *o) {
    tn_dtype dtype = TN_NO_DTYPE;
    (void)self;
    if (o != Py_None && !py_to_dtype(o, &dtype))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "%R is no torch.dtype", o);
    dtype = tn_set_autocast(dtype);
    return Py_NewRef(dtype ? py.dtypes[dtype] : Py_None);
}

/* _set_device_autocast(dtype or None): that of tensors on devices. */
static PyObject *py_mode_set_device_autocast(PyObject *self, PyObject *o) {
    tn_dtype dtype = TN_NO_DTYPE;
    (void)self;
    if (o != Py_None && !py_to_dtype(o, &dtype))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "%R is no torch.dtype", o);
    dtype = tn_set_device_autocast(dtype);
    return Py_NewRef(dtype ? py.dtypes[dtype] : Py_None);
}
/* _autocast_of(tensor): the dtype of autocast where it lies, or None. */
static PyObject *py_mode_autocast_of(PyObject *self, PyObject *o) {
    const tn_tensor *t = py_is_tensor(o) ? py_of(o) : NULL;
    const tn_dtype dtype = t && tn_device_of(t) != TN_CPU ? tn_device_autocast() : tn_autocast();
    (void)self;
    return Py_NewRef(dtype && t ? py.dtypes[dtype] : Py_None);
}
/* _set_autocast_cache(bool): whether casts of weights are kept; what was set before. */
static PyObject *py_mode_set_autocast_cache(PyObject *self, PyObject *o) {
    int truth = PyObject_IsTrue(o);
    (void)self;
    return truth < 0 ? NULL : PyBool_FromLong(tn_set_autocast_cache(truth > 0));
}
static PyObject *py_mode_clear_autocast_cache(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    tn_clear_autocast_cache();
    return Py_NewRef(Py_None);
}

static PyMethodDef py_mode_functions[] = {
    {"_set_autocast", py_mode_set_autocast, METH_O, NULL},
    {"_set_device_autocast", py_mode_set_device_autocast, METH_O, NULL},
    {"_autocast_of", py_mode_autocast_of, METH_O, NULL},
    {"_set_autocast_cache", py_mode_set_autocast_cache, METH_O, NULL},
    {"_clear_autocast_cache", py_mode_clear_autocast_cache, METH_NOARGS, NULL},
    {"is_grad_enabled", py_mode_is_grad_enabled, METH_NOARGS, "whether calls are recorded"},
    {"is_inference_mode_enabled", py_mode_is_inference, METH_NOARGS, "inference mode"},
    {"is_anomaly_enabled", py_mode_is_anomaly, METH_NOARGS, "whether backward looks for NaN"},
    {"_set_anomaly", py_mode_set_anomaly, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

/* One of the classes, with its own tp_new: all have the same methods. */
static int py_mode_publish(PyObject *module, const char *name, newfunc make, const char *doc) {
    char full[64];
    PyType_Slot slots[] = {{Py_tp_new, (void *)make},           {Py_tp_call, (void *)py_mode_call},
                           {Py_tp_repr, (void *)py_mode_repr},  {Py_tp_methods, py_mode_methods},
                           {Py_tp_doc, (void *)(uintptr_t)doc}, {0, NULL}};
    snprintf(full, sizeof full, "torch.autograd.grad_mode.%s", name);
    PyType_Spec spec = {full, sizeof(py_mode), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *type = PyType_FromSpec(&spec);
    int bad = !type || PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return bad ? -1 : 0;
}

PY_PRIV int py_modes_begin(PyObject *module) {
    if (py_mode_publish(module, "no_grad", py_mode_new_no_grad,
                        "no_grad()\n\nNothing is recorded inside.") ||
        py_mode_publish(module, "enable_grad", py_mode_new_enable,
                        "enable_grad()\n\nCalls are recorded inside.") ||
        py_mode_publish(module, "set_grad_enabled", py_mode_new_set,
                        "set_grad_enabled(mode)\n\nFrom this call on; until the end of the block, "
                        "as a context manager.") ||
        py_mode_publish(module, "inference_mode", py_mode_new_inference,
                        "inference_mode(mode=True)\n\nNothing is recorded inside, and what is made "
                        "stays out of graphs."))
        return -1;
    return PyModule_AddFunctions(module, py_mode_functions);
}

/* src/py/vmap.c - what tensorh/_vmap.py asks of the library's batches (api/vmap.h) */
/* vmap.c - what tensorh/_vmap.py asks of the library's batches (api/vmap.h). */

/* _vmap_begin(size, randomness): 0 error, 1 same, 2 different. */
static PyObject *py_vmap_begin_batch(PyObject *self, PyObject *args) {
    long long size;
    int randomness;
    (void)self;
    if (!PyArg_ParseTuple(args, "Li", &size, &randomness)) return NULL;
    if (!tn_vmap_begin_at(NULL, 0, (int64_t)size, (tn_randomness)randomness)) return py_raise();
    Py_RETURN_NONE;
}
static PyObject *py_vmap_end_batch(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    tn_vmap_end();
    Py_RETURN_NONE;
}
static PyObject *py_vmap_randomness(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLong(tn_vmap_randomness());
}
static PyObject *py_vmap_depth(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLong(tn_vmap_depth());
}

/* The tensor among the arguments (tensor, dim); false with an exception. */
static bool py_vmap_take(PyObject *args, const char *format, tn_tensor **t, int64_t *dim) {
    PyObject *o;
    long long n = 0;
    if (!PyArg_ParseTuple(args, format, &o, &n)) return false;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor"), false;
    *t = py_of(o);
    *dim = (int64_t)n;
    return true;
}
static PyObject *py_vmap_result(tn_tensor *t) { return t ? py_wrap(t) : py_raise(); }

/* _batched(tensor, dim), _unbatched(tensor, dim), _batch_each(tensor), _batch_depth(tensor) */
static PyObject *py_vmap_batched(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "OL", &t, &dim) ? py_vmap_result(tn_batched_at(NULL, 0, t, dim))
                                              : NULL;
}
static PyObject *py_vmap_unbatched(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "OL", &t, &dim) ? py_vmap_result(tn_unbatched_at(NULL, 0, t, dim))
                                              : NULL;
}
static PyObject *py_vmap_each(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "O|L", &t, &dim) ? py_vmap_result(tn_batch_each_at(NULL, 0, t))
                                               : NULL;
}
static PyObject *py_vmap_is_batched(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "O|L", &t, &dim) ? PyBool_FromLong(tn_is_batched(t)) : NULL;
}
static PyObject *py_vmap_depth_of(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "O|L", &t, &dim) ? PyLong_FromLong(tn_batch_depth(t)) : NULL;
}

/* What is the same for all wrappers and samples of one tensor with a history. */
static PyObject *py_vmap_address(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int64_t dim;
    (void)self;
    return py_vmap_take(args, "O|L", &t, &dim) ? PyLong_FromVoidPtr((void *)tn_batch_whole(t))
                                               : NULL;
}

static PyMethodDef py_vmap_functions[] = {
    {"_vmap_begin", py_vmap_begin_batch, METH_VARARGS, "opens a batch of that many samples"},
    {"_vmap_end", py_vmap_end_batch, METH_NOARGS, "closes the batch that was opened last"},
    {"_vmap_randomness", py_vmap_randomness, METH_NOARGS, "of the innermost batch"},
    {"_vmap_depth", py_vmap_depth, METH_NOARGS, "how many batches are open"},
    {"_batched", py_vmap_batched, METH_VARARGS, "one sample of a tensor whose dim counts them"},
    {"_unbatched", py_vmap_unbatched, METH_VARARGS, "all samples, counted by a new dim"},
    {"_batch_each", py_vmap_each, METH_VARARGS, "a sample of every open batch"},
    {"_is_batched", py_vmap_is_batched, METH_VARARGS, "whether the innermost batch has the tensor"},
    {"_batch_depth", py_vmap_depth_of, METH_VARARGS, "how many batches a tensor is a sample of"},
    {"_address", py_vmap_address, METH_VARARGS, "of all samples of a tensor"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_vmap_start(PyObject *module) {
    return PyModule_AddFunctions(module, py_vmap_functions);
}

/* src/py/sparse.c - what tensorh/_sparse.py asks of sparse tensors (api/sparse.h): their wrappers are of the class that it registers */
/* sparse.c - what tensorh/_sparse.py asks of sparse tensors (api/sparse.h): their wrappers are of
 * the class that it registers. */

static PyObject *py_sparse_register(PyObject *self, PyObject *type) {
    (void)self;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py.tensor))
        return PyErr_Format(PyExc_TypeError, "expected a class of tensors");
    Py_INCREF(type);
    py.sparse = (PyTypeObject *)type;
    Py_RETURN_NONE;
}

/* _sparse_new(layout, parts, size, coalesced) */
static PyObject *py_sparse_new(PyObject *self, PyObject *args) {
    PyObject *parts, *sizes;
    tn_tensor *part[3], *t;
    int64_t size[TN_MAX_DIMS];
    int layout, coalesced;
    (void)self;
    if (!PyArg_ParseTuple(args, "iO!O!p", &layout, &PyTuple_Type, &parts, &PyTuple_Type, &sizes,
                          &coalesced))
        return NULL;
    const Py_ssize_t n = PyTuple_Size(parts), dims = PyTuple_Size(sizes);
    if (n > 3 || dims > TN_MAX_DIMS)
        return PyErr_Format(PyExc_ValueError, "a sparse tensor has at most %d dimensions",
                            TN_MAX_DIMS);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(parts, i);
        if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected tensors");
        part[i] = py_of(o);
    }
    for (Py_ssize_t i = 0; i < dims; i++)
        if (!py_to_int(PyTuple_GetItem(sizes, i), &size[i])) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "sizes must be integers");
            return NULL;
        }
    t = tn_sparse_new_at(NULL, 0, (tn_layout)layout, tn_tensors_of(part, (int64_t)n),
                         tn_ints_of(size, (int64_t)dims));
    if (!t) return py_raise();
    if (coalesced) tn_set_coalesced(t, true);
    return py_wrap_any(tn_take(t));
}

/* The tensor among the arguments; false with an exception. */
static bool py_sparse_args(PyObject *args, const char *format, tn_tensor **t, void *more) {
    PyObject *o;
    if (!PyArg_ParseTuple(args, format, &o, more)) return false;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor"), false;
    *t = py_of(o);
    return true;
}
static PyObject *py_sparse_part(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int k;
    (void)self;
    return py_sparse_args(args, "Oi", &t, &k) ? py_wrap_borrowed(tn_sparse_part(t, k)) : NULL;
}
static PyObject *py_sparse_layout(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int unused;
    (void)self;
    return py_sparse_args(args, "O|i", &t, &unused) ? PyLong_FromLong(tn_sparse_layout(t)) : NULL;
}
static PyObject *py_sparse_coalesced(PyObject *self, PyObject *args) {
    tn_tensor *t;
    int to = -1;
    (void)self;
    if (!py_sparse_args(args, "O|p", &t, &to)) return NULL;
    if (to >= 0) tn_set_coalesced(t, to);
    return PyBool_FromLong(tn_is_coalesced(t));
}
/* _sparse_set(t, other): t becomes what other is. */
static PyObject *py_sparse_set(PyObject *self, PyObject *args) {
    tn_tensor *t;
    PyObject *other;
    (void)self;
    if (!py_sparse_args(args, "OO", &t, &other)) return NULL;
    if (!py_is_tensor(other)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
    if (!tn_sparse_set_at(NULL, 0, t, py_of(other))) return py_raise();
    Py_RETURN_NONE;
}

static PyMethodDef py_sparse_functions[] = {
    {"_sparse_class", py_sparse_register, METH_O, "the class of sparse tensors"},
    {"_sparse_new", py_sparse_new, METH_VARARGS, "(layout, parts, size, coalesced)"},
    {"_sparse_part", py_sparse_part, METH_VARARGS, "(tensor, k): its part k, or None"},
    {"_sparse_layout", py_sparse_layout, METH_VARARGS, "the layout's number; 0: strided"},
    {"_sparse_coalesced", py_sparse_coalesced, METH_VARARGS, "(tensor, to=): whether it is"},
    {"_sparse_set", py_sparse_set, METH_VARARGS, "(tensor, other): it becomes what other is"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_sparse_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_sparse_functions);
}

/* src/py/parameter.c - Parameter: a tensor that a module counts among its parameters */
/* parameter.c - Parameter: a tensor that a module counts among its parameters. */

/* Runs under grad mode off; t is new. */
static tn_tensor *py_parameter_alias(tn_tensor *data, bool requires_grad) {
    tn_tensor *t = tnp_detach(data);
    /* lent by the call, so it is owned here or freed */
    return t && (!requires_grad || tn_requires_grad_at(NULL, 0, t, true)) ? tn_take(t)
                                                                          : (tn_free(t), NULL);
}

/* Parameter() without data: a tensor of no elements, as torch. */
static tn_tensor *py_parameter_empty(void) {
    const int64_t size[1] = {0};
    return tn_take(tnp_zeros(tn_ints_of(size, 1), TN_NO_DTYPE, TN_NO_DEVICE));
}

/* A leaf over the memory of data, or an empty one for None. New. */
static PyObject *py_parameter_make(PyTypeObject *type, PyObject *data, bool requires_grad) {
    /* held: the alias has its own count of the memory, not of the tensor */
    tn_tensor *of = data == Py_None ? py_parameter_empty() : tn_retain(py_of(data));
    tn_tensor *t = of ? py_parameter_alias(of, requires_grad) : NULL;
    tn_release(of);
    return py_wrap_as(type, t);
}

/* Parameter(data=None, requires_grad=True). */
static PyObject *py_parameter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"data", "requires_grad", NULL};
    PyObject *data = Py_None;
    int requires_grad = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op", (char **)(uintptr_t)names, &data,
                                     &requires_grad))
        return NULL;
    if (data != Py_None && !py_is_tensor(data))
        return PyErr_Format(PyExc_TypeError, "Parameter(): argument 'data' must be Tensor, not %R",
                            (PyObject *)Py_TYPE(data));
    return py_parameter_make(type, data, requires_grad != 0);
}

/* Tensor has no __init__ that takes these arguments: __new__ has done it all. */
static int py_parameter_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self, (void)args, (void)kwargs;
    return 0;
}

static PyObject *py_parameter_repr(PyObject *self) {
    /* the base class's slot: super().__repr__() without a lookup */
    reprfunc repr = (reprfunc)PyType_GetSlot(py.tensor, Py_tp_repr);
    PyObject *text = repr(self);
    PyObject *r = text ? PyUnicode_FromFormat("Parameter containing:\n%U", text) : NULL;
    Py_XDECREF(text);
    return r;
}

/* copy.deepcopy: memo has what was copied already, by id; borrowed, so counted again. */
static PyObject *py_parameter_deepcopy(PyObject *self, PyObject *memo) {
    PyObject *id = PyLong_FromVoidPtr(self), *known = NULL;
    tn_tensor *t = py_of(self), *copy;
    if (!id || (PyDict_Check(memo) && (known = PyDict_GetItemWithError(memo, id)) != NULL) ||
        PyErr_Occurred()) {
        Py_XDECREF(id);
        return Py_XNewRef(known);
    }
    /* a copy is a leaf, so the clone is not recorded */
    bool mode = tn_set_grad_mode(false);
    copy = tn_take(tnp_clone(t, (tn_memory_format)0));
    tn_set_grad_mode(mode);
    if (copy && tn_needs_grad(t) && !tn_requires_grad_at(NULL, 0, copy, true))
        tn_release(copy), copy = NULL;
    PyObject *r = py_wrap_as(Py_TYPE(self), copy);
    if (r && PyDict_Check(memo) && PyDict_SetItem(memo, id, r)) Py_CLEAR(r);
    Py_DECREF(id);
    return r;
}

/* _rebuild_parameter(class or None, data, requires_grad) */
static PyObject *py_parameter_rebuild(PyObject *self, PyObject *args) {
    PyObject *type, *data;
    int requires_grad;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOp", &type, &data, &requires_grad)) return NULL;
    if (type == Py_None) type = (PyObject *)py.parameter;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py.parameter) ||
        !py_is_tensor(data))
        return PyErr_Format(PyExc_TypeError, "_rebuild_parameter(): expected a class and a Tensor");
    return py_parameter_make((PyTypeObject *)type, data, requires_grad != 0);
}

/* For pickle and copy: the class (None: Parameter itself), the data, the flag, and attributes as
 * the state. */
static PyObject *py_parameter_reduce(PyObject *self, PyObject *protocol) {
    PyObject *c = PyImport_ImportModule("tensorh._C");
    PyObject *rebuild = c ? PyObject_GetAttrString(c, "_rebuild_parameter") : NULL;
    PyObject *type = Py_TYPE(self) == py.parameter ? Py_None : (PyObject *)Py_TYPE(self);
    PyObject *data = PyObject_CallMethod(self, "detach", NULL), *r = NULL;
    PyObject *dict = ((py_tensor *)self)->dict;
    (void)protocol;
    /* detached: a pickle has no graph */
    if (rebuild && data)
        r = Py_BuildValue("O(OOO)O", rebuild, type, data,
                          tn_needs_grad(py_of(self)) ? Py_True : Py_False,
                          dict && PyDict_Size(dict) ? dict : Py_None);
    Py_XDECREF(data);
    Py_XDECREF(rebuild);
    Py_XDECREF(c);
    return r;
}

static PyMethodDef py_parameter_methods[] = {{"__deepcopy__", py_parameter_deepcopy, METH_O, NULL},
                                             {"__reduce_ex__", py_parameter_reduce, METH_O, NULL},
                                             {NULL, NULL, 0, NULL}};

static PyMethodDef py_parameter_functions[] = {
    {"_rebuild_parameter", py_parameter_rebuild, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

PY_PRIV int py_parameters_begin(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)py_parameter_new},
        {Py_tp_init, (void *)py_parameter_init},
        {Py_tp_repr, (void *)py_parameter_repr},
        {Py_tp_methods, py_parameter_methods},
        {Py_tp_doc, (void *)(uintptr_t) "A tensor that a module counts among its parameters: a "
                                        "leaf over the memory of `data`."},
        {0, NULL}};
    PyType_Spec spec = {"torch.nn.parameter.Parameter", sizeof(py_tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    /* no Py_TPFLAGS_HAVE_GC of its own: it is inherited with traverse and clear */
    PyObject *bases = PyTuple_Pack(1, (PyObject *)py.tensor);
    py.parameter = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    if (!py.parameter || PyModule_AddObjectRef(module, "Parameter", (PyObject *)py.parameter))
        return -1;
    return PyModule_AddFunctions(module, py_parameter_functions);
}

/* src/py/kind.c - a kind of built-in module: a module row as Python sees it, made once for each row */
/* kind.c - a kind of built-in module: a module row as Python sees it, made once for each row. Its
 * parameters in torch's order, their names as interned words, its options as Python's objects. */

/* forward of a row that has no call of its own: (Tensor input) -> Tensor. */
static const tn_param py_kind_input[] = {{"input", TN_T_TENSOR, 0, 0, 0, -1, NULL}};
static tn_tensor *const py_kind_no_input[1] = {NULL};
static const tn_gen py_kind_plain = {
    py_kind_input,       py_kind_no_input, NULL, NULL, 1,   1, 1, 0,
    sizeof(tn_tensor *), UINT16_MAX,       0,    0,    {0}, 0};
/* --- kinds ------------------------------------------------------------------------------------ */

/* The parameters' names, interned: keywords of source code are found by address. */
static PyObject **py_kind_names(const tn_gen *gen) {
    PyObject **at = (PyObject **)py_get((size_t)gen->nparam + 1, sizeof *at);
    for (int i = 0; at && i < gen->nparam; i++)
        if (!(at[i] = PyUnicode_InternFromString(gen->param[i].name))) return NULL;
    return at;
}

/* How the row prints an option: "name[2]=" is a tuple of two, "name[]" one of its own length. */
static void py_kind_shown(py_kind *k, int i) {
    const char *name = k->make.param[i].name, *at = k->row->repr;
    size_t n = strlen(name);
    while (at && (at = strstr(at, name)) != NULL) {
        /* "size" is not meant by "kernel_size": a name begins after one of these */
        bool begins = at == k->row->repr || strchr(" ,?", at[-1]);
        at += n;
        if (!begins || *at != '[') continue;
        k->tuple |= 1u << i;
        k->spread[i] = (uint8_t)(at[1] >= '0' && at[1] <= '9' ? at[1] - '0' : 0);
        return;
    }
}

/* torch's place of an option: device and dtype, which every row has and which may be given by
 * position, stand before those that are given by name alone. */
static int py_kind_place(const tn_param *p) {
    return p->type == TN_T_DEVICE ? 1 : p->type == TN_T_DTYPE ? 2 : p->flags & TN_P_KEYWORD ? 3 : 0;
}

/* Brings options into torch's order. The struct is the row's: only flags and order are new. */
static bool py_kind_reorder(py_kind *k) {
    const int n = k->make.nparam;
    const tn_param *from = k->make.param;
    tn_param *param = (tn_param *)py_get((size_t)n + 1, sizeof *param);
    if (!param) return false;
    for (int place = 0, at = 0; place < 4; place++)
        for (int i = 0; i < n; i++) {
            if (py_kind_place(&from[i]) != place) continue;
            param[at] = from[i];
            /* torch takes device and dtype by position, the row by name alone */
            if (place < 3) param[at].flags &= (uint8_t)~TN_P_KEYWORD;
            at++;
        }
    k->make.param = param;
    return true;
}

/* A kind stays for the process, like its class. NULL: no memory, or an exception. */
static py_kind *py_kind_new(const tn_mrow *row) {
    const tn_gen *call = row->gen->call ? row->gen->call : &py_kind_plain;
    py_kind *k = (py_kind *)py_get(1, sizeof *k);
    if (!k || row->gen->make->nparam > MROW_ARGS) return py_give(k), NULL;
    k->row = row;
    k->type = row->gen->type;
    k->make = *row->gen->make;
    k->draws = -1;
    /* what was made so far is lost on failure: memory is short, and there is one kind a row */
    if (!py_kind_reorder(k)) return NULL;
    k->making.name = k->calling.name = k->type;
    k->making.gen = &k->make;
    k->making.names = py_kind_names(&k->make);
    k->calling.gen = call;
    k->calling.names = py_kind_names(call);
    if (!k->making.names || !k->calling.names) return NULL;
    for (int i = 0; i < k->make.nparam; i++) {
        py_kind_shown(k, i);
        /* rows name the option that turns drawing on: p of Dropout */
        if (row->draws && !strcmp(k->make.param[i].name, row->draws))
            k->draws = k->make.param[i].offset;
    }
    return k;
}

PY_PRIV const py_kind *py_kind_of(PyTypeObject *type) {
    /* a class of a row has a capsule under _row, a user's class None */
    PyObject *row = PyObject_GetAttr((PyObject *)type, py.row);
    const py_kind *k = NULL;
    if (row && row != Py_None) k = (const py_kind *)PyCapsule_GetPointer(row, "tensorh.kind");
    Py_XDECREF(row);
    return k;
}

PY_PRIV bool py_kind_has_option(const py_kind *k, PyObject *name) {
    for (int i = 0; k && i < k->make.nparam; i++)
        /* by address first, as names in source code are interned */
        if (k->making.names[i] == name || PyUnicode_Compare(k->making.names[i], name) == 0)
            return true;
    return false;
}

/* --- options as Python's objects -------------------------------------------------------------- */

/* A list of ints: a number if the row shows one, else a tuple in which a single number
 * is repeated. */
static PyObject *py_option_ints(const py_kind *k, int i, const void *at) {
    tn_ints list;
    memcpy(&list, at, sizeof list);
    bool tuple = k->tuple >> i & 1;
    if (list.n < 0) Py_RETURN_NONE;
    if (list.n == 1 && !tuple) return PyLong_FromLongLong(list.at[0]);
    Py_ssize_t n = tuple && k->spread[i] ? k->spread[i] : (Py_ssize_t)list.n;
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t j = 0; all && j < n; j++)
        PyTuple_SetItem(all, j, PyLong_FromLongLong(list.at[list.n == 1 ? 0 : j]));
    return all;
}

/* NULL without an exception: an option that no attribute shows. */
PY_PRIV PyObject *py_option(const py_kind *k, int i, const void *options) {
    const tn_param *p = &k->make.param[i];
    if (p->type == TN_T_INTS) return py_option_ints(k, i, (const char *)options + p->offset);
    return py_param_object(p, options);
}

/* --- what is known of a row ------------------------------------------------------------------- */

/* The classes that have rows, a new tuple of names. */
PY_PRIV PyObject *py_kinds(PyObject *self, PyObject *unused) {
    PyObject *all = PyTuple_New((Py_ssize_t)tn_mrow_count());
    (void)self, (void)unused;
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(all); i++)
        PyTuple_SetItem(all, i, PyUnicode_FromString(tn_mrow_at(i)->gen->type));
    return all;
}

/* {option: default} of those that have one, new. */
static PyObject *py_kind_defaults(const py_kind *k) {
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < k->make.nparam; i++) {
        /* a default that no attribute shows stands as None */
        PyObject *o =
            k->make.param[i].flags & TN_P_DEFAULT ? py_option(k, i, k->make.defaults) : NULL;
        if (!o && !PyErr_Occurred() && k->make.param[i].flags & TN_P_DEFAULT)
            o = Py_NewRef(Py_None);
        if (o && PyDict_SetItem(all, k->making.names[i], o)) Py_CLEAR(all);
        Py_XDECREF(o);
    }
    return all;
}

/* The options' names in torch's order, a new tuple. */
static PyObject *py_kind_option_names(const py_kind *k) {
    PyObject *all = PyTuple_New(k->make.nparam);
    for (int i = 0; all && i < k->make.nparam; i++)
        PyTuple_SetItem(all, i, Py_NewRef(k->making.names[i]));
    return all;
}

/* (capsule, schema, parts, call, takes, unlike, repr, options, defaults, draws) of a class; None
 * when there is no such row. */
PY_PRIV PyObject *py_kind_describe(PyObject *self, PyObject *name) {
    const char *type = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const tn_mrow *row = NULL;
    (void)self;
    for (int64_t i = 0; type && i < tn_mrow_count() && !row; i++)
        if (strcmp(tn_mrow_at(i)->gen->type, type) == 0) row = tn_mrow_at(i);
    if (!row) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    py_kind *k = py_kind_new(row);
    if (!k) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(k, "tensorh.kind", NULL);
    PyObject *options = capsule ? py_kind_option_names(k) : NULL;
    PyObject *defaults = options ? py_kind_defaults(k) : NULL;
    if (!defaults) {
        Py_XDECREF(options);
        Py_XDECREF(capsule);
        return NULL;
    }
    /* N takes a reference, O adds one */
    return Py_BuildValue("NsszzzzNNO", capsule, row->schema, row->parts ? row->parts : "",
                         row->call, row->takes, row->unlike, row->repr, options, defaults,
                         row->reset ? Py_True : Py_False);
}

/* src/py/parts.c - the dictionaries of a module, in which its parameters, buffers and children stand */
/* parts.c - the dictionaries of a module, in which its parameters, buffers and children stand. */

/* Puts a new reference, or NULL where making it failed, into a dictionary. */
PY_PRIV bool py_module_put(PyObject *dict, PyObject *word, PyObject *value) {
    bool ok = value && !PyDict_SetItem(dict, word, value);
    Py_XDECREF(value);
    return ok;
}

PY_PRIV int py_module_begin_one(PyObject *self) {
    py_module *m = (py_module *)self;
    if (!m->dict && !(m->dict = PyDict_New())) return -1;
    /* plain dictionaries: hooks' ordered ones are made when somebody looks at them (module.c) */
    bool ok = py_module_put(m->dict, py.training, Py_NewRef(Py_True)) &&
              py_module_put(m->dict, py.parameters_, PyDict_New()) &&
              py_module_put(m->dict, py.buffers_, PyDict_New()) &&
              py_module_put(m->dict, py.transient_, PySet_New(NULL)) &&
              py_module_put(m->dict, py.modules_, PyDict_New());
    return ok ? 0 : -1;
}

PY_PRIV PyObject *py_module_dict(PyObject *self, PyObject *word) {
    PyObject *dict = ((py_module *)self)->dict;
    PyObject *in = dict ? PyDict_GetItemWithError(dict, word) : NULL;
    /* a program may have put anything there */
    return in && PyDict_Check(in) ? in : NULL;
}

/* src/py/mrow.c - built-in modules: a row of the library as a Python class */
/* mrow.c - built-in modules: a row of the library as a Python class.
 *
 * The object's dictionaries say what the module is: options under torch's names in __dict__, parts
 * in _parameters, _buffers and _modules. `made`, the library's module, follows them: before each
 * forward it gets the tensors that stand there and the mode. When an option changes, or after
 * copying and unpickling, it is made anew, of shapes alone. */

enum { MROW_RESULTS = 8 };
/* --- making ----------------------------------------------------------------------------------- */

/* Lets the wrapper of a tensor, if it has one, know that a module has a count of it, or no more. */
static void py_mrow_mark(tn_tensor *t, bool part) {
    py_tensor *p = t ? (py_tensor *)tn_binding(t) : NULL;
    /* a tensor without wrapper has no hooks that the collector would have to see */
    if (p) p->parts += part ? 1 : p->parts > 0 ? -1 : 0;
}

/* Frees made: the next call makes it anew from the dictionaries. */
PY_PRIV void py_mrow_drop(py_module *m) {
    tn_module *made = m->made;
    for (int i = 0; made && i < made->nparts; i++)
        if (made->part[i].kind != TN_CHILD) py_mrow_mark(tn_part_tensor_of(made, i), false);
    /* NULL before the module ends, as its end may run Python code that looks at m */
    m->made = NULL;
    m->reshaped = false;
    Py_CLEAR(m->names);
    tn_module_free(made);
}

/* Takes made. */
static bool py_mrow_take(py_module *m, tn_module *made) {
    py_mrow_drop(m);
    m->made = made;
    /* such a forward wraps its result at once, so the module may lend it */
    made->lends = !m->kind->row->gen->call; /* py_mrow_run */
    bool ok = (m->names = PyTuple_New(made->nparts)) != NULL;
    for (int i = 0; ok && i < made->nparts; i++) {
        PyObject *name = PyUnicode_InternFromString(made->part[i].name);
        ok = name && !PyTuple_SetItem(m->names, i, name);
    }
    if (!ok) py_mrow_drop(m);
    return ok;
}

/* The library's error of options: torch's constructors raise a ValueError, but of a tensor that
 * cannot be made. */
static PyObject *py_mrow_refused(void) {
    tn_error_info info;
    const bool value =
        tn_error_peek(&info) && info.code == TN_INVALID && !strstr(info.message, "negative");
    PyObject *type, *text, *trace;
    py_raise();
    PyErr_Fetch(&type, &text, &trace);
    if (value && type == PyExc_RuntimeError) {
        Py_DECREF(type);
        type = Py_NewRef(PyExc_ValueError);
        if (text && !PyUnicode_Check(text)) { /* an exception already: of the same arguments */
            PyObject *plain = PyObject_Str(text);
            Py_DECREF(text);
            text = plain;
        }
    }
    PyErr_Restore(type, text, trace);
    return NULL;
}

/* What py_call_bound runs with bound options: makes the library's module. */
static PyObject *py_mrow_make(void *user, const void *args, int64_t elements) {
    py_module *m = (py_module *)user;
    const char *file = NULL;
    int line = 0;
    (void)elements;
    if (py.planning) py_here(&file, &line);
    /* initial values are random */
    py_draw_begin();
    tn_module *made = tn_module_make(file, line, m->kind->row, args);
    py_draw_end();
    if (!made) return py_mrow_refused();
    if (!py_mrow_take(m, made)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_mrow_object(tn_module *child);

/* The object of a part, new: a module, a Parameter, a tensor, or None. */
static PyObject *py_mrow_part_object(tn_module *made, int i) {
    if (made->part[i].kind == TN_CHILD) return py_mrow_object(tn_part_child_of(made, i));
    tn_tensor *t = tn_part_tensor_of(made, i);
    /* a parameter that has a wrapper already keeps it, whatever its class */
    if (!t || made->part[i].kind != TN_PARAM || tn_binding(t)) return py_wrap_borrowed(t);
    return py_wrap_as(py.parameter, tn_retain(t));
}

/* Python code that runs in between may change an option. */
static bool py_mrow_still(const py_module *m) {
    if (TNI_LIKELY(m->made != NULL)) return true;
    PyErr_SetString(PyExc_RuntimeError, "the module changed while it was called");
    return false;
}

/* The dictionary of a kind of parts; NULL, without an exception, when there is none. */
static PyObject *py_mrow_dict(PyObject *self, uint8_t kind) {
    return py_module_dict(self, kind == TN_PARAM   ? py.parameters_
                                : kind == TN_CHILD ? py.modules_
                                                   : py.buffers_);
}

/* Puts part i under its name into the dictionary of its kind. */
static bool py_mrow_publish_part(PyObject *self, tn_module *made, int i, PyObject *name) {
    py_module *m = (py_module *)self;
    uint8_t kind = made->part[i].kind;
    PyObject *dict = py_mrow_dict(self, kind), *o, *set;
    if (!dict || !(o = py_mrow_part_object(made, i))) return false;
    if (kind != TN_CHILD) py_mrow_mark(tn_part_tensor_of(made, i), true);
    bool ok = !PyDict_SetItem(dict, name, o);
    Py_DECREF(o);
    if (!ok || kind != TN_TRANSIENT) return ok;
    set = PyDict_GetItemWithError(m->dict, py.transient_);
    return set && !PySet_Add(set, name);
}

static int py_mrow_part_named(const tn_module *made, const char *name) {
    for (int i = 0; i < made->nparts; i++)
        if (strcmp(made->part[i].name, name) == 0) return i;
    return -1;
}

/* Options as attributes, then the parts. An option that is also a part, bias, is the part. */
static bool py_mrow_publish_all(PyObject *self, tn_module *made, PyObject *names) {
    py_module *m = (py_module *)self;
    const py_kind *k = m->kind;
    for (int i = 0; i < k->make.nparam; i++) {
        if (py_mrow_part_named(made, k->make.param[i].name) >= 0) continue;
        PyObject *o = py_option(k, i, py_options(made));
        /* NULL without an exception: no attribute shows this option */
        bool bad =
            o ? PyDict_SetItem(m->dict, k->making.names[i], o) != 0 : PyErr_Occurred() != NULL;
        Py_XDECREF(o);
        if (bad) return false;
    }
    for (int i = 0; i < made->nparts; i++)
        if (!py_mrow_publish_part(self, made, i, PyTuple_GetItem(names, i))) return false;
    return true;
}

/* Options and parts of `made` into the object's dictionaries. What stood there before may have a
 * finalizer that changes an option. */
static bool py_mrow_publish(PyObject *self) {
    py_module *m = (py_module *)self;
    if (!py_mrow_still(m)) return false;
    /* held, and names as well: py_mrow_drop may run meanwhile */
    tn_module *made = tn_module_hold(m->made);
    PyObject *names = Py_NewRef(m->names);
    bool ok = py_mrow_publish_all(self, made, names);
    Py_DECREF(names);
    tn_module_free(made);
    return ok;
}

/* The object of a module that is part of another one. */
static PyObject *py_mrow_object(tn_module *child) {
    PyObject *modules = PyImport_ImportModule("tensorh.nn.modules");
    /* torch's class of that name, found by Python: it may be a class of a user's row */
    PyObject *type =
        modules ? PyObject_CallMethod(modules, "_class_of", "ss", child->gen->type, child->type)
                : NULL;
    /* __new__ without __init__, as the module exists already */
    PyObject *o = type ? PyObject_CallMethod(type, "__new__", "O", type) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(modules);
    if (!o) return NULL;
    bool ok = py_is_module(o) && !py_module_begin_one(o) &&
              py_mrow_take((py_module *)o, tn_module_hold(child)) && py_mrow_publish(o);
    if (!ok) Py_CLEAR(o);
    return o;
}

/* A call's tuple and dictionary as an array and names; *kwnames is new or NULL. */
static Py_ssize_t py_mrow_array(PyObject *args, PyObject *kwargs, PyObject **at,
                                PyObject **kwnames) {
    Py_ssize_t n = PyTuple_Size(args), nkw = kwargs ? PyDict_Size(kwargs) : 0, pos = 0, i = 0;
    PyObject *name, *value;
    *kwnames = NULL;
    if (n + nkw > MROW_ARGS) return PyErr_SetString(PyExc_TypeError, "too many arguments"), -1;
    /* borrowed from args and kwargs, which the caller of __init__ holds */
    for (; i < n; i++) at[i] = PyTuple_GetItem(args, i);
    if (!nkw) return n;
    if (!(*kwnames = PyTuple_New(nkw))) return -1;
    for (i = 0; kwargs && PyDict_Next(kwargs, &pos, &name, &value); i++) {
        at[n + i] = value;
        PyTuple_SetItem(*kwnames, i, Py_NewRef(name));
    }
    return n;
}

/* Options that are yes or no may be 1, 0 or None: torch asks only whether they are true. */
static void py_mrow_truths(const py_kind *k, PyObject **at, Py_ssize_t n, PyObject *kwnames) {
    for (int p = 0; p < k->make.nparam; p++) {
        /* by position, else by name */
        Py_ssize_t i = p < n ? p : -1;
        if (k->make.param[p].type != TN_T_BOOL) continue;
        for (Py_ssize_t w = 0; i < 0 && kwnames && w < PyTuple_Size(kwnames); w++)
            if (PyUnicode_Compare(PyTuple_GetItem(kwnames, w), k->making.names[p]) == 0) i = n + w;
        if (i >= 0 && (PyLong_CheckExact(at[i]) || at[i] == Py_None))
            /* an exact int or None has a truth without an exception */
            at[i] = PyObject_IsTrue(at[i]) ? Py_True : Py_False;
    }
}

/* Binds options and makes the module. false with an exception. */
static bool py_mrow_bind_make(py_module *m, PyObject *args, PyObject *kwargs) {
    PyObject *at[MROW_ARGS] = {NULL}, *kwnames, *r;
    Py_ssize_t n = py_mrow_array(args, kwargs, at, &kwnames);
    if (n >= 0) py_mrow_truths(m->kind, at, n, kwnames);
    r = n < 0 ? NULL : py_call_bound(&m->kind->making, at, n, kwnames, py_mrow_make, m);
    Py_XDECREF(kwnames);
    /* None or NULL: py_mrow_make has put the module into m */
    Py_XDECREF(r);
    return r != NULL;
}

/* A number given as an int stays an int in the object, although the row holds a float. */
static bool py_mrow_as_given(py_module *m, PyObject *args, PyObject *kwargs) {
    const py_kind *k = m->kind;
    for (int i = 0; i < k->make.nparam; i++) {
        PyObject *name = k->making.names[i], *o;
        if (k->make.param[i].type != TN_T_FLOAT) continue;
        o = i < PyTuple_Size(args) ? PyTuple_GetItem(args, i)
            : kwargs               ? PyDict_GetItemWithError(kwargs, name)
                                   : NULL;
        if (!o && PyErr_Occurred()) return false;
        if (o && PyLong_CheckExact(o) && PyDict_SetItem(m->dict, name, o)) return false;
    }
    return true;
}

/* __init__ of a built-in module: options as torch takes them. */
PY_PRIV PyObject *py_mrow_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_module *m = (py_module *)self;
    if (!m->kind) return PyErr_Format(PyExc_TypeError, "not a built-in module");
    if (py_module_begin_one(self) || !py_mrow_bind_make(m, args, kwargs) ||
        !py_mrow_publish(self) || !py_mrow_as_given(m, args, kwargs))
        return NULL;
    Py_RETURN_NONE;
}

/* --- making anew ------------------------------------------------------------------------------ */

/* The tensor or module that stands under a part's name in dict: new; NULL with an exception. */
static PyObject *py_mrow_look(PyObject *self, PyObject *dict, PyObject *name) {
    PyObject *o = dict ? PyDict_GetItemWithError(dict, name) : NULL;
    return o ? Py_NewRef(o) : PyObject_GetAttr(self, name);
}

/* Adds option i as the object has it. A bool that is also a part says whether the part is there. */
static bool py_mrow_option_now(PyObject *self, int i, PyObject *kwargs) {
    py_module *m = (py_module *)self;
    const tn_param *p = &m->kind->make.param[i];
    PyObject *name = m->kind->making.names[i], *o;
    /* no attribute shows them: the parts have a dtype and a device */
    if (p->type == TN_T_DTYPE || p->type == TN_T_DEVICE) return true;
    if (!(o = PyObject_GetAttr(self, name))) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
        /* deleted by the program: the default */
        PyErr_Clear();
        return true;
    }
    if (p->type == TN_T_BOOL && !PyBool_Check(o)) {
        Py_DECREF(o);
        o = Py_NewRef(o == Py_None ? Py_False : Py_True);
    }
    bool ok = !PyDict_SetItem(kwargs, name, o);
    Py_DECREF(o);
    return ok;
}

/* Makes the library's module from the options as they are now, with shapes alone, so that no random
 * numbers are drawn. */
static bool py_mrow_remake(PyObject *self) {
    py_module *m = (py_module *)self;
    /* device="meta": shapes without memory */
    PyObject *args = PyTuple_New(0), *kwargs = PyDict_New(), *meta = PyUnicode_FromString("meta");
    bool ok = args && kwargs && meta && m->dict && !PyDict_SetItemString(kwargs, "device", meta);
    for (int i = 0; ok && i < m->kind->make.nparam; i++) ok = py_mrow_option_now(self, i, kwargs);
    ok = ok && py_mrow_bind_make(m, args, kwargs);
    Py_XDECREF(meta);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return ok;
}

/* --- the library's module follows ------------------------------------------------------------- */

static bool py_mrow_follow(PyObject *self, tn_module *made, PyObject *names, bool *reshaped);

static bool py_mrow_same_shape(const tn_tensor *a, const tn_tensor *b) {
    tn_ints x = tn_shape(a), y = tn_shape(b);
    return x.n == y.n && (x.n == 0 || !memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at));
}

/* Part i becomes the tensor o. *reshaped: it has another shape than the part had. */
static bool py_mrow_follow_tensor(tn_module *made, int i, PyObject *o, bool *reshaped) {
    tn_tensor *now = tn_part_tensor_of(made, i), *t = o == Py_None ? NULL : py_of(o);
    if (t == now) return true;
    if (t && now && !py_mrow_same_shape(t, now)) *reshaped = true;
    if (now) py_retire(tn_retain(now)); /* another thread's forward may read it */
    py_mrow_mark(now, false);
    if (!tn_module_set_tensor_at(NULL, 0, made, made->part[i].name, t)) return py_raise(), false;
    py_mrow_mark(t, true);
    return true;
}

/* Part i of made becomes what stands under its name; false with an exception. */
static bool py_mrow_follow_part(PyObject *self, tn_module *made, int i, PyObject *dict,
                                PyObject *name, bool *reshaped) {
    uint8_t kind = made->part[i].kind;
    /* held: a property of a user's class may return a new object */
    PyObject *o = py_mrow_look(self, dict, name);
    bool ok = false;
    if (!o) return false;
    if (kind == TN_CHILD ? !py_is_module(o) : o != Py_None && !py_is_tensor(o))
        PyErr_Format(PyExc_TypeError, "'%U' must be a %s", name,
                     kind == TN_CHILD ? "Module" : "Tensor or None");
    else if (kind == TN_CHILD)
        ok = py_mrow_follow(o, tn_part_child_of(made, i), NULL, reshaped);
    else
        ok = py_mrow_follow_tensor(made, i, o, reshaped);
    Py_DECREF(o);
    return ok;
}

/* Gives made the tensors and the mode that self has. names: of the parts; NULL: to be made. */
static bool py_mrow_follow(PyObject *self, tn_module *made, PyObject *names, bool *reshaped) {
    PyObject *dict = ((py_module *)self)->dict;
    PyObject *training = dict ? PyDict_GetItemWithError(dict, py.training) : NULL;
    /* training may be any object, whose __bool__ is Python code */
    int truth = training == Py_True                 ? 1
                : !training || training == Py_False ? 0
                                                    : PyObject_IsTrue(Py_NewRef(training));
    if (training && training != Py_True && training != Py_False) Py_DECREF(training);
    bool ok = truth >= 0;
    made->training = truth > 0;
    PyObject *parts = NULL; /* the dictionary that the parts of this kind stand in; held */
    int kind = -1;
    for (int i = 0; ok && i < made->nparts; i++) {
        PyObject *name = names ? Py_NewRef(PyTuple_GetItem(names, i))
                               : PyUnicode_InternFromString(made->part[i].name);
        if (made->part[i].kind != kind) {
            Py_XDECREF(parts);
            kind = made->part[i].kind;
            parts = Py_XNewRef(py_mrow_dict(self, (uint8_t)kind));
        }
        ok = name && py_mrow_follow_part(self, made, i, parts, name, reshaped);
        Py_XDECREF(name);
    }
    Py_XDECREF(parts);
    return ok;
}

/* Makes the library's module, if there is none, and lets it follow the object. false with
 * an exception. */
static bool py_mrow_ready(PyObject *self) {
    py_module *m = (py_module *)self;
    /* the first call after an option has changed, after copying or unpickling */
    if (TNI_UNLIKELY(!m->made)) {
        if (!m->kind || !py_module_dict(self, py.parameters_)) {
            PyErr_SetString(PyExc_AttributeError,
                            "cannot call a built-in module before its __init__()");
            return false;
        }
        if (!py_mrow_remake(self)) return false;
    }
    tn_module *made = tn_module_hold(m->made); /* whatever a property does meanwhile */
    PyObject *names = Py_NewRef(m->names);
    bool ok = py_mrow_follow(self, made, names, &m->reshaped);
    Py_DECREF(names);
    tn_module_free(made);
    return ok && py_mrow_still(m);
}

/* reset_parameters(): draws initial values into the parts as they are now. */
PY_PRIV PyObject *py_mrow_reset(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!py_mrow_ready(self)) return NULL;
    tn_module *made = tn_module_hold(((py_module *)self)->made);
    py_draw_begin();
    bool ok = tn_module_reset_at(NULL, 0, made);
    py_draw_end();
    tn_module_free(made);
    return ok ? Py_NewRef(Py_None) : py_raise();
}

/* --- forward ---------------------------------------------------------------------------------- */

/* Whether an argument or a part requires a gradient. Children are not searched: a place too many
 * costs little. */
static bool py_mrow_records(const py_module *m, const void *args) {
    const tn_gen *gen = m->kind->calling.gen;
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    for (int i = 0; i < m->made->nparts; i++) {
        const tn_tensor *t = tn_part_tensor_of(m->made, i);
        if (m->made->part[i].kind == TN_CHILD || (t && tn_needs_grad(t))) return true;
    }
    return false;
}

/* Whether forward draws random numbers, as Dropout does with p > 0: then one thread at a time. */
static bool py_mrow_draws(const py_module *m) {
    double p = 0;
    if (m->kind->draws >= 0)
        memcpy(&p, (const char *)py_options(m->made) + m->kind->draws, sizeof p);
    return p > 0;
}

/* The forward of made: results into out. false: an error of the library, or an exception. */
static bool py_mrow_call(py_module *m, const void *args, int64_t elements, tn_tensor **out) {
    int nout = m->kind->calling.gen->nresults;
    struct tni_expect *expect = m->made->expect;
    tn_module *made = tn_module_hold(m->made); /* whatever Python code does meanwhile */
    const char *file = NULL;
    int line = 0;
    const bool draws = made->training && py_mrow_draws(m);
    bool ok;
    if (py.planning || (tn_grad_mode() && py_mrow_records(m, args))) py_here(&file, &line);
    /* the shapes that the row expects follow from options, which are not true any more */
    if (m->reshaped) made->expect = NULL;
    do {
        if (draws) py_draw_begin();
        if (elements >= PY_LONG) {
            py_long l = py_long_begin();
            ok = tn_module_call(file, line, made, m->kind->row, args, out, nout);
            py_long_end(l);
        } else {
            ok = tn_module_call(file, line, made, m->kind->row, args, out, nout);
        }
        if (draws) py_draw_end();
        /* stopped by Ctrl-C that was somebody else's: made again */
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    made->expect = expect;
    tn_module_free(made);
    return ok;
}

/* A failed forward: the exception knows its module, for the path (py_module_add_path). */
static PyObject *py_mrow_failed(PyObject *self) {
    PyObject *type, *value, *trace;
    py_raise();
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    /* without memory the path is missing, not the error */
    if (value && PyObject_SetAttrString(value, "_module", self)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return NULL;
}

/* n results from `from` on, which are taken; None for an absent one. */
static PyObject *py_mrow_tuple(tn_tensor **out, int from, int n) {
    PyObject *all = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = out[from + i] ? py_wrap(tn_take(out[from + i])) : Py_NewRef(Py_None);
        if (all && o)
            PyTuple_SetItem(all, i, o);
        else
            Py_XDECREF(o);
        if (!o) Py_CLEAR(all);
    }
    return all;
}

/* (a, (b, c)): groups behind the parameters are nested. */
static PyObject *py_mrow_results(const py_kind *k, tn_tensor **out) {
    const tn_gen *gen = k->calling.gen;
    PyObject *list = PyList_New(0), *all = NULL;
    for (int i = 0; list && i < gen->nresults;) {
        const tn_mgroup *group = NULL;
        for (uint32_t g = 0; g < k->row->gen->ngroups; g++)
            if (k->row->gen->groups[g].first == gen->nparam + i) group = &k->row->gen->groups[g];
        PyObject *one = py_mrow_tuple(out, i, group ? group->count : 1);
        /* one result stands alone, a group as a tuple */
        PyObject *o = one && !group ? Py_NewRef(PyTuple_GetItem(one, 0)) : Py_XNewRef(one);
        if (!o || PyList_Append(list, o)) Py_CLEAR(list);
        Py_XDECREF(one);
        Py_XDECREF(o);
        i += group ? group->count : 1;
    }
    if (list) all = PyList_AsTuple(list);
    Py_XDECREF(list);
    return all;
}

/* Says to Python that the first two tensors are of two shapes: a warning or an error. */
static bool py_mrow_unlike(const py_module *m, const void *args) {
    const tn_gen *gen = m->kind->calling.gen;
    tn_tensor *t[2];
    for (int i = 0; i < 2; i++) memcpy(&t[i], (const char *)args + gen->param[i].offset, sizeof *t);
    if (py_mrow_same_shape(t[0], t[1])) return false;
    PyObject *functional = PyImport_ImportModule("tensorh.nn.functional");
    /* a warning of Python, in its wording and with its filters */
    PyObject *a = py_wrap_borrowed(t[0]), *b = py_wrap_borrowed(t[1]), *r = NULL;
    if (functional && a && b)
        r = PyObject_CallMethod(functional, "_unlike", "sOO", m->kind->row->unlike, a, b);
    Py_XDECREF(functional);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(r);
    return !r;
}

/* What py_call_bound runs with bound arguments: the result, new. */
static PyObject *py_mrow_run(void *user, const void *args, int64_t elements) {
    py_module *m = (py_module *)user;
    tn_tensor *out[MROW_RESULTS], *input;
    /* Python code that bound the arguments ran in between */
    if (!py_mrow_still(m)) return NULL;
    memcpy(&input, args, sizeof input);
    if (m->kind->row->unlike && (py_mrow_unlike(m, args) || !py_mrow_still(m))) return NULL;
    if (!py_mrow_call(m, args, elements, out)) return py_mrow_failed((PyObject *)m);
    if (m->kind->calling.gen->nresults > 1) return py_mrow_results(m->kind, out);
    /* a row that returns its input, Identity: the same object */
    return out[0] == input ? py_wrap_borrowed(input) : py_wrap(tn_take(out[0]));
}

/* Spreads a tuple `hx` over the parameters h and c that stand for it; None: none of them. */
static bool py_mrow_spread(PyObject *o, const tn_mgroup *g, PyObject **to) {
    if (o != Py_None && (!PySequence_Check(o) || PySequence_Size(o) != g->count)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "'%s' must be a tuple of %d Tensors", g->name, g->count);
        return false;
    }
    for (int i = 0; i < g->count; i++) {
        to[i] = o == Py_None ? Py_NewRef(o) : PySequence_GetItem(o, i);
        /* a sequence of Python code may fail at any member */
        if (!to[i]) {
            while (i--) Py_DECREF(to[i]);
            return false;
        }
    }
    return true;
}

/* Arguments of a forward with groups spread: as many as the row has parameters. */
typedef struct py_mrow_flat {
    PyObject *at[MROW_ARGS], *names[MROW_ARGS]; /* counted; names of keywords behind nargs */
    Py_ssize_t nargs, n;
} py_mrow_flat;

/* Adds an argument, or the members of the tuple that stands for group g. */
static bool py_mrow_flat_add(py_mrow_flat *f, const py_kind *k, const tn_mgroup *g, PyObject *o,
                             PyObject *name) {
    PyObject *few[MROW_ARGS];
    int n = g ? g->count : 1;
    if (f->n + n > MROW_ARGS) return PyErr_SetString(PyExc_TypeError, "too many arguments"), false;
    if (g && !py_mrow_spread(o, g, few)) return false;
    if (!g) few[0] = Py_NewRef(o);
    for (int i = 0; i < n; i++) {
        /* borrowed from the kind, or from the caller's kwnames */
        f->names[f->n] = !name ? NULL : g ? k->calling.names[g->first + i] : name;
        f->at[f->n++] = few[i];
    }
    if (!name) f->nargs = f->n;
    return true;
}

/* The group that begins at parameter `first`, or is called `name`; NULL: none. */
static const tn_mgroup *py_mrow_group(const py_kind *k, int first, PyObject *name) {
    const tn_mgen *gen = k->row->gen;
    for (uint32_t g = 0; g < gen->ngroups; g++)
        if (gen->groups[g].first < k->calling.gen->nparam &&
            (name ? PyUnicode_CompareWithASCIIString(name, gen->groups[g].name) == 0
                  : gen->groups[g].first == first))
            return &gen->groups[g];
    return NULL;
}

/* Calls with the arguments of f; the reference counts stay with f. */
static PyObject *py_mrow_flat_call(py_module *m, py_mrow_flat *f) {
    Py_ssize_t nkw = f->n - f->nargs;
    PyObject *kwnames = nkw ? PyTuple_New(nkw) : NULL;
    if (nkw && !kwnames) return NULL;
    for (Py_ssize_t i = 0; i < nkw; i++)
        PyTuple_SetItem(kwnames, i, Py_NewRef(f->names[f->nargs + i]));
    PyObject *r = py_call_bound(&m->kind->calling, f->at, f->nargs, kwnames, py_mrow_run, m);
    Py_XDECREF(kwnames);
    return r;
}

/* A forward with a tuple among its arguments. */
static PyObject *py_mrow_nested(py_module *m, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames) {
    py_mrow_flat f;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    bool ok = true;
    f.nargs = f.n = 0;
    for (Py_ssize_t i = 0; ok && i < nargs; i++)
        ok = py_mrow_flat_add(&f, m->kind, py_mrow_group(m->kind, (int)f.n, NULL), args[i], NULL);
    for (Py_ssize_t i = 0; ok && i < nkw; i++) {
        PyObject *name = PyTuple_GetItem(kwnames, i);
        ok = py_mrow_flat_add(&f, m->kind, py_mrow_group(m->kind, 0, name), args[nargs + i], name);
    }
    PyObject *r = ok ? py_mrow_flat_call(m, &f) : NULL;
    /* what was added so far, also after a failure */
    for (Py_ssize_t i = 0; i < f.n; i++) Py_DECREF(f.at[i]);
    return r;
}

/* A class with `_otherwise` (tensorh/nn/modules/rows.py) takes options that its row does not know:
 * with those `made` is never there, and it is asked first. NotImplemented: the row's turn. */
static PyObject *py_mrow_otherwise(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames) {
    PyObject *bound = NULL, *tuple = NULL, *dict = NULL, *r = NULL;
    /* of the class: an instance has it only through its class */
    PyObject *f = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "_otherwise");
    if (!f && !PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
    if (!f) return PyErr_Clear(), Py_NewRef(Py_NotImplemented);
    bound = PyObject_GetAttrString(self, "_otherwise");
    tuple = bound ? py_args_tuple(args, nargs) : NULL;
    dict = tuple && kwnames ? py_args_dict(args + nargs, kwnames) : NULL;
    if (tuple && (dict || !kwnames)) r = PyObject_Call(bound, tuple, dict);
    Py_DECREF(f);
    Py_XDECREF(bound);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

/* A call with a tensor of another class, which may want to hear of it; NotImplemented: none
 * does (tensorh/nn/modules/_asked.py). */
static PyObject *py_mrow_asked(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames) {
    const Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    bool other = false;
    for (Py_ssize_t i = 0; i < n; i++)
        other |= py_is_tensor(args[i]) && Py_TYPE(args[i]) != py.tensor &&
                 Py_TYPE(args[i]) != py.parameter;
    if (!other) return Py_NewRef(Py_NotImplemented);
    PyObject *module = PyImport_ImportModule("tensorh.nn.modules._asked");
    PyObject *tuple = module ? py_args_tuple(args, nargs) : NULL;
    PyObject *dict = !tuple ? NULL : kwnames ? py_args_dict(args + nargs, kwnames) : PyDict_New();
    PyObject *r = dict ? PyObject_CallMethod(module, "call", "OOO", self, tuple, dict) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

/* forward of a built-in module. Python code of arguments may drop made at any
 * point (py_mrow_still). */
PY_PRIV PyObject *py_mrow_forward(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames) {
    py_module *m = (py_module *)self;
    if (TNI_UNLIKELY(!m->made) && m->kind) {
        PyObject *r = py_mrow_otherwise(self, args, nargs, kwnames);
        if (r != Py_NotImplemented) return r;
        Py_DECREF(r);
    }
    if (!py_mrow_ready(self)) return NULL;
    /* the common call, one tensor: its address is the argument struct */
    if (nargs == 1 && !kwnames && !m->kind->row->gen->call &&
        (Py_TYPE(args[0]) == py.tensor || Py_TYPE(args[0]) == py.parameter)) {
        tn_tensor *input = py_of(args[0]);
        const int turn = py_lend();
        return py_lent(turn, py_mrow_run(m, &input, tn_numel(input)));
    }
    PyObject *heard = py_mrow_asked(self, args, nargs, kwnames);
    if (heard != Py_NotImplemented) return heard;
    Py_DECREF(heard);
    if (m->kind->row->gen->ngroups) return py_mrow_nested(m, args, nargs, kwnames);
    return py_call_bound(&m->kind->calling, args, nargs, kwnames, py_mrow_run, m);
}

/* _module_forward(cls, text): a method of a row's class that runs the row; text: its signature and
 * what it does, as those of C's methods. It is the class's forward to calls that need no look. */
PY_PRIV PyObject *py_mrow_method(PyObject *self, PyObject *args) {
    PyTypeObject *cls;
    const char *text;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!s:_module_forward", &PyType_Type, &cls, &text)) return NULL;
    py_kind *k = (py_kind *)(uintptr_t)py_kind_of(cls);
    if (!k) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "the class has no row");
        return NULL;
    }
    /* both stay for the process, like the class */
    PyMethodDef *def = (PyMethodDef *)py_get(1, sizeof *def);
    char *copy = (char *)py_get(strlen(text) + 1, 1);
    if (!def || !copy) return py_give(def), py_give(copy), PyErr_NoMemory();
    memcpy(copy, text, strlen(text) + 1);
    def->ml_name = "forward";
    def->ml_meth = (PyCFunction)(void *)py_mrow_forward;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    def->ml_doc = copy;
    PyObject *forward = PyDescr_NewMethod(cls, def);
    if (!forward) return py_give(def), py_give(copy), NULL;
    Py_XDECREF(k->forward);
    k->forward = Py_NewRef(forward);
    return forward;
}

/* src/py/module.c - Parameter, and the part of nn.Module that a training loop runs: attributes, the call */
/* module.c - Parameter, and the part of nn.Module that a training loop runs: attributes, the call.
 *
 * A module's state lies in its __dict__ under torch's names, so that copying, pickling and code
 * that looks there find what they know; this file only looks faster. Dictionaries of hooks come
 * with the first look at them, and "_hooked" beside those that a call has to heed. What is
 * called seldom is Python, in tensorh/nn. */

/* --- the life of a module --------------------------------------------------------------------- */

/* Whether this forward is that of the module's row. */
static bool py_module_of_row(const py_module *m, PyObject *forward) {
    return m->kind && forward == m->kind->forward;
}

/* A module without parts: __init__ makes the dictionaries. New. */
static PyObject *py_module_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    py_module *m = (py_module *)PyType_GenericAlloc(type, 0);
    (void)args, (void)kwargs;
    if (!m) return NULL;
    PyObject *forward = PyObject_GetAttr((PyObject *)type, py.forward);
    if (!forward) PyErr_Clear();
    m->kind = py_kind_of(type);
    /* known once for each object: a call of C's forward need not look the method up */
    m->direct = forward && (forward == py.sequential_forward || py_module_of_row(m, forward));
    Py_XDECREF(forward);
    m->dict = PyDict_New();
    if (!m->dict || PyErr_Occurred()) {
        Py_DECREF((PyObject *)m);
        return NULL;
    }
    return (PyObject *)m;
}

/* nn.Module.__init__(self). */
static int py_module_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n = PyTuple_Size(args), at = 0;
    PyObject *name = NULL, *word, *value;
    /* nn.Module.__init__ takes nothing; torch's message names the class */
    if (n == 0 && (!kwargs || !PyDict_Size(kwargs))) return py_module_begin_one(self);
    if (!(name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__"))) return -1;
    if (kwargs && PyDict_Next(kwargs, &at, &word, &value))
        PyErr_Format(PyExc_TypeError, "%U.__init__() got an unexpected keyword argument '%U'", name,
                     word);
    else
        PyErr_Format(PyExc_TypeError,
                     "%U.__init__() takes 1 positional argument but %zd were given", name, n + 1);
    Py_DECREF(name);
    return -1;
}

static int py_module_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_module *)self)->dict);
    return 0;
}

/* The library's module first: a parameter that nobody else has goes with its wrapper then. */
static int py_module_clear(PyObject *self) {
    py_mrow_drop((py_module *)self);
    Py_CLEAR(((py_module *)self)->dict);
    return 0;
}

/* tp_dealloc of a heap type: clear, free, and the count of the type. */
static void py_module_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    /* first of all: the collector may not see a half-freed object */
    PyObject_GC_UnTrack(self);
    if (((py_module *)self)->weak) PyObject_ClearWeakRefs(self);
    py_module_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Dictionaries that torch makes for each module. The first few are heeded by a call. */
enum { HOOKS_CALLED = 4 };
static const char *const py_hook_names[] = {"_forward_hooks",
                                            "_forward_pre_hooks",
                                            "_backward_hooks",
                                            "_backward_pre_hooks",
                                            "_forward_hooks_with_kwargs",
                                            "_forward_hooks_always_called",
                                            "_forward_pre_hooks_with_kwargs",
                                            "_state_dict_hooks",
                                            "_state_dict_pre_hooks",
                                            "_load_state_dict_pre_hooks",
                                            "_load_state_dict_post_hooks"};

/* Makes one of the dictionaries of hooks, borrowed. called: a call has to look at it from
 * now on. */
static PyObject *py_module_hooks(py_module *m, PyObject *name, bool called) {
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *type = collections ? PyObject_GetAttrString(collections, "OrderedDict") : NULL;
    PyObject *hooks = type ? PyObject_CallNoArgs(type) : NULL;
    /* "_hooked" makes a call look for hooks from now on */
    if (hooks && (PyDict_SetItem(m->dict, name, hooks) ||
                  (called && PyDict_SetItem(m->dict, py.hooked, Py_True))))
        Py_CLEAR(hooks);
    Py_XDECREF(type);
    Py_XDECREF(collections);
    return hooks;
}

/* What the usual lookup did not find; its AttributeError is set. */
static PyObject *py_module_missing(py_module *m, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text || text[0] != '_' || !py_module_dict((PyObject *)m, py.parameters_)) return NULL;
    for (size_t k = 0; k < sizeof py_hook_names / sizeof py_hook_names[0]; k++)
        if (strcmp(text, py_hook_names[k]) == 0) {
            PyErr_Clear();
            return py_module_hooks(m, name, k < HOOKS_CALLED);
        }
    return NULL;
}

/* self.name, new: instance, parameters, buffers, children, class. */
static PyObject *py_module_getattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    PyObject *dict = ((py_module *)self)->dict, *o, *in;
    if (TNI_LIKELY(dict != NULL)) {
        /* CPython asks the class for a data descriptor first; a module's own names go first here */
        if ((o = PyDict_GetItemWithError(dict, name)) != NULL) return Py_NewRef(o);
        for (int k = 0; k < 3; k++) {
            in = PyDict_GetItemWithError(dict, words[k]);
            if (in && PyDict_Check(in) && (o = PyDict_GetItemWithError(in, name)) != NULL)
                return Py_NewRef(o);
        }
        if (PyErr_Occurred()) return NULL;
    }
    /* methods, properties, and an AttributeError with its text */
    o = PyObject_GenericGetAttr(self, name);
    if (o || !dict || !PyErr_ExceptionMatches(PyExc_AttributeError)) return o;
    return py_module_missing((py_module *)self, name);
}

/* Removes a name from dictionaries and from the set of buffers that are not saved. */
static bool py_module_remove(PyObject *self, PyObject *name, PyObject *word) {
    py_module *m = (py_module *)self;
    PyObject *in = word ? PyDict_GetItemWithError(m->dict, word) : m->dict;
    if (!in) return !PyErr_Occurred();
    if (PyAnySet_Check(in)) return PySet_Discard(in, name) >= 0;
    if (!PyDict_Check(in) || !PyDict_GetItemWithError(in, name)) return !PyErr_Occurred();
    return PyDict_DelItem(in, name) == 0;
}

/* None for a result that is dropped; NULL passes through. */
static PyObject *py_module_done(PyObject *r) {
    Py_XDECREF(r);
    if (!r) return NULL;
    Py_RETURN_NONE;
}

/* Raises what torch says of an assignment that it refuses. */
static PyObject *py_module_refuse(PyObject *self, const char *what, PyObject *name,
                                  PyObject *value) {
    return py_module_done(PyObject_CallMethod(self, "_refuse", "sOO", what, name, value));
}

/* self.name = Parameter: out of the other dictionaries, then register_parameter, which may
 * be overridden. */
static PyObject *py_module_set_parameter(PyObject *self, PyObject *name, PyObject *value) {
    if (!py_module_dict(self, py.parameters_))
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign parameters before Module.__init__() call");
    /* a name stands in one dictionary, as in torch */
    if (!py_module_remove(self, name, NULL) || !py_module_remove(self, name, py.buffers_) ||
        !py_module_remove(self, name, py.modules_) || !py_module_remove(self, name, py.transient_))
        return NULL;
    return py_module_done(PyObject_CallMethod(self, "register_parameter", "OO", name, value));
}

/* self.name = Module: a child keeps the place in the order that it has. */
static PyObject *py_module_set_child(PyObject *self, PyObject *name, PyObject *value) {
    PyObject *modules = py_module_dict(self, py.modules_);
    if (!modules)
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign module before Module.__init__() call");
    Py_INCREF(modules); /* the end of a removed object may run Python code */
    bool bad = !py_module_remove(self, name, NULL) ||
               !py_module_remove(self, name, py.parameters_) ||
               !py_module_remove(self, name, py.buffers_) ||
               !py_module_remove(self, name, py.transient_) || PyDict_SetItem(modules, name, value);
    Py_DECREF(modules);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static bool py_module_is_buffer(PyObject *value) {
    PyObject *dict = py_is_tensor(value) ? ((py_tensor *)value)->dict : NULL;
    return dict && PyDict_GetItemWithError(dict, py.is_buffer) == Py_True;
}

static bool py_module_holds(PyObject *self, PyObject *word, PyObject *name) {
    PyObject *in = py_module_dict(self, word);
    return in && PyDict_GetItemWithError(in, name);
}

/* self.name = anything else: a usual attribute, or an option. */
static PyObject *py_module_set_plain(PyObject *self, PyObject *name, PyObject *value) {
    py_module *m = (py_module *)self;
    /* an option: the library's module is made anew by the next call */
    if (m->made && py_kind_has_option(m->kind, name)) py_mrow_drop(m);
    if (PyObject_GenericSetAttr(self, name, value)) return NULL;
    Py_RETURN_NONE;
}

/* Module.__setattr__(name, value): None, or NULL with an exception. */
static PyObject *py_module_setattr(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2 || !PyUnicode_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "__setattr__(name, value): name must be str");
    PyObject *name = args[0], *value = args[1];
    if (!((py_module *)self)->dict && !(((py_module *)self)->dict = PyDict_New())) return NULL;
    /* torch's order: by the value, then by what stands under the name */
    if (PyType_IsSubtype(Py_TYPE(value), py.parameter))
        return py_module_set_parameter(self, name, value);
    if (py_module_holds(self, py.parameters_, name))
        return value != Py_None ? py_module_refuse(self, "parameter", name, value)
                                : py_module_done(PyObject_CallMethod(self, "register_parameter",
                                                                     "OO", name, value));
    if (py_is_module(value)) return py_module_set_child(self, name, value);
    if (py_module_holds(self, py.modules_, name))
        return value != Py_None ? py_module_refuse(self, "child module", name, value)
                                : py_module_set_child(self, name, value);
    if (py_module_is_buffer(value) || py_module_holds(self, py.buffers_, name))
        return value != Py_None && !py_is_tensor(value)
                   ? py_module_refuse(self, "buffer", name, value)
                   : py_module_done(PyObject_CallMethod(self, "_assign_buffer", "OO", name, value));
    if (PyErr_Occurred()) return NULL;
    return py_module_set_plain(self, name, value);
}

/* del self.name, from wherever it stands. */
static PyObject *py_module_delattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    for (int k = 0; k < 3; k++) {
        if (!py_module_holds(self, words[k], name)) continue;
        if (!py_module_remove(self, name, words[k]) ||
            (k == 1 && !py_module_remove(self, name, py.transient_)))
            return NULL;
        Py_RETURN_NONE;
    }
    if (PyErr_Occurred()) return NULL;
    PyObject *o = py_module_getattr(self, name); /* makes hooks that are not there yet */
    if (!o) return NULL;
    Py_DECREF(o);
    return PyObject_GenericSetAttr(self, name, NULL) ? NULL : Py_NewRef(Py_None);
}

/* --- the call --------------------------------------------------------------------------------- */

/* An exception raised in a submodule has `_module` = that submodule. Prepend its path below self
 * (Module._place). */
static void py_module_add_path(PyObject *self) {
    PyObject *type, *value, *trace, *below, *r = NULL;
    /* the exception is taken and put back: Python code may not run with one set */
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    below = value ? PyObject_GetAttrString(value, "_module") : NULL;
    if (!below) PyErr_Clear();
    if (below && below != self) r = PyObject_CallMethod(self, "_place", "O", value);
    if (below && below != self && !r) PyErr_Clear();
    Py_XDECREF(r);
    Py_XDECREF(below);
    PyErr_Restore(type, value, trace);
}

static PyObject *py_module_sequential(PyObject *self, PyObject *input);

/* self.forward(*args, **kwargs) */
static PyObject *py_module_run(PyObject *self, PyObject *args, PyObject *kwargs) {
    /* not by the slot: a subclass' __getattr__ is for names that are missing */
    PyObject *forward = PyObject_GenericGetAttr(self, py.forward), *r;
    if (!forward && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* a user's __getattr__, perhaps */
        forward = PyObject_GetAttr(self, py.forward);
    }
    r = forward ? PyObject_Call(forward, args, kwargs) : NULL;
    Py_XDECREF(forward);
    return r;
}

/* A forward of ours, of one argument, without binding it; *r is left as it is where forward is
 * another one by now, of the object or of its class. */
static bool py_module_direct(PyObject *self, PyObject *x, PyObject **r) {
    py_module *m = (py_module *)self;
    if (!m->dict || PyDict_GetItemWithError(m->dict, py.forward)) return false;
    PyObject *forward = PyObject_GetAttr((PyObject *)Py_TYPE(self), py.forward);
    /* borrowed from here on, for the comparison */
    Py_XDECREF(forward); /* the class has it */
    const bool row = forward && py_module_of_row(m, forward);
    if (!row && forward != py.sequential_forward) return PyErr_Clear(), false;
    *r = row ? py_mrow_forward(self, &x, 1, NULL) : py_module_sequential(self, x);
    return true;
}

static bool py_module_hooked(PyObject *self) {
    PyObject *dict = ((py_module *)self)->dict;
    return py.hooked_all || (dict && PyDict_GetItemWithError(dict, py.hooked));
}

/* self(*args, **kwargs). An exception that passes here gets the module's path. */
static PyObject *py_module_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *call, *r = NULL;
    /* Python runs the hooks: tensorh/nn/modules/module.py */
    if (TNI_UNLIKELY(py_module_hooked(self))) {
        call = PyObject_GetAttrString(self, "_call_hooked");
        r = call ? PyObject_CallFunctionObjArgs(call, args, kwargs ? kwargs : py.no_kwargs, NULL)
                 : NULL;
        Py_XDECREF(call);
    } else if (!((py_module *)self)->direct || kwargs || PyTuple_Size(args) != 1 ||
               !py_module_direct(self, PyTuple_GetItem(args, 0), &r)) {
        r = py_module_run(self, args, kwargs);
    }
    if (TNI_UNLIKELY(!r)) py_module_add_path(self);
    return r;
}

/* child(x), where child may be anything */
static PyObject *py_module_call_one(PyObject *child, PyObject *x) {
    PyObject *r = NULL;
    if (!py_is_module(child) || !((py_module *)child)->direct || py_module_hooked(child) ||
        PyType_GetSlot(Py_TYPE(child), Py_tp_call) != (void *)py_module_call ||
        !py_module_direct(child, x, &r))
        return PyObject_CallFunctionObjArgs(child, x, NULL);
    if (TNI_UNLIKELY(!r)) py_module_add_path(child);
    return r;
}

/* x through all children, one after the other: Sequential.forward. */
static PyObject *py_module_sequential(PyObject *self, PyObject *input) {
    /* a list: children may be added or removed by a forward */
    PyObject *modules = py_module_dict(self, py.modules_);
    PyObject *all = modules ? PyDict_Values(modules) : PyList_New(0), *x = Py_NewRef(input);
    /* a Sequential may contain itself */
    if (Py_EnterRecursiveCall(" in Sequential")) {
        Py_XDECREF(all);
        Py_DECREF(x);
        return NULL;
    }
    for (Py_ssize_t i = 0; all && x && i < PyList_Size(all); i++) {
        PyObject *y = py_module_call_one(PyList_GetItem(all, i), x);
        Py_DECREF(x);
        x = y;
    }
    Py_XDECREF(all);
    Py_LeaveRecursiveCall();
    return all ? x : (Py_XDECREF(x), NULL);
}

/* --- the class -------------------------------------------------------------------------------- */

#define MODULE_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_module_methods[] = {
    {"__setattr__", MODULE_FAST(py_module_setattr), METH_FASTCALL, NULL},
    {"__delattr__", py_module_delattr, METH_O, NULL},
    {"_sequential", py_module_sequential, METH_O,
     "_sequential($self, input, /)\n--\n\nThe input through all children, one after the other."},
    {"_row_init", MODULE_FAST(py_mrow_init), METH_VARARGS | METH_KEYWORDS, NULL},
    {"_row_forward", MODULE_FAST(py_mrow_forward), METH_FASTCALL | METH_KEYWORDS,
     "_row_forward($self, /, *args, **kwargs)\n--\n\nRuns the module's row; the class says what it "
     "takes."},
    {"_row_reset", py_mrow_reset, METH_NOARGS, "draws initial values again"},
    {NULL, NULL, 0, NULL}};
static PyMemberDef py_module_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_module, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_module, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef py_module_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot py_module_slots[] = {{Py_tp_new, (void *)py_module_new},
                                        {Py_tp_init, (void *)py_module_init},
                                        {Py_tp_dealloc, (void *)py_module_dealloc},
                                        {Py_tp_traverse, (void *)py_module_traverse},
                                        {Py_tp_clear, (void *)py_module_clear},
                                        {Py_tp_getattro, (void *)py_module_getattr},
                                        {Py_tp_call, (void *)py_module_call},
                                        {Py_tp_methods, py_module_methods},
                                        {Py_tp_members, py_module_members},
                                        {Py_tp_getset, py_module_attributes},
                                        {0, NULL}};
static PyType_Spec py_module_spec = {"tensorh._C._Module", sizeof(py_module), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                     py_module_slots};

/* --- functions for tensorh/nn ----------------------------------------------------------------- */

/* _without_grad(f, *args): f(*args) while nothing is recorded. */
static PyObject *py_module_without_grad(PyObject *self, PyObject *args) {
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *rest = n ? PyTuple_GetSlice(args, 1, n) : NULL;
    (void)self;
    if (!rest)
        return n ? NULL : PyErr_Format(PyExc_TypeError, "_without_grad(): a function is missing");
    bool mode = tn_set_grad_mode(false);
    PyObject *r = PyObject_CallObject(PyTuple_GetItem(args, 0), rest);
    /* also after an exception */
    tn_set_grad_mode(mode);
    Py_DECREF(rest);
    return r;
}

/* _take_data(a, b): a gets the data of b, dtype and device included, and stays the same object.
 * False where a or b is a view or was recorded. */
static PyObject *py_module_take_data(PyObject *self, PyObject *args) {
    PyObject *a, *b;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!", py.tensor, &a, py.tensor, &b)) return NULL;
    /* a call in another thread may read either */
    if (!py_retire_memory(py_of(a)) || !py_retire_memory(py_of(b))) return py_raise();
    bool ok = tnp_swap_data(py_of(a), py_of(b));
    /* not an error: the caller does something else then */
    if (!ok) tn_error_take(NULL);
    return PyBool_FromLong(ok);
}

/* _clip_grad_norm(list of tensors, max_norm, norm_type) */
static PyObject *py_module_clip_norm(PyObject *self, PyObject *args) {
    PyObject *list;
    double most, type, norm = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!dd", &PyList_Type, &list, &most, &type)) return NULL;
    Py_ssize_t n = PyList_Size(list);
    /* borrowed from the list: nothing below runs Python code */
    tn_tensor **at = (tn_tensor **)py_get((size_t)(n + 1), sizeof *at);
    if (!at) return PyErr_NoMemory();
    bool fits = true;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        PyObject *o = PyList_GetItem(list, i);
        fits = py_is_tensor(o);
        at[i] = fits ? py_of(o) : NULL;
    }
    if (fits) norm = tn_nn_clip_grad_norm_at(NULL, 0, tn_tensors_of(at, (int64_t)n), most, type);
    py_give(at);
    if (!fits)
        return PyErr_Format(PyExc_TypeError, "clip_grad_norm_(): parameters must be Tensors");
    return tn_ok() ? PyFloat_FromDouble(norm) : py_raise();
}

/* _hook_all(bool): whether each module's call looks for hooks of all modules. */
static PyObject *py_module_hook_all(PyObject *self, PyObject *on) {
    (void)self;
    py.hooked_all = on == Py_True;
    Py_RETURN_NONE;
}

static PyMethodDef py_modules_functions[] = {
    {"_without_grad", py_module_without_grad, METH_VARARGS, NULL},
    {"_take_data", py_module_take_data, METH_VARARGS, NULL},
    {"_clip_grad_norm", py_module_clip_norm, METH_VARARGS, NULL},
    {"_hook_all", py_module_hook_all, METH_O, NULL},
    {"_module_kinds", py_kinds, METH_NOARGS, NULL},
    {"_module_kind", py_kind_describe, METH_O, NULL},
    {"_module_forward", py_mrow_method, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_modules_begin(PyObject *module) {
    if (!(py.no_kwargs = PyDict_New())) return -1;
    py.module = (PyTypeObject *)PyType_FromSpec(&py_module_spec);
    if (!py.module || PyModule_AddObjectRef(module, "_Module", (PyObject *)py.module) ||
        PyObject_SetAttr((PyObject *)py.module, py.row, Py_None) ||
        !(py.sequential_forward = PyObject_GetAttrString((PyObject *)py.module, "_sequential")))
        return -1;
    return PyModule_AddFunctions(module, py_modules_functions);
}

/* src/py/tap.c - gradients on their way, for hooks of modules: a call that changes nothing in forward, and whose gradients pass through Python code in backward */
/* tap.c - gradients on their way, for hooks of modules: a call that changes nothing in forward, and
 * whose gradients pass through Python code in backward. */

/* A call that changes nothing; its gradients pass through Python code. Its row is a part of it, as
 * the number of tensors differs. */
typedef struct py_tap {
    tn_function_row row;
    PyObject *call;
} py_tap;

/* Views, so that the outputs are other tensors with the inputs' values. */
static bool py_tap_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f;
    for (int i = 0; i < nin; i++)
        if (!(out[i] = tnp_view(in[i], tn_shape(in[i])))) return false;
    return true;
}

/* The incoming gradients as a new tuple; None for those that did not come. */
static PyObject *py_tap_gradients(tn_tensor *const *grad, int n) {
    PyObject *all = PyTuple_New(n);
    for (int i = 0; all && i < n; i++) {
        PyObject *o = py_wrap_borrowed(grad[i]);
        if (!o || PyTuple_SetItem(all, i, o)) Py_CLEAR(all);
    }
    return all;
}

/* given: a tuple of as many gradients. */
static bool py_tap_give(PyObject *given, tn_tensor **grad, int n) {
    if (!PyTuple_Check(given) || PyTuple_Size(given) != n) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a backward hook returned the wrong number of gradients");
        return false;
    }
    for (int i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(given, i);
        /* None ends the gradient of this tensor */
        grad[i] = NULL;
        if (o == Py_None) continue;
        if (!py_is_tensor(o)) {
            PyErr_SetString(PyExc_TypeError, "a backward hook must return Tensors or None");
            return false;
        }
        if (!(grad[i] = tnp_view(py_of(o), tn_shape(py_of(o))))) return false;
    }
    return true;
}

/* What the tape calls: f(gradients), whose results go on. */
static bool py_tap_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    /* in any thread; the GIL until the gradients are given */
    const py_inside inside = py_inside_begin();
    const py_tap *tap = (const py_tap *)tn_function_user(f);
    PyObject *grads = py_tap_gradients(grad_out, tap->row.nout);
    PyObject *given = grads ? PyObject_CallFunctionObjArgs(tap->call, grads, NULL) : NULL;
    bool ok = given && py_tap_give(given, grad_in, tap->row.nout);
    Py_XDECREF(given);
    Py_XDECREF(grads);
    /* the exception stays set; the library needs an error to end the pass */
    if (!ok && tn_ok()) tn_error_set(TN_INVALID, NULL, 0, "a backward hook raised an exception");
    py_inside_end(inside);
    return ok;
}

static void py_tap_release(void *user) {
    /* the tape drops it, in any thread */
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(((py_tap *)user)->call);
    PyGILState_Release(state);
    py_give(user);
}

enum { TAP_MOST = 64 };
/* The outputs as wrappers. All are taken even after a failure. */
static PyObject *py_tap_results(tn_tensor **out, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = py_wrap(tn_take(out[i]));
        if (all && o)
            PyTuple_SetItem(all, i, o);
        else
            Py_XDECREF(o);
        if (!o) Py_CLEAR(all);
    }
    return all;
}

/* _tap(tensors, f): tensors of the same values, whose gradients g pass through f(g). */
static PyObject *py_tap_new(PyObject *self, PyObject *args) {
    PyObject *tensors, *call;
    tn_tensor *in[TAP_MOST], *out[TAP_MOST];
    const char *file;
    int line;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &tensors, &call)) return NULL;
    Py_ssize_t n = PyTuple_Size(tensors);
    if (n < 1 || n > TAP_MOST)
        return PyErr_Format(PyExc_ValueError, "hooks: expected 1 to %d tensors", TAP_MOST);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(tensors, i);
        if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "hooks: expected a Tensor");
        in[i] = py_of(o);
    }
    /* the tape owns it from tn_function_call_at on, also if that fails */
    py_tap *tap = (py_tap *)py_get(1, sizeof *tap);
    if (!tap) return PyErr_NoMemory();
    tap->row.name = "BackwardHookFunction";
    tap->row.nout = (int)n;
    tap->row.forward = py_tap_forward;
    tap->row.backward = py_tap_backward;
    tap->row.release = py_tap_release;
    tap->call = Py_NewRef(call);
    const int turn = py_lend();
    py_here(&file, &line);
    const tn_tensors all = tn_tensors_of(in, (int64_t)n);
    bool ok = tn_function_call_at(file, line, &tap->row, all, tap, out);
    return py_lent(turn, ok ? py_tap_results(out, n) : py_raise());
}

static PyMethodDef py_tap_functions[] = {{"_tap", py_tap_new, METH_VARARGS, NULL},
                                         {NULL, NULL, 0, NULL}};

PY_PRIV int py_taps_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_tap_functions);
}

/* src/py/convert.c - a tensor as another: of another dtype, class, shape; and what there is to know about it that no row tells */
/* convert.c - a tensor as another: of another dtype, class, shape; and what there is to know about
 * it that no row tells. */

/* --- other dtypes ----------------------------------------------------------------------------- */

static const py_group *py_convert_to, *py_convert_dense; /* "to", "contiguous" */

/* self.to(argument, copies .. as given), or self where it is so already. */
static PyObject *py_convert_dtype(PyObject *self, tn_dtype dtype, PyObject *const *args,
                                  Py_ssize_t n, PyObject *kwnames) {
    PyObject *all[3] = {self, py.dtypes[dtype], NULL};
    if (n || (kwnames && PyTuple_Size(kwnames) != 1))
        return PyErr_Format(PyExc_TypeError,
                            "a conversion to %s takes only memory_format=", tn_dtype_name(dtype));
    if (!kwnames && tn_dtype_of(py_of(self)) == dtype) return Py_NewRef(self);
    if (kwnames) all[2] = args[0];
    return py_call(py_convert_to, true, all, 2, kwnames);
}

#define CONVERT_METHOD(name, dtype)                                                         \
    static PyObject *py_convert_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, \
                                       PyObject *kwnames) {                                 \
        return py_convert_dtype(self, dtype, args, n, kwnames);                             \
    }
#define CONVERT_ENTRY(name, dtype)                                                 \
    {#name, (PyCFunction)(void *)py_convert_##name, METH_FASTCALL | METH_KEYWORDS, \
     "the elements converted; the tensor itself where it has them already"},
#define CONVERT_ALL(X)   \
    X(float, TN_F32)     \
    X(double, TN_F64)    \
    X(half, TN_F16)      \
    X(bfloat16, TN_BF16) \
    X(long, TN_I64)      \
    X(int, TN_I32)       \
    X(short, TN_I16)     \
    X(char, TN_I8) X(byte, TN_U8) X(bool, TN_BOOL) X(cfloat, TN_C64) X(cdouble, TN_C128)
CONVERT_ALL(CONVERT_METHOD)

static PyObject *py_convert_type_as(PyObject *self, PyObject *o) {
    if (py_is_tensor(o)) return py_convert_dtype(self, tn_dtype_of(py_of(o)), NULL, 0, NULL);
    return PyErr_Format(PyExc_TypeError, "type_as(): argument 'other' must be Tensor, not %R",
                        Py_TYPE(o));
}

/* A row's result r (taken), or self where r is nothing but another name of it. */
static PyObject *py_convert_same(PyObject *self, PyObject *r) {
    if (!r || r == self || !py_is_tensor(r) ||
        (Py_TYPE(r) != Py_TYPE(self) && !py_is_exact(self)) ||
        !tn_same_storage(py_of(r), py_of(self)) ||
        tn_dtype_of(py_of(r)) != tn_dtype_of(py_of(self)))
        return r;
    Py_DECREF(r);
    return Py_NewRef(self);
}

/* x.cpu(): x itself if it is in CPU memory. */
static PyObject *py_convert_cpu(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    if (n || (kwnames && PyTuple_Size(kwnames) != 1))
        return PyErr_Format(PyExc_TypeError, "cpu() takes only memory_format=");
    if (!kwnames && tn_device_of(py_of(self)) == TN_CPU) return Py_NewRef(self);
    PyObject *device = py_device_of(TN_CPU), *all[3] = {self, device, kwnames ? args[0] : NULL};
    PyObject *r = device ? py_call(py_convert_to, true, all, 2, kwnames) : NULL;
    Py_XDECREF(device);
    return py_convert_same(self, r);
}

/* to and contiguous return the tensor itself if nothing changes, so that a leaf stays a leaf. */
static PyObject *py_convert_call(const py_group *g, PyObject *self, PyObject *const *args,
                                 Py_ssize_t n, PyObject *kwnames) {
    PyObject *all[8] = {self};
    Py_ssize_t more = n + (kwnames ? PyTuple_Size(kwnames) : 0);
    if (more > 7) return PyErr_Format(PyExc_TypeError, "%s() takes fewer arguments", g->name);
    for (Py_ssize_t i = 0; i < more; i++) all[i + 1] = args[i];
    return py_convert_same(self, py_call(g, true, all, n + 1, kwnames));
}

/* x.to(..). The common case, the dtype that it has, is decided before any argument is bound. */
static PyObject *py_convert_to_method(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                      PyObject *kwnames) {
    if (n == 1 && !kwnames && Py_TYPE(args[0]) == py.dtype && py_is_exact(self) &&
        ((py_dtype *)args[0])->dtype == tn_dtype_of(py_of(self)))
        return Py_NewRef(self);
    return py_convert_call(py_convert_to, self, args, n, kwnames);
}

/* x.contiguous(..): x itself if it is dense. */
static PyObject *py_convert_contiguous(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                       PyObject *kwnames) {
    if (!n && !kwnames && py_is_exact(self) && tn_is_contiguous(py_of(self)))
        return Py_NewRef(self);
    return py_convert_call(py_convert_dense, self, args, n, kwnames);
}

/* --- other classes ---------------------------------------------------------------------------- */

static bool py_convert_is_class(PyObject *type) {
    if (PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, py.tensor)) return true;
    PyErr_Format(PyExc_TypeError, "cls must be a type that inherits from Tensor, not %R", type);
    return false;
}

static PyObject *py_convert_as_subclass(PyObject *self, PyObject *type) {
    return py_convert_is_class(type) ? py_wrap_alias((PyTypeObject *)type, self) : NULL;
}

/* Tensor._make_subclass(cls, data, require_grad=False): data's elements without its history. */
static PyObject *py_convert_make_subclass(PyObject *unused, PyObject *args) {
    PyObject *type, *data, *grad = Py_False;
    (void)unused;
    if (!PyArg_ParseTuple(args, "OO|O:_make_subclass", &type, &data, &grad) ||
        !py_convert_is_class(type))
        return NULL;
    if (!py_is_tensor(data))
        return PyErr_Format(PyExc_TypeError, "_make_subclass(): argument 'data' must be Tensor");
    /* a leaf, whatever data was */
    tn_tensor *t = tnp_detach(py_of(data));
    PyObject *r = t ? py_wrap_as((PyTypeObject *)type, tn_take(t)) : py_raise();
    if (r && grad == Py_True && !tn_requires_grad_at(NULL, 0, py_of(r), true)) {
        Py_DECREF(r);
        return py_raise();
    }
    return r;
}

/* self._become(view): self is that tensor from now on: what x.unsqueeze_(0) does. The view, which
 * nobody else should have, is what self was. */
static PyObject *py_convert_become(PyObject *self, PyObject *o) {
    py_tensor *p = (py_tensor *)self, *v = (py_tensor *)o;
    if (!py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "_become() expects a tensor, not %R", Py_TYPE(o));
    if (p->t == v->t) return Py_NewRef(self);
    if (tn_is_inference(p->t) && !py_mode_inference())
        return PyErr_Format(PyExc_RuntimeError,
                            "Inplace update to inference tensor outside InferenceMode is not "
                            "allowed. You can make a clone to get a normal tensor before doing "
                            "inplace update.");
    if (tn_is_leaf(p->t) && tn_needs_grad(p->t) && tn_grad_mode())
        return PyErr_Format(PyExc_RuntimeError,
                            "a leaf Variable that requires grad is being used in an in-place "
                            "operation.");
    if (Py_REFCNT(o) > 1) { /* somebody else has it */
        o = py_wrap_alias(py.tensor, o);
        if (!o) return NULL;
        v = (py_tensor *)o;
    } else {
        Py_INCREF(o);
    }
    /* the two wrappers exchange their tensors */
    tn_tensor *before = p->t;
    py_retire(tn_retain(before)); /* for calls that are under way */
    py_hooks_part(p);             /* they stay with the tensors */
    py_hooks_part(v);
    p->t = v->t;
    v->t = before;
    p->parts = v->parts = 0;
    tn_set_binding(p->t, p, NULL);
    tn_set_binding(v->t, v, NULL);
    Py_DECREF(o);
    return Py_NewRef(self);
}

/* _raw(t): the bytes of a contiguous tensor as a uint8 tensor over the same memory. */
static PyObject *py_convert_raw(PyObject *self, PyObject *o) {
    static char none[16];
    tn_wrap_options options;
    (void)self;
    if (!py_is_tensor(o) || !tn_is_contiguous(py_of(o)) || !py_on_cpu(py_of(o)))
        return PyErr_Format(PyExc_TypeError, "_raw() expects a contiguous tensor on the CPU");
    tn_tensor *t = py_of(o);
    const int64_t size[1] = {tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t))};
    memset(&options, 0, sizeof options);
    /* keeps the tensor: no Python object is involved */
    options.release = py_own_tensor_end;
    if (!(options.user = tn_take(tnp_detach(t)))) return py_raise(); /* t.data may be replaced */
    options.read_only = tn_is_read_only(t);
    void *data = size[0] ? tn_data(t) : none;
    tn_tensor *r = tn_wrap_at(NULL, 0, data, tn_ints_of(size, 1), TN_U8, &options);
    if (r) return py_wrap(tn_take(r));
    tn_release((tn_tensor *)options.user);
    return py_raise();
}

/* _memory_bytes(t): of the memory that t and its views share. */
static PyObject *py_convert_bytes(PyObject *self, PyObject *o) {
    (void)self;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "_memory_bytes() expects a tensor");
    return PyLong_FromLongLong(tn_storage_bytes(py_of(o)));
}

/* --- about a tensor --------------------------------------------------------------------------- */

static PyObject *py_about_floating(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(py_dtype_is_float(tn_dtype_of(py_of(self))));
}
static PyObject *py_about_complex(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(py_dtype_is_complex(tn_dtype_of(py_of(self))));
}
static PyObject *py_about_signed(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(py.dtypes[tn_dtype_of(py_of(self))], "is_signed");
}
static PyObject *py_about_same_storage(PyObject *self, PyObject *o) {
    return PyBool_FromLong(py_is_tensor(o) && tn_same_storage(py_of(self), py_of(o)));
}
/* The number in the device's name, "cuda:1"; without one -1. */
static PyObject *py_about_get_device(PyObject *self, PyObject *unused) {
    const char *colon = strchr(tn_device_name(tn_device_of(py_of(self))), ':');
    (void)unused;
    return PyLong_FromLong(colon ? strtol(colon + 1, NULL, 10) : -1);
}
static PyObject *py_about_is_view(PyObject *self, PyObject *unused) {
    (void)unused;
    /* of what inference mode made there are no views, as nothing is recorded */
    return PyBool_FromLong(tn_is_view(py_of(self)) && !tn_is_inference(py_of(self)));
}

/* Whether strides are those of channels last: C fastest, then W, H, (D,) N. */
static bool py_about_channels_last(const tn_tensor *t, int ndim) {
    int64_t expected = 1;
    if (tn_ndim(t) != ndim) return false;
    if (!tn_numel(t)) return true;
    for (int k = 0; k < ndim; k++) {
        /* 1, then the last dimensions backwards, then 0 */
        int dim = k == 0 ? 1 : k == ndim - 1 ? 0 : ndim - k;
        if (tn_size(t, dim) != 1 && tn_stride(t, dim) != expected) return false;
        expected *= tn_size(t, dim);
    }
    return true;
}

/* x.is_contiguous(memory_format=..). */
static PyObject *py_about_contiguous(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                     PyObject *kwnames) {
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    const tn_tensor *t = py_of(self);
    if (!n && !nkw) return PyBool_FromLong(tn_is_contiguous(t));
    if (n + nkw > 1 ||
        (nkw && PyUnicode_Compare(PyTuple_GetItem(kwnames, 0), py.memory_format_word)) ||
        Py_TYPE(args[0]) != py.memory_format)
        return PyErr_Format(PyExc_TypeError, "is_contiguous(): argument 'memory_format' must be "
                                             "torch.memory_format");
    /* the two orders beside row-major; preserve_format asks for nothing else */
    const char *name = py_format_name(args[0]);
    if (!strcmp(name, "channels_last")) return PyBool_FromLong(py_about_channels_last(t, 4));
    if (!strcmp(name, "channels_last_3d")) return PyBool_FromLong(py_about_channels_last(t, 5));
    return PyBool_FromLong(tn_is_contiguous(t));
}

static PyMethodDef py_convert_methods[] = {
    CONVERT_ALL(CONVERT_ENTRY){"cpu", (PyCFunction)(void *)py_convert_cpu,
                               METH_FASTCALL | METH_KEYWORDS, "the tensor in CPU memory"},
    {"to", (PyCFunction)(void *)py_convert_to_method, METH_FASTCALL | METH_KEYWORDS,
     "to($self, /, *args, **kwargs)\n--\n\nto(dtype), to(device, dtype), to(other): converted; the "
     "tensor itself where it is so"},
    {"contiguous", (PyCFunction)(void *)py_convert_contiguous, METH_FASTCALL | METH_KEYWORDS,
     "contiguous($self, /, memory_format=None)\n--\n\ndense in that order; row-major for None"},
    {"get_device", py_about_get_device, METH_NOARGS, "the number of the device; -1 for the CPU"},
    {"type_as", py_convert_type_as, METH_O, "converted to the dtype of another tensor"},
    {"as_subclass", py_convert_as_subclass, METH_O, "the same elements as an instance of cls"},
    {"is_floating_point", py_about_floating, METH_NOARGS, "whether the elements are floating"},
    {"is_complex", py_about_complex, METH_NOARGS, "whether the elements are complex"},
    {"is_signed", py_about_signed, METH_NOARGS, "whether the elements have a sign"},
    {"is_set_to", py_about_same_storage, METH_O, "whether both are on the same memory"},
    {"_is_view", py_about_is_view, METH_NOARGS, NULL},
    {"_become", py_convert_become, METH_O, NULL},
    {"is_contiguous", (PyCFunction)(void *)py_about_contiguous, METH_FASTCALL | METH_KEYWORDS,
     "is_contiguous(memory_format=torch.contiguous_format): whether it is dense in that order"}};

/* --- functions -------------------------------------------------------------------------------- */

static PyObject *py_about_is_tensor(PyObject *self, PyObject *o) {
    (void)self;
    return PyBool_FromLong(py_is_tensor(o));
}
static PyObject *py_about_get_default_dtype(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return Py_NewRef(py.dtypes[tn_default_dtype()]);
}
static PyObject *py_about_set_default_dtype(PyObject *self, PyObject *o) {
    (void)self;
    if (Py_TYPE(o) != py.dtype)
        return PyErr_Format(PyExc_TypeError, "invalid dtype object: only floating-point types are "
                                             "supported as the default type");
    if (py_dtype_is_float(((py_dtype *)o)->dtype) && tn_set_default_dtype(((py_dtype *)o)->dtype))
        Py_RETURN_NONE;
    /* torch has one message for all that is refused */
    tn_error_take(NULL);
    return PyErr_Format(PyExc_TypeError, "only floating-point types are supported as the default "
                                         "type");
}
/* torch.promote_types(a, b). */
static PyObject *py_about_promote(PyObject *self, PyObject *args) {
    PyObject *a, *b;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!:promote_types", py.dtype, &a, py.dtype, &b)) return NULL;
    tn_dtype one, other;
    if (!py_to_dtype(a, &one) || !py_to_dtype(b, &other)) return NULL;
    tn_dtype d = tn_promote(one, other);
    return d ? Py_NewRef(py.dtypes[d])
             : PyErr_Format(PyExc_RuntimeError, "%R and %R have no common dtype", a, b);
}
/* (precision, threshold, edgeitems, linewidth, sci_mode): as tn_print_options */
static PyObject *py_about_printing(PyObject *self, PyObject *args) {
    tn_print_options *o = &py_printing;
    (void)self;
    if (!PyArg_ParseTuple(args, "iiiii", &o->precision, &o->threshold, &o->edgeitems, &o->linewidth,
                          &o->sci_mode))
        return NULL;
    Py_RETURN_NONE;
}

/* _write_duals(f): within a level of forward mode f gives the text of dual tensors, None of others;
 * f is None at its end. */
static PyObject *py_about_duals(PyObject *self, PyObject *f) {
    PyObject *was = py.dual_text;
    (void)self;
    py.dual_text = f == Py_None ? NULL : Py_NewRef(f);
    Py_XDECREF(was);
    Py_RETURN_NONE;
}

static PyMethodDef py_convert_functions[] = {
    {"is_tensor", py_about_is_tensor, METH_O, "whether obj is a Tensor"},
    {"get_default_dtype", py_about_get_default_dtype, METH_NOARGS, "dtype of new floating tensors"},
    {"set_default_dtype", py_about_set_default_dtype, METH_O, "sets it; floating only"},
    {"promote_types", py_about_promote, METH_VARARGS, "the dtype that a result of both has"},
    {"_set_printing", py_about_printing, METH_VARARGS, NULL},
    {"_write_duals", py_about_duals, METH_O, NULL},
    {"_raw", py_convert_raw, METH_O, NULL},
    {"_memory_bytes", py_convert_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_convert_static = {"_make_subclass", py_convert_make_subclass, METH_VARARGS,
                                        NULL};

PY_PRIV int py_convert_begin(PyObject *module) {
    PyObject *type = (PyObject *)py.tensor, *m;
    for (size_t i = 0; i < sizeof py_convert_methods / sizeof py_convert_methods[0]; i++) {
        m = PyDescr_NewMethod(py.tensor, &py_convert_methods[i]);
        int bad = !m || PyObject_SetAttrString(type, py_convert_methods[i].ml_name, m);
        Py_XDECREF(m);
        if (bad) return -1;
    }
    /* a static method: a function of C binds no instance */
    m = PyCFunction_New(&py_convert_static, NULL);
    int bad = !m || PyObject_SetAttrString(type, "_make_subclass", m);
    Py_XDECREF(m);
    py_convert_to = py_group_of("to");
    py_convert_dense = py_group_of("contiguous");
    return py_convert_to && py_convert_dense && !bad
               ? PyModule_AddFunctions(module, py_convert_functions)
               : -1;
}

/* src/py/dlpack.c - tensors to and from other libraries without a copy: DLPack 1.1, and the older capsules without a version (https://dmlc.github.io/dlpack/latest) */
/* dlpack.c - tensors to and from other libraries without a copy: DLPack 1.1, and the older capsules
 * without a version (https://dmlc.github.io/dlpack/latest).
 *
 * What is given out holds the tensor, not its Python object; what is taken in is held until the
 * last tensor over it goes. CPU memory alone. */

/* --- the interface ---------------------------------------------------------------------------- */

typedef struct py_dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides NULL: row-major */
    uint64_t byte_offset;
} py_dl_tensor;

typedef struct py_dl_managed { /* "dltensor" */
    py_dl_tensor t;
    void *manager;
    void (*deleter)(struct py_dl_managed *);
} py_dl_managed;

typedef struct py_dl_versioned { /* "dltensor_versioned" */
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct py_dl_versioned *);
    uint64_t flags;
    py_dl_tensor t;
} py_dl_versioned;

enum { DL_CPU = 1, DL_CUDA = 2, DL_READ_ONLY = 1, DL_COPIED = 2, DL_MAJOR = 1, DL_MINOR = 1 };

#define DL_CODE(NAME, text, bytes, kind, alias, computes, loop, largest, digits, safetensors, \
                dlpack, buffer)                                                               \
    dlpack,
static const uint8_t py_dl_code[TN_DTYPE_COUNT] = {0, TN_DTYPES(DL_CODE)};
#undef DL_CODE

/* --- out -------------------------------------------------------------------------------------- */

/* A view for others, in one block with its shape and strides. */
typedef struct py_dl_out {
    py_dl_managed managed;
    py_dl_versioned versioned;
    tn_tensor *tensor; /* one count */
    int64_t sizes[2 * TN_MAX_DIMS];
} py_dl_out;

static void py_dl_out_free(void *at) {
    py_dl_out *out = (py_dl_out *)at;
    /* other libraries call deleters in any thread, with or without the GIL */
    PyGILState_STATE state = PyGILState_Ensure();
    tn_release(out->tensor);
    py_give(out);
    PyGILState_Release(state);
}
static void py_dl_managed_delete(py_dl_managed *m) { py_dl_out_free(m->manager); }
static void py_dl_versioned_delete(py_dl_versioned *m) { py_dl_out_free(m->manager); }

/* Nobody has taken what the capsule holds. */
static void py_dl_capsule_free(PyObject *capsule) {
    /* who takes the tensor renames the capsule, by the protocol */
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        py_dl_managed *m = (py_dl_managed *)PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        py_dl_versioned *m = (py_dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    }
}

/* The kind and number of t's device; false: DLPack has no kind for it. */
static bool py_dl_where(const tn_tensor *t, int *type, int *id) {
    const char *name = tn_device_name(tn_device_of(t));
    const bool cuda = !strncmp(name, "cuda:", 5);
    *type = cuda ? DL_CUDA : DL_CPU;
    *id = cuda ? (int)strtol(name + 5, NULL, 10) : 0;
    return (cuda || tn_device_of(t) == TN_CPU) && !tn_batch_depth(t);
}

/* Fills the description; false: in memory that DLPack does not know. sizes has room for shape and
 * strides. */
static bool py_dl_describe(py_dl_tensor *to, const tn_tensor *t, int64_t *sizes) {
    const int n = tn_ndim(t);
    const tn_dtype dtype = tn_dtype_of(t);
    int type, id;
    if (!py_dl_where(t, &type, &id)) return false;
    to->data = type == DL_CPU ? tn_data(t) : tn_device_data(t);
    to->device.type = type;
    to->device.id = id;
    to->ndim = n;
    to->dtype.code = py_dl_code[dtype];
    to->dtype.bits = (uint8_t)(8 * tn_dtype_bytes(dtype));
    /* a vector of one */
    to->dtype.lanes = 1;
    to->shape = sizes;
    to->strides = sizes + n;
    for (int i = 0; i < n; i++) {
        sizes[i] = tn_size(t, i);
        sizes[n + i] = tn_stride(t, i);
    }
    return true;
}

/* t as a capsule; takes the count. */
static PyObject *py_dl_give(tn_tensor *t, bool versioned, uint64_t flags) {
    py_dl_out *out = (py_dl_out *)py_get(1, sizeof *out);
    py_dl_tensor *to = !out ? NULL : versioned ? &out->versioned.t : &out->managed.t;
    if (!out || !py_dl_describe(to, t, out->sizes)) {
        if (!out)
            PyErr_NoMemory();
        else
            PyErr_Format(PyExc_BufferError, "DLPack does not support %s on %s",
                         tn_dtype_name(tn_dtype_of(t)), tn_device_name(tn_device_of(t)));
        py_give(out);
        return tn_release(t), NULL;
    }
    out->tensor = t;
    /* the deleters get the block by either struct */
    out->managed.manager = out->versioned.manager = out;
    out->managed.deleter = py_dl_managed_delete;
    out->versioned.deleter = py_dl_versioned_delete;
    out->versioned.version.major = DL_MAJOR;
    out->versioned.version.minor = DL_MINOR;
    out->versioned.flags = flags;
    PyObject *capsule =
        versioned ? PyCapsule_New(&out->versioned, "dltensor_versioned", py_dl_capsule_free)
                  : PyCapsule_New(&out->managed, "dltensor", py_dl_capsule_free);
    if (!capsule) py_dl_out_free(out);
    return capsule;
}

/* Reads the arguments of __dlpack__; false with an exception. *versioned: who asks knows
 * DLPack 1. */
static bool py_dl_asked(const tn_tensor *t, PyObject *stream, PyObject *version, PyObject *device,
                        bool *versioned) {
    int64_t n = -1;
    int type, id, major = 0, minor = 0, own, number;
    const bool known = py_dl_where(t, &own, &number);
    type = own;
    id = number;
    /* the array API: None or -1 for memory without streams */
    if (stream != Py_None && !PyLong_Check(stream)) {
        PyErr_SetString(PyExc_TypeError, "stream must be ``int`` or ``none``");
        return false;
    }
    if (known && own == DL_CPU && stream != Py_None && (!py_to_int(stream, &n) || n != -1)) {
        PyErr_SetString(PyExc_BufferError, "a CPU tensor has no stream: expected None or -1");
        return false;
    }
    if ((device != Py_None && !PyTuple_Check(device)) ||
        (version != Py_None && !PyTuple_Check(version))) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__: dl_device and max_version must be tuples");
        return false;
    }
    if (device != Py_None && !PyArg_ParseTuple(device, "ii", &type, &id)) return false;
    if (type != own || id != number) {
        PyErr_Format(PyExc_BufferError, "a %s tensor can be exported to %s memory only",
                     own == DL_CPU ? "CPU" : "CUDA", own == DL_CPU ? "CPU" : "its own");
        return false;
    }
    if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) return false;
    *versioned = major >= DL_MAJOR;
    return true;
}

/* x.__dlpack__(..): a new capsule. The consumer calls the deleter when it is done. */
static PyObject *py_dl_export(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    tn_tensor *t, *given;
    bool versioned = false;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", (char **)(uintptr_t)names,
                                     &stream, &version, &device, &copy) ||
        !py_dl_asked(py_of(self), stream, version, device, &versioned))
        return NULL;
    int copies = copy == Py_None ? 0 : PyObject_IsTrue(copy);
    if (copies < 0) return NULL;
    t = py_of(self);
    if (tn_needs_grad(t))
        return PyErr_Format(PyExc_BufferError, "Can't export tensors that require gradient, use "
                                               "tensor.detach()");
    /* the older capsules cannot say that memory is read-only */
    if (tn_is_read_only(t) && !copies && !versioned)
        return PyErr_Format(PyExc_BufferError, "read-only memory needs DLPack 1.0");
    /* a header without history: the capsule keeps the memory, and writes to it are
     * nobody's record */
    given = copies ? tnp_to_dtype(t, tn_dtype_of(t), false, true) : tnp_detach(t);
    if (!given) return py_raise();
    /* the consumer's stream knows nothing of what this one still computes */
    if (tn_device_of(given) != TN_META && !tnp_device_wait(tn_device_of(given)))
        return tn_free(given), py_raise();
    uint64_t flags = copies ? DL_COPIED : tn_is_read_only(t) ? DL_READ_ONLY : 0;
    return py_dl_give(tn_take(given), versioned, flags);
}

/* x.__dlpack_device__(): what kind of memory, before anything is exported. */
static PyObject *py_dl_device(PyObject *self, PyObject *unused) {
    int type, id;
    (void)unused;
    if (py_dl_where(py_of(self), &type, &id)) return Py_BuildValue("(ii)", type, id);
    return PyErr_Format(PyExc_ValueError, "Unknown device type %s for Dlpack",
                        tn_device_name(tn_device_of(py_of(self))));
}

/* --- in --------------------------------------------------------------------------------------- */

static void py_dl_managed_release(void *data, void *user) {
    py_dl_managed *m = (py_dl_managed *)user;
    /* the last tensor may end in any thread, and the deleter may run Python code */
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}
static void py_dl_versioned_release(void *data, void *user) {
    py_dl_versioned *m = (py_dl_versioned *)user;
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}

/* Whether the library has such tensors, and their dtype; false with an exception. */
static bool py_dl_fits(const py_dl_tensor *d, tn_dtype *dtype) {
    /* code, bits and lanes together are a dtype */
    int k = 1;
    while (k < TN_DTYPE_COUNT &&
           (py_dl_code[k] != d->dtype.code || 8 * tn_dtype_bytes((tn_dtype)k) != d->dtype.bits ||
            d->dtype.lanes != 1))
        k++;
    if (d->device.type != DL_CPU)
        PyErr_Format(PyExc_BufferError, "DLPack: expected the CPU, got device type %d",
                     (int)d->device.type);
    else if (k == TN_DTYPE_COUNT)
        PyErr_Format(PyExc_BufferError,
                     "DLPack: code %d with %d bits and %d lanes is not supported",
                     (int)d->dtype.code, (int)d->dtype.bits, (int)d->dtype.lanes);
    else if (d->ndim < 0 || d->ndim > TN_MAX_DIMS)
        PyErr_Format(PyExc_BufferError, "DLPack: %d dimensions", (int)d->ndim);
    for (int32_t i = 0; !PyErr_Occurred() && d->strides && i < d->ndim; i++)
        if (d->strides[i] < 0 && d->shape[i] > 1)
            PyErr_Format(PyExc_BufferError, "DLPack: tensors with negative strides are not "
                                            "supported. Copy the array first");
    if (PyErr_Occurred()) return false;
    *dtype = (tn_dtype)k;
    return true;
}

/* A tensor over foreign memory, which `release` gives back with its last view. NULL with an
 * exception, and the memory stays the capsule's. */
static tn_tensor *py_dl_wrap(const py_dl_tensor *d, bool read_only, void (*release)(void *, void *),
                             void *managed) {
    static char none[16];
    int64_t strides[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype;
    if (!py_dl_fits(d, &dtype)) return NULL;
    memset(&o, 0, sizeof o);
    if (d->strides && d->ndim) {
        /* a negative stride of a dimension of 1 is never used */
        for (int32_t i = 0; i < d->ndim; i++) strides[i] = d->strides[i] < 0 ? 1 : d->strides[i];
        o.strides = tn_ints_of(strides, d->ndim);
    }
    o.release = release;
    o.user = managed;
    o.read_only = read_only;
    void *data = d->data ? (char *)d->data + d->byte_offset : none;
    tn_tensor *t = tn_wrap_at(NULL, 0, data, tn_ints_of(d->shape, d->ndim), dtype, &o);
    if (!t) py_raise();
    return t;
}

/* The capsule's tensor, which it has no more then. */
static PyObject *py_dl_take(PyObject *capsule) {
    tn_tensor *t = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        py_dl_versioned *v = (py_dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->version.major > DL_MAJOR)
            return PyErr_Format(PyExc_BufferError, "DLPack version %d is not supported",
                                (int)v->version.major);
        t = py_dl_wrap(&v->t, (v->flags & DL_READ_ONLY) != 0, py_dl_versioned_release, v);
        /* consumed, by the protocol; its destructor frees nothing then */
        if (t) PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        py_dl_managed *m = (py_dl_managed *)PyCapsule_GetPointer(capsule, "dltensor");
        t = py_dl_wrap(&m->t, false, py_dl_managed_release, m);
        if (t) PyCapsule_SetName(capsule, "used_dltensor");
    } else {
        return PyErr_Format(PyExc_RuntimeError,
                            "from_dlpack received an invalid capsule. Note that DLTensor "
                            "capsules can be consumed only once, so you might have already "
                            "constructed a tensor from it once.");
    }
    return t ? py_wrap(tn_take(t)) : NULL;
}

/* o.__dlpack__, with a version where it knows of them. */
static PyObject *py_dl_ask(PyObject *o, PyObject *copy) {
    PyObject *f = PyObject_GetAttrString(o, "__dlpack__"), *none = f ? PyTuple_New(0) : NULL;
    PyObject *words = none ? Py_BuildValue("{s(ii)}", "max_version", DL_MAJOR, DL_MINOR) : NULL;
    if (words && copy != Py_None && PyDict_SetItemString(words, "copy", copy)) Py_CLEAR(words);
    PyObject *capsule = words ? PyObject_Call(f, none, words) : NULL;
    /* before version 1 __dlpack__ took no max_version */
    if (words && !capsule && copy == Py_None && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallObject(f, none);
    }
    Py_XDECREF(f);
    Py_XDECREF(none);
    Py_XDECREF(words);
    return capsule;
}

/* torch.from_dlpack(o): of an object with __dlpack__, or of a capsule. */
static PyObject *py_dl_import(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"", "device", "copy", NULL};
    PyObject *o, *device = Py_None, *copy = Py_None, *r;
    tn_device_id id = TN_CPU;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OO:from_dlpack", (char **)(uintptr_t)names,
                                     &o, &device, &copy))
        return NULL;
    if (device != Py_None && !py_to_device(device, &id))
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "from_dlpack(): argument 'device' "
                                                                "must be torch.device");
    /* the device argument asks where the result shall be */
    if (id != TN_CPU)
        return PyErr_Format(PyExc_BufferError, "from_dlpack: only the CPU is supported");
    if (PyCapsule_CheckExact(o)) return py_dl_take(o);
    PyObject *capsule = py_dl_ask(o, copy);
    if (!capsule) return NULL;
    r = py_dl_take(capsule);
    Py_DECREF(capsule);
    return r;
}

/* torch.to_dlpack(x), the older function. */
static PyObject *py_dl_to(PyObject *self, PyObject *o) {
    (void)self;
    if (!py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "to_dlpack(): argument must be Tensor, not %R",
                            Py_TYPE(o));
    PyObject *none = PyTuple_New(0), *r = none ? py_dl_export(o, none, NULL) : NULL;
    Py_XDECREF(none);
    return r;
}

static PyMethodDef py_dl_functions[] = {
    {"from_dlpack", (PyCFunction)(void *)py_dl_import, METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(ext_tensor, *, device=None, copy=None): a tensor over memory of another library"},
    {"to_dlpack", py_dl_to, METH_O, "a capsule of DLPack without a version"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_dl_methods[] = {
    {"__dlpack__", (PyCFunction)(void *)py_dl_export, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): a capsule"},
    {"__dlpack_device__", py_dl_device, METH_NOARGS, "(device type, number)"}};

PY_PRIV int py_dlpack_begin(PyObject *module) {
    for (size_t i = 0; i < sizeof py_dl_methods / sizeof py_dl_methods[0]; i++) {
        PyObject *m = PyDescr_NewMethod(py.tensor, &py_dl_methods[i]);
        int bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, py_dl_methods[i].ml_name, m);
        Py_XDECREF(m);
        if (bad) return -1;
    }
    return PyModule_AddFunctions(module, py_dl_functions);
}

/* src/py/main.c - the module `tensorh._C`: interned words, classes, functions of all rows */
/* main.c - the module `tensorh._C`: interned words, classes, functions of all rows. */

#ifdef TNI_OBJECTS
py_state py;
#endif

/* Names that calls compare by address. They stay for the process. */
static bool py_main_words(void) {
    struct {
        PyObject **at;
        const char *text;
    } words[] = {{&py.out, "out"},
                 {&py.requires_grad, "requires_grad"},
                 {&py.layout, "layout"},
                 {&py.pin_memory, "pin_memory"},
                 {&py.self, "self"},
                 {&py.input, "input"},
                 {&py.x, "x"},
                 {&py.a, "a"},
                 {&py.x1, "x1"},
                 {&py.other, "other"},
                 {&py.x2, "x2"},
                 {&py.dim, "dim"},
                 {&py.axis, "axis"},
                 {&py.keepdim, "keepdim"},
                 {&py.keepdims, "keepdims"},
                 {&py.f_back, "f_back"},
                 {&py.forward, "forward"},
                 {&py.backward, "backward"},
                 {&py.setup_context, "setup_context"},
                 {&py.name_word, "__name__"},
                 {&py.backward_class, "_backward_cls"},
                 {&py.separate, "_separate"},
                 {&py.parameters_, "_parameters"},
                 {&py.buffers_, "_buffers"},
                 {&py.modules_, "_modules"},
                 {&py.transient_, "_non_persistent_buffers_set"},
                 {&py.training, "training"},
                 {&py.hooked, "_hooked"},
                 {&py.row, "_row"},
                 {&py.is_buffer, "_is_buffer"},
                 {&py.torch_function, "__torch_function__"},
                 {&py.memory_format_word, "memory_format"}};
    /* interned: equal words of source code are the same object */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!(*words[i].at = PyUnicode_InternFromString(words[i].text))) return false;
    return true;
}

static PyObject *py_main_manual_seed(PyObject *self, PyObject *o) {
    PyObject *seed = PyNumber_Long(o); /* of a float, too */
    PyObject *g = seed ? PyObject_GetAttrString(self, "default_generator") : NULL;
    PyObject *r = g ? PyObject_CallMethod(g, "manual_seed", "O", seed) : NULL;
    Py_XDECREF(seed);
    Py_XDECREF(g);
    return r;
}
/* torch.set_num_threads: of the current context. */
static PyObject *py_main_set_num_threads(PyObject *self, PyObject *o) {
    int64_t n;
    (void)self;
    if (!py_to_int(o, &n) || n < 1 || n > INT32_MAX)
        return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects a positive integer");
    if (!tn_set_threads((int32_t)n)) return py_raise();
    Py_RETURN_NONE;
}
static PyObject *py_main_isa(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyUnicode_FromString(tn_isa());
}

static PyObject *py_main_get_num_threads(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLong(tn_threads());
}
/* The package's directory, whose code no error shows as its place. */
static PyObject *py_main_package(PyObject *self, PyObject *o) {
    const char *text = PyUnicode_AsUTF8AndSize(o, NULL);
    (void)self;
    if (!text) return NULL;
    py_lines_begin(text);
    Py_RETURN_NONE;
}

/* For __getattr__ of the package: an operator that was registered since the import. */
static PyObject *py_main_registered(PyObject *self, PyObject *o) {
    const char *name = PyUnicode_AsUTF8AndSize(o, NULL);
    PyObject *f = name ? py_registered(name) : NULL;
    (void)self;
    if (name && !f && !PyErr_Occurred())
        PyErr_Format(PyExc_AttributeError, "operator %R does not exist", o);
    return f;
}

static PyMethodDef py_main_functions[] = {
    {"_registered", py_main_registered, METH_O, "the function of an operator of that name"},
    {"manual_seed", py_main_manual_seed, METH_O, "seeds the default generator; returns it"},
    {"set_num_threads", py_main_set_num_threads, METH_O, "threads that work at one operator"},
    {"get_num_threads", py_main_get_num_threads, METH_NOARGS, "threads that work at one operator"},
    {"_isa", py_main_isa, METH_NOARGS, "the instruction set of the kernels"},
    {"_package", py_main_package, METH_O, NULL},
    {"_plan_begin", py_plan_begin, METH_NOARGS, "tensors without data count until _plan_end"},
    {"_plan_end", py_plan_end, METH_NOARGS, "(device, peak, tensor_peak, rest, parts) of each"},
    {"_rows", py_inspect_rows, METH_NOARGS, "all operator rows, for tests and stubs"},
    {"_memory", py_inspect_memory, METH_NOARGS, "bytes in use, tensors, allocations so far"},
    {"_peak", py_inspect_peak, METH_NOARGS, "most bytes in use since the last call"},
    {"_pending", py_inspect_pending, METH_NOARGS, "an error that a call left behind"},
    {"_fail_after", py_inspect_fail_after, METH_VARARGS,
     "(n, once=False): after n more, allocations fail, or one does; -1: none. How many were left"},
    {NULL, NULL, 0, NULL}};

/* What each part adds to the module, in the order in which they need each other. */
static int (*const py_begins[])(PyObject *module) = {
    py_places_begin,    py_errors_begin,   py_types_begin,      py_generators_begin,
    py_devices_begin,   py_cuda_begin,     py_tensor_begin,     py_groups_begin,
    py_number_begin,    py_buffers_begin,  py_create_begin,     py_optim_begin,
    py_loader_begin,    py_ranks_begin,    py_files_begin,      py_autograd_begin,
    py_modes_begin,     py_vmap_start,     py_hooks_begin,      py_saved_begin,
    py_functions_begin, py_nodes_begin,    py_parameters_begin, py_modules_begin,
    py_taps_begin,      py_override_begin, py_convert_begin,    py_dlpack_begin,
    py_sparse_begin,    py_stream_begin,
};

static int py_main_exec(PyObject *module) {
    /* the allocator of tests first, as it has to see every block */
    if (!py_failing_begin() || !tn_context_current()) return PyErr_NoMemory(), -1;
    /* tensors of Python are in no scope: it counts them itself */
    tn_set_unscoped_warning(-1);
#ifndef TNI_OBJECTS
    /* the library as other extensions reach it: tensorh.h */
    PyObject *api = PyCapsule_New((void *)(uintptr_t)tn_exported(), "tensorh._C._api", NULL);
    if (!api || PyModule_AddObjectRef(module, "_api", api)) return -1;
    Py_DECREF(api);
#endif
    if (PyModule_AddStringConstant(module, "__version__", TN_VERSION)) return -1;
    if (!py_draw_start()) return PyErr_NoMemory(), -1;
    /* a child of fork has only the thread that forked; locks of others are made anew */
    py_fork_watch();
    if (!py_main_words()) return -1;
    for (size_t i = 0; i < sizeof py_begins / sizeof py_begins[0]; i++)
        if (py_begins[i](module)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_SystemError, "tensorh: part of the module is missing");
            return -1;
        }
    return 0;
}

static struct PyModuleDef py_main_module = {
    PyModuleDef_HEAD_INIT, "tensorh._C", NULL, -1, py_main_functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__C(void) {
    PyObject *module = PyModule_Create(&py_main_module);
    if (module && py_main_exec(module)) Py_CLEAR(module);
    return module;
}
