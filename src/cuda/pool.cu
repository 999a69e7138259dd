/* pool.cu - poolings over windows of two dimensions and their gradients, with the sums and choices
 * of the CPU (ops/layers/max_pool.c, avg_pool.c).
 *
 * A thread an element of the result, which lies row-major: neighbours read neighbouring windows. A
 * gradient gathers: a thread looks at all windows that cover its element, in their order, so no
 * atomics are needed. Inputs are read where they lie, whatever their strides. */
#include "families.cuh"
#include "pool.cuh"

/* (N, C, H, W) or (C, H, W), steps in bytes; the real and imaginary parts of a complex tensor are
 * an innermost dimension `part` bytes apart. */
struct tnc_pool_planes {
    char *at;
    int64_t c, h, w, image, channel, row, col;
    int32_t dtype, part;
};
struct tnc_pool {
    tnc_pool_planes from, to, index; /* index: places of maxima in their windows */
    tnc_pool_axis y, x;
    int64_t elements; /* of the result, parts counted */
    int32_t parts;
    double divisor;         /* 0: by the count */
    bool include_pad, runs; /* windows of adaptive averages are whole rows */
};

/* Element i of the result: part, column, row and plane. */
struct tnc_pool_element {
    int64_t image, channel, y, x;
    int32_t part;
};
TNC_FN tnc_pool_element tnc_pool_element_of(const tnc_pool &v, int64_t i) {
    tnc_pool_element e;
    int64_t q = i / v.parts;
    e.part = (int32_t)(i - q * v.parts);
    i = q / v.to.w;
    e.x = q - i * v.to.w;
    q = i / v.to.h;
    e.y = i - q * v.to.h;
    e.image = q / v.to.c;
    e.channel = q - e.image * v.to.c;
    return e;
}
TNC_FN char *tnc_pool_plane(const tnc_pool_planes &t, const tnc_pool_element &e) {
    return t.at + e.image * t.image + e.channel * t.channel + e.part * t.part;
}
TNC_FN char *tnc_pool_at(const tnc_pool_planes &t, const tnc_pool_element &e) {
    return tnc_pool_plane(t, e) + e.y * t.row + e.x * t.col;
}
template <class T>
TNC_FN void tnc_pool_put(const tnc_pool &v, const tnc_pool_element &e, T value) {
    char *at = tnc_pool_at(v.to, e);
    if (v.parts == 2) /* a part alone */
        tnc_put<T>(at, value);
    else
        tnc_store_real(at, v.to.dtype, value);
}

/* --- maxima ----------------------------------------------------------------------------------- */

/* Places of window p that lie inside. */
TNC_FN tnc_pool_range tnc_pool_inside(const tnc_pool_axis &a, int64_t p) {
    const int64_t from = p * a.stride - a.pad, d = a.dilation;
    tnc_pool_range r;
    r.begin = from < 0 ? (d - 1 - from) / d : 0;
    r.end = from < a.n ? (a.n - 1 - from) / d + 1 : 0;
    if (r.end > a.k) r.end = a.k;
    return r;
}
/* The first of equals, the last NaN if there is one. */
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_max(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const int64_t y = e.y * v.y.stride - v.y.pad, x = e.x * v.x.stride - v.x.pad;
        const tnc_pool_range rows = tnc_pool_inside(v.y, e.y), cols = tnc_pool_inside(v.x, e.x);
        const char *from = tnc_pool_plane(v.from, e);
        int64_t at = -1;
        T best = tnc_pool_least(v.from.dtype, T());
        for (int64_t r = rows.begin; r < rows.end; r++)
            for (int64_t c = cols.begin; c < cols.end; c++) {
                const T z = tnc_load_real<T>(from + (y + r * v.y.dilation) * v.from.row +
                                                 (x + c * v.x.dilation) * v.from.col,
                                             v.from.dtype);
                if (at < 0 || z > best || z != z) {
                    best = z;
                    at = r * v.x.k + c;
                }
            }
        tnc_pool_put(v, e, best);
        if (v.index.at) tnc_store_real(tnc_pool_at(v.index, e), v.index.dtype, at);
    }
}

/* Place `at` of a window counts row by row; false: it is none. */
TNC_FN bool tnc_pool_place(const tnc_pool &v, int64_t at, int64_t p, int64_t q, int64_t *y,
                           int64_t *x) {
    const int64_t r = at / v.x.k;
    *y = p * v.y.stride - v.y.pad + r * v.y.dilation;
    *x = q * v.x.stride - v.x.pad + (at - r * v.x.k) * v.x.dilation;
    return at >= 0 && r < v.y.k;
}
TNC_FN int64_t tnc_pool_index(const tnc_pool &v, const char *plane, int64_t p, int64_t q) {
    const char *at = plane + p * v.index.row + q * v.index.col;
    return v.index.dtype == TN_U8 ? (int64_t)tnc_get<uint8_t>(at) : (int64_t)tnc_get<int32_t>(at);
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_scatter(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_range ps = tnc_pool_covering(v.y, e.y), qs = tnc_pool_covering(v.x, e.x);
        const char *grad = tnc_pool_plane(v.from, e), *index = tnc_pool_plane(v.index, e);
        T sum = 0;
        for (int64_t p = ps.begin; p < ps.end; p++)
            for (int64_t q = qs.begin; q < qs.end; q++) {
                int64_t y, x;
                if (!tnc_pool_place(v, tnc_pool_index(v, index, p, q), p, q, &y, &x) || y != e.y ||
                    x != e.x)
                    continue;
                const T g = tnc_load_real<T>(grad + p * v.from.row + q * v.from.col, v.from.dtype);
                sum = sum + g;
            }
        tnc_pool_put(v, e, sum);
    }
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_pick(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        int64_t y, x;
        T value = 0;
        if (tnc_pool_place(v, tnc_pool_index(v, tnc_pool_plane(v.index, e), e.y, e.x), e.y, e.x, &y,
                           &x) &&
            y >= 0 && y < v.y.n && x >= 0 && x < v.x.n)
            value = tnc_load_real<T>(tnc_pool_plane(v.from, e) + y * v.from.row + x * v.from.col,
                                     v.from.dtype);
        tnc_pool_put(v, e, value);
    }
}

/* --- means ------------------------------------------------------------------------------------ */

TNC_FN double tnc_pool_divisor(const tnc_pool &v, const tnc_pool_window &y,
                               const tnc_pool_window &x) {
    if (v.divisor != 0) return v.divisor;
    if (v.include_pad) return (double)(y.count * x.count);
    return (double)((y.end - y.begin) * (x.end - x.begin));
}
/* The elements of a window of whole rows in the CPU's chains (kernels/pool.h), folded by halves. */
enum { POOL_CHAINS = 16 };
template <class T, class S>
TNC_FN S tnc_pool_run(const tnc_pool &v, const char *from, const tnc_pool_window &y,
                      const tnc_pool_window &x) {
    S chain[POOL_CHAINS];
    for (int k = 0; k < POOL_CHAINS; k++) chain[k] = 0;
    int64_t r = y.begin, c = x.begin;
    while (r < y.end)
        for (int k = 0; k < POOL_CHAINS && r < y.end; k++) {
            chain[k] = chain[k] +
                       (S)tnc_load_real<T>(from + r * v.from.row + c * v.from.col, v.from.dtype);
            if (++c < x.end) continue;
            c = x.begin;
            r++;
        }
    for (int h = POOL_CHAINS / 2; h; h /= 2)
        for (int k = 0; k < h; k++) chain[k] = chain[k] + chain[k + h];
    return chain[0];
}
/* Summed in S, row by row. */
template <class T, class S>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_avg(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_window y = tnc_pool_window_of(v.y, e.y), x = tnc_pool_window_of(v.x, e.x);
        const char *from = tnc_pool_plane(v.from, e);
        S sum = v.runs ? tnc_pool_run<T, S>(v, from, y, x) : 0;
        for (int64_t r = y.begin; !v.runs && r < y.end; r++)
            for (int64_t c = x.begin; c < x.end; c++)
                sum =
                    sum + (S)tnc_load_real<T>(from + r * v.from.row + c * v.from.col, v.from.dtype);
        tnc_pool_put(v, e, (T)tnc_pool_quotient(sum, tnc_pool_divisor(v, y, x)));
    }
}
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_avg_grad(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_range ps = tnc_pool_averaging(v.y, e.y), qs = tnc_pool_averaging(v.x, e.x);
        const char *grad = tnc_pool_plane(v.from, e);
        T sum = 0;
        for (int64_t p = ps.begin; p < ps.end; p++) {
            const tnc_pool_window y = tnc_pool_window_of(v.y, p);
            for (int64_t q = qs.begin; q < qs.end; q++) {
                const double d = tnc_pool_divisor(v, y, tnc_pool_window_of(v.x, q));
                const T g = tnc_load_real<T>(grad + p * v.from.row + q * v.from.col, v.from.dtype);
                sum = sum + (T)((double)g / d);
            }
        }
        tnc_pool_put(v, e, sum);
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

static tnc_pool_planes pool_planes_of(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const bool complex = o.dtype == TN_C64 || o.dtype == TN_C128;
    tnc_pool_planes p;
    memset(&p, 0, sizeof p);
    if (!t) return p;
    const int64_t *size = o.size + o.ndim - 3, *stride = o.stride + o.ndim - 3;
    p.at = o.at;
    p.c = size[0];
    p.h = size[1];
    p.w = size[2];
    p.image = o.ndim == 4 ? o.stride[0] * o.bytes : 0;
    p.channel = stride[0] * o.bytes;
    p.row = stride[1] * o.bytes;
    p.col = stride[2] * o.bytes;
    p.dtype = o.dtype;
    if (complex) p.dtype = o.dtype == TN_C64 ? TN_F32 : TN_F64;
    p.part = complex ? o.bytes / 2 : 0;
    return p;
}
/* From `from` to the result; `wide` has the planes that windows lie in, `narrow` one element a
 * window. */
static void pool_plan(tnc_pool *v, const tn_frame *f, const tn_tensor *wide,
                      const tn_tensor *narrow) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const tnc_pool_planes w = pool_planes_of(wide), n = pool_planes_of(narrow);
    memset(v, 0, sizeof *v);
    v->from = pool_planes_of(f->in[0]);
    v->to = pool_planes_of(f->out[0]);
    v->parts = v->to.part ? 2 : 1;
    v->elements = out.numel * v->parts;
    v->y.n = w.h;
    v->x.n = w.w;
    v->y.out = n.h;
    v->x.out = n.w;
}
#define POOL_LAUNCH(kernel, v)                                                             \
    do {                                                                                   \
        if ((v).elements)                                                                  \
            TNC_LAUNCH_PLAIN((kernel), tnc_blocks((v).elements, TNC_THREADS), TNC_THREADS, \
                             tnc_stream(f), v);                                            \
    } while (0)
/* By the type that f's dtype is computed in. */
#define POOL_LAUNCH_FLOAT(kernel, v)        \
    do {                                    \
        if ((v).from.dtype == TN_F64)       \
            POOL_LAUNCH(kernel<double>, v); \
        else                                \
            POOL_LAUNCH(kernel<float>, v);  \
    } while (0)
static bool pool_is_float(const tnc_pool &v) {
    return v.from.dtype == TN_F32 || v.from.dtype == TN_F16 || v.from.dtype == TN_BF16;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void max_pool2d_run(tn_frame *f) {
    TN_ARGS(max_pool2d, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    if (f->nout > 1) v.index = pool_planes_of(f->out[1]);
    if (pool_is_float(v))
        POOL_LAUNCH(tnc_pool_max<float>, v);
    else if (v.from.dtype == TN_F64)
        POOL_LAUNCH(tnc_pool_max<double>, v);
    else
        POOL_LAUNCH(tnc_pool_max<int64_t>, v);
}
static void max_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    v.index = pool_planes_of(f->in[1]);
    POOL_LAUNCH_FLOAT(tnc_pool_scatter, v);
}
static void max_pool2d_pick_run(tn_frame *f) {
    TN_ARGS(max_pool2d_pick, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    v.index = pool_planes_of(f->in[1]);
    POOL_LAUNCH_FLOAT(tnc_pool_pick, v);
}

static void pool_average(tnc_pool *v, tn_ints kernel, tn_ints stride, tn_ints padding,
                         bool include_pad, int64_t divisor) {
    const tn_ints none = tn_ints_of(NULL, 0);
    pool_axis(&v->y, 0, kernel, stride, padding, none);
    pool_axis(&v->x, 1, kernel, stride, padding, none);
    v->include_pad = include_pad;
    v->divisor = divisor == TN_NONE ? 0 : (double)divisor;
}
static void pool_average_run(tn_frame *f, const tnc_pool &v) {
    if (pool_is_float(v))
        POOL_LAUNCH((tnc_pool_avg<float, double>), v);
    else if (v.from.dtype == TN_F64)
        POOL_LAUNCH((tnc_pool_avg<double, double>), v);
    else
        POOL_LAUNCH((tnc_pool_avg<int64_t, uint64_t>), v);
}
static void avg_pool2d_run(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_average(&v, a->kernel_size, a->stride, a->padding, a->count_include_pad,
                 a->divisor_override);
    pool_average_run(f, v);
}
static void avg_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    pool_average(&v, a->kernel_size, a->stride, a->padding, a->count_include_pad,
                 a->divisor_override);
    POOL_LAUNCH_FLOAT(tnc_pool_avg_grad, v);
}
static void adaptive_avg_pool2d_run(tn_frame *f) {
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    v.runs = v.to.w == 1;
    pool_average_run(f, v);
}
static void adaptive_avg_pool2d_input_grad_run(tn_frame *f) {
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    POOL_LAUNCH_FLOAT(tnc_pool_avg_grad, v);
}

#define POOL_ROW(row) \
    { #row, false, NULL, NULL, row##_run }
static const tn_device_row pool_table[] = {POOL_ROW(max_pool2d),
                                           POOL_ROW(max_pool2d_input_grad),
                                           POOL_ROW(max_pool2d_pick),
                                           POOL_ROW(avg_pool2d),
                                           POOL_ROW(avg_pool2d_input_grad),
                                           POOL_ROW(adaptive_avg_pool2d),
                                           POOL_ROW(adaptive_avg_pool2d_input_grad)};
TNC_FAMILY(pool, pool_table)
#undef POOL_ROW
#undef POOL_LAUNCH
#undef POOL_LAUNCH_FLOAT
