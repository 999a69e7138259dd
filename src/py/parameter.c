/* parameter.c - Parameter: a tensor that a module counts among its parameters. */
#include "py.h"

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
