/* factors.cu - factorizations and triangular systems in the order of the CPU (ops/linalg,
 * cpu/matrix.h): numbers are rounded to their dtype where the CPU stores them, columns are added by
 * one fma a real product, dot products have 16 chains.
 *
 * A block has a matrix of Cholesky or QR: its threads share the rows of a column, or its warps the
 * columns of a reflection, and meet once a column. A triangular system has a warp a column of X,
 * so many columns run side by side. More than 48 columns go by blocks (blocks.cuh,
 * reflectors.cuh). */
#include "families.cuh"
#include "reflectors.cuh"

/* --- Cholesky --------------------------------------------------------------------------------- */

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
        tnc_triangular_column<T, parts>(t, x, c, f.n, f.upper, f.unit, lane);
    }
}

/* --- QR --------------------------------------------------------------------------------------- */

/* The norm of a[i..m, j], of numbers scaled by a power of two so that no square overflows. */
template <class T, int parts>
TNC_FN double tnc_qr_norm_scaled(const tnc_matrix<T, parts> &a, int64_t m, int64_t i, int64_t j) {
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
/* The same by sums of squares, in chains of every eighth one, where none overflows or vanishes. */
template <class T, int parts>
TNC_FN double tnc_qr_norm(const tnc_matrix<T, parts> &a, int64_t m, int64_t i, int64_t j) {
    double sum = 0;
    for (int part = 0; part < parts && i < m; part++) {
        double chain[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int64_t r = i; r < m; r++) {
            const double v = (double)a.to(r, j)[part];
            chain[(r - i) % 8] += v * v;
        }
        for (int half = 4; half > 0; half /= 2)
            for (int k = 0; k < half; k++) chain[k] += chain[k + half];
        sum += chain[0];
    }
    return sum > 1e-280 && sum < 1e290 ? sqrt(sum) : tnc_qr_norm_scaled<T, parts>(a, m, i, j);
}
/* The length of (a, b). */
TNC_FN double tnc_qr_length(double a, double b) {
    const double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b)),
                 ratio = most > 0 ? least / most : 0;
    return most * sqrt(1 + ratio * ratio);
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
    h.beta.re = tnc_qr_length(tnc_qr_length(head.re, head.im), rest);
    if (head.re == head.re) h.beta.re = copysign(h.beta.re, head.re);
    h.beta.re = -h.beta.re;
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
        rr = tnc_fused(a[0], b[0], rr);
        if (parts == 1) continue;
        ii = tnc_fused(a[parts - 1], b[parts - 1], ii);
        ri = tnc_fused(a[0], b[parts - 1], ri);
        ir = tnc_fused(a[parts - 1], b[0], ir);
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
TNC_FN void tnc_qr_factor(int64_t m, int64_t n, const tnc_matrix<T, parts> &a,
                          const tnc_matrix<T, parts> &taus, tnc_qr_head *shared) {
    const int64_t least = m < n ? m : n;
    for (int64_t j = 0; j < least; j++) {
        if (threadIdx.x == 0) *shared = tnc_qr_reflection<T, parts>(a, m, j);
        __syncthreads();
        const tnc_qr_head h = *shared;
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; h.there && i < m; i += TNC_FACTOR_THREADS)
            a.set(i, j, tnc_factor_div(a.get(i, j), h.under));
        if (threadIdx.x == 0) {
            if (h.there) a.set(j, j, h.beta);
            taus.set(j, 0, h.tau);
        }
        __syncthreads();
        for (int64_t c = j + 1 + threadIdx.x / 32; c < n; c += TNC_FACTOR_WARPS)
            tnc_qr_reflect<T, parts>(a, m, j, a, c, tnc_pair_of{h.tau.re, -h.tau.im});
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
        tnc_qr_factor<T, parts>(f.m, f.n, a, taus, head);
        if (f.k) tnc_qr_product<T, parts>(f, a, taus, q);
        for (int64_t i = threadIdx.x; i < rows * f.n; i += TNC_FACTOR_THREADS)
            r.set(i % rows, i / rows,
                  i % rows > i / rows ? tnc_pair_of{0, 0} : a.get(i % rows, i / rows));
        __syncthreads();
    }
}

/* --- of matrices in scratch, for blocks ------------------------------------------------------- */

template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_qr_kernel(tnc_block b, tnc_block taus) {
    TNC_SHARED(tnc_qr_head, head, 1);
    for (int64_t batch = blockIdx.x; batch < b.batches; batch += gridDim.x) {
        tnc_qr_factor<T, parts>(b.m, b.n, tnc_block_at<T, parts>(b, batch),
                                tnc_block_at<T, parts>(taus, batch), head);
        __syncthreads();
    }
}
TNC_PRIV void tnc_block_qr_columns(cudaStream_t s, const tnc_block &a, const tnc_block &taus) {
    if (a.batches && a.m && a.n)
        TNC_FACTOR_LAUNCH(tnc_block_qr_kernel, a.dtype, a.batches, s, a, taus);
}

/* Matrices whose number is not 0 stay as they are; first: of the corner that l is. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_cholesky_kernel(tnc_block l, int64_t first, int32_t *info) {
    for (int64_t batch = blockIdx.x; batch < l.batches; batch += gridDim.x) {
        if (info[batch]) continue;
        const int32_t minor = tnc_cholesky_factor<T, parts>(tnc_block_at<T, parts>(l, batch), l.n);
        __syncthreads();
        if (threadIdx.x == 0 && minor) info[batch] = minor + (int32_t)first;
    }
}
/* By halves: A21 L11^-H below the first, and its square from the second. */
static void block_cholesky(cudaStream_t s, const tnc_block &l, int64_t first, int32_t *info) {
    const int64_t n = l.n, half = n / 2, rest = n - half;
    if (n <= TNC_COLUMNS_ALONE) {
        TNC_FACTOR_LAUNCH(tnc_block_cholesky_kernel, l.dtype, l.batches, s, l, first, info);
        return;
    }
    const tnc_block head = tnc_block_part(l, 0, 0, half, half),
                    low = tnc_block_part(l, half, 0, rest, half),
                    tail = tnc_block_part(l, half, half, rest, rest);
    block_cholesky(s, head, first, info);
    tnc_block_solve_right(s, low, head, TNC_ADJOINT, false);
    for (int64_t j = 0; j < rest; j += TNC_COLUMNS_ALONE) {
        /* Only the lower triangle of the square, so many columns at a time. */
        const int64_t wide = rest - j < TNC_COLUMNS_ALONE ? rest - j : (int64_t)TNC_COLUMNS_ALONE;
        tnc_block_product(s, tnc_block_part(tail, j, j, rest - j, wide),
                          tnc_block_part(low, j, 0, rest - j, half), TNC_AS_IS,
                          tnc_block_part(low, j, 0, wide, half), TNC_ADJOINT, -1, true);
    }
    block_cholesky(s, tail, first + half, info);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* For prepare: two matrices of so many elements a batch. */
static bool factor_scratch(tn_frame *f, const tn_operand &t, int64_t batches, int64_t one,
                           int64_t other) {
    int64_t bytes;
    if (__builtin_add_overflow(one, other, &bytes) ||
        __builtin_mul_overflow(bytes, batches * (int64_t)t.bytes, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
static bool factor_cholesky_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]);
    const int64_t n = a.size[a.ndim - 1];
    return n <= TNC_COLUMNS_ALONE || factor_scratch(f, a, factor_count(a), n * n, 0);
}
/* More than 48 columns. */
static void factor_cholesky_blocks(tn_frame *f, const tn_operand &a, bool upper, int32_t *info) {
    const int64_t n = a.size[a.ndim - 1], batches = factor_count(a);
    const int how = upper ? TNC_ADJOINT : TNC_AS_IS; /* the triangle that is read and written */
    const cudaStream_t s = tnc_stream(f);
    char *room = (char *)f->scratch;
    tnc_block l = tnc_block_in(&room, a.dtype, n, n, batches);
    if (!batches) return;
    cudaMemsetAsync(info, 0, (size_t)batches * sizeof *info, s);
    l.stopped = info;
    tnc_block_load(s, l, a, a, how);
    block_cholesky(s, l, 0, info);
    tnc_block_clear(s, l, TNC_KEEP_LOWER);
    tnc_block_store(s, l, tn_operand_of(f->out[0]), how);
}

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
    if (f.n > TNC_COLUMNS_ALONE)
        factor_cholesky_blocks(frame, a, o->upper, f.info);
    else if (f.batches)
        TNC_FACTOR_LAUNCH(tnc_cholesky, a.dtype, f.batches, tnc_stream(frame), f);
}

static bool factor_triangular_prepare(tn_frame *f) {
    const tn_operand a = tn_operand_of(f->in[0]), x = tn_operand_of(f->out[0]);
    const int64_t n = a.size[a.ndim - 1];
    return n <= TNC_COLUMNS_ALONE ||
           factor_scratch(f, a, factor_count(x), n * n, x.size[x.ndim - 1] * x.size[x.ndim - 2]);
}
/* Of more than 48 rows; how: matrices are read and written. */
static void factor_triangular_blocks(tn_frame *frame, const tnc_factors &f, int how) {
    const tn_operand a = tn_operand_of(frame->in[0]), x = tn_operand_of(frame->out[0]);
    const cudaStream_t s = tnc_stream(frame);
    char *room = (char *)frame->scratch;
    const tnc_block t = tnc_block_in(&room, a.dtype, f.n, f.n, f.batches),
                    to = tnc_block_in(&room, a.dtype, f.n, f.k, f.batches);
    tnc_block_load(s, t, a, x, how);
    tnc_block_load(s, to, tn_operand_of(frame->in[1]), x, how);
    tnc_block_solve(s, t, to, f.upper, f.unit);
    tnc_block_store(s, to, x, how);
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
    if (f.n > TNC_COLUMNS_ALONE && f.batches && f.k)
        factor_triangular_blocks(frame, f, turned ? TNC_TRANSPOSED : TNC_AS_IS);
    else if (f.n && f.batches && f.k)
        TNC_FACTOR_LAUNCH(tnc_triangular, a.dtype,
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
/* Of more than 48 columns of A or Q. */
static bool factor_qr_is_blocks(const tnc_factors &f) {
    return f.n > TNC_COLUMNS_ALONE || f.k > TNC_COLUMNS_ALONE;
}
static bool factor_qr_prepare(tn_frame *frame) {
    tnc_factors f;
    int64_t rows, each, bytes;
    factor_qr_sides(&f, frame, &rows);
    if (factor_qr_is_blocks(f))
        return tnc_reflectors_scratch(frame, tn_operand_of(frame->in[0]), f.batches, f.m, f.n + f.k,
                                      f.n > f.k ? f.n : f.k);
    each = f.m * f.n + (f.m < f.n ? f.m : f.n);
    if (__builtin_mul_overflow(each, f.batches * (int64_t)tn_operand_of(frame->in[0]).bytes,
                               &bytes))
        return tn_fail(frame, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(frame, bytes) != NULL;
}
static void factor_qr_blocks(tn_frame *frame, const tnc_factors &f, int64_t rows) {
    const tn_operand in = tn_operand_of(frame->in[0]);
    const int64_t least = f.m < f.n ? f.m : f.n;
    const cudaStream_t s = tnc_stream(frame);
    char *room = (char *)frame->scratch;
    const tnc_block a = tnc_block_in(&room, in.dtype, f.m, f.n, f.batches),
                    q = tnc_block_in(&room, in.dtype, f.m, f.k, f.batches),
                    taus = tnc_block_in(&room, in.dtype, least, 1, f.batches);
    tnc_reflectors r = tnc_reflectors_in(&room, in.dtype, f.m, f.n > f.k ? f.n : f.k, f.batches);
    if (!f.batches) return;
    tnc_block_load(s, a, in, in, TNC_AS_IS);
    tnc_block_qr(s, &r, a, taus);
    if (f.k) {
        tnc_reflections_product(s, &r, a, least, taus, q);
        tnc_block_store(s, q, tn_operand_of(frame->out[0]), TNC_AS_IS);
    }
    const tnc_block upper = tnc_block_part(a, 0, 0, rows, f.n);
    tnc_block_clear(s, upper, TNC_KEEP_UPPER);
    tnc_block_store(s, upper, tn_operand_of(frame->out[1]), TNC_AS_IS);
}
static void factor_qr_run(tn_frame *frame) {
    tnc_factors f;
    int64_t rows;
    factor_qr_sides(&f, frame, &rows);
    if (factor_qr_is_blocks(f)) {
        factor_qr_blocks(frame, f, rows);
        return;
    }
    f.scratch = (char *)frame->scratch;
    if (f.batches)
        TNC_FACTOR_LAUNCH(tnc_qr, tn_dtype_of(frame->in[0]), f.batches, tnc_stream(frame), f, rows);
}

static const tn_device_row factor_table[] = {
    {"linalg_cholesky_ex", false, NULL, factor_cholesky_prepare, factor_cholesky_run},
    {"linalg_solve_triangular", false, NULL, factor_triangular_prepare, factor_triangular_run},
    {"linalg_qr", false, NULL, factor_qr_prepare, factor_qr_run}};
TNC_FAMILY(factors, factor_table)
