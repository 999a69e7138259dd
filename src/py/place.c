/* place.c - names below torch: `_spaces` holds {"linalg": {"cholesky": function, ..}, ..}, of rows
 * and of exceptions. The package's namespaces (linalg.py, nn/functional.py, ..) look there. */
#include "py.h"

/* The dictionary of a namespace, borrowed; made at first need. */
static PyObject *py_place_space(PyObject *spaces, const char *name, size_t n) {
    PyObject *key = PyUnicode_FromStringAndSize(name, (Py_ssize_t)n);
    PyObject *space = key ? PyDict_GetItemWithError(spaces, key) : NULL;
    if (key && !space && !PyErr_Occurred() && (space = PyDict_New()) != NULL) {
        if (PyDict_SetItem(spaces, key, space)) Py_CLEAR(space);
        Py_XDECREF(space); /* spaces holds it */
    }
    Py_XDECREF(key);
    return space;
}

/* Puts a value at the n bytes of `place`: "nn.functional.relu". */
PY_PRIV bool py_place(PyObject *module, const char *place, size_t n, PyObject *value) {
    PyObject *all = PyObject_GetAttrString(module, "_spaces"), *space = NULL, *name;
    size_t dot = n;
    bool ok = false;
    while (place[--dot] != '.') continue;
    if (all) space = py_place_space(all, place, dot);
    name = space ? PyUnicode_FromStringAndSize(place + dot + 1, (Py_ssize_t)(n - dot - 1)) : NULL;
    if (name) ok = !PyDict_SetItem(space, name, value);
    Py_XDECREF(name);
    Py_XDECREF(all);
    return ok;
}

/* The function of a group at the places of its rows; a name that ends in _ is the in-place form. */
PY_PRIV bool py_place_group(PyObject *module, const py_group *g) {
    const bool in_place = g->name[strlen(g->name) - 1] == '_';
    for (int i = 0; i < g->nrows; i++) {
        const char *at = py_docs_places(g->row[i]);
        for (size_t n; at && *at; at += n + strspn(at + n, " ")) {
            n = strcspn(at, " ");
            if ((at[n - 1] == '_') == in_place && !py_place(module, at, n, g->function))
                return false;
        }
    }
    return true;
}

/* Whether a row stands in a namespace alone, as its own name begins with it: linalg_cholesky is
 * neither in torch nor a method of Tensor. */
PY_PRIV bool py_place_is_own(const tn_row *row) {
    const char *place = py_docs_places(row), *name = row->schema;
    if (!place) return false;
    for (; *place == *name || (*place == '.' && *name == '_'); place++) name++;
    return *name == '(' || *name == '.';
}

PY_PRIV int py_places_begin(PyObject *module) {
    PyObject *all = PyDict_New();
    int bad = !all || PyModule_AddObjectRef(module, "_spaces", all);
    Py_XDECREF(all);
    return bad ? -1 : 0;
}
