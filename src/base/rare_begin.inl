/* rare_begin.inl - what stands from here to cold_end.inl is compiled for size: what runs once, at a
 * file, at an error or for a text, and has no loop over elements of its own. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#define TNI_COLD
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
