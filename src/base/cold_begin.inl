/* cold_begin.inl - what stands from here to cold_end.inl is compiled for size: no call of a small
 * tensor runs through it and it has no loop over elements of its own, or it runs once, at a file,
 * at an error or for a text. The roots place it around files, and tools/optable around those of
 * src/ops whose first comment says "Cold:". Where nothing is optimised, or for size, all is
 * compiled as asked. */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#if defined(__clang__)
#define TNI_COLD
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-clang-attribute" /* a trimmed one may be empty */
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#define TNI_COLD
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
#endif
