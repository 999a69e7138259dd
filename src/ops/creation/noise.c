/* noise.c - layers that multiply by noise: rrelu, alpha_dropout and feature_alpha_dropout, with
 * torch's draws. */
#include "random.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- rrelu ------------------------------------------------------------------------------------ */

static bool rrelu_bounds(tn_frame *f, double lower, double upper) {
    if (!(lower - lower == 0))
        return tn_fail(f, TN_INVALID, "lower bound must be finite, got %g", lower);
    if (!(upper - upper == 0))
        return tn_fail(f, TN_INVALID, "upper bound must be finite, got %g", upper);
    return lower <= upper ||
           tn_fail(f, TN_INVALID, "Lower bound should be less than or equal to the upper bound");
}

static bool rrelu_noise_check(tn_frame *f) {
    TN_ARGS(rrelu_noise, a, f);
    const tn_tensor *x = f->in[0];
    if (!rrelu_bounds(f, a->lower, a->upper)) return false;
    if (!tni_is_float(x->dtype) || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "expected a floating dtype, got %s",
                       tni_dtype(x->dtype)->text);
    return tn_announce(f, 0, x->dtype == TN_F64 ? TN_F64 : TN_F32, x->ndim, x->size) &&
           tni_dense_scratch(f, x);
}
/* Elements are drawn in the order of the dimensions, one number of 53 bits for each that is not
 * above 0. The bounds are rounded to the dtype that is computed in, as torch's. */
static void rrelu_noise_run(tn_frame *f) {
    TN_ARGS(rrelu_noise, a, f);
    const tn_tensor *x = f->in[0];
    const bool wide = x->dtype == TN_F64;
    const double lower = wide ? a->lower : (double)(float)a->lower,
                 upper = wide ? a->upper : (double)(float)a->upper;
    const int64_t bytes = tni_dtype_size(x), each = wide ? 8 : 4;
    double tile[512];
    char *room = (char *)f->scratch, *to = NULL;
    const char *from;
    if (!x->numel) return;
    from = tni_dense(f, x, &room);
    to = tni_bytes_at(f->out[0]);
    for (int64_t i = 0; i < x->numel && !tni_stopped(); i += 512) {
        int64_t n = x->numel - i < 512 ? x->numel - i : 512;
        tni_lanes_load(tile, TN_F64, from + i * bytes, bytes, x->dtype, n);
        for (int64_t k = 0; k < n; k++)
            tile[k] = tile[k] <= 0 ? fma(tni_random_u53(f->generator), upper - lower, lower) : 1;
        tni_lanes_save(to + i * each, each, wide ? TN_F64 : TN_F32, tile, TN_F64, n);
    }
}
/* The factors of rrelu in training: 1 where self is above 0 or NaN, else a number drawn uniformly
 * from [lower, upper). Of half types they are float32. */
TN_OPERATOR(rrelu_noise,
            "_rrelu_noise(Tensor self, float lower, float upper, *, Generator? generator=None) -> "
            "Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_rrelu_noise(x, 0.125, 0.25)"),
            .check = rrelu_noise_check, .run = rrelu_noise_run, .grad = tn_grad_zero,
            .sample = "(35) 0.125 0.25 | (3,5) 0.1 0.3 | () 0.5 0.5 | (0,2) 0.1 0.2")

static bool rrelu_compose(tn_frame *f) {
    TN_ARGS(rrelu, a, f);
    tn_tensor *x = f->in[0], *noise, *y;
    if (!rrelu_bounds(f, a->lower, a->upper)) return false;
    if (!a->training) {
        f->out[0] = tnp_leaky_relu(x, (a->lower + a->upper) / 2);
        return f->out[0] != NULL;
    }
    noise = tnp_rrelu_noise(x, a->lower, a->upper, f->generator);
    /* Half types are computed in float32 and rounded once. */
    y = tnp_mul(noise && x->dtype != noise->dtype
                    ? tnp_to_dtype(x, (tn_dtype)noise->dtype, false, false)
                    : x,
                noise);
    f->out[0] = y && y->dtype != x->dtype ? tnp_to_dtype(y, (tn_dtype)x->dtype, false, false) : y;
    return f->out[0] != NULL;
}
/* self where it is above 0, else self times a slope: in training one drawn for each element from
 * [lower, upper), otherwise (lower + upper) / 2. */
TN_OPERATOR(rrelu,
            "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool "
            "training=False, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_rrelu(x, .training = true)",
                   .python = "nn.functional.rrelu_"),
            .forms = TN_INPLACE | TN_DRAWS, .compose = rrelu_compose,
            .sample = "(35) | (3,5) 0.1 0.3 | () | (0,2) | (35) 0.25 0.25 True",
            .node = "RreluWithNoiseBackward0")

/* --- dropout behind selu ---------------------------------------------------------------------- */

#include "../../base/rounded_begin.inl"
/* The factor a of the noise, the least value and the shift b, for a chance p to be dropped. */
static void alpha_numbers(double p, double *a, double *low, double *b) {
    const double alpha = 1.7580993408473766;
    *a = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
    *low = alpha * *a;
    *b = alpha * *a * p;
}
#include "../../base/rounded_end.inl"

/* self * noise + b: an element that is dropped becomes the value that selu has far below 0, and a
 * keeps the variance. size: of the mask, which broadcasts to x.
 * G. Klambauer et al., Self-Normalizing Neural Networks, 2017, section 3. */
static bool alpha_dropout_of(tn_frame *f, tn_tensor *x, double p, bool train, bool channels) {
    int64_t size[TN_MAX_DIMS];
    tn_tensor *noise, *shift;
    tn_dtype dtype;
    double a, low, b;
    if (!(p >= 0 && p <= 1))
        return tn_fail(f, TN_INVALID, "dropout probability has to be between 0 and 1, but got %g",
                       p);
    if (p == 0 || !train || !x->numel) return (f->out[0] = tnp_dropout(x, 0, false)) != NULL;
    if (p == 1) {
        noise = tnp_zeros(tn_empty_dims(), (tn_dtype)x->dtype, f->device);
        return (f->out[0] = tnp_mul(x, noise)) != NULL;
    }
    if (channels && x->ndim < 2)
        return tn_fail(f, TN_INVALID,
                       "Feature dropout requires at least 2 dimensions in the input");
    for (int i = 0; i < x->ndim; i++) size[i] = channels && i > 1 ? 1 : x->size[i];
    /* Draws are real, of complex tensors as well. */
    dtype = tni_is_complex(x->dtype) ? tni_real_of(x->dtype) : (tn_dtype)x->dtype;
    noise = channels ? tnp_new_empty(x, tni_ints(size, x->ndim), dtype, TN_NO_DEVICE)
                     : tnp_empty_like(x, dtype, TN_NO_DEVICE);
    noise = tnp_bernoulli_float_(noise, 1 - p, f->generator);
    alpha_numbers(p, &a, &low, &b);
    shift = tnp_mul_scalar_(tnp_add_scalar(noise, tn_int(-1), 1), tn_float(low));
    shift = tnp_add_scalar_(shift, tn_float(b), 1);
    noise = tnp_mul(x, tnp_mul_scalar_(noise, tn_float(a)));
    return (f->out[0] = tnp_add(noise, shift, 1)) != NULL;
}

static bool alpha_dropout_compose(tn_frame *f) {
    TN_ARGS(alpha_dropout, a, f);
    return alpha_dropout_of(f, a->input, a->p, a->train, false);
}
/* In training, sets each element with probability p to the lowest value of selu, then scales and
 * shifts all so that mean 0 and variance 1 stay. Otherwise returns the input itself. */
TN_OPERATOR(alpha_dropout, "alpha_dropout(Tensor input, float p, bool train) -> Tensor",
            TN_DOC(.shapes = "input (*) -> (*), floating",
                   .example = "tn_alpha_dropout(x, 0.5, true)",
                   .differs = "parameter p: required, as in torch's schema"),
            .forms = TN_INPLACE | TN_DRAWS, .compose = alpha_dropout_compose,
            .sample = "(2,3) 0.5 False | (2,3) 0.0 True | (0) 0.5 True | "
                      "() 0.5 False | (20):f32 0.5 True | (20):c128 0.3 True")

static bool feature_alpha_dropout_compose(tn_frame *f) {
    TN_ARGS(feature_alpha_dropout, a, f);
    return alpha_dropout_of(f, a->input, a->p, a->train, true);
}
/* alpha_dropout of whole channels: all elements with the same first two numbers are dropped
 * together. */
TN_OPERATOR(feature_alpha_dropout,
            "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
            TN_DOC(.shapes = "input (N, C, *) -> (N, C, *), floating",
                   .example = "tn_feature_alpha_dropout(x, 0.5, true)",
                   .differs = "parameter p: required, as in torch's schema"),
            .forms = TN_INPLACE | TN_DRAWS, .compose = feature_alpha_dropout_compose,
            .sample = "(2,3) 0.5 False | (2,3,4) 0.0 True | (0,2) 0.5 True | "
                      "(4,5,3):f32 0.5 True")
