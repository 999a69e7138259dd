/* memory.c - the shim's own memory, with sizes that may not wrap, and the allocator of tests. */
#include "py.h"

/* With TENSORH_TEST_ALLOCATOR set at import the library's memory and the shim's count down here,
 * every block of the library by a call of its own. */
static struct {
    bool on, once;
    long long left; /* until one fails, and all after it unless `once`; -1: none fails */
} py_failing = {false, false, -1};

/* Whether this allocation is to fail. No lock: exact only while one thread allocates. */
static bool py_failing_now(void) {
    if (py_failing.left > 0) {
        py_failing.left--;
        return false;
    }
    if (py_failing.left < 0) return false;
    if (py_failing.once) py_failing.left = -1;
    return true;
}

static void *py_failing_alloc(size_t bytes, void *user) {
    (void)user;
    return py_failing_now() ? NULL : malloc(bytes);
}
static void py_failing_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}

/* Makes a context with the counting allocator the default, if the environment asks for it. */
PY_PRIV bool py_failing_begin(void) {
    const char *asked = getenv("TENSORH_TEST_ALLOCATOR");
    tn_context_options options;
    if (!asked || !*asked) return true;
    memset(&options, 0, sizeof options);
    options.allocator.alloc = py_failing_alloc;
    options.allocator.free = py_failing_free;
    /* no cache: each block of the library is a call of the allocator */
    options.no_cache = true;
    options.threads = -1;
    tn_context *context = tn_context_new(&options);
    if (context) tn_context_use(context);
    py_failing.on = context != NULL;
    return py_failing.on;
}

PY_PRIV void *py_get(size_t n, size_t size) {
    if ((size && n > SIZE_MAX / size) || py_failing_now()) return NULL;
    return calloc(n ? n : 1, size);
}
PY_PRIV void *py_get_again(void *at, size_t n, size_t size) {
    if ((size && n > SIZE_MAX / size) || py_failing_now()) return NULL;
    return realloc(at, n ? n * size : 1);
}
PY_PRIV void py_give(void *at) { free(at); }

/* In any thread: the last tensor over a buffer may end in a backward. */
PY_PRIV void py_own_buffer_end(void *data, void *user) {
    PyGILState_STATE state = PyGILState_Ensure();
    (void)data;
    PyBuffer_Release((Py_buffer *)user);
    py_give(user);
    PyGILState_Release(state);
}

PY_PRIV void py_own_tensor_end(void *data, void *user) {
    (void)data;
    tn_release((tn_tensor *)user);
}

/* _fail_after(n, once): sets the count and returns the one before. */
PY_PRIV PyObject *py_inspect_fail_after(PyObject *self, PyObject *args) {
    long long left;
    int once = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "L|p", &left, &once)) return NULL;
    if (!py_failing.on)
        return PyErr_Format(PyExc_RuntimeError, "import with TENSORH_TEST_ALLOCATOR=1");
    long long before = py_failing.left;
    py_failing.left = left < 0 ? -1 : left;
    py_failing.once = once != 0;
    return PyLong_FromLongLong(before);
}
