/* clip.c - clipping of gradients by their common norm, with torch's arithmetic. */
#include "optim.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/reduction.h"

#include <math.h>

/* The norm of all gradients. NULL with *n = 0: there are none. */
static tn_tensor *clip_gradients(tn_tensors params, double order, int64_t *n) {
    tn_tensor **grads = (tn_tensor **)tni_alloc_each(params.n, sizeof *grads), *total = NULL;
    *n = 0;
    for (int64_t i = 0; grads && i < params.n; i++) {
        tn_tensor *grad = tn_grad_of(params.at[i]);
        if (grad) grads[(*n)++] = grad;
    }
    if (*n) total = tnp_total_norm(tn_tensors_of(grads, *n), order);
    if (grads) tn_alloc_free(grads, (size_t)params.n * sizeof *grads);
    return total;
}

/* min(max_norm / (norm + 1e-6), 1) as torch rounds it: a reciprocal, then a product. */
static double clip_factor(const tn_tensor *total, double max_norm) {
    double norm = tni_nn_item(total), factor;
    if (tn_dtype_of(total) == TN_F64) {
        factor = 1.0 / (norm + 1e-6) * max_norm;
    } else {
        float sum = (float)norm + 1e-6f, once = 1.0f / sum;
        float product = once * (float)max_norm;
        factor = (double)product;
    }
    return factor > 1 ? 1 : factor;
}

static double clip_run(tn_tensors params, double max_norm, double order) {
    int64_t n;
    tn_tensor *total;
    double factor;
    if (params.n < 0 || (params.n && !params.at))
        return tni_nn_error(TN_INVALID, "expected a list of parameters"), (double)NAN;
    if (!(max_norm >= 0) || order != order)
        return tni_nn_error(TN_INVALID,
                            "max_norm must be 0 or more, and norm_type must not be NaN"),
               (double)NAN;
    total = clip_gradients(params, order, &n);
    if (!total) return n == 0 && tn_ok() ? 0 : (double)NAN;
    factor = clip_factor(total, max_norm);
    if (!tn_whole_begin()) return (double)NAN; /* all gradients or none */
    for (int64_t i = 0; i < params.n && tn_ok(); i++) {
        tn_tensor *grad = tn_grad_of(params.at[i]);
        if (grad) tnp_mul_scalar_(grad, tn_float(factor));
    }
    tn_whole_end();
    return tn_ok() ? tni_nn_item(total) : (double)NAN;
}

TN_API double tn_nn_clip_grad_norm_at(const char *file, int line, tn_tensors params,
                                      double max_norm, double norm_type) {
    tni_step step;
    int64_t mark;
    double norm;
    bool mode;
    if (!tn_ok()) return (double)NAN;
    tni_step_begin(&step, file, line, "nn_clip_grad_norm");
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    norm = clip_run(params, max_norm, norm_type);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    tni_step_end(&step);
    return norm;
}
