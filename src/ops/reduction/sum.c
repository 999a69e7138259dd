/* sum.c - sum, mean and product over dimensions.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"
#include "../../autograd/give.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* dtype of a sum: as asked, int64 of integers and bool, else self's. */
static tn_dtype sum_dtype(const tn_tensor *x, tn_dtype asked) {
    return asked                                          ? asked
           : tni_dtype(x->dtype)->category <= TNI_CAT_INT ? TN_I64
                                                          : (tn_dtype)x->dtype;
}

/* Refuses dtypes without arithmetic, and a conversion between real and complex. */
static bool sum_computes(tn_frame *f, const tn_tensor *x, tn_dtype dtype) {
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
    tn_dtype dtype = sum_dtype(a->self, a->dtype);
    return sum_computes(f, a->self, dtype) &&
           tni_plain_check(f, a->dim, a->keepdim, dtype, tni_lanes_compute((int)dtype), false);
}
static void sum_run(tn_frame *f) {
    TN_ARGS(sum, a, f);
    tni_plain_reduce(f, a->dim, &tni_sum, TNI_PLAIN);
}
static void sum_grad(tn_gradient *g) {
    TN_ARGS(sum, a, g);
    tn_tensor *d = tni_dims_keep(g->incoming[0], a->self, a->dim, a->keepdim);
    tn_give(g, 0, tnp_expand(d, tni_sizes(a->self), false));
}
/* As sum_grad for a sum over all elements, where dy is one number: a header of x's shape over it
 * with strides of 0, without the calls of rows. */
static void sum_fused(tn_gradient *g) {
    TN_ARGS(sum, a, g);
    int64_t stride[TN_MAX_DIMS] = {0};
    tn_tensor *d = g->incoming[0], *t;
    /* A result with dimensions, or without data. */
    if (d->ndim || d->flags & (TNI_META | TNI_DEVICE)) {
        sum_grad(g);
        return;
    }
    t = tni_header(g->block, d->dtype, a->self->ndim, a->self->size, stride);
    if (!t) return;
    /* The header shares the storage of dy, which therefore has one more owner. */
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
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CUDA, .check = sum_check,
            .run = sum_run, .grad = sum_grad, .fused = sum_fused, .domain = "self:-1..2",
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
    /* Reals of all dtypes become any floating one; only complex ones need the check. */
    if (tni_is_complex((int)dtype) || tni_is_complex(a->self->dtype))
        if (!sum_computes(f, a->self, dtype)) return false;
    return tni_plain_check(f, a->dim, a->keepdim, dtype, tni_lanes_compute((int)dtype), false);
}
static void mean_run(tn_frame *f) {
    TN_ARGS(mean, a, f);
    tni_plain_reduce(f, a->dim, &tni_sum, TNI_MEAN);
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
            .forms = TN_OUT | TN_LEADING, .check = mean_check, .run = mean_run, .grad = mean_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (1100,40) [0] | "
                      "(3,4):i32 dtype=float32 | (6):f16 [0] | (2,3):c64 [0] | (0,3) [0]",
            .node = "MeanBackward0 dim=None | MeanBackward1")

/* --- products --------------------------------------------------------------------------------- */

static bool prod_check(tn_frame *f) {
    TN_ARGS(prod, a, f);
    tn_dtype dtype = sum_dtype(a->self, a->dtype);
    return sum_computes(f, a->self, dtype) &&
           tni_plain_check(f, tni_dim_or_all(&a->dim), a->keepdim, dtype,
                           tni_lanes_compute((int)dtype), false);
}
static void prod_run(tn_frame *f) {
    TN_ARGS(prod, a, f);
    if (tni_is_complex(a->self->dtype))
        tni_prod_complex(f, tni_dim_or_all(&a->dim));
    else
        tni_plain_reduce(f, tni_dim_or_all(&a->dim), &tni_prod, TNI_PLAIN);
}
/* x in the dtype of the gradient, which is that of the product: x's own may hold less. */
static tn_tensor *prod_input(tn_tensor *x, const tn_tensor *d) {
    return d && x->dtype != d->dtype ? tnp_to_dtype(x, (tn_dtype)d->dtype, false, false) : x;
}
/* The gradient is d * conj(df/dx), and df/dx_i is the product of the others: of those before x_i
 * and those after it. Zeros are like other elements, also in further derivatives. */
static void prod_grad(tn_gradient *g) {
    TN_ARGS(prod, a, g);
    const tn_tensor *self = a->self;
    tn_ints dim = tni_dim_or_all(&a->dim);
    int64_t all = -1;
    tn_tensor *d = tni_dims_keep(g->incoming[0], self, dim, a->keepdim), *x, *others;
    if (!self->numel) {
        tni_give_flat(g, 0, tnp_zeros_like(g->in[0], TN_NO_DTYPE, TN_NO_DEVICE));
        return;
    }
    if (!self->ndim) {
        tn_give(g, 0, d);
        return;
    }
    /* Without dim all of x is one line. */
    x = prod_input(g->in[0], d);
    if (dim.n < 0) x = tnp_reshape(x, tn_ints_of(&all, 1));
    others = tni_prod_others(x, dim.n < 0 ? 0 : tni_dim(self->ndim, a->dim));
    tn_give(g, 0, tnp_mul(d, tnp_reshape(others, tni_sizes(self))));
}
/* The same by a division: product / x_i where no element is zero. Where one is, it alone gets the
 * product of the others; where two are, all get zero. */
static void prod_fused(tn_gradient *g) {
    TN_ARGS(prod, a, g);
    tn_ints dim = tni_dim_or_all(&a->dim);
    tn_tensor *d = tni_dims_keep(g->incoming[0], a->self, dim, a->keepdim);
    tn_tensor *x = prod_input(g->in[0], d), *zero = tnp_eq_scalar(x, tn_int(0));
    /* Zeros are counted and replaced by 1: then `others` is the product of all elements
     * but the zeros. */
    tn_tensor *filled = tnp_masked_fill_scalar(x, zero, tn_int(1));
    tn_tensor *others = tnp_prod(filled, dim.n < 0 ? TN_NONE : a->dim, false, TN_NO_DTYPE);
    tn_tensor *count = tnp_sum(zero, dim, true, TN_NO_DTYPE);
    /* no_zero: no zero in this line; single_zero: this element is its single zero. */
    tn_tensor *no_zero = tnp_eq_scalar(count, tn_int(0)),
              *single_zero = tnp_mul(tnp_eq_scalar(count, tn_int(1)), zero);
    /* An element that is no zero gets others / x_i; a zero, which is filled with 1, gets others. */
    tn_tensor *quotient = tnp_div(tni_dims_keep(others, a->self, dim, false), filled);
    /* Where another element is zero, the quotient may still be infinite, so it is replaced, not
     * multiplied. The sum is 0, or NaN if an element is infinite or NaN. */
    tn_tensor *nothing = tnp_sum(tnp_mul_scalar(filled, tn_int(0)), dim, true, TN_NO_DTYPE);
    quotient = tnp_where(tnp_add(no_zero, single_zero, 1), quotient, nothing);
    if (quotient && tni_is_complex(quotient->dtype)) quotient = tnp_conj(quotient);
    tn_give(g, 0, tnp_mul(d, quotient));
}
/* The product over dim, or of all elements if dim is absent. Integers and bool are
 * multiplied in int64. */
TN_OPERATOR(prod,
            "prod.dim_int(Tensor self, int? dim=None, bool keepdim=False, *, ScalarType? "
            "dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self's shape without dim, 1 there when keepdim",
                   .example = "tn_prod(x, .dim = 1)",
                   .differs = "parameter dim: one row for torch's overloads with and without it"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE, .needs = "self", .check = prod_check,
            .run = prod_run, .grad = prod_grad, .fused = prod_fused, .domain = "self:0.5..1.5",
            .sample = "(2,3) | (2,3,4) 1 | (3,70) 0 | (2,90) -1 keepdim=True | () | (0) | "
                      "(4,5):i32 0 | (6):f16 0 | (20000,2):c64 0 | (4):c64 dtype=complex128",
            .node = "ProdBackward0 dim=None | ProdBackward1")
