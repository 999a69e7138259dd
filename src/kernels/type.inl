/* type.inl - everything that is compiled for one element type: pass.inl sets TNI_TYPE_F32, F64, I32,
 * I64, BOOL, C64 or C128. Whatever needs the words of simd/vocabulary.h stands here, so that the words
 * are read once for each type and not once for each family of kernels. */
#if defined(TNI_TYPE_C64) || defined(TNI_TYPE_C128)
#include "../simd/complex.h"
#define TNI_KIND_C 1
#define TNI_STEP (2 * W * (int64_t)sizeof(T))
#define TNI_MASK_STEP W
#else
#ifdef TNI_TYPE_BOOL
#define TNI_TYPE_I64
#endif
#include "../simd/vocabulary.h"
#define TNI_STEP (W * (int64_t)sizeof(T))
#if defined(TNI_TYPE_BOOL)
#include "../simd/bool.h"
#define TNI_KIND_B 1
#define TNI_MASK_STEP TNI_STEP
#elif TNI_FLOATING
#define TNI_LOOP_SUFFIX TNI_SUFFIX
#include "../simd/math_float.h"
#include "../simd/math_complex.h"
enum { TNI_FNT(tni_lanes) = W };
#define TNI_KIND_F 1
#define TNI_MASK_STEP W
#else
#define TNI_LOOP_SUFFIX TNI_SUFFIX
#include "../simd/math_int.h"
#define TNI_KIND_I 1
#define TNI_MASK_STEP W
#endif
#endif

/* gcc makes these at O1: a load, an expression and a store, and more than half of all functions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1", "fp-contract=off")
#endif
#include "../gen/loops.inl"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#ifdef TNI_KIND_F
#include "gemm_type.inl"
#if defined(TNI_TYPE_F32) || TNI_ISA != 2
#include "conv_type.inl"
#endif
#include "reduce_type.inl"
#include "rowwise_type.inl"
#include "random_type.inl"
#ifdef TNI_TYPE_F32
#include "rowwise_back.inl"
#endif
#endif

#undef TNI_STEP
#undef TNI_MASK_STEP
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNI_KIND_B
#undef TNI_KIND_C
#include "../simd/end.h"
