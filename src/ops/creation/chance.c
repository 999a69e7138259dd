/* chance.c - elements chosen by chance: bernoulli and dropout, as torch draws them.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "random.h"
#include "../../api/device.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

/* The smallest integer k with k / 2^53 >= p: a draw of 53 bits below k is a u below p. */
static uint64_t random_threshold(double p) { return (uint64_t)ceil(p * 9007199254740992.0); }

static bool bernoulli_check(tn_frame *f) {
    /* Zeros and ones go into any dtype. */
    if (f->ngiven && tni_is_float(f->in[0]->dtype))
        return tn_announce(f, 0, (tn_dtype)f->given[0]->dtype, f->in[0]->ndim, f->in[0]->size);
    return tni_random_self(f, f->in[0]->numel ? TNI_RANDOM_FLOATS : TNI_RANDOM_ANY);
}
/* The probabilities are data: all are checked before one number is drawn. */
static bool bernoulli_look(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    const int64_t bytes = tni_dtype_size(p);
    tni_walk w;
    tni_walk_start(&w, p->ndim, p->size, &p, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            double v;
            tni_lanes_load(&v, TN_F64, w.at[0] + i * w.row[0], bytes, p->dtype, 1);
            /* NaN is refused as well. */
            if (!(v >= 0 && v <= 1))
                return tn_fail(f, TN_INVALID, "a probability is %g, not in [0, 1]", v);
        }
    return true;
}
static void bernoulli_run(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    tn_tensor *t = f->out[0];
    const int64_t bytes = tni_dtype_size(t), read = tni_dtype_size(p);
    /* Element i in row-major order: `at` is its place in p, `to` in the result. */
    for (int64_t i = 0; i < t->numel && !tni_stopped_at(i); i++) {
        const int64_t at = tni_offset_of(t->ndim, p->size, p->stride, i),
                      to = tni_offset_of(t->ndim, t->size, t->stride, i);
        double v;
        tni_lanes_load(&v, TN_F64, tni_bytes_at(p) + at * read, read, p->dtype, 1);
        /* As many random bits as torch draws: 53 for doubles, 24 for others. */
        double u = p->dtype == TN_F64
                       ? tni_random_u53(f->generator)
                       : (double)(tni_random32(f->generator) & 0xffffffu) * (1.0 / 16777216.0);
        double one = u < v;
        tni_lanes_save(tni_bytes_at(t) + to * bytes, bytes, t->dtype, &one, TN_F64, 1);
    }
}
/* Each element is 1 with the probability given by self's element, in [0, 1], and 0 otherwise. */
TN_OPERATOR(bernoulli, "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_bernoulli(p)",
                   .differs = "gradcheck: the gradient is zero, as torch's"),
            .forms = TN_OUT, .check = bernoulli_check, .look = bernoulli_look, .run = bernoulli_run,
            .grad = tni_random_zero_grad, .domain = "self:0..1",
            .sample = "(2,3) | (20) | (5):f64 | (0)")

/* Ones with probability p, else zeros: 512 draws at a time, then converted to t's dtype. */
static void random_chance(tn_frame *f, tn_tensor *t, double p) {
    uint64_t below = random_threshold(p);
    int64_t bytes = tni_dtype_size(t), k[512];
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += 512) {
        int64_t n = t->numel - i < 512 ? t->numel - i : 512;
        for (int64_t e = 0; e < n; e++)
            k[e] = (tni_random64(f->generator) & 0x1fffffffffffffu) < below;
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, k, TN_I64, n);
    }
}

static bool random_probability(tn_frame *f, double p) {
    return (p >= 0 && p <= 1) || tn_fail(f, TN_INVALID, "p is %g, not in [0, 1]", p);
}

static bool bernoulli_float_check(tn_frame *f) {
    TN_ARGS(bernoulli_float, a, f);
    return random_probability(f, a->p) && tni_random_self(f, TNI_RANDOM_ANY);
}
static void bernoulli_float_run(tn_frame *f) {
    TN_ARGS(bernoulli_float, a, f);
    if (f->out[0]->numel) random_chance(f, f->out[0], a->p);
}
/* Sets each element of self to 1 with probability p and to 0 otherwise. */
TN_OPERATOR(bernoulli_float,
            "bernoulli_.float(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_bernoulli_float_(x, .p = 0.3)",
                   .differs = "gradcheck: what is overwritten by draws has gradient zero; in "
                              "complex the draws are real"),
            .forms = TN_INPLACE, .check = bernoulli_float_check, .run = bernoulli_float_run,
            .grad = tni_random_zero_grad, .sample = "(2,3) 0.3 | (5):bool | (20):i64 0.9 | (0)",
            .node = "BernoulliBackward2")

/* --- dropout ---------------------------------------------------------------------------------- */

static bool dropout_idles(const tn_dropout_args *a) {
    return !a->train || a->p == 0 || a->input->numel == 0;
}

/* out[1], only while recording: the mask of the elements that were kept. In evaluation and for
 * p = 0 the result is the input itself. */
static bool dropout_check(tn_frame *f) {
    TN_ARGS(dropout, a, f);
    tn_tensor *x = a->input;
    const bool idle = dropout_idles(a);
    if (!random_probability(f, a->p)) return false;
    /* A view shares its input's memory, so nothing is copied. */
    if (idle && !f->inplace)
        return tn_announce_view(f, 0, x, x->ndim, x->size, x->stride, x->offset);
    if (!idle && ((a->p < 1 && tni_dtype(x->dtype)->category < TNI_CAT_FLOAT) ||
                  !tni_dtype(x->dtype)->computes))
        return tn_fail(f, TN_TYPE, "expected a floating or complex dtype, got %s",
                       tni_dtype(x->dtype)->text);
    if (!tn_announce_like(f, 0, x, (tn_dtype)x->dtype)) return false;
    if (idle) return true;
    /* Draws begin here: the door takes the generator back if the call fails. */
    f->generator = tni_generator_default(f->block);
    if (!f->generator) return false;
    if (f->recording && !tn_announce_strided(f, 1, TN_BOOL, x->ndim, x->size, f->out[0]->stride))
        return false;
    return tni_is_dense(x) || tn_scratch(f, x->numel, tni_dtype_size(x));
}

/* y = x * scale where keep is 1, else 0, for n elements of a tile: in float, or double for f64. A
 * product with 0 keeps the sign and NaN, as torch's product with its noise. Of complex numbers both
 * parts of an element are kept or not. */
static void dropout_tile(const tn_context *c, int dtype, const char *x, char *y,
                         const uint8_t *keep, double scale, int64_t n) {
    float f[TNI_RANDOM_TILE];
    double d[TNI_RANDOM_TILE];
    uint8_t pairs[TNI_RANDOM_TILE];
    int64_t bytes;
    if (tni_is_complex(dtype)) {
        for (int64_t i = 0; i < n; i++) pairs[2 * i] = pairs[2 * i + 1] = keep[i];
        dtype = (int)tni_real_of(dtype);
        keep = pairs;
        n *= 2;
    }
    bytes = tni_dtype(dtype)->bytes;
    /* Doubles in double; all other dtypes are computed in float. */
    if (dtype == TN_F64) {
        tni_lanes_read(c->kernels, d, TN_F64, x, bytes, dtype, n);
        for (int64_t i = 0; i < n; i++) d[i] *= keep[i] ? scale : 0;
        tni_lanes_write(c->kernels, y, bytes, dtype, d, TN_F64, n);
        return;
    }
    tni_lanes_read(c->kernels, f, TN_F32, x, bytes, dtype, n);
    for (int64_t i = 0; i < n; i++) f[i] *= keep[i] ? (float)scale : 0;
    tni_lanes_write(c->kernels, y, bytes, dtype, f, TN_F32, n);
}

/* 1 / (1 - p), rounded to the dtype, as torch's noise is; 0 for p = 1. */
static double dropout_scale(double p, int dtype) {
    double s = p < 1 ? 1 / (1 - p) : 0;
    float r;
    uint16_t h[4]; /* the first counts; room for any dtype */
    if (dtype == TN_F64 || dtype == TN_C128 || s == 0) return s;
    if (dtype == TN_C64) dtype = TN_F32;
    tni_lanes_save(h, 2, dtype == TN_F32 ? TN_F16 : dtype, &s, TN_F64, 1);
    if (dtype == TN_F32)
        r = (float)s;
    else
        tni_lanes_load(&r, TN_F32, h, 2, dtype, 1);
    return (double)r;
}

TN_API void tn_chance_plan_of(tn_chance_plan *p, const tn_frame *f) {
    memset(p, 0, sizeof *p);
    if (f->row->run == bernoulli_float_run) {
        TN_ARGS(bernoulli_float, a, f);
        p->below = random_threshold(a->p);
    } else {
        TN_ARGS(dropout, a, f);
        p->idle = dropout_idles(a);
        p->none = a->p == 1;
        if (p->idle) return;
        p->below = random_threshold(1 - a->p);
        p->scale = dropout_scale(a->p, a->input->dtype);
    }
}

static void dropout_run(tn_frame *f) {
    TN_ARGS(dropout, a, f);
    const tn_tensor *x = a->input;
    char *room = (char *)f->scratch, *y;
    const char *from;
    uint8_t tile[TNI_RANDOM_TILE],
        *kept = f->nout > 1 && f->out[1] ? (uint8_t *)tni_bytes_at(f->out[1]) : NULL;
    int64_t bytes = tni_dtype_size(x),
            each = tni_is_complex(x->dtype) ? (int)TNI_RANDOM_TILE / 2 : (int)TNI_RANDOM_TILE;
    tn_chance_plan p;
    tn_chance_plan_of(&p, f);
    if (p.idle) {
        /* In place on strides that no new tensor has, out is a temporary that the door
         * copies back. */
        if (f->inplace && x->numel && tni_bytes_at(f->out[0]) != tni_bytes_at(x))
            tni_copy_elements(f->block, f->out[0], x);
        return;
    }
    /* A dense x is read as it lies; another one is copied to scratch first. */
    from = tni_is_dense(x) ? tni_bytes_at(x) : tni_dense(f, x, &room);
    y = tni_bytes_at(f->out[0]);
    for (int64_t i = 0; i < x->numel && !tni_stopped(); i += each) {
        int64_t n = x->numel - i < each ? x->numel - i : each;
        /* Nothing is kept and, as in torch, nothing is drawn. */
        if (p.none)
            memset(tile, 0, (size_t)n);
        else
            for (int64_t k = 0; k < n; k++)
                tile[k] = (tni_random64(f->generator) & 0x1fffffffffffffu) < p.below;
        dropout_tile(f->block->context, x->dtype, from + i * bytes, y + i * bytes, tile, p.scale,
                     n);
        if (kept) memcpy(kept + i, tile, (size_t)n);
    }
}
/* What was kept passes its gradient, scaled alike. Without a mask the row was idle. */
static void dropout_grad(tn_gradient *g) {
    TN_ARGS(dropout, a, g);
    tn_tensor *d = g->incoming[0];
    if (g->nout < 2 || !g->out[1])
        tn_give(g, 0, d);
    else
        tn_give(g, 0,
                tnp_mul_scalar(tnp_mul(d, g->out[1]), tn_float(dropout_scale(a->p, d->dtype))));
}
/* In training, zeroes each element with probability p and scales the others by 1 / (1 - p).
 * Otherwise returns the input itself. */
TN_OPERATOR(
    dropout, "dropout(Tensor input, float p, bool train) -> Tensor",
    TN_DOC(.shapes = "input (*) -> (*), floating or complex", .example = "tn_dropout(x, 0.5, true)",
           .differs = "parameter p: required, as in torch's schema"),
    .forms = TN_INPLACE, .saves = "kept", .needs = "kept", .check = dropout_check,
    .run = dropout_run, .grad = dropout_grad,
    .sample =
        "(2,3) 0.5 False | (2,3) 0.0 True | (3,4) 1.0 True | (0) 0.5 True | (20):c64 0.5 True "
        "| (2500):c128 0.3 True")
