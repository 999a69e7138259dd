/* dft.cu - one discrete Fourier transform after another along a dimension, with the CPU's
 * arithmetic (ops/fft/dft.c, kernels/dft_type.inl), in f32 or f64.
 *
 * The tables of roots, and for Bluestein's convolution the chirp and the filter, are made first.
 * Then a block has a line at a time, in two pairs of planes of its own; its threads share the
 * elements of a stage and meet after each. */
#include "families.cuh"
#include "places.cuh"

#define TNI_DFT static inline __host__ __device__
#include "../simd/dft_roots.inl"
#undef TNI_DFT

enum { DFT_THREADS = 256, DFT_BLOCKS = 1024 };

template <typename T>
struct tnc_dft_table {
    T *re, *im;
    int64_t n;
};
/* Steps in bytes. chirp and filter: Bluestein's alone; across and fine: of a large m, whose columns
 * have the table roots; turn: where pairs of real numbers are transformed. */
template <typename T>
struct tnc_dft {
    int64_t n, b, m, large, in, count; /* in: elements that are read */
    tnc_dft_table<T> roots, across, turn, chirp, filter;
    dft_fine fine;
    T *room;          /* 4 m numbers a block */
    tnc_far<2> lines; /* of the result, of self */
    const char *x;
    char *y;
    int64_t x_step, y_step;
    double scale;
    bool inverse, pairs, hermitian, of, to; /* pairs: self is complex */
};

template <typename T>
TNC_FN void tnc_dft_put(const tnc_dft_table<T> &t, int64_t at, int64_t k, int64_t n) {
    double re, im;
    dft_root(k, n, &re, &im);
    t.re[at] = (T)re;
    t.im[at] = (T)im;
}
template <typename T>
static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_roots(tnc_dft<T> a) {
    const int64_t n = a.b;
    for (int64_t k = TNC_FIRST(); k < a.roots.n; k += TNC_STEP())
        tnc_dft_put(a.roots, k, k, a.roots.n);
    for (int64_t k = TNC_FIRST(); k < a.across.n; k += TNC_STEP())
        tnc_dft_put(a.across, k, k, a.across.n);
    for (int64_t k = TNC_FIRST(); k <= n / 2 && a.turn.n; k += TNC_STEP())
        tnc_dft_put(a.turn, k, k, a.turn.n);
    for (int64_t k = TNC_FIRST(); k < n && a.m != n; k += TNC_STEP())
        tnc_dft_put(a.chirp, k, (int64_t)((uint64_t)k * (uint64_t)k % (uint64_t)(2 * n)), 2 * n);
    for (int64_t k = TNC_FIRST(); k < dft_coarse(a.m) && a.large; k += TNC_STEP())
        dft_root(k * DFT_FINE, a.m, &a.fine.coarse_re[k], &a.fine.coarse_im[k]);
    for (int64_t k = TNC_FIRST(); k < DFT_FINE && a.large; k += TNC_STEP())
        dft_root(k, a.m, &a.fine.fine_re[k], &a.fine.fine_im[k]);
}

/* --- stages ----------------------------------------------------------------------------------- */

TNC_FN float tnc_dft_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_dft_fma(double a, double b, double c) { return fma(a, b, c); }
/* re + i im times c + i d. */
template <typename T>
TNC_FN T tnc_dft_re(T re, T im, T c, T d) {
    return tnc_dft_fma(-im, d, re * c);
}
template <typename T>
TNC_FN T tnc_dft_im(T re, T im, T c, T d) {
    return tnc_dft_fma(im, c, re * d);
}
/* A stage of radix r: m groups of `wide` neighbours, in planes of `plane` numbers. step: places in
 * the table w that one step of a twiddle takes. */
template <typename T>
struct tnc_dft_stage {
    tnc_dft_table<T> w;
    const T *x;
    T *y;
    int64_t plane, r, m, wide, step;
};
template <typename T>
TNC_FN void tnc_dft_set(const tnc_dft_stage<T> &s, int64_t to, T re, T im, int64_t root) {
    s.y[to] = tnc_dft_re(re, im, s.w.re[root], s.w.im[root]);
    s.y[s.plane + to] = tnc_dft_im(re, im, s.w.re[root], s.w.im[root]);
}
template <typename T>
TNC_FN void tnc_dft_radix2(const tnc_dft_stage<T> &s, int64_t p, int64_t q) {
    const int64_t a = p * s.wide + q, b = a + s.m * s.wide, to = 2 * p * s.wide + q;
    const T *xr = s.x, *xi = s.x + s.plane;
    const T ar = xr[a], ai = xi[a], br = xr[b], bi = xi[b];
    s.y[to] = ar + br;
    s.y[s.plane + to] = ai + bi;
    tnc_dft_set(s, to + s.wide, ar - br, ai - bi, p * s.step);
}
template <typename T>
TNC_FN void tnc_dft_radix4(const tnc_dft_stage<T> &s, int64_t p, int64_t q) {
    const int64_t at = p * s.wide + q, x = s.m * s.wide, to = 4 * p * s.wide + q, k = p * s.step;
    const T *xr = s.x + at, *xi = s.x + s.plane + at;
    const T ar = xr[0] + xr[2 * x], ai = xi[0] + xi[2 * x];
    const T br = xr[0] - xr[2 * x], bi = xi[0] - xi[2 * x];
    const T cr = xr[x] + xr[3 * x], ci = xi[x] + xi[3 * x];
    const T dr = xr[x] - xr[3 * x], di = xi[x] - xi[3 * x];
    s.y[to] = ar + cr;
    s.y[s.plane + to] = ai + ci;
    /* -i d = (di, -dr) */
    tnc_dft_set(s, to + s.wide, br + di, bi - dr, k);
    tnc_dft_set(s, to + 2 * s.wide, ar - cr, ai - ci, 2 * k);
    tnc_dft_set(s, to + 3 * s.wide, br - di, bi + dr, 3 * k);
}
template <typename T>
TNC_FN void tnc_dft_radix_odd(const tnc_dft_stage<T> &s, int64_t p, int64_t q) {
    const int64_t r = s.r, x = s.m * s.wide, to = r * p * s.wide + q, turn = s.w.n / r;
    const T *xr = s.x + p * s.wide + q, *xi = xr + s.plane;
    T ar[DFT_RADIX / 2 + 1], ai[DFT_RADIX / 2 + 1], br[DFT_RADIX / 2 + 1], bi[DFT_RADIX / 2 + 1];
    T tr = xr[0], ti = xi[0];
    for (int64_t j = 1; j <= r / 2; j++) {
        ar[j] = xr[j * x] + xr[(r - j) * x], ai[j] = xi[j * x] + xi[(r - j) * x];
        br[j] = xr[j * x] - xr[(r - j) * x], bi[j] = xi[j * x] - xi[(r - j) * x];
        tr = tr + ar[j], ti = ti + ai[j];
    }
    s.y[to] = tr;
    s.y[s.plane + to] = ti;
    for (int64_t k = 1; k <= r / 2; k++) {
        T gr = xr[0], gi = xi[0], hr = 0, hi = 0;
        for (int64_t j = 1; j <= r / 2; j++) {
            const int64_t w = j * k % r * turn;
            const T c = s.w.re[w], d = s.w.im[w];
            gr = tnc_dft_fma(ar[j], c, gr), gi = tnc_dft_fma(ai[j], c, gi);
            hr = tnc_dft_fma(bi[j], d, hr), hi = tnc_dft_fma(br[j], d, hi);
        }
        tnc_dft_set(s, to + k * s.wide, gr - hr, gi + hi, k * p * s.step);
        tnc_dft_set(s, to + (r - k) * s.wide, gr + hr, gi - hi, (r - k) * p * s.step);
    }
}
/* Transforms `beside` columns of length w.n in planes at x by all threads of a block; y is room.
 * The result: x or y. */
template <typename T>
TNC_FN T *tnc_dft_stages(const tnc_dft_table<T> &w, int64_t beside, T *x, T *y) {
    int64_t rest = w.n, done = 1;
    __syncthreads();
    while (rest > 1) {
        const int64_t r = dft_next_radix(rest), wide = done * beside;
        const tnc_dft_stage<T> s = {w, x, y, w.n * beside, r, rest / r, wide, done};
        T *from = x;
        for (int64_t i = threadIdx.x; i < s.m * wide; i += DFT_THREADS) {
            const int64_t p = i / wide, q = i % wide;
            if (r == 4)
                tnc_dft_radix4(s, p, q);
            else if (r == 2)
                tnc_dft_radix2(s, p, q);
            else
                tnc_dft_radix_odd(s, p, q);
        }
        __syncthreads();
        x = y;
        y = from;
        rest /= r;
        done *= r;
    }
    return x;
}
/* Between the passes of a large line: row k, column c of x, times root k c, to row c of y. */
template <typename T>
TNC_FN void tnc_dft_twist(const tnc_dft<T> &a, const T *x, T *y) {
    const int64_t side = DFT_TWIST / (int64_t)sizeof(T), columns = a.m / a.large;
    for (int64_t i = threadIdx.x; i < a.m; i += DFT_THREADS) {
        const int64_t k = i / columns, c = i % columns, to = c * a.large + k;
        double base_re, base_im, part_re, part_im;
        dft_fine_root(&a.fine, k * (c - c % side), &base_re, &base_im);
        dft_fine_root(&a.fine, k * (c % side), &part_re, &part_im);
        const T wr = tnc_dft_re((T)base_re, (T)base_im, (T)part_re, (T)part_im),
                wi = tnc_dft_im((T)base_re, (T)base_im, (T)part_re, (T)part_im);
        y[to] = tnc_dft_re(x[i], x[a.m + i], wr, wi);
        y[a.m + to] = tnc_dft_im(x[i], x[a.m + i], wr, wi);
    }
}
template <typename T>
TNC_FN T *tnc_dft_line(const tnc_dft<T> &a, T *x, T *y) {
    T *at = tnc_dft_stages(a.roots, a.large ? a.m / a.large : 1, x, y), *to = at == x ? y : x;
    if (!a.large) return at;
    tnc_dft_twist(a, at, to);
    return tnc_dft_stages(a.across, a.large, to, at);
}

/* --- Bluestein -------------------------------------------------------------------------------- */

template <typename T>
TNC_FN void tnc_dft_times_chirp(const tnc_dft<T> &a, const T *xr, const T *xi, T *y) {
    for (int64_t k = threadIdx.x; k < a.b; k += DFT_THREADS) {
        const T re = tnc_dft_re(xr[k], xi[k], a.chirp.re[k], a.chirp.im[k]);
        const T im = tnc_dft_im(xr[k], xi[k], a.chirp.re[k], a.chirp.im[k]);
        y[k] = re;
        y[a.m + k] = im;
    }
}
/* The convolution with the filter: L. Bluestein's transform of the line at x. */
template <typename T>
TNC_FN T *tnc_dft_convolve(const tnc_dft<T> &a, T *x, T *y) {
    T *at, *to;
    tnc_dft_times_chirp(a, x, x + a.m, x);
    at = tnc_dft_line(a, x, y);
    to = at == x ? y : x;
    /* The inverse transform is the forward one with the planes exchanged. */
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        to[a.m + k] = tnc_dft_re(at[k], at[a.m + k], a.filter.re[k], a.filter.im[k]);
        to[k] = tnc_dft_im(at[k], at[a.m + k], a.filter.re[k], a.filter.im[k]);
    }
    at = tnc_dft_line(a, to, at);
    tnc_dft_times_chirp(a, at + a.m, at, at);
    __syncthreads();
    return at;
}
/* One block: the transform of the chirp's conjugate, over m. */
template <typename T>
static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_filter(tnc_dft<T> a) {
    T *x = a.room, *from;
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        const int64_t i = k < a.b ? k : a.m - k;
        x[k] = i < a.b ? a.chirp.re[i] : 0;
        x[a.m + k] = i < a.b ? -a.chirp.im[i] : 0;
    }
    from = tnc_dft_line(a, x, x + 2 * a.m);
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        a.filter.re[k] = (T)((double)from[k] / (double)a.m);
        a.filter.im[k] = (T)((double)from[a.m + k] / (double)a.m);
    }
}

/* --- real numbers ----------------------------------------------------------------------------- */

/* What kernels/dft_type.inl does with elements k and b - k: unpack, or pack. */
template <typename T>
TNC_FN void tnc_dft_unpack(const tnc_dft<T> &a, T *re, T *im, int64_t k) {
    const int64_t at = a.b - k;
    const T half = (T)0.5, ar = re[k], ai = im[k], br = re[at], bi = im[at];
    const T pr = half * (ar + br), pi = half * (ai - bi), mr = half * (ar - br),
            mi = half * (ai + bi);
    const T ur = tnc_dft_re(mr, mi, a.turn.re[k], a.turn.im[k]),
            ui = tnc_dft_im(mr, mi, a.turn.re[k], a.turn.im[k]);
    re[k] = pr + ui, im[k] = pi - ur;
    re[at] = pr - ui, im[at] = -(pi + ur);
}
template <typename T>
TNC_FN void tnc_dft_pack(const tnc_dft<T> &a, T *re, T *im, int64_t k) {
    const int64_t at = a.b - k;
    const T sign = a.inverse ? (T)-1 : (T)1, ar = re[k], ai = im[k], br = re[at], bi = im[at];
    const T pr = ar + br, pi = sign * (ai - bi), mr = ar - br, mi = sign * (ai + bi);
    const T ur = tnc_dft_re(mr, mi, a.turn.re[k], a.turn.im[k]),
            ui = tnc_dft_im(mr, mi, a.turn.re[k], a.turn.im[k]);
    re[k] = pr - ui, im[k] = pi + ur;
    re[at] = pr + ui, im[at] = ur - pi;
}
template <typename T>
TNC_FN void tnc_dft_halves(const tnc_dft<T> &a, T *re, T *im, bool pack) {
    __syncthreads();
    for (int64_t k = threadIdx.x; 2 * k <= a.b; k += DFT_THREADS) {
        if (!k) {
            const T x = re[0], y = im[0];
            re[0] = x + y, im[0] = x - y;
        } else if (pack) {
            tnc_dft_pack(a, re, im, k);
        } else {
            tnc_dft_unpack(a, re, im, k);
        }
    }
    __syncthreads();
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Number `part` of element k of self, 0 where it has none. */
template <typename T>
TNC_FN T tnc_dft_load(const tnc_dft<T> &a, const char *line, int64_t k, int part) {
    if (k >= a.in || (part && !a.pairs)) return 0;
    return ((const T *)(const void *)(line + k * a.x_step))[part];
}
template <typename T>
TNC_FN void tnc_dft_enter(const tnc_dft<T> &a, const char *line, T *re, T *im) {
    for (int64_t k = threadIdx.x; k < a.m; k += DFT_THREADS) {
        const bool mirrored = a.hermitian && !a.to && 2 * k > a.n;
        const int64_t at = mirrored ? a.n - k : k;
        T x = 0, y = 0;
        if (a.of) {
            x = tnc_dft_load(a, line, 2 * k, 0), y = tnc_dft_load(a, line, 2 * k + 1, 0);
        } else if (k < a.b) {
            x = tnc_dft_load(a, line, at, 0), y = tnc_dft_load(a, line, at, 1);
            if (a.hermitian && !k) y = a.to ? tnc_dft_load(a, line, a.b, 0) : 0;
        }
        re[k] = x;
        im[k] = mirrored && at < a.in ? -y : y;
    }
    __syncthreads();
    if (a.to) tnc_dft_halves(a, re, im, true);
}
template <typename T>
TNC_FN void tnc_dft_leave(const tnc_dft<T> &a, char *line, T *re, T *im) {
    const T scale = (T)a.scale, im_scale = a.of && a.inverse ? -scale : scale;
    if (a.of) tnc_dft_halves(a, re, im, false);
    for (int64_t k = threadIdx.x; k < a.count; k += DFT_THREADS) {
        T *to = (T *)(void *)(line + k * a.y_step);
        if (a.hermitian) {
            to[0] = k >= a.n ? 0 : a.to ? (k % 2 ? im : re)[k / 2] * scale : re[k] * scale;
            continue;
        }
        const bool mirrored = a.of && k > a.b;
        const int64_t at = mirrored ? a.n - k : k;
        T x = 0, y = 0;
        if (k < a.n && a.of && k == a.b) {
            x = im[0] * scale;
        } else if (k < a.n) {
            x = re[at] * scale;
            y = a.of && !at ? (T)0 * im_scale : im[at] * im_scale;
        }
        to[0] = x;
        to[1] = mirrored && k < a.n ? -y : y;
    }
    __syncthreads();
}
template <typename T>
static __global__ void __launch_bounds__(DFT_THREADS) tnc_dft_lines(tnc_dft<T> a) {
    /* The inverse: real and imaginary planes exchanged before and after. */
    const bool turned = a.inverse && !a.of && !a.to;
    for (int64_t line = blockIdx.x; line < a.lines.n; line += gridDim.x) {
        T *one = a.room + blockIdx.x * 4 * a.m, *two = one + 2 * a.m, *at;
        int64_t place[2];
        tnc_far_to(a.lines, line, place);
        tnc_dft_enter(a, a.x + place[1], one + (turned ? a.m : 0), one + (turned ? 0 : a.m));
        at = a.m == a.b ? tnc_dft_line(a, one, two) : tnc_dft_convolve(a, one, two);
        __syncthreads();
        tnc_dft_leave(a, a.y + place[0], at + (turned ? a.m : 0), at + (turned ? 0 : a.m));
    }
}

/* --- the row ---------------------------------------------------------------------------------- */

template <typename T>
static unsigned dft_blocks(const tnc_dft<T> &a) {
    const int64_t most = ((int64_t)1 << 23) / a.m + 1; /* 256 MB of room at most, or one block's */
    return tnc_blocks(a.lines.n < most ? a.lines.n : most, 1) < DFT_BLOCKS
               ? tnc_blocks(a.lines.n < most ? a.lines.n : most, 1)
               : (unsigned)DFT_BLOCKS;
}
template <typename T>
static tnc_dft_table<T> dft_table_of(T **at, int64_t n, int64_t count) {
    const tnc_dft_table<T> t = {*at, *at + count, n};
    *at += 2 * count;
    return t;
}
/* What a call is about, without its tables. */
template <typename T>
static void dft_plan(tnc_dft<T> *a, const tn_frame *f) {
    TN_ARGS(dft, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), y = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    tn_walk_plan p;
    memset(a, 0, sizeof *a);
    a->n = args->n;
    a->pairs = x.dtype == TN_C64 || x.dtype == TN_C128;
    a->hermitian = args->hermitian;
    a->to = args->hermitian && args->n % 2 == 0;
    a->of = !args->hermitian && !a->pairs && args->n % 2 == 0;
    a->b = a->of || a->to ? a->n / 2 : a->n;
    a->m = dft_inner(a->b);
    a->large = dft_large_rows(a->m);
    a->in = x.size[d] < a->n ? x.size[d] : a->n;
    a->count = args->count;
    a->scale = args->scale;
    a->inverse = args->inverse;
    a->x = x.at;
    a->y = y.at;
    a->x_step = x.stride[d] * x.bytes;
    a->y_step = y.stride[d] * y.bytes;
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < x.ndim; i++)
        if (i != d) tnc_plan_within(&p, y.size[i], y.stride[i] * y.bytes, x.stride[i] * x.bytes, 0);
    a->lines = tnc_far_of<2>(p);
}
/* The tables in scratch; how many bytes they and the room take. */
template <typename T>
static int64_t dft_tables(tnc_dft<T> *a, const tn_frame *f) {
    const int64_t coarse = a->large ? dft_coarse(a->m) : 0, fine = a->large ? (int64_t)DFT_FINE : 0,
                  b = a->b, down = a->large ? a->large : a->m,
                  along = a->large ? a->m / a->large : 0, turn = a->of || a->to ? b / 2 + 1 : 0,
                  chirp = a->m != b ? b : 0, filter = a->m != b ? a->m : 0;
    const int64_t numbers =
        2 * (down + along + turn + chirp + filter) + 4 * a->m * (int64_t)dft_blocks(*a);
    if (f->scratch) {
        double *at = (double *)f->scratch;
        T *next = (T *)(void *)(at + 2 * (coarse + fine));
        a->fine.coarse_re = at, a->fine.coarse_im = at + coarse;
        a->fine.fine_re = at + 2 * coarse, a->fine.fine_im = a->fine.fine_re + fine;
        a->roots = dft_table_of(&next, down, down);
        a->across = dft_table_of(&next, along, along);
        a->turn = dft_table_of(&next, turn ? a->n : 0, turn);
        a->chirp = dft_table_of(&next, chirp, chirp);
        a->filter = dft_table_of(&next, filter, filter);
        a->room = next;
    }
    return 16 * (coarse + fine) + numbers * (int64_t)sizeof(T);
}
static bool dft_is_narrow(const tn_frame *f) {
    const int dtype = tn_operand_of(f->in[0]).dtype;
    return dtype == TN_F32 || dtype == TN_C64;
}
template <typename T>
static bool dft_prepare_as(tn_frame *f) {
    tnc_dft<T> a;
    dft_plan(&a, f);
    if (a.m > INT64_MAX / 8 / (16 + 4 * (int64_t)DFT_BLOCKS))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, dft_tables(&a, f)) != NULL;
}
static bool dft_prepare(tn_frame *f) {
    if (!tn_numel(f->out[0])) return true;
    return dft_is_narrow(f) ? dft_prepare_as<float>(f) : dft_prepare_as<double>(f);
}
template <typename T>
static void dft_run_as(tn_frame *f) {
    const cudaStream_t s = tnc_stream(f);
    tnc_dft<T> a;
    dft_plan(&a, f);
    dft_tables(&a, f);
    TNC_LAUNCH_PLAIN((tnc_dft_roots<T>), tnc_blocks(a.m, DFT_THREADS), DFT_THREADS, s, a);
    if (a.m != a.b) TNC_LAUNCH((tnc_dft_filter<T>), 1, DFT_THREADS, s, a);
    TNC_LAUNCH((tnc_dft_lines<T>), dft_blocks(a), DFT_THREADS, s, a);
}
static void dft_run(tn_frame *f) {
    if (!tn_numel(f->out[0])) return;
    if (dft_is_narrow(f))
        dft_run_as<float>(f);
    else
        dft_run_as<double>(f);
}

static const tn_device_row dft_table[] = {{"dft", false, NULL, dft_prepare, dft_run}};
TNC_FAMILY(dft, dft_table)
