/* null.h - devices for tests, in memory of the host: "null:0" and "null:1", whose kernels are the
 * CPU's for every row, and "bare:0", which has kernels for expressions alone.
 *
 * The null devices have 7 streams each beside their own (order.h).
 *
 * Their memory has addresses of its own, which nothing may read or write while none of their
 * functions runs; it is NaN when it is new and when it is freed. Not for several threads that call
 * the library. */
#ifndef TESTS_DEVICE_NULL_H
#define TESTS_DEVICE_NULL_H

#include "../../src/api/device.h"

const tn_backend *tn_null_backend(void); /* NULL: no memory */
const tn_backend *tn_bare_backend(void);

extern int64_t null_blocks;     /* allocations that were not freed */
extern int64_t null_fail_alloc; /* so many more allocations succeed; negative: all */
extern int64_t null_fail_copy;  /* so many more copies succeed; negative: all */
extern int64_t null_allocs, null_copies, null_kernels; /* made so far */
extern int64_t null_kept, null_trims; /* bytes that it keeps until a trim, and refuses memory */
extern int64_t null_pinned;           /* blocks of pinned memory that were not freed */
extern int64_t null_laters;           /* copies that may be done later */
extern int64_t null_across_copies;    /* from one of them to the other */
extern int64_t null_opened;           /* devices, by contexts that have not ended */
extern int64_t null_waits;            /* of the host, for a stream or an event */
extern int64_t null_events;           /* that were not freed */
extern int64_t null_graphs;           /* that were not freed */
extern int64_t null_launches;         /* of graphs */
extern int64_t null_refuse_graph;     /* 1: no capture begins, 2: none ends, 3: no launch */
extern int64_t null_foreign;          /* tensors of kernels that were not in the device's memory */
extern const char *null_broken;       /* why waits fail; NULL: they do not */
extern const char *null_lost;         /* why memory is refused; NULL: it is not, or none is left */

#endif
