/* random.h - kernel entries that turn random words into numbers: K(ret, name, params). */
#ifndef TNI_KERNELS_RANDOM_H
#define TNI_KERNELS_RANDOM_H

#include "../base/base.h"

#define TNI_KERNELS_RANDOM(K)                                                                    \
    /* In place: n words become floats (word & 0xffffff) * 2^-24, times to - from, plus from     \
     * (fused); what rounds to `to` becomes `from`. */                                           \
    K(void, uniform_f32, (void *x, int64_t n, float from, float to))                             \
    /* In place: 16 uniform floats become 16 normal ones, `blocks` times. */                     \
    K(void, normal_f32, (float *x, int64_t blocks, float mean, float std))                       \
    /* (a, b) become r cos t, r sin t with t = 2 pi b, r^2 = -2 log(1 - a); `swap`: with a and b \
     * exchanged, and by log1p(-b). */                                                           \
    K(void, normal_f64, (double *a, double *b, int64_t n, bool swap))                            \
    /* x = -log1p(-x) */                                                                         \
    K(void, exponential_f64, (double *x, int64_t n))                                             \
    /* x = median + sigma tan(pi (x - 1/2)) */                                                   \
    K(void, cauchy_f64, (double *x, int64_t n, double median, double sigma))                     \
    /* x = ceil(log(x) / log1p(-p)) */                                                           \
    K(void, geometric_f64, (double *x, int64_t n, double p))                                     \
    /* x = exp(mean + std x) */                                                                  \
    K(void, log_normal_f64, (double *x, int64_t n, double mean, double std))

#endif
