/* pool_places.c - the largest element of each window and its place in the plane: windows of fixed
 * size, adaptive ones, and those that random numbers place, of one to three dimensions.
 *
 * The places are flat numbers in a plane, so that a gradient is a scatter_add.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"
#include "../../autograd/give.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

#include <math.h>

/* --- geometry --------------------------------------------------------------------------------- */

/* One dimension: window p begins at p stride - pad and has k elements dil apart; k 0 stands for
 * adaptive windows, starts != NULL for windows that begin there. */
typedef struct places_axis {
    int64_t in, out, k, stride, pad, dil;
    const int64_t *starts;
} places_axis;
/* Depth, rows, columns: dimensions that the input lacks have one element. */
typedef struct places_shape {
    int ndim, dims;
    int64_t planes;
    places_axis axis[3];
    int64_t size[5]; /* of the results */
} places_shape;
typedef struct places_job {
    tni_pool_job pool; /* first: the loops are given it */
    places_shape s;
    int64_t *places;
    const int64_t *starts; /* of all planes: a start for each window of each dimension */
} places_job;

/* The input's part of s: (N, C, sizes) or (C, sizes), of which N may be 0. */
static bool places_planes(tn_frame *f, places_shape *s, int dims) {
    static const places_axis one = {1, 1, 1, 1, 0, 1, NULL};
    const tn_tensor *x = f->in[0];
    char has[160];
    bool fits = x->ndim == dims + 1 || x->ndim == dims + 2;
    for (int i = 0; fits && i < x->ndim; i++)
        fits = x->size[i] <= INT64_MAX / 4 && (x->size[i] > 0 || (i == 0 && x->ndim == dims + 2));
    if (!fits)
        return tn_fail(f, TN_INVALID,
                       "Expected %dD or %dD (batch mode) tensor with non-zero dimensions behind an "
                       "optional batch, but got %s",
                       dims + 1, dims + 2, tni_shape_text(has, sizeof has, x->ndim, x->size));
    s->ndim = x->ndim;
    s->dims = dims;
    s->planes = 1;
    for (int i = 0; i < x->ndim; i++) s->size[i] = x->size[i];
    for (int i = 0; i < x->ndim - dims; i++) /* sizes of a tensor: the product is checked */
        s->planes *= x->size[i];
    for (int i = 0; i < 3; i++) s->axis[i] = one;
    for (int i = 0; i < dims; i++) s->axis[3 - dims + i].in = x->size[x->ndim - dims + i];
    return true;
}
static void places_out(places_shape *s) {
    for (int i = 0; i < s->dims; i++) s->size[s->ndim - s->dims + i] = s->axis[3 - s->dims + i].out;
}
/* kernel_size, stride, padding and dilation of windows of fixed size; an absent stride is the
 * kernel's size. */
static bool places_fixed(tn_frame *f, places_shape *s, int dims, const tn_ints option[4],
                         bool ceil_mode) {
    int64_t k[3], stride[3], pad[3], dil[3];
    if (!places_planes(f, s, dims) || !tni_each_of(f, option[0], "kernel_size", dims, 1, k) ||
        !tni_each_of(f, option[1].n > 0 ? option[1] : option[0], "stride", dims, 1, stride) ||
        !tni_each_of(f, option[2], "padding", dims, 0, pad) ||
        !tni_each_of(f, option[3], "dilation", dims, 1, dil))
        return false;
    for (int i = 0; i < dims; i++) {
        places_axis *a = &s->axis[3 - dims + i];
        a->k = k[i];
        a->stride = stride[i];
        a->pad = pad[i];
        a->dil = dil[i];
        if (!tni_pool_length(f, a->in, k[i], stride[i], pad[i], dil[i], ceil_mode, &a->out))
            return false;
    }
    places_out(s);
    return true;
}
static bool places_adaptive(tn_frame *f, places_shape *s, int dims, tn_ints size) {
    int64_t out[3];
    if (f->in[0]->ndim <= dims)
        return tn_fail(f, TN_INVALID, "Input dimension should be at least %d, got %d", dims + 1,
                       f->in[0]->ndim);
    if (!places_planes(f, s, dims) || !tni_each_of(f, size, "output_size", dims, 0, out))
        return false;
    for (int i = 0; i < dims; i++) {
        s->axis[3 - dims + i].k = 0;
        s->axis[3 - dims + i].out = out[i];
    }
    places_out(s);
    return true;
}
/* keeps: images that lie channels-last make such results. */
static bool places_check(tn_frame *f, const places_shape *s, int also, bool keeps) {
    const tn_tensor *x = f->in[0];
    if (!tni_pool_check_dtype(f, x, also) || !tni_pool_scratch(f, x, s->size, s->ndim))
        return false;
    return keeps ? tni_announce_images(f, 0, (tn_dtype)x->dtype, s->ndim, s->size, x, false) &&
                       tni_announce_images(f, 1, TN_I64, s->ndim, s->size, x, false)
                 : tn_announce(f, 0, (tn_dtype)x->dtype, s->ndim, s->size) &&
                       tn_announce(f, 1, TN_I64, s->ndim, s->size);
}

/* --- loops ------------------------------------------------------------------------------------ */

/* Elements begin, begin + step, .. below end. */
typedef struct places_window {
    int64_t begin, end, step;
} places_window;
static places_window places_at(const places_axis *a, int64_t p) {
    places_window w = {p * a->stride - a->pad, 0, a->dil};
    if (a->starts) {
        w.begin = a->starts[p];
        w.end = w.begin + a->k;
    } else if (a->k) {
        w.end = w.begin + a->k * a->dil;
        if (w.end > a->in) w.end = a->in;
        if (w.begin < 0) w.begin += (a->dil - 1 - w.begin) / a->dil * a->dil;
    } else { /* from floor(p in / out) to ceil((p + 1) in / out), without large products */
        const int64_t q = a->in / a->out, r = a->in % a->out;
        w.begin = p * q + p * r / a->out;
        w.end = (p + 1) * q + ((p + 1) * r + a->out - 1) / a->out;
    }
    if (w.begin >= a->in) w.begin = w.end = a->in - 1;
    return w;
}
/* The first of equal elements, the last NaN. Between dilated elements a window may miss the input:
 * then the result is `least`, at the nearest place. */
#define PLACES(S, T, least)                                                          \
    static void places_##S(const tni_pool_job *pool, int64_t plane) {                \
        const places_job *j = (const places_job *)(const void *)pool;                \
        places_axis a[3] = {j->s.axis[0], j->s.axis[1], j->s.axis[2]};               \
        const int64_t n = a[0].out * a[1].out * a[2].out;                            \
        const T *from = (const T *)pool->from + plane * a[0].in * a[1].in * a[2].in; \
        T *to = (T *)pool->to + plane * n;                                           \
        int64_t *place = j->places + plane * n;                                      \
        if (j->starts) {                                                             \
            a[0].starts = j->starts + plane * (a[0].out + a[1].out + a[2].out);      \
            a[1].starts = a[0].starts + a[0].out;                                    \
            a[2].starts = a[1].starts + a[1].out;                                    \
        }                                                                            \
        for (int64_t i = 0; i < n; i++) {                                            \
            const places_window z = places_at(&a[0], i / a[2].out / a[1].out),       \
                                y = places_at(&a[1], i / a[2].out % a[1].out),       \
                                x = places_at(&a[2], i % a[2].out);                  \
            const bool some = z.begin < z.end && y.begin < y.end && x.begin < x.end; \
            int64_t at = (z.begin * a[1].in + y.begin) * a[2].in + x.begin;          \
            T best = some ? from[at] : least;                                        \
            for (int64_t d = z.begin; d < z.end; d += z.step)                        \
                for (int64_t r = y.begin; r < y.end; r += y.step) {                  \
                    const int64_t row = (d * a[1].in + r) * a[2].in;                 \
                    for (int64_t c = x.begin; c < x.end; c += x.step) {              \
                        const T v = from[row + c];                                   \
                        if (v > best || v != v) best = v, at = row + c;              \
                    }                                                                \
                }                                                                    \
            to[i] = best;                                                            \
            place[i] = at;                                                           \
        }                                                                            \
    }
PLACES(f32, float, -INFINITY)
PLACES(f64, double, -INFINITY)
PLACES(i64, int64_t, pool->least)
#undef PLACES

static void places_run(tn_frame *f, places_job *j) {
    const int compute = tni_lanes_compute(f->in[0]->dtype);
    const places_axis *a = j->s.axis;
    int64_t k[3] = {0, 0, 0};
    memset(&j->pool, 0, sizeof j->pool);
    j->places = (int64_t *)(void *)tni_bytes_at(f->out[1]);
    /* What a plane costs, for the tasks' sake; an adaptive window is at most so long. */
    for (int i = 0; i < 3; i++) k[i] = a[i].k || !a[i].out ? a[i].k : a[i].in / a[i].out + 2;
    j->pool.s.planes = j->s.planes;
    j->pool.s.h = a[0].in * a[1].in;
    j->pool.s.w = a[2].in;
    j->pool.s.oh = a[0].out * a[1].out;
    j->pool.s.ow = a[2].out;
    j->pool.s.kh = k[0] < INT32_MAX && k[1] < INT32_MAX ? k[0] * k[1] : INT32_MAX;
    j->pool.s.kw = k[2];
    j->pool.least = tni_pool_least(f->in[0]->dtype);
    j->pool.plane = compute == TN_F32 ? places_f32 : compute == TN_F64 ? places_f64 : places_i64;
    TNI_PATH(pool_places);
    tni_pool_through(f, &j->pool);
}
/* What comes in is added to the elements that were chosen. */
static void places_grad(tn_gradient *g, int dims) {
    const tn_tensor *x = g->in[0];
    tn_tensor *d = g->incoming[0], *places = g->out[1], *zero;
    int64_t planes = 1, n = 1, m = 1, to[2], from[2];
    for (int i = 0; i < x->ndim - dims; i++) planes *= x->size[i];
    for (int i = x->ndim - dims; i < x->ndim; i++) {
        n *= x->size[i];
        m *= places->size[i];
    }
    to[0] = from[0] = planes;
    to[1] = n;
    from[1] = m;
    if (!d || !g->want[0]) return;
    zero = tni_zeros_of(d, 2, to);
    zero = tnp_scatter_add(zero, 1, tnp_reshape(places, tni_ints(from, 2)),
                           tnp_reshape(d, tni_ints(from, 2)));
    tni_give_flat(g, 0, tnp_reshape(zero, tni_sizes(x)));
}

/* --- windows of fixed size -------------------------------------------------------------------- */

/* shape, check, run and grad of the row of `dims` dimensions. */
#define PLACES_FIXED(name, dims)                                                        \
    static bool name##_shape(tn_frame *f, places_shape *s) {                            \
        TN_ARGS(name, a, f);                                                            \
        const tn_ints option[4] = {a->kernel_size, a->stride, a->padding, a->dilation}; \
        return places_fixed(f, s, dims, option, a->ceil_mode);                          \
    }                                                                                   \
    static bool name##_check(tn_frame *f) {                                             \
        places_shape s;                                                                 \
        return name##_shape(f, &s) && places_check(f, &s, TNI_POOL_INTEGERS, true);     \
    }                                                                                   \
    PLACES_RUN(name, dims)
#define PLACES_RUN(name, dims)              \
    static void name##_run(tn_frame *f) {   \
        places_job j;                       \
        if (!name##_shape(f, &j.s)) return; \
        j.starts = NULL;                    \
        places_run(f, &j);                  \
    }                                       \
    static void name##_grad(tn_gradient *g) { places_grad(g, dims); }

PLACES_FIXED(max_pool1d_with_indices, 1)
/* The largest element of each window of a line, as max_pool1d, and its number in the line. */
TN_OPERATOR(max_pool1d_with_indices,
            "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1]? stride=None, int[1] "
            "padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, L) or (C, L) -> result, indices: (N, C, L') or (C, L')",
                   .example = "tn_result_indices m = "
                              "tn_max_pool1d_with_indices(x, TN_DIMS(2));"),
            .forms = TN_OUT, .needs = "indices", .check = max_pool1d_with_indices_check,
            .run = max_pool1d_with_indices_run, .grad = max_pool1d_with_indices_grad,
            .sample = "(2,3,8) [2] | (2,9) [3] [2] [1] | (1,2,9) [2] dilation=[2] | (1,2,8) [3] "
                      "ceil_mode=True | (0,2,4) [2]")

PLACES_FIXED(max_pool2d_with_indices, 2)
/* The largest element of each window, as max_pool2d, and its number in the plane, row by row. */
TN_OPERATOR(max_pool2d_with_indices,
            "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] "
            "padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W) -> result, indices: (N, C, H', W') or "
                             "(C, H', W')",
                   .example = "tn_result_indices m = "
                              "tn_max_pool2d_with_indices(x, TN_DIMS(2, 2));"),
            .forms = TN_OUT | TN_IMAGES, .needs = "indices", .check = max_pool2d_with_indices_check,
            .run = max_pool2d_with_indices_run, .grad = max_pool2d_with_indices_grad,
            .sample = "(2,3,6,8) [2,2] | (2,5,37) [2] | (2,2,7,7) [3,2] stride=[2,1] padding=[1,0] "
                      "| (1,2,9,8) [2,3] dilation=[2,2] | (1,2,5,7) [2,2] ceil_mode=True | "
                      "(0,2,4,4) [2,2]")

PLACES_FIXED(max_pool3d_with_indices, 3)
/* The largest element of each window of a volume and its number in the volume, row by row. A NaN
 * wins, padding never does; the first of equal elements is taken. stride None means kernel_size;
 * ceil_mode keeps a last window that is cut off. Real dtypes but bool. */
TN_OPERATOR(max_pool3d_with_indices,
            "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] "
            "padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W) -> result, indices: (N, C, D', "
                             "H', W') or (C, D', H', W')",
                   .example = "tn_result_indices m = "
                              "tn_max_pool3d_with_indices(x, TN_DIMS(2));"),
            .forms = TN_OUT | TN_IMAGES, .needs = "indices", .check = max_pool3d_with_indices_check,
            .run = max_pool3d_with_indices_run, .grad = max_pool3d_with_indices_grad,
            .sample = "(2,3,4,6,4) [2] | (2,5,4,7) [3,2,2] stride=[2,1,2] padding=[1,0,1] | "
                      "(1,2,5,5,6) [2,3,2] dilation=[2,1,3] | (1,2,5,4,3) [2] ceil_mode=True | "
                      "(0,2,4,4,2) [2]",
            .node = "MaxPool3DWithIndicesBackward0")

static bool max_pool3d_compose(tn_frame *f) {
    TN_ARGS(max_pool3d, a, f);
    f->out[0] = tnp_max_pool3d_with_indices(a->self, a->kernel_size, a->stride, a->padding,
                                            a->dilation, a->ceil_mode)
                    .result;
    return f->out[0] != NULL;
}
/* max_pool2d of volumes. */
TN_OPERATOR(max_pool3d,
            "max_pool3d(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, "
            "int[3] dilation=1, bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, "
                             "D', H', W')",
                   .example = "tn_max_pool3d(x, TN_DIMS(2))",
                   .differs = "parameter stride: [] there and None here: as the kernel"),
            .autocast = TN_WIDE_CPU, .compose = max_pool3d_compose,
            .sample = "(1,2,3,4,3) [2] | (2,5,4,7) [3,2,2] stride=[2,1,2] padding=[1,0,1] | "
                      "(1,2,5,5,6) [2,3,2] dilation=[2,1,3] | (1,2,5,4,3) [2] ceil_mode=True",
            .node = "MaxPool3DWithIndicesBackward0")

/* --- adaptive windows ------------------------------------------------------------------------- */

#define PLACES_ADAPTIVE(name, dims)                                      \
    static bool name##_shape(tn_frame *f, places_shape *s) {             \
        TN_ARGS(name, a, f);                                             \
        return places_adaptive(f, s, dims, a->output_size);              \
    }                                                                    \
    static bool name##_check(tn_frame *f) {                              \
        places_shape s;                                                  \
        return name##_shape(f, &s) && places_check(f, &s, 0, dims == 2); \
    }                                                                    \
    PLACES_RUN(name, dims)

PLACES_ADAPTIVE(adaptive_max_pool1d, 1)
/* The largest elements of output_size windows that cover a line, and their numbers in it. */
TN_OPERATOR(adaptive_max_pool1d,
            "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, L) or (C, L) -> result, indices: (N, C, L') or (C, L')",
                   .example = "tn_result_indices m = tn_adaptive_max_pool1d(x, "
                              "TN_DIMS(4));"),
            .forms = TN_OUT, .needs = "indices", .check = adaptive_max_pool1d_check,
            .run = adaptive_max_pool1d_run, .grad = adaptive_max_pool1d_grad,
            .sample = "(2,3,7) [3] | (2,5) [1] | (1,2,3) [5] | (0,2,4) [2]")

PLACES_ADAPTIVE(adaptive_max_pool2d, 2)
/* The largest elements of the windows of adaptive_avg_pool2d, and their numbers in the plane, row
 * by row. */
TN_OPERATOR(adaptive_max_pool2d,
            "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W), output_size (H', W') -> result, "
                             "indices: (N, C, H', W') or (C, H', W')",
                   .example = "tn_result_indices m = tn_adaptive_max_pool2d(x, "
                              "TN_DIMS(2));"),
            .forms = TN_OUT | TN_IMAGES, .needs = "indices", .check = adaptive_max_pool2d_check,
            .run = adaptive_max_pool2d_run, .grad = adaptive_max_pool2d_grad,
            .sample = "(2,3,7,5) [1,1] | (2,7,5) [3,2] | (1,2,3,4) [5,4] | (0,2,4,4) [2,2]")

PLACES_ADAPTIVE(adaptive_max_pool3d, 3)
/* adaptive_max_pool2d of volumes. */
TN_OPERATOR(adaptive_max_pool3d,
            "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor result, Tensor "
            "indices)",
            TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W), output_size (D', H', W') -> "
                             "result, indices: (N, C, D', H', W') or (C, D', H', W')",
                   .example = "tn_result_indices m = tn_adaptive_max_pool3d(x, "
                              "TN_DIMS(1));"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .needs = "indices",
            .check = adaptive_max_pool3d_check, .run = adaptive_max_pool3d_run,
            .grad = adaptive_max_pool3d_grad,
            .sample = "(1,2,4,5,3) [2,3,2] | (2,3,4,5) [1,1,1] | (1,2,2,3,2) [3,4,3] | (0,2,4,4,2) "
                      "[2,2,2]")

/* --- windows that random numbers place -------------------------------------------------------- */

static bool places_fractional(tn_frame *f, places_shape *s, int dims, tn_ints kernel,
                              tn_ints output) {
    static const char *const named[] = {"time", "height", "width"};
    int64_t k[3], out[3];
    if (!places_planes(f, s, dims) || !tni_each_of(f, kernel, "kernel_size", dims, 1, k) ||
        !tni_each_of(f, output, "output_size", dims, 0, out))
        return false;
    for (int i = 0; i < dims; i++) {
        places_axis *a = &s->axis[3 - dims + i];
        a->k = k[i];
        a->out = out[i];
        /* torch's bounds, which differ by one. */
        if (out[i] + k[i] - 1 > a->in - (dims == 3))
            return tn_fail(f, TN_INVALID,
                           "pool size %lld and output size %lld are too large relative to input "
                           "%s %lld",
                           (long long)k[i], (long long)out[i], named[3 - dims + i],
                           (long long)a->in);
    }
    places_out(s);
    return true;
}
static bool fractional_check(tn_frame *f, const places_shape *s) {
    const tn_tensor *x = f->in[0], *random = f->in[1];
    const int64_t n = s->ndim == s->dims + 1 ? 1 : x->size[0];
    char has[160];
    int64_t starts = 0;
    if (random->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "Expect random_samples to have the same dtype as input");
    if (random->ndim != 3 || random->size[0] < n ||
        random->size[1] != x->size[s->ndim - s->dims - 1] || random->size[2] != s->dims)
        return tn_fail(f, TN_INVALID,
                       "Expect random_samples to have shape (N, C, %d) like the planes, got %s",
                       s->dims, tni_shape_text(has, sizeof has, random->ndim, random->size));
    for (int i = 0; i < 3; i++) starts += s->axis[i].out;
    return places_check(f, s, 0, false) &&
           (tni_mul(starts, s->planes, &starts) ||
            tn_fail(f, TN_MEMORY, "the input is too large")) &&
           tn_scratch(f, starts, (int64_t)sizeof(int64_t));
}
/* v rounded to dtype, as torch computes starts. */
static double fractional_round(double v, int dtype) {
    char narrow[16];
    tni_lanes_save(narrow, 8, dtype, &v, TN_F64, 1);
    tni_lanes_load(&v, TN_F64, narrow, 8, dtype, 1);
    return v;
}
/* v without its fraction, within -most..most; NaN counts as 0. */
static int64_t fractional_cut(double v, int64_t most) {
    return v != v ? 0 : v >= (double)most ? most : v <= -(double)most ? -most : (int64_t)v;
}
/* Begins of the windows: floor((i + sample) alpha) - floor(sample alpha); the last window ends at
 * the input's end. */
static void fractional_starts(int64_t *starts, const places_axis *a, double sample, int dtype) {
    const int64_t most = a->in - a->k;
    const double alpha = a->out > 1
                             ? fractional_round(fractional_round((double)most, dtype) /
                                                    fractional_round((double)(a->out - 1), dtype),
                                                dtype)
                             : 0;
    const int64_t shift = fractional_cut(fractional_round(sample * alpha, dtype), 2 * most);
    for (int64_t i = 0; i < a->out - 1; i++) {
        const double at = fractional_round(fractional_round((double)i, dtype) + sample, dtype);
        const int64_t start = fractional_cut(fractional_round(at * alpha, dtype), 3 * most) - shift;
        starts[i] = start < 0 ? 0 : start > most ? most : start;
    }
    if (a->out) starts[a->out - 1] = most;
}
static void fractional_run(tn_frame *f, places_job *j) {
    const places_axis *a = j->s.axis;
    const tn_tensor *random = f->in[1];
    const int64_t each = a[0].out + a[1].out + a[2].out, bytes = tni_dtype_size(random),
                  room = (each * j->s.planes * (int64_t)sizeof(int64_t) + TNI_ALIGN - 1) /
                         TNI_ALIGN * TNI_ALIGN,
                  channels = random->size[1];
    int64_t *starts;
    j->starts = starts = (int64_t *)(void *)((char *)f->scratch + f->scratch_bytes - room);
    for (int64_t p = 0; p < j->s.planes; p++)
        for (int i = 0; i < 3; starts += a[i].out, i++) {
            /* Samples stand for (D, H, W), but for (W, H) in planes. */
            const int64_t which = j->s.dims == 3 ? i : i == 2 ? 0 : 1;
            const char *at = tni_bytes_at(random) +
                             (p / channels * random->stride[0] + p % channels * random->stride[1] +
                              which * random->stride[2]) *
                                 bytes;
            double sample;
            tni_lanes_load(&sample, TN_F64, at, bytes, random->dtype, 1);
            fractional_starts(starts, &a[i], sample, random->dtype);
        }
    places_run(f, j);
}
#define PLACES_FRACTIONAL(name, dims)                                         \
    static bool name##_shape(tn_frame *f, places_shape *s) {                  \
        TN_ARGS(name, a, f);                                                  \
        return places_fractional(f, s, dims, a->kernel_size, a->output_size); \
    }                                                                         \
    static bool name##_check(tn_frame *f) {                                   \
        places_shape s;                                                       \
        return name##_shape(f, &s) && fractional_check(f, &s);                \
    }                                                                         \
    static void name##_run(tn_frame *f) {                                     \
        places_job j;                                                         \
        if (name##_shape(f, &j.s)) fractional_run(f, &j);                     \
    }                                                                         \
    static void name##_grad(tn_gradient *g) { places_grad(g, dims); }

PLACES_FRACTIONAL(fractional_max_pool2d, 2)
/* The largest elements of output_size windows of kernel_size and their numbers in the plane.
 * random_samples, numbers of [0, 1) for the columns and the rows of each plane, place the windows.
 * Benjamin Graham, Fractional max-pooling, 2014. */
TN_OPERATOR(fractional_max_pool2d,
            "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor "
            "random_samples) -> (Tensor result, Tensor indices)",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W), random_samples (N, C, 2) -> result, "
                             "indices: (N, C, output_size)",
                   .example = "tn_result_indices m = tn_fractional_max_pool2d(x, "
                              "TN_DIMS(2), TN_DIMS(3), y);",
                   .differs = "gradcheck: it is no function of random_samples | result 0 at ties: "
                              "numbers outside of [0, 1) are in no range there | result 1 at ties: "
                              "numbers outside of [0, 1) are in no range there | grad of tensor 0 "
                              "at ties: numbers outside of [0, 1) are in no range there"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .needs = "self:indices",
            .check = fractional_max_pool2d_check, .run = fractional_max_pool2d_run,
            .grad = fractional_max_pool2d_grad, .domain = "random_samples:0..0.99",
            .sample = "(2,3,7,6) [2] [4,3] (2,3,2) | (2,8,5) [3,2] [4] (1,2,2) | "
                      "(0,2,4,4):f64 [2] [3,2] (0,2,2):f64")

PLACES_FRACTIONAL(fractional_max_pool3d, 3)
/* fractional_max_pool2d of volumes; random_samples are those of depth, rows and columns. */
TN_OPERATOR(fractional_max_pool3d,
            "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor "
            "random_samples) -> (Tensor result, Tensor indices)",
            TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W), random_samples (N, C, 3) -> "
                             "result, indices: (N, C, output_size)",
                   .example = "tn_result_indices m = tn_fractional_max_pool3d(x, "
                              "TN_DIMS(2), TN_DIMS(3), y);",
                   .differs = "gradcheck: it is no function of random_samples | result 0 at ties: "
                              "numbers outside of [0, 1) are in no range there | result 1 at ties: "
                              "numbers outside of [0, 1) are in no range there | grad of tensor 0 "
                              "at ties: numbers outside of [0, 1) are in no range there"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .needs = "self:indices",
            .check = fractional_max_pool3d_check, .run = fractional_max_pool3d_run,
            .grad = fractional_max_pool3d_grad, .domain = "random_samples:0..0.99",
            .sample = "(2,2,7,6,5) [2] [4,3,2] (2,2,3) | (2,8,5,4) [3,2,1] [4,2,2] (1,2,3)")
#undef PLACES_FIXED
#undef PLACES_ADAPTIVE
#undef PLACES_FRACTIONAL
#undef PLACES_RUN
