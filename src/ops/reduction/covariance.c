/* covariance.c - covariances and correlations of variables, renorm. Composed of rows. */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* A number of a 0-dim tensor, to check it; `other` where it cannot be read here. */
static double cov_number(const tn_frame *f, const tn_tensor *t, double other) {
    if (!t || f->meta || t->device != TN_CPU || t->ndim) return other;
    return tni_element(tni_bytes_at(t), t->dtype).kind == TN_KIND_FLOAT
               ? tni_element(tni_bytes_at(t), t->dtype).real
               : (double)tni_element(tni_bytes_at(t), t->dtype).integer;
}
/* Weights of n observations, of an integer or a floating dtype. */
static bool cov_weights(tn_frame *f, tn_tensor *w, int64_t n, bool floats, const char *name) {
    if (!w) return true;
    if (w->ndim > 1)
        return tn_fail(f, TN_INVALID,
                       "expected %s to have one or fewer dimensions but got %s with %d dimensions",
                       name, name, w->ndim);
    if (tni_dtype(w->dtype)->category != (floats ? TNI_CAT_FLOAT : TNI_CAT_INT))
        return tn_fail(f, TN_TYPE, "expected %s to have %s dtype but got %s with %s dtype", name,
                       floats ? "floating point" : "integral", name, tni_dtype(w->dtype)->text);
    if (w->numel != n)
        return tn_fail(f, TN_INVALID,
                       "expected %s to have the same numel as there are observations in the input "
                       "but got %lld != %lld",
                       name, (long long)w->numel, (long long)n);
    return !n || cov_number(f, tnp_min(w), 0) >= 0 ||
           tn_fail(f, TN_INVALID, "%s cannot be negative", name);
}
static tn_tensor *cov_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }

static bool cov_compose(tn_frame *f) {
    TN_ARGS(cov, a, f);
    const int64_t last = 1;
    tn_tensor *x = a->self, *w = a->fweights, *sum, *norm, *mean, *weighted, *c;
    tni_shape s;
    if (x->ndim > 2)
        return tn_fail(f, TN_INVALID,
                       "expected input to have two or fewer dimensions but got an input with %d "
                       "dimensions",
                       x->ndim);
    if (x->dtype == TN_BOOL)
        return tn_fail(f, TN_UNSUPPORTED, "bool dtype is not supported for input");
    s.size[0] = 1;
    s.size[1] = x->numel;
    if (x->ndim < 2) x = tnp_reshape(x, tni_ints(s.size, 2));
    if (!x) return false;
    s.size[1] = x->size[1];
    if (!cov_weights(f, w, s.size[1], false, "fweights") ||
        !cov_weights(f, a->aweights, s.size[1], true, "aweights"))
        return false;
    if (a->aweights) w = w ? tnp_mul(w, a->aweights) : a->aweights;
    /* the weighted mean, and what the products of deviations are divided by */
    if (w)
        sum = tnp_sum(w, tn_no_dims(), false, TN_NO_DTYPE);
    else
        sum = tnp_full(tn_empty_dims(), tn_int(s.size[1]), TN_I64, x->device);
    if (!sum) return false;
    if (w && cov_number(f, sum, 1) == 0)
        return tn_fail(f, TN_INVALID, "weights sum to zero, can't be normalized");
    mean = tnp_sum(w ? tnp_mul(x, w) : x, tni_ints(&last, 1), true, TN_NO_DTYPE);
    x = tnp_sub(x, tnp_div(mean, sum), 1);
    norm = tnp_sub_scalar(sum, tn_int(a->correction), 1);
    if (a->aweights && a->correction) {
        norm = tnp_sum(tnp_mul(w, a->aweights), tn_no_dims(), false, TN_NO_DTYPE);
        norm = tnp_div(tnp_mul_scalar(norm, tn_int(a->correction)), sum);
        norm = tnp_sub(sum, norm, 1);
    }
    norm = tnp_clamp_min_scalar(norm, tn_int(0));
    weighted = w ? tnp_mul(x, w) : x;
    c = tnp_mm(x, cov_conj(tnp_transpose(weighted, 0, 1)));
    f->out[0] = tnp_squeeze(tnp_div(c, norm));
    return f->out[0] != NULL;
}
/* The covariances of variables, the rows of self, from observations, its columns. fweights:
 * how often each observation was made; aweights: how much it counts. The products of deviations
 * from the weighted mean are divided by the sum of weights less correction. */
TN_OPERATOR(
    cov,
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) "
    "-> Tensor",
    TN_DOC(.shapes = "self (variables, n) or (n), fweights (n) integers, aweights (n) "
                     "floating -> (variables, variables), or () of one variable",
           .example = "tn_cov(x)", .differs = "gradcheck [()]: of one observation all is NaN"),
    .compose = cov_compose, .domain = "aweights:0.2..2",
    .sample = "(3,5) | (35) | () | (3,5) correction=0 | (2,6) fweights=(6):i64<4 | (2,6) "
              "aweights=(6) | (2,6) correction=2 fweights=(6):i64<4 aweights=(6) | (4,3):i64 "
              "| (1,7) | (0,3)")

static bool corrcoef_compose(tn_frame *f) {
    TN_ARGS(corrcoef, a, f);
    tn_tensor *c, *deviation;
    if (a->self->ndim > 2)
        return tn_fail(f, TN_INVALID,
                       "expected input to have two or fewer dimensions but got an input with %d "
                       "dimensions",
                       a->self->ndim);
    c = tnp_cov(a->self, 1, NULL, NULL);
    if (!c) return false;
    if (!c->ndim) {
        f->out[0] = tnp_div(c, c);
        return f->out[0] != NULL;
    }
    deviation = tnp_diagonal(c, 0, 0, 1);
    deviation = tnp_sqrt(tni_is_complex(c->dtype) ? tnp_real(deviation) : deviation);
    c = tnp_div(tnp_div(c, tnp_unsqueeze(deviation, 1)), tnp_unsqueeze(deviation, 0));
    f->out[0] = c && !tni_is_complex(c->dtype) ? tnp_clamp(c, tn_int(-1), tn_int(1)) : c;
    return f->out[0] != NULL;
}
/* Pearson's correlations of variables, the rows of self: their covariances over both standard
 * deviations. */
TN_OPERATOR(corrcoef, "corrcoef(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (variables, n) or (n) -> (variables, variables), or ()",
                   .example = "tn_corrcoef(x)",
                   .differs = "gradcheck [(35)]: one variable has correlation 1, or NaN where all "
                              "observations are equal | gradcheck [()]: the same"),
            .compose = corrcoef_compose, .sample = "(3,5) | (35) | (2,7) | () | (1,7) | (4,9):i64")

static bool renorm_compose(tn_frame *f) {
    TN_ARGS(renorm, a, f);
    tn_tensor *x = f->in[0], *norm, *factor;
    int64_t dims[TN_MAX_DIMS], n = 0;
    int dim;
    if (!(a->p > 0)) return tn_fail(f, TN_INVALID, "non-positive-norm not supported");
    if (!(a->maxnorm >= 0))
        return tn_fail(f, TN_INVALID, "expected maxnorm to be >= 0 but got %g", a->maxnorm);
    if (x->ndim < 2)
        return tn_fail(f, TN_INVALID, "input needs at least 2 dimensions, got %d dimensions",
                       x->ndim);
    if (!tni_dim_of(f, x->ndim, a->dim, &dim)) return false;
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "expected a floating or complex dtype, got %s",
                       tni_dtype(x->dtype)->text);
    for (int d = 0; d < x->ndim; d++)
        if (d != dim) dims[n++] = d;
    /* Norms of half types are computed and divided in float. */
    norm = tnp_linalg_vector_norm(x, a->p, tni_ints(dims, n), true,
                                  x->dtype == TN_F16 || x->dtype == TN_BF16 ? TN_F32 : TN_NO_DTYPE);
    factor = tnp_div(tnp_full_like(norm, tn_float(a->maxnorm), TN_NO_DTYPE, TN_NO_DEVICE),
                     tnp_add_scalar(norm, tn_float(1e-7), 1));
    factor = tnp_where_scalar(tnp_gt_scalar(norm, tn_float(a->maxnorm)), factor, tn_int(1));
    if (factor && (x->dtype == TN_F16 || x->dtype == TN_BF16))
        factor = tnp_to_dtype(factor, (tn_dtype)x->dtype, false, false);
    f->out[0] = tnp_mul(x, factor);
    return f->out[0] != NULL;
}
/* self with each part along dim whose norm of order p is above maxnorm scaled down to it. */
TN_OPERATOR(renorm, "renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor",
            TN_DOC(.shapes = "self (*) of two or more dimensions, floating or complex -> (*)",
                   .example = "tn_renorm(x, 2, 0, 1)"),
            .forms = TN_OUT | TN_INPLACE, .autocast = TN_WIDE_CUDA, .compose = renorm_compose,
            .sample = "(3,5) 2.0 0 1.0 | (2,3,4) 1.0 1 2.5 | (4,35) 3.0 -1 0.5 | (0,3) 2.0 0 1.0 | "
                      "(3,4) 2.0 0 100.0 | (2,2,3) 2.5 2 0.0")
