/* plan.c - what tensorh.will_it_fit (tensorh/_plan.py) asks of the library's plan of memory. */
#include "py.h"

/* _plan_begin(): tensors of meta and of devices have no data from here on, and count. */
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

/* (device, peak, tensor_peak, rest, parts) */
static PyObject *py_plan_of(const tn_plan *plan) {
    PyObject *parts = PyTuple_New(plan->nparts);
    for (int i = 0; parts && i < plan->nparts; i++) {
        PyObject *part = py_plan_part(&plan->part[i]);
        if (!part || PyTuple_SetItem(parts, i, part)) Py_CLEAR(parts);
    }
    if (!parts) return NULL;
    return Py_BuildValue("sLLLN", tn_device_name(plan->device), (long long)plan->peak,
                         (long long)plan->tensor_peak, (long long)plan->rest, parts);
}

/* _plan_end(): a tuple for each device, that of the CPU first. */
PY_PRIV PyObject *py_plan_end(PyObject *self, PyObject *unused) {
    enum { PLANS = 65 };
    tn_plan *plan = (tn_plan *)PyMem_Malloc(PLANS * sizeof *plan);
    (void)self, (void)unused;
    py.planning = false;
    if (!plan) {
        tn_plan_end_at(NULL, 0, NULL, 0);
        return PyErr_NoMemory();
    }
    const int n = tn_plan_end_at(NULL, 0, plan, PLANS);
    PyObject *all = n ? PyTuple_New(n < PLANS ? n : PLANS) : py_raise();
    for (int i = 0; all && i < n && i < PLANS; i++) {
        PyObject *one = py_plan_of(&plan[i]);
        if (!one || PyTuple_SetItem(all, i, one)) Py_CLEAR(all);
    }
    PyMem_Free(plan);
    return all;
}
