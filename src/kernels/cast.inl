/* cast.inl - conversion loops. AVX2 fills a vector a step, of what it reads or of what it writes;
 * the rest, and what it has no instructions for, goes one by one. For other sets compilers make
 * vectors. AVX-512 takes those of AVX2: memory is what they wait for. */
#if TNI_ISA == 2
static tni_cast cast_avx512(int from, int to) { return cast_avx2(from, to); }
#else

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if TNI_ISA < 2
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#else
#pragma GCC optimize("O2", "tree-vectorize", "fp-contract=off")
#endif
#endif

#if TNI_ISA == 1
/* Bytes at element i of x, as they lie or widened to the numbers of a vector; vectors cut to y. */
#define CAST_AT(x, i) ((const __m128i *)(const void *)((x) + (i)))
#define CAST_32(x, i) _mm256_loadu_si256((const __m256i *)(const void *)((x) + (i)))
#define CAST_16(x, i) _mm_loadu_si128(CAST_AT(x, i))
#define CAST_8(x, i) _mm_loadl_epi64(CAST_AT(x, i))
#define CAST_F32X8(x, i) _mm256_loadu_ps((const float *)(const void *)((x) + (i)))
#define CAST_F64X4(x, i) _mm256_loadu_pd((const double *)(const void *)((x) + (i)))
#define CAST_U8(x, i) _mm256_cvtepu8_epi32(CAST_8(x, i))
#define CAST_TRUTH(x, i) _mm256_cvtepu8_epi32(_mm_min_epu8(CAST_8(x, i), _mm_set1_epi8(1)))
#define CAST_AS_F32(v) _mm256_castps_si256(_mm256_cvtepi32_ps(v))
#define CAST_NOT_0(equal) _mm256_andnot_si256(equal, _mm256_set1_epi32(1))
#define CAST_BYTE(x, i) _mm256_and_si256(CAST_32(x, i), _mm256_set1_epi32(0xff))
#define CAST_HALF(x, i) _mm256_and_si256(CAST_32(x, i), _mm256_set1_epi32(0xffff))
#define CAST_BF16(x, i) cast_bf16(CAST_F32X8(x, i))
#define CAST_IS_0(x, i) _mm256_cmpeq_epi32(CAST_32(x, i), _mm256_setzero_si256())
#define CAST_IS_0_I64(x, i) _mm256_cmpeq_epi64(CAST_32(x, i), _mm256_setzero_si256())
#define CAST_IS_0_F32(x, i) \
    _mm256_castps_si256(_mm256_cmp_ps(CAST_F32X8(x, i), _mm256_setzero_ps(), _CMP_EQ_OQ))
#define CAST_IS_0_F64(x, i) \
    _mm256_castpd_si256(_mm256_cmp_pd(CAST_F64X4(x, i), _mm256_setzero_pd(), _CMP_EQ_OQ))
TNI_INLINE void cast_put_32(void *y, __m256i v) { _mm256_storeu_si256((__m256i *)y, v); }
TNI_INLINE void cast_put_16(void *y, __m128i v) { _mm_storeu_si128((__m128i *)y, v); }
/* Of each 32 bits of a and b the lowest 16, where those above are 0; the lowest 8; of each 64 the
 * lowest 32. */
TNI_INLINE __m256i cast_pack_halves(__m256i a, __m256i b) {
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
}
TNI_INLINE __m128i cast_pack_bytes(__m256i a, __m256i b) {
    const __m256i v = cast_pack_halves(a, b);
    return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
TNI_INLINE __m256i cast_pack_lows(__m256i a, __m256i b) {
    const __m256 v = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(v), 0xd8);
}
TNI_INLINE void cast_put_8_bytes(void *y, __m256i v) {
    _mm_storel_epi64((__m128i *)y, cast_pack_bytes(v, v)); /* the first eight are v's */
}
TNI_INLINE __m256i cast_f64_f32(__m256d a, __m256d b) {
    const __m256 low = _mm256_castps128_ps256(_mm256_cvtpd_ps(a));
    return _mm256_castps_si256(_mm256_insertf128_ps(low, _mm256_cvtpd_ps(b), 1));
}
TNI_INLINE __m256i cast_bf16(__m256 v) {
    const __m256i half = _mm256_set1_epi32(0x7fff), nan = _mm256_set1_epi32(0x7fc0);
    __m256i u = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    u = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, half), odd), 16);
    return _mm256_blendv_epi8(u, nan, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
}
#define CAST_STEPS(count, put, y, vector) \
    for (; i + (count) <= n; i += (count)) cast_put_##put(y, vector);
#else
#define CAST_STEPS(count, put, y, vector)
#endif
#define CAST_STEP(count, put, vector) CAST_STEPS(count, put, y + i, vector)
#define CAST_ONE_BY_ONE

/* Truncated; what no uint64 is goes by int64 and wraps, as a negative number does in torch. */
TNI_INLINE uint64_t TNI_FN(cast_unsigned)(double v) {
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return (uint64_t)v;
    return (uint64_t)tni_truncate(v);
}

/* X(from, to, C type of from, of to, value of v, step): the natural type of each dtype, which is
 * computed in, and back */
#define TNI_CASTS(X)                                                                               \
    X(BOOL, I32, uint8_t, int32_t, v != 0, CAST_STEP(8, 32, CAST_TRUTH(x, i)))                     \
    X(U8, I32, uint8_t, int32_t, v, CAST_STEP(8, 32, CAST_U8(x, i)))                               \
    X(I8, I32, int8_t, int32_t, v, CAST_STEP(8, 32, _mm256_cvtepi8_epi32(CAST_8(x, i))))           \
    X(I16, I32, int16_t, int32_t, v, CAST_STEP(8, 32, _mm256_cvtepi16_epi32(CAST_16(x, i))))       \
    X(U16, I32, uint16_t, int32_t, v, CAST_STEP(8, 32, _mm256_cvtepu16_epi32(CAST_16(x, i))))      \
    X(U32, I64, uint32_t, int64_t, v, CAST_STEP(4, 32, _mm256_cvtepu32_epi64(CAST_16(x, i))))      \
    X(BOOL, F32, uint8_t, float, (float)(v != 0), CAST_STEP(8, 32, CAST_AS_F32(CAST_TRUTH(x, i)))) \
    X(U8, F32, uint8_t, float, (float)v, CAST_STEP(8, 32, CAST_AS_F32(CAST_U8(x, i))))             \
    X(I32, U8, int32_t, uint8_t, (uint8_t)v,                                                       \
      CAST_STEP(16, 16, cast_pack_bytes(CAST_BYTE(x, i), CAST_BYTE(x, i + 8))))                    \
    X(I32, I16, int32_t, int16_t, (int16_t)v,                                                      \
      CAST_STEP(16, 32, cast_pack_halves(CAST_HALF(x, i), CAST_HALF(x, i + 8))))                   \
    X(I64, U32, int64_t, uint32_t, (uint32_t)v,                                                    \
      CAST_STEP(8, 32, cast_pack_lows(CAST_32(x, i), CAST_32(x, i + 4))))                          \
    X(I64, U64, int64_t, uint64_t, (uint64_t)v, CAST_STEP(4, 32, CAST_32(x, i)))                   \
    X(I32, BOOL, int32_t, uint8_t, v != 0,                                                         \
      CAST_STEP(16, 16,                                                                            \
                cast_pack_bytes(CAST_NOT_0(CAST_IS_0(x, i)), CAST_NOT_0(CAST_IS_0(x, i + 8)))))    \
    X(I64, BOOL, int64_t, uint8_t, v != 0,                                                         \
      CAST_STEP(8, 8_bytes,                                                                        \
                CAST_NOT_0(cast_pack_lows(CAST_IS_0_I64(x, i), CAST_IS_0_I64(x, i + 4)))))         \
    X(F32, BOOL, float, uint8_t, v != 0,                                                           \
      CAST_STEP(                                                                                   \
          16, 16,                                                                                  \
          cast_pack_bytes(CAST_NOT_0(CAST_IS_0_F32(x, i)), CAST_NOT_0(CAST_IS_0_F32(x, i + 8)))))  \
    X(F64, BOOL, double, uint8_t, v != 0,                                                          \
      CAST_STEP(8, 8_bytes,                                                                        \
                CAST_NOT_0(cast_pack_lows(CAST_IS_0_F64(x, i), CAST_IS_0_F64(x, i + 4)))))         \
    X(F32, F64, float, double, (double)v,                                                          \
      CAST_STEP(4, 32, _mm256_castpd_si256(_mm256_cvtps_pd(_mm_castsi128_ps(CAST_16(x, i))))))     \
    X(F64, F32, double, float, (float)v,                                                           \
      CAST_STEP(8, 32, cast_f64_f32(CAST_F64X4(x, i), CAST_F64X4(x, i + 4))))                      \
    X(I32, I64, int32_t, int64_t, v, CAST_STEP(4, 32, _mm256_cvtepi32_epi64(CAST_16(x, i))))       \
    X(I64, I32, int64_t, int32_t, (int32_t)v,                                                      \
      CAST_STEP(8, 32, cast_pack_lows(CAST_32(x, i), CAST_32(x, i + 4))))                          \
    X(I32, F32, int32_t, float, (float)v, CAST_STEP(8, 32, CAST_AS_F32(CAST_32(x, i))))            \
    X(I32, F64, int32_t, double, v,                                                                \
      CAST_STEP(4, 32, _mm256_castpd_si256(_mm256_cvtepi32_pd(CAST_16(x, i)))))                    \
    X(I64, F32, int64_t, float, (float)v, CAST_ONE_BY_ONE)                                         \
    X(I64, F64, int64_t, double, (double)v, CAST_ONE_BY_ONE)                                       \
    X(U64, F32, uint64_t, float, (float)v, CAST_ONE_BY_ONE)                                        \
    X(U64, F64, uint64_t, double, (double)v, CAST_ONE_BY_ONE)                                      \
    X(F32, I64, float, int64_t, tni_truncate((double)v), CAST_ONE_BY_ONE)                          \
    X(F64, I64, double, int64_t, tni_truncate(v), CAST_ONE_BY_ONE)                                 \
    X(F64, U64, double, uint64_t, TNI_FN(cast_unsigned)(v), CAST_ONE_BY_ONE)

#define TNI_CASTS_BF16(X)                                                            \
    X(BF16, F32, uint16_t, float, tni_bf16_to_f32(v),                                \
      CAST_STEP(8, 32, _mm256_slli_epi32(_mm256_cvtepu16_epi32(CAST_16(x, i)), 16))) \
    X(F32, BF16, float, uint16_t, tni_f32_to_bf16(v),                                \
      CAST_STEP(16, 32, cast_pack_halves(CAST_BF16(x, i), CAST_BF16(x, i + 8))))

#define TNI_CAST_LOOP(A, B, From, To, value, step)                              \
    static void TNI_FN(cast_##A##_##B)(void *to, const void *from, int64_t n) { \
        const From *TNI_RESTRICT x = (const From *)from;                        \
        To *TNI_RESTRICT y = (To *)to;                                          \
        int64_t i = 0;                                                          \
        step TNI_ROLLED for (; i < n; i++) {                                    \
            const From v = x[i];                                                \
            y[i] = value;                                                       \
        }                                                                       \
    }
TNI_CASTS(TNI_CAST_LOOP)

#ifndef TN_NO_HALF
TNI_CASTS_BF16(TNI_CAST_LOOP)
/* F16C converts eight at a time and rounds to even, as tni_f32_to_f16 does. */
static void TNI_FN(cast_F16_F32)(void *to, const void *from, int64_t n) {
    const uint16_t *x = (const uint16_t *)from;
    float *y = (float *)to;
    int64_t i = 0;
#if TNI_ISA == 1
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i,
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
#endif
    for (; i < n; i++) y[i] = tni_f16_to_f32(x[i]);
}
static void TNI_FN(cast_F32_F16)(void *to, const void *from, int64_t n) {
    const float *x = (const float *)from;
    uint16_t *y = (uint16_t *)to;
    int64_t i = 0;
#if TNI_ISA == 1
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
#endif
    for (; i < n; i++) y[i] = tni_f32_to_f16(x[i]);
}
#define TNI_CASTS_HALF(X) TNI_CASTS_BF16(X) X(F16, F32, , , , ) X(F32, F16, , , , )
#else
#define TNI_CASTS_HALF(X)
#endif
#undef TNI_CAST_LOOP

/* 8-bit floats, element by element */
static void TNI_FN(cast_F8E4M3_F32)(void *to, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        tni_element_set((float *)to + i, TN_F32, tni_element((const uint8_t *)from + i, TN_F8E4M3));
}
static void TNI_FN(cast_F8E5M2_F32)(void *to, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        tni_element_set((float *)to + i, TN_F32, tni_element((const uint8_t *)from + i, TN_F8E5M2));
}
static void TNI_FN(cast_F32_F8E4M3)(void *to, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        tni_element_set((uint8_t *)to + i, TN_F8E4M3, tn_float((double)((const float *)from)[i]));
}
static void TNI_FN(cast_F32_F8E5M2)(void *to, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        tni_element_set((uint8_t *)to + i, TN_F8E5M2, tn_float((double)((const float *)from)[i]));
}

/* complex numbers: the real part, or with 0 as the other */
#ifndef TN_NO_COMPLEX
#if TNI_ISA == 1
TNI_INLINE __m256i cast_f64_c128(const double *x) {
    __m256d v = _mm256_permute4x64_pd(_mm256_castpd128_pd256(_mm_loadu_pd(x)), 0x50);
    return _mm256_castpd_si256(_mm256_blend_pd(v, _mm256_setzero_pd(), 10));
}
TNI_INLINE __m256i cast_c128_f64(const double *x) {
    __m256d v = _mm256_unpacklo_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(x + 4));
    return _mm256_castpd_si256(_mm256_permute4x64_pd(v, 0xd8));
}
#endif
#define TNI_CAST_COMPLEX(R, C, Real, widen, narrow)                                \
    static void TNI_FN(cast_##R##_##C)(void *to, const void *from, int64_t n) {    \
        const Real *x = (const Real *)from;                                        \
        Real *y = (Real *)to;                                                      \
        int64_t i = 0;                                                             \
        widen for (; i < n; i++) {                                                 \
            y[2 * i] = x[i];                                                       \
            y[2 * i + 1] = 0;                                                      \
        }                                                                          \
    }                                                                              \
    static void TNI_FN(cast_##C##_##R)(void *to, const void *from, int64_t n) {    \
        const Real *x = (const Real *)from;                                        \
        Real *y = (Real *)to;                                                      \
        int64_t i = 0;                                                             \
        narrow for (; i < n; i++) y[i] = x[2 * i];                                 \
    }                                                                              \
    static void TNI_FN(cast_##C##_BOOL)(void *to, const void *from, int64_t n) {   \
        const Real *x = (const Real *)from;                                        \
        uint8_t *y = (uint8_t *)to;                                                \
        for (int64_t i = 0; i < n; i++) y[i] = x[2 * i] != 0 || x[2 * i + 1] != 0; \
    }
TNI_CAST_COMPLEX(F32, C64, float,
                 CAST_STEPS(4, 32, y + 2 * i, _mm256_cvtepu32_epi64(CAST_16(x, i))),
                 CAST_STEPS(8, 32, y + i, cast_pack_lows(CAST_32(x, 2 * i), CAST_32(x, 2 * i + 8))))
TNI_CAST_COMPLEX(F64, C128, double, CAST_STEPS(2, 32, y + 2 * i, cast_f64_c128(x + i)),
                 CAST_STEPS(4, 32, y + i, cast_c128_f64(x + 2 * i)))
#undef TNI_CAST_COMPLEX
static void TNI_FN(cast_C64_C128)(void *to, const void *from, int64_t n) {
    TNI_FN(cast_F32_F64)(to, from, 2 * n);
}
static void TNI_FN(cast_C128_C64)(void *to, const void *from, int64_t n) {
    TNI_FN(cast_F64_F32)(to, from, 2 * n);
}

#define TNI_CASTS_COMPLEX(X) \
    X(F32, C64, , , , )      \
    X(C64, F32, , , , )      \
    X(C64, BOOL, , , , )     \
    X(F64, C128, , , , )     \
    X(C128, F64, , , , ) X(C128, BOOL, , , , ) X(C64, C128, , , , ) X(C128, C64, , , , )
#else
#define TNI_CASTS_COMPLEX(X)
#endif

#define TNI_CASTS_BY_HAND(X) \
    TNI_CASTS_HALF(X)        \
    TNI_CASTS_COMPLEX(X)     \
    X(F8E4M3, F32, , , , ) X(F8E5M2, F32, , , , ) X(F32, F8E4M3, , , , ) X(F32, F8E5M2, , , , )
#define TNI_CAST_CASE(A, B, From, To, value, step) \
    case TN_##A *TN_DTYPE_COUNT + TN_##B:          \
        return TNI_FN(cast_##A##_##B);

static tni_cast TNI_FN(cast)(int from, int to) {
    switch (from * TN_DTYPE_COUNT + to) {
    /* the same bits, whether they have a sign or none */
    case TN_I32 *TN_DTYPE_COUNT + TN_I8: return TNI_FN(cast_I32_U8);
    case TN_I32 *TN_DTYPE_COUNT + TN_U16: return TNI_FN(cast_I32_I16);
    case TN_U64 *TN_DTYPE_COUNT + TN_I64:
        return TNI_FN(cast_I64_U64);
        TNI_CASTS(TNI_CAST_CASE)
        TNI_CASTS_BY_HAND(TNI_CAST_CASE)
    default: return NULL;
    }
}
#undef TNI_CASTS
#undef TNI_CASTS_BF16
#undef TNI_CASTS_HALF
#undef TNI_CASTS_COMPLEX
#undef TNI_CASTS_BY_HAND
#undef TNI_CAST_CASE
#undef CAST_AT
#undef CAST_32
#undef CAST_16
#undef CAST_8
#undef CAST_F32X8
#undef CAST_F64X4
#undef CAST_U8
#undef CAST_TRUTH
#undef CAST_AS_F32
#undef CAST_NOT_0
#undef CAST_IS_0
#undef CAST_IS_0_I64
#undef CAST_IS_0_F32
#undef CAST_IS_0_F64
#undef CAST_STEPS
#undef CAST_STEP
#undef CAST_ONE_BY_ONE
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
