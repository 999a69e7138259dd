/* pass.inl - all kernels for one instruction set: TNI_ISA and TNI_FN are set by kernels.c, which
 * includes this file once for each.
 *
 * The set-up fixes the arithmetic: the target of the functions, and no contraction of a * b + c
 * behind our back (gcc would contract even across intrinsics), so that every set gives the same
 * bits. gcc fills up to no boundary except before loops: the rest were a tenth of the bytes. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic push
#if TNI_ISA == 0 && !TNI_HAS_SCALAR /* only a part of its text is borrowed */
#pragma clang diagnostic ignored "-Wunused-function"
#endif
#if TNI_ISA == 0 && TNI_HAS_AVX2 && defined(__OPTIMIZE__) && !defined(TNI_ALL_HOT)
#define TNI_COLD /* few machines run these */
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif
#if TNI_ISA == 0 && defined(TNI_X86)
#pragma clang attribute push(__attribute__((target("fma"))), apply_to = function)
#elif TNI_ISA == 1
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif TNI_ISA == 2
#pragma clang attribute push(                                                    \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), \
    apply_to = function)
#endif
#elif defined(__GNUC__)
#pragma GCC push_options
#if TNI_ISA == 0 && defined(TNI_X86)
#pragma GCC target("fma")
#elif TNI_ISA == 1
#pragma GCC target("avx2,fma,f16c")
#elif TNI_ISA == 2
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif
#pragma GCC optimize("fp-contract=off", "align-functions=1", "align-jumps=1")
#if TNI_ISA == 0 && TNI_HAS_AVX2 /* few machines run these */
#pragma GCC optimize("align-loops=1")
#endif
#pragma GCC diagnostic push
#if TNI_ISA == 0 && !TNI_HAS_SCALAR /* only a part of its text is borrowed */
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#if TNI_ISA == 2 /* unoptimised, its intrinsics are macros that convert signs */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#if TNI_ISA == 2 && \
    defined(__cplusplus) /* gcc's undefined vectors, which C++ warns about in its own headers */
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

#include "../simd/math.h"
#include "cast.inl"
#include "pointwise.inl"
#include "gemm.inl"
#define TNI_TYPE_F32
#include "type.inl"
#define TNI_TYPE_F64
#include "type.inl"
#if TNI_ISA != 2 /* AVX2 lends the loops of integers and of bool */
#define TNI_TYPE_I32
#include "type.inl"
#define TNI_TYPE_I64
#include "type.inl"
#endif
#include "pointwise_table.inl"
#include "conv.inl"
#if TNI_ISA != 0
#include "../base/steps_begin.inl"
#endif
#include "random.inl"
#if TNI_ISA != 0
#include "../base/cold_end.inl"
#endif

static const tni_kernels TNI_FN(tni_table) = {TNI_ISA, TNI_FN(tni_lanes)};

#if defined(__clang__)
#if (TNI_ISA == 0 && defined(TNI_X86)) || TNI_ISA == 1 || TNI_ISA == 2
#pragma clang attribute pop
#endif
#include "../base/cold_end.inl"
#pragma clang diagnostic pop
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#pragma GCC pop_options
#endif
