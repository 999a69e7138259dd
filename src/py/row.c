/* row.c - what Python asks of a row: its comment, its places below torch, a parameter's text.
 *
 * Comments and places are in gen/docs.inl by row index. A row registered at run time has none. */
#include "py.h"

#include "../gen/docs.inl"

PY_PRIV const char *py_row_comment(const tn_row *row) {
    const size_t known = sizeof py_docs_comment / sizeof py_docs_comment[0];
    return row->gen->index < known ? py_docs_comment[row->gen->index] : "";
}

PY_PRIV const char *py_row_places(const tn_row *row) {
    const size_t known = sizeof py_docs_place / sizeof py_docs_place[0];
    return row->gen->index < known ? py_docs_place[row->gen->index] : NULL;
}

/* Whether a row stands in a namespace alone, as its own name begins with it: linalg_cholesky is
 * neither in torch nor a method of Tensor. */
PY_PRIV bool py_row_is_apart(const tn_row *row) {
    const char *place = py_row_places(row), *name = row->schema;
    if (!place) return false;
    /* "linalg.cholesky" against "linalg_cholesky(": equal up to the end of the place */
    for (; *place == *name || (*place == '.' && *name == '_'); place++) name++;
    return *name == '(' || *name == '.';
}

PY_PRIV bool py_row_is_method(const tn_row *row) {
    const tn_param *first = row->gen->param;
    /* torch has no method of what stands in a namespace alone */
    return row->gen->nparam && !strcmp(first->name, "self") && first->type == TN_T_TENSOR &&
           !py_row_is_apart(row);
}

PY_PRIV bool py_row_creates(const tn_gen *gen) {
    /* at most one tensor, which the result imitates, and a device as the last parameter */
    return gen->nparam > 1 && gen->nfixed <= 1 && gen->param[gen->nparam - 1].type == TN_T_DEVICE;
}

PY_PRIV bool py_row_param(const tn_row *row, int i, py_param_text *to) {
    const char *at = strchr(row->schema, '(');
    memset(to, 0, sizeof *to);
    for (int k = -1; at && *at != ')';) {
        /* to the next comma outside of brackets: int[2] and default (0, 1) have commas of
         * their own */
        int depth = 0;
        size_t n = 0;
        for (at += strspn(at, "(, "); at[n] && (depth || (at[n] != ',' && at[n] != ')')); n++)
            depth += (at[n] == '(' || at[n] == '[') - (at[n] == ')' || at[n] == ']');
        /* a lone * says that keywords follow and is no parameter */
        if (*at != '*' && ++k == i) {
            size_t value = 0, name;
            /* "int dim=-1": the type before the last blank, the name, the default behind = */
            while (value < n && at[value] != '=') value++;
            for (name = value; name && at[name - 1] != ' ';) name--;
            to->type = at;
            to->ntype = name ? name - 1 : 0;
            to->value = value < n ? at + value + 1 : NULL;
            to->nvalue = value < n ? n - value - 1 : 0;
            return true;
        }
        at += n;
    }
    return false;
}
