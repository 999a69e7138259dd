/* kernels.c - compiles the kernels once for each instruction set and holds the tables. */
#include "kernels.h"
#include "intrinsics.h"

#define TNI_ISA 0
#define TNI_FN(name) TNI_JOIN(name, _scalar)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN

#if TNI_HAS_AVX2
#define TNI_ISA 1
#define TNI_FN(name) TNI_JOIN(name, _avx2)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

#if TNI_HAS_AVX512
#define TNI_ISA 2
#define TNI_FN(name) TNI_JOIN(name, _avx512)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

#if TNI_HAS_NEON
#define TNI_ISA 3
#define TNI_FN(name) TNI_JOIN(name, _neon)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

#if TNI_HAS_WASM128
#define TNI_ISA 4
#define TNI_FN(name) TNI_JOIN(name, _wasm128)
#include "pass.inl"
#undef TNI_ISA
#undef TNI_FN
#endif

/* --- tables, one a kernel and one a pointwise row -------------------------------------------- */

#if TNI_HAS_SCALAR
#define TNI_OF_SCALAR(name) TNI_JOIN(name, _scalar)
#else
#define TNI_OF_SCALAR(name) NULL
#endif
#if TNI_HAS_AVX2
#define TNI_OF_AVX2(name) TNI_JOIN(name, _avx2)
#else
#define TNI_OF_AVX2(name) NULL
#endif
#if TNI_HAS_AVX512
#define TNI_OF_AVX512(name) TNI_JOIN(name, _avx512)
#else
#define TNI_OF_AVX512(name) NULL
#endif
#if TNI_HAS_NEON
#define TNI_OF_NEON(name) TNI_JOIN(name, _neon)
#else
#define TNI_OF_NEON(name) NULL
#endif
#if TNI_HAS_WASM128
#define TNI_OF_WASM128(name) TNI_JOIN(name, _wasm128)
#else
#define TNI_OF_WASM128(name) NULL
#endif
/* the columns of a table up to the last set of this build */
#if TNI_ISA_END == 1
#define TNI_COLUMNS(a, b, c, d, e) a
#elif TNI_ISA_END == 2
#define TNI_COLUMNS(a, b, c, d, e) a, b
#elif TNI_ISA_END == 3
#define TNI_COLUMNS(a, b, c, d, e) a, b, c
#elif TNI_ISA_END == 4
#define TNI_COLUMNS(a, b, c, d, e) a, b, c, d
#else
#define TNI_COLUMNS(a, b, c, d, e) a, b, c, d, e
#endif
#define TNI_ENTRY(ret, name, params)                                             \
    TN_PRIV_DEFINE(tni_kernel_##name##_at, tni_kernel_##name[TNI_ISA_END]) = {   \
        TNI_COLUMNS(TNI_OF_SCALAR(name), TNI_OF_AVX2(name), TNI_OF_AVX512(name), \
                    TNI_OF_NEON(name), TNI_OF_WASM128(name))};
TNI_PRIVATE_BEGIN
TNI_KERNELS(TNI_ENTRY)
TNI_PRIVATE_END
#undef TNI_ENTRY

#define TNI_WHEN_1(entry) entry
#define TNI_WHEN_0(entry) NULL
#define TNI_F32_2(loop) NULL /* one at a time: in f64, the scalar set's loop */
#define TNI_F32_1(loop) loop
#define TNI_F32_0(loop) NULL
#define TNI_F64_2(OF, loop) TNI_JOIN(loop, _scalar)
#define TNI_F64_1(OF, loop) OF(loop)
#define TNI_F64_0(OF, loop) NULL
#define TNI_C64_2(loop) NULL /* one at a time: in c128, the scalar set's loop */
#define TNI_C64_1(loop) loop
#define TNI_C64_0(loop) NULL
#ifdef TN_NO_COMPLEX
#undef TNI_C64_1
#define TNI_C64_1(loop) NULL
#define TNI_C128_2(OF, loop) NULL
#define TNI_C128_1(OF, loop) NULL
#else
#define TNI_C128_2(OF, loop) TNI_JOIN(loop, _scalar)
#define TNI_C128_1(OF, loop) OF(loop)
#endif
#define TNI_C128_0(OF, loop) NULL
#define TNI_LOOPS_OF(OF, REST, name, F, I, C, B)                                                  \
    {                                                                                             \
        TNI_F32_##F(OF(tni_loop_##name##_f32)), TNI_F64_##F(REST, tni_loop_##name##_f64),         \
            TNI_WHEN_##I(REST(tni_loop_##name##_i32)), TNI_WHEN_##I(REST(tni_loop_##name##_i64)), \
            TNI_C64_##C(REST(tni_loop_##name##_c64)), TNI_C128_##C(REST, tni_loop_##name##_c128), \
            TNI_WHEN_##B(REST(tni_loop_##name##_truth))                                           \
    }
#define TNI_ROW_LOOP(name, kinds, form, nt, nn, F, I, C, B)                       \
    TN_PRIV_DEFINE(tni_loop, tni_loops_##name[TNI_ISA_END][TNI_LOOP_TYPES]) = {   \
        TNI_COLUMNS(TNI_LOOPS_OF(TNI_OF_SCALAR, TNI_OF_SCALAR, name, F, I, C, B), \
                    TNI_LOOPS_OF(TNI_OF_AVX2, TNI_OF_AVX2, name, F, I, C, B),     \
                    TNI_LOOPS_OF(TNI_OF_AVX512, TNI_OF_AVX2, name, F, I, C, B),   \
                    TNI_LOOPS_OF(TNI_OF_NEON, TNI_OF_NEON, name, F, I, C, B),     \
                    TNI_LOOPS_OF(TNI_OF_WASM128, TNI_OF_WASM128, name, F, I, C, B))};
TNI_PRIVATE_BEGIN
#include "../gen/loops.inl"
TNI_PRIVATE_END
#undef TNI_ROW_LOOP

TN_PRIV const tni_kernels *tni_kernels_of(int isa) {
    switch (isa) {
#if TNI_HAS_SCALAR
    case TNI_ISA_SCALAR: return &tni_table_scalar;
#endif
#if TNI_HAS_AVX2
    case TNI_ISA_AVX2: return &tni_table_avx2;
#endif
#if TNI_HAS_AVX512
    case TNI_ISA_AVX512: return &tni_table_avx512;
#endif
#if TNI_HAS_NEON
    case TNI_ISA_NEON: return &tni_table_neon;
#endif
#if TNI_HAS_WASM128
    case TNI_ISA_WASM128: return &tni_table_wasm128;
#endif
    default: return NULL;
    }
}
