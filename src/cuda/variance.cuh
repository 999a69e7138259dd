/* variance.cuh - mean and sum of squared deviations of blocks, and how blocks join, by the formulas
 * of the CPU (ops/reduction/statistics.c). */
#ifndef TNC_CUDA_VARIANCE_CUH
#define TNC_CUDA_VARIANCE_CUH

#include "cuda.cuh"

struct tnc_moments {
    double mean, m2;
};
/* What the deviations from a rounded mean say: one = sum d, two = sum d^2 over n. */
TNC_FN tnc_moments tnc_moments_of(double mean, double one, double two, double n) {
    tnc_moments p;
    p.mean = mean + one / n;
    p.m2 = fma(-one, one / n, two);
    if (p.m2 < 0) p.m2 = 0;
    return p;
}
/* Chan et al.: those of na elements with those of nb more, of which there are some. */
TNC_FN tnc_moments tnc_moments_join(tnc_moments a, double na, tnc_moments b, double nb) {
    const double d = b.mean - a.mean, n = na + nb;
    a.m2 = fma(d * d, na * (nb / n), a.m2 + b.m2);
    a.mean = fma(d, nb / n, a.mean);
    return a;
}

/* The moments of all results of l, a plan of a floating dtype, row-major to l.out[0]; l.parts has
 * room for those of blocks (tnc_lanes_bytes). */
struct tnc_lanes;
TNC_PRIV void tnc_variance_parts(cudaStream_t s, const tnc_lanes &l);

#endif
