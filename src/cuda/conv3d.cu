/* conv3d.cu - conv3d and the gradients of its input and weight, with the sums of the CPU
 * (ops/layers/conv3d.c): taps along the depth count as channels.
 *
 * A thread an element of the result. Floats are summed in chains of 384 terms, or of a block of
 * pixels, in which elements of the surroundings are zeros; of integers and complex numbers there is
 * one chain, which leaves them out. */
#include "cudnn.cuh"
#include "families.cuh"

/* (N, C, D, H, W) or (C, D, H, W), steps in bytes. */
struct tnc_volumes {
    char *at;
    int64_t size[5], step[5];
    int32_t dtype;
};
struct tnc_conv3d {
    tnc_volumes a, b, c; /* weight, or grad of the weight's gradient; what is read; the result */
    const char *bias;
    int64_t bias_step, groups, elements, stride[3], pad[3], dilation[3];
    tn_conv_blocks cut; /* of the weight's gradient */
};

/* --- sums ------------------------------------------------------------------------------------- */

/* A sum of products x w: of floats in chains, `outside` telling whether x is a zero around b. */
template <class T>
struct tnc_conv3d_floats {
    enum { zeros = 1 };
    typedef T value;
    T sum, total;
    int32_t n, chains;
    TNC_FN T get(const char *at, int dtype) { return tnc_load_real<T>(at, dtype); }
    TNC_FN T zero() { return 0; }
    __device__ __forceinline__ void begin(T first) {
        sum = first;
        total = 0;
        n = chains = 0;
    }
    __device__ __forceinline__ void join() {
        total = chains++ ? total + sum : sum;
        sum = 0;
        n = 0;
    }
    __device__ __forceinline__ void term(T x, T w, bool) {
        if (n == TN_PRODUCT_BLOCK) join();
        sum = tnc_fused(x, w, sum);
        n++;
    }
    __device__ __forceinline__ void end(char *to, int dtype) {
        if (n || !chains) join();
        tnc_store_real(to, dtype, total);
    }
};
struct tnc_conv3d_integers { /* they wrap */
    enum { zeros = 0 };
    typedef int64_t value;
    uint64_t sum;
    TNC_FN int64_t get(const char *at, int dtype) { return tnc_load_real<int64_t>(at, dtype); }
    TNC_FN int64_t zero() { return 0; }
    __device__ __forceinline__ void begin(int64_t first) { sum = (uint64_t)first; }
    __device__ __forceinline__ void term(int64_t x, int64_t w, bool) {
        sum = sum + (uint64_t)x * (uint64_t)w;
    }
    __device__ __forceinline__ void end(char *to, int dtype) {
        tnc_store_real(to, dtype, (int64_t)sum);
    }
};
struct tnc_conv3d_complex { /* in double */
    enum { zeros = 0 };
    typedef tnc_c128 value;
    tnc_c128 sum;
    TNC_FN tnc_c128 get(const char *at, int dtype) {
        return tnc_move<TNC_C128>::load(at, dtype, dtype);
    }
    TNC_FN tnc_c128 zero() {
        const tnc_c128 z = {0, 0};
        return z;
    }
    __device__ __forceinline__ void begin(tnc_c128 first) { sum = first; }
    __device__ __forceinline__ void term(tnc_c128 x, tnc_c128 y, bool conjugate) {
        const double im = conjugate ? -y.im : y.im;
        sum.re = fma(-x.im, im, fma(x.re, y.re, sum.re));
        sum.im = fma(x.im, y.re, fma(x.re, im, sum.im));
    }
    __device__ __forceinline__ void end(char *to, int dtype) {
        tnc_move<TNC_C128>::store(to, dtype, dtype, sum);
    }
};

/* --- kernels ---------------------------------------------------------------------------------- */

/* Numbers of element i of a result, and where it lies. */
TNC_FN char *tnc_conv3d_at(const tnc_volumes &t, int64_t i, int64_t *at) {
    char *to = t.at;
    for (int d = 4; d >= 0; d--) {
        const int64_t q = i / t.size[d];
        at[d] = i - q * t.size[d];
        to += at[d] * t.step[d];
        i = q;
    }
    return to;
}
/* The element of image n and channel c at a place; outside it is 0, and *inside false. */
template <class R>
TNC_FN typename R::value tnc_conv3d_read(const tnc_volumes &t, int64_t n, int64_t c,
                                         const int64_t *place, bool *inside) {
    const char *at = t.at + n * t.step[0] + c * t.step[1];
    *inside = true;
    for (int d = 0; d < 3; d++) {
        *inside = *inside && place[d] >= 0 && place[d] < t.size[d + 2];
        at += place[d] * t.step[d + 2];
    }
    return *inside ? R::get(at, t.dtype) : R::zero();
}

template <class R>
__global__ void __launch_bounds__(TNC_THREADS) tnc_conv3d_output(tnc_conv3d v) {
    const int64_t channels = v.a.size[1], *k = v.a.size + 2;
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        int64_t at[5], tap[3], place[3];
        char *to = tnc_conv3d_at(v.c, i, at);
        const int64_t group = at[1] / (v.a.size[0] / v.groups);
        const char *w = v.a.at + at[1] * v.a.step[0];
        R sum;
        sum.begin(v.bias ? R::get(v.bias + at[1] * v.bias_step, v.a.dtype) : R::zero());
        for (int64_t t = 0; t < channels * k[0] * k[1] * k[2]; t++) {
            const int64_t c = t / k[2] / k[1] / k[0];
            const char *one = w + c * v.a.step[1];
            bool inside;
            tap[2] = t % k[2];
            tap[1] = t / k[2] % k[1];
            tap[0] = t / k[2] / k[1] % k[0];
            for (int d = 0; d < 3; d++) {
                place[d] = at[d + 2] * v.stride[d] - v.pad[d] + tap[d] * v.dilation[d];
                one += tap[d] * v.a.step[d + 2];
            }
            const typename R::value x =
                tnc_conv3d_read<R>(v.b, at[0], group * channels + c, place, &inside);
            if (inside || R::zeros) sum.term(x, R::get(one, v.a.dtype), false);
        }
        sum.end(to, v.c.dtype);
    }
}

/* Taps along the depth are channels, too, where no plane lies at them; of rows and columns those
 * count that may meet the element. */
template <class R>
__global__ void __launch_bounds__(TNC_THREADS) tnc_conv3d_input(tnc_conv3d v) {
    const int64_t out = v.a.size[0] / v.groups, *k = v.a.size + 2;
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        int64_t at[5], tap[3], place[3];
        char *to = tnc_conv3d_at(v.c, i, at);
        const int64_t group = at[1] / v.a.size[1];
        R sum;
        sum.begin(R::zero());
        for (int64_t t = 0; t < out * k[0] * k[1] * k[2]; t++) {
            const int64_t o = group * out + t / k[2] / k[1] / k[0];
            const char *one = v.a.at + o * v.a.step[0] + at[1] % v.a.size[1] * v.a.step[1];
            bool meets = true, whole = true, inside;
            tap[2] = t % k[2];
            tap[1] = t / k[2] % k[1];
            tap[0] = t / k[2] / k[1] % k[0];
            for (int d = 0; d < 3; d++) {
                const int64_t from = at[d + 2] + v.pad[d] - tap[d] * v.dilation[d];
                place[d] = from / v.stride[d];
                if (from % v.stride[d] && d) meets = false;
                if (from % v.stride[d] && !d) whole = false;
                one += tap[d] * v.a.step[d + 2];
            }
            if (!meets) continue;
            if (!whole) place[0] = -1;
            const typename R::value x = tnc_conv3d_read<R>(v.b, at[0], o, place, &inside);
            if (inside || R::zeros) sum.term(x, R::get(one, v.a.dtype), true);
        }
        sum.end(to, v.c.dtype);
    }
}

/* Pixels [first, end) of line `line`, counted over all planes of the output. */
struct tnc_conv3d_pixels {
    int64_t line, first, end;
};
/* Where element `at` of the weight's gradient meets pixel x of a line: grad and what is read. */
template <class R>
TNC_FN bool tnc_conv3d_meet(const tnc_conv3d &v, const int64_t *at, int64_t line, int64_t x,
                            typename R::value *g, typename R::value *z) {
    const int64_t y = line % v.a.size[3], image = line / v.a.size[3], depth = image % v.a.size[2],
                  n = image / v.a.size[2], group = at[0] / (v.c.size[0] / v.groups);
    const int64_t pixel[3] = {depth, y, x};
    int64_t place[3];
    bool inside;
    for (int d = 0; d < 3; d++)
        place[d] = pixel[d] * v.stride[d] - v.pad[d] + at[d + 2] * v.dilation[d];
    *z = tnc_conv3d_read<R>(v.b, n, group * v.c.size[1] + at[1], place, &inside);
    if (inside || R::zeros)
        *g = R::get(v.a.at + n * v.a.step[0] + at[0] * v.a.step[1] + depth * v.a.step[2] +
                        y * v.a.step[3] + x * v.a.step[4],
                    v.a.dtype);
    return inside;
}
/* The sum of a block: lines from `line` to `last`, of each pixels [first, end). */
template <class T>
TNC_FN T tnc_conv3d_block(const tnc_conv3d &v, const int64_t *at, int64_t line, int64_t last,
                          int64_t first, int64_t end) {
    T lane[16], g, z;
    const int lanes = v.cut.lanes ? 16 : 1;
    for (int l = 0; l < 16; l++) lane[l] = 0;
    for (; line < last; line++)
        for (int64_t x = first; x < end; x++) {
            T &sum = lane[(x - first) % lanes];
            tnc_conv3d_meet<tnc_conv3d_floats<T>>(v, at, line, x, &g, &z);
            sum = tnc_fused(z, g, sum);
        }
    for (int half = lanes / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] = lane[l] + lane[l + half];
    return lane[0];
}
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_conv3d_weight(tnc_conv3d v) {
    const int64_t depth = v.a.size[2], images = v.a.size[0] * depth, height = v.a.size[3],
                  width = v.a.size[4];
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        int64_t at[5], blocks = 0;
        char *to = tnc_conv3d_at(v.c, i, at);
        T total = 0;
        /* Rounds of images, none over the end of a volume. */
        for (int64_t first = 0, count; first < images; first += count) {
            const int64_t left = depth > 1 ? depth - first % depth : images - first;
            count = left < v.cut.images ? left : v.cut.images;
            for (int64_t line = 0; line < count * height; line += v.cut.lines) {
                const int64_t rest = count * height - line,
                              lines = rest < v.cut.lines ? rest : v.cut.lines,
                              begin = first * height + line;
                for (int64_t p = 0; p < v.cut.pieces; p++) {
                    const int64_t x = p * v.cut.piece,
                                  end = v.cut.pieces > 1 && width - x > v.cut.piece
                                            ? x + v.cut.piece
                                            : width;
                    const T sum = tnc_conv3d_block<T>(v, at, begin, begin + lines, x, end);
                    total = blocks++ ? total + sum : sum;
                }
            }
        }
        tnc_store_real(to, v.c.dtype, total);
    }
}
static __global__ void __launch_bounds__(TNC_THREADS) tnc_conv3d_weight_complex(tnc_conv3d v) {
    const int64_t lines = v.a.size[0] * v.a.size[2] * v.a.size[3];
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        int64_t at[5];
        char *to = tnc_conv3d_at(v.c, i, at);
        tnc_conv3d_complex sum;
        sum.begin(tnc_conv3d_complex::zero());
        for (int64_t line = 0; line < lines; line++)
            for (int64_t x = 0; x < v.a.size[4]; x++) {
                tnc_c128 g, z;
                if (tnc_conv3d_meet<tnc_conv3d_complex>(v, at, line, x, &g, &z))
                    sum.term(g, z, true);
            }
        sum.end(to, v.c.dtype);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static tnc_volumes conv3d_volumes(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const int less = 5 - o.ndim;
    tnc_volumes v;
    v.at = o.at;
    v.dtype = o.dtype;
    for (int d = 0; d < 5; d++) {
        v.size[d] = d < less ? 1 : o.size[d - less];
        v.step[d] = d < less ? 0 : o.stride[d - less] * o.bytes;
    }
    return v;
}
static void conv3d_plan(tnc_conv3d *v, const tn_frame *f, const tn_tensor *a, const tn_tensor *b,
                        const tnc_windows &w) {
    memset(v, 0, sizeof *v);
    v->a = conv3d_volumes(a);
    v->b = conv3d_volumes(b);
    v->c = conv3d_volumes(f->out[0]);
    v->elements = tn_numel(f->out[0]);
    v->groups = w.groups;
    memcpy(v->stride, w.stride, sizeof v->stride);
    memcpy(v->pad, w.pad, sizeof v->pad);
    memcpy(v->dilation, w.dilation, sizeof v->dilation);
}
#define CONV3D_LAUNCH(kernel) \
    TNC_LAUNCH_PLAIN((kernel), tnc_blocks(v.elements, TNC_THREADS), TNC_THREADS, tnc_stream(f), v)
#define CONV3D_BY_DTYPE(kernel)                                           \
    switch (v.c.dtype) {                                                  \
    case TN_F16:                                                          \
    case TN_BF16:                                                         \
    case TN_F32: CONV3D_LAUNCH(kernel<tnc_conv3d_floats<float>>); break;  \
    case TN_F64: CONV3D_LAUNCH(kernel<tnc_conv3d_floats<double>>); break; \
    case TN_C64:                                                          \
    case TN_C128: CONV3D_LAUNCH(kernel<tnc_conv3d_complex>); break;       \
    default: CONV3D_LAUNCH(kernel<tnc_conv3d_integers>);                  \
    }
static void conv3d_run_output(tn_frame *f, const tnc_windows &w) {
    const tn_operand bias = tn_operand_of(f->in[2]);
    tnc_conv3d v;
    conv3d_plan(&v, f, f->in[1], f->in[0], w);
    if (f->in[2]) {
        v.bias = bias.at;
        v.bias_step = bias.stride[0] * bias.bytes;
    }
    if (v.elements) CONV3D_BY_DTYPE(tnc_conv3d_output)
}
static void conv3d_run_input(tn_frame *f, const tnc_windows &w) {
    tnc_conv3d v;
    conv3d_plan(&v, f, f->in[1], f->in[0], w);
    if (v.elements) CONV3D_BY_DTYPE(tnc_conv3d_input)
}
static void conv3d_run_weight(tn_frame *f, const tnc_windows &w) {
    tnc_conv3d v;
    conv3d_plan(&v, f, f->in[0], f->in[1], w);
    if (!v.elements) return;
    if (v.c.dtype == TN_C64 || v.c.dtype == TN_C128) {
        CONV3D_LAUNCH(tnc_conv3d_weight_complex);
        return;
    }
    tn_conv_blocks_of(&v.cut, f);
    if (v.c.dtype == TN_F64)
        CONV3D_LAUNCH(tnc_conv3d_weight<double>);
    else
        CONV3D_LAUNCH(tnc_conv3d_weight<float>);
}
#undef CONV3D_LAUNCH
#undef CONV3D_BY_DTYPE

static bool conv3d_prepare_as(tn_frame *f, int of, const tnc_windows &w) {
    int64_t bytes;
    return !tnc_cudnn_takes(f, of, w, &bytes) || !bytes || tn_device_scratch(f, bytes) != NULL;
}
#define CONV3D_ROW(row, of, own)                                                                \
    static bool row##_prepare(tn_frame *f) {                                                    \
        TN_ARGS(row, a, f);                                                                     \
        return conv3d_prepare_as(                                                               \
            f, of, tnc_windows_of(3, a->stride, a->padding, a->dilation, a->groups));           \
    }                                                                                           \
    static void row##_run(tn_frame *f) {                                                        \
        TN_ARGS(row, a, f);                                                                     \
        const tnc_windows w = tnc_windows_of(3, a->stride, a->padding, a->dilation, a->groups); \
        if (!tnc_cudnn_run(f, of, w)) own(f, w);                                                \
    }
CONV3D_ROW(conv3d, TNC_CONV_OUTPUT, conv3d_run_output)
CONV3D_ROW(conv3d_input_grad, TNC_CONV_INPUT, conv3d_run_input)
CONV3D_ROW(conv3d_weight_grad, TNC_CONV_WEIGHT, conv3d_run_weight)
#undef CONV3D_ROW

static const tn_device_row conv3d_table[] = {
    {"conv3d", false, NULL, conv3d_prepare, conv3d_run},
    {"conv3d_input_grad", false, NULL, conv3d_input_grad_prepare, conv3d_input_grad_run},
    {"conv3d_weight_grad", false, NULL, conv3d_weight_grad_prepare, conv3d_weight_grad_run}};
TNC_FAMILY(conv3d, conv3d_table)
