/* extremes.c - the larger, the smaller, and what lies between two bounds, element by element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../cpu/drive.h"
#include "gradients.h"

/* d where a is chosen: 0 where a is behind b, half where they are equal, all where one is NaN,
 * since no comparison with it is true */
static tn_tensor *extremes_share(tn_tensor *d, tn_tensor *behind, tn_tensor *a, tn_tensor *b) {
    tn_tensor *half = tnp_mul_scalar(d, tn_float(0.5));
    return tnp_where(tnp_eq(a, b), half, tnp_where(behind, tnp_zeros_like(d, TN_NO_DTYPE, 0), d));
}
static void maximum_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, extremes_share(d, tnp_lt(a, b), a, b));
    if (g->want[1]) tn_give(g, 1, extremes_share(d, tnp_gt(a, b), a, b));
}
/* The larger element of each pair; NaN if either is NaN. Equal elements share the gradient. */
TN_OPERATOR(maximum, "maximum(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_maximum(x, y)"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(FIB, V_MAXIMUM(self, other)), .grad = maximum_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

static void minimum_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, extremes_share(d, tnp_gt(a, b), a, b));
    if (g->want[1]) tn_give(g, 1, extremes_share(d, tnp_lt(a, b), a, b));
}
/* The smaller element of each pair; NaN if either is NaN. Equal elements share the gradient. */
TN_OPERATOR(minimum, "minimum(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_minimum(x, y)"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(FIB, V_MINIMUM(self, other)), .grad = minimum_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

static bool max_other_compose(tn_frame *f) {
    f->out[0] = tnp_maximum(f->in[0], f->in[1]);
    return f->out[0] != NULL;
}
/* maximum by torch's other name. */
TN_OPERATOR(max_other, "max.other(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_max_other(x, y)"),
            .forms = TN_OUT, .compose = max_other_compose,
            .sample = "(35) (35) | (2,3) (3):i64 | () () | (0,3) (3)", .node = "MaximumBackward0")

static bool min_other_compose(tn_frame *f) {
    f->out[0] = tnp_minimum(f->in[0], f->in[1]);
    return f->out[0] != NULL;
}
/* minimum by torch's other name. */
TN_OPERATOR(min_other, "min.other(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_min_other(x, y)"),
            .forms = TN_OUT, .compose = min_other_compose,
            .sample = "(35) (35) | (2,3) (3):i64 | () () | (0,3) (3)", .node = "MinimumBackward0")

/* Ties, as in torch: no gradient if the bound is a number, half of it if it is a tensor. */
static void clamp_min_grad(tn_gradient *g) {
    if (g->in[1] && g->in[1]->flags & TNI_NUMBER)
        tn_give(g, 0, tni_where_or_zero(tnp_gt(g->in[0], g->in[1]), g->incoming[0]));
    else
        maximum_grad(g);
}
/* The larger of self and min. */
TN_OPERATOR(clamp_min, "clamp_min.Tensor(Tensor self, Tensor|Scalar min) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_clamp_min_scalar(x, 0)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,min min:self,min",
            TN_POINTWISE(FIB, V_MAXIMUM(self, min), TN_LOWER_BOUND), .grad = clamp_min_grad,
            .sample = "(35) (35) | (2,3) (3) | (9) 0.5 | (9):i64 1 | (9):i64 0.5 | (0) 1",
            .node = "ClampMinBackward0 min=number | ClampMinBackward1")

static void clamp_max_grad(tn_gradient *g) {
    if (g->in[1] && g->in[1]->flags & TNI_NUMBER)
        tn_give(g, 0, tni_where_or_zero(tnp_lt(g->in[0], g->in[1]), g->incoming[0]));
    else
        minimum_grad(g);
}
/* The smaller of self and max. */
TN_OPERATOR(clamp_max, "clamp_max.Tensor(Tensor self, Tensor|Scalar max) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_clamp_max_scalar(x, 1)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,max max:self,max",
            TN_POINTWISE(FIB, V_MINIMUM(self, max), TN_UPPER_BOUND), .grad = clamp_max_grad,
            .sample = "(35) (35) | (2,3) (3) | (9) 0.5 | (9):i64 1 | (0) 1",
            .node = "ClampMaxBackward0 max=number | ClampMaxBackward1")

/* The lower bound first, so that max wins where min is above it, as in torch. */
static bool clamp_compose(tn_frame *f) {
    TN_ARGS(clamp, a, f);
    tn_tensor *t = f->in[0];
    if (a->min.kind == TN_KIND_NONE && a->max.kind == TN_KIND_NONE)
        return tn_fail(f, TN_INVALID, "At least one of 'min' or 'max' must not be None");
    if (a->min.kind != TN_KIND_NONE) t = tnp_clamp_min_scalar(t, a->min);
    if (a->max.kind != TN_KIND_NONE) t = tnp_clamp_max_scalar(t, a->max);
    f->out[0] = t;
    return t != NULL;
}
/* self limited to at least min, then to at most max; None means no bound. No gradient passes where
 * self equals a bound. */
TN_OPERATOR(clamp, "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)",
                   .example = "tn_clamp(x, .min = TN_NUM(-1), .max = TN_NUM(1))"),
            .forms = TN_INPLACE | TN_OUT, .compose = clamp_compose,
            .sample = "(35) 0 1 | (3,5) min=0.5 | (3,5) max=0.5 | (9):i64 -2 2 | () 0 1 | (0) 0 1",
            .node = "ClampBackward1")

/* The same with tensors; an absent one is no bound. The dtype is that of all three together. */
static bool clamp_tensor_compose(tn_frame *f) {
    tn_tensor *t = f->in[0];
    tn_dtype dtype;
    if (!f->in[1] && !f->in[2])
        return tn_fail(f, TN_INVALID, "At least one of 'min' or 'max' must not be None");
    if (f->in[1] && f->in[2]) {
        dtype = tni_result_type(f->block, f->in, 3, false);
        if (dtype != tn_dtype_of(t)) t = tnp_to(t, TN_NO_DEVICE, dtype, false, false);
        if (!t) return false;
    }
    if (f->in[1]) t = tnp_clamp_min(t, f->in[1]);
    if (f->in[2]) t = tnp_clamp_max(t, f->in[2]);
    f->out[0] = t;
    return t != NULL;
}
/* clamp with tensors as bounds. */
TN_OPERATOR(clamp_tensor, "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
            TN_DOC(.shapes = "(*), (*), (*) -> broadcast",
                   .example = "tn_clamp_tensor(x, .min = low, .max = high)",
                   .differs = "grad at ties: bounds that are equal take a half and a quarter here"),
            .forms = TN_INPLACE | TN_OUT, .compose = clamp_tensor_compose,
            .sample = "(3,5) (5) (3,1) | (9) max=(9) | (0) (0) | (9):i32 ():f64 (9):f32")

/* All of d where self is the first, which it is beside a NaN, half where both are equal. */
static void extremes_present_grad(tn_gradient *g, tn_tensor *first) {
    tn_tensor *d = g->incoming[0], *half = tnp_mul_scalar(d, tn_float(0.5)),
              *same = tnp_eq(g->in[0], g->in[1]);
    first = tnp_logical_or(first, tnp_isnan(g->in[1]));
    if (g->want[0]) tn_give(g, 0, tnp_where(same, half, tni_where_or_zero(first, d)));
    first = tnp_logical_not(first);
    if (g->want[1]) tn_give(g, 1, tnp_where(same, half, tni_where_or_zero(first, d)));
}
static void fmax_grad(tn_gradient *g) { extremes_present_grad(g, tnp_gt(g->in[0], g->in[1])); }
/* The larger element of each pair; a NaN counts as absent. Equal elements share the gradient. */
TN_OPERATOR(fmax, "fmax(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_fmax(x, y)"), .forms = TN_OUT,
            .needs = "self:self,other other:self,other",
            TN_POINTWISE(FIB, V_SEL(M_OR(V_GT(self, other), V_ISNAN(other)), self, other)),
            .grad = fmax_grad, .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

static void fmin_grad(tn_gradient *g) { extremes_present_grad(g, tnp_lt(g->in[0], g->in[1])); }
/* The smaller element of each pair; a NaN counts as absent. Equal elements share the gradient. */
TN_OPERATOR(fmin, "fmin(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_fmin(x, y)"), .forms = TN_OUT,
            .needs = "self:self,other other:self,other",
            TN_POINTWISE(FIB, V_SEL(M_OR(V_LT(self, other), V_ISNAN(other)), self, other)),
            .grad = fmin_grad, .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

/* 0 below 0, values at 0, 1 above. Both tensors have one dtype. */
TN_OPERATOR(heaviside, "heaviside(Tensor self, Tensor values) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_heaviside(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIB,
                         V_SEL(V_EQ(self, V_ZERO()), values,
                               V_SEL(V_GT(self, V_ZERO()), V_ONE, V_ZERO())),
                         TN_SAME_DTYPES),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 (9):i64")

/* t, of one that is real, with NaN and both infinities replaced. */
static tn_tensor *finite_parts(tn_tensor *t, const tn_nan_to_num_args *a) {
    const int dtype = t->dtype;
    const double most = dtype == TN_F64    ? 1.7976931348623157e+308
                        : dtype == TN_F32  ? 3.4028234663852886e+38
                        : dtype == TN_BF16 ? 3.3895313892515355e+38
                                           : 65504;
    const double nan = a->nan.given == TN_GIVEN ? a->nan.value : 0,
                 high = a->posinf.given == TN_GIVEN ? a->posinf.value : most,
                 low = a->neginf.given == TN_GIVEN ? a->neginf.value : -most;
    tn_tensor *r = tnp_where_scalar_self(tnp_isnan(t), tn_float(nan), t);
    r = tnp_where_scalar_self(tnp_isposinf(t), tn_float(high), r);
    return tnp_where_scalar_self(tnp_isneginf(t), tn_float(low), r);
}
static bool nan_to_num_compose(tn_frame *f) {
    TN_ARGS(nan_to_num, a, f);
    tn_tensor *x = f->in[0];
    if (tni_is_complex(x->dtype))
        f->out[0] = tnp_view_as_complex(finite_parts(tnp_view_as_real(x), a));
    else if (tni_is_float(x->dtype))
        f->out[0] = finite_parts(x, a);
    else
        f->out[0] = tnp_clone(x, (tn_memory_format)0);
    return f->out[0] != NULL;
}
/* self with NaN replaced by nan (0), infinities by posinf and neginf (the largest and the smallest
 * number of the dtype). */
TN_OPERATOR(nan_to_num,
            "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> "
            "Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_nan_to_num(x)"),
            .forms = TN_INPLACE | TN_OUT, .compose = nan_to_num_compose,
            .sample = "(35) | (3,5) 1 2 3 | () | (0,2) | (4):i64 | (4):bool")
