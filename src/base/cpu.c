/* cpu.c - which instruction sets this CPU and its system can run, and which one a context takes.
 *
 * AVX counts only when the system saves its registers (XCR0), AVX-512 with the parts that the
 * kernels use: F, BW, DQ, VL. */
#include "base.h"

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define TNI_CPU_X86 1
#else
#define TNI_CPU_X86 0
#endif

#if TNI_CPU_X86 && defined(__GNUC__) && !defined(__TINYC__)
#include <cpuid.h>
static bool cpu_id(uint32_t leaf, uint32_t sub, uint32_t r[4]) { /* eax, ebx, ecx, edx */
    return __get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3]) != 0;
}
static uint32_t cpu_xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}
#elif TNI_CPU_X86 && defined(_MSC_VER)
#include <intrin.h>
static bool cpu_id(uint32_t leaf, uint32_t sub, uint32_t r[4]) {
    int v[4];
    __cpuid(v, 0);
    if ((uint32_t)v[0] < leaf) return false;
    __cpuidex(v, (int)leaf, (int)sub);
    for (int i = 0; i < 4; i++) r[i] = (uint32_t)v[i];
    return true;
}
static uint32_t cpu_xcr0(void) { return (uint32_t)_xgetbv(0); }
#else
static bool cpu_id(uint32_t leaf, uint32_t sub, uint32_t r[4]) {
    return (void)leaf, (void)sub, (void)r, false;
}
static uint32_t cpu_xcr0(void) { return 0; }
#endif

TN_PRIV unsigned tni_cpu_has(uint32_t ecx, uint32_t ebx, uint32_t xcr0) {
    const uint32_t avx = 1u << 27 | 1u << 28, fma = 1u << 12, f16c = 1u << 29;         /* 1: ecx */
    const uint32_t avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* 7: ebx */
    const uint32_t ymm = 6, zmm = 0xe6;                                                /* XCR0 */
    if ((ecx & (avx | fma)) != (avx | fma) || (xcr0 & ymm) != ymm) return 0;
    if (!(ecx & f16c) || !(ebx & avx2)) return TNI_CPU_FMA;
    if ((ebx & avx512) != avx512 || (xcr0 & zmm) != zmm) return TNI_CPU_FMA | TNI_CPU_AVX2;
    return TNI_CPU_FMA | TNI_CPU_AVX2 | TNI_CPU_AVX512;
}

/* Leaf 1 says whether XCR0 can be read at all; leaf 7 is absent on old CPUs. */
static unsigned cpu_has(void) {
    const uint32_t osxsave = 1u << 27; /* XCR0 can be read */
    uint32_t one[4], seven[4];
    if (!cpu_id(1, 0, one) || !(one[2] & osxsave)) return 0;
    return tni_cpu_has(one[2], cpu_id(7, 0, seven) ? seven[1] : 0, cpu_xcr0());
}

TN_PRIV bool tni_cpu_has_fma(void) {
#if defined(__aarch64__) || defined(_M_ARM64) || defined(__FP_FAST_FMA)
    return true;
#else
    return (cpu_has() & TNI_CPU_FMA) != 0;
#endif
}

static bool cpu_runs(int isa) {
    static const unsigned needs[] = {0, TNI_CPU_AVX2, TNI_CPU_AVX512};
#if defined(__aarch64__) || defined(_M_ARM64)
    if (isa == TNI_ISA_NEON) return true;
#endif
    if (isa == TNI_ISA_WASM128) return TNI_HAS_WASM128; /* else the module would not load */
    return isa < TNI_ISA_NEON && (cpu_has() & needs[isa]) == needs[isa];
}

TN_PRIV const char *tni_isa_name(int isa) {
    static const char name[TNI_ISA_COUNT][8] = {"scalar", "avx2", "avx512", "neon", "wasm128"};
    return isa >= 0 && isa < TNI_ISA_COUNT ? name[isa] : "none";
}

static const bool cpu_built[TNI_ISA_COUNT] = {TNI_HAS_SCALAR, TNI_HAS_AVX2, TNI_HAS_AVX512,
                                              TNI_HAS_NEON, TNI_HAS_WASM128};

TN_PRIV int tni_isa_pick(const char *name) {
    if (!name) name = getenv("TN_ISA");
    bool any = !name || !*name;
    /* The widest set first; a name, of the options or of TN_ISA, must match. */
    for (int isa = TNI_ISA_COUNT - 1; isa >= 0; isa--)
        if (cpu_built[isa] && (any || strcmp(name, tni_isa_name(isa)) == 0) && cpu_runs(isa))
            return isa;
    return -1;
}

TN_PRIV bool tni_isa_left_out(const char *name) {
    if (!name) name = getenv("TN_ISA");
    for (int isa = 0; name && isa < TNI_ISA_COUNT; isa++)
        if (!cpu_built[isa] && strcmp(name, tni_isa_name(isa)) == 0) return true;
    return false;
}
#undef TNI_CPU_X86

TN_API const char *tn_isa(void) {
    tni_block *b = tni_here();
    return b ? tni_isa_name(b->context->isa) : "none";
}
