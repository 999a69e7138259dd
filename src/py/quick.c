/* quick.c - calls of plain values: exact tensors, floats, ints and bools, by position. What else
 * there may be is left to parse.c. */
#include "py.h"

/* What an exact tensor, float, int or bool, or a few ints, say to a parameter: the walk above in
 * short, for the first row of a group. It refuses what it does not know. */
typedef struct py_quick {
    union {
        double align;
        void *pointer;
        char bytes[PY_QUICK_BYTES];
    } args;
    int64_t elements;
    bool records;
    int64_t ints[PY_QUICK_INTS];
} py_quick;

TNI_INLINE bool py_quick_int(PyObject *o, int64_t *to) {
    int overflow;
    if (Py_TYPE(o) != &PyLong_Type) return false;
    *to = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
}

/* A list of ints: the n arguments from `at` on, or one tuple. */
static bool py_quick_ints(py_quick *q, const tn_param *p, PyObject *const *at, Py_ssize_t n) {
    /* a Size is a tuple of ints as well; other subclasses and lists go the long way */
    PyObject *tuple =
        n == 1 && (Py_TYPE(at[0]) == &PyTuple_Type || Py_TYPE(at[0]) == py.size) ? at[0] : NULL;
    if (tuple) n = PyTuple_Size(tuple);
    if (n > PY_QUICK_INTS) return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!py_quick_int(tuple ? PyTuple_GetItem(tuple, i) : at[i], &q->ints[i])) return false;
    /* points into q, which lives until the call has returned */
    tn_ints l = tn_ints_of(q->ints, n);
    memcpy(q->args.bytes + p->offset, &l, sizeof l);
    return true;
}

static bool py_quick_value(py_quick *q, const tn_param *p, PyObject *o) {
    int64_t integer;
    bool truth = o == Py_True;
    /* bool is a subclass of int but not of this exact type, so True is no int here */
    if (p->type == TN_T_INT) {
        if (!py_quick_int(o, &integer)) return false;
        memcpy(q->args.bytes + p->offset, &integer, sizeof integer);
    } else if (p->type == TN_T_BOOL) {
        if (!truth && o != Py_False) return false;
        memcpy(q->args.bytes + p->offset, &truth, sizeof truth);
    } else {
        /* Tensor|Scalar with a float, x * 2.0: the tensor stays NULL, as the defaults have it */
        tn_scalar s;
        if (!(p->flags & TN_P_NUMBER) || Py_TYPE(o) != &PyFloat_Type) return false;
        s = tn_float(PyFloat_AsDouble(o));
        memcpy(q->args.bytes + p->number_offset, &s, sizeof s);
    }
    return true;
}

PY_PRIV PyObject *py_call_quick(const py_group *g, PyObject *first, PyObject *const *rest,
                                Py_ssize_t n, bool *fits) {
    py_quick q;
    const tn_gen *gen = g->row[0]->gen;
    *fits = false;
    /* no exception is set on any way out before *fits is true: parse.c begins anew */
    if (n + 1 < g->least || !py_is_exact(first) || (n >= g->most && !g->spread)) return NULL;
    q.elements = 0;
    q.records = false;
    /* defaults of what is not given */
    memcpy(q.args.bytes, gen->defaults, gen->args_size);
    for (Py_ssize_t i = 0; i <= n; i++) {
        const tn_param *p = &gen->param[i];
        PyObject *o = i ? rest[i - 1] : first;
        if (TNI_LIKELY(p->type == TN_T_TENSOR && py_is_exact(o))) {
            tn_tensor *t = py_of(o);
            memcpy(q.args.bytes + p->offset, &t, sizeof t);
            q.elements += tn_numel(t);
            q.records = q.records || tn_needs_grad(t);
        } else if (p->type == TN_T_INTS) {
            if ((i != n && i + 1 != g->spread) || !py_quick_ints(&q, p, rest + i - 1, n - i + 1))
                return NULL;
            break;
        } else if (!py_quick_value(&q, p, o)) {
            return NULL;
        }
    }
    *fits = true;
    const int turn = py_lend(); /* another thread may run in a call that lasts */
    return py_lent(turn, py_run(g->row[0], g->how, q.args.bytes, q.elements >= PY_LONG, q.records));
}
