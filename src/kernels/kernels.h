/* kernels.h - the table of loops over raw memory, one for each instruction set.
 *
 * Every kernel is one text, `static ret TNI_FN(name) params`, in an .inl file that pass.inl
 * includes once per instruction set; families list their entries as K(ret, name, params) in a
 * header of their own. Sizes were checked and scratch is given by the caller; a kernel allocates
 * nothing, dispatches nothing, cannot fail. */
#ifndef TNI_KERNELS_KERNELS_H
#define TNI_KERNELS_KERNELS_H

#include "../base/base.h"
#include "gemm.h"
#include "conv.h"
#include "pool.h"
#include "grid.h"
#include "pointwise.h"
#include "reduce.h"
#include "rowwise.h"
#include "random.h"
#include "optimize.h"
#include "cast.h"
#include "matrix.h"
#include "dft.h"

/* Before a loop: clang makes vectors of it, but does not unroll it as well, where memory is what it
 * waits for. gcc does not unroll at -O2. */
#if defined(__clang__)
#define TNI_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define TNI_ROLLED
#endif

/* Asks for the line of the cache at p, which need not be memory of ours. */
#if defined(__GNUC__)
#define TNI_PREFETCH(p, write) __builtin_prefetch(p, write)
#else
#define TNI_PREFETCH(p, write) (void)(p)
#endif

#define TNI_KERNELS(K)       \
    TNI_KERNELS_GEMM(K)      \
    TNI_KERNELS_CONV(K)      \
    TNI_KERNELS_POOL(K)      \
    TNI_KERNELS_GRID(K)      \
    TNI_KERNELS_REDUCE(K)    \
    TNI_KERNELS_ROWWISE(K)   \
    TNI_KERNELS_RANDOM(K)    \
    TNI_KERNELS_OPTIMIZE(K)  \
    TNI_KERNELS_MATRIX(K)    \
    TNI_KERNELS_DFT(K)       \
    TNI_KERNELS_POINTWISE(K) \
    TNI_KERNELS_CAST(K)

typedef struct tni_kernels {
    int isa;
    const uint8_t *lanes; /* elements of a vector, by type; complex loops of
                             the letter c take one (call/rowform.h) */
} tni_kernels;

/* Each kernel has a table of its own, by instruction set: what no row calls is not compiled. */
#define TNI_POINTER(ret, name, params)           \
    typedef ret(*tni_kernel_##name##_at) params; \
    TN_PRIV_DECLARE(tni_kernel_##name##_at, tni_kernel_##name[TNI_ISA_END]);
TNI_KERNELS(TNI_POINTER)
#undef TNI_POINTER
#define TNI_K(k, name) tni_kernel_##name[(k)->isa]

/* The table of an instruction set, NULL when it is not compiled in. */
TN_PRIV const tni_kernels *tni_kernels_of(int isa);

/* Paths that ran, for the test that every one is compared with an oracle: TNI_PATH(gemm_packed)
 * in operators, TNI_KERNEL_PATH(gemm_edge) in kernels, where each instruction set has its own.
 * tests/ops defines tni_path_ran. */
#ifdef TNI_COUNT_PATHS
TN_PRIV void tni_path_ran(const char *name, int isa);
#define TNI_PATH(name) tni_path_ran(#name, -1)
#define TNI_KERNEL_PATH(name) tni_path_ran(#name, TNI_ISA)
#else
#define TNI_PATH(name) ((void)0)
#define TNI_KERNEL_PATH(name) ((void)0)
#endif

#endif
