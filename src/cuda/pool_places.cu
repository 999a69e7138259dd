/* pool_places.cu - the largest element of each window with its place, over windows of one to three
 * dimensions: of fixed size, adaptive, or placed by random numbers (ops/layers/pool_places.c);
 * means of volumes and their gradient (ops/layers/avg_pool.c).
 *
 * A thread an element of the result. A gradient gathers: a thread looks at all windows that cover
 * its element, in their order. Tensors are read where they lie, whatever their strides. */
#include "families.cuh"
#include "pool.cuh"

/* Volumes: (N, C, sizes) or (C, sizes), steps in bytes; dimensions that there are not have size 1.
 * */
struct tnc_places_tensor {
    char *at;
    int64_t c, image, channel, size[3], step[3];
    int32_t dtype;
};
struct tnc_places {
    tnc_places_tensor from, to, index, samples; /* samples: (N, C, dims); NULL: there are none */
    tnc_pool_axis axis[3];                      /* depth, rows, columns */
    int64_t elements;                           /* of the result */
    double divisor;                             /* 0: by the count */
    bool include_pad, planes;                   /* planes: samples are those of columns and rows */
};

/* Element i of the result. */
struct tnc_places_element {
    int64_t image, channel, at[3];
};
TNC_FN tnc_places_element tnc_places_element_of(const tnc_places_tensor &t, int64_t i) {
    tnc_places_element e;
    for (int k = 2; k >= 0; k--) {
        const int64_t q = i / t.size[k];
        e.at[k] = i - q * t.size[k];
        i = q;
    }
    e.image = i / t.c;
    e.channel = i - e.image * t.c;
    return e;
}
TNC_FN char *tnc_places_plane(const tnc_places_tensor &t, const tnc_places_element &e) {
    return t.at + e.image * t.image + e.channel * t.channel;
}
TNC_FN char *tnc_places_at(const tnc_places_tensor &t, const tnc_places_element &e) {
    return tnc_places_plane(t, e) + e.at[0] * t.step[0] + e.at[1] * t.step[1] + e.at[2] * t.step[2];
}

/* --- maxima ----------------------------------------------------------------------------------- */

/* v without its fraction, within -most..most; NaN counts as 0. */
TNC_FN int64_t tnc_places_cut(double v, int64_t most) {
    return v != v ? 0 : v >= (double)most ? most : v <= -(double)most ? -most : (int64_t)v;
}
/* Where window p begins: floor((p + sample) alpha) - floor(sample alpha), rounded to the dtype at
 * each step; the last window ends at the input's end. */
TNC_FN int64_t tnc_places_start(const tnc_pool_axis &a, int64_t p, double sample, int dtype) {
    const int64_t most = a.n - a.k;
    if (p == a.out - 1) return most;
    const double alpha = tnc_through(
        tnc_through((double)most, dtype) / tnc_through((double)(a.out - 1), dtype), dtype);
    const int64_t shift = tnc_places_cut(tnc_through(sample * alpha, dtype), 2 * most);
    const double at = tnc_through(tnc_through((double)p, dtype) + sample, dtype);
    const int64_t start = tnc_places_cut(tnc_through(at * alpha, dtype), 3 * most) - shift;
    return start < 0 ? 0 : start > most ? most : start;
}
/* Elements begin, begin + dilation, .. below end of dimension k's window. */
TNC_FN tnc_pool_range tnc_places_range(const tnc_places &v, const tnc_places_element &e, int k) {
    const tnc_pool_axis &a = v.axis[k];
    const int64_t p = e.at[k];
    tnc_pool_range w;
    if (v.samples.at) {
        /* Samples stand for (D, H, W), but for (W, H) in planes. */
        const int64_t which = !v.planes ? k : k == 2 ? 0 : 1;
        const char *at = tnc_places_plane(v.samples, e) + which * v.samples.step[2];
        w.begin =
            tnc_places_start(a, p, tnc_load_real<double>(at, v.samples.dtype), v.samples.dtype);
        w.end = w.begin + a.k;
    } else if (a.k) {
        w.begin = p * a.stride - a.pad;
        w.end = w.begin + a.k * a.dilation;
        if (w.end > a.n) w.end = a.n;
        if (w.begin < 0) w.begin += (a.dilation - 1 - w.begin) / a.dilation * a.dilation;
    } else {
        const tnc_pool_window adaptive = tnc_pool_window_of(a, p);
        w.begin = adaptive.begin;
        w.end = adaptive.end;
    }
    if (w.begin >= a.n) w.begin = w.end = a.n - 1;
    return w;
}

/* The first of equal elements, the last NaN. Between dilated elements a window may miss the input:
 * then the result is the least number, at the nearest place. */
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_places_max(tnc_places v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_places_element e = tnc_places_element_of(v.to, i);
        const tnc_pool_range z = tnc_places_range(v, e, 0), y = tnc_places_range(v, e, 1),
                             x = tnc_places_range(v, e, 2);
        const char *from = tnc_places_plane(v.from, e);
        const int64_t *size = v.from.size, *step = v.from.step;
        int64_t place = (z.begin * size[1] + y.begin) * size[2] + x.begin;
        T best = tnc_pool_least(v.from.dtype, T());
        if (z.begin < z.end && y.begin < y.end && x.begin < x.end)
            best = tnc_load_real<T>(
                from + z.begin * step[0] + y.begin * step[1] + x.begin * step[2], v.from.dtype);
        for (int64_t d = z.begin; d < z.end; d += v.axis[0].dilation)
            for (int64_t r = y.begin; r < y.end; r += v.axis[1].dilation)
                for (int64_t c = x.begin; c < x.end; c += v.axis[2].dilation) {
                    const T w = tnc_load_real<T>(from + d * step[0] + r * step[1] + c * step[2],
                                                 v.from.dtype);
                    if (w > best || w != w) {
                        best = w;
                        place = (d * size[1] + r) * size[2] + c;
                    }
                }
        tnc_store_real(tnc_places_at(v.to, e), v.to.dtype, best);
        tnc_put<int64_t>(tnc_places_at(v.index, e), place);
    }
}

/* --- means of volumes ------------------------------------------------------------------------- */

TNC_FN double tnc_places_divisor(const tnc_places &v, const tnc_pool_window &z,
                                 const tnc_pool_window &y, const tnc_pool_window &x) {
    if (v.divisor != 0) return v.divisor;
    if (v.include_pad) return (double)(z.count * y.count * x.count);
    return (double)((z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin));
}
/* Summed in S, row by row. */
template <class T, class S>
__global__ void __launch_bounds__(TNC_THREADS) tnc_places_avg(tnc_places v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_places_element e = tnc_places_element_of(v.to, i);
        const tnc_pool_window z = tnc_pool_window_of(v.axis[0], e.at[0]),
                              y = tnc_pool_window_of(v.axis[1], e.at[1]),
                              x = tnc_pool_window_of(v.axis[2], e.at[2]);
        const char *from = tnc_places_plane(v.from, e);
        const int64_t *step = v.from.step;
        S sum = 0;
        for (int64_t d = z.begin; d < z.end; d++)
            for (int64_t r = y.begin; r < y.end; r++)
                for (int64_t c = x.begin; c < x.end; c++)
                    sum = sum + (S)tnc_load_real<T>(from + d * step[0] + r * step[1] + c * step[2],
                                                    v.from.dtype);
        tnc_store_real(tnc_places_at(v.to, e), v.to.dtype,
                       (T)tnc_pool_quotient(sum, tnc_places_divisor(v, z, y, x)));
    }
}
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_places_avg_grad(tnc_places v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_places_element e = tnc_places_element_of(v.to, i);
        const tnc_pool_range os = tnc_pool_covering(v.axis[0], e.at[0]),
                             ps = tnc_pool_covering(v.axis[1], e.at[1]),
                             qs = tnc_pool_covering(v.axis[2], e.at[2]);
        const char *from = tnc_places_plane(v.from, e);
        const int64_t *step = v.from.step;
        T sum = 0;
        for (int64_t o = os.begin; o < os.end; o++) {
            const tnc_pool_window z = tnc_pool_window_of(v.axis[0], o);
            for (int64_t p = ps.begin; p < ps.end; p++) {
                const tnc_pool_window y = tnc_pool_window_of(v.axis[1], p);
                for (int64_t q = qs.begin; q < qs.end; q++) {
                    const double d = tnc_places_divisor(v, z, y, tnc_pool_window_of(v.axis[2], q));
                    const T g = tnc_load_real<T>(from + o * step[0] + p * step[1] + q * step[2],
                                                 v.from.dtype);
                    sum = sum + (T)((double)g / d);
                }
            }
        }
        tnc_store_real(tnc_places_at(v.to, e), v.to.dtype, sum);
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

static tnc_places_tensor places_tensor_of(const tn_tensor *t, int dims) {
    const tn_operand o = tn_operand_of(t);
    tnc_places_tensor p;
    memset(&p, 0, sizeof p);
    p.at = o.at;
    p.dtype = o.dtype;
    for (int k = 0; k < 3; k++) {
        const int d = o.ndim - 3 + k;
        p.size[k] = k < 3 - dims ? 1 : o.size[d];
        p.step[k] = k < 3 - dims ? 0 : o.stride[d] * o.bytes;
    }
    p.c = o.size[o.ndim - dims - 1];
    p.channel = o.stride[o.ndim - dims - 1] * o.bytes;
    p.image = o.ndim == dims + 2 ? o.stride[0] * o.bytes : 0;
    return p;
}
static const tn_ints places_none = {NULL, 0};
/* From in[0] to the result; `wide` has the planes that windows lie in, `narrow` one element a
 * window. */
static void places_plan(tnc_places *v, const tn_frame *f, const tn_tensor *wide,
                        const tn_tensor *narrow, int dims) {
    const tnc_places_tensor w = places_tensor_of(wide, dims), n = places_tensor_of(narrow, dims);
    memset(v, 0, sizeof *v);
    v->from = places_tensor_of(f->in[0], dims);
    v->to = places_tensor_of(f->out[0], dims);
    v->elements = tn_numel(f->out[0]);
    for (int k = 0; k < 3; k++) {
        tnc_pool_axis *a = &v->axis[k];
        a->n = w.size[k];
        a->out = n.size[k];
        a->k = a->stride = a->dilation = 1;
    }
}
static void places_axes(tnc_places *v, int dims, tn_ints kernel, tn_ints stride, tn_ints padding,
                        tn_ints dilation) {
    for (int k = 0; k < dims; k++)
        pool_axis(&v->axis[3 - dims + k], k, kernel, stride, padding, dilation);
}

#define PLACES_LAUNCH(kernel, v)                                                           \
    do {                                                                                   \
        if ((v).elements)                                                                  \
            TNC_LAUNCH_PLAIN((kernel), tnc_blocks((v).elements, TNC_THREADS), TNC_THREADS, \
                             tnc_stream(f), v);                                            \
    } while (0)
static bool places_is_float(const tnc_places &v) {
    return v.from.dtype == TN_F32 || v.from.dtype == TN_F16 || v.from.dtype == TN_BF16;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void places_max_run(tn_frame *f, tnc_places &v, int dims) {
    v.index = places_tensor_of(f->out[1], dims);
    if (places_is_float(v))
        PLACES_LAUNCH(tnc_places_max<float>, v);
    else if (v.from.dtype == TN_F64)
        PLACES_LAUNCH(tnc_places_max<double>, v);
    else
        PLACES_LAUNCH(tnc_places_max<int64_t>, v);
}
#define PLACES_FIXED(row, dims)                                                    \
    static void row##_run(tn_frame *f) {                                           \
        TN_ARGS(row, a, f);                                                        \
        tnc_places v;                                                              \
        places_plan(&v, f, f->in[0], f->out[0], dims);                             \
        places_axes(&v, dims, a->kernel_size, a->stride, a->padding, a->dilation); \
        places_max_run(f, v, dims);                                                \
    }
PLACES_FIXED(max_pool1d_with_indices, 1)
PLACES_FIXED(max_pool2d_with_indices, 2)
PLACES_FIXED(max_pool3d_with_indices, 3)
#undef PLACES_FIXED

static void places_adaptive_run(tn_frame *f, int dims) {
    tnc_places v;
    places_plan(&v, f, f->in[0], f->out[0], dims);
    for (int k = 0; k < dims; k++) v.axis[3 - dims + k].k = 0;
    places_max_run(f, v, dims);
}
static void adaptive_max_pool1d_run(tn_frame *f) { places_adaptive_run(f, 1); }
static void adaptive_max_pool2d_run(tn_frame *f) { places_adaptive_run(f, 2); }
static void adaptive_max_pool3d_run(tn_frame *f) { places_adaptive_run(f, 3); }

static void places_fractional_run(tn_frame *f, int dims, tn_ints kernel) {
    const tn_operand random = tn_operand_of(f->in[1]);
    tnc_places v;
    places_plan(&v, f, f->in[0], f->out[0], dims);
    places_axes(&v, dims, kernel, places_none, places_none, places_none);
    v.planes = dims == 2;
    v.samples.at = random.at;
    v.samples.dtype = random.dtype;
    v.samples.image = random.stride[0] * random.bytes;
    v.samples.channel = random.stride[1] * random.bytes;
    v.samples.step[2] = random.stride[2] * random.bytes;
    places_max_run(f, v, dims);
}
static void fractional_max_pool2d_run(tn_frame *f) {
    TN_ARGS(fractional_max_pool2d, a, f);
    places_fractional_run(f, 2, a->kernel_size);
}
static void fractional_max_pool3d_run(tn_frame *f) {
    TN_ARGS(fractional_max_pool3d, a, f);
    places_fractional_run(f, 3, a->kernel_size);
}

static void avg_pool3d_run(tn_frame *f) {
    TN_ARGS(avg_pool3d, a, f);
    tnc_places v;
    places_plan(&v, f, f->in[0], f->out[0], 3);
    places_axes(&v, 3, a->kernel_size, a->stride, a->padding, places_none);
    v.include_pad = a->count_include_pad;
    v.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    if (places_is_float(v))
        PLACES_LAUNCH((tnc_places_avg<float, double>), v);
    else if (v.from.dtype == TN_F64)
        PLACES_LAUNCH((tnc_places_avg<double, double>), v);
    else
        PLACES_LAUNCH((tnc_places_avg<int64_t, uint64_t>), v);
}
static void avg_pool3d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool3d_input_grad, a, f);
    tnc_places v;
    places_plan(&v, f, f->out[0], f->in[0], 3);
    places_axes(&v, 3, a->kernel_size, a->stride, a->padding, places_none);
    v.include_pad = a->count_include_pad;
    v.divisor = a->divisor_override == TN_NONE ? 0 : (double)a->divisor_override;
    if (v.from.dtype == TN_F64)
        PLACES_LAUNCH(tnc_places_avg_grad<double>, v);
    else
        PLACES_LAUNCH(tnc_places_avg_grad<float>, v);
}

#define PLACES_ROW(row) \
    { #row, false, NULL, NULL, row##_run }
static const tn_device_row pool_places_table[] = {PLACES_ROW(max_pool1d_with_indices),
                                                  PLACES_ROW(max_pool2d_with_indices),
                                                  PLACES_ROW(max_pool3d_with_indices),
                                                  PLACES_ROW(adaptive_max_pool1d),
                                                  PLACES_ROW(adaptive_max_pool2d),
                                                  PLACES_ROW(adaptive_max_pool3d),
                                                  PLACES_ROW(fractional_max_pool2d),
                                                  PLACES_ROW(fractional_max_pool3d),
                                                  PLACES_ROW(avg_pool3d),
                                                  PLACES_ROW(avg_pool3d_input_grad)};
TNC_FAMILY(pool_places, pool_places_table)
#undef PLACES_ROW
#undef PLACES_LAUNCH
