/* emu_words.h - the words that kernels use: qualifiers, indices, barriers, warp operations,
 * atomics, bits, vectors. They have CUDA's types: a call that nvcc refuses is refused here. */
#ifndef EMU_WORDS_H
#define EMU_WORDS_H

#include "emu_block.h"
#include "emu_memory.h"
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)

#define gridDim emu_grid_dim
#define blockDim emu_block_dim
#define blockIdx emu_block_index
#define threadIdx emu_thread_index
inline constexpr int warpSize = EMU_WARP;

/* --- vectors --------------------------------------------------------------------------------- */

#define EMU_VECTORS(T, name, align2, align4)                   \
    struct alignas(align2) name##2 {                           \
        T x, y;                                                \
    };                                                         \
    struct alignas(align4) name##4 {                           \
        T x, y, z, w;                                          \
    };                                                         \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTORS(unsigned char, uchar, 2, 4)
EMU_VECTORS(unsigned short, ushort, 4, 8)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(unsigned, uint, 8, 16)
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS(double, double, 16, 16)
EMU_VECTORS(long long, longlong, 16, 16)
EMU_VECTORS(unsigned long long, ulonglong, 16, 16)
#undef EMU_VECTORS

/* The device faults at an address that is no multiple of the vector's size; the host does not. */
template <class P>
inline const P *emu_aligned(const void *at) {
    if ((uintptr_t)at % alignof(P))
        emu_stop("a vector of %lld bytes is read or written %lld bytes behind a multiple of them",
                 (long long)alignof(P), (long long)((uintptr_t)at % alignof(P)));
    return (const P *)at;
}
template <class T>
inline T __ldg(const T *at) {
    return *emu_aligned<T>(at);
}

/* --- barriers, warps ------------------------------------------------------------------------- */

template <class T>
inline uint64_t emu_bits_of(T v) {
    static_assert(std::is_arithmetic<T>::value && sizeof v <= 8, "a number of at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
template <class T>
inline T emu_from_bits(uint64_t bits) {
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
/* A line of a kernel that uses one of the words below. `width` parts a warp as in CUDA: a source
 * beyond the own part gives the lane's own value. */
struct emu_word : emu_line {
    template <class T>
    auto shuffle(unsigned mask, T v, int from) const -> decltype(+v) {
        return emu_from_bits<decltype(+v)>(
            emu_warp(EMU_SHUFFLE, mask, emu_bits_of(+v), from, *this));
    }
    int lane() const { return emu_lane(emu_self("a warp operation", line)); }
    int part(int width) const {
        if (width < 1 || width > EMU_WARP || width & (width - 1))
            emu_stop("line %lld: a shuffle of width %lld", line, width);
        return lane() & ~(width - 1);
    }
    template <class T>
    auto up(unsigned mask, T v, unsigned d, int width = EMU_WARP) const {
        const int from = lane() - (int)d;
        return shuffle(mask, v, from < part(width) ? -1 : from);
    }
    template <class T>
    auto down(unsigned mask, T v, unsigned d, int width = EMU_WARP) const {
        const int from = lane() + (int)d;
        return shuffle(mask, v, from >= part(width) + width ? -1 : from);
    }
    template <class T>
    auto exclusive_or(unsigned mask, T v, int d, int width = EMU_WARP) const {
        const int from = lane() ^ d;
        return shuffle(mask, v, from < 0 || from >= part(width) + width ? -1 : from);
    }
    template <class T>
    auto lane_of(unsigned mask, T v, int from, int width = EMU_WARP) const {
        return shuffle(mask, v, part(width) + (from & (width - 1)));
    }
    unsigned ballot(unsigned mask, int p) const {
        return (unsigned)emu_warp(EMU_BALLOT, mask, p != 0, -1, *this);
    }
    int any(unsigned mask, int p) const { return ballot(mask, p) != 0; }
    int every(unsigned mask, int p) const { return ballot(mask, !p) == 0; }
    void warp(unsigned mask = ~0u) const { emu_warp(EMU_SYNC, mask, 0, -1, *this); }
    void block() const { emu_barrier(*this); }
    [[noreturn]] unsigned active() const {
        emu_stop("line %lld: __activemask says which lanes happen to run: give the mask", line);
    }
};
#define EMU_HERE (emu_word{{__FILE__, __LINE__}})
#define __syncthreads EMU_HERE.block
#define __syncwarp EMU_HERE.warp
#define __shfl_sync EMU_HERE.lane_of
#define __shfl_up_sync EMU_HERE.up
#define __shfl_down_sync EMU_HERE.down
#define __shfl_xor_sync EMU_HERE.exclusive_or
#define __ballot_sync EMU_HERE.ballot
#define __any_sync EMU_HERE.any
#define __all_sync EMU_HERE.every
#define __activemask EMU_HERE.active

/* __shared__ T name[n]; and extern __shared__ T name[]; */
#define TNC_SHARED(T, name, n) \
    static char name##_key;    \
    T(&name)[n] = *(T(*)[n])emu_shared(&name##_key, sizeof(T) * (size_t)(n), __LINE__)
#define TNC_SHARED_DYNAMIC(T, name) T *name = (T *)emu_shared_dynamic(__LINE__)

/* --- atomics --------------------------------------------------------------------------------- */

/* Threads run one after another, so a plain read and write is atomic. An atomic of the device alone
 * on memory of the host is a bug that no host would show: the host sees only the _system forms. */
template <class T>
inline T *emu_atomic(T *at) {
    emu_aligned<T>(at);
    if (emu_is_pinned(at)) emu_stop("an atomic on memory of the host: it must be the _system form");
    return at;
}
template <class T, class F>
inline T emu_update(T *at, F f) {
    const T was = *at;
    *at = f(was);
    return was;
}
/* Both forms of an atomic with one operand; `expression` of `was` and v is what it writes. */
#define EMU_ATOMIC(name, T, expression)                                \
    inline T name##_system(T *at, T v) {                               \
        return emu_update(at, [=](T was) { return (T)(expression); }); \
    }                                                                  \
    inline T name(T *at, T v) { return name##_system(emu_atomic(at), v); }
#define EMU_ATOMIC_SUM(T, U) EMU_ATOMIC(atomicAdd, T, (U)was + (U)v)
EMU_ATOMIC_SUM(int, unsigned)
EMU_ATOMIC_SUM(unsigned, unsigned)
EMU_ATOMIC_SUM(unsigned long long, unsigned long long)
EMU_ATOMIC_SUM(float, float)
EMU_ATOMIC_SUM(double, double)
#define EMU_ATOMIC_WHOLE(T)                     \
    EMU_ATOMIC(atomicMax, T, v > was ? v : was) \
    EMU_ATOMIC(atomicMin, T, v < was ? v : was)
EMU_ATOMIC_WHOLE(int)
EMU_ATOMIC_WHOLE(unsigned)
EMU_ATOMIC_WHOLE(long long)
EMU_ATOMIC_WHOLE(unsigned long long)
#define EMU_ATOMIC_BITS(T)           \
    EMU_ATOMIC(atomicOr, T, was | v) \
    EMU_ATOMIC(atomicAnd, T, was &v) \
    EMU_ATOMIC(atomicExch, T, ((void)was, v))
EMU_ATOMIC_BITS(int)
EMU_ATOMIC_BITS(unsigned)
EMU_ATOMIC_BITS(unsigned long long)
EMU_ATOMIC(atomicExch, float, ((void)was, v))
#undef EMU_ATOMIC_SUM
#undef EMU_ATOMIC_WHOLE
#undef EMU_ATOMIC_BITS
#undef EMU_ATOMIC
#define EMU_ATOMIC_CAS(T)                                                  \
    inline T atomicCAS_system(T *at, T is, T v) {                          \
        return emu_update(at, [=](T was) { return was == is ? v : was; }); \
    }                                                                      \
    inline T atomicCAS(T *at, T is, T v) { return atomicCAS_system(emu_atomic(at), is, v); }
EMU_ATOMIC_CAS(int)
EMU_ATOMIC_CAS(unsigned)
EMU_ATOMIC_CAS(unsigned long long)
#undef EMU_ATOMIC_CAS

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

/* --- bits ------------------------------------------------------------------------------------ */

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(1ull * a * b >> 32); }
inline unsigned __float_as_uint(float v) { return emu_from_bits<unsigned>(emu_bits_of(v)); }
inline float __uint_as_float(unsigned v) { return emu_from_bits<float>(v); }
inline int __float_as_int(float v) { return emu_from_bits<int>(emu_bits_of(v)); }
inline float __int_as_float(int v) { return emu_from_bits<float>((unsigned)v); }
inline long long __double_as_longlong(double v) { return emu_from_bits<long long>(emu_bits_of(v)); }
inline double __longlong_as_double(long long v) {
    return emu_from_bits<double>((unsigned long long)v);
}
#endif
