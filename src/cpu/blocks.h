/* blocks.h - strided tensors of any dtype, cut into blocks for loops over whole vectors (blocks.c),
 * and chains of conversions (convert.c). */
#ifndef TNI_CPU_BLOCKS_H
#define TNI_CPU_BLOCKS_H

#include "drive.h"

enum {
    TNI_TILE = 4096,  /* bytes of a tile */
    TNI_TASK = 32768, /* elements of a task */
    TNI_CHAIN = 6,    /* conversions one after another */
    TNI_INPUTS = 3
};

/* Conversions one after another, from one dtype to the next. */
typedef struct tni_chain {
    int n;
    int64_t most; /* bytes of the largest element on the way */
    tni_cast step[TNI_CHAIN];
    int64_t bytes[TNI_CHAIN]; /* of the element after step i */
} tni_chain;

/* The type that elements of dtype d are computed in; a bool's as a number. */
TN_PRIV int tni_computed_in(int d);
/* Adds the conversions from one dtype to another. */
TN_PRIV void tni_chain_to(tni_chain *c, const tni_kernels *k, int from, int to);
/* Runs n elements through the chain (of at least one step); most * n <= TNI_TILE. */
TN_PRIV void tni_chain_run(const tni_chain *c, void *to, const void *from, int64_t n);

typedef struct tni_blocks_operand {
    int64_t bytes, size; /* of an element in memory, and of the loop's type */
    int64_t col, row;    /* strides of the two innermost dimensions */
    tni_chain chain;     /* from memory to the loop's type; of the result the other way */
} tni_blocks_operand;

typedef struct tni_blocks {
    tni_iterate it;
    tn_frame *f; /* NULL: a copy */
    const tni_kernels *k;
    tni_loop loop; /* NULL: a copy */
    const void *numbers;
    int nin;
    int64_t lanes;
    tni_blocks_operand op[1 + TNI_INPUTS];    /* 0: the result */
    int64_t rows, cols, across, down, blocks; /* a block; blocks along dimensions 0 and 1; all */
    int64_t per_task;
} tni_blocks;

/* Sets rows to per_task from the layout; it, op, nin and loop are set. */
TN_PRIV void tni_blocks_cut(tni_blocks *d);
/* Computes or copies all blocks, on threads where they are worth it. */
TN_PRIV void tni_blocks_run(tni_blocks *d, tn_context *c);

/* One contiguous run of n elements: whole vectors where they lie, then the tail. */
TN_PRIV void tni_span_run(tni_loop loop, int n_in, int64_t lanes, char *out, int64_t out_size,
                          const char *const *in, const int64_t *step, int64_t n,
                          const void *numbers);

#endif
