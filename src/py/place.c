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
    /* a place has a dot at least: rows of torch itself have none (docs/rows.md) */
    while (place[--dot] != '.') continue;
    if (all) space = py_place_space(all, place, dot);
    name = space ? PyUnicode_FromStringAndSize(place + dot + 1, (Py_ssize_t)(n - dot - 1)) : NULL;
    if (name) ok = !PyDict_SetItem(space, name, value);
    Py_XDECREF(name);
    Py_XDECREF(all);
    return ok;
}

PY_PRIV int py_places_begin(PyObject *module) {
    PyObject *all = PyDict_New();
    int bad = !all || PyModule_AddObjectRef(module, "_spaces", all);
    Py_XDECREF(all);
    return bad ? -1 : 0;
}

/* --- classes that stand ----------------------------------------------------------------------- */

PY_PRIV int py_add_methods(PyTypeObject *type, PyMethodDef *methods) {
    for (PyMethodDef *m = methods; m->ml_name; m++) {
        /* a heap type without Py_TPFLAGS_IMMUTABLETYPE takes attributes as any class of
         * Python does */
        PyObject *o = PyDescr_NewMethod(type, m);
        int bad = !o || PyObject_SetAttrString((PyObject *)type, m->ml_name, o);
        Py_XDECREF(o);
        if (bad) return -1;
    }
    return 0;
}

PY_PRIV int py_add_attributes(PyTypeObject *type, PyGetSetDef *attributes) {
    for (PyGetSetDef *a = attributes; a->name; a++) {
        PyObject *o = PyDescr_NewGetSet(type, a);
        int bad = !o || PyObject_SetAttrString((PyObject *)type, a->name, o);
        Py_XDECREF(o);
        if (bad) return -1;
    }
    return 0;
}

PY_PRIV PyTypeObject *py_place_class(PyObject *module, const char *name, const char *full,
                                     size_t bytes, unsigned flags, PyType_Slot *slots) {
    /* programs get instances from the library alone: calling the class is a TypeError, or the
     * error of a Py_tp_new that comes first */
    if (slots->slot != Py_tp_new) flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
    PyType_Spec spec = {full, (int)bytes, 0, Py_TPFLAGS_DEFAULT | flags, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}
