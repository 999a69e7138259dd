/* plan.c - what tensorh.will_it_fit (tensorh/_plan.py) asks of the library's plan of memory. */
#include "py.h"

/* _plan_begin(): meta tensors count from here on. */
PY_PRIV PyObject *py_plan_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (!tn_plan_begin_at(NULL, 0)) return py_raise();
    py.planning = true;
    Py_RETURN_NONE;
}

/* (bytes, count, what, shape, file or None, line) */
static PyObject *py_plan_part(const tn_plan_part *p) {
    return Py_BuildValue("LLsszi", (long long)p->bytes, (long long)p->count, p->what, p->shape,
                         p->file, p->line);
}

/* _plan_end(): (peak, tensor_peak, end, rest, parts) */
PY_PRIV PyObject *py_plan_end(PyObject *self, PyObject *unused) {
    tn_plan plan;
    (void)self, (void)unused;
    py.planning = false;
    if (!tn_plan_end_at(NULL, 0, &plan)) return py_raise();
    PyObject *parts = PyTuple_New(plan.nparts);
    for (int i = 0; parts && i < plan.nparts; i++) {
        PyObject *part = py_plan_part(&plan.part[i]);
        if (!part || PyTuple_SetItem(parts, i, part)) Py_CLEAR(parts);
    }
    if (!parts) return NULL;
    return Py_BuildValue("LLLLN", (long long)plan.peak, (long long)plan.tensor_peak,
                         (long long)plan.end, (long long)plan.rest, parts);
}
