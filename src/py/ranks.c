/* ranks.c - groups of ranks and models that several ranks train, for tensorh/distributed.py and
 * tensorh/nn/parallel.py. A group is a capsule, which leaves it when it goes. All that waits for
 * other ranks runs without the GIL, as they may be threads of this interpreter. */
#include "py.h"

static const char ranks_group[] = "tensorh.group_of_ranks", ranks_model[] = "tensorh.parallel",
                  ranks_gone[] = "tensorh.gone";

static void ranks_end_group(PyObject *o) {
    tn_group_free((tn_group *)PyCapsule_GetPointer(o, ranks_group));
}
static void ranks_end_model(PyObject *o) {
    tn_parallel_free((tn_parallel *)PyCapsule_GetPointer(o, ranks_model));
    py.parallel--;
}

/* A group as a capsule, which owns it; an error of the library as an exception. */
static PyObject *ranks_wrap(tn_group *g) {
    PyObject *o = g ? PyCapsule_New(g, ranks_group, ranks_end_group) : py_raise();
    if (g && !o) tn_group_free(g);
    return o;
}
/* None: NULL, one rank. False with an exception. */
static bool ranks_of(PyObject *o, tn_group **to) {
    *to = NULL;
    if (o == Py_None) return true;
    *to = (tn_group *)PyCapsule_GetPointer(o, ranks_group);
    if (*to) return true;
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, "the process group was destroyed, or is none");
    return false;
}

/* _ranks_threads(n): the meeting place of n threads. */
static PyObject *ranks_threads(PyObject *self, PyObject *o) {
    const long n = PyLong_AsLong(o);
    (void)self;
    if (n == -1 && PyErr_Occurred()) return NULL;
    return ranks_wrap(tn_group_threads_at(NULL, 0, n > INT32_MAX || n < 0 ? 0 : (int32_t)n));
}

/* _ranks_join(place, rank) */
static PyObject *ranks_join(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *place;
    int rank;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &o, &rank) || !ranks_of(o, &place)) return NULL;
    return ranks_wrap(tn_group_join_at(NULL, 0, place, rank));
}

/* _ranks_use(group): the calling thread's group from here on; None: it is alone. */
static PyObject *ranks_use(PyObject *self, PyObject *o) {
    tn_group *g;
    (void)self;
    if (!ranks_of(o, &g)) return NULL;
    tn_group_use(g);
    if (!tn_ok()) return py_raise();
    Py_RETURN_NONE;
}

/* _ranks_split(group, color): None for a negative color. */
static PyObject *ranks_split(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *g, *made;
    int color;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &o, &color) || !ranks_of(o, &g)) return NULL;
    py_long l = py_long_begin();
    made = tn_group_split_at(NULL, 0, g, color);
    py_long_end(l);
    if (!made && tn_ok()) Py_RETURN_NONE;
    return ranks_wrap(made);
}

/* _ranks_limit(group, seconds) */
static PyObject *ranks_limit(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_group *g;
    double seconds;
    (void)self;
    if (!PyArg_ParseTuple(args, "Od", &o, &seconds) || !ranks_of(o, &g)) return NULL;
    if (!tn_group_set_limit_at(NULL, 0, g, seconds)) return py_raise();
    Py_RETURN_NONE;
}

/* _ranks_leave(group): now, not when the capsule goes. */
static PyObject *ranks_leave(PyObject *self, PyObject *o) {
    tn_group *g;
    (void)self;
    if (!ranks_of(o, &g)) return NULL;
    if (g && (PyCapsule_SetDestructor(o, NULL) || PyCapsule_SetName(o, ranks_gone))) return NULL;
    tn_group_free(g);
    Py_RETURN_NONE;
}

/* The tensors of a tuple, borrowed, in memory of py_get; NULL with an exception. */
static tn_tensor **ranks_tensors(PyObject *tuple) {
    const Py_ssize_t n = PyTuple_Size(tuple);
    tn_tensor **t = (tn_tensor **)py_get((size_t)n + 1, sizeof *t);
    if (!t) return (tn_tensor **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(tuple, i);
        if (!py_is_tensor(o)) {
            py_give(t);
            PyErr_SetString(PyExc_TypeError, "expected tensors");
            return NULL;
        }
        t[i] = py_of(o);
    }
    return t;
}

/* _parallel(parameters, buffers, group, bucket_bytes): their model, a capsule. */
static PyObject *ranks_parallel(PyObject *self, PyObject *args) {
    PyObject *parameters, *buffers, *group, *o = NULL;
    tn_data_parallel_args a;
    tn_tensor **p, **b;
    tn_parallel *made = NULL;
    long long bytes;
    (void)self;
    memset(&a, 0, sizeof a);
    if (!PyArg_ParseTuple(args, "O!O!OL", &PyTuple_Type, &parameters, &PyTuple_Type, &buffers,
                          &group, &bytes) ||
        !ranks_of(group, &a.group))
        return NULL;
    p = ranks_tensors(parameters);
    b = p ? ranks_tensors(buffers) : NULL;
    if (b) {
        a.parameters = tn_tensors_of(p, PyTuple_Size(parameters));
        a.buffers = tn_tensors_of(b, PyTuple_Size(buffers));
        a.bucket_bytes = bytes;
        const int turn = py_lend();
        py_long l = py_long_begin();
        made = tn_data_parallel_at(NULL, 0, &a);
        py_long_end(l);
        py_lent(turn, NULL);
        o = made ? PyCapsule_New(made, ranks_model, ranks_end_model) : py_raise();
        if (o) py.parallel++;
        if (made && !o) tn_parallel_free(made);
    }
    py_give(b);
    py_give(p);
    return o;
}

/* _parallel_sync(model, whether): what it was before. */
static PyObject *ranks_sync(PyObject *self, PyObject *args) {
    PyObject *o;
    tn_parallel *p;
    int sync;
    (void)self;
    if (!PyArg_ParseTuple(args, "Op", &o, &sync)) return NULL;
    p = (tn_parallel *)PyCapsule_GetPointer(o, ranks_model);
    return p ? PyBool_FromLong(tn_parallel_set_sync(p, sync != 0)) : NULL;
}

/* _parallel_share(model): rank 0's buffers to all. */
static PyObject *ranks_share(PyObject *self, PyObject *o) {
    tn_parallel *p = (tn_parallel *)PyCapsule_GetPointer(o, ranks_model);
    bool ok;
    (void)self;
    if (!p) return NULL;
    py_long l = py_long_begin();
    ok = tn_parallel_share_at(NULL, 0, p);
    py_long_end(l);
    if (!ok) return py_raise();
    Py_RETURN_NONE;
}

static PyMethodDef ranks_functions[] = {{"_ranks_threads", ranks_threads, METH_O, NULL},
                                        {"_ranks_join", ranks_join, METH_VARARGS, NULL},
                                        {"_ranks_use", ranks_use, METH_O, NULL},
                                        {"_ranks_split", ranks_split, METH_VARARGS, NULL},
                                        {"_ranks_limit", ranks_limit, METH_VARARGS, NULL},
                                        {"_ranks_leave", ranks_leave, METH_O, NULL},
                                        {"_parallel", ranks_parallel, METH_VARARGS, NULL},
                                        {"_parallel_sync", ranks_sync, METH_VARARGS, NULL},
                                        {"_parallel_share", ranks_share, METH_O, NULL},
                                        {NULL, NULL, 0, NULL}};

PY_PRIV int py_ranks_begin(PyObject *module) {
    return PyModule_AddFunctions(module, ranks_functions);
}
