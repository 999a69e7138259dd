/* layer_norm.c - layer normalisation with its gradients.
 *
 * Statistics are those of var: two sweeps over a block, blocks joined in double. The gradients of
 * f32 and half types are fused rows; f64 and higher derivatives are composed.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "../../api/ops/shape.h"
#include "../reduction/reduction.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../call/whole.h"

TN_PRIV bool tni_norm_floating(tn_frame *f, const tn_tensor *x) {
    return (tni_is_float(x->dtype) && tni_dtype(x->dtype)->computes) ||
           tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(x->dtype)->text);
}

/* n numbers of t (contiguous or not, 1-D) to the compute type; `other` where t is absent. */
TN_PRIV void tni_norm_numbers(void *to, int compute, const tn_tensor *t, int64_t n, double other) {
    if (!t) {
        tni_fill_lanes(to, compute, other, n);
        return;
    }
    tni_lanes_load(to, compute, tni_bytes_at(t),
                   (t->ndim ? t->stride[t->ndim - 1] : 1) * tni_dtype_size(t), t->dtype, n);
}

TN_PRIV tn_tensor *tni_norm_rsqrt(tn_tensor *var, double eps) {
    return tnp_pow_scalar(tnp_add_scalar(var, tn_float(eps), 1), tn_float(-0.5));
}

typedef struct layer_job {
    const tni_kernels *kernels;
    const char *x, *dy;
    char *y;
    const char *weight, *bias; /* n numbers of the compute type, or NULL */
    float *one, *two;          /* backward: sums a block of rows */
    int dtype, compute;
    int64_t rows, n, bytes, size;
    int64_t each; /* rows that are handled together */
    double eps;
} layer_job;

/* Elements [at, at + n) of a row in the compute type. */
static const void *layer_load(const layer_job *j, const char *row, int64_t at, int64_t n,
                              void *tile) {
    if (j->dtype == j->compute) return row + at * j->bytes;
    tni_lanes_read(j->kernels, tile, j->compute, row + at * j->bytes, j->bytes, j->dtype, n);
    return tile;
}

/* mean and rstd = 1 / sqrt(var + eps) of each of `rows` rows, block by block, joined in double. If
 * they are more than one, each is one block. */
typedef struct layer_pair {
    double mean, scale;
} layer_pair;
enum { LAYER_ROWS = 16 };
static void layer_statistics(const layer_job *j, const char *x, int64_t rows, layer_pair *to) {
    double tile[TNI_BLOCK], next[2], *pairs = (double *)to, count = 0;
    memset(to, 0, (size_t)rows * sizeof *to); /* a call that is stopped reads them */
    for (int64_t at = 0; at < j->n && !tni_stopped(); at += TNI_BLOCK) {
        int64_t n = j->n - at < TNI_BLOCK ? j->n - at : (int64_t)TNI_BLOCK;
        tni_var_block(j->kernels, j->compute, layer_load(j, x, at, rows * n, tile), n * j->size,
                      rows, n, at ? next : pairs);
        /* The first block begins, each other one joins. */
        if (at) tni_var_join(pairs, pairs + 1, count, next[0], next[1], (double)n);
        count += (double)n;
    }
    for (int64_t q = 0; q < rows; q++) to[q].scale = 1 / sqrt(to[q].scale / count + j->eps);
}

/* Rows of group i: statistics first, then (x - mean) rstd weight + bias block by block. */
static void layer_task(void *arg, int64_t i) {
    const layer_job *j = (const layer_job *)arg;
    double in[TNI_BLOCK], out[TNI_BLOCK];
    const int64_t first = i * j->each, left = j->rows - first,
                  rows = left < j->each ? left : j->each;
    const char *x = j->x + first * j->n * j->bytes;
    char *y = j->y + first * j->n * j->bytes;
    bool direct = j->dtype == j->compute;
    layer_pair pairs[LAYER_ROWS];
    tni_norm_row r;
    memset(&r, 0, sizeof r);
    layer_statistics(j, x, rows, pairs);
    for (int64_t at = 0; at < j->n && !tni_stopped(); at += TNI_BLOCK) {
        r.n = j->n - at < TNI_BLOCK ? j->n - at : (int64_t)TNI_BLOCK;
        /* In place where the dtype is the compute type, else through two tiles. */
        const char *from = (const char *)layer_load(j, x, at, rows * r.n, in);
        char *to = direct ? y + at * j->bytes : (char *)out;
        r.weight = j->weight ? j->weight + at * j->size : NULL;
        r.bias = j->bias ? j->bias + at * j->size : NULL;
        for (int64_t q = 0; q < rows; q++) {
            r.x = from + q * r.n * j->size;
            r.y = to + q * r.n * j->size;
            r.mean = pairs[q].mean;
            r.scale = pairs[q].scale;
            (j->compute == TN_F32 ? TNI_K(j->kernels, norm_row_f32)
                                  : TNI_K(j->kernels, norm_row_f64))(&r);
        }
        if (!direct)
            tni_lanes_write(j->kernels, y + at * j->bytes, j->bytes, j->dtype, out, j->compute,
                            rows * r.n);
    }
}

/* The last dimensions of x must be `shape`, as must those of weight and bias. *n: their product. */
static bool layer_shape(tn_frame *f, const tn_tensor *x, tn_ints shape, const tn_tensor *w,
                        const tn_tensor *b, int64_t *n) {
    char has[128], wants[128];
    /* The last sizes of x are those of shape; weight and bias have exactly that shape. */
    bool fits = shape.n >= 1 && shape.n <= x->ndim;
    *n = 1;
    for (int64_t i = 0; i < shape.n; i++) {
        fits = fits && x->size[x->ndim - shape.n + i] == shape.at[i];
        fits = fits && tni_mul(*n, shape.at[i], n);
    }
    if (!fits)
        return tn_fail(
            f, TN_INVALID, "normalized_shape is %s, but the input %s does not end with it",
            tni_shape_text(wants, sizeof wants,
                           (int)(shape.n > TN_MAX_DIMS ? TN_MAX_DIMS : shape.n), shape.at),
            tni_shape_text(has, sizeof has, x->ndim, x->size));
    /* weight and bias, if given: floating, of this shape. */
    for (int k = 0; k < 2; k++) {
        const tn_tensor *t = k ? b : w;
        if (!t) continue;
        for (int64_t i = 0; fits && i < shape.n; i++)
            fits = t->ndim == shape.n && t->size[i] == shape.at[i];
        if (!fits || !tni_is_float(t->dtype))
            return tn_fail(f, TN_INVALID, "%s has shape %s, but normalized_shape is %s",
                           k ? "bias" : "weight", tni_shape_text(has, sizeof has, t->ndim, t->size),
                           tni_shape_text(wants, sizeof wants, (int)shape.n, shape.at));
    }
    return true;
}

/* Scratch of both directions: dense x (and dy), weight and bias as numbers. */
static bool layer_scratch(tn_frame *f, const tn_tensor *x, const tn_tensor *w, const tn_tensor *b,
                          int64_t n) {
    return tni_dense_scratch(f, x) && (!w || (tni_dense_scratch(f, w) && tn_scratch(f, n, 8))) &&
           (!b || (tni_dense_scratch(f, b) && tn_scratch(f, n, 8)));
}

/* n numbers of weight or bias, dense and of the compute type; *room moves on. */
static const char *layer_numbers(tn_frame *f, const tn_tensor *t, int compute, int64_t n,
                                 char **room) {
    const char *at = tni_dense(f, t, room);
    char *to = *room;
    if (!t || t->dtype == compute) return at;
    tni_lanes_load(to, compute, at, tni_dtype_size(t), t->dtype, n);
    *room += (n * 8 + TNI_ALIGN - 1) & -TNI_ALIGN;
    return to;
}

static void layer_start(tn_frame *f, layer_job *j, const tn_tensor *x, int64_t n, double eps) {
    /* x as rows of n elements, each normalised by itself. */
    memset(j, 0, sizeof *j);
    j->kernels = f->block->context->kernels;
    j->dtype = x->dtype;
    j->compute = tni_lanes_compute(x->dtype);
    j->bytes = tni_dtype_size(x);
    j->size = tni_dtype(j->compute)->bytes;
    j->n = n;
    j->rows = n ? x->numel / n : 0;
    j->eps = eps;
    j->each = n && n < TNI_BLOCK ? TNI_BLOCK / n : 1;
    if (j->each > LAYER_ROWS) j->each = LAYER_ROWS;
}

static bool layer_norm_check(tn_frame *f) {
    TN_ARGS(layer_norm, a, f);
    int64_t n;
    if (!tni_norm_floating(f, a->input) ||
        !layer_shape(f, a->input, a->normalized_shape, a->weight, a->bias, &n))
        return false;
    return tn_announce(f, 0, (tn_dtype)a->input->dtype, a->input->ndim, a->input->size) &&
           layer_scratch(f, a->input, a->weight, a->bias, n);
}
static void layer_norm_run(tn_frame *f) {
    TN_ARGS(layer_norm, a, f);
    char *room = (char *)f->scratch;
    int64_t n = 1;
    layer_job j;
    for (int64_t i = 0; i < a->normalized_shape.n; i++) n *= a->normalized_shape.at[i];
    /* x and the numbers are dense from here on, in scratch if they were not. */
    if (!a->input->numel) return;
    layer_start(f, &j, a->input, n, a->eps);
    j.x = tni_dense(f, a->input, &room);
    j.y = tni_bytes_at(f->out[0]);
    j.weight = layer_numbers(f, a->weight, j.compute, n, &room);
    j.bias = layer_numbers(f, a->bias, j.compute, n, &room);
    tni_lanes_spread(f->block->context, (j.rows + j.each - 1) / j.each, a->input->numel * 2,
                     layer_task, &j);
}
/* With h = (x - mean) rstd and g = dy w:
 * dx = rstd (g - mean g - h mean(g h)),  dw = sum dy h,  db = sum dy */
static void layer_norm_grad(tn_gradient *g) {
    TN_ARGS(layer_norm, a, g);
    /* last: dimensions that are normalised, lead: those before them. */
    int64_t last[TN_MAX_DIMS], lead[TN_MAX_DIMS];
    int nlast = (int)a->normalized_shape.n, nlead = a->input->ndim - nlast;
    tn_tensor *x = g->in[0], *d = g->incoming[0], *c, *rstd, *h, *gw;
    for (int i = 0; i < nlast; i++) last[i] = nlead + i;
    for (int i = 0; i < nlead; i++) lead[i] = i;
    const tn_ints dims = tni_ints(last, nlast), others = tni_ints(lead, nlead);
    if (g->want[2]) tn_give(g, 2, nlead ? tnp_sum(d, others, false, TN_NO_DTYPE) : d);
    if (!g->want[0] && !g->want[1]) return;
    /* Recomputed from x by rows, so that higher derivatives follow. */
    c = tnp_sub(x, tnp_mean(x, dims, true, TN_NO_DTYPE), 1);
    rstd = tni_norm_rsqrt(tnp_mean(tnp_mul(c, c), dims, true, TN_NO_DTYPE), a->eps);
    h = tnp_mul(c, rstd);
    if (g->want[1])
        tn_give(g, 1, nlead ? tnp_sum(tnp_mul(d, h), others, false, TN_NO_DTYPE) : tnp_mul(d, h));
    if (!g->want[0]) return;
    gw = g->in[1] ? tnp_mul(d, g->in[1]) : d;
    c = tnp_sub(gw, tnp_mean(gw, dims, true, TN_NO_DTYPE), 1);
    c = tnp_sub(c, tnp_mul(h, tnp_mean(tnp_mul(gw, h), dims, true, TN_NO_DTYPE)), 1);
    tn_give(g, 0, tnp_mul(c, rstd));
}
static void layer_norm_fused(tn_gradient *g) {
    TN_ARGS(layer_norm, a, g);
    tn_grad_input_grad_weight_grad_bias r;
    /* The fused row makes all three gradients together, without f64. */
    if (a->input->dtype == TN_F64 || !g->want[0]) {
        layer_norm_grad(g);
        return;
    }
    r = tnp_layer_norm_backward(g->incoming[0], g->in[0], a->normalized_shape, g->in[1], a->eps);
    tn_give(g, 0, r.grad_input);
    if (g->want[1]) tn_give(g, 1, r.grad_weight);
    if (g->want[2]) tn_give(g, 2, r.grad_bias);
}
/* Weight and bias that differ from sample to sample are factors and terms of their own. */
static tn_tensor *layer_norm_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(layer_norm, a, f);
    const bool own[2] = {whole[1] != NULL, whole[2] != NULL};
    const bool apart = own[0] || own[1];
    const int ndim = f->in[0]->ndim, of = (int)a->normalized_shape.n;
    tn_tensor *x = tni_whole_input(f, whole, 0),
              *y = tnp_layer_norm(x, a->normalized_shape, apart ? NULL : f->in[1],
                                  apart ? NULL : f->in[2], a->eps);
    for (int i = 1; y && apart && i < 3; i++) {
        tn_tensor *w = own[i - 1] ? tni_whole_align(whole[i], of, ndim) : f->in[i];
        if (f->in[i]) y = !w ? NULL : i == 1 ? tnp_mul(y, w) : tnp_add(y, w, 1);
    }
    return y && !whole[0] && !whole[1] ? NULL : y;
}
/* (x - mean) / sqrt(var + eps) * weight + bias. mean and var are taken over the last dimensions,
 * whose sizes are normalized_shape; var divides by n, not n - 1. */
TN_OPERATOR(
    layer_norm,
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? "
    "bias=None, float eps=1e-05) -> Tensor",
    TN_DOC(.shapes = "input (*, normalized_shape), weight, bias (normalized_shape) -> as input",
           .example = "tn_layer_norm(x, TN_DIMS(64), .weight = w)",
           .python = "nn.functional.layer_norm"),
    .forms = TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "input:input,weight weight:input",
    .check = layer_norm_check, .run = layer_norm_run, .grad = layer_norm_grad,
    .fused = layer_norm_fused,
    .sample = "(2,5) [5] (5) (5) | (2,3,4) [3,4] | (4,70) [70] (70) | (3,5000) [5000] "
              "(5000) (5000) | (2,3,4) [4] bias=(4) | "
              "(0,4) [4] (4) (4) | (4,6):f16 [6] (6):f16 (6):f16 | (130,9) [9] (9) (9)",
    .node = "NativeLayerNormBackward0", .batched = TN_BATCHED(layer_norm_batched))

/* Sums of g and g h over rows from the i-th on, then dx; dw and db of a block of rows in its own
 * sums. */
static void layer_back_rows(const layer_job *j, int64_t i, int64_t rows, float *dw, float *db) {
    float x[TNI_BLOCK], d[TNI_BLOCK], y[TNI_BLOCK];
    const char *row = j->x + i * j->n * j->bytes, *dy = j->dy + i * j->n * j->bytes;
    char *to = j->y + i * j->n * j->bytes;
    bool direct = j->dtype == TN_F32;
    layer_pair pairs[LAYER_ROWS];
    tni_room lanes[2 * LAYER_ROWS];
    tni_tree tree;
    tni_norm_row r;
    const float *sums = NULL;
    memset(&r, 0, sizeof r);
    layer_statistics(j, row, rows, pairs);
    tni_tree_begin(&tree, j->kernels, TN_F32, 2 * rows);
    /* Pass 0: a = mean g and b = mean(g h), as trees over the blocks. Pass 1: dx, and these rows'
     * part of dw and db. */
    for (int pass = 0; pass < 2; pass++) {
        if (pass) sums = (const float *)tni_tree_end(&tree);
        for (int64_t at = 0; at < j->n; at += TNI_BLOCK) {
            if (tni_stopped()) return;
            r.n = j->n - at < TNI_BLOCK ? j->n - at : (int64_t)TNI_BLOCK;
            r.weight = j->weight ? j->weight + at * 4 : NULL;
            const float *xs = (const float *)layer_load(j, row, at, rows * r.n, x),
                        *ds = (const float *)layer_load(j, dy, at, rows * r.n, d);
            float *ys = direct ? (float *)(void *)(to + at * 4) : y;
            if (!pass) memset(lanes, 0, (size_t)(2 * rows) * sizeof *lanes);
            for (int64_t q = 0; q < rows; q++) {
                r.x = xs + q * r.n;
                r.dy = ds + q * r.n;
                r.y = ys + q * r.n;
                r.mean = pairs[q].mean;
                r.scale = pairs[q].scale;
                r.one = pass ? (void *)(dw + at) : (void *)(lanes + 2 * q);
                r.two = pass ? (void *)(db + at) : (void *)(lanes + 2 * q + 1);
                if (!pass) {
                    TNI_K(j->kernels, norm_moments_f32)(&r);
                    continue;
                }
                r.a = (double)sums[2 * q] / (double)j->n;
                r.b = (double)sums[2 * q + 1] / (double)j->n;
                TNI_K(j->kernels, norm_back_f32)(&r);
                TNI_K(j->kernels, norm_weights_f32)(&r);
            }
            if (!pass) {
                /* Lanes of this block, folded, are its leaf of the tree. */
                tni_sum.many(j->kernels, TN_F32, lanes, sizeof *lanes, 2 * rows, TNI_LANE_BYTES / 4,
                             tni_tree_next(&tree));
                tni_tree_push(&tree);
            } else if (!direct)
                tni_lanes_write(j->kernels, to + at * j->bytes, j->bytes, j->dtype, y, TN_F32,
                                rows * r.n);
        }
    }
}

static void layer_back_task(void *arg, int64_t block) {
    const layer_job *j = (const layer_job *)arg;
    /* dw and db are sums over rows: TNI_BLOCK_ROWS rows into sums of their own. */
    int64_t i = block * TNI_BLOCK_ROWS,
            end = i + TNI_BLOCK_ROWS < j->rows ? i + TNI_BLOCK_ROWS : j->rows;
    float *dw = j->one + block * j->n, *db = j->two + block * j->n;
    memset(dw, 0, (size_t)(j->n * 4));
    memset(db, 0, (size_t)(j->n * 4));
    for (; i < end; i += j->each)
        layer_back_rows(j, i, end - i < j->each ? end - i : j->each, dw, db);
}

static bool layer_norm_backward_check(tn_frame *f) {
    TN_ARGS(layer_norm_backward, a, f);
    const tn_tensor *x = a->input;
    int64_t n, rows, blocks, room;
    if (!tni_norm_floating(f, x) || !layer_shape(f, x, a->normalized_shape, a->weight, NULL, &n))
        return false;
    if (x->dtype == TN_F64) return tn_fail(f, TN_UNSUPPORTED, "dtype float64 is not supported");
    if (!tni_same_shape(x, a->grad_out) || x->dtype != a->grad_out->dtype)
        return tn_fail(f, TN_INVALID, "grad_out and input differ in shape or dtype");
    /* Scratch for dw and db: n numbers each a block of rows, and one block more, so that there is
     * one without rows. */
    rows = n ? x->numel / n : 0;
    blocks = (rows + TNI_BLOCK_ROWS - 1) / TNI_BLOCK_ROWS;
    tn_dtype dtype = (tn_dtype)(a->weight ? a->weight->dtype : x->dtype);
    return tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size) &&
           tn_announce(f, 1, dtype, (int)a->normalized_shape.n, a->normalized_shape.at) &&
           tn_announce(f, 2, dtype, (int)a->normalized_shape.n, a->normalized_shape.at) &&
           layer_scratch(f, x, a->weight, NULL, n) && tni_dense_scratch(f, a->grad_out) &&
           tni_mul(blocks + 1, n, &room) && tn_scratch(f, room, 8);
}
static void layer_norm_backward_run(tn_frame *f) {
    TN_ARGS(layer_norm_backward, a, f);
    char *room = (char *)f->scratch;
    int64_t n = f->out[1]->numel, blocks;
    layer_job j;
    if (!n) return;
    layer_start(f, &j, a->input, n, a->eps);
    blocks = (j.rows + TNI_BLOCK_ROWS - 1) / TNI_BLOCK_ROWS;
    /* Without elements there are no rows, and dw and db are 0. */
    if (blocks) {
        j.x = tni_dense(f, a->input, &room);
        j.y = tni_bytes_at(f->out[0]);
    }
    j.weight = layer_numbers(f, a->weight, TN_F32, n, &room);
    if (blocks) j.dy = tni_dense(f, a->grad_out, &room);
    /* one and two: dw and db, n numbers a block of rows. */
    j.one = (float *)(void *)room;
    j.two = j.one + (blocks + 1) * n;
    memset(j.one, 0, (size_t)n * 4);
    memset(j.two, 0, (size_t)n * 4);
    tni_lanes_spread(f->block->context, blocks, a->input->numel * 4, layer_back_task, &j);
    /* Blocks of rows join in a tree of neighbours, so threads do not change the order. */
    for (int64_t half = 1; half < blocks; half *= 2)
        for (int64_t b = 0; b + half < blocks; b += 2 * half) {
            tni_reduce_rows(j.kernels, &tni_sum, TN_F32, j.one + (b + half) * n, 0, 1, n,
                            j.one + b * n);
            tni_reduce_rows(j.kernels, &tni_sum, TN_F32, j.two + (b + half) * n, 0, 1, n,
                            j.two + b * n);
        }
    for (int k = 1; k < 3; k++)
        tni_lanes_save(tni_bytes_at(f->out[k]), tni_dtype_size(f->out[k]), f->out[k]->dtype,
                       k == 1 ? j.one : j.two, TN_F32, n);
}
/* The gradients of layer_norm's input, weight and bias, in one pass. Not for
 * f64, not differentiable. */
TN_OPERATOR(
    layer_norm_backward,
    "layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor? "
    "weight, float eps) -> (Tensor grad_input, "
    "Tensor grad_weight, Tensor grad_bias)",
    TN_DOC(.shapes = "grad_out, input (*, normalized_shape) -> grad_input, grad_weight, grad_bias",
           .example = "tn_layer_norm_backward(d, x, TN_DIMS(64), w, 1e-5)"),
    .check = layer_norm_backward_check, .run = layer_norm_backward_run,
    .sample = "(2,5):f32 (2,5):f32 [5] (5):f32 1e-5 | (130,9):f32 (130,9):f32 [9] (9):f32 "
              "1e-5 | (3,5000):f32 (3,5000):f32 [5000] None 1e-5 | (3,6):f16 (3,6):f16 [6] "
              "(6):f16 1e-5 | (4,2,3):bf16 (4,2,3):bf16 [2,3] None 1e-5")
