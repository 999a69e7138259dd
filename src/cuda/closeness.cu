/* closeness.cu - whether elements are equal or close: an answer for each pair (isclose), or one for
 * all (equal, allclose; ops/elementwise/closeness.c).
 *
 * A thread a pair, in walks of any strides. One answer begins as true; threads that find a pair
 * that differs write false, all the same byte. */
#include "families.cuh"
#include "elements.cuh"

struct tnc_closeness {
    double rtol, atol;
    int dtype, from[2];    /* common to both inputs, and their own, which differ for equal alone */
    bool close, equal_nan; /* close: or exactly equal */
};

#define TNI_LENGTH TNC_FN double tnc_length
#include "../base/length.inl"

TNC_FN bool tnc_close_complex(const tnc_closeness &c, tnc_c128 x, tnc_c128 y) {
    double apart, size;
    if (x.re == y.re && x.im == y.im) return true;
    if (!c.close) return false;
    if (c.equal_nan && (x.re != x.re || x.im != x.im) && (y.re != y.re || y.im != y.im))
        return true;
    apart = tnc_length(x.re - y.re, x.im - y.im);
    size = tnc_length(y.re, y.im);
    return apart - apart == 0 && apart <= c.atol + fma(fabs(c.rtol), size, 0.0);
}
TNC_FN bool tnc_close_float(const tnc_closeness &c, double x, double y) {
    double apart;
    if (x == y) return true;
    if (!c.close) return false;
    if (c.equal_nan && x != x && y != y) return true;
    apart = fabs(x - y);
    return apart - apart == 0 && apart <= c.atol + fma(fabs(c.rtol), fabs(y), 0.0);
}
TNC_FN bool tnc_close_integer(const tnc_closeness &c, int64_t x, int64_t y) {
    if (x == y) return true;
    if (!c.close) return false;
    if (c.dtype == TN_BOOL) return c.atol + fabs(fma(c.rtol, (double)y, 0.0)) >= 1;
    return fabs((double)x - (double)y) <= c.atol + fma(fabs(c.rtol), fabs((double)y), 0.0);
}
template <int type>
TNC_FN const char *tnc_close_by(char *unit, int to, const char *at, int from) {
    typedef tnc_move<type> move;
    move::store(unit, to, to, move::load(at, from, from));
    return unit;
}
/* An element in the common dtype: at `at`, or made in `unit`. */
TNC_FN const char *tnc_close_as(char *unit, int to, const char *at, int from) {
    if (from == to) return at;
    switch (to) {
    case TN_C64: return tnc_close_by<TNC_C64>(unit, to, at, from);
    case TN_C128: return tnc_close_by<TNC_C128>(unit, to, at, from);
    case TN_F64: return tnc_close_by<TNC_F64>(unit, to, at, from);
    case TN_F16:
    case TN_BF16:
    case TN_F32: return tnc_close_by<TNC_F32>(unit, to, at, from);
    default: return tnc_close_by<TNC_I64>(unit, to, at, from);
    }
}
TNC_FN bool tnc_close(const tnc_closeness &c, const char *x, const char *y) {
    tnc_pair one, other;
    x = tnc_close_as((char *)&one, c.dtype, x, c.from[0]);
    y = tnc_close_as((char *)&other, c.dtype, y, c.from[1]);
    switch (c.dtype) {
    case TN_C64:
    case TN_C128:
        return tnc_close_complex(c, tnc_move<TNC_C128>::load(x, c.dtype, TN_C128),
                                 tnc_move<TNC_C128>::load(y, c.dtype, TN_C128));
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64:
        return tnc_close_float(c, tnc_load_real<double>(x, c.dtype),
                               tnc_load_real<double>(y, c.dtype));
    default:
        return tnc_close_integer(c, tnc_load_real<int64_t>(x, c.dtype),
                                 tnc_load_real<int64_t>(y, c.dtype));
    }
}

__global__ void __launch_bounds__(TNC_THREADS) tnc_closeness_each(tnc_walk<3> w, tnc_closeness c) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        tnc_walk_to(w, (uint32_t)i, at);
        tnc_put<uint8_t>(w.at[0] + at[0], tnc_close(c, w.at[1] + at[1], w.at[2] + at[2]));
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_closeness_all(tnc_walk<2> w, tnc_closeness c, uint8_t *answer) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        if (!tnc_close(c, w.at[0] + at[0], w.at[1] + at[1])) *answer = 0;
    }
}
__global__ void tnc_closeness_answer(uint8_t *answer, uint8_t v) { *answer = v; }

/* Both inputs over the shape that they broadcast to, which no tensor has. */
static void closeness_plan(tn_walk_plan *p, const tn_frame *f) {
    const tn_operand in[2] = {tn_operand_of(f->in[0]), tn_operand_of(f->in[1])};
    const int ndim = in[0].ndim > in[1].ndim ? in[0].ndim : in[1].ndim;
    memset(p, 0, sizeof *p);
    p->n = 2;
    p->ndim = ndim ? ndim : 1;
    p->numel = p->size[0] = 1;
    for (int k = 0; k < 2; k++) p->at[k] = in[k].at;
    for (int d = 0; d < ndim; d++) { /* innermost first */
        p->size[d] = 1;
        for (int k = 0; k < 2; k++) {
            const int e = in[k].ndim - 1 - d;
            if (e < 0 || in[k].size[e] == 1) continue;
            p->size[d] = in[k].size[e];
            p->stride[k][d] = in[k].stride[e] * in[k].bytes;
        }
        p->numel *= p->size[d];
    }
}

/* Whether all pairs of the inputs are close; `shaped`: their shapes may be compared. */
static void closeness_all(tn_frame *f, const tnc_closeness &c, bool shaped) {
    cudaStream_t s = tnc_stream(f);
    uint8_t *answer = (uint8_t *)tn_operand_of(f->out[0]).at;
    tn_walk_plan p;
    TNC_LAUNCH_PLAIN((tnc_closeness_answer), 1, 1, s, answer, (uint8_t)shaped);
    if (!shaped) return;
    closeness_plan(&p, f);
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        TNC_LAUNCH_PLAIN((tnc_closeness_all), tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w, c,
                         answer);
    });
}
static tnc_closeness closeness_of(const tn_frame *f, double rtol, double atol, bool equal_nan) {
    const tn_dtype x = tn_dtype_of(f->in[0]), y = tn_dtype_of(f->in[1]);
    tnc_closeness c = {rtol, atol, (int)tn_promote(x, y), {(int)x, (int)y}, true, equal_nan};
    return c;
}

static void equal_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), y = tn_operand_of(f->in[1]);
    tnc_closeness c = closeness_of(f, 0, 0, false);
    bool same = x.ndim == y.ndim;
    c.close = false;
    for (int d = 0; same && d < x.ndim; d++) same = x.size[d] == y.size[d];
    closeness_all(f, c, same);
}
static void allclose_run(tn_frame *f) {
    TN_ARGS(allclose, a, f);
    closeness_all(f, closeness_of(f, a->rtol, a->atol, a->equal_nan), true);
}
static void isclose_run(tn_frame *f) {
    TN_ARGS(isclose, a, f);
    tn_tensor *t[3] = {f->out[0], f->in[0], f->in[1]};
    const tnc_closeness c = closeness_of(f, a->rtol, a->atol, a->equal_nan);
    cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    tn_walk_plan_of(&p, t, 3);
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        TNC_LAUNCH_PLAIN((tnc_closeness_each), tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w, c);
    });
}

static const tn_device_row closeness_table[] = {{"equal", false, NULL, NULL, equal_run},
                                                {"allclose", false, NULL, NULL, allclose_run},
                                                {"isclose", false, NULL, NULL, isclose_run}};
TNC_FAMILY(closeness, closeness_table)
