/* rows.h - which rows a program looks at.
 *
 *     row=NAME ...   these; a name that no table has ends the program with one failure
 *     rows=N         N rows of each table, drawn by TN_SEED, and those of TN_CHANGED; without: all
 *     part=K/N       of these every Nth
 *
 * tests/shared.sh sets TN_SEED, the commit unless the user says otherwise, and TN_CHANGED, the
 * names of the rows whose sources were changed. The same seed draws the same rows in every program,
 * and of more rows those of fewer.
 *
 *     static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
 *     if (!rows_begin(argc, argv, tables)) return 1;
 *     for (int64_t i = 0; i < tn_row_count(); i++)
 *         if (rows_take(0, i)) ... */
#ifndef TNI_TESTS_ROWS_H
#define TNI_TESTS_ROWS_H

#include "../src/api/extend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rows_table {
    const char *kind;
    const char *(*name)(int64_t i); /* NULL behind the last */
} rows_table;

enum { ROWS_TABLES = 3, ROWS_NEAR = 3 };
static unsigned char *rows_taken[ROWS_TABLES];
static bool rows_named; /* by row= */

#define ROWS_OPERATORS \
    { "operator", rows_operator }
TNI_INLINE const char *rows_operator(int64_t i) {
    const tn_row *row = tn_row_at(i);
    return row ? row->name : NULL;
}

static uint64_t rows_hash(const char *seed, const char *name) {
    uint64_t z = 1469598103934665603u;
    for (const char *at = seed; *at; at++) z = (z ^ (unsigned char)*at) * 1099511628211u;
    z = (z ^ 0xff) * 1099511628211u;
    for (const char *at = name; *at; at++) z = (z ^ (unsigned char)*at) * 1099511628211u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Insertions, deletions and exchanges that make b of a; of long names the first 63 letters. */
static int rows_distance(const char *a, const char *b) {
    int row[64], n = (int)strlen(b) < 63 ? (int)strlen(b) : 63;
    for (int k = 0; k <= n; k++) row[k] = k;
    for (int i = 1; a[i - 1] && i < 64; i++) {
        int before = row[0];
        row[0] = i;
        for (int k = 1; k <= n; k++) {
            int best = before + (a[i - 1] != b[k - 1]);
            before = row[k];
            if (row[k] + 1 < best) best = row[k] + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[n];
}

static void rows_unknown(const rows_table *tables, const char *name) {
    const char *near = "; near it:";
    printf("FAILED there is no %s", tables[0].kind);
    for (int t = 1; tables[t].kind; t++) printf(" or %s", tables[t].kind);
    printf(" '%s'", name);
    for (int far = 1, told = 0; 3 * far <= (int)strlen(name) + 2 && told < ROWS_NEAR; far++)
        for (int t = 0; tables[t].kind; t++)
            for (int64_t i = 0; tables[t].name(i) && told < ROWS_NEAR; i++)
                if (rows_distance(name, tables[t].name(i)) == far)
                    printf("%s %s", near, tables[t].name(i)), told++, near = "";
    printf("\n0 passed, 1 failed\n");
}

/* Whether name is a word of list. */
static bool rows_listed(const char *list, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

static int rows_order(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Takes those of n rows whose names have the `most` least hashes, and those that were changed. */
static void rows_draw(const rows_table *table, unsigned char *taken, int64_t n, int64_t most) {
    const char *seed = getenv("TN_SEED"), *changed = getenv("TN_CHANGED");
    uint64_t *hash = (uint64_t *)malloc((size_t)(n + 1) * sizeof *hash);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) hash[i] = rows_hash(seed ? seed : "", table->name(i));
    qsort(hash, (size_t)n, sizeof *hash, rows_order);
    for (int64_t i = 0; i < n; i++) {
        const char *name = table->name(i);
        taken[i] = most >= n || rows_hash(seed ? seed : "", name) < hash[most] ||
                   rows_listed(changed, name);
        count += taken[i];
    }
    if (count < n)
        printf("sample: %lld of %lld %ss, TN_SEED=%s\n", (long long)count, (long long)n,
               table->kind, seed ? seed : "");
    free(hash);
}

/* Reads the arguments; false: a row that is named is in no table, which has been said. */
static bool rows_begin(int argc, char **argv, const rows_table *tables) {
    int64_t most = INT64_MAX, part = 0, parts = 1, number = 0;
    bool *found = (bool *)calloc((size_t)argc + 1, sizeof *found);
    for (int a = 1; a < argc; a++) {
        if (strncmp(argv[a], "rows=", 5) == 0) most = strtoll(argv[a] + 5, NULL, 10);
        if (strncmp(argv[a], "row=", 4) == 0) rows_named = true;
        if (strncmp(argv[a], "part=", 5) == 0 && strchr(argv[a], '/')) {
            part = strtoll(argv[a] + 5, NULL, 10);
            parts = strtoll(strchr(argv[a], '/') + 1, NULL, 10);
        }
    }
    for (int t = 0; tables[t].kind; t++) {
        int64_t n = 0;
        while (tables[t].name(n)) n++;
        rows_taken[t] = (unsigned char *)calloc((size_t)n + 1, 1);
        if (!rows_named) rows_draw(&tables[t], rows_taken[t], n, most);
        for (int64_t i = 0; rows_named && i < n; i++)
            for (int a = 1; a < argc; a++)
                if (strncmp(argv[a], "row=", 4) == 0 && !strcmp(argv[a] + 4, tables[t].name(i))) {
                    rows_taken[t][i] = 1;
                    found[a] = true;
                }
        for (int64_t i = 0; i < n; i++)
            if (rows_taken[t][i]) rows_taken[t][i] = number++ % parts == part;
    }
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "row=", 4) == 0 && !found[a]) {
            rows_unknown(tables, argv[a] + 4);
            free(found);
            return false;
        }
    free(found);
    return true;
}

/* Whether the program is to look at row i of table t. */
static bool rows_take(int t, int64_t i) { return rows_taken[t][i]; }

#endif
