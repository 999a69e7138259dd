/* mrow.c - built-in modules: a row of the library as a Python class.
 *
 * The object's dictionaries say what the module is: options under torch's names in __dict__, parts
 * in _parameters, _buffers and _modules. `made`, the library's module, follows them: before each
 * forward it gets the tensors that stand there and the mode. When an option changes, or after
 * copying and unpickling, it is made anew, of shapes alone. */
#include "py.h"

enum { MROW_RESULTS = 8 };
/* --- making ----------------------------------------------------------------------------------- */

/* Lets the wrapper of a tensor, if it has one, know that a module has a count of it, or no more. */
static void py_mrow_mark(tn_tensor *t, bool part) {
    py_tensor *p = t ? (py_tensor *)tn_binding(t) : NULL;
    /* a tensor without wrapper has no hooks that the collector would have to see */
    if (p) p->parts += part ? 1 : p->parts > 0 ? -1 : 0;
}

/* Frees made: the next call makes it anew from the dictionaries. */
PY_PRIV void py_mrow_drop(py_module *m) {
    tn_module *made = m->made;
    for (int i = 0; made && i < made->nparts; i++)
        if (made->part[i].kind != TN_CHILD) py_mrow_mark(tn_part_tensor_of(made, i), false);
    /* NULL before the module ends, as its end may run Python code that looks at m */
    m->made = NULL;
    m->reshaped = false;
    Py_CLEAR(m->names);
    tn_module_free(made);
}

/* Takes made. */
static bool py_mrow_take(py_module *m, tn_module *made) {
    py_mrow_drop(m);
    m->made = made;
    /* such a forward wraps its result at once, so the module may lend it */
    made->lends = !m->kind->row->gen->call; /* py_mrow_run */
    bool ok = (m->names = PyTuple_New(made->nparts)) != NULL;
    for (int i = 0; ok && i < made->nparts; i++) {
        PyObject *name = PyUnicode_InternFromString(made->part[i].name);
        ok = name && !PyTuple_SetItem(m->names, i, name);
    }
    if (!ok) py_mrow_drop(m);
    return ok;
}

/* The library's error of options: torch's constructors raise a ValueError, but of a tensor that
 * cannot be made. */
static PyObject *py_mrow_refused(void) {
    tn_error_info info;
    const bool value =
        tn_error_peek(&info) && info.code == TN_INVALID && !strstr(info.message, "negative");
    PyObject *type, *text, *trace;
    py_raise();
    PyErr_Fetch(&type, &text, &trace);
    if (value && type == PyExc_RuntimeError) {
        Py_DECREF(type);
        type = Py_NewRef(PyExc_ValueError);
        if (text && !PyUnicode_Check(text)) { /* an exception already: of the same arguments */
            PyObject *plain = PyObject_Str(text);
            Py_DECREF(text);
            text = plain;
        }
    }
    PyErr_Restore(type, text, trace);
    return NULL;
}

/* What py_call_bound runs with bound options: makes the library's module. */
static PyObject *py_mrow_make(void *user, const void *args, int64_t elements) {
    py_module *m = (py_module *)user;
    const char *file = NULL;
    int line = 0;
    (void)elements;
    if (py.planning) py_here(&file, &line);
    /* initial values are random */
    py_draw_begin();
    tn_module *made = tn_module_make(file, line, m->kind->row, args);
    py_draw_end();
    if (!made) return py_mrow_refused();
    if (!py_mrow_take(m, made)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_mrow_object(tn_module *child);

/* The object of a part, new: a module, a Parameter, a tensor, or None. */
static PyObject *py_mrow_part_object(tn_module *made, int i) {
    if (made->part[i].kind == TN_CHILD) return py_mrow_object(tn_part_child_of(made, i));
    tn_tensor *t = tn_part_tensor_of(made, i);
    /* a parameter that has a wrapper already keeps it, whatever its class */
    if (!t || made->part[i].kind != TN_PARAM || tn_binding(t)) return py_wrap_borrowed(t);
    return py_wrap_as(py.parameter, tn_retain(t));
}

/* Python code that runs in between may change an option. */
static bool py_mrow_still(const py_module *m) {
    if (TNI_LIKELY(m->made != NULL)) return true;
    PyErr_SetString(PyExc_RuntimeError, "the module changed while it was called");
    return false;
}

/* The dictionary of a kind of parts; NULL, without an exception, when there is none. */
static PyObject *py_mrow_dict(PyObject *self, uint8_t kind) {
    return py_module_dict(self, kind == TN_PARAM   ? py.parameters_
                                : kind == TN_CHILD ? py.modules_
                                                   : py.buffers_);
}

/* Puts part i under its name into the dictionary of its kind. */
static bool py_mrow_publish_part(PyObject *self, tn_module *made, int i, PyObject *name) {
    py_module *m = (py_module *)self;
    uint8_t kind = made->part[i].kind;
    PyObject *dict = py_mrow_dict(self, kind), *o, *set;
    if (!dict || !(o = py_mrow_part_object(made, i))) return false;
    if (kind != TN_CHILD) py_mrow_mark(tn_part_tensor_of(made, i), true);
    bool ok = !PyDict_SetItem(dict, name, o);
    Py_DECREF(o);
    if (!ok || kind != TN_TRANSIENT) return ok;
    set = PyDict_GetItemWithError(m->dict, py.transient_);
    return set && !PySet_Add(set, name);
}

static int py_mrow_part_named(const tn_module *made, const char *name) {
    for (int i = 0; i < made->nparts; i++)
        if (strcmp(made->part[i].name, name) == 0) return i;
    return -1;
}

/* Options as attributes, then the parts. An option that is also a part, bias, is the part. */
static bool py_mrow_publish_all(PyObject *self, tn_module *made, PyObject *names) {
    py_module *m = (py_module *)self;
    const py_kind *k = m->kind;
    for (int i = 0; i < k->make.nparam; i++) {
        if (py_mrow_part_named(made, k->make.param[i].name) >= 0) continue;
        PyObject *o = py_option(k, i, py_options(made));
        /* NULL without an exception: no attribute shows this option */
        bool bad =
            o ? PyDict_SetItem(m->dict, k->making.names[i], o) != 0 : PyErr_Occurred() != NULL;
        Py_XDECREF(o);
        if (bad) return false;
    }
    for (int i = 0; i < made->nparts; i++)
        if (!py_mrow_publish_part(self, made, i, PyTuple_GetItem(names, i))) return false;
    return true;
}

/* Options and parts of `made` into the object's dictionaries. What stood there before may have a
 * finalizer that changes an option. */
static bool py_mrow_publish(PyObject *self) {
    py_module *m = (py_module *)self;
    if (!py_mrow_still(m)) return false;
    /* held, and names as well: py_mrow_drop may run meanwhile */
    tn_module *made = tn_module_hold(m->made);
    PyObject *names = Py_NewRef(m->names);
    bool ok = py_mrow_publish_all(self, made, names);
    Py_DECREF(names);
    tn_module_free(made);
    return ok;
}

/* The object of a module that is part of another one. */
static PyObject *py_mrow_object(tn_module *child) {
    PyObject *modules = PyImport_ImportModule("tensorh.nn.modules");
    /* torch's class of that name, found by Python: it may be a class of a user's row */
    PyObject *type =
        modules ? PyObject_CallMethod(modules, "_class_of", "ss", child->gen->type, child->type)
                : NULL;
    /* __new__ without __init__, as the module exists already */
    PyObject *o = type ? PyObject_CallMethod(type, "__new__", "O", type) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(modules);
    if (!o) return NULL;
    bool ok = py_is_module(o) && !py_module_begin_one(o) &&
              py_mrow_take((py_module *)o, tn_module_hold(child)) && py_mrow_publish(o);
    if (!ok) Py_CLEAR(o);
    return o;
}

/* A call's tuple and dictionary as an array and names; *kwnames is new or NULL. */
static Py_ssize_t py_mrow_array(PyObject *args, PyObject *kwargs, PyObject **at,
                                PyObject **kwnames) {
    Py_ssize_t n = PyTuple_Size(args), nkw = kwargs ? PyDict_Size(kwargs) : 0, pos = 0, i = 0;
    PyObject *name, *value;
    *kwnames = NULL;
    if (n + nkw > MROW_ARGS) return PyErr_SetString(PyExc_TypeError, "too many arguments"), -1;
    /* borrowed from args and kwargs, which the caller of __init__ holds */
    for (; i < n; i++) at[i] = PyTuple_GetItem(args, i);
    if (!nkw) return n;
    if (!(*kwnames = PyTuple_New(nkw))) return -1;
    for (i = 0; kwargs && PyDict_Next(kwargs, &pos, &name, &value); i++) {
        at[n + i] = value;
        PyTuple_SetItem(*kwnames, i, Py_NewRef(name));
    }
    return n;
}

/* Options that are yes or no may be 1, 0 or None: torch asks only whether they are true. */
static void py_mrow_truths(const py_kind *k, PyObject **at, Py_ssize_t n, PyObject *kwnames) {
    for (int p = 0; p < k->make.nparam; p++) {
        /* by position, else by name */
        Py_ssize_t i = p < n ? p : -1;
        if (k->make.param[p].type != TN_T_BOOL) continue;
        for (Py_ssize_t w = 0; i < 0 && kwnames && w < PyTuple_Size(kwnames); w++)
            if (PyUnicode_Compare(PyTuple_GetItem(kwnames, w), k->making.names[p]) == 0) i = n + w;
        if (i >= 0 && (PyLong_CheckExact(at[i]) || at[i] == Py_None))
            /* an exact int or None has a truth without an exception */
            at[i] = PyObject_IsTrue(at[i]) ? Py_True : Py_False;
    }
}

/* Binds options and makes the module. false with an exception. */
static bool py_mrow_bind_make(py_module *m, PyObject *args, PyObject *kwargs) {
    PyObject *at[MROW_ARGS] = {NULL}, *kwnames, *r;
    Py_ssize_t n = py_mrow_array(args, kwargs, at, &kwnames);
    if (n >= 0) py_mrow_truths(m->kind, at, n, kwnames);
    r = n < 0 ? NULL : py_call_bound(&m->kind->making, at, n, kwnames, py_mrow_make, m);
    Py_XDECREF(kwnames);
    /* None or NULL: py_mrow_make has put the module into m */
    Py_XDECREF(r);
    return r != NULL;
}

/* A number given as an int stays an int in the object, although the row holds a float. */
static bool py_mrow_as_given(py_module *m, PyObject *args, PyObject *kwargs) {
    const py_kind *k = m->kind;
    for (int i = 0; i < k->make.nparam; i++) {
        PyObject *name = k->making.names[i], *o;
        if (k->make.param[i].type != TN_T_FLOAT) continue;
        o = i < PyTuple_Size(args) ? PyTuple_GetItem(args, i)
            : kwargs               ? PyDict_GetItemWithError(kwargs, name)
                                   : NULL;
        if (!o && PyErr_Occurred()) return false;
        if (o && PyLong_CheckExact(o) && PyDict_SetItem(m->dict, name, o)) return false;
    }
    return true;
}

/* __init__ of a built-in module: options as torch takes them. */
PY_PRIV PyObject *py_mrow_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    py_module *m = (py_module *)self;
    if (!m->kind) return PyErr_Format(PyExc_TypeError, "not a built-in module");
    if (py_module_begin_one(self) || !py_mrow_bind_make(m, args, kwargs) ||
        !py_mrow_publish(self) || !py_mrow_as_given(m, args, kwargs))
        return NULL;
    Py_RETURN_NONE;
}

/* --- making anew ------------------------------------------------------------------------------ */

/* The tensor or module that stands under a part's name in dict: new; NULL with an exception. */
static PyObject *py_mrow_look(PyObject *self, PyObject *dict, PyObject *name) {
    PyObject *o = dict ? PyDict_GetItemWithError(dict, name) : NULL;
    return o ? Py_NewRef(o) : PyObject_GetAttr(self, name);
}

/* Adds option i as the object has it. A bool that is also a part says whether the part is there. */
static bool py_mrow_option_now(PyObject *self, int i, PyObject *kwargs) {
    py_module *m = (py_module *)self;
    const tn_param *p = &m->kind->make.param[i];
    PyObject *name = m->kind->making.names[i], *o;
    /* no attribute shows them: the parts have a dtype and a device */
    if (p->type == TN_T_DTYPE || p->type == TN_T_DEVICE) return true;
    if (!(o = PyObject_GetAttr(self, name))) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
        /* deleted by the program: the default */
        PyErr_Clear();
        return true;
    }
    if (p->type == TN_T_BOOL && !PyBool_Check(o)) {
        Py_DECREF(o);
        o = Py_NewRef(o == Py_None ? Py_False : Py_True);
    }
    bool ok = !PyDict_SetItem(kwargs, name, o);
    Py_DECREF(o);
    return ok;
}

/* Makes the library's module from the options as they are now, with shapes alone, so that no random
 * numbers are drawn. */
static bool py_mrow_remake(PyObject *self) {
    py_module *m = (py_module *)self;
    /* device="meta": shapes without memory */
    PyObject *args = PyTuple_New(0), *kwargs = PyDict_New(), *meta = PyUnicode_FromString("meta");
    bool ok = args && kwargs && meta && m->dict && !PyDict_SetItemString(kwargs, "device", meta);
    for (int i = 0; ok && i < m->kind->make.nparam; i++) ok = py_mrow_option_now(self, i, kwargs);
    ok = ok && py_mrow_bind_make(m, args, kwargs);
    Py_XDECREF(meta);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return ok;
}

/* --- the library's module follows ------------------------------------------------------------- */

static bool py_mrow_follow(PyObject *self, tn_module *made, PyObject *names, bool *reshaped);

static bool py_mrow_same_shape(const tn_tensor *a, const tn_tensor *b) {
    tn_ints x = tn_shape(a), y = tn_shape(b);
    return x.n == y.n && (x.n == 0 || !memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at));
}

/* Part i becomes the tensor o. *reshaped: it has another shape than the part had. */
static bool py_mrow_follow_tensor(tn_module *made, int i, PyObject *o, bool *reshaped) {
    tn_tensor *now = tn_part_tensor_of(made, i), *t = o == Py_None ? NULL : py_of(o);
    if (t == now) return true;
    if (t && now && !py_mrow_same_shape(t, now)) *reshaped = true;
    if (now) py_retire(tn_retain(now)); /* another thread's forward may read it */
    py_mrow_mark(now, false);
    if (!tn_module_set_tensor_at(NULL, 0, made, made->part[i].name, t)) return py_raise(), false;
    py_mrow_mark(t, true);
    return true;
}

/* Part i of made becomes what stands under its name; false with an exception. */
static bool py_mrow_follow_part(PyObject *self, tn_module *made, int i, PyObject *dict,
                                PyObject *name, bool *reshaped) {
    uint8_t kind = made->part[i].kind;
    /* held: a property of a user's class may return a new object */
    PyObject *o = py_mrow_look(self, dict, name);
    bool ok = false;
    if (!o) return false;
    if (kind == TN_CHILD ? !py_is_module(o) : o != Py_None && !py_is_tensor(o))
        PyErr_Format(PyExc_TypeError, "'%U' must be a %s", name,
                     kind == TN_CHILD ? "Module" : "Tensor or None");
    else if (kind == TN_CHILD)
        ok = py_mrow_follow(o, tn_part_child_of(made, i), NULL, reshaped);
    else
        ok = py_mrow_follow_tensor(made, i, o, reshaped);
    Py_DECREF(o);
    return ok;
}

/* Gives made the tensors and the mode that self has. names: of the parts; NULL: to be made. */
static bool py_mrow_follow(PyObject *self, tn_module *made, PyObject *names, bool *reshaped) {
    PyObject *dict = ((py_module *)self)->dict;
    PyObject *training = dict ? PyDict_GetItemWithError(dict, py.training) : NULL;
    /* training may be any object, whose __bool__ is Python code */
    int truth = training == Py_True                 ? 1
                : !training || training == Py_False ? 0
                                                    : PyObject_IsTrue(Py_NewRef(training));
    if (training && training != Py_True && training != Py_False) Py_DECREF(training);
    bool ok = truth >= 0;
    made->training = truth > 0;
    PyObject *parts = NULL; /* the dictionary that the parts of this kind stand in; held */
    int kind = -1;
    for (int i = 0; ok && i < made->nparts; i++) {
        PyObject *name = names ? Py_NewRef(PyTuple_GetItem(names, i))
                               : PyUnicode_InternFromString(made->part[i].name);
        if (made->part[i].kind != kind) {
            Py_XDECREF(parts);
            kind = made->part[i].kind;
            parts = Py_XNewRef(py_mrow_dict(self, (uint8_t)kind));
        }
        ok = name && py_mrow_follow_part(self, made, i, parts, name, reshaped);
        Py_XDECREF(name);
    }
    Py_XDECREF(parts);
    return ok;
}

/* Makes the library's module, if there is none, and lets it follow the object. false with
 * an exception. */
static bool py_mrow_ready(PyObject *self) {
    py_module *m = (py_module *)self;
    /* the first call after an option has changed, after copying or unpickling */
    if (TNI_UNLIKELY(!m->made)) {
        if (!m->kind || !py_module_dict(self, py.parameters_)) {
            PyErr_SetString(PyExc_AttributeError,
                            "cannot call a built-in module before its __init__()");
            return false;
        }
        if (!py_mrow_remake(self)) return false;
    }
    tn_module *made = tn_module_hold(m->made); /* whatever a property does meanwhile */
    PyObject *names = Py_NewRef(m->names);
    bool ok = py_mrow_follow(self, made, names, &m->reshaped);
    Py_DECREF(names);
    tn_module_free(made);
    return ok && py_mrow_still(m);
}

/* reset_parameters(): draws initial values into the parts as they are now. */
PY_PRIV PyObject *py_mrow_reset(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!py_mrow_ready(self)) return NULL;
    tn_module *made = tn_module_hold(((py_module *)self)->made);
    py_draw_begin();
    bool ok = tn_module_reset_at(NULL, 0, made);
    py_draw_end();
    tn_module_free(made);
    return ok ? Py_NewRef(Py_None) : py_raise();
}

/* --- forward ---------------------------------------------------------------------------------- */

/* Whether an argument or a part requires a gradient. Children are not searched: a place too many
 * costs little. */
static bool py_mrow_records(const py_module *m, const void *args) {
    const tn_gen *gen = m->kind->calling.gen;
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    for (int i = 0; i < m->made->nparts; i++) {
        const tn_tensor *t = tn_part_tensor_of(m->made, i);
        if (m->made->part[i].kind == TN_CHILD || (t && tn_needs_grad(t))) return true;
    }
    return false;
}

/* Whether forward draws random numbers, as Dropout does with p > 0: then one thread at a time. */
static bool py_mrow_draws(const py_module *m) {
    double p = 0;
    if (m->kind->draws >= 0)
        memcpy(&p, (const char *)py_options(m->made) + m->kind->draws, sizeof p);
    return p > 0;
}

/* The forward of made: results into out. false: an error of the library, or an exception. */
static bool py_mrow_call(py_module *m, const void *args, int64_t elements, tn_tensor **out) {
    int nout = m->kind->calling.gen->nresults;
    struct tni_expect *expect = m->made->expect;
    tn_module *made = tn_module_hold(m->made); /* whatever Python code does meanwhile */
    const char *file = NULL;
    int line = 0;
    const bool draws = made->training && py_mrow_draws(m);
    bool ok;
    if (py.planning || (tn_grad_mode() && py_mrow_records(m, args))) py_here(&file, &line);
    /* the shapes that the row expects follow from options, which are not true any more */
    if (m->reshaped) made->expect = NULL;
    do {
        if (draws) py_draw_begin();
        if (elements >= PY_LONG) {
            py_long l = py_long_begin();
            ok = tn_module_call(file, line, made, m->kind->row, args, out, nout);
            py_long_end(l);
        } else {
            ok = tn_module_call(file, line, made, m->kind->row, args, out, nout);
        }
        if (draws) py_draw_end();
        /* stopped by Ctrl-C that was somebody else's: made again */
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    made->expect = expect;
    tn_module_free(made);
    return ok;
}

/* A failed forward: the exception knows its module, for the path (py_module_add_path). */
static PyObject *py_mrow_failed(PyObject *self) {
    PyObject *type, *value, *trace;
    py_raise();
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    /* without memory the path is missing, not the error */
    if (value && PyObject_SetAttrString(value, "_module", self)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return NULL;
}

/* n results from `from` on, which are taken; None for an absent one. */
static PyObject *py_mrow_tuple(tn_tensor **out, int from, int n) {
    PyObject *all = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = out[from + i] ? py_wrap(tn_take(out[from + i])) : Py_NewRef(Py_None);
        if (all && o)
            PyTuple_SetItem(all, i, o);
        else
            Py_XDECREF(o);
        if (!o) Py_CLEAR(all);
    }
    return all;
}

/* (a, (b, c)): groups behind the parameters are nested. */
static PyObject *py_mrow_results(const py_kind *k, tn_tensor **out) {
    const tn_gen *gen = k->calling.gen;
    PyObject *list = PyList_New(0), *all = NULL;
    for (int i = 0; list && i < gen->nresults;) {
        const tn_mgroup *group = NULL;
        for (uint32_t g = 0; g < k->row->gen->ngroups; g++)
            if (k->row->gen->groups[g].first == gen->nparam + i) group = &k->row->gen->groups[g];
        PyObject *one = py_mrow_tuple(out, i, group ? group->count : 1);
        /* one result stands alone, a group as a tuple */
        PyObject *o = one && !group ? Py_NewRef(PyTuple_GetItem(one, 0)) : Py_XNewRef(one);
        if (!o || PyList_Append(list, o)) Py_CLEAR(list);
        Py_XDECREF(one);
        Py_XDECREF(o);
        i += group ? group->count : 1;
    }
    if (list) all = PyList_AsTuple(list);
    Py_XDECREF(list);
    return all;
}

/* Says to Python that the first two tensors are of two shapes: a warning or an error. */
static bool py_mrow_unlike(const py_module *m, const void *args) {
    const tn_gen *gen = m->kind->calling.gen;
    tn_tensor *t[2];
    for (int i = 0; i < 2; i++) memcpy(&t[i], (const char *)args + gen->param[i].offset, sizeof *t);
    if (py_mrow_same_shape(t[0], t[1])) return false;
    PyObject *functional = PyImport_ImportModule("tensorh.nn.functional");
    /* a warning of Python, in its wording and with its filters */
    PyObject *a = py_wrap_borrowed(t[0]), *b = py_wrap_borrowed(t[1]), *r = NULL;
    if (functional && a && b)
        r = PyObject_CallMethod(functional, "_unlike", "sOO", m->kind->row->unlike, a, b);
    Py_XDECREF(functional);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(r);
    return !r;
}

/* What py_call_bound runs with bound arguments: the result, new. */
static PyObject *py_mrow_run(void *user, const void *args, int64_t elements) {
    py_module *m = (py_module *)user;
    tn_tensor *out[MROW_RESULTS], *input;
    /* Python code that bound the arguments ran in between */
    if (!py_mrow_still(m)) return NULL;
    memcpy(&input, args, sizeof input);
    if (m->kind->row->unlike && (py_mrow_unlike(m, args) || !py_mrow_still(m))) return NULL;
    if (!py_mrow_call(m, args, elements, out)) return py_mrow_failed((PyObject *)m);
    if (m->kind->calling.gen->nresults > 1) return py_mrow_results(m->kind, out);
    /* a row that returns its input, Identity: the same object */
    return out[0] == input ? py_wrap_borrowed(input) : py_wrap(tn_take(out[0]));
}

/* Spreads a tuple `hx` over the parameters h and c that stand for it; None: none of them. */
static bool py_mrow_spread(PyObject *o, const tn_mgroup *g, PyObject **to) {
    if (o != Py_None && (!PySequence_Check(o) || PySequence_Size(o) != g->count)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "'%s' must be a tuple of %d Tensors", g->name, g->count);
        return false;
    }
    for (int i = 0; i < g->count; i++) {
        to[i] = o == Py_None ? Py_NewRef(o) : PySequence_GetItem(o, i);
        /* a sequence of Python code may fail at any member */
        if (!to[i]) {
            while (i--) Py_DECREF(to[i]);
            return false;
        }
    }
    return true;
}

/* Arguments of a forward with groups spread: as many as the row has parameters. */
typedef struct py_mrow_flat {
    PyObject *at[MROW_ARGS], *names[MROW_ARGS]; /* counted; names of keywords behind nargs */
    Py_ssize_t nargs, n;
} py_mrow_flat;

/* Adds an argument, or the members of the tuple that stands for group g. */
static bool py_mrow_flat_add(py_mrow_flat *f, const py_kind *k, const tn_mgroup *g, PyObject *o,
                             PyObject *name) {
    PyObject *few[MROW_ARGS];
    int n = g ? g->count : 1;
    if (f->n + n > MROW_ARGS) return PyErr_SetString(PyExc_TypeError, "too many arguments"), false;
    if (g && !py_mrow_spread(o, g, few)) return false;
    if (!g) few[0] = Py_NewRef(o);
    for (int i = 0; i < n; i++) {
        /* borrowed from the kind, or from the caller's kwnames */
        f->names[f->n] = !name ? NULL : g ? k->calling.names[g->first + i] : name;
        f->at[f->n++] = few[i];
    }
    if (!name) f->nargs = f->n;
    return true;
}

/* The group that begins at parameter `first`, or is called `name`; NULL: none. */
static const tn_mgroup *py_mrow_group(const py_kind *k, int first, PyObject *name) {
    const tn_mgen *gen = k->row->gen;
    for (uint32_t g = 0; g < gen->ngroups; g++)
        if (gen->groups[g].first < k->calling.gen->nparam &&
            (name ? PyUnicode_CompareWithASCIIString(name, gen->groups[g].name) == 0
                  : gen->groups[g].first == first))
            return &gen->groups[g];
    return NULL;
}

/* Calls with the arguments of f; the reference counts stay with f. */
static PyObject *py_mrow_flat_call(py_module *m, py_mrow_flat *f) {
    Py_ssize_t nkw = f->n - f->nargs;
    PyObject *kwnames = nkw ? PyTuple_New(nkw) : NULL;
    if (nkw && !kwnames) return NULL;
    for (Py_ssize_t i = 0; i < nkw; i++)
        PyTuple_SetItem(kwnames, i, Py_NewRef(f->names[f->nargs + i]));
    PyObject *r = py_call_bound(&m->kind->calling, f->at, f->nargs, kwnames, py_mrow_run, m);
    Py_XDECREF(kwnames);
    return r;
}

/* A forward with a tuple among its arguments. */
static PyObject *py_mrow_nested(py_module *m, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames) {
    py_mrow_flat f;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    bool ok = true;
    f.nargs = f.n = 0;
    for (Py_ssize_t i = 0; ok && i < nargs; i++)
        ok = py_mrow_flat_add(&f, m->kind, py_mrow_group(m->kind, (int)f.n, NULL), args[i], NULL);
    for (Py_ssize_t i = 0; ok && i < nkw; i++) {
        PyObject *name = PyTuple_GetItem(kwnames, i);
        ok = py_mrow_flat_add(&f, m->kind, py_mrow_group(m->kind, 0, name), args[nargs + i], name);
    }
    PyObject *r = ok ? py_mrow_flat_call(m, &f) : NULL;
    /* what was added so far, also after a failure */
    for (Py_ssize_t i = 0; i < f.n; i++) Py_DECREF(f.at[i]);
    return r;
}

/* A class with `_otherwise` (tensorh/nn/modules/rows.py) takes options that its row does not know:
 * with those `made` is never there, and it is asked first. NotImplemented: the row's turn. */
static PyObject *py_mrow_otherwise(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *kwnames) {
    PyObject *bound = NULL, *tuple = NULL, *dict = NULL, *r = NULL;
    /* of the class: an instance has it only through its class */
    PyObject *f = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "_otherwise");
    if (!f && !PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
    if (!f) return PyErr_Clear(), Py_NewRef(Py_NotImplemented);
    bound = PyObject_GetAttrString(self, "_otherwise");
    tuple = bound ? py_args_tuple(args, nargs) : NULL;
    dict = tuple && kwnames ? py_args_dict(args + nargs, kwnames) : NULL;
    if (tuple && (dict || !kwnames)) r = PyObject_Call(bound, tuple, dict);
    Py_DECREF(f);
    Py_XDECREF(bound);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

/* A call with a tensor of another class, which may want to hear of it; NotImplemented: none
 * does (tensorh/nn/modules/_asked.py). */
static PyObject *py_mrow_asked(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames) {
    const Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    bool other = false;
    for (Py_ssize_t i = 0; i < n; i++)
        other |= py_is_tensor(args[i]) && Py_TYPE(args[i]) != py.tensor &&
                 Py_TYPE(args[i]) != py.parameter;
    if (!other) return Py_NewRef(Py_NotImplemented);
    PyObject *module = PyImport_ImportModule("tensorh.nn.modules._asked");
    PyObject *tuple = module ? py_args_tuple(args, nargs) : NULL;
    PyObject *dict = !tuple ? NULL : kwnames ? py_args_dict(args + nargs, kwnames) : PyDict_New();
    PyObject *r = dict ? PyObject_CallMethod(module, "call", "OOO", self, tuple, dict) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return r;
}

/* forward of a built-in module. Python code of arguments may drop made at any
 * point (py_mrow_still). */
PY_PRIV PyObject *py_mrow_forward(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *kwnames) {
    py_module *m = (py_module *)self;
    if (TNI_UNLIKELY(!m->made) && m->kind) {
        PyObject *r = py_mrow_otherwise(self, args, nargs, kwnames);
        if (r != Py_NotImplemented) return r;
        Py_DECREF(r);
    }
    if (!py_mrow_ready(self)) return NULL;
    /* the common call, one tensor: its address is the argument struct */
    if (nargs == 1 && !kwnames && !m->kind->row->gen->call &&
        (Py_TYPE(args[0]) == py.tensor || Py_TYPE(args[0]) == py.parameter)) {
        tn_tensor *input = py_of(args[0]);
        const int turn = py_lend();
        return py_lent(turn, py_mrow_run(m, &input, tn_numel(input)));
    }
    PyObject *heard = py_mrow_asked(self, args, nargs, kwnames);
    if (heard != Py_NotImplemented) return heard;
    Py_DECREF(heard);
    if (m->kind->row->gen->ngroups) return py_mrow_nested(m, args, nargs, kwnames);
    return py_call_bound(&m->kind->calling, args, nargs, kwnames, py_mrow_run, m);
}

/* _module_forward(cls, text): a method of a row's class that runs the row; text: its signature and
 * what it does, as those of C's methods. It is the class's forward to calls that need no look. */
PY_PRIV PyObject *py_mrow_method(PyObject *self, PyObject *args) {
    PyTypeObject *cls;
    const char *text;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!s:_module_forward", &PyType_Type, &cls, &text)) return NULL;
    py_kind *k = (py_kind *)(uintptr_t)py_kind_of(cls);
    if (!k) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "the class has no row");
        return NULL;
    }
    /* both stay for the process, like the class */
    PyMethodDef *def = (PyMethodDef *)py_get(1, sizeof *def);
    char *copy = (char *)py_get(strlen(text) + 1, 1);
    if (!def || !copy) return py_give(def), py_give(copy), PyErr_NoMemory();
    memcpy(copy, text, strlen(text) + 1);
    def->ml_name = "forward";
    def->ml_meth = (PyCFunction)(void *)py_mrow_forward;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    def->ml_doc = copy;
    PyObject *forward = PyDescr_NewMethod(cls, def);
    if (!forward) return py_give(def), py_give(copy), NULL;
    Py_XDECREF(k->forward);
    k->forward = Py_NewRef(forward);
    return forward;
}
