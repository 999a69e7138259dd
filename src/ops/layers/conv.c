/* conv.c - 2-D convolution and the gradients of its input and weight, each a row that can be
 * differentiated.
 *
 * All three are matrix products over a laid-out source (kernels/conv.h): a copy of the input,
 * padded, and split by phase where the stride is not 1, so that every tap of the kernel is a
 * shifted read. It is made for a few images at a time, TNI_CV_ROUND of it, so that it stays in
 * cache; threads share the tiles of such a round. */
#include "../../api/ops/shape.h"
#include "conv.h"
#include "../../cpu/matmul.h"
#include "../../call/arguments.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* --- one convolution over a laid-out source, on threads --------------------------------------- */

typedef struct cv_job {
    tn_context *context;
    void (*run)(const tni_conv *);
    tni_conv v;                                         /* of group 0 */
    int64_t size, groups, pixels, chunk, chunks;        /* pixels of this round; a task */
    int64_t a_group, source_group, bias_group, c_group; /* steps from group to group in elements */
} cv_job;

static void cv_task(void *arg, int64_t i) {
    const cv_job *j = (const cv_job *)arg;
    /* Task i: a chunk of the pixels of one group. */
    const int64_t group = i / j->chunks, first = i % j->chunks * j->chunk;
    tni_conv v = j->v;
    v.first = first;
    v.count = j->pixels - first < j->chunk ? j->pixels - first : j->chunk;
    v.a = (const char *)v.a + group * j->a_group * j->size;
    v.source = (const char *)v.source + group * j->source_group * j->size;
    if (v.bias) v.bias = (const char *)v.bias + group * j->bias_group * j->size;
    v.c = (char *)v.c + group * j->c_group * j->size;
    j->run(&v);
}

/* How a convolution is computed: tiles of kernels/conv.h, their direct form, or one that keeps
 * channels innermost: one product of pixels and weights, or a kernel of each channel's own. */
enum { CV_TILES, CV_DIRECT, CV_PRODUCT, CV_DEPTH };

/* Few rows are not worth packing the source for: they read it in place. */
static bool cv_is_direct(int64_t m, int64_t k) { return m <= 2 && k <= TNI_K_BLOCK; }

static void cv_run(cv_job *j, int how) {
    const tni_kernels *k = j->context->kernels;
    const bool direct = how != CV_TILES;
    /* unit: what a chunk is a multiple of, a row of the image or the width of a tile. */
    const int64_t work = j->v.m * j->v.k * j->pixels * j->groups, unit = direct ? j->v.width : 32;
    int64_t tasks = work / TNI_CV_WORK < TNI_CV_TASKS ? work / TNI_CV_WORK : (int64_t)TNI_CV_TASKS;
    if (j->pixels == 0) return;
    /* The largest offset: kernels read nothing behind source_end. */
    j->v.reach = 0;
    for (int64_t i = 0; i < j->v.k; i++)
        if (j->v.offset[i] > j->v.reach) j->v.reach = j->v.offset[i];
    if (how == CV_DEPTH)
        j->run = j->size == 8 ? TNI_K(k, conv_depth_f64) : TNI_K(k, conv_depth_f32);
    else if (direct)
        j->run = j->size == 8 ? TNI_K(k, conv_direct_f64) : TNI_K(k, conv_direct_f32);
    else
        j->run = j->size == 8 ? TNI_K(k, conv_f64) : TNI_K(k, conv_f32);
    if (!direct && j->v.pitch == j->v.width && j->v.c_line == j->v.width * j->v.c_col) {
        j->v.width *= j->v.height; /* rows follow each other in both */
        j->v.height = 1;
    }
    if (j->v.height == 1) TNI_PATH(conv_one_line);
    /* Chunks of equal size for as many tasks as the work is worth, at most 1024 pixels for
     * cache's sake. */
    tasks = tasks / j->groups > 0 ? tasks / j->groups : 1;
    j->chunk = (j->pixels / tasks + unit) / unit * unit;
    if (j->chunk > 1024 && !direct) j->chunk = 1024;
    j->chunks = (j->pixels + j->chunk - 1) / j->chunk;
    if (how == CV_DEPTH)
        TNI_PATH(conv_depth);
    else if (direct)
        TNI_PATH(conv_direct);
    else
        TNI_PATH(conv_tiles);
    tni_parallel(j->context, j->chunks * j->groups, cv_task, j);
}

/* --- scratch and small tensors ---------------------------------------------------------------- */

/* A small tensor of up to 5 dimensions as row-major numbers of the compute type: itself, or a
 * copy in `room`. */
static bool cv_is_plain(const tn_tensor *t) {
    return (t->flags & TNI_CONTIGUOUS) && (t->dtype == TN_F32 || t->dtype == TN_F64);
}
static const void *cv_plain(tn_frame *f, const tn_tensor *t, void *room) {
    int64_t stride[TN_MAX_DIMS];
    tni_storage storage;
    tn_tensor to;
    if (cv_is_plain(t)) return tni_bytes_at(t);
    memset(&storage, 0, sizeof storage);
    storage.data = room;
    tni_row_major(t->ndim, t->size, stride);
    tni_stack_view(&to, t, t->ndim, t->size, stride, 0);
    to.dtype = t->dtype == TN_F64 ? TN_F64 : TN_F32;
    to.storage = &storage;
    tni_copy_elements(f->block, &to, t);
    return room;
}

/* A result of 16 bits that is computed elsewhere, in float (image, channel, n): rounded once, a row
 * of n at a time. */
typedef struct cv_narrow {
    const float *from;
    char *to;
    int64_t n, channels, image, row; /* image, row: steps of the result in elements */
    int dtype;
} cv_narrow;
static void cv_narrow_task(void *arg, int64_t i) {
    const cv_narrow *v = (const cv_narrow *)arg;
    const int64_t at = i / v->channels * v->image + i % v->channels * v->row;
    tni_lanes_save(v->to + at * 2, 2, v->dtype, v->from + i * v->n, TN_F32, v->n);
}
static void cv_narrow_run(tn_context *context, const float *from, char *to, const tn_tensor *out,
                          const cv_job *j, int64_t images, int64_t channels, int64_t pixels) {
    cv_narrow v = {from, to, pixels, channels, j->v.c_image, j->v.c_row, out->dtype};
    tni_parallel(context, images * channels, cv_narrow_task, &v);
}
/* Steps of a result's planes (image, channel): an image is a plane of a volume of `depth`. Results
 * in float lie image by image. */
static void cv_planes(cv_job *j, int64_t channels, int64_t depth, int64_t pixels, bool apart) {
    j->v.c_image = depth > 1 && !apart ? pixels : channels * pixels;
    j->v.c_row = apart ? pixels : depth * pixels;
}

/* --- channels-last ---------------------------------------------------------------------------- */

/* A result lies channels-last if one of both factors does. */
static const tn_tensor *cv_like(const tn_frame *f) {
    return f->in[tni_like_channels_last(f->in[1]) ? 1 : 0];
}

/* Plain images whose channels are innermost, and remain so in a result of `rows` channels. Volumes
 * without a batch have four dimensions, too. */
static int cv_how(const tn_frame *f, const tni_cv_shape *s, int64_t rows, int64_t k) {
    const tn_tensor *x = f->in[0];
    const bool last = !tni_elsewhere(f) && s->dims == 2 && x->ndim == 4 && x->stride[1] == 1 &&
                      (x->dtype == TN_F32 || x->dtype == TN_F64) &&
                      tni_like_channels_last(cv_like(f));
    if (last && s->kh * s->kw == 1 && s->groups == 1 && rows > 2 && k > 0) return CV_PRODUCT;
    /* The kernel wants a vector of channels. */
    if (last && s->cg == 1 && s->og == 1 && s->groups >= 16 && k <= TNI_K_BLOCK) return CV_DEPTH;
    return cv_is_direct(rows, k) ? CV_DIRECT : CV_TILES;
}
static bool cv_is_last(int how) { return how >= CV_PRODUCT; }

static void cv_source_for(tni_cv_source *s, int how) {
    /* The direct kernel reads beyond a row of the source, which x itself does not allow; a product
     * reads an image as one run of pixels. */
    if (how == CV_DIRECT || (how == CV_PRODUCT && s->x_row != s->w * s->x_col)) s->in_place = false;
}

/* The kernel takes all channels at once; lines and images of the result are `width` and `pixels`
 * pixels. */
static void cv_depth_job(cv_job *j, const tni_cv_source *p, int64_t channels, int64_t width,
                         int64_t pixels) {
    j->groups = 1;
    j->v.m = channels;
    j->v.pixel = tni_cv_pixel(p);
    j->v.c_image = pixels * channels;
    j->v.c_line = width * channels;
    j->v.c_col = channels;
}

/* n images of the round times weight w: pixels (n, h w, k) by (k, rows), to c (n, h w, rows). */
static void cv_product(cv_job *j, const tni_cv_source *p, int64_t n, const tn_tensor *w,
                       bool back) {
    tni_matmul_plan m;
    m.m = j->v.height * j->v.width;
    m.k = j->v.k;
    m.n = j->v.m;
    m.a_row = tni_cv_pixel(p);
    m.a_col = 1;
    m.b_row = w->stride[back ? 0 : 1];
    m.b_col = w->stride[back ? 1 : 0];
    m.nbatch = 1;
    m.size[0] = m.batches = n;
    m.a_batch[0] = tni_cv_image_step(p);
    m.b_batch[0] = 0;
    /* Images that follow each other are one. */
    if (m.a_batch[0] == m.m * m.a_row) {
        m.m *= n;
        m.nbatch = 0;
        m.batches = 1;
    }
    TNI_PATH(conv_product);
    tni_matmul_from(j->context, &m, w->dtype, j->v.source, tni_bytes_at(w), j->v.c, j->v.bias);
}

/* --- conv2d ----------------------------------------------------------------------------------- */

/* What a call lays out in its scratch: offsets of taps, weight and bias where they are not plain,
 * the copy of a round's input, and results of 16-bit dtypes in float. */
typedef struct cv_forward {
    tni_cv_source source;
    int64_t *offset;
    void *weight, *bias, *copy, *result, *turned;
    int how;
} cv_forward;

static bool cv_forward_lay(tn_frame *f, const tni_cv_shape *s, cv_forward *p, tni_cv_room *r) {
    const bool half = tni_dtype_size(f->in[0]) == 2;
    const int64_t size = f->in[0]->dtype == TN_F64 ? 8 : 4;
    tni_cv_source_tensor(&p->source, f->in[0], s->dims);
    p->how = cv_how(f, s, s->og, s->taps);
    p->source.last = cv_is_last(p->how);
    if (!tni_cv_source_forward(&p->source, s)) return r->fits = false;
    cv_source_for(&p->source, p->how);
    p->offset = (int64_t *)tni_cv_take(r, s->taps, 8);
    p->weight =
        tni_cv_take(r, cv_is_plain(f->in[1]) || p->how == CV_PRODUCT ? 0 : f->in[1]->numel, size);
    p->turned = tni_cv_take(r, p->how == CV_DEPTH ? f->in[1]->numel : 0, size);
    p->bias = tni_cv_take(r, f->in[2] && !cv_is_plain(f->in[2]) ? s->o : 0, size);
    p->copy = tni_cv_take(r, tni_cv_source_room(&p->source), size);
    p->result = tni_cv_take(r, half ? p->source.images * s->o : 0, s->oh * s->ow * size);
    return r->fits;
}

TN_PRIV bool tni_cv_forward_check(tn_frame *f, const tni_cv_shape *s) {
    const tn_tensor *bias = f->in[2];
    char has[160];
    int64_t size[5];
    cv_forward p;
    tni_cv_room r = {NULL, 0, true};
    const int ndim = tni_cv_output_size(s, size);
    if (bias && (bias->ndim != 1 || bias->size[0] != s->o))
        return tn_fail(f, TN_INVALID, "expected bias (%lld), got %s", (long long)s->o,
                       tni_shape_text(has, sizeof has, bias->ndim, bias->size));
    p.how = CV_TILES;
    /* With no base the room only counts: so check asks for what run will take. */
    if (!tni_cv_is_plain(f->in[0])) cv_forward_lay(f, s, &p, &r);
    return (tni_cv_is_plain(f->in[0]) ? tni_cv_plain_ask(f, s->n * s->o * s->od * s->oh * s->ow)
                                      : tni_cv_ask(f, &r)) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, ndim, size, cv_like(f),
                               cv_is_last(p.how));
}

/* a (og, taps) is weight as it is; c (image, og, pixels) the output. All of a group, which cv_task
 * moves on. */
static void cv_forward_job(tn_frame *f, const tni_cv_shape *s, const cv_forward *p, cv_job *j) {
    j->context = f->block->context;
    j->size = tni_cv_size(&p->source);
    j->groups = s->groups;
    j->v.m = s->og;
    j->v.k = s->taps;
    if (p->how != CV_PRODUCT) j->v.a = cv_plain(f, f->in[1], p->weight);
    j->v.bias = f->in[2] ? cv_plain(f, f->in[2], p->bias) : NULL;
    j->v.offset = p->offset;
    j->v.image_step = tni_cv_image_step(&p->source);
    /* Steps from group to group, then within the output, in elements. */
    j->a_group = s->og * s->taps;
    j->bias_group = s->og;
    j->source_group = s->cg * s->kd * tni_cv_channel_step(&p->source);
    j->v.c_line = s->ow;
    j->v.c_col = 1;
    if (p->how != CV_DEPTH) return;
    (j->size == 8 ? TNI_K(j->context->kernels, turn_f64) : TNI_K(j->context->kernels, turn_f32))(
        p->turned, s->o, j->v.a, s->taps, s->o, s->taps);
    j->v.a = p->turned;
    cv_depth_job(j, &p->source, s->o, s->ow, s->oh * s->ow);
}

TN_PRIV void tni_cv_forward_run(tn_frame *f, const tni_cv_shape *s) {
    tn_context *context = f->block->context;
    const bool half = tni_dtype_size(f->in[0]) == 2;
    const int64_t pixels = s->oh * s->ow, bytes = tni_dtype_size(f->out[0]);
    tni_cv_room r = {(char *)f->scratch, 0, true};
    cv_forward p;
    cv_job j;
    /* Integers and complex numbers have plain loops. */
    if (tni_cv_is_plain(f->in[0])) {
        tni_cv_plain_run(f, s, TNI_CV_OUTPUT);
        return;
    }
    if (!cv_forward_lay(f, s, &p, &r)) return;
    tni_cv_offsets_forward(&p.source, s, p.offset);
    cv_forward_job(f, s, &p, &j);
    /* Round by round: the images of a round are laid out, then convolved. */
    for (int64_t first = 0, n; first < s->n * s->od; first += n) {
        char *to = tni_bytes_at(f->out[0]) +
                   (first / s->od * s->o * s->od + first % s->od) * pixels * bytes;
        n = tni_cv_source_count(&p.source, first, s->n * s->od);
        tni_cv_source_round(context, &p.source, first, n, p.copy);
        if (!p.source.last) cv_planes(&j, s->o, s->od, pixels, half);
        j.c_group = p.source.last ? 0 : s->og * j.v.c_row;
        j.v.height = s->oh;
        j.v.width = s->ow;
        j.v.pitch = tni_cv_pitch(&p.source);
        j.v.source = p.source.at;
        j.v.source_end = tni_cv_source_end(&p.source, n);
        j.v.c = half ? (char *)p.result : to;
        j.pixels = n * pixels;
        if (p.how == CV_PRODUCT)
            cv_product(&j, &p.source, n, f->in[1], false);
        else
            cv_run(&j, p.how);
        /* Results in float are rounded to the dtype row by row. */
        if (!half) continue;
        TNI_PATH(conv_half);
        cv_planes(&j, s->o, s->od, pixels, false);
        cv_narrow_run(context, (const float *)p.result, to, f->out[0], &j, n, s->o, pixels);
    }
}

TN_PRIV tn_tensor *tni_cv_bias_grad(tn_tensor *d, int dims) {
    /* The sum over all dimensions but the channels, and the batch where there is one. */
    static const int64_t others[4] = {0, -3, -2, -1};
    const int n = d->ndim - 1;
    const int64_t first[4] = {0, -dims, 1 - dims, -1};
    return tnp_sum(d, tni_ints(n > dims ? first : others + 4 - n, n), false, TN_NO_DTYPE);
}

static bool conv2d_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv2d, a, f);
    return tni_cv_shape_of(f, s, 2, tni_sizes(f->in[0]), tni_sizes(f->in[1]), a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool conv2d_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], f->in[2], true) && conv2d_shape(f, &s) &&
           tni_cv_forward_check(f, &s);
}
static void conv2d_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv2d_shape(f, &s)) tni_cv_forward_run(f, &s);
}
static void conv2d_grad(tn_gradient *g) {
    TN_ARGS(conv2d, a, g);
    tn_tensor *x = g->in[0], *w = g->in[1], *d = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0,
                tnp_conv2d_input_grad(d, w, tni_sizes(x), a->stride, a->padding, a->dilation,
                                      a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv2d_weight_grad(d, x, tni_sizes(w), a->stride, a->padding, a->dilation,
                                       a->groups));
    if (g->in[2] && g->want[2]) tn_give(g, 2, tni_cv_bias_grad(d, 2));
}
/* Input (S, N, C, ..) of samples (N, C, ..) as (N, S C, ..): each sample has channels of its own.
 */
static tn_tensor *conv_channels(tn_tensor *x) {
    x = x ? tnp_transpose(x, 0, 1) : NULL;
    return x ? tnp_flatten(x, 1, 2) : NULL;
}
/* Images of all samples are more images of one call; weights of each sample are groups of one. */
static tn_tensor *conv2d_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(conv2d, a, f);
    const bool image = f->in[0]->ndim == 3;
    const int64_t size = whole[0] ? whole[0]->size[0] : 0, each = whole[1] ? whole[1]->size[0] : 0;
    tn_tensor *x = whole[0], *w, *bias, *y;
    int64_t sizes[2];
    if (!whole[1] && !whole[2]) {
        if (image)
            return tnp_conv2d(x, f->in[1], f->in[2], a->stride, a->padding, a->dilation, a->groups);
        return tni_whole_split(tnp_conv2d(tni_whole_join(x), f->in[1], f->in[2], a->stride,
                                          a->padding, a->dilation, a->groups),
                               size);
    }
    if (!whole[1] || (f->in[2] && !whole[2])) return NULL;
    x = tni_whole_each(f, whole, 0, each);
    if (x && image) x = tnp_unsqueeze(x, 1);
    x = conv_channels(x);
    w = tni_whole_join(whole[1]);
    bias = f->in[2] ? tni_whole_join(whole[2]) : NULL;
    if (!x || !w || (f->in[2] && !bias)) return NULL;
    y = tnp_conv2d(x, w, bias, a->stride, a->padding, a->dilation, a->groups * each);
    sizes[0] = each;
    if (y) sizes[1] = y->size[1] / each;
    if (y) y = tnp_unflatten(y, 1, tni_ints(sizes, 2));
    if (y) y = tnp_transpose(y, 0, 1);
    return y && image ? tnp_squeeze_dim(y, 1) : y;
}
/* y(n, o, p, q) = bias(o) + sum over c, i, j of weight(o, c, i, j) input(n, c, p stride + i
 * dilation - padding, ...), where input is zero outside its bounds. The output channels of group g
 * read only the input channels of group g. All dtypes but bool; only floating ones are fast. */
TN_OPERATOR(conv2d,
            "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
            "padding=0, int[2] dilation=1, "
            "int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW), "
                             "bias (O) -> (N, O, H', W') or (O, H', W')",
                   .example = "tn_conv2d(x, w, .bias = b, .padding = TN_DIMS(1, 1))",
                   .python = "nn.functional.conv2d"),
            .forms = TN_OUT | TN_IMAGES, .autocast = TN_LOWER, .needs = "input:weight weight:input",
            .check = conv2d_check, .run = conv2d_run, .grad = conv2d_grad,
            .sample = "(2,3,5,6) (4,3,3,3) (4) padding=[1,1] | (1,2,7,7) (3,2,3,2) None "
                      "stride=[2,3] padding=[1,0] | "
                      "(1,2,9,8) (2,2,3,3) (2) dilation=[2,1] | (2,4,5,5) (6,2,3,3) (6) groups=2 | "
                      "(2,4,6,5) (4,1,3,3) (4) "
                      "[2,2] [1,1] groups=4 | (3,5,4) (7,3,1,1) (7) | (1,44,4,5) (13,44,3,3) None "
                      "padding=[1,1] | "
                      "(2,2,7,5) (20,2,3,3) (20) | (0,2,4,4) (3,2,3,3) (3) | (1,1,20,40) (8,1,5,5) "
                      "(8) padding=[2,2] | (2,2,256,256) (4,2,8,8) None [8,8] [4,4] | (2,5,3,4) "
                      "(6,5,1,1) (6) | (1,16,4,5) (16,1,3,3) (16) padding=[1,1] groups=16",
            .node = "ConvolutionBackward0", .batched = TN_BATCHED(conv2d_batched))

/* The gradient of the output must have the output's shape. */
TN_PRIV bool tni_cv_check_grad(tn_frame *f, const tni_cv_shape *s, const tn_tensor *d) {
    int64_t size[5];
    char has[160], wants[160];
    const int ndim = tni_cv_output_size(s, size);
    bool same = d->ndim == ndim;
    for (int i = 0; same && i < ndim; i++) same = d->size[i] == size[i];
    return same || tn_fail(f, TN_INVALID, "expected grad %s, got %s",
                           tni_shape_text(wants, sizeof wants, ndim, size),
                           tni_shape_text(has, sizeof has, d->ndim, d->size));
}

/* --- gradient of the input: a convolution of grad for each phase of the stride ---------------- */

/* Along one dimension: input elements of phase a = position % stride take tap t where (a + pad -
 * t * dilation) divides by the stride, from the output shifted by the quotient. */
typedef struct cv_axis {
    int64_t n, k, stride, pad, dilation, low, high; /* low, high: of all shifts */
} cv_axis;

static int64_t cv_floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
static int64_t cv_phase_of(const cv_axis *x, int64_t tap) {
    const int64_t a = tap * x->dilation - x->pad;
    return a - cv_floor_div(a, x->stride) * x->stride;
}
static int64_t cv_shift(const cv_axis *x, int64_t phase, int64_t tap) {
    return cv_floor_div(phase + x->pad - tap * x->dilation, x->stride);
}
static cv_axis cv_axis_of(int64_t n, int64_t k, int64_t stride, int64_t pad, int64_t dilation) {
    cv_axis x = {n, k, stride, pad, dilation, INT64_MAX, INT64_MIN};
    /* The range of the shifts says how far the source must be padded. */
    for (int64_t t = 0; t < k; t++) {
        const int64_t shift = cv_shift(&x, cv_phase_of(&x, t), t);
        if (shift < x.low) x.low = shift;
        if (shift > x.high) x.high = shift;
    }
    return x;
}

typedef struct cv_backward {
    tni_cv_source source;
    cv_axis y, x;
    int64_t *offset, *tap; /* tap: numbers i * kw + j, of one phase at a time */
    void *weight, *copy, *packed, *result;
    const tn_tensor *w;
    int how;
} cv_backward;

static bool cv_backward_lay(tn_frame *f, const tni_cv_shape *s, cv_backward *p, tni_cv_room *r) {
    const bool half = tni_dtype_size(f->in[0]) == 2;
    const int64_t size = f->in[0]->dtype == TN_F64 ? 8 : 4;
    tni_cv_source *d = &p->source;
    /* The source is the gradient of the output, of stride 1, padded so that the
     * smallest shift is 0. */
    p->y = cv_axis_of(s->h, s->kh, s->sh, s->ph, s->dh);
    p->x = cv_axis_of(s->w, s->kw, s->sw, s->pw, s->dw);
    tni_cv_source_tensor(d, f->in[0], s->dims);
    /* Along the depth taps are channels: plane z of the input takes tap i from plane
     * (z + padding - i dilation) / stride, where that is a whole number. */
    d->channels *= s->kd;
    d->kd = s->kd;
    d->depths = s->d;
    d->i_step = -s->dd;
    d->z_first = s->pd;
    d->z_by = s->sd;
    d->sh = d->sw = d->phases = 1;
    p->how = cv_how(f, s, s->cg, s->og * s->kd * s->kh * s->kw);
    /* Of a product each pixel is one of grad's. */
    if (p->how == CV_PRODUCT && (s->sh * s->sw > 1 || s->ph + s->pw > 0)) p->how = CV_TILES;
    d->last = cv_is_last(p->how);
    d->top = -p->y.low;
    d->left = -p->x.low;
    d->rows = (s->h + s->sh - 1) / s->sh + p->y.high - p->y.low;
    d->cols = (s->w + s->sw - 1) / s->sw + p->x.high - p->x.low;
    if (!tni_cv_source_plan_layout(d, s->n * s->d)) return r->fits = false;
    cv_source_for(d, p->how);
    /* All taps of all phases have a place in offset and packed: each belongs to one phase. */
    p->offset = (int64_t *)tni_cv_take(r, s->og * s->kd * s->kh * s->kw, 8);
    p->tap = (int64_t *)tni_cv_take(r, s->kh * s->kw, 8);
    p->weight = tni_cv_take(r, cv_is_plain(f->in[1]) ? 0 : f->in[1]->numel, size);
    p->packed = tni_cv_take(r, f->in[1]->numel, size);
    p->copy = tni_cv_take(r, tni_cv_source_room(d), size);
    p->result = tni_cv_take(r, half ? d->images * s->c : 0, s->h * s->w * size);
    return r->fits;
}

/* For one phase after the other: the weights a (group, c, (o, i, j)) and the offsets (o, i, j) of
 * its taps. */
static void cv_backward_prepare(const tni_cv_shape *s, const cv_backward *p) {
    const int64_t size = tni_cv_size(&p->source), taps = s->kh * s->kw,
                  channel = tni_cv_channel_step(&p->source), pixel = tni_cv_pixel(&p->source);
    int64_t *offset = p->offset;
    char *a = (char *)p->packed;
    for (int64_t phase = 0; phase < s->sh * s->sw; phase++) {
        /* The taps that reach this phase, as numbers i * kw + j. */
        const int64_t py = phase / s->sw, px = phase % s->sw;
        int64_t n = 0;
        for (int64_t t = 0; t < taps; t++) {
            const int64_t i = t / s->kw, j = t % s->kw;
            if (cv_phase_of(&p->y, i) != py || cv_phase_of(&p->x, j) != px) continue;
            p->tap[n++] = t;
        }
        /* Offsets (o, i, j) in the source, which begins at the smallest shift. */
        for (int64_t o = 0; o < s->og * s->kd; o++)
            for (int64_t t = 0; t < n; t++)
                *offset++ =
                    o * channel +
                    (cv_shift(&p->y, py, p->tap[t] / s->kw) - p->y.low) * tni_cv_pitch(&p->source) +
                    (cv_shift(&p->x, px, p->tap[t] % s->kw) - p->x.low) * pixel;
        if (p->how == CV_PRODUCT) continue; /* reads weight where it lies */
        if (p->how == CV_DEPTH) {
            /* Weights (i, j, c). */
            for (int64_t t = 0; t < n; t++)
                for (int64_t c = 0; c < s->c; c++, a += size)
                    memcpy(a, (const char *)p->weight + (c * taps + p->tap[t]) * size,
                           (size_t)size);
            continue;
        }
        /* Weights (c, o, i, j): channel c of the input is channel c mod cg of group c / cg. */
        for (int64_t c = 0; c < s->c; c++)
            for (int64_t o = 0; o < s->og * s->kd; o++) {
                const int64_t row = (c / s->cg * s->og + o / s->kd) * s->cg + c % s->cg;
                const char *from =
                    (const char *)p->weight + (row * s->kd + o % s->kd) * taps * size;
                for (int64_t t = 0; t < n; t++, a += size) {
                    if (size == 4)
                        memcpy(a, from + p->tap[t] * 4, 4);
                    else
                        memcpy(a, from + p->tap[t] * 8, 8);
                }
            }
    }
}
static int64_t cv_count(const cv_axis *x, int64_t phase) {
    int64_t n = 0;
    for (int64_t t = 0; t < x->k; t++) n += cv_phase_of(x, t) == phase;
    return n;
}

/* One phase of the round: elements (py + sh q, px + sw r) of the input. *done: (o, i, j) of the
 * phases before. */
static void cv_backward_phase(cv_job *j, const tni_cv_shape *s, const cv_backward *p, int64_t n,
                              char *to, int64_t phase, int64_t *done) {
    const int64_t py = phase / s->sw, px = phase % s->sw;
    /* The matrix product of this phase: cg input channels from og output channels
     * times its taps. */
    j->v.m = s->cg;
    j->v.k = s->og * s->kd * cv_count(&p->y, py) * cv_count(&p->x, px);
    j->v.a = (const char *)p->packed + *done * s->c * j->size;
    j->v.bias = NULL;
    j->v.offset = p->offset + *done;
    *done += j->v.k;
    /* A phase beyond the input, or that no tap reaches, has nothing to add. */
    if (s->h <= py || s->w <= px || j->v.k == 0) return;
    j->v.height = (s->h - py + s->sh - 1) / s->sh;
    j->v.width = (s->w - px + s->sw - 1) / s->sw;
    j->v.source = p->source.at;
    j->v.source_end = tni_cv_source_end(&p->source, n);
    j->v.image_step = tni_cv_image_step(&p->source);
    j->v.pitch = tni_cv_pitch(&p->source);
    /* Its results lie sh rows and sw columns apart. */
    j->v.c = to + (py * s->w + px) * j->size;
    j->v.c_line = s->sh * s->w;
    j->v.c_col = s->sw;
    j->groups = s->groups;
    j->a_group = s->cg * j->v.k;
    j->bias_group = 0;
    j->source_group = s->og * s->kd * tni_cv_channel_step(&p->source);
    j->c_group = s->cg * j->v.c_row;
    if (p->how == CV_DEPTH) {
        j->v.c = to + (py * s->w + px) * s->c * j->size;
        cv_depth_job(j, &p->source, s->c, s->sh * s->w, s->h * s->w);
        j->v.c_col *= s->sw;
    }
    /* Pixels of this phase over all images of the round. */
    j->pixels = n * j->v.height * j->v.width;
    if (p->how == CV_PRODUCT)
        cv_product(j, &p->source, n, p->w, true);
    else
        cv_run(j, p->how);
}

TN_PRIV bool tni_cv_input_check(tn_frame *f, const tni_cv_shape *s) {
    int64_t size[5];
    cv_backward p;
    tni_cv_room r = {NULL, 0, true};
    const int ndim = tni_cv_input_size(s, size);
    if (!tni_cv_check_grad(f, s, f->in[0])) return false;
    p.how = CV_TILES;
    /* As of the output: this only counts the scratch. */
    if (!tni_cv_is_plain(f->in[0])) cv_backward_lay(f, s, &p, &r);
    return (tni_cv_is_plain(f->in[0]) ? tni_cv_plain_ask(f, s->n * s->c * s->d * s->h * s->w)
                                      : tni_cv_ask(f, &r)) &&
           tni_announce_images(f, 0, (tn_dtype)f->in[0]->dtype, ndim, size, cv_like(f),
                               cv_is_last(p.how));
}
TN_PRIV void tni_cv_input_run(tn_frame *f, const tni_cv_shape *s) {
    const bool half = tni_dtype_size(f->in[0]) == 2;
    const int64_t plane = s->h * s->w, bytes = tni_dtype_size(f->out[0]);
    tni_cv_room r = {(char *)f->scratch, 0, true};
    cv_backward p;
    cv_job j;
    if (tni_cv_is_plain(f->in[0])) {
        tni_cv_plain_run(f, s, TNI_CV_INPUT);
        return;
    }
    if (!cv_backward_lay(f, s, &p, &r)) return;
    const bool holes =
        s->kh < s->sh || s->kw < s->sw || s->dh > 1 || s->dw > 1; /* some phases may have no tap */
    p.w = f->in[1];
    p.weight = (void *)cv_plain(f, f->in[1], p.weight); /* only read */
    cv_backward_prepare(s, &p);
    j.context = f->block->context;
    j.size = tni_cv_size(&p.source);
    /* Input elements that no phase writes have the gradient 0. */
    if (holes) TNI_PATH(conv_back_holes);
    if (holes && !half) memset(tni_bytes_at(f->out[0]), 0, (size_t)(f->out[0]->numel * bytes));
    for (int64_t first = 0, n; first < s->n * s->d; first += n) {
        char *out = tni_bytes_at(f->out[0]) +
                    (first / s->d * s->c * s->d + first % s->d) * plane * bytes,
             *to = half ? (char *)p.result : out;
        n = tni_cv_source_count(&p.source, first, s->n * s->d);
        tni_cv_source_round(j.context, &p.source, first, n, p.copy);
        if (holes && half) memset(to, 0, (size_t)(n * s->c * plane * j.size));
        /* All phases write into the same images, interleaved. */
        cv_planes(&j, s->c, s->d, plane, half);
        for (int64_t phase = 0, done = 0; phase < s->sh * s->sw; phase++)
            cv_backward_phase(&j, s, &p, n, to, phase, &done);
        if (!half) continue;
        TNI_PATH(conv_back_half);
        cv_planes(&j, s->c, s->d, plane, false);
        cv_narrow_run(j.context, (const float *)p.result, out, f->out[0], &j, n, s->c, plane);
    }
}

static bool conv2d_input_grad_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv2d_input_grad, a, f);
    return tni_cv_shape_of(f, s, 2, a->input_size, tni_sizes(f->in[1]), a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool conv2d_input_grad_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], NULL, true) &&
           conv2d_input_grad_shape(f, &s) && tni_cv_input_check(f, &s);
}
static void conv2d_input_grad_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv2d_input_grad_shape(f, &s)) tni_cv_input_run(f, &s);
}
/* linear in grad, and in the conjugate weight: gradients are conv2d and conv2d_weight_grad of the
 * incoming one */
static void conv2d_input_grad_grad(tn_gradient *g) {
    TN_ARGS(conv2d_input_grad, a, g);
    tn_tensor *d = g->in[0], *w = g->in[1], *e = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0, tnp_conv2d(e, w, NULL, a->stride, a->padding, a->dilation, a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv2d_weight_grad(d, e, tni_sizes(w), a->stride, a->padding, a->dilation,
                                       a->groups));
}
/* The gradient of conv2d's input, from grad, the gradient of its output: at each row, the sum of
 * weight(o, c, i, j) grad(n, o, p, q) over all o, i, j for which p stride + i dilation - padding is
 * that row; columns likewise. A complex weight is conjugated. torch.nn.grad.conv2d_input. */
TN_OPERATOR(
    conv2d_input_grad,
    "conv2d_input_grad(Tensor grad, Tensor weight, int[] input_size, int[2] stride=1, int[2] "
    "padding=0, "
    "int[2] dilation=1, int groups=1) -> Tensor",
    TN_DOC(.shapes = "grad (N, O, H', W'), weight (O, C / groups, kH, kW), input_size (N, C, H, W) "
                     "-> input_size",
           .example = "tn_conv2d_input_grad(d, w, TN_DIMS(1, 3, 8, 8))"),
    .forms = TN_OUT | TN_IMAGES, .needs = "grad:weight weight:grad",
    .check = conv2d_input_grad_check, .run = conv2d_input_grad_run, .grad = conv2d_input_grad_grad,
    .sample =
        "(2,4,5,6) (4,3,3,3) [2,3,5,6] padding=[1,1] | (1,3,4,2) (3,2,3,2) [1,2,7,7] [2,3] [1,0] | "
        "(1,2,5,6) (2,2,3,3) [1,2,9,8] dilation=[2,1] | (2,6,3,3) (6,2,3,3) [2,4,5,5] groups=2 | "
        "(2,4,3,3) "
        "(4,1,3,3) [2,4,6,5] [2,2] [1,1] groups=4 | (7,5,4) (7,3,1,1) [3,5,4] | (1,2,3,3) "
        "(2,3,1,1) [1,3,6,5] "
        "[2,2] | (1,44,4,5) (44,13,3,3) [1,13,4,5] padding=[1,1] | (2,6,3,4) (6,5,1,1) "
        "[2,5,3,4] | (1,16,4,5) (16,1,3,3) [1,16,4,5] padding=[1,1] groups=16")
