/* logic.c - truth, bits of integers, and the choice between two tensors, element by element. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

/* --- logic: an element is true when it is not 0 ----------------------------------------------- */

/* Whether both elements are true (nonzero). */
TN_OPERATOR(logical_and, "logical_and(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_logical_and(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIcB, M_AND(V_NE(self, V_ZERO()), V_NE(other, V_ZERO())), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* Whether at least one of both elements is true (nonzero). */
TN_OPERATOR(logical_or, "logical_or(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_logical_or(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIcB, M_OR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO())), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* Whether exactly one of both elements is true (nonzero). */
TN_OPERATOR(logical_xor, "logical_xor(Tensor self, Tensor other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_logical_xor(x, y)"),
            .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(FIcB, M_XOR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO())), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* Whether the element is false (zero). */
TN_OPERATOR(logical_not, "logical_not(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_logical_not(x)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FICB, V_EQ(self, V_ZERO()), TN_GIVES_BOOL),
            .sample = "(35) | (2,3):i64<2 | (5):bool | () | (0)")

/* --- bits of integers and bools --------------------------------------------------------------- */

/* self & other. */
TN_OPERATOR(bitwise_and, "bitwise_and.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_bitwise_and(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_AND(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* self | other. */
TN_OPERATOR(bitwise_or, "bitwise_or.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_bitwise_or(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_OR(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* self ^ other. */
TN_OPERATOR(bitwise_xor, "bitwise_xor.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_bitwise_xor(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_XOR(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* ~self; for bools: logical not. */
TN_OPERATOR(bitwise_not, "bitwise_not(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*)", .example = "tn_bitwise_not(x)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_NOT(self)),
            .sample = "(35):i64 | (35):i32 | (2,3):u8 | (5):bool | ():i8 | (0):i64")

/* self * 2^other, wrapping. The result is 0 if other is not in 0..31, for int64 not in 0..63. */
TN_OPERATOR(
    bitwise_left_shift, "bitwise_left_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_bitwise_left_shift(x, n)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_SHIFT_LEFT(self, other)),
    .sample =
        "(35):i64 (35):i64<9 | (35):i32 (35):i32<9 | (2,3):u8 (3):u8<5 | (9):i16 3 | (9):i64 70")

/* floor(self / 2^other). */
TN_OPERATOR(
    bitwise_right_shift, "bitwise_right_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast", .example = "tn_bitwise_right_shift(x, n)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_SHIFT_RIGHT(self, other)),
    .sample =
        "(35):i64 (35):i64<9 | (35):i32 (35):i32<9 | (2,3):u8 (3):u8<5 | (9):i16 3 | (9):i64 70")

/* --- choice ----------------------------------------------------------------------------------- */

/* Each side's gradient is 0 where the other was chosen. */
static void where_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[1]) tn_give(g, 1, tnp_where_scalar(g->in[0], d, tn_int(0)));
    if (g->want[2]) tn_give(g, 2, tnp_where_scalar_self(g->in[0], tn_int(0), d));
}
/* self where condition is true, else other. */
TN_OPERATOR(
    where, "where.self(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*) bool, (*), (*) -> broadcast", .example = "tn_where(mask, x, y)"),
    .forms = TN_OUT, .needs = "self:condition other:condition",
    TN_POINTWISE(FICB, V_SEL(condition, self, other), TN_TAKES_MASK), .grad = where_grad,
    .sample =
        "(35):bool (35) (35) | (2,3):bool (3) (2,1) | (9):bool (9) 0 | (9):bool 1 (9) | (4):bool "
        "(4):i64 (4) | "
        "():bool (3) (3) | (0):bool (0) (0) | (5):bool (5):bool (5):bool | (7):bool (7):u8 (7):u8")
