/* pointwise_type.inl - the loops of all pointwise rows that have this type (TNI_KIND_F, I, C or B).
 *
 * gcc makes these at O1: a load, an expression and a store, and more than half of all functions.
 * What it calls expensive includes vzeroupper, without which the code that runs next is slow. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#endif
#if TNI_ISA != 2 || \
    (defined(TNI_TYPE_F32) && defined(TNI_KIND_F)) /* pointwise_table.inl: AVX2 lends the rest */
#include "../gen/loops.inl"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#undef TNI_LOOP_SUFFIX
#undef TNI_STEP
#undef TNI_MASK_STEP
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNI_KIND_B
#undef TNI_KIND_C
