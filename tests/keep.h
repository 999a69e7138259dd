/* keep.h - for programs some of whose calls keep memory though they fail: tests/watch.c does not
 * compare bytes while this is not 0. Weak, as programs with it are linked into one. */
#ifndef TNI_TESTS_KEEP_H
#define TNI_TESTS_KEEP_H

extern int watch_callbacks_keep;
__attribute__((weak)) int watch_callbacks_keep;

#endif
