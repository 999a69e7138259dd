/* im2col.c - the windows of a plane as columns (F.unfold) and the sum of columns back into a plane
 * (F.fold): each is the other's gradient.
 *
 * im2col moves elements of any strides as bytes; col2im adds in the order of the kernel's places.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

/* --- geometry --------------------------------------------------------------------------------- */

/* Windows where the last may begin at `room`, which is below 0 if none fits. */
static int64_t columns_count(int64_t room, int64_t stride) {
    return room < 0 ? (room + 1) / stride : room / stride + 1;
}
/* kernel_size, dilation, padding and stride, and the windows that fit into planes of h x w. */
static bool columns_windows(tn_frame *f, tni_pool_shape *s, const tn_ints option[4]) {
    if (!tni_pair_of(f, option[0], "kernel_size", 1, &s->kh, &s->kw) ||
        !tni_pair_of(f, option[1], "dilation", 1, &s->dh, &s->dw) ||
        !tni_pair_of(f, option[2], "padding", 0, &s->ph, &s->pw) ||
        !tni_pair_of(f, option[3], "stride", 1, &s->sh, &s->sw))
        return false;
    /* Options are at most INT32_MAX and sizes INT64_MAX / 4, so that these sums fit. */
    const int64_t room_h = s->h + 2 * s->ph - s->dh * (s->kh - 1) - 1,
                  room_w = s->w + 2 * s->pw - s->dw * (s->kw - 1) - 1;
    if (room_h < 0 || room_w < 0)
        return tn_fail(f, TN_INVALID,
                       "a kernel of (%lld, %lld) with dilation (%lld, %lld) is larger than the "
                       "padded planes (%lld, %lld): calculated shape of the array of sliding "
                       "blocks as (%lld, %lld), but its components must be at least one",
                       (long long)s->kh, (long long)s->kw, (long long)s->dh, (long long)s->dw,
                       (long long)(s->h + 2 * s->ph), (long long)(s->w + 2 * s->pw),
                       (long long)columns_count(room_h, s->sh),
                       (long long)columns_count(room_w, s->sw));
    s->oh = columns_count(room_h, s->sh);
    s->ow = columns_count(room_w, s->sw);
    s->d = 1;
    return true;
}
/* Sizes of which only the first, that of the batch, may be 0. */
static bool columns_sizes(tn_frame *f, tn_ints x, int dims, const char *wants) {
    char has[160];
    bool fits = x.n == dims || x.n == dims + 1;
    for (int64_t i = 0; fits && i < x.n; i++)
        fits = x.at[i] <= INT64_MAX / 4 && (x.at[i] > 0 || (i == 0 && x.n == dims + 1));
    return fits ||
           tn_fail(
               f, TN_INVALID,
               "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other "
               "non-zero dimensions for input %s, but got %s",
               dims, dims + 1, wants,
               tni_shape_text(has, sizeof has, (int)(x.n < TN_MAX_DIMS ? x.n : TN_MAX_DIMS), x.at));
}
/* Floating dtypes, complex ones and bool: those of a float kernel and of masks. */
static bool columns_dtype(tn_frame *f, const tn_tensor *t) {
    if (tni_dtype(t->dtype)->computes &&
        (tni_is_float(t->dtype) || tni_is_complex(t->dtype) || t->dtype == TN_BOOL))
        return true;
    return tn_fail(f, TN_UNSUPPORTED, "%s is not implemented for %s", f->row->name,
                   tni_dtype(t->dtype)->text);
}

/* --- im2col ----------------------------------------------------------------------------------- */

/* s.planes counts n and c. A task is one place of the kernel in one plane, a row of the result. */
typedef struct columns_job {
    tni_pool_shape s;
    const char *from;
    char *to;
    int64_t bytes, channels, stride[4]; /* in bytes: n, c, h, w */
} columns_job;

static bool im2col_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(im2col, a, f);
    const tn_tensor *x = f->in[0];
    const tn_ints option[4] = {a->kernel_size, a->dilation, a->padding, a->stride};
    const int batch = x->ndim == 4;
    if (!columns_sizes(f, tni_sizes(x), 3, "(N, C, H, W) or (C, H, W)")) return false;
    s->ndim = 2 + batch;
    s->h = x->size[1 + batch];
    s->w = x->size[2 + batch];
    if (!columns_windows(f, s, option)) return false;
    s->planes = batch ? x->size[0] * x->size[1] : x->size[0];
    s->size[0] = x->size[0];
    return (tni_mul(x->size[batch], s->kh, &s->size[batch]) &&
            tni_mul(s->size[batch], s->kw, &s->size[batch]) &&
            tni_mul(s->oh, s->ow, &s->size[1 + batch])) ||
           tn_fail(f, TN_MEMORY, "the result is too large");
}
static bool im2col_check(tn_frame *f) {
    tni_pool_shape s;
    return im2col_shape(f, &s) && columns_dtype(f, f->in[0]) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
/* Which of the result's ow columns, stride apart from x on, lie in the plane; between *begin and
 * *end. */
static void columns_inside(const tni_pool_shape *s, int64_t x, int64_t *begin, int64_t *end) {
    *begin = x < 0 ? (s->sw - 1 - x) / s->sw : 0;
    *end = x < s->w ? (s->w - 1 - x) / s->sw + 1 : 0;
    if (*end > s->ow) *end = s->ow;
    if (*begin > *end) *begin = *end;
}
static void im2col_task(void *arg, int64_t i) {
    const columns_job *j = (const columns_job *)arg;
    const tni_pool_shape *s = &j->s;
    /* i counts (n, c, kernel row, kernel column); the result's rows lie in this order. */
    const int64_t plane = i / (s->kh * s->kw), place = i % (s->kh * s->kw), bytes = j->bytes,
                  x = place % s->kw * s->dw - s->pw;
    const char *from =
        j->from + plane / j->channels * j->stride[0] + plane % j->channels * j->stride[1];
    char *to = j->to + i * s->oh * s->ow * bytes;
    int64_t begin, end;
    columns_inside(s, x, &begin, &end);
    for (int64_t p = 0; p < s->oh; p++, to += s->ow * bytes) {
        const int64_t y = p * s->sh - s->ph + place / s->kw * s->dh;
        if (y < 0 || y >= s->h || begin == end) {
            memset(to, 0, (size_t)(s->ow * bytes));
            continue;
        }
        memset(to, 0, (size_t)(begin * bytes));
        tni_move_row(to + begin * bytes, bytes,
                     from + y * j->stride[2] + (x + begin * s->sw) * j->stride[3],
                     s->sw * j->stride[3], end - begin, bytes);
        memset(to + end * bytes, 0, (size_t)((s->ow - end) * bytes));
    }
}
static void im2col_run(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    columns_job j;
    if (!im2col_shape(f, &j.s) || !f->out[0]->numel) return;
    j.bytes = tni_dtype_size(x);
    j.channels = x->size[x->ndim - 3];
    j.stride[0] = 0;
    for (int i = 0; i < x->ndim; i++) j.stride[4 - x->ndim + i] = x->stride[i] * j.bytes;
    j.from = tni_bytes_at(x);
    j.to = tni_bytes_at(f->out[0]);
    TNI_PATH(im2col);
    tni_lanes_spread(f->block->context, j.s.planes * j.s.kh * j.s.kw, f->out[0]->numel, im2col_task,
                     &j);
}
static void im2col_grad(tn_gradient *g) {
    TN_ARGS(im2col, a, g);
    const tn_tensor *x = g->in[0];
    tn_give(g, 0,
            tnp_col2im(g->incoming[0], tni_ints(x->size + x->ndim - 2, 2), a->kernel_size,
                       a->dilation, a->padding, a->stride));
}
/* The windows of each plane as columns: row (c, i, j) of the result has the element at place (i, j)
 * of every window of channel c, windows in row-major order, 0 in the padding. torch's F.unfold.
 * Floating and complex dtypes, and bool. */
TN_OPERATOR(im2col,
            "im2col(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] "
            "stride=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W) -> (N, C kH kW, L) or (C kH kW, L), "
                             "L windows",
                   .example = "tn_im2col(x, TN_DIMS(2, 2))",
                   .differs = "parameter dilation: required there; 1 as F.unfold has it | "
                              "parameter padding: required there; 0 as F.unfold has it | "
                              "parameter stride: required there; 1 as F.unfold has it",
                   .python = "nn.functional.unfold"),
            .forms = TN_OUT, .check = im2col_check, .run = im2col_run, .grad = im2col_grad,
            .sample = "(2,3,4,5) [2,3] | (2,7,6) [3] [2] [1] [2] | (0,2,4,4) [2,2] | (1,2,5,37) "
                      "[2,1] padding=[0,1] | (1,1,2,3) [1,5] padding=[0,4] stride=[1,3]")

/* --- col2im ----------------------------------------------------------------------------------- */

static bool col2im_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(col2im, a, f);
    const tn_tensor *x = f->in[0];
    const tn_ints option[4] = {a->kernel_size, a->dilation, a->padding, a->stride};
    const int batch = x->ndim == 3;
    int64_t windows, k;
    if (!columns_sizes(f, tni_sizes(x), 2, "(N, C kH kW, L) or (C kH kW, L)") ||
        !tni_pair_of(f, a->output_size, "output_size", 1, &s->h, &s->w) ||
        !columns_windows(f, s, option))
        return false;
    k = s->kh * s->kw; /* both at most INT32_MAX */
    if (x->size[batch] % k)
        return tn_fail(f, TN_INVALID,
                       "Expected size of input's dimension %d to be divisible by the product of "
                       "kernel_size, but got %lld rows and kernel_size (%lld, %lld)",
                       batch, (long long)x->size[batch], (long long)s->kh, (long long)s->kw);
    if (!tni_mul(s->oh, s->ow, &windows) || x->size[1 + batch] != windows)
        return tn_fail(f, TN_INVALID,
                       "Given output_size (%lld, %lld), expected size of input's dimension %d to "
                       "match the calculated number of sliding blocks %lld * %lld, but got %lld",
                       (long long)s->h, (long long)s->w, 1 + batch, (long long)s->oh,
                       (long long)s->ow, (long long)x->size[1 + batch]);
    s->ndim = 3 + batch;
    s->size[0] = x->size[0];
    s->size[batch] = x->size[batch] / k;
    s->size[1 + batch] = s->h;
    s->size[2 + batch] = s->w;
    s->planes = batch ? s->size[0] * s->size[1] : s->size[0];
    return true;
}
static bool col2im_check(tn_frame *f) {
    tni_pool_shape s;
    return col2im_shape(f, &s) && columns_dtype(f, f->in[0]) &&
           tni_pool_scratch(f, f->in[0], s.size, s.ndim) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size);
}
#define COL2IM(S, T)                                                                \
    static void col2im_##S(const tni_pool_job *j, int64_t plane) {                  \
        const tni_pool_shape *s = &j->s;                                            \
        const T *from = (const T *)j->from + plane * s->kh * s->kw * s->oh * s->ow; \
        T *to = (T *)j->to + plane * s->h * s->w;                                   \
        memset(to, 0, (size_t)(s->h * s->w) * sizeof(T));                           \
        for (int64_t place = 0; place < s->kh * s->kw; place++) {                   \
            const int64_t x = place % s->kw * s->dw - s->pw;                        \
            int64_t begin, end;                                                     \
            columns_inside(s, x, &begin, &end);                                     \
            for (int64_t p = 0; p < s->oh; p++, from += s->ow) {                    \
                const int64_t y = p * s->sh - s->ph + place / s->kw * s->dh;        \
                if (y < 0 || y >= s->h) continue;                                   \
                T *row = to + y * s->w + x;                                         \
                for (int64_t q = begin; q < end; q++) row[q * s->sw] += from[q];    \
            }                                                                       \
        }                                                                           \
    }
COL2IM(f32, float)
COL2IM(f64, double)
COL2IM(i64, int64_t)
#undef COL2IM
static void col2im_run(tn_frame *f) {
    const int compute = tni_lanes_compute(f->in[0]->dtype);
    tni_pool_job j;
    if (!col2im_shape(f, &j.s)) return;
    j.plane = compute == TN_F32 ? col2im_f32 : compute == TN_F64 ? col2im_f64 : col2im_i64;
    TNI_PATH(col2im);
    tni_pool_through(f, &j);
}
static void col2im_grad(tn_gradient *g) {
    TN_ARGS(col2im, a, g);
    tn_give(g, 0, tnp_im2col(g->incoming[0], a->kernel_size, a->dilation, a->padding, a->stride));
}
/* Adds each column's elements to the places of its window: planes of output_size of the columns
 * that im2col makes. torch's F.fold. Elements that windows share are sums; what lies in the padding
 * is left out. Floating and complex dtypes, and bool. */
TN_OPERATOR(col2im,
            "col2im(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, "
            "int[2] padding=0, int[2] stride=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C kH kW, L) or (C kH kW, L), L windows -> (N, C, H, W) or "
                             "(C, H, W), output_size (H, W)",
                   .example = "tn_col2im(x, TN_DIMS(4, 5), TN_DIMS(2, 2))",
                   .differs = "parameter dilation: required there; 1 as F.fold has it | "
                              "parameter padding: required there; 0 as F.fold has it | "
                              "parameter stride: required there; 1 as F.fold has it",
                   .python = "nn.functional.fold"),
            .forms = TN_OUT, .check = col2im_check, .run = col2im_run, .grad = col2im_grad,
            .sample = "(2,18,9) [4,5] [2,3] | (18,6) [7,6] [3] [2] [1] [2] | (0,8,9) [4,4] [2,2] "
                      "| (1,4,156) [5,37] [2,1] padding=[0,1]")
