/* factors.cuh - matrices of batches as factorizations see them, numbers and columns in the CPU's
 * order (cpu/matrix.h), and blocks of them (blocks.cu). */
#ifndef TNC_CUDA_FACTORS_CUH
#define TNC_CUDA_FACTORS_CUH

#include "elements.cuh"

/* Matrices of a batch by their steps in real numbers; batches are counted by the result's. */
struct tnc_factor_side {
    char *at;
    int64_t row, col, batch[TN_MAX_DIMS];
};
struct tnc_factors {
    int64_t m, n, k, batches;
    int64_t size[TN_MAX_DIMS];
    int32_t nbatch;
    bool turned, conjugated, upper, unit; /* how matrices are read, and the triangle */
    tnc_factor_side a, b, c;              /* the input, and what is written */
    char *scratch;
    int32_t *info;
};
struct tnc_pair_of { /* a number; im is 0 where the matrix is real */
    double re, im;
};
/* One matrix of T or of pairs of T. */
template <class T, int parts>
struct tnc_matrix {
    T *at;
    int64_t row, col;
    __device__ __forceinline__ T *to(int64_t i, int64_t j) const { return at + i * row + j * col; }
    __device__ __forceinline__ tnc_pair_of get(int64_t i, int64_t j) const {
        const T *v = to(i, j);
        return tnc_pair_of{(double)v[0], parts > 1 ? (double)v[parts - 1] : 0};
    }
    __device__ __forceinline__ void set(int64_t i, int64_t j, tnc_pair_of v) const {
        T *p = to(i, j);
        p[0] = (T)v.re;
        if (parts > 1) p[parts - 1] = (T)v.im;
    }
};
template <class T, int parts>
TNC_FN tnc_matrix<T, parts> tnc_matrix_of(const tnc_factors &f, const tnc_factor_side &s,
                                          int64_t batch) {
    int64_t at = 0;
    for (int d = f.nbatch - 1; d >= 0; d--) {
        at += batch % f.size[d] * s.batch[d];
        batch /= f.size[d];
    }
    return tnc_matrix<T, parts>{(T *)s.at + at, s.row, s.col};
}

/* y += a x, part by part in the CPU's order. */
template <class T, int parts>
TNC_FN void tnc_factor_add(T *y, const T *x, tnc_pair_of a) {
    T re = tnc_fused((T)a.re, x[0], y[0]);
    if (parts > 1) {
        const T im = tnc_fused((T)a.re, x[parts - 1], y[parts - 1]);
        re = tnc_fused((T)-a.im, x[parts - 1], re);
        y[parts - 1] = tnc_fused((T)a.im, x[0], im);
    }
    y[0] = re;
}
TNC_FN tnc_pair_of tnc_factor_mul(tnc_pair_of a, tnc_pair_of b) {
    return tnc_pair_of{fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
TNC_FN tnc_pair_of tnc_factor_div(tnc_pair_of a, tnc_pair_of b) {
    if (b.im == 0) return tnc_pair_of{a.re / b.re, a.im / b.re};
    if (fabs(b.re) >= fabs(b.im)) {
        const double ratio = b.im / b.re, under = fma(b.im, ratio, b.re);
        return tnc_pair_of{fma(a.im, ratio, a.re) / under, fma(-a.re, ratio, a.im) / under};
    }
    const double ratio = b.re / b.im, under = fma(b.re, ratio, b.im);
    return tnc_pair_of{fma(a.re, ratio, a.im) / under, fma(a.im, ratio, -a.re) / under};
}
template <class T>
TNC_FN tnc_pair_of tnc_factor_rounded(tnc_pair_of v) {
    return tnc_pair_of{(double)(T)v.re, (double)(T)v.im};
}
/* Column c of x, of n rows, becomes that of t^-1 x, by the lanes of a warp: what is known of it
 * goes from the rest. t is triangular; `unit`: its diagonal counts as ones. */
template <class T, int parts>
TNC_FN void tnc_triangular_column(const tnc_matrix<T, parts> &t, const tnc_matrix<T, parts> &x,
                                  int64_t c, int64_t n, bool upper, bool unit, int lane) {
    for (int64_t step = 0; step < n; step++) {
        const int64_t j = upper ? n - 1 - step : step, first = upper ? 0 : j + 1,
                      end = upper ? j : n;
        tnc_pair_of v = x.get(j, c);
        if (!unit) v = tnc_factor_rounded<T>(tnc_factor_div(v, t.get(j, j)));
        __syncwarp();
        if (lane == 0) x.set(j, c, v);
        for (int64_t i = first + lane; i < end; i += 32)
            tnc_factor_add<T, parts>(x.to(i, c), t.to(i, j), tnc_pair_of{-v.re, -v.im});
        __syncwarp();
    }
}

/* --- host ------------------------------------------------------------------------------------- */

enum { TNC_FACTOR_THREADS = 128, TNC_FACTOR_WARPS = TNC_FACTOR_THREADS / 32 };

static inline int64_t factor_parts(const tn_operand &t) {
    return t.dtype == TN_C64 || t.dtype == TN_C128 ? 2 : 1;
}
/* t as the matrices of like's batches, to which its own are broadcast; turned: transposed. */
static inline void factor_side(tnc_factor_side *s, const tn_operand &t, const tn_operand &like,
                               bool turned) {
    const int64_t parts = factor_parts(t);
    memset(s, 0, sizeof *s);
    s->at = t.at;
    s->row = t.stride[t.ndim - (turned ? 1 : 2)] * parts;
    s->col = t.stride[t.ndim - (turned ? 2 : 1)] * parts;
    for (int d = 0; d < like.ndim - 2; d++) {
        const int own = d - (like.ndim - t.ndim);
        if (own >= 0 && t.size[own] != 1) s->batch[d] = t.stride[own] * parts;
    }
}
/* How many matrices t has. */
static inline int64_t factor_count(const tn_operand &t) {
    int64_t n = 1;
    for (int d = 0; d < t.ndim - 2; d++) n *= t.size[d];
    return n;
}
static inline void factor_batches(tnc_factors *f, const tn_operand &like) {
    f->batches = 1;
    f->nbatch = like.ndim - 2;
    for (int d = 0; d < f->nbatch; d++) {
        f->size[d] = like.size[d];
        f->batches *= like.size[d];
    }
}
/* kernel<T, parts>(..) for the dtype. */
#define TNC_FACTOR_LAUNCH(kernel, dtype, jobs, ...)                                           \
    do {                                                                                      \
        const unsigned blocks = tnc_blocks(jobs, 1);                                          \
        switch (dtype) {                                                                      \
        case TN_F32: TNC_LAUNCH((kernel<float, 1>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__); \
            break;                                                                            \
        case TN_F64:                                                                          \
            TNC_LAUNCH((kernel<double, 1>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__);         \
            break;                                                                            \
        case TN_C64: TNC_LAUNCH((kernel<float, 2>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__); \
            break;                                                                            \
        default: TNC_LAUNCH((kernel<double, 2>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__);    \
        }                                                                                     \
    } while (0)

#endif
