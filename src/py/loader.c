/* loader.c - what torch.utils.data needs of C: seeds as torch draws them, rows gathered into a
 * batch. Order and workers are Python's (tensorh/utils/data). */
#include "py.h"

/* _draw(generator): int64 random_() of torch, 63 bits; None: the default generator. */
static PyObject *py_loader_draw(PyObject *self, PyObject *o) {
    (void)self;
    if (o != Py_None && Py_TYPE(o) != py.generator)
        return PyErr_Format(PyExc_TypeError, "expected a torch.Generator, got %R", Py_TYPE(o));
    tn_generator *g = o == Py_None ? tn_default_generator() : ((py_generator *)o)->generator;
    if (!g) return py_raise();
    py_draw_begin();
    uint64_t drawn = tn_random64(g);
    py_draw_end();
    return PyLong_FromLongLong((long long)(drawn & INT64_MAX));
}

/* The `count` numbers of a list as rows of a tensor with `size` rows; negative ones count from
 * the end. */
static bool py_loader_rows(PyObject *list, int64_t count, int64_t size, int64_t *to) {
    for (Py_ssize_t i = 0; i < count && i < PyList_Size(list); i++) {
        PyObject *o = Py_XNewRef(PyList_GetItem(list, i)); /* __index__ may change the list */
        int64_t row;
        bool ok = o && py_to_index(o, &row);
        if (o && !ok && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "expected an index, got %R", o);
        Py_XDECREF(o);
        if (!ok) return false;
        if (row < -size || row >= size) {
            PyErr_Format(PyExc_IndexError,
                         "index %lld is out of bounds for dimension 0 with size %lld",
                         (long long)row, (long long)size);
            return false;
        }
        to[i] = row < 0 ? row + size : row;
    }
    return true;
}

/* Rows of t by number. Large batches release the GIL. */
static tn_tensor *py_loader_select(tn_tensor *t, tn_tensor *rows) {
    tn_tensor *r;
    /* elements of the result, compared without their product */
    bool lasts =
        tn_numel(rows) && tn_size(t, 0) && tn_numel(t) / tn_size(t, 0) >= PY_LONG / tn_numel(rows);
    do {
        if (lasts) {
            py_long l = py_long_begin();
            r = tnp_index_select(t, 0, rows);
            py_long_end(l);
        } else {
            r = tnp_index_select(t, 0, rows);
        }
    } while (!r && py_stopped());
    return r;
}

/* _gather(tensors, rows): a list with the rows of each tensor, recorded by no tape. */
static PyObject *py_loader_gather(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (n != 2 || !PyTuple_Check(args[0]) || !PyList_Check(args[1]) || !PyTuple_Size(args[0]))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of tensors and a list of rows");
    /* the list may be changed by an __index__: compared again below */
    int64_t count = PyList_Size(args[1]);
    tn_tensor *rows = tnp_empty(tn_ints_of(&count, 1), TN_I64, TN_CPU);
    if (!rows) return py_raise();
    PyObject *all = PyList_New(0), *first = PyTuple_GetItem(args[0], 0);
    bool ok = all && py_is_tensor(first) && tn_ndim(py_of(first)) &&
              py_loader_rows(args[1], count, tn_size(py_of(first), 0), (int64_t *)tn_data(rows)) &&
              PyList_Size(args[1]) == count;
    bool mode = tn_set_grad_mode(false);
    const int turn = py_lend(); /* another thread may run */
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(args[0]); i++) {
        PyObject *o = PyTuple_GetItem(args[0], i), *one = NULL;
        if (py_is_tensor(o)) {
            tn_tensor *r = py_loader_select(py_of(o), rows);
            one = r ? py_wrap(tn_take(r)) : py_raise();
        }
        ok = one && !PyList_Append(all, one);
        Py_XDECREF(one);
    }
    py_lent(turn, NULL);
    tn_set_grad_mode(mode);
    tn_free(rows);
    if (ok) return all;
    Py_XDECREF(all);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected tensors with rows");
    return NULL;
}

static PyMethodDef py_loader_functions[] = {
    {"_draw", py_loader_draw, METH_O, NULL},
    {"_gather", (PyCFunction)(void *)py_loader_gather, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_loader_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_loader_functions);
}
