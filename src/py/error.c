/* error.c - the library's errors as Python's exceptions, lines of Python code as places, Ctrl-C.
 *
 * The tape keeps for each call a place that costs no search: the code object and the offset of the
 * instruction. It becomes a line only where a text is made of it. */
#include "py.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#endif

/* --- exceptions ------------------------------------------------------------------------------- */

/* Whether a function of C is named here: tn_item: .. at the start, tn_reshape(..) further on. */
static bool py_raise_names(const char *message, const char *at) {
    if (strncmp(at, "tn_", 3)) return false;
    if (at == message) return true;
    return at[-1] == ' ' && at[strspn(at, "_abcdefghijklmnopqrstuvwxyz0123456789")] == '(';
}

enum { PY_WORDS = 640, PY_ROW_NAME = 64 }; /* longer names of rows stay as they are */

/* Whether a row is named here: "in max_dim(..", "called by cross_entropy", "forward call: mul". */
static bool py_raise_calls(const char *message, const char *at) {
    static const char *const before[] = {"\n  in ", ", called by ",
                                         "\n  forward call: ", "the gradient of "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const size_t n = strlen(before[i]);
        if ((size_t)(at - message) >= n && !memcmp(at - n, before[i], n)) return true;
    }
    return false;
}

/* The name of a row, which begins at `from`, as Python spells it: "max" of "max_dim". Returns the
 * end of the row's name. */
static const char *py_raise_row(const char *from, char **to) {
    const size_t n = strspn(from, "_abcdefghijklmnopqrstuvwxyz0123456789");
    char name[PY_ROW_NAME];
    const tn_row *row;
    for (size_t k = n; k && k + 1 >= n && k < sizeof name; k--) { /* with and without a last _ */
        snprintf(name, sizeof name, "%.*s", (int)k, from);
        if (!(row = tn_row_named(name))) continue;
        const size_t length = strcspn(row->schema, ".(");
        if (length >= sizeof name) return from;
        memcpy(*to, row->schema, length);
        *to += length;
        return from + (row->schema[length - 1] == '_' ? n : k);
    }
    return from;
}

/* Messages in torch's words, which call dtypes by another name: Float is float32. */
static bool py_raise_is_typed(const char *message) {
    static const char *const said[] = {
        "t be cast to the desired output type", "scalar type", "must have the same dtype, got",
        "Index put requires the source",        "same dtype",  "same dtypes but"};
    const char *line = strchr(message, '\n');
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *at = strstr(message, said[i]);
        if (at && (!line || at < line)) return true;
    }
    return false;
}

/* The dtype whose name begins at `from`, as torch calls it. Returns the end of the name. */
static const char *py_raise_dtype(const char *from, char **to) {
    static const char *const names[][2] = {{"float32", "Float"},
                                           {"float64", "Double"},
                                           {"float16", "Half"},
                                           {"bfloat16", "BFloat16"},
                                           {"complex64", "ComplexFloat"},
                                           {"uint8", "Byte"},
                                           {"complex128", "ComplexDouble"},
                                           {"int64", "Long"},
                                           {"int32", "Int"},
                                           {"int16", "Short"},
                                           {"int8", "Char"},
                                           {"bool", "Bool"}};
    const size_t n = strspn(from, "_abcdefghijklmnopqrstuvwxyz0123456789");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i][0]) != n || memcmp(from, names[i][0], n)) continue;
        *to += snprintf(*to, 16, "%s", names[i][1]);
        return from + n;
    }
    memcpy(*to, from, n);
    *to += n;
    return from + n;
}

/* The message with Python's names of functions, behind torch's words; *type: its class. */
static PyObject *py_raise_text(const char *message, PyObject **type) {
    char words[PY_WORDS], *text, *to;
    const size_t begin = py_words_of(message, words, sizeof words, type);
    bool typed = py_raise_is_typed(message);
    /* room for the longest spelling of each name; that of a dtype is at most a third longer */
    size_t room = begin + strlen(message) * 3 / 2 + 16;
    for (const char *at = message; *at; at++)
        if (py_raise_calls(message, at)) room += PY_ROW_NAME;
    if (!(text = (char *)py_get(room, 1))) return PyErr_NoMemory();
    memcpy(text, words, begin);
    to = text + begin;
    for (const char *from = message; *from; from++) {
        if (typed) from = py_raise_dtype(from, &to);
        if (*from == '\n') typed = false;
        if (py_raise_calls(message, from)) from = py_raise_row(from, &to);
        if (!*from) break;
        if (py_raise_names(message, from))
            from += 2;
        else
            *to++ = *from;
    }
    PyObject *o = PyUnicode_DecodeUTF8(text, to - text, "replace");
    py_give(text);
    return o;
}

/* The class of each code: one of Python's, or a new one of this module, as _C.NAME and at a place
 * below torch, a RuntimeError and of `base`. A code without a line is a RuntimeError. */
static struct py_raise_class {
    tn_code code;
    const char *name, *place, *base; /* place NULL: the class is Python's */
    PyObject *type;
} py_raise_classes[] = {
    {TN_INDEX, "IndexError", NULL, NULL, NULL},
    {TN_MEMORY, "OutOfMemoryError", "OutOfMemoryError", "MemoryError", NULL},
    {TN_UNSUPPORTED, "NotImplementedError", NULL, NULL, NULL},
    {TN_FILE, "OSError", NULL, NULL, NULL},
    {TN_CANCELLED, "KeyboardInterrupt", NULL, NULL, NULL},
    {TN_LINALG, "_LinAlgError", "linalg.LinAlgError", "RuntimeError", NULL},
};
enum { RAISE_CLASSES = sizeof py_raise_classes / sizeof *py_raise_classes };

/* The class of a line: Python's, or a new one below it, published as
 * torch.linalg.LinAlgError, say. */
static bool py_raise_make(struct py_raise_class *c, PyObject *module, PyObject *builtins) {
    char name[64];
    c->type = PyObject_GetAttrString(builtins, c->base ? c->base : c->name);
    if (!c->type || !c->place) return c->type != NULL;
    PyObject *base = c->type, *bases = base == PyExc_RuntimeError
                                           ? PyTuple_Pack(1, base)
                                           : PyTuple_Pack(2, base, PyExc_RuntimeError);
    snprintf(name, sizeof name, "torch._C.%s", c->name);
    c->type = bases ? PyErr_NewException(name, bases, NULL) : NULL;
    Py_XDECREF(bases);
    Py_DECREF(base);
    return c->type && !PyModule_AddObjectRef(module, c->name, c->type) &&
           (!strchr(c->place, '.') || py_place(module, c->place, strlen(c->place), c->type));
}

PY_PRIV int py_errors_begin(PyObject *module) {
    PyObject *builtins = PyImport_ImportModule("builtins");
    bool ok = builtins != NULL;
    for (size_t i = 0; ok && i < RAISE_CLASSES; i++)
        ok = py_raise_make(&py_raise_classes[i], module, builtins);
    Py_XDECREF(builtins);
    return ok ? 0 : -1;
}

PY_PRIV PyObject *py_raise(void) {
    tn_error_info info;
    PyObject *type = PyExc_RuntimeError;
    /* a failure without an error would be a fault of this shim: SystemError says so */
    if (!tn_error_take(&info)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an error");
        return NULL;
    }
    if (PyErr_Occurred()) return NULL; /* from a hook, say: the library's error came of it */
    for (size_t i = 0; i < RAISE_CLASSES; i++)
        if (py_raise_classes[i].code == info.code) type = py_raise_classes[i].type;
    PyObject *text = py_raise_text(info.message, &type);
    if (text) PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

/* A code object that was recorded. It stays for the rest of the process, as tape nodes hold `file`.
 * So there are as many as a program has, and no more where it makes code all the time: then sites
 * are files alone, and lines are looked up at once. */
typedef struct py_site {
    PyObject *code; /* counted; NULL: a file */
    bool ours;      /* code of the package, which no user wants to see */
    char file[1];   /* the place's file, NUL-terminated */
} py_site;

enum { SITES_MOST = 1024, SITE_FILES_MOST = 256 };

static struct {
    py_site **at; /* by hash of the code's address; a power of two */
    size_t room, used;
    py_site *last;
    py_site *file[SITE_FILES_MOST];
    int nfiles;
    char package[1024]; /* directory of the package, with a slash at its end */
    int (*instruction)(PyFrameObject *frame); /* its offset; NULL: unknown here */
} py_lines;

/* Where the site of a code object is, or would go: linear probing. */
static size_t py_lines_slot(const PyObject *code) {
    /* the address times 2^64 over the golden ratio (Knuth): low bits are alignment */
    size_t i = (size_t)((uintptr_t)code >> 4) * 11400714819323198485u;
    i ^= i >> 32;
    for (i &= py_lines.room - 1; py_lines.at[i] && py_lines.at[i]->code != code;)
        i = (i + 1) & (py_lines.room - 1);
    return i;
}

/* Twice the room; false without memory, and the table stays as it was. */
static bool py_lines_grow(void) {
    size_t old = py_lines.room, room = old ? 2 * old : 256;
    py_site **before = py_lines.at, **at = (py_site **)py_get(room, sizeof *at);
    if (!at) return false;
    py_lines.at = at;
    py_lines.room = room;
    /* open addressing has no removal, so each site is put in anew */
    for (size_t i = 0; i < old; i++)
        if (before[i]) py_lines.at[py_lines_slot(before[i]->code)] = before[i];
    py_give(before);
    return true;
}

/* A site of a code object, or of a file (code NULL). It is never freed. */
static py_site *py_lines_new(PyObject *code, const char *file) {
    size_t n = strlen(file) + 1;
    py_site *s = (py_site *)py_get(sizeof *s + n, 1);
    if (!s) return NULL;
    /* counted for good, so that its address is never that of another code object */
    s->code = Py_XNewRef(code);
    memcpy(s->file, file, n);
    s->ours = py_lines.package[0] && !strncmp(file, py_lines.package, strlen(py_lines.package));
    return s;
}

/* The site of a file; NULL without room for one more. */
static py_site *py_lines_file(const char *file) {
    for (int i = py_lines.nfiles; i--;)
        if (!strcmp(py_lines.file[i]->file, file)) return py_lines.file[i];
    py_site *s = py_lines.nfiles < SITE_FILES_MOST ? py_lines_new(NULL, file) : NULL;
    return s ? py_lines.file[py_lines.nfiles++] = s : NULL;
}

/* A site for a code object that has none yet; NULL: no memory, and no exception. */
static py_site *py_lines_add(PyObject *code) {
    PyObject *name = PyObject_GetAttrString(code, "co_filename");
    const char *file = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    py_site *s = NULL;
    if (file && py_lines.used >= SITES_MOST)
        s = py_lines_file(file);
    else if (file && (2 * py_lines.used < py_lines.room || py_lines_grow()) &&
             (s = py_lines_new(code, file)) != NULL)
        py_lines.at[py_lines_slot(code)] = s, py_lines.used++;
    Py_XDECREF(name);
    /* a place is for messages: without memory there is none, and no exception */
    PyErr_Clear();
    return s;
}

/* The site of a code object, made at first need. */
static py_site *py_lines_site(PyObject *code) {
    /* a loop calls from one code object again and again */
    if (py_lines.last && py_lines.last->code == code) return py_lines.last;
    py_site *s = py_lines.room ? py_lines.at[py_lines_slot(code)] : NULL;
    if (!s) s = py_lines_add(code);
    if (s && s->code) py_lines.last = s;
    return s;
}

/* The line for the tape: an instruction of a code object that stays, or the line itself. */
static int py_lines_number(const py_site *s, PyFrameObject *frame) {
    /* -1 is no place, so instruction k is -2 - k; units of two bytes */
    if (s->code && py_lines.instruction) return -2 - py_lines.instruction(frame) / 2;
    int line = PyFrame_GetLineNumber(frame);
    return line < 0 ? 0 : line;
}

PY_PRIV void py_here(const char **file, int *line) {
    /* borrowed in the limited API, so held while its f_back are walked */
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    *file = NULL;
    *line = 0;
    Py_XINCREF(frame);
    while (frame && frame != Py_None) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *next;
        py_site *s = code ? py_lines_site(code) : NULL;
        Py_XDECREF(code);
        /* the first frame outside of the package is the user's line */
        if (s && !s->ours) {
            *file = s->file;
            *line = py_lines_number(s, (PyFrameObject *)frame);
            break;
        }
        next = PyObject_GetAttr(frame, py.f_back);
        if (!next) PyErr_Clear();
        Py_DECREF(frame);
        frame = next;
    }
    Py_XDECREF(frame);
}

PY_PRIV bool py_here_is_ours(void) {
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *code = frame ? (PyObject *)PyFrame_GetCode((PyFrameObject *)frame) : NULL;
    const py_site *s = code ? py_lines_site(code) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(frame);
    return s && s->ours;
}

/* The line of an instruction: code.co_lines() gives (first, end, line) by offset. */
static int py_lines_of_code(PyObject *code, long offset) {
    PyObject *all = PyObject_CallMethod(code, "co_lines", NULL), *one;
    int line = 0;
    while (all && !line && (one = PyIter_Next(all)) != NULL) {
        /* a line may be None: code without a source line */
        long part[3] = {0, 0, 0};
        for (Py_ssize_t i = 0; i < 3; i++) {
            PyObject *o = PyTuple_GetItem(one, i);
            if (o && o != Py_None) part[i] = PyLong_AsLong(o);
        }
        if (offset >= part[0] && offset < part[1]) line = (int)part[2];
        Py_DECREF(one);
    }
    Py_XDECREF(all);
    return line;
}

/* A line for an instruction of a place, for the library. In any thread, and with an exception
 * set perhaps, which stays. */
static int py_decode(const char *file, int line) {
    /* `file` is a member of the site, so its address leads to it */
    const py_site *s = (const py_site *)(const void *)(file - offsetof(py_site, file));
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    line = py_lines_of_code(s->code, (-2 - (long)line) * 2);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return line;
}

/* PyFrame_GetLasti is not in the limited API: found in the interpreter where that exports it. */
static void py_lines_find(void) {
#if !defined(_WIN32)
    void *here = dlopen(NULL, RTLD_LAZY), *found = here ? dlsym(here, "PyFrame_GetLasti") : NULL;
    memcpy(&py_lines.instruction, &found, sizeof found);
    if (here) dlclose(here);
#endif
}

PY_PRIV bool py_lines_begin(const char *package) {
    py_lines_find();
    tn_set_line_decoder(py_decode);
    snprintf(py_lines.package, sizeof py_lines.package, "%s", package);
    return true;
}

/* --- calls that last -------------------------------------------------------------------------- */

/* While some call lasts, SIGINT does what it did before, and asks the context to stop. Who is
 * stopped asks Python whether that was meant for it; where not, the call is made again. */
#if !defined(_WIN32)
static struct {
    int calls; /* that last; under the GIL */
    struct sigaction before;
    tn_context *context;
    volatile sig_atomic_t asked;
} py_interrupt;
static __thread int py_interrupt_mine; /* calls of this thread that last */

/* The handler: only what is safe in a signal. tn_cancel sets a flag; then Python's own handler
 * notes the signal. */
static void py_interrupt_seen(int number) {
    py_interrupt.asked = 1;
    tn_cancel(py_interrupt.context);
    if (py_interrupt.before.sa_handler != SIG_DFL && py_interrupt.before.sa_handler != SIG_IGN)
        py_interrupt.before.sa_handler(number);
}

/* A call that lasts begins, with the GIL. The first one watches SIGINT. */
static void py_interrupt_begin(void) {
    struct sigaction now;
    py_interrupt_mine++;
    /* one handler serves all calls that last */
    if (py_interrupt.calls++) return;
    py_interrupt.context = tn_context_current();
    memset(&now, 0, sizeof now);
    now.sa_handler = py_interrupt_seen;
    sigemptyset(&now.sa_mask);
    sigaction(SIGINT, NULL, &py_interrupt.before);
    if (py_interrupt.before.sa_handler == SIG_DFL || py_interrupt.before.sa_handler == SIG_IGN ||
        py_interrupt.before.sa_flags & SA_SIGINFO)
        py_interrupt.context = NULL; /* Python does not watch: leave it as it is */
    else
        sigaction(SIGINT, &now, NULL);
}

/* SIGINT as it was, unless the program has given it another handler meanwhile. */
static void py_interrupt_restore(void) {
    struct sigaction now;
    if (py_interrupt.context && !sigaction(SIGINT, NULL, &now) &&
        now.sa_handler == py_interrupt_seen)
        sigaction(SIGINT, &py_interrupt.before, NULL);
    /* the request was for calls that have ended */
    if (py_interrupt.asked) tn_cancel_clear(py_interrupt.context);
    py_interrupt.asked = 0;
}

static void py_interrupt_end(void) {
    py_interrupt_mine--;
    if (--py_interrupt.calls == 0) py_interrupt_restore();
}

/* In the child of a fork the calls of other threads are gone. */
static void py_forked(void) {
    bool others = py_interrupt.calls > py_interrupt_mine;
    py_interrupt.calls = py_interrupt_mine;
    if (others && !py_interrupt.calls) py_interrupt_restore();
    py_draw_forked();
}
PY_PRIV void py_fork_watch(void) { pthread_atfork(NULL, NULL, py_forked); }
#else
static void py_interrupt_begin(void) {}
static void py_interrupt_end(void) {}
PY_PRIV void py_fork_watch(void) {}
#endif

PY_PRIV py_long py_long_begin(void) {
    py_long l;
    /* with the GIL, which guards its counts */
    py_interrupt_begin();
    l.state = PyEval_SaveThread();
    return l;
}

PY_PRIV void py_long_end(py_long l) {
    PyEval_RestoreThread(l.state);
    py_interrupt_end();
}

PY_PRIV bool py_long_under_way(void) {
#if !defined(_WIN32)
    return py_interrupt.calls != 0;
#else
    return false;
#endif
}

PY_PRIV py_inside py_inside_begin(void) {
    py_inside i;
    i.state = PyGILState_Ensure();
    /* a backward that may not be stopped holds requests back; calls of the hook heed them */
    i.paused = py_long_under_way() ? 0 : tn_whole_pause();
    return i;
}

PY_PRIV void py_inside_end(py_inside i) {
    if (i.paused) tn_whole_resume(i.paused);
    PyGILState_Release(i.state);
}

PY_PRIV bool py_stopped(void) {
    tn_error_info info;
    if (!tn_error_peek(&info) || info.code != TN_CANCELLED || PyErr_Occurred()) return false;
    /* runs Python's handler: KeyboardInterrupt, or a handler of the program's that goes on */
    if (PyErr_CheckSignals()) return false;
    tn_error_take(NULL);
    PyEval_RestoreThread(PyEval_SaveThread()); /* whose call was meant may need the GIL to end */
    return true;
}
