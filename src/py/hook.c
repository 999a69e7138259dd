/* hook.c - hooks of tensors run in a backward, and their handles. Which hooks a wrapper knows, and
 * how the collector sees them, is in wrap.c. */
#include "py.h"

/* --- a hook that runs ------------------------------------------------------------------------- */

/* The gradient that hook `function` returned in place of grad, as a tensor for the tape. NULL with
 * an exception. */
static tn_tensor *py_hook_result(PyObject *r, tn_tensor *grad) {
    PyObject *type;
    if (r == Py_None) return grad;
    if (py_is_tensor(r)) return py_of(r) == grad ? grad : tn_lend(tn_retain(py_of(r)));
    type = PyObject_GetAttr((PyObject *)Py_TYPE(r), py.name_word);
    if (type) PyErr_Format(PyExc_TypeError, "expected Variable, but hook returned '%U'", type);
    Py_XDECREF(type);
    return NULL;
}

/* Calls the hook with t. replaces: its result stands in for t. NULL: it raised. */
static tn_tensor *py_hook_run(py_hook *h, tn_tensor *t, bool replaces) {
    /* the hook may remove itself, and h->function with it */
    PyObject *function = Py_NewRef(h->function), *seen = py_wrap_borrowed(t);
    PyObject *r = seen ? PyObject_CallFunctionObjArgs(function, seen, NULL) : NULL;
    tn_tensor *now = !r ? NULL : replaces ? py_hook_result(r, t) : t;
    /* the exception stays set; the library's error only ends the pass (py_raise) */
    if (!now) tn_error_set(TN_INVALID, NULL, 0, "a hook has failed");
    Py_XDECREF(r);
    Py_XDECREF(seen);
    Py_DECREF(function);
    return now;
}

/* What the tape calls with a gradient, in any thread. */
static tn_tensor *py_hook_call(tn_tensor *grad, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *now = h->function ? py_hook_run(h, grad, true) : grad;
    py_inside_end(inside);
    return now;
}

/* The same behind .grad of a leaf. Its result changes nothing. */
static tn_tensor *py_hook_after(tn_tensor *leaf, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    if (h->function) py_hook_run(h, leaf, false);
    py_inside_end(inside);
    return NULL;
}

/* The tape drops its count of the hook. */
static void py_hook_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_hook_unlink((py_hook *)user);
    Py_DECREF((PyObject *)user);
    PyGILState_Release(state);
}

/* --- handles ---------------------------------------------------------------------------------- */

/* register_hook and the one after accumulation: a handle, new. The tape has a count as well. */
static PyObject *py_hook_add(PyObject *self, PyObject *function, bool after) {
    py_tensor *p = (py_tensor *)self;
    py_hook *h;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a hook has to be callable, not %R",
                            Py_TYPE(function));
    if (!tn_needs_grad(p->t))
        return PyErr_Format(PyExc_RuntimeError,
                            "cannot register a hook on a tensor that doesn't require gradient");
    if (after && !tn_is_leaf(p->t))
        return PyErr_Format(PyExc_RuntimeError, "post accumulate grad hooks cannot be registered "
                                                "on non-leaf tensors");
    if (!(h = (py_hook *)PyType_GenericAlloc(py.handle, 0))) return NULL;
    h->function = Py_NewRef(function);
    /* one count for the caller, one for the tape */
    Py_INCREF((PyObject *)h);
    h->number = after ? tn_hook_after_at(NULL, 0, p->t, py_hook_after, h, py_hook_release)
                      : tn_hook_add_at(NULL, 0, p->t, py_hook_call, h, py_hook_release);
    if (!h->number) {
        Py_DECREF((PyObject *)h);
        Py_DECREF((PyObject *)h);
        return py_raise();
    }
    /* for py_hooks_visit: which call the hook hangs on */
    h->history = tn_history_of(p->t);
    h->on = p;
    h->next = p->hooks;
    p->hooks = h;
    /* a hook may lead back to its tensor */
    py_tensor_track((py_tensor *)self);
    return (PyObject *)h;
}

/* handle.remove(): the hook runs no more. Twice is allowed. */
static PyObject *py_hook_remove(PyObject *self, PyObject *unused) {
    py_hook *h = (py_hook *)self;
    PyObject *function = h->function;
    (void)unused;
    /* NULL first: the end of the function may run Python code that removes again */
    h->function = NULL;
    if (h->on && h->on->t) tn_hook_remove(h->on->t, h->number);
    Py_XDECREF(function);
    Py_RETURN_NONE;
}

static PyObject *py_hook_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}
static PyObject *py_hook_exit(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)args, (void)n;
    return py_hook_remove(self, NULL);
}
static PyObject *py_hook_id(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((py_hook *)self)->number);
}

static int py_hook_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_hook *)self)->function);
    return 0;
}
static int py_hook_clear(PyObject *self) {
    Py_CLEAR(((py_hook *)self)->function);
    return 0;
}
/* Neither Python nor the tape has a count left. */
static void py_hook_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    /* before its members go, as the collector might visit them */
    PyObject_GC_UnTrack(self);
    if (((py_hook *)self)->weak) PyObject_ClearWeakRefs(self);
    py_hook_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}
/* --- the classes ------------------------------------------------------------------------------ */

static PyObject *py_tensor_register_hook(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, false);
}
static PyObject *py_tensor_register_after(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, true);
}

static PyMethodDef py_tensor_hook_methods[] = {
    {"register_hook", py_tensor_register_hook, METH_O,
     "register_hook(hook)\n\nhook(grad) sees the gradient of this tensor in each backward and may "
     "return another; the handle's remove() ends it"},
    {"register_post_accumulate_grad_hook", py_tensor_register_after, METH_O,
     "register_post_accumulate_grad_hook(hook)\n\nhook(tensor) is called when a backward has "
     "changed .grad of this leaf, after all leaves have theirs"},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_hook_methods[] = {
    {"remove", py_hook_remove, METH_NOARGS, "the hook runs no more"},
    {"__enter__", py_hook_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void *)py_hook_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_hook_attributes[] = {{"id", py_hook_id, NULL, NULL, NULL},
                                           {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef py_hook_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_hook, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

PY_PRIV int py_hooks_begin(PyObject *module) {
    PyType_Slot hook[] = {{Py_tp_dealloc, (void *)py_hook_dealloc},
                          {Py_tp_traverse, (void *)py_hook_traverse},
                          {Py_tp_clear, (void *)py_hook_clear},
                          {Py_tp_methods, py_hook_methods},
                          {Py_tp_members, py_hook_members},
                          {Py_tp_getset, py_hook_attributes},
                          {0, NULL}};
    py.handle = py_place_class(module, "_RemovableHandle", "torch.utils.hooks.RemovableHandle",
                               sizeof(py_hook), Py_TPFLAGS_HAVE_GC, hook);
    return !py.handle ? -1 : py_add_methods(py.tensor, py_tensor_hook_methods);
}
