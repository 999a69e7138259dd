/* create.c - tensors from Python's data: nested sequences, numbers, buffers (NumPy); and back:
 * lists, the buffer protocol.
 *
 * A buffer is shared, not copied, where the function says so: the tensor holds it until the last
 * tensor over it goes. */
#include "py.h"

/* --- nested sequences ------------------------------------------------------------------------- */

/* A list of lists of numbers being read: its shape, and the widest kind of number in it. */
typedef struct py_nested {
    int ndim;
    int64_t size[TN_MAX_DIMS], numel;
    int kind;       /* TN_KIND_* of the widest */
    int numbers;    /* of the widest that is a Python number; 0: none */
    tn_dtype dtype; /* of members that are tensors or arrays; TN_NO_DTYPE: none */
    tn_dtype asked; /* for the result; TN_NO_DTYPE: what the members are */
    bool big;       /* some int has more than 64 bits with its sign */
    int64_t written;
    char *to; /* elements of the staging dtype */
} py_nested;

/* A bytearray is a list of ints, as torch has it; other buffers are arrays. */
static bool py_nested_is_list(PyObject *o) {
    return (PyList_Check(o) || PyTuple_Check(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o))) &&
           !py_is_tensor(o) && (!PyObject_CheckBuffer(o) || PyByteArray_Check(o));
}

/* A member that is a tensor or an array, as a tensor; NULL: neither (or an exception). */
static PyObject *py_nested_array(PyObject *o) {
    if (py_is_tensor(o)) return Py_NewRef(o);
    if (PyFloat_CheckExact(o) || PyLong_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
        !PyObject_CheckBuffer(o))
        return NULL;
    return py_from_buffer(o, true);
}

static bool py_nested_shape(py_nested *n, PyObject *o) {
    Py_INCREF(o);
    while (py_nested_is_list(o)) {
        Py_ssize_t size = PySequence_Size(o);
        if (size < 0 || n->ndim == TN_MAX_DIMS) {
            Py_DECREF(o);
            if (size >= 0) PyErr_Format(PyExc_ValueError, "too many dimensions");
            return false;
        }
        n->size[n->ndim++] = size;
        PyObject *first = size ? PySequence_GetItem(o, 0) : NULL;
        Py_DECREF(o);
        if (!size) return true;
        if (!(o = first)) return false;
    }
    PyObject *array = py_is_tensor(o) ? NULL : py_nested_array(o);
    for (int i = 0; array && i < tn_ndim(py_of(array)); i++) {
        if (n->ndim == TN_MAX_DIMS) {
            Py_DECREF(array), Py_DECREF(o);
            return PyErr_Format(PyExc_ValueError, "too many dimensions"), false;
        }
        n->size[n->ndim++] = tn_size(py_of(array), i);
    }
    if (n->ndim && PyUnicode_Check(o))
        PyErr_Format(PyExc_ValueError, "too many dimensions 'str'");
    else if (!array && (PyUnicode_Check(o) || PyBytes_Check(o)))
        PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'",
                     PyBytes_Check(o) ? "bytes" : "str");
    Py_XDECREF(array);
    Py_DECREF(o);
    return !PyErr_Occurred();
}

static bool py_nested_misfit(const py_nested *n, int dim, Py_ssize_t size) {
    if (size < 0)
        PyErr_Format(PyExc_TypeError, "not a sequence at dim %d", dim);
    else
        PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                     (long long)n->size[dim], dim, size);
    return false;
}

static void py_nested_put(py_nested *n, tn_scalar s) {
    double d[2] = {s.kind >= TN_KIND_FLOAT ? s.real : (double)s.integer,
                   s.kind == TN_KIND_COMPLEX ? s.imaginary : 0};
    switch (n->kind) {
    case TN_KIND_BOOL: n->to[n->written] = s.integer != 0; break;
    case TN_KIND_INT: memcpy(n->to + 8 * n->written, &s.integer, 8); break;
    case TN_KIND_FLOAT: memcpy(n->to + 8 * n->written, d, 8); break;
    default: memcpy(n->to + 16 * n->written, d, 16); break;
    }
    n->written++;
}

/* A tensor of one element also stands for its number. */
static bool py_nested_array_walk(py_nested *n, PyObject *array, int dim, bool number) {
    tn_tensor *t = py_of(array), *flat;
    bool fits = tn_ndim(t) == n->ndim - dim;
    for (int i = dim; fits && i < n->ndim; i++) fits = tn_size(t, i - dim) == n->size[i];
    if (number && dim == n->ndim && !(fits = tn_numel(t) == 1)) {
        PyErr_Format(PyExc_ValueError,
                     "only one element tensors can be converted to Python scalars");
        return false;
    }
    if (!fits) return py_nested_misfit(n, dim, tn_ndim(t) ? (Py_ssize_t)tn_size(t, 0) : -1);
    if (!n->to) {
        tn_dtype d = tn_dtype_of(t);
        tn_scalar kind = tn_numel(t) ? tn_none() : tn_float(0);
        n->dtype = n->dtype ? tn_promote(n->dtype, d) : d;
        kind.kind = py_dtype_kind(d);
        if (kind.kind > n->kind) n->kind = kind.kind;
        return true;
    }
    flat = tnp_reshape(t, TN_DIMS(-1));
    for (int64_t i = 0; flat && i < tn_numel(t); i++) {
        tn_tensor *one = tnp_select(flat, 0, i);
        py_nested_put(n, tnp_item_scalar(one));
        tn_free(one);
    }
    tn_free(flat);
    return tn_ok() || (py_raise(), false);
}

static void py_nested_unknown(PyObject *o) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    bool text = PyUnicode_Check(o) || PyBytes_Check(o);
    if (name && text) PyErr_Format(PyExc_TypeError, "new(): invalid data type '%U'", name);
    if (name && !text) PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %U", name);
    Py_XDECREF(name);
}

/* A member that is a number. One beyond int64 fits uint64 or a list of floats. */
static bool py_nested_number(py_nested *n, PyObject *o, tn_scalar *s) {
    if (py_to_scalar(o, s)) {
        if (!n->to || n->asked != TN_U64 || s->kind != TN_KIND_INT || s->integer >= 0) return true;
        PyErr_SetString(PyExc_OverflowError, "can't convert negative int to unsigned");
        return false;
    }
    if (!PyErr_Occurred()) return py_nested_unknown(o), false;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError) || !PyLong_Check(o)) return false;
    PyErr_Clear();
    n->big = true;
    *s = tn_int(1);
    if (!n->to || n->asked == TN_BOOL) return true;
    if (n->kind >= TN_KIND_FLOAT)
        *s = tn_float(PyLong_AsDouble(o));
    else if (n->asked == TN_U64)
        s->integer = (int64_t)PyLong_AsUnsignedLongLong(o);
    else
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return !PyErr_Occurred();
}

/* Twice over all members: to learn the kind (to is NULL), and to write. */
static bool py_nested_walk(py_nested *n, PyObject *o, int dim) {
    tn_scalar s;
    if (py_nested_is_list(o)) {
        Py_ssize_t size = PySequence_Size(o);
        if (size < 0) return false;
        if (dim >= n->ndim || size != n->size[dim])
            return dim >= n->ndim ? (PyErr_Format(PyExc_ValueError,
                                                  "only one element tensors can be converted to "
                                                  "Python scalars"),
                                     false)
                                  : py_nested_misfit(n, dim, size);
        for (Py_ssize_t i = 0; i < size; i++) {
            PyObject *member = PySequence_GetItem(o, i);
            bool ok = member && py_nested_walk(n, member, dim + 1);
            Py_XDECREF(member);
            if (!ok) return false;
        }
        return true;
    }
    PyObject *array = py_nested_array(o);
    if (array) {
        bool ok = py_nested_array_walk(n, array, dim, py_is_tensor(o));
        Py_DECREF(array);
        return ok;
    }
    if (PyErr_Occurred()) return false;
    if (dim != n->ndim) return py_nested_misfit(n, dim, -1);
    if (!py_nested_number(n, o, &s)) return false;
    if (!n->to && s.kind > n->kind) n->kind = s.kind;
    if (!n->to && s.kind > n->numbers) n->numbers = s.kind;
    if (n->to) py_nested_put(n, s);
    return true;
}

/* What all members promote to; the default dtype, where there are none. */
static tn_dtype py_nested_dtype(const py_nested *n) {
    bool wide = tn_default_dtype() == TN_F64;
    tn_dtype own = n->numbers == TN_KIND_BOOL      ? TN_BOOL
                   : n->numbers == TN_KIND_INT     ? TN_I64
                   : n->numbers == TN_KIND_COMPLEX ? (wide ? TN_C128 : TN_C64)
                                                   : tn_default_dtype();
    if (!n->dtype) return own;
    return n->numbers ? tn_promote(n->dtype, own) : n->dtype;
}

/* Whether number i fits an integer dtype. Unsigned dtypes compare the magnitude, as torch does. */
static bool py_nested_fits_integer(const py_nested *n, int64_t i, int bits, bool whole) {
    if (n->kind == TN_KIND_FLOAT) {
        double v, top = ldexp(1, bits - (whole ? 0 : 1));
        memcpy(&v, n->to + 8 * i, sizeof v);
        return v >= (whole ? 0 : -top) && v < top;
    }
    int64_t v, most = INT64_MAX;
    if (bits < 64) most = (int64_t)(((uint64_t)1 << (bits - (whole ? 0 : 1))) - 1);
    memcpy(&v, n->to + 8 * i, sizeof v);
    return bits == 64 || (v >= -most - (whole ? 0 : 1) && v <= most);
}

/* Whether the numbers are some of dtype; no complex ones as real. */
static bool py_nested_fits(const py_nested *n, tn_dtype dtype) {
    if (n->kind == TN_KIND_COMPLEX && dtype && !py_dtype_is_complex(dtype)) {
        PyErr_SetString(PyExc_TypeError, "must be real number, not complex");
        return false;
    }
    if (!dtype || (n->kind != TN_KIND_INT && n->kind != TN_KIND_FLOAT) || dtype == TN_BOOL ||
        py_dtype_is_float(dtype) || py_dtype_is_complex(dtype))
        return true;
    const bool whole = tni_dtype_kind(dtype) == 'u';
    for (int64_t i = 0; i < n->written; i++) {
        if (py_nested_fits_integer(n, i, 8 * tn_dtype_bytes(dtype), whole)) continue;
        PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow",
                     tn_dtype_name(dtype));
        return false;
    }
    return true;
}

/* The dtype that numbers of a TN_KIND_ are read in. */
static tn_dtype py_nested_staging(int kind) {
    switch (kind) {
    case TN_KIND_BOOL: return TN_BOOL;
    case TN_KIND_INT: return TN_I64;
    case TN_KIND_COMPLEX: return TN_C128;
    default: return TN_F64;
    }
}

/* A new tensor of Python's numbers; dtype TN_NO_DTYPE: theirs. */
static tn_tensor *py_create_nested(PyObject *o, tn_dtype dtype) {
    py_nested n;
    memset(&n, 0, sizeof n);
    n.numel = 1;
    if (!py_nested_shape(&n, o) || !py_nested_walk(&n, o, 0)) return NULL;
    if (n.dtype && n.dtype >= TN_C64 && n.dtype <= TN_C128) n.kind = TN_KIND_COMPLEX;
    n.asked = dtype ? dtype : py_nested_dtype(&n);
    if (n.big && py_dtype_kind(n.asked) > n.kind) n.kind = py_dtype_kind(n.asked);
    tn_tensor *t = tnp_empty(tn_ints_of(n.size, n.ndim), py_nested_staging(n.kind), TN_NO_DEVICE),
              *as;
    if (!t) return NULL;
    static char none[16];
    n.to = tn_numel(t) ? (char *)tn_data(t) : none;
    bool ok = py_nested_walk(&n, o, 0);
    if (ok && n.written != tn_numel(t))
        PyErr_SetString(PyExc_RuntimeError, "the sequence changed while being read");
    if (!ok || PyErr_Occurred() || !py_nested_fits(&n, dtype)) return tn_free(t), NULL;
    tn_touch(t);
    as = tnp_to_dtype(t, n.asked, false, false);
    tn_free(t);
    return as;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* The first format of a dtype is the one that is given: of two types of 64 bits that which is
 * np.int64, as NumPy prints the other with its name. */
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

static tn_dtype py_buffer_dtype(const Py_buffer *v) {
    const char *f = v->format ? v->format : "B";
    if (*f == '@' || *f == '=' || (*f == '<' && PY_LITTLE_ENDIAN)) f++;
    for (int i = 0; *f && i < BUFFER_FORMATS; i++) {
        tn_dtype d = py_buffer_formats[i].dtype;
        bool sized = tn_dtype_bytes(d) == v->itemsize;
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

static tn_tensor *py_buffer_tensor(Py_buffer *v) {
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_wrap_options o;
    tn_dtype dtype = py_buffer_dtype(v);
    memset(&o, 0, sizeof o);
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
    if (t) return py_wrap(tn_own(t));
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
static bool py_create_ordered(const tn_tensor *t, int flags) {
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
static int py_create_format(const tn_tensor *t, int flags) {
    int k = 0;
    const tn_dtype dtype = tn_dtype_of(t);
    while (py_buffer_formats[k].dtype != dtype) k++;
    const bool none = !*py_buffer_formats[k].format;
    if (none || tn_device_of(t) != TN_CPU || tn_needs_grad(t)) {
        if (none)
            PyErr_Format(PyExc_TypeError, "Got unsupported ScalarType %s", tn_dtype_name(dtype));
        else
            PyErr_SetString(PyExc_BufferError, "the tensor requires grad, or is not on the CPU");
        return -1;
    }
    if (flags & PyBUF_WRITABLE && tn_is_read_only(t)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is on read-only memory");
        return -1;
    }
    if (!py_create_ordered(t, flags)) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    return k;
}

static int py_create_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    tn_tensor *t = py_of(self);
    int n = tn_ndim(t), k = py_create_format(t, flags);
    view->obj = NULL;
    if (k < 0) return -1;
    py_buffer_given *given = (py_buffer_given *)py_get(1, sizeof *given);
    if (!given) return PyErr_NoMemory(), -1;
    Py_ssize_t *room = given->room;
    given->tensor = tn_own(tnp_detach(t)); /* t.data may be replaced */
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
    view->internal = given;
    view->obj = Py_NewRef(self);
    return 0;
}

static void py_create_releasebuffer(PyObject *self, Py_buffer *view) {
    py_buffer_given *given = (py_buffer_given *)view->internal;
    (void)self;
    tn_release(given->tensor);
    py_give(given);
}

/* --- functions -------------------------------------------------------------------------------- */

/* Keywords of tensor() and as_tensor(). */
typedef struct py_making {
    PyObject *data;
    tn_dtype dtype;
    tn_device_id device;
    int requires_grad;
} py_making;

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
        PyErr_Format(PyExc_TypeError, "tensor(): argument 'dtype' must be torch.dtype, not %R",
                     Py_TYPE(dtype));
        return false;
    }
    if (device != Py_None && !py_to_device(device, &m->device)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "tensor(): argument 'device' must be torch.device");
        return false;
    }
    if (device == Py_None && (m->device = py_default_device()) && py_here_is_ours())
        m->device = TN_NO_DEVICE;
    return true;
}

/* The conversion that m asks for, or a new reference to the tensor itself if nothing changes. */
static PyObject *py_making_finish(const py_making *m, PyObject *o, bool copy) {
    tn_tensor *t = py_of(o);
    tn_dtype dtype = m->dtype ? m->dtype : tn_dtype_of(t);
    if (!copy && dtype == tn_dtype_of(t) && (!m->device || m->device == tn_device_of(t))) return o;
    tn_tensor *detached = copy ? tnp_detach(t) : NULL;
    tn_tensor *r = m->device ? tnp_to(copy ? detached : t, m->device, dtype, false, copy)
                             : tnp_to_dtype(copy ? detached : t, dtype, false, copy);
    if (detached) tn_free(detached);
    Py_DECREF(o);
    PyObject *made = r ? py_wrap(tn_own(r)) : py_raise();
    if (made && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(made), true)) {
        Py_DECREF(made);
        return py_raise();
    }
    return made;
}

static PyObject *py_making_of_numbers(const py_making *m) {
    tn_tensor *t = py_create_nested(m->data, m->dtype);
    if (!t) return py_raise();
    PyObject *o = py_wrap(tn_own(t));
    if (o && m->device) {
        py_making plain = *m;
        plain.dtype = TN_NO_DTYPE;
        o = py_making_finish(&plain, o, false);
    }
    if (o && m->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
}

static PyObject *py_create_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|$OOpp:tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (array) return py_making_finish(&m, array, true);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

static PyObject *py_create_as_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_making m;
    (void)self;
    if (!py_making_parse(&m, args, kwargs, "O|OOpp:as_tensor")) return NULL;
    PyObject *array = py_nested_array(m.data);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

static PyObject *py_create_from_numpy(PyObject *self, PyObject *o) {
    (void)self;
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o) || py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %R)", Py_TYPE(o));
    return py_from_buffer(o, false);
}

/* Bytes of any kind as elements of a dtype, from `offset` bytes on. */
static tn_tensor *py_create_over(Py_buffer *v, tn_dtype dtype, long long count, long long offset) {
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

static PyObject *py_create_frombuffer(PyObject *self, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"buffer", "dtype", "count", "offset", "requires_grad", NULL};
    PyObject *from, *dtype = NULL;
    long long count = -1, offset = 0;
    int grad = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O!LLp:frombuffer", (char **)(uintptr_t)names,
                                     &from, py.dtype, &dtype, &count, &offset, &grad))
        return NULL;
    if (!dtype)
        return PyErr_Format(PyExc_TypeError,
                            "frombuffer() missing 1 required positional arguments: \"dtype\"");
    if (!PyObject_CheckBuffer(from) || py_is_tensor(from))
        return PyErr_Format(PyExc_ValueError, "object does not implement Python buffer protocol.");
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(from, v, PyBUF_SIMPLE)) return py_give(v), NULL;
    tn_tensor *t = py_create_over(v, ((py_dtype *)dtype)->dtype, count, offset);
    if (!t) {
        PyBuffer_Release(v);
        return py_give(v), NULL;
    }
    PyObject *o = py_wrap(tn_own(t));
    if (o && grad && !tn_requires_grad_at(NULL, 0, py_of(o), true)) {
        Py_DECREF(o);
        return py_raise();
    }
    return o;
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
    PyObject *one = n == 1 ? PyTuple_GetItem(args, 0) : NULL;
    tn_tensor *t;
    tn_device_id device = TN_NO_DEVICE;
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
    if (one && py_is_tensor(one)) return py_wrap_alias(type, one);
    if (one && Py_TYPE(one) == py.size) args = one;
    if (n == 0) {
        sizes[0] = 0;
        t = tnp_empty(tn_ints_of(sizes, 1), TN_NO_DTYPE, device);
    } else if (py_create_sizes(args, sizes, &n)) {
        t = tnp_empty(tn_ints_of(sizes, n), TN_NO_DTYPE, device);
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
    return t ? py_wrap_as(type, tn_own(t)) : py_raise();
}

PY_PRIV PyObject *py_index_refuse(PyObject *o) {
    return PyErr_Format(PyUnicode_Check(o) ? PyExc_TypeError : PyExc_IndexError,
                        "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                        "Variables are valid indices (got %R)",
                        Py_TYPE(o));
}

PY_PRIV PyObject *py_index_tensor(PyObject *o) {
    py_making m = {o, TN_NO_DTYPE, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return array;
    if (PyErr_Occurred()) return NULL;
    if (!py_nested_is_list(o)) return py_index_refuse(o);
    if (!PySequence_Size(o)) m.dtype = TN_I64;
    return py_making_of_numbers(&m);
}

PY_PRIV PyObject *py_value_tensor(PyObject *o, tn_dtype dtype) {
    py_making m = {o, dtype, TN_NO_DEVICE, 0};
    PyObject *array = py_nested_array(o);
    if (array) return py_making_finish(&m, array, false);
    return PyErr_Occurred() ? NULL : py_making_of_numbers(&m);
}

/* --- to lists --------------------------------------------------------------------------------- */

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

static PyObject *py_create_tolist(PyObject *self, PyObject *unused) {
    (void)unused;
    if (tn_device_of(py_of(self)) == TN_META)
        return PyErr_Format(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    tn_tensor *t = tn_own(tnp_detach(py_of(self))); /* a list may run a finalizer that turns self */
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
    {"from_numpy", py_create_from_numpy, METH_O, "a tensor over the memory of an array"},
    {"frombuffer", (PyCFunction)(void *)py_create_frombuffer, METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): over its memory"},
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
    const PyType_Slot slots[] = {{Py_tp_new, (void *)py_create_new},
                                 {Py_bf_getbuffer, (void *)py_create_getbuffer},
                                 {Py_bf_releasebuffer, (void *)py_create_releasebuffer}};
    memcpy(to, slots, sizeof slots);
    return 3;
}
