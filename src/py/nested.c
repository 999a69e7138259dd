/* nested.c - nested sequences of numbers, tensors and arrays as a tensor: one walk finds the shape
 * and dtype, another one copies the elements. */
#include "py.h"

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
PY_PRIV bool py_nested_is_list(PyObject *o) {
    return (PyList_Check(o) || PyTuple_Check(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o))) &&
           !py_is_tensor(o) && (!PyObject_CheckBuffer(o) || PyByteArray_Check(o));
}

/* A member that is a tensor or an array, as a tensor; NULL: neither (or an exception). */
PY_PRIV PyObject *py_nested_array(PyObject *o) {
    if (py_is_tensor(o)) return Py_NewRef(o);
    if (PyFloat_CheckExact(o) || PyLong_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
        !PyObject_CheckBuffer(o))
        return NULL;
    return py_from_buffer(o, true);
}

/* The shape, by the first member at each depth; walks check the others. o is held, as members
 * are new objects. */
static bool py_nested_shape(py_nested *n, PyObject *o) {
    Py_INCREF(o);
    while (py_nested_is_list(o)) {
        /* __len__ is Python code, so it may fail or lie: the walks compare again */
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
    /* an array or tensor at the bottom adds its own dimensions */
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

/* The message for a member of another length than the first one; size -1: it is no sequence. */
static bool py_nested_misfit(const py_nested *n, int dim, Py_ssize_t size) {
    if (size < 0)
        PyErr_Format(PyExc_TypeError, "not a sequence at dim %d", dim);
    else
        PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                     (long long)n->size[dim], dim, size);
    return false;
}

/* Writes a number as an element of the staging dtype (py_nested_staging). */
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
    /* its shape must be what is left of the shape at this depth */
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
        /* dtypes of arrays promote among themselves; numbers beside them join later */
        tn_scalar kind = tn_numel(t) ? tn_none() : tn_float(0);
        n->dtype = n->dtype ? tn_promote(n->dtype, d) : d;
        kind.kind = py_dtype_kind(d);
        if (kind.kind > n->kind) n->kind = kind.kind;
        return true;
    }
    /* element by element: rare, and any dtype */
    flat = tnp_reshape(t, TN_DIMS(-1));
    for (int64_t i = 0; flat && i < tn_numel(t); i++) {
        tn_tensor *one = tnp_select(flat, 0, i);
        py_nested_put(n, tnp_item_scalar(one));
        tn_free(one);
    }
    tn_free(flat);
    return tn_ok() || (py_raise(), false);
}

/* The error for a member that is neither a number nor a sequence. */
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
    /* an int beyond int64: it may fit uint64, or be meant as a float */
    PyErr_Clear();
    n->big = true;
    /* in the first walk its kind is enough; as a bool it is true */
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
            /* new, and freed at once: a sequence may make its members */
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
    /* float64 as the default makes complex numbers complex128 */
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
        /* 2^bits is exact in a double, 2^bits - 1 need not be */
        double v, top = ldexp(1, bits - (whole ? 0 : 1));
        memcpy(&v, n->to + 8 * i, sizeof v);
        return v >= (whole ? 0 : -top) && v < top;
    }
    int64_t v, most = INT64_MAX;
    if (bits < 64) most = (int64_t)(((uint64_t)1 << (bits - (whole ? 0 : 1))) - 1);
    memcpy(&v, n->to + 8 * i, sizeof v);
    return bits == 64 || (v >= -most - (whole ? 0 : 1) && v <= most);
}

/* Whether the numbers are some of dtype; no complex ones as real ones. */
static bool py_nested_fits(const py_nested *n, tn_dtype dtype) {
    if (n->kind == TN_KIND_COMPLEX && dtype && dtype != TN_BOOL && !py_dtype_is_complex(dtype)) {
        PyErr_SetString(PyExc_TypeError, "must be real number, not complex");
        return false;
    }
    /* no dtype was asked for, or it takes any number */
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
PY_PRIV tn_tensor *py_nested_tensor(PyObject *o, tn_dtype dtype) {
    py_nested n;
    memset(&n, 0, sizeof n);
    n.numel = 1;
    if (!py_nested_shape(&n, o) || !py_nested_walk(&n, o, 0)) return NULL;
    /* complex arrays beside real numbers: all are staged as complex */
    if (n.dtype && n.dtype >= TN_C64 && n.dtype <= TN_C128) n.kind = TN_KIND_COMPLEX;
    n.asked = dtype ? dtype : py_nested_dtype(&n);
    /* too big for int64: staged as the kind that was asked for */
    if (n.big && py_dtype_kind(n.asked) > n.kind) n.kind = py_dtype_kind(n.asked);
    tn_tensor *t = tnp_empty(tn_ints_of(n.size, n.ndim), py_nested_staging(n.kind), TN_CPU), *as;
    if (!t) return NULL;
    /* a tensor without elements may have no memory */
    static char none[16];
    n.to = tn_numel(t) ? (char *)tn_data(t) : none;
    bool ok = py_nested_walk(&n, o, 0);
    if (ok && n.written != tn_numel(t))
        PyErr_SetString(PyExc_RuntimeError, "the sequence changed while being read");
    if (!ok || PyErr_Occurred() || !py_nested_fits(&n, dtype)) return tn_free(t), NULL;
    /* written behind the library's back */
    tn_touch(t);
    if (n.asked == tn_dtype_of(t)) return t;
    as = tnp_to_dtype(t, n.asked, false, false);
    tn_free(t);
    return as;
}
