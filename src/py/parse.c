/* parse.c - Python's arguments into a row's argument struct: one walk over the row's parameters
 * serves every row, every overload, every method.
 *
 * On the way of a call that fits nothing is allocated: the struct and short lists lie on the stack.
 * Texts are made only where nothing fits. */
#include "bind.h"
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
