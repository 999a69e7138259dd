/* softmax.c - softmax and log-softmax along one dimension, their gradients, and logsumexp.
 *
 * A tensor is outer x n x inner about its dimension. Where inner is 1, a row is handled in blocks
 * of TNI_BLOCK, each in fixed lanes; else columns side by side, TNI_BLOCK_ROWS rows a block. Sums
 * join in the tree of lanes.h. */
#include "reduction.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

typedef struct soft_job {
    tn_context *context;
    const char *x, *dy; /* dense; x: input, or output in the backward */
    char *y;
    int dtype, y_dtype, compute;
    bool log, native; /* native: all elements are of the compute type */
    int64_t bytes, y_bytes, size, lanes;
    int64_t n, inner, chunks; /* chunks of columns in inner */
    int64_t rows, each;       /* short rows, and how many are a task */
} soft_job;

/* n elements from element `at` on, to the compute type. */
static void soft_load(const soft_job *j, const char *from, int64_t at, int64_t n, void *tile) {
    tni_lanes_read(j->context->kernels, tile, j->compute, from + at * j->bytes, j->bytes, j->dtype,
                   n);
}

/* A block of the work: rows x m elements, the first at element `at`. In place where native, else
 * through tiles. */
typedef struct soft_block {
    int64_t at, rows, m, apart; /* apart: elements from row to row */
    int64_t tail;               /* elements of a last, shorter row (of a row in lanes) */
} soft_block;

typedef void (*soft_kernel)(const soft_job *j, tni_sweep *r, int kind);

/* Kernels of one signature: exponentials summed, the final map, the backward's
 * products, and its map. */
static void soft_exp(const soft_job *j, tni_sweep *r, int kind) {
    const tni_kernels *k = j->context->kernels;
    (void)kind;
    (j->compute == TN_F32 ? TNI_K(k, exp_rows_f32) : TNI_K(k, exp_rows_f64))(r);
}
static void soft_map(const soft_job *j, tni_sweep *r, int kind) {
    const tni_kernels *k = j->context->kernels;
    (j->compute == TN_F32 ? TNI_K(k, soft_rows_f32) : TNI_K(k, soft_rows_f64))(r, kind);
}
static void soft_map_each(const soft_job *j, const tni_sweep *r, int kind) {
    const tni_kernels *k = j->context->kernels;
    (j->compute == TN_F32 ? TNI_K(k, soft_each_f32) : TNI_K(k, soft_each_f64))(r, kind);
}
static void soft_dot(const soft_job *j, tni_sweep *r, int kind) {
    (void)kind;
    if (j->log) r->x = NULL;
    TNI_K(j->context->kernels, dot_rows_f32)(r);
}
static void soft_back(const soft_job *j, tni_sweep *r, int kind) {
    (void)kind;
    TNI_K(j->context->kernels, soft_back_rows_f32)(r, j->log);
}
static void soft_max(const soft_job *j, tni_sweep *r, int kind) {
    (void)kind;
    tni_reduce_rows(j->context->kernels, &tni_max, j->compute, r->x, r->x_step, r->rows, r->n,
                    r->one);
}

/* Copies the rows of a block to tiles if their type needs it, runs the kernel, copies y back. */
static void soft_apply(const soft_job *j, soft_kernel kernel, const char *x, const char *dy,
                       char *y, const soft_block *b, int64_t row, int64_t rows, int64_t m,
                       tni_sweep *r, int kind) {
    /* Rows lie apart in memory, and side by side in a tile. */
    double tile[TNI_BLOCK], tile2[TNI_BLOCK];
    int64_t at = b->at + row * b->apart;
    r->rows = rows;
    r->n = m;
    r->x_step = r->dy_step = r->y_step = (j->native ? b->apart : m) * j->size;
    if (j->native) {
        TNI_PATH(softmax_in_place);
        r->x = x + at * j->bytes;
        r->dy = dy ? dy + at * j->bytes : NULL;
        r->y = y ? y + at * j->y_bytes : NULL;
        kernel(j, r, kind);
        return;
    }
    TNI_PATH(softmax_tiles);
    /* Of another type: rows are converted to tiles, the kernel runs there. */
    for (int64_t i = 0; i < rows; i++) {
        soft_load(j, x, at + i * b->apart, m, (char *)tile + i * r->x_step);
        if (dy) soft_load(j, dy, at + i * b->apart, m, (char *)tile2 + i * r->x_step);
    }
    /* y takes the place of x: kernels read an element before they write it. */
    r->x = r->y = tile;
    r->dy = tile2;
    if (!y) r->y = NULL;
    kernel(j, r, kind);
    for (int64_t i = 0; y && i < rows; i++)
        tni_lanes_write(j->context->kernels, y + (at + i * b->apart) * j->y_bytes, j->y_bytes,
                        j->y_dtype, (char *)tile + i * r->x_step, j->compute, m);
}

/* The full rows of a block, then its tail. */
static void soft_each(const soft_job *j, soft_kernel kernel, const char *x, const char *dy, char *y,
                      const soft_block *b, tni_sweep *r, int kind) {
    if (b->rows) soft_apply(j, kernel, x, dy, y, b, 0, b->rows, b->m, r, kind);
    if (b->tail) soft_apply(j, kernel, x, dy, y, b, b->rows, 1, b->tail, r, kind);
}

/* What a task works at: a whole row (m lanes of it at a time), or a chunk of columns. */
typedef struct soft_line {
    int64_t at, m; /* first element; columns, or lanes used */
    int64_t blocks;
    bool row;
} soft_line;

static soft_line soft_line_of(const soft_job *j, int64_t i) {
    soft_line l;
    /* Task i: row i, or chunk i mod chunks of the columns of an outer index. */
    l.row = j->inner == 1;
    if (l.row) {
        l.at = i * j->n;
        l.m = j->n < j->lanes ? j->n : j->lanes;
        l.blocks = (j->n + TNI_BLOCK - 1) / TNI_BLOCK;
    } else {
        /* The columns of an outer index are one line `inner` apart from element to element. */
        int64_t c = i % j->chunks * j->lanes;
        l.at = i / j->chunks * j->n * j->inner + c;
        l.m = j->inner - c < j->lanes ? j->inner - c : j->lanes;
        l.blocks = (j->n + TNI_BLOCK_ROWS - 1) / TNI_BLOCK_ROWS;
    }
    return l;
}

static soft_block soft_block_of(const soft_job *j, const soft_line *l, int64_t b) {
    /* Of a row, `lanes` elements count as a row of the block; of columns, one index of n does. */
    soft_block k = {0, 0, 0, 0, 0};
    int64_t each = l->row ? (int64_t)TNI_BLOCK : (int64_t)TNI_BLOCK_ROWS, left = j->n - b * each,
            n = left < each ? left : each;
    k.m = l->row ? j->lanes : l->m;
    k.apart = l->row ? j->lanes : j->inner;
    k.at = l->at + b * each * (l->row ? 1 : j->inner);
    k.rows = l->row ? n / j->lanes : n;
    k.tail = l->row ? n % j->lanes : 0;
    return k;
}

/* Folds the lanes of a row into one value and spreads it again; columns stay as they are. */
static void soft_fold(const soft_job *j, const soft_line *l, const tni_reduction *op, void *lanes) {
    int64_t h = 1;
    if (!l->row) return;
    while (h < l->m) h *= 2;
    if (h > l->m) { /* lanes that were not used */
        tni_fill_lanes((char *)lanes + l->m * j->size, j->compute, tni_identity(op), h - l->m);
    }
    tni_reduce_fold(j->context->kernels, op, j->compute, lanes, h);
    tni_fill_lanes(
        lanes, j->compute,
        j->compute == TN_F32 ? (double)((tni_room *)lanes)->f[0] : ((tni_room *)lanes)->d[0], l->m);
}

/* Sum over the line of what `kernel` adds to its accumulators, one a column, into `to`. */
static void soft_sum(const soft_job *j, soft_kernel kernel, const soft_line *l, const char *x,
                     const char *dy, char *y, tni_sweep *r, void *to) {
    tni_tree tree;
    tni_tree_begin(&tree, j->context->kernels, j->compute, l->m);
    for (int64_t b = 0; b < l->blocks && !tni_stopped(); b++) {
        soft_block k = soft_block_of(j, l, b);
        r->one = tni_tree_next(&tree);
        soft_each(j, kernel, x, dy, y, &k, r, 0);
        if (l->row) soft_fold(j, l, &tni_sum, r->one);
        tni_tree_push(&tree);
    }
    memcpy(to, tni_tree_end(&tree), (size_t)(l->m * j->size));
}

/* log_softmax subtracts log sum, softmax multiplies by 1 / sum. */
static void soft_scales(const soft_job *j, void *sum, int64_t n) {
    const tni_kernels *k = j->context->kernels;
    float *s = (float *)sum;
    double *d = (double *)sum;
    if (j->log) {
        (j->compute == TN_F32 ? TNI_K(k, log_f32) : TNI_K(k, log_f64))(sum, n);
        return;
    }
    for (int64_t c = 0; c < n; c++)
        if (j->compute == TN_F32)
            s[c] = 1 / s[c];
        else
            d[c] = 1 / d[c];
}

static void soft_task(void *arg, int64_t i) {
    const soft_job *j = (const soft_job *)arg;
    soft_line l = soft_line_of(j, i);
    tni_room most, sum;
    bool keep = j->native && !j->log; /* exponentials wait in y */
    tni_sweep r;
    /* Three sweeps: the maximum of each line, the sum of exp(x - max), and the results. */
    memset(&r, 0, sizeof r);
    tni_fill_lanes(&most, j->compute, -HUGE_VAL, l.m);
    r.one = &most;
    for (int64_t b = 0; b < l.blocks && !tni_stopped(); b++) {
        soft_block at = soft_block_of(j, &l, b);
        soft_each(j, soft_max, j->x, NULL, NULL, &at, &r, 0);
    }
    /* keep: the exponentials of the second sweep already stand in y, and the third
     * only scales them. */
    soft_fold(j, &l, &tni_max, &most);
    r.mean = &most;
    soft_sum(j, soft_exp, &l, j->x, NULL, keep ? j->y : NULL, &r, &sum);
    soft_scales(j, &sum, l.m);
    r.scale = &sum;
    for (int64_t b = 0; b < l.blocks && !tni_stopped(); b++) {
        soft_block at = soft_block_of(j, &l, b);
        soft_each(j, soft_map, keep ? j->y : j->x, NULL, j->y, &at, &r,
                  keep     ? TNI_SOFT_SCALE
                  : j->log ? TNI_SOFT_SHIFT
                           : TNI_SOFT_EXP);
    }
}

/* Short rows, each one block: as many in a task as a tile holds. */
enum { SOFT_ROWS = 256 };
static void soft_many_task(void *arg, int64_t i) {
    const soft_job *j = (const soft_job *)arg;
    const tni_kernels *k = j->context->kernels;
    const int64_t first = i * j->each, rows = j->rows - first < j->each ? j->rows - first : j->each,
                  at = first * j->n, count = rows * j->n;
    double most[SOFT_ROWS], sum[SOFT_ROWS], tile[TNI_BLOCK], powers[TNI_BLOCK];
    tni_sweep r;
    memset(&r, 0, sizeof r);
    r.rows = rows;
    r.n = j->n;
    r.x_step = r.y_step = j->n * j->size;
    r.mean = most;
    r.scale = sum;
    const void *x = j->native ? j->x + at * j->bytes : (const char *)tile;
    void *y = j->native ? j->y + at * j->y_bytes : (char *)tile;
    if (!j->native) soft_load(j, j->x, at, count, tile);
    tni_max.many(k, j->compute, x, r.x_step, rows, j->n, most);
    /* The logarithm needs x once more. */
    r.x = x;
    r.y = j->log ? powers : y;
    soft_map_each(j, &r, TNI_SOFT_EXP);
    tni_sum.many(k, j->compute, r.y, r.y_step, rows, j->n, sum);
    soft_scales(j, sum, rows);
    r.x = j->log ? x : y;
    r.y = y;
    soft_map_each(j, &r, j->log ? TNI_SOFT_SHIFT : TNI_SOFT_SCALE);
    if (!j->native)
        tni_lanes_write(k, j->y + at * j->y_bytes, j->y_bytes, j->y_dtype, tile, j->compute, count);
}

/* dx = y (dy - sum y dy), or dy - exp(y) sum dy. */
static void soft_back_task(void *arg, int64_t i) {
    const soft_job *j = (const soft_job *)arg;
    soft_line l = soft_line_of(j, i);
    tni_room sum;
    tni_sweep r;
    memset(&r, 0, sizeof r);
    /* Two sweeps: the sum along the line, then dx. */
    soft_sum(j, soft_dot, &l, j->x, j->dy, NULL, &r, &sum);
    r.scale = &sum;
    for (int64_t b = 0; b < l.blocks && !tni_stopped(); b++) {
        soft_block at = soft_block_of(j, &l, b);
        soft_each(j, soft_back, j->x, j->dy, j->y, &at, &r, 0);
    }
}

/* The same of short rows, as soft_many_task; computed in F32, as all backwards here. */
static void soft_back_many_task(void *arg, int64_t i) {
    const soft_job *j = (const soft_job *)arg;
    const tni_kernels *k = j->context->kernels;
    const int64_t first = i * j->each, rows = j->rows - first < j->each ? j->rows - first : j->each,
                  at = first * j->n, count = rows * j->n;
    float sum[SOFT_ROWS], tile[TNI_BLOCK], tile2[TNI_BLOCK];
    tni_sweep r;
    memset(&r, 0, sizeof r);
    r.rows = rows;
    r.n = j->n;
    r.x_step = r.dy_step = r.y_step = j->n * j->size;
    r.scale = sum;
    r.x = j->x + at * j->bytes;
    r.dy = j->dy + at * j->bytes;
    r.y = j->y + at * j->y_bytes;
    if (!j->native) {
        soft_load(j, j->x, at, count, tile);
        soft_load(j, j->dy, at, count, tile2);
        r.x = r.y = tile;
        r.dy = tile2;
    }
    if (j->log)
        TNI_K(k, fold_sum_f32)(r.dy, r.dy_step, rows, j->n, sum);
    else
        TNI_K(k, fold_dot_f32)(r.x, r.dy, r.x_step, rows, j->n, sum);
    TNI_K(k, soft_back_each_f32)(&r, j->log);
    if (!j->native)
        tni_lanes_write(k, j->y + at * j->y_bytes, j->y_bytes, j->y_dtype, tile, j->compute, count);
}

/* Tasks of outer x inner lines. Each is read and written several times: about 4 units of work an
 * element. */
static void soft_spread(soft_job *j, int64_t outer, int64_t numel, void (*task)(void *, int64_t)) {
    if (j->inner > 1 || j->n > TNI_BLOCK / 2) {
        tni_lanes_spread(j->context, outer * j->chunks, 4 * numel, task, j);
        return;
    }
    TNI_PATH(softmax_many);
    j->rows = outer;
    j->each = TNI_BLOCK / j->n;
    if (j->each > SOFT_ROWS) j->each = SOFT_ROWS;
    tni_lanes_spread(j->context, (outer + j->each - 1) / j->each, 4 * numel,
                     task == soft_task ? soft_many_task : soft_back_many_task, j);
}

static void soft_start(tn_frame *f, int64_t dim, bool log, const tn_tensor *x, const tn_tensor *dy,
                       void (*task)(void *, int64_t)) {
    soft_job j;
    char *room = (char *)f->scratch;
    int d = tni_dim(x->ndim, dim);
    int64_t outer = 1;
    if (!x->numel) return;
    /* The shape about dim: outer x n x inner. */
    j.context = f->block->context;
    j.x = tni_dense(f, x, &room);
    j.dy = tni_dense(f, dy, &room);
    j.y = tni_bytes_at(f->out[0]);
    /* Of a complex x the real parts are read, in steps of whole elements. */
    j.dtype = (int)tni_real_of(x->dtype);
    j.y_dtype = f->out[0]->dtype;
    j.compute = tni_lanes_compute(j.y_dtype);
    j.log = log;
    j.native = x->dtype == j.compute && j.y_dtype == j.compute;
    /* x of bytes, y of y_bytes, computed with in size bytes an element. */
    j.bytes = tni_dtype_size(x);
    j.y_bytes = tni_dtype_size(f->out[0]);
    j.size = tni_dtype(j.compute)->bytes;
    j.lanes = TNI_LANE_BYTES / j.size;
    j.n = x->ndim ? x->size[d] : 1;
    j.inner = 1;
    for (int e = 0; e < x->ndim; e++)
        if (e < d)
            outer *= x->size[e];
        else if (e > d)
            j.inner *= x->size[e];
    j.chunks = (j.inner + j.lanes - 1) / j.lanes;
    if (j.inner == 1)
        TNI_PATH(softmax_rows);
    else
        TNI_PATH(softmax_columns);
    soft_spread(&j, outer, x->numel, task);
}

/* --- softmax ---------------------------------------------------------------------------------- */

static bool soft_check(tn_frame *f, int64_t dim, tn_dtype dtype) {
    const tn_tensor *x = f->in[0];
    /* An empty tensor may have any dtype, as in torch. */
    int d, to = dtype ? (int)dtype : x->dtype;
    if (x->numel && (!tni_is_float(to) || !tni_dtype(to)->computes))
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(to)->text);
    return tni_dim_of(f, x->ndim, dim, &d) && tn_announce(f, 0, (tn_dtype)to, x->ndim, x->size) &&
           tni_dense_scratch(f, x);
}

static bool softmax_check(tn_frame *f) {
    TN_ARGS(softmax, a, f);
    return soft_check(f, a->dim, a->dtype);
}
static void softmax_run(tn_frame *f) {
    TN_ARGS(softmax, a, f);
    soft_start(f, a->dim, false, f->in[0], NULL, soft_task);
}
static void softmax_grad(tn_gradient *g) { /* dx = y (dy - sum y dy) */
    TN_ARGS(softmax, a, g);
    tn_tensor *y = g->out[0], *gy = tnp_mul(g->incoming[0], y);
    tn_tensor *sum = tnp_sum(gy, tni_ints(&a->dim, 1), true, TN_NO_DTYPE);
    tn_give(g, 0, tnp_sub(gy, tnp_mul(y, sum), 1));
}
/* The dtypes of softmax_backward and log_softmax_backward. */
static bool soft_has_fused(int dtype) {
    return dtype == TN_F32 || dtype == TN_F16 || dtype == TN_BF16;
}
static void softmax_fused(tn_gradient *g) {
    TN_ARGS(softmax, a, g);
    /* By the row that makes it in one pass, where there is one for the dtype. */
    if (!soft_has_fused(g->out[0]->dtype))
        softmax_grad(g);
    else
        tn_give(
            g, 0,
            tnp_softmax_backward(g->incoming[0], g->out[0], a->dim, (tn_dtype)g->out[0]->dtype));
}
/* softmax(x)_i = exp(x_i - max x) / sum_j exp(x_j - max x) along dim, computed in dtype if it is
 * given, which takes the real part of complex numbers. A row of -inf gives NaN. */
TN_OPERATOR(softmax, "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*), floating", .example = "tn_softmax(x, 1)",
                   .python = "special.softmax"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CUDA, .needs = "result",
            .check = softmax_check, .run = softmax_run, .grad = softmax_grad,
            .fused = softmax_fused,
            .sample = "(2,5) 1 | (3) -1 | (0,4) 0 | () 0 | (3,70) 1 | (70,3) 0 | (2,70,100) 1 | "
                      "(2,9000) 1 | (3,4) 1 dtype=float64 | (3,4):c64 1 dtype=float32 | "
                      "(4,5):f16 1 | (5,4,3):bf16 1 | (40,30,20) 2")

static bool log_softmax_check(tn_frame *f) {
    TN_ARGS(log_softmax, a, f);
    return soft_check(f, a->dim, a->dtype);
}
static void log_softmax_run(tn_frame *f) {
    TN_ARGS(log_softmax, a, f);
    soft_start(f, a->dim, true, f->in[0], NULL, soft_task);
}
static void log_softmax_grad(tn_gradient *g) { /* dx = dy - exp(y) sum dy */
    TN_ARGS(log_softmax, a, g);
    tn_tensor *d = g->incoming[0], *sum = tnp_sum(d, tni_ints(&a->dim, 1), true, TN_NO_DTYPE);
    tn_give(g, 0, tnp_sub(d, tnp_mul(tnp_exp(g->out[0]), sum), 1));
}
static void log_softmax_fused(tn_gradient *g) {
    TN_ARGS(log_softmax, a, g);
    if (!soft_has_fused(g->out[0]->dtype))
        log_softmax_grad(g);
    else
        tn_give(g, 0,
                tnp_log_softmax_backward(g->incoming[0], g->out[0], a->dim,
                                         (tn_dtype)g->out[0]->dtype));
}
/* log_softmax(x)_i = x_i - max x - log sum_j exp(x_j - max x) along dim, computed in dtype if
 * it is given, which takes the real part of complex numbers. */
TN_OPERATOR(log_softmax, "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*), floating", .example = "tn_log_softmax(x, 1)",
                   .python = "special.log_softmax"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CUDA, .needs = "result",
            .check = log_softmax_check, .run = log_softmax_run, .grad = log_softmax_grad,
            .fused = log_softmax_fused,
            .sample = "(2,5) 1 | (3) -1 | (0,4) 0 | () 0 | (3,70) 1 | (70,3) 0 | (2,70,100) 1 | "
                      "(2,9000) 1 | (3,4) 1 dtype=float64 | (2,3,4):c64 1 dtype=float64 | "
                      "(4,5):f16 1")

static bool soft_back_check(tn_frame *f, int64_t dim) {
    const tn_tensor *d = f->in[0], *y = f->in[1];
    if (!tni_same_shape(d, y) || d->dtype != y->dtype)
        return tn_fail(f, TN_INVALID, "grad_output and output differ in shape or dtype");
    if (!soft_has_fused(y->dtype))
        return tn_fail(f, TN_UNSUPPORTED, "dtype %s is not supported", tni_dtype(y->dtype)->text);
    return soft_check(f, dim, TN_NO_DTYPE) && tni_dense_scratch(f, y);
}

static bool softmax_backward_check(tn_frame *f) {
    TN_ARGS(softmax_backward, a, f);
    return soft_back_check(f, a->dim);
}
static void softmax_backward_run(tn_frame *f) {
    TN_ARGS(softmax_backward, a, f);
    soft_start(f, a->dim, false, f->in[1], f->in[0], soft_back_task);
}
/* The gradient of softmax from its output y, in one pass: y (dy - sum(y dy)). Not for
 * f64, not differentiable. */
TN_OPERATOR(softmax_backward,
            "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
            "input_dtype) -> Tensor",
            TN_DOC(.shapes = "grad_output (*), output (*) -> (*)",
                   .example = "tn_softmax_backward(d, y, 1, TN_F32)"),
            .forms = TN_LEADING, .check = softmax_backward_check, .run = softmax_backward_run,
            .sample = "(2,5):f32 (2,5):f32 1 float32 | (3,70):f32 (3,70):f32 1 float32 | "
                      "(2,70,100):f32 (2,70,100):f32 1 float32 | "
                      "(2,9000):f32 (2,9000):f32 1 float32")

static bool log_softmax_backward_check(tn_frame *f) {
    TN_ARGS(log_softmax_backward, a, f);
    return soft_back_check(f, a->dim);
}
static void log_softmax_backward_run(tn_frame *f) {
    TN_ARGS(log_softmax_backward, a, f);
    soft_start(f, a->dim, true, f->in[1], f->in[0], soft_back_task);
}
/* The gradient of log_softmax from its output y, in one pass: dy - exp(y) sum(dy). Not for
 * f64, not differentiable. */
TN_OPERATOR(log_softmax_backward,
            "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
            "input_dtype) -> Tensor",
            TN_DOC(.shapes = "grad_output (*), output (*) -> (*)",
                   .example = "tn_log_softmax_backward(d, y, 1, TN_F32)"),
            .forms = TN_LEADING, .check = log_softmax_backward_check,
            .run = log_softmax_backward_run,
            .sample = "(2,5):f32 (2,5):f32 1 float32 | (3,70):f32 (3,70):f32 1 float32 | "
                      "(2,70,100):f32 (2,70,100):f32 1 float32")

/* --- logsumexp -------------------------------------------------------------------------------- */

/* max + log sum exp(x - max), the maximum (of real parts) a constant: where it is infinite, 0
 * instead, as torch. */
static bool logsumexp_compose(tn_frame *f) {
    TN_ARGS(logsumexp, a, f);
    tn_tensor *x = a->self, *most, *sum;
    tni_shape to;
    bool gone[TN_MAX_DIMS];
    if (tni_dtype(x->dtype)->category <= TNI_CAT_INT)
        x = tnp_to_dtype(x, tni_tensors(f->block->context)->default_dtype, false, false);
    if (!x) return false;
    if (tni_dtype(x->dtype)->category < TNI_CAT_FLOAT)
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s", tni_dtype(x->dtype)->text);
    if (!tni_reduced(f, x, a->dim, a->keepdim, &to, gone)) return false;
    /* log of a sum over nothing is -inf. */
    if (!x->numel)
        return (f->out[0] = tnp_log(tnp_sum(x, a->dim, a->keepdim, TN_NO_DTYPE))) != NULL;
    most = tnp_amax(tnp_real(tnp_detach(x)), a->dim, true);
    most =
        tnp_masked_fill_scalar(most, tnp_eq_scalar(tnp_abs(most), tn_float(HUGE_VAL)), tn_int(0));
    sum = tnp_log(tnp_sum(tnp_exp(tnp_sub(x, most, 1)), a->dim, a->keepdim, TN_NO_DTYPE));
    if (!sum) return false;
    return (f->out[0] = tnp_add(sum, tnp_reshape(most, tni_sizes(sum)), 1)) != NULL;
}
/* log(sum(exp(x))) over dim, or over all elements if dim is empty, without overflow. */
TN_OPERATOR(logsumexp, "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> floating, self's shape without dim, 1 there when keepdim",
                   .example = "tn_logsumexp(x, TN_DIMS(1))", .python = "special.logsumexp"),
            .forms = TN_OUT, .autocast = TN_WIDE_CUDA, .compose = logsumexp_compose,
            .sample = "(2,3) [1] | (2,3,4) [0,2] True | (3,70) [0] | (2,5000) [1]",
            .node = "LogsumexpBackward0")
