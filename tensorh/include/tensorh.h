/* tensorh.h - a Python module of operators written in C: rows, and one line.
 *
 *     #include "tensorh.h"
 *     static tn_row twice = {.name = "twice", .schema = "twice(Tensor self) -> Tensor", ..};
 *     TN_PYTHON_MODULE(myops, &twice)
 *
 *     cc -shared -fPIC $(python3 -m tensorh --cflags) myops.c -o myops.so
 *     >>> import myops, tensorh as torch
 *     >>> myops.twice(torch.ones(3))
 *
 * The library is that of the package: calls go through its table (TN_IMPORT in tensor.h), so
 * tensors, gradients, threads and errors are the same ones. A module that was compiled for another
 * version of it is refused at import. In C: the row is all there is to write (docs/rows.md). */
#ifndef TENSORH_H
#define TENSORH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define TN_IMPORT
#include "tensor.h"

/* Registers the rows and makes the module with a function for each. */
static TNI_UNUSED PyObject *tn_python_module(PyModuleDef *def, tn_row *const *rows) {
    const tn_exports *exports = (const tn_exports *)PyCapsule_Import("tensorh._C._api", 0);
    if (!exports) return NULL;
    if (!tn_import(exports))
        return PyErr_Format(PyExc_ImportError, "%s was compiled for another version of tensorh",
                            def->m_name);
    PyObject *module = PyModule_Create(def), *core = PyImport_ImportModule("tensorh._C");
    for (; module && core && *rows; rows++) {
        PyObject *f = NULL;
        tn_error_info error;
        if (!(*rows)->gen && !tn_register(*rows) && tn_error_take(&error))
            PyErr_SetString(PyExc_ImportError, error.message);
        else
            f = PyObject_CallMethod(core, "_registered", "s", (*rows)->name);
        if (!f || PyObject_SetAttrString(module, (*rows)->name, f)) Py_CLEAR(module);
        Py_XDECREF(f);
    }
    Py_XDECREF(core);
    return module;
}

/* name: of the module, or TORCH_EXTENSION_NAME, which torch.utils.cpp_extension defines. */
#define TN_PYTHON_MODULE(name, ...) TNI_PYTHON_MODULE(name, __VA_ARGS__)
#define TNI_PYTHON_MODULE(name, ...)                                               \
    PyMODINIT_FUNC PyInit_##name(void);                                            \
    PyMODINIT_FUNC PyInit_##name(void) {                                           \
        static PyModuleDef def = {                                                 \
            PyModuleDef_HEAD_INIT, #name, NULL, -1, NULL, NULL, NULL, NULL, NULL}; \
        static tn_row *const rows[] = {__VA_ARGS__, NULL};                         \
        return tn_python_module(&def, rows);                                       \
    }

#endif
