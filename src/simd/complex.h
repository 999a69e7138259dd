/* complex.h - the words for complex64 (TNI_TYPE_C64) and complex128 (TNI_TYPE_C128).
 *
 * V is a pair of vectors, one of real and one of imaginary parts; T is the type of a part, W the
 * number of elements. Truths are those of the floating type. Words that order numbers are missing.
 * V_ABS gives a complex number whose imaginary part is 0; V_SIGN is z / |z|, 0 of 0. */
#if defined(TNI_TYPE_C64)
#define TNI_SUFFIX f32
#define TNI_LOOP_SUFFIX c64
#define T float
#else
#define TNI_SUFFIX f64
#define TNI_LOOP_SUFFIX c128
#define T double
#endif
#define TNI_FLOATING 0 /* words that only real numbers have are left out */
#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))
/* numbers in a pair of vectors of 32, 64 or 16 bytes */
#if TNI_ISA == 0
#define W 1
#elif TNI_ISA == 1
#define W (32 / (int)sizeof(T))
#elif TNI_ISA == 2
#define W (64 / (int)sizeof(T))
#else
#define W (16 / (int)sizeof(T))
#endif
#define V TNI_FNT(tni_complex)
#define M TNI_FNT(tni_mask)
#define V_LD(p) TNI_FNT(tni_c_load)(p)
#define V_ST(p, v) TNI_FNT(tni_c_store)(p, v)
#define V_SET(s) TNI_FNT(tni_c_real)(s)
#define V_PARAM(p, i) TNI_FNT(tni_c_set)((const T *)(p) + 2 * (i))
#define V_ZERO() TNI_FNT(tni_c_real)(0)
#define V_ONE TNI_FNT(tni_c_real)(1)
#define V_ST_REAL(p, v) TNI_FNT(tni_c_store_real)(p, v)
#define V_WITHIN(a, r) TNI_FNT(tni_c_within)(a, r)
#define V_ABS(a) TNI_FNT(tni_c_magnitude)(a)
#define V_ANGLE(a) TNI_FNT(tni_c_angle)(a)
#define V_SIGN(a) TNI_FNT(tni_c_sign)(a)
#define V_ADD(a, b) TNI_FNT(tni_c_add)(a, b)
#define V_SUB(a, b) TNI_FNT(tni_c_sub)(a, b)
#define V_MUL(a, b) TNI_FNT(tni_c_mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_c_div)(a, b)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_NEG(a) TNI_FNT(tni_c_neg)(a)
#define V_CONJ(a) TNI_FNT(tni_c_conj)(a)
#define V_SQUARE(a) TNI_FNT(tni_c_square)(a)
#define V_EQ(a, b) TNI_FNT(tni_c_eq)(a, b)
#define V_NE(a, b) TNI_FNT(tni_c_ne)(a, b)
#define V_ISNAN(a) TNI_FNT(tni_c_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_c_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_c_isfinite)(a)
#define V_SEL(m, a, b) TNI_FNT(tni_c_sel)(m, a, b)
#define M_AND(a, b) TNI_FNT(tni_m_and)(a, b)
#define M_OR(a, b) TNI_FNT(tni_m_or)(a, b)
#define M_XOR(a, b) TNI_FNT(tni_m_xor)(a, b)
#define M_NOT(a) TNI_FNT(tni_m_not)(a)
#define V_MST(p, m) TNI_FNT(tni_m_store)(p, m)
#define M_LD(p) TNI_FNT(tni_m_load)(p)
#define V_EXP(a) TNI_FNT(tni_c_exp)(a)
#define V_LOG(a) TNI_FNT(tni_c_log)(a)
#define V_EXPM1(a) TNI_FNT(tni_c_expm1)(a)
#define V_LOG1P(a) TNI_FNT(tni_c_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_c_log_base)(a, 1.44269504088896341)
#define V_LOG10(a) TNI_FNT(tni_c_log_base)(a, 0.434294481903251828)
#define V_SQRT(a) TNI_FNT(tni_c_sqrt)(a)
#define V_SIN(a) TNI_FNT(tni_c_sin)(a)
#define V_COS(a) TNI_FNT(tni_c_cos)(a)
#define V_TAN(a) TNI_FNT(tni_c_tan)(a)
#define V_SINH(a) TNI_FNT(tni_c_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_c_cosh)(a)
#define V_ASIN(a) TNI_FNT(tni_c_asin)(a)
#define V_ASINH(a) TNI_FNT(tni_c_asinh)(a)
#define V_ACOS(a) TNI_FNT(tni_c_acos)(a)
#define V_ATAN(a) TNI_FNT(tni_c_atan)(a)
#define V_TANH(a) TNI_FNT(tni_c_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_c_sigmoid)(a)
#define V_POW(a, b) TNI_FNT(tni_c_pow)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_c_logaddexp)(a, b)
