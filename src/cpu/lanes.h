/* lanes.h - the plan of a reduction: which elements meet in which order, on which threads.
 *
 * A reduction over any set of dimensions takes one of two forms, chosen by the layout alone:
 *   rows     the elements of one result in logical order, blocks of TNI_BLOCK, each folded in fixed
 *            lanes;
 *   columns  results lie side by side in memory: TNI_BLOCK_ROWS rows at a time, a chain a column.
 * Blocks are combined in a binary tree of neighbours, level by level; a task takes TNI_SUBTREE
 * blocks, a whole subtree, so results have the same bits for any number of threads. */
#ifndef TNI_CPU_LANES_H
#define TNI_CPU_LANES_H

#include "../call/call.h"
#include "../kernels/kernels.h"
#include "walk.h"

enum {
    TNI_LANE_DIMS = TN_MAX_DIMS + 1
}; /* a complex tensor is one of reals with a dimension of 2 more */

/* Lanes of any type: parameters and accumulators of a block. */
typedef union tni_room {
    float f[TNI_LANE_BYTES / 4];
    double d[TNI_LANE_BYTES / 8];
    int64_t k[TNI_LANE_BYTES / 8];
} tni_room;

typedef struct tni_lanes {
    const char *x;
    int dtype, compute;  /* of the elements in memory; F32, F64 or I64 for the arithmetic */
    int64_t bytes, size; /* of an element in memory, and of one computed with */
    int64_t lanes;       /* TNI_LANE_BYTES / size */
    int nred, nkeep;
    int64_t n, outer, width; /* elements a result; results are outer x width */
    int64_t width_out;       /* step of results along the width, in elements */
    bool columns;
    int how; /* elements are read as x != 0, or complex ones as |x|: TNI_LANES_... */
    /* what becomes of elements as they are read, or NULL; p is the order of norms */
    void (*map)(const tni_kernels *k, const struct tni_lanes *l, void *to, const void *x,
                int64_t n);
    double p;
    /* filled by tni_lanes_run */
    int64_t blocks, subtrees, chunk, chunks, part;
    /* the first nred and nkeep of these: innermost last, steps in bytes, out in elements */
    int64_t red[TNI_LANE_DIMS], red_step[TNI_LANE_DIMS];
    int64_t keep[TNI_LANE_DIMS], keep_step[TNI_LANE_DIMS], keep_out[TNI_LANE_DIMS];
} tni_lanes;

/* A plain reduction: to[i] = to[i] op x[r][i], in the order of rows; many: to[r] = all n elements
 * of row r, at most a block, lane by lane, lanes folded by halves. A NaN wins max and min. They
 * are tables so that a program holds the loops of those alone that it names. */
typedef struct tni_reduction {
    double identity; /* times infinity, if `infinite`: tcc takes no -infinity in a constant */
    bool infinite;
    void (*rows)(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                 int64_t n, void *to);
    void (*many)(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                 int64_t n, void *to);
} tni_reduction;
TNI_INLINE double tni_identity(const tni_reduction *op) {
    return op->infinite ? op->identity * HUGE_VAL : op->identity;
}
TN_PRIV_DECLARE(tni_reduction, tni_sum);
TN_PRIV_DECLARE(tni_reduction, tni_prod);
TN_PRIV_DECLARE(tni_reduction, tni_max);
TN_PRIV_DECLARE(tni_reduction, tni_min);
TN_PRIV_DECLARE(tni_reduction, tni_any); /* max and min of I64 alone */
TN_PRIV_DECLARE(tni_reduction, tni_all);

/* What is done with blocks. `part` bytes hold what is known of one result so far. `first` is the
 * number of the first element in its lane, merge joins b after a: na and nb elements. block takes
 * `many` rows, `step` bytes apart, of n elements side by side: a block and a part each. */
typedef struct tni_reducer {
    int64_t part;
    void (*block)(const struct tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                  int64_t many, int64_t n, int64_t first, void *to);
    void (*rows)(const struct tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                 int64_t rows, int64_t n, int64_t first, void *to);
    void (*merge)(const struct tni_reducer *r, const tni_lanes *l, void *a, const void *b,
                  int64_t n, int64_t na, int64_t nb);
    /* results at, at + width_out, ... (in elements) become n parts */
    void (*store)(const struct tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                  int64_t at);
    const tni_kernels *kernels;
    const tni_reduction *op;
    void *out[2];
    int out_dtype;
    double scale, p; /* store: divisor; root */
    int finish;      /* of reducers that know more than one end */
} tni_reducer;

/* The plan for x over the dimensions with gone[d]. Results are numbered row-major over the
 * dimensions that stay (and the two reals of a complex number, except NONZERO and MAGNITUDE). */
enum {
    TNI_LANES_ORDERED =
        1, /* elements in the order of the dimensions, for their numbers count; else of memory */
    TNI_LANES_NONZERO = 2,  /* elements are read as x != 0, into I64 */
    TNI_LANES_MAGNITUDE = 4 /* complex elements are read as |x|, one number each */
};
TN_PRIV void tni_lanes_init(tni_lanes *l, const tn_tensor *x, const bool *gone, int compute,
                            int how);
/* Asks for the scratch memory of the reduction; in check. */
TN_PRIV bool tni_lanes_scratch(tn_frame *f, tni_lanes *l, int64_t part);
TN_PRIV void tni_lanes_run(tn_context *c, tni_lanes *l, const tni_reducer *r, void *scratch);

/* The type that sums of this dtype are computed in. */
TN_PRIV int tni_lanes_compute(int dtype);
/* n elements, `step` bytes apart, to the compute type, and back, `step` bytes apart. */
TN_PRIV void tni_lanes_load(void *to, int compute, const void *from, int64_t step, int dtype,
                            int64_t n);
TN_PRIV void tni_lanes_save(void *to, int64_t step, int dtype, const void *from, int compute,
                            int64_t n);
/* The same with vectors where the elements are contiguous. */
TN_PRIV void tni_lanes_read(const tni_kernels *k, void *to, int compute, const void *from,
                            int64_t step, int dtype, int64_t n);
TN_PRIV void tni_lanes_write(const tni_kernels *k, void *to, int64_t step, int dtype,
                             const void *from, int compute, int64_t n);
TNI_INLINE void tni_reduce_rows(const tni_kernels *k, const tni_reduction *op, int compute,
                                const void *x, int64_t step, int64_t rows, int64_t n, void *to) {
    op->rows(k, compute, x, step, rows, n, to);
}
/* A contiguous block of at most TNI_BLOCK elements to one. */
TNI_INLINE void tni_reduce_block(const tni_kernels *k, const tni_reduction *op, int compute,
                                 const void *x, int64_t n, void *to) {
    op->many(k, compute, x, 0, 1, n, to);
}
/* n lanes, a power of two, to the first. */
TNI_INLINE void tni_reduce_fold(const tni_kernels *k, const tni_reduction *op, int compute,
                                void *lanes, int64_t n) {
    op->many(k, compute, lanes, 0, 1, n, lanes);
}
/* a *= b for complex numbers of two doubles. */
TNI_INLINE void tni_complex_times(double *a, const double *b) {
    const double re = a[0], im = a[1];
    a[0] = fma(re, b[0], -(im * b[1]));
    a[1] = fma(re, b[1], im * b[0]);
}
/* t's elements row-major: in place, or copied to `room`, for which dense_scratch asks (in the order
 * of the runs). */
TN_PRIV bool tni_dense_scratch(tn_frame *f, const tn_tensor *t);
TN_PRIV const char *tni_dense(tn_frame *f, const tn_tensor *t, char **room);
/* Sums of blocks in the tree of neighbours, for n columns of F32 or F64: push each block's sums,
 * take the whole. */
typedef struct tni_tree {
    const tni_kernels *kernels;
    int compute, depth;
    int64_t n, count;
    tni_room part[44];
} tni_tree;
TN_PRIV void tni_tree_begin(tni_tree *t, const tni_kernels *k, int compute, int64_t n);
TN_PRIV void *tni_tree_next(tni_tree *t); /* zeroed accumulators of the next block */
TN_PRIV void tni_tree_push(tni_tree *t);
TN_PRIV void *tni_tree_end(tni_tree *t);
/* n elements of `value`, the infinities being the ends of I64. */
TN_PRIV void tni_fill_lanes(void *to, int compute, double value, int64_t n);
/* Runs task(arg, i) for i < count, on threads where `elements` of work in all are worth it. */
TN_PRIV void tni_lanes_spread(tn_context *c, int64_t count, int64_t elements,
                              void (*task)(void *, int64_t), void *arg);

#endif
