/* convert.c - a tensor as another: of another dtype, class, shape; and what there is to know about
 * it that no row tells. */
#include "py.h"

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
