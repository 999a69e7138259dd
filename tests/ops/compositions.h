/* compositions.h - what fused rows mean, written in primitive ones: the formula of each row over
 * its argument struct, for tests/ops/fused.c. NULL without an error: these arguments
 * have no formula. */
#ifndef TNI_TESTS_COMPOSITIONS_H
#define TNI_TESTS_COMPOSITIONS_H

#include "sample.h"

typedef struct composition {
    const char *row;
    tn_tensor *(*formula)(const void *args);
} composition;
extern const composition compositions[]; /* the last one has no name */

#endif
