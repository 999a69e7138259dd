/* vocabulary.cuh - the expressions of the rows as functions of the device: the words of the scalar
 * set (simd/), compiled once more. No row is named here.
 *
 * For each row and type of the arithmetic there is a struct tnc_add_f32 with call(x, y, z, p): the
 * row's tensors, then its number parameters. */
#ifndef TNC_CUDA_VOCABULARY_CUH
#define TNC_CUDA_VOCABULARY_CUH

#include "cuda.cuh"

/* Types of the arithmetic, in the order of a loop table. */
enum tnc_type { TNC_F32, TNC_F64, TNC_I32, TNC_I64, TNC_C64, TNC_C128, TNC_BOOL, TNC_TYPES };

#pragma push_macro("TNI_INLINE")
#undef TNI_INLINE
#define TNI_INLINE TNC_FN
#define TNI_HELPER_AS TNC_FN
#define TNI_ISA 0
#define TNI_FN(name) TNI_JOIN(name, _cuda)
#define TNI_KERNEL_PATH(name) ((void)0)

#include "../simd/grid_plan.h"
#include "../simd/math.h"

template <class T>
TNC_FN T tnc_real(T v) {
    return v;
}

/* x is the mask of a selection; operands that a row lacks are not looked at. */
#define TNC_ARGUMENTS_10 (x)
#define TNC_ARGUMENTS_11 (x, p[0])
#define TNC_ARGUMENTS_12 (x, p[0], p[1])
#define TNC_ARGUMENTS_13 (x, p[0], p[1], p[2])
#define TNC_ARGUMENTS_20 (x, y)
#define TNC_ARGUMENTS_21 (x, y, p[0])
#define TNC_ARGUMENTS_22 (x, y, p[0], p[1])
#define TNC_ARGUMENTS_23 (x, y, p[0], p[1], p[2])
#define TNC_ARGUMENTS_30 (x, y, z)
#define TNC_ARGUMENTS_31 (x, y, z, p[0])
#define TNC_ARGUMENTS_32 (x, y, z, p[0], p[1])
#define TNC_ARGUMENTS_33 (x, y, z, p[0], p[1], p[2])
#define TNC_OF(name, arguments) TNI_E_##name arguments
#define TNC_OP(name) TNI_JOIN(tnc_##name##_, TNI_LOOP_SUFFIX)
#define TNC_ROW(name, nt, nn, First, Result, wrap, is_select)                     \
    struct TNC_OP(name) {                                                         \
        enum { type = TNC_TYPE, tensors = nt, numbers = nn, select = is_select }; \
        typedef V value;                                                          \
        typedef Result result;                                                    \
        TNC_FN Result call(First x, V y, V z, const V *p) {                       \
            (void)x, (void)y, (void)z, (void)p;                                   \
            return wrap(TNC_OF(name, TNC_ARGUMENTS_##nt##nn));                    \
        }                                                                         \
    };
#define TNI_LOOP(name, nt, nn) TNC_ROW(name, nt, nn, V, V, , 0)
#define TNI_PREDICATE(name, nt, nn) TNC_ROW(name, nt, nn, V, uint8_t, (uint8_t), 0)
#define TNI_TO_REAL(name, nt, nn) TNC_ROW(name, nt, nn, V, TNC_REAL, tnc_real, 0)
#define TNI_SELECT(name, nt, nn) TNC_ROW(name, nt, nn, M, V, , 1)

/* Four types, and what is made of them: f32 and c64, f64 and c128, i32, i64 and bool. */
#define TNI_TYPE_F32
#include "vocabulary_type.cuh"
#define TNI_TYPE_F64
#include "vocabulary_type.cuh"
#define TNI_TYPE_I32
#include "vocabulary_type.cuh"
#define TNI_TYPE_I64
#include "vocabulary_type.cuh"

typedef tni_complex_f32_cuda tnc_c64;
typedef tni_complex_f64_cuda tnc_c128;

#undef TNI_LOOP
#undef TNI_PREDICATE
#undef TNI_TO_REAL
#undef TNI_SELECT
#undef TNI_HELPER_AS
#undef TNI_ISA
#pragma pop_macro("TNI_INLINE")

#endif
