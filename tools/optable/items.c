/* items.c - a header of src/api as a list of comments, declarations and macros. */
#include "chapters.h"

#include <ctype.h>
#include <string.h>

bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static item *item_add(items *all, item_kind kind, char *words) {
    if (all->n == all->room) {
        item *more = (item *)tool_get(sizeof *more * (size_t)(all->room = 2 * all->room + 64));
        if (all->n) memcpy(more, all->at, sizeof *more * (size_t)all->n);
        all->at = more;
    }
    item *d = &all->at[all->n++];
    memset(d, 0, sizeof *d);
    d->kind = kind;
    d->text = words;
    return d;
}

static size_t name_length(const char *at) {
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

/* --- where a piece of text ends --------------------------------------------------------------- */

/* Behind a comment, a string or one character. */
static const char *step(const char *at) {
    if (starts(at, "/*")) {
        const char *end = strstr(at, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"' && *at != '\'') return at + 1;
    const char quote = *at++;
    while (*at && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Behind a line and those that continue it. */
static const char *directive_end(const char *at) {
    for (;;) {
        const char *end = strchr(at, '\n');
        if (!end) return at + strlen(at);
        if (end == at || end[-1] != '\\') return end;
        at = end + 1;
    }
}

/* Behind a declaration, with a comment that stands behind it on its last line. A function with a
 * body ends with it. */
static const char *declaration_end(const char *at) {
    int depth = 0;
    const bool body = starts(at, "TNI_INLINE");
    for (; *at; at = step(at)) {
        depth += *at == '{' || *at == '(';
        depth -= *at == '}' || *at == ')';
        if (!depth && (*at == ';' || (body && *at == '}'))) break;
    }
    if (*at) at++;
    const char *behind = at + strspn(at, " ");
    return starts(behind, "/*") ? step(behind) : at;
}

/* --- comments, conditions --------------------------------------------------------------------- */

/* A comment without its marks, line by line. */
static char *comment_text(const char *at, const char *end) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (at += 2, end -= 2; at < end;) {
        const char *line = at, *stop = (const char *)memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        at = stop < end ? stop + 1 : end;
        while (stop > line && stop[-1] == ' ') stop--;
        line += line < stop && *line == ' ';
        if (t.n && line < stop && *line == '*') line += 1 + (line + 1 < stop && line[1] == ' ');
        put(&t, "%s%.*s", t.n ? "\n" : "", (int)(stop - line), line);
    }
    return t.at;
}

/* Nested conditions: which are open, and whether one of their branches was taken. */
typedef struct conditions {
    bool live[16], taken[16];
    int n;
} conditions;

/* C with gcc: not C++, none of the options that change names. */
static void condition(conditions *c, const char *at) {
    const bool outer = c->n < 2 || c->live[c->n - 2];
    if (starts(at, "#if") && c->n < 16) {
        c->live[c->n] = c->taken[c->n] = starts(at, "#ifndef");
        if (c->n && !c->live[c->n - 1]) c->live[c->n] = false;
        c->n++;
    } else if (starts(at, "#el") && c->n) {
        c->live[c->n - 1] = outer && !c->taken[c->n - 1];
        c->taken[c->n - 1] = true;
    } else if (starts(at, "#endif") && c->n) {
        c->n--;
    }
}

/* --- declarations ----------------------------------------------------------------------------- */

/* The last name before `end`. */
static char *name_before(const char *from, const char *end) {
    while (end > from && !isalnum((unsigned char)end[-1]) && end[-1] != '_') end--;
    const char *at = end;
    while (at > from && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) at--;
    return text_copy(at, (size_t)(end - at));
}

/* What a declaration declares: a function, or a type by its name, tag or first constant. */
static char *declared(const char *d, item_kind *kind) {
    const char *brace = strchr(d, '{'), *paren = strchr(d, '(');
    *kind = ITEM_TYPE;
    if (starts(d, "TN_API") || starts(d, "TNI_INLINE")) {
        *kind = ITEM_FUNCTION;
        return paren ? name_before(d, paren) : text_copy("", 0);
    }
    if (!starts(d, "typedef")) { /* struct x { or enum x { or enum { X */
        const char *at = d + strcspn(d, " ") + 1;
        if (*at == '{') at += 1 + strspn(at + 1, " \n");
        return text_copy(at, name_length(at));
    }
    if (!brace && paren && starts(paren, "(*")) return text_copy(paren + 2, name_length(paren + 2));
    const char *end = d;
    for (const char *at = d; *at; at = step(at))
        if (*at == ';') end = at;
    return name_before(d, end);
}

/* Without the lines of the preprocessor that stand in an enum. */
static char *without_directives(const char *at) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    while (*at) {
        const char *end = *at == '#' ? directive_end(at) : at + strcspn(at, "\n");
        if (*at != '#') put(&t, "%s%.*s", t.n ? "\n" : "", (int)(end - at), at);
        at = *end ? end + 1 : end;
    }
    return t.at;
}

static void read_declaration(items *all, const char *at, const char *end) {
    item_kind kind;
    char *d = without_directives(text_copy(at, (size_t)(end - at)));
    item *to = item_add(all, ITEM_TYPE, d);
    to->name = declared(d, &kind);
    to->kind = kind;
}

static void read_directive(items *all, const char *at, const char *end) {
    if (!starts(at, "#define ")) return;
    item *to = item_add(all, ITEM_MACRO, text_copy(at, (size_t)(end - at)));
    to->name = text_copy(at + 8, name_length(at + 8));
}

static void read_comment(items *all, const char *at, const char *end) {
    char *words = comment_text(at, end);
    if (starts(words, "clang-format")) return;
    if (!starts(words, "--- ")) {
        item_add(all, ITEM_COMMENT, words);
        return;
    }
    char *stop = strstr(words + 4, " --");
    item_add(all, ITEM_SECTION, text_copy(words + 4, stop ? (size_t)(stop - words - 4) : 0));
}

/* Private: names, all of a section that says so, and what a comment says so of. */
static void hide_private(items *all) {
    bool section = false, comment = false;
    for (int i = 0; i < all->n; i++) {
        item *d = &all->at[i];
        if (d->kind == ITEM_SECTION) section = starts(d->text, "private"), comment = false;
        if (d->kind == ITEM_COMMENT) comment = starts(d->text, "private");
        if (section || comment) d->hidden = true;
        if (d->name && (starts(d->name, "tni_") || starts(d->name, "TNI_") || !*d->name))
            d->hidden = true;
    }
}

void read_header(const char *path, items *all) {
    conditions c = {{false}, {false}, 0};
    const char *at = file_read(path);
    memset(all, 0, sizeof *all);
    if (!at) {
        fault(path, 1, "cannot be read");
        return;
    }
    for (at += strspn(at, " \n"); *at; at += strspn(at, " \n")) {
        const bool live = !c.n || c.live[c.n - 1];
        if (starts(at, "TN_USE_RESULT ")) at += strlen("TN_USE_RESULT "); /* for the compiler */
        const char *end = starts(at, "/*") ? step(at) : *at == '#' ? directive_end(at) : NULL;
        if (*at == '#') condition(&c, at);
        if (!live && !end) end = at + strcspn(at, "\n");
        if (!end && starts(at, "TNI_") && strcspn(at, " (") > strcspn(at, "\n"))
            end = at + strcspn(at, "\n"); /* TNI_EXTERN_C_BEGIN */
        else if (!end && live) {
            end = declaration_end(at);
            read_declaration(all, at, end);
        } else if (live && *at == '#') {
            read_directive(all, at, end);
        } else if (live) {
            read_comment(all, at, end);
        }
        at = end;
    }
    hide_private(all);
    show_forms(all);
}
