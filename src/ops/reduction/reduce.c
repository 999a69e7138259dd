/* reduce.c - reductions: sums, products, extrema, statistics, norms, truth, and running sums.
 *
 * Each has a reducer (lanes.h) that says what is known of a block and how two neighbours join;
 * order and threads are the plan's. Sums of f16 and bf16 are made in f32 and rounded once; sums of
 * integers are int64.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"
#include "../../autograd/give.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- shapes ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_reduced(tn_frame *f, const tn_tensor *x, tn_ints dim, bool keepdim, tni_shape *to,
                         bool *gone) {
    bool all = dim.n <= 0;
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = all;
    for (int64_t i = 0; i < dim.n; i++) {
        int d = tni_dim(x->ndim, dim.at[i]);
        if (d < 0)
            return tn_fail(f, TN_INDEX, "dim %lld is out of range for %d dimensions",
                           (long long)dim.at[i], x->ndim);
        if (gone[d]) return tn_fail(f, TN_INVALID, "dim %d appears twice", d);
        gone[d] = true;
    }
    to->ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!gone[d])
            to->size[to->ndim++] = x->size[d];
        else if (keepdim)
            to->size[to->ndim++] = 1;
    }
    return true;
}

static tn_ints reduce_one(const int64_t *dim) { return tni_ints(dim, *dim == TN_NONE ? -1 : 1); }

static bool reduce_not_empty(tn_frame *f, const tn_tensor *x, const bool *gone) {
    for (int d = 0; d < x->ndim; d++)
        if (gone[d] && x->size[d] == 0)
            return tn_fail(f, TN_INVALID, "cannot choose an element along dim %d, which is empty",
                           d);
    return true;
}

/* --- plain reductions ------------------------------------------------------------------------- */

enum { REDUCE_PLAIN, REDUCE_MEAN };

static void plain_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t n,
                        int64_t first, void *to) {
    (void)first;
    tni_reduce_block(r->kernels, r->op, l->compute, x, n, to);
}

static void plain_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                       int64_t rows, int64_t n, int64_t first, void *to) {
    (void)first;
    tni_fill_lanes(to, l->compute, tni_reduce_identity(r->op), n);
    tni_reduce_rows(r->kernels, r->op, l->compute, x, step, rows, n, to);
}

static void plain_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b, int64_t n,
                        int64_t na, int64_t nb) {
    (void)na, (void)nb;
    tni_reduce_rows(r->kernels, r->op, l->compute, b, 0, 1, n, a);
}

/* A mean ends in a division in the compute type. */
static void plain_finish(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n) {
    float *s = (float *)parts;
    double *d = (double *)parts;
    bool single = l->compute == TN_F32;
    if (r->finish == REDUCE_MEAN) {
        for (int64_t i = 0; i < n; i++)
            if (single)
                s[i] = s[i] / (float)l->n;
            else
                d[i] = d[i] / (double)l->n;
    }
}

static void plain_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                        int64_t at) {
    int64_t bytes = tni_dtype(r->out_dtype)->bytes;
    if (r->finish) plain_finish(r, l, parts, n);
    tni_lanes_write(r->kernels, (char *)r->out[0] + at * bytes, l->width_out * bytes, r->out_dtype,
                    parts, l->compute, n);
}

/* The reduction of in[0] into out[k]; a complex result is one of twice as many reals. */
static void reduce_run(tn_frame *f, tni_lanes *l, int op, int k, int finish) {
    tn_context *c = f->block->context;
    tn_tensor *out = f->out[k];
    tni_reducer r = {l->size, plain_block,  plain_rows, plain_merge, plain_store, c->kernels,
                     op,      {NULL, NULL}, 0,          0,           0,           finish};
    if (!out->numel) return;
    r.out[0] = tni_bytes_at(out);
    r.out_dtype = tni_is_complex(out->dtype) ? (int)tni_real_of(out->dtype) : out->dtype;
    tni_lanes_run(c, l, &r, f->scratch);
}

/* Whether all elements are reduced and are one block of memory: then one kernel call does it. */
static bool reduce_is_block(const tn_tensor *x, tn_ints dim, tn_dtype dtype, int compute) {
    return dim.n <= 0 && x->dtype == compute && (int)dtype == compute && x->numel > 0 &&
           x->numel <= TNI_BLOCK && tni_is_flat(x);
}

static void reduce_block_run(tn_frame *f, int op, int finish) {
    const tn_tensor *x = f->in[0];
    char *out = tni_bytes_at(f->out[0]);
    union {
        float f;
        double d;
        int64_t k;
    } part;
    TNI_PATH(reduce_whole_block);
    tni_reduce_block(f->block->context->kernels, op, f->type, tni_bytes_at(x), x->numel, &part);
    if (finish == REDUCE_MEAN && f->type == TN_F32)
        part.f /= (float)x->numel;
    else if (finish == REDUCE_MEAN)
        part.d /= (double)x->numel;
    memcpy(out, &part, (size_t)tni_dtype_size(f->out[0]));
}

/* A result in bool is that of elements in bool: a sum or product may wrap to 0. */
static int reduce_how(tn_dtype dtype) { return dtype == TN_BOOL ? TNI_LANES_NONZERO : 0; }

typedef struct reduce_note {
    bool block; /* all of self is one block of contiguous elements */
} reduce_note;

/* check and run of a row whose result has the shape of self without dim. */
static bool reduce_check(tn_frame *f, tn_ints dim, bool keepdim, tn_dtype dtype, int compute,
                         bool choose) {
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    TN_NOTE(reduce_note, note, f);
    note->block = !keepdim && reduce_is_block(f->in[0], dim, dtype, compute);
    f->type = (uint8_t)compute;
    if (note->block) return tn_announce(f, 0, dtype, 0, NULL);
    if (!tni_reduced(f, f->in[0], dim, keepdim, &to, gone)) return false;
    if (choose && !reduce_not_empty(f, f->in[0], gone)) return false;
    tni_lanes_init(&l, f->in[0], gone, compute, reduce_how(dtype));
    return tn_announce(f, 0, dtype, to.ndim, to.size) && tni_lanes_scratch(f, &l, l.size);
}

static void reduce_lanes(tn_frame *f, tni_lanes *l, tn_ints dim, int how) {
    bool gone[TN_MAX_DIMS];
    tni_dims_gone(f->in[0], dim, gone);
    tni_lanes_init(l, f->in[0], gone, f->type, how);
}

static void reduce_plain(tn_frame *f, tn_ints dim, int op, int finish) {
    tni_lanes l;
    TN_NOTE(reduce_note, note, f);
    if (note->block) {
        reduce_block_run(f, op, finish);
        return;
    }
    reduce_lanes(f, &l, dim, reduce_how((tn_dtype)f->out[0]->dtype));
    reduce_run(f, &l, op, 0, finish);
}

/* dtype of a sum: as asked, int64 of integers and bool, else self's. */
static tn_dtype reduce_sum_dtype(const tn_tensor *x, tn_dtype asked) {
    return asked                                          ? asked
           : tni_dtype(x->dtype)->category <= TNI_CAT_INT ? TN_I64
                                                          : (tn_dtype)x->dtype;
}

static bool reduce_computes(tn_frame *f, const tn_tensor *x, tn_dtype dtype) {
    if (!tni_dtype(x->dtype)->computes || !tni_dtype((int)dtype)->computes)
        return tn_fail(f, TN_TYPE, "arithmetic in dtype %s is not supported; convert it first",
                       tni_dtype(tni_dtype(x->dtype)->computes ? (int)dtype : x->dtype)->text);
    if (tni_is_complex(x->dtype) != tni_is_complex((int)dtype))
        return tn_fail(f, TN_TYPE, "cannot convert from %s to %s; convert the input instead",
                       tni_dtype(x->dtype)->text, tni_dtype((int)dtype)->text);
    return true;
}

/* --- sum and mean ----------------------------------------------------------------------------- */

static bool sum_check(tn_frame *f) {
    TN_ARGS(sum, a, f);
    tn_dtype dtype = reduce_sum_dtype(a->self, a->dtype);
    return reduce_computes(f, a->self, dtype) &&
           reduce_check(f, a->dim, a->keepdim, dtype, tni_lanes_compute((int)dtype), false);
}
static void sum_run(tn_frame *f) {
    TN_ARGS(sum, a, f);
    reduce_plain(f, a->dim, TNI_SUM, REDUCE_PLAIN);
}
static void sum_grad(tn_gradient *g) {
    TN_ARGS(sum, a, g);
    tn_tensor *d = tni_dims_keep(g->incoming[0], a->self, a->dim, a->keepdim);
    tn_give(g, 0, tnp_expand(d, tni_sizes(a->self), false));
}
static void sum_fused(tn_gradient *g) {
    TN_ARGS(sum, a, g);
    int64_t stride[TN_MAX_DIMS] = {0};
    tn_tensor *d = g->incoming[0], *t;
    if (d->ndim || d->flags & TNI_META) {
        sum_grad(g);
        return;
    }
    t = tni_header(g->block, d->dtype, a->self->ndim, a->self->size, stride);
    if (!t) return;
    t->storage = d->storage;
    t->offset = d->offset;
    tni_fetch_add_relaxed(&d->storage->refs, 1u);
    tn_give(g, 0, t);
}
/* The sum over dim, or over all elements if dim is absent. Integers and bool are summed in int64,
 * f16 and bf16 in float. */
TN_OPERATOR(sum,
            "sum.dim_IntList(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
            "dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_sum(x, .dim = TN_DIMS(0, 2))",
                   .differs = "parameter dim: one row for torch's overloads with and without it"),
            .forms = TN_OUT, .check = sum_check, .run = sum_run, .grad = sum_grad,
            .fused = sum_fused, .domain = "self:-1..2",
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | (70,3) "
                      "[0] | (5,4,6) [-1,0] | "
                      "() | (0,3) [0] | (0,3) [1] | (9000) | (2,5000) [1] | (5000,2) [0] | "
                      "(1100,40) [0] | (70000) | "
                      "(4,5):i32 [0] | (4,5):bool | (3,4) dtype=float64 | (6):f16 [0] | "
                      "(3,200):bf16 [1] | (2,3):c64 [0]",
            .node = "SumBackward0 dim=None | SumBackward1")

static bool mean_check(tn_frame *f) {
    TN_ARGS(mean, a, f);
    tn_dtype dtype = a->dtype ? a->dtype : (tn_dtype)a->self->dtype;
    if (tni_dtype((int)dtype)->category < TNI_CAT_FLOAT)
        return tn_fail(f, TN_TYPE, "mean needs a floating or complex dtype, got %s",
                       tni_dtype((int)dtype)->text);
    if (tni_is_complex((int)dtype) || tni_is_complex(a->self->dtype))
        if (!reduce_computes(f, a->self, dtype)) return false;
    return reduce_check(f, a->dim, a->keepdim, dtype, tni_lanes_compute((int)dtype), false);
}
static void mean_run(tn_frame *f) {
    TN_ARGS(mean, a, f);
    reduce_plain(f, a->dim, TNI_SUM, REDUCE_MEAN);
}
static void mean_grad(tn_gradient *g) {
    TN_ARGS(mean, a, g);
    tn_tensor *d = tni_dims_keep(g->incoming[0], a->self, a->dim, a->keepdim);
    double n = tni_dims_count(a->self, a->dim);
    tn_give(g, 0, tnp_div_scalar(tnp_expand(d, tni_sizes(a->self), false), tn_float(n)));
}
/* The sum over dim divided by the number of elements; NaN if there are none.
 * Floating or complex. */
TN_OPERATOR(mean,
            "mean.dim(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
            "dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_mean(x, .dim = TN_DIMS(-1))",
                   .differs = "parameter dim: one row for torch's overloads with and without it"),
            .forms = TN_OUT, .check = mean_check, .run = mean_run, .grad = mean_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (1100,40) [0] | "
                      "(3,4):i32 dtype=float32 | (6):f16 [0] | (2,3):c64 [0] | (0,3) [0]",
            .node = "MeanBackward0 dim=None | MeanBackward1")

/* --- products --------------------------------------------------------------------------------- */

static bool prod_check(tn_frame *f) {
    TN_ARGS(prod, a, f);
    tn_dtype dtype = reduce_sum_dtype(a->self, a->dtype);
    return reduce_computes(f, a->self, dtype) &&
           reduce_check(f, reduce_one(&a->dim), a->keepdim, dtype, tni_lanes_compute((int)dtype),
                        false);
}
static void prod_run(tn_frame *f) {
    TN_ARGS(prod, a, f);
    if (tni_is_complex(a->self->dtype))
        tni_prod_complex(f, reduce_one(&a->dim));
    else
        reduce_plain(f, reduce_one(&a->dim), TNI_PROD, REDUCE_PLAIN);
}
/* dx_i = dy * (product of the others), of those before and those after it: zeros are like other
 * elements, in further derivatives, too. */
static void prod_grad(tn_gradient *g) {
    TN_ARGS(prod, a, g);
    const tn_tensor *self = a->self;
    tn_ints dim = reduce_one(&a->dim);
    int64_t all = -1;
    tn_tensor *x = dim.n < 0 ? tnp_reshape(g->in[0], tn_ints_of(&all, 1)) : g->in[0], *others;
    if (!self->numel) {
        tni_give_flat(g, 0, tnp_zeros_like(g->in[0], TN_NO_DTYPE, TN_NO_DEVICE));
        return;
    }
    others = self->ndim ? tni_prod_others(x, dim.n < 0 ? 0 : tni_dim(self->ndim, a->dim)) : NULL;
    x = tni_dims_keep(g->incoming[0], self, dim, a->keepdim);
    tn_give(g, 0, self->ndim ? tnp_mul(x, tnp_reshape(others, tni_sizes(self))) : x);
}
/* The same by a division: result / x_i where no element is zero. Where one is, it alone gets the
 * product of the others; where two are, all get zero. */
static void prod_fused(tn_gradient *g) {
    TN_ARGS(prod, a, g);
    tn_ints dim = reduce_one(&a->dim);
    tn_tensor *x = g->in[0], *zero = tnp_eq_scalar(x, tn_int(0));
    tn_tensor *d = tni_dims_keep(g->incoming[0], a->self, dim, a->keepdim);
    tn_tensor *filled = tnp_masked_fill_scalar(x, zero, tn_int(1));
    tn_tensor *others = tnp_prod(filled, dim.n < 0 ? TN_NONE : a->dim, false, TN_NO_DTYPE);
    tn_tensor *count = tnp_sum(zero, dim, true, TN_NO_DTYPE);
    tn_tensor *none = tnp_eq_scalar(count, tn_int(0)),
              *only = tnp_mul(tnp_eq_scalar(count, tn_int(1)), zero);
    tn_tensor *share = tnp_div(tni_dims_keep(others, a->self, dim, false), filled);
    if (share && tni_is_complex(share->dtype)) share = tnp_conj(share);
    tn_give(g, 0,
            tnp_mul(tnp_mul(d, share), tnp_add(tnp_mul(none, tnp_logical_not(zero)), only, 1)));
}
/* The product over dim, or of all elements if dim is absent. Integers and bool are
 * multiplied in int64. */
TN_OPERATOR(prod,
            "prod.dim_int(Tensor self, int? dim=None, bool keepdim=False, *, ScalarType? "
            "dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_prod(x, .dim = 1)",
                   .differs = "parameter dim: one row for torch's overloads with and without it"),
            .forms = TN_OUT, .needs = "self", .check = prod_check, .run = prod_run,
            .grad = prod_grad, .fused = prod_fused, .domain = "self:0.5..1.5",
            .sample = "(2,3) | (2,3,4) 1 | (3,70) 0 | (2,90) -1 keepdim=True | () | (0) | "
                      "(4,5):i32 0 | (6):f16 0 | (20000,2):c64 0 | (4):c64 dtype=complex128",
            .node = "ProdBackward0 dim=None | ProdBackward1")

/* --- extrema ---------------------------------------------------------------------------------- */

static bool extreme_dtype(tn_frame *f, const tn_tensor *x) {
    if (tni_is_complex(x->dtype)) return tn_fail(f, TN_TYPE, "complex numbers cannot be ordered");
    if (!tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_TYPE, "dtype %s cannot be ordered", tni_dtype(x->dtype)->text);
    return true;
}
static bool extreme_check(tn_frame *f, tn_ints dim, bool keepdim) {
    const tn_tensor *x = f->in[0];
    return extreme_dtype(f, x) &&
           reduce_check(f, dim, keepdim, (tn_dtype)x->dtype, tni_lanes_compute(x->dtype), true);
}
static void extreme_run(tn_frame *f, tn_ints dim, int op, int k) {
    tni_lanes l;
    reduce_lanes(f, &l, dim, 0);
    reduce_run(f, &l, op, k, REDUCE_PLAIN);
}
/* Equal extrema share the gradient. */
static tn_tensor *extreme_shared(tn_tensor *d, tn_tensor *x, tn_tensor *result, tn_ints dim,
                                 bool keepdim) {
    tn_tensor *kept = tni_dims_keep(result, x, dim, keepdim), *mask = tnp_eq(x, kept);
    d = tnp_div(tni_dims_keep(d, x, dim, keepdim), tnp_sum(mask, dim, true, TN_NO_DTYPE));
    return tnp_mul(d, mask);
}

static bool amax_check(tn_frame *f) {
    TN_ARGS(amax, a, f);
    return extreme_check(f, a->dim, a->keepdim);
}
static void amax_run(tn_frame *f) {
    TN_ARGS(amax, a, f);
    extreme_run(f, a->dim, TNI_MAX, 0);
}
static void amax_grad(tn_gradient *g) {
    TN_ARGS(amax, a, g);
    tn_give(g, 0, extreme_shared(g->incoming[0], g->in[0], g->out[0], a->dim, a->keepdim));
}
/* The largest element over dim, or of all elements if dim is empty. A NaN wins. Equal elements
 * share the gradient. */
TN_OPERATOR(amax, "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_amax(x, .dim = TN_DIMS(0, 1))"),
            .forms = TN_OUT, .needs = "self,result", .check = amax_check, .run = amax_run,
            .grad = amax_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (200,40) [0] | "
                      "(4,5):i32 [0] | (4,5):u8 | (6):f16 [0] | (3,5):bool [1] | (2,0,3) [0]")

static bool amin_check(tn_frame *f) {
    TN_ARGS(amin, a, f);
    return extreme_check(f, a->dim, a->keepdim);
}
static void amin_run(tn_frame *f) {
    TN_ARGS(amin, a, f);
    extreme_run(f, a->dim, TNI_MIN, 0);
}
static void amin_grad(tn_gradient *g) {
    TN_ARGS(amin, a, g);
    tn_give(g, 0, extreme_shared(g->incoming[0], g->in[0], g->out[0], a->dim, a->keepdim));
}
/* The smallest element over dim, or of all elements if dim is empty. A NaN wins. Equal elements
 * share the gradient. */
TN_OPERATOR(amin, "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_amin(x, .dim = TN_DIMS(0, 1))"),
            .forms = TN_OUT, .needs = "self,result", .check = amin_check, .run = amin_run,
            .grad = amin_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (200,40) [0] | "
                      "(4,5):i64 [0] | (6):bf16 [0]")

/* Of all elements; where a NaN has won, those that are NaN share it. */
static void extreme_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *mask = tnp_logical_or(tnp_eq(x, g->out[0]), tnp_isnan(x)), *d;
    const tn_dtype dtype = (tn_dtype)x->dtype, count = dtype == TN_F64 ? TN_F64 : TN_F32;
    d = tnp_div(g->incoming[0], tnp_sum(mask, tn_no_dims(), false, count));
    d = dtype == count ? d : tnp_to_dtype(d, dtype, false, false);
    tn_give(g, 0, tnp_where_scalar(mask, d, tn_int(0)));
}

static bool max_check(tn_frame *f) { return extreme_check(f, tn_no_dims(), false); }
static void max_run(tn_frame *f) { extreme_run(f, tn_no_dims(), TNI_MAX, 0); }
/* The largest of all elements. A NaN wins. Equal elements share the gradient. */
TN_OPERATOR(max, "max(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_max(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = max_check, .run = max_run, .grad = extreme_grad,
            .sample = "(2,3,4) | () | (9000) | (4,5):i32", .node = "MaxBackward1")

static bool min_check(tn_frame *f) { return extreme_check(f, tn_no_dims(), false); }
static void min_run(tn_frame *f) { extreme_run(f, tn_no_dims(), TNI_MIN, 0); }
/* The smallest of all elements. A NaN wins. Equal elements share the gradient. */
TN_OPERATOR(min, "min(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_min(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = min_check, .run = min_run, .grad = extreme_grad,
            .sample = "(2,3,4) | () | (9000) | (4,5):i32", .node = "MinBackward1")

static bool aminmax_check(tn_frame *f) {
    TN_ARGS(aminmax, a, f);
    tn_ints dim = reduce_one(&a->dim);
    tni_shape to;
    bool gone[TN_MAX_DIMS];
    return extreme_check(f, dim, a->keepdim) &&
           tni_reduced(f, a->self, dim, a->keepdim, &to, gone) &&
           tn_announce(f, 1, (tn_dtype)a->self->dtype, to.ndim, to.size);
}
static void aminmax_run(tn_frame *f) {
    TN_ARGS(aminmax, a, f);
    extreme_run(f, reduce_one(&a->dim), TNI_MIN, 0);
    extreme_run(f, reduce_one(&a->dim), TNI_MAX, 1);
}
static void aminmax_grad(tn_gradient *g) {
    TN_ARGS(aminmax, a, g);
    for (int k = 0; k < 2; k++)
        if (g->incoming[k])
            tn_give(g, 0,
                    extreme_shared(g->incoming[k], g->in[0], g->out[k], reduce_one(&a->dim),
                                   a->keepdim));
}
/* The smallest and the largest element along dim, or of all elements if dim is absent. */
TN_OPERATOR(
    aminmax,
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    TN_DOC(.shapes = "self (*) -> min, max: self's shape without dim, 1 there when keepdim",
           .example = "tn_min_max m = tn_aminmax(x, .dim = 0);"),
    .forms = TN_OUT, .needs = "self,min,max", .check = aminmax_check, .run = aminmax_run,
    .grad = aminmax_grad,
    .sample = "(2,3,4) | (2,3,4) dim=1 | (3,4) dim=-1 keepdim=True | () | (4,5):i32 dim=0")

/* --- extrema with their places ---------------------------------------------------------------- */

typedef struct arg_part {
    double value; /* of an I64, its bits */
    int64_t index;
} arg_part;

static bool arg_better_f64(double v, double a, bool least) {
    return (least ? v < a : v > a) || (v != v && a == a);
}
static int64_t arg_bits(double v) {
    int64_t k;
    return memcpy(&k, &v, sizeof k), k;
}
static bool arg_better(const tni_lanes *l, bool least, double v, double a) {
    if (l->compute != TN_I64) return arg_better_f64(v, a, least);
    return least ? arg_bits(v) < arg_bits(a) : arg_bits(v) > arg_bits(a);
}
/* Equal, or both NaN. */
static bool arg_same(const tni_lanes *l, double v, double a) {
    return !arg_better(l, true, v, a) && !arg_better(l, true, a, v);
}
static double arg_value(const tni_lanes *l, const void *values, int64_t i) {
    double v;
    if (l->compute == TN_F32) return (double)((const float *)values)[i];
    return memcpy(&v, (const char *)values + 8 * i, 8), v;
}
static int64_t arg_index(const tni_lanes *l, const void *indices, int64_t i) {
    if (l->compute == TN_I64) return ((const int64_t *)indices)[i];
    return (int64_t)(l->compute == TN_F32 ? (double)((const float *)indices)[i]
                                          : ((const double *)indices)[i]);
}

static void arg_kernel(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                       int64_t rows, int64_t n, int64_t first, void *value, void *index) {
    bool least = r->op == TNI_MIN;
    if (l->compute != TN_I64) {
        (l->compute == TN_F32 ? TNI_K(r->kernels, arg_rows_f32) : TNI_K(r->kernels, arg_rows_f64))(
            x, step, rows, n, first, least, value, index);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < n; c++) {
            int64_t v, *a = (int64_t *)value + c;
            memcpy(&v, (const char *)x + i * step + 8 * c, 8);
            if (least ? v < *a : v > *a) *a = v, ((int64_t *)index)[c] = first + i;
        }
}

static void arg_lanes(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t n,
                      void *value, void *index) {
    int64_t full = n / l->lanes;
    tni_fill_lanes(value, l->compute, tni_reduce_identity(r->op), l->lanes);
    tni_fill_lanes(index, l->compute, 0, l->lanes);
    arg_kernel(r, l, x, TNI_LANE_BYTES, full, l->lanes, 0, value, index);
    if (n % l->lanes)
        arg_kernel(r, l, (const char *)x + full * TNI_LANE_BYTES, 0, 1, n % l->lanes, full, value,
                   index);
}

static void arg_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t n,
                      int64_t first, void *to) {
    tni_room value, index;
    arg_part best = {0, -1};
    arg_lanes(r, l, x, n, &value, &index);
    for (int64_t i = 0; i < n && i < l->lanes; i++) {
        double v = arg_value(l, &value, i);
        int64_t k = arg_index(l, &index, i) * l->lanes + i;
        if (best.index < 0 || arg_better(l, r->op == TNI_MIN, v, best.value) ||
            (k < best.index && arg_same(l, v, best.value)))
            best.value = v, best.index = k;
    }
    best.index += first;
    memcpy(to, &best, sizeof best);
}

static void arg_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                     int64_t rows, int64_t n, int64_t first, void *to) {
    tni_room value, index;
    arg_part *part = (arg_part *)to;
    tni_fill_lanes(&value, l->compute, tni_reduce_identity(r->op), n);
    tni_fill_lanes(&index, l->compute, 0, n);
    arg_kernel(r, l, x, step, rows, n, 0, &value, &index);
    for (int64_t i = 0; i < n; i++) {
        part[i].value = arg_value(l, &value, i);
        part[i].index = first + arg_index(l, &index, i);
    }
}

static void arg_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b, int64_t n,
                      int64_t na, int64_t nb) {
    arg_part *x = (arg_part *)a;
    const arg_part *y = (const arg_part *)b;
    (void)na, (void)nb;
    for (int64_t i = 0; i < n; i++)
        if (arg_better(l, r->op == TNI_MIN, y[i].value, x[i].value)) x[i] = y[i];
}

/* out[0]: indices, out[1]: values, or NULL. */
static void arg_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                      int64_t at) {
    const arg_part *p = (const arg_part *)parts;
    int64_t *index = (int64_t *)r->out[0] + at, bytes = tni_dtype(r->out_dtype)->bytes;
    int as = l->compute == TN_I64 ? TN_I64 : TN_F64;
    for (int64_t i = 0; i < n; i++, at += l->width_out) {
        index[i * l->width_out] = p[i].index;
        if (r->out[1])
            tni_lanes_save((char *)r->out[1] + at * bytes, bytes, r->out_dtype, &p[i].value, as, 1);
    }
}

static void arg_run(tn_frame *f, tn_ints dim, int op, tn_tensor *index, tn_tensor *value) {
    tn_context *c = f->block->context;
    tni_reducer r = {sizeof(arg_part), arg_block, arg_rows, arg_merge, arg_store, c->kernels, op,
                     {NULL, NULL},     0,         0,        0,         0};
    tni_lanes l;
    if (!index->numel) return;
    reduce_lanes(f, &l, dim, TNI_LANES_ORDERED);
    r.out[0] = tni_bytes_at(index);
    r.out[1] = value ? tni_bytes_at(value) : NULL;
    r.out_dtype = f->in[0]->dtype;
    tni_lanes_run(c, &l, &r, f->scratch);
}

static bool arg_check(tn_frame *f, tn_ints dim, bool keepdim, bool values) {
    const tn_tensor *x = f->in[0];
    int compute = tni_lanes_compute(x->dtype);
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    if (!extreme_dtype(f, x) || !tni_reduced(f, x, dim, keepdim, &to, gone)) return false;
    if (!reduce_not_empty(f, x, gone)) return false;
    if (keepdim && dim.n < 0)
        for (int d = 0; d < to.ndim; d++) to.size[d] = 1;
    tni_lanes_init(&l, x, gone, compute, TNI_LANES_ORDERED);
    f->type = (uint8_t)compute;
    if (values && !tn_announce(f, 0, (tn_dtype)x->dtype, to.ndim, to.size)) return false;
    return tn_announce(f, values, TN_I64, to.ndim, to.size) &&
           tni_lanes_scratch(f, &l, sizeof(arg_part));
}

/* To the chosen element alone. */
static void arg_grad(tn_gradient *g, int64_t dim, bool keepdim) {
    tn_tensor *x = g->in[0], *index, *d, *zeros;
    if (!g->incoming[0]) return;
    if (!x->ndim) {
        tn_give(g, 0, g->incoming[0]);
        return;
    }
    index = tni_dims_keep(g->out[1], x, tni_ints(&dim, 1), keepdim);
    d = tni_dims_keep(g->incoming[0], x, tni_ints(&dim, 1), keepdim);
    zeros = tnp_mul_scalar(tnp_expand(d, tni_sizes(x), false), tn_int(0));
    tn_give(g, 0, tnp_scatter(zeros, dim, index, d));
}

static bool max_dim_check(tn_frame *f) {
    TN_ARGS(max_dim, a, f);
    return arg_check(f, tni_ints(&a->dim, 1), a->keepdim, true);
}
static void max_dim_run(tn_frame *f) {
    TN_ARGS(max_dim, a, f);
    arg_run(f, tni_ints(&a->dim, 1), TNI_MAX, f->out[1], f->out[0]);
}
static void max_dim_grad(tn_gradient *g) {
    TN_ARGS(max_dim, a, g);
    arg_grad(g, a->dim, a->keepdim);
}
/* The largest element along dim and its index, the first among equal elements. A NaN wins. */
TN_OPERATOR(
    max_dim, "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_max_dim(x, 1);"),
    .forms = TN_OUT, .needs = "indices", .check = max_dim_check, .run = max_dim_run,
    .grad = max_dim_grad,
    .sample = "(2,3,4) 1 | (3) -1 keepdim=True | (2,0) 0 | () 0 | (3,70) 0 | (2,5000) 1 | "
              "(200,40) 0 | (4,5):i32 0 | "
              "(5,6):f16 1 | (4,3):bool 0")

static bool min_dim_check(tn_frame *f) {
    TN_ARGS(min_dim, a, f);
    return arg_check(f, tni_ints(&a->dim, 1), a->keepdim, true);
}
static void min_dim_run(tn_frame *f) {
    TN_ARGS(min_dim, a, f);
    arg_run(f, tni_ints(&a->dim, 1), TNI_MIN, f->out[1], f->out[0]);
}
static void min_dim_grad(tn_gradient *g) {
    TN_ARGS(min_dim, a, g);
    arg_grad(g, a->dim, a->keepdim);
}
/* The smallest element along dim and its index, the first among equal elements. A NaN wins. */
TN_OPERATOR(
    min_dim, "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_min_dim(x, 1);"),
    .forms = TN_OUT, .needs = "indices", .check = min_dim_check, .run = min_dim_run,
    .grad = min_dim_grad,
    .sample = "(2,3,4) 1 | (3) -1 keepdim=True | () 0 | (3,70) 0 | (2,5000) 1 | (4,5):i64 0")

static bool argmax_check(tn_frame *f) {
    TN_ARGS(argmax, a, f);
    return arg_check(f, reduce_one(&a->dim), a->keepdim, false);
}
static void argmax_run(tn_frame *f) {
    TN_ARGS(argmax, a, f);
    arg_run(f, reduce_one(&a->dim), TNI_MAX, f->out[0], NULL);
}
/* The index of the largest element along dim, the first among equal elements. Without dim, the
 * index in the flattened tensor. */
TN_OPERATOR(argmax, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> int64, self's shape without dim, 1 there when keepdim",
                   .example = "tn_argmax(x, .dim = 1)"),
            .forms = TN_OUT, .check = argmax_check, .run = argmax_run, .grad = tn_grad_zero,
            .sample = "(2,3,4) | (2,3,4) 1 | (3,4) -1 keepdim=True | () | (9000) | (3,70) 0 | "
                      "(200,40) 0 | (70000) | (4,5):u8 0")

static bool argmin_check(tn_frame *f) {
    TN_ARGS(argmin, a, f);
    return arg_check(f, reduce_one(&a->dim), a->keepdim, false);
}
static void argmin_run(tn_frame *f) {
    TN_ARGS(argmin, a, f);
    arg_run(f, reduce_one(&a->dim), TNI_MIN, f->out[0], NULL);
}
/* The index of the smallest element along dim, the first among equal elements. Without dim, the
 * index in the flattened tensor. */
TN_OPERATOR(argmin, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> int64, self's shape without dim, 1 there when keepdim",
                   .example = "tn_argmin(x, .dim = 1)"),
            .forms = TN_OUT, .check = argmin_check, .run = argmin_run, .grad = tn_grad_zero,
            .sample = "(2,3,4) | (2,3,4) 1 | (3,4) -1 keepdim=True | () | (9000) | (3,70) 0")

/* --- truth ------------------------------------------------------------------------------------ */

/* An empty list is one of no dimensions, as torch has it here: each element by itself. */
static bool truth_of_each(tn_ints dim) { return dim.at && dim.n == 0; }
static bool truth_check(tn_frame *f, tn_ints dim, bool keepdim) {
    const tn_tensor *x = f->in[0];
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS], each = truth_of_each(dim);
    if (!tni_reduced(f, x, dim, keepdim || each, &to, gone)) return false;
    if (each) memset(gone, 0, sizeof gone);
    if (each) memcpy(to.size, x->size, (size_t)x->ndim * sizeof *to.size);
    tni_lanes_init(&l, x, gone, TN_I64, TNI_LANES_NONZERO);
    f->type = TN_I64;
    return tn_announce(f, 0, x->dtype == TN_U8 ? TN_U8 : TN_BOOL, to.ndim, to.size) &&
           tni_lanes_scratch(f, &l, l.size);
}
/* Contiguous bytes in one result: the first that decides. */
static bool truth_bytes(tn_frame *f, bool any) {
    const tn_tensor *x = f->in[0];
    const char *at = tni_bytes_at(x);
    if (x->dtype != TN_BOOL || !(x->flags & TNI_CONTIGUOUS) || f->out[0]->numel != 1) return false;
    TNI_PATH(truth_bytes);
    const bool found = x->numel && memchr(at, any ? 1 : 0, (size_t)x->numel) != NULL;
    *(bool *)tni_bytes_at(f->out[0]) = found == any;
    return true;
}
/* The identity of max is the smallest integer, so results are clamped to 0 and 1. */
static void truth_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                        int64_t at) {
    const int64_t *p = (const int64_t *)parts;
    for (int64_t i = 0; i < n; i++) ((uint8_t *)r->out[0])[at + i * l->width_out] = p[i] > 0;
}
static void truth_run(tn_frame *f, tn_ints dim, int op) {
    tn_context *c = f->block->context;
    tni_reducer r = {8,  plain_block,  plain_rows, plain_merge, truth_store, c->kernels,
                     op, {NULL, NULL}, 0,          0,           0,           0};
    tni_lanes l;
    bool none[TN_MAX_DIMS] = {false};
    if (!f->out[0]->numel || truth_bytes(f, op == TNI_MAX)) return;
    if (truth_of_each(dim))
        tni_lanes_init(&l, f->in[0], none, f->type, TNI_LANES_NONZERO);
    else
        reduce_lanes(f, &l, dim, TNI_LANES_NONZERO);
    r.out[0] = tni_bytes_at(f->out[0]);
    tni_lanes_run(c, &l, &r, f->scratch);
}

static bool any_dims_check(tn_frame *f) {
    TN_ARGS(any_dims, a, f);
    return truth_check(f, a->dim, a->keepdim);
}
static void any_dims_run(tn_frame *f) {
    TN_ARGS(any_dims, a, f);
    truth_run(f, a->dim, TNI_MAX);
}
/* Whether any element over dim is nonzero; NaN counts as nonzero. If dim is absent, over all
 * elements; if it is empty, for each element. uint8 gives uint8, all other dtypes bool. */
TN_OPERATOR(any_dims, "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool, self's shape without dim, 1 there when keepdim",
                   .example = "tn_any_dims(mask, .dim = TN_DIMS(0))"),
            .forms = TN_OUT, .check = any_dims_check, .run = any_dims_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (2,3):bool [1] | (2,3,4) [0,2] keepdim=True | (0):bool | (3,0) "
                      "[1] | (4,5):u8 [0] | (9000):bool | (2,3):c64")

static bool all_dims_check(tn_frame *f) {
    TN_ARGS(all_dims, a, f);
    return truth_check(f, a->dim, a->keepdim);
}
static void all_dims_run(tn_frame *f) {
    TN_ARGS(all_dims, a, f);
    truth_run(f, a->dim, TNI_MIN);
}
/* Whether all elements over dim are nonzero, by the rules of any_dims. */
TN_OPERATOR(all_dims, "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool, self's shape without dim, 1 there when keepdim",
                   .example = "tn_all_dims(mask)"),
            .forms = TN_OUT, .check = all_dims_check, .run = all_dims_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (2,3):bool [1] | (2,3,4) [0,2] keepdim=True | (0):bool | (3,0) "
                      "[1] | (4,5):i32 [0] | (9000):bool")

static bool any_check(tn_frame *f) { return truth_check(f, tn_no_dims(), false); }
static void any_run(tn_frame *f) { truth_run(f, tn_no_dims(), TNI_MAX); }
/* Whether any element is nonzero. */
TN_OPERATOR(any, "any(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool ()", .example = "tn_any(mask)"), .forms = TN_OUT,
            .check = any_check, .run = any_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (0) | (2,3)")

static bool all_check(tn_frame *f) { return truth_check(f, tn_no_dims(), false); }
static void all_run(tn_frame *f) { truth_run(f, tn_no_dims(), TNI_MIN); }
/* Whether all elements are nonzero. */
TN_OPERATOR(all, "all(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool ()", .example = "tn_all(mask)"), .forms = TN_OUT,
            .check = all_check, .run = all_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (0) | (2,3)")
