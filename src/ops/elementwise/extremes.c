/* extremes.c - the larger, the smaller, and what lies between two bounds, element by element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
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
        return tn_fail(f, TN_INVALID, "at least one of 'min' and 'max' must be given");
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

/* The same with tensors; an absent one is no bound. */
static bool clamp_tensor_compose(tn_frame *f) {
    tn_tensor *t = f->in[0];
    if (!f->in[1] && !f->in[2])
        return tn_fail(f, TN_INVALID, "at least one of 'min' and 'max' must be given");
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
            .sample = "(3,5) (5) (3,1) | (9) max=(9) | (0) (0)")
