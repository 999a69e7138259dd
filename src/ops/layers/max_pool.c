/* max_pool.c - the largest element of each window, its gradient, and that gradient's derivative:
 * rows that can be differentiated any number of times.
 *
 * The maximum remembers its place in the window, a byte where windows are small.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "pool.h"
#include "../../autograd/give.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

#include <math.h>

/* Notes the place of the maximum of window i, if the call is recorded. */
static void pool_index_set(const tni_pool_job *j, int64_t i, int64_t at) {
    if (!j->index_to) return;
    if (j->bytes)
        ((uint8_t *)j->index_to)[i] = (uint8_t)at;
    else
        ((int32_t *)j->index_to)[i] = (int32_t)at;
}
/* Where in the plane window (p, q)'s chosen element lies; -1: a damaged index points outside. */
static int64_t pool_chosen(const tni_pool_job *j, int64_t i, int64_t p, int64_t q) {
    const tni_pool_shape *s = &j->s;
    const int64_t at = j->bytes ? ((const uint8_t *)j->index)[i] : ((const int32_t *)j->index)[i];
    const int64_t y = p * s->sh - s->ph + at / s->kw * s->dh,
                  x = q * s->sw - s->pw + at % s->kw * s->dw;
    return at < 0 || at >= s->kh * s->kw || y < 0 || y >= s->h || x < 0 || x >= s->w ? -1
                                                                                     : y * s->w + x;
}

/* Which of the window's k places, d apart from `from` on, lie within 0..n-1. */
typedef struct pool_part {
    int64_t begin, end;
} pool_part;
static pool_part pool_inside(int64_t from, int64_t d, int64_t k, int64_t n) {
    pool_part v = {from < 0 ? (d - 1 - from) / d : 0, from < n ? (n - 1 - from) / d + 1 : 0};
    if (v.end > k) v.end = k;
    return v;
}

/* Between dilated elements a window may miss the input: then the result is `least`. */
#define POOL_MAX(S, T, least)                                                           \
    static void pool_max_##S(const tni_pool_job *j, int64_t plane) {                    \
        const tni_pool_shape *s = &j->s;                                                \
        const T *from = (const T *)j->from + plane * s->h * s->w;                       \
        for (int64_t p = 0; p < s->oh; p++)                                             \
            for (int64_t q = 0; q < s->ow; q++) {                                       \
                const int64_t y = p * s->sh - s->ph, x = q * s->sw - s->pw,             \
                              i = (plane * s->oh + p) * s->ow + q;                      \
                const pool_part rows = pool_inside(y, s->dh, s->kh, s->h),              \
                                cols = pool_inside(x, s->dw, s->kw, s->w);              \
                int64_t at = -1;                                                        \
                T best = least;                                                         \
                for (int64_t r = rows.begin; r < rows.end; r++)                         \
                    for (int64_t c = cols.begin; c < cols.end; c++) {                   \
                        const T v = from[(y + r * s->dh) * s->w + x + c * s->dw];       \
                        if (at < 0 || v > best || v != v) best = v, at = r * s->kw + c; \
                    }                                                                   \
                ((T *)j->to)[i] = best;                                                 \
                pool_index_set(j, i, at);                                               \
            }                                                                           \
    }
POOL_MAX(f32, float, -INFINITY)
POOL_MAX(f64, double, -INFINITY)
POOL_MAX(i64, int64_t, INT64_MIN)
#undef POOL_MAX

/* Which windows of a row lie in the input with all their places. */
static pool_part pool_whole(const tni_pool_shape *s) {
    pool_part v = pool_inside(-s->pw, s->sw, s->ow, s->w);
    const pool_part last = pool_inside((s->kw - 1) * s->dw - s->pw, s->sw, s->ow, s->w);
    v.end = last.end < v.begin ? v.begin : last.end;
    return v;
}
/* Without places to note, all windows of a row side by side; first those that padding cuts. A
 * window begins at minus infinity; one between dilated rows of padding stays so. */
#define POOL_ROWS(S, T)                                                                         \
    static void pool_cut_##S(const tni_pool_shape *s, const T *row, T *to, int64_t begin,       \
                             int64_t end, bool fresh) {                                         \
        for (int64_t q = begin; q < end; q++) {                                                 \
            const pool_part cols = pool_inside(q * s->sw - s->pw, s->dw, s->kw, s->w);          \
            T best = fresh ? (T)-INFINITY : to[q];                                              \
            for (int64_t c = cols.begin; c < cols.end; c++) {                                   \
                const T v = row[q * s->sw - s->pw + c * s->dw];                                 \
                if (v > best || v != v) best = v;                                               \
            }                                                                                   \
            to[q] = best;                                                                       \
        }                                                                                       \
    }                                                                                           \
    static void pool_rows_##S(const tni_pool_job *j, int64_t plane) {                           \
        const tni_pool_shape *s = &j->s;                                                        \
        const T *from = (const T *)j->from + plane * s->h * s->w;                               \
        T *to = (T *)j->to + plane * s->oh * s->ow;                                             \
        const pool_part whole = pool_whole(s);                                                  \
        tni_pool_row r = {whole.end - whole.begin, s->sw, s->kw, s->dw, true};                  \
        for (int64_t p = 0; p < s->oh; p++, to += s->ow) {                                      \
            const int64_t y = p * s->sh - s->ph;                                                \
            const pool_part rows = pool_inside(y, s->dh, s->kh, s->h);                          \
            r.fresh = true;                                                                     \
            for (int64_t q = 0; rows.begin >= rows.end && q < s->ow; q++) to[q] = (T)-INFINITY; \
            for (int64_t i = rows.begin; i < rows.end; i++, r.fresh = false) {                  \
                const T *row = from + (y + i * s->dh) * s->w;                                   \
                pool_cut_##S(s, row, to, 0, whole.begin, r.fresh);                              \
                if (r.n) j->row(to + whole.begin, row + whole.begin * s->sw - s->pw, &r);       \
                pool_cut_##S(s, row, to, whole.end, s->ow, r.fresh);                            \
            }                                                                                   \
        }                                                                                       \
    }
POOL_ROWS(f32, float)
POOL_ROWS(f64, double)
#undef POOL_ROWS

/* Line (image, p) where channels lie innermost: a window is a row of channels with its taps. */
#define POOL_LINE(S, T)                                                                       \
    static void pool_line_##S(const tni_pool_job *j, int64_t line) {                          \
        const tni_pool_shape *s = &j->s;                                                      \
        const int64_t c = s->planes, y = line % s->oh * s->sh - s->ph;                        \
        const T *from = (const T *)j->from + line / s->oh * s->h * s->w * c;                  \
        const pool_part rows = pool_inside(y, s->dh, s->kh, s->h);                            \
        T *to = (T *)j->to + line * s->ow * c;                                                \
        for (int64_t q = 0; q < s->ow; q++, to += c) {                                        \
            const int64_t x = q * s->sw - s->pw;                                              \
            const pool_part cols = pool_inside(x, s->dw, s->kw, s->w);                        \
            tni_pool_row r = {c, 1, cols.end - cols.begin, s->dw * c, true};                  \
            const bool none = rows.begin >= rows.end || cols.begin >= cols.end;               \
            for (int64_t i = 0; none && i < c; i++) to[i] = (T)-INFINITY;                     \
            for (int64_t i = rows.begin; !none && i < rows.end; i++, r.fresh = false)         \
                j->row(to, from + ((y + i * s->dh) * s->w + x + cols.begin * s->dw) * c, &r); \
        }                                                                                     \
    }
POOL_LINE(f32, float)
POOL_LINE(f64, double)
#undef POOL_LINE

/* Windows of 2 x 2 side by side that need no padding: the kernel's case. */
static bool pool_is_pairs(const tni_pool_shape *s) {
    return s->kh == 2 && s->kw == 2 && s->sh == 2 && s->sw == 2 && s->ph == 0 && s->pw == 0 &&
           s->dh == 1 && s->dw == 1 && 2 * s->oh <= s->h && 2 * s->ow <= s->w;
}
/* Two rows of the input at a time make one of the result. */
static void pool_max_pairs(const tni_pool_job *j, int64_t plane) {
    const tni_pool_shape *s = &j->s;
    const float *from = (const float *)j->from + plane * s->h * s->w;
    for (int64_t p = 0; p < s->oh; p++) {
        const int64_t i = (plane * s->oh + p) * s->ow;
        TNI_K(j->kernels, max_pool_pairs)
        (from + 2 * p * s->w, from + (2 * p + 1) * s->w, s->ow, (float *)j->to + i,
         j->index_to ? (uint8_t *)j->index_to + i : NULL);
    }
}

/* A gradient goes to the chosen element, windows in order; pick is the way back. */
#define POOL_CHOSEN(S, T)                                                                        \
    static void pool_scatter_##S(const tni_pool_job *j, int64_t plane) {                         \
        const tni_pool_shape *s = &j->s;                                                         \
        T *to = (T *)j->to + plane * s->h * s->w;                                                \
        memset(to, 0, (size_t)(s->h * s->w) * sizeof(T));                                        \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const int64_t i = (plane * s->oh + p) * s->ow + q, at = pool_chosen(j, i, p, q); \
                if (at >= 0) to[at] += ((const T *)j->from)[i];                                  \
            }                                                                                    \
    }                                                                                            \
    static void pool_pick_##S(const tni_pool_job *j, int64_t plane) {                            \
        const tni_pool_shape *s = &j->s;                                                         \
        const T *from = (const T *)j->from + plane * s->h * s->w;                                \
        for (int64_t p = 0; p < s->oh; p++)                                                      \
            for (int64_t q = 0; q < s->ow; q++) {                                                \
                const int64_t i = (plane * s->oh + p) * s->ow + q, at = pool_chosen(j, i, p, q); \
                ((T *)j->to)[i] = at >= 0 ? from[at] : 0;                                        \
            }                                                                                    \
    }
POOL_CHOSEN(f32, float)
POOL_CHOSEN(f64, double)
#undef POOL_CHOSEN

/* Each window writes all of its four elements, so a plane is cleared only if windows do not cover
 * all of it. */
static void pool_scatter_pairs(const tni_pool_job *j, int64_t plane) {
    const tni_pool_shape *s = &j->s;
    float *to = (float *)j->to + plane * s->h * s->w;
    if (2 * s->oh < s->h || 2 * s->ow < s->w) memset(to, 0, (size_t)(s->h * s->w) * sizeof *to);
    for (int64_t p = 0; p < s->oh; p++) {
        const int64_t i = (plane * s->oh + p) * s->ow;
        TNI_K(j->kernels, max_pool_pairs_grad)
        ((const float *)j->from + i, (const uint8_t *)j->index + i, s->ow, to + 2 * p * s->w,
         to + (2 * p + 1) * s->w);
    }
}

/* --- max_pool2d ------------------------------------------------------------------------------- */

static tn_dtype pool_index_dtype(const tni_pool_shape *s) {
    return s->kh * s->kw <= 256 ? TN_U8 : TN_I32;
}

static bool max_pool2d_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(max_pool2d, a, f);
    return tni_pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                             a->dilation, a->ceil_mode);
}
static bool max_pool2d_check(tn_frame *f) {
    const bool lines = !f->recording && tni_pool_by_lines(f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], TNI_POOL_INTEGERS) && max_pool2d_shape(f, &s) &&
           (lines || tni_pool_scratch(f, f->in[0], s.size, s.ndim)) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, f->in[0], lines) &&
           (!f->recording || tn_announce(f, 1, pool_index_dtype(&s), s.ndim, s.size));
}
static void max_pool2d_run(tn_frame *f) {
    /* The loop by type; the kernel serves float alone. */
    const int compute = tni_lanes_compute(f->in[0]->dtype);
    const tni_kernels *kernels = f->block->context->kernels;
    tni_pool_job j;
    if (!max_pool2d_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index_to = f->nout > 1 ? tni_bytes_at(f->out[1]) : NULL; /* in a replay, too */
    j.plane = compute == TN_F32 ? pool_max_f32 : compute == TN_F64 ? pool_max_f64 : pool_max_i64;
    j.row = compute == TN_F32 ? TNI_K(kernels, max_pool_row_f32) : TNI_K(kernels, max_pool_row_f64);
    if (!j.index_to && tni_pool_lines(f, &j, compute == TN_F32 ? pool_line_f32 : pool_line_f64)) {
        TNI_PATH(pool_max_lines);
        return;
    }
    /* The kernel gives the same places as the loop. */
    if (compute == TN_F32 && pool_is_pairs(&j.s)) {
        TNI_PATH(pool_max_pairs);
        j.plane = pool_max_pairs;
    } else if (!j.index_to && compute != TN_I64) {
        TNI_PATH(pool_max_rows);
        j.plane = compute == TN_F32 ? pool_rows_f32 : pool_rows_f64;
    } else {
        TNI_PATH(pool_max);
    }
    tni_pool_through(f, &j);
}
static void max_pool2d_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d, a, g);
    tni_give_flat(g, 0,
                  tnp_max_pool2d_input_grad(g->incoming[0], g->out[1], tni_sizes(g->in[0]),
                                            a->kernel_size, a->stride, a->padding, a->dilation,
                                            a->ceil_mode));
}
/* All samples as one batch of images, or their only images. */
static tn_tensor *max_pool2d_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(max_pool2d, a, f);
    const bool join = f->in[0]->ndim == 4;
    tn_tensor *x = join ? tni_whole_join(whole[0]) : whole[0],
              *y = x ? tnp_max_pool2d(x, a->kernel_size, a->stride, a->padding, a->dilation,
                                      a->ceil_mode)
                     : NULL;
    return join ? tni_whole_split(y, whole[0]->size[0]) : y;
}
/* The largest element of each window. A NaN wins, padding never does; the first of equal elements
 * gets the gradient. stride None means kernel_size; ceil_mode keeps a last window that is cut off.
 * Real dtypes but bool. */
TN_OPERATOR(max_pool2d,
            "max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, "
            "int[2] dilation=1, "
            "bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W')",
                   .example = "tn_max_pool2d(x, TN_DIMS(2, 2))",
                   .differs = "parameter stride: [] there and None here: as the kernel"),
            .forms = TN_OUT | TN_IMAGES, .saves = "indices", .needs = "indices",
            .check = max_pool2d_check, .run = max_pool2d_run, .grad = max_pool2d_grad,
            .sample = "(2,3,6,8) [2,2] | (2,5,37) [2] | (1,2,4,36) [2,2] | (2,2,7,7) [3,2] "
                      "stride=[2,1] padding=[1,0] | (1,2,9,8) "
                      "[2,3] dilation=[2,2] | (1,2,5,7) [2,2] ceil_mode=True | (1,1,17,19) [17,16] "
                      "[1,1] | (0,2,4,4) [2,2]",
            .node = "MaxPool2DWithIndicesBackward0", .batched = TN_BATCHED(max_pool2d_batched))

static bool max_pool2d_input_grad_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    return tni_pool_shape_of(f, s, a->input_size, a->kernel_size, a->stride, a->padding,
                             a->dilation, a->ceil_mode);
}
/* Also asks for scratch, at its end, where the indices have to be copied. */
static bool pool_check_indices(tn_frame *f, const tni_pool_shape *s, const tn_tensor *indices) {
    if (indices->dtype != (int)pool_index_dtype(s))
        return tn_fail(f, TN_TYPE, "indices must be %s, got %s",
                       tni_dtype((int)pool_index_dtype(s))->text, tni_dtype(indices->dtype)->text);
    return tni_pool_check_size(f, s, indices, "indices") &&
           tn_scratch(f, indices->flags & TNI_CONTIGUOUS ? 0 : indices->numel,
                      tni_dtype_size(indices));
}
/* The indices in row-major order: in place, or copied to the end of the scratch. */
static const void *pool_indices(tn_frame *f, const tn_tensor *t) {
    const int64_t size = tni_dtype_size(t), bytes = t->numel * size;
    char *room;
    if (t->flags & TNI_CONTIGUOUS) return tni_bytes_at(t);
    room = (char *)f->scratch + f->scratch_bytes - (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN;
    for (int64_t i = 0; i < t->numel; i++)
        memcpy(room + i * size,
               tni_bytes_at(t) + tni_offset_of(t->ndim, t->size, t->stride, i) * size,
               (size_t)size);
    return room;
}
static bool max_pool2d_input_grad_check(tn_frame *f) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], 0) && max_pool2d_input_grad_shape(f, &s) &&
           tni_pool_check_size(f, &s, f->in[0], "grad") &&
           tni_pool_scratch(f, f->in[0], a->input_size.at, (int)a->input_size.n) &&
           pool_check_indices(f, &s, f->in[1]) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, (int)a->input_size.n,
                               a->input_size.at, f->in[0], false);
}
static void max_pool2d_input_grad_run(tn_frame *f) {
    /* Windows that overlap add to one element in the order of the windows. */
    const bool single = tni_lanes_compute(f->in[0]->dtype) == TN_F32;
    tni_pool_job j;
    if (!max_pool2d_input_grad_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index = pool_indices(f, f->in[1]);
    j.plane =
        single ? pool_is_pairs(&j.s) ? pool_scatter_pairs : pool_scatter_f32 : pool_scatter_f64;
    if (j.plane == pool_scatter_pairs)
        TNI_PATH(pool_scatter_pairs);
    else
        TNI_PATH(pool_scatter);
    tni_pool_through(f, &j);
}
static void max_pool2d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d_input_grad, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_max_pool2d_pick(g->incoming[0], g->in[1], a->kernel_size, a->stride, a->padding,
                                    a->dilation, a->ceil_mode));
}
/* The gradient of max_pool2d's input: adds each element of grad to the element that its window
 * chose. indices count the places of a window row by row: uint8, or int32 if a window has more than
 * 256. A place outside the window adds nothing. */
TN_OPERATOR(
    max_pool2d_input_grad,
    "max_pool2d_input_grad(Tensor grad, Tensor indices, int[] input_size, int[2] kernel_size, "
    "int[2]? stride=None, "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    TN_DOC(.shapes =
               "grad (N, C, H', W'), indices like grad, input_size (N, C, H, W) -> input_size",
           .example = "tn_max_pool2d_input_grad(d, index, TN_DIMS(1, 3, 8, 8), TN_DIMS(2, 2))"),
    .forms = TN_OUT | TN_IMAGES, .needs = "grad:indices", .check = max_pool2d_input_grad_check,
    .run = max_pool2d_input_grad_run, .grad = max_pool2d_input_grad_grad,
    .sample = "(2,3,3,4) (2,3,3,4):u8<4 [2,3,6,8] [2,2] | (2,2,18) (2,2,18):u8<4 [2,5,37] [2] | "
              "(2,2,4,6) (2,2,4,6):u8<6 "
              "[2,2,7,7] [3,2] [2,1] [1,0] | (1,1,1,4) (1,1,1,4):i32<272 [1,1,17,19] [17,16] [1,1]")

static bool max_pool2d_pick_shape(tn_frame *f, tni_pool_shape *s) {
    TN_ARGS(max_pool2d_pick, a, f);
    return tni_pool_shape_of(f, s, tni_sizes(f->in[0]), a->kernel_size, a->stride, a->padding,
                             a->dilation, a->ceil_mode);
}
static bool max_pool2d_pick_check(tn_frame *f) {
    tni_pool_shape s;
    return tni_pool_check_dtype(f, f->in[0], 0) && max_pool2d_pick_shape(f, &s) &&
           tni_pool_scratch(f, f->in[0], s.size, s.ndim) && pool_check_indices(f, &s, f->in[1]) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, f->in[0], false);
}
static void max_pool2d_pick_run(tn_frame *f) {
    tni_pool_job j;
    if (!max_pool2d_pick_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index = pool_indices(f, f->in[1]);
    j.plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? pool_pick_f32 : pool_pick_f64;
    TNI_PATH(pool_pick);
    tni_pool_through(f, &j);
}
static void max_pool2d_pick_grad(tn_gradient *g) {
    TN_ARGS(max_pool2d_pick, a, g);
    if (g->want[0])
        tn_give(g, 0,
                tnp_max_pool2d_input_grad(g->incoming[0], g->in[1], tni_sizes(g->in[0]),
                                          a->kernel_size, a->stride, a->padding, a->dilation,
                                          a->ceil_mode));
}
/* The element of each window at the place that indices names; 0 for a place outside the window. The
 * derivative of max_pool2d_input_grad. */
TN_OPERATOR(max_pool2d_pick,
            "max_pool2d_pick(Tensor self, Tensor indices, int[2] kernel_size, int[2]? stride=None, "
            "int[2] padding=0, "
            "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
            TN_DOC(.shapes = "self (N, C, H, W), indices (N, C, H', W') -> (N, C, H', W')",
                   .example = "tn_max_pool2d_pick(x, index, TN_DIMS(2, 2))"),
            .forms = TN_OUT | TN_IMAGES, .needs = "self:indices", .check = max_pool2d_pick_check,
            .run = max_pool2d_pick_run, .grad = max_pool2d_pick_grad,
            .sample = "(2,3,6,8) (2,3,3,4):u8<4 [2,2] | (2,2,7,7) (2,2,4,6):u8<6 [3,2] [2,1] [1,0] "
                      "| (1,4,5) (1,2,2):u8<4 [2,2]")
