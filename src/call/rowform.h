/* rowform.h - the macros that rows are written with.
 *
 *     TN_OPERATOR(max_dim, "max.dim(Tensor self, int dim, ...) -> ...",
 *                 TN_DOC(.shapes = "self (n, m) -> (n)", .example = "tn_max_dim(x, 1)"),
 *                 .forms = TN_OUT, .check = max_dim_check, ...)
 *
 * stands below the operator's functions; behind TN_DOC, the fields are those of struct
 * tn_row from .forms on, in their order. TN_DOC is for readers and tools. */
#ifndef TNI_CALL_ROWFORM_H
#define TNI_CALL_ROWFORM_H

#include "call.h"

#define TN_OPERATOR(op, text_, doc, ...)                                                    \
    TNI_ROW_BEGIN                                                                           \
    TN_PRIV_DECLARE(tn_gen, tni_gen_##op);                                                  \
    TN_PRIV_DECLARE(tn_row, tni_row_##op);                                                  \
    TNI_PRIVATE_BEGIN                                                                       \
    TN_PRIV_DEFINE(tn_row, tni_row_##op) = {                                                \
        .name = #op, .schema = text_, .gen = &tni_gen_##op, TNI_WITHOUT_##doc __VA_ARGS__}; \
    TNI_PRIVATE_END TNI_ROW_END

/* A row by expression, in the place of .check, .look, .run, .rules and .quick:
 *
 *     TN_POINTWISE(FIC, V_MUL(self, other))
 *     TN_POINTWISE(FI, V_EQ(self, other), TN_GIVES_BOOL)
 *
 * The kinds are letters of FICB (f32 f64, i32 i64, c64 c128, bool as it is) in this order; c for C:
 * complex numbers one at a time, in c128, by a loop of the scalar set, the only set that
 * is compiled; f for F: floats one at a time, in f64, by such a loop, for functions that are long
 * and seldom called. The expression names the schema's parameters: tensors are vectors, numbers are
 * broadcast; tools/optable lifts it out (gen/loops.inl). The rules are bits of tn_rules; the shared
 * check, look and run read them. */
#define TN_POINTWISE(kinds, ...) TNI_POINTWISE_ROW(TNI_KINDS_##kinds, __VA_ARGS__, TNI_NO_RULES, )
#define TNI_POINTWISE_ROW(kinds, expression, bits, ...)                                \
    .check = tni_pointwise_check, .look = TNI_LOOK_OF(bits), .run = tni_pointwise_run, \
    .rules = (uint32_t)(kinds) | (uint32_t)(bits), .quick = TNI_SHORT_OF(kinds, bits)
#define TNI_LOOK_OF(bits) ((bits)&TNI_RULES_LOOK ? tni_pointwise_look : NULL)
/* Rows that make floats of floats by the loop alone have a short way (call/short.c). */
#define TNI_SHORT_OF(kinds, bits)                                                             \
    ((kinds)&TNI_KINDS_F && !((kinds)&TNI_FLOATS_SINGLY) &&                                   \
             !((bits) & (TN_GIVES_BOOL | TN_TAKES_MASK | TN_NUMBERS_FROM_0 | TNI_RULES_LOOK)) \
         ? tni_pointwise_short                                                                \
         : NULL)

/* row->rules: what a pointwise row does that others do not, each with a row that has it.
 *
 * What it takes and gives:
 *   TN_GIVES_BOOL           eq         the expression is a mask, the result bool
 *   TN_TAKES_MASK           where      the first tensor is bool and read as a mask
 *   TN_GIVES_REAL           abs        of complex tensors the result is the real part (refused in
 *                                      their place)
 *   TN_COUNTS_BOOL          square     a bool counts as an int64
 *   TN_CUTS_NUMBERS         threshold  beside integers, numbers lose their fraction; other rows
 *                                      refuse one
 *   TN_STEPS_IN_DTYPE       nextafter  the result is the number next to self in self's own dtype:
 *                                      f16 and bf16 are not computed in f32
 * What it refuses by dtypes and arguments:
 *   TN_FLOATS_ONLY          hypot      integers alone, of which other rows of floats make floats
 *   TN_ONE_DTYPE            lerp       tensors of two dtypes, but for a third without dimensions;
 *                                      integers, unless the third is a float
 *   TN_SAME_DTYPES          heaviside  two tensors of two dtypes
 *   TN_NO_INTEGER_QUOTIENT  addcdiv    integers as second and third tensor
 *   TN_NO_NEGATIVE_LIMITS   hardtanh   two negative numbers beside uint8
 *   TN_NUMBERS_FROM_0       softshrink  numbers below 0, NaN, or beyond the range of the dtype
 * What it refuses by data, where it computes integers:
 *   TN_NO_ZERO_DIVISOR      fmod       a 0 in the second tensor
 *   TN_NO_NEGATIVE_POWER    pow        a negative number in the second tensor's place
 *   TN_LOWER_BOUND          clamp_min  a number in the second tensor's place that is above all that
 *                                      the dtype holds (one below it all bounds nothing)
 *   TN_UPPER_BOUND          clamp_max  a number there that is below it all (one above bounds
 *                                      nothing) */
enum tn_rules {
    TNI_NO_RULES = 0,
    TN_GIVES_BOOL = 1 << 5,
    TN_TAKES_MASK = 1 << 6,
    TN_GIVES_REAL = 1 << 7,
    TN_COUNTS_BOOL = 1 << 8,
    TN_CUTS_NUMBERS = 1 << 9,
    TN_STEPS_IN_DTYPE = 1 << 10,
    TN_FLOATS_ONLY = 1 << 11,
    TN_ONE_DTYPE = 1 << 12,
    TN_NO_INTEGER_QUOTIENT = 1 << 13,
    TN_NO_NEGATIVE_LIMITS = 1 << 14,
    TN_NO_ZERO_DIVISOR = 1 << 15,
    TN_NO_NEGATIVE_POWER = 1 << 16,
    TN_LOWER_BOUND = 1 << 17,
    TN_UPPER_BOUND = 1 << 18,
    TN_SAME_DTYPES = 1 << 19,
    TN_NUMBERS_FROM_0 = 1 << 20,
    TNI_RULES_CHECK =
        TN_SAME_DTYPES | TN_ONE_DTYPE | TN_NO_INTEGER_QUOTIENT | TN_NO_NEGATIVE_LIMITS,
    TNI_RULES_LOOK = TN_NO_ZERO_DIVISOR | TN_NO_NEGATIVE_POWER | TN_LOWER_BOUND | TN_UPPER_BOUND
};

/* The kinds, in row->rules, too; a pointwise row has at least one. */
enum {
    TNI_KINDS_F = 1,
    TNI_KINDS_I = 2,
    TNI_KINDS_C = 4,
    TNI_KINDS_B = 8,
    TNI_SINGLY = 16,             /* the letter c */
    TNI_FLOATS_SINGLY = 1 << 30, /* the letter f */
    TNI_KINDS_FI = TNI_KINDS_F | TNI_KINDS_I,
    TNI_KINDS_FC = TNI_KINDS_F | TNI_KINDS_C,
    TNI_KINDS_FB = TNI_KINDS_F | TNI_KINDS_B,
    TNI_KINDS_IC = TNI_KINDS_I | TNI_KINDS_C,
    TNI_KINDS_IB = TNI_KINDS_I | TNI_KINDS_B,
    TNI_KINDS_CB = TNI_KINDS_C | TNI_KINDS_B,
    TNI_KINDS_FIC = TNI_KINDS_FI | TNI_KINDS_C,
    TNI_KINDS_FIB = TNI_KINDS_FI | TNI_KINDS_B,
    TNI_KINDS_FCB = TNI_KINDS_FC | TNI_KINDS_B,
    TNI_KINDS_ICB = TNI_KINDS_IC | TNI_KINDS_B,
    TNI_KINDS_FICB = TNI_KINDS_FIC | TNI_KINDS_B,
    TNI_KINDS_f = TNI_KINDS_F | TNI_FLOATS_SINGLY,
    TNI_KINDS_Fc = TNI_KINDS_FC | TNI_SINGLY,
    TNI_KINDS_FIc = TNI_KINDS_FIC | TNI_SINGLY,
    TNI_KINDS_FIcB = TNI_KINDS_FICB | TNI_SINGLY,
    /* by the kind of a dtype in TN_DTYPES */
    TNI_KINDS_OF_b = TNI_KINDS_B,
    TNI_KINDS_OF_u = TNI_KINDS_I,
    TNI_KINDS_OF_i = TNI_KINDS_I,
    TNI_KINDS_OF_f = TNI_KINDS_F,
    TNI_KINDS_OF_c = TNI_KINDS_C
};

TN_PRIV bool tni_pointwise_check(tn_frame *f);
TN_PRIV bool tni_pointwise_look(tn_frame *f);
TN_PRIV void tni_pointwise_run(tn_frame *f);
TN_PRIV bool tni_pointwise_short(const tn_row *row, unsigned how, const char *file, int line,
                                 const void *args, void *results);
/* Ways of rows of one tensor and one result, a float's of floats, that have a gradient which reads
 * no element, and take no words: the check announces a view, and run does nothing; the same, where
 * self is row-major. */
TN_PRIV bool tni_view_short(const tn_row *row, unsigned how, const char *file, int line,
                            const void *args, void *results);
TN_PRIV bool tni_reshape_short(const tn_row *row, unsigned how, const char *file, int line,
                               const void *args, void *results);

#endif
