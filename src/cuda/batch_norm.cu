/* batch_norm.cu - batch_norm and its fused gradient, with the statistics and sums of the CPU
 * (ops/layers/batch_norm.c, ops/reduction/statistics.c).
 *
 * Statistics are a variance's (variance.cuh). The gradient's two sums a channel go as a reduction:
 * a team of 16 threads a block of 4096 elements, or a thread a column of 64 rows. A thread a
 * channel makes its numbers, and a last kernel applies them to 16 bytes at a time. */
#include "families.cuh"
#include "reduce.cuh"
#include "variance.cuh"

/* Sums of dy and of dy (x - mean). */
struct tnc_batch_sums {
    float one, two;
};
struct tnc_batch_two : tnc_joined<tnc_batch_sums> {
    typedef float element;
    TNC_FN tnc_batch_sums meet(tnc_batch_sums a, tnc_batch_sums b) {
        return {a.one + b.one, a.two + b.two};
    }
    TNC_FN tnc_batch_sums from(tnc_batch_sums a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.one, lanes),
                __shfl_down_sync(0xffffffffu, a.two, lanes)};
    }
    TNC_FN tnc_batch_sums step(tnc_batch_sums a, float x, float mean, float dy) {
        return {a.one + dy, fmaf(dy, x - mean, a.two)};
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_batch_sums a) {
        ((tnc_batch_sums *)l.out[0])[at] = a;
    }
};

/* --- numbers a channel ------------------------------------------------------------------------ */

/* A vector of numbers; at NULL: absent. */
struct tnc_batch_vector {
    char *at;
    int64_t step; /* bytes */
    int32_t dtype;
};
template <class T>
TNC_FN T tnc_batch_number(const tnc_batch_vector &t, int64_t i, T otherwise) {
    return t.at ? tnc_load_real<T>(t.at + i * t.step, t.dtype) : otherwise;
}
struct tnc_batch_channels {
    const tnc_moments *spread;                                            /* in training */
    tnc_batch_vector running_mean, running_var, weight, bias, mean, rstd; /* the last two: saved */
    char *numbers; /* mean, scale, bias of all channels, in the type of the arithmetic */
    int64_t channels;
    double count, momentum, eps;
};
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_numbers(tnc_batch_channels v) {
    T *numbers = (T *)v.numbers;
    for (int64_t i = TNC_FIRST(); i < v.channels; i += TNC_STEP()) {
        double mean, var;
        if (v.spread) {
            const double m2 = v.spread[i].m2;
            mean = v.spread[i].mean;
            for (int k = 0; k < 2; k++) { /* towards mean and the unbiased variance */
                const tnc_batch_vector &t = k ? v.running_var : v.running_mean;
                const double now = k ? m2 / (v.count > 1 ? v.count - 1 : 1) : mean;
                if (!t.at) continue;
                tnc_store_real(
                    t.at + i * t.step, t.dtype,
                    fma(v.momentum, now, (1 - v.momentum) * tnc_batch_number<double>(t, i, 0)));
            }
            var = m2 / v.count;
        } else {
            mean = tnc_batch_number<double>(v.running_mean, i, 0);
            var = tnc_batch_number<double>(v.running_var, i, 0);
        }
        const double rstd = 1 / sqrt(var + v.eps),
                     scale = (double)tnc_batch_number<T>(v.weight, i, 1) * rstd;
        numbers[i] = (T)mean;
        numbers[v.channels + i] = (T)scale;
        numbers[2 * v.channels + i] = tnc_batch_number<T>(v.bias, i, 0);
        if (v.mean.at) ((T *)v.mean.at)[i] = (T)mean;
        if (v.rstd.at) ((T *)v.rstd.at)[i] = (T)rstd;
    }
}

/* dw = rstd sum dy (x - mean), db = sum dy; dx = scale dy + slope (x - mean) + shift. */
struct tnc_batch_slopes {
    const tnc_batch_sums *sums; /* NULL: of no elements */
    tnc_batch_vector mean, rstd, weight, grad_weight, grad_bias;
    float *numbers; /* mean, scale, slope, shift */
    int64_t channels;
    double count;
};
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_back_numbers(tnc_batch_slopes v) {
    for (int64_t i = TNC_FIRST(); i < v.channels; i += TNC_STEP()) {
        double dw = 0, db = 0;
        if (v.sums) {
            const double rstd = (double)tnc_batch_number<float>(v.rstd, i, 1),
                         scale = (double)tnc_batch_number<float>(v.weight, i, 1) * rstd;
            dw = (double)v.sums[i].two * rstd;
            db = (double)v.sums[i].one;
            v.numbers[v.channels + i] = (float)scale;
            v.numbers[2 * v.channels + i] = (float)(-scale * dw * rstd / v.count);
            v.numbers[3 * v.channels + i] = (float)(-scale * db / v.count);
        }
        tnc_store_real(v.grad_weight.at + i * v.grad_weight.step, v.grad_weight.dtype, dw);
        tnc_store_real(v.grad_bias.at + i * v.grad_bias.step, v.grad_bias.dtype, db);
    }
}
/* The means in float, before the sums are made. */
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_batch_means(tnc_batch_vector mean, float *to, int64_t n) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP())
        to[i] = tnc_batch_number<float>(mean, i, 0);
}

/* --- elements --------------------------------------------------------------------------------- */

/* y is dense; its elements are numbered as they lie. x and dy may lie otherwise. */
struct tnc_batch {
    const char *x, *dy;
    char *y;
    const char *numbers;
    int64_t numel, channels, run; /* run: neighbours of one channel; 1: channels are innermost */
    int32_t ndim, dtype, bytes;
    bool x_flat, dy_flat; /* as y */
    bool packs; /* 16 bytes of the arithmetic's type have one channel or follow each other */
    int64_t size[TN_MAX_DIMS], x_step[TN_MAX_DIMS], dy_step[TN_MAX_DIMS]; /* in bytes */
    int64_t lines, pieces; /* of the sums: `lines` runs of `pieces` blocks, or rows */
};
TNC_FN int64_t tnc_batch_channel(const tnc_batch &v, int64_t e) {
    if (v.numel <= UINT32_MAX)
        return (int64_t)((uint32_t)e / (uint32_t)v.run % (uint32_t)v.channels);
    return e / v.run % v.channels;
}
template <class T>
TNC_FN T tnc_batch_x(const tnc_batch &v, int64_t e) {
    const int64_t at = v.x_flat ? e * v.bytes : tnc_offset(v.ndim, v.size, v.x_step, e);
    return tnc_load_real<T>(v.x + at, v.dtype);
}
TNC_FN float tnc_batch_dy(const tnc_batch &v, int64_t e) {
    const int64_t at = v.dy_flat ? e * v.bytes : tnc_offset(v.ndim, v.size, v.dy_step, e);
    return tnc_load_real<float>(v.dy + at, v.dtype);
}

/* y = (x - mean) scale + bias */
template <class T>
TNC_FN T tnc_batch_affine(const tnc_batch &v, int64_t c, T x) {
    const T *numbers = (const T *)v.numbers;
    return tnc_fused(x - numbers[c], numbers[v.channels + c], numbers[2 * v.channels + c]);
}
/* y = dy scale + ((x - mean) slope + shift) */
TNC_FN float tnc_batch_slope(const tnc_batch &v, int64_t c, float x, float dy) {
    const float *numbers = (const float *)v.numbers;
    return fmaf(dy, numbers[v.channels + c],
                fmaf(x - numbers[c], numbers[2 * v.channels + c], numbers[3 * v.channels + c]));
}

template <class T, bool back>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_apply(tnc_batch v) {
    for (int64_t e = TNC_FIRST(); e < v.numel; e += TNC_STEP()) {
        const int64_t c = tnc_batch_channel(v, e);
        const T x = tnc_batch_x<T>(v, e);
        const T y = back ? (T)tnc_batch_slope(v, c, (float)x, tnc_batch_dy(v, e))
                         : tnc_batch_affine<T>(v, c, x);
        tnc_store_real(v.y + e * v.bytes, v.dtype, y);
    }
}
template <class T, bool back>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_apply_packs(tnc_batch v) {
    enum { EACH = 16 / sizeof(T) };
    typedef tnc_pack<T, EACH> pack;
    for (int64_t i = TNC_FIRST(); i < v.numel / EACH; i += TNC_STEP()) {
        const int64_t c = tnc_batch_channel(v, i * EACH);
        const pack x = tnc_aligned<pack>(v.x)[i];
        pack y = x;
        if (back) y = tnc_aligned<pack>(v.dy)[i];
        for (int j = 0; j < EACH; j++) {
            const int64_t channel = v.run == 1 ? c + j : c;
            y.e[j] = back ? (T)tnc_batch_slope(v, channel, (float)x.e[j], (float)y.e[j])
                          : tnc_batch_affine<T>(v, channel, x.e[j]);
        }
        ((pack *)v.y)[i] = y;
    }
}

/* Sums of dy and dy (x - mean), channel by channel: block b is piece b mod pieces of run
 * b / pieces. l says blocks, parts and results alone. */
__global__ void __launch_bounds__(128) tnc_batch_moments(tnc_batch v, tnc_lanes l) {
    enum { EACH = 4, LANES = TNC_TEAM * EACH };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    const tnc_batch_two r = {};
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER(), c = job < all ? job / l.blocks : 0,
                      b = job < all ? job % l.blocks : 0, begin = b % v.pieces * TNC_BLOCK,
                      left = v.run - begin, at = (b / v.pieces * v.channels + c) * v.run + begin,
                      n = job >= all         ? 0
                          : left < TNC_BLOCK ? left
                                             : (int64_t)TNC_BLOCK;
        const float mean = ((const float *)v.numbers)[c];
        tnc_batch_sums a[EACH] = {};
        for (int64_t i = t * EACH; i < n; i += LANES)
            for (int j = 0; j < EACH && i + j < n; j++)
                a[j] = r.step(a[j], tnc_batch_x<float>(v, at + i + j), mean,
                              tnc_batch_dy(v, at + i + j));
        a[0] = tnc_team_fold(r, a);
        if (job < all && !t) tnc_block_done(r, l, c, b, a[0]);
    }
}
/* Channels innermost: a thread 64 rows of one. */
__global__ void __launch_bounds__(128) tnc_batch_moments_columns(tnc_batch v, tnc_lanes l) {
    const int64_t all = l.results * l.blocks;
    const tnc_batch_two r = {};
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const int64_t c = job % v.channels, b = job / v.channels, begin = b * TNC_BLOCK_ROWS,
                      left = v.lines - begin,
                      end = left < TNC_BLOCK_ROWS ? v.lines : begin + TNC_BLOCK_ROWS;
        const float mean = ((const float *)v.numbers)[c];
        tnc_batch_sums a = {};
        for (int64_t i = begin; i < end; i++)
            a = r.step(a, tnc_batch_x<float>(v, i * v.channels + c), mean,
                       tnc_batch_dy(v, i * v.channels + c));
        tnc_block_done(r, l, c, b, a);
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

static tnc_batch_vector batch_vector(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    tnc_batch_vector v;
    v.at = o.at;
    v.step = t ? o.stride[0] * o.bytes : 0;
    v.dtype = o.dtype;
    return v;
}

/* Dimensions in the order of y's memory, outermost first, without those of size 1. */
static void batch_plan(tnc_batch *v, const tn_tensor *x, const tn_tensor *dy, const tn_tensor *y) {
    const tn_operand ox = tn_operand_of(x), od = tn_operand_of(dy), oy = tn_operand_of(y);
    int order[TN_MAX_DIMS];
    memset(v, 0, sizeof *v);
    v->x = ox.at;
    v->dy = od.at;
    v->y = oy.at;
    v->numel = oy.numel;
    v->channels = oy.size[1];
    v->dtype = ox.dtype;
    v->bytes = ox.bytes;
    for (int d = 0; d < oy.ndim; d++) {
        int at = v->ndim;
        if (oy.size[d] == 1) continue;
        for (; at > 0 && oy.stride[order[at - 1]] < oy.stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
        v->ndim++;
    }
    v->x_flat = v->dy_flat = true;
    for (int i = 0; i < v->ndim; i++) {
        const int d = order[i];
        v->size[i] = oy.size[d];
        v->x_step[i] = ox.stride[d] * ox.bytes;
        v->x_flat = v->x_flat && ox.stride[d] == oy.stride[d];
        if (!dy) continue;
        v->dy_step[i] = od.stride[d] * od.bytes;
        v->dy_flat = v->dy_flat && od.stride[d] == oy.stride[d];
    }
    v->run = !v->numel || !oy.row_major ? 1 : v->numel / (oy.size[0] * oy.size[1]);
    const int each = v->dtype == TN_F64 ? 2 : 4;
    v->packs = (v->dtype == TN_F32 || v->dtype == TN_F64) && v->x_flat && v->dy_flat &&
               (v->run == 1 ? v->channels : v->run) % each == 0 &&
               ((uintptr_t)v->x | (uintptr_t)v->dy | (uintptr_t)v->y) % 16 == 0;
    v->lines = v->numel ? v->numel / v->channels / v->run : 0;
    v->pieces = (v->run + TNC_BLOCK - 1) / TNC_BLOCK;
}

template <class T, bool back>
static void batch_apply(cudaStream_t s, const tnc_batch &v) {
    if (v.packs)
        TNC_LAUNCH_PLAIN((tnc_batch_apply_packs<T, back>),
                         tnc_blocks(v.numel * (int64_t)sizeof(T) / 16, TNC_THREADS), TNC_THREADS, s,
                         v);
    else
        TNC_LAUNCH_PLAIN((tnc_batch_apply<T, back>), tnc_blocks(v.numel, TNC_THREADS), TNC_THREADS,
                         s, v);
}

/* The reduction to channels, of all dimensions but 1. */
static void batch_lanes(tnc_lanes *l, const tn_frame *f) {
    bool gone[TN_MAX_DIMS];
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = d != 1 && d < (int)tn_ndim(f->in[0]);
    tnc_lanes_of(l, f, f->in[0], gone, tnc_reduce_compute((int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_PLAIN);
}
/* The same of the gradient's two sums, whose kernels find the elements themselves. */
static void batch_sums(tnc_lanes *l, const tnc_batch &v) {
    memset(l, 0, sizeof *l);
    l->results = l->p.keep[0] = v.channels;
    l->p.nkeep = 1;
    l->p.keep_out[0] = l->p.width = 1;
    l->p.n = v.lines * v.run;
    l->p.columns = v.run == 1;
    l->blocks = v.run == 1 ? (v.lines + TNC_BLOCK_ROWS - 1) / TNC_BLOCK_ROWS : v.lines * v.pieces;
}

/* Scratch: `numbers` doubles and a result of `part` bytes a channel, then parts of blocks. */
static int64_t batch_room(int64_t channels, int64_t part, int64_t numbers) {
    return channels * (part + numbers * 8);
}
static bool batch_scratch(tn_frame *f, const tnc_lanes &l, int64_t channels, int64_t part,
                          int64_t numbers) {
    int64_t bytes;
    if (!tnc_lanes_bytes(&l, part, &bytes) ||
        __builtin_add_overflow(bytes, batch_room(channels, part, numbers), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
static void batch_place(tnc_lanes *l, char *scratch, int64_t channels, int64_t part,
                        int64_t numbers) {
    l->out[0] = scratch;
    l->parts = scratch + batch_room(channels, part, numbers);
}

/* --- rows ------------------------------------------------------------------------------------- */

enum { BATCH_NUMBERS = 4 }; /* of a channel */

static bool batch_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    batch_lanes(&l, f);
    return batch_scratch(f, l, tn_size(f->in[0], 1), (int64_t)sizeof(tnc_moments), BATCH_NUMBERS);
}
static void batch_channels(tnc_batch_channels *c, tn_frame *f, const tnc_batch &v) {
    TN_ARGS(batch_norm, a, f);
    memset(c, 0, sizeof *c);
    c->channels = v.channels;
    c->count = (double)(v.numel / v.channels);
    c->momentum = a->momentum;
    c->eps = a->eps;
    c->running_mean = batch_vector(a->running_mean);
    c->running_var = batch_vector(a->running_var);
    c->weight = batch_vector(a->weight);
    c->bias = batch_vector(a->bias);
    c->numbers = (char *)f->scratch + v.channels * (int64_t)sizeof(tnc_moments);
    if (a->training) c->spread = (const tnc_moments *)f->scratch;
    if (f->nout <= 2) return;
    c->mean = batch_vector(f->out[1]);
    c->rstd = batch_vector(f->out[2]);
}
static void batch_norm_run(tn_frame *f) {
    TN_ARGS(batch_norm, a, f);
    const cudaStream_t s = tnc_stream(f);
    tnc_batch_channels c;
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, f->in[0], NULL, f->out[0]);
    if (!v.numel) return;
    batch_channels(&c, f, v);
    v.numbers = c.numbers;
    if (a->training) {
        batch_lanes(&l, f);
        batch_place(&l, (char *)f->scratch, v.channels, (int64_t)sizeof(tnc_moments),
                    BATCH_NUMBERS);
        tnc_variance_parts(s, l);
    }
    if (v.dtype == TN_F64) {
        TNC_LAUNCH_PLAIN((tnc_batch_numbers<double>), tnc_blocks(v.channels, TNC_THREADS),
                         TNC_THREADS, s, c);
        batch_apply<double, false>(s, v);
    } else {
        TNC_LAUNCH_PLAIN((tnc_batch_numbers<float>), tnc_blocks(v.channels, TNC_THREADS),
                         TNC_THREADS, s, c);
        batch_apply<float, false>(s, v);
    }
}

static bool batch_norm_backward_prepare(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, a->input, a->grad_out, f->out[0]);
    batch_sums(&l, v);
    return batch_scratch(f, l, v.channels, (int64_t)sizeof(tnc_batch_sums), BATCH_NUMBERS);
}
/* The two sums of all channels, to l.out. */
static void batch_moments(cudaStream_t s, const tnc_batch &v, const tnc_lanes &l) {
    const int64_t jobs = l.results * l.blocks;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_batch_moments_columns), tnc_blocks(jobs, 128), 128, s, v, l);
    else
        TNC_LAUNCH((tnc_batch_moments), tnc_blocks(jobs, 128 / TNC_TEAM), 128, s, v, l);
    tnc_reduce_trees(s, l, tnc_batch_two());
}
static void batch_norm_backward_run(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    const cudaStream_t s = tnc_stream(f);
    tnc_batch_slopes n;
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, a->input, a->grad_out, f->out[0]);
    if (!v.channels) return;
    memset(&n, 0, sizeof n);
    n.channels = v.channels;
    n.count = (double)v.numel / (double)v.channels;
    n.mean = batch_vector(a->mean);
    n.rstd = batch_vector(a->rstd);
    n.weight = batch_vector(a->weight);
    n.grad_weight = batch_vector(f->out[1]);
    n.grad_bias = batch_vector(f->out[2]);
    n.numbers = (float *)((tnc_batch_sums *)f->scratch + v.channels);
    v.numbers = (const char *)n.numbers;
    if (v.numel) {
        batch_sums(&l, v);
        batch_place(&l, (char *)f->scratch, v.channels, (int64_t)sizeof(tnc_batch_sums),
                    BATCH_NUMBERS);
        TNC_LAUNCH_PLAIN((tnc_batch_means), tnc_blocks(v.channels, TNC_THREADS), TNC_THREADS, s,
                         n.mean, n.numbers, v.channels);
        batch_moments(s, v, l);
        n.sums = (const tnc_batch_sums *)f->scratch;
    }
    TNC_LAUNCH_PLAIN((tnc_batch_back_numbers), tnc_blocks(v.channels, TNC_THREADS), TNC_THREADS, s,
                     n);
    if (v.numel) batch_apply<float, true>(s, v);
}

static const tn_device_row batch_norm_table[] = {
    {"batch_norm", false, NULL, batch_norm_prepare, batch_norm_run},
    {"batch_norm_backward", false, NULL, batch_norm_backward_prepare, batch_norm_backward_run}};
TNC_FAMILY(batch_norm, batch_norm_table)
