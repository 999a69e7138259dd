/* factors.cu - factorizations and triangular systems in the order of the CPU (ops/linalg,
 * cpu/matrix.h): numbers are rounded to their dtype where the CPU stores them, columns are added by
 * one fma a real product, dot products have 16 chains.
 *
 * A block has a matrix of Cholesky or QR: its threads share the rows of a column, or its warps the
 * columns of a reflection, and meet once a column. A triangular system has a warp a column of X,
 * so many columns run side by side. */
#include "families.cuh"
#include "elements.cuh"

/* --- matrices --------------------------------------------------------------------------------- */

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

TNC_FN float tnc_factor_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_factor_fma(double a, double b, double c) { return fma(a, b, c); }
/* y += a x, part by part in the CPU's order. */
template <class T, int parts>
TNC_FN void tnc_factor_add(T *y, const T *x, tnc_pair_of a) {
    T re = tnc_factor_fma((T)a.re, x[0], y[0]);
    if (parts > 1) {
        const T im = tnc_factor_fma((T)a.re, x[parts - 1], y[parts - 1]);
        re = tnc_factor_fma((T)-a.im, x[parts - 1], re);
        y[parts - 1] = tnc_factor_fma((T)a.im, x[0], im);
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

/* --- Cholesky --------------------------------------------------------------------------------- */

enum { TNC_FACTOR_THREADS = 128, TNC_FACTOR_WARPS = TNC_FACTOR_THREADS / 32 };

/* The lower triangle of l, in place, column after column. Thread by thread the rows of a column;
 * 0, or the order of the minor that is not positive. */
template <class T, int parts>
TNC_FN int32_t tnc_cholesky_factor(const tnc_matrix<T, parts> &l, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; i < n; i += TNC_FACTOR_THREADS)
            for (int64_t k = 0; k < j; k++) {
                const tnc_pair_of v = l.get(j, k);
                tnc_factor_add<T, parts>(l.to(i, j), l.to(i, k), tnc_pair_of{-v.re, v.im});
            }
        for (int64_t k = 0; k < j && threadIdx.x == 0; k++) {
            const tnc_pair_of v = l.get(j, k);
            tnc_factor_add<T, parts>(l.to(j, j), l.to(j, k), tnc_pair_of{-v.re, v.im});
        }
        __syncthreads();
        tnc_pair_of head = l.get(j, j);
        if (!(head.re > 0)) return (int32_t)(j + 1);
        head = tnc_pair_of{(double)(T)sqrt(head.re), 0}; /* as rounded */
        __syncthreads();
        if (threadIdx.x == 0) l.set(j, j, head);
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; i < n; i += TNC_FACTOR_THREADS)
            l.set(i, j, tnc_factor_div(l.get(i, j), head));
        __syncthreads();
    }
    return 0;
}
/* l is made where the result lies, transposed if the upper triangle is asked for. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_cholesky(tnc_factors f) {
    const int64_t all = f.n * f.n;
    for (int64_t batch = blockIdx.x; batch < f.batches; batch += gridDim.x) {
        const auto a = tnc_matrix_of<T, parts>(f, f.a, batch),
                   l = tnc_matrix_of<T, parts>(f, f.c, batch);
        for (int64_t i = threadIdx.x; i < all; i += TNC_FACTOR_THREADS) {
            tnc_pair_of v = a.get(i % f.n, i / f.n);
            if (f.conjugated) v.im = -v.im;
            l.set(i % f.n, i / f.n, v);
        }
        __syncthreads();
        const int32_t minor = tnc_cholesky_factor<T, parts>(l, f.n);
        __syncthreads();
        if (threadIdx.x == 0) f.info[batch] = minor;
        for (int64_t i = threadIdx.x; i < all; i += TNC_FACTOR_THREADS) {
            tnc_pair_of v = l.get(i % f.n, i / f.n);
            if (i % f.n < i / f.n) v = tnc_pair_of{0, 0};
            if (f.conjugated) v.im = -v.im;
            l.set(i % f.n, i / f.n, v);
        }
    }
}

/* --- triangular systems ----------------------------------------------------------------------- */

/* A warp has a column of x, which lies where the result does. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_triangular(tnc_factors f) {
    const int lane = (int)(threadIdx.x % 32);
    const int64_t warps = (int64_t)gridDim.x * TNC_FACTOR_WARPS;
    for (int64_t job = (int64_t)blockIdx.x * TNC_FACTOR_WARPS + threadIdx.x / 32;
         job < f.batches * f.k; job += warps) {
        const auto t = tnc_matrix_of<T, parts>(f, f.a, job / f.k),
                   b = tnc_matrix_of<T, parts>(f, f.b, job / f.k),
                   x = tnc_matrix_of<T, parts>(f, f.c, job / f.k);
        const int64_t c = job % f.k;
        for (int64_t i = lane; i < f.n; i += 32) x.set(i, c, b.get(i, c));
        __syncwarp();
        for (int64_t step = 0; step < f.n; step++) {
            const int64_t j = f.upper ? f.n - 1 - step : step, first = f.upper ? 0 : j + 1,
                          end = f.upper ? j : f.n;
            tnc_pair_of v = x.get(j, c);
            if (!f.unit) v = tnc_factor_div(v, t.get(j, j));
            v = tnc_pair_of{(double)(T)v.re, (double)(T)v.im}; /* as rounded */
            __syncwarp();
            if (lane == 0) x.set(j, c, v);
            for (int64_t i = first + lane; i < end; i += 32)
                tnc_factor_add<T, parts>(x.to(i, c), t.to(i, j), tnc_pair_of{-v.re, -v.im});
            __syncwarp();
        }
    }
}

/* --- QR --------------------------------------------------------------------------------------- */

/* The norm of a[i..m, j], scaled by a power of two; one chain, so one thread. */
template <class T, int parts>
TNC_FN double tnc_qr_norm(const tnc_matrix<T, parts> &a, int64_t m, int64_t i, int64_t j) {
    double most = 0, sum = 0;
    int power;
    for (int64_t r = i; r < m; r++) {
        const tnc_pair_of v = a.get(r, j);
        if (v.re != v.re || v.im != v.im) return v.re + v.im;
        most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
    }
    if (most == 0 || most - most != 0) return most;
    frexp(most, &power);
    for (int64_t r = i; r < m; r++) {
        const tnc_pair_of v = a.get(r, j);
        const double re = ldexp(v.re, -power), im = ldexp(v.im, -power);
        sum = fma(re, re, fma(im, im, sum));
    }
    return ldexp(sqrt(sum), power);
}
/* A reflection of a column: its factor, what the column is divided by, and the new head; `there` is
 * false if the column stays as it is. */
struct tnc_qr_head {
    tnc_pair_of tau, under, beta;
    bool there;
};
template <class T, int parts>
TNC_FN tnc_qr_head tnc_qr_reflection(const tnc_matrix<T, parts> &a, int64_t m, int64_t j) {
    const tnc_pair_of head = a.get(j, j);
    const double rest = tnc_qr_norm<T, parts>(a, m, j + 1, j);
    tnc_qr_head h = {{0, 0}, {0, 0}, {0, 0}, false};
    if (rest == 0 && head.im == 0) return h;
    h.there = true;
    h.beta.re = -copysign(tnc_qr_norm<T, parts>(a, m, j, j), head.re);
    h.tau = tnc_pair_of{(double)(T)((h.beta.re - head.re) / h.beta.re),
                        (double)(T)(-head.im / h.beta.re)}; /* as rounded */
    h.under = tnc_pair_of{head.re - h.beta.re, head.im};
    return h;
}
/* The sum of conj(x[i..m, jx]) y[i..m, jy], in every lane: chain c is lane c's, and the same again
 * lane c + 16's. */
template <class T, int parts>
TNC_FN tnc_pair_of tnc_factor_dot(const tnc_matrix<T, parts> &x, int64_t jx,
                                  const tnc_matrix<T, parts> &y, int64_t jy, int64_t i, int64_t m) {
    T rr = 0, ii = 0, ri = 0, ir = 0;
    for (int64_t r = i + threadIdx.x % 16; r < m; r += 16) {
        const T *a = x.to(r, jx), *b = y.to(r, jy);
        rr = tnc_factor_fma(a[0], b[0], rr);
        if (parts == 1) continue;
        ii = tnc_factor_fma(a[parts - 1], b[parts - 1], ii);
        ri = tnc_factor_fma(a[0], b[parts - 1], ri);
        ir = tnc_factor_fma(a[parts - 1], b[0], ir);
    }
    for (int half = 8; half; half /= 2) {
        rr += __shfl_down_sync(0xffffffffu, rr, half, 16);
        ii += __shfl_down_sync(0xffffffffu, ii, half, 16);
        ri += __shfl_down_sync(0xffffffffu, ri, half, 16);
        ir += __shfl_down_sync(0xffffffffu, ir, half, 16);
    }
    rr = __shfl_sync(0xffffffffu, rr, 0, 16);
    if (parts == 1) return tnc_pair_of{(double)rr, 0};
    ii = __shfl_sync(0xffffffffu, ii, 0, 16);
    ri = __shfl_sync(0xffffffffu, ri, 0, 16);
    ir = __shfl_sync(0xffffffffu, ir, 0, 16);
    return tnc_pair_of{(double)rr + (double)ii, (double)ri - (double)ir};
}
/* x[j.., c] -= tau v (v^H x[j.., c]) by a warp, with v in column j of a. */
template <class T, int parts>
TNC_FN void tnc_qr_reflect(const tnc_matrix<T, parts> &a, int64_t m, int64_t j,
                           const tnc_matrix<T, parts> &x, int64_t c, tnc_pair_of tau) {
    const int lane = (int)(threadIdx.x % 32);
    tnc_pair_of head = x.get(j, c), w = tnc_factor_dot<T, parts>(a, j, x, c, j + 1, m);
    w.re += head.re;
    w.im += head.im;
    w = tnc_factor_mul(tau, w);
    __syncwarp();
    if (lane == 0) x.set(j, c, tnc_pair_of{head.re - w.re, head.im - w.im});
    for (int64_t i = j + 1 + lane; i < m; i += 32)
        tnc_factor_add<T, parts>(x.to(i, c), a.to(i, j), tnc_pair_of{-w.re, -w.im});
    __syncwarp();
}
/* a becomes R on and above its diagonal, the reflections below it. */
template <class T, int parts>
TNC_FN void tnc_qr_factor(const tnc_factors &f, const tnc_matrix<T, parts> &a,
                          const tnc_matrix<T, parts> &taus, tnc_qr_head *shared) {
    const int64_t least = f.m < f.n ? f.m : f.n;
    for (int64_t j = 0; j < least; j++) {
        if (threadIdx.x == 0) *shared = tnc_qr_reflection<T, parts>(a, f.m, j);
        __syncthreads();
        const tnc_qr_head h = *shared;
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; h.there && i < f.m; i += TNC_FACTOR_THREADS)
            a.set(i, j, tnc_factor_div(a.get(i, j), h.under));
        if (threadIdx.x == 0) {
            if (h.there) a.set(j, j, h.beta);
            taus.set(j, 0, h.tau);
        }
        __syncthreads();
        for (int64_t c = j + 1 + threadIdx.x / 32; c < f.n; c += TNC_FACTOR_WARPS)
            tnc_qr_reflect<T, parts>(a, f.m, j, a, c, tnc_pair_of{h.tau.re, -h.tau.im});
        __syncthreads();
    }
}
/* The first k columns of the product of the reflections. */
template <class T, int parts>
TNC_FN void tnc_qr_product(const tnc_factors &f, const tnc_matrix<T, parts> &a,
                           const tnc_matrix<T, parts> &taus, const tnc_matrix<T, parts> &q) {
    for (int64_t i = threadIdx.x; i < f.m * f.k; i += TNC_FACTOR_THREADS)
        q.set(i % f.m, i / f.m, tnc_pair_of{i % f.m == i / f.m ? 1.0 : 0.0, 0});
    __syncthreads();
    for (int64_t j = (f.m < f.n ? f.m : f.n) - 1; j >= 0; j--) {
        for (int64_t c = j + threadIdx.x / 32; c < f.k; c += TNC_FACTOR_WARPS)
            tnc_qr_reflect<T, parts>(a, f.m, j, q, c, taus.get(j, 0));
        __syncthreads();
    }
}
/* a: the input; b: Q, of k columns; c: R. Each matrix has an m x n one and its factors in
 * scratch. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_qr(tnc_factors f, int64_t rows) {
    TNC_SHARED(tnc_qr_head, head, 1);
    const int64_t least = f.m < f.n ? f.m : f.n, each = (f.m * f.n + least) * parts;
    for (int64_t batch = blockIdx.x; batch < f.batches; batch += gridDim.x) {
        const auto from = tnc_matrix_of<T, parts>(f, f.a, batch),
                   q = tnc_matrix_of<T, parts>(f, f.b, batch),
                   r = tnc_matrix_of<T, parts>(f, f.c, batch);
        const tnc_matrix<T, parts> a = {(T *)f.scratch + batch * each, parts, f.m * parts},
                                   taus = {a.at + f.m * f.n * parts, parts, parts};
        for (int64_t i = threadIdx.x; i < f.m * f.n; i += TNC_FACTOR_THREADS)
            a.set(i % f.m, i / f.m, from.get(i % f.m, i / f.m));
        __syncthreads();
        tnc_qr_factor<T, parts>(f, a, taus, head);
        if (f.k) tnc_qr_product<T, parts>(f, a, taus, q);
        for (int64_t i = threadIdx.x; i < rows * f.n; i += TNC_FACTOR_THREADS)
            r.set(i % rows, i / rows,
                  i % rows > i / rows ? tnc_pair_of{0, 0} : a.get(i % rows, i / rows));
        __syncthreads();
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static int64_t factor_parts(const tn_operand &t) {
    return t.dtype == TN_C64 || t.dtype == TN_C128 ? 2 : 1;
}
/* t as the matrices of like's batches, to which its own are broadcast; turned: transposed. */
static void factor_side(tnc_factor_side *s, const tn_operand &t, const tn_operand &like,
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
static void factor_batches(tnc_factors *f, const tn_operand &like) {
    f->batches = 1;
    f->nbatch = like.ndim - 2;
    for (int d = 0; d < f->nbatch; d++) {
        f->size[d] = like.size[d];
        f->batches *= like.size[d];
    }
}
/* kernel<T, parts>(..) for the dtype. */
#define FACTOR_LAUNCH(kernel, dtype, jobs, ...)                                               \
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

static void factor_cholesky_run(tn_frame *frame) {
    TN_ARGS(linalg_cholesky_ex, o, frame);
    const tn_operand a = tn_operand_of(frame->in[0]), l = tn_operand_of(frame->out[0]);
    tnc_factors f;
    memset(&f, 0, sizeof f);
    factor_batches(&f, a);
    factor_side(&f.a, a, a, o->upper);
    factor_side(&f.c, l, a, o->upper);
    f.n = a.size[a.ndim - 1];
    f.conjugated = o->upper;
    f.info = (int32_t *)(void *)tn_operand_of(frame->out[1]).at;
    if (f.batches) FACTOR_LAUNCH(tnc_cholesky, a.dtype, f.batches, tnc_stream(frame), f);
}

static void factor_triangular_run(tn_frame *frame) {
    TN_ARGS(linalg_solve_triangular, o, frame);
    const tn_operand a = tn_operand_of(frame->in[0]), b = tn_operand_of(frame->in[1]),
                     x = tn_operand_of(frame->out[0]);
    const bool turned = !o->left; /* x a = b is a^T x^T = b^T */
    tnc_factors f;
    memset(&f, 0, sizeof f);
    factor_batches(&f, x);
    factor_side(&f.a, a, x, turned);
    factor_side(&f.b, b, x, turned);
    factor_side(&f.c, x, x, turned);
    f.n = a.size[a.ndim - 1];
    f.k = b.size[b.ndim - (o->left ? 1 : 2)];
    f.upper = o->upper == o->left;
    f.unit = o->unitriangular;
    if (f.n && f.batches && f.k)
        FACTOR_LAUNCH(tnc_triangular, a.dtype,
                      (f.batches * f.k + TNC_FACTOR_WARPS - 1) / TNC_FACTOR_WARPS,
                      tnc_stream(frame), f);
}

/* Columns of Q, 0: it is not asked for; rows of R. */
static void factor_qr_sides(tnc_factors *f, const tn_frame *frame, int64_t *rows) {
    const tn_operand a = tn_operand_of(frame->in[0]), q = tn_operand_of(frame->out[0]),
                     r = tn_operand_of(frame->out[1]);
    memset(f, 0, sizeof *f);
    factor_batches(f, a);
    f->m = a.size[a.ndim - 2];
    f->n = a.size[a.ndim - 1];
    factor_side(&f->a, a, a, false);
    factor_side(&f->c, r, a, false);
    *rows = r.size[r.ndim - 2];
    if (q.ndim != a.ndim) return; /* mode r: one empty dimension */
    factor_side(&f->b, q, a, false);
    f->k = q.size[q.ndim - 1];
}
static bool factor_qr_prepare(tn_frame *frame) {
    tnc_factors f;
    int64_t rows, each, bytes;
    factor_qr_sides(&f, frame, &rows);
    each = f.m * f.n + (f.m < f.n ? f.m : f.n);
    if (__builtin_mul_overflow(each, f.batches * (int64_t)tn_operand_of(frame->in[0]).bytes,
                               &bytes))
        return tn_fail(frame, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(frame, bytes) != NULL;
}
static void factor_qr_run(tn_frame *frame) {
    tnc_factors f;
    int64_t rows;
    factor_qr_sides(&f, frame, &rows);
    f.scratch = (char *)frame->scratch;
    if (f.batches)
        FACTOR_LAUNCH(tnc_qr, tn_dtype_of(frame->in[0]), f.batches, tnc_stream(frame), f, rows);
}

static const tn_device_row factor_table[] = {
    {"linalg_cholesky_ex", false, NULL, NULL, factor_cholesky_run},
    {"linalg_solve_triangular", false, NULL, NULL, factor_triangular_run},
    {"linalg_qr", false, NULL, factor_qr_prepare, factor_qr_run}};
TNC_FAMILY(factors, factor_table)
#undef FACTOR_LAUNCH
