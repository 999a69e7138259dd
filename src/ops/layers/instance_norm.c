/* instance_norm.c - batch_norm of each sample by itself: a composition. */
#include "../../call/rowform.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../api/ops/creation.h"

/* t n times behind itself; NULL where t is absent. */
static tn_tensor *instance_each(tn_tensor *t, int64_t n) {
    return t ? tnp_repeat(t, tni_ints(&n, 1)) : NULL;
}
/* The mean over samples of what batch_norm made of the statistics `each`. */
static tn_tensor *instance_mean(tn_tensor *each, int64_t n, int64_t c) {
    const int64_t size[2] = {n, c}, first[1] = {0};
    return tnp_mean(tnp_reshape(each, tni_ints(size, 2)), tni_ints(first, 1), false, TN_NO_DTYPE);
}
static bool instance_fits(tn_frame *f) {
    TN_ARGS(instance_norm, a, f);
    const tn_tensor *x = a->input;
    char has[160];
    bool one = true;
    for (int i = 2; i < x->ndim; i++) one = one && x->size[i] == 1;
    if (a->use_input_stats && one)
        return tn_fail(f, TN_INVALID,
                       "Expected more than 1 spatial element when training, got input %s",
                       tni_shape_text(has, sizeof has, x->ndim, x->size));
    if (x->ndim < 2)
        return tn_fail(f, TN_INVALID, "input must have 2 or more dimensions (N, C, *), got %d",
                       x->ndim);
    if (!a->running_mean != !a->running_var)
        return tn_fail(f, TN_INVALID,
                       "running_mean and running_var must either both be None or neither be None");
    return a->running_mean || a->use_input_stats ||
           tn_fail(f, TN_INVALID,
                   "Expected running_mean and running_var to be defined when use_input_stats is "
                   "false");
}
static bool instance_norm_compose(tn_frame *f) {
    TN_ARGS(instance_norm, a, f);
    tn_tensor *x = a->input, *mean, *var, *y;
    int64_t size[TN_MAX_DIMS];
    if (!instance_fits(f)) return false;
    /* Statistics that are given are those of a channel in every sample: batch_norm's. */
    if (!a->use_input_stats) {
        f->out[0] = tnp_batch_norm(x, a->running_mean, a->running_var, a->weight, a->bias, false,
                                   a->momentum, a->eps);
        return f->out[0] != NULL;
    }
    /* One sample whose channels are those of all samples. */
    const int64_t n = x->size[0], c = x->size[1];
    memcpy(size, x->size, sizeof(int64_t) * (size_t)x->ndim);
    size[0] = 1;
    if (!tni_mul(n, c, &size[1])) return tn_fail(f, TN_MEMORY, "the input is too large");
    mean = instance_each(a->running_mean, n);
    var = instance_each(a->running_var, n);
    y = tnp_batch_norm(tnp_reshape(tnp_contiguous(x), tni_ints(size, x->ndim)), mean, var,
                       instance_each(a->weight, n), instance_each(a->bias, n), true, a->momentum,
                       a->eps);
    f->out[0] = tnp_reshape(y, tni_sizes(x));
    if (!a->running_mean) return f->out[0] != NULL;
    /* Both are computed before one is written, and either can be. */
    if (tni_overlaps_itself(a->running_mean) || tni_overlaps_itself(a->running_var) ||
        tni_overlap(a->running_mean, a->running_var))
        return tn_fail(f, TN_INVALID,
                       "running_mean or running_var overlaps itself or the other; clone it first");
    mean = instance_mean(mean, n, c);
    var = instance_mean(var, n, c);
    return f->out[0] && mean && var && tnp_copy_(a->running_mean, mean) &&
           tnp_copy_(a->running_var, var);
}
/* batch_norm of each sample by itself: (x - mean) / sqrt(var + eps) * weight + bias, with the mean
 * and variance of one channel in one sample. running_mean and running_var move by `momentum`
 * towards the means of these over all samples. Without use_input_stats they stand in their place.
 * Dmitry Ulyanov et al., Instance normalization: the missing ingredient for fast stylization,
 * 2016. */
TN_OPERATOR(
    instance_norm,
    "instance_norm(Tensor input, Tensor(a!)? running_mean=None, Tensor(b!)? running_var=None, "
    "Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float "
    "eps=1e-05) -> Tensor",
    TN_DOC(.shapes = "input (N, C, *), the others (C) -> as input",
           .example = "tn_instance_norm(x)",
           .differs = "call [eps=0.0]: eps must be positive, as that of batch_norm",
           .python = "nn.functional.instance_norm"),
    .compose = instance_norm_compose, .domain = "running_var:0.5..2",
    .sample = "(4,3,5) (3) (3) (3) (3) | (2,3,4,5) None None (3) None | (2,3,4) (3) (3) (3) (3) "
              "False | (2,3,4,2) | (1,3,2,2,3) (3) (3) None None True 0.5 0.001",
    .node = "ViewBackward0")
