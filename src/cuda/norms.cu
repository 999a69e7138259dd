/* norms.cu - layer normalisation and its gradients, in the CPU's order (ops/layers/layer_norm.c).
 *
 * As in rowwise.cu: a warp a row of up to 1024 elements in registers, a block of 256 threads a
 * longer one, 4096 elements at a time in shared memory. The gradients of weight and bias are sums
 * over rows: a thread a column of 64 rows, joined in a tree; each row's mean and scale wait in
 * scratch between the two kernels. Weight and bias are read as numbers of the arithmetic's type,
 * and copied to such in scratch if they are not. */
#include "families.cuh"
#include "lines.cuh"
#include "variance.cuh"

enum { NORM_WARPS = 4, NORM_SHORT = 256, NORM_LONG = 1024, NORM_THREADS = 256 };

/* Tensors of the lines: 0 is the result, 1 the input, 2 the weight, 3 the bias or what came in. */
struct tnc_norm {
    tnc_lines l;
    double eps;
    const void *weight, *bias; /* n numbers of the arithmetic's type, or NULL */
    float *rows;               /* backward: mean and scale of each row */
};

/* (x - mean) scale weight + bias, the last two fused */
template <class A>
TNC_FN A tnc_norm_map(const tnc_norm &a, A x, A mean, A scale, int64_t i) {
    const A v = (x - mean) * scale, *weight = (const A *)a.weight, *bias = (const A *)a.bias;
    if (weight && bias) return tnc_fused(v, weight[i], bias[i]);
    if (weight) return v * weight[i];
    if (bias) return v + bias[i];
    return v;
}
/* Weight or bias, tensor k, to numbers side by side. */
template <class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_norm_numbers(tnc_lines l, int k, A *to) {
    for (int64_t i = TNC_FIRST(); i < l.n; i += TNC_STEP())
        to[i] = tnc_load_real<A>(l.at[k] + tnc_offset(l.nin, l.in, l.in_step[k], i), l.dtype[k]);
}
template <class A>
TNC_FN A tnc_norm_scale(tnc_moments p, double n, double eps) {
    return (A)(1 / sqrt(p.m2 / n + eps));
}

/* --- a warp a row ----------------------------------------------------------------------------- */

/* Mean and squares of n elements, at most a block, element 32 j + t in x[j]; in all threads. */
template <class A, int EACH>
TNC_FN tnc_moments tnc_norm_moments_warp(const A *x, int n, int t) {
    enum { LANES = tnc_line_lanes<A>::each };
    A one[LANES], two[LANES], centre, sum, squares;
    for (int j = 0; j < LANES; j++) one[j] = 0;
    TNC_UNROLL
    for (int j = 0; j < EACH; j++)
        if (j * TNC_WARP + t < n) one[j % LANES] = one[j % LANES] + x[j];
    centre = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0) / (A)n;
    for (int j = 0; j < LANES; j++) one[j] = two[j] = 0;
    TNC_UNROLL
    for (int j = 0; j < EACH; j++) {
        const A d = x[j] - centre;
        if (j * TNC_WARP + t >= n) break;
        one[j % LANES] = one[j % LANES] + d;
        two[j % LANES] = tnc_fused(d, d, two[j % LANES]);
    }
    sum = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0);
    squares = __shfl_sync(0xffffffffu, tnc_line_fold<A>(two), 0);
    return tnc_moments_of((double)centre, (double)sum, (double)squares, (double)n);
}

template <class A, int kind, int EACH>
__global__ void __launch_bounds__(NORM_WARPS *TNC_WARP) tnc_norm_warp(tnc_norm a) {
    typedef tnc_line_cell<A, kind> cell;
    const tnc_lines &l = a.l;
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * NORM_WARPS;
    int64_t line = (int64_t)blockIdx.x * NORM_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line);
        A x[EACH], mean, scale;
        tnc_moments p;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            x[j] = i < n ? cell::get(cell::at(l, 1, from, i), l.dtype[1]) : (A)0;
        }
        p = tnc_norm_moments_warp<A, EACH>(x, n, t);
        mean = (A)p.mean;
        scale = tnc_norm_scale<A>(p, (double)n, a.eps);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          tnc_norm_map<A>(a, x[j], mean, scale, i));
        }
    }
}

/* scale (g - a - h b) with h = (x - mean) scale and g = dy weight */
TNC_FN float tnc_norm_back_map(float x, float g, float mean, float scale, float a, float b) {
    return scale * fmaf(-((x - mean) * scale), b, g - a);
}

template <int kind, int EACH>
__global__ void __launch_bounds__(NORM_WARPS *TNC_WARP) tnc_norm_back_warp(tnc_norm a) {
    typedef tnc_line_cell<float, kind> cell;
    const tnc_lines &l = a.l;
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * NORM_WARPS;
    int64_t line = (int64_t)blockIdx.x * NORM_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 3, line);
        float x[EACH], g[EACH], one[2] = {0, 0}, two[2] = {0, 0}, mean, scale, ma, mb;
        tnc_moments p;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            x[j] = i < n ? cell::get(cell::at(l, 1, from, i), l.dtype[1]) : 0.0f;
            g[j] = i < n ? cell::get(cell::at(l, 3, dy, i), l.dtype[3]) : 0.0f;
            if (i < n && a.weight) g[j] = g[j] * ((const float *)a.weight)[i];
        }
        p = tnc_norm_moments_warp<float, EACH>(x, n, t);
        mean = (float)p.mean;
        scale = tnc_norm_scale<float>(p, (double)n, a.eps);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            if (j * TNC_WARP + t >= n) break;
            one[j % 2] = one[j % 2] + g[j];
            two[j % 2] = fmaf(g[j], (x[j] - mean) * scale, two[j % 2]);
        }
        ma = (float)((double)__shfl_sync(0xffffffffu, tnc_line_fold<float>(one), 0) / (double)n);
        mb = (float)((double)__shfl_sync(0xffffffffu, tnc_line_fold<float>(two), 0) / (double)n);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          tnc_norm_back_map(x[j], g[j], mean, scale, ma, mb));
        }
        if (t == 0) a.rows[2 * line] = mean;
        if (t == 1) a.rows[2 * line + 1] = scale;
    }
}

/* --- a block a row ---------------------------------------------------------------------------- */

/* Mean and squares of a tile of n elements by warp 0; right in its thread 0. */
template <class A>
TNC_FN tnc_moments tnc_norm_moments_tile(const A *x, int n, int t) {
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    A one[EACH], two[EACH], centre;
    for (int j = 0; j < EACH; j++) {
        one[j] = 0;
        for (int i = j * TNC_WARP + t; i < n; i += LANES) one[j] = one[j] + x[i];
    }
    centre = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0) / (A)n;
    for (int j = 0; j < EACH; j++) {
        one[j] = two[j] = 0;
        for (int i = j * TNC_WARP + t; i < n; i += LANES) {
            const A d = x[i] - centre;
            one[j] = one[j] + d;
            two[j] = tnc_fused(d, d, two[j]);
        }
    }
    one[0] = tnc_line_fold<A>(one);
    two[0] = tnc_line_fold<A>(two);
    return tnc_moments_of((double)centre, (double)one[0], (double)two[0], (double)n);
}
/* Those of a line, tile by tile, in all threads; held has room for two. */
template <class A, int kind>
TNC_FN tnc_moments tnc_norm_moments_line(const tnc_lines &l, char *from, A *tile, double *held) {
    typedef tnc_line_cell<A, kind> cell;
    const int t = (int)threadIdx.x;
    tnc_moments p = {0, 0};
    for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
        const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
        for (int i = t; i < n; i += (int)blockDim.x)
            tile[i] = cell::get(cell::at(l, 1, from, b + i), l.dtype[1]);
        __syncthreads();
        if (t < TNC_WARP) {
            const tnc_moments q = tnc_norm_moments_tile<A>(tile, n, t);
            p = b ? tnc_moments_join(p, (double)b, q, (double)n) : q;
        }
        __syncthreads();
    }
    if (t == 0) {
        held[0] = p.mean;
        held[1] = p.m2;
    }
    __syncthreads();
    p.mean = held[0];
    p.m2 = held[1];
    __syncthreads();
    return p;
}

template <class A, int kind>
__global__ void __launch_bounds__(NORM_THREADS) tnc_norm_block(tnc_norm a) {
    typedef tnc_line_cell<A, kind> cell;
    TNC_SHARED(A, tile, TNC_BLOCK);
    TNC_SHARED(double, held, 2);
    const tnc_lines &l = a.l;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line);
        const tnc_moments p = tnc_norm_moments_line<A, kind>(l, from, tile, held);
        const A mean = (A)p.mean, scale = tnc_norm_scale<A>(p, (double)l.n, a.eps);
        for (int64_t i = threadIdx.x; i < l.n; i += (int)blockDim.x) {
            /* a row of one tile still lies there */
            const A x = l.n <= TNC_BLOCK ? tile[i] : cell::get(cell::at(l, 1, from, i), l.dtype[1]);
            cell::put(cell::at(l, 0, y, i), l.dtype[0], tnc_norm_map<A>(a, x, mean, scale, i));
        }
        __syncthreads();
    }
}

/* Element i of dy times its weight. */
template <int kind>
TNC_FN float tnc_norm_weighted(const tnc_norm &a, char *dy, int64_t i) {
    typedef tnc_line_cell<float, kind> cell;
    const float d = cell::get(cell::at(a.l, 3, dy, i), a.l.dtype[3]);
    return a.weight ? d * ((const float *)a.weight)[i] : d;
}
template <int kind>
__global__ void __launch_bounds__(NORM_THREADS) tnc_norm_back_block(tnc_norm a) {
    typedef tnc_line_cell<float, kind> cell;
    TNC_SHARED(float, tile, TNC_BLOCK);
    TNC_SHARED(float, gs, TNC_BLOCK);
    TNC_SHARED(double, held, 2);
    const tnc_lines &l = a.l;
    const int t = (int)threadIdx.x;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 3, line);
        const tnc_moments p = tnc_norm_moments_line<float, kind>(l, from, tile, held);
        const float mean = (float)p.mean, scale = tnc_norm_scale<float>(p, (double)l.n, a.eps);
        tnc_line_tree<float> ones, twos;
        float ma, mb;
        ones.begin();
        twos.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
            const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
            for (int i = t; i < n; i += (int)blockDim.x) {
                const float x = cell::get(cell::at(l, 1, from, b + i), l.dtype[1]);
                gs[i] = tnc_norm_weighted<kind>(a, dy, b + i);
                tile[i] = (x - mean) * scale;
            }
            __syncthreads();
            if (t < TNC_WARP) {
                float one[2] = {0, 0}, two[2] = {0, 0};
                for (int j = 0; j < 2; j++)
                    for (int i = j * TNC_WARP + t; i < n; i += 2 * TNC_WARP) {
                        one[j] = one[j] + gs[i];
                        two[j] = fmaf(gs[i], tile[i], two[j]);
                    }
                one[0] = tnc_line_fold<float>(one);
                two[0] = tnc_line_fold<float>(two);
                if (t == 0) ones.push(one[0]);
                if (t == 0) twos.push(two[0]);
            }
            __syncthreads();
        }
        if (t == 0) {
            held[0] = (double)ones.end() / (double)l.n;
            held[1] = (double)twos.end() / (double)l.n;
            a.rows[2 * line] = mean;
            a.rows[2 * line + 1] = scale;
        }
        __syncthreads();
        ma = (float)held[0];
        mb = (float)held[1];
        for (int64_t i = t; i < l.n; i += (int)blockDim.x)
            cell::put(cell::at(l, 0, y, i), l.dtype[0],
                      tnc_norm_back_map(cell::get(cell::at(l, 1, from, i), l.dtype[1]),
                                        tnc_norm_weighted<kind>(a, dy, i), mean, scale, ma, mb));
        __syncthreads();
    }
}

/* --- gradients of weight and bias ------------------------------------------------------------- */

struct tnc_norm_sums {
    float weight, bias;
};
struct tnc_norm_weights : tnc_joined<tnc_norm_sums> {
    TNC_FN tnc_norm_sums meet(tnc_norm_sums a, tnc_norm_sums b) {
        a.weight = a.weight + b.weight;
        a.bias = a.bias + b.bias;
        return a;
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_norm_sums a) {
        tnc_give_number(l, 0, at, a.weight);
        tnc_give_number(l, 1, at, a.bias);
    }
};
/* Element i of all rows is a column: dy h and dy over 64 rows. */
template <int kind>
__global__ void __launch_bounds__(128) tnc_norm_columns(tnc_norm a, tnc_lanes w) {
    typedef tnc_line_cell<float, kind> cell;
    const tnc_lines &l = a.l;
    const int64_t all = w.results * w.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const int64_t i = job % w.results, b = job / w.results, begin = b * TNC_BLOCK_ROWS,
                      end = begin + TNC_BLOCK_ROWS < l.lines ? begin + TNC_BLOCK_ROWS : l.lines;
        tnc_norm_sums sum = {0, 0};
        for (int64_t line = begin; line < end; line++) {
            const float x = cell::get(cell::at(l, 1, tnc_line_at(l, 1, line), i), l.dtype[1]),
                        d = cell::get(cell::at(l, 3, tnc_line_at(l, 3, line), i), l.dtype[3]);
            sum.weight = fmaf(d, (x - a.rows[2 * line]) * a.rows[2 * line + 1], sum.weight);
            sum.bias = sum.bias + d;
        }
        tnc_block_done<tnc_norm_weights>(tnc_norm_weights(), w, i, b, sum);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The rows of the last dimensions of x; `other` is the bias or what came in. */
static int norm_plan(tnc_norm *a, tn_frame *f, tn_tensor *x, tn_tensor *weight, tn_tensor *other,
                     int64_t dims, double eps, bool back) {
    tn_tensor *t[4] = {f->out[0], x, weight, other};
    const int ndim = (int)tn_ndim(x);
    bool along[TN_MAX_DIMS] = {false};
    tnc_lines *l = &a->l;
    memset(a, 0, sizeof *a);
    for (int64_t d = ndim - dims; d < ndim; d++) along[d] = true;
    tnc_lines_of(l, t, 4, along);
    a->eps = eps;
    const tn_dtype compute = l->dtype[0] == TN_F64 ? TN_F64 : TN_F32;
    int kind = tnc_line_kind_of(*l, 2, compute, true);
    if (back && (l->dtype[3] != l->dtype[0] || !tnc_lines_dense(*l, 3))) kind = TNC_LINE_ANY;
    return kind;
}

/* Bytes of the copy of weight or bias, tensor k; 0: it has the arithmetic's type and lies so, or is
 * absent. */
static int64_t norm_numbers_bytes(const tnc_norm *a, int k) {
    const tnc_lines *l = &a->l;
    const int dtype = l->dtype[0] == TN_F64 ? TN_F64 : TN_F32;
    if (!l->at[k] || (l->dtype[k] == dtype && tnc_lines_dense(*l, k))) return 0;
    return (l->n * tnc_dtype_bytes(dtype) + 63) / 64 * 64;
}
/* The numbers of tensor k, in place or copied to *room, which moves on. */
template <class A>
static const void *norm_numbers(cudaStream_t s, const tnc_norm &a, int k, char **room) {
    const int64_t bytes = norm_numbers_bytes(&a, k);
    A *to = (A *)*room;
    if (!bytes) return a.l.at[k];
    *room += bytes;
    TNC_LAUNCH_PLAIN((tnc_norm_numbers<A>), tnc_blocks(a.l.n, TNC_THREADS), TNC_THREADS, s, a.l, k,
                     to);
    return to;
}

/* Rows of neighbours that fit are a warp's; others are a block's, of a warp if they are short. */
template <class A, int kind>
static void norm_launch(cudaStream_t s, const tnc_norm &a) {
    const unsigned warps = tnc_blocks(a.l.lines, NORM_WARPS), threads = NORM_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (kind != TNC_LINE_ANY && a.l.n <= NORM_SHORT)
        TNC_LAUNCH((tnc_norm_warp<A, dense, NORM_SHORT / TNC_WARP>), warps, threads, s, a);
    else if (kind != TNC_LINE_ANY && a.l.n <= NORM_LONG)
        TNC_LAUNCH((tnc_norm_warp<A, dense, NORM_LONG / TNC_WARP>), warps, threads, s, a);
    else
        TNC_LAUNCH((tnc_norm_block<A, kind>), tnc_blocks(a.l.lines, 1),
                   a.l.n <= NORM_SHORT ? (unsigned)TNC_WARP : (unsigned)NORM_THREADS, s, a);
}
static int layer_norm_plan(tnc_norm *a, tn_frame *f) {
    TN_ARGS(layer_norm, args, f);
    return norm_plan(a, f, args->input, args->weight, args->bias, args->normalized_shape.n,
                     args->eps, false);
}
static bool layer_norm_prepare(tn_frame *f) {
    tnc_norm a;
    layer_norm_plan(&a, f);
    const int64_t bytes = norm_numbers_bytes(&a, 2) + norm_numbers_bytes(&a, 3);
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <class A>
static void norm_numbers_both(cudaStream_t s, tnc_norm *a, tn_frame *f) {
    char *room = (char *)f->scratch;
    a->weight = norm_numbers<A>(s, *a, 2, &room);
    a->bias = norm_numbers<A>(s, *a, 3, &room);
}
static void layer_norm_run(tn_frame *f) {
    tnc_norm a;
    cudaStream_t s = tnc_stream(f);
    const int kind = layer_norm_plan(&a, f);
    const bool wide = a.l.dtype[0] == TN_F64;
    if (!a.l.lines || !a.l.n) return;
    if (wide)
        norm_numbers_both<double>(s, &a, f);
    else
        norm_numbers_both<float>(s, &a, f);
    if (wide && kind == TNC_LINE_OWN)
        norm_launch<double, TNC_LINE_OWN>(s, a);
    else if (wide)
        norm_launch<double, TNC_LINE_ANY>(s, a);
    else if (kind == TNC_LINE_OWN)
        norm_launch<float, TNC_LINE_OWN>(s, a);
    else if (kind == TNC_LINE_F16)
        norm_launch<float, TNC_LINE_F16>(s, a);
    else if (kind == TNC_LINE_BF16)
        norm_launch<float, TNC_LINE_BF16>(s, a);
    else
        norm_launch<float, TNC_LINE_ANY>(s, a);
}

/* The plan of both kernels; scratch: mean and scale of the rows, weights,
 * then parts of the columns. */
static int norm_back_plan(tnc_norm *a, tnc_lanes *w, tn_frame *f) {
    TN_ARGS(layer_norm_backward, args, f);
    const int kind = norm_plan(a, f, args->input, args->weight, args->grad_out,
                               args->normalized_shape.n, args->eps, true);
    memset(w, 0, sizeof *w);
    w->p.columns = true;
    w->p.n = a->l.lines;
    w->p.width = w->p.width_out = 1;
    w->p.outer = a->l.n;
    w->p.nkeep = 1;
    w->p.keep[0] = a->l.n;
    w->p.keep_out[0] = 1;
    tnc_lanes_layout(w);
    for (int k = 0; k < 2; k++) {
        const tn_operand o = tn_operand_of(f->out[1 + k]);
        w->out[k] = o.at;
        w->out_dtype[k] = o.dtype;
    }
    return kind;
}
static int64_t norm_rows_bytes(const tnc_norm *a) { return (a->l.lines * 8 + 63) / 64 * 64; }
static bool layer_norm_backward_prepare(tn_frame *f) {
    tnc_norm a;
    tnc_lanes w;
    int64_t parts, bytes;
    norm_back_plan(&a, &w, f);
    if (!tnc_lanes_bytes(&w, (int64_t)sizeof(tnc_norm_sums), &parts) ||
        __builtin_add_overflow(parts, norm_rows_bytes(&a) + norm_numbers_bytes(&a, 2), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <int kind>
static void norm_back_launch(cudaStream_t s, const tnc_norm &a, const tnc_lanes &w) {
    const unsigned warps = tnc_blocks(a.l.lines, NORM_WARPS), threads = NORM_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (a.l.lines && kind != TNC_LINE_ANY && a.l.n <= NORM_SHORT)
        TNC_LAUNCH((tnc_norm_back_warp<dense, NORM_SHORT / TNC_WARP>), warps, threads, s, a);
    else if (a.l.lines && kind != TNC_LINE_ANY && a.l.n <= NORM_LONG)
        TNC_LAUNCH((tnc_norm_back_warp<dense, NORM_LONG / TNC_WARP>), warps, threads, s, a);
    else if (a.l.lines)
        TNC_LAUNCH((tnc_norm_back_block<kind>), tnc_blocks(a.l.lines, 1),
                   a.l.n <= NORM_SHORT ? (unsigned)TNC_WARP : (unsigned)NORM_THREADS, s, a);
    TNC_LAUNCH_PLAIN((tnc_norm_columns<kind>), tnc_blocks(w.results * w.blocks, 128), 128, s, a, w);
    tnc_reduce_trees(s, w, tnc_norm_weights());
}
static void layer_norm_backward_run(tn_frame *f) {
    tnc_norm a;
    tnc_lanes w;
    cudaStream_t s = tnc_stream(f);
    const int kind = norm_back_plan(&a, &w, f);
    if (!a.l.n) return;
    char *room = (char *)f->scratch + norm_rows_bytes(&a);
    a.rows = (float *)f->scratch;
    a.weight = norm_numbers<float>(s, a, 2, &room);
    w.parts = room;
    switch (kind) {
    case TNC_LINE_OWN: norm_back_launch<TNC_LINE_OWN>(s, a, w); break;
    case TNC_LINE_F16: norm_back_launch<TNC_LINE_F16>(s, a, w); break;
    case TNC_LINE_BF16: norm_back_launch<TNC_LINE_BF16>(s, a, w); break;
    default: norm_back_launch<TNC_LINE_ANY>(s, a, w);
    }
}

static const tn_device_row norm_table[] = {
    {"layer_norm", false, NULL, layer_norm_prepare, layer_norm_run},
    {"layer_norm_backward", false, NULL, layer_norm_backward_prepare, layer_norm_backward_run}};
TNC_FAMILY(norms, norm_table)
