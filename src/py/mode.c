/* mode.c - grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode as context managers
 * and decorators; anomaly mode. Modes belong to the calling thread. */
#include "py.h"

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
