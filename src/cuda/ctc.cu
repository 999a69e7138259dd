/* ctc.cu - the loss of connectionist temporal classification and its gradient, by the CPU's
 * formulas in f64 (ops/layers/ctc.c).
 *
 * A block a sample: its threads have the states, which depend on those of the time before alone,
 * and meet after each time. Rows of states lie in the device's memory with a place of -inf on
 * either side: one for each time where the gradient needs them, two by turns for the loss alone. */
#include "families.cuh"
#include "here.cuh"
#include "reduce.cuh"

enum { CTC_THREADS = 128 };

/* Steps in bytes. */
struct tnc_ctc {
    const char *x, *targets, *times, *labels, *grad; /* grad NULL: the loss */
    char *to;
    double *rows;
    int64_t batch, classes, most_times, width, room, blank; /* room: of a sample, in doubles */
    int64_t x_time, x_sample, x_class, target_row, target_step, times_step, labels_step, grad_step;
    int32_t x_dtype, target_dtype, times_dtype, labels_dtype, out_bytes;
    bool joined, zero_infinity; /* joined: labels of all samples one behind the other */
};
/* What the threads of a block know of their sample. */
struct tnc_ctc_sample {
    int64_t b, start, times, states;
};
TNC_FN tnc_ctc_sample tnc_ctc_sample_of(const tnc_ctc &a, int64_t b) {
    tnc_ctc_sample s;
    s.b = b;
    s.start = 0;
    for (int64_t k = 0; a.joined && k < b; k++)
        s.start += tnc_load_real<int64_t>(a.labels + k * a.labels_step, a.labels_dtype);
    s.times = tnc_load_real<int64_t>(a.times + b * a.times_step, a.times_dtype);
    s.states = 2 * tnc_load_real<int64_t>(a.labels + b * a.labels_step, a.labels_dtype) + 1;
    return s;
}
TNC_FN int64_t tnc_ctc_label(const tnc_ctc &a, const tnc_ctc_sample &s, int64_t i) {
    if (i % 2 == 0) return a.blank;
    return tnc_load_real<int64_t>(
        a.targets + s.b * a.target_row + (s.start + i / 2) * a.target_step, a.target_dtype);
}
TNC_FN double tnc_ctc_log_p(const tnc_ctc &a, const tnc_ctc_sample &s, int64_t t, int64_t c) {
    return tnc_load_real<double>(a.x + t * a.x_time + s.b * a.x_sample + c * a.x_class, a.x_dtype);
}
TNC_FN double tnc_ctc_plus(double x, double y) { return tnc_logaddexp_f64::call(x, y, x, NULL); }

/* Row `to` at time t from the row before (way 1: alpha) or behind (way -1: beta); `from` NULL: the
 * first one. All threads meet before and after. */
TNC_FN void tnc_ctc_row(const tnc_ctc &a, const tnc_ctc_sample &s, int64_t t, double *to,
                        const double *from, int way) {
    const int64_t n = s.states, first = way > 0 ? 0 : n - 1;
    __syncthreads();
    for (int64_t i = (int64_t)threadIdx.x - 1; i <= n; i += CTC_THREADS) {
        double v = -INFINITY;
        if (i >= 0 && i < n && from) {
            const int64_t other = i - 2 * way, label = tnc_ctc_label(a, s, i);
            /* over a blank, between labels that differ */
            const bool may =
                other >= 0 && other < n && i % 2 && label != tnc_ctc_label(a, s, other);
            v = tnc_ctc_plus(from[i], from[i - way]);
            v = tnc_ctc_plus(v, may ? from[other] : -INFINITY);
            v = v + tnc_ctc_log_p(a, s, t, label);
        } else if (i == first || (n > 1 && i == first + way)) {
            v = tnc_ctc_log_p(a, s, t, tnc_ctc_label(a, s, i));
        }
        to[i] = v;
    }
    __syncthreads();
}
/* -log of the target's probability; the rows of alpha, all of them if they are kept. */
TNC_FN double tnc_ctc_forward(const tnc_ctc &a, const tnc_ctc_sample &s, double *rows, bool keep) {
    const int64_t n = s.states;
    double *last = NULL;
    for (int64_t t = 0; t < s.times; t++) {
        double *to = rows + 1 + (keep ? t : t % 2) * a.width;
        tnc_ctc_row(a, s, t, to, last, 1);
        last = to;
    }
    if (!s.times) return n == 1 ? 0 : INFINITY; /* no time: no label */
    if (n == 1) return -last[0];
    return -tnc_ctc_plus(last[n - 1], last[n - 2]);
}

static __global__ void __launch_bounds__(CTC_THREADS) tnc_ctc_loss(tnc_ctc a) {
    for (int64_t b = blockIdx.x; b < a.batch; b += gridDim.x) {
        const tnc_ctc_sample s = tnc_ctc_sample_of(a, b);
        double loss = tnc_ctc_forward(a, s, a.rows + b * a.room, false);
        if (a.zero_infinity && loss == INFINITY) loss = 0;
        if (threadIdx.x == 0) tnc_store_real(a.to + b * a.out_bytes, a.x_dtype, loss);
    }
}

/* scale (p - the part of all paths that is in a state of the class) at time t; `part` is a row of
 * its own. */
TNC_FN void tnc_ctc_slope(const tnc_ctc &a, const tnc_ctc_sample &s, int64_t t, const double *alpha,
                          const double *beta, double loss, double scale, double *part, char *to) {
    for (int64_t i = threadIdx.x; i < s.states; i += CTC_THREADS) {
        /* both have the state's own probability */
        const double v = alpha[i] + beta[i] - tnc_ctc_log_p(a, s, t, tnc_ctc_label(a, s, i)) + loss;
        part[i] = tnc_exp_f64::call(v, v, v, NULL);
    }
    __syncthreads();
    for (int64_t c = threadIdx.x; c < a.classes; c += CTC_THREADS) {
        const double p = tnc_ctc_log_p(a, s, t, c);
        double v = tnc_exp_f64::call(p, p, p, NULL);
        for (int64_t i = 0; i < s.states; i++)
            if (tnc_ctc_label(a, s, i) == c) v = v - part[i];
        tnc_store_real(to + c * a.out_bytes, a.x_dtype, v * scale);
    }
}
static __global__ void __launch_bounds__(CTC_THREADS) tnc_ctc_back(tnc_ctc a) {
    for (int64_t b = blockIdx.x; b < a.batch; b += gridDim.x) {
        const tnc_ctc_sample s = tnc_ctc_sample_of(a, b);
        const double scale = tnc_load_real<double>(a.grad + b * a.grad_step, a.x_dtype);
        double *rows = a.rows + b * a.room, *part = rows + (a.most_times + 2) * a.width;
        const double loss = tnc_ctc_forward(a, s, rows, true);
        for (int64_t t = a.most_times - 1; t >= 0; t--) {
            char *to = a.to + (t * a.batch + b) * a.classes * a.out_bytes;
            double *beta[2];
            /* Beyond the sample's time there is no gradient; of an infinite loss none at all. */
            const bool none = t >= s.times || (a.zero_infinity && loss == INFINITY);
            for (int k = 0; k < 2; k++) beta[k] = rows + (a.most_times + k) * a.width + 1;
            if (!none)
                tnc_ctc_row(a, s, t, beta[t % 2], t == s.times - 1 ? NULL : beta[(t + 1) % 2], -1);
            if (!none && loss != INFINITY) {
                tnc_ctc_slope(a, s, t, rows + 1 + t * a.width, beta[t % 2], loss, scale, part, to);
                continue;
            }
            for (int64_t c = threadIdx.x; c < a.classes; c += CTC_THREADS)
                tnc_store_real(to + c * a.out_bytes, a.x_dtype, none ? 0.0 : (double)NAN);
        }
        __syncthreads();
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Of the inputs from number k on; `rows` of states a sample. */
static void ctc_plan(tnc_ctc *a, const tn_frame *f, int k, int64_t blank, bool zero_infinity) {
    const tn_operand x = tn_operand_of(f->in[k]), t = tn_operand_of(f->in[k + 1]),
                     times = tn_operand_of(f->in[k + 2]), labels = tn_operand_of(f->in[k + 3]);
    memset(a, 0, sizeof *a);
    a->x = x.at;
    a->x_dtype = x.dtype;
    a->most_times = x.size[0];
    a->batch = x.ndim == 3 ? x.size[1] : 1;
    a->classes = x.size[x.ndim - 1];
    a->x_time = x.stride[0] * x.bytes;
    a->x_sample = x.ndim == 3 ? x.stride[1] * x.bytes : 0;
    a->x_class = x.stride[x.ndim - 1] * x.bytes;
    a->targets = t.at;
    a->target_dtype = t.dtype;
    a->target_step = t.stride[t.ndim - 1] * t.bytes;
    a->target_row = t.ndim == 2 ? t.stride[0] * t.bytes : 0;
    a->joined = t.ndim == 1;
    a->times = times.at;
    a->times_dtype = times.dtype;
    a->times_step = times.ndim ? times.stride[0] * times.bytes : 0;
    a->labels = labels.at;
    a->labels_dtype = labels.dtype;
    a->labels_step = labels.ndim ? labels.stride[0] * labels.bytes : 0;
    a->blank = blank;
    a->zero_infinity = zero_infinity;
    a->width = 2 * t.size[t.ndim - 1] + 3;
    a->room = (k ? a->most_times + 3 : 2) * a->width;
    a->out_bytes = x.bytes;
    a->to = (char *)tn_device_data(f->out[0]);
    a->rows = (double *)f->scratch;
}
static bool ctc_scratch(tn_frame *f, int k) {
    tnc_ctc a;
    int64_t bytes;
    ctc_plan(&a, f, k, 0, false);
    if (__builtin_mul_overflow(a.batch, a.room * 8, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
/* Lengths and labels are read. */
static bool ctc_loss_plain_look(tn_frame *f) { return tnc_here_look(f, 0xe); }
static bool ctc_loss_plain_prepare(tn_frame *f) { return ctc_scratch(f, 0); }
static void ctc_loss_plain_run(tn_frame *f) {
    TN_ARGS(ctc_loss_plain, args, f);
    tnc_ctc a;
    ctc_plan(&a, f, 0, args->blank, args->zero_infinity);
    TNC_LAUNCH((tnc_ctc_loss), tnc_blocks(a.batch, 1), CTC_THREADS, tnc_stream(f), a);
}
static bool ctc_loss_input_grad_look(tn_frame *f) { return tnc_here_look(f, 0x1c); }
static bool ctc_loss_input_grad_prepare(tn_frame *f) { return ctc_scratch(f, 1); }
static void ctc_loss_input_grad_run(tn_frame *f) {
    TN_ARGS(ctc_loss_input_grad, args, f);
    const tn_operand grad = tn_operand_of(f->in[0]);
    tnc_ctc a;
    ctc_plan(&a, f, 1, args->blank, args->zero_infinity);
    a.grad = grad.at;
    a.grad_step = grad.ndim ? grad.stride[0] * grad.bytes : 0;
    TNC_LAUNCH((tnc_ctc_back), tnc_blocks(a.batch, 1), CTC_THREADS, tnc_stream(f), a);
}

static const tn_device_row ctc_table[] = {
    {"ctc_loss_plain", false, ctc_loss_plain_look, ctc_loss_plain_prepare, ctc_loss_plain_run},
    {"ctc_loss_input_grad", false, ctc_loss_input_grad_look, ctc_loss_input_grad_prepare,
     ctc_loss_input_grad_run}};
TNC_FAMILY(ctc, ctc_table)
