/* kind.c - a kind of built-in module: a module row as Python sees it, made once for each row. Its
 * parameters in torch's order, their names as interned words, its options as Python's objects. */
#include "py.h"

/* forward of a row that has no call of its own: (Tensor input) -> Tensor. */
static const tn_param py_kind_input[] = {{"input", TN_T_TENSOR, 0, 0, 0, -1, NULL}};
static tn_tensor *const py_kind_no_input[1] = {NULL};
static const tn_gen py_kind_plain = {
    py_kind_input,       py_kind_no_input, NULL, NULL, 1,   1, 1, 0,
    sizeof(tn_tensor *), UINT16_MAX,       0,    0,    {0}, 0};
/* --- kinds ------------------------------------------------------------------------------------ */

/* The parameters' names, interned: keywords of source code are found by address. */
static PyObject **py_kind_names(const tn_gen *gen) {
    PyObject **at = (PyObject **)py_get((size_t)gen->nparam + 1, sizeof *at);
    for (int i = 0; at && i < gen->nparam; i++)
        if (!(at[i] = PyUnicode_InternFromString(gen->param[i].name))) return NULL;
    return at;
}

/* How the row prints an option: "name[2]=" is a tuple of two, "name[]" one of its own length. */
static void py_kind_shown(py_kind *k, int i) {
    const char *name = k->make.param[i].name, *at = k->row->repr;
    size_t n = strlen(name);
    while (at && (at = strstr(at, name)) != NULL) {
        /* "size" is not meant by "kernel_size": a name begins after one of these */
        bool begins = at == k->row->repr || strchr(" ,?", at[-1]);
        at += n;
        if (!begins || *at != '[') continue;
        k->tuple |= 1u << i;
        k->spread[i] = (uint8_t)(at[1] >= '0' && at[1] <= '9' ? at[1] - '0' : 0);
        return;
    }
}

/* torch's place of an option: device and dtype, which every row has and which may be given by
 * position, stand before those that are given by name alone. */
static int py_kind_place(const tn_param *p) {
    return p->type == TN_T_DEVICE ? 1 : p->type == TN_T_DTYPE ? 2 : p->flags & TN_P_KEYWORD ? 3 : 0;
}

/* Brings options into torch's order. The struct is the row's: only flags and order are new. */
static bool py_kind_reorder(py_kind *k) {
    const int n = k->make.nparam;
    const tn_param *from = k->make.param;
    tn_param *param = (tn_param *)py_get((size_t)n + 1, sizeof *param);
    if (!param) return false;
    for (int place = 0, at = 0; place < 4; place++)
        for (int i = 0; i < n; i++) {
            if (py_kind_place(&from[i]) != place) continue;
            param[at] = from[i];
            /* torch takes device and dtype by position, the row by name alone */
            if (place < 3) param[at].flags &= (uint8_t)~TN_P_KEYWORD;
            at++;
        }
    k->make.param = param;
    return true;
}

/* A kind stays for the process, like its class. NULL: no memory, or an exception. */
static py_kind *py_kind_new(const tn_mrow *row) {
    const tn_gen *call = row->gen->call ? row->gen->call : &py_kind_plain;
    py_kind *k = (py_kind *)py_get(1, sizeof *k);
    if (!k || row->gen->make->nparam > MROW_ARGS) return py_give(k), NULL;
    k->row = row;
    k->type = row->gen->type;
    k->make = *row->gen->make;
    k->draws = -1;
    /* what was made so far is lost on failure: memory is short, and there is one kind a row */
    if (!py_kind_reorder(k)) return NULL;
    k->making.name = k->calling.name = k->type;
    k->making.gen = &k->make;
    k->making.names = py_kind_names(&k->make);
    k->calling.gen = call;
    k->calling.names = py_kind_names(call);
    if (!k->making.names || !k->calling.names) return NULL;
    for (int i = 0; i < k->make.nparam; i++) {
        py_kind_shown(k, i);
        /* rows name the option that turns drawing on: p of Dropout */
        if (row->draws && !strcmp(k->make.param[i].name, row->draws))
            k->draws = k->make.param[i].offset;
    }
    return k;
}

PY_PRIV const py_kind *py_kind_of(PyTypeObject *type) {
    /* a class of a row has a capsule under _row, a user's class None */
    PyObject *row = PyObject_GetAttr((PyObject *)type, py.row);
    const py_kind *k = NULL;
    if (row && row != Py_None) k = (const py_kind *)PyCapsule_GetPointer(row, "tensorh.kind");
    Py_XDECREF(row);
    return k;
}

PY_PRIV bool py_kind_has_option(const py_kind *k, PyObject *name) {
    for (int i = 0; k && i < k->make.nparam; i++)
        /* by address first, as names in source code are interned */
        if (k->making.names[i] == name || PyUnicode_Compare(k->making.names[i], name) == 0)
            return true;
    return false;
}

/* --- options as Python's objects -------------------------------------------------------------- */

/* A list of ints: a number if the row shows one, else a tuple in which a single number
 * is repeated. */
static PyObject *py_option_ints(const py_kind *k, int i, const void *at) {
    tn_ints list;
    memcpy(&list, at, sizeof list);
    bool tuple = k->tuple >> i & 1;
    if (list.n < 0) Py_RETURN_NONE;
    if (list.n == 1 && !tuple) return PyLong_FromLongLong(list.at[0]);
    Py_ssize_t n = tuple && k->spread[i] ? k->spread[i] : (Py_ssize_t)list.n;
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t j = 0; all && j < n; j++)
        PyTuple_SetItem(all, j, PyLong_FromLongLong(list.at[list.n == 1 ? 0 : j]));
    return all;
}

/* NULL without an exception: an option that no attribute shows. */
PY_PRIV PyObject *py_option(const py_kind *k, int i, const void *options) {
    const tn_param *p = &k->make.param[i];
    if (p->type == TN_T_INTS) return py_option_ints(k, i, (const char *)options + p->offset);
    return py_param_object(p, options);
}

/* --- what is known of a row ------------------------------------------------------------------- */

/* The classes that have rows, a new tuple of names. */
PY_PRIV PyObject *py_kinds(PyObject *self, PyObject *unused) {
    PyObject *all = PyTuple_New((Py_ssize_t)tn_mrow_count());
    (void)self, (void)unused;
    for (Py_ssize_t i = 0; all && i < PyTuple_Size(all); i++)
        PyTuple_SetItem(all, i, PyUnicode_FromString(tn_mrow_at(i)->gen->type));
    return all;
}

/* {option: default} of those that have one, new. */
static PyObject *py_kind_defaults(const py_kind *k) {
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < k->make.nparam; i++) {
        /* a default that no attribute shows stands as None */
        PyObject *o =
            k->make.param[i].flags & TN_P_DEFAULT ? py_option(k, i, k->make.defaults) : NULL;
        if (!o && !PyErr_Occurred() && k->make.param[i].flags & TN_P_DEFAULT)
            o = Py_NewRef(Py_None);
        if (o && PyDict_SetItem(all, k->making.names[i], o)) Py_CLEAR(all);
        Py_XDECREF(o);
    }
    return all;
}

/* The options' names in torch's order, a new tuple. */
static PyObject *py_kind_option_names(const py_kind *k) {
    PyObject *all = PyTuple_New(k->make.nparam);
    for (int i = 0; all && i < k->make.nparam; i++)
        PyTuple_SetItem(all, i, Py_NewRef(k->making.names[i]));
    return all;
}

/* (capsule, schema, parts, call, takes, unlike, repr, options, defaults, draws) of a class; None
 * when there is no such row. */
PY_PRIV PyObject *py_kind_describe(PyObject *self, PyObject *name) {
    const char *type = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const tn_mrow *row = NULL;
    (void)self;
    for (int64_t i = 0; type && i < tn_mrow_count() && !row; i++)
        if (strcmp(tn_mrow_at(i)->gen->type, type) == 0) row = tn_mrow_at(i);
    if (!row) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    py_kind *k = py_kind_new(row);
    if (!k) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(k, "tensorh.kind", NULL);
    PyObject *options = capsule ? py_kind_option_names(k) : NULL;
    PyObject *defaults = options ? py_kind_defaults(k) : NULL;
    if (!defaults) {
        Py_XDECREF(options);
        Py_XDECREF(capsule);
        return NULL;
    }
    /* N takes a reference, O adds one */
    return Py_BuildValue("NsszzzzNNO", capsule, row->schema, row->parts ? row->parts : "",
                         row->call, row->takes, row->unlike, row->repr, options, defaults,
                         row->reset ? Py_True : Py_False);
}
