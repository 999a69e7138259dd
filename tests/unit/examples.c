/* examples.c - the example of every row (TN_DOC's .example) is a call that compiles, in C, and in
 * C++ where it has no keywords: g++ -x c++ compiles this file in the lane `compile`. */
#ifdef TNI_OBJECTS
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"
#else
#include "tensor_nn.h"
#endif

#include <math.h>
#include <stdio.h>

/* What the examples call their inputs; some define a result of the same name. */
#pragma GCC diagnostic ignored "-Wshadow"
static TNI_UNUSED tn_tensor *x, *y, *z, *w, *b, *a, *d, *p, *t, *v, *q, *k, *n, *mask, *index,
    *rows, *src, *low, *high, *mean, *var, *rstd, *weight, *total, *table, *tokens, *edges, *pivots,
    *spectrum, *g, *m;
static TNI_UNUSED tn_tensors params, grads, buffers, averages, squares, sums, none;
static TNI_UNUSED tn_floats step, lr, beta1, beta2, eps, momentum, dampening, decay, no, first,
    numbers;
static TNI_UNUSED tn_module *net, *one, *two;

#define TNI_EXAMPLE(row, ...) \
    static void example_##row(void) { (void)(__VA_ARGS__); }
#define TNI_DEFINITION(row, name, ...) \
    static void example_##row(void) {  \
        __VA_ARGS__;                   \
        (void)name;                    \
    }
#ifdef __cplusplus
#define TNI_EXAMPLE_C(row, ...) \
    static void example_##row(void) {}
#define TNI_DEFINITION_C(row, ...) \
    static void example_##row(void) {}
#else
#define TNI_EXAMPLE_C(row, ...) TNI_EXAMPLE(row, __VA_ARGS__)
#define TNI_DEFINITION_C(row, name, ...) TNI_DEFINITION(row, name, __VA_ARGS__)
#endif
#include "../../src/gen/examples.inl"
#undef TNI_EXAMPLE
#undef TNI_DEFINITION
#undef TNI_EXAMPLE_C
#undef TNI_DEFINITION_C

int main(void) {
    static void (*const compiled[])(void) = {
#define TNI_EXAMPLE(row, ...) example_##row,
#define TNI_DEFINITION(row, ...) example_##row,
#define TNI_EXAMPLE_C(row, ...) example_##row,
#define TNI_DEFINITION_C(row, ...) example_##row,
#include "../../src/gen/examples.inl"
    };
    printf("%d passed, 0 failed\n", (int)(sizeof compiled / sizeof *compiled));
    return 0;
}
