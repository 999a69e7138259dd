/* fault.c - torch's messages for arguments that do not fit, from what parse.c left in a py_bind. */
#include "bind.h"

/* The name of o's class, without its module, as torch says it. `text` has room for it. */
static const char *py_fault_type(PyObject *o, char *text, size_t room) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, room, "%s", s ? s : "?");
    Py_XDECREF(name);
    /* __name__ of a metaclass may raise; this is a message, so "?" will do */
    PyErr_Clear();
    return text;
}

/* A parameter's name as torch says it. */
static const char *py_fault_param(const py_bind *b, int i) {
    const char *name = b->gen->param[i].name;
    return !b->method && !strcmp(name, "self") ? "input" : name;
}

/* "argument 'dim' (position 1)"; by its name alone where that was given. */
static const char *py_fault_argument(const py_bind *b, char *text, size_t room) {
    const char *name = b->fault == FAULT_COMMON ? b->common : py_fault_param(b, b->at);
    if (b->named || b->fault == FAULT_COMMON)
        snprintf(text, room, "argument '%s'", name);
    else
        snprintf(text, room, "argument '%s' (position %d)", name, b->at + (b->method ? 0 : 1));
    return text;
}

/* An int of more than 64 bits, said with its place; other exceptions stay as they are. */
PY_PRIV PyObject *py_fault_overflow(const py_bind *b, const char *name) {
    char argument[96];
    if (!b->given || !PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
    const tn_param *p = &b->gen->param[b->at];
    /* torch's, which depend on the code path that unpacks the int */
    PyObject *kind = p->type == TN_T_INT                     ? PyExc_ValueError
                     : p->type != TN_T_INTS                  ? PyExc_OverflowError
                     : p->count < 0 /* what torch unpacks */ ? PyExc_TypeError
                                                             : PyExc_ValueError;
    PyErr_Clear();
    return PyErr_Format(kind, "%s(): %s: Overflow when unpacking long long", name,
                        py_fault_argument(b, argument, sizeof argument));
}

/* "f(): argument 'x' must be K, not T", or the same of a member of a list. */
static PyObject *py_fault_of_kind(const py_bind *b, const char *name) {
    char argument[96], type[80];
    const char *kind =
        b->fault == FAULT_KIND ? py_bind_kind(&b->gen->param[b->at]) : b->common_kind;
    py_fault_argument(b, argument, sizeof argument);
    if (b->place < 0)
        return PyErr_Format(PyExc_TypeError, "%s(): %s must be %s, not %s", name, argument, kind,
                            py_fault_type(b->given, type, sizeof type));
    /* new: the list may have changed, so this may fail */
    PyObject *member = PySequence_GetItem(b->given, b->place);
    if (!member) return NULL;
    py_fault_type(member, type, sizeof type);
    Py_DECREF(member);
    return PyErr_Format(PyExc_TypeError,
                        "%s(): %s must be %s, but found element of type %s at pos %d", name,
                        argument, kind, type, b->place);
}

/* What has no default and was not given, all of it. */
static PyObject *py_fault_missing(const py_bind *b, const char *name) {
    PyObject *text = PyUnicode_FromString("");
    int n = 0;
    for (int i = 0; text && i < b->gen->nparam; i++) {
        const tn_param *p = &b->gen->param[i];
        if (b->bound >> i & 1 || !tn_param_is_required(p)) continue;
        PyObject *more =
            PyUnicode_FromFormat("%U%s\"%s\"", text, n++ ? ", " : "", py_fault_param(b, i));
        Py_DECREF(text);
        text = more;
    }
    if (text)
        PyErr_Format(PyExc_TypeError, "%s() missing %d required positional argument%s: %U", name, n,
                     n == 1 ? "s" : "", text); /* which is torch's plural */
    Py_XDECREF(text);
    return NULL;
}

/* "f() takes 2 positional arguments but 3 were given", in CPython's words. */
static PyObject *py_fault_many(const py_bind *b, const char *name, Py_ssize_t nargs) {
    int self = b->method, least = 0, most = 0;
    /* positional parameters, and those without a default; self is not counted, as in CPython */
    for (int i = self; i < b->gen->nparam && !(b->gen->param[i].flags & TN_P_KEYWORD); i++) {
        most++;
        least += !(b->gen->param[i].flags & TN_P_DEFAULT);
    }
    int given = (int)nargs - self;
    const char *s = most == 1 ? "" : "s", *were = given == 1 ? "was" : "were";
    if (least < most)
        return PyErr_Format(PyExc_TypeError,
                            "%s() takes from %d to %d positional argument%s but %d %s given", name,
                            least, most, s, given, were);
    return PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %d %s given",
                        name, most, s, given, were);
}

PY_PRIV PyObject *py_fault_raise(const py_bind *b, const char *name, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    /* the exception of Python code stands */
    switch (b->fault) {
    case FAULT_RAISED: return NULL;
    case FAULT_KIND:
    case FAULT_COMMON: return py_fault_of_kind(b, name);
    case FAULT_MANY: return py_fault_many(b, name, nargs);
    case FAULT_MISSING: return py_fault_missing(b, name);
    case FAULT_TWICE:
        return PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", name,
                            py_fault_param(b, b->at));
    default:
        return PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name,
                            kwnames ? PyTuple_GetItem(kwnames, b->at) : NULL);
    }
}

/* "(Tensor, int, dim=str)" */
static PyObject *py_fault_given(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                                Py_ssize_t from) {
    PyObject *text = PyUnicode_FromString("(");
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = from; text && i < nargs + nkw; i++) {
        char type[80];
        /* positional types first, then name=type, as torch lists them */
        const char *comma = i > from ? ", " : "";
        py_fault_type(args[i], type, sizeof type);
        PyObject *more = i < nargs
                             ? PyUnicode_FromFormat("%U%s%s", text, comma, type)
                             : PyUnicode_FromFormat("%U%s%U=%s", text, comma,
                                                    PyTuple_GetItem(kwnames, i - nargs), type);
        Py_DECREF(text);
        text = more;
    }
    return text;
}

PY_PRIV PyObject *py_fault_overloads(const py_group *g, bool method, PyObject *const *args,
                                     Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *given = py_fault_given(args, nargs, kwnames, method ? 1 : 0);
    PyObject *text = given ? PyUnicode_FromFormat("%s() received an invalid combination of "
                                                  "arguments - got %U), but expected one of:",
                                                  g->name, given)
                           : NULL;
    /* text is replaced by each longer one, which is new; NULL ends it with the exception */
    for (int i = 0; text && i < g->nrows; i++) {
        const char *schema = strchr(g->row[i]->schema, '(');
        PyObject *more = PyUnicode_FromFormat("%U\n * %s", text, schema ? schema : "");
        Py_DECREF(text);
        text = more;
    }
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(given);
    Py_XDECREF(text);
    return NULL;
}
