/* json.c - src/gen/table.json: everything about every row, for tests, stubs, the oracle and docs.
 */
#include "optable.h"

#include <string.h>

static void put_key(text *t, const char *key, const char *value) { /* a string or null */
    put(t, ", \"%s\": ", key);
    if (value)
        put_quoted(t, value);
    else
        put(t, "null");
}

static void put_bool(text *t, const char *key, bool value) {
    put(t, ", \"%s\": %s", key, value ? "true" : "false");
}

static void put_param(text *t, const tni_schema_param *p) {
    static const char *const flags[] = {"optional", NULL,     "keyword", "number",
                                        "mutated",  "double", NULL,      "holes"};
    put(t, "{\"name\": \"%.*s\"", p->name.n, p->name.at);
    put_key(t, "type", types[p->type].schema);
    put_bool(t, "required", !(p->flags & TN_P_DEFAULT));
    for (int i = 0; i < 8; i++)
        if (flags[i]) put_bool(t, flags[i], p->flags >> i & 1);
    put(t, ", \"count\": %d", p->count);
    put_key(t, "c_type", type_of(p));
    put_key(t, "group", p->group.n ? text_word(p->group) : NULL);
    if (p->words) {
        put_key(t, "enum", p->words->name);
        put(t, ", \"words\": [");
        for (int i = 0; p->words->words[i]; i++)
            put(t, "%s\"%s\"", i ? ", " : "", p->words->words[i]);
        put(t, "]");
    }
    if (p->flags & TN_P_DEFAULT) {
        put(t, ", \"default\": ");
        put_json_default(t, p);
    }
    put(t, "}");
}

static void put_schema(text *t, const tni_schema *s) {
    put(t, ",\n  \"params\": [");
    for (int i = 0; i < s->nparam; i++) {
        put(t, i ? ",\n    " : "\n    ");
        put_param(t, &s->param[i]);
    }
    put(t, "],\n  \"results\": [");
    for (int i = 0; i < s->nresults; i++)
        put(t, "%s\"%.*s\"", i ? ", " : "", s->result[i].n, s->result[i].at);
    put(t, "], \"returns_list\": %s", s->returns_list ? "true" : "false");
}

char *plain_comment(const row *r) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    if (!r->comment) return t.at;
    for (const char *at = r->comment + 2, *end = at + strlen(at) - 2; at < end;) {
        size_t n = strcspn(at, "\n");
        const char *from = at + strspn(at, " \t"), *to = at + n < end ? at + n : end;
        if (from < to && *from == '*') from++;
        if (from < to && *from == ' ') from++;
        while (to > from && to[-1] == ' ') to--;
        put(&t, "%s%.*s", t.n ? "\n" : "", (int)(to > from ? to - from : 0), from);
        at += n + 1;
    }
    return t.at;
}

static void put_doc(text *t, const row *r) {
    put_key(t, "comment", plain_comment(r));
    put_key(t, "shapes", r->shapes);
    put_key(t, "example", r->example);
    put_key(t, "differs", r->differs);
    put_key(t, "oracle", r->oracle);
}

static void put_row(text *t, const row *r) {
    static const char *const ways[] = {NULL, "loop", "predicate", "select", "to real"};
    const char *grad = row_field(r, "grad");
    put(t, " {\"name\": \"%s\"", r->name);
    put_key(t, "torch", text_word(r->s.name));
    put_key(t, "base", r->base);
    put_key(t, "schema", r->schema_text);
    put_key(t, "file", r->file);
    put(t, ", \"line\": %d,\n  \"index\": %d", r->line, r->index);
    put_doc(t, r);
    put_schema(t, &r->s);
    put_key(t, "python", *r->places ? r->places : NULL);
    put_bool(t, "out", (r->forms & TN_OUT) != 0);
    put_bool(t, "inplace", (r->forms & TN_INPLACE) != 0);
    put_bool(t, "inplace_only", row_inplace_only(r));
    put(t, ",\n  \"forms\": [");
    for (int k = 0; k < r->nform; k++) {
        put(t, "%s{\"c\": \"tn_%s\", \"inplace\": %s, \"numbers\": [", k ? ", " : "",
            r->form[k].name, r->form[k].inplace ? "true" : "false");
        for (int i = 0, n = 0; i < r->s.nparam && i < 32; i++)
            if (r->form[k].numbers >> i & 1)
                put(t, "%s\"%.*s\"", n++ ? ", " : "", r->s.param[i].name.n, r->s.param[i].name.at);
        put(t, "]}");
    }
    put(t, "],\n  \"composed\": %s", row_field(r, "compose") ? "true" : "false");
    put_bool(t, "look", row_field(r, "look") != NULL);
    put_bool(t, "random", (tni_schema_props(&r->s) & TN_PROP_GENERATOR) != 0);
    put_key(t, "grad", !grad ? NULL : !strcmp(grad, "tn_grad_zero") ? "zero" : grad);
    put_bool(t, "fused", row_field(r, "fused") != NULL);
    put_key(t, "autocast", row_field(r, "autocast"));
    put_key(t, "saves", r->saves);
    put_key(t, "needs", r->needs);
    put_key(t, "pointwise", ways[r->pointwise]);
    put_key(t, "kinds", r->kinds);
    put_key(t, "expression", r->expression);
    put_key(t, "rules", r->rules);
    put_key(t, "domain", r->domain);
    put_key(t, "sample", r->sample);
    put(t, "}");
}

static void put_module(text *t, const row *r) {
    put(t, " {\"name\": \"%s\"", r->name);
    put_key(t, "class", text_word(r->s.name));
    put_key(t, "schema", r->schema_text);
    put_key(t, "file", r->file);
    put(t, ", \"line\": %d", r->line);
    put_bool(t, "optimizer", r->kind == ROW_OPTIMIZER);
    put_doc(t, r);
    put_schema(t, &r->s);
    for (int i = r->ndoc; i < r->nfields; i++)
        put_key(t, r->fields[i].name,
                scan_string(r->fields[i].value) ? scan_string(r->fields[i].value)
                                                : r->fields[i].value);
    put(t, "}");
}

void write_json(const table *operators, const table *modules) {
    text t = {NULL, 0, 0};
    put(&t, "{\"operators\": [\n");
    for (int i = 0; i < operators->n; i++) {
        if (i) put(&t, ",\n");
        put_row(&t, operators->row[i]);
    }
    put(&t, "],\n\"modules\": [\n");
    for (int i = 0; i < modules->n; i++) {
        if (i) put(&t, ",\n");
        put_module(&t, modules->row[i]);
    }
    put(&t, "],\n\"enums\": {");
    for (const tni_enum *e = tni_enums(); e->name; e++) {
        put(&t, "%s\"%s\": [", e == tni_enums() ? "" : ", ", e->name);
        for (int i = 0; e->words[i]; i++) put(&t, "%s\"%s\"", i ? ", " : "", e->words[i]);
        put(&t, "]");
    }
    put(&t, "}}\n");
    file_write("src/gen/table.json", &t);
}
