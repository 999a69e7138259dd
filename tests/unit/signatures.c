/* signatures.c - the parameters of operators, modules and optimizers are torch's: names in the same
 * order, positional or keyword, defaults. tests/oracle/signatures.txt says what torch has; what
 * differs on purpose is in .differs of the row, with its reason. */
#include "../../src/call/schema.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

typedef struct signature_line {
    char kind[16], name[64], param[64], how[16], value[128];
    int position;
} signature_line;

/* Places "parameter NAME" of .differs. */
static const struct different {
    const char *kind, *name, *place;
} different[] = {
#define DIFFERS(kind, row, place, at_ties, text, why) {kind, row, place},
#define ORACLE(row, clauses)
#include "../ops/rows.inl"
    {NULL, NULL, NULL}};
static int used[sizeof different / sizeof *different], checked;

static bool is_different(const signature_line *l) {
    for (int i = 0; different[i].name; i++)
        if (!strcmp(different[i].kind, l->kind) && !strcmp(different[i].name, l->name) &&
            !strncmp(different[i].place, "parameter ", 10) &&
            !strcmp(different[i].place + 10, l->param))
            return (used[i] = 1) != 0;
    return false;
}

static char *file_text(const char *path) {
    FILE *f = fopen(path, "rb");
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *text = n >= 0 ? (char *)calloc(1, (size_t)n + 1) : NULL;
    if (text) {
        rewind(f);
        if (fread(text, 1, (size_t)n, f) != (size_t)n) text[0] = 0;
    }
    if (f) fclose(f);
    return text;
}

/* The schema of a row of the table, which lists operators, then modules and optimizers. */
static bool schema_of(const char *table, const signature_line *l, char *to, size_t room) {
    const bool operator_row = !strcmp(l->kind, "operator"),
               optimizer = !strcmp(l->kind, "optimizer");
    char wanted[160];
    snprintf(wanted, sizeof wanted, "\"name\": \"%s\", \"%s\": ", l->name,
             operator_row ? "torch" : "class");
    for (const char *at = table; (at = strstr(at, wanted)); at++) {
        const char *begin = strstr(at, "\"schema\": \""), *is = strstr(at, "\"optimizer\": ");
        const char *end = begin ? strchr(begin + 11, '"') : NULL;
        if (!end || (!operator_row && (!is || (is[13] == 't') != optimizer))) continue;
        snprintf(to, room, "%.*s", (int)(end - begin - 11), begin + 11);
        return true;
    }
    return false;
}

/* A number for a list of any length is the list that holds it again and again. */
static bool same_numbers(const tni_schema_param *p, const char *value) {
    char *end = (char *)value + (value[0] == '[');
    const char *stop = value[0] == '[' ? "]" : "";
    for (int i = 0; i < p->value.n || *end == ','; i++) {
        const int k = p->value.n == 1 ? 0 : i;
        const double ours = p->type == TN_T_INTS ? (double)p->value.ints[k] : p->value.floats[k];
        if (i > 0 && *end == ',') end++;
        if (k >= p->value.n || strtod(end, &end) != ours) return false;
        if (p->value.n == 1 && *end != ',') break;
    }
    return !strcmp(end, stop);
}

/* A word; a number where torch's schema has it, which counts the words from 0. */
static bool same_word(const tni_schema_param *p, const char *value) {
    const tni_default *d = &p->value;
    if (value[0] != '\'') return p->type == TN_T_ENUM && strtoll(value, NULL, 10) == d->integer - 1;
    return strlen(value) == (size_t)d->string.n + 2 &&
           !memcmp(value + 1, d->string.at, (size_t)d->string.n);
}

static bool same_value(const tni_schema_param *p, const char *value) {
    const tni_default *d = &p->value;
    if (!(p->flags & TN_P_DEFAULT)) return !strcmp(value, "required");
    if (d->none || !strcmp(value, "None")) return d->none && !strcmp(value, "None");
    switch (p->type) {
    case TN_T_BOOL: return !strcmp(value, d->integer ? "True" : "False");
    case TN_T_INT: return strtoll(value, NULL, 10) == d->integer;
    case TN_T_FLOAT:
    case TN_T_SCALAR: return strtod(value, NULL) == d->real;
    case TN_T_INTS:
    case TN_T_FLOATS: return same_numbers(p, value);
    case TN_T_STRING:
    case TN_T_ENUM: return same_word(p, value);
    case TN_T_DTYPE: return !strcmp(value, "4") && d->integer == TN_I64; /* torch's number of it */
    default: return false;
    }
}

static bool check_line(const char *table, const signature_line *l, int *after) {
    static tni_schema s;
    static char text[2048];
    char error[200];
    if (!strcmp(l->param, "-")) return CHECK(schema_of(table, l, text, sizeof text));
    if (!CHECK(schema_of(table, l, text, sizeof text)) ||
        !CHECK(tni_schema_parse(&s, text, error, sizeof error)))
        return false;
    for (int i = 0; i < s.nparam; i++) {
        const tni_schema_param *p = &s.param[i];
        if (!tni_word_is(p->name, l->param)) continue;
        const bool keyword = (p->flags & TN_P_KEYWORD) != 0;
        if (!same_value(p, l->value) || (i < *after && !keyword) ||
            !(p->flags & TN_P_KEYWORD) != !strcmp(l->how, "positional"))
            return false;
        *after = i;
        return true;
    }
    return false;
}

static void parameters_are_those_of_torch(void) {
    char *table = file_text("src/gen/table.json"),
         *lines = file_text("tests/oracle/signatures.txt"), row[64] = "";
    int after = 0;
    if (!CHECK(table != NULL) || !CHECK(lines != NULL)) return;
    for (char *at = strtok(lines, "\n"); at; at = strtok(NULL, "\n")) {
        signature_line l;
        if (at[0] == '#') continue;
        if (!CHECK(sscanf(at, "%15s %63s %63s %d %15s %127s", l.kind, l.name, l.param, &l.position,
                          l.how, l.value) == 6))
            break;
        if (strcmp(row, l.name)) after = 0;
        snprintf(row, sizeof row, "%s", l.name);
        checked++;
        if (!check_line(table, &l, &after) && !is_different(&l)) {
            CHECK(!"a parameter is not as torch has it");
            printf("    %s\n", at);
        }
    }
    for (int i = 0; different[i].name; i++)
        if (!strncmp(different[i].place, "parameter ", 10) && !CHECK(used[i]))
            printf("    %s %s differs no more\n", different[i].name, different[i].place);
    CHECK(checked > 700);
    free(table), free(lines);
}

static bool is_left_out(const char *kind, const char *name) {
    for (int i = 0; different[i].name; i++)
        if (!strcmp(different[i].kind, kind) && !strcmp(different[i].name, name) &&
            !strcmp(different[i].place, "signature"))
            return true;
    return false;
}

static void every_row_has_been_compared(void) {
    static const char row[] = "\n {\"name\": \"";
    char *table = file_text("src/gen/table.json"),
         *lines = file_text("tests/oracle/signatures.txt");
    int rows = 0;
    if (!CHECK(table != NULL) || !CHECK(lines != NULL)) return;
    for (char *at = table; (at = strstr(at, row)) != NULL; at++) {
        char name[64], key[16], line[128];
        const char *optimizer = strstr(at, "\"optimizer\": ");
        if (!CHECK(sscanf(at + sizeof row - 1, "%63[^\"]\", \"%15[^\"]", name, key) == 2)) break;
        const char *kind = !strcmp(key, "torch")               ? "operator"
                           : optimizer && optimizer[13] == 't' ? "optimizer"
                                                               : "module";
        snprintf(line, sizeof line, "\n%s %s ", kind, name);
        rows++;
        if (strstr(lines, line) || is_left_out(kind, name)) continue;
        CHECK(!"a row is not in tests/oracle/signatures.txt");
        printf("    %s %s: run tests/oracle/signatures.py beside torch, or say why not in its row: "
               ".differs = \"signature: ..\"\n",
               kind, name);
    }
    CHECK(rows > 0);
    free(table), free(lines);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(parameters_are_those_of_torch),
                                       CHECK_TEST(every_row_has_been_compared)};
    return CHECK_MAIN(tests, argc, argv);
}
