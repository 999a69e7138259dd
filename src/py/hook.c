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
    ((py_hook *)user)->call = NULL;
    Py_DECREF((PyObject *)user);
    PyGILState_Release(state);
}

/* --- hooks of recorded calls ------------------------------------------------------------------ */

/* Gradients as a tuple, None where there is none; ctx: those of the results of a Function's call,
 * whose outputs may be no tensors. */
static PyObject *py_hook_tuple(PyObject *ctx, tn_tensor *const *grads, int n) {
    const int size = ctx ? py_context_outputs(ctx) : n;
    PyObject *all = PyTuple_New(size);
    for (int i = 0; all && i < size; i++) {
        const int at = ctx ? py_context_result(ctx, i) : i;
        PyObject *one = at >= 0 && grads[at] ? py_wrap_borrowed(grads[at]) : Py_NewRef(Py_None);
        if (one)
            PyTuple_SetItem(all, i, one);
        else
            Py_CLEAR(all);
    }
    return all;
}

/* What hook h returned, r, into grads, which it saw as py_hook_tuple has it. */
static bool py_hook_put(const py_hook *h, PyObject *r, PyObject *ctx, tn_tensor **grads, int n) {
    const int size = ctx ? py_context_outputs(ctx) : n;
    PyObject *name;
    if (r == Py_None) return true;
    if (!PyTuple_Check(r)) {
        name = PyObject_GetAttr((PyObject *)Py_TYPE(r), py.name_word);
        if (name) PyErr_Format(PyExc_TypeError, "expected tuple, but hook returned '%U'", name);
        Py_XDECREF(name);
        return false;
    }
    if (PyTuple_Size(r) != size) {
        name = h->function ? PyObject_GetAttr(h->function, py.name_word) : NULL;
        if (!name) PyErr_Clear();
        PyErr_Format(PyExc_RuntimeError,
                     "hook '%S' has returned an incorrect number of values (got %zd, but expected "
                     "%d)",
                     name ? name : Py_None, PyTuple_Size(r), size);
        Py_XDECREF(name);
        return false;
    }
    for (int i = 0; i < size; i++) {
        PyObject *one = PyTuple_GetItem(r, i);
        const int at = ctx ? py_context_result(ctx, i) : i;
        tn_tensor *now = NULL;
        if (at < 0) continue;
        if (one != Py_None && !(now = py_hook_result(one, grads[at]))) return false;
        grads[at] = now;
    }
    return true;
}

/* Calls h with tuples, which it takes; `came` only for a hook behind its call. What it returns goes
 * into grads. */
static bool py_hook_of_tuples(py_hook *h, PyObject *seen, PyObject *came, bool after, PyObject *ctx,
                              tn_tensor **grads, int n) {
    PyObject *function = Py_NewRef(h->function); /* the hook may remove itself */
    PyObject *r = !seen || (after && !came) ? NULL
                  : after ? PyObject_CallFunctionObjArgs(function, seen, came, NULL)
                          : PyObject_CallFunctionObjArgs(function, seen, NULL);
    const bool ok = r && py_hook_put(h, r, ctx, grads, n);
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "a hook has failed");
    Py_XDECREF(r);
    Py_XDECREF(seen);
    Py_XDECREF(came);
    Py_DECREF(function);
    return ok;
}

/* What the tape calls before and behind a call. */
static bool py_hook_before_call(tn_tensor **grads, int n, tn_tensor *const *came, int ncame,
                                void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    PyObject *ctx = py_context_of(h->call);
    const bool ok = !h->function ||
                    py_hook_of_tuples(h, py_hook_tuple(ctx, grads, n), NULL, false, ctx, grads, n);
    (void)came, (void)ncame;
    py_inside_end(inside);
    return ok;
}
static bool py_hook_behind_call(tn_tensor **grads, int n, tn_tensor *const *came, int ncame,
                                void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    PyObject *ctx = py_context_of(h->call);
    const bool ok =
        !h->function || py_hook_of_tuples(h, py_hook_tuple(NULL, grads, n),
                                          py_hook_tuple(ctx, came, ncame), true, NULL, grads, n);
    py_inside_end(inside);
    return ok;
}

/* register_hook (after) and register_prehook of a grad_fn: a handle, new. */
PY_PRIV PyObject *py_hook_of_call(tn_history *call, PyObject *function, bool after) {
    py_hook *h;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a hook has to be callable, not %R",
                            Py_TYPE(function));
    if (!(h = (py_hook *)PyType_GenericAlloc(py.handle, 0))) return NULL;
    h->function = Py_NewRef(function);
    Py_INCREF((PyObject *)h); /* for the tape */
    h->call = call;
    h->number = tn_history_hook_add(call, after, after ? py_hook_behind_call : py_hook_before_call,
                                    h, py_hook_release);
    if (h->number) return (PyObject *)h;
    h->call = NULL;
    Py_DECREF((PyObject *)h);
    Py_DECREF((PyObject *)h);
    return py_raise();
}

/* The same of a leaf's AccumulateGrad: before, with the gradient that comes; behind, with nothing
 * given and the gradient that came. */
static tn_tensor *py_hook_leaf_before(tn_tensor *grad, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *now = grad;
    bool ok = !h->function ||
              py_hook_of_tuples(h, py_hook_tuple(NULL, &grad, 1), NULL, false, NULL, &now, 1);
    if (ok && !now) ok = (now = tnp_zeros_like(grad, TN_NO_DTYPE, TN_NO_DEVICE)) != NULL;
    py_inside_end(inside);
    return ok ? now : NULL;
}
static tn_tensor *py_hook_leaf_sees(tn_tensor *grad, void *user) {
    py_hook *h = (py_hook *)user;
    tn_release(h->seen);
    h->seen = tn_retain(grad);
    return grad;
}
static tn_tensor *py_hook_leaf_behind(tn_tensor *leaf, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *seen = h->seen;
    (void)leaf;
    h->seen = NULL;
    if (h->function)
        py_hook_of_tuples(h, PyTuple_New(0), py_hook_tuple(NULL, &seen, 1), true, NULL, NULL, 0);
    tn_release(seen);
    py_inside_end(inside);
    return NULL;
}

/* --- handles ---------------------------------------------------------------------------------- */

typedef enum py_hook_kind {
    HOOK_TENSOR,
    HOOK_AFTER,
    HOOK_LEAF_BEFORE,
    HOOK_LEAF_BEHIND
} py_hook_kind;

/* Hangs h on its tensor; false with an error of the library. */
static bool py_hook_hang(py_hook *h, tn_tensor *t, py_hook_kind kind) {
    tn_hook run = kind == HOOK_TENSOR ? py_hook_call : py_hook_leaf_before;
    if (kind == HOOK_TENSOR || kind == HOOK_LEAF_BEFORE)
        return (h->number = tn_hook_add_at(NULL, 0, t, run, h, py_hook_release)) != 0;
    /* the one that sees goes before the other, which has the count of h */
    if (kind == HOOK_LEAF_BEHIND &&
        !(h->sees = tn_hook_add_at(NULL, 0, t, py_hook_leaf_sees, h, NULL)))
        return false;
    run = kind == HOOK_AFTER ? py_hook_after : py_hook_leaf_behind;
    if ((h->number = tn_hook_after_at(NULL, 0, t, run, h, py_hook_release)) != 0) return true;
    if (h->sees) tn_hook_remove(t, h->sees);
    return false;
}

/* register_hook and the one after accumulation: a handle, new. The tape has a count as well. */
static PyObject *py_hook_add(PyObject *self, PyObject *function, py_hook_kind kind) {
    py_tensor *p = (py_tensor *)self;
    py_hook *h;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a hook has to be callable, not %R",
                            Py_TYPE(function));
    if (!tn_needs_grad(p->t))
        return PyErr_Format(PyExc_RuntimeError,
                            "cannot register a hook on a tensor that doesn't require gradient");
    if (kind == HOOK_AFTER && !tn_is_leaf(p->t))
        return PyErr_Format(PyExc_RuntimeError, "post accumulate grad hooks cannot be registered "
                                                "on non-leaf tensors");
    if (!(h = (py_hook *)PyType_GenericAlloc(py.handle, 0))) return NULL;
    h->function = Py_NewRef(function);
    /* one count for the caller, one for the tape */
    Py_INCREF((PyObject *)h);
    if (!py_hook_hang(h, p->t, kind)) {
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
    if (h->on && h->on->t) {
        if (h->sees) tn_hook_remove(h->on->t, h->sees);
        tn_hook_remove(h->on->t, h->number);
    }
    if (h->call) tn_history_hook_remove(h->call, h->number);
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
    tn_release(((py_hook *)self)->seen);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}
/* --- the classes ------------------------------------------------------------------------------ */

static PyObject *py_tensor_register_hook(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, HOOK_TENSOR);
}
static PyObject *py_tensor_register_after(PyObject *self, PyObject *function) {
    return py_hook_add(self, function, HOOK_AFTER);
}
/* register_hook (after) and register_prehook of a leaf's AccumulateGrad. */
PY_PRIV PyObject *py_hook_of_leaf(tn_tensor *leaf, PyObject *function, bool after) {
    PyObject *self = py_wrap_borrowed(leaf);
    PyObject *h =
        self ? py_hook_add(self, function, after ? HOOK_LEAF_BEHIND : HOOK_LEAF_BEFORE) : NULL;
    Py_XDECREF(self);
    return h;
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
