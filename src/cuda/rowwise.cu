/* rowwise.cu - softmax and log-softmax with their gradients, in the CPU's order
 * (ops/reduction/softmax.c).
 *
 * Lines of neighbours ("rows"): a warp a line of up to 1024 elements, which it holds in registers;
 * a block of 256 threads a longer one, 4096 elements at a time in shared memory, where one warp
 * sums lanes of what all have computed. Lines across ("columns"): a thread a column, so that
 * neighbours read neighbours. */
#include "families.cuh"
#include "lines.cuh"

enum { ROWWISE_WARPS = 4, ROWWISE_SHORT = 256, ROWWISE_LONG = 1024, ROWWISE_BLOCK = 256 };

/* --- lines ------------------------------------------------------------------------------------ */

/* One more dimension inside of those before; one with the last if it lies so in all tensors. */
static void lines_dim(int32_t *n, int64_t *sizes, int64_t (*steps)[TN_MAX_DIMS], int tensors,
                      int64_t size, const int64_t *step) {
    bool merge = *n > 0;
    if (size == 1) return;
    for (int k = 0; k < tensors; k++) merge = merge && steps[k][*n - 1] == step[k] * size;
    if (merge)
        sizes[*n - 1] *= size;
    else
        sizes[(*n)++] = size;
    for (int k = 0; k < tensors; k++) steps[k][*n - 1] = step[k];
}

TNC_PRIV void tnc_lines_of(tnc_lines *l, tn_tensor *const *t, int n, const bool *along) {
    const int ndim = (int)tn_ndim(t[0]);
    tn_operand o[TNC_LINE_TENSORS];
    memset(l, 0, sizeof *l);
    l->lines = l->n = 1;
    for (int k = 0; k < n; k++) {
        o[k] = tn_operand_of(t[k]);
        l->at[k] = o[k].at;
        l->dtype[k] = o[k].dtype;
    }
    for (int d = 0; d < ndim; d++) {
        const int64_t size = o[0].size[d];
        int64_t step[TNC_LINE_TENSORS] = {0};
        for (int k = 0; k < n; k++) {
            const int e = d - (ndim - o[k].ndim); /* aligned at the last dimension */
            if (t[k] && e >= 0 && o[k].size[e] != 1) step[k] = o[k].stride[e] * o[k].bytes;
        }
        *(along[d] ? &l->n : &l->lines) *= size;
        if (along[d])
            lines_dim(&l->nin, l->in, l->in_step, n, size, step);
        else
            lines_dim(&l->nouter, l->outer, l->outer_step, n, size, step);
    }
}

/* --- what is done with elements --------------------------------------------------------------- */

/* Of an element x (and d of what came in): kept(x, m) is what its sum and result are made of,
 * term(k, d, m) goes to step(sum, term, k), finish makes the line's scale of the sum, and map the
 * result. m is the line's largest element, if `most`. */
TNC_FN float tnc_row_exp(float x) { return tni_exp_f32_cuda(x); }
TNC_FN double tnc_row_exp(double x) { return tni_exp_f64_cuda(x); }
TNC_FN float tnc_row_log(float x) { return tni_log_f32_cuda(x); }
TNC_FN double tnc_row_log(double x) { return tni_log_f64_cuda(x); }

template <class A>
struct tnc_softmax {
    enum { most = 1, two = 0, pair = 0 }; /* two: there is d; pair: step reads k */
    TNC_FN A kept(A x, A m) { return tnc_row_exp(x - m); }
    TNC_FN A term(A k, A, A) { return k; }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return 1 / sum; }
    TNC_FN A map(A k, A, A, A scale) { return k * scale; }
};
template <class A>
struct tnc_log_softmax {
    enum { most = 1, two = 0, pair = 0 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A k, A, A m) { return tnc_row_exp(k - m); }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return tnc_row_log(sum); }
    TNC_FN A map(A k, A, A m, A scale) { return k - m - scale; }
};
/* y (dy - sum y dy) */
template <class A>
struct tnc_softmax_back {
    enum { most = 0, two = 1, pair = 1 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A, A d, A) { return d; }
    TNC_FN A step(A sum, A t, A k) { return fmaf(t, k, sum); }
    TNC_FN A finish(A sum) { return sum; }
    TNC_FN A map(A k, A d, A, A scale) { return k * (d - scale); }
};
/* dy - exp(y) sum dy */
template <class A>
struct tnc_log_softmax_back {
    enum { most = 0, two = 1, pair = 0 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A, A d, A) { return d; }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return sum; }
    TNC_FN A map(A k, A d, A, A scale) { return fmaf(-tnc_row_exp(k), scale, d); }
};

/* --- kernels ---------------------------------------------------------------------------------- */

/* Tensors of the lines: 0 is the result, 1 x, 2 what came in. A warp a line; register j of thread t
 * holds element 32 j + t. */
template <class Op, class A, int kind, int EACH>
__global__ void __launch_bounds__(ROWWISE_WARPS *TNC_WARP) tnc_soft_warp(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    enum { LANES = tnc_line_lanes<A>::each };
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * ROWWISE_WARPS;
    int64_t line = (int64_t)blockIdx.x * ROWWISE_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        A k[EACH], d[Op::two ? EACH : 1], m = -INFINITY, sum[LANES], scale;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            k[j] = i < n ? cell::get(cell::at(l, 1, x, i), l.dtype[1]) : (A)-INFINITY;
            if (Op::two) d[j] = i < n ? cell::get(cell::at(l, 2, dy, i), l.dtype[2]) : (A)0;
            if (Op::most) m = tnc_larger(m, k[j]);
        }
        if (Op::most) {
            for (int h = TNC_WARP / 2; h; h /= 2)
                m = tnc_larger(m, __shfl_down_sync(0xffffffffu, m, h));
            m = __shfl_sync(0xffffffffu, m, 0);
        }
        for (int j = 0; j < LANES; j++) sum[j] = 0;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const A dj = d[Op::two ? j : 0];
            if (j * TNC_WARP + t >= n) break;
            k[j] = Op::kept(k[j], m);
            sum[j % LANES] = Op::step(sum[j % LANES], Op::term(k[j], dj, m), k[j]);
        }
        scale = Op::finish(__shfl_sync(0xffffffffu, tnc_line_fold<A>(sum), 0));
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          Op::map(k[j], d[Op::two ? j : 0], m, scale));
        }
    }
}

/* The largest element of a line, by all threads of a block, in all threads. */
template <class A, int kind>
TNC_FN A tnc_soft_largest(const tnc_lines &l, char *x, A *held) {
    typedef tnc_line_cell<A, kind> cell;
    A m = -INFINITY;
    for (int64_t i = threadIdx.x; i < l.n; i += (int)blockDim.x)
        m = tnc_larger(m, cell::get(cell::at(l, 1, x, i), l.dtype[1]));
    for (int h = TNC_WARP / 2; h; h /= 2) m = tnc_larger(m, __shfl_down_sync(0xffffffffu, m, h));
    if (threadIdx.x % TNC_WARP == 0) held[threadIdx.x / TNC_WARP] = m;
    __syncthreads();
    m = held[0];
    for (unsigned w = 1; w < blockDim.x / TNC_WARP; w++) m = tnc_larger(m, held[w]);
    __syncthreads();
    return m;
}

/* A line by a block: terms of 4096 elements by all threads, their sum by warp 0. */
template <class Op, class A, int kind>
__global__ void __launch_bounds__(ROWWISE_BLOCK) tnc_soft_block(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    TNC_SHARED(A, terms, TNC_BLOCK);
    TNC_SHARED(A, keeps, Op::pair ? TNC_BLOCK : 1);
    TNC_SHARED(A, held, ROWWISE_BLOCK / TNC_WARP);
    const int t = (int)threadIdx.x;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        const A m = Op::most ? tnc_soft_largest<A, kind>(l, x, held) : (A)0;
        tnc_line_tree<A> tree;
        A scale;
        tree.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
            const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
            for (int i = t; i < n; i += (int)blockDim.x) {
                const A k = Op::kept(cell::get(cell::at(l, 1, x, b + i), l.dtype[1]), m),
                        d = Op::two ? cell::get(cell::at(l, 2, dy, b + i), l.dtype[2]) : (A)0;
                terms[i] = Op::term(k, d, m);
                if (Op::pair) keeps[i] = k;
            }
            __syncthreads();
            if (t < TNC_WARP) {
                A sum[EACH];
                for (int j = 0; j < EACH; j++) {
                    sum[j] = 0;
                    for (int i = j * TNC_WARP + t; i < n; i += LANES)
                        sum[j] = Op::step(sum[j], terms[i], keeps[Op::pair ? i : 0]);
                }
                sum[0] = tnc_line_fold<A>(sum);
                if (t == 0) tree.push(sum[0]);
            }
            __syncthreads();
        }
        if (t == 0) held[0] = Op::finish(tree.end());
        __syncthreads();
        scale = held[0];
        for (int64_t i = t; i < l.n; i += (int)blockDim.x) {
            const A k = Op::kept(cell::get(cell::at(l, 1, x, i), l.dtype[1]), m),
                    d = Op::two ? cell::get(cell::at(l, 2, dy, i), l.dtype[2]) : (A)0;
            cell::put(cell::at(l, 0, y, i), l.dtype[0], Op::map(k, d, m, scale));
        }
        __syncthreads();
    }
}

/* A column by a thread: 64 elements a block of the sum. */
template <class Op, class A, int kind>
__global__ void __launch_bounds__(128) tnc_soft_columns(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    const int64_t yn = l.in_step[0][0], xn = l.in_step[1][0], dn = l.in_step[2][0];
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        tnc_line_tree<A> tree;
        A m = -INFINITY, scale;
        for (int64_t i = 0; Op::most && i < l.n; i++)
            m = tnc_larger(m, cell::get(x + i * xn, l.dtype[1]));
        tree.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK_ROWS) {
            const int64_t end = b + TNC_BLOCK_ROWS < l.n ? b + TNC_BLOCK_ROWS : l.n;
            A sum = 0;
            for (int64_t i = b; i < end; i++) {
                const A k = Op::kept(cell::get(x + i * xn, l.dtype[1]), m),
                        d = Op::two ? cell::get(dy + i * dn, l.dtype[2]) : (A)0;
                sum = Op::step(sum, Op::term(k, d, m), k);
            }
            tree.push(sum);
        }
        scale = Op::finish(tree.end());
        for (int64_t i = 0; i < l.n; i++) {
            const A k = Op::kept(cell::get(x + i * xn, l.dtype[1]), m),
                    d = Op::two ? cell::get(dy + i * dn, l.dtype[2]) : (A)0;
            cell::put(y + i * yn, l.dtype[0], Op::map(k, d, m, scale));
        }
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Lines of neighbours that fit are a warp's; others are a block's, of a warp if they are short. */
template <class Op, class A, int kind>
static void soft_launch(cudaStream_t s, const tnc_lines &l, bool columns) {
    const unsigned warps = tnc_blocks(l.lines, ROWWISE_WARPS), threads = ROWWISE_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (columns)
        TNC_LAUNCH_PLAIN((tnc_soft_columns<Op, A, kind>), tnc_blocks(l.lines, 128), 128, s, l);
    else if (kind != TNC_LINE_ANY && l.n <= ROWWISE_SHORT)
        TNC_LAUNCH((tnc_soft_warp<Op, A, dense, ROWWISE_SHORT / TNC_WARP>), warps, threads, s, l);
    else if (kind != TNC_LINE_ANY && l.n <= ROWWISE_LONG)
        TNC_LAUNCH((tnc_soft_warp<Op, A, dense, ROWWISE_LONG / TNC_WARP>), warps, threads, s, l);
    else
        TNC_LAUNCH((tnc_soft_block<Op, A, kind>), tnc_blocks(l.lines, 1),
                   l.n <= ROWWISE_SHORT ? (unsigned)TNC_WARP : (unsigned)ROWWISE_BLOCK, s, l);
}
template <class Op>
static void soft_launch_f32(cudaStream_t s, const tnc_lines &l, bool columns, int kind) {
    switch (kind) {
    case TNC_LINE_OWN: soft_launch<Op, float, TNC_LINE_OWN>(s, l, columns); break;
    case TNC_LINE_F16: soft_launch<Op, float, TNC_LINE_F16>(s, l, columns); break;
    case TNC_LINE_BF16: soft_launch<Op, float, TNC_LINE_BF16>(s, l, columns); break;
    default: soft_launch<Op, float, TNC_LINE_ANY>(s, l, columns);
    }
}
template <class Op>
static void soft_launch_f64(cudaStream_t s, const tnc_lines &l, bool columns, int kind) {
    if (kind == TNC_LINE_OWN)
        soft_launch<Op, double, TNC_LINE_OWN>(s, l, columns);
    else
        soft_launch<Op, double, TNC_LINE_ANY>(s, l, columns);
}

/* The lines of x (and dy) along dim; true: they are columns. */
static bool soft_lines(tnc_lines *l, tn_frame *f, int64_t dim, tn_tensor *x, tn_tensor *dy) {
    tn_tensor *t[3] = {f->out[0], x, dy};
    const int ndim = (int)tn_ndim(x), d = (int)(dim < 0 ? dim + ndim : dim);
    const tn_operand o = tn_operand_of(x);
    bool along[TN_MAX_DIMS] = {false};
    int64_t inner = 1;
    if (ndim) along[d] = true;
    for (int e = d + 1; e < ndim; e++) inner *= o.size[e];
    tnc_lines_of(l, t, dy ? 3 : 2, along);
    return inner != 1;
}
template <template <class> class Op>
static void soft_run(tn_frame *f, int64_t dim) {
    tnc_lines l;
    const bool columns = soft_lines(&l, f, dim, f->in[0], NULL);
    const bool wide = l.dtype[0] == TN_F64;
    const int kind = tnc_line_kind_of(l, 2, wide ? TN_F64 : TN_F32, !columns);
    if (!l.lines || !l.n) return;
    if (wide)
        soft_launch_f64<Op<double>>(tnc_stream(f), l, columns, kind);
    else
        soft_launch_f32<Op<float>>(tnc_stream(f), l, columns, kind);
}
template <class Op>
static void soft_back_run(tn_frame *f, int64_t dim) {
    tnc_lines l;
    const bool columns = soft_lines(&l, f, dim, f->in[1], f->in[0]);
    if (!l.lines || !l.n) return;
    soft_launch_f32<Op>(tnc_stream(f), l, columns, tnc_line_kind_of(l, 3, TN_F32, !columns));
}
static void softmax_run(tn_frame *f) {
    TN_ARGS(softmax, a, f);
    soft_run<tnc_softmax>(f, a->dim);
}
static void log_softmax_run(tn_frame *f) {
    TN_ARGS(log_softmax, a, f);
    soft_run<tnc_log_softmax>(f, a->dim);
}
static void softmax_backward_run(tn_frame *f) {
    TN_ARGS(softmax_backward, a, f);
    soft_back_run<tnc_softmax_back<float>>(f, a->dim);
}
static void log_softmax_backward_run(tn_frame *f) {
    TN_ARGS(log_softmax_backward, a, f);
    soft_back_run<tnc_log_softmax_back<float>>(f, a->dim);
}

static const tn_device_row rowwise_table[] = {
    {"softmax", false, NULL, NULL, softmax_run},
    {"log_softmax", false, NULL, NULL, log_softmax_run},
    {"softmax_backward", false, NULL, NULL, softmax_backward_run},
    {"log_softmax_backward", false, NULL, NULL, log_softmax_backward_run}};
TNC_FAMILY(rowwise, rowwise_table)
