/* check.h - the whole test framework: a test is a function in a list, its name says the promise.
 *
 *     static void sum_of_nothing_is_zero(void) { CHECK_EQ(sum(NULL, 0), 0); } static const
 * check_test tests[] = {CHECK_TEST(sum_of_nothing_is_zero)}; int main(int argc, char **argv) {
 * return CHECK_MAIN(tests, argc, argv); }
 *
 * A check that fails prints its place and the test goes on. Arguments are parts of names: only
 * tests that have one of them run. The last line is "N passed, N failed" (tests, not checks);
 * the program returns 1 when one failed. */
#ifndef TNI_TESTS_CHECK_H
#define TNI_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_test {
    const char *name;
    void (*run)(void);
} check_test;

static int check_failures; /* checks that failed in this test; also written by its threads */

static int check_report(int ok, const char *file, int line, const char *text) {
    if (ok) return 1;
#if defined(__GNUC__) && !defined(__TINYC__)
    __atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED);
#else
    check_failures++;
#endif
    printf("%s:%d: failed: %s\n", file, line, text);
    return 0;
}
static int check_equal(long long a, long long b, const char *file, int line, const char *text) {
    char numbers[400];
    if (a == b) return 1;
    snprintf(numbers, sizeof numbers, "%s: %lld and %lld", text, a, b);
    return check_report(0, file, line, numbers);
}
static int check_text(const char *a, const char *b, const char *file, int line, const char *text) {
    if (a && b && strcmp(a, b) == 0) return 1;
    check_report(0, file, line, text);
    printf("    \"%s\"\n    \"%s\"\n", a ? a : "(NULL)", b ? b : "(NULL)");
    return 0;
}

/* All of a file; the caller frees it. NULL where it cannot be read. */
static char *check_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n;
    if (!f) return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 &&
        (text = (char *)malloc((size_t)n + 1))) {
        rewind(f);
        text[fread(text, 1, (size_t)n, f)] = 0;
    }
    fclose(f);
    return text;
}

/* Each is an expression: 1 when it holds. */
#define CHECK(condition) check_report(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ(a, b) check_equal((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_TEXT(a, b) check_text(a, b, __FILE__, __LINE__, #a " is " #b)

#define CHECK_TEST(name) \
    { #name, name }
#define CHECK_MAIN(tests, argc, argv) \
    check_run(tests, (int)(sizeof(tests) / sizeof *(tests)), argc, argv)

static int check_run(const check_test *test, int n, int argc, char **argv) {
    int passed = 0, failed = 0;
    (void)check_equal, (void)check_text, (void)check_file;
    for (int i = 0; i < n; i++) {
        int chosen = argc < 2;
        for (int k = 1; k < argc; k++) chosen = chosen || strstr(test[i].name, argv[k]);
        if (!chosen) continue;
        check_failures = 0;
        test[i].run();
        if (check_failures)
            printf("FAILED %s\n", test[i].name), failed++;
        else
            passed++;
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#endif
