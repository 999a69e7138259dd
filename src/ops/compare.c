/* compare.c - predicates, logic, bits, and the choice between two tensors. */
#include "drive.h"
#include "../gen/rows.h"

/* --- comparison: with a bool result ----------------------------------------------------------- */

/* self = other; false on NaN.   (*), (*) -> broadcast, bool   tn_eq(x, y) */
TN_OPERATOR(eq, "eq.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_PREDICATE(FIC, V_EQ(self, other)),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool "
                      "(5):bool | (9):i32<3 (9):i32<3")

/* self <> other; true on NaN.   (*), (*) -> broadcast, bool   tn_ne(x, y) */
TN_OPERATOR(ne, "ne.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_PREDICATE(FIC, V_NE(self, other)),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool "
                      "(5):bool | (9):i32<3 (9):i32<3")

/* self < other; false on NaN.   (*), (*) -> broadcast, bool   tn_lt(x, y) */
TN_OPERATOR(lt, "lt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_PREDICATE(FI, V_LT(self, other)),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (9):i64 0.5 | "
                      "(5):bool (5):bool")

/* self <= other; false on NaN.   (*), (*) -> broadcast, bool   tn_le(x, y) */
TN_OPERATOR(
    le, "le.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
    TN_PREDICATE(FI, V_LE(self, other)),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* self > other; false on NaN.   (*), (*) -> broadcast, bool   tn_gt(x, y) */
TN_OPERATOR(
    gt, "gt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
    TN_PREDICATE(FI, V_GT(self, other)),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* self >= other; false on NaN.   (*), (*) -> broadcast, bool   tn_ge(x, y) */
TN_OPERATOR(
    ge, "ge.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", .forms = TN_INPLACE | TN_OUT,
    TN_PREDICATE(FI, V_GE(self, other)),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* Whether an element is NaN; a complex one when either part is.   (*) -> (*), bool   tn_isnan(x) */
TN_OPERATOR(isnan, "isnan(Tensor self) -> Tensor", TN_PREDICATE(FC, V_ISNAN(self)),
            .sample = "(35) | (3,5) | () | (0,2)")

/* Whether an element is infinite; a complex one when either part is.   (*) -> (*), bool tn_isinf(x)
 */
TN_OPERATOR(isinf, "isinf(Tensor self) -> Tensor", TN_PREDICATE(FC, V_ISINF(self)),
            .sample = "(35) | (3,5) | () | (0,2)")

/* Whether an element is neither infinite nor NaN.   (*) -> (*), bool   tn_isfinite(x) */
TN_OPERATOR(isfinite, "isfinite(Tensor self) -> Tensor", TN_PREDICATE(FC, V_ISFINITE(self)),
            .sample = "(35) | (3,5) | () | (0,2)")

/* Whether the sign is minus, that of a zero or NaN, too.   (*) -> (*), bool   tn_signbit(x) */
TN_OPERATOR(signbit, "signbit(Tensor self) -> Tensor", .forms = TN_OUT,
            TN_PREDICATE(FI, V_SIGNBIT(self)),
            .sample = "(35) | (3,5) | () | (0,2) | (9):i32 | (5):u8 | (5):bool")

/* --- logic: an element is true when it is not 0 ----------------------------------------------- */

/* Both are true.   (*), (*) -> broadcast, bool   tn_logical_and(x, y) */
TN_OPERATOR(logical_and, "logical_and(Tensor self, Tensor other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT,
            TN_PREDICATE(FIcB, M_AND(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* One is true.   (*), (*) -> broadcast, bool   tn_logical_or(x, y) */
TN_OPERATOR(logical_or, "logical_or(Tensor self, Tensor other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT,
            TN_PREDICATE(FIcB, M_OR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* Just one is true.   (*), (*) -> broadcast, bool   tn_logical_xor(x, y) */
TN_OPERATOR(logical_xor, "logical_xor(Tensor self, Tensor other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT,
            TN_PREDICATE(FIcB, M_XOR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))),
            .sample = "(35) (35) | (2,3):i64 (3) | (5):bool (5):bool | () () | (0) (0)")

/* It is not true.   (*) -> (*), bool   tn_logical_not(x) */
TN_OPERATOR(logical_not, "logical_not(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_PREDICATE(FICB, V_EQ(self, V_ZERO())),
            .sample = "(35) | (2,3):i64<2 | (5):bool | () | (0)")

/* --- bits of integers and bools --------------------------------------------------------------- */

/* self & other.   (*), (*) -> broadcast   tn_bitwise_and(x, y) */
TN_OPERATOR(bitwise_and, "bitwise_and.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_AND(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* self | other.   (*), (*) -> broadcast   tn_bitwise_or(x, y) */
TN_OPERATOR(bitwise_or, "bitwise_or.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_OR(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* self ^ other.   (*), (*) -> broadcast   tn_bitwise_xor(x, y) */
TN_OPERATOR(bitwise_xor, "bitwise_xor.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(IB, V_XOR(self, other)),
            .sample = "(35):i64 (35):i64 | (35):i32 (35):i32 | (2,3):u8 (3):u8 | (5):bool (5):bool "
                      "| (9):i16 6 | ():i8 ():i8")

/* ~self; of bools: not.   (*) -> (*)   tn_bitwise_not(x) */
TN_OPERATOR(bitwise_not, "bitwise_not(Tensor self) -> Tensor", .forms = TN_INPLACE | TN_OUT,
            TN_POINTWISE(IB, V_NOT(self)),
            .sample = "(35):i64 | (35):i32 | (2,3):u8 | (5):bool | ():i8 | (0):i64")

/* self * 2^other, wrapping; counts outside the width of 32 or 64 bits give 0.   (*), (*) ->
 * broadcast tn_bitwise_left_shift(x, n) */
TN_OPERATOR(
    bitwise_left_shift, "bitwise_left_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_SHIFT_LEFT(self, other)),
    .sample =
        "(35):i64 (35):i64<9 | (35):i32 (35):i32<9 | (2,3):u8 (3):u8<5 | (9):i16 3 | (9):i64 70")

/* floor(self / 2^other).   (*), (*) -> broadcast   tn_bitwise_right_shift(x, n) */
TN_OPERATOR(
    bitwise_right_shift, "bitwise_right_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(I, V_SHIFT_RIGHT(self, other)),
    .sample =
        "(35):i64 (35):i64<9 | (35):i32 (35):i32<9 | (2,3):u8 (3):u8<5 | (9):i16 3 | (9):i64 70")

/* --- choice ----------------------------------------------------------------------------------- */

static void where_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[1]) tn_give(g, 1, tnp_where_scalar(g->in[0], d, tn_int(0)));
    if (g->want[2]) tn_give(g, 2, tnp_where_scalar_self(g->in[0], tn_int(0), d));
}
/* self where condition is true, else other.   (*) bool, (*), (*) -> broadcast   tn_where(m, x, y)
 */
TN_OPERATOR(
    where, "where.self(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
    .forms = TN_OUT, .needs = "self:condition other:condition",
    TN_SELECT(FICB, V_SEL(condition, self, other)), .grad = where_grad,
    .sample =
        "(35):bool (35) (35) | (2,3):bool (3) (2,1) | (9):bool (9) 0 | (9):bool 1 (9) | (4):bool "
        "(4):i64 (4) | "
        "():bool (3) (3) | (0):bool (0) (0) | (5):bool (5):bool (5):bool | (7):bool (7):u8 (7):u8")
