/* pool_shape.c - what poolings accept: the geometry of windows, sizes and dtypes.
 * Cold: it has no loop over elements, and a pooling takes longer than its checks. */
#include "pool.h"
#include "../../call/arguments.h"

TN_PRIV bool tni_pool_length(tn_frame *f, int64_t in, int64_t k, int64_t stride, int64_t pad,
                             int64_t dilation, bool ceil_mode, int64_t *out) {
    /* room: how far the window may move. ceil_mode rounds the number of moves up. */
    const int64_t room = in + 2 * pad - dilation * (k - 1) - 1;
    if (pad > k / 2)
        return tn_fail(f, TN_INVALID, "padding %lld must be at most half of kernel size %lld",
                       (long long)pad, (long long)k);
    /* torch's formula; without room there is no window. */
    *out = room + (ceil_mode ? stride - 1 : 0);
    *out = *out < 0 ? 0 : *out / stride + 1;
    if (ceil_mode && (*out - 1) * stride >= in + pad) --*out;
    if (*out < 1)
        return tn_fail(f, TN_INVALID, "kernel size %lld is larger than the padded input, %lld",
                       (long long)k, (long long)(in + 2 * pad));
    return true;
}

TN_PRIV bool tni_pool_planes(tn_frame *f, tni_pool_shape *s, tn_ints x, int64_t least) {
    /* A plane is h x w; all dimensions before are one count of planes. */
    char has[160];
    int64_t n = 1;
    s->ndim = (int)x.n;
    if (x.n != 3 && x.n != 4)
        return tn_fail(f, TN_INVALID, "expected input (N, C, H, W) or (C, H, W), got %s",
                       tni_shape_text(has, sizeof has, (int)x.n, x.at));
    for (int64_t i = 0; i < x.n; i++) {
        /* By the place from the right: N, C, then H and W. */
        if (x.at[i] < (x.n - i == 4 ? 0 : x.n - i == 3 ? least : 1))
            return tn_fail(f, TN_INVALID, "expected sizes of at least 1, except for N%s, got %s",
                           least ? "" : " and C", tni_shape_text(has, sizeof has, (int)x.n, x.at));
        if (x.at[i] > INT64_MAX / 4 || (i + 2 < x.n && !tni_mul(n, x.at[i], &n)))
            return tn_fail(f, TN_MEMORY, "the input is too large");
        s->size[i] = x.at[i];
    }
    s->planes = n;
    s->h = x.at[x.n - 2];
    s->w = x.at[x.n - 1];
    s->d = s->od = s->kd = s->sd = 1;
    s->pd = 0;
    return true;
}

TN_PRIV bool tni_pool_shape_of(tn_frame *f, tni_pool_shape *s, tn_ints x, tn_ints kernel,
                               tn_ints stride, tn_ints padding, tn_ints dilation, bool ceil_mode) {
    /* Each check sets what the next one needs; the sizes are bounded, so that sums of them fit. */
    if (!tni_pool_planes(f, s, x, 1) || !tni_pair_of(f, kernel, "kernel_size", 1, &s->kh, &s->kw) ||
        !tni_pair_of(f, stride.n > 0 ? stride : kernel, "stride", 1, &s->sh, &s->sw) ||
        !tni_pair_of(f, padding, "padding", 0, &s->ph, &s->pw) ||
        !tni_pair_of(f, dilation, "dilation", 1, &s->dh, &s->dw) ||
        !tni_pool_length(f, s->h, s->kh, s->sh, s->ph, s->dh, ceil_mode, &s->oh) ||
        !tni_pool_length(f, s->w, s->kw, s->sw, s->pw, s->dw, ceil_mode, &s->ow))
        return false;
    /* A place in the window is an int32. */
    if (s->kh * s->kw > INT32_MAX)
        return tn_fail(f, TN_INVALID, "a window of %lld x %lld has more than 2^31 - 1 elements",
                       (long long)s->kh, (long long)s->kw);
    s->size[s->ndim - 2] = s->oh;
    s->size[s->ndim - 1] = s->ow;
    return true;
}

TN_PRIV bool tni_pool_volumes_of(tn_frame *f, tni_pool_shape *s, tn_ints x, tn_ints kernel,
                                 tn_ints stride, tn_ints padding, bool ceil_mode) {
    char has[160];
    int64_t k[3], step[3], pad[3], out[3] = {0, 0, 0}, count;
    bool fits = x.n == 4 || x.n == 5;
    for (int64_t i = 0; fits && i < x.n; i++)
        fits = x.at[i] <= INT64_MAX / 4 && (x.at[i] > 0 || (i == 0 && x.n == 5));
    if (!fits)
        return tn_fail(
            f, TN_INVALID,
            "expected input (N, C, D, H, W) or (C, D, H, W) with sizes of at least 1, "
            "except for N, got %s",
            tni_shape_text(has, sizeof has, (int)(x.n < TN_MAX_DIMS ? x.n : TN_MAX_DIMS), x.at));
    if (!tni_each_of(f, kernel, "kernel_size", 3, 1, k) ||
        !tni_each_of(f, stride.n > 0 ? stride : kernel, "stride", 3, 1, step) ||
        !tni_each_of(f, padding, "padding", 3, 0, pad))
        return false;
    if (!tni_mul(k[0], k[1], &count) || !tni_mul(count, k[2], &count) || count > INT32_MAX)
        return tn_fail(f, TN_INVALID,
                       "a window of %lld x %lld x %lld has more than 2^31 - 1 elements",
                       (long long)k[0], (long long)k[1], (long long)k[2]);
    s->ndim = (int)x.n;
    s->planes = 1;
    for (int i = 0; i < s->ndim; i++) {
        const int axis = i - (s->ndim - 3);
        s->size[i] = x.at[i];
        if (axis < 0 && !tni_mul(s->planes, x.at[i], &s->planes))
            return tn_fail(f, TN_MEMORY, "the input is too large");
        if (axis < 0) continue;
        if (!tni_pool_length(f, x.at[i], k[axis], step[axis], pad[axis], 1, ceil_mode, &out[axis]))
            return false;
        s->size[i] = out[axis];
    }
    const int64_t *in = x.at + s->ndim - 3;
    s->d = in[0], s->od = out[0], s->kd = k[0], s->sd = step[0], s->pd = pad[0];
    s->h = in[1], s->oh = out[1], s->kh = k[1], s->sh = step[1], s->ph = pad[1];
    s->w = in[2], s->ow = out[2], s->kw = k[2], s->sw = step[2], s->pw = pad[2];
    s->dh = s->dw = 1;
    return true;
}

TN_PRIV bool tni_pool_check_size(tn_frame *f, const tni_pool_shape *s, const tn_tensor *t,
                                 const char *name) {
    char has[160], wants[160];
    bool same = t->ndim == s->ndim;
    for (int i = 0; same && i < s->ndim; i++) same = t->size[i] == s->size[i];
    return same || tn_fail(f, TN_INVALID, "expected %s %s, got %s", name,
                           tni_shape_text(wants, sizeof wants, s->ndim, s->size),
                           tni_shape_text(has, sizeof has, t->ndim, t->size));
}

TN_PRIV bool tni_pool_check_dtype(tn_frame *f, const tn_tensor *t, int also) {
    if (tni_dtype(t->dtype)->computes &&
        (tni_is_float(t->dtype) || (also & TNI_POOL_INTEGERS && tni_is_int(t->dtype)) ||
         (also & TNI_POOL_INT64 && t->dtype == TN_I64) ||
         (also & TNI_POOL_COMPLEX && tni_is_complex(t->dtype))))
        return true;
    return tn_fail(f, TN_TYPE, "pooling of %s is not supported", tni_dtype(t->dtype)->text);
}
