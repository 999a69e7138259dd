/* power.c - powers and roots, element by element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../cpu/walk.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "gradients.h"

static void square_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_mul_scalar(tni_conj_of(g->in[0]), tn_int(2))));
}
/* self * self. */
TN_OPERATOR(square, "square(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_square(x)"), .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(FIC, V_SQUARE(self), TN_COUNTS_BOOL),
            .grad = square_grad, .sample = "(35) | (3,5) | () | (0,2)", .node = "PowBackward0")

/* b a^(b - 1), 0 where b = 0; a^b log a, 0 where a = 0 and b >= 0 */
static void pow_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1], *slope;
    if (g->want[0]) {
        /* At a = 0, b = 0 the product is 0 * infinity: chosen away, not multiplied away. */
        slope = tnp_mul(b, tnp_pow(a, tnp_sub_scalar(b, tn_int(1), 1)));
        tn_give(g, 0,
                tni_where_or_zero(tnp_ne_scalar(b, tn_int(0)), tnp_mul(d, tni_conj_of(slope))));
    }
    if (g->want[1]) {
        /* 0^b is constant in b for b >= 0, where a^b log a would be 0 * -infinity. */
        tn_tensor *flat = tnp_eq_scalar(a, tn_int(0));
        slope = tnp_mul(g->out[0], tnp_log(a));
        if (!tni_is_complex(b->dtype)) flat = tnp_logical_and(flat, tnp_ge_scalar(b, tn_int(0)));
        tn_give(g, 1, tni_where_or_zero(tnp_logical_not(flat), tnp_mul(d, tni_conj_of(slope))));
    }
}
/* self to the power of exponent, as C's pow; exponents 2 and 3 are products. Integers wrap. With an
 * integer self, a negative number as exponent is refused; negative elements of an exponent tensor
 * give 0, except for the bases 1 and -1. */
TN_OPERATOR(
    pow, "pow.Tensor_Tensor(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_pow_scalar(x, 2)"),
    .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA,
    .needs = "self:self,exponent exponent:self,exponent,result",
    TN_POINTWISE(FIc, V_POW(self, exponent), TN_NO_NEGATIVE_POWER), .grad = pow_grad,
    .domain = "self:0.3..2",
    .sample =
        "(35) (35) | (2,3) (3) | (9) 2 | (9) 3 | (9) -1.5 | (9):i64 3 | 2 (9) | () () | (0) 2",
    .node = "PowBackward0 exponent=number | PowBackward2 self=number | PowBackward1")

/* --- float_power ------------------------------------------------------------------------------ */

/* A number stays one: exponents 2 and 3 are products. */
static bool float_power_compose(tn_frame *f) {
    tn_tensor *a = f->in[0], *b = f->in[1];
    const bool complex = tni_is_complex(a->dtype) || tni_is_complex(b->dtype);
    const tn_dtype wide = complex ? TN_C128 : TN_F64;
    if (!(a->flags & TNI_NUMBER)) a = tnp_to_dtype(a, wide, false, false);
    if (!(b->flags & TNI_NUMBER)) b = tnp_to_dtype(b, wide, false, false);
    return (f->out[0] = tnp_pow(a, b)) != NULL;
}
/* pow in float64, or in complex128 if either is complex. */
TN_OPERATOR(
    float_power, "float_power.Tensor_Tensor(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_float_power_scalar(x, 2)"),
    .forms = TN_INPLACE | TN_OUT, .compose = float_power_compose, .domain = "self:0.3..2",
    .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9) 3 | (9) -1.5 | (9):i64 -2 | 2 (9) | () () | "
              "(0) 2",
    .node = "PowBackward0 exponent=number | PowBackward2 self=number | PowBackward1")

/* 1 / (2 sqrt(x)), from the result */
static void sqrt_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], tni_conj_of(tnp_mul_scalar(g->out[0], tn_int(2)))));
}
/* The square root, correctly rounded. */
TN_OPERATOR(sqrt, "sqrt(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_sqrt(x)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:result", TN_POINTWISE(Fc, V_SQRT(self)),
            .grad = sqrt_grad, .domain = "self:0.2..3",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

/* the share of each side, a / h and b / h; NaN at 0, as torch */
static void hypot_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *h = g->out[0];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_div(g->in[0], h)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_div(g->in[1], h)));
}
/* sqrt(self^2 + other^2) without overflow on the way. Infinite if either is infinite, even if the
 * other is NaN. Two integer tensors are refused. */
TN_OPERATOR(hypot, "hypot(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_hypot(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,result other:other,result",
            TN_POINTWISE(F, V_HYPOT(self, other), TN_FLOATS_ONLY), .grad = hypot_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64")

/* -x^(-3/2) / 2, from the result y = x^(-1/2) */
static void rsqrt_grad(tn_gradient *g) {
    tn_tensor *y = tni_conj_of(g->out[0]);
    tn_give(g, 0,
            tnp_mul(tnp_mul_scalar(g->incoming[0], tn_float(-0.5)), tnp_mul(y, tnp_mul(y, y))));
}
/* 1 / sqrt(self). */
TN_OPERATOR(rsqrt, "rsqrt(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_rsqrt(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(Fc, V_DIV(V_ONE, V_SQRT(self))), .grad = rsqrt_grad,
            .domain = "self:0.2..3", .sample = "(35) | (3,5) | () | (0,2)")

/* Of whole exponents in steps of at most the largest power of 2, so that nothing overflows on the
 * way. From the smallest number to the largest it is less than three such steps. */
static bool ldexp_compose(tn_frame *f) {
    tn_tensor *x = f->in[0], *rest = f->in[1];
    tn_dtype real;
    int64_t top;
    if (tni_dtype(rest->dtype)->category >= TNI_CAT_FLOAT) {
        f->out[0] = tnp_mul(x, tnp_pow_scalar_self(tn_float(2), rest));
        return f->out[0] != NULL;
    }
    x = tni_as_float(f, x);
    rest = tnp_to_dtype(rest, TN_I64, false, false);
    if (!x || !rest) return false;
    real = tni_is_complex(x->dtype) ? tni_real_of(x->dtype) : (tn_dtype)x->dtype;
    top = real == TN_F64 ? 1023 : real == TN_F16 ? 15 : 127;
    for (int parts = 3; rest && parts > 0; parts--) {
        tn_tensor *part = tnp_div_mode_scalar(rest, tn_int(parts), TN_ROUNDING_TRUNC);
        part = tnp_clamp(part, tn_int(-top), tn_int(top));
        rest = tnp_sub(rest, part, 1);
        x = tnp_mul(x, tnp_pow_scalar_self(tn_float(2), tnp_to_dtype(part, real, false, false)));
    }
    f->out[0] = x;
    return f->out[0] != NULL;
}
/* self 2^other. Whole exponents do not overflow on the way. */
TN_OPERATOR(ldexp, "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating", .example = "tn_ldexp(x, n)"),
            .forms = TN_INPLACE | TN_OUT, .compose = ldexp_compose,
            .sample = "(35) (35):i64<9 | (2,3) (3) | () () | (0) (0) | (4):i64 (4):i64<5")

static bool frexp_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    if (!tni_is_float(x->dtype))
        return tn_fail(f, TN_TYPE, "torch.frexp() only supports floating-point dtypes");
    return tn_announce_like(f, 0, x, (tn_dtype)x->dtype) && tn_announce_like(f, 1, x, TN_I32);
}
static void frexp_run(tn_frame *f) {
    const tn_tensor *all[3];
    tni_walk w;
    if (!f->in[0]->numel) return;
    all[0] = f->in[0];
    all[1] = f->out[0];
    all[2] = f->out[1];
    tni_walk_start(&w, all[0]->ndim, all[0]->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const double x = tni_element(w.at[0] + i * w.row[0], all[0]->dtype).real;
            int n = 0;
            const double m = x - x == 0 ? frexp(x, &n) : x; /* C leaves n open of infinities */
            tni_element_set(w.at[1] + i * w.row[1], all[1]->dtype, tn_float(m));
            tni_element_set(w.at[2] + i * w.row[2], TN_I32, tn_int(n));
        }
}
/* 2^-exponent, since self = mantissa 2^exponent */
static void frexp_grad(tn_gradient *g) {
    tn_tensor *by = tnp_neg(g->out[1]);
    if (g->incoming[0]) tn_give(g, 0, tnp_ldexp(g->incoming[0], by));
}
/* self as mantissa 2^exponent, 1/2 <= |mantissa| < 1; 0, infinities and NaN are their mantissa,
 * with exponent 0. */
TN_OPERATOR(frexp, "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
            TN_DOC(.shapes = "(*) -> (*), (*) int32", .example = "tn_frexp(x)"),
            .forms = TN_OUT | TN_LEADING, .needs = "self:exponent", .check = frexp_check,
            .run = frexp_run, .grad = frexp_grad, .domain = "self:0.55..0.95",
            .sample = "(35) | (3,5) | () | (0,2)")
