/* math_int.h - division and powers of one integer type. A zero divisor gives 0: who calls has
 * refused it for elements, and the padding of a last vector holds zeros. The least number divided
 * by -1 wraps. */

#if defined(TNI_TYPE_I32)
#define U uint32_t
#else
#define U uint64_t
#endif
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_MAX(a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_MIN(a, b); }
/* No integer is NaN or infinite: a comparison that is false of all lanes, or true. */
TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_EQ(x, x); }
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(x, V_ZERO()); }
/* x * 2^n modulo 2^bits, and floor(x / 2^n). Counts below 0 or from the width on shift
 * everything out. */
TNI_INLINE V TNI_FNT(tni_shift_left)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    M inside = M_AND(V_GE(n, V_ZERO()), V_LE(n, most));
    return V_SEL(inside, V_SHLV(x, V_AND(n, most)), V_ZERO());
}
TNI_INLINE V TNI_FNT(tni_shift_right)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    return V_SHRV(x, V_SEL(M_AND(V_GE(n, V_ZERO()), V_LE(n, most)), n, most));
}
TNI_INLINE V TNI_FNT(tni_sign)(V x) {
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}
/* One lane each, as vectors of integers have no division. By -1 apart: the least number traps. */
TNI_INLINE T TNI_FNT(tni_div_one)(T a, T b) { /* truncated */
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;
}
TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
TNI_INLINE T TNI_FNT(tni_floordiv_one)(T a, T b) {
    if (b == 0 || b == -1) return TNI_FNT(tni_div_one)(a, b);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
TNI_INLINE T TNI_FNT(tni_remainder_one)(T a, T b) { /* the sign of b */
    T rest = TNI_FNT(tni_fmod_one)(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/* By squaring, modulo 2^bits. Of negative powers only those of 1 and -1 are not 0. */
TNI_INLINE T TNI_FNT(tni_pow_one)(T a, T b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    U power = 1, base = (U)a;
    for (U n = (U)b; n; n >>= 1, base *= base)
        if (n & 1) power *= base;
    return (T)power;
}
/* Euclid's algorithm on magnitudes. The least number's wraps, as torch's does. */
TNI_INLINE T TNI_FNT(tni_gcd_one)(T a, T b) {
    U x = a < 0 ? 0 - (U)a : (U)a, y = b < 0 ? 0 - (U)b : (U)b;
    while (y != 0) {
        const U rest = x % y;
        x = y;
        y = rest;
    }
    return (T)x;
}
TNI_INLINE T TNI_FNT(tni_lcm_one)(T a, T b) { /* 0 of 0 */
    const T both = TNI_FNT(tni_gcd_one)(a, b);
    const T product = both == 0 ? 0 : (T)((U)TNI_FNT(tni_div_one)(a, both) * (U)b);
    return product < 0 ? (T)(0 - (U)product) : product;
}
#include "math_lanes.h"
TNI_LANES(tni_gcd, TNI_FNT(tni_gcd))
TNI_LANES(tni_lcm, TNI_FNT(tni_lcm))
TNI_LANES(tni_div, TNI_FNT(tni_div))
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod))
TNI_LANES(tni_floordiv, TNI_FNT(tni_floordiv))
TNI_LANES(tni_remainder, TNI_FNT(tni_remainder))
TNI_LANES(tni_pow, TNI_FNT(tni_pow))
#undef TNI_LANES
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return TNI_FNT(tni_div)(a, b); }
#if defined(TNI_TYPE_I64) /* of bool.h: whole bytes */
TNI_INLINE V TNI_FN(tni_bool_sel)(V m, V a, V b) { return V_XOR(b, V_AND(m, V_XOR(a, b))); }
#endif
#undef U
