/* buffer.c - memory shared by the buffer protocol: that of other objects (NumPy) as a tensor, and
 * that of a tensor for other objects.
 *
 * A buffer is shared, not copied, where the function says so: the tensor holds it until the last
 * tensor over it goes. */
#include "py.h"

/* A tensor is exported with its dtype's first format. Of the two C types of 64 bits it is that of
 * np.int64: NumPy prints the other one with its name. */
#if LONG_MAX > INT32_MAX
#define BUFFER_I64 "l"
#define BUFFER_U64 "L"
#else
#define BUFFER_I64 "q"
#define BUFFER_U64 "Q"
#endif
static const struct {
    const char *format; /* "": none */
    tn_dtype dtype;
} py_buffer_formats[] = {{BUFFER_I64, TN_I64},
                         {BUFFER_U64, TN_U64},
#define BUFFER_FORMAT(NAME, text, bytes, kind, alias, computes, loop, largest, digits, \
                      safetensors, dlpack, buffer)                                     \
    {buffer, TN_##NAME},
                         TN_DTYPES(BUFFER_FORMAT)
#undef BUFFER_FORMAT
                             {"l", TN_I64},
                         {"L", TN_U64},
                         {"c", TN_U8}};
enum { BUFFER_FORMATS = sizeof py_buffer_formats / sizeof py_buffer_formats[0] };

/* The dtype of a format of the struct module; TN_NO_DTYPE: none has it, or its bytes are in
 * another order. */
static tn_dtype py_buffer_dtype(const Py_buffer *v) {
    const char *f = v->format ? v->format : "B";
    /* prefixes of native byte order; sizes are compared below */
    if (*f == '@' || *f == '=' || (*f == '<' && PY_LITTLE_ENDIAN)) f++;
    for (int i = 0; *f && i < BUFFER_FORMATS; i++) {
        tn_dtype d = py_buffer_formats[i].dtype;
        bool sized = tn_dtype_bytes(d) == v->itemsize;
        /* "l" has 4 bytes with standard sizes */
        if (strcmp(f, py_buffer_formats[i].format) == 0)
            return sized ? d : v->itemsize == 4 ? (*f == 'l' ? TN_I32 : TN_U32) : TN_NO_DTYPE;
    }
    return TN_NO_DTYPE;
}

/* Its shape and strides in elements; false with an exception. */
static bool py_buffer_layout(const Py_buffer *v, int64_t *size, int64_t *stride) {
    if (v->ndim > TN_MAX_DIMS) return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
    for (int i = 0; i < v->ndim; i++) {
        size[i] = v->shape[i];
        /* strides of the protocol are bytes, the library's are elements */
        stride[i] = v->strides[i] / v->itemsize;
        if (v->strides[i] % v->itemsize) {
            PyErr_Format(PyExc_ValueError, "given numpy array strides not a multiple of the "
                                           "element byte size. Copy array first");
            return false;
        }
        if (v->strides[i] < 0) {
            PyErr_Format(PyExc_ValueError,
                         "At least one stride in the given numpy array is negative, and tensors "
                         "with negative strides are not supported. (You can probably work around "
                         "this by making a copy of your array with array.copy().)");
            return false;
        }
    }
    return true;
}

/* A tensor over the buffer v, which it releases with its last view. NULL with an exception; v is
 * the caller's then. */
static tn_tensor *py_buffer_tensor(Py_buffer *v) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype = py_buffer_dtype(v);
    memset(&o, 0, sizeof o);
    /* torch's message for an array of the other byte order */
    if (dtype == TN_NO_DTYPE && v->format && *v->format == (PY_LITTLE_ENDIAN ? '>' : '<')) {
        PyErr_Format(PyExc_ValueError,
                     "given numpy array has byte order different from the native byte order. "
                     "Conversion between byte orders is currently not supported.");
        return NULL;
    }
    if (dtype == TN_NO_DTYPE) {
        PyErr_Format(PyExc_TypeError, "can't convert a buffer of format '%s' to a tensor",
                     v->format ? v->format : "");
        return NULL;
    }
    if (!py_buffer_layout(v, size, stride)) return NULL;
    o.strides = tn_ints_of(stride, v->ndim);
    /* owns v and the reference to the object in it */
    o.release = py_own_buffer_end;
    o.user = v;
    o.read_only = v->readonly != 0;
    tn_tensor *t = tn_wrap_at(NULL, 0, v->buf, tn_ints_of(size, v->ndim), dtype, &o);
    if (!t) py_raise();
    return t;
}

PY_PRIV PyObject *py_from_buffer(PyObject *o, bool may_copy) {
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, v, PyBUF_RECORDS_RO)) { /* no pointers to rows */
        py_give(v);
        if (PyErr_ExceptionMatches(PyExc_ValueError)) /* NumPy has no format for the dtype */
            PyErr_Format(PyExc_TypeError, "can't convert a %R of this dtype to a tensor",
                         Py_TYPE(o));
        return NULL;
    }
    if (v->ndim && (!v->shape || !v->strides)) { /* numpy.datetime64 gives none */
        PyBuffer_Release(v);
        py_give(v);
        return PyErr_Format(PyExc_TypeError, "can't convert a %R to a tensor", Py_TYPE(o));
    }
    /* memory that is not aligned is undefined to read in C */
    bool odd = v->itemsize > 1 && (uintptr_t)v->buf % (uintptr_t)v->itemsize;
    for (int i = 0; i < v->ndim; i++) odd = odd || v->strides[i] < 0;
    if (odd && may_copy && PyObject_HasAttrString(o, "copy")) { /* NumPy: forwards, aligned */
        PyBuffer_Release(v);
        py_give(v);
        PyObject *copy = PyObject_CallMethod(o, "copy", NULL);
        PyObject *r = copy ? py_from_buffer(copy, false) : NULL;
        Py_XDECREF(copy);
        return r;
    }
    tn_tensor *t = py_buffer_tensor(v);
    if (t) return py_wrap(tn_take(t));
    PyBuffer_Release(v);
    py_give(v);
    return NULL;
}

/* --- a tensor as a buffer --------------------------------------------------------------------- */

/* The shape and strides of an exported buffer, and its tensor, because self may have another one
 * by then. */
typedef struct py_buffer_given {
    tn_tensor *tensor;
    Py_ssize_t room[2 * TN_MAX_DIMS];
} py_buffer_given;

/* Whether the strides are in an order that the flags of a request allow. */
static bool py_buffer_ordered(const tn_tensor *t, int flags) {
    bool rows = tn_is_contiguous(t), columns = true;
    int64_t step = 1;
    for (int i = 0; i < tn_ndim(t); i++) {
        columns = columns && (tn_size(t, i) == 1 || tn_stride(t, i) == step);
        step *= tn_size(t, i);
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) return rows;
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) return rows;
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) return columns;
    return (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS || rows || columns;
}

/* The number of the format that t is given in; -1 with an exception: it is not as asked for. */
static int py_buffer_format(const tn_tensor *t, int flags) {
    int k = 0;
    const tn_dtype dtype = tn_dtype_of(t);
    while (py_buffer_formats[k].dtype != dtype) k++;
    const bool none = !*py_buffer_formats[k].format;
    if (none || !py_on_cpu(t) || tn_needs_grad(t)) {
        if (none)
            PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", tn_dtype_name(dtype));
        else
            PyErr_SetString(PyExc_BufferError,
                            "the tensor requires grad, is not on the CPU, or a sample of a batch");
        return -1;
    }
    if (flags & PyBUF_WRITABLE && tn_is_read_only(t)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is on read-only memory");
        return -1;
    }
    if (!py_buffer_ordered(t, flags)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    return k;
}

/* bf_getbuffer: 0, or -1 with an exception. The block in view->internal lives until the release. */
static int py_buffer_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t), k = py_buffer_format(t, flags);
    /* PEP 3118: NULL before any failure */
    view->obj = NULL;
    if (k < 0) return -1;
    py_buffer_given *given = (py_buffer_given *)py_get(1, sizeof *given);
    if (!given) return PyErr_NoMemory(), -1;
    Py_ssize_t *room = given->room;
    /* a view of its own: it keeps the memory, not the Python object */
    given->tensor = tn_take(tnp_detach(t)); /* t.data may be replaced */
    if (!given->tensor) return py_give(given), py_raise(), -1;
    view->itemsize = tn_dtype_bytes(tn_dtype_of(t));
    for (int i = 0; i < n; i++) {
        room[i] = (Py_ssize_t)tn_size(t, i);
        room[n + i] = (Py_ssize_t)tn_stride(t, i) * view->itemsize;
    }
    static char none[16];
    view->buf = tn_numel(t) ? tn_data(t) : none;
    view->len = (Py_ssize_t)tn_numel(t) * view->itemsize;
    view->readonly = tn_is_read_only(t);
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)py_buffer_formats[k].format : NULL;
    view->ndim = flags & PyBUF_ND ? n : 1;
    view->shape = flags & PyBUF_ND ? room : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? room + n : NULL;
    view->suboffsets = NULL;
    /* for py_buffer_releasebuffer; view->obj is the count that PyBuffer_Release drops */
    view->internal = given;
    view->obj = Py_NewRef(self);
    return 0;
}

/* bf_releasebuffer. CPython drops view->obj itself. */
static void py_buffer_releasebuffer(PyObject *self, Py_buffer *view) {
    py_buffer_given *given = (py_buffer_given *)view->internal;
    (void)self;
    tn_release(given->tensor);
    py_give(given);
}

/* --- functions -------------------------------------------------------------------------------- */

/* torch.from_numpy: shares the array's memory, or refuses. */
static PyObject *py_buffer_from_numpy(PyObject *self, PyObject *o) {
    (void)self;
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o) || py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %R)", Py_TYPE(o));
    return py_from_buffer(o, false);
}

/* Bytes of any kind as elements of a dtype, from `offset` bytes on. */
static tn_tensor *py_buffer_over(Py_buffer *v, tn_dtype dtype, long long count, long long offset) {
    /* checked by division: the product of count and size may wrap */
    long long each = tn_dtype_bytes(dtype), left = offset < 0 ? -1 : (long long)v->len - offset;
    tn_wrap_options o;
    if (v->len <= 0 || count == 0)
        PyErr_Format(PyExc_ValueError, "both buffer length (%zd) and count (%lld) must not be 0",
                     v->len, count);
    else if (left <= 0)
        PyErr_Format(PyExc_ValueError,
                     "offset (%lld bytes) must be non-negative and no greater "
                     "than buffer length (%zd bytes) minus 1",
                     offset, v->len);
    else if (count < 0 && left % each)
        PyErr_Format(PyExc_ValueError,
                     "buffer length (%lld bytes) after offset (%lld bytes) must "
                     "be a multiple of element size (%lld)",
                     left, offset, each);
    else if (count > left / each)
        PyErr_Format(PyExc_ValueError,
                     "requested buffer length (%lld * %lld bytes) after offset "
                     "(%lld bytes) must not be greater than actual buffer "
                     "length (%zd bytes)",
                     count, each, offset, v->len);
    if (PyErr_Occurred()) return NULL;
    const int64_t size[1] = {count < 0 ? left / each : count};
    memset(&o, 0, sizeof o);
    o.release = py_own_buffer_end;
    o.user = v;
    o.read_only = v->readonly != 0;
    tn_tensor *t = tn_wrap_at(NULL, 0, (char *)v->buf + offset, tn_ints_of(size, 1), dtype, &o);
    if (!t) py_raise();
    return t;
}

/* torch.frombuffer: any object with the buffer protocol, read as elements of dtype. */
static PyObject *py_buffer_frombuffer(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"buffer", "dtype", "count", "offset", "requires_grad", NULL};
    PyObject *from, *dtype = NULL;
    long long count = -1, offset = 0;
    tn_dtype of;
    int grad = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O!LLp:frombuffer", (char **)(uintptr_t)names,
                                     &from, py.dtype, &dtype, &count, &offset, &grad))
        return NULL;
    if (!dtype)
        return PyErr_Format(PyExc_TypeError,
                            "frombuffer() missing 1 required positional arguments: \"dtype\"");
    if (!py_to_dtype(dtype, &of)) return NULL;
    if (!PyObject_CheckBuffer(from) || py_is_tensor(from))
        return PyErr_Format(PyExc_ValueError, "object does not implement Python buffer protocol.");
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    /* PyBUF_SIMPLE: contiguous bytes; who has none raises */
    if (PyObject_GetBuffer(from, v, PyBUF_SIMPLE)) return py_give(v), NULL;
    tn_tensor *t = py_buffer_over(v, of, count, offset);
    /* not taken: released here */
    if (!t) {
        PyBuffer_Release(v);
        return py_give(v), NULL;
    }
    PyObject *o = py_wrap(tn_take(t));
    if (o && grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
}

static PyMethodDef py_buffer_functions[] = {
    {"from_numpy", py_buffer_from_numpy, METH_O, "a tensor over the memory of an array"},
    {"frombuffer", (PyCFunction)(void *)py_buffer_frombuffer, METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): over its memory"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_buffers_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_buffer_functions);
}

PY_PRIV int py_buffer_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_bf_getbuffer, (void *)py_buffer_getbuffer},
                                 {Py_bf_releasebuffer, (void *)py_buffer_releasebuffer}};
    memcpy(to, slots, sizeof slots);
    return 2;
}
