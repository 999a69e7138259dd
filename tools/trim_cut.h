/* trim_cut.h - the first half of trim.c: cuts the packed headers into items, and finds what each
 * defines and mentions.
 *
 * What it relies on, and tools/check.c looks after: a function ends with a brace in column 0; a row
 * stands written out; each private file begins with its name in a comment, "src/...". */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- memory, text, names ---------------------------------------------------------------------- */

static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "trim: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void *grown(void *at, size_t bytes) {
    at = realloc(at, bytes ? bytes : 1);
    if (!at) fail("out of memory");
    return at;
}

typedef struct text {
    char *at; /* ends in NUL */
    size_t n, room;
} text;

static void add(text *t, const char *at, size_t n) {
    if (t->n + n + 1 > t->room) t->at = (char *)grown(t->at, t->room = 2 * (t->n + n) + 64);
    memcpy(t->at + t->n, at, n);
    t->at[t->n += n] = 0;
}
static void add_string(text *t, const char *s) { add(t, s, strlen(s)); }

static text read_file(const char *path, bool must) {
    text t = {NULL, 0, 0};
    char part[4096];
    size_t n;
    FILE *in = fopen(path, "rb");
    add(&t, "", 0);
    if (!in && must) fail("%s cannot be read", path);
    while (in && (n = fread(part, 1, sizeof part, in)) > 0) add(&t, part, n);
    if (in) fclose(in);
    return t;
}

typedef struct list { /* of numbers: names, items */
    int *at, n, room;
} list;
static void push(list *l, int value) {
    if (l->n == l->room) {
        l->room = 2 * l->room + 4;
        l->at = (int *)grown(l->at, (size_t)l->room * sizeof *l->at);
    }
    l->at[l->n++] = value;
}

/* A name is a number. What defines it, by whom it was first mentioned, the macro it is now. */
typedef struct name {
    char *text;
    list items;                      /* that define it */
    int why;                         /* the name whose item mentions it, 0: a source */
    bool reached, by_cxx, called;    /* by_cxx: from C++; called: as a function there */
    bool condition, said;            /* of TNI_IF; said: it is within a word of the sources */
    int times;                       /* in a source, beyond those in its macros' text */
    const char *params, *body, *end; /* of a macro; params NULL: it takes none */
    bool macro, pastes;              /* pastes: it, or a macro in it, joins names */
} name;
static char nothing[1];
static name *names;
static int nnames, name_room;
static int *slots;
static size_t nslots;

static size_t slot_of(const char *s, size_t n) {
    size_t h = 5381;
    for (size_t i = 0; i < n; i++) h = h * 33 + (unsigned char)s[i];
    for (h &= nslots - 1; slots[h]; h = (h + 1) & (nslots - 1)) {
        const char *t = names[slots[h]].text;
        if (strncmp(t, s, n) == 0 && !t[n]) break;
    }
    return h;
}

static int name_of(const char *s, size_t n) {
    if ((size_t)nnames * 2 >= nslots) {
        nslots = nslots ? 2 * nslots : 1 << 12;
        slots = (int *)grown(slots, nslots * sizeof *slots);
        memset(slots, 0, nslots * sizeof *slots);
        if (!nnames) nnames = 1; /* 0 is no name */
        for (int i = 1; i < nnames; i++) slots[slot_of(names[i].text, strlen(names[i].text))] = i;
    }
    size_t h = slot_of(s, n);
    if (slots[h]) return slots[h];
    if (nnames >= name_room) {
        name_room = 2 * name_room + 1024;
        names = (name *)grown(names, (size_t)name_room * sizeof *names);
        memset(&names[0], 0, sizeof *names);
        names[0].text = nothing;
    }
    memset(&names[nnames], 0, sizeof *names);
    names[nnames].text = (char *)grown(NULL, n + 1);
    memcpy(names[nnames].text, s, n);
    names[nnames].text[n] = 0;
    return slots[h] = nnames++;
}
static int joined(const char *a, const char *b, size_t n, const char *c) {
    char whole[300];
    return name_of(whole, (size_t)snprintf(whole, sizeof whole, "%s%.*s%s", a, (int)n, b, c));
}

/* --- tokens ----------------------------------------------------------------------------------- */

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }
static size_t name_length(const char *p) {
    size_t n = 0;
    while (is_name(p[n])) n++;
    return n;
}
static bool is(const char *p, size_t n, const char *word) {
    return strlen(word) == n && memcmp(p, word, n) == 0;
}
static bool ends(const char *p, size_t n, const char *with) {
    return n > strlen(with) && memcmp(p + n - strlen(with), with, strlen(with)) == 0;
}
static bool starts(const char *p, const char *with) { return strncmp(p, with, strlen(with)) == 0; }
/* Where `with` stands between p and end; the headers are long, so strstr would read far. */
static const char *within(const char *p, const char *end, const char *with) {
    const size_t n = strlen(with);
    while (p && (size_t)(end - p) >= n && memcmp(p, with, n) != 0)
        p = (const char *)memchr(p + 1, *with, (size_t)(end - p) - 1);
    return p && (size_t)(end - p) >= n ? p : NULL;
}
static bool is_upper(const char *p, size_t n) { /* the name of a macro */
    for (size_t i = 0; i < n; i++)
        if (islower((unsigned char)p[i])) return false;
    return n > 1 && isupper((unsigned char)p[0]);
}
static const char *end_of_line(const char *p) {
    while (*p && *p != '\n') p++;
    return *p ? p + 1 : p;
}
static const char *after_comment(const char *p) {
    if (p[1] == '/') return end_of_line(p) - (*end_of_line(p) || strchr(p, '\n') ? 1 : 0);
    const char *e = strstr(p + 2, "*/");
    return e ? e + 2 : p + strlen(p);
}
static const char *after_string(const char *p) {
    for (char quote = *p++; *p && *p != quote; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}
static bool is_comment(const char *p) { return *p == '/' && (p[1] == '*' || p[1] == '/'); }
/* A directive with its continued lines and comments, to the end of its last line. */
static const char *after_directive(const char *p) {
    for (; *p && *p != '\n'; p++) {
        if (is_comment(p))
            p = after_comment(p) - 1;
        else if (*p == '"')
            p = after_string(p) - 1;
        else if (*p == '\\' && p[1] == '\n')
            p++;
    }
    return *p ? p + 1 : p;
}
static bool is_directive(const char *start, const char *p) { /* '#', the first on its line */
    if (*p != '#') return false;
    while (p > start && (p[-1] == ' ' || p[-1] == '\t')) p--;
    return p == start || p[-1] == '\n';
}
static const char *skip_space(const char *p) { /* and comments */
    for (;; p++) {
        while (is_comment(p)) p = after_comment(p);
        if (!isspace((unsigned char)*p)) return p;
    }
}
/* What comes next: one character, a name, a string, after spaces, comments and directives. */
static const char *token(const char *start, const char *p, const char *end, size_t *n) {
    while (p < end) {
        if (is_directive(start, p))
            p = after_directive(p);
        else if (is_comment(p))
            p = after_comment(p);
        else if (isspace((unsigned char)*p))
            p++;
        else
            break;
    }
    *n = 0;
    if (p >= end) return end;
    *n = *p == '"' || *p == '\'' ? (size_t)(after_string(p) - p) : is_name(*p) ? name_length(p) : 1;
    return p;
}
/* Behind the bracket that closes the one at p. */
static const char *after_bracket(const char *start, const char *p, const char *end) {
    int depth = 0;
    for (size_t n; (p = token(start, p, end, &n)) < end; p += n) {
        if (*p == '(' || *p == '[' || *p == '{') depth++;
        if ((*p == ')' || *p == ']' || *p == '}') && --depth == 0) return p + 1;
    }
    return end;
}

/* --- macros that join names are expanded, for what they define and mention -------------------- */

static void take_macro(const char *p, const char *end) { /* behind "#define" */
    p = skip_space(p);
    size_t n = name_length(p);
    const int id = name_of(p, n);
    const char *params = p[n] == '(' ? p + n + 1 : NULL;
    const char *body = params ? after_bracket(p, p + n, end) : p + n;
    bool pastes = false;
    if (starts(skip_space(body), "TNI_JOIN(TN_PREFIX") || starts(skip_space(body), "(*tni_at_"))
        return; /* another name for a function */
    for (const char *at = body; (at = token(body, at, end, &n)) < end; at += n) {
        const int word = is_name(*at) ? name_of(at, n) : 0;
        pastes |= names[word].pastes || (*at == '#' && at[1] == '#');
    }
    name *m = &names[id];
    m->params = params, m->body = body, m->end = end, m->macro = true, m->pastes = pastes;
}

enum { ARGUMENTS = 24, DEEP = 12 };
typedef struct arguments {
    const char *at[ARGUMENTS];
    size_t length[ARGUMENTS];
    int n;
} arguments;

/* Those between the bracket at p and its partner at close, at most `most`; the last takes the
 * rest. */
static void split(const char *p, const char *close, int most, arguments *a) {
    a->n = 0;
    a->at[0] = ++p;
    for (size_t n; (p = token(a->at[0], p, close, &n)) < close;) {
        if (*p == '(' || *p == '[' || *p == '{') {
            p = after_bracket(a->at[0], p, close);
            continue;
        }
        if (*p == ',' && a->n < most - 1 && a->n < ARGUMENTS - 1) {
            a->length[a->n] = (size_t)(p - a->at[a->n]);
            a->at[++a->n] = p + 1;
        }
        p += n;
    }
    a->length[a->n] = (size_t)(close - a->at[a->n]);
    a->n++;
}

static int count_params(const name *m) {
    int n = 1;
    for (const char *p = m->params; *p != ')'; p++) n += *p == ',';
    return n;
}
static int param_of(const name *m, const char *word, size_t n) {
    const char *p = m->params ? skip_space(m->params) : ")";
    for (int i = 0; *p != ')'; i++) {
        size_t k = name_length(p);
        if (k ? k == n && memcmp(p, word, n) == 0 : is(word, n, "__VA_ARGS__")) return i;
        p = skip_space(p + (k ? k : 3));
        if (*p == ',') p = skip_space(p + 1);
    }
    return -1;
}

/* The body of macro m with these arguments, joined names joined. */
static text substituted(const name *m, const arguments *a) {
    text to = {NULL, 0, 0};
    add(&to, "", 0);
    for (const char *p = m->body; p < m->end;) {
        size_t n = is_name(*p) ? name_length(p) : 1;
        int i = is_name(*p) ? param_of(m, p, n) : -1;
        if (*p == '"' || *p == '\'') n = (size_t)(after_string(p) - p);
        if (is_comment(p)) {
            p = after_comment(p);
        } else if (*p == '\\' && p[1] == '\n') {
            p += 2;
        } else if (*p == '#' && p[1] == '#') {
            while (to.n && isspace((unsigned char)to.at[to.n - 1])) to.at[--to.n] = 0;
            for (p += 2; isspace((unsigned char)*p) || (*p == '\\' && p[1] == '\n');) p++;
        } else if (*p == '#') { /* the text of an argument names nothing */
            for (p++; isspace((unsigned char)*p);) p++;
            p += name_length(p);
            add_string(&to, "\"\"");
        } else if (i >= 0 && i < a->n) {
            const char *from = a->at[i];
            size_t length = a->length[i];
            while (length && isspace((unsigned char)*from)) from++, length--;
            while (length && isspace((unsigned char)from[length - 1])) length--;
            add(&to, from, length);
            p += n;
        } else {
            add(&to, p, n);
            p += n;
        }
    }
    return to;
}

/* Is a macro that joins names among the arguments of the call that opens here? */
static bool takes_joining(const char *open, const char *end) {
    const char *close = open < end && *open == '(' ? after_bracket(open, open, end) : open;
    size_t n;
    for (const char *p = open; (p = token(open, p, close, &n)) < close; p += n) {
        const int id = is_name(*p) ? name_of(p, n) : 0;
        if (names[id].macro && names[id].pastes) return true;
    }
    return false;
}

/* Adds [p, end) to the text, macros that join names expanded. */
static void expand(text *to, const char *p, const char *end, int deep) {
    const char *start = p, *from = p;
    for (size_t n; (p = token(start, p, end, &n)) < end; p += n) {
        if (!is_name(*p)) continue;
        const int id = name_of(p, n);
        const char *open = skip_space(p + n);
        if (starts(p, "TNI_IF(") || starts(p, "TN_BATCHED(")) { /* stays, for condition_at */
            p = after_bracket(start, p + n, end);
            n = 0;
            continue;
        }
        if (!names[id].macro || deep >= DEEP) continue; /* one at file level may be a function */
        if (!names[id].pastes && (p != start || deep) && !takes_joining(open, end)) continue;
        arguments a = {{NULL}, {0}, 0};
        const char *next = p + n;
        if (names[id].params) {
            if (open >= end || *open != '(') continue;
            next = after_bracket(start, open, end);
            split(open, next - 1, count_params(&names[id]), &a);
        }
        const bool was = names[id].macro;
        text body = substituted(&names[id], &a);
        add(to, from, (size_t)(p - from));
        names[id].macro = false; /* not within itself */
        expand(to, body.at, body.at + body.n, deep + 1);
        names[id].macro = was;
        free(body.at);
        add_string(to, " ");
        from = p = next;
        n = 0;
    }
    add(to, from, (size_t)(end - from));
}

/* --- items ------------------------------------------------------------------------------------ */

typedef enum kind { COMMENT, DIRECTIVE, MACRO, CODE } kind;
typedef struct item {
    kind kind;
    const char *at, *end;
    const char *room;              /* the file below src/ that it comes from */
    list defines, mentions, calls; /* calls: of C++, without those that it only mentions */
    list when;                     /* a condition, a name mentioned where it holds, .. */
    bool drops, cxx, kept;         /* drops: left out unless reached */
    bool row_in_cxx;               /* an operator's function or method: reached by calls of C++ */
    bool class_in_cxx;             /* a class: reached by words of C++ */
} item;
static item *items;
static int nitems, item_room;

typedef struct header {
    const char *path;
    text text;
    int first, last; /* items */
} header;

static bool cxx_sources, inference;

static item *new_item(kind k, const char *at, const char *end, const char *room, bool cxx) {
    if (nitems == item_room) {
        item_room = 2 * item_room + 1024;
        items = (item *)grown(items, (size_t)item_room * sizeof *items);
    }
    item *i = &items[nitems++];
    memset(i, 0, sizeof *i);
    i->kind = k, i->at = at, i->end = end, i->room = room, i->cxx = cxx;
    return i;
}

/* Behind "template <class N>", whose parameters are no names of the file. */
static const char *after_template(const char *p) {
    p = skip_space(p);
    return starts(p, "template <") ? strchr(p, '>') + 1 : p;
}

/* The end of the item of code at p: a declaration to its ';', a function to its brace in column 0,
 * a macro without either to the end of its line. */
static const char *after_code(const char *start, const char *p, const char *end) {
    const char *first = p = after_template(p), *last = p;
    bool words = true, call = false, paren = false, assign = false;
    int nwords = 0;
    size_t n, last_n = 0;
    if (starts(first, "public:")) return first + strlen("public:");
    for (; (p = token(start, p, end, &n)) < end; last = p, last_n = n, p += n) {
        const bool new_line = last_n && memchr(last + last_n, '\n', (size_t)(p - last) - last_n);
        if (call && new_line && !strchr("{=;[(,:", *p)) return last + last_n;
        if (words && new_line && !is(last, last_n, "TN_API") && !is(last, last_n, "TN_PRIV") &&
            !is(last, last_n, "TNI_INLINE") && !is(last, last_n, "TN_USE_RESULT"))
            return last + last_n;
        call = false;
        if (is_name(*p)) {
            if (!is_upper(p, n)) words = false;
            nwords++;
            continue;
        }
        if (*p == '}') return p + 1; /* of a namespace */
        if (*p == ';') return p + 1;
        if (*p == '=') assign = true;
        if (*p == '{') {
            if (*last == '"' || starts(first, "namespace") || starts(first, "inline namespace") ||
                starts(first, "class methods "))
                return p + 1;
            const char *column = strstr(p, "\n}"); /* ends it, whatever #if has left open */
            p = after_bracket(start, p, column ? column + 2 : end);
            if (paren && !assign && !starts(first, "typedef")) return p;
            p--, n = 1;
        } else if (*p == '(' || *p == '[') {
            if (*p == '(') {
                paren = true;
                call = is_name(*last) && is_upper(last, last_n) &&
                       (nwords == 1 || (nwords == 2 && starts(first, "static")));
            }
            p = after_bracket(start, p, end) - 1, n = 1;
        }
        words = false;
    }
    return words ? last + last_n : end; /* the last line is a macro */
}

/* Behind the bracket around a name, `(max)(x, y)`, which keeps macros away; NULL: another text. */
static const char *after_shield(const char *p, const char *end) {
    const size_t n = *p == '(' ? name_length(p + 1) : 0;
    return n && p + n + 2 < end && p[n + 1] == ')' && p[n + 2] == '(' ? p + n + 2 : NULL;
}

/* What stands at file level in this text is defined; false: something that is always kept. */
static bool define_all(item *i, const char *p, const char *end) {
    const char *start = after_template(p), *last = start;
    const bool generic = start != skip_space(p);
    bool done = false, type = false, keeps = false;
    size_t n, last_n = 0;
    for (p = start; (p = token(start, p, end, &n)) < end; p += n) {
        if (is_name(*p)) {
            const char *open = skip_space(p + n);
            keeps |= is(p, n, "used") || is(p, n, "TNI_FN") || is(p, n, "TNI_FNT");
            if (is(p, n, "typedef")) type = true;
            if (!last_n && (is(p, n, "enum") || is(p, n, "namespace"))) keeps = true;
            keeps |= generic && is(p, n, "struct");
            if (*open == '(' && open < end) {
                const bool declares = starts(p, "TN_PRIV_DE");
                const char *close = after_bracket(start, open, end);
                arguments a;
                split(open, close - 1, 2, &a);
                if (declares && a.n == 2) {
                    const char *at = skip_space(a.at[1]);
                    push(&i->defines, name_of(at, name_length(at)));
                    done = true;
                } else if (!done && !type && after_shield(open, end)) {
                    push(&i->defines, name_of(open + 1, name_length(open + 1)));
                    done = true;
                } else if (!done && !type && open[1] == '*') { /* gives a pointer to a function */
                    push(&i->defines,
                         name_of(skip_space(open + 2), name_length(skip_space(open + 2))));
                    done = true;
                } else if (!done && !type && !is_upper(p, n) && !is(p, n, "__attribute__") &&
                           !is(p, n, "_Pragma")) {
                    push(&i->defines, name_of(p, n));
                    done = true;
                }
                keeps |= within(a.at[0], close, "used))") != NULL;
                p = close, n = 0;
                continue;
            }
            last = p, last_n = n;
            continue;
        }
        if ((*p == '=' || *p == '[' || *p == ';') && !done && last_n && (!type || *p == ';'))
            push(&i->defines, name_of(last, last_n)), done = true;
        if (*p == '{' || *p == '[') p = after_bracket(start, p, end), n = 0;
        if (*p == ';' || (n == 0 && p[-1] == '}' && *skip_space(p) != ';' && done && !type))
            done = type = false, last_n = 0;
    }
    return !keeps;
}

static bool in_room(const item *i, const char *room) { return starts(i->room, room); }
static bool is_public(const item *i) { return !*i->room; }

/* "    &tni_row_add," in the list of all rows: the name and its length; 0: another line. */
static size_t listed(const char *p, const char **at) {
    while (*p == ' ') p++;
    *at = p + 1;
    if (*p != '&' ||
        (!starts(*at, "tni_row_") && !starts(*at, "tni_module_") && !starts(*at, "tni_optimizer_")))
        return 0;
    const size_t n = name_length(*at);
    return starts(*at + n, ",\n") ? n : 0;
}

/* "    TNI_COMPOUND(+, +=)" in the class of what x[..] gives: "+=)"; NULL: another line. */
static const char *compound(const char *p) {
    while (*p == ' ') p++;
    return starts(p, "TNI_COMPOUND(") ? skip_space(strchr(p, ',') + 1) : NULL;
}
/* The name of an operator that stands here. */
static int operator_at(const char *p) { return joined("operator ", p, strcspn(p, " ,)"), ""); }

/* TNI_IF(condition, does, otherwise) and TN_BATCHED(does) at p: the condition, and where `does`
 * stands. 0: another text. */
static int condition_at(const char *p, const char *end, const char **does, const char **close) {
    const bool batched = starts(p, "TN_BATCHED("), either = starts(p, "TNI_IF(");
    arguments a;
    if (!batched && !either) return 0;
    const char *open = strchr(p, '('), *behind = after_bracket(open, open, end);
    split(open, behind - 1, 3, &a);
    if (a.n < (batched ? 1 : 3)) return 0;
    const char *word = batched ? "tni_vmap_call" : skip_space(a.at[0]);
    *does = a.at[batched ? 0 : 1];
    *close = batched ? behind - 1 : a.at[1] + a.length[1];
    const int id = name_of(word, name_length(word));
    names[id].condition = true;
    return id;
}

/* Every name outside of comments, strings and the lists of all rows; with its condition into
 * `when`. */
static void mention_all(list *to, list *when, const char *p, const char *end) {
    const char *at, *does, *close;
    while (p < end) {
        const int condition = when && !is_name(p[-1]) ? condition_at(p, end, &does, &close) : 0;
        if (condition) {
            list inner = {NULL, 0, 0};
            mention_all(&inner, NULL, does, close);
            for (int k = 0; k < inner.n; k++) push(when, condition), push(when, inner.at[k]);
            free(inner.at);
            p = close; /* what stands otherwise is mentioned */
            continue;
        }
        const char *op = when && p[-1] == '\n' ? compound(p) : NULL;
        if (op) { /* x[..] += y is computed by + */
            push(when, operator_at(op));
            push(when, operator_at(strchr(p, '(') + 1));
            push(when, operator_at(op)), push(when, operator_at(op));
            p = end_of_line(p);
        } else if (p[-1] == '\n' && listed(p, &at))
            p = end_of_line(p);
        else if (is_comment(p))
            p = after_comment(p);
        else if (*p == '"' || *p == '\'')
            p = after_string(p);
        else if (!is_name(*p))
            p++;
        else {
            const size_t n = name_length(p);
            const bool declared_alone = starts(p + n, " operator[]"); /* its text mentions this */
            if (!isdigit((unsigned char)*p) && !declared_alone) push(to, name_of(p, n));
            p += n;
        }
    }
}

/* Leaves names with a prefix: where others are members, parameters, kernels. */
static void keep_long(list *l) {
    int n = 0;
    for (int k = 0; k < l->n; k++) {
        const char *word = names[l->at[k]].text;
        if (starts(word, "tn") || is_upper(word, strlen(word))) l->at[n++] = l->at[k];
    }
    l->n = n;
}

/* A class of C++ with its body goes with its name, as do a struct of options and a typedef of one
 * or of a module's: who uses it says that, or has it from one who does. Specialisations stay. */
static void take_class(item *i) {
    const char *p = skip_space(after_template(i->at));
    const size_t word = name_length(p);
    const char *at = skip_space(p + word), *body;
    size_t n = name_length(at);
    if (!i->cxx) return;
    const char *self = within(p, i->end, " self_;");
    const bool options = is(p, word, "struct") && self;
    if (is(p, word, "typedef") && starts(at, "rows::")) {
        at += strlen("rows::"), n = name_length(at);
    } else if (is(p, word, "typedef") && ends(at, n, "_options") && *skip_space(at + n) != ':') {
        at = skip_space(at + n), n = name_length(at);
    } else {
        if ((!options && !is(p, word, "class")) || !n) return;
        body = skip_space(at + n);
        if (*body == ';')
            i->drops = false; /* x[..] may not be used, but tn::tensor names its class */
        if (body >= i->end || (*body != '{' && *body != ':') || i->end[-1] == '{') return;
    }
    i->defines.n = 0;
    push(&i->defines, name_of(at, n));
    i->drops = i->class_in_cxx = true;
    i->row_in_cxx = false;
}

static bool holds(const list *l, int value) {
    int k = 0;
    while (k < l->n && l->at[k] != value) k++;
    return k < l->n;
}

/* Is this name a call: before '(' or '<', no type stands before it, and no body behind it? Or an
 * operator's function of C as an argument, call(tn_add_at, ..): its caller calls it. */
static bool is_call(const char *start, const char *p, size_t n, const char *before, size_t before_n,
                    const char *end) {
    const char *after = skip_space(p + n), *close;
    if (*before == '(' && after_shield(before, end)) return true;
    if (*after == ',' && n > 6 && starts(p, "tn_") && starts(p + n - 3, "_at")) return true;
    if (*after != '(' && (p[n] != '<' || strchr("<= ", p[n + 1]))) return false;
    if (*before == '~' || (is_name(*before) && !is(before, before_n, "return") &&
                           !is(before, before_n, "else") && !is(before, before_n, "template")))
        return false;
    close = *after == '(' ? skip_space(after_bracket(start, after, end)) : after;
    return *close != '{' && !starts(close, "const ");
}

/* What this text calls. A name that it declares itself, a method or member, is a call of another
 * where "::" stands before it. */
static void call_all(list *to, const char *start, const char *end) {
    const char *before = "";
    list own = {NULL, 0, 0}, calls = {NULL, 0, 0};
    size_t n, before_n = 0;
    for (const char *p = start; (p = token(start, p, end, &n)) < end; p += n) {
        if (is_name(*p) && !isdigit((unsigned char)*p)) {
            const bool call = is_call(start, p, n, before, before_n, end);
            const bool another = *before == ':' && p[-1] == ':' && p[-2] == ':';
            if (call)
                push(another ? to : &calls, name_of(p, n));
            else if (*skip_space(p + n) == '(' || *skip_space(p + n) == ';')
                push(&own, name_of(p, n));
        }
        before = p, before_n = n;
    }
    for (int k = 0; k < calls.n; k++)
        if (!holds(&own, calls.at[k])) push(to, calls.at[k]);
    free(own.at), free(calls.at);
}

/* in_objects<tn_values_indices> goes with the struct of C. */
static void take_results(item *i) {
    const char *of = within(i->at, i->end, "in_objects<tn_");
    if (!starts(i->at, "template <>") || !of) return;
    of = strchr(of, '<') + 1;
    i->defines.n = 0;
    push(&i->defines, name_of(of, name_length(of)));
    i->drops = true;
    i->row_in_cxx = false; /* reached by a mention, not by a call */
}

/* TNI_BINARY(+, add, ..) and the like, and what x[..] gives: reached where sources use it. */
static void take_operator(item *i, const char *macro, size_t n) {
    const char *index = within(i->at, i->end, "operator[]");
    const bool gives = starts(i->at, "inline ") && index && index < strchr(i->at, '{');
    const char *op = gives ? "[" : macro + n + 1;
    if (!i->cxx || (!gives && (macro[n] != '(' || is_name(*op) || !ispunct((unsigned char)*op))))
        return;
    i->defines.n = 0;
    push(&i->defines, starts(macro, "TNI_UNARY(") ? joined("unary ", op, strcspn(op, " ,)"), "")
                                                  : operator_at(op));
    i->drops = true;
    i->row_in_cxx = false;
}

/* What this item defines and mentions, macros expanded. */
static void take_code(item *i) {
    text t = {NULL, 0, 0};
    size_t n;
    const char *first = token(i->at, i->at, i->end, &n);
    for (const char *p = i->at; p < i->end; p = end_of_line(p))
        if (starts(p, "#define")) take_macro(p + 7, after_directive(p));
    add_string(&t, " ");
    expand(&t, i->at, i->end, 0);
    mention_all(&i->mentions, &i->when, i->at + 1, i->end);
    push(&i->mentions, name_of(first, n));
    mention_all(&i->mentions, &i->when, t.at + 1, t.at + t.n);
    if ((in_room(i, "kernels/") || in_room(i, "simd/"))) keep_long(&i->mentions);
    if (in_room(i, "gen/loops.inl") && is_upper(first, n) && first[n] == '(') {
        const char *row = skip_space(first + n + 1);
        push(&i->defines, joined("tni_loops_", row, name_length(row), ""));
        push(&i->mentions, joined("TNI_E_", row, name_length(row), ""));
        i->drops = true;
    } else {
        const char *macro = starts(first, "static ") ? first + 7 : first;
        const size_t m = name_length(macro);
        const bool call = is_upper(macro, m) && macro[m] == '(',
                   private = starts(first, "TN_PRIV_DE");
        const bool type = is(first, n, "typedef") || is(first, n, "struct") || is(first, n, "enum");
        const char *from = call ? t.at : i->at, *to = call ? t.at + t.n : i->end;
        i->drops = define_all(i, from, to) && i->defines.n;
        if (type && !i->cxx) keep_long(&i->mentions); /* a member's name mentions nothing */
        const char *word = skip_space(first + (is(first, n, "typedef") ? n : 0));
        if (type && (!is_public(i) || !starts(word, "struct ") ||
                     !memchr(word, '{', (size_t)(i->end - word))))
            i->drops = false;
        if (!private && (in_room(i, "kernels/") || in_room(i, "simd/"))) i->drops = false;
        i->row_in_cxx =
            i->cxx && i->drops && (starts(i->at, "template <") || starts(i->at, "inline "));
        take_results(i);
        take_class(i);
        take_operator(i, macro, m);
        if (i->cxx) call_all(&i->calls, i->at, i->end);
    }
    free(t.at);
}

static void take_define(item *i) {
    const char *p = skip_space(strstr(i->at, "define") + 6);
    const size_t n = name_length(p);
    text t = {NULL, 0, 0};
    push(&i->defines, name_of(p, n));
    take_macro(p, i->end);
    if (starts(p, "TNI_SYMBOLS")) return; /* the table of all */
    const char *body = p[n] == '(' ? after_bracket(p, p + n, i->end) : p + n;
    add_string(&t, " ");
    expand(&t, body, i->end, 0);
    mention_all(&i->mentions, &i->when, body, i->end);
    mention_all(&i->mentions, &i->when, t.at + 1, t.at + t.n);
    if (i->cxx) call_all(&i->calls, body, i->end);
    if (in_room(i, "kernels/") || in_room(i, "simd/")) keep_long(&i->mentions);
    i->drops = starts(p, "tn_") || starts(p, "tnp_") || starts(p, "TNI_E_");
    free(t.at);
}

enum { NESTED = 64 };

/* All macros, for those that use one before it is defined. */
static void find_macros(const header *h) {
    for (const char *p = h->text.at; *p; p = end_of_line(p)) {
        const char *word = *p == '#' ? skip_space(p + 1) : p;
        if (*p == '#' && starts(word, "define")) take_macro(word + 6, after_directive(p));
    }
}

/* Cuts a header into items. */
static void scan(header *h) {
    const char *start = h->text.at, *room = "";
    bool cxx[NESTED] = {false};
    int depth = 0;
    h->first = nitems;
    const char *stop = start + strlen(start);
    for (const char *p = start, *end; *p; p = end) {
        if (isspace((unsigned char)*p)) {
            end = p + 1;
        } else if (is_comment(p)) {
            end = after_comment(p);
            if (starts(p, "/* src/")) room = p + 7;
            new_item(COMMENT, p, end, room, cxx[depth]);
        } else if (is_directive(start, p)) {
            const char *word = skip_space(p + 1);
            end = after_directive(p);
            const bool plus = starts(word, "ifdef __cplusplus") ||
                              (starts(word, "if defined(__cplusplus)") && word[23] != ' ') ||
                              starts(word, "if defined(__cplusplus) && ") ||
                              starts(word, "if __cplusplus");
            if (starts(word, "if") && depth < NESTED - 1)
                depth++, cxx[depth] = cxx[depth - 1] || plus;
            if (starts(word, "el")) cxx[depth] = depth && cxx[depth - 1];
            const bool macro = starts(word, "define");
            item *i = new_item(macro ? MACRO : DIRECTIVE, p, end, room, cxx[depth]);
            if (starts(word, "endif") && depth) depth--;
            if (macro)
                take_define(i);
            else if (!starts(word, "undef"))
                mention_all(&i->mentions, &i->when, p + 1, end);
        } else {
            end = after_code(start, p, stop);
            while (*end == ' ') end++;
            if (is_comment(end)) end = after_comment(end);
            take_code(new_item(CODE, p, end, room, cxx[depth]));
        }
    }
    h->last = nitems;
}
