/* extrema.c - the largest and smallest elements over dimensions. A NaN wins.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"
#include "../../autograd/give.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

TN_PRIV bool tni_extreme_dtype(tn_frame *f, const tn_tensor *x) {
    if (tni_is_complex(x->dtype)) return tn_fail(f, TN_TYPE, "complex numbers cannot be ordered");
    if (!tni_dtype(x->dtype)->computes)
        return tn_fail(f, TN_TYPE, "dtype %s cannot be ordered", tni_dtype(x->dtype)->text);
    return true;
}
static bool extreme_check(tn_frame *f, tn_ints dim, bool keepdim) {
    const tn_tensor *x = f->in[0];
    return tni_extreme_dtype(f, x) && tni_given_is(f, 0, (tn_dtype)x->dtype) &&
           tni_plain_check(f, dim, keepdim, (tn_dtype)x->dtype, tni_lanes_compute(x->dtype), true);
}
static void extreme_run(tn_frame *f, tn_ints dim, const tni_reduction *op, int k) {
    tni_lanes l;
    tni_plain_lanes(f, &l, dim, 0);
    tni_plain_run(f, &l, op, k, TNI_PLAIN);
}
/* Equal extrema share the gradient. */
static tn_tensor *extreme_shared(tn_tensor *d, tn_tensor *x, tn_tensor *result, tn_ints dim,
                                 bool keepdim) {
    /* mask: the elements equal to the result; their number divides the gradient. */
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
    extreme_run(f, a->dim, &tni_max, 0);
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
            .forms = TN_OUT | TN_LEADING, .needs = "self,result", .check = amax_check,
            .run = amax_run, .grad = amax_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (200,40) [0] | "
                      "(4,5):i32 [0] | (4,5):u8 | (6):f16 [0] | (3,5):bool [1] | (2,0,3) [0]")

static bool amin_check(tn_frame *f) {
    TN_ARGS(amin, a, f);
    return extreme_check(f, a->dim, a->keepdim);
}
static void amin_run(tn_frame *f) {
    TN_ARGS(amin, a, f);
    extreme_run(f, a->dim, &tni_min, 0);
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
            .forms = TN_OUT | TN_LEADING, .needs = "self,result", .check = amin_check,
            .run = amin_run, .grad = amin_grad,
            .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] | () | "
                      "(2,5000) [1] | (200,40) [0] | "
                      "(4,5):i64 [0] | (6):bf16 [0]")

/* Of all elements; where a NaN has won, those that are NaN share it. */
static void extreme_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *mask = tnp_logical_or(tnp_eq(x, g->out[0]), tnp_isnan(x)), *d;
    /* Counted in float or double, for a half type could not hold a large count. */
    const tn_dtype dtype = (tn_dtype)x->dtype, count = dtype == TN_F64 ? TN_F64 : TN_F32;
    d = tnp_div(g->incoming[0], tnp_sum(mask, tn_no_dims(), false, count));
    d = dtype == count ? d : tnp_to_dtype(d, dtype, false, false);
    tn_give(g, 0, tnp_where_scalar(mask, d, tn_int(0)));
}

static bool max_check(tn_frame *f) { return extreme_check(f, tn_no_dims(), false); }
static void max_run(tn_frame *f) { extreme_run(f, tn_no_dims(), &tni_max, 0); }
static tn_tensor *max_batched(tn_frame *f, tn_tensor *const *whole) {
    const int64_t last = -1;
    tn_tensor *flat = tni_whole_flat(whole[0]);
    (void)f;
    return flat ? tnp_amax(flat, tni_ints(&last, 1), false) : NULL;
}
/* The largest of all elements. A NaN wins. Equal elements share the gradient. */
TN_OPERATOR(max, "max(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_max(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = max_check, .run = max_run, .grad = extreme_grad,
            .sample = "(2,3,4) | () | (9000) | (4,5):i32", .node = "MaxBackward1",
            .batched = TN_BATCHED(max_batched))

static bool min_check(tn_frame *f) { return extreme_check(f, tn_no_dims(), false); }
static void min_run(tn_frame *f) { extreme_run(f, tn_no_dims(), &tni_min, 0); }
static tn_tensor *min_batched(tn_frame *f, tn_tensor *const *whole) {
    const int64_t last = -1;
    tn_tensor *flat = tni_whole_flat(whole[0]);
    (void)f;
    return flat ? tnp_amin(flat, tni_ints(&last, 1), false) : NULL;
}
/* The smallest of all elements. A NaN wins. Equal elements share the gradient. */
TN_OPERATOR(min, "min(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_min(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = min_check, .run = min_run, .grad = extreme_grad,
            .sample = "(2,3,4) | () | (9000) | (4,5):i32", .node = "MinBackward1",
            .batched = TN_BATCHED(min_batched))

static bool aminmax_check(tn_frame *f) {
    TN_ARGS(aminmax, a, f);
    tn_ints dim = tni_dim_or_all(&a->dim);
    tni_shape to;
    bool gone[TN_MAX_DIMS];
    /* The first result comes from extreme_check; the second is alike. */
    return extreme_check(f, dim, a->keepdim) && tni_given_is(f, 1, (tn_dtype)a->self->dtype) &&
           tni_reduced(f, a->self, dim, a->keepdim, &to, gone) &&
           tn_announce(f, 1, (tn_dtype)a->self->dtype, to.ndim, to.size);
}
static void aminmax_run(tn_frame *f) {
    TN_ARGS(aminmax, a, f);
    extreme_run(f, tni_dim_or_all(&a->dim), &tni_min, 0);
    extreme_run(f, tni_dim_or_all(&a->dim), &tni_max, 1);
}
static void aminmax_grad(tn_gradient *g) {
    TN_ARGS(aminmax, a, g);
    for (int k = 0; k < 2; k++)
        if (g->incoming[k])
            tn_give(g, 0,
                    extreme_shared(g->incoming[k], g->in[0], g->out[k], tni_dim_or_all(&a->dim),
                                   a->keepdim));
}
/* The smallest and the largest element along dim, or of all elements if dim is absent. */
TN_OPERATOR(
    aminmax,
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    TN_DOC(.shapes = "self (*) -> min, max: self's shape without dim, 1 there when keepdim",
           .example = "tn_min_max m = tn_aminmax(x, .dim = 0);"),
    .forms = TN_OUT | TN_LEADING, .needs = "self,min,max", .check = aminmax_check,
    .run = aminmax_run, .grad = aminmax_grad,
    .sample = "(2,3,4) | (2,3,4) dim=1 | (3,4) dim=-1 keepdim=True | () | (4,5):i32 dim=0")
