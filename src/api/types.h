/* types.h - the small types that calls are made of: dtypes, devices, numbers, lists, absent values.
 *
 * Absence is a name, never zero: TN_NONE, TN_NO_DIMS, tn_none(). A struct that is all zero where
 * a list or a number was required is reported as an error at run time. */
#ifndef TNI_API_TYPES_H
#define TNI_API_TYPES_H

#include "config.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_context tn_context;     /* owns memory, threads, devices, random state */
typedef struct tn_tensor tn_tensor;       /* reference counted, see tensor.h */
typedef struct tn_generator tn_generator; /* a random stream, see random.h */

#define TN_MAX_DIMS 16

/* Element types. X(NAME, text, bytes, kind): kind b bool, u unsigned, i signed, f floating, c
 * complex. Arithmetic exists for BOOL..C128; U16, U32, U64 and the 8-bit floats are storage and
 * conversion. */
#define TN_DTYPES(X)               \
    X(BOOL, bool, 1, b)            \
    X(U8, uint8, 1, u)             \
    X(I8, int8, 1, i)              \
    X(I16, int16, 2, i)            \
    X(I32, int32, 4, i)            \
    X(I64, int64, 8, i)            \
    X(F16, float16, 2, f)          \
    X(BF16, bfloat16, 2, f)        \
    X(F32, float32, 4, f)          \
    X(F64, float64, 8, f)          \
    X(C64, complex64, 8, c)        \
    X(C128, complex128, 16, c)     \
    X(U16, uint16, 2, u)           \
    X(U32, uint32, 4, u)           \
    X(U64, uint64, 8, u)           \
    X(F8E4M3, float8_e4m3fn, 1, f) \
    X(F8E5M2, float8_e5m2, 1, f)

typedef enum tn_dtype {
    TN_NO_DTYPE = 0, /* None: the operator's own choice */
#define TNI_ENUMERATOR(NAME, text, bytes, kind) TN_##NAME,
    TN_DTYPES(TNI_ENUMERATOR)
#undef TNI_ENUMERATOR
        TN_DTYPE_COUNT
} tn_dtype;

/* Devices are small numbers: 0 is None (the operator's own choice); backends take the numbers from
 * TN_META + 1 on as they register. tn_device("cuda:0") finds one by name. */
typedef int32_t tn_device_id;
#define TN_NO_DEVICE 0
#define TN_CPU 1
#define TN_META 2 /* shapes without data */

#define TN_NONE INT64_MIN /* an optional int that is absent */

/* A list of ints, borrowed for the time of the call. One number repeats where a fixed count is
 * expected. */
typedef struct tn_ints {
    const int64_t *at;
    int64_t n;
} tn_ints;

typedef struct tn_floats {
    const double *at;
    int64_t n;
} tn_floats;

/* A list of tensors, borrowed for the time of the call. */
typedef struct tn_tensors {
    tn_tensor *const *at;
    int64_t n;
} tn_tensors;

/* The list that an operator returns: freed with its members by tn_list_free, or by the scope. */
typedef struct tn_list {
    tn_tensor **at;
    int64_t n;
    tn_tensor *holder; /* whose memory the array is */
} tn_list;

/* An optional float: TN_SOME(0.1), TN_NO_FLOAT. */
typedef struct tn_maybe {
    double value;
    int32_t given; /* TN_ABSENT or TN_GIVEN; 0 is an error */
} tn_maybe;
enum { TN_ABSENT = 1, TN_GIVEN = 2 };

/* A number that may be bool, int, float or complex. */
enum tn_kind { TN_KIND_NONE = 1, TN_KIND_BOOL, TN_KIND_INT, TN_KIND_FLOAT, TN_KIND_COMPLEX };
typedef struct tn_scalar {
    int32_t kind;    /* one of tn_kind; 0 is an error */
    int64_t integer; /* of an int or a bool, exact */
    double imaginary;
    double real; /* of a float or complex */
} tn_scalar;

/* An absent list has n = -1; a list of all zero bytes is an error; the empty list points somewhere.
 */
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

/* TN_DIMS(2, 3) is a list for the time of the enclosing block; TN_EMPTY_DIMS the list of no ints;
 * TN_NO_DIMS, TN_NO_FLOAT the absent ones; TN_NUM(0.5), TN_INT(3) numbers; TN_LIST(a, b) tensors.
 */
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

/* What a keyword form writes for a number: kind by its C type, unevaluated (an integer halves to 0,
 * a float does not), integers exact. Each number is evaluated once; what stands behind it, the
 * options, comes after it. */
#define TNI_FIRST_(first, ...) first
#define TNI_REST_(first, ...) __VA_ARGS__
#define TNI_IS_WHOLE(...) ((0 ? TNI_FIRST_(__VA_ARGS__, 0) : 1) / 2 == 0)
#define TNI_NUMBER_IN(to, ...)                                                          \
    to.kind = TNI_IS_WHOLE(__VA_ARGS__) ? TN_KIND_INT : TN_KIND_FLOAT,                  \
    to.integer = TNI_IS_WHOLE(__VA_ARGS__) ? (int64_t)(TNI_FIRST_(__VA_ARGS__, 0)) : 0, \
    to.real = TNI_IS_WHOLE(__VA_ARGS__) ? 0. : (double)(TNI_FIRST_(__VA_ARGS__, 0)),    \
    TNI_REST_(__VA_ARGS__, to.imaginary = 0)

TNI_EXTERN_C_END
#endif
