/* run.c - a row whose arguments are bound is run, and its results become Python's. */
#include "py.h"

/* --- results ---------------------------------------------------------------------------------- */

/* As torch prints it: a line for each result. */
static PyObject *py_results_repr(PyObject *self, PyObject *unused) {
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__match_args__");
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    PyObject *text = fields && name ? PyUnicode_FromFormat("torch.return_types.%S(", name) : NULL;
    (void)unused;
    for (Py_ssize_t k = 0; text && k < PyTuple_Size(self); k++) {
        PyObject *field = PySequence_GetItem(fields, k); /* a program may have set them */
        PyObject *more = field ? PyUnicode_FromFormat("%U%s\n%S=%R", text, k ? "," : "", field,
                                                      PyTuple_GetItem(self, k))
                               : NULL;
        Py_XDECREF(field);
        Py_DECREF(text);
        text = more;
    }
    PyObject *r = text ? PyUnicode_FromFormat("%U)", text) : NULL;
    Py_XDECREF(fields);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return r;
}
static PyMethodDef py_results_def = {"__repr__", py_results_repr, METH_NOARGS, NULL};

/* The named tuple of a row with several results, made at its first call. */
PY_PRIV PyObject *py_results_type(const tn_row *row) {
    static PyObject *types; /* by name */
    PyStructSequence_Field fields[9];
    char name[96];
    /* made once: types of named tuples are compared by identity */
    if (!types && !(types = PyDict_New())) return NULL;
    PyObject *type = py_entry(types, row->name);
    if (type || PyErr_Occurred()) return type;
    memset(fields, 0, sizeof fields);
    for (int k = 0; k < row->gen->nresults; k++) fields[k].name = row->gen->result_names[k];
    /* the schema's name, max, not that of the row, max_dim */
    snprintf(name, sizeof name, "torch.return_types.%.*s", (int)strcspn(row->schema, ".("),
             row->schema);
    PyStructSequence_Desc desc = {name, NULL, fields, row->gen->nresults};
    type = (PyObject *)PyStructSequence_NewType(&desc);
    PyObject *repr = type ? PyDescr_NewMethod((PyTypeObject *)type, &py_results_def) : NULL;
    int bad = !repr || PyObject_SetAttrString(type, "__repr__", repr) ||
              PyDict_SetItemString(types, row->name, type);
    Py_XDECREF(repr);
    Py_XDECREF(type); /* the dictionary has it */
    if (bad) return NULL;
    return type;
}

/* One result: a new tensor, or a given one, which has a wrapper or has lost it meanwhile. */
TNI_INLINE PyObject *py_result_of(tn_tensor *t) {
    /* a result that was given (out=, x.add_) has a wrapper already, which is the result */
    PyObject *known = (PyObject *)tn_binding(t);
    if (known) return py_wrap_known(t, known);
    /* its wrapper let it go while the call ran: the count is the retired list's */
    if (TNI_UNLIKELY(py.retired) && py_retired_has(t)) return py_wrap(tn_retain(t));
    return py_wrap(tn_take(t));
}

/* A named tuple of the results r, which it takes; None of a row without results. */
static PyObject *py_results_several(const tn_row *row, tn_tensor **r) {
    int n = row->gen->nresults;
    bool named = n && strncmp(row->schema, "var_mean", 8) != 0; /* torch names no results of it */
    PyObject *type = named ? py_results_type(row) : NULL;
    PyObject *all = !n       ? Py_NewRef(Py_None)
                    : !named ? PyTuple_New(n)
                    : type   ? PyStructSequence_New((PyTypeObject *)type)
                             : NULL;
    for (int k = 0; k < n; k++) {
        /* all results are taken even after a failure, as each has a count */
        PyObject *one = r[k] ? py_result_of(r[k]) : Py_NewRef(Py_None);
        if (all && one && !named) {
            PyTuple_SetItem(all, k, one);
        } else if (all && one) {
            PyStructSequence_SetItem(all, k, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

PY_PRIV PyObject *py_results_list(tn_list l) {
    PyObject *all = PyTuple_New((Py_ssize_t)l.n);
    for (int64_t i = 0; i < l.n; i++) {
        PyObject *one = l.at[i] ? py_wrap(tn_take(l.at[i])) : Py_NewRef(Py_None);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    /* the holder owned the array; the tensors were taken one by one */
    tn_free(tn_take(l.holder));
    return all;
}

/* "-> bool": the row's result is a 0-dim tensor in C. */
static PyObject *py_result_truth(tn_tensor *t) {
    bool truth = tnp_item_int(t) != 0;
    tn_free(tn_take(t));
    return tn_ok() ? PyBool_FromLong(truth) : py_raise();
}

/* --- running ---------------------------------------------------------------------------------- */

PY_PRIV bool py_records(const tn_gen *gen, const void *args) {
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    /* lists are not walked: a place too many costs little */
    return (gen->props & TN_PROP_LISTS) != 0;
}

/* tn_call around the locks it needs. A call that was stopped for somebody else's Ctrl-C is
 * made again. */
static bool py_run_call(const tn_row *row, unsigned how, const char *file, int line,
                        const void *args, void *results, bool lasts) {
    const bool draws = (row->gen->props & TN_PROP_GENERATOR) != 0;
    bool ok;
    do {
        /* the generator before the GIL: who waits for it lets go of the GIL */
        if (TNI_UNLIKELY(draws)) py_draw_begin();
        if (lasts) {
            py_long l = py_long_begin();
            ok = tn_call(row, how, file, line, args, results);
            py_long_end(l);
        } else {
            ok = tn_call(row, how, file, line, args, results);
        }
        if (TNI_UNLIKELY(draws)) py_draw_end();
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    return ok;
}

/* Runs the row and makes its result, new. The struct's tensors are borrowed from the
 * caller's arguments. */
PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts,
                         bool records) {
    const tn_gen *gen = row->gen;
    const char *file = NULL;
    int line = 0;
    union {
        tn_tensor *one[8];
        tn_list list;
    } r;
    /* the place is only for the tape's messages and for plans; errors here have a traceback of
     * Python's */
    if (TNI_UNLIKELY(py.planning) || (records && tn_grad_mode())) py_here(&file, &line);
    lasts = lasts || !gen->nresults; /* it may wait for other ranks */
    if (TNI_UNLIKELY(!py_run_call(row, how, file, line, args, &r, lasts))) {
        py_raise();
        if (how != TN_PLAIN || !py_resized(row, args, r.one)) return NULL;
    }
    if (gen->props & TN_PROP_RETURNS_LIST) return py_results_list(r.list);
    if (gen->nresults != 1) return py_results_several(row, r.one);
    if (TNI_UNLIKELY(gen->props & TN_PROP_TRUTH)) return py_result_truth(r.one[0]);
    return py_result_of(r.one[0]);
}
