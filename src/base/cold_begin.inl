/* cold_begin.inl - what stands from here to cold_end.inl is compiled at -O1: no call of a small
 * tensor runs through it, so it may be slower by a little and is compiled in half the time. The
 * roots place it around files; those of src/ops have lean_begin.inl. Where nothing is optimised, or
 * for size, all is compiled as asked. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(__OPTIMIZE_SIZE__) && !defined(TNI_ALL_HOT)
#define TNI_COLD /* within, __OPTIMIZE_SIZE__ and the like may change */
#pragma GCC push_options
#pragma GCC optimize("O1", "inline-small-functions")
#endif
