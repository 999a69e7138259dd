/* tap.c - gradients on their way, for hooks of modules: a call that changes nothing in forward, and
 * whose gradients pass through Python code in backward. */
#include "py.h"

/* A call that changes nothing; its gradients pass through Python code. Its row is a part of it, as
 * the number of tensors differs. */
typedef struct py_tap {
    tn_function_row row;
    PyObject *call;
} py_tap;

/* Views, so that the outputs are other tensors with the inputs' values. */
static bool py_tap_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f;
    for (int i = 0; i < nin; i++)
        if (!(out[i] = tnp_view(in[i], tn_shape(in[i])))) return false;
    return true;
}

/* The incoming gradients as a new tuple; None for those that did not come. */
static PyObject *py_tap_gradients(tn_tensor *const *grad, int n) {
    PyObject *all = PyTuple_New(n);
    for (int i = 0; all && i < n; i++) {
        PyObject *o = py_wrap_borrowed(grad[i]);
        if (!o || PyTuple_SetItem(all, i, o)) Py_CLEAR(all);
    }
    return all;
}

/* given: a tuple of as many gradients. */
static bool py_tap_give(PyObject *given, tn_tensor **grad, int n) {
    if (!PyTuple_Check(given) || PyTuple_Size(given) != n) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a backward hook returned the wrong number of gradients");
        return false;
    }
    for (int i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(given, i);
        /* None ends the gradient of this tensor */
        grad[i] = NULL;
        if (o == Py_None) continue;
        if (!py_is_tensor(o)) {
            PyErr_SetString(PyExc_TypeError, "a backward hook must return Tensors or None");
            return false;
        }
        if (!(grad[i] = tnp_view(py_of(o), tn_shape(py_of(o))))) return false;
    }
    return true;
}

/* What the tape calls: f(gradients), whose results go on. */
static bool py_tap_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    /* in any thread; the GIL until the gradients are given */
    const py_inside inside = py_inside_begin();
    const py_tap *tap = (const py_tap *)tn_function_user(f);
    PyObject *grads = py_tap_gradients(grad_out, tap->row.nout);
    PyObject *given = grads ? PyObject_CallFunctionObjArgs(tap->call, grads, NULL) : NULL;
    bool ok = given && py_tap_give(given, grad_in, tap->row.nout);
    Py_XDECREF(given);
    Py_XDECREF(grads);
    /* the exception stays set; the library needs an error to end the pass */
    if (!ok && tn_ok()) tn_error_set(TN_INVALID, NULL, 0, "a backward hook raised an exception");
    py_inside_end(inside);
    return ok;
}

static void py_tap_release(void *user) {
    /* the tape drops it, in any thread */
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(((py_tap *)user)->call);
    PyGILState_Release(state);
    py_give(user);
}

enum { TAP_MOST = 64 };
/* The outputs as wrappers. All are taken even after a failure. */
static PyObject *py_tap_results(tn_tensor **out, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = py_wrap(tn_take(out[i]));
        if (all && o)
            PyTuple_SetItem(all, i, o);
        else
            Py_XDECREF(o);
        if (!o) Py_CLEAR(all);
    }
    return all;
}

/* _tap(tensors, f): tensors of the same values, whose gradients g pass through f(g). */
static PyObject *py_tap_new(PyObject *self, PyObject *args) {
    PyObject *tensors, *call;
    tn_tensor *in[TAP_MOST], *out[TAP_MOST];
    const char *file;
    int line;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &tensors, &call)) return NULL;
    Py_ssize_t n = PyTuple_Size(tensors);
    if (n < 1 || n > TAP_MOST)
        return PyErr_Format(PyExc_ValueError, "hooks: expected 1 to %d tensors", TAP_MOST);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(tensors, i);
        if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "hooks: expected a Tensor");
        in[i] = py_of(o);
    }
    /* the tape owns it from tn_function_call_at on, also if that fails */
    py_tap *tap = (py_tap *)py_get(1, sizeof *tap);
    if (!tap) return PyErr_NoMemory();
    tap->row.name = "BackwardHookFunction";
    tap->row.nout = (int)n;
    tap->row.forward = py_tap_forward;
    tap->row.backward = py_tap_backward;
    tap->row.release = py_tap_release;
    tap->call = Py_NewRef(call);
    const int turn = py_lend();
    py_here(&file, &line);
    const tn_tensors all = tn_tensors_of(in, (int64_t)n);
    bool ok = tn_function_call_at(file, line, &tap->row, all, tap, out);
    return py_lent(turn, ok ? py_tap_results(out, n) : py_raise());
}

static PyMethodDef py_tap_functions[] = {{"_tap", py_tap_new, METH_VARARGS, NULL},
                                         {NULL, NULL, 0, NULL}};

PY_PRIV int py_taps_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_tap_functions);
}
