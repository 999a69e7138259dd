/* intrinsics.h - the machine's vectors, as its compiler declares them. gcc's immintrin.h reads five
 * times as many lines as kernels need, for AVX-512 that not every program has and for sets that no
 * kernel has: 2 to 5 % of what a small program takes to compile. Its parts ask for its guard, which
 * is gone again behind them: a program may include immintrin.h before or after. */
#ifndef TNI_INTRINSICS_H
#define TNI_INTRINSICS_H
#if defined(TNI_ARM)
#include <arm_neon.h>
#elif defined(TNI_WASM)
#include <wasm_simd128.h>
#elif defined(TNI_X86)
#if defined(__clang__) || defined(__INTEL_COMPILER) || !defined(__GNUC__) || __GNUC__ < 11 || \
    __GNUC__ > 12 || defined(_IMMINTRIN_H_INCLUDED) /* tried with gcc 11 and 12 */
#include <immintrin.h>
#else
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#if TNI_HAS_AVX512
#include <avx512fintrin.h>
#include <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vlbwintrin.h>
#include <avx512vldqintrin.h>
#endif
#include <fmaintrin.h>
#include <f16cintrin.h>
#undef _IMMINTRIN_H_INCLUDED
#endif
#endif
#endif
