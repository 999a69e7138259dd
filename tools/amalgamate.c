/* amalgamate.c - packs a root such as src/tensor.c and everything it includes into one header.
 *
 *     amalgamate [--flat] [--split] [--lines] [--check] [--on BASE.c] ROOT.c OUT.h
 *
 *   --flat    no self-inclusion: text that is compiled several times is written several times
 *   --split   OUT.h gets the declarations, OUT.c beside it the implementation
 *   --lines   #line directives: compilers and debuggers point into src/
 *   --check   writes nothing; fails when the files are not what would be written
 *   --on      OUT.h includes the header of BASE.c instead of repeating it (tensor_nn on tensor)
 *   OUT.c     is the root with its files in their places, no header: it includes that of BASE.c
 * itself
 *
 * Headers of src/api/ become the public part, each a chapter with a tag, which a list of contents
 * names; the rest stands under #ifdef <ROOT>_IMPLEMENTATION, without its comments: they are for
 * those who read src/. Private headers come before all other text, so that #if TNI_PART(n) in a
 * root may leave out any of its .c files (TENSOR_PART). A header with an include guard appears
 * once. Text without one is repeated at each include, but where that would be long it becomes a
 * section at the end of the output, which includes itself to reach it. Each section costs one more
 * reading of the whole output, so there are no sections in sections: text is repeated there, with
 * its conditions resolved (conditions.h).
 * So do the lists of all TN_API symbols for TN_PREFIX, TN_IMPORT and
 * TN_EXPORT. A hash of the public part names the symbol that ties the objects of a program to one
 * version of the header.
 * Run it from the top of the tree; it touches nothing but the files named and their includes. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 1000, PATH = 512, NAME = 128, MAX_NAMES = 8000, MAX_CHAPTERS = 60, ABOUT = 400 };
enum { LONG_COPIES = 100000 }; /* bytes of repeated text that are worth a section */

typedef struct text {
    char *at;
    size_t n, room;
} text;

typedef struct file {
    char path[PATH];
    text body;
    char guard[NAME]; /* macro of the include guard; "" when there is none */
    size_t from, to;  /* of the body: what is inside the guard */
    bool visited, packed, in_base; /* in_base: the header of --on has it */
    int inclusions; /* how many lines include it, counted before packing */
    int section;    /* number of its section; 0: none */
} file;

static struct {
    file files[MAX_FILES];
    int nfiles, nsections;
    bool flat, split, lines, check, based, plain; /* based: --on; plain: OUT.c */
    char suffix[NAME]; /* "" of tensor.c, "_NN" of tensor_nn.c */
    char name[NAME];   /* the same in small letters */
    text api, heads, code, sections; /* heads: private headers */
    const file *root;
    struct {
        const file *of;
        size_t at; /* in api */
    } chapter[MAX_CHAPTERS];
    int nchapters;
} packer;

static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "amalgamate: ");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

/* --- text and files --------------------------------------------------------------------------- */
static void add(text *t, const char *from, size_t n) {
    if (t->n + n + 1 > t->room) {
        t->room = (t->n + n + 1) * 2;
        t->at = (char *)realloc(t->at, t->room);
        if (!t->at) fail("out of memory");
    }
    if (n) memcpy(t->at + t->n, from, n);
    t->n += n;
    t->at[t->n] = 0;
}

static void print(text *t, const char *format, ...) {
    char line[2048];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof line) fail("a line is too long: %s", line);
    add(t, line, (size_t)n);
}

static bool read_text(const char *path, text *to) {
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    char part[1 << 16];
    add(to, "", 0);
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;) add(to, part, n);
    bool ok = !ferror(in);
    fclose(in);
    return ok;
}

static const char *line_end(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

static bool is_word(int c) { return isalnum(c) || c == '_'; }
/* The word of a directive line ("define" of "# define X") and what follows; NULL: no directive. */
static const char *directive(const char *line, char word[NAME]) {
    line = skip_blanks(line);
    if (*line != '#') return NULL;
    line = skip_blanks(line + 1);
    size_t n = 0;
    for (; isalpha((unsigned char)line[n]) && n < NAME - 1; n++) word[n] = line[n];
    word[n] = 0;
    return skip_blanks(line + n);
}

static void read_word(const char *at, char word[NAME]) {
    size_t n = 0;
    for (; is_word((unsigned char)at[n]) && n < NAME - 1; n++) word[n] = at[n];
    word[n] = 0;
}

/* Whether a comment is open after this line, when `open` says whether one was before it. */
static bool comment_after(const char *line, const char *end, bool open) {
    for (const char *p = line; p < end; p++) {
        if (open) {
            if (p[0] == '*' && p[1] == '/') open = false, p++;
        } else if (p[0] == '/' && p[1] == '*') {
            open = true, p++;
        } else if (p[0] == '/' && p[1] == '/') {
            return false;
        } else if (*p == '"' || *p == '\'') {
            char quote = *p;
            for (p++; p < end && *p != quote; p++)
                if (*p == '\\') p++;
        }
    }
    return open;
}

/* Finds an include guard: first `#ifndef X`, `#define X`, and nothing behind the `#endif` of it. */
static void find_guard(file *f) {
    char word[NAME], name[NAME] = "";
    bool open = false, defined = false, over = false;
    int depth = 0;
    for (const char *p = f->body.at, *end; *p; p = end) {
        end = line_end(p);
        const char *rest = open ? NULL : directive(p, word);
        bool blank = open || strchr("/\n", *skip_blanks(p));
        open = comment_after(p, end, open);
        if (over && !blank) name[0] = 0;
        if (!rest || over) continue;
        if (!name[0]) {
            if (strcmp(word, "ifndef") != 0) return;
            read_word(rest, name);
        } else if (!defined) {
            read_word(rest, f->guard);
            defined = strcmp(word, "define") == 0 && strcmp(name, f->guard) == 0;
            if (!defined) break;
            f->from = (size_t)(end - f->body.at);
        }
        depth += (strncmp(word, "if", 2) == 0) - (strcmp(word, "endif") == 0);
        if (depth == 0) over = true, f->to = (size_t)(p - f->body.at);
    }
    strcpy(f->guard, over ? name : "");
}

/* from/../x -> x, and ./ dropped */
static void normalize(char *path) {
    char *out = path;
    for (char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.' && out > path) {
            for (out--; out > path && out[-1] != '/'; out--) {}
        } else if (!(n == 1 && p[0] == '.')) {
            memmove(out, p, n), out += n;
            if (p[n]) *out++ = '/';
        }
        p += n + (p[n] == '/');
    }
    *out = 0;
}

static file *open_file(const char *name, const file *by) {
    char path[PATH * 2];
    const char *slash = by ? strrchr(by->path, '/') : NULL;
    int folder = slash ? (int)(slash - by->path + 1) : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, by ? by->path : "", name);
    normalize(path);
    for (int i = 0; i < packer.nfiles; i++)
        if (strcmp(packer.files[i].path, path) == 0) return &packer.files[i];
    if (packer.nfiles == MAX_FILES || strlen(path) >= PATH) fail("too many files: %s", path);
    file *f = &packer.files[packer.nfiles++];
    strcpy(f->path, path);
    if (!read_text(path, &f->body))
        fail("cannot read %s%s%s", path, by ? ", included by " : "", by ? by->path : "");
    find_guard(f);
    return f;
}

static bool ends_with(const char *s, const char *end) {
    return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

/* "out/tensor_nn.h" -> "tensor_nn" */
static void stem_of(const char *path, char stem[NAME]) {
    const char *slash = strrchr(path, '/');
    snprintf(stem, NAME, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot) *dot = 0;
}

/* The file that a line includes in quotes, else NULL. */
static file *included(const char *line, const file *by) {
    char word[NAME], name[PATH];
    const char *rest = directive(line, word);
    if (!rest || strcmp(word, "include") != 0 || *rest != '"') return NULL;
    size_t n = strcspn(rest + 1, "\"\n");
    if (rest[n + 1] != '"' || n >= PATH) fail("%s: no end of %.80s", by->path, line);
    memcpy(name, rest + 1, n), name[n] = 0;
    return open_file(name, by);
}

#include "conditions.h"

/* --- packing ---------------------------------------------------------------------------------- */

static bool is_api(const file *f) { return strstr(f->path, "src/api/") != NULL; }

/* Counts inclusions. */
static void visit(file *f) {
    bool open = false;
    f->visited = true;
    for (const char *p = f->body.at, *end; *p; p = end) {
        end = line_end(p);
        file *g = open ? NULL : included(p, f);
        open = comment_after(p, end, open);
        if (!g) continue;
        g->inclusions++;
        if (!g->visited) visit(g);
    }
}

static void pack(file *f, text *to);

/* Text that is compiled again: where copies would be long it becomes a section, and all that it
 * includes stands in it, for compilers read the whole output once more for each section. */
static void pack_again(file *g, text *to) {
    static int depth; /* of such texts */
    text body = {NULL, 0, 0};
    const char *s = packer.suffix;
    depth++;
    if (!g->section) pack(g, &body);
    if (--depth == 0 && !g->section && !packer.lines) resolve(&body);
    if (!g->section && (depth || packer.flat || g->inclusions < 2 ||
                        (size_t)g->inclusions * body.n < LONG_COPIES)) {
        add(to, body.at, body.n);
    } else {
        if (!g->section) {
            g->section = ++packer.nsections;
            print(&packer.sections, "#%s TNI%s_SECTION == %d\n#undef TNI%s_SECTION\n",
                  packer.sections.n ? "elif" : "if", s, g->section, s);
            add(&packer.sections, body.at, body.n);
        }
        print(to, "#define TNI%s_SECTION %d /* %s */\n", s, g->section, g->path);
        print(to, "#include TN%s_HEADER_NAME\n", s);
    }
    free(body.at);
}

static void pack_include(file *g, const file *by, int depth, text *to) {
    bool once = g->guard[0] || ends_with(g->path, ".c");
    if (g->in_base || (once && g->packed && g->guard[0])) return;
    if (once && g->packed) fail("%s: %s is included twice", by->path, g->path);
    if (once && depth > (by == packer.root)) /* of a root: #if TNI_PART(n) */
        fail("%s: %s is included once, but under an #if", by->path, g->path);
    if (is_api(g) && to != &packer.api) to = &packer.api;
    else if (g->guard[0] && to == &packer.code && !packer.plain) to = &packer.heads;
    if (is_api(by) && !is_api(g)) fail("%s: the public part includes %s", by->path, g->path);
    if (once) pack(g, to);
    else pack_again(g, to);
}

/* What a file's first comment says it is: "thread.c - a pool of threads." Empty: nothing. */
static void read_about(const file *f, char about[ABOUT]) {
    const char *p = strncmp(f->body.at, "/*", 2) == 0 ? strstr(f->body.at, " - ") : NULL;
    size_t n = 0;
    for (p = p ? p + 3 : ""; *p && strncmp(p, "*/", 2) != 0 && n < ABOUT - 1; p++) {
        if (p[0] == '.' && strchr(" \n", p[1])) break;
        if (strncmp(p, "\n *\n", 4) == 0) break;
        if (strncmp(p, "\n * ", 4) == 0) p += 3;
        about[n++] = *p;
    }
    while (n && about[n - 1] == ' ') n--;
    about[n] = 0;
}

/* Whether there is more than a comment, an include guard and includes. */
static bool has_text(const file *f) {
    char word[NAME];
    bool open = false;
    for (const char *p = f->body.at + f->from, *end; p < f->body.at + f->to; p = end) {
        end = line_end(p);
        bool was_open = open, blank = *skip_blanks(p) == '\n', starts = strncmp(p, "/*", 2) == 0;
        open = comment_after(p, end, open);
        if (was_open || blank || starts) continue;
        if (!directive(p, word) || strcmp(word, "define") == 0) return true;
    }
    return false;
}

/* What a chapter builds on comes before it. */
static void pack_includes(file *f, text *to) {
    bool open = false;
    for (const char *p = f->body.at, *end; *p; p = end) {
        end = line_end(p);
        file *g = open ? NULL : included(p, f);
        open = comment_after(p, end, open);
        if (g) pack_include(g, f, 0, to);
    }
}

static const char rule[] = "================================================"
                           "================================================";

/* The head of a chapter in the place of its file's first words: "/\* tensor.h - a tensor .." */
static size_t pack_head(const file *f, text *to) {
    const char *dash = strstr(f->body.at, " - ");
    if (packer.nchapters == MAX_CHAPTERS) fail("too many chapters: %s", f->path);
    if (strncmp(f->body.at, "/* ", 3) != 0 || !dash) fail("%s: no first comment", f->path);
    packer.chapter[packer.nchapters].of = f;
    packer.chapter[packer.nchapters++].at = to->n;
    print(to, "\n/* %s\n * == [%d] %.*s\n *\n * %c", rule, packer.nchapters,
          (int)(dash - f->body.at) - 3, f->body.at + 3, toupper((unsigned char)dash[3]));
    return (size_t)(dash - f->body.at) + 4;
}

static void pack(file *f, text *to) {
    char word[NAME], about[ABOUT];
    bool open = false, again = packer.lines;
    int depth = 0, line = 0;
    size_t from = 0;
    f->packed = true;
    read_about(f, about);
    if (is_api(f)) pack_includes(f, to);
    if (is_api(f) && !has_text(f)) return;
    if (is_api(f)) from = pack_head(f, to);
    else print(to, "\n/* %s%s%s */\n", f->path, *about ? " - " : "", about);
    for (const char *p = f->body.at, *end; *p; p = end) {
        end = line_end(p), line++;
        size_t at = (size_t)(p - f->body.at);
        const char *rest = open ? NULL : directive(p, word);
        bool was_open = open;
        open = comment_after(p, end, open);
        bool outside = f->guard[0] && (at >= f->to || at < f->from);
        if (outside && rest && strcmp(word, "include") != 0) continue;
        if (rest) depth += (strncmp(word, "if", 2) == 0) - (strcmp(word, "endif") == 0);
        file *g = was_open ? NULL : included(p, f);
        if (g) {
            pack_include(g, f, depth, to);
            if (!g->guard[0] && f != packer.root && ends_with(f->path, ".c"))
                print(to, "/* %s goes on */\n", f->path); /* tools/trim asks where text is from */
            again = packer.lines;
            continue;
        }
        if (again) print(to, "#line %d \"%s\"\n", line, f->path), again = false;
        bool second_blank = p[0] == '\n' && to->n >= 2 && strcmp(to->at + to->n - 2, "\n\n") == 0;
        if (packer.lines || !second_blank) add(to, p + from, (size_t)(end - p) - from);
        from = 0;
    }
    if (to->n && to->at[to->n - 1] != '\n') add(to, "\n", 1);
}

/* --- the implementation's comments ------------------------------------------------------------ */

/* Comments that compilers and analysers read, and the names of the files. */
static bool is_kept(const char *comment, const char *end) {
    static const char *const words[] = {"/* src/", "fall", "NOLINT", "cppcheck-suppress"};
    for (int i = 0; i < 4; i++) { /* strstr would read the rest of the file */
        const char *p = comment;
        while (p && strncmp(p, words[i], strlen(words[i])) != 0)
            p = i ? memchr(p + 1, *words[i], (size_t)(end - p) - 1) : NULL;
        if (p) return true;
    }
    return false;
}

/* Behind the comment or literal that starts at p; p itself when none does. */
static const char *skip_quiet(const char *p) {
    if (p[0] == '/' && p[1] == '*') return strstr(p + 2, "*/") + 2;
    if (p[0] == '/' && p[1] == '/') return p + strcspn(p, "\n");
    if (*p != '"' && *p != '\'') return p;
    const char quote = *p++;
    while (*p && *p != quote) p += *p == '\\' ? 2 : 1;
    return p + 1;
}

/* Ends a line of `to` that begins at `start`: without blanks at its end, and not at all where a
 * comment was all that stood in it. */
static void end_line(text *to, size_t start, bool had_comment) {
    while (to->n > start && to->at[to->n - 1] == ' ') to->n--;
    bool empty = to->n == start, second = empty && start >= 2 && to->at[start - 2] == '\n';
    to->at[to->n] = 0;
    if (!(empty && had_comment) && !second) add(to, "\n", 1);
}

static void drop_comments(text *t) {
    text to = {NULL, 0, 0};
    bool had_comment = false;
    size_t start = 0;
    add(&to, "", 0);
    for (const char *p = t->at, *end; *p; p = end) {
        end = skip_quiet(p);
        if (end > p && *p == '/' && !is_kept(p, end)) had_comment = true;
        else if (end > p) add(&to, p, (size_t)(end - p));
        else if (*p != '\n') add(&to, p, 1), end++;
        else {
            end_line(&to, start, had_comment);
            had_comment = false;
            start = to.n;
            end++;
        }
    }
    free(t->at);
    *t = to;
}

/* What only tests read of rows, .sample = "..", becomes TNI_FOR_TESTS(".."): programs of one file
 * have none. */
static void mark_samples(text *t) {
    static const char *const fields[2] = {".sample =", ".domain ="};
    text to = {NULL, 0, 0};
    const char *from = t->at;
    add(&to, "", 0);
    for (const char *p = t->at; *p; p++) {
        const char *end, *next;
        int k = 0;
        while (k < 2 && strncmp(p, fields[k], strlen(fields[k])) != 0) k++;
        if (k == 2) continue;
        p += strlen(fields[k]);
        p += strspn(p, " \t\n");
        add(&to, from, (size_t)(p - from));
        from = p;
        for (end = next = p; *next == '"'; next = end + strspn(end, " \t\n"))
            end = skip_quiet(next);
        add(&to, "TNI_FOR_TESTS(", 14);
        add(&to, from, (size_t)(end - from));
        add(&to, ")", 1);
        from = end;
        p = end - 1;
    }
    add(&to, from, strlen(from));
    free(t->at);
    *t = to;
}

/* --- symbols and layout ----------------------------------------------------------------------- */

static char names[MAX_NAMES][NAME];
static int nnames;

/* Text without comments, white space made one blank; directives, but #line, when asked for. */
static text bare(const text *from, bool directives) {
    text to = {NULL, 0, 0};
    bool open = false, continued = false;
    add(&to, "", 0);
    for (const char *p = from->at, *end; *p; p = end) {
        end = line_end(p);
        bool directive_line = continued || (!open && *skip_blanks(p) == '#');
        bool skip = directive_line && (!directives || strncmp(p, "#line", 5) == 0);
        continued = skip && end - p >= 2 && end[-2] == '\\';
        for (const char *q = p; q < end; q++) {
            bool starts = !open && q[0] == '/' && q[1] == '*';
            bool ends = open && q[0] == '*' && q[1] == '/';
            if (!open && q[0] == '/' && q[1] == '/') break;
            if (starts || ends) {
                open = starts, q++;
                continue;
            }
            if (open || skip) continue;
            bool blank = isspace((unsigned char)*q) != 0;
            if (!blank || (to.n && to.at[to.n - 1] != ' ')) add(&to, blank ? " " : q, 1);
        }
    }
    return to;
}

static bool known(const char *name) {
    int i = nnames;
    while (i > 0 && strcmp(names[i - 1], name) != 0) i--;
    return i > 0;
}

/* Whether the last #if before `at` leaves out what follows where names get a prefix. */
static bool without_prefix(const char *from, const char *at) {
    const char *last = from;
    for (const char *p = from; (p = strstr(p, "\n#if")) != NULL && p < at; p++) last = p + 1;
    const char *says = strstr(last, "!defined(TN_PREFIX)");
    return says && says < last + strcspn(last, "\n");
}

/* Every name that a TN_API declaration declares. */
static void find_symbols(const text *api) {
    text t = bare(api, false);
    for (const char *p = t.at; (p = strstr(p, "TN_API ")) != NULL;) {
        p += 7;
        const char *end = p + strcspn(p, "(;[="), *begin;
        while (end > p && end[-1] == ' ') end--;
        for (begin = end; begin > p && is_word((unsigned char)begin[-1]);) begin--;
        char name[NAME];
        read_word(begin, name);
        if (strncmp(name, "tn", 2) != 0) fail("TN_API declares no tn_ name: %.80s", p);
        if (known(name)) continue;
        if (nnames == MAX_NAMES - 1) fail("too many symbols");
        strcpy(names[nnames++], name);
    }
    free(t.at);
    for (const char *p = api->at; (p = strstr(p, "#define ")) != NULL; p += 8) {
        char name[NAME];
        read_word(p + 8, name);
        if (known(name) && !without_prefix(api->at, p))
            fail("%s is a symbol and a macro: TN_PREFIX cannot rename it", name);
    }
}

/* FNV-1a of the public part: names version, rows, structs and options, not comments. */
static uint64_t layout_of(const text *api) {
    text t = bare(api, true);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < t.n; i++) hash = (hash ^ (uint8_t)t.at[i]) * 0x100000001b3u;
    free(t.at);
    return hash >> 16;
}

/* Whether the output includes itself to reach its end. */
static bool has_sections(void) { return !packer.flat && !packer.split; }

/* Text that few programs read stands at the end of the output, else here. */
static void write_apart(text *out, const char *when, const text *body, const char *what) {
    const char *s = packer.suffix;
    print(out, "\n#if %s\n", when);
    if (has_sections()) {
        print(&packer.sections, "#%s TNI%s_SECTION == %d /* %s */\n#undef TNI%s_SECTION\n",
              packer.nsections ? "elif" : "if", s, packer.nsections + 1, what, s);
        add(&packer.sections, body->at, body->n);
        print(out, "#define TNI%s_SECTION %d /* %s, at the end of this file */\n", s,
              ++packer.nsections, what);
        print(out, "#include TN%s_HEADER_NAME\n", s);
    } else {
        add(out, body->at, body->n);
    }
    print(out, "#endif\n");
}

/* TN_PREFIX renames every symbol. TN_IMPORT: functions are pointers that another module fills;
 * behind this, a declaration declares a pointer, and a call goes through it. */
static void write_renames(text *out, const char *layout) {
    text body = {NULL, 0, 0};
    print(&body, "#ifdef TN_PREFIX\n");
    for (int i = 0; i < nnames; i++)
        print(&body, "#define %s TNI_JOIN(TN_PREFIX, %s)\n", names[i], names[i]);
    print(&body, "#endif\n#ifdef TN_IMPORT\n");
    for (int i = 0; i < nnames - 1; i++) /* the last is that of the layout, which is no function */
        print(&body, "#define %s (*tni_at_%s)\n", names[i], names[i]);
    print(&body, "#endif\n");
    if (!packer.suffix[0])
        print(out, "#ifdef TN_PREFIX\n#define TNI_NAMESPACE TNI_JOIN(TN_PREFIX, tn_%s)\n"
                   "#else\n#define TNI_NAMESPACE tn_%s\n#endif\n", layout, layout);
    write_apart(out, "defined(TN_PREFIX) || defined(TN_IMPORT)", &body, "renames of all symbols");
    free(body.at);
}

/* The table of all functions that a module hands to others, and how they take it. */
static void write_table(text *out, const char *layout) {
    const char *nn = packer.name;
    const int n = nnames - 1;
    text body = {NULL, 0, 0};
    if (!*nn)
        print(&body,
              "#include <string.h>\n"
              "typedef struct tn_exports { /* functions in the order of TNI_SYMBOLS */\n"
              "    const char *layout;\n    void (*const *at)(void);\n    int64_t n;\n"
              "} tn_exports;\n");
    print(&body, "#define TNI_SYMBOLS%s(X)", packer.suffix);
    for (int i = 0; i < n; i++) print(&body, " \\\n    X(%s)", names[i]);
    print(&body, "\n#ifdef TN_EXPORT\n#define TNI_SYMBOL(name) (void (*)(void))name,\n"
                 "static TNI_UNUSED const tn_exports *tn%s_exported(void) {\n"
                 "    static void (*const at[])(void) = {TNI_SYMBOLS%s(TNI_SYMBOL)};\n"
                 "    static const tn_exports all = {\"%s\", at, %d};\n    return &all;\n}\n"
                 "#undef TNI_SYMBOL\n", nn, packer.suffix, layout, n);
    print(&body, "#elif defined(TN_IMPORT)\n"
                 "#define TNI_SYMBOL(name) memcpy(&tni_at_##name, at++, sizeof tni_at_##name);\n"
                 "/* Takes the functions of the module with the library; false: another one. */\n"
                 "static TNI_UNUSED bool tn%s_import(const tn_exports *e) {\n"
                 "    if (!e || e->n != %d || strcmp(e->layout, \"%s\") != 0) return false;\n"
                 "    void (*const *at)(void) = e->at;\n    TNI_SYMBOLS%s(TNI_SYMBOL)\n"
                 "    return true;\n}\n#undef TNI_SYMBOL\n#endif\n",
          nn, n, layout, packer.suffix);
    write_apart(out, "defined(TN_EXPORT) || defined(TN_IMPORT)", &body, "table of all functions");
    free(body.at);
}

static void write_contents(text *out) {
    char about[ABOUT], stem[NAME];
    print(out, "\n/* Contents. A chapter begins with its tag: search for \"== [3]\".\n *\n"
               " *   tag  chapter      lines\n");
    for (int i = 0; i < packer.nchapters; i++) {
        const file *f = packer.chapter[i].of;
        size_t end = i + 1 < packer.nchapters ? packer.chapter[i + 1].at : packer.api.n;
        int lines = 0, width = 0;
        for (size_t k = packer.chapter[i].at; k < end; k++) lines += packer.api.at[k] == '\n';
        read_about(f, about);
        stem_of(f->path, stem);
        print(out, " *   [%d]%s %-12s %5d ", i + 1, i < 9 ? " " : "", stem, lines);
        for (char *word = strtok(about, " "); word; word = strtok(NULL, " ")) {
            int n = (int)strlen(word) + 1;
            if (width + n > 70) {
                print(out, "\n *%27s", "");
                width = 0;
            }
            print(out, " %s", word);
            width += n;
        }
        print(out, "\n");
    }
    print(out, " *\n * The implementation follows the chapters; only the file that defines\n"
               " * TENSOR%s_IMPLEMENTATION compiles it. */\n", packer.suffix);
}

static void write_reference(text *out, const char *symbol, const char *layout) {
    print(out,
          "\n/* %s is the hash of the chapters above: who includes this refers to a symbol of\n"
          " * that name, which the implementation has. What does not fit does not link. */\n"
          "#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && !defined(TN_IMPORT)\n"
          "TNI_EXTERN_C_BEGIN\n"
          "TN_API const char %s;\n#if defined(__GNUC__)\n"
          "static const char *const tni%s_layout __attribute__((used)) = &%s;\n"
          "#endif\nTNI_EXTERN_C_END\n#endif\n",
          layout, symbol, packer.name, symbol);
}

static void write_code(text *out, const char *symbol, const char *name) {
    const char *s = packer.suffix;
    if (packer.nsections)
        print(out,
              "#ifndef TN%s_HEADER_NAME\n#define TN%s_HEADER_NAME \"%s\"\n#endif\n"
              "#ifdef __has_include\n#if !__has_include(TN%s_HEADER_NAME)\n#error "
              "\"this file has another name: #define TN%s_HEADER_NAME to it before the include\"\n"
              "#endif\n#endif\n", s, s, name, s, s);
    print(out, "#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && TNI_PART(%d)\n"
               "const char %s = 1;\n#endif\n", *s ? 4 : 2, symbol);
    add(out, packer.heads.at, packer.heads.n);
    add(out, packer.code.at, packer.code.n);
}

static void write_out(const char *path, const text *t) {
    if (!packer.check) {
        FILE *to = fopen(path, "wb");
        if (!to || fwrite(t->at, 1, t->n, to) != t->n || fclose(to)) fail("cannot write %s", path);
        return;
    }
    text old = {NULL, 0, 0};
    size_t same = 0, line = 1;
    if (!read_text(path, &old)) fail("%s is not there: run `make headers` and commit it", path);
    while (same < t->n && t->at[same] == old.at[same]) line += t->at[same++] == '\n';
    if (t->n != old.n || same < t->n)
        fail("%s is not what src/ gives (first difference in line %lu): change src/, "
             "not the header, run `make headers` and commit both", path, (unsigned long)line);
    free(old.at);
}

static void write_api(text *out, const file *first, const char *stem, const char *symbol,
                      const char *layout) {
    const char *s = packer.suffix;
    add(out, first->body.at, first->body.n);
    write_contents(out);
    if (has_sections()) print(out, "#ifndef TNI%s_SECTION\n", s);
    print(out, "#ifndef TN_TENSOR%s_H\n#define TN_TENSOR%s_H\n\n", s, s);
    if (has_sections())
        print(out, "#ifndef TN%s_HEADER_NAME\n#define TN%s_HEADER_NAME \"%s.h\"\n#endif\n",
              s, s, stem);
    if (packer.based)
        print(out, "#ifndef TN_HEADER_NAME\n#define TN_HEADER_NAME \"tensor.h\"\n#endif\n"
                   "/* Not read a second time for nothing. */\n"
                   "#if !defined(TN_TENSOR_H) || \\\n"
                   "    (defined(TENSOR_IMPLEMENTATION) && !defined(TNI_IMPLEMENTED))\n"
                   "#include TN_HEADER_NAME\n#endif\n");
    write_renames(out, layout);
    add(out, packer.api.at, packer.api.n);
    write_table(out, layout);
    write_reference(out, symbol, layout);
    print(out, "\n#endif /* TN_TENSOR%s_H */\n", s);
}

/* The file travels alone, so it carries the licence of the tree, if that has one. */
static void write_licence(text *out) {
    text licence = {NULL, 0, 0};
    if (packer.based || !read_text("LICENSE", &licence)) return; /* tensor.h has it */
    print(out, "\n/*\n");
    add(out, licence.at, licence.n);
    print(out, "*/\n");
    free(licence.at);
}

static void write_all(const char *path, const file *first) {
    char stem[NAME], layout[NAME], name[NAME + 4], code_path[PATH];
    const char *s = packer.suffix;
    text out = {NULL, 0, 0}, code = {NULL, 0, 0}, *to = packer.split ? &code : &out;
    stem_of(path, stem);
    find_symbols(&packer.api);
    snprintf(layout, sizeof layout, "%012llx", (unsigned long long)layout_of(&packer.api));
    snprintf(names[nnames++], NAME, "tn%.40s_layout_%.16s", packer.name, layout);
    write_api(&out, first, stem, names[nnames - 1], layout);
    if (!packer.lines && packer.heads.n) drop_comments(&packer.heads);
    if (!packer.lines && packer.code.n) drop_comments(&packer.code);
    if (!packer.lines && !packer.plain && packer.code.n) mark_samples(&packer.code);
    if (!packer.lines && packer.sections.n) drop_comments(&packer.sections);
    snprintf(name, sizeof name, "%s.%s", stem, packer.split ? "c" : "h");
    if (packer.split) {
        print(to, "/* %s - the implementation of %s.h */\n", name, stem);
        if (packer.nsections) print(to, "#ifndef TNI%s_SECTION\n", s);
        print(to, "#include \"%s.h\"\n", stem);
    } else {
        print(to, "\n#if defined(TENSOR%s_IMPLEMENTATION) && !defined(TNI%s_IMPLEMENTED)\n"
                  "#define TNI%s_IMPLEMENTED\n", s, s, s);
    }
    write_code(to, names[nnames - 1], name);
    if (!packer.split) print(to, "#endif /* TENSOR%s_IMPLEMENTATION */\n", s);
    if (packer.nsections) {
        print(to, "\n#else /* text that is compiled several times */\n\n");
        add(to, packer.sections.at, packer.sections.n);
        print(to, "#endif\n#endif\n");
    }
    write_licence(&out);
    write_out(path, &out);
    snprintf(code_path, sizeof code_path, "%.*s.c", (int)(strlen(path) - 2), path);
    if (packer.split) write_out(code_path, &code);
}

/* What --on brings in: everything in src/api/ that the other root reaches. */
static void take_base(const char *root) {
    packer.based = true;
    visit(open_file(root, NULL));
    for (file *f = packer.files; f < packer.files + packer.nfiles; f++) {
        f->in_base = f->visited && is_api(f);
        f->inclusions = 0, f->visited = false;
    }
}

int main(int argc, char **argv) {
    const struct { const char *name; bool *on; } flags[] = {{"--flat", &packer.flat},
        {"--split", &packer.split}, {"--lines", &packer.lines}, {"--check", &packer.check}};
    const char *root_path = NULL, *out_path = NULL, *base = NULL;
    for (int i = 1, k; i < argc; i++) {
        for (k = 0; k < 4 && strcmp(argv[i], flags[k].name) != 0;) k++;
        if (k < 4) *flags[k].on = true;
        else if (strcmp(argv[i], "--on") == 0 && i + 1 < argc) base = argv[++i];
        else if (argv[i][0] == '-' || out_path) fail("unknown argument '%s'", argv[i]);
        else if (root_path) out_path = argv[i];
        else root_path = argv[i];
    }
    packer.plain = out_path && ends_with(out_path, ".c");
    if (!out_path || (!packer.plain && !ends_with(out_path, ".h")))
        fail("give [options] ROOT.c OUT.h");
    char stem[NAME], first_path[PATH];
    if (base) take_base(base);
    file *root = open_file(root_path, NULL);
    packer.root = root;
    stem_of(root_path, stem);
    if (strncmp(stem, "tensor", 6) != 0) fail("a root is named tensor*.c, not %s", root_path);
    strcpy(packer.name, stem + 6);
    for (size_t i = 6; stem[i]; i++) packer.suffix[i - 6] = (char)toupper((unsigned char)stem[i]);
    if (packer.plain) {
        visit(root);
        pack(root, &packer.code);
        write_out(out_path, &packer.code);
        return 0;
    }
    bool nn = stem[6] != 0;
    snprintf(first_path, sizeof first_path, "api/%s%sfirst.h", nn ? stem + 7 : "", nn ? "_" : "");
    file *first = open_file(first_path, root);
    first->packed = true; /* stands at the top */
    if (!first->guard[0]) strcpy(first->guard, "-");
    visit(root);
    pack(root, &packer.code);
    write_all(out_path, first);
    return 0;
}
