/* text.c - text that grows, names in other spellings, files that are written only when they differ.
 */
#include "optable.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

int faults;
tool_options options;

void *tool_get(size_t bytes) {
    void *at = calloc(1, bytes ? bytes : 1);
    if (!at) {
        fprintf(stderr, "optable: out of memory\n");
        exit(2);
    }
    return at;
}

char *text_copy(const char *at, size_t n) {
    char *to = (char *)tool_get(n + 1);
    memcpy(to, at, n);
    return to;
}

char *text_word(tni_word w) { return text_copy(w.at ? w.at : "", (size_t)w.n); }

char *text_snake(const char *name) {
    text t = {NULL, 0, 0};
    for (const char *at = name; *at; at++)
        put(&t, "%s%c", at != name && isupper((unsigned char)*at) ? "_" : "",
            tolower((unsigned char)*at));
    return t.at;
}

char *text_upper(const char *name) {
    char *to = text_copy(name, strlen(name));
    for (char *at = to; *at; at++) *at = (char)toupper((unsigned char)*at);
    return to;
}

static void put_list(text *t, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    size_t n = (size_t)vsnprintf(NULL, 0, format, list);
    if (t->n + n + 1 > t->room) {
        char *old = t->at;
        t->room = (t->n + n + 1) * 2;
        t->at = (char *)tool_get(t->room);
        if (t->n) memcpy(t->at, old, t->n);
        free(old);
    }
    vsnprintf(t->at + t->n, n + 1, format, again);
    t->n += n;
    va_end(again);
}

void put(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_list(t, format, list);
    va_end(list);
}

char *text_format(const char *format, ...) {
    text t = {NULL, 0, 0};
    va_list list;
    va_start(list, format);
    put_list(&t, format, list);
    va_end(list);
    return t.at;
}

/* Where a line may be broken: the last ", " within room, outside of strings; 0: nowhere. */
static size_t break_at(const char *line, size_t room) {
    size_t last = 0;
    bool quoted = false;
    for (size_t i = 0; line[i] && i < room; i++) {
        if (line[i] == '"' && (!i || line[i - 1] != '\\')) quoted = !quoted;
        if (!quoted && line[i] == ' ' && i &&
            (line[i - 1] == ',' || line[i - 1] == '{' || line[i - 1] == ')'))
            last = i + 1;
    }
    return last;
}

void put_wrapped(text *t, const char *line, int indent, const char *tail) {
    size_t room = 100 - strlen(tail), first = 1;
    while (strlen(line) > room) {
        size_t at = break_at(line, room);
        if (!at) break;
        put(t, "%.*s%s\n%*s", (int)at - 1, line, tail, indent, "");
        line += at;
        if (first) room -= (size_t)indent;
        first = 0;
    }
    put(t, "%s\n", line);
}

void put_quoted(text *t, const char *s) {
    put(t, "\"");
    for (; *s; s++) {
        if (*s == '\n')
            put(t, "\\n");
        else
            put(t, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    }
    put(t, "\"");
}

void fault(const char *file, int line, const char *format, ...) {
    text t = {NULL, 0, 0};
    va_list list;
    va_start(list, format);
    put_list(&t, format, list);
    va_end(list);
    fprintf(stderr, "%s:%d: error: %s\n", file, line, t.at);
    faults++;
}

char *file_read(const char *path) {
    char *full = text_format("%s/%s", options.root, path);
    FILE *f = fopen(full, "rb");
    text t = {NULL, 0, 0};
    char piece[4096];
    size_t n;
    if (!f) return NULL;
    put(&t, "%s", "");
    while ((n = fread(piece, 1, sizeof piece, f)) > 0) put(&t, "%.*s", (int)n, piece);
    fclose(f);
    return t.at;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **list_add(char **paths, int n, int *room, char *path) {
    if (n == *room) {
        char **more = (char **)tool_get(sizeof *more * (size_t)(*room = 2 * *room + 16));
        if (n) memcpy(more, paths, sizeof *more * (size_t)n);
        paths = more;
    }
    paths[n] = path;
    return paths;
}

int file_list(const char *dir, const char *suffix, char ***paths) {
    DIR *d = opendir(text_format("%s/%s", options.root, dir));
    int n = 0, room = 0;
    *paths = NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        size_t length = strlen(e->d_name), end = strlen(suffix);
        char *path = text_format("%s/%s", dir, e->d_name), **inner;
        if (e->d_name[0] == '.') continue;
        if (length > end && !strcmp(e->d_name + length - end, suffix)) {
            *paths = list_add(*paths, n++, &room, path);
        } else if (!strchr(e->d_name, '.')) { /* a folder: a family of rows */
            int more = file_list(path, suffix, &inner);
            for (int i = 0; i < more; i++) *paths = list_add(*paths, n++, &room, inner[i]);
        }
    }
    if (d) closedir(d);
    if (n) qsort(*paths, (size_t)n, sizeof **paths, by_name);
    return n;
}

/* The folder of a generated file, which a clean tree may lack. */
static void make_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash) (void)mkdir(text_copy(path, (size_t)(slash - path)), 0777);
}

/* C text that differs in comments alone: what includes it need not be compiled again. */
static bool same_code(const char *path, const char *old, const text *t) {
    const char *end = strrchr(path, '.');
    return old && end && !strcmp(end, ".h") && !strcmp(scan_tidy(old), scan_tidy(t->at));
}

void file_write(const char *path, const text *t) {
    char *old = file_read(path), *full = text_format("%s/%s", options.root, path);
    struct stat before;
    bool keep = same_code(path, old, t) && stat(full, &before) == 0;
    FILE *f;
    if (old && !strcmp(old, t->at)) return;
    if (options.check) {
        fault(path, 1,
              "is not what the rows say: run `make headers`, which calls optable, and commit the "
              "result");
        return;
    }
    make_folder(full);
    f = fopen(full, "wb");
    if (!f || fwrite(t->at, 1, t->n, f) != t->n || fclose(f))
        fault(path, 1, "cannot write: %s", strerror(errno));
    if (keep) {
        struct utimbuf times;
        times.actime = before.st_atime;
        times.modtime = before.st_mtime;
        (void)utime(full, &times);
    }
}
