/* conv.c - 2-D convolution and the gradients of its input and weight, each a row that can be differentiated.
 *
 * All three are matrix products over a laid-out source (kernels/conv.h): a copy of the input, padded, and split by
 * phase where the stride is not 1, so that every tap of the kernel is a shifted read. It is made for a few images at
 * a time, TNI_ROUND_BYTES of it, so that it stays in cache; threads share the tiles of such a round. */
#include "lanes.h"

/* --- geometry --------------------------------------------------------------------------------------------- */

/* x (n, c, h, w), weight (o, c / groups, kh, kw), y (n, o, oh, ow) */
typedef struct cv_shape {
    int64_t n, c, h, w, o, kh, kw, oh, ow, groups, cg, og; /* cg, og: channels of a group */
    int64_t sh, sw, ph, pw, dh, dw;                        /* stride, padding, dilation */
    int64_t taps;                                          /* cg * kh * kw */
    bool batched;
} cv_shape;

static bool cv_pair(tn_frame *f, tn_ints l, const char *name, int64_t low, int64_t *a, int64_t *b) {
    if (l.n != 1 && l.n != 2) return tn_fail(f, TN_INVALID, "%s must have 1 or 2 numbers, got %lld", name, (long long)l.n);
    *a = l.at[0], *b = l.at[l.n - 1];
    if (*a < low || *b < low || *a > INT32_MAX || *b > INT32_MAX)
        return tn_fail(f, TN_INVALID, "%s (%lld, %lld) must be at least %lld", name, (long long)*a, (long long)*b, (long long)low);
    return true;
}

/* Length of the output along one dimension; false when the kernel does not fit. */
static bool cv_length(int64_t in, int64_t k, int64_t stride, int64_t pad, int64_t dilation, int64_t *out) {
    int64_t room, reach;
    if (!tni_add(in, 2 * pad, &room) || !tni_mul(k - 1, dilation, &reach) || !tni_add(reach, 1, &reach) || room < reach)
        return false;
    *out = (room - reach) / stride + 1;
    return true;
}

/* Sizes of input and weight and the options to s. */
static bool cv_shape_of(tn_frame *f, cv_shape *s, tn_ints x, tn_ints w, tn_ints stride, tn_ints padding, tn_ints dilation,
                        int64_t groups) {
    char has[160];
    const int d = (int)x.n;
    if (!cv_pair(f, stride, "stride", 1, &s->sh, &s->sw) || !cv_pair(f, padding, "padding", 0, &s->ph, &s->pw) ||
        !cv_pair(f, dilation, "dilation", 1, &s->dh, &s->dw))
        return false;
    if (x.n != 3 && x.n != 4)
        return tn_fail(f, TN_INVALID, "expected input (N, C, H, W) or (C, H, W), got %s", tni_shape_text(has, sizeof has, d, x.at));
    if (w.n != 4)
        return tn_fail(f, TN_INVALID, "expected weight (O, C / groups, kH, kW), got %s",
                       tni_shape_text(has, sizeof has, (int)w.n, w.at));
    s->batched = x.n == 4;
    s->n = s->batched ? x.at[0] : 1, s->c = x.at[d - 3], s->h = x.at[d - 2], s->w = x.at[d - 1];
    s->o = w.at[0], s->cg = w.at[1], s->kh = w.at[2], s->kw = w.at[3];
    s->groups = groups;
    if (groups < 1 || s->o % groups != 0 || s->o < 1)
        return tn_fail(f, TN_INVALID, "%lld output channels do not divide into %lld groups", (long long)s->o, (long long)groups);
    if (s->c % groups != 0 || s->c / groups != s->cg || s->cg < 1)
        return tn_fail(f, TN_INVALID, "input has %lld channels, weight %s and groups %lld want %lld", (long long)s->c,
                       tni_shape_text(has, sizeof has, 4, w.at), (long long)groups, (long long)(s->cg * groups));
    s->og = s->o / groups;
    s->taps = s->cg * s->kh * s->kw;
    if (s->kh < 1 || s->kw < 1 || !cv_length(s->h, s->kh, s->sh, s->ph, s->dh, &s->oh) ||
        !cv_length(s->w, s->kw, s->sw, s->pw, s->dw, &s->ow))
        return tn_fail(f, TN_INVALID, "kernel (%lld, %lld) with dilation (%lld, %lld) is larger than the padded input (%lld, %lld)",
                       (long long)s->kh, (long long)s->kw, (long long)s->dh, (long long)s->dw, (long long)(s->h + 2 * s->ph),
                       (long long)(s->w + 2 * s->pw));
    return true;
}

static bool cv_check_dtypes(tn_frame *f, const tn_tensor *a, const tn_tensor *b, const tn_tensor *bias) {
    if (a->dtype != b->dtype || (bias && bias->dtype != a->dtype))
        return tn_fail(f, TN_TYPE, "all tensors must have the same dtype, got %s and %s", tni_dtype(a->dtype)->text,
                       tni_dtype(a->dtype != b->dtype ? b->dtype : bias->dtype)->text);
    if (!tni_is_float(a->dtype) || !tni_dtype(a->dtype)->computes)
        return tn_fail(f, TN_TYPE, "there is no convolution of %s", tni_dtype(a->dtype)->text);
    return true;
}

/* --- a source laid out -------------------------------------------------------------------------------------- */

enum { TNI_ROUND_BYTES = 2 << 20, CV_SLACK = 64, CV_WORK = 1 << 18, CV_TASKS = 16 };

/* Row r and column q of phase (a, b) hold element (r * sh + a - top, q * sw + b - left) of x, or 0 outside it. */
typedef struct cv_source {
    const char *x;                       /* of dtype, steps in bytes */
    int dtype;
    int64_t channels, h, w, x_image, x_channel, x_row, x_col;
    int64_t sh, sw, top, left, rows, cols;
    int64_t plane, channel, image;       /* elements of a phase, of a channel, of an image, laid out */
    int64_t images;                      /* a round */
    bool f64, in_place;                  /* in_place: x serves as it is */
    char *at;                            /* the copy of this round, or x */
    int64_t first;                       /* image of the round */
} cv_source;

TNI_INLINE int64_t cv_size(const cv_source *s) { return s->f64 ? 8 : 4; }

static void cv_source_tensor(cv_source *s, const tn_tensor *t) {
    const int d = t->ndim;
    const int64_t bytes = tni_dtype_size(t);
    s->x = t->flags & (TNI_META | TNI_GHOST) ? NULL : tni_bytes_at(t);
    s->dtype = t->dtype;
    s->f64 = t->dtype == TN_F64;
    s->channels = t->size[d - 3], s->h = t->size[d - 2], s->w = t->size[d - 1];
    s->x_image = d == 4 ? t->stride[0] * bytes : 0;
    s->x_channel = t->stride[d - 3] * bytes, s->x_row = t->stride[d - 2] * bytes, s->x_col = t->stride[d - 1] * bytes;
}

/* Steps and rounds of the layout; rows, cols, top, left, sh, sw are set. */
static bool cv_source_lay(cv_source *s, int64_t images) {
    int64_t bytes;
    if (!tni_mul(s->rows, s->cols, &s->plane) || !tni_mul(s->plane, s->sh * s->sw, &s->channel) ||
        !tni_mul(s->channel, s->channels, &s->image) || !tni_mul(s->image, 8, &bytes))
        return false;
    s->images = s->image > 0 ? TNI_ROUND_BYTES / cv_size(s) / s->image : images;
    if (s->images < 1) s->images = 1;
    if (s->images > images) s->images = images;
    s->in_place = s->sh == 1 && s->sw == 1 && s->top == 0 && s->left == 0 && s->rows == s->h && s->cols == s->w &&
                  s->x_col == cv_size(s) && (s->dtype == TN_F32 || s->dtype == TN_F64) && s->x_row % cv_size(s) == 0;
    return true;
}

static void cv_source_task(void *arg, int64_t i) {
    const cv_source *s = (const cv_source *)arg;
    const int64_t size = cv_size(s), image = i / s->channels, ch = i % s->channels;
    const char *from = s->x + (s->first + image) * s->x_image + ch * s->x_channel;
    char *to = s->at + (image * s->image + ch * s->channel) * size;
    for (int64_t phase = 0; phase < s->sh * s->sw; phase++)
        for (int64_t r = 0; r < s->rows; r++, to += s->cols * size) {
            const int64_t y = r * s->sh + phase / s->sw - s->top, x0 = phase % s->sw - s->left;
            int64_t begin = x0 < 0 ? (-x0 + s->sw - 1) / s->sw : 0, end = s->w > x0 ? (s->w - x0 + s->sw - 1) / s->sw : 0;
            if (end > s->cols) end = s->cols;
            if (y < 0 || y >= s->h || begin >= end) begin = end = s->cols;
            memset(to, 0, (size_t)(begin * size));
            if (begin < end)
                tni_lanes_load(to + begin * size, s->f64 ? TN_F64 : TN_F32, from + y * s->x_row + (begin * s->sw + x0) * s->x_col,
                               s->sw * s->x_col, s->dtype, end - begin);
            memset(to + end * size, 0, (size_t)((s->cols - end) * size));
        }
}

/* Images [first, first + n) at s->at; room: of s->images * s->image + CV_SLACK elements. */
static void cv_source_round(tn_context *c, cv_source *s, int64_t first, int64_t n, void *room) {
    s->first = first;
    if (s->in_place) {
        s->at = (char *)s->x + first * s->x_image; /* only read */
        return;
    }
    s->at = (char *)room;
    memset(s->at + n * s->image * cv_size(s), 0, (size_t)(CV_SLACK * cv_size(s)));
    tni_parallel(c, n * s->channels, cv_source_task, s);
}
static int64_t cv_source_room(const cv_source *s) { return s->in_place ? 0 : s->images * s->image + CV_SLACK; }

/* The first address that may not be read. */
static const char *cv_source_end(const cv_source *s, int64_t n) {
    if (!s->in_place) return s->at + (n * s->image + CV_SLACK) * cv_size(s);
    return s->at + (n - 1) * s->x_image + (s->channels - 1) * s->x_channel + (s->h - 1) * s->x_row + s->w * cv_size(s);
}
TNI_INLINE int64_t cv_image_step(const cv_source *s) { return s->in_place ? s->x_image / cv_size(s) : s->image; }
TNI_INLINE int64_t cv_channel_step(const cv_source *s) { return s->in_place ? s->x_channel / cv_size(s) : s->channel; }
TNI_INLINE int64_t cv_pitch(const cv_source *s) { return s->in_place ? s->x_row / cv_size(s) : s->cols; }

/* The input of a convolution: taps (c, i, j) of weight are reads shifted by i * dh, j * dw. */
static bool cv_source_forward(cv_source *s, const cv_shape *v) {
    s->sh = v->sh, s->sw = v->sw, s->top = v->ph, s->left = v->pw;
    s->rows = v->oh + (v->kh - 1) * v->dh / v->sh;
    s->cols = v->ow + (v->kw - 1) * v->dw / v->sw;
    if (v->sh == 1 && v->sw == 1 && v->ph == 0 && v->pw == 0) s->rows = v->h, s->cols = v->w;
    return cv_source_lay(s, v->n);
}
static void cv_offsets_forward(const cv_source *s, const cv_shape *v, int64_t *offset) {
    for (int64_t c = 0; c < v->cg; c++)
        for (int64_t i = 0; i < v->kh; i++)
            for (int64_t j = 0; j < v->kw; j++) {
                const int64_t y = i * v->dh, x = j * v->dw, phase = y % v->sh * v->sw + x % v->sw;
                *offset++ = c * cv_channel_step(s) + phase * s->plane + y / v->sh * cv_pitch(s) + x / v->sw;
            }
}

/* --- one convolution over a laid-out source, on threads -------------------------------------------------------- */

typedef struct cv_job {
    tn_context *context;
    void (*run)(const tni_conv *);
    tni_conv v;                          /* of group 0 */
    int64_t size, groups, pixels, chunk, chunks; /* pixels of this round; a task */
    int64_t a_group, source_group, bias_group, c_group; /* steps from group to group in elements */
} cv_job;

static void cv_task(void *arg, int64_t i) {
    const cv_job *j = (const cv_job *)arg;
    const int64_t group = i / j->chunks, first = i % j->chunks * j->chunk;
    tni_conv v = j->v;
    if (tni_stopped(j->context)) return;
    v.first = first;
    v.count = j->pixels - first < j->chunk ? j->pixels - first : j->chunk;
    v.a = (const char *)v.a + group * j->a_group * j->size;
    v.source = (const char *)v.source + group * j->source_group * j->size;
    if (v.bias) v.bias = (const char *)v.bias + group * j->bias_group * j->size;
    v.c = (char *)v.c + group * j->c_group * j->size;
    j->run(&v);
}

/* Few rows are not worth packing the source for: they read it in place. */
static bool cv_is_direct(int64_t m, int64_t k) { return m <= 2 && k <= TNI_K_BLOCK; }

static void cv_run(cv_job *j, bool direct) {
    const tni_kernels *k = j->context->kernels;
    const int64_t work = j->v.m * j->v.k * j->pixels * j->groups, unit = direct ? j->v.width : 32;
    int64_t tasks = work / CV_WORK < CV_TASKS ? work / CV_WORK : CV_TASKS;
    if (j->pixels == 0) return;
    if (direct) j->run = j->size == 8 ? k->conv_direct_f64 : k->conv_direct_f32;
    else j->run = j->size == 8 ? k->conv_f64 : k->conv_f32;
    if (!direct && j->v.pitch == j->v.width && j->v.c_line == j->v.width * j->v.c_col)
        j->v.width *= j->v.height, j->v.height = 1; /* rows follow each other in both */
    tasks = tasks / j->groups > 0 ? tasks / j->groups : 1;
    j->chunk = (j->pixels / tasks + unit) / unit * unit;
    if (j->chunk > 1024 && !direct) j->chunk = 1024;
    j->chunks = (j->pixels + j->chunk - 1) / j->chunk;
    if (direct) TNI_PATH(conv_direct);
    else TNI_PATH(conv_tiles);
    tni_parallel(j->context, j->chunks * j->groups, cv_task, j);
}

/* --- scratch and small tensors ---------------------------------------------------------------------------------- */

/* Hands out pieces of the call's scratch; with base NULL it only counts. */
typedef struct cv_room {
    char *base;
    int64_t used;
    bool fits;
} cv_room;

static void *cv_take(cv_room *r, int64_t count, int64_t each) {
    const int64_t at = r->used;
    int64_t bytes;
    if (!tni_bytes(count, each, &bytes) || !tni_add(bytes, TNI_ALIGN - 1, &bytes) ||
        !tni_add(r->used, bytes & -TNI_ALIGN, &r->used))
        r->fits = false;
    return r->base ? r->base + at : NULL;
}
static bool cv_ask(tn_frame *f, const cv_room *r) {
    if (!r->fits) return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return tn_scratch(f, r->used, 1);
}

/* A small tensor of up to 4 dimensions as row-major numbers of the compute type: itself, or a copy in `room`. */
static bool cv_is_plain(const tn_tensor *t) {
    return (t->flags & TNI_CONTIGUOUS) && (t->dtype == TN_F32 || t->dtype == TN_F64);
}
static const void *cv_plain(const tn_tensor *t, void *room) {
    const int64_t bytes = tni_dtype_size(t), size = t->dtype == TN_F64 ? 8 : 4, n = t->ndim ? t->size[t->ndim - 1] : 1;
    char *to = (char *)room;
    if (cv_is_plain(t)) return tni_bytes_at(t);
    for (int64_t i = 0; n > 0 && i < t->numel / n; i++, to += n * size) {
        int64_t at = 0, left = i;
        for (int d = t->ndim - 2; d >= 0; d--) at += left % t->size[d] * t->stride[d], left /= t->size[d];
        tni_lanes_load(to, size == 8 ? TN_F64 : TN_F32, tni_bytes_at(t) + at * bytes, (t->ndim ? t->stride[t->ndim - 1] : 0) * bytes,
                       t->dtype, n);
    }
    return room;
}

/* A result that is computed elsewhere, in float: rounded once, a row of `n` at a time. */
typedef struct cv_narrow {
    const float *from;
    char *to;
    int64_t n;
    int dtype;
} cv_narrow;
static void cv_narrow_task(void *arg, int64_t i) {
    const cv_narrow *v = (const cv_narrow *)arg;
    tni_lanes_save(v->to + i * v->n * 2, 2, v->dtype, v->from + i * v->n, TN_F32, v->n);
}

/* --- conv2d ---------------------------------------------------------------------------------------------------------- */

static bool conv2d_shape(tn_frame *f, cv_shape *s) {
    TN_ARGS(conv2d, a, f);
    return cv_shape_of(f, s, tni_sizes(f->in[0]), tni_sizes(f->in[1]), a->stride, a->padding, a->dilation, a->groups);
}

typedef struct cv_forward {
    cv_source source;
    int64_t *offset;
    void *weight, *bias, *copy, *result;
} cv_forward;

static bool conv2d_lay(tn_frame *f, const cv_shape *s, cv_forward *p, cv_room *r) {
    const bool half = tni_dtype_size(f->in[0]) == 2;
    const int64_t size = f->in[0]->dtype == TN_F64 ? 8 : 4;
    cv_source_tensor(&p->source, f->in[0]);
    if (!cv_source_forward(&p->source, s)) return r->fits = false;
    if (cv_is_direct(s->og, s->taps)) p->source.in_place = false;
    p->offset = (int64_t *)cv_take(r, s->taps, 8);
    p->weight = cv_take(r, cv_is_plain(f->in[1]) ? 0 : f->in[1]->numel, size);
    p->bias = cv_take(r, f->in[2] && !cv_is_plain(f->in[2]) ? s->o : 0, size);
    p->copy = cv_take(r, cv_source_room(&p->source), size);
    p->result = cv_take(r, half ? p->source.images * s->o : 0, s->oh * s->ow * size);
    return r->fits;
}

static bool conv2d_check(tn_frame *f) {
    const tn_tensor *bias = f->in[2];
    char has[160];
    int64_t size[4];
    cv_shape s;
    cv_forward p;
    cv_room r = {NULL, 0, true};
    if (!cv_check_dtypes(f, f->in[0], f->in[1], bias) || !conv2d_shape(f, &s)) return false;
    if (bias && (bias->ndim != 1 || bias->size[0] != s.o))
        return tn_fail(f, TN_INVALID, "expected bias (%lld), got %s", (long long)s.o,
                       tni_shape_text(has, sizeof has, bias->ndim, bias->size));
    conv2d_lay(f, &s, &p, &r);
    size[0] = s.n, size[1] = s.o, size[2] = s.oh, size[3] = s.ow;
    return cv_ask(f, &r) && tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s.batched ? 4 : 3, size + !s.batched);
}

static void conv2d_run(tn_frame *f) {
    tn_context *context = f->block->context;
    const bool half = tni_dtype_size(f->in[0]) == 2;
    cv_room r = {(char *)f->scratch, 0, true};
    cv_shape s;
    cv_forward p;
    cv_job j;
    if (!conv2d_shape(f, &s) || !conv2d_lay(f, &s, &p, &r)) return;
    cv_offsets_forward(&p.source, &s, p.offset);
    j.context = context;
    j.size = cv_size(&p.source);
    j.groups = s.groups;
    j.v.m = s.og, j.v.k = s.taps, j.v.a = cv_plain(f->in[1], p.weight);
    j.v.bias = f->in[2] ? cv_plain(f->in[2], p.bias) : NULL;
    j.v.offset = p.offset;
    j.v.image_step = cv_image_step(&p.source);
    j.a_group = s.og * s.taps, j.bias_group = s.og;
    j.source_group = s.cg * cv_channel_step(&p.source), j.c_group = s.og * s.oh * s.ow;
    j.v.c_image = s.o * s.oh * s.ow, j.v.c_row = s.oh * s.ow, j.v.c_line = s.ow, j.v.c_col = 1;
    for (int64_t first = 0; first < s.n; first += p.source.images) {
        const int64_t n = s.n - first < p.source.images ? s.n - first : p.source.images;
        char *to = tni_bytes_at(f->out[0]) + first * j.v.c_image * tni_dtype_size(f->out[0]);
        cv_source_round(context, &p.source, first, n, p.copy);
        j.v.height = s.oh, j.v.width = s.ow, j.v.pitch = cv_pitch(&p.source);
        j.v.source = p.source.at, j.v.source_end = cv_source_end(&p.source, n);
        j.v.c = half ? (char *)p.result : to;
        j.pixels = n * s.oh * s.ow;
        cv_run(&j, cv_is_direct(s.og, s.taps));
        if (half) {
            cv_narrow v;
            v.from = (const float *)p.result, v.to = to, v.n = s.oh * s.ow, v.dtype = f->out[0]->dtype;
            tni_parallel(context, n * s.o, cv_narrow_task, &v);
        }
    }
}

static void conv2d_grad(tn_gradient *g) {
    static const int64_t others[3] = {0, -2, -1};
    TN_ARGS(conv2d, a, g);
    tn_tensor *x = g->in[0], *w = g->in[1], *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_conv2d_input_grad(d, w, tni_sizes(x), a->stride, a->padding, a->dilation, a->groups));
    if (g->want[1]) tn_give(g, 1, tnp_conv2d_weight_grad(d, x, tni_sizes(w), a->stride, a->padding, a->dilation, a->groups));
    if (g->in[2] && g->want[2]) tn_give(g, 2, tnp_sum(d, tni_ints(d->ndim == 4 ? others : others + 1, d->ndim - 1), false, TN_NO_DTYPE));
}
/* y(n, o, p, q) = bias(o) + sum over c, i, j of weight(o, c, i, j) input(n, c, p stride + i dilation - padding, ...), zero
 * outside the input; output channels of group g read its input channels only. Floating dtypes.
 * input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW), bias (O) -> (N, O, H', W') or (O, H', W')
 * tn_conv2d(x, w, .bias = b, .padding = TN_DIMS(1, 1)) */
TN_OPERATOR(conv2d,
            "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, "
            "int groups=1) -> Tensor",
            .forms = TN_OUT, .needs = "input:weight weight:input", .check = conv2d_check, .run = conv2d_run, .grad = conv2d_grad,
            .sample = "(2,3,5,6) (4,3,3,3) (4) padding=[1,1] | (1,2,7,7) (3,2,3,2) None stride=[2,3] padding=[1,0] | "
                      "(1,2,9,8) (2,2,3,3) (2) dilation=[2,1] | (2,4,5,5) (6,2,3,3) (6) groups=2 | (2,4,6,5) (4,1,3,3) (4) "
                      "[2,2] [1,1] groups=4 | (3,5,4) (7,3,1,1) (7) | (1,44,4,5) (13,44,3,3) None padding=[1,1] | "
                      "(2,2,7,5) (20,2,3,3) (20) | (0,2,4,4) (3,2,3,3) (3) | (1,1,20,40) (8,1,5,5) (8) padding=[2,2]")
