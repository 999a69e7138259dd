/* sparse.c - what tensorh/_sparse.py asks of sparse tensors (api/sparse.h): their wrappers are of
 * the class that it registers. */
#include "py.h"

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
