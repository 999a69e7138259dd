/* grid_sample.cu - an image at places that a grid names, with the CPU's bits
 * (ops/layers/grid_sample.c).
 *
 * A thread has a place of a sample: its taps, by the CPU's own text, then the sums of all channels.
 * Inputs are read where they lie, whatever their strides. */
#include "families.cuh"
#include "here.cuh"
#include "reduce.cuh"

/* Steps in bytes: of samples, channels, then by dimension, the last one first. */
struct tnc_grid {
    tni_grid_plan plan;
    const char *x, *grid;
    char *y;
    int64_t size[3]; /* of the result */
    int64_t places, elements, channels;
    int64_t x_sample, x_channel, x_step[3], y_sample, y_channel, y_step[3];
    int64_t grid_sample, grid_number, grid_step[3];
    int32_t x_dtype, grid_dtype;
};

template <class T>
struct tnc_grid_taps {
    int64_t at[12]; /* of dimension k from 4 k on */
    T weight[12];
};
TNC_FN void tnc_grid_axis(const tni_grid_plan *g, int k, float c, float *at, float *weight) {
    grid_axis_f32_cuda(g, k, c, at, weight);
}
TNC_FN void tnc_grid_axis(const tni_grid_plan *g, int k, double c, double *at, double *weight) {
    grid_axis_f64_cuda(g, k, c, at, weight);
}
/* Taps of number c along dimension k. Far below 0 is outside: sums stay negative. */
template <class T>
TNC_FN void tnc_grid_line(const tnc_grid &g, int k, T c, tnc_grid_taps<T> &t) {
    T at[4];
    tnc_grid_axis(&g.plan, k, c, at, t.weight + 4 * k);
    for (int i = 0; i < g.plan.taps; i++) {
        const int64_t number = at[i] == at[i] ? (int64_t)at[i] : -1;
        const bool inside = number >= 0 && number < g.plan.n[k];
        t.at[4 * k + i] = inside ? number * g.plan.step[k] : -((int64_t)1 << 60);
    }
}
/* The element of taps x, y, z of a plane; 0 outside. Numbers along a dimension are multiples of the
 * plan's step, which counts bytes here. */
template <class T>
TNC_FN T tnc_grid_at(const tnc_grid &g, const tnc_grid_taps<T> &t, const char *plane, int x, int y,
                     int z) {
    const int64_t at = t.at[x] + t.at[4 + y] + (g.plan.dims > 2 ? t.at[8 + z] : 0);
    return at < 0 ? 0 : tnc_load_real<T>(plane + at, g.x_dtype);
}
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_grid_sums(tnc_grid g) {
    for (int64_t i = TNC_FIRST(); i < g.elements; i += TNC_STEP()) {
        const int64_t n = i / g.places;
        const char *place = g.grid + n * g.grid_sample, *plane = g.x + n * g.x_sample;
        char *to = g.y + n * g.y_sample;
        int64_t rest = i - n * g.places;
        tnc_grid_taps<T> t;
        for (int k = 0; k < g.plan.dims; k++) {
            const int64_t q = rest / g.size[k];
            place += (rest - q * g.size[k]) * g.grid_step[k];
            to += (rest - q * g.size[k]) * g.y_step[k];
            rest = q;
        }
        for (int k = 0; k < g.plan.dims; k++)
            tnc_grid_line(g, k, tnc_load_real<T>(place + k * g.grid_number, g.grid_dtype), t);
        for (int64_t c = 0; c < g.channels; c++, plane += g.x_channel, to += g.y_channel) {
            T sum = 0;
            for (int tap = 0; tap < g.plan.count; tap++) {
                const int x = tap % g.plan.taps, y = tap / g.plan.taps % g.plan.taps,
                          z = tap / g.plan.taps / g.plan.taps;
                T weight = t.weight[x] * t.weight[4 + y];
                if (g.plan.dims > 2) weight *= t.weight[8 + z];
                const T v = tnc_grid_at(g, t, plane, x, y, z) * weight;
                sum = tap ? sum + v : v;
            }
            tnc_store_real(to, g.x_dtype, sum);
        }
    }
}

static void grid_sample_run(tn_frame *f) {
    TN_ARGS(grid_sample, a, f);
    const tn_operand x = tn_operand_of(f->in[0]), grid = tn_operand_of(f->in[1]),
                     y = tn_operand_of(f->out[0]);
    const int dims = x.ndim - 2;
    const bool nearest = a->mode == TN_GRID_MODE_NEAREST;
    const int taps = nearest ? 1 : a->mode == TN_GRID_MODE_BILINEAR ? 2 : 4;
    const cudaStream_t s = tnc_stream(f);
    tnc_grid g;
    if (!y.numel) return;
    memset(&g, 0, sizeof g);
    g.plan = tni_grid_plan_of(dims, x.size + 2, taps, a->padding_mode != TN_GRID_PADDING_ZEROS,
                              a->padding_mode == TN_GRID_PADDING_REFLECTION, a->align_corners);
    g.x = x.at;
    g.grid = grid.at;
    g.y = y.at;
    g.channels = x.size[1];
    g.elements = y.numel / g.channels;
    g.places = g.elements / x.size[0];
    g.x_sample = x.stride[0] * x.bytes;
    g.x_channel = x.stride[1] * x.bytes;
    g.y_sample = y.stride[0] * y.bytes;
    g.y_channel = y.stride[1] * y.bytes;
    g.grid_sample = grid.stride[0] * grid.bytes;
    g.grid_number = grid.stride[dims + 1] * grid.bytes;
    for (int k = 0; k < dims; k++) {
        g.size[k] = y.size[dims + 1 - k];
        g.plan.step[k] = x.stride[dims + 1 - k] * x.bytes;
        g.y_step[k] = y.stride[dims + 1 - k] * y.bytes;
        g.grid_step[k] = grid.stride[dims - k] * grid.bytes;
    }
    g.x_dtype = x.dtype;
    g.grid_dtype = grid.dtype;
    const unsigned blocks = tnc_blocks(g.elements, TNC_THREADS);
    if (x.dtype == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_grid_sums<double>), blocks, TNC_THREADS, s, g);
    else
        TNC_LAUNCH_PLAIN((tnc_grid_sums<float>), blocks, TNC_THREADS, s, g);
}

static const tn_device_row grid_rows[] = {{"grid_sample", false, NULL, NULL, grid_sample_run}};
TNC_FAMILY(grid, grid_rows)
