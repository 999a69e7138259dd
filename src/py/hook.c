/* hook.c - hooks of tensors and their handles; recorded calls as objects (grad_fn).
 *
 * The tape owns a hook: it runs though every wrapper is gone. A hook whose function reaches its own
 * tensor is a cycle that leads through the tape, which the collector cannot see; so the wrapper
 * visits the hooks in place of the tape where nobody else leads to them: when it has the only count
 * of its tensor, and that the only one of the call that made it. A built-in module that has the
 * wrapper among its parameters has a count more, and goes with it. */
#include "py.h"

typedef struct py_hook {
    PyObject_HEAD PyObject *function; /* NULL: removed */
    py_tensor *on;                    /* in whose list it stands; not counted, NULL: none */
    struct py_hook *next;
    const tn_history *history; /* the call on which it hangs, to compare with; NULL: the tensor */
    int64_t number;
    PyObject *weak;
} py_hook;

/* --- hooks and their wrapper ------------------------------------------------------------------ */

PY_PRIV int py_hooks_visit(const py_tensor *p, visitproc visit, void *arg) {
    const int64_t own = 1 + (int64_t)p->parts;
    if (p->kept || !p->t || tn_owners(p->t) != own || py_long_under_way()) return 0;
    for (py_hook *h = p->hooks; h; h = h->next)
        if (!h->history || tn_history_only(h->history, p->t)) Py_VISIT((PyObject *)h);
    return 0;
}

PY_PRIV void py_hooks_part(py_tensor *p) {
    while (p->hooks) {
        py_hook *h = p->hooks;
        p->hooks = h->next;
        h->on = NULL;
        h->next = NULL;
    }
}

static void py_hook_unlink(py_hook *h) {
    if (!h->on) return;
    struct py_hook **at = &h->on->hooks;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    h->on = NULL;
    h->next = NULL;
}

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

static tn_tensor *py_hook_run(py_hook *h, tn_tensor *t, bool replaces) {
    PyObject *function = Py_NewRef(h->function), *seen = py_wrap_borrowed(t);
    PyObject *r = seen ? PyObject_CallFunctionObjArgs(function, seen, NULL) : NULL;
    tn_tensor *now = !r ? NULL : replaces ? py_hook_result(r, t) : t;
    if (!now) tn_error_set(TN_INVALID, NULL, 0, "a hook has failed");
    Py_XDECREF(r);
    Py_XDECREF(seen);
    Py_DECREF(function);
    return now;
}

static tn_tensor *py_hook_call(tn_tensor *grad, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    tn_tensor *now = h->function ? py_hook_run(h, grad, true) : grad;
    py_inside_end(inside);
    return now;
}

static tn_tensor *py_hook_after(tn_tensor *leaf, void *user) {
    const py_inside inside = py_inside_begin();
    py_hook *h = (py_hook *)user;
    if (h->function) py_hook_run(h, leaf, false);
    py_inside_end(inside);
    return NULL;
}

static void py_hook_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_hook_unlink((py_hook *)user);
    Py_DECREF((PyObject *)user);
    PyGILState_Release(state);
}

/* --- handles ---------------------------------------------------------------------------------- */

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
    Py_INCREF((PyObject *)h);
    h->number = after ? tn_hook_after_at(NULL, 0, p->t, py_hook_after, h, py_hook_release)
                      : tn_hook_add_at(NULL, 0, p->t, py_hook_call, h, py_hook_release);
    if (!h->number) {
        Py_DECREF((PyObject *)h);
        Py_DECREF((PyObject *)h);
        return py_raise();
    }
    h->history = tn_history_of(p->t);
    h->on = p;
    h->next = p->hooks;
    p->hooks = h;
    py_tensor_track((py_tensor *)self);
    return (PyObject *)h;
}

static PyObject *py_hook_remove(PyObject *self, PyObject *unused) {
    py_hook *h = (py_hook *)self;
    PyObject *function = h->function;
    (void)unused;
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
static void py_hook_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((py_hook *)self)->weak) PyObject_ClearWeakRefs(self);
    py_hook_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* --- grad_fn ---------------------------------------------------------------------------------- */

/* A recorded call, or a leaf that gathers (torch's AccumulateGrad). One object at a time for each:
 * they stand in a table by address. */
typedef struct py_node {
    PyObject_HEAD tn_history *history; /* counted */
    tn_tensor *leaf;                   /* counted */
    struct py_node *next;
} py_node;
enum { NODE_SLOTS = 256 };
static py_node *py_nodes[NODE_SLOTS];

static py_node **py_node_slot(const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return &py_nodes[hash >> 56];
}

PY_PRIV PyObject *py_node_of(tn_history *h, tn_tensor *leaf) {
    const void *key = h ? (const void *)h : (const void *)leaf;
    PyObject *context = h ? py_context_of(h) : NULL;
    py_node **slot = py_node_slot(key), *n;
    if (!tn_ok()) return py_raise();
    if (!key) Py_RETURN_NONE;
    if (context) return Py_NewRef(context);
    for (n = *slot; n; n = n->next)
        if (n->history == h && n->leaf == leaf) return Py_NewRef((PyObject *)n);
    if (!(n = (py_node *)PyType_GenericAlloc(py.node, 0))) return NULL;
    n->history = tn_history_hold(h);
    n->leaf = tn_retain(leaf);
    n->next = *slot;
    *slot = n;
    return (PyObject *)n;
}

static void py_node_dealloc(PyObject *self) {
    py_node *n = (py_node *)self,
            **at = py_node_slot(n->history ? (void *)n->history : (void *)n->leaf);
    PyTypeObject *type = Py_TYPE(self);
    for (; *at; at = &(*at)->next)
        if (*at == n) {
            *at = n->next;
            break;
        }
    tn_history_drop(n->history);
    tn_release(n->leaf);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* "AddBackward0"; a leaf gathers. */
static void py_node_text(const py_node *n, char *to, size_t room) {
    if (n->history)
        tn_history_text(n->history, to, room);
    else
        snprintf(to, room, "torch::autograd::AccumulateGrad");
}

static PyObject *py_node_repr(PyObject *self) {
    char text[160];
    const char *last = text;
    py_node_text((py_node *)self, text, sizeof text);
    for (const char *at = text; (at = strstr(at, "::")) != NULL;) last = at += 2;
    return PyUnicode_FromFormat("<%s object at %p>", last, (void *)self);
}
static PyObject *py_node_name(PyObject *self, PyObject *unused) {
    char text[160];
    (void)unused;
    py_node_text((py_node *)self, text, sizeof text);
    return PyUnicode_FromString(text);
}

PY_PRIV PyObject *py_node_inputs(const tn_history *h) {
    PyObject *list = PyList_New(0), *tuple;
    tn_history *call;
    tn_tensor *leaf;
    int result;
    for (int i = 0; list && tn_history_input(h, i, &call, &result, &leaf); i++) {
        PyObject *node = py_node_of(call, leaf);
        PyObject *one = node ? Py_BuildValue("(Ni)", node, result) : NULL;
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}
static PyObject *py_node_next(PyObject *self, void *unused) {
    (void)unused;
    return py_node_inputs(((py_node *)self)->history);
}
static PyObject *py_node_variable(PyObject *self, void *unused) {
    tn_tensor *leaf = ((py_node *)self)->leaf;
    (void)unused;
    if (leaf) return py_wrap_borrowed(leaf);
    return PyErr_Format(PyExc_AttributeError, "%R has no attribute 'variable'", self);
}

/* What torch's nodes have and these have not: an AttributeError that says so. */
static PyObject *py_node_missing(PyObject *self, void *name) {
    PyObject *module = PyImport_ImportModule("tensorh._missing"), *error;
    (void)self;
    error = module ? PyObject_CallMethod(module, "error", "ss", "torch.autograd.graph.Node", name)
                   : NULL;
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(module);
    return NULL;
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
static PyMethodDef py_node_methods[] = {
    {"name", py_node_name, METH_NOARGS, "as torch names the call"}, {NULL, NULL, 0, NULL}};
static PyGetSetDef py_node_attributes[] = {
    {"next_functions", py_node_next, NULL, "where its inputs came from: (grad_fn, result)", NULL},
    {"variable", py_node_variable, NULL, "the leaf, of an AccumulateGrad", NULL},
    {"register_hook", py_node_missing, NULL, NULL, (void *)(uintptr_t) "register_hook"},
    {"register_prehook", py_node_missing, NULL, NULL, (void *)(uintptr_t) "register_prehook"},
    {"metadata", py_node_missing, NULL, NULL, (void *)(uintptr_t) "metadata"},
    {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject *py_hooks_type(PyObject *module, const char *name, const char *full,
                                   size_t bytes, unsigned flags, PyType_Slot *slots) {
    PyType_Spec spec = {full, (int)bytes, 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | flags, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

PY_PRIV int py_hooks_begin(PyObject *module) {
    PyType_Slot hook[] = {{Py_tp_dealloc, (void *)py_hook_dealloc},
                          {Py_tp_traverse, (void *)py_hook_traverse},
                          {Py_tp_clear, (void *)py_hook_clear},
                          {Py_tp_methods, py_hook_methods},
                          {Py_tp_members, py_hook_members},
                          {Py_tp_getset, py_hook_attributes},
                          {0, NULL}};
    PyType_Slot node[] = {{Py_tp_dealloc, (void *)py_node_dealloc},
                          {Py_tp_repr, (void *)py_node_repr},
                          {Py_tp_methods, py_node_methods},
                          {Py_tp_getset, py_node_attributes},
                          {0, NULL}};
    py.handle = py_hooks_type(module, "_RemovableHandle", "torch.utils.hooks.RemovableHandle",
                              sizeof(py_hook), Py_TPFLAGS_HAVE_GC, hook);
    py.node = py_hooks_type(module, "_Node", "torch.autograd.graph.Node", sizeof(py_node), 0, node);
    if (!py.handle || !py.node) return -1;
    return py_add_methods(py.tensor, py_tensor_hook_methods);
}
