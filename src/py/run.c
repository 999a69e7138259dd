/* run.c - a bound row is run, its results become Python's; every row as a function and a method. */
#include "py.h"

/* --- results ---------------------------------------------------------------------------------- */

/* As torch prints it: a line for each result. */
static PyObject *py_results_repr(PyObject *self, PyObject *unused) {
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__match_args__");
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "__name__");
    PyObject *text = fields && name ? PyUnicode_FromFormat("torch.return_types.%S(", name) : NULL;
    (void)unused;
    for (Py_ssize_t k = 0; text && k < PyTuple_Size(self); k++) {
        PyObject *field = PySequence_GetItem(fields, k); /* a program may have set them */
        PyObject *more = field ? PyUnicode_FromFormat("%U%s\n%S=%R", text, k ? "," : "", field,
                                                      PyTuple_GetItem(self, k))
                               : NULL;
        Py_XDECREF(field);
        Py_DECREF(text);
        text = more;
    }
    PyObject *r = text ? PyUnicode_FromFormat("%U)", text) : NULL;
    Py_XDECREF(fields);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return r;
}
static PyMethodDef py_results_def = {"__repr__", py_results_repr, METH_NOARGS, NULL};

PY_PRIV PyObject *py_entry(PyObject *dict, const char *name) {
    PyObject *word = PyUnicode_FromString(name);
    PyObject *o = word ? PyDict_GetItemWithError(dict, word) : NULL;
    Py_XDECREF(word);
    return o;
}

/* The named tuple of a row with several results, made at its first call. */
static PyObject *py_results_type(const tn_row *row) {
    static PyObject *types; /* by name */
    PyStructSequence_Field fields[9];
    char name[96];
    if (!types && !(types = PyDict_New())) return NULL;
    PyObject *type = py_entry(types, row->name);
    if (type || PyErr_Occurred()) return type;
    memset(fields, 0, sizeof fields);
    for (int k = 0; k < row->gen->nresults; k++) fields[k].name = row->gen->result_names[k];
    snprintf(name, sizeof name, "torch.return_types.%.*s", (int)strcspn(row->schema, ".("),
             row->schema);
    PyStructSequence_Desc desc = {name, NULL, fields, row->gen->nresults};
    type = (PyObject *)PyStructSequence_NewType(&desc);
    PyObject *repr = type ? PyDescr_NewMethod((PyTypeObject *)type, &py_results_def) : NULL;
    int bad = !repr || PyObject_SetAttrString(type, "__repr__", repr) ||
              PyDict_SetItemString(types, row->name, type);
    Py_XDECREF(repr);
    Py_XDECREF(type); /* the dictionary has it */
    if (bad) return NULL;
    return type;
}

/* One result: a new tensor, or one that was given, which has a wrapper or has lost it meanwhile. */
TNI_INLINE PyObject *py_result_of(tn_tensor *t) {
    PyObject *known = (PyObject *)tn_binding(t);
    if (known) return py_wrap_known(t, known);
    if (TNI_UNLIKELY(py.retired) && py_retired_has(t)) return py_wrap(tn_retain(t));
    return py_wrap(tn_own(t));
}

static PyObject *py_results_several(const tn_row *row, tn_tensor **r) {
    int n = row->gen->nresults;
    bool named = n && strncmp(row->schema, "var_mean", 8) != 0; /* torch names no results of it */
    PyObject *type = named ? py_results_type(row) : NULL;
    PyObject *all = !n       ? Py_NewRef(Py_None)
                    : !named ? PyTuple_New(n)
                    : type   ? PyStructSequence_New((PyTypeObject *)type)
                             : NULL;
    for (int k = 0; k < n; k++) {
        PyObject *one = r[k] ? py_result_of(r[k]) : Py_NewRef(Py_None);
        if (all && one && !named) {
            PyTuple_SetItem(all, k, one);
        } else if (all && one) {
            PyStructSequence_SetItem(all, k, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    return all;
}

PY_PRIV PyObject *py_results_list(tn_list l) {
    PyObject *all = PyTuple_New((Py_ssize_t)l.n);
    for (int64_t i = 0; i < l.n; i++) {
        PyObject *one = l.at[i] ? py_wrap(tn_own(l.at[i])) : Py_NewRef(Py_None);
        if (all && one) {
            PyTuple_SetItem(all, (Py_ssize_t)i, one);
        } else {
            Py_XDECREF(one);
            Py_CLEAR(all);
        }
    }
    tn_free(tn_own(l.holder));
    return all;
}

/* "-> bool": the row's result is a 0-dim tensor in C. */
static PyObject *py_result_truth(tn_tensor *t) {
    bool truth = tnp_item_int(t) != 0;
    tn_free(tn_own(t));
    return tn_ok() ? PyBool_FromLong(truth) : py_raise();
}

/* _return_type(name): the class of the named results of torch.max, say. */
static PyObject *py_results_named(PyObject *self, PyObject *o) {
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    const py_group *g = name ? py_group_of(name) : NULL;
    (void)self;
    for (int i = 0; g && i < g->nrows; i++)
        if (g->row[i]->gen->nresults > 1) return Py_XNewRef(py_results_type(g->row[i]));
    if (PyErr_Occurred()) return NULL;
    return PyErr_Format(PyExc_AttributeError, "function %R has no named results", o);
}

/* --- running ---------------------------------------------------------------------------------- */

PY_PRIV bool py_records(const tn_gen *gen, const void *args) {
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t;
        memcpy(&t, (const char *)args + gen->param[gen->fixed[i]].offset, sizeof t);
        if (t && tn_needs_grad(t)) return true;
    }
    return (gen->props & TN_PROP_LISTS) != 0;
}

static bool py_run_call(const tn_row *row, unsigned how, const char *file, int line,
                        const void *args, void *results, bool lasts) {
    const bool draws = (row->gen->props & TN_PROP_GENERATOR) != 0;
    bool ok;
    do {
        if (TNI_UNLIKELY(draws)) py_draw_begin();
        if (lasts) {
            py_long l = py_long_begin();
            ok = tn_call(row, how, file, line, args, results);
            py_long_end(l);
        } else {
            ok = tn_call(row, how, file, line, args, results);
        }
        if (TNI_UNLIKELY(draws)) py_draw_end();
    } while (TNI_UNLIKELY(!ok) && py_stopped());
    return ok;
}

PY_PRIV PyObject *py_run(const tn_row *row, unsigned how, const void *args, bool lasts,
                         bool records) {
    const tn_gen *gen = row->gen;
    const char *file = NULL;
    int line = 0;
    union {
        tn_tensor *one[8];
        tn_list list;
    } r;
    if (records && tn_grad_mode()) py_here(&file, &line);
    if (TNI_UNLIKELY(!py_run_call(row, how, file, line, args, &r, lasts))) return py_raise();
    if (gen->props & TN_PROP_RETURNS_LIST) return py_results_list(r.list);
    if (gen->nresults != 1) return py_results_several(row, r.one);
    if (TNI_UNLIKELY(gen->props & TN_PROP_TRUTH)) return py_result_truth(r.one[0]);
    return py_result_of(r.one[0]);
}

/* --- functions and methods -------------------------------------------------------------------- */

enum { GROUPS_MOST = 1024 }; /* as many names as there are trampolines below */

static struct {
    py_group at[GROUPS_MOST];
    int n;
} py_groups;

/* A method of a class knows nothing but self, so each name has a function of its own; they differ
 * in a number alone. A function of a module knows its group. */
static PyObject *py_groups_method(int k, PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    PyObject *few[12], **all = few;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    bool fits = false;
    PyObject *r = kwnames ? NULL : py_call_quick(&py_groups.at[k], self, args, n, &fits);
    if (fits) return r;
    if (n + nkw + 1 > 12 && !(all = (PyObject **)PyMem_Malloc((size_t)(n + nkw + 1) * sizeof *all)))
        return PyErr_NoMemory();
    all[0] = self;
    for (Py_ssize_t i = 0; i < n + nkw; i++) all[i + 1] = args[i];
    r = py_call(&py_groups.at[k], true, all, n + 1, kwnames);
    if (all != few) PyMem_Free(all);
    return r;
}

#define GROUP_METHOD(k)                                                                       \
    static PyObject *py_group_method_##k(PyObject *self, PyObject *const *args, Py_ssize_t n, \
                                         PyObject *kwnames) {                                 \
        return py_groups_method(0x0##k, self, args, n, kwnames);                              \
    }
#define GROUP_ENTRY(k) py_group_method_##k,
/* clang-format off */
#define GROUPS_16(X, k)                                                                      \
    X(k##0) X(k##1) X(k##2) X(k##3) X(k##4) X(k##5) X(k##6) X(k##7)                          \
    X(k##8) X(k##9) X(k##a) X(k##b) X(k##c) X(k##d) X(k##e) X(k##f)
#define GROUPS_256(X, k)                                                                     \
    GROUPS_16(X, k##0) GROUPS_16(X, k##1) GROUPS_16(X, k##2) GROUPS_16(X, k##3)              \
    GROUPS_16(X, k##4) GROUPS_16(X, k##5) GROUPS_16(X, k##6) GROUPS_16(X, k##7)              \
    GROUPS_16(X, k##8) GROUPS_16(X, k##9) GROUPS_16(X, k##a) GROUPS_16(X, k##b)              \
    GROUPS_16(X, k##c) GROUPS_16(X, k##d) GROUPS_16(X, k##e) GROUPS_16(X, k##f)
/* clang-format on */
#define GROUPS_ALL(X) GROUPS_256(X, 0) GROUPS_256(X, 1) GROUPS_256(X, 2) GROUPS_256(X, 3)
GROUPS_ALL(GROUP_METHOD)

typedef PyObject *(*py_groups_fast)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static const py_groups_fast py_groups_entry[GROUPS_MOST] = {GROUPS_ALL(GROUP_ENTRY)};

static PyObject *py_groups_function(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                    PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    bool fits = false;
    PyObject *r = NULL;
    if (TNI_LIKELY(g != NULL) && n && !kwnames)
        r = py_call_quick(g, args[0], args + 1, n - 1, &fits);
    return fits || !g ? r : py_call(g, false, args, n, kwnames);
}

static PyObject *py_groups_row(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    return g ? py_call_row(g, args, n, kwnames) : NULL;
}

PY_PRIV const py_group *py_group_of(const char *name) {
    for (int i = 0; i < py_groups.n; i++)
        if (strcmp(py_groups.at[i].name, name) == 0) return &py_groups.at[i];
    return NULL;
}

/* Room for a name that lives as long as the process. */
static char *py_groups_name(const char *base, size_t n, const char *more) {
    char *name = (char *)py_get(n + strlen(more) + 1, 1);
    if (!name) return NULL;
    memcpy(name, base, n);
    strcpy(name + n, more);
    return name;
}

static bool py_group_is_plain(const tn_param *p) {
    return !(p->flags & TN_P_KEYWORD) && (p->type == TN_T_TENSOR || p->type == TN_T_INT ||
                                          p->type == TN_T_BOOL || p->type == TN_T_INTS);
}

static void py_group_count(py_group *g) {
    const tn_gen *gen = g->row[0]->gen;
    int least = 0, most = 0, positional = 0;
    for (int i = 0; i < gen->nparam; i++) {
        if (tn_param_is_required(&gen->param[i])) least = i + 1;
        if (!(gen->param[i].flags & TN_P_KEYWORD)) positional = i + 1;
    }
    while (most < gen->nparam && py_group_is_plain(&gen->param[most]))
        if (gen->param[most++].type == TN_T_INTS) break;
    if (!most || gen->param[0].type != TN_T_TENSOR || least > most ||
        gen->args_size > PY_QUICK_BYTES)
        return;
    g->least = (uint8_t)least;
    g->most = (uint8_t)most;
    if (gen->param[most - 1].type == TN_T_INTS && most == positional) g->spread = (uint8_t)most;
}

PY_PRIV bool py_row_is_method(const tn_row *row) {
    const tn_param *first = row->gen->param;
    return row->gen->nparam && !strcmp(first->name, "self") && first->type == TN_T_TENSOR &&
           !py_place_is_own(row);
}

static void py_group_fill(py_group *g, const tn_row *row, unsigned how, const char *more) {
    g->name = py_groups_name(row->schema, strcspn(row->schema, ".("), more);
    g->how = how;
    g->nrows = 1;
    g->row[0] = row;
    g->method = py_row_is_method(row);
    py_group_count(g);
}

static bool py_groups_add(const tn_row *row, unsigned how, const char *more) {
    size_t n = strcspn(row->schema, ".(");
    for (int i = 0; i < py_groups.n; i++) {
        py_group *g = &py_groups.at[i];
        if (strncmp(g->name, row->schema, n) || strcmp(g->name + n, more)) continue;
        if (g->nrows < (int)(sizeof g->row / sizeof g->row[0])) g->row[g->nrows++] = row;
        return true;
    }
    if (py_groups.n == GROUPS_MOST) return true; /* calls by name remain */
    py_group *g = &py_groups.at[py_groups.n];
    py_group_fill(g, row, how, more);
    if (!g->name) return false;
    py_groups.n++;
    return true;
}

static bool py_groups_add_forms(const tn_row *row) {
    size_t n = strcspn(row->schema, ".(");
    if (n && row->schema[n - 1] == '_')
        return py_groups_add(row, row->forms & TN_INPLACE ? TN_IN_PLACE : TN_PLAIN, "");
    return py_groups_add(row, TN_PLAIN, "") &&
           (!(row->forms & TN_INPLACE) || py_groups_add(row, TN_IN_PLACE, "_"));
}

/* A definition that Python keeps a pointer to. */
static PyMethodDef *py_groups_def(const py_group *g, bool method, void *function) {
    PyMethodDef *def = (PyMethodDef *)py_get(1, sizeof *def);
    if (!def) return PyErr_NoMemory(), NULL;
    def->ml_name = g->name;
    def->ml_meth = (PyCFunction)function;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    def->ml_doc = py_docs_of(g, method);
    if (!def->ml_doc) return py_give(def), PyErr_NoMemory(), NULL;
    return def;
}

static PyObject *py_groups_as_function(const py_group *g, void *function) {
    PyMethodDef *def = py_groups_def(g, false, function);
    PyObject *self = def ? PyCapsule_New((void *)(uintptr_t)g, "tensorh.group", NULL) : NULL;
    PyObject *f = self ? PyCFunction_New(def, self) : NULL;
    Py_XDECREF(self);
    return f;
}

static int py_groups_publish(py_group *g, PyObject *module) {
    PyObject *f = py_groups_as_function(g, (void *)py_groups_function), *m;
    int bad = !f || (!py_place_is_own(g->row[0]) && PyModule_AddObjectRef(module, g->name, f));
    g->function = f; /* counted: it stays */
    if (bad || !py_place_group(module, g)) return -1;
    if (!g->method) return 0;
    if (PyObject_HasAttrString((PyObject *)py.tensor, g->name)) return 0; /* x.real, by hand */
    PyMethodDef *def = py_groups_def(g, true, (void *)py_groups_entry[g - py_groups.at]);
    m = def ? PyDescr_NewMethod(py.tensor, def) : NULL;
    bad = !m || PyObject_SetAttrString((PyObject *)py.tensor, g->name, m);
    Py_XDECREF(m);
    return bad ? -1 : 0;
}

/* What a dictionary of functions that stay has under name; made at first need. */
static PyObject *py_groups_kept(PyObject **kept, const char *name, const py_group *g,
                                void *function) {
    if (!*kept && !(*kept = PyDict_New())) return NULL;
    PyObject *f = py_entry(*kept, name);
    if (f || PyErr_Occurred()) return Py_XNewRef(f);
    f = py_groups_as_function(g, function);
    if (f && PyDict_SetItemString(*kept, name, f)) Py_CLEAR(f);
    return f;
}

/* A row that was registered since the import, by its name or torch's; a group of its own. */
PY_PRIV PyObject *py_registered(const char *name) {
    static PyObject *kept;
    const tn_row *row = tn_row_named(name);
    const py_group *known = py_group_of(name);
    PyObject *f = kept ? py_entry(kept, name) : NULL;
    if (f || PyErr_Occurred()) return Py_XNewRef(f);
    if (!row && !known) return NULL;
    if (known) return py_groups_kept(&kept, name, known, (void *)py_groups_function);
    py_group *g = (py_group *)py_get(1, sizeof *g); /* stays, as the row does */
    if (!g) return PyErr_NoMemory();
    py_group_fill(g, row, TN_PLAIN, "");
    if (!g->name) return py_give(g), PyErr_NoMemory();
    return g->function = py_groups_kept(&kept, name, g, (void *)py_groups_function);
}

/* _row(name): the function of that name without the overloads in Python. */
static PyObject *py_groups_row_named(PyObject *self, PyObject *o) {
    static PyObject *kept;
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    const py_group *g = name ? py_group_of(name) : NULL;
    (void)self;
    if (g) return py_groups_kept(&kept, name, g, (void *)py_groups_row);
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_AttributeError, "row %R does not exist", o);
}
static PyMethodDef py_groups_functions[] = {{"_row", py_groups_row_named, METH_O, NULL},
                                            {"_return_type", py_results_named, METH_O, NULL},
                                            {NULL, NULL, 0, NULL}};

PY_PRIV int py_groups_begin(PyObject *module) {
    for (int64_t i = 0; i < tn_row_count(); i++)
        if (!py_groups_add_forms(tn_row_at(i))) return PyErr_NoMemory(), -1;
    for (int i = 0; i < py_groups.n; i++)
        if (py_groups_publish(&py_groups.at[i], module)) return -1;
    return PyModule_AddFunctions(module, py_groups_functions);
}
