/* avg_pool.c - the mean of each window, of fixed size or adaptive, and the gradients of its input:
 * rows that can be differentiated any number of times.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"
#include "../../autograd/give.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* Window p of an average along one dimension: its elements, and what it counts when padding
 * counts as well. */
typedef struct pool_window {
    int64_t begin, end, count;
} pool_window;
static pool_window pool_window_of(int64_t p, int64_t n, int64_t k, int64_t stride, int64_t pad) {
    pool_window v = {p * stride - pad, p * stride - pad + k, 0};
    /* The window is cut at the padded end, then counted, then cut to the input. */
    if (v.end > n + pad) v.end = n + pad;
    v.count = v.end - v.begin;
    if (v.begin < 0) v.begin = 0;
    if (v.end > n) v.end = n;
    return v;
}
/* An adaptive window: from floor(p n / out) to ceil((p + 1) n / out). */
static pool_window pool_adaptive(int64_t p, int64_t n, int64_t out) {
    if (out == 1) {
        const pool_window all = {0, n, n};
        return all;
    }
    const int64_t q = n / out, r = n % out; /* p n / out without a product that is too large */
    pool_window v = {p * q + p * r / out, (p + 1) * q + ((p + 1) * r + out - 1) / out, 0};
    v.count = v.end - v.begin;
    return v;
}
/* Window p of the rows; a kernel of size 0 stands for adaptive ones. */
static pool_window pool_y(const tni_pool_shape *s, int64_t p) {
    return s->kh ? pool_window_of(p, s->h, s->kh, s->sh, s->ph) : pool_adaptive(p, s->h, s->oh);
}
static pool_window pool_x(const tni_pool_shape *s, int64_t q) {
    return s->kw ? pool_window_of(q, s->w, s->kw, s->sw, s->pw) : pool_adaptive(q, s->w, s->ow);
}
static pool_window pool_z(const tni_pool_shape *s, int64_t o) {
    return pool_window_of(o, s->d, s->kd, s->sd, s->pd);
}
static double pool_divisor(const tni_pool_job *j, pool_window z, pool_window y, pool_window x) {
    if (j->divisor != 0) return j->divisor;
    if (j->include_pad) return (double)(z.count * y.count * x.count);
    return (double)((z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin));
}

/* Windows of up to POOL_COLUMNS columns from `first` on; returns their number. */
enum { POOL_COLUMNS = 64 };
static int64_t pool_columns(const tni_pool_shape *s, int64_t first, pool_window *x) {
    const int64_t n = s->ow - first < POOL_COLUMNS ? s->ow - first : (int64_t)POOL_COLUMNS;
    for (int64_t q = 0; q < n; q++) x[q] = pool_x(s, first + q);
    return n;
}

/* Adaptive windows of whole rows are runs of memory, which are summed in TNI_POOL_CHAINS chains. */
static bool pool_is_runs(const tni_pool_job *j) { return !j->s.kh && j->s.ow == 1; }
static void pool_runs(const tni_pool_job *j, int64_t plane) {
    const tni_pool_shape *s = &j->s;
    const int64_t size = j->size;
    const char *from = (const char *)j->from + plane * s->h * s->w * size;
    char *to = (char *)j->to + plane * s->oh * size;
    for (int64_t p = 0; p < s->oh; p++, to += size) {
        const pool_window y = pool_y(s, p);
        const char *at = from + y.begin * s->w * size;
        if (size == 4)
            TNI_K(j->kernels, pool_mean_f32)(to, at, (y.end - y.begin) * s->w);
        else
            TNI_K(j->kernels, pool_mean_f64)(to, at, (y.end - y.begin) * s->w);
    }
}
/* Others are large, too, and their sums are chains: TNI_POOL_BESIDE planes of one task go side
 * by side. */
static bool pool_goes_beside(const tni_pool_job *j, int64_t plane) {
    return !j->s.kh && j->each % TNI_POOL_BESIDE == 0 &&
           plane - plane % TNI_POOL_BESIDE + TNI_POOL_BESIDE <= j->s.planes;
}

/* Sums are made in double, row by row, and rounded once. */
#define POOL_AVG(S, T)                                                                             \
    static void pool_avg_beside_##S(const tni_pool_job *j, int64_t plane) {                        \
        const tni_pool_shape *s = &j->s;                                                           \
        const int64_t in = s->h * s->w, out = s->oh * s->ow;                                       \
        const T *from = (const T *)j->from + plane * in;                                           \
        T *to = (T *)j->to + plane * out;                                                          \
        const pool_window z = {0, 1, 1};                                                           \
        for (int64_t i = 0; i < out; i++) {                                                        \
            const pool_window y = pool_y(s, i / s->ow), x = pool_x(s, i % s->ow);                  \
            const double divisor = pool_divisor(j, z, y, x);                                       \
            double a = 0, b = 0, c = 0, d = 0;                                                     \
            for (int64_t r = y.begin; r < y.end; r++)                                              \
                for (int64_t k = r * s->w + x.begin; k < r * s->w + x.end; k++) {                  \
                    a += (double)from[k];                                                          \
                    b += (double)from[k + in];                                                     \
                    c += (double)from[k + 2 * in];                                                 \
                    d += (double)from[k + 3 * in];                                                 \
                }                                                                                  \
            to[i] = (T)(a / divisor);                                                              \
            to[i + out] = (T)(b / divisor);                                                        \
            to[i + 2 * out] = (T)(c / divisor);                                                    \
            to[i + 3 * out] = (T)(d / divisor);                                                    \
        }                                                                                          \
    }                                                                                              \
    static void pool_avg_##S(const tni_pool_job *j, int64_t plane) {                               \
        const tni_pool_shape *s = &j->s;                                                           \
        const T *from = (const T *)j->from + plane * s->d * s->h * s->w;                           \
        pool_window x[POOL_COLUMNS];                                                               \
        if (pool_goes_beside(j, plane)) {                                                          \
            if (plane % TNI_POOL_BESIDE == 0) pool_avg_beside_##S(j, plane);                       \
            return;                                                                                \
        }                                                                                          \
        for (int64_t first = 0, n; first < s->ow; first += n) {                                    \
            T *to = (T *)j->to + plane * s->od * s->oh * s->ow + first;                            \
            n = pool_columns(s, first, x);                                                         \
            for (int64_t p = 0; p < s->od * s->oh; p++, to += s->ow) {                             \
                const pool_window z = pool_z(s, p / s->oh), y = pool_y(s, p % s->oh);              \
                for (int64_t q = 0; q < n; q++) {                                                  \
                    double sum = 0;                                                                \
                    for (int64_t d = z.begin; d < z.end; d++) {                                    \
                        const T *row = from + (d * s->h + y.begin) * s->w;                         \
                        for (int64_t r = y.begin; r < y.end; r++, row += s->w)                     \
                            for (int64_t c = x[q].begin; c < x[q].end; c++) sum += (double)row[c]; \
                    }                                                                              \
                    to[q] = (T)(sum / pool_divisor(j, z, y, x[q]));                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void pool_avg_grad_##S(const tni_pool_job *j, int64_t plane) {                          \
        const tni_pool_shape *s = &j->s;                                                           \
        const T *from = (const T *)j->from + plane * s->od * s->oh * s->ow;                        \
        T *to = (T *)j->to + plane * s->d * s->h * s->w;                                           \
        memset(to, 0, (size_t)(s->d * s->h * s->w) * sizeof(T));                                   \
        for (int64_t p = 0; p < s->od * s->oh; p++) {                                              \
            const pool_window z = pool_z(s, p / s->oh), y = pool_y(s, p % s->oh);                  \
            for (int64_t q = 0; q < s->ow; q++) {                                                  \
                const pool_window x = pool_x(s, q);                                                \
                const T share = (T)((double)*from++ / pool_divisor(j, z, y, x));                   \
                for (int64_t d = z.begin; d < z.end; d++) {                                        \
                    T *row = to + (d * s->h + y.begin) * s->w;                                     \
                    for (int64_t r = y.begin; r < y.end; r++, row += s->w)                         \
                        for (int64_t c = x.begin; c < x.end; c++) row[c] += share;                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
POOL_AVG(f32, float)
POOL_AVG(f64, double)
#undef POOL_AVG
/* Of integers: the sum wraps, the quotient is cut off. */
static void pool_avg_i64(const tni_pool_job *j, int64_t plane) {
    const tni_pool_shape *s = &j->s;
    const int64_t *from = (const int64_t *)j->from + plane * s->d * s->h * s->w;
    int64_t *to = (int64_t *)j->to + plane * s->od * s->oh * s->ow;
    for (int64_t p = 0; p < s->od * s->oh; p++)
        for (int64_t q = 0; q < s->ow; q++) {
            const pool_window z = pool_z(s, p / s->oh), y = pool_y(s, p % s->oh), x = pool_x(s, q);
            const double v = pool_divisor(j, z, y, x);
            /* The divisor may be any int64, which a double holds only nearly: it is clamped. */
            const int64_t by = v >= 9223372036854775808.0   ? INT64_MAX
                               : v < -9223372036854775808.0 ? INT64_MIN
                                                            : (int64_t)v;
            uint64_t sum = 0;
            for (int64_t d = z.begin; d < z.end; d++)
                for (int64_t r = y.begin; r < y.end; r++) {
                    const int64_t *row = from + (d * s->h + r) * s->w;
                    for (int64_t c = x.begin; c < x.end; c++) sum += (uint64_t)row[c];
                }
            *to++ = by == -1 ? (int64_t)(0 - sum) : (int64_t)sum / by;
        }
}

/* Line (image, p) where channels lie innermost, some channels at a time. */
enum { POOL_CHANNELS = 64 };
#define POOL_AVG_LINE(S, T)                                                           \
    static void pool_avg_line_##S(const tni_pool_job *j, int64_t line) {              \
        const tni_pool_shape *s = &j->s;                                              \
        const int64_t c = s->planes;                                                  \
        const T *from = (const T *)j->from + line / s->oh * s->h * s->w * c;          \
        T *to = (T *)j->to + line * s->ow * c;                                        \
        const pool_window y = pool_y(s, line % s->oh);                                \
        const int64_t chains = pool_is_runs(j) ? TNI_POOL_CHAINS : 1;                 \
        for (int64_t q = 0; q < s->ow; q++, to += c) {                                \
            const pool_window x = pool_x(s, q), z = {0, 1, 1};                        \
            const double divisor = pool_divisor(j, z, y, x);                          \
            for (int64_t k = 0, n; k < c; k += n) {                                   \
                double sum[TNI_POOL_CHAINS][POOL_CHANNELS];                           \
                int64_t place = 0;                                                    \
                memset(sum, 0, (size_t)chains * sizeof sum[0]);                       \
                n = c - k < POOL_CHANNELS ? c - k : (int64_t)POOL_CHANNELS;           \
                for (int64_t r = y.begin; r < y.end; r++)                             \
                    for (int64_t i = x.begin; i < x.end; i++) {                       \
                        const T *at = from + (r * s->w + i) * c + k;                  \
                        double *chain = sum[place++ & (chains - 1)];                  \
                        for (int64_t e = 0; e < n; e++) chain[e] += (double)at[e];    \
                    }                                                                 \
                for (int64_t h = chains / 2; h; h /= 2)                               \
                    for (int64_t a = 0; a < h; a++)                                   \
                        for (int64_t e = 0; e < n; e++) sum[a][e] += sum[a + h][e];   \
                for (int64_t e = 0; e < n; e++) to[k + e] = (T)(sum[0][e] / divisor); \
            }                                                                         \
        }                                                                             \
    }
POOL_AVG_LINE(f32, float)
POOL_AVG_LINE(f64, double)
#undef POOL_AVG_LINE
static void (*pool_avg_line_of(const tn_tensor *t))(const tni_pool_job *, int64_t) {
    return t->dtype == TN_F32 ? pool_avg_line_f32 : pool_avg_line_f64;
}

static void (*pool_avg_of(const tn_tensor *t))(const tni_pool_job *, int64_t) {
    const int compute = tni_lanes_compute(t->dtype);
    return compute == TN_F32 ? pool_avg_f32 : compute == TN_F64 ? pool_avg_f64 : pool_avg_i64;
}

/* --- avg_pool2d ------------------------------------------------------------------------------- */

static bool avg_pool_divisor(tn_frame *f, int64_t divisor) {
    return divisor != 0 || tn_fail(f, TN_INVALID, "divisor_override must not be 0");
}
static tn_ints pool_ones(void) {
    static const int64_t one[1] = {1};
    return tni_ints(one, 1);
}
static bool avg_pool2d_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(avg_pool2d, a, f);
    return tni_pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                             pool_ones(), a->ceil_mode);
}
static bool avg_pool2d_check(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    const bool lines = tni_pool_by_lines(f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], TNI_POOL_INT64) &&
           avg_pool_divisor(f, a->divisor_override) && avg_pool2d_shape(f, &s) &&
           (lines || tni_pool_scratch(f, f->in[0], s.size, s.ndim)) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, f->in[0], lines);
}
static void avg_pool2d_run(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    tni_pool_job j;
    if (!avg_pool2d_shape(f, &j.s)) return;
    /* A divisor of 0 means: by the number of elements. */
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    if (tni_pool_lines(f, &j, pool_avg_line_of(f->in[0]))) {
        TNI_PATH(pool_avg_lines);
        return;
    }
    j.plane = pool_avg_of(f->in[0]);
    TNI_PATH(pool_avg);
    tni_pool_through(f, &j);
}
static void avg_pool2d_grad(tn_gradient *g) {
    TN_ARGS(avg_pool2d, a, g);
    tni_give_flat(g, 0,
                  tnp_avg_pool2d_input_grad(g->incoming[0], tni_sizes(g->in[0]), a->kernel_size,
                                            a->stride, a->padding, a->ceil_mode,
                                            a->count_include_pad, a->divisor_override));
}
/* All samples as one batch of images, or their only images. */
static tn_tensor *avg_pool2d_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(avg_pool2d, a, f);
    const bool join = f->in[0]->ndim == 4;
    tn_tensor *x = join ? tni_whole_join(whole[0]) : whole[0],
              *y = x ? tnp_avg_pool2d(x, a->kernel_size, a->stride, a->padding, a->ceil_mode,
                                      a->count_include_pad, a->divisor_override)
                     : NULL;
    return join ? tni_whole_split(y, whole[0]->size[0]) : y;
}
/* The mean of each window. With count_include_pad, padding counts as elements of value 0;
 * divisor_override replaces the number of elements. Floating dtypes, which are summed in double,
 * and int64, which drops the fraction. */
TN_OPERATOR(
    avg_pool2d,
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool "
    "ceil_mode=False, "
    "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
           .example = "tn_avg_pool2d(x, TN_DIMS(2, 2))",
           .differs = "parameter stride: [] there and None here: as the kernel",
           .python = "nn.functional.avg_pool2d"),
    .forms = TN_OUT | TN_IMAGES, .check = avg_pool2d_check, .run = avg_pool2d_run,
    .grad = avg_pool2d_grad,
    .sample = "(2,3,6,8) [2,2] | (2,5,7) [3] [2] [1] | (1,2,7,7) [3,2] [2,2] [1,1] ceil_mode=True "
              "count_include_pad=False | (1,2,4,5) [2,2] divisor_override=3 | (0,2,4,4) [2,2]",
    .batched = TN_BATCHED(avg_pool2d_batched))

static bool avg_pool2d_input_grad_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    return tni_pool_shape_of(f, s, a->input_size, a->kernel_size, a->stride, a->padding,
                             pool_ones(), a->ceil_mode);
}
static bool avg_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], 0) && avg_pool_divisor(f, a->divisor_override) &&
           avg_pool2d_input_grad_shape(f, &s) && tni_pool_check_size(f, &s, f->in[0], "grad") &&
           tni_pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n,
                               a->input_size.at, f->in[0], false);
}
static void avg_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    tni_pool_job j;
    if (!avg_pool2d_input_grad_shape(f, &j.s)) return;
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_avg_grad_f32 : pool_avg_grad_f64;
    TNI_PATH(pool_avg_grad);
    tni_pool_through(f, &j);
}
static void avg_pool2d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(avg_pool2d_input_grad, a, g);
    tn_give(g, 0,
            tnp_avg_pool2d(g->incoming[0], a->kernel_size, a->stride, a->padding, a->ceil_mode,
                           a->count_include_pad, a->divisor_override));
}
/* The gradient of avg_pool2d's input: divides each element of grad and adds it to all elements
 * of its window. */
TN_OPERATOR(
    avg_pool2d_input_grad,
    "avg_pool2d_input_grad(Tensor grad, int[] input_size, int[2] kernel_size, int[2]? stride=None, "
    "int[2] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    TN_DOC(.shapes = "grad (N, C, H', W'), input_size (N, C, H, W) -> input_size",
           .example = "tn_avg_pool2d_input_grad(d, TN_DIMS(1, 3, 8, 8), TN_DIMS(2, 2))"),
    .forms = TN_OUT | TN_IMAGES, .check = avg_pool2d_input_grad_check,
    .run = avg_pool2d_input_grad_run, .grad = avg_pool2d_input_grad_grad,
    .sample = "(2,3,3,4) [2,3,6,8] [2,2] | (2,3,4) [2,5,7] [3] [2] [1] | (1,2,2,2) [1,2,4,5] [2,2] "
              "divisor_override=3")

/* --- avg_pool3d ------------------------------------------------------------------------------- */

static bool avg_pool3d_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(avg_pool3d, a, f);
    return tni_pool_volumes_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                               a->ceil_mode);
}
static bool avg_pool3d_check(tn_frame *f) {
    TN_ARGS(avg_pool3d, a, f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], TNI_POOL_INT64) &&
           avg_pool_divisor(f, a->divisor_override) && avg_pool3d_shape(f, &s) &&
           tni_pool_scratch(f, f->in[0], s.size, s.ndim) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
static void avg_pool3d_run(tn_frame *f) {
    TN_ARGS(avg_pool3d, a, f);
    tni_pool_job j;
    if (!avg_pool3d_shape(f, &j.s)) return;
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    j.plane = pool_avg_of(f->in[0]);
    TNI_PATH(pool_avg_volumes);
    tni_pool_through(f, &j);
}
static void avg_pool3d_grad(tn_gradient *g) {
    TN_ARGS(avg_pool3d, a, g);
    tni_give_flat(g, 0,
                  tnp_avg_pool3d_input_grad(g->incoming[0], tni_sizes(g->in[0]), a->kernel_size,
                                            a->stride, a->padding, a->ceil_mode,
                                            a->count_include_pad, a->divisor_override));
}
/* avg_pool2d of volumes. */
TN_OPERATOR(
    avg_pool3d,
    "avg_pool3d(Tensor self, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool "
    "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
    TN_DOC(.shapes = "self (N, C, D, H, W) or (C, D, H, W) -> (N, C, D', H', W') or (C, D', H', "
                     "W')",
           .example = "tn_avg_pool3d(x, TN_DIMS(2))",
           .differs = "parameter stride: [] there and None here: as the kernel",
           .python = "nn.functional.avg_pool3d"),
    .forms = TN_OUT, .autocast = TN_WIDE_CPU, .check = avg_pool3d_check, .run = avg_pool3d_run,
    .grad = avg_pool3d_grad,
    .sample = "(2,3,4,6,4) [2] | (2,5,4,7) [3,2,2] [2] [1,0,1] | (1,2,5,5,6) [3,2,2] [2,2,3] [1] "
              "ceil_mode=True count_include_pad=False | (1,2,2,4,5) [2] divisor_override=3 | "
              "(0,2,4,4,2) [2]")

static bool avg_pool3d_input_grad_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(avg_pool3d_input_grad, a, f);
    return tni_pool_volumes_of(f, s, a->input_size, a->kernel_size, a->stride, a->padding,
                               a->ceil_mode);
}
static bool avg_pool3d_input_grad_check(tn_frame *f) {
    TN_ARGS(avg_pool3d_input_grad, a, f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], 0) && avg_pool_divisor(f, a->divisor_override) &&
           avg_pool3d_input_grad_shape(f, &s) && tni_pool_check_size(f, &s, f->in[0], "grad") &&
           tni_pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n, a->input_size.at);
}
static void avg_pool3d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool3d_input_grad, a, f);
    tni_pool_job j;
    if (!avg_pool3d_input_grad_shape(f, &j.s)) return;
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_avg_grad_f32 : pool_avg_grad_f64;
    TNI_PATH(pool_avg_volumes_grad);
    tni_pool_through(f, &j);
}
static void avg_pool3d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(avg_pool3d_input_grad, a, g);
    tn_give(g, 0,
            tnp_avg_pool3d(g->incoming[0], a->kernel_size, a->stride, a->padding, a->ceil_mode,
                           a->count_include_pad, a->divisor_override));
}
/* The gradient of avg_pool3d's input: divides each element of grad and adds it to all elements
 * of its window. */
TN_OPERATOR(
    avg_pool3d_input_grad,
    "avg_pool3d_input_grad(Tensor grad, int[] input_size, int[3] kernel_size, int[3]? stride=None, "
    "int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
    "divisor_override=None) -> Tensor",
    TN_DOC(.shapes = "grad (N, C, D', H', W'), input_size (N, C, D, H, W) -> input_size",
           .example = "tn_avg_pool3d_input_grad(d, TN_DIMS(1, 3, 8, 8, 8), TN_DIMS(2))"),
    .forms = TN_OUT, .check = avg_pool3d_input_grad_check, .run = avg_pool3d_input_grad_run,
    .grad = avg_pool3d_input_grad_grad,
    .sample = "(2,3,2,3,2) [2,3,4,6,4] [2] | (2,3,2,4) [2,5,4,7] [3,2,2] [2] [1,0,1] | (1,2,1,2,2) "
              "[1,2,2,4,5] [2] divisor_override=3")

/* --- adaptive_avg_pool2d ---------------------------------------------------------------------- */

static bool adaptive_shape(tn_frame *f, tni_pool_shape *s, tn_ints input, tn_ints output,
                           const char *name) {
    if (!tni_pool_planes(f, s, input, 0) || !tni_pair_of(f, output, name, 0, &s->oh, &s->ow))
        return false;
    s->kh = s->kw = 0; /* windows are pool_adaptive's */
    s->size[s->ndim - 2] = s->oh;
    s->size[s->ndim - 1] = s->ow;
    return true;
}
static bool adaptive_avg_pool2d_check(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d, a, f);
    const bool lines = tni_pool_by_lines(f);
    tni_pool_shape s;
    const int also =
        f->in[0]->numel ? TNI_POOL_COMPLEX : TNI_POOL_COMPLEX | TNI_POOL_INT64; /* as torch */
    return tni_pool_check_dtype(f, f->in[0], also) &&
           adaptive_shape(f, &s, tni_sizes(f->in[0]), a->output_size, "output_size") &&
           (lines || tni_pool_scratch(f, f->in[0], s.size, s.ndim)) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, f->in[0], lines);
}
static void adaptive_avg_pool2d_run(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d, a, f);
    tni_pool_job j;
    if (!adaptive_shape(f, &j.s, tni_sizes(f->in[0]), a->output_size, "output_size")) return;
    j.include_pad = false;
    j.divisor = 0;
    if (tni_pool_lines(f, &j, pool_avg_line_of(f->in[0]))) return;
    j.size = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? 4 : 8;
    if (pool_is_runs(&j)) {
        j.plane = pool_runs;
        TNI_PATH(pool_adaptive_runs);
    } else {
        j.plane = pool_avg_of(f->in[0]);
        TNI_PATH(pool_adaptive);
    }
    tni_pool_through(f, &j);
}
static void adaptive_avg_pool2d_grad(tn_gradient *g) {
    const tn_tensor *y = g->out[0];
    const bool mean = y->size[y->ndim - 1] == 1 && y->size[y->ndim - 2] == 1; /* torch's is, too */
    tn_tensor *d = tnp_adaptive_avg_pool2d_input_grad(g->incoming[0], tni_sizes(g->in[0]));
    if (mean)
        tn_give(g, 0, d);
    else
        tni_give_flat(g, 0, d);
}
/* As avg_pool2d. */
static tn_tensor *adaptive_avg_pool2d_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(adaptive_avg_pool2d, a, f);
    const bool join = f->in[0]->ndim == 4;
    tn_tensor *x = join ? tni_whole_join(whole[0]) : whole[0],
              *y = x ? tnp_adaptive_avg_pool2d(x, a->output_size) : NULL;
    return join ? tni_whole_split(y, whole[0]->size[0]) : y;
}
/* The means of output_size windows that cover the input: row p of H' covers the rows of H from
 * floor(p H / H') up to, but not including, ceil((p + 1) H / H'); columns likewise. */
TN_OPERATOR(adaptive_avg_pool2d, "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W), output_size (H', W') -> (N, C, H', "
                             "W') or (C, H', W')",
                   .example = "tn_adaptive_avg_pool2d(x, TN_DIMS(1, 1))",
                   .python = "nn.functional.adaptive_avg_pool2d"),
            .forms = TN_OUT | TN_IMAGES, .check = adaptive_avg_pool2d_check,
            .run = adaptive_avg_pool2d_run, .grad = adaptive_avg_pool2d_grad,
            .sample = "(2,3,7,5) [1,1] | (2,7,5) [3,2] | (1,2,3,4) [5,4] | (0,2,4,4) [2,2] | "
                      "(66,5,4) [2,3]",
            .batched = TN_BATCHED(adaptive_avg_pool2d_batched))

static bool adaptive_avg_pool2d_input_grad_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(adaptive_avg_pool2d_input_grad, a, f);
    tn_tensor *d = f->in[0];
    if (d->ndim < 2) return tn_fail(f, TN_INVALID, "expected grad (N, C, H, W) or (C, H, W)");
    return adaptive_shape(f, s, a->input_size, tni_ints(d->size + d->ndim - 2, 2),
                          "the planes of grad:") &&
           tni_pool_check_size(f, s, d, "grad");
}
static bool adaptive_avg_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d_input_grad, a, f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], TNI_POOL_COMPLEX) &&
           adaptive_avg_pool2d_input_grad_shape(f, &s) &&
           tni_pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n,
                               a->input_size.at, f->in[0], false);
}
static void adaptive_avg_pool2d_input_grad_run(tn_frame *f) {
    tni_pool_job j;
    if (!adaptive_avg_pool2d_input_grad_shape(f, &j.s)) return;
    j.include_pad = false;
    j.divisor = 0;
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_avg_grad_f32 : pool_avg_grad_f64;
    TNI_PATH(pool_adaptive_grad);
    tni_pool_through(f, &j);
}
static void adaptive_avg_pool2d_input_grad_grad(tn_gradient *g) {
    const tn_tensor *d = g->in[0];
    tn_give(g, 0, tnp_adaptive_avg_pool2d(g->incoming[0], tni_ints(d->size + d->ndim - 2, 2)));
}
/* The gradient of adaptive_avg_pool2d's input. */
TN_OPERATOR(adaptive_avg_pool2d_input_grad,
            "adaptive_avg_pool2d_input_grad(Tensor grad, int[] input_size) -> Tensor",
            TN_DOC(.shapes = "grad (N, C, H', W'), input_size (N, C, H, W) -> input_size",
                   .example = "tn_adaptive_avg_pool2d_input_grad(d, TN_DIMS(1, 3, 8, 8))"),
            .forms = TN_OUT | TN_IMAGES, .check = adaptive_avg_pool2d_input_grad_check,
            .run = adaptive_avg_pool2d_input_grad_run, .grad = adaptive_avg_pool2d_input_grad_grad,
            .sample = "(2,3,1,1) [2,3,7,5] | (2,3,2) [2,7,5] | (1,2,5,4) [1,2,3,4]")
