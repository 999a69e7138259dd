/* module.c - Parameter, and the part of nn.Module that a training loop runs: attributes, the call.
 *
 * A module's state lies in its __dict__ under torch's names, so that copying, pickling and code
 * that looks there find what they know; this file only looks faster. Dictionaries of hooks come
 * with the first look at them, and "_hooked" beside those that a call has to heed. What is
 * called seldom is Python, in tensorh/nn. */
#include "py.h"

/* --- Parameter -------------------------------------------------------------------------------- */

/* Runs under grad mode off; t is new. */
static tn_tensor *py_parameter_alias(tn_tensor *data, bool requires_grad) {
    tn_tensor *t = tnp_detach(data);
    return t && (!requires_grad || tn_requires_grad_at(NULL, 0, t, true)) ? tn_own(t)
                                                                          : (tn_free(t), NULL);
}

static tn_tensor *py_parameter_empty(void) {
    const int64_t size[1] = {0};
    return tn_own(tnp_zeros(tn_ints_of(size, 1), TN_NO_DTYPE, TN_NO_DEVICE));
}

static PyObject *py_parameter_make(PyTypeObject *type, PyObject *data, bool requires_grad) {
    tn_tensor *of = data == Py_None ? py_parameter_empty() : tn_retain(py_of(data));
    tn_tensor *t = of ? py_parameter_alias(of, requires_grad) : NULL;
    tn_release(of);
    return py_wrap_as(type, t);
}

static PyObject *py_parameter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"data", "requires_grad", NULL};
    PyObject *data = Py_None;
    int requires_grad = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op", (char **)(uintptr_t)names, &data,
                                     &requires_grad))
        return NULL;
    if (data != Py_None && !py_is_tensor(data))
        return PyErr_Format(PyExc_TypeError, "Parameter(): argument 'data' must be Tensor, not %R",
                            (PyObject *)Py_TYPE(data));
    return py_parameter_make(type, data, requires_grad != 0);
}

static int py_parameter_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self, (void)args, (void)kwargs;
    return 0;
}

static PyObject *py_parameter_repr(PyObject *self) {
    reprfunc repr = (reprfunc)PyType_GetSlot(py.tensor, Py_tp_repr);
    PyObject *text = repr(self);
    PyObject *r = text ? PyUnicode_FromFormat("Parameter containing:\n%U", text) : NULL;
    Py_XDECREF(text);
    return r;
}

static PyObject *py_parameter_deepcopy(PyObject *self, PyObject *memo) {
    PyObject *id = PyLong_FromVoidPtr(self), *known = NULL;
    tn_tensor *t = py_of(self), *copy;
    if (!id || (PyDict_Check(memo) && (known = PyDict_GetItemWithError(memo, id)) != NULL) ||
        PyErr_Occurred()) {
        Py_XDECREF(id);
        return Py_XNewRef(known);
    }
    bool mode = tn_set_grad_mode(false);
    copy = tn_own(tnp_clone(t, (tn_memory_format)0));
    tn_set_grad_mode(mode);
    if (copy && tn_needs_grad(t) && !tn_requires_grad_at(NULL, 0, copy, true))
        tn_release(copy), copy = NULL;
    PyObject *r = py_wrap_as(Py_TYPE(self), copy);
    if (r && PyDict_Check(memo) && PyDict_SetItem(memo, id, r)) Py_CLEAR(r);
    Py_DECREF(id);
    return r;
}

/* _rebuild_parameter(class or None, data, requires_grad) */
static PyObject *py_parameter_rebuild(PyObject *self, PyObject *args) {
    PyObject *type, *data;
    int requires_grad;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOp", &type, &data, &requires_grad)) return NULL;
    if (type == Py_None) type = (PyObject *)py.parameter;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py.parameter) ||
        !py_is_tensor(data))
        return PyErr_Format(PyExc_TypeError, "_rebuild_parameter(): expected a class and a Tensor");
    return py_parameter_make((PyTypeObject *)type, data, requires_grad != 0);
}

static PyObject *py_parameter_reduce(PyObject *self, PyObject *protocol) {
    PyObject *c = PyImport_ImportModule("tensorh._C");
    PyObject *rebuild = c ? PyObject_GetAttrString(c, "_rebuild_parameter") : NULL;
    PyObject *type = Py_TYPE(self) == py.parameter ? Py_None : (PyObject *)Py_TYPE(self);
    PyObject *data = PyObject_CallMethod(self, "detach", NULL), *r = NULL;
    PyObject *dict = ((py_tensor *)self)->dict;
    (void)protocol;
    if (rebuild && data)
        r = Py_BuildValue("O(OOO)O", rebuild, type, data,
                          tn_needs_grad(py_of(self)) ? Py_True : Py_False,
                          dict && PyDict_Size(dict) ? dict : Py_None);
    Py_XDECREF(data);
    Py_XDECREF(rebuild);
    Py_XDECREF(c);
    return r;
}

static PyMethodDef py_parameter_methods[] = {{"__deepcopy__", py_parameter_deepcopy, METH_O, NULL},
                                             {"__reduce_ex__", py_parameter_reduce, METH_O, NULL},
                                             {NULL, NULL, 0, NULL}};

static int py_parameter_begin(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)py_parameter_new},
        {Py_tp_init, (void *)py_parameter_init},
        {Py_tp_repr, (void *)py_parameter_repr},
        {Py_tp_methods, py_parameter_methods},
        {Py_tp_doc, (void *)(uintptr_t) "A tensor that a module counts among its parameters: a "
                                        "leaf over the memory of `data`."},
        {0, NULL}};
    PyType_Spec spec = {"torch.nn.parameter.Parameter", sizeof(py_tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *bases = PyTuple_Pack(1, (PyObject *)py.tensor);
    py.parameter = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    return py.parameter ? PyModule_AddObjectRef(module, "Parameter", (PyObject *)py.parameter) : -1;
}

/* --- the life of a module --------------------------------------------------------------------- */

static PyObject *py_module_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    py_module *m = (py_module *)PyType_GenericAlloc(type, 0);
    (void)args, (void)kwargs;
    if (!m) return NULL;
    PyObject *forward = PyObject_GetAttr((PyObject *)type, py.forward);
    m->direct = forward && (forward == py.row_forward || forward == py.sequential_forward);
    Py_XDECREF(forward);
    if (!forward) PyErr_Clear();
    m->kind = py_kind_of(type);
    m->dict = PyDict_New();
    if (!m->dict || PyErr_Occurred()) {
        Py_DECREF((PyObject *)m);
        return NULL;
    }
    return (PyObject *)m;
}

static bool py_module_put(PyObject *dict, PyObject *word, PyObject *value) {
    bool ok = value && !PyDict_SetItem(dict, word, value);
    Py_XDECREF(value);
    return ok;
}

PY_PRIV int py_module_begin_one(PyObject *self) {
    py_module *m = (py_module *)self;
    if (!m->dict && !(m->dict = PyDict_New())) return -1;
    bool ok = py_module_put(m->dict, py.training, Py_NewRef(Py_True)) &&
              py_module_put(m->dict, py.parameters_, PyDict_New()) &&
              py_module_put(m->dict, py.buffers_, PyDict_New()) &&
              py_module_put(m->dict, py.transient_, PySet_New(NULL)) &&
              py_module_put(m->dict, py.modules_, PyDict_New());
    return ok ? 0 : -1;
}

static int py_module_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n = PyTuple_Size(args), at = 0;
    PyObject *name = NULL, *word, *value;
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

static void py_module_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((py_module *)self)->weak) PyObject_ClearWeakRefs(self);
    py_module_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* --- attributes ------------------------------------------------------------------------------- */

PY_PRIV PyObject *py_module_dict(PyObject *self, PyObject *word) {
    PyObject *dict = ((py_module *)self)->dict;
    PyObject *in = dict ? PyDict_GetItemWithError(dict, word) : NULL;
    return in && PyDict_Check(in) ? in : NULL;
}

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

static PyObject *py_module_hooks(py_module *m, PyObject *name, bool called) {
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *type = collections ? PyObject_GetAttrString(collections, "OrderedDict") : NULL;
    PyObject *hooks = type ? PyObject_CallNoArgs(type) : NULL;
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

static PyObject *py_module_getattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    PyObject *dict = ((py_module *)self)->dict, *o, *in;
    if (TNI_LIKELY(dict != NULL)) {
        if ((o = PyDict_GetItemWithError(dict, name)) != NULL) return Py_NewRef(o);
        for (int k = 0; k < 3; k++) {
            in = PyDict_GetItemWithError(dict, words[k]);
            if (in && PyDict_Check(in) && (o = PyDict_GetItemWithError(in, name)) != NULL)
                return Py_NewRef(o);
        }
        if (PyErr_Occurred()) return NULL;
    }
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

static PyObject *py_module_set_parameter(PyObject *self, PyObject *name, PyObject *value) {
    if (!py_module_dict(self, py.parameters_))
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign parameters before Module.__init__() call");
    if (!py_module_remove(self, name, NULL) || !py_module_remove(self, name, py.buffers_) ||
        !py_module_remove(self, name, py.modules_) || !py_module_remove(self, name, py.transient_))
        return NULL;
    return py_module_done(PyObject_CallMethod(self, "register_parameter", "OO", name, value));
}

static PyObject *py_module_set_child(PyObject *self, PyObject *name, PyObject *value) {
    PyObject *modules = py_module_dict(self, py.modules_);
    if (!modules)
        return PyErr_Format(PyExc_AttributeError,
                            "cannot assign module before Module.__init__() call");
    Py_INCREF(modules); /* whatever the end of what is removed does */
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

static PyObject *py_module_set_plain(PyObject *self, PyObject *name, PyObject *value) {
    py_module *m = (py_module *)self;
    if (m->made && py_kind_has_option(m->kind, name)) py_mrow_drop(m);
    if (PyObject_GenericSetAttr(self, name, value)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_module_setattr(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 2 || !PyUnicode_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "__setattr__(name, value): name must be str");
    PyObject *name = args[0], *value = args[1];
    if (!((py_module *)self)->dict && !(((py_module *)self)->dict = PyDict_New())) return NULL;
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

static PyObject *py_module_delattr(PyObject *self, PyObject *name) {
    PyObject *const words[] = {py.parameters_, py.buffers_, py.modules_};
    for (int k = 0; k < 3; k++) {
        if (!py_module_holds(self, words[k], name)) continue;
        if (!py_module_remove(self, name, words[k]) ||
            (k == 1 && !py_module_remove(self, name, py.transient_)))
            return NULL;
        Py_RETURN_NONE;
    }
    if (PyErr_Occurred() || PyObject_GenericSetAttr(self, name, NULL)) return NULL;
    Py_RETURN_NONE;
}

/* --- the call --------------------------------------------------------------------------------- */

/* An error of a module below carries it as `_module`: on its way up its text gets the path. */
static void py_module_place(PyObject *self) {
    PyObject *type, *value, *trace, *below, *r = NULL;
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
    Py_XDECREF(forward); /* the class has it */
    if (forward != py.row_forward && forward != py.sequential_forward) return PyErr_Clear(), false;
    *r = forward == py.row_forward ? py_mrow_forward(self, &x, 1, NULL)
                                   : py_module_sequential(self, x);
    return true;
}

static bool py_module_hooked(PyObject *self) {
    PyObject *dict = ((py_module *)self)->dict;
    return py.hooked_all || (dict && PyDict_GetItemWithError(dict, py.hooked));
}

static PyObject *py_module_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *call, *r = NULL;
    if (TNI_UNLIKELY(py_module_hooked(self))) {
        call = PyObject_GetAttrString(self, "_call_hooked");
        r = call ? PyObject_CallFunctionObjArgs(call, args, kwargs ? kwargs : py.no_kwargs, NULL)
                 : NULL;
        Py_XDECREF(call);
    } else if (!((py_module *)self)->direct || kwargs || PyTuple_Size(args) != 1 ||
               !py_module_direct(self, PyTuple_GetItem(args, 0), &r)) {
        r = py_module_run(self, args, kwargs);
    }
    if (TNI_UNLIKELY(!r)) py_module_place(self);
    return r;
}

/* child(x), where child may be anything */
static PyObject *py_module_call_one(PyObject *child, PyObject *x) {
    PyObject *r = NULL;
    if (!py_is_module(child) || !((py_module *)child)->direct || py_module_hooked(child) ||
        PyType_GetSlot(Py_TYPE(child), Py_tp_call) != (void *)py_module_call ||
        !py_module_direct(child, x, &r))
        return PyObject_CallFunctionObjArgs(child, x, NULL);
    if (TNI_UNLIKELY(!r)) py_module_place(child);
    return r;
}

/* x through all children, one after the other: Sequential.forward. */
static PyObject *py_module_sequential(PyObject *self, PyObject *input) {
    PyObject *modules = py_module_dict(self, py.modules_);
    PyObject *all = modules ? PyDict_Values(modules) : PyList_New(0), *x = Py_NewRef(input);
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
    {"_sequential", py_module_sequential, METH_O, NULL},
    {"_row_init", MODULE_FAST(py_mrow_init), METH_VARARGS | METH_KEYWORDS, NULL},
    {"_row_forward", MODULE_FAST(py_mrow_forward), METH_FASTCALL | METH_KEYWORDS, NULL},
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

/* --- gradients on their way ----------------------------------------------------------------- */

/* A call that changes nothing; its gradients pass through Python code. Its row is a part of it, as
 * the number of tensors differs. */
typedef struct py_tap {
    tn_function_row row;
    PyObject *call;
} py_tap;

static bool py_tap_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f;
    for (int i = 0; i < nin; i++)
        if (!(out[i] = tnp_view(in[i], tn_shape(in[i])))) return false;
    return true;
}

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

static bool py_tap_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    const py_inside inside = py_inside_begin();
    const py_tap *tap = (const py_tap *)tn_function_user(f);
    PyObject *grads = py_tap_gradients(grad_out, tap->row.nout);
    PyObject *given = grads ? PyObject_CallFunctionObjArgs(tap->call, grads, NULL) : NULL;
    bool ok = given && py_tap_give(given, grad_in, tap->row.nout);
    Py_XDECREF(given);
    Py_XDECREF(grads);
    if (!ok && tn_ok()) tn_error_set(TN_INVALID, NULL, 0, "a backward hook raised an exception");
    py_inside_end(inside);
    return ok;
}

static void py_tap_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(((py_tap *)user)->call);
    PyGILState_Release(state);
    py_give(user);
}

enum { TAP_MOST = 64 };
static PyObject *py_tap_results(tn_tensor **out, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = py_wrap(tn_own(out[i]));
        if (all && o)
            PyTuple_SetItem(all, i, o);
        else
            Py_XDECREF(o);
        if (!o) Py_CLEAR(all);
    }
    return all;
}

/* _tap(tensors, f): tensors of the same values, whose gradients g pass through f(g). */
static PyObject *py_module_tap(PyObject *self, PyObject *args) {
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
    if (!py_retire_memory(py_of(a)) || !py_retire_memory(py_of(b))) return py_raise();
    bool ok = tnp_swap_data(py_of(a), py_of(b));
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
    tn_tensor **at = (tn_tensor **)py_get((size_t)(n + 1), sizeof *at);
    if (!at) return PyErr_NoMemory();
    bool fits = true;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        PyObject *o = PyList_GetItem(list, i);
        fits = py_is_tensor(o);
        at[i] = fits ? py_of(o) : NULL;
    }
    if (fits) norm = tn_clip_grad_norm_at(NULL, 0, tn_tensors_of(at, (int64_t)n), most, type);
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
    {"_rebuild_parameter", py_parameter_rebuild, METH_VARARGS, NULL},
    {"_without_grad", py_module_without_grad, METH_VARARGS, NULL},
    {"_take_data", py_module_take_data, METH_VARARGS, NULL},
    {"_clip_grad_norm", py_module_clip_norm, METH_VARARGS, NULL},
    {"_tap", py_module_tap, METH_VARARGS, NULL},
    {"_hook_all", py_module_hook_all, METH_O, NULL},
    {"_module_kinds", py_mrow_kinds, METH_NOARGS, NULL},
    {"_module_kind", py_mrow_kind, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_modules_begin(PyObject *module) {
    if (!(py.no_kwargs = PyDict_New()) || py_parameter_begin(module)) return -1;
    py.module = (PyTypeObject *)PyType_FromSpec(&py_module_spec);
    if (!py.module || PyModule_AddObjectRef(module, "_Module", (PyObject *)py.module) ||
        PyObject_SetAttr((PyObject *)py.module, py.row, Py_None) ||
        !(py.row_forward = PyObject_GetAttrString((PyObject *)py.module, "_row_forward")) ||
        !(py.sequential_forward = PyObject_GetAttrString((PyObject *)py.module, "_sequential")))
        return -1;
    return PyModule_AddFunctions(module, py_modules_functions);
}
