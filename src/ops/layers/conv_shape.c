/* conv_shape.c - what convolutions accept: sizes, options and dtypes; the sizes of their results.
 * Cold: it has no loop over elements, and a convolution takes far longer than its checks. */
#include "conv.h"
#include "../../call/arguments.h"

/* Length of the output along one dimension; false when the kernel does not fit. */
static bool cv_length(int64_t in, int64_t k, int64_t stride, int64_t pad, int64_t dilation,
                      int64_t *out) {
    int64_t room, reach;
    if (!tni_add(in, 2 * pad, &room) || !tni_mul(k - 1, dilation, &reach) ||
        !tni_add(reach, 1, &reach) || room < reach)
        return false;
    *out = (room - reach) / stride + 1;
    return true;
}

/* Whether a tensor of this shape has few enough elements that no later product overflows. */
static bool cv_fits(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
    int64_t n;
    return a >= 0 && tni_mul(a, b, &n) && tni_mul(n, c, &n) && tni_mul(n, d, &n) &&
           tni_mul(n, e, &n) && n < (int64_t)1 << 48;
}

/* Numbers of dimensions, and sizes of which the sums and products below fit into 64 bits. */
static bool cv_check_sizes(tn_frame *f, int dims, tn_ints x, tn_ints w) {
    char has[160], wants[160];
    const int d = (int)x.n;
    if (d != dims + 1 && d != dims + 2)
        return tn_fail(f, TN_INVALID,
                       "Expected %dD (unbatched) or %dD (batched) input to conv%dd, but got input "
                       "of size: %s",
                       dims + 1, dims + 2, dims, tni_shape_text(has, sizeof has, d, x.at));
    if (w.n != dims + 2)
        return tn_fail(f, TN_INVALID, "expected weight (O, C / groups, %skH, kW), got %s",
                       dims == 2 ? "" : "kD, ", tni_shape_text(has, sizeof has, (int)w.n, w.at));
    for (int i = 0; i < dims + 2; i++)
        if (w.at[i] > INT32_MAX || w.at[i] < 0 ||
            (i < d && (x.at[i] > INT64_MAX / 4 || x.at[i] < 0)))
            return tn_fail(f, TN_INVALID, "no convolution of %s with weight %s is supported",
                           tni_shape_text(has, sizeof has, d, x.at),
                           tni_shape_text(wants, sizeof wants, dims + 2, w.at));
    return true;
}

/* Channels divide into groups; a group reads cg channels and makes og. */
static bool cv_check_groups(tn_frame *f, tni_cv_shape *s, tn_ints w, int64_t groups) {
    char has[160];
    s->groups = groups;
    if (groups < 1 || s->o % groups != 0 || s->o < 1)
        return tn_fail(f, TN_INVALID, "%lld output channels are not divisible into %lld groups",
                       (long long)s->o, (long long)groups);
    if (s->c % groups != 0 || s->c / groups != s->cg || s->cg < 1)
        return tn_fail(f, TN_INVALID,
                       "Given groups=%lld, weight of size %s, expected input to have %lld "
                       "channels, but got %lld channels instead",
                       (long long)groups, tni_shape_text(has, sizeof has, (int)w.n, w.at),
                       (long long)(s->cg * groups), (long long)s->c);
    s->og = s->o / groups;
    return true;
}

/* "(3 x 4)" */
static const char *cv_text(char *to, size_t room, int n, const int64_t *size) {
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(to + at, room - at, "%s%lld", i ? " x " : "(", (long long)size[i]);
    snprintf(to + at, room - at, ")");
    return to;
}

/* The output's size, which needs a kernel that fits into the padded input. */
static bool cv_lengths(tn_frame *f, tni_cv_shape *s) {
    const int64_t each[3] = {s->dd, s->dh, s->dw},
                  room[3] = {s->d + 2 * s->pd, s->h + 2 * s->ph, s->w + 2 * s->pw};
    const int from = 3 - s->dims;
    int64_t k[3] = {s->kd, s->kh, s->kw}; /* later with the gaps of dilation */
    char kernel[96], padded[96];
    if (s->kd >= 1 && s->kh >= 1 && s->kw >= 1 &&
        cv_length(s->d, s->kd, s->sd, s->pd, s->dd, &s->od) &&
        cv_length(s->h, s->kh, s->sh, s->ph, s->dh, &s->oh) &&
        cv_length(s->w, s->kw, s->sw, s->pw, s->dw, &s->ow))
        return true;
    for (int i = 0; i < 3; i++)
        if (!tni_mul(k[i] - 1, each[i], &k[i]) || !tni_add(k[i], 1, &k[i])) k[i] = INT64_MAX;
    return tn_fail(f, TN_INVALID,
                   "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size "
                   "can't be greater than actual input size",
                   cv_text(padded, sizeof padded, s->dims, room + from),
                   cv_text(kernel, sizeof kernel, s->dims, k + from));
}

/* Sizes of input and weight and the options to s. */
TN_PRIV bool tni_cv_shape_of(tn_frame *f, tni_cv_shape *s, int dims, tn_ints x, tn_ints w,
                             tn_ints stride, tn_ints padding, tn_ints dilation, int64_t groups) {
    /* By the dimension: depth, rows, columns. In two the depth is 1. */
    int64_t by[3] = {1, 1, 1}, pad[3] = {0, 0, 0}, each[3] = {1, 1, 1};
    const int from = 3 - dims;
    /* Options first: one number stands for all dimensions. */
    if (!tni_each_of(f, stride, "stride", dims, 1, by + from) ||
        !tni_each_of(f, padding, "padding", dims, 0, pad + from) ||
        !tni_each_of(f, dilation, "dilation", dims, 1, each + from) ||
        !cv_check_sizes(f, dims, x, w))
        return false;
    s->sd = by[0], s->sh = by[1], s->sw = by[2];
    s->pd = pad[0], s->ph = pad[1], s->pw = pad[2];
    s->dd = each[0], s->dh = each[1], s->dw = each[2];
    /* x (n, c, h, w), or (c, h, w) as a batch of one; weight (o, cg, kh, kw). */
    const int64_t *in = x.at + x.n - dims, *k = w.at + 2;
    s->dims = dims;
    s->batched = x.n == dims + 2;
    s->n = s->batched ? x.at[0] : 1;
    s->c = in[-1];
    s->d = dims == 3 ? in[0] : 1;
    s->h = in[dims - 2];
    s->w = in[dims - 1];
    s->o = w.at[0];
    s->cg = w.at[1];
    s->kd = dims == 3 ? k[0] : 1;
    s->kh = k[dims - 2];
    s->kw = k[dims - 1];
    if (!cv_check_groups(f, s, w, groups)) return false;
    if (!tni_mul(s->cg * s->kh, s->kw, &s->taps) || !tni_mul(s->taps, s->kd, &s->taps))
        return tn_fail(f, TN_MEMORY, "the weight is too large");
    if (!cv_lengths(f, s)) return false;
    /* A single output row has no next one: a smaller step keeps the phases few. */
    if (s->oh == 1 && s->sh > s->h + 2 * s->ph) s->sh = s->h + 2 * s->ph; /* as good as any more */
    if (s->ow == 1 && s->sw > s->w + 2 * s->pw) s->sw = s->w + 2 * s->pw;
    /* Elements of input, weight and output stay below 2^48, so that offsets and
     * amounts of work fit. */
    if (!cv_fits(s->n, s->c, s->d, s->h, s->w) || !cv_fits(s->o, s->cg, s->kd, s->kh, s->kw) ||
        !cv_fits(s->n, s->o, s->od, s->oh, s->ow))
        return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return true;
}

/* Sizes (n, c, d, h, w) without the depth in two dimensions, and without n if the input
 * had none. */
static int cv_size(const tni_cv_shape *s, int64_t c, int64_t d, int64_t h, int64_t w,
                   int64_t size[5]) {
    int n = 0;
    if (s->batched) size[n++] = s->n;
    size[n++] = c;
    if (s->dims == 3) size[n++] = d;
    size[n++] = h;
    size[n++] = w;
    return n;
}

TN_PRIV int tni_cv_output_size(const tni_cv_shape *s, int64_t size[5]) {
    return cv_size(s, s->o, s->od, s->oh, s->ow, size);
}
TN_PRIV int tni_cv_input_size(const tni_cv_shape *s, int64_t size[5]) {
    return cv_size(s, s->c, s->d, s->h, s->w, size);
}

TN_PRIV bool tni_cv_check_dtypes(tn_frame *f, const tn_tensor *a, const tn_tensor *b,
                                 const tn_tensor *bias, bool integers) {
    /* One dtype for all, floating or complex, integers only if `integers`. */
    const tni_dtype_info *info = tni_dtype(a->dtype);
    if (a->dtype != b->dtype || (bias && bias->dtype != a->dtype))
        return tn_fail(f, TN_TYPE, "expected scalar type %s but found %s", info->text,
                       tni_dtype(a->dtype != b->dtype ? b->dtype : bias->dtype)->text);
    if (!info->computes ||
        (info->category < TNI_CAT_FLOAT && !(integers && info->category == TNI_CAT_INT)))
        return tn_fail(f, TN_TYPE, "convolution of %s is not supported", info->text);
    return true;
}
