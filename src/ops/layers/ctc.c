/* ctc.c - the loss of connectionist temporal classification by the forward-backward algorithm
 * (A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, Connectionist temporal classification, 2006),
 * on logarithms in float64.
 *
 * A target of L labels has 2 L + 1 states: blanks, and between them the labels. alpha[t, s] is the
 * logarithm of the probability of all paths that are in state s at time t; a path stays, goes on by
 * one state, or over the blank between two labels that differ. */
#include "loss.h"
#include "../../cpu/blocks.h"
#include "../../cpu/lanes.h"
#include "../../cpu/matrix.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

TN_PRIV_DECLARE(tn_row, tni_row_exp);
TN_PRIV_DECLARE(tn_row, tni_row_logaddexp);

/* The arguments that both rows have. log_probs (T, N, C) or (T, C); targets (N, S), or all labels
 * one behind the other. */
typedef struct ctc_call {
    const tn_tensor *log_probs, *targets, *input_lengths, *target_lengths;
    int64_t blank;
    bool zero_infinity;
} ctc_call;
static int64_t ctc_batch(const ctc_call *c) {
    return c->log_probs->ndim == 3 ? c->log_probs->size[1] : 1;
}
static int64_t ctc_classes(const ctc_call *c) { return c->log_probs->size[c->log_probs->ndim - 1]; }
/* The most labels that a target may have. */
static int64_t ctc_most(const ctc_call *c) { return c->targets->size[c->targets->ndim - 1]; }

/* Element i of integers t (n) or (), or of row `row` of (m, n). */
static int64_t ctc_integer(const tn_tensor *t, int64_t row, int64_t i) {
    const int64_t bytes = tni_dtype_size(t);
    int64_t at = t->ndim ? i * t->stride[t->ndim - 1] : 0, v;
    if (t->ndim == 2) at += row * t->stride[0];
    tni_lanes_load(&v, TN_I64, tni_bytes_at(t) + at * bytes, bytes, t->dtype, 1);
    return v;
}
/* Where the labels of sample b begin. */
static int64_t ctc_start(const ctc_call *c, int64_t b) {
    int64_t start = 0;
    if (c->targets->ndim == 2) return 0;
    for (int64_t k = 0; k < b; k++) start += ctc_integer(c->target_lengths, 0, k);
    return start;
}

/* --- what is refused -------------------------------------------------------------------------- */

static bool ctc_lengths_fit(tn_frame *f, const tn_tensor *t, const char *name, int64_t batch) {
    char size[128];
    if (tni_dtype(t->dtype)->category != TNI_CAT_INT)
        return tn_fail(f, TN_TYPE, "%s must be integral, got %s", name, tni_dtype(t->dtype)->text);
    return (t->ndim < 2 && t->numel == batch) ||
           tn_fail(f, TN_INVALID, "%s has shape %s, expected a length for each of %lld samples",
                   name, tni_shape_text(size, sizeof size, t->ndim, t->size), (long long)batch);
}
/* Shapes and dtypes; scratch of each worker for rows of states, all times if they are kept, and one
 * of classes. */
static bool ctc_fits(tn_frame *f, const ctc_call *c, bool keep) {
    const tn_tensor *x = c->log_probs, *t = c->targets;
    int64_t table[2], need;
    char size[128];
    if (!tni_is_float(x->dtype) || !tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_TYPE, "log_probs is %s, expected a floating dtype",
                       tni_dtype(x->dtype)->text);
    if ((x->ndim != 2 && x->ndim != 3) || !x->numel)
        return tn_fail(f, TN_INVALID,
                       "log_probs has shape %s, expected (T, N, C) or (T, C), not empty",
                       tni_shape_text(size, sizeof size, x->ndim, x->size));
    if (t->dtype != TN_I64 && t->dtype != TN_I32)
        return tn_fail(f, TN_TYPE, "targets is %s, expected int32 or int64",
                       tni_dtype(t->dtype)->text);
    if (t->ndim != 1 && (t->ndim != 2 || t->size[0] != ctc_batch(c)))
        return tn_fail(f, TN_INVALID,
                       "targets has shape %s, expected (%lld, S), or all labels in one "
                       "dimension",
                       tni_shape_text(size, sizeof size, t->ndim, t->size),
                       (long long)ctc_batch(c));
    if (c->blank < 0 || c->blank >= ctc_classes(c))
        return tn_fail(f, TN_INVALID, "blank is %lld, expected a label in [0, %lld)",
                       (long long)c->blank, (long long)ctc_classes(c));
    if (!ctc_lengths_fit(f, c->input_lengths, "input_lengths", ctc_batch(c)) ||
        !ctc_lengths_fit(f, c->target_lengths, "target_lengths", ctc_batch(c)))
        return false;
    /* Two states for each label and a blank, with a place on either side. */
    table[0] = keep ? x->size[0] + 8 : 8;
    table[1] = 2 * ctc_most(c) + 3;
    if (!tni_numel_of(2, table, &need))
        return tn_fail(f, TN_INVALID, "log_probs and targets are too large");
    return tn_scratch_each(f, need + ctc_classes(c), sizeof(double));
}
/* Lengths and labels. */
static bool ctc_look_at(tn_frame *f, const ctc_call *c) {
    const int64_t n = ctc_batch(c), classes = ctc_classes(c);
    int64_t start = 0;
    for (int64_t b = 0; b < n; b++) {
        const int64_t times = ctc_integer(c->input_lengths, 0, b),
                      labels = ctc_integer(c->target_lengths, 0, b);
        if (times < 0 || times > c->log_probs->size[0])
            return tn_fail(f, TN_INVALID, "input_lengths has %lld, expected values in [0, %lld]",
                           (long long)times, (long long)c->log_probs->size[0]);
        if (labels < 0 || labels > ctc_most(c) - start)
            return tn_fail(f, TN_INVALID,
                           "target_lengths has %lld, but targets has %lld labels left",
                           (long long)labels, (long long)(ctc_most(c) - start));
        for (int64_t i = 0; i < labels; i++) {
            const int64_t label = ctc_integer(c->targets, b, start + i);
            if (label < 0 || label >= classes)
                return tn_fail(f, TN_INVALID,
                               "targets has label %lld, expected labels in [0, %lld)",
                               (long long)label, (long long)classes);
        }
        if (c->targets->ndim == 1) start += labels;
    }
    return c->targets->ndim == 2 || start == ctc_most(c) ||
           tn_fail(f, TN_INVALID, "targets has %lld labels, but target_lengths has %lld in all",
                   (long long)ctc_most(c), (long long)start);
}

/* --- the algorithm ---------------------------------------------------------------------------- */

/* A sample: its states, and rows of them in the worker's scratch. */
typedef struct ctc_sample {
    const ctc_call *call;
    const tni_kernels *kernels;
    int64_t b, times, states, width; /* a row is `width` long */
    int64_t *label;                  /* of each state */
    double *log_p, *over, *rows;     /* log_probs of the states; paths over a blank; the rest */
} ctc_sample;

static void ctc_begin(ctc_sample *s, const ctc_call *c, const tni_kernels *k, int64_t b,
                      void *scratch) {
    const int64_t start = ctc_start(c, b);
    s->call = c;
    s->kernels = k;
    s->b = b;
    s->times = ctc_integer(c->input_lengths, 0, b);
    s->states = 2 * ctc_integer(c->target_lengths, 0, b) + 1;
    s->width = 2 * ctc_most(c) + 3;
    s->label = (int64_t *)scratch;
    s->log_p = (double *)scratch + s->width;
    s->over = s->log_p + s->width;
    s->rows = s->over + s->width;
    for (int64_t i = 0; i < s->states; i++)
        s->label[i] = i % 2 ? ctc_integer(c->targets, b, start + i / 2) : c->blank;
}
/* A row's loop over n numbers: the result may stand in the place of an operand. */
static void ctc_loop(const ctc_sample *s, const tn_row *row, double *out, const double *x,
                     const double *y, int64_t n) {
    const tni_loop loop =
        ((const tni_loop(*)[TNI_LOOP_TYPES])row->gen->loops)[s->kernels->isa][TNI_IN_F64];
    const int64_t lanes = s->kernels->lanes[TNI_IN_F64], step[2] = {lanes * 8, lanes * 8};
    const char *in[2] = {(const char *)x, (const char *)y};
    tni_span_run(loop, y ? 2 : 1, lanes, (char *)out, 8, in, step, n, NULL);
}
static const char *ctc_at(const ctc_sample *s, int64_t t) { /* log_probs[t, b, 0] */
    const tn_tensor *x = s->call->log_probs;
    return tni_bytes_at(x) +
           (t * x->stride[0] + (x->ndim == 3 ? s->b * x->stride[1] : 0)) * tni_dtype_size(x);
}
/* log_probs of the states at time t. */
static void ctc_log_p(const ctc_sample *s, int64_t t) {
    const tn_tensor *x = s->call->log_probs;
    const int64_t bytes = tni_dtype_size(x), step = x->stride[x->ndim - 1] * bytes;
    const char *at = ctc_at(s, t);
    for (int64_t i = 0; i < s->states; i++)
        tni_lanes_load(&s->log_p[i], TN_F64, at + s->label[i] * step, bytes, x->dtype, 1);
}
/* The next row of alpha (way 1, from the states in front) or beta (way -1, from those behind); the
 * row before it stands at `from`, with -inf on either side. */
static void ctc_step(const ctc_sample *s, double *to, const double *from, int way) {
    const int64_t n = s->states;
    for (int64_t i = 0; i < n; i++) {
        /* Over a blank, between labels that differ. */
        const int64_t other = i - 2 * way;
        const bool may = other >= 0 && other < n && i % 2 && s->label[i] != s->label[other];
        s->over[i] = may ? from[other] : -HUGE_VAL;
    }
    ctc_loop(s, &tni_row_logaddexp, to, from, from - way, n);
    ctc_loop(s, &tni_row_logaddexp, to, to, s->over, n);
    for (int64_t i = 0; i < n; i++) to[i] += s->log_p[i];
}
/* A row of -inf, also on either side, but for its first two states (way 1) or its last two. */
static void ctc_first(const ctc_sample *s, double *row, int way) {
    const int64_t n = s->states, first = way > 0 ? 0 : n - 1;
    for (int64_t i = -1; i <= n; i++) row[i] = -HUGE_VAL;
    row[first] = s->log_p[first];
    if (n > 1) row[first + way] = s->log_p[first + way];
}
/* -log of the probability of the target, from the last row of alpha. */
static double ctc_loss_of(const ctc_sample *s, const double *alpha) {
    const int64_t n = s->states;
    double sum;
    if (!s->times) return n == 1 ? 0 : HUGE_VAL; /* no time: no label */
    if (n == 1) return -alpha[0];
    ctc_loop(s, &tni_row_logaddexp, &sum, alpha + n - 1, alpha + n - 2, 1);
    return -sum;
}
/* The rows of alpha, all if they are kept, else in two places by turns. Returns the loss. */
static double ctc_forward(const ctc_sample *s, bool keep) {
    double *row = s->rows + 1, *last = row;
    for (int64_t t = 0; t < s->times; t++) {
        double *to = row + (keep ? t : t % 2) * s->width;
        ctc_log_p(s, t);
        if (t) {
            to[-1] = to[s->states] = -HUGE_VAL;
            ctc_step(s, to, last, 1);
        } else {
            ctc_first(s, to, 1);
        }
        last = to;
    }
    return ctc_loss_of(s, last);
}

/* --- the loss of each sample ------------------------------------------------------------------ */

/* The call's inputs from number k on: look may be given copies of them. */
#define CTC_CALL(name, a, k)                                               \
    const ctc_call name = {f->in[k],       f->in[(k) + 1], f->in[(k) + 2], \
                           f->in[(k) + 3], (a)->blank,     (a)->zero_infinity}

static bool ctc_loss_plain_check(tn_frame *f) {
    TN_ARGS(ctc_loss_plain, a, f);
    CTC_CALL(c, a, 0);
    return ctc_fits(f, &c, false) && tn_announce(f, 0, (tn_dtype)a->log_probs->dtype,
                                                 a->log_probs->ndim == 3, a->log_probs->size + 1);
}
static bool ctc_loss_plain_look(tn_frame *f) {
    TN_ARGS(ctc_loss_plain, a, f);
    CTC_CALL(c, a, 0);
    return ctc_look_at(f, &c);
}
static void ctc_task(tn_frame *f, int64_t b, void *scratch) {
    TN_ARGS(ctc_loss_plain, a, f);
    const int64_t bytes = tni_dtype_size(f->out[0]);
    CTC_CALL(c, a, 0);
    ctc_sample s;
    double loss;
    ctc_begin(&s, &c, f->block->context->kernels, b, scratch);
    loss = ctc_forward(&s, false);
    if (c.zero_infinity && loss == HUGE_VAL) loss = 0;
    tni_lanes_save(tni_bytes_at(f->out[0]) + b * bytes, bytes, f->out[0]->dtype, &loss, TN_F64, 1);
}
/* Operations of a sample. */
static int64_t ctc_effort(const ctc_call *c, int each) {
    return tni_effort((double)c->log_probs->size[0] * each *
                      fma(2, (double)ctc_most(c), (double)ctc_classes(c)));
}
static void ctc_loss_plain_run(tn_frame *f) {
    TN_ARGS(ctc_loss_plain, a, f);
    CTC_CALL(c, a, 0);
    tn_each(f, ctc_batch(&c), ctc_effort(&c, 30), ctc_task);
}
static void ctc_loss_plain_grad(tn_gradient *g) {
    TN_ARGS(ctc_loss_plain, a, g);
    tn_give(g, 0,
            tnp_ctc_loss_input_grad(g->incoming[0], g->in[0], g->in[1], g->in[2], g->in[3],
                                    a->blank, a->zero_infinity));
}
/* ctc_loss of each sample. */
TN_OPERATOR(
    ctc_loss_plain,
    "ctc_loss_plain(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
    "target_lengths, int blank, bool zero_infinity) -> Tensor",
    TN_DOC(.shapes = "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one "
                     "dimension, lengths (N) -> (N) or ()",
           .example = "tn_ctc_loss_plain(p, t, n, m, 0, false)",
           .differs = "gradcheck: the gradient takes log_probs for logarithms that sum to 1, "
                      "as torch's"),
    .needs = "log_probs,targets,input_lengths,target_lengths", .check = ctc_loss_plain_check,
    .look = ctc_loss_plain_look, .run = ctc_loss_plain_run, .grad = ctc_loss_plain_grad,
    .domain = "log_probs:-4..-1",
    .sample = "(5,2,4) (2,2):i64<3 (2):i64<3 (2):i64<3 3 True | "
              "(5,3) (1,2):i64<2 ():i64<4 (1):i64<3 2 True | "
              "(5,3,4) (3):i64<3 (3):i64<6 (3):i64:ascending<3 3 False")

/* --- its gradient ----------------------------------------------------------------------------- */

static bool ctc_loss_input_grad_check(tn_frame *f) {
    TN_ARGS(ctc_loss_input_grad, a, f);
    const tn_tensor *x = a->log_probs;
    char size[128];
    CTC_CALL(c, a, 1);
    if (!ctc_fits(f, &c, true)) return false;
    if (a->grad->ndim != (x->ndim == 3) || a->grad->numel != ctc_batch(&c))
        return tn_fail(f, TN_INVALID, "grad has shape %s, expected a number for each sample",
                       tni_shape_text(size, sizeof size, a->grad->ndim, a->grad->size));
    if (a->grad->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "grad is %s, expected the dtype of log_probs, %s",
                       tni_dtype(a->grad->dtype)->text, tni_dtype(x->dtype)->text);
    return tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size);
}
static bool ctc_loss_input_grad_look(tn_frame *f) {
    TN_ARGS(ctc_loss_input_grad, a, f);
    CTC_CALL(c, a, 1);
    return ctc_look_at(f, &c);
}
/* The gradient at time t into `to`: scale (p - the part of all paths that is in a state of the
 * class), where alpha and beta are that time's rows. `part` is a row of its own. */
static void ctc_slope(const ctc_sample *s, int64_t t, const double *alpha, const double *beta,
                      double loss, double scale, double *part, double *to) {
    const tn_tensor *x = s->call->log_probs;
    const int64_t classes = ctc_classes(s->call), bytes = tni_dtype_size(x);
    tni_lanes_load(to, TN_F64, ctc_at(s, t), x->stride[x->ndim - 1] * bytes, x->dtype, classes);
    ctc_loop(s, &tni_row_exp, to, to, NULL, classes);
    /* Both have the state's own probability. */
    for (int64_t i = 0; i < s->states; i++) part[i] = alpha[i] + beta[i] - s->log_p[i] + loss;
    ctc_loop(s, &tni_row_exp, part, part, NULL, s->states);
    for (int64_t i = 0; i < s->states; i++) to[s->label[i]] -= part[i];
    for (int64_t c = 0; c < classes; c++) to[c] *= scale;
}
static void ctc_grad_task(tn_frame *f, int64_t b, void *scratch) {
    TN_ARGS(ctc_loss_input_grad, a, f);
    tn_tensor *out = f->out[0];
    const int64_t bytes = tni_dtype_size(out), times = a->log_probs->size[0];
    CTC_CALL(c, a, 1);
    const int64_t classes = ctc_classes(&c), n = ctc_batch(&c);
    ctc_sample s;
    double loss, scale, *beta[2], *part, *to;
    ctc_begin(&s, &c, f->block->context->kernels, b, scratch);
    beta[0] = s.rows + times * s.width + 1;
    beta[1] = beta[0] + s.width;
    part = beta[1] + s.width - 1;
    to = part + s.width;
    tni_lanes_load(&scale, TN_F64,
                   tni_bytes_at(a->grad) + (a->grad->ndim ? b * a->grad->stride[0] * bytes : 0),
                   bytes, a->grad->dtype, 1);
    loss = ctc_forward(&s, true);
    for (int64_t t = times - 1; t >= 0; t--) {
        char *at = tni_bytes_at(out) + (t * n + b) * classes * bytes;
        double *row = beta[t % 2];
        const bool none = t >= s.times || (c.zero_infinity && loss == HUGE_VAL);
        if (!none) {
            ctc_log_p(&s, t);
            row[-1] = row[s.states] = -HUGE_VAL;
            if (t == s.times - 1)
                ctc_first(&s, row, -1);
            else
                ctc_step(&s, row, beta[(t + 1) % 2], -1);
            ctc_slope(&s, t, s.rows + 1 + t * s.width, row, loss, scale, part, to);
        }
        /* Beyond the sample's time there is no gradient; of an infinite loss there is none at all.
         */
        if (none || loss == HUGE_VAL)
            for (int64_t k = 0; k < classes; k++) to[k] = none ? 0 : (double)NAN;
        tni_lanes_save(at, bytes, out->dtype, to, TN_F64, classes);
    }
}
static void ctc_loss_input_grad_run(tn_frame *f) {
    TN_ARGS(ctc_loss_input_grad, a, f);
    CTC_CALL(c, a, 1);
    tn_each(f, ctc_batch(&c), ctc_effort(&c, 80), ctc_grad_task);
}
#undef CTC_CALL
/* The gradient of log_probs in ctc_loss_plain, as torch has it: grad times exp(log_probs) less the
 * part of all paths that is in a state of the class. Together with the gradient of log_softmax that
 * is the gradient of the loss. */
TN_OPERATOR(
    ctc_loss_input_grad,
    "ctc_loss_input_grad(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, "
    "Tensor target_lengths, int blank, bool zero_infinity) -> Tensor",
    TN_DOC(.shapes = "grad (N) or (), the others as in ctc_loss_plain -> like log_probs",
           .example = "tn_ctc_loss_input_grad(g, p, t, n, m, 0, false)"),
    .check = ctc_loss_input_grad_check, .look = ctc_loss_input_grad_look,
    .run = ctc_loss_input_grad_run, .domain = "log_probs:-4..-1",
    .sample = "(2) (5,2,4) (2,2):i64<3 (2):i64<3 (2):i64<3 3 True | "
              "() (5,3) (1,2):i64<2 ():i64<4 (1):i64<3 2 True | "
              "(3) (5,3,4) (3):i64<3 (3):i64<6 (3):i64:ascending<3 3 False")

/* --- the loss --------------------------------------------------------------------------------- */

static bool ctc_loss_tensor_compose(tn_frame *f) {
    TN_ARGS(ctc_loss_tensor, a, f);
    tn_tensor *n, *loss = tnp_ctc_loss_plain(a->log_probs, a->targets, a->input_lengths,
                                             a->target_lengths, a->blank, a->zero_infinity);
    if (loss && a->reduction == TN_REDUCTION_MEAN) {
        n = tnp_reshape(tnp_clamp_min_scalar(a->target_lengths, tn_int(1)), tni_sizes(loss));
        loss = tnp_div(loss, tnp_to_dtype(n, (tn_dtype)loss->dtype, false, false));
    }
    return tni_loss_result(f, loss, a->reduction);
}
/* ctc_loss with lengths in tensors. */
TN_OPERATOR(
    ctc_loss_tensor,
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
    "target_lengths, int blank=0, Reduction reduction=mean, bool zero_infinity=False) -> Tensor",
    TN_DOC(.shapes = "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one "
                     "dimension, lengths (N) -> () or (N)",
           .example = "tn_ctc_loss_tensor(p, t, n, m)",
           .differs = "gradcheck: the gradient takes log_probs for logarithms that sum to 1, as "
                      "torch's",
           .python = "nn.functional.ctc_loss"),
    .autocast = TN_WIDE_CPU, .compose = ctc_loss_tensor_compose, .domain = "log_probs:-4..-1",
    .sample = "(5,2,4) (2,2):i64<3 (2):i64<3 (2):i64<3 3 sum True | (5,3) (1,2):i64<2 ():i64<4 "
              "(1):i64<3 2 mean True")

/* Lengths of samples, (N) on the device of x. */
static tn_tensor *ctc_lengths(const tn_tensor *x, tn_ints lengths) {
    return tnp_from(lengths.at, tni_ints(&lengths.n, 1), TN_I64, tn_device_of(x));
}
static bool ctc_loss_compose(tn_frame *f) {
    TN_ARGS(ctc_loss, a, f);
    tn_tensor *n = ctc_lengths(a->log_probs, a->input_lengths),
              *m = ctc_lengths(a->log_probs, a->target_lengths);
    return (f->out[0] = tnp_ctc_loss_tensor(a->log_probs, a->targets, n, m, a->blank, a->reduction,
                                            a->zero_infinity)) != NULL;
}
/* The loss of connectionist temporal classification: -log of the probability, under log_probs, of
 * all sequences of T labels that become targets when repeated labels are taken once and then blanks
 * left out. The mean divides each loss by its target's length first. zero_infinity makes an
 * infinite loss, of a target that is too long, 0. */
TN_OPERATOR(
    ctc_loss,
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, Reduction reduction=mean, bool zero_infinity=False) -> Tensor",
    TN_DOC(.shapes = "log_probs (T, N, C) or (T, C), targets (N, S) or all labels in one "
                     "dimension -> () or (N)",
           .example = "tn_ctc_loss(p, t, TN_DIMS(50, 40), TN_DIMS(9, 7))",
           .differs = "gradcheck: the gradient takes log_probs for logarithms that sum to 1, as "
                      "torch's",
           .python = "nn.functional.ctc_loss"),
    .autocast = TN_WIDE_CPU, .compose = ctc_loss_compose, .domain = "log_probs:-4..-1",
    .sample =
        "(5,2,4) (2,3):i64<3 [5,4] [2,3] 3 sum | (5,2,4) (4):i64<3 [5,3] [1,3] 3 none | (5,3) "
        "(2):i64<2 [5] [2] 2 | (6,3,4) (3,3):i64<3 [6,2,0] [2,3,0] 3 mean True | "
        "(40,2,30) (2,17):i64<29 [40,39] [17,16] 29")
