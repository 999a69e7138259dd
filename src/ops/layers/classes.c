/* classes.c - losses of scores for classes: one label a sample, or several. */
#include "loss.h"
#include "../../cpu/lanes.h"
#include "../../cpu/matrix.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Scores x of classes: (N, C), with N 0 at most, (C) or (). */
static bool classes_scores(tn_frame *f, const tn_tensor *x) {
    char size[128];
    if (!tni_is_float(x->dtype) || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(x->dtype)->text);
    if (x->ndim <= 2 && (!x->ndim || x->size[x->ndim - 1])) return true;
    return tn_fail(f, TN_INVALID,
                   "input has shape %s, expected (N, C) or (C), and at least a class",
                   tni_shape_text(size, sizeof size, x->ndim, x->size));
}
static int64_t classes_of(const tn_tensor *x) { return x->ndim ? x->size[x->ndim - 1] : 1; }
static int64_t classes_samples(const tn_tensor *x) { return x->ndim == 2 ? x->size[0] : 1; }
static bool classes_labels(tn_frame *f, const tn_tensor *target) {
    return target->dtype == TN_I64 ||
           tn_fail(f, TN_TYPE, "target is %s, expected int64", tni_dtype(target->dtype)->text);
}
/* --- one label -------------------------------------------------------------------------------- */

static bool multi_margin_fits(tn_frame *f, const tn_tensor *x, const tn_tensor *target,
                              const tn_tensor *weight) {
    char size[128];
    if (!classes_scores(f, x) || !classes_labels(f, target)) return false;
    if (target->numel != classes_samples(x) || target->ndim > 1 ||
        (x->ndim == 2 && target->ndim != 1))
        return tn_fail(f, TN_INVALID,
                       "target has shape %s, expected (%lld), a label for each sample",
                       tni_shape_text(size, sizeof size, target->ndim, target->size),
                       (long long)classes_samples(x));
    if (weight && (weight->ndim != 1 || weight->size[0] != classes_of(x)))
        return tn_fail(f, TN_INVALID, "weight should have shape (%lld), one number per class",
                       (long long)classes_of(x));
    if (weight && weight->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "weight is %s, expected input's dtype, %s",
                       tni_dtype(weight->dtype)->text, tni_dtype(x->dtype)->text);
    return true;
}
static bool multi_margin_loss_compose(tn_frame *f) {
    TN_ARGS(multi_margin_loss, a, f);
    if (!multi_margin_fits(f, a->input, a->target, a->weight)) return false;
    if (a->p != 1 && a->p != 2) return tn_fail(f, TN_INVALID, "p is %g, expected 1 or 2", a->p);
    const int64_t n = classes_samples(a->input), classes = classes_of(a->input), one = 1;
    const int64_t table[2] = {n, classes}, column[2] = {n, 1};
    tn_tensor *scores = tnp_reshape(a->input, tni_ints(table, 2)),
              *labels = tnp_reshape(a->target, tni_ints(column, 2)), *loss, *weight;
    /* margin - the label's score + the other's, where that is positive and not the label's own. */
    loss = tnp_rsub_scalar(tnp_gather(scores, 1, labels, false), tn_float(a->margin), 1);
    loss = tnp_add(loss, scores, 1);
    loss = tnp_where_scalar(tnp_gt_scalar(loss, tn_int(0)), loss, tn_int(0));
    if (a->p == 2) loss = tnp_square(loss);
    if (a->weight) {
        weight = tnp_index_select(a->weight, 0, tnp_reshape(labels, tni_ints(&n, 1)));
        loss = tnp_mul(loss, tnp_reshape(weight, tni_ints(column, 2)));
    }
    loss = tnp_scatter_value(loss, 1, labels, tn_int(0));
    loss = tnp_sum(loss, tni_ints(&one, 1), false, TN_NO_DTYPE);
    loss = tnp_reshape(tnp_div_scalar(loss, tn_int(classes)), tni_sizes(a->target));
    return tni_loss_result(f, loss, a->reduction);
}
/* sum over i other than the label y of weight[y] max(0, margin - input[y] + input[i])^p, divided by
 * the number of classes; p is 1 or 2 (Crammer and Singer 2001, On the algorithmic implementation of
 * multiclass kernel-based vector machines). */
TN_OPERATOR(
    multi_margin_loss,
    "multi_margin_loss(Tensor input, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
    "weight=None, Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes =
               "input (N, C) or (C) floating, target (N) or () int64, weight (C) -> () or (N)",
           .example = "tn_multi_margin_loss(x, t)"),
    .autocast = TN_WIDE, .compose = multi_margin_loss_compose, .domain = "weight:0.5..2",
    .sample = "(4,5) (4):i64<5 | (4,5) (4):i64<5 2 0.5 (5) sum | (4,5) (4):i64<5 1 2 (5) none | "
              "(5) ():i64<5 | (0,3) (0):i64<3 | (40,3) (40):i64<3 2")

/* --- several labels --------------------------------------------------------------------------- */

static bool multilabel_margin_loss_plain_check(tn_frame *f) {
    TN_ARGS(multilabel_margin_loss_plain, a, f);
    const tn_tensor *x = a->input;
    char size[2][128];
    if (!classes_scores(f, x) || !classes_labels(f, a->target)) return false;
    if (!tni_same_shape(x, a->target))
        return tn_fail(f, TN_INVALID, "target has shape %s, expected that of input, %s",
                       tni_shape_text(size[0], sizeof size[0], a->target->ndim, a->target->size),
                       tni_shape_text(size[1], sizeof size[1], x->ndim, x->size));
    return tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim == 2, x->size) &&
           (!f->recording || tn_announce(f, 1, TN_I64, x->ndim, x->size)) &&
           tn_scratch_each(f, classes_of(x), sizeof(double) + sizeof(int64_t) + 1);
}
/* Row i of t, which may have any strides, in the compute type. */
static void classes_row(void *to, int compute, const tn_tensor *t, int64_t i) {
    const int64_t bytes = tni_dtype_size(t), step = t->ndim ? t->stride[t->ndim - 1] : 1,
                  at = t->ndim == 2 ? i * t->stride[0] : 0;
    tni_lanes_load(to, compute, tni_bytes_at(t) + at * bytes, step * bytes, t->dtype,
                   classes_of(t));
}
static bool multilabel_margin_loss_plain_look(tn_frame *f) {
    TN_ARGS(multilabel_margin_loss_plain, a, f);
    const int64_t n = classes_of(a->target),
                  step = a->target->ndim ? a->target->stride[a->target->ndim - 1] : 0;
    for (int64_t i = 0; i < a->target->numel; i++) {
        const int64_t row = a->target->ndim == 2 ? i / n * a->target->stride[0] : 0,
                      t = ((const int64_t *)(const void *)tni_bytes_at(
                          a->target))[row + i % n * step];
        if (t < -1 || t >= n)
            return tn_fail(f, TN_INVALID, "target %lld is out of range for %lld classes",
                           (long long)t, (long long)n);
    }
    return true;
}
/* The loss of sample i, and how often each score counts in it, negative for its labels. */
static void multilabel_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(multilabel_margin_loss_plain, a, f);
    const int64_t n = classes_of(a->input), bytes = tni_dtype_size(f->out[0]);
    double *x = (double *)scratch, sum = 0;
    int64_t *label = (int64_t *)(void *)(x + n), labels = 0,
            *slope = f->nout > 1 ? (int64_t *)(void *)tni_bytes_at(f->out[1]) + i * n : NULL;
    char *is_label = (char *)(label + n);
    classes_row(x, TN_F64, a->input, i);
    classes_row(label, TN_I64, a->target, i);
    memset(is_label, 0, (size_t)n);
    if (slope) memset(slope, 0, (size_t)n * sizeof *slope);
    /* The labels end at the first -1. */
    for (; labels < n && label[labels] >= 0; labels++) is_label[label[labels]] = 1;
    for (int64_t k = 0; k < labels; k++) {
        const double base = 1 - x[label[k]];
        for (int64_t c = 0; c < n; c++) {
            const double z = base + x[c];
            if (is_label[c] || !(z > 0)) continue;
            sum += z;
            if (!slope) continue;
            slope[c]++;
            slope[label[k]]--;
        }
    }
    sum /= (double)n;
    tni_lanes_save(tni_bytes_at(f->out[0]) + i * bytes, bytes, f->out[0]->dtype, &sum, TN_F64, 1);
}
static void multilabel_margin_loss_plain_run(tn_frame *f) {
    const double n = (double)classes_of(f->in[0]);
    tn_each(f, classes_samples(f->in[0]), tni_effort(n * (n < 8 ? n : 8)), multilabel_task);
}
static void multilabel_margin_loss_plain_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *slope = g->out[1];
    const int64_t classes = classes_of(g->in[0]);
    if (g->in[0]->ndim) d = tnp_unsqueeze(d, -1);
    tn_give(g, 0,
            tnp_mul(tnp_div_scalar(d, tn_int(classes)),
                    tnp_to_dtype(slope, (tn_dtype)g->incoming[0]->dtype, false, false)));
}
/* multilabel_margin_loss of each sample. */
TN_OPERATOR(multilabel_margin_loss_plain,
            "multilabel_margin_loss_plain(Tensor input, Tensor target) -> Tensor",
            TN_DOC(.shapes = "input (N, C) or (C) floating, target like it int64 -> (N) or ()",
                   .example = "tn_multilabel_margin_loss_plain(x, t)"),
            .saves = "slope", .needs = "slope", .check = multilabel_margin_loss_plain_check,
            .look = multilabel_margin_loss_plain_look, .run = multilabel_margin_loss_plain_run,
            .grad = multilabel_margin_loss_plain_grad,
            .sample = "(4,5) (4,5):i64<5 | (3) (3):i64<3 | () ():i64<1 | (0,3):f64 (0,3):i64<3 | "
                      "(3,40) (3,40):i64<2")

static bool multilabel_margin_loss_compose(tn_frame *f) {
    TN_ARGS(multilabel_margin_loss, a, f);
    return tni_loss_result(f, tnp_multilabel_margin_loss_plain(a->input, a->target), a->reduction);
}
/* The sum over labels y of a sample and classes i that are none of its labels of max(0, 1 -
 * input[y] + input[i]), divided by the number of classes. A row of target has the labels of its
 * sample up to the first -1. */
TN_OPERATOR(multilabel_margin_loss,
            "multilabel_margin_loss(Tensor input, Tensor target, Reduction reduction=mean) -> "
            "Tensor",
            TN_DOC(.shapes = "input (N, C) or (C) floating, target like it int64 -> () or (N)",
                   .example = "tn_multilabel_margin_loss(x, t)"),
            .autocast = TN_WIDE, .compose = multilabel_margin_loss_compose,
            .sample = "(4,5) (4,5):i64<5 | (4,5) (4,5):i64<3 sum | (3,4) (3,4):i64<2 none | "
                      "(0,3) (0,3):i64<3 | (3) (3):i64<2")

static bool multilabel_soft_margin_loss_compose(tn_frame *f) {
    TN_ARGS(multilabel_soft_margin_loss, a, f);
    tn_tensor *x = a->input, *t = a->target, *loss;
    const int64_t last = -1;
    if (!tni_is_float(x->dtype))
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(x->dtype)->text);
    if (!x->ndim) return tn_fail(f, TN_INDEX, "input must have a dimension of classes");
    /* log(1 + e^-x) is -log sigmoid(x). */
    loss = tnp_add(tnp_mul(t, tnp_softplus(tnp_neg(x), 1, 40)),
                   tnp_mul(tnp_rsub_scalar(t, tn_int(1), 1), tnp_softplus(x, 1, 40)), 1);
    if (a->weight) loss = tnp_mul(loss, a->weight);
    loss = tnp_sum(loss, tni_ints(&last, 1), false, TN_NO_DTYPE);
    loss = tnp_div_scalar(loss, tn_int(x->size[x->ndim - 1]));
    return tni_loss_result(f, loss, a->reduction);
}
/* The mean over classes of weight (target log(1 + e^-input) + (1 - target) log(1 + e^input)), for
 * each sample. */
TN_OPERATOR(
    multilabel_soft_margin_loss,
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, Reduction "
    "reduction=mean) -> Tensor",
    TN_DOC(.shapes = "input, target (*, C), weight (C) -> () or (*)",
           .example = "tn_multilabel_soft_margin_loss(x, t)"),
    .compose = multilabel_soft_margin_loss_compose, .domain = "target:0..1 weight:0.5..2",
    .sample = "(2,3) (2,3) | (2,3) (2,3) (3) sum | (4,5) (4,5) None none | (5) (5) | "
              "(0,3) (0,3) reduction=sum | (3,40) (3,40)")
