/* matmul.c - products of matrices: matmul with torch's broadcasting, addmm, and what they compose.
 * The loops are in cpu/matmul.c.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../cpu/matmul.h"
#include "../../call/arguments.h"
#include "../../cpu/lanes.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* --- checks ----------------------------------------------------------------------------------- */

static bool mm_check_dtypes(tn_frame *f, const tn_tensor *a, const tn_tensor *b) {
    if (a->dtype != b->dtype)
        return tn_fail(f, TN_TYPE, "both must have the same dtype, got %s and %s",
                       tni_dtype(a->dtype)->text, tni_dtype(b->dtype)->text);
    if (!tni_dtype(a->dtype)->computes)
        return tn_fail(f, TN_TYPE, "products of %s matrices are not supported",
                       tni_dtype(a->dtype)->text);
    return true;
}

/* Checks both operands, fills p and asks for scratch. */
static bool mm_check(tn_frame *f, tni_matmul_plan *p, const tn_tensor *a, const tn_tensor *b) {
    char x[160], y[160];
    int64_t floats;
    if (!mm_check_dtypes(f, a, b)) return false;
    if (!tni_matmul_plan_of(p, a, b))
        return a->ndim == 2 && b->ndim == 2
                   ? tn_fail(f, TN_INVALID,
                             "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                             (long long)a->size[0], (long long)a->size[1], (long long)b->size[0],
                             (long long)b->size[1])
                   : tn_fail(f, TN_INVALID, "shapes %s and %s cannot be multiplied",
                             tni_shape_text(x, sizeof x, a->ndim, a->size),
                             tni_shape_text(y, sizeof y, b->ndim, b->size));
    if (a->dtype == TN_BOOL && p->m * p->n * p->batches != 0) /* as torch: an empty one passes */
        return tn_fail(f, TN_TYPE, "products of bool matrices are not supported");
    if (a->dtype == TN_F16 || a->dtype == TN_BF16) {
        if (!tni_matmul_half_floats(p->m, p->k, p->n, &floats))
            return tn_fail(f, TN_MEMORY, "the product is too large");
        return tn_scratch(f, floats, 4);
    }
    if (a->dtype == TN_F32 || a->dtype == TN_F64) {
        const int64_t bytes = tni_matmul_packed_bytes(f->block->context, p, tni_dtype_size(a));
        return !bytes || tn_scratch(f, bytes, 1);
    }
    return true;
}

static tn_tensor *mm_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }
/* Conjugate transpose: what the gradient of a product multiplies with. */
static tn_tensor *mm_adjoint(tn_tensor *t) { return mm_conj(tnp_transpose(t, -2, -1)); }

/* --- matmul ----------------------------------------------------------------------------------- */

static bool matmul_check(tn_frame *f) {
    tni_matmul_plan p;
    return mm_check(f, &p, f->in[0], f->in[1]) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, p.ndim, p.result);
}
static void matmul_run(tn_frame *f) {
    tni_matmul_plan p;
    if (!tni_matmul_plan_of(&p, f->in[0], f->in[1])) return;
    tni_matmul_run(f->block->context, &p, f->in[0]->dtype, tni_bytes_at(f->in[0]),
                   tni_bytes_at(f->in[1]), tni_bytes_at(f->out[0]), 1, false, f->scratch);
}
/* t (..., m, n) as (rows, n): all batches at once, for the gradient of a matrix that they share. */
static tn_tensor *matmul_flat(tn_tensor *t, int64_t n) {
    const int64_t size[2] = {-1, n};
    return t->ndim == 2 ? t : tnp_reshape(t, tni_ints(size, 2));
}
/* dA = dC B^H, dB = A^H dC, where vectors are matrices of one row (left) or one column (right) */
static void matmul_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    /* Two vectors give one number: each gradient is that of the number times the other vector. */
    const bool row = a->ndim == 1, column = b->ndim == 1;
    if (row && column) {
        if (g->want[0]) tn_give(g, 0, tnp_mul(d, mm_conj(b)));
        if (g->want[1]) tn_give(g, 1, tnp_mul(d, mm_conj(a)));
        return;
    }
    /* Vectors get the dimension back that the product dropped. */
    if (row) d = tnp_unsqueeze(d, -2);
    if (column) d = tnp_unsqueeze(d, -1);
    if (g->want[0])
        tn_give(g, 0, tnp_matmul(d, column ? mm_conj(tnp_unsqueeze(b, 0)) : mm_adjoint(b)));
    if (!g->want[1]) return;
    if (row) a = tnp_unsqueeze(a, 0);
    if (!a || !d) return; /* an error is set */
    /* A matrix that all batches share: its gradient is one product over all their rows, not
     * a sum of many. */
    if (b->ndim == 2 && a->ndim > 2 && b->numel > 0) {
        a = matmul_flat(a, b->size[0]);
        d = matmul_flat(d, b->size[1]);
    }
    d = tnp_matmul(mm_adjoint(a), d);
    tn_give(g, 1, column ? tnp_squeeze_dim(d, -1) : d);
}
/* Operand i of all samples, a vector of one sample as a matrix of one row or one column. */
static tn_tensor *matmul_whole(const tn_frame *f, tn_tensor *const *whole, int i, int ndim) {
    tn_tensor *t = whole[i];
    if (!t) return f->in[i];
    if (f->in[i]->ndim > 1) return tni_whole_align(t, f->in[i]->ndim, ndim);
    t = tnp_unsqueeze(t, i ? -1 : -2);
    return t ? tni_whole_align(t, 2, ndim) : NULL;
}
static tn_tensor *matmul_batched(tn_frame *f, tn_tensor *const *whole) {
    const bool row = whole[0] && f->in[0]->ndim == 1, column = whole[1] && f->in[1]->ndim == 1;
    const int most = f->in[0]->ndim > f->in[1]->ndim ? f->in[0]->ndim : f->in[1]->ndim,
              ndim = most > 2 ? most : 2;
    tn_tensor *a = matmul_whole(f, whole, 0, ndim), *b = matmul_whole(f, whole, 1, ndim),
              *y = a && b ? tnp_matmul(a, b) : NULL;
    if (y && row) y = tnp_squeeze_dim(y, f->in[1]->ndim == 1 && !whole[1] ? -1 : -2);
    return y && column ? tnp_squeeze_dim(y, -1) : y;
}
/* The matrix product with torch's rules. A 1-D operand is a row on the left and a column on the
 * right; leading dimensions are batches and broadcast. Both have one dtype, not bool. */
TN_OPERATOR(matmul, "matmul(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "self (*, m, k), other (*, k, n) -> (*, m, n)",
                   .example = "tn_matmul(x, w)"),
            .forms = TN_OUT, .autocast = TN_LOWER, .needs = "self:other other:self",
            .check = matmul_check, .run = matmul_run, .grad = matmul_grad,
            .sample = "(3,4) (4,5) | (7,33) (33,19) | (2,3,4) (4,5) | (2,1,3,4) (3,4,2) | (4) (4) "
                      "| (4) (4,3) | (4) (2,4,3) | "
                      "(3,4) (4) | (2,3,4) (4) | (1,6) (6,40) | (5,400) (400,7) | (40,110) "
                      "(110,200) | (0,3) (3,2) | "
                      "(2,0) (0,3) | (2,3,2) (2,2,0)",
            .node = "DotBackward0 self=1 other=1 | MvBackward0 self=2 other=1 | MmBackward0 self=2 "
                    "other=2 | BmmBackward0 self=3 other=3",
            .batched = TN_BATCHED(matmul_batched))

/* --- addmm ------------------------------------------------------------------------------------ */

static bool addmm_check(tn_frame *f) {
    TN_ARGS(addmm, given, f);
    const tn_tensor *self = f->in[0], *a = f->in[1], *b = f->in[2];
    char has[160], wants[160];
    tni_matmul_plan p;
    tni_shape s;
    /* The product first: its shape is what self must broadcast to. */
    if (a->ndim != 2 || b->ndim != 2)
        return tn_fail(f, TN_INVALID, "mat1 and mat2 must have 2 dimensions, got %d and %d",
                       a->ndim, b->ndim);
    if (!mm_check(f, &p, a, b)) return false;
    if (self->dtype != a->dtype)
        return tn_fail(f, TN_TYPE, "self and mat1 must have the same dtype, got %s and %s",
                       tni_dtype(self->dtype)->text, tni_dtype(a->dtype)->text);
    /* Beside integers, factors lose their fraction. */
    if (!tni_double_fits(f, "beta", trunc(given->beta), self->dtype) ||
        !tni_double_fits(f, "alpha", trunc(given->alpha), self->dtype))
        return false;
    /* self must broadcast to the product, not the product to self. */
    s.ndim = 2;
    s.size[0] = p.result[0];
    s.size[1] = p.result[1];
    if (!tni_broadcast(&s, self->ndim, self->size) || s.ndim != 2 || s.size[0] != p.result[0] ||
        s.size[1] != p.result[1])
        return tn_fail(f, TN_INVALID, "self of shape %s does not broadcast to %s",
                       tni_shape_text(has, sizeof has, self->ndim, self->size),
                       tni_shape_text(wants, sizeof wants, 2, p.result));
    return tn_announce(f, 0, (tn_dtype)a->dtype, 2, p.result);
}
static int64_t mm_wrapped(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
/* out = beta * self, self broadcast to rows x cols; beta 0 does not read self. */
static void addmm_start(const tn_tensor *self, double beta, tn_tensor *out, int64_t rows,
                        int64_t cols) {
    enum { CHUNK = 256 };
    double room[CHUNK];
    float *f = (float *)room;
    int64_t *k = (int64_t *)room;
    /* Row and column steps of self, 0 where it is broadcast. */
    const int dtype = (int)tni_real_of(out->dtype), compute = tni_lanes_compute(out->dtype),
              d = self->ndim;
    const int64_t bytes = tni_dtype_size(out), part = tni_dtype(dtype)->bytes;
    const int64_t row = d > 1 && self->size[d - 2] != 1 ? self->stride[d - 2] * bytes : 0;
    const int64_t col = d > 0 && self->size[d - 1] != 1 ? self->stride[d - 1] * bytes : 0;
    if (beta == 1 && dtype == compute && (col == bytes || cols == 1)) { /* as it is */
        TNI_PATH(addmm_copied);
        for (int64_t i = 0; i < rows; i++)
            memmove(tni_bytes_at(out) + i * cols * bytes, tni_bytes_at(self) + i * row,
                    (size_t)(cols * bytes));
        return;
    }
    for (int64_t i = 0; i < rows * bytes / part; i++) /* of complex numbers, each part by itself */
        for (int64_t j = 0; j < cols; j += CHUNK) {
            const int64_t n = cols - j < CHUNK ? cols - j : (int64_t)CHUNK, r = i % rows,
                          at = i / rows * part;
            /* In the compute type, CHUNK elements of a row at a time. */
            if (beta == 0)
                memset(room, 0, sizeof room);
            else
                tni_lanes_load(room, compute, tni_bytes_at(self) + r * row + j * col + at, col,
                               dtype, n);
            for (int64_t q = 0; q < n && beta != 1; q++) {
                if (compute == TN_F32)
                    f[q] *= (float)beta;
                else if (compute == TN_F64)
                    room[q] *= beta;
                else
                    k[q] = mm_wrapped(k[q], (int64_t)beta);
            }
            /* Rounded to out's dtype, part by part of complex numbers. */
            tni_lanes_save(tni_bytes_at(out) + (r * cols + j) * bytes + at, bytes, dtype, room,
                           compute, n);
        }
}
static void addmm_run(tn_frame *f) {
    TN_ARGS(addmm, a, f);
    tn_tensor *out = f->out[0];
    tni_matmul_plan p;
    if (!tni_matmul_plan_of(&p, f->in[1], f->in[2])) return;
    /* The product is then added to what stands in out. */
    addmm_start(f->in[0], a->beta, out, p.result[0], p.result[1]);
    tni_matmul_run(f->block->context, &p, out->dtype, tni_bytes_at(f->in[1]),
                   tni_bytes_at(f->in[2]), tni_bytes_at(out), a->alpha, true, f->scratch);
}
static void addmm_grad(tn_gradient *g) {
    TN_ARGS(addmm, a, g);
    tn_tensor *d = g->incoming[0], *scaled = d;
    if (g->want[0]) tn_give(g, 0, a->beta == 1 ? d : tnp_mul_scalar(d, tn_float(a->beta)));
    if (a->alpha != 1 && (g->want[1] || g->want[2])) scaled = tnp_mul_scalar(d, tn_float(a->alpha));
    if (g->want[1]) tn_give(g, 1, tnp_matmul(scaled, mm_adjoint(g->in[2])));
    if (g->want[2]) tn_give(g, 2, tnp_matmul(mm_adjoint(g->in[1]), scaled));
}
/* Floats by three calls, unless self is ignored. */
static tn_tensor *addmm_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(addmm, a, f);
    tn_tensor *y, *self = whole[0] ? tni_whole_align(whole[0], f->in[0]->ndim, 2) : f->in[0];
    if (a->beta == 0 || tni_dtype(f->in[1]->dtype)->category < TNI_CAT_FLOAT) return NULL;
    y = tnp_matmul(tni_whole_input(f, whole, 1), tni_whole_input(f, whole, 2));
    if (y && a->alpha != 1) y = tnp_mul_scalar(y, tn_float(a->alpha));
    if (self && a->beta != 1) self = tnp_mul_scalar(self, tn_float(a->beta));
    return y && self ? tnp_add(y, self, 1) : NULL;
}
/* beta * self + alpha * mat1 mat2, where self is broadcast. If beta is 0, self is ignored,
 * even a NaN. */
TN_OPERATOR(
    addmm,
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    TN_DOC(.shapes = "self (m, n) or broadcast to it, mat1 (m, k), mat2 (k, n) -> (m, n)",
           .example = "tn_addmm(b, x, w, .alpha = 2)"),
    .forms = TN_OUT, .autocast = TN_LOWER, .needs = "mat1:mat2 mat2:mat1", .check = addmm_check,
    .run = addmm_run, .grad = addmm_grad,
    .sample = "(5) (4,3) (3,5) | (4,5) (4,3) (3,5) beta=3 alpha=2 | () (1,6) (6,40) beta=0 | (4,1) "
              "(4,400) (400,3) | "
              "(48,64) (48,40) (40,64) | (3) (2,0) (0,3)",
    .batched = TN_BATCHED(addmm_batched))

/* --- composed products ------------------------------------------------------------------------ */

static bool mm_dims(tn_frame *f, const tn_tensor *a, int da, const tn_tensor *b, int db) {
    if (a->ndim == da && b->ndim == db) return true;
    return tn_fail(f, TN_INVALID, "expected tensors of %d and %d dimensions, got %d and %d", da, db,
                   a->ndim, b->ndim);
}

static bool mm_compose(tn_frame *f) {
    return mm_dims(f, f->in[0], 2, f->in[1], 2) &&
           (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* The product of two matrices, without broadcasting. */
TN_OPERATOR(mm, "mm(Tensor self, Tensor mat2) -> Tensor",
            TN_DOC(.shapes = "self (m, k), mat2 (k, n) -> (m, n)", .example = "tn_mm(x, y)"),
            .forms = TN_OUT, .autocast = TN_LOWER, .compose = mm_compose,
            .sample = "(3,4) (4,5) | (0,4) (4,2)")

static bool bmm_compose(tn_frame *f) {
    const tn_tensor *a = f->in[0], *b = f->in[1];
    if (!mm_dims(f, a, 3, b, 3)) return false;
    if (a->size[0] != b->size[0])
        return tn_fail(f, TN_INVALID, "batch sizes differ: %lld and %lld matrices",
                       (long long)a->size[0], (long long)b->size[0]);
    return (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* The products of two batches of matrices, pair by pair. */
TN_OPERATOR(bmm, "bmm(Tensor self, Tensor mat2) -> Tensor",
            TN_DOC(.shapes = "self (b, m, k), mat2 (b, k, n) -> (b, m, n)",
                   .example = "tn_bmm(x, y)"),
            .forms = TN_OUT, .autocast = TN_LOWER, .compose = bmm_compose,
            .sample = "(2,3,4) (2,4,5) | (20,7,9) (20,9,17) | (0,3,4) (0,4,5)")

static bool mv_compose(tn_frame *f) {
    return mm_dims(f, f->in[0], 2, f->in[1], 1) &&
           (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* The product of a matrix and a vector. */
TN_OPERATOR(mv, "mv(Tensor self, Tensor vec) -> Tensor",
            TN_DOC(.shapes = "self (m, k), vec (k) -> (m)", .example = "tn_mv(x, v)"),
            .forms = TN_OUT, .autocast = TN_UNCAST_CPU | TN_LOWER_CUDA, .compose = mv_compose,
            .sample = "(3,4) (4) | (50,390) (390)")

static bool dot_compose(tn_frame *f) {
    const tn_tensor *a = f->in[0], *b = f->in[1];
    if (a->ndim != 1 || b->ndim != 1)
        return tn_fail(f, TN_INVALID, "1D tensors expected, but got %dD and %dD tensors", a->ndim,
                       b->ndim);
    if (a->dtype != b->dtype)
        return tn_fail(f, TN_TYPE,
                       "dot : expected both vectors to have same dtype, but found %s and %s",
                       tni_dtype(a->dtype)->text, tni_dtype(b->dtype)->text);
    if (a->numel != b->numel)
        return tn_fail(f, TN_INVALID, "inconsistent tensor size, got %lld and %lld elements",
                       (long long)a->numel, (long long)b->numel);
    return (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* The sum of the products of two vectors; neither is conjugated. */
TN_OPERATOR(dot, "dot(Tensor self, Tensor tensor) -> Tensor",
            TN_DOC(.shapes = "self (n), tensor (n) -> ()", .example = "tn_dot(x, y)"),
            .forms = TN_OUT, .autocast = TN_UNCAST_CPU | TN_WIDEST_CUDA, .compose = dot_compose,
            .sample = "(4) (4) | (0) (0) | (400) (400) | (3100) (3100)")

/* A column times a row. */
static bool outer_compose(tn_frame *f) {
    for (int i = 0; i < 2; i++)
        if (f->in[i]->ndim != 1)
            return tn_fail(f, TN_INVALID, "'%s' must have 1 dimension, got %d", i ? "vec2" : "self",
                           f->in[i]->ndim);
    f->out[0] = tnp_mul(tnp_unsqueeze(f->in[0], 1), f->in[1]);
    return f->out[0] != NULL;
}
/* The products of each element of self and each of vec2. */
TN_OPERATOR(outer, "outer(Tensor self, Tensor vec2) -> Tensor",
            TN_DOC(.shapes = "self (n), vec2 (m) -> (n, m)", .example = "tn_outer(x, y)"),
            .forms = TN_OUT, .compose = outer_compose,
            .sample = "(35) (3) | (2) (0) | (3):i64 (4) | (2):bool (3):bool | (0) (2)",
            .node = "MulBackward0")

/* --- linear ----------------------------------------------------------------------------------- */

static bool linear_rows_check(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1], *bias = f->in[2];
    int64_t dims[4];
    char has[160];
    tni_matmul_plan p;
    tn_tensor wt;
    if (!mm_dims(f, x, 2, w, 2)) return false;
    /* The transpose is a header on the stack: only its strides are read. */
    tni_matmul_turned(&wt, w, dims);
    if (!mm_check(f, &p, x, &wt)) return false;
    if (bias && bias->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "bias and input must have the same dtype, got %s and %s",
                       tni_dtype(bias->dtype)->text, tni_dtype(x->dtype)->text);
    if (bias &&
        (bias->ndim > 1 || (bias->ndim == 1 && bias->size[0] != w->size[0] && bias->size[0] != 1)))
        return tn_fail(f, TN_INVALID, "expected bias (%lld), got %s", (long long)w->size[0],
                       tni_shape_text(has, sizeof has, bias->ndim, bias->size));
    return tn_announce(f, 0, (tn_dtype)x->dtype, 2, p.result);
}
static void linear_rows_run(tn_frame *f) {
    tn_tensor *out = f->out[0];
    int64_t dims[4];
    tn_tensor wt;
    tni_matmul_plan p;
    /* The weight is read transposed, where it lies. */
    tni_matmul_turned(&wt, f->in[1], dims);
    if (!tni_matmul_plan_of(&p, f->in[0], &wt)) return;
    if (f->in[2]) addmm_start(f->in[2], 1, out, p.result[0], p.result[1]);
    tni_matmul_run(f->block->context, &p, out->dtype, tni_bytes_at(f->in[0]),
                   tni_bytes_at(f->in[1]), tni_bytes_at(out), 1, f->in[2] != NULL, f->scratch);
}
static void linear_rows_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_matmul(d, mm_conj(g->in[1])));
    if (g->want[1]) tn_give(g, 1, tnp_matmul(tnp_transpose(d, 0, 1), mm_conj(g->in[0])));
    if (g->in[2] && g->want[2]) tn_give(g, 2, d);
}
/* Samples with one weight are more rows; others are products. */
static tn_tensor *linear_rows_batched(tn_frame *f, tn_tensor *const *whole) {
    tn_tensor *x = tni_whole_input(f, whole, 0), *w = whole[1], *bias = whole[2], *y;
    if (!w && !bias)
        return tni_whole_split(tnp_linear_rows(tni_whole_join(x), f->in[1], f->in[2]),
                               whole[0]->size[0]);
    w = tnp_transpose(tni_whole_input(f, whole, 1), -2, -1);
    y = w ? tnp_matmul(x, w) : NULL;
    if (!y || !f->in[2]) return y;
    bias = bias ? tni_whole_align(bias, 1, 2) : f->in[2];
    return bias ? tnp_add(y, bias, 1) : NULL;
}
/* linear for one batch of rows. The gradient of weight has the same memory layout as weight. */
TN_OPERATOR(
    linear_rows, "linear_rows(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    TN_DOC(.shapes = "input (m, k), weight (n, k), bias (n) -> (m, n)",
           .example = "tn_linear_rows(x, w, .bias = b)"),
    .forms = TN_OUT, .autocast = TN_LOWER, .needs = "input:weight weight:input",
    .check = linear_rows_check, .run = linear_rows_run, .grad = linear_rows_grad,
    .sample = "(3,4) (5,4) (5) | (3,4) (5,4) | (64,100) (40,100) (40) | (7,390) (1,390) (1)",
    .node = "MmBackward0 bias=None | AddmmBackward0", .batched = TN_BATCHED(linear_rows_batched))

/* Rows of a contiguous input are one batch; any other goes through matmul. */
static bool linear_compose(tn_frame *f) {
    tn_tensor *x = f->in[0], *w = f->in[1], *bias = f->in[2], *y;
    char has[160];
    int64_t flat[2] = {-1, 0}, size[TN_MAX_DIMS];
    if (w->ndim != 2 && (w->ndim != 1 || bias))
        return tn_fail(f, TN_INVALID, "weight must have 2 dimensions, or 1 without bias, got %d",
                       w->ndim);
    if (x->ndim == 0 || x->size[x->ndim - 1] != w->size[w->ndim - 1])
        return tn_fail(f, TN_INVALID, "expected input (*, %lld), got %s",
                       (long long)w->size[w->ndim - 1],
                       tni_shape_text(has, sizeof has, x->ndim, x->size));
    /* By the number of dimensions: a vector of weights, rows, anything else that is no
     * single batch. */
    if (w->ndim == 1) return (f->out[0] = tnp_matmul(x, w)) != NULL;
    if (x->ndim == 2) return (f->out[0] = tnp_linear_rows(x, w, bias)) != NULL;
    if (x->ndim == 1 || !(x->flags & TNI_CONTIGUOUS) || x->numel == 0) {
        y = tnp_matmul(x, tnp_transpose(w, 0, 1));
        return (f->out[0] = bias ? tnp_add(y, bias, 1) : y) != NULL;
    }
    /* All leading dimensions as rows of one batch. */
    flat[1] = x->size[x->ndim - 1];
    memcpy(size, x->size, (size_t)x->ndim * sizeof *size);
    size[x->ndim - 1] = w->size[0];
    y = tnp_linear_rows(tnp_reshape(x, tni_ints(flat, 2)), w, bias);
    return (f->out[0] = tnp_reshape(y, tni_ints(size, x->ndim))) != NULL;
}
/* Whether a call of linear is one of linear_rows of which nothing is odd or wrong. */
static bool linear_is_rows(const tni_block *b, const tn_linear_args *a) {
    const tn_tensor *x = a->input, *w = a->weight, *bias = a->bias;
    unsigned odd = TNI_META | TNI_GHOST | TNI_STACK;
    if (a->out || !x || !w || x->ndim != 2 || w->ndim != 2 || x->size[1] != w->size[1] ||
        x->dtype != w->dtype || x->dtype == TN_BOOL || !tni_dtype(x->dtype)->computes ||
        x->owner->context != b->context || w->owner->context != b->context)
        return false;
    odd &= (unsigned)x->flags | w->flags | (bias ? bias->flags : 0u);
    return !odd && (!bias || (bias->ndim == 1 && bias->size[0] == w->size[0] &&
                              bias->dtype == x->dtype && bias->owner->context == b->context));
}
/* Such a call needs no scope of its own. */
static bool linear_short(const tn_row *row, unsigned how, const char *file, int line,
                         const void *args, void *results) {
    const tn_linear_args *a = (const tn_linear_args *)args;
    const tni_block *b = tni_here();
    if (b && how == TN_PLAIN && !tni_load_relaxed(&b->hooks) && linear_is_rows(b, a)) {
        const tn_linear_rows_args same = {NULL, a->bias, a->input, a->weight};
        TNI_PATH(linear_short);
        return tni_call_long(&tni_row_linear_rows, TN_PLAIN, file, line, &same, results);
    }
    return tni_call_long(row, how, file, line, args, results);
}
/* input weight^T + bias; without bias, input weight^T. */
TN_OPERATOR(linear, "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
            TN_DOC(.shapes = "input (*, in), weight (out, in), bias (out) -> (*, out)",
                   .example = "tn_linear(x, w, .bias = b)", .python = "nn.functional.linear"),
            .forms = TN_OUT, .autocast = TN_LOWER, .quick = linear_short, .compose = linear_compose,
            .sample = "(3,4) (5,4) (5) | (3,4) (5,4) | (4) (5,4) (5) | (2,3,4) (5,4) (5) | (2,3,4) "
                      "(4) | (64,100) (40,100) (40)")
