/* blocks.cu - products, triangular systems and LU of batches of matrices (blocks.cuh).
 *
 * A product has a thread an element: chains of 384 terms from 0, each added by one fma. A system
 * that is solved column by column has a warp a column, one along rows a thread a row. */
#include "blocks.cuh"

/* --- in and out ------------------------------------------------------------------------------- */

/* f.a: the tensor's matrices; f.m x f.n. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_move(tnc_factors f, tnc_block b, bool store) {
    const int64_t all = f.m * f.n;
    for (int64_t i = TNC_FIRST(); i < all * f.batches; i += TNC_STEP()) {
        const int64_t batch = i / all, r = (i - batch * all) % f.m, c = (i - batch * all) / f.m;
        const auto t = tnc_matrix_of<T, parts>(f, f.a, batch), p = tnc_block_at<T, parts>(b, batch);
        tnc_pair_of v = store ? p.get(r, c) : t.get(r, c);
        if (f.conjugated) v.im = -v.im;
        if (store)
            t.set(r, c, v);
        else
            p.set(r, c, v);
    }
}
static void block_move(cudaStream_t s, const tnc_block &b, const tn_operand &t,
                       const tn_operand &like, int how, bool store) {
    tnc_factors f;
    memset(&f, 0, sizeof f);
    factor_batches(&f, like);
    factor_side(&f.a, t, like, how & TNC_TRANSPOSED);
    f.m = b.m;
    f.n = b.n;
    f.conjugated = how == TNC_ADJOINT;
    if (f.m > 0 && f.n > 0 && f.batches > 0)
        TNC_FACTOR_LAUNCH(tnc_block_move, b.dtype,
                          (f.m * f.n * f.batches + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s,
                          f, b, store);
}
TNC_PRIV void tnc_block_load(cudaStream_t s, const tnc_block &b, const tn_operand &t,
                             const tn_operand &like, int how) {
    block_move(s, b, t, like, how, false);
}
TNC_PRIV void tnc_block_store(cudaStream_t s, const tnc_block &b, const tn_operand &t, int how) {
    block_move(s, b, t, t, how, true);
}

TNC_PRIV void tnc_block_load_vectors(cudaStream_t s, const tnc_block &b, const tn_operand &t) {
    const int64_t parts = factor_parts(t), jobs = b.m * b.batches;
    tnc_factors f;
    memset(&f, 0, sizeof f);
    f.batches = b.batches;
    f.nbatch = t.ndim - 1;
    f.m = b.m;
    f.n = 1;
    f.a.at = t.at;
    f.a.row = t.stride[t.ndim - 1] * parts;
    for (int d = 0; d < f.nbatch; d++) {
        f.size[d] = t.size[d];
        f.a.batch[d] = t.stride[d] * parts;
    }
    if (jobs)
        TNC_FACTOR_LAUNCH(tnc_block_move, b.dtype,
                          (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, f, b, false);
}

template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_fill(tnc_block b, tnc_block_keep keep) {
    for (int64_t i = TNC_FIRST(); i < b.m * b.n * b.batches; i += TNC_STEP()) {
        const int64_t batch = i / (b.m * b.n), at = i - batch * (b.m * b.n), r = at % b.m,
                      c = at / b.m;
        const bool unit = keep == TNC_KEEP_UNIT || keep == TNC_KEEP_REFLECTIONS,
                   kept = keep == TNC_KEEP_UPPER ? r <= c : keep != TNC_KEEP_UNIT && r >= c;
        const auto p = tnc_block_at<T, parts>(b, batch);
        if (unit && r == c)
            p.set(r, c, tnc_pair_of{1, 0});
        else if (!kept)
            p.set(r, c, tnc_pair_of{0, 0});
    }
}
TNC_PRIV void tnc_block_clear(cudaStream_t s, const tnc_block &b, tnc_block_keep keep) {
    const int64_t jobs = b.m * b.n * b.batches;
    if (jobs)
        TNC_FACTOR_LAUNCH(tnc_block_fill, b.dtype,
                          (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, b, keep);
}

/* --- products --------------------------------------------------------------------------------- */

/* c + alpha times the sum of n products. */
template <class T>
TNC_FN T tnc_block_chain(T c, const T *a, int64_t a_step, const T *b, int64_t b_step, int64_t n,
                         T alpha) {
    for (int64_t first = 0; first < n; first += TN_PRODUCT_BLOCK) {
        const int64_t end = n - first < TN_PRODUCT_BLOCK ? n : first + TN_PRODUCT_BLOCK;
        T sum = 0;
        for (int64_t k = first; k < end; k++) sum = tnc_fused(a[k * a_step], b[k * b_step], sum);
        c = tnc_fused(alpha, sum, c);
    }
    return c;
}
/* c + alpha times a dot product in 16 chains, or that alone: a column by columns. */
template <class T>
TNC_FN T tnc_block_dot(T c, const T *a, int64_t a_step, const T *b, int64_t b_step, int64_t n,
                       T alpha, bool add) {
    T chain[16];
    for (int k = 0; k < 16; k++) chain[k] = 0;
    for (int64_t k = 0; k < n; k++)
        chain[k % 16] = tnc_fused(a[k * a_step], b[k * b_step], chain[k % 16]);
    for (int half = 8; half; half /= 2)
        for (int k = 0; k < half; k++) chain[k] += chain[k + half];
    return add ? (T)fma((double)chain[0], (double)alpha, (double)c) : chain[0];
}

/* How the matrices of a product are read, and what it becomes. dots: the first column of c that is
 * made by dot products. */
struct tnc_block_ways {
    int32_t a, b;
    double alpha;
    bool add;
    int64_t dots;
};
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_multiply(tnc_block c, tnc_block a, tnc_block b, tnc_block_ways how) {
    const T alpha = (T)how.alpha, by_a = how.a == TNC_ADJOINT ? -alpha : alpha,
            by_b = how.b == TNC_ADJOINT ? -alpha : alpha,
            both = (how.a == TNC_ADJOINT) == (how.b == TNC_ADJOINT) ? -alpha : alpha;
    const int64_t all = c.m * c.n, n = how.a ? a.m : a.n, step = how.a ? parts : a.ld * parts,
                  next = how.b ? b.ld * parts : parts;
    for (int64_t i = TNC_FIRST(); i < all * c.batches; i += TNC_STEP()) {
        const int64_t batch = i / all, r = (i - batch * all) % c.m, col = (i - batch * all) / c.m;
        if (c.stopped && c.stopped[batch]) continue;
        const auto left = tnc_block_at<T, parts>(a, batch),
                   right = tnc_block_at<T, parts>(b, batch);
        T *to = tnc_block_at<T, parts>(c, batch).to(r, col);
        const T *x = how.a ? left.to(0, r) : left.to(r, 0),
                *y = how.b ? right.to(col, 0) : right.to(0, col);
        if (col >= how.dots) {
            T re = tnc_block_dot(to[0], x, step, y, next, n, alpha, how.add);
            if (parts > 1) {
                T im = how.add ? to[parts - 1] : (T)0;
                re = tnc_block_dot(re, x + parts - 1, step, y + parts - 1, next, n, both, true);
                im = tnc_block_dot(im, x, step, y + parts - 1, next, n, by_b, true);
                to[parts - 1] = tnc_block_dot(im, x + parts - 1, step, y, next, n, by_a, true);
            }
            to[0] = re;
            continue;
        }
        T re = tnc_block_chain(how.add ? to[0] : (T)0, x, step, y, next, n, alpha);
        if (parts > 1) {
            T im = how.add ? to[parts - 1] : (T)0;
            re = tnc_block_chain(re, x + parts - 1, step, y + parts - 1, next, n, both);
            im = tnc_block_chain(im, x, step, y + parts - 1, next, n, by_b);
            to[parts - 1] = tnc_block_chain(im, x + parts - 1, step, y, next, n, by_a);
        }
        to[0] = re;
    }
}
enum { BLOCK_CUT = 96, BLOCK_LARGE = 1 << 19 };
TNC_PRIV void tnc_block_product(cudaStream_t s, const tnc_block &c, const tnc_block &a, int how_a,
                                const tnc_block &b, int how_b, double alpha, bool add) {
    const int64_t jobs = c.m * c.n * c.batches;
    const int64_t k = how_a ? a.m : a.n;
    tnc_block_ways how = {how_a, how_b, alpha, add, c.n};
    /* A column alone, also the last one of a product that the CPU cuts, if both are read along
     * columns. */
    if ((how_a || a.ld == 1) && (!how_b || b.ld == 1) && k > 0 &&
        (c.n == 1 || (c.n % BLOCK_CUT == 1 && c.m * c.n * k >= BLOCK_LARGE)))
        how.dots = c.n - 1;
    if (jobs > 0)
        TNC_FACTOR_LAUNCH(tnc_block_multiply, c.dtype,
                          (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, c, a, b, how);
}

/* --- triangular systems ----------------------------------------------------------------------- */

/* A warp has a column of x. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_columns(tnc_block of, tnc_block in, bool upper, bool unit) {
    const int lane = (int)(threadIdx.x % 32);
    const int64_t warps = (int64_t)gridDim.x * TNC_FACTOR_WARPS, n = in.m;
    for (int64_t job = (int64_t)blockIdx.x * TNC_FACTOR_WARPS + threadIdx.x / 32;
         job < in.batches * in.n; job += warps) {
        const auto t = tnc_block_at<T, parts>(of, job / in.n),
                   x = tnc_block_at<T, parts>(in, job / in.n);
        tnc_triangular_column<T, parts>(t, x, job % in.n, n, upper, unit, lane);
    }
}
/* x[:, j] -= x[:, k] op(t)(k, j) of what is known, a thread a row of x; from the first column on,
 * or `down` from the last. `turned`: x is read with rows and columns exchanged. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_block_rows(tnc_block in, tnc_block of, int how, bool unit, bool down, bool turned) {
    const int64_t rows = turned ? in.n : in.m, n = turned ? in.m : in.n;
    for (int64_t job = TNC_FIRST(); job < in.batches * rows; job += TNC_STEP()) {
        if (in.stopped && in.stopped[job / rows]) continue;
        const auto t = tnc_block_at<T, parts>(of, job / rows);
        auto x = tnc_block_at<T, parts>(in, job / rows);
        const int64_t r = job % rows;
        if (turned) {
            const int64_t row = x.row;
            x.row = x.col;
            x.col = row;
        }
        for (int64_t step = 0; step < n; step++) {
            const int64_t j = down ? n - 1 - step : step;
            for (int64_t s = 0; s < step; s++) {
                const int64_t k = down ? n - 1 - s : s;
                tnc_pair_of v = how == TNC_AS_IS ? t.get(k, j) : t.get(j, k);
                v.re = -v.re;
                v.im = how == TNC_ADJOINT ? v.im : -v.im;
                if (v.re != 0 || v.im != 0) tnc_factor_add<T, parts>(x.to(r, j), x.to(r, k), v);
            }
            if (!unit) {
                tnc_pair_of head = t.get(j, j);
                if (how == TNC_ADJOINT) head.im = -head.im;
                x.set(r, j, tnc_factor_div(x.get(r, j), head));
            }
        }
    }
}
static void block_rows(cudaStream_t s, const tnc_block &x, const tnc_block &t, int how, bool unit,
                       bool down, bool turned) {
    const int64_t jobs = x.batches * (turned ? x.n : x.m);
    if (jobs)
        TNC_FACTOR_LAUNCH(tnc_block_rows, x.dtype,
                          (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, x, t, how, unit,
                          down, turned);
}
static void block_columns(cudaStream_t s, const tnc_block &t, const tnc_block &x, bool upper,
                          bool unit) {
    const int64_t jobs = x.batches * x.n;
    if (jobs)
        TNC_FACTOR_LAUNCH(tnc_block_columns, x.dtype,
                          (jobs + TNC_FACTOR_WARPS - 1) / TNC_FACTOR_WARPS, s, t, x, upper, unit);
}

enum { BLOCK_SIDE = 16, BLOCK_FEW = 8 }; /* a small triangle; few columns */
static void block_halves(cudaStream_t s, const tnc_block &t, const tnc_block &x, bool upper,
                         bool unit) {
    const int64_t n = t.n, half = n / 2;
    if (n <= BLOCK_SIDE) {
        if (x.n < BLOCK_FEW)
            block_columns(s, t, x, upper, unit);
        else
            block_rows(s, x, t, TNC_TRANSPOSED, unit, upper, true);
        return;
    }
    const tnc_block head = tnc_block_part(t, 0, 0, half, half),
                    tail = tnc_block_part(t, half, half, n - half, n - half),
                    low = tnc_block_part(t, half, 0, n - half, half),
                    high = tnc_block_part(t, 0, half, half, n - half),
                    first = tnc_block_part(x, 0, 0, half, x.n),
                    last = tnc_block_part(x, half, 0, n - half, x.n);
    block_halves(s, upper ? tail : head, upper ? last : first, upper, unit);
    if (upper)
        tnc_block_product(s, first, high, TNC_AS_IS, last, TNC_AS_IS, -1, true);
    else
        tnc_block_product(s, last, low, TNC_AS_IS, first, TNC_AS_IS, -1, true);
    block_halves(s, upper ? head : tail, upper ? first : last, upper, unit);
}
TNC_PRIV void tnc_block_solve(cudaStream_t s, const tnc_block &t, const tnc_block &x, bool upper,
                              bool unit) {
    if (t.n <= TNC_COLUMNS_ALONE)
        block_columns(s, t, x, upper, unit);
    else
        block_halves(s, t, x, upper, unit);
}
TNC_PRIV void tnc_block_solve_right(cudaStream_t s, const tnc_block &x, const tnc_block &t, int how,
                                    bool unit) {
    const int64_t n = x.n, half = n / 2;
    if (n <= BLOCK_SIDE) {
        block_rows(s, x, t, how, unit, false, false);
        return;
    }
    const tnc_block first = tnc_block_part(x, 0, 0, x.m, half),
                    last = tnc_block_part(x, 0, half, x.m, n - half),
                    head = tnc_block_part(t, 0, 0, half, half),
                    tail = tnc_block_part(t, half, half, n - half, n - half),
                    other = how == TNC_AS_IS ? tnc_block_part(t, 0, half, half, n - half)
                                             : tnc_block_part(t, half, 0, n - half, half);
    tnc_block_solve_right(s, first, head, how, unit);
    tnc_block_product(s, last, first, TNC_AS_IS, other, how, -1, true);
    tnc_block_solve_right(s, last, tail, how, unit);
}

/* --- LU --------------------------------------------------------------------------------------- */

enum { LU_COLUMNS = 8 }; /* so few go one by one */

/* The row from j on with the largest |re| + |im| in column j, the first of equals; all threads. */
struct tnc_lu_largest {
    double most;
    int64_t at;
};
template <class T, int parts>
TNC_FN int64_t tnc_lu_pivot(const tnc_matrix<T, parts> &a, int64_t m, int64_t j,
                            tnc_lu_largest *shared) {
    const int t = (int)threadIdx.x;
    tnc_lu_largest mine = {-1, j};
    for (int64_t i = j + t; i < m; i += TNC_FACTOR_THREADS) {
        const tnc_pair_of v = a.get(i, j);
        const double size = parts > 1 ? fabs(v.re) + fabs(v.im) : fabs(v.re);
        if (size > mine.most) {
            mine.most = size;
            mine.at = i;
        }
    }
    __syncthreads();
    shared[t] = mine;
    __syncthreads();
    for (int half = TNC_FACTOR_THREADS / 2; half; half /= 2) {
        if (t < half) {
            const tnc_lu_largest other = shared[t + half];
            if (other.most > shared[t].most ||
                (other.most == shared[t].most && other.at < shared[t].at))
                shared[t] = other;
        }
        __syncthreads();
    }
    return shared[0].at;
}
/* The first `least` columns, one after the other, a block a matrix; row 0 is row `first` of the
 * whole one. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_lu_columns(tnc_block b, tnc_pivots p, int64_t least, int64_t first, int32_t *info) {
    TNC_SHARED(tnc_lu_largest, shared, TNC_FACTOR_THREADS);
    const int t = (int)threadIdx.x;
    for (int64_t batch = blockIdx.x; batch < b.batches; batch += gridDim.x) {
        const auto a = tnc_block_at<T, parts>(b, batch);
        for (int64_t j = 0; j < least; j++) {
            const int64_t i = tnc_lu_pivot<T, parts>(a, b.m, j, shared);
            if (t == 0) p.at[batch * p.n + first + j] = (int32_t)(first + i + 1);
            for (int64_t c = t; c < b.n && i != j; c += TNC_FACTOR_THREADS) {
                const tnc_pair_of v = a.get(j, c);
                a.set(j, c, a.get(i, c));
                a.set(i, c, v);
            }
            __syncthreads();
            const tnc_pair_of head = a.get(j, j);
            if (head.re == 0 && head.im == 0) {
                if (t == 0 && !info[batch]) info[batch] = (int32_t)(first + j + 1);
                continue;
            }
            for (int64_t r = j + 1 + t; r < b.m; r += TNC_FACTOR_THREADS)
                a.set(r, j, tnc_factor_div(a.get(r, j), head));
            __syncthreads();
            const int64_t rows = b.m - j - 1;
            for (int64_t e = t; e < rows * (b.n - j - 1); e += TNC_FACTOR_THREADS) {
                const int64_t r = j + 1 + e % rows, c = j + 1 + e / rows;
                const tnc_pair_of v = a.get(j, c);
                tnc_factor_add<T, parts>(a.to(r, c), a.to(r, j), tnc_pair_of{-v.re, -v.im});
            }
            __syncthreads();
        }
    }
}
static void lu_columns(cudaStream_t s, const tnc_block &a, const tnc_pivots &p, int64_t least,
                       int64_t first, int32_t *info) {
    if (a.batches)
        TNC_FACTOR_LAUNCH(tnc_lu_columns, a.dtype, a.batches, s, a, p, least, first, info);
}

/* A thread a column of x. */
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS)
    tnc_lu_exchange(tnc_block x, tnc_pivots p, int64_t from, int64_t end, int64_t first,
                    bool back) {
    for (int64_t job = TNC_FIRST(); job < x.batches * x.n; job += TNC_STEP()) {
        const int64_t batch = job / x.n, c = job % x.n;
        const auto a = tnc_block_at<T, parts>(x, batch);
        for (int64_t s = from; s < end; s++) {
            const int64_t k = back ? end - 1 - (s - from) : s,
                          i = p.at[batch * p.n + k] - 1 - first, j = k - first;
            if (i == j) continue;
            const tnc_pair_of v = a.get(j, c);
            a.set(j, c, a.get(i, c));
            a.set(i, c, v);
        }
    }
}
TNC_PRIV void tnc_block_exchange(cudaStream_t s, const tnc_block &x, const tnc_pivots &p,
                                 int64_t from, int64_t end, int64_t first, bool back) {
    const int64_t jobs = x.batches * x.n;
    if (jobs && end > from)
        TNC_FACTOR_LAUNCH(tnc_lu_exchange, x.dtype,
                          (jobs + TNC_FACTOR_THREADS - 1) / TNC_FACTOR_THREADS, s, x, p, from, end,
                          first, back);
}

/* a is the corner of the whole matrix at row and column `first`. */
static void lu_factor(cudaStream_t s, const tnc_block &a, const tnc_pivots &p, int64_t first,
                      int32_t *info) {
    const int64_t least = a.m < a.n ? a.m : a.n, half = least / 2;
    if (least <= LU_COLUMNS && a.n <= 2 * LU_COLUMNS) {
        lu_columns(s, a, p, least, first, info);
        return;
    }
    if (least <= LU_COLUMNS) { /* wide: the square part, then a triangular system */
        const tnc_block left = tnc_block_part(a, 0, 0, a.m, least),
                        right = tnc_block_part(a, 0, least, a.m, a.n - least);
        lu_columns(s, left, p, least, first, info);
        tnc_block_exchange(s, right, p, first, first + least, first, false);
        tnc_block_solve(s, tnc_block_part(left, 0, 0, least, least), right, false, true);
        return;
    }
    const tnc_block left = tnc_block_part(a, 0, 0, a.m, half),
                    right = tnc_block_part(a, 0, half, a.m, a.n - half),
                    above = tnc_block_part(right, 0, 0, half, right.n),
                    under = tnc_block_part(a, half, 0, a.m - half, half),
                    rest = tnc_block_part(right, half, 0, a.m - half, right.n);
    lu_factor(s, left, p, first, info);
    /* The rest: rows exchanged, U's rows above, products of both below. */
    tnc_block_exchange(s, right, p, first, first + half, first, false);
    tnc_block_solve(s, tnc_block_part(a, 0, 0, half, half), above, false, true);
    tnc_block_product(s, rest, under, TNC_AS_IS, above, TNC_AS_IS, -1, true);
    lu_factor(s, rest, p, first + half, info);
    tnc_block_exchange(s, under, p, first + half, first + least, first + half, false);
}
TNC_PRIV void tnc_block_lu(cudaStream_t s, const tnc_block &a, const tnc_pivots &p, int32_t *info) {
    if (a.batches && a.m && a.n) lu_factor(s, a, p, 0, info);
}
TNC_PRIV void tnc_block_lu_solve(cudaStream_t s, const tnc_block &lu, const tnc_pivots &p,
                                 const tnc_block &x, bool adjoint) {
    if (!adjoint) tnc_block_exchange(s, x, p, 0, lu.n, 0, false);
    tnc_block_solve(s, lu, x, false, !adjoint);
    tnc_block_solve(s, lu, x, true, adjoint);
    if (adjoint) tnc_block_exchange(s, x, p, 0, lu.n, 0, true);
}
