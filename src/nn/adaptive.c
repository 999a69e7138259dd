/* adaptive.c - AdaptiveLogSoftmaxWithLoss: a softmax over many classes, of which most are rare. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/indexing.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

#include <math.h>

/* The classes lie in bands: those below the first cutoff are the head's own, and cluster i has
 * those from cutoff i up to the next one. */
typedef struct adaptive_bands {
    tn_ints cutoffs;
    int64_t classes;
} adaptive_bands;
static int64_t adaptive_end(const adaptive_bands *b, int64_t i) {
    return i + 1 < b->cutoffs.n ? b->cutoffs.at[i + 1] : b->classes;
}

static bool adaptive_options(const tn_nn_adaptive_log_softmax_with_loss_self *s) {
    const tn_ints c = s->o.cutoffs;
    int64_t before = 0;
    if (c.n < 1)
        return tni_nn_error(TN_INVALID, "cutoffs should be a sequence of length larger than 0");
    if (!(s->o.div_value > 0))
        return tni_nn_error(TN_INVALID, "div_value must be positive, got %g", s->o.div_value);
    for (int64_t i = 0; i < c.n; before = c.at[i++])
        if (c.at[i] <= before || c.at[i] >= s->o.n_classes)
            return tni_nn_error(TN_INVALID,
                                "cutoffs should be a sequence of unique, positive integers sorted "
                                "in an increasing order, where each value is between 1 and "
                                "n_classes-1");
    return true;
}
/* The two Linear of cluster i: to in_features / div_value^(i + 1), then to its classes. */
static tn_module *adaptive_cluster(const tn_nn_adaptive_log_softmax_with_loss_self *s, int64_t i) {
    const adaptive_bands b = {s->o.cutoffs, s->o.n_classes};
    const int64_t classes = adaptive_end(&b, i) - b.cutoffs.at[i];
    double width = (double)s->o.in_features;
    tn_module *child[2];
    double power = 1;
    for (int64_t k = 0; k <= i; k++) power *= s->o.div_value;
    /* Python's //: the floor of the exact quotient. */
    width = floor((width - fmod(width, power)) / power + 0.5);
    if (!(width < 9e18)) {
        tni_nn_error(TN_INVALID, "div_value is too small");
        return NULL;
    }
    child[0] = tnp_nn_linear(s->o.in_features, (int64_t)width, false, s->o.dtype, s->o.device);
    child[1] = tnp_nn_linear((int64_t)width, classes, false, s->o.dtype, s->o.device);
    return tnp_nn_sequential(tn_modules_of(child, 2), s->o.dtype, s->o.device);
}
static bool adaptive_log_softmax_with_loss_build(tn_module *m) {
    TN_SELF(adaptive_log_softmax_with_loss, s, m);
    tn_module *tail;
    if (!adaptive_options(s)) return false;
    if (!tn_part_child_at(NULL, 0, m, "head", NULL,
                          tnp_nn_linear(s->o.in_features, s->o.cutoffs.at[0] + s->o.cutoffs.n,
                                        s->o.head_bias, s->o.dtype, s->o.device)))
        return false;
    tail = tni_module_list();
    if (!tn_part_child_at(NULL, 0, m, "tail", NULL, tail)) return false;
    for (int64_t i = 0; i < s->o.cutoffs.n; i++)
        if (!tn_module_append_at(NULL, 0, tail, adaptive_cluster(s, i))) return false;
    return true;
}

/* t along dim 0 at `rows`. */
static tn_tensor *adaptive_rows(tn_tensor *t, tn_tensor *rows) {
    return t && rows ? tnp_index_select(t, 0, rows) : NULL;
}
/* The log-probability of column `at` (n) of each row of scores (n, classes). */
static tn_tensor *adaptive_pick(tn_tensor *scores, tn_tensor *at) {
    tn_tensor *all = scores ? tnp_log_softmax(scores, 1, TN_NO_DTYPE) : NULL;
    tn_tensor *column = at ? tnp_unsqueeze(at, 1) : NULL;
    return all && column ? tnp_squeeze_dim(tnp_gather(all, 1, column, false), 1) : NULL;
}
/* y (N), the head's part, with that of cluster i in the samples that are in it. Sets *column to the
 * cluster's number in the head there. */
static tn_tensor *adaptive_add(tn_mframe *f, const adaptive_bands *b, tn_module *cluster, int64_t i,
                               tn_tensor *x, tn_tensor *target, tn_tensor **column, tn_tensor *y) {
    const int64_t low = b->cutoffs.at[i], high = adaptive_end(b, i);
    tn_tensor *in, *rows, *part;
    in = tnp_logical_and(tnp_ge_scalar(target, tn_int(low)), tnp_lt_scalar(target, tn_int(high)));
    rows = in ? tnp_squeeze_dim(tnp_nonzero(in), 1) : NULL;
    if (!rows) return NULL;
    *column = tnp_masked_fill_scalar(*column, in, tn_int(b->cutoffs.at[0] + i));
    if (!*column) return NULL;
    if (!tn_size(rows, 0)) return y;
    part = adaptive_rows(x, rows);
    part = part ? tni_forward_child(f, cluster, part) : NULL;
    part = adaptive_pick(part, tnp_sub_scalar(adaptive_rows(target, rows), tn_int(low), 1));
    return part ? tnp_index_add(y, 0, rows, part, 1) : NULL;
}
static bool adaptive_fits(const tn_tensor *x, const tn_tensor *target) {
    if (tn_ndim(target) > 1)
        return tni_nn_error(TN_INVALID,
                            "0D or 1D target tensor expected, multi-target not supported");
    if (tn_ndim(x) != tn_ndim(target) + 1)
        return tni_nn_error(TN_INVALID, "a target of %d dimensions expects an input of %d",
                            (int)tn_ndim(target), (int)tn_ndim(target) + 1);
    if (tn_ndim(target) == 1 && tn_size(x, 0) != tn_size(target, 0))
        return tni_nn_error(TN_INVALID,
                            "Input and target should have the same size in the batch dimension.");
    return true;
}
static bool adaptive_log_softmax_with_loss_forward(tn_mframe *f) {
    TN_FORWARD(adaptive_log_softmax_with_loss, s, a, f);
    const adaptive_bands b = {s->o.cutoffs, s->o.n_classes};
    tn_module *tail = tn_part_child_of(f->m, 1);
    tn_tensor *x = a->input_, *target = a->target_, *column, *y;
    bool one;
    if (!adaptive_fits(x, target)) return false;
    one = tn_ndim(target) == 0;
    if (one) {
        x = tnp_unsqueeze(x, 0);
        target = tnp_unsqueeze(target, 0);
    }
    if (!x || !target) return false;
    column = target;
    y = tnp_zeros(tn_shape(target), tn_dtype_of(x), tn_device_of(x));
    for (int64_t i = 0; y && i < b.cutoffs.n; i++)
        y = adaptive_add(f, &b, tn_part_child_of(tail, (int)i), i, x, target, &column, y);
    if (!y) return false;
    /* A class that is none is no column of the head, and is refused there. */
    y = tnp_add(y, adaptive_pick(tni_forward_child(f, tn_part_child_of(f->m, 0), x), column), 1);
    if (!y) return false;
    f->out[1] = tnp_mean(tnp_neg(y), tn_ints_of(NULL, -1), false, TN_NO_DTYPE);
    f->out[0] = one ? tnp_squeeze_dim(y, 0) : y;
    return f->out[0] && f->out[1];
}
/* The log-probability of each sample's class, and the mean of its negative. Classes below the first
 * cutoff are frequent; those between two cutoffs are a cluster, which counts as one class of the
 * head and has a smaller model of its own, of in_features / div_value^(i + 1) features. Grave et
 * al. 2017, Efficient softmax approximation for GPUs. */
TN_MODULE(adaptive_log_softmax_with_loss,
          "AdaptiveLogSoftmaxWithLoss(int in_features, int n_classes, int[] cutoffs, float "
          "div_value=4.0, bool head_bias=False)",
          TN_DOC(.shapes = "input_ (N, in_features), target_ (N) of int64, or both without N -> "
                           "output (N), loss ()",
                 .example = "tn_nn_adaptive_log_softmax_with_loss(64, 1000, TN_DIMS(100, 500))"),
          .call = "(Tensor input_, Tensor target_) -> (Tensor output, Tensor loss)",
          .takes = "input_(*, in_features)", .build = adaptive_log_softmax_with_loss_build,
          .forward = adaptive_log_softmax_with_loss_forward,
          .sample = "16 10 [3,6]: (5,16) (5):i64<10 | 8 9 [2] 2.0 True: (8) ():i64<9")
