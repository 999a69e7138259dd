/* wrap.c - a tensor and its one Python object, the wrapper: its life, the hooks it knows, and
 * tensors that wrappers have given up while a call may still read them.
 *
 * A wrapper without attributes is not tracked by the collector: it can be part of no cycle. One
 * with attributes, or of a subclass, that C code outlives (a gradient, a module's part) goes over
 * to the tensor when Python drops it, and comes back with the next py_wrap. Until then nothing else
 * leads to it: weak references to it have ended, and the collector does not know it. */
#include "py.h"

/* --- wrappers --------------------------------------------------------------------------------- */

/* Wrappers to be used again. Each keeps a reference to its class and one to itself, which its next
 * user takes over. */
enum { FREE_MOST = 256 };
static struct {
    py_tensor *at[FREE_MOST];
    int n;
} py_free_wrappers;

PY_PRIV PyObject *py_wrap_as(PyTypeObject *type, tn_tensor *t) {
    py_tensor *p;
    if (!t) return py_raise();
    if (type == py.tensor && py_free_wrappers.n) {
        /* its class and its count of itself are as py_tensor_dealloc left them */
        p = py_free_wrappers.at[--py_free_wrappers.n];
    } else if (type == py.tensor) {
        /* made for the collector but not tracked yet: it has no attributes */
        p = PyObject_GC_New(py_tensor, type);
    } else {
        p = (py_tensor *)PyType_GenericAlloc(type, 0); /* tracked: it may have anything */
    }
    /* the count of t is taken in either case */
    if (!p) return tn_release(t), NULL;
    p->t = t;
    p->dict = p->weak = NULL;
    p->hooks = NULL;
    p->kept = false;
    p->parts = 0;
    p->tracked = type != py.tensor;
    /* no release function: the wrapper owns the tensor, not the other way round */
    tn_set_binding(t, p, NULL);
    return (PyObject *)p;
}

PY_PRIV PyObject *py_wrap(tn_tensor *t) { return py_wrap_as(py.tensor, t); }

/* The class of sparse tensors; the import registers it. NULL with an exception. */
static PyTypeObject *py_wrap_sparse(void) {
    PyObject *m = py.sparse ? NULL : PyImport_ImportModule("tensorh._sparse");
    Py_XDECREF(m);
    if (!py.sparse && !PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "tensorh._sparse has no class");
    return py.sparse;
}
PY_PRIV PyObject *py_wrap_any(tn_tensor *t) {
    PyTypeObject *type = py.tensor;
    if (t && tn_sparse_layout(t) != TN_STRIDED && !(type = py_wrap_sparse()))
        return tn_release(t), NULL;
    return py_wrap_as(type, t);
}

PY_PRIV PyObject *py_wrap_borrowed(tn_tensor *t) {
    PyObject *known = t ? (PyObject *)tn_binding(t) : NULL;
    if (known) return py_wrap_known(t, known);
    return t ? py_wrap_any(tn_retain(t)) : Py_NewRef(Py_None);
}

/* --- hooks and their wrapper ------------------------------------------------------------------ */

/* The tape owns a hook: it runs though every wrapper is gone. A hook whose function reaches its own
 * tensor is a cycle that leads through the tape, which the collector cannot see; so the wrapper
 * visits the hooks in place of the tape where nobody else leads to them: when it has the only count
 * of its tensor, and that the only one of the call that made it. A built-in module that has the
 * wrapper among its parameters has a count more, and goes with it. */

PY_PRIV int py_hooks_visit(const py_tensor *p, visitproc visit, void *arg) {
    /* the wrapper's own count, and those of the library's modules that have the wrapper as
     * a part */
    const int64_t own = 1 + (int64_t)p->parts;
    /* while another thread runs a backward, counts change without the GIL */
    if (p->kept || !p->t || tn_owners(p->t) != own || py_long_under_way()) return 0;
    for (py_hook *h = p->hooks; h; h = h->next)
        if (!h->history || tn_history_only(h->history, p->t)) Py_VISIT((PyObject *)h);
    return 0;
}

PY_PRIV void py_hooks_part(py_tensor *p) {
    while (p->hooks) {
        py_hook *h = p->hooks;
        p->hooks = h->next;
        /* the tape still owns h: it runs, and knows no wrapper */
        h->on = NULL;
        h->next = NULL;
    }
}

PY_PRIV void py_hook_unlink(py_hook *h) {
    if (!h->on) return;
    struct py_hook **at = &h->on->hooks;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    h->on = NULL;
    h->next = NULL;
}

/* --- wrappers that C outlives ----------------------------------------------------------------- */

/* Idempotent: the collector must not get an object twice. */
PY_PRIV void py_tensor_track(py_tensor *p) {
    if (p->tracked) return;
    p->tracked = true;
    PyObject_GC_Track((PyObject *)p);
}

/* The tensor owns the wrapper: p->t is borrowed then, and p->kept says so. */
static void py_tensor_binding_release(void *object) {
    PyGILState_STATE state = PyGILState_Ensure();
    py_tensor *p = (py_tensor *)object;
    p->t = NULL;
    Py_DECREF((PyObject *)p);
    PyGILState_Release(state);
}

PY_PRIV PyObject *py_wrap_known(tn_tensor *t, PyObject *known) {
    py_tensor *p = (py_tensor *)known;
    if (!p->kept) return Py_NewRef(known);
    tn_set_binding(t, p, NULL); /* Python owns the wrapper again, with the count it had */
    tn_retain(t);
    p->kept = false;
    py_tensor_track(p);
    return known;
}

/* Gives the wrapper, of which Python has nothing left, to the tensor, if it is worth keeping and
 * somebody else has the tensor. */
static bool py_tensor_keep(py_tensor *p) {
    bool plain =
        Py_TYPE((PyObject *)p) == py.tensor && (!p->dict || !PyDict_Size(p->dict)) && !p->hooks;
    if (plain || !p->t || tn_owners(p->t) < 2) return false;
    if (!tn_set_binding(p->t, p, py_tensor_binding_release)) return tn_error_take(NULL), false;
    /* from refcount 0 back to 1, the tensor's: nothing of the wrapper has been freed yet */
    Py_INCREF((PyObject *)p);
    p->kept = true;
    p->tracked = false;
    /* the wrapper's count: p->t is borrowed from now on */
    tn_release(p->t);
    return true;
}

/* Ends the weak references to a wrapper of which Python has nothing left. Their callbacks may look
 * at the tensor: they get another wrapper then, and this one has no tensor more. */
static void py_tensor_forget(py_tensor *p) {
    if (p->t) tn_set_binding(p->t, NULL, NULL);
    PyObject_ClearWeakRefs((PyObject *)p);
    if (p->t && !tn_binding(p->t)) {
        tn_set_binding(p->t, p, NULL);
    } else if (p->t) {
        tn_release(p->t);
        p->t = NULL;
    }
}

/* tp_dealloc: the wrapper goes to its tensor (py_tensor_keep), to the free list, or for good. */
static void py_tensor_dealloc(PyObject *self) {
    py_tensor *p = (py_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    tn_tensor *t;
    /* first of all: the collector may not see a half-freed object */
    if (p->tracked || type != py.tensor) PyObject_GC_UnTrack(self);
    if (TNI_UNLIKELY(p->weak != NULL)) py_tensor_forget(p);
    if (TNI_UNLIKELY(p->dict || p->hooks || type != py.tensor) && py_tensor_keep(p)) return;
    if (p->hooks) py_hooks_part(p);
    if ((t = p->t) != NULL) {
        /* before anything that runs Python code: a finalizer finds a tensor without wrapper */
        p->t = NULL;
        tn_set_binding(t, NULL, NULL);
    }
    Py_CLEAR(p->dict);
    if (t) tn_release(t);
    if (TNI_LIKELY(type == py.tensor && py_free_wrappers.n < FREE_MOST)) {
        /* to the free list: one count of itself, and its class keeps the count that it has */
        Py_INCREF(self);
        py_free_wrappers.at[py_free_wrappers.n++] = p;
        return;
    }
    /* limited API: tp_free through its slot; an instance of a heap type has a count of the type */
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* What the collector may follow: the class (since 3.9 instances of heap types visit it),
 * attributes, hooks. */
static int py_tensor_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_tensor *)self)->dict);
    return ((py_tensor *)self)->hooks ? py_hooks_visit((py_tensor *)self, visit, arg) : 0;
}

/* Breaks a cycle: attributes alone, as hooks belong to the tape. */
static int py_tensor_clear(PyObject *self) {
    Py_CLEAR(((py_tensor *)self)->dict);
    return 0;
}

/* The first attribute makes the wrapper a possible part of a cycle. */
static int py_tensor_setattr(PyObject *self, PyObject *name, PyObject *value) {
    int bad = PyObject_GenericSetAttr(self, name, value);
    if (((py_tensor *)self)->dict) py_tensor_track((py_tensor *)self);
    return bad;
}

/* --- tensors that wrappers have given up ------------------------------------------------------ */

static struct {
    tn_tensor **at;
    size_t n, room;
} py_retired[2]; /* by the turn in which they were given up */

/* Gives up a count of t: now, or when the calls that may read t have ended. */
PY_PRIV void py_retire(tn_tensor *t) {
    /* no call is under way: nobody can know t by its address alone */
    if (!py_lending()) {
        tn_release(t);
        return;
    }
    if (py_retired[py.turn].n == py_retired[py.turn].room) {
        size_t room = 2 * py_retired[py.turn].room + 16;
        tn_tensor **at = (tn_tensor **)py_get_again(py_retired[py.turn].at, room, sizeof *at);
        if (!at) return; /* it stays for good: nobody may fail here */
        py_retired[py.turn].at = at;
        py_retired[py.turn].room = room;
    }
    py_retired[py.turn].at[py_retired[py.turn].n++] = t;
    py.retired = true;
    /* the other turn has neither calls nor tensors: calls from now on count there, so this one
     * can end */
    if (!py.lending[!py.turn] && !py_retired[!py.turn].n) py.turn = !py.turn;
}

PY_PRIV bool py_retire_memory(tn_tensor *t) {
    /* another header over the same memory keeps it */
    tn_tensor *alias = py_lending() ? tnp_detach(t) : NULL;
    if (alias) py_retire(tn_take(alias));
    return alias || !py_lending();
}

PY_PRIV bool py_retired_has(const tn_tensor *t) {
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < py_retired[turn].n; i++)
            if (py_retired[turn].at[i] == t) return true;
    return false;
}

/* What was retired in the turn before, whose calls have all ended; then that turn comes again. The
 * end of a tensor may run Python code, and this. */
PY_PRIV void py_retired_release(void) {
    for (int before = !py.turn; !py.lending[before]; before = !py.turn) {
        while (py_retired[before].n && py.turn != before)
            tn_release(py_retired[before].at[--py_retired[before].n]);
        if (py.turn == before) continue;
        if (!py_retired[py.turn].n) break;
        py.turn = before;
    }
    py.retired = py_retired[0].n || py_retired[1].n;
}

PY_PRIV int py_wrap_slots(PyType_Slot *to) {
    const PyType_Slot slots[] = {{Py_tp_dealloc, (void *)py_tensor_dealloc},
                                 {Py_tp_traverse, (void *)py_tensor_traverse},
                                 {Py_tp_clear, (void *)py_tensor_clear},
                                 {Py_tp_setattro, (void *)py_tensor_setattr}};
    memcpy(to, slots, sizeof slots);
    return 4;
}
