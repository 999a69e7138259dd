/* group.c - functions and methods of all rows: rows of one name are a group, a group is a function
 * of the module, a method of Tensor, or both. They are made from the table of rows at import. */
#include "py.h"

enum { GROUPS_MOST = 1024 }; /* as many names as there are trampolines below */

static struct {
    py_group at[GROUPS_MOST];
    int n;
} py_groups;

/* self in place of r, a new view or copy of it, where torch gives back what it was given. */
static PyObject *py_groups_same(const py_group *g, PyObject *self, PyObject *r) {
    const tn_tensor *t, *made;
    if (!r || r == self || !py_is_tensor(self) || !py_is_tensor(r) || !py_is_exact(self)) return r;
    t = py_of(self);
    made = py_of(r);
    if (g->same == SAME_REAL ? py_dtype_is_complex(tn_dtype_of(t))
                             : tn_ndim(made) != tn_ndim(t) || !tn_same_storage(made, t))
        return r;
    Py_DECREF(r);
    return Py_NewRef(self);
}

/* A method of a class knows nothing but self, so each name has a function of its own; they differ
 * in a number alone. A function of a module knows its group. */
static PyObject *py_groups_method(int k, PyObject *self, PyObject *const *args, Py_ssize_t n,
                                  PyObject *kwnames) {
    /* vectorcall has self apart; py_call has it as the first argument */
    PyObject *few[12], **all = few;
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    bool fits = false;
    /* plain values first: most calls end here */
    PyObject *r = kwnames ? NULL : py_call_quick(&py_groups.at[k], self, args, n, &fits);
    if (fits) return py_groups.at[k].same ? py_groups_same(&py_groups.at[k], self, r) : r;
    if (n + nkw + 1 > 12 && !(all = (PyObject **)PyMem_Malloc((size_t)(n + nkw + 1) * sizeof *all)))
        return PyErr_NoMemory();
    /* borrowed, all of them: the caller holds them during the call */
    all[0] = self;
    for (Py_ssize_t i = 0; i < n + nkw; i++) all[i + 1] = args[i];
    r = py_call(&py_groups.at[k], true, all, n + 1, kwnames);
    if (all != few) PyMem_Free(all);
    return py_groups.at[k].same ? py_groups_same(&py_groups.at[k], self, r) : r;
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

/* torch.f of a group, which the capsule `self` knows. */
static PyObject *py_groups_function(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                    PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    bool fits = false;
    PyObject *r = NULL;
    if (TNI_LIKELY(g != NULL) && n && !kwnames)
        r = py_call_quick(g, args[0], args + 1, n - 1, &fits);
    if (!fits && g) r = py_call(g, false, args, n, kwnames);
    return g && g->same && n ? py_groups_same(g, args[0], r) : r;
}

/* The same without overloads: for functions in Python that are written around their row. */
static PyObject *py_groups_row(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    const py_group *g = (const py_group *)PyCapsule_GetPointer(self, "tensorh.group");
    return g ? py_call_row(g, args, n, kwnames) : NULL;
}

/* Linear: asked at import and by names, not by calls. */
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

/* Whether py_call_quick reads a parameter of this kind by position. */
static bool py_group_is_plain(const tn_param *p) {
    return !(p->flags & TN_P_KEYWORD) && (p->type == TN_T_TENSOR || p->type == TN_T_INT ||
                                          p->type == TN_T_BOOL || p->type == TN_T_INTS);
}

/* What py_call_quick needs to know of the first row, counted once; most 0: it does not try. */
static void py_group_count(py_group *g) {
    const tn_gen *gen = g->row[0]->gen;
    int least = 0, most = 0, positional = 0;
    for (int i = 0; i < gen->nparam; i++) {
        if (tn_param_is_required(&gen->param[i])) least = i + 1;
        if (!(gen->param[i].flags & TN_P_KEYWORD)) positional = i + 1;
    }
    /* up to the first parameter that is not plain; a list of ints ends it, as it may take all
     * the rest */
    while (most < gen->nparam && py_group_is_plain(&gen->param[most]))
        if (gen->param[most++].type == TN_T_INTS) break;
    if (!most || gen->param[0].type != TN_T_TENSOR || least > most ||
        gen->args_size > PY_QUICK_BYTES)
        return;
    g->least = (uint8_t)least;
    g->most = (uint8_t)most;
    if (gen->param[most - 1].type == TN_T_INTS && most == positional) g->spread = (uint8_t)most;
}

/* A group of one row. Its name is the schema's up to the overload: "add" of "add.Tensor(..". */
static void py_group_fill(py_group *g, const tn_row *row, unsigned how, const char *more) {
    g->name = py_groups_name(row->schema, strcspn(row->schema, ".("), more);
    g->how = how;
    g->nrows = 1;
    g->row[0] = row;
    g->method = py_row_is_method(row);
    if (how == TN_PLAIN && (!strcmp(g->name, "conj") || !strcmp(g->name, "real")))
        g->same = SAME_REAL;
    if (!strcmp(g->name, "flatten")) g->same = SAME_DIMS;
    py_group_count(g);
}

/* Adds a row to the group of its name, or makes that. */
static bool py_groups_add(const tn_row *row, unsigned how, const char *more) {
    size_t n = strcspn(row->schema, ".(");
    for (int i = 0; i < py_groups.n; i++) {
        py_group *g = &py_groups.at[i];
        if (strncmp(g->name, row->schema, n) || strcmp(g->name + n, more)) continue;
        /* rows beyond the room can be called by name */
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

/* A row whose name ends in _ has that form alone; others have one in place if they say so. */
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

/* A function of the module whose `self` is a capsule with the group. New; NULL with
 * an exception. */
static PyObject *py_groups_as_function(const py_group *g, void *function) {
    PyMethodDef *def = py_groups_def(g, false, function);
    PyObject *self = def ? PyCapsule_New((void *)(uintptr_t)g, "tensorh.group", NULL) : NULL;
    PyObject *f = self ? PyCFunction_New(def, self) : NULL;
    Py_XDECREF(self);
    return f;
}

/* The function of a group at the places of its rows; a name that ends in _ is the in-place form. */
static bool py_group_place(PyObject *module, const py_group *g) {
    const bool in_place = g->name[strlen(g->name) - 1] == '_';
    for (int i = 0; i < g->nrows; i++) {
        const char *at = py_row_places(g->row[i]);
        for (size_t n; at && *at; at += n + strspn(at + n, " ")) {
            n = strcspn(at, " ");
            if ((at[n - 1] == '_') == in_place && !py_place(module, at, n, g->function))
                return false;
        }
    }
    return true;
}

/* The group as a function of the module and its namespaces, and as a method of Tensor. */
static int py_groups_publish(py_group *g, PyObject *module) {
    PyObject *f = py_groups_as_function(g, (void *)py_groups_function), *m;
    int bad = !f || (!py_row_is_apart(g->row[0]) && PyModule_AddObjectRef(module, g->name, f));
    g->function = f; /* counted: it stays */
    if (bad || !py_group_place(module, g)) return -1;
    if (!g->method) return 0;
    if (PyObject_HasAttrString((PyObject *)py.tensor, g->name)) return 0; /* x.real, by hand */
    /* Python keeps the address of def for good */
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
