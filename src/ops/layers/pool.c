/* pool.c - pooling over windows of two dimensions and the gradients of its input, rows that can
 * be differentiated.
 *
 * A task is a few planes (n, c). Elements are float, double or int64; other dtypes, and inputs
 * that are not row-major, are copied into such first; complex numbers as the planes of their real
 * parts, then those of their imaginary ones. The maximum remembers its place in the window, a byte
 * where windows are small.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "../../call/arguments.h"
#include "../../autograd/give.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

/* --- geometry --------------------------------------------------------------------------------- */

/* planes of h x w become planes of oh x ow; element (p, q) looks at rows p sh - ph + i dh, i <
 * kh, and columns likewise */
typedef struct pool_shape {
    int ndim;
    int64_t planes, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
    int64_t size[4]; /* of the result */
} pool_shape;

/* torch's length. With ceil_mode a window must begin inside the input or in the padding in front
 * of the input. */
static bool pool_length(tn_frame *f, int64_t in, int64_t k, int64_t stride, int64_t pad,
                        int64_t dilation, bool ceil_mode, int64_t *out) {
    const int64_t room = in + 2 * pad - dilation * (k - 1) - 1;
    if (pad > ((k - 1) * dilation + 1) / 2)
        return tn_fail(f, TN_INVALID, "padding %lld must be at most half of kernel size %lld",
                       (long long)pad, (long long)k);
    *out = room + (ceil_mode ? stride - 1 : 0);
    *out = *out < 0 ? 0 : *out / stride + 1;
    if (ceil_mode && (*out - 1) * stride >= in + pad) --*out;
    if (*out < 1)
        return tn_fail(f, TN_INVALID, "kernel size %lld is larger than the padded input, %lld",
                       (long long)k, (long long)(in + 2 * pad));
    return true;
}

/* least: of C, as torch; N may be 0, H and W may not. */
static bool pool_planes(tn_frame *f, pool_shape *s, tn_ints x, int64_t least) {
    char has[160];
    int64_t n = 1;
    s->ndim = (int)x.n;
    if (x.n != 3 && x.n != 4)
        return tn_fail(f, TN_INVALID, "expected input (N, C, H, W) or (C, H, W), got %s",
                       tni_shape_text(has, sizeof has, (int)x.n, x.at));
    for (int64_t i = 0; i < x.n; i++) {
        if (x.at[i] < (x.n - i == 4 ? 0 : x.n - i == 3 ? least : 1))
            return tn_fail(f, TN_INVALID, "expected sizes of at least 1, except for N%s, got %s",
                           least ? "" : " and C", tni_shape_text(has, sizeof has, (int)x.n, x.at));
        if (x.at[i] > INT64_MAX / 4 || (i + 2 < x.n && !tni_mul(n, x.at[i], &n)))
            return tn_fail(f, TN_MEMORY, "the input is too large");
        s->size[i] = x.at[i];
    }
    s->planes = n;
    s->h = x.at[x.n - 2];
    s->w = x.at[x.n - 1];
    return true;
}

static bool pool_shape_of(tn_frame *f, pool_shape *s, tn_ints x, tn_ints kernel, tn_ints stride,
                          tn_ints padding, tn_ints dilation, bool ceil_mode) {
    if (!pool_planes(f, s, x, 1) || !tni_pair_of(f, kernel, "kernel_size", 1, &s->kh, &s->kw) ||
        !tni_pair_of(f, stride.n > 0 ? stride : kernel, "stride", 1, &s->sh, &s->sw) ||
        !tni_pair_of(f, padding, "padding", 0, &s->ph, &s->pw) ||
        !tni_pair_of(f, dilation, "dilation", 1, &s->dh, &s->dw) ||
        !pool_length(f, s->h, s->kh, s->sh, s->ph, s->dh, ceil_mode, &s->oh) ||
        !pool_length(f, s->w, s->kw, s->sw, s->pw, s->dw, ceil_mode, &s->ow))
        return false;
    if (s->kh * s->kw > INT32_MAX)
        return tn_fail(f, TN_INVALID, "a window of %lld x %lld has more than 2^31 - 1 elements",
                       (long long)s->kh, (long long)s->kw);
    s->size[s->ndim - 2] = s->oh;
    s->size[s->ndim - 1] = s->ow;
    return true;
}

static bool pool_check_size(tn_frame *f, const pool_shape *s, const tn_tensor *t,
                            const char *name) {
    char has[160], wants[160];
    bool same = t->ndim == s->ndim;
    for (int i = 0; same && i < s->ndim; i++) same = t->size[i] == s->size[i];
    return same || tn_fail(f, TN_INVALID, "expected %s %s, got %s", name,
                           tni_shape_text(wants, sizeof wants, s->ndim, s->size),
                           tni_shape_text(has, sizeof has, t->ndim, t->size));
}

enum { POOL_INTEGERS = 1, POOL_INT64 = 2, POOL_COMPLEX = 4 };
/* Floating dtypes and what `also` names. */
static bool pool_check_dtype(tn_frame *f, const tn_tensor *t, int also) {
    if (tni_dtype(t->dtype)->computes &&
        (tni_is_float(t->dtype) || (also & POOL_INTEGERS && tni_is_int(t->dtype)) ||
         (also & POOL_INT64 && t->dtype == TN_I64) ||
         (also & POOL_COMPLEX && tni_is_complex(t->dtype))))
        return true;
    return tn_fail(f, TN_TYPE, "pooling of %s is not supported", tni_dtype(t->dtype)->text);
}

/* --- tensors as row-major elements of a compute type ------------------------------------------ */

typedef struct pool_copy {
    const tn_tensor *t;
    char *wide;
    int compute;
    bool back;
} pool_copy;

static int64_t pool_compute_size(const tn_tensor *t) {
    return tni_lanes_compute(t->dtype) == TN_F32 ? 4 : 8;
}
static bool pool_is_plain(const tn_tensor *t) {
    return (t->flags & TNI_CONTIGUOUS) && t->dtype == tni_lanes_compute(t->dtype);
}

static int pool_parts(const tn_tensor *t) { return tni_is_complex(t->dtype) ? 2 : 1; }
static void pool_copy_task(void *arg, int64_t i) { /* one innermost row */
    const pool_copy *p = (const pool_copy *)arg;
    const tn_tensor *t = p->t;
    const int last = t->ndim - 1, parts = pool_parts(t),
              dtype = parts == 2 ? (int)tni_real_of(t->dtype) : t->dtype;
    int64_t at = 0, left = i, bytes = tni_dtype_size(t), size = p->compute == TN_F32 ? 4 : 8;
    char *wide = p->wide + i * t->size[last] * size;
    for (int d = last - 1; d >= 0; d--) {
        at += left % t->size[d] * t->stride[d];
        left /= t->size[d];
    }
    for (int k = 0; k < parts; k++, wide += t->numel * size) {
        char *narrow = tni_bytes_at(t) + at * bytes + k * bytes / parts;
        if (p->back)
            tni_lanes_save(narrow, t->stride[last] * bytes, dtype, wide, p->compute, t->size[last]);
        else
            tni_lanes_load(wide, p->compute, narrow, t->stride[last] * bytes, dtype, t->size[last]);
    }
}
static void *pool_plain(tn_frame *f, const tn_tensor *t, void *room, bool load) {
    pool_copy p;
    if (pool_is_plain(t)) return tni_bytes_at(t);
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = false;
    if (load && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
    return room;
}
static void pool_store(tn_frame *f, const tn_tensor *t, void *room) {
    pool_copy p;
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = true;
    if (!pool_is_plain(t) && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
}
/* Scratch for copies of an input and of a result of `numel` elements whose dtype is not one of
 * computation. */
static bool pool_scratch(tn_frame *f, const tn_tensor *in, const int64_t *size, int ndim) {
    int64_t n = pool_is_plain(in) ? 0 : in->numel, out = 0;
    n = (n + 15) / 16 * 16;
    if (in->dtype != tni_lanes_compute(in->dtype) && !tni_numel_of(ndim, size, &out))
        return tn_fail(f, TN_MEMORY, "the result is too large");
    return tn_scratch(f, n, pool_parts(in) * pool_compute_size(in)) &&
           tn_scratch(f, out, pool_parts(in) * pool_compute_size(in));
}
static void *pool_second(tn_frame *f, const tn_tensor *in) { /* the result's part of the scratch */
    const int64_t n = pool_is_plain(in) ? 0 : (in->numel + 15) / 16 * 16;
    return f->scratch ? (char *)f->scratch + n * pool_parts(in) * pool_compute_size(in) : NULL;
}

/* --- the loops -------------------------------------------------------------------------------- */

typedef struct pool_job {
    const tni_kernels *kernels;
    pool_shape s;
    const void *from;
    void *to;
    const void
        *index; /* uint8_t where windows have at most 256 places, else int32_t; NULL: not wanted */
    void *index_to;
    bool bytes, include_pad;
    double divisor; /* 0: by the count */
    int64_t each;   /* planes a task */
    void (*plane)(const struct pool_job *j, int64_t plane);
} pool_job;

static void pool_task(void *arg, int64_t i) {
    const pool_job *j = (const pool_job *)arg;
    for (int64_t p = i * j->each; p < (i + 1) * j->each && p < j->s.planes; p++) j->plane(j, p);
}
static void pool_windows_run(tn_frame *f, pool_job *j) {
    const pool_shape *s = &j->s; /* a window reads at most the whole plane */
    const double places =
                     (double)(s->kh < s->h ? s->kh : s->h) * (double)(s->kw < s->w ? s->kw : s->w),
                 work = (double)s->h * (double)s->w + (double)s->oh * (double)s->ow * places;
    j->each = (int64_t)((1 << 15) / (work + 1)) + 1;
    tni_parallel(f->block->context, (j->s.planes + j->each - 1) / j->each, pool_task, j);
}

static void pool_index_set(const pool_job *j, int64_t i, int64_t at) {
    if (!j->index_to) return;
    if (j->bytes)
        ((uint8_t *)j->index_to)[i] = (uint8_t)at;
    else
        ((int32_t *)j->index_to)[i] = (int32_t)at;
}
/* Where in the plane window (p, q)'s chosen element lies; -1: a damaged index points outside. */
static int64_t pool_chosen(const pool_job *j, int64_t i, int64_t p, int64_t q) {
    const pool_shape *s = &j->s;
    const int64_t at = j->bytes ? ((const uint8_t *)j->index)[i] : ((const int32_t *)j->index)[i];
    const int64_t y = p * s->sh - s->ph + at / s->kw * s->dh,
                  x = q * s->sw - s->pw + at % s->kw * s->dw;
    return at < 0 || at >= s->kh * s->kw || y < 0 || y >= s->h || x < 0 || x >= s->w ? -1
                                                                                     : y * s->w + x;
}

/* Which of the window's k places, d apart from `from` on, lie within 0..n-1. */
typedef struct pool_part {
    int64_t begin, end;
} pool_part;
static pool_part pool_inside(int64_t from, int64_t d, int64_t k, int64_t n) {
    pool_part v = {from < 0 ? (d - 1 - from) / d : 0, from < n ? (n - 1 - from) / d + 1 : 0};
    if (v.end > k) v.end = k;
    return v;
}

#define POOL_MAX(S, T)                                                                  \
    static void pool_max_##S(const pool_job *j, int64_t plane) {                        \
        const pool_shape *s = &j->s;                                                    \
        const T *from = (const T *)j->from + plane * s->h * s->w;                       \
        for (int64_t p = 0; p < s->oh; p++)                                             \
            for (int64_t q = 0; q < s->ow; q++) {                                       \
                const int64_t y = p * s->sh - s->ph, x = q * s->sw - s->pw,             \
                              i = (plane * s->oh + p) * s->ow + q;                      \
                const pool_part rows = pool_inside(y, s->dh, s->kh, s->h),              \
                                cols = pool_inside(x, s->dw, s->kw, s->w);              \
                int64_t at = -1;                                                        \
                T best = 0;                                                             \
                for (int64_t r = rows.begin; r < rows.end; r++)                         \
                    for (int64_t c = cols.begin; c < cols.end; c++) {                   \
                        const T v = from[(y + r * s->dh) * s->w + x + c * s->dw];       \
                        if (at < 0 || v > best || v != v) best = v, at = r * s->kw + c; \
                    }                                                                   \
                ((T *)j->to)[i] = best;                                                 \
                pool_index_set(j, i, at);                                               \
            }                                                                           \
    }
POOL_MAX(f32, float)
POOL_MAX(f64, double)
POOL_MAX(i64, int64_t)
#undef POOL_MAX

static bool pool_is_pairs(const pool_shape *s) {
    return s->kh == 2 && s->kw == 2 && s->sh == 2 && s->sw == 2 && s->ph == 0 && s->pw == 0 &&
           s->dh == 1 && s->dw == 1 && 2 * s->oh <= s->h && 2 * s->ow <= s->w;
}
static void pool_max_pairs(const pool_job *j, int64_t plane) {
    const pool_shape *s = &j->s;
    const float *from = (const float *)j->from + plane * s->h * s->w;
    for (int64_t p = 0; p < s->oh; p++) {
        const int64_t i = (plane * s->oh + p) * s->ow;
        TNI_K(j->kernels, max_pool_pairs)
        (from + 2 * p * s->w, from + (2 * p + 1) * s->w, s->ow, (float *)j->to + i,
         j->index_to ? (uint8_t *)j->index_to + i : NULL);
    }
}

/* A gradient goes to the chosen element, windows in order; pick is the way back. */
#define POOL_CHOSEN(S, T)                                                                        \
    static void pool_scatter_##S(const pool_job *j, int64_t plane) {                             \
        const pool_shape *s = &j->s;                                                             \
        T *to = (T *)j->to + plane * s->h * s->w;                                                \
        memset(to, 0, (size_t)(s->h * s->w) * sizeof(T));                                        \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const int64_t i = (plane * s->oh + p) * s->ow + q, at = pool_chosen(j, i, p, q); \
                if (at >= 0) to[at] += ((const T *)j->from)[i];                                  \
            }                                                                                    \
    }                                                                                            \
    static void pool_pick_##S(const pool_job *j, int64_t plane) {                                \
        const pool_shape *s = &j->s;                                                             \
        const T *from = (const T *)j->from + plane * s->h * s->w;                                \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const int64_t i = (plane * s->oh + p) * s->ow + q, at = pool_chosen(j, i, p, q); \
                ((T *)j->to)[i] = at >= 0 ? from[at] : 0;                                        \
            }                                                                                    \
    }
POOL_CHOSEN(f32, float)
POOL_CHOSEN(f64, double)
#undef POOL_CHOSEN

static void pool_scatter_pairs(const pool_job *j, int64_t plane) {
    const pool_shape *s = &j->s;
    float *to = (float *)j->to + plane * s->h * s->w;
    if (2 * s->oh < s->h || 2 * s->ow < s->w) memset(to, 0, (size_t)(s->h * s->w) * sizeof *to);
    for (int64_t p = 0; p < s->oh; p++) {
        const int64_t i = (plane * s->oh + p) * s->ow;
        TNI_K(j->kernels, max_pool_pairs_grad)
        ((const float *)j->from + i, (const uint8_t *)j->index + i, s->ow, to + 2 * p * s->w,
         to + (2 * p + 1) * s->w);
    }
}

/* Window p of an average along one dimension: its elements, and what it counts when padding
 * counts, too. */
typedef struct pool_window {
    int64_t begin, end, count;
} pool_window;
static pool_window pool_window_of(int64_t p, int64_t n, int64_t k, int64_t stride, int64_t pad) {
    pool_window v = {p * stride - pad, p * stride - pad + k, 0};
    if (v.end > n + pad) v.end = n + pad;
    v.count = v.end - v.begin;
    if (v.begin < 0) v.begin = 0;
    if (v.end > n) v.end = n;
    return v;
}
/* An adaptive window: from floor(p n / out) to ceil((p + 1) n / out). */
static pool_window pool_adaptive(int64_t p, int64_t n, int64_t out) {
    const int64_t q = n / out, r = n % out; /* p n / out without a product that is too large */
    pool_window v = {p * q + p * r / out, (p + 1) * q + ((p + 1) * r + out - 1) / out, 0};
    v.count = v.end - v.begin;
    return v;
}
static pool_window pool_y(const pool_shape *s, int64_t p) {
    return s->kh ? pool_window_of(p, s->h, s->kh, s->sh, s->ph) : pool_adaptive(p, s->h, s->oh);
}
static pool_window pool_x(const pool_shape *s, int64_t q) {
    return s->kw ? pool_window_of(q, s->w, s->kw, s->sw, s->pw) : pool_adaptive(q, s->w, s->ow);
}
static double pool_divisor(const pool_job *j, pool_window y, pool_window x) {
    if (j->divisor != 0) return j->divisor;
    if (j->include_pad) return (double)(y.count * x.count);
    return (double)((y.end - y.begin) * (x.end - x.begin));
}

/* Sums are made in double, row by row, and rounded once. */
#define POOL_AVG(S, T)                                                                           \
    static void pool_avg_##S(const pool_job *j, int64_t plane) {                                 \
        const pool_shape *s = &j->s;                                                             \
        const T *from = (const T *)j->from + plane * s->h * s->w;                                \
        T *to = (T *)j->to + plane * s->oh * s->ow;                                              \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const pool_window y = pool_y(s, p), x = pool_x(s, q);                            \
                double sum = 0;                                                                  \
                for (int64_t r = y.begin; r < y.end; r++)                                        \
                    for (int64_t c = x.begin; c < x.end; c++) sum += (double)from[r * s->w + c]; \
                *to++ = (T)(sum / pool_divisor(j, y, x));                                        \
            }                                                                                    \
    }                                                                                            \
    static void pool_avg_grad_##S(const pool_job *j, int64_t plane) {                            \
        const pool_shape *s = &j->s;                                                             \
        const T *from = (const T *)j->from + plane * s->oh * s->ow;                              \
        T *to = (T *)j->to + plane * s->h * s->w;                                                \
        memset(to, 0, (size_t)(s->h * s->w) * sizeof(T));                                        \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const pool_window y = pool_y(s, p), x = pool_x(s, q);                            \
                const T share = (T)((double)*from++ / pool_divisor(j, y, x));                    \
                for (int64_t r = y.begin; r < y.end; r++)                                        \
                    for (int64_t c = x.begin; c < x.end; c++) to[r * s->w + c] += share;         \
            }                                                                                    \
    }
POOL_AVG(f32, float)
POOL_AVG(f64, double)
#undef POOL_AVG
/* Of integers: the sum wraps, the quotient is cut off. */
static void pool_avg_i64(const pool_job *j, int64_t plane) {
    const pool_shape *s = &j->s;
    const int64_t *from = (const int64_t *)j->from + plane * s->h * s->w;
    int64_t *to = (int64_t *)j->to + plane * s->oh * s->ow;
    for (int64_t p = 0; p < s->oh; p++)
        for (int64_t q = 0; q < s->ow; q++) {
            const pool_window y = pool_y(s, p), x = pool_x(s, q);
            const double d = pool_divisor(j, y, x);
            const int64_t by = d >= 9223372036854775808.0   ? INT64_MAX
                               : d < -9223372036854775808.0 ? INT64_MIN
                                                            : (int64_t)d;
            uint64_t sum = 0;
            for (int64_t r = y.begin; r < y.end; r++)
                for (int64_t c = x.begin; c < x.end; c++) sum += (uint64_t)from[r * s->w + c];
            *to++ = by == -1 ? (int64_t)(0 - sum) : (int64_t)sum / by;
        }
}

static void (*pool_avg_of(const tn_tensor *t))(const pool_job *, int64_t) {
    const int compute = tni_lanes_compute(t->dtype);
    return compute == TN_F32 ? pool_avg_f32 : compute == TN_F64 ? pool_avg_f64 : pool_avg_i64;
}

/* Runs j over in[0], whose copy comes first in the scratch, into out[0]. */
static void pool_through(tn_frame *f, pool_job *j) {
    void *room = pool_second(f, f->in[0]);
    j->kernels = f->block->context->kernels;
    j->s.planes *= pool_parts(f->in[0]);
    j->from = pool_plain(f, f->in[0], f->scratch, true);
    j->to = pool_plain(f, f->out[0], room, false);
    pool_windows_run(f, j);
    pool_store(f, f->out[0], room);
}

/* --- max_pool2d ------------------------------------------------------------------------------- */

static tn_dtype pool_index_dtype(const pool_shape *s) {
    return s->kh * s->kw <= 256 ? TN_U8 : TN_I32;
}

static bool max_pool2d_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(max_pool2d, a, f);
    return pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                         a->dilation, a->ceil_mode);
}
static bool max_pool2d_check(tn_frame *f) {
    pool_shape s;
    return pool_check_dtype(f, f->in[0], POOL_INTEGERS) && max_pool2d_shape(f, &s) &&
           pool_scratch(f, f->in[0], s.size, s.ndim) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size) &&
           (!f->recording || tn_announce(f, 1, pool_index_dtype(&s), s.ndim, s.size));
}
static void max_pool2d_run(tn_frame *f) {
    const int compute = tni_lanes_compute(f->in[0]->dtype);
    pool_job j;
    if (!max_pool2d_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index_to = f->recording ? tni_bytes_at(f->out[1]) : NULL;
    j.plane = compute == TN_F32 ? pool_max_f32 : compute == TN_F64 ? pool_max_f64 : pool_max_i64;
    if (compute == TN_F32 && pool_is_pairs(&j.s)) {
        TNI_PATH(pool_max_pairs);
        j.plane = pool_max_pairs;
    } else {
        TNI_PATH(pool_max);
    }
    pool_through(f, &j);
}
static void max_pool2d_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d, a, g);
    tni_give_flat(g, 0,
                  tnp_max_pool2d_input_grad(g->incoming[0], g->out[1], tni_sizes(g->in[0]),
                                            a->kernel_size, a->stride, a->padding, a->dilation,
                                            a->ceil_mode));
}
/* The largest element of each window. A NaN wins, padding never does; the first of equal elements
 * gets the gradient. stride None means kernel_size; ceil_mode keeps a last window that is cut off.
 * Real dtypes but bool. */
TN_OPERATOR(max_pool2d,
            "max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
            "int[2] dilation=1, "
            "bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
                   .example = "tn_max_pool2d(x, TN_DIMS(2, 2))",
                   .differs = "parameter stride: [] there and None here: as the kernel"),
            .forms = TN_OUT, .saves = "indices", .needs = "indices", .check = max_pool2d_check,
            .run = max_pool2d_run, .grad = max_pool2d_grad,
            .sample = "(2,3,6,8) [2,2] | (2,5,37) [2] | (1,2,4,36) [2,2] | (2,2,7,7) [3,2] "
                      "stride=[2,1] padding=[1,0] | (1,2,9,8) "
                      "[2,3] dilation=[2,2] | (1,2,5,7) [2,2] ceil_mode=True | (1,1,17,19) [17,16] "
                      "[1,1] | (0,2,4,4) [2,2]",
            .node = "MaxPool2DWithIndicesBackward0")

static bool max_pool2d_input_grad_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    return pool_shape_of(f, s, a->input_size, a->kernel_size, a->stride, a->padding, a->dilation,
                         a->ceil_mode);
}
/* Also asks for scratch, at its end, where the indices have to be copied. */
static bool pool_check_indices(tn_frame *f, const pool_shape *s, const tn_tensor *indices) {
    if (indices->dtype != (int)pool_index_dtype(s))
        return tn_fail(f, TN_TYPE, "indices must be %s, got %s",
                       tni_dtype((int)pool_index_dtype(s))->text, tni_dtype(indices->dtype)->text);
    return pool_check_size(f, s, indices, "indices") &&
           tn_scratch(f, indices->flags & TNI_CONTIGUOUS ? 0 : indices->numel,
                      tni_dtype_size(indices));
}
static const void *pool_indices(tn_frame *f, const tn_tensor *t) {
    const int64_t size = tni_dtype_size(t), bytes = t->numel * size;
    char *room;
    if (t->flags & TNI_CONTIGUOUS) return tni_bytes_at(t);
    room = (char *)f->scratch + f->scratch_bytes - (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN;
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = 0, left = i;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += left % t->size[d] * t->stride[d];
            left /= t->size[d];
        }
        memcpy(room + i * size, tni_bytes_at(t) + at * size, (size_t)size);
    }
    return room;
}
static bool max_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    pool_shape s;
    return pool_check_dtype(f, f->in[0], 0) && max_pool2d_input_grad_shape(f, &s) &&
           pool_check_size(f, &s, f->in[0], "grad") &&
           pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           pool_check_indices(f, &s, f->in[1]) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n, a->input_size.at);
}
static void max_pool2d_input_grad_run(tn_frame *f) {
    const bool single = tni_lanes_compute(f->in[0]->dtype) == TN_F32;
    pool_job j;
    if (!max_pool2d_input_grad_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index = pool_indices(f, f->in[1]);
    j.plane =
        single ? pool_is_pairs(&j.s) ? pool_scatter_pairs : pool_scatter_f32 : pool_scatter_f64;
    if (j.plane == pool_scatter_pairs)
        TNI_PATH(pool_scatter_pairs);
    else
        TNI_PATH(pool_scatter);
    pool_through(f, &j);
}
static void max_pool2d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d_input_grad, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_max_pool2d_pick(g->incoming[0], g->in[1], a->kernel_size, a->stride, a->padding,
                                    a->dilation, a->ceil_mode));
}
/* The gradient of max_pool2d's input: adds each element of grad to the element that its window
 * chose. indices count the places of a window row by row: uint8, or int32 if a window has more than
 * 256. A place outside the window adds nothing. */
TN_OPERATOR(
    max_pool2d_input_grad,
    "max_pool2d_input_grad(Tensor grad, Tensor indices, int[] input_size, int[2] kernel_size, "
    "int[2]? stride=None, "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    TN_DOC(.shapes =
               "grad (N, C, H', W'), indices like grad, input_size (N, C, H, W) -> input_size",
           .example = "tn_max_pool2d_input_grad(d, index, TN_DIMS(1, 3, 8, 8), TN_DIMS(2, 2))"),
    .forms = TN_OUT, .needs = "grad:indices", .check = max_pool2d_input_grad_check,
    .run = max_pool2d_input_grad_run, .grad = max_pool2d_input_grad_grad,
    .sample = "(2,3,3,4) (2,3,3,4):u8<4 [2,3,6,8] [2,2] | (2,2,18) (2,2,18):u8<4 [2,5,37] [2] | "
              "(2,2,4,6) (2,2,4,6):u8<6 "
              "[2,2,7,7] [3,2] [2,1] [1,0] | (1,1,1,4) (1,1,1,4):i32<272 [1,1,17,19] [17,16] [1,1]")

static bool max_pool2d_pick_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(max_pool2d_pick, a, f);
    return pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                         a->dilation, a->ceil_mode);
}
static bool max_pool2d_pick_check(tn_frame *f) {
    pool_shape s;
    return pool_check_dtype(f, f->in[0], 0) && max_pool2d_pick_shape(f, &s) &&
           pool_scratch(f, f->in[0], s.size, s.ndim) && pool_check_indices(f, &s, f->in[1]) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
static void max_pool2d_pick_run(tn_frame *f) {
    pool_job j;
    if (!max_pool2d_pick_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index = pool_indices(f, f->in[1]);
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_pick_f32 : pool_pick_f64;
    TNI_PATH(pool_pick);
    pool_through(f, &j);
}
static void max_pool2d_pick_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d_pick, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_max_pool2d_input_grad(g->incoming[0], g->in[1], tni_sizes(g->in[0]),
                                          a->kernel_size, a->stride, a->padding, a->dilation,
                                          a->ceil_mode));
}
/* The element of each window at the place that indices names; 0 for a place outside the window. The
 * derivative of max_pool2d_input_grad. */
TN_OPERATOR(max_pool2d_pick,
            "max_pool2d_pick(Tensor self, Tensor indices, int[2] kernel_size, int[2]? stride=None, "
            "int[2] padding=0, "
            "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W), indices (N, C, H', W') -> (N, C, H', W')",
                   .example = "tn_max_pool2d_pick(x, index, TN_DIMS(2, 2))"),
            .forms = TN_OUT, .needs = "self:indices", .check = max_pool2d_pick_check,
            .run = max_pool2d_pick_run, .grad = max_pool2d_pick_grad,
            .sample = "(2,3,6,8) (2,3,3,4):u8<4 [2,2] | (2,2,7,7) (2,2,4,6):u8<6 [3,2] [2,1] [1,0] "
                      "| (1,4,5) (1,2,2):u8<4 [2,2]")

/* --- avg_pool2d ------------------------------------------------------------------------------- */

static bool avg_pool_divisor(tn_frame *f, int64_t divisor) {
    return divisor != 0 || tn_fail(f, TN_INVALID, "divisor_override must not be 0");
}
static tn_ints pool_ones(void) {
    static const int64_t one[1] = {1};
    return tni_ints(one, 1);
}
static bool avg_pool2d_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(avg_pool2d, a, f);
    return pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                         pool_ones(), a->ceil_mode);
}
static bool avg_pool2d_check(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    pool_shape s;
    return pool_check_dtype(f, f->in[0], POOL_INT64) && avg_pool_divisor(f, a->divisor_override) &&
           avg_pool2d_shape(f, &s) && pool_scratch(f, f->in[0], s.size, s.ndim) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
static void avg_pool2d_run(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    pool_job j;
    if (!avg_pool2d_shape(f, &j.s)) return;
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    j.plane = pool_avg_of(f->in[0]);
    TNI_PATH(pool_avg);
    pool_through(f, &j);
}
static void avg_pool2d_grad(tn_gradient *g) {
    TN_ARGS(avg_pool2d, a, g);
    tni_give_flat(g, 0,
                  tnp_avg_pool2d_input_grad(g->incoming[0], tni_sizes(g->in[0]), a->kernel_size,
                                            a->stride, a->padding, a->ceil_mode,
                                            a->count_include_pad, a->divisor_override));
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
    .forms = TN_OUT, .check = avg_pool2d_check, .run = avg_pool2d_run, .grad = avg_pool2d_grad,
    .sample = "(2,3,6,8) [2,2] | (2,5,7) [3] [2] [1] | (1,2,7,7) [3,2] [2,2] [1,1] ceil_mode=True "
              "count_include_pad=False | (1,2,4,5) [2,2] divisor_override=3 | (0,2,4,4) [2,2]")

static bool avg_pool2d_input_grad_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    return pool_shape_of(f, s, a->input_size, a->kernel_size, a->stride, a->padding, pool_ones(),
                         a->ceil_mode);
}
static bool avg_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    pool_shape s;
    return pool_check_dtype(f, f->in[0], 0) && avg_pool_divisor(f, a->divisor_override) &&
           avg_pool2d_input_grad_shape(f, &s) && pool_check_size(f, &s, f->in[0], "grad") &&
           pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n, a->input_size.at);
}
static void avg_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    pool_job j;
    if (!avg_pool2d_input_grad_shape(f, &j.s)) return;
    j.include_pad = a->count_include_pad;
    j.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_avg_grad_f32 : pool_avg_grad_f64;
    TNI_PATH(pool_avg_grad);
    pool_through(f, &j);
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
    .forms = TN_OUT, .check = avg_pool2d_input_grad_check, .run = avg_pool2d_input_grad_run,
    .grad = avg_pool2d_input_grad_grad,
    .sample = "(2,3,3,4) [2,3,6,8] [2,2] | (2,3,4) [2,5,7] [3] [2] [1] | (1,2,2,2) [1,2,4,5] [2,2] "
              "divisor_override=3")

/* --- adaptive_avg_pool2d ---------------------------------------------------------------------- */

static bool adaptive_shape(tn_frame *f, pool_shape *s, tn_ints input, tn_ints output,
                           const char *name) {
    if (!pool_planes(f, s, input, 0) || !tni_pair_of(f, output, name, 0, &s->oh, &s->ow))
        return false;
    s->kh = s->kw = 0; /* windows are pool_adaptive's */
    s->size[s->ndim - 2] = s->oh;
    s->size[s->ndim - 1] = s->ow;
    return true;
}
static bool adaptive_avg_pool2d_check(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d, a, f);
    pool_shape s;
    const int also = f->in[0]->numel ? POOL_COMPLEX : POOL_COMPLEX | POOL_INT64; /* as torch */
    return pool_check_dtype(f, f->in[0], also) &&
           adaptive_shape(f, &s, tni_sizes(f->in[0]), a->output_size, "output_size") &&
           pool_scratch(f, f->in[0], s.size, s.ndim) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
static void adaptive_avg_pool2d_run(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d, a, f);
    pool_job j;
    if (!adaptive_shape(f, &j.s, tni_sizes(f->in[0]), a->output_size, "output_size")) return;
    j.include_pad = false;
    j.divisor = 0;
    j.plane = pool_avg_of(f->in[0]);
    TNI_PATH(pool_adaptive);
    pool_through(f, &j);
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
/* The means of output_size windows that cover the input: row p of H' covers the rows of H from
 * floor(p H / H') up to, but not including, ceil((p + 1) H / H'); columns likewise. */
TN_OPERATOR(adaptive_avg_pool2d, "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W), output_size (H', W') -> (N, C, H', "
                             "W') or (C, H', W')",
                   .example = "tn_adaptive_avg_pool2d(x, TN_DIMS(1, 1))",
                   .python = "nn.functional.adaptive_avg_pool2d"),
            .forms = TN_OUT, .check = adaptive_avg_pool2d_check, .run = adaptive_avg_pool2d_run,
            .grad = adaptive_avg_pool2d_grad,
            .sample = "(2,3,7,5) [1,1] | (2,7,5) [3,2] | (1,2,3,4) [5,4] | (0,2,4,4) [2,2]")

static bool adaptive_avg_pool2d_input_grad_shape(tn_frame *f, pool_shape *s) {
    TN_ARGS(adaptive_avg_pool2d_input_grad, a, f);
    tn_tensor *d = f->in[0];
    if (d->ndim < 2) return tn_fail(f, TN_INVALID, "expected grad (N, C, H, W) or (C, H, W)");
    return adaptive_shape(f, s, a->input_size, tni_ints(d->size + d->ndim - 2, 2),
                          "the planes of grad:") &&
           pool_check_size(f, s, d, "grad");
}
static bool adaptive_avg_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(adaptive_avg_pool2d_input_grad, a, f);
    pool_shape s;
    return pool_check_dtype(f, f->in[0], POOL_COMPLEX) &&
           adaptive_avg_pool2d_input_grad_shape(f, &s) &&
           pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n, a->input_size.at);
}
static void adaptive_avg_pool2d_input_grad_run(tn_frame *f) {
    pool_job j;
    if (!adaptive_avg_pool2d_input_grad_shape(f, &j.s)) return;
    j.include_pad = false;
    j.divisor = 0;
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_avg_grad_f32 : pool_avg_grad_f64;
    TNI_PATH(pool_adaptive_grad);
    pool_through(f, &j);
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
            .forms = TN_OUT, .check = adaptive_avg_pool2d_input_grad_check,
            .run = adaptive_avg_pool2d_input_grad_run, .grad = adaptive_avg_pool2d_input_grad_grad,
            .sample = "(2,3,1,1) [2,3,7,5] | (2,3,2) [2,7,5] | (1,2,5,4) [1,2,3,4]")
