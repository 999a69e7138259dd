/* parse.c - Python's arguments into a row's argument struct: one walk over the row's parameters
 * serves every row, every overload, every method.
 *
 * On the way of a call that fits nothing is allocated: the struct and short lists lie on the stack.
 * Texts are made only where nothing fits. */
#include "py.h"

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
    return py_bind_put(b, p->offset, &t, sizeof t);
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
            return b->place = (int)i, false;
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
            if (!member || !py_to_index(member, &at[i])) return b->place = (int)i, false;
        }
        l.at = at;
    } else {
        if (!py_bind_int_is_list(b, p) || !py_to_index(o, &one)) return false;
        int64_t *at = (int64_t *)py_bind_room(b, 1, sizeof *at, b->ints, &b->nints, BIND_INTS);
        if (!at) return false;
        *at = one;
        l = tn_ints_of(at, 1);
    }
    return py_bind_put(b, p->offset, &l, sizeof l);
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
            if (!member || !py_to_float(member, &at[i])) return b->place = (int)i, false;
        }
        l.at = at;
    }
    return py_bind_put(b, p->offset, &l, sizeof l);
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
    const char *text = PyUnicode_Check(o)               ? PyUnicode_AsUTF8AndSize(o, NULL)
                       : Py_TYPE(o) == py.memory_format ? py_format_name(o)
                                                        : NULL;
    int32_t word = 0;
    if (!text && !(o == Py_None && p->flags & TN_P_OPTIONAL)) return false;
    for (int k = 0; text && p->words[k]; k++)
        if (strcmp(p->words[k], text) == 0) word = k + 1;
    if (text && !word) {
        bool value = !strcmp(p->name, "reduction") || !strcmp(p->name, "padding_mode");
        PyErr_Format(value ? PyExc_ValueError : PyExc_RuntimeError,
                     "%s is not a valid value for %s", text, p->name);
        return false;
    }
    return py_bind_put(b, p->offset, &word, sizeof word);
}

static bool py_bind_int(py_bind *b, const tn_param *p, PyObject *o) {
    int64_t integer = TN_NONE;
    if (!(o == Py_None && p->flags & TN_P_OPTIONAL) && !py_to_index(o, &integer)) return false;
    return py_bind_put(b, p->offset, &integer, sizeof integer);
}

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

static bool py_bind_generator(py_bind *b, const tn_param *p, PyObject *o) {
    tn_generator *generator = NULL;
    if (o != Py_None && Py_TYPE(o) != py.generator) return false;
    if (o != Py_None) generator = ((py_generator *)o)->generator;
    return py_bind_put(b, p->offset, &generator, sizeof generator);
}

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

/* Names of a row's parameters as interned Python strings, made at its first call by keyword. */
static struct {
    PyObject ***of; /* by row index */
    uint32_t room;
} py_names;

static PyObject **py_names_of(const tn_row *row) {
    if (row->gen->index >= py_names.room) {
        uint32_t room = row->gen->index + 64;
        PyObject ***of = (PyObject ***)PyMem_Calloc(room, sizeof *of);
        if (!of) return NULL;
        if (py_names.room) memcpy(of, py_names.of, py_names.room * sizeof *of);
        PyMem_Free(py_names.of);
        py_names.of = of;
        py_names.room = room;
    }
    if (!py_names.of[row->gen->index]) {
        int n = row->gen->nparam;
        PyObject **at = (PyObject **)PyMem_Calloc((size_t)n + 1, sizeof *at);
        for (int i = 0; at && i < n; i++)
            if (!(at[i] = PyUnicode_InternFromString(row->gen->param[i].name))) {
                PyMem_Free(at);
                return NULL;
            }
        py_names.of[row->gen->index] = at;
    }
    return py_names.of[row->gen->index];
}

/* Names of **words that a program makes are not interned. */
static bool py_names_is(PyObject *name, PyObject *word) {
    return name == word || PyUnicode_Compare(name, word) == 0;
}

/* torch's and NumPy's other names of a parameter. */
static PyObject *py_names_other(PyObject *name) {
    if (py_names_is(name, py.input) || py_names_is(name, py.x) || py_names_is(name, py.a))
        return py.self;
    if (py_names_is(name, py.self)) return py.input;
    if (py_names_is(name, py.axis)) return py.dim;
    if (py_names_is(name, py.keepdims)) return py.keepdim;
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
        if (PyList_Check(o)) {
            if (b->nheld == BIND_MORE || !(o = PyList_AsTuple(o))) return false;
            b->held[b->nheld++] = o;
        }
        if (!PyTuple_Check(o) || PyTuple_Size(o) != gen->nresults || gen->nresults > 4)
            return false;
        for (int k = 0; k < gen->nresults; k++)
            if (!py_bind_tensor_of(b, PyTuple_GetItem(o, k), &given[k])) return false;
    }
    py_bind_put(b, gen->out_offset, given, (size_t)gen->nresults * sizeof given[0]);
    return true;
}

PY_PRIV bool py_row_creates(const tn_gen *gen) {
    return gen->nparam > 1 && gen->nfixed <= 1 && gen->param[gen->nparam - 1].type == TN_T_DEVICE;
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

static bool py_bind_keyword(py_bind *b, unsigned how, PyObject *name, PyObject *o, int k) {
    PyObject **at = b->names ? b->names : py_names_of(b->row), *other;
    bool fits;
    if (!at) return PyErr_NoMemory(), py_bind_no(b, FAULT_RAISED, k);
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
    for (int i = first + 1; i < b->gen->nparam; i++)
        if (!(b->gen->param[i].flags & TN_P_KEYWORD) && nargs > 1) return 0;
    int used = b->nints;
    int64_t *at = (int64_t *)py_bind_room(b, nargs, sizeof *at, b->ints, &b->nints, BIND_INTS);
    if (!at) return py_bind_no(b, FAULT_RAISED, first), -1;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (py_to_index(args[i], &at[i])) continue;
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

/* What makes tensors of nothing makes them where this thread does by default: modules, and what a
 * user calls. */
static void py_bind_place(py_bind *b) {
    const tn_device_id device = b->gen->nfixed ? TN_NO_DEVICE : py_default_device();
    if (!device || b->gen->props & TN_PROP_LISTS || (b->row && py_here_is_ours())) return;
    for (int i = 0; i < b->gen->nparam; i++) {
        const tn_param *p = &b->gen->param[i];
        tn_device_id asked;
        if (p->type != TN_T_DEVICE) continue;
        memcpy(&asked, b->args.bytes + p->offset, sizeof asked);
        if (asked == TN_NO_DEVICE) py_bind_put(b, p->offset, &device, sizeof device);
    }
}

static bool py_bind_fill(py_bind *b, unsigned how, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames) {
    const tn_gen *gen = b->gen;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0, at = 0;
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
    for (int i = 0; i < gen->nparam; i++)
        if (!(b->bound >> i & 1) && tn_param_is_required(&gen->param[i]))
            return py_bind_no(b, FAULT_MISSING, i);
    py_bind_place(b);
    return true;
}

static void py_bind_begin(py_bind *b, const tn_row *row, bool method, bool lenient) {
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

static void py_bind_end(py_bind *b) {
    for (int i = 0; i < b->nmore; i++) PyMem_Free(b->more[i]);
    for (int i = 0; i < b->nheld; i++) Py_DECREF(b->held[i]);
    b->nmore = b->nheld = 0;
}

/* --- what did not fit ------------------------------------------------------------------------- */

static const char *py_fault_kind(const tn_param *p) {
    return p->flags & TN_P_NUMBER ? "Tensor or Number" : py_bind_types[p->type].kind;
}

static const char *py_fault_type(PyObject *o, char *text, size_t room) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, room, "%s", s ? s : "?");
    Py_XDECREF(name);
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
static PyObject *py_fault_overflow(const py_bind *b, const char *name) {
    char argument[96];
    if (!b->given || !PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    const tn_param *p = &b->gen->param[b->at];
    PyObject *kind = p->type == TN_T_INT                     ? PyExc_ValueError
                     : p->type != TN_T_INTS                  ? PyExc_OverflowError
                     : p->count < 0 /* what torch unpacks */ ? PyExc_TypeError
                                                             : PyExc_ValueError;
    PyErr_Clear();
    return PyErr_Format(kind, "%s(): %s: Overflow when unpacking long long", name,
                        py_fault_argument(b, argument, sizeof argument));
}

static PyObject *py_fault_of_kind(const py_bind *b, const char *name) {
    char argument[96], type[80];
    const char *kind =
        b->fault == FAULT_KIND ? py_fault_kind(&b->gen->param[b->at]) : b->common_kind;
    py_fault_argument(b, argument, sizeof argument);
    if (b->place < 0)
        return PyErr_Format(PyExc_TypeError, "%s(): %s must be %s, not %s", name, argument, kind,
                            py_fault_type(b->given, type, sizeof type));
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

static PyObject *py_fault_many(const py_bind *b, const char *name, Py_ssize_t nargs) {
    int self = b->method, least = 0, most = 0;
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

static PyObject *py_fault_raise(const py_bind *b, const char *name, Py_ssize_t nargs,
                                PyObject *kwnames) {
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
    PyObject *r = py_run(b->row, how, b->args.bytes, lasts, py_records(b->gen, b->args.bytes));
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
    if (!all) {
        PyObject *module = PyImport_ImportModule("tensorh._overloads");
        all = module ? PyObject_GetAttrString(module, "OVERLOADS") : NULL;
        Py_XDECREF(module);
        if (!all) return NULL;
    }
    PyObject *f = py_entry(all, name);
    if (!f) return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    PyObject *tuple = py_args_tuple(args, nargs), *r = NULL;
    PyObject *dict = tuple && kwnames ? py_args_dict(args + nargs, kwnames) : NULL;
    if (tuple && (dict || !kwnames)) r = PyObject_Call(f, tuple, dict);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
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

static PyObject *py_call_rest(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call,
                              const py_bind *b) {
    PyObject *r = call & CALL_PLAIN ? Py_NewRef(Py_NotImplemented)
                                    : py_overridden(g, method, args, nargs, kwnames);
    if (r == Py_NotImplemented && !(call & CALL_ROWS)) {
        Py_DECREF(r);
        r = py_overloads_call(g->name, args, nargs, kwnames);
    }
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    if (g->nrows > 1) return py_fault_overloads(g, method, args, nargs, kwnames);
    return py_fault_raise(b, g->name, nargs, kwnames);
}

static PyObject *py_call_rows(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call) {
    py_bind b;
    b.foreign = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < g->nrows; i++) {
            py_bind_begin(&b, g->row[i], method, pass == 1);
            bool fits = py_bind_fill(&b, g->how, args, nargs, kwnames);
            PyObject *r = NULL;
            if (TNI_UNLIKELY(b.foreign != NULL) && !(call & CALL_PLAIN) &&
                (fits || b.fault != FAULT_RAISED)) {
                r = py_overridden(g, method, args, nargs, kwnames);
                if (r != Py_NotImplemented) return py_bind_end(&b), r;
                Py_DECREF(r);
                call |= CALL_PLAIN;
            }
            r = fits ? py_bound_call(&b, g->how) : NULL;
            py_bind_end(&b);
            if (fits) return r;
            if (b.fault == FAULT_RAISED) return py_fault_overflow(&b, g->name);
        }
    }
    return py_call_rest(g, method, args, nargs, kwnames, call, &b);
}

PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, 0));
}

PY_PRIV PyObject *py_call_plain(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, CALL_PLAIN));
}

PY_PRIV PyObject *py_call_row(const py_group *g, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, false, args, nargs, kwnames, CALL_ROWS));
}

PY_PRIV PyObject *py_call_bound(const py_signature *s, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames, py_bound_run run, void *user) {
    py_bind b;
    b.foreign = NULL;
    py_bind_begin(&b, NULL, false, true);
    b.gen = s->gen;
    b.names = s->names;
    const int turn = py_lend();
    bool fits = py_bind_fill(&b, TN_PLAIN, args, nargs, kwnames);
    PyObject *r =
        fits ? run(user, b.args.bytes, b.elements) : py_fault_raise(&b, s->name, nargs, kwnames);
    py_bind_end(&b);
    return py_lent(turn, r);
}
