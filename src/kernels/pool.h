/* pool.h - kernel entries of pooling: K(ret, name, params). All else is plain loops of
 * ops/layers/max_pool.c. */
#ifndef TNI_KERNELS_POOL_H
#define TNI_KERNELS_POOL_H

#include "../base/base.h"

/* A row of n windows: to[i] is the last NaN among from[i step + y down + x apart], y < rows, x <
 * taps, or the first of the largest, -inf without elements. Unless index is NULL, index[i] (uint8_t
 * if `bytes`, else int32_t) becomes its place first + y width + x; `first` without elements. */
typedef struct tni_pool_row {
    int64_t n, step, taps, apart, rows, down, first, width;
    bool bytes;
} tni_pool_row;

/* pool_mean: to[0] becomes the mean of n elements, summed in f64: element i in chain i mod
 * TNI_POOL_CHAINS, then folded by halves. */
enum { TNI_POOL_CHAINS = 16 };

/* resample_pixel: n channels, a vector or more, of a pixel: the sum of ny nx pixels that begin at
 * `offset` (tap of x, then of y), over y times wy, then over x times wx; nothing is fused. */
typedef struct tni_pool_pixel {
    const int64_t *offset;
    const void *wy, *wx;
    int ny, nx;
    int64_t n;
} tni_pool_pixel;

#define TNI_KERNELS_POOL(K)                                                                     \
    K(void, pool_mean_f32, (void *to, const void *from, int64_t n))                             \
    K(void, pool_mean_f64, (void *to, const void *from, int64_t n))                             \
    K(void, resample_pixel_f32, (void *to, const void *from, const tni_pool_pixel *p))          \
    K(void, resample_pixel_f64, (void *to, const void *from, const tni_pool_pixel *p))          \
    K(void, max_pool_row_f32, (void *to, void *index, const void *from, const tni_pool_row *r)) \
    K(void, max_pool_row_f64, (void *to, void *index, const void *from, const tni_pool_row *r))

#endif
