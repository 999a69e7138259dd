/* dtype.c - element types: their table, promotion, and one element of any type as a number.
 *
 * Loops over many elements convert in kernels; what stands here is the definition they are
 * held to. */
#include "tensor.h"

/* --- the table -------------------------------------------------------------------------------- */

/* By the letter of the kind. */
enum {
    DTYPE_CATEGORY_b = TNI_CAT_BOOL,
    DTYPE_CATEGORY_u = TNI_CAT_INT,
    DTYPE_CATEGORY_i = TNI_CAT_INT,
    DTYPE_CATEGORY_f = TNI_CAT_FLOAT,
    DTYPE_CATEGORY_c = TNI_CAT_COMPLEX,
    DTYPE_SIGNED_b = 0,
    DTYPE_SIGNED_u = 0,
    DTYPE_SIGNED_i = 1,
    DTYPE_SIGNED_f = 1,
    DTYPE_SIGNED_c = 1
};

TNI_ROW_BEGIN
#define DTYPE_INFO(NAME, text_, bytes_, kind, alias_, computes_, loop, largest_, digits_, \
                   safetensors_, ...)                                                     \
    {largest_,                                                                            \
     bytes_,                                                                              \
     DTYPE_CATEGORY_##kind,                                                               \
     DTYPE_SIGNED_##kind,                                                                 \
     computes_,                                                                           \
     digits_,                                                                             \
     #text_ "\0" #alias_ "\0" #safetensors_},
static const tni_dtype_info dtype_table[TN_DTYPE_COUNT] = {{0, 0, 0, 0, 0, 0, "None\0\0"},
                                                           TN_DTYPES(DTYPE_INFO)};
#undef DTYPE_INFO
TNI_ROW_END

TN_PRIV const tni_dtype_info *tni_dtype(int dtype) {
    return &dtype_table[dtype > 0 && dtype < TN_DTYPE_COUNT ? dtype : 0];
}

TN_PRIV TNI_NOINLINE bool tni_dtype_error(tni_block *b, int dtype) {
    return tni_error(b, TN_TYPE, "%s is not in this build (%s)", tni_dtype(dtype)->text,
                     tni_is_complex(dtype) ? "TN_NO_COMPLEX" : "TN_NO_HALF");
}

TN_API const char *tn_dtype_name(tn_dtype dtype) { return tni_dtype((int)dtype)->text; }

TN_API int tn_dtype_bytes(tn_dtype dtype) { return tni_dtype((int)dtype)->bytes; }

TN_API tn_dtype tn_dtype_named(const char *name) {
    if (!name || !*name) return TN_NO_DTYPE;
    for (int d = 1; d < TN_DTYPE_COUNT; d++)
        if (!strcmp(name, dtype_table[d].text) || !strcmp(name, tni_dtype_alias(d)))
            return (tn_dtype)d;
    return TN_NO_DTYPE;
}

TN_API tn_dtype tn_default_dtype(void) {
    tni_block *b = tni_here();
    return b ? tni_tensors(b->context)->default_dtype : TN_F32;
}

TN_API bool tn_set_default_dtype(tn_dtype dtype) {
    tni_block *b = tni_here();
    if (!b) return false;
    /* Only a dtype that is computed in can be what numbers become. */
    if (!tni_is_float((int)dtype) || !tni_dtype((int)dtype)->computes)
        return tni_error_apart(b, TN_TYPE, "the default dtype must be floating, got %s",
                               tn_dtype_name(dtype));
    if (tni_dtype_left_out((int)dtype))
        return tni_error_apart(b, TN_TYPE, "%s is not in this build", tn_dtype_name(dtype));
    tni_tensors(b->context)->default_dtype = dtype;
    return true;
}

TN_PRIV tn_dtype tni_real_of(int dtype) {
    return dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : (tn_dtype)dtype;
}

TN_PRIV tn_dtype tni_complex_of(int dtype) {
    return dtype == TN_F64 || dtype == TN_C128 ? TN_C128 : TN_C64;
}

TN_PRIV bool tni_can_cast(int from, int to) {
    const tni_dtype_info *a = tni_dtype(from), *b = tni_dtype(to);
    return a->bytes && b->bytes && a->category <= b->category;
}

/* --- promotion -------------------------------------------------------------------------------- */

/* The smaller of the types that hold both, by torch's lattice: bool < integers < floats < complex;
 * uint8 and
 * a signed type meet in a signed one; half types meet in float32. U16, U32 and U64 meet floats
 * only, the
 * 8-bit floats nothing. TN_NO_DTYPE where torch refuses. */
TN_API tn_dtype tn_promote(tn_dtype a, tn_dtype b) {
    const tni_dtype_info *x = tni_dtype((int)a), *y = tni_dtype((int)b);
    /* Either order is one question: from here on a is the lower category, or the lower
     * number in one. */
    if (a == b || !x->bytes || !y->bytes) return x->bytes && y->bytes ? a : TN_NO_DTYPE;
    if (x->category > y->category || (x->category == y->category && a > b)) return tn_promote(b, a);
    if (!x->computes || !y->computes) { /* b is the wider, or only stores */
        bool wide = a == TN_U16 || a == TN_U32 || a == TN_U64;
        return wide && y->computes && y->category == TNI_CAT_FLOAT ? b : TN_NO_DTYPE;
    }
    if (y->category == TNI_CAT_COMPLEX) return a == TN_F64 ? TN_C128 : b;
    if (x->category < y->category) return b;
    if (a == TN_U8 && b == TN_I8) return TN_I16;
    return a == TN_F16 && b == TN_BF16 ? TN_F32 : b;
}

/* --- 16 and 8 bit floats ---------------------------------------------------------------------- */

/* A float of `mantissa` bits and exponent bias `bias`, rounded to nearest even; no sign. What lies
 * above
 * `largest` becomes `over` (an infinity, or the largest finite one). Not for NaN. */
TNI_INLINE uint32_t dtype_narrow(uint32_t bits, int mantissa, int bias, uint32_t largest,
                                 uint32_t over) {
    /* shift: bits that are cut off, of 23; the exponent takes its new bias. */
    int shift = 23 - mantissa, exponent = (int)(bits >> 23) - 127 + bias;
    if (exponent >= 1) {
        /* A normal number: the fields stand side by side already. */
        bits -= (uint32_t)(127 - bias) << 23;
    } else {
        /* A denormal one: the hidden bit is written out, and more bits are cut. Beyond 24
         * nothing is left. */
        shift += 1 - exponent;
        if (shift > 24) return 0;
        bits = (bits & 0x7fffffu) | 0x800000u;
    }
    /* Half of the last place is added, and one less where the bit before is even: ties go to even.
     * A carry into the exponent is right as it is. */
    bits = (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
    return bits > largest ? over : bits;
}

/* The value of such a float without sign, finite. */
TNI_INLINE float dtype_widen(uint32_t bits, int mantissa, int bias) {
    /* Normal numbers move their fields; denormal ones (exponent 0) are scaled. */
    uint32_t u = (bits << (23 - mantissa)) + ((uint32_t)(127 - bias) << 23);
    float f;
    if (bits >> mantissa) {
        memcpy(&f, &u, 4);
        return f;
    }
    return ldexpf((float)bits, 1 - bias - mantissa);
}

TN_PRIV uint16_t tni_f32_to_f16(float f) {
    uint32_t u, r;
    memcpy(&u, &f, 4);
    /* NaN has its own pattern; everything else is rounded, and the sign put before it. */
    r = (u & 0x7fffffffu) > 0x7f800000u ? 0x7e00u
                                        : dtype_narrow(u & 0x7fffffffu, 10, 15, 0x7bff, 0x7c00);
    return (uint16_t)(r | (u >> 16 & 0x8000u));
}

TN_PRIV float tni_f16_to_f32(uint16_t h) {
    uint32_t bits = h & 0x7fffu, u = (uint32_t)(h & 0x8000u) << 16;
    float f = 0;
    /* Finite; else infinity or NaN, whose payload is kept. */
    if (bits < 0x7c00u) {
        f = dtype_widen(bits, 10, 15);
        memcpy(&bits, &f, 4);
    } else
        bits = 0x7f800000u | (bits & 0x3ffu) << 13;
    u |= bits;
    memcpy(&f, &u, 4);
    return f;
}

/* float8_e4m3fn: no infinity, NaN is 0x7f, what is too large becomes 448. */
static uint8_t dtype_f32_to_e4m3(float f) {
    uint32_t u, r;
    memcpy(&u, &f, 4);
    r = (u & 0x7fffffffu) > 0x7f800000u ? 0x7f : dtype_narrow(u & 0x7fffffffu, 3, 7, 0x7e, 0x7e);
    return (uint8_t)(r | (u >> 24 & 0x80u));
}

static float dtype_e4m3_to_f32(uint8_t h) {
    float f = (h & 0x7f) == 0x7f ? (float)NAN : dtype_widen(h & 0x7f, 3, 7);
    return h & 0x80 ? -f : f;
}

static uint8_t dtype_f32_to_e5m2(float f) {
    uint32_t u, r;
    memcpy(&u, &f, 4);
    r = (u & 0x7fffffffu) > 0x7f800000u ? 0x7f : dtype_narrow(u & 0x7fffffffu, 2, 15, 0x7b, 0x7c);
    return (uint8_t)(r | (u >> 24 & 0x80u));
}

/* --- one element ------------------------------------------------------------------------------ */

/* Reads a T at `at` and makes a scalar of it. */
#define DTYPE_READ(T, make)       \
    {                             \
        T v;                      \
        memcpy(&v, at, sizeof v); \
        return make;              \
    }
#define DTYPE_WRITE(T, value)     \
    {                             \
        T v = (T)(value);         \
        memcpy(at, &v, sizeof v); \
        return;                   \
    }

/* An unsigned 64-bit value past INT64_MAX has its bits in .integer and its value in .real. */
static tn_scalar dtype_from_u64(uint64_t v) {
    tn_scalar s = tn_int((int64_t)v);
    s.real = (double)v;
    return s;
}

static tn_scalar dtype_read_complex(const void *at, bool wide) {
    /* Two doubles, or two floats: real part first. */
    if (wide) {
        double v[2];
        memcpy(v, at, sizeof v);
        return tn_complex(v[0], v[1]);
    }
    float v[2];
    memcpy(v, at, sizeof v);
    return tn_complex((double)v[0], (double)v[1]);
}

/* The definition of an element's value. 8-bit floats of 5 exponent bits are the upper half
 * of a float16. */
TN_PRIV tn_scalar tni_element(const void *at, int dtype) {
    switch (dtype) {
    case TN_BOOL: DTYPE_READ(uint8_t, tn_bool(v != 0))
    case TN_U8: DTYPE_READ(uint8_t, tn_int(v))
    case TN_I8: DTYPE_READ(int8_t, tn_int(v))
    case TN_I16: DTYPE_READ(int16_t, tn_int(v))
    case TN_I32: DTYPE_READ(int32_t, tn_int(v))
    case TN_I64: DTYPE_READ(int64_t, tn_int(v))
    case TN_U16: DTYPE_READ(uint16_t, tn_int(v))
    case TN_U32: DTYPE_READ(uint32_t, tn_int(v))
    case TN_U64: DTYPE_READ(uint64_t, dtype_from_u64(v))
    case TN_F16: DTYPE_READ(uint16_t, tn_float((double)tni_f16_to_f32(v)))
    case TN_BF16: DTYPE_READ(uint16_t, tn_float((double)tni_bf16_to_f32(v)))
    case TN_F8E4M3: DTYPE_READ(uint8_t, tn_float((double)dtype_e4m3_to_f32(v)))
    case TN_F8E5M2: DTYPE_READ(uint8_t, tn_float((double)tni_f16_to_f32((uint16_t)(v << 8))))
    case TN_F32: DTYPE_READ(float, tn_float((double)v))
    case TN_F64: DTYPE_READ(double, tn_float(v))
    case TN_C64: return dtype_read_complex(at, false);
    case TN_C128: return dtype_read_complex(at, true);
    default: return tn_none();
    }
}

/* Truncates to 64 bits, two's complement; below 2^64 for unsigned targets. */
static int64_t dtype_integer(tn_scalar s, bool unsigned64) {
    if (s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT) return s.integer;
    /* The upper half of a uint64's range, beyond int64. */
    if (unsigned64 && s.real >= 9223372036854775808.0 && s.real < 18446744073709551616.0)
        return (int64_t)(uint64_t)s.real;
    return tni_truncate(s.real);
}

static float dtype_float(tn_scalar s) { /* integers are rounded once, not through double */
    if (s.kind != TN_KIND_BOOL && s.kind != TN_KIND_INT) return (float)s.real;
    /* A negative integer with a positive value is a uint64 (dtype_from_u64). */
    return s.integer < 0 && s.real > 0 ? (float)(uint64_t)s.integer : (float)s.integer;
}

static double dtype_double(tn_scalar s) {
    if (s.kind != TN_KIND_BOOL && s.kind != TN_KIND_INT) return s.real;
    return s.integer < 0 && s.real > 0 ? (double)(uint64_t)s.integer : (double)s.integer;
}

static void dtype_write_complex(void *at, tn_scalar s, bool wide) {
    /* A number that is not complex has the imaginary part 0. */
    bool has_imaginary = s.kind == TN_KIND_COMPLEX;
    if (wide) {
        double v[2];
        v[0] = dtype_double(s);
        v[1] = has_imaginary ? s.imaginary : 0;
        memcpy(at, v, sizeof v);
    } else {
        float v[2];
        v[0] = dtype_float(s);
        v[1] = has_imaginary ? (float)s.imaginary : 0;
        memcpy(at, v, sizeof v);
    }
}

static bool dtype_true(tn_scalar s) {
    if (s.kind == TN_KIND_BOOL || s.kind == TN_KIND_INT) return s.integer != 0;
    return s.real != 0 || (s.kind == TN_KIND_COMPLEX && s.imaginary != 0);
}

/* As torch's .to: integers wrap, floats are cut off toward zero, bool is true if nonzero. */
TN_PRIV void tni_element_set(void *at, int dtype, tn_scalar value) {
    switch (dtype) {
    case TN_BOOL: DTYPE_WRITE(uint8_t, dtype_true(value))
    case TN_U8: DTYPE_WRITE(uint8_t, dtype_integer(value, false))
    case TN_I8: DTYPE_WRITE(int8_t, dtype_integer(value, false))
    case TN_I16: DTYPE_WRITE(int16_t, dtype_integer(value, false))
    case TN_I32: DTYPE_WRITE(int32_t, dtype_integer(value, false))
    case TN_I64: DTYPE_WRITE(int64_t, dtype_integer(value, false))
    case TN_U16: DTYPE_WRITE(uint16_t, dtype_integer(value, false))
    case TN_U32: DTYPE_WRITE(uint32_t, dtype_integer(value, false))
    case TN_U64: DTYPE_WRITE(uint64_t, dtype_integer(value, true))
    case TN_F16: DTYPE_WRITE(uint16_t, tni_f32_to_f16(dtype_float(value)))
    case TN_BF16: DTYPE_WRITE(uint16_t, tni_f32_to_bf16(dtype_float(value)))
    case TN_F8E4M3: DTYPE_WRITE(uint8_t, dtype_f32_to_e4m3(dtype_float(value)))
    case TN_F8E5M2: DTYPE_WRITE(uint8_t, dtype_f32_to_e5m2(dtype_float(value)))
    case TN_F32: DTYPE_WRITE(float, dtype_float(value))
    case TN_F64: DTYPE_WRITE(double, dtype_double(value))
    case TN_C64: dtype_write_complex(at, value, false); return;
    case TN_C128: dtype_write_complex(at, value, true); return;
    default: return;
    }
}

#undef DTYPE_READ
#undef DTYPE_WRITE
