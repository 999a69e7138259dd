/* loss.c - losses as modules: one operator call on input and target. */
#include "nn.h"
#include "../api/ops/layers.h"

/* A forward that is one operator call, with inputs at a and options and weights at s. */
#define LOSS_FORWARD(name, ...)                     \
    static bool name##_forward(tn_mframe *f) {      \
        TN_FORWARD(name, s, a, f);                  \
        return (f->out[0] = (__VA_ARGS__)) != NULL; \
    }

LOSS_FORWARD(cross_entropy_loss,
             tnp_cross_entropy(a->input, a->target, s->weight, s->o.ignore_index, s->o.reduction,
                               s->o.label_smoothing))
/* -log softmax(input)[target], the mean over the batch. */
TN_MODULE(cross_entropy_loss,
          "CrossEntropyLoss(Tensor? weight=None, int ignore_index=-100, Reduction reduction=mean, "
          "float label_smoothing=0.0)",
          TN_DOC(.shapes = "input (N, C, *), target (N, *) class numbers or (N, C, *) "
                           "probabilities -> () or (N, *)",
                 .example = "tn_nn_cross_entropy_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = cross_entropy_loss_forward,
          .sample = ": (4,5) (4):i64<5 | reduction=sum label_smoothing=0.1: (4,5) (4):i64<5")

LOSS_FORWARD(nll_loss,
             tnp_nll_loss(a->input, a->target, s->weight, s->o.ignore_index, s->o.reduction))
/* -input[target], of log-probabilities. */
TN_MODULE(nll_loss, "NLLLoss(Tensor? weight=None, int ignore_index=-100, Reduction reduction=mean)",
          TN_DOC(.shapes = "input (N, C, *), target (N, *) -> () or (N, *)",
                 .example = "tn_nn_nll_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = nll_loss_forward, .sample = ": (4,5) (4):i64<5")

LOSS_FORWARD(mse_loss, ((void)s, tnp_mse_loss(a->input, a->target, s->o.reduction)))
/* (input - target)^2. */
TN_MODULE(mse_loss, "MSELoss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_mse_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = mse_loss_forward, .sample = ": (2,3) (2,3)")

LOSS_FORWARD(l1_loss, tnp_l1_loss(a->input, a->target, s->o.reduction))
/* |input - target|. */
TN_MODULE(l1_loss, "L1Loss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_l1_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = l1_loss_forward, .sample = ": (2,3) (2,3)")

LOSS_FORWARD(smooth_l1_loss, tnp_smooth_l1_loss(a->input, a->target, s->o.reduction, s->o.beta))
/* d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d = input - target. */
TN_MODULE(smooth_l1_loss, "SmoothL1Loss(Reduction reduction=mean, float beta=1.0)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_smooth_l1_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = smooth_l1_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum beta=0.5: (4) (4)")

LOSS_FORWARD(huber_loss, tnp_huber_loss(a->input, a->target, s->o.reduction, s->o.delta))
/* d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), with d = input - target. */
TN_MODULE(huber_loss, "HuberLoss(Reduction reduction=mean, float delta=1.0)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_huber_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "warns",
          .forward = huber_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum delta=0.5: (4) (4)")

LOSS_FORWARD(kl_div_loss, tnp_kl_div(a->input, a->target, s->o.reduction, s->o.log_target))
/* target (log target - input), where input holds logarithms, and target too with log_target. */
TN_MODULE(kl_div_loss, "KLDivLoss(BatchReduction reduction=mean, bool log_target=False)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)",
                 .example = "tn_nn_kl_div_loss(.reduction = TN_BATCH_REDUCTION_BATCHMEAN)"),
          .call = "(Tensor input, Tensor target) -> Tensor", .forward = kl_div_loss_forward,
          .sample = "reduction=batchmean: (2,3) (2,3) | log_target=True: (4) (4)")

LOSS_FORWARD(bce_loss, tnp_binary_cross_entropy(a->input, a->target, s->weight, s->o.reduction))
/* -(t log x + (1 - t) log(1 - x)), of probabilities. */
TN_MODULE(bce_loss, "BCELoss(Tensor? weight=None, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_bce_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .unlike = "deprecated", .forward = bce_loss_forward)

LOSS_FORWARD(bce_with_logits_loss,
             tnp_binary_cross_entropy_with_logits(a->input, a->target, s->weight, s->pos_weight,
                                                  s->o.reduction))
/* BCELoss of sigmoid(input), without overflow. */
TN_MODULE(
    bce_with_logits_loss,
    "BCEWithLogitsLoss(Tensor? weight=None, Reduction reduction=mean, Tensor? pos_weight=None)",
    TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_bce_with_logits_loss()"),
    .parts = "buffer weight = weight; buffer pos_weight = pos_weight",
    .call = "(Tensor input, Tensor target) -> Tensor", .unlike = "refused",
    .forward = bce_with_logits_loss_forward, .sample = ": (2,3) (2,3)")

/* --- margins and pairs ------------------------------------------------------------------------ */

static bool margin_ranking_loss_forward(tn_mframe *f) {
    TN_FORWARD(margin_ranking_loss, s, a, f);
    const int dims = tn_ndim(a->input1);
    if (tn_ndim(a->input2) != dims || tn_ndim(a->target) != dims)
        return tni_nn_error(TN_INVALID,
                            "input1, input2 and target have %d, %d and %d dimensions, expected the "
                            "same number",
                            dims, tn_ndim(a->input2), tn_ndim(a->target));
    return (f->out[0] = tnp_margin_ranking_loss(a->input1, a->input2, a->target, s->o.margin,
                                                s->o.reduction)) != NULL;
}
/* max(0, -target (input1 - input2) + margin), with target 1 if input1 should rank higher, else -1.
 */
TN_MODULE(margin_ranking_loss, "MarginRankingLoss(float margin=0.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input1, input2, target (*) -> () or (*)",
                 .example = "tn_nn_margin_ranking_loss(.margin = 0.5)"),
          .call = "(Tensor input1, Tensor input2, Tensor target) -> Tensor",
          .forward = margin_ranking_loss_forward,
          .sample = ": (2,3) (2,3) (2,3) | margin=0.5 reduction=sum: (4) (4) (4)")

LOSS_FORWARD(hinge_embedding_loss,
             tnp_hinge_embedding_loss(a->input, a->target, s->o.margin, s->o.reduction))
/* input where target is 1, max(0, margin - input) where it is -1. */
TN_MODULE(hinge_embedding_loss, "HingeEmbeddingLoss(float margin=1.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)",
                 .example = "tn_nn_hinge_embedding_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = hinge_embedding_loss_forward,
          .sample = ": (2,3) (2,3) | margin=0.5 reduction=sum: (4) (4)")

LOSS_FORWARD(soft_margin_loss, tnp_soft_margin_loss(a->input, a->target, s->o.reduction))
/* log(1 + exp(-target input)), with target 1 or -1. */
TN_MODULE(soft_margin_loss, "SoftMarginLoss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*) -> () or (*)", .example = "tn_nn_soft_margin_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor", .forward = soft_margin_loss_forward,
          .sample = ": (2,3) (2,3) | reduction=sum: (4) (4)")

LOSS_FORWARD(cosine_embedding_loss, tnp_cosine_embedding_loss(a->input1, a->input2, a->target,
                                                              s->o.margin, s->o.reduction))
/* 1 - c where target is 1, max(0, c - margin) where it is -1, with c the cosine of the angle. */
TN_MODULE(cosine_embedding_loss, "CosineEmbeddingLoss(float margin=0.0, Reduction reduction=mean)",
          TN_DOC(.shapes = "input1, input2 (N, D), target (N), or (D) and () -> () or (N)",
                 .example = "tn_nn_cosine_embedding_loss()"),
          .call = "(Tensor input1, Tensor input2, Tensor target) -> Tensor",
          .forward = cosine_embedding_loss_forward,
          .sample = ": (4,3) (4,3) (4):i64<2 | margin=0.5 reduction=sum: (3) (3) ()")

static bool triplet_margin_loss_build(tn_module *m) {
    TN_SELF(triplet_margin_loss, s, m);
    return s->o.margin > 0 ||
           tni_nn_error(TN_INVALID, "margin is %g, expected a positive number", s->o.margin);
}
LOSS_FORWARD(triplet_margin_loss,
             tnp_triplet_margin_loss(a->anchor, a->positive, a->negative, s->o.margin, s->o.p,
                                     s->o.eps, s->o.swap, s->o.reduction))
/* max(0, margin + d(anchor, positive) - d(anchor, negative)), with d the p-norm of the difference.
 */
TN_MODULE(triplet_margin_loss,
          "TripletMarginLoss(float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, "
          "Reduction reduction=mean)",
          TN_DOC(.shapes = "anchor, positive, negative (*, D) -> () or (*)",
                 .example = "tn_nn_triplet_margin_loss(.p = 1)"),
          .call = "(Tensor anchor, Tensor positive, Tensor negative) -> Tensor",
          .build = triplet_margin_loss_build, .forward = triplet_margin_loss_forward,
          .sample = ": (4,3) (4,3) (4,3) | 2 1 0.25: (5,2) (5,2) (5,2)")

/* --- classes ---------------------------------------------------------------------------------- */

static bool multi_margin_loss_build(tn_module *m) {
    TN_SELF(multi_margin_loss, s, m);
    return s->o.p == 1 || s->o.p == 2 ||
           tni_nn_error(TN_INVALID, "p is %lld, expected 1 or 2", (long long)s->o.p);
}
LOSS_FORWARD(multi_margin_loss, tnp_multi_margin_loss(a->input, a->target, (double)s->o.p,
                                                      s->o.margin, s->weight, s->o.reduction))
/* sum over i other than the label y of weight[y] max(0, margin - input[y] + input[i])^p, divided by
 * the number of classes. */
TN_MODULE(multi_margin_loss,
          "MultiMarginLoss(int p=1, float margin=1.0, Tensor? weight=None, Reduction "
          "reduction=mean)",
          TN_DOC(.shapes = "input (N, C) or (C), target (N) or () int64 -> () or (N)",
                 .example = "tn_nn_multi_margin_loss(.p = 2)"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .build = multi_margin_loss_build, .forward = multi_margin_loss_forward,
          .sample = ": (4,5) (4):i64<5 | 2 0.5: (4,5) (4):i64<5")

LOSS_FORWARD(multilabel_margin_loss,
             tnp_multilabel_margin_loss(a->input, a->target, s->o.reduction))
/* The sum over labels y and other classes i of max(0, 1 - input[y] + input[i]), divided by the
 * number of classes. */
TN_MODULE(multilabel_margin_loss, "MultiLabelMarginLoss(Reduction reduction=mean)",
          TN_DOC(.shapes = "input (N, C) or (C), target like it int64 -> () or (N)",
                 .example = "tn_nn_multilabel_margin_loss()"),
          .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = multilabel_margin_loss_forward, .sample = ": (4,5) (4,5):i64<5")

LOSS_FORWARD(multilabel_soft_margin_loss,
             tnp_multilabel_soft_margin_loss(a->input, a->target, s->weight, s->o.reduction))
/* The mean over classes of weight (target log(1 + e^-input) + (1 - target) log(1 + e^input)). */
TN_MODULE(multilabel_soft_margin_loss,
          "MultiLabelSoftMarginLoss(Tensor? weight=None, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*, C) -> () or (*)",
                 .example = "tn_nn_multilabel_soft_margin_loss()"),
          .parts = "buffer weight = weight", .call = "(Tensor input, Tensor target) -> Tensor",
          .forward = multilabel_soft_margin_loss_forward, .sample = ": (2,3) (2,3)")

/* --- likelihoods ------------------------------------------------------------------------------ */

LOSS_FORWARD(poisson_nll_loss, tnp_poisson_nll_loss(a->log_input, a->target, s->o.log_input,
                                                    s->o.full, s->o.eps, s->o.reduction))
/* exp(x) - target x, or with log_input False x - target log(x + eps), where x is forward's input.
 */
TN_MODULE(poisson_nll_loss,
          "PoissonNLLLoss(bool log_input=True, bool full=False, float eps=1e-08, Reduction "
          "reduction=mean)",
          TN_DOC(.shapes = "log_input, target (*) -> () or (*)",
                 .example = "tn_nn_poisson_nll_loss(.full = true)"),
          .call = "(Tensor log_input, Tensor target) -> Tensor",
          .forward = poisson_nll_loss_forward, .sample = ": (2,3) (2,3) | False True: (4) (4)")

LOSS_FORWARD(gaussian_nll_loss, tnp_gaussian_nll_loss(a->input, a->target, a->var, s->o.full,
                                                      s->o.eps, s->o.reduction))
/* (log var + (input - target)^2 / var) / 2, where var counts as at least eps. */
TN_MODULE(gaussian_nll_loss,
          "GaussianNLLLoss(*, bool full=False, float eps=1e-06, Reduction reduction=mean)",
          TN_DOC(.shapes = "input, target (*), var (*) or with less of it -> () or (*)",
                 .example = "tn_nn_gaussian_nll_loss(.full = true)"),
          .call = "(Tensor input, Tensor target, Tensor var) -> Tensor",
          .forward = gaussian_nll_loss_forward,
          .sample = ": (2,3) (2,3) (2,3) | full=True: (4) (4) (1)")

/* --- sequences -------------------------------------------------------------------------------- */

LOSS_FORWARD(ctc_loss,
             tnp_ctc_loss_tensor(a->log_probs, a->targets, a->input_lengths, a->target_lengths,
                                 s->o.blank, s->o.reduction, s->o.zero_infinity))
/* -log of the probability of all sequences that become targets when repeated labels are taken once
 * and then blanks left out. */
TN_MODULE(ctc_loss, "CTCLoss(int blank=0, Reduction reduction=mean, bool zero_infinity=False)",
          TN_DOC(.shapes = "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one "
                           "dimension, lengths (N) -> () or (N)",
                 .example = "tn_nn_ctc_loss(.zero_infinity = true)"),
          .call = "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths) "
                  "-> Tensor",
          .forward = ctc_loss_forward,
          .sample = "2: (5,3) (1,2):i64<2 (1):i64<4 (1):i64<3 | 3: (5,2,4) (2,2):i64<3 (2):i64<3 "
                    "(2):i64<3")

#undef LOSS_FORWARD
