/* avx512.h - the vocabulary for x86-64 with AVX-512 F, BW, DQ and VL.
 *
 * A truth is a bit of a mask register, lane 0 in bit 0, so masked loads and stores take any n. */
#ifndef TNI_SIMD_AVX512_H
#define TNI_SIMD_AVX512_H

/* The first n lanes; n of 16 leaves no bit over after the cast. */
TNI_INLINE __mmask16 tni_avx512_first16(int64_t n) { return (__mmask16)((1u << n) - 1u); }
TNI_INLINE __mmask8 tni_avx512_first8(int64_t n) { return (__mmask8)((1u << n) - 1u); }
/* Bits to bytes 0 or 1, and bytes that are not 0 to bits. */
TNI_INLINE void tni_avx512_mst16(void *p, __mmask16 m) {
    _mm_storeu_si128((__m128i *)p, _mm_maskz_set1_epi8(m, 1));
}
TNI_INLINE void tni_avx512_mst8(void *p, __mmask8 m) {
    _mm_storel_epi64((__m128i *)p, _mm_maskz_set1_epi8((__mmask16)m, 1));
}
TNI_INLINE __mmask16 tni_avx512_mld16(const void *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return _mm_test_epi8_mask(v, v);
}
TNI_INLINE __mmask8 tni_avx512_mld8(const void *p) {
    __m128i v = _mm_loadl_epi64((const __m128i *)p);
    return (__mmask8)_mm_test_epi8_mask(v, v);
}
/* Pairs to two vectors in order, and back. An index below W takes from the first vector, one from W
 * on from the second; _mm512_set lists the last lane first. */
TNI_INLINE void tni_avx512_ld2_f32(const float *p, __m512 *a, __m512 *b) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 x = _mm512_loadu_ps(p), y = _mm512_loadu_ps(p + 16);
    *a = _mm512_permutex2var_ps(x, even, y);
    *b = _mm512_permutex2var_ps(x, _mm512_add_epi32(even, _mm512_set1_epi32(1)), y);
}
TNI_INLINE void tni_avx512_st2_f32(float *p, __m512 a, __m512 b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a, low, b));
    _mm512_storeu_ps(p + 16,
                     _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
TNI_INLINE void tni_avx512_ld2_f64(const double *p, __m512d *a, __m512d *b) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512d x = _mm512_loadu_pd(p), y = _mm512_loadu_pd(p + 8);
    *a = _mm512_permutex2var_pd(x, even, y);
    *b = _mm512_permutex2var_pd(x, _mm512_add_epi64(even, _mm512_set1_epi64(1)), y);
}
TNI_INLINE void tni_avx512_st2_f64(double *p, __m512d a, __m512d b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    _mm512_storeu_pd(p, _mm512_permutex2var_pd(a, low, b));
    _mm512_storeu_pd(p + 8,
                     _mm512_permutex2var_pd(a, _mm512_add_epi64(low, _mm512_set1_epi64(4)), b));
}
TNI_INLINE __m512 tni_avx512_rev_f32(__m512 a) {
    return _mm512_permutexvar_ps(
        _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), a);
}
TNI_INLINE __m512d tni_avx512_rev_f64(__m512d a) {
    return _mm512_permutexvar_pd(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), a);
}
#endif

#if defined(TNI_TYPE_F32)
#define V __m512
#define M __mmask16
#define W 16
#define V_LD(p) _mm512_loadu_ps((const void *)(p))
#define V_ST(p, v) _mm512_storeu_ps((void *)(p), v)
#define V_LDN(p, n) _mm512_maskz_loadu_ps(tni_avx512_first16(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_ps((void *)(p), tni_avx512_first16(n), v)
#define V_SET(s) _mm512_set1_ps((float)(s))
#define V_REV(a) tni_avx512_rev_f32(a)
#define V_LD2(p, a, b) tni_avx512_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx512_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() _mm512_setzero_ps()
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_SUB(a, b) _mm512_sub_ps(a, b)
#define V_MUL(a, b) _mm512_mul_ps(a, b)
#define V_DIV(a, b) _mm512_div_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define V_NEG(a) _mm512_xor_ps(a, _mm512_set1_ps(-0.0f))
#define V_ABS(a) _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a)
#define V_SQRT(a) _mm512_sqrt_ps(a)
#define V_MIN(a, b) _mm512_min_ps(a, b)
#define V_MAX(a, b) _mm512_max_ps(a, b)
#define V_FLOOR(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define V_CEIL(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define V_TRUNC(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define V_AND(a, b) _mm512_and_ps(a, b)
#define V_OR(a, b) _mm512_or_ps(a, b)
#define V_XOR(a, b) _mm512_xor_ps(a, b)
#define V_NOT(a) _mm512_xor_ps(a, _mm512_castsi512_ps(_mm512_set1_epi32(-1)))
/* one instruction each, rounded once as scalar.h's two factors are */
#define V_LDEXP(v, n) _mm512_scalef_ps(v, n)
#define V_EXPO(a) _mm512_getexp_ps(a)
#define V_MANT(a) _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)
#define V_MST(p, m) tni_avx512_mst16(p, m)
#define M_LD(p) tni_avx512_mld16(p)

#elif defined(TNI_TYPE_F64)
#define V __m512d
#define M __mmask8
#define W 8
#define V_LD(p) _mm512_loadu_pd((const void *)(p))
#define V_ST(p, v) _mm512_storeu_pd((void *)(p), v)
#define V_LDN(p, n) _mm512_maskz_loadu_pd(tni_avx512_first8(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_pd((void *)(p), tni_avx512_first8(n), v)
#define V_SET(s) _mm512_set1_pd((double)(s))
#define V_REV(a) tni_avx512_rev_f64(a)
#define V_LD2(p, a, b) tni_avx512_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx512_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() _mm512_setzero_pd()
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_SUB(a, b) _mm512_sub_pd(a, b)
#define V_MUL(a, b) _mm512_mul_pd(a, b)
#define V_DIV(a, b) _mm512_div_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define V_NEG(a) _mm512_xor_pd(a, _mm512_set1_pd(-0.0))
#define V_ABS(a) _mm512_andnot_pd(_mm512_set1_pd(-0.0), a)
#define V_SQRT(a) _mm512_sqrt_pd(a)
#define V_MIN(a, b) _mm512_min_pd(a, b)
#define V_MAX(a, b) _mm512_max_pd(a, b)
#define V_FLOOR(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define V_CEIL(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define V_TRUNC(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm512_mask_blend_pd(m, b, a)
#define V_AND(a, b) _mm512_and_pd(a, b)
#define V_OR(a, b) _mm512_or_pd(a, b)
#define V_XOR(a, b) _mm512_xor_pd(a, b)
#define V_NOT(a) _mm512_xor_pd(a, _mm512_castsi512_pd(_mm512_set1_epi32(-1)))
#define V_LDEXP(v, n) _mm512_scalef_pd(v, n)
#define V_EXPO(a) _mm512_getexp_pd(a)
#define V_MANT(a) _mm512_getmant_pd(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)
#define V_MST(p, m) tni_avx512_mst8(p, m)
#define M_LD(p) tni_avx512_mld8(p)

#else
#define V __m512i
#define V_LD(p) _mm512_loadu_si512((const void *)(p))
#define V_ST(p, v) _mm512_storeu_si512((void *)(p), v)
#define V_ZERO() _mm512_setzero_si512()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm512_setzero_si512(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_AND(a, b) _mm512_and_si512(a, b)
#define V_OR(a, b) _mm512_or_si512(a, b)
#define V_XOR(a, b) _mm512_xor_si512(a, b)
#define V_NOT(a) _mm512_xor_si512(a, _mm512_set1_epi32(-1))
#if defined(TNI_TYPE_I32)
#define M __mmask16
#define W 16
#define V_LDN(p, n) _mm512_maskz_loadu_epi32(tni_avx512_first16(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_epi32((void *)(p), tni_avx512_first16(n), v)
#define V_SET(s) _mm512_set1_epi32((int32_t)(s))
#define V_ADD(a, b) _mm512_add_epi32(a, b)
#define V_SUB(a, b) _mm512_sub_epi32(a, b)
#define V_MUL(a, b) _mm512_mullo_epi32(a, b)
#define V_ABS(a) _mm512_abs_epi32(a)
#define V_MIN(a, b) _mm512_min_epi32(a, b)
#define V_MAX(a, b) _mm512_max_epi32(a, b)
#define V_LT(a, b) _mm512_cmplt_epi32_mask(a, b)
#define V_LE(a, b) _mm512_cmple_epi32_mask(a, b)
#define V_GT(a, b) _mm512_cmpgt_epi32_mask(a, b)
#define V_GE(a, b) _mm512_cmpge_epi32_mask(a, b)
#define V_EQ(a, b) _mm512_cmpeq_epi32_mask(a, b)
#define V_NE(a, b) _mm512_cmpneq_epi32_mask(a, b)
#define V_SEL(m, a, b) _mm512_mask_blend_epi32(m, b, a)
#define V_SHL(a, n) _mm512_slli_epi32(a, n)
#define V_SHR(a, n) _mm512_srai_epi32(a, n)
#define V_SHRL(a, n) _mm512_srli_epi32(a, n)
#define V_SHLV(a, n) _mm512_sllv_epi32(a, n)
#define V_SHRV(a, n) _mm512_srav_epi32(a, n)
#define V_MST(p, m) tni_avx512_mst16(p, m)
#define M_LD(p) tni_avx512_mld16(p)
#else
#define M __mmask8
#define W 8
#define V_LDN(p, n) _mm512_maskz_loadu_epi64(tni_avx512_first8(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_epi64((void *)(p), tni_avx512_first8(n), v)
#define V_SET(s) _mm512_set1_epi64((long long)(s))
#define V_ADD(a, b) _mm512_add_epi64(a, b)
#define V_SUB(a, b) _mm512_sub_epi64(a, b)
#define V_MUL(a, b) _mm512_mullo_epi64(a, b)
#define V_ABS(a) _mm512_abs_epi64(a)
#define V_MIN(a, b) _mm512_min_epi64(a, b)
#define V_MAX(a, b) _mm512_max_epi64(a, b)
#define V_LT(a, b) _mm512_cmplt_epi64_mask(a, b)
#define V_LE(a, b) _mm512_cmple_epi64_mask(a, b)
#define V_GT(a, b) _mm512_cmpgt_epi64_mask(a, b)
#define V_GE(a, b) _mm512_cmpge_epi64_mask(a, b)
#define V_EQ(a, b) _mm512_cmpeq_epi64_mask(a, b)
#define V_NE(a, b) _mm512_cmpneq_epi64_mask(a, b)
#define V_SEL(m, a, b) _mm512_mask_blend_epi64(m, b, a)
#define V_SHL(a, n) _mm512_slli_epi64(a, n)
#define V_SHR(a, n) _mm512_srai_epi64(a, n)
#define V_SHRL(a, n) _mm512_srli_epi64(a, n)
#define V_SHLV(a, n) _mm512_sllv_epi64(a, n)
#define V_SHRV(a, n) _mm512_srav_epi64(a, n)
#define V_MST(p, m) tni_avx512_mst8(p, m)
#define M_LD(p) tni_avx512_mld8(p)
#endif
#endif
/* C widens bits to int, so each result is cast back to the mask's type. */
#if defined(TNI_TYPE_F32) || defined(TNI_TYPE_I32)
#define TNI_M(m) ((__mmask16)(m))
#else
#define TNI_M(m) ((__mmask8)(m))
#endif
#define M_AND(a, b) TNI_M((a) & (b))
#define M_OR(a, b) TNI_M((a) | (b))
#define M_XOR(a, b) TNI_M((a) ^ (b))
#define M_NOT(a) TNI_M(~(unsigned)(a))
#define M_ANY(m) ((m) != 0)
