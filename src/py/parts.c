/* parts.c - the dictionaries of a module, in which its parameters, buffers and children stand. */
#include "py.h"

/* Puts a new reference, or NULL where making it failed, into a dictionary. */
PY_PRIV bool py_module_put(PyObject *dict, PyObject *word, PyObject *value) {
    bool ok = value && !PyDict_SetItem(dict, word, value);
    Py_XDECREF(value);
    return ok;
}

PY_PRIV int py_module_begin_one(PyObject *self) {
    py_module *m = (py_module *)self;
    if (!m->dict && !(m->dict = PyDict_New())) return -1;
    /* plain dictionaries: hooks' ordered ones are made when somebody looks at them (module.c) */
    bool ok = py_module_put(m->dict, py.training, Py_NewRef(Py_True)) &&
              py_module_put(m->dict, py.parameters_, PyDict_New()) &&
              py_module_put(m->dict, py.buffers_, PyDict_New()) &&
              py_module_put(m->dict, py.transient_, PySet_New(NULL)) &&
              py_module_put(m->dict, py.modules_, PyDict_New());
    return ok ? 0 : -1;
}

PY_PRIV PyObject *py_module_dict(PyObject *self, PyObject *word) {
    PyObject *dict = ((py_module *)self)->dict;
    PyObject *in = dict ? PyDict_GetItemWithError(dict, word) : NULL;
    /* a program may have put anything there */
    return in && PyDict_Check(in) ? in : NULL;
}
