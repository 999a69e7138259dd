/* family.c - families of operators, the folders of src/ops: what each is, and in which order a
 * reader meets them in tensor.h and in docs/reference.md. A new folder gets its line here. */
#include "optable.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *about, *first; /* first: the file that opens the chapter */
} families[] = {
    {"creation", "new tensors: constants, ranges, random numbers", "create"},
    {"shape", "views, other sizes and orders, copies, joining and cutting", "view"},
    {"elementwise", "arithmetic, functions, activations, comparisons, logic", "arithmetic"},
    {"reduction", "sums, extremes, statistics, norms, softmax, running sums", "sum"},
    {"linalg", "products of matrices and vectors", "matmul"},
    {"indexing", "elements by index or mask, gather and scatter, sorting, search", "index"},
    {"fft", "Fourier transforms of one and more dimensions, their frequencies", "transform"},
    {"layers", "convolution, pooling, normalisation, attention, losses, optimizer steps", "conv"},
    {"distributed", "what several ranks do together: sums, copies, messages", "collective"},
};
enum { FAMILIES = sizeof families / sizeof *families };

int family_count(void) { return FAMILIES; }
const char *family_name(int i) { return families[i].name; }
const char *family_about(int i) { return families[i].about; }

static int family_of(const row *r) {
    const char *folder = r->file + strlen("src/ops/"), *end = strchr(folder, '/');
    for (int i = 0; end && i < FAMILIES; i++)
        if (strlen(families[i].name) == (size_t)(end - folder) &&
            !memcmp(families[i].name, folder, (size_t)(end - folder)))
            return i;
    fault(r->file, r->line, "%s: the folder is no family of tools/optable/family.c", r->name);
    return 0;
}

char *file_stem(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return text_copy(name, strcspn(name, "."));
}

/* Family by family, the file that opens one first; the other files, and the rows of a file, stay
 * in their order. */
static int by_family(const void *a, const void *b) {
    const row *x = *(row *const *)a, *y = *(row *const *)b;
    const bool x_first = !strcmp(file_stem(x->file), families[x->family].first);
    const bool y_first = !strcmp(file_stem(y->file), families[y->family].first);
    int order = strcmp(x->file, y->file);
    if (x->family != y->family) return x->family - y->family;
    if (x_first != y_first) return y_first - x_first;
    return order ? order : x->line - y->line;
}

void sort_by_family(table *t) {
    for (int i = 0; i < t->n; i++) t->row[i]->family = family_of(t->row[i]);
    if (t->n) qsort(t->row, (size_t)t->n, sizeof *t->row, by_family);
    for (int i = 0; i < t->n; i++) { /* the first row of its family */
        const row *r = t->row[i];
        const char *first = families[r->family].first;
        if ((!i || t->row[i - 1]->family != r->family) && strcmp(file_stem(r->file), first) != 0)
            fault("tools/optable/family.c", 1, "%s opens with %s.c, which has no row",
                  families[r->family].name, first);
    }
}

/* The first sentence of a file's first comment, behind the file's name: "views, and reshape". */
char *file_about(const char *path) {
    char *all = file_read(path), *from = all ? strstr(all, " - ") : NULL;
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (const char *at = from ? from + 3 : ""; *at && strncmp(at, "*/", 2) != 0; at++) {
        if (*at == '.' && strchr(" \n", at[1])) break;
        if (*at == '\n') {
            at += 1 + strspn(at + 1, " ");
            at += *at == '*';
            if (*at == '\n') break;
        }
        put(&t, "%c", *at);
    }
    return t.at;
}
