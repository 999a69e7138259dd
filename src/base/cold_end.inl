/* cold_end.inl - the end of cold_begin.inl or lean_begin.inl. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#pragma GCC pop_options
#endif
