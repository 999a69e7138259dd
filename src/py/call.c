/* call.c - a call by Python: the first row of a group that the arguments fit, else an overload in
 * Python, else an error. Who has a __torch_function__ of its own is asked first (override.c). */
#include "bind.h"

/* Runs the row of b, whose arguments fit. Whether the call may last decides if the GIL
 * is released. */
static PyObject *py_bound_call(py_bind *b, unsigned how) {
    bool lasts = b->elements >= PY_LONG;
    if (!b->gen->nfixed && b->nints) { /* makes a tensor of that size, perhaps */
        double numel = 1;
        for (int i = 0; i < b->nints; i++) numel *= (double)b->ints[i];
        lasts = lasts || numel >= PY_LONG;
    }
    /* a double: sizes that overflow are refused by the row, not here */
    PyObject *r = py_run(b->row, how, b->args.bytes, lasts, py_records(b->gen, b->args.bytes));
    /* a new tensor that nobody else has seen: it may still become a leaf */
    if (r && b->requires_grad && !tn_requires_grad_at(NULL, 0, py_of(r), true)) {
        Py_DECREF(r);
        return py_raise();
    }
    return r;
}

/* What torch takes and no row does, as Python functions by name: tensorh/_overloads.py, read where
 * nothing fits. NotImplemented: there is none. A TypeError is raised where it is returned. */
static PyObject *py_overloads_call(const char *name, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames) {
    static PyObject *all;
    /* loaded at the first call that fits no row, as import tensorh should be quick */
    if (!all) {
        PyObject *module = PyImport_ImportModule("tensorh._overloads");
        all = module ? PyObject_GetAttrString(module, "OVERLOADS") : NULL;
        Py_XDECREF(module);
        if (!all) return NULL;
    }
    /* borrowed: OVERLOADS is never changed */
    PyObject *f = py_entry(all, name);
    if (!f) return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    PyObject *tuple = py_args_tuple(args, nargs), *r = NULL;
    PyObject *dict = tuple && kwnames ? py_args_dict(args + nargs, kwnames) : NULL;
    if (tuple && (dict || !kwnames)) r = PyObject_Call(f, tuple, dict);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    /* returned rather than raised: a TypeError that is the answer, not a misfit */
    if (r && PyExceptionInstance_Check(r)) {
        PyErr_SetObject((PyObject *)Py_TYPE(r), r);
        Py_DECREF(r);
        return NULL;
    }
    if (r ||
        !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_AttributeError)))
        return r;
    PyErr_Clear(); /* it does not fit that form either: the rows say what they want */
    return Py_NewRef(Py_NotImplemented);
}

enum py_calls {
    CALL_PLAIN = 1, /* nobody is asked */
    CALL_ROWS = 2   /* no overloads */
};

/* No row fits: subclasses are asked, then overloads, and then the misfit is said. b: of the
 * last row. */
static PyObject *py_call_rest(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call,
                              const py_bind *b) {
    PyObject *r = call & CALL_PLAIN ? Py_NewRef(Py_NotImplemented)
                                    : py_overridden(g, method, args, nargs, kwnames, py_call_plain);
    if (r == Py_NotImplemented && !(call & CALL_ROWS)) {
        Py_DECREF(r);
        r = py_overloads_call(g->name, args, nargs, kwnames);
    }
    if (r != Py_NotImplemented) return r;
    Py_DECREF(r);
    /* one row: what is wrong with its argument; several: all schemas, as torch lists them */
    if (g->nrows > 1) return py_fault_overloads(g, method, args, nargs, kwnames);
    return py_fault_raise(b, g->name, nargs, kwnames);
}

/* The first row that fits. The second pass takes 0-dim tensors for numbers, which the first one
 * does not. b is ended before any return, as it holds lists. */
static PyObject *py_call_rows(const py_group *g, bool method, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames, unsigned call) {
    py_bind b;
    b.foreign = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < g->nrows; i++) {
            py_bind_begin(&b, g->row[i], method, pass == 1);
            bool fits = py_bind_fill(&b, g->how, args, nargs, kwnames);
            PyObject *r = NULL;
            /* asked once, whatever row they were met in; who is asked may call this function
             * again, plainly */
            if (TNI_UNLIKELY(b.foreign != NULL) && !(call & CALL_PLAIN) &&
                (fits || b.fault != FAULT_RAISED)) {
                r = py_overridden(g, method, args, nargs, kwnames, py_call_plain);
                if (r != Py_NotImplemented) return py_bind_end(&b), r;
                Py_DECREF(r);
                call |= CALL_PLAIN;
            }
            r = fits ? py_bound_call(&b, g->how) : NULL;
            py_bind_end(&b);
            if (fits) return r;
            /* Python code of an argument has raised: no other row is tried */
            if (b.fault == FAULT_RAISED) return py_fault_overflow(&b, g->name);
        }
    }
    return py_call_rest(g, method, args, nargs, kwnames, call, &b);
}

/* lend: tensors are known by address from here on (py.h). */
PY_PRIV PyObject *py_call(const py_group *g, bool method, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, 0));
}

/* As py_call, but nobody is asked: for calls that a __torch_function__ makes itself. */
PY_PRIV PyObject *py_call_plain(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, method, args, nargs, kwnames, CALL_PLAIN));
}

/* As py_call, but without overloads: for Python functions that are written around their row. */
PY_PRIV PyObject *py_call_row(const py_group *g, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    const int turn = py_lend();
    return py_lent(turn, py_call_rows(g, false, args, nargs, kwnames, CALL_ROWS));
}

/* Binds arguments of a module and runs it: a signature in place of a row, 0-dim tensors
 * are numbers. */
PY_PRIV PyObject *py_call_bound(const py_signature *s, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames, py_bound_run run, void *user) {
    py_bind b;
    b.foreign = NULL;
    py_bind_begin(&b, NULL, false, true);
    /* no row: names and parameters are the module's */
    b.gen = s->gen;
    b.names = s->names;
    const int turn = py_lend();
    bool fits = py_bind_fill(&b, TN_PLAIN, args, nargs, kwnames);
    PyObject *r =
        fits ? run(user, b.args.bytes, b.elements) : py_fault_raise(&b, s->name, nargs, kwnames);
    py_bind_end(&b);
    return py_lent(turn, r);
}
