/* math_orthogonal.h - orthogonal polynomials of degree n, a float that is cut to an integer: 0 of
 * negative ones and of what is no int64. Part of math_special.h.
 *
 * By their recurrences (Abramowitz, Stegun, 1964, 22.7). Chebyshev's have closed forms as well, so
 * their time does not grow with the degree. That of the others does; beyond 2^20 they are NaN. */

/* -1 of what has no polynomial */
TNI_SPECIAL double TNI_FN(tni_degree)(double n) { return fabs(n) < 9.2e18 ? trunc(n) : -1; }

enum { TNI_T, TNI_U, TNI_V, TNI_W };

/* Far out, t = |x| - 1 > 0: cosh and sinh of multiples of the angle. Negative x exchange V, W. */
TNI_SPECIAL double TNI_FN(tni_chebyshev_far)(double x, double n, int kind) {
    const double t = fabs(x) - 1, angle = TNI_FNT(tni_log1p)(t + sqrt(t) * sqrt(t + 2));
    double y;
    if (x < 0 && kind >= TNI_V) kind = kind == TNI_V ? TNI_W : TNI_V;
    if (kind == TNI_T)
        y = TNI_FNT(tni_cosh)(n * angle);
    else if (kind == TNI_U)
        y = TNI_FNT(tni_sinh)((n + 1) * angle) / TNI_FNT(tni_sinh)(angle);
    else if (kind == TNI_V)
        y = TNI_FNT(tni_cosh)((n + 0.5) * angle) / TNI_FNT(tni_cosh)(angle / 2);
    else
        y = TNI_FNT(tni_sinh)((n + 0.5) * angle) / TNI_FNT(tni_sinh)(angle / 2);
    return x < 0 && fmod(n, 2.0) != 0 ? -y : y;
}
TNI_SPECIAL double TNI_FN(tni_chebyshev_high)(double x, double n, int kind) {
    const double angle = TNI_FNT(tni_acos)(x);
    if (fabs(x) > 1) return TNI_FN(tni_chebyshev_far)(x, n, kind);
    if (fabs(x) == 1) { /* 1 or a number of terms, V and W exchanged at -1 */
        const double y = kind == TNI_U ? n + 1 : kind == (x < 0 ? TNI_V : TNI_W) ? 2 * n + 1 : 1;
        return x < 0 && fmod(n, 2.0) != 0 ? -y : y;
    }
    switch (kind) {
    case TNI_T: return TNI_FNT(tni_cos)(n * angle);
    case TNI_U: return TNI_FNT(tni_sin)((n + 1) * angle) / TNI_FNT(tni_sin)(angle);
    case TNI_V: return TNI_FNT(tni_cos)((n + 0.5) * angle) / TNI_FNT(tni_cos)(angle / 2);
    default: return TNI_FNT(tni_sin)((n + 0.5) * angle) / TNI_FNT(tni_sin)(angle / 2);
    }
}
TNI_SPECIAL double TNI_FN(tni_chebyshev_of)(double x, double n, int kind) {
    double last = 1, y = kind == TNI_T   ? x
                         : kind == TNI_U ? 2 * x
                         : kind == TNI_V ? 2 * x - 1
                                         : 2 * x + 1;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (n > 64) return TNI_FN(tni_chebyshev_high)(x, n, kind);
    for (int k = 1; k < n; k++) {
        const double next = fma(2 * x, y, -last);
        last = y;
        y = next;
    }
    return y;
}
/* Hermite's polynomials, H by 2 and He by 1 */
TNI_SPECIAL double TNI_FN(tni_hermite)(double x, double n, double by) {
    double last = 1, y = by * x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = by * (x * y - k * last);
        last = y;
        y = next;
    }
    return y;
}

TNI_SPECIAL double TNI_FN(tni_laguerre)(double x, double n) {
    double last = 1, y = 1 - x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (x == 0) return 1;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = ((2 * k + 1 - x) * y - k * last) / (k + 1);
        last = y;
        y = next;
    }
    return y;
}
TNI_SPECIAL double TNI_FN(tni_legendre)(double x, double n) {
    double last = 1, y = x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (fabs(x) == 1) return x < 0 && fmod(n, 2.0) != 0 ? -1 : 1;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = ((2 * k + 1) * x * y - k * last) / (k + 1);
        last = y;
        y = next;
    }
    return y;
}
