/* exact.inl - refuses to compile the library with options that change bits. It stands at the head
 * of each root, and make puts it before each object. Programs may have such options. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "the library gives the same bits everywhere: compile it without -ffast-math; programs may"
#endif
