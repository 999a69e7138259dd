/* conv.h - convolutions as loops: their sizes, sources laid out for kernels, and plain loops where
 * there is no kernel. Checks no argument. */
#ifndef TNI_CPU_CONV_H
#define TNI_CPU_CONV_H

#include "lanes.h"

/* x (n, c, h, w), weight (o, c / groups, kh, kw), y (n, o, oh, ow); in three dimensions x (n, c, d,
 * h, w), weight (o, c / groups, kd, kh, kw), y (n, o, od, oh, ow). In two, depths are 1. */
typedef struct tni_cv_shape {
    int64_t n, c, h, w, o, kh, kw, oh, ow, groups, cg, og; /* cg, og: channels of a group */
    int64_t sh, sw, ph, pw, dh, dw;                        /* stride, padding, dilation */
    int64_t d, kd, od, sd, pd, dd;                         /* the same of the depth */
    int64_t taps;                                          /* cg * kd * kh * kw */
    int dims;                                              /* 2 or 3 */
    bool batched;
} tni_cv_shape;

/* Convolutions that conv_plain.c makes: of integers and of complex numbers. The tensor that is the
 * result; numel: its elements. */
enum { TNI_CV_OUTPUT, TNI_CV_INPUT, TNI_CV_WEIGHT };
TNI_INLINE bool tni_cv_is_plain(const tn_tensor *t) { return !tni_is_float(t->dtype); }
TN_PRIV bool tni_cv_plain_ask(tn_frame *f, int64_t numel);
TN_PRIV void tni_cv_plain_run(tn_frame *f, const tni_cv_shape *s, int result);

/* TNI_CV_ROUND bytes are laid out at a time; a task has TNI_CV_WORK multiply-adds, unless there
 * are fewer than TNI_CV_TASKS; TNI_CV_SLACK elements behind a source may be read. */
enum { TNI_CV_ROUND = 2 << 20, TNI_CV_SLACK = 64, TNI_CV_WORK = 1 << 18, TNI_CV_TASKS = 16 };

/* A volume is laid out as planes: image (n, z), z < depths, of channel (c, i), i < kd, is plane
 * (z z_step + i i_step + z_first) / z_by of x's channel c, or 0 where that is no plane or no whole
 * number. In two dimensions an image is one plane.
 *
 * If `last`, each of these elements is a pixel of all channels, and `plane` counts pixels.
 *
 * Row r and column q of phase (a, b) hold element (r * sh + a - top, q * sw + b - left) of x, or
 * 0 outside it. */
typedef struct tni_cv_source {
    const char *x; /* of dtype, steps in bytes */
    int dtype;
    int64_t channels, h, w, x_image, x_channel, x_row, x_col;
    int64_t d, x_plane, depths, kd, z_step, i_step, z_first, z_by;
    int64_t sh, sw, top, left, rows, cols;
    int64_t plane, channel, image; /* elements of a phase, of a channel, of an image, laid out */
    int64_t images;                /* per round */
    int64_t together;              /* channels a task: side by side in x they are turned at once */
    bool f64, in_place;            /* in_place: x serves as it is */
    bool last;                     /* channels innermost, in x and laid out: a pixel is a line */
    int64_t phases;                /* last: those that are laid out */
    const tni_kernels *kernels;
    char *at;      /* the copy of this round, or x */
    int64_t first; /* image of the round */
} tni_cv_source;

/* The fields that t decides, of `dims` dimensions; images are its planes. It is not `last`. */
TN_PRIV void tni_cv_source_tensor(tni_cv_source *s, const tn_tensor *t, int dims);
/* Steps and rounds of the layout, from sh, sw, top, left, rows, cols; false: too large. */
TN_PRIV bool tni_cv_source_plan_layout(tni_cv_source *s, int64_t images);
/* The layout of a convolution's input. */
TN_PRIV bool tni_cv_source_forward(tni_cv_source *s, const tni_cv_shape *v);
/* Offset of tap (c, i, j) of weight in it. */
TN_PRIV void tni_cv_offsets_forward(const tni_cv_source *s, const tni_cv_shape *v, int64_t *offset);
/* How many images from `first` on make a round: planes of a volume do not follow those of the
 * next. */
TN_PRIV int64_t tni_cv_source_count(const tni_cv_source *s, int64_t first, int64_t images);
/* Images [first, first + n) at s->at; room is for tni_cv_source_room elements. */
TN_PRIV void tni_cv_source_round(tn_context *c, tni_cv_source *s, int64_t first, int64_t n,
                                 void *room);
TN_PRIV int64_t tni_cv_source_room(const tni_cv_source *s);
/* The first address behind n images that may not be read. */
TN_PRIV const char *tni_cv_source_end(const tni_cv_source *s, int64_t n);
TNI_INLINE int64_t tni_cv_size(const tni_cv_source *s) { return s->f64 ? 8 : 4; }
TNI_INLINE int64_t tni_cv_image_step(const tni_cv_source *s) {
    const int64_t step = s->depths > 1 ? s->z_step * s->x_plane : s->x_image;
    return s->in_place ? step / tni_cv_size(s) : s->image;
}
TNI_INLINE int64_t tni_cv_channel_step(const tni_cv_source *s) {
    return s->last ? 1 : s->in_place ? s->x_channel / tni_cv_size(s) : s->channel;
}
TNI_INLINE int64_t tni_cv_pixel(const tni_cv_source *s) {
    return !s->last ? 1 : s->in_place ? s->x_col / tni_cv_size(s) : s->channels;
}
TNI_INLINE int64_t tni_cv_pitch(const tni_cv_source *s) {
    return s->in_place ? s->x_row / tni_cv_size(s) : s->cols * tni_cv_pixel(s);
}

/* Hands out pieces of the call's scratch; with base NULL it only counts. */
typedef struct tni_cv_room {
    char *base;
    int64_t used;
    bool fits;
} tni_cv_room;

TN_PRIV void *tni_cv_take(tni_cv_room *r, int64_t count, int64_t each);
TN_PRIV bool tni_cv_ask(tn_frame *f, const tni_cv_room *r);

#endif
