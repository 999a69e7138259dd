/* running.cu - running extrema with their places, and running log-sums of exponentials, with the
 * CPU's bits (ops/reduction/running.c).
 *
 * A line is one chain in the order of its elements, and a thread follows it; where lines lie side
 * by side, neighbours read neighbours. Extrema may meet in any grouping: where a line's own
 * elements are neighbours, it is cut into pieces of 2048. */
#include "copy.cuh"
#include "families.cuh"
#include "lines.cuh"
#include "pieces.cuh"

/* --- extrema ---------------------------------------------------------------------------------- */

TNC_FN bool tnc_running_wins(double v, double best, bool least) {
    return (least ? v <= best : v >= best) || v != v;
}
TNC_FN bool tnc_running_wins(int64_t v, int64_t best, bool least) {
    return least ? v <= best : v >= best;
}
/* Tensors of the lines: 0 values, 1 their places, 2 the input. Of equal elements the last one
 * counts, and each NaN takes the place of all before. */
template <class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_running_extreme(tnc_lines l, bool least) {
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        const int64_t y = l.in_step[0][0], k = l.in_step[1][0], x = l.in_step[2][0];
        char *to = tnc_line_at(l, 0, line), *place = tnc_line_at(l, 1, line);
        const char *from = tnc_line_at(l, 2, line);
        A best = tnc_load_real<A>(from, l.dtype[2]);
        int64_t at = 0;
        for (int64_t i = 0; i < l.n; i++) {
            const A v = tnc_load_real<A>(from + i * x, l.dtype[2]);
            if (tnc_running_wins(v, best, least)) {
                best = v;
                at = i;
            }
            tnc_store_real(to + i * y, l.dtype[0], best);
            tnc_put<int64_t>(place + i * k, at);
        }
    }
}

/* The extreme of some elements; at -1: of none. */
template <class T>
struct tnc_running_best {
    T value;
    int64_t at;
};
template <class T>
struct tnc_running_meet {
    typedef tnc_running_best<T> A;
    bool least;
    TNC_FN A first() {
        const A none = {0, -1};
        return none;
    }
    __device__ __forceinline__ A meet(const A &a, const A &b) const {
        return b.at < 0 || (a.at >= 0 && !tnc_running_wins(b.value, a.value, least)) ? a : b;
    }
};
/* Pieces of lines: their totals, or (write) values and places behind what the pieces before them
 * have. */
template <class T, bool write>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_running_pieces(tnc_lines l, tnc_running_meet<T> op, tnc_running_best<T> *totals,
                       int64_t pieces) {
    typedef tnc_running_best<T> best;
    TNC_SHARED(best, held, TNC_THREADS);
    for (int64_t job = blockIdx.x; job < l.lines * pieces; job += gridDim.x) {
        const int64_t line = job / pieces,
                      begin = job % pieces * TNC_PIECE + threadIdx.x * TNC_PIECE_EACH;
        const char *x = tnc_line_at(l, 2, line);
        char *y = tnc_line_at(l, 0, line), *k = tnc_line_at(l, 1, line);
        best v[TNC_PIECE_EACH], a = op.first(), all, before;
        TNC_UNROLL
        for (int j = 0; j < TNC_PIECE_EACH; j++) {
            v[j] = op.first();
            if (begin + j >= l.n) continue;
            v[j].value = tnc_load_real<T>(x + (begin + j) * l.in_step[2][0], l.dtype[2]);
            v[j].at = begin + j;
            a = op.meet(a, v[j]);
        }
        before = tnc_piece_before(op, a, held, &all);
        if (!write && threadIdx.x == 0) totals[job] = all;
        if (!write) continue;
        if (pieces > 1) before = op.meet(totals[job], before);
        TNC_UNROLL
        for (int j = 0; j < TNC_PIECE_EACH; j++) {
            before = op.meet(before, v[j]);
            if (begin + j >= l.n) continue;
            tnc_store_real(y + (begin + j) * l.in_step[0][0], l.dtype[0], before.value);
            tnc_put<int64_t>(k + (begin + j) * l.in_step[1][0], before.at);
        }
    }
}

/* --- log-sums --------------------------------------------------------------------------------- */

/* What a line keeps: of complex numbers the sum so far; of real ones the largest so far and the sum
 * of e^(x - largest). */
struct tnc_running_pairs {
    tnc_c128 sum;
};
struct tnc_running_reals {
    double top, sum;
};
TNC_FN void tnc_running_begin(tnc_running_pairs &s, tnc_c128 x) { s.sum = x; }
TNC_FN void tnc_running_begin(tnc_running_reals &s, double x) {
    s.top = x;
    s.sum = x == x ? 1 : x;
}
TNC_FN tnc_c128 tnc_running_value(const tnc_running_pairs &s) { return s.sum; }
TNC_FN double tnc_running_value(const tnc_running_reals &s) {
    return tnc_log_f64::call(s.sum, s.sum, s.sum, NULL) + s.top;
}
TNC_FN void tnc_running_next(tnc_running_pairs &s, tnc_c128 x) {
    s.sum = tnc_logaddexp_c128::call(s.sum, x, s.sum, NULL);
}
/* Equal numbers have a difference of 0 though they be infinite. */
TNC_FN void tnc_running_next(tnc_running_reals &s, double x) {
    const double most = x >= s.top || x != x ? x : s.top, up = s.top == most ? 0 : s.top - most,
                 down = x == most ? 0 : x - most;
    s.sum = s.sum * tnc_exp_f64::call(up, up, up, NULL) + tnc_exp_f64::call(down, down, down, NULL);
    s.top = most;
}
/* Tensors of the lines: 0 the result, 1 the input. */
template <int type, class Running>
__global__ void __launch_bounds__(TNC_THREADS) tnc_running_exponents(tnc_lines l) {
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        const int64_t y = l.in_step[0][0], x = l.in_step[1][0];
        char *to = tnc_line_at(l, 0, line);
        const char *from = tnc_line_at(l, 1, line);
        Running state;
        tnc_running_begin(state, tnc_move<type>::load(from, l.dtype[1], l.dtype[1]));
        for (int64_t i = 0; i < l.n; i++) {
            if (i)
                tnc_running_next(state, tnc_move<type>::load(from + i * x, l.dtype[1], l.dtype[1]));
            tnc_move<type>::store(to + i * y, l.dtype[0], l.dtype[0], tnc_running_value(state));
        }
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static void running_plan(tnc_lines *l, tn_tensor *const *t, int n, int64_t dim) {
    const int ndim = (int)tn_ndim(t[0]);
    bool along[TN_MAX_DIMS] = {false};
    if (ndim) along[dim < 0 ? dim + ndim : dim] = true;
    tnc_lines_of(l, t, n, along);
}
/* The lines of an extreme; true: in pieces. */
static bool running_lines(tnc_lines *l, const tn_frame *f, int64_t dim) {
    tn_tensor *t[3] = {f->out[0], f->out[1], f->in[0]};
    running_plan(l, t, 3, dim);
    return l->in_step[2][0] == tnc_dtype_bytes(l->dtype[2]) && l->n > TNC_WARP;
}
static bool running_prepare(tn_frame *f, int64_t dim) {
    tnc_lines l;
    return !running_lines(&l, f, dim) ||
           tnc_piece_scratch(f, l.lines, l.n, (int64_t)sizeof(tnc_running_best<double>));
}
template <class T>
static void running_pieces(cudaStream_t s, const tnc_lines &l, void *scratch, bool least) {
    tnc_running_best<T> *totals = (tnc_running_best<T> *)scratch;
    const int64_t pieces = tnc_pieces_of(l.n);
    const unsigned blocks = tnc_blocks(l.lines * pieces, 1);
    tnc_running_meet<T> op;
    op.least = least;
    if (pieces > 1) {
        TNC_LAUNCH((tnc_running_pieces<T, false>), blocks, TNC_THREADS, s, l, op, totals, pieces);
        TNC_LAUNCH((tnc_piece_totals<tnc_running_meet<T>>), tnc_blocks(l.lines, 1), TNC_THREADS, s,
                   op, totals, l.lines, pieces);
    }
    TNC_LAUNCH((tnc_running_pieces<T, true>), blocks, TNC_THREADS, s, l, op, totals, pieces);
}
static void running_extreme(tn_frame *f, int64_t dim, bool least) {
    const tn_dtype dtype = tn_dtype_of(f->in[0]);
    const cudaStream_t s = tnc_stream(f);
    tnc_lines l;
    const bool pieces = running_lines(&l, f, dim), whole = tnc_reduce_compute(dtype) == TN_I64;
    if (!l.lines || !l.n) return;
    if (dtype == TN_C64 || dtype == TN_C128) { /* one number */
        const int64_t first = 0;
        tnc_elements(tn_frame_device(f), f->out[0], f->in[0]);
        tnc_fill(tn_frame_device(f), f->out[1], &first);
    } else if (pieces && whole) {
        running_pieces<int64_t>(s, l, f->scratch, least);
    } else if (pieces) {
        running_pieces<double>(s, l, f->scratch, least);
    } else if (whole) {
        TNC_LAUNCH_PLAIN((tnc_running_extreme<int64_t>), tnc_blocks(l.lines, TNC_THREADS),
                         TNC_THREADS, s, l, least);
    } else {
        TNC_LAUNCH_PLAIN((tnc_running_extreme<double>), tnc_blocks(l.lines, TNC_THREADS),
                         TNC_THREADS, s, l, least);
    }
}
static bool cummax_prepare(tn_frame *f) {
    TN_ARGS(cummax, a, f);
    return running_prepare(f, a->dim);
}
static void cummax_run(tn_frame *f) {
    TN_ARGS(cummax, a, f);
    running_extreme(f, a->dim, false);
}
static bool cummin_prepare(tn_frame *f) {
    TN_ARGS(cummin, a, f);
    return running_prepare(f, a->dim);
}
static void cummin_run(tn_frame *f) {
    TN_ARGS(cummin, a, f);
    running_extreme(f, a->dim, true);
}
static void logcumsumexp_run(tn_frame *f) {
    TN_ARGS(logcumsumexp, a, f);
    tn_tensor *t[2] = {f->out[0], f->in[0]};
    const cudaStream_t s = tnc_stream(f);
    tnc_lines l;
    running_plan(&l, t, 2, a->dim);
    if (!l.lines || !l.n) return;
    if (l.dtype[0] == TN_C64 || l.dtype[0] == TN_C128)
        TNC_LAUNCH_PLAIN((tnc_running_exponents<TNC_C128, tnc_running_pairs>),
                         tnc_blocks(l.lines, TNC_THREADS), TNC_THREADS, s, l);
    else
        TNC_LAUNCH_PLAIN((tnc_running_exponents<TNC_F64, tnc_running_reals>),
                         tnc_blocks(l.lines, TNC_THREADS), TNC_THREADS, s, l);
}

static const tn_device_row running_table[] = {
    {"cummax", false, NULL, cummax_prepare, cummax_run},
    {"cummin", false, NULL, cummin_prepare, cummin_run},
    {"logcumsumexp", false, NULL, NULL, logcumsumexp_run}};
TNC_FAMILY(running, running_table)
