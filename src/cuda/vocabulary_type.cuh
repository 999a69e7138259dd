/* vocabulary_type.cuh - the expressions of one type, in the order of kernels/type.inl. */
#include "../simd/vocabulary.h"
#if TNI_FLOATING
#include "../simd/math_float.h"
#include "../simd/math_complex.h"
#include "../simd/math_normal.h"
#define TNI_TABLE TNC_FN
#include "../simd/grid_place.inl"
#undef TNI_TABLE
#define TNI_KIND_F 1
#else
#include "../simd/math_int.h"
#define TNI_KIND_I 1
#endif
#define TNI_LOOP_SUFFIX TNI_SUFFIX
#define TNC_TYPE TNI_JOIN(TNC_TYPE_, TNI_LOOP_SUFFIX)
#define TNC_TYPE_f32 TNC_F32
#define TNC_TYPE_f64 TNC_F64
#define TNC_TYPE_i32 TNC_I32
#define TNC_TYPE_i64 TNC_I64
#define TNC_TYPE_c64 TNC_C64
#define TNC_TYPE_c128 TNC_C128
#define TNC_TYPE_truth TNC_BOOL
#define TNC_REAL V
#include "../gen/loops.inl"
#undef TNI_LOOP_SUFFIX
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNC_REAL

#if defined(TNI_TYPE_I64)
#include "../simd/bool.h"
#define TNI_KIND_B 1
#define TNC_REAL V
#include "../gen/loops.inl"
#undef TNI_KIND_B
#undef TNC_REAL
#include "../simd/end.h"
#elif defined(TNI_TYPE_I32)
#include "../simd/end.h"
#else
#ifdef TNI_TYPE_F32
#include "../simd/end.h"
#define TNI_TYPE_C64
TNC_FN float tnc_real(tni_complex_f32_cuda v) { return v.re; }
#else
#include "../simd/end.h"
#define TNI_TYPE_C128
TNC_FN double tnc_real(tni_complex_f64_cuda v) { return v.re; }
#endif
#include "../simd/complex.h"
#define TNI_KIND_C 1
#define TNC_REAL T
#include "../gen/loops.inl"
#undef TNI_KIND_C
#undef TNC_REAL
#include "../simd/end.h"
#endif
#undef TNC_TYPE
