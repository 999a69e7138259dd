/* reference.c - docs/reference.md: every row with its schema, its calls in C and C++, its shapes
 * and example. */
#include "optable.h"

#include <string.h>

static const char *entry_prefix(const row *r) {
    return r->kind == ROW_OPERATOR ? "tn_" : r->kind == ROW_MODULE ? "tn_nn_" : "tn_optim_";
}

/* Required arguments, then options by name: "tn_sum(self, .dim, .keepdim, .out)". */
static void put_c_form(text *t, const row *r, const form *f) {
    text required = {NULL, 0, 0}, keywords = {NULL, 0, 0};
    put(&required, "%s", "");
    put(&keywords, "%s", "");
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        const bool option = (p->flags & TN_P_DEFAULT) != 0;
        put(option ? &keywords : &required, "%s%s%.*s", i ? ", " : "", option ? "." : "", p->name.n,
            p->name.at);
    }
    if (!f->inplace && (r->forms & TN_OUT)) put(&keywords, "%s.out", r->s.nparam ? ", " : "");
    put(t, "tn_%s(%s%s)\n", f->name, required.at, keywords.at);
}

static void put_entry(text *t, const table *all, const row *r) {
    put(t, "### %s%s\n\n%s\n\n", entry_prefix(r), r->name, plain_comment(r));
    put(t, "```\nschema   %s\n", r->schema_text);
    for (int k = 0; k < r->nform; k++) {
        put(t, k ? "         " : "C        ");
        put_c_form(t, r, &r->form[k]);
    }
    put(t, "C++      ");
    put_cxx_signatures(t, all, r, "         ");
    if (r->shapes) put(t, "shapes   %s\n", r->shapes);
    put(t, "example  %s\n```\n\n", r->example);
    if (r->differs) put(t, "Differs from torch: %s.\n\n", r->differs);
}

/* "## elementwise": an operator's family; a module's file; "optimizers". */
static const char *section_of(const row *r) {
    return r->kind == ROW_OPERATOR    ? family_name(r->family)
           : r->kind == ROW_OPTIMIZER ? "optimizers"
                                      : text_format("modules: %s", file_stem(r->file));
}

static void put_entries(text *t, const table *rows) {
    const char *file = "", *section = "";
    for (int i = 0; i < rows->n; i++) {
        const row *r = rows->row[i];
        if (strcmp(section, section_of(r))) put(t, "## %s\n\n", section_of(r));
        if (strcmp(file, r->file)) put(t, "*%s*\n\n", file_about(r->file));
        section = section_of(r);
        file = r->file;
        put_entry(t, rows, r);
    }
}

/* A line a section with links to its entries. */
static void put_links(text *t, const table *rows) {
    const char *section = "";
    for (int i = 0; i < rows->n; i++) {
        const row *r = rows->row[i];
        if (strcmp(section, section_of(r))) put(t, "%s- **%s**:", i ? "\n" : "", section_of(r));
        section = section_of(r);
        put(t, " [%s](#%s%s)", r->name, entry_prefix(r), r->name);
    }
    put(t, "\n");
}

void write_reference(const table *operators, const table *modules) {
    text t = {NULL, 0, 0};
    put(&t, "# Reference\n\nEvery operator by family, then modules and optimizers, in the words of "
            "their rows in `src/`, from which\n`make headers` generates this page. The schema is "
            "torch's. The shape (*) is any.\n\n"
            "- **C**: what is required by position, then options by name: "
            "`tn_sum(x, .dim = TN_DIMS(0), .keepdim = true)`.\n  `tn_add_` writes into its first "
            "argument; `.out` is a tensor that takes the result.\n"
            "- **C++**: x is a `tn::tensor`. Each method is a function, too: `tn::sum(x)`. "
            "Options follow by position, or by\n  name in braces, which alone know `.out`: "
            "`x.sum({.dim = {0}, .keepdim = true})`. What is `none` was not given.\n"
            "  [cpp.md](cpp.md#options) says what each type takes.\n\n"
            "## Contents\n\n");
    put_links(&t, operators);
    put_links(&t, modules);
    put(&t, "\n");
    put_entries(&t, operators);
    put_entries(&t, modules);
    file_write("docs/reference.md", &t);
}
