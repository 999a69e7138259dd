/* vmap.c - what tensorh/_vmap.py asks of the library's batches (api/vmap.h). */
#include "py.h"

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
