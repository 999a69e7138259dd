/* create.c - tensors from Python data: tensor(..), as_tensor(..), Tensor(..); and back: tolist. */
#include "py.h"

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
