/* args.c - arguments as Python passes them, an array and the names of those behind the positional
 * ones, as a tuple, as a dictionary and by name. Nothing here knows a row or a tensor. */
#include "py.h"

PY_PRIV PyObject *py_entry(PyObject *dict, const char *name) {
    PyObject *word = PyUnicode_FromString(name);
    /* borrowed, which is safe as long as the caller keeps the dictionary and runs no Python code */
    PyObject *o = word ? PyDict_GetItemWithError(dict, word) : NULL;
    Py_XDECREF(word);
    return o;
}

/* The n arguments as a new tuple, as tp_call and Python functions want them. */
PY_PRIV PyObject *py_args_tuple(PyObject *const *args, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    /* PyTuple_SetItem takes the reference, also when it fails */
    for (Py_ssize_t i = 0; all && i < n; i++) PyTuple_SetItem(all, i, Py_NewRef(args[i]));
    return all;
}

/* The values behind the positional arguments by their names, a new dictionary. */
PY_PRIV PyObject *py_args_dict(PyObject *const *values, PyObject *kwnames) {
    PyObject *all = PyDict_New();
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(kwnames); i++)
        if (PyDict_SetItem(all, PyTuple_GetItem(kwnames, i), values[i])) Py_CLEAR(all);
    return all;
}

PY_PRIV bool py_take(const char *what, const char *const *names, int n, PyObject *const *args,
                     Py_ssize_t nargs, PyObject *kwnames, PyObject **to) {
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    /* messages are those of CPython for functions written in Python */
    if (nargs > n) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments (%zd given)", what, n,
                     nargs);
        return false;
    }
    for (int i = 0; i < n; i++) to[i] = i < nargs ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < nkw; k++) {
        PyObject *name = PyTuple_GetItem(kwnames, k);
        /* names of **words need not be interned, so they are compared as text */
        int i = 0;
        while (i < n && PyUnicode_CompareWithASCIIString(name, names[i]) != 0) i++;
        if (i == n || to[i]) {
            PyErr_Format(PyExc_TypeError,
                         i == n ? "%s() got an unexpected keyword argument '%U'"
                                : "%s() got multiple values for argument '%U'",
                         what, name);
            return false;
        }
        to[i] = args[nargs + k];
    }
    return true;
}
