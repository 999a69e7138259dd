/* margin.c - losses of margins and pairs, composed of pointwise rows. */
#include "loss.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* max(0, x) */
static tn_tensor *margin_hinge(tn_tensor *x) { return tnp_clamp_min_scalar(x, tn_int(0)); }
/* yes where target is not `label`, else 0 */
static tn_tensor *margin_unless(tn_tensor *target, int label, tn_tensor *yes) {
    return tnp_where_scalar_self(tnp_eq_scalar(target, tn_int(label)), tn_int(0), yes);
}
/* yes where target is `label`, else 0 */
static tn_tensor *margin_where(tn_tensor *target, int label, tn_tensor *yes) {
    return tnp_where_scalar(tnp_eq_scalar(target, tn_int(label)), yes, tn_int(0));
}

static bool margin_ranking_loss_compose(tn_frame *f) {
    TN_ARGS(margin_ranking_loss, a, f);
    tn_tensor *loss = tnp_mul(tnp_neg(a->target), tnp_sub(a->input1, a->input2, 1));
    loss = margin_hinge(tnp_add_scalar(loss, tn_float(a->margin), 1));
    return tni_loss_result(f, loss, a->reduction);
}
/* max(0, -target (input1 - input2) + margin), with target 1 if input1 should rank higher, else -1.
 */
TN_OPERATOR(
    margin_ranking_loss,
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
    "Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes = "input1, input2, target (*), broadcast together -> () or (*)",
           .example = "tn_margin_ranking_loss(x, y, t)"),
    .autocast = TN_WIDE, .compose = margin_ranking_loss_compose,
    .sample = "(2,3) (2,3) (2,3) | (2,3) (2,3) (2,3) 0.5 sum | (5) (5) (5) 1 none | "
              "(2,3) (1,3) (2,1) 0.25 none | () () () | (0) (0) (0) reduction=sum | (40) (40) (40)")

static bool hinge_embedding_loss_compose(tn_frame *f) {
    TN_ARGS(hinge_embedding_loss, a, f);
    tn_scalar margin = tn_float(a->margin);
    tn_tensor *beyond;
    /* Beside integers the margin loses its fraction. */
    if (tni_dtype(a->input->dtype)->category == TNI_CAT_INT) {
        if (!(fabs(a->margin) < 9e18))
            return tn_fail(f, TN_INVALID, "margin is %g, beyond what %s holds", a->margin,
                           tni_dtype(a->input->dtype)->text);
        margin = tn_int((int64_t)a->margin);
    }
    beyond = margin_unless(a->target, 1, margin_hinge(tnp_rsub_scalar(a->input, margin, 1)));
    return tni_loss_result(f, tnp_add(beyond, margin_unless(a->target, -1, a->input), 1),
                           a->reduction);
}
/* input where target is 1, max(0, margin - input) where it is -1, the sum of both elsewhere. */
TN_OPERATOR(hinge_embedding_loss,
            "hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, Reduction "
            "reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input, target (*), broadcast together -> () or (*)",
                   .example = "tn_hinge_embedding_loss(x, t)"),
            .autocast = TN_WIDE, .compose = hinge_embedding_loss_compose,
            .sample = "(2,3) (2,3) | (2,3) (2,3) 0.5 sum | (5) (5) 2 none | (2,3) (3) 2.5 none | "
                      "() () | (0) (0) reduction=sum | (40) (40)")

static bool soft_margin_loss_compose(tn_frame *f) {
    TN_ARGS(soft_margin_loss, a, f);
    const tn_tensor *x = a->input;
    const bool complex = tni_is_complex(x->dtype);
    tn_tensor *z;
    if (!complex && (!tni_is_float(x->dtype) || tni_is_complex(a->target->dtype)))
        return tn_fail(f, TN_TYPE,
                       "input is %s and target %s, expected a floating or complex input, and a "
                       "complex target for a complex input alone",
                       tni_dtype(x->dtype)->text, tni_dtype(a->target->dtype)->text);
    z = tnp_mul(tnp_neg(a->input), a->target);
    if (z && !tni_same_shape(z, x))
        return tn_fail(f, TN_INVALID, "target does not broadcast to the shape of input");
    z = tnp_to_dtype(z, (tn_dtype)x->dtype, false, false);
    z = complex ? tnp_log(tnp_add_scalar(tnp_exp(z), tn_int(1), 1)) : tnp_softplus(z, 1, 40);
    return tni_loss_result(f, z, a->reduction);
}
/* log(1 + exp(-target input)), with target 1 or -1. */
TN_OPERATOR(soft_margin_loss,
            "soft_margin_loss(Tensor input, Tensor target, Reduction reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input (*) floating or complex, target broadcast to it -> () or (*)",
                   .example = "tn_soft_margin_loss(x, t)"),
            .autocast = TN_WIDE, .compose = soft_margin_loss_compose,
            .sample = "(2,3) (2,3) | (2,3) (2,3) sum | (5) (5) none | (2,3) (3) none | () () | "
                      "(0) (0) sum | (40) (40)")

/* The sum of the products of x and y along dim. */
static tn_tensor *margin_dot(tn_tensor *x, tn_tensor *y, int64_t dim) {
    return tnp_sum(tnp_mul(x, y), tni_ints(&dim, 1), false, TN_NO_DTYPE);
}
static bool cosine_embedding_loss_compose(tn_frame *f) {
    TN_ARGS(cosine_embedding_loss, a, f);
    tn_tensor *x = a->input1, *y = a->input2, *lengths, *cosine, *loss;
    const int dim = a->target->ndim;
    const tn_scalar tiny = tn_float((double)1e-12f);
    char sizes[2][128];
    if (dim > 1)
        return tn_fail(
            f, TN_INVALID,
            "1D target tensor expected, multi-target not supported: target has %d dimensions", dim);
    if (x->ndim != dim + 1 || y->ndim != dim + 1)
        return tn_fail(f, TN_INVALID,
                       "%dD target tensor expects %dD input tensors, but found inputs with sizes "
                       "%s and %s",
                       dim, dim + 1, tni_shape_text(sizes[0], sizeof sizes[0], x->ndim, x->size),
                       tni_shape_text(sizes[1], sizeof sizes[1], y->ndim, y->size));
    /* A tiny number, in torch a float32, keeps the lengths from 0. */
    lengths = tnp_mul(tnp_add_scalar(margin_dot(x, x, dim), tiny, 1),
                      tnp_add_scalar(margin_dot(y, y, dim), tiny, 1));
    cosine = tnp_div(margin_dot(x, y, dim), tnp_sqrt(lengths));
    loss = margin_hinge(tnp_sub_scalar(cosine, tn_float(a->margin), 1));
    loss = tnp_add(margin_where(a->target, 1, tnp_rsub_scalar(cosine, tn_int(1), 1)),
                   margin_where(a->target, -1, loss), 1);
    return tni_loss_result(f, loss, a->reduction);
}
/* 1 - c where target is 1, max(0, c - margin) where it is -1, 0 elsewhere, where c is the cosine of
 * the angle between the vectors input1 and input2. */
TN_OPERATOR(cosine_embedding_loss,
            "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
            "Reduction reduction=mean) -> Tensor",
            TN_DOC(.shapes = "input1, input2 (N, D), target (N), or (D) and () -> () or (N)",
                   .example = "tn_cosine_embedding_loss(x, y, t)"),
            .autocast = TN_WIDE, .compose = cosine_embedding_loss_compose,
            .sample = "(2,3) (2,3) (2):i64<2 | (4,3) (4,3) (4):i64<3 0.5 sum | "
                      "(5,2) (5,2) (5) 0.25 none | (3) (3) () | (0,3) (0,3) (0) reduction=sum | "
                      "(3,40) (3,40) (3):i64<2")

static bool triplet_margin_loss_compose(tn_frame *f) {
    TN_ARGS(triplet_margin_loss, a, f);
    tn_tensor *close, *away;
    if (a->margin <= 0)
        return tn_fail(f, TN_INVALID, "margin is %g, expected a positive number", a->margin);
    if (a->anchor->ndim != a->positive->ndim || a->anchor->ndim != a->negative->ndim)
        return tn_fail(f, TN_INVALID,
                       "anchor, positive and negative have %d, %d and %d dimensions, expected the "
                       "same number",
                       a->anchor->ndim, a->positive->ndim, a->negative->ndim);
    close = tnp_pairwise_distance(a->anchor, a->positive, a->p, a->eps, false);
    away = tnp_pairwise_distance(a->anchor, a->negative, a->p, a->eps, false);
    /* Swapped, the negative counts as near as it is to either of the others. */
    if (a->swap)
        away =
            tnp_minimum(away, tnp_pairwise_distance(a->positive, a->negative, a->p, a->eps, false));
    close = tnp_sub(tnp_add_scalar(close, tn_float(a->margin), 1), away, 1);
    return tni_loss_result(f, margin_hinge(close), a->reduction);
}
/* max(0, margin + d(anchor, positive) - d(anchor, negative)), with d the distance of
 * pairwise_distance; with swap, the smaller of d(anchor, negative) and d(positive, negative)
 * (Balntas et al. 2016, Learning local feature descriptors with triplets). */
TN_OPERATOR(
    triplet_margin_loss,
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float "
    "p=2.0, float eps=1e-06, bool swap=False, Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes = "anchor, positive, negative (*, D), broadcast together -> () or (*)",
           .example = "tn_triplet_margin_loss(x, y, z)"),
    .autocast = TN_WIDE, .compose = triplet_margin_loss_compose,
    .sample = "(4,3) (4,3) (4,3) | (4,3) (4,3) (4,3) 3 1 0.25 True sum | "
              "(5,2) (5,2) (5,2) 0.5 3 0.1 False none | (3) (3) (3) | "
              "(0,3) (0,3) (0,3) reduction=sum | (3,40) (3,1) (1,40)")
