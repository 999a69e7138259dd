/* quantile.c - quantiles of the elements along a dimension or of all, with and without NaN.
 *
 * Composed as torch has it: sort, ranks in float64, the elements at the ranks below and
 * above, and what lies between them. */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* In the order of the words below. */
enum { QUANTILE_LINEAR, QUANTILE_LOWER, QUANTILE_HIGHER, QUANTILE_MIDPOINT, QUANTILE_NEAREST };

/* The number of a word, or -1 with an error. */
static int quantile_way(tn_frame *f, const char *word) {
    static const char *const words[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    for (int i = 0; i < 5; i++)
        if (word && !strcmp(word, words[i])) return i;
    tn_fail(f, TN_INVALID,
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            "but got %s",
            word ? word : "nothing");
    return -1;
}
static bool quantile_input(tn_frame *f, const tn_tensor *x, int64_t dim) {
    int d;
    if (!x->numel) return tn_fail(f, TN_INVALID, "quantile() input tensor must be non-empty");
    if (x->dtype != TN_F32 && x->dtype != TN_F64)
        return tn_fail(f, TN_TYPE, "quantile() input tensor must be either float or double dtype");
    return dim == TN_NONE || tni_dim_of(f, x->ndim, dim, &d);
}
/* The fractions lie in [0, 1]; those of another device, or without data, go unchecked. */
static bool quantile_fractions(tn_frame *f, const tn_tensor *x, const tn_tensor *q) {
    if (q->ndim > 1) return tn_fail(f, TN_INVALID, "quantile() q must be a scalar or 1D tensor");
    if (q->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "quantile() q tensor must be same dtype as the input tensor");
    for (int64_t i = 0; i < q->numel && !f->meta && q->device == TN_CPU; i++) {
        const int64_t at = q->ndim ? i * q->stride[0] : 0;
        const double v = tni_element(tni_bytes_at(q) + at * tni_dtype_size(q), q->dtype).real;
        if (!(v >= 0 && v <= 1))
            return tn_fail(f, TN_INVALID, "quantile() q values must be in the range [0, 1]");
    }
    return true;
}

/* Ranks, float64 (.., number of fractions), of the sorted elements (.., n). skip: NaN, which are
 * last, do not count; otherwise one of them is the quantile. */
static tn_tensor *quantile_ranks(tn_tensor *sorted, tn_tensor *q, bool skip) {
    const int64_t last = sorted->size[sorted->ndim - 1] - 1, dim = -1;
    tn_tensor *none = tnp_isnan(sorted);
    q = tnp_to_dtype(q, TN_F64, false, false);
    if (skip) {
        tn_tensor *count = tnp_sum(tnp_logical_not(none), tni_ints(&dim, 1), true, TN_NO_DTYPE);
        tn_tensor *ranks = tnp_mul(q, tnp_sub_scalar(count, tn_int(1), 1));
        return tnp_masked_fill_scalar(ranks, tnp_lt_scalar(ranks, tn_int(0)), tn_int(0));
    }
    none = tnp_any_dims(none, tni_ints(&dim, 1), true);
    return tnp_where_scalar_self(none, tn_float((double)last), tnp_mul_scalar(q, tn_int(last)));
}
/* Quantiles (.., number of fractions) of the sorted elements (.., n). */
static tn_tensor *quantile_pick(tn_tensor *sorted, tn_tensor *q, int way, bool skip) {
    tn_tensor *ranks, *places, *below, *weight;
    if (!sorted) return NULL;
    ranks = quantile_ranks(sorted, q, skip);
    if (way == QUANTILE_LOWER) ranks = tnp_floor(ranks);
    if (way == QUANTILE_HIGHER) ranks = tnp_ceil(ranks);
    if (way == QUANTILE_NEAREST) ranks = tnp_round(ranks);
    places = tnp_to_dtype(ranks, TN_I64, false, false);
    below = tnp_gather(sorted, -1, places, false);
    if (way != QUANTILE_LINEAR && way != QUANTILE_MIDPOINT) return below;
    if (way == QUANTILE_MIDPOINT)
        weight = tnp_full_like(ranks, tn_float(0.5), (tn_dtype)sorted->dtype, TN_NO_DEVICE);
    else
        weight = tnp_to_dtype(tnp_sub(ranks, places, 1), (tn_dtype)sorted->dtype, false, false);
    places = tnp_to_dtype(tnp_ceil(ranks), TN_I64, false, false);
    return tnp_lerp(below, tnp_gather(sorted, -1, places, false), weight);
}

/* x sorted with dim last; a dimension of 1 stands where it was. Without dim, all in a row. */
static tn_tensor *quantile_sorted(tn_tensor *x, int64_t dim) {
    const int64_t all = -1;
    if (dim == TN_NONE) return tnp_sort(tnp_reshape(x, tni_ints(&all, 1)), -1, false).values;
    if (!x->ndim) return tnp_unsqueeze(x, -1);
    return tnp_sort(tnp_transpose(tnp_unsqueeze(x, -1), tni_dim(x->ndim, dim), -1), -1, false)
        .values;
}
static bool quantile_compose(tn_frame *f, tn_tensor *q, int64_t dim, bool keepdim, const char *word,
                             bool skip) {
    tn_tensor *x = f->in[0], *r;
    const int way = quantile_way(f, word);
    const bool one = q && !q->ndim;
    const int64_t first = 0, last = -1;
    tni_shape to;
    if (way < 0 || !q) return false;
    r = quantile_pick(quantile_sorted(x, dim), one ? tnp_unsqueeze(q, 0) : q, way, skip);
    if (!r) return false;
    /* (.., fractions) with ones where dimensions went, or without them; then fractions come first,
     * or go if there is one. */
    to.ndim = 0;
    for (int d = 0; d < x->ndim; d++)
        if (dim != TN_NONE && d != tni_dim(x->ndim, dim))
            to.size[to.ndim++] = x->size[d];
        else if (keepdim)
            to.size[to.ndim++] = 1;
    if (to.ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "the result would have more than %d dimensions", TN_MAX_DIMS);
    to.size[to.ndim++] = one ? 1 : q->size[0];
    r = tnp_reshape(r, tni_ints(to.size, to.ndim));
    if (one)
        f->out[0] = tnp_squeeze_dim(r, -1);
    else
        f->out[0] = tnp_movedim(r, tni_ints(&last, 1), tni_ints(&first, 1));
    return f->out[0] != NULL;
}
static bool quantile_of(tn_frame *f, int64_t dim, bool keepdim, const char *word, bool skip) {
    return quantile_input(f, f->in[0], dim) && quantile_fractions(f, f->in[0], f->in[1]) &&
           quantile_compose(f, f->in[1], dim, keepdim, word, skip);
}
static bool quantile_of_number(tn_frame *f, double q, int64_t dim, bool keepdim, const char *word,
                               bool skip) {
    tn_tensor *fraction;
    if (!(q >= 0 && q <= 1))
        return tn_fail(f, TN_INVALID, "quantile() q must be in the range [0, 1] but got %g", q);
    if (!quantile_input(f, f->in[0], dim)) return false;
    fraction = tnp_full(tn_empty_dims(), tn_float(q), (tn_dtype)f->in[0]->dtype, f->device);
    return fraction && quantile_compose(f, fraction, dim, keepdim, word, skip);
}

static bool quantile_all(tn_frame *f) {
    TN_ARGS(quantile, a, f);
    return quantile_of(f, a->dim, a->keepdim, a->interpolation, false);
}
/* The elements below which the fractions q of all elements along dim lie, or of self if dim is
 * absent. Between two elements interpolation chooses: linear, lower, higher, midpoint or nearest.
 * NaN if there is one. */
TN_OPERATOR(quantile,
            "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
            "interpolation='linear') -> Tensor",
            TN_DOC(.shapes = "self (*) float32 or float64, q () or (n) -> (n) if q has it, then "
                             "self's shape without dim, 1 there when keepdim",
                   .example = "tn_quantile(x, q)",
                   .differs = "grad at ties: torch\'s order of equal elements is not stable"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = quantile_all,
            .domain = "q:0.05..0.95",
            .sample = "(35) (3) | (2,3,4) (2) 1 | (3,5) () -1 True | (2,3) () | () () | () (2) 0 "
                      "True | (6) (0) | (7) (3) interpolation=lower | (7) (3) interpolation=higher "
                      "| (8) (3) 0 interpolation=midpoint | (2,6) (3) 1 True interpolation=nearest")

static bool quantile_number(tn_frame *f) {
    TN_ARGS(quantile_scalar, a, f);
    return quantile_of_number(f, a->q, a->dim, a->keepdim, a->interpolation, false);
}
/* quantile for one fraction q. */
TN_OPERATOR(quantile_scalar,
            "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
            "interpolation='linear') -> Tensor",
            TN_DOC(.shapes = "self (*) float32 or float64 -> self's shape without dim, 1 there "
                             "when keepdim",
                   .example = "tn_quantile_scalar(x, 0.25)",
                   .differs = "grad at ties: torch\'s order of equal elements is not stable"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = quantile_number,
            .sample = "(35) 0.3 | (2,3,4) 0.5 1 | (3,5) 1.0 -1 True | () 0.2 | (7) 0.3 "
                      "interpolation=lower | (7) 0.3 interpolation=higher | (8) 0.5 0 "
                      "interpolation=midpoint | (2,6) 0.7 interpolation=nearest")

static bool nanquantile_all(tn_frame *f) {
    TN_ARGS(nanquantile, a, f);
    return quantile_of(f, a->dim, a->keepdim, a->interpolation, true);
}
/* quantile of the elements that are not NaN; NaN where there are none. */
TN_OPERATOR(nanquantile,
            "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
            "interpolation='linear') -> Tensor",
            TN_DOC(.shapes = "self (*) float32 or float64, q () or (n) -> (n) if q has it, then "
                             "self's shape without dim, 1 there when keepdim",
                   .example = "tn_nanquantile(x, q)",
                   .differs = "grad at ties: torch\'s order of equal elements is not stable"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = nanquantile_all,
            .domain = "q:0.05..0.95",
            .sample = "(35) (3) | (2,3,4) (2) 1 | (3,5) () -1 True | () () | (6) (0) | (7) (3) "
                      "interpolation=lower | (2,6) (3) 1 True interpolation=nearest")

static bool nanquantile_number(tn_frame *f) {
    TN_ARGS(nanquantile_scalar, a, f);
    return quantile_of_number(f, a->q, a->dim, a->keepdim, a->interpolation, true);
}
/* nanquantile for one fraction q. */
TN_OPERATOR(nanquantile_scalar,
            "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
            "interpolation='linear') -> Tensor",
            TN_DOC(.shapes = "self (*) float32 or float64 -> self's shape without dim, 1 there "
                             "when keepdim",
                   .example = "tn_nanquantile_scalar(x, 0.25)",
                   .differs = "grad at ties: torch\'s order of equal elements is not stable"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = nanquantile_number,
            .sample = "(35) 0.3 | (2,3,4) 0.5 1 | (3,5) 1.0 -1 True | () 0.2 | (7) 0.3 "
                      "interpolation=lower")
