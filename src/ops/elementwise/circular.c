/* circular.c - circular and hyperbolic functions and their inverses, by those of simd/math.h. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "gradients.h"

static void sin_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tni_conj_of(tnp_cos(g->in[0]))));
}
/* The sine of self in radians; self may be of any size. */
TN_OPERATOR(sin, "sin(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sin(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(Fc, V_SIN(self)),
            .grad = sin_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static void cos_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], tni_conj_of(tnp_sin(g->in[0])))));
}
/* The cosine of self in radians; self may be of any size. */
TN_OPERATOR(cos, "cos(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_cos(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(Fc, V_COS(self)),
            .grad = cos_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* 1 + tan^2 */
static void tan_grad(tn_gradient *g) {
    tn_give(
        g, 0,
        tnp_mul(g->incoming[0], tnp_add_scalar(tnp_square(tni_conj_of(g->out[0])), tn_int(1), 1)));
}
/* The tangent of self in radians. */
TN_OPERATOR(tan, "tan(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_tan(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(Fc, V_TAN(self)), .grad = tan_grad, .domain = "self:-1.2..1.2",
            .sample = "(35) | (3,5) | () | (0,2)")

/* 1 / sqrt(1 - x^2), conjugated: the slope of asin, and of acos but for its sign */
static tn_tensor *circular_root(tn_tensor *x) {
    return tnp_rsqrt(tnp_rsub_scalar(tnp_square(tni_conj_of(x)), tn_int(1), 1));
}
static void asin_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], circular_root(g->in[0])));
}
/* The angle in [-pi/2, pi/2] whose sine is self; NaN for real numbers outside [-1, 1]. */
TN_OPERATOR(asin, "asin(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_asin(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_ASIN(self)), .grad = asin_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2)")

static void acos_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], circular_root(g->in[0]))));
}
/* The angle in [0, pi] whose cosine is self; NaN for real numbers outside [-1, 1]. */
TN_OPERATOR(acos, "acos(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_acos(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_ACOS(self)), .grad = acos_grad, .domain = "self:-0.9..0.9",
            .sample = "(35) | (3,5) | () | (0,2)")

/* 1 / (1 + x^2) */
static void atan_grad(tn_gradient *g) {
    tn_give(
        g, 0,
        tnp_div(g->incoming[0], tnp_add_scalar(tnp_square(tni_conj_of(g->in[0])), tn_int(1), 1)));
}
/* The angle in (-pi/2, pi/2) whose tangent is self. */
TN_OPERATOR(atan, "atan(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_atan(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(Fc, V_ATAN(self)),
            .grad = atan_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* with r = |(x, y)|: x / r^2 and -y / r^2, divided by r twice since r^2 might overflow; 0
 * at (0, 0) */
static void atan2_grad(tn_gradient *g) {
    tn_tensor *y = g->in[0], *x = g->in[1], *away = tnp_logical_or(y, x), *d, *r;
    /* r is 1 at (0, 0), so the quotients there are finite. */
    x = tnp_where_scalar(away, x, tn_int(1));
    r = tnp_hypot(y, x);
    d = tnp_where_scalar(away, g->incoming[0], tn_int(0));
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_div(tnp_div(x, r), r)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_neg(tnp_div(tnp_div(y, r), r))));
}
/* The angle of the point (x = other, y = self), in [-pi, pi]. The sign of a zero counts, as in C.
 * The gradient is 0 where both are 0. */
TN_OPERATOR(atan2, "atan2(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_atan2(y, x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDEST_CUDA,
            .needs = "self:self,other other:self,other", TN_POINTWISE(F, V_ATAN2(self, other)),
            .grad = atan2_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4):i64 (4) | (9):i64 "
                      "(9):i64 | (5):bool (5):bool")

static void sinh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_cosh(tni_conj_of(g->in[0]))));
}
/* (e^self - e^-self) / 2, within 2 ULP. */
TN_OPERATOR(sinh, "sinh(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sinh(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_SINH(self)), .grad = sinh_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

static void cosh_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_sinh(tni_conj_of(g->in[0]))));
}
/* (e^self + e^-self) / 2, within 2 ULP. */
TN_OPERATOR(cosh, "cosh(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_cosh(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:self",
            TN_POINTWISE(Fc, V_COSH(self)), .grad = cosh_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

/* 1 / sqrt(x^2 + 1), conjugated; of real numbers without overflow on the way */
static void asinh_grad(tn_gradient *g) {
    tn_tensor *x = tni_conj_of(g->in[0]), *one = tnp_ones_like(g->in[0], TN_NO_DTYPE, TN_NO_DEVICE);
    x = tni_is_complex(g->in[0]->dtype) ? tnp_sqrt(tnp_add(tnp_square(x), one, 1))
                                        : tnp_hypot(x, one);
    tn_give(g, 0, tnp_div(g->incoming[0], x));
}
/* The number whose sinh is self; of complex numbers -i asin(i self). */
TN_OPERATOR(asinh, "asinh(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_asinh(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self", TN_POINTWISE(Fc, V_ASINH(self)),
            .grad = asinh_grad, .sample = "(35) | (3,5) | () | (0,2)")

static bool deg2rad_compose(tn_frame *f) {
    if (tni_is_complex(f->in[0]->dtype))
        return tn_fail(f, TN_TYPE, "deg2rad is not supported for complex tensors.");
    f->out[0] = tnp_mul_scalar(f->in[0], tn_float(0.017453292519943295769));
    return f->out[0] != NULL;
}
/* Degrees as radians: pi / 180 self. */
TN_OPERATOR(deg2rad, "deg2rad(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_deg2rad(x)"),
            .forms = TN_INPLACE | TN_OUT, .compose = deg2rad_compose,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

static bool rad2deg_compose(tn_frame *f) {
    if (tni_is_complex(f->in[0]->dtype))
        return tn_fail(f, TN_TYPE, "rad2deg is not supported for complex tensors.");
    f->out[0] = tnp_mul_scalar(f->in[0], tn_float(57.295779513082320877));
    return f->out[0] != NULL;
}
/* Radians as degrees: 180 / pi self. */
TN_OPERATOR(rad2deg, "rad2deg(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_rad2deg(x)"),
            .forms = TN_INPLACE | TN_OUT, .compose = rad2deg_compose,
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64")

/* i z / |z|^2 of complex numbers, 0 at 0 and of real numbers */
static void angle_grad(tn_gradient *g) {
    tn_tensor *z = g->in[0], *slope;
    if (!tni_is_complex(z->dtype)) {
        tni_give_zeros(g, 0);
        return;
    }
    slope = tnp_mul_scalar(tnp_reciprocal(tnp_conj(z)), tn_complex(0, 1)); /* z / |z|^2 = 1 / z* */
    tn_give(g, 0, tni_where_or_zero(tnp_ne_scalar(z, tn_int(0)), tnp_mul(g->incoming[0], slope)));
}
/* The argument of a complex number, in [-pi, pi]; of real numbers pi below 0, else 0, and NaN of
 * NaN. */
TN_OPERATOR(angle, "angle(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), real", .example = "tn_angle(x)"), .forms = TN_OUT,
            .needs = "self:self", TN_POINTWISE(Fc, V_ANGLE(self), TN_GIVES_REAL),
            .grad = angle_grad, .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (20):c64")
