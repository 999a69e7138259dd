/* elements.cuh - one element of any dtype as a type that is computed in, and back. The values are
 * those of the CPU's chains of conversions (cpu/convert.c). */
#ifndef TNC_CUDA_ELEMENTS_CUH
#define TNC_CUDA_ELEMENTS_CUH

#include "vocabulary.cuh"

/* The value, dtype and bytes of a type of the arithmetic. */
template <int type>
struct tnc_of;
template <>
struct tnc_of<TNC_F32> {
    typedef float value;
    enum { dtype = TN_F32, bytes = 4 };
};
template <>
struct tnc_of<TNC_F64> {
    typedef double value;
    enum { dtype = TN_F64, bytes = 8 };
};
template <>
struct tnc_of<TNC_I32> {
    typedef int32_t value;
    enum { dtype = TN_I32, bytes = 4 };
};
template <>
struct tnc_of<TNC_I64> {
    typedef int64_t value;
    enum { dtype = TN_I64, bytes = 8 };
};
template <>
struct tnc_of<TNC_C64> {
    typedef tnc_c64 value;
    enum { dtype = TN_C64, bytes = 8 };
};
template <>
struct tnc_of<TNC_C128> {
    typedef tnc_c128 value;
    enum { dtype = TN_C128, bytes = 16 };
};
template <>
struct tnc_of<TNC_BOOL> {
    typedef int64_t value;
    enum { dtype = TN_BOOL, bytes = 1 };
};

template <class T>
TNC_FN T tnc_get(const char *at) {
    return *(const T *)at;
}
template <class T>
TNC_FN void tnc_put(char *at, T v) {
    *(T *)at = v;
}

TNC_FN float tnc_from_f16(uint16_t h) { /* exact */
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13, s = (uint32_t)(h & 0x8000u) << 16;
    float f;
    memcpy(&f, &u, 4);
    f *= 5192296858534827628530496329220096.0f; /* 2^112 */
    memcpy(&u, &f, 4);
    u |= ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u) | s;
    memcpy(&f, &u, 4);
    return f;
}
TNC_FN uint16_t tnc_to_f16(float f) { /* to nearest even */
    uint32_t u, s;
    memcpy(&u, &f, 4);
    s = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return (uint16_t)(s | 0x7e00u);
    if (u >= 0x47800000u) return (uint16_t)(s | 0x7c00u);
    if (u < 0x38800000u) { /* denormal: the sum with 0.5 rounds at 2^-24 */
        float a;
        memcpy(&a, &u, 4);
        a += 0.5f;
        memcpy(&u, &a, 4);
        return (uint16_t)(s | (u - 0x3f000000u));
    }
    return (uint16_t)(s | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1)) >> 13));
}
TNC_FN float tnc_from_bf16(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
TNC_FN uint16_t tnc_to_bf16(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)0x7fc0;
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
/* A 16-bit float in memory: its bits, read as a float, and written rounded. */
template <int dtype>
struct tnc_half;
template <>
struct tnc_half<TN_F16> {
    typedef uint16_t E;
    typedef float V;
    TNC_FN float get(uint16_t h) { return tnc_from_f16(h); }
    TNC_FN uint16_t put(float v) { return tnc_to_f16(v); }
};
template <>
struct tnc_half<TN_BF16> {
    typedef uint16_t E;
    typedef float V;
    TNC_FN float get(uint16_t h) { return tnc_from_bf16(h); }
    TNC_FN uint16_t put(float v) { return tnc_to_bf16(v); }
};

TNC_FN int64_t tnc_truncate(double v) {
    if (v >= -9223372036854775808.0 && v < 9223372036854775808.0) return (int64_t)v;
    return v != v ? 0 : INT64_MIN;
}

/* C's conversions, but where floats become integers */
template <class To>
struct tnc_as {
    template <class From>
    TNC_FN To of(From v) {
        return (To)v;
    }
    TNC_FN To of(float v) { return (To)tnc_truncate((double)v); }
    TNC_FN To of(double v) { return (To)tnc_truncate(v); }
};
template <>
struct tnc_as<float> {
    template <class From>
    TNC_FN float of(From v) {
        return (float)v;
    }
};
template <>
struct tnc_as<double> {
    template <class From>
    TNC_FN double of(From v) {
        return (double)v;
    }
};

/* Rounded or cut to dtype, which is narrower than V, or V's own. */
template <class V>
TNC_FN V tnc_through(V v, int dtype) {
    switch (dtype) {
    case TN_BOOL: return (V)(v != 0);
    case TN_U8: return (V)(uint8_t)tnc_as<int64_t>::of(v);
    case TN_I8: return (V)(int8_t)tnc_as<int64_t>::of(v);
    case TN_I16: return (V)(int16_t)tnc_as<int64_t>::of(v);
    case TN_I32: return (V)(int32_t)tnc_as<int64_t>::of(v);
    case TN_F16: return (V)tnc_from_f16(tnc_to_f16((float)v));
    case TN_BF16: return (V)tnc_from_bf16(tnc_to_bf16((float)v));
    case TN_F32: return (V)(float)v;
    default: return v;
    }
}

template <class V>
TNC_FN V tnc_load_real(const char *at, int dtype) {
    switch (dtype) {
    case TN_BOOL: return tnc_as<V>::of((int32_t)(tnc_get<uint8_t>(at) != 0));
    case TN_U8: return tnc_as<V>::of(tnc_get<uint8_t>(at));
    case TN_I8: return tnc_as<V>::of(tnc_get<int8_t>(at));
    case TN_I16: return tnc_as<V>::of(tnc_get<int16_t>(at));
    case TN_I32: return tnc_as<V>::of(tnc_get<int32_t>(at));
    case TN_I64: return tnc_as<V>::of(tnc_get<int64_t>(at));
    case TN_F16: return tnc_as<V>::of(tnc_from_f16(tnc_get<uint16_t>(at)));
    case TN_BF16: return tnc_as<V>::of(tnc_from_bf16(tnc_get<uint16_t>(at)));
    case TN_F32:
    case TN_C64: return tnc_as<V>::of(tnc_get<float>(at));
    default: return tnc_as<V>::of(tnc_get<double>(at));
    }
}
template <class V>
TNC_FN void tnc_store_real(char *at, int dtype, V v) {
    switch (dtype) {
    case TN_BOOL: tnc_put<uint8_t>(at, (uint8_t)(v != 0)); break;
    case TN_U8: tnc_put<uint8_t>(at, (uint8_t)tnc_as<int64_t>::of(v)); break;
    case TN_I8: tnc_put<int8_t>(at, (int8_t)tnc_as<int64_t>::of(v)); break;
    case TN_I16: tnc_put<int16_t>(at, (int16_t)tnc_as<int64_t>::of(v)); break;
    case TN_I32: tnc_put<int32_t>(at, (int32_t)tnc_as<int64_t>::of(v)); break;
    case TN_I64: tnc_put<int64_t>(at, tnc_as<int64_t>::of(v)); break;
    case TN_F16: tnc_put<uint16_t>(at, tnc_to_f16((float)v)); break;
    case TN_BF16: tnc_put<uint16_t>(at, tnc_to_bf16((float)v)); break;
    case TN_F32: tnc_put<float>(at, (float)v); break;
    case TN_F64: tnc_put<double>(at, (double)v); break;
    case TN_C64: tnc_put<float>(at, (float)v), tnc_put<float>(at + 4, 0); break;
    default: tnc_put<double>(at, (double)v), tnc_put<double>(at + 8, 0);
    }
}

/* An element of dtype as the type's value, by way of the dtype that the call computes. */
template <int type>
struct tnc_move {
    typedef typename tnc_of<type>::value V;
    TNC_FN V load(const char *at, int dtype, int common) {
        if (dtype == tnc_of<type>::dtype && common == dtype) return tnc_get<V>(at);
        V v = tnc_load_real<V>(at, dtype);
        return common == dtype ? v : tnc_through(v, common);
    }
    TNC_FN void store(char *at, int dtype, int common, V v) {
        if (dtype == tnc_of<type>::dtype && common == dtype) return tnc_put<V>(at, v);
        tnc_store_real(at, dtype, common == dtype ? v : tnc_through(v, common));
    }
};
template <>
struct tnc_move<TNC_BOOL> {
    TNC_FN int64_t load(const char *at, int dtype, int) {
        return dtype == TN_BOOL ? (int64_t)(tnc_get<uint8_t>(at) != 0)
                                : tnc_load_real<int64_t>(at, dtype) != 0;
    }
    TNC_FN void store(char *at, int dtype, int, int64_t v) { tnc_store_real(at, dtype, v & 1); }
};
template <int type, class R>
struct tnc_move_complex {
    typedef typename tnc_of<type>::value V;
    TNC_FN V load(const char *at, int dtype, int) {
        V z;
        if (dtype == TN_C64)
            z.re = (R)tnc_get<float>(at), z.im = (R)tnc_get<float>(at + 4);
        else if (dtype == TN_C128)
            z.re = (R)tnc_get<double>(at), z.im = (R)tnc_get<double>(at + 8);
        else
            z.re = tnc_load_real<R>(at, dtype), z.im = 0;
        return z;
    }
    TNC_FN void store(char *at, int dtype, int common, V v) {
        if (common == TN_C64) v.re = (R)(float)v.re, v.im = (R)(float)v.im;
        if (dtype == TN_C64)
            tnc_put<float>(at, (float)v.re), tnc_put<float>(at + 4, (float)v.im);
        else if (dtype == TN_C128)
            tnc_put<double>(at, (double)v.re), tnc_put<double>(at + 8, (double)v.im);
        else if (dtype == TN_BOOL)
            tnc_put<uint8_t>(at, (uint8_t)(v.re != 0 || v.im != 0));
        else
            tnc_store_real(at, dtype, v.re);
    }
};
template <>
struct tnc_move<TNC_C64> : tnc_move_complex<TNC_C64, float> {};
template <>
struct tnc_move<TNC_C128> : tnc_move_complex<TNC_C128, double> {};

static inline bool tnc_is_float(int dtype) {
    return dtype == TN_F32 || dtype == TN_F64 || dtype == TN_F16 || dtype == TN_BF16;
}

TNC_FN float tnc_fused(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_fused(double a, double b, double c) { return fma(a, b, c); }

/* Number k of an option: one stands for all dimensions. */
static inline int64_t tnc_option(tn_ints option, int k, int64_t otherwise) {
    return option.n < 1 ? otherwise : option.at[option.n > 1 ? k : 0];
}

/* Elements that lie one after another are moved 16 bytes at a time. */
template <class E, int n>
struct alignas(sizeof(E) * n) tnc_pack {
    E e[n];
};
#ifdef TNC_EMULATED /* the device faults where the host does not */
template <class P>
static const P *tnc_aligned(const char *at) {
    if ((uintptr_t)at % alignof(P))
        emu_stop("a vector load at an odd address", (long long)((uintptr_t)at % alignof(P)));
    return (const P *)at;
}
#else
template <class P>
TNC_FN const P *tnc_aligned(const char *at) {
    return (const P *)at;
}
#endif
/* 16 bytes without a type, for elements that are only moved. */
struct alignas(16) tnc_pair {
    uint64_t half[2];
};

#endif
