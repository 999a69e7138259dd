/* api.h - the public functions of src/api, read from the headers, so that one that is added there
 * without a line in a program here is noticed; what a tensor holds, as one number; what is alive.
 *
 * The functions of operators and of kinds of modules (ops.h, modules.h) are made from rows:
 * programs
 * here go through the rows. */
#ifndef TESTS_EDGES_API_H
#define TESTS_EDGES_API_H

#include "../../src/tensor/tensor.h"
#include "../check.h"

static inline bool api_letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Is name, less _at and tnp for tn, called in the text? */
static inline bool api_called(const char *mine, const char *name) {
    char call[120];
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, "_at") == 0) n -= 3;
    if (strncmp(name, "tnp_", 4) == 0)
        snprintf(call, sizeof call, "tn_%.*s", (int)n - 4, name + 4);
    else
        snprintf(call, sizeof call, "%.*s", (int)n, name);
    for (const char *at = mine; (at = strstr(at, call)) != NULL; at += n) {
        const char *end = at + strlen(call);
        if (at[-1] != '"' && !api_letter(at[-1]) &&
            (*end == '(' || strncmp(end, "_at(", 4) == 0 || strncmp(end, "_(", 2) == 0 ||
             strncmp(end, "_new(", 5) == 0))
            return true;
    }
    return false;
}

/* Every function of the headers is called in one of the files, or named in the text of the others
 * (none, that is not there). */
static inline void api_is_whole(const char *const *files, int nfiles, const char *others) {
    static const char *const header[] = {"context", "tensor", "random", "autograd", "row",   "vmap",
                                         "extend",  "beside", "io",     "nn",       "optim", "data",
                                         "train",   "device", "group",  "parallel", "sparse"};
    char *mine[8] = {NULL};
    int functions = 0, found = 0, nothers = 0;
    for (const char *at = others; *at; at++) nothers += at[0] == ' ' && at[1] && at[1] != ' ';
    for (int k = 0; k < nfiles; k++) CHECK((mine[k] = check_file(files[k])) != NULL);
    for (size_t h = 0; h < sizeof header / sizeof *header; h++) {
        char path[60], name[100], word[104], *text;
        snprintf(path, sizeof path, "src/api/%s.h", header[h]);
        text = check_file(path);
        if (!CHECK(text != NULL)) continue;
        for (char *at = text; (at = strstr(at, "TN_API ")) != NULL;) {
            char *end = strchr(at, '('), *from = end;
            const bool begins = at - text >= 15 &&
                                (at[-1] == '\n' || strncmp(at - 15, "\nTN_USE_RESULT ", 15) == 0);
            at += 7;
            if (!begins) continue;
            bool known = false;
            while (api_letter(from[-1])) from--;
            snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
            snprintf(word, sizeof word, " %s ", name);
            if (strstr(others, word)) known = true, found++;
            for (int k = 0; k < nfiles && !known; k++) known = mine[k] && api_called(mine[k], name);
            functions++;
            check_report(known, path, 1, name);
            at = end;
        }
        free(text);
    }
    CHECK(functions > 250);
    CHECK_EQ(found, nothers);
    for (int k = 0; k < nfiles; k++) free(mine[k]);
}

/* Shape, dtype and elements of a tensor as one number; 0 for NULL. */
static inline uint64_t api_hash(const tn_tensor *t) {
    int64_t index[TN_MAX_DIMS] = {0}, at = 0;
    uint64_t h = 14695981039346656037u;
    if (!t) return 0;
    h = (h ^ (uint64_t)t->dtype) * 1099511628211u;
    for (int d = 0; d < t->ndim; d++) h = (h ^ (uint64_t)t->size[d]) * 1099511628211u;
    for (int64_t i = 0; tn_data(t) && i < t->numel; i++) {
        const unsigned char *from = (unsigned char *)tn_data(t) + at * tni_dtype_size(t);
        for (int k = 0; k < tni_dtype_size(t); k++) h = (h ^ from[k]) * 1099511628211u;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d];
            index[d] = 0;
        }
    }
    return h;
}

typedef struct api_alive {
    int64_t tensors, bytes;
} api_alive;
static inline api_alive api_count(void) {
    tn_memory_stats s = tn_memory();
    api_alive a = {s.live_tensors, s.bytes_used};
    return a;
}

#endif
