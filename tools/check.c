/* check.c - the rules that text and symbols of src/ follow, checked, and the picture of its rooms.
 *
 *     check files FILE...                      includes follow the arrows and make no circle; every
 *                                              file is in a root; sizes; files of src/py use only
 *                                              those above them in src/tensor_py.c
 *     check symbols NM-OUTPUT                  `nm -A` of the objects: symbols follow the arrows,
 *                                              and no files of a room use each other in a circle
 *     check rooms DOCUMENT NM-OUTPUT FILE...   both, and DOCUMENT shows the rooms as they are
 *     check draw DOCUMENT NM-OUTPUT FILE...    both, and writes that part of DOCUMENT
 *
 * Prints one line a breach, with what to do, and fails when there was one. Functions are found by
 * their braces: a definition starts in the first column and ends with a brace there. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 2000, MAX_SYMBOLS = 40000, LINE = 4096, NAME = 256 };
enum { FILE_LINES = 800, COLUMNS = 100, FUNCTION_LINES = 80, MOST_LINES = 40, MOST_PERCENT = 95 };

/* Who may include and call whom, and what it knows (for the table of docs/design.md). gen holds the
 * rows' tables: written from ops, read by the door. */
static const struct {
    const char *room, *sees, *knows;
} rooms[] = {
    {"api", "",
     "the public declarations, chapter by chapter; `modules.h` and `ops/`, a file for each family, "
     "are "
     "generated"},
    {"base", "api",
     "contexts, thread blocks, memory, errors, threads, files, profiler; knows no tensor"},
    {"tensor", "api base",
     "dtypes, headers, storages, shapes, scopes, generators; knows no operator"},
    {"simd", "api",
     "the vocabulary of vectors, one text for each instruction set; text that the CPU's loops and "
     "devices share"},
    {"kernels", "api base tensor simd gen", "loops over raw memory, for every instruction set"},
    {"device", "api base tensor",
     "backends beside the CPU: their devices by name and number, memory"},
    {"group", "api base tensor", "ranks that work together: threads in shared memory, backends"},
    {"call", "api base tensor kernels device gen",
     "rows, the door, the tape's nodes, history of views, calls by name, record and replay"},
    {"gen", "api base kernels call ops", "tables of the rows, written by tools/optable"},
    {"cpu", "api base tensor kernels device call",
     "what carries strided tensors of any dtype to kernels: walks, reductions, conversion, copies "
     "between devices"},
    {"autograd", "api base tensor device call gen",
     "the engine, hooks, custom functions, checkpoint, gradcheck"},
    {"ops", "api base tensor simd kernels group call cpu autograd gen",
     "operators by family: row, check, run and gradient on one screen"},
    {"io", "api base tensor device autograd", "tensors as text, formats of files"},
    {"nn", "api", "modules: rows, parts, trees, state, forward"},
    {"optim", "api nn", "optimizers, schedules, clipping"},
    {"data", "api nn optim", "data sets, loaders, the training loop, checkpoints of it"},
    {"cuda", "api base simd gen", "the CUDA backend: kernels by family, memory, streams"},
    {"py", "api gen", "the Python package's C part"}, /* gen: comments of rows, for docstrings */
};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

/* What is declared below and defined above: a room leaves it to a higher one, or a file to a later
 * one of its room. */
static const struct {
    const char *name, *why;
} left_open[] = {
    {"tni_rooms_above", "base makes contexts, call knows what one holds and begins with"},
    {"tni_here_slow", "a thread's first call makes the default context, with all of base"},
    {"tni_node_drop", "a header that dies drops the node it came from"},
    {"tni_plan_*", "a storage of meta counts in a plan, which names rows"},
    {"tni_copy_elements", "the door saves and redirects by copies, a loop of cpu"},
    {"tni_device_get", "a header of a device gets memory of its backend"},
    {"tni_device_down", "who reads elements of a device copies them down, with loops of cpu"},
    {"tni_device_up", "numbers of a program go to the default device, by copies of cpu"},
    {"tni_run_nothing", "a row that gives a view needs no kernel of a device"},
    {"tni_row_*", "rows are data, which the tables list and the history of views is written in"},
};
enum { OPEN = sizeof left_open / sizeof left_open[0] };
static bool open_used[OPEN], open_of[OPEN][ROOMS]; /* by which rooms */
static bool room_uses[ROOMS][ROOMS];

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

/* "src/ops/shape/view.c" or "build/ops/shape/view.o" -> index of "ops", or -1: the first folder
 * that is a room. Tables of modules belong to nn, those of optimizers to optim. */
static int room_of(const char *path) {
    char part[NAME];
    for (const char *begin = path, *end; (end = strchr(begin, '/')) != NULL; begin = end + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(end - begin), begin);
        if (strcmp(part, "gen") == 0 && starts(end + 1, "modules")) strcpy(part, "nn");
        if (strcmp(part, "gen") == 0 && starts(end + 1, "optimizers")) strcpy(part, "optim");
        for (int i = 0; i < ROOMS; i++)
            if (strcmp(rooms[i].room, part) == 0) return i;
    }
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

/* Notes that a room uses another one; whether it may. */
static bool note_use(int from, int to) {
    if (from >= 0 && to >= 0 && from != to) room_uses[from][to] = true;
    return may_see(from, to);
}

/* --- circles ---------------------------------------------------------------------------------- */

/* Nodes of a graph and who uses whom; `why` of an edge is a name that makes it. */
typedef struct edge {
    int from, to;
    const char *why;
} edge;
enum { MAX_EDGES = 40000 };
static edge edges[MAX_EDGES];
static int nedges;
static const char *node_names[MAX_FILES];
static int nnodes, node_state[MAX_FILES]; /* 0 new, 1 on the way, 2 done */

static int node_of(const char *name) {
    for (int i = 0; i < nnodes; i++)
        if (strcmp(node_names[i], name) == 0) return i;
    if (nnodes == MAX_FILES) return breach("check", "too many files", ""), 0;
    return node_names[nnodes] = name, nnodes++;
}
static void edge_add(const char *from, const char *to, const char *why) {
    int a = node_of(from), b = node_of(to);
    for (int i = 0; i < nedges; i++)
        if (edges[i].from == a && edges[i].to == b) return;
    if (nedges == MAX_EDGES) {
        breach("check", "too many uses", "");
        return;
    }
    edges[nedges].from = a, edges[nedges].to = b, edges[nedges++].why = why;
}

/* Follows uses from node i; a node that is still on the way closes a circle. */
static void follow(int i, int depth) {
    static int path[MAX_FILES]; /* edges */
    char text[4 * NAME];
    node_state[i] = 1;
    for (int k = 0; k < nedges; k++) {
        if (edges[k].from != i) continue;
        path[depth] = k;
        if (!node_state[edges[k].to]) follow(edges[k].to, depth + 1);
        if (node_state[edges[k].to] != 1) continue;
        int first = depth;
        while (edges[path[first]].from != edges[k].to) first--;
        for (int p = first; p <= depth; p++) {
            snprintf(text, sizeof text, "%.200s (%.200s)", node_names[edges[path[p]].to],
                     edges[path[p]].why);
            breach(node_names[edges[path[p]].from], "is in a circle of files: it uses ", text);
        }
    }
    node_state[i] = 2;
}
static void check_circles(void) {
    for (int i = 0; i < nnodes; i++)
        if (!node_state[i]) follow(i, 0);
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
           strcmp(path, "src/tensor_py.c") == 0 || strcmp(path, "src/tensor_cuda.cu") == 0;
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
    if (is_root(s->path)) return;
    edge_add(s->path, sources[to].path, "#include");
    if (!note_use(room_of(s->path), room_of(path)))
        breach(where, "against the arrows of docs/design.md: this room may not include ", path);
}

/* Written by the generator: sizes are its business. */
static bool is_generated(const char *path) {
    return starts(path, "src/gen/") || starts(path, "src/api/ops") || ends(path, "api/modules.h");
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

/* The library calls no row and no class by a name in a string: tools/trim could not see it. */
static void check_names(const source *s, const char *line, const char *where) {
    static const char *const by_name[] = {"tn_row_named(", "tni_row_find(", "tn_call_named(",
                                          "tn_mrow_named(", "tn_module_named_at("};
    const int room = room_of(s->path);
    if (!starts(s->path, "src/") || room < 0 || line[0] != ' ' || line[1] == '*') return;
    if (strcmp(rooms[room].room, "api") == 0 || strcmp(rooms[room].room, "py") == 0) return;
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++) {
        const char *at = strstr(line, by_name[i]);
        if (at && strchr(at, '"'))
            breach(where, "a row or class by a name in a string, which tools/trim does not see: ",
                   by_name[i]);
    }
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
        check_names(s, line, where);
        if (first && opens_function(line))
            breach(where, "the function before this one has no brace in the first column: ", name);
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

/* Generated text that only a test includes. */
static bool is_for_tests(const char *path) {
    return !strcmp(path, "src/gen/examples.inl") || !strncmp(path, "src/gen/options", 15);
}

static void check_files(char **paths, int n) {
    if (n > MAX_FILES) n = MAX_FILES, breach("check", "too many files", "");
    for (; nsources < n; nsources++) sources[nsources].path = paths[nsources];
    for (int i = 0; i < n; i++) check_file(&sources[i]);
    for (int i = 0; i < n; i++)
        if (is_root(paths[i])) reach(&sources[i]);
    for (int i = 0; i < n; i++)
        if (starts(paths[i], "src/") && !sources[i].reached && !is_for_tests(paths[i]))
            breach(paths[i], "is in no root: add its line to src/tensor.c or another root", "");
    check_circles();
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

static bool is_left_open(const char *name, int room) {
    for (int i = 0; i < OPEN; i++) {
        const char *open = left_open[i].name;
        if (ends(open, "*") ? strncmp(open, name, strlen(open) - 1) : strcmp(open, name)) continue;
        open_used[i] = true;
        if (room >= 0) open_of[i][room] = true;
        return true;
    }
    return false;
}

static void check_use(const symbol *use, const symbol *definition) {
    int from = room_of(use->object), to = room_of(definition->object);
    bool above = false; /* what tensor_nn.h holds sees the public names of everything */
    for (size_t i = 0; from >= 0 && i < sizeof nn_rooms / sizeof *nn_rooms; i++)
        above |= strcmp(rooms[from].room, nn_rooms[i]) == 0;
    bool open = from == to ? strcmp(use->name, "tni_here_slow") == 0 : !may_see(from, to);
    if ((above && !starts(use->name, "tni_")) || (open && is_left_open(use->name, from))) return;
    bool tables = strstr(use->object, "/gen/") || strstr(definition->object, "/gen/");
    if (from == to && from >= 0 && !tables) edge_add(use->object, definition->object, use->name);
    if (note_use(from, to)) return;
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
    check_circles();
    for (int i = 0; i < OPEN; i++)
        if (!open_used[i]) breach(left_open[i].name, "is left open to nobody: take it out", "");
}

/* --- the order of src/py ---------------------------------------------------------------------- */

/* Where src/tensor_py.c lists a file of src/py; -1: nowhere. Sources are read, not symbols, as
 * objects of src/py need Python's headers. */
static int place_of(const source *root, const char *path) {
    for (int i = 0; i < root->nincludes; i++)
        if (strcmp(sources[root->include[i]].path, path) == 0) return i;
    return -1;
}

static void note_word(const char *path, const char *word, bool defined) {
    if (nsymbols == MAX_SYMBOLS) {
        breach(path, "too many symbols", "");
        return;
    }
    symbol *s = &symbols[nsymbols++];
    snprintf(s->object, sizeof s->object, "%.200s", path);
    snprintf(s->name, sizeof s->name, "%.200s", word);
    s->kind = defined ? 'T' : 'U';
}

/* Notes each word py_.. of a line outside of comments and strings. In a line that begins with
 * PY_PRIV the word before the bracket is being defined. */
static void note_words(const char *path, const char *line, bool *comment) {
    bool defines = starts(line, "PY_PRIV ");
    char word[NAME], quote = 0;
    for (const char *at = line; *at; at++) {
        if (*comment) {
            *comment = !starts(at, "*/");
        } else if (quote) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == quote)
                quote = 0;
        } else if (starts(at, "/*")) {
            *comment = true;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            int n = 0;
            while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
            snprintf(word, sizeof word, "%.*s", n, at);
            bool definition = defines && at[n] == '(';
            if (definition) defines = false;
            if (starts(word, "py_")) note_word(path, word, definition);
            at += n - 1;
        }
    }
}

/* A file of src/py uses what files above it in src/tensor_py.c define: so nothing goes in a circle,
 * and the root is an order to read in. */
static void check_order(void) {
    char line[LINE], text[3 * NAME];
    const int root = find_source("src/tensor_py.c");
    nsymbols = 0;
    for (int i = 0; i < nsources; i++) {
        FILE *in = starts(sources[i].path, "src/py/") && ends(sources[i].path, ".c")
                       ? fopen(sources[i].path, "r")
                       : NULL;
        for (bool comment = false; in && fgets(line, sizeof line, in);)
            note_words(sources[i].path, line, &comment);
        if (in) fclose(in);
    }
    qsort(symbols, (size_t)nsymbols, sizeof symbols[0], by_name);
    for (int i = 0, end; root >= 0 && i < nsymbols; i = end) {
        const symbol *defined = NULL;
        for (end = i; end < nsymbols && strcmp(symbols[end].name, symbols[i].name) == 0; end++)
            if (symbols[end].kind == 'T') defined = &symbols[end];
        const char *of = defined ? defined->object : NULL, *before = "";
        for (int k = i; of && k < end; k++) {
            const char *user = symbols[k].object;
            if (strcmp(user, before) == 0) continue;
            before = user;
            if (place_of(&sources[root], user) >= place_of(&sources[root], of)) continue;
            snprintf(text, sizeof text, "%s of %s", symbols[k].name, of);
            breach(user, "uses what stands below it in src/tensor_py.c: ", text);
        }
    }
    nsymbols = 0;
}

/* --- the picture of the rooms ----------------------------------------------------------------- */

static const char begin_mark[] = "<!-- rooms: written by make picture -->\n",
                  end_mark[] = "<!-- end of rooms -->\n";
static char picture[1 << 16];
static size_t npicture;

static void draw(const char *format, const char *a, const char *b, const char *c) {
    npicture += (size_t)snprintf(picture + npicture, sizeof picture - npicture, format, a, b, c);
}

/* Rows' tables are written from above and read from below: their arrows are dotted. */
static bool is_table(int room) { return strcmp(rooms[room].room, "gen") == 0; }

/* Whether an arrow follows from others: from sees a room between, which leads to `to` by `most`
 * rooms. A circle, which is a breach of its own, ends there. */
static bool leads(int from, int to, int most) {
    for (int via = 0; via < ROOMS && most; via++)
        if (via != to && !is_table(via) && room_uses[from][via] &&
            (room_uses[via][to] || leads(via, to, most - 1)))
            return true;
    return false;
}

static void draw_arrows(void) {
    draw("```mermaid\nflowchart BT\n", "", "", "");
    for (int i = 0; i < ROOMS; i++)
        for (int k = 0; k < ROOMS; k++) {
            if (!room_uses[i][k]) continue;
            if (is_table(i) || is_table(k)) {
                if (!is_table(i) || strcmp(rooms[k].room, "ops") == 0)
                    draw("    %s -.-> %s\n", rooms[i].room, rooms[k].room, "");
            } else if (!leads(i, k, 8))
                draw("    %s --> %s\n", rooms[i].room, rooms[k].room, "");
        }
    draw("```\n\n", "", "", "");
}

static void draw_table(void) {
    draw("| room | knows | uses |\n| --- | --- | --- |\n", "", "", "");
    for (int i = 0; i < ROOMS; i++) {
        draw("| `%s/` | %s | ", rooms[i].room, rooms[i].knows, "");
        for (int k = 0, n = 0; k < ROOMS; k++)
            if (room_uses[i][k]) draw("%s%s", n++ ? ", " : "", rooms[k].room, "");
        draw(" |\n", "", "", "");
    }
    draw("\nDeclared below and defined above:\n\n| name | used by | why |\n| --- | --- | --- |\n",
         "", "", "");
    for (int i = 0; i < OPEN; i++) {
        draw("| `%s` | ", left_open[i].name, "", "");
        for (int k = 0, n = 0; k < ROOMS; k++)
            if (open_of[i][k]) draw("%s%s", n++ ? ", " : "", rooms[k].room, "");
        draw(" | %s |\n", left_open[i].why, "", "");
    }
}

/* An arrow that rooms[] allows and nothing follows says too much; all know the public text. */
static void check_arrows(void) {
    for (int i = 0; i < ROOMS; i++)
        for (int k = 0; k < ROOMS; k++)
            if (i != k && k > 0 && may_see(i, k) && !room_uses[i][k])
                breach(rooms[i].room,
                       "is allowed to use a room that it does not use: ", rooms[k].room);
}

/* Compares the document's part with the picture, or writes it. */
static void check_document(const char *path, bool write) {
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = 0;
    char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    if (!begin || !end) {
        breach(path, "has no place for the picture of the rooms: ", begin_mark);
        return;
    }
    begin += strlen(begin_mark);
    if ((size_t)(end - begin) == npicture && memcmp(begin, picture, npicture) == 0) return;
    if (!write) {
        breach(path, "shows other rooms than the sources have: run 'make picture'", "");
        return;
    }
    file = fopen(path, "wb");
    if (!file) {
        breach(path, "cannot be written", "");
        return;
    }
    fwrite(text, 1, (size_t)(begin - text), file);
    fwrite(picture, 1, npicture, file);
    fputs(end, file);
    fclose(file);
}

static void check_rooms(const char *document, const char *symbols_path, char **paths, int n,
                        bool write) {
    check_files(paths, n);
    check_order();
    nnodes = nedges = 0;
    memset(node_state, 0, sizeof node_state);
    check_symbols(symbols_path);
    check_arrows();
    draw_arrows();
    draw_table();
    check_document(document, write);
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "files") == 0) {
        check_files(argv + 2, argc - 2);
        check_order();
    } else if (argc == 3 && strcmp(argv[1], "symbols") == 0)
        check_symbols(argv[2]);
    else if (argc > 4 && strcmp(argv[1], "rooms") == 0)
        check_rooms(argv[2], argv[3], argv + 4, argc - 4, false);
    else if (argc > 4 && strcmp(argv[1], "draw") == 0)
        check_rooms(argv[2], argv[3], argv + 4, argc - 4, true);
    else
        return fprintf(stderr, "usage: check files FILE... | check symbols NM-OUTPUT | "
                               "check rooms|draw DOCUMENT NM-OUTPUT FILE...\n"),
               2;
    if (breaches) printf("%d breach%s of the rules\n", breaches, breaches == 1 ? "" : "es");
    return breaches != 0;
}
