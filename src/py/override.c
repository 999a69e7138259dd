/* override.c - __torch_function__: a call with an argument of a class that wants to be asked about
 * calls goes to that class first.
 *
 * Tensors and parameters of exactly these classes cost one comparison in parse.c and never come
 * here. A subclass that keeps Tensor's own __torch_function__ is served without Python code: the
 * row runs, its results become of that class. */
#include "py.h"

enum { ASKED_MOST = 32 };

/* Arguments with a __torch_function__, one a class: subclasses first, then as they stand. */
typedef struct py_asked {
    PyObject *who[ASKED_MOST]; /* counted */
    int n;
    bool standard; /* all have Tensor's own */
} py_asked;

static struct {
    PyObject *key;      /* of the thread's dictionary: tensors are plain there */
    PyObject *disabled; /* _disabled_torch_function_impl */
    int offs;           /* threads in which that is so, at most */
} py_override;

/* --- off, in a thread ------------------------------------------------------------------------- */

/* Whether this thread takes tensors of subclasses for plain ones. No lookup where no
 * thread does. */
static bool py_override_off(void) {
    PyObject *all = py_override.offs ? PyThreadState_GetDict() : NULL;
    /* the thread's dictionary, so a thread that ends takes it along */
    return all && PyDict_GetItemWithError(all, py_override.key) == Py_True;
}

/* Returns what was before. */
static bool py_override_set_off(bool off) {
    bool before = py_override_off();
    PyObject *all = before == off ? NULL : PyThreadState_GetDict();
    if (!all || PyDict_SetItem(all, py_override.key, off ? Py_True : Py_False)) return before;
    py_override.offs += off ? 1 : -1;
    return before;
}

typedef struct py_disable {
    PyObject_HEAD bool before;
} py_disable;

/* DisableTorchFunctionSubclass: a with block in which subclasses are plain, in this thread. */
static PyObject *py_disable_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    ((py_disable *)self)->before = py_override_set_off(true);
    return Py_NewRef(self);
}
static PyObject *py_disable_exit(PyObject *self, PyObject *unused) {
    (void)unused;
    py_override_set_off(((py_disable *)self)->before);
    Py_RETURN_NONE;
}
static PyMethodDef py_disable_methods[] = {{"__enter__", py_disable_enter, METH_NOARGS, NULL},
                                           {"__exit__", py_disable_exit, METH_VARARGS, NULL},
                                           {NULL, NULL, 0, NULL}};
static PyType_Slot py_disable_slots[] = {{Py_tp_methods, py_disable_methods}, {0, NULL}};
static PyType_Spec py_disable_spec = {"torch.DisableTorchFunctionSubclass", sizeof(py_disable), 0,
                                      Py_TPFLAGS_DEFAULT, py_disable_slots};

/* --- who wants to be asked -------------------------------------------------------------------- */

static PyObject *py_override_standard(PyObject *, PyObject *, PyObject *);
static PyObject *py_override_disabled(PyObject *, PyObject *, PyObject *);

/* Whether f is Tensor's own __torch_function__, bound to some class. */
static bool py_override_is_standard(PyObject *f) {
    return PyCFunction_Check(f) &&
           PyCFunction_GetFunction(f) == (PyCFunction)(void *)py_override_standard;
}

/* Adds o where it wants; false with an exception. */
static bool py_asked_add(py_asked *a, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    int at = a->n;
    /* exact tensors, common values and classes; subclasses of Tensor where that is off */
    if (type == py.tensor || type == py.parameter || type == &PyLong_Type || o == Py_None ||
        type == &PyFloat_Type || PyType_Check(o) || (py_is_tensor(o) && py_override_off()))
        return true;
    for (int i = 0; i < a->n; i++)
        if (Py_TYPE(a->who[i]) == type) return true;
    /* of the class: torch looks there, not in the object */
    PyObject *f = PyObject_GetAttr((PyObject *)type, py.torch_function);
    if (!f && !PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    if (!f) return PyErr_Clear(), true;
    bool wants = f != py_override.disabled, standard = py_override_is_standard(f);
    Py_DECREF(f);
    if (!wants) return true;
    if (a->n == ASKED_MOST)
        return PyErr_Format(PyExc_TypeError, "too many classes with __torch_function__"), false;
    /* before the first one of which it is a subclass */
    for (int i = a->n - 1; i >= 0; i--)
        if (PyType_IsSubtype(type, Py_TYPE(a->who[i]))) at = i;
    memmove(a->who + at + 1, a->who + at, (size_t)(a->n - at) * sizeof a->who[0]);
    a->who[at] = Py_NewRef(o);
    a->n++;
    a->standard = a->standard && standard;
    return true;
}

static void py_asked_begin(py_asked *a) {
    a->n = 0;
    a->standard = true;
}
static void py_asked_end(py_asked *a) {
    while (a->n) Py_DECREF(a->who[--a->n]);
}

/* The arguments, and the members of those that are lists. To be ended in either case. */
static bool py_asked_find(py_asked *a, PyObject *const *args, Py_ssize_t n) {
    bool ok = true;
    py_asked_begin(a);
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *o = args[i];
        bool tuple = Py_TYPE(o) == &PyTuple_Type, list = Py_TYPE(o) == &PyList_Type;
        if (!tuple && !list) ok = py_asked_add(a, o);
        for (Py_ssize_t k = 0; ok && tuple && k < PyTuple_Size(o); k++)
            ok = py_asked_add(a, PyTuple_GetItem(o, k));
        for (Py_ssize_t k = 0; ok && list && k < PyList_Size(o); k++) { /* which may change */
            PyObject *one = Py_NewRef(PyList_GetItem(o, k));
            ok = py_asked_add(a, one);
            Py_DECREF(one);
        }
    }
    return ok;
}

/* The classes that are asked, a new tuple: `types` of __torch_function__. */
static PyObject *py_asked_types(const py_asked *a) {
    PyObject *types = PyTuple_New(a->n);
    for (int i = 0; types && i < a->n; i++)
        PyTuple_SetItem(types, i, Py_NewRef((PyObject *)Py_TYPE(a->who[i])));
    return types;
}

/* The TypeError for a call that every class has refused. */
static PyObject *py_asked_nobody(const py_asked *a, PyObject *func) {
    PyObject *types = py_asked_types(a), *name = PyObject_GetAttrString(func, "__name__");
    if (types && name) { /* HasAttr clears an exception */
        const char *of = PyObject_HasAttrString(func, "__objclass__") ? "Tensor." : "";
        PyErr_Format(PyExc_TypeError,
                     "Multiple dispatch failed for 'torch.%s%S'; all __torch_function__ handlers "
                     "returned NotImplemented: no implementation found on types %R",
                     of, name, types);
    }
    Py_XDECREF(types);
    Py_XDECREF(name);
    return NULL;
}

/* Asks one after another, or nobody if a has none. Ends a. */
static PyObject *py_asked_ask(py_asked *a, PyObject *func, PyObject *args, PyObject *kwargs) {
    PyObject *types = py_asked_types(a), *r = types ? Py_NewRef(Py_NotImplemented) : NULL;
    if (kwargs && !PyDict_Size(kwargs)) kwargs = NULL;
    for (int i = 0; r == Py_NotImplemented && i < a->n; i++) {
        PyObject *f = PyObject_GetAttr(a->who[i], py.torch_function);
        Py_DECREF(r);
        /* NULL in place of kwargs ends the arguments */
        r = f ? PyObject_CallFunctionObjArgs(f, func, types, args, kwargs, NULL) : NULL;
        Py_XDECREF(f);
    }
    if (r == Py_NotImplemented) {
        Py_DECREF(r);
        r = py_asked_nobody(a, func);
    }
    Py_XDECREF(types);
    py_asked_end(a);
    return r;
}

/* --- results of a subclass -------------------------------------------------------------------- */

/* A view of all of o as an instance of type: a slice, or of 0 dimensions a view, is recorded
 * as such. */
PY_PRIV PyObject *py_wrap_alias(PyTypeObject *type, PyObject *o) {
    const char *file;
    int line;
    py_here(&file, &line);
    tn_tensor *t = py_of(o);
    const tn_slice_args s = {0, TN_NONE, TN_NONE, 1, t};
    const tn_view_args v = {t, tn_empty_dims()};
    tn_tensor *r = tn_ndim(t) ? tn_slice_at(file, line, &s) : tn_view_at(file, line, &v);
    return r ? py_wrap_as(type, tn_take(r)) : py_raise();
}

/* o as an instance of type; takes o. A tensor that nobody else has just changes its wrapper. */
static PyObject *py_override_as(PyObject *o, PyTypeObject *type) {
    py_tensor *p = (py_tensor *)o;
    PyObject *r;
    if (!py_is_tensor(o) || PyType_IsSubtype(Py_TYPE(o), type)) return o;
    /* a result that only this call knows: its tensor goes to a wrapper of the other class,
     * without a view */
    if (Py_REFCNT(o) == 1 && Py_TYPE(o) == py.tensor && !p->dict && !p->weak) {
        tn_tensor *t = p->t;
        /* the count of the tensor goes over to the new wrapper */
        p->t = NULL;
        tn_set_binding(t, NULL, NULL);
        r = py_wrap_as(type, t);
    } else {
        r = py_wrap_alias(type, o);
    }
    Py_DECREF(o);
    return r;
}

/* A result, or a list or tuple of results, as type; takes o. */
static PyObject *py_override_convert(PyObject *o, PyTypeObject *type) {
    if ((!PyTuple_Check(o) && !PyList_Check(o)) || Py_TYPE(o) == py.size)
        return py_override_as(o, type);
    /* lists may contain themselves */
    if (Py_EnterRecursiveCall(" in __torch_function__")) return Py_DECREF(o), NULL;
    /* a copy, as conversion makes objects and the sequence may be a tuple */
    PyObject *list = PySequence_List(o), *r = NULL;
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *one = py_override_convert(Py_NewRef(PyList_GetItem(list, i)), type);
        if (!one || PyList_SetItem(list, i, one)) Py_CLEAR(list);
    }
    if (list) r = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(o), list, NULL);
    Py_XDECREF(list);
    Py_DECREF(o);
    Py_LeaveRecursiveCall();
    return r;
}

PY_PRIV PyObject *py_of_class(PyObject *self, PyObject *r) {
    py_asked a;
    if (!r || Py_TYPE(self) == py.tensor || Py_TYPE(self) == py.parameter) return r;
    if (!py_asked_find(&a, &self, 1)) return py_asked_end(&a), Py_DECREF(r), NULL;
    /* a class whose __torch_function__ is disabled gets plain tensors */
    bool wants = a.n > 0;
    py_asked_end(&a);
    return wants ? py_override_convert(r, Py_TYPE(self)) : r;
}

/* --- __torch_function__ of Tensor ------------------------------------------------------------- */

/* x.grad stays what it is: `func` is Tensor.grad.__get__. */
static bool py_override_keeps(PyObject *func) {
    PyObject *of = PyObject_GetAttrString(func, "__self__");
    PyObject *name = of ? PyObject_GetAttrString(of, "__name__") : NULL;
    bool keeps = name && PyUnicode_Check(name) && !PyType_Check(of) &&
                 !PyUnicode_CompareWithASCIIString(name, "grad");
    Py_XDECREF(of);
    Py_XDECREF(name);
    PyErr_Clear();
    return keeps;
}

/* (func, types, args=(), kwargs=None): the call on plain tensors, its results of the class. */
static PyObject *py_override_standard(PyObject *cls, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"func", "types", "args", "kwargs", NULL};
    PyObject *func, *types, *given = NULL, *words = NULL, *r;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", (char **)(uintptr_t)names, &func,
                                     &types, &given, &words))
        return NULL;
    if (words == Py_None) words = NULL;
    if (words && !PyDict_Check(words))
        return PyErr_Format(PyExc_TypeError, "__torch_function__(): kwargs must be a dict, not %R",
                            Py_TYPE(words));
    types = PySequence_Tuple(types);
    for (Py_ssize_t i = 0; types && i < PyTuple_Size(types); i++) {
        /* torch's rule: a class answers only where it derives from every class that is involved */
        int sub = PyObject_IsSubclass(cls, PyTuple_GetItem(types, i));
        if (sub == 1) continue;
        Py_DECREF(types);
        return sub < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    given = types ? given ? PySequence_Tuple(given) : PyTuple_New(0) : NULL;
    Py_XDECREF(types);
    if (!given) return NULL;
    /* plain inside, so that the rows run and nobody is asked twice */
    bool before = py_override_set_off(true);
    r = PyObject_Call(func, given, words);
    py_override_set_off(before);
    Py_DECREF(given);
    return r && !py_override_keeps(func) ? py_override_convert(r, (PyTypeObject *)cls) : r;
}

static PyObject *py_override_disabled(PyObject *cls, PyObject *args, PyObject *kwargs) {
    (void)cls, (void)args, (void)kwargs;
    return Py_NewRef(Py_NotImplemented);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The class that results are of, where all keep Tensor's __torch_function__. */
static PyTypeObject *py_asked_class(const py_asked *a) {
    for (int i = 0; i < a->n; i++) {
        /* a subclass of all the others; none if two are unrelated */
        int k = 0;
        while (k < a->n && PyType_IsSubtype(Py_TYPE(a->who[i]), Py_TYPE(a->who[k]))) k++;
        if (k == a->n) return Py_TYPE(a->who[i]);
    }
    return NULL;
}

PY_PRIV PyObject *py_overridden(const py_group *g, bool method, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames, py_plain_call plain) {
    py_asked a;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyTypeObject *type;
    if (!py_asked_find(&a, args, nargs + nkw)) return py_asked_end(&a), NULL;
    if (!a.n) return Py_NewRef(Py_NotImplemented);
    /* no Python code: the row runs, and its results become of that class */
    if (a.standard && (type = py_asked_class(&a)) != NULL) {
        PyObject *r = plain(g, method, args, nargs, kwnames);
        if (r) r = py_override_convert(r, type);
        return py_asked_end(&a), r;
    }
    /* what torch passes as func: the function, or Tensor's method */
    PyObject *func =
        method ? PyObject_GetAttrString((PyObject *)py.tensor, g->name) : Py_NewRef(g->function);
    PyObject *tuple = func ? py_args_tuple(args, nargs) : NULL;
    PyObject *dict = tuple && nkw ? py_args_dict(args + nargs, kwnames) : NULL;
    PyObject *r =
        tuple && (dict || !nkw) ? py_asked_ask(&a, func, tuple, dict) : (py_asked_end(&a), NULL);
    Py_XDECREF(func);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

PY_PRIV PyObject *py_overridden_method(const char *name, PyObject *const *args, Py_ssize_t n) {
    py_asked a;
    if (!py_asked_find(&a, args, n)) return py_asked_end(&a), NULL;
    if (!a.n || a.standard) return py_asked_end(&a), Py_NewRef(Py_NotImplemented);
    PyObject *func = PyObject_GetAttrString((PyObject *)py.tensor, name);
    PyObject *tuple = func ? py_args_tuple(args, n) : NULL;
    PyObject *r = tuple ? py_asked_ask(&a, func, tuple, NULL) : (py_asked_end(&a), NULL);
    Py_XDECREF(func);
    Py_XDECREF(tuple);
    return r;
}

/* --- for Python: torch.overrides -------------------------------------------------------------- */

/* Who wants to be asked, of any sequence. To be ended in either case. */
static bool py_override_arguments(py_asked *a, PyObject *arguments) {
    py_asked_begin(a);
    PyObject *all = PySequence_Tuple(arguments);
    bool ok = all != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(all); i++)
        ok = py_asked_add(a, PyTuple_GetItem(all, i));
    Py_XDECREF(all);
    return ok;
}

/* (arguments): whether one of them wants to be asked. */
static PyObject *py_override_has(PyObject *self, PyObject *arguments) {
    py_asked a;
    (void)self;
    if (!PyTuple_Check(arguments) && !PyList_Check(arguments))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of arguments");
    PyObject *r = py_override_arguments(&a, arguments) ? PyBool_FromLong(a.n > 0) : NULL;
    return py_asked_end(&a), r;
}

/* (func, arguments, args, kwargs): asks those among arguments that want to be. */
static PyObject *py_override_handle(PyObject *self, PyObject *args) {
    py_asked a;
    PyObject *func, *arguments, *given, *words;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO!O!", &func, &arguments, &PyTuple_Type, &given, &PyDict_Type,
                          &words))
        return NULL;
    if (!PyTuple_Check(arguments) && !PyList_Check(arguments))
        return PyErr_Format(PyExc_TypeError, "expected a tuple of arguments");
    if (!py_override_arguments(&a, arguments)) return py_asked_end(&a), NULL;
    return py_asked_ask(&a, func, given, words);
}

static PyMethodDef py_override_functions[] = {
    {"_disabled_torch_function_impl", (PyCFunction)(void *)py_override_disabled,
     METH_VARARGS | METH_KEYWORDS, "as __torch_function__: the class is served as a plain tensor"},
    {"_has_torch_function", py_override_has, METH_O, NULL},
    {"_handle_torch_function", py_override_handle, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMethodDef py_override_method = {
    "__torch_function__", (PyCFunction)(void *)py_override_standard,
    METH_VARARGS | METH_KEYWORDS | METH_CLASS,
    "(func, types, args=(), kwargs=None): func on plain tensors, its results of this class"};

PY_PRIV int py_override_begin(PyObject *module) {
    PyObject *type = PyType_FromSpec(&py_disable_spec), *m;
    if (!type || PyModule_AddObjectRef(module, "DisableTorchFunctionSubclass", type)) return -1;
    py_override.key = PyUnicode_InternFromString("tensorh.functions_off");
    if (!py_override.key || PyModule_AddFunctions(module, py_override_functions)) return -1;
    py_override.disabled = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
    m = PyDescr_NewClassMethod(py.tensor, &py_override_method);
    int bad = !m || PyObject_SetAttr((PyObject *)py.tensor, py.torch_function, m);
    Py_XDECREF(m);
    return bad || !py_override.disabled ? -1 : 0;
}
