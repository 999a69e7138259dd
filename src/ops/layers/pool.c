/* pool.c - what poolings share: the geometry of windows, tensors as elements that loops compute
 * with, and planes dealt out to threads.
 *
 * A task is a few planes (n, c). Elements are float, double or int64; other dtypes, and inputs that
 * are not row-major, are copied into such first; complex numbers as the planes of their real parts,
 * then those of their imaginary ones.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"

/* --- geometry --------------------------------------------------------------------------------- */

TN_PRIV bool tni_pool_length(tn_frame *f, int64_t in, int64_t k, int64_t stride, int64_t pad,
                             int64_t dilation, bool ceil_mode, int64_t *out) {
    /* room: how far the window may move. ceil_mode rounds the number of moves up. */
    const int64_t room = in + 2 * pad - dilation * (k - 1) - 1;
    if (pad > ((k - 1) * dilation + 1) / 2)
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
    int64_t k[3], step[3], pad[3], out[3] = {0, 0, 0};
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

/* --- tensors as row-major elements of a compute type ------------------------------------------ */

typedef struct pool_copy {
    const tn_tensor *t;
    char *wide;
    int compute;
    bool back;
} pool_copy;

static int64_t pool_compute_size(const tn_tensor *t) {
    return tni_lanes_compute(t->dtype) == TN_F32 ? 4 : 8;
}
static bool pool_is_plain(const tn_tensor *t) {
    return (t->flags & TNI_CONTIGUOUS) && t->dtype == tni_lanes_compute(t->dtype);
}

static int pool_parts(const tn_tensor *t) { return tni_is_complex(t->dtype) ? 2 : 1; }
static void pool_copy_task(void *arg, int64_t i) { /* one innermost row */
    const pool_copy *p = (const pool_copy *)arg;
    const tn_tensor *t = p->t;
    /* at: the row's offset in t; wide: its place in the row-major copy. Of a complex tensor the
     * planes of real parts come first, then those of imaginary ones. */
    const int last = t->ndim - 1, parts = pool_parts(t),
              dtype = parts == 2 ? (int)tni_real_of(t->dtype) : t->dtype;
    const int64_t at = tni_offset_of(last, t->size, t->stride, i), bytes = tni_dtype_size(t),
                  size = p->compute == TN_F32 ? 4 : 8;
    char *wide = p->wide + i * t->size[last] * size;
    for (int k = 0; k < parts; k++, wide += t->numel * size) {
        char *narrow = tni_bytes_at(t) + at * bytes + k * bytes / parts;
        if (p->back)
            tni_lanes_save(narrow, t->stride[last] * bytes, dtype, wide, p->compute, t->size[last]);
        else
            tni_lanes_load(wide, p->compute, narrow, t->stride[last] * bytes, dtype, t->size[last]);
    }
}
static void *pool_plain(tn_frame *f, const tn_tensor *t, void *room, bool load) {
    pool_copy p;
    /* Where t is as the loops want it, they use it itself. */
    if (pool_is_plain(t)) return tni_bytes_at(t);
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = false;
    if (load && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
    return room;
}
static void pool_store(tn_frame *f, const tn_tensor *t, void *room) {
    /* Back from the copy, rounded to t's dtype; nothing to do where t itself was written. */
    pool_copy p;
    p.t = t;
    p.wide = (char *)room;
    p.compute = tni_lanes_compute(t->dtype);
    p.back = true;
    if (!pool_is_plain(t) && t->numel)
        tni_parallel(f->block->context, t->numel / t->size[t->ndim - 1], pool_copy_task, &p);
}
TN_PRIV bool tni_pool_scratch(tn_frame *f, const tn_tensor *in, const int64_t *size, int ndim) {
    /* A multiple of 16 elements keeps what lies behind the copy aligned. */
    int64_t n = pool_is_plain(in) ? 0 : in->numel, out = 0;
    n = (n + 15) / 16 * 16;
    if (in->dtype != tni_lanes_compute(in->dtype) && !tni_numel_of(ndim, size, &out))
        return tn_fail(f, TN_MEMORY, "the result is too large");
    return tn_scratch(f, n, pool_parts(in) * pool_compute_size(in)) &&
           tn_scratch(f, out, pool_parts(in) * pool_compute_size(in));
}
static void *pool_second(tn_frame *f, const tn_tensor *in) { /* the result's part of the scratch */
    const int64_t n = pool_is_plain(in) ? 0 : (in->numel + 15) / 16 * 16;
    return f->scratch ? (char *)f->scratch + n * pool_parts(in) * pool_compute_size(in) : NULL;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void pool_task(void *arg, int64_t i) {
    const tni_pool_job *j = (const tni_pool_job *)arg;
    for (int64_t p = i * j->each; p < (i + 1) * j->each && p < j->s.planes; p++) j->plane(j, p);
}
static void pool_windows_run(tn_frame *f, tni_pool_job *j) {
    const tni_pool_shape *s = &j->s; /* a window reads at most the whole plane */
    /* deep: slices of a volume that are read; 1 for planes. */
    const double deep = s->d > 1 ? (double)s->od * (double)(s->kd < s->d ? s->kd : s->d) : 1;
    /* work: elements that a plane reads and writes at most; a task has about 2^15 of them. */
    const double places =
                     (double)(s->kh < s->h ? s->kh : s->h) * (double)(s->kw < s->w ? s->kw : s->w),
                 work = fma((double)s->oh * (double)s->ow, places, (double)s->h * (double)s->w);
    j->each = (int64_t)((1 << 15) / fma(deep, work, 1)) + 1;
    tni_parallel(f->block->context, (j->s.planes + j->each - 1) / j->each, pool_task, j);
}

/* Channels innermost, without gaps. */
static bool pool_is_last(const tn_tensor *t) {
    int64_t stride[4];
    if (t->ndim != 4 || !tni_is_float(t->dtype) || t->dtype != tni_lanes_compute(t->dtype))
        return false;
    tni_channels_last(4, t->size, stride);
    for (int d = 0; d < 4; d++)
        if (t->size[d] != 1 && t->stride[d] != stride[d]) return false;
    return true;
}
TN_PRIV bool tni_pool_by_lines(const tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return x->device == TN_CPU && !(x->flags & TNI_CONTIGUOUS) && pool_is_last(x) &&
           tni_like_channels_last(x);
}
static void pool_line_task(void *arg, int64_t i) {
    const tni_pool_job *j = (const tni_pool_job *)arg;
    const int64_t lines = j->s.size[0] * j->s.oh;
    for (int64_t n = i * j->each; n < (i + 1) * j->each && n < lines; n++) j->line(j, n);
}
TN_PRIV bool tni_pool_lines(tn_frame *f, tni_pool_job *j,
                            void (*line)(const tni_pool_job *j, int64_t line)) {
    tni_pool_shape *s = &j->s;
    if (!tni_pool_by_lines(f) || !pool_is_last(f->out[0])) return false;
    j->line = line;
    s->planes = f->in[0]->size[1];
    j->from = tni_bytes_at(f->in[0]);
    j->to = tni_bytes_at(f->out[0]);
    if (!f->out[0]->numel) return true;
    /* A task makes about 2^15 elements. */
    j->each = (1 << 15) / (s->ow * s->planes) + 1;
    tni_parallel(f->block->context, (s->size[0] * s->oh + j->each - 1) / j->each, pool_line_task,
                 j);
    return true;
}

TN_PRIV void tni_pool_through(tn_frame *f, tni_pool_job *j) {
    /* The loops know planes alone: those of parts are as many again. */
    void *room = pool_second(f, f->in[0]);
    j->kernels = f->block->context->kernels;
    j->s.planes *= pool_parts(f->in[0]);
    j->from = pool_plain(f, f->in[0], f->scratch, true);
    j->to = pool_plain(f, f->out[0], room, false);
    pool_windows_run(f, j);
    pool_store(f, f->out[0], room);
}
