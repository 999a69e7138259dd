/* keys.cuh - elements as 64-bit keys that compare as unsigned numbers, whose bits of the dtype's
 * width do so alone as well: NaN is the largest, and the zeros are equal, as on the CPU. */
#ifndef TNC_CUDA_KEYS_CUH
#define TNC_CUDA_KEYS_CUH

#include "elements.cuh"

#define TNC_KEY_NAN (~(uint64_t)0)

/* Of a float of `bits` bits: all NaN above infinity, the zeros equal. */
TNC_FN uint64_t tnc_sort_float(uint64_t v, int bits, uint64_t infinity) {
    const uint64_t sign = (uint64_t)1 << (bits - 1), size = v & (sign - 1);
    if (size > infinity) return TNC_KEY_NAN;
    return v & sign && size ? sign - size : sign + size;
}
TNC_FN uint64_t tnc_sort_key(const char *at, int dtype) {
    switch (dtype) {
    case TN_F32: return tnc_sort_float(tnc_get<uint32_t>(at), 32, 0x7f800000u);
    case TN_F64: return tnc_sort_float(tnc_get<uint64_t>(at), 64, 0x7ff0000000000000u);
    case TN_F16: return tnc_sort_float(tnc_get<uint16_t>(at), 16, 0x7c00);
    case TN_BF16: return tnc_sort_float(tnc_get<uint16_t>(at), 16, 0x7f80);
    case TN_BOOL:
    case TN_U8: return (uint64_t)tnc_load_real<int64_t>(at, dtype);
    case TN_I8: return (uint8_t)(tnc_get<uint8_t>(at) ^ 0x80u);
    case TN_I16: return (uint16_t)(tnc_get<uint16_t>(at) ^ 0x8000u);
    case TN_I32: return tnc_get<uint32_t>(at) ^ 0x80000000u;
    default: return (uint64_t)tnc_load_real<int64_t>(at, dtype) ^ (uint64_t)1 << 63;
    }
}
/* The bits of a key that decide. */
static inline int tnc_sort_bits(int dtype) { return 8 * tnc_dtype_bytes(dtype); }

#endif
