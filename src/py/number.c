/* number.c - Tensor as a number: operators, their reflected and in-place forms, comparisons,
 * conversions to Python's numbers. Each operator is the row of that name. */
#include "py.h"

/* Groups of the operators, found at import. */
/* clang-format off */
#define NUMBER_GROUPS(X) \
    X(add) X(sub) X(mul) X(div) X(floor_divide) X(remainder) X(pow) X(matmul) X(rsub) \
    X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) X(bitwise_right_shift) \
    X(bitwise_not) X(neg) X(abs) X(reciprocal) X(lt) X(le) X(eq) X(ne) X(gt) X(ge) X(add_) \
    X(sub_) X(mul_) X(div_) X(floor_divide_) X(remainder_) X(pow_) X(bitwise_and_) \
    X(bitwise_or_) X(bitwise_xor_) X(bitwise_left_shift_) X(bitwise_right_shift_)
/* clang-format on */
static struct {
#define NUMBER_MEMBER(name) const py_group *name;
    NUMBER_GROUPS(NUMBER_MEMBER)
} py_number;

/* Whether o can stand beside a tensor; what else there is may know better (NotImplemented). */
static bool py_number_fits(PyObject *o) {
    tn_scalar s;
    if (py_is_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o)) return true;
    if (PyObject_HasAttr(o, py.torch_function)) return true;
    if (py_to_scalar(o, &s)) return true;
    PyErr_Clear();
    return false;
}

/* An array of NumPy's as a tensor, for both sides of an operator; NULL: it is none. */
static PyObject *py_number_array(PyObject *o) {
    if (!PyObject_CheckBuffer(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
        PyMemoryView_Check(o))
        return NULL;
    PyObject *t = py_from_buffer(o, true);
    if (!t) PyErr_Clear();
    return t;
}

/* The operator g with a tensor a on the left. NotImplemented makes Python ask b's
 * reflected method. */
static PyObject *py_number_call(const py_group *g, PyObject *a, PyObject *b) {
    /* exact tensors and floats first */
    bool fits;
    PyObject *args[2] = {a, b}, *quick = py_call_quick(g, a, &b, 1, &fits);
    if (TNI_LIKELY(fits)) return quick;
    if (TNI_LIKELY(py_number_fits(b))) return py_call(g, true, args, 2, NULL);
    /* an array would otherwise take its elements one by one */
    if (!(args[1] = py_number_array(b))) Py_RETURN_NOTIMPLEMENTED;
    PyObject *r = py_call(g, true, args, 2, NULL);
    Py_DECREF(args[1]);
    return r;
}

/* A reflected operator of a subclass: asks its __torch_function__; NotImplemented: it has none. */
static PyObject *py_number_asked(const char *name, PyObject *a, PyObject *b) {
    PyObject *args[2] = {b, a};
    if (TNI_LIKELY(py_is_exact(b))) return Py_NewRef(Py_NotImplemented);
    return py_overridden_method(name, args, 2);
}

/* A number as a 0-dim tensor, for rows that want one in the first place; of dtype where that is of
 * the number's kind or a wider one, as a number does not widen what it stands beside. */
static PyObject *py_number_tensor(PyObject *o, tn_dtype dtype) {
    tn_scalar s;
    if (!py_to_scalar(o, &s)) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NOTIMPLEMENTED;
    }
    tn_tensor *own = tnp_full(tn_empty_dims(), s, TN_NO_DTYPE, TN_CPU), *t = own;
    /* a number of a wider kind keeps its own dtype, and promotion widens */
    if (own && py_dtype_kind(dtype) >= s.kind) {
        t = tnp_to_dtype(own, dtype, false, true);
        tn_free(own);
    }
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* a op b with a tensor b and a number or array a. */
static PyObject *py_number_reflected(const py_group *g, const char *name, PyObject *a,
                                     PyObject *b) {
    PyObject *r = py_number_asked(name, a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    PyObject *t = py_number_array(a);
    if (!t) t = py_number_tensor(a, tn_dtype_of(py_of(b)));
    if (!t || t == Py_NotImplemented) return t;
    r = py_number_call(g, t, b);
    Py_DECREF(t);
    return r;
}

#define NUMBER_COMMUTES(name)                                          \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {      \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)  \
                               : py_number_call(py_number.name, b, a); \
    }
#define NUMBER_ORDERED(name, reflected)                                                \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) {                      \
        return py_is_tensor(a) ? py_number_call(py_number.name, a, b)                  \
                               : py_number_reflected(py_number.name, reflected, a, b); \
    }
#define NUMBER_INPLACE(name)                                      \
    static PyObject *py_number_##name(PyObject *a, PyObject *b) { \
        return py_number_call(py_number.name, a, b);              \
    }
#define NUMBER_UNARY(name)                                                            \
    static PyObject *py_number_##name(PyObject *a) {                                  \
        bool fits;                                                                    \
        PyObject *quick = py_call_quick(py_number.name, a, NULL, 0, &fits);           \
        return TNI_LIKELY(fits) ? quick : py_call(py_number.name, true, &a, 1, NULL); \
    }
NUMBER_COMMUTES(add)
NUMBER_COMMUTES(mul)
NUMBER_COMMUTES(bitwise_and)
NUMBER_COMMUTES(bitwise_or)
NUMBER_COMMUTES(bitwise_xor)
NUMBER_ORDERED(floor_divide, "__rfloordiv__")
NUMBER_ORDERED(remainder, "__rmod__")
NUMBER_ORDERED(bitwise_left_shift, "__rlshift__")
NUMBER_ORDERED(bitwise_right_shift, "__rrshift__")
NUMBER_INPLACE(add_)
NUMBER_INPLACE(sub_)
NUMBER_INPLACE(mul_)
NUMBER_INPLACE(div_)
NUMBER_INPLACE(floor_divide_)
NUMBER_INPLACE(remainder_)
NUMBER_INPLACE(bitwise_and_)
NUMBER_INPLACE(bitwise_or_)
NUMBER_INPLACE(bitwise_xor_)
NUMBER_INPLACE(bitwise_left_shift_)
NUMBER_INPLACE(bitwise_right_shift_)
NUMBER_UNARY(neg)
NUMBER_UNARY(abs)
NUMBER_UNARY(bitwise_not)

/* a - b; a number on the left is the row rsub, b.rsub(a). */
static PyObject *py_number_sub(PyObject *a, PyObject *b) {
    if (py_is_tensor(a)) return py_number_call(py_number.sub, a, b);
    PyObject *r = py_number_asked("__rsub__", a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    return py_number_call(py_number.rsub, b, a);
}
/* An array beside a tensor, both of the dtype to which they promote. */
static PyObject *py_number_matmul_array(PyObject *a, PyObject *b) {
    PyObject *x = py_is_tensor(a) ? Py_NewRef(a) : py_number_array(a);
    PyObject *y = !x ? NULL : py_is_tensor(b) ? Py_NewRef(b) : py_number_array(b), *r = NULL;
    if (x && y) {
        /* matmul promotes nothing, so both are converted */
        tn_dtype d = tn_promote(tn_dtype_of(py_of(x)), tn_dtype_of(py_of(y)));
        PyObject *as = d ? py.dtypes[d] : Py_None, *args[2] = {x, as}, *both[2];
        const py_group *to = py_group_of("to");
        both[0] = py_call(to, true, args, 2, NULL);
        args[0] = y;
        both[1] = both[0] ? py_call(to, true, args, 2, NULL) : NULL;
        if (both[1]) r = py_call(py_number.matmul, true, both, 2, NULL);
        Py_XDECREF(both[0]);
        Py_XDECREF(both[1]);
    } else {
        r = Py_NewRef(Py_NotImplemented);
    }
    Py_XDECREF(x);
    Py_XDECREF(y);
    return r;
}
/* a @ b. Numbers are refused, as by the row; arrays are converted. */
static PyObject *py_number_matmul(PyObject *a, PyObject *b) {
    if (py_is_tensor(a) && (py_is_tensor(b) || PyObject_HasAttr(b, py.torch_function)))
        return py_number_call(py_number.matmul, a, b);
    return py_number_matmul_array(a, b);
}
/* number / tensor: number times the reciprocal, as torch has it. */
static PyObject *py_number_div(PyObject *a, PyObject *b) {
    if (py_is_tensor(a)) return py_number_call(py_number.div, a, b);
    PyObject *r = py_number_asked("__rtruediv__", a, b);
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    PyObject *array = py_number_fits(a) ? NULL : py_number_array(a), *one;
    if (array) {
        r = py_number_call(py_number.div, array, b);
        Py_DECREF(array);
        return r;
    }
    if (!py_number_fits(a)) Py_RETURN_NOTIMPLEMENTED;
    /* two roundings, which are torch's */
    one = py_call(py_number.reciprocal, true, &b, 1, NULL);
    r = one ? py_number_call(py_number.mul, one, a) : NULL;
    Py_XDECREF(one);
    return r;
}
/* The row also takes a number as its first argument. */
static PyObject *py_number_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    PyObject *args[2] = {a, b}, *r, *t = NULL;
    /* pow(a, b, m) is of ints */
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (py_is_tensor(a)) return py_number_call(py_number.pow, a, b);
    if ((r = py_number_asked("__rpow__", a, b)) != Py_NotImplemented) return r;
    Py_DECREF(r);
    if (!py_number_fits(a) && !(args[0] = t = py_number_array(a))) Py_RETURN_NOTIMPLEMENTED;
    r = py_call(py_number.pow, false, args, 2, NULL);
    Py_XDECREF(t);
    return r;
}
static PyObject *py_number_pow_(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return py_number_call(py_number.pow_, a, b);
}
static PyObject *py_number_positive(PyObject *a) { return Py_NewRef(a); }

/* --- comparisons ------------------------------------------------------------------------------ */

/* Py_LT .. Py_GE are 0 .. 5 in the stable ABI, which is the order here. */
static PyObject *py_number_compare(PyObject *a, PyObject *b, int how) {
    const py_group *const group[] = {py_number.lt, py_number.le, py_number.eq,
                                     py_number.ne, py_number.gt, py_number.ge}; /* Py_LT .. Py_GE */
    return py_number_call(group[how], a, b);
}

/* --- conversions ------------------------------------------------------------------------------ */

/* The only element of self; else the error that the conversion raises. */
static bool py_number_scalar(PyObject *self, tn_scalar *s, PyObject *error, const char *what) {
    tn_tensor *t = py_of(self);
    if (tn_numel(t) != 1) {
        PyErr_Format(error, "%s", what);
        return false;
    }
    *s = tnp_item_scalar(t);
    return tn_ok() || (py_raise(), false);
}

/* bool(x), "if x": -1 with an exception. */
static int py_number_bool(PyObject *self) {
    tn_scalar s;
    tn_tensor *t = py_of(self);
    if (!py_number_scalar(self, &s, PyExc_RuntimeError,
                          tn_numel(t)
                              ? "Boolean value of Tensor with more than one value is ambiguous"
                              : "Boolean value of Tensor with no values is ambiguous"))
        return -1;
    return s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT ? s.integer != 0
                                                           : s.real != 0 || s.imaginary != 0;
}

static PyObject *py_number_float(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_ValueError,
                          "only one element tensors can be converted to Python scalars"))
        return NULL;
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        return PyErr_Format(PyExc_RuntimeError, "cannot convert a complex element to float");
    /* a uint64 lies in the scalar as the bits of an int64 */
    return PyFloat_FromDouble(s.kind >= TN_KIND_FLOAT              ? s.real
                              : tn_dtype_of(py_of(self)) == TN_U64 ? (double)(uint64_t)s.integer
                                                                   : (double)s.integer);
}

/* An integer element, or a truth as 0 or 1. */
static PyObject *py_number_whole(PyObject *self, tn_scalar s) {
    if (s.kind == TN_KIND_BOOL) return PyLong_FromLong(s.integer != 0);
    return py_from_element(s, tn_dtype_of(py_of(self)));
}

static PyObject *py_number_int(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_ValueError,
                          "only one element tensors can be converted to Python scalars"))
        return NULL;
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0)
        return PyErr_Format(PyExc_RuntimeError, "cannot convert a complex element to int");
    return s.kind >= TN_KIND_FLOAT ? PyLong_FromDouble(s.real) : py_number_whole(self, s);
}

/* operator.index(x), a list's index: integers and truths alone. */
static PyObject *py_number_index(PyObject *self) {
    tn_scalar s;
    if (!py_number_scalar(self, &s, PyExc_TypeError,
                          "only integer tensors of a single element can be converted to an index"))
        return NULL;
    if (s.kind >= TN_KIND_FLOAT)
        return PyErr_Format(
            PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    return py_number_whole(self, s);
}

PY_PRIV int py_number_slots(PyType_Slot *to) {
    /* binary slots get their operands in the order of the source: either may be the tensor */
    const PyType_Slot slots[] = {{Py_nb_add, (void *)py_number_add},
                                 {Py_nb_subtract, (void *)py_number_sub},
                                 {Py_nb_multiply, (void *)py_number_mul},
                                 {Py_nb_true_divide, (void *)py_number_div},
                                 {Py_nb_floor_divide, (void *)py_number_floor_divide},
                                 {Py_nb_remainder, (void *)py_number_remainder},
                                 {Py_nb_power, (void *)py_number_pow},
                                 {Py_nb_matrix_multiply, (void *)py_number_matmul},
                                 {Py_nb_and, (void *)py_number_bitwise_and},
                                 {Py_nb_or, (void *)py_number_bitwise_or},
                                 {Py_nb_xor, (void *)py_number_bitwise_xor},
                                 {Py_nb_lshift, (void *)py_number_bitwise_left_shift},
                                 {Py_nb_rshift, (void *)py_number_bitwise_right_shift},
                                 {Py_nb_inplace_add, (void *)py_number_add_},
                                 {Py_nb_inplace_subtract, (void *)py_number_sub_},
                                 {Py_nb_inplace_multiply, (void *)py_number_mul_},
                                 {Py_nb_inplace_true_divide, (void *)py_number_div_},
                                 {Py_nb_inplace_floor_divide, (void *)py_number_floor_divide_},
                                 {Py_nb_inplace_remainder, (void *)py_number_remainder_},
                                 {Py_nb_inplace_power, (void *)py_number_pow_},
                                 {Py_nb_inplace_and, (void *)py_number_bitwise_and_},
                                 {Py_nb_inplace_or, (void *)py_number_bitwise_or_},
                                 {Py_nb_inplace_xor, (void *)py_number_bitwise_xor_},
                                 {Py_nb_inplace_lshift, (void *)py_number_bitwise_left_shift_},
                                 {Py_nb_inplace_rshift, (void *)py_number_bitwise_right_shift_},
                                 {Py_nb_negative, (void *)py_number_neg},
                                 {Py_nb_positive, (void *)py_number_positive},
                                 {Py_nb_absolute, (void *)py_number_abs},
                                 {Py_nb_invert, (void *)py_number_bitwise_not},
                                 {Py_nb_bool, (void *)py_number_bool},
                                 {Py_nb_float, (void *)py_number_float},
                                 {Py_nb_int, (void *)py_number_int},
                                 {Py_nb_index, (void *)py_number_index},
                                 {Py_tp_richcompare, (void *)py_number_compare}};
    memcpy(to, slots, sizeof slots);
    return (int)(sizeof slots / sizeof slots[0]);
}

PY_PRIV int py_number_begin(PyObject *module) {
    bool found = true;
    (void)module;
#define NUMBER_FIND(name) found = (py_number.name = py_group_of(#name)) != NULL && found;
    NUMBER_GROUPS(NUMBER_FIND)
    return found ? 0 : -1;
}
