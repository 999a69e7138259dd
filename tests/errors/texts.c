/* texts.c - the texts of errors that tests have met: whom they name, what they say of arguments.
 *
 *     texts FILE        lines "public function <tab> text" as tests/watch.c writes them
 *
 * Of "head\n  in row(name=value, ...), called by outer": the function that the program called is
 * the row, or the outer one; what stands in quotes, and a word that the head begins with or that
 * has "_" in it, is an argument of a row that is named; "NAME has shape (2, 3)", "NAME of shape",
 * "got (2, 3)", "shapes (2) and (3)", "got float64", "dim 3" are those of the arguments. A text
 * "tn_x: ..." is of the function tn_x. */
#include "../../src/api/row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192, ARGUMENTS = 32, SHOWN = 12 };

typedef struct argument {
    char name[64], value[1200];
} argument;
typedef struct text {
    char function[128], stem[128]; /* tn_add_at; add */
    char head[4096], row[128], outer[128];
    argument arg[ARGUMENTS];
    int narg;
    const tn_row *is, *called; /* of row and outer; NULL: not the library's */
    bool whole;                /* all arguments are there: the text was not cut */
} text;
static long lines, checks, failures;

static void wrong(const text *t, const char *what, const char *which) {
    if (failures++ < SHOWN)
        printf("%s: %s %s\n    %s\n      in %s\n", t->function, what, which, t->head, t->row);
}
static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }
static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* --- reading ---------------------------------------------------------------------------------- */

/* "tn_add_inplace_at", "tnp_add_": "add". */
static void stem_of(const char *function, char *to, size_t room) {
    const char *at = starts(function, "tnp_")  ? function + 4
                     : starts(function, "tn_") ? function + 3
                                               : function;
    size_t n;
    snprintf(to, room, "%.120s", at);
    n = strlen(to);
    if (n > 3 && strcmp(to + n - 3, "_at") == 0) to[n -= 3] = 0;
    if (n > 8 && strcmp(to + n - 8, "_inplace") == 0) to[n -= 8] = 0;
    if (n > 1 && to[n - 1] == '_') to[n - 1] = 0;
}

/* The end of a value: ", " or ")" outside of brackets. */
static const char *value_end(const char *at) {
    int depth = 0;
    for (; *at; at++) {
        if (*at == '(' || *at == '[') depth++;
        if ((*at == ')' || *at == ']') && depth-- == 0) return at;
        if (*at == ',' && depth == 0) return at;
    }
    return at;
}
/* What follows "row(": into t->arg; where the list ends. */
static const char *read_arguments(text *t, const char *at) {
    t->narg = 0;
    while (*at && *at != ')' && t->narg < ARGUMENTS) {
        argument *a = &t->arg[t->narg];
        const char *equal = strchr(at, '='), *end;
        if (!equal || (size_t)(equal - at) >= sizeof a->name) return NULL;
        end = value_end(equal + 1);
        if (!*end || (size_t)(end - equal) >= sizeof a->value) return NULL;
        snprintf(a->name, sizeof a->name, "%.*s", (int)(equal - at), at);
        snprintf(a->value, sizeof a->value, "%.*s", (int)(end - equal - 1), equal + 1);
        t->narg++;
        at = end + (starts(end, ", ") ? 2 : 0);
    }
    return *at == ')' ? at + 1 : NULL;
}

static bool read_text(text *t, char *line) {
    char *tab = strchr(line, '\t'), *in, *called;
    const char *rest;
    size_t n;
    memset(t, 0, sizeof *t);
    if (!tab) return false;
    *tab++ = 0;
    snprintf(t->function, sizeof t->function, "%.120s", line);
    stem_of(line, t->stem, sizeof t->stem);
    in = strstr(tab, "\\n  in ");
    snprintf(t->head, sizeof t->head, "%.*s", (int)(in ? in - tab : (long)strcspn(tab, "\n")), tab);
    if (!in) return true;
    in += 7;
    for (n = 0; is_word(in[n]) && n < sizeof t->row - 1; n++) t->row[n] = in[n];
    if (in[n] != '(') return t->row[0] = 0, true;
    t->is = t->called = tn_row_named(t->row);
    rest = read_arguments(t, in + n + 1);
    t->whole = rest != NULL;
    strcpy(t->outer, t->row);
    for (; rest && (called = strstr(rest, ", called by ")) != NULL; rest = called + 12) {
        for (n = 0; is_word(called[12 + n]) && n < sizeof t->outer - 1; n++)
            t->outer[n] = called[12 + n];
        t->outer[n] = 0;
        if (n > 1 && t->outer[n - 1] == '_') t->outer[n - 1] = 0;
        t->called = tn_row_named(t->outer);
    }
    return true;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool row_takes(const tn_row *row, const char *name) {
    for (int i = 0; row && i < row->gen->nparam; i++)
        if (strcmp(row->gen->param[i].name, name) == 0) return true;
    return false;
}
static bool any_row_takes(const char *name) {
    for (int64_t i = 0; i < tn_row_count(); i++)
        if (row_takes(tn_row_at(i), name)) return true;
    return false;
}
/* What a row computes the gradient of is no argument of it, but what its texts speak of. */
static bool is_gradient_of(const tn_row *row, const char *name) {
    char part[80];
    snprintf(part, sizeof part, "_%s_grad", name);
    return row && strstr(row->name, part);
}
static bool takes(const text *t, const char *name) {
    return is_gradient_of(t->is, name) || row_takes(t->is, name) || row_takes(t->called, name) ||
           strcmp(name, "out") == 0;
}
/* A row is named by its name, its schema's, or what stands before an overload; a gradient may be
 * by what it is the gradient of; as torch does. */
static bool names_row(const tn_row *row, const char *given) {
    char name[128];
    size_t n = strlen(given);
    if (n > 1 && given[n - 1] == '_') n--; /* "index_add_(): ..." */
    snprintf(name, sizeof name, "%.*s", (int)n, given);
    if (row && strcmp(row->name, "as_strided_scatter") == 0 && strcmp(name, "as_strided") == 0)
        return true;
    if (row && starts(row->name, "linalg_")) { /* lu_solve, and linalg_solve_ex that says solve */
        const char *rest = row->name + (starts(name, "linalg_") ? 0 : 7);
        n = strlen(name);
        if (starts(rest, name) && (!rest[n] || strcmp(rest + n, "_ex") == 0)) return true;
    }
    n = strlen(name);
    return row && (strcmp(row->name, name) == 0 ||
                   (starts(row->schema, name) && !is_word(row->schema[n])));
}

/* What texts of torch say in the words of torch: names that are no arguments. */
static bool is_torchs(const char *name) {
    static const char *const words[] = {
        "same",         "valid",    "channels_last", "storage_offset", "arange_cpu", "linspace_cpu",
        "logspace_cpu", "n_sample", "prob_dist",     "sparse_coo",     "sparse_csr", "sparse_csc",
        "to_dense",     NULL};
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], name) == 0) return true;
    return starts(name, "tn_") || tn_dtype_named(name) != TN_NO_DTYPE;
}

static void check_function(const text *t) {
    const tn_row *row = tn_row_named(t->stem);
    static const char *const calls_back[] = {
        "call_named",    "call", "checkpoint", "backward",
        "function_call", "vmap", NULL}; /* functions of a program */
    char said[128];
    size_t n = 0;
    if (t->row[0] && row && t->called && t->whole && !starts(t->head, "out of memory")) {
        checks++;
        if (row != t->called) wrong(t, "is called, and the text is of", t->outer);
    }
    for (int i = 0; calls_back[i]; i++)
        if (strcmp(t->stem, calls_back[i]) == 0) return;
    if (!starts(t->head, "tn_")) return;
    while (is_word(t->head[n]) && n < sizeof said - 1) said[n] = t->head[n], n++;
    said[n] = 0;
    if (t->head[n] != ':') return;
    checks++;
    n = strlen(said + 3);
    if (n > 1 && said[n + 2] == '_') said[--n + 3] = 0; /* "tn_detach_: ..." */
    if (!starts(t->stem, said + 3) || (t->stem[n] && t->stem[n] != '_'))
        wrong(t, "is called, and the text is of", said);
}

static void check_quoted(const text *t) {
    for (const char *at = t->head; *at; at++) {
        char name[64];
        size_t n = 0;
        if (*at != '\'' && *at != '`') continue;
        /* Values: mode='sum', mode 'sum'. */
        if (at > t->head && (is_word(at[-1]) || at[-1] == '=')) continue;
        if (at - t->head > 5 && starts(at - 5, "mode ")) continue;
        while (is_word(at[1 + n]) && n < sizeof name - 1) name[n] = at[1 + n], n++;
        name[n] = 0;
        if (!n || at[1 + n] != (*at == '`' ? '`' : '\'') || !islower((unsigned char)name[0]))
            continue;
        checks++;
        if (!takes(t, name) && !is_torchs(name)) wrong(t, "has no argument", name);
        at += n + 1;
    }
}

/* "linalg.lu_solve" of torch's texts: linalg_lu_solve into the word, and how far it reaches. */
static size_t of_linalg(const char *at, char *word, size_t room) {
    size_t n = 7;
    while (is_word(at[n]) && n < room - 1) n++;
    snprintf(word, room, "linalg_%.*s", (int)(n - 7), at + 7);
    return n;
}

/* The word that the text begins with, where it is said to be or have something; words with '_'. */
static void check_words(const text *t) {
    static const char *const verbs[] = {" is ", " has ", " must ", " should ", " differs ", "["};
    for (const char *at = t->head; *at;) {
        char word[64];
        size_t n = 0;
        bool option = false;
        if (!is_word(*at)) {
            at++;
            continue;
        }
        while (is_word(at[n]) && n < sizeof word - 1) word[n] = at[n], n++;
        word[n] = 0;
        if (starts(at, "linalg.") && is_word(at[7])) n = of_linalg(at, word, sizeof word);
        if (at == t->head)
            for (int i = 0; i < 6; i++) option |= starts(at + n, verbs[i]) && any_row_takes(word);
        option |= strchr(word, '_') && islower((unsigned char)word[0]);
        if (at == t->head || starts(at + n, "()")) { /* "sort(): ...", "cat: ..." */
            bool function = starts(at + n, "():") || starts(at + n, ": ");
            if (function && strcmp(word, t->stem) == 0) option = false; /* "clip_grad_norm: ..." */
            if (function && tn_row_named(word)) {
                checks++;
                if (!names_row(t->is, word) && !names_row(t->called, word) && !takes(t, word))
                    wrong(t, "is called, and the text is of", word);
                option = false;
            }
        }
        if (starts(word, "linalg_") && tn_row_named(word)) option = false; /* another operator */
        if (option && !names_row(t->is, word) && !names_row(t->called, word)) {
            checks++;
            if (!takes(t, word) && !is_torchs(word)) wrong(t, "has no argument", word);
        }
        at += n;
    }
}

/* --- shapes, dtypes, numbers ------------------------------------------------------------------ */

/* "(2, 3)" at `at`: its length, 0 where this is no list of numbers. */
static size_t shape_at(const char *at) {
    size_t n = 1 + strspn(at + 1, "-0123456789, ");
    return at[0] == '(' && at[n] == ')' ? n + 1 : 0;
}
/* Is this shape one in the value: of a tensor, or a list's [2, 3], one number for all? */
static bool value_has(const char *value, const char *shape, size_t n) {
    char list[1300];
    const char *comma;
    char *end;
    snprintf(list, sizeof list, "%.*s", (int)n, shape);
    if (strstr(value, list) || strstr(value, "...")) return true;
    if ((strtod(value, &end) < 0 || strtod(value, NULL) == strtod(list + 1, NULL)) && end > value)
        return true;                             /* a number, as it is or counted from the end */
    if (strcmp(value, "None") == 0) return true; /* or TN_NONE given as one */
    list[0] = '[', list[n - 1] = ']';
    if (strstr(value, list)) return true;
    comma = strchr(list, ',');
    for (const char *next = comma; next; next = strchr(next + 1, ','))
        if (strncmp(next + 2, list + 1, (size_t)(comma - list - 1)) != 0) return false;
    if (!comma) return false;
    strcpy(list + (comma - list), "]");
    return strcmp(value, list) == 0;
}
static const char *value_of(const text *t, const char *name) {
    for (int i = 0; i < t->narg; i++)
        if (strcmp(t->arg[i].name, name) == 0) return t->arg[i].value;
    return NULL;
}

/* The word before `at`, over " has shape ", " of shape ", " is ": an argument's value or NULL. */
static const char *value_before(const text *t, const char *at, char name[64]) {
    static const char *const between[] = {" has shape ", " of shape ", " shape ",
                                          "'s ",         " is ",       " "},
                             *const derived[] = {"expected ",  "padded ",      "existing ",
                                                 "dimension ", "should have ", NULL};
    for (int i = 0; i < 6; i++) {
        size_t n = strlen(between[i]), k = 0;
        if ((size_t)(at - t->head) <= n || strncmp(at - n, between[i], n) != 0) continue;
        while (k < 63 && at - n - k > t->head && is_word(at[-(long)n - (long)k - 1])) k++;
        snprintf(name, 64, "%.*s", (int)k, at - n - k);
        for (int d = 0; derived[d]; d++) {
            size_t m = strlen(derived[d]);
            if ((size_t)(at - t->head) >= n + k + m && starts(at - n - k - m, derived[d]))
                return NULL;
        }
        return value_of(t, name);
    }
    return NULL;
}

static void check_shapes(const text *t) {
    if (strstr(t->head, "cannot be multiplied")) return; /* one of them may be turned */
    for (const char *at = strchr(t->head, '('); at; at = strchr(at + 1, '(')) {
        size_t n = shape_at(at);
        char name[64] = "";
        const char *value = n ? value_before(t, at, name) : NULL;
        bool got =
            (size_t)(at - t->head) > 4 &&
            (starts(at - 4, "got ") || (starts(at - 4, "and ") && starts(t->head, "shapes (")));
        bool any = false;
        if (!n || (!value && !got && strcmp(name, "shapes") != 0)) continue;
        if (at > t->head && is_word(at[-1])) continue; /* f(2) */
        checks++;
        for (int i = 0; i < t->narg && !value; i++) any |= value_has(t->arg[i].value, at, n);
        if (value ? !value_has(value, at, n) : !any) wrong(t, "has no such shape:", at);
    }
}

/* "got float64", "got float32 and int64". */
static void check_dtypes(const text *t) {
    if (starts(t->head, "Expected out tensor to have dtype ") || starts(t->head, "out: "))
        return; /* out= is not shown */
    for (const char *at = strstr(t->head, "got "); at; at = strstr(at + 4, "got ")) {
        char word[32];
        size_t n = 0;
        bool any = false;
        while (is_word(at[4 + n]) && n < sizeof word - 1) word[n] = at[4 + n], n++;
        word[n] = 0;
        if (tn_dtype_named(word) == TN_NO_DTYPE) continue;
        checks++;
        for (int i = 0; i < t->narg; i++) any |= strstr(t->arg[i].value, word) != NULL;
        if (!any) wrong(t, "has no argument of dtype", word);
    }
}

/* "dim 3 ..." at the beginning: a number of the arguments, or one that counts from the end. */
static void check_dims(const text *t) {
    char number[32];
    bool any = false;
    size_t n;
    if (!starts(t->head, "dim ")) return;
    n = strspn(t->head + 4, "-0123456789");
    snprintf(number, sizeof number, "%.*s", (int)n, t->head + 4);
    if (!n || n >= sizeof number) return;
    checks++;
    for (int i = 0; i < t->narg; i++)
        any |= strstr(t->arg[i].value, number) || strchr(t->arg[i].value, '-') ||
               strcmp(t->arg[i].value, "None") == 0;
    if (!any) wrong(t, "has no number", number);
}

static void check_text(const text *t) {
    lines++;
    check_function(t);
    if (!t->is || !t->called || !t->whole) return;
    check_quoted(t);
    check_words(t);
    check_shapes(t);
    check_dtypes(t);
    check_dims(t);
}

int main(int argc, char **argv) {
    static char line[LINE];
    static text t;
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
    while (in && fgets(line, sizeof line, in))
        if (read_text(&t, line)) check_text(&t);
    if (in) fclose(in);
    printf("%ld texts of errors, %ld checks of what they name\n", lines, checks);
    if (lines < (getenv("TN_ROW") ? 1 : 1000)) printf("FAILED too few texts\n"), failures++;
    printf("%ld passed, %ld failed\n", checks - failures, failures);
    tn_context_free(NULL);
    return failures != 0;
}
