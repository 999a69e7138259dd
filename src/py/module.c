/* module.c - Parameter, and the part of nn.Module that a training loop runs: attributes, the call.
 *
 * A module's state lies in its __dict__ under torch's names, so that copying, pickling and code
 * that looks there find what they know; this file only looks faster. Dictionaries of hooks come
 * with the first look at them, and "_hooked" beside those that a call has to heed. What is
 * called seldom is Python, in tensorh/nn. */
#include "py.h"

/* --- the life of a module --------------------------------------------------------------------- */

/* Whether this forward is that of the module's row. */
static bool py_module_of_row(const py_module *m, PyObject *forward) {
    return m->kind && forward == m->kind->forward;
}

/* A module without parts: __init__ makes the dictionaries. New. */
static PyObject *py_module_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    py_module *m = (py_module *)PyType_GenericAlloc(type, 0);
    (void)args, (void)kwargs;
    if (!m) return NULL;
    PyObject *forward = PyObject_GetAttr((PyObject *)type, py.forward);
    if (!forward) PyErr_Clear();
    m->kind = py_kind_of(type);
    /* known once for each object: a call of C's forward need not look the method up */
    m->direct = forward && (forward == py.sequential_forward || py_module_of_row(m, forward));
    Py_XDECREF(forward);
    m->dict = PyDict_New();
    if (!m->dict || PyErr_Occurred()) {
        Py_DECREF((PyObject *)m);
        return NULL;
    }
    return (PyObject *)m;
}

/* nn.Module.__init__(self). */
static int py_module_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n = PyTuple_Size(args), at = 0;
    PyObject *name = NULL, *word, *value;
    /* nn.Module.__init__ takes nothing; torch's message names the class */
    if (n == 0 && (!kwargs || !PyDict_Size(kwargs))) return py_module_begin_one(self);
    if (!(name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__"))) return -1;
    if (kwargs && PyDict_Next(kwargs, &at, &word, &value))
        PyErr_Format(PyExc_TypeError, "%U.__init__() got an unexpected keyword argument '%U'", name,
                     word);
    else
        PyErr_Format(PyExc_TypeError,
                     "%U.__init__() takes 1 positional argument but %zd were given", name, n + 1);
    Py_DECREF(name);
    return -1;
}

static int py_module_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_module *)self)->dict);
    return 0;
}

/* The library's module first: a parameter that nobody else has goes with its wrapper then. */
static int py_module_clear(PyObject *self) {
    py_mrow_drop((py_module *)self);
    Py_CLEAR(((py_module *)self)->dict);
    return 0;
}

/* tp_dealloc of a heap type: clear, free, and the count of the type. */
static void py_module_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    /* first of all: the collector may not see a half-freed object */
    PyObject_GC_UnTrack(self);
    if (((py_module *)self)->weak) PyObject_ClearWeakRefs(self);
    py_module_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Dictionaries that torch makes for each module. The first few are heeded by a call. */
enum { HOOKS_CALLED = 4 };
static const char *const py_hook_names[] = {"_forward_hooks",
                                            "_forward_pre_hooks",
                                            "_backward_hooks",
                                            "_backward_pre_hooks",
                                            "_forward_hooks_with_kwargs",
                                            "_forward_hooks_always_called",
                                            "_forward_pre_hooks_with_kwargs",
                                            "_state_dict_hooks",
                                            "_state_dict_pre_hooks",
                                            "_load_state_dict_pre_hooks",
                                            "_load_state_dict_post_hooks"};

/* Makes one of the dictionaries of hooks, borrowed. called: a call has to look at it from
 * now on. */
static PyObject *py_module_hooks(py_module *m, PyObject *name, bool called) {
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *type = collections ? PyObject_GetAttrString(collections, "OrderedDict") : NULL;
    PyObject *hooks = type ? PyObject_CallNoArgs(type) : NULL;
    /* "_hooked" makes a call look for hooks from now on */
    if (hooks && (PyDict_SetItem(m->dict, name, hooks) ||
                  (called && PyDict_SetItem(m->dict, py.hooked, Py_True))))
        Py_CLEAR(hooks);
    Py_XDECREF(type);
    Py_XDECREF(collections);
    return hooks;
}

/* What the usual lookup did not find; its AttributeError is set. */
static PyObject *py_module_missing(py_module *m, PyObject *name) {
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text || text[0] != '_' || !py_module_dict((PyObject *)m, py.parameters_)) return NULL;
    for (size_t k = 0; k < sizeof py_hook_names / sizeof py_hook_names[0]; k++)
        if (strcmp(text, py_hook_names[k]) == 0) {
            PyErr_Clear();
            return py_module_hooks(m, name, k < HOOKS_CALLED);
        }
    return NULL;
}

/* self.name, new: instance, parameters, buffers, children, class. */
static PyObject *py_module_getattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    PyObject *dict = ((py_module *)self)->dict, *o, *in;
    if (TNI_LIKELY(dict != NULL)) {
        /* CPython asks the class for a data descriptor first; a module's own names go first here */
        if ((o = PyDict_GetItemWithError(dict, name)) != NULL) return Py_NewRef(o);
        for (int k = 0; k < 3; k++) {
            in = PyDict_GetItemWithError(dict, words[k]);
            if (in && PyDict_Check(in) && (o = PyDict_GetItemWithError(in, name)) != NULL)
                return Py_NewRef(o);
        }
        if (PyErr_Occurred()) return NULL;
    }
    /* methods, properties, and an AttributeError with its text */
    o = PyObject_GenericGetAttr(self, name);
    if (o || !dict || !PyErr_ExceptionMatches(PyExc_AttributeError)) return o;
    return py_module_missing((py_module *)self, name);
}

/* Removes a name from dictionaries and from the set of buffers that are not saved. */
static bool py_module_remove(PyObject *self, PyObject *name, PyObject *word) {
    py_module *m = (py_module *)self;
    PyObject *in = word ? PyDict_GetItemWithError(m->dict, word) : m->dict;
    if (!in) return !PyErr_Occurred();
    if (PyAnySet_Check(in)) return PySet_Discard(in, name) >= 0;
    if (!PyDict_Check(in) || !PyDict_GetItemWithError(in, name)) return !PyErr_Occurred();
    return PyDict_DelItem(in, name) == 0;
}

/* None for a result that is dropped; NULL passes through. */
static PyObject *py_module_done(PyObject *r) {
    Py_XDECREF(r);
    if (!r) return NULL;
    Py_RETURN_NONE;
}

/* Raises what torch says of an assignment that it refuses. */
static PyObject *py_module_refuse(PyObject *self, const char *what, PyObject *name,
                                  PyObject *value) {
    return py_module_done(PyObject_CallMethod(self, "_refuse", "sOO", what, name, value));
}

/* self.name = Parameter: out of the other dictionaries, then register_parameter, which may
 * be overridden. */
static PyObject *py_module_set_parameter(PyObject *self, PyObject *name, PyObject *value) {
    if (!py_module_dict(self, py.parameters_))
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign parameters before Module.__init__() call");
    /* a name stands in one dictionary, as in torch */
    if (!py_module_remove(self, name, NULL) || !py_module_remove(self, name, py.buffers_) ||
        !py_module_remove(self, name, py.modules_) || !py_module_remove(self, name, py.transient_))
        return NULL;
    return py_module_done(PyObject_CallMethod(self, "register_parameter", "OO", name, value));
}

/* self.name = Module: a child keeps the place in the order that it has. */
static PyObject *py_module_set_child(PyObject *self, PyObject *name, PyObject *value) {
    PyObject *modules = py_module_dict(self, py.modules_);
    if (!modules)
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign module before Module.__init__() call");
    Py_INCREF(modules); /* the end of a removed object may run Python code */
    bool bad = !py_module_remove(self, name, NULL) ||
               !py_module_remove(self, name, py.parameters_) ||
               !py_module_remove(self, name, py.buffers_) ||
               !py_module_remove(self, name, py.transient_) || PyDict_SetItem(modules, name, value);
    Py_DECREF(modules);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static bool py_module_is_buffer(PyObject *value) {
    PyObject *dict = py_is_tensor(value) ? ((py_tensor *)value)->dict : NULL;
    return dict && PyDict_GetItemWithError(dict, py.is_buffer) == Py_True;
}

static bool py_module_holds(PyObject *self, PyObject *word, PyObject *name) {
    PyObject *in = py_module_dict(self, word);
    return in && PyDict_GetItemWithError(in, name);
}

/* self.name = anything else: a usual attribute, or an option. */
static PyObject *py_module_set_plain(PyObject *self, PyObject *name, PyObject *value) {
    py_module *m = (py_module *)self;
    /* an option: the library's module is made anew by the next call */
    if (m->made && py_kind_has_option(m->kind, name)) py_mrow_drop(m);
    if (PyObject_GenericSetAttr(self, name, value)) return NULL;
    Py_RETURN_NONE;
}

/* Module.__setattr__(name, value): None, or NULL with an exception. */
static PyObject *py_module_setattr(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2 || !PyUnicode_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "__setattr__(name, value): name must be str");
    PyObject *name = args[0], *value = args[1];
    if (!((py_module *)self)->dict && !(((py_module *)self)->dict = PyDict_New())) return NULL;
    /* torch's order: by the value, then by what stands under the name */
    if (PyType_IsSubtype(Py_TYPE(value), py.parameter))
        return py_module_set_parameter(self, name, value);
    if (py_module_holds(self, py.parameters_, name))
        return value != Py_None ? py_module_refuse(self, "parameter", name, value)
                                : py_module_done(PyObject_CallMethod(self, "register_parameter",
                                                                     "OO", name, value));
    if (py_is_module(value)) return py_module_set_child(self, name, value);
    if (py_module_holds(self, py.modules_, name))
        return value != Py_None ? py_module_refuse(self, "child module", name, value)
                                : py_module_set_child(self, name, value);
    if (py_module_is_buffer(value) || py_module_holds(self, py.buffers_, name))
        return value != Py_None && !py_is_tensor(value)
                   ? py_module_refuse(self, "buffer", name, value)
                   : py_module_done(PyObject_CallMethod(self, "_assign_buffer", "OO", name, value));
    if (PyErr_Occurred()) return NULL;
    return py_module_set_plain(self, name, value);
}

/* del self.name, from wherever it stands. */
static PyObject *py_module_delattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    for (int k = 0; k < 3; k++) {
        if (!py_module_holds(self, words[k], name)) continue;
        if (!py_module_remove(self, name, words[k]) ||
            (k == 1 && !py_module_remove(self, name, py.transient_)))
            return NULL;
        Py_RETURN_NONE;
    }
    if (PyErr_Occurred()) return NULL;
    PyObject *o = py_module_getattr(self, name); /* makes hooks that are not there yet */
    if (!o) return NULL;
    Py_DECREF(o);
    return PyObject_GenericSetAttr(self, name, NULL) ? NULL : Py_NewRef(Py_None);
}

/* --- the call --------------------------------------------------------------------------------- */

/* An exception raised in a submodule has `_module` = that submodule. Prepend its path below self
 * (Module._place). */
static void py_module_add_path(PyObject *self) {
    PyObject *type, *value, *trace, *below, *r = NULL;
    /* the exception is taken and put back: Python code may not run with one set */
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    below = value ? PyObject_GetAttrString(value, "_module") : NULL;
    if (!below) PyErr_Clear();
    if (below && below != self) r = PyObject_CallMethod(self, "_place", "O", value);
    if (below && below != self && !r) PyErr_Clear();
    Py_XDECREF(r);
    Py_XDECREF(below);
    PyErr_Restore(type, value, trace);
}

static PyObject *py_module_sequential(PyObject *self, PyObject *input);

/* self.forward(*args, **kwargs) */
static PyObject *py_module_run(PyObject *self, PyObject *args, PyObject *kwargs) {
    /* not by the slot: a subclass' __getattr__ is for names that are missing */
    PyObject *forward = PyObject_GenericGetAttr(self, py.forward), *r;
    if (!forward && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* a user's __getattr__, perhaps */
        forward = PyObject_GetAttr(self, py.forward);
    }
    r = forward ? PyObject_Call(forward, args, kwargs) : NULL;
    Py_XDECREF(forward);
    return r;
}

/* A forward of ours, of one argument, without binding it; *r is left as it is where forward is
 * another one by now, of the object or of its class. */
static bool py_module_direct(PyObject *self, PyObject *x, PyObject **r) {
    py_module *m = (py_module *)self;
    if (!m->dict || PyDict_GetItemWithError(m->dict, py.forward)) return false;
    PyObject *forward = PyObject_GetAttr((PyObject *)Py_TYPE(self), py.forward);
    /* borrowed from here on, for the comparison */
    Py_XDECREF(forward); /* the class has it */
    const bool row = forward && py_module_of_row(m, forward);
    if (!row && forward != py.sequential_forward) return PyErr_Clear(), false;
    *r = row ? py_mrow_forward(self, &x, 1, NULL) : py_module_sequential(self, x);
    return true;
}

static bool py_module_hooked(PyObject *self) {
    PyObject *dict = ((py_module *)self)->dict;
    return py.hooked_all || (dict && PyDict_GetItemWithError(dict, py.hooked));
}

/* self(*args, **kwargs). An exception that passes here gets the module's path. */
static PyObject *py_module_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *call, *r = NULL;
    /* Python runs the hooks: tensorh/nn/modules/module.py */
    if (TNI_UNLIKELY(py_module_hooked(self))) {
        call = PyObject_GetAttrString(self, "_call_hooked");
        r = call ? PyObject_CallFunctionObjArgs(call, args, kwargs ? kwargs : py.no_kwargs, NULL)
                 : NULL;
        Py_XDECREF(call);
    } else if (!((py_module *)self)->direct || kwargs || PyTuple_Size(args) != 1 ||
               !py_module_direct(self, PyTuple_GetItem(args, 0), &r)) {
        r = py_module_run(self, args, kwargs);
    }
    if (TNI_UNLIKELY(!r)) py_module_add_path(self);
    return r;
}

/* child(x), where child may be anything */
static PyObject *py_module_call_one(PyObject *child, PyObject *x) {
    PyObject *r = NULL;
    if (!py_is_module(child) || !((py_module *)child)->direct || py_module_hooked(child) ||
        PyType_GetSlot(Py_TYPE(child), Py_tp_call) != (void *)py_module_call ||
        !py_module_direct(child, x, &r))
        return PyObject_CallFunctionObjArgs(child, x, NULL);
    if (TNI_UNLIKELY(!r)) py_module_add_path(child);
    return r;
}

/* x through all children, one after the other: Sequential.forward. */
static PyObject *py_module_sequential(PyObject *self, PyObject *input) {
    /* a list: children may be added or removed by a forward */
    PyObject *modules = py_module_dict(self, py.modules_);
    PyObject *all = modules ? PyDict_Values(modules) : PyList_New(0), *x = Py_NewRef(input);
    /* a Sequential may contain itself */
    if (Py_EnterRecursiveCall(" in Sequential")) {
        Py_XDECREF(all);
        Py_DECREF(x);
        return NULL;
    }
    for (Py_ssize_t i = 0; all && x && i < PyList_Size(all); i++) {
        PyObject *y = py_module_call_one(PyList_GetItem(all, i), x);
        Py_DECREF(x);
        x = y;
    }
    Py_XDECREF(all);
    Py_LeaveRecursiveCall();
    return all ? x : (Py_XDECREF(x), NULL);
}

/* --- the class -------------------------------------------------------------------------------- */

#define MODULE_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_module_methods[] = {
    {"__setattr__", MODULE_FAST(py_module_setattr), METH_FASTCALL, NULL},
    {"__delattr__", py_module_delattr, METH_O, NULL},
    {"_sequential", py_module_sequential, METH_O,
     "_sequential($self, input, /)\n--\n\nThe input through all children, one after the other."},
    {"_row_init", MODULE_FAST(py_mrow_init), METH_VARARGS | METH_KEYWORDS, NULL},
    {"_row_forward", MODULE_FAST(py_mrow_forward), METH_FASTCALL | METH_KEYWORDS,
     "_row_forward($self, /, *args, **kwargs)\n--\n\nRuns the module's row; the class says what it "
     "takes."},
    {"_row_reset", py_mrow_reset, METH_NOARGS, "draws initial values again"},
    {NULL, NULL, 0, NULL}};
static PyMemberDef py_module_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_module, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_module, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef py_module_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot py_module_slots[] = {{Py_tp_new, (void *)py_module_new},
                                        {Py_tp_init, (void *)py_module_init},
                                        {Py_tp_dealloc, (void *)py_module_dealloc},
                                        {Py_tp_traverse, (void *)py_module_traverse},
                                        {Py_tp_clear, (void *)py_module_clear},
                                        {Py_tp_getattro, (void *)py_module_getattr},
                                        {Py_tp_call, (void *)py_module_call},
                                        {Py_tp_methods, py_module_methods},
                                        {Py_tp_members, py_module_members},
                                        {Py_tp_getset, py_module_attributes},
                                        {0, NULL}};
static PyType_Spec py_module_spec = {"tensorh._C._Module", sizeof(py_module), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                     py_module_slots};

/* --- functions for tensorh/nn ----------------------------------------------------------------- */

/* _without_grad(f, *args): f(*args) while nothing is recorded. */
static PyObject *py_module_without_grad(PyObject *self, PyObject *args) {
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *rest = n ? PyTuple_GetSlice(args, 1, n) : NULL;
    (void)self;
    if (!rest)
        return n ? NULL : PyErr_Format(PyExc_TypeError, "_without_grad(): a function is missing");
    bool mode = tn_set_grad_mode(false);
    PyObject *r = PyObject_CallObject(PyTuple_GetItem(args, 0), rest);
    /* also after an exception */
    tn_set_grad_mode(mode);
    Py_DECREF(rest);
    return r;
}

/* _take_data(a, b): a gets the data of b, dtype and device included, and stays the same object.
 * False where a or b is a view or was recorded. */
static PyObject *py_module_take_data(PyObject *self, PyObject *args) {
    PyObject *a, *b;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!", py.tensor, &a, py.tensor, &b)) return NULL;
    /* a call in another thread may read either */
    if (!py_retire_memory(py_of(a)) || !py_retire_memory(py_of(b))) return py_raise();
    bool ok = tnp_swap_data(py_of(a), py_of(b));
    /* not an error: the caller does something else then */
    if (!ok) tn_error_take(NULL);
    return PyBool_FromLong(ok);
}

/* _clip_grad_norm(list of tensors, max_norm, norm_type) */
static PyObject *py_module_clip_norm(PyObject *self, PyObject *args) {
    PyObject *list;
    double most, type, norm = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!dd", &PyList_Type, &list, &most, &type)) return NULL;
    Py_ssize_t n = PyList_Size(list);
    /* borrowed from the list: nothing below runs Python code */
    tn_tensor **at = (tn_tensor **)py_get((size_t)(n + 1), sizeof *at);
    if (!at) return PyErr_NoMemory();
    bool fits = true;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        PyObject *o = PyList_GetItem(list, i);
        fits = py_is_tensor(o);
        at[i] = fits ? py_of(o) : NULL;
    }
    if (fits) norm = tn_nn_clip_grad_norm_at(NULL, 0, tn_tensors_of(at, (int64_t)n), most, type);
    py_give(at);
    if (!fits)
        return PyErr_Format(PyExc_TypeError, "clip_grad_norm_(): parameters must be Tensors");
    return tn_ok() ? PyFloat_FromDouble(norm) : py_raise();
}

/* _hook_all(bool): whether each module's call looks for hooks of all modules. */
static PyObject *py_module_hook_all(PyObject *self, PyObject *on) {
    (void)self;
    py.hooked_all = on == Py_True;
    Py_RETURN_NONE;
}

static PyMethodDef py_modules_functions[] = {
    {"_without_grad", py_module_without_grad, METH_VARARGS, NULL},
    {"_take_data", py_module_take_data, METH_VARARGS, NULL},
    {"_clip_grad_norm", py_module_clip_norm, METH_VARARGS, NULL},
    {"_hook_all", py_module_hook_all, METH_O, NULL},
    {"_module_kinds", py_kinds, METH_NOARGS, NULL},
    {"_module_kind", py_kind_describe, METH_O, NULL},
    {"_module_forward", py_mrow_method, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_modules_begin(PyObject *module) {
    if (!(py.no_kwargs = PyDict_New())) return -1;
    py.module = (PyTypeObject *)PyType_FromSpec(&py_module_spec);
    if (!py.module || PyModule_AddObjectRef(module, "_Module", (PyObject *)py.module) ||
        PyObject_SetAttr((PyObject *)py.module, py.row, Py_None) ||
        !(py.sequential_forward = PyObject_GetAttrString((PyObject *)py.module, "_sequential")))
        return -1;
    return PyModule_AddFunctions(module, py_modules_functions);
}
