/* moves.cu - rows that move elements and are no copies of whole tensors: reversed dimensions,
 * triangles, conjugates, sums into a view by strides. (cat, repeat, eye are copies and fills:
 * TN_MOVES.)
 *
 * Triangles: a warp a row of a matrix, its lanes side by side along the columns. Conjugates: a
 * thread an element. Sums: a thread a destination, which finds what is added to it in the CPU's
 * order, so there is no atomic. */
#include "copy.cuh"
#include "elements.cuh"
#include "families.cuh"

/* --- triangles -------------------------------------------------------------------------------- */

/* Matrices of rows x cols; steps in bytes. */
struct tnc_triangle {
    char *to;
    const char *from;
    int64_t heads, rows, cols, diagonal, to_row, to_col, from_row, from_col;
    int32_t nhead;
    bool lower;
    int64_t size[TN_MAX_DIMS], to_head[TN_MAX_DIMS], from_head[TN_MAX_DIMS];
};

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_triangle_kernel(tnc_triangle a) {
    const int lane = (int)(threadIdx.x % 32);
    const E zero = {};
    for (int64_t job = TNC_FIRST() / 32; job < a.heads * a.rows; job += TNC_STEP() / 32) {
        const int64_t r = job % a.rows;
        char *to = a.to + r * a.to_row;
        const char *from = a.from + r * a.from_row;
        int64_t head = job / a.rows;
        for (int d = a.nhead - 1; d >= 0; d--) {
            to += head % a.size[d] * a.to_head[d];
            from += head % a.size[d] * a.from_head[d];
            head /= a.size[d];
        }
        /* Columns left of `cut` belong to the lower triangle. The bounds come first, so that no sum
         * with a huge diagonal overflows. */
        const int64_t cut = a.diagonal > a.cols    ? a.cols
                            : a.diagonal < -a.rows ? 0
                                                   : r + a.diagonal + a.lower;
        for (int64_t c = lane; c < a.cols; c += 32)
            *(E *)(to + c * a.to_col) =
                (c < cut) == a.lower ? *(const E *)(from + c * a.from_col) : zero;
    }
}

static void moves_triangle(tn_frame *f, int64_t diagonal, bool lower) {
    const tn_operand out = tn_operand_of(f->out[0]), x = tn_operand_of(f->in[0]);
    const int n = out.ndim - 2;
    cudaStream_t s = tnc_stream(f);
    tnc_triangle a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.to = out.at;
    a.from = x.at;
    a.rows = out.size[n];
    a.cols = out.size[n + 1];
    a.heads = out.numel / a.rows / a.cols;
    a.diagonal = diagonal;
    a.lower = lower;
    a.to_row = out.stride[n] * out.bytes;
    a.to_col = out.stride[n + 1] * out.bytes;
    a.from_row = x.stride[n] * x.bytes;
    a.from_col = x.stride[n + 1] * x.bytes;
    a.nhead = n;
    for (int d = 0; d < n; d++) {
        a.size[d] = out.size[d];
        a.to_head[d] = out.stride[d] * out.bytes;
        a.from_head[d] = x.stride[d] * x.bytes;
    }
    const unsigned blocks = tnc_blocks(a.heads * a.rows, TNC_THREADS / 32);
    switch (out.bytes) {
    case 1: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint8_t>), blocks, TNC_THREADS, s, a); break;
    case 2: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint16_t>), blocks, TNC_THREADS, s, a); break;
    case 4: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint32_t>), blocks, TNC_THREADS, s, a); break;
    case 8: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint64_t>), blocks, TNC_THREADS, s, a); break;
    default: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<tnc_pair>), blocks, TNC_THREADS, s, a);
    }
}
static void moves_tril(tn_frame *f) {
    TN_ARGS(tril, a, f);
    moves_triangle(f, a->diagonal, true);
}
static void moves_triu(tn_frame *f) {
    TN_ARGS(triu, a, f);
    moves_triangle(f, a->diagonal, false);
}

/* --- reversed dimensions ---------------------------------------------------------------------- */

/* A move by strides of which some are negative. */
static void moves_flip(tn_frame *f) {
    TN_ARGS(flip, a, f);
    const tn_operand out = tn_operand_of(f->out[0]), x = tn_operand_of(f->in[0]);
    int64_t step[TN_MAX_DIMS];
    tn_walk_plan p;
    memset(&p, 0, sizeof p);
    p.n = 2;
    p.numel = out.numel;
    p.at[0] = out.at;
    p.at[1] = x.at;
    if (!out.numel) return;
    for (int d = 0; d < x.ndim; d++) step[d] = x.stride[d] * x.bytes;
    for (int64_t i = 0; i < a->dims.n && x.ndim; i++) {
        const int64_t d = a->dims.at[i] < 0 ? a->dims.at[i] + x.ndim : a->dims.at[i];
        p.at[1] += (x.size[d] - 1) * step[d];
        step[d] = -step[d];
    }
    /* The result's smallest strides are the innermost. */
    for (int d = x.ndim - 1; d >= 0; d--) {
        const int64_t to = out.stride[d] * out.bytes;
        int at = p.ndim++;
        for (; at > 0 && p.stride[0][at - 1] > to; at--) {
            p.size[at] = p.size[at - 1];
            for (int k = 0; k < 2; k++) p.stride[k][at] = p.stride[k][at - 1];
        }
        p.size[at] = x.size[d];
        p.stride[0][at] = to;
        p.stride[1][at] = step[d];
    }
    if (!p.ndim) p.size[p.ndim++] = 1;
    tnc_move_by(tnc_stream(f), p, out.bytes);
}

/* --- conjugates ------------------------------------------------------------------------------- */

template <class Z>
__global__ void __launch_bounds__(TNC_THREADS) tnc_conj_kernel(tnc_walk<2> w) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        Z z = *(const Z *)(w.at[1] + at[1]);
        z.im = -z.im;
        *(Z *)(w.at[0] + at[0]) = z;
    }
}

/* Of a real tensor the result is a view. */
static void moves_conj(tn_frame *f) {
    const int dtype = (int)tn_dtype_of(f->out[0]);
    tn_tensor *both[2] = {f->out[0], f->in[0]};
    cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    if (dtype != TN_C64 && dtype != TN_C128) return;
    tn_walk_plan_of(&p, both, 2);
    tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        if (dtype == TN_C64)
            TNC_LAUNCH_PLAIN((tnc_conj_kernel<tnc_c64>), blocks, TNC_THREADS, s, w);
        else
            TNC_LAUNCH_PLAIN((tnc_conj_kernel<tnc_c128>), blocks, TNC_THREADS, s, w);
    });
}

/* --- sums into a view by strides -------------------------------------------------------------- */

/* The view, dimensions in the order in which a destination looks for its elements: `reach` is how
 * far dimension d and those behind it go. Strides and reaches in elements of the destination. */
struct tnc_strided {
    char *to;
    const char *from;
    int64_t extent;
    int32_t n, dtype, bytes;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], from_step[TN_MAX_DIMS];
    int64_t reach[TN_MAX_DIMS + 1];
};

/* The indices of one dimension that lead `rest` elements on: from `first` to `last`. */
struct tnc_strided_level {
    int64_t rest, first, last, from;
};
TNC_FN tnc_strided_level tnc_strided_enter(const tnc_strided &a, int d, int64_t rest,
                                           int64_t from) {
    tnc_strided_level l = {rest, 0, a.size[d] - 1, from};
    const int64_t left = rest - a.reach[d + 1], stride = a.stride[d];
    if (stride == 0) {
        if (left > 0) l.last = -1;
        return l;
    }
    if (left > 0) l.first = (left + stride - 1) / stride;
    if (rest / stride < l.last) l.last = rest / stride;
    return l;
}

TNC_FN float tnc_strided_sum(float a, float b, int dtype) { return tnc_through(a + b, dtype); }
TNC_FN double tnc_strided_sum(double a, double b, int) { return a + b; }
TNC_FN int64_t tnc_strided_sum(int64_t a, int64_t b, int dtype) { /* wraps where it is stored */
    return dtype == TN_BOOL ? (int64_t)(a || b) : (int64_t)((uint64_t)a + (uint64_t)b);
}

template <class V>
__global__ void __launch_bounds__(TNC_THREADS) tnc_strided_kernel(tnc_strided a) {
    for (int64_t p = TNC_FIRST(); p < a.extent; p += TNC_STEP()) {
        tnc_strided_level level[TN_MAX_DIMS];
        char *to = a.to + p * a.bytes;
        bool any = false;
        V sum = 0;
        level[0] = tnc_strided_enter(a, 0, p, 0);
        for (int d = 0; d >= 0;) {
            tnc_strided_level &l = level[d];
            const int64_t i = l.first, from = l.from + i * a.from_step[d];
            if (i > l.last) {
                d--;
                continue;
            }
            l.first++;
            if (d + 1 < a.n) {
                level[d + 1] = tnc_strided_enter(a, d + 1, l.rest - i * a.stride[d], from);
                d++;
                continue;
            }
            if (!any) sum = tnc_load_real<V>(to, a.dtype);
            any = true;
            sum = tnc_strided_sum(sum, tnc_load_real<V>(a.from + from, a.dtype), a.dtype);
        }
        if (any) tnc_store_real(to, a.dtype, sum);
    }
}

static int64_t moves_gcd(int64_t a, int64_t b) {
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How many dimensions of `by`, which are sorted by falling stride and have none of 0, must keep
 * their order. All elements that meet in a destination have the same indices in the others, which
 * do not overlap among themselves and stay within the steps of the first ones. */
static int moves_ordered(const int64_t *size, const int64_t *stride, const int *by, int n) {
    int64_t reach = 0;
    int k = n, ordered = n;
    while (k > 0 && stride[by[k - 1]] > reach) {
        int64_t step = 0;
        k--;
        reach += (size[by[k]] - 1) * stride[by[k]];
        for (int d = 0; d < k; d++) step = moves_gcd(step, stride[by[d]]);
        if (k == 0 || reach < step) ordered = k;
    }
    return ordered;
}

/* Dimension d of src becomes the next of a. */
static void moves_level(tnc_strided *a, const tn_operand &src, const int64_t *stride, int d) {
    a->size[a->n] = src.size[d];
    a->stride[a->n] = stride[d];
    a->from_step[a->n++] = src.stride[d] * src.bytes;
}

/* Row-major order, but for dimensions whose order does not matter: these come last, the smallest
 * stride innermost, so that a destination finds its elements at once. */
static void moves_strided_of(tnc_strided *a, const tn_operand &src, const int64_t *stride) {
    int by[TN_MAX_DIMS], n = 0, ordered;
    bool last[TN_MAX_DIMS] = {false};
    for (int d = 0; d < src.ndim; d++) {
        int at = n;
        if (src.size[d] == 1 || stride[d] == 0) continue;
        for (; at > 0 && stride[by[at - 1]] < stride[d]; at--) by[at] = by[at - 1];
        by[at] = d;
        n++;
    }
    ordered = moves_ordered(src.size, stride, by, n);
    for (int k = ordered; k < n; k++) last[by[k]] = true;
    for (int d = 0; d < src.ndim; d++)
        if (src.size[d] != 1 && !last[d]) moves_level(a, src, stride, d);
    for (int k = ordered; k < n; k++) moves_level(a, src, stride, by[k]);
    if (!a->n) a->size[a->n++] = 1; /* one element */
    a->reach[a->n] = 0;
    for (int d = a->n - 1; d >= 0; d--)
        a->reach[d] = a->reach[d + 1] + (a->size[d] - 1) * a->stride[d];
    a->extent = a->reach[0] + 1;
}

static void moves_strided_add(cudaStream_t s, const tnc_strided &a) {
    const unsigned blocks = tnc_blocks(a.extent, TNC_THREADS);
    switch (a.dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32: TNC_LAUNCH_PLAIN((tnc_strided_kernel<float>), blocks, TNC_THREADS, s, a); break;
    case TN_F64: TNC_LAUNCH_PLAIN((tnc_strided_kernel<double>), blocks, TNC_THREADS, s, a); break;
    default: TNC_LAUNCH_PLAIN((tnc_strided_kernel<int64_t>), blocks, TNC_THREADS, s, a);
    }
}

/* Without accumulate the row's own run is made of copies. */
static void moves_as_strided_scatter(tn_frame *f) {
    TN_ARGS(as_strided_scatter, args, f);
    const tn_operand out = tn_operand_of(f->out[0]), src = tn_operand_of(f->in[1]);
    const bool complex = out.dtype == TN_C64 || out.dtype == TN_C128;
    tnc_strided a;
    if (!args->accumulate) {
        f->row->run(f);
        return;
    }
    tnc_elements(tn_frame_device(f), f->out[0], f->in[0]);
    if (!src.numel) return;
    memset(&a, 0, sizeof a);
    moves_strided_of(&a, src, args->stride.at);
    /* Places count from self's first element, so from the result's. */
    a.bytes = out.bytes;
    a.to = out.at;
    if (args->storage_offset != TN_NONE)
        a.to += (args->storage_offset - tn_storage_offset(f->in[0])) * out.bytes;
    a.from = src.at;
    a.dtype = complex ? out.dtype == TN_C64 ? (int)TN_F32 : (int)TN_F64 : (int)out.dtype;
    for (int part = 0; part < 1 + complex; part++) { /* real parts, then imaginary ones */
        moves_strided_add(tnc_stream(f), a);
        a.to += out.bytes / 2;
        a.from += out.bytes / 2;
    }
}

static const tn_device_row moves_table[] = {
    {"flip", false, NULL, NULL, moves_flip},
    {"tril", false, NULL, NULL, moves_tril},
    {"triu", false, NULL, NULL, moves_triu},
    {"conj", false, NULL, NULL, moves_conj},
    {"as_strided_scatter", false, NULL, NULL, moves_as_strided_scatter}};
TNC_FAMILY(moves, moves_table)
