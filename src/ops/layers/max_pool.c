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

/* Which of the window's k places, d apart from `from` on, lie within 0..n-1. */
typedef struct pool_part {
    int64_t begin, end;
} pool_part;
static pool_part pool_inside(int64_t from, int64_t d, int64_t k, int64_t n) {
    pool_part v = {0, n - from};
    if (from < 0) v.begin = d == 1 ? -from : (d - 1 - from) / d;
    if (d > 1) v.end = from < n ? (n - 1 - from) / d + 1 : 0;
    if (v.end > k) v.end = k;
    return v;
}
/* Sets r to the part of window (p, q) that lies in the input; its first element in the plane. */
static int64_t pool_cut(const tni_pool_shape *s, int64_t p, int64_t q, tni_pool_row *r) {
    const int64_t y = p * s->sh - s->ph, x = q * s->sw - s->pw;
    const pool_part rows = pool_inside(y, s->dh, s->kh, s->h),
                    cols = pool_inside(x, s->dw, s->kw, s->w);
    r->rows = rows.end - rows.begin;
    r->taps = cols.end - cols.begin;
    r->first = rows.begin * s->kw + cols.begin;
    if (r->rows > 0 && r->taps > 0) return (y + rows.begin * s->dh) * s->w + x + cols.begin * s->dw;
    r->rows = 0; /* between dilated elements */
    r->first = -1;
    return 0;
}
/* Sets which windows of a row have all their columns. */
static void pool_set_whole(tni_pool_job *j) {
    const tni_pool_shape *s = &j->s;
    j->whole[0] = pool_inside(-s->pw, s->sw, s->ow, s->w).begin;
    j->whole[1] = pool_inside((s->kw - 1) * s->dw - s->pw, s->sw, s->ow, s->w).end;
}
/* How many windows from q on go together: whole ones, or one that padding cuts. */
static int64_t pool_together(const tni_pool_job *j, int64_t q) {
    return q >= j->whole[0] && q < j->whole[1] ? j->whole[1] - q : 1;
}
/* The kernel of integers. */
static void pool_row_i64(void *to, void *index, const void *from, const tni_pool_row *r) {
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t *x = (const int64_t *)from + i * r->step;
        int64_t best = INT64_MIN, at = r->first;
        for (int64_t row = 0; row < r->rows; row++)
            for (int64_t col = 0; col < r->taps; col++) {
                const int64_t v = x[row * r->down + col * r->apart];
                if (v <= best) continue;
                best = v;
                at = r->first + row * r->width + col;
            }
        ((int64_t *)to)[i] = best;
        if (index && r->bytes)
            ((uint8_t *)index)[i] = (uint8_t)at;
        else if (index)
            ((int32_t *)index)[i] = (int32_t)at;
    }
}
static void pool_max(const tni_pool_job *j, int64_t plane) {
    const tni_pool_shape *s = &j->s;
    const char *from = (const char *)j->from + plane * s->h * s->w * j->size;
    int64_t i = plane * s->oh * s->ow;
    tni_pool_row r = {1, s->sw, 0, s->dw, 0, s->dh * s->w, 0, s->kw, j->bytes};
    for (int64_t p = 0; p < s->oh; p++)
        for (int64_t q = 0; q < s->ow; q += r.n, i += r.n) {
            const int64_t at = pool_cut(s, p, q, &r);
            r.n = pool_together(j, q);
            j->row((char *)j->to + i * j->size,
                   j->index_to ? (char *)j->index_to + i * (j->bytes ? 1 : 4) : NULL,
                   from + at * j->size, &r);
            if (!r.rows && j->row == pool_row_i64) ((int64_t *)j->to)[i] = j->least;
        }
}
/* Line (image, p) where channels lie innermost: a row is the channels of a window. */
static void pool_line(const tni_pool_job *j, int64_t line) {
    const tni_pool_shape *s = &j->s;
    const int64_t c = s->planes;
    const char *from = (const char *)j->from + line / s->oh * s->h * s->w * c * j->size;
    tni_pool_row r = {c, 1, 0, s->dw * c, 0, s->dh * s->w * c, 0, s->kw, false};
    for (int64_t q = 0; q < s->ow; q++) {
        const int64_t at = pool_cut(s, line % s->oh, q, &r);
        j->row((char *)j->to + (line * s->ow + q) * c * j->size, NULL, from + at * c * j->size, &r);
    }
}

/* Place k of a window; one that it lacks lies outside of any plane. */
static tni_pool_place pool_place(const tni_pool_shape *s, int64_t k) {
    tni_pool_place v = {INT64_MIN / 2, 0, -1};
    if (k < 0 || k >= s->kh * s->kw) return v;
    v.y = k / s->kw * s->dh;
    v.x = k % s->kw * s->dw;
    if (v.y < s->h && v.x < s->w) v.flat = v.y * s->w + v.x;
    return v;
}
/* Where in the plane the chosen element of window i lies, which begins at (y, x); -1: a damaged
 * index points outside. */
TNI_INLINE int64_t pool_chosen(const tni_pool_job *j, int64_t i, int64_t y, int64_t x) {
    const tni_pool_shape *s = &j->s;
    tni_pool_place v;
    const tni_pool_place *at = &v;
    if (j->bytes)
        at = &j->places[((const uint8_t *)j->index)[i]];
    else
        v = pool_place(s, ((const int32_t *)j->index)[i]);
    y += at->y;
    x += at->x;
    return y < 0 || y >= s->h || x < 0 || x >= s->w ? -1 : y * s->w + x;
}
/* A gradient goes to the chosen element, windows in order; pick is the way back. Whole windows that
 * have a byte each, in a row, ask only whether it names a place. */
#define POOL_CHOSEN(S, T)                                                                   \
    static void pool_whole_##S(const tni_pool_job *j, int64_t i, int64_t end, T *at) {      \
        const T *from = (const T *)j->from;                                                 \
        const uint8_t *index = (const uint8_t *)j->index;                                   \
        for (; i < end; i++, at += j->s.sw) {                                               \
            const int64_t flat = j->places[index[i]].flat;                                  \
            if (flat >= 0) at[flat] += from[i];                                             \
        }                                                                                   \
    }                                                                                       \
    static void pool_scatter_##S(const tni_pool_job *j, int64_t plane) {                    \
        const tni_pool_shape *s = &j->s;                                                    \
        const T *from = (const T *)j->from;                                                 \
        T *to = (T *)j->to + plane * s->h * s->w;                                           \
        int64_t i = plane * s->oh * s->ow, n;                                               \
        memset(to, 0, (size_t)(s->h * s->w) * sizeof(T));                                   \
        for (int64_t p = 0; p < s->oh; p++)                                                 \
            for (int64_t q = 0; q < s->ow; q += n, i += n) {                                \
                const int64_t y = p * s->sh - s->ph, x = q * s->sw - s->pw;                 \
                const bool rows = y >= 0 && y + (s->kh - 1) * s->dh < s->h;                 \
                n = j->bytes && rows ? pool_together(j, q) : 1;                             \
                if (n > 1) {                                                                \
                    pool_whole_##S(j, i, i + n, to + y * s->w + x);                         \
                } else {                                                                    \
                    const int64_t at = pool_chosen(j, i, y, x);                             \
                    if (at >= 0) to[at] += from[i];                                         \
                }                                                                           \
            }                                                                               \
    }                                                                                       \
    static void pool_pick_##S(const tni_pool_job *j, int64_t plane) {                       \
        const tni_pool_shape *s = &j->s;                                                    \
        const T *from = (const T *)j->from + plane * s->h * s->w;                           \
        int64_t i = plane * s->oh * s->ow;                                                  \
        for (int64_t p = 0; p < s->oh; p++)                                                 \
            for (int64_t q = 0; q < s->ow; q++, i++) {                                      \
                const int64_t at = pool_chosen(j, i, p * s->sh - s->ph, q * s->sw - s->pw); \
                ((T *)j->to)[i] = at >= 0 ? from[at] : 0;                                   \
            }                                                                               \
    }
POOL_CHOSEN(f32, float)
POOL_CHOSEN(f64, double)
#undef POOL_CHOSEN

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
    const int compute = tni_lanes_compute(f->in[0]->dtype);
    const tni_kernels *kernels = f->block->context->kernels;
    tni_pool_job j;
    if (!max_pool2d_shape(f, &j.s)) return;
    j.bytes = pool_index_dtype(&j.s) == TN_U8;
    j.index_to = f->nout > 1 ? tni_bytes_at(f->out[1]) : NULL; /* in a replay, too */
    j.size = compute == TN_F32 ? 4 : 8;
    j.least = tni_pool_least(f->in[0]->dtype);
    j.plane = pool_max;
    pool_set_whole(&j);
    j.row = compute == TN_F32   ? TNI_K(kernels, max_pool_row_f32)
            : compute == TN_F64 ? TNI_K(kernels, max_pool_row_f64)
                                : pool_row_i64;
    if (!j.index_to && tni_pool_lines(f, &j, pool_line)) {
        TNI_PATH(pool_max_lines);
        return;
    }
    TNI_PATH(pool_max);
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
                      "[1,1] | (1,2,5,70) [2,3] | (1,1,7,41) [3] [2] [1] | (0,2,4,4) [2,2]",
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
/* Runs loops over planes by places in windows, those of f's indices. */
static void pool_chosen_run(tn_frame *f, tni_pool_job *j,
                            void (*single)(const tni_pool_job *j, int64_t plane),
                            void (*wide)(const tni_pool_job *j, int64_t plane)) {
    tni_pool_place places[256];
    j->bytes = pool_index_dtype(&j->s) == TN_U8;
    j->index = pool_indices(f, f->in[1]);
    j->places = places;
    pool_set_whole(j);
    j->plane = tni_lanes_compute(f->in[0]->dtype) == TN_F32 ? single : wide;
    for (int k = 0; k < 256; k++) places[k] = pool_place(&j->s, k);
    tni_pool_through(f, j);
}
static void max_pool2d_input_grad_run(tn_frame *f) {
    /* Windows that overlap add to one element in the order of the windows. */
    tni_pool_job j;
    if (!max_pool2d_input_grad_shape(f, &j.s)) return;
    TNI_PATH(pool_scatter);
    pool_chosen_run(f, &j, pool_scatter_f32, pool_scatter_f64);
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
              "(2,2,4,6) (2,2,4,6):u8<6 [2,2,7,7] [3,2] [2,1] [1,0] | "
              "(1,1,1,4) (1,1,1,4):i32<272 [1,1,17,19] [17,16] [1,1] | "
              "(1,2,4,5) (1,2,4,5):u8<9 [1,2,7,9] [3] [2] [1]")

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
    TNI_PATH(pool_pick);
    pool_chosen_run(f, &j, pool_pick_f32, pool_pick_f64);
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
