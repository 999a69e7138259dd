/* likelihood.c - negative logarithms of likelihoods: of counts, and of normal distributions. */
#include "loss.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Stirling's approximation of log(t!), 0 where t <= 1. */
static tn_tensor *poisson_stirling(tn_tensor *t) {
    tn_tensor *skip = tnp_le_scalar(t, tn_int(1)), *sum;
    /* What is skipped counts as 1: log(0) would make its gradient NaN. */
    t = tnp_masked_fill_scalar(t, skip, tn_int(1));
    sum = tnp_sub(tnp_mul(t, tnp_log(t)), t, 1);
    sum = tnp_add(sum, tnp_log(tnp_mul_scalar(t, tn_float(6.283185307179586))), 0.5);
    return tnp_masked_fill_scalar(sum, skip, tn_int(0));
}
static bool poisson_nll_loss_compose(tn_frame *f) {
    TN_ARGS(poisson_nll_loss, a, f);
    tn_tensor *x = a->input, *t = a->target, *loss;
    if (a->log_input)
        loss = tnp_sub(tnp_exp(x), tnp_mul(t, x), 1);
    else
        loss = tnp_sub(x, tnp_mul(t, tnp_log(tnp_add_scalar(x, tn_float(a->eps), 1))), 1);
    if (a->full && loss) /* in loss's dtype, as in torch, which adds in place */
        loss = tnp_to_dtype(tnp_add(loss, poisson_stirling(t), 1), (tn_dtype)loss->dtype, false,
                            false);
    return tni_loss_result(f, loss, a->reduction);
}
/* The negative log-likelihood of the counts target: exp(input) - target input where input holds
 * logarithms of expectations, else input - target log(input + eps). full adds Stirling's
 * approximation of log(target!), target log target - target + log(2 pi target) / 2, for targets
 * above 1. */
TN_OPERATOR(
    poisson_nll_loss,
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, float "
    "eps=1e-08, Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes = "input, target (*), broadcast together -> () or (*)",
           .example = "tn_poisson_nll_loss(x, t)",
           .differs = "grad of tensor 1 at ties: torch's is NaN where target is 0"),
    .autocast = TN_WIDE, .compose = poisson_nll_loss_compose,
    .domain = "input:0.1..2 target:1.5..3",
    .sample = "(2,3) (2,3) | (2,3) (2,3) False True 1e-8 sum | (5) (5) True True 1e-8 none | (2,3) "
              "(3) False False 0.5 none | () () | (0) (0) reduction=sum | (40) (40) True True")

static bool gaussian_nll_loss_compose(tn_frame *f) {
    TN_ARGS(gaussian_nll_loss, a, f);
    const tn_tensor *x = a->input;
    tn_tensor *var = a->var, *loss;
    char sizes[2][128];
    bool lacks = var->ndim == x->ndim - 1, fits = var->ndim == x->ndim;
    int64_t other = 0;
    /* As torch has it: var may lack the last dimension, or differ where the sum of its sizes that
     * differ is 1. */
    for (int d = 0; d < var->ndim && (lacks || fits); d++) {
        lacks = lacks && var->size[d] == x->size[d];
        if (fits && var->size[d] != x->size[d]) other = var->size[d] > 1 ? 2 : other + var->size[d];
        fits = fits && other < 2;
    }
    if (!lacks && !(fits && (other == 1 || tni_same_shape(var, x))))
        return tn_fail(f, TN_INVALID,
                       "var has shape %s, but input %s: expected the same shape, without the last "
                       "dimension, or with 1 in one dimension",
                       tni_shape_text(sizes[0], sizeof sizes[0], var->ndim, var->size),
                       tni_shape_text(sizes[1], sizeof sizes[1], x->ndim, x->size));
    if (!tni_is_float(var->dtype))
        return tn_fail(f, TN_TYPE, "var is %s, expected a floating dtype",
                       tni_dtype(var->dtype)->text);
    var = tnp_masked_fill_scalar(var, tnp_lt_scalar(var, tn_int(0)), tn_float(NAN));
    var = tni_at_least(lacks ? tnp_unsqueeze(var, -1) : var, a->eps);
    loss = tnp_div(tnp_square(tnp_sub(a->input, a->target, 1)), var);
    loss = tnp_mul_scalar(tnp_add(tnp_log(var), loss, 1), tn_float(0.5));
    if (a->full) loss = tnp_add_scalar(loss, tn_float(0.9189385332046727), 1);
    return tni_loss_result(f, loss, a->reduction);
}
/* The negative log-likelihood of target under normal distributions of mean input and variance var,
 * (log var + (input - target)^2 / var) / 2, to which full adds log(2 pi) / 2 (Nix and Weigend 1994,
 * Estimating the mean and variance of the target probability distribution). var counts as at least
 * eps; where it is negative, the loss is NaN. */
TN_OPERATOR(
    gaussian_nll_loss,
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, "
    "Reduction reduction=mean) -> Tensor",
    TN_DOC(.shapes = "input, target (*), var (*), without the last dimension or with 1 in one "
                     "dimension -> () or (*)",
           .example = "tn_gaussian_nll_loss(x, t, v)"),
    .compose = gaussian_nll_loss_compose, .domain = "var:0.5..2",
    .sample = "(2,3) (2,3) (2,3) | (2,3) (2,3) (2) True 0.1 sum | (5) (5) (5) reduction=none | "
              "(2,3) (2,3) (1,3) False 1e-6 none | () () () | (0,2) (0,2) (0,2) reduction=sum | "
              "(40) (40) (1) True")
