/* steps_begin.inl - what stands from here to cold_end.inl are the steps of a call, whose loops
 * run over dimensions, arguments and blocks, not over elements. clang compiles them for size: at
 * -O2 it unrolls their loops over dimensions and arguments, which makes them a third longer and
 * small calls a little slower. */
#if defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && \
    !defined(TNI_ALL_HOT)
#define TNI_COLD
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-clang-attribute" /* a trimmed one may be empty */
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#pragma clang diagnostic pop
#endif
