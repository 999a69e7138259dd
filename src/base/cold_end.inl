/* cold_end.inl - the end of cold_begin.inl, lean_begin.inl or steps_begin.inl. gcc 12 leaves
 * __OPTIMIZE_SIZE__ defined behind functions that were compiled for size. */
#ifdef TNI_COLD
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#undef __OPTIMIZE_SIZE__
#endif
#undef TNI_COLD
#endif
