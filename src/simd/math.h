/* math.h - elementary functions on vectors, for f32 and f64, and division for all four types.
 *
 * One text serves every instruction set, so the bits are the same in all. Errors are at most 1 ULP
 * in f32 and 1.1 in f64, more where said. Specials follow C's Annex F. Arguments of any size are
 * reduced exactly. */

/* gcc keeps a helper out of line, which compiles faster and runs as fast. clang would pass vectors
 * through memory, so it inlines. */
#undef TNI_HELPER
#ifdef TNI_HELPER_AS /* another target's (cuda/vocabulary.cuh) */
#define TNI_HELPER TNI_HELPER_AS
#elif defined(__clang__)
#define TNI_HELPER static inline __attribute__((always_inline, unused))
#elif defined(__GNUC__)
#define TNI_HELPER static __attribute__((noinline, unused))
#else
#define TNI_HELPER static
#endif

/* For |x| > 2^15: x = n * pi/2 + hi + lo with |hi| <= pi/4. Returns n mod 4. Payne, Hanek, "Radian
 * reduction for trigonometric functions", 1983: only those bits of 2/pi count whose product with
 * x's 53-bit integer lies below 4 and above 2^-137. */
TNI_HELPER int TNI_FN(tni_trig_large)(double x, double *hi, double *lo) {
    static const uint32_t two_over_pi[2 + 38] = {
        0,           0, /* zeros above the binary point */
        0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
        0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
        0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
        0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
        0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
        0x1f8d5d08u, 0x56033046u, 0xfc7b6babu};
    uint64_t bits, m, limb[2], carry = 0;
    /* the product mod 2^192, p[0] lowest: 2 bits of n, 190 of the fraction */
    uint32_t p[6] = {0, 0, 0, 0, 0, 0};
    /* |x| = m 2^e with a 53-bit m in two limbs; the window begins at bit `start` of the table */
    memcpy(&bits, &x, sizeof bits);
    m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
    limb[0] = m & 0xffffffffu;
    limb[1] = m >> 32;
    int start = (int)(bits >> 52 & 0x7ff) - 1075 - 2 + 64, word = start >> 5, shift = start & 31;
    int q, negative;
    /* long multiplication, modulo 2^192: what would go above is a multiple of 4 quarters */
    for (int i = 0; i < 6; i++) { /* window word i, from the lowest */
        const uint32_t *w = two_over_pi + word + 5 - i;
        uint64_t v = shift ? (uint32_t)(w[0] << shift | w[1] >> (32 - shift)) : w[0];
        for (int k = 0; k < 2 && i + k < 6; k++) {
            uint64_t sum = v * limb[k] + p[i + k] + (k ? carry : 0);
            p[i + k] = (uint32_t)sum;
            carry = sum >> 32;
        }
        for (int j = i + 2; j < 6 && carry; j++) {
            carry += p[j];
            p[j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    q = (int)(p[5] >> 30);
    /* to the nearest: a fraction of a half and more counts down from the next */
    negative = (int)(p[5] >> 29 & 1);
    p[5] &= 0x3fffffffu;
    if (negative) {
        q++;
        carry = 1; /* two's complement: inverted, and one more */
        p[5] |= 0xc0000000u;
        for (int i = 0; i < 6; i++) {
            carry += (uint32_t)~p[i];
            p[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    /* h + l: the fraction; the first word that is not 0 begins h, and later ones are smaller */
    double h = 0, l = 0, scale = 1 / 1073741824.0; /* 2^-30 */
    for (int i = 5; i >= 0; i--, scale *= 1 / 4294967296.0) {
        double t = (double)p[i] * scale, s = h + t;
        l += h == 0 ? 0 : (h - s) + t;
        h = s;
    }
    /* times pi / 2, in two parts as well */
    double s = h * 1.57079632679489656e+00, e = fma(h, 1.57079632679489656e+00, -s);
    e += h * 6.12323399573676604e-17 + l * 1.57079632679489656e+00;
    if ((bits >> 63 != 0) != (negative != 0)) {
        s = -s;
        e = -e;
    }
    *hi = s + e;
    *lo = (s - *hi) + e;
    return (bits >> 63 ? -q : q) & 3;
}
