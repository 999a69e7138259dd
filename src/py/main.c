/* main.c - the module `tensorh._C`: interned words, classes, functions of all rows. */
#include "py.h"

#ifdef TNI_OBJECTS
py_state py;
#endif

/* Names that calls compare by address. They stay for the process. */
static bool py_main_words(void) {
    struct {
        PyObject **at;
        const char *text;
    } words[] = {{&py.out, "out"},
                 {&py.requires_grad, "requires_grad"},
                 {&py.layout, "layout"},
                 {&py.pin_memory, "pin_memory"},
                 {&py.self, "self"},
                 {&py.input, "input"},
                 {&py.x, "x"},
                 {&py.a, "a"},
                 {&py.x1, "x1"},
                 {&py.other, "other"},
                 {&py.x2, "x2"},
                 {&py.dim, "dim"},
                 {&py.axis, "axis"},
                 {&py.keepdim, "keepdim"},
                 {&py.keepdims, "keepdims"},
                 {&py.f_back, "f_back"},
                 {&py.forward, "forward"},
                 {&py.backward, "backward"},
                 {&py.setup_context, "setup_context"},
                 {&py.name_word, "__name__"},
                 {&py.backward_class, "_backward_cls"},
                 {&py.separate, "_separate"},
                 {&py.parameters_, "_parameters"},
                 {&py.buffers_, "_buffers"},
                 {&py.modules_, "_modules"},
                 {&py.transient_, "_non_persistent_buffers_set"},
                 {&py.training, "training"},
                 {&py.hooked, "_hooked"},
                 {&py.row, "_row"},
                 {&py.is_buffer, "_is_buffer"},
                 {&py.torch_function, "__torch_function__"},
                 {&py.memory_format_word, "memory_format"}};
    /* interned: equal words of source code are the same object */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!(*words[i].at = PyUnicode_InternFromString(words[i].text))) return false;
    return true;
}

static PyObject *py_main_manual_seed(PyObject *self, PyObject *o) {
    PyObject *seed = PyNumber_Long(o); /* of a float, too */
    PyObject *g = seed ? PyObject_GetAttrString(self, "default_generator") : NULL;
    PyObject *r = g ? PyObject_CallMethod(g, "manual_seed", "O", seed) : NULL;
    Py_XDECREF(seed);
    Py_XDECREF(g);
    return r;
}
/* torch.set_num_threads: of the current context. */
static PyObject *py_main_set_num_threads(PyObject *self, PyObject *o) {
    int64_t n;
    (void)self;
    if (!py_to_int(o, &n) || n < 1 || n > INT32_MAX)
        return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects a positive integer");
    if (!tn_set_threads((int32_t)n)) return py_raise();
    Py_RETURN_NONE;
}
static PyObject *py_main_isa(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyUnicode_FromString(tn_isa());
}

static PyObject *py_main_get_num_threads(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLong(tn_threads());
}
/* The package's directory, whose code no error shows as its place. */
static PyObject *py_main_package(PyObject *self, PyObject *o) {
    const char *text = PyUnicode_AsUTF8AndSize(o, NULL);
    (void)self;
    if (!text) return NULL;
    py_lines_begin(text);
    Py_RETURN_NONE;
}

/* For __getattr__ of the package: an operator that was registered since the import. */
static PyObject *py_main_registered(PyObject *self, PyObject *o) {
    const char *name = PyUnicode_AsUTF8AndSize(o, NULL);
    PyObject *f = name ? py_registered(name) : NULL;
    (void)self;
    if (name && !f && !PyErr_Occurred())
        PyErr_Format(PyExc_AttributeError, "operator %R does not exist", o);
    return f;
}

static PyMethodDef py_main_functions[] = {
    {"_registered", py_main_registered, METH_O, "the function of an operator of that name"},
    {"manual_seed", py_main_manual_seed, METH_O, "seeds the default generator; returns it"},
    {"set_num_threads", py_main_set_num_threads, METH_O, "threads that work at one operator"},
    {"get_num_threads", py_main_get_num_threads, METH_NOARGS, "threads that work at one operator"},
    {"_isa", py_main_isa, METH_NOARGS, "the instruction set of the kernels"},
    {"_package", py_main_package, METH_O, NULL},
    {"_plan_begin", py_plan_begin, METH_NOARGS, "tensors without data count until _plan_end"},
    {"_plan_end", py_plan_end, METH_NOARGS, "(device, peak, tensor_peak, rest, parts) of each"},
    {"_rows", py_inspect_rows, METH_NOARGS, "all operator rows, for tests and stubs"},
    {"_memory", py_inspect_memory, METH_NOARGS, "bytes in use, tensors, allocations so far"},
    {"_peak", py_inspect_peak, METH_NOARGS, "most bytes in use since the last call"},
    {"_pending", py_inspect_pending, METH_NOARGS, "an error that a call left behind"},
    {"_fail_after", py_inspect_fail_after, METH_VARARGS,
     "(n, once=False): after n more, allocations fail, or one does; -1: none. How many were left"},
    {NULL, NULL, 0, NULL}};

/* What each part adds to the module, in the order in which they need each other. */
static int (*const py_begins[])(PyObject *module) = {
    py_places_begin,    py_errors_begin,   py_types_begin,      py_generators_begin,
    py_devices_begin,   py_cuda_begin,     py_tensor_begin,     py_groups_begin,
    py_number_begin,    py_buffers_begin,  py_create_begin,     py_optim_begin,
    py_loader_begin,    py_ranks_begin,    py_files_begin,      py_autograd_begin,
    py_modes_begin,     py_vmap_start,     py_hooks_begin,      py_saved_begin,
    py_functions_begin, py_nodes_begin,    py_parameters_begin, py_modules_begin,
    py_taps_begin,      py_override_begin, py_convert_begin,    py_dlpack_begin,
    py_sparse_begin,    py_stream_begin,
};

static int py_main_exec(PyObject *module) {
    /* the allocator of tests first, as it has to see every block */
    if (!py_failing_begin() || !tn_context_current()) return PyErr_NoMemory(), -1;
    /* tensors of Python are in no scope: it counts them itself */
    tn_set_unscoped_warning(-1);
#ifndef TNI_OBJECTS
    /* the library as other extensions reach it: tensorh.h */
    PyObject *api = PyCapsule_New((void *)(uintptr_t)tn_exported(), "tensorh._C._api", NULL);
    if (!api || PyModule_AddObjectRef(module, "_api", api)) return -1;
    Py_DECREF(api);
#endif
    if (PyModule_AddStringConstant(module, "__version__", TN_VERSION)) return -1;
    if (!py_draw_start()) return PyErr_NoMemory(), -1;
    /* a child of fork has only the thread that forked; locks of others are made anew */
    py_fork_watch();
    if (!py_main_words()) return -1;
    for (size_t i = 0; i < sizeof py_begins / sizeof py_begins[0]; i++)
        if (py_begins[i](module)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_SystemError, "tensorh: part of the module is missing");
            return -1;
        }
    return 0;
}

static struct PyModuleDef py_main_module = {
    PyModuleDef_HEAD_INIT, "tensorh._C", NULL, -1, py_main_functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__C(void) {
    PyObject *module = PyModule_Create(&py_main_module);
    if (module && py_main_exec(module)) Py_CLEAR(module);
    return module;
}
