/* resample.cu - images of another size and the gradient of that, with the CPU's bits
 * (ops/layers/resample.c).
 *
 * The tables of places and weights are made on the device by the CPU's own text, a thread a row.
 * Then a thread has an element of the result. A gradient gathers what the CPU scatters, in its
 * order: lines of the output, and columns of a line, which are added before the line is. */
#include "families.cuh"
#include "places.cuh"

#define TNI_TABLE static inline __host__ __device__
#include "../simd/resample_table.inl"
#undef TNI_TABLE

enum { RESAMPLE_LINE = 2048 }; /* columns of the input that the CPU's sum of lines has at most */

struct tnc_resample {
    rs_axis axis[3];
    int32_t *chunk;   /* of column q of the output: columns of one chunk are added first */
    tnc_far<2> plane; /* of the result, of what is read */
    char *to;
    const char *from;
    int64_t to_step[3], from_step[3], elements; /* bytes; elements of the result, parts counted */
    int32_t dtype, part, parts; /* parts: 2 of complex elements, `part` bytes apart */
};
/* What makes the table of an axis. */
struct tnc_resample_axis {
    rs_axis axis;
    rs_options options;
    double scale, given;
};

static __global__ void __launch_bounds__(TNC_THREADS) tnc_resample_table(tnc_resample_axis a) {
    for (int64_t p = TNC_FIRST(); p < a.axis.out; p += TNC_STEP())
        rs_row(&a.axis, &a.options, a.scale, a.given, p);
}
TNC_FN int64_t tnc_resample_first(const rs_axis &x, int64_t q) { return x.at[q * x.taps]; }
TNC_FN int64_t tnc_resample_last(const rs_axis &x, int64_t q) {
    return x.at[q * x.taps + x.count[q] - 1];
}
/* One thread: a chunk is the columns that read at most a line of the input, at least one. */
static __global__ void tnc_resample_chunks(rs_axis x, int32_t *chunk) {
    int64_t first = 0;
    int32_t number = 0;
    if (TNC_FIRST()) return;
    for (int64_t q = 0; q < x.out; q++) {
        if (x.in > RESAMPLE_LINE && q > first &&
            tnc_resample_last(x, q) - tnc_resample_first(x, first) >= RESAMPLE_LINE) {
            first = q;
            number++;
        }
        chunk[q] = number;
    }
}

/* Where element i of the result lies: its plane, its part, its three numbers. */
struct tnc_resample_place {
    char *to;
    const char *from;
    int64_t at[3];
};
TNC_FN tnc_resample_place tnc_resample_at(const tnc_resample &a, int64_t i, bool back) {
    tnc_resample_place e;
    int64_t plane[2], rest = i / a.parts;
    const int64_t part = i % a.parts * a.part;
    for (int d = 2; d >= 0; d--) {
        const int64_t n = back ? a.axis[d].in : a.axis[d].out, q = rest / n;
        e.at[d] = rest - q * n;
        rest = q;
    }
    tnc_far_to(a.plane, rest, plane);
    e.to = a.to + plane[0] + part;
    for (int d = 0; d < 3; d++) e.to += e.at[d] * a.to_step[d];
    e.from = a.from + plane[1] + part;
    return e;
}

/* T: elements; A: sums. */
template <class T, class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_resample_make(tnc_resample a) {
    const rs_axis *x = a.axis;
    for (int64_t i = TNC_FIRST(); i < a.elements; i += TNC_STEP()) {
        const tnc_resample_place e = tnc_resample_at(a, i, false);
        const int64_t z = e.at[0], p = e.at[1], q = e.at[2];
        const bool longer =
            tnc_resample_last(x[2], q) - tnc_resample_first(x[2], q) >= RESAMPLE_LINE;
        A sum = 0;
        for (int k = 0; k < x[2].count[q]; k++) {
            const char *column = e.from + x[2].at[q * x[2].taps + k] * a.from_step[2];
            A line = 0;
            bool begun = false;
            for (int c = 0; c < x[0].count[z]; c++)
                for (int b = 0; b < x[1].count[p]; b++) {
                    const A w =
                        (A)x[0].weight[z * x[0].taps + c] * (A)x[1].weight[p * x[1].taps + b];
                    const A v =
                        (A)tnc_load_real<T>(column + x[0].at[z * x[0].taps + c] * a.from_step[0] +
                                                x[1].at[p * x[1].taps + b] * a.from_step[1],
                                            a.dtype) *
                        w;
                    line = begun ? line + v : v;
                    begun = true;
                }
            if (x[2].taps > 1) line = line * (A)x[2].weight[q * x[2].taps + k];
            sum = k || longer ? sum + line : line;
        }
        tnc_store_real(e.to, a.dtype, (T)sum);
    }
}

/* The first output whose elements reach to i or beyond. */
TNC_FN int64_t tnc_resample_begin(const rs_axis &x, int64_t i) {
    int64_t low = 0, high = x.out;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (tnc_resample_last(x, middle) < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
/* Element i of lines z, p of the output, given to the input's: row plus its share of the sum. */
template <class T, class A>
TNC_FN T tnc_resample_share(const tnc_resample &a, const int64_t *at, int64_t z, int64_t p, A line,
                            T row) {
    const rs_axis *x = a.axis;
    for (int c = 0; c < x[0].count[z]; c++)
        for (int b = 0; b < x[1].count[p]; b++) {
            if (x[0].at[z * x[0].taps + c] != at[0] || x[1].at[p * x[1].taps + b] != at[1])
                continue;
            const A w = (A)x[0].weight[z * x[0].taps + c] * (A)x[1].weight[p * x[1].taps + b];
            row = (T)((A)row + line * w);
        }
    return row;
}
template <class T, class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_resample_back(tnc_resample a) {
    const rs_axis *x = a.axis;
    for (int64_t i = TNC_FIRST(); i < a.elements; i += TNC_STEP()) {
        const tnc_resample_place e = tnc_resample_at(a, i, true);
        const int64_t z0 = tnc_resample_begin(x[0], e.at[0]),
                      p0 = tnc_resample_begin(x[1], e.at[1]),
                      q0 = tnc_resample_begin(x[2], e.at[2]);
        T row = 0;
        for (int64_t z = z0; z < x[0].out && tnc_resample_first(x[0], z) <= e.at[0]; z++)
            for (int64_t p = p0; p < x[1].out && tnc_resample_first(x[1], p) <= e.at[1]; p++) {
                const char *from = e.from + z * a.from_step[0] + p * a.from_step[1];
                A line = 0;
                int32_t chunk = 0;
                bool begun = false;
                for (int64_t q = q0; q < x[2].out && tnc_resample_first(x[2], q) <= e.at[2]; q++) {
                    const A v = (A)tnc_load_real<T>(from + q * a.from_step[2], a.dtype);
                    if (begun && a.chunk[q] != chunk) {
                        row = tnc_resample_share(a, e.at, z, p, line, row);
                        line = 0;
                    }
                    chunk = a.chunk[q];
                    begun = true;
                    for (int k = 0; k < x[2].count[q]; k++)
                        if (x[2].at[q * x[2].taps + k] == e.at[2])
                            line = line + v * (A)x[2].weight[q * x[2].taps + k];
                }
                if (begun) row = tnc_resample_share(a, e.at, z, p, line, row);
            }
        tnc_store_real(e.to, a.dtype, row);
    }
}

/* --- host ------------------------------------------------------------------------------------- */

/* From the sizes of `in` to those of `out` in the last `dims` dimensions. */
static void resample_axes(tnc_resample *a, const tn_operand &in, const tn_operand &out, int dims,
                          const rs_options &o) {
    memset(a, 0, sizeof *a);
    for (int k = 0; k < 3; k++) {
        rs_axis *x = &a->axis[k];
        const int d = k - (3 - dims);
        x->in = x->out = x->taps = 1;
        if (d < 0) continue;
        x->in = in.size[in.ndim - dims + d];
        x->out = out.size[out.ndim - dims + d];
        x->taps = rs_taps(x, &o, o.scales.n > 0 ? o.scales.at[d] : 0);
    }
}
/* Bytes of the tables, at `room` if that is not NULL; -1: too many. */
static int64_t resample_tables(tnc_resample *a, char *room) {
    int64_t all = 0;
    for (int k = 0; k < 3; k++) {
        rs_axis *x = &a->axis[k];
        int64_t n, bytes;
        if (__builtin_mul_overflow(x->out, x->taps, &n) || n > INT64_MAX / 64) return -1;
        bytes = (n * 12 + x->out * 8 + 7) / 8 * 8;
        x->weight = (double *)(void *)(room + all);
        x->at = (int32_t *)(void *)(room + all + n * 8);
        x->count = x->at + n;
        if (k == 2) a->chunk = x->count + x->out;
        all += bytes;
    }
    return all;
}
static bool resample_scratch(tn_frame *f, const tn_tensor *in, const tn_tensor *out, int dims,
                             const rs_options &o) {
    tnc_resample a;
    int64_t bytes;
    if (!tn_numel(f->out[0])) return true;
    resample_axes(&a, tn_operand_of(in), tn_operand_of(out), dims, o);
    bytes = resample_tables(&a, NULL);
    if (bytes < 0) return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void resample_fill(tn_frame *f, tnc_resample *a, int dims, const rs_options &o) {
    const cudaStream_t s = tnc_stream(f);
    resample_tables(a, (char *)f->scratch);
    for (int k = 0; k < 3; k++) {
        const int d = k - (3 - dims);
        tnc_resample_axis rows;
        rows.axis = a->axis[k];
        rows.options = o;
        rows.given = d >= 0 && o.scales.n > 0 ? o.scales.at[d] : 0;
        if (d < 0) rows.options.mode = TN_RESIZE_MODE_NEAREST;
        rows.scale = rs_scale(&rows.axis, rows.given, o.align_corners);
        if (rows.axis.out)
            TNC_LAUNCH_PLAIN((tnc_resample_table), tnc_blocks(rows.axis.out, TNC_THREADS),
                             TNC_THREADS, s, rows);
    }
    TNC_LAUNCH_PLAIN((tnc_resample_chunks), 1, 1, s, a->axis[2], a->chunk);
}
static void resample_planes(tnc_resample *a, const tn_operand &to, const tn_operand &from,
                            int dims) {
    const bool complex = to.dtype == TN_C64 || to.dtype == TN_C128;
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    for (int d = 0; d < to.ndim - dims; d++)
        tnc_plan_within(&p, to.size[d], to.stride[d] * to.bytes, from.stride[d] * from.bytes, 0);
    a->plane = tnc_far_of<2>(p);
    for (int k = 3 - dims; k < 3; k++) {
        const int d = to.ndim - 3 + k;
        a->to_step[k] = to.stride[d] * to.bytes;
        a->from_step[k] = from.stride[d] * from.bytes;
    }
    a->to = to.at;
    a->from = from.at;
    a->dtype = to.dtype;
    if (complex) a->dtype = to.dtype == TN_C64 ? TN_F32 : TN_F64;
    a->part = complex ? to.bytes / 2 : 0;
    a->parts = complex ? 2 : 1;
    a->elements = to.numel * a->parts;
}
/* in, out: the tensors of the input's sizes and of the output's. */
static void resample_go(tn_frame *f, const tn_tensor *in, const tn_tensor *out, int dims,
                        const rs_options &o) {
    const cudaStream_t s = tnc_stream(f);
    const bool back = in == f->out[0];
    tnc_resample a;
    if (!tn_numel(f->out[0])) return;
    resample_axes(&a, tn_operand_of(in), tn_operand_of(out), dims, o);
    resample_fill(f, &a, dims, o);
    resample_planes(&a, tn_operand_of(f->out[0]), tn_operand_of(f->in[0]), dims);
    const unsigned blocks = tnc_blocks(a.elements, TNC_THREADS);
    /* sums of many floats are made in double */
    const bool wide = a.axis[0].taps * a.axis[1].taps * a.axis[2].taps > 16;
#define RESAMPLE_GO(T, A)                                                       \
    if (back)                                                                   \
        TNC_LAUNCH_PLAIN((tnc_resample_back<T, A>), blocks, TNC_THREADS, s, a); \
    else                                                                        \
        TNC_LAUNCH_PLAIN((tnc_resample_make<T, A>), blocks, TNC_THREADS, s, a)
    if (a.dtype == TN_F64) {
        RESAMPLE_GO(double, double);
    } else if (wide) {
        RESAMPLE_GO(float, double);
    } else {
        RESAMPLE_GO(float, float);
    }
#undef RESAMPLE_GO
}

static rs_options resample_options(tn_floats scales, tn_resize_mode mode, bool align_corners,
                                   bool antialias) {
    const rs_options o = {scales, mode, align_corners, antialias};
    return o;
}
#define RESAMPLE_OPTIONS(a) resample_options(a->scales, a->mode, a->align_corners, a->antialias)
static bool resample_prepare(tn_frame *f) {
    TN_ARGS(resample, a, f);
    return resample_scratch(f, f->in[0], f->out[0], (int)a->size.n, RESAMPLE_OPTIONS(a));
}
static void resample_run(tn_frame *f) {
    TN_ARGS(resample, a, f);
    resample_go(f, f->in[0], f->out[0], (int)a->size.n, RESAMPLE_OPTIONS(a));
}
static bool resample_input_grad_prepare(tn_frame *f) {
    TN_ARGS(resample_input_grad, a, f);
    return resample_scratch(f, f->out[0], f->in[0], (int)a->dims, RESAMPLE_OPTIONS(a));
}
static void resample_input_grad_run(tn_frame *f) {
    TN_ARGS(resample_input_grad, a, f);
    resample_go(f, f->out[0], f->in[0], (int)a->dims, RESAMPLE_OPTIONS(a));
}
#undef RESAMPLE_OPTIONS

static const tn_device_row resample_rows[] = {
    {"resample", false, NULL, resample_prepare, resample_run},
    {"resample_input_grad", false, NULL, resample_input_grad_prepare, resample_input_grad_run}};
TNC_FAMILY(resample, resample_rows)
