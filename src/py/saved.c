/* saved.c - hooks of what calls keep for their gradients, and what a grad_fn keeps, as objects. */
#include "py.h"

/* --- hooks ------------------------------------------------------------------------------------ */

/* A pair of Python functions, which the tape owns. */
static void *py_saved_pack(tn_tensor *t, void *user) {
    const py_inside inside = py_inside_begin();
    PyObject *seen = py_wrap_borrowed(t);
    PyObject *r =
        seen ? PyObject_CallFunctionObjArgs(PyTuple_GetItem((PyObject *)user, 0), seen, NULL)
             : NULL;
    /* the exception stays set; the library's error only ends the call (py_raise) */
    if (!r) tn_error_set(TN_INVALID, NULL, 0, "a pack hook has failed");
    Py_XDECREF(seen);
    py_inside_end(inside);
    return r;
}

static tn_tensor *py_saved_unpack(void *value, void *user) {
    const py_inside inside = py_inside_begin();
    PyObject *r =
        PyObject_CallFunctionObjArgs(PyTuple_GetItem((PyObject *)user, 1), (PyObject *)value, NULL);
    tn_tensor *t = NULL;
    if (r && py_is_tensor(r))
        t = tn_lend(tn_retain(py_of(r)));
    else if (r)
        PyErr_Format(PyExc_TypeError,
                     "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                     "type %R",
                     Py_TYPE(r));
    if (!t) tn_error_set(TN_INVALID, NULL, 0, "an unpack hook has failed");
    Py_XDECREF(r);
    py_inside_end(inside);
    return t;
}

/* A packed value, or the pair. */
static void py_saved_drop(void *value, void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    (void)user;
    Py_DECREF((PyObject *)value);
    PyGILState_Release(state);
}
static void py_saved_release(void *user) { py_saved_drop(user, NULL); }

/* The hooks of two functions, with a new count of their pair; false with an exception. */
static bool py_saved_hooks_of(PyObject *const *args, Py_ssize_t n, tn_saved_hooks *h) {
    if (n != 2 || !PyCallable_Check(args[0]) || !PyCallable_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError,
                        "incompatible function arguments: expected two functions, pack_hook and "
                        "unpack_hook");
        return false;
    }
    h->pack = py_saved_pack;
    h->unpack = py_saved_unpack;
    h->drop = py_saved_drop;
    h->release = py_saved_release;
    return (h->user = PyTuple_Pack(2, args[0], args[1])) != NULL;
}

/* _push_saved_hooks(pack, unpack), until _pop_saved_hooks(). */
static PyObject *py_saved_push(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    tn_saved_hooks h;
    (void)self;
    if (!py_saved_hooks_of(args, n, &h)) return NULL;
    if (tn_saved_hooks_push_at(NULL, 0, &h)) Py_RETURN_NONE;
    return py_raise();
}
static PyObject *py_saved_pop(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(tn_saved_hooks_pop());
}

/* The error of torch for what was freed; NULL. */
PY_PRIV PyObject *py_saved_gone(void) {
    PyErr_SetString(PyExc_RuntimeError, PY_TWICE);
    return NULL;
}

/* --- what a call keeps ------------------------------------------------------------------------ */

/* torch's SavedTensor: what a call keeps of the argument or result of a name. */
typedef struct py_saved {
    PyObject_HEAD tn_history *history; /* counted */
    char name[64];
} py_saved;

PY_PRIV PyObject *py_saved_of(tn_history *h, const char *name) {
    py_saved *s = (py_saved *)PyType_GenericAlloc(py.saved, 0);
    if (!s) return NULL;
    s->history = tn_history_hold(h);
    snprintf(s->name, sizeof s->name, "%s", name);
    return (PyObject *)s;
}

static PyObject *py_saved_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)type, (void)args, (void)kwargs;
    return PyErr_Format(PyExc_RuntimeError,
                        "Trying to create a SavedTensor object from Python is forbidden.");
}

static void py_saved_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    tn_history_free(((py_saved *)self)->history);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *py_saved_register(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    const py_saved *s = (py_saved *)self;
    tn_saved_hooks h;
    if (!py_saved_hooks_of(args, n, &h)) return NULL;
    if (tn_history_pack(s->history, s->name, &h)) Py_RETURN_NONE;
    return py_raise();
}

static PyMethodDef py_saved_methods[] = {
    {"register_hooks", (PyCFunction)(void *)py_saved_register, METH_FASTCALL,
     "register_hooks(pack_hook, unpack_hook)\n\nwhat is kept goes through these"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_saved_functions[] = {
    {"_push_saved_hooks", (PyCFunction)(void *)py_saved_push, METH_FASTCALL, NULL},
    {"_pop_saved_hooks", py_saved_pop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_saved_begin(PyObject *module) {
    PyType_Slot slots[] = {{Py_tp_new, (void *)py_saved_new},
                           {Py_tp_dealloc, (void *)py_saved_dealloc},
                           {Py_tp_methods, py_saved_methods},
                           {0, NULL}};
    py.saved = py_place_class(module, "_SavedTensor", "torch._C._autograd.SavedTensor",
                              sizeof(py_saved), 0, slots);
    return !py.saved ? -1 : PyModule_AddFunctions(module, py_saved_functions);
}
