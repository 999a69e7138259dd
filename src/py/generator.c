/* generator.c - Generator: a stream of random numbers, and the default one. */
#include "py.h"

/* The device where a generator is to draw; false with an exception. */
static bool py_generator_place(PyObject *device, tn_device_id *id) {
    *id = TN_NO_DEVICE;
    if (py_to_device(device, id) && *id != TN_META) return true;
    if (!PyErr_Occurred())
        PyErr_Format(*id == TN_NO_DEVICE ? PyExc_TypeError : PyExc_RuntimeError,
                     *id == TN_NO_DEVICE
                         ? "Generator(): argument 'device' must be str or torch.device, not %R"
                         : "Generator(): no random numbers are drawn on %R",
                     device);
    return false;
}

/* torch.Generator(device=None): a stream of its own, seeded as torch seeds it. */
static PyObject *py_generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"device", NULL};
    PyObject *device = Py_None;
    tn_device_id id = TN_CPU;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", (char **)(uintptr_t)names, &device))
        return NULL;
    if (device != Py_None && !py_generator_place(device, &id)) return NULL;
    py_generator *g = (py_generator *)PyType_GenericAlloc(type, 0);
    if (!g) return NULL;
    g->generator = tn_generator_new(67280421310721u); /* torch's default seed */
    g->device = id;
    /* the default generator is the library's, these are ours */
    g->owned = true;
    if (g->generator) return (PyObject *)g;
    Py_DECREF((PyObject *)g);
    return py_raise();
}
static void py_generator_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    py_generator *g = (py_generator *)self;
    if (g->owned) tn_generator_free(g->generator);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}
/* A seed of 64 bits: negative ones wrap, up to 2^64 - 1, as torch takes them. */
static bool py_generator_seed_of(PyObject *o, uint64_t *seed) {
    PyObject *i = PyNumber_Index(o);
    int overflow;
    if (!i && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_RuntimeError, "manual_seed expected a long, but got %R", Py_TYPE(o));
    }
    if (!i) return false;
    long long v = PyLong_AsLongLongAndOverflow(i, &overflow);
    *seed = overflow > 0 ? PyLong_AsUnsignedLongLong(i) : (uint64_t)v;
    Py_DECREF(i);
    /* -2^63 and below, or 2^64 and more */
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
        return false;
    }
    return true;
}
/* g.manual_seed(seed): returns g, as torch. */
static PyObject *py_generator_manual_seed(PyObject *self, PyObject *o) {
    uint64_t seed;
    if (!py_generator_seed_of(o, &seed)) return NULL;
    /* a call that draws in another thread ends first */
    py_draw_begin();
    tn_generator_seed(((py_generator *)self)->generator, seed);
    py_draw_end();
    return Py_NewRef(self);
}
/* g.get_state(): the state in torch's format, a new uint8 tensor. */
static PyObject *py_generator_get_state(PyObject *self, PyObject *unused) {
    uint8_t state[TN_GENERATOR_BYTES];
    const int64_t size[1] = {TN_GENERATOR_BYTES};
    (void)unused;
    py_draw_begin();
    tn_generator_state(((py_generator *)self)->generator, state);
    py_draw_end();
    /* copied */
    tn_tensor *t = tnp_from(state, tn_ints_of(size, 1), TN_U8, TN_CPU);
    return t ? py_wrap(tn_take(t)) : py_raise();
}
/* g.set_state(state): takes what get_state gave; the library checks the content. */
static PyObject *py_generator_set_state(PyObject *self, PyObject *o) {
    if (!py_is_tensor(o) || tn_dtype_of(py_of(o)) != TN_U8 || !tn_is_contiguous(py_of(o)) ||
        tn_numel(py_of(o)) != TN_GENERATOR_BYTES)
        return PyErr_Format(PyExc_TypeError, "expected a torch.ByteTensor of %d elements",
                            (int)TN_GENERATOR_BYTES);
    /* copied first: the tensor may be written by another thread while this one waits */
    uint8_t state[TN_GENERATOR_BYTES];
    memcpy(state, tn_data(py_of(o)), sizeof state);
    py_draw_begin();
    bool ok = tn_generator_set_state(((py_generator *)self)->generator, state);
    py_draw_end();
    return ok ? Py_NewRef(self) : py_raise();
}
/* torch's state begins with the seed. */
static PyObject *py_generator_initial_seed(PyObject *self, PyObject *unused) {
    uint8_t state[TN_GENERATOR_BYTES];
    uint64_t seed;
    (void)unused;
    py_draw_begin();
    tn_generator_state(((py_generator *)self)->generator, state);
    py_draw_end();
    memcpy(&seed, state, sizeof seed);
    return PyLong_FromUnsignedLongLong(seed);
}
static PyObject *py_generator_seed(PyObject *self, PyObject *unused) {
    PyObject *os = PyImport_ImportModule("os");
    /* the system's random numbers, as torch */
    PyObject *bytes = os ? PyObject_CallMethod(os, "urandom", "i", 8) : NULL;
    const char *at = bytes ? PyBytes_AsString(bytes) : NULL;
    uint64_t seed = 0;
    (void)unused;
    if (at) memcpy(&seed, at, sizeof seed);
    Py_XDECREF(os);
    Py_XDECREF(bytes);
    if (!at) return NULL;
    py_draw_begin();
    tn_generator_seed(((py_generator *)self)->generator, seed);
    py_draw_end();
    return PyLong_FromUnsignedLongLong(seed);
}
/* A new generator in the same state: the two go apart from there. */
static PyObject *py_generator_clone(PyObject *self, PyObject *unused) {
    PyObject *args = PyTuple_New(0), *state = py_generator_get_state(self, unused);
    PyObject *g = args && state ? py_generator_new(py.generator, args, NULL) : NULL;
    if (g) ((py_generator *)g)->device = ((const py_generator *)self)->device;
    PyObject *r = g ? py_generator_set_state(g, state) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(state);
    Py_XDECREF(g);
    return r;
}
static PyObject *py_generator_device(PyObject *self, void *unused) {
    const tn_device_id device = ((const py_generator *)self)->device;
    (void)unused;
    return py_device_of(device ? device : TN_CPU);
}
static PyGetSetDef py_generator_attributes[] = {{"device", py_generator_device, NULL, NULL, NULL},
                                                {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef py_generator_methods[] = {
    {"manual_seed", py_generator_manual_seed, METH_O, "seeds the stream; returns it"},
    {"initial_seed", py_generator_initial_seed, METH_NOARGS, "the seed of the stream"},
    {"seed", py_generator_seed, METH_NOARGS, "seeds the stream with a random number; returns it"},
    {"clone_state", py_generator_clone, METH_NOARGS, "a new generator in the same state"},
    {"get_state", py_generator_get_state, METH_NOARGS, "torch's state, a uint8 tensor"},
    {"set_state", py_generator_set_state, METH_O, "continues from a state"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot py_generator_slots[] = {{Py_tp_new, (void *)py_generator_new},
                                           {Py_tp_dealloc, (void *)py_generator_dealloc},
                                           {Py_tp_getset, py_generator_attributes},
                                           {Py_tp_methods, py_generator_methods},
                                           {0, NULL}};
static PyType_Spec py_generator_spec = {"torch._C.Generator", sizeof(py_generator), 0,
                                        Py_TPFLAGS_DEFAULT, py_generator_slots};

/* Generator, and default_generator, whose stream the library owns. */
PY_PRIV int py_generators_begin(PyObject *module) {
    py.generator = (PyTypeObject *)PyType_FromSpec(&py_generator_spec);
    if (!py.generator || PyModule_AddObjectRef(module, "Generator", (PyObject *)py.generator))
        return -1;
    py_generator *g = (py_generator *)PyType_GenericAlloc(py.generator, 0);
    if (!g) return -1;
    g->generator = tn_default_generator();
    int bad = PyModule_AddObjectRef(module, "default_generator", (PyObject *)g);
    Py_DECREF((PyObject *)g);
    return bad;
}
