/* vocabulary.h - the words that kernels are written in: one instruction set, one element type at a
 * time.
 *
 *     #define TNI_TYPE_F32                     (or F64, I32, I64)
 *     #include "../simd/vocabulary.h"
 *     ... loops in T V M W, V_... and M_... words ...
 *     #include "../simd/end.h"
 *
 * T element, V vector of W of them, M mask of W truths. TNI_ISA chooses the file. Every word gives
 * the same bits in every instruction set, but for sign and payload of a NaN. An argument is
 * evaluated once.
 *   V_LD V_ST (unaligned)  V_LDN(p, n) V_STN(p, v, n): the first n <= W lanes; the others are zero,
 *                          and their memory is neither read nor written
 *   V_LD2(p, &a, &b) V_ST2(p, a, b): 2 W floats, those of even place in a
 *   V_REV(a): the lanes of floats in reverse order
 *   V_SET(s) V_ZERO() V_ONE  V_ADD SUB MUL DIV
 *   V_FMA(a, b, c) = a * b + c  V_FNMA(a, b, c) = c - a * b, rounded once. Written out, not left to
 *                          the compiler: whether it contracts differs by compiler and target
 *   V_NEG V_ABS V_SQRT  V_MIN(a, b) = a < b ? a : b  V_MAX(a, b) = a > b ? a : b: b if NaN
 *   V_FLOOR CEIL TRUNC ROUND (half to even; of integers: themselves)
 *   V_LT LE GT GE EQ NE -> M (NE true on NaN)  V_SEL(m, a, b) = m ? a : b  M_AND OR XOR NOT
 *       M_ANY(m) -> int
 *   V_AND OR XOR NOT bitwise  V_SHL(v, n) V_SHR V_SHRL(v, n): integers by a constant 0..bits - 1,
 *                             SHRL fills zeros
 *   V_SHLV V_SHRV(v, w): integers by a vector of counts in 0..bits - 1
 *   V_LDEXP(v, n) = v * 2^n, n integral-valued, |n| <= 252 (f64 2044), 2^(n / 2) v a normal number
 *   V_EXPO(v), V_MANT(v): v = V_MANT * 2^V_EXPO with 1 <= V_MANT < 2, of a normal positive number
 *   V_MST(p, m) stores W bytes 0 or 1, M_LD(p) loads W bytes, true where not 0
 *   V_WITHIN(a, r): |a| < r; V_ST_REAL stores real parts (of a real vector: itself)
 * Integer words wrap. Below: functions of math.h by the same kind of name. */
#if !defined(TNI_ISA) || !defined(TNI_FN)
#error "TNI_ISA and TNI_FN are set by kernels.c"
#endif

#if defined(TNI_TYPE_F32)
#define TNI_SUFFIX f32
#define TNI_FLOATING 1
#define T float
#elif defined(TNI_TYPE_F64)
#define TNI_SUFFIX f64
#define TNI_FLOATING 1
#define T double
#elif defined(TNI_TYPE_I32)
#define TNI_SUFFIX i32
#define T int32_t
#define TNI_FLOATING 0
#elif defined(TNI_TYPE_I64)
#define TNI_SUFFIX i64
#define T int64_t
#define TNI_FLOATING 0
#else
#error "define TNI_TYPE_F32, F64, I32 or I64 first"
#endif

/* name -> name_f32_avx2: one function for each type and instruction set */
#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))

#if TNI_ISA == 0
#include "scalar.h"
#elif TNI_ISA == 1
#include "avx2.h"
#elif TNI_ISA == 2
#include "avx512.h"
#elif TNI_ISA == 3
#include "neon.h"
#elif TNI_ISA == 4
#include "wasm128.h"
#endif

/* Words that no instruction set spells itself; math_float.h and math_int.h have their functions. */

#define V_ONE V_SET(1)
#define V_PARAM(p, i) V_SET(((const T *)(p))[i])
#define V_ISNAN(a) TNI_FNT(tni_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_isfinite)(a)
#define V_SIGN(a) TNI_FNT(tni_sign)(a)
#define V_SIGNBIT(a) TNI_FNT(tni_signbit)(a)
#define V_SQUARE(a) TNI_FNT(tni_square)(a)
#define V_CONJ(a) (a)
#define V_ST_REAL(p, v) V_ST(p, v)
#define V_WITHIN(a, r) V_LT(V_ABS(a), V_SET(r))
#define V_MAXIMUM(a, b) TNI_FNT(tni_maximum)(a, b)
#define V_MINIMUM(a, b) TNI_FNT(tni_minimum)(a, b)
#define V_FLOORDIV(a, b) TNI_FNT(tni_floordiv)(a, b)
#define V_TRUNCDIV(a, b) TNI_FNT(tni_truncdiv)(a, b)
#define V_REMAINDER(a, b) TNI_FNT(tni_remainder)(a, b)
#define V_FMOD(a, b) TNI_FNT(tni_fmod)(a, b)
#define V_POW(a, b) TNI_FNT(tni_pow)(a, b)
#if TNI_FLOATING
#define V_COPYSIGN(a, b) TNI_FNT(tni_copysign)(a, b)
#define V_HYPOT(a, b) TNI_FNT(tni_hypot)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_logaddexp)(a, b)
#define V_LOGADDEXP2(a, b) TNI_FNT(tni_logaddexp2)(a, b)
#define V_NEXTAFTER(a, b) TNI_FNT(tni_nextafter)(a, b)
#define V_EXP(a) TNI_FNT(tni_exp)(a)
#define V_EXPM1(a) TNI_FNT(tni_expm1)(a)
#define V_LOG(a) TNI_FNT(tni_log)(a)
#define V_LOG1P(a) TNI_FNT(tni_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_log2)(a)
#define V_LOG10(a) TNI_FNT(tni_log10)(a)
#define V_SIN(a) TNI_FNT(tni_sin)(a)
#define V_COS(a) TNI_FNT(tni_cos)(a)
#define V_TAN(a) TNI_FNT(tni_tan)(a)
#define V_TANH(a) TNI_FNT(tni_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_sigmoid)(a)
#define V_ERF(a) TNI_FNT(tni_erf)(a)
#define V_ERFC(a) TNI_FNT(tni_erfc)(a)
#define V_ERFCX(a) TNI_FNT(tni_scaled_erfc)(a)
#define V_NDTR(a) TNI_FNT(tni_normal)(a)
#define V_LOG_NDTR(a) TNI_FNT(tni_log_normal)(a)
#define V_ERFINV(a) TNI_FNT(tni_erfinv)(a)
#define V_LGAMMA(a) TNI_FNT(tni_lgamma)(a)
#define V_DIGAMMA(a) TNI_FNT(tni_digamma)(a)
#define V_ATAN(a) TNI_FNT(tni_atan)(a)
#define V_ATAN2(a, b) TNI_FNT(tni_atan2)(a, b)
#define V_ASIN(a) TNI_FNT(tni_asin)(a)
#define V_ACOS(a) TNI_FNT(tni_acos)(a)
#define V_SINH(a) TNI_FNT(tni_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_cosh)(a)
#define V_ASINH(a) TNI_FNT(tni_asinh)(a)
#define V_ANGLE(a) TNI_FNT(tni_angle)(a)
#if TNI_ISA == 0 && defined(TNI_TYPE_F64)
#include "special.h"
#endif
#else
#define V_GCD(a, b) TNI_FNT(tni_gcd)(a, b)
#define V_LCM(a, b) TNI_FNT(tni_lcm)(a, b)
#define V_SHIFT_LEFT(a, n) TNI_FNT(tni_shift_left)(a, n)
#define V_SHIFT_RIGHT(a, n) TNI_FNT(tni_shift_right)(a, n)
#endif
