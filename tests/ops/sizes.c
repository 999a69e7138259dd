/* sizes.c - no result depends on the instruction set or the number of threads, at any size: each
 * number in the shapes of each sample is replaced by others, and the call, forward and backward,
 * gives the same bits in contexts of scalar code and of the best instruction set, with one thread
 * and with three.
 *
 *     sizes [depth=0..2] [rows.h] */
#include "../rows.h"
#include "record.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 3, MOST = 1 << 16, CAP = 1 << 27 };
enum { MOST_LISTED = 66 }; /* steps and margins: larger ones make results of millions */
enum { MOST_STRUCTURED = 1 << 13 }; /* elements of a matrix with a structure: its rows are cubic */
static const struct {
    const char *isa;
    int32_t threads;
} as[CONTEXTS] = {{"scalar", -1}, {NULL, -1}, {NULL, 2}};
static const int few[] = {1, 2, 3, 5, 7, 8, 9, 13, 17, 21, 33, 65, 129, 258, 1025},
                 most[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,
                           13, 14, 15, 16, 17, 18, 19, 20, 21, 22,  23,  24,
                           25, 26, 27, 31, 32, 33, 34, 42, 65, 129, 258, 1025},
                 all[] = {1,  2,  3,  4,   5,   6,   7,   8,   9,   10,   11,  12, 13, 14,
                          15, 16, 17, 18,  19,  20,  21,  22,  23,  24,   25,  26, 27, 28,
                          29, 30, 31, 32,  33,  34,  42,  47,  48,  49,   61,  63, 64, 65,
                          66, 67, 96, 127, 128, 129, 255, 258, 513, 1025, 4099};
static const struct
{ /* by depth: the sizes of float32, those of other dtypes and how many of these */
    const int *f32, *others;
    int nf32, nothers, dtypes;
} depths[] = {{few, few, 15, 15, 1}, {most, few, 36, 15, 3}, {all, all, 53, 53, 8}};

static int most_elements;

/* The sample's text with the number `was` in shapes, and in lists too where `lists`, replaced
 * by `now`; false where a tensor would have more than most_elements. */
static bool rewrite(const char *from, int was, int now, bool lists, char *to, size_t room) {
    int depth = 0;
    int64_t numel = 1;
    char inside = 0, before = ' ';
    size_t n = 0;
    while (*from && n + 24 < room) {
        if (*from == '(' || *from == '[') inside = *from, numel = 1, depth++;
        if (*from == ')' || *from == ']') inside = 0, depth--;
        if (isdigit((unsigned char)*from) && !isalnum((unsigned char)before) && before != '.') {
            char *end;
            long number = strtol(from, &end, 10);
            bool real = *end == '.' || *end == 'e';
            if (!real && before != '-' && number == was &&
                (inside == '(' || (inside == '[' && lists)))
                number = now;
            if (inside == '[' && number > MOST_LISTED) return false;
            if (before == '<' && number == was && now < was) number = now;
            if (inside == '(' && (numel *= number) > most_elements) return false;
            if (real)
                while (from < end) to[n++] = *from++;
            else
                n += (size_t)snprintf(to + n, room - n, "%ld", number);
            from = end;
            before = '0';
            continue;
        }
        before = *from;
        to[n++] = *from++;
    }
    to[n] = 0;
    return !*from;
}

/* The different numbers in the shapes of a sample, at most `room`. */
static int numbers_of(const sample *s, int *number, int room) {
    int n = 0;
    for (int t = 0; t < s->ntensors; t++)
        for (int d = 0; d < s->tensor[t]->ndim; d++) {
            int v = (int)s->tensor[t]->size[d], k = 0;
            while (k < n && number[k] != v) k++;
            if (k == n && n < room && v > 0) number[n++] = v;
        }
    return n;
}

static tn_context *context[CONTEXTS];
static record result[CONTEXTS];
static int64_t passed, failed, taken_of_row, beyond; /* beyond: calls beyond CAP */
static bool starved;                                 /* the call wanted more than the cap */

static void notice(const tn_error_info *error, void *user) {
    (void)user;
    starved = starved || error->code == TN_MEMORY;
}

/* The row with this text as its sample, in all contexts. Whether the call was taken, with
 * results that fit. */
static bool compare(const tn_row *row, char *text, tn_dtype dtype, int layout) {
    tn_row with = *row;
    bool ok[CONTEXTS], same = true;
    with.sample = text;
    starved = false;
    for (int k = 0; k < CONTEXTS && !starved; k++) {
        static sample s;
        tn_context_use(context[k]);
        TN_SCOPE {
            ok[k] = sample_make(&s, &with, 0, dtype, false);
            s.row = row;
            ok[k] = ok[k] && record_run(&result[k], &s, layout);
        }
        tn_error_take(NULL);
        same = same && ok[k] == ok[0] && (!ok[0] || record_same(&result[0], &result[k]));
    }
    beyond += starved;
    if (starved || (!ok[0] && same)) return false;
    if (ok[0] && result[0].n > result[0].room) return false;
    taken_of_row++;
    if (same)
        passed++;
    else {
        failed++;
        printf("FAILED sizes %s [%s] %s, layout %d: other bits with another instruction set or "
               "number of threads\n",
               row->name, text, tn_dtype_name(dtype), layout);
    }
    return true;
}

static void walk_sample(const tn_row *row, int i, tn_dtype dtype, int depth) {
    static sample s;
    char original[400], text[600];
    int number[12], n = 0;
    const int *size = dtype == TN_F32 ? depths[depth].f32 : depths[depth].others;
    const int nsizes = dtype == TN_F32 ? depths[depth].nf32 : depths[depth].nothers;
    tn_context_use(context[0]);
    TN_SCOPE {
        if (sample_make(&s, row, i, dtype, false)) n = numbers_of(&s, number, 12);
    }
    most_elements = MOST;
    for (int t = 0; t < s.ntensors; t++)
        if (s.structure[t]) most_elements = MOST_STRUCTURED;
    tn_error_take(NULL);
    memcpy(original, s.text, sizeof original);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < nsizes; j++) {
            const int layouts[] = {SAMPLE_CONTIGUOUS, SAMPLE_SLICED, SAMPLE_LAST};
            int layout = sample_reads_memory(row) ? 0 : layouts[j % 3];
            if (rewrite(original, number[k], size[j], true, text, sizeof text) &&
                compare(row, text, dtype, layout))
                continue;
            if (rewrite(original, number[k], size[j], false, text, sizeof text))
                compare(row, text, dtype, layout);
        }
}

int main(int argc, char **argv) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_BF16, TN_F16,
                                      TN_I64, TN_I32, TN_U8,   TN_C64};
    int depth = 1;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int64_t rows = 0;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "depth=", 6) == 0) depth = argv[a][6] - '0';
    for (int k = 0; k < CONTEXTS; k++) {
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = as[k].threads;
        o.isa = as[k].isa;
        o.memory_cap = CAP;
        context[k] = tn_context_new(&o);
        tn_context_use(context[k]);
        tn_set_error_handler(notice, NULL);
        result[k] = record_new(1 << 24);
    }
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        if (!rows_take(0, r) || record_leaves_out(row)) continue;
        taken_of_row = 0;
        for (int i = 0; i < sample_count(row); i++)
            for (int d = 0; d < depths[depth].dtypes; d++) walk_sample(row, i, dtypes[d], depth);
        rows += taken_of_row > 0;
    }
    tn_context_use(NULL);
    for (int k = 0; k < CONTEXTS; k++) tn_context_free(context[k]), free(result[k].at);
    printf("promise 10: %lld rows, %lld calls at other sizes: scalar = SIMD, 1 = 3 threads, bit "
           "for bit\n",
           (long long)rows, (long long)passed);
    if (beyond)
        printf("left out: %lld calls that wanted more than %d MiB\n", (long long)beyond, CAP >> 20);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
