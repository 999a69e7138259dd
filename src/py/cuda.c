/* cuda.c - CUDA's devices. Their module is looked for and opened when a program first uses one;
 * tensorh/_cuda.py says where it may be. And what torch.cuda asks of a device. */
#include "py.h"

static struct {
    tn_device_id first; /* cuda:0; TN_NO_DEVICE: not found yet */
    int count;
    bool used;   /* a call has asked for one of them */
    bool forked; /* the process is the child of one that had them */
} py_cuda;
static __thread int py_cuda_now; /* the thread's current device */

/* --- finding them ----------------------------------------------------------------------------- */

/* Whether the context has such devices. */
static bool py_cuda_find(void) {
    const char *name;
    if (py_cuda.first) return true;
    for (tn_device_id id = TN_META + 1; strcmp(name = tn_device_name(id), "none") != 0; id++) {
        if (strncmp(name, "cuda:", 5)) continue;
        if (!py_cuda.count++) py_cuda.first = id;
    }
    return py_cuda.count != 0;
}

/* The same, behind an attempt to open the module; false with an exception that says why not. */
static bool py_cuda_open(void) {
    PyObject *module, *r;
    if (py_cuda.forked)
        return PyErr_Format(PyExc_RuntimeError,
                            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                            "multiprocessing, you must use the 'spawn' start method"),
               false;
    if (py_cuda_find()) return true;
    module = PyImport_ImportModule("tensorh._cuda");
    r = module ? PyObject_CallMethod(module, "open", NULL) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(r);
    return r && py_cuda_find();
}

PY_PRIV bool py_cuda_device(int index, tn_device_id *to) {
    if (!py_cuda_open()) return false;
    if (index < 0) index = py_cuda_now;
    if (index >= py_cuda.count)
        return PyErr_Format(PyExc_RuntimeError,
                            "there is no device 'cuda:%d' here: the last one is cuda:%d", index,
                            py_cuda.count - 1),
               false;
    py_cuda.used = true;
    *to = py_cuda.first + index;
    return true;
}

PY_PRIV int py_cuda_set(int index) {
    const int before = py_cuda_now;
    tn_device_id id;
    if (!py_cuda_device(index, &id)) return -1;
    py_cuda_now = index;
    return before;
}

/* _cuda_load(path): None, or why the module at that path gives no device. */
static PyObject *py_cuda_load(PyObject *self, PyObject *o) {
    const char *path = PyUnicode_AsUTF8AndSize(o, NULL), *why;
    tn_error_info info;
    (void)self;
    if (!path) return NULL;
#ifdef TNI_OBJECTS
    why = "an extension of separate objects (make python) loads no modules";
    (void)info;
#else
    if (tn_device_load(path)) Py_RETURN_NONE;
    if (!tn_error_take(&info)) return PyErr_NoMemory();
    why = strstr(info.message, " here: ");
    why = why ? why + strlen(" here: ") : info.message;
#endif
    return PyUnicode_FromString(why);
}

/* --- what torch.cuda asks --------------------------------------------------------------------- */

/* The device of a number, -1: the current one; false with an exception. */
static bool py_cuda_asked(PyObject *o, tn_device_id *to) {
    int64_t index;
    if (!py_to_int(o, &index)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected the number of a device");
        return false;
    }
    return py_cuda_device(index < -1 || index > INT16_MAX ? INT16_MAX : (int)index, to);
}

static PyObject *py_cuda_index(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    return py_cuda_asked(o, &id) ? PyLong_FromLong(id - py_cuda.first) : NULL;
}
static PyObject *py_cuda_state(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    py_cuda_find();
    return Py_BuildValue("(iN)", py_cuda.count, PyBool_FromLong(py_cuda.used));
}
static PyObject *py_cuda_fork(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    py_cuda.forked = true;
    Py_RETURN_NONE;
}
/* Other threads of Python go on meanwhile. */
static PyObject *py_cuda_wait(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    PyThreadState *state = PyEval_SaveThread();
    const bool ok = tnp_device_wait(id);
    PyEval_RestoreThread(state);
    return ok ? Py_NewRef(Py_None) : py_raise();
}
static PyObject *py_cuda_memory(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    const tn_device_memory_info m = tn_device_memory(id);
    return Py_BuildValue("(LLLLLL)", (long long)m.used, (long long)m.peak, (long long)m.reserved,
                         (long long)m.calls, (long long)m.most, (long long)m.limit);
}
static PyObject *py_cuda_limit(PyObject *self, PyObject *args) {
    PyObject *device;
    long long bytes;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "OL", &device, &bytes) || !py_cuda_asked(device, &id)) return NULL;
    return tnp_device_memory_limit(id, bytes) ? Py_NewRef(Py_None) : py_raise();
}
static void py_cuda_piece(const tn_device_piece *piece, void *list) {
    PyObject *one;
    if (PyErr_Occurred()) return;
    one = Py_BuildValue("(KKLN)", (unsigned long long)(uintptr_t)piece->segment,
                        (unsigned long long)(uintptr_t)piece->at, (long long)piece->bytes,
                        PyBool_FromLong(piece->used));
    if (one) PyList_Append(list, one);
    Py_XDECREF(one);
}
static PyObject *py_cuda_snapshot(PyObject *self, PyObject *o) {
    PyObject *list;
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    if (!(list = PyList_New(0))) return NULL;
    tn_device_snapshot(id, py_cuda_piece, list);
    if (PyErr_Occurred()) Py_CLEAR(list);
    return list;
}
static PyObject *py_cuda_reset_peak(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    tn_device_reset_peak(id);
    Py_RETURN_NONE;
}
static PyObject *py_cuda_properties(PyObject *self, PyObject *o) {
    tn_device_id id;
    (void)self;
    if (!py_cuda_asked(o, &id)) return NULL;
    const tn_device_properties p = tn_device_properties_of(id);
    return Py_BuildValue("{sssisisisisisLsLsL}", "name", p.name, "major", p.major, "minor", p.minor,
                         "multi_processor_count", p.processors, "max_threads_per_multi_processor",
                         p.threads, "runtime", p.runtime, "total_memory", (long long)p.memory,
                         "L2_cache_size", (long long)p.cache, "left", (long long)p.left);
}
static PyObject *py_cuda_trim(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyLong_FromLongLong(tn_memory_trim());
}

/* Numbers of devices: -1 is the current one. */
static PyMethodDef py_cuda_functions[] = {
    {"_cuda_load", py_cuda_load, METH_O, NULL},
    {"_cuda_state", py_cuda_state, METH_NOARGS, "(devices found, whether one was asked for)"},
    {"_cuda_forked", py_cuda_fork, METH_NOARGS, "in the child of a process that had devices"},
    {"_cuda_index", py_cuda_index, METH_O, "the number of a device that is there"},
    {"_cuda_wait", py_cuda_wait, METH_O, NULL},
    {"_cuda_memory", py_cuda_memory, METH_O, 
     "(in use, at most, reserved, calls of the driver, reserved at most, limit)"},
    {"_cuda_limit", py_cuda_limit, METH_VARARGS, "at most so many bytes are reserved; 0: no limit"},
    {"_cuda_snapshot", py_cuda_snapshot, METH_O, "[(segment, address, bytes, in use), ..]"},
    {"_cuda_reset_peak", py_cuda_reset_peak, METH_O, NULL},
    {"_cuda_properties", py_cuda_properties, METH_O, NULL},
    {"_memory_trim", py_cuda_trim, METH_NOARGS, "gives back what is kept for reuse: bytes"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_cuda_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_cuda_functions);
}
