/* resample_table.inl - which elements resample sums along a dimension, with which weights.
 * TNI_TABLE says whose functions they are: the CPU's (ops/layers/resample.c), or a device's
 * (cuda/resample.cu). */

/* Element p of `out` is the sum over k < count[p] of weight[p taps + k] times element at[p taps +
 * k] of `in`; taps is the largest count, and places ascend. */
typedef struct rs_axis {
    int64_t in, out, taps;
    int32_t *at, *count;
    double *weight;
    float *single; /* weight, rounded */
} rs_axis;

typedef struct rs_options {
    tn_floats scales;
    tn_resize_mode mode;
    bool align_corners, antialias;
} rs_options;

/* The filters, of size 2 and 4. Robert Keys, Cubic convolution interpolation for digital image
 * processing, 1981; a is -0.75, and -0.5 where the filter is stretched. */
TNI_TABLE double rs_linear(double x) {
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}
TNI_TABLE double rs_cubic(double x, double a) {
    x = fabs(x);
    if (x < 1) return fma(fma(a + 2, x, -(a + 3)) * x, x, 1.0);
    if (x < 2) return fma(fma(fma(a, x, -5 * a), x, 8 * a), x, -4 * a);
    return 0;
}

/* How far the input moves for a step of the output. */
TNI_TABLE double rs_scale(const rs_axis *x, double given, bool align_corners) {
    if (align_corners) return x->out > 1 ? (double)(x->in - 1) / (double)(x->out - 1) : 0;
    return given > 0 ? 1 / given : (double)x->in / (double)x->out;
}
/* How many elements a stretched filter reads on each side. */
TNI_TABLE double rs_support(double scale, tn_resize_mode mode) {
    return (mode == TN_RESIZE_MODE_BICUBIC ? 2 : 1) * (scale >= 1 ? scale : 1);
}
TNI_TABLE int64_t rs_taps(const rs_axis *x, const rs_options *o, double given) {
    switch (o->mode) {
    case TN_RESIZE_MODE_NEAREST:
    case TN_RESIZE_MODE_NEAREST_EXACT: return 1;
    case TN_RESIZE_MODE_AREA: return x->out > 0 ? x->in / x->out + 2 : 1;
    default: break;
    }
    if (!o->antialias) return o->mode == TN_RESIZE_MODE_BICUBIC ? 4 : 2;
    const double support = rs_support(rs_scale(x, given, o->align_corners), o->mode);
    return 2 * support + 3 < (double)x->in ? (int64_t)ceil(support) * 2 + 1 : x->in;
}

/* The nearest element, in float as torch computes it. */
TNI_TABLE int64_t rs_nearest(const rs_axis *x, double given, bool exact, int64_t p) {
    const float scale = given > 0 ? (float)(1 / given) : (float)x->in / (float)x->out;
    if (!exact && x->in == x->out) return p;
    if (!exact && x->out == 2 * x->in && !(given > 0 && given != 2)) return p / 2;
    const double at = exact ? ((double)p + 0.5) * (double)scale : (double)((float)p * scale);
    return floor(at) < (double)x->in ? (int64_t)floorf((float)at) : x->in - 1;
}

/* Row p of the table of a filter of fixed size. */
TNI_TABLE void rs_fixed(const rs_axis *x, const rs_options *o, double scale, int64_t p) {
    const bool cubic = o->mode == TN_RESIZE_MODE_BICUBIC;
    double at = o->align_corners ? scale * (double)p : scale * ((double)p + 0.5) - 0.5;
    if (!cubic && at < 0) at = 0;
    if (!cubic && x->in == x->out) at = (double)p;
    int64_t first = (int64_t)floor(at);
    if (first > x->in - 1) first = x->in - 1;
    double rest = at - (double)first;
    rest = rest < 0 ? 0 : rest > 1 ? 1 : rest;
    /* Places beyond an end are that of the end. */
    for (int k = 0; k < x->taps; k++) {
        const int64_t place = cubic ? first - 1 + k : first + k;
        x->at[p * x->taps + k] = (int32_t)(place < 0 ? 0 : place > x->in - 1 ? x->in - 1 : place);
        x->weight[p * x->taps + k] = cubic ? rs_cubic(rest + 1 - k, -0.75) : k ? rest : 1 - rest;
    }
    x->count[p] = (int32_t)x->taps;
}
/* Row p of the table of a filter that is stretched where the image shrinks; weights add to 1. */
TNI_TABLE void rs_stretched(const rs_axis *x, const rs_options *o, double scale, int64_t p) {
    const double support = rs_support(scale, o->mode), center = scale * ((double)p + 0.5),
                 by = scale >= 1 ? 1 / scale : 1;
    int64_t from = (int64_t)(center - support + 0.5), to = (int64_t)(center + support + 0.5);
    double sum = 0, *weight = x->weight + p * x->taps;
    if (from < 0) from = 0;
    if (to > x->in) to = x->in;
    if (to - from > x->taps) to = from + x->taps;
    for (int64_t k = 0; k < to - from; k++) {
        const double d = ((double)(k + from) - center + 0.5) * by;
        weight[k] = o->mode == TN_RESIZE_MODE_BICUBIC ? rs_cubic(d, -0.5) : rs_linear(d);
        sum += weight[k];
        x->at[p * x->taps + k] = (int32_t)(k + from);
    }
    for (int64_t k = 0; sum != 0 && k < to - from; k++) weight[k] /= sum;
    x->count[p] = (int32_t)(to - from);
}
/* Row p of the table of means: from floor(p in / out) to ceil((p + 1) in / out). */
TNI_TABLE void rs_window(const rs_axis *x, int64_t p) {
    const int64_t q = x->in / x->out, r = x->in % x->out, from = p * q + p * r / x->out,
                  n = (p + 1) * q + ((p + 1) * r + x->out - 1) / x->out - from;
    for (int64_t k = 0; k < n; k++) {
        x->at[p * x->taps + k] = (int32_t)(from + k);
        x->weight[p * x->taps + k] = 1 / (double)n;
    }
    x->count[p] = (int32_t)n;
}
/* Row p of the table, in the options' mode. */
TNI_TABLE void rs_row(const rs_axis *x, const rs_options *o, double scale, double given,
                      int64_t p) {
    if (o->mode == TN_RESIZE_MODE_AREA) {
        rs_window(x, p);
    } else if (o->mode <= TN_RESIZE_MODE_NEAREST_EXACT) {
        x->at[p] = (int32_t)rs_nearest(x, given, o->mode == TN_RESIZE_MODE_NEAREST_EXACT, p);
        x->weight[p] = 1;
        x->count[p] = 1;
    } else if (o->antialias) {
        rs_stretched(x, o, scale, p);
    } else {
        rs_fixed(x, o, scale, p);
    }
}
