/* value.c - Python's numbers, words and types as arguments of a call. */
#include "py.h"

/* An exception that a conversion has left says no more than "not of that kind". */
static bool py_value_no(void) {
    PyErr_Clear();
    return false;
}

/* An exact int of 64 bits; an OverflowError otherwise. */
static bool py_value_long(PyObject *o, int64_t *to) {
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    /* -1 alone would be a value: the flag tells */
    if (overflow) {
        PyErr_SetString(PyExc_OverflowError, "int does not fit into 64 bits");
        return false;
    }
    *to = v;
    return true;
}

/* An integer, or what has __index__, whose exceptions stay. */
static bool py_value_index(PyObject *o, int64_t *to) {
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    /* torch takes neither True nor a float as an int; a tensor only where py_to_index is asked */
    if (PyBool_Check(o) || py_is_tensor(o) || PyFloat_Check(o)) return false;
    if (!PyIndex_Check(o)) return false;
    PyObject *i = PyNumber_Index(o);
    bool ok = i && py_value_long(i, to);
    Py_XDECREF(i);
    return ok;
}

/* Of the exceptions of __index__ stay those that do not speak of the argument: too large a number,
 * no memory, Ctrl-C. */
PY_PRIV bool py_to_int(PyObject *o, int64_t *to) {
    if (py_value_index(o, to)) return true;
    bool stays = PyErr_ExceptionMatches(PyExc_OverflowError) ||
                 PyErr_ExceptionMatches(PyExc_MemoryError) ||
                 !PyErr_ExceptionMatches(PyExc_Exception);
    return PyErr_Occurred() && !stays ? py_value_no() : false;
}

/* A tensor of no dimensions and without a graph stands for its number. */
static bool py_value_item(PyObject *o, tn_scalar *to) {
    if (!py_is_tensor(o)) return false;
    const tn_tensor *t = py_of(o);
    if (tn_ndim(t) || tn_needs_grad(t) || tn_device_of(t) == TN_META || tn_batch_depth(t))
        return false;
    *to = tnp_item_scalar(t); /* of a device it waits */
    return tn_ok() || (py_raise(), false);
}

PY_PRIV bool py_to_index(PyObject *o, int64_t *to) {
    tn_scalar s;
    if (PyLong_CheckExact(o)) return py_value_long(o, to);
    if (py_value_item(o, &s) && s.kind == TN_KIND_INT) {
        *to = s.integer;
        return true;
    }
    return py_to_int(o, to);
}

PY_PRIV bool py_to_bound(PyObject *o, int64_t *to) {
    tn_scalar s;
    if (py_value_item(o, &s) && s.kind == TN_KIND_INT) {
        *to = s.integer;
        return true;
    }
    return py_value_index(o, to);
}

/* NumPy's bool, which is no bool of Python's. */
static bool py_value_is_truth(PyObject *o) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    /* "bool" or "bool_": its name differs by NumPy's version */
    bool is = text && strncmp(text, "bool", 4) == 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return is;
}

PY_PRIV bool py_to_scalar(PyObject *o, tn_scalar *to) {
    /* the exact types first, as most numbers are */
    if (PyFloat_CheckExact(o)) {
        *to = tn_float(PyFloat_AsDouble(o));
        return true;
    }
    if (o == Py_True || o == Py_False) {
        *to = tn_bool(o == Py_True);
        return true;
    }
    if (PyLong_CheckExact(o)) {
        to->kind = TN_KIND_INT;
        to->imaginary = 0;
        if (!py_value_long(o, &to->integer)) return false;
        to->real = (double)to->integer;
        return true;
    }
    if (py_value_item(o, to)) return true;
    /* of several elements, or with a graph */
    if (py_is_tensor(o)) return false;
    if (PyComplex_Check(o)) {
        *to = tn_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
        return true;
    }
    if (PyFloat_Check(o)) {
        *to = tn_float(PyFloat_AsDouble(o));
        return true;
    }
    int64_t i;
    if (PyIndex_Check(o)) return py_to_int(o, &i) ? (*to = tn_int(i), true) : false;
    if (PyUnicode_Check(o) || PySequence_Check(o) || !PyNumber_Check(o)) return false;
    bool truth = py_value_is_truth(o);
    PyObject *f = PyNumber_Float(o); /* NumPy's float32, bool_; o may be gone now */
    if (!f) return py_value_no();
    *to = truth ? tn_bool(PyFloat_AsDouble(f) != 0) : tn_float(PyFloat_AsDouble(f));
    Py_DECREF(f);
    return true;
}

PY_PRIV bool py_to_float(PyObject *o, double *to) {
    tn_scalar s;
    if (PyFloat_CheckExact(o)) {
        *to = PyFloat_AsDouble(o);
        return true;
    }
    if (!py_to_scalar(o, &s) || s.kind == TN_KIND_COMPLEX) return false;
    /* an int beyond 2^53 is rounded, as float(i) */
    *to = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
    return true;
}

PY_PRIV bool py_to_dtype(PyObject *o, tn_dtype *to) {
    if (Py_TYPE(o) == py.dtype) {
        *to = ((py_dtype *)o)->dtype;
        if (*to) return true;
        PyErr_Format(PyExc_NotImplementedError,
                     "%R is a name alone: the smallest complex dtype is complex64", o);
        return false;
    }
    /* Python's own classes stand for dtypes: float is float64, as in NumPy */
    if (o == (PyObject *)&PyFloat_Type) {
        *to = TN_F64;
        return true;
    }
    if (o == (PyObject *)&PyLong_Type) {
        *to = TN_I64;
        return true;
    }
    if (o == (PyObject *)&PyBool_Type) {
        *to = TN_BOOL;
        return true;
    }
    if (o == (PyObject *)&PyComplex_Type) {
        *to = TN_C128;
        return true;
    }
    return false;
}

/* A new number of the scalar's kind. */
PY_PRIV PyObject *py_from_scalar(tn_scalar s) {
    switch (s.kind) {
    case TN_KIND_BOOL: return PyBool_FromLong(s.integer != 0);
    case TN_KIND_INT: return PyLong_FromLongLong(s.integer);
    case TN_KIND_COMPLEX: return PyComplex_FromDoubles(s.real, s.imaginary);
    default: return PyFloat_FromDouble(s.real);
    }
}

PY_PRIV PyObject *py_from_element(tn_scalar s, tn_dtype dtype) {
    return dtype == TN_U64 ? PyLong_FromUnsignedLongLong((uint64_t)s.integer) : py_from_scalar(s);
}

PY_PRIV PyObject *py_param_object(const tn_param *p, const void *args) {
    const char *text;
    tn_scalar s;
    if (p->type == TN_T_STRING) {
        memcpy(&text, (const char *)args + p->offset, sizeof text);
        return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
    }
    if (!tn_param_number(p, args, &s) || (TN_TYPES_CODE >> p->type & 1 && !p->words)) return NULL;
    if (s.kind == TN_KIND_NONE) Py_RETURN_NONE;
    if (p->words) return PyUnicode_FromString(p->words[s.integer - 1]);
    if (s.kind == TN_KIND_BOOL) return PyBool_FromLong(s.integer != 0);
    return s.kind == TN_KIND_INT ? PyLong_FromLongLong(s.integer) : PyFloat_FromDouble(s.real);
}
