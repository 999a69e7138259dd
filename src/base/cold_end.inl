/* cold_end.inl - the end of cold_begin.inl, rare_begin.inl or lean_begin.inl. */
#ifdef TNI_COLD
#pragma GCC pop_options
#undef TNI_COLD
#endif
