/* norm.c - normalisation: over the batch, over the last dimensions. */
#include "nn.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/layers.h"
#include "../api/ops/shape.h"

/* --- BatchNorm -------------------------------------------------------------------------------- */

/* All BatchNorms have the same options and parts, but each its own struct. */
typedef struct norm_batch {
    tn_tensor *weight, *bias, *running_mean, *running_var, *num_batches_tracked;
    tn_maybe momentum;
    double eps;
    bool track_running_stats, affine, training;
} norm_batch;
#define NORM_BATCH(n, s)                        \
    norm_batch n = {(s)->weight,                \
                    (s)->bias,                  \
                    (s)->running_mean,          \
                    (s)->running_var,           \
                    (s)->num_batches_tracked,   \
                    (s)->o.momentum,            \
                    (s)->o.eps,                 \
                    (s)->o.track_running_stats, \
                    (s)->o.affine,              \
                    (s)->base.training}

/* torch's initial values: mean 0, variance 1, no batch seen yet, weight 1, bias 0. */
static bool norm_batch_reset(const norm_batch *n) {
    return (!n->running_mean ||
            (tn_nn_init_constant_(n->running_mean, 0) && tn_nn_init_constant_(n->running_var, 1) &&
             tn_nn_init_constant_(n->num_batches_tracked, 0))) &&
           (!n->weight || tn_nn_init_constant_(n->weight, 1)) &&
           (!n->bias || tn_nn_init_constant_(n->bias, 0));
}

/* Normalises by the batch in training or without running statistics, else by these. They move
 * unless track_running_stats was set to false when the module was there, as in torch. momentum k
 * moves a running statistic r to (1 - k) r + k b for the batch's b; momentum None gives all batches
 * the same weight by k = 1 / (number of batches). */
static tn_tensor *norm_batch_forward(const norm_batch *n, tn_tensor *x) {
    bool batch = n->training || !n->running_mean,
         moves = batch && n->running_mean && n->track_running_stats;
    double k = n->momentum.given == TN_GIVEN ? n->momentum.value : 0;
    tn_tensor *y;
    if (moves && n->momentum.given != TN_GIVEN)
        k = 1 / ((double)tn_item_int(n->num_batches_tracked) + 1);
    /* The statistics and their counter change together, whatever asks the call to stop. */
    if (moves && !tn_whole_begin()) return NULL;
    y = tnp_batch_norm(x, moves || !batch ? n->running_mean : NULL,
                       moves || !batch ? n->running_var : NULL, n->weight, n->bias, batch, k,
                       n->eps);
    if (y && moves && !tnp_add_scalar_(n->num_batches_tracked, tn_int(1), 1)) y = NULL;
    if (moves) tn_whole_end();
    return y;
}

/* reset and forward of one of the BatchNorms, on its own struct. */
#define NORM_BATCH_ROW(name)                                           \
    static bool name##_reset(tn_module *m) {                           \
        TN_SELF(name, s, m);                                           \
        NORM_BATCH(n, s);                                              \
        return norm_batch_reset(&n);                                   \
    }                                                                  \
    static bool name##_forward(tn_mframe *f) {                         \
        TN_FORWARD(name, s, a, f);                                     \
        NORM_BATCH(n, s);                                              \
        return (f->out[0] = norm_batch_forward(&n, a->input)) != NULL; \
    }

NORM_BATCH_ROW(batch_norm1d)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel. */
TN_MODULE(batch_norm1d,
          "BatchNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C) or (N, C, L) -> the same",
                 .example = "tn_nn_batch_norm1d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, ?)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm1d_reset, .forward = batch_norm1d_forward,
          .sample = "3: (4,3) | 3 momentum=None: (4,3,2)")

NORM_BATCH_ROW(batch_norm2d)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel, over a batch of images. */
TN_MODULE(batch_norm2d,
          "BatchNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, H, W) -> the same",
                 .example = "tn_nn_batch_norm2d(64, .momentum = TN_SOME(0.01))"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm2d_reset, .forward = batch_norm2d_forward,
          .sample = "3: (4,3,2,2) | 2 affine=False track_running_stats=False: (3,2,2,3)")

NORM_BATCH_ROW(batch_norm3d)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel, over a batch of volumes. */
TN_MODULE(batch_norm3d,
          "BatchNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, D, H, W) -> the same",
                 .example = "tn_nn_batch_norm3d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = batch_norm3d_reset, .forward = batch_norm3d_forward,
          .sample = "3: (2,3,2,2,3) | 2 affine=False: (3,2,2,1,3)")

NORM_BATCH_ROW(sync_batch_norm)
/* BatchNorm of any number of dimensions, of one process: the batches of several processes are not
 * brought together. */
TN_MODULE(sync_batch_norm,
          "SyncBatchNorm(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, "
          "bool track_running_stats=True, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, *) -> the same", .example = "tn_nn_sync_batch_norm(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(_, num_features, *)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = sync_batch_norm_reset, .forward = sync_batch_norm_forward,
          .sample = "3: (4,3) | 2 affine=False: (3,2,2,1)")

#undef NORM_BATCH_ROW

/* --- InstanceNorm ----------------------------------------------------------------------------- */

/* Normalises each sample, also one without a batch, by itself in training or without running
 * statistics, else by these. momentum None leaves them where they are. */
static tn_tensor *norm_instance_forward(const norm_batch *n, tn_tensor *x, int64_t features,
                                        int dims) {
    const bool alone = tn_ndim(x) == dims + 1;
    const double k = n->momentum.given == TN_GIVEN ? n->momentum.value : 0;
    tn_tensor *y;
    if (n->affine && tn_size(x, -1 - dims) != features) {
        tni_nn_error(TN_INVALID,
                     "expected input's size at dim=%d to match num_features (%lld), but got %lld",
                     alone ? 0 : 1, (long long)features, (long long)tn_size(x, -1 - dims));
        return NULL;
    }
    /* Statistics that stay as they are may lie in memory that is not written. */
    if (alone) x = tnp_unsqueeze(x, 0);
    if (n->training || !n->track_running_stats || !n->running_mean)
        y = tnp_instance_norm(x, n->running_mean, n->running_var, n->weight, n->bias, true, k,
                              n->eps);
    else
        y = tnp_batch_norm(x, n->running_mean, n->running_var, n->weight, n->bias, false, k,
                           n->eps);
    return alone ? tnp_squeeze_dim(y, 0) : y;
}
#define NORM_INSTANCE_ROW(name, dims)                                             \
    static bool name##_reset(tn_module *m) {                                      \
        TN_SELF(name, s, m);                                                      \
        NORM_BATCH(n, s);                                                         \
        return norm_batch_reset(&n);                                              \
    }                                                                             \
    static bool name##_forward(tn_mframe *f) {                                    \
        TN_FORWARD(name, s, a, f);                                                \
        NORM_BATCH(n, s);                                                         \
        f->out[0] = norm_instance_forward(&n, a->input, s->o.num_features, dims); \
        return f->out[0] != NULL;                                                 \
    }

NORM_INSTANCE_ROW(instance_norm1d, 1)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of lines. */
TN_MODULE(instance_norm1d,
          "InstanceNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, L) or (C, L) -> the same",
                 .example = "tn_nn_instance_norm1d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm1d_reset, .forward = instance_norm1d_forward,
          .sample = "3: (2,3,4) | 3 affine=True track_running_stats=True: (3,5)")

NORM_INSTANCE_ROW(instance_norm2d, 2)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of images. */
TN_MODULE(instance_norm2d,
          "InstanceNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> the same",
                 .example = "tn_nn_instance_norm2d(64, .affine = true)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm2d_reset, .forward = instance_norm2d_forward,
          .sample = "3: (2,3,2,2) | 3 affine=True track_running_stats=True: (3,2,3)")

NORM_INSTANCE_ROW(instance_norm3d, 3)
/* y = (x - mean) / sqrt(var + eps) * weight + bias for each channel of each sample, of volumes. */
TN_MODULE(instance_norm3d,
          "InstanceNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool "
          "affine=False, bool track_running_stats=False, *, bool bias=True)",
          TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> the same",
                 .example = "tn_nn_instance_norm3d(64)"),
          .parts = "weight(num_features) if affine; bias(num_features) if affine && bias; "
                   "buffer running_mean(num_features) if track_running_stats; "
                   "buffer running_var(num_features) if track_running_stats; "
                   "buffer num_batches_tracked:int64() if track_running_stats",
          .takes = "input(?, _, _, _, _)",
          .repr = "num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
          .reset = instance_norm3d_reset, .forward = instance_norm3d_forward,
          .sample = "3: (2,3,2,1,2) | 2 affine=True track_running_stats=True: (2,2,2,3)")

#undef NORM_BATCH
#undef NORM_INSTANCE_ROW

/* --- LayerNorm -------------------------------------------------------------------------------- */

/* torch's initial values: the identity behind the normalisation. */
static bool layer_norm_reset(tn_module *m) {
    TN_SELF(layer_norm, s, m);
    return (!s->weight || tn_nn_init_constant_(s->weight, 1)) &&
           (!s->bias || tn_nn_init_constant_(s->bias, 0));
}
static bool layer_norm_forward(tn_mframe *f) {
    TN_FORWARD(layer_norm, s, a, f);
    return (f->out[0] = tnp_layer_norm(a->input, s->o.normalized_shape, s->weight, s->bias,
                                       s->o.eps)) != NULL;
}
/* Normalises each sample over its last dimensions. */
TN_MODULE(layer_norm,
          "LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool "
          "bias=True)",
          TN_DOC(.shapes = "input (*, normalized_shape) -> the same",
                 .example = "tn_nn_layer_norm(TN_DIMS(64))"),
          .parts = "weight(normalized_shape) if elementwise_affine; bias(normalized_shape) if "
                   "elementwise_affine && bias",
          .takes = "input(*, normalized_shape)",
          .repr = "normalized_shape[], eps=, elementwise_affine=, bias=", .reset = layer_norm_reset,
          .forward = layer_norm_forward, .sample = "[4]: (2,3,4) | [3,4] bias=False: (2,3,4)")

static bool local_response_norm_forward(tn_mframe *f) {
    TN_FORWARD(local_response_norm, s, a, f);
    f->out[0] = tnp_local_response_norm(a->input, s->o.size, s->o.alpha, s->o.beta, s->o.k);
    return f->out[0] != NULL;
}
/* Divides by a power of the mean square of `size` channels around each. */
TN_MODULE(local_response_norm,
          "LocalResponseNorm(int size, float alpha=0.0001, float beta=0.75, float k=1.0)",
          TN_DOC(.shapes = "input (N, C, *) -> the same",
                 .example = "tn_nn_local_response_norm(2)"),
          .repr = "size, alpha=, beta=, k=", .forward = local_response_norm_forward,
          .sample = "2: (2,5,4) | 3 alpha=0.5 beta=1.0 k=2.0: (1,4,3,2)")

static bool cross_map_lrn2d_build(tn_module *m) {
    TN_SELF(cross_map_lrn2d, s, m);
    return s->o.size > 0 || tni_nn_error(TN_INVALID, "size is %lld, expected a positive number",
                                         (long long)s->o.size);
}
/* The sums of the squares of 2 reach + 1 channels around each. As in torch, channel 0 stays in all
 * sums that it has come into. */
static tn_tensor *cross_map_sums(tn_tensor *x, int64_t reach) {
    const int64_t n = tn_size(x, 0), c = tn_size(x, 1), h = tn_size(x, 2), w = tn_size(x, 3);
    const int64_t flat[4] = {n, 1, c, h * w}, window[2] = {2 * reach + 1, 1}, once[2] = {1, 1},
                  pad[2] = {reach, 0}, whole[4] = {n, c, h, w}, late = c - reach - 1;
    tn_tensor *square = tnp_reshape(tnp_square(x), tn_ints_of(flat, 4)),
              *sums = tnp_avg_pool2d(square, tn_ints_of(window, 2), tn_ints_of(once, 2),
                                     tn_ints_of(pad, 2), false, true, 1);
    if (late > 0) {
        const int64_t repeated[4] = {n, 1, late, h * w}, before[4] = {0, 0, reach + 1, 0};
        tn_tensor *first = tnp_expand(tnp_narrow(square, 2, 0, 1), tn_ints_of(repeated, 4), false);
        sums = tnp_add(sums, tnp_constant_pad_nd(first, tn_ints_of(before, 4), tn_int(0)), 1);
    }
    return tnp_reshape(sums, tn_ints_of(whole, 4));
}
static bool cross_map_lrn2d_forward(tn_mframe *f) {
    TN_FORWARD(cross_map_lrn2d, s, a, f);
    tn_tensor *x = a->input, *scale;
    if (!tn_numel(x)) return (f->out[0] = tnp_square(x)) != NULL;
    scale = cross_map_sums(x, (s->o.size - 1) / 2);
    scale = tnp_mul_scalar(scale, tn_float(s->o.alpha / (double)s->o.size));
    scale = tnp_add_scalar(scale, tn_float(s->o.k), 1);
    f->out[0] = tnp_mul(x, tnp_pow_scalar(scale, tn_float(-s->o.beta)));
    return f->out[0] != NULL;
}
/* LocalResponseNorm as Torch7 had it, for its old networks: the sums of squares are those of
 * (size - 1) / 2 channels on each side, rounded down, and channel 0 stays in all sums that it has
 * come into. */
TN_MODULE(
    cross_map_lrn2d, "CrossMapLRN2d(int size, float alpha=0.0001, float beta=0.75, float k=1)",
    TN_DOC(.shapes = "input (N, C, H, W) -> the same", .example = "tn_nn_cross_map_lrn2d(5)",
           .differs = "grad: torch's is not the slope of its own forward"),
    .takes = "input(_, _, _, _)", .repr = "size, alpha=, beta=, k=", .build = cross_map_lrn2d_build,
    .forward = cross_map_lrn2d_forward,
    .sample = "3: (2,5,3,2) | 4 alpha=0.5 beta=0.5 k=2.0: (1,6,2,2) | 5 alpha=1.0: (2,2,1,3) | "
              "3: (0,4,2,2)")

/* --- GroupNorm and RMSNorm -------------------------------------------------------------------- */

static bool group_norm_build(tn_module *m) {
    TN_SELF(group_norm, s, m);
    if (s->o.num_groups < 1)
        return tni_nn_error(TN_INVALID, "num_groups is %lld, expected a positive number",
                            (long long)s->o.num_groups);
    return s->o.num_channels % s->o.num_groups == 0 ||
           tni_nn_error(TN_INVALID, "num_channels (%lld) must be divisible by num_groups (%lld)",
                        (long long)s->o.num_channels, (long long)s->o.num_groups);
}
static bool group_norm_reset(tn_module *m) {
    TN_SELF(group_norm, s, m);
    return (!s->weight || tn_nn_init_constant_(s->weight, 1)) &&
           (!s->bias || tn_nn_init_constant_(s->bias, 0));
}
static bool group_norm_forward(tn_mframe *f) {
    TN_FORWARD(group_norm, s, a, f);
    if (tn_numel(a->input) == s->o.num_groups) /* a value a group has no variance */
        return tni_nn_error(TN_INVALID, "expected more than 1 value per channel when training");
    f->out[0] = tnp_group_norm(a->input, s->o.num_groups, s->weight, s->bias, s->o.eps);
    return f->out[0] != NULL;
}
/* Normalises each group of channels of each sample. */
TN_MODULE(group_norm,
          "GroupNorm(int num_groups, int num_channels, float eps=1e-05, bool affine=True, *, bool "
          "bias=True)",
          TN_DOC(.shapes = "input (N, num_channels, *) -> the same",
                 .example = "tn_nn_group_norm(4, 64)"),
          .parts = "weight(num_channels) if affine; bias(num_channels) if affine && bias",
          .takes = "input(_, num_channels, *)",
          .repr = "num_groups, num_channels, eps=, affine=, bias=", .build = group_norm_build,
          .reset = group_norm_reset, .forward = group_norm_forward,
          .sample = "2 4: (3,4,2) | 3 6 affine=False: (2,6)")

static bool rms_norm_reset(tn_module *m) {
    TN_SELF(rms_norm, s, m);
    return !s->weight || tn_nn_init_constant_(s->weight, 1);
}
static bool rms_norm_forward(tn_mframe *f) {
    TN_FORWARD(rms_norm, s, a, f);
    f->out[0] = tnp_rms_norm(a->x, s->o.normalized_shape, s->weight, s->o.eps);
    return f->out[0] != NULL;
}
/* Divides each sample by the root of its mean square over its last dimensions. eps None: the
 * distance from 1 to the next number of the dtype. */
TN_MODULE(rms_norm,
          "RMSNorm(int[] normalized_shape, float? eps=None, bool elementwise_affine=True)",
          TN_DOC(.shapes = "x (*, normalized_shape) -> the same",
                 .example = "tn_nn_rms_norm(TN_DIMS(64))"),
          .parts = "weight(normalized_shape) if elementwise_affine", .call = "(Tensor x) -> Tensor",
          .takes = "x(*, normalized_shape)",
          .repr = "normalized_shape[], eps=, elementwise_affine=", .reset = rms_norm_reset,
          .forward = rms_norm_forward, .sample = "[4]: (2,3,4) | [3,4] eps=0.1: (2,3,4)")
