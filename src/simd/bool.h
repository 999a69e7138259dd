/* bool.h - the words for bool, in place of those of i64: bytes 0 and 1, as many as a vector of i64
 * holds. A truth is such a byte, too; + is or, * is and, as torch has it. */
#define TNI_LOOP_SUFFIX truth
#undef M
#undef V_SET
#undef V_PARAM
#undef V_ONE
#undef V_ADD
#undef V_MUL
#undef V_FMA
#undef V_NOT
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_SIGN
#undef V_ABS
#undef V_SQUARE
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_ISNAN
#undef V_ISINF
#undef V_ISFINITE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef V_MST
#undef M_LD
/* 8 bytes in every lane of 64 bits */
#if TNI_ISA == 0
#define TNI_BYTES(u) ((int64_t)(u))
#elif TNI_ISA == 1
#define TNI_BYTES(u) _mm256_set1_epi64x((long long)(u))
#elif TNI_ISA == 2
#define TNI_BYTES(u) _mm512_set1_epi64((long long)(u))
#elif TNI_ISA == 3
#define TNI_BYTES(u) vdupq_n_s64((int64_t)(u))
#else
#define TNI_BYTES(u) wasm_i64x2_splat((int64_t)(u))
#endif
#define M V
#define V_SET(s) TNI_BYTES((s) ? 0x0101010101010101 : 0)
#define V_PARAM(p, i) V_SET(((const uint8_t *)(p))[i])
#define V_ONE TNI_BYTES(0x0101010101010101)
#define V_ADD(a, b) V_OR(a, b)
#define V_MUL(a, b) V_AND(a, b)
#define V_FMA(a, b, c) V_OR(V_AND(a, b), c)
#define V_NOT(a) V_XOR(a, V_ONE)
#define V_MAXIMUM(a, b) V_OR(a, b)
#define V_MINIMUM(a, b) V_AND(a, b)
#define V_SIGN(a) (a)
#define V_ABS(a) (a)
#define V_SQUARE(a) (a)
/* false is below true */
#define V_LT(a, b) V_AND(V_NOT(a), b)
#define V_LE(a, b) V_OR(V_NOT(a), b)
#define V_GT(a, b) V_AND(a, V_NOT(b))
#define V_GE(a, b) V_OR(a, V_NOT(b))
#define V_EQ(a, b) V_NOT(V_XOR(a, b))
#define V_NE(a, b) V_XOR(a, b)
#define V_ISNAN(a) V_AND(a, V_ZERO())
#define V_ISINF(a) V_AND(a, V_ZERO())
#define V_ISFINITE(a) V_OR(a, V_ONE)
#define V_SEL(m, a, b) TNI_FN(tni_bool_sel)(m, a, b)
#define M_AND(a, b) V_AND(a, b)
#define M_OR(a, b) V_OR(a, b)
#define M_XOR(a, b) V_XOR(a, b)
#define M_NOT(a) V_NOT(a)
#define V_MST(p, m) V_ST(p, m)
#define M_LD(p) V_LD(p)
