/* type.inl - everything that is compiled for one element type: pass.inl sets TNI_TYPE_F32, F64, I32
 * or I64.
 *
 * Whatever needs the words of simd/vocabulary.h stands here, so that they are read once for each
 * type and not once for each family of kernels. Behind i64 come the loops of bool, which are its
 * words on bytes, behind f32 and f64 those of c64 and c128. */
#include "../simd/vocabulary.h"
#if defined(__GNUC__) && !defined(__clang__) /* as in pointwise_type.inl */
#pragma GCC push_options
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#endif
#if TNI_FLOATING
#include "../simd/math_float.h"
#include "../simd/math_complex.h"
enum { TNI_FNT(tni_lanes) = W };
#define TNI_KIND_F 1
#else
#include "../simd/math_int.h"
#define TNI_KIND_I 1
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#define TNI_LOOP_SUFFIX TNI_SUFFIX
#define TNI_STEP (W * (int64_t)sizeof(T))
#define TNI_MASK_STEP W
#include "pointwise_type.inl"

#if TNI_FLOATING
/* V_STN, which takes several times what a whole store does where memory is written by masks. */
TNI_INLINE void TNI_FNT(tni_put)(void *p, V v, int64_t n) {
    if (n == W && TNI_ISA != 2)
        V_ST(p, v);
    else
        V_STN(p, v, n);
}
#define V_PUT(p, v, n) TNI_FNT(tni_put)(p, v, n)
#include "gemm_type.inl"
#if defined(TNI_TYPE_F32) || TNI_ISA != 2 /* conv.inl says what AVX-512 takes from AVX2 */
#include "conv_type.inl"
#endif
#include "reduce_type.inl"
#include "rowwise_type.inl"
#include "pool_type.inl"
#include "grid_type.inl"
#ifdef TNI_TYPE_F32
#include "rowwise_back.inl"
#endif
#include "random_type.inl"
#include "optimize_type.inl"
#include "matrix_type.inl"
#include "dft_type.inl"
#undef V_PUT
#endif

#if defined(TNI_TYPE_I64)
#include "../simd/bool.h"
#define TNI_KIND_B 1
#define TNI_STEP (W * (int64_t)sizeof(T))
#define TNI_MASK_STEP TNI_STEP
#include "pointwise_type.inl"
#include "../simd/end.h"
#elif defined(TNI_TYPE_I32)
#include "../simd/end.h"
#else
#ifdef TNI_TYPE_F32
#include "../simd/end.h"
#define TNI_TYPE_C64
#else
#include "../simd/end.h"
#define TNI_TYPE_C128
#endif
#ifndef TN_NO_COMPLEX
#include "../simd/complex.h"
#define TNI_KIND_C 1
#define TNI_STEP (2 * W * (int64_t)sizeof(T))
#define TNI_MASK_STEP W
#include "pointwise_type.inl"
#include "../simd/end.h"
#else
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#endif
#endif
