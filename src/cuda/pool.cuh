/* pool.cuh - windows along one dimension, as the CPU's (ops/layers/pool.h, avg_pool.c). */
#ifndef TNC_CUDA_POOL_CUH
#define TNC_CUDA_POOL_CUH

#include "elements.cuh"

/* A pooled dimension: n elements, `out` windows of k places; k 0: adaptive ones. */
struct tnc_pool_axis {
    int64_t n, out, k, stride, pad, dilation;
};
/* Numbers [begin, end). */
struct tnc_pool_range {
    int64_t begin, end;
};
/* Windows [begin, end) with a place that may be element i. */
TNC_FN tnc_pool_range tnc_pool_covering(const tnc_pool_axis &a, int64_t i) {
    const int64_t last = i + a.pad, first = last - (a.k - 1) * a.dilation;
    tnc_pool_range r;
    r.begin = first > 0 ? (first + a.stride - 1) / a.stride : 0;
    r.end = last / a.stride + 1;
    if (r.end > a.out) r.end = a.out;
    return r;
}

/* Window p: its elements, and what it counts where padding counts as well. */
struct tnc_pool_window {
    int64_t begin, end, count;
};
TNC_FN tnc_pool_window tnc_pool_window_of(const tnc_pool_axis &a, int64_t p) {
    tnc_pool_window w;
    if (!a.k) { /* p n / out without a product that is too large */
        const int64_t q = a.n / a.out, r = a.n % a.out;
        w.begin = p * q + p * r / a.out;
        w.end = (p + 1) * q + ((p + 1) * r + a.out - 1) / a.out;
        w.count = w.end - w.begin;
        return w;
    }
    w.begin = p * a.stride - a.pad;
    w.end = w.begin + a.k;
    if (w.end > a.n + a.pad) w.end = a.n + a.pad;
    w.count = w.end - w.begin;
    if (w.begin < 0) w.begin = 0;
    if (w.end > a.n) w.end = a.n;
    return w;
}
/* Windows [begin, end) that cover element i: of adaptive ones a guess is moved. */
TNC_FN tnc_pool_range tnc_pool_averaging(const tnc_pool_axis &a, int64_t i) {
    tnc_pool_range r;
    if (a.k) return tnc_pool_covering(a, i);
    r.begin = (int64_t)((double)i * (double)a.out / (double)a.n);
    if (r.begin >= a.out) r.begin = a.out - 1;
    while (r.begin > 0 && tnc_pool_window_of(a, r.begin - 1).end > i) r.begin--;
    while (r.begin < a.out && tnc_pool_window_of(a, r.begin).end <= i) r.begin++;
    r.end = r.begin;
    while (r.end < a.out && tnc_pool_window_of(a, r.end).begin <= i) r.end++;
    return r;
}

/* The maximum of a window without elements: the least number of the dtype. */
TNC_FN float tnc_pool_least(int, float) { return -INFINITY; }
TNC_FN double tnc_pool_least(int, double) { return -INFINITY; }
TNC_FN int64_t tnc_pool_least(int dtype, int64_t) {
    return dtype == TN_I64   ? INT64_MIN
           : dtype == TN_I32 ? INT32_MIN
           : dtype == TN_I16 ? INT16_MIN
           : dtype == TN_I8  ? INT8_MIN
                             : 0;
}

/* Integers wrap, and their quotient is cut off. */
TNC_FN int64_t tnc_pool_quotient(uint64_t sum, double d) {
    const int64_t by = d >= 9223372036854775808.0   ? INT64_MAX
                       : d < -9223372036854775808.0 ? INT64_MIN
                                                    : (int64_t)d;
    return by == -1 ? (int64_t)(0 - sum) : (int64_t)sum / by;
}
TNC_FN double tnc_pool_quotient(double sum, double d) { return sum / d; }

static inline void pool_axis(tnc_pool_axis *a, int k, tn_ints kernel, tn_ints stride,
                             tn_ints padding, tn_ints dilation) {
    a->k = tnc_option(kernel, k, 1);
    a->stride = tnc_option(stride, k, a->k);
    a->pad = tnc_option(padding, k, 0);
    a->dilation = tnc_option(dilation, k, 1);
}

#endif
