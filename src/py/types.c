/* types.c - dtype, Size, memory_format, layout: small classes beside Tensor. */
#include "py.h"

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
