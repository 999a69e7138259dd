
/* src/tensor_py.c */
/* tensor_py.c - the CPython module tensorh._C, in one file on tensor.h and tensor_nn.h, which it
 * compiles in. src/tensor_py.c is its root: a new file gets its line here. */

/* src/py/python.h */
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
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#ifndef TN_NN_HEADER_NAME
#define TN_NN_HEADER_NAME "tensor_nn.h"
#endif
#include TN_NN_HEADER_NAME
#endif


/* src/py/py.h */
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
    bool kept;             /* t owns the wrapper, not the wrapper t */
} py_tensor;

typedef struct py_dtype {
    PyObject_HEAD tn_dtype dtype;
} py_dtype;

typedef struct py_generator {
    PyObject_HEAD tn_generator *generator;
    bool owned;
} py_generator;

/* Classes and interned words, made once at import. The module lives as long as the process. */
typedef struct py_state {
    PyTypeObject *tensor, *parameter, *dtype, *device, *size, *generator, *module;
    PyObject *dtypes[TN_DTYPE_COUNT]; /* torch.float32, .. by number */
    PyObject *out, *requires_grad, *layout, *pin_memory, *size_word; /* keywords of many rows */
    PyObject *self, *input, *x, *a, *dim, *axis, *keepdim,
        *keepdims; /* a parameter's other names */
    PyObject *f_lasti, *f_back, *forward, *torch_function;
    PyObject *no_kwargs; /* an empty dict */
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

/* --- tensor.c --------------------------------------------------------------------------------- */

/* The wrapper of t, whose one count it takes over (released when it fails). NULL: an error of the
 * library is pending. */
PY_PRIV PyObject *py_wrap(tn_tensor *t);
PY_PRIV PyObject *py_wrap_as(PyTypeObject *type, tn_tensor *t); /* py.tensor or a subclass */
PY_PRIV PyObject *py_wrap_known(tn_tensor *t, PyObject *known); /* known: tn_binding(t) */
/* The same of a tensor that somebody else owns; None for NULL. */
PY_PRIV PyObject *py_wrap_borrowed(tn_tensor *t);
PY_PRIV PyObject *py_size_of(tn_ints sizes); /* torch.Size */

/* --- error.c ---------------------------------------------------------------------------------- */

/* The pending error of the library as an exception, where none is set that came from Python code in
 * between. Returns NULL. */
PY_PRIV PyObject *py_raise(void);
/* The line of Python code that is being run, as a place for the tape: cheap, decoded only where it
 * is shown. NULL and 0 outside of Python code. */
PY_PRIV void py_here(const char **file, int *line);
PY_PRIV bool py_lines_begin(const char *package);

/* Around calls that may last: the GIL is released, and Ctrl-C asks the call to stop. */
typedef struct py_long {
    PyThreadState *state;
} py_long;
PY_PRIV py_long py_long_begin(void);
PY_PRIV void py_long_end(py_long l);
/* After a call that failed: true when it was stopped for a signal that is nobody's here, so that it
 * is to be made again. */
PY_PRIV bool py_stopped(void);
enum { PY_LONG = 1 << 16 }; /* elements from which on a call is thought to last */

/* --- value.c: Python's objects as arguments --------------------------------------------------- */

/* false: not of that kind, without an exception; an exception only where Python code failed. */
PY_PRIV bool py_to_int(PyObject *o, int64_t *to);      /* int and what has __index__, not bool */
PY_PRIV bool py_to_index(PyObject *o, int64_t *to);    /* the same, and 0-dim integer tensors */
PY_PRIV bool py_to_float(PyObject *o, double *to);     /* int, float, 0-dim tensors */
PY_PRIV bool py_to_scalar(PyObject *o, tn_scalar *to); /* and bool, complex */
PY_PRIV bool py_to_dtype(PyObject *o, tn_dtype *to);   /* torch.float32, float, int, bool */
PY_PRIV bool py_to_device(PyObject *o, tn_device_id *to);
PY_PRIV PyObject *py_from_scalar(tn_scalar s);

/* --- parse.c, run.c --------------------------------------------------------------------------- */

/* The rows that share a name, in the order in which they are tried. */
typedef struct py_group {
    const char *name; /* "max", "add_" */
    unsigned how;     /* TN_PLAIN, TN_IN_PLACE */
    int nrows;
    bool method; /* its first parameter is `self` */
    const tn_row *row[8];
} py_group;
/* A call of the first row that the arguments fit. args[0..nargs-1], then the values of kwnames. */
PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
/* A row with its arguments bound: runs it and makes Python's results. */
PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts);
/* The same through __torch_function__ of an argument. */
PY_PRIV PyObject *py_overridden(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames);
PY_PRIV const py_group *py_group_of(const char *name); /* NULL: none */
PY_PRIV int py_groups_begin(PyObject *module);         /* functions and methods of all rows */
PY_PRIV PyObject *py_registered(const char *name);     /* a function of a row registered since */

/* --- the classes ------------------------------------------------------------------------------ */

/* number.c, index.c, create.c: slots of the class Tensor; how many. */
PY_PRIV int py_number_slots(PyType_Slot *to);
PY_PRIV int py_index_slots(PyType_Slot *to);
PY_PRIV int py_create_slots(PyType_Slot *to);
PY_PRIV int py_tensor_begin(PyObject *module);
PY_PRIV bool py_number_begin(void);
PY_PRIV int py_types_begin(PyObject *module);
PY_PRIV int py_create_begin(PyObject *module);
PY_PRIV PyObject *py_device_of(tn_device_id device);
extern TNI_HIDDEN tn_print_options py_printing;
PY_PRIV PyObject *py_results_list(tn_list l); /* a tuple; takes the list */
/* create.c: a list, array or number as an index, and as a value beside a tensor of dtype. */
PY_PRIV PyObject *py_from_buffer(PyObject *o, bool may_copy); /* shares it */
PY_PRIV PyObject *py_index_tensor(PyObject *o);
PY_PRIV PyObject *py_value_tensor(PyObject *o, tn_dtype dtype);


/* src/py/error.c */
/* error.c - the library's errors as Python's exceptions, lines of Python code as places, Ctrl-C.
 *
 * The tape keeps for each call a place that costs no search: the code object and the offset of the
 * instruction. It becomes a line only where a text is made of it. */

#if !defined(_WIN32)
#include <signal.h>
#endif

/* --- exceptions ------------------------------------------------------------------------------- */

PY_PRIV PyObject *py_raise(void) {
    tn_error_info info;
    PyObject *type = PyExc_RuntimeError;
    if (!tn_error_take(&info)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an error");
        return NULL;
    }
    if (PyErr_Occurred()) return NULL; /* from a hook, say: the library's error came of it */
    if (info.code == TN_INDEX) type = PyExc_IndexError;
    if (info.code == TN_MEMORY) type = PyExc_MemoryError;
    if (info.code == TN_UNSUPPORTED) type = PyExc_NotImplementedError;
    if (info.code == TN_FILE) type = PyExc_OSError;
    if (info.code == TN_CANCELLED) type = PyExc_KeyboardInterrupt;
    PyErr_SetString(type, info.message);
    return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

/* A code object that was recorded. It stays for the rest of the process, as tape nodes hold `file`.
 */
typedef struct py_site {
    PyObject *code; /* counted */
    bool ours;      /* code of the package, which no user wants to see */
    char file[1];   /* the place's file, NUL-terminated */
} py_site;

static struct {
    py_site **at; /* by hash of the code's address; a power of two */
    size_t room, used;
    py_site *last;
    char package[1024]; /* directory of the package, with a slash at its end */
} py_lines;

static size_t py_lines_slot(const PyObject *code) {
    size_t i = (size_t)((uintptr_t)code >> 4) * 11400714819323198485u;
    i ^= i >> 32;
    for (i &= py_lines.room - 1; py_lines.at[i] && py_lines.at[i]->code != code;)
        i = (i + 1) & (py_lines.room - 1);
    return i;
}

static bool py_lines_grow(void) {
    size_t old = py_lines.room, room = old ? 2 * old : 256;
    py_site **before = py_lines.at, **at = (py_site **)calloc(room, sizeof *at);
    if (!at) return false;
    py_lines.at = at;
    py_lines.room = room;
    for (size_t i = 0; i < old; i++)
        if (before[i]) py_lines.at[py_lines_slot(before[i]->code)] = before[i];
    free(before);
    return true;
}

static py_site *py_lines_add(PyObject *code) {
    PyObject *name = PyObject_GetAttrString(code, "co_filename");
    Py_ssize_t n = 0;
    const char *file = name ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    py_site *s = NULL;
    if (file && (2 * py_lines.used < py_lines.room || py_lines_grow()))
        s = (py_site *)malloc(sizeof *s + (size_t)n);
    if (s) {
        s->code = Py_NewRef(code);
        memcpy(s->file, file, (size_t)n + 1);
        s->ours = py_lines.package[0] && !strncmp(file, py_lines.package, strlen(py_lines.package));
        py_lines.at[py_lines_slot(code)] = s;
        py_lines.used++;
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return s;
}

static py_site *py_lines_site(PyObject *code) {
    if (py_lines.last && py_lines.last->code == code) return py_lines.last;
    py_site *s = py_lines.room ? py_lines.at[py_lines_slot(code)] : NULL;
    if (!s) s = py_lines_add(code);
    if (s) py_lines.last = s;
    return s;
}

PY_PRIV void py_here(const char **file, int *line) {
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    *file = NULL;
    *line = 0;
    Py_XINCREF(frame);
    while (frame && frame != Py_None) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *next;
        py_site *s = code ? py_lines_site(code) : NULL; /* which keeps code */
        Py_XDECREF(code);
        if (s && !s->ours) {
            PyObject *at = PyObject_GetAttr(frame, py.f_lasti);
            long last = at ? PyLong_AsLong(at) : 0;
            Py_XDECREF(at);
            *file = s->file;
            *line = -2 - (int)(last / 2);
            break;
        }
        next = PyObject_GetAttr(frame, py.f_back);
        Py_DECREF(frame);
        frame = next;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
}

/* The line of an instruction: code.co_lines() gives (first, end, line) by offset. */
static int py_lines_of_code(PyObject *code, long offset) {
    PyObject *all = PyObject_CallMethod(code, "co_lines", NULL), *one;
    int line = 0;
    while (all && !line && (one = PyIter_Next(all)) != NULL) {
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

static int py_decode(const char *file, int line) {
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

PY_PRIV bool py_lines_begin(const char *package) {
    tn_lines_on(py_decode);
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

static void py_interrupt_seen(int number) {
    py_interrupt.asked = 1;
    tn_cancel(py_interrupt.context);
    if (py_interrupt.before.sa_handler != SIG_DFL && py_interrupt.before.sa_handler != SIG_IGN)
        py_interrupt.before.sa_handler(number);
}

static void py_interrupt_begin(void) {
    struct sigaction now;
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

static void py_interrupt_end(void) {
    if (--py_interrupt.calls) return;
    if (py_interrupt.context) sigaction(SIGINT, &py_interrupt.before, NULL);
    if (py_interrupt.asked) tn_cancel_clear(py_interrupt.context);
    py_interrupt.asked = 0;
}
#else
static void py_interrupt_begin(void) {}
static void py_interrupt_end(void) {}
#endif

PY_PRIV py_long py_long_begin(void) {
    py_long l;
    py_interrupt_begin();
    l.state = PyEval_SaveThread();
    return l;
}

PY_PRIV void py_long_end(py_long l) {
    PyEval_RestoreThread(l.state);
    py_interrupt_end();
}

PY_PRIV bool py_stopped(void) {
    tn_error_info info;
    if (!tn_error_peek(&info) || info.code != TN_CANCELLED || PyErr_Occurred()) return false;
    if (PyErr_CheckSignals()) return false;
    tn_error_take(NULL);
    return true;
}

/* src/py/value.c */
/* value.c - Python's numbers, words and types as arguments of a call. */

/* An exception that a conversion has left says no more than "not of that kind". */
static bool py_value_no(void) {
    PyErr_Clear();
    return false;
}

static bool py_value_long(PyObject *o, int64_t *to) {
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {
        PyErr_SetString(PyExc_OverflowError, "int too large for 64 bits");
        return false;
    }
    *to = v;
    return true;
}

PY_PRIV bool py_to_int(PyObject *o, int64_t *to) {
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    if (PyBool_Check(o) || py_is_tensor(o) || PyFloat_Check(o)) return false;
    if (!PyIndex_Check(o)) return false;
    PyObject *i = PyNumber_Index(o);
    bool ok = i && py_value_long(i, to);
    Py_XDECREF(i);
    return ok || (PyErr_ExceptionMatches(PyExc_OverflowError) ? false : py_value_no());
}

/* A tensor of no dimensions and without a graph stands for its number. */
static bool py_value_item(PyObject *o, tn_scalar *to) {
    if (!py_is_tensor(o)) return false;
    const tn_tensor *t = py_of(o);
    if (tn_ndim(t) || tn_needs_grad(t) || tn_device_of(t) != TN_CPU) return false;
    *to = tnp_item_scalar(t);
    return true;
}

PY_PRIV bool py_to_index(PyObject *o, int64_t *to) {
    tn_scalar s;
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    if (py_value_item(o, &s) && s.kind == TN_KIND_INT) return *to = s.integer, true;
    return py_to_int(o, to);
}

/* NumPy's bool, which is no bool of Python's. */
static bool py_value_is_truth(PyObject *o) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool is = text && strncmp(text, "bool", 4) == 0;
    Py_XDECREF(name);
    return is;
}

PY_PRIV bool py_to_scalar(PyObject *o, tn_scalar *to) {
    if (PyFloat_CheckExact(o)) return *to = tn_float(PyFloat_AsDouble(o)), true;
    if (o == Py_True || o == Py_False) return *to = tn_bool(o == Py_True), true;
    if (PyLong_CheckExact(o)) {
        to->kind = TN_KIND_INT;
        to->imaginary = 0;
        if (!py_value_long(o, &to->integer)) return false;
        to->real = (double)to->integer;
        return true;
    }
    if (py_value_item(o, to)) return true;
    if (py_is_tensor(o)) return false;
    if (PyComplex_Check(o))
        return *to = tn_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)), true;
    if (PyFloat_Check(o)) return *to = tn_float(PyFloat_AsDouble(o)), true;
    int64_t i;
    if (PyIndex_Check(o)) return py_to_int(o, &i) ? (*to = tn_int(i), true) : false;
    if (PyUnicode_Check(o) || PySequence_Check(o) || !PyNumber_Check(o)) return false;
    PyObject *f = PyNumber_Float(o); /* NumPy's float32, bool_ */
    if (!f) return py_value_no();
    *to = py_value_is_truth(o) ? tn_bool(PyFloat_AsDouble(f) != 0) : tn_float(PyFloat_AsDouble(f));
    Py_DECREF(f);
    return true;
}

PY_PRIV bool py_to_float(PyObject *o, double *to) {
    tn_scalar s;
    if (PyFloat_CheckExact(o)) return *to = PyFloat_AsDouble(o), true;
    if (!py_to_scalar(o, &s) || s.kind == TN_KIND_COMPLEX) return false;
    *to = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    return true;
}

PY_PRIV bool py_to_dtype(PyObject *o, tn_dtype *to) {
    if (Py_TYPE(o) == py.dtype) return *to = ((py_dtype *)o)->dtype, true;
    if (o == (PyObject *)&PyFloat_Type) return *to = tn_default_dtype(), true;
    if (o == (PyObject *)&PyLong_Type) return *to = TN_I64, true;
    if (o == (PyObject *)&PyBool_Type) return *to = TN_BOOL, true;
    if (o == (PyObject *)&PyComplex_Type)
        return *to = tn_default_dtype() == TN_F64 ? TN_C128 : TN_C64, true;
    return false;
}

PY_PRIV bool py_to_device(PyObject *o, tn_device_id *to) {
    PyObject *text = PyUnicode_Check(o)        ? Py_NewRef(o)
                     : Py_TYPE(o) == py.device ? PyObject_Str(o)
                                               : NULL;
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    bool found = name != NULL;
    if (name) *to = !strcmp(name, "cpu:0") ? TN_CPU : tnp_device(name);
    if (name && *to == TN_NO_DEVICE) py_raise(), found = false;
    Py_XDECREF(text);
    return found;
}

PY_PRIV PyObject *py_from_scalar(tn_scalar s) {
    switch (s.kind) {
    case TN_KIND_BOOL: return PyBool_FromLong(s.integer != 0);
    case TN_KIND_INT: return PyLong_FromLongLong(s.integer);
    case TN_KIND_COMPLEX: return PyComplex_FromDoubles(s.real, s.imaginary);
    default: return PyFloat_FromDouble(s.real);
    }
}

/* src/py/parse.c */
/* parse.c - Python's arguments into a row's argument struct: one walk over the row's parameters
 * serves every row, every overload, every method.
 *
 * On the way of a call that fits nothing is allocated: the struct and short lists lie on the stack.
 * Texts are made only where nothing fits. */

enum { BIND_BYTES = 512, BIND_INTS = 64, BIND_TENSORS = 32, BIND_MORE = 16 };

/* What a conversion did not like; the texts are made at the end. */
typedef enum py_bind_fault {
    FAULT_NONE,
    FAULT_KIND,    /* of argument `at` */
    FAULT_MANY,    /* positional arguments */
    FAULT_UNKNOWN, /* keyword `at` */
    FAULT_TWICE,
    FAULT_MISSING, /* parameter `at` */
    FAULT_RAISED   /* an exception is set */
} py_bind_fault;

typedef struct py_bind {
    const tn_row *row;
    const tn_gen *gen;
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
    bool lenient;       /* 0-dim tensors are numbers */
    bool requires_grad; /* of a row that makes a tensor of nothing */
    int64_t ints[BIND_INTS];
    double floats[BIND_TENSORS];
    tn_tensor *tensors[BIND_TENSORS];
    int nints, nfloats, ntensors, nmore, nheld;
    void *more[BIND_MORE];     /* long lists */
    PyObject *held[BIND_MORE]; /* members of lists, which other threads may change */
} py_bind;

static bool py_bind_no(py_bind *b, py_bind_fault fault, int at) {
    b->fault = PyErr_Occurred() ? FAULT_RAISED : fault;
    b->at = at;
    return false;
}

TNI_INLINE void py_bind_put(py_bind *b, size_t offset, const void *value, size_t bytes) {
    memcpy(b->args.bytes + offset, value, bytes);
}

/* Room for n members of a list: `here` has some left, else it is got and freed at the end. */
static void *py_bind_room(py_bind *b, Py_ssize_t n, size_t each, void *here, int *used, int room) {
    if (n <= room - *used) {
        void *at = (char *)here + (size_t)*used * each;
        *used += (int)n;
        return at;
    }
    if (b->nmore == BIND_MORE || (size_t)n > PY_SSIZE_T_MAX / each) return PyErr_NoMemory(), NULL;
    void *at = PyMem_Malloc((size_t)n * each);
    if (!at) return PyErr_NoMemory(), NULL;
    return b->more[b->nmore++] = at;
}

/* --- one value -------------------------------------------------------------------------------- */

static bool py_bind_tensor_of(py_bind *b, PyObject *o, tn_tensor **to) {
    if (Py_TYPE(o) != py.tensor && Py_TYPE(o) != py.parameter) {
        if (!PyType_IsSubtype(Py_TYPE(o), py.tensor)) {
            if (!b->foreign && !PyType_Check(o) && Py_TYPE(o) != &PyLong_Type &&
                Py_TYPE(o) != &PyFloat_Type && PyObject_HasAttr(o, py.torch_function))
                b->foreign = o;
            return false;
        }
        if (!b->foreign) b->foreign = o;
    }
    *to = py_of(o);
    b->elements += tn_numel(*to);
    return true;
}

static bool py_bind_scalar(const py_bind *b, PyObject *o, tn_scalar *s) {
    return (b->lenient || !py_is_tensor(o)) && py_to_scalar(o, s);
}

static bool py_bind_tensor(py_bind *b, const tn_param *p, PyObject *o) {
    tn_tensor *t = NULL;
    tn_scalar s;
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return false;
    } else if (!py_bind_tensor_of(b, o, &t)) {
        if (!(p->flags & TN_P_NUMBER) || !py_bind_scalar(b, o, &s)) return false;
        py_bind_put(b, p->number_offset, &s, sizeof s);
    }
    py_bind_put(b, p->offset, &t, sizeof t);
    return true;
}

static bool py_bind_tensors(py_bind *b, const tn_param *p, PyObject *o) {
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
        if (!(one == Py_None && p->flags & TN_P_HOLES) && !py_bind_tensor_of(b, one, &at[i]))
            return false;
    }
    tn_tensors l = tn_tensors_of(at, n);
    py_bind_put(b, p->offset, &l, sizeof l);
    return true;
}

static bool py_bind_ints(py_bind *b, const tn_param *p, PyObject *o) {
    tn_ints l = tn_no_dims();
    int64_t one;
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return false;
    } else if (PyTuple_Check(o) || PyList_Check(o)) {
        bool tuple = PyTuple_Check(o);
        l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
        int64_t *at =
            (int64_t *)py_bind_room(b, l.n ? l.n : 1, sizeof *at, b->ints, &b->nints, BIND_INTS);
        if (!at) return false;
        for (Py_ssize_t i = 0; i < l.n; i++) {
            PyObject *member = tuple ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
            if (!member || !py_to_index(member, &at[i])) return false;
        }
        l.at = at;
    } else {
        if (!py_to_index(o, &one)) return false;
        int64_t *at = (int64_t *)py_bind_room(b, 1, sizeof *at, b->ints, &b->nints, BIND_INTS);
        if (!at) return false;
        *at = one;
        l = tn_ints_of(at, 1);
    }
    py_bind_put(b, p->offset, &l, sizeof l);
    return true;
}

static bool py_bind_floats(py_bind *b, const tn_param *p, PyObject *o) {
    tn_floats l = {NULL, -1};
    bool tuple = PyTuple_Check(o);
    if (o == Py_None) {
        if (!(p->flags & TN_P_OPTIONAL)) return false;
    } else {
        if (!tuple && !PyList_Check(o)) return false;
        l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
        double *at = (double *)py_bind_room(b, l.n ? l.n : 1, sizeof *at, b->floats, &b->nfloats,
                                            BIND_TENSORS);
        if (!at) return false;
        for (Py_ssize_t i = 0; i < l.n; i++) {
            PyObject *member = tuple ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
            if (!member || !py_to_float(member, &at[i])) return false;
        }
        l.at = at;
    }
    py_bind_put(b, p->offset, &l, sizeof l);
    return true;
}

static bool py_bind_number(py_bind *b, const tn_param *p, PyObject *o) {
    tn_scalar s = tn_none();
    double d;
    bool none = o == Py_None;
    if (none ? !(p->flags & TN_P_OPTIONAL) : !py_bind_scalar(b, o, &s)) return false;
    if (p->type == TN_T_SCALAR && !(p->flags & (TN_P_DOUBLE | TN_P_MAYBE))) {
        py_bind_put(b, p->offset, &s, sizeof s);
        return true;
    }
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

static bool py_bind_word(py_bind *b, const tn_param *p, PyObject *o) {
    const char *text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    int32_t word = 0;
    if (!text && !(o == Py_None && p->flags & TN_P_OPTIONAL)) return false;
    for (int k = 0; text && p->words[k]; k++)
        if (strcmp(p->words[k], text) == 0) word = k + 1;
    if (text && !word) {
        PyErr_Format(PyExc_ValueError, "%s is not a valid value for %s", text, p->name);
        return false;
    }
    py_bind_put(b, p->offset, &word, sizeof word);
    return true;
}

static bool py_bind_value(py_bind *b, const tn_param *p, PyObject *o) {
    bool optional = o == Py_None && p->flags & TN_P_OPTIONAL, truth;
    int64_t integer = TN_NONE;
    tn_dtype dtype = TN_NO_DTYPE;
    tn_device_id device = TN_NO_DEVICE;
    tn_generator *generator = NULL;
    const char *text = NULL;
    switch (p->type) {
    case TN_T_TENSOR: return py_bind_tensor(b, p, o);
    case TN_T_TENSORS: return py_bind_tensors(b, p, o);
    case TN_T_INTS: return py_bind_ints(b, p, o);
    case TN_T_FLOATS: return py_bind_floats(b, p, o);
    case TN_T_FLOAT:
    case TN_T_SCALAR: return py_bind_number(b, p, o);
    case TN_T_ENUM: return py_bind_word(b, p, o);
    case TN_T_INT:
        if (!optional && !py_to_index(o, &integer)) return false;
        py_bind_put(b, p->offset, &integer, sizeof integer);
        return true;
    case TN_T_BOOL:
        truth = o == Py_True;
        if (!truth && o != Py_False) return false;
        py_bind_put(b, p->offset, &truth, sizeof truth);
        return true;
    case TN_T_DTYPE:
        if (o != Py_None && !py_to_dtype(o, &dtype)) return false;
        py_bind_put(b, p->offset, &dtype, sizeof dtype);
        return true;
    case TN_T_DEVICE:
        if (o != Py_None && !py_to_device(o, &device)) return false;
        py_bind_put(b, p->offset, &device, sizeof device);
        return true;
    case TN_T_GENERATOR:
        if (o != Py_None && Py_TYPE(o) != py.generator) return false;
        if (o != Py_None) generator = ((py_generator *)o)->generator;
        py_bind_put(b, p->offset, &generator, sizeof generator);
        return true;
    case TN_T_STRING:
        if (!optional && !(PyUnicode_Check(o) && (text = PyUnicode_AsUTF8AndSize(o, NULL)) != NULL))
            return false;
        py_bind_put(b, p->offset, &text, sizeof text);
        return true;
    default: return false;
    }
}

static bool py_bind_one(py_bind *b, int i, PyObject *o) {
    if (b->bound >> i & 1) return py_bind_no(b, FAULT_TWICE, i);
    b->bound |= (uint64_t)1 << i;
    if (TNI_LIKELY(py_bind_value(b, &b->gen->param[i], o))) return true;
    b->given = o;
    return py_bind_no(b, FAULT_KIND, i);
}

/* --- keywords --------------------------------------------------------------------------------- */

/* Names of a row's parameters as interned Python strings, made at its first call by keyword. */
static struct {
    PyObject ***of; /* by row index */
    uint32_t room;
} py_names;

static PyObject **py_names_of(const tn_row *row) {
    if (row->index >= py_names.room) {
        uint32_t room = row->index + 64;
        PyObject ***of = (PyObject ***)PyMem_Calloc(room, sizeof *of);
        if (!of) return NULL;
        if (py_names.room) memcpy(of, py_names.of, py_names.room * sizeof *of);
        PyMem_Free(py_names.of);
        py_names.of = of;
        py_names.room = room;
    }
    if (!py_names.of[row->index]) {
        int n = row->gen->nparam;
        PyObject **at = (PyObject **)PyMem_Calloc((size_t)n + 1, sizeof *at);
        for (int i = 0; at && i < n; i++)
            if (!(at[i] = PyUnicode_InternFromString(row->gen->param[i].name))) {
                PyMem_Free(at);
                return NULL;
            }
        py_names.of[row->index] = at;
    }
    return py_names.of[row->index];
}

/* torch's and NumPy's other names of a parameter. */
static PyObject *py_names_other(PyObject *name) {
    if (name == py.input || name == py.x || name == py.a) return py.self;
    if (name == py.self) return py.input;
    if (name == py.axis) return py.dim;
    if (name == py.keepdims) return py.keepdim;
    return NULL;
}

static int py_names_find(PyObject **at, int n, PyObject *name) {
    for (int i = 0; i < n; i++)
        if (at[i] == name) return i;
    for (int i = 0; i < n; i++)
        if (PyUnicode_Compare(at[i], name) == 0) return i;
    return -1;
}

static bool py_bind_out(py_bind *b, PyObject *o) {
    const tn_gen *gen = b->gen;
    tn_tensor *given[4];
    if (o == Py_None) return true;
    if (gen->nresults == 1) {
        if (!py_bind_tensor_of(b, o, &given[0])) return false;
    } else {
        if (!PyTuple_Check(o) || PyTuple_Size(o) != gen->nresults || gen->nresults > 4)
            return false;
        for (int k = 0; k < gen->nresults; k++)
            if (!py_bind_tensor_of(b, PyTuple_GetItem(o, k), &given[k])) return false;
    }
    py_bind_put(b, gen->out_offset, given, (size_t)gen->nresults * sizeof given[0]);
    return true;
}

/* Whether the row makes a tensor of nothing but numbers, with options dtype and device. */
static bool py_bind_creates(const tn_gen *gen) {
    return gen->nparam > 1 && !gen->nfixed && gen->param[gen->nparam - 1].type == TN_T_DEVICE;
}

/* Keywords that no schema has: of all rows with out=, of all that make tensors. */
static bool py_bind_common(py_bind *b, unsigned how, PyObject *name, PyObject *o, bool *fits) {
    *fits = true;
    if (name == py.out && b->gen->out_offset != UINT16_MAX && !(how & TN_IN_PLACE)) {
        *fits = py_bind_out(b, o);
        return true;
    }
    if (!py_bind_creates(b->gen) && !(b->gen->nfixed == 1 && name == py.requires_grad &&
                                      b->gen->param[b->gen->nparam - 1].type == TN_T_DEVICE))
        return false;
    if (name == py.requires_grad) {
        *fits = PyBool_Check(o);
        b->requires_grad = o == Py_True;
        return true;
    }
    return name == py.layout || name == py.pin_memory;
}

static bool py_bind_keyword(py_bind *b, unsigned how, PyObject *name, PyObject *o, int k) {
    PyObject **at = py_names_of(b->row), *other;
    bool fits;
    if (!at) return PyErr_NoMemory(), py_bind_no(b, FAULT_RAISED, k);
    int i = py_names_find(at, b->gen->nparam, name);
    if (i < 0 && py_bind_common(b, how, name, o, &fits)) {
        b->given = o;
        return fits || py_bind_no(b, FAULT_UNKNOWN, k);
    }
    if (i < 0 && (other = py_names_other(name)) != NULL)
        i = py_names_find(at, b->gen->nparam, other);
    return i < 0 ? py_bind_no(b, FAULT_UNKNOWN, k) : py_bind_one(b, i, o);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* x.view(2, 3): the only positional parameter is a list, and all arguments are its members. */
static int py_bind_varargs(py_bind *b, int first, PyObject *const *args, Py_ssize_t nargs) {
    const tn_param *p = &b->gen->param[first];
    int64_t v;
    if (first >= b->gen->nparam || p->type != TN_T_INTS || p->flags & TN_P_KEYWORD) return 0;
    if (nargs == 1 && (PyTuple_Check(args[0]) || PyList_Check(args[0]))) return 0;
    for (int i = first + 1; i < b->gen->nparam; i++)
        if (!(b->gen->param[i].flags & TN_P_KEYWORD) && nargs > 1 &&
            !(b->gen->param[i].flags & TN_P_DEFAULT && b->gen->param[i].type == TN_T_INTS))
            return 0;
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (!py_to_index(args[i], &v)) return PyErr_Clear(), 0;
    int64_t *at = (int64_t *)py_bind_room(b, nargs, sizeof *at, b->ints, &b->nints, BIND_INTS);
    if (!at) return -1;
    for (Py_ssize_t i = 0; i < nargs; i++) py_to_index(args[i], &at[i]);
    tn_ints l = tn_ints_of(at, nargs);
    py_bind_put(b, p->offset, &l, sizeof l);
    b->bound |= (uint64_t)1 << first;
    return 1;
}

static bool py_bind_fill(py_bind *b, unsigned how, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames, bool method) {
    const tn_gen *gen = b->gen;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0, at = 0;
    memcpy(b->args.bytes, gen->defaults, gen->args_size);
    if (method && !py_bind_one(b, 0, args[at++])) return false;
    if (nargs > at) {
        int list = py_bind_varargs(b, (int)at, args + at, nargs - at);
        if (list < 0) return py_bind_no(b, FAULT_RAISED, 0);
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
    for (int i = 0; i < gen->nparam; i++)
        if (!(b->bound >> i & 1) && !(gen->param[i].flags & TN_P_DEFAULT) &&
            gen->param[i].type != TN_T_GENERATOR)
            return py_bind_no(b, FAULT_MISSING, i);
    return true;
}

static void py_bind_begin(py_bind *b, const tn_row *row, bool lenient) {
    b->row = row;
    b->gen = row->gen;
    b->bound = 0;
    b->elements = 0;
    b->fault = FAULT_NONE;
    b->given = NULL;
    b->requires_grad = false;
    b->lenient = lenient;
    b->nints = b->nfloats = b->ntensors = b->nmore = b->nheld = 0;
}

static void py_bind_end(py_bind *b) {
    for (int i = 0; i < b->nmore; i++) PyMem_Free(b->more[i]);
    for (int i = 0; i < b->nheld; i++) Py_DECREF(b->held[i]);
    b->nmore = b->nheld = 0;
}

/* --- what did not fit ------------------------------------------------------------------------- */

static const char *py_fault_kind(const tn_param *p) {
    static const char *const kinds[] = {"",
                                        "Tensor",
                                        "tuple of Tensors",
                                        "int",
                                        "float",
                                        "bool",
                                        "Number",
                                        "tuple of ints",
                                        "tuple of floats",
                                        "torch.dtype",
                                        "torch.device",
                                        "torch.Generator",
                                        "str",
                                        "str",
                                        "Module",
                                        "Modules"};
    return p->flags & TN_P_NUMBER ? "Tensor or Number" : kinds[p->type];
}

static const char *py_fault_type(PyObject *o, char *text, size_t room) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, room, "%s", s ? s : "?");
    Py_XDECREF(name);
    PyErr_Clear();
    return text;
}

static PyObject *py_fault_raise(const py_bind *b, const char *name, bool method, Py_ssize_t nargs,
                                PyObject *kwnames) {
    char type[80];
    const tn_param *p = &b->gen->param[b->at < b->gen->nparam ? b->at : 0];
    PyObject *word;
    switch (b->fault) {
    case FAULT_RAISED: return NULL;
    case FAULT_KIND:
        return PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %d) must be %s, not %s",
                            name, p->name, b->at + (method ? 0 : 1), py_fault_kind(p),
                            py_fault_type(b->given, type, sizeof type));
    case FAULT_MANY:
        return PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments but %d were given",
                            name, b->at - (method ? 1 : 0), (int)nargs - (method ? 1 : 0));
    case FAULT_TWICE:
        return PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", name,
                            p->name);
    case FAULT_MISSING:
        return PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s' (pos %d)", name,
                            p->name, b->at + (method ? 0 : 1));
    default:
        word = kwnames ? PyTuple_GetItem(kwnames, b->at) : NULL;
        return PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name,
                            word);
    }
}

/* "(Tensor, int, dim=str)" */
static PyObject *py_fault_given(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                                Py_ssize_t from) {
    PyObject *text = PyUnicode_FromString("(");
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = from; text && i < nargs + nkw; i++) {
        char type[80];
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

static PyObject *py_fault_overloads(const py_group *g, bool method, PyObject *const *args,
                                    Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *given = py_fault_given(args, nargs, kwnames, method ? 1 : 0);
    PyObject *text = given ? PyUnicode_FromFormat("%s() received an invalid combination of "
                                                  "arguments - got %U), but expected one of:",
                                                  g->name, given)
                           : NULL;
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

/* --- the call --------------------------------------------------------------------------------- */

static PyObject *py_bound_call(py_bind *b, unsigned how) {
    bool lasts = b->elements >= PY_LONG;
    if (!b->gen->nfixed && b->nints) { /* makes a tensor of that size, perhaps */
        double numel = 1;
        for (int i = 0; i < b->nints; i++) numel *= (double)b->ints[i];
        lasts = lasts || numel >= PY_LONG;
    }
    PyObject *r = py_run(b->row, how, b->args.bytes, lasts);
    if (r && b->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(r), true)) {
        Py_DECREF(r);
        return py_raise();
    }
    return r;
}

PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    py_bind b;
    b.foreign = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < g->nrows; i++) {
            py_bind_begin(&b, g->row[i], pass == 1);
            bool fits = py_bind_fill(&b, g->how, args, nargs, kwnames, method);
            if (TNI_UNLIKELY(b.foreign != NULL)) {
                py_bind_end(&b);
                return py_overridden(g, method, args, nargs, kwnames);
            }
            PyObject *r = fits ? py_bound_call(&b, g->how) : NULL;
            py_bind_end(&b);
            if (fits) return r;
            if (b.fault == FAULT_RAISED) return NULL;
        }
    }
    if (g->nrows > 1) return py_fault_overloads(g, method, args, nargs, kwnames);
    return py_fault_raise(&b, g->name, method, nargs, kwnames);
}

/* src/py/run.c */
/* run.c - a bound row is run, its results become Python's; every row as a function and a method. */

/* --- results ---------------------------------------------------------------------------------- */

/* The named tuple of a row with several results, made at its first call. */
static PyObject *py_results_type(const tn_row *row) {
    static PyObject *types; /* by name */
    PyStructSequence_Field fields[9];
    char name[96];
    if (!types && !(types = PyDict_New())) return NULL;
    PyObject *type = PyDict_GetItemString(types, row->name);
    if (type) return type;
    memset(fields, 0, sizeof fields);
    for (int k = 0; k < row->gen->nresults; k++) fields[k].name = row->gen->result_names[k];
    snprintf(name, sizeof name, "torch.return_types.%.*s", (int)strcspn(row->schema, ".("),
             row->schema);
    PyStructSequence_Desc desc = {name, NULL, fields, row->gen->nresults};
    type = (PyObject *)PyStructSequence_NewType(&desc);
    if (!type || PyDict_SetItemString(types, row->name, type)) return NULL;
    Py_DECREF(type); /* the dictionary has it */
    return type;
}

/* One result: a new tensor, or one that was given, which has a wrapper. */
TNI_INLINE PyObject *py_result_of(tn_tensor *t) {
    PyObject *known = (PyObject *)tn_binding(t);
    return known ? py_wrap_known(t, known) : py_wrap(tn_own(t));
}

static PyObject *py_results_several(const tn_row *row, tn_tensor **r) {
    int n = row->gen->nresults;
    PyObject *type = n ? py_results_type(row) : NULL;
    PyObject *all =
        n ? type ? PyStructSequence_New((PyTypeObject *)type) : NULL : Py_NewRef(Py_None);
    for (int k = 0; k < n; k++) {
        PyObject *one = r[k] ? py_result_of(r[k]) : Py_NewRef(Py_None);
        if (all && one) {
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
        PyObject *one = l.at[i] ? py_wrap(tn_own(l.at[i])) : Py_NewRef(Py_None);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    tn_free(tn_own(l.holder));
    return all;
}

/* "-> bool": the row's result is a 0-dim tensor in C. */
static PyObject *py_result_truth(tn_tensor *t) {
    bool truth = tnp_item_int(t) != 0;
    tn_free(tn_own(t));
    return PyBool_FromLong(truth);
}

/* --- running ---------------------------------------------------------------------------------- */

/* Whether the call will be on the tape, so that its place has to be known. */
TNI_INLINE bool py_run_records(const tn_gen *gen, const void *args) {
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + gen->param[gen->fixed[i]].offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    return (gen->props & TN_PROP_LISTS) != 0;
}

static bool py_run_call(const tn_row *row, unsigned how, const char *file, int line,
                        const void *args, void *results, bool lasts) {
    bool ok;
    do {
        if (lasts) {
            py_long l = py_long_begin();
            ok = tn_call(row, how, file, line, args, results);
            py_long_end(l);
        } else {
            ok = tn_call(row, how, file, line, args, results);
        }
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    return ok;
}

PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts) {
    const tn_gen *gen = row->gen;
    const char *file = NULL;
    int line = 0;
    union {
        tn_tensor *one[8];
        tn_list list;
    } r;
    if (py_run_records(gen, args) && tn_grad_mode()) py_here(&file, &line);
    if (TNI_UNLIKELY(!py_run_call(row, how, file, line, args, &r, lasts))) return py_raise();
    if (gen->props & TN_PROP_RETURNS_LIST) return py_results_list(r.list);
    if (gen->nresults != 1) return py_results_several(row, r.one);
    if (TNI_UNLIKELY(gen->props & TN_PROP_TRUTH)) return py_result_truth(r.one[0]);
    return py_result_of(r.one[0]);
}

/* --- functions and methods -------------------------------------------------------------------- */

enum { GROUPS_MOST = 1024 }; /* as many names as there are trampolines below */

static struct {
    py_group at[GROUPS_MOST];
    int n;
} py_groups;

/* A method of a class knows nothing but self, so each name has a function of its own; they differ
 * in a number alone. A function of a module knows its group. */
static PyObject *py_groups_method(int k, PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    PyObject *few[12], **all = few;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    if (n + nkw + 1 > 12 && !(all = (PyObject **)PyMem_Malloc((size_t)(n + nkw + 1) * sizeof *all)))
        return PyErr_NoMemory();
    all[0] = self;
    for (Py_ssize_t i = 0; i < n + nkw; i++) all[i + 1] = args[i];
    PyObject *r = py_call(&py_groups.at[k], true, all, n + 1, kwnames);
    if (all != few) PyMem_Free(all);
    return r;
}

#define GROUP_METHOD(k)                                                                       \
    static PyObject *py_group_method_##k(PyObject *self, PyObject *const *args, Py_ssize_t n, \
                                         PyObject *kwnames) {                                 \
        return py_groups_method(0x0##k, self, args, n, kwnames);                              \
    }
#define GROUP_ENTRY(k) py_group_method_##k,
#define GROUPS_16(X, k)                                                                     \
    X(k##0)                                                                                 \
    X(k##1)                                                                                 \
    X(k##2)                                                                                 \
    X(k##3) X(k##4) X(k##5) X(k##6) X(k##7) X(k##8) X(k##9) X(k##a) X(k##b) X(k##c) X(k##d) \
        X(k##e) X(k##f)
#define GROUPS_256(X, k)                                                                           \
    GROUPS_16(X, k##0)                                                                             \
    GROUPS_16(X, k##1)                                                                             \
    GROUPS_16(X, k##2)                                                                             \
    GROUPS_16(X, k##3) GROUPS_16(X, k##4) GROUPS_16(X, k##5) GROUPS_16(X, k##6) GROUPS_16(X, k##7) \
        GROUPS_16(X, k##8) GROUPS_16(X, k##9) GROUPS_16(X, k##a) GROUPS_16(X, k##b)                \
            GROUPS_16(X, k##c) GROUPS_16(X, k##d) GROUPS_16(X, k##e) GROUPS_16(X, k##f)
#define GROUPS_ALL(X) GROUPS_256(X, 0) GROUPS_256(X, 1) GROUPS_256(X, 2) GROUPS_256(X, 3)
GROUPS_ALL(GROUP_METHOD)

typedef PyObject *(*py_groups_fast)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static const py_groups_fast py_groups_entry[GROUPS_MOST] = {GROUPS_ALL(GROUP_ENTRY)};

static PyObject *py_groups_function(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                    PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    return g ? py_call(g, false, args, n, kwnames) : NULL;
}

PY_PRIV const py_group *py_group_of(const char *name) {
    for (int i = 0; i < py_groups.n; i++)
        if (strcmp(py_groups.at[i].name, name) == 0) return &py_groups.at[i];
    return NULL;
}

/* Room for a name that lives as long as the process. */
static char *py_groups_name(const char *base, size_t n, const char *more) {
    char *name = (char *)malloc(n + strlen(more) + 1);
    if (!name) return NULL;
    memcpy(name, base, n);
    strcpy(name + n, more);
    return name;
}

static void py_group_fill(py_group *g, const tn_row *row, unsigned how, const char *more) {
    const tn_gen *gen = row->gen;
    g->name = py_groups_name(row->schema, strcspn(row->schema, ".("), more);
    g->how = how;
    g->nrows = 1;
    g->row[0] = row;
    g->method =
        gen->nparam && !strcmp(gen->param[0].name, "self") && gen->param[0].type == TN_T_TENSOR;
}

static bool py_groups_add(const tn_row *row, unsigned how, const char *more) {
    size_t n = strcspn(row->schema, ".(");
    for (int i = 0; i < py_groups.n; i++) {
        py_group *g = &py_groups.at[i];
        if (strncmp(g->name, row->schema, n) || strcmp(g->name + n, more)) continue;
        if (g->nrows < (int)(sizeof g->row / sizeof g->row[0])) g->row[g->nrows++] = row;
        return true;
    }
    if (py_groups.n == GROUPS_MOST) return true; /* calls by name remain */
    py_group_fill(&py_groups.at[py_groups.n], row, how, more);
    if (py_groups.at[py_groups.n].name) py_groups.n++;
    return py_groups.at[py_groups.n - 1].name != NULL;
}

static bool py_groups_add_forms(const tn_row *row) {
    size_t n = strcspn(row->schema, ".(");
    if (n && row->schema[n - 1] == '_')
        return py_groups_add(row, row->forms & TN_INPLACE ? TN_IN_PLACE : TN_PLAIN, "");
    return py_groups_add(row, TN_PLAIN, "") &&
           (!(row->forms & TN_INPLACE) || py_groups_add(row, TN_IN_PLACE, "_"));
}

/* A definition that Python keeps a pointer to. */
static PyMethodDef *py_groups_def(const py_group *g, void *function) {
    PyMethodDef *def = (PyMethodDef *)calloc(1, sizeof *def);
    if (!def) return NULL;
    def->ml_name = g->name;
    def->ml_meth = (PyCFunction)function;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    def->ml_doc = g->row[0]->schema;
    return def;
}

static PyObject *py_groups_as_function(const py_group *g) {
    PyMethodDef *def = py_groups_def(g, (void *)py_groups_function);
    PyObject *self = def ? PyCapsule_New((void *)(uintptr_t)g, "tensorh.group", NULL) : NULL;
    PyObject *f = self ? PyCFunction_New(def, self) : NULL;
    Py_XDECREF(self);
    return f;
}

static int py_groups_publish(const py_group *g, PyObject *module) {
    PyObject *f = py_groups_as_function(g), *m;
    int bad = !f || PyModule_AddObjectRef(module, g->name, f);
    Py_XDECREF(f);
    if (bad || !g->method) return bad ? -1 : 0;
    PyMethodDef *def = py_groups_def(g, (void *)py_groups_entry[g - py_groups.at]);
    m = def ? PyDescr_NewMethod(py.tensor, def) : NULL;
    bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, g->name, m);
    Py_XDECREF(m);
    return bad ? -1 : 0;
}

/* A row that was registered since the import, by its name or torch's; a group of its own. */
PY_PRIV PyObject *py_registered(const char *name) {
    const tn_row *row = tn_row_named(name);
    const py_group *known = py_group_of(name);
    if (!row && !known) return NULL;
    if (known) return py_groups_as_function(known);
    py_group *g = (py_group *)calloc(1, sizeof *g); /* stays, as the row does */
    if (!g) return PyErr_NoMemory();
    py_group_fill(g, row, TN_PLAIN, "");
    return g->name ? py_groups_as_function(g) : PyErr_NoMemory();
}

PY_PRIV int py_groups_begin(PyObject *module) {
    for (int64_t i = 0; i < tn_row_count(); i++)
        if (!py_groups_add_forms(tn_row_at(i))) return PyErr_NoMemory(), -1;
    for (int i = 0; i < py_groups.n; i++)
        if (py_groups_publish(&py_groups.at[i], module)) return -1;
    return 0;
}

/* src/py/types.c */
/* types.c - dtype, device, Size, Generator: small classes beside Tensor. */

/* --- dtype ------------------------------------------------------------------------------------ */

static PyObject *py_dtype_repr(PyObject *self) {
    return PyUnicode_FromFormat("torch.%s", tn_dtype_name(((py_dtype *)self)->dtype));
}
static PyObject *py_dtype_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(tn_dtype_bytes(((py_dtype *)self)->dtype));
}
static bool py_dtype_is_complex(tn_dtype d) { return d == TN_C64 || d == TN_C128; }
static bool py_dtype_is_float(tn_dtype d) {
    return (d >= TN_F16 && d <= TN_F64) || d == TN_F8E4M3 || d == TN_F8E5M2;
}
static PyObject *py_dtype_floating(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(py_dtype_is_float(((py_dtype *)self)->dtype));
}
static PyObject *py_dtype_complex(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(py_dtype_is_complex(((py_dtype *)self)->dtype));
}
static PyObject *py_dtype_signed(PyObject *self, void *unused) {
    tn_dtype d = ((py_dtype *)self)->dtype;
    (void)unused;
    return PyBool_FromLong(d != TN_BOOL && d != TN_U8 && d != TN_U16 && d != TN_U32 && d != TN_U64);
}
static PyObject *py_dtype_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(tn_dtype_name(((py_dtype *)self)->dtype)); /* a global of _C */
}
static PyGetSetDef py_dtype_attributes[] = {
    {"itemsize", py_dtype_itemsize, NULL, "bytes of an element", NULL},
    {"is_floating_point", py_dtype_floating, NULL, NULL, NULL},
    {"is_complex", py_dtype_complex, NULL, NULL, NULL},
    {"is_signed", py_dtype_signed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_dtype_methods[] = {{"__reduce__", py_dtype_reduce, METH_NOARGS, NULL},
                                         {NULL, NULL, 0, NULL}};
static PyType_Slot py_dtype_slots[] = {{Py_tp_repr, (void *)py_dtype_repr},
                                       {Py_tp_getset, py_dtype_attributes},
                                       {Py_tp_methods, py_dtype_methods},
                                       {0, NULL}};
static PyType_Spec py_dtype_spec = {"torch.dtype", sizeof(py_dtype), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    py_dtype_slots};

static int py_dtype_begin(PyObject *module) {
    static const char *const other[][2] = {
        {"float32", "float"}, {"float64", "double"},   {"float16", "half"},
        {"uint8", NULL},      {"int16", "short"},      {"int32", "int"},
        {"int64", "long"},    {"complex64", "cfloat"}, {"complex128", "cdouble"}};
    py.dtype = (PyTypeObject *)PyType_FromSpec(&py_dtype_spec);
    if (!py.dtype || PyModule_AddObjectRef(module, "dtype", (PyObject *)py.dtype)) return -1;
    for (int d = 1; d < TN_DTYPE_COUNT; d++) {
        const char *name = tn_dtype_name((tn_dtype)d);
        PyObject *o = PyType_GenericAlloc(py.dtype, 0);
        if (!o) return -1;
        ((py_dtype *)o)->dtype = (tn_dtype)d;
        py.dtypes[d] = o;
        if (PyModule_AddObjectRef(module, name, o)) return -1;
        for (size_t k = 0; k < sizeof other / sizeof other[0]; k++)
            if (!strcmp(other[k][0], name) && other[k][1] &&
                PyModule_AddObjectRef(module, other[k][1], o))
                return -1;
    }
    return 0;
}

/* --- device ----------------------------------------------------------------------------------- */

typedef struct py_device {
    PyObject_HEAD tn_device_id id;
} py_device;

PY_PRIV PyObject *py_device_of(tn_device_id id) {
    PyObject *o = PyType_GenericAlloc(py.device, 0);
    if (o) ((py_device *)o)->id = id;
    return o;
}

static PyObject *py_device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"type", "index", NULL};
    PyObject *what, *index = Py_None;
    tn_device_id id;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", (char **)(uintptr_t)names, &what, &index))
        return NULL;
    if (!py_to_device(what, &id)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "device(): argument 'type' must be str or device");
        return NULL;
    }
    return py_device_of(id);
}
static const char *py_device_name(PyObject *self) {
    return tn_device_name(((py_device *)self)->id);
}
static PyObject *py_device_str(PyObject *self) {
    return PyUnicode_FromString(py_device_name(self));
}
static PyObject *py_device_repr(PyObject *self) {
    const char *name = py_device_name(self), *colon = strchr(name, ':');
    PyObject *type = PyUnicode_FromStringAndSize(name, colon ? (Py_ssize_t)(colon - name)
                                                             : (Py_ssize_t)strlen(name));
    PyObject *r = !type   ? NULL
                  : colon ? PyUnicode_FromFormat("device(type='%U', index=%s)", type, colon + 1)
                          : PyUnicode_FromFormat("device(type='%U')", type);
    Py_XDECREF(type);
    return r;
}
static PyObject *py_device_type(PyObject *self, void *unused) {
    const char *name = py_device_name(self);
    (void)unused;
    return PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ":"));
}
static PyObject *py_device_index(PyObject *self, void *unused) {
    const char *colon = strchr(py_device_name(self), ':');
    (void)unused;
    if (!colon) Py_RETURN_NONE;
    return PyLong_FromLong(strtol(colon + 1, NULL, 10));
}
static PyObject *py_device_compare(PyObject *a, PyObject *b, int how) {
    if (Py_TYPE(b) != py.device || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    bool same = ((py_device *)a)->id == ((py_device *)b)->id;
    return PyBool_FromLong(same == (how == Py_EQ));
}
static Py_hash_t py_device_hash(PyObject *self) { return ((py_device *)self)->id; }
static PyObject *py_device_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_BuildValue("O(s)", (PyObject *)py.device, py_device_name(self));
}
static PyGetSetDef py_device_attributes[] = {{"type", py_device_type, NULL, NULL, NULL},
                                             {"index", py_device_index, NULL, NULL, NULL},
                                             {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_device_methods[] = {{"__reduce__", py_device_reduce, METH_NOARGS, NULL},
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

/* --- Size ------------------------------------------------------------------------------------- */

static PyObject *py_size_repr(PyObject *self) {
    PyObject *list = PySequence_List(self);
    PyObject *r = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : NULL;
    Py_XDECREF(list);
    return r;
}
static PyObject *py_size_numel(PyObject *self, PyObject *unused) {
    int64_t numel = 1, v;
    (void)unused;
    for (Py_ssize_t i = 0; i < PyTuple_Size(self); i++)
        if (py_to_int(PyTuple_GetItem(self, i), &v)) numel *= v;
    return PyLong_FromLongLong(numel);
}
static PyMethodDef py_size_methods[] = {
    {"numel", py_size_numel, METH_NOARGS, "number of elements of a tensor of this size"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_size_slots[] = {
    {Py_tp_repr, (void *)py_size_repr}, {Py_tp_methods, py_size_methods}, {0, NULL}};
static PyType_Spec py_size_spec = {"torch.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                   py_size_slots};

/* --- Generator -------------------------------------------------------------------------------- */

static PyObject *py_generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"device", NULL};
    PyObject *device = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", (char **)(uintptr_t)names, &device))
        return NULL;
    py_generator *g = (py_generator *)PyType_GenericAlloc(type, 0);
    if (!g) return NULL;
    g->generator = tn_generator_new(67280421310721u); /* torch's default seed */
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
static bool py_generator_seed_of(PyObject *o, uint64_t *seed) {
    PyObject *i = PyNumber_Index(o);
    int overflow;
    if (!i) return false;
    long long v = PyLong_AsLongLongAndOverflow(i, &overflow);
    *seed = overflow > 0 ? PyLong_AsUnsignedLongLong(i) : (uint64_t)v;
    Py_DECREF(i);
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long: a seed has 64 bits");
        return false;
    }
    return true;
}
static PyObject *py_generator_manual_seed(PyObject *self, PyObject *o) {
    uint64_t seed;
    if (!py_generator_seed_of(o, &seed)) return NULL;
    tn_generator_seed(((py_generator *)self)->generator, seed);
    return Py_NewRef(self);
}
static PyObject *py_generator_get_state(PyObject *self, PyObject *unused) {
    uint8_t state[TN_GENERATOR_BYTES];
    const int64_t size[1] = {TN_GENERATOR_BYTES};
    (void)unused;
    tn_generator_get(((py_generator *)self)->generator, state);
    tn_tensor *t = tn_from_at(NULL, 0, state, tn_ints_of(size, 1), TN_U8);
    return t ? py_wrap(tn_own(t)) : py_raise();
}
static PyObject *py_generator_set_state(PyObject *self, PyObject *o) {
    if (!py_is_tensor(o) || tn_dtype_of(py_of(o)) != TN_U8 || !tn_is_contiguous(py_of(o)) ||
        tn_numel(py_of(o)) != TN_GENERATOR_BYTES)
        return PyErr_Format(PyExc_TypeError, "expected a torch.ByteTensor of %d elements",
                            (int)TN_GENERATOR_BYTES);
    if (!tn_generator_set(((py_generator *)self)->generator, (const uint8_t *)tn_data(py_of(o))))
        return py_raise();
    return Py_NewRef(self);
}
static PyObject *py_generator_device(PyObject *self, void *unused) {
    (void)self, (void)unused;
    return py_device_of(TN_CPU);
}
static PyGetSetDef py_generator_attributes[] = {{"device", py_generator_device, NULL, NULL, NULL},
                                                {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_generator_methods[] = {
    {"manual_seed", py_generator_manual_seed, METH_O, "seeds the stream; returns it"},
    {"get_state", py_generator_get_state, METH_NOARGS, "torch's state, a uint8 tensor"},
    {"set_state", py_generator_set_state, METH_O, "continues from a state"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_generator_slots[] = {{Py_tp_new, (void *)py_generator_new},
                                           {Py_tp_dealloc, (void *)py_generator_dealloc},
                                           {Py_tp_getset, py_generator_attributes},
                                           {Py_tp_methods, py_generator_methods},
                                           {0, NULL}};
static PyType_Spec py_generator_spec = {"torch.Generator", sizeof(py_generator), 0,
                                        Py_TPFLAGS_DEFAULT, py_generator_slots};

static int py_generator_begin(PyObject *module) {
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

PY_PRIV int py_types_begin(PyObject *module) {
    if (py_dtype_begin(module)) return -1;
    py.device = (PyTypeObject *)PyType_FromSpec(&py_device_spec);
    if (!py.device || PyModule_AddObjectRef(module, "device", (PyObject *)py.device)) return -1;
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyTuple_Type);
    py.size = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&py_size_spec, bases) : NULL;
    Py_XDECREF(bases);
    if (!py.size || PyModule_AddObjectRef(module, "Size", (PyObject *)py.size)) return -1;
    return py_generator_begin(module);
}

/* src/py/number.c */
/* number.c - Tensor as a number: operators, their reflected and in-place forms, comparisons,
 * conversions to Python's numbers. Each operator is the row of that name. */

/* Groups of the operators, found at import. */
static struct {
    const py_group *add, *sub, *mul, *div, *floor_divide, *remainder, *pow, *matmul, *rsub;
    const py_group *bitwise_and, *bitwise_or, *bitwise_xor, *bitwise_left_shift,
        *bitwise_right_shift, *bitwise_not, *neg, *abs, *reciprocal, *lt, *le, *eq, *ne, *gt, *ge;
    const py_group *add_, *sub_, *mul_, *div_, *floor_divide_, *remainder_, *pow_, *bitwise_and_,
        *bitwise_or_, *bitwise_xor_, *bitwise_left_shift_, *bitwise_right_shift_;
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

static PyObject *py_number_call(const py_group *g, PyObject *a, PyObject *b) {
    PyObject *args[2] = {a, b};
    if (TNI_UNLIKELY(!py_number_fits(b))) Py_RETURN_NOTIMPLEMENTED;
    return py_call(g, true, args, 2, NULL);
}

/* a op b, where either may be the tensor; the group takes a number as its first argument, too. */
static PyObject *py_number_both(const py_group *g, PyObject *a, PyObject *b) {
    PyObject *args[2] = {a, b};
    if (!py_number_fits(a) || !py_number_fits(b)) Py_RETURN_NOTIMPLEMENTED;
    return py_call(g, false, args, 2, NULL);
}

/* A number as a 0-dim tensor, for rows that want one in the first place. */
static PyObject *py_number_tensor(PyObject *o) {
    tn_scalar s;
    if (!py_to_scalar(o, &s)) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NOTIMPLEMENTED;
    }
    tn_tensor *t = tnp_full(tn_empty_dims(), s, TN_NO_DTYPE, TN_NO_DEVICE);
    return t ? py_wrap(tn_own(t)) : py_raise();
}

static PyObject *py_number_reflected(const py_group *g, PyObject *a, PyObject *b) {
    PyObject *t = py_number_tensor(a);
    if (!t || t == Py_NotImplemented) return t;
    PyObject *r = py_number_call(g, t, b);
    Py_DECREF(t);
    return r;
}

#define NUMBER_COMMUTES(name)                                          \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {      \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)  \
                               : py_number_call(py_number.name, b, a); \
    }
#define NUMBER_ORDERED(name)                                                \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {           \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)       \
                               : py_number_reflected(py_number.name, a, b); \
    }
#define NUMBER_INPLACE(name)                                      \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) { \
        return py_number_call(py_number.name, a, b);              \
    }
#define NUMBER_UNARY(name)                                 \
    static PyObject *py_number_##name(PyObject *a) {       \
        return py_call(py_number.name, true, &a, 1, NULL); \
    }
NUMBER_COMMUTES(add)
NUMBER_COMMUTES(mul)
NUMBER_COMMUTES(bitwise_and)
NUMBER_COMMUTES(bitwise_or)
NUMBER_COMMUTES(bitwise_xor)
NUMBER_ORDERED(floor_divide)
NUMBER_ORDERED(remainder)
NUMBER_ORDERED(bitwise_left_shift)
NUMBER_ORDERED(bitwise_right_shift)
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

static PyObject *py_number_sub(PyObject *a, PyObject *b) {
    return py_is_tensor(a) ? py_number_call(py_number.sub, a, b)
                           : py_number_call(py_number.rsub, b, a);
}
static PyObject *py_number_matmul(PyObject *a, PyObject *b) {
    if (!py_is_tensor(a) || !py_is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    return py_number_call(py_number.matmul, a, b);
}
static PyObject *py_number_div(PyObject *a, PyObject *b) {
    if (py_is_tensor(a)) return py_number_call(py_number.div, a, b);
    PyObject *one = py_number_fits(a) ? py_call(py_number.reciprocal, true, &b, 1, NULL) : NULL;
    if (!one && !PyErr_Occurred()) Py_RETURN_NOTIMPLEMENTED;
    PyObject *r = one ? py_number_call(py_number.mul, one, a) : NULL;
    Py_XDECREF(one);
    return r;
}
static PyObject *py_number_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return py_number_both(py_number.pow, a, b);
}
static PyObject *py_number_pow_(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return py_number_call(py_number.pow_, a, b);
}
static PyObject *py_number_positive(PyObject *a) { return Py_NewRef(a); }

/* --- comparisons ------------------------------------------------------------------------------ */

static PyObject *py_number_compare(PyObject *a, PyObject *b, int how) {
    const py_group *const group[] = {py_number.lt, py_number.le, py_number.eq,
                                     py_number.ne, py_number.gt, py_number.ge}; /* Py_LT .. Py_GE */
    return py_number_call(group[how], a, b);
}

/* --- conversions ------------------------------------------------------------------------------ */

static bool py_number_scalar(PyObject *self, tn_scalar *s, const char *what) {
    tn_tensor *t = py_of(self);
    if (tn_numel(t) != 1) {
        PyErr_Format(PyExc_RuntimeError, "%s", what);
        return false;
    }
    *s = tnp_item_scalar(t);
    return tn_ok() || (py_raise(), false);
}

static int py_number_bool(PyObject *self) {
    tn_scalar s;
    tn_tensor *t = py_of(self);
    if (!py_number_scalar(self, &s,
                          tn_numel(t)
                              ? "Boolean value of Tensor with more than one value is ambiguous"
                              : "Boolean value of Tensor with no values is ambiguous"))
        return -1;
    return s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT ? s.integer != 0
                                                           : s.real != 0 || s.imaginary != 0;
}

static PyObject *py_number_float(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, "only one element tensors can be converted to Python scalars"))
        return NULL;
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        return PyErr_Format(PyExc_RuntimeError, "a complex element has no float");
    return PyFloat_FromDouble(s.kind >= TN_KIND_FLOAT ? s.real : (double)s.integer);
}

static PyObject *py_number_int(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, "only one element tensors can be converted to Python scalars"))
        return NULL;
    return s.kind >= TN_KIND_FLOAT ? PyLong_FromDouble(s.real) : PyLong_FromLongLong(s.integer);
}

static PyObject *py_number_index(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s,
                          "only integer tensors of a single element can be converted to an index"))
        return NULL;
    if (s.kind >= TN_KIND_FLOAT)
        return PyErr_Format(
            PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(s.integer);
}

PY_PRIV int py_number_slots(PyType_Slot *to) {
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

#define NUMBER_FIND(name) \
    if (!(py_number.name = py_group_of(#name))) return false;
PY_PRIV bool py_number_begin(void) {
    NUMBER_FIND(add)
    NUMBER_FIND(sub)
    NUMBER_FIND(mul) NUMBER_FIND(div) NUMBER_FIND(floor_divide) NUMBER_FIND(remainder)
        NUMBER_FIND(pow) NUMBER_FIND(matmul) NUMBER_FIND(rsub) NUMBER_FIND(bitwise_and)
            NUMBER_FIND(bitwise_or) NUMBER_FIND(bitwise_xor) NUMBER_FIND(bitwise_left_shift)
                NUMBER_FIND(bitwise_right_shift) NUMBER_FIND(bitwise_not) NUMBER_FIND(neg)
                    NUMBER_FIND(abs) NUMBER_FIND(reciprocal) NUMBER_FIND(lt) NUMBER_FIND(le)
                        NUMBER_FIND(eq) NUMBER_FIND(ne) NUMBER_FIND(gt) NUMBER_FIND(ge)
                            NUMBER_FIND(add_) NUMBER_FIND(sub_) NUMBER_FIND(mul_) NUMBER_FIND(div_)
                                NUMBER_FIND(floor_divide_) NUMBER_FIND(remainder_) NUMBER_FIND(pow_)
                                    NUMBER_FIND(bitwise_and_) NUMBER_FIND(bitwise_or_)
                                        NUMBER_FIND(bitwise_xor_) NUMBER_FIND(bitwise_left_shift_)
                                            NUMBER_FIND(bitwise_right_shift_) return true;
}

/* src/py/index.c */
/* index.c - x[...] and x[...] = v: ints, slices, ellipsis, None, masks, integer tensors, mixed, as
 * NumPy and torch have them.
 *
 * Basic members make views one after another; a tensor among them takes its place in a list for
 * the row `index`, which reads, or `index_put_`, which writes through the view. */

enum { INDEX_MOST = 2 * TN_MAX_DIMS };

/* An index being applied: `at` is the view so far, owned; `dim` the dimension that comes next. */
typedef struct py_indexing {
    tn_tensor *at;
    int dim;
    bool new_view; /* at is ours, not the caller's tensor */
    const char *file;
    int line;
    int nlists, covered; /* members of list, and the dimensions that they take */
    tn_tensor *list[TN_MAX_DIMS];
    PyObject *held[INDEX_MOST]; /* tensors made of lists and arrays */
    int nheld;
} py_indexing;

static bool py_index_step(py_indexing *x, tn_tensor *view) {
    if (!view) return py_raise(), false;
    if (x->new_view) tn_free(x->at);
    x->at = tn_own(view);
    x->new_view = true;
    return true;
}

static bool py_index_int(py_indexing *x, int64_t i) {
    const tn_select_args a = {x->at, x->dim, i};
    int64_t size = x->dim < tn_ndim(x->at) ? tn_size(x->at, x->dim) : 0;
    if (x->dim < tn_ndim(x->at) && (i >= size || i < -size)) {
        PyErr_Format(PyExc_IndexError,
                     "index %lld is out of bounds for dimension %d with size %lld", (long long)i,
                     x->dim, (long long)size);
        return false;
    }
    return py_index_step(x, tn_select_at(x->file, x->line, &a));
}

/* A part of a slice: absent is TN_NONE. */
static bool py_index_bound(PyObject *slice, const char *name, int64_t *to) {
    PyObject *o = PyObject_GetAttrString(slice, name);
    bool ok = o && (o == Py_None || py_to_index(o, to));
    if (o && !ok && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* as far as there is anything */
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

static bool py_index_slice(py_indexing *x, PyObject *slice) {
    tn_slice_args a = {x->dim, TN_NONE, TN_NONE, TN_NONE, x->at};
    if (!py_index_bound(slice, "start", &a.start) || !py_index_bound(slice, "stop", &a.end) ||
        !py_index_bound(slice, "step", &a.step))
        return false;
    if (a.step == TN_NONE) a.step = 1;
    if (a.step <= 0) {
        PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
        return false;
    }
    if (a.start != TN_NONE || a.end != TN_NONE || a.step != 1)
        if (!py_index_step(x, tn_slice_at(x->file, x->line, &a))) return false;
    x->dim++;
    return true;
}

static bool py_index_none(py_indexing *x) {
    const tn_unsqueeze_args a = {x->at, x->dim};
    if (!py_index_step(x, tn_unsqueeze_at(x->file, x->line, &a))) return false;
    x->dim++;
    return true;
}

/* A tensor member: it indexes one dimension, a mask as many as it has. */
static bool py_index_by(py_indexing *x, tn_tensor *t) {
    tn_dtype d = tn_dtype_of(t);
    int takes = d == TN_BOOL || d == TN_U8 ? tn_ndim(t) : 1;
    if (x->dim + takes > tn_ndim(x->at) || x->dim >= TN_MAX_DIMS) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
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
    mask = tnp_full(TN_DIMS(1), tn_bool(truth), TN_BOOL, TN_NO_DEVICE);
    PyObject *o = mask ? py_wrap(tn_own(mask)) : py_raise();
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

static bool py_index_member(py_indexing *x, PyObject *o) {
    int64_t i;
    if (PyLong_CheckExact(o) ||
        (PyIndex_Check(o) && !PyBool_Check(o) && !py_is_tensor(o) && !PyObject_CheckBuffer(o)))
        return py_to_int(o, &i) ? py_index_int(x, i)
                                : (PyErr_Format(PyExc_IndexError, "index out of range"), false);
    if (PySlice_Check(o)) return py_index_slice(x, o);
    if (o == Py_None) return py_index_none(x);
    if (PyBool_Check(o)) return py_index_truth(x, o == Py_True);
    if (!py_is_tensor(o)) { /* a list, an array */
        if (x->nheld == INDEX_MOST || !(o = py_index_tensor(o))) return false;
        x->held[x->nheld++] = o;
    }
    tn_dtype d = tn_dtype_of(py_of(o));
    if (!tn_ndim(py_of(o)) && d == TN_BOOL) return py_index_truth(x, tnp_item_int(py_of(o)) != 0);
    if (!tn_ndim(py_of(o)) && d != TN_F32 && py_to_index(o, &i)) return py_index_int(x, i);
    return py_index_by(x, py_of(o));
}

static bool py_index_apply(py_indexing *x, PyObject *key) {
    bool tuple = PyTuple_Check(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1;
    int takes = 0, dots = 0;
    if (n > INDEX_MOST) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        int k = py_index_takes(tuple ? PyTuple_GetItem(key, i) : key);
        if (k < 0) dots++;
        takes += k < 0 ? 0 : k;
    }
    int rest = tn_ndim(x->at) - takes;
    if (rest < 0 || dots > 1) {
        PyErr_Format(PyExc_IndexError,
                     dots > 1              ? "an index can only have a single ellipsis ('...')"
                     : tn_ndim(x->at) == 0 ? "invalid index of a 0-dim tensor. Use `tensor.item()` "
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

static void py_index_begin(py_indexing *x, tn_tensor *t) {
    x->at = t;
    x->dim = x->nlists = x->covered = x->nheld = 0;
    x->new_view = false;
    x->file = NULL;
    x->line = 0;
    if (tn_needs_grad(t) && tn_grad_mode()) py_here(&x->file, &x->line);
}

static void py_index_end(py_indexing *x) {
    for (int i = 0; i < x->nheld; i++) Py_DECREF(x->held[i]);
    if (x->new_view) tn_free(x->at);
}

PY_PRIV PyObject *py_index_get(PyObject *self, PyObject *key) {
    py_indexing x;
    tn_tensor *r;
    py_index_begin(&x, py_of(self));
    if (!py_index_apply(&x, key)) return py_index_end(&x), NULL;
    if (x.nlists) {
        tn_index_args a;
        memset(&a, 0, sizeof a);
        a.self = x.at;
        a.indices = tn_tensors_of(x.list, x.nlists);
        r = tn_index_at(x.file, x.line, &a);
    } else if (x.new_view) {
        r = x.at;
        x.new_view = false;
    } else {
        const tn_slice_args a = {0, TN_NONE, TN_NONE, 1, x.at};
        r = tn_ndim(x.at) ? tn_slice_at(x.file, x.line, &a)
                          : tnp_view(x.at, tn_empty_dims()); /* x[...]: an alias */
    }
    py_index_end(&x);
    return r ? py_wrap(tn_own(r)) : py_raise();
}

/* --- assignment ------------------------------------------------------------------------------- */

/* Writes value, a number or a tensor that broadcasts, into the view or through the lists. */
static bool py_index_write(py_indexing *x, PyObject *value) {
    tn_scalar s;
    tn_tensor *v = NULL, *made = NULL;
    bool ok;
    if (py_is_tensor(value)) {
        v = py_of(value);
    } else if (!x->nlists && py_to_scalar(value, &s)) {
        const tn_fill_args a = {x->at, s};
        return tn_fill_inplace_at(x->file, x->line, &a) || (py_raise(), false);
    } else {
        PyErr_Clear();
        PyObject *o = py_value_tensor(value, tn_dtype_of(x->at));
        if (!o) return false;
        x->held[x->nheld++] = o;
        v = py_of(o);
    }
    while (tn_ndim(v) > tn_ndim(x->at) && tn_size(v, 0) == 1) { /* torch drops leading ones */
        tn_tensor *less = tnp_select(v, 0, 0);
        if (made) tn_free(made);
        if (!less) return py_raise(), false;
        v = made = tn_own(less);
    }
    if (x->nlists) {
        tn_index_put_args a;
        memset(&a, 0, sizeof a);
        a.self = x->at;
        a.indices = tn_tensors_of(x->list, x->nlists);
        a.values = v;
        if (tn_dtype_of(v) != tn_dtype_of(x->at) && !tn_ndim(v)) {
            tn_tensor *as = tnp_to_dtype(v, tn_dtype_of(x->at), false, false);
            if (made) tn_free(made);
            a.values = made = as ? tn_own(as) : NULL;
        }
        ok = a.values && tn_index_put_inplace_at(x->file, x->line, &a);
    } else {
        const tn_copy_args a = {x->at, v};
        ok = tn_copy_inplace_at(x->file, x->line, &a) != NULL;
    }
    if (made) tn_free(made);
    return ok || (py_raise(), false);
}

static int py_index_set(PyObject *self, PyObject *key, PyObject *value) {
    py_indexing x;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    py_index_begin(&x, py_of(self));
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

static PyObject *py_index_iterate(PyObject *self) {
    tn_tensor *t = py_of(self);
    const char *file = NULL;
    int line = 0;
    if (!tn_ndim(t)) return PyErr_Format(PyExc_TypeError, "iteration over a 0-d tensor");
    if (tn_needs_grad(t)) py_here(&file, &line);
    const tn_unbind_args a = {0, t};
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

/* src/py/create.c */
/* create.c - tensors from Python's data: nested sequences, numbers, buffers (NumPy); and back:
 * lists, the buffer protocol.
 *
 * A buffer is shared, not copied, where the function says so: the tensor holds it until the last
 * tensor over it goes. */

/* --- nested sequences ------------------------------------------------------------------------- */

/* A list of lists of numbers being read: its shape, and the widest kind of number in it. */
typedef struct py_nested {
    int ndim;
    int64_t size[TN_MAX_DIMS], numel;
    int kind;       /* TN_KIND_* of the widest */
    tn_dtype dtype; /* of members that are tensors or arrays; TN_NO_DTYPE: none */
    int64_t written;
    char *to; /* elements of the staging dtype */
} py_nested;

static bool py_nested_is_list(PyObject *o) {
    return (PyList_Check(o) || PyTuple_Check(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o))) &&
           !py_is_tensor(o) && !PyObject_CheckBuffer(o);
}

/* A member that is a tensor or an array, as a tensor; NULL: neither (or an exception). */
static PyObject *py_nested_array(PyObject *o) {
    if (py_is_tensor(o)) return Py_NewRef(o);
    if (PyFloat_Check(o) || PyLong_Check(o) || PyBytes_Check(o) || !PyObject_CheckBuffer(o))
        return NULL;
    return py_from_buffer(o, true);
}

static bool py_nested_shape(py_nested *n, PyObject *o) {
    Py_INCREF(o);
    while (py_nested_is_list(o)) {
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
    PyObject *array = py_nested_array(o);
    for (int i = 0; array && i < tn_ndim(py_of(array)); i++) {
        if (n->ndim == TN_MAX_DIMS) {
            Py_DECREF(array), Py_DECREF(o);
            return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
        }
        n->size[n->ndim++] = tn_size(py_of(array), i);
    }
    if (!array && PyUnicode_Check(o))
        PyErr_Format(PyExc_TypeError, "new(): invalid data type 'str'");
    Py_XDECREF(array);
    Py_DECREF(o);
    return !PyErr_Occurred();
}

static bool py_nested_misfit(const py_nested *n, int dim, Py_ssize_t size) {
    if (size < 0)
        PyErr_Format(PyExc_TypeError, "not a sequence at dim %d", dim);
    else
        PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                     (long long)n->size[dim], dim, size);
    return false;
}

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

static bool py_nested_array_walk(py_nested *n, PyObject *array, int dim) {
    tn_tensor *t = py_of(array), *flat;
    bool fits = tn_ndim(t) == n->ndim - dim;
    for (int i = dim; fits && i < n->ndim; i++) fits = tn_size(t, i - dim) == n->size[i];
    if (!fits) return py_nested_misfit(n, dim, tn_ndim(t) ? (Py_ssize_t)tn_size(t, 0) : -1);
    if (!n->to) {
        tn_dtype d = tn_dtype_of(t);
        tn_scalar kind = tn_numel(t) ? tn_none() : tn_float(0);
        n->dtype = n->dtype ? tn_promote(n->dtype, d) : d;
        kind.kind = d == TN_BOOL                  ? TN_KIND_BOOL
                    : d == TN_C64 || d == TN_C128 ? TN_KIND_COMPLEX
                    : d >= TN_F16 && d <= TN_F64  ? TN_KIND_FLOAT
                                                  : TN_KIND_INT;
        if (kind.kind > n->kind) n->kind = kind.kind;
        return true;
    }
    flat = tnp_reshape(t, TN_DIMS(-1));
    for (int64_t i = 0; flat && i < tn_numel(t); i++) {
        tn_tensor *one = tnp_select(flat, 0, i);
        py_nested_put(n, tnp_item_scalar(one));
        tn_free(one);
    }
    tn_free(flat);
    return tn_ok() || (py_raise(), false);
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
            PyObject *member = PySequence_GetItem(o, i);
            bool ok = member && py_nested_walk(n, member, dim + 1);
            Py_XDECREF(member);
            if (!ok) return false;
        }
        return true;
    }
    PyObject *array = py_nested_array(o);
    if (array) {
        bool ok = py_nested_array_walk(n, array, dim);
        Py_DECREF(array);
        return ok;
    }
    if (PyErr_Occurred()) return false;
    if (dim != n->ndim) return py_nested_misfit(n, dim, -1);
    if (!py_to_scalar(o, &s)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %R", Py_TYPE(o));
        return false;
    }
    if (!n->to && s.kind > n->kind) n->kind = s.kind;
    if (n->to) py_nested_put(n, s);
    return true;
}

static tn_dtype py_nested_dtype(const py_nested *n) {
    bool wide = tn_default_dtype() == TN_F64;
    tn_dtype own = n->kind == TN_KIND_BOOL      ? TN_BOOL
                   : n->kind == TN_KIND_INT     ? TN_I64
                   : n->kind == TN_KIND_COMPLEX ? (wide ? TN_C128 : TN_C64)
                                                : tn_default_dtype();
    return n->dtype ? n->dtype : own;
}

/* A new tensor of Python's numbers; dtype TN_NO_DTYPE: theirs. */
static tn_tensor *py_create_nested(PyObject *o, tn_dtype dtype) {
    static const tn_dtype staging[] = {TN_F64, TN_F64, TN_BOOL, TN_I64, TN_F64, TN_C128};
    py_nested n;
    memset(&n, 0, sizeof n);
    n.numel = 1;
    if (!py_nested_shape(&n, o) || !py_nested_walk(&n, o, 0)) return NULL;
    if (n.dtype && n.dtype >= TN_C64 && n.dtype <= TN_C128) n.kind = TN_KIND_COMPLEX;
    tn_tensor *t = tnp_empty(tn_ints_of(n.size, n.ndim), staging[n.kind], TN_NO_DEVICE), *as;
    if (!t) return NULL;
    static char none[16];
    n.to = tn_numel(t) ? (char *)tn_data(t) : none;
    if (!py_nested_walk(&n, o, 0) || n.written != tn_numel(t)) {
        tn_free(t);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the sequence changed while it was read");
        return NULL;
    }
    tn_touch(t);
    as = tnp_to_dtype(t, dtype ? dtype : py_nested_dtype(&n), false, false);
    tn_free(t);
    return as;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static const struct {
    const char *format;
    tn_dtype dtype;
} py_buffer_formats[] = {
    {"?", TN_BOOL}, {"B", TN_U8},  {"b", TN_I8},  {"h", TN_I16}, {"i", TN_I32},  {"q", TN_I64},
    {"l", TN_I64},  {"e", TN_F16}, {"f", TN_F32}, {"d", TN_F64}, {"Zf", TN_C64}, {"Zd", TN_C128},
    {"H", TN_U16},  {"I", TN_U32}, {"Q", TN_U64}, {"L", TN_U64}, {"c", TN_U8}};
enum { BUFFER_FORMATS = sizeof py_buffer_formats / sizeof py_buffer_formats[0] };

static tn_dtype py_buffer_dtype(const Py_buffer *v) {
    const char *f = v->format ? v->format : "B";
    if (*f == '@' || *f == '=' || (*f == '<' && PY_LITTLE_ENDIAN)) f++;
    for (int i = 0; i < BUFFER_FORMATS; i++) {
        tn_dtype d = py_buffer_formats[i].dtype;
        bool sized = tn_dtype_bytes(d) == v->itemsize;
        if (strcmp(f, py_buffer_formats[i].format) == 0)
            return sized ? d : v->itemsize == 4 ? (*f == 'l' ? TN_I32 : TN_U32) : TN_NO_DTYPE;
    }
    return TN_NO_DTYPE;
}

static void py_buffer_release(void *data, void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    PyBuffer_Release((Py_buffer *)user);
    free(user);
    PyGILState_Release(state);
}

/* Its shape and strides in elements; false with an exception. */
static bool py_buffer_layout(const Py_buffer *v, int64_t *size, int64_t *stride) {
    if (v->ndim > TN_MAX_DIMS) return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
    for (int i = 0; i < v->ndim; i++) {
        size[i] = v->shape[i];
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

static tn_tensor *py_buffer_tensor(Py_buffer *v) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype = py_buffer_dtype(v);
    memset(&o, 0, sizeof o);
    if (dtype == TN_NO_DTYPE) {
        PyErr_Format(PyExc_TypeError, "can't convert a buffer of format '%s' to a tensor",
                     v->format ? v->format : "");
        return NULL;
    }
    if (!py_buffer_layout(v, size, stride)) return NULL;
    o.strides = tn_ints_of(stride, v->ndim);
    o.release = py_buffer_release;
    o.user = v;
    o.read_only = v->readonly != 0;
    tn_tensor *t = tn_wrap_at(NULL, 0, v->buf, tn_ints_of(size, v->ndim), dtype, &o);
    if (!t) py_raise();
    return t;
}

PY_PRIV PyObject *py_from_buffer(PyObject *o, bool may_copy) {
    Py_buffer *v = (Py_buffer *)malloc(sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, v, PyBUF_FULL_RO)) {
        free(v);
        return NULL;
    }
    bool backwards = false;
    for (int i = 0; i < v->ndim; i++) backwards = backwards || v->strides[i] < 0;
    if (backwards && may_copy) { /* NumPy makes it positive */
        PyBuffer_Release(v);
        free(v);
        PyObject *copy = PyObject_CallMethod(o, "copy", NULL);
        PyObject *r = copy ? py_from_buffer(copy, false) : NULL;
        Py_XDECREF(copy);
        return r;
    }
    tn_tensor *t = py_buffer_tensor(v);
    if (t) return py_wrap(tn_own(t));
    PyBuffer_Release(v);
    free(v);
    return NULL;
}

/* --- a tensor as a buffer --------------------------------------------------------------------- */

static int py_create_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t), k = 0;
    tn_dtype dtype = tn_dtype_of(t);
    while (k < BUFFER_FORMATS && py_buffer_formats[k].dtype != dtype) k++;
    view->obj = NULL;
    if (k == BUFFER_FORMATS || tn_device_of(t) != TN_CPU) {
        PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", tn_dtype_name(dtype));
        return -1;
    }
    if (!(flags & PyBUF_STRIDES) && !tn_is_contiguous(t)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    Py_ssize_t *room = (Py_ssize_t *)PyMem_Malloc((size_t)(2 * n + 1) * sizeof *room);
    if (!room) return PyErr_NoMemory(), -1;
    view->itemsize = tn_dtype_bytes(dtype);
    for (int i = 0; i < n; i++) {
        room[i] = (Py_ssize_t)tn_size(t, i);
        room[n + i] = (Py_ssize_t)tn_stride(t, i) * view->itemsize;
    }
    static char none[16];
    view->buf = tn_numel(t) ? tn_data(t) : none;
    view->len = (Py_ssize_t)tn_numel(t) * view->itemsize;
    view->readonly = 0;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)py_buffer_formats[k].format : NULL;
    view->ndim = flags & PyBUF_ND ? n : 1;
    view->shape = flags & PyBUF_ND ? room : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? room + n : NULL;
    view->suboffsets = NULL;
    view->internal = room;
    view->obj = Py_NewRef(self);
    return 0;
}

static void py_create_releasebuffer(PyObject *self, Py_buffer *view) {
    (void)self;
    PyMem_Free(view->internal);
}

/* --- functions -------------------------------------------------------------------------------- */

/* Keywords of tensor() and as_tensor(). */
typedef struct py_making {
    PyObject *data;
    tn_dtype dtype;
    tn_device_id device;
    int requires_grad;
} py_making;

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
        PyErr_Format(PyExc_TypeError, "tensor(): argument 'dtype' must be torch.dtype, not %R",
                     Py_TYPE(dtype));
        return false;
    }
    if (device != Py_None && !py_to_device(device, &m->device)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "tensor(): argument 'device' must be torch.device");
        return false;
    }
    return true;
}

/* As asked for in m: a new reference to the tensor itself where nothing changes, or a
 * conversion. */
static PyObject *py_making_finish(const py_making *m, PyObject *o, bool copy) {
    tn_tensor *t = py_of(o);
    tn_dtype dtype = m->dtype ? m->dtype : tn_dtype_of(t);
    if (!copy && dtype == tn_dtype_of(t) && (!m->device || m->device == tn_device_of(t))) return o;
    tn_tensor *detached = copy ? tnp_detach(t) : NULL;
    tn_tensor *r = m->device ? tnp_to(copy ? detached : t, m->device, dtype, false, copy)
                             : tnp_to_dtype(copy ? detached : t, dtype, false, copy);
    if (detached) tn_free(detached);
    Py_DECREF(o);
    PyObject *made = r ? py_wrap(tn_own(r)) : py_raise();
    if (made && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(made), true)) {
        Py_DECREF(made);
        return py_raise();
    }
    return made;
}

static PyObject *py_making_of_numbers(const py_making *m) {
    tn_tensor *t = py_create_nested(m->data, m->dtype);
    if (!t) return py_raise();
    PyObject *o = py_wrap(tn_own(t));
    if (o && m->device) {
        py_making plain = *m;
        plain.dtype = TN_NO_DTYPE;
        o = py_making_finish(&plain, o, false);
    }
    if (o && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
}

static PyObject *py_create_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|$OOpp:tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (array) return py_making_finish(&m, array, true);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

static PyObject *py_create_as_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|OOpp:as_tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

static PyObject *py_create_from_numpy(PyObject *self, PyObject *o) {
    (void)self;
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o))
        return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %R)", Py_TYPE(o));
    return py_from_buffer(o, false);
}

PY_PRIV PyObject *py_index_tensor(PyObject *o) {
    py_making m = {o, TN_NO_DTYPE, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return array;
    if (PyErr_Occurred()) return NULL;
    if (!py_nested_is_list(o))
        return PyErr_Format(PyExc_IndexError,
                            "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                            "Variables are valid indices (got %R)",
                            Py_TYPE(o));
    if (!PySequence_Size(o)) m.dtype = TN_I64;
    return py_making_of_numbers(&m);
}

PY_PRIV PyObject *py_value_tensor(PyObject *o, tn_dtype dtype) {
    py_making m = {o, dtype, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

/* --- to lists --------------------------------------------------------------------------------- */

static PyObject *py_list_of(const char *at, const tn_tensor *t, int dim) {
    if (dim == tn_ndim(t)) return py_from_scalar(tn_element(at, tn_dtype_of(t)));
    int64_t n = tn_size(t, dim), step = tn_stride(t, dim) * tn_dtype_bytes(tn_dtype_of(t));
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *one = py_list_of(at + i * step, t, dim + 1);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *py_create_tolist(PyObject *self, PyObject *unused) {
    (void)unused;
    if (tn_device_of(py_of(self)) == TN_META)
        return PyErr_Format(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    return py_list_of((const char *)tn_data(py_of(self)), py_of(self), 0);
}

static PyMethodDef py_create_functions[] = {
    {"tensor", (PyCFunction)(void *)py_create_tensor, METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False): a new tensor, a copy of data"},
    {"as_tensor", (PyCFunction)(void *)py_create_as_tensor, METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None): shares the data where that is possible"},
    {"from_numpy", py_create_from_numpy, METH_O, "a tensor over the memory of an array"},
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
    const PyType_Slot slots[] = {{Py_bf_getbuffer, (void *)py_create_getbuffer},
                                 {Py_bf_releasebuffer, (void *)py_create_releasebuffer}};
    memcpy(to, slots, sizeof slots);
    return 2;
}

/* src/py/tensor.c */
/* tensor.c - the class Tensor: its life and its attributes.
 *
 * A wrapper without attributes is not tracked by the collector: it can be part of no cycle. One
 * with attributes, or of a subclass, that C code outlives (a gradient, a module's part) goes over
 * to the tensor when Python drops it, and comes back with the next py_wrap. */

/* --- wrappers --------------------------------------------------------------------------------- */

enum { FREE_MOST = 256 };
static struct {
    py_tensor *at[FREE_MOST];
    int n;
} py_free_wrappers;

PY_PRIV PyObject *py_wrap_as(PyTypeObject *type, tn_tensor *t) {
    py_tensor *p;
    if (!t) return py_raise();
    if (type == py.tensor && py_free_wrappers.n) {
        p = py_free_wrappers.at[--py_free_wrappers.n];
        PyObject_Init((PyObject *)p, type);
    } else if (type == py.tensor) {
        p = PyObject_GC_New(py_tensor, type);
    } else {
        p = (py_tensor *)PyType_GenericAlloc(type, 0); /* tracked: it may have anything */
    }
    if (!p) return tn_release(t), NULL;
    p->t = t;
    p->dict = p->weak = NULL;
    tn_set_binding(t, p, NULL);
    return (PyObject *)p;
}

PY_PRIV PyObject *py_wrap(tn_tensor *t) { return py_wrap_as(py.tensor, t); }

PY_PRIV PyObject *py_wrap_borrowed(tn_tensor *t) {
    PyObject *known = t ? (PyObject *)tn_binding(t) : NULL;
    if (known) return py_wrap_known(t, known);
    return t ? py_wrap(tn_retain(t)) : Py_NewRef(Py_None);
}

/* --- wrappers that C outlives ----------------------------------------------------------------- */

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
    return known;
}

/* Gives the wrapper, of which Python has nothing left, to the tensor, if it is worth keeping and
 * somebody else has the tensor. */
static bool py_tensor_keep(py_tensor *p) {
    bool plain = Py_TYPE((PyObject *)p) == py.tensor && (!p->dict || !PyDict_Size(p->dict));
    if (plain || !p->t || tn_owners(p->t) < 2) return false;
    if (!tn_set_binding(p->t, p, py_tensor_binding_release)) return tn_error_take(NULL), false;
    Py_INCREF((PyObject *)p);
    p->kept = true;
    if (!PyObject_GC_IsTracked((PyObject *)p)) PyObject_GC_Track((PyObject *)p);
    tn_release(p->t);
    return true;
}

static void py_tensor_dealloc(PyObject *self) {
    py_tensor *p = (py_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (TNI_UNLIKELY(p->dict || type != py.tensor) && py_tensor_keep(p)) return;
    PyObject_GC_UnTrack(self);
    if (p->weak) PyObject_ClearWeakRefs(self);
    Py_CLEAR(p->dict);
    if (p->t) {
        tn_tensor *t = p->t;
        p->t = NULL;
        tn_set_binding(t, NULL, NULL);
        tn_release(t);
    }
    if (type == py.tensor && py_free_wrappers.n < FREE_MOST)
        py_free_wrappers.at[py_free_wrappers.n++] = p;
    else
        ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

static int py_tensor_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_tensor *)self)->dict);
    return 0;
}

static int py_tensor_clear(PyObject *self) {
    Py_CLEAR(((py_tensor *)self)->dict);
    return 0;
}

/* The first attribute makes the wrapper a possible part of a cycle. */
static int py_tensor_setattr(PyObject *self, PyObject *name, PyObject *value) {
    int bad = PyObject_GenericSetAttr(self, name, value);
    if (((py_tensor *)self)->dict && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
    return bad;
}

static PyObject *py_tensor_dict(PyObject *self, void *unused) {
    PyObject *dict = PyObject_GenericGetDict(self, unused);
    if (dict && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
    return dict;
}

/* --- attributes ------------------------------------------------------------------------------- */

PY_PRIV PyObject *py_size_of(tn_ints sizes) {
    PyObject *all = PyType_GenericAlloc(py.size, (Py_ssize_t)sizes.n);
    for (int64_t i = 0; all && i < sizes.n; i++) {
        PyObject *n = PyLong_FromLongLong(sizes.at[i]);
        if (!n || PyTuple_SetItem(all, (Py_ssize_t)i, n)) Py_CLEAR(all);
    }
    return all;
}

static PyObject *py_tensor_shape(PyObject *self, void *unused) {
    (void)unused;
    return py_size_of(tn_shape(py_of(self)));
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
static PyObject *py_tensor_never(PyObject *self, void *unused) {
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static int py_tensor_set_requires_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value || !PyBool_Check(value)) {
        PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
        return -1;
    }
    if (tn_requires_grad_at(NULL, 0, py_of(self), value == Py_True)) return 0;
    py_raise();
    return -1;
}

static PyObject *py_tensor_grad(PyObject *self, void *unused) {
    (void)unused;
    return py_wrap_borrowed(tn_grad_of(py_of(self)));
}
static int py_tensor_set_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (value && value != Py_None && !py_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "assigned grad has to be a Tensor or None");
        return -1;
    }
    if (tnp_set_grad(py_of(self), value && value != Py_None ? py_of(value) : NULL)) return 0;
    py_raise();
    return -1;
}

/* A row of one tensor as an attribute: x.T, x.real. */
static PyObject *py_tensor_by_row(PyObject *self, void *name) {
    const py_group *g = py_group_of((const char *)name);
    return g ? py_call(g, true, &self, 1, NULL) : NULL;
}

static PyObject *py_tensor_reversed(PyObject *self, void *unused) {
    int64_t dims[TN_MAX_DIMS];
    tn_tensor *t = py_of(self);
    const char *file;
    int n = tn_ndim(t), line;
    (void)unused;
    for (int i = 0; i < n; i++) dims[i] = n - 1 - i;
    py_here(&file, &line);
    const tn_permute_args a = {t, tn_ints_of(dims, n)};
    return py_wrap(tn_own(tn_permute_at(file, line, &a)));
}

static PyObject *py_tensor_matrices(PyObject *self, void *unused) {
    const char *file;
    int line;
    (void)unused;
    py_here(&file, &line);
    const tn_transpose_args a = {py_of(self), -2, -1};
    return py_wrap(tn_own(tn_transpose_at(file, line, &a)));
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
    {"requires_grad", py_tensor_requires_grad, py_tensor_set_requires_grad,
     "whether calls with it are recorded", NULL},
    {"grad", py_tensor_grad, py_tensor_set_grad, "the gathered gradient, or None", NULL},
    {"real", py_tensor_by_row, NULL, "the real parts, a view", (void *)"real"},
    {"imag", py_tensor_by_row, NULL, "the imaginary parts, a view", (void *)"imag"},
    {"T", py_tensor_reversed, NULL, "the dimensions in reverse order", NULL},
    {"mT", py_tensor_matrices, NULL, "the last two dimensions exchanged", NULL},
    {"is_cuda", py_tensor_never, NULL, NULL, NULL},
    {"is_sparse", py_tensor_never, NULL, NULL, NULL},
    {"is_quantized", py_tensor_never, NULL, NULL, NULL},
    {"__dict__", py_tensor_dict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef py_tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_tensor, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_tensor, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* --- methods that are no rows ----------------------------------------------------------------- */

static PyObject *py_tensor_repr(PyObject *self) {
    char *text = tnp_to_text(py_of(self), &py_printing);
    if (!text) return py_raise();
    PyObject *r = PyUnicode_FromString(text);
    tn_alloc_free(text, strlen(text) + 1);
    return r;
}

static PyObject *py_tensor_item(PyObject *self, PyObject *unused) {
    (void)unused;
    tn_scalar s = tnp_item_scalar(py_of(self));
    return tn_ok() ? py_from_scalar(s) : py_raise();
}

static PyObject *py_tensor_size(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    int64_t dim;
    if (n == 0 || args[0] == Py_None) return py_tensor_shape(self, NULL);
    if (n > 1 || !py_to_int(args[0], &dim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "size(): argument 'dim' must be int");
        return NULL;
    }
    if (dim < INT32_MIN || dim > INT32_MAX) dim = INT32_MAX;
    int64_t size = tn_size(py_of(self), (int)dim);
    return tn_ok() ? PyLong_FromLongLong(size) : py_raise();
}

static PyObject *py_tensor_stride(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    int64_t dim;
    tn_ints all = tn_strides(py_of(self));
    if (n == 0 || args[0] == Py_None) {
        PyObject *tuple = PyTuple_New((Py_ssize_t)all.n);
        for (int64_t i = 0; tuple && i < all.n; i++)
            PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromLongLong(all.at[i]));
        return tuple;
    }
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
    return PyLong_FromVoidPtr(tn_data(py_of(self)));
}
static PyObject *py_tensor_is_contiguous(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(tn_is_contiguous(py_of(self)));
}
static PyObject *py_tensor_element_size(PyObject *self, PyObject *unused) {
    return py_tensor_itemsize(self, unused);
}
static PyObject *py_tensor_retain_grad(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!tn_is_leaf(py_of(self)) && !tnp_retain_grad(py_of(self))) return py_raise();
    Py_RETURN_NONE;
}

static PyObject *py_tensor_requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                          PyObject *kwnames) {
    PyObject *value = n + (kwnames ? PyTuple_Size(kwnames) : 0) ? args[0] : Py_True;
    return py_tensor_set_requires_grad(self, value, NULL) ? NULL : Py_NewRef(self);
}

#define TENSOR_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_tensor_methods[] = {
    {"item", py_tensor_item, METH_NOARGS, "the only element as a Python number"},
    {"size", TENSOR_FAST(py_tensor_size), METH_FASTCALL, "sizes, or that of one dimension"},
    {"stride", TENSOR_FAST(py_tensor_stride), METH_FASTCALL, "strides in elements, or one of them"},
    {"dim", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"ndimension", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"numel", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"nelement", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"storage_offset", py_tensor_storage_offset, METH_NOARGS, "of the first element, in elements"},
    {"data_ptr", py_tensor_data_ptr, METH_NOARGS, "address of the first element"},
    {"is_contiguous", py_tensor_is_contiguous, METH_NOARGS, "whether it is row-major and dense"},
    {"element_size", py_tensor_element_size, METH_NOARGS, "bytes of an element"},
    {"retain_grad", py_tensor_retain_grad, METH_NOARGS, "keeps .grad of a tensor that is no leaf"},
    {"requires_grad_", TENSOR_FAST(py_tensor_requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     "makes a leaf that gathers .grad"},
    {NULL, NULL, 0, NULL}};

static Py_hash_t py_tensor_hash(PyObject *self) { return (Py_hash_t)((uintptr_t)self >> 4); }

PY_PRIV int py_tensor_begin(PyObject *module) {
    PyType_Slot slots[64] = {
        {Py_tp_dealloc, (void *)py_tensor_dealloc}, {Py_tp_traverse, (void *)py_tensor_traverse},
        {Py_tp_clear, (void *)py_tensor_clear},     {Py_tp_setattro, (void *)py_tensor_setattr},
        {Py_tp_repr, (void *)py_tensor_repr},       {Py_tp_hash, (void *)py_tensor_hash},
        {Py_tp_methods, py_tensor_methods},         {Py_tp_members, py_tensor_members},
        {Py_tp_getset, py_tensor_attributes}};
    PyType_Spec spec = {"torch.Tensor", sizeof(py_tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    int n = 9;
    n += py_number_slots(slots + n);
    n += py_index_slots(slots + n);
    n += py_create_slots(slots + n);
    py.tensor = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.tensor ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)py.tensor) : -1;
}

/* src/py/main.c */
/* main.c - the module `tensorh._C`: interned words, classes, functions of all rows. */

#ifdef TNI_OBJECTS
py_state py;
#endif
tn_print_options py_printing;

PY_PRIV PyObject *py_overridden(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames) {
    (void)method, (void)args, (void)nargs, (void)kwnames;
    return PyErr_Format(PyExc_NotImplementedError, "%s", g->name);
}

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
                 {&py.dim, "dim"},
                 {&py.axis, "axis"},
                 {&py.keepdim, "keepdim"},
                 {&py.keepdims, "keepdims"},
                 {&py.f_lasti, "f_lasti"},
                 {&py.f_back, "f_back"},
                 {&py.forward, "forward"},
                 {&py.torch_function, "__torch_function__"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!(*words[i].at = PyUnicode_InternFromString(words[i].text))) return false;
    return true;
}

static PyObject *py_main_manual_seed(PyObject *self, PyObject *o) {
    PyObject *g = PyObject_GetAttrString(self, "default_generator");
    PyObject *r = g ? PyObject_CallMethod(g, "manual_seed", "O", o) : NULL;
    Py_XDECREF(g);
    return r;
}
static PyObject *py_main_set_num_threads(PyObject *self, PyObject *o) {
    int64_t n;
    (void)self;
    if (!py_to_int(o, &n) || n < 1 || n > INT32_MAX)
        return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects a positive integer");
    if (!tn_set_threads((int32_t)n)) return py_raise();
    Py_RETURN_NONE;
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

static PyObject *py_main_registered(PyObject *self, PyObject *o) {
    const char *name = PyUnicode_AsUTF8AndSize(o, NULL);
    PyObject *f = name ? py_registered(name) : NULL;
    (void)self;
    if (name && !f && !PyErr_Occurred()) PyErr_Format(PyExc_AttributeError, "no operator %R", o);
    return f;
}

static PyMethodDef py_main_functions[] = {
    {"_registered", py_main_registered, METH_O, "the function of an operator of that name"},
    {"manual_seed", py_main_manual_seed, METH_O, "seeds the default generator; returns it"},
    {"set_num_threads", py_main_set_num_threads, METH_O, "threads that work at one operator"},
    {"get_num_threads", py_main_get_num_threads, METH_NOARGS, "threads that work at one operator"},
    {"_package", py_main_package, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static int py_main_exec(PyObject *module) {
    if (!tn_context_current()) return PyErr_NoMemory(), -1;
#ifndef TNI_OBJECTS
    PyObject *api = PyCapsule_New((void *)(uintptr_t)tn_exported(), "tensorh._C._api", NULL);
    if (!api || PyModule_AddObjectRef(module, "_api", api)) return -1;
    Py_DECREF(api);
#endif
    if (PyModule_AddStringConstant(module, "__version__", TN_VERSION)) return -1;
    if (!py_main_words() || py_types_begin(module) || py_tensor_begin(module) ||
        py_groups_begin(module) || !py_number_begin() || py_create_begin(module))
        return PyErr_Occurred() ? -1 : (PyErr_SetString(PyExc_SystemError, "tensorh: rows"), -1);
    return 0;
}

static struct PyModuleDef py_main_module = {
    PyModuleDef_HEAD_INIT, "tensorh._C", NULL, -1, py_main_functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__C(void) {
    PyObject *module = PyModule_Create(&py_main_module);
    if (module && py_main_exec(module)) Py_CLEAR(module);
    return module;
}
