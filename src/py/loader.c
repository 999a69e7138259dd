#include "py.h"
PY_PRIV int py_loader_begin(PyObject *module) {
    (void)module;
    return 0;
}
