/* node.c - recorded calls as objects: grad_fn and next_functions. The ctx of a Function is the
 * object of its own call. */
#include "py.h"

/* A recorded call, or a leaf that gathers (torch's AccumulateGrad). One object at a time for each:
 * they stand in a table by address. */
typedef struct py_node {
    PyObject_HEAD tn_history *history; /* counted */
    tn_tensor *leaf;                   /* counted */
    struct py_node *next;
} py_node;
enum { NODE_SLOTS = 256 };
static py_node *py_nodes[NODE_SLOTS];

/* The slot of a key: the top 8 bits of a product by 2^64 over the golden ratio (Knuth). */
static py_node **py_node_slot(const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return &py_nodes[hash >> 56];
}

/* The class of a call: torch's name of it below graph.Node, made when it is first met; borrowed. */
static PyObject *py_node_classes;
static PyTypeObject *py_node_class(const tn_history *h) {
    char name[160];
    PyObject *type, *slots;
    if (h)
        tn_history_text(h, name, sizeof name);
    else
        snprintf(name, sizeof name, "AccumulateGrad");
    if (!py_node_classes && !(py_node_classes = PyDict_New())) return NULL;
    if ((type = py_entry(py_node_classes, name)) != NULL) return (PyTypeObject *)type;
    if (PyErr_Occurred() || !(slots = PyTuple_New(0))) return NULL;
    type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){sOss}", name, (PyObject *)py.node,
                                 "__slots__", slots, "__module__", "torch.autograd");
    Py_DECREF(slots);
    if (!type) return NULL;
    if (PyDict_SetItemString(py_node_classes, name, type)) Py_CLEAR(type);
    Py_XDECREF(type); /* the dictionary has it */
    return (PyTypeObject *)type;
}

/* The object of a call or of a leaf, new. One object at a time, so that identity means sameness. */
PY_PRIV PyObject *py_node_of(tn_history *h, tn_tensor *leaf) {
    const void *key = h ? (const void *)h : (const void *)leaf;
    /* borrowed from the tape */
    PyObject *context = h ? py_context_of(h) : NULL;
    py_node **slot = py_node_slot(key), *n;
    PyTypeObject *type;
    /* py_context_of or the caller may have found a graph that was freed */
    if (!tn_ok()) return py_raise();
    if (!key) Py_RETURN_NONE;
    if (context) return Py_NewRef(context);
    for (n = *slot; n; n = n->next)
        if (n->history == h && n->leaf == leaf) return Py_NewRef((PyObject *)n);
    if (!(type = py_node_class(h)) || !(n = (py_node *)PyType_GenericAlloc(type, 0))) return NULL;
    /* the node keeps its call: grad_fn stays valid though the tensor goes */
    n->history = tn_history_hold(h);
    n->leaf = tn_retain(leaf);
    n->next = *slot;
    *slot = n;
    return (PyObject *)n;
}

/* Not tracked by the collector: a node holds no Python object. */
static void py_node_dealloc(PyObject *self) {
    py_node *n = (py_node *)self,
            **at = py_node_slot(n->history ? (void *)n->history : (void *)n->leaf);
    PyTypeObject *type = Py_TYPE(self);
    /* out of the table first: dropping may run Python code that looks there */
    for (; *at; at = &(*at)->next)
        if (*at == n) {
            *at = n->next;
            break;
        }
    tn_history_free(n->history);
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
    /* "torch::autograd::AccumulateGrad" without its namespaces */
    for (const char *at = text; (at = strstr(at, "::")) != NULL;) last = at += 2;
    return PyUnicode_FromFormat("<%s object at %p>", last, (void *)self);
}
static PyObject *py_node_name(PyObject *self, PyObject *unused) {
    char text[160];
    (void)unused;
    py_node_text((py_node *)self, text, sizeof text);
    return PyUnicode_FromString(text);
}

/* next_functions: a tuple of (grad_fn, number of its result), one an input. */
static PyObject *py_node_inputs(const tn_history *h) {
    PyObject *list = PyList_New(0), *tuple;
    tn_history *call;
    tn_tensor *leaf;
    int result;
    for (int i = 0; list && tn_history_input(h, i, &call, &result, &leaf); i++) {
        PyObject *node = py_node_of(call, leaf);
        /* N takes node; an input without history is (None, 0) */
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

/* _saved_self, _raw_saved_self: what the call keeps of its argument or result of that name. */
static PyObject *py_node_kept(PyObject *self, const char *name) {
    tn_history *h = ((py_node *)self)->history;
    const bool raw = strncmp(name, "_raw_saved_", 11) == 0;
    PyObject *wrapped;
    tn_error_info info;
    int64_t mark;
    tn_tensor *t;
    name += raw ? 11 : 7;
    if (!tn_history_keeps(h, name)) return NULL;
    PyErr_Clear();
    if (raw) return py_saved_of(h, name);
    mark = tn_scope_begin();
    t = tn_history_saved(h, name);
    wrapped = t ? py_wrap_borrowed(t) : NULL;
    tn_scope_end(mark);
    if (t) return wrapped;
    if (PyErr_Occurred() || !tn_error_peek(&info) || !strstr(info.message, "freed"))
        return py_raise();
    tn_error_take(NULL);
    return py_saved_gone();
}
static PyObject *py_node_getattr(PyObject *self, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(self, name);
    const char *text;
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || (strncmp(text, "_saved_", 7) != 0 && strncmp(text, "_raw_saved_", 11) != 0))
        return NULL;
    return py_node_kept(self, text);
}

/* --- hooks, and a dictionary for programs ----------------------------------------------------- */

static PyObject *py_node_hook(PyObject *self, PyObject *function, bool after) {
    const py_node *n = (const py_node *)self;
    return n->history ? py_hook_of_call(n->history, function, after)
                      : py_hook_of_leaf(n->leaf, function, after);
}
static PyObject *py_node_register_hook(PyObject *self, PyObject *function) {
    return py_node_hook(self, function, true);
}
static PyObject *py_node_register_prehook(PyObject *self, PyObject *function) {
    return py_node_hook(self, function, false);
}

/* The dictionaries by the address of a call or a leaf. A hook that does nothing drops one when its
 * call ends: objects of calls come and go. */
static PyObject *py_node_dicts;
static bool py_node_rests(tn_tensor **grads, int n, tn_tensor *const *came, int ncame, void *user) {
    (void)grads, (void)n, (void)came, (void)ncame, (void)user;
    return true;
}
static tn_tensor *py_node_leaf_rests(tn_tensor *grad, void *user) {
    (void)user;
    return grad;
}
static void py_node_forget(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *key = PyLong_FromVoidPtr(user), *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (key && PyDict_DelItem(py_node_dicts, key)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_XDECREF(key);
    PyGILState_Release(state);
}
static PyObject *py_node_dict(tn_history *h, tn_tensor *leaf) {
    void *at = h ? (void *)h : (void *)leaf;
    PyObject *key = PyLong_FromVoidPtr(at), *dict = NULL;
    bool ok = key && (py_node_dicts || (py_node_dicts = PyDict_New()));
    if (ok && (dict = PyDict_GetItemWithError(py_node_dicts, key)) != NULL) {
        Py_DECREF(key);
        return Py_NewRef(dict);
    }
    ok = ok && !PyErr_Occurred() && (dict = PyDict_New()) != NULL &&
         !PyDict_SetItem(py_node_dicts, key, dict);
    if (ok && !(h ? tn_history_hook_add(h, false, py_node_rests, at, py_node_forget)
                  : tn_hook_add_at(NULL, 0, leaf, py_node_leaf_rests, at, py_node_forget))) {
        py_node_forget(at);
        Py_CLEAR(dict);
        py_raise();
    }
    Py_XDECREF(key);
    return dict;
}
static PyObject *py_node_metadata(PyObject *self, void *unused) {
    const py_node *n = (const py_node *)self;
    (void)unused;
    return py_node_dict(n->history, n->leaf);
}

static PyMethodDef py_node_methods[] = {
    {"name", py_node_name, METH_NOARGS, "as torch names the call"},
    {"register_hook", py_node_register_hook, METH_O,
     "register_hook(hook)\n\nhook(grad_inputs, grad_outputs) sees what the call gives in each "
     "backward, and what came for it; it may return a tuple in place of grad_inputs"},
    {"register_prehook", py_node_register_prehook, METH_O,
     "register_prehook(hook)\n\nhook(grad_outputs) sees what comes for the results of the call in "
     "each backward, before it runs, and may return a tuple in its place"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_node_attributes[] = {
    {"next_functions", py_node_next, NULL, "where its inputs came from: (grad_fn, result)", NULL},
    {"variable", py_node_variable, NULL, "the leaf, of an AccumulateGrad", NULL},
    {"metadata", py_node_metadata, NULL, "a dictionary for programs, of this call", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* What a ctx has of a node: function.c stands below and knows no nodes. */
static PyObject *py_node_of_context(PyObject *self, void *unused) {
    (void)unused;
    return py_node_inputs(py_context_history(self));
}
static tn_history *py_node_context_call(PyObject *self) {
    const tn_history *h = py_context_history(self);
    if (!h) PyErr_SetString(PyExc_RuntimeError, "the call of this Function is not on the tape");
    return (tn_history *)(uintptr_t)h;
}
static PyObject *py_context_register_hook(PyObject *self, PyObject *function) {
    tn_history *h = py_node_context_call(self);
    return h ? py_hook_of_call(h, function, true) : NULL;
}
static PyObject *py_context_register_prehook(PyObject *self, PyObject *function) {
    tn_history *h = py_node_context_call(self);
    return h ? py_hook_of_call(h, function, false) : NULL;
}
static PyObject *py_context_metadata(PyObject *self, void *unused) {
    tn_history *h = py_node_context_call(self);
    (void)unused;
    return h ? py_node_dict(h, NULL) : NULL;
}
static PyMethodDef py_context_hooks[] = {
    {"register_hook", py_context_register_hook, METH_O, "as of a grad_fn"},
    {"register_prehook", py_context_register_prehook, METH_O, "as of a grad_fn"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_context_inputs[] = {
    {"next_functions", py_node_of_context, NULL, "where the inputs came from", NULL},
    {"metadata", py_context_metadata, NULL, "a dictionary for programs, of this call", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PY_PRIV int py_nodes_begin(PyObject *module) {
    PyType_Slot node[] = {
        {Py_tp_dealloc, (void *)py_node_dealloc},  {Py_tp_repr, (void *)py_node_repr},
        {Py_tp_getattro, (void *)py_node_getattr}, {Py_tp_methods, py_node_methods},
        {Py_tp_getset, py_node_attributes},        {0, NULL}};
    py.node = py_place_class(module, "_Node", "torch.autograd.graph.Node", sizeof(py_node),
                             Py_TPFLAGS_BASETYPE, node);
    if (!py.node || py_add_methods(py.context, py_context_hooks)) return -1;
    return py_add_attributes(py.context, py_context_inputs);
}
