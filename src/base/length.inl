/* length.inl - the magnitude of x + iy for the CPU and for CUDA. TNI_LENGTH: the function's head.
 * Its bits are the same everywhere, which those of libraries' hypot are not; tni_hypot is for
 * kernels alone (simd/). Numbers are scaled by a power of two, so that no square overflows. */
TNI_LENGTH(double x, double y) {
    double most = fmax(fabs(x), fabs(y));
    int power;
    if (most - most != 0 || most == 0) return fabs(x) + fabs(y); /* infinite, NaN or 0 */
    frexp(most, &power);
    x = ldexp(x, -power);
    y = ldexp(y, -power);
    return ldexp(sqrt(fma(x, x, y * y)), power);
}
#undef TNI_LENGTH
