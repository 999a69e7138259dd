/* scan.c - finds TN_OPERATOR(...), TN_MODULE(...), TN_OPTIMIZER(...) in C text, with the comment
 * directly above.
 *
 * Comments, strings and preprocessor lines are skipped; nothing is expanded, so a row must be
 * written out. */
#include "optable.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct scanner {
    const char *file, *text, *at, *line_at;
    int line;
    const char *comment, *comment_end; /* the last one */
} scanner;

static int line_of(scanner *s, const char *at) {
    for (; s->line_at < at; s->line_at++) s->line += *s->line_at == '\n';
    return s->line;
}

/* Behind the comment, string or character literal that starts at `at`; NULL when nothing of these
 * starts there. */
static const char *skip_quiet(const char *at) {
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (*at != '"' && *at != '\'') return NULL;
    for (char quote = *at++; *at && *at != quote; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The text without comments, with runs of white space outside strings as one space, trimmed. */
static char *tidy(const char *at, const char *end) {
    text t = {NULL, 0, 0};
    bool space = false;
    put(&t, "%s", "");
    while (at < end) {
        const char *behind = skip_quiet(at);
        if (isspace((unsigned char)*at) || (behind && *at == '/')) {
            space = true;
            at = behind ? behind : at + 1;
            continue;
        }
        if (!behind || behind > end) behind = behind ? end : at + 1;
        put(&t, "%s%.*s", space && t.n ? " " : "", (int)(behind - at), at);
        space = false;
        at = behind;
    }
    return t.at;
}

/* Splits "a, f(b, c), d)" at commas of depth 0 up to the closing parenthesis; returns the text
 * behind it. */
static const char *split(const char *at, char **part, int room, int *n) {
    const char *start = at;
    for (int depth = 0;;) {
        const char *behind = skip_quiet(at);
        if (behind) {
            at = behind;
            continue;
        }
        if (!*at) return NULL;
        if (!depth && (*at == ',' || *at == ')')) {
            char *piece = tidy(start, at);
            if (*n < room && (*piece || *at == ',')) part[(*n)++] = piece;
            start = at + 1;
            if (*at == ')') return at + 1;
        }
        if (strchr("([{", *at)) depth++;
        if (strchr(")]}", *at)) depth--;
        at++;
    }
}

int scan_parts(const char *value, char **part, int room) {
    int n = 0;
    split(text_format("%s)", value), part, room, &n);
    return n;
}

char *scan_string(const char *value) {
    text t = {NULL, 0, 0};
    if (!value) return NULL;
    put(&t, "%s", "");
    while (*value) {
        if (*value == ' ')
            value++;
        else if (*value != '"')
            return NULL;
        else {
            for (value++; *value && *value != '"'; value++) {
                if (*value == '\\' && value[1]) value++;
                put(&t, "%c", *value);
            }
            if (*value) value++;
        }
    }
    return t.at;
}

const char *row_field(const row *r, const char *name) {
    for (int i = 0; i < r->nfields; i++)
        if (!strcmp(r->fields[i].name, name)) return r->fields[i].value;
    return NULL;
}

static void read_field(row *r, const char *part);
/* TN_DOC(.shapes = "..", ..): its fields are the row's, though the compiler never sees them. */
static bool read_doc(row *r, const char *part) {
    static const char word[] = "TN_DOC(";
    char *inner[ROW_FIELDS];
    int n = 0;
    if (strncmp(part, word, sizeof word - 1) != 0) return false;
    split(part + sizeof word - 1, inner, ROW_FIELDS, &n);
    for (int i = 0; i < n; i++) read_field(r, inner[i]);
    r->ndoc = r->nfields;
    return true;
}

static void read_field(row *r, const char *part) {
    field *f = &r->fields[r->nfields];
    size_t n;
    if (r->nfields == ROW_FIELDS) {
        fault(r->file, r->line, "%s: too many fields", r->name);
        return;
    }
    if (*part == '.') {
        part += 1 + strspn(part + 1, " ");
        n = strcspn(part, " =");
        f->name = text_copy(part, n);
        part += n + strspn(part + n, " ");
        if (*part != '=') {
            fault(r->file, r->line, "%s: '=' expected behind .%s", r->name, f->name);
            return;
        }
        part++;
        f->value = text_copy(part + strspn(part, " "), strlen(part + strspn(part, " ")));
    } else {
        n = strcspn(part, "( ");
        f->name = text_copy(part, n);
        if (part[n] == ' ') n++;
        if (part[n] != '(' || part[strlen(part) - 1] != ')') {
            fault(r->file, r->line, "%s: a field is written .name = value, not '%s'", r->name,
                  part);
            return;
        }
        f->value = text_copy(part + n + 1, strlen(part) - n - 2);
    }
    r->nfields++;
}

static bool only_space(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    return at == end;
}

static void append(table *t, row *r) {
    if ((t->n & (t->n - 1)) == 0) { /* full at each power of two */
        row **more = (row **)tool_get(sizeof *more * (size_t)(t->n ? 2 * t->n : 1));
        if (t->n) memcpy(more, t->row, sizeof *more * (size_t)t->n);
        t->row = more;
    }
    t->row[t->n++] = r;
}

static void scan_row(scanner *s, row_kind kind, const char *start, table *to) {
    char *part[ROW_FIELDS + 2];
    int n = 0;
    row *r = (row *)tool_get(sizeof *r);
    r->kind = kind;
    r->file = s->file;
    r->line = line_of(s, start);
    const char *behind = split(s->at + 1, part, ROW_FIELDS + 2, &n);
    if (!behind || n < 2) {
        fault(s->file, r->line, behind ? "a row needs a name and a schema" : "')' expected");
        s->at += behind ? 1 : (ptrdiff_t)strlen(s->at);
        return;
    }
    s->at = behind;
    r->name = part[0];
    r->schema_text = scan_string(part[1]);
    if (!r->schema_text) {
        fault(s->file, r->line, "%s: the schema must be a string", r->name);
        return;
    }
    if (n < 3 || !read_doc(r, part[2])) {
        fault(s->file, r->line,
              "%s: TN_DOC(.shapes = \"..\", .example = \"..\") stands behind the schema", r->name);
        return;
    }
    for (int i = 3; i < n; i++) read_field(r, part[i]);
    if (s->comment && only_space(s->comment_end, start))
        r->comment = text_copy(s->comment, (size_t)(s->comment_end - s->comment));
    append(to, r);
}

static void scan_word(scanner *s, table *operators, table *modules) {
    static const char *const names[] = {"TN_OPERATOR", "TN_MODULE", "TN_OPTIMIZER"};
    const char *start = s->at;
    while (is_name(*s->at)) s->at++;
    size_t n = (size_t)(s->at - start);
    if (*s->at != '(') return;
    for (int kind = 0; kind < 3; kind++)
        if (n == strlen(names[kind]) && !memcmp(start, names[kind], n)) {
            scan_row(s, (row_kind)kind, start, kind == ROW_OPERATOR ? operators : modules);
            return;
        }
}

char *scan_tidy(const char *all) { return tidy(all, all + strlen(all)); }

void scan_file(const char *path, table *operators, table *modules) {
    scanner s = {path, file_read(path), NULL, NULL, 1, NULL, NULL};
    bool fresh = true; /* nothing but white space on this line so far */
    if (!s.text) {
        fault(path, 1, "cannot read");
        return;
    }
    for (s.at = s.line_at = s.text; *s.at;) {
        const char *behind = skip_quiet(s.at);
        if (behind) {
            if (s.at[0] == '/' && s.at[1] == '*') {
                s.comment = s.at;
                s.comment_end = behind;
            }
            s.at = behind;
        } else if (*s.at == '#' && fresh) {
            while (*s.at && *s.at != '\n') s.at += s.at[0] == '\\' && s.at[1] ? 2 : 1;
        } else if (is_name(*s.at)) {
            fresh = false;
            scan_word(&s, operators, modules);
        } else {
            if (*s.at == '\n')
                fresh = true;
            else if (!isspace((unsigned char)*s.at))
                fresh = false;
            s.at++;
        }
    }
}
