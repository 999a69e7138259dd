/* pool.h - kernel entries of pooling: K(ret, name, params). max_pool_pairs: windows of 2 x 2 that
 * do not overlap, for a pair of rows of float, n windows; index[i] is the place of the maximum in
 * its window, row by row, the first of equals, the last NaN if there is one (as torch); NULL: not
 * wanted. max_pool_row: any windows of a row, without places. All else is plain loops of
 * ops/layers/max_pool.c. */
#ifndef TNI_KERNELS_POOL_H
#define TNI_KERNELS_POOL_H

#include "../base/base.h"

/* A row of n windows, of each so many taps in a line: to[i] is the last NaN among from[i step +
 * c apart], or the first of the largest; without fresh, to[i] before also takes part. */
typedef struct tni_pool_row {
    int64_t n, step, taps, apart;
    bool fresh;
} tni_pool_row;
enum { TNI_POOL_BLOCK = 256 };

#define TNI_KERNELS_POOL(K)                                                           \
    K(void, max_pool_row_f32, (void *to, const void *from, const tni_pool_row *r))    \
    K(void, max_pool_row_f64, (void *to, const void *from, const tni_pool_row *r))    \
    K(void, max_pool_pairs,                                                           \
      (const float *upper, const float *lower, int64_t n, float *to, uint8_t *index)) \
    /* The gradient of every element of both rows: grad[i] at index[i], else 0. */    \
    K(void, max_pool_pairs_grad,                                                      \
      (const float *grad, const uint8_t *index, int64_t n, float *upper, float *lower))

#endif
