/* forms.c - declarations and macros of a header as a reader of docs/api.md sees them. */
#include "chapters.h"

#include <ctype.h>
#include <string.h>

enum { ARGS = 24 };

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where `name` stands as a whole word; NULL: nowhere. */
static const char *word_in(const char *at, const char *name) {
    const size_t n = strlen(name);
    for (const char *from = at; (at = strstr(at, name)) != NULL; at += n)
        if (!is_name(at[n]) && (at == from || !is_name(at[-1]))) return at;
    return NULL;
}

static char *trimmed(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    return text_copy(at, (size_t)(end - at));
}

int split(const char *at, char **piece, int room) {
    int n = 0, depth = 0;
    for (const char *from = at; n < room; at++) {
        const bool end = !*at || (!depth && *at == ')');
        if (end || (!depth && *at == ',')) {
            piece[n] = trimmed(from, at);
            n += *piece[n] != 0;
            from = at + 1;
        }
        if (end) break;
        depth += *at == '(' || *at == '{';
        depth -= *at == ')' || *at == '}';
    }
    return n;
}

/* On one line, without the backslashes of a macro. */
static char *joined(const char *s) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (; *s; s++) {
        const bool blank = isspace((unsigned char)*s) || (*s == '\\' && s[1] == '\n');
        if (!blank)
            put(&t, "%c", *s);
        else if (t.n && t.at[t.n - 1] != ' ' && t.at[t.n - 1] != '(')
            put(&t, " ");
    }
    return t.at;
}

static char *wrapped(const char *line) {
    text t = {NULL, 0, 0};
    put_wrapped(&t, line, 4, "");
    return text_copy(t.at, t.n - 1);
}

/* --- functions -------------------------------------------------------------------------------- */

/* "tn_tensor *" of "TN_API tn_tensor *tn_keep(tn_tensor *t);" */
static char *result_of(const item *f) {
    const char *from = f->text + strcspn(f->text, " ") + 1, *name = word_in(f->text, f->name);
    return text_copy(from, (size_t)(name - from));
}
static int parameters_of(const item *f, char **parameter) {
    return split(strchr(joined(f->text), '(') + 1, parameter, ARGS);
}

static char *function_shown(const item *f) {
    const char *at = f->text, *hint = strstr(at, "TNI_PRINTF"), *body = NULL;
    if (starts(at, "TNI_INLINE")) body = strchr(at, '{');
    at += strcspn(at, " ") + 1;
    if (body) return text_format("%s;", wrapped(joined(trimmed(at, body))));
    if (hint) return text_format("%s;", wrapped(joined(trimmed(at, hint))));
    return strchr(at, '\n') && !strstr(at, "/*") ? wrapped(joined(at)) : text_copy(at, strlen(at));
}

/* --- macros over functions -------------------------------------------------------------------- */

typedef struct macro {
    char *parameter[ARGS], *argument[ARGS]; /* its own; those of the call in its body */
    int nparameter, narguments;
    const char *body;
    bool keywords; /* the call is a struct with options */
} macro;

/* Whether a macro's body calls f with file and line, and with what. */
static bool macro_of(const item *m, const item *f, macro *to) {
    const char *open = m->text + strlen("#define ") + strlen(m->name), *call;
    const char *base = text_copy(f->name, strlen(f->name) - strlen("_at"));
    if (*open != '(') return false;
    to->nparameter = split(open + 1, to->parameter, ARGS);
    to->body = joined(strchr(open, ')') + 1);
    call = word_in(to->body, f->name);
    to->keywords = strstr(to->body, "TNI_CALL_AS(") || strstr(to->body, "TNI_CALL(") ||
                   strstr(to->body, "_args){");
    if (!call && starts(to->body + strspn(to->body, " "), "TNI_CALL("))
        call = word_in(to->body, base);
    if (!call) return false;
    if (!to->keywords) to->narguments = split(strchr(call, '(') + 1, to->argument, ARGS);
    return true;
}

/* The type and name that the function gives the argument of a macro's parameter. */
static char *typed(const macro *m, const char *name, char *const *given, int ngiven) {
    for (int i = 0; i < m->narguments; i++) {
        const char *at = m->argument[i];
        if (!strcmp(at, name) && i < ngiven) return given[i];
        if (starts(at, "TNI_CHECKED(") && word_in(at, name)) {
            char *part[2];
            split(at + strlen("TNI_CHECKED("), part, 2);
            return text_format("%s%s", part[0], part[1]);
        }
    }
    return text_copy(name, strlen(name));
}

/* What stands in the place of "...": the parameters from there on, less those that the macro gives
 * itself. */
static void put_rest(text *t, const macro *m, char *const *given, int ngiven) {
    for (int i = 0; i < m->narguments; i++) {
        if (strcmp(m->argument[i], "__VA_ARGS__")) continue;
        for (int k = i, own = m->narguments - 1 - i; k < ngiven - own; k++)
            put(t, "%s%s", k > i ? ", " : "", given[k]);
        return;
    }
    put(t, "...");
}

/* A call with options: "bool tn_backward(t, .option = value, ..)". The last required argument
 * stands before __VA_ARGS__ in the body. */
static void put_keywords(text *t, const macro *m) {
    for (int i = 0; i < m->nparameter; i++) {
        const bool last = !strcmp(m->parameter[i], "...");
        const char *at =
            strstr(m->body, last ? " = __VA_ARGS__" : text_format("%s,", m->parameter[i]));
        const char *name = at;
        if (last) {
            while (name && name > m->body && name[-1] != '.') name--;
            put(t, "%s%.*s, .option = value, ...", i ? ", " : "", name ? (int)(at - name) : 0,
                name ? name : "");
        } else {
            const size_t n = strlen(m->parameter[i]);
            put(t, "%s%.*s", i ? ", " : "", (int)(n - (m->parameter[i][n - 1] == '_')),
                m->parameter[i]);
        }
    }
}

/* ".batch_size = 1, .prefetch = 2": options whose default is not zero. */
static char *defaults_of(const macro *m) {
    text t = {NULL, 0, 0};
    char *piece[ARGS];
    const char *from = strchr(m->body, '(');
    const int n = m->keywords && from ? split(from + 1, piece, ARGS) : 0;
    put(&t, "%s", "");
    for (int i = 0; i < n; i++) {
        const char *value = strstr(piece[i], " = ");
        bool own = *piece[i] == '.' && value && strcmp(value, " = __VA_ARGS__");
        for (int k = 0; own && k < m->nparameter; k++) own = !word_in(value, m->parameter[k]);
        if (own) put(&t, "%s%s", t.n ? ", " : "", piece[i]);
    }
    return t.at;
}

static char *macro_shown(const item *m, const item *f, const macro *how) {
    text t = {NULL, 0, 0};
    char *given[ARGS];
    const int ngiven = parameters_of(f, given);
    put(&t, "%s%s(", result_of(f), m->name);
    if (how->keywords && strstr(how->body, "__VA_ARGS__")) put_keywords(&t, how);
    for (int i = 0; !strchr(t.at, '.') && i < how->nparameter; i++) {
        if (i) put(&t, ", ");
        if (!strcmp(how->parameter[i], "..."))
            put_rest(&t, how, given, ngiven);
        else
            put(&t, "%s", typed(how, how->parameter[i], given, ngiven));
    }
    put(&t, how->nparameter ? ");" : "void);");
    const char *defaults = defaults_of(how);
    return *defaults ? text_format("%s /* %s */", wrapped(t.at), defaults) : wrapped(t.at);
}

/* A macro alone: its parameters, and a value that is one word; a list of lines as it is. */
static char *macro_alone(const item *m) {
    const char *behind = m->text + strlen("#define ") + strlen(m->name), *end = behind;
    if (starts(behind, "(X)")) return m->text;
    if (*behind == '(') end = strchr(behind, ')') + 1;
    const char *value = joined(end);
    value += strspn(value, " ");
    if (*behind == '(' || (strcspn(value, " (") < strlen(value) && !strstr(value, " /*")))
        return text_copy(m->text, (size_t)(end - m->text));
    return text_copy(m->text, strlen(m->text));
}

void show_forms(items *all) {
    for (int i = 0; i < all->n; i++) {
        item *m = &all->at[i];
        if (m->kind == ITEM_FUNCTION) m->shown = function_shown(m);
        if (m->kind == ITEM_TYPE) m->shown = m->text;
        if (m->kind != ITEM_MACRO || m->hidden) continue;
        for (int k = 0; k < all->n && !m->shown; k++) {
            item *f = &all->at[k];
            macro how;
            memset(&how, 0, sizeof how);
            if (f->kind != ITEM_FUNCTION || (!strstr(f->name, "_at") && !starts(f->name, "tni_")) ||
                !macro_of(m, f, &how))
                continue;
            m->shown = macro_shown(m, f, &how);
            f->hidden = true;
        }
        if (!m->shown) m->shown = macro_alone(m);
    }
}
