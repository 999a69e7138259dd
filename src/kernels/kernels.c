/* kernels.c - compiles the kernels once for each instruction set and holds the tables. */
#include "kernels.h"

#if defined(TNI_X86)
#include <immintrin.h>
#elif defined(TNI_ARM)
#include <arm_neon.h>
#endif

#define TNI_ISA 0
#define TNI_FN(name) TNI_JOIN(name, _scalar)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN

#if defined(TNI_X86)
#define TNI_ISA 1
#define TNI_FN(name) TNI_JOIN(name, _avx2)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

#if defined(TNI_X86) && !defined(TN_NO_AVX512)
#define TNI_ISA 2
#define TNI_FN(name) TNI_JOIN(name, _avx512)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

#if defined(TNI_ARM)
#define TNI_ISA 3
#define TNI_FN(name) TNI_JOIN(name, _neon)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

TN_PRIV const tni_kernels *tni_kernels_of(int isa) {
    switch (isa) {
    case TNI_ISA_SCALAR: return &tni_table_scalar;
#if defined(TNI_X86)
    case TNI_ISA_AVX2: return &tni_table_avx2;
#ifndef TN_NO_AVX512
    case TNI_ISA_AVX512: return &tni_table_avx512;
#endif
#elif defined(TNI_ARM)
    case TNI_ISA_NEON: return &tni_table_neon;
#endif
    default: return NULL;
    }
}
