/* wasm128.h - the vocabulary for WebAssembly with 128-bit SIMD (emcc -msimd128).
 *
 * A truth is a lane of all ones or all zeros. There is no fma: that of f32 is made of doubles, that
 * of f64 goes lane by lane through scalar.h. relaxed_madd is not used: it rounds once or twice, as
 * the machine likes. */
#ifndef TNI_SIMD_WASM128_H
#define TNI_SIMD_WASM128_H

/* There are no masked loads: n lanes go through an array, so no memory beyond them is touched. */
TNI_INLINE v128_t tni_wasm_ldn(const void *p, int64_t n, size_t each) {
    v128_t v = wasm_i64x2_splat(0);
    memcpy(&v, p, (size_t)n * each);
    return v;
}
TNI_INLINE void tni_wasm_stn(void *p, v128_t v, int64_t n, size_t each) {
    memcpy(p, &v, (size_t)n * each);
}
/* Masks to bytes 0 or 1, narrowed twice (-1 stays -1), and bytes that are not 0 to masks. */
TNI_INLINE void tni_wasm_mst32(void *p, v128_t m) {
    v128_t h = wasm_i16x8_narrow_i32x4(m, m);
    v128_t b = wasm_v128_and(wasm_i8x16_narrow_i16x8(h, h), wasm_i8x16_splat(1));
    wasm_v128_store32_lane(p, b, 0);
}
TNI_INLINE void tni_wasm_mst64(void *p, v128_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(wasm_i64x2_extract_lane(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(wasm_i64x2_extract_lane(m, 1) & 1);
}
TNI_INLINE v128_t tni_wasm_mld32(const void *p) {
    v128_t v = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
    return wasm_i32x4_ne(wasm_u32x4_extend_low_u16x8(v), wasm_i32x4_splat(0));
}
TNI_INLINE v128_t tni_wasm_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    return wasm_i64x2_ne(wasm_i64x2_make(q[0], q[1]), wasm_i64x2_splat(0));
}

/* The two lower lanes of a, the two upper ones, and a vector of two such pairs. */
TNI_INLINE v128_t tni_wasm_low(v128_t a) { return wasm_f64x2_promote_low_f32x4(a); }
TNI_INLINE v128_t tni_wasm_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1));
}
TNI_INLINE v128_t tni_wasm_floats(v128_t low, v128_t high) {
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high),
                              0, 2);
}
/* p + c rounded to odd: tni_sc_fma_f32 in scalar.h has the steps. */
TNI_INLINE v128_t tni_wasm_to_odd(v128_t p, v128_t c) {
    v128_t s = wasm_f64x2_add(p, c), t = wasm_f64x2_sub(s, p), zero = wasm_f64x2_splat(0);
    v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(c, t));
    v128_t side = wasm_f64x2_mul(lost, s);
    v128_t beyond = wasm_f64x2_lt(side, zero), before = wasm_f64x2_gt(side, zero);
    v128_t odd = wasm_u64x2_shr(wasm_v128_or(beyond, before), 63);
    return wasm_v128_or(wasm_i64x2_add(s, beyond), odd);
}
static TNI_NOINLINE v128_t tni_wasm_fma_once(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    return tni_wasm_floats(tni_wasm_to_odd(p, tni_wasm_low(c)),
                           tni_wasm_to_odd(q, tni_wasm_high(c)));
}
/* The sums are rounded to double, then to float, which goes wrong only if a double is halfway
 * between two floats, or if the float is denormal: then all lanes are rounded once. */
TNI_INLINE v128_t tni_wasm_fma_f32(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    v128_t s = wasm_f64x2_add(p, tni_wasm_low(c)), t = wasm_f64x2_add(q, tni_wasm_high(c));
    v128_t sum = tni_wasm_floats(s, t), tail = wasm_i32x4_shuffle(s, t, 0, 2, 4, 6);
    v128_t halfway = wasm_i32x4_eq(wasm_v128_and(tail, wasm_i32x4_splat(0x1fffffff)),
                                   wasm_i32x4_splat(0x10000000));
    v128_t small = wasm_f32x4_le(wasm_f32x4_abs(sum), wasm_f32x4_splat(1.17549435e-38f));
    v128_t denormal = wasm_v128_and(small, wasm_f32x4_ne(sum, wasm_f32x4_splat(0)));
    if (TNI_LIKELY(!wasm_v128_any_true(wasm_v128_or(halfway, denormal)))) return sum;
    return tni_wasm_fma_once(a, b, c);
}
TNI_INLINE v128_t tni_wasm_fma_f64(v128_t a, v128_t b, v128_t c) {
    return wasm_f64x2_make(
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 0), wasm_f64x2_extract_lane(b, 0),
                       wasm_f64x2_extract_lane(c, 0)),
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 1), wasm_f64x2_extract_lane(b, 1),
                       wasm_f64x2_extract_lane(c, 1)));
}

/* v 2^n as two factors, so that a denormal result is rounded once (scalar.h) */
TNI_INLINE v128_t tni_wasm_ldexp_f32(v128_t v, v128_t n) {
    v128_t k = wasm_i32x4_trunc_sat_f32x4(n), h = wasm_i32x4_shr(k, 1);
    v128_t one = wasm_i32x4_splat(127), a = wasm_i32x4_shl(wasm_i32x4_add(h, one), 23);
    v128_t b = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(k, h), one), 23);
    return wasm_f32x4_mul(wasm_f32x4_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_ldexp_f64(v128_t v, v128_t n) {
    v128_t k = wasm_i64x2_extend_low_i32x4(wasm_i32x4_trunc_sat_f64x2_zero(n));
    v128_t h = wasm_i64x2_shr(k, 1), one = wasm_i64x2_splat(1023);
    v128_t a = wasm_i64x2_shl(wasm_i64x2_add(h, one), 52);
    v128_t b = wasm_i64x2_shl(wasm_i64x2_add(wasm_i64x2_sub(k, h), one), 52);
    return wasm_f64x2_mul(wasm_f64x2_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_expo_f32(v128_t v) {
    v128_t k = wasm_u32x4_shr(v, 23);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(k, wasm_i32x4_splat(127)));
}
/* No 64-bit integers are converted: 2^52 + k as bits, less 2^52 + 1023. */
TNI_INLINE v128_t tni_wasm_expo_f64(v128_t v) {
    v128_t k = wasm_v128_or(wasm_u64x2_shr(v, 52), wasm_i64x2_splat(0x4330000000000000));
    return wasm_f64x2_sub(k, wasm_f64x2_splat(4503599627371519.0));
}
TNI_INLINE v128_t tni_wasm_mant_f32(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i32x4_splat(0x007fffff));
    return wasm_v128_or(u, wasm_i32x4_splat(0x3f800000));
}
TNI_INLINE v128_t tni_wasm_mant_f64(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i64x2_splat(0x000fffffffffffff));
    return wasm_v128_or(u, wasm_i64x2_splat(0x3ff0000000000000));
}
/* Pairs to two vectors in order, and back. */
TNI_INLINE void tni_wasm_ld2_f32(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i32x4_shuffle(x, y, 0, 2, 4, 6);
    *b = wasm_i32x4_shuffle(x, y, 1, 3, 5, 7);
}
TNI_INLINE void tni_wasm_st2_f32(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5));
    wasm_v128_store(p + 16, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
TNI_INLINE void tni_wasm_ld2_f64(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i64x2_shuffle(x, y, 0, 2);
    *b = wasm_i64x2_shuffle(x, y, 1, 3);
}
TNI_INLINE void tni_wasm_st2_f64(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i64x2_shuffle(a, b, 0, 2));
    wasm_v128_store(p + 16, wasm_i64x2_shuffle(a, b, 1, 3));
}
TNI_INLINE v128_t tni_wasm_min_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_lt(a, b));
}
TNI_INLINE v128_t tni_wasm_max_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_gt(a, b));
}
/* Shifts take one count for all lanes: of a vector of counts, each lane goes alone. */
#define TNI_WASM_SHIFT(name, word, E, N)                              \
    TNI_INLINE v128_t tni_wasm_##name(v128_t a, v128_t n) {           \
        E x[N], by[N];                                                \
        wasm_v128_store(x, a);                                        \
        wasm_v128_store(by, n);                                       \
        for (int i = 0; i < N; i++) x[i] = tni_sc_##word(x[i], by[i]); \
        return wasm_v128_load(x);                                     \
    }
TNI_WASM_SHIFT(shl_i32, shl_i32, int32_t, 4)
TNI_WASM_SHIFT(shr_i32, shr_i32, int32_t, 4)
TNI_WASM_SHIFT(shl_i64, shl_i64, int64_t, 2)
TNI_WASM_SHIFT(shr_i64, shr_i64, int64_t, 2)
#undef TNI_WASM_SHIFT
#endif

#define V v128_t
#define M v128_t
#define V_LD(p) wasm_v128_load(p)
#define V_ST(p, v) wasm_v128_store(p, v)
#define V_LDN(p, n) tni_wasm_ldn(p, n, sizeof(T))
#define V_STN(p, v, n) tni_wasm_stn(p, v, n, sizeof(T))
#define V_ZERO() wasm_i64x2_splat(0)
#define V_SEL(m, a, b) wasm_v128_bitselect(a, b, m)
#define M_AND(a, b) wasm_v128_and(a, b)
#define M_OR(a, b) wasm_v128_or(a, b)
#define M_XOR(a, b) wasm_v128_xor(a, b)
#define M_NOT(a) wasm_v128_not(a)
#define M_ANY(m) wasm_v128_any_true(m)
#define V_AND(a, b) wasm_v128_and(a, b)
#define V_OR(a, b) wasm_v128_or(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_NOT(a) wasm_v128_not(a)

#if defined(TNI_TYPE_F32)
#define W 4
#define V_SET(s) wasm_f32x4_splat((float)(s))
#define V_REV(a) wasm_i32x4_shuffle(a, a, 3, 2, 1, 0)
#define V_LD2(p, a, b) tni_wasm_ld2_f32((const char *)(p), a, b)
#define V_ST2(p, a, b) tni_wasm_st2_f32((char *)(p), a, b)
#define V_ADD(a, b) wasm_f32x4_add(a, b)
#define V_SUB(a, b) wasm_f32x4_sub(a, b)
#define V_MUL(a, b) wasm_f32x4_mul(a, b)
#define V_DIV(a, b) wasm_f32x4_div(a, b)
#define V_FMA(a, b, c) tni_wasm_fma_f32(a, b, c)
#define V_FNMA(a, b, c) tni_wasm_fma_f32(wasm_f32x4_neg(a), b, c)
#define V_NEG(a) wasm_f32x4_neg(a)
#define V_ABS(a) wasm_f32x4_abs(a)
#define V_SQRT(a) wasm_f32x4_sqrt(a)
#define V_MIN(a, b) wasm_f32x4_pmin(b, a)
#define V_MAX(a, b) wasm_f32x4_pmax(b, a)
#define V_FLOOR(a) wasm_f32x4_floor(a)
#define V_CEIL(a) wasm_f32x4_ceil(a)
#define V_TRUNC(a) wasm_f32x4_trunc(a)
#define V_ROUND(a) wasm_f32x4_nearest(a)
#define V_LT(a, b) wasm_f32x4_lt(a, b)
#define V_LE(a, b) wasm_f32x4_le(a, b)
#define V_GT(a, b) wasm_f32x4_gt(a, b)
#define V_GE(a, b) wasm_f32x4_ge(a, b)
#define V_EQ(a, b) wasm_f32x4_eq(a, b)
#define V_NE(a, b) wasm_f32x4_ne(a, b)
#define V_LDEXP(v, n) tni_wasm_ldexp_f32(v, n)
#define V_EXPO(a) tni_wasm_expo_f32(a)
#define V_MANT(a) tni_wasm_mant_f32(a)
#define V_MST(p, m) tni_wasm_mst32(p, m)
#define M_LD(p) tni_wasm_mld32(p)

#elif defined(TNI_TYPE_F64)
#define W 2
#define V_SET(s) wasm_f64x2_splat((double)(s))
#define V_REV(a) wasm_i64x2_shuffle(a, a, 1, 0)
#define V_LD2(p, a, b) tni_wasm_ld2_f64((const char *)(p), a, b)
#define V_ST2(p, a, b) tni_wasm_st2_f64((char *)(p), a, b)
#define V_ADD(a, b) wasm_f64x2_add(a, b)
#define V_SUB(a, b) wasm_f64x2_sub(a, b)
#define V_MUL(a, b) wasm_f64x2_mul(a, b)
#define V_DIV(a, b) wasm_f64x2_div(a, b)
#define V_FMA(a, b, c) tni_wasm_fma_f64(a, b, c)
#define V_FNMA(a, b, c) tni_wasm_fma_f64(wasm_f64x2_neg(a), b, c)
#define V_NEG(a) wasm_f64x2_neg(a)
#define V_ABS(a) wasm_f64x2_abs(a)
#define V_SQRT(a) wasm_f64x2_sqrt(a)
#define V_MIN(a, b) wasm_f64x2_pmin(b, a)
#define V_MAX(a, b) wasm_f64x2_pmax(b, a)
#define V_FLOOR(a) wasm_f64x2_floor(a)
#define V_CEIL(a) wasm_f64x2_ceil(a)
#define V_TRUNC(a) wasm_f64x2_trunc(a)
#define V_ROUND(a) wasm_f64x2_nearest(a)
#define V_LT(a, b) wasm_f64x2_lt(a, b)
#define V_LE(a, b) wasm_f64x2_le(a, b)
#define V_GT(a, b) wasm_f64x2_gt(a, b)
#define V_GE(a, b) wasm_f64x2_ge(a, b)
#define V_EQ(a, b) wasm_f64x2_eq(a, b)
#define V_NE(a, b) wasm_f64x2_ne(a, b)
#define V_LDEXP(v, n) tni_wasm_ldexp_f64(v, n)
#define V_EXPO(a) tni_wasm_expo_f64(a)
#define V_MANT(a) tni_wasm_mant_f64(a)
#define V_MST(p, m) tni_wasm_mst64(p, m)
#define M_LD(p) tni_wasm_mld64(p)

#else
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#if defined(TNI_TYPE_I32)
#define W 4
#define V_SET(s) wasm_i32x4_splat((int32_t)(s))
#define V_ADD(a, b) wasm_i32x4_add(a, b)
#define V_SUB(a, b) wasm_i32x4_sub(a, b)
#define V_MUL(a, b) wasm_i32x4_mul(a, b)
#define V_NEG(a) wasm_i32x4_neg(a)
#define V_ABS(a) wasm_i32x4_abs(a)
#define V_MIN(a, b) wasm_i32x4_min(a, b)
#define V_MAX(a, b) wasm_i32x4_max(a, b)
#define V_LT(a, b) wasm_i32x4_lt(a, b)
#define V_LE(a, b) wasm_i32x4_le(a, b)
#define V_GT(a, b) wasm_i32x4_gt(a, b)
#define V_GE(a, b) wasm_i32x4_ge(a, b)
#define V_EQ(a, b) wasm_i32x4_eq(a, b)
#define V_NE(a, b) wasm_i32x4_ne(a, b)
#define V_SHL(a, n) wasm_i32x4_shl(a, n)
#define V_SHR(a, n) wasm_i32x4_shr(a, n)
#define V_SHRL(a, n) wasm_u32x4_shr(a, n)
#define V_SHLV(a, n) tni_wasm_shl_i32(a, n)
#define V_SHRV(a, n) tni_wasm_shr_i32(a, n)
#define V_MST(p, m) tni_wasm_mst32(p, m)
#define M_LD(p) tni_wasm_mld32(p)
#else
#define W 2
#define V_SET(s) wasm_i64x2_splat((int64_t)(s))
#define V_ADD(a, b) wasm_i64x2_add(a, b)
#define V_SUB(a, b) wasm_i64x2_sub(a, b)
#define V_MUL(a, b) wasm_i64x2_mul(a, b)
#define V_NEG(a) wasm_i64x2_neg(a)
#define V_ABS(a) wasm_i64x2_abs(a)
#define V_MIN(a, b) tni_wasm_min_i64(a, b)
#define V_MAX(a, b) tni_wasm_max_i64(a, b)
#define V_LT(a, b) wasm_i64x2_lt(a, b)
#define V_LE(a, b) wasm_i64x2_le(a, b)
#define V_GT(a, b) wasm_i64x2_gt(a, b)
#define V_GE(a, b) wasm_i64x2_ge(a, b)
#define V_EQ(a, b) wasm_i64x2_eq(a, b)
#define V_NE(a, b) wasm_i64x2_ne(a, b)
#define V_SHL(a, n) wasm_i64x2_shl(a, n)
#define V_SHR(a, n) wasm_i64x2_shr(a, n)
#define V_SHRL(a, n) wasm_u64x2_shr(a, n)
#define V_SHLV(a, n) tni_wasm_shl_i64(a, n)
#define V_SHRV(a, n) tni_wasm_shr_i64(a, n)
#define V_MST(p, m) tni_wasm_mst64(p, m)
#define M_LD(p) tni_wasm_mld64(p)
#endif
#endif
