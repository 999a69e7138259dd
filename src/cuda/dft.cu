/* dft.cu - one discrete Fourier transform after another along a dimension, by the CPU's own stages
 * (ops/fft/dft.c), in f64.
 *
 * The table of roots, and for Bluestein's convolution the chirp and the filter, are made first.
 * Then a block has a line at a time, in two pairs of planes of its own; its threads share the
 * elements of a stage and meet after each. */
#include "families.cuh"
#include "places.cuh"

#ifndef TNI_RESTRICT
#define TNI_RESTRICT
#define TNC_DFT_RESTRICT
#endif
#define TNI_DFT static inline __host__ __device__
#include "../simd/dft_stages.inl"
#undef TNI_DFT
#ifdef TNC_DFT_RESTRICT
#undef TNI_RESTRICT
#undef TNC_DFT_RESTRICT
#endif

enum { DFT_THREADS = 256, DFT_BLOCKS = 1024 };

/* Steps in bytes. chirp and filter: Bluestein's alone. */
struct tnc_dft {
    int64_t n, m, in, out, count; /* in, out: elements that are read, and written before zeros */
    dft_roots roots;
    double *chirp_re, *chirp_im, *filter_re, *filter_im, *room; /* room: 4 m numbers a block */
    tnc_far<2> lines;                                           /* of the result, of self */
    const char *x;
    char *y;
    int64_t x_step, y_step;
    double scale;
    int32_t x_dtype, y_dtype;
    bool inverse;
};

static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_roots(tnc_dft a) {
    for (int64_t k = TNC_FIRST(); k < a.m; k += TNC_STEP())
        dft_root(k, a.m, &a.roots.re[k], &a.roots.im[k]);
    for (int64_t k = TNC_FIRST(); k < a.n && a.m != a.n; k += TNC_STEP())
        dft_root((int64_t)((uint64_t)k * (uint64_t)k % (uint64_t)(2 * a.n)), 2 * a.n,
                 &a.chirp_re[k], &a.chirp_im[k]);
}

/* Transforms the planes at x by all threads of a block; y is room. The result: x or y. */
TNC_FN double *tnc_dft_line(const dft_roots &w, double *x, double *y) {
    int64_t rest = w.n, done = 1;
    __syncthreads();
    while (rest > 1) {
        const int64_t r = dft_next_radix(rest);
        const dft_stage s = {&w, x, x + w.n, y, y + w.n, r, rest / r, done, done};
        double *from = x;
        for (int64_t i = threadIdx.x; i < s.m * done; i += DFT_THREADS)
            dft_radix(&s, i / done, i % done, i % done + 1);
        __syncthreads();
        x = y;
        y = from;
        rest /= r;
        done *= r;
    }
    return x;
}
TNC_FN void tnc_dft_times_chirp(const tnc_dft &a, double *x) {
    for (int64_t k = threadIdx.x; k < a.n; k += DFT_THREADS) {
        const double re = x[k] * a.chirp_re[k] - x[a.m + k] * a.chirp_im[k];
        x[a.m + k] = x[k] * a.chirp_im[k] + x[a.m + k] * a.chirp_re[k];
        x[k] = re;
    }
}
/* The convolution with the filter: L. Bluestein's transform of the line at x. */
TNC_FN double *tnc_dft_convolve(const tnc_dft &a, double *x, double *y) {
    double *at, *to;
    tnc_dft_times_chirp(a, x);
    at = tnc_dft_line(a.roots, x, y);
    to = at == x ? y : x;
    /* The inverse transform is the forward one with the planes exchanged. */
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        const double re = at[k] * a.filter_re[k] - at[a.m + k] * a.filter_im[k];
        const double im = at[k] * a.filter_im[k] + at[a.m + k] * a.filter_re[k];
        to[k] = im;
        to[a.m + k] = re;
    }
    at = tnc_dft_line(a.roots, to, at);
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        const double re = at[a.m + k];
        at[a.m + k] = at[k];
        at[k] = re;
    }
    __syncthreads();
    tnc_dft_times_chirp(a, at);
    return at;
}

/* One block: the transform of the chirp's conjugate, over m. */
static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_filter(tnc_dft a) {
    double *x = a.room, *from;
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        const int64_t i = k < a.n ? k : a.m - k;
        x[k] = i < a.n ? a.chirp_re[i] : 0;
        x[a.m + k] = i < a.n ? -a.chirp_im[i] : 0;
    }
    from = tnc_dft_line(a.roots, x, x + 2 * a.m);
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        a.filter_re[k] = from[k] / (double)a.m;
        a.filter_im[k] = from[a.m + k] / (double)a.m;
    }
}

/* Element k of a line: self's, or the result's. */
TNC_FN tnc_c128 tnc_dft_load(const tnc_dft &a, const char *line, int64_t k) {
    return tnc_move<TNC_C128>::load(line + k * a.x_step, a.x_dtype, a.x_dtype);
}
static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_lines(tnc_dft a) {
    for (int64_t line = blockIdx.x; line < a.lines.n; line += gridDim.x) {
        double *one = a.room + blockIdx.x * 4 * a.m, *two = one + 2 * a.m, *at;
        /* The inverse: real and imaginary planes exchanged before and after. */
        double *re = one + (a.inverse ? a.m : 0), *im = one + (a.inverse ? 0 : a.m);
        int64_t place[2];
        tnc_far_to(a.lines, line, place);
        for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
            tnc_c128 v = {0, 0};
            if (k < a.in) v = tnc_dft_load(a, a.x + place[1], k);
            re[k] = v.re;
            im[k] = v.im;
        }
        __syncthreads();
        at = a.m == a.n ? tnc_dft_line(a.roots, one, two) : tnc_dft_convolve(a, one, two);
        __syncthreads();
        for (int64_t k = threadIdx.x; k < a.count; k += DFT_THREADS) {
            tnc_c128 v = {0, 0};
            if (k < a.out) {
                v.re = at[k + (a.inverse ? a.m : 0)] * a.scale;
                v.im = at[k + (a.inverse ? 0 : a.m)] * a.scale;
            }
            tnc_move<TNC_C128>::store(a.y + place[0] + k * a.y_step, a.y_dtype, a.y_dtype, v);
        }
        __syncthreads();
    }
}

/* --- the row ---------------------------------------------------------------------------------- */

static unsigned dft_blocks(const tnc_dft &a) {
    const int64_t most = ((int64_t)1 << 23) / a.m + 1; /* 256 MB of room at most, or one block's */
    return tnc_blocks(a.lines.n < most ? a.lines.n : most, 1) < DFT_BLOCKS
               ? tnc_blocks(a.lines.n < most ? a.lines.n : most, 1)
               : (unsigned)DFT_BLOCKS;
}
static void dft_plan(tnc_dft *a, const tn_frame *f) {
    TN_ARGS(dft, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), y = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    double *at = (double *)f->scratch;
    tn_walk_plan p;
    memset(a, 0, sizeof *a);
    a->n = args->n;
    a->m = dft_inner(args->n);
    a->in = x.size[d] < a->n ? x.size[d] : a->n;
    a->count = args->count;
    a->out = a->count < a->n ? a->count : a->n;
    a->scale = args->scale;
    a->inverse = args->inverse;
    a->x = x.at;
    a->y = y.at;
    a->x_step = x.stride[d] * x.bytes;
    a->y_step = y.stride[d] * y.bytes;
    a->x_dtype = x.dtype;
    a->y_dtype = y.dtype;
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < x.ndim; i++)
        if (i != d) tnc_plan_within(&p, y.size[i], y.stride[i] * y.bytes, x.stride[i] * x.bytes, 0);
    a->lines = tnc_far_of<2>(p);
    a->roots.n = a->m;
    a->roots.re = at;
    a->roots.im = at + a->m;
    at += 2 * a->m;
    if (a->m != a->n) {
        a->filter_re = at;
        a->filter_im = at + a->m;
        a->chirp_re = at + 2 * a->m;
        a->chirp_im = a->chirp_re + a->n;
        at = a->chirp_im + a->n;
    }
    a->room = at;
}
static bool dft_prepare(tn_frame *f) {
    tnc_dft a;
    int64_t each;
    if (!tn_numel(f->out[0])) return true;
    dft_plan(&a, f);
    if (a.m > INT64_MAX / 8 / (8 + 4 * (int64_t)DFT_BLOCKS))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    each = 2 * a.m + 4 * a.m * dft_blocks(a);
    if (a.m != a.n) each += 2 * a.m + 2 * a.n;
    return tn_device_scratch(f, each * 8) != NULL;
}
static void dft_run(tn_frame *f) {
    const cudaStream_t s = tnc_stream(f);
    tnc_dft a;
    if (!tn_numel(f->out[0])) return;
    dft_plan(&a, f);
    TNC_LAUNCH_PLAIN((tnc_dft_roots), tnc_blocks(a.m, DFT_THREADS), DFT_THREADS, s, a);
    if (a.m != a.n) TNC_LAUNCH((tnc_dft_filter), 1, DFT_THREADS, s, a);
    TNC_LAUNCH((tnc_dft_lines), dft_blocks(a), DFT_THREADS, s, a);
}

static const tn_device_row dft_table[] = {{"dft", false, NULL, dft_prepare, dft_run}};
TNC_FAMILY(dft, dft_table)
