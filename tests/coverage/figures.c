/* figures.c - branches and MC/DC of rooms, from what `llvm-cov export` writes.
 *
 *     figures EXPORT.json LEAST UNCOVERED ROOM... [+ ROOM...]
 *
 * A branch is a condition with one outcome, at its place in the source; one in a macro counts at
 * each place where the macro is used. A function of a header is in many programs: what any of them
 * reached is reached. A condition that is constant (TNI_NEVER) is no branch. For MC/DC each
 * condition of a decision with at least two counts once: it has been seen to change the outcome
 * alone.
 *
 * Prints the figures of each room and the line `promise 21: ...`, writes to UNCOVERED what was not
 * reached, and ends with 1 when a room before the + is below LEAST percent of its branches. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOMS = 16, FILES = 64, NAME = 256, FIELDS = 9 };

typedef struct point { /* a condition's outcome, or its part in a decision */
    int room, line, column, unit;
    char kind; /* 'T', 'F': the outcome was never true, never false; 'M': MC/DC */
    bool reached;
    const char *file; /* from src/ on */
} point;

typedef struct region { /* as exported: line, column, their ends, ..., file, expanded file, kind */
    long long at[FIELDS];
} region;

static const char *rooms[ROOMS];
static int room_count;
static point *points;
static size_t point_count, point_room;

static void fail(const char *what) {
    fprintf(stderr, "figures: %s\n", what);
    exit(2);
}
static void *need(void *at) {
    if (!at) fail("no memory");
    return at;
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *text_of(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) fail("cannot read the export");
    long size = ftell(f);
    char *text = (char *)need(malloc((size_t)size + 1));
    rewind(f);
    if (fread(text, 1, (size_t)size, f) != (size_t)size) fail("cannot read the export");
    text[size] = 0;
    fclose(f);
    return text;
}
/* Behind `key` at or after p; the exporter writes no spaces and sorts its keys. */
static char *behind(char *p, const char *key) {
    p = strstr(p, key);
    if (!p) fail("the export is not as expected");
    return p + strlen(key);
}
static char *list_end(char *p) { /* p: behind a [ */
    for (int depth = 1; depth; p++) {
        if (*p == 0) fail("the export ends early");
        if (*p == '"')
            while (*++p != '"')
                if (*p == 0) fail("the export ends early");
        depth += (*p == '[') - (*p == ']');
    }
    return p;
}
static char *read_region(char *p, region *r) { /* p: at its [; returns what follows the numbers */
    p++;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < FIELDS && *p != ']' && *p != '['; i++) {
        r->at[i] = strtoll(p, &p, 10);
        if (*p == ',') p++;
    }
    return p;
}

/* --- points ----------------------------------------------------------------------------------- */

static int room_of(const char *path, const char **file) {
    for (int i = 0; i < room_count; i++) {
        char part[NAME];
        snprintf(part, sizeof part, "/src/%s/", rooms[i]);
        const char *at = strstr(path, part);
        if (at) return *file = at + 1, i;
    }
    return -1;
}
static void add(point p) {
    if (point_count == point_room) {
        point_room = point_room ? point_room * 2 : 4096;
        points = (point *)need(realloc(points, point_room * sizeof *points));
    }
    points[point_count++] = p;
}
/* The expansion in the function's own file from which file `id` came; its place goes to r. */
static void expansion(char *regions, char *end, long long id, region *r) {
    while (id) {
        region e;
        char *p = regions;
        bool found = false;
        while (!found && p < end && *p == '[') {
            char *after = read_region(p, &e);
            found = e.at[7] == 1 && e.at[6] == id;
            p = list_end(after);
            if (*p == ',') p++;
        }
        if (!found) fail("a branch in a file without expansion");
        id = e.at[5];
        for (int i = 0; i < 2; i++) r->at[i] = e.at[i];
    }
}
/* One function: its branches and decisions, at their place in the file of its first line. */
static char *read_function(char *p) {
    char *branches = behind(p, "\"branches\":["), *name = behind(branches, "\"filenames\":[\"");
    char *decisions = behind(name, "\"mcdc_records\":["),
         *regions = behind(decisions, "\"regions\":[");
    char *end = list_end(regions);
    const char *file = NULL;
    char path[NAME];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(name, "\""), name);
    int room = room_of(path, &file);
    if (room < 0) return end;
    file = strcpy((char *)need(malloc(strlen(file) + 1)), file);
    region r;
    for (int unit = 0; *branches == '['; unit++) {
        branches = list_end(read_region(branches, &r));
        if (*branches == ',') branches++;
        long long taken = r.at[4], passed = r.at[5], id = r.at[6];
        expansion(regions, end, id, &r);
        point at = {room, (int)r.at[0], (int)r.at[1], id ? unit : 0, 'T', taken > 0, file};
        add(at);
        at.kind = 'F', at.reached = passed > 0;
        add(at);
    }
    for (int unit = 0; *decisions == '['; unit++) {
        decisions = read_region(decisions, &r) + 1;
        for (int condition = 0; *decisions != ']'; condition++) {
            point at = {room, (int)r.at[0],      (int)r.at[1], unit * 64 + condition,
                        'M',  *decisions == 't', file};
            add(at);
            decisions += strcspn(decisions, ",]");
            if (*decisions == ',') decisions++;
        }
        decisions += 2;
        if (*decisions == ',') decisions++;
    }
    return end;
}

/* --- figures ---------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right) {
    const point *a = (const point *)left, *b = (const point *)right;
    int order = strcmp(a->file, b->file);
    if (!order) order = a->line - b->line;
    if (!order) order = a->column - b->column;
    if (!order) order = a->unit - b->unit;
    return order ? order : a->kind - b->kind;
}
/* The same place in several programs becomes one, reached where one has reached it. */
static void unite(void) {
    size_t n = 0;
    qsort(points, point_count, sizeof *points, by_place);
    for (size_t i = 0; i < point_count; i++) {
        if (n && by_place(&points[n - 1], &points[i]) == 0)
            points[n - 1].reached |= points[i].reached;
        else
            points[n++] = points[i];
    }
    point_count = n;
}
typedef struct figure {
    long all, reached;
} figure;
static double percent(figure f) { return f.all ? 100.0 * (double)f.reached / (double)f.all : 100; }
static figure count(int first, int last, bool decisions) { /* rooms first..last */
    figure f = {0, 0};
    for (size_t i = 0; i < point_count; i++)
        if (points[i].room >= first && points[i].room <= last &&
            (points[i].kind == 'M') == decisions)
            f.all++, f.reached += points[i].reached;
    return f;
}
static void print_line(int from, int to) {
    for (int kind = 0; kind < 2; kind++) {
        printf(kind ? "; MC/DC" : "branches");
        for (int i = from; i <= to; i++)
            printf("%s %s %.1f %%", i == from ? "" : ",", rooms[i], percent(count(i, i, kind)));
        printf(", together %.1f %%", percent(count(from, to, kind)));
    }
    printf("\n");
}
static void list(const char *path) {
    FILE *f = fopen(path, "w");
    if (!f) fail("cannot write the list");
    for (size_t i = 0; i < point_count; i++) {
        const point *p = &points[i];
        if (p->reached) continue;
        fprintf(f, "%s:%d:%d: ", p->file, p->line, p->column);
        if (p->kind == 'M')
            fprintf(f, "condition %d never decides alone\n", p->unit % 64 + 1);
        else
            fprintf(f, "never %s\n", p->kind == 'T' ? "true" : "false");
    }
    if (fclose(f)) fail("cannot write the list");
}

int main(int argc, char **argv) {
    int bound = -1, failed = 0;
    if (argc < 5) fail("EXPORT.json LEAST UNCOVERED ROOM... [+ ROOM...]");
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "+") == 0)
            bound = room_count;
        else if (room_count < ROOMS)
            rooms[room_count++] = argv[i];
    }
    if (bound < 0) bound = room_count;
    char *p = behind(text_of(argv[1]), "\"functions\":[");
    while (*p == '{') {
        p = read_function(p) + 1;
        if (*p == ',') p++;
    }
    unite();
    list(argv[3]);
    for (int i = 0; i < room_count; i++) {
        figure b = count(i, i, false), m = count(i, i, true);
        bool enough = i >= bound || (b.all && percent(b) >= atof(argv[2]));
        printf("%s: %ld of %ld branches (%.1f %%), MC/DC %ld of %ld conditions (%.1f %%)\n",
               rooms[i], b.reached, b.all, percent(b), m.reached, m.all, percent(m));
        if (!enough) printf("short 21: branches of %s below %s %%\n", rooms[i], argv[2]);
        failed += !enough;
    }
    printf("promise 21: ");
    print_line(0, bound - 1);
    return failed > 0;
}
