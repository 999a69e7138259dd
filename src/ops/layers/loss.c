/* loss.c - losses: the negative log-likelihood has kernels of its own, the others are composed of
 * pointwise rows. */
#include "../../api/ops/creation.h"
#include "loss.h"
#include "../../autograd/give.h"
#include "../../call/arguments.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

TN_PRIV tn_tensor *tni_loss_reduced(tn_tensor *t, tn_reduction reduction) {
    if (reduction == TN_REDUCTION_MEAN) return tnp_mean(t, tn_no_dims(), false, TN_NO_DTYPE);
    if (reduction == TN_REDUCTION_SUM) return tnp_sum(t, tn_no_dims(), false, TN_NO_DTYPE);
    return t;
}

TN_PRIV bool tni_loss_result(tn_frame *f, tn_tensor *t, tn_reduction reduction) {
    return (f->out[0] = tni_loss_reduced(t, reduction)) != NULL;
}

TN_PRIV tn_tensor *tni_at_least(tn_tensor *t, double least) {
    tn_tensor *value = tnp_detach(t), *limited;
    /* t - value is 0, with t's gradient. */
    limited = tnp_add(tnp_clamp_min_scalar(value, tn_float(least)), tnp_sub(t, value, 1), 1);
    return tnp_where(tnp_lt_scalar(value, tn_float(least)), limited, t);
}

static bool loss_same_shape(tn_frame *f, const tn_tensor *input, const tn_tensor *target) {
    char a[128], b[128];
    if (tni_same_shape(input, target)) return true;
    return tn_fail(f, TN_INVALID, "input has shape %s, but target has shape %s",
                   tni_shape_text(a, sizeof a, input->ndim, input->size),
                   tni_shape_text(b, sizeof b, target->ndim, target->size));
}

/* --- negative log-likelihood ------------------------------------------------------------------ */

/* Input n x classes x inner; target n x inner. */
typedef struct nll_shape {
    int64_t n, classes, inner;
} nll_shape;

static nll_shape nll_shape_of(int ndim, const int64_t *size) {
    nll_shape s = {1, size[ndim > 1], 1};
    if (ndim > 1) s.n = size[0];
    for (int d = 2; d < ndim; d++) s.inner *= size[d];
    return s;
}

static bool nll_fits(tn_frame *f, int ndim, const int64_t *size, const tn_tensor *target,
                     const tn_tensor *weight) {
    char a[128], b[128];
    /* target has input's shape without the dimension of classes, which is the first of one
     * dimension, else the second. */
    bool fits = ndim >= 1 && target->ndim == ndim - 1;
    for (int d = 0; fits && d < target->ndim; d++) fits = target->size[d] == size[d ? d + 1 : 0];
    if (!fits)
        return tn_fail(
            f, TN_INVALID,
            "%s: input has shape %s and target %s, expected (N, C, *) and (N, *), or (C) and ()",
            ndim == 2 && target->ndim == 1
                ? "input and target differ in the size of the batch"
                : "1D target tensor expected, multi-target not supported",
            tni_shape_text(a, sizeof a, ndim, size),
            tni_shape_text(b, sizeof b, target->ndim, target->size));
    /* Class numbers, and a weight for each class. */
    if (target->dtype != TN_I64 && target->dtype != TN_U8)
        return tn_fail(f, TN_TYPE, "target contains class numbers: expected int64 or uint8, got %s",
                       tni_dtype(target->dtype)->text);
    if (weight && (weight->ndim != 1 || weight->size[0] != size[ndim > 1]))
        return tn_fail(
            f, TN_INVALID,
            "weight tensor should be defined either for all %lld classes or no classes but got "
            "weight tensor of shape: %s",
            (long long)size[ndim > 1], tni_shape_text(a, sizeof a, weight->ndim, weight->size));
    return true;
}

static int64_t nll_read(const char *at, int dtype) {
    int64_t t;
    if (dtype == TN_U8) return *(const uint8_t *)at;
    memcpy(&t, at, sizeof t);
    return t;
}
/* Every class number is in range, or to be ignored. */
static bool nll_look_at(tn_frame *f, const tn_tensor *target, int64_t classes, int64_t ignore) {
    int64_t bytes = tni_dtype_size(target);
    const bool flat = tni_is_flat(target);
    /* target by its strides, before anything is written. */
    for (int64_t i = 0; i < target->numel; i++) {
        const int64_t at = flat ? i : tni_offset_of(target->ndim, target->size, target->stride, i);
        /* The value that is ignored may lie outside the range. */
        const int64_t t = nll_read(tni_bytes_at(target) + at * bytes, target->dtype);
        if (t != ignore && (t < 0 || t >= classes))
            return tn_fail(f, TN_INDEX, "target %lld is out of range for %lld classes",
                           (long long)t, (long long)classes);
    }
    return true;
}

/* What a run reads: dense class numbers, and weights in the compute type. */
typedef struct nll_data {
    const char *target;
    int target_dtype, compute;
    int64_t size, ignore;
    const char *weight;
    int weight_dtype;
    int64_t weight_step;
} nll_data;

static void nll_start(tn_frame *f, nll_data *d, const tn_tensor *target, const tn_tensor *weight,
                      int compute, int64_t ignore, char **room) {
    /* weight may have any stride; the class numbers are read many times and lie dense. */
    d->target = tni_dense(f, target, room);
    d->target_dtype = target->dtype;
    d->compute = compute;
    d->size = tni_dtype(compute)->bytes;
    d->ignore = ignore;
    d->weight = weight ? tni_bytes_at(weight) : NULL;
    d->weight_dtype = weight ? weight->dtype : 0;
    d->weight_step = weight ? weight->stride[0] * tni_dtype_size(weight) : 0;
}

/* Class of sample i, -1: ignored; its weight. */
static int64_t nll_class(const nll_data *d, int64_t i, double *weight) {
    const int64_t t = nll_read(d->target + i * tni_dtype(d->target_dtype)->bytes, d->target_dtype);
    *weight = 1;
    if (t == d->ignore) return -1;
    if (d->weight)
        tni_lanes_load(weight, TN_F64, d->weight + t * d->weight_step, d->weight_step,
                       d->weight_dtype, 1);
    return t;
}

static bool nll_loss_plain_check(tn_frame *f) {
    TN_ARGS(nll_loss_plain, a, f);
    const tn_tensor *x = a->input;
    if (!tni_is_float(x->dtype) || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(x->dtype)->text);
    if (!nll_fits(f, x->ndim, x->size, a->target, a->weight)) return false;
    /* The hidden second result is the sum of the weights, which the mean's gradient divides by. */
    if (!(a->reduction == TN_REDUCTION_NONE
              ? tn_announce(f, 0, (tn_dtype)x->dtype, a->target->ndim, a->target->size)
              : tn_announce(f, 0, (tn_dtype)x->dtype, 0, NULL)))
        return false;
    if (f->recording && !tn_announce(f, 1, TN_F64, 0, NULL)) return false;
    return tni_dense_scratch(f, x) && tni_dense_scratch(f, a->target);
}
static bool nll_loss_plain_look(tn_frame *f) {
    TN_ARGS(nll_loss_plain, a, f);
    return nll_look_at(f, a->target, a->input->size[a->input->ndim > 1], a->ignore_index);
}

/* -w x of samples [i, i + n), in the compute type, into `loss`, and w into `weight`. */
static void nll_block(const nll_data *d, const nll_shape *s, const char *x, int dtype, int64_t i,
                      int64_t n, tni_room *loss, tni_room *weight) {
    int64_t bytes = tni_dtype(dtype)->bytes;
    for (int64_t k = 0; k < n; k++) {
        /* Sample i + k of class t is element (n, t, inner) of x. */
        double w, v = 0;
        int64_t t = nll_class(d, i + k, &w), at = i + k, inner = 0;
        if (s->inner > 1) {
            inner = at % s->inner;
            at /= s->inner;
        }
        at = (at * s->classes + t) * s->inner + inner;
        if (t < 0)
            w = 0;
        else
            tni_lanes_load(&v, TN_F64, x + at * bytes, bytes, dtype, 1);
        /* In double, then rounded to the compute type. */
        v = t < 0 ? 0 : -w * v;
        if (d->compute == TN_F32) {
            loss->f[k] = (float)v;
            weight->f[k] = (float)w;
        } else {
            loss->d[k] = v;
            weight->d[k] = w;
        }
    }
}

static void nll_loss_plain_run(tn_frame *f) {
    TN_ARGS(nll_loss_plain, a, f);
    const tn_tensor *x = a->input;
    tn_tensor *out = f->out[0];
    const tni_kernels *k = f->block->context->kernels;
    char *room = (char *)f->scratch;
    const char *at = tni_dense(f, x, &room);
    nll_shape s = nll_shape_of(x->ndim, x->size);
    int compute = tni_lanes_compute(x->dtype);
    int64_t bytes = tni_dtype_size(x), each = TNI_LANE_BYTES / tni_dtype(compute)->bytes,
            samples = s.n * s.inner;
    tni_tree sum, total;
    tni_room loss, weight;
    nll_data d;
    double v, w;
    /* Losses and weights go through trees of their own, a row of lanes a block. */
    nll_start(f, &d, a->target, a->weight, compute, a->ignore_index, &room);
    tni_tree_begin(&sum, k, compute, 1);
    tni_tree_begin(&total, k, compute, 1);
    /* A block is a row of lanes: its losses, then its leaf of both trees. */
    for (int64_t i = 0; i < samples; i += each) {
        int64_t n = samples - i < each ? samples - i : each;
        nll_block(&d, &s, at, x->dtype, i, n, &loss, &weight);
        if (a->reduction == TN_REDUCTION_NONE)
            tni_lanes_save(tni_bytes_at(out) + i * bytes, bytes, out->dtype, &loss, compute, n);
        tni_reduce_block(k, &tni_sum, compute, &loss, n, tni_tree_next(&sum));
        tni_reduce_block(k, &tni_sum, compute, &weight, n, tni_tree_next(&total));
        tni_tree_push(&sum);
        tni_tree_push(&total);
    }
    /* The mean divides by the weights' sum: NaN if every sample was ignored. */
    tni_lanes_load(&v, TN_F64, tni_tree_end(&sum), 8, compute, 1);
    tni_lanes_load(&w, TN_F64, tni_tree_end(&total), 8, compute, 1);
    if (a->reduction == TN_REDUCTION_MEAN) v /= w;
    if (a->reduction != TN_REDUCTION_NONE)
        tni_lanes_save(tni_bytes_at(out), bytes, out->dtype, &v, TN_F64, 1);
    if (f->nout > 1) memcpy(tni_bytes_at(f->out[1]), &w, sizeof w);
}
static void nll_loss_plain_grad(tn_gradient *g) {
    TN_ARGS(nll_loss_plain, a, g);
    tn_tensor *d = tnp_nll_loss_input_grad(g->incoming[0], g->in[1], g->in[2], g->out[1],
                                           tni_sizes(a->input), a->ignore_index, a->reduction);
    tni_give_flat(g, 0, d);
}
/* Losses (S, ..) of samples, reduced in each: the mean by the sum of weights. */
static tn_tensor *nll_reduced(tn_tensor *loss, tn_tensor *w, tn_reduction reduction) {
    const int64_t last = -1;
    if (reduction == TN_REDUCTION_NONE) return loss;
    loss = tnp_sum(tni_whole_flat(loss), tni_ints(&last, 1), false, TN_NO_DTYPE);
    if (reduction == TN_REDUCTION_SUM || !loss) return loss;
    w = tnp_sum(tni_whole_flat(w), tni_ints(&last, 1), false, TN_NO_DTYPE);
    return w ? tnp_div(loss, w) : NULL;
}
/* As defined, by what takes whole batches: picks of -input, weights of the targets. */
static tn_tensor *nll_loss_plain_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(nll_loss_plain, a, f);
    const int dim = f->in[0]->ndim > 1 ? 2 : 1;
    const int64_t size = whole[whole[0] ? 0 : whole[1] ? 1 : 2]->size[0];
    tn_tensor *x = tni_whole_each(f, whole, 0, size), *t = tni_whole_each(f, whole, 1, size), *skip,
              *loss, *w, *none;
    if (whole[2] || !x || !t) return NULL;
    skip = tnp_eq_scalar(t, tn_int(a->ignore_index));
    t = skip ? tnp_masked_fill_scalar(t, skip, tn_int(0)) : NULL;
    loss = t ? tnp_gather(x, dim, tnp_unsqueeze(t, dim), false) : NULL;
    loss = loss ? tnp_neg(tnp_squeeze_dim(loss, dim)) : NULL;
    none = loss ? tnp_zeros_like(loss, TN_NO_DTYPE, TN_NO_DEVICE) : NULL;
    w = !none      ? NULL
        : f->in[2] ? tnp_reshape(tnp_index_select(f->in[2], 0, tnp_flatten(t, 0, -1)), tni_sizes(t))
                   : tnp_ones_like(loss, TN_NO_DTYPE, TN_NO_DEVICE);
    if (!w) return NULL;
    w = tnp_where(skip, none, w);
    loss = tnp_where(skip, none, tnp_mul(loss, w));
    loss = loss && w ? nll_reduced(loss, w, a->reduction) : NULL;
    return loss ? tnp_to_dtype(loss, (tn_dtype)f->in[0]->dtype, false, false) : NULL;
}
/* nll_loss with a weight that needs no gradient. */
TN_OPERATOR(
    nll_loss_plain,
    "nll_loss_plain(Tensor input, Tensor target, Tensor? weight, int ignore_index, "
    "Reduction reduction) -> Tensor",
    TN_DOC(.shapes =
               "input (N, C, *) log-probabilities, target (N, *) int64, weight (C) -> () or (N, *)",
           .example = "tn_nll_loss_plain(x, t, w, -100, TN_REDUCTION_MEAN)"),
    .saves = "total_weight", .needs = "target,weight,total_weight", .check = nll_loss_plain_check,
    .look = nll_loss_plain_look, .run = nll_loss_plain_run, .grad = nll_loss_plain_grad,
    .sample = "(4,5) (4):i64<5 None -100 mean | (4,5) (4):i64<5 (5):f32 2 sum | (2,5,3,4) "
              "(2,3,4):i64<5 (5):f32 1 none | "
              "(5) ():i64<5 None 9 mean | (4,5) (4):i64<5 (5):f32 2 mean",
    .node = "NllLossBackward0 input=1 | NllLossBackward0 input=2 | NllLoss2DBackward0",
    .batched = TN_BATCHED(nll_loss_plain_batched))

/* --- its gradient ----------------------------------------------------------------------------- */

static bool nll_loss_input_grad_check(tn_frame *f) {
    TN_ARGS(nll_loss_input_grad, a, f);
    char has[128], wants[128];
    /* grad is one number, or one a sample. */
    bool each = a->reduction == TN_REDUCTION_NONE;
    if (each ? !tni_same_shape(a->grad, a->target)
             : a->grad->ndim != 0 || a->total_weight->ndim != 0)
        return tn_fail(
            f, TN_INVALID, "grad has shape %s and total_weight %s, %s",
            tni_shape_text(has, sizeof has, a->grad->ndim, a->grad->size),
            tni_shape_text(wants, sizeof wants, a->total_weight->ndim, a->total_weight->size),
            each ? "grad must have target's" : "both must have 0 dimensions");
    if (!tni_is_float(a->grad->dtype) || !tni_dtype(a->grad->dtype)->computes)
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s",
                       tni_dtype(a->grad->dtype)->text);
    return tni_sizes_given(f, a->input_size, "input_size") &&
           nll_fits(f, (int)a->input_size.n, a->input_size.at, a->target, a->weight) &&
           tn_announce(f, 0, (tn_dtype)a->grad->dtype, (int)a->input_size.n, a->input_size.at) &&
           tni_dense_scratch(f, a->grad) && tni_dense_scratch(f, a->target);
}
static bool nll_loss_input_grad_look(tn_frame *f) {
    TN_ARGS(nll_loss_input_grad, a, f);
    return nll_look_at(f, a->target, a->input_size.at[a->input_size.n > 1], a->ignore_index);
}
static void nll_loss_input_grad_run(tn_frame *f) {
    TN_ARGS(nll_loss_input_grad, a, f);
    tn_tensor *out = f->out[0];
    char *room = (char *)f->scratch;
    const char *grad = tni_dense(f, a->grad, &room);
    nll_shape s = nll_shape_of(out->ndim, out->size);
    int64_t bytes = tni_dtype_size(out), one = a->reduction == TN_REDUCTION_NONE;
    double total = 1, g, w;
    nll_data d;
    /* Zeros but for one element a sample. */
    if (!out->numel) return;
    nll_start(f, &d, a->target, a->weight, tni_lanes_compute(out->dtype), a->ignore_index, &room);
    memset(tni_bytes_at(out), 0, (size_t)(out->numel * bytes));
    if (a->reduction == TN_REDUCTION_MEAN)
        total = tni_element(tni_bytes_at(a->total_weight), a->total_weight->dtype).real;
    for (int64_t i = 0; i < s.n * s.inner; i++) {
        /* The element of the sample's class alone gets a gradient. */
        int64_t t = nll_class(&d, i, &w);
        if (t < 0) continue;
        tni_lanes_load(&g, TN_F64, grad + one * i * bytes, bytes, out->dtype, 1);
        g = -w * g / total;
        tni_lanes_save(tni_bytes_at(out) +
                           ((i / s.inner * s.classes + t) * s.inner + i % s.inner) * bytes,
                       bytes, out->dtype, &g, TN_F64, 1);
    }
}
static void nll_loss_input_grad_grad(tn_gradient *g) { /* the loss is linear in its input */
    TN_ARGS(nll_loss_input_grad, a, g);
    const bool mean = a->reduction == TN_REDUCTION_MEAN;
    tn_tensor *d = tnp_nll_loss_plain(g->incoming[0], g->in[1], g->in[2], a->ignore_index,
                                      mean ? TN_REDUCTION_SUM : a->reduction);
    if (mean) d = tnp_div(d, tnp_to_dtype(g->in[3], (tn_dtype)g->incoming[0]->dtype, false, false));
    tn_give(g, 0, d);
}
/* The gradient of nll_loss's input: -weight[target] grad (divided by total_weight for the mean) at
 * each sample's class, else 0. */
TN_OPERATOR(
    nll_loss_input_grad,
    "nll_loss_input_grad(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, int[] "
    "input_size, int ignore_index, "
    "Reduction reduction) -> Tensor",
    TN_DOC(.shapes = "grad () or (N, *), target (N, *), weight (C), total_weight () -> input_size "
                     "(N, C, *)",
           .example =
               "tn_nll_loss_input_grad(d, t, w, total, TN_DIMS(8, 10), -100, TN_REDUCTION_MEAN)"),
    .needs = "target,weight,total_weight", .check = nll_loss_input_grad_check,
    .look = nll_loss_input_grad_look, .run = nll_loss_input_grad_run,
    .grad = nll_loss_input_grad_grad,
    .sample =
        "() (4):i64<5 (5):f32 ():f32 [4,5] -100 sum | (2,3) (2,3):i64<4 None ():f32 [2,4,3] 1 none "
        "| () (4):i64<5 (5):f32 ():f32 [4,5] 2 mean")

/* --- nll_loss --------------------------------------------------------------------------------- */

/* Where the weight has a gradient of its own: -w[t] x[t] by rows that have it. */
static bool nll_weighted(tn_frame *f, tn_tensor *x, tn_tensor *target, tn_tensor *weight,
                         int64_t ignore, tn_reduction reduction) {
    int64_t flat = -1, dim = x->ndim > 1;
    /* Ignored samples take class 0 for a moment, with weight 0. */
    tn_tensor *skip = tnp_eq_scalar(target, tn_int(ignore)),
              *known = tnp_where_scalar_self(skip, tn_int(0), target);
    tn_tensor *picked = tnp_squeeze_dim(tnp_gather(x, dim, tnp_unsqueeze(known, dim), false), dim),
              *w, *loss;
    w = tnp_reshape(tnp_index_select(weight, 0, tnp_reshape(known, tni_ints(&flat, 1))),
                    tni_sizes(target));
    w = tnp_where_scalar_self(skip, tn_int(0), w);
    loss = tnp_neg(tnp_mul(w, picked));
    if (reduction == TN_REDUCTION_NONE) return (f->out[0] = loss) != NULL;
    loss = tnp_sum(loss, tn_no_dims(), false, TN_NO_DTYPE);
    if (reduction == TN_REDUCTION_MEAN)
        loss = tnp_div(loss, tnp_sum(w, tn_no_dims(), false, TN_NO_DTYPE));
    return (f->out[0] = loss) != NULL;
}

static bool nll_loss_compose(tn_frame *f) {
    TN_ARGS(nll_loss, a, f);
    if (!nll_fits(f, a->input->ndim, a->input->size, a->target, a->weight)) return false;
    if (a->weight && a->weight->flags & TNI_REQUIRES && !tni_state(f->block)->no_grad)
        return nll_weighted(f, a->input, a->target, a->weight, a->ignore_index, a->reduction);
    return (f->out[0] = tnp_nll_loss_plain(a->input, a->target, a->weight, a->ignore_index,
                                           a->reduction)) != NULL;
}
/* -weight[target] input[target] for each sample; weight is 1 if absent, and a sample whose target
 * is ignore_index counts 0. The mean divides the sum by the sum of the weights. */
TN_OPERATOR(
    nll_loss,
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, "
    "Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes =
               "input (N, C, *) log-probabilities, target (N, *) int64, weight (C) -> () or (N, *)",
           .example = "tn_nll_loss(x, t)",
           .differs = "gradcheck [(5)]: the class weights are not differentiated, as in torch | "
                      "gradcheck [(7)]: the class weights are not differentiated, as in torch"),
    .autocast = TN_WIDE, .compose = nll_loss_compose, .domain = "weight:0.5..2",
    .sample = "(4,5) (4):i64<5 | (4,5) (4):i64<5 (5) 2 sum | (2,5,3,4) (2,3,4):i64<5 (5) "
              "reduction=none | (5) ():i64<5 | "
              "(3000,7) (3000):i64<7 (7) | (200,4):f16 (200):i64<4")

/* --- cross-entropy ---------------------------------------------------------------------------- */

/* The loss against the even distribution, of which label smoothing takes its share. */
static tn_tensor *cross_smooth(tn_tensor *x, tn_tensor *target, tn_tensor *weight, int64_t ignore,
                               tn_reduction reduction, int dim) {
    int64_t wide[TN_MAX_DIMS], d = dim;
    tn_tensor *even, *skip = tnp_eq_scalar(target, tn_int(ignore)), *count;
    /* weight (C) in the shape (1, C, 1, ...). */
    for (int i = 0; i < x->ndim; i++) wide[i] = i == dim ? x->size[dim] : 1;
    if (weight) x = tnp_mul(x, tnp_reshape(weight, tni_ints(wide, x->ndim)));
    even = tnp_neg(tnp_mean(x, tni_ints(&d, 1), false, TN_NO_DTYPE));
    even = tnp_where_scalar_self(skip, tn_int(0), even);
    if (reduction == TN_REDUCTION_NONE) return even;
    even = tnp_sum(even, tn_no_dims(), false, TN_NO_DTYPE);
    /* The mean divides as nll_loss does: by the weights of the samples that count. */
    if (reduction == TN_REDUCTION_SUM) return even;
    count = tnp_eq_scalar(skip, tn_bool(false));
    if (weight) {
        int64_t flat = -1;
        tn_tensor *known =
            tnp_reshape(tnp_where_scalar_self(skip, tn_int(0), target), tni_ints(&flat, 1));
        count = tnp_mul(tnp_index_select(weight, 0, known), tnp_reshape(count, tni_ints(&flat, 1)));
    }
    return tnp_div(even, tnp_sum(count, tn_no_dims(), false, TN_NO_DTYPE));
}

/* The target is a distribution: -sum target log_softmax. */
static bool cross_distribution(tn_frame *f, tn_tensor *x, int dim, double smoothing) {
    TN_ARGS(cross_entropy, a, f);
    int64_t wide[TN_MAX_DIMS], d = dim;
    tn_tensor *t = a->target, *loss;
    double classes = (double)x->size[dim];
    if (a->ignore_index >= 0)
        return tn_fail(f, TN_INVALID,
                       "ignore_index is not supported for a target of probabilities");
    /* The target mixed with the uniform distribution. */
    if (smoothing > 0)
        t = tnp_add_scalar(tnp_mul_scalar(t, tn_float(1 - smoothing)),
                           tn_float(smoothing / classes), 1);
    for (int i = 0; i < x->ndim; i++) wide[i] = i == dim ? x->size[dim] : 1;
    if (a->weight) t = tnp_mul(t, tnp_reshape(a->weight, tni_ints(wide, x->ndim)));
    loss = tnp_neg(tnp_sum(tnp_mul(x, t), tni_ints(&d, 1), false, TN_NO_DTYPE));
    return tni_loss_result(f, loss, a->reduction);
}

static bool cross_entropy_compose(tn_frame *f) {
    TN_ARGS(cross_entropy, a, f);
    int dim = a->input->ndim > 1;
    double e = a->label_smoothing;
    tn_tensor *x, *loss, *even;
    if (!(e >= 0 && e <= 1))
        return tn_fail(f, TN_INVALID, "label_smoothing must be between 0.0 and 1.0. Got: %g", e);
    if (a->input->ndim < 1) return tn_fail(f, TN_INVALID, "input must have a dimension of classes");
    if (a->weight && (a->weight->ndim != 1 || a->weight->size[0] != a->input->size[dim]))
        return tn_fail(f, TN_INVALID, "weight should have shape (%lld), one number per class",
                       (long long)a->input->size[dim]);
    /* Class numbers if target lacks a dimension; of equal shape it must hold probabilities. */
    bool classes = a->target->ndim < a->input->ndim;
    /* A distribution must be floating. */
    if (!classes && !tni_is_float(a->target->dtype) && tni_same_shape(a->input, a->target))
        return tn_fail(f, TN_TYPE,
                       "target contains probabilities: expected a floating dtype, got %s",
                       tni_dtype(a->target->dtype)->text);
    classes = classes || !tni_is_float(a->target->dtype);
    if (!classes && !loss_same_shape(f, a->input, a->target)) return false;
    if (classes && !nll_fits(f, a->input->ndim, a->input->size, a->target, a->weight)) return false;
    x = tnp_log_softmax(a->input, dim, TN_NO_DTYPE);
    if (!x) return false;
    if (!classes) return cross_distribution(f, x, dim, e);
    /* (1 - e) nll + e mean of -log p over the classes. */
    loss = tnp_nll_loss(x, a->target, a->weight, a->ignore_index, a->reduction);
    if (e == 0) return (f->out[0] = loss) != NULL;
    even = cross_smooth(x, a->target, a->weight, a->ignore_index, a->reduction, dim);
    loss = tnp_mul_scalar(loss, tn_float(1 - e));
    return (f->out[0] = tnp_add(loss, even, e)) != NULL;
}
/* With class numbers as target: nll_loss(log_softmax(input), target). With
 * probabilities as target: -sum(target log_softmax(input)). label_smoothing mixes the
 * target with the uniform distribution. */
TN_OPERATOR(
    cross_entropy,
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int "
    "ignore_index=-100, Reduction reduction=mean, "
    "float label_smoothing=0.0) -> Tensor",
    TN_DOC(.shapes = "input (N, C, *), target (N, *) int64 or (N, C, *) floating, weight "
                     "(C) -> () or (N, *)",
           .example = "tn_cross_entropy(x, t)",
           .differs = "gradcheck [(5)]: the class weights are not differentiated, as in torch"),
    .autocast = TN_WIDE, .compose = cross_entropy_compose, .domain = "weight:0.5..2 target:0..1",
    .sample = "(4,5) (4):i64<5 | (4,5) (4):i64<5 (5) 2 | (4,5) (4):i64<5 (5) 2 mean 0.1 | "
              "(4,5) (4):i64<5 None 1 sum 0.2 | "
              "(2,5,3) (2,3):i64<5 None -100 none 0.1 | (2,5,3) (2,5,3) (5) -100 mean 0.1 "
              "| (4,5) (4,5) reduction=sum | (5) ():i64<5")

static bool linear_cross_entropy_fits(tn_frame *f, const tn_tensor *x, const tn_tensor *w,
                                      const tn_tensor *bias) {
    char size[2][128];
    if (x->ndim != 1 && x->ndim != 2)
        return tn_fail(f, TN_INVALID, "input has %d dimensions, expected 1 or 2", x->ndim);
    if (w->ndim < 2)
        return tn_fail(f, TN_INVALID, "linear_weight has %d dimensions, expected at least 2",
                       w->ndim);
    if (x->size[x->ndim - 1] != w->size[w->ndim - 1])
        return tn_fail(f, TN_INVALID, "input has %lld features, but linear_weight %lld",
                       (long long)x->size[x->ndim - 1], (long long)w->size[w->ndim - 1]);
    if (bias && (bias->ndim != w->ndim - 1 ||
                 memcmp(bias->size, w->size, (size_t)bias->ndim * sizeof *w->size) != 0))
        return tn_fail(f, TN_INVALID, "linear_bias has shape %s, expected %s",
                       tni_shape_text(size[0], sizeof size[0], bias->ndim, bias->size),
                       tni_shape_text(size[1], sizeof size[1], w->ndim - 1, w->size));
    return (w->ndim == 2 || x->ndim == 2) ||
           tn_fail(f, TN_INVALID, "linear_weight has shape %s, so input needs a batch, (N, %lld)",
                   tni_shape_text(size[0], sizeof size[0], w->ndim, w->size),
                   (long long)x->size[0]);
}
static bool linear_cross_entropy_compose(tn_frame *f) {
    TN_ARGS(linear_cross_entropy, a, f);
    const tn_tensor *w = a->linear_weight;
    const int64_t flat = -1;
    int64_t size[TN_MAX_DIMS + 1];
    int ndim = 0;
    if (!linear_cross_entropy_fits(f, a->input, w, a->linear_bias)) return false;
    /* logits (N, C, d1, ...) of the weights (C d1 ..., in_features) */
    if (a->input->ndim == 2) size[ndim++] = a->input->size[0];
    for (int d = 0; d < w->ndim - 1; d++) size[ndim++] = w->size[d];
    tn_tensor *weight =
                  w->ndim == 2 ? a->linear_weight : tnp_flatten(a->linear_weight, 0, w->ndim - 2),
              *bias = a->linear_bias && w->ndim > 2
                          ? tnp_reshape(a->linear_bias, tni_ints(&flat, 1))
                          : a->linear_bias;
    tn_tensor *logits = tnp_reshape(tnp_linear(a->input, weight, bias), tni_ints(size, ndim));
    const bool classes = logits && !tni_same_shape(logits, a->target);
    if (logits && !classes && a->ignore_index != TN_NONE)
        return tn_fail(f, TN_INVALID,
                       "ignore_index cannot be given where target contains probabilities");
    return (f->out[0] = tnp_cross_entropy(logits, a->target, a->weight,
                                          a->ignore_index == TN_NONE ? -100 : a->ignore_index,
                                          a->reduction, a->label_smoothing)) != NULL;
}
/* cross_entropy of linear(input, linear_weight, linear_bias). Dimensions of linear_weight between
 * the first and the last are those of a loss of several dimensions. */
TN_OPERATOR(
    linear_cross_entropy,
    "linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? "
    "linear_bias=None, Tensor? weight=None, Reduction reduction=mean, int? ignore_index=None, "
    "float "
    "label_smoothing=0.0) -> Tensor",
    TN_DOC(.shapes =
               "input (N, D) or (D), linear_weight (C, *, D), target (N, *) int64 or (N, C, *) "
               "floating, linear_bias (C, *), weight (C) -> () or (N, *)",
           .example = "tn_linear_cross_entropy(x, w, t)"),
    .compose = linear_cross_entropy_compose, .domain = "weight:0.5..2 target:0..1",
    .sample = "(4,3) (5,3) (4):i64<5 | (4,3) (5,3) (4):i64<5 linear_bias=(5) reduction=sum "
              "ignore_index=1 | (4,3) (5,2,3) (4,2):i64<5 linear_bias=(5,2) reduction=none "
              "label_smoothing=0.1 | (3) (5,3) ():i64<5 | (4,3) (5,3) (4,5)")

/* --- pointwise losses ------------------------------------------------------------------------- */

static bool mse_loss_compose(tn_frame *f) {
    TN_ARGS(mse_loss, a, f);
    return tni_loss_result(f, tnp_square(tnp_sub(a->input, a->target, 1)), a->reduction);
}
/* (input - target)^2. */
TN_OPERATOR(mse_loss, "mse_loss(Tensor input, Tensor target, Reduction reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_mse_loss(x, t)"),
            .autocast = TN_WIDE, .compose = mse_loss_compose,
            .sample = "(2,3) (2,3) | (2,3) (2,3) sum | (5) (5) none | (300,40) (300,40)",
            .node = "MseLossBackward0")

static bool l1_loss_compose(tn_frame *f) {
    TN_ARGS(l1_loss, a, f);
    return tni_loss_result(f, tnp_abs(tnp_sub(a->input, a->target, 1)), a->reduction);
}
/* |input - target|. */
TN_OPERATOR(l1_loss, "l1_loss(Tensor input, Tensor target, Reduction reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_l1_loss(x, t)"),
            .autocast = TN_WIDE, .compose = l1_loss_compose,
            .sample = "(2,3) (2,3) | (2,3) (2,3) sum | (5) (5) none")

/* d^2, 0 where |d| is beyond `most`: what is not taken there would have NaN as its gradient. */
static tn_tensor *square_within(tn_tensor *d, tn_tensor *size, double most) {
    return tnp_square(tnp_where_scalar_self(tnp_gt_scalar(size, tn_float(most)), tn_int(0), d));
}
static bool smooth_l1_loss_compose(tn_frame *f) {
    TN_ARGS(smooth_l1_loss, a, f);
    tn_tensor *d = tnp_sub(a->input, a->target, 1), *size = tnp_abs(d);
    /* Both branches of where are computed, so the square is kept finite outside of its own. */
    if (a->beta < 0)
        return tn_fail(f, TN_INVALID, "beta is %g, expected a non-negative value", a->beta);
    if (a->beta == 0) return tni_loss_result(f, size, a->reduction);
    return tni_loss_result(
        f,
        tnp_where(tnp_lt_scalar(size, tn_float(a->beta)),
                  tnp_mul_scalar(square_within(d, size, a->beta), tn_float(0.5 / a->beta)),
                  tnp_sub_scalar(size, tn_float(0.5 * a->beta), 1)),
        a->reduction);
}
/* d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target. */
TN_OPERATOR(smooth_l1_loss,
            "smooth_l1_loss(Tensor input, Tensor target, Reduction reduction=mean, float beta=1.0) "
            "-> Tensor",
            TN_DOC(.shapes = "input, target (*) -> () or (*)",
                   .example = "tn_smooth_l1_loss(x, t)"),
            .autocast = TN_WIDE, .compose = smooth_l1_loss_compose,
            .sample = "(2,3) (2,3) | (2,3) (2,3) sum 0.5 | (5) (5) none | (4) (4) mean 0.0",
            .node = "SmoothL1LossBackward0")

static bool huber_loss_compose(tn_frame *f) {
    TN_ARGS(huber_loss, a, f);
    tn_tensor *d = tnp_sub(a->input, a->target, 1), *size = tnp_abs(d);
    if (!(a->delta > 0))
        return tn_fail(f, TN_INVALID, "delta is %g, expected a positive value", a->delta);
    return tni_loss_result(
        f,
        tnp_where(
            tnp_le_scalar(size, tn_float(a->delta)),
            tnp_mul_scalar(square_within(d, size, a->delta), tn_float(0.5)),
            tnp_mul_scalar(tnp_sub_scalar(size, tn_float(0.5 * a->delta), 1), tn_float(a->delta))),
        a->reduction);
}
/* d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), with d = input - target. */
TN_OPERATOR(
    huber_loss,
    "huber_loss(Tensor input, Tensor target, Reduction reduction=mean, float delta=1.0) -> Tensor",
    TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_huber_loss(x, t)"),
    .autocast = TN_WIDE, .compose = huber_loss_compose,
    .sample = "(2,3) (2,3) | (2,3) (2,3) sum 0.5 | (5) (5) none", .node = "HuberLossBackward0")

/* dx = (x - t) / (x (1 - x)), the denominator kept from 0; dt = log(1 - x) - log x. */
static void bce_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *t = g->in[1], *d = g->incoming[0],
              *one = tnp_rsub_scalar(x, tn_int(1), 1);
    if (g->want[0])
        tn_give(g, 0,
                tnp_div(tnp_mul(d, tnp_sub(x, t, 1)),
                        tnp_clamp_min_scalar(tnp_mul(one, x), tn_float((double)1e-12f))));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_sub(tnp_log1p(tnp_neg(x)), tnp_log(x), 1)));
}
/* -(target log input + (1 - target) log(1 - input)), with logarithms limited to at least -100: the
 * terms of binary_cross_entropy. */
TN_OPERATOR(
    bce, "bce(Tensor input, Tensor target) -> Tensor",
    TN_DOC(.shapes = "input in [0, 1], target (*) -> (*), floating", .example = "tn_bce(p, t)"),
    .forms = TN_OUT, .needs = "input,target",
    TN_POINTWISE(F, V_SUB(V_MUL(V_SUB(target, V_ONE), V_MAX(V_SET(-100), V_LOG1P(V_NEG(input)))),
                          V_MUL(target, V_MAX(V_SET(-100), V_LOG(input))))),
    .grad = bce_grad, .domain = "input:0.1..0.9 target:0..1", .sample = "(2,3) (2,3) | (40) (40)",
    .node = "BinaryCrossEntropyBackward0")

static bool binary_cross_entropy_compose(tn_frame *f) {
    TN_ARGS(binary_cross_entropy, a, f);
    tn_tensor *loss;
    if (!loss_same_shape(f, a->input, a->target)) return false;
    loss = tnp_bce(a->input, a->target);
    if (a->weight) loss = tnp_mul(loss, a->weight);
    return tni_loss_result(f, loss, a->reduction);
}
/* -weight (target log input + (1 - target) log(1 - input)), where input holds probabilities
 * in [0, 1]. */
TN_OPERATOR(binary_cross_entropy,
            "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Reduction "
            "reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input, target (*), weight broadcast to it -> () or (*)",
                   .example = "tn_binary_cross_entropy(p, t)"),
            .autocast = TN_WIDE_CPU | TN_UNSAFE_CUDA, .compose = binary_cross_entropy_compose,
            .domain = "input:0.1..0.9 target:0..1",
            .sample = "(2,3) (2,3) | (2,3) (2,3) (3) sum | (5) (5) None none",
            .node = "BinaryCrossEntropyBackward0")

static bool bce_logits_compose(tn_frame *f) {
    TN_ARGS(binary_cross_entropy_with_logits, a, f);
    tn_tensor *x = a->input, *t = a->target, *soft, *loss;
    if (!loss_same_shape(f, x, t)) return false;
    soft = tnp_softplus(tnp_neg(x), 1, 40); /* -log sigmoid(x) */
    if (a->pos_weight)
        soft = tnp_mul(soft, tnp_add_scalar(tnp_mul(tnp_sub_scalar(a->pos_weight, tn_int(1), 1), t),
                                            tn_int(1), 1));
    loss = tnp_add(tnp_mul(tnp_rsub_scalar(t, tn_int(1), 1), x), soft, 1);
    if (a->weight) loss = tnp_mul(loss, a->weight);
    return tni_loss_result(f, loss, a->reduction);
}
/* binary_cross_entropy of sigmoid(input), without overflow: (1 - t) x + (1 + (pos_weight - 1) t)
 * log(1 + e^-x), with x = input and t = target. */
TN_OPERATOR(binary_cross_entropy_with_logits,
            "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
            "Tensor? pos_weight=None, "
            "Reduction reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input, target (*), weight, pos_weight broadcast to it -> () or (*)",
                   .example = "tn_binary_cross_entropy_with_logits(x, t)",
                   .differs = "parameter pos_weight: before reduction, as in torch's schema"),
            .autocast = TN_WIDE, .compose = bce_logits_compose, .domain = "target:0..1",
            .sample = "(2,3) (2,3) | (2,3) (2,3) (3) (3) sum | (5) (5) None None none",
            .node = "BinaryCrossEntropyWithLogitsBackward0")

static bool kl_div_compose(tn_frame *f) {
    TN_ARGS(kl_div, a, f);
    tn_tensor *x = a->input, *t = a->target, *loss, *tlog;
    if (a->log_target)
        loss = tnp_mul(tnp_exp(t), tnp_sub(t, x, 1));
    else { /* t log t, 0 where t is 0 */
        tlog =
            tnp_mul(t, tnp_log(tnp_masked_fill_scalar(t, tnp_eq_scalar(t, tn_int(0)), tn_int(1))));
        loss = tnp_sub(tlog, tnp_mul(t, x), 1);
    }
    if (a->reduction != TN_BATCH_REDUCTION_BATCHMEAN)
        return tni_loss_result(f, loss, (tn_reduction)a->reduction);
    /* The sum over the size of the batch. */
    loss = tnp_sum(loss, tn_no_dims(), false, TN_NO_DTYPE);
    if (x->ndim) loss = tnp_div_scalar(loss, tn_int(x->size[0]));
    return (f->out[0] = loss) != NULL;
}
/* target (log target - input), where input holds logarithms. With log_target the target does too:
 * e^target (target - input). batchmean divides the sum by the first size of input alone. */
TN_OPERATOR(kl_div,
            "kl_div(Tensor input, Tensor target, BatchReduction reduction=mean, *, bool "
            "log_target=False) -> Tensor",
            TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_kl_div(x, t)",
                   .differs = "grad of tensor 1 at ties: torch's is NaN where target is 0 | "
                              "parameter log_target: a keyword, as in torch's schema"),
            .autocast = TN_WIDE, .compose = kl_div_compose, .domain = "target:0.1..1",
            .sample = "(2,3) (2,3) | (2,3) (2,3) sum | (5) (5) none log_target=True | (3,5) (3,5) "
                      "batchmean | () () batchmean")
