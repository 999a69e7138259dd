/* elements.c - elements of any dtype to the type that sums are computed in (F32, F64 or I64),
 * and back.
 *
 * The plain loops here take any step between elements. Contiguous elements go by tni_convert, whose
 * kernels are vectors. */
#include "drive.h"
#include "lanes.h"

TN_PRIV int tni_lanes_compute(int dtype) {
    if (dtype == TN_F64 || dtype == TN_C128) return TN_F64;
    return tni_dtype(dtype)->category >= TNI_CAT_FLOAT ? TN_F32 : TN_I64;
}

/* A half to a float, exactly: its 15 bits, put where a float's exponent begins, are a number that
 * is too small by 2^112. The multiplication mends that and turns denormals into normal numbers;
 * infinity and NaN get their exponent of ones, and the sign comes last. */
TNI_INLINE float lanes_half(uint16_t h) {
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
    float f;
    memcpy(&f, &u, sizeof f);
    f *= 5192296858534827628530496329220096.0f; /* 2^112 */
    memcpy(&u, &f, sizeof u);
    u |= ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0) | (uint32_t)(h & 0x8000u) << 16;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* All loads and saves but those of 16-bit floats: C's conversions, but where floats become integers
 * and numbers bool. X(NAME, type, to int64, of a float, of int64) */
#define LANES_TYPES(X)                                           \
    X(BOOL, uint8_t, (int64_t), 0 !=, 0 !=)                      \
    X(U8, uint8_t, (int64_t), (uint8_t)tni_truncate, (uint8_t))  \
    X(I8, int8_t, (int64_t), (int8_t)tni_truncate, (int8_t))     \
    X(I16, int16_t, (int64_t), (int16_t)tni_truncate, (int16_t)) \
    X(I32, int32_t, (int64_t), (int32_t)tni_truncate, (int32_t)) \
    X(I64, int64_t, (int64_t), tni_truncate, (int64_t))          \
    X(F32, float, tni_truncate, (float), (float))                \
    X(F64, double, tni_truncate, (double), (double))

#define LANES_LOAD(NAME, type, whole, cut, put)  \
    case TN_##NAME:                              \
        for (int64_t i = 0; i < n; i++) {        \
            type v;                              \
            memcpy(&v, at + i * step, sizeof v); \
            if (compute == TN_F32)               \
                f[i] = (float)v;                 \
            else if (compute == TN_F64)          \
                d[i] = (double)v;                \
            else                                 \
                k[i] = whole(v);                 \
        }                                        \
        break;

TN_PRIV void tni_lanes_load(void *to, int compute, const void *from, int64_t step, int dtype,
                            int64_t n) {
    const char *at = (const char *)from;
    float *f = (float *)to;
    double *d = (double *)to;
    int64_t *k = (int64_t *)to;
    /* to has room for n elements of F32, F64 or I64; one of these views of it is used. */
    int64_t bytes = tni_dtype(dtype)->bytes;
    if (dtype == compute && step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    /* A loop for each dtype in memory. It tests the compute type for each element: strided elements
     * are loaded one by one anyway. */
    switch (dtype) {
        LANES_TYPES(LANES_LOAD)
    case TN_F16:
    case TN_BF16:
        for (int64_t i = 0; i < n; i++) {
            uint16_t h;
            memcpy(&h, at + i * step, sizeof h);
            float v = dtype == TN_F16 ? lanes_half(h) : tni_bf16_to_f32(h);
            if (compute == TN_F32)
                f[i] = v;
            else if (compute == TN_F64)
                d[i] = (double)v;
            else
                k[i] = tni_truncate((double)v);
        }
        break;
    default: /* dtypes that nothing is computed in */
        for (int64_t i = 0; i < n; i++)
            tni_element_set((char *)to + i * tni_dtype(compute)->bytes, compute,
                            tni_element(at + i * step, dtype));
    }
}

#define LANES_SAVE(NAME, type, whole, cut, put)                                                 \
    case TN_##NAME:                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                       \
            type v = compute == TN_F32 ? cut(f[i]) : compute == TN_F64 ? cut(d[i]) : put(k[i]); \
            memcpy(at + i * step, &v, sizeof v);                                                \
        }                                                                                       \
        break;

TN_PRIV void tni_lanes_save(void *to, int64_t step, int dtype, const void *from, int compute,
                            int64_t n) {
    char *at = (char *)to;
    const float *f = (const float *)from;
    const double *d = (const double *)from;
    /* Back from the compute type: floats are rounded once, integers wrap. */
    const int64_t *k = (const int64_t *)from;
    switch (dtype) {
        LANES_TYPES(LANES_SAVE)
    case TN_F16:
    case TN_BF16:
        for (int64_t i = 0; i < n; i++) {
            float v = compute == TN_F32 ? f[i] : compute == TN_F64 ? (float)d[i] : (float)k[i];
            uint16_t h = dtype == TN_F16 ? tni_f32_to_f16(v) : tni_f32_to_bf16(v);
            memcpy(at + i * step, &h, sizeof h);
        }
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            tni_element_set(
                at + i * step, dtype,
                tni_element((const char *)from + i * tni_dtype(compute)->bytes, compute));
    }
}

/* A kernel's call costs more than a few plain conversions. */
TN_PRIV void tni_lanes_read(const tni_kernels *k, void *to, int compute, const void *from,
                            int64_t step, int dtype, int64_t n) {
    if (step == tni_dtype(dtype)->bytes && n > 4)
        tni_convert(k, to, compute, from, dtype, n);
    else
        tni_lanes_load(to, compute, from, step, dtype, n);
}

TN_PRIV void tni_lanes_write(const tni_kernels *k, void *to, int64_t step, int dtype,
                             const void *from, int compute, int64_t n) {
    if (step == tni_dtype(dtype)->bytes && n > 4)
        tni_convert(k, to, dtype, from, compute, n);
    else
        tni_lanes_save(to, step, dtype, from, compute, n);
}

#undef LANES_TYPES
#undef LANES_LOAD
#undef LANES_SAVE
