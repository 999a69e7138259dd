/* api.c - src/api/ops/, the public text of all operators by family, and src/gen/calls.c, the bodies
 * behind it. */
#include "optable.h"

#include <stdlib.h>
#include <string.h>

static bool parameter_is_number(const row *r, int i, uint32_t numbers) {
    const tni_schema_param *p = &r->s.param[i];
    return (i < 32 && numbers >> i & 1) || (p->type == TN_T_SCALAR && !(p->flags & TN_P_DEFAULT));
}

static char *at_name(const row *r, bool inplace) {
    return text_format("tn_%s%s_at", r->name, inplace ? "_inplace" : "");
}

char *at_prototype(const row *r, bool inplace) {
    return text_format("TN_API %s%s(const char *file, int line, const tn_%s_args *args)",
                       r->result_type, at_name(r, inplace), r->name);
}

/* A module's forward may be called for what it learns, as batch_norm does. */
bool result_is_all(const row *r, bool inplace) {
    for (int i = 0; i < r->s.nparam; i++)
        if (r->s.param[i].flags & TN_P_MUTATED) return false;
    return !inplace && (r->kind != ROW_MODULE || !strcmp(r->result_type, "tn_module *"));
}

static char *positional_prototype(const row *r, const form *f) {
    text t = {NULL, 0, 0};
    put(&t, "TN_API %stnp_%s(", r->result_type, f->name);
    for (int i = 0; i < r->s.nparam; i++)
        put(&t, "%s%s%.*s", i ? ", " : "",
            f->numbers >> (i & 31) & 1 && i < 32 ? "tn_scalar " : type_of(&r->s.param[i]),
            r->s.param[i].name.n, r->s.param[i].name.at);
    put(&t, r->s.nparam ? ")" : "void)");
    return t.at;
}

static void put_given(text *t, const row *r, int i, uint32_t numbers, const char *value) {
    char *name = text_word(r->s.param[i].name);
    const char *more = numbers >> (i & 31) & 1 && i < 32 ? "_number" : "";
    if (!parameter_is_number(r, i, numbers))
        put(t, ", .%s = %s", name, value);
    else
        put(t, ", TNI_NUMBER_IN(.%s%s, %s)", name, more, value);
}

/* The required parameters of a form in the order of the call, the number that stands in the struct
 * before the others too. */
static int required_of(const row *r, int *required) {
    int n = 0;
    for (int i = 0; i < r->s.nparam; i++)
        if (!(r->s.param[i].flags & TN_P_DEFAULT)) required[n++] = i;
    return n;
}

static void put_macro(text *to, const row *r, const form *f) {
    int required[TNI_PARAMS], n = required_of(r, required);
    text t = {NULL, 0, 0};
    put(&t, "#define tn_%s(", f->name);
    for (int i = 0; i + 1 < n; i++)
        put(&t, "%.*s_, ", r->s.param[required[i]].name.n, r->s.param[required[i]].name.at);
    put(&t, "...) ");
    /* A pointer that must be used, unless the call names out; other results pass without a word. */
    const char *star = strstr(r->result_type, " *");
    const bool use = star && result_is_all(r, f->inplace);
    if (use && r->forms & TN_OUT)
        put(&t, "TNI_RESULT_OR_OUT(#__VA_ARGS__, ");
    else if (use)
        put(&t, "TNI_RESULT(%.*s, ", (int)(star - r->result_type), r->result_type);
    if (f->inplace)
        put(&t, "TNI_CALL_AS(%s, tn_%s_args", at_name(r, true), r->name);
    else
        put(&t, "TNI_CALL(tn_%s", r->name);
    for (int i = 0; i < r->s.nparam; i++) {
        const char *value =
            r->s.param[i].flags & TN_P_DEFAULT ? default_of(&r->s.param[i], SPELL_MACRO, "") : "";
        if (*value) put(&t, ", .%.*s = %s", r->s.param[i].name.n, r->s.param[i].name.at, value);
    }
    for (int i = 0; i + 1 < n; i++)
        put_given(&t, r, required[i], f->numbers,
                  text_format("%s_", text_word(r->s.param[required[i]].name)));
    if (n)
        put_given(&t, r, required[n - 1], f->numbers, "__VA_ARGS__");
    else
        put(&t, ", .tni_last = 0, __VA_ARGS__");
    put(&t, use ? "))" : ")");
    put_wrapped(to, t.at, 4, " \\");
}

static void put_enums(text *t) {
    for (const tni_enum *e = tni_enums(); e->name; e++) {
        char *snake = text_snake(e->name), *upper = text_upper(snake);
        text line = {NULL, 0, 0};
        put(&line, "typedef enum tn_%s { ", snake);
        for (int i = 0; e->words[i]; i++)
            put(&line, "%sTN_%s_%s%s", i ? ", " : "", upper, text_upper(e->words[i]),
                i ? "" : " = 1");
        put(&line, " } tn_%s;", snake);
        put_wrapped(t, line.at, 4, "");
    }
}

static bool result_seen(const table *t, int i) {
    for (int k = 0; k < i; k++)
        if (!strcmp(t->row[k]->result_type, t->row[i]->result_type)) return true;
    return false;
}

void put_result_type(text *t, const row *r) {
    text names = {NULL, 0, 0};
    if (r->s.nresults < 2) return;
    for (int i = 0; i < r->s.nresults; i++)
        put(&names, "%s*%.*s", i ? ", " : "", r->s.result[i].n, r->s.result[i].at);
    char *type = text_copy(r->result_type, strlen(r->result_type) - 1);
    put(t, "typedef struct %s {\n    tn_tensor %s;\n} %s;\n", type, names.at, type);
}

/* One line of a row's documentation, wrapped below itself. */
static void put_doc_line(text *t, const char *what, const char *s) {
    enum { INDENT = 13, WIDTH = 97 }; /* the comment's end fits behind the last line */
    if (!s) return;
    put(t, "\n *   %-8s", what);
    for (size_t room = WIDTH - INDENT; *s;) {
        size_t n = strlen(s);
        if (n > room)
            for (n = room; n && s[n] != ' ';) n--;
        if (!n) n = strcspn(s, " ");
        put(t, "%.*s", (int)n, s);
        s += n + (s[n] == ' ');
        if (*s) put(t, "\n *%*s", INDENT - 2, "");
    }
}

/* What a reader sees above the declarations: the row's comment, torch's schema, shapes, a call. */
static void put_doc(text *t, const row *r) {
    if (!r->comment) return;
    put(t, "\n%.*s", (int)strlen(r->comment) - 3, r->comment);
    put_doc_line(t, "schema", r->schema_text);
    put_doc_line(t, "shapes", r->shapes);
    put_doc_line(t, "example", r->example);
    put(t, " */\n");
}

/* use: nothing but the result comes of the call. */
static void put_declaration(text *t, const char *prototype, bool use) {
    put_wrapped(t, text_format("%s%s;", use ? "TN_USE_RESULT " : "", prototype), 4, "");
}

void put_operator(text *t, const row *r) {
    bool inplace = (r->forms & TN_INPLACE) != 0;
    put_doc(t, r);
    put(t, "typedef struct tn_%s_args {\n", r->name);
    put_members(t, &r->s, r->forms & TN_OUT ? r->result_type : NULL);
    put(t, "    TNI_NAMED_OPTIONS\n} tn_%s_args;\n", r->name);
    if (!row_inplace_only(r))
        put_declaration(t, at_prototype(r, false), !(r->forms & TN_OUT) && result_is_all(r, false));
    if (inplace) put_declaration(t, at_prototype(r, true), false);
    for (int k = 0; k < r->nform; k++)
        put_declaration(t, positional_prototype(r, &r->form[k]),
                        result_is_all(r, r->form[k].inplace));
    put(t, "#ifndef __cplusplus\n");
    for (int k = 0; k < r->nform; k++) put_macro(t, r, &r->form[k]);
    put(t, "#endif\n");
}

static bool needs_math(const text *t) { return t->at && strstr(t->at, "HUGE_VAL"); }

static void put_at_body(text *t, const row *r, bool inplace) {
    const char *how = inplace ? "TN_IN_PLACE" : "TN_PLAIN";
    put_wrapped(t, text_format("%s {", at_prototype(r, inplace)), 4, "");
    if (r->s.nresults) {
        put(t, "    %sr;\n    tn_call(&tni_row_%s, %s, file, line, args, &r);\n    return r;\n}\n",
            r->result_type, r->name, how);
    } else {
        put(t, "    return tn_call(&tni_row_%s, %s, file, line, args, NULL);\n}\n", r->name, how);
    }
}

void put_positional_body(text *t, const row *r, const form *f) {
    text line = {NULL, 0, 0};
    put_wrapped(t, text_format("%s {", positional_prototype(r, f)), 4, "");
    put(&line, "    const tn_%s_args a = {", r->name);
    put_initialisers(&line, &r->s, out_null(r), f->numbers, 0, NULL);
    put(&line, "};");
    put_wrapped(t, line.at, 8, "");
    put(t, "    return %s(NULL, 0, &a);\n}\n", at_name(r, f->inplace));
}

static void write_calls(const table *all) {
    text t = {NULL, 0, 0};
    put(&t, "/* calls.c - the functions behind ops.h: a keyword call brings file and line, a "
            "positional one has none.\n"
            " * Generated by tools/optable from the rows; `make headers` writes it again. */\n"
            "#include \"../call/call.h\"\n#include \"rows.h\"\n\nTNI_EXTERN_C_BEGIN\n");
    for (int i = 0; i < all->n; i++) {
        const row *r = all->row[i];
        put(&t, "\n");
        if (!row_inplace_only(r)) put_at_body(&t, r, false);
        if (r->forms & TN_INPLACE) put_at_body(&t, r, true);
        for (int k = 0; k < r->nform; k++) put_positional_body(&t, r, &r->form[k]);
    }
    put(&t, "\nTNI_EXTERN_C_END\n");
    file_write("src/gen/calls.c", &t);
}

/* A line between the rows of two files, wrapped where it is long. */
void put_file_head(text *t, const char *path) {
    const char *at = file_about(path);
    put(t, "\n/* --- ");
    for (size_t room = 85, n; strlen(at) > room; at += n + 1) {
        for (n = room; at[n] != ' ';) n--;
        put(t, "%.*s\n * ", (int)n, at);
    }
    put(t, "%s --- */\n", at);
}

static const char generated[] =
    "Generated by tools/optable from src/ops; `make headers` writes it again.";

void put_head(text *t, const char *name, const char *about, const char *guard) {
    put(t, "/* %s.h - %s.\n *\n * %s */\n#ifndef TNI_API_OPS_%s_H\n#define TNI_API_OPS_%s_H\n\n",
        name, about, generated, guard, guard);
}

static void put_end(text *t, const text *body, const char *include) {
    if (needs_math(body)) put(t, "#include <math.h>\n\n");
    put(t, "#include \"%s\"\n\nTNI_EXTERN_C_BEGIN\n%s\nTNI_EXTERN_C_END\n#endif\n", include,
        body->at);
}

/* The words of options and the structs of several results, which families share. */
static void write_words(const table *all) {
    text t = {NULL, 0, 0}, body = {NULL, 0, 0};
    put(&body, "\n/* Words of options; 0, where the option may be None, is None. */\n");
    put_enums(&body);
    put(&body, "\n/* Several results. */\n");
    for (int i = 0; i < all->n; i++)
        if (!result_seen(all, i)) put_result_type(&body, all->row[i]);
    put_head(&t, "words", "enums of options, and result structs", "WORDS");
    put_end(&t, &body, "../call.h");
    file_write("src/api/ops/words.h", &t);
}

static void write_family(const table *all, int family) {
    const char *name = family_name(family), *file = "";
    text t = {NULL, 0, 0}, body = {NULL, 0, 0};
    for (int i = 0; i < all->n; i++) {
        const row *r = all->row[i];
        if (r->family != family) continue;
        if (strcmp(file, r->file)) put_file_head(&body, r->file);
        file = r->file;
        put_operator(&body, r);
    }
    if (!body.n) put(&body, "\n");
    put_head(&t, name, family_about(family), text_upper(name));
    put_end(&t, &body, "words.h");
    file_write(text_format("src/api/ops/%s.h", name), &t);
}

void write_ops(const table *sorted, const table *families) {
    text t = {NULL, 0, 0};
    put(&t,
        "/* ops.h - every operator, family by family.\n * %s */\n"
        "#ifndef TNI_API_OPS_H\n#define TNI_API_OPS_H\n\n",
        generated);
    for (int i = 0; i < family_count(); i++) {
        write_family(families, i);
        put(&t, "#include \"ops/%s.h\"\n", family_name(i));
    }
    put(&t, "\n#endif\n");
    file_write("src/api/ops.h", &t);
    write_words(sorted);
    write_cxx(sorted);
    write_calls(sorted);
}
