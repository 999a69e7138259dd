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

typedef struct cpu_features {
    bool fma, avx2, avx512;
} cpu_features;

static cpu_features cpu_detect(void) {
    enum {
        OSXSAVE = 1u << 27,
        AVX = 1u << 28,
        F16C = 1u << 29,
        FMA = 1u << 12,
        AVX2 = 1u << 5
    };                                                                     /* 1: ecx; 7: ebx */
    enum { AVX512 = 1u << 16 | 1u << 17 | 1u << 30, YMM = 6, ZMM = 0xe6 }; /* 7: ebx; XCR0 */
    const uint32_t avx512vl = 1u << 31;
    cpu_features has = {false, false, false};
    uint32_t one[4], seven[4];
    if (!cpu_id(1, 0, one) || (one[2] & (OSXSAVE | AVX)) != (OSXSAVE | AVX)) return has;
    uint32_t saved = cpu_xcr0();
    if ((saved & YMM) != YMM) return has;
    has.fma = (one[2] & FMA) != 0;
    if (!cpu_id(7, 0, seven)) return has;
    has.avx2 = has.fma && (one[2] & F16C) && (seven[1] & AVX2);
    has.avx512 =
        has.avx2 && (seven[1] & (AVX512 | avx512vl)) == (AVX512 | avx512vl) && (saved & ZMM) == ZMM;
    return has;
}

TN_PRIV bool tni_cpu_has_fma(void) {
#if defined(__aarch64__) || defined(_M_ARM64) || defined(__FP_FAST_FMA)
    return true;
#else
    return cpu_detect().fma;
#endif
}

static bool cpu_runs(int isa) {
    cpu_features has = cpu_detect();
    switch (isa) {
    case TNI_ISA_SCALAR: return true;
    case TNI_ISA_AVX2: return has.avx2;
    case TNI_ISA_AVX512: return has.avx512;
#if defined(__aarch64__) || defined(_M_ARM64)
    case TNI_ISA_NEON: return true;
#endif
    default: return false;
    }
}

TN_PRIV const char *tni_isa_name(int isa) {
    static const char *const name[TNI_ISA_COUNT] = {"scalar", "avx2", "avx512", "neon"};
    return isa >= 0 && isa < TNI_ISA_COUNT ? name[isa] : "none";
}

TN_PRIV int tni_isa_pick(const char *name) {
    if (!name) name = getenv("TN_ISA");
    bool any = !name || !*name;
    for (int isa = TNI_ISA_COUNT - 1; isa >= 0; isa--)
        if ((any || strcmp(name, tni_isa_name(isa)) == 0) && cpu_runs(isa)) return isa;
    return -1;
}
#undef TNI_CPU_X86
