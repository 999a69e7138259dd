/* index.c - x[...] and x[...] = v: ints, slices, ellipsis, None, masks, integer tensors, mixed, as
 * NumPy and torch have them.
 *
 * Basic members make views one after another; a tensor among them takes its place in a list for
 * the row `index`, which reads, or `index_put_`, which writes through the view. */
#include "py.h"

enum { INDEX_MOST = 2 * TN_MAX_DIMS, INDEX_ROWS = 50000 }; /* a row returns 60000 tensors at most */

/* An index being applied: `at` is the view so far, owned; `dim` the dimension that comes next. */
typedef struct py_indexing {
    tn_tensor *at;
    int dim;
    int taken;     /* dimensions of the caller's tensor before dim, less dim */
    bool new_view; /* at is ours, not the caller's tensor */
    const char *file;
    int line;
    int nlists, covered; /* members of list, and the dimensions that they take */
    tn_tensor *list[TN_MAX_DIMS];
    PyObject *held[2 * INDEX_MOST]; /* what is made of lists and arrays */
    int nheld;
    int turn; /* see py_lend */
} py_indexing;

/* The next view, which replaces the one before. view is lent and owned from here on. */
static bool py_index_step(py_indexing *x, tn_tensor *view) {
    if (!view) return py_raise(), false;
    if (x->new_view) tn_free(x->at);
    x->at = tn_take(view);
    x->new_view = true;
    return true;
}

/* x[i]: one dimension less. The row would say dim without those that were taken before. */
static bool py_index_int(py_indexing *x, int64_t i) {
    const tn_select_args a = {x->at, x->dim, i};
    int64_t size = x->dim < tn_ndim(x->at) ? tn_size(x->at, x->dim) : 0;
    if (x->dim < tn_ndim(x->at) && (i >= size || i < -size)) {
        PyErr_Format(PyExc_IndexError,
                     "index %lld is out of bounds for dimension %d with size %lld", (long long)i,
                     x->dim + x->taken, (long long)size);
        return false;
    }
    x->taken++;
    return py_index_step(x, tn_select_at(x->file, x->line, &a));
}

/* Part k of a slice, by its class's descriptor, which is found once. */
static PyObject *py_index_part(PyObject *slice, int k) {
    static const char *const names[] = {"start", "stop", "step"};
    static PyObject *member[3];
    static descrgetfunc get;
    if (TNI_UNLIKELY(!member[k])) {
        member[k] = PyObject_GetAttrString((PyObject *)&PySlice_Type, names[k]);
        if (!member[k]) return NULL;
        /* PySlice_Unpack is no use: it does not tell an absent bound from a given one */
        get = (descrgetfunc)PyType_GetSlot(Py_TYPE(member[k]), Py_tp_descr_get);
    }
    return get(member[k], slice, (PyObject *)&PySlice_Type);
}

/* The same as a number: absent is TN_NONE. */
static bool py_index_bound(PyObject *slice, int k, int64_t *to) {
    PyObject *o = py_index_part(slice, k);
    /* x[True:] is x[1:], as in Python, where bool is an int */
    bool truth = o && PyBool_Check(o);
    bool ok = o && (o == Py_None || truth || py_to_bound(o, to));
    if (truth) *to = o == Py_True;
    if (ok && o != Py_None && *to == TN_NONE) *to = -INT64_MAX;    /* which is a number, too */
    if (o && !ok && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* beyond any size */
        PyObject *zero = PyLong_FromLong(0);
        PyErr_Clear();
        *to = zero && PyObject_RichCompareBool(o, zero, Py_LT) == 1 ? -INT64_MAX : INT64_MAX;
        Py_XDECREF(zero);
        ok = true;
    }
    if (o && !ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError,
                        "slice indices must be integers or None or have an __index__ method");
    Py_XDECREF(o);
    return ok;
}

/* x[i:j:k]: a view unless it is all of the dimension. */
static bool py_index_slice(py_indexing *x, PyObject *slice) {
    tn_slice_args a = {x->dim, TN_NONE, TN_NONE, TN_NONE, x->at};
    if (!py_index_bound(slice, 0, &a.start) || !py_index_bound(slice, 1, &a.end) ||
        !py_index_bound(slice, 2, &a.step))
        return false;
    if (a.step == TN_NONE) a.step = 1;
    /* torch has no negative strides */
    if (a.step <= 0) {
        PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
        return false;
    }
    /* x[:] of one dimension needs no view */
    if (a.start != TN_NONE || a.end != TN_NONE || a.step != 1)
        if (!py_index_step(x, tn_slice_at(x->file, x->line, &a))) return false;
    x->dim++;
    return true;
}

/* x[None]: a dimension of 1. */
static bool py_index_none(py_indexing *x) {
    const tn_unsqueeze_args a = {x->at, x->dim};
    if (!py_index_step(x, tn_unsqueeze_at(x->file, x->line, &a))) return false;
    x->dim++;
    x->taken--;
    return true;
}

/* A tensor member: it indexes one dimension, a mask as many as it has. */
static bool py_index_by(py_indexing *x, tn_tensor *t) {
    tn_dtype d = tn_dtype_of(t);
    int takes = d == TN_BOOL || d == TN_U8 ? tn_ndim(t) : 1;
    if (d == TN_U8 && PyErr_WarnEx(PyExc_UserWarning,
                                   "indexing with dtype torch.uint8 is now deprecated, please use "
                                   "a dtype torch.bool instead.",
                                   1))
        return false;
    if (x->dim + takes > tn_ndim(x->at) || x->nlists + x->dim - x->covered >= TN_MAX_DIMS) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    /* dimensions before it that slices took: NULL in the list, all of them */
    for (; x->covered < x->dim; x->covered++) x->list[x->nlists++] = NULL;
    x->list[x->nlists++] = t;
    x->dim = x->covered += takes;
    return true;
}

/* True and False add a dimension of one or none. */
static bool py_index_truth(py_indexing *x, bool truth) {
    tn_tensor *mask;
    if (!py_index_none(x)) return false;
    x->dim--;
    /* a mask of the new dimension, which selects it or nothing */
    mask = tnp_full(TN_DIMS(1), tn_bool(truth), TN_BOOL, TN_CPU);
    PyObject *o = mask ? py_wrap(tn_take(mask)) : py_raise();
    if (!o) return false;
    x->held[x->nheld++] = o;
    return py_index_by(x, py_of(o));
}

/* How many dimensions of the tensor a member takes; -1: an ellipsis. */
static int py_index_takes(PyObject *o) {
    if (o == Py_Ellipsis) return -1;
    if (o == Py_None || PyBool_Check(o)) return 0;
    if (py_is_tensor(o)) {
        tn_dtype d = tn_dtype_of(py_of(o));
        return d == TN_BOOL || d == TN_U8 ? tn_ndim(py_of(o)) : 1;
    }
    return 1;
}

/* Of an int of more than 64 bits, or an __index__ that failed. */
static bool py_index_misfit(PyObject *o) {
    if (!PyErr_Occurred()) py_index_refuse(o);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return false;
}

/* Applies one member of the key, borrowed. */
static bool py_index_member(py_indexing *x, PyObject *o) {
    int64_t i;
    /* ints and what has __index__, but not what is more than a number */
    if (PyLong_CheckExact(o) ||
        (PyIndex_Check(o) && !PyBool_Check(o) && !py_is_tensor(o) && !PyObject_CheckBuffer(o)))
        return py_to_int(o, &i) ? py_index_int(x, i) : py_index_misfit(o);
    if (PySlice_Check(o)) return py_index_slice(x, o);
    if (o == Py_None) return py_index_none(x);
    if (PyBool_Check(o)) return py_index_truth(x, o == Py_True);
    if (!py_is_tensor(o)) { /* a list, an array */
        if (x->nheld == INDEX_MOST || !(o = py_index_tensor(o))) return false;
        x->held[x->nheld++] = o;
    }
    /* a 0-dim tensor stands for its number: a truth, or an int that makes a view */
    tn_dtype d = tn_dtype_of(py_of(o));
    if (!tn_ndim(py_of(o)) && (d == TN_BOOL || d == TN_U8)) {
        bool truth = tnp_item_int(py_of(o)) != 0;
        return tn_ok() ? py_index_truth(x, truth) : (py_raise(), false);
    }
    if (!tn_ndim(py_of(o)) && d != TN_F32 && py_to_index(o, &i)) return py_index_int(x, i);
    return py_index_by(x, py_of(o));
}

/* Whether a list is meant as a tuple of indices: it has members that are no numbers. */
static bool py_index_is_tuple(PyObject *key) {
    if (!PyList_CheckExact(key) || PyList_Size(key) >= INDEX_MOST) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(key); i++) {
        PyObject *o = PyList_GetItem(key, i);
        if (o == Py_None || o == Py_Ellipsis || PySlice_Check(o) || py_is_tensor(o) ||
            (PySequence_Check(o) && !PyUnicode_Check(o)))
            return true;
    }
    return false;
}

static bool py_index_apply(py_indexing *x, PyObject *key);

/* The same by another key (taken), which stays as long as the indexing. */
static bool py_index_apply_held(py_indexing *x, PyObject *key) {
    if (!key) return false;
    x->held[x->nheld++] = key;
    return py_index_apply(x, key);
}

/* Whether the number of dimensions that o takes is known without making a tensor. */
static bool py_index_is_plain(PyObject *o) {
    return o == Py_None || o == Py_Ellipsis || PySlice_Check(o) || PyLong_Check(o) ||
           py_is_tensor(o) || (PyIndex_Check(o) && !PyObject_CheckBuffer(o));
}

/* A tuple in which lists and arrays are tensors: next to an ellipsis it matters how many dimensions
 * they take. */
static PyObject *py_index_settled(PyObject *key) {
    PyObject *all = PyTuple_New(PyTuple_Size(key));
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(key); i++) {
        PyObject *o = PyTuple_GetItem(key, i);
        o = py_index_is_plain(o) ? Py_NewRef(o) : py_index_tensor(o);
        if (!o || PyTuple_SetItem(all, i, o)) Py_CLEAR(all);
    }
    return all;
}

/* Applies a key: a tuple's members one after another, or the one member that it is. */
static bool py_index_apply(py_indexing *x, PyObject *key) {
    if (TNI_UNLIKELY(py_index_is_tuple(key))) return py_index_apply_held(x, PyList_AsTuple(key));
    bool tuple = PyTuple_Check(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1;
    int takes = 0, dots = 0;
    bool plain = true;
    if (n > INDEX_MOST) {
        PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    /* first how many dimensions the members take, so that an ellipsis takes the rest */
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, i) : key;
        int k = py_index_takes(o);
        if (k < 0) dots++;
        takes += k < 0 ? 0 : k;
        plain = plain && (PyLong_CheckExact(o) || py_index_is_plain(o));
    }
    if (dots && !plain) return py_index_apply_held(x, py_index_settled(key));
    int rest = tn_ndim(x->at) - takes;
    if (rest < 0) {
        PyErr_Format(PyExc_IndexError,
                     tn_ndim(x->at) == 0 ? "invalid index of a 0-dim tensor. Use `tensor.item()` "
                                           "in Python to convert a 0-dim tensor to a number"
                                         : "too many indices for tensor of dimension %d",
                     tn_ndim(x->at));
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, i) : key;
        if (o == Py_Ellipsis)
            x->dim += rest;
        else if (!py_index_member(x, o))
            return false;
    }
    return true;
}

/* Begins an indexing of t, borrowed. To be ended. */
static void py_index_begin(py_indexing *x, tn_tensor *t) {
    x->at = t;
    x->dim = x->taken = x->nlists = x->covered = x->nheld = 0;
    x->new_view = false;
    x->file = NULL;
    x->line = 0;
    /* members are known by address while Python code of later ones runs */
    x->turn = py_lend();
    if (py.planning || (tn_needs_grad(t) && tn_grad_mode())) py_here(&x->file, &x->line);
}

/* Drops what was made, and lets waiting releases happen. */
static void py_index_end(py_indexing *x) {
    for (int i = 0; i < x->nheld; i++) Py_DECREF(x->held[i]);
    if (x->new_view) tn_free(x->at);
    py_lent(x->turn, NULL);
}

/* x[key] of a subclass, or NotImplemented. */
static PyObject *py_index_asked(PyObject *self, PyObject *key, PyObject *value) {
    PyObject *args[3] = {self, key, value};
    return py_overridden_method(value ? "__setitem__" : "__getitem__", args, value ? 3 : 2);
}

/* x[i]; *fits: whether it is just that, and within x. */
static PyObject *py_index_one(PyObject *self, PyObject *key, bool *fits) {
    const char *file = NULL;
    int line = 0, overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(key, &overflow);
    /* before the tensor is looked at: py_here may run Python code */
    if (tn_needs_grad(py_of(self)) && tn_grad_mode()) py_here(&file, &line);
    tn_tensor *t = py_of(self), *r;
    tn_ints size = tn_shape(t);
    *fits = !overflow && size.n > 0 && i < size.at[0] && i >= -size.at[0];
    if (!*fits) return NULL;
    const tn_select_args a = {t, 0, i};
    r = tn_select_at(file, line, &a);
    return TNI_LIKELY(r != NULL) ? py_wrap(tn_take(r)) : py_raise();
}

/* x[key]: a view, or a copy where a tensor indexes. */
PY_PRIV PyObject *py_index_get(PyObject *self, PyObject *key) {
    py_indexing x;
    tn_tensor *r;
    /* an int and exact tensors: nothing has to be asked or held */
    if (TNI_LIKELY(Py_TYPE(key) == &PyLong_Type && py_is_exact(self))) {
        bool fits;
        PyObject *o = py_index_one(self, key, &fits);
        if (TNI_LIKELY(fits)) return o;
    }
    if (TNI_UNLIKELY(!py_is_exact(self))) {
        PyObject *o = py_index_asked(self, key, NULL);
        if (o != Py_NotImplemented) return o;
        Py_DECREF(o);
    }
    py_index_begin(&x, py_of(self));
    if (!py_index_apply(&x, key)) return py_index_end(&x), NULL;
    if (x.nlists) {
        tn_index_args a;
        memset(&a, 0, sizeof a);
        a.self = x.at;
        a.indices = tn_tensors_of(x.list, x.nlists);
        r = tn_index_at(x.file, x.line, &a);
    } else if (x.new_view) {
        /* the view goes over to the result */
        r = x.at;
        x.new_view = false;
    } else {
        const tn_slice_args a = {0, TN_NONE, TN_NONE, 1, x.at};
        r = tn_ndim(x.at) ? tn_slice_at(x.file, x.line, &a)
                          : tnp_view(x.at, tn_empty_dims()); /* x[...]: an alias */
    }
    py_index_end(&x);
    return py_of_class(self, r ? py_wrap(tn_take(r)) : py_raise());
}

/* --- assignment ------------------------------------------------------------------------------- */

/* Through the lists: one element of another dtype is converted, more are refused. */
static bool py_index_put(py_indexing *x, tn_tensor *v) {
    tn_index_put_args a;
    tn_tensor *as = NULL;
    /* torch converts a single element, and refuses a tensor of another dtype */
    bool other = tn_dtype_of(v) != tn_dtype_of(x->at) && tn_numel(v) == 1;
    if (other && !(as = tnp_to_dtype(v, tn_dtype_of(x->at), false, false))) return false;
    if (as) tn_take(as);
    memset(&a, 0, sizeof a);
    a.self = x->at;
    a.indices = tn_tensors_of(x->list, x->nlists);
    a.values = as ? as : v;
    bool ok = tn_index_put_inplace_at(x->file, x->line, &a) != NULL;
    if (as) tn_free(as);
    return ok;
}

/* Whether a number is written as an element, which rounds to an infinity, and not by a fill, which
 * refuses what is too large: torch does so with one element of 16 bits. */
static bool py_index_rounds(const py_indexing *x, const tn_scalar *s) {
    const tn_dtype dtype = tn_dtype_of(x->at);
    return !x->nlists && tn_numel(x->at) == 1 && (dtype == TN_F16 || dtype == TN_BF16) &&
           (s->kind == TN_KIND_INT || s->kind == TN_KIND_FLOAT);
}

/* An integer beyond 64 bits in a tensor of other elements than uint64. */
static bool py_index_overflows(const py_indexing *x, PyObject *value) {
    int overflow = 0;
    if (PyLong_Check(value) && tn_dtype_of(x->at) != TN_U64)
        PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return overflow != 0;
}

/* What is no number, or is written as an element, as a tensor, held. */
static tn_tensor *py_index_made(py_indexing *x, PyObject *value) {
    PyErr_Clear();
    if (py_index_overflows(x, value)) return NULL;
    if (value == Py_None)
        return PyErr_Format(PyExc_TypeError, "can't assign a NoneType to a tensor"), NULL;
    PyObject *o = py_value_tensor(value, tn_dtype_of(x->at));
    return o ? py_of(x->held[x->nheld++] = o) : NULL;
}

/* Writes value, a number or a tensor that broadcasts, into the view or through the lists. */
static bool py_index_write(py_indexing *x, PyObject *value) {
    tn_scalar s;
    tn_tensor *v = NULL, *made = NULL;
    bool ok;
    if (py_is_tensor(value)) {
        v = py_of(value);
    } else if (!py_to_scalar(value, &s) || py_index_rounds(x, &s)) {
        if (!(v = py_index_made(x, value))) return false;
    } else if (!x->nlists) {
        /* a number without lists: one fill of the view */
        const tn_fill_args a = {x->at, s};
        return tn_fill_inplace_at(x->file, x->line, &a) || (py_raise(), false);
    } else {
        v = tnp_full(tn_empty_dims(), s, tn_dtype_of(x->at), tn_device_of(x->at));
        if (!v) return py_raise(), false;
        made = tn_take(v);
    }
    int most = x->nlists ? 0 : tn_ndim(x->at);
    while (tn_ndim(v) > most && tn_size(v, 0) == 1) { /* torch drops leading ones */
        tn_tensor *less = tnp_select(v, 0, 0);
        if (made) tn_free(made);
        if (!less) return py_raise(), false;
        v = made = tn_take(less);
    }
    /* What is smaller may lie where it is written: x[1] = x[1][0], x[:] = x[0], x[mask] = x[0]. */
    if (tn_numel(v) < (x->nlists ? 2 : tn_numel(x->at)) && tn_same_storage(v, x->at)) {
        tn_tensor *copy = tnp_clone(v, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
        if (made) tn_free(made);
        if (!copy) return py_raise(), false;
        v = made = tn_take(copy);
    }
    const tn_copy_args a = {x->at, v};
    ok = x->nlists ? py_index_put(x, v) : tn_copy_inplace_at(x->file, x->line, &a) != NULL;
    if (made) tn_free(made);
    return ok || (py_raise(), false);
}

/* x[key] = value, or del x[key] (value NULL), which torch refuses. */
static int py_index_set(PyObject *self, PyObject *key, PyObject *value) {
    py_indexing x;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    if (TNI_UNLIKELY(!py_is_exact(self) || (py_is_tensor(value) && !py_is_exact(value)))) {
        PyObject *o = py_index_asked(self, key, value);
        Py_XDECREF(o);
        if (o != Py_NotImplemented) return o ? 0 : -1;
    }
    py_index_begin(&x, py_of(self));
    /* a value with a history is recorded as well */
    if (!x.file && py_is_tensor(value) && tn_needs_grad(py_of(value)) && tn_grad_mode())
        py_here(&x.file, &x.line);
    bool ok = py_index_apply(&x, key) && py_index_write(&x, value);
    py_index_end(&x);
    return ok ? 0 : -1;
}

/* --- a sequence ------------------------------------------------------------------------------- */

static Py_ssize_t py_index_length(PyObject *self) {
    tn_tensor *t = py_of(self);
    if (tn_ndim(t)) return (Py_ssize_t)tn_size(t, 0);
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

/* Over more rows than one unbind returns: over those of its parts, one part after the other. */
static PyObject *py_index_iterate_parts(PyObject *self) {
    PyObject *tools = PyImport_ImportModule("itertools"), *each = NULL;
    PyObject *chain = tools ? PyObject_GetAttrString(tools, "chain") : NULL;
    PyObject *parts = chain ? PyObject_CallMethod(self, "split", "i", INDEX_ROWS) : NULL;
    if (parts) each = PyObject_CallMethod(chain, "from_iterable", "(O)", parts);
    Py_XDECREF(parts);
    Py_XDECREF(chain);
    Py_XDECREF(tools);
    return each;
}

/* iter(x): over the rows, which one unbind makes; a later write to x is seen through them. */
static PyObject *py_index_iterate(PyObject *self) {
    const char *file = NULL;
    int line = 0;
    if (tn_needs_grad(py_of(self))) py_here(&file, &line);
    if (!tn_ndim(py_of(self))) return PyErr_Format(PyExc_TypeError, "iteration over a 0-d tensor");
    if (tn_size(py_of(self), 0) > INDEX_ROWS) return py_index_iterate_parts(self);
    /* a subclass is asked about unbind, and its rows are of its class */
    if (!py_is_exact(self)) {
        PyObject *tuple = py_call(py_group_of("unbind"), true, &self, 1, NULL);
        PyObject *each = tuple ? PyObject_GetIter(tuple) : NULL;
        Py_XDECREF(tuple);
        return each;
    }
    const tn_unbind_args a = {0, py_of(self)};
    tn_list l = tn_unbind_at(file, line, &a);
    if (!l.at && !tn_ok()) return py_raise();
    PyObject *all = py_results_list(l), *it = all ? PyObject_GetIter(all) : NULL;
    Py_XDECREF(all);
    return it;
}

PY_PRIV int py_index_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_mp_subscript, (void *)py_index_get},
                                 {Py_mp_ass_subscript, (void *)py_index_set},
                                 {Py_mp_length, (void *)py_index_length},
                                 {Py_tp_iter, (void *)py_index_iterate}};
    memcpy(to, slots, sizeof slots);
    return (int)(sizeof slots / sizeof slots[0]);
}
