/* avx2.h - the vocabulary for x86-64 with AVX2, FMA and F16C.
 *
 * A truth is a lane of all ones or all zeros. Most shuffles move within halves of 128 bits, so what
 * crosses them takes a permutation more. */
#ifndef TNI_SIMD_AVX2_H
#define TNI_SIMD_AVX2_H

/* Ones, then zeros: the window that begins 8 - n words on is the mask of the first n lanes. Masked
 * loads and stores touch no memory beyond them. */
static const int32_t tni_avx2_first[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TNI_INLINE __m256i tni_avx2_mask32(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - n));
}
TNI_INLINE __m256i tni_avx2_mask64(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - 2 * n));
}
/* 8 masks of 32 bits to 8 bytes of 0 or 1: packed with saturation, -1 stays -1 */
TNI_INLINE void tni_avx2_mst32(void *p, __m256i m) {
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(h, h), _mm_set1_epi8(1)));
}
/* 4 bits to 4 bytes: the product has copies of them 7 bits apart, so that bit k is at 8 k */
TNI_INLINE void tni_avx2_mst64(void *p, int bits) {
    uint32_t u = ((uint32_t)bits * 0x204081u) & 0x01010101u;
    memcpy(p, &u, 4);
}
/* Bytes that are not 0 as masks. */
TNI_INLINE __m256i tni_avx2_mld32(const void *p) {
    __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_mld64(const void *p) {
    int32_t u;
    memcpy(&u, p, 4);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(u)), _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_not(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }

/* v 2^n as two factors, so that a denormal result is rounded once (scalar.h) */
TNI_INLINE __m256 tni_avx2_ldexp_f32(__m256 v, __m256 n) {
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1), one = _mm256_set1_epi32(127);
    __m256i a = _mm256_slli_epi32(_mm256_add_epi32(h, one), 23);
    __m256i b = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(k, h), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(v, _mm256_castsi256_ps(a)), _mm256_castsi256_ps(b));
}
TNI_INLINE __m256d tni_avx2_ldexp_f64(__m256d v, __m256d n) {
    __m128i k = _mm256_cvtpd_epi32(n), h = _mm_srai_epi32(k, 1), one = _mm_set1_epi32(1023);
    __m256i a = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(h, one)), 52);
    __m256i b =
        _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(_mm_sub_epi32(k, h), one)), 52);
    return _mm256_mul_pd(_mm256_mul_pd(v, _mm256_castsi256_pd(a)), _mm256_castsi256_pd(b));
}
TNI_INLINE __m256 tni_avx2_expo_f32(__m256 v) {
    __m256i k = _mm256_srli_epi32(_mm256_castps_si256(v), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(k, _mm256_set1_epi32(127)));
}
/* AVX2 converts no 64-bit integers: 2^52 + k as bits, less 2^52 + 1023 */
TNI_INLINE __m256d tni_avx2_expo_f64(__m256d v) {
    __m256i k = _mm256_srli_epi64(_mm256_castpd_si256(v), 52);
    k = _mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000));
    return _mm256_sub_pd(_mm256_castsi256_pd(k), _mm256_set1_pd(4503599627371519.0));
}
TNI_INLINE __m256 tni_avx2_mant_f32(__m256 v) {
    v = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(v, _mm256_set1_ps(1.0f));
}
TNI_INLINE __m256d tni_avx2_mant_f64(__m256d v) {
    v = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000fffffffffffff)));
    return _mm256_or_pd(v, _mm256_set1_pd(1.0));
}

/* Pairs to two vectors in order, and back. Shuffled, f32 has x0 x2 y0 y2 in the lower half and
 * x4 x6 y4 y6 in the upper one; permuting quarters 0 2 1 3 (0xd8) puts x before y. */
TNI_INLINE void tni_avx2_ld2_f32(const float *p, __m256 *a, __m256 *b) {
    __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0x88)),
            odd = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0xdd));
    *a = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *b = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TNI_INLINE void tni_avx2_st2_f32(float *p, __m256 a, __m256 b) {
    __m256 x = _mm256_unpacklo_ps(a, b), y = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(x, y, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(x, y, 0x31));
}
TNI_INLINE void tni_avx2_ld2_f64(const double *p, __m256d *a, __m256d *b) {
    __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
    *a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), 0xd8);
    *b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), 0xd8);
}
TNI_INLINE void tni_avx2_st2_f64(double *p, __m256d a, __m256d b) {
    __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(x, y, 0x20));
    _mm256_storeu_pd(p + 4, _mm256_permute2f128_pd(x, y, 0x31));
}

/* What AVX2 lacks for 64-bit integers. A product modulo 2^64 is that of the low halves, and the two
 * cross products << 32. */
TNI_INLINE __m256i tni_avx2_mul_i64(__m256i a, __m256i b) {
    __m256i cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    cross = _mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}
TNI_INLINE __m256i tni_avx2_sel(__m256i m, __m256i a, __m256i b) {
    return _mm256_blendv_epi8(b, a, m);
}
TNI_INLINE __m256i tni_avx2_min_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(b, a), a, b);
}
TNI_INLINE __m256i tni_avx2_max_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(a, b), a, b);
}
/* s is -1 of negative numbers, else 0: xor and subtracting it negates. The least number stays. */
TNI_INLINE __m256i tni_avx2_abs_i64(__m256i a) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_sub_epi64(_mm256_xor_si256(a, s), s);
}
/* Arithmetic: a negative number's complement is not negative, is shifted and turned back. */
TNI_INLINE __m256i tni_avx2_shr_i64(__m256i a, __m256i n) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, s), n), s);
}
#endif

#if defined(TNI_TYPE_F32)
#define V __m256
#define M __m256
#define W 8
#define V_LD(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_ps((float *)(void *)(p), v)
#define V_LDN(p, n) _mm256_maskload_ps((const float *)(const void *)(p), tni_avx2_mask32(n))
#define V_STN(p, v, n) _mm256_maskstore_ps((float *)(void *)(p), tni_avx2_mask32(n), v)
#define V_SET(s) _mm256_set1_ps((float)(s))
#define V_REV(a) _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))
#define V_LD2(p, a, b) tni_avx2_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx2_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() _mm256_setzero_ps()
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_SUB(a, b) _mm256_sub_ps(a, b)
#define V_MUL(a, b) _mm256_mul_ps(a, b)
#define V_DIV(a, b) _mm256_div_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define V_NEG(a) _mm256_xor_ps(a, _mm256_set1_ps(-0.0f))
#define V_ABS(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#define V_SQRT(a) _mm256_sqrt_ps(a)
#define V_MIN(a, b) _mm256_min_ps(a, b)
#define V_MAX(a, b) _mm256_max_ps(a, b)
#define V_FLOOR(a) _mm256_floor_ps(a)
#define V_CEIL(a) _mm256_ceil_ps(a)
#define V_TRUNC(a) _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm256_cmp_ps(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm256_cmp_ps(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm256_cmp_ps(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm256_blendv_ps(b, a, m)
#define M_AND(a, b) _mm256_and_ps(a, b)
#define M_OR(a, b) _mm256_or_ps(a, b)
#define M_XOR(a, b) _mm256_xor_ps(a, b)
#define M_NOT(a) _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))
#define M_ANY(m) (_mm256_movemask_ps(m) != 0)
#define V_AND(a, b) _mm256_and_ps(a, b)
#define V_OR(a, b) _mm256_or_ps(a, b)
#define V_XOR(a, b) _mm256_xor_ps(a, b)
#define V_NOT(a) M_NOT(a)
#define V_LDEXP(v, n) tni_avx2_ldexp_f32(v, n)
#define V_EXPO(a) tni_avx2_expo_f32(a)
#define V_MANT(a) tni_avx2_mant_f32(a)
#define V_MST(p, m) tni_avx2_mst32(p, _mm256_castps_si256(m))
#define M_LD(p) _mm256_castsi256_ps(tni_avx2_mld32(p))

#elif defined(TNI_TYPE_F64)
#define V __m256d
#define M __m256d
#define W 4
#define V_LD(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_pd((double *)(void *)(p), v)
#define V_LDN(p, n) _mm256_maskload_pd((const double *)(const void *)(p), tni_avx2_mask64(n))
#define V_STN(p, v, n) _mm256_maskstore_pd((double *)(void *)(p), tni_avx2_mask64(n), v)
#define V_SET(s) _mm256_set1_pd((double)(s))
#define V_REV(a) _mm256_permute4x64_pd(a, 0x1b)
#define V_LD2(p, a, b) tni_avx2_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx2_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() _mm256_setzero_pd()
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define V_SUB(a, b) _mm256_sub_pd(a, b)
#define V_MUL(a, b) _mm256_mul_pd(a, b)
#define V_DIV(a, b) _mm256_div_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define V_NEG(a) _mm256_xor_pd(a, _mm256_set1_pd(-0.0))
#define V_ABS(a) _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define V_SQRT(a) _mm256_sqrt_pd(a)
#define V_MIN(a, b) _mm256_min_pd(a, b)
#define V_MAX(a, b) _mm256_max_pd(a, b)
#define V_FLOOR(a) _mm256_floor_pd(a)
#define V_CEIL(a) _mm256_ceil_pd(a)
#define V_TRUNC(a) _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm256_cmp_pd(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm256_cmp_pd(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm256_cmp_pd(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm256_cmp_pd(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm256_cmp_pd(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm256_blendv_pd(b, a, m)
#define M_AND(a, b) _mm256_and_pd(a, b)
#define M_OR(a, b) _mm256_or_pd(a, b)
#define M_XOR(a, b) _mm256_xor_pd(a, b)
#define M_NOT(a) _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi32(-1)))
#define M_ANY(m) (_mm256_movemask_pd(m) != 0)
#define V_AND(a, b) _mm256_and_pd(a, b)
#define V_OR(a, b) _mm256_or_pd(a, b)
#define V_XOR(a, b) _mm256_xor_pd(a, b)
#define V_NOT(a) M_NOT(a)
#define V_LDEXP(v, n) tni_avx2_ldexp_f64(v, n)
#define V_EXPO(a) tni_avx2_expo_f64(a)
#define V_MANT(a) tni_avx2_mant_f64(a)
#define V_MST(p, m) tni_avx2_mst64(p, _mm256_movemask_pd(m))
#define M_LD(p) _mm256_castsi256_pd(tni_avx2_mld64(p))

#else /* integers: only > and == are instructions, the rest is made of them */
#define V __m256i
#define M __m256i
#define V_LD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define V_ZERO() _mm256_setzero_si256()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm256_setzero_si256(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_LT(a, b) V_GT(b, a)
#define V_LE(a, b) tni_avx2_not(V_GT(a, b))
#define V_GE(a, b) tni_avx2_not(V_GT(b, a))
#define V_NE(a, b) tni_avx2_not(V_EQ(a, b))
#define V_SEL(m, a, b) _mm256_blendv_epi8(b, a, m)
#define M_AND(a, b) _mm256_and_si256(a, b)
#define M_OR(a, b) _mm256_or_si256(a, b)
#define M_XOR(a, b) _mm256_xor_si256(a, b)
#define M_NOT(a) tni_avx2_not(a)
#define M_ANY(m) (_mm256_movemask_epi8(m) != 0)
#define V_AND(a, b) _mm256_and_si256(a, b)
#define V_OR(a, b) _mm256_or_si256(a, b)
#define V_XOR(a, b) _mm256_xor_si256(a, b)
#define V_NOT(a) tni_avx2_not(a)
#if defined(TNI_TYPE_I32)
#define W 8
#define V_LDN(p, n) _mm256_maskload_epi32((const int *)(const void *)(p), tni_avx2_mask32(n))
#define V_STN(p, v, n) _mm256_maskstore_epi32((int *)(void *)(p), tni_avx2_mask32(n), v)
#define V_SET(s) _mm256_set1_epi32((int32_t)(s))
#define V_ADD(a, b) _mm256_add_epi32(a, b)
#define V_SUB(a, b) _mm256_sub_epi32(a, b)
#define V_MUL(a, b) _mm256_mullo_epi32(a, b)
#define V_ABS(a) _mm256_abs_epi32(a)
#define V_MIN(a, b) _mm256_min_epi32(a, b)
#define V_MAX(a, b) _mm256_max_epi32(a, b)
#define V_GT(a, b) _mm256_cmpgt_epi32(a, b)
#define V_EQ(a, b) _mm256_cmpeq_epi32(a, b)
#define V_SHL(a, n) _mm256_slli_epi32(a, n)
#define V_SHR(a, n) _mm256_srai_epi32(a, n)
#define V_SHRL(a, n) _mm256_srli_epi32(a, n)
#define V_SHLV(a, n) _mm256_sllv_epi32(a, n)
#define V_SHRV(a, n) _mm256_srav_epi32(a, n)
#define V_MST(p, m) tni_avx2_mst32(p, m)
#define M_LD(p) tni_avx2_mld32(p)
#else
#define W 4
#define V_LDN(p, n) _mm256_maskload_epi64((const long long *)(const void *)(p), tni_avx2_mask64(n))
#define V_STN(p, v, n) _mm256_maskstore_epi64((long long *)(void *)(p), tni_avx2_mask64(n), v)
#define V_SET(s) _mm256_set1_epi64x((long long)(s))
#define V_ADD(a, b) _mm256_add_epi64(a, b)
#define V_SUB(a, b) _mm256_sub_epi64(a, b)
#define V_MUL(a, b) tni_avx2_mul_i64(a, b)
#define V_ABS(a) tni_avx2_abs_i64(a)
#define V_MIN(a, b) tni_avx2_min_i64(a, b)
#define V_MAX(a, b) tni_avx2_max_i64(a, b)
#define V_GT(a, b) _mm256_cmpgt_epi64(a, b)
#define V_EQ(a, b) _mm256_cmpeq_epi64(a, b)
#define V_SHL(a, n) _mm256_slli_epi64(a, n)
#define V_SHR(a, n) tni_avx2_shr_i64(a, _mm256_set1_epi64x(n))
#define V_SHRL(a, n) _mm256_srli_epi64(a, n)
#define V_SHLV(a, n) _mm256_sllv_epi64(a, n)
#define V_SHRV(a, n) tni_avx2_shr_i64(a, n)
#define V_MST(p, m) tni_avx2_mst64(p, _mm256_movemask_pd(_mm256_castsi256_pd(m)))
#define M_LD(p) tni_avx2_mld64(p)
#endif
#endif
