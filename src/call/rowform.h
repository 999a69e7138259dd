/* rowform.h - the macros that rows are written with. Included by gen/rows.h, which has their
 * numbers.
 *
 *     TN_OPERATOR(max_dim, "max.dim(Tensor self, int dim, ...) -> ...", .forms = TN_OUT, .check =
 *         max_dim_check, ...)
 *
 * stands below the operator's functions; the fields are those of struct tn_row from .forms on, in
 * their order. */
#ifndef TNI_CALL_ROWFORM_H
#define TNI_CALL_ROWFORM_H

#include "call.h"

#define TN_OPERATOR(op, text_, ...)                                                              \
    TNI_ROW_BEGIN TNI_PRIVATE_BEGIN TN_PRIV_DEFINE(tn_row, tni_row_##op) = {                     \
        .name = #op, .schema = text_, .gen = &tni_gen_##op, .index = TNI_ROW_##op, __VA_ARGS__}; \
    TNI_PRIVATE_END TNI_ROW_END

/* A row by expression, in the place of .check, .run, .loop and .text. kinds: letters of FICB (f32
 * f64, i32 i64, c64 c128, bool as it is) in this order; c for C: complex numbers one at a time, in
 * c128, by a loop of the scalar set, which is the only one that is compiled. The expression names
 * the schema's parameters: tensors are vectors, numbers are broadcast.
 * TN_PREDICATE: the expression is a mask, the result bool.
 * TN_SELECT: the first tensor is bool and a mask.
 * TN_DIVISION: an integer 0 in the second tensor is an error.
 * TN_POWER: of integers, a negative number in its place is.
 * TN_BOUND_LOW, TN_BOUND_HIGH: of integers, a number in the second tensor's place that no element
 * can reach is an error, one that every element has reached is none.
 * TN_TO_REAL: of complex tensors the result is the real part of the expression.
 * TN_CUTTING: where the tensors are integers, numbers lose their fraction; others refuse them.
 * TN_COUNTING: a bool counts as an int64.
 * TN_FLOATING: integers alone are refused, of which other rows of floats make floats.
 * TN_STEPPING: so, too; of 16-bit floats the result is the number next to self of their own type.
 * TN_BETWEEN: the second tensor has self's dtype, and the third, unless it has no dimensions;
 * without a float there integers are refused.
 * TN_QUOTIENT: the second and third tensor are not both of integers.
 * TN_LIMITING: TN_CUTTING, whose two numbers are not both negative where the tensor is unsigned. */
#define TN_POINTWISE(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds, #__VA_ARGS__)
#define TN_PREDICATE(kinds, ...) \
    TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_PREDICATE, #__VA_ARGS__)
#define TN_SELECT(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_SELECT, #__VA_ARGS__)
#define TN_TO_REAL(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_REAL, #__VA_ARGS__)
#define TN_CUTTING(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_CUTS, #__VA_ARGS__)
#define TN_COUNTING(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_COUNTS, #__VA_ARGS__)
#define TN_FLOATING(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_FLOATS, #__VA_ARGS__)
#define TN_STEPPING(kinds, ...)                                                            \
    .check = tni_pointwise_check, .run = tni_pointwise_step,                               \
    .loop = (uint32_t)(TNI_KINDS_##kinds | TNI_FORM_FLOATS), .quick = tni_pointwise_short, \
    .text = #__VA_ARGS__
#define TN_BETWEEN(kinds, ...)                                                       \
    .check = tni_pointwise_between, .run = tni_pointwise_run,                        \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .quick = TNI_SHORT_OF(TNI_KINDS_##kinds), \
    .text = #__VA_ARGS__
#define TN_QUOTIENT(kinds, ...)                                                      \
    .check = tni_pointwise_quotient, .run = tni_pointwise_run,                       \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .quick = TNI_SHORT_OF(TNI_KINDS_##kinds), \
    .text = #__VA_ARGS__
#define TN_LIMITING(kinds, ...)                              \
    .check = tni_pointwise_limits, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds | TNI_FORM_CUTS),   \
    .quick = TNI_SHORT_OF(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TN_DIVISION(kinds, ...)                                                         \
    .check = tni_pointwise_check, .look = tni_pointwise_look, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TN_POWER(kinds, ...)                                                             \
    .check = tni_pointwise_check, .look = tni_pointwise_power, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TN_BOUND_LOW(kinds, ...)                                                             \
    .check = tni_pointwise_check, .look = tni_pointwise_bound_low, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TN_BOUND_HIGH(kinds, ...)                                                             \
    .check = tni_pointwise_check, .look = tni_pointwise_bound_high, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TNI_POINTWISE_AS(bits, ...)                                                   \
    .check = tni_pointwise_check, .run = tni_pointwise_run, .loop = (uint32_t)(bits), \
    .quick = TNI_SHORT_OF(bits), .text = __VA_ARGS__
/* Rows that make floats of floats by the loop alone have a short way (call/short.c). */
#define TNI_SHORT_OF(bits)                                                          \
    (((bits) & (TNI_KINDS_F | TNI_FORM_PREDICATE | TNI_FORM_SELECT)) == TNI_KINDS_F \
         ? tni_pointwise_short                                                      \
         : NULL)

/* row->loop. */
enum {
    TNI_KINDS_F = 1,
    TNI_KINDS_I = 2,
    TNI_KINDS_C = 4,
    TNI_KINDS_B = 8,
    TNI_KINDS_FI = 3,
    TNI_KINDS_FC = 5,
    TNI_KINDS_FB = 9,
    TNI_KINDS_IC = 6,
    TNI_KINDS_IB = 10,
    TNI_KINDS_CB = 12,
    TNI_KINDS_FIC = 7,
    TNI_KINDS_FIB = 11,
    TNI_KINDS_FCB = 13,
    TNI_KINDS_ICB = 14,
    TNI_KINDS_FICB = 15,
    TNI_FORM_SINGLY = 512, /* the letter c */
    TNI_KINDS_Fc = TNI_KINDS_FC | TNI_FORM_SINGLY,
    TNI_KINDS_FIc = TNI_KINDS_FIC | TNI_FORM_SINGLY,
    TNI_KINDS_FIcB = TNI_KINDS_FICB | TNI_FORM_SINGLY,
    TNI_FORM_PREDICATE = 16,
    TNI_FORM_SELECT = 32,
    TNI_FORM_REAL = 64,
    TNI_FORM_CUTS = 128,
    TNI_FORM_COUNTS = 256,
    TNI_FORM_FLOATS = 1024
};

/* Gives t, which does not depend on input i, to it: in a graph of gradients t's derivative for the
 * input is zero, as torch's, where it would be none. Without that graph it is tn_give. */
TN_PRIV void tni_give_flat(tn_gradient *g, int i, tn_tensor *t);

TN_PRIV bool tni_pointwise_check(tn_frame *f);
TN_PRIV bool tni_pointwise_between(tn_frame *f);
TN_PRIV bool tni_pointwise_quotient(tn_frame *f);
TN_PRIV bool tni_pointwise_limits(tn_frame *f);
TN_PRIV bool tni_pointwise_short(const tn_row *row, unsigned how, const char *file, int line,
                                 const void *args, void *results);
/* Ways of rows of one tensor and one result, a float's of floats, that have a gradient which reads
 * no element, and take no words: the check announces a view, and run does nothing; the same, where
 * self is row-major. */
TN_PRIV bool tni_view_short(const tn_row *row, unsigned how, const char *file, int line,
                            const void *args, void *results);
TN_PRIV bool tni_reshape_short(const tn_row *row, unsigned how, const char *file, int line,
                               const void *args, void *results);
TN_PRIV bool tni_pointwise_look(tn_frame *f);
TN_PRIV bool tni_pointwise_power(tn_frame *f);
TN_PRIV bool tni_pointwise_bound_low(tn_frame *f);
TN_PRIV bool tni_pointwise_bound_high(tn_frame *f);
TN_PRIV void tni_pointwise_run(tn_frame *f);
TN_PRIV void tni_pointwise_step(tn_frame *f);

#endif
