/* types.h - dtypes, devices, numbers, lists, absent values.
 *
 * Absent values have names: TN_NONE, TN_NO_DIMS, tn_none(), and TN_NO_DTYPE and TN_NO_DEVICE, which
 * are 0. A list or a number of zero bytes is not absent: it is an error at run time. */
#ifndef TNI_API_TYPES_H
#define TNI_API_TYPES_H

#include "compiler.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_context tn_context;     /* owns memory, threads, devices, random state */
typedef struct tn_tensor tn_tensor;       /* counts its owners */
typedef struct tn_generator tn_generator; /* a random stream */
TNI_RESULT_OF(tn_tensor)
TNI_RESULTS_OR_OUT

#define TN_MAX_DIMS 16

/* Element types, one a line: X(NAME, text, bytes, kind, alias, computes, loop, largest, digits,
 * safetensors, dlpack, buffer).
 *   kind         b bool, u unsigned, i signed, f floating, c complex
 *   alias        torch's other name, or nothing
 *   computes     1: has arithmetic; 0: is only stored and converted
 *   loop         the type in which loops take its elements and through which they are converted
 *   largest      its largest number; HUGE_VAL: no double is too large
 *   digits       bits of a float's significand, with the leading one
 *   safetensors  its name in such files, or nothing
 *   dlpack       its type code
 *   buffer       its format in Python's buffers, or ""
 * To add one: a line here, tni_element, conversions (kernels/cast.inl), and its loops, if any. */
/* clang-format off */
#define TN_DTYPES(X)                                                                               \
    X(BOOL,   bool,          1,  b, ,        1, BOOL, HUGE_VAL,              0,  BOOL,    6,  "?") \
    X(U8,     uint8,         1,  u, ,        1, I32,  255,                   0,  U8,      1,  "B") \
    X(I8,     int8,          1,  i, ,        1, I32,  127,                   0,  I8,      0,  "b") \
    X(I16,    int16,         2,  i, short,   1, I32,  32767,                 0,  I16,     0,  "h") \
    X(I32,    int32,         4,  i, int,     1, I32,  2147483647,            0,  I32,     0,  "i") \
    X(I64,    int64,         8,  i, long,    1, I64,  9.2233720368547758e18, 0,  I64,     0,  "q") \
    X(F16,    float16,       2,  f, half,    1, F32,  65504,                 11, F16,     2,  "e") \
    X(BF16,   bfloat16,      2,  f, ,        1, F32,  3.3895313892515355e38, 8,  BF16,    4,  "")  \
    X(F32,    float32,       4,  f, float,   1, F32,  3.4028234663852886e38, 24, F32,     2,  "f") \
    X(F64,    float64,       8,  f, double,  1, F64,  HUGE_VAL,              53, F64,     2,  "d") \
    X(C64,    complex64,     8,  c, cfloat,  1, C64,  3.4028234663852886e38, 24, C64,     5,  "Zf")\
    X(C128,   complex128,    16, c, cdouble, 1, C128, HUGE_VAL,              53, ,        5,  "Zd")\
    X(U16,    uint16,        2,  u, ,        0, I32,  65535,                 0,  U16,     1,  "H") \
    X(U32,    uint32,        4,  u, ,        0, I64,  4294967295.0,          0,  U32,     1,  "I") \
    X(U64,    uint64,        8,  u, ,        0, I64,  1.8446744073709552e19, 0,  U64,     1,  "Q") \
    X(F8E4M3, float8_e4m3fn, 1,  f, ,        0, F32,  HUGE_VAL,              4,  F8_E4M3, 10, "")  \
    X(F8E5M2, float8_e5m2,   1,  f, ,        0, F32,  HUGE_VAL,              3,  F8_E5M2, 12, "")
/* clang-format on */

typedef enum tn_dtype {
    TN_NO_DTYPE = 0, /* None: the operator's own choice */
#define TNI_ENUMERATOR(NAME, ...) TN_##NAME,
    TN_DTYPES(TNI_ENUMERATOR)
#undef TNI_ENUMERATOR
        TN_DTYPE_COUNT
} tn_dtype;

/* The kind, as above; 0 for an unknown dtype. */
TNI_INLINE char tni_dtype_kind(tn_dtype dtype) {
#define TNI_DTYPE_KIND(NAME, text, bytes, kind, ...) #kind
    static const char kinds[TN_DTYPE_COUNT + 1] = "\0" TN_DTYPES(TNI_DTYPE_KIND);
#undef TNI_DTYPE_KIND
    return (unsigned)dtype < TN_DTYPE_COUNT ? kinds[dtype] : (char)0;
}

/* Devices are small numbers; 0 is None, the operator's own choice. Backends get the numbers after
 * TN_META when they register. tn_device("cpu") finds a device by name. */
typedef int32_t tn_device_id;
#define TN_NO_DEVICE 0
#define TN_CPU 1
#define TN_META 2 /* shapes without data */

#define TN_NONE INT64_MIN /* an optional int that is absent */

/* A list of ints, borrowed during the call. Where a fixed count is expected, one number stands for
 * all.     tn_zeros(TN_DIMS(2, 3)) */
typedef struct tn_ints {
    const int64_t *at;
    int64_t n;
} tn_ints;

/* A list of floats, borrowed during the call. */
typedef struct tn_floats {
    const double *at;
    int64_t n;
} tn_floats;

/* A list of tensors, borrowed during the call.     tn_cat(TN_LIST(a, b)) */
typedef struct tn_tensors {
    tn_tensor *const *at;
    int64_t n;
} tn_tensors;

/* A list that an operator returns. The scope, or tn_list_free, frees it with its members. */
typedef struct tn_list {
    tn_tensor **at;
    int64_t n;
    tn_tensor *holder; /* the array is its memory */
} tn_list;

/* An optional float: TN_SOME(0.1), TN_NO_FLOAT. */
typedef struct tn_maybe {
    double value;
    int32_t given; /* TN_ABSENT or TN_GIVEN; 0 is an error */
} tn_maybe;
enum { TN_ABSENT = 1, TN_GIVEN = 2 };

/* A number: bool, int, float or complex.     TN_NUM(0.5), TN_INT(3), tn_complex(0, 1) */
enum tn_kind { TN_KIND_NONE = 1, TN_KIND_BOOL, TN_KIND_INT, TN_KIND_FLOAT, TN_KIND_COMPLEX };
typedef struct tn_scalar {
    int32_t kind;    /* one of tn_kind; 0 is an error */
    int64_t integer; /* an int or a bool, exact */
    double imaginary;
    double real; /* a float, or the real part */
} tn_scalar;

/* An absent list has n = -1; an empty list has n = 0 and a pointer that is not NULL. */
TNI_INLINE tn_scalar tn_none(void) {
    tn_scalar s = {TN_KIND_NONE, 0, 0, 0};
    return s;
}
TNI_INLINE tn_scalar tn_int(int64_t v) {
    tn_scalar s = {TN_KIND_INT, v, 0, (double)v};
    return s;
}
TNI_INLINE tn_scalar tn_bool(bool v) {
    tn_scalar s = {TN_KIND_BOOL, v, 0, (double)v};
    return s;
}
TNI_INLINE tn_scalar tn_float(double v) {
    tn_scalar s = {TN_KIND_FLOAT, 0, 0, v};
    return s;
}
TNI_INLINE tn_scalar tn_complex(double re, double im) {
    tn_scalar s = {TN_KIND_COMPLEX, 0, im, re};
    return s;
}
TNI_INLINE tn_maybe tn_some(double v) {
    tn_maybe m = {v, TN_GIVEN};
    return m;
}
TNI_INLINE tn_maybe tn_no_float(void) {
    tn_maybe m = {0, TN_ABSENT};
    return m;
}
TNI_INLINE tn_ints tn_ints_of(const int64_t *at, int64_t n) {
    tn_ints l = {at, n};
    return l;
}
TNI_INLINE tn_tensors tn_tensors_of(tn_tensor *const *at, int64_t n) {
    tn_tensors l = {at, n};
    return l;
}
TNI_INLINE tn_ints tn_no_dims(void) {
    tn_ints l = {NULL, -1};
    return l;
}
TNI_INLINE bool tn_ints_given(tn_ints l) { return l.n >= 0; }
TNI_INLINE tn_ints tn_empty_dims(void) {
    static const int64_t none[1] = {0};
    tn_ints l = {none, 0};
    return l;
}

/* TN_DIMS(2, 3), TN_FLOATS(0.9, 0.99) and TN_LIST(a, b) are lists that live until the end of the
 * enclosing block; TN_EMPTY_DIMS is an empty list. TN_NUM(0.5) and TN_INT(3) are numbers.
 * TN_NO_DIMS, TN_NO_FLOAT and TN_NO_NUM are absent values. */
#ifdef __cplusplus
#define TN_SOME(v) (tn_some(v))
#define TN_NO_FLOAT (tn_no_float())
#define TN_NO_DIMS (tn_no_dims())
#define TN_EMPTY_DIMS (tn_empty_dims())
#define TN_NUM(v) (tn_float(v))
#define TN_INT(v) (tn_int(v))
#define TN_NO_NUM (tn_none())
#else
#define TN_SOME(v) ((tn_maybe){(v), TN_GIVEN})
#define TN_NO_FLOAT ((tn_maybe){0, TN_ABSENT})
#define TN_DIMS(...)                           \
    ((tn_ints){(const int64_t[]){__VA_ARGS__}, \
               (int64_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))})
#define TN_NO_DIMS ((tn_ints){NULL, -1})
#define TN_EMPTY_DIMS (tn_empty_dims())
#define TN_FLOATS(...)                          \
    ((tn_floats){(const double[]){__VA_ARGS__}, \
                 (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double))})
#define TN_LIST(...)                                 \
    ((tn_tensors){(tn_tensor *const[]){__VA_ARGS__}, \
                  (int64_t)(sizeof((tn_tensor *const[]){__VA_ARGS__}) / sizeof(tn_tensor *))})
#define TN_NUM(v) ((tn_scalar){TN_KIND_FLOAT, 0, 0, (v)})
#define TN_INT(v) ((tn_scalar){TN_KIND_INT, (v), 0, 0})
#define TN_NO_NUM ((tn_scalar){TN_KIND_NONE, 0, 0, 0})
#endif

/* How a keyword form writes a number. Its C type decides the kind, unevaluated: 1 / 2 is 0
 * for an integer only. Integers stay exact, and each number is evaluated once. The options
 * follow the number. */
#define TNI_FIRST_(first, ...) first
#define TNI_REST_(first, ...) __VA_ARGS__
#define TNI_IS_WHOLE(...) ((0 ? TNI_FIRST_(__VA_ARGS__, 0) : 1) / 2 == 0)
#define TNI_NUMBER_IN(to, ...)                                                          \
    to.kind = TNI_IS_WHOLE(__VA_ARGS__) ? TN_KIND_INT : TN_KIND_FLOAT,                  \
    to.integer = TNI_IS_WHOLE(__VA_ARGS__) ? (int64_t)(TNI_FIRST_(__VA_ARGS__, 0)) : 0, \
    to.real = TNI_IS_WHOLE(__VA_ARGS__) ? 0. : (double)(TNI_FIRST_(__VA_ARGS__, 0)),    \
    TNI_REST_(__VA_ARGS__, to.imaginary = 0)

/* An array of 64 tn_scalars: the numbers, then zeros. Of 65 numbers and more the rest is dropped,
 * so the caller counts them. */
#ifndef __cplusplus
/* clang-format off */
#define TNI_NUMBER(v)                                    \
    {TNI_IS_WHOLE(v) ? TN_KIND_INT : TN_KIND_FLOAT,      \
     TNI_IS_WHOLE(v) ? (int64_t)(v) : 0, 0,              \
     TNI_IS_WHOLE(v) ? 0. : (double)(v)}
#define TNI_NUMBERS(...)                                                                \
    TNI_NUMBERS_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define TNI_NUMBERS_(a1, a2, a3, a4, a5, a6, a7, a8,                        \
    a9, a10, a11, a12, a13, a14, a15, a16,                                  \
    a17, a18, a19, a20, a21, a22, a23, a24,                                 \
    a25, a26, a27, a28, a29, a30, a31, a32,                                 \
    a33, a34, a35, a36, a37, a38, a39, a40,                                 \
    a41, a42, a43, a44, a45, a46, a47, a48,                                 \
    a49, a50, a51, a52, a53, a54, a55, a56,                                 \
    a57, a58, a59, a60, a61, a62, a63, a64,                                 \
    ...)                                                                    \
    ((const tn_scalar[]){                                                   \
        TNI_NUMBER(a1), TNI_NUMBER(a2), TNI_NUMBER(a3), TNI_NUMBER(a4),     \
        TNI_NUMBER(a5), TNI_NUMBER(a6), TNI_NUMBER(a7), TNI_NUMBER(a8),     \
        TNI_NUMBER(a9), TNI_NUMBER(a10), TNI_NUMBER(a11), TNI_NUMBER(a12),  \
        TNI_NUMBER(a13), TNI_NUMBER(a14), TNI_NUMBER(a15), TNI_NUMBER(a16), \
        TNI_NUMBER(a17), TNI_NUMBER(a18), TNI_NUMBER(a19), TNI_NUMBER(a20), \
        TNI_NUMBER(a21), TNI_NUMBER(a22), TNI_NUMBER(a23), TNI_NUMBER(a24), \
        TNI_NUMBER(a25), TNI_NUMBER(a26), TNI_NUMBER(a27), TNI_NUMBER(a28), \
        TNI_NUMBER(a29), TNI_NUMBER(a30), TNI_NUMBER(a31), TNI_NUMBER(a32), \
        TNI_NUMBER(a33), TNI_NUMBER(a34), TNI_NUMBER(a35), TNI_NUMBER(a36), \
        TNI_NUMBER(a37), TNI_NUMBER(a38), TNI_NUMBER(a39), TNI_NUMBER(a40), \
        TNI_NUMBER(a41), TNI_NUMBER(a42), TNI_NUMBER(a43), TNI_NUMBER(a44), \
        TNI_NUMBER(a45), TNI_NUMBER(a46), TNI_NUMBER(a47), TNI_NUMBER(a48), \
        TNI_NUMBER(a49), TNI_NUMBER(a50), TNI_NUMBER(a51), TNI_NUMBER(a52), \
        TNI_NUMBER(a53), TNI_NUMBER(a54), TNI_NUMBER(a55), TNI_NUMBER(a56), \
        TNI_NUMBER(a57), TNI_NUMBER(a58), TNI_NUMBER(a59), TNI_NUMBER(a60), \
        TNI_NUMBER(a61), TNI_NUMBER(a62), TNI_NUMBER(a63), TNI_NUMBER(a64)})
/* clang-format on */
#endif

TNI_EXTERN_C_END
#endif
