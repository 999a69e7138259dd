/* function.c - torch.autograd.Function: apply, ctx, and what lies between them and the tape.
 *
 * ctx belongs to the tape while the call is recorded. Outputs that are tensors and not marked are
 * those that the tape knows; all others pass by it. */
#include "py.h"

enum { FUNCTION_OUTS = 128 }; /* differentiable outputs of a call */

/* Shape of an input or output, and who it is for the tape. */
typedef struct py_fact {
    int64_t size[TN_MAX_DIMS];
    int32_t ndim,
        number;     /* number: argument of an input; of an output its number on the tape, -1 */
    tn_dtype dtype; /* TN_NO_DTYPE: no tensor */
    tn_device_id device;
} py_fact;

typedef struct py_context {
    PyObject_HEAD PyObject *dict, *weak;
    struct py_apply *apply;          /* in progress */
    PyObject *cls, *name, *needs;    /* the Function, "MyFnBackward", needs_input_grad */
    PyObject *saved, *dirty, *fixed; /* as given by save_for_backward, mark_..: tuples or NULL */
    PyObject *places;                /* which of saved are tensors: all that is kept of it */
    tn_function_row row;
    tn_function *f;        /* while it is in progress or on the tape */
    tn_history *history;   /* not counted: it outlives f; NULL before the call has ended */
    py_fact *fact;         /* inputs, then outputs */
    uint64_t saves_output; /* bit i: saved tensor i < 64 is an output */
    int32_t nargs, nin, nout;
    bool materialize;
} py_context;

/* One apply, on the stack. */
typedef struct py_apply {
    py_context *ctx;
    PyObject *const *args;
    PyObject *result; /* of forward */
    tn_tensor *out[FUNCTION_OUTS];
} py_apply;

/* --- forward ---------------------------------------------------------------------------------- */

/* A new tuple of `first`, unless it is NULL, and n arguments. */
static PyObject *py_function_tuple(PyObject *first, PyObject *const *args, Py_ssize_t n) {
    Py_ssize_t k = first ? 1 : 0;
    PyObject *all = PyTuple_New(n + k);
    if (all && first) PyTuple_SetItem(all, 0, Py_NewRef(first));
    for (Py_ssize_t i = 0; all && i < n; i++) PyTuple_SetItem(all, i + k, Py_NewRef(args[i]));
    return all;
}

/* cls.name(*args), new. args may be NULL with an exception, which goes on. */
static PyObject *py_function_method(PyObject *cls, PyObject *name, PyObject *args) {
    PyObject *f = args ? PyObject_GetAttr(cls, name) : NULL;
    PyObject *r = f ? PyObject_Call(f, args, NULL) : NULL;
    Py_XDECREF(f);
    return r;
}

/* forward(ctx, ..), or forward(..) and then setup_context(ctx, (..), output). */
static PyObject *py_function_forward(py_context *ctx, PyObject *const *args) {
    /* _separate: whether the class has a setup_context; autograd/function.py sets it */
    PyObject *separate = PyObject_GetAttr(ctx->cls, py.separate);
    bool split = separate == Py_True;
    if (!separate) return NULL;
    Py_DECREF(separate);
    PyObject *all = py_function_tuple(split ? NULL : (PyObject *)ctx, args, ctx->nargs);
    PyObject *r = py_function_method(ctx->cls, py.forward, all), *more, *done;
    if (r && split) {
        more = PyTuple_Pack(3, (PyObject *)ctx, all, r);
        done = py_function_method(ctx->cls, py.setup_context, more);
        Py_XDECREF(more);
        if (!done) Py_CLEAR(r);
        Py_XDECREF(done);
    }
    Py_XDECREF(all);
    return r;
}

static Py_ssize_t py_function_count(PyObject *r) { return PyTuple_Check(r) ? PyTuple_Size(r) : 1; }
/* Output i of forward, borrowed: of the tuple, or the one thing it returned. */
static PyObject *py_function_at(PyObject *r, Py_ssize_t i) {
    return PyTuple_Check(r) ? PyTuple_GetItem(r, i) : r;
}
/* Whether a tuple, NULL for an empty one, holds this very object. */
static bool py_function_holds(PyObject *tuple, PyObject *o) {
    for (Py_ssize_t i = tuple ? PyTuple_Size(tuple) : 0; i--;)
        if (PyTuple_GetItem(tuple, i) == o) return true;
    return false;
}

/* Notes shape, dtype and device: backward needs them when the tensor may be gone. */
static void py_function_fact(py_fact *to, const tn_tensor *t, int number) {
    tn_ints shape = tn_shape(t);
    to->number = number;
    to->dtype = tn_dtype_of(t);
    to->device = tn_device_of(t);
    to->ndim = (int32_t)shape.n;
    memcpy(to->size, shape.at, (size_t)shape.n * sizeof *to->size);
}

/* Whether o is one of the arguments. */
static bool py_function_takes(const py_apply *a, PyObject *o) {
    for (int i = 0; i < a->ctx->nargs; i++)
        if (a->args[i] == o) return true;
    return false;
}

/* The outputs for the tape, borrowed from a->result. A tensor with a history or a wish of its own
 * that is no input, a parameter say, goes by another header. */
static bool py_function_outputs(py_apply *a, tn_tensor **out) {
    py_context *ctx = a->ctx;
    Py_ssize_t n = py_function_count(a->result);
    /* inputs stand before outputs in one block; ctx->fact stays the old one if this fails */
    py_fact *fact = (py_fact *)py_get_again(ctx->fact, (size_t)(ctx->nin + n + 1), sizeof *fact);
    if (!fact) return PyErr_NoMemory(), false;
    ctx->fact = fact;
    ctx->nout = (int32_t)n;
    ctx->row.nout = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = py_function_at(a->result, i);
        py_fact *to = &fact[ctx->nin + i];
        to->dtype = TN_NO_DTYPE;
        to->number = -1;
        /* passes by the tape, as what mark_non_differentiable names does */
        if (!py_is_tensor(o)) continue;
        py_function_fact(to, py_of(o), -1);
        if (py_function_holds(ctx->fixed, o)) continue;
        if (ctx->row.nout == FUNCTION_OUTS) {
            PyErr_Format(PyExc_RuntimeError, "%U returned more than %d tensors", ctx->name,
                         FUNCTION_OUTS);
            return false;
        }
        const tn_detach_args detach = {py_of(o)};
        to->number = ctx->row.nout++;
        out[to->number] = tn_needs_grad(py_of(o)) && !py_function_takes(a, o)
                              ? tn_detach_at(NULL, 0, &detach)
                              : py_of(o);
        if (!out[to->number]) return false;
    }
    return true;
}

/* Input number i on the tape of argument o; -1: it is none. */
static int py_function_input(const py_apply *a, PyObject *o) {
    for (int i = 0; i < a->ctx->nin; i++)
        if (a->args[a->ctx->fact[i].number] == o) return i;
    return -1;
}

/* Whether argument o, number i of mark_dirty, may be written in place. The rules and texts
 * are torch's. */
static bool py_function_dirty_one(const py_apply *a, PyObject *o, Py_ssize_t i) {
    const char *text = NULL;
    if (!py_is_tensor(o)) {
        PyErr_Format(PyExc_RuntimeError,
                     "mark_dirty can only accept variables, but argument %zd is of type %R", i,
                     Py_TYPE(o));
        return false;
    }
    tn_tensor *t = py_of(o), *base = tn_base_of(t);
    /* by identity: what forward returns must be the very tensor */
    bool returned = false;
    for (Py_ssize_t k = py_function_count(a->result); k--;)
        returned = returned || py_function_at(a->result, k) == o;
    if (tn_is_leaf(t) && tn_needs_grad(t))
        text = "a leaf Variable that requires grad has been used in an in-place operation.";
    else if (base && tn_is_leaf(base) && tn_needs_grad(base))
        text = "a view of a leaf Variable that requires grad is being used in an in-place "
               "operation.";
    else if (!returned)
        text = "Some elements marked as dirty during the forward method were not returned as "
               "output. The inputs that are modified inplace must all be outputs of the Function.";
    else if (base && py_function_at(a->result, 0) != o)
        text = "a view that was marked as dirty has to be the first output";
    if (text) PyErr_SetString(PyExc_RuntimeError, text);
    return !text;
}

/* Tells the tape which inputs forward has written. */
static bool py_function_mark_dirty(const py_apply *a) {
    py_context *ctx = a->ctx;
    for (Py_ssize_t i = 0; ctx->dirty && i < PyTuple_Size(ctx->dirty); i++) {
        PyObject *o = PyTuple_GetItem(ctx->dirty, i);
        int input;
        if (!py_function_dirty_one(a, o, i)) return false;
        input = py_function_input(a, o);
        if (input < 0 &&
            PyErr_WarnEx(PyExc_UserWarning,
                         "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is "
                         "not an input, there is no need to pass it to mark_dirty().",
                         1))
            return false;
        if (input >= 0 && !tn_function_written(ctx->f, input)) return false;
    }
    return true;
}

/* Gives what save_for_backward names to the tape, which owns it: a ctx that held tensors would
 * be a cycle. */
static bool py_function_save(const py_apply *a, tn_tensor *const *out) {
    py_context *ctx = a->ctx;
    PyObject *places = ctx->saved ? PyTuple_New(PyTuple_Size(ctx->saved)) : NULL;
    if (ctx->saved && !places) return false;
    ctx->places = places;
    for (Py_ssize_t i = 0, k = 0; ctx->saved && i < PyTuple_Size(ctx->saved); i++) {
        PyObject *o = PyTuple_GetItem(ctx->saved, i);
        PyTuple_SetItem(places, i, PyBool_FromLong(o != Py_None));
        if (o == Py_None) continue;
        if (!tn_function_save(ctx->f, py_of(o))) return false;
        /* an output that is saved needs its history in backward; an input that was written
         * is one */
        bool is_output = py_function_holds(ctx->dirty, o) || py_function_input(a, o) < 0;
        for (int j = 0; is_output && k < 64 && j < ctx->row.nout; j++)
            if (out[j] == py_of(o)) ctx->saves_output |= (uint64_t)1 << k;
        k++;
    }
    return true;
}

/* Releases what lasted for the call alone. */
static void py_function_settle(py_context *ctx) {
    Py_CLEAR(ctx->dirty);
    Py_CLEAR(ctx->fixed);
    Py_CLEAR(ctx->saved);
}

/* What the tape calls for the forward of ctx. */
static bool py_function_run(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    py_apply *a = ((py_context *)tn_function_user(f))->apply;
    bool ok;
    (void)in, (void)nin;
    a->ctx->f = f;
    a->result = py_function_forward(a->ctx, a->args);
    ok = a->result && py_function_outputs(a, out) && py_function_mark_dirty(a) &&
         py_function_save(a, out);
    /* the exception stays set, and py_raise prefers it */
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "the forward of a Function has failed");
    return ok;
}

/* --- backward --------------------------------------------------------------------------------- */

/* The gradient of an output, new: what came, zeros, or None as set_materialize_grads says. */
static PyObject *py_function_incoming(const py_context *ctx, const py_fact *fact,
                                      tn_tensor *const *grad_out) {
    tn_tensor *t = fact->number >= 0 ? grad_out[fact->number] : NULL;
    if (t) return py_wrap_borrowed(t);
    if (fact->dtype == TN_NO_DTYPE || !ctx->materialize) return Py_NewRef(Py_None);
    t = tnp_zeros(tn_ints_of(fact->size, fact->ndim), fact->dtype, fact->device);
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* The user's backward(ctx, *grads), as a tuple. */
static PyObject *py_function_call_back(py_context *ctx, tn_tensor *const *grad_out) {
    PyObject *args = PyTuple_New(ctx->nout + 1), *r = NULL, *all = NULL;
    if (args) PyTuple_SetItem(args, 0, Py_NewRef((PyObject *)ctx));
    for (int i = 0; args && i < ctx->nout; i++) {
        PyObject *one = py_function_incoming(ctx, &ctx->fact[ctx->nin + i], grad_out);
        if (one)
            PyTuple_SetItem(args, i + 1, one);
        else
            Py_CLEAR(args);
    }
    if (args) r = py_function_method(ctx->cls, py.backward, args);
    Py_XDECREF(args);
    if (!r || PyTuple_Check(r)) return r;
    /* a single gradient need not be in a tuple */
    all = PyTuple_Pack(1, r);
    Py_DECREF(r);
    return all;
}

/* As many gradients as arguments; more only where they are None. */
static bool py_function_right_count(const py_context *ctx, PyObject *grads) {
    Py_ssize_t n = PyTuple_Size(grads), most = n;
    while (most > ctx->nargs && PyTuple_GetItem(grads, most - 1) == Py_None) most--;
    if (most == ctx->nargs) return true;
    PyErr_Format(PyExc_RuntimeError,
                 "function %U returned an incorrect number of gradients (expected %d, got %zd)",
                 ctx->name, (int)ctx->nargs, n);
    return false;
}

/* A list of ints, for messages. */
static PyObject *py_function_sizes(const int64_t *size, int64_t n) {
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *one = PyLong_FromLongLong(size[i]);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* Whether grad is of the input's shape or can be summed to it. */
static bool py_function_fits(const py_context *ctx, const py_fact *fact, const tn_tensor *grad) {
    tn_ints s = tn_shape(grad);
    bool fits = s.n >= fact->ndim;
    PyObject *got, *want;
    /* from the last dimension on, as broadcasting aligns them */
    for (int d = 1; fits && d <= fact->ndim; d++)
        fits = fact->size[fact->ndim - d] == 1 || fact->size[fact->ndim - d] == s.at[s.n - d];
    if (fits) return true;
    got = py_function_sizes(s.at, s.n);
    want = py_function_sizes(fact->size, fact->ndim);
    if (got && want)
        PyErr_Format(PyExc_RuntimeError,
                     "Function %U returned an invalid gradient at index %d - got %R but expected "
                     "shape compatible with %R",
                     ctx->name, (int)fact->number, got, want);
    Py_XDECREF(got);
    Py_XDECREF(want);
    return false;
}

/* Gives the user's gradients to the tape: one an input; arguments that are no tensors have None. */
static bool py_function_give(const py_context *ctx, PyObject *grads, tn_tensor **grad_in) {
    for (int i = 0, k = 0; i < ctx->nargs; i++) {
        PyObject *g = PyTuple_GetItem(grads, i), *type;
        bool input = k < ctx->nin && ctx->fact[k].number == i;
        if (input) k++;
        if (g == Py_None) continue;
        if (!input) {
            PyErr_Format(PyExc_RuntimeError,
                         "function %U returned a gradient different than None at position %d, but "
                         "the corresponding forward input was not a Variable",
                         ctx->name, i + 1);
            return false;
        }
        if (!py_is_tensor(g)) {
            type = PyObject_GetAttr((PyObject *)Py_TYPE(g), py.name_word);
            if (type) PyErr_Format(PyExc_RuntimeError, "expected Variable or None (got %U)", type);
            Py_XDECREF(type);
            return false;
        }
        /* what nobody asks for need not fit */
        if (PyTuple_GetItem(ctx->needs, i) != Py_True) continue;
        if (!py_function_fits(ctx, &ctx->fact[k - 1], py_of(g))) return false;
        /* lent to the scope of the pass, with a count of its own: grads may go */
        if (!(grad_in[k - 1] = tn_lend(tn_retain(py_of(g))))) return false;
    }
    return true;
}

/* What the tape calls for the backward of ctx. false ends the pass with an error. */
static bool py_function_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    /* in any thread of a backward */
    const py_inside inside = py_inside_begin();
    py_context *ctx = (py_context *)tn_function_user(f);
    PyObject *grads = py_function_call_back(ctx, grad_out);
    bool ok = grads && py_function_right_count(ctx, grads) && py_function_give(ctx, grads, grad_in);
    Py_XDECREF(grads);
    if (!ok) tn_error_set(TN_INVALID, NULL, 0, "the backward of a Function has failed");
    py_inside_end(inside);
    return ok;
}

/* The tape drops its count of ctx. ctx may live on in Python, without a call. */
static void py_function_release(void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_context *ctx = (py_context *)user;
    ctx->f = NULL;
    ctx->history = NULL;
    Py_DECREF((PyObject *)ctx);
    PyGILState_Release(state);
}

PY_PRIV PyObject *py_context_of(const tn_history *h) {
    return (PyObject *)tn_history_user(h, py_function_release);
}
PY_PRIV int py_context_outputs(PyObject *ctx) { return ((py_context *)ctx)->nout; }
PY_PRIV int py_context_result(PyObject *ctx, int i) {
    const py_context *c = (const py_context *)ctx;
    return c->fact[c->nin + i].number;
}
PY_PRIV const tn_history *py_context_history(PyObject *ctx) { return ((py_context *)ctx)->history; }

/* --- apply ------------------------------------------------------------------------------------ */

/* Output i of the call as the caller sees it. */
static PyObject *py_function_output(const py_apply *a, PyObject *o, const py_fact *fact) {
    tn_tensor *t = fact->number >= 0 ? a->out[fact->number] : NULL;
    if (!t || t == py_of(o)) return Py_NewRef(o);
    return py_wrap(tn_take(t)); /* another header: o is an input, or has a history of its own */
}

/* The outputs as the caller sees them, a tuple if forward returned one. */
static PyObject *py_function_results(const py_apply *a) {
    const py_context *ctx = a->ctx;
    PyObject *all;
    if (!PyTuple_Check(a->result)) return py_function_output(a, a->result, &ctx->fact[ctx->nin]);
    all = PyTuple_New(ctx->nout);
    for (int i = 0; i < ctx->nout; i++) {
        /* made for all even after a failure, as each takes its header of the tape */
        PyObject *one =
            py_function_output(a, PyTuple_GetItem(a->result, i), &ctx->fact[ctx->nin + i]);
        if (all && one) {
            PyTuple_SetItem(all, i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

/* A call that the tape records: forward runs inside tn_function_call_at. */
static PyObject *py_apply_recorded(py_context *ctx, PyObject *const *args, tn_tensor **in) {
    py_apply a;
    const char *file;
    int line;
    const int turn = py_lend();
    PyObject *r;
    a.ctx = ctx;
    a.args = args;
    a.result = NULL;
    ctx->apply = &a;
    py_here(&file, &line);
    Py_INCREF((PyObject *)ctx); /* for the tape, which releases it in any case */
    bool ok = tn_function_call_at(file, line, &ctx->row, tn_tensors_of(in, ctx->nin), ctx, a.out);
    /* an output may be no part of a graph; every other output leads to the call */
    for (int j = 0; ok && j < ctx->row.nout && !ctx->history; j++)
        ctx->history = tn_history_of(a.out[j]);
    /* an output that is an input keeps the history it had: another call's */
    if (ctx->history && py_context_of(ctx->history) != (PyObject *)ctx) ctx->history = NULL;
    py_function_settle(ctx);
    ctx->apply = NULL;
    r = ok ? py_function_results(&a) : py_raise();
    Py_XDECREF(a.result);
    return py_lent(turn, r);
}

/* Output o of a call that is not recorded. An input that was not written is returned as a new
 * tensor over its memory. */
static PyObject *py_apply_apart(const py_context *ctx, PyObject *const *args, PyObject *o) {
    for (int i = 0; i < ctx->nargs; i++)
        if (o == args[i] && py_is_tensor(o) && !py_function_holds(ctx->dirty, o)) {
            const tn_detach_args a = {py_of(o)};
            return py_wrap(tn_take(tn_detach_at(NULL, 0, &a)));
        }
    return Py_NewRef(o);
}

/* Nothing requires a gradient: forward alone. */
static PyObject *py_apply_plain(py_context *ctx, PyObject *const *args) {
    /* as torch: forward records nothing in either case */
    bool mode = tn_set_grad_mode(false);
    PyObject *given = py_function_forward(ctx, args), *r = NULL;
    tn_set_grad_mode(mode);
    if (given && !PyTuple_Check(given))
        r = py_apply_apart(ctx, args, given);
    else if (given)
        r = PyTuple_New(PyTuple_Size(given));
    for (Py_ssize_t i = 0; r && given && PyTuple_Check(given) && i < PyTuple_Size(given); i++) {
        PyObject *one = py_apply_apart(ctx, args, PyTuple_GetItem(given, i));
        if (!one || PyTuple_SetItem(r, i, one)) Py_CLEAR(r);
    }
    Py_XDECREF(given);
    return r;
}

/* The tensors among args, and which of them require a gradient. */
static bool py_apply_inputs(py_context *ctx, PyObject *const *args, tn_tensor **in, bool *wants) {
    *wants = false;
    if (!(ctx->needs = PyTuple_New(ctx->nargs))) return false;
    /* two more, so that a Function without arguments has some memory as well */
    ctx->fact = (py_fact *)py_get((size_t)(ctx->nargs + 2), sizeof *ctx->fact);
    if (!ctx->fact) return PyErr_NoMemory(), false;
    for (int i = 0; i < ctx->nargs; i++) {
        bool tensor = py_is_tensor(args[i]), want = tensor && tn_needs_grad(py_of(args[i]));
        PyTuple_SetItem(ctx->needs, i, PyBool_FromLong(want));
        *wants = *wants || want;
        if (!tensor) continue;
        in[ctx->nin] = py_of(args[i]);
        py_function_fact(&ctx->fact[ctx->nin], in[ctx->nin], i);
        ctx->nin++;
    }
    /* needs_input_grad says what requires a gradient, also in no-grad mode */
    *wants = *wants && tn_grad_mode();
    return true;
}

/* A ctx of the class that autograd/function.py made for the Function: "MyFnBackward". */
static py_context *py_context_new(PyObject *cls) {
    PyObject *type = PyObject_GetAttr(cls, py.backward_class);
    py_context *ctx = NULL;
    if (type && (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, py.context)))
        PyErr_Format(PyExc_TypeError, "apply() is called on a subclass of Function");
    else if (type)
        ctx = (py_context *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    if (ctx) {
        ctx->cls = Py_NewRef(cls);
        ctx->materialize = true;
        ctx->row.forward = py_function_run;
        ctx->row.backward = py_function_back;
        ctx->row.release = py_function_release;
        ctx->name = PyObject_GetAttr(type, py.name_word);
        /* the name lies in ctx->name, which ctx holds */
        ctx->row.name = ctx->name ? PyUnicode_AsUTF8AndSize(ctx->name, NULL) : NULL;
        if (!ctx->row.name) Py_CLEAR(ctx);
    }
    Py_XDECREF(type);
    return ctx;
}

/* By keyword: Python brings the arguments in order. */
static PyObject *py_apply_named(PyObject *cls, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    /* rare, so Python's inspect does it */
    PyObject *module = PyImport_ImportModule("tensorh.autograd.function"), *r = NULL;
    PyObject *f = module ? PyObject_GetAttrString(module, "_apply_with_names") : NULL;
    PyObject *all = f ? py_function_tuple(cls, args, n) : NULL, *named = all ? PyDict_New() : NULL;
    bool ok = named != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_Size(kwnames); i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(kwnames, i), args[n + i]) == 0;
    if (ok) r = PyObject_Call(f, all, named);
    Py_XDECREF(module);
    Py_XDECREF(f);
    Py_XDECREF(all);
    Py_XDECREF(named);
    return r;
}

/* cls.apply(*args): a new ctx for each call. */
/* Whether one of the arguments is a sample of a batch: tensorh/_vmap.py then calls apply. */
static bool py_apply_is_batched(PyObject *const *args, Py_ssize_t n) {
    if (TNI_LIKELY(!tn_vmap_depth())) return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (py_is_tensor(args[i]) && tn_batch_depth(py_of(args[i]))) return true;
    return false;
}
static PyObject *py_apply_batched(PyObject *cls, PyObject *const *args, Py_ssize_t n) {
    PyObject *module = PyImport_ImportModule("tensorh._vmap"), *r = NULL;
    PyObject *f = module ? PyObject_GetAttrString(module, "apply") : NULL;
    PyObject *all = f ? py_function_tuple(cls, args, n) : NULL;
    if (all) r = PyObject_Call(f, all, NULL);
    Py_XDECREF(module);
    Py_XDECREF(f);
    Py_XDECREF(all);
    return r;
}

static PyObject *py_function_apply(PyObject *cls, PyObject *const *args, Py_ssize_t n,
                                   PyObject *kwnames) {
    tn_tensor *few[16], **in = few;
    bool wants;
    PyObject *r = NULL;
    py_context *ctx;
    /* forward's signature is needed to bring them in order */
    if (kwnames && PyTuple_Size(kwnames)) return py_apply_named(cls, args, n, kwnames);
    if (py_apply_is_batched(args, n)) return py_apply_batched(cls, args, n);
    if (!(ctx = py_context_new(cls))) return NULL;
    ctx->nargs = (int32_t)n;
    if (n > 16 && !(in = (tn_tensor **)py_get((size_t)n, sizeof *in)))
        PyErr_NoMemory();
    else if (py_apply_inputs(ctx, args, in, &wants))
        r = wants ? py_apply_recorded(ctx, args, in) : py_apply_plain(ctx, args);
    if (in != few) py_give(in);
    Py_DECREF((PyObject *)ctx);
    return r;
}

/* --- ctx -------------------------------------------------------------------------------------- */

/* Sets a slot of ctx to a tuple of the arguments. The old one goes last, as that may run
 * Python code. */
static PyObject *py_context_keep(PyObject **to, PyObject *const *args, Py_ssize_t n) {
    PyObject *all = py_function_tuple(NULL, args, n), *before = *to;
    if (!all) return NULL;
    *to = all;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}
/* ctx.save_for_backward(*tensors): kept in ctx until forward has ended. */
static PyObject *py_context_save(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) /* None keeps its place among saved_tensors */
        if (args[i] != Py_None && !py_is_tensor(args[i])) {
            PyObject *type = PyObject_GetAttr((PyObject *)Py_TYPE(args[i]), py.name_word);
            if (type)
                PyErr_Format(PyExc_TypeError,
                             "save_for_backward can only save variables, but argument %zd is of "
                             "type %U",
                             i, type);
            Py_XDECREF(type);
            return NULL;
        }
    return py_context_keep(&((py_context *)self)->saved, args, n);
}
static PyObject *py_context_dirty(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return py_context_keep(&((py_context *)self)->dirty, args, n);
}
static PyObject *py_context_fixed(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    return py_context_keep(&((py_context *)self)->fixed, args, n);
}
static PyObject *py_context_materialize(PyObject *self, PyObject *value) {
    int truth = PyObject_IsTrue(value);
    if (truth < 0) return NULL;
    ((py_context *)self)->materialize = truth > 0;
    Py_RETURN_NONE;
}
static PyObject *py_context_name(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(((py_context *)self)->name);
}
static PyObject *py_context_repr(PyObject *self) {
    return PyUnicode_FromFormat("<torch.autograd.function.%U object at %p>",
                                ((py_context *)self)->name, (void *)self);
}

/* Saved tensor k of the tape. While calls are recorded, a saved output is a new tensor that has its
 * history again. */
static PyObject *py_context_saved_one(const py_context *ctx, int k) {
    tn_error_info info;
    /* lent by the pass, or new: of the scope then */
    const int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_function_saved(ctx->f, k);
    PyObject *wrapped = t ? py_wrap_borrowed(t) : NULL;
    tn_scope_end(mark);
    if (t) return wrapped;
    if (!tn_error_peek(&info) || info.code != TN_INDEX) return py_raise();
    tn_error_take(NULL);
    return py_saved_gone();
}

/* ctx.saved_tensors: a new tuple; in forward what was given, later what the tape has. */
static PyObject *py_context_saved(PyObject *self, void *unused) {
    py_context *ctx = (py_context *)self;
    Py_ssize_t n = ctx->places ? PyTuple_Size(ctx->places) : 0;
    PyObject *all;
    (void)unused;
    /* nothing has been given to the tape yet */
    if (ctx->saved && ctx->apply) return Py_NewRef(ctx->saved); /* in forward */
    all = PyTuple_New(n);
    for (Py_ssize_t i = 0, k = 0; all && i < n; i++) {
        bool there = PyTuple_GetItem(ctx->places, i) == Py_True;
        PyObject *one = there ? py_context_saved_one(ctx, (int)k++) : Py_NewRef(Py_None);
        if (one)
            PyTuple_SetItem(all, i, one);
        else
            Py_CLEAR(all);
    }
    return all;
}
static PyObject *py_context_variables(PyObject *self, void *unused) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "'saved_variables' is deprecated; use 'saved_tensors'", 1))
        return NULL;
    return py_context_saved(self, unused);
}
static PyObject *py_context_needs(PyObject *self, void *unused) {
    PyObject *needs = ((py_context *)self)->needs;
    (void)unused;
    return needs ? Py_NewRef(needs) : PyTuple_New(0);
}
static PyObject *py_context_materializes(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((py_context *)self)->materialize);
}

/* What the collector may follow. Saved tensors are the tape's. */
static int py_context_traverse(PyObject *self, visitproc visit, void *arg) {
    py_context *ctx = (py_context *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(ctx->dict);
    Py_VISIT(ctx->cls);
    Py_VISIT(ctx->saved);
    Py_VISIT(ctx->dirty);
    Py_VISIT(ctx->fixed);
    return 0;
}
static int py_context_clear(PyObject *self) {
    py_context *ctx = (py_context *)self;
    Py_CLEAR(ctx->dict);
    Py_CLEAR(ctx->saved);
    Py_CLEAR(ctx->dirty);
    Py_CLEAR(ctx->fixed);
    Py_CLEAR(ctx->places);
    return 0;
}
/* The tape holds a count while the call is on it, so ctx goes after its call. */
static void py_context_dealloc(PyObject *self) {
    py_context *ctx = (py_context *)self;
    PyTypeObject *type = Py_TYPE(self);
    /* first of all: the collector may not see a half-freed object */
    PyObject_GC_UnTrack(self);
    if (ctx->weak) PyObject_ClearWeakRefs(self);
    py_context_clear(self);
    Py_CLEAR(ctx->cls);
    Py_CLEAR(ctx->name);
    Py_CLEAR(ctx->needs);
    py_give(ctx->fact);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* --- the classes ------------------------------------------------------------------------------ */

#define FUNCTION_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_context_methods[] = {
    {"save_for_backward", FUNCTION_FAST(py_context_save), METH_FASTCALL,
     "keeps tensors for backward, where saved_tensors has them"},
    {"mark_dirty", FUNCTION_FAST(py_context_dirty), METH_FASTCALL,
     "names inputs that forward has written in place, and returns"},
    {"mark_non_differentiable", FUNCTION_FAST(py_context_fixed), METH_FASTCALL,
     "names outputs that no gradient is asked of"},
    {"set_materialize_grads", py_context_materialize, METH_O,
     "whether backward gets zeros, not None, for an output without gradient (True)"},
    {"name", py_context_name, METH_NOARGS, "the Function's name and Backward"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef py_context_attributes[] = {
    {"saved_tensors", py_context_saved, NULL, "what save_for_backward was given", NULL},
    {"saved_variables", py_context_variables, NULL, "the old name of saved_tensors", NULL},
    {"needs_input_grad", py_context_needs, NULL, "for each argument: whether it needs one", NULL},
    {"materialize_grads", py_context_materializes, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef py_context_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(py_context, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_context, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyMethodDef py_function_methods[] = {
    {"apply", FUNCTION_FAST(py_function_apply), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "apply(*args)\n\nruns forward, and records the call where an argument requires grad"},
    {NULL, NULL, 0, NULL}};

static PyObject *py_function_type(PyObject *module, const char *name, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return type;
}

PY_PRIV int py_functions_begin(PyObject *module) {
    PyType_Slot context[] = {
        {Py_tp_dealloc, (void *)py_context_dealloc}, {Py_tp_traverse, (void *)py_context_traverse},
        {Py_tp_clear, (void *)py_context_clear},     {Py_tp_repr, (void *)py_context_repr},
        {Py_tp_methods, py_context_methods},         {Py_tp_members, py_context_members},
        {Py_tp_getset, py_context_attributes},       {0, NULL}};
    PyType_Slot function[] = {{Py_tp_methods, py_function_methods}, {0, NULL}};
    PyType_Spec context_spec = {"torch.autograd.function.FunctionCtx", sizeof(py_context), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                context};
    PyType_Spec function_spec = {"torch._C._FunctionBase", sizeof(PyObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function};
    /* Function, in Python, derives from this base: apply is its class method */
    PyObject *base = py_function_type(module, "_FunctionBase", &function_spec);
    py.context = (PyTypeObject *)py_function_type(module, "_FunctionCtx", &context_spec);
    Py_XDECREF(base);
    return base && py.context ? 0 : -1;
}
