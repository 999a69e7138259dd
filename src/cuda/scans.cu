/* scans.cu - running sums and products, and linear recurrences, with the CPU's bits
 * (ops/reduction/cumulative.c).
 *
 * Floats are chains in f64, each element rounded as it is written, so a thread has a line: where
 * lines lie side by side neighbours read neighbours; where a line's own elements do, a block takes
 * tiles of some lines through shared memory: one warp follows the chains while seven write the last
 * tile and read the next, side by side in any case. Integers may meet in any order: a long line is
 * cut into tiles of 2048, a block each, whose totals are scanned in between. */
#include "families.cuh"
#include "lines.cuh"
#include "pieces.cuh"

enum {
    SCAN_LINES = 32, /* short lines of a block; each has 2^5 elements in a tile */
    SCAN_LOG = 5,
    SCAN_FEW = 2, /* long lines: a fourth of them, and four times as wide */
    SCAN_THREADS = 256,
    SCAN_EACH = 8 /* elements that are read ahead of a chain */
};

/* Tensors of the lines: 0 is the result, 1 the input, 2 the factor of a recurrence. */
struct tnc_scan {
    tnc_lines l;
    int32_t beside; /* lines of a block */
    int32_t wide;   /* the logarithm of a tile's elements of one */
    bool reverse;   /* from the last element on */
    int64_t pieces; /* of a line of integers */
    int64_t *totals;
};

/* --- what meets ------------------------------------------------------------------------------- */

TNC_FN tnc_c128 tnc_scan_times(tnc_c128 a, tnc_c128 b) {
    const tnc_c128 v = {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
    return v;
}
TNC_FN double tnc_scan_times(double a, double b) { return a * b; }
TNC_FN int64_t tnc_scan_times(int64_t a, int64_t b) { return tnc_times(a, b); }
TNC_FN double tnc_scan_plus(double a, double b) { return a + b; }
TNC_FN int64_t tnc_scan_plus(int64_t a, int64_t b) { return tnc_plus(a, b); }
TNC_FN tnc_c128 tnc_scan_plus(tnc_c128 a, tnc_c128 b) {
    const tnc_c128 v = {a.re + b.re, a.im + b.im};
    return v;
}

template <class A>
struct tnc_scan_of {
    TNC_FN A set(double v) { return (A)v; }
    TNC_FN A get(const char *at, int dtype) { return tnc_load_real<A>(at, dtype); }
    TNC_FN void put(char *at, int dtype, A v) { tnc_store_real(at, dtype, v); }
};
template <>
struct tnc_scan_of<tnc_c128> {
    TNC_FN tnc_c128 set(double v) {
        const tnc_c128 z = {v, 0};
        return z;
    }
    TNC_FN tnc_c128 get(const char *at, int dtype) {
        return tnc_move<TNC_C128>::load(at, dtype, TN_C128);
    }
    TNC_FN void put(char *at, int dtype, tnc_c128 v) {
        tnc_move<TNC_C128>::store(at, dtype, TN_C128, v);
    }
};

/* step(a, x, factor, first): the running value after one more element. */
template <class T>
struct tnc_scan_sum {
    typedef T A;
    enum { factors = 0 };
    TNC_FN A first() { return tnc_scan_of<A>::set(0); }
    TNC_FN A meet(A a, A b) { return tnc_scan_plus(a, b); }
    TNC_FN A step(A a, A x, A, bool) { return meet(a, x); }
};
template <class T>
struct tnc_scan_prod {
    typedef T A;
    enum { factors = 0 };
    TNC_FN A first() { return tnc_scan_of<A>::set(1); }
    TNC_FN A meet(A a, A b) { return tnc_scan_times(a, b); }
    TNC_FN A step(A a, A x, A, bool) { return meet(a, x); }
};
template <class T>
struct tnc_scan_recurrence {
    typedef T A;
    enum { factors = 1 };
    TNC_FN A first() { return tnc_scan_of<A>::set(0); }
    TNC_FN A step(A a, A x, A factor, bool first) {
        return first ? x : tnc_scan_plus(tnc_scan_times(a, factor), x);
    }
};

/* --- chains ----------------------------------------------------------------------------------- */

/* Lines side by side: a thread each. */
template <class Op>
__global__ void __launch_bounds__(128) tnc_scan_columns(tnc_scan s) {
    typedef typename Op::A A;
    typedef tnc_scan_of<A> of;
    const tnc_lines &l = s.l;
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        const int64_t y = l.in_step[0][0], x = l.in_step[1][0], f = l.in_step[2][0],
                      back = s.reverse ? -1 : 1;
        int64_t i = s.reverse ? l.n - 1 : 0;
        char *to = tnc_line_at(l, 0, line);
        const char *from = tnc_line_at(l, 1, line), *factor = tnc_line_at(l, 2, line);
        A a = Op::first();
        for (int64_t k = 0; k < l.n; k++, i += back) {
            A by = Op::first();
            if (Op::factors && k) by = of::get(factor + (s.reverse ? i + 1 : i) * f, l.dtype[2]);
            a = Op::step(a, of::get(from + i * x, l.dtype[1]), by, k == 0);
            of::put(to + i * y, l.dtype[0], a);
        }
    }
}

/* n elements of a line in a tile; `begins`: they are its first. */
template <class Op, class A>
TNC_FN void tnc_scan_follow(A *cell, const A *factor, int n, bool begins, A *state) {
    A a = *state;
    for (int k = 0; k < n; k += SCAN_EACH) {
        A x[SCAN_EACH], by[SCAN_EACH];
        TNC_UNROLL
        for (int j = 0; j < SCAN_EACH; j++) {
            x[j] = by[j] = Op::first();
            if (k + j < n) x[j] = cell[k + j];
            if (Op::factors && k + j < n && !(begins && k + j == 0)) by[j] = factor[k + j];
        }
        TNC_UNROLL
        for (int j = 0; j < SCAN_EACH; j++) {
            if (k + j >= n) break;
            a = Op::step(a, x[j], by[j], begins && k + j == 0);
            cell[k + j] = a;
        }
    }
    *state = a;
}
/* Lines whose elements are neighbours: a block has some of them, and tiles of `wide` elements of
 * each. Thread t of the first warp follows line t through a tile, while the other warps write what
 * it has made of the last one and bring the next in its place. */
template <class Op>
__global__ void __launch_bounds__(SCAN_THREADS) tnc_scan_lines(tnc_scan s) {
    typedef typename Op::A A;
    typedef tnc_scan_of<A> of;
    enum {
        ROOM = SCAN_LINES * ((1 << (SCAN_LOG - Op::factors)) + 1), /* of a tile */
        HELPERS = SCAN_THREADS - TNC_WARP
    };
    TNC_SHARED(A, tile, 2 * ROOM);
    TNC_SHARED(A, factors, Op::factors ? 2 * ROOM : 1);
    TNC_SHARED(char *, begin, SCAN_LINES * 3);
    const tnc_lines &l = s.l;
    const int t = (int)threadIdx.x, wide = 1 << s.wide;
    const int64_t y = l.in_step[0][0], x = l.in_step[1][0], f = l.in_step[2][0],
                  tiles = (l.n + wide - 1) / wide;
    for (int64_t first = (int64_t)blockIdx.x * s.beside; first < l.lines;
         first += (int64_t)gridDim.x * s.beside) {
        const int lines = (int)(l.lines - first < s.beside ? l.lines - first : s.beside);
        A a = Op::first();
        for (int i = t; i < 3 * lines; i += SCAN_THREADS)
            begin[i] = tnc_line_at(l, i % 3, first + i / 3);
        __syncthreads();
        /* Step b: tile b is followed, tile b - 1 written, tile b + 1 read. */
        for (int64_t b = -1; b <= tiles; b++) {
            const int now = b & 1 ? (int)ROOM : 0, other = (int)ROOM - now;
            if (t < lines && b >= 0 && b < tiles) {
                const int64_t left = l.n - b * wide;
                const int at = now + t * (wide + 1);
                tnc_scan_follow<Op, A>(tile + at, factors + (Op::factors ? at : 0),
                                       left < wide ? (int)left : wide, b == 0, &a);
            }
            for (int e = t - TNC_WARP; e >= 0 && e < lines << s.wide; e += HELPERS) {
                const int r = e >> s.wide, c = e & (wide - 1), at = other + r * (wide + 1) + c;
                const int64_t old = (b - 1) * wide + c, k = (b + 1) * wide + c;
                /* element k of the chain is element i of the line */
                const int64_t i = s.reverse ? l.n - 1 - k : k;
                if (b >= 1 && old < l.n)
                    of::put(begin[3 * r] + (s.reverse ? l.n - 1 - old : old) * y, l.dtype[0],
                            tile[at]);
                if (k >= l.n) continue;
                tile[at] = of::get(begin[3 * r + 1] + i * x, l.dtype[1]);
                if (Op::factors && k)
                    factors[Op::factors ? at : 0] =
                        of::get(begin[3 * r + 2] + (s.reverse ? i + 1 : i) * f, l.dtype[2]);
            }
            __syncthreads();
        }
    }
}

/* --- integers --------------------------------------------------------------------------------- */

/* Pieces of lines: their totals, or (write) their running values behind what the pieces before them
 * make. */
template <class Op, bool write>
__global__ void __launch_bounds__(TNC_THREADS) tnc_scan_pieces(tnc_scan s) {
    TNC_SHARED(int64_t, held, TNC_THREADS);
    const tnc_lines &l = s.l;
    const int64_t jobs = l.lines * s.pieces;
    for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const int64_t line = job / s.pieces,
                      begin = job % s.pieces * TNC_PIECE + threadIdx.x * TNC_PIECE_EACH;
        const char *x = tnc_line_at(l, 1, line);
        char *y = tnc_line_at(l, 0, line);
        int64_t v[TNC_PIECE_EACH], a = Op::first(), all, before;
        TNC_UNROLL
        for (int j = 0; j < TNC_PIECE_EACH; j++) {
            v[j] = begin + j < l.n
                       ? tnc_load_real<int64_t>(x + (begin + j) * l.in_step[1][0], l.dtype[1])
                       : Op::first();
            a = Op::meet(a, v[j]);
        }
        before = tnc_piece_before(Op(), a, held, &all);
        if (!write && threadIdx.x == 0) s.totals[job] = all;
        if (!write) continue;
        if (s.pieces > 1) before = Op::meet(s.totals[job], before);
        TNC_UNROLL
        for (int j = 0; j < TNC_PIECE_EACH; j++) {
            before = Op::meet(before, v[j]);
            if (begin + j < l.n)
                tnc_store_real(y + (begin + j) * l.in_step[0][0], l.dtype[0], before);
        }
    }
}
/* --- rows ------------------------------------------------------------------------------------- */

/* The lines of x along dim; true: they lie side by side. */
static bool scan_plan(tnc_scan *s, const tn_frame *f, tn_tensor *factor, int64_t dim,
                      bool reverse) {
    tn_tensor *t[3] = {f->out[0], f->in[0], factor};
    const int ndim = (int)tn_ndim(f->in[0]);
    bool along[TN_MAX_DIMS] = {false};
    if (ndim) along[dim < 0 ? dim + ndim : dim] = true;
    memset(s, 0, sizeof *s);
    tnc_lines_of(&s->l, t, factor ? 3 : 2, along);
    s->reverse = reverse;
    s->pieces = tnc_pieces_of(s->l.n);
    return s->l.in_step[1][0] != tnc_dtype_bytes(s->l.dtype[1]);
}
static bool scan_is_complex(const tnc_scan &s) {
    return s.l.dtype[0] == TN_C64 || s.l.dtype[0] == TN_C128;
}
/* Integers in lines of their own are scanned in pieces, unless lines are short. */
static bool scan_in_pieces(const tnc_scan &s, bool columns) {
    return !columns && tnc_reduce_compute(s.l.dtype[0]) == TN_I64 && s.l.n > 1 << SCAN_LOG;
}
static bool scan_prepare(tn_frame *f, int64_t dim) {
    tnc_scan s;
    const bool columns = scan_plan(&s, f, NULL, dim, false);
    return !scan_in_pieces(s, columns) || tnc_piece_scratch(f, s.l.lines, s.l.n, 8);
}
template <class Op>
static void scan_chains(cudaStream_t stream, tnc_scan s, bool columns) {
    const int few = s.l.n > 2 << SCAN_LOG ? SCAN_FEW : 0;
    s.beside = SCAN_LINES >> few;
    s.wide = SCAN_LOG + few - Op::factors;
    if (columns)
        TNC_LAUNCH_PLAIN((tnc_scan_columns<Op>), tnc_blocks(s.l.lines, 128), 128, stream, s);
    else
        TNC_LAUNCH((tnc_scan_lines<Op>), tnc_blocks(s.l.lines, s.beside), SCAN_THREADS, stream, s);
}
template <class Op>
static void scan_pieces(cudaStream_t stream, const tnc_scan &s) {
    const unsigned blocks = tnc_blocks(s.l.lines * s.pieces, 1);
    if (s.pieces > 1) {
        TNC_LAUNCH((tnc_scan_pieces<Op, false>), blocks, TNC_THREADS, stream, s);
        TNC_LAUNCH((tnc_piece_totals<Op>), tnc_blocks(s.l.lines, 1), TNC_THREADS, stream, Op(),
                   s.totals, s.l.lines, s.pieces);
    }
    TNC_LAUNCH((tnc_scan_pieces<Op, true>), blocks, TNC_THREADS, stream, s);
}
template <template <class> class Op>
static void scan_run(tn_frame *f, int64_t dim) {
    tnc_scan s;
    const bool columns = scan_plan(&s, f, NULL, dim, false);
    cudaStream_t stream = tnc_stream(f);
    if (!s.l.lines || !s.l.n) return;
    s.totals = (int64_t *)f->scratch;
    if (scan_is_complex(s))
        scan_chains<Op<tnc_c128>>(stream, s, columns);
    else if (scan_in_pieces(s, columns))
        scan_pieces<Op<int64_t>>(stream, s);
    else if (tnc_reduce_compute(s.l.dtype[0]) == TN_I64)
        scan_chains<Op<int64_t>>(stream, s, columns);
    else
        scan_chains<Op<double>>(stream, s, columns);
}

static bool cumsum_prepare(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    return scan_prepare(f, a->dim);
}
static void cumsum_run(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    scan_run<tnc_scan_sum>(f, a->dim);
}
static bool cumprod_prepare(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    return scan_prepare(f, a->dim);
}
static void cumprod_run(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    scan_run<tnc_scan_prod>(f, a->dim);
}
static void linear_recurrence_run(tn_frame *f) {
    TN_ARGS(linear_recurrence, a, f);
    tnc_scan s;
    const bool columns = scan_plan(&s, f, f->in[1], a->dim, a->reverse);
    if (!s.l.lines || !s.l.n) return;
    if (scan_is_complex(s))
        scan_chains<tnc_scan_recurrence<tnc_c128>>(tnc_stream(f), s, columns);
    else
        scan_chains<tnc_scan_recurrence<double>>(tnc_stream(f), s, columns);
}

static const tn_device_row scan_table[] = {
    {"cumsum", false, NULL, cumsum_prepare, cumsum_run},
    {"cumprod", false, NULL, cumprod_prepare, cumprod_run},
    {"linear_recurrence", false, NULL, NULL, linear_recurrence_run}};
TNC_FAMILY(scans, scan_table)
