/* segments.cu - reductions of segments in the order of their elements, keys of sparse indices and
 * keys that differ from the one before, with the CPU's bits (ops/reduction/segment.c,
 * ops/indexing/sparse.c). Lengths, offsets and indices are looked at on the host first. */
#include "chosen.cuh"
#include "copy.cuh"
#include "families.cuh"
#include "here.cuh"
#include "lines.cuh"
#include "memory.cuh"

/* --- segments --------------------------------------------------------------------------------- */

enum { TNC_SEGMENT_SUM, TNC_SEGMENT_MEAN, TNC_SEGMENT_PROD, TNC_SEGMENT_MAX, TNC_SEGMENT_MIN };
struct tnc_segments {
    const char *from, *places; /* places: where each segment begins and ends */
    char *to;
    int64_t step; /* bytes between elements of a segment */
    double first;
    int way, dtype;
    bool given; /* a first number */
};

/* A thread a line of lengths or offsets: begin and end of each segment, pair after pair. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_segment_places(tnc_lines l, bool ends, int64_t segments, int64_t *to) {
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        const char *at = tnc_line_at(l, 0, line);
        const int64_t step = l.in_step[0][0];
        int64_t end = ends ? tnc_load_real<int64_t>(at, l.dtype[0]) : 0;
        for (int64_t s = 0; s < segments; s++) {
            const int64_t begin = end,
                          v = tnc_load_real<int64_t>(at + (s + ends) * step, l.dtype[0]);
            end = ends ? v : begin + v;
            to[2 * (line * segments + s)] = begin;
            to[2 * (line * segments + s) + 1] = end;
        }
    }
}

TNC_FN double tnc_segment_step(double a, double b, int way) {
    switch (way) {
    case TNC_SEGMENT_PROD: return a * b;
    case TNC_SEGMENT_MAX: return b != b || b > a ? b : a; /* a NaN stays */
    case TNC_SEGMENT_MIN: return b != b || b < a ? b : a;
    default: return a + b;
    }
}
/* A thread an element of the result: operands 0 the result, 1 the data, 2 the places. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_segment_kernel(tnc_far<3> w, tnc_segments g) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        tnc_far_to(w, i, at);
        const int64_t begin = tnc_get<int64_t>(g.places + at[2]),
                      end = tnc_get<int64_t>(g.places + at[2] + 8), n = end - begin;
        double v = g.first;
        for (int64_t k = begin; k < end; k++) {
            const double e = tnc_load_real<double>(g.from + at[1] + k * g.step, g.dtype);
            v = tnc_segment_step(v, e, g.way);
            if (g.dtype != TN_F64) v = (double)(float)v;
        }
        if (g.way == TNC_SEGMENT_MEAN && n) v /= (double)n;
        if (g.way == TNC_SEGMENT_MEAN && !n && !g.given) v = (double)NAN;
        tnc_store_real(g.to + at[0], g.dtype, v);
    }
}

static int segment_way(const char *word) {
    if (!strcmp(word, "sum")) return TNC_SEGMENT_SUM;
    if (!strcmp(word, "mean")) return TNC_SEGMENT_MEAN;
    if (!strcmp(word, "prod")) return TNC_SEGMENT_PROD;
    return strstr(word, "max") ? TNC_SEGMENT_MAX : TNC_SEGMENT_MIN;
}
static double segment_first(const tn_scalar &s, int way, int dtype) {
    if (s.kind != TN_KIND_NONE) {
        const double v = s.kind == TN_KIND_FLOAT ? s.real : (double)s.integer;
        return dtype == TN_F64 ? v : (double)(float)v;
    }
    if (way == TNC_SEGMENT_MAX || way == TNC_SEGMENT_MIN)
        return way == TNC_SEGMENT_MAX ? -HUGE_VAL : HUGE_VAL;
    return way == TNC_SEGMENT_PROD;
}

enum { SEGMENT_DATA, SEGMENT_LENGTHS, SEGMENT_INDICES, SEGMENT_OFFSETS };
static bool segment_reduce_look(tn_frame *f) {
    return tnc_here_look(f, 1u << SEGMENT_LENGTHS | 1u << SEGMENT_OFFSETS);
}
static bool segment_reduce_prepare(tn_frame *f) {
    TN_ARGS(segment_reduce, a, f);
    const tn_operand y = tn_operand_of(f->out[0]);
    int64_t bytes = 16;
    if (!y.numel) return true;
    for (int i = 0; i <= tnc_dim(a->axis, y.ndim); i++) bytes *= y.size[i];
    return tn_device_scratch(f, bytes) != NULL;
}
static void segment_reduce_run(tn_frame *f) {
    TN_ARGS(segment_reduce, a, f);
    const tn_operand x = tn_operand_of(f->in[SEGMENT_DATA]), y = tn_operand_of(f->out[0]);
    const bool ends = f->in[SEGMENT_OFFSETS] != NULL;
    tn_tensor *by = f->in[ends ? SEGMENT_OFFSETS : SEGMENT_LENGTHS];
    const int axis = tnc_dim(a->axis, y.ndim);
    const cudaStream_t s = tnc_stream(f);
    bool along[TN_MAX_DIMS] = {false};
    int64_t pair = 16, step[TN_MAX_DIMS];
    tn_walk_plan p;
    tnc_segments g;
    tnc_lines l;
    if (!y.numel) return;
    along[axis] = true;
    tnc_lines_of(&l, &by, 1, along);
    TNC_LAUNCH_PLAIN(tnc_segment_places, tnc_blocks(l.lines, TNC_THREADS), TNC_THREADS, s, l, ends,
                     y.size[axis], (int64_t *)f->scratch);
    for (int i = y.ndim - 1; i >= 0; i--) {
        step[i] = i > axis ? 0 : pair;
        if (i <= axis) pair *= y.size[i];
    }
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < y.ndim; i++)
        tnc_plan_within(&p, y.size[i], y.stride[i] * y.bytes, i == axis ? 0 : x.stride[i] * x.bytes,
                        step[i]);
    memset(&g, 0, sizeof g);
    g.from = x.at;
    g.places = (const char *)f->scratch;
    g.to = y.at;
    g.step = x.stride[axis] * x.bytes;
    g.way = segment_way(a->reduce);
    g.dtype = x.dtype;
    g.first = segment_first(a->initial, g.way, x.dtype);
    g.given = a->initial.kind != TN_KIND_NONE;
    TNC_LAUNCH_PLAIN(tnc_segment_kernel, tnc_blocks(p.numel, TNC_THREADS), TNC_THREADS, s,
                     tnc_far_of<3>(p), g);
}

/* --- keys of sparse indices ------------------------------------------------------------------- */

struct tnc_keys {
    const char *at;
    int64_t n, down, along; /* bytes to the next row, and within one */
    int32_t ndim, dtype;
    int64_t size[TN_MAX_DIMS];
};
static __global__ void __launch_bounds__(TNC_THREADS) tnc_keys_kernel(tnc_keys k, int64_t *to) {
    for (int64_t i = TNC_FIRST(); i < k.n; i += TNC_STEP()) {
        int64_t key = 0;
        for (int d = 0; d < k.ndim; d++)
            key =
                key * k.size[d] + tnc_load_real<int64_t>(k.at + d * k.down + i * k.along, k.dtype);
        to[i] = key;
    }
}
static bool sparse_keys_look(tn_frame *f) { return tnc_here_look(f, 1); }
static void sparse_keys_run(tn_frame *f) {
    TN_ARGS(sparse_keys, a, f);
    const tn_operand x = tn_operand_of(f->in[0]), y = tn_operand_of(f->out[0]);
    tnc_keys k;
    if (!y.numel) return;
    memset(&k, 0, sizeof k);
    k.at = x.at;
    k.n = y.numel;
    k.down = x.stride[0] * x.bytes;
    k.along = x.stride[1] * x.bytes;
    k.ndim = (int32_t)x.size[0];
    k.dtype = x.dtype;
    for (int d = 0; d < k.ndim; d++) k.size[d] = a->size.at[d];
    TNC_LAUNCH_PLAIN(tnc_keys_kernel, tnc_blocks(k.n, TNC_THREADS), TNC_THREADS, tnc_stream(f), k,
                     (int64_t *)y.at);
}

/* Whether each of n keys differs from the one before. */
static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_keys_differ(const char *at, int64_t step, int64_t n, uint8_t *to) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP())
        to[i] = !i || tnc_get<int64_t>(at + i * step) != tnc_get<int64_t>(at + (i - 1) * step);
}
struct tnc_keys_sink {
    const char *from;
    int64_t *to, *group;
    TNC_FN void hit(const tnc_keys_sink &s, const int64_t *at, int64_t i, int64_t rank) {
        s.to[rank] = tnc_get<int64_t>(s.from + at[1]);
        s.group[i] = rank;
    }
    TNC_FN void miss(const tnc_keys_sink &s, const int64_t *, int64_t i, int64_t rank) {
        s.group[i] = rank - 1;
    }
};
/* Those of x that differ, which go to `mask`, a byte each; the walk's operand 1 is x. */
static tnc_chosen keys_differ(cudaStream_t s, const tn_operand &x, char *mask) {
    const int64_t step = x.stride[0] * x.bytes;
    tn_operand m = x;
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    tnc_plan_within(&p, x.numel, 1, step, 0);
    m.at = mask;
    m.dtype = TN_BOOL;
    TNC_LAUNCH_PLAIN(tnc_keys_differ, tnc_blocks(x.numel, TNC_THREADS), TNC_THREADS, s, x.at, step,
                     x.numel, (uint8_t *)mask);
    return tnc_chosen_of(p, m);
}
static bool sparse_distinct_look(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]);
    const int32_t device = tn_frame_device(f);
    char *mask;
    bool ok;
    f->count = 0;
    if (!x.numel) return true;
    mask = (char *)tnc_alloc_for(f, x.numel);
    if (!mask) return false;
    ok = tnc_chosen_look(f, keys_differ(tnc_stream(f), x, mask), &f->count);
    tnc_free(device, mask);
    return ok;
}
/* Counts of tiles, and the mask behind them. */
static bool sparse_distinct_prepare(tn_frame *f) {
    const int64_t n = tn_numel(f->in[0]);
    return !n || tn_device_scratch(f, (n / TNC_TILE + 2) * 8 + n) != NULL;
}
static void sparse_distinct_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]);
    const cudaStream_t s = tnc_stream(f);
    tnc_keys_sink sink;
    if (!x.numel) return;
    tnc_chosen c = keys_differ(s, x, (char *)f->scratch + (x.numel / TNC_TILE + 2) * 8);
    c.counts = (int64_t *)f->scratch;
    sink.from = x.at;
    sink.to = (int64_t *)tn_operand_of(f->out[0]).at;
    sink.group = (int64_t *)tn_operand_of(f->out[1]).at;
    tnc_chosen_count(s, c);
    tnc_chosen_run(s, c, sink);
}

static const tn_device_row segments_table[] = {
    {"segment_reduce", false, segment_reduce_look, segment_reduce_prepare, segment_reduce_run},
    {"sparse_keys", false, sparse_keys_look, NULL, sparse_keys_run},
    {"sparse_distinct", false, sparse_distinct_look, sparse_distinct_prepare, sparse_distinct_run}};
TNC_FAMILY(segments, segments_table)
