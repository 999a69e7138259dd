/* pairs.cu - distances between all rows of two matrices (ops/reduction/pairs.c), and numbers as
 * mantissa and exponent (ops/elementwise/power.c), with the CPU's bits. */
#include "elements.cuh"
#include "families.cuh"
#include "places.cuh"

/* --- cdist ------------------------------------------------------------------------------------ */

enum { PAIRS_COUNT, PAIRS_SUM, PAIRS_SQUARES, PAIRS_MOST, PAIRS_POWERS };

/* Operands of the walk over the result: itself, the row of x1, that of x2. */
struct tnc_pairs {
    tnc_far<3> w;
    char *to;
    const char *x1, *x2;
    int64_t columns, next1, next2;
    double p;
    int32_t way;
};
TNC_FN float tnc_pairs_power(float x, double p) { return tni_pow_f32_cuda(fabsf(x), (float)p); }
TNC_FN double tnc_pairs_power(double x, double p) { return tni_pow_f64_cuda(fabs(x), p); }
TNC_FN float tnc_pairs_size(float x) { return fabsf(x); }
TNC_FN double tnc_pairs_size(double x) { return fabs(x); }
TNC_FN float tnc_pairs_root(float x) { return sqrtf(x); }
TNC_FN double tnc_pairs_root(double x) { return sqrt(x); }

/* A thread a distance: one chain in the order of the columns. */
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pairs_distance(tnc_pairs a) {
    for (int64_t i = TNC_FIRST(); i < a.w.n; i += TNC_STEP()) {
        int64_t at[3];
        T sum = 0;
        tnc_far_to(a.w, i, at);
        for (int64_t c = 0; c < a.columns; c++) {
            const T d =
                tnc_get<T>(a.x2 + at[2] + c * a.next2) - tnc_get<T>(a.x1 + at[1] + c * a.next1);
            switch (a.way) {
            case PAIRS_COUNT: sum = sum + (d != d ? d : (T)(d != 0)); break;
            case PAIRS_SUM: sum = sum + tnc_pairs_size(d); break;
            case PAIRS_SQUARES: sum = sum + d * d; break;
            case PAIRS_MOST:
                sum = tnc_pairs_size(d) > sum || d != d ? tnc_pairs_size(d) : sum;
                break;
            default: sum = sum + tnc_pairs_power(d, a.p);
            }
        }
        if (a.way == PAIRS_POWERS) sum = tnc_pairs_power(sum, 1 / a.p);
        if (a.way == PAIRS_SQUARES) sum = tnc_pairs_root(sum);
        tnc_put<T>(a.to + at[0], sum);
    }
}

/* Bytes from one matrix to the next along dimension d of ndim; 0: it is broadcast. */
static int64_t pairs_step(const tn_operand &x, int d, int ndim) {
    const int own = d - (ndim - x.ndim);
    return own < 0 || x.size[own] == 1 ? 0 : x.stride[own] * x.bytes;
}
static void cdist_run(tn_frame *f) {
    TN_ARGS(cdist, args, f);
    const tn_operand x1 = tn_operand_of(args->x1), x2 = tn_operand_of(args->x2),
                     out = tn_operand_of(f->out[0]);
    const int n = out.ndim;
    const double p = args->p;
    tn_walk_plan plan;
    tnc_pairs a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    tnc_plan_begin(&plan, 3);
    for (int d = 0; d < n; d++)
        tnc_plan_within(&plan, out.size[d], out.stride[d] * out.bytes,
                        d == n - 1 ? 0 : pairs_step(x1, d, n),
                        d == n - 2   ? 0
                        : d == n - 1 ? x2.stride[x2.ndim - 2] * x2.bytes
                                     : pairs_step(x2, d, n));
    a.w = tnc_far_of<3>(plan);
    a.to = out.at;
    a.x1 = x1.at;
    a.x2 = x2.at;
    a.columns = x1.size[x1.ndim - 1];
    a.next1 = x1.stride[x1.ndim - 1] * x1.bytes;
    a.next2 = x2.stride[x2.ndim - 1] * x2.bytes;
    a.p = p;
    a.way = p == 0          ? PAIRS_COUNT
            : p == 1        ? PAIRS_SUM
            : p == 2        ? PAIRS_SQUARES
            : p == INFINITY ? PAIRS_MOST
                            : PAIRS_POWERS;
    if (out.dtype == TN_F32)
        TNC_LAUNCH_PLAIN((tnc_pairs_distance<float>), tnc_blocks(out.numel, TNC_THREADS),
                         TNC_THREADS, tnc_stream(f), a);
    else
        TNC_LAUNCH_PLAIN((tnc_pairs_distance<double>), tnc_blocks(out.numel, TNC_THREADS),
                         TNC_THREADS, tnc_stream(f), a);
}

/* --- frexp ------------------------------------------------------------------------------------ */

/* Operands of the walk: the number, its mantissa, its exponent. */
static __global__ void __launch_bounds__(TNC_THREADS) tnc_pairs_frexp(tnc_walk<3> w, int dtype) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        int n = 0;
        tnc_walk_to(w, (uint32_t)i, at);
        const double x = tnc_load_real<double>(w.at[0] + at[0], dtype);
        tnc_store_real(w.at[1] + at[1], dtype, x - x == 0 ? frexp(x, &n) : x);
        tnc_put<int32_t>(w.at[2] + at[2], n);
    }
}
static void frexp_run(tn_frame *f) {
    tn_tensor *t[3] = {f->in[0], f->out[0], f->out[1]};
    const int dtype = (int)tn_dtype_of(f->in[0]);
    const cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    tn_walk_plan_of(&p, t, 3);
    tnc_walk_pieces<3>(p, [=](const tnc_walk<3> &w) {
        TNC_LAUNCH_PLAIN((tnc_pairs_frexp), tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w, dtype);
    });
}

static const tn_device_row pairs_table[] = {{"cdist", false, NULL, NULL, cdist_run},
                                            {"frexp", false, NULL, NULL, frexp_run}};
TNC_FAMILY(pairs, pairs_table)
