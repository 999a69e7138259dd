/* arithmetic.c - sums, products, quotients, signs and inverses, element by element. A row is its
 * expression; cpu/drive.c runs it. Shapes broadcast and dtypes promote as torch's; gradients are
 * torch's where a derivative has a choice.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "gradients.h"

/* --- sums, products, quotients ---------------------------------------------------------------- */

/* Shapes that broadcast give gradients of the result's shape; the engine sums each to its input's.
 * That holds for all rows here. */
static void add_grad(tn_gradient *g) {
    TN_ARGS(add, a, g);
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tni_times(g->incoming[0], a->alpha));
}
/* self + alpha * other, rounded once. For bools: logical or. */
TN_OPERATOR(add, "add.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_add(x, y, .alpha = 2)"),
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
/* self - alpha * other, rounded once. bool is refused. */
TN_OPERATOR(
    sub, "sub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_sub(x, y)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FIC, V_FNMA(alpha, other, self)), .grad = sub_grad,
    .sample = "(35) (35) | (2,3,5) (3,1) alpha=3 | () (4) | (0,3) (3) | (9) 2 | (3,4):i64 (4)",
    .node = "RsubBackward1 self=number")

/* sub with its inputs exchanged, so both round alike. */
static bool rsub_compose(tn_frame *f) {
    TN_ARGS(rsub, a, f);
    return (f->out[0] = tnp_sub(f->in[1], f->in[0], a->alpha)) != NULL;
}
/* other - alpha * self, as in 1 - x with a number on the left. */
TN_OPERATOR(rsub, "rsub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_rsub_scalar(x, 1)"),
            .forms = TN_OUT, .compose = rsub_compose,
            .sample = "(35) (35) | (2,3) (3) alpha=2 | (9) 2 | () 1 | (0) 1")

/* d b* and d a* */
static void mul_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tni_conj_of(g->in[1])));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tni_conj_of(g->in[0])));
}
/* self * other. For bools: logical and. */
TN_OPERATOR(mul, "mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_mul(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:other other:self",
            TN_POINTWISE(FICB, V_MUL(self, other)), .grad = mul_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) 2 | (9) 0.5 | "
                      "(3,4):i64 (4) | (5):bool (5):bool")

/* d / b and -d (a / b) / b: a / b^2 might overflow in b^2 */
static void div_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *a = g->in[0], *b = g->in[1];
    if (g->want[0]) tn_give(g, 0, tnp_div(d, tni_conj_of(b)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), tni_conj_of(tnp_div(tnp_div(a, b), b))));
}
/* self / other; integers give floats. */
TN_OPERATOR(
    div, "div.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_div(x, y)"),
    .forms = TN_INPLACE | TN_OUT, .needs = "self:other other:self,other",
    TN_POINTWISE(FC, V_DIV(self, other)), .grad = div_grad, .domain = "other:0.5..2",
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) 2 | (9):i64 4 | (4):bool 2")

/* self / other rounded towards 0. */
TN_OPERATOR(div_trunc, "div_trunc(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_div_trunc(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_TRUNCDIV(self, other), TN_NO_ZERO_DIVISOR),
            .grad = tni_give_zeros_all, .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 2 | (9):i32 -3 | (0) 1")

/* floor(self / other), computed as (self - remainder) / other. */
TN_OPERATOR(floor_divide, "floor_divide(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_floor_divide(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FI, V_FLOORDIV(self, other), TN_NO_ZERO_DIVISOR),
            .grad = tni_give_zeros_all, .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 2 | (9):i32 -3 | (0) 1")

/* Each mode is a row of its own, with its gradient. */
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
/* self / other, rounded by rounding_mode: `trunc` (towards 0), `floor`, or None (not at all). */
TN_OPERATOR(
    div_mode,
    "div.Tensor_mode(Tensor self, Tensor|Scalar other, *, Rounding? rounding_mode) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_div_mode(x, y, TN_ROUNDING_FLOOR)"),
    .forms = TN_INPLACE | TN_OUT, .compose = div_mode_compose, .domain = "other:0.5..2",
    .sample = "(3,5) (5) rounding_mode=None | (4) (4) rounding_mode=floor | (9):i64 2 "
              "rounding_mode=trunc",
    .node = "DivBackward2")

/* of a - b floor(a / b), whose floor is constant between jumps */
static void remainder_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, d);
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), tnp_floor_divide(g->in[0], g->in[1])));
}
/* self - other * floor(self / other). The result has the sign of other. */
TN_OPERATOR(remainder, "remainder.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_remainder(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_POINTWISE(FI, V_REMAINDER(self, other), TN_NO_ZERO_DIVISOR), .grad = remainder_grad,
            .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 3 | (9):i32 -3 | (9) -1.5 | (0) 1",
            .node = "RemainderBackward0 other=number | RemainderBackward1")

/* of a - b trunc(a / b), as in remainder */
static void fmod_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, d);
    if (g->want[1]) tn_give(g, 1, tnp_mul(tnp_neg(d), tnp_div_trunc(g->in[0], g->in[1])));
}
/* self - other * trunc(self / other), computed exactly. The result has the sign of self. */
TN_OPERATOR(fmod, "fmod.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_fmod(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "other:self,other",
            TN_POINTWISE(FI, V_FMOD(self, other), TN_NO_ZERO_DIVISOR), .grad = fmod_grad,
            .domain = "self:0.1..0.4 other:0.5..2",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | (9):i64 3 | (9) -1.5 | (0) 1",
            .node = "FmodBackward0 other=number | FmodBackward1")

/* with v = value: d, v d b* and v d a* */
static void addcmul_grad(tn_gradient *g) {
    TN_ARGS(addcmul, a, g);
    tn_tensor *d = tni_times(g->incoming[0], a->value);
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, tni_conj_of(g->in[2])));
    if (g->want[2]) tn_give(g, 2, tnp_mul(d, tni_conj_of(g->in[1])));
}
/* self + value * tensor1 * tensor2. */
TN_OPERATOR(addcmul,
            "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            TN_DOC(.shapes = "(*), (*), (*) -> broadcast",
                   .example = "tn_addcmul(x, a, b, .value = 0.5)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDEST_CUDA,
            .needs = "tensor1:tensor2 tensor2:tensor1",
            TN_POINTWISE(FIc, V_FMA(V_MUL(value, tensor1), tensor2, self)), .grad = addcmul_grad,
            .sample = "(35) (35) (35) | (2,3) (3) (2,1) value=2 | () () () | (0) (0) (0)")

/* with v = value: d, v d / b and -v d (a / b) / b */
static void addcdiv_grad(tn_gradient *g) {
    TN_ARGS(addcdiv, a, g);
    tn_tensor *d = tni_times(g->incoming[0], a->value), *x = g->in[1], *y = g->in[2];
    if (g->want[0]) tn_give(g, 0, g->incoming[0]);
    if (g->want[1]) tn_give(g, 1, tnp_div(d, tni_conj_of(y)));
    if (g->want[2]) tn_give(g, 2, tnp_mul(tnp_neg(d), tni_conj_of(tnp_div(tnp_div(x, y), y))));
}
/* self + value * tensor1 / tensor2. tensor1 and tensor2 must not both be integers. */
TN_OPERATOR(addcdiv,
            "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
            TN_DOC(.shapes = "(*), (*), (*) -> broadcast",
                   .example = "tn_addcdiv(x, a, b, .value = 0.5)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDEST_CUDA,
            .needs = "tensor1:tensor2 tensor2:tensor1,tensor2",
            TN_POINTWISE(Fc, V_FMA(value, V_DIV(tensor1, tensor2), self), TN_NO_INTEGER_QUOTIENT),
            .grad = addcdiv_grad, .domain = "tensor2:0.5..2",
            .sample = "(35) (35) (35) | (2,3) (3) (2,1) value=2 | () () () | (0) (0) (0)")

/* with w = weight: d (1 - w), d w and d (end - self) */
static void lerp_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *w = tni_conj_of(g->in[2]);
    if (g->want[0]) tn_give(g, 0, tnp_mul(d, tnp_rsub_scalar(w, tn_int(1), 1)));
    if (g->want[1]) tn_give(g, 1, tnp_mul(d, w));
    if (g->want[2]) tn_give(g, 2, tnp_mul(d, tni_conj_of(tnp_sub(g->in[1], g->in[0], 1))));
}
/* self + weight * (end - self), computed from end for weights of 1/2 and more. All tensors have one
 * dtype, except a weight without dimensions, and out= beside a number as weight. */
TN_OPERATOR(
    lerp, "lerp.Tensor(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor",
    TN_DOC(.shapes = "(*), (*), (*) -> broadcast", .example = "tn_lerp_scalar(x, y, 0.1)"),
    .forms = TN_INPLACE | TN_OUT, .needs = "self:weight end:weight weight:self,end",
    TN_POINTWISE(Fc,
                 V_SEL(V_WITHIN(weight, 0.5), V_FMA(weight, V_SUB(end, self), self),
                       V_FNMA(V_SUB(end, self), V_SUB(V_ONE, weight), end)),
                 TN_ONE_DTYPE),
    .grad = lerp_grad,
    .sample =
        "(35) (35) (35) | (2,3) (3) (2,1) | (9) (9) 0.3 | (9) (9) 0.75 | () () () | (0) (0) 0.5",
    .node = "LerpBackward0 weight=number | LerpBackward1")

/* --- signs and inverses ----------------------------------------------------------------------- */

static void neg_grad(tn_gradient *g) { tn_give(g, 0, tnp_neg(g->incoming[0])); }
/* -self. */
TN_OPERATOR(neg, "neg(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_neg(x)"), .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIC, V_NEG(self)), .grad = neg_grad, .sample = "(35) | (3,5) | () | (0,2)")

/* sgn is 0 at 0, and x / |x| for complex numbers */
static void abs_grad(tn_gradient *g) { tn_give(g, 0, tnp_mul(g->incoming[0], tnp_sgn(g->in[0]))); }
/* |self|, real for complex numbers; the smallest integer stays as it is. The gradient at 0 is 0. A
 * complex tensor cannot be changed in place. */
TN_OPERATOR(abs, "abs(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_abs(x)"), .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(FIc, V_ABS(self), TN_GIVES_REAL), .grad = abs_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (20):c64 | (3,5):c128")

/* -1, 0 or 1, the sign of self; 0 for NaN. */
TN_OPERATOR(sign, "sign(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_sign(x)"), .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIB, V_SIGN(self)), .grad = tni_give_zeros_all,
            .sample = "(35) | (3,5) | () | (0,2)")

/* d / |x| less its part along x: (d - sgn Re(d sgn*)) / |x|, 0 at 0 and of real numbers */
static void sgn_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *d = g->incoming[0], *sgn = tnp_sgn(x), *along;
    if (!tni_is_complex(x->dtype)) {
        tni_give_zeros_all(g);
        return;
    }
    along = tnp_mul(sgn, tnp_real(tnp_mul(d, tnp_conj(sgn))));
    d = tnp_div(tnp_sub(d, along, 1), tnp_abs(x));
    tn_give(g, 0, tnp_masked_fill_scalar(d, tnp_eq_scalar(x, tn_int(0)), tn_int(0)));
}
/* self / |self|, and 0 for 0: the sign of a real number, the direction of a complex one. */
TN_OPERATOR(sgn, "sgn(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_sgn(x)"), .forms = TN_INPLACE | TN_OUT,
            .needs = "self:self", TN_POINTWISE(FIcB, V_SIGN(self)), .grad = sgn_grad,
            .sample = "(35) | (3,5) | () | (0,2) | (20):c64 | (3,5):c128")

/* -1 / x^2, from the result y = 1 / x */
static void reciprocal_grad(tn_gradient *g) {
    tn_tensor *y = tni_conj_of(g->out[0]);
    tn_give(g, 0, tnp_neg(tnp_mul(g->incoming[0], tnp_mul(y, y))));
}
/* 1 / self. */
TN_OPERATOR(reciprocal, "reciprocal(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), floating", .example = "tn_reciprocal(x)"),
            .forms = TN_INPLACE | TN_OUT, .autocast = TN_WIDE_CUDA, .needs = "self:result",
            TN_POINTWISE(FC, V_DIV(V_ONE, self)), .grad = reciprocal_grad, .domain = "self:0.5..2",
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64<1")

/* The sign of self times that of the result: 0 at 0, and nothing for what only lends its sign. */
static void copysign_grad(tn_gradient *g) {
    if (g->want[0]) {
        tn_tensor *sign = tnp_mul(tnp_sign(g->in[0]), tnp_sign(g->out[0]));
        tn_give(g, 0, tnp_mul(g->incoming[0], sign));
    }
    if (g->want[1]) tn_give(g, 1, tnp_zeros_like(g->in[1], TN_NO_DTYPE, TN_NO_DEVICE));
}
/* |self| with the sign of other, which may be a zero or NaN; integers give floats. The gradient at
 * 0 is 0. */
TN_OPERATOR(copysign, "copysign.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_copysign(x, y)"),
            .forms = TN_INPLACE | TN_OUT, .needs = "self:self,result",
            TN_POINTWISE(F, V_COPYSIGN(self, other)), .grad = copysign_grad,
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9) -2 | (9) 0.5 | "
                      "(3,4):i64 (4) | (9):i64 -1 | (5):bool (5)",
            .node = "CopysignBackward1 other=number")

/* The greatest common divisor of two integers, at least 0; 0 of 0 and 0. */
TN_OPERATOR(gcd, "gcd(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, integers", .example = "tn_gcd(n, n)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_GCD(self, other)),
            .sample = "(35):i64 (35):i64 | (2,3):i32 (3):i32 | ():u8 (4):u8 | (0):i64 (0):i64")

/* The least common multiple of two integers, at least 0; 0 if one is 0. */
TN_OPERATOR(lcm, "lcm(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, integers", .example = "tn_lcm(n, n)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_LCM(self, other)),
            .sample = "(35):i64 (35):i64 | (2,3):i32 (3):i32 | ():u8 (4):u8 | (0):i64 (0):i64")
