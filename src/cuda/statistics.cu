/* statistics.cu - variances, deviations and norms, in the CPU's order (ops/reduction/statistics.c).
 *
 * A variance sweeps a block twice, for its mean and for deviations from it: a team of 16 threads a
 * block, a thread a column of 64 rows; blocks join by their counts in reduce.cuh's tree. A norm is
 * a plain reduction of mapped elements. */
#include "families.cuh"
#include "reduce.cuh"
#include "variance.cuh"

/* --- variance --------------------------------------------------------------------------------- */

enum { STATISTICS_VARIANCE, STATISTICS_DEVIATION, STATISTICS_PARTS };

/* Blocks of variances; result `at` is one of these, or (complex) a pair for statistics_pairs. */
struct tnc_variance : tnc_joined<tnc_moments> {
    double correction;
    int way;
    bool mean; /* is output 1 */
    template <class R>
    TNC_FN tnc_moments join(const R &, tnc_moments a, tnc_moments b, int64_t na, int64_t nb) {
        return tnc_moments_join(a, (double)na, b, (double)nb);
    }
    /* The variance of n elements by their squares; nothing left gives infinity or NaN. */
    __device__ __forceinline__ double end(double squares, int64_t n) const {
        const double left = (double)n - correction;
        const double v = n ? squares / (left > 0 ? left : 0) : (double)NAN;
        return way == STATISTICS_DEVIATION ? sqrt(v) : v;
    }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, tnc_moments a) {
        if (r.way == STATISTICS_PARTS) {
            ((tnc_moments *)l.out[0])[at] = a;
            return;
        }
        tnc_give_number(l, 0, at, r.end(a.m2, l.p.n));
        if (r.mean) tnc_give_number(l, 1, at, l.p.n ? a.mean : (double)NAN);
    }
};

/* Deviations and their squares. */
template <class A>
struct tnc_two {
    A one, two;
};
TNC_FN float tnc_deviation_square(float d, float to) { return fmaf(d, d, to); }
TNC_FN double tnc_deviation_square(double d, double to) { return fma(d, d, to); }
template <class A>
struct tnc_deviations {
    typedef A element;
    typedef tnc_two<A> part;
    A centre;
    TNC_FN part first() { return {0, 0}; }
    __device__ __forceinline__ part step(part a, A v, int64_t) const {
        const A d = v - centre;
        return {a.one + d, tnc_deviation_square(d, a.two)};
    }
    TNC_FN part meet(part a, part b) { return {a.one + b.one, a.two + b.two}; }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.one, lanes),
                __shfl_down_sync(0xffffffffu, a.two, lanes)};
    }
};

template <class A>
__global__ void __launch_bounds__(128) tnc_variance_rows(tnc_lanes l, tnc_variance r) {
    enum { EACH = 16 / sizeof(A) };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER();
        const tnc_team_job j = tnc_team_job_of(l, job, job < all);
        tnc_deviations<A> deviations;
        A sum[EACH];
        tnc_two<A> a[EACH];
        tnc_block_lanes(tnc_sum<A>(), l, j.x, j.begin, j.n, t, sum);
        sum[0] = __shfl_sync(0xffffffffu, tnc_team_fold(tnc_sum<A>(), sum), 0, TNC_TEAM);
        deviations.centre = j.n ? (A)(sum[0] / (A)j.n) : (A)0;
        tnc_block_lanes(deviations, l, j.x, j.begin, j.n, t, a);
        a[0] = tnc_team_fold(deviations, a);
        if (job < all && !t)
            tnc_block_done(r, l, j.o, j.b,
                           tnc_moments_of((double)deviations.centre, (double)a[0].one,
                                          (double)a[0].two, j.n ? (double)j.n : 1.0));
    }
}
template <class A>
__global__ void __launch_bounds__(128) tnc_variance_columns(tnc_lanes l, tnc_variance r) {
    const int64_t all = l.results * l.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const tnc_column_job j = tnc_column_job_of(l, job);
        const A sum = tnc_column(tnc_sum<A>(), l, j);
        tnc_deviations<A> deviations;
        tnc_two<A> a;
        deviations.centre = j.n ? (A)(sum / (A)j.n) : (A)0;
        a = tnc_column(deviations, l, j);
        tnc_block_done(r, l, j.result, j.b,
                       tnc_moments_of((double)deviations.centre, (double)a.one, (double)a.two,
                                      j.n ? (double)j.n : 1.0));
    }
}
/* Complex numbers: the sum of the parts' variances, the mean of each part. l is the plan of parts,
 * whose outputs are the row's. */
__global__ void __launch_bounds__(128)
    tnc_variance_pairs(tnc_lanes l, tnc_variance r, const tnc_moments *pairs) {
    for (int64_t i = TNC_FIRST(); i < l.results / 2; i += TNC_STEP()) {
        const tnc_moments re = pairs[2 * i], im = pairs[2 * i + 1];
        tnc_give_number(l, 0, i, r.end(re.m2 + im.m2, l.p.n));
        if (!r.mean) continue;
        tnc_give_number(l, 1, 2 * i, l.p.n ? re.mean : (double)NAN);
        tnc_give_number(l, 1, 2 * i + 1, l.p.n ? im.mean : (double)NAN);
    }
}

static void variance_plan(tnc_lanes *l, const tn_frame *f, tn_ints dim) {
    bool gone[TN_MAX_DIMS];
    tnc_gone_list(f, dim, gone);
    tnc_lanes_of(l, f, f->in[0], gone, tnc_reduce_compute((int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_PLAIN);
}
/* Bytes of pairs of complex results, in front of the parts of blocks. */
static int64_t variance_pairs_bytes(const tnc_lanes *l, const tn_frame *f) {
    const int dtype = (int)tn_dtype_of(f->in[0]);
    if (dtype != TN_C64 && dtype != TN_C128) return 0;
    return l->results * (int64_t)sizeof(tnc_moments);
}
static bool variance_prepare(tn_frame *f, tn_ints dim) {
    tnc_lanes l;
    int64_t parts, bytes;
    variance_plan(&l, f, dim);
    if (!tnc_lanes_bytes(&l, (int64_t)sizeof(tnc_moments), &parts) ||
        __builtin_add_overflow(parts, variance_pairs_bytes(&l, f), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <class A>
static void variance_launch(cudaStream_t s, const tnc_lanes &l, const tnc_variance &r) {
    const int64_t jobs = l.results * l.blocks;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_variance_columns<A>), tnc_blocks(jobs, 128), 128, s, l, r);
    else
        TNC_LAUNCH((tnc_variance_rows<A>), tnc_blocks(jobs, 128 / TNC_TEAM), 128, s, l, r);
    tnc_reduce_trees(s, l, r);
}
TNC_PRIV void tnc_variance_parts(cudaStream_t s, const tnc_lanes &l) {
    tnc_variance r;
    r.correction = 0;
    r.mean = false;
    r.way = STATISTICS_PARTS;
    if (l.p.compute == TN_F32)
        variance_launch<float>(s, l, r);
    else
        variance_launch<double>(s, l, r);
}
static void variance_run(tn_frame *f, tn_ints dim, tn_scalar correction, int way, bool mean) {
    tnc_lanes l, parts;
    tnc_variance r;
    cudaStream_t s = tnc_stream(f);
    variance_plan(&l, f, dim);
    const int64_t pairs = variance_pairs_bytes(&l, f);
    if (!l.results) return;
    r.correction = correction.kind == TN_KIND_NONE    ? 1
                   : correction.kind == TN_KIND_FLOAT ? correction.real
                                                      : (double)correction.integer;
    r.mean = mean;
    r.way = pairs ? (int)STATISTICS_PARTS : way;
    parts = l;
    parts.parts = (char *)f->scratch + pairs;
    if (pairs) parts.out[0] = (char *)f->scratch;
    if (l.p.compute == TN_F32)
        variance_launch<float>(s, parts, r);
    else
        variance_launch<double>(s, parts, r);
    r.way = way;
    if (pairs)
        TNC_LAUNCH_PLAIN((tnc_variance_pairs), tnc_blocks(l.results / 2, 128), 128, s, l, r,
                         (const tnc_moments *)f->scratch);
}

#define STATISTICS(row, way, mean)                              \
    static bool row##_prepare(tn_frame *f) {                    \
        TN_ARGS(row, a, f);                                     \
        return variance_prepare(f, a->dim);                     \
    }                                                           \
    static void row##_run(tn_frame *f) {                        \
        TN_ARGS(row, a, f);                                     \
        variance_run(f, a->dim, a->correction, (int)way, mean); \
    }
STATISTICS(var, STATISTICS_VARIANCE, false)
STATISTICS(std, STATISTICS_DEVIATION, false)
STATISTICS(var_mean, STATISTICS_VARIANCE, true)
#undef STATISTICS

/* --- norms ------------------------------------------------------------------------------------ */

TNC_FN float tnc_power(float x, float p) { return tni_pow_f32_cuda(fabsf(x), p); }
TNC_FN double tnc_power(double x, double p) { return tni_pow_f64_cuda(fabs(x), p); }
TNC_FN float tnc_root(float x) { return sqrtf(x); }
TNC_FN double tnc_root(double x) { return sqrt(x); }

/* What becomes of elements before they meet, and of the whole. */
enum { STATISTICS_SQUARE, STATISTICS_ABS, STATISTICS_NONZERO, STATISTICS_POWER };
template <class A, int map>
struct tnc_norm_of : tnc_sum<A> {
    A p, root;
    int rounded; /* the dtype that a result goes through */
    __device__ __forceinline__ A mapped(A v) const {
        return map == STATISTICS_SQUARE    ? v * v
               : map == STATISTICS_ABS     ? (v <= 0 ? 0 - v : v)
               : map == STATISTICS_NONZERO ? (A)(v != 0)
                                           : tnc_power(v, p);
    }
    __device__ __forceinline__ A step(A a, A v, int64_t) const { return a + mapped(v); }
    __device__ __forceinline__ A end(A a, const tnc_lanes &) const {
        if (map == STATISTICS_SQUARE) a = tnc_root(a);
        if (map == STATISTICS_POWER) a = tnc_power(a, root);
        return tnc_through(a, rounded);
    }
};
template <class A, bool least>
struct tnc_norm_extreme : tnc_max<A> {
    int rounded;
    TNC_FN A first() { return least ? tnc_bounds<A>::high() : tnc_bounds<A>::low(); }
    TNC_FN A meet(A a, A b) { return least ? tnc_smaller(a, b) : tnc_larger(a, b); }
    TNC_FN A step(A a, A v, int64_t) { return meet(a, v <= 0 ? 0 - v : v); }
    __device__ __forceinline__ A end(A a, const tnc_lanes &) const {
        return tnc_through(a, rounded);
    }
};

template <class A, int map>
static void norm_sum(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    tnc_norm_of<A, map> r;
    r.p = (A)p;
    r.root = (A)(1 / p);
    r.rounded = rounded;
    tnc_reduce(s, l, r);
}
template <class A, bool least>
static void norm_extreme(cudaStream_t s, const tnc_lanes &l, int rounded) {
    tnc_norm_extreme<A, least> r;
    r.rounded = rounded;
    tnc_reduce(s, l, r);
}
template <class A>
static void norm_order(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    if (p == HUGE_VAL)
        norm_extreme<A, false>(s, l, rounded);
    else if (p == -HUGE_VAL)
        norm_extreme<A, true>(s, l, rounded);
    else if (p == 0)
        norm_sum<A, STATISTICS_NONZERO>(s, l, 1, rounded);
    else if (p == 1)
        norm_sum<A, STATISTICS_ABS>(s, l, p, rounded);
    else if (p == 2)
        norm_sum<A, STATISTICS_SQUARE>(s, l, p, rounded);
    else
        norm_sum<A, STATISTICS_POWER>(s, l, p, rounded);
}
static void norm_of(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    if (l.p.compute == TN_F32)
        norm_order<float>(s, l, p, rounded);
    else
        norm_order<double>(s, l, p, rounded);
}

static void vector_norm_plan(tnc_lanes *l, const tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    bool gone[TN_MAX_DIMS];
    tnc_gone_list(f, a->dim, gone);
    tnc_lanes_of(l, f, f->in[0], gone,
                 tnc_reduce_compute(a->dtype ? (int)a->dtype : (int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_MAGNITUDE);
}
static bool linalg_vector_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    vector_norm_plan(&l, f);
    return tnc_lanes_scratch(f, &l, 8);
}
static void linalg_vector_norm_run(tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    tnc_lanes l;
    vector_norm_plan(&l, f);
    l.parts = (char *)f->scratch;
    norm_of(tnc_stream(f), l, a->ord, l.out_dtype[0]);
}

/* The norm of all elements of input i, as element i of the vector of norms; rounded to the tensor's
 * own dtype first. */
static int total_norm_plan(tnc_lanes *l, const tn_frame *f, int i) {
    const int dtype = (int)tn_dtype_of(f->in[i]);
    bool gone[TN_MAX_DIMS];
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = true;
    tnc_lanes_of(l, f, f->in[i], gone, tnc_reduce_compute(dtype), TN_REDUCE_MAGNITUDE);
    l->out[0] = (char *)f->scratch + i * tnc_dtype_bytes(l->out_dtype[0]);
    return dtype == TN_C64 ? (int)TN_F32 : dtype == TN_C128 ? (int)TN_F64 : dtype;
}
/* The norm of that vector. */
static void total_norm_whole(tnc_lanes *l, const tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    memset(l, 0, sizeof *l);
    l->p.x = (const char *)f->scratch;
    l->p.n = f->nin;
    l->p.outer = l->p.width = l->p.width_out = 1;
    l->p.nred = 1;
    l->p.red[0] = f->nin;
    l->p.red_step[0] = out.bytes;
    l->p.dtype = (tn_dtype)out.dtype;
    l->p.compute = tnc_reduce_compute(out.dtype);
    tnc_lanes_layout(l);
    l->out[0] = out.at;
    l->out_dtype[0] = out.dtype;
}
static int64_t total_norm_vector(const tn_frame *f) { return ((int64_t)f->nin * 8 + 63) / 64 * 64; }
static bool total_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    int64_t most = 0, bytes;
    for (int i = 0; i <= f->nin; i++) {
        if (i < f->nin)
            total_norm_plan(&l, f, i);
        else
            total_norm_whole(&l, f);
        if (!tnc_lanes_bytes(&l, 8, &bytes))
            return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
        if (bytes > most) most = bytes;
    }
    return tn_device_scratch(f, total_norm_vector(f) + most) != NULL;
}
static void total_norm_run(tn_frame *f) {
    TN_ARGS(total_norm, a, f);
    char *parts = (char *)f->scratch + total_norm_vector(f);
    tnc_lanes l;
    for (int i = 0; i < f->nin; i++) {
        const int rounded = total_norm_plan(&l, f, i);
        l.parts = parts;
        norm_of(tnc_stream(f), l, a->norm_type, rounded);
    }
    total_norm_whole(&l, f);
    l.parts = parts;
    norm_of(tnc_stream(f), l, a->norm_type, l.out_dtype[0]);
}

static const tn_device_row statistics_table[] = {
    {"var", false, NULL, var_prepare, var_run},
    {"std", false, NULL, std_prepare, std_run},
    {"var_mean", false, NULL, var_mean_prepare, var_mean_run},
    {"linalg_vector_norm", false, NULL, linalg_vector_norm_prepare, linalg_vector_norm_run},
    {"total_norm", false, NULL, total_norm_prepare, total_norm_run}};
TNC_FAMILY(statistics, statistics_table)
