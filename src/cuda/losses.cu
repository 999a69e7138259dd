/* losses.cu - the negative log-likelihood and its gradient, in the CPU's order (ops/layers/loss.c),
 * and margins of several labels (ops/layers/classes.c).
 *
 * The loss: a warp a block of 64 samples (32 of f64), whose sums meet in a tree. The gradient: a
 * thread an element, so that all of it is written side by side and once. A class out of range is
 * read as class 0 and told at the next wait. */
#include "families.cuh"
#include "fault.cuh"
#include "lines.cuh"

enum { NLL_WARPS = 4 };

struct tnc_nll {
    const char *x, *target, *weight; /* x: the input, or what came in; weight may be NULL */
    int64_t samples, classes, inner, ignore, weight_step;
    int32_t ndim; /* of target, by whose sizes samples are counted */
    int64_t size[TN_MAX_DIMS], target_step[TN_MAX_DIMS], x_step[TN_MAX_DIMS];
    int64_t class_step; /* of x, in bytes */
    uint8_t x_dtype, target_dtype, weight_dtype, out_dtype;
    char *each, *total;  /* losses of samples, the sum of weights; or NULL */
    const char *divisor; /* of the gradient, or NULL */
    uint8_t divisor_dtype, out_bytes;
    bool mean;
    tnc_watch watch;
};

/* Class of sample i, -1: ignored. */
TNC_FN int64_t tnc_nll_class(const tnc_nll &a, int64_t i) {
    const int64_t t = tnc_load_real<int64_t>(
        a.target + tnc_offset(a.ndim, a.size, a.target_step, i), a.target_dtype);
    if (t == a.ignore) return -1;
    if (t >= 0 && t < a.classes) return t;
    tnc_tell(a.watch, t, a.classes);
    return 0;
}
TNC_FN double tnc_nll_weight(const tnc_nll &a, int64_t t) {
    return a.weight ? tnc_load_real<double>(a.weight + t * a.weight_step, a.weight_dtype) : 1.0;
}

/* --- the loss --------------------------------------------------------------------------------- */

template <class A>
struct tnc_nll_sums {
    A loss, weight;
};
template <class A>
struct tnc_nll_meet : tnc_joined<tnc_nll_sums<A>> {
    tnc_nll a;
    __device__ __forceinline__ tnc_nll_sums<A> meet(tnc_nll_sums<A> x, tnc_nll_sums<A> y) const {
        x.loss = x.loss + y.loss;
        x.weight = x.weight + y.weight;
        return x;
    }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, tnc_nll_sums<A> s) {
        const double w = (double)s.weight;
        double v = (double)s.loss;
        if (r.a.mean) v = v / w;
        if (!r.a.each) tnc_give_number(l, 0, at, v);
        if (r.a.total) tnc_put<double>(r.a.total, w);
    }
};

/* Loss and weight of sample i. */
template <class A>
TNC_FN tnc_nll_sums<A> tnc_nll_sample(const tnc_nll &a, int64_t i) {
    const int64_t t = tnc_nll_class(a, i);
    tnc_nll_sums<A> s = {0, 0};
    if (t >= 0) {
        const char *x = a.x + tnc_offset(a.ndim, a.size, a.x_step, i) + t * a.class_step;
        const double w = tnc_nll_weight(a, t);
        s.loss = (A)(-w * tnc_load_real<double>(x, a.x_dtype));
        s.weight = (A)w;
    }
    if (a.each) tnc_store_real(a.each + i * a.out_bytes, a.out_dtype, s.loss);
    return s;
}
template <class A>
__global__ void __launch_bounds__(NLL_WARPS *TNC_WARP)
    tnc_nll_blocks(tnc_lanes l, tnc_nll_meet<A> r) {
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    const int64_t warps = (int64_t)gridDim.x * NLL_WARPS;
    const int t = (int)(threadIdx.x % TNC_WARP);
    int64_t b = (int64_t)blockIdx.x * NLL_WARPS + threadIdx.x / TNC_WARP;
    for (; b < l.blocks; b += warps) {
        A loss[EACH], weight[EACH];
        tnc_nll_sums<A> sum;
        for (int j = 0; j < EACH; j++) {
            const int64_t i = b * LANES + j * TNC_WARP + t;
            const tnc_nll_sums<A> none = {0, 0},
                                  s = i < r.a.samples ? tnc_nll_sample<A>(r.a, i) : none;
            loss[j] = (A)0 + s.loss; /* as the CPU's lanes begin: -0 becomes 0 */
            weight[j] = (A)0 + s.weight;
        }
        sum.loss = tnc_line_fold<A>(loss);
        sum.weight = tnc_line_fold<A>(weight);
        if (t == 0) tnc_block_done<tnc_nll_meet<A>>(r, l, 0, b, sum);
    }
}

/* What both rows know of target and weight. */
static void nll_plan(tnc_nll *a, const tn_frame *f, const tn_tensor *target,
                     const tn_tensor *weight, int64_t ignore) {
    const tn_operand t = tn_operand_of(target), w = tn_operand_of(weight),
                     out = tn_operand_of(f->out[0]);
    memset(a, 0, sizeof *a);
    a->target = t.at;
    a->target_dtype = t.dtype;
    a->samples = t.numel;
    a->ndim = t.ndim;
    a->ignore = ignore;
    a->inner = 1;
    for (int d = 0; d < t.ndim; d++) {
        a->size[d] = t.size[d];
        a->target_step[d] = t.stride[d] * t.bytes;
        if (d) a->inner *= t.size[d];
    }
    if (weight) {
        a->weight = w.at;
        a->weight_dtype = w.dtype;
        a->weight_step = w.stride[0] * w.bytes;
    }
    a->out_dtype = out.dtype;
    a->out_bytes = out.bytes;
}

static void nll_loss_plan(tnc_nll *a, tnc_lanes *l, const tn_frame *f) {
    TN_ARGS(nll_loss_plain, args, f);
    const tn_operand x = tn_operand_of(args->input), out = tn_operand_of(f->out[0]);
    const int c = x.ndim > 1; /* the dimension of the classes */
    const int64_t each = x.dtype == TN_F64 ? 32 : 64;
    nll_plan(a, f, args->target, args->weight, args->ignore_index);
    a->x = x.at;
    a->x_dtype = x.dtype;
    a->classes = x.size[c];
    a->class_step = x.stride[c] * x.bytes;
    for (int d = 0; d < a->ndim; d++) a->x_step[d] = x.stride[d ? d + 1 : 0] * x.bytes;
    a->mean = args->reduction == TN_REDUCTION_MEAN;
    a->each = args->reduction == TN_REDUCTION_NONE ? out.at : NULL;
    a->total = f->nout > 1 ? tn_operand_of(f->out[1]).at : NULL;
    memset(l, 0, sizeof *l);
    l->p.n = a->samples;
    l->p.outer = l->p.width = 1;
    l->results = 1;
    l->blocks = (a->samples + each - 1) / each;
    if (l->blocks < 1) l->blocks = 1;
    l->out[0] = out.at;
    l->out_dtype[0] = out.dtype;
}
static bool nll_loss_plain_prepare(tn_frame *f) {
    tnc_nll a;
    tnc_lanes l;
    nll_loss_plan(&a, &l, f);
    return tnc_lanes_scratch(f, &l, a.x_dtype == TN_F64 ? 16 : 8);
}
template <class A>
static void nll_loss_launch(cudaStream_t s, const tnc_lanes &l, const tnc_nll &a) {
    tnc_nll_meet<A> r;
    r.a = a;
    TNC_LAUNCH((tnc_nll_blocks<A>), tnc_blocks(l.blocks, NLL_WARPS), NLL_WARPS * TNC_WARP, s, l, r);
    tnc_reduce_trees(s, l, r);
}
static void nll_loss_plain_run(tn_frame *f) {
    tnc_nll a;
    tnc_lanes l;
    nll_loss_plan(&a, &l, f);
    a.watch = tnc_watch_of(f);
    l.parts = (char *)f->scratch;
    if (a.x_dtype == TN_F64)
        nll_loss_launch<double>(tnc_stream(f), l, a);
    else
        nll_loss_launch<float>(tnc_stream(f), l, a);
}

/* --- its gradient ----------------------------------------------------------------------------- */

/* -weight grad / total at each sample's class, else 0; x is what came in. */
__global__ void __launch_bounds__(TNC_THREADS) tnc_nll_back(tnc_nll a, char *out, int64_t n) {
    for (int64_t at = TNC_FIRST(); at < n; at += TNC_STEP()) {
        const int64_t c = at / a.inner % a.classes,
                      i = at / a.inner / a.classes * a.inner + at % a.inner,
                      t = tnc_nll_class(a, i);
        double g = 0;
        if (t == c) {
            const double total = a.divisor ? tnc_load_real<double>(a.divisor, a.divisor_dtype) : 1,
                         d = tnc_load_real<double>(a.x + tnc_offset(a.ndim, a.size, a.x_step, i),
                                                   a.x_dtype);
            g = -tnc_nll_weight(a, t) * d / total;
        }
        tnc_store_real(out + at * a.out_bytes, a.out_dtype, g);
    }
}
static void nll_loss_input_grad_run(tn_frame *f) {
    TN_ARGS(nll_loss_input_grad, args, f);
    const tn_operand g = tn_operand_of(args->grad), out = tn_operand_of(f->out[0]),
                     total = tn_operand_of(args->total_weight);
    tnc_nll a;
    if (!out.numel) return;
    nll_plan(&a, f, args->target, args->weight, args->ignore_index);
    a.x = g.at;
    a.x_dtype = g.dtype;
    a.classes = out.size[out.ndim > 1];
    for (int d = 0; d < a.ndim && g.ndim; d++) a.x_step[d] = g.stride[d] * g.bytes;
    if (args->reduction == TN_REDUCTION_MEAN) {
        a.divisor = total.at;
        a.divisor_dtype = total.dtype;
    }
    a.watch = tnc_watch_of(f);
    TNC_LAUNCH_PLAIN((tnc_nll_back), tnc_blocks(out.numel, TNC_THREADS), TNC_THREADS, tnc_stream(f),
                     a, out.at, out.numel);
}

/* --- several labels --------------------------------------------------------------------------- */

/* Steps in bytes. slope, which may be NULL: how often each score counts, row-major; is_label: room
 * for a byte a class of each sample. */
struct tnc_labels {
    const char *x, *target;
    char *to;
    int64_t *slope;
    uint8_t *is_label;
    int64_t samples, classes, x_row, x_step, target_row, target_step, to_step;
    int32_t x_dtype, out_dtype;
    tnc_watch watch;
};
/* Target k of sample i; one that is out of range ends the labels, too. */
TNC_FN int64_t tnc_labels_at(const tnc_labels &a, int64_t i, int64_t k) {
    const int64_t t = tnc_get<int64_t>(a.target + i * a.target_row + k * a.target_step);
    if (t < -1 || t >= a.classes) tnc_tell(a.watch, t, a.classes);
    return t < a.classes ? t : -1;
}
/* A thread a sample, as the CPU's chain. */
__global__ void __launch_bounds__(TNC_THREADS) tnc_labels_loss(tnc_labels a) {
    const int64_t n = a.classes;
    for (int64_t i = TNC_FIRST(); i < a.samples; i += TNC_STEP()) {
        int64_t *slope = a.slope ? a.slope + i * n : NULL, labels = 0, label;
        uint8_t *is_label = a.is_label + i * n;
        const char *x = a.x + i * a.x_row;
        double sum = 0;
        for (int64_t c = 0; c < n; c++) {
            is_label[c] = 0;
            if (slope) slope[c] = 0;
        }
        for (; labels < n && (label = tnc_labels_at(a, i, labels)) >= 0; labels++)
            is_label[label] = 1;
        for (int64_t k = 0; k < labels; k++) {
            label = tnc_labels_at(a, i, k);
            const double base = 1 - tnc_load_real<double>(x + label * a.x_step, a.x_dtype);
            for (int64_t c = 0; c < n; c++) {
                const double z = base + tnc_load_real<double>(x + c * a.x_step, a.x_dtype);
                if (is_label[c] || !(z > 0)) continue;
                sum += z;
                if (!slope) continue;
                slope[c]++;
                slope[label]--;
            }
        }
        sum /= (double)n;
        tnc_store_real(a.to + i * a.to_step, a.out_dtype, sum);
    }
}
static bool multilabel_margin_loss_plain_prepare(tn_frame *f) {
    const int64_t n = tn_numel(f->in[0]);
    return !n || tn_device_scratch(f, n) != NULL;
}
static void multilabel_margin_loss_plain_run(tn_frame *f) {
    TN_ARGS(multilabel_margin_loss_plain, args, f);
    const tn_operand x = tn_operand_of(args->input), t = tn_operand_of(args->target),
                     out = tn_operand_of(f->out[0]);
    tnc_labels a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.x = x.at;
    a.target = t.at;
    a.to = out.at;
    a.slope = f->nout > 1 && f->out[1] ? (int64_t *)tn_device_data(f->out[1]) : NULL;
    a.is_label = (uint8_t *)f->scratch;
    a.samples = x.ndim == 2 ? x.size[0] : 1;
    a.classes = x.ndim ? x.size[x.ndim - 1] : 1;
    a.x_row = x.ndim == 2 ? x.stride[0] * x.bytes : 0;
    a.x_step = x.ndim ? x.stride[x.ndim - 1] * x.bytes : 0;
    a.target_row = x.ndim == 2 ? t.stride[0] * t.bytes : 0;
    a.target_step = x.ndim ? t.stride[t.ndim - 1] * t.bytes : 0;
    a.to_step = out.bytes;
    a.x_dtype = x.dtype;
    a.out_dtype = out.dtype;
    a.watch = tnc_watch_of(f);
    TNC_LAUNCH_PLAIN((tnc_labels_loss), tnc_blocks(a.samples, TNC_THREADS), TNC_THREADS,
                     tnc_stream(f), a);
}

static const tn_device_row loss_table[] = {
    {"nll_loss_plain", false, NULL, nll_loss_plain_prepare, nll_loss_plain_run},
    {"nll_loss_input_grad", false, NULL, NULL, nll_loss_input_grad_run},
    {"multilabel_margin_loss_plain", false, NULL, multilabel_margin_loss_plain_prepare,
     multilabel_margin_loss_plain_run}};
TNC_FAMILY(losses, loss_table)
