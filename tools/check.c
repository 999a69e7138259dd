/* check.c - the rules that text and symbols of src/ follow, checked.
 *
 *     check files FILE...        includes follow the arrows; every file is in a root; sizes
 *     check symbols NM-OUTPUT    `nm -A` of the rooms' objects: symbols follow the arrows, too
 *
 * Prints one line a breach, with what to do, and fails when there was one. Functions are found by
 * their braces: a definition starts in the first column and ends with a brace there. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 2000, MAX_SYMBOLS = 20000, LINE = 4096, NAME = 256 };
enum { FILE_LINES = 800, COLUMNS = 100, FUNCTION_LINES = 80, MOST_LINES = 40, MOST_PERCENT = 95 };

/* Who may include and call whom. gen holds the rows' tables: written from ops, read by the door. */
static const struct {
    const char *room, *sees;
} rooms[] = {
    {"api", ""},
    {"base", "api"},
    {"tensor", "api base"},
    {"simd", "api base"},
    {"kernels", "api base tensor simd gen"},
    {"call", "api base tensor kernels gen"},
    {"gen", "api base tensor kernels call ops"},
    {"device", "api base tensor kernels call"},
    {"ops", "api base tensor kernels call gen"},
    {"autograd", "api base tensor call gen"},
    {"io", "api base tensor"},
    {"nn", "api"},
    {"optim", "api nn"},
    {"data", "api nn optim"},
    {"py", "api gen"}, /* the comments of the rows, for docstrings */
};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

/* What a room leaves to a higher one by name: declared below, defined above. */
static const char *const left_open[] = {
    "tni_context_ready", /* base makes contexts, call knows what one starts with */
    "tni_node_drop",     /* tensor frees headers, call knows nodes */
    "tni_function_free", /* a node ends with the custom function in it, */
    "tni_function_spend", /* or gives up what that has saved */
    "tni_watch_free",    /* and with those who wait for its gradients; */
    "tni_watch_move",    /* who retains one goes along to the next node */
    "tni_view_rebase",   /* a write to a view hangs a node on its base: an operator's gradient */
    "tni_view_refresh",
    "tni_copy_elements", /* an input that is overwritten is saved as a copy: a conversion's loops */
    "tn_grad_zero",      /* the door asks whether a row's gradient is this one */
    "tn_give",           /* the door of gradients, api/row.h */
    "tn_incoming",
    "tni_watch_forget", /* a header ends with its hooks, and its node forgets it */
    "tn_history_text",  /* print names the operator that made a tensor, */
    "tn_row_named",     /* by its row's schema */
    "tni_row_*",        /* rows are data: a history of views is written in two of them */
    "tni_optimizer_*",  /* one table names module and optimizer rows */
};

static const char *const nn_rooms[] = {"nn", "optim", "data"};

static int breaches;

static void breach(const char *where, const char *what, const char *detail) {
    printf("%s: %s%s\n", where, what, detail);
    breaches++;
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }
static bool ends(const char *s, const char *with) {
    return strlen(s) >= strlen(with) && strcmp(s + strlen(s) - strlen(with), with) == 0;
}

/* "src/ops/sum.c" or "build/ops/sum.o" -> index of "ops", or -1. Tables of modules belong to nn. */
static int room_of(const char *path) {
    char part[NAME];
    const char *end = strrchr(path, '/'), *begin;
    if (!end) return -1;
    for (begin = end; begin > path && begin[-1] != '/';) begin--;
    snprintf(part, sizeof part, "%.*s", (int)(end - begin), begin);
    if (strcmp(part, "gen") == 0 && starts(end + 1, "modules")) strcpy(part, "nn");
    for (int i = 0; i < ROOMS; i++)
        if (strcmp(rooms[i].room, part) == 0) return i;
    return -1;
}

static bool may_see(int from, int to) {
    if (from < 0 || to < 0 || from == to) return true;
    const char *at = rooms[from].sees, *name = rooms[to].room;
    size_t n = strlen(name);
    for (; (at = strstr(at, name)) != NULL; at += n)
        if ((at == rooms[from].sees || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* --- files ------------------------------------------------------------------------------------ */

typedef struct source {
    const char *path;
    int include[200], nincludes;
    bool reached;
} source;
static source sources[MAX_FILES];
static int nsources, nfunctions, nlong;

static int find_source(const char *path) {
    for (int i = 0; i < nsources; i++)
        if (strcmp(sources[i].path, path) == 0) return i;
    return -1;
}

/* Folder of `by` and `name`, ".." resolved. */
static void resolve(char *path, const char *by, const char *name) {
    const char *slash = strrchr(by, '/');
    snprintf(path, NAME, "%.*s", slash ? (int)(slash - by) : 0, by);
    for (; starts(name, "../"); name += 3) {
        char *up = strrchr(path, '/');
        *(up ? up : path) = 0;
    }
    if (strlen(path) + strlen(name) + 2 > NAME) return;
    if (path[0]) strcat(path, "/");
    strcat(path, name);
}

static bool is_root(const char *path) {
    return strcmp(path, "src/tensor.c") == 0 || strcmp(path, "src/tensor_nn.c") == 0 ||
           strcmp(path, "src/tensor_py.c") == 0;
}

static void check_include(source *s, const char *line, const char *where) {
    char name[NAME], path[NAME];
    if (sscanf(line, " # include \"%200[^\"]\"", name) != 1 || !starts(s->path, "src/")) return;
    resolve(path, s->path, name);
    int to = find_source(path);
    if (to < 0) {
        breach(where, "includes a file that is not there: ", path);
        return;
    }
    if (s->nincludes == 200)
        breach(where, "too many includes", "");
    else
        s->include[s->nincludes++] = to;
    if (!is_root(s->path) && !may_see(room_of(s->path), room_of(path)))
        breach(where, "against the arrows of docs/design.md: this room may not include ", path);
}

/* Written by the generator: sizes are its business. */
static bool is_generated(const char *path) {
    return starts(path, "src/gen/") || ends(path, "api/ops.h") || ends(path, "api/modules.h");
}

static int columns(const char *line) {
    int n = 0;
    for (; *line && *line != '\n'; line++) n += ((unsigned char)*line & 0xc0) != 0x80;
    return n;
}

static void end_function(const char *path, const char *name, int first, int last) {
    char where[NAME], text[NAME];
    int lines = last - first + 1;
    nfunctions++;
    nlong += lines > MOST_LINES;
    snprintf(where, sizeof where, "%.200s:%d", path, first);
    snprintf(text, sizeof text, "%d lines, %d at most: %.60s", lines, FUNCTION_LINES, name);
    if (lines > FUNCTION_LINES) breach(where, "a function of ", text);
}

/* Does this line open the body of a function? Tables, structs and namespaces are none. */
static bool opens_function(const char *line) {
    static const char *const none[] = {"struct", "typedef", "enum", "union", "namespace", "extern"};
    char text[LINE];
    if (isspace((unsigned char)line[0]) || strchr("#/*}{", line[0])) return false;
    snprintf(text, sizeof text, "%s", line);
    for (int i = 0; i < 6; i++)
        if (starts(text, none[i]) && !strchr(text, '(')) return false;
    for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]); n--) text[n - 1] = 0;
    return ends(text, "{") && !ends(text, "= {") && (strchr(text, '(') || strchr(text, ')'));
}

static void check_file(source *s) {
    char line[LINE], where[NAME], name[LINE] = "";
    int number = 0, first = 0, wide = 0, widest = 0;
    FILE *in = fopen(s->path, "r");
    if (!in) {
        breach(s->path, "cannot be read", "");
        return;
    }
    while (fgets(line, sizeof line, in)) {
        snprintf(where, sizeof where, "%.200s:%d", s->path, ++number);
        check_include(s, line, where);
        if (is_generated(s->path)) continue;
        if (columns(line) > COLUMNS) wide++, widest = widest ? widest : number;
        if (!first && opens_function(line)) first = number, snprintf(name, sizeof name, "%s", line);
        if (!first || line[0] != '}') continue;
        end_function(s->path, strtok(name, "\n"), first, number);
        first = 0;
    }
    fclose(in);
    snprintf(where, sizeof where, "%.200s:%d", s->path, widest);
    if (wide) {
        snprintf(line, sizeof line, "%d", wide);
        breach(where, "the first line beyond 100 columns; such lines here: ", line);
    }
    snprintf(line, sizeof line, "%d", number);
    if (number > FILE_LINES && !is_generated(s->path)) breach(s->path, "over 800 lines: ", line);
}

static void reach(source *s) {
    if (s->reached) return;
    s->reached = true;
    for (int i = 0; i < s->nincludes; i++) reach(&sources[s->include[i]]);
}

static void check_files(char **paths, int n) {
    if (n > MAX_FILES) n = MAX_FILES, breach("check", "too many files", "");
    for (; nsources < n; nsources++) sources[nsources].path = paths[nsources];
    for (int i = 0; i < n; i++) check_file(&sources[i]);
    for (int i = 0; i < n; i++)
        if (is_root(paths[i])) reach(&sources[i]);
    for (int i = 0; i < n; i++)
        if (starts(paths[i], "src/") && !sources[i].reached)
            breach(paths[i], "is in no root: add its line to tensor.c, tensor_nn.c, tensor_py.c",
                   "");
    char text[NAME];
    snprintf(text, sizeof text, "%d of %d have more than %d lines, %d %% may", nlong, nfunctions,
             MOST_LINES, 100 - MOST_PERCENT);
    if (nlong * 100 > nfunctions * (100 - MOST_PERCENT)) breach("functions", "", text);
}

/* --- symbols ---------------------------------------------------------------------------------- */

typedef struct symbol {
    char object[NAME], name[NAME], kind;
} symbol;
static symbol symbols[MAX_SYMBOLS];
static int nsymbols;

static void read_symbols(const char *path) {
    char line[LINE];
    FILE *in = fopen(path, "r");
    if (!in) {
        breach(path, "cannot be read", "");
        return;
    }
    while (nsymbols < MAX_SYMBOLS && fgets(line, sizeof line, in)) {
        symbol *s = &symbols[nsymbols];
        char *colon = strrchr(line, ':');
        if (!colon) continue;
        *colon = 0;
        snprintf(s->object, sizeof s->object, "%.200s", line);
        const char *at = colon + 1; /* "0000 T name" or "     U name" */
        at += strspn(at, "0123456789abcdef");
        if (sscanf(at, " %c %200s", &s->kind, s->name) != 2) continue;
        nsymbols++;
    }
    fclose(in);
    if (nsymbols == MAX_SYMBOLS) breach(path, "too many symbols", "");
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const symbol *)a)->name, ((const symbol *)b)->name);
}

static bool is_left_open(const char *name) {
    for (size_t i = 0; i < sizeof left_open / sizeof left_open[0]; i++)
        if (ends(left_open[i], "*") ? strncmp(left_open[i], name, strlen(left_open[i]) - 1) == 0
                                    : strcmp(left_open[i], name) == 0)
            return true;
    return false;
}

static void check_use(const symbol *use, const symbol *definition) {
    int from = room_of(use->object), to = room_of(definition->object);
    bool above = false; /* what tensor_nn.h holds sees the public names of everything */
    for (size_t i = 0; from >= 0 && i < sizeof nn_rooms / sizeof *nn_rooms; i++)
        above |= strcmp(rooms[from].room, nn_rooms[i]) == 0;
    bool public_name = !starts(use->name, "tni_");
    if (is_left_open(use->name) || may_see(from, to) || (above && public_name)) return;
    char text[3 * NAME];
    snprintf(text, sizeof text, "%s of %s", use->name, definition->object);
    breach(use->object, "against the arrows of docs/design.md, uses ", text);
}

static void check_symbols(const char *path) {
    read_symbols(path);
    qsort(symbols, (size_t)nsymbols, sizeof symbols[0], by_name);
    for (int i = 0, end; i < nsymbols; i = end) {
        const symbol *definition = NULL;
        for (end = i; end < nsymbols && strcmp(symbols[end].name, symbols[i].name) == 0; end++)
            if (strchr("TDBRCVWGS", symbols[end].kind)) definition = &symbols[end];
        if (!definition) continue;
        const char *name = definition->name;
        if (!starts(name, "tn_") && !starts(name, "tnp_") && !starts(name, "tni_"))
            breach(definition->object, "a symbol without tn_, tnp_ or tni_: ", name);
        for (int k = i; k < end; k++)
            if (symbols[k].kind == 'U') check_use(&symbols[k], definition);
    }
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "files") == 0)
        check_files(argv + 2, argc - 2);
    else if (argc == 3 && strcmp(argv[1], "symbols") == 0)
        check_symbols(argv[2]);
    else
        return fprintf(stderr, "usage: check files FILE... | check symbols NM-OUTPUT\n"), 2;
    if (breaches) printf("%d breach%s of the rules\n", breaches, breaches == 1 ? "" : "es");
    return breaches != 0;
}
