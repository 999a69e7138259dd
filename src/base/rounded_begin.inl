/* rounded_begin.inl - from here to rounded_end.inl the compiler joins no product and sum into one
 * rounding, so that plain loops have the same bits with and without instructions for that. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
