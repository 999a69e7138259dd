/* promotion.c - the dtype of a sum of any two operands, tensors with and without dimensions and
 * numbers, under each default dtype, is torch's (tests/oracle/promotion.txt). */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

enum { DTYPES = 12, NUMBERS = 4 };

static tn_dtype dtype[DTYPES];
static tn_tensor *tensor[2][DTYPES]; /* with one dimension, with none */

static void operands(char *line) {
    int n = 0;
    for (char *at = strtok(line, " \n"); at && n < DTYPES; at = strtok(NULL, " \n"), n++) {
        dtype[n] = tn_dtype_named(at);
        for (int zero = 0; zero < 2; zero++) {
            const int64_t size = 2;
            tensor[zero][n] = tnp_full(tn_ints_of(&size, !zero), tn_int(1), dtype[n], TN_NO_DEVICE);
            CHECK(tensor[zero][n] != NULL);
        }
    }
    CHECK_EQ(n, DTYPES);
}

static tn_tensor *sum(tn_tensor *x, int k) {
    const tn_scalar number[NUMBERS] = {tn_bool(true), tn_int(1), tn_float(0.5), tn_complex(0, 1)};
    if (k >= 2 * DTYPES) return tnp_add_scalar(x, number[k - 2 * DTYPES], 1);
    return tnp_add(x, tensor[k / DTYPES][k % DTYPES], 1);
}

/* There is no complex32 here: complex64 in its place. */
static tn_dtype wanted(const char *name) {
    return strstr(name, "complex32") ? TN_C64 : tn_dtype_named(name);
}

static int checked;
static void line_is_true(char *line) {
    char first[16], second[16], kind[16], *rest = strchr(line, ':');
    if (!CHECK(rest && sscanf(line, "%15s %15s %15[a-z]", first, second, kind) == 3)) return;
    CHECK(tn_set_default_dtype(tn_dtype_named(first)));
    const int zero = !strcmp(kind, "zero");
    int i = 0, k = 0;
    while (i < DTYPES && dtype[i] != tn_dtype_named(second)) i++;
    for (char *at = strtok(rest + 1, " \n"); at && i < DTYPES; at = strtok(NULL, " \n"), k++) {
        TN_SCOPE {
            tn_tensor *y = sum(tensor[zero][i], k);
            if (!CHECK(y && tn_dtype_of(y) == wanted(at)))
                printf("    default %s, %s %s, operand %d: %s, not %s\n", first, kind, second, k,
                       at, y ? tn_dtype_name(tn_dtype_of(y)) : "an error");
            tn_error_take(NULL);
            checked++;
        }
    }
    CHECK_EQ(k, 2 * DTYPES + NUMBERS);
}

static void sums_have_the_dtypes_of_torch(void) {
    static char line[4096];
    FILE *f = fopen("tests/oracle/promotion.txt", "r");
    if (!CHECK(f != NULL)) return;
    while (fgets(line, sizeof line, f))
        if (line[0] != '#' && dtype[0])
            line_is_true(line);
        else if (line[0] != '#')
            operands(line);
    fclose(f);
    CHECK_EQ(checked, 4 * 2 * DTYPES * (2 * DTYPES + NUMBERS));
    tn_set_default_dtype(TN_F32);
    for (int i = 0; i < 2 * DTYPES; i++) tn_free(tensor[i / DTYPES][i % DTYPES]);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(sums_have_the_dtypes_of_torch)};
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
