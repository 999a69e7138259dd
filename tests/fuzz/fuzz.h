/* fuzz.h - what the targets share: a context whose files lie in memory and whose allocator counts,
 * and the judge of an input.
 *
 * A target is one format: it reads any bytes and says whether they were valid. Linked with
 * libFuzzer it is fuzzed; compiled with FUZZ_REPLAY it is a program that reads the files of its
 * command line. After each input nothing may be left: no byte, tensor, open file or error. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_target {
    const char *name;
    void (*begin)(void); /* once, in the context; may be NULL */
    bool (*one)(const uint8_t *data, size_t size);
} fuzz_target;
extern const fuzz_target fuzz_this;

/* Says what is broken and aborts: how libFuzzer learns of it. */
#define MUST(condition, what)                            \
    do {                                                 \
        if (!(condition)) fuzz_broken(what, #condition); \
    } while (0)
void fuzz_broken(const char *what, const char *condition);
/* Takes the error that must be there; its code. */
tn_code fuzz_error(void);

/* Files. What is read stays until the next fuzz_put of that name. */
void fuzz_put(const char *name, const void *data, size_t size);
const uint8_t *fuzz_get(const char *name, size_t *size);
bool fuzz_same_files(const char *a, const char *b);

/* Memory: fuzz_mark, a call that reads a file, fuzz_within its size: the call took no more than
 * the file's bytes and 1 MiB. */
int64_t fuzz_mark(void);
void fuzz_within(int64_t mark, size_t file_bytes);

/* A context of its own for inputs that register rows; fuzz_leave frees it and finds what is left.
 */
tn_context *fuzz_enter(int64_t memory_cap);
void fuzz_leave(tn_context *context);

/* Lines of a text, each a block of its own that ends with its NUL; "" behind the last. */
void fuzz_lines(const uint8_t *data, size_t size, char **line, int n);
void fuzz_lines_free(char **line, int n);

/* Random numbers of a custom mutator. */
void fuzz_seed(unsigned seed);
int fuzz_below(int n);

#endif
