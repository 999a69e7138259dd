/* dlpack.c - tensors to and from other libraries without a copy: DLPack 1.1, and the older capsules
 * without a version (https://dmlc.github.io/dlpack/latest).
 *
 * What is given out holds the tensor, not its Python object; what is taken in is held until the
 * last tensor over it goes. CPU memory alone. */
#include "py.h"

/* --- the interface ---------------------------------------------------------------------------- */

typedef struct py_dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides NULL: row-major */
    uint64_t byte_offset;
} py_dl_tensor;

typedef struct py_dl_managed { /* "dltensor" */
    py_dl_tensor t;
    void *manager;
    void (*deleter)(struct py_dl_managed *);
} py_dl_managed;

typedef struct py_dl_versioned { /* "dltensor_versioned" */
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct py_dl_versioned *);
    uint64_t flags;
    py_dl_tensor t;
} py_dl_versioned;

enum { DL_CPU = 1, DL_CUDA = 2, DL_READ_ONLY = 1, DL_COPIED = 2, DL_MAJOR = 1, DL_MINOR = 1 };

#define DL_CODE(NAME, text, bytes, kind, alias, computes, loop, largest, digits, safetensors, \
                dlpack, buffer)                                                               \
    dlpack,
static const uint8_t py_dl_code[TN_DTYPE_COUNT] = {0, TN_DTYPES(DL_CODE)};
#undef DL_CODE

/* --- out -------------------------------------------------------------------------------------- */

/* A view for others, in one block with its shape and strides. */
typedef struct py_dl_out {
    py_dl_managed managed;
    py_dl_versioned versioned;
    tn_tensor *tensor; /* one count */
    int64_t sizes[2 * TN_MAX_DIMS];
} py_dl_out;

static void py_dl_out_free(void *at) {
    py_dl_out *out = (py_dl_out *)at;
    /* other libraries call deleters in any thread, with or without the GIL */
    PyGILState_STATE state = PyGILState_Ensure();
    tn_release(out->tensor);
    py_give(out);
    PyGILState_Release(state);
}
static void py_dl_managed_delete(py_dl_managed *m) { py_dl_out_free(m->manager); }
static void py_dl_versioned_delete(py_dl_versioned *m) { py_dl_out_free(m->manager); }

/* Nobody has taken what the capsule holds. */
static void py_dl_capsule_free(PyObject *capsule) {
    /* who takes the tensor renames the capsule, by the protocol */
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        py_dl_managed *m = (py_dl_managed *)PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        py_dl_versioned *m = (py_dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    }
}

/* The kind and number of t's device; false: DLPack has no kind for it. */
static bool py_dl_where(const tn_tensor *t, int *type, int *id) {
    const char *name = tn_device_name(tn_device_of(t));
    const bool cuda = !strncmp(name, "cuda:", 5);
    *type = cuda ? DL_CUDA : DL_CPU;
    *id = cuda ? (int)strtol(name + 5, NULL, 10) : 0;
    return (cuda || tn_device_of(t) == TN_CPU) && !tn_batch_depth(t);
}

/* Fills the description; false: in memory that DLPack does not know. sizes has room for shape and
 * strides. */
static bool py_dl_describe(py_dl_tensor *to, const tn_tensor *t, int64_t *sizes) {
    const int n = tn_ndim(t);
    const tn_dtype dtype = tn_dtype_of(t);
    int type, id;
    if (!py_dl_where(t, &type, &id)) return false;
    to->data = type == DL_CPU ? tn_data(t) : tn_device_data(t);
    to->device.type = type;
    to->device.id = id;
    to->ndim = n;
    to->dtype.code = py_dl_code[dtype];
    to->dtype.bits = (uint8_t)(8 * tn_dtype_bytes(dtype));
    /* a vector of one */
    to->dtype.lanes = 1;
    to->shape = sizes;
    to->strides = sizes + n;
    for (int i = 0; i < n; i++) {
        sizes[i] = tn_size(t, i);
        sizes[n + i] = tn_stride(t, i);
    }
    return true;
}

/* t as a capsule; takes the count. */
static PyObject *py_dl_give(tn_tensor *t, bool versioned, uint64_t flags) {
    py_dl_out *out = (py_dl_out *)py_get(1, sizeof *out);
    py_dl_tensor *to = !out ? NULL : versioned ? &out->versioned.t : &out->managed.t;
    if (!out || !py_dl_describe(to, t, out->sizes)) {
        if (!out)
            PyErr_NoMemory();
        else
            PyErr_Format(PyExc_BufferError, "DLPack does not support %s on %s",
                         tn_dtype_name(tn_dtype_of(t)), tn_device_name(tn_device_of(t)));
        py_give(out);
        return tn_release(t), NULL;
    }
    out->tensor = t;
    /* the deleters get the block by either struct */
    out->managed.manager = out->versioned.manager = out;
    out->managed.deleter = py_dl_managed_delete;
    out->versioned.deleter = py_dl_versioned_delete;
    out->versioned.version.major = DL_MAJOR;
    out->versioned.version.minor = DL_MINOR;
    out->versioned.flags = flags;
    PyObject *capsule =
        versioned ? PyCapsule_New(&out->versioned, "dltensor_versioned", py_dl_capsule_free)
                  : PyCapsule_New(&out->managed, "dltensor", py_dl_capsule_free);
    if (!capsule) py_dl_out_free(out);
    return capsule;
}

/* Reads the arguments of __dlpack__; false with an exception. *versioned: who asks knows
 * DLPack 1. */
static bool py_dl_asked(const tn_tensor *t, PyObject *stream, PyObject *version, PyObject *device,
                        bool *versioned) {
    int64_t n = -1;
    int type, id, major = 0, minor = 0, own, number;
    const bool known = py_dl_where(t, &own, &number);
    type = own;
    id = number;
    /* the array API: None or -1 for memory without streams */
    if (stream != Py_None && !PyLong_Check(stream)) {
        PyErr_SetString(PyExc_TypeError, "stream must be ``int`` or ``none``");
        return false;
    }
    if (known && own == DL_CPU && stream != Py_None && (!py_to_int(stream, &n) || n != -1)) {
        PyErr_SetString(PyExc_BufferError, "a CPU tensor has no stream: expected None or -1");
        return false;
    }
    if ((device != Py_None && !PyTuple_Check(device)) ||
        (version != Py_None && !PyTuple_Check(version))) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__: dl_device and max_version must be tuples");
        return false;
    }
    if (device != Py_None && !PyArg_ParseTuple(device, "ii", &type, &id)) return false;
    if (type != own || id != number) {
        PyErr_Format(PyExc_BufferError, "a %s tensor can be exported to %s memory only",
                     own == DL_CPU ? "CPU" : "CUDA", own == DL_CPU ? "CPU" : "its own");
        return false;
    }
    if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) return false;
    *versioned = major >= DL_MAJOR;
    return true;
}

/* x.__dlpack__(..): a new capsule. The consumer calls the deleter when it is done. */
static PyObject *py_dl_export(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    tn_tensor *t, *given;
    bool versioned = false;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", (char **)(uintptr_t)names,
                                     &stream, &version, &device, &copy) ||
        !py_dl_asked(py_of(self), stream, version, device, &versioned))
        return NULL;
    int copies = copy == Py_None ? 0 : PyObject_IsTrue(copy);
    if (copies < 0) return NULL;
    t = py_of(self);
    if (tn_needs_grad(t))
        return PyErr_Format(PyExc_BufferError, "Can't export tensors that require gradient, use "
                                               "tensor.detach()");
    /* the older capsules cannot say that memory is read-only */
    if (tn_is_read_only(t) && !copies && !versioned)
        return PyErr_Format(PyExc_BufferError, "read-only memory needs DLPack 1.0");
    /* a header without history: the capsule keeps the memory, and writes to it are
     * nobody's record */
    given = copies ? tnp_to_dtype(t, tn_dtype_of(t), false, true) : tnp_detach(t);
    if (!given) return py_raise();
    /* the consumer's stream knows nothing of what this one still computes */
    if (tn_device_of(given) != TN_META && !tnp_device_wait(tn_device_of(given)))
        return tn_free(given), py_raise();
    uint64_t flags = copies ? DL_COPIED : tn_is_read_only(t) ? DL_READ_ONLY : 0;
    return py_dl_give(tn_take(given), versioned, flags);
}

/* x.__dlpack_device__(): what kind of memory, before anything is exported. */
static PyObject *py_dl_device(PyObject *self, PyObject *unused) {
    int type, id;
    (void)unused;
    if (py_dl_where(py_of(self), &type, &id)) return Py_BuildValue("(ii)", type, id);
    return PyErr_Format(PyExc_ValueError, "Unknown device type %s for Dlpack",
                        tn_device_name(tn_device_of(py_of(self))));
}

/* --- in --------------------------------------------------------------------------------------- */

static void py_dl_managed_release(void *data, void *user) {
    py_dl_managed *m = (py_dl_managed *)user;
    /* the last tensor may end in any thread, and the deleter may run Python code */
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}
static void py_dl_versioned_release(void *data, void *user) {
    py_dl_versioned *m = (py_dl_versioned *)user;
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}

/* Whether the library has such tensors, and their dtype; false with an exception. */
static bool py_dl_fits(const py_dl_tensor *d, tn_dtype *dtype) {
    /* code, bits and lanes together are a dtype */
    int k = 1;
    while (k < TN_DTYPE_COUNT &&
           (py_dl_code[k] != d->dtype.code || 8 * tn_dtype_bytes((tn_dtype)k) != d->dtype.bits ||
            d->dtype.lanes != 1))
        k++;
    if (d->device.type != DL_CPU)
        PyErr_Format(PyExc_BufferError, "DLPack: expected the CPU, got device type %d",
                     (int)d->device.type);
    else if (k == TN_DTYPE_COUNT)
        PyErr_Format(PyExc_BufferError,
                     "DLPack: code %d with %d bits and %d lanes is not supported",
                     (int)d->dtype.code, (int)d->dtype.bits, (int)d->dtype.lanes);
    else if (d->ndim < 0 || d->ndim > TN_MAX_DIMS)
        PyErr_Format(PyExc_BufferError, "DLPack: %d dimensions", (int)d->ndim);
    for (int32_t i = 0; !PyErr_Occurred() && d->strides && i < d->ndim; i++)
        if (d->strides[i] < 0 && d->shape[i] > 1)
            PyErr_Format(PyExc_BufferError, "DLPack: tensors with negative strides are not "
                                            "supported. Copy the array first");
    if (PyErr_Occurred()) return false;
    *dtype = (tn_dtype)k;
    return true;
}

/* A tensor over foreign memory, which `release` gives back with its last view. NULL with an
 * exception, and the memory stays the capsule's. */
static tn_tensor *py_dl_wrap(const py_dl_tensor *d, bool read_only, void (*release)(void *, void *),
                             void *managed) {
    static char none[16];
    int64_t strides[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype;
    if (!py_dl_fits(d, &dtype)) return NULL;
    memset(&o, 0, sizeof o);
    if (d->strides && d->ndim) {
        /* a negative stride of a dimension of 1 is never used */
        for (int32_t i = 0; i < d->ndim; i++) strides[i] = d->strides[i] < 0 ? 1 : d->strides[i];
        o.strides = tn_ints_of(strides, d->ndim);
    }
    o.release = release;
    o.user = managed;
    o.read_only = read_only;
    void *data = d->data ? (char *)d->data + d->byte_offset : none;
    tn_tensor *t = tn_wrap_at(NULL, 0, data, tn_ints_of(d->shape, d->ndim), dtype, &o);
    if (!t) py_raise();
    return t;
}

/* The capsule's tensor, which it has no more then. */
static PyObject *py_dl_take(PyObject *capsule) {
    tn_tensor *t = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        py_dl_versioned *v = (py_dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->version.major > DL_MAJOR)
            return PyErr_Format(PyExc_BufferError, "DLPack version %d is not supported",
                                (int)v->version.major);
        t = py_dl_wrap(&v->t, (v->flags & DL_READ_ONLY) != 0, py_dl_versioned_release, v);
        /* consumed, by the protocol; its destructor frees nothing then */
        if (t) PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        py_dl_managed *m = (py_dl_managed *)PyCapsule_GetPointer(capsule, "dltensor");
        t = py_dl_wrap(&m->t, false, py_dl_managed_release, m);
        if (t) PyCapsule_SetName(capsule, "used_dltensor");
    } else {
        return PyErr_Format(PyExc_RuntimeError,
                            "from_dlpack received an invalid capsule. Note that DLTensor "
                            "capsules can be consumed only once, so you might have already "
                            "constructed a tensor from it once.");
    }
    return t ? py_wrap(tn_take(t)) : NULL;
}

/* o.__dlpack__, with a version where it knows of them. */
static PyObject *py_dl_ask(PyObject *o, PyObject *copy) {
    PyObject *f = PyObject_GetAttrString(o, "__dlpack__"), *none = f ? PyTuple_New(0) : NULL;
    PyObject *words = none ? Py_BuildValue("{s(ii)}", "max_version", DL_MAJOR, DL_MINOR) : NULL;
    if (words && copy != Py_None && PyDict_SetItemString(words, "copy", copy)) Py_CLEAR(words);
    PyObject *capsule = words ? PyObject_Call(f, none, words) : NULL;
    /* before version 1 __dlpack__ took no max_version */
    if (words && !capsule && copy == Py_None && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallObject(f, none);
    }
    Py_XDECREF(f);
    Py_XDECREF(none);
    Py_XDECREF(words);
    return capsule;
}

/* torch.from_dlpack(o): of an object with __dlpack__, or of a capsule. */
static PyObject *py_dl_import(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"", "device", "copy", NULL};
    PyObject *o, *device = Py_None, *copy = Py_None, *r;
    tn_device_id id = TN_CPU;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OO:from_dlpack", (char **)(uintptr_t)names,
                                     &o, &device, &copy))
        return NULL;
    if (device != Py_None && !py_to_device(device, &id))
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "from_dlpack(): argument 'device' "
                                                                "must be torch.device");
    /* the device argument asks where the result shall be */
    if (id != TN_CPU)
        return PyErr_Format(PyExc_BufferError, "from_dlpack: only the CPU is supported");
    if (PyCapsule_CheckExact(o)) return py_dl_take(o);
    PyObject *capsule = py_dl_ask(o, copy);
    if (!capsule) return NULL;
    r = py_dl_take(capsule);
    Py_DECREF(capsule);
    return r;
}

/* torch.to_dlpack(x), the older function. */
static PyObject *py_dl_to(PyObject *self, PyObject *o) {
    (void)self;
    if (!py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "to_dlpack(): argument must be Tensor, not %R",
                            Py_TYPE(o));
    PyObject *none = PyTuple_New(0), *r = none ? py_dl_export(o, none, NULL) : NULL;
    Py_XDECREF(none);
    return r;
}

static PyMethodDef py_dl_functions[] = {
    {"from_dlpack", (PyCFunction)(void *)py_dl_import, METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(ext_tensor, *, device=None, copy=None): a tensor over memory of another library"},
    {"to_dlpack", py_dl_to, METH_O, "a capsule of DLPack without a version"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_dl_methods[] = {
    {"__dlpack__", (PyCFunction)(void *)py_dl_export, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): a capsule"},
    {"__dlpack_device__", py_dl_device, METH_NOARGS, "(device type, number)"}};

PY_PRIV int py_dlpack_begin(PyObject *module) {
    for (size_t i = 0; i < sizeof py_dl_methods / sizeof py_dl_methods[0]; i++) {
        PyObject *m = PyDescr_NewMethod(py.tensor, &py_dl_methods[i]);
        int bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, py_dl_methods[i].ml_name, m);
        Py_XDECREF(m);
        if (bad) return -1;
    }
    return PyModule_AddFunctions(module, py_dl_functions);
}
