/* shuffle.c - channels that become pixels, pixels that become channels, and channels in another
 * order: one copy each, between two views of as many dimensions, so every device has it. */
#include "../../call/arguments.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

/* Announces the result, channels-last as self if it may be so. */
static bool shuffle_announce(tn_frame *f, tni_shape *s, bool keeps) {
    const tn_tensor *self = f->in[0];
    return keeps ? tni_announce_images(f, 0, (tn_dtype)self->dtype, s->ndim, s->size, self, true)
                 : tn_announce(f, 0, (tn_dtype)self->dtype, s->ndim, s->size);
}

/* A view of other dimensions than its tensor's. */
typedef struct split_view {
    tn_tensor view;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
} split_view;

/* --- pixels ----------------------------------------------------------------------------------- */

/* t (.., H, W) by factor r as the view (.., H/r, r, W/r, r), or t (.., C, H, W) as the view
 * (.., H, r, W, r) with the steps between channels last; `channels`: which of them. Before both
 * stand the channels that are left. */
static void shuffle_view(split_view *v, const tn_tensor *t, int64_t r, bool channels) {
    const int n = t->ndim, c = n - 3;
    int64_t *size = v->size, *stride = v->stride;
    memcpy(size, t->size, sizeof(int64_t) * (size_t)n);
    memcpy(stride, t->stride, sizeof(int64_t) * (size_t)n);
    for (int i = 0; i < 2; i++) { /* rows, columns */
        const int64_t count = t->size[c + 1 + i], step = t->stride[c + 1 + i];
        size[c + 1 + 2 * i] = channels ? count : count / r;
        stride[c + 1 + 2 * i] = channels ? step : step * r;
        size[c + 2 + 2 * i] = r;
        stride[c + 2 + 2 * i] = !channels ? step : i == 0 ? t->stride[c] * r : t->stride[c];
    }
    if (channels) {
        size[c] /= r * r;
        stride[c] *= r * r;
    }
    tni_stack_view(&v->view, t, n + 2, size, stride, t->offset);
}
/* What both rows check: dimensions, the factor, and how much of it there is. */
static bool shuffle_fits(tn_frame *f, int64_t r, const char *name) {
    const tn_tensor *self = f->in[0];
    if (self->ndim < 3)
        return tn_fail(f, TN_INVALID,
                       "%s expects input to have at least 3 dimensions, but got input with %d "
                       "dimension(s)",
                       f->row->name, self->ndim);
    if (self->ndim > TN_MAX_DIMS - 2)
        return tn_fail(f, TN_UNSUPPORTED, "%s expects input to have at most %d dimensions",
                       f->row->name, TN_MAX_DIMS - 2);
    return r > 0 || tn_fail(f, TN_INVALID, "%s expects a positive %s, but got %lld", f->row->name,
                            name, (long long)r);
}

static bool pixel_shuffle_check(tn_frame *f) {
    TN_ARGS(pixel_shuffle, a, f);
    const tn_tensor *self = f->in[0];
    const int64_t r = a->upscale_factor;
    const int c = self->ndim - 3;
    int64_t square;
    tni_shape s;
    if (!shuffle_fits(f, r, "upscale_factor")) return false;
    if (!tni_mul(r, r, &square))
        return tn_fail(f, TN_INVALID, "upscale_factor %lld is too large", (long long)r);
    if (self->size[c] % square)
        return tn_fail(f, TN_INVALID,
                       "pixel_shuffle expects its input's channel dimension to be divisible by the "
                       "square of upscale_factor, but size %lld in dimension %d is not divisible "
                       "by %lld",
                       (long long)self->size[c], c, (long long)square);
    s.ndim = self->ndim;
    memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
    s.size[c] /= square;
    if (!tni_mul(s.size[c + 1], r, &s.size[c + 1]) || !tni_mul(s.size[c + 2], r, &s.size[c + 2]))
        return tn_fail(f, TN_INVALID, "the result is too large");
    return shuffle_announce(f, &s, s.ndim == 4);
}
static void pixel_shuffle_run(tn_frame *f) {
    TN_ARGS(pixel_shuffle, a, f);
    split_view to, from;
    if (f->out[0]->numel == 0) return;
    shuffle_view(&from, f->in[0], a->upscale_factor, true);
    shuffle_view(&to, f->out[0], a->upscale_factor, false);
    tni_copy_elements(f->block, &to.view, &from.view);
}
static void pixel_shuffle_grad(tn_gradient *g) {
    TN_ARGS(pixel_shuffle, a, g);
    tn_give(g, 0, tnp_pixel_unshuffle(g->incoming[0], a->upscale_factor));
}
/* Images enlarged by upscale_factor r: r * r channels become the r x r pixels in the place of one,
 * row by row. W. Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient
 * Sub-Pixel Convolutional Neural Network, 2016. Channels-last images stay so. */
TN_OPERATOR(pixel_shuffle, "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
            TN_DOC(.shapes = "self (*, C * r * r, H, W) -> (*, C, H * r, W * r)",
                   .example = "tn_pixel_shuffle(x, 2)", .python = "nn.functional.pixel_shuffle"),
            .forms = TN_OUT | TN_MOVES | TN_LEADING, .check = pixel_shuffle_check,
            .run = pixel_shuffle_run, .grad = pixel_shuffle_grad,
            .sample = "(1,8,2,3) 2 | (9,2,1) 3 | (2,3,4,2,3) 2 | (2,4,3,3):i64 1 | (0,4,2,3) 2 | "
                      "(1,0,2,3) 2 | (35,1,1) 1")

static bool pixel_unshuffle_check(tn_frame *f) {
    TN_ARGS(pixel_unshuffle, a, f);
    static const char *const side[2] = {"height", "width"};
    const tn_tensor *self = f->in[0];
    const int64_t r = a->downscale_factor;
    const int c = self->ndim - 3;
    tni_shape s;
    if (!shuffle_fits(f, r, "downscale_factor")) return false;
    for (int i = 0; i < 2; i++)
        if (self->size[c + 1 + i] % r)
            return tn_fail(f, TN_INVALID,
                           "pixel_unshuffle expects %s to be divisible by downscale_factor, but "
                           "size %lld in dimension %d is not divisible by %lld",
                           side[i], (long long)self->size[c + 1 + i], c + 1 + i, (long long)r);
    s.ndim = self->ndim;
    memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
    s.size[c + 1] /= r;
    s.size[c + 2] /= r;
    if (!tni_mul(s.size[c], r, &s.size[c]) || !tni_mul(s.size[c], r, &s.size[c]))
        return tn_fail(f, TN_INVALID, "the result is too large");
    return shuffle_announce(f, &s, s.ndim == 4);
}
static void pixel_unshuffle_run(tn_frame *f) {
    TN_ARGS(pixel_unshuffle, a, f);
    split_view to, from;
    if (f->out[0]->numel == 0) return;
    shuffle_view(&from, f->in[0], a->downscale_factor, false);
    shuffle_view(&to, f->out[0], a->downscale_factor, true);
    tni_copy_elements(f->block, &to.view, &from.view);
}
static void pixel_unshuffle_grad(tn_gradient *g) {
    TN_ARGS(pixel_unshuffle, a, g);
    tn_give(g, 0, tnp_pixel_shuffle(g->incoming[0], a->downscale_factor));
}
/* The opposite of pixel_shuffle: images reduced by downscale_factor r, whose r x r pixels become
 * channels. Channels-last images stay so. */
TN_OPERATOR(pixel_unshuffle, "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
            TN_DOC(.shapes = "self (*, C, H * r, W * r) -> (*, C * r * r, H, W)",
                   .example = "tn_pixel_unshuffle(x, 2)",
                   .python = "nn.functional.pixel_unshuffle"),
            .forms = TN_OUT | TN_MOVES | TN_LEADING, .check = pixel_unshuffle_check,
            .run = pixel_unshuffle_run, .grad = pixel_unshuffle_grad,
            .sample = "(1,2,4,6) 2 | (1,6,3) 3 | (2,3,1,2,4) 2 | (2,4,3,3):i64 1 | (0,4,2,4) 2 | "
                      "(1,2,0,4) 2 | (35,1,1) 1")

/* --- channels --------------------------------------------------------------------------------- */

static bool channel_shuffle_check(tn_frame *f) {
    TN_ARGS(channel_shuffle, a, f);
    const tn_tensor *self = f->in[0];
    char has[160];
    tni_shape s;
    if (self->ndim < 3)
        return tn_fail(f, TN_INVALID,
                       "channel_shuffle expects input with > 2 dims, but got input with sizes %s",
                       tni_shape_text(has, sizeof has, self->ndim, self->size));
    if (self->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_UNSUPPORTED, "channel_shuffle expects input with < %d dims",
                       TN_MAX_DIMS);
    if (a->groups <= 0)
        return tn_fail(f, TN_INVALID,
                       "Number of groups to divide channels in must be positive, got %lld",
                       (long long)a->groups);
    if (self->size[1] % a->groups)
        return tn_fail(f, TN_INVALID,
                       "Number of channels must be divisible by groups. Got %lld channels and "
                       "%lld groups.",
                       (long long)self->size[1], (long long)a->groups);
    s.ndim = self->ndim;
    memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
    return shuffle_announce(f, &s, true);
}
/* t (N, C, *) as (N, groups, C / groups, *), where steps are those between groups and within one;
 * `across` swaps them. */
static void channel_view(split_view *v, const tn_tensor *t, int64_t groups, bool across) {
    const int64_t each = t->size[1] / groups;
    int64_t *size = v->size, *stride = v->stride;
    size[0] = t->size[0];
    stride[0] = t->stride[0];
    size[1] = groups;
    size[2] = each;
    stride[1] = across ? t->stride[1] : t->stride[1] * each;
    stride[2] = across ? t->stride[1] * groups : t->stride[1];
    for (int i = 2; i < t->ndim; i++) {
        size[i + 1] = t->size[i];
        stride[i + 1] = t->stride[i];
    }
    tni_stack_view(&v->view, t, t->ndim + 1, size, stride, t->offset);
}
static void channel_shuffle_run(tn_frame *f) {
    TN_ARGS(channel_shuffle, a, f);
    split_view to, from;
    if (f->out[0]->numel == 0) return;
    channel_view(&from, f->in[0], a->groups, false);
    channel_view(&to, f->out[0], a->groups, true);
    tni_copy_elements(f->block, &to.view, &from.view);
}
static void channel_shuffle_grad(tn_gradient *g) {
    TN_ARGS(channel_shuffle, a, g);
    const int64_t each = g->in[0]->size[1] / a->groups;
    tn_give(g, 0, tnp_channel_shuffle(g->incoming[0], each > 0 ? each : 1));
}
/* The channels (dimension 1) in another order: the first of each group, then the second of each,
 * and so on. X. Zhang et al., ShuffleNet, 2018. Channels-last images stay so. */
TN_OPERATOR(channel_shuffle, "channel_shuffle(Tensor self, int groups) -> Tensor",
            TN_DOC(.shapes = "self (N, C, *) -> (N, C, *)", .example = "tn_channel_shuffle(x, 2)",
                   .python = "nn.functional.channel_shuffle"),
            .forms = TN_OUT | TN_MOVES, .check = channel_shuffle_check, .run = channel_shuffle_run,
            .grad = channel_shuffle_grad,
            .sample = "(1,6,2,3) 2 | (2,6,3) 3 | (1,4,2,2,2) 4 | (2,4,3):i64 1 | (0,4,2) 2 | "
                      "(1,0,2,3) 2 | (1,35,2) 5")
