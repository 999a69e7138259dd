/* batch_norm.c - batch normalisation with its gradients, and running statistics.
 *
 * Statistics are those of var: two sweeps over a block, blocks joined in double. The gradients of
 * f32 and half types are fused rows; f64 and higher derivatives are composed.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "norm.h"
#include "../reduction/reduction.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"

/* Dense x is n x channels x run, or, `columns`, n rows of channels side by side. */
typedef struct batch_job {
    const tni_kernels *kernels;
    const char *x, *dy;
    char *y;
    const char *mean, *scale, *bias, *shift; /* numbers a channel, of the compute type */
    float *one, *two;                        /* backward: sums a channel */
    int dtype, compute;
    bool columns;
    int64_t n, channels, run, bytes, size, lanes;
} batch_job;

/* Channels innermost in memory; else x is taken row-major, copied where it is not. */
static bool batch_last(const tn_tensor *x) {
    return !(x->flags & TNI_CONTIGUOUS) && x->stride[1] == 1 && tni_is_dense(x);
}
static bool batch_columns(const tn_tensor *x) {
    return batch_last(x) || x->numel == x->size[0] * x->size[1];
}
static bool batch_plain(const tn_tensor *x) { return x->flags & TNI_CONTIGUOUS || batch_last(x); }
/* As x lies, where sizes of 1 have the strides of channels-last images. */
static bool batch_announce(tn_frame *f, const tn_tensor *x) {
    const bool images = x->ndim == 4 || x->ndim == 5;
    int64_t stride[5] = {0};
    bool same = images && batch_last(x);
    if (x->flags & TNI_CONTIGUOUS) return tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size);
    if (!batch_last(x))
        return tni_announce_images(f, 0, (tn_dtype)x->dtype, x->ndim, x->size, x, false);
    if (images) tni_channels_last(x->ndim, x->size, stride);
    for (int d = 0; same && d < x->ndim; d++) same = x->size[d] == 1 || x->stride[d] == stride[d];
    return tn_announce_strided(f, 0, (tn_dtype)x->dtype, x->ndim, x->size,
                               same ? stride : x->stride);
}

/* The layout of x as n x channels x run, in the order of memory. */
static void batch_start(tn_frame *f, batch_job *j, const tn_tensor *x) {
    memset(j, 0, sizeof *j);
    j->kernels = f->block->context->kernels;
    j->dtype = x->dtype;
    j->compute = tni_lanes_compute(x->dtype);
    j->bytes = tni_dtype_size(x);
    j->size = tni_dtype(j->compute)->bytes;
    j->lanes = TNI_LANE_BYTES / j->size;
    /* n runs a channel, of `run` elements each; as columns, n rows of all channels. */
    j->columns = batch_columns(x);
    j->channels = x->size[1];
    j->n = j->columns ? x->numel / x->size[1] : x->size[0];
    j->run = j->columns ? 1 : x->numel / (x->size[0] * x->size[1]);
}

typedef void (*batch_kernel)(const tni_sweep *r);

static batch_kernel batch_affine(const batch_job *j) {
    return j->compute == TN_F32 ? TNI_K(j->kernels, affine_rows_f32)
                                : TNI_K(j->kernels, affine_rows_f64);
}

/* `rows` rows of m elements, `apart` elements from one to the next, from element `at` on, through
 * `kernel`: through tiles where the type asks for it. */
static void batch_apply(const batch_job *j, batch_kernel kernel, tni_sweep *r, int64_t at,
                        int64_t rows, int64_t m, int64_t apart) {
    double in[TNI_BLOCK], d[TNI_BLOCK];
    /* Of the compute type: the kernel reads and writes in place. */
    r->rows = rows;
    r->n = m;
    if (j->dtype == j->compute) {
        TNI_PATH(batch_in_place);
        r->x = j->x + at * j->bytes;
        r->dy = j->dy ? j->dy + at * j->bytes : NULL;
        r->y = j->y ? j->y + at * j->bytes : NULL;
        r->x_step = r->dy_step = r->y_step = apart * j->bytes;
        kernel(r);
        return;
    }
    TNI_PATH(batch_tiles);
    /* Otherwise rows are converted to tiles, side by side, and results converted back. y may take
     * the place of x. */
    r->x_step = r->dy_step = r->y_step = m * j->size;
    r->x = r->y = in;
    r->dy = d;
    if (!j->y) r->y = NULL;
    for (int64_t i = 0; i < rows; i++) {
        /* x, and dy in the backward. */
        tni_lanes_read(j->kernels, (char *)in + i * r->x_step, j->compute,
                       j->x + (at + i * apart) * j->bytes, j->bytes, j->dtype, m);
        if (j->dy)
            tni_lanes_read(j->kernels, (char *)d + i * r->x_step, j->compute,
                           j->dy + (at + i * apart) * j->bytes, j->bytes, j->dtype, m);
    }
    kernel(r);
    for (int64_t i = 0; j->y && i < rows; i++)
        tni_lanes_write(j->kernels, j->y + (at + i * apart) * j->bytes, j->bytes, j->dtype,
                        (char *)in + i * r->x_step, j->compute, m);
}

/* The parameters of channel c, one a lane. */
static void batch_lanes(const batch_job *j, const char *numbers, int64_t c, tni_room *to) {
    if (!numbers) return;
    for (int64_t i = 0; i < j->lanes; i++)
        memcpy((char *)to + i * j->size, numbers + c * j->size, (size_t)j->size);
}

/* Channel i of runs, or the i-th strip of columns. */
static void batch_task(void *arg, int64_t i) {
    const batch_job *j = (const batch_job *)arg;
    tni_room mean, scale, bias, shift;
    tni_sweep r;
    batch_kernel kernel = j->dy ? TNI_K(j->kernels, affine_back_rows_f32) : batch_affine(j);
    memset(&r, 0, sizeof r);
    /* Channels side by side: parameters are vectors already; a strip of `lanes` channels, 64
     * rows at a time. */
    if (j->columns) {
        int64_t c = i * j->lanes, m = j->channels - c < j->lanes ? j->channels - c : j->lanes;
        r.mean = j->mean + c * j->size;
        r.scale = j->scale + c * j->size;
        r.bias = j->bias + c * j->size;
        r.one = j->shift ? (void *)(uintptr_t)(j->shift + c * j->size) : NULL;
        for (int64_t b = 0; b < j->n; b += TNI_BLOCK_ROWS)
            batch_apply(j, kernel, &r, b * j->channels + c,
                        j->n - b < TNI_BLOCK_ROWS ? j->n - b : (int64_t)TNI_BLOCK_ROWS, m,
                        j->channels);
        return;
    }
    /* One channel: each parameter fills all lanes. */
    batch_lanes(j, j->mean, i, &mean);
    batch_lanes(j, j->scale, i, &scale);
    batch_lanes(j, j->bias, i, &bias);
    batch_lanes(j, j->shift, i, &shift);
    r.mean = &mean;
    r.scale = &scale;
    r.bias = &bias;
    r.one = &shift;
    /* Every run of this channel, in blocks of full rows of lanes and a rest. */
    for (int64_t k = 0; k < j->n; k++)
        for (int64_t e = 0; e < j->run; e += TNI_BLOCK) {
            int64_t at = (k * j->channels + i) * j->run + e,
                    n = j->run - e < TNI_BLOCK ? j->run - e : (int64_t)TNI_BLOCK,
                    full = n / j->lanes;
            if (full) batch_apply(j, kernel, &r, at, full, j->lanes, j->lanes);
            if (n % j->lanes) batch_apply(j, kernel, &r, at + full * j->lanes, 1, n % j->lanes, 0);
        }
}

static void batch_spread(tn_frame *f, batch_job *j, void (*task)(void *, int64_t)) {
    int64_t tasks = j->columns ? (j->channels + j->lanes - 1) / j->lanes : j->channels;
    if (j->columns)
        TNI_PATH(batch_columns);
    else
        TNI_PATH(batch_runs);
    tni_lanes_spread(f->block->context, tasks, 2 * j->n * j->channels * j->run, task, j);
}

/* Whether t is absent, or has a number for each channel. */
static bool batch_vector(tn_frame *f, const tn_tensor *t, int64_t channels, const char *name) {
    char has[128];
    if (!t || (t->ndim == 1 && t->size[0] == channels && tni_is_float(t->dtype))) return true;
    return tn_fail(f, TN_INVALID, "%s should have shape (%lld), got %s", name, (long long)channels,
                   tni_shape_text(has, sizeof has, t->ndim, t->size));
}

static void batch_gone(const tn_tensor *x, bool *gone) {
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = d != 1 && d < x->ndim;
}

/* Whether a channel has another number of elements than 1. */
static bool batch_many(const tn_tensor *x) {
    for (int d = 0; d < x->ndim; d++)
        if (d != 1 && x->size[d] != 1) return true;
    return false;
}
static bool batch_norm_check(tn_frame *f) {
    TN_ARGS(batch_norm, a, f);
    const tn_tensor *x = a->input;
    int64_t c;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    /* Shape, then statistics and parameters, then options. */
    if (!tni_norm_floating(f, x)) return false;
    if (x->ndim < 2)
        return tn_fail(f, TN_INVALID, "input must have 2 or more dimensions (N, C, *), got %d",
                       x->ndim);
    c = x->size[1];
    if (!batch_vector(f, a->running_mean, c, "running_mean") ||
        !batch_vector(f, a->running_var, c, "running_var") ||
        !batch_vector(f, a->weight, c, "weight") || !batch_vector(f, a->bias, c, "bias"))
        return false;
    if (!a->training && (!a->running_mean || !a->running_var))
        return tn_fail(f, TN_INVALID,
                       "running_mean and running_var are required in evaluation mode");
    if (a->training && !batch_many(x))
        return tn_fail(f, TN_INVALID, "expected more than 1 value per channel when training");
    if (a->training && !(a->eps > 0))
        return tn_fail(f, TN_INVALID, "eps must be positive when training, got %g", a->eps);
    if (!a->running_mean != !a->running_var)
        return tn_fail(f, TN_INVALID,
                       "running_mean and running_var must both be given, or neither");
    if (a->training)
        f->unneeded |= 6; /* the running statistics */
    else
        f->unwritten |= 6;
    /* mean and rstd are saved for the gradient, in the compute type. */
    if (!batch_announce(f, x)) return false;
    if (f->recording && (!tn_announce(f, 1, (tn_dtype)tni_lanes_compute(x->dtype), 1, &c) ||
                         !tn_announce(f, 2, (tn_dtype)tni_lanes_compute(x->dtype), 1, &c)))
        return false;
    if (!batch_plain(x) && !tn_scratch(f, x->numel, tni_dtype_size(x))) return false;
    batch_gone(x, gone);
    tni_lanes_init(&l, x, gone, tni_lanes_compute(x->dtype), 0);
    /* Scratch: pairs (16 bytes a channel), four numbers a channel, and the plan's own. */
    return tn_scratch(f, c, 6 * 8) && tni_lanes_scratch(f, &l, 16);
}

/* Moves the running statistics towards mean and the unbiased variance. */
static void batch_running(tn_frame *f, const double *pairs, int64_t c, double count) {
    TN_ARGS(batch_norm, a, f);
    for (int k = 0; k < 2; k++) {
        /* Statistics become momentum new + (1 - momentum) old. */
        tn_tensor *t = k ? a->running_var : a->running_mean;
        if (!t) continue;
        /* In evaluation they are given, of any floating dtype and stride. */
        for (int64_t i = 0; i < c; i++) {
            char *at = tni_bytes_at(t) + i * t->stride[0] * tni_dtype_size(t);
            double v, now = k ? pairs[2 * i + 1] / (count > 1 ? count - 1 : 1) : pairs[2 * i];
            tni_lanes_load(&v, TN_F64, at, tni_dtype_size(t), t->dtype, 1);
            v = fma(a->momentum, now, (1 - a->momentum) * v);
            tni_lanes_save(at, tni_dtype_size(t), t->dtype, &v, TN_F64, 1);
        }
    }
}

/* (mean, variance) of each channel, as the call uses them, into pairs. */
static void batch_statistics(tn_frame *f, double *pairs, void *room, int64_t c) {
    TN_ARGS(batch_norm, a, f);
    const tn_tensor *x = a->input;
    double count = (double)(x->numel / (c ? c : 1));
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    /* pairs hold sums of squared deviations until the running variance, which divides by count - 1,
     * is made of them. */
    if (a->training) {
        batch_gone(x, gone);
        tni_lanes_init(&l, x, gone, tni_lanes_compute(x->dtype), 0);
        /* (mean, m2) of each channel, as var makes them. */
        tni_var_parts(f->block->context, &l, room, pairs);
        batch_running(f, pairs, c, count);
        for (int64_t i = 0; i < c; i++) pairs[2 * i + 1] /= count;
        return;
    }
    for (int64_t i = 0; i < c; i++)
        for (int k = 0; k < 2; k++) {
            const tn_tensor *t = k ? a->running_var : a->running_mean;
            tni_lanes_load(&pairs[2 * i + k], TN_F64,
                           tni_bytes_at(t) + i * t->stride[0] * tni_dtype_size(t), 8, t->dtype, 1);
        }
}

static void batch_norm_run(tn_frame *f) {
    TN_ARGS(batch_norm, a, f);
    const tn_tensor *x = a->input;
    int64_t c = x->size[1];
    double *pairs = (double *)f->scratch;
    char *numbers, *room;
    batch_job j;
    /* Both operands as x lies, and the numbers as floats. */
    if (!x->numel) return;
    /* numbers: mean, scale, bias, weight, 8 bytes a channel apart. */
    numbers = (char *)(pairs + 2 * c);
    room = (char *)f->scratch + ((c * 48 + TNI_ALIGN - 1) & -TNI_ALIGN);
    batch_statistics(f, pairs, room, c); /* its scratch is used again below */
    batch_start(f, &j, x);
    j.mean = numbers;
    j.scale = numbers + 8 * c;
    j.bias = numbers + 16 * c;
    tni_norm_numbers(numbers + 16 * c, j.compute, a->bias, c, 0);
    tni_norm_numbers(numbers + 24 * c, j.compute, a->weight, c, 1);
    /* y = (x - mean) (weight rstd) + bias. */
    for (int64_t i = 0; i < c; i++) {
        double weight, rstd = 1 / sqrt(pairs[2 * i + 1] + a->eps);
        /* weight rstd in double, rounded once to the compute type. */
        tni_lanes_load(&weight, TN_F64, numbers + 24 * c + i * j.size, j.size, j.compute, 1);
        weight *= rstd;
        tni_lanes_save(numbers + i * j.size, j.size, j.compute, &pairs[2 * i], TN_F64, 1);
        tni_lanes_save(numbers + 8 * c + i * j.size, j.size, j.compute, &weight, TN_F64, 1);
        /* Saved for the gradient, as the call used them. */
        if (f->nout > 2) {
            tni_lanes_save(tni_bytes_at(f->out[1]) + i * j.size, j.size, j.compute, &pairs[2 * i],
                           TN_F64, 1);
            tni_lanes_save(tni_bytes_at(f->out[2]) + i * j.size, j.size, j.compute, &rstd, TN_F64,
                           1);
        }
    }
    j.x = batch_plain(x) ? tni_bytes_at(x) : tni_dense(f, x, &room);
    j.y = tni_bytes_at(f->out[0]);
    batch_spread(f, &j, batch_task);
}

/* The gradients of layer_norm, with means over all dimensions but 1. In evaluation mean and rstd
 * are constants. */
static void batch_norm_grad(tn_gradient *g) {
    TN_ARGS(batch_norm, a, g);
    tn_tensor *x = g->in[0], *d = g->incoming[0], *c, *rstd, *h, *gw;
    /* shape: (1, C, 1, ...), in which a channel's numbers meet x; dims: all but the channels. */
    int64_t dims[TN_MAX_DIMS], shape[TN_MAX_DIMS];
    for (int i = 0; i < a->input->ndim; i++) shape[i] = i == 1 ? a->input->size[1] : 1;
    for (int i = 1; i < a->input->ndim; i++) dims[i - 1] = i == 1 ? 0 : i;
    const tn_ints over = tni_ints(dims, a->input->ndim - 1), wide = tni_ints(shape, a->input->ndim);
    if (g->want[4]) tn_give(g, 4, tnp_sum(d, over, false, TN_NO_DTYPE));
    if (!g->want[0] && !g->want[3]) return;
    if (a->training) {
        /* Statistics are made again from x, so that they are part of the graph. */
        c = tnp_sub(x, tnp_mean(x, over, true, TN_NO_DTYPE), 1);
        rstd = tni_norm_rsqrt(tnp_mean(tnp_mul(c, c), over, true, TN_NO_DTYPE), a->eps);
    } else {
        c = tnp_sub(x, tnp_reshape(g->in[1], wide), 1);
        rstd = tnp_reshape(tni_norm_rsqrt(g->in[2], a->eps), wide);
    }
    /* h: x normalised; gw: the gradient of h. */
    h = tnp_mul(c, rstd);
    if (g->want[3]) tn_give(g, 3, tnp_sum(tnp_mul(d, h), over, false, TN_NO_DTYPE));
    if (!g->want[0]) return;
    gw = g->in[3] ? tnp_mul(d, tnp_reshape(g->in[3], wide)) : d;
    /* mean and rstd depend on x: dx = rstd (gw - mean gw - h mean(gw h)). */
    if (a->training) {
        c = tnp_sub(gw, tnp_mean(gw, over, true, TN_NO_DTYPE), 1);
        gw = tnp_sub(c, tnp_mul(h, tnp_mean(tnp_mul(gw, h), over, true, TN_NO_DTYPE)), 1);
    }
    tn_give(g, 0, tnp_mul(gw, rstd));
}
static void batch_norm_fused(tn_gradient *g) {
    TN_ARGS(batch_norm, a, g);
    tn_grad_input_grad_weight_grad_bias r;
    /* Only the case that training has at each step is fused. */
    if (!a->training || a->input->dtype == TN_F64 || !g->want[0] || g->nout < 3) {
        batch_norm_grad(g);
        return;
    }
    r = tnp_batch_norm_backward(g->incoming[0], g->in[0], g->in[3], g->out[1], g->out[2]);
    tn_give(g, 0, r.grad_input);
    if (g->want[3]) tn_give(g, 3, r.grad_weight);
    if (g->want[4]) tn_give(g, 4, r.grad_bias);
}
/* (x - mean) / sqrt(var + eps) * weight + bias for each channel. In training, mean and var are
 * those of the batch, and running_mean and running_var move towards them by `momentum` (with var
 * divided by n - 1, not n). Otherwise they are running_mean and running_var. */
TN_OPERATOR(
    batch_norm,
    "batch_norm(Tensor input, Tensor(a!)? running_mean, Tensor(b!)? running_var, Tensor? "
    "weight=None, Tensor? bias=None, "
    "bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
    TN_DOC(.shapes = "input (N, C, *), the others (C) -> as input",
           .example = "tn_batch_norm(x, mean, var, .training = true)",
           .python = "nn.functional.batch_norm"),
    .forms = TN_IMAGES, .saves = "mean, rstd",
    .needs = "input:input,weight,running_mean,running_var,mean,rstd "
             "weight:input,weight,running_mean,running_var,mean,rstd",
    .check = batch_norm_check, .run = batch_norm_run, .grad = batch_norm_grad,
    .fused = batch_norm_fused, .domain = "running_var:0.5..2",
    .sample =
        "(4,3) (3) (3) (3) (3) True | (4,3,5) (3) (3) (3) (3) False | (2,3,4,5) None None (3) None "
        "True | "
        "(2,3,4,5) (3) (3) None None True | (3,2,70,70) (2) (2) (2) (2) True | (300,70) (70) (70) "
        "(70) (70) True | "
        "(4,3,6):f16 (3):f32 (3):f32 (3):f16 (3):f16 True | (2,3,4) (3) (3) (3) (3) True 0.5 0.001",
    .node = "NativeBatchNormBackward0")

/* one = sum of dy, two = sum of dy (x - mean), over channel i or over the i-th strip of columns. */
static void batch_moments_task(void *arg, int64_t i) {
    const batch_job *j = (const batch_job *)arg;
    const batch_kernel kernel = TNI_K(j->kernels, moments_rows_f32);
    tni_tree first, second;
    tni_room mean;
    tni_sweep r;
    /* c: the first channel, m: channels of this task. */
    int64_t c = j->columns ? i * j->lanes : i, m = !j->columns                  ? 1
                                                   : j->channels - c < j->lanes ? j->channels - c
                                                                                : j->lanes;
    memset(&r, 0, sizeof r);
    /* Two trees of block sums, so that the order of additions is fixed. */
    tni_tree_begin(&first, j->kernels, TN_F32, m);
    tni_tree_begin(&second, j->kernels, TN_F32, m);
    batch_lanes(j, j->columns ? NULL : j->mean, c, &mean);
    r.mean = j->columns ? (const void *)(j->mean + c * 4) : (const void *)&mean;
    /* Columns add into one sum a channel; a run adds into lanes, which are folded. */
    for (int64_t k = 0; k < j->n; k += j->columns ? TNI_BLOCK_ROWS : 1)
        for (int64_t e = 0; e < j->run; e += TNI_BLOCK) {
            int64_t at = (k * j->channels + i) * j->run + e,
                    n = j->run - e < TNI_BLOCK ? j->run - e : (int64_t)TNI_BLOCK,
                    full = n / j->lanes;
            r.one = tni_tree_next(&first);
            r.two = tni_tree_next(&second);
            if (j->columns) {
                batch_apply(j, kernel, &r, k * j->channels + c,
                            j->n - k < TNI_BLOCK_ROWS ? j->n - k : (int64_t)TNI_BLOCK_ROWS, m,
                            j->channels);
            } else {
                if (full) batch_apply(j, kernel, &r, at, full, j->lanes, j->lanes);
                if (n % j->lanes)
                    batch_apply(j, kernel, &r, at + full * j->lanes, 1, n % j->lanes, 0);
                tni_reduce_fold(j->kernels, &tni_sum, TN_F32, r.one, j->lanes);
                tni_reduce_fold(j->kernels, &tni_sum, TN_F32, r.two, j->lanes);
            }
            tni_tree_push(&first);
            tni_tree_push(&second);
        }
    memcpy(j->one + c, tni_tree_end(&first), (size_t)m * 4);
    memcpy(j->two + c, tni_tree_end(&second), (size_t)m * 4);
}

static bool batch_norm_backward_check(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    const tn_tensor *x = a->input;
    tn_dtype dtype = (tn_dtype)(a->weight ? a->weight->dtype : x->dtype);
    int64_t c;
    if (!tni_norm_floating(f, x) || x->dtype == TN_F64 || x->ndim < 2)
        return tn_fail(f, TN_UNSUPPORTED, "input's dtype or shape is not supported");
    c = x->size[1];
    /* All must fit the call of batch_norm that saved mean and rstd. */
    if (!tni_same_shape(x, a->grad_out) || x->dtype != a->grad_out->dtype)
        return tn_fail(f, TN_INVALID, "grad_out and input differ in shape or dtype");
    if (!batch_vector(f, a->weight, c, "weight") || !batch_vector(f, a->mean, c, "mean") ||
        !batch_vector(f, a->rstd, c, "rstd"))
        return false;
    /* Scratch: five numbers and two sums a channel (28 of 32 bytes), and copies of x
     * and grad_out. */
    return batch_announce(f, x) && tn_announce(f, 1, dtype, 1, &c) &&
           tn_announce(f, 2, dtype, 1, &c) && tn_scratch(f, c, 8 * 4) &&
           tn_scratch(f, x->numel, 4) && tn_scratch(f, x->numel, 4);
}

/* t as x lies in memory: both dense in x's form. */
static const char *batch_alike(tn_frame *f, const tn_tensor *t, const tn_tensor *x, char **room) {
    bool same = batch_plain(x) && t->dtype == x->dtype;
    /* Where t lies as x does, x's order of elements is t's. */
    for (int d = 0; d < t->ndim; d++)
        same = same && (t->size[d] == 1 || t->stride[d] == x->stride[d]);
    if (same) return tni_bytes_at(t);
    if (!batch_last(x)) return tni_dense(f, t, room);
    {
        /* Channels-last: a copy of t with the strides of x, in scratch. */
        TNI_PATH(batch_alike_copy);
        tni_storage storage;
        tn_tensor to;
        memset(&storage, 0, sizeof storage);
        storage.data = *room;
        tni_stack_view(&to, t, x->ndim, x->size, x->stride, 0);
        to.storage = &storage;
        tni_copy_elements(f->block, &to, t);
        *room += (t->numel * tni_dtype_size(t) + TNI_ALIGN - 1) & -TNI_ALIGN;
        return (const char *)storage.data;
    }
}

static void batch_norm_backward_run(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    const tn_tensor *x = a->input;
    int64_t c = x->size[1];
    float *numbers = (float *)f->scratch, *mean = numbers, *rstd = mean + c, *w = rstd + c,
          *slope = w + c, *shift = slope + c;
    char *room = (char *)f->scratch + ((c * 32 + TNI_ALIGN - 1) & -TNI_ALIGN);
    double n = (double)x->numel / (double)(c ? c : 1);
    batch_job j;
    /* Of an empty input the gradients of weight and bias are 0. */
    for (int k = 1; k < 3; k++)
        memset(tni_bytes_at(f->out[k]), 0, (size_t)(f->out[k]->numel * tni_dtype_size(f->out[k])));
    if (!x->numel) return;
    batch_start(f, &j, x);
    tni_norm_numbers(mean, TN_F32, a->mean, c, 0);
    tni_norm_numbers(rstd, TN_F32, a->rstd, c, 1);
    tni_norm_numbers(w, TN_F32, a->weight, c, 1);
    j.x = batch_alike(f, x, x, &room);
    j.dy = batch_alike(f, a->grad_out, x, &room);
    j.mean = (const char *)mean;
    j.one = numbers + 5 * c;
    j.two = numbers + 6 * c;
    /* First the two sums a channel, from which all three gradients follow. */
    batch_spread(f, &j, batch_moments_task);
    /* dw = rstd sum dy (x - mean), db = sum dy; dx = scale dy + slope (x - mean) + shift, with
     * scale = w rstd, shift = -scale db / n and slope = -scale dw rstd / n. */
    for (int64_t i = 0; i < c; i++) {
        double dw = (double)j.two[i] * (double)rstd[i], db = (double)j.one[i],
               scale = (double)w[i] * (double)rstd[i];
        shift[i] = (float)(-scale * db / n);
        slope[i] = (float)(-scale * dw * (double)rstd[i] / n);
        /* w becomes the scale of dy. */
        w[i] = (float)scale;
        tni_lanes_save(tni_bytes_at(f->out[1]) + i * tni_dtype_size(f->out[1]), 8, f->out[1]->dtype,
                       &dw, TN_F64, 1);
        tni_lanes_save(tni_bytes_at(f->out[2]) + i * tni_dtype_size(f->out[2]), 8, f->out[2]->dtype,
                       &db, TN_F64, 1);
    }
    j.scale = (const char *)w;
    j.bias = (const char *)slope;
    j.shift = (const char *)shift;
    j.y = tni_bytes_at(f->out[0]);
    batch_spread(f, &j, batch_task);
}
/* The gradients of batch_norm's input, weight and bias in training, in one pass, from the
 * statistics that it saved. Not for f64, not differentiable. */
TN_OPERATOR(batch_norm_backward,
            "batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor mean, "
            "Tensor rstd) -> (Tensor grad_input, "
            "Tensor grad_weight, Tensor grad_bias)",
            TN_DOC(.shapes = "grad_out, input (N, C, *), weight, mean, rstd (C) -> grad_input, "
                             "grad_weight, grad_bias",
                   .example = "tn_batch_norm_backward(d, x, weight, mean, rstd)"),
            .forms = TN_IMAGES, .check = batch_norm_backward_check, .run = batch_norm_backward_run,
            .domain = "rstd:0.5..1.5",
            .sample = "(4,3):f32 (4,3):f32 (3):f32 (3):f32 (3):f32 | (3,2,70,70):f32 "
                      "(3,2,70,70):f32 None (2):f32 (2):f32 | (300,70):f32 (300,70):f32 (70):f32 "
                      "(70):f32 (70):f32 | (4,3,5):f16 (4,3,5):f16 (3):f16 (3):f32 (3):f32")
