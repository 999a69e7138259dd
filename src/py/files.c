/* files.c - memory of tensors as bytes for readers and writers in Python; safetensors and NumPy's
 * files.
 *
 * A file's tensors are read straight into the memory of new tensors, and written straight from it:
 * no copy lies in between. */
#include "py.h"

/* --- memory ----------------------------------------------------------------------------------- */

/* _storage_bytes(t): uint8 over the storage of t from its begin to t's last element; it keeps t. */
static PyObject *py_files_bytes(PyObject *self, PyObject *o) {
    (void)self;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
    tn_tensor *t = py_of(o), *bytes;
    int64_t end = tn_numel(t) ? tn_storage_offset(t) + 1 : 0, each = tn_dtype_bytes(tn_dtype_of(t));
    static char none[64];
    tn_wrap_options options;
    if (!py_on_cpu(t)) return PyErr_Format(PyExc_RuntimeError, "expected a tensor in CPU memory");
    /* strides are not negative, so the last element is the farthest */
    for (int i = 0; end && i < tn_ndim(t); i++) end += (tn_size(t, i) - 1) * tn_stride(t, i);
    memset(&options, 0, sizeof options);
    options.release = py_own_tensor_end;
    if (!(options.user = tn_take(tnp_detach(t)))) return py_raise(); /* t.data may be replaced */
    char *at = end ? (char *)tn_data(t) - tn_storage_offset(t) * each : none;
    end *= each;
    bytes = tn_wrap_at(NULL, 0, at, tn_ints_of(&end, 1), TN_U8, &options);
    if (bytes) return py_wrap(tn_take(bytes));
    tn_release((tn_tensor *)options.user);
    return py_raise();
}

/* _from_memory(buffer, dtype, from, numel): a tensor over a part of a buffer, which it keeps. None
 * where the part is not aligned for the dtype. */
static PyObject *py_files_from_memory(PyObject *self, PyObject *args) {
    PyObject *o, *dtype_of;
    long long from, numel;
    tn_dtype dtype;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOLL", &o, &dtype_of, &from, &numel)) return NULL;
    if (!py_to_dtype(dtype_of, &dtype))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "no dtype");
    Py_buffer *v = (Py_buffer *)py_get(1, sizeof *v);
    if (!v) return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, v, PyBUF_SIMPLE)) return py_give(v), NULL;
    int64_t each = tn_dtype_bytes(dtype), size = numel;
    tn_wrap_options options;
    PyObject *r = NULL;
    memset(&options, 0, sizeof options);
    options.release = py_own_buffer_end;
    options.user = v;
    options.read_only = v->readonly != 0;
    /* by division: a product could wrap */
    if (from < 0 || numel < 0 || from > v->len || numel > (v->len - from) / each) {
        PyErr_Format(PyExc_ValueError, "the range is outside the buffer");
    } else if (((uintptr_t)v->buf + (uintptr_t)from) % (uintptr_t)each) {
        /* the caller copies then */
        r = Py_NewRef(Py_None);
    } else {
        tn_tensor *t =
            tn_wrap_at(NULL, 0, (char *)v->buf + from, tn_ints_of(&size, 1), dtype, &options);
        if (t) return py_wrap(tn_take(t));
        py_raise();
    }
    PyBuffer_Release(v);
    py_give(v);
    return r;
}

/* _crc32c(buffer): the checksum CRC-32C of its bytes (Castagnoli's polynomial, reflected). */
static PyObject *py_files_crc32c(PyObject *self, PyObject *o) {
    Py_buffer v;
    uint32_t table[256], crc = 0xffffffffu;
    (void)self;
    if (PyObject_GetBuffer(o, &v, PyBUF_SIMPLE)) return NULL;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0x82f63b78u : 0u);
    }
    const unsigned char *at = (const unsigned char *)v.buf;
    for (Py_ssize_t i = 0; i < v.len; i++) crc = (crc >> 8) ^ table[(crc ^ at[i]) & 0xff];
    PyBuffer_Release(&v);
    return PyLong_FromUnsignedLong(crc ^ 0xffffffffu);
}

/* --- safetensors ------------------------------------------------------------------------------ */

/* What is written: names and notes are Python's texts, kept with their list. */
typedef struct py_files_save {
    tn_named *at;
    tn_note *note;
    Py_ssize_t n, nnotes;
    PyObject *kept;
} py_files_save;

/* The UTF-8 of a text, which `kept` keeps. */
static const char *py_files_text(PyObject *kept, PyObject *o, const char *what) {
    Py_ssize_t n = 0;
    const char *text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &n) : NULL;
    if (!text && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: expected str", what);
    if (text && strlen(text) != (size_t)n) {
        PyErr_Format(PyExc_ValueError, "%s: embedded null character", what);
        return NULL;
    }
    return text && !PyList_Append(kept, o) ? text : NULL;
}

/* Fills the lists of names and notes; false with an exception, and what was held so far is
 * counted in s->n. */
static bool py_files_save_fill(py_files_save *s, PyObject *tensors, PyObject *notes) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    /* not more than there was room for: __hash__ and __eq__ of keys are Python code */
    while (s->n < PyDict_Size(tensors) && PyDict_Next(tensors, &at, &key, &value)) {
        if (!py_is_tensor(value))
            return PyErr_Format(PyExc_ValueError,
                                "Key `%S` is invalid, expected torch.Tensor but "
                                "received %R",
                                key, Py_TYPE(value)),
                   false;
        if (!(s->at[s->n].name = py_files_text(s->kept, key, "a tensor's name"))) return false;
        /* held, as the GIL is released while it is written */
        s->at[s->n++].tensor = tn_retain(py_of(value));
    }
    for (at = 0; notes && PyDict_Next(notes, &at, &key, &value); s->nnotes++) {
        s->note[s->nnotes].key = py_files_text(s->kept, key, "metadata");
        if (!s->note[s->nnotes].key) return false;
        s->note[s->nnotes].value = py_files_text(s->kept, value, "metadata");
        if (!s->note[s->nnotes].value) return false;
    }
    return true;
}

/* What is to be written of dictionaries, metadata NULL or one; false with an exception. In any case
 * it is given back by py_files_save_end. */
static bool py_files_save_begin(py_files_save *s, PyObject *tensors, PyObject *notes) {
    memset(s, 0, sizeof *s);
    if (notes && !PyDict_Check(notes))
        return PyErr_Format(PyExc_TypeError, "metadata: expected a dict of str"), false;
    s->at = (tn_named *)py_get((size_t)PyDict_Size(tensors) + 1, sizeof *s->at);
    s->note = (tn_note *)py_get(notes ? (size_t)PyDict_Size(notes) + 1 : 1, sizeof *s->note);
    s->kept = PyList_New(0);
    if (s->at && s->note && s->kept) return py_files_save_fill(s, tensors, notes);
    return PyErr_NoMemory(), false;
}
static void py_files_save_end(py_files_save *s) {
    for (Py_ssize_t i = 0; i < s->n; i++) tn_release(s->at[i].tensor);
    py_give(s->at);
    py_give(s->note);
    Py_XDECREF(s->kept);
}

/* _safetensors_save(path, tensors, notes) */
static PyObject *py_files_safe_save(PyObject *self, PyObject *args) {
    PyObject *tensors, *notes, *path;
    py_files_save s;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&O!O", PyUnicode_FSConverter, &path, &PyDict_Type, &tensors,
                          &notes))
        return NULL;
    bool ok = py_files_save_begin(&s, tensors, notes == Py_None ? NULL : notes);
    if (ok) {
        do {
            py_long l = py_long_begin();
            /* a bytes object, which keeps the text */
            ok = tn_safetensors_save_at(NULL, 0, PyBytes_AsString(path), s.at, s.n, s.note,
                                        s.nnotes);
            py_long_end(l);
        } while (!ok && py_stopped());
        if (!ok) py_raise();
    }
    py_files_save_end(&s);
    Py_DECREF(path);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* {name: tensor} of a list, which is freed; after an error its exception. */
static PyObject *py_files_dict(tn_named_list list) {
    PyObject *all = list.n < 0 ? py_raise() : PyDict_New();
    for (int64_t i = 0; all && i < list.n; i++) {
        /* the list has a count, the wrapper gets its own */
        PyObject *one = py_wrap_borrowed(list.at[i].tensor);
        if (!one || PyDict_SetItemString(all, list.at[i].name, one)) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    tn_named_free(list);
    return all;
}

static PyObject *py_files_load(PyObject *o, tn_named_list (*load)(const char *file, int line,
                                                                  const char *path)) {
    PyObject *path;
    tn_named_list list;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    do {
        py_long l = py_long_begin();
        list = load(NULL, 0, PyBytes_AsString(path));
        py_long_end(l);
    } while (list.n < 0 && py_stopped());
    Py_DECREF(path);
    return py_files_dict(list);
}

/* _safetensors_load(path): {name: tensor} in the file's order. */
static PyObject *py_files_safe_load(PyObject *self, PyObject *o) {
    (void)self;
    return py_files_load(o, tn_safetensors_load_at);
}
/* _safetensors_load_index(path): {name: tensor}, file by file. */
static PyObject *py_files_safe_load_index(PyObject *self, PyObject *o) {
    (void)self;
    return py_files_load(o, tn_safetensors_load_index_at);
}

/* --- an open file ----------------------------------------------------------------------------- */

static void py_files_close(PyObject *capsule) {
    tn_safetensors_close((tn_safetensors *)PyCapsule_GetPointer(capsule, "tensorh.safetensors"));
}

/* _safetensors_open(path): a capsule, which closes the file when it goes. */
static PyObject *py_files_safe_open(PyObject *self, PyObject *o) {
    PyObject *path, *capsule;
    (void)self;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    tn_safetensors *f = tn_safetensors_open_at(NULL, 0, PyBytes_AsString(path));
    Py_DECREF(path);
    if (!f) return py_raise();
    capsule = PyCapsule_New(f, "tensorh.safetensors", py_files_close);
    if (!capsule) tn_safetensors_close(f);
    return capsule;
}

/* _safetensors_names(file) */
static PyObject *py_files_safe_names(PyObject *self, PyObject *o) {
    const tn_safetensors *f =
        (const tn_safetensors *)PyCapsule_GetPointer(o, "tensorh.safetensors");
    PyObject *all = f ? PyList_New(0) : NULL;
    (void)self;
    for (int64_t i = 0; all && i < tn_safetensors_count(f); i++) {
        PyObject *name = PyUnicode_FromString(tn_safetensors_name(f, i));
        if (!name || PyList_Append(all, name)) Py_CLEAR(all);
        Py_XDECREF(name);
    }
    return all;
}

/* _safetensors_get(file, name): a new tensor. */
static PyObject *py_files_safe_get(PyObject *self, PyObject *args) {
    PyObject *capsule;
    const char *name;
    tn_tensor *t;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &name)) return NULL;
    tn_safetensors *f = (tn_safetensors *)PyCapsule_GetPointer(capsule, "tensorh.safetensors");
    if (!f) return NULL;
    /* stopped by Ctrl-C that was somebody else's: made again */
    do t = tn_safetensors_get_at(NULL, 0, f, name);
    while (!t && py_stopped());
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* --- NumPy's files ---------------------------------------------------------------------------- */

/* A file to read: bytes in memory, or a path. */
typedef struct py_files_source {
    PyObject *path; /* bytes; NULL: a buffer */
    Py_buffer buffer;
} py_files_source;

static bool py_files_source_begin(py_files_source *s, PyObject *o) {
    s->path = NULL;
    if (PyObject_CheckBuffer(o)) return PyObject_GetBuffer(o, &s->buffer, PyBUF_SIMPLE) == 0;
    return PyUnicode_FSConverter(o, &s->path) != 0;
}
static void py_files_source_end(py_files_source *s) {
    if (s->path)
        Py_DECREF(s->path);
    else
        PyBuffer_Release(&s->buffer);
}

/* _npy_load(path or buffer): a tensor. */
static PyObject *py_files_npy_load(PyObject *self, PyObject *o) {
    py_files_source s;
    tn_tensor *t;
    (void)self;
    if (!py_files_source_begin(&s, o)) return NULL;
    do {
        py_long l = py_long_begin();
        t = s.path ? tn_load_npy_at(NULL, 0, PyBytes_AsString(s.path))
                   : tn_load_npy_memory_at(NULL, 0, s.buffer.buf, (size_t)s.buffer.len);
        py_long_end(l);
    } while (!t && py_stopped());
    py_files_source_end(&s);
    return t ? py_wrap(tn_take(t)) : py_raise();
}

/* _npz_load(path or buffer): {name: tensor} in the file's order. */
static PyObject *py_files_npz_load(PyObject *self, PyObject *o) {
    py_files_source s;
    tn_named_list list;
    (void)self;
    if (!py_files_source_begin(&s, o)) return NULL;
    do {
        py_long l = py_long_begin();
        list = s.path ? tn_load_npz_at(NULL, 0, PyBytes_AsString(s.path))
                      : tn_load_npz_memory_at(NULL, 0, s.buffer.buf, (size_t)s.buffer.len);
        py_long_end(l);
    } while (list.n < 0 && py_stopped());
    py_files_source_end(&s);
    return py_files_dict(list);
}

/* What a saving function returns: None where ok, bytes where it wrote memory. */
static PyObject *py_files_saved(bool ok, tn_bytes bytes) {
    PyObject *r = NULL;
    if (bytes.at)
        r = PyBytes_FromStringAndSize((const char *)bytes.at, (Py_ssize_t)bytes.n);
    else if (ok)
        r = Py_NewRef(Py_None);
    else
        py_raise();
    tn_bytes_free(bytes);
    return r;
}

/* _npy_save(path or None, tensor): None; bytes without a path. */
static PyObject *py_files_npy_save(PyObject *self, PyObject *args) {
    PyObject *to, *o, *path = NULL;
    tn_bytes bytes = {NULL, 0};
    bool ok = false;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &to, &o)) return NULL;
    if (!py_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
    if (to != Py_None && !PyUnicode_FSConverter(to, &path)) return NULL;
    /* held, as the GIL is released while it is written */
    tn_tensor *t = tn_retain(py_of(o));
    do {
        py_long l = py_long_begin();
        if (path)
            ok = tn_save_npy_at(NULL, 0, PyBytes_AsString(path), t);
        else
            bytes = tn_save_npy_memory_at(NULL, 0, t);
        py_long_end(l);
    } while (!ok && !bytes.at && py_stopped());
    tn_release(t);
    Py_XDECREF(path);
    return py_files_saved(ok, bytes);
}

/* _npz_save(path or None, {name: tensor}): None; bytes without a path. */
static PyObject *py_files_npz_save(PyObject *self, PyObject *args) {
    PyObject *to, *tensors, *path = NULL;
    tn_bytes bytes = {NULL, 0};
    bool ok = false;
    py_files_save s;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!", &to, &PyDict_Type, &tensors)) return NULL;
    if (to != Py_None && !PyUnicode_FSConverter(to, &path)) return NULL;
    const bool filled = py_files_save_begin(&s, tensors, NULL);
    do {
        if (!filled) break;
        py_long l = py_long_begin();
        if (path)
            ok = tn_save_npz_at(NULL, 0, PyBytes_AsString(path), s.at, s.n);
        else
            bytes = tn_save_npz_memory_at(NULL, 0, s.at, s.n);
        py_long_end(l);
    } while (!ok && !bytes.at && py_stopped());
    py_files_save_end(&s);
    Py_XDECREF(path);
    return filled ? py_files_saved(ok, bytes) : NULL;
}

/* --- tables as text --------------------------------------------------------------------------- */

/* The names of a list, which is freed. */
static PyObject *py_files_names(tn_named_list list) {
    PyObject *all = PyList_New(0);
    for (int64_t i = 0; all && i < list.n; i++) {
        PyObject *name = PyUnicode_FromString(list.at[i].name);
        if (!name || PyList_Append(all, name)) Py_CLEAR(all);
        Py_XDECREF(name);
    }
    tn_named_free(list);
    return all;
}

/* _csv_load(path, delimiter, header, dtype or None): (tensor, names of a header). */
static PyObject *py_files_csv_load(PyObject *self, PyObject *args) {
    PyObject *path, *dtype, *t_of, *names, *pair = NULL;
    tn_named_list list = {NULL, 0, 0, false};
    tn_csv_args a;
    tn_tensor *t;
    int delimiter, header;
    (void)self;
    memset(&a, 0, sizeof a);
    if (!PyArg_ParseTuple(args, "O&CiO", PyUnicode_FSConverter, &path, &delimiter, &header, &dtype))
        return NULL;
    if (delimiter < 1 || delimiter > 127)
        PyErr_Format(PyExc_ValueError, "delimiter: %c is not of ASCII", delimiter);
    else if (dtype != Py_None && !py_to_dtype(dtype, &a.dtype))
        PyErr_Format(PyExc_TypeError, "dtype: expected a dtype");
    if (PyErr_Occurred()) {
        Py_DECREF(path);
        return NULL;
    }
    a.path = PyBytes_AsString(path);
    a.delimiter = (char)delimiter;
    a.header = (tn_csv_header)header;
    a.columns = &list;
    do {
        py_long l = py_long_begin();
        t = tn_load_csv_at(NULL, 0, &a);
        py_long_end(l);
    } while (!t && py_stopped());
    Py_DECREF(path);
    if (!t) return py_raise();
    t_of = py_wrap(tn_take(t));
    names = py_files_names(list);
    if (t_of && names) pair = PyTuple_Pack(2, t_of, names);
    Py_XDECREF(t_of);
    Py_XDECREF(names);
    return pair;
}

/* --- a profile -------------------------------------------------------------------------------- */

/* _profile_begin(): calls are recorded from now on. */
static PyObject *py_files_profile_begin(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return tn_profile_begin_at(NULL, 0) ? Py_NewRef(Py_None) : py_raise();
}

/* _profile_end(path): what was recorded, as a Chrome trace. */
static PyObject *py_files_profile_end(PyObject *self, PyObject *o) {
    PyObject *path;
    (void)self;
    if (!PyUnicode_FSConverter(o, &path)) return NULL;
    bool ok = tn_profile_end_at(NULL, 0, PyBytes_AsString(path));
    Py_DECREF(path);
    return ok ? Py_NewRef(Py_None) : py_raise();
}

static PyMethodDef py_files_functions[] = {
    {"_profile_begin", py_files_profile_begin, METH_NOARGS, NULL},
    {"_profile_end", py_files_profile_end, METH_O, NULL},
    {"_crc32c", py_files_crc32c, METH_O, NULL},
    {"_storage_bytes", py_files_bytes, METH_O, NULL},
    {"_from_memory", py_files_from_memory, METH_VARARGS, NULL},
    {"_safetensors_save", py_files_safe_save, METH_VARARGS, NULL},
    {"_safetensors_load", py_files_safe_load, METH_O, NULL},
    {"_safetensors_load_index", py_files_safe_load_index, METH_O, NULL},
    {"_safetensors_open", py_files_safe_open, METH_O, NULL},
    {"_safetensors_names", py_files_safe_names, METH_O, NULL},
    {"_csv_load", py_files_csv_load, METH_VARARGS, NULL},
    {"_npy_load", py_files_npy_load, METH_O, NULL},
    {"_npy_save", py_files_npy_save, METH_VARARGS, NULL},
    {"_npz_load", py_files_npz_load, METH_O, NULL},
    {"_npz_save", py_files_npz_save, METH_VARARGS, NULL},
    {"_safetensors_get", py_files_safe_get, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

PY_PRIV int py_files_begin(PyObject *module) {
    return PyModule_AddFunctions(module, py_files_functions);
}
