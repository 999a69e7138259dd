/* resample.c - images of another size: interpolation, its gradient, and means of windows that cover
 * a dimension.
 *
 * All modes are sums of a few elements along each dimension, whose places and weights are the same
 * for all planes: a table for each dimension. A line of the result is the weighted sum of lines of
 * the input, then of elements of that sum. The gradient goes the same way back.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

#include <math.h>
#include "../../base/rounded_begin.inl"

#define TNI_TABLE static TNI_UNUSED
#include "../../simd/resample_table.inl"
#undef TNI_TABLE

typedef struct rs_shape {
    rs_axis axis[3]; /* depth, rows, columns */
    int64_t planes, size[TN_MAX_DIMS];
    int ndim;
} rs_shape;

/* --- tables ----------------------------------------------------------------------------------- */

static void rs_table(const rs_axis *x, const rs_options *o, double given) {
    const double scale = x->out > 0 ? rs_scale(x, given, o->align_corners) : 0;
    for (int64_t p = 0; p < x->out; p++) rs_row(x, o, scale, given, p);
    for (int64_t i = 0; i < x->out * x->taps; i++) x->single[i] = (float)x->weight[i];
}

/* Sizes and taps of all three dimensions: those that are absent have one element. */
static bool rs_shape_of(tn_frame *f, rs_shape *s, tn_ints x, tn_ints size, const rs_options *o) {
    char has[160];
    const int dims = (int)size.n;
    if (dims < 1 || dims > 3 || x.n <= dims || x.n > TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID,
                       "expected 1 to 3 sizes and an input of more dimensions, got "
                       "%d sizes and %s",
                       dims, tni_shape_text(has, sizeof has, (int)x.n, x.at));
    if (o->scales.n > 0 && o->scales.n != dims)
        return tn_fail(f, TN_INVALID, "expected %d scales, got %lld", dims, (long long)o->scales.n);
    s->ndim = (int)x.n;
    s->planes = 1;
    for (int i = 0; i < s->ndim - dims; i++) {
        s->size[i] = x.at[i];
        if (x.at[i] < 0 || !tni_mul(s->planes, x.at[i], &s->planes))
            return tn_fail(f, TN_MEMORY, "the input is too large");
    }
    for (int i = 0; i < 3; i++) {
        rs_axis *axis = s->axis + i;
        const int d = i - (3 - dims);
        memset(axis, 0, sizeof *axis);
        axis->in = axis->out = axis->taps = 1;
        if (d < 0) continue;
        axis->in = x.at[s->ndim - dims + d];
        axis->out = size.at[d];
        if (axis->in < 1 || axis->out < (o->mode != TN_RESIZE_MODE_AREA) || axis->in > INT32_MAX ||
            axis->out > INT32_MAX)
            return tn_fail(f, TN_INVALID,
                           "Input and output sizes should be greater than 0, but got input %s and "
                           "output size %lld along dimension %d",
                           tni_shape_text(has, sizeof has, (int)x.n, x.at), (long long)axis->out,
                           d);
        axis->taps = rs_taps(axis, o, o->scales.n > 0 ? o->scales.at[d] : 0);
        s->size[s->ndim - dims + d] = axis->out;
    }
    return true;
}
/* Bytes of the tables. */
static bool rs_room(const rs_shape *s, int64_t *bytes) {
    *bytes = 0;
    for (int i = 0; i < 3; i++) {
        const rs_axis *x = s->axis + i;
        int64_t n;
        if (!tni_mul(x->out, x->taps, &n) || !tni_mul(n, 16, &n) || !tni_add(n, x->out * 8, &n) ||
            !tni_add(*bytes, n, bytes))
            return false;
    }
    return tni_add(*bytes, TNI_ALIGN - 1, bytes) && (*bytes &= -TNI_ALIGN, true);
}
/* Tables at the end of the scratch. */
static void rs_tables(tn_frame *f, rs_shape *s, const rs_options *o, int dims) {
    int64_t bytes;
    char *room;
    if (!rs_room(s, &bytes)) return;
    room = (char *)f->scratch + ((int64_t)f->scratch_bytes - bytes);
    for (int i = 0; i < 3; i++) {
        rs_axis *x = s->axis + i;
        const int64_t n = x->out * x->taps;
        const int d = i - (3 - dims);
        rs_options one = *o;
        x->weight = (double *)(void *)room;
        x->single = (float *)(void *)(room + n * 8);
        x->at = (int32_t *)(void *)(room + n * 12);
        x->count = (int32_t *)(void *)(room + n * 16);
        room += n * 16 + x->out * 8;
        if (d < 0) one.mode = TN_RESIZE_MODE_NEAREST;
        rs_table(x, &one, d >= 0 && o->scales.n > 0 ? o->scales.at[d] : 0);
    }
}

/* --- loops ------------------------------------------------------------------------------------ */

/* The sum of lines is made RS_LINE elements at a time. */
enum { RS_LINE = 2048 };
typedef struct rs_job {
    tni_pool_job pool; /* its planes and elements */
    rs_shape s;
} rs_job;

/* Columns q..end-1 of the output that read at most RS_LINE columns of the input; at least one. */
static int64_t rs_chunk(const rs_axis *x, int64_t q) {
    int64_t end = q;
    if (x->in <= RS_LINE) return x->out;
    do end++;
    while (end < x->out && x->at[end * x->taps + x->count[end] - 1] - x->at[q * x->taps] < RS_LINE);
    return end;
}
static int64_t rs_last(const rs_axis *x, int64_t q) { return x->at[q * x->taps + x->count[q] - 1]; }

/* S: the name; T: elements; A: sums; W: which weights. Lines (z, p) of the output are sums of lines
 * of the input, by the first two tables; then columns by the third. */
#define RESAMPLE(S, T, A, W)                                                                       \
    static void rs_columns_##S(const rs_axis *x, const A *line, int64_t first, T *to, int64_t q,   \
                               int64_t end) {                                                      \
        const int32_t *at = x->at + q * x->taps;                                                   \
        const A *w = x->W + q * x->taps;                                                           \
        if (x->taps == 1) {                                                                        \
            for (; q < end; q++) to[q] = (T)line[*at++ - first];                                   \
        } else if (x->taps == 2 && x->count[q] == 2 && x->count[end - 1] == 2) {                   \
            for (; q < end; q++, at += 2, w += 2)                                                  \
                to[q] = (T)(line[at[0] - first] * w[0] + line[at[1] - first] * w[1]);              \
        } else {                                                                                   \
            for (; q < end; q++, at += x->taps, w += x->taps) {                                    \
                A sum = line[at[0] - first] * w[0];                                                \
                for (int k = 1; k < x->count[q]; k++) sum += line[at[k] - first] * w[k];           \
                to[q] = (T)sum;                                                                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void rs_line_##S(const rs_job *j, const T *from, A *line, int64_t z, int64_t p,         \
                            int64_t first, int64_t n) {                                            \
        const rs_axis *x = j->s.axis;                                                              \
        bool begun = false;                                                                        \
        for (int a = 0; a < x[0].count[z]; a++)                                                    \
            for (int b = 0; b < x[1].count[p]; b++) {                                              \
                const A w = x[0].W[z * x[0].taps + a] * x[1].W[p * x[1].taps + b];                 \
                const T *row =                                                                     \
                    from +                                                                         \
                    ((int64_t)x[0].at[z * x[0].taps + a] * x[1].in + x[1].at[p * x[1].taps + b]) * \
                        x[2].in +                                                                  \
                    first;                                                                         \
                if (!begun)                                                                        \
                    for (int64_t i = 0; i < n; i++) line[i] = (A)row[i] * w;                       \
                else                                                                               \
                    for (int64_t i = 0; i < n; i++) line[i] += (A)row[i] * w;                      \
                begun = true;                                                                      \
            }                                                                                      \
    }                                                                                              \
    static void rs_plane_##S(const tni_pool_job *pool, int64_t plane) {                            \
        const rs_job *j = (const rs_job *)(const void *)pool;                                      \
        const rs_axis *x = j->s.axis, *c = x + 2;                                                  \
        const T *from = (const T *)pool->from + plane * x[0].in * x[1].in * c->in;                 \
        T *to = (T *)pool->to + plane * x[0].out * x[1].out * c->out;                              \
        A line[RS_LINE];                                                                           \
        for (int64_t i = 0; i < x[0].out * x[1].out; i++, to += c->out)                            \
            for (int64_t q = 0, end; q < c->out; q = end) {                                        \
                const int64_t z = i / x[1].out, p = i % x[1].out;                                  \
                end = rs_chunk(c, q);                                                              \
                const int64_t first = c->at[q * c->taps], n = rs_last(c, end - 1) - first + 1;     \
                if (n <= RS_LINE) {                                                                \
                    rs_line_##S(j, from, line, z, p, first, n);                                    \
                    rs_columns_##S(c, line, first, to, q, end);                                    \
                    continue;                                                                      \
                }                                                                                  \
                /* One column that reads more: a piece of its elements at a time. */               \
                A sum = 0;                                                                         \
                for (int64_t k = 0; k < n; k += RS_LINE) {                                         \
                    const int64_t m = n - k < RS_LINE ? n - k : (int64_t)RS_LINE;                  \
                    rs_line_##S(j, from, line, z, p, first + k, m);                                \
                    for (int64_t l = 0; l < m; l++) sum += line[l] * c->W[q * c->taps + k + l];    \
                }                                                                                  \
                to[q] = (T)sum;                                                                    \
            }                                                                                      \
    }                                                                                              \
    static void rs_back_columns_##S(const rs_axis *x, A *line, int64_t first, const T *from,       \
                                    int64_t q, int64_t end) {                                      \
        for (; q < end; q++)                                                                       \
            for (int k = 0; k < x->count[q]; k++)                                                  \
                line[x->at[q * x->taps + k] - first] += (A)from[q] * x->W[q * x->taps + k];        \
    }                                                                                              \
    static void rs_back_line_##S(const rs_job *j, T *to, const A *line, int64_t z, int64_t p,      \
                                 int64_t first, int64_t n) {                                       \
        const rs_axis *x = j->s.axis;                                                              \
        for (int a = 0; a < x[0].count[z]; a++)                                                    \
            for (int b = 0; b < x[1].count[p]; b++) {                                              \
                const A w = x[0].W[z * x[0].taps + a] * x[1].W[p * x[1].taps + b];                 \
                T *row =                                                                           \
                    to +                                                                           \
                    ((int64_t)x[0].at[z * x[0].taps + a] * x[1].in + x[1].at[p * x[1].taps + b]) * \
                        x[2].in +                                                                  \
                    first;                                                                         \
                for (int64_t i = 0; i < n; i++) row[i] = (T)((A)row[i] + line[i] * w);             \
            }                                                                                      \
    }                                                                                              \
    static void rs_back_##S(const tni_pool_job *pool, int64_t plane) {                             \
        const rs_job *j = (const rs_job *)(const void *)pool;                                      \
        const rs_axis *x = j->s.axis, *c = x + 2;                                                  \
        const T *from = (const T *)pool->from + plane * x[0].out * x[1].out * c->out;              \
        T *to = (T *)pool->to + plane * x[0].in * x[1].in * c->in;                                 \
        A line[RS_LINE];                                                                           \
        memset(to, 0, (size_t)(x[0].in * x[1].in * c->in) * sizeof(T));                            \
        for (int64_t i = 0; i < x[0].out * x[1].out; i++, from += c->out)                          \
            for (int64_t q = 0, end; q < c->out; q = end) {                                        \
                const int64_t z = i / x[1].out, p = i % x[1].out;                                  \
                end = rs_chunk(c, q);                                                              \
                const int64_t first = c->at[q * c->taps], n = rs_last(c, end - 1) - first + 1;     \
                for (int64_t k = 0; k < n; k += RS_LINE) {                                         \
                    const int64_t m = n - k < RS_LINE ? n - k : (int64_t)RS_LINE;                  \
                    for (int64_t l = 0; l < m; l++)                                                \
                        line[l] = n > RS_LINE ? (A)from[q] * c->W[q * c->taps + k + l] : 0;        \
                    if (n <= RS_LINE) rs_back_columns_##S(c, line, first, from, q, end);           \
                    rs_back_line_##S(j, to, line, z, p, first + k, m);                             \
                }                                                                                  \
            }                                                                                      \
    }
RESAMPLE(f32, float, float, single)
RESAMPLE(wide, float, double, weight)
RESAMPLE(f64, double, double, weight)
#undef RESAMPLE

/* A line of images whose channels lie innermost: each pixel of all channels is a sum of pixels, in
 * the order of rs_plane. */
enum { RS_TAPS = 16, RS_CHANNELS = 16 }; /* taps of a pixel at most; channels at least */
static void rs_channels(const tni_pool_job *pool, int64_t line) {
    const rs_job *j = (const rs_job *)(const void *)pool;
    const rs_axis *y = j->s.axis + 1, *x = y + 1;
    const int64_t p = line % y->out, size = pool->size, bytes = pool->s.planes * size;
    const char *from = (const char *)pool->from + line / y->out * y->in * x->in * bytes;
    char *to = (char *)pool->to + line * x->out * bytes;
    int64_t offset[RS_TAPS];
    tni_pool_pixel v;
    v.offset = offset;
    v.n = pool->s.planes;
    v.ny = y->count[p];
    v.wy = size == 8 ? (const void *)(y->weight + p * y->taps) : y->single + p * y->taps;
    for (int64_t q = 0; q < x->out; q++, to += bytes) {
        v.nx = x->count[q];
        v.wx = size == 8 ? (const void *)(x->weight + q * x->taps) : x->single + q * x->taps;
        for (int k = 0; k < v.nx; k++)
            for (int l = 0; l < v.ny; l++)
                offset[k * v.ny + l] =
                    (y->at[p * y->taps + l] * x->in + x->at[q * x->taps + k]) * v.n;
        (size == 8 ? TNI_K(pool->kernels, resample_pixel_f64)
                   : TNI_K(pool->kernels, resample_pixel_f32))(to, from, &v);
    }
}
static bool rs_by_channels(const tn_frame *f, const rs_shape *s, bool back) {
    const int64_t *size = f->in[0]->size;
    return !back && tni_pool_by_lines(f) && size[1] >= RS_CHANNELS &&
           s->planes == size[0] * size[1] && /* two dimensions change */
           s->axis[0].taps * s->axis[1].taps * s->axis[2].taps <= RS_TAPS;
}

/* Whether sums of float are made in double: those of many elements. */
static bool rs_is_wide(const rs_shape *s) {
    return s->axis[0].taps * s->axis[1].taps * s->axis[2].taps > 16;
}
static void rs_run(tn_frame *f, rs_job *j, const rs_options *o, int dims, bool back) {
    const rs_axis *x = j->s.axis;
    rs_tables(f, &j->s, o, dims);
    memset(&j->pool, 0, sizeof j->pool);
    /* What a plane costs, for the tasks' sake. */
    j->pool.s.planes = j->s.planes;
    j->pool.s.h = x[0].in * x[1].in;
    j->pool.s.w = x[2].in;
    j->pool.s.oh = x[0].out * x[1].out;
    j->pool.s.ow = x[2].out;
    j->pool.s.kh = x[0].taps * x[1].taps;
    j->pool.s.kw = 1;
    if (rs_by_channels(f, &j->s, back)) {
        TNI_PATH(resample_channels);
        j->pool.kernels = f->block->context->kernels;
        j->pool.size = tni_dtype_size(f->in[0]);
        j->pool.s.size[0] = f->in[0]->size[0];
        if (tni_pool_lines(f, &j->pool, rs_channels)) return;
    }
    if (tni_lanes_compute(f->in[0]->dtype) != TN_F32)
        j->pool.plane = back ? rs_back_f64 : rs_plane_f64;
    else if (rs_is_wide(&j->s))
        j->pool.plane = back ? rs_back_wide : rs_plane_wide;
    else
        j->pool.plane = back ? rs_back_f32 : rs_plane_f32;
    if (back)
        TNI_PATH(resample_back);
    else
        TNI_PATH(resample);
    tni_pool_through(f, &j->pool);
}
static bool rs_check(tn_frame *f, const rs_shape *s, const rs_options *o, const int64_t *size,
                     bool back) {
    const bool channels = rs_by_channels(f, s, back);
    int64_t bytes;
    if (o->antialias && o->mode != TN_RESIZE_MODE_LINEAR && o->mode != TN_RESIZE_MODE_BILINEAR &&
        o->mode != TN_RESIZE_MODE_BICUBIC)
        return tn_fail(f, TN_INVALID,
                       "Anti-alias option is restricted to bilinear and bicubic modes");
    if (!rs_room(s, &bytes)) return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return tni_pool_check_dtype(f, f->in[0],
                                o->mode == TN_RESIZE_MODE_AREA ? TNI_POOL_COMPLEX : 0) &&
           (channels || tni_pool_scratch(f, f->in[0], size, s->ndim)) && tn_scratch(f, bytes, 1) &&
           (o->mode == TN_RESIZE_MODE_AREA && s->ndim == 5 &&
                    (size[2] != 1 || size[3] != 1 || size[4] != 1)
                ? tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s->ndim, size)
                : tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, s->ndim, size, f->in[0],
                                      channels));
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool resample_shape(tn_frame *f, rs_shape *s, rs_options *o) {
    TN_ARGS(resample, a, f);
    o->scales = a->scales;
    o->mode = a->mode;
    o->align_corners = a->align_corners;
    o->antialias = a->antialias;
    return tni_dims_given(f, a->size, "size") && rs_shape_of(f, s, tni_sizes(f->in[0]), a->size, o);
}
static bool resample_check(tn_frame *f) {
    rs_shape s;
    rs_options o;
    return resample_shape(f, &s, &o) && rs_check(f, &s, &o, s.size, false);
}
static void resample_run(tn_frame *f) {
    TN_ARGS(resample, a, f);
    rs_options o;
    rs_job j;
    if (resample_shape(f, &j.s, &o)) rs_run(f, &j, &o, (int)a->size.n, false);
}
static void resample_grad_row(tn_gradient *g) {
    TN_ARGS(resample, a, g);
    tn_give(g, 0,
            tnp_resample_input_grad(g->incoming[0], tni_sizes(g->in[0]), a->size.n, a->scales,
                                    a->mode, a->align_corners, a->antialias));
}
/* The last dimensions in another size, as interpolate makes them. The mode is that of all
 * dimensions: linear, bilinear and trilinear are one; area takes the mean of windows that cover the
 * dimension. scales count in the place of the ratios of sizes. */
TN_OPERATOR(resample,
            "resample(Tensor self, int[] size, float[]? scales=None, ResizeMode mode=linear, bool "
            "align_corners=False, bool antialias=False) -> Tensor",
            TN_DOC(.shapes = "self (*, sizes), size of 1 to 3 -> (*, size)",
                   .example = "tn_resample(x, TN_DIMS(16, 16))"),
            .forms = TN_OUT | TN_IMAGES | TN_LEADING, .autocast = TN_WIDE_CUDA,
            .check = resample_check, .run = resample_run, .grad = resample_grad_row,
            .sample = "(2,3,4,5) [7,3] | (2,3,5) [8] mode=nearest | (1,2,6,7) [4,9] mode=bicubic "
                      "align_corners=True | (1,2,3,4,3) [5,2,4] mode=trilinear | (1,2,9,11) [4,5] "
                      "mode=bilinear antialias=True | (2,9,8) [4,12] mode=bicubic antialias=True | "
                      "(1,2,5,7) [3,4] mode=area | (2,2,7) [5] mode=nearest_exact | (0,2,4,4) "
                      "[2,2] | (1,2,3,4) [6,8] [2.0,2.0] mode=nearest | (1,5000) [3] mode=area | "
                      "(1,2,5) [9] [1.9] | (1,16,3,4) [5,7]")

static bool resample_input_grad_shape(tn_frame *f, rs_shape *s, rs_options *o) {
    TN_ARGS(resample_input_grad, a, f);
    const tn_tensor *d = f->in[0];
    o->scales = a->scales;
    o->mode = a->mode;
    o->align_corners = a->align_corners;
    o->antialias = a->antialias;
    if (!tni_dims_given(f, a->input_size, "input_size")) return false;
    if (a->dims < 1 || a->dims > 3 || d->ndim != a->input_size.n || d->ndim <= a->dims)
        return tn_fail(f, TN_INVALID, "expected grad of as many dimensions as input_size");
    for (int i = 0; i < d->ndim - a->dims; i++)
        if (d->size[i] != a->input_size.at[i])
            return tn_fail(f, TN_INVALID, "grad differs from input_size in dimension %d", i);
    return rs_shape_of(f, s, a->input_size, tni_ints(d->size + d->ndim - a->dims, a->dims), o);
}
static bool resample_input_grad_check(tn_frame *f) {
    TN_ARGS(resample_input_grad, a, f);
    rs_shape s;
    rs_options o;
    return resample_input_grad_shape(f, &s, &o) && rs_check(f, &s, &o, a->input_size.at, true);
}
static void resample_input_grad_run(tn_frame *f) {
    TN_ARGS(resample_input_grad, a, f);
    rs_options o;
    rs_job j;
    if (resample_input_grad_shape(f, &j.s, &o)) rs_run(f, &j, &o, (int)a->dims, true);
}
static void resample_input_grad_grad(tn_gradient *g) {
    TN_ARGS(resample_input_grad, a, g);
    const tn_tensor *d = g->in[0];
    tn_give(g, 0,
            tnp_resample(g->incoming[0], tni_ints(d->size + d->ndim - a->dims, a->dims), a->scales,
                         a->mode, a->align_corners, a->antialias));
}
/* The gradient of resample's input: each element of grad, times its weights, is added to the
 * elements of which its sum was made. dims: how many of the last dimensions have another size. */
TN_OPERATOR(resample_input_grad,
            "resample_input_grad(Tensor grad, int[] input_size, int dims, float[]? scales=None, "
            "ResizeMode mode=linear, bool align_corners=False, bool antialias=False) -> Tensor",
            TN_DOC(.shapes = "grad (*, size), input_size (*, sizes) -> input_size",
                   .example = "tn_resample_input_grad(d, TN_DIMS(1, 3, 8, 8), 2)"),
            .forms = TN_OUT | TN_IMAGES, .check = resample_input_grad_check,
            .run = resample_input_grad_run, .grad = resample_input_grad_grad,
            .sample = "(2,3,7,3) [2,3,4,5] 2 | (2,3,8) [2,3,5] 1 mode=nearest | (1,2,4,9) "
                      "[1,2,6,7] 2 mode=bicubic align_corners=True | (1,2,4,5) [1,2,9,11] 2 "
                      "mode=bilinear antialias=True | (1,2,3,4) [1,2,5,7] 2 mode=area | (1,3) "
                      "[1,5000] 1 mode=area")

#include "../../base/rounded_end.inl"
