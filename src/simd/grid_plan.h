/* grid_plan.h - a call of grid_sample, as its kernels take it. */
#ifndef TNI_SIMD_GRID_PLAN_H
#define TNI_SIMD_GRID_PLAN_H

/* Dimension k is the k-th from the last, as the grid says x, y, z: n elements, `step` apart in the
 * plane. A place reads `taps` elements along each, 1 (the nearest), 2 (bilinear) or 4 (bicubic),
 * `count` in all. Beyond the ends are zeros unless positions are clamped; `mirrored` before. */
typedef struct tni_grid_plan {
    int64_t n[3], step[3];
    int32_t dims, taps, count;
    bool clamped, mirrored, align_corners;
} tni_grid_plan;

TNI_INLINE tni_grid_plan tni_grid_plan_of(int dims, const int64_t *size, int taps, bool clamped,
                                          bool mirrored, bool align_corners) {
    tni_grid_plan g = {{1, 1, 1}, {1, 1, 1}, dims, taps, 1, clamped, mirrored, align_corners};
    for (int k = 0; k < dims; k++) {
        g.n[k] = size[dims - 1 - k];
        if (k) g.step[k] = g.step[k - 1] * g.n[k - 1];
        g.count *= g.taps;
    }
    return g;
}

#endif
