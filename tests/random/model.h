/* model.h - the reference of random programs: every element is a value and its derivatives by the
 * elements of all leaves, and a tensor is a list of cells.
 *
 * A view shares cells. A value and its derivatives stand in two stores, because a write without
 * history changes the value alone, and an alias without history (detach) sees the same values under
 * derivatives of its own. Whatever the library does with versions, bases and edges, this is what a
 * program means. */
#ifndef TNI_TESTS_MODEL_H
#define TNI_TESTS_MODEL_H

#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

enum {
    MODEL_CELLS = 24,   /* elements of a tensor at most */
    MODEL_SEEDS = 24,   /* elements of all leaves */
    MODEL_TENSORS = 24, /* of a program, dead ones included */
    MODEL_DIMS = 3
};

typedef struct model_tensor {
    tn_tensor *t; /* NULL: freed */
    int values, duals;
    int ndim;
    int64_t size[MODEL_DIMS], stride[MODEL_DIMS], offset;
    int seed;  /* of a leaf: its first element's; -1: no leaf */
    bool held; /* out of its scope: freed by hand */
} model_tensor;

typedef struct model {
    uint64_t random;
    int ntensors, nvalues, nduals, nseeds;
    bool wrong;
    int asked; /* number of the tensor whose gradient is asked for */
    char log[4000]; /* the program, for a report */
    model_tensor tensor[MODEL_TENSORS];
    double value[MODEL_TENSORS][MODEL_CELLS];
    double dual[2 * MODEL_TENSORS][MODEL_CELLS][MODEL_SEEDS];
} model;

uint64_t model_draw(model *m); /* splitmix64 */
int model_below(model *m, int n);
void model_say(model *m, const char *format, ...);
int64_t model_numel(const model_tensor *a);
/* The cells of a's elements in row-major order; returns their number. */
int model_cells(const model_tensor *a, int *cell);
bool model_same_shape(const model_tensor *a, const model_tensor *b);
/* A tensor with new cells, row-major; t is what the library made. NULL when the program is full. */
model_tensor *model_new(model *m, tn_tensor *t, int ndim, const int64_t *size);
/* A tensor on a's cells; without history: under derivatives of its own. */
model_tensor *model_alias(model *m, const model_tensor *a, tn_tensor *t, bool history);
bool model_full(const model *m);

#endif
