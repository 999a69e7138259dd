/* bind.h - the arguments of one call on their way into a row's struct: parse.c fills a py_bind,
 * call.c runs the row, fault.c says what did not fit. */
#ifndef TNI_PY_BIND_H
#define TNI_PY_BIND_H

#include "py.h"

enum { BIND_BYTES = 512, BIND_INTS = 64, BIND_TENSORS = 32, BIND_MORE = 16 };

/* What a conversion did not like; the texts are made at the end. */
typedef enum py_bind_fault {
    FAULT_NONE,
    FAULT_KIND,    /* of argument `at` */
    FAULT_COMMON,  /* of a keyword that no schema has */
    FAULT_MANY,    /* positional arguments */
    FAULT_UNKNOWN, /* keyword `at` */
    FAULT_TWICE,
    FAULT_MISSING, /* parameter `at` */
    FAULT_RAISED   /* an exception is set */
} py_bind_fault;

typedef struct py_bind {
    const tn_row *row;
    const tn_gen *gen;
    PyObject **names; /* NULL: the row's */
    union {
        double align;
        void *pointer;
        char bytes[BIND_BYTES];
    } args;
    uint64_t bound;    /* bit a parameter */
    int64_t elements;  /* of the tensors given */
    PyObject *foreign; /* borrowed: an argument with a __torch_function__ of its own */
    PyObject *given;   /* borrowed: the argument at fault */
    py_bind_fault fault;
    int at;
    int place;          /* the member of `given` at fault; -1: given itself */
    bool method, named; /* named: given came by keyword */
    bool lenient;       /* 0-dim tensors are numbers */
    bool requires_grad; /* of a row that makes a tensor of nothing */
    const char *common; /* the keyword that no schema has, and what it has to be */
    const char *common_kind;
    int64_t ints[BIND_INTS];
    double floats[BIND_TENSORS];
    tn_tensor *tensors[BIND_TENSORS];
    int nints, nfloats, ntensors, nmore, nheld;
    void *more[BIND_MORE];     /* long lists */
    PyObject *held[BIND_MORE]; /* members of lists, which other threads may change */
} py_bind;

TNI_INLINE void py_bind_begin(py_bind *b, const tn_row *row, bool method, bool lenient) {
    b->row = row;
    b->gen = row ? row->gen : NULL;
    b->names = NULL;
    b->bound = 0;
    b->elements = 0;
    b->fault = FAULT_NONE;
    b->given = NULL;
    b->requires_grad = false;
    b->place = -1;
    b->method = method;
    b->named = false;
    b->lenient = lenient;
    b->nints = b->nfloats = b->ntensors = b->nmore = b->nheld = 0;
}

TNI_INLINE void py_bind_end(py_bind *b) {
    for (int i = 0; i < b->nmore; i++) PyMem_Free(b->more[i]);
    for (int i = 0; i < b->nheld; i++) Py_DECREF(b->held[i]);
    b->nmore = b->nheld = 0;
}

/* The defaults, then the arguments. false: b->fault says what did not fit; to be ended in either
 * case. how: of the call, as out= is no keyword of an in-place form. */
PY_PRIV bool py_bind_fill(py_bind *b, unsigned how, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames);
PY_PRIV const char *py_bind_kind(const tn_param *p); /* what an error calls its type */

/* Exceptions for a bind that failed; each returns NULL. name: of the function. */
PY_PRIV PyObject *py_fault_raise(const py_bind *b, const char *name, Py_ssize_t nargs,
                                 PyObject *kwnames);
PY_PRIV PyObject *py_fault_overflow(const py_bind *b, const char *name);
/* Of a group none of whose rows fits: the types given, and all schemas. */
PY_PRIV PyObject *py_fault_overloads(const py_group *g, bool method, PyObject *const *args,
                                     Py_ssize_t nargs, PyObject *kwnames);

#endif
