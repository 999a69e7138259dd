/* scalar.h - the vocabulary with W = 1: every word is the definition that the vector files must
 * agree with. */
#ifndef TNI_SIMD_SCALAR_H
#define TNI_SIMD_SCALAR_H

/* S suffix, E element, U unsigned integer of its width. Memory is read by memcpy: it may be of any
 * type and alignment, and compilers make one instruction of it. min and max return b where a or b
 * is NaN, as minps does. */
#define TNI_SCALAR_COMMON(S, E, U)                                           \
    TNI_INLINE E tni_sc_ld_##S(const void *p) {                              \
        E v;                                                                 \
        memcpy(&v, p, sizeof v);                                             \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE void tni_sc_st_##S(void *p, E v) { memcpy(p, &v, sizeof v); } \
    TNI_INLINE E tni_sc_ldn_##S(const void *p, int64_t n) {                  \
        return n > 0 ? tni_sc_ld_##S(p) : (E)0;                              \
    }                                                                        \
    TNI_INLINE void tni_sc_stn_##S(void *p, E v, int64_t n) {                \
        if (n > 0) tni_sc_st_##S(p, v);                                      \
    }                                                                        \
    TNI_INLINE U tni_sc_bits_##S(E v) {                                      \
        U u;                                                                 \
        memcpy(&u, &v, sizeof u);                                            \
        return u;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_from_##S(U u) {                                      \
        E v;                                                                 \
        memcpy(&v, &u, sizeof v);                                            \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_min_##S(E a, E b) { return a < b ? a : b; }          \
    TNI_INLINE E tni_sc_max_##S(E a, E b) { return a > b ? a : b; }          \
    TNI_INLINE E tni_sc_and_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) & tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_or_##S(E a, E b) {                                   \
        return tni_sc_from_##S(tni_sc_bits_##S(a) | tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_xor_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) ^ tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_not_##S(E a) { return tni_sc_from_##S((U)~tni_sc_bits_##S(a)); }
/* wrapping arithmetic goes through U; >> of a negative number is arithmetic in known compilers */
#define TNI_SCALAR_INTEGER(S, E, U)                                        \
    TNI_INLINE E tni_sc_add_##S(E a, E b) { return (E)((U)a + (U)b); }     \
    TNI_INLINE E tni_sc_sub_##S(E a, E b) { return (E)((U)a - (U)b); }     \
    TNI_INLINE E tni_sc_mul_##S(E a, E b) { return (E)((U)a * (U)b); }     \
    TNI_INLINE E tni_sc_abs_##S(E a) { return a < 0 ? (E)(0 - (U)a) : a; } \
    TNI_INLINE E tni_sc_shl_##S(E a, E n) { return (E)((U)a << n); }       \
    TNI_INLINE E tni_sc_shr_##S(E a, E n) { return (E)(a >> n); }          \
    TNI_INLINE E tni_sc_shrl_##S(E a, E n) { return (E)((U)a >> n); }
TNI_SCALAR_COMMON(f32, float, uint32_t)
TNI_SCALAR_COMMON(f64, double, uint64_t)
TNI_SCALAR_COMMON(i32, int32_t, uint32_t)
TNI_SCALAR_COMMON(i64, int64_t, uint64_t)
TNI_SCALAR_INTEGER(i32, int32_t, uint32_t)
TNI_SCALAR_INTEGER(i64, int64_t, uint64_t)
#undef TNI_SCALAR_COMMON
#undef TNI_SCALAR_INTEGER

/* v 2^n as two factors, so that a denormal result is rounded once: the first product is a normal
 * number. Where n is NaN, so is v, and any n does. */
TNI_INLINE float tni_sc_ldexp_f32(float v, float n) {
    int32_t k = n == n ? (int32_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f32((uint32_t)(h + 127) << 23) *
           tni_sc_from_f32((uint32_t)(k - h + 127) << 23);
}
TNI_INLINE double tni_sc_ldexp_f64(double v, double n) {
    int64_t k = n == n ? (int64_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f64((uint64_t)(h + 1023) << 52) *
           tni_sc_from_f64((uint64_t)(k - h + 1023) << 52);
}
/* The exponent without its bias, and the number with exponent 0: of normal positive numbers. */
TNI_INLINE float tni_sc_expo_f32(float v) {
    return (float)((int32_t)(tni_sc_bits_f32(v) >> 23) - 127);
}
TNI_INLINE double tni_sc_expo_f64(double v) {
    return (double)((int64_t)(tni_sc_bits_f64(v) >> 52) - 1023);
}
TNI_INLINE float tni_sc_mant_f32(float v) {
    return tni_sc_from_f32((tni_sc_bits_f32(v) & 0x007fffffu) | 0x3f800000u);
}
TNI_INLINE double tni_sc_mant_f64(double v) {
    return tni_sc_from_f64((tni_sc_bits_f64(v) & 0x000fffffffffffffu) | 0x3ff0000000000000u);
}
/* a b + c, rounded once. emscripten's fmaf sets no rounding mode and rounds some sums twice; its
 * fma loses the sign of a product that becomes 0 where c is 0.
 * A product of floats is exact as a double. `lost` is what its sum s with c has lost (Knuth); if s
 * lies beyond the exact sum, the double before it does not. With its last bit set for what is
 * missing ("rounded to odd"), it is rounded to float as the exact sum would be: S. Boldo, G.
 * Melquiond, 2008. */
#if defined(__wasm__)
TNI_INLINE float tni_sc_fma_f32(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    double side = lost * s; /* NaN where s is no finite number */
    uint64_t bits = tni_sc_bits_f64(s);
    if (side < 0) bits--;
    if (side < 0 || side > 0) bits |= 1;
    return (float)tni_sc_from_f64(bits);
}
TNI_INLINE double tni_sc_fma_f64(double a, double b, double c) {
    return c == 0 && a != 0 && b != 0 ? a * b : fma(a, b, c);
}
#define TNI_FMA_F32 tni_sc_fma_f32
#define TNI_FMA_F64 tni_sc_fma_f64
/* clang 14 makes x < 0 ? 0 : x an instruction that gives 0 of -0, if it sees what is compared. */
TNI_INLINE int tni_sc_truth(int m) {
    __asm__("" : "+r"(m));
    return m;
}
#define TNI_TRUTH(m) tni_sc_truth(m)
#else
#define TNI_FMA_F32 fmaf
#define TNI_FMA_F64 fma
#define TNI_TRUTH(m) (m)
#endif
#endif

#define TNI_S(name) TNI_JOIN(tni_sc_##name##_, TNI_SUFFIX)
#define V T
#define M int /* 0 or 1: M_NOT is !, bits would not do */
#define W 1
#define V_LD(p) TNI_S(ld)(p)
#define V_ST(p, v) TNI_S(st)(p, v)
#define V_LDN(p, n) TNI_S(ldn)(p, n)
#define V_STN(p, v, n) TNI_S(stn)(p, v, n)
#define V_REV(a) (a)
#define V_LD2(p, a, b) (*(a) = V_LD(p), *(b) = V_LD((const T *)(const void *)(p) + 1))
#define V_ST2(p, a, b) (V_ST(p, a), V_ST((T *)(void *)(p) + 1, b))
#define V_SET(s) ((T)(s))
#define V_ZERO() ((T)0)
#define V_MIN(a, b) TNI_S(min)(a, b)
#define V_MAX(a, b) TNI_S(max)(a, b)
#define V_LT(a, b) ((a) < (b))
#define V_LE(a, b) ((a) <= (b))
#define V_GT(a, b) ((a) > (b))
#define V_GE(a, b) ((a) >= (b))
#define V_EQ(a, b) ((a) == (b))
#define V_NE(a, b) ((a) != (b))
#define V_SEL(m, a, b) (TNI_TRUTH(m) ? (a) : (b))
#define M_AND(a, b) ((a) & (b))
#define M_OR(a, b) ((a) | (b))
#define M_XOR(a, b) ((a) ^ (b))
#define M_NOT(a) (!(a))
#define M_ANY(m) (m)
#define V_AND(a, b) TNI_S (and)(a, b)
#define V_OR(a, b) TNI_S(or)(a, b)
#define V_XOR(a, b) TNI_S (xor)(a, b)
#define V_NOT(a) TNI_S(not )(a)
#define V_MST(p, m) (*(uint8_t *)(p) = (uint8_t)(m))
#define M_LD(p) (*(const uint8_t *)(p) != 0)

#if TNI_FLOATING /* rounded to T also where the target computes in a wider type (FLT_EVAL_METHOD) */
#define V_ADD(a, b) ((T)((a) + (b)))
#define V_EXPO(a) TNI_S(expo)(a)
#define V_MANT(a) TNI_S(mant)(a)
#define V_SUB(a, b) ((T)((a) - (b)))
#define V_MUL(a, b) ((T)((a) * (b)))
#define V_DIV(a, b) ((T)((a) / (b)))
#define V_NEG(a) (-(a))
#define V_LDEXP(v, n) TNI_S(ldexp)(v, n)
#else
#define V_ADD(a, b) TNI_S(add)(a, b)
#define V_SUB(a, b) TNI_S(sub)(a, b)
#define V_MUL(a, b) TNI_S(mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) TNI_S(sub)(0, a)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_ABS(a) TNI_S(abs)(a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_SHL(a, n) TNI_S(shl)(a, n)
#define V_SHR(a, n) TNI_S(shr)(a, n)
#define V_SHRL(a, n) TNI_S(shrl)(a, n)
#define V_SHLV(a, n) TNI_S(shl)(a, n)
#define V_SHRV(a, n) TNI_S(shr)(a, n)
#endif
#if defined(TNI_TYPE_F32)
#define V_FMA(a, b, c) TNI_FMA_F32(a, b, c)
#define V_FNMA(a, b, c) TNI_FMA_F32(-(a), b, c)
#define V_ABS(a) fabsf(a)
#define V_SQRT(a) sqrtf(a)
#define V_FLOOR(a) floorf(a)
#define V_CEIL(a) ceilf(a)
#define V_TRUNC(a) truncf(a)
#define V_ROUND(a) rintf(a)
#elif defined(TNI_TYPE_F64)
#define V_FMA(a, b, c) TNI_FMA_F64(a, b, c)
#define V_FNMA(a, b, c) TNI_FMA_F64(-(a), b, c)
#define V_ABS(a) fabs(a)
#define V_SQRT(a) sqrt(a)
#define V_FLOOR(a) floor(a)
#define V_CEIL(a) ceil(a)
#define V_TRUNC(a) trunc(a)
#define V_ROUND(a) rint(a)
#endif
