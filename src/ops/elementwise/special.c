/* special.c - products with logarithms, entropy, sinc, logit, the multivariate gamma function. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* A product with a logarithm: d log(y) and d x / y. Where x is 0 and y at most `least`, the product
 * is 0 by definition, and the first of them is 0, too. */
static void special_product_grad(tn_gradient *g, tn_tensor *log, tn_tensor *inside, double least) {
    tn_tensor *d = g->incoming[0], *x = g->in[0], *y = g->in[1];
    if (g->want[0]) {
        tn_tensor *flat =
            tnp_logical_and(tnp_eq_scalar(x, tn_int(0)), tnp_le_scalar(y, tn_float(least)));
        tn_give(g, 0, tni_where_or_zero(tnp_logical_not(flat), tnp_mul(d, log)));
    }
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_div(x, inside)));
}
static void xlogy_grad(tn_gradient *g) {
    special_product_grad(g, g->want[0] ? tnp_log(g->in[1]) : NULL, g->in[1], 0);
}
/* self log(other); 0 where self is 0, NaN where other is. */
TN_OPERATOR(xlogy, "xlogy.Tensor(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_xlogy(x, y)",
                   .python = "special.xlogy"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(F,
                         V_SEL(V_ISNAN(other), other,
                               V_SEL(V_EQ(self, V_ZERO()), V_ZERO(), V_MUL(self, V_LOG(other))))),
            .grad = xlogy_grad, .domain = "other:0.2..3",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4):i64 (4):i64<9",
            .node = "XlogyBackward0 self=number | XlogyBackward1 other=number | XlogyBackward0")

static void special_xlog1py_grad(tn_gradient *g) {
    tn_tensor *y = g->in[1];
    special_product_grad(g, g->want[0] ? tnp_log1p(y) : NULL, tnp_add_scalar(y, tn_int(1), 1), -1);
}
/* self log(1 + other); 0 where self is 0, NaN where other is. */
TN_OPERATOR(special_xlog1py, "special_xlog1py(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_xlog1py(x, y)"),
            .forms = TN_OUT, .needs = "self:self,other other:self,other",
            TN_POINTWISE(F,
                         V_SEL(V_ISNAN(other), other,
                               V_SEL(V_EQ(self, V_ZERO()), V_ZERO(), V_MUL(self, V_LOG1P(other))))),
            .grad = special_xlog1py_grad, .domain = "other:-0.7..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4):i64 (4):i64<9")

/* -log(x) - 1 */
static void special_entr_grad(tn_gradient *g) {
    tn_tensor *slope = tnp_sub_scalar(tnp_neg(tnp_log(g->in[0])), tn_int(1), 1);
    tn_give(g, 0, tnp_mul(g->incoming[0], slope));
}
/* -self log(self), the entropy of a probability; 0 at 0, -inf below. */
TN_OPERATOR(special_entr, "special_entr(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_special_entr(x)"),
            .forms = TN_OUT, .needs = "self:self",
            TN_POINTWISE(F, V_SEL(V_LT(self, V_ZERO()), V_SET(-INFINITY),
                                  V_SEL(V_EQ(self, V_ZERO()), V_ZERO(),
                                        V_NEG(V_MUL(self, V_LOG(self)))))),
            .grad = special_entr_grad, .domain = "self:0.1..0.8",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* (p cos p - sin p) / (p x) with p = pi x, 0 at 0 */
static void sinc_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *p = tni_times(x, 3.14159265358979323846),
              *rise = tnp_sub(tnp_mul(p, tnp_cos(p)), tnp_sin(p), 1),
              *slope = tni_conj_of(tnp_div(rise, tnp_mul(p, x)));
    tn_give(g, 0, tni_where_or_zero(tnp_ne_scalar(x, tn_int(0)), tnp_mul(g->incoming[0], slope)));
}
/* sin(pi self) / (pi self); 1 at 0. */
TN_OPERATOR(sinc, "sinc(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sinc(x)",
                   .python = "special.sinc"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(Fc, V_SEL(V_EQ(self, V_ZERO()), V_ONE,
                                   V_DIV(V_SIN(V_MUL(self, V_SET(3.14159265358979323846))),
                                         V_MUL(self, V_SET(3.14159265358979323846))))),
            .grad = sinc_grad, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* The bounds themselves keep the gradient. Without bounds the result outside of [0, 1] is NaN x, so
 * that its slope is NaN and the slope of that is 0, as torch's. */
static bool logit_compose(tn_frame *f) {
    TN_ARGS(logit, a, f);
    tn_tensor *x = f->in[0], *r;
    if (tni_is_complex(x->dtype))
        return tn_fail(f, TN_TYPE, "the operator is not defined for %s", tni_dtype(x->dtype)->text);
    x = tni_as_float(f, x);
    if (a->eps.given == TN_GIVEN) {
        const double low = a->eps.value, high = 1 - low;
        tn_tensor *below = tnp_lt_scalar(x, tn_float(low));
        x = tnp_where_scalar_self(tnp_gt_scalar(x, tn_float(high)), tn_float(high), x);
        x = tnp_where_scalar_self(below, tn_float(low), x);
    }
    r = tnp_sub(tnp_log(x), tnp_log1p(tnp_neg(x)), 1);
    if (a->eps.given != TN_GIVEN) {
        tn_tensor *outside =
            tnp_logical_or(tnp_lt_scalar(x, tn_int(0)), tnp_gt_scalar(x, tn_int(1)));
        tn_tensor *nan = tnp_where_scalar_self(outside, tn_float(NAN),
                                               tnp_ones_like(x, TN_NO_DTYPE, TN_NO_DEVICE));
        r = tnp_where(outside, tnp_mul(x, nan), r);
    }
    f->out[0] = r;
    return r != NULL;
}
/* log(self / (1 - self)), the inverse of the sigmoid, of self moved into [eps, 1 - eps] if eps is
 * given. */
TN_OPERATOR(logit, "logit(Tensor self, float? eps=None) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_logit(x)",
                   .python = "special.logit"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_UNCAST, .compose = logit_compose,
            .domain = "self:0.1..0.9",
            .sample = "(35) | (3,5) eps=0.3 | () | (0,2) | (4):i64 eps=0.25")

static bool mvlgamma_compose(tn_frame *f) {
    TN_ARGS(mvlgamma, a, f);
    const double p = (double)a->p, log_pi = 1.14472988584940017414;
    tn_tensor *x = f->in[0], *sum;
    if (a->p < 1) return tn_fail(f, TN_INVALID, "p has to be greater than or equal to 1");
    sum = tnp_lgamma(x);
    for (int64_t k = 1; sum && k < a->p; k++) {
        if (tn_cancelled(f)) return false;
        sum = tnp_add(sum, tnp_lgamma(tnp_sub_scalar(x, tn_float((double)k / 2), 1)), 1);
    }
    f->out[0] = tnp_add_scalar(sum, tn_float(p * (p - 1) / 4 * log_pi), 1);
    return f->out[0] != NULL;
}
/* The logarithm of the multivariate gamma function of dimension p: p (p - 1) / 4 log pi and the sum
 * of lgamma(self - k / 2) for k in 0..p - 1. */
TN_OPERATOR(mvlgamma, "mvlgamma(Tensor self, int p) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_mvlgamma(x, 2)",
                   .python = "special.multigammaln"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_UNCAST, .compose = mvlgamma_compose,
            .domain = "self:3.2..9", .sample = "(35) 1 | (3,5) 3 | () 2 | (0,2) 2 | (4):i64<9 1")
