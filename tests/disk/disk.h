/* disk.h - what the programs of this lane share: counting, files of the real disk, and children
 * whose signals are seen. */
#ifndef TESTS_DISK_H
#define TESTS_DISK_H

#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int64_t passed, failed;
void check(bool ok, const char *what, int64_t number);

/* A file's bytes, NULL where there is none; freed by the caller. */
char *file_bytes(const char *path, size_t *size);
void file_write(const char *path, const void *bytes, size_t size);
bool file_is(const char *path, const char *bytes, size_t size);
/* Temporary files that a save of path has left, and without them. */
int leftovers(const char *path, bool drop);

/* Runs f(arg) in a child: its status as waitpid gives it. */
int in_child(int (*f)(void *arg), void *arg);

/* A context without threads, and without caches but where disk_cached; operations NULL: the
 * system's. Bytes that its allocator has given out at most since disk_mark, beyond those then. */
extern bool disk_cached;
tn_context *context_new(const tn_files *operations, int64_t memory_cap);
void disk_mark(void);
int64_t disk_peak(void);

/* A small model with its optimizer, as a state to save; number changes its values. */
typedef struct world {
    tn_module *net;
    tn_optimizer *adam;
    tn_named_number numbers[1];
    tn_state state;
} world;
void world_begin(world *w, int64_t width);
void world_step(world *w);
void world_end(world *w);

#endif
