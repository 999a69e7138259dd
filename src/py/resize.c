/* resize.c - torch gives a tensor of another shape that is passed as out= the result's, with a
 * warning if it had elements. The library refuses such a call before it writes anything; it is made
 * again here without the tensors, which then take what it gives. */
#include "bind.h"

typedef struct resize_call {
    tn_tensor *given[4], *made[4];
    int n;
} resize_call;

static bool resize_same_shape(const tn_tensor *a, const tn_tensor *b) {
    if (tn_ndim(a) != tn_ndim(b)) return false;
    for (int i = 0; i < tn_ndim(a); i++)
        if (tn_size(a, i) != tn_size(b, i)) return false;
    return true;
}

/* Rows of evenly spaced numbers fill any tensor of as many elements, as it lies. */
static bool resize_spaced(const tn_row *row) {
    return !strncmp(row->name, "arange", 6) || !strcmp(row->name, "linspace") ||
           !strcmp(row->name, "logspace");
}
static bool resize_fills(const tn_tensor *to, const tn_tensor *made) {
    return tn_numel(to) == tn_numel(made) && !tn_needs_grad(to) &&
           tn_device_of(to) == tn_device_of(made) && tn_dtype_of(to) == tn_dtype_of(made);
}
static bool resize_fill(tn_tensor *to, tn_tensor *made) {
    tn_tensor *shaped = tnp_view(made, tn_shape(to));
    const bool ok = shaped && tnp_copy_(to, shaped);
    tn_free(shaped);
    return ok;
}

/* Whether all given tensors can have the results' shapes, of which some are others. */
static bool resize_helps(const resize_call *c) {
    bool other = false;
    for (int k = 0; k < c->n; k++) {
        const tn_tensor *to = c->given[k], *made = c->made[k];
        if (tn_needs_grad(to) || tn_is_view(to) || tn_device_of(to) != tn_device_of(made))
            return false;
        other = other || !resize_same_shape(to, made);
    }
    return other;
}

/* Whether all given tensors can take the results' elements. */
static bool resize_fits(const resize_call *c) {
    for (int k = 0; k < c->n; k++)
        if (py_dtype_kind(tn_dtype_of(c->made[k])) > py_dtype_kind(tn_dtype_of(c->given[k])))
            return false;
    return true;
}

/* "[2, 3]"; cut where it is longer than the room. */
static void resize_text(char *to, size_t room, const tn_tensor *t) {
    size_t at = 0;
    for (int i = 0; i < tn_ndim(t) && at + 24 < room; i++)
        at +=
            (size_t)snprintf(to + at, room - at, "%s%lld", i ? ", " : "", (long long)tn_size(t, i));
    to[at] = 0;
}

static bool resize_warn(const tn_row *row, const tn_tensor *to, const tn_tensor *made) {
    char has[256], wants[256];
    const bool spaced = resize_spaced(row);
    if (!tn_numel(to) || (spaced && row->name[0] == 'l')) return true;
    resize_text(has, sizeof has, to);
    resize_text(wants, sizeof wants, made);
    if (spaced)
        return PyErr_WarnFormat(
                   PyExc_UserWarning, 1,
                   "The number of elements in the out tensor of shape [%s] is %lld which does not "
                   "match the computed number of elements %lld. Note that this may occur as a "
                   "result of rounding error. The out tensor will be resized to a tensor of shape "
                   "(%s,).",
                   has, (long long)tn_numel(to), (long long)tn_numel(made), wants) == 0;
    return PyErr_WarnFormat(
               PyExc_UserWarning, 1,
               "An output with one or more elements was resized since it had shape [%s], which "
               "does not match the required output shape [%s]. This behavior is deprecated, and in "
               "a future PyTorch release outputs will not be resized unless they have zero "
               "elements. You can explicitly reuse an out tensor t by resizing it, inplace, to "
               "zero elements with t.resize_(0).",
               has, wants) == 0;
}

/* The given tensor becomes the result: its elements are copied, or it takes their memory. */
static bool resize_take(tn_tensor *to, tn_tensor *made) {
    if (resize_same_shape(to, made)) return tnp_copy_(to, made) != NULL;
    tn_tensor *fits = tnp_to_dtype(made, tn_dtype_of(to), false, true);
    const bool ok = fits && py_retire_memory(to) && tn_set_data_at(NULL, 0, to, fits);
    tn_free(fits);
    return ok;
}

/* The call with given tensors of the right shapes, whose dtypes it sees then. If it fails they have
 * what they had. */
static bool resize_again(const tn_row *row, const void *args, resize_call *c) {
    tn_tensor *had[4] = {NULL}, *results[8];
    bool ok = true;
    for (int k = 0; ok && k < c->n; k++) {
        tn_tensor *to = c->given[k];
        tn_tensor *room = tnp_empty_like(c->made[k], tn_dtype_of(to), TN_NO_DEVICE);
        had[k] = tnp_detach(to);
        ok = room && had[k] && py_retire_memory(to) && tn_set_data_at(NULL, 0, to, room);
        tn_free(room);
    }
    ok = ok && tn_call(row, 0, NULL, 0, args, results);
    for (int k = 0; k < c->n; k++) {
        if (!ok && had[k]) tn_set_data_at(NULL, 0, c->given[k], had[k]);
        tn_free(had[k]);
    }
    return ok;
}

/* New tensors have the dtype of the given one where none is asked for. */
static void resize_dtype(const tn_gen *gen, char *args, const tn_tensor *to) {
    const tn_dtype dtype = tn_dtype_of(to);
    for (int i = 0; py_row_creates(gen) && i < gen->nparam; i++) {
        tn_dtype asked;
        if (gen->param[i].type != TN_T_DTYPE) continue;
        memcpy(&asked, args + gen->param[i].offset, sizeof asked);
        if (!asked) memcpy(args + gen->param[i].offset, &dtype, sizeof dtype);
    }
}

PY_PRIV bool py_resized(const tn_row *row, const void *args, tn_tensor **results) {
    const tn_gen *gen = row->gen;
    union {
        void *aligned;
        char bytes[BIND_BYTES];
    } without;
    resize_call c;
    tn_error_info error;
    PyObject *type, *value, *trace;
    bool ok;
    if (gen->out_offset == UINT16_MAX || gen->nresults > 4) return false;
    c.n = gen->nresults;
    memcpy(c.given, (const char *)args + gen->out_offset, (size_t)c.n * sizeof *c.given);
    if (!c.given[0]) return false;
    PyErr_Fetch(&type, &value, &trace);
    memcpy(without.bytes, args, gen->args_size);
    memset(without.bytes + gen->out_offset, 0, (size_t)c.n * sizeof *c.given);
    resize_dtype(gen, without.bytes, c.given[0]);
    const bool mode = tn_set_grad_mode(false);
    const bool called = tn_call(row, 0, NULL, 0, without.bytes, c.made);
    if (!called) tn_error_take(&error);
    const bool fills = called && resize_spaced(row) && resize_fills(c.given[0], c.made[0]);
    ok = called && (fills || resize_helps(&c));
    for (int k = 0; ok && !fills && k < c.n; k++) ok = resize_warn(row, c.given[k], c.made[k]);
    if (ok && fills)
        ok = resize_fill(c.given[0], c.made[0]);
    else if (ok && !resize_fits(&c))
        ok = resize_again(row, args, &c);
    else
        for (int k = 0; ok && k < c.n; k++) ok = resize_take(c.given[k], c.made[k]);
    if (called && !tn_ok()) py_raise();
    for (int k = 0; called && k < c.n; k++) tn_free(tn_take(c.made[k]));
    tn_set_grad_mode(mode);
    if (ok || PyErr_Occurred()) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        for (int k = 0; ok && k < c.n; k++) results[k] = c.given[k];
    } else {
        PyErr_Restore(type, value, trace);
    }
    return ok;
}
