/* conv_source.c - the input of a convolution laid out for its kernel (kernels/conv.h): padded, and
 * split by phase where the stride is not 1, a round of images at a time. */
#include "conv.h"

TN_PRIV void tni_cv_source_tensor(tni_cv_source *s, const tn_tensor *t, int dims) {
    const int d = t->ndim;
    const int64_t bytes = tni_dtype_size(t);
    /* Sizes and steps count from the right: t is (C, H, W), (N, C, H, W), or with D before H. */
    s->x = t->flags & (TNI_META | TNI_GHOST) ? NULL : tni_bytes_at(t);
    s->dtype = t->dtype;
    s->f64 = t->dtype == TN_F64;
    s->channels = t->size[d - 1 - dims];
    s->h = t->size[d - 2];
    s->w = t->size[d - 1];
    s->x_image = d == dims + 2 ? t->stride[0] * bytes : 0;
    s->x_channel = t->stride[d - 1 - dims] * bytes;
    s->d = s->depths = dims == 3 ? t->size[d - 3] : 1;
    s->x_plane = dims == 3 ? t->stride[d - 3] * bytes : 0;
    s->kd = s->z_step = s->z_by = 1;
    s->i_step = s->z_first = 0;
    s->x_row = t->stride[d - 2] * bytes;
    s->x_col = t->stride[d - 1] * bytes;
    s->last = false;
}

static bool source_is_plain(const tni_cv_source *s) {
    return s->dtype == TN_F32 || s->dtype == TN_F64;
}

/* Steps and rounds of the layout; rows, cols, top, left, sh, sw are set. */
TN_PRIV bool tni_cv_source_plan_layout(tni_cv_source *s, int64_t images) {
    int64_t ignored; /* only a check that 8-byte elements fit */
    /* A phase is rows x cols; a channel has sh * sw of them, a product that fits: tni_pair_of caps
     * both at INT32_MAX. */
    if (!tni_mul(s->rows, s->cols, &s->plane) || !tni_mul(s->plane, s->sh * s->sw, &s->channel) ||
        !tni_mul(s->channel, s->channels, &s->image) || !tni_mul(s->image, 8, &ignored))
        return false;
    /* As many images per round as TNI_CV_ROUND bytes hold, at least one. */
    s->images = s->image > 0 ? TNI_CV_ROUND / tni_cv_size(s) / s->image : images;
    if (s->images < 1) s->images = 1;
    if (s->images > images) s->images = images;
    /* Without stride and padding x can be read in place, if its rows are of contiguous floats. The
     * other steps are whole elements, as all strides are. */
    s->in_place = s->sh == 1 && s->sw == 1 && s->top == 0 && s->left == 0 && s->rows == s->h &&
                  s->cols == s->w && (s->last || s->x_col == tni_cv_size(s)) && s->kd == 1 &&
                  s->z_by == 1 && s->z_first == 0 && (s->depths - 1) * s->z_step < s->d &&
                  source_is_plain(s);
    /* A cache line of channels. */
    s->together = s->x_channel == tni_cv_size(s) && s->x_col != s->x_channel && s->kd == 1 &&
                          source_is_plain(s)
                      ? 64 / tni_cv_size(s)
                      : 1;
    return true;
}

/* The places [begin, end) of n for which place * step + at lies in [0, size). */
static void source_inside(int64_t at, int64_t step, int64_t size, int64_t n, int64_t *begin,
                          int64_t *end) {
    *begin = at < 0 ? (-at + step - 1) / step : 0;
    *end = size > at ? (size - at + step - 1) / step : 0;
    if (*end > n) *end = n;
}

/* Rows of one phase of n channels; only zeros were there. Plain rows go by the kernels, others
 * element by element. */
static void cv_source_phase(const tni_cv_source *s, const char *from, char *to, int64_t phase,
                            int64_t n) {
    /* Row r of the phase is row r sh + y0 of x, columns likewise. */
    const int64_t size = tni_cv_size(s), y0 = phase / s->sw - s->top, x0 = phase % s->sw - s->left;
    int64_t begin, end, top, bottom;
    source_inside(x0, s->sw, s->w, s->cols, &begin, &end);
    source_inside(y0, s->sh, s->h, s->rows, &top, &bottom);
    if (begin >= end || top >= bottom) return;
    /* To the first element that is copied; around it the zeros stay. */
    from += (top * s->sh + y0) * s->x_row + (begin * s->sw + x0) * s->x_col;
    to += (top * s->cols + begin) * size;
    /* Contiguous elements of the type go by the kernel, rows at once. */
    if (s->sw == 1 && s->x_col == size && source_is_plain(s)) {
        TNI_PATH(conv_source_rows);
        const int64_t step = s->sh * s->x_row / size;
        (s->f64 ? TNI_K(s->kernels, conv_rows_f64) : TNI_K(s->kernels, conv_rows_f32))(
            to, s->cols, from, step, bottom - top, end - begin);
        return;
    }
    if (s->together > 1) {
        TNI_PATH(conv_source_turned);
        for (int64_t r = top; r < bottom; r++, from += s->sh * s->x_row, to += s->cols * size)
            (s->f64 ? TNI_K(s->kernels, turn_f64) : TNI_K(s->kernels, turn_f32))(
                to, s->channel, from, s->sw * s->x_col / size, end - begin, n);
        return;
    }
    TNI_PATH(conv_source_elements);
    for (int64_t r = top; r < bottom; r++, from += s->sh * s->x_row, to += s->cols * size)
        tni_lanes_load(to, s->f64 ? TN_F64 : TN_F32, from, s->sw * s->x_col, s->dtype, end - begin);
}

/* Row i of a round that is `last`, of pixels. */
static void source_last_task(void *arg, int64_t i) {
    const tni_cv_source *s = (const tni_cv_source *)arg;
    const int64_t rows = s->phases * s->rows, image = i / rows, phase = i % rows / s->rows,
                  y = i % s->rows * s->sh + phase / s->sw - s->top, x0 = phase % s->sw - s->left,
                  first = y * s->x_row + x0 * s->x_col, /* may lie in the padding */
        pixel = s->channels * tni_cv_size(s);
    const char *from = s->x + (s->first + image) * s->x_image;
    char *to = s->at + image * s->image * tni_cv_size(s) + i % rows * s->cols * pixel;
    int64_t begin, end;
    TNI_PATH(conv_source_last);
    source_inside(x0, s->sw, s->w, s->cols, &begin, &end);
    if (y < 0 || y >= s->h || begin > end) begin = end = s->cols;
    memset(to, 0, (size_t)(begin * pixel));
    for (int64_t q = begin; q < end; q++)
        memcpy(to + q * pixel, from + (first + q * s->sw * s->x_col), (size_t)pixel);
    memset(to + end * pixel, 0, (size_t)((s->cols - end) * pixel));
}

static int64_t source_tasks(const tni_cv_source *s) {
    return (s->channels + s->together - 1) / s->together;
}
static void cv_source_task(void *arg, int64_t i) {
    const tni_cv_source *s = (const tni_cv_source *)arg;
    /* Task i: n channels from ch on of an image of the round, plane z / z_by of x's channel
     * ch / kd. */
    const int64_t tasks = source_tasks(s), image = i / tasks, ch = i % tasks * s->together,
                  left = s->channels - ch, n = left < s->together ? left : s->together,
                  at = s->first + image,
                  z = at % s->depths * s->z_step + ch % s->kd * s->i_step + s->z_first;
    const char *from = s->x + at / s->depths * s->x_image + ch / s->kd * s->x_channel;
    char *to = s->at + (image * s->image + ch * s->channel) * tni_cv_size(s);
    memset(to, 0, (size_t)(n * s->channel * tni_cv_size(s)));
    if (z < 0 || z % s->z_by != 0 || z / s->z_by >= s->d) return;
    from += z / s->z_by * s->x_plane;
    for (int64_t phase = 0; phase < s->sh * s->sw; phase++)
        cv_source_phase(s, from, to + phase * s->plane * tni_cv_size(s), phase, n);
}

TN_PRIV int64_t tni_cv_source_count(const tni_cv_source *s, int64_t first, int64_t images) {
    const int64_t left = s->depths > 1 ? s->depths - first % s->depths : images - first;
    return left < s->images ? left : s->images;
}

/* Images [first, first + n) at s->at; room: of s->images * s->image + TNI_CV_SLACK elements. */
TN_PRIV void tni_cv_source_round(tn_context *c, tni_cv_source *s, int64_t first, int64_t n,
                                 void *room) {
    s->first = first;
    if (first > 0) TNI_PATH(conv_rounds);
    if (s->in_place) {
        TNI_PATH(conv_source_in_place);
        s->at = (char *)s->x + first / s->depths * s->x_image + /* only read */
                first % s->depths * s->z_step * s->x_plane;
        return;
    }
    s->at = (char *)room;
    s->kernels = c->kernels;
    /* Behind the last image kernels may read, but use nothing. */
    memset(s->at + n * s->image * tni_cv_size(s), 0, (size_t)(TNI_CV_SLACK * tni_cv_size(s)));
    if (s->last)
        tni_parallel(c, n * s->phases * s->rows, source_last_task, s);
    else
        tni_parallel(c, n * source_tasks(s), cv_source_task, s);
}
TN_PRIV int64_t tni_cv_source_room(const tni_cv_source *s) {
    return s->in_place ? 0 : s->images * s->image + TNI_CV_SLACK;
}

TN_PRIV const char *tni_cv_source_end(const tni_cv_source *s, int64_t n) {
    /* x itself: the end of the last row of the last channel. */
    if (!s->in_place) return s->at + (n * s->image + TNI_CV_SLACK) * tni_cv_size(s);
    return s->at + (n - 1) * tni_cv_image_step(s) * tni_cv_size(s) +
           (s->channels - 1) * s->x_channel + (s->h - 1) * s->x_row + s->w * tni_cv_size(s);
}
/* The input of a convolution: taps (c, i, j) of weight are reads shifted by i * dh, j * dw. */
TN_PRIV bool tni_cv_source_forward(tni_cv_source *s, const tni_cv_shape *v) {
    s->sh = v->sh;
    s->sw = v->sw;
    /* A single tap reads the first. */
    s->phases = v->kh * v->kw == 1 ? 1 : v->sh * v->sw;
    s->top = v->ph;
    s->left = v->pw;
    /* Taps along the depth are channels. */
    s->channels *= v->kd;
    s->kd = v->kd;
    s->depths = v->od;
    s->z_step = v->sd;
    s->i_step = v->dd;
    s->z_first = -v->pd;
    /* A phase has a row for each output row, and those that later taps reach. */
    s->rows = v->oh + (v->kh - 1) * v->dh / v->sh;
    s->cols = v->ow + (v->kw - 1) * v->dw / v->sw;
    /* As x is, so that it may serve in place. */
    if (v->sh == 1 && v->sw == 1 && v->ph == 0 && v->pw == 0) {
        s->rows = v->h;
        s->cols = v->w;
    }
    return tni_cv_source_plan_layout(s, v->n * v->od);
}
TN_PRIV void tni_cv_offsets_forward(const tni_cv_source *s, const tni_cv_shape *v,
                                    int64_t *offset) {
    for (int64_t c = 0; c < v->cg * v->kd; c++)
        for (int64_t i = 0; i < v->kh; i++)
            for (int64_t j = 0; j < v->kw; j++) {
                /* Tap (i, j) reads (y, x) of each window: phase (y mod sh, x mod sw), shifted by
                 * the quotients. */
                const int64_t y = i * v->dh, x = j * v->dw, phase = y % v->sh * v->sw + x % v->sw;
                *offset++ = c * tni_cv_channel_step(s) +
                            (phase * s->plane + x / v->sw) * tni_cv_pixel(s) +
                            y / v->sh * tni_cv_pitch(s);
            }
}

/* Pieces begin aligned. A sum that overflows is remembered in fits, so callers need no
 * checks between. */
TN_PRIV void *tni_cv_take(tni_cv_room *r, int64_t count, int64_t each) {
    const int64_t at = r->used;
    int64_t bytes;
    if (!tni_bytes(count, each, &bytes) || !tni_add(bytes, TNI_ALIGN - 1, &bytes) ||
        !tni_add(r->used, bytes & -TNI_ALIGN, &r->used))
        r->fits = false;
    return r->base ? r->base + at : NULL;
}
TN_PRIV bool tni_cv_ask(tn_frame *f, const tni_cv_room *r) {
    if (!r->fits) return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return tn_scratch(f, r->used, 1);
}
