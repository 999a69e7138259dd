/* scan.h - the plan of a scan: sequences along one dimension, in blocks of rows that lie in a
 * buffer (scan.c).
 *
 * A tensor is outer x n x inner about its dimension. Each of the outer x inner sequences is one
 * chain in the order of its elements; neighbours of a row are columns that go down side by side.
 * Where a row is narrow, several rows of outer lie beside each other in the buffer. So neither
 * threads nor the layout of the buffer change a bit. */
#ifndef TNI_OPS_REDUCTION_SCAN_H
#define TNI_OPS_REDUCTION_SCAN_H

#include "../../cpu/lanes.h"
#include "../../call/rowform.h"

enum { TNI_SCAN_COLUMNS = 64, TNI_SCAN_ROOM = 2048 };

/* A number of the buffer, F64 or I64. */
typedef union tni_scan_cell {
    double d;
    int64_t k;
} tni_scan_cell;

typedef struct tni_scan {
    tn_context *context;
    const char *x, *factor; /* dense; factor: of a recurrence */
    char *y;
    int64_t *index;                          /* or NULL: places of the elements that stay */
    int from, to, compute;                   /* dtypes, of the real parts; F64 or I64 */
    int64_t n, inner, outer, chunks, beside; /* beside: rows of outer that one task takes */
    bool pairs, reverse, product, least;     /* pairs: complex numbers; reverse: from the last on */
} tni_scan;

/* What task i takes: `beside` sequences of `width` columns, m in all; the first element is `at`;
 * `rows` of them fit into the buffer. */
typedef struct tni_scan_part {
    int64_t at, beside, width, m, rows;
} tni_scan_part;

/* The plan of x along dim with factor (or NULL) beside it, and its tasks: run calls task for each.
 * Scratch is that of tni_dense_scratch for x and factor. wide: the least columns that a task takes,
 * where there are so many. */
TN_PRIV void tni_scan_plan(tn_frame *f, tni_scan *s, const tn_tensor *x, const tn_tensor *factor,
                           int64_t dim, int64_t wide);
TN_PRIV void tni_scan_run(tni_scan *s, void (*task)(void *, int64_t));
TN_PRIV tni_scan_part tni_scan_part_of(const tni_scan *s, int64_t i);
/* Rows `first` to first + rows of a part, from x to the buffer and from the buffer to y. */
TN_PRIV void tni_scan_load(const tni_scan *s, const tni_scan_part *p, const char *x, int64_t first,
                           int64_t rows, tni_scan_cell *to);
TN_PRIV void tni_scan_save(const tni_scan *s, const tni_scan_part *p, int64_t first, int64_t rows,
                           const tni_scan_cell *from);
/* The same of places, to s->index. */
TN_PRIV void tni_scan_save_index(const tni_scan *s, const tni_scan_part *p, int64_t first,
                                 int64_t rows, const tni_scan_cell *from);

#endif
