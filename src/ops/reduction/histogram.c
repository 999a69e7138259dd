/* histogram.c - histograms of all elements: histc, histogram. Composed of rows; a number on an
 * inner edge belongs to the bin above it, one on the last edge to the last bin. */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

static tn_tensor *histogram_flat(tn_tensor *x) {
    const int64_t all = -1;
    return tnp_reshape(x, tni_ints(&all, 1));
}
/* The number of a 0-dim tensor, on a device too; false with an error. */
static bool histogram_number(tn_frame *f, tn_tensor *t, double *v) {
    tn_tensor *here = t->flags & TNI_DEVICE ? tni_device_down(f->block, t) : t;
    if (!here) return false;
    *v = tni_element(tni_bytes_at(here), here->dtype).real;
    if (here != t) tni_drop(f->block, here);
    return true;
}
/* The range from `low` to `high`: given, or that of the elements if both are equal; `more` on each
 * side if these are. False with an error. */
static bool histogram_range(tn_frame *f, tn_tensor *x, double *low, double *high, double more) {
    if (*low == *high && x->numel) {
        tn_min_max m;
        if (x->flags & TNI_BATCHED)
            return tn_fail(f, TN_UNSUPPORTED, "in a batch the range has to be given");
        m = tnp_aminmax(x, TN_NONE, false);
        if (!m.min || !m.max) return false;
        if (!(x->flags & TNI_META) &&
            !(histogram_number(f, m.min, low) && histogram_number(f, m.max, high)))
            return false;
    }
    if (!(*low - *low == 0 && *high - *high == 0))
        return tn_fail(f, TN_INVALID, "range of [%g, %g] is not finite", *low, *high);
    if (*low > *high) return tn_fail(f, TN_INVALID, "max must be larger than min");
    if (*low == *high) {
        *low -= more;
        *high += more;
    }
    if (x->dtype != TN_F64) { /* edges are numbers of the elements' type */
        *low = (double)(float)*low;
        *high = (double)(float)*high;
    }
    return true;
}
static bool histogram_input(tn_frame *f, const tn_tensor *x, int64_t bins) {
    if (bins <= 0)
        return tn_fail(f, TN_INVALID, "bins must be > 0, but got %lld for dimension 0",
                       (long long)bins);
    return (tni_is_float(x->dtype) && tni_dtype(x->dtype)->computes) ||
           tn_fail(f, TN_UNSUPPORTED, "not implemented for %s", tni_dtype(x->dtype)->text);
}
/* Counts of `bins` bins: place[i] is x's bin if it lies within, and weight (or NULL: 1) counts. */
static tn_tensor *histogram_count(tn_tensor *x, tn_tensor *inside, tn_tensor *place, int64_t bins,
                                  tn_tensor *weight) {
    tn_tensor *zeros;
    if (!x) return NULL;
    zeros = tnp_zeros(tni_ints(&bins, 1), (tn_dtype)x->dtype, x->device);
    place = tnp_masked_fill_scalar(place, tnp_logical_not(inside), tn_int(0));
    place = tnp_clamp(place, tn_int(0), tn_int(bins - 1));
    if (!weight) weight = tnp_full_like(x, tn_int(1), TN_NO_DTYPE, TN_NO_DEVICE);
    weight = tnp_masked_fill_scalar(weight, tnp_logical_not(inside), tn_int(0));
    return tnp_index_add(zeros, 0, place, weight, 1);
}
static tn_tensor *histogram_inside(tn_tensor *x, double low, double high) {
    return tnp_logical_and(tnp_ge_scalar(x, tn_float(low)), tnp_le_scalar(x, tn_float(high)));
}

/* t in float32 if it is of a half type. */
static tn_tensor *histogram_wide(tn_tensor *t) {
    return t && (t->dtype == TN_F16 || t->dtype == TN_BF16) ? tnp_to_dtype(t, TN_F32, false, false)
                                                            : t;
}

static bool histc_compose(tn_frame *f) {
    TN_ARGS(histc, a, f);
    tn_tensor *x = a->self, *inside, *place;
    double low = a->min, high = a->max;
    const bool half = x->dtype == TN_F16 || x->dtype == TN_BF16;
    if (!histogram_input(f, x, a->bins)) return false;
    x = histogram_wide(x);
    if (!x || !histogram_range(f, x, &low, &high, 1)) return false;
    x = histogram_flat(x);
    inside = histogram_inside(x, low, high);
    /* As torch: by the distance from the first edge, without a look at the others. */
    place = tnp_mul_scalar(tnp_sub_scalar(x, tn_float(low), 1), tn_int(a->bins));
    if (x && x->dtype == TN_F32)
        place = tnp_div_scalar(place, tn_float((double)((float)high - (float)low)));
    else
        place = tnp_div_scalar(place, tn_float(high - low));
    place = tnp_to_dtype(tnp_masked_fill_scalar(place, tnp_logical_not(inside), tn_int(0)), TN_I64,
                         false, false);
    x = histogram_count(x, inside, place, a->bins, NULL);
    f->out[0] = half ? tnp_to_dtype(x, (tn_dtype)a->self->dtype, false, false) : x;
    return f->out[0] != NULL;
}
/* How many elements lie in each of `bins` equal parts of [min, max], or of the elements' range if
 * both are equal. NaN lies nowhere. */
TN_OPERATOR(histc, "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
            TN_DOC(.shapes = "self (*) floating -> (bins)",
                   .example = "tn_histc(x, .bins = 8, .min = -1, .max = 1)",
                   .differs = "gradcheck: counts have no slope"),
            .forms = TN_OUT, .compose = histc_compose,
            .sample = "(35) 5 | (2,3,4) 4 -1.5 1.5 | () 3 | (0) 4 | (300) 10 0 1 | (40)")

/* (hist, edges): by a search among the edges; density divides by the sum and the widths. */
static bool histogram_give(tn_frame *f, tn_tensor *x, tn_tensor *edges, tn_tensor *weight,
                           bool density) {
    const tn_dtype dtype = (tn_dtype)f->in[0]->dtype;
    tn_tensor *first, *last, *inside, *place, *hist, *width;
    int64_t bins;
    if (!edges) return false;
    bins = edges->size[0] - 1;
    x = histogram_flat(x);
    first = tnp_select(edges, 0, 0);
    last = tnp_select(edges, 0, bins);
    inside = tnp_logical_and(tnp_ge(x, first), tnp_le(x, last));
    place = tnp_sub_scalar(tnp_searchsorted(edges, x, false, true, NULL, NULL), tn_int(1), 1);
    hist = histogram_count(x, inside, place, bins, weight ? histogram_flat(weight) : NULL);
    if (density) {
        width = tnp_sub(tnp_slice(edges, 0, 1, bins + 1, 1), tnp_slice(edges, 0, 0, bins, 1), 1);
        hist = tnp_div(hist, tnp_sum(hist, tn_no_dims(), false, TN_NO_DTYPE));
        hist = tnp_div(hist, width);
    }
    /* Of half types all is computed in float32. */
    f->out[0] = tnp_to_dtype(hist, dtype, false, false);
    f->out[1] = tnp_to_dtype(edges, dtype, false, false);
    return f->out[0] && f->out[1];
}
static bool histogram_weight(tn_frame *f, const tn_tensor *x, const tn_tensor *weight) {
    if (!weight) return true;
    if (weight->dtype != x->dtype)
        return tn_fail(f, TN_TYPE,
                       "if weight tensor is provided, input tensor and weight tensor should have "
                       "the same dtype");
    return tni_same_shape(weight, x) ||
           tn_fail(f, TN_INVALID,
                   "if weight tensor is provided it should have the same shape as the input "
                   "tensor");
}

static bool histogram_compose(tn_frame *f) {
    TN_ARGS(histogram, a, f);
    tn_tensor *x = a->self, *edges;
    double low = 0, high = 0;
    if (!histogram_input(f, x, a->bins) || !histogram_weight(f, x, a->weight)) return false;
    x = histogram_wide(x);
    if (!x) return false;
    if (a->range.n >= 0) {
        if (a->range.n != 2)
            return tn_fail(f, TN_INVALID, "range should have 2 elements, but got %lld",
                           (long long)a->range.n);
        low = a->range.at[0];
        high = a->range.at[1];
        if (low > high)
            return tn_fail(f, TN_INVALID, "min should not exceed max, but got min %g max %g", low,
                           high);
        if (low == high) {
            low -= 0.5;
            high += 0.5;
        }
    } else if (!x->numel)
        high = 1;
    if (!histogram_range(f, x, &low, &high, 0.5)) return false;
    if (a->bins == INT64_MAX) return tn_fail(f, TN_INVALID, "too many bins");
    edges = tnp_linspace(tn_float(low), tn_float(high), a->bins + 1, (tn_dtype)x->dtype, x->device);
    return histogram_give(f, x, edges, histogram_wide(a->weight), a->density);
}
/* How many elements lie in each of `bins` equal parts of range, or of the elements' range, and the
 * parts' edges. With weight, the sum of the elements' weights; density: over the sum of all and the
 * width. NaN lies nowhere. */
TN_OPERATOR(
    histogram,
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
    "density=False) -> (Tensor hist, Tensor bin_edges)",
    TN_DOC(.shapes = "self (*) floating, weight (*) -> hist (bins), bin_edges (bins + 1)",
           .example = "tn_hist_bin_edges h = tn_histogram(x, .bins = 8);",
           .differs = "gradcheck: counts have no slope"),
    .forms = TN_OUT, .compose = histogram_compose, .domain = "weight:0.1..2",
    .sample = "(35) 5 | (2,3,4) 4 range=[-1.5,1.5] | () 3 | (0) 4 | (300) 10 weight=(300) | (40) 6 "
              "density=True")

static bool histogram_edges_compose(tn_frame *f) {
    TN_ARGS(histogram_bins, a, f);
    tn_tensor *x = a->self;
    if (!histogram_input(f, x, 1) || !histogram_weight(f, x, a->weight)) return false;
    if (a->bins->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "input tensor and bins tensors should have the same dtype");
    if (a->bins->ndim != 1 || a->bins->size[0] < 2)
        return tn_fail(f, TN_INVALID,
                       "bins tensor should have one dimension and more than one element");
    return histogram_give(f, histogram_wide(x),
                          histogram_wide(tnp_clone(a->bins, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT)),
                          histogram_wide(a->weight), a->density);
}
/* histogram with edges given, which ascend. */
TN_OPERATOR(
    histogram_bins,
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) "
    "-> "
    "(Tensor hist, Tensor bin_edges)",
    TN_DOC(.shapes = "self (*) floating, bins (m), weight (*) -> hist (m - 1), bin_edges "
                     "(m)",
           .example = "tn_hist_bin_edges h = tn_histogram_bins(x, edges);",
           .differs = "gradcheck: counts have no slope"),
    .forms = TN_OUT, .compose = histogram_edges_compose, .domain = "weight:0.1..2",
    .sample = "(35) (5) | (2,3,4) (4) | () (3) | (0) (4) | (300) (10) weight=(300)")
