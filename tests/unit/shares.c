/* shares.c - which calls share memory and which copy, with which sizes, strides and offset, is as
 * in torch: tests/oracle/views.txt has calls of every row whose result may be a view, with inputs
 * of odd strides, of sizes 0 and 1 (views.py says how a line is read). */
#include "../../src/api/ops.h"
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <stdlib.h>

enum { ARGUMENTS = 5, INTS = 16, OUTS = 16, LINE = 1024, ROOM = 1 << 13 };

static int64_t ints[ARGUMENTS + 2][INTS];

/* "2,3" at *text, "-" for none; *text behind it. */
static tn_ints list(const char **text, int64_t *to) {
    int64_t n = 0;
    if (**text == '-' && ((*text)[1] == ' ' || (*text)[1] == '\n')) {
        ++*text;
        return tn_ints_of(to, 0);
    }
    for (char *end; n < INTS; n++) {
        to[n] = strtoll(*text, &end, 10);
        *text = end;
        if (**text != ',') return tn_ints_of(to, n + 1);
        ++*text;
    }
    return tn_ints_of(to, n);
}

static bool argument(tn_value *v, const char **text, int64_t *to) {
    char word[24];
    const char kind = *(*text)++;
    memset(v, 0, sizeof *v);
    if (kind == 'i') v->type = TN_T_INT, v->as.integer = list(text, to).at[0];
    if (kind == 'l') v->type = TN_T_INTS, v->as.ints = list(text, to);
    if (kind == 't') v->type = TN_T_TENSOR, v->as.tensor = tnp_zeros(list(text, to), TN_F32, 0);
    if (kind == 'd') {
        v->type = TN_T_DTYPE;
        if (sscanf(*text, "%23[a-z0-9]", word) != 1) return false;
        v->as.dtype = tn_dtype_named(word);
        *text += strlen(word);
    }
    return **text == ' ' && strchr("iltdn", kind);
}

static void write_list(char *to, tn_ints l) {
    to += strlen(to);
    if (!l.n) strcpy(to, "-");
    for (int64_t i = 0; i < l.n; i++)
        to += snprintf(to, 24, "%s%lld", i ? "," : "", (long long)l.at[i]);
}
/* As torch's are written: " view 2,3 3,1 0 copy ..". */
static void write_results(char *to, const tn_tensor *x, tn_tensor *const *out, int n) {
    *to = 0;
    for (int k = 0; k < n; k++) {
        const bool shares = out[k]->storage == x->storage;
        strcat(to, shares ? " view " : " copy ");
        write_list(to, tni_sizes(out[k]));
        strcat(to, " ");
        write_list(to, tn_ints_of(out[k]->stride, out[k]->ndim));
        if (shares) snprintf(to + strlen(to), 24, " %lld", (long long)out[k]->offset);
    }
}

static tn_tensor *input(const char **text, const char *dtype) {
    const tn_ints size = list(text, ints[ARGUMENTS]);
    ++*text;
    const tn_ints stride = list(text, ints[ARGUMENTS + 1]);
    char *end;
    const int64_t offset = strtoll(*text, &end, 10);
    *text = end;
    tn_tensor *memory = tnp_zeros(TN_DIMS(ROOM), tn_dtype_named(dtype), 0);
    return tnp_as_strided(memory, size, stride, offset, tn_no_dims(), 0);
}

static bool line_is_true(char *line) {
    char row[32], dtype[16], found[LINE];
    int at = 0, n = 0, given = 0;
    tn_value value[ARGUMENTS];
    tn_tensor *out[OUTS];
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%31s %15s %n", row, dtype, &at) != 2) return false;
    const char *text = line + at;
    tn_tensor *x = input(&text, dtype);
    if (!x || strncmp(text, " | ", 3)) return false;
    value[given].type = TN_T_TENSOR, value[given].name = NULL, value[given++].as.tensor = x;
    for (text += 3; *text != '|' && given < ARGUMENTS; given++, text++)
        if (!argument(&value[given], &text, ints[given])) return false;
    if (*text != '|') return false;
    if (tn_call_named(__FILE__, __LINE__, row, value, given, out, OUTS, &n))
        write_results(found, x, out, n);
    else
        strcpy(found, tn_error_take(NULL) ? " error" : " no error");
    if (strcmp(text + 1, found) == 0) return true;
    printf("    %s\n    but here it is%s\n", line, found);
    return false;
}

static void views_and_copies_are_those_of_torch(void) {
    static char line[LINE];
    FILE *f = fopen("tests/oracle/views.txt", "r");
    int lines = 0;
    if (!CHECK(f != NULL)) return;
    while (fgets(line, sizeof line, f))
        if (line[0] != '#')
            TN_SCOPE {
                CHECK(line_is_true(line));
                tn_error_take(NULL);
                lines++;
            }
    fclose(f);
    CHECK(lines > 3000);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* A row whose result may be a view is among them. */
static void every_row_that_views_is_there(void) {
    static char text[1 << 18];
    FILE *f = fopen("tests/oracle/views.txt", "r");
    if (!CHECK(f != NULL)) return;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    CHECK(feof(f));
    fclose(f);
    for (int64_t r = 0; r < tn_row_count(); r++) {
        char name[80];
        const char *schema = tn_row_at(r)->schema;
        const int n = (int)strcspn(schema, "(");
        if (!strstr(schema, "(Tensor(a) self")) continue;
        snprintf(name, sizeof name, "\n%.*s ", n, schema);
        if (!CHECK(strstr(text, name) != NULL))
            printf("    %s: run tests/oracle/views.py\n", schema);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(views_and_copies_are_those_of_torch),
                                       CHECK_TEST(every_row_that_views_is_there)};
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
