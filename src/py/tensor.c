/* tensor.c - the class Tensor: its attributes, and methods that are no rows. */
#include "py.h"

tn_print_options py_printing;

/* --- attributes ------------------------------------------------------------------------------- */

/* A tensor's shape or strides as a Size or a tuple, copied first: an allocation may run a
 * finalizer that turns the tensor. */
static PyObject *py_tensor_ints(tn_ints ints, bool size) {
    int64_t at[TN_MAX_DIMS];
    Py_ssize_t count = (Py_ssize_t)ints.n;
    for (int64_t i = 0; i < ints.n; i++) at[i] = ints.at[i];
    PyObject *all = size ? PyType_GenericAlloc(py.size, count) : PyTuple_New(count);
    for (int64_t i = 0; all && i < ints.n; i++) {
        PyObject *n = PyLong_FromLongLong(at[i]);
        if (!n || PyTuple_SetItem(all, (Py_ssize_t)i, n)) Py_CLEAR(all);
    }
    return all;
}

/* A Size, new at each look: the tensor may be turned in place. */
static PyObject *py_tensor_shape(PyObject *self, void *unused) {
    (void)unused;
    return py_tensor_ints(tn_shape(py_of(self)), true);
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
/* False for all that torch has and this library does not: mps, sparse, quantized. */
static PyObject *py_tensor_never(PyObject *self, void *unused) {
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static PyObject *py_tensor_retains_grad(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(tn_retains_grad(py_of(self)));
}

/* x.requires_grad = bool. */
static int py_tensor_set_requires_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value || !PyBool_Check(value)) {
        PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
        return -1;
    }
    /* already so: a tensor with history may be set to True, too */
    if (value == Py_True && tn_needs_grad(py_of(self))) return 0;
    if (tn_requires_grad_at(NULL, 0, py_of(self), value == Py_True)) return 0;
    py_raise();
    return -1;
}

/* x.grad, new, or None. A warning for tensors that never have one. */
static PyObject *py_tensor_grad(PyObject *self, void *unused) {
    tn_tensor *t = py_of(self), *grad = tn_grad_of(t);
    (void)unused;
    /* torch's warning, which may be an error */
    if (!grad && !tn_is_leaf(t) && !tn_retains_grad(t) &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
                     "Its .grad attribute won't be populated during autograd.backward(). Call "
                     ".retain_grad() on it before if it should, or look at the leaf Tensor.",
                     1))
        return NULL;
    /* looked up again: the warning may have run Python code */
    return py_wrap_borrowed(tn_grad_of(py_of(self)));
}
/* x.grad = tensor or None. The library checks that it fits. */
static int py_tensor_set_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (value && value != Py_None && !py_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError,
                     "assigned grad expected to be a Tensor or None but got grad of type %R",
                     Py_TYPE(value));
        return -1;
    }
    /* torch refuses this cycle */
    if (value == self) {
        PyErr_Format(PyExc_RuntimeError, "can't assign Variable as its own grad");
        return -1;
    }
    if (tnp_set_grad(py_of(self), value && value != Py_None ? py_of(value) : NULL)) return 0;
    py_raise();
    return -1;
}

/* A row of one tensor as an attribute: x.T, x.real. */
static PyObject *py_tensor_by_row(PyObject *self, void *name) {
    /* found at each look: attributes are seldom */
    const py_group *g = py_group_of((const char *)name);
    return g ? py_call(g, true, &self, 1, NULL) : NULL;
}

/* x.imag = v: writes through the view. */
static int py_tensor_set_part(PyObject *self, PyObject *value, void *name) {
    PyObject *part;
    if (!value)
        return PyErr_Format(PyExc_AttributeError, "cannot delete '%s'", (const char *)name), -1;
    if (!(part = py_tensor_by_row(self, name))) return -1;
    const int bad = PyObject_SetItem(part, Py_Ellipsis, value);
    Py_DECREF(part);
    return bad;
}

/* x.T: all dimensions in reverse order. */
static PyObject *py_tensor_reversed(PyObject *self, void *unused) {
    int64_t dims[TN_MAX_DIMS];
    const char *file;
    int line;
    (void)unused;
    py_here(&file, &line);
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t);
    for (int i = 0; i < n; i++) dims[i] = n - 1 - i;
    const tn_permute_args a = {t, tn_ints_of(dims, n)};
    tn_tensor *r = tn_permute_at(file, line, &a);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* name: "H", which is of one matrix; "mT" or "mH", of many. */
static PyObject *py_tensor_matrices(PyObject *self, void *name) {
    const char *file, *which = (const char *)name;
    int line, n = tn_ndim(py_of(self));
    bool one = !strcmp(which, "H");
    /* nothing to exchange */
    if (!n) return py_tensor_reversed(self, NULL);
    if (one ? n != 2 : n == 1)
        return PyErr_Format(PyExc_RuntimeError,
                            "tensor.%s is only supported on %s. Got %d-D tensor.", which,
                            one ? "matrices (2-D tensors)" : "matrices or batches of matrices", n);
    py_here(&file, &line);
    const tn_transpose_args a = {py_of(self), -2, -1};
    tn_tensor *r = tn_transpose_at(file, line, &a);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* x.H, x.mH: conjugated where that changes anything. */
static PyObject *py_tensor_adjoint(PyObject *self, void *name) {
    PyObject *m = py_tensor_matrices(self, name);
    const py_group *g = py_group_of("conj");
    if (!m || !g || !py_dtype_is_complex(tn_dtype_of(py_of(self)))) return m;
    PyObject *r = py_call(g, true, &m, 1, NULL);
    Py_DECREF(m);
    return r;
}

/* x.is_cpu, x.is_cuda, x.is_meta: whether the device is of that type. */
static PyObject *py_tensor_on(PyObject *self, void *name) {
    const char *device = tn_device_name(tn_device_of(py_of(self)));
    const size_t n = strlen((const char *)name);
    return PyBool_FromLong(!strncmp(device, (const char *)name, n) && strcspn(device, ":") == n);
}
static PyObject *py_tensor_layout(PyObject *self, void *unused) {
    (void)self, (void)unused;
    return Py_NewRef(py.strided);
}

/* x.__dict__: from now on x may be part of a cycle. */
static PyObject *py_tensor_dict(PyObject *self, void *unused) {
    PyObject *dict = PyObject_GenericGetDict(self, unused);
    if (dict) py_tensor_track((py_tensor *)self);
    return dict;
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
    {"retains_grad", py_tensor_retains_grad, NULL, "whether .grad is kept though it is no leaf",
     NULL},
    {"requires_grad", py_tensor_requires_grad, py_tensor_set_requires_grad,
     "whether calls with it are recorded", NULL},
    {"grad", py_tensor_grad, py_tensor_set_grad, "the gathered gradient, or None", NULL},
    {"_grad", py_tensor_grad, py_tensor_set_grad, NULL, NULL},
    {"real", py_tensor_by_row, py_tensor_set_part, "the real parts, a view", (void *)"real"},
    {"imag", py_tensor_by_row, py_tensor_set_part, "the imaginary parts, a view", (void *)"imag"},
    {"T", py_tensor_reversed, NULL, "the dimensions in reverse order", NULL},
    {"mT", py_tensor_matrices, NULL, "the last two dimensions exchanged", (void *)"mT"},
    {"H", py_tensor_adjoint, NULL, "a matrix transposed and conjugated", (void *)"H"},
    {"mH", py_tensor_adjoint, NULL, "the last two dimensions exchanged, conjugated", (void *)"mH"},
    {"layout", py_tensor_layout, NULL, "torch.strided", NULL},
    {"is_cpu", py_tensor_on, NULL, "whether it is in CPU memory", (void *)"cpu"},
    {"is_cuda", py_tensor_on, NULL, "whether it is in a GPU's memory", (void *)"cuda"},
    {"is_meta", py_tensor_on, NULL, "whether it has a shape and no data", (void *)"meta"},
    {"is_mps", py_tensor_never, NULL, NULL, NULL},
    {"is_xpu", py_tensor_never, NULL, NULL, NULL},
    {"is_mkldnn", py_tensor_never, NULL, NULL, NULL},
    {"is_nested", py_tensor_never, NULL, NULL, NULL},
    {"is_sparse_csr", py_tensor_never, NULL, NULL, NULL},
    {"is_sparse", py_tensor_never, NULL, NULL, NULL},
    {"is_quantized", py_tensor_never, NULL, NULL, NULL},
    {"__dict__", py_tensor_dict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef py_tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_tensor, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_tensor, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* --- methods that are no rows ----------------------------------------------------------------- */

/* The text of a subclass: "tensor(" becomes its name, lines are indented as much. */
static PyObject *py_tensor_repr_as(const char *text, const char *name) {
    PyObject *r = PyUnicode_FromFormat("%s(", name), *space = PyUnicode_FromString(" ");
    PyObject *indent = space ? PySequence_Repeat(space, (Py_ssize_t)strlen(name) + 1) : NULL;
    for (text += strlen("tensor("); r && indent && *text;) {
        /* line by line; the first seven blanks of a line are the indent of "tensor(" */
        size_t n = strcspn(text, "\n") + 1;
        bool last = text[n - 1] == 0, empty = !last && text[n] == '\n';
        PyObject *line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)(last ? n - 1 : n), NULL), *more;
        text += last ? n - 1 : n;
        int spaces = 0;
        while (!last && !empty && *text == ' ' && spaces < 7) text++, spaces++;
        more = !line    ? NULL
               : spaces ? PyUnicode_FromFormat("%U%U%U", r, line, indent)
                        : PyUnicode_Concat(r, line);
        Py_XDECREF(line);
        Py_DECREF(r);
        r = more;
    }
    Py_XDECREF(space);
    Py_XDECREF(indent);
    return r;
}

static PyObject *py_tensor_repr(PyObject *self) {
    /* a copy, as the width depends on the class's name */
    tn_print_options o = py_printing;
    PyObject *type = NULL, *r;
    const char *name = NULL;
    if (py.dual_text && tn_needs_grad(py_of(self))) {
        PyObject *f = Py_NewRef(py.dual_text);
        r = PyObject_CallFunctionObjArgs(f, self, NULL);
        Py_DECREF(f);
        if (r != Py_None) return r;
        Py_DECREF(r);
    }
    if (!py_is_exact(self)) {
        if (!(type = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__")) ||
            !(name = PyUnicode_AsUTF8AndSize(type, NULL)))
            return Py_XDECREF(type), NULL;
        o.linewidth = (o.linewidth ? o.linewidth : 80) + 6 - (int)strlen(name);
        if (o.linewidth < 10) o.linewidth = 10;
    }
    char *text = tnp_to_text(py_of(self), &o);
    r = !text ? py_raise() : name ? py_tensor_repr_as(text, name) : PyUnicode_FromString(text);
    /* the library's memory, with the size that it was got with */
    if (text) tn_alloc_free(text, strlen(text) + 1);
    Py_XDECREF(type);
    return r;
}

/* x.item(): the error of several elements is the library's. */
static PyObject *py_tensor_item(PyObject *self, PyObject *unused) {
    (void)unused;
    tn_scalar s = tnp_item_scalar(py_of(self));
    return tn_ok() ? py_from_element(s, tn_dtype_of(py_of(self))) : py_raise();
}

/* The one keyword dim=. */
static bool py_tensor_dim_word(PyObject *kwnames, Py_ssize_t *n) {
    PyObject *name = PyTuple_GetItem(kwnames, 0);
    if (*n + PyTuple_Size(kwnames) == 1 && PyUnicode_Compare(name, py.dim) == 0)
        return (*n = 1) != 0;
    PyErr_SetString(PyExc_TypeError, "dim= is the only keyword");
    return false;
}

/* x.size(), x.size(dim). */
static PyObject *py_tensor_size(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    if (TNI_UNLIKELY(kwnames != NULL) && !py_tensor_dim_word(kwnames, &n)) return NULL;
    int64_t dim;
    if (n == 0 || args[0] == Py_None) return py_tensor_shape(self, NULL);
    if (n > 1 || !py_to_int(args[0], &dim)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "size(): argument 'dim' must be int");
        return NULL;
    }
    /* out of the range in any case: the library says so */
    if (dim < INT32_MIN || dim > INT32_MAX) dim = INT32_MAX;
    int64_t size = tn_size(py_of(self), (int)dim);
    return tn_ok() ? PyLong_FromLongLong(size) : py_raise();
}

/* x.stride(), x.stride(dim). */
static PyObject *py_tensor_stride(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    if (TNI_UNLIKELY(kwnames != NULL) && !py_tensor_dim_word(kwnames, &n)) return NULL;
    int64_t dim;
    if (n == 0 || args[0] == Py_None) return py_tensor_ints(tn_strides(py_of(self)), false);
    /* as size(dim) */
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
    const tn_tensor *t = py_of(self);
    const bool plain = tn_device_of(t) == TN_CPU || tn_device_of(t) == TN_META;
    return PyLong_FromVoidPtr(plain ? tn_data(t) : tn_device_data(t));
}
static PyObject *py_tensor_element_size(PyObject *self, PyObject *unused) {
    return py_tensor_itemsize(self, unused);
}
static PyObject *py_tensor_retain_grad(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!tn_needs_grad(py_of(self)))
        return PyErr_Format(PyExc_RuntimeError,
                            "can't retain_grad on Tensor that has requires_grad=False");
    if (tn_is_leaf(py_of(self))) Py_RETURN_NONE;
    if (!tnp_retain_grad(py_of(self))) return py_raise();
    Py_RETURN_NONE;
}

#define TENSOR_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_tensor_methods[] = {
    {"item", py_tensor_item, METH_NOARGS, "the only element as a Python number"},
    {"size", TENSOR_FAST(py_tensor_size), METH_FASTCALL | METH_KEYWORDS,
     "sizes, or that of one dimension"},
    {"stride", TENSOR_FAST(py_tensor_stride), METH_FASTCALL | METH_KEYWORDS,
     "strides in elements, or one of them"},
    {"dim", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"ndimension", py_tensor_dim, METH_NOARGS, "number of dimensions"},
    {"numel", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"nelement", py_tensor_numel, METH_NOARGS, "number of elements"},
    {"storage_offset", py_tensor_storage_offset, METH_NOARGS, "of the first element, in elements"},
    {"data_ptr", py_tensor_data_ptr, METH_NOARGS, "address of the first element"},
    {"element_size", py_tensor_element_size, METH_NOARGS, "bytes of an element"},
    {"retain_grad", py_tensor_retain_grad, METH_NOARGS, "keeps .grad of a tensor that is no leaf"},
    {NULL, NULL, 0, NULL}};

/* id(self), as torch has it. */
static Py_hash_t py_tensor_hash(PyObject *self) { return (Py_hash_t)(uintptr_t)self; }

/* Makes the class of the slots that its files bring. */
PY_PRIV int py_tensor_begin(PyObject *module) {
    /* ended by a zero slot */
    PyType_Slot slots[64] = {{Py_tp_repr, (void *)py_tensor_repr},
                             {Py_tp_hash, (void *)py_tensor_hash},
                             {Py_tp_methods, py_tensor_methods},
                             {Py_tp_members, py_tensor_members},
                             {Py_tp_getset, py_tensor_attributes}};
    PyType_Spec spec = {"torch.Tensor", sizeof(py_tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    int n = 5;
    n += py_wrap_slots(slots + n);
    n += py_number_slots(slots + n);
    n += py_index_slots(slots + n);
    n += py_create_slots(slots + n);
    n += py_buffer_slots(slots + n);
    py.tensor = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.tensor ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)py.tensor) : -1;
}
