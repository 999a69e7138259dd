/* length.inl - the magnitude of x + iy, for the CPU and for CUDA: a function of the same bits
 * everywhere, which hypot of a library is not. LENGTH: its head. Squares are of numbers scaled by a
 * power of two, so none overflows. */
LENGTH(double x, double y) {
    double most = fmax(fabs(x), fabs(y));
    int power;
    if (most - most != 0 || most == 0) return fabs(x) + fabs(y); /* infinite, NaN or 0 */
    frexp(most, &power);
    x = ldexp(x, -power);
    y = ldexp(y, -power);
    return ldexp(sqrt(fma(x, x, y * y)), power);
}
#undef LENGTH
