/* stream.c - streams, events and graphs of CUDA's devices, as tensorh/cuda/streams.py and graphs.py
 * call them: capsules, which give up what they have made when nobody has them any more. */
#include "py.h"

static const char stream_name[] = "tensorh stream", event_name[] = "tensorh event",
                  graph_name[] = "tensorh graph";

/* --- capsules --------------------------------------------------------------------------------- */

/* The context may have ended before its last capsule. */
static void stream_drop(PyObject *o) {
    if (tn_context_exists()) tn_stream_free((tn_stream *)PyCapsule_GetPointer(o, stream_name));
}
static void stream_drop_event(PyObject *o) {
    if (tn_context_exists()) tn_event_free((tn_stream_event *)PyCapsule_GetPointer(o, event_name));
}
static tn_stream *stream_of(PyObject *o) {
    return (tn_stream *)PyCapsule_GetPointer(o, stream_name);
}
static tn_stream_event *stream_event_of(PyObject *o) {
    return (tn_stream_event *)PyCapsule_GetPointer(o, event_name);
}
/* s, which somebody else has; NULL: there was an error. */
static PyObject *stream_lent(tn_stream *s) {
    return s ? PyCapsule_New(s, stream_name, NULL) : py_raise();
}
static PyObject *stream_said(bool ok) { return ok ? Py_NewRef(Py_None) : py_raise(); }

/* The device of a number, -1: the current one; false with an exception. */
static bool stream_device_of(int index, tn_device_id *to) {
    return py_cuda_device(index < -1 || index > INT16_MAX ? INT16_MAX : index, to);
}

/* --- streams ---------------------------------------------------------------------------------- */

static PyObject *stream_new(PyObject *self, PyObject *args) {
    int index, priority;
    tn_device_id id;
    tn_stream *s;
    PyObject *o;
    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &index, &priority) || !stream_device_of(index, &id))
        return NULL;
    s = tnp_stream_new(id, priority);
    if (!s) return py_raise();
    o = PyCapsule_New(s, stream_name, stream_drop);
    if (!o) tn_stream_free(s);
    return o;
}
static PyObject *stream_default(PyObject *self, PyObject *args) {
    int index;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &index) || !stream_device_of(index, &id)) return NULL;
    return stream_lent(tn_stream_default(id));
}
static PyObject *stream_current(PyObject *self, PyObject *args) {
    int index;
    tn_device_id id;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &index) || !stream_device_of(index, &id)) return NULL;
    return stream_lent(tn_stream_current(id));
}
static PyObject *stream_use(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    return s ? stream_lent(tn_stream_use(s)) : NULL;
}
static PyObject *stream_facts(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    if (!s) return NULL;
    return Py_BuildValue("(NiLL)", py_device_of(tn_stream_device(s)), tn_stream_priority(s),
                         (long long)(intptr_t)tn_stream_handle(s), (long long)(intptr_t)s);
}
static PyObject *stream_query(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    (void)self;
    return s ? PyBool_FromLong(tn_stream_query(s)) : NULL;
}
/* Other threads of Python go on meanwhile. */
static PyObject *stream_wait(PyObject *self, PyObject *o) {
    tn_stream *s = stream_of(o);
    PyThreadState *state;
    bool ok;
    (void)self;
    if (!s) return NULL;
    state = PyEval_SaveThread();
    ok = tnp_stream_synchronize(s);
    PyEval_RestoreThread(state);
    return stream_said(ok);
}
static PyObject *stream_wait_stream(PyObject *self, PyObject *args) {
    PyObject *a, *c;
    tn_stream *s, *other;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(s = stream_of(a)) || !(other = stream_of(c)))
        return NULL;
    return stream_said(tnp_stream_wait_stream(s, other));
}
static PyObject *stream_record(PyObject *self, PyObject *args) {
    PyObject *t, *o;
    tn_stream *s;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &t, &o) || !(s = stream_of(o))) return NULL;
    if (!py_is_tensor(t)) return PyErr_SetString(PyExc_TypeError, "expected a tensor"), NULL;
    return stream_said(tnp_record_stream(py_of(t), s));
}

/* --- events ----------------------------------------------------------------------------------- */

static PyObject *stream_event_new(PyObject *self, PyObject *o) {
    const int timing = PyObject_IsTrue(o);
    if (timing < 0) return NULL;
    tn_stream_event *e = tnp_event_new(timing);
    PyObject *made;
    (void)self;
    if (!e) return py_raise();
    made = PyCapsule_New(e, event_name, stream_drop_event);
    if (!made) tn_event_free(e);
    return made;
}
/* Calls with an event and a stream. */
static PyObject *stream_both(PyObject *args, bool (*call)(tn_stream_event *, tn_stream *)) {
    PyObject *a, *c;
    tn_stream_event *e;
    tn_stream *s;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(e = stream_event_of(a)) || !(s = stream_of(c)))
        return NULL;
    return stream_said(call(e, s));
}
static bool stream_before(tn_stream_event *e, tn_stream *s) { return tnp_stream_wait_event(s, e); }
static PyObject *stream_event_record(PyObject *self, PyObject *args) {
    (void)self;
    return stream_both(args, tnp_event_record);
}
static PyObject *stream_event_before(PyObject *self, PyObject *args) {
    (void)self;
    return stream_both(args, stream_before);
}
static PyObject *stream_event_query(PyObject *self, PyObject *o) {
    tn_stream_event *e = stream_event_of(o);
    (void)self;
    return e ? PyBool_FromLong(tn_event_query(e)) : NULL;
}
static PyObject *stream_event_wait(PyObject *self, PyObject *o) {
    tn_stream_event *e = stream_event_of(o);
    PyThreadState *state;
    bool ok;
    (void)self;
    if (!e) return NULL;
    state = PyEval_SaveThread();
    ok = tnp_event_synchronize(e);
    PyEval_RestoreThread(state);
    return stream_said(ok);
}
static PyObject *stream_event_ms(PyObject *self, PyObject *args) {
    PyObject *a, *c;
    tn_stream_event *begin, *end;
    double ms;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &a, &c) || !(begin = stream_event_of(a)) ||
        !(end = stream_event_of(c)))
        return NULL;
    ms = tnp_event_elapsed_ms(begin, end);
    return tn_ok() ? PyFloat_FromDouble(ms) : py_raise();
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void stream_drop_graph(PyObject *o) {
    if (tn_context_exists()) tn_recording_free((tn_recording *)PyCapsule_GetPointer(o, graph_name));
}
static PyObject *stream_graph_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return stream_said(tn_capture_begin());
}
static PyObject *stream_graph_end(PyObject *self, PyObject *unused) {
    tn_recording *r = tn_record_end();
    PyObject *made;
    (void)self, (void)unused;
    if (!r) return py_raise();
    made = PyCapsule_New(r, graph_name, stream_drop_graph);
    if (!made) tn_recording_free(r);
    return made;
}
static PyObject *stream_graph_replay(PyObject *self, PyObject *o) {
    tn_recording *r = (tn_recording *)PyCapsule_GetPointer(o, graph_name);
    (void)self;
    return r ? stream_said(tn_replay(r)) : NULL;
}
static PyObject *stream_graph_captures(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(tn_is_capturing());
}

/* Numbers of devices: -1 is the current one. */
static PyMethodDef stream_functions[] = {
    {"_stream_new", stream_new, METH_VARARGS, "of a device's number and a priority"},
    {"_stream_default", stream_default, METH_VARARGS, "the own one of a device's number"},
    {"_stream_current", stream_current, METH_VARARGS, "the thread's of a device's number"},
    {"_stream_use", stream_use, METH_O, "makes it current; the one before"},
    {"_stream_facts", stream_facts, METH_O, "(device, priority, handle, identity)"},
    {"_stream_query", stream_query, METH_O, NULL},
    {"_stream_wait", stream_wait, METH_O, "the host waits for it"},
    {"_stream_wait_stream", stream_wait_stream, METH_VARARGS, NULL},
    {"_stream_record", stream_record, METH_VARARGS, "(tensor, stream)"},
    {"_event_new", stream_event_new, METH_O, "with or without timing"},
    {"_event_record", stream_event_record, METH_VARARGS, "(event, stream)"},
    {"_event_before", stream_event_before, METH_VARARGS, "(event, stream that waits for it)"},
    {"_event_query", stream_event_query, METH_O, NULL},
    {"_event_wait", stream_event_wait, METH_O, "the host waits for it"},
    {"_event_ms", stream_event_ms, METH_VARARGS, "from one to another"},
    {"_graph_begin", stream_graph_begin, METH_NOARGS, "the thread's calls are captured"},
    {"_graph_end", stream_graph_end, METH_NOARGS, "until here: the graph"},
    {"_graph_replay", stream_graph_replay, METH_O, NULL},
    {"_graph_captures", stream_graph_captures, METH_NOARGS, "whether the thread's calls are"},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_stream_begin(PyObject *module) {
    return PyModule_AddFunctions(module, stream_functions);
}
