/* autograd.c - backward, autograd.grad, grad modes as classes, what a tensor tells of its history.
 *
 * A backward that may last releases the GIL. It is asked to stop only where Ctrl-C would raise: a
 * pass that was stopped has freed a part of its graph and cannot be made again. */
#include "py.h"

/* Whether o is given and true; -1 with an exception. */
static int py_truth_or(PyObject *o, int otherwise) {
    /* torch takes any truth for these flags */
    return o && o != Py_None ? PyObject_IsTrue(o) : otherwise;
}

/* --- lists of tensors ------------------------------------------------------------------------- */

typedef struct py_tensors {
    PyObject *all; /* a tuple, which keeps the members */
    tn_tensor **at;
    Py_ssize_t n;
    tn_tensor *few[8];
} py_tensors;

static void py_tensors_end(py_tensors *l) {
    Py_XDECREF(l->all);
    if (l->at != l->few) py_give(l->at);
}

/* A tensor, or a sequence of tensors (and None, with holes). To be ended in either case. */
static bool py_tensors_of(py_tensors *l, const char *what, PyObject *o, bool holes) {
    l->at = l->few;
    /* held by the tuple: hooks may change the sequence meanwhile */
    l->all = py_is_tensor(o) || (holes && o == Py_None) ? PyTuple_Pack(1, o) : PySequence_Tuple(o);
    if (!l->all) return false;
    l->n = PyTuple_Size(l->all);
    if (l->n > 8 && !(l->at = (tn_tensor **)py_get((size_t)l->n, sizeof *l->at))) {
        l->at = l->few;
        return PyErr_NoMemory(), false;
    }
    for (Py_ssize_t i = 0; i < l->n; i++) {
        PyObject *one = PyTuple_GetItem(l->all, i);
        l->at[i] = NULL;
        if (holes && one == Py_None) continue;
        if (!py_is_tensor(one)) {
            PyErr_Format(PyExc_TypeError, "element %zd of %s tuple is not a Tensor", i, what);
            return false;
        }
        l->at[i] = py_of(one);
    }
    return true;
}

/* --- a pass ----------------------------------------------------------------------------------- */

typedef struct py_pass {
    tn_tensors outputs, inputs;
    tn_tensor *const *seeds; /* NULL, or one an output */
    bool retain, create, allow_unused;
    tn_tensor **grads; /* of the inputs; NULL: they are added to .grad */
} py_pass;

/* module.name(), new; NULL with an exception. */
static PyObject *py_called(const char *module, const char *name) {
    PyObject *m = PyImport_ImportModule(module);
    PyObject *r = m ? PyObject_CallMethod(m, name, NULL) : NULL;
    Py_XDECREF(m);
    return r;
}

/* Whether Ctrl-C raises KeyboardInterrupt in this thread. */
static bool py_pass_stops(void) {
    PyObject *signal = NULL, *now = NULL, *usual = NULL, *here = NULL, *main = NULL;
    bool stops = true;
    /* a program that never imported threading has one thread */
    if (py_entry(PyImport_GetModuleDict(), "threading")) {
        here = py_called("threading", "current_thread");
        main = py_called("threading", "main_thread");
        stops = here && here == main;
    }
    if (stops && (signal = PyImport_ImportModule("signal")) != NULL) {
        /* a handler of the program's own may go on, and then the pass may not stop */
        now = PyObject_CallMethod(signal, "getsignal", "i", 2); /* SIGINT, everywhere */
        usual = PyObject_GetAttrString(signal, "default_int_handler");
    }
    stops = stops && now && now == usual;
    Py_XDECREF(signal);
    Py_XDECREF(now);
    Py_XDECREF(usual);
    Py_XDECREF(here);
    Py_XDECREF(main);
    PyErr_Clear();
    return stops;
}

/* The pass itself, with or without the GIL: it touches no Python object. */
static bool py_pass_call(const py_pass *p, const char *file, int line) {
    if (p->grads) {
        const tn_grads_options o = {p->seeds, p->retain, p->create, p->allow_unused};
        return tn_grads_at(file, line, p->outputs, p->inputs, p->grads, &o);
    }
    const tn_backward_args a = {NULL, p->inputs, p->retain, p->create, NULL};
    return tn_backward_all_at(file, line, p->outputs, p->seeds, &a);
}

/* torch's error of a seed of another shape than its output's. Returns false. */
static bool py_pass_refuse(const py_pass *p, int64_t i) {
    PyObject *seed = py_wrap_borrowed(p->seeds[i]), *output = py_wrap_borrowed(p->outputs.at[i]);
    PyObject *has = seed ? PyObject_GetAttrString(seed, "shape") : NULL;
    PyObject *wants = output ? PyObject_GetAttrString(output, "shape") : NULL;
    if (has && wants)
        PyErr_Format(PyExc_RuntimeError,
                     "Mismatch in shape: grad_output[%zd] has a shape of %S and output[%zd] has a "
                     "shape of %S.",
                     (Py_ssize_t)i, has, (Py_ssize_t)i, wants);
    Py_XDECREF(seed);
    Py_XDECREF(output);
    Py_XDECREF(has);
    Py_XDECREF(wants);
    return false;
}

/* Whether the seeds have their outputs' shapes; false with an exception. */
static bool py_pass_fits(const py_pass *p) {
    for (int64_t i = 0; p->seeds && i < p->outputs.n; i++) {
        const tn_tensor *seed = p->seeds[i], *of = p->outputs.at[i];
        if (!seed || !tn_needs_grad(of)) continue;
        const tn_ints a = tn_shape(seed), c = tn_shape(of);
        bool same = a.n == c.n;
        for (int64_t d = 0; same && d < a.n; d++) same = a.at[d] == c.at[d];
        if (!same) return py_pass_refuse(p, i);
    }
    return true;
}

/* Runs a pass with the GIL released if it lasts. false: an error of the library, or
 * an exception. */
static bool py_pass_run(const py_pass *p) {
    const char *file;
    int line;
    bool lasts = py.parallel > 0, stops, ok;
    if (!py_pass_fits(p)) return false;
    for (int64_t i = 0; i < p->outputs.n && !lasts; i++)
        /* through the whole graph, until PY_LONG elements are counted */
        lasts = tn_history_lasts(p->outputs.at[i], PY_LONG);
    py_here(&file, &line);
    stops = lasts && py_pass_stops();
    /* from here on no request stops the pass; an earlier request is heeded now */
    while (!stops && !tn_whole_begin())
        if (!py_stopped()) return false;
    if (lasts) {
        py_long l = py_long_begin();
        ok = py_pass_call(p, file, line);
        py_long_end(l);
    } else {
        ok = py_pass_call(p, file, line);
    }
    if (!stops) tn_whole_end();
    if (!ok && stops) py_stopped(); /* KeyboardInterrupt, where it came to that */
    return ok;
}

/* --- backward --------------------------------------------------------------------------------- */

/* Whether all inputs are leaves, for which the library adds to .grad itself. */
static bool py_backward_leaves(const tn_tensors inputs) {
    for (int64_t i = 0; i < inputs.n; i++)
        if (!tn_is_leaf(inputs.at[i])) return false;
    return true;
}

/* The first .grad of t, a copy, as grad may share the memory of a seed. It lies as backward has it:
 * as a leaf does, else row-major. */
static tn_tensor *py_backward_first(tn_tensor *t, tn_tensor *grad) {
    if (tn_is_contiguous(t) || !tn_is_leaf(t))
        return tnp_clone(grad, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    tn_tensor *made = tnp_empty_like(t, tn_dtype_of(grad), TN_NO_DEVICE);
    if (made && !tnp_copy_(made, grad)) tn_free(made), made = NULL;
    return made;
}

/* Adds grad to .grad of t. */
static bool py_backward_gather(tn_tensor *t, tn_tensor *grad) {
    tn_tensor *old = tn_grad_of(t), *now;
    now = tn_take(old ? tnp_add(old, grad, 1) : py_backward_first(t, grad));
    bool ok = now && tnp_set_grad(t, now);
    if (now) tn_release(now);
    return ok;
}

/* backward with inputs that are no leaves: their gradients, then added to .grad. */
static bool py_backward_inner(py_pass *p) {
    tn_tensor **grads = (tn_tensor **)py_get((size_t)p->inputs.n, sizeof *grads);
    bool ok, mode;
    if (!grads) return PyErr_NoMemory(), false;
    p->grads = grads;
    p->allow_unused = true;
    ok = py_pass_run(p);
    /* .grad has a history with create_graph alone */
    mode = tn_set_grad_mode(p->create);
    for (int64_t i = 0; i < p->inputs.n; i++) {
        if (ok && grads[i]) ok = py_backward_gather(p->inputs.at[i], grads[i]);
        tn_release(tn_take(grads[i]));
    }
    tn_set_grad_mode(mode);
    py_give(grads);
    return ok;
}

/* torch's warning of backward(create_graph=True), once a process; false: it raises. */
static bool py_backward_warns(void) {
    PyObject *module = PyImport_ImportModule("tensorh._overloads");
    PyObject *done =
        !module
            ? NULL
            : PyObject_CallMethod(
                  module, "warn_once", "ss",
                  "Using backward() with create_graph=True will create a reference cycle between "
                  "the parameter and its gradient which can cause a memory leak. We recommend "
                  "using autograd.grad when creating the graph to avoid this. If you have to use "
                  "this function, make sure to reset the .grad fields of your parameters to None "
                  "after use to break the cycle and avoid the leak.",
                  "create_graph");
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done != NULL;
}

/* The rest of a backward: flags and inputs. Takes what is set in p. */
static PyObject *py_backward_with(py_pass *p, PyObject *retain, PyObject *create, PyObject *in) {
    py_tensors inputs = {NULL, inputs.few, 0, {NULL}};
    /* retain_graph is create_graph if it is not given */
    int creates = py_truth_or(create, 0), retains = py_truth_or(retain, creates);
    bool ok = creates >= 0 && retains >= 0;
    p->create = creates > 0;
    p->retain = retains > 0;
    if (ok && p->create) ok = py_backward_warns();
    if (ok && in && in != Py_None) {
        ok = py_tensors_of(&inputs, "inputs", in, false);
        if (ok && !inputs.n) {
            PyErr_SetString(PyExc_RuntimeError,
                            "`inputs` argument to `backward()` cannot be empty.");
            ok = false;
        }
        if (ok) p->inputs = tn_tensors_of(inputs.at, inputs.n);
    }
    if (ok && !(py_backward_leaves(p->inputs) ? py_pass_run(p) : py_backward_inner(p)))
        py_raise(), ok = false;
    py_tensors_end(&inputs);
    if (!ok) return NULL;
    Py_RETURN_NONE;
}

/* x.backward(..). "_lent": between py_lend and py_lent, see below. */
static PyObject *py_tensor_backward_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *kwnames) {
    static const char *const names[] = {"gradient", "retain_graph", "create_graph", "inputs"};
    PyObject *a[4];
    tn_tensor *t = py_of(self), *seed = NULL;
    py_pass p;
    /* no inputs: all leaves */
    memset(&p, 0, sizeof p);
    if (!py_take("backward", names, 4, args, nargs, kwnames, a)) return NULL;
    if (a[0] && a[0] != Py_None) {
        if (!py_is_tensor(a[0]))
            return PyErr_Format(PyExc_TypeError, "gradient can be either of Tensor or None, not %R",
                                Py_TYPE(a[0]));
        seed = py_of(a[0]);
    }
    p.outputs = tn_tensors_of(&t, 1);
    /* one seed, NULL for a gradient of 1 */
    p.seeds = &seed;
    return py_backward_with(&p, a[1], a[2], a[3]);
}

/* The seeds of outputs; o may be NULL. */
static bool py_seeds_of(py_tensors *seeds, PyObject *o, const py_tensors *outputs, py_pass *p) {
    if (!o || o == Py_None) return true;
    if (!py_tensors_of(seeds, "gradients", o, true)) return false;
    p->seeds = seeds->at;
    if (seeds->n == outputs->n) return true;
    PyErr_Format(PyExc_RuntimeError, "got %zd tensors and %zd gradients", outputs->n, seeds->n);
    return false;
}

/* autograd.backward(tensors, ..): grad_variables (4) is the old name of grad_tensors (1). */
static PyObject *py_autograd_backward_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                           PyObject *kwnames) {
    static const char *const names[] = {"tensors",      "grad_tensors",   "retain_graph",
                                        "create_graph", "grad_variables", "inputs"};
    PyObject *a[6], *r = NULL;
    py_tensors outputs = {NULL, outputs.few, 0, {NULL}}, seeds = {NULL, seeds.few, 0, {NULL}};
    py_pass p;
    (void)self;
    memset(&p, 0, sizeof p);
    if (!py_take("backward", names, 6, args, nargs, kwnames, a)) return NULL;
    if (!a[0])
        return PyErr_Format(PyExc_TypeError,
                            "backward() missing 1 required positional argument: 'tensors'");
    if (py_tensors_of(&outputs, "tensors", a[0], false) &&
        py_seeds_of(&seeds, a[1] ? a[1] : a[4], &outputs, &p)) {
        p.outputs = tn_tensors_of(outputs.at, outputs.n);
        r = py_backward_with(&p, a[2], a[3], a[5]);
    }
    /* whatever failed above: an end of an empty list does nothing */
    py_tensors_end(&outputs);
    py_tensors_end(&seeds);
    return r;
}

/* --- autograd.grad ---------------------------------------------------------------------------- */

/* The gradient of a sparse input, which it takes, with each place once. */
static PyObject *py_grad_each_once(PyObject *grad) {
    PyObject *r = grad == Py_None ? Py_NewRef(grad) : PyObject_CallMethod(grad, "_each_once", NULL);
    Py_DECREF(grad);
    return r;
}

/* A tuple of the gradients, which it takes; None or zeros for those that are not there. */
static PyObject *py_grad_results(const py_pass *p, bool materialize) {
    PyObject *all = PyTuple_New((Py_ssize_t)p->inputs.n);
    for (int64_t i = 0; i < p->inputs.n; i++) {
        tn_tensor *t = p->grads[i], *of = p->inputs.at[i];
        if (!t && materialize) t = tnp_zeros(tn_shape(of), tn_dtype_of(of), tn_device_of(of));
        /* taken in any case, so that a failure leaks nothing */
        PyObject *one = t ? py_wrap_any(tn_take(t)) : materialize ? py_raise() : Py_NewRef(Py_None);
        if (one && tn_sparse_layout(of) != TN_STRIDED) one = py_grad_each_once(one);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

/* Runs the pass into an array of gradients, on the stack for few inputs. */
static PyObject *py_grad_of(py_pass *p, bool materialize) {
    tn_tensor *few[8];
    PyObject *r;
    p->grads = few;
    if (p->inputs.n > 8 && !(p->grads = (tn_tensor **)py_get((size_t)p->inputs.n, sizeof *few)))
        return PyErr_NoMemory();
    r = py_pass_run(p) ? py_grad_results(p, materialize) : py_raise();
    if (p->grads != few) py_give(p->grads);
    return r;
}

/* allow_unused and materialize_grads, of which one follows from the other. */
static bool py_grad_unused(py_pass *p, PyObject *allow, int materialize) {
    int allows = py_truth_or(allow, materialize);
    p->allow_unused = allows > 0;
    if (allows < 0 || materialize < 0) return false;
    if (!materialize || allows) return true;
    PyErr_SetString(PyExc_ValueError, "Expected allow_unused to be True or not passed when "
                                      "materialize_grads=True, but got: allow_unused=False.");
    return false;
}

/* autograd.grad(outputs, inputs, ..): a new tuple of gradients. */
/* The same for a batch of seeds: tensorh/_vmap.py. */
static PyObject *py_grad_batched(PyObject *const *a) {
    PyObject *module = PyImport_ImportModule("tensorh._vmap"), *r = NULL;
    if (module)
        r = PyObject_CallMethod(module, "seeded", "OOOOOOO", a[0], a[1], a[2] ? a[2] : Py_None,
                                a[3] ? a[3] : Py_None, a[4] ? a[4] : Py_False,
                                a[6] ? a[6] : Py_None, a[8] ? a[8] : Py_False);
    Py_XDECREF(module);
    return r;
}

static PyObject *py_autograd_grad_lent(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames) {
    static const char *const names[] = {"outputs",      "inputs",           "grad_outputs",
                                        "retain_graph", "create_graph",     "only_inputs",
                                        "allow_unused", "is_grads_batched", "materialize_grads"};
    PyObject *a[9], *r = NULL;
    py_tensors outputs = {NULL, outputs.few, 0, {NULL}}, seeds = {NULL, seeds.few, 0, {NULL}},
               inputs = {NULL, inputs.few, 0, {NULL}};
    py_pass p;
    (void)self;
    memset(&p, 0, sizeof p);
    if (!py_take("grad", names, 9, args, nargs, kwnames, a)) return NULL;
    if (!a[0] || !a[1])
        return PyErr_Format(PyExc_TypeError, "grad() missing required argument: '%s'",
                            a[0] ? "inputs" : "outputs");
    int create = py_truth_or(a[4], 0), retain = py_truth_or(a[3], create),
        batched = py_truth_or(a[7], 0), materialize = py_truth_or(a[8], 0);
    if (create < 0 || retain < 0 || batched < 0 || !py_grad_unused(&p, a[6], materialize))
        return NULL;
    /* only_inputs (5) is ignored, as in torch */
    if (batched) return py_grad_batched(a);
    p.create = create > 0;
    p.retain = retain > 0;
    if (py_tensors_of(&outputs, "outputs", a[0], false) &&
        py_tensors_of(&inputs, "inputs", a[1], false) && py_seeds_of(&seeds, a[2], &outputs, &p)) {
        p.outputs = tn_tensors_of(outputs.at, outputs.n);
        p.inputs = tn_tensors_of(inputs.at, inputs.n);
        r = inputs.n ? py_grad_of(&p, materialize > 0)
                     : PyErr_Format(PyExc_RuntimeError,
                                    "`inputs` argument to `grad()` cannot be empty.");
    }
    py_tensors_end(&outputs);
    py_tensors_end(&seeds);
    py_tensors_end(&inputs);
    return r;
}

/* --- what a tensor tells ---------------------------------------------------------------------- */

static PyObject *py_tensor_requires_grad_(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                          PyObject *kwnames) {
    static const char *const names[] = {"requires_grad"};
    PyObject *value;
    if (!py_take("requires_grad_", names, 1, args, n, kwnames, &value)) return NULL;
    if (value && !PyBool_Check(value))
        return PyErr_Format(PyExc_TypeError,
                            "requires_grad_(): argument 'requires_grad' must be bool, not %R",
                            Py_TYPE(value));
    /* by the attribute, which a subclass may override */
    if (PyObject_SetAttr(self, py.requires_grad, value ? value : Py_True)) return NULL;
    return Py_NewRef(self);
}

static PyObject *py_tensor_detach_(PyObject *self, PyObject *unused) {
    const char *file;
    int line;
    (void)unused;
    py_here(&file, &line);
    return tn_detach_inplace_at(file, line, py_of(self)) ? Py_NewRef(self) : py_raise();
}

static PyObject *py_tensor_is_inference(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(tn_is_inference(py_of(self)));
}

/* x.data: the same memory, without history and without a place on the tape. Writes through it are
 * not counted as writes to x. */
static PyObject *py_tensor_data(PyObject *self, void *unused) {
    const tn_detach_args a = {py_of(self)};
    (void)unused;
    tn_tensor *t = tn_detach_at(NULL, 0, &a);
    return t && tn_count_apart(t) ? py_wrap(tn_take(t)) : py_raise();
}

static int py_tensor_set_data(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Deleting tensor data is not allowed. Delete tensor instead!");
        return -1;
    }
    if (!py_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %R",
                     Py_TYPE(value));
        return -1;
    }
    /* Keep the old memory until running calls end: another thread may read it. */
    if (!py_retire_memory(py_of(self))) return py_raise(), -1;
    if (tn_set_data_at(NULL, 0, py_of(self), py_of(value))) return 0;
    py_raise();
    return -1;
}

static PyObject *py_tensor_base(PyObject *self, void *unused) {
    (void)unused;
    /* as _is_view */
    return py_wrap_borrowed(tn_is_inference(py_of(self)) ? NULL : tn_base_of(py_of(self)));
}

static PyObject *py_tensor_output_nr(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(tn_history_output(py_of(self)));
}

static PyObject *py_tensor_grad_fn(PyObject *self, void *unused) {
    (void)unused;
    return py_node_of(tn_history_of(py_of(self)), NULL);
}

/* What hooks do to the tensors of a pass does not concern it. */
#define AUTOGRAD_LENT(name)                                                        \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, \
                          PyObject *kwnames) {                                     \
        const int turn = py_lend();                                                \
        return py_lent(turn, name##_lent(self, args, nargs, kwnames));             \
    }
AUTOGRAD_LENT(py_tensor_backward)
AUTOGRAD_LENT(py_autograd_backward)
AUTOGRAD_LENT(py_autograd_grad)

#define AUTOGRAD_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_tensor_history_methods[] = {
    {"backward", AUTOGRAD_FAST(py_tensor_backward), METH_FASTCALL | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)\n\n"
     "adds the gradients of this tensor to .grad of the leaves (of inputs)"},
    {"requires_grad_", AUTOGRAD_FAST(py_tensor_requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     "requires_grad_(requires_grad=True)\n\nmakes a leaf that gathers .grad"},
    {"detach_", py_tensor_detach_, METH_NOARGS, "makes it a leaf that does not require grad"},
    {"is_inference", py_tensor_is_inference, METH_NOARGS, "whether inference mode made it"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_tensor_history[] = {
    {"data", py_tensor_data, py_tensor_set_data, "the same memory without history", NULL},
    {"_base", py_tensor_base, NULL, "the tensor whose view this is, or None", NULL},
    {"output_nr", py_tensor_output_nr, NULL, "which result of grad_fn it is", NULL},
    {"grad_fn", py_tensor_grad_fn, NULL, "the recorded call that made it, or None", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef py_autograd_functions[] = {
    {"_backward", AUTOGRAD_FAST(py_autograd_backward), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_grad", AUTOGRAD_FAST(py_autograd_grad), METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_autograd_begin(PyObject *module) {
    if (py_add_methods(py.tensor, py_tensor_history_methods)) return -1;
    if (py_add_attributes(py.tensor, py_tensor_history)) return -1;
    return PyModule_AddFunctions(module, py_autograd_functions);
}
