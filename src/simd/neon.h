/* neon.h - the vocabulary for aarch64.
 *
 * A truth is a lane of all ones or all zeros, of an unsigned type. min and max are spelled by
 * comparison and select: NEON's own differ on NaN. vfmaq and vfmsq have the addend first. */
#ifndef TNI_SIMD_NEON_H
#define TNI_SIMD_NEON_H

/* There are no masked loads: n lanes go through an array, so no memory beyond them is touched. */
TNI_INLINE float32x4_t tni_neon_ldn_f32(const void *p, int64_t n) {
    float t[4] = {0, 0, 0, 0};
    memcpy(t, p, (size_t)n * 4);
    return vld1q_f32(t);
}
TNI_INLINE void tni_neon_stn_f32(void *p, float32x4_t v, int64_t n) {
    float t[4];
    vst1q_f32(t, v);
    memcpy(p, t, (size_t)n * 4);
}
TNI_INLINE float64x2_t tni_neon_ldn_f64(const void *p, int64_t n) {
    double t[2] = {0, 0};
    memcpy(t, p, (size_t)n * 8);
    return vld1q_f64(t);
}
TNI_INLINE void tni_neon_stn_f64(void *p, float64x2_t v, int64_t n) {
    double t[2];
    vst1q_f64(t, v);
    memcpy(p, t, (size_t)n * 8);
}
TNI_INLINE int32x4_t tni_neon_ldn_i32(const void *p, int64_t n) {
    return vreinterpretq_s32_f32(tni_neon_ldn_f32(p, n));
}
TNI_INLINE void tni_neon_stn_i32(void *p, int32x4_t v, int64_t n) {
    tni_neon_stn_f32(p, vreinterpretq_f32_s32(v), n);
}
TNI_INLINE int64x2_t tni_neon_ldn_i64(const void *p, int64_t n) {
    return vreinterpretq_s64_f64(tni_neon_ldn_f64(p, n));
}
TNI_INLINE void tni_neon_stn_i64(void *p, int64x2_t v, int64_t n) {
    tni_neon_stn_f64(p, vreinterpretq_f64_s64(v), n);
}
/* Masks to bytes 0 or 1, narrowed twice, and bytes that are not 0 to masks. */
TNI_INLINE void tni_neon_mst32(void *p, uint32x4_t m) {
    uint16x4_t h = vmovn_u32(m);
    uint8x8_t b = vand_u8(vmovn_u16(vcombine_u16(h, h)), vdup_n_u8(1));
    vst1_lane_u32((uint32_t *)p, vreinterpret_u32_u8(b), 0);
}
TNI_INLINE void tni_neon_mst64(void *p, uint64x2_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(vgetq_lane_u64(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(vgetq_lane_u64(m, 1) & 1);
}
TNI_INLINE uint32x4_t tni_neon_mld32(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint32_t t[4] = {q[0], q[1], q[2], q[3]};
    uint32x4_t v = vld1q_u32(t);
    return vtstq_u32(v, v);
}
TNI_INLINE uint64x2_t tni_neon_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint64_t t[2] = {q[0], q[1]};
    uint64x2_t v = vld1q_u64(t);
    return vtstq_u64(v, v);
}
/* v 2^n as two factors, so that a denormal result is rounded once (scalar.h) */
TNI_INLINE float32x4_t tni_neon_ldexp_f32(float32x4_t v, float32x4_t n) {
    int32x4_t k = vcvtq_s32_f32(n), h = vshrq_n_s32(k, 1), one = vdupq_n_s32(127);
    float32x4_t a = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(h, one), 23));
    float32x4_t b = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(k, h), one), 23));
    return vmulq_f32(vmulq_f32(v, a), b);
}
TNI_INLINE float64x2_t tni_neon_ldexp_f64(float64x2_t v, float64x2_t n) {
    int64x2_t k = vcvtq_s64_f64(n), h = vshrq_n_s64(k, 1), one = vdupq_n_s64(1023);
    float64x2_t a = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(h, one), 52));
    float64x2_t b = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vsubq_s64(k, h), one), 52));
    return vmulq_f64(vmulq_f64(v, a), b);
}
TNI_INLINE float32x4_t tni_neon_min_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
TNI_INLINE float32x4_t tni_neon_max_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_min_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_max_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_min_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcltq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_max_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcgtq_s64(a, b), a, b);
}
/* NEON multiplies no 64-bit lanes. */
TNI_INLINE int64x2_t tni_neon_mul_i64(int64x2_t a, int64x2_t b) {
    int64x2_t v =
        vdupq_n_s64((int64_t)((uint64_t)vgetq_lane_s64(a, 0) * (uint64_t)vgetq_lane_s64(b, 0)));
    return vsetq_lane_s64(
        (int64_t)((uint64_t)vgetq_lane_s64(a, 1) * (uint64_t)vgetq_lane_s64(b, 1)), v, 1);
}
TNI_INLINE uint64x2_t tni_neon_not64(uint64x2_t m) {
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m)));
}
TNI_INLINE float32x4_t tni_neon_bits_f32(uint32x4_t u) { return vreinterpretq_f32_u32(u); }
TNI_INLINE uint32x4_t tni_neon_u32(float32x4_t v) { return vreinterpretq_u32_f32(v); }
TNI_INLINE float64x2_t tni_neon_bits_f64(uint64x2_t u) { return vreinterpretq_f64_u64(u); }
TNI_INLINE uint64x2_t tni_neon_u64(float64x2_t v) { return vreinterpretq_u64_f64(v); }
/* Pairs to two vectors in order, and back: one instruction each. */
TNI_INLINE void tni_neon_ld2_f32(const float *p, float32x4_t *a, float32x4_t *b) {
    float32x4x2_t v = vld2q_f32(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f32(float *p, float32x4_t a, float32x4_t b) {
    float32x4x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f32(p, v);
}
TNI_INLINE void tni_neon_ld2_f64(const double *p, float64x2_t *a, float64x2_t *b) {
    float64x2x2_t v = vld2q_f64(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f64(double *p, float64x2_t a, float64x2_t b) {
    float64x2x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f64(p, v);
}
TNI_INLINE float32x4_t tni_neon_expo_f32(float32x4_t v) {
    int32x4_t k = vreinterpretq_s32_u32(vshrq_n_u32(tni_neon_u32(v), 23));
    return vcvtq_f32_s32(vsubq_s32(k, vdupq_n_s32(127)));
}
TNI_INLINE float64x2_t tni_neon_expo_f64(float64x2_t v) {
    int64x2_t k = vreinterpretq_s64_u64(vshrq_n_u64(tni_neon_u64(v), 52));
    return vcvtq_f64_s64(vsubq_s64(k, vdupq_n_s64(1023)));
}
TNI_INLINE float32x4_t tni_neon_mant_f32(float32x4_t v) {
    uint32x4_t u = vandq_u32(tni_neon_u32(v), vdupq_n_u32(0x007fffffu));
    return tni_neon_bits_f32(vorrq_u32(u, vdupq_n_u32(0x3f800000u)));
}
TNI_INLINE float64x2_t tni_neon_mant_f64(float64x2_t v) {
    uint64x2_t u = vandq_u64(tni_neon_u64(v), vdupq_n_u64(0x000fffffffffffffu));
    return tni_neon_bits_f64(vorrq_u64(u, vdupq_n_u64(0x3ff0000000000000u)));
}
#endif

#if defined(TNI_TYPE_F32)
#define V float32x4_t
#define V_LD(p) vld1q_f32((const float *)(const void *)(p))
#define V_ST(p, v) vst1q_f32((float *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_f32(p, n)
#define V_STN(p, v, n) tni_neon_stn_f32(p, v, n)
#define V_SET(s) vdupq_n_f32((float)(s))
#define V_REV(a) vextq_f32(vrev64q_f32(a), vrev64q_f32(a), 2)
#define V_LD2(p, a, b) tni_neon_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_neon_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() vdupq_n_f32(0)
#define V_ADD(a, b) vaddq_f32(a, b)
#define V_SUB(a, b) vsubq_f32(a, b)
#define V_MUL(a, b) vmulq_f32(a, b)
#define V_DIV(a, b) vdivq_f32(a, b)
#define V_FMA(a, b, c) vfmaq_f32(c, a, b)
#define V_FNMA(a, b, c) vfmsq_f32(c, a, b)
#define V_NEG(a) vnegq_f32(a)
#define V_ABS(a) vabsq_f32(a)
#define V_SQRT(a) vsqrtq_f32(a)
#define V_MIN(a, b) tni_neon_min_f32(a, b)
#define V_MAX(a, b) tni_neon_max_f32(a, b)
#define V_FLOOR(a) vrndmq_f32(a)
#define V_CEIL(a) vrndpq_f32(a)
#define V_TRUNC(a) vrndq_f32(a)
#define V_ROUND(a) vrndnq_f32(a)
#define V_LT(a, b) vcltq_f32(a, b)
#define V_LE(a, b) vcleq_f32(a, b)
#define V_GT(a, b) vcgtq_f32(a, b)
#define V_GE(a, b) vcgeq_f32(a, b)
#define V_EQ(a, b) vceqq_f32(a, b)
#define V_SEL(m, a, b) vbslq_f32(m, a, b)
#define V_AND(a, b) tni_neon_bits_f32(vandq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_OR(a, b) tni_neon_bits_f32(vorrq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_XOR(a, b) tni_neon_bits_f32(veorq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_NOT(a) tni_neon_bits_f32(vmvnq_u32(tni_neon_u32(a)))
#define V_LDEXP(v, n) tni_neon_ldexp_f32(v, n)
#define V_EXPO(a) tni_neon_expo_f32(a)
#define V_MANT(a) tni_neon_mant_f32(a)

#elif defined(TNI_TYPE_F64)
#define V float64x2_t
#define V_LD(p) vld1q_f64((const double *)(const void *)(p))
#define V_ST(p, v) vst1q_f64((double *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_f64(p, n)
#define V_STN(p, v, n) tni_neon_stn_f64(p, v, n)
#define V_SET(s) vdupq_n_f64((double)(s))
#define V_REV(a) vextq_f64(a, a, 1)
#define V_LD2(p, a, b) tni_neon_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_neon_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() vdupq_n_f64(0)
#define V_ADD(a, b) vaddq_f64(a, b)
#define V_SUB(a, b) vsubq_f64(a, b)
#define V_MUL(a, b) vmulq_f64(a, b)
#define V_DIV(a, b) vdivq_f64(a, b)
#define V_FMA(a, b, c) vfmaq_f64(c, a, b)
#define V_FNMA(a, b, c) vfmsq_f64(c, a, b)
#define V_NEG(a) vnegq_f64(a)
#define V_ABS(a) vabsq_f64(a)
#define V_SQRT(a) vsqrtq_f64(a)
#define V_MIN(a, b) tni_neon_min_f64(a, b)
#define V_MAX(a, b) tni_neon_max_f64(a, b)
#define V_FLOOR(a) vrndmq_f64(a)
#define V_CEIL(a) vrndpq_f64(a)
#define V_TRUNC(a) vrndq_f64(a)
#define V_ROUND(a) vrndnq_f64(a)
#define V_LT(a, b) vcltq_f64(a, b)
#define V_LE(a, b) vcleq_f64(a, b)
#define V_GT(a, b) vcgtq_f64(a, b)
#define V_GE(a, b) vcgeq_f64(a, b)
#define V_EQ(a, b) vceqq_f64(a, b)
#define V_SEL(m, a, b) vbslq_f64(m, a, b)
#define V_AND(a, b) tni_neon_bits_f64(vandq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_OR(a, b) tni_neon_bits_f64(vorrq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_XOR(a, b) tni_neon_bits_f64(veorq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_NOT(a) tni_neon_bits_f64(tni_neon_not64(tni_neon_u64(a)))
#define V_LDEXP(v, n) tni_neon_ldexp_f64(v, n)
#define V_EXPO(a) tni_neon_expo_f64(a)
#define V_MANT(a) tni_neon_mant_f64(a)

#else
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#if defined(TNI_TYPE_I32)
#define V int32x4_t
#define V_LD(p) vld1q_s32((const int32_t *)(const void *)(p))
#define V_ST(p, v) vst1q_s32((int32_t *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_i32(p, n)
#define V_STN(p, v, n) tni_neon_stn_i32(p, v, n)
#define V_SET(s) vdupq_n_s32((int32_t)(s))
#define V_ZERO() vdupq_n_s32(0)
#define V_ADD(a, b) vaddq_s32(a, b)
#define V_SUB(a, b) vsubq_s32(a, b)
#define V_MUL(a, b) vmulq_s32(a, b)
#define V_NEG(a) vnegq_s32(a)
#define V_ABS(a) vabsq_s32(a)
#define V_MIN(a, b) vminq_s32(a, b)
#define V_MAX(a, b) vmaxq_s32(a, b)
#define V_LT(a, b) vcltq_s32(a, b)
#define V_LE(a, b) vcleq_s32(a, b)
#define V_GT(a, b) vcgtq_s32(a, b)
#define V_GE(a, b) vcgeq_s32(a, b)
#define V_EQ(a, b) vceqq_s32(a, b)
#define V_SEL(m, a, b) vbslq_s32(m, a, b)
#define V_AND(a, b) vandq_s32(a, b)
#define V_OR(a, b) vorrq_s32(a, b)
#define V_XOR(a, b) veorq_s32(a, b)
#define V_NOT(a) vmvnq_s32(a)
#define V_SHL(a, n) vshlq_n_s32(a, n)
#define V_SHR(a, n) vshlq_s32(a, vdupq_n_s32(-(n)))
#define V_SHRL(a, n) vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-(n))))
#define V_SHLV(a, n) vshlq_s32(a, n)
#define V_SHRV(a, n) vshlq_s32(a, vnegq_s32(n))
#else
#define V int64x2_t
#define V_LD(p) vld1q_s64((const int64_t *)(const void *)(p))
#define V_ST(p, v) vst1q_s64((int64_t *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_i64(p, n)
#define V_STN(p, v, n) tni_neon_stn_i64(p, v, n)
#define V_SET(s) vdupq_n_s64((int64_t)(s))
#define V_ZERO() vdupq_n_s64(0)
#define V_ADD(a, b) vaddq_s64(a, b)
#define V_SUB(a, b) vsubq_s64(a, b)
#define V_MUL(a, b) tni_neon_mul_i64(a, b)
#define V_NEG(a) vnegq_s64(a)
#define V_ABS(a) vabsq_s64(a)
#define V_MIN(a, b) tni_neon_min_i64(a, b)
#define V_MAX(a, b) tni_neon_max_i64(a, b)
#define V_LT(a, b) vcltq_s64(a, b)
#define V_LE(a, b) vcleq_s64(a, b)
#define V_GT(a, b) vcgtq_s64(a, b)
#define V_GE(a, b) vcgeq_s64(a, b)
#define V_EQ(a, b) vceqq_s64(a, b)
#define V_SEL(m, a, b) vbslq_s64(m, a, b)
#define V_AND(a, b) vandq_s64(a, b)
#define V_OR(a, b) vorrq_s64(a, b)
#define V_XOR(a, b) veorq_s64(a, b)
#define V_NOT(a) vreinterpretq_s64_s32(vmvnq_s32(vreinterpretq_s32_s64(a)))
#define V_SHL(a, n) vshlq_n_s64(a, n)
#define V_SHR(a, n) vshlq_s64(a, vdupq_n_s64(-(n)))
#define V_SHRL(a, n) vreinterpretq_s64_u64(vshlq_u64(vreinterpretq_u64_s64(a), vdupq_n_s64(-(n))))
#define V_SHLV(a, n) vshlq_s64(a, n)
#define V_SHRV(a, n) vshlq_s64(a, vnegq_s64(n))
#endif
#endif
#if defined(TNI_TYPE_F32) || defined(TNI_TYPE_I32)
#define M uint32x4_t
#define W 4
#define M_AND(a, b) vandq_u32(a, b)
#define M_OR(a, b) vorrq_u32(a, b)
#define M_XOR(a, b) veorq_u32(a, b)
#define M_NOT(a) vmvnq_u32(a)
#define M_ANY(m) (vmaxvq_u32(m) != 0)
#define V_MST(p, m) tni_neon_mst32(p, m)
#define M_LD(p) tni_neon_mld32(p)
#else
#define M uint64x2_t
#define W 2
#define M_AND(a, b) vandq_u64(a, b)
#define M_OR(a, b) vorrq_u64(a, b)
#define M_XOR(a, b) veorq_u64(a, b)
#define M_NOT(a) tni_neon_not64(a)
#define M_ANY(m) ((vgetq_lane_u64(m, 0) | vgetq_lane_u64(m, 1)) != 0)
#define V_MST(p, m) tni_neon_mst64(p, m)
#define M_LD(p) tni_neon_mld64(p)
#endif
#define V_NE(a, b) M_NOT(V_EQ(a, b))
