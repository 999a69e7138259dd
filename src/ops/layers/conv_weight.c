/* conv_weight.c - the gradient of a convolution's weight: a matrix product over all pixels.
 *
 * Its k runs over images, lines and columns, so that of kernels/gemm.h: blocks of whole lines, in
 * order, whatever the threads. Rows are the taps of the kernel, reads of the laid-out input
 * (conv.h), columns the output channels. */
#include "conv.h"
#include "../../api/ops/layers.h"
#include "../../call/rowform.h"

/* The transposed gradient gathers in `sum` (group, panel, tap, lane); a panel is `wide` output
 * channels. Pixels are taken in blocks of whole lines, or of pieces of one where a line is longer
 * than a block of gemm.h. */
typedef struct cv_weight {
    tni_cv_source source, grad; /* grad: copied only where it cannot be read as it is */
    tni_cv_shape s;
    tn_context *context;
    int64_t size, wide, panels, lines, pieces,
        piece;                /* lines a block; pieces a line, of `piece` pixels */
    int64_t taps_each, parts; /* taps a task; tasks a panel */
    int64_t first, images;    /* this round */
    int64_t *offset;
    char *copy, *grad_copy, *packed, *sum;
    bool one; /* few output channels: no panels */
    const tn_tensor *d;
    tn_tensor *out;
} cv_weight;

static int64_t cv_round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static bool cv_weight_lay(tn_frame *f, cv_weight *p, tni_cv_room *r) {
    const tni_cv_shape *s = &p->s;
    const tni_kernels *k = f->block->context->kernels;
    tni_cv_source *d = &p->grad;
    p->d = f->in[0];
    p->size = p->d->dtype == TN_F64 ? 8 : 4;
    /* Few output channels: grad is read as it is, without panels of output channels. */
    p->one = s->og <= 2;
    p->wide = p->one         ? 1
              : p->size == 8 ? TNI_K(k, gemm_columns_f64)()
                             : TNI_K(k, gemm_columns_f32)();
    p->panels = (s->og + p->wide - 1) / p->wide;
    /* A block is at most TNI_K_BLOCK pixels: several lines, or a piece of a long one. */
    p->pieces = (s->ow + TNI_K_BLOCK - 1) / TNI_K_BLOCK;
    p->piece = (s->ow + p->pieces - 1) / p->pieces;
    p->lines = p->pieces > 1 ? 1 : TNI_K_BLOCK / s->ow;
    tni_cv_source_tensor(&p->source, f->in[1], s->dims);
    tni_cv_source_tensor(d, f->in[0], s->dims);
    /* grad needs no padding; a layout of it is made only where kernels cannot read it. */
    d->sh = d->sw = 1;
    d->top = d->left = 0;
    d->rows = s->oh;
    d->cols = s->ow;
    if (!tni_cv_source_forward(&p->source, s) || !tni_cv_source_plan_layout(d, s->n * s->od))
        return r->fits = false;
    if (!p->one && tni_dtype_size(p->d) > 2) d->in_place = true; /* packed from any strides */
    /* Both go by the same rounds of images. */
    d->images = p->source.images;
    p->offset = (int64_t *)tni_cv_take(r, s->taps, 8);
    p->sum = (char *)tni_cv_take(r, s->groups * p->panels * p->wide, s->taps * p->size);
    p->copy = (char *)tni_cv_take(r, tni_cv_source_room(&p->source), p->size);
    p->grad_copy = (char *)tni_cv_take(r, tni_cv_source_room(d), p->size);
    p->packed = (char *)tni_cv_take(r, p->one ? 0 : s->groups * p->panels * p->wide * d->images,
                                    s->oh * s->ow * p->size);
    return r->fits;
}

/* Panel (group, panel) of one image: [pixel][wide]. */
static void cv_weight_pack(void *arg, int64_t i) {
    const cv_weight *p = (const cv_weight *)arg;
    const tni_cv_source *d = &p->grad;
    /* Task i: (panel, image). channel: the panel's first output channel; lane, row and line are
     * steps of grad along channels, pixels and lines. */
    const int64_t image = i % p->images, panel = i / p->images,
                  channel = panel / p->panels * p->s.og + panel % p->panels * p->wide;
    const int64_t lane = tni_cv_channel_step(d), row = d->in_place ? d->x_col / p->size : 1,
                  line = tni_cv_pitch(d);
    const int64_t left = p->s.og - panel % p->panels * p->wide, n = left < p->wide ? left : p->wide;
    /* Lines without gaps are packed in one go. */
    const bool whole = line == row * p->s.ow;
    if (whole)
        TNI_PATH(conv_weight_pack_whole);
    else
        TNI_PATH(conv_weight_pack_lines);
    /* The panel's channels of this image, and its place among the panels of the round. */
    const char *from = d->at + (image * tni_cv_image_step(d) + channel * lane) * p->size;
    char *to = p->packed + (panel * p->images + image) * p->s.oh * p->s.ow * p->wide * p->size;
    const tni_kernels *k = p->context->kernels;
    for (int64_t y = 0; y < (whole ? 1 : p->s.oh); y++) {
        const int64_t depth = whole ? p->s.oh * p->s.ow : p->s.ow;
        (p->size == 8 ? TNI_K(k, gemm_pack_b_f64) : TNI_K(k, gemm_pack_b_f32))(
            to + y * p->s.ow * p->wide * p->size, from + y * line * p->size, lane, row, n, depth);
    }
}

/* Some taps of one panel over all blocks of the round. */
static void cv_weight_task(void *arg, int64_t i) {
    const cv_weight *p = (const cv_weight *)arg;
    const tni_kernels *k = p->context->kernels;
    /* Task i: (panel, part), some taps each. */
    const int64_t panel = i / p->parts, tap = i % p->parts * p->taps_each,
                  lines = p->images * p->s.oh, group = panel / p->panels;
    void (*run)(const tni_conv_weight *) =
        p->size == 8 ? (p->one ? TNI_K(k, conv_weight_one_f64) : TNI_K(k, conv_weight_f64))
                     : (p->one ? TNI_K(k, conv_weight_one_f32) : TNI_K(k, conv_weight_f32));
    tni_conv_weight v;
    /* Rows of the product are these taps, columns the output channels of the panel,
     * k the pixels. */
    v.rows = p->s.taps - tap < p->taps_each ? p->s.taps - tap : p->taps_each;
    v.height = p->s.oh;
    v.source = p->source.at + group * p->s.cg * p->s.kd * tni_cv_channel_step(&p->source) * p->size;
    v.offset = p->offset + tap;
    v.image_step = tni_cv_image_step(&p->source);
    v.pitch = tni_cv_pitch(&p->source);
    v.w = p->sum + (panel * p->s.taps + tap) * p->wide * p->size;
    /* Blocks in the order of the pixels: the first sets the sum, all others add to it. */
    for (int64_t line = 0; line < lines; line += p->lines)
        for (int64_t piece = 0; piece < p->pieces; piece++) {
            if (tni_stopped()) return;
            v.first = line;
            v.lines = lines - line < p->lines ? lines - line : p->lines;
            v.left = piece * p->piece;
            v.width = p->s.ow - v.left < p->piece ? p->s.ow - v.left : p->piece;
            v.add = p->first > 0 || line > 0 || piece > 0;
            v.grad = p->packed + ((panel * lines + line) * p->s.ow + v.left) * p->wide * p->size;
            v.grad_lines = p->s.ow;
            /* Without panels grad is read where it lies. */
            if (p->one) {
                const int64_t step = tni_cv_pitch(&p->grad);
                const int64_t channel = group * p->s.og + panel % p->panels;
                v.grad = p->grad.at + (channel * tni_cv_channel_step(&p->grad) + v.left) * p->size;
                v.grad_image = tni_cv_image_step(&p->grad);
                v.grad_lines = step;
            }
            run(&v);
        }
}

static void cv_weight_round(cv_weight *p) {
    /* parts: tasks a panel, by the work, so that there are about twice TNI_CV_TASKS. */
    const int64_t all = p->s.groups * p->panels,
                  work = p->images * p->s.oh * p->s.ow * p->s.taps * p->wide;
    int64_t parts = work * all / TNI_CV_WORK < 2 * TNI_CV_TASKS ? work * all / TNI_CV_WORK / all
                                                                : 2 * TNI_CV_TASKS / all;
    tni_cv_source_round(p->context, &p->source, p->first, p->images, p->copy);
    tni_cv_source_round(p->context, &p->grad, p->first, p->images, p->grad_copy);
    if (!p->one) tni_parallel(p->context, all * p->images, cv_weight_pack, p);
    if (parts < 1) parts = 1;
    /* 18: a multiple of all kernels' tiles of rows (CONV_ROWS), so only the last task has
     * a rest. */
    p->taps_each = cv_round_up((p->s.taps + parts - 1) / parts, 18);
    p->parts = (p->s.taps + p->taps_each - 1) / p->taps_each;
    if (p->one)
        TNI_PATH(conv_weight_one);
    else
        TNI_PATH(conv_weight);
    tni_parallel(p->context, all * p->parts, cv_weight_task, p);
}

/* The sums, transposed and rounded, to row o of the result. */
static void cv_weight_store(void *arg, int64_t o) {
    const cv_weight *p = (const cv_weight *)arg;
    /* Output channel o is lane in_group mod wide of its group's panel. */
    const int64_t in_group = o % p->s.og, panel = o / p->s.og * p->panels + in_group / p->wide;
    const char *from = p->sum + (panel * p->s.taps * p->wide + in_group % p->wide) * p->size;
    char *to = tni_bytes_at(p->out) + o * p->s.taps * tni_dtype_size(p->out);
    for (int64_t t = 0; t < p->s.taps; t++, from += p->wide * p->size, to += tni_dtype_size(p->out))
        tni_lanes_save(to, 0, p->out->dtype, from, p->size == 8 ? TN_F64 : TN_F32, 1);
}

static bool conv2d_weight_grad_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv2d_weight_grad, a, f);
    return tni_cv_shape_of(f, s, 2, tni_sizes(f->in[1]), a->weight_size, a->stride, a->padding,
                           a->dilation, a->groups);
}
static bool weight_grad_shape(tn_frame *f, tni_cv_shape *s) {
    TN_ARGS(conv3d_weight_grad, a, f);
    if (strcmp(f->row->name, "conv3d_weight_grad") != 0) return conv2d_weight_grad_shape(f, s);
    return tni_cv_shape_of(f, s, 3, tni_sizes(f->in[1]), a->weight_size, a->stride, a->padding,
                           a->dilation, a->groups);
}
TN_API void tn_conv_blocks_of(tn_conv_blocks *b, tn_frame *f) {
    cv_weight p;
    tni_cv_room r = {NULL, 0, true};
    memset(b, 0, sizeof *b);
    if (!weight_grad_shape(f, &p.s) || !cv_weight_lay(f, &p, &r)) return; /* check refused */
    b->images = p.source.images;
    b->lines = p.lines;
    b->pieces = p.pieces;
    b->piece = p.piece;
    b->lanes = p.one;
}
TN_PRIV bool tni_cv_weight_check(tn_frame *f, const tni_cv_shape *s) {
    cv_weight p;
    tni_cv_room r = {NULL, 0, true};
    const int64_t size[5] = {s->o, s->cg, s->dims == 3 ? s->kd : s->kh,
                             s->dims == 3 ? s->kh : s->kw, s->kw};
    /* grad is an output's. */
    if (!tni_cv_check_grad(f, s, f->in[0])) return false;
    p.s = *s;
    if (!tni_cv_is_plain(f->in[0])) cv_weight_lay(f, &p, &r);
    return (tni_cv_is_plain(f->in[0]) ? tni_cv_plain_ask(f, s->o * s->taps) : tni_cv_ask(f, &r)) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, s->dims + 2, size);
}
TN_PRIV void tni_cv_weight_run(tn_frame *f, const tni_cv_shape *s) {
    tni_cv_room r = {(char *)f->scratch, 0, true};
    const int64_t images = s->n * s->od;
    cv_weight p;
    p.s = *s;
    if (tni_cv_is_plain(f->in[0])) {
        tni_cv_plain_run(f, s, TNI_CV_WEIGHT);
        return;
    }
    if (!cv_weight_lay(f, &p, &r)) return;
    p.context = f->block->context;
    p.out = f->out[0];
    /* The source is the input as the convolution lays it out. */
    tni_cv_offsets_forward(&p.source, s, p.offset);
    if (p.pieces > 1) TNI_PATH(conv_weight_pieces);
    /* Without images no block sets the sums. */
    if (images == 0) memset(p.sum, 0, (size_t)(s->groups * p.panels * p.wide * s->taps * p.size));
    /* Sums grow over the rounds, and become the result at the end. */
    for (p.first = 0; p.first < images; p.first += p.images) {
        p.images = tni_cv_source_count(&p.source, p.first, images);
        cv_weight_round(&p);
    }
    tni_parallel(p.context, s->o, cv_weight_store, &p);
}

static bool conv2d_weight_grad_check(tn_frame *f) {
    tni_cv_shape s;
    return tni_cv_check_dtypes(f, f->in[0], f->in[1], NULL, false) &&
           conv2d_weight_grad_shape(f, &s) && tni_cv_weight_check(f, &s);
}
static void conv2d_weight_grad_run(tn_frame *f) {
    tni_cv_shape s;
    if (conv2d_weight_grad_shape(f, &s)) tni_cv_weight_run(f, &s);
}
static void conv2d_weight_grad_grad(tn_gradient *g) {
    TN_ARGS(conv2d_weight_grad, a, g);
    /* Linear in grad and in input: gradients are conv2d and conv2d_input_grad with e, the gradient
     * of the weight's gradient, as weight. */
    tn_tensor *d = g->in[0], *x = g->in[1], *e = g->incoming[0];
    if (g->want[0])
        tn_give(g, 0, tnp_conv2d(x, e, NULL, a->stride, a->padding, a->dilation, a->groups));
    if (g->want[1])
        tn_give(g, 1,
                tnp_conv2d_input_grad(d, e, tni_sizes(x), a->stride, a->padding, a->dilation,
                                      a->groups));
}
/* The gradient of conv2d's weight, from grad, the gradient of its output: the sum over n, p,
 * q of grad(n, o, p, q) input(n, c, p stride + i dilation - padding, ...). A complex input
 * is conjugated. torch.nn.grad.conv2d_weight. */
TN_OPERATOR(
    conv2d_weight_grad,
    "conv2d_weight_grad(Tensor grad, Tensor input, int[] weight_size, int[2] stride=1, int[2] "
    "padding=0, "
    "int[2] dilation=1, int groups=1) -> Tensor",
    TN_DOC(.shapes = "grad (N, O, H', W'), input (N, C, H, W), weight_size (O, C / groups, kH, kW) "
                     "-> weight_size",
           .example = "tn_conv2d_weight_grad(d, x, TN_DIMS(16, 3, 3, 3))"),
    .forms = TN_OUT, .needs = "grad:input input:grad", .check = conv2d_weight_grad_check,
    .run = conv2d_weight_grad_run, .grad = conv2d_weight_grad_grad,
    .sample =
        "(2,4,5,6) (2,3,5,6) [4,3,3,3] padding=[1,1] | (1,3,4,2) (1,2,7,7) [3,2,3,2] [2,3] [1,0] | "
        "(1,3,5,6) (1,2,9,8) [3,2,3,3] dilation=[2,1] | (2,6,3,3) (2,4,5,5) [6,2,3,3] groups=2 | "
        "(2,4,3,3) "
        "(2,4,6,5) [4,1,3,3] [2,2] [1,1] groups=4 | (7,5,4) (3,5,4) [7,3,1,1] | (0,3,2,2) "
        "(0,2,4,4) [3,2,3,3] | "
        "(3,19,12,17) (3,2,12,17) [19,2,1,1] | (1,3,1,400) (1,2,1,400) [3,2,1,1] | (1,1,2,400) "
        "(1,1,2,400) [1,1,1,1]")
