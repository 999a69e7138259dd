/* optim.c - a step of an optimizer's row over torch's param_groups and state.
 *
 * The groups and the state stay Python's lists and dictionaries, which users read and edit; a step
 * looks its parameters, options and states up there and makes one call of the row. It knows no kind
 * of optimizer: names and kinds of options and states are the row's. All parameters change, or none
 * and the state is as it was. */
#include "py.h"

enum { PY_OPTIM_ARGS = 256, PY_OPTIM_LISTS = 16, PY_OPTIM_PARAMS = 32, PY_OPTIM_ROWS = 64 };
enum { PY_OPTIM_SCALARS = 1 + TN_OPTIM_KEPT };

/* A row and its words, made at its first step. */
typedef struct py_optim_row {
    const tn_orow *row;
    PyObject *option[PY_OPTIM_PARAMS]; /* by parameter of the row; NULL for the list of tensors */
    /* scalar: "step", then the row's numbers */
    PyObject *state[TN_OPTIM_STATES], *scalar[PY_OPTIM_SCALARS], *params;
    int nstates, nscalars;
} py_optim_row;

static py_optim_row *py_optim_rows[PY_OPTIM_ROWS];

/* The options of a group as the row reads them. */
typedef struct py_optim_group {
    union {
        double align;
        void *pointer;
        char bytes[PY_OPTIM_ARGS];
    } args;
    double lists[PY_OPTIM_LISTS];
    int used;        /* of lists */
    tn_tensor *rate; /* of a captured step, that has lr: held; NULL: a number */
} py_optim_group;

/* One step; its arrays have room for n parameters of which s.n have a gradient. */
typedef struct py_optim_step {
    const py_optim_row *r;
    PyObject *groups, *state;
    Py_ssize_t ngroups, n;
    bool captured; /* count and numbers are tensors of the device, states behind the row's own */
    bool moves;    /* a state was made, or brought to the device */
    int64_t elements;
    py_optim_group *group;
    tn_ostep s;
    tn_tensor **rate;                    /* of each parameter's group */
    const void *rated;                   /* options that have the number of their rate already */
    PyObject **of;                       /* state dictionaries, counted */
    PyObject **param;                    /* wrappers, counted: keys of new state dictionaries */
    PyObject **scalar[PY_OPTIM_SCALARS]; /* tensors of one number, counted */
    double *value[PY_OPTIM_SCALARS];
    uint8_t *made; /* bit k: state k was put there for this step; PY_MADE_SCALAR << j, .._DICT */
    bool *first;
} py_optim_step;
enum { PY_MADE_SCALAR = 16, PY_MADE_DICT = 128 };

/* --- rows ------------------------------------------------------------------------------------- */

/* The words of "exp_avg, exp_avg_sq", *n of at most `most`. */
static bool py_optim_words(const char *text, PyObject **words, int *count, int most) {
    const char *at = text ? text : "";
    while (*at && *count < most) {
        size_t n = strcspn(at, ", ");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (!(words[(*count)++] = PyUnicode_InternFromString(word))) return false;
        at += n;
        at += strspn(at, ", ");
    }
    return true;
}

/* The row of a number, made at first use and kept. NULL with an exception. */
static const py_optim_row *py_optim_row_at(long i) {
    const tn_orow *row = i >= 0 && i < PY_OPTIM_ROWS ? tn_orow_at(i) : NULL;
    if (!row || row->gen->nparam > PY_OPTIM_PARAMS || row->gen->args_size > PY_OPTIM_ARGS)
        return PyErr_Format(PyExc_ValueError, "optimizer row %ld does not exist", i), NULL;
    if (py_optim_rows[i]) return py_optim_rows[i];
    py_optim_row *r = (py_optim_row *)py_get(1, sizeof *r);
    if (!r) return PyErr_NoMemory(), NULL;
    r->row = row;
    bool ok = (r->params = PyUnicode_InternFromString("params")) != NULL &&
              py_optim_words("step", r->scalar, &r->nscalars, 1) &&
              py_optim_words(row->numbers, r->scalar, &r->nscalars, PY_OPTIM_SCALARS) &&
              py_optim_words(row->state, r->state, &r->nstates, TN_OPTIM_STATES);
    for (int k = 0; ok && k < row->gen->nparam; k++)
        if (row->gen->param[k].type != TN_T_TENSORS)
            ok = (r->option[k] = PyUnicode_InternFromString(row->gen->param[k].name)) != NULL;
    if (ok) return py_optim_rows[i] = r;
    py_give(r); /* the words are interned */
    return NULL;
}

/* Whether a default of a list stands for None, as Adafactor's eps[0]. */
static bool py_optim_absent(double v) { return v == -1; }

/* A parameter's default as Python writes it: 0 for a float of zero, as torch's own. */
static PyObject *py_optim_default(const tn_gen *gen, const tn_param *p) {
    tn_floats l;
    tn_scalar s;
    /* betas: a tuple, as torch's defaults have it */
    if (p->type == TN_T_FLOATS) {
        memcpy(&l, (const char *)gen->defaults + p->offset, sizeof l);
        PyObject *all = PyTuple_New((Py_ssize_t)l.n);
        for (int64_t k = 0; all && k < l.n; k++)
            PyTuple_SetItem(all, (Py_ssize_t)k,
                            py_optim_absent(l.at[k]) ? Py_NewRef(Py_None)
                                                     : PyFloat_FromDouble(l.at[k]));
        return all;
    }
    if (tn_param_number(p, gen->defaults, &s) && s.kind == TN_KIND_FLOAT && s.real == 0 &&
        !(p->flags & TN_P_MAYBE))
        return PyLong_FromLong(0);
    return py_param_object(p, gen->defaults);
}

/* (("lr", 0.001, False), ..): name, default, whether by keyword alone. */
static PyObject *py_optim_options(const tn_gen *gen) {
    PyObject *all = PyList_New(0);
    for (int k = 0; all && k < gen->nparam; k++) {
        const tn_param *p = &gen->param[k];
        if (p->type == TN_T_TENSORS) continue;
        PyObject *value = py_optim_default(gen, p);
        PyObject *one = value ? Py_BuildValue("sNO", p->name, value,
                                              p->flags & TN_P_KEYWORD ? Py_True : Py_False)
                              : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* Of a step: those that the row names, and of captured ones the numbers behind them. */
static int py_optim_states(const py_optim_row *r) {
    return r->nstates + (r->row->captured ? r->nscalars : 0);
}

/* [(number, "Adam", schema, options, states, numbers, counts), ..] of all rows. */
static PyObject *py_optim_list(PyObject *self, PyObject *unused) {
    PyObject *all = PyList_New(0);
    (void)self, (void)unused;
    for (int64_t i = 0; all && i < tn_orow_count(); i++) {
        const tn_orow *row = tn_orow_at(i);
        PyObject *options = py_optim_options(row->gen);
        PyObject *one =
            options ? Py_BuildValue("Ls#sNssO", (long long)i, row->schema,
                                    (Py_ssize_t)strcspn(row->schema, ".("), row->schema, options,
                                    row->state ? row->state : "", row->numbers ? row->numbers : "",
                                    row->counts ? Py_True : Py_False)
                    : NULL;
        if (!one || PyList_Append(all, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* --- options ---------------------------------------------------------------------------------- */

/* The error for an option that is not of its type; one of Python code stays. */
static bool py_optim_misfit(const tn_param *p, PyObject *o) {
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "option '%s' of a parameter group: %R is not a valid value",
                     p->name, o);
    return false;
}

/* An option of a group as the row reads it, one function a way of TN_TYPES. `none` says that o is
 * None and the row allows it. Lists lie in g->lists: the step outlives the tuple they came from. */

/* A float, or a float? of which None is a value. */
static bool py_optim_real(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    char *at = g->args.bytes + p->offset;
    const tn_tensor *t = py_is_tensor(o) ? py_of(o) : NULL;
    double d = 0;
    /* one of a device without data, in a plan, leaves the default */
    if (t && tn_device_of(t) > TN_META && !tn_device_data(t)) return true;
    if (t && tn_ndim(t) && tn_numel(t) == 1) {
        d = tn_item(t); /* as torch takes it, of any shape */
        if (!tn_ok()) return py_raise(), false;
    } else if (!none && !py_to_float(o, &d)) {
        return py_optim_misfit(p, o);
    }
    if (p->flags & TN_P_MAYBE) {
        const tn_maybe m = none ? tn_no_float() : tn_some(d);
        memcpy(at, &m, sizeof m);
    } else {
        memcpy(at, &d, sizeof d);
    }
    return true;
}

/* torch asks only whether a flag is true: 1 and None are flags as well. */
static bool py_optim_truth(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    const int is = PyObject_IsTrue(o);
    const bool truth = is > 0;
    (void)none;
    if (is < 0) return false;
    memcpy(g->args.bytes + p->offset, &truth, sizeof truth);
    return true;
}

static bool py_optim_whole(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    int64_t i = TN_NONE;
    if (!none && !py_to_index(o, &i)) return py_optim_misfit(p, o);
    memcpy(g->args.bytes + p->offset, &i, sizeof i);
    return true;
}

/* Whether number i of a list may be None. The struct still has the default. */
static bool py_optim_none_at(const tn_param *p, const py_optim_group *g, int64_t i) {
    tn_floats l;
    memcpy(&l, g->args.bytes + p->offset, sizeof l);
    return i < l.n && py_optim_absent(l.at[i]);
}

/* A tuple or list of floats, of as many as the row says (betas: 2). */
static bool py_optim_reals(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    bool tuple = PyTuple_Check(o);
    tn_floats l;
    (void)none;
    if (!tuple && !PyList_Check(o)) return py_optim_misfit(p, o);
    l.n = tuple ? PyTuple_Size(o) : PyList_Size(o);
    l.at = g->lists + g->used;
    if ((p->count >= 0 && l.n != p->count) || l.n > PY_OPTIM_LISTS - g->used)
        return py_optim_misfit(p, o);
    for (int64_t i = 0; i < l.n; i++) {
        /* NULL where Python code that py_to_float ran has made the list shorter. */
        PyObject *one =
            tuple ? PyTuple_GetItem(o, (Py_ssize_t)i) : PyList_GetItem(o, (Py_ssize_t)i);
        double *to = g->lists + g->used + i;
        const bool may = py_optim_none_at(p, g, i);
        if (may && one == Py_None)
            *to = -1;
        else if (!one || !py_to_float(one, to) || (may && py_optim_absent(*to)))
            return py_optim_misfit(p, o);
    }
    g->used += (int)l.n;
    memcpy(g->args.bytes + p->offset, &l, sizeof l);
    return true;
}

/* A word of the schema, numbered from 1; 0 is None. */
static bool py_optim_word(const tn_param *p, PyObject *o, bool none, py_optim_group *g) {
    const char *text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    int32_t word = 0;
    for (int32_t k = 0; text && p->words[k]; k++)
        if (strcmp(p->words[k], text) == 0) word = k + 1;
    if (!word && !none) return py_optim_misfit(p, o);
    memcpy(g->args.bytes + p->offset, &word, sizeof word);
    return true;
}

/* The ways of TN_TYPES; NULL: no option of an optimizer has this type. */
#define PY_OPTIM_TENSOR NULL
#define PY_OPTIM_TENSORS NULL
#define PY_OPTIM_WHOLE py_optim_whole
#define PY_OPTIM_REAL py_optim_real
#define PY_OPTIM_MAYBE py_optim_real
#define PY_OPTIM_TRUTH py_optim_truth
#define PY_OPTIM_NUMBER py_optim_real
#define PY_OPTIM_WHOLES NULL
#define PY_OPTIM_REALS py_optim_reals
#define PY_OPTIM_DTYPE NULL
#define PY_OPTIM_DEVICE NULL
#define PY_OPTIM_GENERATOR NULL
#define PY_OPTIM_WORD py_optim_word
#define PY_OPTIM_STRING NULL
#define PY_OPTIM_MODULE NULL
#define PY_OPTIM_MODULES NULL
#define PY_OPTIM_WAY(NAME, text, list, c, cxx, lies, traits, way) PY_OPTIM_##way,
typedef bool (*py_optim_way)(const tn_param *p, PyObject *o, bool none, py_optim_group *g);
static const py_optim_way py_optim_ways[TN_TYPE_COUNT] = {NULL, TN_TYPES(PY_OPTIM_WAY)};

static bool py_optim_option(const tn_param *p, PyObject *o, py_optim_group *g) {
    const bool none = o == Py_None && p->flags & TN_P_OPTIONAL;
    return py_optim_ways[p->type] ? py_optim_ways[p->type](p, o, none, g) : py_optim_misfit(p, o);
}

/* Held: a rate as steps compute with it, of no dimension, in the same memory. */
static tn_tensor *py_optim_rate(tn_tensor *t) {
    if (tn_ndim(t) == 0) return tn_retain(t);
    const bool mode = tn_set_grad_mode(false);
    t = tnp_view(t, tn_empty_dims());
    tn_set_grad_mode(mode);
    return t ? tn_take(t) : NULL;
}

/* The options of a group, checked by the row; what the group lacks has its default. captured: lr
 * may stay a tensor. */
static bool py_optim_group_read(const py_optim_row *r, PyObject *group, bool captured,
                                py_optim_group *g) {
    const tn_gen *gen = r->row->gen;
    g->used = 0;
    g->rate = NULL;
    memcpy(g->args.bytes, gen->defaults, gen->args_size);
    for (int k = 0; k < gen->nparam; k++) {
        /* borrowed, and held while Python code of the conversion may change the group */
        PyObject *o = r->option[k] ? PyDict_GetItemWithError(group, r->option[k]) : NULL;
        if (!o && PyErr_Occurred()) return false;
        if (!o) continue;
        if (captured && py_is_tensor(o) && !strcmp(gen->param[k].name, "lr")) {
            g->rate = py_optim_rate(py_of(o));
            if (!g->rate) return py_raise(), false;
            continue;
        }
        Py_INCREF(o);
        bool ok = py_optim_option(&gen->param[k], o, g);
        Py_DECREF(o);
        if (!ok) return false;
    }
    if (!r->row->check || r->row->check(g->args.bytes)) return true;
    tn_error_info info;
    /* a check that refuses a value is a ValueError, as torch raises it */
    if (tn_error_peek(&info) && info.code == TN_INVALID) {
        PyErr_SetString(PyExc_ValueError, info.message);
        tn_error_take(NULL);
    } else {
        py_raise();
    }
    return false;
}

/* _optim_check(number, group): the options of a group, as a step would read them. */
static PyObject *py_optim_check(PyObject *self, PyObject *args) {
    py_optim_group g;
    PyObject *group;
    long i;
    (void)self;
    if (!PyArg_ParseTuple(args, "lO!", &i, &PyDict_Type, &group)) return NULL;
    const py_optim_row *r = py_optim_row_at(i);
    if (!r || !py_optim_group_read(r, group, false, &g)) return NULL;
    Py_RETURN_NONE;
}

/* --- what a step works on --------------------------------------------------------------------- */

/* The list of parameters of a group, borrowed. */
static PyObject *py_optim_params(const py_optim_row *r, PyObject *group) {
    PyObject *list = PyDict_Check(group) ? PyDict_GetItemWithError(group, r->params) : NULL;
    if (list && PyList_Check(list)) return list;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a parameter group must be a dict with a list 'params'");
    return NULL;
}

/* Lays the arrays of a step into one block, largest alignment first. */
static bool py_optim_lay(py_optim_step *w) {
    int states = py_optim_states(w->r), scalars = w->r->nscalars;
    for (Py_ssize_t g = 0; g < w->ngroups; g++) {
        PyObject *list = py_optim_params(w->r, PyList_GetItem(w->groups, g));
        if (!list) return false;
        w->n += PyList_Size(list);
    }
    size_t n = (size_t)w->n + 1, pointers = (size_t)(6 + states + scalars);
    size_t numbers = (size_t)(TN_OPTIM_NUMBERS + scalars);
    size_t bytes = (size_t)w->ngroups * sizeof *w->group +
                   n * (pointers * sizeof(void *) + numbers * sizeof(double) + 2);
    /* n is bounded, so that the product of bytes cannot wrap */
    char *at = n < PY_SSIZE_T_MAX / 1024 ? (char *)py_get(1, bytes) : NULL;
    if (!at) return PyErr_NoMemory(), false;
    w->group = (py_optim_group *)(void *)at;
    w->s.number = (double *)(void *)(w->group + w->ngroups);
    for (int j = 0; j < scalars; j++)
        w->value[j] = w->s.number + (size_t)(TN_OPTIM_NUMBERS + j) * n;
    w->s.param = (tn_tensor **)(void *)(w->s.number + numbers * n);
    w->s.grad = w->s.param + n;
    for (int k = 0; k < states; k++) w->s.state[k] = w->s.grad + (size_t)(k + 1) * n;
    w->of = (PyObject **)(void *)(w->s.grad + (size_t)(states + 1) * n);
    w->param = w->of + n;
    for (int j = 0; j < scalars; j++) w->scalar[j] = w->param + (size_t)(1 + j) * n;
    const void **options = (const void **)(void *)(w->param + (size_t)(1 + scalars) * n);
    w->s.options = options;
    w->rate = (tn_tensor **)(void *)(options + n);
    w->made = (uint8_t *)(w->rate + n);
    w->first = (bool *)(w->made + n);
    w->s.first = w->first;
    w->s.count = w->r->row->counts ? w->value[0] : NULL;
    for (int j = 1; j < scalars; j++) w->s.kept[j - 1] = w->value[j];
    return true;
}

/* The state dictionary of a parameter; made if it has none. */
static PyObject *py_optim_state_of(py_optim_step *w, PyObject *param, uint8_t *made) {
    PyObject *d = PyDict_GetItemWithError(w->state, param);
    if (d && !PyDict_Check(d))
        return PyErr_Format(PyExc_TypeError, "the state of a parameter must be a dict, got %R", d);
    if (d || PyErr_Occurred()) return Py_XNewRef(d);
    /* made: taken out again if the step fails */
    d = PyDict_New();
    if (!d || PyDict_SetItem(w->state, param, d)) Py_CLEAR(d);
    if (d) *made |= PY_MADE_DICT;
    return d;
}

/* Puts a new tensor into the state; a new reference to its wrapper. */
static PyObject *py_optim_put(PyObject *d, PyObject *name, tn_tensor *t) {
    PyObject *o = t ? py_wrap(tn_take(t)) : py_raise();
    if (o && PyDict_SetItem(d, name, o)) Py_CLEAR(o);
    return o;
}

/* Counted: the tensor of number j of parameter i, a 0-dim float32 as torch's; number 0 counts the
 * steps, others are NaN before the first one. */
static bool py_optim_scalar(py_optim_step *w, int64_t i, int j) {
    PyObject *name = w->r->scalar[j], *o = PyDict_GetItemWithError(w->of[i], name);
    double value = j ? (double)NAN : 0;
    float now;
    /* a tensor that can be written in place stays the same object, as in torch */
    bool fits = o && py_is_tensor(o) && tn_ndim(py_of(o)) == 0 && tn_dtype_of(py_of(o)) == TN_F32 &&
                tn_device_of(py_of(o)) == TN_CPU && !tn_needs_grad(py_of(o)) &&
                !tn_is_read_only(py_of(o));
    if (!o && PyErr_Occurred()) return false;
    if (o && !py_to_float(o, &value)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "state %R must be a number, got %R", name, o);
        return false;
    }
    now = (float)value;
    if (!o) w->made[i] = (uint8_t)(w->made[i] | PY_MADE_SCALAR << j);
    w->scalar[j][i] =
        fits ? Py_NewRef(o)
             : py_optim_put(w->of[i], name, tnp_from(&now, tn_empty_dims(), TN_F32, TN_CPU));
    /* the step that is about to be made */
    w->value[j][i] = j ? value : value + 1;
    return w->scalar[j][i] != NULL;
}

/* A new state k of parameter i; NULL with an error, or if it has none. */
static tn_tensor *py_optim_begin_state(py_optim_step *w, int64_t i, int k) {
    const tn_orow *row = w->r->row;
    tn_tensor *p = w->s.param[i];
    tn_tensor *rate = w->rate[i];
    /* some begin with the rate; one without data, in a plan, leaves the number that was there */
    if (rate && w->rated != w->s.options[i] && !tn_is_capturing()) {
        w->rated = w->s.options[i];
        if (tn_data(rate) || tn_device_data(rate))
            tn_param_set_number(tn_param_named(row->gen, "lr", SIZE_MAX),
                                (char *)(uintptr_t)w->rated, tn_float(tn_item(rate)));
    }
    if (k == w->r->nstates) return tnp_zeros(tn_empty_dims(), TN_F32, tn_device_of(p)); /* step */
    return row->begin ? row->begin(w->s.options[i], p, k)
                      : tnp_zeros_like(p, TN_NO_DTYPE, TN_NO_DEVICE);
}

/* State k of parameter i, held; made if it has none yet. */
static bool py_optim_one_state(py_optim_step *w, int64_t i, int k) {
    PyObject *o = PyDict_GetItemWithError(w->of[i], w->r->state[k]), *put = NULL;
    if (!o && PyErr_Occurred()) return false;
    /* lazily, as torch: a state begins with the first gradient */
    if (!o || o == Py_None) {
        tn_tensor *t = py_optim_begin_state(w, i, k);
        if (!t && tn_ok()) return true;
        o = put = py_optim_put(w->of[i], w->r->state[k], t);
        if (!o) return false;
        w->made[i] = (uint8_t)(w->made[i] | 1u << k);
        w->first[i] = w->moves = true;
    }
    bool ok = py_is_tensor(o);
    if (ok) w->s.state[k][i] = tn_retain(py_of(o));
    if (!ok) PyErr_Format(PyExc_TypeError, "state %R must be a tensor", w->r->state[k]);
    Py_XDECREF(put);
    return ok;
}

/* Number j of parameter i as a state of its device, held: a 0-dim float32. */
static bool py_optim_number(py_optim_step *w, int64_t i, int j) {
    PyObject *name = w->r->scalar[j], *o = PyDict_GetItemWithError(w->of[i], name), *put = NULL;
    const tn_device_id device = tn_device_of(w->s.param[i]);
    double value = 0;
    bool fits = o && py_is_tensor(o) && tn_ndim(py_of(o)) == 0 && tn_dtype_of(py_of(o)) == TN_F32 &&
                tn_device_of(py_of(o)) == device && !tn_needs_grad(py_of(o));
    if (!o && PyErr_Occurred()) return false;
    if (o && !fits && !py_to_float(o, &value)) return false;
    if (!fits) {
        if (!o) w->made[i] = (uint8_t)(w->made[i] | PY_MADE_SCALAR << j);
        w->moves = true;
        o = put = py_optim_put(w->of[i], name,
                               o ? tnp_full(tn_empty_dims(), tn_float(value), TN_F32, device)
                                 : py_optim_begin_state(w, i, w->r->nstates + j));
        if (!o) return false;
    }
    w->s.state[w->r->nstates + j][i] = tn_retain(py_of(o));
    Py_XDECREF(put);
    return true;
}

/* Adds a parameter that has a gradient to the step, with the state that the options use. */
static bool py_optim_add(py_optim_step *w, PyObject *param, const py_optim_group *g) {
    const tn_orow *row = w->r->row;
    int64_t i = w->s.n;
    if (!py_is_tensor(param))
        return PyErr_Format(PyExc_TypeError, "optimizer can only optimize Tensors, not %R", param),
               false;
    /* borrowed until it is held below */
    tn_tensor *grad = tn_grad_of(py_of(param));
    if (!grad || i >= w->n) return true;
    w->s.n++;
    w->s.param[i] = tn_retain(py_of(param));
    w->s.grad[i] = tn_retain(grad);
    w->param[i] = Py_NewRef(param);
    ((const void **)(uintptr_t)w->s.options)[i] = g->args.bytes;
    w->rate[i] = g->rate;
    if (g->rate) w->s.rate = w->rate;
    w->elements += tn_numel(w->s.param[i]);
    uint32_t uses = row->uses ? row->uses(g->args.bytes) : UINT32_MAX;
    if (!row->counts && !(uses & ((1u << w->r->nstates) - 1))) return true;
    if (!(w->of[i] = py_optim_state_of(w, param, &w->made[i]))) return false;
    for (int j = row->counts ? 0 : 1; j < w->r->nscalars; j++)
        if (!(w->captured ? py_optim_number : py_optim_scalar)(w, i, j)) return false;
    for (int k = 0; k < w->r->nstates; k++)
        if (uses >> k & 1 && !py_optim_one_state(w, i, k)) return false;
    return true;
}

/* All groups: options, then parameters. Lists are held, as conversions run Python code. */
static bool py_optim_collect(py_optim_step *w) {
    for (Py_ssize_t g = 0; g < w->ngroups && g < PyList_Size(w->groups); g++) {
        /* new: Python code of a conversion may change either list */
        PyObject *group = Py_XNewRef(PyList_GetItem(w->groups, g));
        PyObject *list = group ? Py_XNewRef(py_optim_params(w->r, group)) : NULL;
        bool ok = list && py_optim_group_read(w->r, group, w->captured, &w->group[g]);
        for (Py_ssize_t i = 0; ok && i < PyList_Size(list); i++) {
            PyObject *param = Py_NewRef(PyList_GetItem(list, i));
            ok = py_optim_add(w, param, &w->group[g]);
            Py_DECREF(param);
        }
        Py_XDECREF(list);
        Py_XDECREF(group);
        if (!ok) return false;
    }
    return true;
}

/* What was put into the state for a step that failed goes again; an exception stays. */
static void py_optim_undo(py_optim_step *w) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (int64_t i = 0; i < w->s.n; i++) {
        for (int k = 0; k < w->r->nstates; k++)
            if (w->made[i] >> k & 1) PyDict_DelItem(w->of[i], w->r->state[k]);
        for (int j = 0; j < w->r->nscalars; j++)
            if (w->made[i] & PY_MADE_SCALAR << j) PyDict_DelItem(w->of[i], w->r->scalar[j]);
        if (w->made[i] & PY_MADE_DICT) PyDict_DelItem(w->state, w->param[i]);
        PyErr_Clear(); /* somebody else took it out */
    }
    PyErr_Restore(type, value, trace);
}

/* Releases what the step held. The arrays are one block, which begins with the groups. */
static void py_optim_end(py_optim_step *w) {
    for (int64_t i = 0; i < w->s.n; i++) {
        tn_release(w->s.param[i]);
        tn_release(w->s.grad[i]);
        for (int k = 0; k < py_optim_states(w->r); k++) tn_release(w->s.state[k][i]);
        Py_XDECREF(w->of[i]);
        Py_XDECREF(w->param[i]);
        for (int j = 0; j < w->r->nscalars; j++) Py_XDECREF(w->scalar[j][i]);
    }
    for (Py_ssize_t g = 0; g < w->ngroups; g++) tn_release(w->group[g].rate);
    py_give(w->group);
}

/* --- the step --------------------------------------------------------------------------------- */

static void py_optim_text(const tn_path *path, char *to, size_t room) {
    const py_optim_step *const *w = (const py_optim_step *const *)(const void *)(path + 1);
    snprintf(to, room, "%s", (*w)->r->row->name);
}

/* The row's step, outside of any tape. It needs no Python object, so the GIL may go. */
static bool py_optim_run(py_optim_step *w) {
    struct {
        tn_path path;
        const py_optim_step *of;
    } link;
    bool ok, lasts = w->elements >= PY_LONG;
    py_long l = {NULL};
    /* errors name the optimizer and the user's line by this link of the path */
    memset(&link, 0, sizeof link);
    link.path.text = py_optim_text;
    link.of = w;
    py_here(&link.path.file, &link.path.line);
    if (lasts) l = py_long_begin();
    tn_path_push(&link.path);
    int64_t mark = tn_scope_begin();
    bool mode = tn_set_grad_mode(false);
    ok = (w->captured ? w->r->row->captured : w->r->row->step)(&w->s);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tn_path_pop(&link.path);
    if (lasts) py_long_end(l);
    return ok;
}

static bool py_optim_go(py_optim_step *w) {
    if (!w->s.n) return true;
    if (w->moves && tn_is_capturing()) {
        PyErr_SetString(PyExc_RuntimeError, "a first step makes the optimizer's state, which each "
                                            "replay would do: step once before the capture");
        return false;
    }
    while (!py_optim_run(w))
        if (!py_stopped()) return py_raise(), false;
    for (int64_t i = 0; i < w->s.n; i++)
        for (int j = 0; j < w->r->nscalars; j++) {
            if (!w->scalar[j][i]) continue;
            tn_tensor *t = py_of(w->scalar[j][i]);
            *(float *)tn_data(t) = (float)w->value[j][i];
            tn_touch(t);
        }
    return true;
}

/* _optim_step(number, param_groups, state, captured): groups that are captured, or none that is */
static PyObject *py_optim_do(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    py_optim_step w;
    (void)self;
    if (n != 4 || !PyLong_Check(args[0]) || !PyList_Check(args[1]) || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError,
                            "param_groups must be a list of dicts, and state a dict of dicts");
    memset(&w, 0, sizeof w);
    w.r = py_optim_row_at(PyLong_AsLong(args[0]));
    if (!w.r) return NULL;
    w.groups = args[1];
    w.state = args[2];
    w.ngroups = PyList_Size(w.groups);
    w.captured = args[3] == Py_True && w.r->row->captured;
    if (!py_optim_lay(&w)) return NULL;
    const int turn = py_lend();
    bool ok = py_optim_collect(&w) && py_optim_go(&w);
    if (!ok) py_optim_undo(&w);
    py_optim_end(&w);
    return py_lent(turn, ok ? Py_NewRef(Py_None) : NULL);
}

/* --- gradients -------------------------------------------------------------------------------- */

/* A gradient of zeros instead, cut off from its graph; in place where it has none. */
static bool py_optim_zero(tn_tensor *t) {
    tn_tensor *grad = tn_grad_of(t);
    if (!tn_needs_grad(grad)) return tnp_zero_(grad) != NULL;
    tn_tensor *cut = tnp_detach(grad);
    bool ok = cut && tnp_zero_(cut) && tnp_set_grad(t, cut);
    tn_free(cut);
    return ok;
}

/* _optim_zero_grad(params, set_to_none) */
static PyObject *py_optim_zero_grad(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    (void)self;
    if (n != 2 || !PyList_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "'params' of a parameter group must be a list");
    int none = PyObject_IsTrue(args[1]);
    if (none < 0) return NULL;
    bool mode = tn_set_grad_mode(false), ok = true;
    for (Py_ssize_t i = 0; ok && i < PyList_Size(args[0]); i++) {
        PyObject *o = Py_NewRef(PyList_GetItem(args[0], i));
        if (!py_is_tensor(o)) {
            PyErr_Format(PyExc_TypeError, "optimizer can only optimize Tensors, not %R", o);
            ok = false;
        } else if (tn_grad_of(py_of(o))) {
            ok = none ? tnp_set_grad(py_of(o), NULL) : py_optim_zero(py_of(o));
            if (!ok) py_raise();
        }
        Py_DECREF(o);
    }
    tn_set_grad_mode(mode);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* _optim_closure(closure): its value, called while calls are recorded. */
static PyObject *py_optim_closure(PyObject *self, PyObject *closure) {
    (void)self;
    bool mode = tn_set_grad_mode(true);
    PyObject *loss = PyObject_CallNoArgs(closure);
    tn_set_grad_mode(mode);
    return loss;
}

#define PY_OPTIM_FAST(name) (PyCFunction)(void *) name
static PyMethodDef py_optim_functions[] = {
    {"_optimizers", py_optim_list, METH_NOARGS, NULL},
    {"_optim_check", py_optim_check, METH_VARARGS, NULL},
    {"_optim_step", PY_OPTIM_FAST(py_optim_do), METH_FASTCALL, NULL},
    {"_optim_zero_grad", PY_OPTIM_FAST(py_optim_zero_grad), METH_FASTCALL, NULL},
    {"_optim_closure", py_optim_closure, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_optim_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_optim_functions);
}
