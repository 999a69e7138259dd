/* linear.c - modules that are one operator on parameters or on nothing: Linear, Bilinear,
 * Embedding, EmbeddingBag, Dropout, Identity, Flatten. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/indexing.h"
#include "../api/ops/layers.h"
#include "../api/ops/linalg.h"
#include "../api/ops/shape.h"

#include <math.h>

/* --- Linear ----------------------------------------------------------------------------------- */

static bool linear_reset(tn_module *m) {
    TN_SELF(linear, s, m);
    return tni_init_affine(s->weight, s->bias);
}
static bool linear_forward(tn_mframe *f) {
    TN_FORWARD(linear, s, a, f);
    return (f->out[0] = tnp_linear(a->input, s->weight, s->bias)) != NULL;
}
/* y = x W^T + b. */
TN_MODULE(linear, "Linear(int in_features, int out_features, bool bias=True)",
          TN_DOC(.shapes = "input (*, in_features) -> (*, out_features)",
                 .example = "tn_module *m = tn_nn_linear(784, 10, .bias = false);"),
          .parts = "weight(out_features, in_features); bias(out_features) if bias",
          .takes = "input(*, in_features)",
          .repr = "in_features=, out_features=, bias=", .reset = linear_reset,
          .forward = linear_forward, .sample = "3 4: (2,3) | 3 2 bias=False: (3)")

/* --- Bilinear --------------------------------------------------------------------------------- */

/* Within 1 / sqrt(in1_features) of 0. */
static bool bilinear_reset(tn_module *m) {
    TN_SELF(bilinear, s, m);
    if (s->o.in1_features < 1)
        return tni_nn_error(TN_INVALID, "in1_features must be > 0, got %lld",
                            (long long)s->o.in1_features);
    const double bound = 1 / sqrt((double)s->o.in1_features);
    return tn_nn_init_uniform_(s->weight, -bound, bound) &&
           (!s->bias || tn_nn_init_uniform_(s->bias, -bound, bound));
}
static bool bilinear_forward(tn_mframe *f) {
    TN_FORWARD(bilinear, s, a, f);
    return (f->out[0] = tnp_bilinear(a->input1, a->input2, s->weight, s->bias)) != NULL;
}
/* y_o = x1^T W_o x2 + b_o. */
TN_MODULE(
    bilinear, "Bilinear(int in1_features, int in2_features, int out_features, bool bias=True)",
    TN_DOC(.shapes = "input1 (*, in1_features), input2 (*, in2_features) -> (*, out_features)",
           .example = "tn_nn_bilinear(8, 4, 3)"),
    .parts = "weight(out_features, in1_features, in2_features); bias(out_features) if bias",
    .call = "(Tensor input1, Tensor input2) -> Tensor",
    .takes = "input1(*, in1_features); input2(*, in2_features)",
    .repr = "in1_features=, in2_features=, out_features=, bias=", .reset = bilinear_reset,
    .forward = bilinear_forward, .sample = "3 4 2: (2,3) (2,4) | 2 3 4 bias=False: (2) (3)")

/* --- Embedding -------------------------------------------------------------------------------- */

/* A row number kept from 0 on, as torch keeps and prints it. */
static bool embedding_padding(int64_t *p, int64_t n) {
    const int64_t given = *p;
    if (given == TN_NONE) return true;
    if (given < 0) *p += n;
    return (*p >= 0 && *p < n) ||
           tni_nn_error(TN_INVALID, "padding_idx is %lld, expected a value in [-%lld, %lld)",
                        (long long)given, (long long)n, (long long)n);
}
/* torch's draws: the whole table is drawn, then the padding row is set to zero. */
static bool embedding_drawn(tn_tensor *weight, int64_t padding) {
    tn_tensor *row;
    if (!tn_nn_init_normal_(weight, 0, 1)) return false;
    if (padding == TN_NONE) return true;
    /* A view: filling it writes the table. */
    row = tnp_select(weight, 0, padding);
    return row && tn_nn_init_constant_(row, 0);
}
static bool embedding_build(tn_module *m) {
    TN_SELF(embedding, s, m);
    return embedding_padding(&s->o.padding_idx, s->o.num_embeddings);
}
static bool embedding_reset(tn_module *m) {
    TN_SELF(embedding, s, m);
    return embedding_drawn(s->weight, s->o.padding_idx);
}
static bool embedding_forward(tn_mframe *f) {
    TN_FORWARD(embedding, s, a, f);
    /* The operator says "no padding row" by -1. */
    int64_t padding = s->o.padding_idx == TN_NONE ? -1 : s->o.padding_idx;
    return (f->out[0] = tnp_embedding(s->weight, a->input, padding, s->o.scale_grad_by_freq,
                                      s->o.sparse)) != NULL;
}
/* A table of vectors by number. The row padding_idx is zero at first and gets no gradient. With
 * sparse the gradient is a sparse tensor of the rows that were taken. */
TN_MODULE(embedding,
          "Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, bool "
          "scale_grad_by_freq=False, bool sparse=False)",
          TN_DOC(.shapes = "input (*) integers -> (*, embedding_dim)",
                 .example = "tn_nn_embedding(1000, 64, .padding_idx = 0)"),
          .parts = "weight(num_embeddings, embedding_dim)",
          .repr = "num_embeddings, embedding_dim, ?padding_idx=, ?scale_grad_by_freq=, ?sparse=",
          .build = embedding_build, .reset = embedding_reset, .forward = embedding_forward,
          .sample = "10 3: (2,4):i64<10 | 5 2 padding_idx=1: (3):i64<5")

static bool embedding_bag_build(tn_module *m) {
    TN_SELF(embedding_bag, s, m);
    return embedding_padding(&s->o.padding_idx, s->o.num_embeddings);
}
static bool embedding_bag_reset(tn_module *m) {
    TN_SELF(embedding_bag, s, m);
    return embedding_drawn(s->weight, s->o.padding_idx);
}
static bool embedding_bag_forward(tn_mframe *f) {
    TN_FORWARD(embedding_bag, s, a, f);
    f->out[0] = tnp_embedding_bag(a->input, s->weight, a->offsets, s->o.scale_grad_by_freq,
                                  s->o.mode, a->per_sample_weights, s->o.include_last_offset,
                                  s->o.padding_idx, s->o.sparse);
    return f->out[0] != NULL;
}
/* Sums, means or maxima of a table's vectors by number, one for each row of input, or for each part
 * of it between offsets. */
TN_MODULE(
    embedding_bag,
    "EmbeddingBag(int num_embeddings, int embedding_dim, bool scale_grad_by_freq=False, "
    "BagMode mode=mean, bool sparse=False, bool include_last_offset=False, int? padding_idx=None)",
    TN_DOC(.shapes = "input (B, n), or input (n) and offsets (B) -> (B, embedding_dim)",
           .example = "tn_nn_embedding_bag(1000, 64, .mode = TN_BAG_MODE_SUM)"),
    .parts = "weight(num_embeddings, embedding_dim)",
    .call = "(Tensor input, Tensor? offsets=None, Tensor? per_sample_weights=None) -> Tensor",
    .repr = "num_embeddings, embedding_dim, ?scale_grad_by_freq=, mode=', ?padding_idx=",
    .build = embedding_bag_build, .reset = embedding_bag_reset, .forward = embedding_bag_forward,
    .sample = "10 3: (2,4):i64<10 | 5 2 mode=sum padding_idx=1: (4):i64<5 (2):i64<1")

/* --- Dropout ---------------------------------------------------------------------------------- */

static bool dropout_build(tn_module *m) {
    TN_SELF(dropout, s, m);
    if (s->o.p >= 0 && s->o.p <= 1) return true;
    return tni_nn_error(TN_INVALID, "p is %g, expected a probability in [0, 1]", s->o.p);
}
static bool dropout_forward(tn_mframe *f) {
    TN_FORWARD(dropout, s, a, f);
    /* p = 0 draws no number, so the generator's state is the same with and without
     * such a module. */
    if (!s->base.training || s->o.p == 0)
        f->out[0] = a->input;
    else
        f->out[0] = s->o.inplace ? tnp_dropout_(a->input, s->o.p, true)
                                 : tnp_dropout(a->input, s->o.p, true);
    return f->out[0] != NULL;
}
/* In training, zeroes each element with probability p and scales the others by 1 / (1
 * - p); else a view of its input. */
TN_MODULE(dropout, "Dropout(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_dropout(.p = 0.1)"), .draws = "p",
          .repr = "p=, inplace=", .build = dropout_build, .forward = dropout_forward,
          .sample = "p=0.5: (4,5)")

/* Zeroes whole channels with probability p: the mask has a number for each of the first dimensions,
 * those before and with the channel. unbatched: how many dimensions an input without batch has, or
 * 0. */
static tn_tensor *dropout_channels(tn_tensor *x, double p, bool training, bool inplace,
                                   int unbatched) {
    const int n = (int)tn_ndim(x), first = n == unbatched ? 1 : 2;
    int64_t size[TN_MAX_DIMS];
    tn_tensor *mask;
    if (!training || p == 0) return x;
    if (n < first) {
        tni_nn_error(TN_INVALID, "Feature dropout requires at least 2 dimensions in the input");
        return NULL;
    }
    for (int i = 0; i < n; i++) size[i] = i < first ? tn_size(x, i) : 1;
    mask = tnp_new_ones(x, tn_ints_of(size, n), TN_NO_DTYPE, TN_NO_DEVICE);
    mask = tnp_dropout_(mask, p, true);
    return inplace ? tnp_mul_(x, mask) : tnp_mul(x, mask);
}
/* build and forward of Dropout1d .. Dropout3d. */
#define DROPOUT_ROW(name, unbatched)                                                               \
    static bool name##_build(tn_module *m) {                                                       \
        TN_SELF(name, s, m);                                                                       \
        return (s->o.p >= 0 && s->o.p <= 1) ||                                                     \
               tni_nn_error(TN_INVALID, "p is %g, expected a probability in [0, 1]", s->o.p);      \
    }                                                                                              \
    static bool name##_forward(tn_mframe *f) {                                                     \
        TN_FORWARD(name, s, a, f);                                                                 \
        f->out[0] = dropout_channels(a->input, s->o.p, s->base.training, s->o.inplace, unbatched); \
        return f->out[0] != NULL;                                                                  \
    }
DROPOUT_ROW(dropout1d, 2)
/* In training, zeroes each channel with probability p and scales the others by 1 / (1 - p). */
TN_MODULE(dropout1d, "Dropout1d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, L) or (C, L) -> the same",
                 .example = "tn_nn_dropout1d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout1d_build,
          .forward = dropout1d_forward, .sample = "p=0.5: (4,5,2)")
DROPOUT_ROW(dropout2d, 0)
/* As Dropout1d, of images; the first dimension is always the batch. */
TN_MODULE(dropout2d, "Dropout2d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, H, W) -> the same",
                 .example = "tn_nn_dropout2d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout2d_build,
          .forward = dropout2d_forward, .sample = "p=0.5: (4,5,2,3)")
DROPOUT_ROW(dropout3d, 4)
/* As Dropout1d, of volumes. */
TN_MODULE(dropout3d, "Dropout3d(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W) -> the same",
                 .example = "tn_nn_dropout3d(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = dropout3d_build,
          .forward = dropout3d_forward, .sample = "p=0.5: (3,4,2,1,2)")
#undef DROPOUT_ROW

/* build and forward of AlphaDropout and FeatureAlphaDropout: operators that say themselves what
 * they do outside of training. As torch's modules, they never write their input: inplace is only
 * printed. */
#define DROPOUT_ROW(name)                                                                     \
    static bool name##_build(tn_module *m) {                                                  \
        TN_SELF(name, s, m);                                                                  \
        return (s->o.p >= 0 && s->o.p <= 1) ||                                                \
               tni_nn_error(TN_INVALID, "p is %g, expected a probability in [0, 1]", s->o.p); \
    }                                                                                         \
    static bool name##_forward(tn_mframe *f) {                                                \
        TN_FORWARD(name, s, a, f);                                                            \
        f->out[0] = tnp_##name(a->input, s->o.p, s->base.training);                           \
        return f->out[0] != NULL;                                                             \
    }
DROPOUT_ROW(alpha_dropout)
/* In training, sets each element with probability p to the lowest value of SELU, then scales and
 * shifts all so that mean 0 and variance 1 stay. */
TN_MODULE(alpha_dropout, "AlphaDropout(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_alpha_dropout(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = alpha_dropout_build,
          .forward = alpha_dropout_forward, .sample = "p=0.5: (4,5)")
DROPOUT_ROW(feature_alpha_dropout)
/* As AlphaDropout, of whole channels. */
TN_MODULE(feature_alpha_dropout, "FeatureAlphaDropout(float p=0.5, bool inplace=False)",
          TN_DOC(.shapes = "input (N, C, *) -> the same",
                 .example = "tn_nn_feature_alpha_dropout(.p = 0.1)"),
          .draws = "p", .repr = "p=, inplace=", .build = feature_alpha_dropout_build,
          .forward = feature_alpha_dropout_forward, .sample = "p=0.5: (4,5,2)")
#undef DROPOUT_ROW

/* --- Identity, Flatten ------------------------------------------------------------------------ */

static bool identity_forward(tn_mframe *f) {
    TN_FORWARD(identity, s, a, f);
    (void)s;
    return (f->out[0] = a->input) != NULL;
}
/* Gives back a view of its input. */
TN_MODULE(identity, "Identity()",
          TN_DOC(.shapes = "input (*) -> (*)", .example = "tn_nn_identity()"),
          .forward = identity_forward, .sample = ": (2,3)")

static bool flatten_forward(tn_mframe *f) {
    TN_FORWARD(flatten, s, a, f);
    int64_t n = tn_ndim(a->input), from = s->o.start_dim, to = s->o.end_dim;
    /* A range of one dimension changes nothing: the input itself, whose view forward_own makes. */
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    f->out[0] = from == to && from >= 0 && from < n
                    ? a->input
                    : tnp_flatten(a->input, s->o.start_dim, s->o.end_dim);
    return f->out[0] != NULL;
}
/* Merges the dimensions start_dim..end_dim into one. */
TN_MODULE(flatten, "Flatten(int start_dim=1, int end_dim=-1)",
          TN_DOC(.shapes = "input (N, *) -> (N, product)", .example = "tn_nn_flatten()"),
          .repr = "start_dim=, end_dim=", .forward = flatten_forward,
          .sample = ": (2,3,4) | start_dim=0: (2,3)")
