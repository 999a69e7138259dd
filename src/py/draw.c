/* draw.c - one thread draws at a time: generators have no lock of their own, and threads of Python
 * share them. */
#include "py.h"

static struct {
    PyThread_type_lock lock;
    unsigned long owner; /* while depth > 0; both under the GIL */
    int depth;
} py_drawing;

/* With the GIL, which is let go while another thread draws. */
PY_PRIV void py_draw_begin(void) {
    unsigned long here = PyThread_get_thread_ident();
    if (!py_drawing.depth || py_drawing.owner != here) {
        /* without waiting first: nearly always nobody draws */
        if (!PyThread_acquire_lock(py_drawing.lock, NOWAIT_LOCK)) {
            /* the owner needs the GIL to end its call */
            PyThreadState *state = PyEval_SaveThread();
            PyThread_acquire_lock(py_drawing.lock, WAIT_LOCK);
            PyEval_RestoreThread(state);
        }
        py_drawing.owner = here;
    }
    py_drawing.depth++;
}

PY_PRIV void py_draw_end(void) {
    if (--py_drawing.depth == 0) PyThread_release_lock(py_drawing.lock);
}

PY_PRIV bool py_draw_start(void) {
    py_drawing.lock = PyThread_allocate_lock();
    return py_drawing.lock != NULL;
}

/* In the child of a fork: whoever drew in another thread is gone. */
PY_PRIV void py_draw_forked(void) {
    if (py_drawing.depth && py_drawing.owner == PyThread_get_thread_ident()) return;
    /* the old one stays locked by a thread that does not exist here */
    PyThread_type_lock lock = PyThread_allocate_lock();
    if (lock) py_drawing.lock = lock;
    py_drawing.depth = 0;
}
