/* comparison.c - what makes bools of numbers: comparisons, and predicates of special values. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* self == other; false if either is NaN. */
TN_OPERATOR(eq, "eq.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_eq(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FIC, V_EQ(self, other), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool "
                      "(5):bool | (9):i32<3 (9):i32<3")

/* self != other; true if either is NaN. */
TN_OPERATOR(ne, "ne.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_ne(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FIC, V_NE(self, other), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool "
                      "(5):bool | (9):i32<3 (9):i32<3")

/* self < other; false if either is NaN. */
TN_OPERATOR(lt, "lt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_lt(x, y)"),
            .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FI, V_LT(self, other), TN_GIVES_BOOL),
            .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (9):i64 0.5 | "
                      "(5):bool (5):bool")

/* self <= other; false if either is NaN. */
TN_OPERATOR(
    le, "le.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_le(x, y)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FI, V_LE(self, other), TN_GIVES_BOOL),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* self > other; false if either is NaN. */
TN_OPERATOR(
    gt, "gt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_gt(x, y)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FI, V_GT(self, other), TN_GIVES_BOOL),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* self >= other; false if either is NaN. */
TN_OPERATOR(
    ge, "ge.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
    TN_DOC(.shapes = "(*), (*) -> broadcast, bool", .example = "tn_ge(x, y)"),
    .forms = TN_INPLACE | TN_OUT, TN_POINTWISE(FI, V_GE(self, other), TN_GIVES_BOOL),
    .sample = "(35) (35) | (2,3,5) (3,1) | () (4) | (0,3) (3) | (9):i64 2 | (5):bool (5):bool")

/* Whether each element is NaN. A complex number is NaN if either part is. */
TN_OPERATOR(isnan, "isnan(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isnan(x)"),
            TN_POINTWISE(FC, V_ISNAN(self), TN_GIVES_BOOL), .sample = "(35) | (3,5) | () | (0,2)")

/* Whether each element is infinite. A complex number is infinite if either part is. */
TN_OPERATOR(isinf, "isinf(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isinf(x)"),
            TN_POINTWISE(FC, V_ISINF(self), TN_GIVES_BOOL), .sample = "(35) | (3,5) | () | (0,2)")

/* Whether each element is +infinity. */
TN_OPERATOR(isposinf, "isposinf(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isposinf(x)"), .forms = TN_OUT,
            TN_POINTWISE(F, V_EQ(self, V_SET(INFINITY)), TN_GIVES_BOOL),
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (4):bool")

/* Whether each element is -infinity. */
TN_OPERATOR(isneginf, "isneginf(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isneginf(x)"), .forms = TN_OUT,
            TN_POINTWISE(F, V_EQ(self, V_SET(-INFINITY)), TN_GIVES_BOOL),
            .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (4):bool")

static bool isreal_compose(tn_frame *f) {
    tn_tensor *x = f->in[0];
    f->out[0] = tni_is_complex(x->dtype) ? tnp_eq_scalar(tnp_imag(x), tn_int(0))
                                         : tnp_ones_like(x, TN_BOOL, TN_NO_DEVICE);
    return f->out[0] != NULL;
}
/* Whether each element has no imaginary part; true of all real numbers. */
TN_OPERATOR(isreal, "isreal(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isreal(x)"),
            .compose = isreal_compose, .sample = "(35) | (3,5) | () | (0,2) | (4):i64 | (3):c64")

/* Whether each element is neither infinite nor NaN. */
TN_OPERATOR(isfinite, "isfinite(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_isfinite(x)"),
            TN_POINTWISE(FC, V_ISFINITE(self), TN_GIVES_BOOL),
            .sample = "(35) | (3,5) | () | (0,2)")

/* Whether the sign bit of each element is set, also for -0 and NaN. */
TN_OPERATOR(signbit, "signbit(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*) -> (*), bool", .example = "tn_signbit(x)"), .forms = TN_OUT,
            TN_POINTWISE(FI, V_SIGNBIT(self), TN_GIVES_BOOL),
            .sample = "(35) | (3,5) | () | (0,2) | (9):i32 | (5):u8 | (5):bool")
