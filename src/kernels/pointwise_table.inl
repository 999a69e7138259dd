/* pointwise_table.inl - the loops of all rows, by number and type; takes the macros of
 * pointwise.inl back. */
#undef TNI_LOOP
#undef TNI_PREDICATE
#undef TNI_SELECT
#undef TNI_TO_REAL
#undef TNI_REAL_STEP

/* AVX-512 has loops of its own for f32 alone: compile time goes where speed is asked for. */
#if TNI_ISA == 2
#define TNI_FN_REST(name) TNI_JOIN(name, _avx2)
#else
#define TNI_FN_REST(name) TNI_FN(name)
#endif
static const uint8_t TNI_FN(tni_lanes)[TNI_LOOP_TYPES] = {
    TNI_FN(tni_lanes_f32),         TNI_FN_REST(tni_lanes_f64), TNI_FN_REST(tni_lanes_f32),
    TNI_FN_REST(tni_lanes_f64),    TNI_FN_REST(tni_lanes_f32), TNI_FN_REST(tni_lanes_f64),
    8 * TNI_FN_REST(tni_lanes_f64)};

#undef TNI_FN_REST
#undef TNI_ONCE
#undef TNI_LOOP_OF
#undef TNI_LOOP_BEGIN
#undef TNI_LOOP_END
#undef TNI_TENSORS_1
#undef TNI_TENSORS_2
#undef TNI_TENSORS_3
#undef TNI_NUMBERS_0
#undef TNI_NUMBERS_1
#undef TNI_NUMBERS_2
#undef TNI_NUMBERS_3
#undef TNI_LOADS_1
#undef TNI_LOADS_2
#undef TNI_LOADS_3
#undef TNI_STEPS_1
#undef TNI_STEPS_2
#undef TNI_STEPS_3
#undef TNI_ARGUMENTS_10
#undef TNI_ARGUMENTS_11
#undef TNI_ARGUMENTS_12
#undef TNI_ARGUMENTS_13
#undef TNI_ARGUMENTS_20
#undef TNI_ARGUMENTS_21
#undef TNI_ARGUMENTS_22
#undef TNI_ARGUMENTS_23
#undef TNI_ARGUMENTS_30
#undef TNI_ARGUMENTS_31
#undef TNI_ARGUMENTS_32
#undef TNI_ARGUMENTS_33
#undef TNI_OF
