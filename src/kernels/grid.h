/* grid.h - kernel entries of grid_sample: K(ret, name, params). */
#ifndef TNI_KERNELS_GRID_H
#define TNI_KERNELS_GRID_H

#include "../base/base.h"
#include "../simd/grid_plan.h"

/* Places of which a task takes the taps at once, and how many taps it has room for. */
enum { TNI_GRID_PLACES = 128, TNI_GRID_ROOM = 2048 };

/* The taps of some places: numbers of elements in a plane of fewer than 2^31, `none` -1 for those
 * outside, else 0, and weights, float or double. Rows of `every`, a multiple of 8, one a tap. */
typedef struct tni_grid_taps {
    int64_t every;
    uint32_t index[TNI_GRID_ROOM];
    int32_t none[TNI_GRID_ROOM];
    double weight[TNI_GRID_ROOM];
} tni_grid_taps;

/* grid_taps: of `count` places; writes their number rounded up to 8 in each row.
 * grid_sums: y[i] becomes the sum over taps of weight x[index]. */
#define TNI_KERNELS_GRID(K)                                                          \
    K(void, grid_taps_f32,                                                           \
      (const tni_grid_plan *p, const void *places, int64_t count, tni_grid_taps *g)) \
    K(void, grid_taps_f64,                                                           \
      (const tni_grid_plan *p, const void *places, int64_t count, tni_grid_taps *g)) \
    K(void, grid_sums_f32,                                                           \
      (void *y, const void *x, int64_t count, int64_t taps, const tni_grid_taps *g)) \
    K(void, grid_sums_f64,                                                           \
      (void *y, const void *x, int64_t count, int64_t taps, const tni_grid_taps *g))

#endif
