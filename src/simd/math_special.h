/* math_special.h - functions of rows of the letter f: of f64, for the scalar set alone, which
 * computes numbers one at a time. Part of math_float.h.
 *
 * So they may branch, and loop until a sum stands. Series by Chebyshev polynomials were computed
 * with 50 digits, in the variable that each function names. A sum of two numbers h + l is as
 * math_float.h has it. */
#undef TNI_SPECIAL
#ifdef TNI_HELPER_AS /* another target's */
#define TNI_SPECIAL TNI_HELPER_AS
#elif defined(__GNUC__)
#define TNI_SPECIAL static __attribute__((noinline, unused))
#else
#define TNI_SPECIAL static
#endif
/* the sum of c[k] T_k(t), k < n: Clenshaw, "A note on the summation of Chebyshev series", 1955 */
TNI_SPECIAL double TNI_FN(tni_chebyshev)(const double *c, int n, double t) {
    double a = 0, b = 0;
    for (int k = n - 1; k > 0; k--) {
        const double next = fma(2 * t, a, c[k] - b);
        b = a;
        a = next;
    }
    return fma(t, a, c[0] - b);
}
#define CHEBYSHEV(c, t) TNI_FN(tni_chebyshev)(c, (int)(sizeof(c) / sizeof *(c)), t)
#define INF ((double)INFINITY)
/* e^(sign x^2), with the digits that x^2 lacks */
TNI_SPECIAL double TNI_FN(tni_exp_square)(double x, double sign) {
    const double s = x * x, l = fma(x, x, -s);
    if (s > 800) return sign < 0 ? 0 : INF;
    return TNI_FNT(tni_exp_long)(sign * s, sign * l);
}

/* --- error functions -------------------------------------------------------------------------- */

/* e^(x^2) erfc(x). From 0 on (1 + 2 x) erfcx(x) by t = (x - 15/4) / (x + 15/4): M. Shepherd, J.
 * Laframboise, "Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x", 1981. */
TNI_SPECIAL double TNI_FN(tni_erfcx)(double x) {
    static const double c[] = {
        1.17757893456740170e+00,  -4.59005458064647761e-03, -8.42491333665179171e-02,
        5.92099399981918934e-02,  -2.66586684353057532e-02, 9.07499767070526521e-03,
        -2.41316354041760809e-03, 4.90775836525808628e-04,  -6.91697330250120695e-05,
        4.13902798607301019e-06,  7.74038306619849033e-07,  -2.18864010492343966e-07,
        1.07649994656709100e-08,  4.52195981121828665e-09,  -7.75440020883135088e-10,
        -6.31808834088668410e-11, 2.86879501093066987e-11,  1.94558685457773468e-13,
        -9.65469674843343926e-13, 3.25254814814874010e-14,  3.34781194828680559e-14,
        -1.86456288041931304e-15, -1.25079505306886479e-15, 7.41823525662404405e-17,
        5.06814890479611101e-17};
    const double a = fabs(x);
    double y;
    if (x != x) return x;
    if (x < -27) return INF;
    y = a > 1e100 ? 0.56418958354775628695 / a
                  : CHEBYSHEV(c, (a - 3.75) / (a + 3.75)) / fma(2.0, a, 1.0);
    return x < 0 ? 2 * TNI_FN(tni_exp_square)(x, 1) - y : y;
}
/* A start within 0.3 percent: S. Winitzki, "A handy approximation for the error function and its
 * inverse", 2008; w = log(1 - erf(y)^2) */
TNI_SPECIAL double TNI_FN(tni_erfinv_start)(double w) {
    const double a = 0.147, t = 2 / (3.14159265358979323846 * a) + w / 2;
    return sqrt(sqrt(t * t - w / a) - t);
}
/* y with erfc(y) = q, 0 < q <= 1/2: Newton's steps for log erfc(y) = log(erfcx(y)) - y^2, a concave
 * function whose slope is -2 / (sqrt(pi) erfcx(y)) */
TNI_SPECIAL double TNI_FN(tni_erfc_inverse)(double q) {
    const double goal = TNI_FNT(tni_log)(q);
    double y = TNI_FN(tni_erfinv_start)(goal + TNI_FNT(tni_log)(2 - q));
    for (int k = 0; k < 3; k++) {
        const double e = TNI_FN(tni_erfcx)(y), s = y * y, l = fma(y, y, -s);
        const double off = TNI_FNT(tni_log)(e) - l - (s + goal);
        y += off * e * 0.88622692545275801365;
    }
    return y;
}
/* --- the normal distribution ------------------------------------------------------------------ */

TNI_SPECIAL double TNI_FN(tni_ndtri)(double p) {
    const double root = 1.41421356237309504880;
    if (!(p > 0 && p < 1)) return p == 0 ? -INF : p == 1 ? INF : (double)NAN;
    if (p < 1e-16) return -root * TNI_FN(tni_erfc_inverse)(2 * p);
    double low;
    const double ratio = TNI_FNT(tni_erfinv_ratio)(-TNI_FNT(tni_log)(4 * p * (1 - p)), 0, &low);
    return root * 2 * (p - 0.5) * (ratio + low);
}

/* --- zeta ------------------------------------------------------------------------------------- */

/* The sum of (q + k)^-s from k = 0 on, q > 0: 10 and more terms, then the formula of Euler and
 * Maclaurin with 12 numbers of Bernoulli; terms[k] = (2 k + 2)! / B_(2 k + 2) */
TNI_SPECIAL double TNI_FN(tni_zeta_above)(double s, double q) {
    static const double terms[] = {12,
                                   -720,
                                   30240,
                                   -1209600,
                                   47900160,
                                   -1307674368000.0 / 691,
                                   74724249600.0,
                                   -10670622842880000.0 / 3617,
                                   5109094217170944000.0 / 43867,
                                   -802857662698291200000.0 / 174611,
                                   14101100039391805440000.0 / 77683,
                                   -1693824136731743669452800000.0 / 236364091};
    double parts[12], sum = 0, a = q, power, factor = 1;
    int n = 0;
    do {
        parts[n++] = TNI_FNT(tni_pow)(a, -s);
        a = q + n;
    } while (n < 12 && (n < 10 ? parts[n - 1] > parts[0] * 1e-18 : a <= 10));
    power = TNI_FNT(tni_pow)(a, -s);
    double tail = power == 0 ? 0 : power * (a / (s - 1) + 0.5);
    for (int k = 0; k < 12 && power != 0; k++) {
        const double t = (factor *= s + 2 * k) * (power /= a) / terms[k];
        tail += t;
        if (fabs(t) < fabs(tail) * 1e-18) break;
        factor *= s + 2 * k + 1;
        power /= a;
    }
    sum = tail;
    while (n > 0) sum += parts[--n];
    return sum;
}
/* Hurwitz' zeta function. Below 0 only whole s have a value: by the terms on both sides of 0,
 * q = f - k, those below it as a difference of two sums. */
TNI_SPECIAL double TNI_FN(tni_zeta)(double s, double q) {
    double k, f, y;
    if (s != s || q != q) return s + q;
    if (s == 1) return INF;
    if (s < 1) return (double)NAN;
    if (q == INF) return 0;
    if (q > 0) return s == INF ? (q < 1 ? INF : q > 1 ? 0.0 : 1.0) : TNI_FN(tni_zeta_above)(s, q);
    if (floor(q) == q) return INF;
    if (floor(s) != s || s == INF) return (double)NAN;
    k = 1 - ceil(q);
    f = q + k; /* exact where digits matter: the terms nearest to 0 are f and 1 - f */
    y = TNI_FN(tni_zeta_above)(s, 1 - f) - TNI_FN(tni_zeta_above)(s, k + (1 - f));
    if (fmod(s, 2.0) != 0) y = -y;
    return TNI_FN(tni_zeta_above)(s, f) + y;
}

#include "math_bessel.h"
#include "math_igamma.h"
#include "math_draws.h"
#include "math_orthogonal.h"
