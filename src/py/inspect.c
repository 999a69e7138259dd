/* inspect.c - what the package's tests and stubs ask: all rows, memory in use, allocations that
 * fail on purpose. None of it is a user's. */
#include "py.h"

/* --- rows ------------------------------------------------------------------------------------- */

/* ((name, type, default as in the schema or None, optional, keyword, words or None), ..) */
static PyObject *py_inspect_params(const tn_row *row) {
    PyObject *all = PyTuple_New(row->gen->nparam);
    for (int i = 0; all && i < row->gen->nparam; i++) {
        const tn_param *p = &row->gen->param[i];
        py_param_text text;
        py_row_param(row, i, &text);
        /* None, or the words as a list; N of Py_BuildValue takes it */
        PyObject *words = p->words ? PyList_New(0) : Py_NewRef(Py_None);
        for (int k = 0; words && p->words && p->words[k]; k++) {
            PyObject *word = PyUnicode_FromString(p->words[k]);
            if (!word || PyList_Append(words, word)) Py_CLEAR(words);
            Py_XDECREF(word);
        }
        PyObject *one =
            words
                ? Py_BuildValue("ss#z#NNN", p->name, text.type, (Py_ssize_t)text.ntype, text.value,
                                (Py_ssize_t)text.nvalue, PyBool_FromLong(p->flags & TN_P_OPTIONAL),
                                PyBool_FromLong(p->flags & TN_P_KEYWORD), words)
                : NULL;
        if (!one || PyTuple_SetItem(all, i, one)) Py_CLEAR(all);
    }
    return all;
}

/* [{"torch": "max", "schema": .., "params": ..}, ..] */
PY_PRIV PyObject *py_inspect_rows(PyObject *self, PyObject *unused) {
    PyObject *all = PyList_New(0);
    (void)self, (void)unused;
    for (int64_t i = 0; all && i < tn_row_count(); i++) {
        /* N in the format takes a reference, s and z copy a text */
        const tn_row *row = tn_row_at(i);
        const tn_gen *gen = row->gen;
        PyObject *params = py_inspect_params(row);
        PyObject *one =
            params ? Py_BuildValue(
                         "{ss#,ss,ss,sz,sz,sz,sN,sN,sN,sN,si,sN}", "torch", row->schema,
                         (Py_ssize_t)strcspn(row->schema, ".("), "name", row->name, "schema",
                         row->schema, "sample", row->sample, "domain", row->domain, "places",
                         py_row_places(row), "method", PyBool_FromLong(py_row_is_method(row)),
                         "out", PyBool_FromLong(gen->out_offset != UINT16_MAX), "inplace",
                         PyBool_FromLong(row->forms & TN_INPLACE), "creates",
                         PyBool_FromLong(py_row_creates(gen)), "results",
                         gen->props & TN_PROP_RETURNS_LIST ? -1 : gen->nresults, "params", params)
                   : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* (bytes in use, living tensors, calls of the allocator so far) */
PY_PRIV PyObject *py_inspect_memory(PyObject *self, PyObject *unused) {
    tn_memory_stats m = tn_memory();
    (void)self, (void)unused;
    return Py_BuildValue("LLL", (long long)m.bytes_used, (long long)m.live_tensors,
                         (long long)m.allocations);
}

/* Most bytes in use since the last call of this. */
PY_PRIV PyObject *py_inspect_peak(PyObject *self, PyObject *unused) {
    tn_memory_stats m = tn_memory();
    (void)self, (void)unused;
    tn_memory_reset_peak();
    return PyLong_FromLongLong((long long)m.bytes_peak);
}

/* The library's error that a call has left behind, which is a fault of src/py; or None. */
PY_PRIV PyObject *py_inspect_pending(PyObject *self, PyObject *unused) {
    tn_error_info info;
    (void)self, (void)unused;
    if (!tn_error_take(&info)) Py_RETURN_NONE;
    return PyUnicode_FromString(info.message);
}
