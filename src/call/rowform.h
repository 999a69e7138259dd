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
 * f64, i32 i64, c64 c128, bool as it is) in this order. The expression names the schema's
 * parameters: tensors are vectors, numbers are broadcast. TN_PREDICATE: the expression is a mask,
 * the result bool. TN_SELECT: the first tensor is bool and a mask. TN_DIVISION: an integer 0 in the
 * second tensor is an error. TN_POWER: of integers, a negative number in its place is. */
#define TN_POINTWISE(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds, #__VA_ARGS__)
#define TN_PREDICATE(kinds, ...) \
    TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_PREDICATE, #__VA_ARGS__)
#define TN_SELECT(kinds, ...) TNI_POINTWISE_AS(TNI_KINDS_##kinds | TNI_FORM_SELECT, #__VA_ARGS__)
#define TN_DIVISION(kinds, ...)                                                         \
    .check = tni_pointwise_check, .look = tni_pointwise_look, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TN_POWER(kinds, ...)                                                             \
    .check = tni_pointwise_check, .look = tni_pointwise_power, .run = tni_pointwise_run, \
    .loop = (uint32_t)(TNI_KINDS_##kinds), .text = #__VA_ARGS__
#define TNI_POINTWISE_AS(bits, ...)                                                   \
    .check = tni_pointwise_check, .run = tni_pointwise_run, .loop = (uint32_t)(bits), \
    .text = __VA_ARGS__

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
    TNI_FORM_PREDICATE = 16,
    TNI_FORM_SELECT = 32
};

TN_PRIV bool tni_pointwise_check(tn_frame *f);
TN_PRIV bool tni_pointwise_look(tn_frame *f);
TN_PRIV bool tni_pointwise_power(tn_frame *f);
TN_PRIV void tni_pointwise_run(tn_frame *f);

#endif
