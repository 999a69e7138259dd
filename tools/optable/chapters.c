/* chapters.c - docs/api.md: the public functions and macros that are no rows, from the headers.
 *
 * A header of src/api is a sequence of comments, declarations and macros. A comment above a
 * declaration is its text, and of what follows up to the next comment. A macro over NAME_at, which
 * adds file and line, is shown as a user calls it, with the types of NAME_at, which is left out.
 * Of conditional text the branch for C with gcc is taken; names with tni_ and TNI_ are private. */
#include "chapters.h"

#include <ctype.h>
#include <string.h>

/* Every header of src/api: its chapter, or why it has none. */
static const struct {
    const char *file, *chapter;
} headers[] = {
    {"config", "options"},
    {"types", "types"},
    {"context", "contexts and errors"},
    {"tensor", "tensors"},
    {"random", "random numbers"},
    {"autograd", "gradients"},
    {"call", "calls"},
    {"io", "files"},
    {"nn", "modules"},
    {"optim", "optimizers"},
    {"data", "data"},
    {"train", "training"},
    {"parallel", "training on several ranks"},
    {"row", "your own operators"},
    {"device", "devices"},
    {"plan", "plans of memory"},
    {"vmap", "batches: one call for all samples"},
    {"sparse", "sparse tensors"},
    {"group", "several ranks"},
    {"cuda", "CUDA"},
    {"beside", "bindings: calls and fibers"},
    {"extend", "bindings: tensors and schemas"},
    {"first", NULL},    /* the head of tensor.h */
    {"nn_first", NULL},   /* the head of tensor_nn.h */
    {"cuda_first", NULL}, /* the head of tensor_cuda.cu.h */
    {"compiler", NULL}, /* private */
    {"ops", NULL},      /* rows: docs/reference.md */
    {"modules", NULL},  /* rows */
    {"renamed", NULL},  /* old names */
};
enum { HEADERS = sizeof headers / sizeof *headers };

/* --- the entries ------------------------------------------------------------------------------ */

/* Names that a reader calls: functions and macros, but not types and positional forms. */
static bool is_called(const item *d) {
    return (d->kind == ITEM_MACRO || d->kind == ITEM_FUNCTION) && !starts(d->name, "tnp_");
}

static void put_index(text *t, const char *chapter, const items *all) {
    text links = {NULL, 0, 0};
    for (int i = 0; i < all->n; i++)
        if (is_called(&all->at[i]) && !all->at[i].hidden)
            put(&links, " [%s](#%s)", all->at[i].name, all->at[i].name);
    if (links.n) put(t, "- **%s**:%s\n", chapter, links.at);
}

/* Anchors, text and declarations of what stands between two comments. */
static void put_entry(text *t, const items *all, int from, int to) {
    bool any = false;
    for (int i = from; i < to; i++) {
        const item *d = &all->at[i];
        if (d->hidden || !d->name) continue;
        any = true;
        if (strstr(t->at, text_format("<a id=\"%s\">", d->name))) continue; /* declared before */
        put(t, "<a id=\"%s\"></a>", d->name);
    }
    if (!any) return;
    put(t, "\n\n");
    if (all->at[from].kind == ITEM_COMMENT) put_prose(t, all->at[from].text);
    put(t, "```c\n");
    for (int i = from; i < to; i++)
        if (!all->at[i].hidden && all->at[i].name) put(t, "%s\n", all->at[i].shown);
    put(t, "```\n\n");
}

static bool has_entry(const items *all, int from, int to) {
    for (int i = from; i < to; i++)
        if (!all->at[i].hidden && all->at[i].name) return true;
    return false;
}

static int next_of(const items *all, int from, item_kind kind) {
    while (from < all->n && all->at[from].kind != kind && all->at[from].kind != ITEM_SECTION)
        from++;
    return from;
}

static void put_chapter(text *t, const char *chapter, const items *all) {
    put(t, "## %s\n\n", chapter);
    for (int i = 0; i < all->n;) {
        if (all->at[i].kind == ITEM_SECTION) {
            const int end = next_of(all, i + 1, ITEM_SECTION);
            if (has_entry(all, i, end)) put(t, "### %s\n\n", all->at[i].text);
            i++;
            continue;
        }
        if (!i) { /* what the header is: "context.h - contexts: .." */
            char *about = strstr(all->at[i++].text, " - ") + strlen(" - ");
            *about = (char)toupper((unsigned char)*about);
            put_prose(t, about);
            continue;
        }
        const int end = next_of(all, i + 1, ITEM_COMMENT);
        put_entry(t, all, i, end);
        i = end;
    }
}

static void check_headers(void) {
    char **paths;
    const int n = file_list("src/api", ".h", &paths);
    for (int i = 0; i < n; i++) {
        bool known = starts(paths[i], "src/api/ops/") || starts(paths[i], "src/api/cxx");
        for (int k = 0; k < HEADERS && !known; k++)
            known = !strcmp(paths[i], text_format("src/api/%s.h", headers[k].file));
        if (!known)
            fault(paths[i], 1, "is in no chapter of docs/api.md: see tools/optable/chapters.c");
    }
}

void write_chapters(void) {
    text index = {NULL, 0, 0}, body = {NULL, 0, 0}, t = {NULL, 0, 0};
    check_headers();
    for (int k = 0; k < HEADERS; k++) {
        items all;
        if (!headers[k].chapter) continue;
        read_header(text_format("src/api/%s.h", headers[k].file), &all);
        put_index(&index, headers[k].chapter, &all);
        put_chapter(&body, headers[k].chapter, &all);
    }
    put(&t,
        "# Functions that are no operators\n\n"
        "Functions, macros and types of C, chapter by chapter, in the words of the headers in "
        "`src/api/`, from which\n`make headers` generates this page. Operators, modules and "
        "optimizers are in [reference.md](reference.md),\na guide in [c.md](c.md).\n\n"
        "A call such as `tn_item(t)` is a macro over `tn_item_at(file, line, t)`; it is shown with "
        "its types.\n\n## Contents\n\n%s\n%s",
        index.at, body.at);
    while (t.at[t.n - 2] == '\n') t.at[--t.n] = 0; /* no empty lines at the end */
    file_write("docs/api.md", &t);
}
