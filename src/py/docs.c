/* docs.c - docstrings of rows: a signature that `inspect` reads, the row's comment, its schema.
 *
 * Everything comes from the row: names and flags from its table, defaults from its schema, the text
 * from gen/docs.inl. A row registered at run time has no comment. */
#include "py.h"

/* Text that grows; at is NULL once memory was missing. */
typedef struct py_docs_text {
    char *at;
    size_t n, room;
} py_docs_text;

/* Appends n bytes; after a failure t->at is NULL and the rest is dropped. */
static void py_docs_put_bytes(py_docs_text *t, const char *from, size_t n) {
    if (!t->at) return;
    if (t->n + n >= t->room) {
        /* twice as much each time, so that a text of n bytes costs O(n) */
        size_t room = 2 * (t->n + n) + 64;
        char *at = (char *)py_get_again(t->at, room, 1);
        if (!at) py_give(t->at);
        t->at = at;
        t->room = room;
        if (!at) return;
    }
    memcpy(t->at + t->n, from, n);
    t->n += n;
    t->at[t->n] = '\0';
}
static void py_docs_put(py_docs_text *t, const char *text) {
    py_docs_put_bytes(t, text, strlen(text));
}

/* "=3" behind a parameter, in Python's spelling: words in quotes, None for an absent default. */
static void py_docs_put_default(py_docs_text *t, const tn_row *row, int i) {
    const tn_param *p = &row->gen->param[i];
    py_param_text text;
    if (!(p->flags & TN_P_DEFAULT) && p->type != TN_T_GENERATOR) return;
    bool has = py_row_param(row, i, &text) && text.value;
    /* words and texts are bare in a schema and quoted in Python */
    bool word = has && (p->type == TN_T_ENUM || p->type == TN_T_STRING) &&
                strncmp(text.value, "None", 4) != 0 && *text.value != '\'';
    py_docs_put(t, word ? "='" : "=");
    if (has)
        py_docs_put_bytes(t, text.value, text.nvalue);
    else
        py_docs_put(t, "None");
    if (word) py_docs_put(t, "'");
}

/* What a keyword of Python is called here; it can be given by place alone. */
static const char *py_docs_reserved(const char *name) {
    return !strcmp(name, "from") ? "from_" : !strcmp(name, "lambda") ? "lambda_" : NULL;
}

/* "(a, b=1, *, c=2": what inspect.signature parses of the first line of __doc__. */
static void py_docs_put_params(py_docs_text *t, const tn_row *row, bool method, unsigned how) {
    const tn_gen *gen = row->gen;
    bool star = false, first = true;
    for (int i = 0; i < gen->nparam; i++, first = false) {
        const tn_param *p = &gen->param[i];
        const char *reserved = py_docs_reserved(p->name);
        if (!first) py_docs_put(t, ", ");
        if (p->flags & TN_P_KEYWORD && !star) py_docs_put(t, "*, ");
        star = star || p->flags & TN_P_KEYWORD;
        if (!strcmp(p->name, "self"))
            py_docs_put(t, method ? "$self" : "input");
        else
            py_docs_put(t, reserved ? reserved : p->name);
        py_docs_put_default(t, row, i);
        /* a name that Python reserves can be given by position alone */
        if (reserved) py_docs_put(t, ", /");
    }
    /* keywords that no schema has */
    bool out = gen->out_offset != UINT16_MAX && how == TN_PLAIN && !method;
    if (!out && !py_row_creates(gen)) return;
    py_docs_put(t, star ? "" : first ? "*" : ", *");
    if (out) py_docs_put(t, ", out=None");
    if (py_row_creates(gen)) py_docs_put(t, ", requires_grad=False");
}

/* The comment of the row, and its schema. */
static void py_docs_put_row(py_docs_text *t, const tn_row *row) {
    const char *comment = py_row_comment(row);
    if (*comment) {
        py_docs_put(t, comment);
        py_docs_put(t, "\n\n");
    }
    py_docs_put(t, row->schema);
}

PY_PRIV char *py_docs_of(const py_group *g, bool method) {
    py_docs_text t = {(char *)py_get(256, 1), 0, 256};
    /* CPython takes "name(signature)\n--\n\n" from the docstring's beginning
     * as __text_signature__ */
    py_docs_put(&t, g->name);
    py_docs_put(&t, "(");
    if (g->nrows == 1)
        py_docs_put_params(&t, g->row[0], method, g->how);
    else
        py_docs_put(&t, method      ? "$self, *args, **kwargs"
                        : g->method ? "input, *args, **kwargs"
                                    : "*args, **kwargs");
    py_docs_put(&t, ")\n--\n\n");
    for (int i = 0; i < g->nrows; i++) {
        if (i) py_docs_put(&t, "\n\n");
        py_docs_put_row(&t, g->row[i]);
    }
    return t.at;
}
