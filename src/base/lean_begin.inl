/* lean_begin.inl - what stands from here to cold_end.inl is compiled by gcc at -O2 without the
 * passes that take long and gain little where calls are short, by clang for size: files of
 * src/ops (tools/optable) whose first comment says neither "Hot:", as those do with loops over
 * elements, nor "Cold:" (cold_begin.inl). gcc takes three quarters of the time; at -O1, three
 * fifths, softmax of a small tensor took 5 % more instructions. */
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
#pragma GCC optimize("O2", "no-schedule-insns2", "no-gcse", "no-tree-pre", "no-code-hoisting",   \
                     "no-tree-loop-vectorize", "no-crossjumping", "no-rerun-cse-after-loop",     \
                     "no-cse-follow-jumps", "no-tree-tail-merge", "no-ipa-icf",                  \
                     "align-functions=1", "align-jumps=1", "align-loops=1")
#endif
#endif
