/* cast.inl - conversion loops. Plain loops, which compilers make vectors of; 16-bit floats have
 * instructions. AVX-512 takes those of AVX2: memory is what they wait for. */
#if TNI_ISA == 2
static tni_cast cast_avx512(int from, int to) { return cast_avx2(from, to); }
#else

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if TNI_ISA == 0
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#else
#pragma GCC optimize("O2", "tree-vectorize", "fp-contract=off")
#endif
#endif

/* Truncated; what no uint64 is goes by int64 and wraps, as a negative number does in torch. */
TNI_INLINE uint64_t TNI_FN(cast_unsigned)(double v) {
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return (uint64_t)v;
    return (uint64_t)tni_truncate(v);
}

/* X(from, to, C type of from, of to, value of v): the natural type of each dtype, which is computed
 * in, and back */
#define TNI_CASTS(X)                                             \
    X(BOOL, I32, uint8_t, int32_t, v != 0)                       \
    X(U8, I32, uint8_t, int32_t, v)                              \
    X(I8, I32, int8_t, int32_t, v)                               \
    X(I16, I32, int16_t, int32_t, v)                             \
    X(U16, I32, uint16_t, int32_t, v)                            \
    X(U32, I64, uint32_t, int64_t, v)                            \
    X(U64, I64, uint64_t, int64_t, (int64_t)v)                   \
    X(BOOL, F32, uint8_t, float, (float)(v != 0))                \
    X(U8, F32, uint8_t, float, (float)v)                         \
    X(I32, U8, int32_t, uint8_t, (uint8_t)v)                     \
    X(I32, I8, int32_t, int8_t, (int8_t)v)                       \
    X(I32, I16, int32_t, int16_t, (int16_t)v)                    \
    X(I32, U16, int32_t, uint16_t, (uint16_t)v)                  \
    X(I64, U32, int64_t, uint32_t, (uint32_t)v)                  \
    X(I64, U64, int64_t, uint64_t, (uint64_t)v)                  \
    X(I32, BOOL, int32_t, uint8_t, v != 0)                       \
    X(I64, BOOL, int64_t, uint8_t, v != 0)                       \
    X(F32, BOOL, float, uint8_t, v != 0)                         \
    X(F64, BOOL, double, uint8_t, v != 0)                        \
    X(F32, F64, float, double, (double)v)                        \
    X(F64, F32, double, float, (float)v)                         \
    X(I32, I64, int32_t, int64_t, v)                             \
    X(I64, I32, int64_t, int32_t, (int32_t)v)                    \
    X(I32, F32, int32_t, float, (float)v)                        \
    X(I32, F64, int32_t, double, v)                              \
    X(I64, F32, int64_t, float, (float)v)                        \
    X(I64, F64, int64_t, double, (double)v)                      \
    X(U64, F32, uint64_t, float, (float)v)                       \
    X(U64, F64, uint64_t, double, (double)v)                     \
    X(F32, I64, float, int64_t, tni_truncate((double)v)) \
    X(F64, I64, double, int64_t, tni_truncate(v))        \
    X(F64, U64, double, uint64_t, TNI_FN(cast_unsigned)(v))

#define TNI_CASTS_BF16(X)                             \
    X(BF16, F32, uint16_t, float, tni_bf16_to_f32(v)) \
    X(F32, BF16, float, uint16_t, tni_f32_to_bf16(v))

#define TNI_CAST_LOOP(A, B, From, To, value)                                    \
    static void TNI_FN(cast_##A##_##B)(void *to, const void *from, int64_t n) { \
        const From *TNI_RESTRICT x = (const From *)from;                        \
        To *TNI_RESTRICT y = (To *)to;                                          \
        TNI_ROLLED                                                              \
        for (int64_t i = 0; i < n; i++) {                                       \
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
#define TNI_CASTS_HALF(X) TNI_CASTS_BF16(X) X(F16, F32, , , ) X(F32, F16, , , )
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
#define TNI_CAST_COMPLEX(R, C, Real)                                                      \
    static void TNI_FN(cast_##R##_##C)(void *to, const void *from, int64_t n) {           \
        for (int64_t i = 0; i < n; i++)                                                   \
            ((Real *)to)[2 * i] = ((const Real *)from)[i], ((Real *)to)[2 * i + 1] = 0;   \
    }                                                                                     \
    static void TNI_FN(cast_##C##_##R)(void *to, const void *from, int64_t n) {           \
        for (int64_t i = 0; i < n; i++) ((Real *)to)[i] = ((const Real *)from)[2 * i];    \
    }                                                                                     \
    static void TNI_FN(cast_##C##_BOOL)(void *to, const void *from, int64_t n) {          \
        for (int64_t i = 0; i < n; i++)                                                   \
            ((uint8_t *)to)[i] =                                                          \
                ((const Real *)from)[2 * i] != 0 || ((const Real *)from)[2 * i + 1] != 0; \
    }
TNI_CAST_COMPLEX(F32, C64, float)
TNI_CAST_COMPLEX(F64, C128, double)
#undef TNI_CAST_COMPLEX
static void TNI_FN(cast_C64_C128)(void *to, const void *from, int64_t n) {
    TNI_FN(cast_F32_F64)(to, from, 2 * n);
}
static void TNI_FN(cast_C128_C64)(void *to, const void *from, int64_t n) {
    TNI_FN(cast_F64_F32)(to, from, 2 * n);
}

#define TNI_CASTS_COMPLEX(X)                                                             \
    X(F32, C64, , , ) X(C64, F32, , , ) X(C64, BOOL, , , ) X(F64, C128, , , )            \
    X(C128, F64, , , ) X(C128, BOOL, , , ) X(C64, C128, , , ) X(C128, C64, , , )
#else
#define TNI_CASTS_COMPLEX(X)
#endif

#define TNI_CASTS_BY_HAND(X) \
    TNI_CASTS_HALF(X)        \
    TNI_CASTS_COMPLEX(X)     \
    X(F8E4M3, F32, , , ) X(F8E5M2, F32, , , ) X(F32, F8E4M3, , , ) X(F32, F8E5M2, , , )
#define TNI_CAST_CASE(A, B, From, To, value) \
    case TN_##A *TN_DTYPE_COUNT + TN_##B:    \
        return TNI_FN(cast_##A##_##B);

static tni_cast TNI_FN(cast)(int from, int to) {
    switch (from * TN_DTYPE_COUNT + to) {
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
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
