/* device.c - torch.device, and the device that functions which make tensors of nothing take where
 * they are given none. That one belongs to the calling thread. */
#include "py.h"

/* --- the class -------------------------------------------------------------------------------- */

typedef struct py_device {
    PyObject_HEAD tn_device_id id; /* TN_NO_DEVICE: CUDA's, which is looked for when it is used */
    int index; /* -1: none; "cpu:0" is the same place as "cpu", but not equal to it, as in torch */
} py_device;

/* A new object: devices are compared by value. */
static PyObject *py_device_make(tn_device_id id, int index) {
    PyObject *o = PyType_GenericAlloc(py.device, 0);
    if (!o) return NULL;
    ((py_device *)o)->id = id;
    ((py_device *)o)->index = index;
    return o;
}

/* The index at the end of a name; -1: it has none. */
static int py_device_number(const char *name) {
    const char *colon = strchr(name, ':');
    return colon ? (int)strtol(colon + 1, NULL, 10) : -1;
}

PY_PRIV PyObject *py_device_of(tn_device_id id) {
    const char *name = tn_device_name(id);
    return py_device_make(strncmp(name, "cuda:", 5) ? id : TN_NO_DEVICE, py_device_number(name));
}

/* What follows "cuda": nothing, or a colon and a number as it is printed. */
static bool py_device_cuda(const char *rest, int *index) {
    const size_t digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
    *index = digits ? (int)strtol(rest + 1, NULL, 10) : -1;
    if (!*rest) return true;
    return digits && digits < 6 && !rest[digits + 1] && (digits == 1 || rest[1] != '0');
}

/* The device that a name says, and its index. false with an exception. */
static bool py_device_parse(PyObject *text, tn_device_id *to, int *index) {
    Py_ssize_t n;
    const char *name = PyUnicode_AsUTF8AndSize(text, &n);
    if (!name) return false;
    /* a NUL inside would be cut off */
    bool good = (Py_ssize_t)strlen(name) == n;
    const bool cuda = good && !strncmp(name, "cuda", 4) && (!name[4] || name[4] == ':');
    if (cuda) good = py_device_cuda(name + 4, index);
    if (!good) return PyErr_Format(PyExc_RuntimeError, "Invalid device string: %R", text), false;
    *to = TN_NO_DEVICE;
    if (cuda) return true;
    for (*to = TN_CPU, *index = 0; *to <= TN_META; ++*to) { /* those without an index of theirs */
        const size_t type = strlen(tn_device_name(*to));
        if (!strncmp(name, tn_device_name(*to), type) && !strcmp(name + type, ":0")) return true;
    }
    *to = tnp_device(name);
    if (*to == TN_NO_DEVICE) return py_raise(), false;
    *index = py_device_number(tn_device_name(*to));
    return true;
}

/* A number of a device; false with an exception, or without one: it is none. */
static bool py_device_index_of(PyObject *o, int64_t *to) {
    if (!py_to_int(o, to)) return false;
    if (*to >= 0 && *to <= INT16_MAX) return true;
    PyErr_Format(PyExc_RuntimeError,
                 *to < 0 ? "Device index must not be negative" : "Device index %R is too large", o);
    return false;
}

PY_PRIV bool py_to_device(PyObject *o, tn_device_id *to) {
    int index;
    int64_t number;
    if (Py_TYPE(o) == py.device) {
        *to = ((py_device *)o)->id;
        return *to || py_cuda_device(((py_device *)o)->index, to);
    }
    /* a number is that of one of CUDA's */
    if (PyLong_CheckExact(o))
        return py_device_index_of(o, &number) && py_cuda_device((int)number, to);
    return PyUnicode_Check(o) && py_device_parse(o, to, &index) &&
           (*to || py_cuda_device(index, to));
}

/* A type and an index as a name; NULL with an exception. */
static PyObject *py_device_joined(PyObject *type, PyObject *index) {
    int64_t at;
    if (!PyUnicode_Check(type))
        return PyErr_Format(PyExc_TypeError,
                            "device(): argument 'type' must be str where 'index' is given");
    if (!py_to_int(index, &at)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "device(): argument 'index' must be int, not %R",
                         Py_TYPE(index));
        return NULL;
    }
    /* torch.device("cuda:0", 1) is refused */
    if (PyUnicode_FindChar(type, ':', 0, PyUnicode_GetLength(type), 1) >= 0)
        return PyErr_Format(PyExc_RuntimeError,
                            "type (string) must not include an index because index was passed "
                            "explicitly: %U",
                            type);
    if (at < 0) return PyErr_Format(PyExc_RuntimeError, "Device index must not be negative");
    return PyUnicode_FromFormat("%U:%lld", type, (long long)at);
}

/* _device(name): what pickles call. */
static PyObject *py_device_named(PyObject *self, PyObject *name) {
    tn_device_id id;
    int index;
    (void)self;
    if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "_device(): a name");
    return py_device_parse(name, &id, &index) ? py_device_make(id, index) : NULL;
}

/* torch.device(name), torch.device(type, index), torch.device(number) of CUDA, or
 * torch.device(device), which is that object. */
static PyObject *py_device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"type", "index", NULL};
    PyObject *what, *index = Py_None;
    int64_t number;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", (char **)(uintptr_t)names, &what,
                                     &index))
        return NULL;
    /* devices do not change, so the same object will do */
    if (index == Py_None && Py_TYPE(what) == py.device) return Py_NewRef(what);
    if (index == Py_None && PyLong_CheckExact(what))
        return py_device_index_of(what, &number) ? py_device_make(TN_NO_DEVICE, (int)number) : NULL;
    if (index == Py_None && !PyUnicode_Check(what))
        return PyErr_Format(PyExc_TypeError,
                            "device(): argument 'type' must be str or device, not %R",
                            Py_TYPE(what));
    PyObject *name = index == Py_None ? Py_NewRef(what) : py_device_joined(what, index);
    PyObject *r = name ? py_device_named(NULL, name) : NULL;
    Py_XDECREF(name);
    return r;
}

/* The index, -1: none. */
static int py_device_at(PyObject *self) { return ((const py_device *)self)->index; }
static PyObject *py_device_type(PyObject *self, void *unused) {
    const tn_device_id id = ((const py_device *)self)->id;
    const char *name = id ? tn_device_name(id) : "cuda";
    (void)unused;
    return PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ":"));
}
static PyObject *py_device_index(PyObject *self, void *unused) {
    (void)unused;
    if (py_device_at(self) < 0) Py_RETURN_NONE;
    return PyLong_FromLong(py_device_at(self));
}
/* The type and the index, by the format for both or the format for the type alone. */
static PyObject *py_device_text(PyObject *self, const char *both, const char *alone) {
    PyObject *type = py_device_type(self, NULL);
    const int at = py_device_at(self);
    PyObject *r = type ? PyUnicode_FromFormat(at < 0 ? alone : both, type, at) : NULL;
    Py_XDECREF(type);
    return r;
}
static PyObject *py_device_str(PyObject *self) { return py_device_text(self, "%U:%d", "%U"); }
static PyObject *py_device_repr(PyObject *self) {
    return py_device_text(self, "device(type='%U', index=%d)", "device(type='%U')");
}
static PyObject *py_device_compare(PyObject *a, PyObject *b, int how) {
    /* the other side may know better */
    if (Py_TYPE(b) != py.device || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    const py_device *x = (const py_device *)a, *y = (const py_device *)b;
    bool same = x->id == y->id && x->index == y->index;
    return PyBool_FromLong(same == (how == Py_EQ));
}
static Py_hash_t py_device_hash(PyObject *self) {
    const py_device *d = (const py_device *)self;
    return 1000 * (Py_hash_t)d->id + d->index + 2; /* never -1 */
}
static PyObject *py_device_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return py_types_reduce("_device", py_device_str(self));
}

/* --- the default ------------------------------------------------------------------------------ */

/* How many threads' lists have had a device: none, as a rule, and then no list is looked for. */
static int64_t py_devices_set;

/* The thread's list: what set_default_device set, or None, then that of each block entered. Its
 * last is the library's default (tn_set_default_device), which rows and modules read. A borrowed
 * reference; NULL: it has none and is not to make one, or with an exception. */
static PyObject *py_device_list(bool make) {
    PyObject *dict = PyThreadState_GetDict(), *list;
    if (!dict) return NULL;
    list = PyDict_GetItemWithError(dict, (PyObject *)py.device);
    if (list || !make || PyErr_Occurred()) return list;
    if ((list = PyList_New(1)) != NULL) {
        PyList_SetItem(list, 0, Py_NewRef(Py_None));
        if (PyDict_SetItem(dict, (PyObject *)py.device, list)) Py_CLEAR(list);
    }
    if (!list) return NULL;
    py_devices_set++;
    Py_DECREF(list); /* dict holds it */
    return list;
}

/* The last of the list, borrowed; NULL: none. */
static PyObject *py_device_now(void) {
    PyObject *list, *last;
    if (!py_devices_set) return NULL;
    list = py_device_list(false);
    last = list ? PyList_GetItem(list, PyList_Size(list) - 1) : NULL;
    /* without memory there is no default */
    PyErr_Clear();
    return last == Py_None ? NULL : last;
}

PY_PRIV tn_device_id py_default_device(void) {
    PyObject *now = py_device_now();
    tn_device_id id = TN_NO_DEVICE;
    /* it was found when it became the default */
    if (now && !py_to_device(now, &id)) PyErr_Clear();
    return id;
}

/* The library's default after a change of the list. */
static void py_device_tell(void) {
    const tn_device_id device = py_default_device();
    tnp_set_default_device(device ? device : TN_CPU);
}

/* with torch.device("meta"): pushed onto the thread's list. */
static PyObject *py_device_enter(PyObject *self, PyObject *unused) {
    PyObject *list = py_device_list(true);
    tn_device_id id;
    (void)unused;
    if (!list || !py_to_device(self, &id) || PyList_Append(list, self)) return NULL;
    py_device_tell();
    return Py_NewRef(self);
}

/* The end of a with block: pops the thread's list. Arguments, an exception perhaps, do
 * not matter. */
static PyObject *py_device_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    PyObject *list = py_device_list(false);
    const Py_ssize_t n = list ? PyList_Size(list) : 0;
    (void)self, (void)args, (void)nargs;
    if (n < 2)
        return PyErr_Format(PyExc_RuntimeError, "cannot leave a device that was not entered");
    if (PyList_SetSlice(list, n - 1, n, NULL)) return NULL;
    py_device_tell();
    Py_RETURN_NONE;
}

/* torch.set_default_device: of the calling thread alone. */
static PyObject *py_device_set_default(PyObject *self, PyObject *device) {
    PyObject *list, *made = NULL;
    tn_device_id id;
    (void)self;
    if (device != Py_None &&
        !(made = PyObject_CallFunctionObjArgs((PyObject *)py.device, device, NULL)))
        return NULL;
    if (made && !py_to_device(made, &id)) return Py_DECREF(made), NULL;
    list = py_device_list(true);
    /* takes the reference; entry 0 is below all blocks. In a block it also acts at once */
    if (list && made && PyList_Size(list) > 1)
        PyList_SetItem(list, PyList_Size(list) - 1, Py_NewRef(made));
    if (list) PyList_SetItem(list, 0, made ? made : Py_NewRef(Py_None));
    if (!list) Py_XDECREF(made);
    py_device_tell();
    return list ? Py_NewRef(Py_None) : NULL;
}

static PyObject *py_device_get_default(PyObject *self, PyObject *unused) {
    const tn_device_id now = py_default_device();
    (void)self, (void)unused;
    return py_device_of(now ? now : TN_CPU);
}

/* _cuda_set(index): the thread's current device of CUDA, which "cuda" means. Returns the one
 * before. */
static PyObject *py_device_set_cuda(PyObject *self, PyObject *o) {
    int64_t index;
    (void)self;
    if (!py_device_index_of(o, &index))
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "expected the number of a device");
    const int before = py_cuda_set((int)index);
    if (before < 0) return NULL;
    py_device_tell(); /* the default may be "cuda" */
    return PyLong_FromLong(before);
}

/* What a function of the package that makes tensors gives them: device, or the default; None where
 * there is none. */
static PyObject *py_device_or_default(PyObject *self, PyObject *device) {
    PyObject *now = device == Py_None ? py_device_now() : device;
    (void)self;
    return Py_NewRef(now ? now : Py_None);
}

/* --- slots ------------------------------------------------------------------------------------ */

static PyGetSetDef py_device_attributes[] = {{"type", py_device_type, NULL, NULL, NULL},
                                             {"index", py_device_index, NULL, NULL, NULL},
                                             {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_device_methods[] = {
    {"__reduce__", py_device_reduce, METH_NOARGS, NULL},
    {"__enter__", py_device_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void *)py_device_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_device_slots[] = {{Py_tp_new, (void *)py_device_new},
                                        {Py_tp_repr, (void *)py_device_repr},
                                        {Py_tp_str, (void *)py_device_str},
                                        {Py_tp_hash, (void *)py_device_hash},
                                        {Py_tp_richcompare, (void *)py_device_compare},
                                        {Py_tp_getset, py_device_attributes},
                                        {Py_tp_methods, py_device_methods},
                                        {0, NULL}};
static PyType_Spec py_device_spec = {"torch.device", sizeof(py_device), 0, Py_TPFLAGS_DEFAULT,
                                     py_device_slots};

static PyMethodDef py_device_functions[] = {
    {"_device", py_device_named, METH_O, NULL}, /* what pickles call */
    {"set_default_device", py_device_set_default, METH_O,
     "set_default_device(device): where this thread's functions that make tensors of nothing make "
     "them, if they are told no device; None: the CPU"},
    {"get_default_device", py_device_get_default, METH_NOARGS,
     "get_default_device(): where new tensors are"},
    {"_device_or_default", py_device_or_default, METH_O, NULL},
    {"_cuda_set", py_device_set_cuda, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_devices_begin(PyObject *module) {
    py.device = (PyTypeObject *)PyType_FromSpec(&py_device_spec);
    if (!py.device || PyModule_AddObjectRef(module, "device", (PyObject *)py.device)) return -1;
    return PyModule_AddFunctions(module, py_device_functions);
}
