/* pointwise.c - arithmetic: sums, products, quotients, powers, rounding, extremes. A row is its
 * expression; drive.c runs it. Shapes broadcast, dtypes promote as torch's; gradients are torch's
 * where a derivative has a choice. */
#include "drive.h"
#include "../gen/rows.h"

static tn_tensor *pw_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }
static tn_tensor *pw_times(tn_tensor *t, double by) {
    return by == 1 ? t : tnp_mul_scalar(t, tn_float(by));
}
/* t where the mask is true, else 0: no NaN of the other branch gets through */
static tn_tensor *pw_where(tn_tensor *mask, tn_tensor *t) {
    return tnp_where_scalar(mask, t, tn_int(0));
}
static void pw_zero_grad(tn_gradient *g) { /* constant almost everywhere */
    for (int i = 0; i < g->nin; i++)
        if (g->want[i]) tn_give(g, i, tnp_zeros_like(g->in[i], TN_NO_DTYPE, TN_NO_DEVICE));
}

/* --- sums, products, quotients ---------------------------------------------------------------- */

static void add_grad(tn_gradient *g) {
    TN_ARGS(add, a, g);
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, pw_times(g->incoming[0], a->alpha));
}
/* self + alpha * other, rounded once. Of bools: or.   (*), (*) -> broadcast   tn_add(x, y, .alpha =
 * 2) */
TN_OPERATOR(add, "add.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FICB, V_FMA(alpha, other, self)),
            .grad = add_grad,
            .sample = "(35) (35) | (1) (1) | (2) (2) | (3) (3) | (5) (5) | (7) (7) alpha=2 | (8) "
                      "(8) | (9) (9) | (15) (15) | "
                      "(16) (16) | (17) (17) | (31) (31) | (33) (33) | (2,3,5) (3,1) alpha=3 | () "
                      "(4) | (0,3) (3) | (9) 2 | "
                      "(40000) (40000) | (70,70) (70,70) | "
                      "(4,70) (70) | (4,1) (70) | (20,20) (20,1) | (3,4):i64 (4) | (3) ():f64 | "
                      "(5):bool (5):bool")

static void sub_grad(tn_gradient *g) {
    TN_ARGS(sub, a, g);
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tnp_mul_scalar(g->incoming[0], tn_float(-a->alpha)));
}
/* self - alpha * other, rounded once. Not of bools.   (*), (*) -> broadcast   tn_sub(x, y) */
TN_OPERATOR(
    sub, "sub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FIC, V_FNMA(alpha, other, self)), .grad = sub_grad,
    .sample = "(35) (35) | (2,3,5) (3,1) alpha=3 | () (4) | (0,3) (3) | (9) 2 | (3,4):i64 (4)",
    .node = "RsubBackward1 self=number")

static bool rsub_compose(tn_frame *f) {
    TN_ARGS(rsub, a, f);
    return (f->out[0] = tnp_sub(f->in[1], f->in[0], a->alpha)) != NULL;
}
/* other - alpha * self, for a number on the left: 1 - x.   (*), (*) -> broadcast tn_rsub_scalar(x,
 * 1) */
TN_OPERATOR(rsub, "rsub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
            .forms = TN_OUT, .compose = rsub_compose,
            .sample = "(35) (35) | (2,3) (3) alpha=2 | (9) 2 | () 1 | (0) 1")

static void mul_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, pw_conj(g->in[1])));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, pw_conj(g->in[0])));
}
/* self * other. Of bools: and.   (*), (*) -> broadcast   tn_mul(x, y) */
TN_OPERATOR(mul, "mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:other other:self",
            TN_POINTWISE(FICB, V_MUL(self, other)), .grad = mul_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) 2 | (9) 0.5 | "
                      "(3,4):i64 (4) | (5):bool (5):bool")

static void div_grad(tn_gradient *g) { /* d / b and -d (a / b) / b */
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1];
    if (g->want[0]) tn_give(g, 0, tnp_div(d, pw_conj(b)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), pw_conj(tnp_div(tnp_div(a, b), b))));
}
/* self / other; integers become floats.   (*), (*) -> broadcast   tn_div(x, y) */
TN_OPERATOR(
    div, "div.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
    .needs = "self:other other:self,other", TN_POINTWISE(FC, V_DIV(self, other)), .grad = div_grad,
    .domain = "other:0.5..2",
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) 2 | (9):i64 4 | (4):bool 2")

/* self / other without its fraction: towards 0.   (*), (*) -> broadcast   tn_div_trunc(x, y) */
TN_OPERATOR(div_trunc, "div_trunc(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_DIVISION(FI, V_TRUNCDIV(self, other)),
            .grad = pw_zero_grad, .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 2 | (9):i32 -3 | (0) 1")

/* The floor of self / other, computed as (self - remainder) / other.   (*), (*) -> broadcast
 * tn_floor_divide(x, y) */
TN_OPERATOR(floor_divide, "floor_divide(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_DIVISION(FI, V_FLOORDIV(self, other)),
            .grad = pw_zero_grad, .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 2 | (9):i32 -3 | (0) 1")

static bool div_mode_compose(tn_frame *f) {
    TN_ARGS(div_mode, a, f);
    const bool floors = a->rounding_mode == TN_ROUNDING_FLOOR,
               truncates = a->rounding_mode == TN_ROUNDING_TRUNC;
    tn_tensor *other = f->in[1];
    f->out[0] = floors      ? tnp_floor_divide(f->in[0], other)
                : truncates ? tnp_div_trunc(f->in[0], other)
                            : tnp_div(f->in[0], other);
    return f->out[0] != NULL;
}
/* self / other, then rounded: `trunc`, `floor`, or not at all (None).   (*), (*) -> broadcast
 * tn_div_mode(x, y, .rounding_mode = TN_ROUNDING_FLOOR) */
TN_OPERATOR(
    div_mode,
    "div.Tensor_mode(Tensor self, Tensor|Scalar other, *, Rounding? rounding_mode) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, .compose = div_mode_compose, .domain = "other:0.5..2",
    .sample = "(3,5) (5) rounding_mode=None | (4) (4) rounding_mode=floor | (9):i64 2 "
              "rounding_mode=trunc",
    .node = "DivBackward2")

static void remainder_grad(tn_gradient *g) { /* a - b floor(a / b) */
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, d);
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), tnp_floor_divide(g->in[0], g->in[1])));
}
/* self - other * floor(self / other): has the sign of other.   (*), (*) -> broadcast
 * tn_remainder(x, y) */
TN_OPERATOR(remainder, "remainder.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_DIVISION(FI, V_REMAINDER(self, other)), .grad = remainder_grad,
            .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 3 | (9):i32 -3 | (9) -1.5 | (0) 1",
            .node = "RemainderBackward0 other=number | RemainderBackward1")

static void fmod_grad(tn_gradient *g) { /* a - b trunc(a / b) */
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, d);
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), tnp_div_trunc(g->in[0], g->in[1])));
}
/* self - other * trunc(self / other): has the sign of self; exact.   (*), (*) -> broadcast
 * tn_fmod(x, y) */
TN_OPERATOR(fmod, "fmod.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_DIVISION(FI, V_FMOD(self, other)), .grad = fmod_grad,
            .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 3 | (9) -1.5 | (0) 1",
            .node = "FmodBackward0 other=number | FmodBackward1")

static void addcmul_grad(tn_gradient *g) {
    TN_ARGS(addcmul, a, g);
    tn_tensor *d = pw_times(g->incoming[0], a->value);
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, pw_conj(g->in[2])));
    if (g->want[2]) tn_give(g, 2, tnp_mul(d, pw_conj(g->in[1])));
}
/* self + value * tensor1 * tensor2.   (*), (*), (*) -> broadcast   tn_addcmul(x, a, b, .value =
 * 0.5) */
TN_OPERATOR(addcmul,
            "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "tensor1:tensor2 tensor2:tensor1",
            TN_POINTWISE(FIc, V_FMA(V_MUL(value, tensor1), tensor2, self)), .grad = addcmul_grad,
            .sample = "(35) (35) (35) | (2,3) (3) (2,1) value=2 | () () () | (0) (0) (0)")

static void addcdiv_grad(tn_gradient *g) {
    TN_ARGS(addcdiv, a, g);
    tn_tensor *d = pw_times(g->incoming[0], a->value), *x = g->in[1], *y = g->in[2];
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tnp_div(d, pw_conj(y)));
    if (g->want[2]) tn_give(g, 2, tnp_mul(tnp_neg(d), pw_conj(tnp_div(tnp_div(x, y), y))));
}
/* self + value * tensor1 / tensor2, not both of integers.   (*), (*), (*) -> broadcast
 * tn_addcdiv(x, a, b, .value = 0.5) */
TN_OPERATOR(addcdiv,
            "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "tensor1:tensor2 tensor2:tensor1,tensor2",
            TN_QUOTIENT(Fc, V_FMA(value, V_DIV(tensor1, tensor2), self)), .grad = addcdiv_grad,
            .domain = "tensor2:0.5..2",
            .sample = "(35) (35) (35) | (2,3) (3) (2,1) value=2 | () () () | (0) (0) (0)")

/* --- signs and inverses ----------------------------------------------------------------------- */

static void neg_grad(tn_gradient *g) { tn_give(g, 0, tnp_neg(g->incoming[0])); }
/* -self.   (*) -> (*)   tn_neg(x) */
TN_OPERATOR(neg, "neg(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIC, V_NEG(self)), .grad = neg_grad, .sample = "(35) | (3,5) | () | (0,2)")

static void abs_grad(tn_gradient *g) { tn_give(g, 0, tnp_mul(g->incoming[0], tnp_sgn(g->in[0]))); }
/* |self|, real; the smallest integer stays itself. Gradient 0 at 0. Not in place of complex
 * numbers. (*) -> (*)   tn_abs(x) */
TN_OPERATOR(abs, "abs(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_TO_REAL(FIc, V_ABS(self)), .grad = abs_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (20):c64 | (3,5):c128")

/* -1, 0 or 1; 0 of NaN.   (*) -> (*)   tn_sign(x) */
TN_OPERATOR(sign, "sign(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIB, V_SIGN(self)), .grad = pw_zero_grad,
            .sample = "(35) | (3,5) | () | (0,2)")

/* d / |x| less its part along x: (d - sgn Re(d sgn*)) / |x|, 0 at 0 and of real numbers */
static void sgn_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *d = g->incoming[0], *sgn = tnp_sgn(x), *along;
    if (!tni_is_complex(x->dtype)) {
        pw_zero_grad(g);
        return;
    }
    along = tnp_mul(sgn, tnp_real(tnp_mul(d, tnp_conj(sgn))));
    d = tnp_div(tnp_sub(d, along, 1), tnp_abs(x));
    tn_give(g, 0, tnp_masked_fill_scalar(d, tnp_eq_scalar(x, tn_int(0)), tn_int(0)));
}
/* self / |self|, 0 of 0: the sign of real numbers, the direction of complex ones.   (*) -> (*)
 * tn_sgn(x) */
TN_OPERATOR(sgn, "sgn(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT, .needs = "self:self",
            TN_POINTWISE(FIcB, V_SIGN(self)), .grad = sgn_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (20):c64 | (3,5):c128")

static void reciprocal_grad(tn_gradient *g) { /* -1 / x^2 */
    tn_tensor *y = pw_conj(g->out[0]);
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], tnp_mul(y, y))));
}
/* 1 / self.   (*) -> (*), floating   tn_reciprocal(x) */
TN_OPERATOR(reciprocal, "reciprocal(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(FC, V_DIV(V_ONE, self)), .grad = reciprocal_grad,
            .domain = "self:0.5..2", .sample = "(35) | (3,5) | () | (0,2) | (4):i64<1")

/* The sign of self times that of the result: 0 at 0, and nothing for what only lends its sign. */
static void copysign_grad(tn_gradient *g) {
    if (g->want[0]) {
        tn_tensor *sign = tnp_mul(tnp_sign(g->in[0]), tnp_sign(g->out[0]));
        tn_give(g, 0, tnp_mul(g->incoming[0], sign));
    }
    if (g->want[1]) tn_give(g, 1, tnp_zeros_like(g->in[1], TN_NO_DTYPE, TN_NO_DEVICE));
}
/* |self| with the sign of other, that of a zero or NaN, too; integers become floats. Gradient 0 at
 * 0.   (*), (*) -> broadcast   tn_copysign(x, y) */
TN_OPERATOR(copysign, "copysign.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,result",
            TN_POINTWISE(F, V_COPYSIGN(self, other)), .grad = copysign_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) -2 | (9) 0.5 | "
                      "(3,4):i64 (4) | (9):i64 -1 | (5):bool (5)",
            .node = "CopysignBackward1 other=number")

static void square_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_mul_scalar(pw_conj(g->in[0]), tn_int(2))));
}
/* self * self.   (*) -> (*)   tn_square(x) */
TN_OPERATOR(square, "square(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_COUNTING(FIC, V_SQUARE(self)), .grad = square_grad,
            .sample = "(35) | (3,5) | () | (0,2)", .node = "PowBackward0")

/* --- powers ----------------------------------------------------------------------------------- */

static void
pow_grad(tn_gradient *g) { /* b a^(b - 1), 0 where b = 0; a^b log a, 0 where a = 0 and b >= 0 */
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1], *slope;
    if (g->want[0]) {
        slope = tnp_mul(b, tnp_pow(a, tnp_sub_scalar(b, tn_int(1), 1)));
        tn_give(g, 0, pw_where(tnp_ne_scalar(b, tn_int(0)), tnp_mul(d, pw_conj(slope))));
    }
    if (g->want[1]) {
        tn_tensor *flat = tnp_eq_scalar(a, tn_int(0));
        slope = tnp_mul(g->out[0], tnp_log(a));
        if (!tni_is_complex(b->dtype)) flat = tnp_logical_and(flat, tnp_ge_scalar(b, tn_int(0)));
        tn_give(g, 1, pw_where(tnp_logical_not(flat), tnp_mul(d, pw_conj(slope))));
    }
}
/* self ^ exponent as C's pow; exponents 2 and 3 are products. Integers wrap; a negative
 * number is no power of theirs, and by a tensor of them gives 0 but for 1 and -1.
 * (*), (*) -> broadcast   tn_pow_scalar(x, 2) */
TN_OPERATOR(
    pow, "pow.Tensor_Tensor(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, .needs = "self:self,exponent exponent:self,exponent,result",
    TN_POWER(FIc, V_POW(self, exponent)), .grad = pow_grad, .domain = "self:0.3..2",
    .sample =
        "(35) (35) | (2,3) (3) | (9) 2 | (9) 3 | (9) -1.5 | (9):i64 3 | 2 (9) | () () | (0) 2",
    .node = "PowBackward0 exponent=number | PowBackward2 self=number | PowBackward1")

static void sqrt_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_div(g->incoming[0], pw_conj(tnp_mul_scalar(g->out[0], tn_int(2)))));
}
/* The square root, correctly rounded.   (*) -> (*), floating   tn_sqrt(x) */
TN_OPERATOR(sqrt, "sqrt(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(Fc, V_SQRT(self)), .grad = sqrt_grad,
            .domain = "self:0.2..3", .sample = "(35) | (3,5) | () | (0,2) | (4):i64<9")

static void hypot_grad(tn_gradient *g) { /* the share of each side; NaN at 0 */
    tn_tensor *d = g->incoming[0], *h = g->out[0];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_div(g->in[0], h)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tnp_div(g->in[1], h)));
}
/* sqrt(self^2 + other^2) without overflow on the way; infinite where either is, though the other be
 * NaN. Not of integers alone.   (*), (*) -> broadcast, floating   tn_hypot(x, y) */
TN_OPERATOR(hypot, "hypot(Tensor self, Tensor other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self,result other:other,result", TN_FLOATING(F, V_HYPOT(self, other)),
            .grad = hypot_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64")

static void rsqrt_grad(tn_gradient *g) { /* -x^(-3/2) / 2 */
    tn_tensor *y = pw_conj(g->out[0]);
    tn_give(g, 0,
            tnp_mul(tnp_mul_scalar(g->incoming[0], tn_float(-0.5)), tnp_mul(y, tnp_mul(y, y))));
}
/* 1 / sqrt(self).   (*) -> (*), floating   tn_rsqrt(x) */
TN_OPERATOR(rsqrt, "rsqrt(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            .needs = "self:result", TN_POINTWISE(Fc, V_DIV(V_ONE, V_SQRT(self))),
            .grad = rsqrt_grad, .domain = "self:0.2..3", .sample = "(35) | (3,5) | () | (0,2)")

/* --- rounding --------------------------------------------------------------------------------- */

/* The largest integer not above self; integers as they are.   (*) -> (*)   tn_floor(x) */
TN_OPERATOR(floor, "floor(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_FLOOR(self)), .grad = pw_zero_grad, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

/* The smallest integer not below self.   (*) -> (*)   tn_ceil(x) */
TN_OPERATOR(ceil, "ceil(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_CEIL(self)), .grad = pw_zero_grad, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

/* The nearest integer, halves to the even one.   (*) -> (*)   tn_round(x) */
TN_OPERATOR(round, "round(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_ROUND(self)), .grad = pw_zero_grad, .domain = "self:0.6..1.4",
            .sample = "(35) | (3,5) | () | (0,2)")

/* self without its fraction.   (*) -> (*)   tn_trunc(x) */
TN_OPERATOR(trunc, "trunc(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_TRUNC(self)), .grad = pw_zero_grad, .domain = "self:0.2..0.8",
            .sample = "(35) | (3,5) | () | (0,2)")

static void frac_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }
/* self - trunc(self).   (*) -> (*), floating   tn_frac(x) */
TN_OPERATOR(frac, "frac(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(F, V_SUB(self, V_TRUNC(self))), .grad = frac_grad,
            .domain = "self:0.2..0.8", .sample = "(35) | (3,5) | () | (0,2)")

static void nextafter_grad(tn_gradient *g) { /* a step of self; where they are equal, none */
    if (g->want[0]) tn_give(g, 0, pw_where(tnp_ne(g->in[0], g->in[1]), g->incoming[0]));
    if (g->want[1]) tn_give(g, 1, tnp_zeros_like(g->in[1], TN_NO_DTYPE, TN_NO_DEVICE));
}
/* The number next to self on the way to other, in the result's dtype; other where they are equal,
 * without a gradient. Not of integers alone.   (*), (*) -> broadcast, floating
 * tn_nextafter(x, y) */
TN_OPERATOR(nextafter, "nextafter(Tensor self, Tensor other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,other",
            TN_STEPPING(F, V_NEXTAFTER(self, other)), .grad = nextafter_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (3,4) (4):i64")

/* --- extremes --------------------------------------------------------------------------------- */

/* d but where a is behind b, half of it where they are equal; all of it where one is NaN */
static tn_tensor *pw_share(tn_tensor *d, tn_tensor *behind, tn_tensor *a, tn_tensor *b) {
    tn_tensor *half = tnp_mul_scalar(d, tn_float(0.5));
    return tnp_where(tnp_eq(a, b), half, tnp_where(behind, tnp_zeros_like(d, TN_NO_DTYPE, 0), d));
}
static void maximum_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, pw_share(d, tnp_lt(a, b), a, b));
    if (g->want[1]) tn_give(g, 1, pw_share(d, tnp_gt(a, b), a, b));
}
/* The larger of the two; NaN where either is. Equal elements share the gradient.   (*), (*) ->
 * broadcast   tn_maximum(x, y) */
TN_OPERATOR(maximum, "maximum(Tensor self, Tensor other) -> Tensor", .forms = TN_OUT,
            .needs = "self:self,other other:self,other", TN_POINTWISE(FIB, V_MAXIMUM(self, other)),
            .grad = maximum_grad, .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

static void minimum_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, pw_share(d, tnp_gt(a, b), a, b));
    if (g->want[1]) tn_give(g, 1, pw_share(d, tnp_lt(a, b), a, b));
}
/* The smaller of the two; NaN where either is. Equal elements share the gradient.   (*), (*) ->
 * broadcast   tn_minimum(x, y) */
TN_OPERATOR(minimum, "minimum(Tensor self, Tensor other) -> Tensor", .forms = TN_OUT,
            .needs = "self:self,other other:self,other", TN_POINTWISE(FIB, V_MINIMUM(self, other)),
            .grad = minimum_grad, .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3)")

/* At a number there is none, with a tensor it is shared, as torch has it. */
static void clamp_min_grad(tn_gradient *g) {
    if (g->in[1] && g->in[1]->flags & TNI_NUMBER)
        tn_give(g, 0, pw_where(tnp_gt(g->in[0], g->in[1]), g->incoming[0]));
    else
        maximum_grad(g);
}
/* The larger of self and min.   (*), (*) -> broadcast   tn_clamp_min_scalar(x, 0) */
TN_OPERATOR(clamp_min, "clamp_min.Tensor(Tensor self, Tensor|Scalar min) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,min min:self,min",
            TN_BOUND_LOW(FIB, V_MAXIMUM(self, min)), .grad = clamp_min_grad,
            .sample = "(35) (35) | (2,3) (3) | (9) 0.5 | (9):i64 1 | (9):i64 0.5 | (0) 1",
            .node = "ClampMinBackward0 min=number | ClampMinBackward1")

static void clamp_max_grad(tn_gradient *g) {
    if (g->in[1] && g->in[1]->flags & TNI_NUMBER)
        tn_give(g, 0, pw_where(tnp_lt(g->in[0], g->in[1]), g->incoming[0]));
    else
        minimum_grad(g);
}
/* The smaller of self and max.   (*), (*) -> broadcast   tn_clamp_max_scalar(x, 1) */
TN_OPERATOR(clamp_max, "clamp_max.Tensor(Tensor self, Tensor|Scalar max) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,max max:self,max",
            TN_BOUND_HIGH(FIB, V_MINIMUM(self, max)), .grad = clamp_max_grad,
            .sample = "(35) (35) | (2,3) (3) | (9) 0.5 | (9):i64 1 | (0) 1",
            .node = "ClampMaxBackward0 max=number | ClampMaxBackward1")

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
/* self, but at least min and then at most max; None is no bound. No gradient passes at the bounds.
 * (*) -> (*) tn_clamp(x, .min = TN_NUM(-1), .max = TN_NUM(1)) */
TN_OPERATOR(clamp, "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .compose = clamp_compose,
            .sample = "(35) 0 1 | (3,5) min=0.5 | (3,5) max=0.5 | (9):i64 -2 2 | () 0 1 | (0) 0 1",
            .node = "ClampBackward1")

static bool clamp_tensor_compose(tn_frame *f) {
    tn_tensor *t = f->in[0];
    if (!f->in[1] && !f->in[2])
        return tn_fail(f, TN_INVALID, "at least one of 'min' and 'max' must be given");
    if (f->in[1]) t = tnp_clamp_min(t, f->in[1]);
    if (f->in[2]) t = tnp_clamp_max(t, f->in[2]);
    f->out[0] = t;
    return t != NULL;
}
/* The same with a tensor of bounds.   (*), (*), (*) -> broadcast   tn_clamp_tensor(x, .min = low,
 * .max = high) */
TN_OPERATOR(clamp_tensor, "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, .compose = clamp_tensor_compose,
            .sample = "(3,5) (5) (3,1) | (9) max=(9) | (0) (0)")

static void lerp_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *w = pw_conj(g->in[2]);
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_rsub_scalar(w, tn_int(1), 1)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, w));
    if (g->want[2]) tn_give(g, 2, tnp_mul(d, pw_conj(tnp_sub(g->in[1], g->in[0], 1))));
}
/* self + weight * (end - self), from the end for weights of 1/2 and more. All of one dtype, but for
 * a weight without dimensions.   (*), (*), (*) -> broadcast   tn_lerp_scalar(x, y, 0.1) */
TN_OPERATOR(
    lerp, "lerp.Tensor(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, .needs = "self:weight end:weight weight:self,end",
    TN_BETWEEN(Fc, V_SEL(V_WITHIN(weight, 0.5), V_FMA(weight, V_SUB(end, self), self),
                         V_FNMA(V_SUB(end, self), V_SUB(V_ONE, weight), end))),
    .grad = lerp_grad,
    .sample =
        "(35) (35) (35) | (2,3) (3) (2,1) | (9) (9) 0.3 | (9) (9) 0.75 | () () () | (0) (0) 0.5",
    .node = "LerpBackward0 weight=number | LerpBackward1")
