/* tensor_cuda.cu.h - NVIDIA's GPUs as devices of tensor.h.
 *
 * Do this: in ONE .cu file write
 *     #define TENSOR_CUDA_IMPLEMENTATION
 *     #include "tensor_cuda.cu.h"
 * and compile it by nvcc -std=c++17 -fmad=false; tensor.h's own implementation is compiled in
 * another file. It includes tensor.h. Licence: MIT or public domain, at your choice (file
 * LICENSE). */

/* Contents. A chapter begins with its tag: search for "== [3]".
 *
 *   tag  chapter      lines
 *   [1]  cuda            19  the CUDA backend: NVIDIA's GPUs as devices "cuda:0", "cuda:1"
 *
 * The implementation follows the chapters; only the file that defines
 * TENSOR_CUDA_IMPLEMENTATION compiles it. */
#ifndef TNI_CUDA_SECTION
#ifndef TN_TENSOR_CUDA_H
#define TN_TENSOR_CUDA_H

#ifndef TN_CUDA_HEADER_NAME
#define TN_CUDA_HEADER_NAME "tensor_cuda.cu.h"
#endif
#ifndef TN_HEADER_NAME
#define TN_HEADER_NAME "tensor.h"
#endif
/* Not read a second time for nothing. */
#if !defined(TN_TENSOR_H) || \
    (defined(TENSOR_IMPLEMENTATION) && !defined(TNI_IMPLEMENTED))
#include TN_HEADER_NAME
#endif

#if defined(TN_PREFIX) || defined(TN_IMPORT)
#define TNI_CUDA_SECTION 1 /* renames of all symbols, at the end of this file */
#include TN_CUDA_HEADER_NAME
#endif

/* ================================================================================================
 * == [1] cuda.h
 *
 * The CUDA backend: NVIDIA's GPUs as devices "cuda:0", "cuda:1".
 *
 *     char why[200];
 *     if (!tn_backend_add(tn_cuda_backend(why, sizeof why))) puts(why);
 *
 * tensor_cuda.cu.h is included in one .cu file, which nvcc compiles with -fmad=false, and linked to
 * the program; or that file is made a module (nvcc -shared), which tn_device_load("cuda") opens. */

TNI_EXTERN_C_BEGIN

/* The backend, or NULL if there is no driver or no device, and why: a sentence without a full stop,
 * of at most `room` bytes. It lives as long as the process. Any thread. */
TN_API const tn_backend *tn_cuda_backend(char *why, size_t room);

TNI_EXTERN_C_END

#if defined(TN_EXPORT) || defined(TN_IMPORT)
#define TNI_CUDA_SECTION 2 /* table of all functions, at the end of this file */
#include TN_CUDA_HEADER_NAME
#endif

/* 3e9fc36b8491 is the hash of the chapters above: who includes this refers to a symbol of
 * that name, which the implementation has. What does not fit does not link. */
#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && !defined(TN_IMPORT)
TNI_EXTERN_C_BEGIN
TN_API const char tn_cuda_layout_3e9fc36b8491;
#if defined(__GNUC__)
static const char *const tni_cuda_layout __attribute__((used)) = &tn_cuda_layout_3e9fc36b8491;
#endif
TNI_EXTERN_C_END
#endif

#endif /* TN_TENSOR_CUDA_H */

#if defined(TENSOR_CUDA_IMPLEMENTATION) && !defined(TNI_CUDA_IMPLEMENTED)
#define TNI_CUDA_IMPLEMENTED
#ifndef TN_CUDA_HEADER_NAME
#define TN_CUDA_HEADER_NAME "tensor_cuda.cu.h"
#endif
#ifdef __has_include
#if !__has_include(TN_CUDA_HEADER_NAME)
#error "this file has another name: #define TN_CUDA_HEADER_NAME to it before the include"
#endif
#endif
#if !defined(TENSOR_STATIC) && !defined(TN_NO_LAYOUT_CHECK) && TNI_PART(4)
const char tn_cuda_layout_3e9fc36b8491 = 1;
#endif

/* src/tensor_cuda.cu - the root of tensor_cuda.cu.h: the CUDA backend in one translation unit */

/* src/cuda/pinned.cu - memory of the host that devices copy from and to by themselves */

/* src/cuda/memory.cuh - the backend's memory: a cache of what the driver gave */

/* src/cuda/cuda.cuh - what all files of the backend share: the runtime, one device's state, grids */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <mutex>

#ifdef TNC_EMULATION
#include TNC_EMULATION
#else
#include <cuda_runtime.h>
#define TNC_SHARED(T, name, n) __shared__ T name[n]
#define TNC_LAUNCH(kernel, grid, block, stream, ...) \
    (kernel<<<grid, block, 0, stream>>>(__VA_ARGS__), tnc_launched())
#define TNC_LAUNCH_PLAIN TNC_LAUNCH
#endif

#ifdef TNI_OBJECTS
#define TNC_PRIV
#else
#define TNC_PRIV static
#endif
#define TNC_FN static __device__ __forceinline__

enum { TNC_DEVICES = 64 };
struct tnc_fault {
    unsigned long long claim;
    unsigned long long ticket, value, bound;
};
struct tnc_device {
    cudaStream_t stream;
    tnc_fault *fault;
    int processors;
    std::atomic<int> broken;
};
TNC_PRIV tnc_device *tnc_device_at(int32_t device);
TNC_PRIV bool tnc_exact(void);
static inline tnc_device *tnc_device_of(const tn_frame *f) {
    return tnc_device_at(tn_frame_device(f));
}
TNC_PRIV cudaStream_t tnc_stream_of(int32_t device);
static inline cudaStream_t tnc_stream(const tn_frame *f) {
    return tnc_stream_of(tn_frame_device(f));
}
TNC_PRIV void tnc_launched();

enum { TNC_THREADS = 256, TNC_PIECE = 1 << 30 };

static inline unsigned tnc_blocks(int64_t n, int64_t each) {
#ifdef TNC_EMULATED
    static const int64_t most = emu_number("EMU_BLOCKS", 1 << 16);
#else
    const int64_t most = 1 << 16;
#endif
    const int64_t blocks = (n + each - 1) / each;
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}
#define TNC_FIRST() ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define TNC_STEP() ((int64_t)gridDim.x * blockDim.x)

template <int operands>
struct tnc_walk {
    char *at[operands];
    int64_t n;
    int32_t ndim;
    uint32_t size[TN_MAX_DIMS];
    int64_t stride[operands][TN_MAX_DIMS];
};
template <int operands>
TNC_FN void tnc_walk_to(const tnc_walk<operands> &w, uint32_t i, int64_t *at) {
    for (int k = 0; k < operands; k++) at[k] = 0;
    for (int d = 0; d < w.ndim; d++) {
        const uint32_t q = d + 1 < w.ndim ? i / w.size[d] : 0, r = i - q * w.size[d];
        for (int k = 0; k < operands; k++) at[k] += (int64_t)r * w.stride[k][d];
        i = q;
    }
}

static inline int64_t tnc_walk_outer(const tn_walk_plan &p, int from, int k, int64_t i) {
    int64_t at = 0;
    for (int d = from; d < p.ndim; d++) {
        at += i % p.size[d] * p.stride[k][d];
        i /= p.size[d];
    }
    return at;
}
template <int operands, class Run>
static inline void tnc_walk_pieces(const tn_walk_plan &p, const Run &run) {
    tnc_walk<operands> w;
    int64_t inner = 1, outer, rows;
    int cut = 0;
    if (!p.numel) return;
    while (cut < p.ndim - 1 && p.size[cut] <= TNC_PIECE / inner) inner *= p.size[cut++];
    outer = p.numel / inner / p.size[cut];
    rows = TNC_PIECE / inner;
    w.ndim = cut + 1;
    for (int d = 0; d <= cut; d++) {
        w.size[d] = d < cut ? (uint32_t)p.size[d] : 1;
        for (int k = 0; k < operands; k++) w.stride[k][d] = k < p.n ? p.stride[k][d] : 0;
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t row = 0; row < p.size[cut]; row += rows) {
            const int64_t now = p.size[cut] - row < rows ? p.size[cut] - row : rows;
            w.size[cut] = (uint32_t)now;
            w.n = inner * now;
            for (int k = 0; k < operands; k++)
                w.at[k] = k < p.n && p.at[k]
                              ? p.at[k] + row * p.stride[k][cut] + tnc_walk_outer(p, cut + 1, k, o)
                              : NULL;
            run(w);
        }
}

static inline int tnc_dtype_bytes(int dtype) { return (int)tn_dtype_bytes((tn_dtype)dtype); }

TNC_PRIV void *tnc_alloc(int32_t device, int64_t bytes);
TNC_PRIV void tnc_free(int32_t device, void *at);
TNC_PRIV void tnc_trim(int32_t device);
TNC_PRIV void tnc_memory(int32_t device, tn_device_memory_info *to);
TNC_PRIV void tnc_reset_peak(int32_t device);
TNC_PRIV void tnc_limit(int32_t device, int64_t bytes);
TNC_PRIV void *tnc_host_alloc(int32_t device, int64_t bytes);
TNC_PRIV void tnc_host_free(int32_t device, void *at);
TNC_PRIV bool tnc_host_is(const void *at);
TNC_PRIV bool tnc_host_busy(const void *at, cudaStream_t stream);
TNC_PRIV void tnc_host_trim();
TNC_PRIV int64_t tnc_snapshot(int32_t device,
                              void (*each)(const tn_device_piece *piece, void *user), void *user);

#include <map>
#include <new>
#include <vector>

enum : int64_t { PINNED_LEAST = 4096 };

struct pinned_use {
    cudaStream_t stream;
    cudaEvent_t done;
};
struct pinned_block {
    char *at;
    int64_t bytes;
    std::vector<pinned_use> uses;
};
struct pinned_cache {
    std::mutex lock;
    std::map<const char *, pinned_block *> used;
    std::multimap<int64_t, pinned_block *> idle;
    std::vector<pinned_block *> waiting;
};
static pinned_cache pinned_blocks;

static bool pinned_done(pinned_block *p) {
    while (!p->uses.empty()) {
        if (cudaEventQuery(p->uses.back().done) != cudaSuccess) {
            (void)cudaGetLastError();
            return false;
        }
        cudaEventDestroy(p->uses.back().done);
        p->uses.pop_back();
    }
    return true;
}

static void pinned_look() {
    for (size_t i = 0; i < pinned_blocks.waiting.size();) {
        pinned_block *p = pinned_blocks.waiting[i];
        if (!pinned_done(p)) {
            i++;
            continue;
        }
        pinned_blocks.idle.emplace(p->bytes, p);
        pinned_blocks.waiting[i] = pinned_blocks.waiting.back();
        pinned_blocks.waiting.pop_back();
    }
}

static void pinned_release_idle() {
    for (auto &i : pinned_blocks.idle) {
        cudaFreeHost(i.second->at);
        delete i.second;
    }
    pinned_blocks.idle.clear();
}

static pinned_block *pinned_new(int64_t bytes) {
    pinned_block *p = new (std::nothrow) pinned_block();
    void *at = NULL;
    if (!p) return NULL;
    p->bytes = bytes;
    if (cudaHostAlloc(&at, (size_t)bytes, cudaHostAllocPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        pinned_release_idle();
        if (cudaHostAlloc(&at, (size_t)bytes, cudaHostAllocPortable) != cudaSuccess) {
            (void)cudaGetLastError();
            delete p;
            return NULL;
        }
    }
    p->at = (char *)at;
    return p;
}

static std::map<const char *, pinned_block *>::iterator pinned_find(const void *at) {
    auto i = pinned_blocks.used.upper_bound((const char *)at);
    if (i == pinned_blocks.used.begin()) return pinned_blocks.used.end();
    --i;
    return (const char *)at < i->first + i->second->bytes ? i : pinned_blocks.used.end();
}

TNC_PRIV void *tnc_host_alloc(int32_t device, int64_t bytes) {
    std::lock_guard<std::mutex> hold(pinned_blocks.lock);
    int64_t whole = PINNED_LEAST;
    pinned_block *p = NULL;
    while (whole < bytes && whole < INT64_MAX / 2) whole *= 2;
    if (whole < bytes || cudaSetDevice(device) != cudaSuccess) return NULL;
    try {
        pinned_look();
        auto i = pinned_blocks.idle.find(whole);
        if (i != pinned_blocks.idle.end()) {
            p = i->second;
            pinned_blocks.idle.erase(i);
        } else if (!(p = pinned_new(whole))) {
            return NULL;
        }
        pinned_blocks.used[p->at] = p;
    } catch (const std::bad_alloc &) {
        return NULL;
    }
    return p->at;
}

TNC_PRIV void tnc_host_free(int32_t device, void *at) {
    std::lock_guard<std::mutex> hold(pinned_blocks.lock);
    auto i = pinned_blocks.used.find((const char *)at);
    (void)device;
    if (i == pinned_blocks.used.end()) return;
    pinned_block *p = i->second;
    pinned_blocks.used.erase(i);
    try {
        pinned_blocks.waiting.push_back(p);
        pinned_look();
    } catch (const std::bad_alloc &) {}
}

TNC_PRIV bool tnc_host_is(const void *at) {
    std::lock_guard<std::mutex> hold(pinned_blocks.lock);
    return pinned_find(at) != pinned_blocks.used.end();
}

static bool pinned_record(pinned_block *p, cudaStream_t stream) {
    pinned_use use = {stream, NULL};
    for (pinned_use &u : p->uses)
        if (u.stream == stream) return cudaEventRecord(u.done, stream) == cudaSuccess;
    p->uses.reserve(p->uses.size() + 1);
    if (cudaEventCreateWithFlags(&use.done, cudaEventDisableTiming) != cudaSuccess) return false;
    if (cudaEventRecord(use.done, stream) != cudaSuccess) {
        cudaEventDestroy(use.done);
        return false;
    }
    p->uses.push_back(use);
    return true;
}

TNC_PRIV bool tnc_host_busy(const void *at, cudaStream_t stream) {
    std::lock_guard<std::mutex> hold(pinned_blocks.lock);
    auto i = pinned_find(at);
    bool recorded = false;
    if (i == pinned_blocks.used.end()) return false;
    try {
        recorded = pinned_record(i->second, stream);
    } catch (const std::bad_alloc &) {}
    if (!recorded) (void)cudaGetLastError();
    return recorded;
}

TNC_PRIV void tnc_host_trim() {
    std::lock_guard<std::mutex> hold(pinned_blocks.lock);
    for (pinned_block *p : pinned_blocks.waiting)
        for (const pinned_use &u : p->uses) cudaEventSynchronize(u.done);
    try {
        pinned_look();
    } catch (const std::bad_alloc &) {}
    pinned_release_idle();
}

/* src/cuda/memory.cu - a caching allocator: segments from the driver, cut into pieces and joined again, the best fit first */

#include <map>
#include <new>
#include <set>
#include <vector>

enum : int64_t {
    MEMORY_GRAIN = 512,
    MEMORY_SMALL = 1 << 20,
    MEMORY_SMALL_SEGMENT = 2 << 20,
    MEMORY_LARGE_SEGMENT =
        20 << 20
};

struct memory_piece {
    char *at;
    int64_t bytes;
    bool used, small;
    memory_piece *before, *after;
};
struct memory_by_size {
    bool operator()(const memory_piece *a, const memory_piece *b) const {
        return a->bytes != b->bytes ? a->bytes < b->bytes : a->at < b->at;
    }
};
struct memory_cache {
    std::mutex lock;
    std::set<memory_piece *, memory_by_size> idle[2];
    std::map<void *, memory_piece *> used;
    tn_device_memory_info info;
    cudaStream_t stream;
};
static memory_cache memory_caches[TNC_DEVICES];

static void memory_release_idle(memory_cache *c) {
    for (int k = 0; k < 2; k++)
        for (auto i = c->idle[k].begin(); i != c->idle[k].end();) {
            memory_piece *p = *i;
            if (p->before || p->after) {
                ++i;
                continue;
            }
            i = c->idle[k].erase(i);
            cudaFree(p->at);
            c->info.reserved -= p->bytes;
            delete p;
        }
}

static int64_t memory_segment_bytes(int64_t bytes, bool small) {
    if (small) return MEMORY_SMALL_SEGMENT;
    if (bytes < MEMORY_LARGE_SEGMENT / 2) return MEMORY_LARGE_SEGMENT;
    return (bytes + MEMORY_SMALL_SEGMENT - 1) / MEMORY_SMALL_SEGMENT * MEMORY_SMALL_SEGMENT;
}

static bool memory_ask_driver(memory_cache *c, void **at, int64_t bytes) {
    if (c->info.limit && c->info.reserved > c->info.limit - bytes) return false;
    c->info.calls++;
    if (cudaMalloc(at, (size_t)bytes) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
}

static memory_piece *memory_new_segment(memory_cache *c, int64_t bytes, bool small) {
    int64_t whole = memory_segment_bytes(bytes, small);
    void *at = NULL;
    memory_piece *p = new (std::nothrow) memory_piece();
    bool there;
    if (!p) return NULL;
    there = memory_ask_driver(c, &at, whole);
    if (!there) {
        memory_release_idle(c);
        there = memory_ask_driver(c, &at, whole);
    }
    if (!there && whole > bytes) {
        whole = bytes;
        there = memory_ask_driver(c, &at, whole);
    }
    if (!there) {
        delete p;
        return NULL;
    }
    p->at = (char *)at;
    p->bytes = whole;
    p->small = small;
    c->info.reserved += whole;
    return p;
}

static void memory_keep(memory_cache *c, memory_piece *p) {
    try {
        c->idle[p->small].insert(p);
    } catch (const std::bad_alloc &) {}
}

static void memory_cut(memory_cache *c, memory_piece *p, int64_t bytes) {
    memory_piece *rest;
    if (p->bytes - bytes < (p->small ? MEMORY_GRAIN : MEMORY_SMALL)) return;
    rest = new (std::nothrow) memory_piece(*p);
    if (!rest) return;
    rest->at += bytes;
    rest->bytes -= bytes;
    rest->before = p;
    p->after = rest;
    if (rest->after) rest->after->before = rest;
    p->bytes = bytes;
    memory_keep(c, rest);
}

static void memory_join(memory_cache *c, memory_piece *a) {
    memory_piece *b = a->after;
    if (!b || b->used) return;
    c->idle[b->small].erase(b);
    a->bytes += b->bytes;
    a->after = b->after;
    if (b->after) b->after->before = a;
    delete b;
}

static void *memory_take(memory_cache *c, int64_t bytes) {
    const int64_t whole = (bytes + MEMORY_GRAIN - 1) / MEMORY_GRAIN * MEMORY_GRAIN;
    const bool small = whole <= MEMORY_SMALL;
    memory_piece key = {NULL, whole, false, small, NULL, NULL}, *p;
    auto i = c->idle[small].lower_bound(&key);
    if (i != c->idle[small].end()) {
        p = *i;
        c->idle[small].erase(i);
    } else {
        p = memory_new_segment(c, whole, small);
    }
    if (!p) return NULL;
    memory_cut(c, p, whole);
    p->used = true;
    c->used[p->at] = p;
    c->info.used += p->bytes;
    if (c->info.used > c->info.peak) c->info.peak = c->info.used;
#ifdef TNC_EMULATED
    emu_piece(p->at, (size_t)bytes, (size_t)p->bytes, true, c->stream);
#endif
    return p->at;
}

TNC_PRIV void *tnc_alloc(int32_t device, int64_t bytes) {
    memory_cache *c = &memory_caches[device];
    std::lock_guard<std::mutex> hold(c->lock);
    c->stream = tnc_device_at(device)->stream;
    if (bytes > INT64_MAX - MEMORY_LARGE_SEGMENT || cudaSetDevice(device) != cudaSuccess)
        return NULL;
    try {
        return memory_take(c, bytes);
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}

TNC_PRIV void tnc_free(int32_t device, void *at) {
    memory_cache *c = &memory_caches[device];
    std::lock_guard<std::mutex> hold(c->lock);
    auto i = c->used.find(at);
    memory_piece *p;
    if (i == c->used.end()) return;
    p = i->second;
    c->used.erase(i);
    p->used = false;
    c->info.used -= p->bytes;
#ifdef TNC_EMULATED
    emu_piece(p->at, 0, (size_t)p->bytes, false, c->stream);
#endif
    memory_join(c, p);
    if (p->before && !p->before->used) {
        p = p->before;
        c->idle[p->small].erase(p);
        memory_join(c, p);
    }
    memory_keep(c, p);
}

TNC_PRIV void tnc_trim(int32_t device) {
    memory_cache *c = &memory_caches[device];
    tnc_host_trim();
    std::lock_guard<std::mutex> hold(c->lock);
    cudaStreamSynchronize(c->stream);
    memory_release_idle(c);
}

TNC_PRIV void tnc_memory(int32_t device, tn_device_memory_info *to) {
    memory_cache *c = &memory_caches[device];
    std::lock_guard<std::mutex> hold(c->lock);
    *to = c->info;
}

TNC_PRIV void tnc_reset_peak(int32_t device) {
    memory_cache *c = &memory_caches[device];
    std::lock_guard<std::mutex> hold(c->lock);
    c->info.peak = c->info.used;
}

TNC_PRIV void tnc_limit(int32_t device, int64_t bytes) {
    memory_cache *c = &memory_caches[device];
    std::lock_guard<std::mutex> hold(c->lock);
    c->info.limit = bytes;
}

static void memory_list(std::vector<tn_device_piece> *list, const memory_piece *p) {
    const void *segment = p->at;
    for (; p; p = p->after) {
        tn_device_piece one = {p->at, segment, p->bytes, p->used};
        list->push_back(one);
    }
}

TNC_PRIV int64_t tnc_snapshot(int32_t device,
                              void (*each)(const tn_device_piece *piece, void *user), void *user) {
    memory_cache *c = &memory_caches[device];
    std::vector<tn_device_piece> list;
    try {
        std::lock_guard<std::mutex> hold(c->lock);
        for (int k = 0; k < 2; k++)
            for (const memory_piece *p : c->idle[k])
                if (!p->before) memory_list(&list, p);
        for (const auto &i : c->used)
            if (!i.second->before) memory_list(&list, i.second);
    } catch (const std::bad_alloc &) {
        return 0;
    }
    for (const tn_device_piece &piece : list) each(&piece, user);
    return (int64_t)list.size();
}

/* src/cuda/copy.cu - elements to other places of the device: any strides, any dtypes; fills */

/* src/cuda/copy.cuh - copies and fills of whole tensors on a device */

TNC_PRIV void tnc_elements(int32_t device, tn_tensor *dst, const tn_tensor *src);
TNC_PRIV void tnc_move_by(cudaStream_t s, const tn_walk_plan &p, int bytes);
TNC_PRIV void tnc_fill(int32_t device, tn_tensor *dst, const void *unit);
TNC_PRIV void tnc_convert_one(cudaStream_t s, char *to, int to_dtype, const char *from,
                              int from_dtype);

/* src/cuda/elements.cuh - one element of any dtype as a type that is computed in, and back */

/* src/cuda/vocabulary.cuh - the expressions of the rows as functions of the device: the words of the scalar set (simd/), compiled once more */

enum tnc_type { TNC_F32, TNC_F64, TNC_I32, TNC_I64, TNC_C64, TNC_C128, TNC_BOOL, TNC_TYPES };

#pragma push_macro("TNI_INLINE")
#undef TNI_INLINE
#define TNI_INLINE TNC_FN
#define TNI_HELPER_AS TNC_FN
#define TNI_ISA 0
#define TNI_FN(name) TNI_JOIN(name, _cuda)
#define TNI_KERNEL_PATH(name) ((void)0)

/* src/simd/math.h - elementary functions on vectors, for f32 and f64, and division for all four types */

#undef TNI_HELPER
#define TNI_HELPER TNI_HELPER_AS

TNI_HELPER int TNI_FN(tni_trig_large)(double x, double *hi, double *lo) {
    static const uint32_t two_over_pi[2 + 38] = {
        0,           0,
        0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
        0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
        0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
        0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
        0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
        0x1f8d5d08u, 0x56033046u, 0xfc7b6babu};
    uint64_t bits, m, limb[2], carry = 0;
    uint32_t p[6] = {0, 0, 0, 0, 0, 0};
    memcpy(&bits, &x, sizeof bits);
    m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
    limb[0] = m & 0xffffffffu;
    limb[1] = m >> 32;
    int start = (int)(bits >> 52 & 0x7ff) - 1075 - 2 + 64, word = start >> 5, shift = start & 31;
    int q, negative;
    for (int i = 0; i < 6; i++) {
        const uint32_t *w = two_over_pi + word + 5 - i;
        uint64_t v = shift ? (uint32_t)(w[0] << shift | w[1] >> (32 - shift)) : w[0];
        for (int k = 0; k < 2 && i + k < 6; k++) {
            uint64_t sum = v * limb[k] + p[i + k] + (k ? carry : 0);
            p[i + k] = (uint32_t)sum;
            carry = sum >> 32;
        }
        for (int j = i + 2; j < 6 && carry; j++) {
            carry += p[j];
            p[j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    q = (int)(p[5] >> 30);
    negative = (int)(p[5] >> 29 & 1);
    p[5] &= 0x3fffffffu;
    if (negative) {
        q++;
        carry = 1;
        p[5] |= 0xc0000000u;
        for (int i = 0; i < 6; i++) {
            carry += (uint32_t)~p[i];
            p[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    double h = 0, l = 0, scale = 1 / 1073741824.0;
    for (int i = 5; i >= 0; i--, scale *= 1 / 4294967296.0) {
        double t = (double)p[i] * scale, s = h + t;
        l += h == 0 ? 0 : (h - s) + t;
        h = s;
    }
    double s = h * 1.57079632679489656e+00, e = fma(h, 1.57079632679489656e+00, -s);
    e += h * 6.12323399573676604e-17 + l * 1.57079632679489656e+00;
    if ((bits >> 63 != 0) != (negative != 0)) {
        s = -s;
        e = -e;
    }
    *hi = s + e;
    *lo = (s - *hi) + e;
    return (bits >> 63 ? -q : q) & 3;
}

template <class T>
TNC_FN T tnc_real(T v) {
    return v;
}

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

#define TNI_TYPE_F32

/* src/cuda/vocabulary_type.cuh - the expressions of one type, in the order of kernels/type.inl */

/* src/simd/vocabulary.h - the words that kernels are written in: one instruction set, one element type at a time */

#define TNI_SUFFIX f32
#define TNI_FLOATING 1
#define T float

#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))

#if TNI_ISA == 0

/* src/simd/scalar.h - the vocabulary with W = 1: every word is the definition that the vector files must agree with */
#ifndef TNI_SIMD_SCALAR_H
#define TNI_SIMD_SCALAR_H

#define TNI_SCALAR_COMMON(S, E, U)                                           \
    TNI_INLINE E tni_sc_ld_##S(const void *p) {                              \
        E v;                                                                 \
        memcpy(&v, p, sizeof v);                                             \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE void tni_sc_st_##S(void *p, E v) { memcpy(p, &v, sizeof v); } \
    TNI_INLINE E tni_sc_ldn_##S(const void *p, int64_t n) {                  \
        return n > 0 ? tni_sc_ld_##S(p) : (E)0;                              \
    }                                                                        \
    TNI_INLINE void tni_sc_stn_##S(void *p, E v, int64_t n) {                \
        if (n > 0) tni_sc_st_##S(p, v);                                      \
    }                                                                        \
    TNI_INLINE U tni_sc_bits_##S(E v) {                                      \
        U u;                                                                 \
        memcpy(&u, &v, sizeof u);                                            \
        return u;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_from_##S(U u) {                                      \
        E v;                                                                 \
        memcpy(&v, &u, sizeof v);                                            \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_min_##S(E a, E b) { return a < b ? a : b; }          \
    TNI_INLINE E tni_sc_max_##S(E a, E b) { return a > b ? a : b; }          \
    TNI_INLINE E tni_sc_and_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) & tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_or_##S(E a, E b) {                                   \
        return tni_sc_from_##S(tni_sc_bits_##S(a) | tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_xor_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) ^ tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_not_##S(E a) { return tni_sc_from_##S((U)~tni_sc_bits_##S(a)); }
#define TNI_SCALAR_INTEGER(S, E, U)                                        \
    TNI_INLINE E tni_sc_add_##S(E a, E b) { return (E)((U)a + (U)b); }     \
    TNI_INLINE E tni_sc_sub_##S(E a, E b) { return (E)((U)a - (U)b); }     \
    TNI_INLINE E tni_sc_mul_##S(E a, E b) { return (E)((U)a * (U)b); }     \
    TNI_INLINE E tni_sc_abs_##S(E a) { return a < 0 ? (E)(0 - (U)a) : a; } \
    TNI_INLINE E tni_sc_shl_##S(E a, E n) { return (E)((U)a << n); }       \
    TNI_INLINE E tni_sc_shr_##S(E a, E n) { return (E)(a >> n); }          \
    TNI_INLINE E tni_sc_shrl_##S(E a, E n) { return (E)((U)a >> n); }
TNI_SCALAR_COMMON(f32, float, uint32_t)
TNI_SCALAR_COMMON(f64, double, uint64_t)
TNI_SCALAR_COMMON(i32, int32_t, uint32_t)
TNI_SCALAR_COMMON(i64, int64_t, uint64_t)
TNI_SCALAR_INTEGER(i32, int32_t, uint32_t)
TNI_SCALAR_INTEGER(i64, int64_t, uint64_t)
#undef TNI_SCALAR_COMMON
#undef TNI_SCALAR_INTEGER

TNI_INLINE float tni_sc_ldexp_f32(float v, float n) {
    int32_t k = n == n ? (int32_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f32((uint32_t)(h + 127) << 23) *
           tni_sc_from_f32((uint32_t)(k - h + 127) << 23);
}
TNI_INLINE double tni_sc_ldexp_f64(double v, double n) {
    int64_t k = n == n ? (int64_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f64((uint64_t)(h + 1023) << 52) *
           tni_sc_from_f64((uint64_t)(k - h + 1023) << 52);
}
TNI_INLINE float tni_sc_expo_f32(float v) {
    return (float)((int32_t)(tni_sc_bits_f32(v) >> 23) - 127);
}
TNI_INLINE double tni_sc_expo_f64(double v) {
    return (double)((int64_t)(tni_sc_bits_f64(v) >> 52) - 1023);
}
TNI_INLINE float tni_sc_mant_f32(float v) {
    return tni_sc_from_f32((tni_sc_bits_f32(v) & 0x007fffffu) | 0x3f800000u);
}
TNI_INLINE double tni_sc_mant_f64(double v) {
    return tni_sc_from_f64((tni_sc_bits_f64(v) & 0x000fffffffffffffu) | 0x3ff0000000000000u);
}
#if defined(__wasm__)
TNI_INLINE float tni_sc_fma_f32(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    double side = lost * s;
    uint64_t bits = tni_sc_bits_f64(s);
    if (side < 0) bits--;
    if (side < 0 || side > 0) bits |= 1;
    return (float)tni_sc_from_f64(bits);
}
TNI_INLINE double tni_sc_fma_f64(double a, double b, double c) {
    return c == 0 && a != 0 && b != 0 ? a * b : fma(a, b, c);
}
#define TNI_FMA_F32 tni_sc_fma_f32
#define TNI_FMA_F64 tni_sc_fma_f64
TNI_INLINE int tni_sc_truth(int m) {
    __asm__("" : "+r"(m));
    return m;
}
#define TNI_TRUTH(m) tni_sc_truth(m)
#else
#define TNI_FMA_F32 fmaf
#define TNI_FMA_F64 fma
#define TNI_TRUTH(m) (m)
#endif
#endif

#define TNI_S(name) TNI_JOIN(tni_sc_##name##_, TNI_SUFFIX)
#define V T
#define M int
#define W 1
#define V_LD(p) TNI_S(ld)(p)
#define V_ST(p, v) TNI_S(st)(p, v)
#define V_LDN(p, n) TNI_S(ldn)(p, n)
#define V_STN(p, v, n) TNI_S(stn)(p, v, n)
#define V_LD2(p, a, b) (*(a) = V_LD(p), *(b) = V_LD((const T *)(const void *)(p) + 1))
#define V_ST2(p, a, b) (V_ST(p, a), V_ST((T *)(void *)(p) + 1, b))
#define V_SET(s) ((T)(s))
#define V_ZERO() ((T)0)
#define V_MIN(a, b) TNI_S(min)(a, b)
#define V_MAX(a, b) TNI_S(max)(a, b)
#define V_LT(a, b) ((a) < (b))
#define V_LE(a, b) ((a) <= (b))
#define V_GT(a, b) ((a) > (b))
#define V_GE(a, b) ((a) >= (b))
#define V_EQ(a, b) ((a) == (b))
#define V_NE(a, b) ((a) != (b))
#define V_SEL(m, a, b) (TNI_TRUTH(m) ? (a) : (b))
#define M_AND(a, b) ((a) & (b))
#define M_OR(a, b) ((a) | (b))
#define M_XOR(a, b) ((a) ^ (b))
#define M_NOT(a) (!(a))
#define M_ANY(m) (m)
#define V_AND(a, b) TNI_S (and)(a, b)
#define V_OR(a, b) TNI_S(or)(a, b)
#define V_XOR(a, b) TNI_S (xor)(a, b)
#define V_NOT(a) TNI_S(not )(a)
#define V_MST(p, m) (*(uint8_t *)(p) = (uint8_t)(m))
#define M_LD(p) (*(const uint8_t *)(p) != 0)

#define V_ADD(a, b) ((T)((a) + (b)))
#define V_EXPO(a) TNI_S(expo)(a)
#define V_MANT(a) TNI_S(mant)(a)
#define V_SUB(a, b) ((T)((a) - (b)))
#define V_MUL(a, b) ((T)((a) * (b)))
#define V_DIV(a, b) ((T)((a) / (b)))
#define V_NEG(a) (-(a))
#define V_LDEXP(v, n) TNI_S(ldexp)(v, n)
#define V_FMA(a, b, c) TNI_FMA_F32(a, b, c)
#define V_FNMA(a, b, c) TNI_FMA_F32(-(a), b, c)
#define V_ABS(a) fabsf(a)
#define V_SQRT(a) sqrtf(a)
#define V_FLOOR(a) floorf(a)
#define V_CEIL(a) ceilf(a)
#define V_TRUNC(a) truncf(a)
#define V_ROUND(a) rintf(a)
#elif TNI_ISA == 1

/* src/simd/avx2.h - the vocabulary for x86-64 with AVX2, FMA and F16C */
#ifndef TNI_SIMD_AVX2_H
#define TNI_SIMD_AVX2_H

static const int32_t tni_avx2_first[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TNI_INLINE __m256i tni_avx2_mask32(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - n));
}
TNI_INLINE __m256i tni_avx2_mask64(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - 2 * n));
}
TNI_INLINE void tni_avx2_mst32(void *p, __m256i m) {
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(h, h), _mm_set1_epi8(1)));
}
TNI_INLINE void tni_avx2_mst64(void *p, int bits) {
    uint32_t u = ((uint32_t)bits * 0x204081u) & 0x01010101u;
    memcpy(p, &u, 4);
}
TNI_INLINE __m256i tni_avx2_mld32(const void *p) {
    __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_mld64(const void *p) {
    int32_t u;
    memcpy(&u, p, 4);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(u)), _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_not(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }

TNI_INLINE __m256 tni_avx2_ldexp_f32(__m256 v, __m256 n) {
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1), one = _mm256_set1_epi32(127);
    __m256i a = _mm256_slli_epi32(_mm256_add_epi32(h, one), 23);
    __m256i b = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(k, h), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(v, _mm256_castsi256_ps(a)), _mm256_castsi256_ps(b));
}
TNI_INLINE __m256d tni_avx2_ldexp_f64(__m256d v, __m256d n) {
    __m128i k = _mm256_cvtpd_epi32(n), h = _mm_srai_epi32(k, 1), one = _mm_set1_epi32(1023);
    __m256i a = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(h, one)), 52);
    __m256i b =
        _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(_mm_sub_epi32(k, h), one)), 52);
    return _mm256_mul_pd(_mm256_mul_pd(v, _mm256_castsi256_pd(a)), _mm256_castsi256_pd(b));
}
TNI_INLINE __m256 tni_avx2_expo_f32(__m256 v) {
    __m256i k = _mm256_srli_epi32(_mm256_castps_si256(v), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(k, _mm256_set1_epi32(127)));
}
TNI_INLINE __m256d tni_avx2_expo_f64(__m256d v) {
    __m256i k = _mm256_srli_epi64(_mm256_castpd_si256(v), 52);
    k = _mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000));
    return _mm256_sub_pd(_mm256_castsi256_pd(k), _mm256_set1_pd(4503599627371519.0));
}
TNI_INLINE __m256 tni_avx2_mant_f32(__m256 v) {
    v = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(v, _mm256_set1_ps(1.0f));
}
TNI_INLINE __m256d tni_avx2_mant_f64(__m256d v) {
    v = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000fffffffffffff)));
    return _mm256_or_pd(v, _mm256_set1_pd(1.0));
}

TNI_INLINE void tni_avx2_ld2_f32(const float *p, __m256 *a, __m256 *b) {
    __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0x88)),
            odd = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0xdd));
    *a = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *b = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TNI_INLINE void tni_avx2_st2_f32(float *p, __m256 a, __m256 b) {
    __m256 x = _mm256_unpacklo_ps(a, b), y = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(x, y, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(x, y, 0x31));
}
TNI_INLINE void tni_avx2_ld2_f64(const double *p, __m256d *a, __m256d *b) {
    __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
    *a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), 0xd8);
    *b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), 0xd8);
}
TNI_INLINE void tni_avx2_st2_f64(double *p, __m256d a, __m256d b) {
    __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(x, y, 0x20));
    _mm256_storeu_pd(p + 4, _mm256_permute2f128_pd(x, y, 0x31));
}

TNI_INLINE __m256i tni_avx2_mul_i64(__m256i a, __m256i b) {
    __m256i cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    cross = _mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}
TNI_INLINE __m256i tni_avx2_sel(__m256i m, __m256i a, __m256i b) {
    return _mm256_blendv_epi8(b, a, m);
}
TNI_INLINE __m256i tni_avx2_min_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(b, a), a, b);
}
TNI_INLINE __m256i tni_avx2_max_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(a, b), a, b);
}
TNI_INLINE __m256i tni_avx2_abs_i64(__m256i a) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_sub_epi64(_mm256_xor_si256(a, s), s);
}
TNI_INLINE __m256i tni_avx2_shr_i64(__m256i a, __m256i n) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, s), n), s);
}
#endif

#define V __m256
#define M __m256
#define W 8
#define V_LD(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_ps((float *)(void *)(p), v)
#define V_LDN(p, n) _mm256_maskload_ps((const float *)(const void *)(p), tni_avx2_mask32(n))
#define V_STN(p, v, n) _mm256_maskstore_ps((float *)(void *)(p), tni_avx2_mask32(n), v)
#define V_SET(s) _mm256_set1_ps((float)(s))
#define V_LD2(p, a, b) tni_avx2_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx2_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() _mm256_setzero_ps()
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_SUB(a, b) _mm256_sub_ps(a, b)
#define V_MUL(a, b) _mm256_mul_ps(a, b)
#define V_DIV(a, b) _mm256_div_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define V_NEG(a) _mm256_xor_ps(a, _mm256_set1_ps(-0.0f))
#define V_ABS(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#define V_SQRT(a) _mm256_sqrt_ps(a)
#define V_MIN(a, b) _mm256_min_ps(a, b)
#define V_MAX(a, b) _mm256_max_ps(a, b)
#define V_FLOOR(a) _mm256_floor_ps(a)
#define V_CEIL(a) _mm256_ceil_ps(a)
#define V_TRUNC(a) _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm256_cmp_ps(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm256_cmp_ps(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm256_cmp_ps(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm256_blendv_ps(b, a, m)
#define M_AND(a, b) _mm256_and_ps(a, b)
#define M_OR(a, b) _mm256_or_ps(a, b)
#define M_XOR(a, b) _mm256_xor_ps(a, b)
#define M_NOT(a) _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))
#define M_ANY(m) (_mm256_movemask_ps(m) != 0)
#define V_AND(a, b) _mm256_and_ps(a, b)
#define V_OR(a, b) _mm256_or_ps(a, b)
#define V_XOR(a, b) _mm256_xor_ps(a, b)
#define V_NOT(a) M_NOT(a)
#define V_LDEXP(v, n) tni_avx2_ldexp_f32(v, n)
#define V_EXPO(a) tni_avx2_expo_f32(a)
#define V_MANT(a) tni_avx2_mant_f32(a)
#define V_MST(p, m) tni_avx2_mst32(p, _mm256_castps_si256(m))
#define M_LD(p) _mm256_castsi256_ps(tni_avx2_mld32(p))

#elif TNI_ISA == 2

/* src/simd/avx512.h - the vocabulary for x86-64 with AVX-512 F, BW, DQ and VL */
#ifndef TNI_SIMD_AVX512_H
#define TNI_SIMD_AVX512_H

TNI_INLINE __mmask16 tni_avx512_first16(int64_t n) { return (__mmask16)((1u << n) - 1u); }
TNI_INLINE __mmask8 tni_avx512_first8(int64_t n) { return (__mmask8)((1u << n) - 1u); }
TNI_INLINE void tni_avx512_mst16(void *p, __mmask16 m) {
    _mm_storeu_si128((__m128i *)p, _mm_maskz_set1_epi8(m, 1));
}
TNI_INLINE void tni_avx512_mst8(void *p, __mmask8 m) {
    _mm_storel_epi64((__m128i *)p, _mm_maskz_set1_epi8((__mmask16)m, 1));
}
TNI_INLINE __mmask16 tni_avx512_mld16(const void *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return _mm_test_epi8_mask(v, v);
}
TNI_INLINE __mmask8 tni_avx512_mld8(const void *p) {
    __m128i v = _mm_loadl_epi64((const __m128i *)p);
    return (__mmask8)_mm_test_epi8_mask(v, v);
}
TNI_INLINE void tni_avx512_ld2_f32(const float *p, __m512 *a, __m512 *b) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 x = _mm512_loadu_ps(p), y = _mm512_loadu_ps(p + 16);
    *a = _mm512_permutex2var_ps(x, even, y);
    *b = _mm512_permutex2var_ps(x, _mm512_add_epi32(even, _mm512_set1_epi32(1)), y);
}
TNI_INLINE void tni_avx512_st2_f32(float *p, __m512 a, __m512 b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a, low, b));
    _mm512_storeu_ps(p + 16,
                     _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
TNI_INLINE void tni_avx512_ld2_f64(const double *p, __m512d *a, __m512d *b) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512d x = _mm512_loadu_pd(p), y = _mm512_loadu_pd(p + 8);
    *a = _mm512_permutex2var_pd(x, even, y);
    *b = _mm512_permutex2var_pd(x, _mm512_add_epi64(even, _mm512_set1_epi64(1)), y);
}
TNI_INLINE void tni_avx512_st2_f64(double *p, __m512d a, __m512d b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    _mm512_storeu_pd(p, _mm512_permutex2var_pd(a, low, b));
    _mm512_storeu_pd(p + 8,
                     _mm512_permutex2var_pd(a, _mm512_add_epi64(low, _mm512_set1_epi64(4)), b));
}
#endif

#define V __m512
#define M __mmask16
#define W 16
#define V_LD(p) _mm512_loadu_ps((const void *)(p))
#define V_ST(p, v) _mm512_storeu_ps((void *)(p), v)
#define V_LDN(p, n) _mm512_maskz_loadu_ps(tni_avx512_first16(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_ps((void *)(p), tni_avx512_first16(n), v)
#define V_SET(s) _mm512_set1_ps((float)(s))
#define V_LD2(p, a, b) tni_avx512_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx512_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() _mm512_setzero_ps()
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_SUB(a, b) _mm512_sub_ps(a, b)
#define V_MUL(a, b) _mm512_mul_ps(a, b)
#define V_DIV(a, b) _mm512_div_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define V_NEG(a) _mm512_xor_ps(a, _mm512_set1_ps(-0.0f))
#define V_ABS(a) _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a)
#define V_SQRT(a) _mm512_sqrt_ps(a)
#define V_MIN(a, b) _mm512_min_ps(a, b)
#define V_MAX(a, b) _mm512_max_ps(a, b)
#define V_FLOOR(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define V_CEIL(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define V_TRUNC(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define V_AND(a, b) _mm512_and_ps(a, b)
#define V_OR(a, b) _mm512_or_ps(a, b)
#define V_XOR(a, b) _mm512_xor_ps(a, b)
#define V_NOT(a) _mm512_xor_ps(a, _mm512_castsi512_ps(_mm512_set1_epi32(-1)))
#define V_LDEXP(v, n) _mm512_scalef_ps(v, n)
#define V_EXPO(a) _mm512_getexp_ps(a)
#define V_MANT(a) _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)
#define V_MST(p, m) tni_avx512_mst16(p, m)
#define M_LD(p) tni_avx512_mld16(p)

#define TNI_M(m) ((__mmask16)(m))
#define M_AND(a, b) TNI_M((a) & (b))
#define M_OR(a, b) TNI_M((a) | (b))
#define M_XOR(a, b) TNI_M((a) ^ (b))
#define M_NOT(a) TNI_M(~(unsigned)(a))
#define M_ANY(m) ((m) != 0)
#elif TNI_ISA == 3

/* src/simd/neon.h - the vocabulary for aarch64 */
#ifndef TNI_SIMD_NEON_H
#define TNI_SIMD_NEON_H

TNI_INLINE float32x4_t tni_neon_ldn_f32(const void *p, int64_t n) {
    float t[4] = {0, 0, 0, 0};
    memcpy(t, p, (size_t)n * 4);
    return vld1q_f32(t);
}
TNI_INLINE void tni_neon_stn_f32(void *p, float32x4_t v, int64_t n) {
    float t[4];
    vst1q_f32(t, v);
    memcpy(p, t, (size_t)n * 4);
}
TNI_INLINE float64x2_t tni_neon_ldn_f64(const void *p, int64_t n) {
    double t[2] = {0, 0};
    memcpy(t, p, (size_t)n * 8);
    return vld1q_f64(t);
}
TNI_INLINE void tni_neon_stn_f64(void *p, float64x2_t v, int64_t n) {
    double t[2];
    vst1q_f64(t, v);
    memcpy(p, t, (size_t)n * 8);
}
TNI_INLINE int32x4_t tni_neon_ldn_i32(const void *p, int64_t n) {
    return vreinterpretq_s32_f32(tni_neon_ldn_f32(p, n));
}
TNI_INLINE void tni_neon_stn_i32(void *p, int32x4_t v, int64_t n) {
    tni_neon_stn_f32(p, vreinterpretq_f32_s32(v), n);
}
TNI_INLINE int64x2_t tni_neon_ldn_i64(const void *p, int64_t n) {
    return vreinterpretq_s64_f64(tni_neon_ldn_f64(p, n));
}
TNI_INLINE void tni_neon_stn_i64(void *p, int64x2_t v, int64_t n) {
    tni_neon_stn_f64(p, vreinterpretq_f64_s64(v), n);
}
TNI_INLINE void tni_neon_mst32(void *p, uint32x4_t m) {
    uint16x4_t h = vmovn_u32(m);
    uint8x8_t b = vand_u8(vmovn_u16(vcombine_u16(h, h)), vdup_n_u8(1));
    vst1_lane_u32((uint32_t *)p, vreinterpret_u32_u8(b), 0);
}
TNI_INLINE void tni_neon_mst64(void *p, uint64x2_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(vgetq_lane_u64(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(vgetq_lane_u64(m, 1) & 1);
}
TNI_INLINE uint32x4_t tni_neon_mld32(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint32_t t[4] = {q[0], q[1], q[2], q[3]};
    uint32x4_t v = vld1q_u32(t);
    return vtstq_u32(v, v);
}
TNI_INLINE uint64x2_t tni_neon_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint64_t t[2] = {q[0], q[1]};
    uint64x2_t v = vld1q_u64(t);
    return vtstq_u64(v, v);
}
TNI_INLINE float32x4_t tni_neon_ldexp_f32(float32x4_t v, float32x4_t n) {
    int32x4_t k = vcvtq_s32_f32(n), h = vshrq_n_s32(k, 1), one = vdupq_n_s32(127);
    float32x4_t a = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(h, one), 23));
    float32x4_t b = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(k, h), one), 23));
    return vmulq_f32(vmulq_f32(v, a), b);
}
TNI_INLINE float64x2_t tni_neon_ldexp_f64(float64x2_t v, float64x2_t n) {
    int64x2_t k = vcvtq_s64_f64(n), h = vshrq_n_s64(k, 1), one = vdupq_n_s64(1023);
    float64x2_t a = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(h, one), 52));
    float64x2_t b = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vsubq_s64(k, h), one), 52));
    return vmulq_f64(vmulq_f64(v, a), b);
}
TNI_INLINE float32x4_t tni_neon_min_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
TNI_INLINE float32x4_t tni_neon_max_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_min_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_max_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_min_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcltq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_max_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcgtq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_mul_i64(int64x2_t a, int64x2_t b) {
    int64x2_t v =
        vdupq_n_s64((int64_t)((uint64_t)vgetq_lane_s64(a, 0) * (uint64_t)vgetq_lane_s64(b, 0)));
    return vsetq_lane_s64(
        (int64_t)((uint64_t)vgetq_lane_s64(a, 1) * (uint64_t)vgetq_lane_s64(b, 1)), v, 1);
}
TNI_INLINE uint64x2_t tni_neon_not64(uint64x2_t m) {
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m)));
}
TNI_INLINE float32x4_t tni_neon_bits_f32(uint32x4_t u) { return vreinterpretq_f32_u32(u); }
TNI_INLINE uint32x4_t tni_neon_u32(float32x4_t v) { return vreinterpretq_u32_f32(v); }
TNI_INLINE float64x2_t tni_neon_bits_f64(uint64x2_t u) { return vreinterpretq_f64_u64(u); }
TNI_INLINE uint64x2_t tni_neon_u64(float64x2_t v) { return vreinterpretq_u64_f64(v); }
TNI_INLINE void tni_neon_ld2_f32(const float *p, float32x4_t *a, float32x4_t *b) {
    float32x4x2_t v = vld2q_f32(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f32(float *p, float32x4_t a, float32x4_t b) {
    float32x4x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f32(p, v);
}
TNI_INLINE void tni_neon_ld2_f64(const double *p, float64x2_t *a, float64x2_t *b) {
    float64x2x2_t v = vld2q_f64(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f64(double *p, float64x2_t a, float64x2_t b) {
    float64x2x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f64(p, v);
}
TNI_INLINE float32x4_t tni_neon_expo_f32(float32x4_t v) {
    int32x4_t k = vreinterpretq_s32_u32(vshrq_n_u32(tni_neon_u32(v), 23));
    return vcvtq_f32_s32(vsubq_s32(k, vdupq_n_s32(127)));
}
TNI_INLINE float64x2_t tni_neon_expo_f64(float64x2_t v) {
    int64x2_t k = vreinterpretq_s64_u64(vshrq_n_u64(tni_neon_u64(v), 52));
    return vcvtq_f64_s64(vsubq_s64(k, vdupq_n_s64(1023)));
}
TNI_INLINE float32x4_t tni_neon_mant_f32(float32x4_t v) {
    uint32x4_t u = vandq_u32(tni_neon_u32(v), vdupq_n_u32(0x007fffffu));
    return tni_neon_bits_f32(vorrq_u32(u, vdupq_n_u32(0x3f800000u)));
}
TNI_INLINE float64x2_t tni_neon_mant_f64(float64x2_t v) {
    uint64x2_t u = vandq_u64(tni_neon_u64(v), vdupq_n_u64(0x000fffffffffffffu));
    return tni_neon_bits_f64(vorrq_u64(u, vdupq_n_u64(0x3ff0000000000000u)));
}
#endif

#define V float32x4_t
#define V_LD(p) vld1q_f32((const float *)(const void *)(p))
#define V_ST(p, v) vst1q_f32((float *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_f32(p, n)
#define V_STN(p, v, n) tni_neon_stn_f32(p, v, n)
#define V_SET(s) vdupq_n_f32((float)(s))
#define V_LD2(p, a, b) tni_neon_ld2_f32((const float *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_neon_st2_f32((float *)(void *)(p), a, b)
#define V_ZERO() vdupq_n_f32(0)
#define V_ADD(a, b) vaddq_f32(a, b)
#define V_SUB(a, b) vsubq_f32(a, b)
#define V_MUL(a, b) vmulq_f32(a, b)
#define V_DIV(a, b) vdivq_f32(a, b)
#define V_FMA(a, b, c) vfmaq_f32(c, a, b)
#define V_FNMA(a, b, c) vfmsq_f32(c, a, b)
#define V_NEG(a) vnegq_f32(a)
#define V_ABS(a) vabsq_f32(a)
#define V_SQRT(a) vsqrtq_f32(a)
#define V_MIN(a, b) tni_neon_min_f32(a, b)
#define V_MAX(a, b) tni_neon_max_f32(a, b)
#define V_FLOOR(a) vrndmq_f32(a)
#define V_CEIL(a) vrndpq_f32(a)
#define V_TRUNC(a) vrndq_f32(a)
#define V_ROUND(a) vrndnq_f32(a)
#define V_LT(a, b) vcltq_f32(a, b)
#define V_LE(a, b) vcleq_f32(a, b)
#define V_GT(a, b) vcgtq_f32(a, b)
#define V_GE(a, b) vcgeq_f32(a, b)
#define V_EQ(a, b) vceqq_f32(a, b)
#define V_SEL(m, a, b) vbslq_f32(m, a, b)
#define V_AND(a, b) tni_neon_bits_f32(vandq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_OR(a, b) tni_neon_bits_f32(vorrq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_XOR(a, b) tni_neon_bits_f32(veorq_u32(tni_neon_u32(a), tni_neon_u32(b)))
#define V_NOT(a) tni_neon_bits_f32(vmvnq_u32(tni_neon_u32(a)))
#define V_LDEXP(v, n) tni_neon_ldexp_f32(v, n)
#define V_EXPO(a) tni_neon_expo_f32(a)
#define V_MANT(a) tni_neon_mant_f32(a)

#define M uint32x4_t
#define W 4
#define M_AND(a, b) vandq_u32(a, b)
#define M_OR(a, b) vorrq_u32(a, b)
#define M_XOR(a, b) veorq_u32(a, b)
#define M_NOT(a) vmvnq_u32(a)
#define M_ANY(m) (vmaxvq_u32(m) != 0)
#define V_MST(p, m) tni_neon_mst32(p, m)
#define M_LD(p) tni_neon_mld32(p)
#define V_NE(a, b) M_NOT(V_EQ(a, b))
#elif TNI_ISA == 4

/* src/simd/wasm128.h - the vocabulary for WebAssembly with 128-bit SIMD (emcc -msimd128) */
#ifndef TNI_SIMD_WASM128_H
#define TNI_SIMD_WASM128_H

TNI_INLINE v128_t tni_wasm_ldn(const void *p, int64_t n, size_t each) {
    v128_t v = wasm_i64x2_splat(0);
    memcpy(&v, p, (size_t)n * each);
    return v;
}
TNI_INLINE void tni_wasm_stn(void *p, v128_t v, int64_t n, size_t each) {
    memcpy(p, &v, (size_t)n * each);
}
TNI_INLINE void tni_wasm_mst32(void *p, v128_t m) {
    v128_t h = wasm_i16x8_narrow_i32x4(m, m);
    v128_t b = wasm_v128_and(wasm_i8x16_narrow_i16x8(h, h), wasm_i8x16_splat(1));
    wasm_v128_store32_lane(p, b, 0);
}
TNI_INLINE void tni_wasm_mst64(void *p, v128_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(wasm_i64x2_extract_lane(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(wasm_i64x2_extract_lane(m, 1) & 1);
}
TNI_INLINE v128_t tni_wasm_mld32(const void *p) {
    v128_t v = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
    return wasm_i32x4_ne(wasm_u32x4_extend_low_u16x8(v), wasm_i32x4_splat(0));
}
TNI_INLINE v128_t tni_wasm_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    return wasm_i64x2_ne(wasm_i64x2_make(q[0], q[1]), wasm_i64x2_splat(0));
}

TNI_INLINE v128_t tni_wasm_low(v128_t a) { return wasm_f64x2_promote_low_f32x4(a); }
TNI_INLINE v128_t tni_wasm_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1));
}
TNI_INLINE v128_t tni_wasm_floats(v128_t low, v128_t high) {
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high),
                              0, 2);
}
TNI_INLINE v128_t tni_wasm_to_odd(v128_t p, v128_t c) {
    v128_t s = wasm_f64x2_add(p, c), t = wasm_f64x2_sub(s, p), zero = wasm_f64x2_splat(0);
    v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(c, t));
    v128_t side = wasm_f64x2_mul(lost, s);
    v128_t beyond = wasm_f64x2_lt(side, zero), before = wasm_f64x2_gt(side, zero);
    v128_t odd = wasm_u64x2_shr(wasm_v128_or(beyond, before), 63);
    return wasm_v128_or(wasm_i64x2_add(s, beyond), odd);
}
static TNI_NOINLINE v128_t tni_wasm_fma_once(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    return tni_wasm_floats(tni_wasm_to_odd(p, tni_wasm_low(c)),
                           tni_wasm_to_odd(q, tni_wasm_high(c)));
}
TNI_INLINE v128_t tni_wasm_fma_f32(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    v128_t s = wasm_f64x2_add(p, tni_wasm_low(c)), t = wasm_f64x2_add(q, tni_wasm_high(c));
    v128_t sum = tni_wasm_floats(s, t), tail = wasm_i32x4_shuffle(s, t, 0, 2, 4, 6);
    v128_t halfway = wasm_i32x4_eq(wasm_v128_and(tail, wasm_i32x4_splat(0x1fffffff)),
                                   wasm_i32x4_splat(0x10000000));
    v128_t small = wasm_f32x4_le(wasm_f32x4_abs(sum), wasm_f32x4_splat(1.17549435e-38f));
    v128_t denormal = wasm_v128_and(small, wasm_f32x4_ne(sum, wasm_f32x4_splat(0)));
    if (TNI_LIKELY(!wasm_v128_any_true(wasm_v128_or(halfway, denormal)))) return sum;
    return tni_wasm_fma_once(a, b, c);
}
TNI_INLINE v128_t tni_wasm_fma_f64(v128_t a, v128_t b, v128_t c) {
    return wasm_f64x2_make(
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 0), wasm_f64x2_extract_lane(b, 0),
                       wasm_f64x2_extract_lane(c, 0)),
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 1), wasm_f64x2_extract_lane(b, 1),
                       wasm_f64x2_extract_lane(c, 1)));
}

TNI_INLINE v128_t tni_wasm_ldexp_f32(v128_t v, v128_t n) {
    v128_t k = wasm_i32x4_trunc_sat_f32x4(n), h = wasm_i32x4_shr(k, 1);
    v128_t one = wasm_i32x4_splat(127), a = wasm_i32x4_shl(wasm_i32x4_add(h, one), 23);
    v128_t b = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(k, h), one), 23);
    return wasm_f32x4_mul(wasm_f32x4_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_ldexp_f64(v128_t v, v128_t n) {
    v128_t k = wasm_i64x2_extend_low_i32x4(wasm_i32x4_trunc_sat_f64x2_zero(n));
    v128_t h = wasm_i64x2_shr(k, 1), one = wasm_i64x2_splat(1023);
    v128_t a = wasm_i64x2_shl(wasm_i64x2_add(h, one), 52);
    v128_t b = wasm_i64x2_shl(wasm_i64x2_add(wasm_i64x2_sub(k, h), one), 52);
    return wasm_f64x2_mul(wasm_f64x2_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_expo_f32(v128_t v) {
    v128_t k = wasm_u32x4_shr(v, 23);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(k, wasm_i32x4_splat(127)));
}
TNI_INLINE v128_t tni_wasm_expo_f64(v128_t v) {
    v128_t k = wasm_v128_or(wasm_u64x2_shr(v, 52), wasm_i64x2_splat(0x4330000000000000));
    return wasm_f64x2_sub(k, wasm_f64x2_splat(4503599627371519.0));
}
TNI_INLINE v128_t tni_wasm_mant_f32(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i32x4_splat(0x007fffff));
    return wasm_v128_or(u, wasm_i32x4_splat(0x3f800000));
}
TNI_INLINE v128_t tni_wasm_mant_f64(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i64x2_splat(0x000fffffffffffff));
    return wasm_v128_or(u, wasm_i64x2_splat(0x3ff0000000000000));
}
TNI_INLINE void tni_wasm_ld2_f32(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i32x4_shuffle(x, y, 0, 2, 4, 6);
    *b = wasm_i32x4_shuffle(x, y, 1, 3, 5, 7);
}
TNI_INLINE void tni_wasm_st2_f32(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5));
    wasm_v128_store(p + 16, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
TNI_INLINE void tni_wasm_ld2_f64(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i64x2_shuffle(x, y, 0, 2);
    *b = wasm_i64x2_shuffle(x, y, 1, 3);
}
TNI_INLINE void tni_wasm_st2_f64(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i64x2_shuffle(a, b, 0, 2));
    wasm_v128_store(p + 16, wasm_i64x2_shuffle(a, b, 1, 3));
}
TNI_INLINE v128_t tni_wasm_min_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_lt(a, b));
}
TNI_INLINE v128_t tni_wasm_max_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_gt(a, b));
}
#define TNI_WASM_SHIFT(name, word, E, N)                              \
    TNI_INLINE v128_t tni_wasm_##name(v128_t a, v128_t n) {           \
        E x[N], by[N];                                                \
        wasm_v128_store(x, a);                                        \
        wasm_v128_store(by, n);                                       \
        for (int i = 0; i < N; i++) x[i] = tni_sc_##word(x[i], by[i]); \
        return wasm_v128_load(x);                                     \
    }
TNI_WASM_SHIFT(shl_i32, shl_i32, int32_t, 4)
TNI_WASM_SHIFT(shr_i32, shr_i32, int32_t, 4)
TNI_WASM_SHIFT(shl_i64, shl_i64, int64_t, 2)
TNI_WASM_SHIFT(shr_i64, shr_i64, int64_t, 2)
#undef TNI_WASM_SHIFT
#endif

#define V v128_t
#define M v128_t
#define V_LD(p) wasm_v128_load(p)
#define V_ST(p, v) wasm_v128_store(p, v)
#define V_LDN(p, n) tni_wasm_ldn(p, n, sizeof(T))
#define V_STN(p, v, n) tni_wasm_stn(p, v, n, sizeof(T))
#define V_ZERO() wasm_i64x2_splat(0)
#define V_SEL(m, a, b) wasm_v128_bitselect(a, b, m)
#define M_AND(a, b) wasm_v128_and(a, b)
#define M_OR(a, b) wasm_v128_or(a, b)
#define M_XOR(a, b) wasm_v128_xor(a, b)
#define M_NOT(a) wasm_v128_not(a)
#define M_ANY(m) wasm_v128_any_true(m)
#define V_AND(a, b) wasm_v128_and(a, b)
#define V_OR(a, b) wasm_v128_or(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_NOT(a) wasm_v128_not(a)

#define W 4
#define V_SET(s) wasm_f32x4_splat((float)(s))
#define V_LD2(p, a, b) tni_wasm_ld2_f32((const char *)(p), a, b)
#define V_ST2(p, a, b) tni_wasm_st2_f32((char *)(p), a, b)
#define V_ADD(a, b) wasm_f32x4_add(a, b)
#define V_SUB(a, b) wasm_f32x4_sub(a, b)
#define V_MUL(a, b) wasm_f32x4_mul(a, b)
#define V_DIV(a, b) wasm_f32x4_div(a, b)
#define V_FMA(a, b, c) tni_wasm_fma_f32(a, b, c)
#define V_FNMA(a, b, c) tni_wasm_fma_f32(wasm_f32x4_neg(a), b, c)
#define V_NEG(a) wasm_f32x4_neg(a)
#define V_ABS(a) wasm_f32x4_abs(a)
#define V_SQRT(a) wasm_f32x4_sqrt(a)
#define V_MIN(a, b) wasm_f32x4_pmin(b, a)
#define V_MAX(a, b) wasm_f32x4_pmax(b, a)
#define V_FLOOR(a) wasm_f32x4_floor(a)
#define V_CEIL(a) wasm_f32x4_ceil(a)
#define V_TRUNC(a) wasm_f32x4_trunc(a)
#define V_ROUND(a) wasm_f32x4_nearest(a)
#define V_LT(a, b) wasm_f32x4_lt(a, b)
#define V_LE(a, b) wasm_f32x4_le(a, b)
#define V_GT(a, b) wasm_f32x4_gt(a, b)
#define V_GE(a, b) wasm_f32x4_ge(a, b)
#define V_EQ(a, b) wasm_f32x4_eq(a, b)
#define V_NE(a, b) wasm_f32x4_ne(a, b)
#define V_LDEXP(v, n) tni_wasm_ldexp_f32(v, n)
#define V_EXPO(a) tni_wasm_expo_f32(a)
#define V_MANT(a) tni_wasm_mant_f32(a)
#define V_MST(p, m) tni_wasm_mst32(p, m)
#define M_LD(p) tni_wasm_mld32(p)

#endif

#define V_ONE V_SET(1)
#define V_PARAM(p, i) V_SET(((const T *)(p))[i])
#define V_ISNAN(a) TNI_FNT(tni_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_isfinite)(a)
#define V_SIGN(a) TNI_FNT(tni_sign)(a)
#define V_SIGNBIT(a) TNI_FNT(tni_signbit)(a)
#define V_SQUARE(a) TNI_FNT(tni_square)(a)
#define V_CONJ(a) (a)
#define V_ST_REAL(p, v) V_ST(p, v)
#define V_WITHIN(a, r) V_LT(V_ABS(a), V_SET(r))
#define V_MAXIMUM(a, b) TNI_FNT(tni_maximum)(a, b)
#define V_MINIMUM(a, b) TNI_FNT(tni_minimum)(a, b)
#define V_FLOORDIV(a, b) TNI_FNT(tni_floordiv)(a, b)
#define V_TRUNCDIV(a, b) TNI_FNT(tni_truncdiv)(a, b)
#define V_REMAINDER(a, b) TNI_FNT(tni_remainder)(a, b)
#define V_FMOD(a, b) TNI_FNT(tni_fmod)(a, b)
#define V_POW(a, b) TNI_FNT(tni_pow)(a, b)
#define V_COPYSIGN(a, b) TNI_FNT(tni_copysign)(a, b)
#define V_HYPOT(a, b) TNI_FNT(tni_hypot)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_logaddexp)(a, b)
#define V_LOGADDEXP2(a, b) TNI_FNT(tni_logaddexp2)(a, b)
#define V_NEXTAFTER(a, b) TNI_FNT(tni_nextafter)(a, b)
#define V_EXP(a) TNI_FNT(tni_exp)(a)
#define V_EXPM1(a) TNI_FNT(tni_expm1)(a)
#define V_LOG(a) TNI_FNT(tni_log)(a)
#define V_LOG1P(a) TNI_FNT(tni_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_log2)(a)
#define V_LOG10(a) TNI_FNT(tni_log10)(a)
#define V_SIN(a) TNI_FNT(tni_sin)(a)
#define V_COS(a) TNI_FNT(tni_cos)(a)
#define V_TAN(a) TNI_FNT(tni_tan)(a)
#define V_TANH(a) TNI_FNT(tni_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_sigmoid)(a)
#define V_ERF(a) TNI_FNT(tni_erf)(a)
#define V_LGAMMA(a) TNI_FNT(tni_lgamma)(a)
#define V_DIGAMMA(a) TNI_FNT(tni_digamma)(a)
#define V_ATAN(a) TNI_FNT(tni_atan)(a)
#define V_ATAN2(a, b) TNI_FNT(tni_atan2)(a, b)
#define V_ASIN(a) TNI_FNT(tni_asin)(a)
#define V_ACOS(a) TNI_FNT(tni_acos)(a)
#define V_SINH(a) TNI_FNT(tni_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_cosh)(a)
#define V_ANGLE(a) TNI_FNT(tni_angle)(a)

/* src/simd/math_float.h - the functions of math.h for one floating type */

#define K(f, d) V_SET(f)
#define H(c) p = V_FMA(p, z, V_SET(c))
#define K_INF V_SET(INFINITY)
#define K_NAN V_SET(NAN)
#define K_LIMIT 32768.0f
#define LN2_HI K(6.931471825e-01, 6.93147180559945286e-01)
#define LN2_LO K(-1.904654212e-09, 2.31904681384629956e-17)

TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_EQ(V_ABS(x), K_INF); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_LT(V_ABS(x), K_INF); }
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_copysign)(V x, V sign) { return V_OR(V_ABS(x), V_AND(sign, V_SET(-0.0))); }
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(TNI_FNT(tni_copysign)(V_ONE, x), V_ZERO()); }
TNI_INLINE V TNI_FNT(tni_sign)(V x) {
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}

TNI_INLINE V TNI_FNT(tni_angle)(V x) {
    V side = V_SEL(V_LT(x, V_ZERO()), V_SET(3.14159265358979323846), V_ZERO());
    return V_SEL(V_NE(x, x), x, side);
}

TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_SEL(M_OR(V_GT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_SEL(M_OR(V_LT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return V_TRUNC(V_DIV(a, b)); }

TNI_HELPER V TNI_FNT(tni_hypot)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), large = V_MAX(a, b), little = V_MIN(a, b), zero = V_ZERO();
    V huge = K(1.2676506002282294e+30, 4.1495155688809930e+180),
      tiny = K(7.8886090522101181e-31, 2.4099198651028841e-181);
    M high = V_GT(large, K(1152921504606846976.0, 3.2733906078961419e+150)),
      deep = V_LT(large, K(9.0949470177292824e-13, 3.8725919148493183e-121));
    V up = V_SEL(high, tiny, V_SEL(deep, huge, V_ONE)),
      down = V_SEL(high, huge, V_SEL(deep, tiny, V_ONE));
    V l = V_MUL(large, up), s = V_MUL(little, up), h = V_SQRT(V_FMA(l, l, V_MUL(s, s)));
    V hh = V_MUL(h, h), ll = V_MUL(l, l), off = V_FNMA(s, s, V_SUB(hh, ll));
    off = V_ADD(off, V_SUB(V_FMA(h, h, V_NEG(hh)), V_FMA(l, l, V_NEG(ll))));
    h = V_MUL(V_SUB(h, V_DIV(off, V_ADD(h, h))), down);
    h = V_SEL(V_EQ(large, zero), zero, h);
    h = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), h);
    return V_SEL(M_OR(V_EQ(a, K_INF), V_EQ(b, K_INF)), K_INF, h);
}

TNI_HELPER V TNI_FNT(tni_nextafter)(V x, V y) {
    V a = V_ABS(x), zero = V_ZERO(), least = K(1.401298464e-45, 4.9406564584124654e-324);
    M fixed = V_LT(a, K(2.350988702e-38, 4.4501477170144028e-308)),
        shrinks = M_XOR(V_GT(x, y), V_LT(x, zero));
    V by = V_SEL(fixed, least, K(5.960465188e-08, 1.1102230246251568e-16));
    V next = V_FMA(V_SEL(shrinks, V_NEG(by), by), V_SEL(fixed, V_ONE, a), a);
    next = V_SEL(M_AND(shrinks, V_EQ(a, K_INF)), K(3.402823466e+38, 1.7976931348623157e+308), next);
    next = V_SEL(V_EQ(a, zero), TNI_FNT(tni_copysign)(least, y), TNI_FNT(tni_copysign)(next, x));
    next = V_SEL(V_EQ(x, y), y, next);
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), next);
}

#define EXP_LOW -104
#define EXP_HIGH 90

TNI_INLINE V TNI_FNT(tni_exp_poly)(V z) {
    V p = V_SET(1.990770397e-04);
    H(1.393373590e-03);
    H(8.333286270e-03);
    H(4.166646302e-02);
    H(1.666666716e-01);
    H(0.5);
    return p;
}
TNI_INLINE V TNI_FNT(tni_exp_parts)(V x, V *r, V *s) {
    x = V_MAX(V_SET(EXP_LOW), V_MIN(V_SET(EXP_HIGH), x));
    V n = V_ROUND(V_MUL(x, V_SET(1.44269504088896339)));
    V a = V_FNMA(n, LN2_HI, x), b = V_MUL(n, LN2_LO);
    *r = V_SUB(a, b);
    *s = V_FMA(V_MUL(*r, *r), TNI_FNT(tni_exp_poly)(*r), V_SUB(V_SUB(a, *r), b));
    return n;
}
TNI_HELPER V TNI_FNT(tni_exp)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), n);
}
TNI_HELPER V TNI_FNT(tni_exp_half)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), V_SUB(n, V_ONE));
}
TNI_INLINE V TNI_FNT(tni_expm1_parts)(V x, V *lo) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s), t = V_LDEXP(V_ONE, V_SUB(n, V_ONE));
    V a = V_SUB(t, V_SET(0.5)), c = V_SUB(a, t),
      al = V_SUB(V_SUB(t, V_SUB(a, c)), V_ADD(V_SET(0.5), c));
    V b = V_MUL(t, r), sum = V_ADD(a, b), rest = V_FMA(t, s, V_ADD(V_ADD(V_SUB(a, sum), b), al));
    V hi = V_ADD(sum, rest);
    *lo = V_ADD(V_SUB(sum, hi), rest);
    return hi;
}
TNI_HELPER V TNI_FNT(tni_expm1)(V x) {
    V lo, y = TNI_FNT(tni_expm1_parts)(x, &lo);
    y = V_SEL(V_LT(x, V_SET(EXP_HIGH)), V_ADD(y, y), V_ADD(x, K_INF));
    return V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y);
}
TNI_HELPER V TNI_FNT(tni_sigmoid)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(V_NEG(V_ABS(x)), &r, &s);
    V u = V_ADD(r, s), h = V_ADD(V_ONE, u),
      l = V_ADD(V_ADD(V_SUB(V_ONE, h), u), V_ADD(V_SUB(r, u), s));
    V e = V_LDEXP(h, n), el = V_LDEXP(l, n), d = V_ADD(V_ONE, e),
      dl = V_ADD(V_ADD(V_SUB(V_ONE, d), e), el);
    M positive = V_GE(x, V_ZERO());
    V t = V_SEL(positive, V_ONE, e), tl = V_SEL(positive, V_ZERO(), el), i = V_DIV(V_ONE, d),
      q = V_MUL(t, i);
    return V_FMA(V_FNMA(q, dl, V_ADD(V_FNMA(q, d, t), tl)), i, q);
}
TNI_HELPER V TNI_FNT(tni_tanh)(V x) {
    V a = V_MIN(K(10, 20), V_ABS(x)), l, h = TNI_FNT(tni_expm1_parts)(V_MUL(a, V_SET(-2)), &l);
    V d = V_ADD(V_ONE, h), dl = V_ADD(V_ADD(V_SUB(V_ONE, d), h), l), i = V_DIV(V_ONE, d),
      q = V_NEG(V_MUL(h, i));
    V rest = V_FNMA(q, dl, V_SUB(V_FNMA(q, d, V_NEG(h)), l));
    q = V_SEL(V_LT(a, V_SET(1e-20)), a, V_FMA(rest, i, q));
    return TNI_FNT(tni_copysign)(q, x);
}
TNI_HELPER V TNI_FNT(tni_sinh)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_expm1_parts)(V_MIN(V_SET(20), a), &l);
    V y = V_ADD(h, V_ADD(V_DIV(h, V_FMA(V_SET(2), h, V_ONE)), l));
    y = V_SEL(V_LT(a, V_SET(20)), y, TNI_FNT(tni_exp_half)(a));
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(a, V_SET(1e-20)), a, y), x);
}
TNI_HELPER V TNI_FNT(tni_cosh)(V x) {
    V a = V_ABS(x), h = TNI_FNT(tni_exp_half)(a), y = V_ADD(h, V_DIV(V_SET(0.25), h));
    return V_SEL(V_LT(a, V_SET(20)), y, h);
}

TNI_INLINE V TNI_FNT(tni_log_split)(V x, V *f) {
    M little = V_LT(x, K(1.17549435e-38, 2.2250738585072014e-308));
    x = V_SEL(little, V_MUL(x, K(16777216, 18014398509481984.0)), x);
    V e = V_SUB(V_EXPO(x), V_SEL(little, K(24, 54), V_ZERO())), m = V_MANT(x);
    M upper = V_GT(m, V_SET(1.41421356237309505));
    *f = V_SUB(V_SEL(upper, V_MUL(m, V_SET(0.5)), m), V_ONE);
    return V_SEL(upper, V_ADD(e, V_ONE), e);
}
TNI_INLINE V TNI_FNT(tni_log_tail)(V f) {
    V z = f, p = V_SET(7.332568616e-02), sq = V_MUL(f, f);
    H(-1.165995449e-01);
    H(1.163465753e-01);
    H(-1.239669621e-01);
    H(1.425115615e-01);
    H(-1.666915119e-01);
    H(2.000068873e-01);
    H(-2.499998063e-01);
    H(3.333333135e-01);
    return V_FMA(V_SET(-0.5), sq, V_MUL(V_MUL(sq, f), p));
}
TNI_INLINE V TNI_FNT(tni_log_specials)(V x, V y) {
    y = V_SEL(V_LT(x, K_INF), y, x);
    y = V_SEL(V_EQ(x, V_ZERO()), V_NEG(K_INF), y);
    return V_SEL(V_LT(x, V_ZERO()), K_NAN, y);
}
TNI_HELPER V TNI_FNT(tni_log)(V x) {
    V f, e = TNI_FNT(tni_log_split)(x, &f), hi = V_FMA(e, LN2_HI, f);
    V lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = V_ADD(hi, V_ADD(V_ADD(lo, TNI_FNT(tni_log_tail)(f)), V_MUL(e, LN2_LO)));
    return TNI_FNT(tni_log_specials)(x, y);
}
TNI_HELPER V TNI_FNT(tni_log1p)(V x) {
    V u = V_ADD(V_ONE, x), b = V_SUB(u, V_ONE), c = V_ADD(V_SUB(V_ONE, V_SUB(u, b)), V_SUB(x, b));
    V f, e = TNI_FNT(tni_log_split)(u, &f), d = V_LDEXP(c, V_NEG(e));
    V tail = V_FMA(d, V_FMA(f, V_SUB(f, V_ONE), V_ONE), TNI_FNT(tni_log_tail)(f));
    V hi = V_FMA(e, LN2_HI, f), lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = TNI_FNT(tni_log_specials)(u, V_ADD(hi, V_ADD(V_ADD(lo, tail), V_MUL(e, LN2_LO))));
    return V_SEL(V_EQ(x, V_ZERO()), x, y);
}
TNI_HELPER V TNI_FNT(tni_logaddexp)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    return V_ADD(V_MAXIMUM(x, y), TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_NEG(gap))));
}
TNI_HELPER V TNI_FNT(tni_logaddexp2)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    V r = TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_MUL(gap, V_SET(-0.69314718055994531))));
    return V_FMA(r, V_SET(1.44269504088896339), V_MAXIMUM(x, y));
}

TNI_HELPER V TNI_FNT(tni_log_long)(V a, V *lo) {
    V f, e = TNI_FNT(tni_log_split)(a, &f), two = V_ADD(V_SET(2), f),
         low = V_ADD(V_SUB(V_SET(2), two), f);
    V i = V_DIV(V_ONE, two), q = V_MUL(f, i), z = V_MUL(q, q);
    V ql = V_MUL(i, V_FNMA(q, low, V_FNMA(q, two, f)));
    V p = V_SET(1.152505055e-01);
    H(1.428109109e-01);
    H(2.000000775e-01);
    V t = V_MUL(z, p), third = K(3.333333433e-01, 3.33333333333333315e-01), c = V_ADD(third, t);
    V cl = V_ADD(V_ADD(V_SUB(third, c), t), K(-9.934107759e-09, 1.85037170770859413e-17));
    V zl = V_FMA(q, V_ADD(ql, ql), V_FMA(q, q, V_NEG(z))), cube = V_MUL(z, q);
    V cubel = V_FMA(z, ql, V_FMA(zl, q, V_FMA(z, q, V_NEG(cube))));
    V w = V_MUL(cube, c), wl = V_FMA(cube, cl, V_FMA(cubel, c, V_FMA(cube, c, V_NEG(w))));
    V h = V_ADD(q, w), l = V_ADD(V_ADD(V_SUB(q, h), w), V_ADD(ql, wl));
    h = V_ADD(h, h);
    l = V_ADD(l, l);
    V n = V_MUL(e, LN2_HI), nl = V_FMA(e, LN2_LO, V_FMA(e, LN2_HI, V_NEG(n))), s = V_ADD(n, h);
    l = V_ADD(V_ADD(V_SEL(V_EQ(e, V_ZERO()), V_ZERO(), V_ADD(V_SUB(n, s), h)), nl), l);
    h = V_ADD(s, l);
    *lo = V_ADD(V_SUB(s, h), l);
    return h;
}
TNI_HELPER V TNI_FNT(tni_log_base)(V x, V c, V cl) {
    V l, h = TNI_FNT(tni_log_long)(x, &l), p = V_MUL(h, c);
    return TNI_FNT(tni_log_specials)(x, V_ADD(p, V_FMA(l, c, V_FMA(h, cl, V_FMA(h, c, V_NEG(p))))));
}
TNI_INLINE V TNI_FNT(tni_log2)(V x) {
    return TNI_FNT(tni_log_base)(x, K(1.442695022e+00, 1.44269504088896339e+00),
                                 K(1.925963034e-08, 2.03552737409310331e-17));
}
TNI_INLINE V TNI_FNT(tni_log10)(V x) {
    return TNI_FNT(tni_log_base)(x, K(4.342944920e-01, 4.34294481903251817e-01),
                                 K(-1.010304995e-08, 1.09831965021676507e-17));
}
TNI_INLINE V TNI_FNT(tni_exp_long)(V h, V l) {
    V n = V_ROUND(V_MUL(h, V_SET(1.44269504088896339))), a = V_FNMA(n, LN2_HI, h),
      b = V_FNMA(n, LN2_LO, l);
    V r = V_ADD(a, b), rl = V_ADD(V_SUB(a, r), b), s = V_MUL(V_MUL(r, r), TNI_FNT(tni_exp_poly)(r));
    V y = V_ADD(V_ONE, r), yl = V_ADD(V_ADD(V_SUB(V_ONE, y), r), V_ADD(s, V_FMA(rl, r, rl)));
    return V_LDEXP(V_ADD(y, yl), n);
}
TNI_HELPER V TNI_FNT(tni_pow)(V x, V y) {
    M square = V_EQ(y, V_SET(2)), cube = V_EQ(y, V_SET(3));
    V sq = V_MUL(x, x), product = V_SEL(square, sq, V_MUL(sq, x));
    if (!M_ANY(M_NOT(M_OR(square, cube)))) return product;
    V a = V_ABS(x), l, h = TNI_FNT(tni_log_long)(a, &l), zero = V_ZERO(), inf = K_INF;
    V ph = V_MUL(y, h), pl = V_FMA(y, l, V_FMA(y, h, V_NEG(ph)));
    M above = M_NOT(V_LE(V_ABS(ph), K(105, 750)));
    ph = V_MAX(K(-105, -750), V_MIN(K(105, 750), ph));
    V r = TNI_FNT(tni_exp_long)(ph, V_SEL(above, zero, pl));
    r = V_SEL(V_EQ(a, V_ONE), V_ONE, r);
    M under = V_LT(y, zero);
    r = V_SEL(V_EQ(a, zero), V_SEL(under, inf, zero), r);
    r = V_SEL(V_EQ(a, inf), V_SEL(under, zero, inf), r);
    V half = V_MUL(y, V_SET(0.5));
    M whole = V_EQ(V_TRUNC(y), y), odd = M_AND(whole, V_NE(V_TRUNC(half), half));
    r = V_OR(r, V_AND(V_SEL(odd, x, zero), V_SET(-0.0)));
    r = V_SEL(M_AND(M_AND(V_LT(x, zero), V_GT(x, V_NEG(inf))), M_NOT(whole)), K_NAN, r);
    r = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), r);
    r = V_SEL(M_OR(V_EQ(y, zero), V_EQ(x, V_ONE)), V_ONE, r);
    return V_SEL(M_OR(square, cube), product, r);
}

TNI_HELPER V TNI_FNT(tni_trig_lanes)(V x, V r, V *rl, V *q) {
    T xs[W], rs[W], ls[W], qs[W];
    V_ST(xs, x);
    V_ST(rs, r);
    V_ST(ls, *rl);
    V_ST(qs, *q);
    for (int i = 0; i < W; i++) {
        double hi, lo;
        if (!(xs[i] > K_LIMIT || xs[i] < -K_LIMIT) || xs[i] - xs[i] != 0) continue;
        qs[i] = (T)TNI_FN(tni_trig_large)((double)xs[i], &hi, &lo);
        rs[i] = (T)hi;
        ls[i] = (T)((hi - (double)rs[i]) + lo);
    }
    *rl = V_LD(ls);
    *q = V_LD(qs);
    return V_LD(rs);
}
TNI_INLINE V TNI_FNT(tni_trig_reduce)(V x, V *rl, V *q) {
    V n = V_ROUND(V_MUL(x, V_SET(6.36619772367581382e-01)));
    V p2 = K(-4.371138829e-08, 6.12323399573676604e-17),
      p3 = K(-1.715124510e-15, -1.49738490485916983e-33);
    V r = V_FNMA(n, K(1.570796371, 1.57079632679489656), x), p = V_MUL(n, p2),
      pe = V_FMA(n, p2, V_NEG(p));
    V s = V_SUB(r, p), b = V_SUB(s, r);
    V e = V_SUB(V_SUB(r, V_SUB(s, b)), V_ADD(p, b));
    V l = V_FNMA(n, p3, V_SUB(e, pe));
    r = V_ADD(s, l);
    *rl = V_ADD(V_SUB(s, r), l);
    *q = V_FNMA(V_SET(4), V_FLOOR(V_MUL(n, V_SET(0.25))), n);
    if (M_ANY(V_GT(V_ABS(x), V_SET(K_LIMIT)))) r = TNI_FNT(tni_trig_lanes)(x, r, rl, q);
    return r;
}
TNI_INLINE V TNI_FNT(tni_sin_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r);
    V p = V_SET(2.724938895e-06);
    H(-1.984008268e-04);
    H(8.333331905e-03);
    H(-1.666666716e-01);
    *low = V_FMA(V_MUL(z, r), p, V_FMA(V_MUL(z, V_SET(-0.5)), rl, rl));
    return r;
}
TNI_INLINE V TNI_FNT(tni_cos_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r), half = V_MUL(z, V_SET(0.5)), w = V_SUB(V_ONE, half);
    V p = V_SET(-2.730050426e-07);
    H(2.480059629e-05);
    H(-1.388888806e-03);
    H(4.166666791e-02);
    *low = V_ADD(V_SUB(V_SUB(V_ONE, w), half), V_FNMA(r, rl, V_MUL(V_MUL(z, z), p)));
    return w;
}
TNI_HELPER V TNI_FNT(tni_trig)(V x, int cosine) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    s = V_ADD(s, sl);
    c = V_ADD(c, cl);
    M one = V_EQ(q, V_ONE), two = V_EQ(q, V_SET(2)), three = V_EQ(q, V_SET(3)),
      odd = M_OR(one, three);
    V y = cosine ? V_SEL(odd, s, c) : V_SEL(odd, c, s);
    y = V_SEL(cosine ? M_OR(one, two) : M_OR(two, three), V_NEG(y), y);
    y = cosine ? y : V_SEL(V_EQ(x, V_ZERO()), x, y);
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}
TNI_INLINE V TNI_FNT(tni_sin)(V x) { return TNI_FNT(tni_trig)(x, 0); }
TNI_INLINE V TNI_FNT(tni_cos)(V x) { return TNI_FNT(tni_trig)(x, 1); }
TNI_HELPER V TNI_FNT(tni_tan)(V x) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    V sh = V_ADD(s, sl), ch = V_ADD(c, cl);
    sl = V_ADD(V_SUB(s, sh), sl);
    cl = V_ADD(V_SUB(c, ch), cl);
    M odd = M_OR(V_EQ(q, V_ONE), V_EQ(q, V_SET(3)));
    V a = V_SEL(odd, V_NEG(ch), sh), al = V_SEL(odd, V_NEG(cl), sl), b = V_SEL(odd, sh, ch);
    V bl = V_SEL(odd, sl, cl), y = V_DIV(a, b);
    y = V_ADD(y, V_DIV(V_FNMA(y, bl, V_ADD(V_FNMA(y, b, a), al)), b));
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y);
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}

#define PIO2_HI K(1.570796371, 1.57079632679489656)
#define PIO2_LO K(-4.371138829e-08, 6.12323399573676604e-17)
TNI_INLINE V TNI_FNT(tni_atan_tail)(V t) {
    V z = V_MUL(t, t);
    V p = V_SET(-6.464754045e-02);
    H(1.074824631e-01);
    H(-1.426445246e-01);
    H(1.999955773e-01);
    H(-3.333333135e-01);
    return V_MUL(V_MUL(z, t), p);
}
TNI_HELPER V TNI_FNT(tni_atan)(V x) {
    V a = V_ABS(x);
    M above = V_GT(a, V_SET(2.41421356237309505)), below = V_LE(a, V_SET(0.414213562373095049));
    V less = V_SUB(a, V_ONE), more = V_ADD(a, V_ONE), zero = V_ZERO();
    V lessl = V_ADD(V_SUB(V_SET(-1), less), a),
      morel = V_ADD(V_SUB(V_MAX(a, V_ONE), more), V_MIN(a, V_ONE));
    V up = V_SEL(above, V_SET(-1), V_SEL(below, a, less)),
      down = V_SEL(above, a, V_SEL(below, V_ONE, more));
    V i = V_DIV(V_ONE, down), t = V_MUL(up, i), rest = V_FNMA(t, down, up);
    M mid = M_NOT(M_OR(above, below));
    rest = V_ADD(rest, V_SEL(mid, V_FNMA(t, morel, lessl), zero));
    V step = V_SEL(above, V_ONE, V_SEL(below, V_ZERO(), V_SET(0.5))), base = V_MUL(step, PIO2_HI);
    V low = V_FMA(rest, i, V_FMA(step, PIO2_LO, TNI_FNT(tni_atan_tail)(t))), s = V_ADD(base, t);
    low = V_SEL(V_LT(a, K_INF), low, V_MUL(step, PIO2_LO));
    V y = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return TNI_FNT(tni_copysign)(V_SEL(below, V_ADD(t, low), y), x);
}
TNI_HELPER V TNI_FNT(tni_atan2)(V y, V x) {
    V a = V_ABS(x), b = V_ABS(y), zero = V_ZERO(), large = V_MAX(a, b), little = V_MIN(a, b);
    M steep = V_GT(b, a), left = TNI_FNT(tni_signbit)(x), endless = V_EQ(large, K_INF);
    V scale = V_SEL(V_GT(large, K(1.3292279957849159e+36, 2.8088955232223686e+306)), V_SET(0.0625),
                    V_ONE);
    scale = V_SEL(V_LT(large, K(1099511627776, 2.5822498780869086e+120)),
                  K(18446744073709551616.0, 4.1495155688809930e+180), scale);
    little = V_SEL(endless, V_SEL(V_EQ(a, b), V_ONE, zero), V_MUL(little, scale));
    large = V_SEL(M_OR(endless, V_EQ(large, zero)), V_ONE, V_MUL(large, scale));
    M beyond = V_LE(little, V_MUL(large, V_SET(0.414213562373095049)));
    V less = V_SUB(little, large), lessl = V_SUB(little, V_ADD(less, large)),
      more = V_ADD(little, large), morel = V_SUB(little, V_SUB(more, large));
    V up = V_SEL(beyond, little, less), down = V_SEL(beyond, large, more), i = V_DIV(V_ONE, down),
      t = V_MUL(up, i);
    V rest = V_ADD(V_FNMA(t, down, up), V_SEL(beyond, zero, V_FNMA(t, morel, lessl)));
    V low = V_FMA(rest, i, TNI_FNT(tni_atan_tail)(t)), step = V_SEL(beyond, zero, V_SET(0.5));
    step = V_SEL(steep, V_SUB(V_ONE, step), step);
    step = V_SEL(left, V_SUB(V_SET(2), step), step);
    V turned = V_SEL(M_XOR(steep, left), V_SET(-0.0), zero), base = V_MUL(step, PIO2_HI);
    t = V_XOR(t, turned);
    low = V_ADD(V_XOR(low, turned), V_FMA(step, PIO2_LO, V_FMA(step, PIO2_HI, V_NEG(base))));
    V s = V_ADD(base, t), angle = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), TNI_FNT(tni_copysign)(angle, y));
}
TNI_HELPER V TNI_FNT(tni_asin_tail)(V t) {
    V z = V_MUL(t, t);
    V p = V_SET(3.393080831e-02);
    H(1.700072922e-02);
    H(3.113277815e-02);
    H(4.459657520e-02);
    H(7.500103116e-02);
    H(1.666666567e-01);
    return V_MUL(V_MUL(z, t), p);
}
TNI_HELPER V TNI_FNT(tni_acos_near_one)(V a, V *low) {
    V z = V_MUL(V_SUB(V_ONE, a), V_SET(0.5)), s = V_SQRT(z), i = V_DIV(V_SET(0.5), s);
    V sl = V_SEL(V_GT(s, V_ZERO()), V_MUL(V_FNMA(s, s, z), i), V_ZERO());
    V l = V_ADD(TNI_FNT(tni_asin_tail)(s), sl);
    *low = V_ADD(l, l);
    return V_ADD(s, s);
}
TNI_HELPER V TNI_FNT(tni_asin)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), s = V_SUB(PIO2_HI, h);
    V outer = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, s), h), PIO2_LO), l));
    V y = V_SEL(V_GT(a, V_SET(0.5)), outer, V_ADD(a, TNI_FNT(tni_asin_tail)(a)));
    return TNI_FNT(tni_copysign)(V_SEL(V_LE(a, V_ONE), y, K_NAN), x);
}
TNI_HELPER V TNI_FNT(tni_acos)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), pi = V_ADD(PIO2_HI, PIO2_HI);
    V pil = V_ADD(PIO2_LO, PIO2_LO), s = V_SUB(pi, h), t = V_SUB(PIO2_HI, x);
    V negative = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(pi, s), h), pil), l));
    V inner = V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, t), x), PIO2_LO), TNI_FNT(tni_asin_tail)(x));
    V y = V_SEL(V_LT(x, V_ZERO()), negative, V_ADD(h, l));
    y = V_SEL(V_GT(a, V_SET(0.5)), y, V_ADD(t, inner));
    return V_SEL(V_LE(a, V_ONE), y, K_NAN);
}

TNI_HELPER V TNI_FNT(tni_erf)(V x) {
    V a = V_MIN(K(4.2, 5.95), V_ABS(x)), sq = V_MUL(a, a), z = sq, below, above;
    V p = V_SET(-5.96761703e-4);
    H(4.99119423e-3);
    H(-2.67681349e-2);
    H(1.12819925e-1);
    H(-3.76125336e-1);
    H(1.28379166e-1);
    below = V_FMA(p, a, a);
    p = V_FMA(V_SET(-1.72853470e-5), a, V_SET(3.83197126e-4));
    p = V_FMA(p, sq, V_FMA(V_SET(-3.88396438e-3), a, V_SET(2.42546219e-2)));
    z = a, H(-1.06777877e-1);
    H(-6.34846687e-1);
    H(-1.28717512e-1);
    above = V_SUB(V_ONE, TNI_FNT(tni_exp)(V_FMA(p, a, V_NEG(a))));
    below = V_SEL(V_GT(a, V_SET(0.927734375)), above, below);
    return TNI_FNT(tni_copysign)(below, x);
}

/* src/simd/math_gamma.h - the logarithm of the gamma function and its derivative, for one floating type */

#define PI K(3.141592741e+00, 3.14159265358979312e+00)

#define P(a, b) p = V_FMA(p, t, V_SEL(low, V_SET(a), V_SET(b)))
TNI_INLINE V TNI_FNT(tni_lgamma_poly)(V t, M low) {
    V p = V_SEL(low, V_SET(-8.506976276e-03), V_ZERO());
    P(2.973177123e-02, 0);
    P(-4.872852666e-02, 0);
    P(5.603092611e-02, 9.229908710e-05);
    P(-5.959743166e-02, -3.727420098e-04);
    P(6.652609180e-02, 9.234284926e-04);
    P(-7.723170744e-02, -2.115186075e-03);
    P(9.224153405e-02, 4.998957632e-03);
    P(-1.151493381e-01, -1.238381440e-02);
    P(1.554343039e-01, 3.296497284e-02);
    P(-2.452513445e-01, -1.003173070e-01);
    P(5.772156647e-01, 4.227843353e-01);
    return p;
}
#undef P
TNI_INLINE V TNI_FNT(tni_lgamma_tail)(V z) {
    V p = V_SET(7.800338592e-04);
    H(-2.777698528e-03);
    H(8.333333326e-02);
    return p;
}
TNI_INLINE V TNI_FNT(tni_sin_pi_abs)(V x) {
    return V_ABS(TNI_FNT(tni_sin)(V_MUL(V_SUB(x, V_ROUND(x)), PI)));
}
TNI_HELPER V TNI_FNT(tni_lgamma)(V x) {
    V a = V_ABS(x), b = a, product = V_ONE, zero = V_ZERO();
    M little = V_LT(a, V_SET(0.7)), large = V_GE(a, V_SET(8)), low = V_LT(a, V_SET(1.7));
    for (int i = 0; i < 6; i++) {
        M down = V_GE(b, V_SET(2.7));
        b = V_SEL(down, V_SUB(b, V_ONE), b);
        product = V_SEL(down, V_MUL(product, b), product);
    }
    V first = V_SEL(little, a, V_SUB(b, V_ONE)),
      second = V_SUB(V_SEL(little, a, b), V_SEL(little, V_ONE, V_SET(2)));
    V t = V_SEL(low, first, second);
    V base = V_MUL(V_MUL(first, second), TNI_FNT(tni_lgamma_poly)(t, low));
    V l, h = TNI_FNT(tni_log_long)(V_SEL(M_OR(little, large), a, product), &l), i = V_DIV(V_ONE, a),
         rest = V_FMA(TNI_FNT(tni_lgamma_tail)(V_MUL(i, i)), i,
                      K(4.189385474e-01, 4.18938533204672742e-01));
    V half = V_SUB(a, V_SET(0.5)), beyond = V_FMA(half, V_SUB(h, V_ONE), V_FMA(half, l, rest));
    V y = V_SEL(little, V_ADD(V_NEG(h), V_SUB(base, l)), V_ADD(h, V_ADD(base, l)));
    y = V_SEL(V_LT(a, V_SET(2.7)), V_SEL(little, y, base), y);
    y = V_SEL(large, beyond, y);
    M under = M_AND(V_LT(x, zero), V_GT(a, V_SET(1e-20)));
    if (M_ANY(under)) {
        V s = TNI_FNT(tni_sin_pi_abs)(a);
        s = TNI_FNT(tni_log)(V_DIV(PI, V_SEL(little, s, V_MUL(s, a))));
        y = V_SEL(under, V_SUB(s, V_SEL(little, base, y)), y);
    }
    M pole = M_AND(V_LE(x, zero), V_EQ(V_TRUNC(x), x));
    y = V_SEL(M_OR(pole, V_EQ(a, K_INF)), K_INF, y);
    return V_SEL(V_ISNAN(x), x, V_ADD(y, zero));
}

TNI_HELPER V TNI_FNT(tni_digamma)(V x) {
    M under = V_LT(x, V_ZERO());
    V from = K(5, 10), a = V_SEL(under, V_SUB(V_ONE, x), x), s = V_ZERO(), e = V_ZERO();
    for (int k = 0; k < 10; k++) {
        M step = V_LT(a, from);
        V q = V_DIV(V_ONE, a), sum = V_ADD(s, q), b = V_SUB(sum, s);
        V off = V_ADD(V_SUB(s, V_SUB(sum, b)), V_SUB(q, b));
        off = V_FMA(q, V_FNMA(q, a, V_ONE), off);
        s = V_SEL(step, sum, s);
        e = V_SEL(step, V_ADD(e, off), e);
        a = V_SEL(step, V_ADD(a, V_ONE), a);
    }
    V l, h = TNI_FNT(tni_log_long)(a, &l), i = V_DIV(V_ONE, a), z = V_MUL(i, i);
    V p = V_SET(8.33333333333333333e-02);
    H(-2.10927960927960928e-02);
    H(7.57575757575757576e-03);
    H(-4.16666666666666667e-03);
    H(3.96825396825396825e-03);
    H(-8.33333333333333333e-03);
    H(8.33333333333333333e-02);
    V y = V_SUB(V_SUB(h, s), V_SUB(V_FMA(p, z, V_FMA(V_SET(0.5), i, e)), l));
    y = V_SEL(V_EQ(a, K_INF), a, y);
    if (M_ANY(under)) {
        V t = TNI_FNT(tni_tan)(V_MUL(V_SUB(x, V_ROUND(x)), PI));
        y = V_SEL(under, V_SUB(y, V_DIV(PI, t)), y);
        y = V_SEL(M_AND(under, V_EQ(V_TRUNC(x), x)), K_NAN, y);
    }
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), V_NEG(V_DIV(V_ONE, x)), y);
    return V_SEL(V_ISNAN(x), x, y);
}

#undef PI

TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return fmodf(a, b); }

/* src/simd/math_lanes.h - a vector function `to` made of name_one(T, T), lane by lane */
#define TNI_LANES(name, to)                                                 \
    TNI_HELPER V to(V a, V b) {                                             \
        T x[W], y[W];                                                       \
        V_ST(x, a);                                                         \
        V_ST(y, b);                                                         \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]); \
        return V_LD(x);                                                     \
    }
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod_lanes))
#undef TNI_LANES
TNI_HELPER V TNI_FNT(tni_fmod)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), q = V_TRUNC(V_DIV(a, b));
    M simple = M_AND(V_LT(q, V_SET(8388608)), V_LT(b, K_INF)),
      nan = M_OR(V_ISNAN(q), V_EQ(b, V_ZERO()));
    if (M_ANY(M_NOT(M_OR(simple, nan)))) return TNI_FNT(tni_fmod_lanes)(x, y);
    V r = V_FNMA(q, b, a);
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(r, V_ZERO()), V_ADD(r, b), r), x);
}
TNI_INLINE M TNI_FNT(tni_rest_differs)(V rest, V b) {
    return M_AND(V_NE(rest, V_ZERO()), M_XOR(V_LT(rest, V_ZERO()), V_LT(b, V_ZERO())));
}
TNI_HELPER V TNI_FNT(tni_remainder)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b);
    return V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_ADD(rest, b), rest);
}
TNI_HELPER V TNI_FNT(tni_floordiv)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b), ratio = V_DIV(a, b), q = V_DIV(V_SUB(a, rest), b);
    q = V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_SUB(q, V_ONE), q);
    V down = V_FLOOR(q), y = V_SEL(V_GT(V_SUB(q, down), V_SET(0.5)), V_ADD(down, V_ONE), down);
    y = V_SEL(V_EQ(q, V_ZERO()), TNI_FNT(tni_copysign)(V_ZERO(), ratio), y);
    return V_SEL(V_EQ(b, V_ZERO()), ratio, y);
}

#undef K
#undef H
#undef K_INF
#undef K_NAN
#undef K_LIMIT
#undef LN2_HI
#undef LN2_LO
#undef EXP_LOW
#undef EXP_HIGH
#undef PIO2_HI
#undef PIO2_LO

/* src/simd/math_complex.h - complex numbers as pairs of vectors, for one floating type: what complex.h makes words of */

typedef struct TNI_FNT(tni_complex) {
    V re, im;
} TNI_FNT(tni_complex);
typedef M TNI_FNT(tni_mask);
#define C TNI_FNT(tni_complex)
#define C_FN(name) TNI_INLINE C TNI_FNT(tni_c_##name)
#define C_CALL(name) TNI_FNT(tni_c_##name)

C_FN(make)(V re, V im) {
    C z;
    z.re = re;
    z.im = im;
    return z;
}
C_FN(load)(const void *p) {
    C z;
    V_LD2(p, &z.re, &z.im);
    return z;
}
TNI_INLINE void TNI_FNT(tni_c_store)(void *p, C z) { V_ST2(p, z.re, z.im); }
TNI_INLINE void TNI_FNT(tni_c_store_real)(void *p, C z) { V_ST(p, z.re); }
C_FN(set)(const T *p) { return C_CALL(make)(V_SET(p[0]), V_SET(p[1])); }
C_FN(real)(double s) { return C_CALL(make)(V_SET(s), V_ZERO()); }
C_FN(add)(C a, C b) { return C_CALL(make)(V_ADD(a.re, b.re), V_ADD(a.im, b.im)); }
C_FN(sub)(C a, C b) { return C_CALL(make)(V_SUB(a.re, b.re), V_SUB(a.im, b.im)); }
C_FN(neg)(C a) { return C_CALL(make)(V_NEG(a.re), V_NEG(a.im)); }
C_FN(conj)(C a) { return C_CALL(make)(a.re, V_NEG(a.im)); }
C_FN(mul)(C a, C b) {
    return C_CALL(make)(V_SUB(V_MUL(a.re, b.re), V_MUL(a.im, b.im)),
                        V_ADD(V_MUL(a.re, b.im), V_MUL(a.im, b.re)));
}
C_FN(square)(C a) { return C_CALL(mul)(a, a); }
C_FN(div)(C a, C b) {
    V s = V_MAX(V_ABS(b.re), V_ABS(b.im)), x = V_DIV(b.re, s), y = V_DIV(b.im, s),
      n = V_ADD(V_MUL(x, x), V_MUL(y, y));
    V re = V_DIV(a.re, s), im = V_DIV(a.im, s);
    return C_CALL(make)(V_DIV(V_ADD(V_MUL(re, x), V_MUL(im, y)), n),
                        V_DIV(V_SUB(V_MUL(im, x), V_MUL(re, y)), n));
}
C_FN(sel)(M m, C a, C b) { return C_CALL(make)(V_SEL(m, a.re, b.re), V_SEL(m, a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_eq)(C a, C b) { return M_AND(V_EQ(a.re, b.re), V_EQ(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_ne)(C a, C b) { return M_OR(V_NE(a.re, b.re), V_NE(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_isnan)(C a) { return M_OR(V_ISNAN(a.re), V_ISNAN(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isinf)(C a) { return M_OR(V_ISINF(a.re), V_ISINF(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isfinite)(C a) { return M_AND(V_ISFINITE(a.re), V_ISFINITE(a.im)); }
TNI_INLINE M TNI_FNT(tni_m_and)(M a, M b) { return M_AND(a, b); }
TNI_INLINE M TNI_FNT(tni_m_or)(M a, M b) { return M_OR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_xor)(M a, M b) { return M_XOR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_not)(M a) { return M_NOT(a); }
TNI_INLINE M TNI_FNT(tni_m_load)(const void *p) { return M_LD(p); }
TNI_INLINE void TNI_FNT(tni_m_store)(void *p, M m) { V_MST(p, m); }

TNI_INLINE V TNI_FNT(tni_c_abs)(C z) {
    V a = V_ABS(z.re), b = V_ABS(z.im), large = V_MAX(a, b), little = V_MIN(a, b),
      q = V_DIV(little, large);
    V r = V_MUL(large, V_SQRT(V_FMA(q, q, V_ONE)));
    r = V_SEL(V_EQ(large, V_ZERO()), large, r);
    r = V_SEL(M_OR(V_ISNAN(a), V_ISNAN(b)), V_ADD(a, b), r);
    return V_SEL(M_OR(V_ISINF(a), V_ISINF(b)), V_SET(INFINITY), r);
}
TNI_HELPER C TNI_FNT(tni_c_exp)(C z) {
    V e = TNI_FNT(tni_exp)(z.re), im = V_MUL(e, TNI_FNT(tni_sin)(z.im));
    M any = M_AND(V_ISINF(z.re), M_NOT(V_ISFINITE(z.im)));
    im = V_SEL(M_AND(any, V_EQ(e, V_ZERO())), e, im);
    return C_CALL(make)(V_SEL(any, e, V_MUL(e, TNI_FNT(tni_cos)(z.im))),
                        V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
}
#undef C
#undef C_FN
#undef C_CALL

/* src/simd/math_normal.h - uniform numbers become normal and exponential ones, for f32 and f64 */
TNI_INLINE V TNI_FNT(tni_normal_log)(V x) {
    V e = V_ADD(V_EXPO(x), V_ONE), f = V_MUL(V_MANT(x), V_SET(0.5)), y, z;
    M low = V_LT(f, V_SET(0.707106781186547524f));
    e = V_SEL(low, V_SUB(e, V_ONE), e);
    f = V_SEL(low, V_ADD(V_SUB(f, V_ONE), f), V_SUB(f, V_ONE));
    z = V_MUL(f, f);
    y = V_SET(7.0376836292E-2f);
    y = V_FMA(y, f, V_SET(-1.1514610310E-1f));
    y = V_FMA(y, f, V_SET(1.1676998740E-1f));
    y = V_FMA(y, f, V_SET(-1.2420140846E-1f));
    y = V_FMA(y, f, V_SET(1.4249322787E-1f));
    y = V_FMA(y, f, V_SET(-1.6668057665E-1f));
    y = V_FMA(y, f, V_SET(2.0000714765E-1f));
    y = V_FMA(y, f, V_SET(-2.4999993993E-1f));
    y = V_FMA(y, f, V_SET(3.3333331174E-1f));
    y = V_FMA(V_MUL(y, f), z, V_MUL(e, V_SET(-2.12194440e-4f)));
    y = V_FNMA(z, V_SET(0.5), y);
    return V_FMA(e, V_SET(0.693359375f), V_ADD(f, y));
}

TNI_INLINE void TNI_FNT(tni_normal_sincos)(V x, V *sine, V *cosine) {
    V k =
        V_MUL(V_FLOOR(V_MUL(V_ADD(V_TRUNC(V_MUL(x, V_SET(1.27323954473516f))), V_ONE), V_SET(0.5))),
              V_SET(2));
    M two = V_EQ(k, V_SET(2)), four = V_EQ(k, V_SET(4)), six = V_EQ(k, V_SET(6)),
      odd = M_OR(two, six);
    V z, c, s;
    x = V_FMA(k, V_SET(-0.78515625f), x);
    x = V_FMA(k, V_SET(-2.4187564849853515625e-4f), x);
    x = V_FMA(k, V_SET(-3.77489497744594108e-8f), x);
    z = V_MUL(x, x);
    c = V_FMA(V_SET(2.443315711809948E-005f), z, V_SET(-1.388731625493765E-003f));
    c = V_FMA(c, z, V_SET(4.166664568298827E-002f));
    c = V_ADD(V_FMA(V_MUL(c, z), z, V_NEG(V_MUL(z, V_SET(0.5)))), V_ONE);
    s = V_FMA(V_SET(-1.9515295891E-4f), z, V_SET(8.3321608736E-3f));
    s = V_FMA(s, z, V_SET(-1.6666654611E-1f));
    s = V_FMA(V_MUL(s, z), x, x);
    *sine = V_SEL(odd, c, s);
    *cosine = V_SEL(odd, s, c);
    *sine = V_SEL(M_OR(four, six), V_NEG(*sine), *sine);
    *cosine = V_SEL(M_OR(two, four), V_NEG(*cosine), *cosine);
}

TNI_INLINE void TNI_FNT(tni_normal_pair)(V u, V t, V std, V mean, V *a, V *b) {
    V radius = V_SQRT(V_MUL(V_SET(-2), TNI_FNT(tni_normal_log)(V_SUB(V_ONE, u)))), sine, cosine;
    TNI_FNT(tni_normal_sincos)(V_MUL(V_SET(6.283185307179586), t), &sine, &cosine);
    *a = V_FMA(V_MUL(radius, cosine), std, mean);
    *b = V_FMA(V_MUL(radius, sine), std, mean);
}
#define TNI_KIND_F 1
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

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */
#ifndef TNI_GEN_LOOPS_INL
#define TNI_GEN_LOOPS_INL
#define TNI_E_abs(self) V_ABS(self)
#define TNI_E_acos(self) V_ACOS(self)
#define TNI_E_add(self, other, alpha) V_FMA(alpha, other, self)
#define TNI_E_addcdiv(self, tensor1, tensor2, value) V_FMA(value, V_DIV(tensor1, tensor2), self)
#define TNI_E_addcmul(self, tensor1, tensor2, value) V_FMA(V_MUL(value, tensor1), tensor2, self)
#define TNI_E_angle(self) V_ANGLE(self)
#define TNI_E_asin(self) V_ASIN(self)
#define TNI_E_atan(self) V_ATAN(self)
#define TNI_E_atan2(self, other) V_ATAN2(self, other)
#define TNI_E_bce(input, target) V_SUB(V_MUL(V_SUB(target, V_ONE), V_MAX(V_SET(-100), \
    V_LOG1P(V_NEG(input)))), V_MUL(target, V_MAX(V_SET(-100), V_LOG(input))))
#define TNI_E_bitwise_and(self, other) V_AND(self, other)
#define TNI_E_bitwise_left_shift(self, other) V_SHIFT_LEFT(self, other)
#define TNI_E_bitwise_not(self) V_NOT(self)
#define TNI_E_bitwise_or(self, other) V_OR(self, other)
#define TNI_E_bitwise_right_shift(self, other) V_SHIFT_RIGHT(self, other)
#define TNI_E_bitwise_xor(self, other) V_XOR(self, other)
#define TNI_E_ceil(self) V_CEIL(self)
#define TNI_E_clamp_max(self, max) V_MINIMUM(self, max)
#define TNI_E_clamp_min(self, min) V_MAXIMUM(self, min)
#define TNI_E_copysign(self, other) V_COPYSIGN(self, other)
#define TNI_E_cos(self) V_COS(self)
#define TNI_E_cosh(self) V_COSH(self)
#define TNI_E_digamma(self) V_DIGAMMA(self)
#define TNI_E_div(self, other) V_DIV(self, other)
#define TNI_E_div_trunc(self, other) V_TRUNCDIV(self, other)
#define TNI_E_elu(self, alpha, scale, input_scale) V_MUL(scale, V_SEL(V_GT(self, V_ZERO()), self, \
    V_MUL(alpha, V_EXPM1(V_MUL(self, input_scale)))))
#define TNI_E_eq(self, other) V_EQ(self, other)
#define TNI_E_erf(self) V_ERF(self)
#define TNI_E_erfc(self) V_ERFC(self)
#define TNI_E_erfinv(self) V_ERFINV(self)
#define TNI_E_exp(self) V_EXP(self)
#define TNI_E_exp2(self) V_POW(V_SET(2), self)
#define TNI_E_expm1(self) V_EXPM1(self)
#define TNI_E_floor(self) V_FLOOR(self)
#define TNI_E_floor_divide(self, other) V_FLOORDIV(self, other)
#define TNI_E_fmax(self, other) V_SEL(M_OR(V_GT(self, other), V_ISNAN(other)), self, other)
#define TNI_E_fmin(self, other) V_SEL(M_OR(V_LT(self, other), V_ISNAN(other)), self, other)
#define TNI_E_fmod(self, other) V_FMOD(self, other)
#define TNI_E_frac(self) V_SUB(self, V_TRUNC(self))
#define TNI_E_gcd(self, other) V_GCD(self, other)
#define TNI_E_ge(self, other) V_GE(self, other)
#define TNI_E_gelu_erf(self) V_MUL(V_MUL(V_SET(0.5), self), V_ADD(V_ONE, V_ERF(V_MUL(self, \
    V_SET(0.70710678118654752440)))))
#define TNI_E_gelu_erf_backward(grad_output, self) V_MUL(grad_output, V_FMA(V_MUL(self, \
    V_SET(0.39894228040143267794)), V_EXP(V_MUL(V_SET(-0.5), V_MUL(self, self))), \
    V_MUL(V_SET(0.5), V_ADD(V_ONE, V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))))
#define TNI_E_gelu_tanh(self) V_MUL(V_MUL(V_SET(0.5), self), V_ADD(V_ONE, \
    V_TANH(V_MUL(V_MUL(V_SET(0.79788456080286535588), self), V_FMA(V_MUL(V_SET(0.044715), self), \
    self, V_ONE)))))
#define TNI_E_glu_gate(self, gate) V_MUL(self, V_SIGMOID(gate))
#define TNI_E_gt(self, other) V_GT(self, other)
#define TNI_E_hardshrink(self, lambd) V_SEL(M_AND(V_GE(self, V_NEG(lambd)), V_LE(self, lambd)), \
    V_ZERO(), self)
#define TNI_E_hardsigmoid(self) V_DIV(V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, V_SET(3)))), \
    V_SET(6))
#define TNI_E_hardswish(self) V_DIV(V_MUL(self, V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, \
    V_SET(3))))), V_SET(6))
#define TNI_E_hardtanh(self, min_val, max_val) V_MINIMUM(V_MAXIMUM(self, min_val), max_val)
#define TNI_E_heaviside(self, values) V_SEL(V_EQ(self, V_ZERO()), values, V_SEL(V_GT(self, \
    V_ZERO()), V_ONE, V_ZERO()))
#define TNI_E_hypot(self, other) V_HYPOT(self, other)
#define TNI_E_i0(self) V_I0(self)
#define TNI_E_igamma(self, other) V_IGAMMA(self, other)
#define TNI_E_igammac(self, other) V_IGAMMAC(self, other)
#define TNI_E_isfinite(self) V_ISFINITE(self)
#define TNI_E_isinf(self) V_ISINF(self)
#define TNI_E_isnan(self) V_ISNAN(self)
#define TNI_E_isneginf(self) V_EQ(self, V_SET(-INFINITY))
#define TNI_E_isposinf(self) V_EQ(self, V_SET(INFINITY))
#define TNI_E_lcm(self, other) V_LCM(self, other)
#define TNI_E_le(self, other) V_LE(self, other)
#define TNI_E_leaky_relu(self, negative_slope) V_SEL(V_GT(self, V_ZERO()), self, V_MUL(self, \
    negative_slope))
#define TNI_E_leaky_relu_backward(grad_output, self, negative_slope, self_is_result) \
    V_SEL(V_GT(self, V_ZERO()), grad_output, V_MUL(grad_output, negative_slope))
#define TNI_E_lerp(self, end, weight) V_SEL(V_WITHIN(weight, 0.5), V_FMA(weight, V_SUB(end, \
    self), self), V_FNMA(V_SUB(end, self), V_SUB(V_ONE, weight), end))
#define TNI_E_lgamma(self) V_LGAMMA(self)
#define TNI_E_log(self) V_LOG(self)
#define TNI_E_log10(self) V_LOG10(self)
#define TNI_E_log1p(self) V_LOG1P(self)
#define TNI_E_log2(self) V_LOG2(self)
#define TNI_E_log_sigmoid(self) V_SUB(V_MINIMUM(self, V_ZERO()), \
    V_LOG1P(V_EXP(V_NEG(V_ABS(self)))))
#define TNI_E_logaddexp(self, other) V_LOGADDEXP(self, other)
#define TNI_E_logaddexp2(self, other) V_LOGADDEXP2(self, other)
#define TNI_E_logical_and(self, other) M_AND(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_logical_not(self) V_EQ(self, V_ZERO())
#define TNI_E_logical_or(self, other) M_OR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_logical_xor(self, other) M_XOR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_lt(self, other) V_LT(self, other)
#define TNI_E_maximum(self, other) V_MAXIMUM(self, other)
#define TNI_E_minimum(self, other) V_MINIMUM(self, other)
#define TNI_E_mish(self) V_MUL(self, V_TANH(V_LOG1P(V_EXP(self))))
#define TNI_E_mul(self, other) V_MUL(self, other)
#define TNI_E_ne(self, other) V_NE(self, other)
#define TNI_E_neg(self) V_NEG(self)
#define TNI_E_nextafter(self, other) V_NEXTAFTER(self, other)
#define TNI_E_pow(self, exponent) V_POW(self, exponent)
#define TNI_E_prelu_kernel(self, weight) V_SEL(V_GT(self, V_ZERO()), self, V_MUL(weight, self))
#define TNI_E_reciprocal(self) V_DIV(V_ONE, self)
#define TNI_E_relu(self) V_SEL(V_LT(self, V_ZERO()), V_ZERO(), self)
#define TNI_E_remainder(self, other) V_REMAINDER(self, other)
#define TNI_E_round(self) V_ROUND(self)
#define TNI_E_rsqrt(self) V_DIV(V_ONE, V_SQRT(self))
#define TNI_E_sgn(self) V_SIGN(self)
#define TNI_E_sigmoid(self) V_SIGMOID(self)
#define TNI_E_sigmoid_backward(grad_output, output) V_MUL(grad_output, V_CONJ(V_MUL(V_SUB(V_ONE, \
    output), output)))
#define TNI_E_sign(self) V_SIGN(self)
#define TNI_E_signbit(self) V_SIGNBIT(self)
#define TNI_E_silu(self) V_MUL(self, V_SIGMOID(self))
#define TNI_E_silu_backward(grad_output, self) V_MUL(grad_output, V_MUL(V_SIGMOID(self), \
    V_FMA(self, V_SUB(V_ONE, V_SIGMOID(self)), V_ONE)))
#define TNI_E_sin(self) V_SIN(self)
#define TNI_E_sinc(self) V_SEL(V_EQ(self, V_ZERO()), V_ONE, V_DIV(V_SIN(V_MUL(self, \
    V_SET(3.14159265358979323846))), V_MUL(self, V_SET(3.14159265358979323846))))
#define TNI_E_sinh(self) V_SINH(self)
#define TNI_E_softplus(self, beta, threshold) V_SEL(V_GT(V_MUL(self, beta), threshold), self, \
    V_DIV(V_LOG1P(V_EXP(V_MUL(self, beta))), beta))
#define TNI_E_softshrink(self, lambd) V_SEL(V_GT(self, lambd), V_SUB(self, lambd), \
    V_SEL(V_LT(self, V_NEG(lambd)), V_ADD(self, lambd), V_MUL(self, V_ZERO())))
#define TNI_E_softsign(self) V_DIV(self, V_ADD(V_ONE, V_ABS(self)))
#define TNI_E_special_airy_ai(self) V_AIRY_AI(self)
#define TNI_E_special_bessel_j0(self) V_J0(self)
#define TNI_E_special_bessel_j1(self) V_J1(self)
#define TNI_E_special_bessel_y0(self) V_Y0(self)
#define TNI_E_special_bessel_y1(self) V_Y1(self)
#define TNI_E_special_chebyshev_polynomial_t(x, n) V_CHEBYSHEV_T(x, n)
#define TNI_E_special_chebyshev_polynomial_u(x, n) V_CHEBYSHEV_U(x, n)
#define TNI_E_special_chebyshev_polynomial_v(x, n) V_CHEBYSHEV_V(x, n)
#define TNI_E_special_chebyshev_polynomial_w(x, n) V_CHEBYSHEV_W(x, n)
#define TNI_E_special_entr(self) V_SEL(V_LT(self, V_ZERO()), V_SET(-INFINITY), V_SEL(V_EQ(self, \
    V_ZERO()), V_ZERO(), V_NEG(V_MUL(self, V_LOG(self)))))
#define TNI_E_special_erfcx(self) V_ERFCX(self)
#define TNI_E_special_hermite_polynomial_h(x, n) V_HERMITE_H(x, n)
#define TNI_E_special_hermite_polynomial_he(x, n) V_HERMITE_HE(x, n)
#define TNI_E_special_i0e(self) V_I0E(self)
#define TNI_E_special_i1(self) V_I1(self)
#define TNI_E_special_i1e(self) V_I1E(self)
#define TNI_E_special_laguerre_polynomial_l(x, n) V_LAGUERRE_L(x, n)
#define TNI_E_special_legendre_polynomial_p(x, n) V_LEGENDRE_P(x, n)
#define TNI_E_special_log_ndtr(self) V_LOG_NDTR(self)
#define TNI_E_special_modified_bessel_k0(self) V_K0(self)
#define TNI_E_special_modified_bessel_k1(self) V_K1(self)
#define TNI_E_special_ndtr(self) V_NDTR(self)
#define TNI_E_special_ndtri(self) V_NDTRI(self)
#define TNI_E_special_scaled_modified_bessel_k0(self) V_K0E(self)
#define TNI_E_special_scaled_modified_bessel_k1(self) V_K1E(self)
#define TNI_E_special_shifted_chebyshev_polynomial_t(x, n) V_CHEBYSHEV_T(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_u(x, n) V_CHEBYSHEV_U(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_v(x, n) V_CHEBYSHEV_V(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_w(x, n) V_CHEBYSHEV_W(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_spherical_bessel_j0(self) V_SPHERICAL_J0(self)
#define TNI_E_special_xlog1py(self, other) V_SEL(V_ISNAN(other), other, V_SEL(V_EQ(self, \
    V_ZERO()), V_ZERO(), V_MUL(self, V_LOG1P(other))))
#define TNI_E_special_zeta(self, other) V_ZETA(self, other)
#define TNI_E_sqrt(self) V_SQRT(self)
#define TNI_E_square(self) V_SQUARE(self)
#define TNI_E_sub(self, other, alpha) V_FNMA(alpha, other, self)
#define TNI_E_tan(self) V_TAN(self)
#define TNI_E_tanh(self) V_TANH(self)
#define TNI_E_tanh_backward(grad_output, output) V_MUL(grad_output, V_CONJ(V_FNMA(output, output, \
    V_ONE)))
#define TNI_E_threshold(self, threshold, value) V_SEL(V_LE(self, threshold), value, self)
#define TNI_E_threshold_backward(grad_output, self, threshold) V_SEL(V_LE(self, threshold), \
    V_ZERO(), grad_output)
#define TNI_E_trunc(self) V_TRUNC(self)
#define TNI_E_where(condition, self, other) V_SEL(condition, self, other)
#define TNI_E_xlogy(self, other) V_SEL(V_ISNAN(other), other, V_SEL(V_EQ(self, V_ZERO()), \
    V_ZERO(), V_MUL(self, V_LOG(other))))
#endif

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_TO_REAL(abs, 1, 0)
TNI_LOOP(acos, 1, 0)
TNI_LOOP(add, 2, 1)
TNI_LOOP(addcdiv, 3, 1)
TNI_LOOP(addcmul, 3, 1)
TNI_TO_REAL(angle, 1, 0)
TNI_LOOP(asin, 1, 0)
TNI_LOOP(atan, 1, 0)
TNI_LOOP(atan2, 2, 0)
TNI_LOOP(bce, 2, 0)
TNI_LOOP(ceil, 1, 0)
TNI_LOOP(clamp_max, 2, 0)
TNI_LOOP(clamp_min, 2, 0)
TNI_LOOP(copysign, 2, 0)
TNI_LOOP(cos, 1, 0)
TNI_LOOP(cosh, 1, 0)
TNI_LOOP(digamma, 1, 0)
TNI_LOOP(div, 2, 0)
TNI_LOOP(div_trunc, 2, 0)
TNI_LOOP(elu, 1, 3)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(erf, 1, 0)
TNI_LOOP(exp, 1, 0)
TNI_LOOP(exp2, 1, 0)
TNI_LOOP(expm1, 1, 0)
TNI_LOOP(floor, 1, 0)
TNI_LOOP(floor_divide, 2, 0)
TNI_LOOP(fmax, 2, 0)
TNI_LOOP(fmin, 2, 0)
TNI_LOOP(fmod, 2, 0)
TNI_LOOP(frac, 1, 0)
TNI_PREDICATE(ge, 2, 0)
TNI_LOOP(gelu_erf, 1, 0)
TNI_LOOP(gelu_erf_backward, 2, 0)
TNI_LOOP(gelu_tanh, 1, 0)
TNI_LOOP(glu_gate, 2, 0)
TNI_PREDICATE(gt, 2, 0)
TNI_LOOP(hardshrink, 1, 1)
TNI_LOOP(hardsigmoid, 1, 0)
TNI_LOOP(hardswish, 1, 0)
TNI_LOOP(hardtanh, 1, 2)
TNI_LOOP(heaviside, 2, 0)
TNI_LOOP(hypot, 2, 0)
TNI_PREDICATE(isfinite, 1, 0)
TNI_PREDICATE(isinf, 1, 0)
TNI_PREDICATE(isnan, 1, 0)
TNI_PREDICATE(isneginf, 1, 0)
TNI_PREDICATE(isposinf, 1, 0)
TNI_PREDICATE(le, 2, 0)
TNI_LOOP(leaky_relu, 1, 1)
TNI_LOOP(leaky_relu_backward, 2, 2)
TNI_LOOP(lerp, 3, 0)
TNI_LOOP(lgamma, 1, 0)
TNI_LOOP(log, 1, 0)
TNI_LOOP(log10, 1, 0)
TNI_LOOP(log1p, 1, 0)
TNI_LOOP(log2, 1, 0)
TNI_LOOP(log_sigmoid, 1, 0)
TNI_LOOP(logaddexp, 2, 0)
TNI_LOOP(logaddexp2, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_PREDICATE(lt, 2, 0)
TNI_LOOP(maximum, 2, 0)
TNI_LOOP(minimum, 2, 0)
TNI_LOOP(mish, 1, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(nextafter, 2, 0)
TNI_LOOP(pow, 2, 0)
TNI_LOOP(prelu_kernel, 2, 0)
TNI_LOOP(reciprocal, 1, 0)
TNI_LOOP(relu, 1, 0)
TNI_LOOP(remainder, 2, 0)
TNI_LOOP(round, 1, 0)
TNI_LOOP(rsqrt, 1, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sigmoid, 1, 0)
TNI_LOOP(sigmoid_backward, 2, 0)
TNI_LOOP(sign, 1, 0)
TNI_PREDICATE(signbit, 1, 0)
TNI_LOOP(silu, 1, 0)
TNI_LOOP(silu_backward, 2, 0)
TNI_LOOP(sin, 1, 0)
TNI_LOOP(sinc, 1, 0)
TNI_LOOP(sinh, 1, 0)
TNI_LOOP(softplus, 1, 2)
TNI_LOOP(softshrink, 1, 1)
TNI_LOOP(softsign, 1, 0)
TNI_LOOP(special_entr, 1, 0)
TNI_LOOP(special_xlog1py, 2, 0)
TNI_LOOP(sqrt, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_LOOP(tan, 1, 0)
TNI_LOOP(tanh, 1, 0)
TNI_LOOP(tanh_backward, 2, 0)
TNI_LOOP(threshold, 1, 2)
TNI_LOOP(threshold_backward, 2, 1)
TNI_LOOP(trunc, 1, 0)
TNI_SELECT(where, 3, 0)
TNI_LOOP(xlogy, 2, 0)

#undef TNI_LOOP_SUFFIX
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#define TNI_TYPE_C64
TNC_FN float tnc_real(tni_complex_f32_cuda v) { return v.re; }

/* src/simd/complex.h - the words for complex64 (TNI_TYPE_C64) and complex128 (TNI_TYPE_C128) */
#define TNI_SUFFIX f32
#define TNI_LOOP_SUFFIX c64
#define T float
#define TNI_FLOATING 0
#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))
#if TNI_ISA == 0
#define W 1
#elif TNI_ISA == 1
#define W (32 / (int)sizeof(T))
#elif TNI_ISA == 2
#define W (64 / (int)sizeof(T))
#else
#define W (16 / (int)sizeof(T))
#endif
#define V TNI_FNT(tni_complex)
#define M TNI_FNT(tni_mask)
#define V_LD(p) TNI_FNT(tni_c_load)(p)
#define V_ST(p, v) TNI_FNT(tni_c_store)(p, v)
#define V_SET(s) TNI_FNT(tni_c_real)(s)
#define V_PARAM(p, i) TNI_FNT(tni_c_set)((const T *)(p) + 2 * (i))
#define V_ZERO() TNI_FNT(tni_c_real)(0)
#define V_ONE TNI_FNT(tni_c_real)(1)
#define V_ST_REAL(p, v) TNI_FNT(tni_c_store_real)(p, v)
#define V_WITHIN(a, r) TNI_FNT(tni_c_within)(a, r)
#define V_ABS(a) TNI_FNT(tni_c_magnitude)(a)
#define V_ANGLE(a) TNI_FNT(tni_c_angle)(a)
#define V_SIGN(a) TNI_FNT(tni_c_sign)(a)
#define V_ADD(a, b) TNI_FNT(tni_c_add)(a, b)
#define V_SUB(a, b) TNI_FNT(tni_c_sub)(a, b)
#define V_MUL(a, b) TNI_FNT(tni_c_mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_c_div)(a, b)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_NEG(a) TNI_FNT(tni_c_neg)(a)
#define V_CONJ(a) TNI_FNT(tni_c_conj)(a)
#define V_SQUARE(a) TNI_FNT(tni_c_square)(a)
#define V_EQ(a, b) TNI_FNT(tni_c_eq)(a, b)
#define V_NE(a, b) TNI_FNT(tni_c_ne)(a, b)
#define V_ISNAN(a) TNI_FNT(tni_c_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_c_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_c_isfinite)(a)
#define V_SEL(m, a, b) TNI_FNT(tni_c_sel)(m, a, b)
#define M_AND(a, b) TNI_FNT(tni_m_and)(a, b)
#define M_OR(a, b) TNI_FNT(tni_m_or)(a, b)
#define M_XOR(a, b) TNI_FNT(tni_m_xor)(a, b)
#define M_NOT(a) TNI_FNT(tni_m_not)(a)
#define V_MST(p, m) TNI_FNT(tni_m_store)(p, m)
#define M_LD(p) TNI_FNT(tni_m_load)(p)
#define V_EXP(a) TNI_FNT(tni_c_exp)(a)
#define V_LOG(a) TNI_FNT(tni_c_log)(a)
#define V_EXPM1(a) TNI_FNT(tni_c_expm1)(a)
#define V_LOG1P(a) TNI_FNT(tni_c_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_c_log_base)(a, 1.44269504088896341)
#define V_LOG10(a) TNI_FNT(tni_c_log_base)(a, 0.434294481903251828)
#define V_SQRT(a) TNI_FNT(tni_c_sqrt)(a)
#define V_SIN(a) TNI_FNT(tni_c_sin)(a)
#define V_COS(a) TNI_FNT(tni_c_cos)(a)
#define V_TAN(a) TNI_FNT(tni_c_tan)(a)
#define V_SINH(a) TNI_FNT(tni_c_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_c_cosh)(a)
#define V_ASIN(a) TNI_FNT(tni_c_asin)(a)
#define V_ACOS(a) TNI_FNT(tni_c_acos)(a)
#define V_ATAN(a) TNI_FNT(tni_c_atan)(a)
#define V_TANH(a) TNI_FNT(tni_c_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_c_sigmoid)(a)
#define V_POW(a, b) TNI_FNT(tni_c_pow)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_c_logaddexp)(a, b)
#define TNI_KIND_C 1
#define TNC_REAL T

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_LOOP(add, 2, 1)
TNI_LOOP(div, 2, 0)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(exp, 1, 0)
TNI_PREDICATE(isfinite, 1, 0)
TNI_PREDICATE(isinf, 1, 0)
TNI_PREDICATE(isnan, 1, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(reciprocal, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_SELECT(where, 3, 0)

#undef TNI_KIND_C
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#undef TNC_TYPE
#define TNI_TYPE_F64

/* src/cuda/vocabulary_type.cuh - the expressions of one type, in the order of kernels/type.inl */

/* src/simd/vocabulary.h - the words that kernels are written in: one instruction set, one element type at a time */

#define TNI_SUFFIX f64
#define TNI_FLOATING 1
#define T double

#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))

#if TNI_ISA == 0

/* src/simd/scalar.h - the vocabulary with W = 1: every word is the definition that the vector files must agree with */
#ifndef TNI_SIMD_SCALAR_H
#define TNI_SIMD_SCALAR_H

#define TNI_SCALAR_COMMON(S, E, U)                                           \
    TNI_INLINE E tni_sc_ld_##S(const void *p) {                              \
        E v;                                                                 \
        memcpy(&v, p, sizeof v);                                             \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE void tni_sc_st_##S(void *p, E v) { memcpy(p, &v, sizeof v); } \
    TNI_INLINE E tni_sc_ldn_##S(const void *p, int64_t n) {                  \
        return n > 0 ? tni_sc_ld_##S(p) : (E)0;                              \
    }                                                                        \
    TNI_INLINE void tni_sc_stn_##S(void *p, E v, int64_t n) {                \
        if (n > 0) tni_sc_st_##S(p, v);                                      \
    }                                                                        \
    TNI_INLINE U tni_sc_bits_##S(E v) {                                      \
        U u;                                                                 \
        memcpy(&u, &v, sizeof u);                                            \
        return u;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_from_##S(U u) {                                      \
        E v;                                                                 \
        memcpy(&v, &u, sizeof v);                                            \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_min_##S(E a, E b) { return a < b ? a : b; }          \
    TNI_INLINE E tni_sc_max_##S(E a, E b) { return a > b ? a : b; }          \
    TNI_INLINE E tni_sc_and_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) & tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_or_##S(E a, E b) {                                   \
        return tni_sc_from_##S(tni_sc_bits_##S(a) | tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_xor_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) ^ tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_not_##S(E a) { return tni_sc_from_##S((U)~tni_sc_bits_##S(a)); }
#define TNI_SCALAR_INTEGER(S, E, U)                                        \
    TNI_INLINE E tni_sc_add_##S(E a, E b) { return (E)((U)a + (U)b); }     \
    TNI_INLINE E tni_sc_sub_##S(E a, E b) { return (E)((U)a - (U)b); }     \
    TNI_INLINE E tni_sc_mul_##S(E a, E b) { return (E)((U)a * (U)b); }     \
    TNI_INLINE E tni_sc_abs_##S(E a) { return a < 0 ? (E)(0 - (U)a) : a; } \
    TNI_INLINE E tni_sc_shl_##S(E a, E n) { return (E)((U)a << n); }       \
    TNI_INLINE E tni_sc_shr_##S(E a, E n) { return (E)(a >> n); }          \
    TNI_INLINE E tni_sc_shrl_##S(E a, E n) { return (E)((U)a >> n); }
TNI_SCALAR_COMMON(f32, float, uint32_t)
TNI_SCALAR_COMMON(f64, double, uint64_t)
TNI_SCALAR_COMMON(i32, int32_t, uint32_t)
TNI_SCALAR_COMMON(i64, int64_t, uint64_t)
TNI_SCALAR_INTEGER(i32, int32_t, uint32_t)
TNI_SCALAR_INTEGER(i64, int64_t, uint64_t)
#undef TNI_SCALAR_COMMON
#undef TNI_SCALAR_INTEGER

TNI_INLINE float tni_sc_ldexp_f32(float v, float n) {
    int32_t k = n == n ? (int32_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f32((uint32_t)(h + 127) << 23) *
           tni_sc_from_f32((uint32_t)(k - h + 127) << 23);
}
TNI_INLINE double tni_sc_ldexp_f64(double v, double n) {
    int64_t k = n == n ? (int64_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f64((uint64_t)(h + 1023) << 52) *
           tni_sc_from_f64((uint64_t)(k - h + 1023) << 52);
}
TNI_INLINE float tni_sc_expo_f32(float v) {
    return (float)((int32_t)(tni_sc_bits_f32(v) >> 23) - 127);
}
TNI_INLINE double tni_sc_expo_f64(double v) {
    return (double)((int64_t)(tni_sc_bits_f64(v) >> 52) - 1023);
}
TNI_INLINE float tni_sc_mant_f32(float v) {
    return tni_sc_from_f32((tni_sc_bits_f32(v) & 0x007fffffu) | 0x3f800000u);
}
TNI_INLINE double tni_sc_mant_f64(double v) {
    return tni_sc_from_f64((tni_sc_bits_f64(v) & 0x000fffffffffffffu) | 0x3ff0000000000000u);
}
#if defined(__wasm__)
TNI_INLINE float tni_sc_fma_f32(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    double side = lost * s;
    uint64_t bits = tni_sc_bits_f64(s);
    if (side < 0) bits--;
    if (side < 0 || side > 0) bits |= 1;
    return (float)tni_sc_from_f64(bits);
}
TNI_INLINE double tni_sc_fma_f64(double a, double b, double c) {
    return c == 0 && a != 0 && b != 0 ? a * b : fma(a, b, c);
}
#define TNI_FMA_F32 tni_sc_fma_f32
#define TNI_FMA_F64 tni_sc_fma_f64
TNI_INLINE int tni_sc_truth(int m) {
    __asm__("" : "+r"(m));
    return m;
}
#define TNI_TRUTH(m) tni_sc_truth(m)
#else
#define TNI_FMA_F32 fmaf
#define TNI_FMA_F64 fma
#define TNI_TRUTH(m) (m)
#endif
#endif

#define TNI_S(name) TNI_JOIN(tni_sc_##name##_, TNI_SUFFIX)
#define V T
#define M int
#define W 1
#define V_LD(p) TNI_S(ld)(p)
#define V_ST(p, v) TNI_S(st)(p, v)
#define V_LDN(p, n) TNI_S(ldn)(p, n)
#define V_STN(p, v, n) TNI_S(stn)(p, v, n)
#define V_LD2(p, a, b) (*(a) = V_LD(p), *(b) = V_LD((const T *)(const void *)(p) + 1))
#define V_ST2(p, a, b) (V_ST(p, a), V_ST((T *)(void *)(p) + 1, b))
#define V_SET(s) ((T)(s))
#define V_ZERO() ((T)0)
#define V_MIN(a, b) TNI_S(min)(a, b)
#define V_MAX(a, b) TNI_S(max)(a, b)
#define V_LT(a, b) ((a) < (b))
#define V_LE(a, b) ((a) <= (b))
#define V_GT(a, b) ((a) > (b))
#define V_GE(a, b) ((a) >= (b))
#define V_EQ(a, b) ((a) == (b))
#define V_NE(a, b) ((a) != (b))
#define V_SEL(m, a, b) (TNI_TRUTH(m) ? (a) : (b))
#define M_AND(a, b) ((a) & (b))
#define M_OR(a, b) ((a) | (b))
#define M_XOR(a, b) ((a) ^ (b))
#define M_NOT(a) (!(a))
#define M_ANY(m) (m)
#define V_AND(a, b) TNI_S (and)(a, b)
#define V_OR(a, b) TNI_S(or)(a, b)
#define V_XOR(a, b) TNI_S (xor)(a, b)
#define V_NOT(a) TNI_S(not )(a)
#define V_MST(p, m) (*(uint8_t *)(p) = (uint8_t)(m))
#define M_LD(p) (*(const uint8_t *)(p) != 0)

#define V_ADD(a, b) ((T)((a) + (b)))
#define V_EXPO(a) TNI_S(expo)(a)
#define V_MANT(a) TNI_S(mant)(a)
#define V_SUB(a, b) ((T)((a) - (b)))
#define V_MUL(a, b) ((T)((a) * (b)))
#define V_DIV(a, b) ((T)((a) / (b)))
#define V_NEG(a) (-(a))
#define V_LDEXP(v, n) TNI_S(ldexp)(v, n)
#define V_FMA(a, b, c) TNI_FMA_F64(a, b, c)
#define V_FNMA(a, b, c) TNI_FMA_F64(-(a), b, c)
#define V_ABS(a) fabs(a)
#define V_SQRT(a) sqrt(a)
#define V_FLOOR(a) floor(a)
#define V_CEIL(a) ceil(a)
#define V_TRUNC(a) trunc(a)
#define V_ROUND(a) rint(a)
#elif TNI_ISA == 1

/* src/simd/avx2.h - the vocabulary for x86-64 with AVX2, FMA and F16C */
#ifndef TNI_SIMD_AVX2_H
#define TNI_SIMD_AVX2_H

static const int32_t tni_avx2_first[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TNI_INLINE __m256i tni_avx2_mask32(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - n));
}
TNI_INLINE __m256i tni_avx2_mask64(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - 2 * n));
}
TNI_INLINE void tni_avx2_mst32(void *p, __m256i m) {
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(h, h), _mm_set1_epi8(1)));
}
TNI_INLINE void tni_avx2_mst64(void *p, int bits) {
    uint32_t u = ((uint32_t)bits * 0x204081u) & 0x01010101u;
    memcpy(p, &u, 4);
}
TNI_INLINE __m256i tni_avx2_mld32(const void *p) {
    __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_mld64(const void *p) {
    int32_t u;
    memcpy(&u, p, 4);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(u)), _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_not(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }

TNI_INLINE __m256 tni_avx2_ldexp_f32(__m256 v, __m256 n) {
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1), one = _mm256_set1_epi32(127);
    __m256i a = _mm256_slli_epi32(_mm256_add_epi32(h, one), 23);
    __m256i b = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(k, h), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(v, _mm256_castsi256_ps(a)), _mm256_castsi256_ps(b));
}
TNI_INLINE __m256d tni_avx2_ldexp_f64(__m256d v, __m256d n) {
    __m128i k = _mm256_cvtpd_epi32(n), h = _mm_srai_epi32(k, 1), one = _mm_set1_epi32(1023);
    __m256i a = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(h, one)), 52);
    __m256i b =
        _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(_mm_sub_epi32(k, h), one)), 52);
    return _mm256_mul_pd(_mm256_mul_pd(v, _mm256_castsi256_pd(a)), _mm256_castsi256_pd(b));
}
TNI_INLINE __m256 tni_avx2_expo_f32(__m256 v) {
    __m256i k = _mm256_srli_epi32(_mm256_castps_si256(v), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(k, _mm256_set1_epi32(127)));
}
TNI_INLINE __m256d tni_avx2_expo_f64(__m256d v) {
    __m256i k = _mm256_srli_epi64(_mm256_castpd_si256(v), 52);
    k = _mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000));
    return _mm256_sub_pd(_mm256_castsi256_pd(k), _mm256_set1_pd(4503599627371519.0));
}
TNI_INLINE __m256 tni_avx2_mant_f32(__m256 v) {
    v = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(v, _mm256_set1_ps(1.0f));
}
TNI_INLINE __m256d tni_avx2_mant_f64(__m256d v) {
    v = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000fffffffffffff)));
    return _mm256_or_pd(v, _mm256_set1_pd(1.0));
}

TNI_INLINE void tni_avx2_ld2_f32(const float *p, __m256 *a, __m256 *b) {
    __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0x88)),
            odd = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0xdd));
    *a = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *b = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TNI_INLINE void tni_avx2_st2_f32(float *p, __m256 a, __m256 b) {
    __m256 x = _mm256_unpacklo_ps(a, b), y = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(x, y, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(x, y, 0x31));
}
TNI_INLINE void tni_avx2_ld2_f64(const double *p, __m256d *a, __m256d *b) {
    __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
    *a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), 0xd8);
    *b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), 0xd8);
}
TNI_INLINE void tni_avx2_st2_f64(double *p, __m256d a, __m256d b) {
    __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(x, y, 0x20));
    _mm256_storeu_pd(p + 4, _mm256_permute2f128_pd(x, y, 0x31));
}

TNI_INLINE __m256i tni_avx2_mul_i64(__m256i a, __m256i b) {
    __m256i cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    cross = _mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}
TNI_INLINE __m256i tni_avx2_sel(__m256i m, __m256i a, __m256i b) {
    return _mm256_blendv_epi8(b, a, m);
}
TNI_INLINE __m256i tni_avx2_min_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(b, a), a, b);
}
TNI_INLINE __m256i tni_avx2_max_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(a, b), a, b);
}
TNI_INLINE __m256i tni_avx2_abs_i64(__m256i a) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_sub_epi64(_mm256_xor_si256(a, s), s);
}
TNI_INLINE __m256i tni_avx2_shr_i64(__m256i a, __m256i n) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, s), n), s);
}
#endif

#define V __m256d
#define M __m256d
#define W 4
#define V_LD(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_pd((double *)(void *)(p), v)
#define V_LDN(p, n) _mm256_maskload_pd((const double *)(const void *)(p), tni_avx2_mask64(n))
#define V_STN(p, v, n) _mm256_maskstore_pd((double *)(void *)(p), tni_avx2_mask64(n), v)
#define V_SET(s) _mm256_set1_pd((double)(s))
#define V_LD2(p, a, b) tni_avx2_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx2_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() _mm256_setzero_pd()
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define V_SUB(a, b) _mm256_sub_pd(a, b)
#define V_MUL(a, b) _mm256_mul_pd(a, b)
#define V_DIV(a, b) _mm256_div_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define V_NEG(a) _mm256_xor_pd(a, _mm256_set1_pd(-0.0))
#define V_ABS(a) _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define V_SQRT(a) _mm256_sqrt_pd(a)
#define V_MIN(a, b) _mm256_min_pd(a, b)
#define V_MAX(a, b) _mm256_max_pd(a, b)
#define V_FLOOR(a) _mm256_floor_pd(a)
#define V_CEIL(a) _mm256_ceil_pd(a)
#define V_TRUNC(a) _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm256_cmp_pd(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm256_cmp_pd(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm256_cmp_pd(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm256_cmp_pd(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm256_cmp_pd(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm256_blendv_pd(b, a, m)
#define M_AND(a, b) _mm256_and_pd(a, b)
#define M_OR(a, b) _mm256_or_pd(a, b)
#define M_XOR(a, b) _mm256_xor_pd(a, b)
#define M_NOT(a) _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi32(-1)))
#define M_ANY(m) (_mm256_movemask_pd(m) != 0)
#define V_AND(a, b) _mm256_and_pd(a, b)
#define V_OR(a, b) _mm256_or_pd(a, b)
#define V_XOR(a, b) _mm256_xor_pd(a, b)
#define V_NOT(a) M_NOT(a)
#define V_LDEXP(v, n) tni_avx2_ldexp_f64(v, n)
#define V_EXPO(a) tni_avx2_expo_f64(a)
#define V_MANT(a) tni_avx2_mant_f64(a)
#define V_MST(p, m) tni_avx2_mst64(p, _mm256_movemask_pd(m))
#define M_LD(p) _mm256_castsi256_pd(tni_avx2_mld64(p))

#elif TNI_ISA == 2

/* src/simd/avx512.h - the vocabulary for x86-64 with AVX-512 F, BW, DQ and VL */
#ifndef TNI_SIMD_AVX512_H
#define TNI_SIMD_AVX512_H

TNI_INLINE __mmask16 tni_avx512_first16(int64_t n) { return (__mmask16)((1u << n) - 1u); }
TNI_INLINE __mmask8 tni_avx512_first8(int64_t n) { return (__mmask8)((1u << n) - 1u); }
TNI_INLINE void tni_avx512_mst16(void *p, __mmask16 m) {
    _mm_storeu_si128((__m128i *)p, _mm_maskz_set1_epi8(m, 1));
}
TNI_INLINE void tni_avx512_mst8(void *p, __mmask8 m) {
    _mm_storel_epi64((__m128i *)p, _mm_maskz_set1_epi8((__mmask16)m, 1));
}
TNI_INLINE __mmask16 tni_avx512_mld16(const void *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return _mm_test_epi8_mask(v, v);
}
TNI_INLINE __mmask8 tni_avx512_mld8(const void *p) {
    __m128i v = _mm_loadl_epi64((const __m128i *)p);
    return (__mmask8)_mm_test_epi8_mask(v, v);
}
TNI_INLINE void tni_avx512_ld2_f32(const float *p, __m512 *a, __m512 *b) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 x = _mm512_loadu_ps(p), y = _mm512_loadu_ps(p + 16);
    *a = _mm512_permutex2var_ps(x, even, y);
    *b = _mm512_permutex2var_ps(x, _mm512_add_epi32(even, _mm512_set1_epi32(1)), y);
}
TNI_INLINE void tni_avx512_st2_f32(float *p, __m512 a, __m512 b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a, low, b));
    _mm512_storeu_ps(p + 16,
                     _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
TNI_INLINE void tni_avx512_ld2_f64(const double *p, __m512d *a, __m512d *b) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512d x = _mm512_loadu_pd(p), y = _mm512_loadu_pd(p + 8);
    *a = _mm512_permutex2var_pd(x, even, y);
    *b = _mm512_permutex2var_pd(x, _mm512_add_epi64(even, _mm512_set1_epi64(1)), y);
}
TNI_INLINE void tni_avx512_st2_f64(double *p, __m512d a, __m512d b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    _mm512_storeu_pd(p, _mm512_permutex2var_pd(a, low, b));
    _mm512_storeu_pd(p + 8,
                     _mm512_permutex2var_pd(a, _mm512_add_epi64(low, _mm512_set1_epi64(4)), b));
}
#endif

#define V __m512d
#define M __mmask8
#define W 8
#define V_LD(p) _mm512_loadu_pd((const void *)(p))
#define V_ST(p, v) _mm512_storeu_pd((void *)(p), v)
#define V_LDN(p, n) _mm512_maskz_loadu_pd(tni_avx512_first8(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_pd((void *)(p), tni_avx512_first8(n), v)
#define V_SET(s) _mm512_set1_pd((double)(s))
#define V_LD2(p, a, b) tni_avx512_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_avx512_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() _mm512_setzero_pd()
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_SUB(a, b) _mm512_sub_pd(a, b)
#define V_MUL(a, b) _mm512_mul_pd(a, b)
#define V_DIV(a, b) _mm512_div_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define V_NEG(a) _mm512_xor_pd(a, _mm512_set1_pd(-0.0))
#define V_ABS(a) _mm512_andnot_pd(_mm512_set1_pd(-0.0), a)
#define V_SQRT(a) _mm512_sqrt_pd(a)
#define V_MIN(a, b) _mm512_min_pd(a, b)
#define V_MAX(a, b) _mm512_max_pd(a, b)
#define V_FLOOR(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define V_CEIL(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define V_TRUNC(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define V_ROUND(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_LT(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define V_LE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)
#define V_GT(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ)
#define V_GE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ)
#define V_EQ(a, b) _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)
#define V_NE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ)
#define V_SEL(m, a, b) _mm512_mask_blend_pd(m, b, a)
#define V_AND(a, b) _mm512_and_pd(a, b)
#define V_OR(a, b) _mm512_or_pd(a, b)
#define V_XOR(a, b) _mm512_xor_pd(a, b)
#define V_NOT(a) _mm512_xor_pd(a, _mm512_castsi512_pd(_mm512_set1_epi32(-1)))
#define V_LDEXP(v, n) _mm512_scalef_pd(v, n)
#define V_EXPO(a) _mm512_getexp_pd(a)
#define V_MANT(a) _mm512_getmant_pd(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)
#define V_MST(p, m) tni_avx512_mst8(p, m)
#define M_LD(p) tni_avx512_mld8(p)

#define TNI_M(m) ((__mmask8)(m))
#define M_AND(a, b) TNI_M((a) & (b))
#define M_OR(a, b) TNI_M((a) | (b))
#define M_XOR(a, b) TNI_M((a) ^ (b))
#define M_NOT(a) TNI_M(~(unsigned)(a))
#define M_ANY(m) ((m) != 0)
#elif TNI_ISA == 3

/* src/simd/neon.h - the vocabulary for aarch64 */
#ifndef TNI_SIMD_NEON_H
#define TNI_SIMD_NEON_H

TNI_INLINE float32x4_t tni_neon_ldn_f32(const void *p, int64_t n) {
    float t[4] = {0, 0, 0, 0};
    memcpy(t, p, (size_t)n * 4);
    return vld1q_f32(t);
}
TNI_INLINE void tni_neon_stn_f32(void *p, float32x4_t v, int64_t n) {
    float t[4];
    vst1q_f32(t, v);
    memcpy(p, t, (size_t)n * 4);
}
TNI_INLINE float64x2_t tni_neon_ldn_f64(const void *p, int64_t n) {
    double t[2] = {0, 0};
    memcpy(t, p, (size_t)n * 8);
    return vld1q_f64(t);
}
TNI_INLINE void tni_neon_stn_f64(void *p, float64x2_t v, int64_t n) {
    double t[2];
    vst1q_f64(t, v);
    memcpy(p, t, (size_t)n * 8);
}
TNI_INLINE int32x4_t tni_neon_ldn_i32(const void *p, int64_t n) {
    return vreinterpretq_s32_f32(tni_neon_ldn_f32(p, n));
}
TNI_INLINE void tni_neon_stn_i32(void *p, int32x4_t v, int64_t n) {
    tni_neon_stn_f32(p, vreinterpretq_f32_s32(v), n);
}
TNI_INLINE int64x2_t tni_neon_ldn_i64(const void *p, int64_t n) {
    return vreinterpretq_s64_f64(tni_neon_ldn_f64(p, n));
}
TNI_INLINE void tni_neon_stn_i64(void *p, int64x2_t v, int64_t n) {
    tni_neon_stn_f64(p, vreinterpretq_f64_s64(v), n);
}
TNI_INLINE void tni_neon_mst32(void *p, uint32x4_t m) {
    uint16x4_t h = vmovn_u32(m);
    uint8x8_t b = vand_u8(vmovn_u16(vcombine_u16(h, h)), vdup_n_u8(1));
    vst1_lane_u32((uint32_t *)p, vreinterpret_u32_u8(b), 0);
}
TNI_INLINE void tni_neon_mst64(void *p, uint64x2_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(vgetq_lane_u64(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(vgetq_lane_u64(m, 1) & 1);
}
TNI_INLINE uint32x4_t tni_neon_mld32(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint32_t t[4] = {q[0], q[1], q[2], q[3]};
    uint32x4_t v = vld1q_u32(t);
    return vtstq_u32(v, v);
}
TNI_INLINE uint64x2_t tni_neon_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint64_t t[2] = {q[0], q[1]};
    uint64x2_t v = vld1q_u64(t);
    return vtstq_u64(v, v);
}
TNI_INLINE float32x4_t tni_neon_ldexp_f32(float32x4_t v, float32x4_t n) {
    int32x4_t k = vcvtq_s32_f32(n), h = vshrq_n_s32(k, 1), one = vdupq_n_s32(127);
    float32x4_t a = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(h, one), 23));
    float32x4_t b = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(k, h), one), 23));
    return vmulq_f32(vmulq_f32(v, a), b);
}
TNI_INLINE float64x2_t tni_neon_ldexp_f64(float64x2_t v, float64x2_t n) {
    int64x2_t k = vcvtq_s64_f64(n), h = vshrq_n_s64(k, 1), one = vdupq_n_s64(1023);
    float64x2_t a = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(h, one), 52));
    float64x2_t b = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vsubq_s64(k, h), one), 52));
    return vmulq_f64(vmulq_f64(v, a), b);
}
TNI_INLINE float32x4_t tni_neon_min_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
TNI_INLINE float32x4_t tni_neon_max_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_min_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_max_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_min_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcltq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_max_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcgtq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_mul_i64(int64x2_t a, int64x2_t b) {
    int64x2_t v =
        vdupq_n_s64((int64_t)((uint64_t)vgetq_lane_s64(a, 0) * (uint64_t)vgetq_lane_s64(b, 0)));
    return vsetq_lane_s64(
        (int64_t)((uint64_t)vgetq_lane_s64(a, 1) * (uint64_t)vgetq_lane_s64(b, 1)), v, 1);
}
TNI_INLINE uint64x2_t tni_neon_not64(uint64x2_t m) {
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m)));
}
TNI_INLINE float32x4_t tni_neon_bits_f32(uint32x4_t u) { return vreinterpretq_f32_u32(u); }
TNI_INLINE uint32x4_t tni_neon_u32(float32x4_t v) { return vreinterpretq_u32_f32(v); }
TNI_INLINE float64x2_t tni_neon_bits_f64(uint64x2_t u) { return vreinterpretq_f64_u64(u); }
TNI_INLINE uint64x2_t tni_neon_u64(float64x2_t v) { return vreinterpretq_u64_f64(v); }
TNI_INLINE void tni_neon_ld2_f32(const float *p, float32x4_t *a, float32x4_t *b) {
    float32x4x2_t v = vld2q_f32(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f32(float *p, float32x4_t a, float32x4_t b) {
    float32x4x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f32(p, v);
}
TNI_INLINE void tni_neon_ld2_f64(const double *p, float64x2_t *a, float64x2_t *b) {
    float64x2x2_t v = vld2q_f64(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f64(double *p, float64x2_t a, float64x2_t b) {
    float64x2x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f64(p, v);
}
TNI_INLINE float32x4_t tni_neon_expo_f32(float32x4_t v) {
    int32x4_t k = vreinterpretq_s32_u32(vshrq_n_u32(tni_neon_u32(v), 23));
    return vcvtq_f32_s32(vsubq_s32(k, vdupq_n_s32(127)));
}
TNI_INLINE float64x2_t tni_neon_expo_f64(float64x2_t v) {
    int64x2_t k = vreinterpretq_s64_u64(vshrq_n_u64(tni_neon_u64(v), 52));
    return vcvtq_f64_s64(vsubq_s64(k, vdupq_n_s64(1023)));
}
TNI_INLINE float32x4_t tni_neon_mant_f32(float32x4_t v) {
    uint32x4_t u = vandq_u32(tni_neon_u32(v), vdupq_n_u32(0x007fffffu));
    return tni_neon_bits_f32(vorrq_u32(u, vdupq_n_u32(0x3f800000u)));
}
TNI_INLINE float64x2_t tni_neon_mant_f64(float64x2_t v) {
    uint64x2_t u = vandq_u64(tni_neon_u64(v), vdupq_n_u64(0x000fffffffffffffu));
    return tni_neon_bits_f64(vorrq_u64(u, vdupq_n_u64(0x3ff0000000000000u)));
}
#endif

#define V float64x2_t
#define V_LD(p) vld1q_f64((const double *)(const void *)(p))
#define V_ST(p, v) vst1q_f64((double *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_f64(p, n)
#define V_STN(p, v, n) tni_neon_stn_f64(p, v, n)
#define V_SET(s) vdupq_n_f64((double)(s))
#define V_LD2(p, a, b) tni_neon_ld2_f64((const double *)(const void *)(p), a, b)
#define V_ST2(p, a, b) tni_neon_st2_f64((double *)(void *)(p), a, b)
#define V_ZERO() vdupq_n_f64(0)
#define V_ADD(a, b) vaddq_f64(a, b)
#define V_SUB(a, b) vsubq_f64(a, b)
#define V_MUL(a, b) vmulq_f64(a, b)
#define V_DIV(a, b) vdivq_f64(a, b)
#define V_FMA(a, b, c) vfmaq_f64(c, a, b)
#define V_FNMA(a, b, c) vfmsq_f64(c, a, b)
#define V_NEG(a) vnegq_f64(a)
#define V_ABS(a) vabsq_f64(a)
#define V_SQRT(a) vsqrtq_f64(a)
#define V_MIN(a, b) tni_neon_min_f64(a, b)
#define V_MAX(a, b) tni_neon_max_f64(a, b)
#define V_FLOOR(a) vrndmq_f64(a)
#define V_CEIL(a) vrndpq_f64(a)
#define V_TRUNC(a) vrndq_f64(a)
#define V_ROUND(a) vrndnq_f64(a)
#define V_LT(a, b) vcltq_f64(a, b)
#define V_LE(a, b) vcleq_f64(a, b)
#define V_GT(a, b) vcgtq_f64(a, b)
#define V_GE(a, b) vcgeq_f64(a, b)
#define V_EQ(a, b) vceqq_f64(a, b)
#define V_SEL(m, a, b) vbslq_f64(m, a, b)
#define V_AND(a, b) tni_neon_bits_f64(vandq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_OR(a, b) tni_neon_bits_f64(vorrq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_XOR(a, b) tni_neon_bits_f64(veorq_u64(tni_neon_u64(a), tni_neon_u64(b)))
#define V_NOT(a) tni_neon_bits_f64(tni_neon_not64(tni_neon_u64(a)))
#define V_LDEXP(v, n) tni_neon_ldexp_f64(v, n)
#define V_EXPO(a) tni_neon_expo_f64(a)
#define V_MANT(a) tni_neon_mant_f64(a)

#define M uint64x2_t
#define W 2
#define M_AND(a, b) vandq_u64(a, b)
#define M_OR(a, b) vorrq_u64(a, b)
#define M_XOR(a, b) veorq_u64(a, b)
#define M_NOT(a) tni_neon_not64(a)
#define M_ANY(m) ((vgetq_lane_u64(m, 0) | vgetq_lane_u64(m, 1)) != 0)
#define V_MST(p, m) tni_neon_mst64(p, m)
#define M_LD(p) tni_neon_mld64(p)
#define V_NE(a, b) M_NOT(V_EQ(a, b))
#elif TNI_ISA == 4

/* src/simd/wasm128.h - the vocabulary for WebAssembly with 128-bit SIMD (emcc -msimd128) */
#ifndef TNI_SIMD_WASM128_H
#define TNI_SIMD_WASM128_H

TNI_INLINE v128_t tni_wasm_ldn(const void *p, int64_t n, size_t each) {
    v128_t v = wasm_i64x2_splat(0);
    memcpy(&v, p, (size_t)n * each);
    return v;
}
TNI_INLINE void tni_wasm_stn(void *p, v128_t v, int64_t n, size_t each) {
    memcpy(p, &v, (size_t)n * each);
}
TNI_INLINE void tni_wasm_mst32(void *p, v128_t m) {
    v128_t h = wasm_i16x8_narrow_i32x4(m, m);
    v128_t b = wasm_v128_and(wasm_i8x16_narrow_i16x8(h, h), wasm_i8x16_splat(1));
    wasm_v128_store32_lane(p, b, 0);
}
TNI_INLINE void tni_wasm_mst64(void *p, v128_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(wasm_i64x2_extract_lane(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(wasm_i64x2_extract_lane(m, 1) & 1);
}
TNI_INLINE v128_t tni_wasm_mld32(const void *p) {
    v128_t v = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
    return wasm_i32x4_ne(wasm_u32x4_extend_low_u16x8(v), wasm_i32x4_splat(0));
}
TNI_INLINE v128_t tni_wasm_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    return wasm_i64x2_ne(wasm_i64x2_make(q[0], q[1]), wasm_i64x2_splat(0));
}

TNI_INLINE v128_t tni_wasm_low(v128_t a) { return wasm_f64x2_promote_low_f32x4(a); }
TNI_INLINE v128_t tni_wasm_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1));
}
TNI_INLINE v128_t tni_wasm_floats(v128_t low, v128_t high) {
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high),
                              0, 2);
}
TNI_INLINE v128_t tni_wasm_to_odd(v128_t p, v128_t c) {
    v128_t s = wasm_f64x2_add(p, c), t = wasm_f64x2_sub(s, p), zero = wasm_f64x2_splat(0);
    v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(c, t));
    v128_t side = wasm_f64x2_mul(lost, s);
    v128_t beyond = wasm_f64x2_lt(side, zero), before = wasm_f64x2_gt(side, zero);
    v128_t odd = wasm_u64x2_shr(wasm_v128_or(beyond, before), 63);
    return wasm_v128_or(wasm_i64x2_add(s, beyond), odd);
}
static TNI_NOINLINE v128_t tni_wasm_fma_once(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    return tni_wasm_floats(tni_wasm_to_odd(p, tni_wasm_low(c)),
                           tni_wasm_to_odd(q, tni_wasm_high(c)));
}
TNI_INLINE v128_t tni_wasm_fma_f32(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    v128_t s = wasm_f64x2_add(p, tni_wasm_low(c)), t = wasm_f64x2_add(q, tni_wasm_high(c));
    v128_t sum = tni_wasm_floats(s, t), tail = wasm_i32x4_shuffle(s, t, 0, 2, 4, 6);
    v128_t halfway = wasm_i32x4_eq(wasm_v128_and(tail, wasm_i32x4_splat(0x1fffffff)),
                                   wasm_i32x4_splat(0x10000000));
    v128_t small = wasm_f32x4_le(wasm_f32x4_abs(sum), wasm_f32x4_splat(1.17549435e-38f));
    v128_t denormal = wasm_v128_and(small, wasm_f32x4_ne(sum, wasm_f32x4_splat(0)));
    if (TNI_LIKELY(!wasm_v128_any_true(wasm_v128_or(halfway, denormal)))) return sum;
    return tni_wasm_fma_once(a, b, c);
}
TNI_INLINE v128_t tni_wasm_fma_f64(v128_t a, v128_t b, v128_t c) {
    return wasm_f64x2_make(
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 0), wasm_f64x2_extract_lane(b, 0),
                       wasm_f64x2_extract_lane(c, 0)),
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 1), wasm_f64x2_extract_lane(b, 1),
                       wasm_f64x2_extract_lane(c, 1)));
}

TNI_INLINE v128_t tni_wasm_ldexp_f32(v128_t v, v128_t n) {
    v128_t k = wasm_i32x4_trunc_sat_f32x4(n), h = wasm_i32x4_shr(k, 1);
    v128_t one = wasm_i32x4_splat(127), a = wasm_i32x4_shl(wasm_i32x4_add(h, one), 23);
    v128_t b = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(k, h), one), 23);
    return wasm_f32x4_mul(wasm_f32x4_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_ldexp_f64(v128_t v, v128_t n) {
    v128_t k = wasm_i64x2_extend_low_i32x4(wasm_i32x4_trunc_sat_f64x2_zero(n));
    v128_t h = wasm_i64x2_shr(k, 1), one = wasm_i64x2_splat(1023);
    v128_t a = wasm_i64x2_shl(wasm_i64x2_add(h, one), 52);
    v128_t b = wasm_i64x2_shl(wasm_i64x2_add(wasm_i64x2_sub(k, h), one), 52);
    return wasm_f64x2_mul(wasm_f64x2_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_expo_f32(v128_t v) {
    v128_t k = wasm_u32x4_shr(v, 23);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(k, wasm_i32x4_splat(127)));
}
TNI_INLINE v128_t tni_wasm_expo_f64(v128_t v) {
    v128_t k = wasm_v128_or(wasm_u64x2_shr(v, 52), wasm_i64x2_splat(0x4330000000000000));
    return wasm_f64x2_sub(k, wasm_f64x2_splat(4503599627371519.0));
}
TNI_INLINE v128_t tni_wasm_mant_f32(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i32x4_splat(0x007fffff));
    return wasm_v128_or(u, wasm_i32x4_splat(0x3f800000));
}
TNI_INLINE v128_t tni_wasm_mant_f64(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i64x2_splat(0x000fffffffffffff));
    return wasm_v128_or(u, wasm_i64x2_splat(0x3ff0000000000000));
}
TNI_INLINE void tni_wasm_ld2_f32(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i32x4_shuffle(x, y, 0, 2, 4, 6);
    *b = wasm_i32x4_shuffle(x, y, 1, 3, 5, 7);
}
TNI_INLINE void tni_wasm_st2_f32(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5));
    wasm_v128_store(p + 16, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
TNI_INLINE void tni_wasm_ld2_f64(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i64x2_shuffle(x, y, 0, 2);
    *b = wasm_i64x2_shuffle(x, y, 1, 3);
}
TNI_INLINE void tni_wasm_st2_f64(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i64x2_shuffle(a, b, 0, 2));
    wasm_v128_store(p + 16, wasm_i64x2_shuffle(a, b, 1, 3));
}
TNI_INLINE v128_t tni_wasm_min_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_lt(a, b));
}
TNI_INLINE v128_t tni_wasm_max_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_gt(a, b));
}
#define TNI_WASM_SHIFT(name, word, E, N)                              \
    TNI_INLINE v128_t tni_wasm_##name(v128_t a, v128_t n) {           \
        E x[N], by[N];                                                \
        wasm_v128_store(x, a);                                        \
        wasm_v128_store(by, n);                                       \
        for (int i = 0; i < N; i++) x[i] = tni_sc_##word(x[i], by[i]); \
        return wasm_v128_load(x);                                     \
    }
TNI_WASM_SHIFT(shl_i32, shl_i32, int32_t, 4)
TNI_WASM_SHIFT(shr_i32, shr_i32, int32_t, 4)
TNI_WASM_SHIFT(shl_i64, shl_i64, int64_t, 2)
TNI_WASM_SHIFT(shr_i64, shr_i64, int64_t, 2)
#undef TNI_WASM_SHIFT
#endif

#define V v128_t
#define M v128_t
#define V_LD(p) wasm_v128_load(p)
#define V_ST(p, v) wasm_v128_store(p, v)
#define V_LDN(p, n) tni_wasm_ldn(p, n, sizeof(T))
#define V_STN(p, v, n) tni_wasm_stn(p, v, n, sizeof(T))
#define V_ZERO() wasm_i64x2_splat(0)
#define V_SEL(m, a, b) wasm_v128_bitselect(a, b, m)
#define M_AND(a, b) wasm_v128_and(a, b)
#define M_OR(a, b) wasm_v128_or(a, b)
#define M_XOR(a, b) wasm_v128_xor(a, b)
#define M_NOT(a) wasm_v128_not(a)
#define M_ANY(m) wasm_v128_any_true(m)
#define V_AND(a, b) wasm_v128_and(a, b)
#define V_OR(a, b) wasm_v128_or(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_NOT(a) wasm_v128_not(a)

#define W 2
#define V_SET(s) wasm_f64x2_splat((double)(s))
#define V_LD2(p, a, b) tni_wasm_ld2_f64((const char *)(p), a, b)
#define V_ST2(p, a, b) tni_wasm_st2_f64((char *)(p), a, b)
#define V_ADD(a, b) wasm_f64x2_add(a, b)
#define V_SUB(a, b) wasm_f64x2_sub(a, b)
#define V_MUL(a, b) wasm_f64x2_mul(a, b)
#define V_DIV(a, b) wasm_f64x2_div(a, b)
#define V_FMA(a, b, c) tni_wasm_fma_f64(a, b, c)
#define V_FNMA(a, b, c) tni_wasm_fma_f64(wasm_f64x2_neg(a), b, c)
#define V_NEG(a) wasm_f64x2_neg(a)
#define V_ABS(a) wasm_f64x2_abs(a)
#define V_SQRT(a) wasm_f64x2_sqrt(a)
#define V_MIN(a, b) wasm_f64x2_pmin(b, a)
#define V_MAX(a, b) wasm_f64x2_pmax(b, a)
#define V_FLOOR(a) wasm_f64x2_floor(a)
#define V_CEIL(a) wasm_f64x2_ceil(a)
#define V_TRUNC(a) wasm_f64x2_trunc(a)
#define V_ROUND(a) wasm_f64x2_nearest(a)
#define V_LT(a, b) wasm_f64x2_lt(a, b)
#define V_LE(a, b) wasm_f64x2_le(a, b)
#define V_GT(a, b) wasm_f64x2_gt(a, b)
#define V_GE(a, b) wasm_f64x2_ge(a, b)
#define V_EQ(a, b) wasm_f64x2_eq(a, b)
#define V_NE(a, b) wasm_f64x2_ne(a, b)
#define V_LDEXP(v, n) tni_wasm_ldexp_f64(v, n)
#define V_EXPO(a) tni_wasm_expo_f64(a)
#define V_MANT(a) tni_wasm_mant_f64(a)
#define V_MST(p, m) tni_wasm_mst64(p, m)
#define M_LD(p) tni_wasm_mld64(p)

#endif

#define V_ONE V_SET(1)
#define V_PARAM(p, i) V_SET(((const T *)(p))[i])
#define V_ISNAN(a) TNI_FNT(tni_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_isfinite)(a)
#define V_SIGN(a) TNI_FNT(tni_sign)(a)
#define V_SIGNBIT(a) TNI_FNT(tni_signbit)(a)
#define V_SQUARE(a) TNI_FNT(tni_square)(a)
#define V_CONJ(a) (a)
#define V_ST_REAL(p, v) V_ST(p, v)
#define V_WITHIN(a, r) V_LT(V_ABS(a), V_SET(r))
#define V_MAXIMUM(a, b) TNI_FNT(tni_maximum)(a, b)
#define V_MINIMUM(a, b) TNI_FNT(tni_minimum)(a, b)
#define V_FLOORDIV(a, b) TNI_FNT(tni_floordiv)(a, b)
#define V_TRUNCDIV(a, b) TNI_FNT(tni_truncdiv)(a, b)
#define V_REMAINDER(a, b) TNI_FNT(tni_remainder)(a, b)
#define V_FMOD(a, b) TNI_FNT(tni_fmod)(a, b)
#define V_POW(a, b) TNI_FNT(tni_pow)(a, b)
#define V_COPYSIGN(a, b) TNI_FNT(tni_copysign)(a, b)
#define V_HYPOT(a, b) TNI_FNT(tni_hypot)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_logaddexp)(a, b)
#define V_LOGADDEXP2(a, b) TNI_FNT(tni_logaddexp2)(a, b)
#define V_NEXTAFTER(a, b) TNI_FNT(tni_nextafter)(a, b)
#define V_EXP(a) TNI_FNT(tni_exp)(a)
#define V_EXPM1(a) TNI_FNT(tni_expm1)(a)
#define V_LOG(a) TNI_FNT(tni_log)(a)
#define V_LOG1P(a) TNI_FNT(tni_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_log2)(a)
#define V_LOG10(a) TNI_FNT(tni_log10)(a)
#define V_SIN(a) TNI_FNT(tni_sin)(a)
#define V_COS(a) TNI_FNT(tni_cos)(a)
#define V_TAN(a) TNI_FNT(tni_tan)(a)
#define V_TANH(a) TNI_FNT(tni_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_sigmoid)(a)
#define V_ERF(a) TNI_FNT(tni_erf)(a)
#define V_LGAMMA(a) TNI_FNT(tni_lgamma)(a)
#define V_DIGAMMA(a) TNI_FNT(tni_digamma)(a)
#define V_ATAN(a) TNI_FNT(tni_atan)(a)
#define V_ATAN2(a, b) TNI_FNT(tni_atan2)(a, b)
#define V_ASIN(a) TNI_FNT(tni_asin)(a)
#define V_ACOS(a) TNI_FNT(tni_acos)(a)
#define V_SINH(a) TNI_FNT(tni_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_cosh)(a)
#define V_ANGLE(a) TNI_FNT(tni_angle)(a)
#if TNI_ISA == 0 && defined(TNI_TYPE_F64)

/* src/simd/special.h - the words of rows of the letter f: functions of f64 that are compiled once, for the scalar set */
#define V_ERFC(a) TNI_FN(tni_erfc)(a)
#define V_ERFCX(a) TNI_FN(tni_erfcx)(a)
#define V_ERFINV(a) TNI_FN(tni_erfinv)(a)
#define V_NDTR(a) TNI_FN(tni_ndtr)(a)
#define V_LOG_NDTR(a) TNI_FN(tni_log_ndtr)(a)
#define V_NDTRI(a) TNI_FN(tni_ndtri)(a)
#define V_ZETA(s, q) TNI_FN(tni_zeta)(s, q)
#define V_I0(a) TNI_FN(tni_i0)(a)
#define V_I0E(a) TNI_FN(tni_i0e)(a)
#define V_I1(a) TNI_FN(tni_i1)(a)
#define V_I1E(a) TNI_FN(tni_i1e)(a)
#define V_K0(a) TNI_FN(tni_k)(a, 0, 0)
#define V_K1(a) TNI_FN(tni_k)(a, 1, 0)
#define V_K0E(a) TNI_FN(tni_k)(a, 0, 1)
#define V_K1E(a) TNI_FN(tni_k)(a, 1, 1)
#define V_J0(a) TNI_FN(tni_j0)(a)
#define V_J1(a) TNI_FN(tni_j1)(a)
#define V_Y0(a) TNI_FN(tni_y0)(a)
#define V_Y1(a) TNI_FN(tni_y1)(a)
#define V_SPHERICAL_J0(a) TNI_FN(tni_spherical_j0)(a)
#define V_AIRY_AI(a) TNI_FN(tni_airy_ai)(a)
#define V_IGAMMA(a, x) TNI_FN(tni_igamma_of)(a, x, 0)
#define V_IGAMMAC(a, x) TNI_FN(tni_igamma_of)(a, x, 1)
#define V_CHEBYSHEV_T(x, n) TNI_FN(tni_chebyshev_of)(x, n, TNI_T)
#define V_CHEBYSHEV_U(x, n) TNI_FN(tni_chebyshev_of)(x, n, TNI_U)
#define V_CHEBYSHEV_V(x, n) TNI_FN(tni_chebyshev_of)(x, n, TNI_V)
#define V_CHEBYSHEV_W(x, n) TNI_FN(tni_chebyshev_of)(x, n, TNI_W)
#define V_HERMITE_H(x, n) TNI_FN(tni_hermite)(x, n, 2)
#define V_HERMITE_HE(x, n) TNI_FN(tni_hermite)(x, n, 1)
#define V_LAGUERRE_L(x, n) TNI_FN(tni_laguerre)(x, n)
#define V_LEGENDRE_P(x, n) TNI_FN(tni_legendre)(x, n)
#endif

/* src/simd/math_float.h - the functions of math.h for one floating type */

#define K(f, d) V_SET(d)
#define H(c) p = V_FMA(p, z, V_SET(c))
#define K_INF V_SET(INFINITY)
#define K_NAN V_SET(NAN)
#define K_LIMIT 1048576.0
#define LN2_HI K(6.931471825e-01, 6.93147180559945286e-01)
#define LN2_LO K(-1.904654212e-09, 2.31904681384629956e-17)

TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_EQ(V_ABS(x), K_INF); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_LT(V_ABS(x), K_INF); }
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_copysign)(V x, V sign) { return V_OR(V_ABS(x), V_AND(sign, V_SET(-0.0))); }
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(TNI_FNT(tni_copysign)(V_ONE, x), V_ZERO()); }
TNI_INLINE V TNI_FNT(tni_sign)(V x) {
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}

TNI_INLINE V TNI_FNT(tni_angle)(V x) {
    V side = V_SEL(V_LT(x, V_ZERO()), V_SET(3.14159265358979323846), V_ZERO());
    return V_SEL(V_NE(x, x), x, side);
}

TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_SEL(M_OR(V_GT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_SEL(M_OR(V_LT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return V_TRUNC(V_DIV(a, b)); }

TNI_HELPER V TNI_FNT(tni_hypot)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), large = V_MAX(a, b), little = V_MIN(a, b), zero = V_ZERO();
    V huge = K(1.2676506002282294e+30, 4.1495155688809930e+180),
      tiny = K(7.8886090522101181e-31, 2.4099198651028841e-181);
    M high = V_GT(large, K(1152921504606846976.0, 3.2733906078961419e+150)),
      deep = V_LT(large, K(9.0949470177292824e-13, 3.8725919148493183e-121));
    V up = V_SEL(high, tiny, V_SEL(deep, huge, V_ONE)),
      down = V_SEL(high, huge, V_SEL(deep, tiny, V_ONE));
    V l = V_MUL(large, up), s = V_MUL(little, up), h = V_SQRT(V_FMA(l, l, V_MUL(s, s)));
    V hh = V_MUL(h, h), ll = V_MUL(l, l), off = V_FNMA(s, s, V_SUB(hh, ll));
    off = V_ADD(off, V_SUB(V_FMA(h, h, V_NEG(hh)), V_FMA(l, l, V_NEG(ll))));
    h = V_MUL(V_SUB(h, V_DIV(off, V_ADD(h, h))), down);
    h = V_SEL(V_EQ(large, zero), zero, h);
    h = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), h);
    return V_SEL(M_OR(V_EQ(a, K_INF), V_EQ(b, K_INF)), K_INF, h);
}

TNI_HELPER V TNI_FNT(tni_nextafter)(V x, V y) {
    V a = V_ABS(x), zero = V_ZERO(), least = K(1.401298464e-45, 4.9406564584124654e-324);
    M fixed = V_LT(a, K(2.350988702e-38, 4.4501477170144028e-308)),
        shrinks = M_XOR(V_GT(x, y), V_LT(x, zero));
    V by = V_SEL(fixed, least, K(5.960465188e-08, 1.1102230246251568e-16));
    V next = V_FMA(V_SEL(shrinks, V_NEG(by), by), V_SEL(fixed, V_ONE, a), a);
    next = V_SEL(M_AND(shrinks, V_EQ(a, K_INF)), K(3.402823466e+38, 1.7976931348623157e+308), next);
    next = V_SEL(V_EQ(a, zero), TNI_FNT(tni_copysign)(least, y), TNI_FNT(tni_copysign)(next, x));
    next = V_SEL(V_EQ(x, y), y, next);
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), next);
}

#define EXP_LOW -746
#define EXP_HIGH 711

TNI_INLINE V TNI_FNT(tni_exp_poly)(V z) {
    V p = V_SET(1.60912871270460349e-10);
    H(2.09182131858799360e-09);
    H(2.50520557039157981e-08);
    H(2.75572630747015386e-07);
    H(2.75573192657052891e-06);
    H(2.48015873366336929e-05);
    H(1.98412698412535836e-04);
    H(1.38888888888790015e-03);
    H(8.33333333333333369e-03);
    H(4.16666666666666782e-02);
    H(1.66666666666666657e-01);
    H(0.5);
    return p;
}
TNI_INLINE V TNI_FNT(tni_exp_parts)(V x, V *r, V *s) {
    x = V_MAX(V_SET(EXP_LOW), V_MIN(V_SET(EXP_HIGH), x));
    V n = V_ROUND(V_MUL(x, V_SET(1.44269504088896339)));
    V a = V_FNMA(n, LN2_HI, x), b = V_MUL(n, LN2_LO);
    *r = V_SUB(a, b);
    *s = V_FMA(V_MUL(*r, *r), TNI_FNT(tni_exp_poly)(*r), V_SUB(V_SUB(a, *r), b));
    return n;
}
TNI_HELPER V TNI_FNT(tni_exp)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), n);
}
TNI_HELPER V TNI_FNT(tni_exp_half)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), V_SUB(n, V_ONE));
}
TNI_INLINE V TNI_FNT(tni_expm1_parts)(V x, V *lo) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s), t = V_LDEXP(V_ONE, V_SUB(n, V_ONE));
    V a = V_SUB(t, V_SET(0.5)), c = V_SUB(a, t),
      al = V_SUB(V_SUB(t, V_SUB(a, c)), V_ADD(V_SET(0.5), c));
    V b = V_MUL(t, r), sum = V_ADD(a, b), rest = V_FMA(t, s, V_ADD(V_ADD(V_SUB(a, sum), b), al));
    V hi = V_ADD(sum, rest);
    *lo = V_ADD(V_SUB(sum, hi), rest);
    return hi;
}
TNI_HELPER V TNI_FNT(tni_expm1)(V x) {
    V lo, y = TNI_FNT(tni_expm1_parts)(x, &lo);
    y = V_SEL(V_LT(x, V_SET(EXP_HIGH)), V_ADD(y, y), V_ADD(x, K_INF));
    return V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y);
}
TNI_HELPER V TNI_FNT(tni_sigmoid)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(V_NEG(V_ABS(x)), &r, &s);
    V u = V_ADD(r, s), h = V_ADD(V_ONE, u),
      l = V_ADD(V_ADD(V_SUB(V_ONE, h), u), V_ADD(V_SUB(r, u), s));
    V e = V_LDEXP(h, n), el = V_LDEXP(l, n), d = V_ADD(V_ONE, e),
      dl = V_ADD(V_ADD(V_SUB(V_ONE, d), e), el);
    M positive = V_GE(x, V_ZERO());
    V t = V_SEL(positive, V_ONE, e), tl = V_SEL(positive, V_ZERO(), el), i = V_DIV(V_ONE, d),
      q = V_MUL(t, i);
    return V_FMA(V_FNMA(q, dl, V_ADD(V_FNMA(q, d, t), tl)), i, q);
}
TNI_HELPER V TNI_FNT(tni_tanh)(V x) {
    V a = V_MIN(K(10, 20), V_ABS(x)), l, h = TNI_FNT(tni_expm1_parts)(V_MUL(a, V_SET(-2)), &l);
    V d = V_ADD(V_ONE, h), dl = V_ADD(V_ADD(V_SUB(V_ONE, d), h), l), i = V_DIV(V_ONE, d),
      q = V_NEG(V_MUL(h, i));
    V rest = V_FNMA(q, dl, V_SUB(V_FNMA(q, d, V_NEG(h)), l));
    q = V_SEL(V_LT(a, V_SET(1e-20)), a, V_FMA(rest, i, q));
    return TNI_FNT(tni_copysign)(q, x);
}
TNI_HELPER V TNI_FNT(tni_sinh)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_expm1_parts)(V_MIN(V_SET(20), a), &l);
    V y = V_ADD(h, V_ADD(V_DIV(h, V_FMA(V_SET(2), h, V_ONE)), l));
    y = V_SEL(V_LT(a, V_SET(20)), y, TNI_FNT(tni_exp_half)(a));
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(a, V_SET(1e-20)), a, y), x);
}
TNI_HELPER V TNI_FNT(tni_cosh)(V x) {
    V a = V_ABS(x), h = TNI_FNT(tni_exp_half)(a), y = V_ADD(h, V_DIV(V_SET(0.25), h));
    return V_SEL(V_LT(a, V_SET(20)), y, h);
}

TNI_INLINE V TNI_FNT(tni_log_split)(V x, V *f) {
    M little = V_LT(x, K(1.17549435e-38, 2.2250738585072014e-308));
    x = V_SEL(little, V_MUL(x, K(16777216, 18014398509481984.0)), x);
    V e = V_SUB(V_EXPO(x), V_SEL(little, K(24, 54), V_ZERO())), m = V_MANT(x);
    M upper = V_GT(m, V_SET(1.41421356237309505));
    *f = V_SUB(V_SEL(upper, V_MUL(m, V_SET(0.5)), m), V_ONE);
    return V_SEL(upper, V_ADD(e, V_ONE), e);
}
TNI_INLINE V TNI_FNT(tni_log_tail)(V f) {
    V s = V_DIV(f, V_ADD(V_SET(2), f)), z = V_MUL(s, s), p = V_SET(6.54404508035778126e-02);
    H(6.63431221028847606e-02);
    H(7.69312281805563519e-02);
    H(9.09089776139465899e-02);
    H(1.11111111964524001e-01);
    H(1.42857142853989288e-01);
    H(2.00000000000004424e-01);
    H(3.33333333333333315e-01);
    V half = V_MUL(V_SET(0.5), V_MUL(f, f));
    return V_FMA(s, V_FMA(V_ADD(z, z), p, half), V_NEG(half));
}
TNI_INLINE V TNI_FNT(tni_log_specials)(V x, V y) {
    y = V_SEL(V_LT(x, K_INF), y, x);
    y = V_SEL(V_EQ(x, V_ZERO()), V_NEG(K_INF), y);
    return V_SEL(V_LT(x, V_ZERO()), K_NAN, y);
}
TNI_HELPER V TNI_FNT(tni_log)(V x) {
    V f, e = TNI_FNT(tni_log_split)(x, &f), hi = V_FMA(e, LN2_HI, f);
    V lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = V_ADD(hi, V_ADD(V_ADD(lo, TNI_FNT(tni_log_tail)(f)), V_MUL(e, LN2_LO)));
    return TNI_FNT(tni_log_specials)(x, y);
}
TNI_HELPER V TNI_FNT(tni_log1p)(V x) {
    V u = V_ADD(V_ONE, x), b = V_SUB(u, V_ONE), c = V_ADD(V_SUB(V_ONE, V_SUB(u, b)), V_SUB(x, b));
    V f, e = TNI_FNT(tni_log_split)(u, &f), d = V_LDEXP(c, V_NEG(e));
    V tail = V_FMA(d, V_FMA(f, V_SUB(f, V_ONE), V_ONE), TNI_FNT(tni_log_tail)(f));
    V hi = V_FMA(e, LN2_HI, f), lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = TNI_FNT(tni_log_specials)(u, V_ADD(hi, V_ADD(V_ADD(lo, tail), V_MUL(e, LN2_LO))));
    return V_SEL(V_EQ(x, V_ZERO()), x, y);
}
TNI_HELPER V TNI_FNT(tni_logaddexp)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    return V_ADD(V_MAXIMUM(x, y), TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_NEG(gap))));
}
TNI_HELPER V TNI_FNT(tni_logaddexp2)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    V r = TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_MUL(gap, V_SET(-0.69314718055994531))));
    return V_FMA(r, V_SET(1.44269504088896339), V_MAXIMUM(x, y));
}

TNI_HELPER V TNI_FNT(tni_log_long)(V a, V *lo) {
    V f, e = TNI_FNT(tni_log_split)(a, &f), two = V_ADD(V_SET(2), f),
         low = V_ADD(V_SUB(V_SET(2), two), f);
    V i = V_DIV(V_ONE, two), q = V_MUL(f, i), z = V_MUL(q, q);
    V ql = V_MUL(i, V_FNMA(q, low, V_FNMA(q, two, f)));
    V p = V_SET(5.86219340885594797e-02);
    H(5.85305641745502217e-02);
    H(6.66740482646310251e-02);
    H(7.69229743189867865e-02);
    H(9.09090916820070871e-02);
    H(1.11111111108254904e-01);
    H(1.42857142857146874e-01);
    H(2.00000000000000011e-01);
    V t = V_MUL(z, p), third = K(3.333333433e-01, 3.33333333333333315e-01), c = V_ADD(third, t);
    V cl = V_ADD(V_ADD(V_SUB(third, c), t), K(-9.934107759e-09, 1.85037170770859413e-17));
    V zl = V_FMA(q, V_ADD(ql, ql), V_FMA(q, q, V_NEG(z))), cube = V_MUL(z, q);
    V cubel = V_FMA(z, ql, V_FMA(zl, q, V_FMA(z, q, V_NEG(cube))));
    V w = V_MUL(cube, c), wl = V_FMA(cube, cl, V_FMA(cubel, c, V_FMA(cube, c, V_NEG(w))));
    V h = V_ADD(q, w), l = V_ADD(V_ADD(V_SUB(q, h), w), V_ADD(ql, wl));
    h = V_ADD(h, h);
    l = V_ADD(l, l);
    V n = V_MUL(e, LN2_HI), nl = V_FMA(e, LN2_LO, V_FMA(e, LN2_HI, V_NEG(n))), s = V_ADD(n, h);
    l = V_ADD(V_ADD(V_SEL(V_EQ(e, V_ZERO()), V_ZERO(), V_ADD(V_SUB(n, s), h)), nl), l);
    h = V_ADD(s, l);
    *lo = V_ADD(V_SUB(s, h), l);
    return h;
}
TNI_HELPER V TNI_FNT(tni_log_base)(V x, V c, V cl) {
    V l, h = TNI_FNT(tni_log_long)(x, &l), p = V_MUL(h, c);
    return TNI_FNT(tni_log_specials)(x, V_ADD(p, V_FMA(l, c, V_FMA(h, cl, V_FMA(h, c, V_NEG(p))))));
}
TNI_INLINE V TNI_FNT(tni_log2)(V x) {
    return TNI_FNT(tni_log_base)(x, K(1.442695022e+00, 1.44269504088896339e+00),
                                 K(1.925963034e-08, 2.03552737409310331e-17));
}
TNI_INLINE V TNI_FNT(tni_log10)(V x) {
    return TNI_FNT(tni_log_base)(x, K(4.342944920e-01, 4.34294481903251817e-01),
                                 K(-1.010304995e-08, 1.09831965021676507e-17));
}
TNI_INLINE V TNI_FNT(tni_exp_long)(V h, V l) {
    V n = V_ROUND(V_MUL(h, V_SET(1.44269504088896339))), a = V_FNMA(n, LN2_HI, h),
      b = V_FNMA(n, LN2_LO, l);
    V r = V_ADD(a, b), rl = V_ADD(V_SUB(a, r), b), s = V_MUL(V_MUL(r, r), TNI_FNT(tni_exp_poly)(r));
    V y = V_ADD(V_ONE, r), yl = V_ADD(V_ADD(V_SUB(V_ONE, y), r), V_ADD(s, V_FMA(rl, r, rl)));
    return V_LDEXP(V_ADD(y, yl), n);
}
TNI_HELPER V TNI_FNT(tni_pow)(V x, V y) {
    M square = V_EQ(y, V_SET(2)), cube = V_EQ(y, V_SET(3));
    V sq = V_MUL(x, x), product = V_SEL(square, sq, V_MUL(sq, x));
    if (!M_ANY(M_NOT(M_OR(square, cube)))) return product;
    V a = V_ABS(x), l, h = TNI_FNT(tni_log_long)(a, &l), zero = V_ZERO(), inf = K_INF;
    V ph = V_MUL(y, h), pl = V_FMA(y, l, V_FMA(y, h, V_NEG(ph)));
    M above = M_NOT(V_LE(V_ABS(ph), K(105, 750)));
    ph = V_MAX(K(-105, -750), V_MIN(K(105, 750), ph));
    V r = TNI_FNT(tni_exp_long)(ph, V_SEL(above, zero, pl));
    r = V_SEL(V_EQ(a, V_ONE), V_ONE, r);
    M under = V_LT(y, zero);
    r = V_SEL(V_EQ(a, zero), V_SEL(under, inf, zero), r);
    r = V_SEL(V_EQ(a, inf), V_SEL(under, zero, inf), r);
    V half = V_MUL(y, V_SET(0.5));
    M whole = V_EQ(V_TRUNC(y), y), odd = M_AND(whole, V_NE(V_TRUNC(half), half));
    r = V_OR(r, V_AND(V_SEL(odd, x, zero), V_SET(-0.0)));
    r = V_SEL(M_AND(M_AND(V_LT(x, zero), V_GT(x, V_NEG(inf))), M_NOT(whole)), K_NAN, r);
    r = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), r);
    r = V_SEL(M_OR(V_EQ(y, zero), V_EQ(x, V_ONE)), V_ONE, r);
    return V_SEL(M_OR(square, cube), product, r);
}

TNI_HELPER V TNI_FNT(tni_trig_lanes)(V x, V r, V *rl, V *q) {
    T xs[W], rs[W], ls[W], qs[W];
    V_ST(xs, x);
    V_ST(rs, r);
    V_ST(ls, *rl);
    V_ST(qs, *q);
    for (int i = 0; i < W; i++) {
        double hi, lo;
        if (!(xs[i] > K_LIMIT || xs[i] < -K_LIMIT) || xs[i] - xs[i] != 0) continue;
        qs[i] = (T)TNI_FN(tni_trig_large)((double)xs[i], &hi, &lo);
        rs[i] = (T)hi;
        ls[i] = (T)((hi - (double)rs[i]) + lo);
    }
    *rl = V_LD(ls);
    *q = V_LD(qs);
    return V_LD(rs);
}
TNI_INLINE V TNI_FNT(tni_trig_reduce)(V x, V *rl, V *q) {
    V n = V_ROUND(V_MUL(x, V_SET(6.36619772367581382e-01)));
    V p2 = K(-4.371138829e-08, 6.12323399573676604e-17),
      p3 = K(-1.715124510e-15, -1.49738490485916983e-33);
    V r = V_FNMA(n, K(1.570796371, 1.57079632679489656), x), p = V_MUL(n, p2),
      pe = V_FMA(n, p2, V_NEG(p));
    V s = V_SUB(r, p), b = V_SUB(s, r);
    V e = V_SUB(V_SUB(r, V_SUB(s, b)), V_ADD(p, b));
    V l = V_FNMA(n, p3, V_SUB(e, pe));
    r = V_ADD(s, l);
    *rl = V_ADD(V_SUB(s, r), l);
    *q = V_FNMA(V_SET(4), V_FLOOR(V_MUL(n, V_SET(0.25))), n);
    if (M_ANY(V_GT(V_ABS(x), V_SET(K_LIMIT)))) r = TNI_FNT(tni_trig_lanes)(x, r, rl, q);
    return r;
}
TNI_INLINE V TNI_FNT(tni_sin_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r);
    V p = V_SET(-7.58658048790459093e-13);
    H(1.60585296445810500e-10);
    H(-2.50521062200247380e-08);
    H(2.75573192193035283e-06);
    H(-1.98412698412650193e-04);
    H(8.33333333333333148e-03);
    H(-1.66666666666666657e-01);
    *low = V_FMA(V_MUL(z, r), p, V_FMA(V_MUL(z, V_SET(-0.5)), rl, rl));
    return r;
}
TNI_INLINE V TNI_FNT(tni_cos_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r), half = V_MUL(z, V_SET(0.5)), w = V_SUB(V_ONE, half);
    V p = V_SET(4.74580684080214986e-14);
    H(-1.14704597858538745e-11);
    H(2.08767557841456125e-09);
    H(-2.75573192213829243e-07);
    H(2.48015873015846216e-05);
    H(-1.38888888888888873e-03);
    H(4.16666666666666644e-02);
    *low = V_ADD(V_SUB(V_SUB(V_ONE, w), half), V_FNMA(r, rl, V_MUL(V_MUL(z, z), p)));
    return w;
}
TNI_HELPER V TNI_FNT(tni_trig)(V x, int cosine) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    s = V_ADD(s, sl);
    c = V_ADD(c, cl);
    M one = V_EQ(q, V_ONE), two = V_EQ(q, V_SET(2)), three = V_EQ(q, V_SET(3)),
      odd = M_OR(one, three);
    V y = cosine ? V_SEL(odd, s, c) : V_SEL(odd, c, s);
    y = V_SEL(cosine ? M_OR(one, two) : M_OR(two, three), V_NEG(y), y);
    y = cosine ? y : V_SEL(V_EQ(x, V_ZERO()), x, y);
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}
TNI_INLINE V TNI_FNT(tni_sin)(V x) { return TNI_FNT(tni_trig)(x, 0); }
TNI_INLINE V TNI_FNT(tni_cos)(V x) { return TNI_FNT(tni_trig)(x, 1); }
TNI_HELPER V TNI_FNT(tni_tan)(V x) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    V sh = V_ADD(s, sl), ch = V_ADD(c, cl);
    sl = V_ADD(V_SUB(s, sh), sl);
    cl = V_ADD(V_SUB(c, ch), cl);
    M odd = M_OR(V_EQ(q, V_ONE), V_EQ(q, V_SET(3)));
    V a = V_SEL(odd, V_NEG(ch), sh), al = V_SEL(odd, V_NEG(cl), sl), b = V_SEL(odd, sh, ch);
    V bl = V_SEL(odd, sl, cl), y = V_DIV(a, b);
    y = V_ADD(y, V_DIV(V_FNMA(y, bl, V_ADD(V_FNMA(y, b, a), al)), b));
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y);
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}

#define PIO2_HI K(1.570796371, 1.57079632679489656)
#define PIO2_LO K(-4.371138829e-08, 6.12323399573676604e-17)
TNI_INLINE V TNI_FNT(tni_atan_tail)(V t) {
    V z = V_MUL(t, t);
    V p = V_SET(-1.92134085037362623e-02);
    H(3.92637202992664469e-02);
    H(-5.08664575612532144e-02);
    H(5.85839588480056225e-02);
    H(-6.66454226359379925e-02);
    H(7.69218557062620323e-02);
    H(-9.09090469001803680e-02);
    H(1.11111110182789075e-01);
    H(-1.42857142847080232e-01);
    H(1.99999999999957406e-01);
    H(-3.33333333333333315e-01);
    return V_MUL(V_MUL(z, t), p);
}
TNI_HELPER V TNI_FNT(tni_atan)(V x) {
    V a = V_ABS(x);
    M above = V_GT(a, V_SET(2.41421356237309505)), below = V_LE(a, V_SET(0.414213562373095049));
    V less = V_SUB(a, V_ONE), more = V_ADD(a, V_ONE), zero = V_ZERO();
    V lessl = V_ADD(V_SUB(V_SET(-1), less), a),
      morel = V_ADD(V_SUB(V_MAX(a, V_ONE), more), V_MIN(a, V_ONE));
    V up = V_SEL(above, V_SET(-1), V_SEL(below, a, less)),
      down = V_SEL(above, a, V_SEL(below, V_ONE, more));
    V i = V_DIV(V_ONE, down), t = V_MUL(up, i), rest = V_FNMA(t, down, up);
    M mid = M_NOT(M_OR(above, below));
    rest = V_ADD(rest, V_SEL(mid, V_FNMA(t, morel, lessl), zero));
    V step = V_SEL(above, V_ONE, V_SEL(below, V_ZERO(), V_SET(0.5))), base = V_MUL(step, PIO2_HI);
    V low = V_FMA(rest, i, V_FMA(step, PIO2_LO, TNI_FNT(tni_atan_tail)(t))), s = V_ADD(base, t);
    low = V_SEL(V_LT(a, K_INF), low, V_MUL(step, PIO2_LO));
    V y = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return TNI_FNT(tni_copysign)(V_SEL(below, V_ADD(t, low), y), x);
}
TNI_HELPER V TNI_FNT(tni_atan2)(V y, V x) {
    V a = V_ABS(x), b = V_ABS(y), zero = V_ZERO(), large = V_MAX(a, b), little = V_MIN(a, b);
    M steep = V_GT(b, a), left = TNI_FNT(tni_signbit)(x), endless = V_EQ(large, K_INF);
    V scale = V_SEL(V_GT(large, K(1.3292279957849159e+36, 2.8088955232223686e+306)), V_SET(0.0625),
                    V_ONE);
    scale = V_SEL(V_LT(large, K(1099511627776, 2.5822498780869086e+120)),
                  K(18446744073709551616.0, 4.1495155688809930e+180), scale);
    little = V_SEL(endless, V_SEL(V_EQ(a, b), V_ONE, zero), V_MUL(little, scale));
    large = V_SEL(M_OR(endless, V_EQ(large, zero)), V_ONE, V_MUL(large, scale));
    M beyond = V_LE(little, V_MUL(large, V_SET(0.414213562373095049)));
    V less = V_SUB(little, large), lessl = V_SUB(little, V_ADD(less, large)),
      more = V_ADD(little, large), morel = V_SUB(little, V_SUB(more, large));
    V up = V_SEL(beyond, little, less), down = V_SEL(beyond, large, more), i = V_DIV(V_ONE, down),
      t = V_MUL(up, i);
    V rest = V_ADD(V_FNMA(t, down, up), V_SEL(beyond, zero, V_FNMA(t, morel, lessl)));
    V low = V_FMA(rest, i, TNI_FNT(tni_atan_tail)(t)), step = V_SEL(beyond, zero, V_SET(0.5));
    step = V_SEL(steep, V_SUB(V_ONE, step), step);
    step = V_SEL(left, V_SUB(V_SET(2), step), step);
    V turned = V_SEL(M_XOR(steep, left), V_SET(-0.0), zero), base = V_MUL(step, PIO2_HI);
    t = V_XOR(t, turned);
    low = V_ADD(V_XOR(low, turned), V_FMA(step, PIO2_LO, V_FMA(step, PIO2_HI, V_NEG(base))));
    V s = V_ADD(base, t), angle = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), TNI_FNT(tni_copysign)(angle, y));
}
TNI_HELPER V TNI_FNT(tni_asin_tail)(V t) {
    V z = V_MUL(t, t);
    V p = V_SET(2.90203794368872371e-02);
    H(-1.52439645300440768e-02);
    H(1.76570258721838007e-02);
    H(5.36139127846630651e-03);
    H(1.03456814991210854e-02);
    H(1.14755848738593586e-02);
    H(1.39715893764227970e-02);
    H(1.73523667690095619e-02);
    H(2.23721740759968736e-02);
    H(3.03819441093165429e-02);
    H(4.46428571467441110e-02);
    H(7.49999999999823030e-02);
    H(1.66666666666666685e-01);
    return V_MUL(V_MUL(z, t), p);
}
TNI_HELPER V TNI_FNT(tni_acos_near_one)(V a, V *low) {
    V z = V_MUL(V_SUB(V_ONE, a), V_SET(0.5)), s = V_SQRT(z), i = V_DIV(V_SET(0.5), s);
    V sl = V_SEL(V_GT(s, V_ZERO()), V_MUL(V_FNMA(s, s, z), i), V_ZERO());
    V l = V_ADD(TNI_FNT(tni_asin_tail)(s), sl);
    *low = V_ADD(l, l);
    return V_ADD(s, s);
}
TNI_HELPER V TNI_FNT(tni_asin)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), s = V_SUB(PIO2_HI, h);
    V outer = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, s), h), PIO2_LO), l));
    V y = V_SEL(V_GT(a, V_SET(0.5)), outer, V_ADD(a, TNI_FNT(tni_asin_tail)(a)));
    return TNI_FNT(tni_copysign)(V_SEL(V_LE(a, V_ONE), y, K_NAN), x);
}
TNI_HELPER V TNI_FNT(tni_acos)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), pi = V_ADD(PIO2_HI, PIO2_HI);
    V pil = V_ADD(PIO2_LO, PIO2_LO), s = V_SUB(pi, h), t = V_SUB(PIO2_HI, x);
    V negative = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(pi, s), h), pil), l));
    V inner = V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, t), x), PIO2_LO), TNI_FNT(tni_asin_tail)(x));
    V y = V_SEL(V_LT(x, V_ZERO()), negative, V_ADD(h, l));
    y = V_SEL(V_GT(a, V_SET(0.5)), y, V_ADD(t, inner));
    return V_SEL(V_LE(a, V_ONE), y, K_NAN);
}

TNI_HELPER V TNI_FNT(tni_erf)(V x) {
    V a = V_MIN(K(4.2, 5.95), V_ABS(x)), sq = V_MUL(a, a), z = sq, below, above;
    V p = V_SET(5.94525924018032111e-11);
    H(-1.13656644442390191e-09);
    H(1.46578794420150271e-08);
    H(-1.63500251622660576e-07);
    H(1.64609728112695583e-06);
    H(-1.49255935065289795e-05);
    H(1.20553310368844933e-04);
    H(-8.54832697874178507e-04);
    H(5.22397762478085930e-03);
    H(-2.68661706450728927e-02);
    H(1.12837916709548569e-01);
    H(-3.76126389031837483e-01);
    H(1.28379167095512586e-01);
    below = V_FMA(p, a, a);
    p = V_SET(-4.92764664271337850e-12);
    z = a, H(2.04461847968950888e-10);
    H(-3.93370298216017618e-09);
    H(4.64174168215294386e-08);
    H(-3.73266380401637352e-07);
    H(2.13550226642660655e-06);
    H(-8.66654140982254747e-06);
    H(2.28208460316976323e-05);
    H(-2.02633855765498947e-05);
    H(-1.35055037259412841e-04);
    H(7.70647595429562273e-04);
    H(-1.91594511721922484e-03);
    H(4.10626167723749801e-04);
    H(1.89901825823651053e-02);
    H(-1.02703442811848275e-01);
    H(-6.36643626394099549e-01);
    H(-1.12837408997051125e+00);
    H(-5.02786008329770191e-07);
    above = V_SUB(V_ONE, TNI_FNT(tni_exp)(p));
    below = V_SEL(V_GT(a, V_ONE), above, below);
    return TNI_FNT(tni_copysign)(below, x);
}

/* src/simd/math_gamma.h - the logarithm of the gamma function and its derivative, for one floating type */

#define PI K(3.141592741e+00, 3.14159265358979312e+00)

#define P(a, b) p = V_FMA(p, t, V_SEL(low, V_SET(a), V_SET(b)))
TNI_INLINE V TNI_FNT(tni_lgamma_poly)(V t, M low) {
    V p = V_SEL(low, V_SET(7.16128887432693748e-04), V_ZERO());
    P(-4.32868225045595582e-03, 0);
    P(1.19977040921419517e-02, 0);
    P(-2.05730485994505864e-02, 0);
    P(2.54685213282892231e-02, 0);
    P(-2.62457562143149081e-02, 0);
    P(2.59934613315612496e-02, 2.03543194235487442e-08);
    P(-2.67732359110658159e-02, -1.20246322938877928e-07);
    P(2.84097989635010428e-02, 3.68760773570019424e-07);
    P(-3.02711409430873324e-02, -8.55071032952096192e-07);
    P(3.22402656712209648e-02, 1.81932860534393095e-06);
    P(-3.44465081988993144e-02, -3.85140834194856484e-06);
    P(3.69888500654800695e-02, 8.22153710688832972e-06);
    P(-3.99426703173661329e-02, -1.76609739734722678e-05);
    P(4.34108935095814524e-02, 3.81688270327341236e-05);
    P(-4.75431457032850502e-02, -8.30951745842269205e-05);
    P(5.25563250544585567e-02, 1.82552648277783366e-04);
    P(-5.87779409775654529e-02, -4.05707395944930865e-04);
    P(6.67317282157256914e-02, 9.15376921826351010e-04);
    P(-7.73181685365842558e-02, -2.10813083397834878e-03);
    P(9.22390084651253106e-02, 4.99864116470570118e-03);
    P(-1.15146542563809490e-01, -1.23841921933711616e-02);
    P(1.55434265863949761e-01, 3.29650006211557670e-02);
    P(-2.45251368522580393e-01, -1.00317301674353918e-01);
    P(5.77215664901532866e-01, 4.22784335098467134e-01);
    return p;
}
#undef P
TNI_INLINE V TNI_FNT(tni_lgamma_tail)(V z) {
    V p = V_SET(-2.08553692146075387e-02);
    H(6.20811025803577696e-03);
    H(-1.91496528961363302e-03);
    H(8.41732519353673983e-04);
    H(-5.95238023381374523e-04);
    H(7.93650793511570924e-04);
    H(-2.77777777777767467e-03);
    H(8.33333333333333287e-02);
    return p;
}
TNI_INLINE V TNI_FNT(tni_sin_pi_abs)(V x) {
    return V_ABS(TNI_FNT(tni_sin)(V_MUL(V_SUB(x, V_ROUND(x)), PI)));
}
TNI_HELPER V TNI_FNT(tni_lgamma)(V x) {
    V a = V_ABS(x), b = a, product = V_ONE, zero = V_ZERO();
    M little = V_LT(a, V_SET(0.7)), large = V_GE(a, V_SET(8)), low = V_LT(a, V_SET(1.7));
    for (int i = 0; i < 6; i++) {
        M down = V_GE(b, V_SET(2.7));
        b = V_SEL(down, V_SUB(b, V_ONE), b);
        product = V_SEL(down, V_MUL(product, b), product);
    }
    V first = V_SEL(little, a, V_SUB(b, V_ONE)),
      second = V_SUB(V_SEL(little, a, b), V_SEL(little, V_ONE, V_SET(2)));
    V t = V_SEL(low, first, second);
    V base = V_MUL(V_MUL(first, second), TNI_FNT(tni_lgamma_poly)(t, low));
    V l, h = TNI_FNT(tni_log_long)(V_SEL(M_OR(little, large), a, product), &l), i = V_DIV(V_ONE, a),
         rest = V_FMA(TNI_FNT(tni_lgamma_tail)(V_MUL(i, i)), i,
                      K(4.189385474e-01, 4.18938533204672742e-01));
    V half = V_SUB(a, V_SET(0.5)), beyond = V_FMA(half, V_SUB(h, V_ONE), V_FMA(half, l, rest));
    V y = V_SEL(little, V_ADD(V_NEG(h), V_SUB(base, l)), V_ADD(h, V_ADD(base, l)));
    y = V_SEL(V_LT(a, V_SET(2.7)), V_SEL(little, y, base), y);
    y = V_SEL(large, beyond, y);
    M under = M_AND(V_LT(x, zero), V_GT(a, V_SET(1e-20)));
    if (M_ANY(under)) {
        V s = TNI_FNT(tni_sin_pi_abs)(a);
        s = TNI_FNT(tni_log)(V_DIV(PI, V_SEL(little, s, V_MUL(s, a))));
        y = V_SEL(under, V_SUB(s, V_SEL(little, base, y)), y);
    }
    M pole = M_AND(V_LE(x, zero), V_EQ(V_TRUNC(x), x));
    y = V_SEL(M_OR(pole, V_EQ(a, K_INF)), K_INF, y);
    return V_SEL(V_ISNAN(x), x, V_ADD(y, zero));
}

TNI_HELPER V TNI_FNT(tni_digamma)(V x) {
    M under = V_LT(x, V_ZERO());
    V from = K(5, 10), a = V_SEL(under, V_SUB(V_ONE, x), x), s = V_ZERO(), e = V_ZERO();
    for (int k = 0; k < 10; k++) {
        M step = V_LT(a, from);
        V q = V_DIV(V_ONE, a), sum = V_ADD(s, q), b = V_SUB(sum, s);
        V off = V_ADD(V_SUB(s, V_SUB(sum, b)), V_SUB(q, b));
        off = V_FMA(q, V_FNMA(q, a, V_ONE), off);
        s = V_SEL(step, sum, s);
        e = V_SEL(step, V_ADD(e, off), e);
        a = V_SEL(step, V_ADD(a, V_ONE), a);
    }
    V l, h = TNI_FNT(tni_log_long)(a, &l), i = V_DIV(V_ONE, a), z = V_MUL(i, i);
    V p = V_SET(8.33333333333333333e-02);
    H(-2.10927960927960928e-02);
    H(7.57575757575757576e-03);
    H(-4.16666666666666667e-03);
    H(3.96825396825396825e-03);
    H(-8.33333333333333333e-03);
    H(8.33333333333333333e-02);
    V y = V_SUB(V_SUB(h, s), V_SUB(V_FMA(p, z, V_FMA(V_SET(0.5), i, e)), l));
    y = V_SEL(V_EQ(a, K_INF), a, y);
    if (M_ANY(under)) {
        V t = TNI_FNT(tni_tan)(V_MUL(V_SUB(x, V_ROUND(x)), PI));
        y = V_SEL(under, V_SUB(y, V_DIV(PI, t)), y);
        y = V_SEL(M_AND(under, V_EQ(V_TRUNC(x), x)), K_NAN, y);
    }
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), V_NEG(V_DIV(V_ONE, x)), y);
    return V_SEL(V_ISNAN(x), x, y);
}

#undef PI

TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return fmod(a, b); }

/* src/simd/math_lanes.h - a vector function `to` made of name_one(T, T), lane by lane */
#define TNI_LANES(name, to)                                                 \
    TNI_HELPER V to(V a, V b) {                                             \
        T x[W], y[W];                                                       \
        V_ST(x, a);                                                         \
        V_ST(y, b);                                                         \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]); \
        return V_LD(x);                                                     \
    }
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod_lanes))
#undef TNI_LANES
TNI_HELPER V TNI_FNT(tni_fmod)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), q = V_TRUNC(V_DIV(a, b));
    M simple = M_AND(V_LT(q, V_SET(8388608)), V_LT(b, K_INF)),
      nan = M_OR(V_ISNAN(q), V_EQ(b, V_ZERO()));
    if (M_ANY(M_NOT(M_OR(simple, nan)))) return TNI_FNT(tni_fmod_lanes)(x, y);
    V r = V_FNMA(q, b, a);
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(r, V_ZERO()), V_ADD(r, b), r), x);
}
TNI_INLINE M TNI_FNT(tni_rest_differs)(V rest, V b) {
    return M_AND(V_NE(rest, V_ZERO()), M_XOR(V_LT(rest, V_ZERO()), V_LT(b, V_ZERO())));
}
TNI_HELPER V TNI_FNT(tni_remainder)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b);
    return V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_ADD(rest, b), rest);
}
TNI_HELPER V TNI_FNT(tni_floordiv)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b), ratio = V_DIV(a, b), q = V_DIV(V_SUB(a, rest), b);
    q = V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_SUB(q, V_ONE), q);
    V down = V_FLOOR(q), y = V_SEL(V_GT(V_SUB(q, down), V_SET(0.5)), V_ADD(down, V_ONE), down);
    y = V_SEL(V_EQ(q, V_ZERO()), TNI_FNT(tni_copysign)(V_ZERO(), ratio), y);
    return V_SEL(V_EQ(b, V_ZERO()), ratio, y);
}

#if TNI_ISA == 0 && defined(TNI_TYPE_F64)

/* src/simd/math_special.h - functions of rows of the letter f: of f64, for the scalar set alone, which computes numbers one at a time */
#undef TNI_SPECIAL
#define TNI_SPECIAL TNI_HELPER_AS
TNI_SPECIAL double TNI_FN(tni_chebyshev)(const double *c, int n, double t) {
    double a = 0, b = 0;
    for (int k = n - 1; k > 0; k--) {
        const double next = fma(2 * t, a, c[k] - b);
        b = a;
        a = next;
    }
    return fma(t, a, c[0] - b);
}
#define CHEBYSHEV(c, t) TNI_FN(tni_chebyshev)(c, (int)(sizeof(c) / sizeof *(c)), t)
#define INF ((double)INFINITY)
TNI_SPECIAL double TNI_FN(tni_exp_square)(double x, double sign) {
    const double s = x * x, l = fma(x, x, -s);
    if (s > 800) return sign < 0 ? 0 : INF;
    return TNI_FNT(tni_exp_long)(sign * s, sign * l);
}

TNI_SPECIAL double TNI_FN(tni_erfcx)(double x) {
    static const double c[] = {
        1.17757893456740170e+00, -4.59005458064647761e-03, -8.42491333665179171e-02,
        5.92099399981918934e-02, -2.66586684353057532e-02, 9.07499767070526521e-03,
        -2.41316354041760809e-03, 4.90775836525808628e-04, -6.91697330250120695e-05,
        4.13902798607301019e-06, 7.74038306619849033e-07, -2.18864010492343966e-07,
        1.07649994656709100e-08, 4.52195981121828665e-09, -7.75440020883135088e-10,
        -6.31808834088668410e-11, 2.86879501093066987e-11, 1.94558685457773468e-13,
        -9.65469674843343926e-13, 3.25254814814874010e-14, 3.34781194828680559e-14,
        -1.86456288041931304e-15, -1.25079505306886479e-15, 7.41823525662404405e-17,
        5.06814890479611101e-17};
    const double a = fabs(x);
    double y;
    if (x != x) return x;
    if (x < -27) return INF;
    y = a > 1e100 ? 0.56418958354775628695 / a
                  : CHEBYSHEV(c, (a - 3.75) / (a + 3.75)) / fma(2.0, a, 1.0);
    return x < 0 ? 2 * TNI_FN(tni_exp_square)(x, 1) - y : y;
}
TNI_SPECIAL double TNI_FN(tni_erfc)(double x) {
    if (x < 0.5) return 1 - TNI_FNT(tni_erf)(x);
    if (x > 28) return 0;
    return TNI_FN(tni_exp_square)(x, -1) * TNI_FN(tni_erfcx)(x);
}
TNI_SPECIAL double TNI_FN(tni_erfinv_start)(double w) {
    const double a = 0.147, t = 2 / (3.14159265358979323846 * a) + w / 2;
    return sqrt(sqrt(t * t - w / a) - t);
}
TNI_SPECIAL double TNI_FN(tni_erfc_inverse)(double q) {
    const double goal = TNI_FNT(tni_log)(q);
    double y = TNI_FN(tni_erfinv_start)(goal + TNI_FNT(tni_log)(2 - q));
    for (int k = 0; k < 3; k++) {
        const double e = TNI_FN(tni_erfcx)(y), s = y * y, l = fma(y, y, -s);
        const double off = TNI_FNT(tni_log)(e) - l - (s + goal);
        y += off * e * 0.88622692545275801365;
    }
    return y;
}
TNI_SPECIAL double TNI_FN(tni_erfinv)(double x) {
    const double a = fabs(x), z = x * x;
    double y;
    if (!(a < 1)) return a == 1 ? x * INF : (double)NAN;
    if (a >= 0.5) return TNI_FNT(tni_copysign)(TNI_FN(tni_erfc_inverse)(1 - a), x);
    y = x * fma(z * z, 0.127556175305597943, fma(z, 0.23201366653465449, 0.88622692545275801365));
    if (a < 1e-5) return y;
    for (int k = 0; k < 3; k++) {
        const double u = (TNI_FNT(tni_erf)(y) - x) * 0.88622692545275801365 *
                         TNI_FN(tni_exp_square)(y, 1);
        y -= u / fma(y, u, 1.0);
    }
    return y;
}

TNI_SPECIAL double TNI_FN(tni_ndtr)(double x) {
    const double t = x * 0.70710678118654752440;
    if (x >= -1) return t < 0.5 ? 0.5 * (1 + TNI_FNT(tni_erf)(t)) : 1 - 0.5 * TNI_FN(tni_erfc)(t);
    if (x < -39) return 0;
    const double s = x * x, l = fma(x, x, -s);
    return TNI_FNT(tni_exp_long)(-0.5 * s, -0.5 * l) * 0.5 * TNI_FN(tni_erfcx)(-t);
}
TNI_SPECIAL double TNI_FN(tni_log_ndtr)(double x) {
    const double t = x * 0.70710678118654752440;
    if (x < -1) return TNI_FNT(tni_log)(0.5 * TNI_FN(tni_erfcx)(-t)) - 0.5 * x * x;
    return TNI_FNT(tni_log1p)(-TNI_FN(tni_ndtr)(-x));
}
TNI_SPECIAL double TNI_FN(tni_ndtri)(double p) {
    const double root = 1.41421356237309504880;
    if (!(p > 0 && p < 1)) return p == 0 ? -INF : p == 1 ? INF : (double)NAN;
    if (p < 0.25) return -root * TNI_FN(tni_erfc_inverse)(2 * p);
    if (p > 0.75) return root * TNI_FN(tni_erfc_inverse)(2 * (1 - p));
    return root * TNI_FN(tni_erfinv)(2 * (p - 0.5));
}

TNI_SPECIAL double TNI_FN(tni_zeta_above)(double s, double q) {
    static const double terms[] = {12,
                                   -720,
                                   30240,
                                   -1209600,
                                   47900160,
                                   -1307674368000.0 / 691,
                                   74724249600.0,
                                   -10670622842880000.0 / 3617,
                                   5109094217170944000.0 / 43867,
                                   -802857662698291200000.0 / 174611,
                                   14101100039391805440000.0 / 77683,
                                   -1693824136731743669452800000.0 / 236364091};
    double parts[12], sum = 0, a = q, power, factor = 1;
    int n = 0;
    do {
        parts[n++] = TNI_FNT(tni_pow)(a, -s);
        a = q + n;
    } while (n < 12 && (n < 10 ? parts[n - 1] > parts[0] * 1e-18 : a <= 10));
    power = TNI_FNT(tni_pow)(a, -s);
    double tail = power == 0 ? 0 : power * (a / (s - 1) + 0.5);
    for (int k = 0; k < 12 && power != 0; k++) {
        const double t = (factor *= s + 2 * k) * (power /= a) / terms[k];
        tail += t;
        if (fabs(t) < fabs(tail) * 1e-18) break;
        factor *= s + 2 * k + 1;
        power /= a;
    }
    sum = tail;
    while (n > 0) sum += parts[--n];
    return sum;
}
TNI_SPECIAL double TNI_FN(tni_zeta)(double s, double q) {
    double k, f, y;
    if (s != s || q != q) return s + q;
    if (s == 1) return INF;
    if (s < 1) return (double)NAN;
    if (q == INF) return 0;
    if (q > 0) return s == INF ? (q < 1 ? INF : q > 1 ? 0.0 : 1.0) : TNI_FN(tni_zeta_above)(s, q);
    if (floor(q) == q) return INF;
    if (floor(s) != s || s == INF) return (double)NAN;
    k = 1 - ceil(q);
    f = q + k;
    y = TNI_FN(tni_zeta_above)(s, 1 - f) - TNI_FN(tni_zeta_above)(s, k + (1 - f));
    if (fmod(s, 2.0) != 0) y = -y;
    return TNI_FN(tni_zeta_above)(s, f) + y;
}

/* src/simd/math_bessel.h - Bessel functions of orders 0 and 1 and Airy's function */

TNI_SPECIAL double TNI_FN(tni_i0e)(double x) {
    static const double inner[] = {
        3.38397637204738033e-01, -3.04682672343198402e-01, 1.71620901522208769e-01,
        -9.49010970480476390e-02, 4.93052842396707117e-02, -2.37374148058994705e-02,
        1.05464603945949979e-02, -4.32430999505057593e-03, 1.63947561694133574e-03,
        -5.76375574538582356e-04, 1.88502885095841649e-04, -5.75419501008210397e-05,
        1.64484480707288956e-05, -4.41673835845875052e-06, 1.11738753912010366e-06,
        -2.67079385394061193e-07, 6.04699502254191863e-08, -1.30002500998624805e-08,
        2.65982372468238660e-09, -5.18979560163526271e-10, 9.67580903537323697e-11,
        -1.72682629144155587e-11, 2.95505266312963988e-12, -4.85644678311192896e-13,
        7.67618549860493607e-14, -1.16853328779934514e-14, 1.71539128555513307e-15,
        -2.43127984654795490e-16, 3.33079451882223839e-17, -4.41534164647933951e-18};
    static const double outer[] = {
        4.02245205507054393e-01, 3.36911647825569429e-03, 6.88975834691682454e-05,
        2.89137052083475665e-06, 2.04891858946906384e-07, 2.26666899049817804e-08,
        3.39623202570838651e-09, 4.94060238822497006e-10, 1.18891471078464390e-11,
        -3.14991652796324165e-11, -1.32158118404477133e-11, -1.79417853150680615e-12,
        7.18012445138366601e-13, 3.85277838274214259e-13, 1.54008621752140996e-14,
        -4.15056934728722224e-14, -9.55484669882830731e-15, 3.81168066935262240e-15,
        1.77256013305652631e-15, -3.42548561967721900e-16, -2.82762398051658365e-16,
        3.46122286769746122e-17, 4.46562142029675975e-17, -4.83050448594418188e-18,
        -7.23318048787475380e-18, 9.92147541217369872e-19, 1.19365089084598204e-18};
    x = fabs(x);
    return x <= 8 ? CHEBYSHEV(inner, x / 4 - 1) : CHEBYSHEV(outer, 16 / x - 1) / sqrt(x);
}
TNI_SPECIAL double TNI_FN(tni_i1e)(double x) {
    static const double inner[] = {
        2.78634929393416053e-01, -1.71620901522208769e-01, 5.44932943173773859e-02,
        -9.98969059952773200e-03, -3.38788705230979497e-03, 4.94531947674781928e-03,
        -3.37319996895046187e-03, 1.76955554780666214e-03, -7.89236752071420891e-04,
        3.11399135358668899e-04, -1.10989703586369658e-04, 3.62059864870792629e-05,
        -1.09088148243295704e-05, 3.05680143463805681e-06, -8.00997858738949847e-07,
        1.97169069043602181e-07, -4.57679951468933587e-08, 1.00519440706878210e-08,
        -2.09497415713964064e-09, 4.15415942733103806e-10, -7.85568117711159381e-11,
        1.41972592821461995e-11, -2.45689582265165825e-12, 4.07850766542190184e-13,
        -6.50514825163519688e-14, 9.98411024234112183e-15, -1.47660634088983571e-15,
        2.10711159054853881e-16, -2.90471700778665153e-17, 3.87262339438412633e-18};
    static const double outer[] = {
        3.89288117509140053e-01, -9.76109749136146870e-03, -1.10588938762623713e-04,
        -3.88256480887769059e-06, -2.51223623787020884e-07, -2.63146884688951959e-08,
        -3.83538038596423700e-09, -5.58974346219658378e-10, -1.89749581235054126e-11,
        3.25260358301548844e-11, 1.41258074366137819e-11, 2.03562854414708956e-12,
        -7.19855177624590836e-13, -4.08355111109219740e-13, -2.10154184277266430e-14,
        4.27244001671195105e-14, 1.04202769841288021e-14, -3.81440307243700754e-15,
        -1.88035477551078251e-15, 3.30820231092092852e-16, 2.96262899764595008e-16,
        -3.20952592199342376e-17, -4.65030536848935863e-17, 4.41434832307170765e-18,
        7.51729631084210521e-18, -9.31417886732688422e-19, -1.24219327519489097e-18};
    const double a = fabs(x);
    if (a <= 8) return CHEBYSHEV(inner, a / 4 - 1) * x / (1 + a);
    return TNI_FNT(tni_copysign)(CHEBYSHEV(outer, 16 / a - 1) / sqrt(a), x);
}
TNI_SPECIAL double TNI_FN(tni_unscaled)(double scaled, double x) {
    const double a = fabs(x), e = TNI_FNT(tni_exp)(a > 700 ? a / 2 : a);
    return a == INF ? scaled < 0 ? -INF : INF : a > 700 ? scaled * e * e : scaled * e;
}
TNI_SPECIAL double TNI_FN(tni_i0)(double x) { return TNI_FN(tni_unscaled)(TNI_FN(tni_i0e)(x), x); }
TNI_SPECIAL double TNI_FN(tni_i1)(double x) {
    const double y = TNI_FN(tni_i1e)(x);
    return x == 0 ? y : x == -INF ? -INF : TNI_FN(tni_unscaled)(y, x);
}
TNI_SPECIAL double TNI_FN(tni_log_half)(double x) {
    return x < 1e-300 ? TNI_FNT(tni_log)(x) - 0.69314718055994530942 : TNI_FNT(tni_log)(x / 2);
}
TNI_SPECIAL double TNI_FN(tni_k0_parts)(double x) {
    static const double inner[] = {
        -5.18787490119793193e-01, 6.03173687297014413e-02, 1.90679792000402913e-03,
        1.76858267346084838e-05, 8.20854593776600894e-08, 2.31205462135736409e-10,
        4.39009290167297661e-13, 6.01097819583724947e-16};
    static const double middle[] = {
        1.17953009723050073e+00, -3.69028234230820498e-02, 1.98241576442418407e-03,
        -1.61332584052544344e-04, 1.64375622619070251e-05, -1.93670021663894275e-06,
        2.53078913449101065e-07, -3.57701591983014539e-08, 5.37924254459134981e-09,
        -8.50922065027614588e-10, 1.40413452898644842e-10, -2.40185982777963851e-11,
        4.23825832787062934e-12, -7.68501669461165766e-13, 1.42743720460549005e-13,
        -2.70895963518406741e-14, 5.24137908711828022e-15, -1.03203820257981599e-15,
        2.06480268948575351e-16, -4.19191785494994071e-17, 8.62568430009358177e-18};
    static const double outer[] = {
        1.23545390672729472e+00, -1.73346865346370345e-02, 4.99160785924977995e-04,
        -2.45727480480370891e-05, 1.65659262050394444e-06, -1.38573629379084975e-07,
        1.36169710222462461e-08, -1.51881523108398792e-09, 1.87857088658660357e-10,
        -2.53382825901223976e-11, 3.68054096065906808e-12, -5.70197443023095925e-13,
        9.34939265142108284e-14, -1.61244998993790805e-14, 2.91011088235061667e-15,
        -5.47259706401756521e-16, 1.06847227847478371e-16, -2.15908965644190939e-17,
        4.50350182778650265e-18};
    if (x <= 1)
        return CHEBYSHEV(inner, 2 * x * x - 1) - TNI_FN(tni_log_half)(x) * TNI_FN(tni_i0)(x);
    if (x <= 4) return CHEBYSHEV(middle, (8 / x - 5) / 3) / sqrt(x);
    return CHEBYSHEV(outer, 8 / x - 1) / sqrt(x);
}
TNI_SPECIAL double TNI_FN(tni_k1_parts)(double x) {
    static const double inner[] = {
        1.00262817674249449e+00, -3.08372323615699112e-03, -5.80473489213960241e-03,
        -9.34397277630184798e-05, -6.06996598811724819e-07, -2.18736660209873446e-09,
        -5.05086504356935154e-12, -8.13736893340748402e-15, -9.68258718088278705e-18};
    static const double middle[] = {
        1.50365432565510515e+00, 1.36230414935600508e-01, -3.97654677217074062e-03,
        2.67590241504159720e-04, -2.47393989415949976e-05, 2.74449947773711671e-06,
        -3.44059834657243574e-07, 4.71637334198624948e-08, -6.92685071276587688e-09,
        1.07519110128527243e-09, -1.74683826052310834e-10, 2.94935922211522028e-11,
        -5.14677253059014326e-12, 9.24296359230034203e-13, -1.70240582491811101e-13,
        3.20680057576922996e-14, -6.16351085948032573e-15, 1.20638008584008507e-15,
        -2.40060254424606585e-16, 4.84974902827173651e-17, -9.93452569464997819e-18};
    static const double outer[] = {
        1.30911046551991195e+00, 5.48826013732904155e-02, -8.75204825430848758e-04,
        3.60963267011202800e-05, -2.22983839031882060e-06, 1.76972528373455305e-07,
        -1.67868856489132145e-08, 1.82531445686240198e-09, -2.21453870754782941e-10,
        2.94204399029788960e-11, -4.22144701861132976e-12, 6.47403455793907054e-13,
        -1.05251667678707652e-13, 1.80204700459067529e-14, -3.23183612716897777e-15,
        6.04415849388563108e-16, -1.17432509002597190e-16, 2.36271099068444736e-17,
        -4.90907597685748701e-18};
    if (x <= 1)
        return CHEBYSHEV(inner, 2 * x * x - 1) / x + TNI_FN(tni_log_half)(x) * TNI_FN(tni_i1)(x);
    if (x <= 4) return CHEBYSHEV(middle, (8 / x - 5) / 3) / sqrt(x);
    return CHEBYSHEV(outer, 8 / x - 1) / sqrt(x);
}
TNI_SPECIAL double TNI_FN(tni_k)(double x, int one, int scaled) {
    double y;
    if (!(x > 0)) return x == 0 ? INF : (double)NAN;
    if (x > 750 && !scaled) return 0;
    y = one ? TNI_FN(tni_k1_parts)(x) : TNI_FN(tni_k0_parts)(x);
    if ((x <= 1) == !scaled) return y;
    return scaled ? y * TNI_FNT(tni_exp)(x) : y * TNI_FNT(tni_exp)(-x);
}

TNI_SPECIAL double TNI_FN(tni_hankel)(double x, int one, int second) {
    static const double p0[] = {
        9.98652339877695416e-01, -1.32937162125027993e-03, 1.76130555129055913e-05,
        -6.31936711873306864e-07, 3.94882558709380777e-08, -3.54096789480190871e-09,
        4.10324636687238609e-10, -5.76574766265522279e-11, 9.42310557839198667e-12,
        -1.74014057062838845e-12, 3.55577500524117829e-13, -7.91464150133811549e-14,
        1.89594563629618277e-14, -4.84148301917569733e-15, 1.30785551959013384e-15,
        -3.71405082141315401e-16, 1.10302317787127696e-16, -3.41093621049811422e-17,
        1.09421878698102356e-17, -3.62990567379529712e-18};
    static const double q0[] = {
        -1.23647025821674930e-01, 1.31901940499226070e-03, -3.21879912126617494e-05,
        1.62370932056427889e-06, -1.27432897420328054e-07, 1.35130327631344085e-08,
        -1.78507590511970509e-09, 2.79085713479036025e-10, -4.98890802765283275e-11,
        9.95071366780664455e-12, -2.17512060430088325e-12, 5.14012716242760535e-13,
        -1.29932426560591785e-13, 3.48376357768897859e-14, -9.84005757254373054e-15,
        2.91152749185919986e-15, -8.98215117130334377e-16, 2.87776890655792477e-16,
        -9.54290501173134310e-17, 3.26581619436483662e-17, -1.15051817853261607e-17,
        4.16320426537859006e-18, -1.54436914390036609e-18, 5.86295923551917752e-19};
    static const double p1[] = {
        1.00226762068534003e+00, 2.24373529580799850e-03, -2.30710188625482860e-05,
        7.63918173253390506e-07, -4.58968523234340084e-08, 4.02051547841900123e-09,
        -4.58677397717097222e-10, 6.37315896285924632e-11, -1.03273445676404118e-11,
        1.89432749951110338e-12, -3.84970338782410524e-13, 8.52991452577904378e-14,
        -2.03544697865722996e-14, 5.18042173890054913e-15, -1.39535021482584934e-15,
        3.95236017133142569e-16, -1.17111708012680290e-16, 3.61407856473810876e-17,
        -1.15723560532515177e-17, 3.83247390674490728e-18};
    static const double q1[] = {
        3.73087346214686366e-01, -1.87051896810514775e-03, 4.00569945204603056e-05,
        -1.91440283908563214e-06, 1.45881651074219899e-07, -1.51833986446731652e-08,
        1.97992226058951680e-09, -3.06598144943769621e-10, 5.44023359205975294e-11,
        -1.07866521925384677e-11, 2.34635283175889401e-12, -5.52204685654182601e-13,
        1.39097284813938293e-13, -3.71815167521646144e-14, 1.04740631178291675e-14,
        -3.09178420291791203e-15, 9.51805183108149890e-16, -3.04364506670505172e-16,
        1.00754875799974928e-16, -3.44263066198132457e-17, 1.21105039702216872e-17,
        -4.37638890242832766e-18, 1.62144440057473130e-18};
    const double w = 50 / x / x - 1, s = TNI_FNT(tni_sin)(x), c = TNI_FNT(tni_cos)(x);
    const double p = one ? CHEBYSHEV(p1, w) : CHEBYSHEV(p0, w),
                 q = (one ? CHEBYSHEV(q1, w) : CHEBYSHEV(q0, w)) / x;
    const double cosine = one ? s - c : s + c, sine = one ? -s - c : s - c;
    const double y = second ? p * sine + q * cosine : p * cosine - q * sine;
    return x == INF ? 0 : y * 0.56418958354775628695 / sqrt(x);
}
#define FROM_ZERO(x, h, l) (((x) - (h) - (l)) * ((x) + (h)))
TNI_SPECIAL double TNI_FN(tni_j0)(double x) {
    static const double inner[] = {
        -7.40517405638783377e-02, 7.99572416500808902e-02, -1.68986015104583102e-02,
        1.87349932017362789e-03, -1.27863342140995445e-04, 5.91923022608225639e-06,
        -1.98279370120475922e-07, 5.03251312617056830e-09, -1.00175630619868440e-10,
        1.60636219136865797e-12, -2.11998179330784415e-14, 2.34336157054722560e-16,
        -2.20145274293585435e-18};
    x = fabs(x);
    if (x > 5) return TNI_FN(tni_hankel)(x, 0, 0);
    return CHEBYSHEV(inner, x * x / 12.5 - 1) *
           FROM_ZERO(x, 2.4048255576957729, -1.176691651530894e-16);
}
TNI_SPECIAL double TNI_FN(tni_j1)(double x) {
    static const double inner[] = {
        -1.80284158011662921e-02, 1.36614870820633613e-02, -2.16326515592380440e-03,
        1.90949010366018906e-04, -1.08161747369574519e-05, 4.27888605625968595e-07,
        -1.25133756435268095e-08, 2.81834888439034151e-10, -5.04256856727839578e-12,
        7.34347631506432040e-14, -8.87674410227827842e-16, 9.05145472452883547e-18,
        -7.89177705248178476e-20};
    const double a = fabs(x);
    if (a > 5) return x < 0 ? -TNI_FN(tni_hankel)(a, 1, 0) : TNI_FN(tni_hankel)(a, 1, 0);
    return CHEBYSHEV(inner, a * a / 12.5 - 1) * x *
           FROM_ZERO(a, 3.8317059702075125, -1.5269184090088067e-16);
}
#undef FROM_ZERO
TNI_SPECIAL double TNI_FN(tni_y0)(double x) {
    static const double inner[] = {
        2.07085587731045739e-01, -3.48253698576772408e-01, -1.16296421180486706e-01,
        6.12777592111658012e-02, -9.47480574280654131e-03, 7.80820300499390665e-04,
        -4.10241478028229920e-05, 1.50846653888385219e-06, -4.11773998328759002e-08,
        8.69644460056977258e-10, -1.46536195429645636e-11, 2.01770259946383344e-13,
        -2.31426042889732686e-15, 2.24624563112853040e-17};
    if (!(x > 0)) return x == 0 ? -INF : (double)NAN;
    if (x > 5) return TNI_FN(tni_hankel)(x, 0, 1);
    return fma(0.63661977236758134308 * TNI_FN(tni_log_half)(x), TNI_FN(tni_j0)(x),
               CHEBYSHEV(inner, x * x / 12.5 - 1));
}
TNI_SPECIAL double TNI_FN(tni_y1)(double x) {
    static const double inner[] = {
        1.08143569442536863e-01, 2.33317469100300517e-02, -4.80561518349280278e-02,
        1.09312596958556513e-02, -1.16756404013086310e-03, 7.49806154118804223e-05,
        -3.25215635060313767e-06, 1.02196305629781813e-07, -2.44054092627652768e-09,
        4.58650600017100510e-11, -6.96687876158355496e-13, 8.73709659647941923e-15,
        -9.20381749448383672e-17, 8.26176316813085147e-19};
    if (!(x > 0)) return x == 0 ? -INF : (double)NAN;
    if (x > 5) return TNI_FN(tni_hankel)(x, 1, 1);
    return 0.63661977236758134308 * (TNI_FN(tni_log_half)(x) * TNI_FN(tni_j1)(x) - 1 / x) +
           CHEBYSHEV(inner, x * x / 12.5 - 1) * x;
}
TNI_SPECIAL double TNI_FN(tni_spherical_j0)(double x) {
    const double z = x * x;
    if (fabs(x) == INF) return 0;
    if (fabs(x) > 0.25) return TNI_FNT(tni_sin)(x) / x;
    const double p = fma(z, fma(z, -1.0 / 39916800, 1.0 / 362880), -1.0 / 5040);
    return fma(z, fma(z, fma(z, p, 1.0 / 120), -1.0 / 6), 1.0);
}

TNI_SPECIAL double TNI_FN(tni_airy_phase)(double x, double *l) {
    const double s = sqrt(x), sl = fma(-s, s, x) / (2 * s), p = x * s,
                 pl = fma(x, sl, fma(x, s, -p)), third = 0.66666666666666663, h = p * third;
    *l = fma(p, third, -h) + fma(p, 3.7007434154171886e-17, pl * third);
    return h;
}
TNI_SPECIAL double TNI_FN(tni_airy_ai)(double x) {
    static const double below[] = {
        2.17805014005498759e-01, 1.52439196826104045e-01, 2.44130487239039073e-01,
        -2.57237979375555259e-01, -1.04056897861640546e-01, 1.25878999449845708e-01,
        -1.07308473322094231e-02, -1.97708910447240011e-02, 6.50181436577459710e-03,
        7.29163994738893915e-04, -7.90400998870762817e-04, 1.08073054518045481e-04,
        3.49296809172195853e-05, -1.36318894353442865e-05, 5.55064471227488447e-07,
        5.96007777802182590e-07, -1.28233342711297404e-07, -3.89217252588783962e-09,
        5.60466550488661295e-09, -7.32502322805080402e-10, -7.58494808002272930e-11,
        3.38146239476339010e-11, -2.62716619588506264e-12, -5.53226698734143223e-13,
        1.42003929431233294e-13, -5.43942367695465816e-15, -2.53121528777401182e-15,
        4.36630990267441129e-16, -2.02790167873394348e-18, -8.26380223124533113e-18,
        1.01553487471699502e-18};
    static const double low[] = {
        2.16196121454018092e-01, -1.28562686983988067e-01, 1.14079571338367002e-02,
        8.50924367793381878e-04, -2.68095218727471289e-04, 2.01733006537307846e-05,
        3.04627956999295053e-07, -1.65238288720629399e-07, 1.13735624386437070e-08,
        -1.47675518562490311e-11, -4.82539934483265212e-11, 3.15515225478766487e-12,
        -2.63188758724461162e-14, -8.19499167020792319e-15, 5.21092033483441121e-16,
        -6.26922570970997223e-18, -9.08395730256743896e-19};
    static const double middle[] = {
        5.61079390982360260e-02, -3.76072661603835401e-02, 5.54005649305553110e-03,
        -3.89858805416088946e-04, 1.80191140277000157e-06, 2.17553766499968693e-06,
        -1.96068662667990721e-07, 6.36138626973650598e-09, 2.21927411359136452e-10,
        -3.28351049279675594e-11, 1.37573256966759665e-12, -1.28476409661491941e-15,
        -2.74249477833401811e-15, 1.36950176001102803e-16, -1.76662536350431795e-18,
        -1.32482736448987009e-19};
    static const double upper[] = {
        1.20749017718117958e-02, -9.54266464919834891e-03, 1.81920202936922300e-03,
        -2.04105984726706777e-04, 1.34816308921564525e-05, -3.34965148259036509e-07,
        -2.86631912684470861e-08, 3.62682182272105771e-09, -1.81232442296565839e-10,
        2.45826538553328999e-12, 2.82228625868040289e-13, -2.18730439899045812e-14,
        6.59077670025957249e-16, 4.10437887576956194e-18, -1.25352559691946505e-18,
        5.23989735689358829e-20};
    static const double outer[] = {
        9.91871454172675970e-01, -7.89647551014100064e-03, 2.20409222836508980e-04,
        -1.08539517614536077e-05, 7.37740175577186237e-07, -6.23935809809101255e-08,
        6.20594760624600619e-09, -7.00974539646352339e-10, 8.78130276275176572e-11,
        -1.19960509946823262e-11, 1.76466572485553415e-12, -2.76825955296363274e-13,
        4.59544090746413284e-14, -8.02267907860958434e-15, 1.46540568205762600e-15,
        -2.78858044781311306e-16, 5.50835566540470433e-17, -1.12597321205908108e-17,
        2.37540884993695399e-18};
    static const double f[] = {
        9.99672341546100518e-01, -3.25548356105532209e-04, 2.06974515596911905e-06,
        -3.89096173647442416e-08, 1.36459594469503366e-09, -7.26556343886668222e-11,
        5.23467562906290717e-12, -4.74966941582145202e-13, 5.17215613960418896e-14,
        -6.53372529554528415e-15, 9.33927407277720933e-16, -1.48233305125804546e-16,
        2.57459883996440016e-17, -4.83694405856939559e-18};
    static const double g[] = {
        6.91152804016050282e-02, -3.25106036458669499e-04, 3.94597774386632269e-06,
        -1.06892909051434094e-07, 4.80033471895161686e-09, -3.06910671699976374e-10,
        2.55175943690139276e-11, -2.60160673175243406e-12, 3.12366685511918620e-13,
        -4.29032517128394847e-14, 6.59671059597743470e-15, -1.11683321604168793e-15,
        2.05513501588503268e-16, -4.06800560984382542e-17, 8.58918263139261900e-18,
        -1.92101881890205401e-18, 4.52477948271908742e-19};
    double h, l, y;
    if (x != x) return x;
    if (x >= -5 && x <= 0) return CHEBYSHEV(below, (2 * x + 5) / 5);
    if (x > 0 && x <= 1.25) return CHEBYSHEV(low, (x - 0.625) / 0.625);
    if (x > 0 && x <= 2.25) return CHEBYSHEV(middle, (x - 1.75) * 2);
    if (x > 0 && x <= 3.25) return CHEBYSHEV(upper, (x - 2.75) * 2);
    if (x > 110) return 0;
    h = TNI_FN(tni_airy_phase)(fabs(x), &l);
    if (h == INF) return 0;
    if (x > 0) {
        y = CHEBYSHEV(outer, 2 * 3.9060138817526551 / h - 1) * 0.28209479177387814347;
        return y * TNI_FNT(tni_exp_long)(-h, -l) / sqrt(sqrt(x));
    }
    const double w = 2 * 55.555555555555557 / h / h - 1, p = CHEBYSHEV(f, w);
    const double q = CHEBYSHEV(g, w) / h;
    double s = TNI_FNT(tni_sin)(h), c = TNI_FNT(tni_cos)(h), turned = s;
    s = fma(l, c, s);
    c = fma(-l, turned, c);
    return (p * (s + c) - q * (c - s)) * 0.39894228040143267794 / sqrt(sqrt(-x));
}

/* src/simd/math_igamma.h - the incomplete gamma functions */

TNI_SPECIAL double TNI_FN(tni_log_gap)(double m) {
    const double s = m / (2 + m), z = s * s;
    double sum = 0, power = 1;
    if (fabs(m) > 0.5) return m - TNI_FNT(tni_log1p)(m);
    for (int k = 3; power > 1e-18; k += 2, power *= z) sum += power / k;
    return s * (m - 2 * z * sum);
}
TNI_SPECIAL double TNI_FN(tni_lgamma_near_one)(double a) {
    return a < 0.7 ? a * (a - 1) * TNI_FNT(tni_lgamma_poly)(a, 1) : TNI_FNT(tni_lgamma)(1 + a);
}
TNI_SPECIAL double TNI_FN(tni_igamma_front)(double a, double x) {
    if (a < 10) {
        const double half = TNI_FNT(tni_exp)(x < 700 ? -x : -x / 2);
        double f = a, product = 1;
        for (; f >= 1; f -= 1) product *= f;
        product *= TNI_FNT(tni_exp)(TNI_FN(tni_lgamma_near_one)(f));
        return TNI_FNT(tni_pow)(x, a) * half * (x < 700 ? 1 : half) / product;
    }
    const double gap = a * TNI_FN(tni_log_gap)((x - a) / a),
                 tail = TNI_FNT(tni_lgamma_tail)(1 / a / a) / a;
    return TNI_FNT(tni_exp)(-gap - tail) * 0.39894228040143267794 / sqrt(a);
}
TNI_SPECIAL double TNI_FN(tni_igamma_series)(double a, double x) {
    double sum = 1, term = 1;
    for (double k = 1; term > sum * 1e-17 && k < 100000; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return TNI_FN(tni_igamma_front)(a, x) * sum;
}
TNI_SPECIAL double TNI_FN(tni_igamma_fraction)(double a, double x) {
    const double first = x + 1 - a;
    double b = first, c = 1e300, d = 1 / b, k = 0, y;
    do {
        const double top = -(k + 1) * (k + 1 - a);
        k++;
        b += 2;
        d = 1 / fma(top, d, b);
        c = b + top / c;
    } while (fabs(c * d - 1) > 1e-16 && k < 100000);
    for (y = b; k > 0; k--) y = first + 2 * (k - 1) - k * (k - a) / y;
    return TNI_FN(tni_igamma_front)(a, x) * a / y;
}
TNI_SPECIAL double TNI_FN(tni_igamma_little)(double a, double x) {
    const double front = a * TNI_FNT(tni_log)(x) - TNI_FN(tni_lgamma_near_one)(a);
    double sum = 0, factor = 1, term = 1;
    for (double k = 1; fabs(term) > 1e-18 && k < 100; k++) {
        factor *= -x / k;
        term = factor / (a + k);
        sum += term;
    }
    return -TNI_FNT(tni_expm1)(front) - a * TNI_FNT(tni_exp)(front) * sum;
}
TNI_SPECIAL double TNI_FN(tni_igamma_near)(double a, double m) {
    static const double c[] = {
        -3.33333333333333315e-01, 8.33333333333333287e-02, -1.48148148148148154e-02,
        1.15740740740740734e-03, 3.52733686067019424e-04, -1.78755144032921798e-04,
        3.91926317852243767e-05, -2.18544851067999198e-06, -1.85406221071515997e-06,
        8.29671134095308652e-07, -1.76659527368260782e-07, 6.70785354340149841e-09,
        1.02618097842403086e-08, -4.38203601845335294e-09, 9.14769958223679021e-10,
        -2.55141939949462482e-11, -5.83077213255042561e-11, 2.43619480206674150e-11,
        -5.02766928011417551e-12, -1.85185185185185192e-03, -3.47222222222222203e-03,
        2.64550264550264536e-03, -9.90226337448559630e-04, 2.05761316872427979e-04,
        -4.01877572016460897e-07, -1.80985503344899767e-05, 7.64916091608110982e-06,
        -1.61209008945634465e-06, 4.64712780280743402e-09, 1.37863344691572092e-07,
        -5.75254560351770471e-08, 1.19516285997781477e-08, -1.75432417197476467e-11,
        -1.00915437106004126e-09, 4.16279299184258280e-10, -8.56390702649298013e-11,
        4.13359788359788337e-03, -2.68132716049382727e-03, 7.71604938271604895e-04,
        2.00938786008230470e-06, -1.07366532263651599e-04, 5.29234488291201250e-05,
        -1.27606351886187284e-05, 3.42357873409613781e-08, 1.37219573090629342e-06,
        -6.29899213838005482e-07, 1.42806142060642425e-07, -2.04770984219908661e-10,
        -1.40925299108675203e-08, 6.22897408492202184e-09, -1.36704883966171141e-09,
        6.49434156378600773e-04, 2.29472093621399168e-04, -4.69189494395255702e-04,
        2.67720632062838854e-04, -7.56180167188397662e-05, -2.39650511386729680e-07,
        1.10826541153473025e-05, -5.67495282699159655e-06, 1.42309007324358833e-06,
        -2.78610802915281434e-11, -1.69584040919302782e-07, 8.09946490538808268e-08,
        -1.91111684859736545e-08, -8.61888290916711726e-04, 7.84039221720066615e-04,
        -2.99072480303190177e-04, -1.46384525788434181e-06, 6.64149821546512189e-05,
        -3.96836504717943471e-05, 1.13757269706784187e-05, 2.50749722623753294e-10,
        -1.69541495365583054e-06, 8.90750753220530941e-07, -2.29293483400080494e-07,
        -3.36798553366358131e-04, -6.97281375836585711e-05, 2.77275324495939183e-04,
        -1.99325705161888469e-04, 6.79778047793720800e-05, 1.41906292064396713e-07,
        -1.35940481897686926e-05, 8.01847025633420200e-06, -2.29148117650809516e-06,
        5.31307936463992249e-04, -5.92166437353693932e-04, 2.70878209671804500e-04,
        7.90235323266032815e-07, -8.15396936756196915e-05, 5.61168275310624970e-05,
        -1.83291165828433752e-05, 3.44367606892377652e-04, 5.17179090826059187e-05,
        -3.34931610811422338e-04, 2.81269515476323688e-04, -6.52623918595309372e-04};
    static const int length[] = {19, 17, 15, 13, 11, 9, 7, 4, 1};
    const double gap = TNI_FN(tni_log_gap)(m), y = sqrt(a * gap);
    const double eta = m < 0 ? -sqrt(2 * gap) : sqrt(2 * gap);
    double sum = 0;
    const double *at = c + sizeof c / sizeof *c;
    for (int k = (int)(sizeof length / sizeof *length) - 1; k >= 0; k--) {
        double p = 0;
        for (int n = 0; n < length[k]; n++) p = fma(p, eta, *--at);
        sum = sum / a + p;
    }
    sum *= 0.39894228040143267794 / sqrt(a);
    return TNI_FNT(tni_exp)(-a * gap) *
           (0.5 * TNI_FN(tni_erfcx)(y) + (m < 0 ? -sum : sum));
}
TNI_SPECIAL double TNI_FN(tni_igamma_of)(double a, double x, int upper) {
    const double m = (x - a) / a;
    double y;
    int is_upper = 0;
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == INF && x == INF)) return (double)NAN;
    if (a == 0 || x == INF) return upper ? 0 : 1;
    if (x == 0 || a == INF) return upper ? 1 : 0;
    if (a >= 64 && fabs(m) < 0.38) {
        y = TNI_FN(tni_igamma_near)(a, m);
        is_upper = m >= 0;
    } else if (x > 1.1 ? x < a
                       : !upper || (x <= 0.5 ? -0.4 / TNI_FNT(tni_log)(x) < a : x * 1.1 < a)) {
        y = TNI_FN(tni_igamma_series)(a, x);
    } else {
        y = x > 1.1 ? TNI_FN(tni_igamma_fraction)(a, x) : TNI_FN(tni_igamma_little)(a, x);
        is_upper = 1;
    }
    return is_upper == upper ? y : 1 - y;
}

/* src/simd/math_orthogonal.h - orthogonal polynomials of degree n, a float that is cut to an integer: 0 of negative ones and of what is no int64 */

TNI_SPECIAL double TNI_FN(tni_degree)(double n) { return fabs(n) < 9.2e18 ? trunc(n) : -1; }

enum { TNI_T, TNI_U, TNI_V, TNI_W };

TNI_SPECIAL double TNI_FN(tni_chebyshev_far)(double x, double n, int kind) {
    const double t = fabs(x) - 1, angle = TNI_FNT(tni_log1p)(t + sqrt(t) * sqrt(t + 2));
    double y;
    if (x < 0 && kind >= TNI_V) kind = kind == TNI_V ? TNI_W : TNI_V;
    if (kind == TNI_T)
        y = TNI_FNT(tni_cosh)(n * angle);
    else if (kind == TNI_U)
        y = TNI_FNT(tni_sinh)((n + 1) * angle) / TNI_FNT(tni_sinh)(angle);
    else if (kind == TNI_V)
        y = TNI_FNT(tni_cosh)((n + 0.5) * angle) / TNI_FNT(tni_cosh)(angle / 2);
    else
        y = TNI_FNT(tni_sinh)((n + 0.5) * angle) / TNI_FNT(tni_sinh)(angle / 2);
    return x < 0 && fmod(n, 2.0) != 0 ? -y : y;
}
TNI_SPECIAL double TNI_FN(tni_chebyshev_high)(double x, double n, int kind) {
    const double angle = TNI_FNT(tni_acos)(x);
    if (fabs(x) > 1) return TNI_FN(tni_chebyshev_far)(x, n, kind);
    if (fabs(x) == 1) {
        const double y = kind == TNI_U ? n + 1 : kind == (x < 0 ? TNI_V : TNI_W) ? 2 * n + 1 : 1;
        return x < 0 && fmod(n, 2.0) != 0 ? -y : y;
    }
    switch (kind) {
    case TNI_T: return TNI_FNT(tni_cos)(n * angle);
    case TNI_U: return TNI_FNT(tni_sin)((n + 1) * angle) / TNI_FNT(tni_sin)(angle);
    case TNI_V: return TNI_FNT(tni_cos)((n + 0.5) * angle) / TNI_FNT(tni_cos)(angle / 2);
    default: return TNI_FNT(tni_sin)((n + 0.5) * angle) / TNI_FNT(tni_sin)(angle / 2);
    }
}
TNI_SPECIAL double TNI_FN(tni_chebyshev_of)(double x, double n, int kind) {
    double last = 1, y = kind == TNI_T   ? x
                         : kind == TNI_U ? 2 * x
                         : kind == TNI_V ? 2 * x - 1
                                         : 2 * x + 1;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (n > 64) return TNI_FN(tni_chebyshev_high)(x, n, kind);
    for (int k = 1; k < n; k++) {
        const double next = fma(2 * x, y, -last);
        last = y;
        y = next;
    }
    return y;
}
TNI_SPECIAL double TNI_FN(tni_hermite)(double x, double n, double by) {
    double last = 1, y = by * x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = by * (x * y - k * last);
        last = y;
        y = next;
    }
    return y;
}

TNI_SPECIAL double TNI_FN(tni_laguerre)(double x, double n) {
    double last = 1, y = 1 - x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (x == 0) return 1;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = ((2 * k + 1 - x) * y - k * last) / (k + 1);
        last = y;
        y = next;
    }
    return y;
}
TNI_SPECIAL double TNI_FN(tni_legendre)(double x, double n) {
    double last = 1, y = x;
    n = TNI_FN(tni_degree)(n);
    if (n <= 0) return n == 0;
    if (fabs(x) == 1) return x < 0 && fmod(n, 2.0) != 0 ? -1 : 1;
    if (n > 1048576) return (double)NAN;
    for (double k = 1; k < n && y == y; k++) {
        const double next = ((2 * k + 1) * x * y - k * last) / (k + 1);
        last = y;
        y = next;
    }
    return y;
}
#endif

#undef K
#undef H
#undef K_INF
#undef K_NAN
#undef K_LIMIT
#undef LN2_HI
#undef LN2_LO
#undef EXP_LOW
#undef EXP_HIGH
#undef PIO2_HI
#undef PIO2_LO

/* src/simd/math_complex.h - complex numbers as pairs of vectors, for one floating type: what complex.h makes words of */

typedef struct TNI_FNT(tni_complex) {
    V re, im;
} TNI_FNT(tni_complex);
typedef M TNI_FNT(tni_mask);
#define C TNI_FNT(tni_complex)
#define C_FN(name) TNI_INLINE C TNI_FNT(tni_c_##name)
#define C_CALL(name) TNI_FNT(tni_c_##name)

C_FN(make)(V re, V im) {
    C z;
    z.re = re;
    z.im = im;
    return z;
}
C_FN(load)(const void *p) {
    C z;
    V_LD2(p, &z.re, &z.im);
    return z;
}
TNI_INLINE void TNI_FNT(tni_c_store)(void *p, C z) { V_ST2(p, z.re, z.im); }
TNI_INLINE void TNI_FNT(tni_c_store_real)(void *p, C z) { V_ST(p, z.re); }
C_FN(set)(const T *p) { return C_CALL(make)(V_SET(p[0]), V_SET(p[1])); }
C_FN(real)(double s) { return C_CALL(make)(V_SET(s), V_ZERO()); }
C_FN(add)(C a, C b) { return C_CALL(make)(V_ADD(a.re, b.re), V_ADD(a.im, b.im)); }
C_FN(sub)(C a, C b) { return C_CALL(make)(V_SUB(a.re, b.re), V_SUB(a.im, b.im)); }
C_FN(neg)(C a) { return C_CALL(make)(V_NEG(a.re), V_NEG(a.im)); }
C_FN(conj)(C a) { return C_CALL(make)(a.re, V_NEG(a.im)); }
C_FN(mul)(C a, C b) {
    return C_CALL(make)(V_SUB(V_MUL(a.re, b.re), V_MUL(a.im, b.im)),
                        V_ADD(V_MUL(a.re, b.im), V_MUL(a.im, b.re)));
}
C_FN(square)(C a) { return C_CALL(mul)(a, a); }
C_FN(div)(C a, C b) {
    V s = V_MAX(V_ABS(b.re), V_ABS(b.im)), x = V_DIV(b.re, s), y = V_DIV(b.im, s),
      n = V_ADD(V_MUL(x, x), V_MUL(y, y));
    V re = V_DIV(a.re, s), im = V_DIV(a.im, s);
    return C_CALL(make)(V_DIV(V_ADD(V_MUL(re, x), V_MUL(im, y)), n),
                        V_DIV(V_SUB(V_MUL(im, x), V_MUL(re, y)), n));
}
C_FN(sel)(M m, C a, C b) { return C_CALL(make)(V_SEL(m, a.re, b.re), V_SEL(m, a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_eq)(C a, C b) { return M_AND(V_EQ(a.re, b.re), V_EQ(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_ne)(C a, C b) { return M_OR(V_NE(a.re, b.re), V_NE(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_isnan)(C a) { return M_OR(V_ISNAN(a.re), V_ISNAN(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isinf)(C a) { return M_OR(V_ISINF(a.re), V_ISINF(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isfinite)(C a) { return M_AND(V_ISFINITE(a.re), V_ISFINITE(a.im)); }
TNI_INLINE M TNI_FNT(tni_m_and)(M a, M b) { return M_AND(a, b); }
TNI_INLINE M TNI_FNT(tni_m_or)(M a, M b) { return M_OR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_xor)(M a, M b) { return M_XOR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_not)(M a) { return M_NOT(a); }
TNI_INLINE M TNI_FNT(tni_m_load)(const void *p) { return M_LD(p); }
TNI_INLINE void TNI_FNT(tni_m_store)(void *p, M m) { V_MST(p, m); }

TNI_INLINE V TNI_FNT(tni_c_abs)(C z) {
    V a = V_ABS(z.re), b = V_ABS(z.im), large = V_MAX(a, b), little = V_MIN(a, b),
      q = V_DIV(little, large);
    V r = V_MUL(large, V_SQRT(V_FMA(q, q, V_ONE)));
    r = V_SEL(V_EQ(large, V_ZERO()), large, r);
    r = V_SEL(M_OR(V_ISNAN(a), V_ISNAN(b)), V_ADD(a, b), r);
    return V_SEL(M_OR(V_ISINF(a), V_ISINF(b)), V_SET(INFINITY), r);
}
TNI_HELPER C TNI_FNT(tni_c_exp)(C z) {
    V e = TNI_FNT(tni_exp)(z.re), im = V_MUL(e, TNI_FNT(tni_sin)(z.im));
    M any = M_AND(V_ISINF(z.re), M_NOT(V_ISFINITE(z.im)));
    im = V_SEL(M_AND(any, V_EQ(e, V_ZERO())), e, im);
    return C_CALL(make)(V_SEL(any, e, V_MUL(e, TNI_FNT(tni_cos)(z.im))),
                        V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
}
#if TNI_ISA == 0 && defined(TNI_TYPE_F64)
TNI_HELPER C TNI_FNT(tni_c_sqrt)(C z) {
    V r = TNI_FNT(tni_c_abs)(z), t = V_SQRT(V_MUL(V_SET(0.5), V_ADD(r, V_ABS(z.re))));
    V u = V_DIV(V_MUL(V_SET(0.5), V_ABS(z.im)), t);
    M left = V_LT(z.re, V_ZERO()), inf = V_ISINF(z.im);
    u = V_SEL(V_EQ(t, V_ZERO()), V_ZERO(), u);
    C w = C_CALL(make)(V_SEL(left, u, t), V_COPYSIGN(V_SEL(left, t, u), z.im));
    return C_CALL(sel)(inf, C_CALL(make)(V_ABS(z.im), z.im), w);
}
TNI_HELPER C TNI_FNT(tni_c_sin)(C z) {
    M axis = V_EQ(z.re, V_ZERO()), any = M_NOT(V_ISFINITE(z.re));
    V re = V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_cosh)(z.im)),
      im = V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_sinh)(z.im));
    any = M_AND(any, M_OR(V_EQ(z.im, V_ZERO()), V_ISINF(z.im)));
    return C_CALL(make)(V_SEL(axis, z.re, re), V_SEL(any, z.im, im));
}
TNI_HELPER C TNI_FNT(tni_c_cos)(C z) {
    M axis = V_EQ(z.re, V_ZERO()), any = M_NOT(V_ISFINITE(z.re));
    V re = V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_cosh)(z.im)),
      im = V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_sinh)(z.im));
    im = V_SEL(axis, V_MUL(z.re, V_COPYSIGN(V_ONE, z.im)), im);
    im = V_SEL(M_AND(any, V_EQ(z.im, V_ZERO())), z.im, im);
    return C_CALL(make)(V_SEL(M_AND(any, V_ISINF(z.im)), V_ABS(z.im), re), V_NEG(im));
}
C_FN(magnitude)(C z) { return C_CALL(make)(TNI_FNT(tni_c_abs)(z), V_ZERO()); }
C_FN(angle)(C z) { return C_CALL(make)(TNI_FNT(tni_atan2)(z.im, z.re), V_ZERO()); }
C_FN(sign)(C z) {
    V r = TNI_FNT(tni_c_abs)(z);
    M zero = V_EQ(r, V_ZERO());
    return C_CALL(make)(V_SEL(zero, r, V_DIV(z.re, r)), V_SEL(zero, r, V_DIV(z.im, r)));
}
TNI_INLINE M TNI_FNT(tni_c_within)(C z, double r) {
    return V_LT(V_ADD(V_MUL(z.re, z.re), V_MUL(z.im, z.im)), V_SET(r * r));
}
TNI_HELPER C TNI_FNT(tni_c_log_above)(C z, V above) {
    V close_to = TNI_FNT(tni_log1p)(V_FMA(z.re, V_ADD(V_SET(2), z.re), V_MUL(z.im, z.im)));
    V away = TNI_FNT(tni_log)(TNI_FNT(tni_c_abs)(C_CALL(make)(above, z.im)));
    M little = TNI_FNT(tni_c_within)(z, 0.5);
    return C_CALL(make)(V_SEL(little, V_MUL(V_SET(0.5), close_to), away),
                        TNI_FNT(tni_atan2)(z.im, above));
}
TNI_HELPER C TNI_FNT(tni_c_log)(C z) {
    return C_CALL(log_above)(C_CALL(make)(V_SUB(z.re, V_ONE), z.im), z.re);
}
TNI_HELPER C TNI_FNT(tni_c_tanh)(C z) {
    V t = TNI_FNT(tni_tanh)(z.re), u = TNI_FNT(tni_tan)(z.im), tt = V_MUL(t, t), uu = V_MUL(u, u);
    V d = V_FMA(tt, uu, V_ONE), im = V_DIV(V_MUL(u, V_SUB(V_ONE, tt)), d);
    M any = M_NOT(V_ISFINITE(z.im)), inf = V_ISINF(z.re);
    M fixed = M_AND(any, M_OR(inf, V_EQ(z.re, V_ZERO())));
    im = V_SEL(M_AND(any, inf), V_ZERO(), V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
    return C_CALL(make)(V_SEL(fixed, t, V_DIV(V_MUL(t, V_ADD(V_ONE, uu)), d)), im);
}
TNI_HELPER C TNI_FNT(tni_c_sigmoid)(C z) {
    M left = V_LT(z.re, V_ZERO());
    C one = C_CALL(real)(1), e = C_CALL(exp)(C_CALL(sel)(left, z, C_CALL(neg)(z)));
    return C_CALL(div)(C_CALL(sel)(left, e, one), C_CALL(add)(one, e));
}
TNI_HELPER C TNI_FNT(tni_c_pow)(C a, C b) {
    C z = C_CALL(exp)(C_CALL(mul)(b, C_CALL(log)(a))), zero = C_CALL(real)(0),
      one = C_CALL(real)(1);
    z = C_CALL(sel)(C_CALL(eq)(a, zero), zero, z);
    z = C_CALL(sel)(C_CALL(eq)(b, C_CALL(real)(2)), C_CALL(square)(a), z);
    z = C_CALL(sel)(C_CALL(eq)(b, one), a, z);
    return C_CALL(sel)(C_CALL(eq)(b, zero), one, z);
}
C_FN(turn)(C z) { return C_CALL(make)(V_NEG(z.im), z.re); }
C_FN(back)(C z) { return C_CALL(make)(z.im, V_NEG(z.re)); }
C_FN(sinh)(C z) { return C_CALL(back)(C_CALL(sin)(C_CALL(turn)(z))); }
C_FN(cosh)(C z) { return C_CALL(cos)(C_CALL(turn)(z)); }
C_FN(tan)(C z) { return C_CALL(back)(C_CALL(tanh)(C_CALL(turn)(z))); }
TNI_HELPER C TNI_FNT(tni_c_expm1)(C z) {
    C e = C_CALL(exp)(z);
    V s = TNI_FNT(tni_sin)(V_MUL(V_SET(0.5), z.im)), m = V_MUL(V_SET(-2), V_MUL(s, s));
    V x = TNI_FNT(tni_expm1)(z.re);
    M any = M_AND(V_ISINF(z.re), M_NOT(V_ISFINITE(z.im)));
    e.re = V_SEL(any, x, V_FMA(x, TNI_FNT(tni_cos)(z.im), m));
    return e;
}
C_FN(log1p)(C z) { return C_CALL(log_above)(z, V_ADD(V_ONE, z.re)); }
TNI_HELPER C TNI_FNT(tni_c_logaddexp)(C a, C b) {
    M first = V_GE(a.re, b.re), same = M_AND(V_EQ(a.re, b.re), V_ISINF(a.re));
    C top = C_CALL(sel)(first, a, b), low = C_CALL(sel)(first, b, a);
    C y = C_CALL(add)(top, C_CALL(log1p)(C_CALL(exp)(C_CALL(sub)(low, top))));
    C beyond = C_CALL(log)(C_CALL(add)(C_CALL(exp)(a), C_CALL(exp)(b)));
    y = C_CALL(sel)(same, C_CALL(sel)(V_LT(a.re, V_ZERO()), low, beyond), y);
    V n = V_ADD(V_ADD(a.re, a.im), V_ADD(b.re, b.im));
    M none = M_OR(M_OR(V_ISNAN(a.re), V_ISNAN(a.im)), M_OR(V_ISNAN(b.re), V_ISNAN(b.im)));
    return C_CALL(sel)(none, C_CALL(make)(n, n), y);
}
C_FN(log_base)(C z, double scale) {
    C l = C_CALL(log)(z);
    return C_CALL(make)(V_MUL(V_SET(scale), l.re), V_MUL(V_SET(scale), l.im));
}
TNI_HELPER V TNI_FNT(tni_asinh)(V x) {
    V a = V_MIN(V_SET(1e9), V_ABS(x)), s = V_MUL(a, a);
    V y = TNI_FNT(tni_log1p)(V_ADD(a, V_DIV(s, V_ADD(V_ONE, V_SQRT(V_ADD(V_ONE, s))))));
    V away = V_ADD(TNI_FNT(tni_log)(V_ABS(x)), V_SET(0.69314718055994530942));
    return V_COPYSIGN(V_SEL(V_LT(V_ABS(x), V_SET(1e9)), y, away), x);
}
C_FN(root_below)(C z) { return C_CALL(sqrt)(C_CALL(make)(V_SUB(V_ONE, z.re), V_NEG(z.im))); }
C_FN(root_above)(C z) { return C_CALL(sqrt)(C_CALL(make)(V_ADD(V_ONE, z.re), z.im)); }
TNI_HELPER C TNI_FNT(tni_c_asin)(C z) {
    C a = C_CALL(root_below)(z), b = C_CALL(root_above)(z);
    V re = TNI_FNT(tni_atan)(V_DIV(z.re, C_CALL(mul)(a, b).re)),
      im = TNI_FNT(tni_asinh)(C_CALL(mul)(C_CALL(conj)(a), b).im);
    C away = C_CALL(make)(TNI_FNT(tni_atan2)(z.re, V_ABS(z.im)), V_COPYSIGN(V_SET(INFINITY), z.im));
    re = V_SEL(V_EQ(z.re, V_ZERO()), z.re, re);
    return C_CALL(sel)(TNI_FNT(tni_c_isinf)(z), away, C_CALL(make)(re, im));
}
TNI_HELPER C TNI_FNT(tni_c_acos)(C z) {
    C a = C_CALL(root_below)(z), b = C_CALL(root_above)(z);
    V re = TNI_FNT(tni_atan)(V_DIV(a.re, b.re)),
      im = TNI_FNT(tni_asinh)(C_CALL(mul)(C_CALL(conj)(b), a).im);
    C away = C_CALL(make)(TNI_FNT(tni_atan2)(V_ABS(z.im), z.re),
                          V_COPYSIGN(V_SET(INFINITY), V_NEG(z.im)));
    re = V_SEL(V_EQ(z.re, V_ZERO()), V_SET(1.57079632679489662), V_ADD(re, re));
    return C_CALL(sel)(TNI_FNT(tni_c_isinf)(z), away, C_CALL(make)(re, im));
}
TNI_HELPER C TNI_FNT(tni_c_atan)(C z) {
    V half = V_SET(0.5), y = V_ABS(z.im), below = V_SUB(V_ONE, y), above = V_ADD(V_ONE, y),
      sq = V_MUL(z.re, z.re);
    V re = TNI_FNT(tni_atan2)(V_ADD(z.re, z.re), V_SUB(V_MUL(below, above), sq));
    V q = V_DIV(V_MUL(V_SET(4), y), V_FMA(below, below, sq));
    V im = V_MUL(V_SET(0.25), TNI_FNT(tni_log1p)(q));
    V r = TNI_FNT(tni_c_abs)(z), over = V_DIV(V_DIV(y, r), r);
    M inf = V_ISINF(r);
    im = V_SEL(V_GT(r, V_SET(1e9)), V_SEL(inf, V_ZERO(), over), im);
    im = V_SEL(V_EQ(y, V_ZERO()), y, im);
    re = V_SEL(inf, V_COPYSIGN(V_SET(1.57079632679489662), z.re), V_MUL(half, re));
    return C_CALL(make)(V_SEL(V_ISNAN(z.re), z.re, re), V_COPYSIGN(im, z.im));
}
#endif
#undef C
#undef C_FN
#undef C_CALL

/* src/simd/math_normal.h - uniform numbers become normal and exponential ones, for f32 and f64 */
TNI_INLINE void TNI_FNT(tni_normal_pair)(V u, V t, bool swap, V *a, V *b) {
    V r = swap ? V_LOG1P(V_NEG(t)) : V_LOG(V_SUB(V_ONE, u)),
      angle = V_MUL(V_SET(6.283185307179586), swap ? u : t);
    r = V_SQRT(V_MUL(V_SET(-2), r));
    *a = V_MUL(r, V_COS(angle));
    *b = V_MUL(r, V_SIN(angle));
}

TNI_INLINE V TNI_FNT(tni_exponential)(V u) { return V_NEG(V_LOG1P(V_NEG(u))); }
#define TNI_KIND_F 1
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

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_TO_REAL(abs, 1, 0)
TNI_LOOP(acos, 1, 0)
TNI_LOOP(add, 2, 1)
TNI_LOOP(addcdiv, 3, 1)
TNI_LOOP(addcmul, 3, 1)
TNI_TO_REAL(angle, 1, 0)
TNI_LOOP(asin, 1, 0)
TNI_LOOP(atan, 1, 0)
TNI_LOOP(atan2, 2, 0)
TNI_LOOP(bce, 2, 0)
TNI_LOOP(ceil, 1, 0)
TNI_LOOP(clamp_max, 2, 0)
TNI_LOOP(clamp_min, 2, 0)
TNI_LOOP(copysign, 2, 0)
TNI_LOOP(cos, 1, 0)
TNI_LOOP(cosh, 1, 0)
TNI_LOOP(digamma, 1, 0)
TNI_LOOP(div, 2, 0)
TNI_LOOP(div_trunc, 2, 0)
TNI_LOOP(elu, 1, 3)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(erf, 1, 0)
TNI_LOOP(exp, 1, 0)
TNI_LOOP(exp2, 1, 0)
TNI_LOOP(expm1, 1, 0)
TNI_LOOP(floor, 1, 0)
TNI_LOOP(floor_divide, 2, 0)
TNI_LOOP(fmax, 2, 0)
TNI_LOOP(fmin, 2, 0)
TNI_LOOP(fmod, 2, 0)
TNI_LOOP(frac, 1, 0)
TNI_PREDICATE(ge, 2, 0)
TNI_LOOP(gelu_erf, 1, 0)
TNI_LOOP(gelu_erf_backward, 2, 0)
TNI_LOOP(gelu_tanh, 1, 0)
TNI_LOOP(glu_gate, 2, 0)
TNI_PREDICATE(gt, 2, 0)
TNI_LOOP(hardshrink, 1, 1)
TNI_LOOP(hardsigmoid, 1, 0)
TNI_LOOP(hardswish, 1, 0)
TNI_LOOP(hardtanh, 1, 2)
TNI_LOOP(heaviside, 2, 0)
TNI_LOOP(hypot, 2, 0)
TNI_PREDICATE(isfinite, 1, 0)
TNI_PREDICATE(isinf, 1, 0)
TNI_PREDICATE(isnan, 1, 0)
TNI_PREDICATE(isneginf, 1, 0)
TNI_PREDICATE(isposinf, 1, 0)
TNI_PREDICATE(le, 2, 0)
TNI_LOOP(leaky_relu, 1, 1)
TNI_LOOP(leaky_relu_backward, 2, 2)
TNI_LOOP(lerp, 3, 0)
TNI_LOOP(lgamma, 1, 0)
TNI_LOOP(log, 1, 0)
TNI_LOOP(log10, 1, 0)
TNI_LOOP(log1p, 1, 0)
TNI_LOOP(log2, 1, 0)
TNI_LOOP(log_sigmoid, 1, 0)
TNI_LOOP(logaddexp, 2, 0)
TNI_LOOP(logaddexp2, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_PREDICATE(lt, 2, 0)
TNI_LOOP(maximum, 2, 0)
TNI_LOOP(minimum, 2, 0)
TNI_LOOP(mish, 1, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(nextafter, 2, 0)
TNI_LOOP(pow, 2, 0)
TNI_LOOP(prelu_kernel, 2, 0)
TNI_LOOP(reciprocal, 1, 0)
TNI_LOOP(relu, 1, 0)
TNI_LOOP(remainder, 2, 0)
TNI_LOOP(round, 1, 0)
TNI_LOOP(rsqrt, 1, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sigmoid, 1, 0)
TNI_LOOP(sigmoid_backward, 2, 0)
TNI_LOOP(sign, 1, 0)
TNI_PREDICATE(signbit, 1, 0)
TNI_LOOP(silu, 1, 0)
TNI_LOOP(silu_backward, 2, 0)
TNI_LOOP(sin, 1, 0)
TNI_LOOP(sinc, 1, 0)
TNI_LOOP(sinh, 1, 0)
TNI_LOOP(softplus, 1, 2)
TNI_LOOP(softshrink, 1, 1)
TNI_LOOP(softsign, 1, 0)
TNI_LOOP(special_entr, 1, 0)
TNI_LOOP(special_xlog1py, 2, 0)
TNI_LOOP(sqrt, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_LOOP(tan, 1, 0)
TNI_LOOP(tanh, 1, 0)
TNI_LOOP(tanh_backward, 2, 0)
TNI_LOOP(threshold, 1, 2)
TNI_LOOP(threshold_backward, 2, 1)
TNI_LOOP(trunc, 1, 0)
TNI_SELECT(where, 3, 0)
TNI_LOOP(xlogy, 2, 0)

#if defined(TNI_LOOP) && TNI_KIND_F && TNI_ISA == 0 && defined(TNI_TYPE_F64)
TNI_LOOP(erfc, 1, 0)
TNI_LOOP(erfinv, 1, 0)
TNI_LOOP(i0, 1, 0)
TNI_LOOP(igamma, 2, 0)
TNI_LOOP(igammac, 2, 0)
TNI_LOOP(special_airy_ai, 1, 0)
TNI_LOOP(special_bessel_j0, 1, 0)
TNI_LOOP(special_bessel_j1, 1, 0)
TNI_LOOP(special_bessel_y0, 1, 0)
TNI_LOOP(special_bessel_y1, 1, 0)
TNI_LOOP(special_chebyshev_polynomial_t, 2, 0)
TNI_LOOP(special_chebyshev_polynomial_u, 2, 0)
TNI_LOOP(special_chebyshev_polynomial_v, 2, 0)
TNI_LOOP(special_chebyshev_polynomial_w, 2, 0)
TNI_LOOP(special_erfcx, 1, 0)
TNI_LOOP(special_hermite_polynomial_h, 2, 0)
TNI_LOOP(special_hermite_polynomial_he, 2, 0)
TNI_LOOP(special_i0e, 1, 0)
TNI_LOOP(special_i1, 1, 0)
TNI_LOOP(special_i1e, 1, 0)
TNI_LOOP(special_laguerre_polynomial_l, 2, 0)
TNI_LOOP(special_legendre_polynomial_p, 2, 0)
TNI_LOOP(special_log_ndtr, 1, 0)
TNI_LOOP(special_modified_bessel_k0, 1, 0)
TNI_LOOP(special_modified_bessel_k1, 1, 0)
TNI_LOOP(special_ndtr, 1, 0)
TNI_LOOP(special_ndtri, 1, 0)
TNI_LOOP(special_scaled_modified_bessel_k0, 1, 0)
TNI_LOOP(special_scaled_modified_bessel_k1, 1, 0)
TNI_LOOP(special_shifted_chebyshev_polynomial_t, 2, 0)
TNI_LOOP(special_shifted_chebyshev_polynomial_u, 2, 0)
TNI_LOOP(special_shifted_chebyshev_polynomial_v, 2, 0)
TNI_LOOP(special_shifted_chebyshev_polynomial_w, 2, 0)
TNI_LOOP(special_spherical_bessel_j0, 1, 0)
TNI_LOOP(special_zeta, 2, 0)
#endif

#undef TNI_LOOP_SUFFIX
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#define TNI_TYPE_C128
TNC_FN double tnc_real(tni_complex_f64_cuda v) { return v.re; }

/* src/simd/complex.h - the words for complex64 (TNI_TYPE_C64) and complex128 (TNI_TYPE_C128) */
#define TNI_SUFFIX f64
#define TNI_LOOP_SUFFIX c128
#define T double
#define TNI_FLOATING 0
#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))
#if TNI_ISA == 0
#define W 1
#elif TNI_ISA == 1
#define W (32 / (int)sizeof(T))
#elif TNI_ISA == 2
#define W (64 / (int)sizeof(T))
#else
#define W (16 / (int)sizeof(T))
#endif
#define V TNI_FNT(tni_complex)
#define M TNI_FNT(tni_mask)
#define V_LD(p) TNI_FNT(tni_c_load)(p)
#define V_ST(p, v) TNI_FNT(tni_c_store)(p, v)
#define V_SET(s) TNI_FNT(tni_c_real)(s)
#define V_PARAM(p, i) TNI_FNT(tni_c_set)((const T *)(p) + 2 * (i))
#define V_ZERO() TNI_FNT(tni_c_real)(0)
#define V_ONE TNI_FNT(tni_c_real)(1)
#define V_ST_REAL(p, v) TNI_FNT(tni_c_store_real)(p, v)
#define V_WITHIN(a, r) TNI_FNT(tni_c_within)(a, r)
#define V_ABS(a) TNI_FNT(tni_c_magnitude)(a)
#define V_ANGLE(a) TNI_FNT(tni_c_angle)(a)
#define V_SIGN(a) TNI_FNT(tni_c_sign)(a)
#define V_ADD(a, b) TNI_FNT(tni_c_add)(a, b)
#define V_SUB(a, b) TNI_FNT(tni_c_sub)(a, b)
#define V_MUL(a, b) TNI_FNT(tni_c_mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_c_div)(a, b)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_NEG(a) TNI_FNT(tni_c_neg)(a)
#define V_CONJ(a) TNI_FNT(tni_c_conj)(a)
#define V_SQUARE(a) TNI_FNT(tni_c_square)(a)
#define V_EQ(a, b) TNI_FNT(tni_c_eq)(a, b)
#define V_NE(a, b) TNI_FNT(tni_c_ne)(a, b)
#define V_ISNAN(a) TNI_FNT(tni_c_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_c_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_c_isfinite)(a)
#define V_SEL(m, a, b) TNI_FNT(tni_c_sel)(m, a, b)
#define M_AND(a, b) TNI_FNT(tni_m_and)(a, b)
#define M_OR(a, b) TNI_FNT(tni_m_or)(a, b)
#define M_XOR(a, b) TNI_FNT(tni_m_xor)(a, b)
#define M_NOT(a) TNI_FNT(tni_m_not)(a)
#define V_MST(p, m) TNI_FNT(tni_m_store)(p, m)
#define M_LD(p) TNI_FNT(tni_m_load)(p)
#define V_EXP(a) TNI_FNT(tni_c_exp)(a)
#define V_LOG(a) TNI_FNT(tni_c_log)(a)
#define V_EXPM1(a) TNI_FNT(tni_c_expm1)(a)
#define V_LOG1P(a) TNI_FNT(tni_c_log1p)(a)
#define V_LOG2(a) TNI_FNT(tni_c_log_base)(a, 1.44269504088896341)
#define V_LOG10(a) TNI_FNT(tni_c_log_base)(a, 0.434294481903251828)
#define V_SQRT(a) TNI_FNT(tni_c_sqrt)(a)
#define V_SIN(a) TNI_FNT(tni_c_sin)(a)
#define V_COS(a) TNI_FNT(tni_c_cos)(a)
#define V_TAN(a) TNI_FNT(tni_c_tan)(a)
#define V_SINH(a) TNI_FNT(tni_c_sinh)(a)
#define V_COSH(a) TNI_FNT(tni_c_cosh)(a)
#define V_ASIN(a) TNI_FNT(tni_c_asin)(a)
#define V_ACOS(a) TNI_FNT(tni_c_acos)(a)
#define V_ATAN(a) TNI_FNT(tni_c_atan)(a)
#define V_TANH(a) TNI_FNT(tni_c_tanh)(a)
#define V_SIGMOID(a) TNI_FNT(tni_c_sigmoid)(a)
#define V_POW(a, b) TNI_FNT(tni_c_pow)(a, b)
#define V_LOGADDEXP(a, b) TNI_FNT(tni_c_logaddexp)(a, b)
#define TNI_KIND_C 1
#define TNC_REAL T

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_LOOP(add, 2, 1)
TNI_LOOP(div, 2, 0)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(exp, 1, 0)
TNI_PREDICATE(isfinite, 1, 0)
TNI_PREDICATE(isinf, 1, 0)
TNI_PREDICATE(isnan, 1, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(reciprocal, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_SELECT(where, 3, 0)

#if defined(TNI_LOOP) && TNI_KIND_C && TNI_ISA == 0 && defined(TNI_TYPE_C128)
TNI_TO_REAL(abs, 1, 0)
TNI_LOOP(acos, 1, 0)
TNI_LOOP(addcdiv, 3, 1)
TNI_LOOP(addcmul, 3, 1)
TNI_TO_REAL(angle, 1, 0)
TNI_LOOP(asin, 1, 0)
TNI_LOOP(atan, 1, 0)
TNI_LOOP(cos, 1, 0)
TNI_LOOP(cosh, 1, 0)
TNI_LOOP(exp2, 1, 0)
TNI_LOOP(expm1, 1, 0)
TNI_LOOP(lerp, 3, 0)
TNI_LOOP(log, 1, 0)
TNI_LOOP(log10, 1, 0)
TNI_LOOP(log1p, 1, 0)
TNI_LOOP(log2, 1, 0)
TNI_LOOP(logaddexp, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_LOOP(pow, 2, 0)
TNI_LOOP(rsqrt, 1, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sigmoid, 1, 0)
TNI_LOOP(sigmoid_backward, 2, 0)
TNI_LOOP(silu, 1, 0)
TNI_LOOP(silu_backward, 2, 0)
TNI_LOOP(sin, 1, 0)
TNI_LOOP(sinc, 1, 0)
TNI_LOOP(sinh, 1, 0)
TNI_LOOP(softsign, 1, 0)
TNI_LOOP(sqrt, 1, 0)
TNI_LOOP(tan, 1, 0)
TNI_LOOP(tanh, 1, 0)
TNI_LOOP(tanh_backward, 2, 0)
#endif
#undef TNI_KIND_C
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#undef TNC_TYPE
#define TNI_TYPE_I32

/* src/cuda/vocabulary_type.cuh - the expressions of one type, in the order of kernels/type.inl */

/* src/simd/vocabulary.h - the words that kernels are written in: one instruction set, one element type at a time */

#define TNI_SUFFIX i32
#define T int32_t
#define TNI_FLOATING 0

#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))

#if TNI_ISA == 0

/* src/simd/scalar.h - the vocabulary with W = 1: every word is the definition that the vector files must agree with */
#ifndef TNI_SIMD_SCALAR_H
#define TNI_SIMD_SCALAR_H

#define TNI_SCALAR_COMMON(S, E, U)                                           \
    TNI_INLINE E tni_sc_ld_##S(const void *p) {                              \
        E v;                                                                 \
        memcpy(&v, p, sizeof v);                                             \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE void tni_sc_st_##S(void *p, E v) { memcpy(p, &v, sizeof v); } \
    TNI_INLINE E tni_sc_ldn_##S(const void *p, int64_t n) {                  \
        return n > 0 ? tni_sc_ld_##S(p) : (E)0;                              \
    }                                                                        \
    TNI_INLINE void tni_sc_stn_##S(void *p, E v, int64_t n) {                \
        if (n > 0) tni_sc_st_##S(p, v);                                      \
    }                                                                        \
    TNI_INLINE U tni_sc_bits_##S(E v) {                                      \
        U u;                                                                 \
        memcpy(&u, &v, sizeof u);                                            \
        return u;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_from_##S(U u) {                                      \
        E v;                                                                 \
        memcpy(&v, &u, sizeof v);                                            \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_min_##S(E a, E b) { return a < b ? a : b; }          \
    TNI_INLINE E tni_sc_max_##S(E a, E b) { return a > b ? a : b; }          \
    TNI_INLINE E tni_sc_and_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) & tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_or_##S(E a, E b) {                                   \
        return tni_sc_from_##S(tni_sc_bits_##S(a) | tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_xor_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) ^ tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_not_##S(E a) { return tni_sc_from_##S((U)~tni_sc_bits_##S(a)); }
#define TNI_SCALAR_INTEGER(S, E, U)                                        \
    TNI_INLINE E tni_sc_add_##S(E a, E b) { return (E)((U)a + (U)b); }     \
    TNI_INLINE E tni_sc_sub_##S(E a, E b) { return (E)((U)a - (U)b); }     \
    TNI_INLINE E tni_sc_mul_##S(E a, E b) { return (E)((U)a * (U)b); }     \
    TNI_INLINE E tni_sc_abs_##S(E a) { return a < 0 ? (E)(0 - (U)a) : a; } \
    TNI_INLINE E tni_sc_shl_##S(E a, E n) { return (E)((U)a << n); }       \
    TNI_INLINE E tni_sc_shr_##S(E a, E n) { return (E)(a >> n); }          \
    TNI_INLINE E tni_sc_shrl_##S(E a, E n) { return (E)((U)a >> n); }
TNI_SCALAR_COMMON(f32, float, uint32_t)
TNI_SCALAR_COMMON(f64, double, uint64_t)
TNI_SCALAR_COMMON(i32, int32_t, uint32_t)
TNI_SCALAR_COMMON(i64, int64_t, uint64_t)
TNI_SCALAR_INTEGER(i32, int32_t, uint32_t)
TNI_SCALAR_INTEGER(i64, int64_t, uint64_t)
#undef TNI_SCALAR_COMMON
#undef TNI_SCALAR_INTEGER

TNI_INLINE float tni_sc_ldexp_f32(float v, float n) {
    int32_t k = n == n ? (int32_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f32((uint32_t)(h + 127) << 23) *
           tni_sc_from_f32((uint32_t)(k - h + 127) << 23);
}
TNI_INLINE double tni_sc_ldexp_f64(double v, double n) {
    int64_t k = n == n ? (int64_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f64((uint64_t)(h + 1023) << 52) *
           tni_sc_from_f64((uint64_t)(k - h + 1023) << 52);
}
TNI_INLINE float tni_sc_expo_f32(float v) {
    return (float)((int32_t)(tni_sc_bits_f32(v) >> 23) - 127);
}
TNI_INLINE double tni_sc_expo_f64(double v) {
    return (double)((int64_t)(tni_sc_bits_f64(v) >> 52) - 1023);
}
TNI_INLINE float tni_sc_mant_f32(float v) {
    return tni_sc_from_f32((tni_sc_bits_f32(v) & 0x007fffffu) | 0x3f800000u);
}
TNI_INLINE double tni_sc_mant_f64(double v) {
    return tni_sc_from_f64((tni_sc_bits_f64(v) & 0x000fffffffffffffu) | 0x3ff0000000000000u);
}
#if defined(__wasm__)
TNI_INLINE float tni_sc_fma_f32(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    double side = lost * s;
    uint64_t bits = tni_sc_bits_f64(s);
    if (side < 0) bits--;
    if (side < 0 || side > 0) bits |= 1;
    return (float)tni_sc_from_f64(bits);
}
TNI_INLINE double tni_sc_fma_f64(double a, double b, double c) {
    return c == 0 && a != 0 && b != 0 ? a * b : fma(a, b, c);
}
#define TNI_FMA_F32 tni_sc_fma_f32
#define TNI_FMA_F64 tni_sc_fma_f64
TNI_INLINE int tni_sc_truth(int m) {
    __asm__("" : "+r"(m));
    return m;
}
#define TNI_TRUTH(m) tni_sc_truth(m)
#else
#define TNI_FMA_F32 fmaf
#define TNI_FMA_F64 fma
#define TNI_TRUTH(m) (m)
#endif
#endif

#define TNI_S(name) TNI_JOIN(tni_sc_##name##_, TNI_SUFFIX)
#define V T
#define M int
#define W 1
#define V_LD(p) TNI_S(ld)(p)
#define V_ST(p, v) TNI_S(st)(p, v)
#define V_LDN(p, n) TNI_S(ldn)(p, n)
#define V_STN(p, v, n) TNI_S(stn)(p, v, n)
#define V_LD2(p, a, b) (*(a) = V_LD(p), *(b) = V_LD((const T *)(const void *)(p) + 1))
#define V_ST2(p, a, b) (V_ST(p, a), V_ST((T *)(void *)(p) + 1, b))
#define V_SET(s) ((T)(s))
#define V_ZERO() ((T)0)
#define V_MIN(a, b) TNI_S(min)(a, b)
#define V_MAX(a, b) TNI_S(max)(a, b)
#define V_LT(a, b) ((a) < (b))
#define V_LE(a, b) ((a) <= (b))
#define V_GT(a, b) ((a) > (b))
#define V_GE(a, b) ((a) >= (b))
#define V_EQ(a, b) ((a) == (b))
#define V_NE(a, b) ((a) != (b))
#define V_SEL(m, a, b) (TNI_TRUTH(m) ? (a) : (b))
#define M_AND(a, b) ((a) & (b))
#define M_OR(a, b) ((a) | (b))
#define M_XOR(a, b) ((a) ^ (b))
#define M_NOT(a) (!(a))
#define M_ANY(m) (m)
#define V_AND(a, b) TNI_S (and)(a, b)
#define V_OR(a, b) TNI_S(or)(a, b)
#define V_XOR(a, b) TNI_S (xor)(a, b)
#define V_NOT(a) TNI_S(not )(a)
#define V_MST(p, m) (*(uint8_t *)(p) = (uint8_t)(m))
#define M_LD(p) (*(const uint8_t *)(p) != 0)

#define V_ADD(a, b) TNI_S(add)(a, b)
#define V_SUB(a, b) TNI_S(sub)(a, b)
#define V_MUL(a, b) TNI_S(mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) TNI_S(sub)(0, a)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_ABS(a) TNI_S(abs)(a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_SHL(a, n) TNI_S(shl)(a, n)
#define V_SHR(a, n) TNI_S(shr)(a, n)
#define V_SHRL(a, n) TNI_S(shrl)(a, n)
#define V_SHLV(a, n) TNI_S(shl)(a, n)
#define V_SHRV(a, n) TNI_S(shr)(a, n)
#elif TNI_ISA == 1

/* src/simd/avx2.h - the vocabulary for x86-64 with AVX2, FMA and F16C */
#ifndef TNI_SIMD_AVX2_H
#define TNI_SIMD_AVX2_H

static const int32_t tni_avx2_first[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TNI_INLINE __m256i tni_avx2_mask32(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - n));
}
TNI_INLINE __m256i tni_avx2_mask64(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - 2 * n));
}
TNI_INLINE void tni_avx2_mst32(void *p, __m256i m) {
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(h, h), _mm_set1_epi8(1)));
}
TNI_INLINE void tni_avx2_mst64(void *p, int bits) {
    uint32_t u = ((uint32_t)bits * 0x204081u) & 0x01010101u;
    memcpy(p, &u, 4);
}
TNI_INLINE __m256i tni_avx2_mld32(const void *p) {
    __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_mld64(const void *p) {
    int32_t u;
    memcpy(&u, p, 4);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(u)), _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_not(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }

TNI_INLINE __m256 tni_avx2_ldexp_f32(__m256 v, __m256 n) {
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1), one = _mm256_set1_epi32(127);
    __m256i a = _mm256_slli_epi32(_mm256_add_epi32(h, one), 23);
    __m256i b = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(k, h), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(v, _mm256_castsi256_ps(a)), _mm256_castsi256_ps(b));
}
TNI_INLINE __m256d tni_avx2_ldexp_f64(__m256d v, __m256d n) {
    __m128i k = _mm256_cvtpd_epi32(n), h = _mm_srai_epi32(k, 1), one = _mm_set1_epi32(1023);
    __m256i a = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(h, one)), 52);
    __m256i b =
        _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(_mm_sub_epi32(k, h), one)), 52);
    return _mm256_mul_pd(_mm256_mul_pd(v, _mm256_castsi256_pd(a)), _mm256_castsi256_pd(b));
}
TNI_INLINE __m256 tni_avx2_expo_f32(__m256 v) {
    __m256i k = _mm256_srli_epi32(_mm256_castps_si256(v), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(k, _mm256_set1_epi32(127)));
}
TNI_INLINE __m256d tni_avx2_expo_f64(__m256d v) {
    __m256i k = _mm256_srli_epi64(_mm256_castpd_si256(v), 52);
    k = _mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000));
    return _mm256_sub_pd(_mm256_castsi256_pd(k), _mm256_set1_pd(4503599627371519.0));
}
TNI_INLINE __m256 tni_avx2_mant_f32(__m256 v) {
    v = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(v, _mm256_set1_ps(1.0f));
}
TNI_INLINE __m256d tni_avx2_mant_f64(__m256d v) {
    v = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000fffffffffffff)));
    return _mm256_or_pd(v, _mm256_set1_pd(1.0));
}

TNI_INLINE void tni_avx2_ld2_f32(const float *p, __m256 *a, __m256 *b) {
    __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0x88)),
            odd = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0xdd));
    *a = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *b = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TNI_INLINE void tni_avx2_st2_f32(float *p, __m256 a, __m256 b) {
    __m256 x = _mm256_unpacklo_ps(a, b), y = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(x, y, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(x, y, 0x31));
}
TNI_INLINE void tni_avx2_ld2_f64(const double *p, __m256d *a, __m256d *b) {
    __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
    *a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), 0xd8);
    *b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), 0xd8);
}
TNI_INLINE void tni_avx2_st2_f64(double *p, __m256d a, __m256d b) {
    __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(x, y, 0x20));
    _mm256_storeu_pd(p + 4, _mm256_permute2f128_pd(x, y, 0x31));
}

TNI_INLINE __m256i tni_avx2_mul_i64(__m256i a, __m256i b) {
    __m256i cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    cross = _mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}
TNI_INLINE __m256i tni_avx2_sel(__m256i m, __m256i a, __m256i b) {
    return _mm256_blendv_epi8(b, a, m);
}
TNI_INLINE __m256i tni_avx2_min_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(b, a), a, b);
}
TNI_INLINE __m256i tni_avx2_max_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(a, b), a, b);
}
TNI_INLINE __m256i tni_avx2_abs_i64(__m256i a) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_sub_epi64(_mm256_xor_si256(a, s), s);
}
TNI_INLINE __m256i tni_avx2_shr_i64(__m256i a, __m256i n) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, s), n), s);
}
#endif

#define V __m256i
#define M __m256i
#define V_LD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define V_ZERO() _mm256_setzero_si256()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm256_setzero_si256(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_LT(a, b) V_GT(b, a)
#define V_LE(a, b) tni_avx2_not(V_GT(a, b))
#define V_GE(a, b) tni_avx2_not(V_GT(b, a))
#define V_NE(a, b) tni_avx2_not(V_EQ(a, b))
#define V_SEL(m, a, b) _mm256_blendv_epi8(b, a, m)
#define M_AND(a, b) _mm256_and_si256(a, b)
#define M_OR(a, b) _mm256_or_si256(a, b)
#define M_XOR(a, b) _mm256_xor_si256(a, b)
#define M_NOT(a) tni_avx2_not(a)
#define M_ANY(m) (_mm256_movemask_epi8(m) != 0)
#define V_AND(a, b) _mm256_and_si256(a, b)
#define V_OR(a, b) _mm256_or_si256(a, b)
#define V_XOR(a, b) _mm256_xor_si256(a, b)
#define V_NOT(a) tni_avx2_not(a)
#define W 8
#define V_LDN(p, n) _mm256_maskload_epi32((const int *)(const void *)(p), tni_avx2_mask32(n))
#define V_STN(p, v, n) _mm256_maskstore_epi32((int *)(void *)(p), tni_avx2_mask32(n), v)
#define V_SET(s) _mm256_set1_epi32((int32_t)(s))
#define V_ADD(a, b) _mm256_add_epi32(a, b)
#define V_SUB(a, b) _mm256_sub_epi32(a, b)
#define V_MUL(a, b) _mm256_mullo_epi32(a, b)
#define V_ABS(a) _mm256_abs_epi32(a)
#define V_MIN(a, b) _mm256_min_epi32(a, b)
#define V_MAX(a, b) _mm256_max_epi32(a, b)
#define V_GT(a, b) _mm256_cmpgt_epi32(a, b)
#define V_EQ(a, b) _mm256_cmpeq_epi32(a, b)
#define V_SHL(a, n) _mm256_slli_epi32(a, n)
#define V_SHR(a, n) _mm256_srai_epi32(a, n)
#define V_SHRL(a, n) _mm256_srli_epi32(a, n)
#define V_SHLV(a, n) _mm256_sllv_epi32(a, n)
#define V_SHRV(a, n) _mm256_srav_epi32(a, n)
#define V_MST(p, m) tni_avx2_mst32(p, m)
#define M_LD(p) tni_avx2_mld32(p)
#elif TNI_ISA == 2

/* src/simd/avx512.h - the vocabulary for x86-64 with AVX-512 F, BW, DQ and VL */
#ifndef TNI_SIMD_AVX512_H
#define TNI_SIMD_AVX512_H

TNI_INLINE __mmask16 tni_avx512_first16(int64_t n) { return (__mmask16)((1u << n) - 1u); }
TNI_INLINE __mmask8 tni_avx512_first8(int64_t n) { return (__mmask8)((1u << n) - 1u); }
TNI_INLINE void tni_avx512_mst16(void *p, __mmask16 m) {
    _mm_storeu_si128((__m128i *)p, _mm_maskz_set1_epi8(m, 1));
}
TNI_INLINE void tni_avx512_mst8(void *p, __mmask8 m) {
    _mm_storel_epi64((__m128i *)p, _mm_maskz_set1_epi8((__mmask16)m, 1));
}
TNI_INLINE __mmask16 tni_avx512_mld16(const void *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return _mm_test_epi8_mask(v, v);
}
TNI_INLINE __mmask8 tni_avx512_mld8(const void *p) {
    __m128i v = _mm_loadl_epi64((const __m128i *)p);
    return (__mmask8)_mm_test_epi8_mask(v, v);
}
TNI_INLINE void tni_avx512_ld2_f32(const float *p, __m512 *a, __m512 *b) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 x = _mm512_loadu_ps(p), y = _mm512_loadu_ps(p + 16);
    *a = _mm512_permutex2var_ps(x, even, y);
    *b = _mm512_permutex2var_ps(x, _mm512_add_epi32(even, _mm512_set1_epi32(1)), y);
}
TNI_INLINE void tni_avx512_st2_f32(float *p, __m512 a, __m512 b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a, low, b));
    _mm512_storeu_ps(p + 16,
                     _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
TNI_INLINE void tni_avx512_ld2_f64(const double *p, __m512d *a, __m512d *b) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512d x = _mm512_loadu_pd(p), y = _mm512_loadu_pd(p + 8);
    *a = _mm512_permutex2var_pd(x, even, y);
    *b = _mm512_permutex2var_pd(x, _mm512_add_epi64(even, _mm512_set1_epi64(1)), y);
}
TNI_INLINE void tni_avx512_st2_f64(double *p, __m512d a, __m512d b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    _mm512_storeu_pd(p, _mm512_permutex2var_pd(a, low, b));
    _mm512_storeu_pd(p + 8,
                     _mm512_permutex2var_pd(a, _mm512_add_epi64(low, _mm512_set1_epi64(4)), b));
}
#endif

#define V __m512i
#define V_LD(p) _mm512_loadu_si512((const void *)(p))
#define V_ST(p, v) _mm512_storeu_si512((void *)(p), v)
#define V_ZERO() _mm512_setzero_si512()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm512_setzero_si512(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_AND(a, b) _mm512_and_si512(a, b)
#define V_OR(a, b) _mm512_or_si512(a, b)
#define V_XOR(a, b) _mm512_xor_si512(a, b)
#define V_NOT(a) _mm512_xor_si512(a, _mm512_set1_epi32(-1))
#define M __mmask16
#define W 16
#define V_LDN(p, n) _mm512_maskz_loadu_epi32(tni_avx512_first16(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_epi32((void *)(p), tni_avx512_first16(n), v)
#define V_SET(s) _mm512_set1_epi32((int32_t)(s))
#define V_ADD(a, b) _mm512_add_epi32(a, b)
#define V_SUB(a, b) _mm512_sub_epi32(a, b)
#define V_MUL(a, b) _mm512_mullo_epi32(a, b)
#define V_ABS(a) _mm512_abs_epi32(a)
#define V_MIN(a, b) _mm512_min_epi32(a, b)
#define V_MAX(a, b) _mm512_max_epi32(a, b)
#define V_LT(a, b) _mm512_cmplt_epi32_mask(a, b)
#define V_LE(a, b) _mm512_cmple_epi32_mask(a, b)
#define V_GT(a, b) _mm512_cmpgt_epi32_mask(a, b)
#define V_GE(a, b) _mm512_cmpge_epi32_mask(a, b)
#define V_EQ(a, b) _mm512_cmpeq_epi32_mask(a, b)
#define V_NE(a, b) _mm512_cmpneq_epi32_mask(a, b)
#define V_SEL(m, a, b) _mm512_mask_blend_epi32(m, b, a)
#define V_SHL(a, n) _mm512_slli_epi32(a, n)
#define V_SHR(a, n) _mm512_srai_epi32(a, n)
#define V_SHRL(a, n) _mm512_srli_epi32(a, n)
#define V_SHLV(a, n) _mm512_sllv_epi32(a, n)
#define V_SHRV(a, n) _mm512_srav_epi32(a, n)
#define V_MST(p, m) tni_avx512_mst16(p, m)
#define M_LD(p) tni_avx512_mld16(p)
#define TNI_M(m) ((__mmask16)(m))
#define M_AND(a, b) TNI_M((a) & (b))
#define M_OR(a, b) TNI_M((a) | (b))
#define M_XOR(a, b) TNI_M((a) ^ (b))
#define M_NOT(a) TNI_M(~(unsigned)(a))
#define M_ANY(m) ((m) != 0)
#elif TNI_ISA == 3

/* src/simd/neon.h - the vocabulary for aarch64 */
#ifndef TNI_SIMD_NEON_H
#define TNI_SIMD_NEON_H

TNI_INLINE float32x4_t tni_neon_ldn_f32(const void *p, int64_t n) {
    float t[4] = {0, 0, 0, 0};
    memcpy(t, p, (size_t)n * 4);
    return vld1q_f32(t);
}
TNI_INLINE void tni_neon_stn_f32(void *p, float32x4_t v, int64_t n) {
    float t[4];
    vst1q_f32(t, v);
    memcpy(p, t, (size_t)n * 4);
}
TNI_INLINE float64x2_t tni_neon_ldn_f64(const void *p, int64_t n) {
    double t[2] = {0, 0};
    memcpy(t, p, (size_t)n * 8);
    return vld1q_f64(t);
}
TNI_INLINE void tni_neon_stn_f64(void *p, float64x2_t v, int64_t n) {
    double t[2];
    vst1q_f64(t, v);
    memcpy(p, t, (size_t)n * 8);
}
TNI_INLINE int32x4_t tni_neon_ldn_i32(const void *p, int64_t n) {
    return vreinterpretq_s32_f32(tni_neon_ldn_f32(p, n));
}
TNI_INLINE void tni_neon_stn_i32(void *p, int32x4_t v, int64_t n) {
    tni_neon_stn_f32(p, vreinterpretq_f32_s32(v), n);
}
TNI_INLINE int64x2_t tni_neon_ldn_i64(const void *p, int64_t n) {
    return vreinterpretq_s64_f64(tni_neon_ldn_f64(p, n));
}
TNI_INLINE void tni_neon_stn_i64(void *p, int64x2_t v, int64_t n) {
    tni_neon_stn_f64(p, vreinterpretq_f64_s64(v), n);
}
TNI_INLINE void tni_neon_mst32(void *p, uint32x4_t m) {
    uint16x4_t h = vmovn_u32(m);
    uint8x8_t b = vand_u8(vmovn_u16(vcombine_u16(h, h)), vdup_n_u8(1));
    vst1_lane_u32((uint32_t *)p, vreinterpret_u32_u8(b), 0);
}
TNI_INLINE void tni_neon_mst64(void *p, uint64x2_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(vgetq_lane_u64(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(vgetq_lane_u64(m, 1) & 1);
}
TNI_INLINE uint32x4_t tni_neon_mld32(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint32_t t[4] = {q[0], q[1], q[2], q[3]};
    uint32x4_t v = vld1q_u32(t);
    return vtstq_u32(v, v);
}
TNI_INLINE uint64x2_t tni_neon_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint64_t t[2] = {q[0], q[1]};
    uint64x2_t v = vld1q_u64(t);
    return vtstq_u64(v, v);
}
TNI_INLINE float32x4_t tni_neon_ldexp_f32(float32x4_t v, float32x4_t n) {
    int32x4_t k = vcvtq_s32_f32(n), h = vshrq_n_s32(k, 1), one = vdupq_n_s32(127);
    float32x4_t a = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(h, one), 23));
    float32x4_t b = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(k, h), one), 23));
    return vmulq_f32(vmulq_f32(v, a), b);
}
TNI_INLINE float64x2_t tni_neon_ldexp_f64(float64x2_t v, float64x2_t n) {
    int64x2_t k = vcvtq_s64_f64(n), h = vshrq_n_s64(k, 1), one = vdupq_n_s64(1023);
    float64x2_t a = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(h, one), 52));
    float64x2_t b = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vsubq_s64(k, h), one), 52));
    return vmulq_f64(vmulq_f64(v, a), b);
}
TNI_INLINE float32x4_t tni_neon_min_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
TNI_INLINE float32x4_t tni_neon_max_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_min_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_max_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_min_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcltq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_max_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcgtq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_mul_i64(int64x2_t a, int64x2_t b) {
    int64x2_t v =
        vdupq_n_s64((int64_t)((uint64_t)vgetq_lane_s64(a, 0) * (uint64_t)vgetq_lane_s64(b, 0)));
    return vsetq_lane_s64(
        (int64_t)((uint64_t)vgetq_lane_s64(a, 1) * (uint64_t)vgetq_lane_s64(b, 1)), v, 1);
}
TNI_INLINE uint64x2_t tni_neon_not64(uint64x2_t m) {
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m)));
}
TNI_INLINE float32x4_t tni_neon_bits_f32(uint32x4_t u) { return vreinterpretq_f32_u32(u); }
TNI_INLINE uint32x4_t tni_neon_u32(float32x4_t v) { return vreinterpretq_u32_f32(v); }
TNI_INLINE float64x2_t tni_neon_bits_f64(uint64x2_t u) { return vreinterpretq_f64_u64(u); }
TNI_INLINE uint64x2_t tni_neon_u64(float64x2_t v) { return vreinterpretq_u64_f64(v); }
TNI_INLINE void tni_neon_ld2_f32(const float *p, float32x4_t *a, float32x4_t *b) {
    float32x4x2_t v = vld2q_f32(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f32(float *p, float32x4_t a, float32x4_t b) {
    float32x4x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f32(p, v);
}
TNI_INLINE void tni_neon_ld2_f64(const double *p, float64x2_t *a, float64x2_t *b) {
    float64x2x2_t v = vld2q_f64(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f64(double *p, float64x2_t a, float64x2_t b) {
    float64x2x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f64(p, v);
}
TNI_INLINE float32x4_t tni_neon_expo_f32(float32x4_t v) {
    int32x4_t k = vreinterpretq_s32_u32(vshrq_n_u32(tni_neon_u32(v), 23));
    return vcvtq_f32_s32(vsubq_s32(k, vdupq_n_s32(127)));
}
TNI_INLINE float64x2_t tni_neon_expo_f64(float64x2_t v) {
    int64x2_t k = vreinterpretq_s64_u64(vshrq_n_u64(tni_neon_u64(v), 52));
    return vcvtq_f64_s64(vsubq_s64(k, vdupq_n_s64(1023)));
}
TNI_INLINE float32x4_t tni_neon_mant_f32(float32x4_t v) {
    uint32x4_t u = vandq_u32(tni_neon_u32(v), vdupq_n_u32(0x007fffffu));
    return tni_neon_bits_f32(vorrq_u32(u, vdupq_n_u32(0x3f800000u)));
}
TNI_INLINE float64x2_t tni_neon_mant_f64(float64x2_t v) {
    uint64x2_t u = vandq_u64(tni_neon_u64(v), vdupq_n_u64(0x000fffffffffffffu));
    return tni_neon_bits_f64(vorrq_u64(u, vdupq_n_u64(0x3ff0000000000000u)));
}
#endif

#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V int32x4_t
#define V_LD(p) vld1q_s32((const int32_t *)(const void *)(p))
#define V_ST(p, v) vst1q_s32((int32_t *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_i32(p, n)
#define V_STN(p, v, n) tni_neon_stn_i32(p, v, n)
#define V_SET(s) vdupq_n_s32((int32_t)(s))
#define V_ZERO() vdupq_n_s32(0)
#define V_ADD(a, b) vaddq_s32(a, b)
#define V_SUB(a, b) vsubq_s32(a, b)
#define V_MUL(a, b) vmulq_s32(a, b)
#define V_NEG(a) vnegq_s32(a)
#define V_ABS(a) vabsq_s32(a)
#define V_MIN(a, b) vminq_s32(a, b)
#define V_MAX(a, b) vmaxq_s32(a, b)
#define V_LT(a, b) vcltq_s32(a, b)
#define V_LE(a, b) vcleq_s32(a, b)
#define V_GT(a, b) vcgtq_s32(a, b)
#define V_GE(a, b) vcgeq_s32(a, b)
#define V_EQ(a, b) vceqq_s32(a, b)
#define V_SEL(m, a, b) vbslq_s32(m, a, b)
#define V_AND(a, b) vandq_s32(a, b)
#define V_OR(a, b) vorrq_s32(a, b)
#define V_XOR(a, b) veorq_s32(a, b)
#define V_NOT(a) vmvnq_s32(a)
#define V_SHL(a, n) vshlq_n_s32(a, n)
#define V_SHR(a, n) vshlq_s32(a, vdupq_n_s32(-(n)))
#define V_SHRL(a, n) vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-(n))))
#define V_SHLV(a, n) vshlq_s32(a, n)
#define V_SHRV(a, n) vshlq_s32(a, vnegq_s32(n))
#define M uint32x4_t
#define W 4
#define M_AND(a, b) vandq_u32(a, b)
#define M_OR(a, b) vorrq_u32(a, b)
#define M_XOR(a, b) veorq_u32(a, b)
#define M_NOT(a) vmvnq_u32(a)
#define M_ANY(m) (vmaxvq_u32(m) != 0)
#define V_MST(p, m) tni_neon_mst32(p, m)
#define M_LD(p) tni_neon_mld32(p)
#define V_NE(a, b) M_NOT(V_EQ(a, b))
#elif TNI_ISA == 4

/* src/simd/wasm128.h - the vocabulary for WebAssembly with 128-bit SIMD (emcc -msimd128) */
#ifndef TNI_SIMD_WASM128_H
#define TNI_SIMD_WASM128_H

TNI_INLINE v128_t tni_wasm_ldn(const void *p, int64_t n, size_t each) {
    v128_t v = wasm_i64x2_splat(0);
    memcpy(&v, p, (size_t)n * each);
    return v;
}
TNI_INLINE void tni_wasm_stn(void *p, v128_t v, int64_t n, size_t each) {
    memcpy(p, &v, (size_t)n * each);
}
TNI_INLINE void tni_wasm_mst32(void *p, v128_t m) {
    v128_t h = wasm_i16x8_narrow_i32x4(m, m);
    v128_t b = wasm_v128_and(wasm_i8x16_narrow_i16x8(h, h), wasm_i8x16_splat(1));
    wasm_v128_store32_lane(p, b, 0);
}
TNI_INLINE void tni_wasm_mst64(void *p, v128_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(wasm_i64x2_extract_lane(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(wasm_i64x2_extract_lane(m, 1) & 1);
}
TNI_INLINE v128_t tni_wasm_mld32(const void *p) {
    v128_t v = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
    return wasm_i32x4_ne(wasm_u32x4_extend_low_u16x8(v), wasm_i32x4_splat(0));
}
TNI_INLINE v128_t tni_wasm_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    return wasm_i64x2_ne(wasm_i64x2_make(q[0], q[1]), wasm_i64x2_splat(0));
}

TNI_INLINE v128_t tni_wasm_low(v128_t a) { return wasm_f64x2_promote_low_f32x4(a); }
TNI_INLINE v128_t tni_wasm_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1));
}
TNI_INLINE v128_t tni_wasm_floats(v128_t low, v128_t high) {
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high),
                              0, 2);
}
TNI_INLINE v128_t tni_wasm_to_odd(v128_t p, v128_t c) {
    v128_t s = wasm_f64x2_add(p, c), t = wasm_f64x2_sub(s, p), zero = wasm_f64x2_splat(0);
    v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(c, t));
    v128_t side = wasm_f64x2_mul(lost, s);
    v128_t beyond = wasm_f64x2_lt(side, zero), before = wasm_f64x2_gt(side, zero);
    v128_t odd = wasm_u64x2_shr(wasm_v128_or(beyond, before), 63);
    return wasm_v128_or(wasm_i64x2_add(s, beyond), odd);
}
static TNI_NOINLINE v128_t tni_wasm_fma_once(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    return tni_wasm_floats(tni_wasm_to_odd(p, tni_wasm_low(c)),
                           tni_wasm_to_odd(q, tni_wasm_high(c)));
}
TNI_INLINE v128_t tni_wasm_fma_f32(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    v128_t s = wasm_f64x2_add(p, tni_wasm_low(c)), t = wasm_f64x2_add(q, tni_wasm_high(c));
    v128_t sum = tni_wasm_floats(s, t), tail = wasm_i32x4_shuffle(s, t, 0, 2, 4, 6);
    v128_t halfway = wasm_i32x4_eq(wasm_v128_and(tail, wasm_i32x4_splat(0x1fffffff)),
                                   wasm_i32x4_splat(0x10000000));
    v128_t small = wasm_f32x4_le(wasm_f32x4_abs(sum), wasm_f32x4_splat(1.17549435e-38f));
    v128_t denormal = wasm_v128_and(small, wasm_f32x4_ne(sum, wasm_f32x4_splat(0)));
    if (TNI_LIKELY(!wasm_v128_any_true(wasm_v128_or(halfway, denormal)))) return sum;
    return tni_wasm_fma_once(a, b, c);
}
TNI_INLINE v128_t tni_wasm_fma_f64(v128_t a, v128_t b, v128_t c) {
    return wasm_f64x2_make(
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 0), wasm_f64x2_extract_lane(b, 0),
                       wasm_f64x2_extract_lane(c, 0)),
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 1), wasm_f64x2_extract_lane(b, 1),
                       wasm_f64x2_extract_lane(c, 1)));
}

TNI_INLINE v128_t tni_wasm_ldexp_f32(v128_t v, v128_t n) {
    v128_t k = wasm_i32x4_trunc_sat_f32x4(n), h = wasm_i32x4_shr(k, 1);
    v128_t one = wasm_i32x4_splat(127), a = wasm_i32x4_shl(wasm_i32x4_add(h, one), 23);
    v128_t b = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(k, h), one), 23);
    return wasm_f32x4_mul(wasm_f32x4_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_ldexp_f64(v128_t v, v128_t n) {
    v128_t k = wasm_i64x2_extend_low_i32x4(wasm_i32x4_trunc_sat_f64x2_zero(n));
    v128_t h = wasm_i64x2_shr(k, 1), one = wasm_i64x2_splat(1023);
    v128_t a = wasm_i64x2_shl(wasm_i64x2_add(h, one), 52);
    v128_t b = wasm_i64x2_shl(wasm_i64x2_add(wasm_i64x2_sub(k, h), one), 52);
    return wasm_f64x2_mul(wasm_f64x2_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_expo_f32(v128_t v) {
    v128_t k = wasm_u32x4_shr(v, 23);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(k, wasm_i32x4_splat(127)));
}
TNI_INLINE v128_t tni_wasm_expo_f64(v128_t v) {
    v128_t k = wasm_v128_or(wasm_u64x2_shr(v, 52), wasm_i64x2_splat(0x4330000000000000));
    return wasm_f64x2_sub(k, wasm_f64x2_splat(4503599627371519.0));
}
TNI_INLINE v128_t tni_wasm_mant_f32(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i32x4_splat(0x007fffff));
    return wasm_v128_or(u, wasm_i32x4_splat(0x3f800000));
}
TNI_INLINE v128_t tni_wasm_mant_f64(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i64x2_splat(0x000fffffffffffff));
    return wasm_v128_or(u, wasm_i64x2_splat(0x3ff0000000000000));
}
TNI_INLINE void tni_wasm_ld2_f32(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i32x4_shuffle(x, y, 0, 2, 4, 6);
    *b = wasm_i32x4_shuffle(x, y, 1, 3, 5, 7);
}
TNI_INLINE void tni_wasm_st2_f32(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5));
    wasm_v128_store(p + 16, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
TNI_INLINE void tni_wasm_ld2_f64(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i64x2_shuffle(x, y, 0, 2);
    *b = wasm_i64x2_shuffle(x, y, 1, 3);
}
TNI_INLINE void tni_wasm_st2_f64(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i64x2_shuffle(a, b, 0, 2));
    wasm_v128_store(p + 16, wasm_i64x2_shuffle(a, b, 1, 3));
}
TNI_INLINE v128_t tni_wasm_min_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_lt(a, b));
}
TNI_INLINE v128_t tni_wasm_max_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_gt(a, b));
}
#define TNI_WASM_SHIFT(name, word, E, N)                              \
    TNI_INLINE v128_t tni_wasm_##name(v128_t a, v128_t n) {           \
        E x[N], by[N];                                                \
        wasm_v128_store(x, a);                                        \
        wasm_v128_store(by, n);                                       \
        for (int i = 0; i < N; i++) x[i] = tni_sc_##word(x[i], by[i]); \
        return wasm_v128_load(x);                                     \
    }
TNI_WASM_SHIFT(shl_i32, shl_i32, int32_t, 4)
TNI_WASM_SHIFT(shr_i32, shr_i32, int32_t, 4)
TNI_WASM_SHIFT(shl_i64, shl_i64, int64_t, 2)
TNI_WASM_SHIFT(shr_i64, shr_i64, int64_t, 2)
#undef TNI_WASM_SHIFT
#endif

#define V v128_t
#define M v128_t
#define V_LD(p) wasm_v128_load(p)
#define V_ST(p, v) wasm_v128_store(p, v)
#define V_LDN(p, n) tni_wasm_ldn(p, n, sizeof(T))
#define V_STN(p, v, n) tni_wasm_stn(p, v, n, sizeof(T))
#define V_ZERO() wasm_i64x2_splat(0)
#define V_SEL(m, a, b) wasm_v128_bitselect(a, b, m)
#define M_AND(a, b) wasm_v128_and(a, b)
#define M_OR(a, b) wasm_v128_or(a, b)
#define M_XOR(a, b) wasm_v128_xor(a, b)
#define M_NOT(a) wasm_v128_not(a)
#define M_ANY(m) wasm_v128_any_true(m)
#define V_AND(a, b) wasm_v128_and(a, b)
#define V_OR(a, b) wasm_v128_or(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_NOT(a) wasm_v128_not(a)

#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define W 4
#define V_SET(s) wasm_i32x4_splat((int32_t)(s))
#define V_ADD(a, b) wasm_i32x4_add(a, b)
#define V_SUB(a, b) wasm_i32x4_sub(a, b)
#define V_MUL(a, b) wasm_i32x4_mul(a, b)
#define V_NEG(a) wasm_i32x4_neg(a)
#define V_ABS(a) wasm_i32x4_abs(a)
#define V_MIN(a, b) wasm_i32x4_min(a, b)
#define V_MAX(a, b) wasm_i32x4_max(a, b)
#define V_LT(a, b) wasm_i32x4_lt(a, b)
#define V_LE(a, b) wasm_i32x4_le(a, b)
#define V_GT(a, b) wasm_i32x4_gt(a, b)
#define V_GE(a, b) wasm_i32x4_ge(a, b)
#define V_EQ(a, b) wasm_i32x4_eq(a, b)
#define V_NE(a, b) wasm_i32x4_ne(a, b)
#define V_SHL(a, n) wasm_i32x4_shl(a, n)
#define V_SHR(a, n) wasm_i32x4_shr(a, n)
#define V_SHRL(a, n) wasm_u32x4_shr(a, n)
#define V_SHLV(a, n) tni_wasm_shl_i32(a, n)
#define V_SHRV(a, n) tni_wasm_shr_i32(a, n)
#define V_MST(p, m) tni_wasm_mst32(p, m)
#define M_LD(p) tni_wasm_mld32(p)
#endif

#define V_ONE V_SET(1)
#define V_PARAM(p, i) V_SET(((const T *)(p))[i])
#define V_ISNAN(a) TNI_FNT(tni_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_isfinite)(a)
#define V_SIGN(a) TNI_FNT(tni_sign)(a)
#define V_SIGNBIT(a) TNI_FNT(tni_signbit)(a)
#define V_SQUARE(a) TNI_FNT(tni_square)(a)
#define V_CONJ(a) (a)
#define V_ST_REAL(p, v) V_ST(p, v)
#define V_WITHIN(a, r) V_LT(V_ABS(a), V_SET(r))
#define V_MAXIMUM(a, b) TNI_FNT(tni_maximum)(a, b)
#define V_MINIMUM(a, b) TNI_FNT(tni_minimum)(a, b)
#define V_FLOORDIV(a, b) TNI_FNT(tni_floordiv)(a, b)
#define V_TRUNCDIV(a, b) TNI_FNT(tni_truncdiv)(a, b)
#define V_REMAINDER(a, b) TNI_FNT(tni_remainder)(a, b)
#define V_FMOD(a, b) TNI_FNT(tni_fmod)(a, b)
#define V_POW(a, b) TNI_FNT(tni_pow)(a, b)
#define V_GCD(a, b) TNI_FNT(tni_gcd)(a, b)
#define V_LCM(a, b) TNI_FNT(tni_lcm)(a, b)
#define V_SHIFT_LEFT(a, n) TNI_FNT(tni_shift_left)(a, n)
#define V_SHIFT_RIGHT(a, n) TNI_FNT(tni_shift_right)(a, n)

/* src/simd/math_int.h - division and powers of one integer type */

#define U uint32_t
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_MAX(a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_MIN(a, b); }
TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_EQ(x, x); }
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(x, V_ZERO()); }
TNI_INLINE V TNI_FNT(tni_shift_left)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    M inside = M_AND(V_GE(n, V_ZERO()), V_LE(n, most));
    return V_SEL(inside, V_SHLV(x, V_AND(n, most)), V_ZERO());
}
TNI_INLINE V TNI_FNT(tni_shift_right)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    return V_SHRV(x, V_SEL(M_AND(V_GE(n, V_ZERO()), V_LE(n, most)), n, most));
}
TNI_INLINE V TNI_FNT(tni_sign)(V x) {
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}
TNI_INLINE T TNI_FNT(tni_div_one)(T a, T b) {
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;
}
TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
TNI_INLINE T TNI_FNT(tni_floordiv_one)(T a, T b) {
    if (b == 0 || b == -1) return TNI_FNT(tni_div_one)(a, b);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
TNI_INLINE T TNI_FNT(tni_remainder_one)(T a, T b) {
    T rest = TNI_FNT(tni_fmod_one)(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
TNI_INLINE T TNI_FNT(tni_pow_one)(T a, T b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    U power = 1, base = (U)a;
    for (U n = (U)b; n; n >>= 1, base *= base)
        if (n & 1) power *= base;
    return (T)power;
}
TNI_INLINE T TNI_FNT(tni_gcd_one)(T a, T b) {
    U x = a < 0 ? 0 - (U)a : (U)a, y = b < 0 ? 0 - (U)b : (U)b;
    while (y != 0) {
        const U rest = x % y;
        x = y;
        y = rest;
    }
    return (T)x;
}
TNI_INLINE T TNI_FNT(tni_lcm_one)(T a, T b) {
    const T both = TNI_FNT(tni_gcd_one)(a, b);
    const T product = both == 0 ? 0 : (T)((U)TNI_FNT(tni_div_one)(a, both) * (U)b);
    return product < 0 ? (T)(0 - (U)product) : product;
}

/* src/simd/math_lanes.h - a vector function `to` made of name_one(T, T), lane by lane */
#define TNI_LANES(name, to)                                                 \
    TNI_HELPER V to(V a, V b) {                                             \
        T x[W], y[W];                                                       \
        V_ST(x, a);                                                         \
        V_ST(y, b);                                                         \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]); \
        return V_LD(x);                                                     \
    }
TNI_LANES(tni_gcd, TNI_FNT(tni_gcd))
TNI_LANES(tni_lcm, TNI_FNT(tni_lcm))
TNI_LANES(tni_div, TNI_FNT(tni_div))
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod))
TNI_LANES(tni_floordiv, TNI_FNT(tni_floordiv))
TNI_LANES(tni_remainder, TNI_FNT(tni_remainder))
TNI_LANES(tni_pow, TNI_FNT(tni_pow))
#undef TNI_LANES
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return TNI_FNT(tni_div)(a, b); }
#undef U
#define TNI_KIND_I 1
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

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_TO_REAL(abs, 1, 0)
TNI_LOOP(add, 2, 1)
TNI_LOOP(addcmul, 3, 1)
TNI_LOOP(bitwise_and, 2, 0)
TNI_LOOP(bitwise_left_shift, 2, 0)
TNI_LOOP(bitwise_not, 1, 0)
TNI_LOOP(bitwise_or, 2, 0)
TNI_LOOP(bitwise_right_shift, 2, 0)
TNI_LOOP(bitwise_xor, 2, 0)
TNI_LOOP(ceil, 1, 0)
TNI_LOOP(clamp_max, 2, 0)
TNI_LOOP(clamp_min, 2, 0)
TNI_LOOP(div_trunc, 2, 0)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(floor, 1, 0)
TNI_LOOP(floor_divide, 2, 0)
TNI_LOOP(fmax, 2, 0)
TNI_LOOP(fmin, 2, 0)
TNI_LOOP(fmod, 2, 0)
TNI_LOOP(gcd, 2, 0)
TNI_PREDICATE(ge, 2, 0)
TNI_PREDICATE(gt, 2, 0)
TNI_LOOP(hardtanh, 1, 2)
TNI_LOOP(heaviside, 2, 0)
TNI_LOOP(lcm, 2, 0)
TNI_PREDICATE(le, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_PREDICATE(lt, 2, 0)
TNI_LOOP(maximum, 2, 0)
TNI_LOOP(minimum, 2, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(pow, 2, 0)
TNI_LOOP(relu, 1, 0)
TNI_LOOP(remainder, 2, 0)
TNI_LOOP(round, 1, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sign, 1, 0)
TNI_PREDICATE(signbit, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_LOOP(threshold, 1, 2)
TNI_LOOP(threshold_backward, 2, 1)
TNI_LOOP(trunc, 1, 0)
TNI_SELECT(where, 3, 0)

#undef TNI_LOOP_SUFFIX
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#undef TNC_TYPE
#define TNI_TYPE_I64

/* src/cuda/vocabulary_type.cuh - the expressions of one type, in the order of kernels/type.inl */

/* src/simd/vocabulary.h - the words that kernels are written in: one instruction set, one element type at a time */

#define TNI_SUFFIX i64
#define T int64_t
#define TNI_FLOATING 0

#define TNI_FNT(name) TNI_FN(TNI_JOIN(name##_, TNI_SUFFIX))

#if TNI_ISA == 0

/* src/simd/scalar.h - the vocabulary with W = 1: every word is the definition that the vector files must agree with */
#ifndef TNI_SIMD_SCALAR_H
#define TNI_SIMD_SCALAR_H

#define TNI_SCALAR_COMMON(S, E, U)                                           \
    TNI_INLINE E tni_sc_ld_##S(const void *p) {                              \
        E v;                                                                 \
        memcpy(&v, p, sizeof v);                                             \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE void tni_sc_st_##S(void *p, E v) { memcpy(p, &v, sizeof v); } \
    TNI_INLINE E tni_sc_ldn_##S(const void *p, int64_t n) {                  \
        return n > 0 ? tni_sc_ld_##S(p) : (E)0;                              \
    }                                                                        \
    TNI_INLINE void tni_sc_stn_##S(void *p, E v, int64_t n) {                \
        if (n > 0) tni_sc_st_##S(p, v);                                      \
    }                                                                        \
    TNI_INLINE U tni_sc_bits_##S(E v) {                                      \
        U u;                                                                 \
        memcpy(&u, &v, sizeof u);                                            \
        return u;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_from_##S(U u) {                                      \
        E v;                                                                 \
        memcpy(&v, &u, sizeof v);                                            \
        return v;                                                            \
    }                                                                        \
    TNI_INLINE E tni_sc_min_##S(E a, E b) { return a < b ? a : b; }          \
    TNI_INLINE E tni_sc_max_##S(E a, E b) { return a > b ? a : b; }          \
    TNI_INLINE E tni_sc_and_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) & tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_or_##S(E a, E b) {                                   \
        return tni_sc_from_##S(tni_sc_bits_##S(a) | tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_xor_##S(E a, E b) {                                  \
        return tni_sc_from_##S(tni_sc_bits_##S(a) ^ tni_sc_bits_##S(b));     \
    }                                                                        \
    TNI_INLINE E tni_sc_not_##S(E a) { return tni_sc_from_##S((U)~tni_sc_bits_##S(a)); }
#define TNI_SCALAR_INTEGER(S, E, U)                                        \
    TNI_INLINE E tni_sc_add_##S(E a, E b) { return (E)((U)a + (U)b); }     \
    TNI_INLINE E tni_sc_sub_##S(E a, E b) { return (E)((U)a - (U)b); }     \
    TNI_INLINE E tni_sc_mul_##S(E a, E b) { return (E)((U)a * (U)b); }     \
    TNI_INLINE E tni_sc_abs_##S(E a) { return a < 0 ? (E)(0 - (U)a) : a; } \
    TNI_INLINE E tni_sc_shl_##S(E a, E n) { return (E)((U)a << n); }       \
    TNI_INLINE E tni_sc_shr_##S(E a, E n) { return (E)(a >> n); }          \
    TNI_INLINE E tni_sc_shrl_##S(E a, E n) { return (E)((U)a >> n); }
TNI_SCALAR_COMMON(f32, float, uint32_t)
TNI_SCALAR_COMMON(f64, double, uint64_t)
TNI_SCALAR_COMMON(i32, int32_t, uint32_t)
TNI_SCALAR_COMMON(i64, int64_t, uint64_t)
TNI_SCALAR_INTEGER(i32, int32_t, uint32_t)
TNI_SCALAR_INTEGER(i64, int64_t, uint64_t)
#undef TNI_SCALAR_COMMON
#undef TNI_SCALAR_INTEGER

TNI_INLINE float tni_sc_ldexp_f32(float v, float n) {
    int32_t k = n == n ? (int32_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f32((uint32_t)(h + 127) << 23) *
           tni_sc_from_f32((uint32_t)(k - h + 127) << 23);
}
TNI_INLINE double tni_sc_ldexp_f64(double v, double n) {
    int64_t k = n == n ? (int64_t)n : 0, h = k >> 1;
    return v * tni_sc_from_f64((uint64_t)(h + 1023) << 52) *
           tni_sc_from_f64((uint64_t)(k - h + 1023) << 52);
}
TNI_INLINE float tni_sc_expo_f32(float v) {
    return (float)((int32_t)(tni_sc_bits_f32(v) >> 23) - 127);
}
TNI_INLINE double tni_sc_expo_f64(double v) {
    return (double)((int64_t)(tni_sc_bits_f64(v) >> 52) - 1023);
}
TNI_INLINE float tni_sc_mant_f32(float v) {
    return tni_sc_from_f32((tni_sc_bits_f32(v) & 0x007fffffu) | 0x3f800000u);
}
TNI_INLINE double tni_sc_mant_f64(double v) {
    return tni_sc_from_f64((tni_sc_bits_f64(v) & 0x000fffffffffffffu) | 0x3ff0000000000000u);
}
#if defined(__wasm__)
TNI_INLINE float tni_sc_fma_f32(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    double side = lost * s;
    uint64_t bits = tni_sc_bits_f64(s);
    if (side < 0) bits--;
    if (side < 0 || side > 0) bits |= 1;
    return (float)tni_sc_from_f64(bits);
}
TNI_INLINE double tni_sc_fma_f64(double a, double b, double c) {
    return c == 0 && a != 0 && b != 0 ? a * b : fma(a, b, c);
}
#define TNI_FMA_F32 tni_sc_fma_f32
#define TNI_FMA_F64 tni_sc_fma_f64
TNI_INLINE int tni_sc_truth(int m) {
    __asm__("" : "+r"(m));
    return m;
}
#define TNI_TRUTH(m) tni_sc_truth(m)
#else
#define TNI_FMA_F32 fmaf
#define TNI_FMA_F64 fma
#define TNI_TRUTH(m) (m)
#endif
#endif

#define TNI_S(name) TNI_JOIN(tni_sc_##name##_, TNI_SUFFIX)
#define V T
#define M int
#define W 1
#define V_LD(p) TNI_S(ld)(p)
#define V_ST(p, v) TNI_S(st)(p, v)
#define V_LDN(p, n) TNI_S(ldn)(p, n)
#define V_STN(p, v, n) TNI_S(stn)(p, v, n)
#define V_LD2(p, a, b) (*(a) = V_LD(p), *(b) = V_LD((const T *)(const void *)(p) + 1))
#define V_ST2(p, a, b) (V_ST(p, a), V_ST((T *)(void *)(p) + 1, b))
#define V_SET(s) ((T)(s))
#define V_ZERO() ((T)0)
#define V_MIN(a, b) TNI_S(min)(a, b)
#define V_MAX(a, b) TNI_S(max)(a, b)
#define V_LT(a, b) ((a) < (b))
#define V_LE(a, b) ((a) <= (b))
#define V_GT(a, b) ((a) > (b))
#define V_GE(a, b) ((a) >= (b))
#define V_EQ(a, b) ((a) == (b))
#define V_NE(a, b) ((a) != (b))
#define V_SEL(m, a, b) (TNI_TRUTH(m) ? (a) : (b))
#define M_AND(a, b) ((a) & (b))
#define M_OR(a, b) ((a) | (b))
#define M_XOR(a, b) ((a) ^ (b))
#define M_NOT(a) (!(a))
#define M_ANY(m) (m)
#define V_AND(a, b) TNI_S (and)(a, b)
#define V_OR(a, b) TNI_S(or)(a, b)
#define V_XOR(a, b) TNI_S (xor)(a, b)
#define V_NOT(a) TNI_S(not )(a)
#define V_MST(p, m) (*(uint8_t *)(p) = (uint8_t)(m))
#define M_LD(p) (*(const uint8_t *)(p) != 0)

#define V_ADD(a, b) TNI_S(add)(a, b)
#define V_SUB(a, b) TNI_S(sub)(a, b)
#define V_MUL(a, b) TNI_S(mul)(a, b)
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) TNI_S(sub)(0, a)
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_ABS(a) TNI_S(abs)(a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_SHL(a, n) TNI_S(shl)(a, n)
#define V_SHR(a, n) TNI_S(shr)(a, n)
#define V_SHRL(a, n) TNI_S(shrl)(a, n)
#define V_SHLV(a, n) TNI_S(shl)(a, n)
#define V_SHRV(a, n) TNI_S(shr)(a, n)
#elif TNI_ISA == 1

/* src/simd/avx2.h - the vocabulary for x86-64 with AVX2, FMA and F16C */
#ifndef TNI_SIMD_AVX2_H
#define TNI_SIMD_AVX2_H

static const int32_t tni_avx2_first[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TNI_INLINE __m256i tni_avx2_mask32(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - n));
}
TNI_INLINE __m256i tni_avx2_mask64(int64_t n) {
    return _mm256_loadu_si256((const __m256i *)(const void *)(tni_avx2_first + 8 - 2 * n));
}
TNI_INLINE void tni_avx2_mst32(void *p, __m256i m) {
    __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(h, h), _mm_set1_epi8(1)));
}
TNI_INLINE void tni_avx2_mst64(void *p, int bits) {
    uint32_t u = ((uint32_t)bits * 0x204081u) & 0x01010101u;
    memcpy(p, &u, 4);
}
TNI_INLINE __m256i tni_avx2_mld32(const void *p) {
    __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    return _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_mld64(const void *p) {
    int32_t u;
    memcpy(&u, p, 4);
    return _mm256_cmpgt_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(u)), _mm256_setzero_si256());
}
TNI_INLINE __m256i tni_avx2_not(__m256i a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }

TNI_INLINE __m256 tni_avx2_ldexp_f32(__m256 v, __m256 n) {
    __m256i k = _mm256_cvtps_epi32(n), h = _mm256_srai_epi32(k, 1), one = _mm256_set1_epi32(127);
    __m256i a = _mm256_slli_epi32(_mm256_add_epi32(h, one), 23);
    __m256i b = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(k, h), one), 23);
    return _mm256_mul_ps(_mm256_mul_ps(v, _mm256_castsi256_ps(a)), _mm256_castsi256_ps(b));
}
TNI_INLINE __m256d tni_avx2_ldexp_f64(__m256d v, __m256d n) {
    __m128i k = _mm256_cvtpd_epi32(n), h = _mm_srai_epi32(k, 1), one = _mm_set1_epi32(1023);
    __m256i a = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(h, one)), 52);
    __m256i b =
        _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(_mm_sub_epi32(k, h), one)), 52);
    return _mm256_mul_pd(_mm256_mul_pd(v, _mm256_castsi256_pd(a)), _mm256_castsi256_pd(b));
}
TNI_INLINE __m256 tni_avx2_expo_f32(__m256 v) {
    __m256i k = _mm256_srli_epi32(_mm256_castps_si256(v), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(k, _mm256_set1_epi32(127)));
}
TNI_INLINE __m256d tni_avx2_expo_f64(__m256d v) {
    __m256i k = _mm256_srli_epi64(_mm256_castpd_si256(v), 52);
    k = _mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000));
    return _mm256_sub_pd(_mm256_castsi256_pd(k), _mm256_set1_pd(4503599627371519.0));
}
TNI_INLINE __m256 tni_avx2_mant_f32(__m256 v) {
    v = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(v, _mm256_set1_ps(1.0f));
}
TNI_INLINE __m256d tni_avx2_mant_f64(__m256d v) {
    v = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000fffffffffffff)));
    return _mm256_or_pd(v, _mm256_set1_pd(1.0));
}

TNI_INLINE void tni_avx2_ld2_f32(const float *p, __m256 *a, __m256 *b) {
    __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 8);
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0x88)),
            odd = _mm256_castps_pd(_mm256_shuffle_ps(x, y, 0xdd));
    *a = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *b = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TNI_INLINE void tni_avx2_st2_f32(float *p, __m256 a, __m256 b) {
    __m256 x = _mm256_unpacklo_ps(a, b), y = _mm256_unpackhi_ps(a, b);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(x, y, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(x, y, 0x31));
}
TNI_INLINE void tni_avx2_ld2_f64(const double *p, __m256d *a, __m256d *b) {
    __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
    *a = _mm256_permute4x64_pd(_mm256_unpacklo_pd(x, y), 0xd8);
    *b = _mm256_permute4x64_pd(_mm256_unpackhi_pd(x, y), 0xd8);
}
TNI_INLINE void tni_avx2_st2_f64(double *p, __m256d a, __m256d b) {
    __m256d x = _mm256_unpacklo_pd(a, b), y = _mm256_unpackhi_pd(a, b);
    _mm256_storeu_pd(p, _mm256_permute2f128_pd(x, y, 0x20));
    _mm256_storeu_pd(p + 4, _mm256_permute2f128_pd(x, y, 0x31));
}

TNI_INLINE __m256i tni_avx2_mul_i64(__m256i a, __m256i b) {
    __m256i cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    cross = _mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}
TNI_INLINE __m256i tni_avx2_sel(__m256i m, __m256i a, __m256i b) {
    return _mm256_blendv_epi8(b, a, m);
}
TNI_INLINE __m256i tni_avx2_min_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(b, a), a, b);
}
TNI_INLINE __m256i tni_avx2_max_i64(__m256i a, __m256i b) {
    return tni_avx2_sel(_mm256_cmpgt_epi64(a, b), a, b);
}
TNI_INLINE __m256i tni_avx2_abs_i64(__m256i a) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_sub_epi64(_mm256_xor_si256(a, s), s);
}
TNI_INLINE __m256i tni_avx2_shr_i64(__m256i a, __m256i n) {
    __m256i s = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_xor_si256(_mm256_srlv_epi64(_mm256_xor_si256(a, s), n), s);
}
#endif

#define V __m256i
#define M __m256i
#define V_LD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define V_ST(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define V_ZERO() _mm256_setzero_si256()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm256_setzero_si256(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_LT(a, b) V_GT(b, a)
#define V_LE(a, b) tni_avx2_not(V_GT(a, b))
#define V_GE(a, b) tni_avx2_not(V_GT(b, a))
#define V_NE(a, b) tni_avx2_not(V_EQ(a, b))
#define V_SEL(m, a, b) _mm256_blendv_epi8(b, a, m)
#define M_AND(a, b) _mm256_and_si256(a, b)
#define M_OR(a, b) _mm256_or_si256(a, b)
#define M_XOR(a, b) _mm256_xor_si256(a, b)
#define M_NOT(a) tni_avx2_not(a)
#define M_ANY(m) (_mm256_movemask_epi8(m) != 0)
#define V_AND(a, b) _mm256_and_si256(a, b)
#define V_OR(a, b) _mm256_or_si256(a, b)
#define V_XOR(a, b) _mm256_xor_si256(a, b)
#define V_NOT(a) tni_avx2_not(a)
#define W 4
#define V_LDN(p, n) _mm256_maskload_epi64((const long long *)(const void *)(p), tni_avx2_mask64(n))
#define V_STN(p, v, n) _mm256_maskstore_epi64((long long *)(void *)(p), tni_avx2_mask64(n), v)
#define V_SET(s) _mm256_set1_epi64x((long long)(s))
#define V_ADD(a, b) _mm256_add_epi64(a, b)
#define V_SUB(a, b) _mm256_sub_epi64(a, b)
#define V_MUL(a, b) tni_avx2_mul_i64(a, b)
#define V_ABS(a) tni_avx2_abs_i64(a)
#define V_MIN(a, b) tni_avx2_min_i64(a, b)
#define V_MAX(a, b) tni_avx2_max_i64(a, b)
#define V_GT(a, b) _mm256_cmpgt_epi64(a, b)
#define V_EQ(a, b) _mm256_cmpeq_epi64(a, b)
#define V_SHL(a, n) _mm256_slli_epi64(a, n)
#define V_SHR(a, n) tni_avx2_shr_i64(a, _mm256_set1_epi64x(n))
#define V_SHRL(a, n) _mm256_srli_epi64(a, n)
#define V_SHLV(a, n) _mm256_sllv_epi64(a, n)
#define V_SHRV(a, n) tni_avx2_shr_i64(a, n)
#define V_MST(p, m) tni_avx2_mst64(p, _mm256_movemask_pd(_mm256_castsi256_pd(m)))
#define M_LD(p) tni_avx2_mld64(p)
#elif TNI_ISA == 2

/* src/simd/avx512.h - the vocabulary for x86-64 with AVX-512 F, BW, DQ and VL */
#ifndef TNI_SIMD_AVX512_H
#define TNI_SIMD_AVX512_H

TNI_INLINE __mmask16 tni_avx512_first16(int64_t n) { return (__mmask16)((1u << n) - 1u); }
TNI_INLINE __mmask8 tni_avx512_first8(int64_t n) { return (__mmask8)((1u << n) - 1u); }
TNI_INLINE void tni_avx512_mst16(void *p, __mmask16 m) {
    _mm_storeu_si128((__m128i *)p, _mm_maskz_set1_epi8(m, 1));
}
TNI_INLINE void tni_avx512_mst8(void *p, __mmask8 m) {
    _mm_storel_epi64((__m128i *)p, _mm_maskz_set1_epi8((__mmask16)m, 1));
}
TNI_INLINE __mmask16 tni_avx512_mld16(const void *p) {
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    return _mm_test_epi8_mask(v, v);
}
TNI_INLINE __mmask8 tni_avx512_mld8(const void *p) {
    __m128i v = _mm_loadl_epi64((const __m128i *)p);
    return (__mmask8)_mm_test_epi8_mask(v, v);
}
TNI_INLINE void tni_avx512_ld2_f32(const float *p, __m512 *a, __m512 *b) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 x = _mm512_loadu_ps(p), y = _mm512_loadu_ps(p + 16);
    *a = _mm512_permutex2var_ps(x, even, y);
    *b = _mm512_permutex2var_ps(x, _mm512_add_epi32(even, _mm512_set1_epi32(1)), y);
}
TNI_INLINE void tni_avx512_st2_f32(float *p, __m512 a, __m512 b) {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(a, low, b));
    _mm512_storeu_ps(p + 16,
                     _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
TNI_INLINE void tni_avx512_ld2_f64(const double *p, __m512d *a, __m512d *b) {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    __m512d x = _mm512_loadu_pd(p), y = _mm512_loadu_pd(p + 8);
    *a = _mm512_permutex2var_pd(x, even, y);
    *b = _mm512_permutex2var_pd(x, _mm512_add_epi64(even, _mm512_set1_epi64(1)), y);
}
TNI_INLINE void tni_avx512_st2_f64(double *p, __m512d a, __m512d b) {
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    _mm512_storeu_pd(p, _mm512_permutex2var_pd(a, low, b));
    _mm512_storeu_pd(p + 8,
                     _mm512_permutex2var_pd(a, _mm512_add_epi64(low, _mm512_set1_epi64(4)), b));
}
#endif

#define V __m512i
#define V_LD(p) _mm512_loadu_si512((const void *)(p))
#define V_ST(p, v) _mm512_storeu_si512((void *)(p), v)
#define V_ZERO() _mm512_setzero_si512()
#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_NEG(a) V_SUB(_mm512_setzero_si512(), a)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V_AND(a, b) _mm512_and_si512(a, b)
#define V_OR(a, b) _mm512_or_si512(a, b)
#define V_XOR(a, b) _mm512_xor_si512(a, b)
#define V_NOT(a) _mm512_xor_si512(a, _mm512_set1_epi32(-1))
#define M __mmask8
#define W 8
#define V_LDN(p, n) _mm512_maskz_loadu_epi64(tni_avx512_first8(n), (const void *)(p))
#define V_STN(p, v, n) _mm512_mask_storeu_epi64((void *)(p), tni_avx512_first8(n), v)
#define V_SET(s) _mm512_set1_epi64((long long)(s))
#define V_ADD(a, b) _mm512_add_epi64(a, b)
#define V_SUB(a, b) _mm512_sub_epi64(a, b)
#define V_MUL(a, b) _mm512_mullo_epi64(a, b)
#define V_ABS(a) _mm512_abs_epi64(a)
#define V_MIN(a, b) _mm512_min_epi64(a, b)
#define V_MAX(a, b) _mm512_max_epi64(a, b)
#define V_LT(a, b) _mm512_cmplt_epi64_mask(a, b)
#define V_LE(a, b) _mm512_cmple_epi64_mask(a, b)
#define V_GT(a, b) _mm512_cmpgt_epi64_mask(a, b)
#define V_GE(a, b) _mm512_cmpge_epi64_mask(a, b)
#define V_EQ(a, b) _mm512_cmpeq_epi64_mask(a, b)
#define V_NE(a, b) _mm512_cmpneq_epi64_mask(a, b)
#define V_SEL(m, a, b) _mm512_mask_blend_epi64(m, b, a)
#define V_SHL(a, n) _mm512_slli_epi64(a, n)
#define V_SHR(a, n) _mm512_srai_epi64(a, n)
#define V_SHRL(a, n) _mm512_srli_epi64(a, n)
#define V_SHLV(a, n) _mm512_sllv_epi64(a, n)
#define V_SHRV(a, n) _mm512_srav_epi64(a, n)
#define V_MST(p, m) tni_avx512_mst8(p, m)
#define M_LD(p) tni_avx512_mld8(p)
#define TNI_M(m) ((__mmask8)(m))
#define M_AND(a, b) TNI_M((a) & (b))
#define M_OR(a, b) TNI_M((a) | (b))
#define M_XOR(a, b) TNI_M((a) ^ (b))
#define M_NOT(a) TNI_M(~(unsigned)(a))
#define M_ANY(m) ((m) != 0)
#elif TNI_ISA == 3

/* src/simd/neon.h - the vocabulary for aarch64 */
#ifndef TNI_SIMD_NEON_H
#define TNI_SIMD_NEON_H

TNI_INLINE float32x4_t tni_neon_ldn_f32(const void *p, int64_t n) {
    float t[4] = {0, 0, 0, 0};
    memcpy(t, p, (size_t)n * 4);
    return vld1q_f32(t);
}
TNI_INLINE void tni_neon_stn_f32(void *p, float32x4_t v, int64_t n) {
    float t[4];
    vst1q_f32(t, v);
    memcpy(p, t, (size_t)n * 4);
}
TNI_INLINE float64x2_t tni_neon_ldn_f64(const void *p, int64_t n) {
    double t[2] = {0, 0};
    memcpy(t, p, (size_t)n * 8);
    return vld1q_f64(t);
}
TNI_INLINE void tni_neon_stn_f64(void *p, float64x2_t v, int64_t n) {
    double t[2];
    vst1q_f64(t, v);
    memcpy(p, t, (size_t)n * 8);
}
TNI_INLINE int32x4_t tni_neon_ldn_i32(const void *p, int64_t n) {
    return vreinterpretq_s32_f32(tni_neon_ldn_f32(p, n));
}
TNI_INLINE void tni_neon_stn_i32(void *p, int32x4_t v, int64_t n) {
    tni_neon_stn_f32(p, vreinterpretq_f32_s32(v), n);
}
TNI_INLINE int64x2_t tni_neon_ldn_i64(const void *p, int64_t n) {
    return vreinterpretq_s64_f64(tni_neon_ldn_f64(p, n));
}
TNI_INLINE void tni_neon_stn_i64(void *p, int64x2_t v, int64_t n) {
    tni_neon_stn_f64(p, vreinterpretq_f64_s64(v), n);
}
TNI_INLINE void tni_neon_mst32(void *p, uint32x4_t m) {
    uint16x4_t h = vmovn_u32(m);
    uint8x8_t b = vand_u8(vmovn_u16(vcombine_u16(h, h)), vdup_n_u8(1));
    vst1_lane_u32((uint32_t *)p, vreinterpret_u32_u8(b), 0);
}
TNI_INLINE void tni_neon_mst64(void *p, uint64x2_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(vgetq_lane_u64(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(vgetq_lane_u64(m, 1) & 1);
}
TNI_INLINE uint32x4_t tni_neon_mld32(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint32_t t[4] = {q[0], q[1], q[2], q[3]};
    uint32x4_t v = vld1q_u32(t);
    return vtstq_u32(v, v);
}
TNI_INLINE uint64x2_t tni_neon_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    uint64_t t[2] = {q[0], q[1]};
    uint64x2_t v = vld1q_u64(t);
    return vtstq_u64(v, v);
}
TNI_INLINE float32x4_t tni_neon_ldexp_f32(float32x4_t v, float32x4_t n) {
    int32x4_t k = vcvtq_s32_f32(n), h = vshrq_n_s32(k, 1), one = vdupq_n_s32(127);
    float32x4_t a = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(h, one), 23));
    float32x4_t b = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vsubq_s32(k, h), one), 23));
    return vmulq_f32(vmulq_f32(v, a), b);
}
TNI_INLINE float64x2_t tni_neon_ldexp_f64(float64x2_t v, float64x2_t n) {
    int64x2_t k = vcvtq_s64_f64(n), h = vshrq_n_s64(k, 1), one = vdupq_n_s64(1023);
    float64x2_t a = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(h, one), 52));
    float64x2_t b = vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vsubq_s64(k, h), one), 52));
    return vmulq_f64(vmulq_f64(v, a), b);
}
TNI_INLINE float32x4_t tni_neon_min_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
TNI_INLINE float32x4_t tni_neon_max_f32(float32x4_t a, float32x4_t b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_min_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
TNI_INLINE float64x2_t tni_neon_max_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_min_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcltq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_max_i64(int64x2_t a, int64x2_t b) {
    return vbslq_s64(vcgtq_s64(a, b), a, b);
}
TNI_INLINE int64x2_t tni_neon_mul_i64(int64x2_t a, int64x2_t b) {
    int64x2_t v =
        vdupq_n_s64((int64_t)((uint64_t)vgetq_lane_s64(a, 0) * (uint64_t)vgetq_lane_s64(b, 0)));
    return vsetq_lane_s64(
        (int64_t)((uint64_t)vgetq_lane_s64(a, 1) * (uint64_t)vgetq_lane_s64(b, 1)), v, 1);
}
TNI_INLINE uint64x2_t tni_neon_not64(uint64x2_t m) {
    return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m)));
}
TNI_INLINE float32x4_t tni_neon_bits_f32(uint32x4_t u) { return vreinterpretq_f32_u32(u); }
TNI_INLINE uint32x4_t tni_neon_u32(float32x4_t v) { return vreinterpretq_u32_f32(v); }
TNI_INLINE float64x2_t tni_neon_bits_f64(uint64x2_t u) { return vreinterpretq_f64_u64(u); }
TNI_INLINE uint64x2_t tni_neon_u64(float64x2_t v) { return vreinterpretq_u64_f64(v); }
TNI_INLINE void tni_neon_ld2_f32(const float *p, float32x4_t *a, float32x4_t *b) {
    float32x4x2_t v = vld2q_f32(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f32(float *p, float32x4_t a, float32x4_t b) {
    float32x4x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f32(p, v);
}
TNI_INLINE void tni_neon_ld2_f64(const double *p, float64x2_t *a, float64x2_t *b) {
    float64x2x2_t v = vld2q_f64(p);
    *a = v.val[0];
    *b = v.val[1];
}
TNI_INLINE void tni_neon_st2_f64(double *p, float64x2_t a, float64x2_t b) {
    float64x2x2_t v;
    v.val[0] = a;
    v.val[1] = b;
    vst2q_f64(p, v);
}
TNI_INLINE float32x4_t tni_neon_expo_f32(float32x4_t v) {
    int32x4_t k = vreinterpretq_s32_u32(vshrq_n_u32(tni_neon_u32(v), 23));
    return vcvtq_f32_s32(vsubq_s32(k, vdupq_n_s32(127)));
}
TNI_INLINE float64x2_t tni_neon_expo_f64(float64x2_t v) {
    int64x2_t k = vreinterpretq_s64_u64(vshrq_n_u64(tni_neon_u64(v), 52));
    return vcvtq_f64_s64(vsubq_s64(k, vdupq_n_s64(1023)));
}
TNI_INLINE float32x4_t tni_neon_mant_f32(float32x4_t v) {
    uint32x4_t u = vandq_u32(tni_neon_u32(v), vdupq_n_u32(0x007fffffu));
    return tni_neon_bits_f32(vorrq_u32(u, vdupq_n_u32(0x3f800000u)));
}
TNI_INLINE float64x2_t tni_neon_mant_f64(float64x2_t v) {
    uint64x2_t u = vandq_u64(tni_neon_u64(v), vdupq_n_u64(0x000fffffffffffffu));
    return tni_neon_bits_f64(vorrq_u64(u, vdupq_n_u64(0x3ff0000000000000u)));
}
#endif

#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define V int64x2_t
#define V_LD(p) vld1q_s64((const int64_t *)(const void *)(p))
#define V_ST(p, v) vst1q_s64((int64_t *)(void *)(p), v)
#define V_LDN(p, n) tni_neon_ldn_i64(p, n)
#define V_STN(p, v, n) tni_neon_stn_i64(p, v, n)
#define V_SET(s) vdupq_n_s64((int64_t)(s))
#define V_ZERO() vdupq_n_s64(0)
#define V_ADD(a, b) vaddq_s64(a, b)
#define V_SUB(a, b) vsubq_s64(a, b)
#define V_MUL(a, b) tni_neon_mul_i64(a, b)
#define V_NEG(a) vnegq_s64(a)
#define V_ABS(a) vabsq_s64(a)
#define V_MIN(a, b) tni_neon_min_i64(a, b)
#define V_MAX(a, b) tni_neon_max_i64(a, b)
#define V_LT(a, b) vcltq_s64(a, b)
#define V_LE(a, b) vcleq_s64(a, b)
#define V_GT(a, b) vcgtq_s64(a, b)
#define V_GE(a, b) vcgeq_s64(a, b)
#define V_EQ(a, b) vceqq_s64(a, b)
#define V_SEL(m, a, b) vbslq_s64(m, a, b)
#define V_AND(a, b) vandq_s64(a, b)
#define V_OR(a, b) vorrq_s64(a, b)
#define V_XOR(a, b) veorq_s64(a, b)
#define V_NOT(a) vreinterpretq_s64_s32(vmvnq_s32(vreinterpretq_s32_s64(a)))
#define V_SHL(a, n) vshlq_n_s64(a, n)
#define V_SHR(a, n) vshlq_s64(a, vdupq_n_s64(-(n)))
#define V_SHRL(a, n) vreinterpretq_s64_u64(vshlq_u64(vreinterpretq_u64_s64(a), vdupq_n_s64(-(n))))
#define V_SHLV(a, n) vshlq_s64(a, n)
#define V_SHRV(a, n) vshlq_s64(a, vnegq_s64(n))
#define M uint64x2_t
#define W 2
#define M_AND(a, b) vandq_u64(a, b)
#define M_OR(a, b) vorrq_u64(a, b)
#define M_XOR(a, b) veorq_u64(a, b)
#define M_NOT(a) tni_neon_not64(a)
#define M_ANY(m) ((vgetq_lane_u64(m, 0) | vgetq_lane_u64(m, 1)) != 0)
#define V_MST(p, m) tni_neon_mst64(p, m)
#define M_LD(p) tni_neon_mld64(p)
#define V_NE(a, b) M_NOT(V_EQ(a, b))
#elif TNI_ISA == 4

/* src/simd/wasm128.h - the vocabulary for WebAssembly with 128-bit SIMD (emcc -msimd128) */
#ifndef TNI_SIMD_WASM128_H
#define TNI_SIMD_WASM128_H

TNI_INLINE v128_t tni_wasm_ldn(const void *p, int64_t n, size_t each) {
    v128_t v = wasm_i64x2_splat(0);
    memcpy(&v, p, (size_t)n * each);
    return v;
}
TNI_INLINE void tni_wasm_stn(void *p, v128_t v, int64_t n, size_t each) {
    memcpy(p, &v, (size_t)n * each);
}
TNI_INLINE void tni_wasm_mst32(void *p, v128_t m) {
    v128_t h = wasm_i16x8_narrow_i32x4(m, m);
    v128_t b = wasm_v128_and(wasm_i8x16_narrow_i16x8(h, h), wasm_i8x16_splat(1));
    wasm_v128_store32_lane(p, b, 0);
}
TNI_INLINE void tni_wasm_mst64(void *p, v128_t m) {
    ((uint8_t *)p)[0] = (uint8_t)(wasm_i64x2_extract_lane(m, 0) & 1);
    ((uint8_t *)p)[1] = (uint8_t)(wasm_i64x2_extract_lane(m, 1) & 1);
}
TNI_INLINE v128_t tni_wasm_mld32(const void *p) {
    v128_t v = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p));
    return wasm_i32x4_ne(wasm_u32x4_extend_low_u16x8(v), wasm_i32x4_splat(0));
}
TNI_INLINE v128_t tni_wasm_mld64(const void *p) {
    const uint8_t *q = (const uint8_t *)p;
    return wasm_i64x2_ne(wasm_i64x2_make(q[0], q[1]), wasm_i64x2_splat(0));
}

TNI_INLINE v128_t tni_wasm_low(v128_t a) { return wasm_f64x2_promote_low_f32x4(a); }
TNI_INLINE v128_t tni_wasm_high(v128_t a) {
    return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1));
}
TNI_INLINE v128_t tni_wasm_floats(v128_t low, v128_t high) {
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high),
                              0, 2);
}
TNI_INLINE v128_t tni_wasm_to_odd(v128_t p, v128_t c) {
    v128_t s = wasm_f64x2_add(p, c), t = wasm_f64x2_sub(s, p), zero = wasm_f64x2_splat(0);
    v128_t lost = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, t)), wasm_f64x2_sub(c, t));
    v128_t side = wasm_f64x2_mul(lost, s);
    v128_t beyond = wasm_f64x2_lt(side, zero), before = wasm_f64x2_gt(side, zero);
    v128_t odd = wasm_u64x2_shr(wasm_v128_or(beyond, before), 63);
    return wasm_v128_or(wasm_i64x2_add(s, beyond), odd);
}
static TNI_NOINLINE v128_t tni_wasm_fma_once(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    return tni_wasm_floats(tni_wasm_to_odd(p, tni_wasm_low(c)),
                           tni_wasm_to_odd(q, tni_wasm_high(c)));
}
TNI_INLINE v128_t tni_wasm_fma_f32(v128_t a, v128_t b, v128_t c) {
    v128_t p = wasm_f64x2_mul(tni_wasm_low(a), tni_wasm_low(b));
    v128_t q = wasm_f64x2_mul(tni_wasm_high(a), tni_wasm_high(b));
    v128_t s = wasm_f64x2_add(p, tni_wasm_low(c)), t = wasm_f64x2_add(q, tni_wasm_high(c));
    v128_t sum = tni_wasm_floats(s, t), tail = wasm_i32x4_shuffle(s, t, 0, 2, 4, 6);
    v128_t halfway = wasm_i32x4_eq(wasm_v128_and(tail, wasm_i32x4_splat(0x1fffffff)),
                                   wasm_i32x4_splat(0x10000000));
    v128_t small = wasm_f32x4_le(wasm_f32x4_abs(sum), wasm_f32x4_splat(1.17549435e-38f));
    v128_t denormal = wasm_v128_and(small, wasm_f32x4_ne(sum, wasm_f32x4_splat(0)));
    if (TNI_LIKELY(!wasm_v128_any_true(wasm_v128_or(halfway, denormal)))) return sum;
    return tni_wasm_fma_once(a, b, c);
}
TNI_INLINE v128_t tni_wasm_fma_f64(v128_t a, v128_t b, v128_t c) {
    return wasm_f64x2_make(
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 0), wasm_f64x2_extract_lane(b, 0),
                       wasm_f64x2_extract_lane(c, 0)),
        tni_sc_fma_f64(wasm_f64x2_extract_lane(a, 1), wasm_f64x2_extract_lane(b, 1),
                       wasm_f64x2_extract_lane(c, 1)));
}

TNI_INLINE v128_t tni_wasm_ldexp_f32(v128_t v, v128_t n) {
    v128_t k = wasm_i32x4_trunc_sat_f32x4(n), h = wasm_i32x4_shr(k, 1);
    v128_t one = wasm_i32x4_splat(127), a = wasm_i32x4_shl(wasm_i32x4_add(h, one), 23);
    v128_t b = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(k, h), one), 23);
    return wasm_f32x4_mul(wasm_f32x4_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_ldexp_f64(v128_t v, v128_t n) {
    v128_t k = wasm_i64x2_extend_low_i32x4(wasm_i32x4_trunc_sat_f64x2_zero(n));
    v128_t h = wasm_i64x2_shr(k, 1), one = wasm_i64x2_splat(1023);
    v128_t a = wasm_i64x2_shl(wasm_i64x2_add(h, one), 52);
    v128_t b = wasm_i64x2_shl(wasm_i64x2_add(wasm_i64x2_sub(k, h), one), 52);
    return wasm_f64x2_mul(wasm_f64x2_mul(v, a), b);
}
TNI_INLINE v128_t tni_wasm_expo_f32(v128_t v) {
    v128_t k = wasm_u32x4_shr(v, 23);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_sub(k, wasm_i32x4_splat(127)));
}
TNI_INLINE v128_t tni_wasm_expo_f64(v128_t v) {
    v128_t k = wasm_v128_or(wasm_u64x2_shr(v, 52), wasm_i64x2_splat(0x4330000000000000));
    return wasm_f64x2_sub(k, wasm_f64x2_splat(4503599627371519.0));
}
TNI_INLINE v128_t tni_wasm_mant_f32(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i32x4_splat(0x007fffff));
    return wasm_v128_or(u, wasm_i32x4_splat(0x3f800000));
}
TNI_INLINE v128_t tni_wasm_mant_f64(v128_t v) {
    v128_t u = wasm_v128_and(v, wasm_i64x2_splat(0x000fffffffffffff));
    return wasm_v128_or(u, wasm_i64x2_splat(0x3ff0000000000000));
}
TNI_INLINE void tni_wasm_ld2_f32(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i32x4_shuffle(x, y, 0, 2, 4, 6);
    *b = wasm_i32x4_shuffle(x, y, 1, 3, 5, 7);
}
TNI_INLINE void tni_wasm_st2_f32(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i32x4_shuffle(a, b, 0, 4, 1, 5));
    wasm_v128_store(p + 16, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
}
TNI_INLINE void tni_wasm_ld2_f64(const char *p, v128_t *a, v128_t *b) {
    v128_t x = wasm_v128_load(p), y = wasm_v128_load(p + 16);
    *a = wasm_i64x2_shuffle(x, y, 0, 2);
    *b = wasm_i64x2_shuffle(x, y, 1, 3);
}
TNI_INLINE void tni_wasm_st2_f64(char *p, v128_t a, v128_t b) {
    wasm_v128_store(p, wasm_i64x2_shuffle(a, b, 0, 2));
    wasm_v128_store(p + 16, wasm_i64x2_shuffle(a, b, 1, 3));
}
TNI_INLINE v128_t tni_wasm_min_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_lt(a, b));
}
TNI_INLINE v128_t tni_wasm_max_i64(v128_t a, v128_t b) {
    return wasm_v128_bitselect(a, b, wasm_i64x2_gt(a, b));
}
#define TNI_WASM_SHIFT(name, word, E, N)                              \
    TNI_INLINE v128_t tni_wasm_##name(v128_t a, v128_t n) {           \
        E x[N], by[N];                                                \
        wasm_v128_store(x, a);                                        \
        wasm_v128_store(by, n);                                       \
        for (int i = 0; i < N; i++) x[i] = tni_sc_##word(x[i], by[i]); \
        return wasm_v128_load(x);                                     \
    }
TNI_WASM_SHIFT(shl_i32, shl_i32, int32_t, 4)
TNI_WASM_SHIFT(shr_i32, shr_i32, int32_t, 4)
TNI_WASM_SHIFT(shl_i64, shl_i64, int64_t, 2)
TNI_WASM_SHIFT(shr_i64, shr_i64, int64_t, 2)
#undef TNI_WASM_SHIFT
#endif

#define V v128_t
#define M v128_t
#define V_LD(p) wasm_v128_load(p)
#define V_ST(p, v) wasm_v128_store(p, v)
#define V_LDN(p, n) tni_wasm_ldn(p, n, sizeof(T))
#define V_STN(p, v, n) tni_wasm_stn(p, v, n, sizeof(T))
#define V_ZERO() wasm_i64x2_splat(0)
#define V_SEL(m, a, b) wasm_v128_bitselect(a, b, m)
#define M_AND(a, b) wasm_v128_and(a, b)
#define M_OR(a, b) wasm_v128_or(a, b)
#define M_XOR(a, b) wasm_v128_xor(a, b)
#define M_NOT(a) wasm_v128_not(a)
#define M_ANY(m) wasm_v128_any_true(m)
#define V_AND(a, b) wasm_v128_and(a, b)
#define V_OR(a, b) wasm_v128_or(a, b)
#define V_XOR(a, b) wasm_v128_xor(a, b)
#define V_NOT(a) wasm_v128_not(a)

#define V_FMA(a, b, c) V_ADD(V_MUL(a, b), c)
#define V_FNMA(a, b, c) V_SUB(c, V_MUL(a, b))
#define V_DIV(a, b) TNI_FNT(tni_div)(a, b)
#define V_FLOOR(a) (a)
#define V_CEIL(a) (a)
#define V_TRUNC(a) (a)
#define V_ROUND(a) (a)
#define W 2
#define V_SET(s) wasm_i64x2_splat((int64_t)(s))
#define V_ADD(a, b) wasm_i64x2_add(a, b)
#define V_SUB(a, b) wasm_i64x2_sub(a, b)
#define V_MUL(a, b) wasm_i64x2_mul(a, b)
#define V_NEG(a) wasm_i64x2_neg(a)
#define V_ABS(a) wasm_i64x2_abs(a)
#define V_MIN(a, b) tni_wasm_min_i64(a, b)
#define V_MAX(a, b) tni_wasm_max_i64(a, b)
#define V_LT(a, b) wasm_i64x2_lt(a, b)
#define V_LE(a, b) wasm_i64x2_le(a, b)
#define V_GT(a, b) wasm_i64x2_gt(a, b)
#define V_GE(a, b) wasm_i64x2_ge(a, b)
#define V_EQ(a, b) wasm_i64x2_eq(a, b)
#define V_NE(a, b) wasm_i64x2_ne(a, b)
#define V_SHL(a, n) wasm_i64x2_shl(a, n)
#define V_SHR(a, n) wasm_i64x2_shr(a, n)
#define V_SHRL(a, n) wasm_u64x2_shr(a, n)
#define V_SHLV(a, n) tni_wasm_shl_i64(a, n)
#define V_SHRV(a, n) tni_wasm_shr_i64(a, n)
#define V_MST(p, m) tni_wasm_mst64(p, m)
#define M_LD(p) tni_wasm_mld64(p)
#endif

#define V_ONE V_SET(1)
#define V_PARAM(p, i) V_SET(((const T *)(p))[i])
#define V_ISNAN(a) TNI_FNT(tni_isnan)(a)
#define V_ISINF(a) TNI_FNT(tni_isinf)(a)
#define V_ISFINITE(a) TNI_FNT(tni_isfinite)(a)
#define V_SIGN(a) TNI_FNT(tni_sign)(a)
#define V_SIGNBIT(a) TNI_FNT(tni_signbit)(a)
#define V_SQUARE(a) TNI_FNT(tni_square)(a)
#define V_CONJ(a) (a)
#define V_ST_REAL(p, v) V_ST(p, v)
#define V_WITHIN(a, r) V_LT(V_ABS(a), V_SET(r))
#define V_MAXIMUM(a, b) TNI_FNT(tni_maximum)(a, b)
#define V_MINIMUM(a, b) TNI_FNT(tni_minimum)(a, b)
#define V_FLOORDIV(a, b) TNI_FNT(tni_floordiv)(a, b)
#define V_TRUNCDIV(a, b) TNI_FNT(tni_truncdiv)(a, b)
#define V_REMAINDER(a, b) TNI_FNT(tni_remainder)(a, b)
#define V_FMOD(a, b) TNI_FNT(tni_fmod)(a, b)
#define V_POW(a, b) TNI_FNT(tni_pow)(a, b)
#define V_GCD(a, b) TNI_FNT(tni_gcd)(a, b)
#define V_LCM(a, b) TNI_FNT(tni_lcm)(a, b)
#define V_SHIFT_LEFT(a, n) TNI_FNT(tni_shift_left)(a, n)
#define V_SHIFT_RIGHT(a, n) TNI_FNT(tni_shift_right)(a, n)

/* src/simd/math_int.h - division and powers of one integer type */

#define U uint64_t
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_MAX(a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_MIN(a, b); }
TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_EQ(x, x); }
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(x, V_ZERO()); }
TNI_INLINE V TNI_FNT(tni_shift_left)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    M inside = M_AND(V_GE(n, V_ZERO()), V_LE(n, most));
    return V_SEL(inside, V_SHLV(x, V_AND(n, most)), V_ZERO());
}
TNI_INLINE V TNI_FNT(tni_shift_right)(V x, V n) {
    V most = V_SET(8 * sizeof(T) - 1);
    return V_SHRV(x, V_SEL(M_AND(V_GE(n, V_ZERO()), V_LE(n, most)), n, most));
}
TNI_INLINE V TNI_FNT(tni_sign)(V x) {
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}
TNI_INLINE T TNI_FNT(tni_div_one)(T a, T b) {
    return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;
}
TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
TNI_INLINE T TNI_FNT(tni_floordiv_one)(T a, T b) {
    if (b == 0 || b == -1) return TNI_FNT(tni_div_one)(a, b);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
TNI_INLINE T TNI_FNT(tni_remainder_one)(T a, T b) {
    T rest = TNI_FNT(tni_fmod_one)(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
TNI_INLINE T TNI_FNT(tni_pow_one)(T a, T b) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    U power = 1, base = (U)a;
    for (U n = (U)b; n; n >>= 1, base *= base)
        if (n & 1) power *= base;
    return (T)power;
}
TNI_INLINE T TNI_FNT(tni_gcd_one)(T a, T b) {
    U x = a < 0 ? 0 - (U)a : (U)a, y = b < 0 ? 0 - (U)b : (U)b;
    while (y != 0) {
        const U rest = x % y;
        x = y;
        y = rest;
    }
    return (T)x;
}
TNI_INLINE T TNI_FNT(tni_lcm_one)(T a, T b) {
    const T both = TNI_FNT(tni_gcd_one)(a, b);
    const T product = both == 0 ? 0 : (T)((U)TNI_FNT(tni_div_one)(a, both) * (U)b);
    return product < 0 ? (T)(0 - (U)product) : product;
}

/* src/simd/math_lanes.h - a vector function `to` made of name_one(T, T), lane by lane */
#define TNI_LANES(name, to)                                                 \
    TNI_HELPER V to(V a, V b) {                                             \
        T x[W], y[W];                                                       \
        V_ST(x, a);                                                         \
        V_ST(y, b);                                                         \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]); \
        return V_LD(x);                                                     \
    }
TNI_LANES(tni_gcd, TNI_FNT(tni_gcd))
TNI_LANES(tni_lcm, TNI_FNT(tni_lcm))
TNI_LANES(tni_div, TNI_FNT(tni_div))
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod))
TNI_LANES(tni_floordiv, TNI_FNT(tni_floordiv))
TNI_LANES(tni_remainder, TNI_FNT(tni_remainder))
TNI_LANES(tni_pow, TNI_FNT(tni_pow))
#undef TNI_LANES
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return TNI_FNT(tni_div)(a, b); }
TNI_INLINE V TNI_FN(tni_bool_sel)(V m, V a, V b) { return V_XOR(b, V_AND(m, V_XOR(a, b))); }
#undef U
#define TNI_KIND_I 1
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

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_TO_REAL(abs, 1, 0)
TNI_LOOP(add, 2, 1)
TNI_LOOP(addcmul, 3, 1)
TNI_LOOP(bitwise_and, 2, 0)
TNI_LOOP(bitwise_left_shift, 2, 0)
TNI_LOOP(bitwise_not, 1, 0)
TNI_LOOP(bitwise_or, 2, 0)
TNI_LOOP(bitwise_right_shift, 2, 0)
TNI_LOOP(bitwise_xor, 2, 0)
TNI_LOOP(ceil, 1, 0)
TNI_LOOP(clamp_max, 2, 0)
TNI_LOOP(clamp_min, 2, 0)
TNI_LOOP(div_trunc, 2, 0)
TNI_PREDICATE(eq, 2, 0)
TNI_LOOP(floor, 1, 0)
TNI_LOOP(floor_divide, 2, 0)
TNI_LOOP(fmax, 2, 0)
TNI_LOOP(fmin, 2, 0)
TNI_LOOP(fmod, 2, 0)
TNI_LOOP(gcd, 2, 0)
TNI_PREDICATE(ge, 2, 0)
TNI_PREDICATE(gt, 2, 0)
TNI_LOOP(hardtanh, 1, 2)
TNI_LOOP(heaviside, 2, 0)
TNI_LOOP(lcm, 2, 0)
TNI_PREDICATE(le, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_PREDICATE(lt, 2, 0)
TNI_LOOP(maximum, 2, 0)
TNI_LOOP(minimum, 2, 0)
TNI_LOOP(mul, 2, 0)
TNI_PREDICATE(ne, 2, 0)
TNI_LOOP(neg, 1, 0)
TNI_LOOP(pow, 2, 0)
TNI_LOOP(relu, 1, 0)
TNI_LOOP(remainder, 2, 0)
TNI_LOOP(round, 1, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sign, 1, 0)
TNI_PREDICATE(signbit, 1, 0)
TNI_LOOP(square, 1, 0)
TNI_LOOP(sub, 2, 1)
TNI_LOOP(threshold, 1, 2)
TNI_LOOP(threshold_backward, 2, 1)
TNI_LOOP(trunc, 1, 0)
TNI_SELECT(where, 3, 0)

#undef TNI_LOOP_SUFFIX
#undef TNI_KIND_F
#undef TNI_KIND_I
#undef TNC_REAL

/* src/simd/bool.h - the words for bool, in place of those of i64: bytes 0 and 1, as many as a vector of i64 holds */
#define TNI_LOOP_SUFFIX truth
#undef M
#undef V_SET
#undef V_PARAM
#undef V_ONE
#undef V_ADD
#undef V_MUL
#undef V_FMA
#undef V_NOT
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_SIGN
#undef V_ABS
#undef V_SQUARE
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_ISNAN
#undef V_ISINF
#undef V_ISFINITE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef V_MST
#undef M_LD
#if TNI_ISA == 0
#define TNI_BYTES(u) ((int64_t)(u))
#elif TNI_ISA == 1
#define TNI_BYTES(u) _mm256_set1_epi64x((long long)(u))
#elif TNI_ISA == 2
#define TNI_BYTES(u) _mm512_set1_epi64((long long)(u))
#elif TNI_ISA == 3
#define TNI_BYTES(u) vdupq_n_s64((int64_t)(u))
#else
#define TNI_BYTES(u) wasm_i64x2_splat((int64_t)(u))
#endif
#define M V
#define V_SET(s) TNI_BYTES((s) ? 0x0101010101010101 : 0)
#define V_PARAM(p, i) V_SET(((const uint8_t *)(p))[i])
#define V_ONE TNI_BYTES(0x0101010101010101)
#define V_ADD(a, b) V_OR(a, b)
#define V_MUL(a, b) V_AND(a, b)
#define V_FMA(a, b, c) V_OR(V_AND(a, b), c)
#define V_NOT(a) V_XOR(a, V_ONE)
#define V_MAXIMUM(a, b) V_OR(a, b)
#define V_MINIMUM(a, b) V_AND(a, b)
#define V_SIGN(a) (a)
#define V_ABS(a) (a)
#define V_SQUARE(a) (a)
#define V_LT(a, b) V_AND(V_NOT(a), b)
#define V_LE(a, b) V_OR(V_NOT(a), b)
#define V_GT(a, b) V_AND(a, V_NOT(b))
#define V_GE(a, b) V_OR(a, V_NOT(b))
#define V_EQ(a, b) V_NOT(V_XOR(a, b))
#define V_NE(a, b) V_XOR(a, b)
#define V_ISNAN(a) V_AND(a, V_ZERO())
#define V_ISINF(a) V_AND(a, V_ZERO())
#define V_ISFINITE(a) V_OR(a, V_ONE)
#define V_SEL(m, a, b) TNI_FN(tni_bool_sel)(m, a, b)
#define M_AND(a, b) V_AND(a, b)
#define M_OR(a, b) V_OR(a, b)
#define M_XOR(a, b) V_XOR(a, b)
#define M_NOT(a) V_NOT(a)
#define V_MST(p, m) V_ST(p, m)
#define M_LD(p) V_LD(p)
#define TNI_KIND_B 1
#define TNC_REAL V

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */

#ifdef TNI_ROW_LOOP
TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)
#endif

TNI_LOOP(add, 2, 1)
TNI_LOOP(bitwise_and, 2, 0)
TNI_LOOP(bitwise_not, 1, 0)
TNI_LOOP(bitwise_or, 2, 0)
TNI_LOOP(bitwise_xor, 2, 0)
TNI_LOOP(clamp_max, 2, 0)
TNI_LOOP(clamp_min, 2, 0)
TNI_LOOP(fmax, 2, 0)
TNI_LOOP(fmin, 2, 0)
TNI_LOOP(heaviside, 2, 0)
TNI_PREDICATE(logical_and, 2, 0)
TNI_PREDICATE(logical_not, 1, 0)
TNI_PREDICATE(logical_or, 2, 0)
TNI_PREDICATE(logical_xor, 2, 0)
TNI_LOOP(maximum, 2, 0)
TNI_LOOP(minimum, 2, 0)
TNI_LOOP(mul, 2, 0)
TNI_LOOP(sgn, 1, 0)
TNI_LOOP(sign, 1, 0)
TNI_SELECT(where, 3, 0)

#undef TNI_KIND_B
#undef TNC_REAL

/* src/simd/end.h - takes the words of vocabulary.h back */
#undef TNI_TYPE_F32
#undef TNI_TYPE_F64
#undef TNI_TYPE_I32
#undef TNI_TYPE_I64
#undef TNI_SUFFIX
#undef TNI_FLOATING
#undef TNI_FNT
#undef TNI_S
#undef T
#undef V
#undef M
#undef W
#undef V_LD
#undef V_ST
#undef V_LDN
#undef V_STN
#undef V_SET
#undef V_ZERO
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_FMA
#undef V_FNMA
#undef V_NEG
#undef V_ABS
#undef V_SQRT
#undef V_MIN
#undef V_MAX
#undef V_FLOOR
#undef V_CEIL
#undef V_TRUNC
#undef V_ROUND
#undef V_LT
#undef V_LE
#undef V_GT
#undef V_GE
#undef V_EQ
#undef V_NE
#undef V_SEL
#undef M_AND
#undef M_OR
#undef M_XOR
#undef M_NOT
#undef M_ANY
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_NOT
#undef V_SHL
#undef V_SHR
#undef V_SHRL
#undef V_SHLV
#undef V_SHRV
#undef V_LDEXP
#undef V_MST
#undef M_LD
#undef V_ONE
#undef V_ISNAN
#undef V_SIGN
#undef V_SIGNBIT
#undef V_SQUARE
#undef V_FLOORDIV
#undef V_REMAINDER
#undef V_FMOD
#undef V_POW
#undef V_COPYSIGN
#undef V_HYPOT
#undef V_LOGADDEXP
#undef V_LOGADDEXP2
#undef V_NEXTAFTER
#undef V_EXP
#undef V_EXPM1
#undef V_LOG
#undef V_LOG1P
#undef V_LOG2
#undef V_LOG10
#undef V_SIN
#undef V_COS
#undef V_TAN
#undef V_TANH
#undef V_SIGMOID
#undef V_ERF
#undef V_LGAMMA
#undef V_DIGAMMA
#undef V_ATAN
#undef V_ATAN2
#undef V_ASIN
#undef V_ACOS
#undef V_SINH
#undef V_COSH
#undef TNI_M
#undef V_EXPO
#undef V_MANT
#undef V_LD2
#undef V_ST2
#undef V_PARAM
#undef V_ISINF
#undef V_ISFINITE
#undef V_CONJ
#undef V_ST_REAL
#undef V_WITHIN
#undef V_MAXIMUM
#undef V_MINIMUM
#undef V_TRUNCDIV
#undef V_GCD
#undef V_LCM
#undef V_ANGLE
#undef V_SHIFT_LEFT
#undef V_SHIFT_RIGHT
#undef TNI_TYPE_BOOL
#undef TNI_TYPE_C64
#undef TNI_TYPE_C128
#undef TNI_LOOP_SUFFIX
#undef TNI_BYTES
#undef V_ERFC
#undef V_ERFCX
#undef V_ERFINV
#undef V_NDTR
#undef V_LOG_NDTR
#undef V_NDTRI
#undef V_ZETA
#undef V_I0
#undef V_I0E
#undef V_I1
#undef V_I1E
#undef V_K0
#undef V_K1
#undef V_K0E
#undef V_K1E
#undef V_J0
#undef V_J1
#undef V_Y0
#undef V_Y1
#undef V_SPHERICAL_J0
#undef V_AIRY_AI
#undef V_IGAMMA
#undef V_IGAMMAC
#undef V_CHEBYSHEV_T
#undef V_CHEBYSHEV_U
#undef V_CHEBYSHEV_V
#undef V_CHEBYSHEV_W
#undef V_HERMITE_H
#undef V_HERMITE_HE
#undef V_LAGUERRE_L
#undef V_LEGENDRE_P
#undef TNC_TYPE

typedef tni_complex_f32_cuda tnc_c64;
typedef tni_complex_f64_cuda tnc_c128;

#undef TNI_LOOP
#undef TNI_PREDICATE
#undef TNI_TO_REAL
#undef TNI_SELECT
#undef TNI_HELPER_AS
#undef TNI_ISA
#pragma pop_macro("TNI_INLINE")

template <int type>
struct tnc_of;
template <>
struct tnc_of<TNC_F32> {
    typedef float value;
    enum { dtype = TN_F32, bytes = 4 };
};
template <>
struct tnc_of<TNC_F64> {
    typedef double value;
    enum { dtype = TN_F64, bytes = 8 };
};
template <>
struct tnc_of<TNC_I32> {
    typedef int32_t value;
    enum { dtype = TN_I32, bytes = 4 };
};
template <>
struct tnc_of<TNC_I64> {
    typedef int64_t value;
    enum { dtype = TN_I64, bytes = 8 };
};
template <>
struct tnc_of<TNC_C64> {
    typedef tnc_c64 value;
    enum { dtype = TN_C64, bytes = 8 };
};
template <>
struct tnc_of<TNC_C128> {
    typedef tnc_c128 value;
    enum { dtype = TN_C128, bytes = 16 };
};
template <>
struct tnc_of<TNC_BOOL> {
    typedef int64_t value;
    enum { dtype = TN_BOOL, bytes = 1 };
};

template <class T>
TNC_FN T tnc_get(const char *at) {
    return *(const T *)at;
}
template <class T>
TNC_FN void tnc_put(char *at, T v) {
    *(T *)at = v;
}

TNC_FN float tnc_from_f16(uint16_t h) {
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13, s = (uint32_t)(h & 0x8000u) << 16;
    float f;
    memcpy(&f, &u, 4);
    f *= 5192296858534827628530496329220096.0f;
    memcpy(&u, &f, 4);
    u |= ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u) | s;
    memcpy(&f, &u, 4);
    return f;
}
TNC_FN uint16_t tnc_to_f16(float f) {
    uint32_t u, s;
    memcpy(&u, &f, 4);
    s = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return (uint16_t)(s | 0x7e00u);
    if (u >= 0x47800000u) return (uint16_t)(s | 0x7c00u);
    if (u < 0x38800000u) {
        float a;
        memcpy(&a, &u, 4);
        a += 0.5f;
        memcpy(&u, &a, 4);
        return (uint16_t)(s | (u - 0x3f000000u));
    }
    return (uint16_t)(s | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1)) >> 13));
}
TNC_FN float tnc_from_bf16(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
TNC_FN uint16_t tnc_to_bf16(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)0x7fc0;
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
TNC_FN int64_t tnc_truncate(double v) {
    if (v >= -9223372036854775808.0 && v < 9223372036854775808.0) return (int64_t)v;
    return v != v ? 0 : INT64_MIN;
}

template <class To>
struct tnc_as {
    template <class From>
    TNC_FN To of(From v) {
        return (To)v;
    }
    TNC_FN To of(float v) { return (To)tnc_truncate((double)v); }
    TNC_FN To of(double v) { return (To)tnc_truncate(v); }
};
template <>
struct tnc_as<float> {
    template <class From>
    TNC_FN float of(From v) {
        return (float)v;
    }
};
template <>
struct tnc_as<double> {
    template <class From>
    TNC_FN double of(From v) {
        return (double)v;
    }
};

template <class V>
TNC_FN V tnc_through(V v, int dtype) {
    switch (dtype) {
    case TN_BOOL: return (V)(v != 0);
    case TN_U8: return (V)(uint8_t)tnc_as<int64_t>::of(v);
    case TN_I8: return (V)(int8_t)tnc_as<int64_t>::of(v);
    case TN_I16: return (V)(int16_t)tnc_as<int64_t>::of(v);
    case TN_I32: return (V)(int32_t)tnc_as<int64_t>::of(v);
    case TN_F16: return (V)tnc_from_f16(tnc_to_f16((float)v));
    case TN_BF16: return (V)tnc_from_bf16(tnc_to_bf16((float)v));
    case TN_F32: return (V)(float)v;
    default: return v;
    }
}

template <class V>
TNC_FN V tnc_load_real(const char *at, int dtype) {
    switch (dtype) {
    case TN_BOOL: return tnc_as<V>::of((int32_t)(tnc_get<uint8_t>(at) != 0));
    case TN_U8: return tnc_as<V>::of(tnc_get<uint8_t>(at));
    case TN_I8: return tnc_as<V>::of(tnc_get<int8_t>(at));
    case TN_I16: return tnc_as<V>::of(tnc_get<int16_t>(at));
    case TN_I32: return tnc_as<V>::of(tnc_get<int32_t>(at));
    case TN_I64: return tnc_as<V>::of(tnc_get<int64_t>(at));
    case TN_F16: return tnc_as<V>::of(tnc_from_f16(tnc_get<uint16_t>(at)));
    case TN_BF16: return tnc_as<V>::of(tnc_from_bf16(tnc_get<uint16_t>(at)));
    case TN_F32:
    case TN_C64: return tnc_as<V>::of(tnc_get<float>(at));
    default: return tnc_as<V>::of(tnc_get<double>(at));
    }
}
template <class V>
TNC_FN void tnc_store_real(char *at, int dtype, V v) {
    switch (dtype) {
    case TN_BOOL: tnc_put<uint8_t>(at, (uint8_t)(v != 0)); break;
    case TN_U8: tnc_put<uint8_t>(at, (uint8_t)tnc_as<int64_t>::of(v)); break;
    case TN_I8: tnc_put<int8_t>(at, (int8_t)tnc_as<int64_t>::of(v)); break;
    case TN_I16: tnc_put<int16_t>(at, (int16_t)tnc_as<int64_t>::of(v)); break;
    case TN_I32: tnc_put<int32_t>(at, (int32_t)tnc_as<int64_t>::of(v)); break;
    case TN_I64: tnc_put<int64_t>(at, tnc_as<int64_t>::of(v)); break;
    case TN_F16: tnc_put<uint16_t>(at, tnc_to_f16((float)v)); break;
    case TN_BF16: tnc_put<uint16_t>(at, tnc_to_bf16((float)v)); break;
    case TN_F32: tnc_put<float>(at, (float)v); break;
    case TN_F64: tnc_put<double>(at, (double)v); break;
    case TN_C64: tnc_put<float>(at, (float)v), tnc_put<float>(at + 4, 0); break;
    default: tnc_put<double>(at, (double)v), tnc_put<double>(at + 8, 0);
    }
}

template <int type>
struct tnc_move {
    typedef typename tnc_of<type>::value V;
    TNC_FN V load(const char *at, int dtype, int common) {
        if (dtype == tnc_of<type>::dtype && common == dtype) return tnc_get<V>(at);
        V v = tnc_load_real<V>(at, dtype);
        return common == dtype ? v : tnc_through(v, common);
    }
    TNC_FN void store(char *at, int dtype, int common, V v) {
        if (dtype == tnc_of<type>::dtype && common == dtype) return tnc_put<V>(at, v);
        tnc_store_real(at, dtype, common == dtype ? v : tnc_through(v, common));
    }
};
template <>
struct tnc_move<TNC_BOOL> {
    TNC_FN int64_t load(const char *at, int dtype, int) {
        return dtype == TN_BOOL ? (int64_t)(tnc_get<uint8_t>(at) != 0)
                                : tnc_load_real<int64_t>(at, dtype) != 0;
    }
    TNC_FN void store(char *at, int dtype, int, int64_t v) { tnc_store_real(at, dtype, v & 1); }
};
template <int type, class R>
struct tnc_move_complex {
    typedef typename tnc_of<type>::value V;
    TNC_FN V load(const char *at, int dtype, int) {
        V z;
        if (dtype == TN_C64)
            z.re = (R)tnc_get<float>(at), z.im = (R)tnc_get<float>(at + 4);
        else if (dtype == TN_C128)
            z.re = (R)tnc_get<double>(at), z.im = (R)tnc_get<double>(at + 8);
        else
            z.re = tnc_load_real<R>(at, dtype), z.im = 0;
        return z;
    }
    TNC_FN void store(char *at, int dtype, int common, V v) {
        if (common == TN_C64) v.re = (R)(float)v.re, v.im = (R)(float)v.im;
        if (dtype == TN_C64)
            tnc_put<float>(at, (float)v.re), tnc_put<float>(at + 4, (float)v.im);
        else if (dtype == TN_C128)
            tnc_put<double>(at, (double)v.re), tnc_put<double>(at + 8, (double)v.im);
        else if (dtype == TN_BOOL)
            tnc_put<uint8_t>(at, (uint8_t)(v.re != 0 || v.im != 0));
        else
            tnc_store_real(at, dtype, v.re);
    }
};
template <>
struct tnc_move<TNC_C64> : tnc_move_complex<TNC_C64, float> {};
template <>
struct tnc_move<TNC_C128> : tnc_move_complex<TNC_C128, double> {};

template <class E, int n>
struct alignas(sizeof(E) * n) tnc_pack {
    E e[n];
};
#ifdef TNC_EMULATED
template <class P>
static const P *tnc_aligned(const char *at) {
    if ((uintptr_t)at % alignof(P))
        emu_stop("a vector load at an odd address", (long long)((uintptr_t)at % alignof(P)));
    return (const P *)at;
}
#else
template <class P>
TNC_FN const P *tnc_aligned(const char *at) {
    return (const P *)at;
}
#endif
struct alignas(16) tnc_pair {
    uint64_t half[2];
};

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_move_kernel(tnc_walk<2> w) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        *(E *)(w.at[0] + at[0]) = *(const E *)(w.at[1] + at[1]);
    }
}

template <int type>
__global__ void __launch_bounds__(TNC_THREADS) tnc_convert_kernel(tnc_walk<2> w, int to, int from) {
    typedef tnc_move<type> move;
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        move::store(w.at[0] + at[0], to, to, move::load(w.at[1] + at[1], from, from));
    }
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_fill_kernel(tnc_walk<1> w, tnc_pair unit) {
    E e;
    memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[1];
        tnc_walk_to(w, (uint32_t)i, at);
        *(E *)(w.at[0] + at[0]) = e;
    }
}

static void copy_move(cudaStream_t s, const tnc_walk<2> &w, int bytes) {
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
    switch (bytes) {
    case 1: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint8_t>), blocks, TNC_THREADS, s, w); break;
    case 2: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint16_t>), blocks, TNC_THREADS, s, w); break;
    case 4: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint32_t>), blocks, TNC_THREADS, s, w); break;
    case 8: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint64_t>), blocks, TNC_THREADS, s, w); break;
    default: TNC_LAUNCH_PLAIN((tnc_move_kernel<tnc_pair>), blocks, TNC_THREADS, s, w);
    }
}

TNC_PRIV void tnc_move_by(cudaStream_t s, const tn_walk_plan &p, int bytes) {
    tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) { copy_move(s, w, bytes); });
}

static int copy_way(int to, int from) {
    const bool complex = from == TN_C64 || from == TN_C128;
    switch (to) {
    case TN_BOOL:
        if (complex) return TNC_C128;
        return from == TN_F16 || from == TN_BF16 || from == TN_F32 || from == TN_F64 ? (int)TNC_F64
                                                                                     : (int)TNC_I64;
    case TN_U8:
    case TN_I8:
    case TN_I16:
    case TN_I32:
    case TN_I64: return complex ? TNC_C128 : TNC_I64;
    case TN_F64: return TNC_F64;
    case TN_C64: return TNC_C64;
    case TN_C128: return TNC_C128;
    default: return TNC_F32;
    }
}

static void copy_convert(cudaStream_t s, const tnc_walk<2> &w, int to, int from) {
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define COPY_BY(type)                                                                      \
    case type:                                                                             \
        TNC_LAUNCH_PLAIN((tnc_convert_kernel<type>), blocks, TNC_THREADS, s, w, to, from); \
        break;
    switch (copy_way(to, from)) {
        COPY_BY(TNC_F32)
        COPY_BY(TNC_F64)
        COPY_BY(TNC_I64)
        COPY_BY(TNC_C64)
        COPY_BY(TNC_C128)
    }
#undef COPY_BY
}

TNC_PRIV void tnc_convert_one(cudaStream_t s, char *to, int to_dtype, const char *from,
                              int from_dtype) {
    tnc_walk<2> w;
    memset(&w, 0, sizeof w);
    w.at[0] = to;
    w.at[1] = (char *)(uintptr_t)from;
    w.n = w.ndim = 1;
    w.size[0] = 1;
    copy_convert(s, w, to_dtype, from_dtype);
}

TNC_PRIV void tnc_elements(int32_t device, tn_tensor *dst, const tn_tensor *src) {
    tn_tensor *both[2] = {dst, (tn_tensor *)(uintptr_t)src};
    const int to = (int)tn_dtype_of(dst), from = (int)tn_dtype_of(src);
    cudaStream_t s = tnc_stream_of(device);
    tn_walk_plan p;
    tn_walk_plan_of(&p, both, 2);
    tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) {
        if (to == from)
            copy_move(s, w, tnc_dtype_bytes(to));
        else
            copy_convert(s, w, to, from);
    });
}

TNC_PRIV void tnc_fill(int32_t device, tn_tensor *dst, const void *unit) {
    const int bytes = tnc_dtype_bytes((int)tn_dtype_of(dst));
    cudaStream_t s = tnc_stream_of(device);
    tn_walk_plan p;
    tnc_pair e = {{0, 0}};
    memcpy(&e, unit, (size_t)bytes);
    tn_walk_plan_of(&p, &dst, 1);
    tnc_walk_pieces<1>(p, [=](const tnc_walk<1> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        switch (bytes) {
        case 1: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint8_t>), blocks, TNC_THREADS, s, w, e); break;
        case 2: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint16_t>), blocks, TNC_THREADS, s, w, e); break;
        case 4: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint32_t>), blocks, TNC_THREADS, s, w, e); break;
        case 8: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint64_t>), blocks, TNC_THREADS, s, w, e); break;
        default: TNC_LAUNCH_PLAIN((tnc_fill_kernel<tnc_pair>), blocks, TNC_THREADS, s, w, e);
        }
    });
}

/* src/cuda/expressions.cu - the rows that are expressions: three kernels for each row and type that it is computed in, one table */

/* src/cuda/families.cuh - the list of the files with kernels */

#define TNC_FAMILIES(X) \
    X(expressions)      \
    X(reductions)       \
    X(statistics)       \
    X(closeness)        \
    X(rowwise)          \
    X(norms)            \
    X(losses)           \
    X(scans)            \
    X(index)            \
    X(scatter)          \
    X(sort)             \
    X(moves)            \
    X(create)           \
    X(optimize)         \
    X(random)           \
    X(products)         \
    X(factors)          \
    X(conv)             \
    X(pool)             \
    X(batch_norm)       \
    X(nccl)

#define TNC_FAMILY(name, table)                                   \
    TNC_PRIV const tn_device_row *tnc_##name##_rows(int *count) { \
        *count = (int)(sizeof(table) / sizeof *(table));          \
        return table;                                             \
    }
#define TNC_FAMILY_DECLARE(name) TNC_PRIV const tn_device_row *tnc_##name##_rows(int *count);
TNC_FAMILIES(TNC_FAMILY_DECLARE)
#undef TNC_FAMILY_DECLARE

enum { EXPRESSION_IN = 3 };

struct tnc_expression {
    tnc_walk<1 + EXPRESSION_IN> walk;
    uint8_t dtype[1 + EXPRESSION_IN], common, made, rounded;
    double one[EXPRESSION_IN][2];
    double numbers[6];
};

template <class Op>
TNC_FN typename Op::value tnc_number(const double *at, int i = 0) {
    typedef tnc_of<Op::type> of;
    return tnc_move<Op::type>::load((const char *)at + i * of::bytes, of::dtype, of::dtype);
}

template <class Op, int select>
struct tnc_apply {
    template <class V>
    TNC_FN typename Op::result of(V x, V y, V z, const V *p, bool) {
        return Op::call(x, y, z, p);
    }
};
template <class Op>
struct tnc_apply<Op, 1> {
    template <class V>
    TNC_FN typename Op::result of(V, V y, V z, const V *p, bool mask) {
        return Op::call(mask, y, z, p);
    }
};

template <int half>
struct tnc_half;
template <>
struct tnc_half<1> {
    TNC_FN float get(uint16_t h) { return tnc_from_f16(h); }
    TNC_FN uint16_t put(float v) { return tnc_to_f16(v); }
};
template <>
struct tnc_half<2> {
    TNC_FN float get(uint16_t h) { return tnc_from_bf16(h); }
    TNC_FN uint16_t put(float v) { return tnc_to_bf16(v); }
};
template <int type, int half>
struct tnc_cell {
    typedef uint16_t E;
    TNC_FN float get(E e) { return tnc_half<half>::get(e); }
    template <class R>
    TNC_FN E put(R r) {
        return tnc_half<half>::put((float)r);
    }
};
template <int type>
struct tnc_cell<type, 0> {
    typedef typename tnc_of<type>::value E;
    TNC_FN typename tnc_of<type>::value get(E e) { return (typename tnc_of<type>::value)e; }
    template <class R>
    TNC_FN R put(R r) {
        return r;
    }
};
template <>
struct tnc_cell<TNC_BOOL, 0> {
    typedef uint8_t E;
    TNC_FN int64_t get(E e) { return e != 0; }
    TNC_FN uint8_t put(int64_t r) { return (uint8_t)(r & 1); }
    TNC_FN uint8_t put(uint8_t r) { return (uint8_t)(r & 1); }
};
template <class R, int type, int half>
struct tnc_result {
    typedef R E;
};
template <>
struct tnc_result<int64_t, TNC_BOOL, 0> {
    typedef uint8_t E;
};
template <>
struct tnc_result<float, TNC_F32, 1> {
    typedef uint16_t E;
};
template <>
struct tnc_result<float, TNC_F32, 2> {
    typedef uint16_t E;
};
template <class Out>
struct tnc_written {
    template <class Cell, class R>
    TNC_FN Out of(R r) {
        return (Out)Cell::put(r);
    }
};
template <>
struct tnc_written<uint8_t> {
    template <class Cell, class R>
    TNC_FN uint8_t of(R r) {
        return (uint8_t)r & 1;
    }
};
template <>
struct tnc_written<tnc_c64> {
    template <class Cell, class R>
    TNC_FN tnc_c64 of(R r) {
        return r;
    }
};
template <>
struct tnc_written<tnc_c128> {
    template <class Cell, class R>
    TNC_FN tnc_c128 of(R r) {
        return r;
    }
};

template <class Op, int half>
struct tnc_flat {
    typedef typename Op::value V;
    typedef tnc_cell<Op::type, half> cell;
    typedef typename cell::E E;
    typedef typename tnc_result<typename Op::result, Op::type, half>::E Out;
    enum { N = sizeof(E) >= 16 ? 1 : 16 / sizeof(E) };
    V p[3], one[EXPRESSION_IN];
    bool mask_one;

    __device__ __forceinline__ explicit tnc_flat(const tnc_expression &a) {
        for (int i = 0; i < Op::numbers; i++) p[i] = tnc_number<Op>(a.numbers, i);
        for (int k = 0; k < Op::tensors; k++) one[k] = tnc_number<Op>(a.one[k]);
        mask_one = Op::select && *(const uint8_t *)a.one[0] != 0;
    }
    template <class X, class M>
    __device__ __forceinline__ Out element(const X &x, const X &y, const X &z, const M &m, int j,
                                           const char *const *in) const {
        const V u = !Op::select && in[1] ? cell::get(x.e[j]) : one[0],
                v = Op::tensors > 1 && in[2] ? cell::get(y.e[j]) : one[Op::tensors > 1 ? 1 : 0],
                w = Op::tensors > 2 && in[3] ? cell::get(z.e[j]) : one[Op::tensors > 2 ? 2 : 0];
        const bool b = Op::select && in[1] ? m.e[j] != 0 : mask_one;
        return tnc_written<Out>::template of<cell>(tnc_apply<Op, Op::select>::of(u, v, w, p, b));
    }
    template <int n>
    __device__ __forceinline__ void pack(const tnc_expression &a, int64_t i) const {
        tnc_pack<E, n> x = {}, y = {}, z = {};
        tnc_pack<uint8_t, n> m = {};
        tnc_pack<Out, n> r;
        const char *const *in = a.walk.at;
        if (Op::select && in[1])
            m = tnc_aligned<tnc_pack<uint8_t, n>>(in[1])[i];
        else if (in[1])
            x = tnc_aligned<tnc_pack<E, n>>(in[1])[i];
        if (Op::tensors > 1 && in[2]) y = tnc_aligned<tnc_pack<E, n>>(in[2])[i];
        if (Op::tensors > 2 && in[3]) z = tnc_aligned<tnc_pack<E, n>>(in[3])[i];
        for (int j = 0; j < n; j++) r.e[j] = element(x, y, z, m, j, in);
        ((tnc_pack<Out, n> *)(uintptr_t)tnc_aligned<tnc_pack<Out, n>>(in[0]))[i] = r;
    }
};

template <class Op, int half>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_flat(tnc_expression a) {
    const tnc_flat<Op, half> flat(a);
    enum { N = tnc_flat<Op, half>::N };
    const int64_t whole = a.walk.n / N;
    for (int64_t i = TNC_FIRST(); i < whole; i += TNC_STEP()) flat.template pack<N>(a, i);
    if (blockIdx.x) return;
    for (int64_t i = whole * N + threadIdx.x; i < a.walk.n; i += blockDim.x)
        flat.template pack<1>(a, i);
}

template <class R>
struct tnc_kept;
template <>
struct tnc_kept<float> {
    enum { type = TNC_F32 };
};
template <>
struct tnc_kept<double> {
    enum { type = TNC_F64 };
};
template <>
struct tnc_kept<int32_t> {
    enum { type = TNC_I32 };
};
template <>
struct tnc_kept<int64_t> {
    enum { type = TNC_I64 };
};
template <>
struct tnc_kept<uint8_t> {
    enum { type = TNC_BOOL };
};
template <>
struct tnc_kept<tnc_c64> {
    enum { type = TNC_C64 };
};
template <>
struct tnc_kept<tnc_c128> {
    enum { type = TNC_C128 };
};

template <class Op>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_any(tnc_expression a) {
    typedef typename Op::value V;
    typedef tnc_move<Op::type> move;
    enum {
        kept = (int)Op::type == (int)TNC_BOOL ? (int)TNC_BOOL
                                              : (int)tnc_kept<typename Op::result>::type
    };
    V p[3];
    for (int i = 0; i < Op::numbers; i++) p[i] = tnc_number<Op>(a.numbers, i);
    for (int64_t i = TNC_FIRST(); i < a.walk.n; i += TNC_STEP()) {
        const char *const *in = a.walk.at;
        int64_t at[1 + EXPRESSION_IN];
        V x[EXPRESSION_IN];
        bool mask = false;
        tnc_walk_to(a.walk, (uint32_t)i, at);
        if (Op::select)
            mask = *(const uint8_t *)(in[1] ? in[1] + at[1] : (const char *)a.one[0]) != 0;
        for (int k = 0; k < EXPRESSION_IN; k++) {
            if (k >= Op::tensors || (Op::select && k == 0))
                x[k] = tnc_number<Op>(a.one[0]);
            else
                x[k] = in[k + 1] ? move::load(in[k + 1] + at[k + 1], a.dtype[k + 1], a.common)
                                 : tnc_number<Op>(a.one[k]);
        }
        tnc_move<kept>::store(a.walk.at[0] + at[0], a.dtype[0], a.rounded,
                              tnc_apply<Op, Op::select>::of(x[0], x[1], x[2], p, mask));
    }
}

template <int half>
TNC_FN float tnc_step_half(float x, float y) {
    uint16_t bits;
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    bits = tnc_half<half>::put(x == 0 ? copysignf(0, y) : x);
    bits = (uint16_t)(x == 0 || (x < y) == (x > 0) ? bits + 1 : bits - 1);
    return tnc_half<half>::get(bits);
}
template <int half>
__global__ void __launch_bounds__(TNC_THREADS) tnc_expression_step(tnc_expression a) {
    const char *const *in = a.walk.at;
    for (int64_t i = TNC_FIRST(); i < a.walk.n; i += TNC_STEP()) {
        int64_t at[1 + EXPRESSION_IN];
        float v[2];
        tnc_walk_to(a.walk, (uint32_t)i, at);
        for (int k = 0; k < 2; k++)
            v[k] = in[k + 1]
                       ? tnc_move<TNC_F32>::load(in[k + 1] + at[k + 1], a.dtype[k + 1], a.common)
                       : tnc_through(tnc_get<float>((const char *)a.one[k]), a.common);
        tnc_store_real(a.walk.at[0] + at[0], a.dtype[0], tnc_step_half<half>(v[0], v[1]));
    }
}

struct tnc_expression_entry {
    void (*flat)(cudaStream_t s, const tnc_expression &a, int half);
    void (*any)(cudaStream_t s, const tnc_expression &a);
};
template <class Op, int type>
struct tnc_halves {
    static void go(cudaStream_t, const tnc_expression &, int) {}
};
template <class Op>
struct tnc_halves<Op, TNC_F32> {
    static void go(cudaStream_t s, const tnc_expression &a, int half) {
        const unsigned blocks = tnc_blocks(a.walk.n, TNC_THREADS * 8);
        if (half == 1)
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, 1>), blocks, TNC_THREADS, s, a);
        else
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, 2>), blocks, TNC_THREADS, s, a);
    }
};
template <class Op>
struct tnc_expression_go {
    static void flat(cudaStream_t s, const tnc_expression &a, int half) {
        if (half)
            tnc_halves<Op, Op::type>::go(s, a, half);
        else
            TNC_LAUNCH_PLAIN((tnc_expression_flat<Op, 0>), tnc_blocks(a.walk.n, TNC_THREADS * 4),
                             TNC_THREADS, s, a);
    }
    static void any(cudaStream_t s, const tnc_expression &a) {
        TNC_LAUNCH_PLAIN((tnc_expression_any<Op>), tnc_blocks(a.walk.n, TNC_THREADS), TNC_THREADS,
                         s, a);
    }
    static const tnc_expression_entry *entry() {
        static const tnc_expression_entry e = {flat, any};
        return &e;
    }
};

struct tnc_expression_row {
    const char *name;
    const tnc_expression_entry *of[TNC_TYPES];
};
#define TNC_WHEN_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_0(op) NULL
#define TNC_WHEN_F32_0(op) NULL
#define TNC_WHEN_F32_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_F32_2(op) NULL
#define TNC_WHEN_F64_0(op) NULL
#define TNC_WHEN_F64_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_F64_2(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C64_0(op) NULL
#define TNC_WHEN_C64_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C64_2(op) NULL
#define TNC_WHEN_C128_0(op) NULL
#define TNC_WHEN_C128_1(op) tnc_expression_go<op>::entry()
#define TNC_WHEN_C128_2(op) tnc_expression_go<op>::entry()
#define TNI_ROW_LOOP(name, kinds, form, nt, nn, F, I, C, B)                     \
    {#name,                                                                     \
     {TNC_WHEN_F32_##F(tnc_##name##_f32), TNC_WHEN_F64_##F(tnc_##name##_f64),   \
      TNC_WHEN_##I(tnc_##name##_i32), TNC_WHEN_##I(tnc_##name##_i64),           \
      TNC_WHEN_C64_##C(tnc_##name##_c64), TNC_WHEN_C128_##C(tnc_##name##_c128), \
      TNC_WHEN_##B(tnc_##name##_truth)}},
static const tnc_expression_row *expression_rows(int *count) {
    static const tnc_expression_row rows[] = {

/* src/gen/loops.inl - the expressions of the pointwise rows, and which loop is made of each for which kind of type */
#ifndef TNI_GEN_LOOPS_INL
#define TNI_GEN_LOOPS_INL
#define TNI_E_abs(self) V_ABS(self)
#define TNI_E_acos(self) V_ACOS(self)
#define TNI_E_add(self, other, alpha) V_FMA(alpha, other, self)
#define TNI_E_addcdiv(self, tensor1, tensor2, value) V_FMA(value, V_DIV(tensor1, tensor2), self)
#define TNI_E_addcmul(self, tensor1, tensor2, value) V_FMA(V_MUL(value, tensor1), tensor2, self)
#define TNI_E_angle(self) V_ANGLE(self)
#define TNI_E_asin(self) V_ASIN(self)
#define TNI_E_atan(self) V_ATAN(self)
#define TNI_E_atan2(self, other) V_ATAN2(self, other)
#define TNI_E_bce(input, target) V_SUB(V_MUL(V_SUB(target, V_ONE), V_MAX(V_SET(-100), \
    V_LOG1P(V_NEG(input)))), V_MUL(target, V_MAX(V_SET(-100), V_LOG(input))))
#define TNI_E_bitwise_and(self, other) V_AND(self, other)
#define TNI_E_bitwise_left_shift(self, other) V_SHIFT_LEFT(self, other)
#define TNI_E_bitwise_not(self) V_NOT(self)
#define TNI_E_bitwise_or(self, other) V_OR(self, other)
#define TNI_E_bitwise_right_shift(self, other) V_SHIFT_RIGHT(self, other)
#define TNI_E_bitwise_xor(self, other) V_XOR(self, other)
#define TNI_E_ceil(self) V_CEIL(self)
#define TNI_E_clamp_max(self, max) V_MINIMUM(self, max)
#define TNI_E_clamp_min(self, min) V_MAXIMUM(self, min)
#define TNI_E_copysign(self, other) V_COPYSIGN(self, other)
#define TNI_E_cos(self) V_COS(self)
#define TNI_E_cosh(self) V_COSH(self)
#define TNI_E_digamma(self) V_DIGAMMA(self)
#define TNI_E_div(self, other) V_DIV(self, other)
#define TNI_E_div_trunc(self, other) V_TRUNCDIV(self, other)
#define TNI_E_elu(self, alpha, scale, input_scale) V_MUL(scale, V_SEL(V_GT(self, V_ZERO()), self, \
    V_MUL(alpha, V_EXPM1(V_MUL(self, input_scale)))))
#define TNI_E_eq(self, other) V_EQ(self, other)
#define TNI_E_erf(self) V_ERF(self)
#define TNI_E_erfc(self) V_ERFC(self)
#define TNI_E_erfinv(self) V_ERFINV(self)
#define TNI_E_exp(self) V_EXP(self)
#define TNI_E_exp2(self) V_POW(V_SET(2), self)
#define TNI_E_expm1(self) V_EXPM1(self)
#define TNI_E_floor(self) V_FLOOR(self)
#define TNI_E_floor_divide(self, other) V_FLOORDIV(self, other)
#define TNI_E_fmax(self, other) V_SEL(M_OR(V_GT(self, other), V_ISNAN(other)), self, other)
#define TNI_E_fmin(self, other) V_SEL(M_OR(V_LT(self, other), V_ISNAN(other)), self, other)
#define TNI_E_fmod(self, other) V_FMOD(self, other)
#define TNI_E_frac(self) V_SUB(self, V_TRUNC(self))
#define TNI_E_gcd(self, other) V_GCD(self, other)
#define TNI_E_ge(self, other) V_GE(self, other)
#define TNI_E_gelu_erf(self) V_MUL(V_MUL(V_SET(0.5), self), V_ADD(V_ONE, V_ERF(V_MUL(self, \
    V_SET(0.70710678118654752440)))))
#define TNI_E_gelu_erf_backward(grad_output, self) V_MUL(grad_output, V_FMA(V_MUL(self, \
    V_SET(0.39894228040143267794)), V_EXP(V_MUL(V_SET(-0.5), V_MUL(self, self))), \
    V_MUL(V_SET(0.5), V_ADD(V_ONE, V_ERF(V_MUL(self, V_SET(0.70710678118654752440)))))))
#define TNI_E_gelu_tanh(self) V_MUL(V_MUL(V_SET(0.5), self), V_ADD(V_ONE, \
    V_TANH(V_MUL(V_MUL(V_SET(0.79788456080286535588), self), V_FMA(V_MUL(V_SET(0.044715), self), \
    self, V_ONE)))))
#define TNI_E_glu_gate(self, gate) V_MUL(self, V_SIGMOID(gate))
#define TNI_E_gt(self, other) V_GT(self, other)
#define TNI_E_hardshrink(self, lambd) V_SEL(M_AND(V_GE(self, V_NEG(lambd)), V_LE(self, lambd)), \
    V_ZERO(), self)
#define TNI_E_hardsigmoid(self) V_DIV(V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, V_SET(3)))), \
    V_SET(6))
#define TNI_E_hardswish(self) V_DIV(V_MUL(self, V_MIN(V_SET(6), V_MAX(V_ZERO(), V_ADD(self, \
    V_SET(3))))), V_SET(6))
#define TNI_E_hardtanh(self, min_val, max_val) V_MINIMUM(V_MAXIMUM(self, min_val), max_val)
#define TNI_E_heaviside(self, values) V_SEL(V_EQ(self, V_ZERO()), values, V_SEL(V_GT(self, \
    V_ZERO()), V_ONE, V_ZERO()))
#define TNI_E_hypot(self, other) V_HYPOT(self, other)
#define TNI_E_i0(self) V_I0(self)
#define TNI_E_igamma(self, other) V_IGAMMA(self, other)
#define TNI_E_igammac(self, other) V_IGAMMAC(self, other)
#define TNI_E_isfinite(self) V_ISFINITE(self)
#define TNI_E_isinf(self) V_ISINF(self)
#define TNI_E_isnan(self) V_ISNAN(self)
#define TNI_E_isneginf(self) V_EQ(self, V_SET(-INFINITY))
#define TNI_E_isposinf(self) V_EQ(self, V_SET(INFINITY))
#define TNI_E_lcm(self, other) V_LCM(self, other)
#define TNI_E_le(self, other) V_LE(self, other)
#define TNI_E_leaky_relu(self, negative_slope) V_SEL(V_GT(self, V_ZERO()), self, V_MUL(self, \
    negative_slope))
#define TNI_E_leaky_relu_backward(grad_output, self, negative_slope, self_is_result) \
    V_SEL(V_GT(self, V_ZERO()), grad_output, V_MUL(grad_output, negative_slope))
#define TNI_E_lerp(self, end, weight) V_SEL(V_WITHIN(weight, 0.5), V_FMA(weight, V_SUB(end, \
    self), self), V_FNMA(V_SUB(end, self), V_SUB(V_ONE, weight), end))
#define TNI_E_lgamma(self) V_LGAMMA(self)
#define TNI_E_log(self) V_LOG(self)
#define TNI_E_log10(self) V_LOG10(self)
#define TNI_E_log1p(self) V_LOG1P(self)
#define TNI_E_log2(self) V_LOG2(self)
#define TNI_E_log_sigmoid(self) V_SUB(V_MINIMUM(self, V_ZERO()), \
    V_LOG1P(V_EXP(V_NEG(V_ABS(self)))))
#define TNI_E_logaddexp(self, other) V_LOGADDEXP(self, other)
#define TNI_E_logaddexp2(self, other) V_LOGADDEXP2(self, other)
#define TNI_E_logical_and(self, other) M_AND(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_logical_not(self) V_EQ(self, V_ZERO())
#define TNI_E_logical_or(self, other) M_OR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_logical_xor(self, other) M_XOR(V_NE(self, V_ZERO()), V_NE(other, V_ZERO()))
#define TNI_E_lt(self, other) V_LT(self, other)
#define TNI_E_maximum(self, other) V_MAXIMUM(self, other)
#define TNI_E_minimum(self, other) V_MINIMUM(self, other)
#define TNI_E_mish(self) V_MUL(self, V_TANH(V_LOG1P(V_EXP(self))))
#define TNI_E_mul(self, other) V_MUL(self, other)
#define TNI_E_ne(self, other) V_NE(self, other)
#define TNI_E_neg(self) V_NEG(self)
#define TNI_E_nextafter(self, other) V_NEXTAFTER(self, other)
#define TNI_E_pow(self, exponent) V_POW(self, exponent)
#define TNI_E_prelu_kernel(self, weight) V_SEL(V_GT(self, V_ZERO()), self, V_MUL(weight, self))
#define TNI_E_reciprocal(self) V_DIV(V_ONE, self)
#define TNI_E_relu(self) V_SEL(V_LT(self, V_ZERO()), V_ZERO(), self)
#define TNI_E_remainder(self, other) V_REMAINDER(self, other)
#define TNI_E_round(self) V_ROUND(self)
#define TNI_E_rsqrt(self) V_DIV(V_ONE, V_SQRT(self))
#define TNI_E_sgn(self) V_SIGN(self)
#define TNI_E_sigmoid(self) V_SIGMOID(self)
#define TNI_E_sigmoid_backward(grad_output, output) V_MUL(grad_output, V_CONJ(V_MUL(V_SUB(V_ONE, \
    output), output)))
#define TNI_E_sign(self) V_SIGN(self)
#define TNI_E_signbit(self) V_SIGNBIT(self)
#define TNI_E_silu(self) V_MUL(self, V_SIGMOID(self))
#define TNI_E_silu_backward(grad_output, self) V_MUL(grad_output, V_MUL(V_SIGMOID(self), \
    V_FMA(self, V_SUB(V_ONE, V_SIGMOID(self)), V_ONE)))
#define TNI_E_sin(self) V_SIN(self)
#define TNI_E_sinc(self) V_SEL(V_EQ(self, V_ZERO()), V_ONE, V_DIV(V_SIN(V_MUL(self, \
    V_SET(3.14159265358979323846))), V_MUL(self, V_SET(3.14159265358979323846))))
#define TNI_E_sinh(self) V_SINH(self)
#define TNI_E_softplus(self, beta, threshold) V_SEL(V_GT(V_MUL(self, beta), threshold), self, \
    V_DIV(V_LOG1P(V_EXP(V_MUL(self, beta))), beta))
#define TNI_E_softshrink(self, lambd) V_SEL(V_GT(self, lambd), V_SUB(self, lambd), \
    V_SEL(V_LT(self, V_NEG(lambd)), V_ADD(self, lambd), V_MUL(self, V_ZERO())))
#define TNI_E_softsign(self) V_DIV(self, V_ADD(V_ONE, V_ABS(self)))
#define TNI_E_special_airy_ai(self) V_AIRY_AI(self)
#define TNI_E_special_bessel_j0(self) V_J0(self)
#define TNI_E_special_bessel_j1(self) V_J1(self)
#define TNI_E_special_bessel_y0(self) V_Y0(self)
#define TNI_E_special_bessel_y1(self) V_Y1(self)
#define TNI_E_special_chebyshev_polynomial_t(x, n) V_CHEBYSHEV_T(x, n)
#define TNI_E_special_chebyshev_polynomial_u(x, n) V_CHEBYSHEV_U(x, n)
#define TNI_E_special_chebyshev_polynomial_v(x, n) V_CHEBYSHEV_V(x, n)
#define TNI_E_special_chebyshev_polynomial_w(x, n) V_CHEBYSHEV_W(x, n)
#define TNI_E_special_entr(self) V_SEL(V_LT(self, V_ZERO()), V_SET(-INFINITY), V_SEL(V_EQ(self, \
    V_ZERO()), V_ZERO(), V_NEG(V_MUL(self, V_LOG(self)))))
#define TNI_E_special_erfcx(self) V_ERFCX(self)
#define TNI_E_special_hermite_polynomial_h(x, n) V_HERMITE_H(x, n)
#define TNI_E_special_hermite_polynomial_he(x, n) V_HERMITE_HE(x, n)
#define TNI_E_special_i0e(self) V_I0E(self)
#define TNI_E_special_i1(self) V_I1(self)
#define TNI_E_special_i1e(self) V_I1E(self)
#define TNI_E_special_laguerre_polynomial_l(x, n) V_LAGUERRE_L(x, n)
#define TNI_E_special_legendre_polynomial_p(x, n) V_LEGENDRE_P(x, n)
#define TNI_E_special_log_ndtr(self) V_LOG_NDTR(self)
#define TNI_E_special_modified_bessel_k0(self) V_K0(self)
#define TNI_E_special_modified_bessel_k1(self) V_K1(self)
#define TNI_E_special_ndtr(self) V_NDTR(self)
#define TNI_E_special_ndtri(self) V_NDTRI(self)
#define TNI_E_special_scaled_modified_bessel_k0(self) V_K0E(self)
#define TNI_E_special_scaled_modified_bessel_k1(self) V_K1E(self)
#define TNI_E_special_shifted_chebyshev_polynomial_t(x, n) V_CHEBYSHEV_T(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_u(x, n) V_CHEBYSHEV_U(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_v(x, n) V_CHEBYSHEV_V(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_shifted_chebyshev_polynomial_w(x, n) V_CHEBYSHEV_W(V_SUB(V_ADD(x, x), \
    V_ONE), n)
#define TNI_E_special_spherical_bessel_j0(self) V_SPHERICAL_J0(self)
#define TNI_E_special_xlog1py(self, other) V_SEL(V_ISNAN(other), other, V_SEL(V_EQ(self, \
    V_ZERO()), V_ZERO(), V_MUL(self, V_LOG1P(other))))
#define TNI_E_special_zeta(self, other) V_ZETA(self, other)
#define TNI_E_sqrt(self) V_SQRT(self)
#define TNI_E_square(self) V_SQUARE(self)
#define TNI_E_sub(self, other, alpha) V_FNMA(alpha, other, self)
#define TNI_E_tan(self) V_TAN(self)
#define TNI_E_tanh(self) V_TANH(self)
#define TNI_E_tanh_backward(grad_output, output) V_MUL(grad_output, V_CONJ(V_FNMA(output, output, \
    V_ONE)))
#define TNI_E_threshold(self, threshold, value) V_SEL(V_LE(self, threshold), value, self)
#define TNI_E_threshold_backward(grad_output, self, threshold) V_SEL(V_LE(self, threshold), \
    V_ZERO(), grad_output)
#define TNI_E_trunc(self) V_TRUNC(self)
#define TNI_E_where(condition, self, other) V_SEL(condition, self, other)
#define TNI_E_xlogy(self, other) V_SEL(V_ISNAN(other), other, V_SEL(V_EQ(self, V_ZERO()), \
    V_ZERO(), V_MUL(self, V_LOG(other))))
#endif

TNI_ROW_LOOP(abs, FIc, TO_REAL, 1, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(acos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(add, FICB, LOOP, 2, 1, 1, 1, 1, 1)
TNI_ROW_LOOP(addcdiv, Fc, LOOP, 3, 1, 1, 0, 2, 0)
TNI_ROW_LOOP(addcmul, FIc, LOOP, 3, 1, 1, 1, 2, 0)
TNI_ROW_LOOP(angle, Fc, TO_REAL, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(asin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(atan2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bce, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(bitwise_and, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_left_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_not, IB, LOOP, 1, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_or, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(bitwise_right_shift, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(bitwise_xor, IB, LOOP, 2, 0, 0, 1, 0, 1)
TNI_ROW_LOOP(ceil, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(clamp_max, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(clamp_min, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(copysign, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(cos, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(cosh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(digamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(div, FC, LOOP, 2, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(div_trunc, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(elu, F, LOOP, 1, 3, 1, 0, 0, 0)
TNI_ROW_LOOP(eq, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(erfc, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(erfinv, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(exp, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(exp2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(expm1, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(floor, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(floor_divide, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(fmax, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmin, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(fmod, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(frac, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gcd, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(ge, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(gelu_erf, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_erf_backward, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gelu_tanh, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(glu_gate, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(gt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(hardshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(hardsigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardswish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(hardtanh, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(heaviside, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(hypot, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(i0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igamma, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(igammac, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(isfinite, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isinf, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isnan, FC, PREDICATE, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(isneginf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(isposinf, F, PREDICATE, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(lcm, I, LOOP, 2, 0, 0, 1, 0, 0)
TNI_ROW_LOOP(le, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(leaky_relu, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(leaky_relu_backward, F, LOOP, 2, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(lerp, Fc, LOOP, 3, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(lgamma, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(log, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log10, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log1p, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log2, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(log_sigmoid, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logaddexp, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(logaddexp2, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(logical_and, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_not, FICB, PREDICATE, 1, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(logical_or, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(logical_xor, FIcB, PREDICATE, 2, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(lt, FI, PREDICATE, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(maximum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(minimum, FIB, LOOP, 2, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(mish, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(mul, FICB, LOOP, 2, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(ne, FIC, PREDICATE, 2, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(neg, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(nextafter, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(pow, FIc, LOOP, 2, 0, 1, 1, 2, 0)
TNI_ROW_LOOP(prelu_kernel, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(reciprocal, FC, LOOP, 1, 0, 1, 0, 1, 0)
TNI_ROW_LOOP(relu, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(remainder, FI, LOOP, 2, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(round, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(rsqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sgn, FIcB, LOOP, 1, 0, 1, 1, 2, 1)
TNI_ROW_LOOP(sigmoid, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sigmoid_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sign, FIB, LOOP, 1, 0, 1, 1, 0, 1)
TNI_ROW_LOOP(signbit, FI, PREDICATE, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(silu, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(silu_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sin, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinc, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(sinh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(softplus, F, LOOP, 1, 2, 1, 0, 0, 0)
TNI_ROW_LOOP(softshrink, F, LOOP, 1, 1, 1, 0, 0, 0)
TNI_ROW_LOOP(softsign, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(special_airy_ai, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_j1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_bessel_y1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_entr, F, LOOP, 1, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_erfcx, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_h, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_hermite_polynomial_he, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i0e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_i1e, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_laguerre_polynomial_l, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_legendre_polynomial_p, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_log_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtr, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_ndtri, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_scaled_modified_bessel_k1, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_t, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_u, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_v, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_shifted_chebyshev_polynomial_w, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_spherical_bessel_j0, f, LOOP, 1, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(special_xlog1py, F, LOOP, 2, 0, 1, 0, 0, 0)
TNI_ROW_LOOP(special_zeta, f, LOOP, 2, 0, 2, 0, 0, 0)
TNI_ROW_LOOP(sqrt, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(square, FIC, LOOP, 1, 0, 1, 1, 1, 0)
TNI_ROW_LOOP(sub, FIC, LOOP, 2, 1, 1, 1, 1, 0)
TNI_ROW_LOOP(tan, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh, Fc, LOOP, 1, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(tanh_backward, Fc, LOOP, 2, 0, 1, 0, 2, 0)
TNI_ROW_LOOP(threshold, FI, LOOP, 1, 2, 1, 1, 0, 0)
TNI_ROW_LOOP(threshold_backward, FI, LOOP, 2, 1, 1, 1, 0, 0)
TNI_ROW_LOOP(trunc, FI, LOOP, 1, 0, 1, 1, 0, 0)
TNI_ROW_LOOP(where, FICB, SELECT, 3, 0, 1, 1, 1, 1)
TNI_ROW_LOOP(xlogy, F, LOOP, 2, 0, 1, 0, 0, 0)

    };
    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}
#undef TNI_ROW_LOOP

static const tnc_expression_row *expression_of(const tn_frame *f) {
    int high, low = 0;
    const tnc_expression_row *rows = expression_rows(&high);
    while (low < high) {
        const int middle = (low + high) / 2, order = strcmp(f->row->name, rows[middle].name);
        if (order == 0) return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int expression_type(tn_dtype native) {
    switch (native) {
    case TN_F32: return TNC_F32;
    case TN_F64: return TNC_F64;
    case TN_I32: return TNC_I32;
    case TN_I64: return TNC_I64;
    case TN_C64: return TNC_C64;
    case TN_C128: return TNC_C128;
    default: return TNC_BOOL;
    }
}

static bool expression_is_flat(const tn_frame *f, const tn_pointwise_plan *p, int half) {
    const tn_dtype lies = half ? p->common : p->native;
    bool flat = p->flat && !(half && p->native == TN_F64) && (half || p->common == p->native) &&
                (uintptr_t)p->walk.at[0] % 16 == 0 &&
                tn_dtype_of(f->out[0]) == (half && p->made == p->native ? p->common : p->made);
    for (int k = 0; k < f->nin; k++)
        flat = flat &&
               (p->number[k] || (tn_dtype_of(f->in[k]) == (p->mask && k == 0 ? TN_BOOL : lies) &&
                                 (uintptr_t)p->walk.at[k + 1] % 16 == 0));
    return flat;
}

static bool expression_prepare(tn_frame *f) {
    tn_pointwise_plan p;
    const tnc_expression_row *row = expression_of(f);
    tn_pointwise_plan_of(&p, f);
    if (!row || !row->of[expression_type(p.native)])
        return tn_fail(f, TN_INTERNAL, "%s was compiled for another version", "libtensor_cuda");
    return true;
}

static void expression_step(cudaStream_t s, const tnc_expression &a, int half) {
    const unsigned blocks = tnc_blocks(a.walk.n, TNC_THREADS);
    if (half == 1)
        TNC_LAUNCH_PLAIN((tnc_expression_step<1>), blocks, TNC_THREADS, s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_expression_step<2>), blocks, TNC_THREADS, s, a);
}

static void expression_run(tn_frame *f) {
    tn_pointwise_plan p;
    tnc_expression a;
    const tnc_expression_entry *e;
    cudaStream_t s = tnc_stream(f);
    int half;
    tn_pointwise_plan_of(&p, f);
    e = expression_of(f)->of[expression_type(p.native)];
    half = p.common == TN_F16 ? 1 : p.common == TN_BF16 ? 2 : 0;
    a.common = (uint8_t)p.common;
    a.made = (uint8_t)p.made;
    a.rounded = (uint8_t)p.rounded;
    memcpy(a.one, p.one, sizeof a.one);
    memcpy(a.numbers, p.numbers, sizeof a.numbers);
    a.dtype[0] = (uint8_t)tn_dtype_of(f->out[0]);
    for (int k = 0; k < f->nin; k++) {
        a.dtype[k + 1] = (uint8_t)tn_dtype_of(f->in[k]);
        if (p.number[k]) p.walk.at[k + 1] = NULL;
    }
    if (half && strcmp(f->row->name, "nextafter") == 0) {
        tnc_walk_pieces<1 + EXPRESSION_IN>(p.walk, [&](const tnc_walk<1 + EXPRESSION_IN> &w) {
            a.walk = w;
            expression_step(s, a, half);
        });
        return;
    }
    if (expression_is_flat(f, &p, half)) {
        for (int k = 0; k < 1 + EXPRESSION_IN; k++)
            a.walk.at[k] = k < p.walk.n ? p.walk.at[k] : NULL;
        a.walk.n = p.walk.numel;
        if (a.walk.n) e->flat(s, a, half);
        return;
    }
    tnc_walk_pieces<1 + EXPRESSION_IN>(p.walk, [&](const tnc_walk<1 + EXPRESSION_IN> &w) {
        a.walk = w;
        e->any(s, a);
    });
}

static bool expression_look(tn_frame *f) {
    if (!f->row->look || f->nin < 2 || !tn_operand_of(f->in[1]).on_host) return true;
    return f->row->look(f);
}

static const tn_device_row expression_table[] = {
    {NULL, false, expression_look, expression_prepare, expression_run}};
TNC_FAMILY(expressions, expression_table)

/* src/cuda/reductions.cu - sums, products, means, extrema and their places, truth over any dimensions */

/* src/cuda/reduce.cuh - reductions in the order of the CPU's, so with its bits (cpu/lanes.h): blocks of 4096 elements in fixed lanes, lanes folded by halves, blocks met in a tree of neighbours; columns by 64 rows */

enum { TNC_BLOCK = 4096, TNC_BLOCK_ROWS = 64, TNC_TEAM = 16, TNC_TREE = 256 };

struct tnc_lanes {
    tn_reduce_plan p;
    int64_t blocks, results;
    char *parts, *out[2];
    double divide;
    uint8_t out_dtype[2], bytes;
    bool nonzero;
    bool magnitude;
    bool straight;
};

TNC_FN int64_t tnc_offset(int n, const int64_t *size, const int64_t *step, int64_t i) {
    int64_t at = 0;
    for (int d = n - 1; d > 0; d--) {
        at += i % size[d] * step[d];
        i /= size[d];
    }
    return n ? at + i * step[0] : 0;
}

template <class A>
struct tnc_dtype_of;
template <>
struct tnc_dtype_of<float> {
    enum { dtype = TN_F32 };
};
template <>
struct tnc_dtype_of<double> {
    enum { dtype = TN_F64 };
};
template <>
struct tnc_dtype_of<int64_t> {
    enum { dtype = TN_I64 };
};

TNC_FN double tnc_magnitude(double re, double im) {
    double large = fabs(re), little = fabs(im), q;
    if (little > large) {
        q = large;
        large = little;
        little = q;
    }
    q = large > 0 && large < INFINITY ? little / large : 0;
    return re != re || im != im ? re + im : large * sqrt(fma(q, q, 1.0));
}
TNC_FN bool tnc_is_nonzero(const char *at, int dtype) {
    switch (dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64: return tnc_load_real<double>(at, dtype) != 0;
    case TN_C64: return tnc_get<float>(at) != 0 || tnc_get<float>(at + 4) != 0;
    case TN_C128: return tnc_get<double>(at) != 0 || tnc_get<double>(at + 8) != 0;
    default: return tnc_load_real<int64_t>(at, dtype) != 0;
    }
}

template <class A>
TNC_FN A tnc_take(const tnc_lanes &l, const char *at) {
    const int dtype = (int)l.p.dtype;
    if (l.nonzero) return (A)tnc_is_nonzero(at, dtype);
    if (l.magnitude)
        return (A)(dtype == TN_C64 ? tnc_magnitude(tnc_get<float>(at), tnc_get<float>(at + 4))
                                   : tnc_magnitude(tnc_get<double>(at), tnc_get<double>(at + 8)));
    return dtype == tnc_dtype_of<A>::dtype ? tnc_get<A>(at) : tnc_load_real<A>(at, dtype);
}

TNC_FN int tnc_bytes_of(int dtype) {
    switch (dtype) {
    case TN_I16:
    case TN_F16:
    case TN_BF16: return 2;
    case TN_I32:
    case TN_F32: return 4;
    case TN_I64:
    case TN_F64: return 8;
    default: return 1;
    }
}
template <class R>
TNC_FN void tnc_give(const R &r, const tnc_lanes &l, int64_t result, typename R::part v) {
    const int64_t o = result / l.p.width, c = result % l.p.width;
    R::give(r, l, tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_out, o) + c * l.p.width_out, v);
}
template <class A>
TNC_FN void tnc_give_number(const tnc_lanes &l, int k, int64_t at, A v) {
    const int dtype = l.out_dtype[k];
    tnc_store_real(l.out[k] + at * tnc_bytes_of(dtype), dtype, v);
}

template <class A>
struct tnc_bounds {
    TNC_FN A low() { return -INFINITY; }
    TNC_FN A high() { return INFINITY; }
};
template <>
struct tnc_bounds<int64_t> {
    TNC_FN int64_t low() { return INT64_MIN; }
    TNC_FN int64_t high() { return INT64_MAX; }
};
TNC_FN float tnc_plus(float a, float b) { return a + b; }
TNC_FN double tnc_plus(double a, double b) { return a + b; }
TNC_FN int64_t tnc_plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
TNC_FN float tnc_times(float a, float b) { return a * b; }
TNC_FN double tnc_times(double a, double b) { return a * b; }
TNC_FN int64_t tnc_times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
template <class A>
TNC_FN A tnc_larger(A a, A v) {
    return v > a || v != v ? v : a;
}
template <class A>
TNC_FN A tnc_smaller(A a, A v) {
    return v < a || v != v ? v : a;
}

template <class Part>
struct tnc_joined {
    typedef Part part;
    template <class R>
    TNC_FN part join(const R &r, part a, part b, int64_t, int64_t) {
        return r.meet(a, b);
    }
};
template <class A>
struct tnc_plain : tnc_joined<A> {
    typedef A element;
    TNC_FN A from(A a, int lanes) { return __shfl_down_sync(0xffffffffu, a, lanes); }
    TNC_FN A end(A a, const tnc_lanes &) { return a; }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, A a) {
        tnc_give_number(l, 0, at, r.end(a, l));
    }
};
template <class A>
struct tnc_sum : tnc_plain<A> {
    TNC_FN A first() { return 0; }
    TNC_FN A step(A a, A v, int64_t) { return tnc_plus(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_plus(a, b); }
};
template <class A>
struct tnc_max : tnc_plain<A> {
    TNC_FN A first() { return tnc_bounds<A>::low(); }
    TNC_FN A step(A a, A v, int64_t) { return tnc_larger(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_larger(a, b); }
};
template <class A>
struct tnc_min : tnc_plain<A> {
    TNC_FN A first() { return tnc_bounds<A>::high(); }
    TNC_FN A step(A a, A v, int64_t) { return tnc_smaller(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_smaller(a, b); }
};

template <class R>
TNC_FN void tnc_block_lanes(const R &r, const tnc_lanes &l, const char *x, int64_t begin, int64_t n,
                            int t, typename R::part *a) {
    typedef typename R::element A;
    enum { EACH = 16 / sizeof(A), LANES = TNC_TEAM * EACH };
    for (int j = 0; j < EACH; j++) a[j] = r.first();
    if (l.straight && n == TNC_BLOCK) {
        const char *at = x + begin * (int64_t)sizeof(A);
        for (int i = t; i < TNC_BLOCK / EACH; i += TNC_TEAM) {
            const tnc_pack<A, EACH> v = tnc_aligned<tnc_pack<A, EACH>>(at)[i];
            for (int j = 0; j < EACH; j++) a[j] = r.step(a[j], v.e[j], begin + i * EACH + j);
        }
        return;
    }
    for (int64_t i = t * EACH; i < n; i += LANES)
        for (int j = 0; j < EACH && i + j < n; j++)
            a[j] = r.step(
                a[j],
                tnc_take<A>(l, x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, begin + i + j)),
                begin + i + j);
}
template <class R>
TNC_FN typename R::part tnc_team_fold(const R &r, typename R::part *a) {
    enum { EACH = 16 / sizeof(typename R::element) };
    for (int h = TNC_TEAM / 2; h; h /= 2)
        for (int j = 0; j < EACH; j++) a[j] = r.meet(a[j], r.from(a[j], h));
    for (int h = EACH / 2; h; h /= 2)
        for (int j = 0; j < h; j++) a[j] = r.meet(a[j], a[j + h]);
    return a[0];
}

struct tnc_team_job {
    int64_t o, b, begin, n;
    const char *x;
};
TNC_FN tnc_team_job tnc_team_job_of(const tnc_lanes &l, int64_t job, bool mine) {
    tnc_team_job j;
    j.o = mine ? job / l.blocks : 0;
    j.b = mine ? job % l.blocks : 0;
    j.begin = j.b * TNC_BLOCK;
    j.n = !mine ? 0 : l.p.n - j.begin < TNC_BLOCK ? l.p.n - j.begin : (int64_t)TNC_BLOCK;
    j.x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, j.o);
    return j;
}
#define TNC_TEAMS() ((int64_t)gridDim.x * blockDim.x / TNC_TEAM)
#define TNC_TEAM_NUMBER() (((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / TNC_TEAM)

template <class R>
TNC_FN void tnc_block_done(const R &r, const tnc_lanes &l, int64_t result, int64_t b,
                           typename R::part a) {
    if (l.blocks == 1)
        tnc_give<R>(r, l, result, a);
    else
        ((typename R::part *)l.parts)[result * l.blocks + b] = a;
}

template <class R>
__global__ void __launch_bounds__(128) tnc_reduce_rows(tnc_lanes l, R r) {
    enum { EACH = 16 / sizeof(typename R::element) };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER();
        const tnc_team_job j = tnc_team_job_of(l, job, job < all);
        typename R::part a[EACH];
        tnc_block_lanes<R>(r, l, j.x, j.begin, j.n, t, a);
        a[0] = tnc_team_fold<R>(r, a);
        if (job < all && !t) tnc_block_done<R>(r, l, j.o, j.b, a[0]);
    }
}

struct tnc_column_job {
    int64_t result, b, begin, n;
    const char *x;
};
TNC_FN tnc_column_job tnc_column_job_of(const tnc_lanes &l, int64_t job) {
    const int64_t c = job % l.p.width, o = job / l.p.width / l.blocks;
    tnc_column_job j;
    j.b = job / l.p.width % l.blocks;
    j.result = o * l.p.width + c;
    j.begin = j.b * TNC_BLOCK_ROWS;
    j.n = l.p.n - j.begin < TNC_BLOCK_ROWS ? l.p.n - j.begin : (int64_t)TNC_BLOCK_ROWS;
    j.x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, o) + c * l.bytes;
    return j;
}
template <class R>
TNC_FN typename R::part tnc_column(const R &r, const tnc_lanes &l, const tnc_column_job &j) {
    typedef typename R::element A;
    typename R::part a = r.first();
    for (int64_t i = j.begin; i < j.begin + j.n; i++)
        a = r.step(a, tnc_take<A>(l, j.x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, i)), i);
    return a;
}

template <class R>
__global__ void __launch_bounds__(128) tnc_reduce_columns(tnc_lanes l, R r) {
    const int64_t all = l.results * l.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const tnc_column_job j = tnc_column_job_of(l, job);
        tnc_block_done<R>(r, l, j.result, j.b, tnc_column<R>(r, l, j));
    }
}

template <class R>
__global__ void __launch_bounds__(TNC_TREE)
    tnc_reduce_tree(tnc_lanes l, R r, const char *from, char *to, int64_t count, int64_t each) {
    typedef typename R::part part;
    TNC_SHARED(part, held, TNC_TREE);
    const int64_t trees = (count + TNC_TREE - 1) / TNC_TREE;
    for (int64_t job = blockIdx.x; job < l.results * trees; job += gridDim.x) {
        const int64_t o = job / trees, s = job % trees, begin = s * TNC_TREE, left = count - begin;
        const int n = (int)(left < TNC_TREE ? left : (int64_t)TNC_TREE), i = (int)threadIdx.x;
        if (i < n) held[i] = ((const part *)from)[o * count + begin + i];
        __syncthreads();
        for (int half = 1; half < n; half *= 2) {
            if (i % (2 * half) == 0 && i + half < n) {
                const int64_t rest = l.p.n - (begin + i + half) * each, na = half * each;
                held[i] = R::join(r, held[i], held[i + half], na, rest < na ? rest : na);
            }
            __syncthreads();
        }
        if (i == 0 && trees == 1) tnc_give<R>(r, l, o, held[0]);
        if (i == 0 && trees > 1) ((part *)to)[o * trees + s] = held[0];
        __syncthreads();
    }
}

TNC_PRIV void tnc_lanes_of(tnc_lanes *l, const tn_frame *f, tn_tensor *x, const bool *gone,
                           tn_dtype compute, int how);
TNC_PRIV void tnc_lanes_layout(tnc_lanes *l);
TNC_PRIV bool tnc_lanes_bytes(const tnc_lanes *l, int64_t part, int64_t *bytes);

static inline void tnc_gone_list(const tn_frame *f, tn_ints dim, bool *gone) {
    const int n = (int)tn_ndim(f->in[0]);
    for (int d = 0; d < n; d++) gone[d] = dim.n <= 0;
    for (int64_t i = 0; i < dim.n && n; i++) gone[dim.at[i] < 0 ? dim.at[i] + n : dim.at[i]] = true;
}
static inline void tnc_gone_one(const tn_frame *f, int64_t dim, bool *gone) {
    tnc_gone_list(f, tn_ints_of(&dim, dim == TN_NONE ? 0 : 1), gone);
}
static inline tn_dtype tnc_reduce_compute(int dtype) {
    switch (dtype) {
    case TN_F64:
    case TN_C128: return TN_F64;
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_C64: return TN_F32;
    default: return TN_I64;
    }
}
TNC_PRIV bool tnc_lanes_scratch(tn_frame *f, const tnc_lanes *l, int64_t part);

template <class R>
static void tnc_reduce_trees(cudaStream_t s, const tnc_lanes &l, const R &r) {
    const char *from = l.parts;
    int64_t each = l.p.columns ? TNC_BLOCK_ROWS : TNC_BLOCK;
    for (int64_t n = l.blocks; n > 1;) {
        const int64_t trees = (n + TNC_TREE - 1) / TNC_TREE;
        char *to = (char *)(uintptr_t)from + n * l.results * (int64_t)sizeof(typename R::part);
        TNC_LAUNCH((tnc_reduce_tree<R>), tnc_blocks(l.results * trees, 1), TNC_TREE, s, l, r, from,
                   to, n, each);
        from = to;
        n = trees;
        each *= TNC_TREE;
    }
}
template <class R>
static void tnc_reduce(cudaStream_t s, const tnc_lanes &l, const R &r) {
    if (!l.results) return;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_reduce_columns<R>), tnc_blocks(l.results * l.blocks, 128), 128, s, l,
                         r);
    else
        TNC_LAUNCH((tnc_reduce_rows<R>), tnc_blocks(l.results * l.blocks, 128 / TNC_TEAM), 128, s,
                   l, r);
    tnc_reduce_trees<R>(s, l, r);
}

TNC_PRIV void tnc_lanes_layout(tnc_lanes *l) {
    const int64_t each = l->p.columns ? TNC_BLOCK_ROWS : TNC_BLOCK;
    l->bytes = (uint8_t)tnc_dtype_bytes((int)l->p.dtype);
    l->results = l->p.outer * l->p.width;
    l->blocks = (l->p.n + each - 1) / each;
    if (l->blocks < 1) l->blocks = 1;
    l->divide = 1;
    l->straight = !l->nonzero && l->p.dtype == l->p.compute && !l->p.columns &&
                  (l->p.nred == 0 || (l->p.nred == 1 && l->p.red_step[0] == l->bytes)) &&
                  (uintptr_t)l->p.x % 16 == 0;
    for (int d = 0; d < l->p.nkeep; d++) l->straight = l->straight && l->p.keep_step[d] % 16 == 0;
}

TNC_PRIV void tnc_lanes_of(tnc_lanes *l, const tn_frame *f, tn_tensor *x, const bool *gone,
                           tn_dtype compute, int how) {
    const int dtype = (int)tn_dtype_of(x);
    memset(l, 0, sizeof *l);
    tn_reduce_plan_of(&l->p, x, gone, compute, how);
    l->nonzero = how & TN_REDUCE_NONZERO;
    l->magnitude = how & TN_REDUCE_MAGNITUDE && (dtype == TN_C64 || dtype == TN_C128);
    tnc_lanes_layout(l);
    for (int k = 0; k < f->nout && k < 2; k++) {
        const tn_operand out = tn_operand_of(f->out[k]);
        l->out[k] = out.at;
        l->out_dtype[k] = out.dtype == TN_C64    ? (uint8_t)TN_F32
                          : out.dtype == TN_C128 ? (uint8_t)TN_F64
                                                 : out.dtype;
    }
}

TNC_PRIV bool tnc_lanes_bytes(const tnc_lanes *l, int64_t part, int64_t *bytes) {
    int64_t all = 0;
    for (int64_t n = l->blocks; n > 1; n = (n + TNC_TREE - 1) / TNC_TREE) all += n;
    return !__builtin_mul_overflow(all, l->results, bytes) &&
           !__builtin_mul_overflow(*bytes, part, bytes);
}

TNC_PRIV bool tnc_lanes_scratch(tn_frame *f, const tnc_lanes *l, int64_t part) {
    int64_t bytes;
    if (!tnc_lanes_bytes(l, part, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}

template <class A>
struct tnc_mean : tnc_sum<A> {
    TNC_FN A end(A a, const tnc_lanes &l) { return (A)(a / (A)l.divide); }
};
template <class A>
struct tnc_prod : tnc_plain<A> {
    TNC_FN A first() { return 1; }
    TNC_FN A step(A a, A v, int64_t) { return tnc_times(a, v); }
    TNC_FN A meet(A a, A b) { return tnc_times(a, b); }
};
template <class A>
struct tnc_any : tnc_max<A> {
    TNC_FN A end(A a, const tnc_lanes &) { return a > 0; }
};
template <class A>
struct tnc_all : tnc_min<A> {
    TNC_FN A end(A a, const tnc_lanes &) { return a > 0; }
};

template <class A>
struct tnc_ends {
    A low, high;
};
template <class A>
struct tnc_aminmax : tnc_joined<tnc_ends<A>> {
    typedef A element;
    typedef tnc_ends<A> part;
    TNC_FN part first() { return {tnc_bounds<A>::high(), tnc_bounds<A>::low()}; }
    TNC_FN part step(part a, A v, int64_t) {
        return {tnc_smaller(a.low, v), tnc_larger(a.high, v)};
    }
    TNC_FN part meet(part a, part b) {
        return {tnc_smaller(a.low, b.low), tnc_larger(a.high, b.high)};
    }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.low, lanes),
                __shfl_down_sync(0xffffffffu, a.high, lanes)};
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, part a) {
        tnc_give_number(l, 0, at, a.low);
        tnc_give_number(l, 1, at, a.high);
    }
};

template <class A>
struct tnc_place {
    A value;
    int64_t index;
};
template <class A, bool least>
struct tnc_arg : tnc_joined<tnc_place<A>> {
    typedef A element;
    typedef tnc_place<A> part;
    TNC_FN bool better(A v, A a) { return (least ? v < a : v > a) || (v != v && a == a); }
    TNC_FN part first() { return {least ? tnc_bounds<A>::high() : tnc_bounds<A>::low(), 0}; }
    TNC_FN part step(part a, A v, int64_t i) {
        if (better(v, a.value)) return {v, i};
        return a;
    }
    TNC_FN part meet(part a, part b) {
        const bool after = better(a.value, b.value), before = better(b.value, a.value);
        return before || (!after && b.index < a.index) ? b : a;
    }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.value, lanes),
                __shfl_down_sync(0xffffffffu, a.index, lanes)};
    }
};
template <class A, bool least>
struct tnc_arg_index : tnc_arg<A, least> {
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_place<A> a) {
        ((int64_t *)l.out[0])[at] = a.index;
    }
};
template <class A, bool least>
struct tnc_arg_both : tnc_arg<A, least> {
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_place<A> a) {
        tnc_give_number(l, 0, at, a.value);
        ((int64_t *)l.out[1])[at] = a.index;
    }
};
template <class A>
struct tnc_argmax : tnc_arg_index<A, false> {};
template <class A>
struct tnc_argmin : tnc_arg_index<A, true> {};
template <class A>
struct tnc_max_dim : tnc_arg_both<A, false> {};
template <class A>
struct tnc_min_dim : tnc_arg_both<A, true> {};

__global__ void __launch_bounds__(128) tnc_prod_complex(tnc_lanes l) {
    for (int64_t o = TNC_FIRST(); o < l.results; o += TNC_STEP()) {
        const int64_t outer = o / l.p.width, c = o % l.p.width,
                      at = tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_out, outer) + c * l.p.width_out;
        const char *x = l.p.x + tnc_offset(l.p.nkeep, l.p.keep, l.p.keep_step, outer) + c * l.bytes;
        tnc_c128 a = {1, 0};
        for (int64_t i = 0; i < l.p.n; i++) {
            const char *from = x + tnc_offset(l.p.nred, l.p.red, l.p.red_step, i);
            const tnc_c128 v = tnc_move<TNC_C128>::load(from, (int)l.p.dtype, TN_C128);
            const double re = fma(a.re, v.re, -(a.im * v.im)), im = fma(a.re, v.im, a.im * v.re);
            a.re = re;
            a.im = im;
        }
        if (l.out_dtype[0] == TN_F32)
            tnc_move<TNC_C128>::store(l.out[0] + at * 8, TN_C64, TN_C128, a);
        else
            tnc_move<TNC_C128>::store(l.out[0] + at * 16, TN_C128, TN_C128, a);
    }
}
static bool reduction_is_complex(const tn_tensor *t) {
    const int dtype = (int)tn_dtype_of(t);
    return dtype == TN_C64 || dtype == TN_C128;
}
static void reduction_prod_complex(tn_frame *f, const bool *gone) {
    tnc_lanes l;
    tnc_lanes_of(&l, f, f->in[0], gone, TN_I64, TN_REDUCE_ORDERED | TN_REDUCE_NONZERO);
    if (l.results)
        TNC_LAUNCH_PLAIN((tnc_prod_complex), tnc_blocks(l.results, 128), 128, tnc_stream(f), l);
}

enum { REDUCTION_OF_RESULT, REDUCTION_OF_SELF, REDUCTION_PLACES, REDUCTION_TRUTH };
static void reduction_plan(tnc_lanes *l, const tn_frame *f, const bool *gone, int kind) {
    const int out = (int)tn_dtype_of(f->out[0]), self = (int)tn_dtype_of(f->in[0]);
    const tn_dtype compute = kind == REDUCTION_TRUTH
                                 ? TN_I64
                                 : tnc_reduce_compute(kind == REDUCTION_OF_RESULT ? out : self);
    int how = kind == REDUCTION_PLACES  ? TN_REDUCE_ORDERED
              : kind == REDUCTION_TRUTH ? TN_REDUCE_NONZERO
                                        : TN_REDUCE_PLAIN;
    if (kind == REDUCTION_OF_RESULT && out == TN_BOOL) how = TN_REDUCE_NONZERO;
    tnc_lanes_of(l, f, f->in[0], gone, compute, how);
    l->divide = (double)l->p.n;
}
static bool reduction_prepare(tn_frame *f, const bool *gone, int kind) {
    tnc_lanes l;
    reduction_plan(&l, f, gone, kind);
    return tnc_lanes_scratch(f, &l,
                             kind == REDUCTION_OF_RESULT || kind == REDUCTION_TRUTH ? 8 : 16);
}
template <template <class> class R>
static void reduction_run(tn_frame *f, const bool *gone, int kind) {
    tnc_lanes l;
    cudaStream_t s = tnc_stream(f);
    reduction_plan(&l, f, gone, kind);
    l.parts = (char *)f->scratch;
    switch (l.p.compute) {
    case TN_F32: tnc_reduce(s, l, R<float>()); break;
    case TN_F64: tnc_reduce(s, l, R<double>()); break;
    default: tnc_reduce(s, l, R<int64_t>());
    }
}
template <template <class> class R>
static void reduction_truth(tn_frame *f, const bool *gone) {
    tnc_lanes l;
    reduction_plan(&l, f, gone, REDUCTION_TRUTH);
    l.parts = (char *)f->scratch;
    tnc_reduce(tnc_stream(f), l, R<int64_t>());
}
static void gone_truth(const tn_frame *f, tn_ints dim, bool *gone) {
    tnc_gone_list(f, dim, gone);
    if (dim.at && dim.n == 0) memset(gone, 0, TN_MAX_DIMS * sizeof *gone);
}

#define REDUCTION_AS(row, kind, args, gone_of, run) \
    static bool row##_prepare(tn_frame *f) {        \
        bool gone[TN_MAX_DIMS];                     \
        args;                                       \
        gone_of;                                    \
        return reduction_prepare(f, gone, kind);    \
    }                                               \
    static void row##_run(tn_frame *f) {            \
        bool gone[TN_MAX_DIMS];                     \
        args;                                       \
        gone_of;                                    \
        run;                                        \
    }
#define REDUCTION(row, reducer, kind, gone_of) \
    REDUCTION_AS(row, kind, TN_ARGS(row, a, f), gone_of, reduction_run<reducer>(f, gone, kind))
#define REDUCTION_LOGIC(row, reducer, gone_of)                      \
    REDUCTION_AS(row, REDUCTION_TRUTH, TN_ARGS(row, a, f), gone_of, \
                 reduction_truth<reducer>(f, gone))
#define REDUCTION_WHOLE(row, kind, run) \
    REDUCTION_AS(row, kind, , tnc_gone_one(f, TN_NONE, gone), run)
REDUCTION(sum, tnc_sum, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION(mean, tnc_mean, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION_AS(prod, REDUCTION_OF_RESULT, TN_ARGS(prod, a, f), tnc_gone_one(f, a->dim, gone),
             if (reduction_is_complex(f->in[0])) reduction_prod_complex(f, gone);
             else reduction_run<tnc_prod>(f, gone, REDUCTION_OF_RESULT))
REDUCTION(amax, tnc_max, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION(amin, tnc_min, REDUCTION_OF_RESULT, tnc_gone_list(f, a->dim, gone))
REDUCTION_WHOLE(max, REDUCTION_OF_RESULT, reduction_run<tnc_max>(f, gone, REDUCTION_OF_RESULT))
REDUCTION_WHOLE(min, REDUCTION_OF_RESULT, reduction_run<tnc_min>(f, gone, REDUCTION_OF_RESULT))
REDUCTION(aminmax, tnc_aminmax, REDUCTION_OF_SELF, tnc_gone_one(f, a->dim, gone))
REDUCTION(argmax, tnc_argmax, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(argmin, tnc_argmin, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(max_dim, tnc_max_dim, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION(min_dim, tnc_min_dim, REDUCTION_PLACES, tnc_gone_one(f, a->dim, gone))
REDUCTION_WHOLE(any, REDUCTION_TRUTH, reduction_truth<tnc_any>(f, gone))
REDUCTION_WHOLE(all, REDUCTION_TRUTH, reduction_truth<tnc_all>(f, gone))
REDUCTION_LOGIC(any_dims, tnc_any, gone_truth(f, a->dim, gone))
REDUCTION_LOGIC(all_dims, tnc_all, gone_truth(f, a->dim, gone))
REDUCTION_LOGIC(count_nonzero, tnc_sum, tnc_gone_list(f, a->dim, gone))
#undef REDUCTION
#undef REDUCTION_LOGIC
#undef REDUCTION_WHOLE
#undef REDUCTION_AS

#define REDUCTION_ROW(row) \
    { #row, false, NULL, row##_prepare, row##_run }
static const tn_device_row reduction_table[] = {
    REDUCTION_ROW(sum),      REDUCTION_ROW(mean),          REDUCTION_ROW(prod),
    REDUCTION_ROW(amax),     REDUCTION_ROW(amin),          REDUCTION_ROW(max),
    REDUCTION_ROW(min),      REDUCTION_ROW(aminmax),       REDUCTION_ROW(argmax),
    REDUCTION_ROW(argmin),   REDUCTION_ROW(max_dim),       REDUCTION_ROW(min_dim),
    REDUCTION_ROW(any),      REDUCTION_ROW(all),           REDUCTION_ROW(any_dims),
    REDUCTION_ROW(all_dims), REDUCTION_ROW(count_nonzero),
};
#undef REDUCTION_ROW
TNC_FAMILY(reductions, reduction_table)

/* src/cuda/statistics.cu - variances, deviations and norms, in the CPU's order (ops/reduction/statistics.c) */

/* src/cuda/variance.cuh - mean and sum of squared deviations of blocks, and how blocks join, by the formulas of the CPU (ops/reduction/statistics.c) */

struct tnc_moments {
    double mean, m2;
};
TNC_FN tnc_moments tnc_moments_of(double mean, double one, double two, double n) {
    tnc_moments p;
    p.mean = mean + one / n;
    p.m2 = fma(-one, one / n, two);
    if (p.m2 < 0) p.m2 = 0;
    return p;
}
TNC_FN tnc_moments tnc_moments_join(tnc_moments a, double na, tnc_moments b, double nb) {
    const double d = b.mean - a.mean, n = na + nb;
    if (nb <= 0) return a;
    a.m2 = fma(d * d, na * (nb / n), a.m2 + b.m2);
    a.mean = fma(d, nb / n, a.mean);
    return a;
}

struct tnc_lanes;
TNC_PRIV void tnc_variance_parts(cudaStream_t s, const tnc_lanes &l);

enum { STATISTICS_VARIANCE, STATISTICS_DEVIATION, STATISTICS_PARTS };

struct tnc_variance : tnc_joined<tnc_moments> {
    double correction;
    int way;
    bool mean;
    template <class R>
    TNC_FN tnc_moments join(const R &, tnc_moments a, tnc_moments b, int64_t na, int64_t nb) {
        return tnc_moments_join(a, (double)na, b, (double)nb);
    }
    __device__ __forceinline__ double end(double squares, int64_t n) const {
        const double left = (double)n - correction;
        const double v = n ? squares / (left > 0 ? left : 0) : (double)NAN;
        return way == STATISTICS_DEVIATION ? sqrt(v) : v;
    }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, tnc_moments a) {
        if (r.way == STATISTICS_PARTS) {
            ((tnc_moments *)l.out[0])[at] = a;
            return;
        }
        tnc_give_number(l, 0, at, r.end(a.m2, l.p.n));
        if (r.mean) tnc_give_number(l, 1, at, l.p.n ? a.mean : (double)NAN);
    }
};

template <class A>
struct tnc_two {
    A one, two;
};
TNC_FN float tnc_deviation_square(float d, float to) { return fmaf(d, d, to); }
TNC_FN double tnc_deviation_square(double d, double to) { return fma(d, d, to); }
template <class A>
struct tnc_deviations {
    typedef A element;
    typedef tnc_two<A> part;
    A centre;
    TNC_FN part first() { return {0, 0}; }
    __device__ __forceinline__ part step(part a, A v, int64_t) const {
        const A d = v - centre;
        return {a.one + d, tnc_deviation_square(d, a.two)};
    }
    TNC_FN part meet(part a, part b) { return {a.one + b.one, a.two + b.two}; }
    TNC_FN part from(part a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.one, lanes),
                __shfl_down_sync(0xffffffffu, a.two, lanes)};
    }
};

template <class A>
__global__ void __launch_bounds__(128) tnc_variance_rows(tnc_lanes l, tnc_variance r) {
    enum { EACH = 16 / sizeof(A) };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER();
        const tnc_team_job j = tnc_team_job_of(l, job, job < all);
        tnc_deviations<A> deviations;
        A sum[EACH];
        tnc_two<A> a[EACH];
        tnc_block_lanes(tnc_sum<A>(), l, j.x, j.begin, j.n, t, sum);
        sum[0] = __shfl_sync(0xffffffffu, tnc_team_fold(tnc_sum<A>(), sum), 0, TNC_TEAM);
        deviations.centre = j.n ? (A)(sum[0] / (A)j.n) : (A)0;
        tnc_block_lanes(deviations, l, j.x, j.begin, j.n, t, a);
        a[0] = tnc_team_fold(deviations, a);
        if (job < all && !t)
            tnc_block_done(r, l, j.o, j.b,
                           tnc_moments_of((double)deviations.centre, (double)a[0].one,
                                          (double)a[0].two, j.n ? (double)j.n : 1.0));
    }
}
template <class A>
__global__ void __launch_bounds__(128) tnc_variance_columns(tnc_lanes l, tnc_variance r) {
    const int64_t all = l.results * l.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const tnc_column_job j = tnc_column_job_of(l, job);
        const A sum = tnc_column(tnc_sum<A>(), l, j);
        tnc_deviations<A> deviations;
        tnc_two<A> a;
        deviations.centre = j.n ? (A)(sum / (A)j.n) : (A)0;
        a = tnc_column(deviations, l, j);
        tnc_block_done(r, l, j.result, j.b,
                       tnc_moments_of((double)deviations.centre, (double)a.one, (double)a.two,
                                      j.n ? (double)j.n : 1.0));
    }
}
__global__ void __launch_bounds__(128)
    tnc_variance_pairs(tnc_lanes l, tnc_variance r, const tnc_moments *pairs) {
    for (int64_t i = TNC_FIRST(); i < l.results / 2; i += TNC_STEP()) {
        const tnc_moments re = pairs[2 * i], im = pairs[2 * i + 1];
        tnc_give_number(l, 0, i, r.end(re.m2 + im.m2, l.p.n));
        if (!r.mean) continue;
        tnc_give_number(l, 1, 2 * i, l.p.n ? re.mean : (double)NAN);
        tnc_give_number(l, 1, 2 * i + 1, l.p.n ? im.mean : (double)NAN);
    }
}

static void variance_plan(tnc_lanes *l, const tn_frame *f, tn_ints dim) {
    bool gone[TN_MAX_DIMS];
    tnc_gone_list(f, dim, gone);
    tnc_lanes_of(l, f, f->in[0], gone, tnc_reduce_compute((int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_PLAIN);
}
static int64_t variance_pairs_bytes(const tnc_lanes *l, const tn_frame *f) {
    const int dtype = (int)tn_dtype_of(f->in[0]);
    if (dtype != TN_C64 && dtype != TN_C128) return 0;
    return l->results * (int64_t)sizeof(tnc_moments);
}
static bool variance_prepare(tn_frame *f, tn_ints dim) {
    tnc_lanes l;
    int64_t parts, bytes;
    variance_plan(&l, f, dim);
    if (!tnc_lanes_bytes(&l, (int64_t)sizeof(tnc_moments), &parts) ||
        __builtin_add_overflow(parts, variance_pairs_bytes(&l, f), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <class A>
static void variance_launch(cudaStream_t s, const tnc_lanes &l, const tnc_variance &r) {
    const int64_t jobs = l.results * l.blocks;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_variance_columns<A>), tnc_blocks(jobs, 128), 128, s, l, r);
    else
        TNC_LAUNCH((tnc_variance_rows<A>), tnc_blocks(jobs, 128 / TNC_TEAM), 128, s, l, r);
    tnc_reduce_trees(s, l, r);
}
TNC_PRIV void tnc_variance_parts(cudaStream_t s, const tnc_lanes &l) {
    tnc_variance r;
    r.correction = 0;
    r.mean = false;
    r.way = STATISTICS_PARTS;
    if (l.p.compute == TN_F32)
        variance_launch<float>(s, l, r);
    else
        variance_launch<double>(s, l, r);
}
static void variance_run(tn_frame *f, tn_ints dim, tn_scalar correction, int way, bool mean) {
    tnc_lanes l, parts;
    tnc_variance r;
    cudaStream_t s = tnc_stream(f);
    variance_plan(&l, f, dim);
    const int64_t pairs = variance_pairs_bytes(&l, f);
    if (!l.results) return;
    r.correction = correction.kind == TN_KIND_NONE    ? 1
                   : correction.kind == TN_KIND_FLOAT ? correction.real
                                                      : (double)correction.integer;
    r.mean = mean;
    r.way = pairs ? (int)STATISTICS_PARTS : way;
    parts = l;
    parts.parts = (char *)f->scratch + pairs;
    if (pairs) parts.out[0] = (char *)f->scratch;
    if (l.p.compute == TN_F32)
        variance_launch<float>(s, parts, r);
    else
        variance_launch<double>(s, parts, r);
    r.way = way;
    if (pairs)
        TNC_LAUNCH_PLAIN((tnc_variance_pairs), tnc_blocks(l.results / 2, 128), 128, s, l, r,
                         (const tnc_moments *)f->scratch);
}

#define STATISTICS(row, way, mean)                              \
    static bool row##_prepare(tn_frame *f) {                    \
        TN_ARGS(row, a, f);                                     \
        return variance_prepare(f, a->dim);                     \
    }                                                           \
    static void row##_run(tn_frame *f) {                        \
        TN_ARGS(row, a, f);                                     \
        variance_run(f, a->dim, a->correction, (int)way, mean); \
    }
STATISTICS(var, STATISTICS_VARIANCE, false)
STATISTICS(std, STATISTICS_DEVIATION, false)
STATISTICS(var_mean, STATISTICS_VARIANCE, true)
#undef STATISTICS

TNC_FN float tnc_power(float x, float p) { return tni_pow_f32_cuda(fabsf(x), p); }
TNC_FN double tnc_power(double x, double p) { return tni_pow_f64_cuda(fabs(x), p); }
TNC_FN float tnc_root(float x) { return sqrtf(x); }
TNC_FN double tnc_root(double x) { return sqrt(x); }

enum { STATISTICS_SQUARE, STATISTICS_ABS, STATISTICS_NONZERO, STATISTICS_POWER };
template <class A, int map>
struct tnc_norm_of : tnc_sum<A> {
    A p, root;
    int rounded;
    __device__ __forceinline__ A mapped(A v) const {
        return map == STATISTICS_SQUARE    ? v * v
               : map == STATISTICS_ABS     ? (v <= 0 ? 0 - v : v)
               : map == STATISTICS_NONZERO ? (A)(v != 0)
                                           : tnc_power(v, p);
    }
    __device__ __forceinline__ A step(A a, A v, int64_t) const { return a + mapped(v); }
    __device__ __forceinline__ A end(A a, const tnc_lanes &) const {
        if (map == STATISTICS_SQUARE) a = tnc_root(a);
        if (map == STATISTICS_POWER) a = tnc_power(a, root);
        return tnc_through(a, rounded);
    }
};
template <class A, bool least>
struct tnc_norm_extreme : tnc_max<A> {
    int rounded;
    TNC_FN A first() { return least ? tnc_bounds<A>::high() : tnc_bounds<A>::low(); }
    TNC_FN A meet(A a, A b) { return least ? tnc_smaller(a, b) : tnc_larger(a, b); }
    TNC_FN A step(A a, A v, int64_t) { return meet(a, v <= 0 ? 0 - v : v); }
    __device__ __forceinline__ A end(A a, const tnc_lanes &) const {
        return tnc_through(a, rounded);
    }
};

template <class A, int map>
static void norm_sum(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    tnc_norm_of<A, map> r;
    r.p = (A)p;
    r.root = (A)(1 / p);
    r.rounded = rounded;
    tnc_reduce(s, l, r);
}
template <class A, bool least>
static void norm_extreme(cudaStream_t s, const tnc_lanes &l, int rounded) {
    tnc_norm_extreme<A, least> r;
    r.rounded = rounded;
    tnc_reduce(s, l, r);
}
template <class A>
static void norm_order(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    if (p == HUGE_VAL)
        norm_extreme<A, false>(s, l, rounded);
    else if (p == -HUGE_VAL)
        norm_extreme<A, true>(s, l, rounded);
    else if (p == 0)
        norm_sum<A, STATISTICS_NONZERO>(s, l, 1, rounded);
    else if (p == 1)
        norm_sum<A, STATISTICS_ABS>(s, l, p, rounded);
    else if (p == 2)
        norm_sum<A, STATISTICS_SQUARE>(s, l, p, rounded);
    else
        norm_sum<A, STATISTICS_POWER>(s, l, p, rounded);
}
static void norm_of(cudaStream_t s, const tnc_lanes &l, double p, int rounded) {
    if (l.p.compute == TN_F32)
        norm_order<float>(s, l, p, rounded);
    else
        norm_order<double>(s, l, p, rounded);
}

static void vector_norm_plan(tnc_lanes *l, const tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    bool gone[TN_MAX_DIMS];
    tnc_gone_list(f, a->dim, gone);
    tnc_lanes_of(l, f, f->in[0], gone,
                 tnc_reduce_compute(a->dtype ? (int)a->dtype : (int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_MAGNITUDE);
}
static bool linalg_vector_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    vector_norm_plan(&l, f);
    return tnc_lanes_scratch(f, &l, 8);
}
static void linalg_vector_norm_run(tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    tnc_lanes l;
    vector_norm_plan(&l, f);
    l.parts = (char *)f->scratch;
    norm_of(tnc_stream(f), l, a->ord, l.out_dtype[0]);
}

static int total_norm_plan(tnc_lanes *l, const tn_frame *f, int i) {
    const int dtype = (int)tn_dtype_of(f->in[i]);
    bool gone[TN_MAX_DIMS];
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = true;
    tnc_lanes_of(l, f, f->in[i], gone, tnc_reduce_compute(dtype), TN_REDUCE_MAGNITUDE);
    l->out[0] = (char *)f->scratch + i * tnc_dtype_bytes(l->out_dtype[0]);
    return dtype == TN_C64 ? (int)TN_F32 : dtype == TN_C128 ? (int)TN_F64 : dtype;
}
static void total_norm_whole(tnc_lanes *l, const tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    memset(l, 0, sizeof *l);
    l->p.x = (const char *)f->scratch;
    l->p.n = f->nin;
    l->p.outer = l->p.width = l->p.width_out = 1;
    l->p.nred = 1;
    l->p.red[0] = f->nin;
    l->p.red_step[0] = out.bytes;
    l->p.dtype = (tn_dtype)out.dtype;
    l->p.compute = tnc_reduce_compute(out.dtype);
    tnc_lanes_layout(l);
    l->out[0] = out.at;
    l->out_dtype[0] = out.dtype;
}
static int64_t total_norm_vector(const tn_frame *f) { return ((int64_t)f->nin * 8 + 63) / 64 * 64; }
static bool total_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    int64_t most = 0, bytes;
    for (int i = 0; i <= f->nin; i++) {
        if (i < f->nin)
            total_norm_plan(&l, f, i);
        else
            total_norm_whole(&l, f);
        if (!tnc_lanes_bytes(&l, 8, &bytes))
            return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
        if (bytes > most) most = bytes;
    }
    return tn_device_scratch(f, total_norm_vector(f) + most) != NULL;
}
static void total_norm_run(tn_frame *f) {
    TN_ARGS(total_norm, a, f);
    char *parts = (char *)f->scratch + total_norm_vector(f);
    tnc_lanes l;
    for (int i = 0; i < f->nin; i++) {
        const int rounded = total_norm_plan(&l, f, i);
        l.parts = parts;
        norm_of(tnc_stream(f), l, a->norm_type, rounded);
    }
    total_norm_whole(&l, f);
    l.parts = parts;
    norm_of(tnc_stream(f), l, a->norm_type, l.out_dtype[0]);
}

static const tn_device_row statistics_table[] = {
    {"var", false, NULL, var_prepare, var_run},
    {"std", false, NULL, std_prepare, std_run},
    {"var_mean", false, NULL, var_mean_prepare, var_mean_run},
    {"linalg_vector_norm", false, NULL, linalg_vector_norm_prepare, linalg_vector_norm_run},
    {"total_norm", false, NULL, total_norm_prepare, total_norm_run}};
TNC_FAMILY(statistics, statistics_table)

/* src/cuda/closeness.cu - whether elements are equal or close: an answer for each pair (isclose), or one for all (equal, allclose; ops/elementwise/closeness.c) */

struct tnc_closeness {
    double rtol, atol;
    int dtype;
    bool close, equal_nan;
};

#define TNI_LENGTH TNC_FN double tnc_length

/* src/base/length.inl - the magnitude of x + iy for the CPU and for CUDA */
TNI_LENGTH(double x, double y) {
    double most = fmax(fabs(x), fabs(y));
    int power;
    if (most - most != 0 || most == 0) return fabs(x) + fabs(y);
    frexp(most, &power);
    x = ldexp(x, -power);
    y = ldexp(y, -power);
    return ldexp(sqrt(fma(x, x, y * y)), power);
}
#undef TNI_LENGTH

TNC_FN bool tnc_close_complex(const tnc_closeness &c, tnc_c128 x, tnc_c128 y) {
    double apart, size;
    if (x.re == y.re && x.im == y.im) return true;
    if (!c.close) return false;
    if (c.equal_nan && (x.re != x.re || x.im != x.im) && (y.re != y.re || y.im != y.im))
        return true;
    apart = tnc_length(x.re - y.re, x.im - y.im);
    size = tnc_length(y.re, y.im);
    return apart - apart == 0 && apart <= c.atol + fma(fabs(c.rtol), size, 0.0);
}
TNC_FN bool tnc_close_float(const tnc_closeness &c, double x, double y) {
    double apart;
    if (x == y) return true;
    if (!c.close) return false;
    if (c.equal_nan && x != x && y != y) return true;
    apart = fabs(x - y);
    return apart - apart == 0 && apart <= c.atol + fma(fabs(c.rtol), fabs(y), 0.0);
}
TNC_FN bool tnc_close_integer(const tnc_closeness &c, int64_t x, int64_t y) {
    if (x == y) return true;
    if (!c.close) return false;
    if (c.dtype == TN_BOOL) return c.atol + fabs(fma(c.rtol, (double)y, 0.0)) >= 1;
    return fabs((double)x - (double)y) <= c.atol + fma(fabs(c.rtol), fabs((double)y), 0.0);
}
TNC_FN bool tnc_close(const tnc_closeness &c, const char *x, const char *y) {
    switch (c.dtype) {
    case TN_C64:
    case TN_C128:
        return tnc_close_complex(c, tnc_move<TNC_C128>::load(x, c.dtype, TN_C128),
                                 tnc_move<TNC_C128>::load(y, c.dtype, TN_C128));
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64:
        return tnc_close_float(c, tnc_load_real<double>(x, c.dtype),
                               tnc_load_real<double>(y, c.dtype));
    default:
        return tnc_close_integer(c, tnc_load_real<int64_t>(x, c.dtype),
                                 tnc_load_real<int64_t>(y, c.dtype));
    }
}

__global__ void __launch_bounds__(TNC_THREADS) tnc_closeness_each(tnc_walk<3> w, tnc_closeness c) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        tnc_walk_to(w, (uint32_t)i, at);
        tnc_put<uint8_t>(w.at[0] + at[0], tnc_close(c, w.at[1] + at[1], w.at[2] + at[2]));
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_closeness_all(tnc_walk<2> w, tnc_closeness c, uint8_t *answer) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        if (!tnc_close(c, w.at[0] + at[0], w.at[1] + at[1])) *answer = 0;
    }
}
__global__ void tnc_closeness_answer(uint8_t *answer, uint8_t v) { *answer = v; }

static void closeness_plan(tn_walk_plan *p, const tn_frame *f) {
    const tn_operand in[2] = {tn_operand_of(f->in[0]), tn_operand_of(f->in[1])};
    const int ndim = in[0].ndim > in[1].ndim ? in[0].ndim : in[1].ndim;
    memset(p, 0, sizeof *p);
    p->n = 2;
    p->ndim = ndim ? ndim : 1;
    p->numel = p->size[0] = 1;
    for (int k = 0; k < 2; k++) p->at[k] = in[k].at;
    for (int d = 0; d < ndim; d++) {
        p->size[d] = 1;
        for (int k = 0; k < 2; k++) {
            const int e = in[k].ndim - 1 - d;
            if (e < 0 || in[k].size[e] == 1) continue;
            p->size[d] = in[k].size[e];
            p->stride[k][d] = in[k].stride[e] * in[k].bytes;
        }
        p->numel *= p->size[d];
    }
}

static void closeness_all(tn_frame *f, const tnc_closeness &c, bool shaped) {
    cudaStream_t s = tnc_stream(f);
    uint8_t *answer = (uint8_t *)tn_operand_of(f->out[0]).at;
    tn_walk_plan p;
    TNC_LAUNCH_PLAIN((tnc_closeness_answer), 1, 1, s, answer, (uint8_t)shaped);
    if (!shaped) return;
    closeness_plan(&p, f);
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        TNC_LAUNCH_PLAIN((tnc_closeness_all), tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w, c,
                         answer);
    });
}
static tnc_closeness closeness_of(const tn_frame *f, double rtol, double atol, bool equal_nan) {
    tnc_closeness c = {rtol, atol, (int)tn_dtype_of(f->in[0]), true, equal_nan};
    return c;
}

static void equal_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), y = tn_operand_of(f->in[1]);
    tnc_closeness c = closeness_of(f, 0, 0, false);
    bool same = x.ndim == y.ndim;
    c.close = false;
    for (int d = 0; same && d < x.ndim; d++) same = x.size[d] == y.size[d];
    closeness_all(f, c, same);
}
static void allclose_run(tn_frame *f) {
    TN_ARGS(allclose, a, f);
    closeness_all(f, closeness_of(f, a->rtol, a->atol, a->equal_nan), true);
}
static void isclose_run(tn_frame *f) {
    TN_ARGS(isclose, a, f);
    tn_tensor *t[3] = {f->out[0], f->in[0], f->in[1]};
    const tnc_closeness c = closeness_of(f, a->rtol, a->atol, a->equal_nan);
    cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    tn_walk_plan_of(&p, t, 3);
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        TNC_LAUNCH_PLAIN((tnc_closeness_each), tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w, c);
    });
}

static const tn_device_row closeness_table[] = {{"equal", false, NULL, NULL, equal_run},
                                                {"allclose", false, NULL, NULL, allclose_run},
                                                {"isclose", false, NULL, NULL, isclose_run}};
TNC_FAMILY(closeness, closeness_table)

/* src/cuda/rowwise.cu - softmax and log-softmax with their gradients, in the CPU's order (ops/reduction/softmax.c) */

/* src/cuda/lines.cuh - the lines of tensors of one shape: their elements along some dimensions, a line for each place in the others */

enum { TNC_LINE_TENSORS = 4, TNC_WARP = 32 };

#ifdef TNC_EMULATED
#define TNC_UNROLL
#else
#define TNC_UNROLL _Pragma("unroll")
#endif

struct tnc_lines {
    char *at[TNC_LINE_TENSORS];
    uint8_t dtype[TNC_LINE_TENSORS];
    int64_t lines, n;
    int32_t nouter, nin;
    int64_t outer[TN_MAX_DIMS], outer_step[TNC_LINE_TENSORS][TN_MAX_DIMS];
    int64_t in[TN_MAX_DIMS], in_step[TNC_LINE_TENSORS][TN_MAX_DIMS];
};

TNC_PRIV void tnc_lines_of(tnc_lines *l, tn_tensor *const *t, int n, const bool *along);
static inline bool tnc_lines_dense(const tnc_lines &l, int k) {
    return l.nin == 0 || (l.nin == 1 && l.in_step[k][0] == tnc_dtype_bytes(l.dtype[k]));
}

TNC_FN char *tnc_line_at(const tnc_lines &l, int k, int64_t line) {
    return l.at[k] ? l.at[k] + tnc_offset(l.nouter, l.outer, l.outer_step[k], line) : NULL;
}

enum tnc_line_kind { TNC_LINE_OWN, TNC_LINE_F16, TNC_LINE_BF16, TNC_LINE_ANY };
template <class A, int kind>
struct tnc_line_cell {
    TNC_FN char *at(const tnc_lines &l, int k, char *line, int64_t i) {
        return line + tnc_offset(l.nin, l.in, l.in_step[k], i);
    }
    TNC_FN A get(const char *at, int dtype) { return tnc_load_real<A>(at, dtype); }
    TNC_FN void put(char *at, int dtype, A v) { tnc_store_real(at, dtype, v); }
};
template <class A>
struct tnc_line_cell<A, TNC_LINE_OWN> {
    TNC_FN char *at(const tnc_lines &, int, char *line, int64_t i) {
        return line + i * (int64_t)sizeof(A);
    }
    TNC_FN A get(const char *at, int) { return tnc_get<A>(at); }
    TNC_FN void put(char *at, int, A v) { tnc_put<A>(at, v); }
};
template <class A>
struct tnc_line_cell<A, TNC_LINE_F16> {
    TNC_FN char *at(const tnc_lines &, int, char *line, int64_t i) { return line + i * 2; }
    TNC_FN A get(const char *at, int) { return (A)tnc_from_f16(tnc_get<uint16_t>(at)); }
    TNC_FN void put(char *at, int, A v) { tnc_put<uint16_t>(at, tnc_to_f16((float)v)); }
};
template <class A>
struct tnc_line_cell<A, TNC_LINE_BF16> {
    TNC_FN char *at(const tnc_lines &, int, char *line, int64_t i) { return line + i * 2; }
    TNC_FN A get(const char *at, int) { return (A)tnc_from_bf16(tnc_get<uint16_t>(at)); }
    TNC_FN void put(char *at, int, A v) { tnc_put<uint16_t>(at, tnc_to_bf16((float)v)); }
};
static inline int tnc_line_kind_of(const tnc_lines &l, int n, tn_dtype compute, bool dense) {
    const int dtype = l.dtype[0];
    for (int k = 0; k < n; k++)
        if (l.dtype[k] != dtype || (dense && !tnc_lines_dense(l, k))) return TNC_LINE_ANY;
    if (dtype == (int)compute) return TNC_LINE_OWN;
    if (compute != TN_F32) return TNC_LINE_ANY;
    return dtype == TN_F16 ? TNC_LINE_F16 : dtype == TN_BF16 ? TNC_LINE_BF16 : TNC_LINE_ANY;
}

template <class A>
struct tnc_line_lanes {
    enum { lanes = 256 / sizeof(A), each = lanes / TNC_WARP };
};
TNC_FN float tnc_fused(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_fused(double a, double b, double c) { return fma(a, b, c); }
template <class A>
TNC_FN A tnc_line_fold(const A *a) {
    A v = a[0];
    if (tnc_line_lanes<A>::each == 2) v = v + a[tnc_line_lanes<A>::each - 1];
    for (int h = TNC_WARP / 2; h; h /= 2) v = v + __shfl_down_sync(0xffffffffu, v, h);
    return v;
}
template <class A>
struct tnc_line_tree {
    A part[44];
    int depth;
    int64_t count;
    __device__ __forceinline__ void begin() { depth = 0, count = 0; }
    __device__ __forceinline__ void join() {
        depth--;
        part[depth - 1] = part[depth - 1] + part[depth];
    }
    __device__ __forceinline__ void push(A v) {
        part[depth++] = v;
        for (int64_t c = count++; c & 1; c >>= 1) join();
    }
    __device__ __forceinline__ A end() {
        while (depth > 1) join();
        return depth ? part[0] : (A)0;
    }
};

enum { ROWWISE_WARPS = 4, ROWWISE_SHORT = 256, ROWWISE_LONG = 1024, ROWWISE_BLOCK = 256 };

static void lines_dim(int32_t *n, int64_t *sizes, int64_t (*steps)[TN_MAX_DIMS], int tensors,
                      int64_t size, const int64_t *step) {
    bool merge = *n > 0;
    if (size == 1) return;
    for (int k = 0; k < tensors; k++) merge = merge && steps[k][*n - 1] == step[k] * size;
    if (merge)
        sizes[*n - 1] *= size;
    else
        sizes[(*n)++] = size;
    for (int k = 0; k < tensors; k++) steps[k][*n - 1] = step[k];
}

TNC_PRIV void tnc_lines_of(tnc_lines *l, tn_tensor *const *t, int n, const bool *along) {
    const int ndim = (int)tn_ndim(t[0]);
    tn_operand o[TNC_LINE_TENSORS];
    memset(l, 0, sizeof *l);
    l->lines = l->n = 1;
    for (int k = 0; k < n; k++) {
        o[k] = tn_operand_of(t[k]);
        l->at[k] = o[k].at;
        l->dtype[k] = o[k].dtype;
    }
    for (int d = 0; d < ndim; d++) {
        const int64_t size = o[0].size[d];
        int64_t step[TNC_LINE_TENSORS] = {0};
        for (int k = 0; k < n; k++) {
            const int e = d - (ndim - o[k].ndim);
            if (t[k] && e >= 0 && o[k].size[e] != 1) step[k] = o[k].stride[e] * o[k].bytes;
        }
        *(along[d] ? &l->n : &l->lines) *= size;
        if (along[d])
            lines_dim(&l->nin, l->in, l->in_step, n, size, step);
        else
            lines_dim(&l->nouter, l->outer, l->outer_step, n, size, step);
    }
}

TNC_FN float tnc_row_exp(float x) { return tni_exp_f32_cuda(x); }
TNC_FN double tnc_row_exp(double x) { return tni_exp_f64_cuda(x); }
TNC_FN float tnc_row_log(float x) { return tni_log_f32_cuda(x); }
TNC_FN double tnc_row_log(double x) { return tni_log_f64_cuda(x); }

template <class A>
struct tnc_softmax {
    enum { most = 1, two = 0, pair = 0 };
    TNC_FN A kept(A x, A m) { return tnc_row_exp(x - m); }
    TNC_FN A term(A k, A, A) { return k; }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return 1 / sum; }
    TNC_FN A map(A k, A, A, A scale) { return k * scale; }
};
template <class A>
struct tnc_log_softmax {
    enum { most = 1, two = 0, pair = 0 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A k, A, A m) { return tnc_row_exp(k - m); }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return tnc_row_log(sum); }
    TNC_FN A map(A k, A, A m, A scale) { return k - m - scale; }
};
template <class A>
struct tnc_softmax_back {
    enum { most = 0, two = 1, pair = 1 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A, A d, A) { return d; }
    TNC_FN A step(A sum, A t, A k) { return fmaf(t, k, sum); }
    TNC_FN A finish(A sum) { return sum; }
    TNC_FN A map(A k, A d, A, A scale) { return k * (d - scale); }
};
template <class A>
struct tnc_log_softmax_back {
    enum { most = 0, two = 1, pair = 0 };
    TNC_FN A kept(A x, A) { return x; }
    TNC_FN A term(A, A d, A) { return d; }
    TNC_FN A step(A sum, A t, A) { return sum + t; }
    TNC_FN A finish(A sum) { return sum; }
    TNC_FN A map(A k, A d, A, A scale) { return fmaf(-tnc_row_exp(k), scale, d); }
};

template <class Op, class A, int kind, int EACH>
__global__ void __launch_bounds__(ROWWISE_WARPS *TNC_WARP) tnc_soft_warp(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    enum { LANES = tnc_line_lanes<A>::each };
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * ROWWISE_WARPS;
    int64_t line = (int64_t)blockIdx.x * ROWWISE_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        A k[EACH], d[Op::two ? EACH : 1], m = -INFINITY, sum[LANES], scale;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            k[j] = i < n ? cell::get(cell::at(l, 1, x, i), l.dtype[1]) : (A)-INFINITY;
            if (Op::two) d[j] = i < n ? cell::get(cell::at(l, 2, dy, i), l.dtype[2]) : (A)0;
            if (Op::most) m = tnc_larger(m, k[j]);
        }
        if (Op::most) {
            for (int h = TNC_WARP / 2; h; h /= 2)
                m = tnc_larger(m, __shfl_down_sync(0xffffffffu, m, h));
            m = __shfl_sync(0xffffffffu, m, 0);
        }
        for (int j = 0; j < LANES; j++) sum[j] = 0;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const A dj = d[Op::two ? j : 0];
            if (j * TNC_WARP + t >= n) break;
            k[j] = Op::kept(k[j], m);
            sum[j % LANES] = Op::step(sum[j % LANES], Op::term(k[j], dj, m), k[j]);
        }
        scale = Op::finish(__shfl_sync(0xffffffffu, tnc_line_fold<A>(sum), 0));
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          Op::map(k[j], d[Op::two ? j : 0], m, scale));
        }
    }
}

template <class A, int kind>
TNC_FN A tnc_soft_largest(const tnc_lines &l, char *x, A *held) {
    typedef tnc_line_cell<A, kind> cell;
    A m = -INFINITY;
    for (int64_t i = threadIdx.x; i < l.n; i += (int)blockDim.x)
        m = tnc_larger(m, cell::get(cell::at(l, 1, x, i), l.dtype[1]));
    for (int h = TNC_WARP / 2; h; h /= 2) m = tnc_larger(m, __shfl_down_sync(0xffffffffu, m, h));
    if (threadIdx.x % TNC_WARP == 0) held[threadIdx.x / TNC_WARP] = m;
    __syncthreads();
    m = held[0];
    for (unsigned w = 1; w < blockDim.x / TNC_WARP; w++) m = tnc_larger(m, held[w]);
    __syncthreads();
    return m;
}

template <class Op, class A, int kind>
__global__ void __launch_bounds__(ROWWISE_BLOCK) tnc_soft_block(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    TNC_SHARED(A, terms, TNC_BLOCK);
    TNC_SHARED(A, keeps, Op::pair ? TNC_BLOCK : 1);
    TNC_SHARED(A, held, ROWWISE_BLOCK / TNC_WARP);
    const int t = (int)threadIdx.x;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        const A m = Op::most ? tnc_soft_largest<A, kind>(l, x, held) : (A)0;
        tnc_line_tree<A> tree;
        A scale;
        tree.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
            const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
            for (int i = t; i < n; i += (int)blockDim.x) {
                const A k = Op::kept(cell::get(cell::at(l, 1, x, b + i), l.dtype[1]), m),
                        d = Op::two ? cell::get(cell::at(l, 2, dy, b + i), l.dtype[2]) : (A)0;
                terms[i] = Op::term(k, d, m);
                if (Op::pair) keeps[i] = k;
            }
            __syncthreads();
            if (t < TNC_WARP) {
                A sum[EACH];
                for (int j = 0; j < EACH; j++) {
                    sum[j] = 0;
                    for (int i = j * TNC_WARP + t; i < n; i += LANES)
                        sum[j] = Op::step(sum[j], terms[i], keeps[Op::pair ? i : 0]);
                }
                sum[0] = tnc_line_fold<A>(sum);
                if (t == 0) tree.push(sum[0]);
            }
            __syncthreads();
        }
        if (t == 0) held[0] = Op::finish(tree.end());
        __syncthreads();
        scale = held[0];
        for (int64_t i = t; i < l.n; i += (int)blockDim.x) {
            const A k = Op::kept(cell::get(cell::at(l, 1, x, i), l.dtype[1]), m),
                    d = Op::two ? cell::get(cell::at(l, 2, dy, i), l.dtype[2]) : (A)0;
            cell::put(cell::at(l, 0, y, i), l.dtype[0], Op::map(k, d, m, scale));
        }
        __syncthreads();
    }
}

template <class Op, class A, int kind>
__global__ void __launch_bounds__(128) tnc_soft_columns(tnc_lines l) {
    typedef tnc_line_cell<A, kind> cell;
    const int64_t yn = l.in_step[0][0], xn = l.in_step[1][0], dn = l.in_step[2][0];
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        char *y = tnc_line_at(l, 0, line), *x = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 2, line);
        tnc_line_tree<A> tree;
        A m = -INFINITY, scale;
        for (int64_t i = 0; Op::most && i < l.n; i++)
            m = tnc_larger(m, cell::get(x + i * xn, l.dtype[1]));
        tree.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK_ROWS) {
            const int64_t end = b + TNC_BLOCK_ROWS < l.n ? b + TNC_BLOCK_ROWS : l.n;
            A sum = 0;
            for (int64_t i = b; i < end; i++) {
                const A k = Op::kept(cell::get(x + i * xn, l.dtype[1]), m),
                        d = Op::two ? cell::get(dy + i * dn, l.dtype[2]) : (A)0;
                sum = Op::step(sum, Op::term(k, d, m), k);
            }
            tree.push(sum);
        }
        scale = Op::finish(tree.end());
        for (int64_t i = 0; i < l.n; i++) {
            const A k = Op::kept(cell::get(x + i * xn, l.dtype[1]), m),
                    d = Op::two ? cell::get(dy + i * dn, l.dtype[2]) : (A)0;
            cell::put(y + i * yn, l.dtype[0], Op::map(k, d, m, scale));
        }
    }
}

template <class Op, class A, int kind>
static void soft_launch(cudaStream_t s, const tnc_lines &l, bool columns) {
    const unsigned warps = tnc_blocks(l.lines, ROWWISE_WARPS), threads = ROWWISE_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (columns)
        TNC_LAUNCH_PLAIN((tnc_soft_columns<Op, A, kind>), tnc_blocks(l.lines, 128), 128, s, l);
    else if (kind != TNC_LINE_ANY && l.n <= ROWWISE_SHORT)
        TNC_LAUNCH((tnc_soft_warp<Op, A, dense, ROWWISE_SHORT / TNC_WARP>), warps, threads, s, l);
    else if (kind != TNC_LINE_ANY && l.n <= ROWWISE_LONG)
        TNC_LAUNCH((tnc_soft_warp<Op, A, dense, ROWWISE_LONG / TNC_WARP>), warps, threads, s, l);
    else
        TNC_LAUNCH((tnc_soft_block<Op, A, kind>), tnc_blocks(l.lines, 1),
                   l.n <= ROWWISE_SHORT ? (unsigned)TNC_WARP : (unsigned)ROWWISE_BLOCK, s, l);
}
template <class Op>
static void soft_launch_f32(cudaStream_t s, const tnc_lines &l, bool columns, int kind) {
    switch (kind) {
    case TNC_LINE_OWN: soft_launch<Op, float, TNC_LINE_OWN>(s, l, columns); break;
    case TNC_LINE_F16: soft_launch<Op, float, TNC_LINE_F16>(s, l, columns); break;
    case TNC_LINE_BF16: soft_launch<Op, float, TNC_LINE_BF16>(s, l, columns); break;
    default: soft_launch<Op, float, TNC_LINE_ANY>(s, l, columns);
    }
}
template <class Op>
static void soft_launch_f64(cudaStream_t s, const tnc_lines &l, bool columns, int kind) {
    if (kind == TNC_LINE_OWN)
        soft_launch<Op, double, TNC_LINE_OWN>(s, l, columns);
    else
        soft_launch<Op, double, TNC_LINE_ANY>(s, l, columns);
}

static bool soft_lines(tnc_lines *l, tn_frame *f, int64_t dim, tn_tensor *x, tn_tensor *dy) {
    tn_tensor *t[3] = {f->out[0], x, dy};
    const int ndim = (int)tn_ndim(x), d = (int)(dim < 0 ? dim + ndim : dim);
    const tn_operand o = tn_operand_of(x);
    bool along[TN_MAX_DIMS] = {false};
    int64_t inner = 1;
    if (ndim) along[d] = true;
    for (int e = d + 1; e < ndim; e++) inner *= o.size[e];
    tnc_lines_of(l, t, dy ? 3 : 2, along);
    return inner != 1;
}
template <template <class> class Op>
static void soft_run(tn_frame *f, int64_t dim) {
    tnc_lines l;
    const bool columns = soft_lines(&l, f, dim, f->in[0], NULL);
    const bool wide = l.dtype[0] == TN_F64;
    const int kind = tnc_line_kind_of(l, 2, wide ? TN_F64 : TN_F32, !columns);
    if (!l.lines || !l.n) return;
    if (wide)
        soft_launch_f64<Op<double>>(tnc_stream(f), l, columns, kind);
    else
        soft_launch_f32<Op<float>>(tnc_stream(f), l, columns, kind);
}
template <class Op>
static void soft_back_run(tn_frame *f, int64_t dim) {
    tnc_lines l;
    const bool columns = soft_lines(&l, f, dim, f->in[1], f->in[0]);
    if (!l.lines || !l.n) return;
    soft_launch_f32<Op>(tnc_stream(f), l, columns, tnc_line_kind_of(l, 3, TN_F32, !columns));
}
static void softmax_run(tn_frame *f) {
    TN_ARGS(softmax, a, f);
    soft_run<tnc_softmax>(f, a->dim);
}
static void log_softmax_run(tn_frame *f) {
    TN_ARGS(log_softmax, a, f);
    soft_run<tnc_log_softmax>(f, a->dim);
}
static void softmax_backward_run(tn_frame *f) {
    TN_ARGS(softmax_backward, a, f);
    soft_back_run<tnc_softmax_back<float>>(f, a->dim);
}
static void log_softmax_backward_run(tn_frame *f) {
    TN_ARGS(log_softmax_backward, a, f);
    soft_back_run<tnc_log_softmax_back<float>>(f, a->dim);
}

static const tn_device_row rowwise_table[] = {
    {"softmax", false, NULL, NULL, softmax_run},
    {"log_softmax", false, NULL, NULL, log_softmax_run},
    {"softmax_backward", false, NULL, NULL, softmax_backward_run},
    {"log_softmax_backward", false, NULL, NULL, log_softmax_backward_run}};
TNC_FAMILY(rowwise, rowwise_table)

/* src/cuda/norms.cu - layer normalisation and its gradients, in the CPU's order (ops/layers/layer_norm.c) */

enum { NORM_WARPS = 4, NORM_SHORT = 256, NORM_LONG = 1024, NORM_THREADS = 256 };

struct tnc_norm {
    tnc_lines l;
    double eps;
    const void *weight, *bias;
    float *rows;
};

template <class A>
TNC_FN A tnc_norm_map(const tnc_norm &a, A x, A mean, A scale, int64_t i) {
    const A v = (x - mean) * scale, *weight = (const A *)a.weight, *bias = (const A *)a.bias;
    if (weight && bias) return tnc_fused(v, weight[i], bias[i]);
    if (weight) return v * weight[i];
    if (bias) return v + bias[i];
    return v;
}
template <class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_norm_numbers(tnc_lines l, int k, A *to) {
    for (int64_t i = TNC_FIRST(); i < l.n; i += TNC_STEP())
        to[i] = tnc_load_real<A>(l.at[k] + tnc_offset(l.nin, l.in, l.in_step[k], i), l.dtype[k]);
}
template <class A>
TNC_FN A tnc_norm_scale(tnc_moments p, double n, double eps) {
    return (A)(1 / sqrt(p.m2 / n + eps));
}

template <class A, int EACH>
TNC_FN tnc_moments tnc_norm_moments_warp(const A *x, int n, int t) {
    enum { LANES = tnc_line_lanes<A>::each };
    A one[LANES], two[LANES], centre, sum, squares;
    for (int j = 0; j < LANES; j++) one[j] = 0;
    TNC_UNROLL
    for (int j = 0; j < EACH; j++)
        if (j * TNC_WARP + t < n) one[j % LANES] = one[j % LANES] + x[j];
    centre = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0) / (A)n;
    for (int j = 0; j < LANES; j++) one[j] = two[j] = 0;
    TNC_UNROLL
    for (int j = 0; j < EACH; j++) {
        const A d = x[j] - centre;
        if (j * TNC_WARP + t >= n) break;
        one[j % LANES] = one[j % LANES] + d;
        two[j % LANES] = tnc_fused(d, d, two[j % LANES]);
    }
    sum = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0);
    squares = __shfl_sync(0xffffffffu, tnc_line_fold<A>(two), 0);
    return tnc_moments_of((double)centre, (double)sum, (double)squares, (double)n);
}

template <class A, int kind, int EACH>
__global__ void __launch_bounds__(NORM_WARPS *TNC_WARP) tnc_norm_warp(tnc_norm a) {
    typedef tnc_line_cell<A, kind> cell;
    const tnc_lines &l = a.l;
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * NORM_WARPS;
    int64_t line = (int64_t)blockIdx.x * NORM_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line);
        A x[EACH], mean, scale;
        tnc_moments p;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            x[j] = i < n ? cell::get(cell::at(l, 1, from, i), l.dtype[1]) : (A)0;
        }
        p = tnc_norm_moments_warp<A, EACH>(x, n, t);
        mean = (A)p.mean;
        scale = tnc_norm_scale<A>(p, (double)n, a.eps);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          tnc_norm_map<A>(a, x[j], mean, scale, i));
        }
    }
}

TNC_FN float tnc_norm_back_map(float x, float g, float mean, float scale, float a, float b) {
    return scale * fmaf(-((x - mean) * scale), b, g - a);
}

template <int kind, int EACH>
__global__ void __launch_bounds__(NORM_WARPS *TNC_WARP) tnc_norm_back_warp(tnc_norm a) {
    typedef tnc_line_cell<float, kind> cell;
    const tnc_lines &l = a.l;
    const int t = (int)(threadIdx.x % TNC_WARP), n = (int)l.n;
    const int64_t warps = (int64_t)gridDim.x * NORM_WARPS;
    int64_t line = (int64_t)blockIdx.x * NORM_WARPS + threadIdx.x / TNC_WARP;
    for (; line < l.lines; line += warps) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 3, line);
        float x[EACH], g[EACH], one[2] = {0, 0}, two[2] = {0, 0}, mean, scale, ma, mb;
        tnc_moments p;
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            x[j] = i < n ? cell::get(cell::at(l, 1, from, i), l.dtype[1]) : 0.0f;
            g[j] = i < n ? cell::get(cell::at(l, 3, dy, i), l.dtype[3]) : 0.0f;
            if (i < n && a.weight) g[j] = g[j] * ((const float *)a.weight)[i];
        }
        p = tnc_norm_moments_warp<float, EACH>(x, n, t);
        mean = (float)p.mean;
        scale = tnc_norm_scale<float>(p, (double)n, a.eps);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            if (j * TNC_WARP + t >= n) break;
            one[j % 2] = one[j % 2] + g[j];
            two[j % 2] = fmaf(g[j], (x[j] - mean) * scale, two[j % 2]);
        }
        ma = (float)((double)__shfl_sync(0xffffffffu, tnc_line_fold<float>(one), 0) / (double)n);
        mb = (float)((double)__shfl_sync(0xffffffffu, tnc_line_fold<float>(two), 0) / (double)n);
        TNC_UNROLL
        for (int j = 0; j < EACH; j++) {
            const int i = j * TNC_WARP + t;
            if (i < n)
                cell::put(cell::at(l, 0, y, i), l.dtype[0],
                          tnc_norm_back_map(x[j], g[j], mean, scale, ma, mb));
        }
        if (t == 0) a.rows[2 * line] = mean;
        if (t == 1) a.rows[2 * line + 1] = scale;
    }
}

template <class A>
TNC_FN tnc_moments tnc_norm_moments_tile(const A *x, int n, int t) {
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    A one[EACH], two[EACH], centre;
    for (int j = 0; j < EACH; j++) {
        one[j] = 0;
        for (int i = j * TNC_WARP + t; i < n; i += LANES) one[j] = one[j] + x[i];
    }
    centre = __shfl_sync(0xffffffffu, tnc_line_fold<A>(one), 0) / (A)n;
    for (int j = 0; j < EACH; j++) {
        one[j] = two[j] = 0;
        for (int i = j * TNC_WARP + t; i < n; i += LANES) {
            const A d = x[i] - centre;
            one[j] = one[j] + d;
            two[j] = tnc_fused(d, d, two[j]);
        }
    }
    one[0] = tnc_line_fold<A>(one);
    two[0] = tnc_line_fold<A>(two);
    return tnc_moments_of((double)centre, (double)one[0], (double)two[0], (double)n);
}
template <class A, int kind>
TNC_FN tnc_moments tnc_norm_moments_line(const tnc_lines &l, char *from, A *tile, double *held) {
    typedef tnc_line_cell<A, kind> cell;
    const int t = (int)threadIdx.x;
    tnc_moments p = {0, 0};
    for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
        const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
        for (int i = t; i < n; i += (int)blockDim.x)
            tile[i] = cell::get(cell::at(l, 1, from, b + i), l.dtype[1]);
        __syncthreads();
        if (t < TNC_WARP) {
            const tnc_moments q = tnc_norm_moments_tile<A>(tile, n, t);
            p = b ? tnc_moments_join(p, (double)b, q, (double)n) : q;
        }
        __syncthreads();
    }
    if (t == 0) {
        held[0] = p.mean;
        held[1] = p.m2;
    }
    __syncthreads();
    p.mean = held[0];
    p.m2 = held[1];
    __syncthreads();
    return p;
}

template <class A, int kind>
__global__ void __launch_bounds__(NORM_THREADS) tnc_norm_block(tnc_norm a) {
    typedef tnc_line_cell<A, kind> cell;
    TNC_SHARED(A, tile, TNC_BLOCK);
    TNC_SHARED(double, held, 2);
    const tnc_lines &l = a.l;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line);
        const tnc_moments p = tnc_norm_moments_line<A, kind>(l, from, tile, held);
        const A mean = (A)p.mean, scale = tnc_norm_scale<A>(p, (double)l.n, a.eps);
        for (int64_t i = threadIdx.x; i < l.n; i += (int)blockDim.x) {
            const A x = l.n <= TNC_BLOCK ? tile[i] : cell::get(cell::at(l, 1, from, i), l.dtype[1]);
            cell::put(cell::at(l, 0, y, i), l.dtype[0], tnc_norm_map<A>(a, x, mean, scale, i));
        }
        __syncthreads();
    }
}

template <int kind>
TNC_FN float tnc_norm_weighted(const tnc_norm &a, char *dy, int64_t i) {
    typedef tnc_line_cell<float, kind> cell;
    const float d = cell::get(cell::at(a.l, 3, dy, i), a.l.dtype[3]);
    return a.weight ? d * ((const float *)a.weight)[i] : d;
}
template <int kind>
__global__ void __launch_bounds__(NORM_THREADS) tnc_norm_back_block(tnc_norm a) {
    typedef tnc_line_cell<float, kind> cell;
    TNC_SHARED(float, tile, TNC_BLOCK);
    TNC_SHARED(float, gs, TNC_BLOCK);
    TNC_SHARED(double, held, 2);
    const tnc_lines &l = a.l;
    const int t = (int)threadIdx.x;
    for (int64_t line = blockIdx.x; line < l.lines; line += gridDim.x) {
        char *y = tnc_line_at(l, 0, line), *from = tnc_line_at(l, 1, line),
             *dy = tnc_line_at(l, 3, line);
        const tnc_moments p = tnc_norm_moments_line<float, kind>(l, from, tile, held);
        const float mean = (float)p.mean, scale = tnc_norm_scale<float>(p, (double)l.n, a.eps);
        tnc_line_tree<float> ones, twos;
        float ma, mb;
        ones.begin();
        twos.begin();
        for (int64_t b = 0; b < l.n; b += TNC_BLOCK) {
            const int n = (int)(l.n - b < TNC_BLOCK ? l.n - b : (int64_t)TNC_BLOCK);
            for (int i = t; i < n; i += (int)blockDim.x) {
                const float x = cell::get(cell::at(l, 1, from, b + i), l.dtype[1]);
                gs[i] = tnc_norm_weighted<kind>(a, dy, b + i);
                tile[i] = (x - mean) * scale;
            }
            __syncthreads();
            if (t < TNC_WARP) {
                float one[2] = {0, 0}, two[2] = {0, 0};
                for (int j = 0; j < 2; j++)
                    for (int i = j * TNC_WARP + t; i < n; i += 2 * TNC_WARP) {
                        one[j] = one[j] + gs[i];
                        two[j] = fmaf(gs[i], tile[i], two[j]);
                    }
                one[0] = tnc_line_fold<float>(one);
                two[0] = tnc_line_fold<float>(two);
                if (t == 0) ones.push(one[0]);
                if (t == 0) twos.push(two[0]);
            }
            __syncthreads();
        }
        if (t == 0) {
            held[0] = (double)ones.end() / (double)l.n;
            held[1] = (double)twos.end() / (double)l.n;
            a.rows[2 * line] = mean;
            a.rows[2 * line + 1] = scale;
        }
        __syncthreads();
        ma = (float)held[0];
        mb = (float)held[1];
        for (int64_t i = t; i < l.n; i += (int)blockDim.x)
            cell::put(cell::at(l, 0, y, i), l.dtype[0],
                      tnc_norm_back_map(cell::get(cell::at(l, 1, from, i), l.dtype[1]),
                                        tnc_norm_weighted<kind>(a, dy, i), mean, scale, ma, mb));
        __syncthreads();
    }
}

struct tnc_norm_sums {
    float weight, bias;
};
struct tnc_norm_weights : tnc_joined<tnc_norm_sums> {
    TNC_FN tnc_norm_sums meet(tnc_norm_sums a, tnc_norm_sums b) {
        a.weight = a.weight + b.weight;
        a.bias = a.bias + b.bias;
        return a;
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_norm_sums a) {
        tnc_give_number(l, 0, at, a.weight);
        tnc_give_number(l, 1, at, a.bias);
    }
};
template <int kind>
__global__ void __launch_bounds__(128) tnc_norm_columns(tnc_norm a, tnc_lanes w) {
    typedef tnc_line_cell<float, kind> cell;
    const tnc_lines &l = a.l;
    const int64_t all = w.results * w.blocks;
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const int64_t i = job % w.results, b = job / w.results, begin = b * TNC_BLOCK_ROWS,
                      end = begin + TNC_BLOCK_ROWS < l.lines ? begin + TNC_BLOCK_ROWS : l.lines;
        tnc_norm_sums sum = {0, 0};
        for (int64_t line = begin; line < end; line++) {
            const float x = cell::get(cell::at(l, 1, tnc_line_at(l, 1, line), i), l.dtype[1]),
                        d = cell::get(cell::at(l, 3, tnc_line_at(l, 3, line), i), l.dtype[3]);
            sum.weight = fmaf(d, (x - a.rows[2 * line]) * a.rows[2 * line + 1], sum.weight);
            sum.bias = sum.bias + d;
        }
        tnc_block_done<tnc_norm_weights>(tnc_norm_weights(), w, i, b, sum);
    }
}

static int norm_plan(tnc_norm *a, tn_frame *f, tn_tensor *x, tn_tensor *weight, tn_tensor *other,
                     int64_t dims, double eps, bool back) {
    tn_tensor *t[4] = {f->out[0], x, weight, other};
    const int ndim = (int)tn_ndim(x);
    bool along[TN_MAX_DIMS] = {false};
    tnc_lines *l = &a->l;
    memset(a, 0, sizeof *a);
    for (int64_t d = ndim - dims; d < ndim; d++) along[d] = true;
    tnc_lines_of(l, t, 4, along);
    a->eps = eps;
    const tn_dtype compute = l->dtype[0] == TN_F64 ? TN_F64 : TN_F32;
    int kind = tnc_line_kind_of(*l, 2, compute, true);
    if (back && (l->dtype[3] != l->dtype[0] || !tnc_lines_dense(*l, 3))) kind = TNC_LINE_ANY;
    return kind;
}

static int64_t norm_numbers_bytes(const tnc_norm *a, int k) {
    const tnc_lines *l = &a->l;
    const int dtype = l->dtype[0] == TN_F64 ? TN_F64 : TN_F32;
    if (!l->at[k] || (l->dtype[k] == dtype && tnc_lines_dense(*l, k))) return 0;
    return (l->n * tnc_dtype_bytes(dtype) + 63) / 64 * 64;
}
template <class A>
static const void *norm_numbers(cudaStream_t s, const tnc_norm &a, int k, char **room) {
    const int64_t bytes = norm_numbers_bytes(&a, k);
    A *to = (A *)*room;
    if (!bytes) return a.l.at[k];
    *room += bytes;
    TNC_LAUNCH_PLAIN((tnc_norm_numbers<A>), tnc_blocks(a.l.n, TNC_THREADS), TNC_THREADS, s, a.l, k,
                     to);
    return to;
}

template <class A, int kind>
static void norm_launch(cudaStream_t s, const tnc_norm &a) {
    const unsigned warps = tnc_blocks(a.l.lines, NORM_WARPS), threads = NORM_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (kind != TNC_LINE_ANY && a.l.n <= NORM_SHORT)
        TNC_LAUNCH((tnc_norm_warp<A, dense, NORM_SHORT / TNC_WARP>), warps, threads, s, a);
    else if (kind != TNC_LINE_ANY && a.l.n <= NORM_LONG)
        TNC_LAUNCH((tnc_norm_warp<A, dense, NORM_LONG / TNC_WARP>), warps, threads, s, a);
    else
        TNC_LAUNCH((tnc_norm_block<A, kind>), tnc_blocks(a.l.lines, 1),
                   a.l.n <= NORM_SHORT ? (unsigned)TNC_WARP : (unsigned)NORM_THREADS, s, a);
}
static int layer_norm_plan(tnc_norm *a, tn_frame *f) {
    TN_ARGS(layer_norm, args, f);
    return norm_plan(a, f, args->input, args->weight, args->bias, args->normalized_shape.n,
                     args->eps, false);
}
static bool layer_norm_prepare(tn_frame *f) {
    tnc_norm a;
    layer_norm_plan(&a, f);
    const int64_t bytes = norm_numbers_bytes(&a, 2) + norm_numbers_bytes(&a, 3);
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <class A>
static void norm_numbers_both(cudaStream_t s, tnc_norm *a, tn_frame *f) {
    char *room = (char *)f->scratch;
    a->weight = norm_numbers<A>(s, *a, 2, &room);
    a->bias = norm_numbers<A>(s, *a, 3, &room);
}
static void layer_norm_run(tn_frame *f) {
    tnc_norm a;
    cudaStream_t s = tnc_stream(f);
    const int kind = layer_norm_plan(&a, f);
    const bool wide = a.l.dtype[0] == TN_F64;
    if (!a.l.lines || !a.l.n) return;
    if (wide)
        norm_numbers_both<double>(s, &a, f);
    else
        norm_numbers_both<float>(s, &a, f);
    if (wide && kind == TNC_LINE_OWN)
        norm_launch<double, TNC_LINE_OWN>(s, a);
    else if (wide)
        norm_launch<double, TNC_LINE_ANY>(s, a);
    else if (kind == TNC_LINE_OWN)
        norm_launch<float, TNC_LINE_OWN>(s, a);
    else if (kind == TNC_LINE_F16)
        norm_launch<float, TNC_LINE_F16>(s, a);
    else if (kind == TNC_LINE_BF16)
        norm_launch<float, TNC_LINE_BF16>(s, a);
    else
        norm_launch<float, TNC_LINE_ANY>(s, a);
}

static int norm_back_plan(tnc_norm *a, tnc_lanes *w, tn_frame *f) {
    TN_ARGS(layer_norm_backward, args, f);
    const int kind = norm_plan(a, f, args->input, args->weight, args->grad_out,
                               args->normalized_shape.n, args->eps, true);
    memset(w, 0, sizeof *w);
    w->p.columns = true;
    w->p.n = a->l.lines;
    w->p.width = w->p.width_out = 1;
    w->p.outer = a->l.n;
    w->p.nkeep = 1;
    w->p.keep[0] = a->l.n;
    w->p.keep_out[0] = 1;
    tnc_lanes_layout(w);
    for (int k = 0; k < 2; k++) {
        const tn_operand o = tn_operand_of(f->out[1 + k]);
        w->out[k] = o.at;
        w->out_dtype[k] = o.dtype;
    }
    return kind;
}
static int64_t norm_rows_bytes(const tnc_norm *a) { return (a->l.lines * 8 + 63) / 64 * 64; }
static bool layer_norm_backward_prepare(tn_frame *f) {
    tnc_norm a;
    tnc_lanes w;
    int64_t parts, bytes;
    norm_back_plan(&a, &w, f);
    if (!tnc_lanes_bytes(&w, (int64_t)sizeof(tnc_norm_sums), &parts) ||
        __builtin_add_overflow(parts, norm_rows_bytes(&a) + norm_numbers_bytes(&a, 2), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
template <int kind>
static void norm_back_launch(cudaStream_t s, const tnc_norm &a, const tnc_lanes &w) {
    const unsigned warps = tnc_blocks(a.l.lines, NORM_WARPS), threads = NORM_WARPS * TNC_WARP;
    enum { dense = kind == TNC_LINE_ANY ? (int)TNC_LINE_OWN : kind };
    if (a.l.lines && kind != TNC_LINE_ANY && a.l.n <= NORM_SHORT)
        TNC_LAUNCH((tnc_norm_back_warp<dense, NORM_SHORT / TNC_WARP>), warps, threads, s, a);
    else if (a.l.lines && kind != TNC_LINE_ANY && a.l.n <= NORM_LONG)
        TNC_LAUNCH((tnc_norm_back_warp<dense, NORM_LONG / TNC_WARP>), warps, threads, s, a);
    else if (a.l.lines)
        TNC_LAUNCH((tnc_norm_back_block<kind>), tnc_blocks(a.l.lines, 1),
                   a.l.n <= NORM_SHORT ? (unsigned)TNC_WARP : (unsigned)NORM_THREADS, s, a);
    TNC_LAUNCH_PLAIN((tnc_norm_columns<kind>), tnc_blocks(w.results * w.blocks, 128), 128, s, a, w);
    tnc_reduce_trees(s, w, tnc_norm_weights());
}
static void layer_norm_backward_run(tn_frame *f) {
    tnc_norm a;
    tnc_lanes w;
    cudaStream_t s = tnc_stream(f);
    const int kind = norm_back_plan(&a, &w, f);
    if (!a.l.n) return;
    char *room = (char *)f->scratch + norm_rows_bytes(&a);
    a.rows = (float *)f->scratch;
    a.weight = norm_numbers<float>(s, a, 2, &room);
    w.parts = room;
    switch (kind) {
    case TNC_LINE_OWN: norm_back_launch<TNC_LINE_OWN>(s, a, w); break;
    case TNC_LINE_F16: norm_back_launch<TNC_LINE_F16>(s, a, w); break;
    case TNC_LINE_BF16: norm_back_launch<TNC_LINE_BF16>(s, a, w); break;
    default: norm_back_launch<TNC_LINE_ANY>(s, a, w);
    }
}

static const tn_device_row norm_table[] = {
    {"layer_norm", false, NULL, layer_norm_prepare, layer_norm_run},
    {"layer_norm_backward", false, NULL, layer_norm_backward_prepare, layer_norm_backward_run}};
TNC_FAMILY(norms, norm_table)

/* src/cuda/losses.cu - the negative log-likelihood and its gradient, in the CPU's order (ops/layers/loss.c) */

/* src/cuda/fault.cuh - an index out of range: a kernel tells it, and the host reads that when it next waits */

struct tnc_watch {
    tnc_fault *fault;
    unsigned long long ticket;
};
static inline tnc_watch tnc_watch_of(const tn_frame *f) {
    const tnc_watch w = {tnc_device_of(f)->fault, tn_device_ticket(f)};
    return w;
}

TNC_FN void tnc_tell(const tnc_watch &w, int64_t value, int64_t bound) {
    if (atomicCAS_system(&w.fault->claim, 0ull, w.ticket) != 0ull) return;
    w.fault->value = (unsigned long long)value;
    w.fault->bound = (unsigned long long)bound;
    __threadfence_system();
    w.fault->ticket = w.ticket;
}

enum { NLL_WARPS = 4 };

struct tnc_nll {
    const char *x, *target, *weight;
    int64_t samples, classes, inner, ignore, weight_step;
    int32_t ndim;
    int64_t size[TN_MAX_DIMS], target_step[TN_MAX_DIMS], x_step[TN_MAX_DIMS];
    int64_t class_step;
    uint8_t x_dtype, target_dtype, weight_dtype, out_dtype;
    char *each, *total;
    const char *divisor;
    uint8_t divisor_dtype, out_bytes;
    bool mean;
    tnc_watch watch;
};

TNC_FN int64_t tnc_nll_class(const tnc_nll &a, int64_t i) {
    const int64_t t = tnc_load_real<int64_t>(
        a.target + tnc_offset(a.ndim, a.size, a.target_step, i), a.target_dtype);
    if (t == a.ignore) return -1;
    if (t >= 0 && t < a.classes) return t;
    tnc_tell(a.watch, t, a.classes);
    return 0;
}
TNC_FN double tnc_nll_weight(const tnc_nll &a, int64_t t) {
    return a.weight ? tnc_load_real<double>(a.weight + t * a.weight_step, a.weight_dtype) : 1.0;
}

template <class A>
struct tnc_nll_sums {
    A loss, weight;
};
template <class A>
struct tnc_nll_meet : tnc_joined<tnc_nll_sums<A>> {
    tnc_nll a;
    __device__ __forceinline__ tnc_nll_sums<A> meet(tnc_nll_sums<A> x, tnc_nll_sums<A> y) const {
        x.loss = x.loss + y.loss;
        x.weight = x.weight + y.weight;
        return x;
    }
    template <class R>
    TNC_FN void give(const R &r, const tnc_lanes &l, int64_t at, tnc_nll_sums<A> s) {
        const double w = (double)s.weight;
        double v = (double)s.loss;
        if (r.a.mean) v = v / w;
        if (!r.a.each) tnc_give_number(l, 0, at, v);
        if (r.a.total) tnc_put<double>(r.a.total, w);
    }
};

template <class A>
TNC_FN tnc_nll_sums<A> tnc_nll_sample(const tnc_nll &a, int64_t i) {
    const int64_t t = tnc_nll_class(a, i);
    tnc_nll_sums<A> s = {0, 0};
    if (t >= 0) {
        const char *x = a.x + tnc_offset(a.ndim, a.size, a.x_step, i) + t * a.class_step;
        const double w = tnc_nll_weight(a, t);
        s.loss = (A)(-w * tnc_load_real<double>(x, a.x_dtype));
        s.weight = (A)w;
    }
    if (a.each) tnc_store_real(a.each + i * a.out_bytes, a.out_dtype, s.loss);
    return s;
}
template <class A>
__global__ void __launch_bounds__(NLL_WARPS *TNC_WARP)
    tnc_nll_blocks(tnc_lanes l, tnc_nll_meet<A> r) {
    enum { LANES = tnc_line_lanes<A>::lanes, EACH = tnc_line_lanes<A>::each };
    const int64_t warps = (int64_t)gridDim.x * NLL_WARPS;
    const int t = (int)(threadIdx.x % TNC_WARP);
    int64_t b = (int64_t)blockIdx.x * NLL_WARPS + threadIdx.x / TNC_WARP;
    for (; b < l.blocks; b += warps) {
        A loss[EACH], weight[EACH];
        tnc_nll_sums<A> sum;
        for (int j = 0; j < EACH; j++) {
            const int64_t i = b * LANES + j * TNC_WARP + t;
            const tnc_nll_sums<A> none = {0, 0},
                                  s = i < r.a.samples ? tnc_nll_sample<A>(r.a, i) : none;
            loss[j] = (A)0 + s.loss;
            weight[j] = (A)0 + s.weight;
        }
        sum.loss = tnc_line_fold<A>(loss);
        sum.weight = tnc_line_fold<A>(weight);
        if (t == 0) tnc_block_done<tnc_nll_meet<A>>(r, l, 0, b, sum);
    }
}

static void nll_plan(tnc_nll *a, const tn_frame *f, const tn_tensor *target,
                     const tn_tensor *weight, int64_t ignore) {
    const tn_operand t = tn_operand_of(target), w = tn_operand_of(weight),
                     out = tn_operand_of(f->out[0]);
    memset(a, 0, sizeof *a);
    a->target = t.at;
    a->target_dtype = t.dtype;
    a->samples = t.numel;
    a->ndim = t.ndim;
    a->ignore = ignore;
    a->inner = 1;
    for (int d = 0; d < t.ndim; d++) {
        a->size[d] = t.size[d];
        a->target_step[d] = t.stride[d] * t.bytes;
        if (d) a->inner *= t.size[d];
    }
    if (weight) {
        a->weight = w.at;
        a->weight_dtype = w.dtype;
        a->weight_step = w.stride[0] * w.bytes;
    }
    a->out_dtype = out.dtype;
    a->out_bytes = out.bytes;
}

static void nll_loss_plan(tnc_nll *a, tnc_lanes *l, const tn_frame *f) {
    TN_ARGS(nll_loss_plain, args, f);
    const tn_operand x = tn_operand_of(args->input), out = tn_operand_of(f->out[0]);
    const int c = x.ndim > 1;
    const int64_t each = x.dtype == TN_F64 ? 32 : 64;
    nll_plan(a, f, args->target, args->weight, args->ignore_index);
    a->x = x.at;
    a->x_dtype = x.dtype;
    a->classes = x.size[c];
    a->class_step = x.stride[c] * x.bytes;
    for (int d = 0; d < a->ndim; d++) a->x_step[d] = x.stride[d ? d + 1 : 0] * x.bytes;
    a->mean = args->reduction == TN_REDUCTION_MEAN;
    a->each = args->reduction == TN_REDUCTION_NONE ? out.at : NULL;
    a->total = f->nout > 1 ? tn_operand_of(f->out[1]).at : NULL;
    memset(l, 0, sizeof *l);
    l->p.n = a->samples;
    l->p.outer = l->p.width = 1;
    l->results = 1;
    l->blocks = (a->samples + each - 1) / each;
    if (l->blocks < 1) l->blocks = 1;
    l->out[0] = out.at;
    l->out_dtype[0] = out.dtype;
}
static bool nll_loss_plain_prepare(tn_frame *f) {
    tnc_nll a;
    tnc_lanes l;
    nll_loss_plan(&a, &l, f);
    return tnc_lanes_scratch(f, &l, a.x_dtype == TN_F64 ? 16 : 8);
}
template <class A>
static void nll_loss_launch(cudaStream_t s, const tnc_lanes &l, const tnc_nll &a) {
    tnc_nll_meet<A> r;
    r.a = a;
    TNC_LAUNCH((tnc_nll_blocks<A>), tnc_blocks(l.blocks, NLL_WARPS), NLL_WARPS * TNC_WARP, s, l, r);
    tnc_reduce_trees(s, l, r);
}
static void nll_loss_plain_run(tn_frame *f) {
    tnc_nll a;
    tnc_lanes l;
    nll_loss_plan(&a, &l, f);
    a.watch = tnc_watch_of(f);
    l.parts = (char *)f->scratch;
    if (a.x_dtype == TN_F64)
        nll_loss_launch<double>(tnc_stream(f), l, a);
    else
        nll_loss_launch<float>(tnc_stream(f), l, a);
}

__global__ void __launch_bounds__(TNC_THREADS) tnc_nll_back(tnc_nll a, char *out, int64_t n) {
    for (int64_t at = TNC_FIRST(); at < n; at += TNC_STEP()) {
        const int64_t c = at / a.inner % a.classes,
                      i = at / a.inner / a.classes * a.inner + at % a.inner,
                      t = tnc_nll_class(a, i);
        double g = 0;
        if (t == c) {
            const double total = a.divisor ? tnc_load_real<double>(a.divisor, a.divisor_dtype) : 1,
                         d = tnc_load_real<double>(a.x + tnc_offset(a.ndim, a.size, a.x_step, i),
                                                   a.x_dtype);
            g = -tnc_nll_weight(a, t) * d / total;
        }
        tnc_store_real(out + at * a.out_bytes, a.out_dtype, g);
    }
}
static void nll_loss_input_grad_run(tn_frame *f) {
    TN_ARGS(nll_loss_input_grad, args, f);
    const tn_operand g = tn_operand_of(args->grad), out = tn_operand_of(f->out[0]),
                     total = tn_operand_of(args->total_weight);
    tnc_nll a;
    if (!out.numel) return;
    nll_plan(&a, f, args->target, args->weight, args->ignore_index);
    a.x = g.at;
    a.x_dtype = g.dtype;
    a.classes = out.size[out.ndim > 1];
    for (int d = 0; d < a.ndim && g.ndim; d++) a.x_step[d] = g.stride[d] * g.bytes;
    if (args->reduction == TN_REDUCTION_MEAN) {
        a.divisor = total.at;
        a.divisor_dtype = total.dtype;
    }
    a.watch = tnc_watch_of(f);
    TNC_LAUNCH_PLAIN((tnc_nll_back), tnc_blocks(out.numel, TNC_THREADS), TNC_THREADS, tnc_stream(f),
                     a, out.at, out.numel);
}

static const tn_device_row loss_table[] = {
    {"nll_loss_plain", false, NULL, nll_loss_plain_prepare, nll_loss_plain_run},
    {"nll_loss_input_grad", false, NULL, NULL, nll_loss_input_grad_run}};
TNC_FAMILY(losses, loss_table)

/* src/cuda/scans.cu - running sums and products, and linear recurrences, with the CPU's bits (ops/reduction/cumulative.c) */

enum { SCAN_TILE = 32, SCAN_THREADS = 256, SCAN_EACH = 8, SCAN_PIECE = SCAN_THREADS * SCAN_EACH };

struct tnc_scan {
    tnc_lines l;
    bool reverse;
    int64_t pieces;
    int64_t *totals;
};

TNC_FN tnc_c128 tnc_scan_times(tnc_c128 a, tnc_c128 b) {
    const tnc_c128 v = {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
    return v;
}
TNC_FN double tnc_scan_times(double a, double b) { return a * b; }
TNC_FN int64_t tnc_scan_times(int64_t a, int64_t b) { return tnc_times(a, b); }
TNC_FN double tnc_scan_plus(double a, double b) { return a + b; }
TNC_FN int64_t tnc_scan_plus(int64_t a, int64_t b) { return tnc_plus(a, b); }
TNC_FN tnc_c128 tnc_scan_plus(tnc_c128 a, tnc_c128 b) {
    const tnc_c128 v = {a.re + b.re, a.im + b.im};
    return v;
}

template <class A>
struct tnc_scan_of {
    TNC_FN A set(double v) { return (A)v; }
    TNC_FN A get(const char *at, int dtype) { return tnc_load_real<A>(at, dtype); }
    TNC_FN void put(char *at, int dtype, A v) { tnc_store_real(at, dtype, v); }
};
template <>
struct tnc_scan_of<tnc_c128> {
    TNC_FN tnc_c128 set(double v) {
        const tnc_c128 z = {v, 0};
        return z;
    }
    TNC_FN tnc_c128 get(const char *at, int dtype) {
        return tnc_move<TNC_C128>::load(at, dtype, TN_C128);
    }
    TNC_FN void put(char *at, int dtype, tnc_c128 v) {
        tnc_move<TNC_C128>::store(at, dtype, TN_C128, v);
    }
};

template <class T>
struct tnc_scan_sum {
    typedef T A;
    enum { factors = 0 };
    TNC_FN A first() { return tnc_scan_of<A>::set(0); }
    TNC_FN A meet(A a, A b) { return tnc_scan_plus(a, b); }
    TNC_FN A step(A a, A x, A, bool) { return meet(a, x); }
};
template <class T>
struct tnc_scan_prod {
    typedef T A;
    enum { factors = 0 };
    TNC_FN A first() { return tnc_scan_of<A>::set(1); }
    TNC_FN A meet(A a, A b) { return tnc_scan_times(a, b); }
    TNC_FN A step(A a, A x, A, bool) { return meet(a, x); }
};
template <class T>
struct tnc_scan_recurrence {
    typedef T A;
    enum { factors = 1 };
    TNC_FN A first() { return tnc_scan_of<A>::set(0); }
    TNC_FN A step(A a, A x, A factor, bool first) {
        return first ? x : tnc_scan_plus(tnc_scan_times(a, factor), x);
    }
};

template <class Op>
__global__ void __launch_bounds__(128) tnc_scan_columns(tnc_scan s) {
    typedef typename Op::A A;
    typedef tnc_scan_of<A> of;
    const tnc_lines &l = s.l;
    for (int64_t line = TNC_FIRST(); line < l.lines; line += TNC_STEP()) {
        const int64_t y = l.in_step[0][0], x = l.in_step[1][0], f = l.in_step[2][0],
                      back = s.reverse ? -1 : 1;
        int64_t i = s.reverse ? l.n - 1 : 0;
        char *to = tnc_line_at(l, 0, line);
        const char *from = tnc_line_at(l, 1, line), *factor = tnc_line_at(l, 2, line);
        A a = Op::first();
        for (int64_t k = 0; k < l.n; k++, i += back) {
            A by = Op::first();
            if (Op::factors && k) by = of::get(factor + (s.reverse ? i + 1 : i) * f, l.dtype[2]);
            a = Op::step(a, of::get(from + i * x, l.dtype[1]), by, k == 0);
            of::put(to + i * y, l.dtype[0], a);
        }
    }
}

template <class Op>
__global__ void __launch_bounds__(TNC_WARP) tnc_scan_lines(tnc_scan s) {
    typedef typename Op::A A;
    typedef tnc_scan_of<A> of;
    TNC_SHARED(A, tile, SCAN_TILE * (SCAN_TILE + 1));
    TNC_SHARED(A, factors, Op::factors ? SCAN_TILE * (SCAN_TILE + 1) : 1);
    const tnc_lines &l = s.l;
    const int t = (int)threadIdx.x;
    const int64_t y = l.in_step[0][0], x = l.in_step[1][0], f = l.in_step[2][0];
    for (int64_t first = (int64_t)blockIdx.x * SCAN_TILE; first < l.lines;
         first += (int64_t)gridDim.x * SCAN_TILE) {
        const int64_t left = l.lines - first;
        const int lines = left < SCAN_TILE ? (int)left : (int)SCAN_TILE;
        A a = Op::first();
        for (int64_t b = 0; b < l.n; b += SCAN_TILE) {
            const int n = l.n - b < SCAN_TILE ? (int)(l.n - b) : (int)SCAN_TILE;
            const int64_t i = s.reverse ? l.n - 1 - (b + t) : b + t;
            for (int r = 0; r < lines && t < n; r++) {
                const int at = r * (SCAN_TILE + 1) + t;
                tile[at] = of::get(tnc_line_at(l, 1, first + r) + i * x, l.dtype[1]);
                if (Op::factors && b + t)
                    factors[Op::factors ? at : 0] = of::get(
                        tnc_line_at(l, 2, first + r) + (s.reverse ? i + 1 : i) * f, l.dtype[2]);
            }
            __syncwarp();
            for (int k = 0; k < n && t < lines; k++) {
                const int at = t * (SCAN_TILE + 1) + k;
                A by = Op::first();
                if (Op::factors && b + k) by = factors[Op::factors ? at : 0];
                a = Op::step(a, tile[at], by, b + k == 0);
                tile[at] = a;
            }
            __syncwarp();
            for (int r = 0; r < lines && t < n; r++)
                of::put(tnc_line_at(l, 0, first + r) + i * y, l.dtype[0],
                        tile[r * (SCAN_TILE + 1) + t]);
            __syncwarp();
        }
    }
}

template <class Op>
TNC_FN int64_t tnc_scan_before(int64_t mine, int64_t *held, int64_t *all) {
    const int t = (int)threadIdx.x;
    int64_t before;
    held[t] = mine;
    __syncthreads();
    for (int step = 1; step < SCAN_THREADS; step *= 2) {
        const int64_t v = t >= step ? held[t - step] : Op::first();
        __syncthreads();
        held[t] = Op::meet(v, held[t]);
        __syncthreads();
    }
    before = t ? held[t - 1] : Op::first();
    *all = held[SCAN_THREADS - 1];
    __syncthreads();
    return before;
}
template <class Op, bool write>
__global__ void __launch_bounds__(SCAN_THREADS) tnc_scan_pieces(tnc_scan s) {
    TNC_SHARED(int64_t, held, SCAN_THREADS);
    const tnc_lines &l = s.l;
    const int64_t jobs = l.lines * s.pieces;
    for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const int64_t line = job / s.pieces,
                      begin = job % s.pieces * SCAN_PIECE + threadIdx.x * SCAN_EACH;
        const char *x = tnc_line_at(l, 1, line);
        char *y = tnc_line_at(l, 0, line);
        int64_t v[SCAN_EACH], a = Op::first(), all, before;
        TNC_UNROLL
        for (int j = 0; j < SCAN_EACH; j++) {
            v[j] = begin + j < l.n
                       ? tnc_load_real<int64_t>(x + (begin + j) * l.in_step[1][0], l.dtype[1])
                       : Op::first();
            a = Op::meet(a, v[j]);
        }
        before = tnc_scan_before<Op>(a, held, &all);
        if (!write && threadIdx.x == 0) s.totals[job] = all;
        if (!write) continue;
        if (s.pieces > 1) before = Op::meet(s.totals[job], before);
        TNC_UNROLL
        for (int j = 0; j < SCAN_EACH; j++) {
            before = Op::meet(before, v[j]);
            if (begin + j < l.n)
                tnc_store_real(y + (begin + j) * l.in_step[0][0], l.dtype[0], before);
        }
    }
}
template <class Op>
__global__ void __launch_bounds__(SCAN_THREADS) tnc_scan_totals(tnc_scan s) {
    TNC_SHARED(int64_t, held, SCAN_THREADS);
    for (int64_t line = blockIdx.x; line < s.l.lines; line += gridDim.x) {
        int64_t *at = s.totals + line * s.pieces, carry = Op::first();
        for (int64_t b = 0; b < s.pieces; b += SCAN_THREADS) {
            const int64_t i = b + threadIdx.x, v = i < s.pieces ? at[i] : Op::first();
            int64_t all;
            const int64_t before = tnc_scan_before<Op>(v, held, &all);
            if (i < s.pieces) at[i] = Op::meet(carry, before);
            carry = Op::meet(carry, all);
        }
    }
}

static bool scan_plan(tnc_scan *s, const tn_frame *f, tn_tensor *factor, int64_t dim,
                      bool reverse) {
    tn_tensor *t[3] = {f->out[0], f->in[0], factor};
    const int ndim = (int)tn_ndim(f->in[0]);
    bool along[TN_MAX_DIMS] = {false};
    if (ndim) along[dim < 0 ? dim + ndim : dim] = true;
    memset(s, 0, sizeof *s);
    tnc_lines_of(&s->l, t, factor ? 3 : 2, along);
    s->reverse = reverse;
    s->pieces = (s->l.n + SCAN_PIECE - 1) / SCAN_PIECE;
    return s->l.in_step[1][0] != tnc_dtype_bytes(s->l.dtype[1]);
}
static bool scan_is_complex(const tnc_scan &s) {
    return s.l.dtype[0] == TN_C64 || s.l.dtype[0] == TN_C128;
}
static bool scan_in_pieces(const tnc_scan &s, bool columns) {
    return !columns && tnc_reduce_compute(s.l.dtype[0]) == TN_I64 && s.l.n > SCAN_TILE;
}
static bool scan_prepare(tn_frame *f, int64_t dim) {
    tnc_scan s;
    const bool columns = scan_plan(&s, f, NULL, dim, false);
    int64_t n;
    if (!scan_in_pieces(s, columns) || s.pieces < 2) return true;
    if (__builtin_mul_overflow(s.l.lines, s.pieces * 8, &n))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !n || tn_device_scratch(f, n) != NULL;
}
template <class Op>
static void scan_chains(cudaStream_t stream, const tnc_scan &s, bool columns) {
    if (columns)
        TNC_LAUNCH_PLAIN((tnc_scan_columns<Op>), tnc_blocks(s.l.lines, 128), 128, stream, s);
    else
        TNC_LAUNCH((tnc_scan_lines<Op>), tnc_blocks(s.l.lines, SCAN_TILE), TNC_WARP, stream, s);
}
template <class Op>
static void scan_pieces(cudaStream_t stream, const tnc_scan &s) {
    const unsigned blocks = tnc_blocks(s.l.lines * s.pieces, 1);
    if (s.pieces > 1) {
        TNC_LAUNCH((tnc_scan_pieces<Op, false>), blocks, SCAN_THREADS, stream, s);
        TNC_LAUNCH((tnc_scan_totals<Op>), tnc_blocks(s.l.lines, 1), SCAN_THREADS, stream, s);
    }
    TNC_LAUNCH((tnc_scan_pieces<Op, true>), blocks, SCAN_THREADS, stream, s);
}
template <template <class> class Op>
static void scan_run(tn_frame *f, int64_t dim) {
    tnc_scan s;
    const bool columns = scan_plan(&s, f, NULL, dim, false);
    cudaStream_t stream = tnc_stream(f);
    if (!s.l.lines || !s.l.n) return;
    s.totals = (int64_t *)f->scratch;
    if (scan_is_complex(s))
        scan_chains<Op<tnc_c128>>(stream, s, columns);
    else if (scan_in_pieces(s, columns))
        scan_pieces<Op<int64_t>>(stream, s);
    else if (tnc_reduce_compute(s.l.dtype[0]) == TN_I64)
        scan_chains<Op<int64_t>>(stream, s, columns);
    else
        scan_chains<Op<double>>(stream, s, columns);
}

static bool cumsum_prepare(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    return scan_prepare(f, a->dim);
}
static void cumsum_run(tn_frame *f) {
    TN_ARGS(cumsum, a, f);
    scan_run<tnc_scan_sum>(f, a->dim);
}
static bool cumprod_prepare(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    return scan_prepare(f, a->dim);
}
static void cumprod_run(tn_frame *f) {
    TN_ARGS(cumprod, a, f);
    scan_run<tnc_scan_prod>(f, a->dim);
}
static void linear_recurrence_run(tn_frame *f) {
    TN_ARGS(linear_recurrence, a, f);
    tnc_scan s;
    const bool columns = scan_plan(&s, f, f->in[1], a->dim, a->reverse);
    if (!s.l.lines || !s.l.n) return;
    if (scan_is_complex(s))
        scan_chains<tnc_scan_recurrence<tnc_c128>>(tnc_stream(f), s, columns);
    else
        scan_chains<tnc_scan_recurrence<double>>(tnc_stream(f), s, columns);
}

static const tn_device_row scan_table[] = {
    {"cumsum", false, NULL, cumsum_prepare, cumsum_run},
    {"cumprod", false, NULL, cumprod_prepare, cumprod_run},
    {"linear_recurrence", false, NULL, NULL, linear_recurrence_run}};
TNC_FAMILY(scans, scan_table)

/* src/cuda/chosen.cu - how many elements of a mask are true, in each tile and before it */

/* src/cuda/chosen.cuh - the elements where a mask is true, numbered in row-major order: tiles are counted, the counts summed up, and then each tile knows the number of its first */

/* src/cuda/places.cuh - what rows with index tensors share: walks over dimensions that the row chooses, and tables of places, in bytes from a tensor's first element, by tensors of indices and masks */

static inline void tnc_plan_begin(tn_walk_plan *p, int n) {
    memset(p, 0, sizeof *p);
    p->n = n;
    p->ndim = 1;
    p->numel = p->size[0] = 1;
}
static inline void tnc_plan_within(tn_walk_plan *p, int64_t size, int64_t a, int64_t b, int64_t c,
                                   int64_t d = 0) {
    const int64_t step[4] = {a, b, c, d};
    const bool first = p->size[0] == 1;
    bool joins = true;
    p->numel *= size;
    if (size == 1) return;
    for (int k = 0; k < p->n; k++) joins = joins && p->stride[k][0] == size * step[k];
    if (!first && !joins) {
        for (int i = p->ndim++; i > 0; i--) {
            p->size[i] = p->size[i - 1];
            for (int k = 0; k < p->n; k++) p->stride[k][i] = p->stride[k][i - 1];
        }
    }
    p->size[0] = !first && joins ? p->size[0] * size : size;
    for (int k = 0; k < p->n; k++) p->stride[k][0] = step[k];
}
static inline int tnc_plan_widen(tn_walk_plan *p, int bytes, int64_t step) {
    int unit = 16;
    for (int k = 0; k < 2; k++)
        if (p->stride[k][0] != bytes) return bytes;
    if (p->stride[2][0]) return bytes;
    for (; unit > bytes; unit /= 2) {
        bool fits = p->size[0] * bytes % unit == 0 && step % unit == 0;
        for (int k = 0; k < 2; k++) {
            fits = fits && (uintptr_t)p->at[k] % (uintptr_t)unit == 0;
            for (int d = 1; d < p->ndim; d++) fits = fits && p->stride[k][d] % unit == 0;
        }
        if (!fits) continue;
        p->size[0] = p->size[0] * bytes / unit;
        p->numel = p->numel * bytes / unit;
        p->stride[0][0] = p->stride[1][0] = unit;
        return unit;
    }
    return bytes;
}

template <int operands>
struct tnc_far {
    int64_t n;
    int32_t ndim;
    bool near;
    int64_t size[TN_MAX_DIMS], step[operands][TN_MAX_DIMS];
};
template <int operands>
static inline tnc_far<operands> tnc_far_of(const tn_walk_plan &p) {
    tnc_far<operands> w;
    memset(&w, 0, sizeof w);
    w.n = p.numel;
    w.ndim = p.ndim;
    w.near = p.numel <= UINT32_MAX;
    for (int d = 0; d < p.ndim; d++) {
        w.size[d] = p.size[d];
        for (int k = 0; k < operands && k < p.n; k++) w.step[k][d] = p.stride[k][d];
    }
    return w;
}
template <int operands>
TNC_FN void tnc_far_to(const tnc_far<operands> &w, int64_t i, int64_t *at) {
    for (int k = 0; k < operands; k++) at[k] = 0;
    for (int d = 0; d < w.ndim; d++) {
        int64_t q = 0, r = i;
        if (d + 1 < w.ndim) {
            q = w.near ? (int64_t)((uint32_t)i / (uint32_t)w.size[d]) : i / w.size[d];
            r = i - q * w.size[d];
        }
        for (int k = 0; k < operands; k++) at[k] += r * w.step[k][d];
        i = q;
    }
}

TNC_PRIV bool tnc_look_at(tn_frame *f, void *to, const void *from, int64_t bytes);

struct tnc_indices {
    int64_t step;
    int64_t low, bound;
    int64_t skip;
    const char *base;
    tnc_watch watch;
    uint8_t dtype;
    bool marks;
    bool adds;
};
TNC_PRIV void tnc_place_indices(cudaStream_t s, const tn_walk_plan &p, const tnc_indices &x);

struct tnc_table {
    int64_t *at;
    int64_t n;
};
TNC_PRIV int64_t tnc_table_size(tn_index_plan *p, int64_t count);
TNC_PRIV bool tnc_table_bytes(const tn_index_plan *p, int64_t n, int64_t *bytes);
TNC_PRIV void tnc_table_run(tn_frame *f, const tn_operand &t, tn_tensor *const *index, int n,
                            const tn_index_plan *p, const tnc_table &table, bool marks);
TNC_PRIV bool tnc_table_look(tn_frame *f, tn_tensor *const *index, int n, const tn_index_plan *p,
                             int64_t *count);
static inline bool tnc_is_mask(const tn_tensor *t) {
    return tn_dtype_of(t) == TN_BOOL || tn_dtype_of(t) == TN_U8;
}

static inline int tnc_dim(int64_t dim, int ndim) {
    return (int)(dim < 0 ? dim + (ndim ? ndim : 1) : dim);
}

#define TNC_MOVED(bytes, X)      \
    switch (bytes) {             \
    case 1: X(uint8_t); break;   \
    case 2: X(uint16_t); break;  \
    case 4: X(uint32_t); break;  \
    case 8: X(uint64_t); break;  \
    default: X(tnc_pair); break; \
    }

enum { TNC_TILE = 4096, TNC_WARPS = TNC_THREADS / 32 };

TNC_FN bool tnc_true(const char *at, int dtype) {
    switch (dtype) {
    case TN_BOOL:
    case TN_U8:
    case TN_I8: return tnc_get<uint8_t>(at) != 0;
    case TN_I16: return tnc_get<uint16_t>(at) != 0;
    case TN_I32: return tnc_get<uint32_t>(at) != 0;
    case TN_I64: return tnc_get<uint64_t>(at) != 0;
    case TN_F16:
    case TN_BF16: return (tnc_get<uint16_t>(at) & 0x7fff) != 0;
    case TN_F32: return tnc_get<float>(at) != 0;
    case TN_F64: return tnc_get<double>(at) != 0;
    case TN_C64: return tnc_get<float>(at) != 0 || tnc_get<float>(at + 4) != 0;
    default: return tnc_get<double>(at) != 0 || tnc_get<double>(at + 8) != 0;
    }
}

struct tnc_chosen {
    tnc_far<3> w;
    const char *mask;
    int32_t dtype;
    int64_t tiles, *counts;
};
static inline tnc_chosen tnc_chosen_of(const tn_walk_plan &p, const tn_operand &mask) {
    tnc_chosen c;
    memset(&c, 0, sizeof c);
    c.w = tnc_far_of<3>(p);
    c.mask = mask.at;
    c.dtype = mask.dtype;
    c.tiles = (p.numel + TNC_TILE - 1) / TNC_TILE;
    return c;
}
static inline int64_t tnc_chosen_bytes(const tnc_chosen &c) { return (c.tiles + 1) * 8; }
TNC_PRIV void tnc_chosen_count(cudaStream_t s, const tnc_chosen &c);
TNC_PRIV bool tnc_chosen_look(tn_frame *f, tnc_chosen c, int64_t *count);

template <class S>
__global__ void __launch_bounds__(TNC_THREADS) tnc_chosen_kernel(tnc_chosen c, S sink) {
    TNC_SHARED(int, found, TNC_WARPS);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32);
    for (int64_t tile = blockIdx.x; tile < c.tiles; tile += gridDim.x) {
        int64_t rank = c.counts[tile], i = tile * TNC_TILE + threadIdx.x;
        for (int round = 0; round < TNC_TILE / TNC_THREADS; round++, i += TNC_THREADS) {
            const bool in = i < c.w.n;
            int64_t at[3] = {0, 0, 0}, mine = rank;
            bool hit = false;
            if (in) {
                tnc_far_to(c.w, i, at);
                hit = tnc_true(c.mask + at[0], c.dtype);
            }
            const unsigned votes = __ballot_sync(0xffffffffu, hit);
            if (!lane) found[warp] = __popc(votes);
            __syncthreads();
            mine += __popc(votes & ((1u << lane) - 1u));
            for (int k = 0; k < TNC_WARPS; k++) {
                if (k < warp) mine += found[k];
                rank += found[k];
            }
            if (in && hit) S::hit(sink, at, i, mine);
            if (in && !hit) S::miss(sink, at, i);
            __syncthreads();
        }
    }
}
template <class S>
static inline void tnc_chosen_run(cudaStream_t s, const tnc_chosen &c, const S &sink) {
    if (c.tiles)
        TNC_LAUNCH((tnc_chosen_kernel<S>), tnc_blocks(c.tiles, 1), TNC_THREADS, s, c, sink);
}

static __global__ void __launch_bounds__(TNC_THREADS) tnc_chosen_tiles(tnc_chosen c) {
    TNC_SHARED(int, found, TNC_WARPS);
    for (int64_t tile = blockIdx.x; tile < c.tiles; tile += gridDim.x) {
        int mine = 0;
        for (int k = 0; k < TNC_TILE / TNC_THREADS; k++) {
            const int64_t i = tile * TNC_TILE + k * TNC_THREADS + threadIdx.x;
            int64_t at[3];
            if (i >= c.w.n) break;
            tnc_far_to(c.w, i, at);
            mine += tnc_true(c.mask + at[0], c.dtype);
        }
        for (int h = 16; h; h /= 2) mine += __shfl_down_sync(0xffffffffu, mine, (unsigned)h);
        if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = mine;
        __syncthreads();
        if (!threadIdx.x) {
            int all = 0;
            for (int k = 0; k < TNC_WARPS; k++) all += found[k];
            c.counts[tile] = all;
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_chosen_sums(int64_t *counts, int64_t tiles) {
    TNC_SHARED(int64_t, held, TNC_THREADS);
    const int t = (int)threadIdx.x;
    int64_t before = 0;
    for (int64_t first = 0; first < tiles; first += TNC_THREADS) {
        const int64_t mine = first + t < tiles ? counts[first + t] : 0;
        held[t] = mine;
        __syncthreads();
        for (int apart = 1; apart < TNC_THREADS; apart *= 2) {
            const int64_t more = t >= apart ? held[t - apart] : 0;
            __syncthreads();
            held[t] += more;
            __syncthreads();
        }
        if (first + t < tiles) counts[first + t] = before + held[t] - mine;
        before += held[TNC_THREADS - 1];
        __syncthreads();
    }
    if (!t) counts[tiles] = before;
}

TNC_PRIV void tnc_chosen_count(cudaStream_t s, const tnc_chosen &c) {
    if (c.tiles) TNC_LAUNCH(tnc_chosen_tiles, tnc_blocks(c.tiles, 1), TNC_THREADS, s, c);
    TNC_LAUNCH(tnc_chosen_sums, 1, TNC_THREADS, s, c.counts, c.tiles);
}

TNC_PRIV bool tnc_look_at(tn_frame *f, void *to, const void *from, int64_t bytes) {
    const cudaStream_t s = tnc_stream(f);
    cudaError_t e = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    return !e || tn_fail(f, TN_INTERNAL, "the device failed: %s", cudaGetErrorString(e));
}

TNC_PRIV bool tnc_chosen_look(tn_frame *f, tnc_chosen c, int64_t *count) {
    const int32_t device = tn_frame_device(f);
    bool done;
    *count = 0;
    if (!c.tiles) return true;
    c.counts = (int64_t *)tnc_alloc(device, tnc_chosen_bytes(c));
    if (!c.counts) return tn_fail(f, TN_MEMORY, "the device has no memory to count in");
    tnc_chosen_count(tnc_stream(f), c);
    done = tnc_look_at(f, count, c.counts + c.tiles, 8);
    tnc_free(device, c.counts);
    return done;
}

/* src/cuda/order.cu - a stable sort by merging (Knuth, The Art of Computer Programming 3, 5.2.4): tiles of 1024 items in shared memory by a bitonic network (K */

/* src/cuda/order.cuh - a stable sort of keys with their places, rows of them side by side */

struct alignas(16) tnc_item {
    uint64_t key;
    int64_t place;
};
enum { TNC_ORDER_TILE = 1024 };
TNC_FN bool tnc_before(const tnc_item &a, const tnc_item &b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
}

TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                             int64_t n);
TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                                   int64_t n, int64_t k, int64_t *row);
static inline bool tnc_order_bytes(int64_t rows, int64_t n, int64_t *bytes) {
    return !__builtin_mul_overflow(rows, n, bytes) && !__builtin_mul_overflow(*bytes, 32, bytes);
}

enum { ORDER_PAIRS = TNC_ORDER_TILE / 2, ORDER_EACH = TNC_ORDER_TILE / TNC_THREADS };

struct tnc_order_tiles {
    const tnc_item *from;
    tnc_item *to;
    int64_t rows, n, tiles;
    int64_t row_out, tile_out;
    int32_t width;
    int32_t keep;
};

TNC_FN tnc_item tnc_item_last() {
    tnc_item last;
    last.key = ~(uint64_t)0;
    last.place = INT64_MAX;
    return last;
}

TNC_FN void tnc_order_network(tnc_item *slot, int width) {
    for (int size = 2; size <= width; size *= 2)
        for (int apart = size / 2; apart; apart /= 2) {
            const int t = (int)threadIdx.x, i = 2 * t - (t & (apart - 1)), k = i + apart;
            const bool up = !(i & (width - 1) & size);
            const tnc_item a = slot[i], b = slot[k];
            if (tnc_before(b, a) == up) {
                slot[i] = b;
                slot[k] = a;
            }
            __syncthreads();
        }
}

static __global__ void __launch_bounds__(ORDER_PAIRS) tnc_order_tiles_kernel(tnc_order_tiles o) {
    TNC_SHARED(tnc_item, slot, TNC_ORDER_TILE);
    const int64_t each = TNC_ORDER_TILE / o.width, all = o.rows * o.tiles;
    for (int64_t first = blockIdx.x * each; first < all; first += gridDim.x * each) {
        for (int k = (int)threadIdx.x; k < TNC_ORDER_TILE; k += ORDER_PAIRS) {
            const int64_t g = first + k / o.width, row = g / o.tiles,
                          i = g % o.tiles * o.width + k % o.width;
            slot[k] = g < all && i < o.n ? o.from[row * o.n + i] : tnc_item_last();
        }
        __syncthreads();
        tnc_order_network(slot, o.width);
        for (int k = (int)threadIdx.x; k < TNC_ORDER_TILE; k += ORDER_PAIRS) {
            const int64_t g = first + k / o.width, row = g / o.tiles, in = k % o.width,
                          i = g % o.tiles * o.tile_out + in;
            if (g < all && in < o.keep && i < o.row_out) o.to[row * o.row_out + i] = slot[k];
        }
        __syncthreads();
    }
}

struct tnc_order_merge {
    const tnc_item *from;
    tnc_item *to;
    int64_t rows, n, tiles, width;
};

template <class N>
TNC_FN N tnc_order_split(const tnc_item *a, N na, const tnc_item *b, N nb, N d) {
    N low = d > nb ? d - nb : 0, high = d < na ? d : na;
    while (low < high) {
        const N middle = low + (high - low) / 2;
        if (tnc_before(a[middle], b[d - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

TNC_FN void tnc_order_four(const tnc_item *slot, int na, int nb, tnc_item *to) {
    const tnc_item *b = slot + na;
    const int d = (int)threadIdx.x * ORDER_EACH;
    if (d >= na + nb) return;
    int i = tnc_order_split(slot, na, b, nb, d), k = d - i;
    for (int j = d; j < d + ORDER_EACH && j < na + nb; j++) {
        const bool first = i < na && (k >= nb || tnc_before(slot[i], b[k]));
        to[j] = first ? slot[i] : b[k];
        i += first;
        k += !first;
    }
}

static __global__ void __launch_bounds__(TNC_THREADS) tnc_order_merge_kernel(tnc_order_merge o) {
    TNC_SHARED(tnc_item, slot, TNC_ORDER_TILE);
    TNC_SHARED(int64_t, split, 2);
    for (int64_t job = blockIdx.x; job < o.rows * o.tiles; job += gridDim.x) {
        const int64_t begin = job % o.tiles * TNC_ORDER_TILE, row = job / o.tiles * o.n,
                      left = o.n - begin,
                      end = begin + (left < TNC_ORDER_TILE ? left : (int64_t)TNC_ORDER_TILE),
                      low = begin / (2 * o.width) * (2 * o.width),
                      middle = low + o.width < o.n ? low + o.width : o.n,
                      high = middle + o.width < o.n ? middle + o.width : o.n;
        const tnc_item *a = o.from + row + low, *b = o.from + row + middle;
        if (threadIdx.x < 2)
            split[threadIdx.x] = tnc_order_split(a, middle - low, b, high - middle,
                                                 (threadIdx.x ? end : begin) - low);
        __syncthreads();
        const int64_t i = split[0], k = begin - low - i;
        const int na = (int)(split[1] - i), n = (int)(end - begin);
        for (int j = (int)threadIdx.x; j < n; j += TNC_THREADS)
            slot[j] = j < na ? a[i + j] : b[k + j - na];
        __syncthreads();
        tnc_order_four(slot, na, n - na, o.to + row + begin);
        __syncthreads();
    }
}

static int64_t order_tiles(cudaStream_t s, const tnc_item *from, tnc_item *to, int64_t rows,
                           int64_t n, int64_t keep) {
    tnc_order_tiles o;
    int64_t each;
    memset(&o, 0, sizeof o);
    o.from = from;
    o.to = to;
    o.rows = rows;
    o.n = n;
    o.width = 1;
    while (o.width < n && o.width < TNC_ORDER_TILE) o.width *= 2;
    o.tiles = (n + o.width - 1) / o.width;
    o.keep = (int32_t)(keep < o.width ? keep : o.width);
    o.tile_out = o.keep;
    o.row_out = o.keep < o.width ? o.tiles * o.keep : n;
    each = TNC_ORDER_TILE / o.width;
    TNC_LAUNCH(tnc_order_tiles_kernel, tnc_blocks(rows * o.tiles, each), ORDER_PAIRS, s, o);
    return o.row_out;
}

TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                             int64_t n) {
    if (rows < 1 || n < 1) return items;
    order_tiles(s, items, items, rows, n, TNC_ORDER_TILE);
    for (int64_t width = TNC_ORDER_TILE; width < n; width *= 2) {
        tnc_order_merge o;
        tnc_item *other = items;
        o.from = items;
        o.to = room;
        o.rows = rows;
        o.n = n;
        o.tiles = (n + TNC_ORDER_TILE - 1) / TNC_ORDER_TILE;
        o.width = width;
        TNC_LAUNCH(tnc_order_merge_kernel, tnc_blocks(rows * o.tiles, 1), TNC_THREADS, s, o);
        items = room;
        room = other;
    }
    return items;
}

TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                                   int64_t n, int64_t k, int64_t *row) {
    *row = n;
    if (k > TNC_ORDER_TILE / 4) return tnc_order(s, items, room, rows, n);
    if (rows < 1 || n < 1) return items;
    while (n > TNC_ORDER_TILE) {
        tnc_item *other = items;
        n = order_tiles(s, items, room, rows, n, k);
        items = room;
        room = other;
    }
    order_tiles(s, items, items, rows, n, TNC_ORDER_TILE);
    *row = n;
    return items;
}

/* src/cuda/places.cu - tables of places: where each place of an index shape lies in a tensor, in bytes from its first element */

template <class I>
__global__ void __launch_bounds__(TNC_THREADS) tnc_place_kernel(tnc_walk<3> w, tnc_indices x) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3], v, k, *to;
        tnc_walk_to(w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(w.at[1] + at[1]);
        v = (w.at[2] + at[2]) - x.base;
        to = (int64_t *)(w.at[0] + at[0]);
        if (k < x.low || k >= x.bound) {
            tnc_tell(x.watch, k, x.bound);
            if (x.marks) v = -1;
        } else if (k == x.skip) {
            v = -1;
        } else {
            v += (k < 0 ? k + x.bound : k) * x.step;
        }
        if (x.adds) v = v < 0 || *to < 0 ? -1 : v + *to;
        *to = v;
    }
}

TNC_PRIV void tnc_place_indices(cudaStream_t s, const tn_walk_plan &p, const tnc_indices &x) {
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        if (x.dtype == TN_I64)
            TNC_LAUNCH_PLAIN((tnc_place_kernel<int64_t>), blocks, TNC_THREADS, s, w, x);
        else
            TNC_LAUNCH_PLAIN((tnc_place_kernel<int32_t>), blocks, TNC_THREADS, s, w, x);
    });
}

struct tnc_place_true {
    int64_t *to, most;
    TNC_FN void hit(const tnc_place_true &s, const int64_t *at, int64_t, int64_t rank) {
        if (rank < s.most) s.to[rank] = at[1];
    }
    TNC_FN void miss(const tnc_place_true &, const int64_t *, int64_t) {}
};

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_place_mask(int64_t *to, int64_t n, int64_t last, const int64_t *room, const int64_t *found,
                   bool adds) {
    const bool one = *found == 1;
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP()) {
        const int64_t v = room[one ? 0 : i % last];
        to[i] = !adds ? v : to[i] < 0 ? -1 : to[i] + v;
    }
}

static tnc_chosen places_mask(const tn_tensor *mask, const tn_operand *t, int at) {
    const tn_operand m = tn_operand_of(mask);
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    for (int d = 0; d < m.ndim; d++)
        tnc_plan_within(&p, m.size[d], m.stride[d] * m.bytes, t ? t->stride[at + d] * t->bytes : 0,
                        0);
    return tnc_chosen_of(p, m);
}

static int64_t places_last(const tn_index_plan *p) {
    const int64_t last = p->index_ndim ? p->index_size[p->index_ndim - 1] : 1;
    return last > 1 ? last : 1;
}

TNC_PRIV int64_t tnc_table_size(tn_index_plan *p, int64_t count) {
    int64_t n = 1;
    for (int i = 0; i < p->index_ndim; i++) {
        if (p->index_size[i] == TN_UNKNOWN) p->index_size[i] = count;
        n *= p->index_size[i];
    }
    for (int i = 0; i < p->ndim; i++)
        if (p->size[i] == TN_UNKNOWN) p->size[i] = count;
    return n;
}

TNC_PRIV bool tnc_table_bytes(const tn_index_plan *p, int64_t n, int64_t *bytes) {
    int64_t places = n;
    if (p->masks) places += places_last(p) + p->masks / TNC_TILE + 2;
    return !__builtin_mul_overflow(places, 8, bytes);
}

static void places_walk(tn_walk_plan *p, const tn_index_plan *plan, const tn_operand &x,
                        const tnc_table &table) {
    int64_t step = table.n * 8;
    tnc_plan_begin(p, 3);
    for (int i = 0; i < plan->index_ndim; i++) {
        const int d = i - (plan->index_ndim - x.ndim);
        step /= plan->index_size[i];
        tnc_plan_within(p, plan->index_size[i], step,
                        d >= 0 && x.size[d] != 1 ? x.stride[d] * x.bytes : 0, 0);
    }
    p->at[0] = (char *)table.at;
    p->at[1] = x.at;
}

static void places_true(cudaStream_t s, const tn_tensor *mask, const tn_operand &t, int at,
                        const tn_index_plan *p, const tnc_table &table, bool adds) {
    tnc_chosen c = places_mask(mask, &t, at);
    tnc_place_true sink;
    sink.most = places_last(p);
    sink.to = table.at + table.n;
    c.counts = sink.to + sink.most;
    tnc_chosen_count(s, c);
    tnc_chosen_run(s, c, sink);
    TNC_LAUNCH_PLAIN(tnc_place_mask, tnc_blocks(table.n, TNC_THREADS), TNC_THREADS, s, table.at,
                     table.n, sink.most, sink.to, c.counts + c.tiles, adds);
}

TNC_PRIV void tnc_table_run(tn_frame *f, const tn_operand &t, tn_tensor *const *index, int n,
                            const tn_index_plan *p, const tnc_table &table, bool marks) {
    const cudaStream_t s = tnc_stream(f);
    tnc_indices x;
    bool adds = false;
    int at = 0;
    memset(&x, 0, sizeof x);
    x.watch = tnc_watch_of(f);
    x.skip = INT64_MIN;
    x.marks = marks;
    x.base = t.at;
    for (int i = 0; i < n && table.n; i++) {
        tn_walk_plan w;
        if (index[i] && tnc_is_mask(index[i])) {
            places_true(s, index[i], t, at, p, table, adds);
            at += (int)tn_ndim(index[i]);
            adds = true;
            continue;
        }
        if (index[i]) {
            const tn_operand o = tn_operand_of(index[i]);
            places_walk(&w, p, o, table);
            w.at[2] = t.at;
            x.dtype = o.dtype;
            x.bound = t.size[at];
            x.low = -t.size[at];
            x.step = t.stride[at] * t.bytes;
            x.adds = adds;
            tnc_place_indices(s, w, x);
            adds = true;
        }
        at++;
    }
}

TNC_PRIV bool tnc_table_look(tn_frame *f, tn_tensor *const *index, int n, const tn_index_plan *p,
                             int64_t *count) {
    *count = 1;
    for (int i = 0; i < n; i++) {
        int64_t found;
        if (!index[i] || !tnc_is_mask(index[i])) continue;
        if (!tnc_chosen_look(f, places_mask(index[i], NULL, 0), &found) ||
            !tn_index_mask(f, p, found, count))
            return false;
    }
    return true;
}

/* src/cuda/index.cu - elements chosen by tensors of indices and masks: gather, index_select, embedding, index, one_hot, masked_fill, masked_select, nonzero */

struct tnc_index_take {
    tnc_walk<3> w;
    int64_t step, low, bound;
    tnc_watch watch;
};

template <class E, class I>
__global__ void __launch_bounds__(TNC_THREADS) tnc_index_take_kernel(tnc_index_take a) {
    for (int64_t i = TNC_FIRST(); i < a.w.n; i += TNC_STEP()) {
        int64_t at[3], k;
        E e = E();
        tnc_walk_to(a.w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(a.w.at[2] + at[2]);
        if (k < a.low || k >= a.bound) {
            tnc_tell(a.watch, k, a.bound);
            k = 0;
        }
        if (k < 0) k += a.bound;
        if (a.bound) e = *(const E *)(a.w.at[1] + at[1] + k * a.step);
        *(E *)(a.w.at[0] + at[0]) = e;
    }
}

static void index_take(cudaStream_t s, tn_walk_plan *p, tnc_index_take a, int bytes, int dtype,
                       int64_t steps) {
    const int unit = tnc_plan_widen(p, bytes, steps);
    tnc_walk_pieces<3>(*p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        a.w = w;
#define INDEX_TAKE(E)                                                                     \
    if (dtype == TN_I64)                                                                  \
        TNC_LAUNCH_PLAIN((tnc_index_take_kernel<E, int64_t>), blocks, TNC_THREADS, s, a); \
    else                                                                                  \
        TNC_LAUNCH_PLAIN((tnc_index_take_kernel<E, int32_t>), blocks, TNC_THREADS, s, a)
        TNC_MOVED(unit, INDEX_TAKE)
#undef INDEX_TAKE
    });
}

static tnc_index_take index_begin(const tn_frame *f, tn_walk_plan *p, const tn_operand &out,
                                  const tn_operand &x, const tn_operand &index) {
    tnc_index_take a;
    memset(&a, 0, sizeof a);
    a.watch = tnc_watch_of(f);
    tnc_plan_begin(p, 3);
    p->at[0] = out.at;
    p->at[1] = x.at;
    p->at[2] = index.at;
    return a;
}

static void gather_run(tn_frame *f) {
    TN_ARGS(gather, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], out.stride[i] * out.bytes,
                        i == d || i >= x.ndim ? 0 : x.stride[i] * x.bytes,
                        index.stride[i] * index.bytes);
    a.step = x.ndim ? x.stride[d] * x.bytes : 0;
    a.bound = x.ndim ? x.size[d] : 1;
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

static void index_select_run(tn_frame *f) {
    TN_ARGS(index_select, args, f);
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, x.ndim);
    const int64_t next = index.ndim ? index.stride[0] * index.bytes : 0;
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < x.ndim; i++)
        tnc_plan_within(&p, out.size[i], out.stride[i] * out.bytes,
                        i == d ? 0 : x.stride[i] * x.bytes, i == d ? next : 0);
    a.step = x.ndim ? x.stride[d] * x.bytes : 0;
    a.bound = x.ndim ? x.size[d] : 1;
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

static void embedding_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    tn_walk_plan p;
    tnc_index_take a;
    if (!out.numel) return;
    a = index_begin(f, &p, out, x, index);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], out.stride[i] * out.bytes, 0,
                        index.stride[i] * index.bytes);
    tnc_plan_within(&p, x.size[1], out.stride[index.ndim] * out.bytes, x.stride[1] * x.bytes, 0);
    a.step = x.stride[0] * x.bytes;
    a.bound = x.size[0];
    index_take(tnc_stream(f), &p, a, x.bytes, index.dtype, a.step);
}

static int index_single(tn_tensor *const *index, int n) {
    int at = -1;
    for (int i = 0; i < n; i++) {
        if (!index[i]) continue;
        if (at >= 0 || tnc_is_mask(index[i])) return -1;
        at = i;
    }
    return at;
}

static bool index_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p) &&
           tnc_table_look(f, f->in + 1, f->nin - 1, &p, &f->count);
}
static bool index_prepare(tn_frame *f) {
    tn_index_plan p;
    int64_t n, bytes;
    if (!tn_numel(f->out[0]) || index_single(f->in + 1, f->nin - 1) >= 0) return true;
    if (!tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p)) return false;
    n = tnc_table_size(&p, f->count);
    if (!tnc_table_bytes(&p, n, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void index_run(tn_frame *f) {
    tn_tensor **index = f->in + 1;
    const int n = f->nin - 1, single = index_single(index, n);
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    tn_operand places;
    tn_index_plan plan;
    tn_walk_plan p;
    tnc_index_take a;
    tnc_table table;
    int64_t steps = 0, each = 8;
    if (!out.numel || !tn_index_plan_of(f, f->in[0], index, n, &plan)) return;
    table.n = tnc_table_size(&plan, f->count);
    table.at = (int64_t *)f->scratch;
    places = tn_operand_of(index[single < 0 ? 0 : single]);
    a = index_begin(f, &p, out, x, places);
    if (single < 0) {
        tnc_table_run(f, x, index, n, &plan, table, false);
        p.at[2] = (char *)table.at;
        each *= table.n;
    }
    for (int i = 0; i < plan.place; i++)
        tnc_plan_within(&p, plan.size[i], out.stride[i] * out.bytes,
                        x.stride[plan.keep[i]] * x.bytes, 0);
    for (int i = 0; i < plan.index_ndim; i++) {
        each /= single < 0 ? plan.index_size[i] : 1;
        tnc_plan_within(&p, plan.index_size[i], out.stride[plan.place + i] * out.bytes, 0,
                        single < 0 ? each : places.stride[i] * places.bytes);
    }
    for (int i = plan.place; i < plan.kept; i++)
        tnc_plan_within(&p, x.size[plan.keep[i]], out.stride[i + plan.index_ndim] * out.bytes,
                        x.stride[plan.keep[i]] * x.bytes, 0);
    for (int i = 0; i < x.ndim; i++) steps |= x.stride[i] * x.bytes;
    a.step = single < 0 ? 1 : x.stride[single] * x.bytes;
    a.bound = single >= 0 ? x.size[single] : x.numel ? INT64_MAX : 0;
    a.low = single >= 0 ? -a.bound : 0;
    index_take(tnc_stream(f), &p, a, x.bytes, single < 0 ? (int)TN_I64 : places.dtype,
               single < 0 ? steps : a.step);
}

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_one_hot_ends(tnc_far<1> w, const char *x, int64_t *ends) {
    TNC_SHARED(int64_t, low, TNC_THREADS);
    TNC_SHARED(int64_t, high, TNC_THREADS);
    const int t = (int)threadIdx.x;
    low[t] = INT64_MAX;
    high[t] = INT64_MIN;
    for (int64_t i = t; i < w.n; i += TNC_THREADS) {
        int64_t at[1], v;
        tnc_far_to(w, i, at);
        v = tnc_get<int64_t>(x + at[0]);
        if (v < low[t]) low[t] = v;
        if (v > high[t]) high[t] = v;
    }
    __syncthreads();
    for (int h = TNC_THREADS / 2; h; h /= 2) {
        if (t < h && low[t + h] < low[t]) low[t] = low[t + h];
        if (t < h && high[t + h] > high[t]) high[t] = high[t + h];
        __syncthreads();
    }
    if (t) return;
    ends[0] = low[0];
    ends[1] = high[0];
}

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_one_hot_kernel(tnc_walk<2> w, int64_t classes, tnc_watch watch) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2], v;
        tnc_walk_to(w, (uint32_t)i, at);
        v = tnc_get<int64_t>(w.at[1] + at[1]);
        if (v < 0 || v >= classes)
            tnc_tell(watch, v, classes);
        else
            tnc_put<int64_t>(w.at[0] + at[0] + v * 8, 1);
    }
}

static bool one_hot_look(tn_frame *f) {
    TN_ARGS(one_hot, a, f);
    const int32_t device = tn_frame_device(f);
    const tn_operand x = tn_operand_of(f->in[0]);
    int64_t *ends, found[2];
    tn_walk_plan p;
    bool done;
    if (a->num_classes != -1 || !x.numel) return true;
    tn_walk_plan_of(&p, f->in, 1);
    ends = (int64_t *)tnc_alloc(device, sizeof found);
    if (!ends) return tn_fail(f, TN_MEMORY, "the device has no memory to count in");
    TNC_LAUNCH(tnc_one_hot_ends, 1, TNC_THREADS, tnc_stream(f), tnc_far_of<1>(p), x.at, ends);
    done = tnc_look_at(f, found, ends, sizeof found);
    tnc_free(device, ends);
    if (!done) return false;
    if (found[0] < 0) return tn_fail(f, TN_INDEX, "Class values must be non-negative.");
    if (found[1] == INT64_MAX) return tn_fail(f, TN_INVALID, "the result is too large");
    f->count = found[1] + 1;
    return true;
}
static void one_hot_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const int64_t zero = 0;
    const tnc_watch watch = tnc_watch_of(f);
    tn_walk_plan p;
    if (!out.numel) return;
    tnc_fill(tn_frame_device(f), f->out[0], &zero);
    tnc_plan_begin(&p, 2);
    for (int d = 0; d < x.ndim; d++)
        tnc_plan_within(&p, x.size[d], out.stride[d] * 8, x.stride[d] * 8, 0);
    p.at[0] = out.at;
    p.at[1] = x.at;
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        TNC_LAUNCH_PLAIN(tnc_one_hot_kernel, tnc_blocks(w.n, TNC_THREADS), TNC_THREADS, s, w,
                         out.size[x.ndim], watch);
    });
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_masked_fill_kernel(tnc_walk<3> w, const char *unit_at, tnc_pair unit) {
    E e;
    if (unit_at)
        e = *(const E *)unit_at;
    else
        memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[3];
        tnc_walk_to(w, (uint32_t)i, at);
        char *to = w.at[0] + at[0];
        const char *from = w.at[2] + at[2];
        if (tnc_get<uint8_t>(w.at[1] + at[1]))
            *(E *)to = e;
        else if (to != from)
            *(E *)to = *(const E *)from;
    }
}

static bool masked_fill_prepare(tn_frame *f) {
    const tn_operand value = tn_operand_of(f->in[2]);
    if (value.on_host || value.dtype == tn_dtype_of(f->out[0])) return true;
    return tn_device_scratch(f, 16) != NULL;
}
static void masked_fill_run(tn_frame *f) {
    tn_tensor *all[3] = {f->out[0], f->in[1], f->in[0]};
    const tn_operand value = tn_operand_of(f->in[2]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const char *unit_at = value.at;
    tnc_pair unit = {{0, 0}};
    tn_walk_plan p;
    if (!out.numel) return;
    if (value.on_host) {
        tn_operand_number(f->in[2], (tn_dtype)out.dtype, &unit);
        unit_at = NULL;
    } else if (value.dtype != out.dtype) {
        tnc_convert_one(s, (char *)f->scratch, out.dtype, value.at, value.dtype);
        unit_at = (const char *)f->scratch;
    }
    tn_walk_plan_of(&p, all, 3);
    tnc_walk_pieces<3>(p, [&](const tnc_walk<3> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define INDEX_FILL(E) \
    TNC_LAUNCH_PLAIN((tnc_masked_fill_kernel<E>), blocks, TNC_THREADS, s, w, unit_at, unit)
        TNC_MOVED(out.bytes, INDEX_FILL)
#undef INDEX_FILL
    });
}

static tnc_chosen index_masked(const tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), mask = tn_operand_of(f->in[1]);
    const int ndim = x.ndim > mask.ndim ? x.ndim : mask.ndim;
    tn_walk_plan p;
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < ndim; i++) {
        const int a = i - (ndim - x.ndim), b = i - (ndim - mask.ndim);
        const int64_t na = a < 0 ? 1 : x.size[a], nb = b < 0 ? 1 : mask.size[b];
        tnc_plan_within(&p, na == 1 ? nb : na, nb == 1 ? 0 : mask.stride[b] * mask.bytes,
                        na == 1 ? 0 : x.stride[a] * x.bytes, 0);
    }
    return tnc_chosen_of(p, mask);
}

template <class E>
struct tnc_index_select_true {
    E *to;
    const char *from;
    int64_t most;
    TNC_FN void hit(const tnc_index_select_true &s, const int64_t *at, int64_t, int64_t rank) {
        if (rank < s.most) s.to[rank] = *(const E *)(s.from + at[1]);
    }
    TNC_FN void miss(const tnc_index_select_true &, const int64_t *, int64_t) {}
};

static bool masked_select_look(tn_frame *f) {
    return tnc_chosen_look(f, index_masked(f), &f->count);
}
static bool masked_select_prepare(tn_frame *f) {
    return !f->count || tn_device_scratch(f, tnc_chosen_bytes(index_masked(f))) != NULL;
}
static void masked_select_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tnc_chosen c = index_masked(f);
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    tnc_chosen_count(s, c);
#define INDEX_SELECT(E)                                                       \
    {                                                                         \
        const tnc_index_select_true<E> sink = {(E *)out.at, x.at, out.numel}; \
        tnc_chosen_run(s, c, sink);                                           \
    }
    TNC_MOVED(out.bytes, INDEX_SELECT)
#undef INDEX_SELECT
}

struct tnc_nonzero_true {
    int64_t *to, apart[2];
    int64_t size[TN_MAX_DIMS];
    int32_t ndim;
    int64_t most;
    TNC_FN void hit(const tnc_nonzero_true &s, const int64_t *, int64_t i, int64_t rank) {
        for (int d = s.ndim - 1; d >= 0 && rank < s.most; d--) {
            const int64_t q = i / s.size[d];
            s.to[rank * s.apart[0] + d * s.apart[1]] = i - q * s.size[d];
            i = q;
        }
    }
    TNC_FN void miss(const tnc_nonzero_true &, const int64_t *, int64_t) {}
};

static tnc_chosen nonzero_walk(const tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]);
    tn_walk_plan p;
    tnc_plan_begin(&p, 1);
    for (int d = 0; d < x.ndim; d++) tnc_plan_within(&p, x.size[d], x.stride[d] * x.bytes, 0, 0);
    return tnc_chosen_of(p, x);
}
static bool nonzero_look(tn_frame *f) { return tnc_chosen_look(f, nonzero_walk(f), &f->count); }
static bool nonzero_prepare(tn_frame *f) {
    return !f->count || tn_device_scratch(f, tnc_chosen_bytes(nonzero_walk(f))) != NULL;
}
static void nonzero_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    tnc_chosen c = nonzero_walk(f);
    tnc_nonzero_true sink;
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    sink.to = (int64_t *)(void *)out.at;
    sink.apart[0] = out.stride[0];
    sink.apart[1] = out.stride[1];
    sink.ndim = x.ndim;
    sink.most = out.size[0];
    for (int d = 0; d < x.ndim; d++) sink.size[d] = x.size[d];
    tnc_chosen_count(tnc_stream(f), c);
    tnc_chosen_run(tnc_stream(f), c, sink);
}

static const tn_device_row index_table[] = {
    {"gather", false, NULL, NULL, gather_run},
    {"index_select", false, NULL, NULL, index_select_run},
    {"embedding", false, NULL, NULL, embedding_run},
    {"index", false, index_look, index_prepare, index_run},
    {"one_hot", false, one_hot_look, NULL, one_hot_run},
    {"masked_fill", false, NULL, masked_fill_prepare, masked_fill_run},
    {"masked_select", false, masked_select_look, masked_select_prepare, masked_select_run},
    {"nonzero", false, nonzero_look, nonzero_prepare, nonzero_run}};
TNC_FAMILY(index, index_table)

/* src/cuda/scatter.cu - elements written or added at indices: scatter, scatter_value, scatter_add, index_add, index_put, embedding_dense_backward, masked_scatter */

template <class T, class Sum>
struct tnc_scatter_plain {
    typedef T value;
    TNC_FN T load(const char *at) { return tnc_get<T>(at); }
    TNC_FN void store(char *at, T v) { tnc_put<T>(at, v); }
    TNC_FN T plus(T a, T b) { return (T)((Sum)a + (Sum)b); }
};
struct tnc_scatter_f16 {
    typedef float value;
    TNC_FN float load(const char *at) { return tnc_from_f16(tnc_get<uint16_t>(at)); }
    TNC_FN void store(char *at, float v) { tnc_put<uint16_t>(at, tnc_to_f16(v)); }
    TNC_FN float plus(float a, float b) { return tnc_from_f16(tnc_to_f16(a + b)); }
};
struct tnc_scatter_bf16 {
    typedef float value;
    TNC_FN float load(const char *at) { return tnc_from_bf16(tnc_get<uint16_t>(at)); }
    TNC_FN void store(char *at, float v) { tnc_put<uint16_t>(at, tnc_to_bf16(v)); }
    TNC_FN float plus(float a, float b) { return tnc_from_bf16(tnc_to_bf16(a + b)); }
};
template <class C, class R>
struct tnc_scatter_complex {
    typedef C value;
    TNC_FN C load(const char *at) {
        C z;
        z.re = tnc_get<R>(at);
        z.im = tnc_get<R>(at + sizeof(R));
        return z;
    }
    TNC_FN void store(char *at, C z) {
        tnc_put<R>(at, z.re);
        tnc_put<R>(at + sizeof(R), z.im);
    }
    TNC_FN C plus(C a, C b) {
        a.re += b.re;
        a.im += b.im;
        return a;
    }
};
struct tnc_scatter_bool {
    typedef uint8_t value;
    TNC_FN uint8_t load(const char *at) { return tnc_get<uint8_t>(at); }
    TNC_FN void store(char *at, uint8_t v) { tnc_put<uint8_t>(at, v); }
    TNC_FN uint8_t plus(uint8_t a, uint8_t b) { return a || b; }
};

TNC_FN double tnc_scatter_by(double v, double alpha, bool divides) {
    return divides ? v / alpha : v * alpha;
}
template <int dtype, class V>
TNC_FN V tnc_scatter_scaled(V v, double alpha, bool divides) {
    switch (dtype) {
    case TN_F16:
        return (V)tnc_from_f16(tnc_to_f16((float)tnc_scatter_by((double)v, alpha, divides)));
    case TN_BF16:
        return (V)tnc_from_bf16(tnc_to_bf16((float)tnc_scatter_by((double)v, alpha, divides)));
    case TN_F32:
    case TN_F64: return (V)tnc_scatter_by((double)v, alpha, divides);
    case TN_BOOL: return v;
    default: return divides ? v : (V)((uint64_t)v * (uint64_t)(int64_t)alpha);
    }
}
template <int dtype>
TNC_FN tnc_c64 tnc_scatter_scaled(tnc_c64 v, double alpha, bool divides) {
    v.re = (float)tnc_scatter_by((double)v.re, alpha, divides);
    v.im = (float)tnc_scatter_by((double)v.im, alpha, divides);
    return v;
}
template <int dtype>
TNC_FN tnc_c128 tnc_scatter_scaled(tnc_c128 v, double alpha, bool divides) {
    v.re = tnc_scatter_by(v.re, alpha, divides);
    v.im = tnc_scatter_by(v.im, alpha, divides);
    return v;
}

struct tnc_scatter {
    char *to;
    const char *from;
    int64_t n, each;
    const int64_t *table;
    const tnc_item *sorted;
    tnc_far<1> place;
    tnc_far<2> rest;
    double alpha;
    bool scales, mean;
};

TNC_FN bool tnc_scatter_job(const tnc_scatter &a, int64_t i, bool last, int64_t *p, char **to,
                            const char **from, int64_t *key) {
    int64_t at[2] = {0, 0};
    *p = a.each == 1 ? i : i / a.each;
    *key = a.sorted ? (int64_t)a.sorted[*p].key : a.table[*p];
    if (*key < 0) return false;
    if (a.sorted) {
        const int64_t beside = last ? *p + 1 : *p - 1;
        if (beside >= 0 && beside < a.n && (int64_t)a.sorted[beside].key == *key) return false;
    }
    if (a.each > 1) tnc_far_to(a.rest, i - *p * a.each, at);
    *to = a.to + *key + at[0];
    *from = a.from + at[1];
    return true;
}
TNC_FN int64_t tnc_scatter_place(const tnc_scatter &a, int64_t p) {
    int64_t at[1];
    tnc_far_to(a.place, a.sorted ? a.sorted[p].place : p, at);
    return at[0];
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_scatter_set(tnc_scatter a) {
    for (int64_t i = TNC_FIRST(); i < a.n * a.each; i += TNC_STEP()) {
        const char *from;
        char *to;
        int64_t p, key;
        if (tnc_scatter_job(a, i, true, &p, &to, &from, &key))
            *(E *)to = *(const E *)(from + tnc_scatter_place(a, p));
    }
}

template <int dtype, class A>
__global__ void __launch_bounds__(TNC_THREADS) tnc_scatter_sum(tnc_scatter a) {
    typedef typename A::value V;
    for (int64_t i = TNC_FIRST(); i < a.n * a.each; i += TNC_STEP()) {
        const char *from;
        char *to;
        int64_t p, key, count = 0;
        if (!tnc_scatter_job(a, i, false, &p, &to, &from, &key)) continue;
        V sum = A::load(to);
        do {
            V v = A::load(from + tnc_scatter_place(a, p));
            if (a.scales) v = tnc_scatter_scaled<dtype>(v, a.alpha, false);
            sum = A::plus(sum, v);
            count++;
            p++;
        } while (a.sorted && p < a.n && (int64_t)a.sorted[p].key == key);
        if (a.mean && count > 1) sum = tnc_scatter_scaled<dtype>(sum, (double)count, true);
        A::store(to, sum);
    }
}

static __global__ void __launch_bounds__(TNC_THREADS)
    tnc_scatter_items(tnc_item *to, const int64_t *table, int64_t n) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP()) {
        tnc_item item;
        item.key = (uint64_t)table[i];
        item.place = i;
        to[i] = item;
    }
}

template <class E, class I>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_scatter_one(tnc_walk<2> w, int64_t step, int64_t bound, tnc_watch watch, tnc_pair unit) {
    E e;
    memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2], k;
        tnc_walk_to(w, (uint32_t)i, at);
        k = (int64_t) * (const I *)(w.at[1] + at[1]);
        if (k < 0 || k >= bound)
            tnc_tell(watch, k, bound);
        else
            *(E *)(w.at[0] + at[0] + k * step) = e;
    }
}

static bool scatter_scratch(tn_frame *f, int64_t n, int64_t more) {
    int64_t bytes, table;
    if (!n) return true;
    if (!tnc_order_bytes(1, n, &bytes) || __builtin_mul_overflow(n, 8, &table) ||
        __builtin_add_overflow(bytes, table + more + 16, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void scatter_sort(cudaStream_t s, tnc_scatter *a, int64_t more) {
    tnc_item *items = (tnc_item *)(((uintptr_t)(a->table + a->n) + (uintptr_t)more + 15) / 16 * 16);
    if (a->n < 2) return;
    TNC_LAUNCH_PLAIN(tnc_scatter_items, tnc_blocks(a->n, TNC_THREADS), TNC_THREADS, s, items,
                     a->table, a->n);
    a->sorted = tnc_order(s, items, items + a->n, 1, a->n);
}

static void scatter_set(cudaStream_t s, const tnc_scatter &a, int bytes) {
    const unsigned blocks = tnc_blocks(a.n * a.each, TNC_THREADS);
#define SCATTER_SET(E) TNC_LAUNCH_PLAIN((tnc_scatter_set<E>), blocks, TNC_THREADS, s, a)
    TNC_MOVED(bytes, SCATTER_SET)
#undef SCATTER_SET
}
static void scatter_sum(cudaStream_t s, const tnc_scatter &a, int dtype) {
    const unsigned blocks = tnc_blocks(a.n * a.each, TNC_THREADS);
#define SCATTER_SUM(type, ...)                                                             \
    case type:                                                                             \
        TNC_LAUNCH_PLAIN((tnc_scatter_sum<type, __VA_ARGS__>), blocks, TNC_THREADS, s, a); \
        break
    switch (dtype) {
        SCATTER_SUM(TN_F32, tnc_scatter_plain<float, float>);
        SCATTER_SUM(TN_F64, tnc_scatter_plain<double, double>);
        SCATTER_SUM(TN_U8, tnc_scatter_plain<uint8_t, uint32_t>);
        SCATTER_SUM(TN_I8, tnc_scatter_plain<int8_t, uint32_t>);
        SCATTER_SUM(TN_I16, tnc_scatter_plain<int16_t, uint32_t>);
        SCATTER_SUM(TN_I32, tnc_scatter_plain<int32_t, uint32_t>);
        SCATTER_SUM(TN_I64, tnc_scatter_plain<int64_t, uint64_t>);
        SCATTER_SUM(TN_F16, tnc_scatter_f16);
        SCATTER_SUM(TN_BF16, tnc_scatter_bf16);
        SCATTER_SUM(TN_C64, tnc_scatter_complex<tnc_c64, float>);
        SCATTER_SUM(TN_C128, tnc_scatter_complex<tnc_c128, double>);
        SCATTER_SUM(TN_BOOL, tnc_scatter_bool);
    default: break;
    }
#undef SCATTER_SUM
}

static void scatter_begin(tn_frame *f) {
    if (f->out[0] != f->in[0] && tn_numel(f->in[0]))
        tnc_elements(tn_frame_device(f), f->out[0], f->in[0]);
}
static void scatter_table(const tn_frame *f, const tn_operand &index, const tn_operand &out, int d,
                          bool slices, int64_t skip) {
    int64_t each = index.numel * 8;
    tnc_indices x;
    tn_walk_plan p;
    memset(&x, 0, sizeof x);
    x.dtype = index.dtype;
    x.step = out.ndim ? out.stride[d] * out.bytes : 0;
    x.bound = out.ndim ? out.size[d] : 1;
    x.skip = skip;
    x.base = out.at;
    x.marks = true;
    x.watch = tnc_watch_of(f);
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < index.ndim; i++) {
        each /= index.size[i];
        tnc_plan_within(&p, index.size[i], each, index.stride[i] * index.bytes,
                        slices || i == d || i >= out.ndim ? 0 : out.stride[i] * out.bytes);
    }
    p.at[0] = (char *)f->scratch;
    p.at[1] = index.at;
    p.at[2] = out.at;
    tnc_place_indices(tnc_stream(f), p, x);
}
static tnc_scatter scatter_of(const tn_frame *f, const tn_operand &out, const tn_operand &from,
                              int64_t n) {
    tnc_scatter a;
    memset(&a, 0, sizeof a);
    a.to = out.at;
    a.from = from.at;
    a.n = n;
    a.each = 1;
    a.table = (const int64_t *)f->scratch;
    return a;
}

static bool scatter_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) || scatter_scratch(f, tn_numel(f->in[1]), 0);
}
static void scatter_elements(tn_frame *f, int64_t dim, bool adds) {
    const tn_operand index = tn_operand_of(f->in[1]), src = tn_operand_of(f->in[2]),
                     out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    tnc_scatter a;
    scatter_begin(f);
    if (!index.numel || !out.numel) return;
    scatter_table(f, index, out, tnc_dim(dim, out.ndim), false, INT64_MIN);
    a = scatter_of(f, out, src, index.numel);
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], i < src.ndim ? src.stride[i] * src.bytes : 0, 0, 0);
    a.place = tnc_far_of<1>(p);
    scatter_sort(s, &a, 0);
    if (adds)
        scatter_sum(s, a, out.dtype);
    else
        scatter_set(s, a, out.bytes);
}
static void scatter_run(tn_frame *f) {
    TN_ARGS(scatter, a, f);
    scatter_elements(f, a->dim, false);
}
static void scatter_add_run(tn_frame *f) {
    TN_ARGS(scatter_add, a, f);
    scatter_elements(f, a->dim, true);
}

static void scatter_value_run(tn_frame *f) {
    TN_ARGS(scatter_value, args, f);
    const tn_operand index = tn_operand_of(f->in[1]), out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, out.ndim);
    const int64_t step = out.ndim ? out.stride[d] * out.bytes : 0,
                  bound = out.ndim ? out.size[d] : 1;
    const tnc_watch watch = tnc_watch_of(f);
    const cudaStream_t s = tnc_stream(f);
    tnc_pair unit = {{0, 0}};
    tn_walk_plan p;
    scatter_begin(f);
    if (!index.numel || !out.numel) return;
    tn_scalar_element(args->value, (tn_dtype)out.dtype, &unit);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], i == d || i >= out.ndim ? 0 : out.stride[i] * out.bytes,
                        index.stride[i] * index.bytes, 0);
    p.at[0] = out.at;
    p.at[1] = index.at;
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define SCATTER_ONE(E)                                                                          \
    if (index.dtype == TN_I64)                                                                  \
        TNC_LAUNCH_PLAIN((tnc_scatter_one<E, int64_t>), blocks, TNC_THREADS, s, w, step, bound, \
                         watch, unit);                                                          \
    else                                                                                        \
        TNC_LAUNCH_PLAIN((tnc_scatter_one<E, int32_t>), blocks, TNC_THREADS, s, w, step, bound, \
                         watch, unit)
        TNC_MOVED(out.bytes, SCATTER_ONE)
#undef SCATTER_ONE
    });
}

static bool index_add_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) || !tn_numel(f->in[2]) || scatter_scratch(f, tn_numel(f->in[1]), 0);
}
static void index_add_run(tn_frame *f) {
    TN_ARGS(index_add, args, f);
    const tn_operand index = tn_operand_of(f->in[1]), src = tn_operand_of(f->in[2]),
                     out = tn_operand_of(f->out[0]);
    const int d = tnc_dim(args->dim, out.ndim);
    tn_walk_plan p;
    tnc_scatter a;
    scatter_begin(f);
    if (!out.numel || !src.numel) return;
    scatter_table(f, index, out, d, true, INT64_MIN);
    a = scatter_of(f, out, src, index.numel);
    tnc_plan_begin(&p, 1);
    tnc_plan_within(&p, index.numel, src.ndim ? src.stride[d] * src.bytes : 0, 0, 0);
    a.place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < out.ndim; i++)
        if (i != d)
            tnc_plan_within(&p, out.size[i], out.stride[i] * out.bytes, src.stride[i] * src.bytes,
                            0);
    a.rest = tnc_far_of<2>(p);
    a.each = p.numel;
    a.alpha = args->alpha;
    a.scales = args->alpha != 1;
    scatter_sort(tnc_stream(f), &a, 0);
    scatter_sum(tnc_stream(f), a, out.dtype);
}

static void embedding_dense_backward_run(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, args, f);
    const tn_operand d = tn_operand_of(f->in[0]), index = tn_operand_of(f->in[1]),
                     out = tn_operand_of(f->out[0]);
    const tnc_pair zero = {{0, 0}};
    tn_walk_plan p;
    tnc_scatter a;
    if (out.numel) tnc_fill(tn_frame_device(f), f->out[0], &zero);
    if (!index.numel || !out.numel) return;
    scatter_table(f, index, out, 0, true, args->padding_idx < 0 ? INT64_MIN : args->padding_idx);
    a = scatter_of(f, out, d, index.numel);
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < index.ndim; i++)
        tnc_plan_within(&p, index.size[i], d.stride[i] * d.bytes, 0, 0);
    a.place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    tnc_plan_within(&p, out.size[1], out.stride[1] * out.bytes, d.stride[index.ndim] * d.bytes, 0);
    a.rest = tnc_far_of<2>(p);
    a.each = out.size[1];
    a.mean = args->scale_grad_by_freq;
    scatter_sort(tnc_stream(f), &a, 0);
    scatter_sum(tnc_stream(f), a, out.dtype);
}

static bool index_put_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 2, f->nin - 2, &p) &&
           tnc_table_look(f, f->in + 2, f->nin - 2, &p, &f->count) &&
           tn_index_values_fit(f, &p, f->in[1], f->count);
}
static bool index_put_plan(tn_frame *f, tn_index_plan *p, int64_t *n, int64_t *more) {
    if (!tn_index_plan_of(f, f->in[0], f->in + 2, f->nin - 2, p)) return false;
    *n = tnc_table_size(p, f->count);
    if (!tnc_table_bytes(p, *n, more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    *more -= *n * 8;
    return true;
}
static bool index_put_prepare(tn_frame *f) {
    tn_index_plan p;
    int64_t n, more;
    if (!tn_numel(f->out[0]) || !tn_numel(f->in[1])) return true;
    return index_put_plan(f, &p, &n, &more) && scatter_scratch(f, n, more);
}
static bool index_put_once(tn_tensor *const *index, int n) {
    int tensors = 0;
    for (int i = 0; i < n; i++) {
        if (!index[i]) continue;
        if (!tnc_is_mask(index[i])) return false;
        tensors++;
    }
    return tensors == 1;
}
static void index_put_walks(tnc_scatter *a, const tn_index_plan *plan, const tn_operand &values,
                            const tn_operand &out) {
    const int more = plan->ndim - values.ndim;
    tn_walk_plan p;
    int64_t step[TN_MAX_DIMS];
    for (int d = 0; d < plan->ndim; d++)
        step[d] = d < more || (values.size[d - more] == 1 && plan->size[d] != 1)
                      ? 0
                      : values.stride[d - more] * values.bytes;
    tnc_plan_begin(&p, 1);
    for (int i = 0; i < plan->index_ndim; i++)
        tnc_plan_within(&p, plan->index_size[i], step[plan->place + i], 0, 0);
    a->place = tnc_far_of<1>(p);
    tnc_plan_begin(&p, 2);
    for (int i = 0; i < plan->kept; i++)
        tnc_plan_within(&p, out.size[plan->keep[i]], out.stride[plan->keep[i]] * out.bytes,
                        step[i < plan->place ? i : i + plan->index_ndim], 0);
    a->rest = tnc_far_of<2>(p);
    a->each = p.numel;
}
static void index_put_run(tn_frame *f) {
    TN_ARGS(index_put, args, f);
    const tn_operand values = tn_operand_of(f->in[1]), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    tn_index_plan plan;
    tnc_table table;
    tnc_scatter a;
    int64_t more;
    scatter_begin(f);
    if (!out.numel || !values.numel || !index_put_plan(f, &plan, &table.n, &more) || !table.n)
        return;
    table.at = (int64_t *)f->scratch;
    tnc_table_run(f, out, f->in + 2, f->nin - 2, &plan, table, true);
    a = scatter_of(f, out, values, table.n);
    index_put_walks(&a, &plan, values, out);
    if (!a.each) return;
    if (!index_put_once(f->in + 2, f->nin - 2)) scatter_sort(s, &a, more);
    if (args->accumulate)
        scatter_sum(s, a, out.dtype);
    else
        scatter_set(s, a, out.bytes);
}

template <class E>
struct tnc_scatter_true {
    char *to;
    const char *self, *source;
    tnc_far<1> places;
    TNC_FN void hit(const tnc_scatter_true &s, const int64_t *at, int64_t, int64_t rank) {
        int64_t from[1];
        tnc_far_to(s.places, rank, from);
        *(E *)(s.to + at[1]) = *(const E *)(s.source + from[0]);
    }
    TNC_FN void miss(const tnc_scatter_true &s, const int64_t *at, int64_t) {
        char *to = s.to + at[1];
        const char *from = s.self + at[2];
        if (to != from) *(E *)to = *(const E *)from;
    }
};

static tnc_chosen masked_scatter_walk(const tn_operand &out, const tn_operand &mask,
                                      const tn_operand &self) {
    const int more[2] = {out.ndim - mask.ndim, out.ndim - self.ndim};
    tn_walk_plan p;
    tnc_plan_begin(&p, 3);
    for (int d = 0; d < out.ndim; d++) {
        const int m = d - more[0], x = d - more[1];
        tnc_plan_within(&p, out.size[d],
                        m < 0 || mask.size[m] == 1 ? 0 : mask.stride[m] * mask.bytes,
                        out.stride[d] * out.bytes,
                        x < 0 || self.size[x] == 1 ? 0 : self.stride[x] * self.bytes);
    }
    return tnc_chosen_of(p, mask);
}
static tnc_chosen masked_scatter_chosen(const tn_frame *f) {
    return masked_scatter_walk(tn_operand_of(f->out[0]), tn_operand_of(f->in[1]),
                               tn_operand_of(f->in[0]));
}
static bool masked_scatter_look(tn_frame *f) {
    const int64_t has = tn_numel(f->in[2]);
    int64_t count;
    if (!tnc_chosen_look(f, masked_scatter_chosen(f), &count)) return false;
    return count <= has ||
           tn_fail(f, TN_INVALID,
                   "masked_scatter: expected source of at least %lld elements, got %lld",
                   (long long)count, (long long)has);
}
static bool masked_scatter_prepare(tn_frame *f) {
    return !tn_numel(f->out[0]) ||
           tn_device_scratch(f, tnc_chosen_bytes(masked_scatter_chosen(f))) != NULL;
}
static void masked_scatter_run(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]), self = tn_operand_of(f->in[0]),
                     source = tn_operand_of(f->in[2]);
    const cudaStream_t s = tnc_stream(f);
    tnc_chosen c = masked_scatter_chosen(f);
    tn_walk_plan p;
    if (!out.numel) return;
    c.counts = (int64_t *)f->scratch;
    tnc_plan_begin(&p, 1);
    for (int d = 0; d < source.ndim; d++)
        tnc_plan_within(&p, source.size[d], source.stride[d] * source.bytes, 0, 0);
    tnc_chosen_count(s, c);
#define SCATTER_TRUE(E)                                                                  \
    {                                                                                    \
        const tnc_scatter_true<E> sink = {out.at, self.at, source.at, tnc_far_of<1>(p)}; \
        tnc_chosen_run(s, c, sink);                                                      \
    }
    TNC_MOVED(out.bytes, SCATTER_TRUE)
#undef SCATTER_TRUE
}

static const tn_device_row scatter_rows[] = {
    {"scatter", false, NULL, scatter_prepare, scatter_run},
    {"scatter_add", false, NULL, scatter_prepare, scatter_add_run},
    {"scatter_value", false, NULL, NULL, scatter_value_run},
    {"index_add", false, NULL, index_add_prepare, index_add_run},
    {"index_put", false, index_put_look, index_put_prepare, index_put_run},
    {"embedding_dense_backward", false, NULL, scatter_prepare, embedding_dense_backward_run},
    {"masked_scatter", false, masked_scatter_look, masked_scatter_prepare, masked_scatter_run}};
TNC_FAMILY(scatter, scatter_rows)

/* src/cuda/sort.cu - sort, topk, searchsorted, bucketize: stable, NaN the largest, as on the CPU */

TNC_FN uint64_t tnc_sort_float(uint64_t v, int bits, uint64_t infinity) {
    const uint64_t sign = (uint64_t)1 << (bits - 1), size = v & (sign - 1);
    if (size > infinity) return ~(uint64_t)0;
    return v & sign && size ? sign - size : sign + size;
}
TNC_FN uint64_t tnc_sort_key(const char *at, int dtype) {
    const uint64_t sign = (uint64_t)1 << 63;
    switch (dtype) {
    case TN_F32: return tnc_sort_float(tnc_get<uint32_t>(at), 32, 0x7f800000u);
    case TN_F64: return tnc_sort_float(tnc_get<uint64_t>(at), 64, 0x7ff0000000000000u);
    case TN_F16: return tnc_sort_float(tnc_get<uint16_t>(at), 16, 0x7c00);
    case TN_BF16: return tnc_sort_float(tnc_get<uint16_t>(at), 16, 0x7f80);
    case TN_BOOL:
    case TN_U8: return (uint64_t)tnc_load_real<int64_t>(at, dtype);
    default: return (uint64_t)tnc_load_real<int64_t>(at, dtype) ^ sign;
    }
}

struct tnc_sort {
    tnc_far<3> lanes;
    const char *x;
    char *values;
    int64_t *indices;
    tnc_item *items;
    int64_t n, k, row;
    int64_t step[3];
    uint64_t turn;
    int32_t dtype;
};

static __global__ void __launch_bounds__(TNC_THREADS) tnc_sort_keys(tnc_sort a) {
    for (int64_t i = TNC_FIRST(); i < a.lanes.n * a.n; i += TNC_STEP()) {
        const int64_t lane = i / a.n;
        tnc_item item;
        int64_t at[3];
        tnc_far_to(a.lanes, lane, at);
        item.place = i - lane * a.n;
        item.key = tnc_sort_key(a.x + at[0] + item.place * a.step[0], a.dtype) ^ a.turn;
        a.items[i] = item;
    }
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_sort_fetch(tnc_sort a) {
    for (int64_t i = TNC_FIRST(); i < a.lanes.n * a.k; i += TNC_STEP()) {
        const int64_t lane = i / a.k, j = i - lane * a.k, place = a.items[lane * a.row + j].place;
        int64_t at[3];
        tnc_far_to(a.lanes, lane, at);
        *(E *)(a.values + at[1] + j * a.step[1]) = *(const E *)(a.x + at[0] + place * a.step[0]);
        *(int64_t *)((char *)a.indices + at[2] + j * a.step[2]) = place;
    }
}

static tnc_sort sort_of(const tn_frame *f, int d, int64_t k, bool descending) {
    const tn_operand x = tn_operand_of(f->in[0]), values = tn_operand_of(f->out[0]),
                     indices = tn_operand_of(f->out[1]);
    tn_walk_plan p;
    tnc_sort a;
    memset(&a, 0, sizeof a);
    tnc_plan_begin(&p, 3);
    for (int i = 0; i < x.ndim; i++) {
        if (i == d) continue;
        tnc_plan_within(&p, x.size[i], x.stride[i] * x.bytes, values.stride[i] * values.bytes,
                        indices.stride[i] * indices.bytes);
    }
    a.lanes = tnc_far_of<3>(p);
    a.x = x.at;
    a.values = values.at;
    a.indices = (int64_t *)(void *)indices.at;
    a.n = x.ndim ? x.size[d] : 1;
    a.k = k;
    a.step[0] = x.ndim ? x.stride[d] * x.bytes : 0;
    a.step[1] = x.ndim ? values.stride[d] * values.bytes : 0;
    a.step[2] = x.ndim ? indices.stride[d] * indices.bytes : 0;
    a.turn = descending ? ~(uint64_t)0 : 0;
    a.dtype = x.dtype;
    return a;
}

static bool sort_lanes_prepare(tn_frame *f, int64_t dim) {
    const tn_operand x = tn_operand_of(f->in[0]);
    const int64_t n = x.ndim ? x.size[tnc_dim(dim, x.ndim)] : 1;
    int64_t bytes;
    if (!tn_numel(f->out[0])) return true;
    if (!tnc_order_bytes(x.numel / n, n, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, bytes) != NULL;
}
static void sort_lanes(tn_frame *f, tnc_sort a, bool all) {
    const cudaStream_t s = tnc_stream(f);
    const unsigned blocks = tnc_blocks(a.lanes.n * a.k, TNC_THREADS);
    const int bytes = tnc_dtype_bytes(a.dtype);
    tnc_item *room;
    if (!tn_numel(f->out[0])) return;
    a.items = (tnc_item *)f->scratch;
    room = a.items + a.lanes.n * a.n;
    TNC_LAUNCH_PLAIN(tnc_sort_keys, tnc_blocks(a.lanes.n * a.n, TNC_THREADS), TNC_THREADS, s, a);
    a.row = a.n;
    if (all)
        a.items = tnc_order(s, a.items, room, a.lanes.n, a.n);
    else
        a.items = tnc_order_first(s, a.items, room, a.lanes.n, a.n, a.k, &a.row);
#define SORT_FETCH(E) TNC_LAUNCH_PLAIN((tnc_sort_fetch<E>), blocks, TNC_THREADS, s, a)
    TNC_MOVED(bytes, SORT_FETCH)
#undef SORT_FETCH
}

static bool sort_prepare(tn_frame *f) {
    TN_ARGS(sort, a, f);
    return sort_lanes_prepare(f, a->dim);
}
static void sort_run(tn_frame *f) {
    TN_ARGS(sort, a, f);
    const tn_operand x = tn_operand_of(f->in[0]);
    const int d = tnc_dim(a->dim, x.ndim);
    sort_lanes(f, sort_of(f, d, x.ndim ? x.size[d] : 1, a->descending), true);
}
static bool topk_prepare(tn_frame *f) {
    TN_ARGS(topk, a, f);
    return sort_lanes_prepare(f, a->dim);
}
static void topk_run(tn_frame *f) {
    TN_ARGS(topk, a, f);
    const int ndim = (int)tn_ndim(f->in[0]);
    sort_lanes(f, sort_of(f, tnc_dim(a->dim, ndim), ndim ? a->k : 1, a->largest), false);
}

struct tnc_search {
    tnc_far<4> w;
    char *to;
    const char *values, *edges, *order;
    tnc_pair one;
    int64_t n, edge, next;
    tnc_watch watch;
    uint8_t values_dtype, edges_dtype, common;
    bool right, narrow;
};

TNC_FN double tnc_search_as(const char *at, int from, int common, double) {
    if (common == TN_F64) return tnc_load_real<double>(at, from);
    return (double)tnc_through(tnc_load_real<float>(at, from), common);
}
TNC_FN int64_t tnc_search_as(const char *at, int from, int common, int64_t) {
    return tnc_through(tnc_load_real<int64_t>(at, from), common);
}

template <class T>
TNC_FN int64_t tnc_search_place(const tnc_search &a, const char *edge, const char *order, T value) {
    int64_t low = 0, high = a.n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, k = middle;
        if (order) k = tnc_get<int64_t>(order + middle * a.next);
        if (k < 0 || k >= a.n) {
            tnc_tell(a.watch, k, a.n);
            k = 0;
        }
        const T e = tnc_search_as(edge + k * a.edge, a.edges_dtype, a.common, T());
        if (a.right ? e > value : e >= value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_search_kernel(tnc_search a) {
    for (int64_t i = TNC_FIRST(); i < a.w.n; i += TNC_STEP()) {
        int64_t at[4], place;
        T value;
        tnc_far_to(a.w, i, at);
        if (a.values) {
            value = tnc_search_as(a.values + at[1], a.values_dtype, a.common, T());
        } else {
            const tnc_pair one = a.one;
            value = tnc_search_as((const char *)&one, a.common, a.common, T());
        }
        place = tnc_search_place<T>(a, a.edges + at[2], a.order ? a.order + at[3] : NULL, value);
        if (a.narrow)
            tnc_put<int32_t>(a.to + at[0], (int32_t)place);
        else
            tnc_put<int64_t>(a.to + at[0], place);
    }
}

static void search_run(tn_frame *f, tn_tensor *boundaries, tn_tensor *searched, tn_tensor *sorter,
                       bool right) {
    const tn_operand edges = tn_operand_of(boundaries), values = tn_operand_of(searched),
                     order = tn_operand_of(sorter), out = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const int last = edges.ndim - 1;
    tn_tensor *pair[2] = {boundaries, searched};
    const tn_dtype common = tn_operands_dtype(f, pair, 2);
    tn_walk_plan p;
    tnc_search a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.watch = tnc_watch_of(f);
    tnc_plan_begin(&p, 4);
    for (int d = 0; d < out.ndim; d++) {
        const bool row = last > 0 && d < last;
        tnc_plan_within(&p, out.size[d], out.stride[d] * out.bytes, values.stride[d] * values.bytes,
                        row ? edges.stride[d] * edges.bytes : 0,
                        row && sorter ? order.stride[d] * order.bytes : 0);
    }
    a.w = tnc_far_of<4>(p);
    a.to = out.at;
    a.values = values.on_host ? NULL : values.at;
    if (values.on_host) tn_operand_number(searched, common, &a.one);
    a.edges = edges.at;
    a.order = sorter ? order.at : NULL;
    a.n = edges.size[last];
    a.edge = edges.stride[last] * edges.bytes;
    a.next = sorter ? order.stride[last] * order.bytes : 0;
    a.values_dtype = values.dtype;
    a.edges_dtype = edges.dtype;
    a.common = (uint8_t)common;
    a.right = right;
    a.narrow = out.dtype == TN_I32;
    if (common == TN_F16 || common == TN_BF16 || common == TN_F32 || common == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_search_kernel<double>), tnc_blocks(a.w.n, TNC_THREADS), TNC_THREADS,
                         s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_search_kernel<int64_t>), tnc_blocks(a.w.n, TNC_THREADS), TNC_THREADS,
                         s, a);
}
static void searchsorted_run(tn_frame *f) {
    TN_ARGS(searchsorted, a, f);
    search_run(f, f->in[0], f->in[1], f->in[2],
               a->right || (a->side && strcmp(a->side, "right") == 0));
}
static void bucketize_run(tn_frame *f) {
    TN_ARGS(bucketize, a, f);
    search_run(f, f->in[1], f->in[0], NULL, a->right);
}

static const tn_device_row sort_table[] = {{"sort", false, NULL, sort_prepare, sort_run},
                                           {"topk", false, NULL, topk_prepare, topk_run},
                                           {"searchsorted", false, NULL, NULL, searchsorted_run},
                                           {"bucketize", false, NULL, NULL, bucketize_run}};
TNC_FAMILY(sort, sort_table)

/* src/cuda/moves.cu - rows that move elements and are no copies of whole tensors: reversed dimensions, triangles, conjugates, sums into a view by strides */

struct tnc_triangle {
    char *to;
    const char *from;
    int64_t heads, rows, cols, diagonal, to_row, to_col, from_row, from_col;
    int32_t nhead;
    bool lower;
    int64_t size[TN_MAX_DIMS], to_head[TN_MAX_DIMS], from_head[TN_MAX_DIMS];
};

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_triangle_kernel(tnc_triangle a) {
    const int lane = (int)(threadIdx.x % 32);
    const E zero = {};
    for (int64_t job = TNC_FIRST() / 32; job < a.heads * a.rows; job += TNC_STEP() / 32) {
        const int64_t r = job % a.rows;
        char *to = a.to + r * a.to_row;
        const char *from = a.from + r * a.from_row;
        int64_t head = job / a.rows;
        for (int d = a.nhead - 1; d >= 0; d--) {
            to += head % a.size[d] * a.to_head[d];
            from += head % a.size[d] * a.from_head[d];
            head /= a.size[d];
        }
        const int64_t cut = a.diagonal > a.cols    ? a.cols
                            : a.diagonal < -a.rows ? 0
                                                   : r + a.diagonal + a.lower;
        for (int64_t c = lane; c < a.cols; c += 32)
            *(E *)(to + c * a.to_col) =
                (c < cut) == a.lower ? *(const E *)(from + c * a.from_col) : zero;
    }
}

static void moves_triangle(tn_frame *f, int64_t diagonal, bool lower) {
    const tn_operand out = tn_operand_of(f->out[0]), x = tn_operand_of(f->in[0]);
    const int n = out.ndim - 2;
    cudaStream_t s = tnc_stream(f);
    tnc_triangle a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.to = out.at;
    a.from = x.at;
    a.rows = out.size[n];
    a.cols = out.size[n + 1];
    a.heads = out.numel / a.rows / a.cols;
    a.diagonal = diagonal;
    a.lower = lower;
    a.to_row = out.stride[n] * out.bytes;
    a.to_col = out.stride[n + 1] * out.bytes;
    a.from_row = x.stride[n] * x.bytes;
    a.from_col = x.stride[n + 1] * x.bytes;
    a.nhead = n;
    for (int d = 0; d < n; d++) {
        a.size[d] = out.size[d];
        a.to_head[d] = out.stride[d] * out.bytes;
        a.from_head[d] = x.stride[d] * x.bytes;
    }
    const unsigned blocks = tnc_blocks(a.heads * a.rows, TNC_THREADS / 32);
    switch (out.bytes) {
    case 1: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint8_t>), blocks, TNC_THREADS, s, a); break;
    case 2: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint16_t>), blocks, TNC_THREADS, s, a); break;
    case 4: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint32_t>), blocks, TNC_THREADS, s, a); break;
    case 8: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<uint64_t>), blocks, TNC_THREADS, s, a); break;
    default: TNC_LAUNCH_PLAIN((tnc_triangle_kernel<tnc_pair>), blocks, TNC_THREADS, s, a);
    }
}
static void moves_tril(tn_frame *f) {
    TN_ARGS(tril, a, f);
    moves_triangle(f, a->diagonal, true);
}
static void moves_triu(tn_frame *f) {
    TN_ARGS(triu, a, f);
    moves_triangle(f, a->diagonal, false);
}

static void moves_flip(tn_frame *f) {
    TN_ARGS(flip, a, f);
    const tn_operand out = tn_operand_of(f->out[0]), x = tn_operand_of(f->in[0]);
    int64_t step[TN_MAX_DIMS];
    tn_walk_plan p;
    memset(&p, 0, sizeof p);
    p.n = 2;
    p.numel = out.numel;
    p.at[0] = out.at;
    p.at[1] = x.at;
    if (!out.numel) return;
    for (int d = 0; d < x.ndim; d++) step[d] = x.stride[d] * x.bytes;
    for (int64_t i = 0; i < a->dims.n && x.ndim; i++) {
        const int64_t d = a->dims.at[i] < 0 ? a->dims.at[i] + x.ndim : a->dims.at[i];
        p.at[1] += (x.size[d] - 1) * step[d];
        step[d] = -step[d];
    }
    for (int d = x.ndim - 1; d >= 0; d--) {
        const int64_t to = out.stride[d] * out.bytes;
        int at = p.ndim++;
        for (; at > 0 && p.stride[0][at - 1] > to; at--) {
            p.size[at] = p.size[at - 1];
            for (int k = 0; k < 2; k++) p.stride[k][at] = p.stride[k][at - 1];
        }
        p.size[at] = x.size[d];
        p.stride[0][at] = to;
        p.stride[1][at] = step[d];
    }
    if (!p.ndim) p.size[p.ndim++] = 1;
    tnc_move_by(tnc_stream(f), p, out.bytes);
}

template <class Z>
__global__ void __launch_bounds__(TNC_THREADS) tnc_conj_kernel(tnc_walk<2> w) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        Z z = *(const Z *)(w.at[1] + at[1]);
        z.im = -z.im;
        *(Z *)(w.at[0] + at[0]) = z;
    }
}

static void moves_conj(tn_frame *f) {
    const int dtype = (int)tn_dtype_of(f->out[0]);
    tn_tensor *both[2] = {f->out[0], f->in[0]};
    cudaStream_t s = tnc_stream(f);
    tn_walk_plan p;
    if (dtype != TN_C64 && dtype != TN_C128) return;
    tn_walk_plan_of(&p, both, 2);
    tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        if (dtype == TN_C64)
            TNC_LAUNCH_PLAIN((tnc_conj_kernel<tnc_c64>), blocks, TNC_THREADS, s, w);
        else
            TNC_LAUNCH_PLAIN((tnc_conj_kernel<tnc_c128>), blocks, TNC_THREADS, s, w);
    });
}

struct tnc_strided {
    char *to;
    const char *from;
    int64_t extent;
    int32_t n, dtype, bytes;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], from_step[TN_MAX_DIMS];
    int64_t reach[TN_MAX_DIMS + 1];
};

struct tnc_strided_level {
    int64_t rest, first, last, from;
};
TNC_FN tnc_strided_level tnc_strided_enter(const tnc_strided &a, int d, int64_t rest,
                                           int64_t from) {
    tnc_strided_level l = {rest, 0, a.size[d] - 1, from};
    const int64_t left = rest - a.reach[d + 1], stride = a.stride[d];
    if (stride == 0) {
        if (left > 0) l.last = -1;
        return l;
    }
    if (left > 0) l.first = (left + stride - 1) / stride;
    if (rest / stride < l.last) l.last = rest / stride;
    return l;
}

TNC_FN float tnc_strided_sum(float a, float b, int dtype) { return tnc_through(a + b, dtype); }
TNC_FN double tnc_strided_sum(double a, double b, int) { return a + b; }
TNC_FN int64_t tnc_strided_sum(int64_t a, int64_t b, int dtype) {
    return dtype == TN_BOOL ? (int64_t)(a || b) : (int64_t)((uint64_t)a + (uint64_t)b);
}

template <class V>
__global__ void __launch_bounds__(TNC_THREADS) tnc_strided_kernel(tnc_strided a) {
    for (int64_t p = TNC_FIRST(); p < a.extent; p += TNC_STEP()) {
        tnc_strided_level level[TN_MAX_DIMS];
        char *to = a.to + p * a.bytes;
        bool any = false;
        V sum = 0;
        level[0] = tnc_strided_enter(a, 0, p, 0);
        for (int d = 0; d >= 0;) {
            tnc_strided_level &l = level[d];
            const int64_t i = l.first, from = l.from + i * a.from_step[d];
            if (i > l.last) {
                d--;
                continue;
            }
            l.first++;
            if (d + 1 < a.n) {
                level[d + 1] = tnc_strided_enter(a, d + 1, l.rest - i * a.stride[d], from);
                d++;
                continue;
            }
            if (!any) sum = tnc_load_real<V>(to, a.dtype);
            any = true;
            sum = tnc_strided_sum(sum, tnc_load_real<V>(a.from + from, a.dtype), a.dtype);
        }
        if (any) tnc_store_real(to, a.dtype, sum);
    }
}

static int64_t moves_gcd(int64_t a, int64_t b) {
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How many dimensions of `by`, which are sorted by falling stride and have none of 0, must keep
 * their order. All elements that meet in a destination have the same indices in the others, which
 * do not overlap among themselves and stay within the steps of the first ones. */
static int moves_ordered(const int64_t *size, const int64_t *stride, const int *by, int n) {
    int64_t reach = 0;
    int k = n, ordered = n;
    while (k > 0 && stride[by[k - 1]] > reach) {
        int64_t step = 0;
        k--;
        reach += (size[by[k]] - 1) * stride[by[k]];
        for (int d = 0; d < k; d++) step = moves_gcd(step, stride[by[d]]);
        if (k == 0 || reach < step) ordered = k;
    }
    return ordered;
}

static void moves_level(tnc_strided *a, const tn_operand &src, const int64_t *stride, int d) {
    a->size[a->n] = src.size[d];
    a->stride[a->n] = stride[d];
    a->from_step[a->n++] = src.stride[d] * src.bytes;
}

static void moves_strided_of(tnc_strided *a, const tn_operand &src, const int64_t *stride) {
    int by[TN_MAX_DIMS], n = 0, ordered;
    bool last[TN_MAX_DIMS] = {false};
    for (int d = 0; d < src.ndim; d++) {
        int at = n;
        if (src.size[d] == 1 || stride[d] == 0) continue;
        for (; at > 0 && stride[by[at - 1]] < stride[d]; at--) by[at] = by[at - 1];
        by[at] = d;
        n++;
    }
    ordered = moves_ordered(src.size, stride, by, n);
    for (int k = ordered; k < n; k++) last[by[k]] = true;
    for (int d = 0; d < src.ndim; d++)
        if (src.size[d] != 1 && !last[d]) moves_level(a, src, stride, d);
    for (int k = ordered; k < n; k++) moves_level(a, src, stride, by[k]);
    if (!a->n) a->size[a->n++] = 1;
    a->reach[a->n] = 0;
    for (int d = a->n - 1; d >= 0; d--)
        a->reach[d] = a->reach[d + 1] + (a->size[d] - 1) * a->stride[d];
    a->extent = a->reach[0] + 1;
}

static void moves_strided_add(cudaStream_t s, const tnc_strided &a) {
    const unsigned blocks = tnc_blocks(a.extent, TNC_THREADS);
    switch (a.dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32: TNC_LAUNCH_PLAIN((tnc_strided_kernel<float>), blocks, TNC_THREADS, s, a); break;
    case TN_F64: TNC_LAUNCH_PLAIN((tnc_strided_kernel<double>), blocks, TNC_THREADS, s, a); break;
    default: TNC_LAUNCH_PLAIN((tnc_strided_kernel<int64_t>), blocks, TNC_THREADS, s, a);
    }
}

static void moves_as_strided_scatter(tn_frame *f) {
    TN_ARGS(as_strided_scatter, args, f);
    const tn_operand out = tn_operand_of(f->out[0]), src = tn_operand_of(f->in[1]);
    const bool complex = out.dtype == TN_C64 || out.dtype == TN_C128;
    tnc_strided a;
    if (!args->accumulate) {
        f->row->run(f);
        return;
    }
    tnc_elements(tn_frame_device(f), f->out[0], f->in[0]);
    if (!src.numel) return;
    memset(&a, 0, sizeof a);
    moves_strided_of(&a, src, args->stride.at);
    a.bytes = out.bytes;
    a.to = out.at;
    if (args->storage_offset != TN_NONE)
        a.to += (args->storage_offset - tn_storage_offset(f->in[0])) * out.bytes;
    a.from = src.at;
    a.dtype = complex ? out.dtype == TN_C64 ? (int)TN_F32 : (int)TN_F64 : (int)out.dtype;
    for (int part = 0; part < 1 + complex; part++) {
        moves_strided_add(tnc_stream(f), a);
        a.to += out.bytes / 2;
        a.from += out.bytes / 2;
    }
}

static const tn_device_row moves_table[] = {
    {"flip", false, NULL, NULL, moves_flip},
    {"tril", false, NULL, NULL, moves_tril},
    {"triu", false, NULL, NULL, moves_triu},
    {"conj", false, NULL, NULL, moves_conj},
    {"as_strided_scatter", false, NULL, NULL, moves_as_strided_scatter}};
TNC_FAMILY(moves, moves_table)

/* src/cuda/create.cu - ranges: arange and linspace */

struct tnc_range {
    tn_range_plan plan;
    char *to;
    int64_t n, step;
    int32_t dtype;
};

__global__ void __launch_bounds__(TNC_THREADS) tnc_range_kernel(tnc_range a) {
    const tn_range_plan &p = a.plan;
    for (int64_t i = TNC_FIRST(); i < a.n; i += TNC_STEP()) {
        char *to = a.to + i * a.step;
        if (p.whole)
            tnc_store_real(to, a.dtype,
                           (int64_t)((uint64_t)p.first + (uint64_t)i * (uint64_t)p.by));
        else if (p.both_ends && i >= a.n / 2)
            tnc_store_real(to, a.dtype, fma(-p.step, (double)(a.n - 1 - i), p.end));
        else
            tnc_store_real(to, a.dtype, fma(p.step, (double)i, p.start));
    }
}

static bool range_prepare(tn_frame *f) {
    switch (tn_dtype_of(f->out[0])) {
    case TN_BOOL:
    case TN_U8:
    case TN_I8:
    case TN_I16:
    case TN_I32:
    case TN_I64:
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64:
    case TN_C64:
    case TN_C128: return true;
    default:
        return tn_fail(f, TN_UNSUPPORTED, "a range of dtype %s has no kernel on the device",
                       tn_dtype_name(tn_dtype_of(f->out[0])));
    }
}

static void range_run(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    tnc_range a;
    if (!out.numel) return;
    const bool is_complex = out.dtype == TN_C64 || out.dtype == TN_C128;
    a.to = out.at;
    a.n = out.numel;
    a.step = out.stride[0] * out.bytes;
    a.dtype = out.dtype;
    if (is_complex) a.dtype = out.dtype == TN_C64 ? TN_F32 : TN_F64;
    for (int part = 0; part < 1 + is_complex; part++, a.to += out.bytes / 2) {
        tn_range_plan_of(&a.plan, f, part);
        TNC_LAUNCH_PLAIN((tnc_range_kernel), tnc_blocks(a.n, TNC_THREADS), TNC_THREADS,
                         tnc_stream(f), a);
    }
}

static const tn_device_row create_table[] = {
    {"arange", false, NULL, range_prepare, range_run},
    {"arange_start", false, NULL, range_prepare, range_run},
    {"arange_start_step", false, NULL, range_prepare, range_run},
    {"linspace", false, NULL, range_prepare, range_run}};
TNC_FAMILY(create, create_table)

/* src/cuda/optimize.cu - a step of an optimizer for all parameters: fused_sgd, fused_adam, fused_adamw, with the CPU's formulas and bits (kernels/optimize_type.inl) */

enum { STEP_TASKS = 48, STEP_OPTIONS = 8, STEP_CHUNK = 4096 };

struct tnc_step_options {
    double decay, momentum, one_dampening, rate, one_beta1, beta2, one_beta2, step, root, eps;
    uint8_t decays, maximize, nesterov, first, decoupled, pad[3];
};
struct tnc_step_task {
    char *at[TN_STEP_TENSORS];
    int64_t n, first;
    int32_t options;
    bool aligned;
};
struct tnc_step_table {
    int64_t chunks;
    int32_t n, noptions;
    tnc_step_options options[STEP_OPTIONS];
    tnc_step_task task[STEP_TASKS];
};
static_assert(sizeof(tnc_step_table) <= 4096, "arguments of a kernel");

TNC_FN float tnc_step_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_step_fma(double a, double b, double c) { return fma(a, b, c); }
TNC_FN float tnc_step_root(float a) { return sqrtf(a); }
TNC_FN double tnc_step_root(double a) { return sqrt(a); }

template <class V>
struct tnc_step_sgd {
    V decay, momentum, one_dampening, rate;
    bool decays, maximize, nesterov, first;
    __device__ __forceinline__ explicit tnc_step_sgd(const tnc_step_options &o)
        : decay((V)o.decay), momentum((V)o.momentum), one_dampening((V)o.one_dampening),
          rate((V)o.rate), decays(o.decays), maximize(o.maximize), nesterov(o.nesterov),
          first(o.first) {}
    __device__ __forceinline__ V step(V x, V d, V *s, const bool *has) const {
        if (maximize) d = -d;
        if (decays) d = tnc_step_fma(x, decay, d);
        if (has[0]) {
            const V b = first ? d : tnc_step_fma(d, one_dampening, s[0] * momentum);
            s[0] = b;
            d = nesterov ? tnc_step_fma(b, momentum, d) : b;
        }
        return tnc_step_fma(d, rate, x);
    }
};
template <class V>
struct tnc_step_adam {
    V decay, weight, beta2, one_beta2, rate, root, eps;
    bool decays, maximize, decoupled, below;
    __device__ __forceinline__ explicit tnc_step_adam(const tnc_step_options &o)
        : decay((V)o.decay), weight((V)o.one_beta1), beta2((V)o.beta2), one_beta2((V)o.one_beta2),
          rate((V)o.step), root((V)o.root), eps((V)o.eps), decays(o.decays), maximize(o.maximize),
          decoupled(o.decoupled), below(o.one_beta1 < 0.5) {
        if (!below) weight -= 1;
    }
    __device__ __forceinline__ V step(V x, V d, V *s, const bool *has) const {
        if (maximize) d = -d;
        if (decays && decoupled)
            x = x * decay;
        else if (decays)
            d = tnc_step_fma(x, decay, d);
        const V a = tnc_step_fma(weight, d - s[0], below ? s[0] : d);
        V b = tnc_step_fma(one_beta2 * d, d, s[1] * beta2);
        s[0] = a;
        s[1] = b;
        if (has[2]) {
            b = b > s[2] || b != b ? b : s[2];
            s[2] = b;
        }
        b = tnc_step_root(b) / root + eps;
        return x + rate * a / b;
    }
};

template <int dtype>
struct tnc_step_of {
    typedef float E;
    typedef float V;
    TNC_FN V get(E e) { return e; }
    TNC_FN E put(V v) { return v; }
};
template <>
struct tnc_step_of<TN_F64> {
    typedef double E;
    typedef double V;
    TNC_FN V get(E e) { return e; }
    TNC_FN E put(V v) { return v; }
};
template <>
struct tnc_step_of<TN_F16> {
    typedef uint16_t E;
    typedef float V;
    TNC_FN V get(E e) { return tnc_from_f16(e); }
    TNC_FN E put(V v) { return tnc_to_f16(v); }
};
template <>
struct tnc_step_of<TN_BF16> {
    typedef uint16_t E;
    typedef float V;
    TNC_FN V get(E e) { return tnc_from_bf16(e); }
    TNC_FN E put(V v) { return tnc_to_bf16(v); }
};

template <class Step, int dtype, int N>
TNC_FN void tnc_step_pack(const Step &step, char *const *at, const bool *has) {
    typedef tnc_step_of<dtype> of;
    typedef typename of::V V;
    typedef tnc_pack<typename of::E, N> pack;
    enum { STATES = TN_STEP_TENSORS - 2 };
    pack x = *tnc_aligned<pack>(at[0]), g = *tnc_aligned<pack>(at[1]), s[STATES] = {};
    for (int k = 0; k < STATES; k++)
        if (has[k]) s[k] = *tnc_aligned<pack>(at[k + 2]);
    for (int j = 0; j < N; j++) {
        V v[STATES];
        for (int k = 0; k < STATES; k++) v[k] = of::get(s[k].e[j]);
        x.e[j] = of::put(step.step(of::get(x.e[j]), of::get(g.e[j]), v, has));
        for (int k = 0; k < STATES; k++) s[k].e[j] = of::put(v[k]);
    }
    *(pack *)at[0] = x;
    for (int k = 0; k < STATES; k++)
        if (has[k]) *(pack *)at[k + 2] = s[k];
}

template <class Step, int dtype>
__global__ void __launch_bounds__(TNC_THREADS) tnc_step_flat(tnc_step_table t) {
    typedef typename tnc_step_of<dtype>::E E;
    enum { N = 16 / sizeof(E) };
    for (int64_t chunk = blockIdx.x; chunk < t.chunks; chunk += gridDim.x) {
        int low = 0;
        for (int high = t.n; high - low > 1;) {
            const int middle = (low + high) / 2;
            if (t.task[middle].first <= chunk)
                low = middle;
            else
                high = middle;
        }
        const tnc_step_task &task = t.task[low];
        const Step step(t.options[task.options]);
        const bool has[] = {task.at[2] != NULL, task.at[3] != NULL, task.at[4] != NULL};
        const int64_t begin = (chunk - task.first) * STEP_CHUNK, left = task.n - begin;
        const int n = (int)(left < STEP_CHUNK ? left : (int64_t)STEP_CHUNK),
                  whole = task.aligned ? n / N * N : 0;
        char *at[TN_STEP_TENSORS];
        for (int i = (int)threadIdx.x * N; i < whole; i += TNC_THREADS * N) {
            for (int k = 0; k < TN_STEP_TENSORS; k++)
                at[k] = task.at[k] ? task.at[k] + (begin + i) * (int64_t)sizeof(E) : NULL;
            tnc_step_pack<Step, dtype, N>(step, at, has);
        }
        for (int i = whole + (int)threadIdx.x; i < n; i += TNC_THREADS) {
            for (int k = 0; k < TN_STEP_TENSORS; k++)
                at[k] = task.at[k] ? task.at[k] + (begin + i) * (int64_t)sizeof(E) : NULL;
            tnc_step_pack<Step, dtype, 1>(step, at, has);
        }
    }
}

template <class Step, int dtype>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_step_any(tnc_walk<TN_STEP_TENSORS> w, tnc_step_options options) {
    const Step step(options);
    const bool has[] = {w.at[2] != NULL, w.at[3] != NULL, w.at[4] != NULL};
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t to[TN_STEP_TENSORS];
        char *at[TN_STEP_TENSORS];
        tnc_walk_to(w, (uint32_t)i, to);
        for (int k = 0; k < TN_STEP_TENSORS; k++) at[k] = w.at[k] ? w.at[k] + to[k] : NULL;
        tnc_step_pack<Step, dtype, 1>(step, at, has);
    }
}

template <int dtype>
static void step_launch_flat(cudaStream_t s, const tnc_step_table &t, bool adam) {
    typedef typename tnc_step_of<dtype>::V V;
    if (adam)
        TNC_LAUNCH_PLAIN((tnc_step_flat<tnc_step_adam<V>, dtype>), tnc_blocks(t.chunks, 1),
                         TNC_THREADS, s, t);
    else
        TNC_LAUNCH_PLAIN((tnc_step_flat<tnc_step_sgd<V>, dtype>), tnc_blocks(t.chunks, 1),
                         TNC_THREADS, s, t);
}
template <int dtype>
static void step_launch_any(cudaStream_t s, const tnc_walk<TN_STEP_TENSORS> &w,
                            const tnc_step_options &o, bool adam) {
    typedef typename tnc_step_of<dtype>::V V;
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
    if (adam)
        TNC_LAUNCH_PLAIN((tnc_step_any<tnc_step_adam<V>, dtype>), blocks, TNC_THREADS, s, w, o);
    else
        TNC_LAUNCH_PLAIN((tnc_step_any<tnc_step_sgd<V>, dtype>), blocks, TNC_THREADS, s, w, o);
}

static void step_flush(cudaStream_t s, tnc_step_table *t, int dtype, bool adam) {
    if (t->n) {
        switch (dtype) {
        case TN_F16: step_launch_flat<TN_F16>(s, *t, adam); break;
        case TN_BF16: step_launch_flat<TN_BF16>(s, *t, adam); break;
        case TN_F32: step_launch_flat<TN_F32>(s, *t, adam); break;
        default: step_launch_flat<TN_F64>(s, *t, adam);
        }
    }
    memset(t, 0, sizeof *t);
}

static void step_options_of(tnc_step_options *o, const tn_step_plan &p) {
    memset(o, 0, sizeof *o);
    o->decay = p.decay;
    o->momentum = p.momentum;
    o->one_dampening = p.one_dampening;
    o->rate = p.rate;
    o->one_beta1 = p.one_beta1;
    o->beta2 = p.beta2;
    o->one_beta2 = p.one_beta2;
    o->step = p.step;
    o->root = p.root;
    o->eps = p.eps;
    o->decays = p.decays;
    o->maximize = p.maximize;
    o->nesterov = p.nesterov;
    o->first = p.first;
    o->decoupled = p.decoupled;
}

static int step_place(tnc_step_table *t, const tnc_step_options &o) {
    for (int i = t->noptions - 1; i >= 0; i--)
        if (memcmp(&t->options[i], &o, sizeof o) == 0) return i;
    if (t->noptions == STEP_OPTIONS) return -1;
    t->options[t->noptions] = o;
    return t->noptions++;
}

static bool step_meets(const tnc_step_table &t, const tn_walk_plan &w, int64_t bytes) {
    for (int i = 0; i < t.n; i++)
        if (w.at[0] < t.task[i].at[0] + t.task[i].n * bytes &&
            t.task[i].at[0] < w.at[0] + w.numel * bytes)
            return true;
    return false;
}

static void step_add(tnc_step_table *t, const tn_walk_plan &w, int options) {
    tnc_step_task *task = &t->task[t->n++];
    task->options = options;
    task->n = w.numel;
    task->first = t->chunks;
    task->aligned = true;
    for (int k = 0; k < w.n; k++) {
        task->at[k] = w.at[k];
        task->aligned = task->aligned && (uintptr_t)w.at[k] % 16 == 0;
    }
    t->chunks += (w.numel + STEP_CHUNK - 1) / STEP_CHUNK;
}

static bool step_is_flat(const tn_walk_plan &w, int64_t bytes) {
    for (int k = 0; k < w.n; k++)
        if (w.ndim != 1 || (w.numel > 1 && w.stride[k][0] != bytes)) return false;
    return true;
}

static void step_any(cudaStream_t s, const tn_walk_plan &p, const tnc_step_options &o, int dtype,
                     bool adam) {
    tnc_walk_pieces<TN_STEP_TENSORS>(p, [&](const tnc_walk<TN_STEP_TENSORS> &w) {
        switch (dtype) {
        case TN_F16: step_launch_any<TN_F16>(s, w, o, adam); break;
        case TN_BF16: step_launch_any<TN_BF16>(s, w, o, adam); break;
        case TN_F32: step_launch_any<TN_F32>(s, w, o, adam); break;
        default: step_launch_any<TN_F64>(s, w, o, adam);
        }
    });
}

static void step_run(tn_frame *f) {
    cudaStream_t s = tnc_stream(f);
    tnc_step_table t;
    tn_step_plan p;
    int dtype = 0;
    bool adam = false;
    memset(&t, 0, sizeof t);
    for (int64_t i = 0; tn_step_plan_of(&p, f, i); i++) {
        const int its = (int)tn_dtype_of(p.t[0]);
        const int64_t bytes = tnc_dtype_bytes(its);
        tnc_step_options o;
        tn_walk_plan w;
        int n = 0, place;
        adam = p.adam;
        while (n < TN_STEP_TENSORS && p.t[n]) n++;
        tn_walk_plan_of(&w, p.t, n);
        if (!w.numel) continue;
        step_options_of(&o, p);
        if (t.n && (its != dtype || !step_is_flat(w, bytes) || t.n == STEP_TASKS ||
                    step_meets(t, w, bytes)))
            step_flush(s, &t, dtype, adam);
        dtype = its;
        if (!step_is_flat(w, bytes)) {
            step_any(s, w, o, dtype, adam);
            continue;
        }
        place = step_place(&t, o);
        if (place < 0) {
            step_flush(s, &t, dtype, adam);
            place = step_place(&t, o);
        }
        step_add(&t, w, place);
    }
    step_flush(s, &t, dtype, adam);
}

static const tn_device_row optimize_table[] = {{"fused_sgd", false, NULL, NULL, step_run},
                                               {"fused_adam", false, NULL, NULL, step_run},
                                               {"fused_adamw", false, NULL, NULL, step_run}};
TNC_FAMILY(optimize, optimize_table)

/* src/cuda/random.cu - random numbers, permutations, elements chosen by chance */

/* src/cuda/random.cuh - words of Philox4x32-10: J */

TNC_FN void tnc_philox(const tn_draw &draw, uint64_t i, uint32_t *to) {
    uint32_t k0 = (uint32_t)draw.seed, k1 = (uint32_t)(draw.seed >> 32), c0 = (uint32_t)i,
             c1 = (uint32_t)(i >> 32), c2 = (uint32_t)draw.number,
             c3 = (uint32_t)(draw.number >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    to[0] = c0;
    to[1] = c1;
    to[2] = c2;
    to[3] = c3;
}

TNC_FN uint64_t tnc_wide(const uint32_t *word) { return (uint64_t)word[0] << 32 | word[1]; }
TNC_FN double tnc_u53(const uint32_t *word) {
    return (double)(int64_t)(tnc_wide(word) & 0x1fffffffffffffu) * (1.0 / 9007199254740992.0);
}
TNC_FN float tnc_u24(uint32_t word) {
    return (float)(int32_t)(word & 0xffffffu) * (1.0f / 16777216.0f);
}

#include <new>

struct tnc_drawing {
    tn_draw draw;
    char *to;
    int64_t n;
    int32_t dtype, bytes;
    bool whole;
    double a, b;
    int64_t low;
    uint64_t range;
};

struct tnc_uniform_f32 {
    enum { each = 4 };
    typedef float V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        const float from = (float)d.a, to = (float)d.b;
        const float low = tnc_through(from, d.dtype), high = tnc_through(to, d.dtype);
        for (int k = 0; k < each; k++) {
            v[k] = fmaf(tnc_u24(word[k]), to - from, from);
            if (v[k] == to) v[k] = from;
            v[k] = tnc_through(v[k], d.dtype);
            if (d.dtype != TN_F32 && v[k] == high) v[k] = low;
        }
    }
};
struct tnc_uniform_f64 {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) {
            v[k] = fma(tnc_u53(word + 2 * k), d.b - d.a, d.a);
            if (v[k] == d.b) v[k] = d.a;
        }
    }
};
struct tnc_normal_f32 {
    enum { each = 4 };
    typedef float V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k += 2)
            tni_normal_pair_f32_cuda(tnc_u24(word[k]), tnc_u24(word[k + 1]), (float)d.b, (float)d.a,
                                     &v[k], &v[k + 1]);
    }
};
struct tnc_normal_f64 {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        tni_normal_pair_f64_cuda(tnc_u53(word), tnc_u53(word + 2), false, &v[0], &v[1]);
        for (int k = 0; k < each; k++) v[k] = fma(v[k], d.b, d.a);
    }
};
struct tnc_exponential {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) v[k] = tni_exponential_f64_cuda(tnc_u53(word + 2 * k)) * d.a;
    }
};
struct tnc_integers_32 {
    enum { each = 4 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++)
            v[k] = (int64_t)((uint64_t)(word[k] % (uint32_t)d.range) + (uint64_t)d.low);
    }
};
struct tnc_integers_64 {
    enum { each = 2 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++)
            v[k] = (int64_t)(tnc_wide(word + 2 * k) % d.range + (uint64_t)d.low);
    }
};
TNC_FN bool tnc_happens(const uint32_t *word, uint64_t below) {
    return (tnc_wide(word) & 0x1fffffffffffffu) < below;
}
struct tnc_chance {
    enum { each = 2 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) v[k] = tnc_happens(word + 2 * k, d.range);
    }
};

template <class Make>
__global__ void __launch_bounds__(TNC_THREADS) tnc_draw_kernel(tnc_drawing d) {
    typedef typename Make::V V;
    enum { each = Make::each };
    for (int64_t i = TNC_FIRST(); i * each < d.n; i += TNC_STEP()) {
        uint32_t word[4];
        V v[each];
        char *to = d.to + i * each * d.bytes;
        tnc_philox(d.draw, (uint64_t)i, word);
        Make::make(d, word, v);
        if (d.whole && (i + 1) * each <= d.n) {
            enum { N = 16 / sizeof(V) };
            for (int k = 0; k < each; k += N) {
                tnc_pack<V, N> pack;
                for (int j = 0; j < N; j++) pack.e[j] = v[k + j];
                ((tnc_pack<V, N> *)to)[k / N] = pack;
            }
            continue;
        }
        for (int k = 0; k < each; k++)
            if (i * each + k < d.n) tnc_store_real(to + k * d.bytes, d.dtype, v[k]);
    }
}

static bool random_is(float, int dtype) { return dtype == TN_F32; }
static bool random_is(double, int dtype) { return dtype == TN_F64; }
static bool random_is(int64_t, int dtype) { return dtype == TN_I64; }

template <class Make>
static void random_go(const tn_frame *f, tnc_drawing *d) {
    const tn_operand out = tn_operand_of(f->out[0]);
    if (!out.numel) return;
    d->draw = tn_draw_next(f);
    const bool parts = out.dtype == TN_C64 || out.dtype == TN_C128;
    d->to = out.at;
    d->n = parts ? out.numel * 2 : out.numel;
    d->dtype = out.dtype == TN_C64 ? (int)TN_F32 : out.dtype == TN_C128 ? (int)TN_F64 : out.dtype;
    d->bytes = parts ? out.bytes / 2 : out.bytes;
    d->whole = random_is(typename Make::V(), d->dtype) && (uintptr_t)out.at % 16 == 0;
    TNC_LAUNCH_PLAIN((tnc_draw_kernel<Make>),
                     tnc_blocks((d->n + Make::each - 1) / Make::each, TNC_THREADS),
                     TNC_THREADS, tnc_stream(f), *d);
}

static bool random_in_doubles(const tn_frame *f) {
    return tn_dtype_of(f->out[0]) == TN_F64 || tn_dtype_of(f->out[0]) == TN_C128;
}
static void random_uniform_in(const tn_frame *f, double from, double to) {
    tnc_drawing d = {};
    d.a = from;
    d.b = to;
    if (random_in_doubles(f))
        random_go<tnc_uniform_f64>(f, &d);
    else
        random_go<tnc_uniform_f32>(f, &d);
}
static void random_normal_of(const tn_frame *f, double mean, double std) {
    tnc_drawing d = {};
    d.a = mean;
    d.b = std;
    if (tn_dtype_of(f->out[0]) == TN_C64 || tn_dtype_of(f->out[0]) == TN_C128) d.b /= sqrt(2.0);
    if (random_in_doubles(f))
        random_go<tnc_normal_f64>(f, &d);
    else
        random_go<tnc_normal_f32>(f, &d);
}
static void random_rand(tn_frame *f) { random_uniform_in(f, 0, 1); }
static void random_randn(tn_frame *f) { random_normal_of(f, 0, 1); }
static void random_uniform(tn_frame *f) {
    TN_ARGS(uniform, a, f);
    random_uniform_in(f, a->from, a->to);
}
static void random_normal(tn_frame *f) {
    TN_ARGS(normal, a, f);
    random_normal_of(f, a->mean, a->std);
}
static void random_exponential(tn_frame *f) {
    TN_ARGS(exponential, a, f);
    tnc_drawing d = {};
    d.a = 1 / a->lambd;
    random_go<tnc_exponential>(f, &d);
}
static void random_integers(tn_frame *f) {
    tn_integers_plan p;
    tnc_drawing d = {};
    tn_integers_plan_of(&p, f);
    d.low = p.low;
    d.range = p.range;
    if (p.wide)
        random_go<tnc_integers_64>(f, &d);
    else
        random_go<tnc_integers_32>(f, &d);
}
static void random_chance(tn_frame *f) {
    tn_chance_plan p;
    tnc_drawing d = {};
    tn_chance_plan_of(&p, f);
    d.range = p.below;
    random_go<tnc_chance>(f, &d);
}

struct tnc_bernoulli {
    tn_draw draw;
    const char *p;
    char *to;
    uint32_t *bad;
    int64_t n;
    int32_t ndim, dtype;
    int64_t size[TN_MAX_DIMS], from_step[TN_MAX_DIMS], to_step[TN_MAX_DIMS];
};

template <int each>
__global__ void __launch_bounds__(TNC_THREADS) tnc_bernoulli_kernel(tnc_bernoulli a) {
    for (int64_t i = TNC_FIRST(); i * each < a.n; i += TNC_STEP()) {
        uint32_t word[4];
        tnc_philox(a.draw, (uint64_t)i, word);
        for (int k = 0; k < each && i * each + k < a.n; k++) {
            const double u = each == 2 ? tnc_u53(word + 2 * k % 4) : (double)tnc_u24(word[k]);
            int64_t rest = i * each + k, from = 0, to = 0;
            for (int d = a.ndim - 1; d >= 0; d--) {
                from += rest % a.size[d] * a.from_step[d];
                to += rest % a.size[d] * a.to_step[d];
                rest /= a.size[d];
            }
            tnc_store_real(a.to + to, a.dtype,
                           (int64_t)(u < tnc_load_real<double>(a.p + from, a.dtype)));
        }
    }
}

__global__ void __launch_bounds__(TNC_THREADS)
    tnc_bernoulli_check(tnc_walk<1> w, int dtype, uint32_t *bad) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[1];
        tnc_walk_to(w, (uint32_t)i, at);
        const double v = tnc_load_real<double>(w.at[0] + at[0], dtype);
        if (!(v >= 0 && v <= 1)) *bad = 1;
    }
}

static void random_bernoulli(tn_frame *f) {
    const tn_operand p = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    cudaStream_t s = tnc_stream(f);
    tnc_bernoulli a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.draw = tn_draw_next(f);
    a.p = p.at;
    a.to = out.at;
    a.n = out.numel;
    a.ndim = out.ndim;
    a.dtype = out.dtype;
    for (int d = 0; d < out.ndim; d++) {
        a.size[d] = out.size[d];
        a.from_step[d] = p.stride[d] * p.bytes;
        a.to_step[d] = out.stride[d] * out.bytes;
    }
    if (a.dtype == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_bernoulli_kernel<2>), tnc_blocks((a.n + 1) / 2, TNC_THREADS),
                         TNC_THREADS, s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_bernoulli_kernel<4>), tnc_blocks((a.n + 3) / 4, TNC_THREADS),
                         TNC_THREADS, s, a);
}

struct tnc_dropout {
    tnc_walk<2> walk;
    tn_draw draw;
    int64_t begin;
    uint64_t below;
    const uint8_t *drawn;
    uint8_t *kept;
    double scale;
    int32_t dtype;
};

template <class V>
TNC_FN void tnc_dropout_one(const tnc_dropout &a, char *to, const char *from, bool keep) {
    const V scale = keep ? (V)a.scale : 0;
    if (a.dtype == TN_C64) {
        tnc_put<float>(to, tnc_get<float>(from) * (float)scale);
        tnc_put<float>(to + 4, tnc_get<float>(from + 4) * (float)scale);
    } else if (a.dtype == TN_C128) {
        tnc_put<double>(to, tnc_get<double>(from) * (double)scale);
        tnc_put<double>(to + 8, tnc_get<double>(from + 8) * (double)scale);
    } else {
        tnc_store_real(to, a.dtype, (V)(tnc_load_real<V>(from, a.dtype) * scale));
    }
}

template <class V>
__global__ void __launch_bounds__(TNC_THREADS) tnc_dropout_kernel(tnc_dropout a) {
    for (int64_t i = TNC_FIRST(); i * 2 < a.walk.n; i += TNC_STEP()) {
        uint32_t word[4] = {0, 0, 0, 0};
        if (!a.drawn && a.below) tnc_philox(a.draw, (uint64_t)(a.begin / 2 + i), word);
        for (int k = 0; k < 2 && i * 2 + k < a.walk.n; k++) {
            const int64_t e = i * 2 + k;
            const bool keep =
                a.drawn ? a.drawn[a.begin + e] != 0 : tnc_happens(word + 2 * k, a.below);
            int64_t at[2];
            tnc_walk_to(a.walk, (uint32_t)e, at);
            tnc_dropout_one<V>(a, a.walk.at[0] + at[0], a.walk.at[1] + at[1], keep);
            if (a.kept && a.kept != a.drawn) a.kept[a.begin + e] = keep;
        }
    }
}

static void random_dropout_by(tn_frame *f, const tn_chance_plan &c, const uint8_t *drawn) {
    const tn_operand out = tn_operand_of(f->out[0]);
    tn_tensor *both[2] = {f->out[0], f->in[0]};
    cudaStream_t s = tnc_stream(f);
    tnc_dropout a;
    tn_walk_plan p;
    memset(&a, 0, sizeof a);
    if (!drawn && !c.none) a.draw = tn_draw_next(f);
    a.below = c.none ? 0 : c.below;
    a.drawn = drawn;
    a.kept = f->nout > 1 && f->out[1] ? (uint8_t *)tn_device_data(f->out[1]) : NULL;
    a.scale = c.scale;
    a.dtype = out.dtype;
    tn_walk_plan_of(&p, both, 2);
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks((w.n + 1) / 2, TNC_THREADS);
        a.walk = w;
        a.begin = (w.at[0] - out.at) / out.bytes;
        if (a.dtype == TN_F64 || a.dtype == TN_C128)
            TNC_LAUNCH_PLAIN((tnc_dropout_kernel<double>), blocks, TNC_THREADS, s, a);
        else
            TNC_LAUNCH_PLAIN((tnc_dropout_kernel<float>), blocks, TNC_THREADS, s, a);
    });
}

static void random_pass(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    if (f->inplace && out.numel && out.at != tn_operand_of(f->in[0]).at)
        f->row->run(f);
}
static void random_dropout(tn_frame *f) {
    tn_chance_plan c;
    tn_chance_plan_of(&c, f);
    if (c.idle)
        random_pass(f);
    else
        random_dropout_by(f, c, NULL);
}

enum { RANDOM_SORT = 1024 };
struct tnc_key {
    uint64_t key;
    int64_t i;
};
TNC_FN bool tnc_key_less(const tnc_key &a, const tnc_key &b) {
    return a.key != b.key ? a.key < b.key : a.i < b.i;
}
TNC_FN void tnc_key_step(tnc_key *a, tnc_key *b, bool up) {
    if (tnc_key_less(*b, *a) == up) {
        const tnc_key c = *a;
        *a = *b;
        *b = c;
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_make(tnc_key *to, int64_t n, int64_t all, tn_draw draw) {
    for (int64_t i = TNC_FIRST(); i * 2 < all; i += TNC_STEP()) {
        uint32_t word[4];
        tnc_philox(draw, (uint64_t)i, word);
        for (int k = 0; k < 2 && i * 2 + k < all; k++) {
            to[i * 2 + k].key = i * 2 + k < n ? tnc_wide(word + 2 * k) : ~(uint64_t)0;
            to[i * 2 + k].i = i * 2 + k;
        }
    }
}
/* One step over all: pairs `apart`, runs of `run` that rise and fall by turns. */
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_far(tnc_key *at, int64_t all, int64_t run, int64_t apart) {
    for (int64_t j = TNC_FIRST(); j < all / 2; j += TNC_STEP()) {
        const int64_t i = j / apart * apart * 2 + j % apart;
        tnc_key_step(at + i, at + i + apart, (i & run) == 0);
    }
}
__global__ void __launch_bounds__(RANDOM_SORT / 2)
    tnc_key_near(tnc_key *at, int64_t all, int64_t first, int64_t last) {
    TNC_SHARED(tnc_key, held, RANDOM_SORT);
    const int n = (int)(all < RANDOM_SORT ? all : (int64_t)RANDOM_SORT), t = (int)threadIdx.x;
    for (int64_t begin = (int64_t)blockIdx.x * RANDOM_SORT; begin < all;
         begin += (int64_t)gridDim.x * RANDOM_SORT) {
        for (int i = t; i < n; i += RANDOM_SORT / 2) held[i] = at[begin + i];
        __syncthreads();
        for (int64_t run = first; run <= last; run *= 2)
            for (int apart = (int)(run / 2 < n / 2 ? run / 2 : (int64_t)(n / 2)); apart;
                 apart /= 2) {
                const int i = t / apart * apart * 2 + t % apart;
                if (t < n / 2) tnc_key_step(held + i, held + i + apart, ((begin + i) & run) == 0);
                __syncthreads();
            }
        for (int i = t; i < n; i += RANDOM_SORT / 2) at[begin + i] = held[i];
        __syncthreads();
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_take(char *to, const tnc_key *from, int64_t n, int dtype, int bytes) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP())
        tnc_store_real(to + i * bytes, dtype, from[i].i);
}

static int64_t random_power(int64_t n) {
    int64_t all = 1;
    while (all < n) all *= 2;
    return all;
}
static bool random_permute_prepare(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    if (n >= (int64_t)1 << 56)
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !n || tn_device_scratch(f, random_power(n) * (int64_t)sizeof(tnc_key)) != NULL;
}
static void random_permute(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const int64_t n = out.numel, all = random_power(n);
    tnc_key *at = (tnc_key *)f->scratch;
    cudaStream_t s = tnc_stream(f);
    const unsigned near = tnc_blocks(all, RANDOM_SORT);
    if (!n) return;
    TNC_LAUNCH_PLAIN((tnc_key_make), tnc_blocks((all + 1) / 2, TNC_THREADS), TNC_THREADS, s, at, n,
                     all, tn_draw_next(f));
    if (all > 1)
        TNC_LAUNCH((tnc_key_near), near, RANDOM_SORT / 2, s, at, all, (int64_t)2,
                   (int64_t)(all < RANDOM_SORT ? all : (int64_t)RANDOM_SORT));
    for (int64_t run = RANDOM_SORT * 2; run <= all; run *= 2) {
        for (int64_t apart = run / 2; apart > RANDOM_SORT / 2; apart /= 2)
            TNC_LAUNCH_PLAIN((tnc_key_far), tnc_blocks(all / 2, TNC_THREADS), TNC_THREADS, s, at,
                             all, run, apart);
        TNC_LAUNCH((tnc_key_near), near, RANDOM_SORT / 2, s, at, all, run, run);
    }
    TNC_LAUNCH_PLAIN((tnc_key_take), tnc_blocks(n, TNC_THREADS), TNC_THREADS, s, out.at, at, n,
                     (int)out.dtype, (int)out.bytes);
}

typedef struct random_note {
    tn_tensor *host;
    uint8_t *drawn;
} random_note;

static void random_forget(void *data, void *) { delete[](char *) data; }

static tn_tensor *random_host(tn_frame *f, const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    int64_t span = 1;
    tn_wrap_options options;
    tn_tensor *host;
    char *data;
    for (int d = 0; d < o.ndim; d++) span += (o.size[d] - 1) * o.stride[d];
    data = new (std::nothrow) char[(size_t)(span * o.bytes)];
    if (!data) {
        tn_fail(f, TN_MEMORY, "no memory of the host for %lld bytes", (long long)(span * o.bytes));
        return NULL;
    }
    memset(&options, 0, sizeof options);
    options.strides = tn_ints_of(o.stride, o.ndim);
    options.release = random_forget;
    host = tn_wrap_at(NULL, 0, data, tn_ints_of(o.size, o.ndim), (tn_dtype)o.dtype, &options);
    if (!host) delete[] data;
    return host;
}
static tn_tensor *random_down(tn_frame *f, const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    cudaStream_t s = tnc_stream(f);
    tn_tensor *host = random_host(f, t);
    int64_t span = 1;
    if (!host) return NULL;
    for (int d = 0; d < o.ndim; d++) span += (o.size[d] - 1) * o.stride[d];
    cudaError_t e =
        cudaMemcpyAsync(tn_data(host), o.at, (size_t)(span * o.bytes), cudaMemcpyDeviceToHost, s);
    if (!e) e = cudaStreamSynchronize(s);
    if (!e) return host;
    tn_free_at(NULL, 0, host);
    tn_fail(f, TN_INTERNAL, "%s", cudaGetErrorString(e));
    return NULL;
}

static bool random_draw_here(tn_frame *f) {
    tn_tensor *out = f->out[0], *in = f->nin ? f->in[0] : NULL, *host, *from = NULL;
    TN_NOTE(random_note, note, f);
    note->host = NULL;
    if (!tn_operand_of(out).numel) return true;
    host = random_host(f, out);
    if (!host) return false;
    if (strcmp(f->row->name, "bernoulli") == 0 && !(from = random_down(f, in))) {
        tn_free_at(NULL, 0, host);
        return false;
    }
    f->out[0] = host;
    if (from) f->in[0] = from;
    f->row->run(f);
    f->out[0] = out;
    if (from) f->in[0] = in;
    if (from) tn_free_at(NULL, 0, from);
    note->host = host;
    return true;
}
static void random_up(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    TN_NOTE(random_note, note, f);
    if (!note->host) return;
    cudaMemcpyAsync(out.at, tn_data(note->host), (size_t)(out.numel * out.bytes),
                    cudaMemcpyHostToDevice, tnc_stream(f));
    tn_free_at(NULL, 0, note->host);
}

static bool random_bernoulli_look(tn_frame *f) {
    const int32_t device = tn_frame_device(f);
    const tn_operand p = tn_operand_of(f->in[0]);
    tn_tensor *in = f->in[0], *from;
    cudaStream_t s = tnc_stream(f);
    uint32_t bad = 0, *flag;
    tn_walk_plan w;
    bool ok;
    if (!p.numel) return true;
    flag = (uint32_t *)tnc_alloc(device, sizeof *flag);
    if (!flag) return tn_fail(f, TN_MEMORY, "no memory of the device is left");
    cudaMemsetAsync(flag, 0, sizeof *flag, s);
    tn_walk_plan_of(&w, f->in, 1);
    tnc_walk_pieces<1>(w, [=](const tnc_walk<1> &piece) {
        TNC_LAUNCH_PLAIN((tnc_bernoulli_check), tnc_blocks(piece.n, TNC_THREADS), TNC_THREADS, s,
                         piece, (int)p.dtype, flag);
    });
    cudaMemcpyAsync(&bad, flag, sizeof bad, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    tnc_free(device, flag);
    if (!bad) return true;
    from = random_down(f, in);
    if (!from) return false;
    f->in[0] = from;
    ok = f->row->look(f);
    f->in[0] = in;
    tn_free_at(NULL, 0, from);
    return ok;
}

static bool random_dropout_here(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    tn_chance_plan c;
    TN_NOTE(random_note, note, f);
    tn_chance_plan_of(&c, f);
    note->drawn = NULL;
    if (c.idle || c.none) return true;
    if (!(f->nout > 1 && f->out[1]) && !tn_device_scratch(f, n)) return false;
    note->drawn = new (std::nothrow) uint8_t[(size_t)n];
    if (!note->drawn)
        return tn_fail(f, TN_MEMORY, "no memory of the host for %lld bytes", (long long)n);
    for (int64_t i = 0; i < n; i++)
        note->drawn[i] = (tn_random64(f->generator) & 0x1fffffffffffffu) < c.below;
    return true;
}
static void random_dropout_up(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    uint8_t *to = (uint8_t *)(f->nout > 1 && f->out[1] ? tn_device_data(f->out[1]) : f->scratch);
    tn_chance_plan c;
    TN_NOTE(random_note, note, f);
    tn_chance_plan_of(&c, f);
    if (!note->drawn) {
        if (c.idle)
            random_pass(f);
        else
            random_dropout_by(f, c, NULL);
        return;
    }
    cudaMemcpyAsync(to, note->drawn, (size_t)n, cudaMemcpyHostToDevice, tnc_stream(f));
    delete[] note->drawn;
    random_dropout_by(f, c, to);
}

static const tn_device_row random_by_words[] = {
    {"rand", false, NULL, NULL, random_rand},
    {"rand_like", false, NULL, NULL, random_rand},
    {"uniform", false, NULL, NULL, random_uniform},
    {"randn", false, NULL, NULL, random_randn},
    {"randn_like", false, NULL, NULL, random_randn},
    {"normal", false, NULL, NULL, random_normal},
    {"exponential", false, NULL, NULL, random_exponential},
    {"random", false, NULL, NULL, random_integers},
    {"randint", false, NULL, NULL, random_integers},
    {"randint_low", false, NULL, NULL, random_integers},
    {"bernoulli_float", false, NULL, NULL, random_chance},
    {"bernoulli", false, random_bernoulli_look, NULL, random_bernoulli},
    {"dropout", false, NULL, NULL, random_dropout},
    {"randperm", false, NULL, random_permute_prepare, random_permute}};
#define RANDOM_HERE(name) \
    { #name, false, NULL, random_draw_here, random_up }
static const tn_device_row random_by_host[] = {
    RANDOM_HERE(rand),
    RANDOM_HERE(rand_like),
    RANDOM_HERE(uniform),
    RANDOM_HERE(randn),
    RANDOM_HERE(randn_like),
    RANDOM_HERE(normal),
    RANDOM_HERE(exponential),
    RANDOM_HERE(random),
    RANDOM_HERE(randint),
    RANDOM_HERE(randint_low),
    RANDOM_HERE(bernoulli_float),
    {"bernoulli", false, random_bernoulli_look, random_draw_here, random_up},
    {"dropout", false, NULL, random_dropout_here, random_dropout_up},
    {"randperm", true, NULL, random_draw_here, random_up}};
#undef RANDOM_HERE
static_assert(sizeof random_by_words == sizeof random_by_host, "the same rows, two ways");

TNC_PRIV const tn_device_row *tnc_random_rows(int *count) {
    *count = (int)(sizeof random_by_words / sizeof *random_by_words);
    return tnc_exact() ? random_by_host : random_by_words;
}

/* src/cuda/blas.cu - products of matrices by cuBLASLt: the one file that knows it */

/* src/cuda/products.cuh - a product of matrices as kernels take it, for products.cu and blas.cu */

struct tnc_product {
    int64_t m, n, k, batches;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col, c_batch, start_row, start_col;
    int64_t size[TN_MAX_DIMS], a_batch[TN_MAX_DIMS], b_batch[TN_MAX_DIMS];
    const char *a, *b, *start;
    char *c, *sums;
    double alpha, beta;
    int64_t blocks;
    int32_t nbatch;
    int32_t dtype;
    int32_t parts;
    bool add;
    bool a_deep, b_deep;
    bool a_wide, b_wide, c_wide;
    bool turned;
    bool split;
};

TNC_PRIV bool tnc_blas_takes(const tn_frame *f, const tnc_product *p, int64_t *bytes);
TNC_PRIV bool tnc_blas_run(const tn_frame *f, const tnc_product *p);

#include <stdlib.h>

#include <map>
#include <new>
#if !defined(TNC_EMULATED) && !defined(_WIN32)
#include <dlfcn.h>
#endif

struct tnc_blas_call {
    int64_t m, n, k, lda, ldb, ldc, ldd, batches, step_a, step_b, step_d;
    int64_t align_a, align_b, align_c, align_d;
    int64_t device, dtype, turn_a, turn_b, biased;
};
struct tnc_blas_data {
    const char *a, *b, *c, *bias;
    char *d;
    double alpha, beta;
};

static int64_t blas_alignment(const char *at) {
    int64_t most = 256;
    while ((uintptr_t)at % (uintptr_t)most) most /= 2;
    return most;
}
static int64_t blas_leading(int64_t rows, int64_t cols, int64_t row, int64_t col, int64_t *turned) {
    *turned = 0;
    if (col == 1 && (row >= cols || rows == 1)) return rows == 1 ? cols : row;
    *turned = 1;
    if (row == 1 && (col >= rows || cols == 1)) return cols == 1 ? rows : col;
    return 0;
}
static bool blas_front(const tnc_product *p, tnc_blas_call *c, tnc_blas_data *d) {
    c->ldc = c->ldd;
    d->c = p->c;
    c->align_c = c->align_d;
    if (!p->start) return true;
    if (p->batches > 1 || p->start_col != 1) return false;
    if (p->start_row == 0) {
        c->biased = 1;
        d->bias = p->start;
        return p->beta == 1 && p->dtype != TN_F64;
    }
    if (p->start_row < p->n) return false;
    c->ldc = p->start_row;
    d->c = p->start;
    d->beta = p->beta;
    c->align_c = blas_alignment(d->c);
    return true;
}
static bool blas_call_of(const tn_frame *f, const tnc_product *p, tnc_blas_call *c,
                         tnc_blas_data *d) {
    memset(c, 0, sizeof *c);
    memset(d, 0, sizeof *d);
    if (p->parts > 1 || p->k == 0 || p->m == 1 || p->n == 1 || p->nbatch > 1 ||
        p->batches > INT32_MAX)
        return false;
    if (p->dtype != TN_F32 && p->dtype != TN_F64 && p->dtype != TN_F16 && p->dtype != TN_BF16)
        return false;
    c->device = tn_frame_device(f);
    c->dtype = p->dtype;
    c->m = p->n;
    c->n = p->m;
    c->k = p->k;
    c->lda = blas_leading(p->k, p->n, p->b_row, p->b_col, &c->turn_a);
    c->ldb = blas_leading(p->m, p->k, p->a_row, p->a_col, &c->turn_b);
    c->ldd = p->n;
    c->batches = p->batches;
    c->step_a = p->nbatch ? p->b_batch[0] : 0;
    c->step_b = p->nbatch ? p->a_batch[0] : 0;
    c->step_d = p->nbatch ? p->c_batch : 0;
    if (!c->lda || !c->ldb || c->step_a < 0 || c->step_b < 0) return false;
    d->a = p->b;
    d->b = p->a;
    d->d = p->c;
    d->alpha = p->alpha;
    c->align_a = blas_alignment(d->a);
    c->align_b = blas_alignment(d->b);
    c->align_d = blas_alignment(d->d);
    return blas_front(p, c, d);
}

#ifdef TNC_EMULATED

__global__ void tnc_blas_loops(tnc_blas_call c, tnc_blas_data d, int bytes) {
    const int dtype = (int)c.dtype;
    for (int64_t i = TNC_FIRST(); i < c.m * c.n * c.batches; i += TNC_STEP()) {
        const int64_t r = i % c.m, q = i / c.m % c.n, batch = i / c.m / c.n;
        double sum = 0;
        for (int64_t k = 0; k < c.k; k++) {
            const int64_t a = batch * c.step_a + (c.turn_a ? k + r * c.lda : r + k * c.lda),
                          b = batch * c.step_b + (c.turn_b ? q + k * c.ldb : k + q * c.ldb);
            sum += tnc_load_real<double>(d.a + a * bytes, dtype) *
                   tnc_load_real<double>(d.b + b * bytes, dtype);
        }
        sum *= d.alpha;
        if (d.beta != 0)
            sum += d.beta * tnc_load_real<double>(d.c + (r + q * c.ldc) * bytes, dtype);
        if (c.biased) sum += tnc_load_real<double>(d.bias + r * bytes, dtype);
        tnc_store_real(d.d + (batch * c.step_d + r + q * c.ldd) * bytes, dtype, sum);
    }
}
static bool blas_ready(const tnc_blas_call *c, int64_t *bytes) {
    *bytes = 0;
    if (!emu_number("EMU_BLAS", 0)) return false;
    if (c->lda < (c->turn_a ? c->k : c->m) || c->ldb < (c->turn_b ? c->n : c->k) || c->ldc < c->m ||
        c->ldd < c->m)
        emu_stop("a leading dimension is too small for %lld rows", (long long)c->m);
    return true;
}
static bool blas_go(const tn_frame *f, const tnc_blas_call *c, const tnc_blas_data *d) {
    TNC_LAUNCH_PLAIN(tnc_blas_loops, tnc_blocks(c->m * c->n * c->batches, 128), 128, tnc_stream(f),
                     *c, *d, tnc_dtype_bytes((int)c->dtype));
    return emu_number("EMU_BLAS", 0) != 2;
}
#else

static bool blas_asked(const char *name) {
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

typedef struct blas_handle *blas_handle_t;
typedef struct blas_opaque *blas_opaque_t;
struct blas_algorithm {
    uint64_t data[8];
};
struct blas_heuristic {
    blas_algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};
enum {
    BLAS_R_32F = 0,
    BLAS_R_64F = 1,
    BLAS_R_16F = 2,
    BLAS_R_16BF = 14,
    BLAS_COMPUTE_32F = 68,
    BLAS_COMPUTE_64F = 70,
    BLAS_COMPUTE_TF32 = 77,
    BLAS_TRANSPOSED = 1,
    BLAS_LAYOUT_BATCHES = 5,
    BLAS_LAYOUT_STEP = 6,
    BLAS_DESC_TURN_A = 3,
    BLAS_DESC_TURN_B = 4,
    BLAS_DESC_EPILOGUE = 7,
    BLAS_DESC_BIAS = 8,
    BLAS_EPILOGUE_BIAS = 4,
    BLAS_PREFER_WORKSPACE = 1,
    BLAS_PREFER_ALIGN_A = 5,
    BLAS_WORKSPACE = 32 << 20
};

#define BLAS_FUNCTIONS(X)                                                                          \
    X(Create, (blas_handle_t *))                                                                   \
    X(MatmulDescCreate, (blas_opaque_t *, int compute, int scale))                                 \
    X(MatmulDescSetAttribute, (blas_opaque_t, int, const void *, size_t))                          \
    X(MatmulDescDestroy, (blas_opaque_t))                                                          \
    X(MatrixLayoutCreate, (blas_opaque_t *, int type, uint64_t rows, uint64_t cols, int64_t ld))   \
    X(MatrixLayoutSetAttribute, (blas_opaque_t, int, const void *, size_t))                        \
    X(MatrixLayoutDestroy, (blas_opaque_t))                                                        \
    X(MatmulPreferenceCreate, (blas_opaque_t *))                                                   \
    X(MatmulPreferenceSetAttribute, (blas_opaque_t, int, const void *, size_t))                    \
    X(MatmulPreferenceDestroy, (blas_opaque_t))                                                    \
    X(MatmulAlgoGetHeuristic,                                                                      \
      (blas_handle_t, blas_opaque_t, blas_opaque_t, blas_opaque_t, blas_opaque_t, blas_opaque_t,   \
       blas_opaque_t, int, blas_heuristic *, int *))                                               \
    X(Matmul, (blas_handle_t, blas_opaque_t, const void *alpha, const void *, blas_opaque_t,       \
               const void *, blas_opaque_t, const void *beta, const void *, blas_opaque_t, void *, \
               blas_opaque_t, const blas_algorithm *, void *, size_t, cudaStream_t))
struct blas_library {
#define BLAS_MEMBER(name, parameters) int(*name) parameters;
    BLAS_FUNCTIONS(BLAS_MEMBER)
#undef BLAS_MEMBER
};

static std::mutex blas_lock;
static blas_library blas;
static blas_handle_t blas_handles[TNC_DEVICES];

static bool blas_open(void) {
#ifdef _WIN32
    return false;
#else
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    void *at = NULL;
    bool whole = true;
    for (int i = 0; i < 2 && !at; i++) at = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!at) return false;
#define BLAS_FIND(name, parameters)                \
    {                                              \
        void *found = dlsym(at, "cublasLt" #name); \
        memcpy(&blas.name, &found, sizeof found);  \
        whole = whole && found;                    \
    }
    BLAS_FUNCTIONS(BLAS_FIND)
#undef BLAS_FIND
    return whole;
#endif
}
static bool blas_handle(int64_t device) {
    static const bool there = blas_open();
    if (!there) return false;
    if (!blas_handles[device] && (cudaSetDevice((int)device) || blas.Create(&blas_handles[device])))
        blas_handles[device] = NULL;
    return blas_handles[device] != NULL;
}

enum { BLAS_A, BLAS_B, BLAS_C, BLAS_D, BLAS_SIDES, BLAS_PLANS = 1 << 14 };
struct blas_plan {
    blas_opaque_t desc, layout[BLAS_SIDES];
    blas_heuristic best;
    bool usable;
};
struct blas_less {
    bool operator()(const tnc_blas_call &a, const tnc_blas_call &b) const {
        return memcmp(&a, &b, sizeof a) < 0;
    }
};
static std::map<tnc_blas_call, blas_plan, blas_less> *blas_plans;

static int blas_type(int64_t dtype) {
    switch (dtype) {
    case TN_F64: return BLAS_R_64F;
    case TN_F16: return BLAS_R_16F;
    case TN_BF16: return BLAS_R_16BF;
    default: return BLAS_R_32F;
    }
}
static bool blas_layout(blas_opaque_t *to, const tnc_blas_call *c, int64_t rows, int64_t cols,
                        int64_t ld, int64_t step) {
    const int32_t batches = (int32_t)c->batches;
    return !blas.MatrixLayoutCreate(to, blas_type(c->dtype), (uint64_t)rows, (uint64_t)cols, ld) &&
           !blas.MatrixLayoutSetAttribute(*to, BLAS_LAYOUT_BATCHES, &batches, sizeof batches) &&
           !blas.MatrixLayoutSetAttribute(*to, BLAS_LAYOUT_STEP, &step, sizeof step);
}
static bool blas_describe(blas_plan *p, const tnc_blas_call *c) {
    static const bool fast = blas_asked("TN_CUDA_TF32");
    const bool f64 = c->dtype == TN_F64;
    const int compute = f64                          ? BLAS_COMPUTE_64F
                        : fast && c->dtype == TN_F32 ? BLAS_COMPUTE_TF32
                                                     : BLAS_COMPUTE_32F;
    const int32_t turned = BLAS_TRANSPOSED, biased = BLAS_EPILOGUE_BIAS;
    if (blas.MatmulDescCreate(&p->desc, compute, f64 ? BLAS_R_64F : BLAS_R_32F)) return false;
    if (c->turn_a && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_TURN_A, &turned, sizeof turned))
        return false;
    if (c->turn_b && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_TURN_B, &turned, sizeof turned))
        return false;
    if (c->biased &&
        blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_EPILOGUE, &biased, sizeof biased))
        return false;
    return blas_layout(&p->layout[BLAS_A], c, c->turn_a ? c->k : c->m, c->turn_a ? c->m : c->k,
                       c->lda, c->step_a) &&
           blas_layout(&p->layout[BLAS_B], c, c->turn_b ? c->n : c->k, c->turn_b ? c->k : c->n,
                       c->ldb, c->step_b) &&
           blas_layout(&p->layout[BLAS_C], c, c->m, c->n, c->ldc, c->step_d) &&
           blas_layout(&p->layout[BLAS_D], c, c->m, c->n, c->ldd, c->step_d);
}
static bool blas_choose(blas_plan *p, const tnc_blas_call *c) {
    const int64_t align[BLAS_SIDES] = {c->align_a, c->align_b, c->align_c, c->align_d};
    const uint64_t workspace = BLAS_WORKSPACE;
    blas_opaque_t prefer = NULL;
    int found = 0;
    bool ok = !blas.MatmulPreferenceCreate(&prefer) &&
              !blas.MatmulPreferenceSetAttribute(prefer, BLAS_PREFER_WORKSPACE, &workspace,
                                                 sizeof workspace);
    for (int i = 0; i < BLAS_SIDES; i++) {
        const uint32_t bytes = (uint32_t)align[i];
        ok = ok && !blas.MatmulPreferenceSetAttribute(prefer, BLAS_PREFER_ALIGN_A + i, &bytes,
                                                      sizeof bytes);
    }
    ok = ok &&
         !blas.MatmulAlgoGetHeuristic(blas_handles[c->device], p->desc, p->layout[BLAS_A],
                                      p->layout[BLAS_B], p->layout[BLAS_C], p->layout[BLAS_D],
                                      prefer, 1, &p->best, &found) &&
         found == 1 && p->best.state == 0;
    if (prefer) blas.MatmulPreferenceDestroy(prefer);
    return ok;
}
static void blas_drop(blas_plan *p) {
    if (p->desc) blas.MatmulDescDestroy(p->desc);
    for (int i = 0; i < BLAS_SIDES; i++)
        if (p->layout[i]) blas.MatrixLayoutDestroy(p->layout[i]);
    memset(p, 0, sizeof *p);
}
static blas_plan *blas_plan_of(const tnc_blas_call *c) {
    try {
        if (!blas_plans) blas_plans = new std::map<tnc_blas_call, blas_plan, blas_less>;
        const auto known = blas_plans->find(*c);
        if (known != blas_plans->end()) return known->second.usable ? &known->second : NULL;
        if (blas_plans->size() >= BLAS_PLANS || !blas_handle(c->device)) return NULL;
        blas_plan *p = &(*blas_plans)[*c];
        memset(p, 0, sizeof *p);
        p->usable = blas_describe(p, c) && blas_choose(p, c);
        if (!p->usable) blas_drop(p);
        return p->usable ? p : NULL;
    } catch (const std::bad_alloc &) {
        return NULL;
    }
}
static bool blas_ready(const tnc_blas_call *c, int64_t *bytes) {
    std::lock_guard<std::mutex> hold(blas_lock);
    const blas_plan *p = blas_plan_of(c);
    if (!p) return false;
    *bytes = (int64_t)p->best.workspace;
    return true;
}
static bool blas_go(const tn_frame *f, const tnc_blas_call *c, const tnc_blas_data *d) {
    std::lock_guard<std::mutex> hold(blas_lock);
    const blas_plan *p = blas_plan_of(c);
    if (!p || cudaSetDevice((int)c->device)) return false;
    const float alpha = (float)d->alpha, beta = (float)d->beta;
    const bool f64 = c->dtype == TN_F64;
    if (c->biased && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_BIAS, &d->bias, sizeof d->bias))
        return false;
    return !blas.Matmul(blas_handles[c->device], p->desc, f64 ? (const void *)&d->alpha : &alpha,
                        d->a, p->layout[BLAS_A], d->b, p->layout[BLAS_B],
                        f64 ? (const void *)&d->beta : &beta, d->c, p->layout[BLAS_C], d->d,
                        p->layout[BLAS_D], &p->best.algorithm, f->scratch, p->best.workspace,
                        tnc_stream(f));
}
#undef BLAS_FUNCTIONS
#endif

TNC_PRIV bool tnc_blas_takes(const tn_frame *f, const tnc_product *p, int64_t *bytes) {
    tnc_blas_call c;
    tnc_blas_data d;
    *bytes = 0;
    return !tnc_exact() && blas_call_of(f, p, &c, &d) && blas_ready(&c, bytes);
}
TNC_PRIV bool tnc_blas_run(const tn_frame *f, const tnc_product *p) {
    tnc_blas_call c;
    tnc_blas_data d;
    return blas_call_of(f, p, &c, &d) && blas_go(f, &c, &d);
}

/* src/cuda/products.cu - products of matrices in the CPU's order, so with its bits (kernels/gemm.h): blocks of 384 of k, in a block one chain of fma, blocks added in rising order */

struct tnc_f16 {
    uint16_t bits;
};
struct tnc_bf16 {
    uint16_t bits;
};

TNC_FN float tnc_product_mul(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_product_mul(double a, double b, double c) { return fma(a, b, c); }
TNC_FN uint32_t tnc_product_mul(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
TNC_FN uint64_t tnc_product_mul(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }
TNC_FN float tnc_product_number(float, double v) { return (float)v; }
TNC_FN double tnc_product_number(double, double v) { return v; }
TNC_FN uint32_t tnc_product_number(uint32_t, double v) { return (uint32_t)(int64_t)v; }
TNC_FN uint64_t tnc_product_number(uint64_t, double v) { return (uint64_t)(int64_t)v; }

template <class From, class Number>
struct tnc_factor_of {
    typedef From E;
    typedef Number A;
    TNC_FN A wide(E v) { return (A)v; }
    TNC_FN E narrow(A v) { return (E)v; }
};
struct tnc_factor_f16 : tnc_factor_of<tnc_f16, float> {
    TNC_FN float wide(tnc_f16 v) { return tnc_from_f16(v.bits); }
    TNC_FN tnc_f16 narrow(float v) { return tnc_f16{tnc_to_f16(v)}; }
};
struct tnc_factor_bf16 : tnc_factor_of<tnc_bf16, float> {
    TNC_FN float wide(tnc_bf16 v) { return tnc_from_bf16(v.bits); }
    TNC_FN tnc_bf16 narrow(float v) { return tnc_bf16{tnc_to_bf16(v)}; }
};

TNC_FN int64_t tnc_product_batch(const tnc_product &p, const int64_t *stride, int64_t batch) {
    int64_t at = 0;
    for (int d = p.nbatch - 1; d >= 0; d--) {
        at += batch % p.size[d] * stride[d];
        batch /= p.size[d];
    }
    return at;
}

TNC_FN int64_t tnc_product_a(const tnc_product &p, int64_t batch, int part, int pass) {
    return tnc_product_batch(p, p.a_batch, batch) + (p.turned ? part ^ pass : pass);
}
TNC_FN int64_t tnc_product_b(const tnc_product &p, int64_t batch, int part, int pass) {
    return tnc_product_batch(p, p.b_batch, batch) + (p.turned ? pass : part ^ pass);
}
TNC_FN double tnc_product_alpha(const tnc_product &p, int part, int pass) {
    return pass == 1 && part == 0 ? -p.alpha : p.alpha;
}
template <class F>
TNC_FN typename F::A tnc_product_start(const tnc_product &p, int64_t i, int64_t j, int part) {
    typedef typename F::A A;
    if (!p.start) return 0;
    const A v = F::wide(((const typename F::E *)p.start)[i * p.start_row + j * p.start_col + part]);
    if (p.beta == 1) return v;
    return F::wide(F::narrow(v * tnc_product_number(A(), p.beta)));
}

template <class A>
TNC_FN A tnc_product_add(A c, bool fresh, A sum, A alpha) {
    return fresh ? sum : tnc_product_mul(sum, alpha, c);
}

#ifdef TNC_EMULATED
#define PRODUCT_UNROLL
#define PRODUCT_UNROLL_BY(n)
#else
#define PRODUCT_UNROLL _Pragma("unroll")
#define PRODUCT_UNROLL_BY(n) _Pragma(TNI_TEXT(unroll n))
#endif

enum { TNC_TILE_DEEP = 16, TNC_TILE_THREADS = 256 };

template <class F, int lines>
struct tnc_tile_side {
    typedef typename F::E E;
    typedef typename F::A A;
    enum {
        each = lines * TNC_TILE_DEEP / TNC_TILE_THREADS,
        most = 16 / (int)sizeof(E),
        wide = each < most ? each : most,
        loads = each / wide,
        word = 16 / (int)sizeof(A),
        room = lines + word
    };
    typedef tnc_pack<E, wide> pack;
    pack held[loads];

    static __device__ __forceinline__ void place(int i, bool deep, int *line, int *depth) {
        const int v = (int)threadIdx.x + i * TNC_TILE_THREADS;
        if (deep) {
            *line = v / (TNC_TILE_DEEP / wide);
            *depth = v % (TNC_TILE_DEEP / wide) * wide;
        } else {
            *line = v % (lines / wide) * wide;
            *depth = v / (lines / wide);
        }
    }
    __device__ __forceinline__ void load(const E *at, int64_t line_step, int64_t depth_step,
                                         int64_t n, int64_t k, bool deep, bool whole) {
        PRODUCT_UNROLL
        for (int i = 0; i < loads; i++) {
            int line, depth;
            place(i, deep, &line, &depth);
            const E *from = at + line * line_step + depth * depth_step;
            const int64_t left = deep ? (line < n ? k - depth : 0) : (depth < k ? n - line : 0),
                          step = deep ? depth_step : line_step;
            if (whole && left >= wide) {
                held[i] = *tnc_aligned<pack>((const char *)from);
                continue;
            }
            PRODUCT_UNROLL
            for (int e = 0; e < wide; e++) held[i].e[e] = e < left ? from[e * step] : E();
        }
    }
    __device__ __forceinline__ void store(A *to, bool deep) const {
        PRODUCT_UNROLL
        for (int i = 0; i < loads; i++) {
            int line, depth;
            place(i, deep, &line, &depth);
            A *at = to + depth * room + line;
            const int step = deep ? (int)room : 1;
            PRODUCT_UNROLL
            for (int e = 0; e < wide; e++) at[e * step] = F::wide(held[i].e[e]);
        }
    }
};

template <class F, int rows, int cols>
struct tnc_tile {
    typedef typename F::A A;
    typedef typename F::E E;
    enum {
        across = 16,
        down = TNC_TILE_THREADS / across,
        height = rows * down,
        width = cols * across,
        word = 16 / (int)sizeof(A),
        row_word = rows < word ? rows : word,
        col_word = cols < word ? cols : word
    };
    typedef tnc_tile_side<F, height> side_a;
    typedef tnc_tile_side<F, width> side_b;
    A sum[rows][cols], c[rows][cols];

    static __device__ __forceinline__ int row(int i) {
        return i / row_word * (row_word * down) + (int)threadIdx.x / across * row_word +
               i % row_word;
    }
    static __device__ __forceinline__ int col(int j) {
        return j / col_word * (col_word * across) + (int)threadIdx.x % across * col_word +
               j % col_word;
    }
    __device__ __forceinline__ void clear(void) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) sum[i][j] = 0;
    }
    __device__ __forceinline__ void step(const A *a, const A *b) {
        A x[rows], y[cols];
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i += row_word) {
            const auto v = *tnc_aligned<tnc_pack<A, row_word>>((const char *)(a + row(i)));
            PRODUCT_UNROLL
            for (int e = 0; e < row_word; e++) x[i + e] = v.e[e];
        }
        PRODUCT_UNROLL
        for (int j = 0; j < cols; j += col_word) {
            const auto v = *tnc_aligned<tnc_pack<A, col_word>>((const char *)(b + col(j)));
            PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++) y[j + e] = v.e[e];
        }
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) sum[i][j] = tnc_product_mul(x[i], y[j], sum[i][j]);
    }
    __device__ __forceinline__ void add(bool fresh, A alpha) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) c[i][j] = tnc_product_add(c[i][j], fresh, sum[i][j], alpha);
    }
    __device__ __forceinline__ void start(const tnc_product &p, int64_t i0, int64_t j0, int part) {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++) {
            c[i][j] = 0;
            if (i0 + row(i) < p.m && j0 + col(j) < p.n)
                c[i][j] = tnc_product_start<F>(p, i0 + row(i), j0 + col(j), part);
        }
    }
    __device__ __forceinline__ void give(const tnc_product &p, int64_t i0, int64_t j0,
                                         E *to) const {
        typedef tnc_pack<E, col_word> pack;
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j += col_word) {
            const int64_t r = i0 + row(i), q = j0 + col(j);
            E *at = to + r * p.c_row + q * p.c_col;
            pack v;
            PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++) v.e[e] = F::narrow(c[i][j + e]);
            if (r < p.m && p.c_wide && q + col_word <= p.n)
                *(pack *)(void *)at = v;
            else
                PRODUCT_UNROLL
            for (int e = 0; e < col_word; e++)
                if (r < p.m && q + e < p.n) at[e * p.c_col] = v.e[e];
        }
    }
    __device__ __forceinline__ void give_sums(const tnc_product &p, int64_t i0, int64_t j0,
                                              A *to) const {
        PRODUCT_UNROLL
        for (int i = 0; i < rows; i++) PRODUCT_UNROLL
        for (int j = 0; j < cols; j++)
            if (i0 + row(i) < p.m && j0 + col(j) < p.n)
                to[(i0 + row(i)) * p.n + j0 + col(j)] = sum[i][j];
    }
};

struct tnc_tile_job {
    int64_t i0, j0, batch, block;
    int part;
};
template <class Tile>
TNC_FN tnc_tile_job tnc_tile_job_of(const tnc_product &p, int64_t job) {
    const int64_t across = (p.n + Tile::width - 1) / Tile::width,
                  down = (p.m + Tile::height - 1) / Tile::height,
                  blocks = p.split ? p.blocks * p.parts : 1;
    tnc_tile_job q;
    q.j0 = job % across * Tile::width;
    job /= across;
    q.i0 = job % down * Tile::height;
    job /= down;
    q.block = job % blocks;
    job /= blocks;
    q.part = (int)(job % p.parts);
    q.batch = job / p.parts;
    return q;
}

struct tnc_tile_step {
    int pass;
    int64_t k0, end;
};
TNC_FN tnc_tile_step tnc_tile_step_of(const tnc_product &p, const tnc_tile_job &q, int64_t at) {
    const int64_t steps = (p.k + TNC_TILE_DEEP - 1) / TNC_TILE_DEEP,
                  first = p.split ? q.block % p.blocks * TN_PRODUCT_BLOCK : 0;
    tnc_tile_step s;
    s.pass = (int)(p.split ? q.block / p.blocks : at / steps);
    s.k0 = first + (p.split ? at : at % steps) * TNC_TILE_DEEP;
    s.end = s.k0 / TN_PRODUCT_BLOCK * TN_PRODUCT_BLOCK + TN_PRODUCT_BLOCK;
    if (s.end > p.k) s.end = p.k;
    return s;
}
TNC_FN int64_t tnc_tile_steps(const tnc_product &p, const tnc_tile_job &q) {
    if (!p.split) return (p.k + TNC_TILE_DEEP - 1) / TNC_TILE_DEEP * p.parts;
    const int64_t left = p.k - q.block % p.blocks * TN_PRODUCT_BLOCK;
    return ((left < TN_PRODUCT_BLOCK ? left : (int64_t)TN_PRODUCT_BLOCK) + TNC_TILE_DEEP - 1) /
           TNC_TILE_DEEP;
}

template <class Tile>
TNC_FN void tnc_tile_load(const tnc_product &p, const tnc_tile_job &q, const tnc_tile_step &s,
                          typename Tile::side_a *a, typename Tile::side_b *b) {
    typedef typename Tile::E E;
    const E *from = (const E *)p.a + tnc_product_a(p, q.batch, q.part, s.pass) + q.i0 * p.a_row +
                    s.k0 * p.a_col,
            *other = (const E *)p.b + tnc_product_b(p, q.batch, q.part, s.pass) + s.k0 * p.b_row +
                     q.j0 * p.b_col;
    a->load(from, p.a_row, p.a_col, p.m - q.i0, s.end - s.k0, p.a_deep, p.a_wide);
    b->load(other, p.b_col, p.b_row, p.n - q.j0, s.end - s.k0, p.b_deep, p.b_wide);
}

template <class Tile>
TNC_FN void tnc_tile_multiply(const tnc_product &p, const tnc_tile_job &q, Tile *t,
                              typename Tile::A *sa, typename Tile::A *sb) {
    enum {
        size_a = TNC_TILE_DEEP * Tile::side_a::room,
        size_b = TNC_TILE_DEEP * Tile::side_b::room
    };
    const int64_t steps = tnc_tile_steps(p, q);
    typename Tile::side_a a;
    typename Tile::side_b b;
    bool fresh = !p.add;
    tnc_tile_step s = tnc_tile_step_of(p, q, 0), next = s;
    tnc_tile_load<Tile>(p, q, s, &a, &b);
    a.store(sa, p.a_deep);
    b.store(sb, p.b_deep);
    __syncthreads();
    t->clear();
    for (int64_t at = 0; at < steps; at++, s = next) {
        const int now = (int)(at & 1), n = (int)(s.end - s.k0);
        const typename Tile::A *x = sa + now * size_a, *y = sb + now * size_b;
        if (at + 1 < steps) {
            next = tnc_tile_step_of(p, q, at + 1);
            tnc_tile_load<Tile>(p, q, next, &a, &b);
        }
        if (n >= TNC_TILE_DEEP) {
            PRODUCT_UNROLL_BY(8)
            for (int d = 0; d < TNC_TILE_DEEP; d++)
                t->step(x + d * Tile::side_a::room, y + d * Tile::side_b::room);
        } else {
            for (int d = 0; d < n; d++)
                t->step(x + d * Tile::side_a::room, y + d * Tile::side_b::room);
        }
        if (n <= TNC_TILE_DEEP && !p.split) {
            t->add(fresh,
                   tnc_product_number(typename Tile::A(), tnc_product_alpha(p, q.part, s.pass)));
            t->clear();
            fresh = false;
        }
        if (at + 1 < steps) {
            a.store(sa + (1 - now) * size_a, p.a_deep);
            b.store(sb + (1 - now) * size_b, p.b_deep);
        }
        __syncthreads();
    }
}

template <class F, int rows, int cols>
__global__ void __launch_bounds__(TNC_TILE_THREADS) tnc_product_tiles(tnc_product p, int64_t jobs) {
    typedef tnc_tile<F, rows, cols> tile;
    typedef typename F::A A;
    typedef typename F::E E;
    TNC_SHARED(tnc_pair, room,
               2 * TNC_TILE_DEEP * (tile::side_a::room + tile::side_b::room) * sizeof(A) / 16);
    A *sa = (A *)room, *sb = sa + 2 * TNC_TILE_DEEP * tile::side_a::room;
    for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const tnc_tile_job q = tnc_tile_job_of<tile>(p, job);
        tile t;
        t.start(p, q.i0, q.j0, q.part);
        tnc_tile_multiply<tile>(p, q, &t, sa, sb);
        if (p.split)
            t.give_sums(p, q.i0, q.j0,
                        (A *)p.sums +
                            ((q.block * p.parts + q.part) * p.batches + q.batch) * p.m * p.n);
        else
            t.give(p, q.i0, q.j0, (E *)p.c + q.batch * p.c_batch + q.part);
    }
}

struct tnc_vector_job {
    int64_t j, batch, block, n;
    int part;
    int64_t a, b;
};
TNC_FN tnc_vector_job tnc_vector_job_of(const tnc_product &p, int64_t job) {
    tnc_vector_job q;
    q.j = job % p.n;
    job /= p.n;
    q.batch = job % p.batches;
    job /= p.batches;
    q.part = (int)(job % p.parts);
    q.block = job / p.parts;
    const int64_t k0 = q.block % p.blocks * TN_PRODUCT_BLOCK, left = p.k - k0;
    const int pass = (int)(q.block / p.blocks);
    q.n = left < TN_PRODUCT_BLOCK ? left : (int64_t)TN_PRODUCT_BLOCK;
    q.a = tnc_product_a(p, q.batch, q.part, pass) + k0 * p.a_col;
    q.b = tnc_product_b(p, q.batch, q.part, pass) + k0 * p.b_row + q.j * p.b_col;
    return q;
}

template <class F>
__global__ void __launch_bounds__(128) tnc_product_across(tnc_product p, int64_t jobs) {
    typedef typename F::E E;
    typedef typename F::A A;
    for (int64_t job = TNC_FIRST(); job < jobs; job += TNC_STEP()) {
        const tnc_vector_job q = tnc_vector_job_of(p, job);
        const E *a = (const E *)p.a + q.a, *b = (const E *)p.b + q.b;
        A sum = 0;
        int64_t k = 0;
        for (; k + 8 <= q.n; k += 8) {
            E x[8], y[8];
            PRODUCT_UNROLL
            for (int e = 0; e < 8; e++) {
                x[e] = a[(k + e) * p.a_col];
                y[e] = b[(k + e) * p.b_row];
            }
            PRODUCT_UNROLL
            for (int e = 0; e < 8; e++) sum = tnc_product_mul(F::wide(x[e]), F::wide(y[e]), sum);
        }
        for (; k < q.n; k++)
            sum = tnc_product_mul(F::wide(a[k * p.a_col]), F::wide(b[k * p.b_row]), sum);
        ((A *)p.sums)[job] = sum;
    }
}

enum { TNC_VECTOR_WARPS = 2 };
template <class F>
__global__ void __launch_bounds__(32 * TNC_VECTOR_WARPS)
    tnc_product_along(tnc_product p, int64_t jobs) {
    typedef typename F::E E;
    typedef typename F::A A;
    TNC_SHARED(A, room_a, TNC_VECTOR_WARPS * 32 * 33);
    TNC_SHARED(A, room_b, TNC_VECTOR_WARPS * 32 * 33);
    const int lane = (int)(threadIdx.x % 32);
    A *sa = room_a + threadIdx.x / 32 * (32 * 33), *sb = room_b + threadIdx.x / 32 * (32 * 33);
    const int64_t warps = (int64_t)gridDim.x * TNC_VECTOR_WARPS;
    for (int64_t group = (int64_t)blockIdx.x * TNC_VECTOR_WARPS + threadIdx.x / 32;
         group * 32 < jobs; group += warps) {
        const int64_t job = group * 32 + lane;
        tnc_vector_job q = tnc_vector_job_of(p, job < jobs ? job : jobs - 1);
        A sum = 0;
        for (int64_t k = 0; k < TN_PRODUCT_BLOCK && k < p.k; k += 32) {
            for (int r = 0; r < 32; r++) {
                const int64_t a = __shfl_sync(0xffffffffu, q.a, r),
                              b = __shfl_sync(0xffffffffu, q.b, r),
                              n = __shfl_sync(0xffffffffu, q.n, r), at = k + lane;
                sa[r * 33 + lane] = at < n ? F::wide(((const E *)p.a)[a + at * p.a_col]) : A();
                sb[r * 33 + lane] = at < n ? F::wide(((const E *)p.b)[b + at * p.b_row]) : A();
            }
            __syncwarp();
            const int n = (int)(q.n - k < 32 ? q.n - k : 32);
            for (int e = 0; e < n; e++)
                sum = tnc_product_mul(sa[lane * 33 + e], sb[lane * 33 + e], sum);
            __syncwarp();
        }
        if (job < jobs) ((A *)p.sums)[job] = sum;
    }
}

template <class F>
__global__ void __launch_bounds__(128) tnc_product_fold(tnc_product p, int64_t elements) {
    typedef typename F::A A;
    for (int64_t i = TNC_FIRST(); i < elements; i += TNC_STEP()) {
        const int64_t j = i % p.n, r = i / p.n % p.m, batch = i / p.n / p.m % p.batches;
        const int part = (int)(i / p.n / p.m / p.batches);
        bool fresh = !p.add;
        A c = fresh ? A() : tnc_product_start<F>(p, r, j, part);
        for (int64_t b = 0; b < p.blocks * p.parts; b++) {
            const int pass = (int)(b / p.blocks);
            const A alpha = tnc_product_number(A(), tnc_product_alpha(p, part, pass));
            c = tnc_product_add(c, fresh, ((const A *)p.sums)[b * elements + i], alpha);
            fresh = false;
        }
        ((typename F::E *)p.c)[batch * p.c_batch + r * p.c_row + j * p.c_col + part] = F::narrow(c);
    }
}

enum product_way {
    PRODUCT_FOLD,
    PRODUCT_ACROSS,
    PRODUCT_ALONG,
    PRODUCT_SMALL,
    PRODUCT_MIDDLE,
    PRODUCT_LARGE
};
enum { PRODUCT_SUMS = 1 << 28 };

static int64_t product_side(int way) {
    return way == PRODUCT_LARGE ? 128 : way == PRODUCT_MIDDLE ? 64 : 32;
}
static int64_t product_tiles(const tnc_product *p, int way) {
    const int64_t side = product_side(way);
    return (p->m + side - 1) / side * ((p->n + side - 1) / side) * p->batches * p->parts;
}
static int64_t product_bytes(const tnc_product *p) {
    return p->dtype == TN_F64 || p->dtype == TN_I64 ? 8 : 4;
}
static bool product_sums(const tnc_product *p, int64_t *bytes) {
    const int64_t elements = p->m * p->n * p->batches * p->parts;
    return !__builtin_mul_overflow(elements, p->blocks * p->parts * product_bytes(p), bytes);
}

static int product_tile_way(tnc_product *p, int64_t processors) {
    const int64_t blocks = p->blocks * p->parts;
    const bool large = p->dtype == TN_F32 || p->dtype == TN_F16 || p->dtype == TN_BF16,
               small = large || p->dtype == TN_F64;
    int64_t bytes;
    int way = small ? PRODUCT_SMALL : PRODUCT_MIDDLE;
    if (large && p->m > 64 && p->n > 64 &&
        product_tiles(p, PRODUCT_LARGE) * blocks >= 2 * processors)
        way = PRODUCT_LARGE;
    else if ((p->m > 32 || p->n > 32) && product_tiles(p, PRODUCT_MIDDLE) * blocks >= processors)
        way = PRODUCT_MIDDLE;
#ifdef TNC_EMULATED
    const int forced = (int)emu_number("EMU_PRODUCT_WAY", way);
    if ((small && forced == PRODUCT_SMALL) || forced == PRODUCT_MIDDLE ||
        (large && forced == PRODUCT_LARGE))
        way = forced;
    if (emu_number("EMU_PRODUCT_WHOLE", 0)) return way;
#endif
    p->split = p->blocks > 1 && product_tiles(p, way) < 2 * processors && product_sums(p, &bytes) &&
               bytes <= PRODUCT_SUMS;
    return way;
}

static void product_turn(tnc_product *p) {
    const tnc_product t = *p;
    p->turned = true;
    p->m = t.n;
    p->n = t.m;
    p->a = t.b;
    p->a_row = t.b_col;
    p->a_col = t.b_row;
    p->b = t.a;
    p->b_row = t.a_col;
    p->b_col = t.a_row;
    p->c_row = t.c_col;
    p->c_col = t.c_row;
    p->start_row = t.start_col;
    p->start_col = t.start_row;
    memcpy(p->a_batch, t.b_batch, sizeof p->a_batch);
    memcpy(p->b_batch, t.a_batch, sizeof p->b_batch);
}

static bool product_nearer(int64_t a, int64_t b) { return (a < 0 ? -a : a) <= (b < 0 ? -b : b); }
static bool product_aligned(const char *at, int64_t bytes, int64_t step, const int64_t *batch,
                            int n) {
    bool is = (uintptr_t)at % 16 == 0 && step * bytes % 16 == 0;
    for (int d = 0; d < n; d++) is = is && batch[d] * bytes % 16 == 0;
    return is;
}
static void product_reads(tnc_product *p) {
    const int64_t bytes = tnc_dtype_bytes(p->dtype);
    p->a_deep = product_nearer(p->a_col, p->a_row);
    p->b_deep = !product_nearer(p->b_col, p->b_row);
    p->a_wide =
        (p->a_deep ? p->a_col : p->a_row) == 1 &&
        product_aligned(p->a, bytes, p->a_deep ? p->a_row : p->a_col, p->a_batch, p->nbatch);
    p->b_wide =
        (p->b_deep ? p->b_row : p->b_col) == 1 &&
        product_aligned(p->b, bytes, p->b_deep ? p->b_col : p->b_row, p->b_batch, p->nbatch);
    p->c_wide = p->c_col == 1 && product_aligned(p->c, bytes, p->c_row, &p->c_batch, 1);
}

static int product_way_of(tnc_product *p, const tn_frame *f) {
    int way = PRODUCT_FOLD;
    if (!p->k) return way;
    if (p->n == 1) product_turn(p);
    product_reads(p);
    if (p->m > 1) return product_tile_way(p, tnc_device_of(f)->processors);
    p->split = true;
    return p->b_deep ? PRODUCT_ALONG : PRODUCT_ACROSS;
}

template <class F, int side>
static void product_launch_tiles(const tnc_product &p, int way, cudaStream_t s) {
    const int64_t jobs = product_tiles(&p, way) * (p.split ? p.blocks * p.parts : 1);
    TNC_LAUNCH((tnc_product_tiles<F, side / 16, side / 16>), tnc_blocks(jobs, 1), TNC_TILE_THREADS,
               s, p, jobs);
}
template <class F, int least, int most>
static void product_launch(const tnc_product &p, int way, cudaStream_t s) {
    const int64_t elements = p.m * p.n * p.batches * p.parts, jobs = elements * p.blocks * p.parts;
    if (way == PRODUCT_ACROSS)
        TNC_LAUNCH_PLAIN((tnc_product_across<F>), tnc_blocks(jobs, 128), 128, s, p, jobs);
    else if (way == PRODUCT_ALONG)
        TNC_LAUNCH((tnc_product_along<F>), tnc_blocks(jobs, 32 * TNC_VECTOR_WARPS),
                   32 * TNC_VECTOR_WARPS, s, p, jobs);
    else if (way == PRODUCT_SMALL)
        product_launch_tiles<F, least * 16>(p, way, s);
    else if (way == PRODUCT_MIDDLE)
        product_launch_tiles<F, 64>(p, way, s);
    else if (way == PRODUCT_LARGE)
        product_launch_tiles<F, most * 16>(p, way, s);
    if (p.split || way == PRODUCT_FOLD)
        TNC_LAUNCH_PLAIN((tnc_product_fold<F>), tnc_blocks(elements, 128), 128, s, p, elements);
}

static void product_run(const tnc_product &p, int way, cudaStream_t s) {
    switch (p.dtype) {
    case TN_F32: product_launch<tnc_factor_of<float, float>, 2, 8>(p, way, s); break;
    case TN_F16: product_launch<tnc_factor_f16, 2, 8>(p, way, s); break;
    case TN_BF16: product_launch<tnc_factor_bf16, 2, 8>(p, way, s); break;
    case TN_F64: product_launch<tnc_factor_of<double, double>, 2, 4>(p, way, s); break;
    case TN_U8: product_launch<tnc_factor_of<uint8_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I8: product_launch<tnc_factor_of<int8_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I16: product_launch<tnc_factor_of<int16_t, uint32_t>, 4, 4>(p, way, s); break;
    case TN_I32: product_launch<tnc_factor_of<int32_t, uint32_t>, 4, 4>(p, way, s); break;
    default: product_launch<tnc_factor_of<int64_t, uint64_t>, 4, 4>(p, way, s);
    }
}

static void product_of(tnc_product *p, const tn_frame *f, tn_tensor *a, tn_tensor *b, bool turned) {
    const tn_operand at = tn_operand_of(a), bt = tn_operand_of(b), c = tn_operand_of(f->out[0]);
    const int64_t parts = at.dtype == TN_C64 || at.dtype == TN_C128 ? 2 : 1;
    tn_product_plan plan;
    tn_product_plan_of(&plan, a, b, turned);
    memset(p, 0, sizeof *p);
    p->dtype = parts == 1 ? (int)at.dtype : at.dtype == TN_C64 ? (int)TN_F32 : (int)TN_F64;
    p->parts = (int32_t)parts;
    p->m = plan.m;
    p->n = plan.n;
    p->k = plan.k;
    p->batches = plan.batches;
    p->blocks = (plan.k + TN_PRODUCT_BLOCK - 1) / TN_PRODUCT_BLOCK;
    p->a_row = plan.a_row * parts;
    p->a_col = plan.a_col * parts;
    p->b_row = plan.b_row * parts;
    p->b_col = plan.b_col * parts;
    p->c_row = plan.n * parts;
    p->c_col = parts;
    p->c_batch = plan.m * plan.n * parts;
    p->nbatch = plan.nbatch;
    for (int d = 0; d < plan.nbatch; d++) {
        p->size[d] = plan.size[d];
        p->a_batch[d] = plan.a_batch[d] * parts;
        p->b_batch[d] = plan.b_batch[d] * parts;
    }
    p->a = at.at;
    p->b = bt.at;
    p->c = c.at;
    p->alpha = p->beta = 1;
}
static void product_begins(tnc_product *p, const tn_tensor *t, double beta) {
    const tn_operand s = tn_operand_of(t);
    const int d = s.ndim;
    p->add = true;
    p->beta = beta;
    if (beta == 0) return;
    p->start = s.at;
    if (d > 0 && s.size[d - 1] != 1) p->start_col = s.stride[d - 1] * p->parts;
    if (d > 1 && s.size[d - 2] != 1) p->start_row = s.stride[d - 2] * p->parts;
}

static void matmul_product(tnc_product *p, const tn_frame *f) {
    product_of(p, f, f->in[0], f->in[1], false);
}
static void addmm_product(tnc_product *p, const tn_frame *f) {
    TN_ARGS(addmm, a, f);
    product_of(p, f, f->in[1], f->in[2], false);
    product_begins(p, f->in[0], a->beta);
    p->alpha = a->alpha;
}
static void linear_rows_product(tnc_product *p, const tn_frame *f) {
    product_of(p, f, f->in[0], f->in[1], true);
    if (f->in[2]) product_begins(p, f->in[2], 1);
}

static bool product_is_nothing(const tnc_product *p) { return !(p->m && p->n && p->batches); }
template <void (*of)(tnc_product *, const tn_frame *)>
static bool product_row_prepare(tn_frame *f) {
    tnc_product p;
    int64_t bytes;
    of(&p, f);
    if (product_is_nothing(&p)) return true;
    if (tnc_blas_takes(f, &p, &bytes)) return !bytes || tn_device_scratch(f, bytes) != NULL;
    product_way_of(&p, f);
    if (!p.split) return true;
    return product_sums(&p, &bytes) ? tn_device_scratch(f, bytes) != NULL
                                    : tn_fail(f, TN_MEMORY, "the product is too large");
}
template <void (*of)(tnc_product *, const tn_frame *)>
static void product_row_run(tn_frame *f) {
    tnc_product p;
    int64_t bytes;
    of(&p, f);
    if (product_is_nothing(&p)) return;
    const bool takes = tnc_blas_takes(f, &p, &bytes);
    if (takes && tnc_blas_run(f, &p)) return;
    const int way = product_way_of(&p, f);
    if (takes) p.split = false;
    p.sums = (char *)f->scratch;
    product_run(p, way, tnc_stream(f));
}

#define PRODUCT_ROW(row) \
    { #row, false, NULL, product_row_prepare < row##_product>, product_row_run < row##_product> }
static const tn_device_row product_table[] = {PRODUCT_ROW(matmul), PRODUCT_ROW(addmm),
                                              PRODUCT_ROW(linear_rows)};
TNC_FAMILY(products, product_table)
#undef PRODUCT_ROW
#undef PRODUCT_UNROLL
#undef PRODUCT_UNROLL_BY

/* src/cuda/factors.cu - factorizations and triangular systems in the order of the CPU (ops/linalg, cpu/matrix.h): numbers are rounded to their dtype where the CPU stores them, columns are added by one fma a real product, dot products have 16 chains */

struct tnc_factor_side {
    char *at;
    int64_t row, col, batch[TN_MAX_DIMS];
};
struct tnc_factors {
    int64_t m, n, k, batches;
    int64_t size[TN_MAX_DIMS];
    int32_t nbatch;
    bool turned, conjugated, upper, unit;
    tnc_factor_side a, b, c;
    char *scratch;
    int32_t *info;
};
struct tnc_pair_of {
    double re, im;
};
template <class T, int parts>
struct tnc_matrix {
    T *at;
    int64_t row, col;
    __device__ __forceinline__ T *to(int64_t i, int64_t j) const { return at + i * row + j * col; }
    __device__ __forceinline__ tnc_pair_of get(int64_t i, int64_t j) const {
        const T *v = to(i, j);
        return tnc_pair_of{(double)v[0], parts > 1 ? (double)v[parts - 1] : 0};
    }
    __device__ __forceinline__ void set(int64_t i, int64_t j, tnc_pair_of v) const {
        T *p = to(i, j);
        p[0] = (T)v.re;
        if (parts > 1) p[parts - 1] = (T)v.im;
    }
};
template <class T, int parts>
TNC_FN tnc_matrix<T, parts> tnc_matrix_of(const tnc_factors &f, const tnc_factor_side &s,
                                          int64_t batch) {
    int64_t at = 0;
    for (int d = f.nbatch - 1; d >= 0; d--) {
        at += batch % f.size[d] * s.batch[d];
        batch /= f.size[d];
    }
    return tnc_matrix<T, parts>{(T *)s.at + at, s.row, s.col};
}

TNC_FN float tnc_factor_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_factor_fma(double a, double b, double c) { return fma(a, b, c); }
template <class T, int parts>
TNC_FN void tnc_factor_add(T *y, const T *x, tnc_pair_of a) {
    T re = tnc_factor_fma((T)a.re, x[0], y[0]);
    if (parts > 1) {
        const T im = tnc_factor_fma((T)a.re, x[parts - 1], y[parts - 1]);
        re = tnc_factor_fma((T)-a.im, x[parts - 1], re);
        y[parts - 1] = tnc_factor_fma((T)a.im, x[0], im);
    }
    y[0] = re;
}
TNC_FN tnc_pair_of tnc_factor_mul(tnc_pair_of a, tnc_pair_of b) {
    return tnc_pair_of{fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
TNC_FN tnc_pair_of tnc_factor_div(tnc_pair_of a, tnc_pair_of b) {
    if (b.im == 0) return tnc_pair_of{a.re / b.re, a.im / b.re};
    if (fabs(b.re) >= fabs(b.im)) {
        const double ratio = b.im / b.re, under = fma(b.im, ratio, b.re);
        return tnc_pair_of{fma(a.im, ratio, a.re) / under, fma(-a.re, ratio, a.im) / under};
    }
    const double ratio = b.re / b.im, under = fma(b.re, ratio, b.im);
    return tnc_pair_of{fma(a.re, ratio, a.im) / under, fma(a.im, ratio, -a.re) / under};
}

enum { TNC_FACTOR_THREADS = 128, TNC_FACTOR_WARPS = TNC_FACTOR_THREADS / 32 };

template <class T, int parts>
TNC_FN int32_t tnc_cholesky_factor(const tnc_matrix<T, parts> &l, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; i < n; i += TNC_FACTOR_THREADS)
            for (int64_t k = 0; k < j; k++) {
                const tnc_pair_of v = l.get(j, k);
                tnc_factor_add<T, parts>(l.to(i, j), l.to(i, k), tnc_pair_of{-v.re, v.im});
            }
        for (int64_t k = 0; k < j && threadIdx.x == 0; k++) {
            const tnc_pair_of v = l.get(j, k);
            tnc_factor_add<T, parts>(l.to(j, j), l.to(j, k), tnc_pair_of{-v.re, v.im});
        }
        __syncthreads();
        tnc_pair_of head = l.get(j, j);
        if (!(head.re > 0)) return (int32_t)(j + 1);
        head = tnc_pair_of{(double)(T)sqrt(head.re), 0};
        __syncthreads();
        if (threadIdx.x == 0) l.set(j, j, head);
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; i < n; i += TNC_FACTOR_THREADS)
            l.set(i, j, tnc_factor_div(l.get(i, j), head));
        __syncthreads();
    }
    return 0;
}
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_cholesky(tnc_factors f) {
    const int64_t all = f.n * f.n;
    for (int64_t batch = blockIdx.x; batch < f.batches; batch += gridDim.x) {
        const auto a = tnc_matrix_of<T, parts>(f, f.a, batch),
                   l = tnc_matrix_of<T, parts>(f, f.c, batch);
        for (int64_t i = threadIdx.x; i < all; i += TNC_FACTOR_THREADS) {
            tnc_pair_of v = a.get(i % f.n, i / f.n);
            if (f.conjugated) v.im = -v.im;
            l.set(i % f.n, i / f.n, v);
        }
        __syncthreads();
        const int32_t minor = tnc_cholesky_factor<T, parts>(l, f.n);
        __syncthreads();
        if (threadIdx.x == 0) f.info[batch] = minor;
        for (int64_t i = threadIdx.x; i < all; i += TNC_FACTOR_THREADS) {
            tnc_pair_of v = l.get(i % f.n, i / f.n);
            if (i % f.n < i / f.n) v = tnc_pair_of{0, 0};
            if (f.conjugated) v.im = -v.im;
            l.set(i % f.n, i / f.n, v);
        }
    }
}

template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_triangular(tnc_factors f) {
    const int lane = (int)(threadIdx.x % 32);
    const int64_t warps = (int64_t)gridDim.x * TNC_FACTOR_WARPS;
    for (int64_t job = (int64_t)blockIdx.x * TNC_FACTOR_WARPS + threadIdx.x / 32;
         job < f.batches * f.k; job += warps) {
        const auto t = tnc_matrix_of<T, parts>(f, f.a, job / f.k),
                   b = tnc_matrix_of<T, parts>(f, f.b, job / f.k),
                   x = tnc_matrix_of<T, parts>(f, f.c, job / f.k);
        const int64_t c = job % f.k;
        for (int64_t i = lane; i < f.n; i += 32) x.set(i, c, b.get(i, c));
        __syncwarp();
        for (int64_t step = 0; step < f.n; step++) {
            const int64_t j = f.upper ? f.n - 1 - step : step, first = f.upper ? 0 : j + 1,
                          end = f.upper ? j : f.n;
            tnc_pair_of v = x.get(j, c);
            if (!f.unit) v = tnc_factor_div(v, t.get(j, j));
            v = tnc_pair_of{(double)(T)v.re, (double)(T)v.im};
            __syncwarp();
            if (lane == 0) x.set(j, c, v);
            for (int64_t i = first + lane; i < end; i += 32)
                tnc_factor_add<T, parts>(x.to(i, c), t.to(i, j), tnc_pair_of{-v.re, -v.im});
            __syncwarp();
        }
    }
}

template <class T, int parts>
TNC_FN double tnc_qr_norm(const tnc_matrix<T, parts> &a, int64_t m, int64_t i, int64_t j) {
    double most = 0, sum = 0;
    int power;
    for (int64_t r = i; r < m; r++) {
        const tnc_pair_of v = a.get(r, j);
        if (v.re != v.re || v.im != v.im) return v.re + v.im;
        most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
    }
    if (most == 0 || most - most != 0) return most;
    frexp(most, &power);
    for (int64_t r = i; r < m; r++) {
        const tnc_pair_of v = a.get(r, j);
        const double re = ldexp(v.re, -power), im = ldexp(v.im, -power);
        sum = fma(re, re, fma(im, im, sum));
    }
    return ldexp(sqrt(sum), power);
}
struct tnc_qr_head {
    tnc_pair_of tau, under, beta;
    bool there;
};
template <class T, int parts>
TNC_FN tnc_qr_head tnc_qr_reflection(const tnc_matrix<T, parts> &a, int64_t m, int64_t j) {
    const tnc_pair_of head = a.get(j, j);
    const double rest = tnc_qr_norm<T, parts>(a, m, j + 1, j);
    tnc_qr_head h = {{0, 0}, {0, 0}, {0, 0}, false};
    if (rest == 0 && head.im == 0) return h;
    h.there = true;
    h.beta.re = -copysign(tnc_qr_norm<T, parts>(a, m, j, j), head.re);
    h.tau = tnc_pair_of{(double)(T)((h.beta.re - head.re) / h.beta.re),
                        (double)(T)(-head.im / h.beta.re)};
    h.under = tnc_pair_of{head.re - h.beta.re, head.im};
    return h;
}
template <class T, int parts>
TNC_FN tnc_pair_of tnc_factor_dot(const tnc_matrix<T, parts> &x, int64_t jx,
                                  const tnc_matrix<T, parts> &y, int64_t jy, int64_t i, int64_t m) {
    T rr = 0, ii = 0, ri = 0, ir = 0;
    for (int64_t r = i + threadIdx.x % 16; r < m; r += 16) {
        const T *a = x.to(r, jx), *b = y.to(r, jy);
        rr = tnc_factor_fma(a[0], b[0], rr);
        if (parts == 1) continue;
        ii = tnc_factor_fma(a[parts - 1], b[parts - 1], ii);
        ri = tnc_factor_fma(a[0], b[parts - 1], ri);
        ir = tnc_factor_fma(a[parts - 1], b[0], ir);
    }
    for (int half = 8; half; half /= 2) {
        rr += __shfl_down_sync(0xffffffffu, rr, half, 16);
        ii += __shfl_down_sync(0xffffffffu, ii, half, 16);
        ri += __shfl_down_sync(0xffffffffu, ri, half, 16);
        ir += __shfl_down_sync(0xffffffffu, ir, half, 16);
    }
    rr = __shfl_sync(0xffffffffu, rr, 0, 16);
    if (parts == 1) return tnc_pair_of{(double)rr, 0};
    ii = __shfl_sync(0xffffffffu, ii, 0, 16);
    ri = __shfl_sync(0xffffffffu, ri, 0, 16);
    ir = __shfl_sync(0xffffffffu, ir, 0, 16);
    return tnc_pair_of{(double)rr + (double)ii, (double)ri - (double)ir};
}
template <class T, int parts>
TNC_FN void tnc_qr_reflect(const tnc_matrix<T, parts> &a, int64_t m, int64_t j,
                           const tnc_matrix<T, parts> &x, int64_t c, tnc_pair_of tau) {
    const int lane = (int)(threadIdx.x % 32);
    tnc_pair_of head = x.get(j, c), w = tnc_factor_dot<T, parts>(a, j, x, c, j + 1, m);
    w.re += head.re;
    w.im += head.im;
    w = tnc_factor_mul(tau, w);
    __syncwarp();
    if (lane == 0) x.set(j, c, tnc_pair_of{head.re - w.re, head.im - w.im});
    for (int64_t i = j + 1 + lane; i < m; i += 32)
        tnc_factor_add<T, parts>(x.to(i, c), a.to(i, j), tnc_pair_of{-w.re, -w.im});
    __syncwarp();
}
template <class T, int parts>
TNC_FN void tnc_qr_factor(const tnc_factors &f, const tnc_matrix<T, parts> &a,
                          const tnc_matrix<T, parts> &taus, tnc_qr_head *shared) {
    const int64_t least = f.m < f.n ? f.m : f.n;
    for (int64_t j = 0; j < least; j++) {
        if (threadIdx.x == 0) *shared = tnc_qr_reflection<T, parts>(a, f.m, j);
        __syncthreads();
        const tnc_qr_head h = *shared;
        for (int64_t i = j + 1 + (int64_t)threadIdx.x; h.there && i < f.m; i += TNC_FACTOR_THREADS)
            a.set(i, j, tnc_factor_div(a.get(i, j), h.under));
        if (threadIdx.x == 0) {
            if (h.there) a.set(j, j, h.beta);
            taus.set(j, 0, h.tau);
        }
        __syncthreads();
        for (int64_t c = j + 1 + threadIdx.x / 32; c < f.n; c += TNC_FACTOR_WARPS)
            tnc_qr_reflect<T, parts>(a, f.m, j, a, c, tnc_pair_of{h.tau.re, -h.tau.im});
        __syncthreads();
    }
}
template <class T, int parts>
TNC_FN void tnc_qr_product(const tnc_factors &f, const tnc_matrix<T, parts> &a,
                           const tnc_matrix<T, parts> &taus, const tnc_matrix<T, parts> &q) {
    for (int64_t i = threadIdx.x; i < f.m * f.k; i += TNC_FACTOR_THREADS)
        q.set(i % f.m, i / f.m, tnc_pair_of{i % f.m == i / f.m ? 1.0 : 0.0, 0});
    __syncthreads();
    for (int64_t j = (f.m < f.n ? f.m : f.n) - 1; j >= 0; j--) {
        for (int64_t c = j + threadIdx.x / 32; c < f.k; c += TNC_FACTOR_WARPS)
            tnc_qr_reflect<T, parts>(a, f.m, j, q, c, taus.get(j, 0));
        __syncthreads();
    }
}
template <class T, int parts>
__global__ void __launch_bounds__(TNC_FACTOR_THREADS) tnc_qr(tnc_factors f, int64_t rows) {
    TNC_SHARED(tnc_qr_head, head, 1);
    const int64_t least = f.m < f.n ? f.m : f.n, each = (f.m * f.n + least) * parts;
    for (int64_t batch = blockIdx.x; batch < f.batches; batch += gridDim.x) {
        const auto from = tnc_matrix_of<T, parts>(f, f.a, batch),
                   q = tnc_matrix_of<T, parts>(f, f.b, batch),
                   r = tnc_matrix_of<T, parts>(f, f.c, batch);
        const tnc_matrix<T, parts> a = {(T *)f.scratch + batch * each, parts, f.m * parts},
                                   taus = {a.at + f.m * f.n * parts, parts, parts};
        for (int64_t i = threadIdx.x; i < f.m * f.n; i += TNC_FACTOR_THREADS)
            a.set(i % f.m, i / f.m, from.get(i % f.m, i / f.m));
        __syncthreads();
        tnc_qr_factor<T, parts>(f, a, taus, head);
        if (f.k) tnc_qr_product<T, parts>(f, a, taus, q);
        for (int64_t i = threadIdx.x; i < rows * f.n; i += TNC_FACTOR_THREADS)
            r.set(i % rows, i / rows,
                  i % rows > i / rows ? tnc_pair_of{0, 0} : a.get(i % rows, i / rows));
        __syncthreads();
    }
}

static int64_t factor_parts(const tn_operand &t) {
    return t.dtype == TN_C64 || t.dtype == TN_C128 ? 2 : 1;
}
static void factor_side(tnc_factor_side *s, const tn_operand &t, const tn_operand &like,
                        bool turned) {
    const int64_t parts = factor_parts(t);
    memset(s, 0, sizeof *s);
    s->at = t.at;
    s->row = t.stride[t.ndim - (turned ? 1 : 2)] * parts;
    s->col = t.stride[t.ndim - (turned ? 2 : 1)] * parts;
    for (int d = 0; d < like.ndim - 2; d++) {
        const int own = d - (like.ndim - t.ndim);
        if (own >= 0 && t.size[own] != 1) s->batch[d] = t.stride[own] * parts;
    }
}
static void factor_batches(tnc_factors *f, const tn_operand &like) {
    f->batches = 1;
    f->nbatch = like.ndim - 2;
    for (int d = 0; d < f->nbatch; d++) {
        f->size[d] = like.size[d];
        f->batches *= like.size[d];
    }
}
#define FACTOR_LAUNCH(kernel, dtype, jobs, ...)                                               \
    do {                                                                                      \
        const unsigned blocks = tnc_blocks(jobs, 1);                                          \
        switch (dtype) {                                                                      \
        case TN_F32: TNC_LAUNCH((kernel<float, 1>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__); \
            break;                                                                            \
        case TN_F64:                                                                          \
            TNC_LAUNCH((kernel<double, 1>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__);         \
            break;                                                                            \
        case TN_C64: TNC_LAUNCH((kernel<float, 2>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__); \
            break;                                                                            \
        default: TNC_LAUNCH((kernel<double, 2>), blocks, TNC_FACTOR_THREADS, __VA_ARGS__);    \
        }                                                                                     \
    } while (0)

static void factor_cholesky_run(tn_frame *frame) {
    TN_ARGS(linalg_cholesky_ex, o, frame);
    const tn_operand a = tn_operand_of(frame->in[0]), l = tn_operand_of(frame->out[0]);
    tnc_factors f;
    memset(&f, 0, sizeof f);
    factor_batches(&f, a);
    factor_side(&f.a, a, a, o->upper);
    factor_side(&f.c, l, a, o->upper);
    f.n = a.size[a.ndim - 1];
    f.conjugated = o->upper;
    f.info = (int32_t *)(void *)tn_operand_of(frame->out[1]).at;
    if (f.batches) FACTOR_LAUNCH(tnc_cholesky, a.dtype, f.batches, tnc_stream(frame), f);
}

static void factor_triangular_run(tn_frame *frame) {
    TN_ARGS(linalg_solve_triangular, o, frame);
    const tn_operand a = tn_operand_of(frame->in[0]), b = tn_operand_of(frame->in[1]),
                     x = tn_operand_of(frame->out[0]);
    const bool turned = !o->left;
    tnc_factors f;
    memset(&f, 0, sizeof f);
    factor_batches(&f, x);
    factor_side(&f.a, a, x, turned);
    factor_side(&f.b, b, x, turned);
    factor_side(&f.c, x, x, turned);
    f.n = a.size[a.ndim - 1];
    f.k = b.size[b.ndim - (o->left ? 1 : 2)];
    f.upper = o->upper == o->left;
    f.unit = o->unitriangular;
    if (f.n && f.batches && f.k)
        FACTOR_LAUNCH(tnc_triangular, a.dtype,
                      (f.batches * f.k + TNC_FACTOR_WARPS - 1) / TNC_FACTOR_WARPS,
                      tnc_stream(frame), f);
}

static void factor_qr_sides(tnc_factors *f, const tn_frame *frame, int64_t *rows) {
    const tn_operand a = tn_operand_of(frame->in[0]), q = tn_operand_of(frame->out[0]),
                     r = tn_operand_of(frame->out[1]);
    memset(f, 0, sizeof *f);
    factor_batches(f, a);
    f->m = a.size[a.ndim - 2];
    f->n = a.size[a.ndim - 1];
    factor_side(&f->a, a, a, false);
    factor_side(&f->c, r, a, false);
    *rows = r.size[r.ndim - 2];
    if (q.ndim != a.ndim) return;
    factor_side(&f->b, q, a, false);
    f->k = q.size[q.ndim - 1];
}
static bool factor_qr_prepare(tn_frame *frame) {
    tnc_factors f;
    int64_t rows, each, bytes;
    factor_qr_sides(&f, frame, &rows);
    each = f.m * f.n + (f.m < f.n ? f.m : f.n);
    if (__builtin_mul_overflow(each, f.batches * (int64_t)tn_operand_of(frame->in[0]).bytes,
                               &bytes))
        return tn_fail(frame, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(frame, bytes) != NULL;
}
static void factor_qr_run(tn_frame *frame) {
    tnc_factors f;
    int64_t rows;
    factor_qr_sides(&f, frame, &rows);
    f.scratch = (char *)frame->scratch;
    if (f.batches)
        FACTOR_LAUNCH(tnc_qr, tn_dtype_of(frame->in[0]), f.batches, tnc_stream(frame), f, rows);
}

static const tn_device_row factor_table[] = {
    {"linalg_cholesky_ex", false, NULL, NULL, factor_cholesky_run},
    {"linalg_solve_triangular", false, NULL, NULL, factor_triangular_run},
    {"linalg_qr", false, NULL, factor_qr_prepare, factor_qr_run}};
TNC_FAMILY(factors, factor_table)
#undef FACTOR_LAUNCH

/* src/cuda/conv.cu - conv2d and the gradients of its input and weight in the order of the CPU (kernels/conv.h): chains of 384 terms in the order of k, or of a block of pixels */

/* src/cuda/conv.cuh - a convolution as its kernels see it, for all three rows: */

enum { TNC_CONV_BLOCK = TN_PRODUCT_BLOCK };

struct tnc_conv_digits {
    int64_t middle, inner;
    int64_t step[3];
    int64_t outer;
    int32_t y, x, y_step, x_step;
};
struct tnc_conv_place {
    int64_t other, b;
    int32_t y, x;
};
struct tnc_conv_phase {
    int64_t k, p;
    int64_t a, c;
    tnc_conv_digits of_k, of_p;
};
struct tnc_conv_axis {
    int64_t n, taps, stride, pad, dilation, every, phases;
};

struct tnc_conv {
    const char *a, *b, *bias;
    char *c;
    int64_t m, groups, phases;
    int64_t a_m, a_group, b_group, c_m, c_group, bias_step;
    int64_t row, col;
    int32_t h, w;
    uint8_t dtype;
    bool turned;
    bool swap;
    bool conj;
    tnc_conv_phase phase;
    tnc_conv_axis y, x;
    int64_t a_y, a_x;
    tn_conv_blocks cut;
    int64_t lines, width;
    int64_t blocks, split, first, elements;
    int64_t m_tiles, p_tiles, jobs;
};

TNC_FN tnc_conv_place tnc_conv_place_of(const tnc_conv &v, const tnc_conv_digits &d, int64_t i) {
    const int64_t q = i / d.inner, x = i - q * d.inner, outer = q / d.middle,
                  y = q - outer * d.middle;
    tnc_conv_place to;
    to.y = d.y + (int32_t)y * d.y_step;
    to.x = d.x + (int32_t)x * d.x_step;
    to.other = outer * d.step[0] + y * d.step[1] + x * d.step[2];
    to.b = outer * d.outer + to.y * v.row + to.x * v.col;
    return to;
}
TNC_FN bool tnc_conv_inside(const tnc_conv &v, int32_t y, int32_t x) {
    return (uint32_t)y < (uint32_t)v.h && (uint32_t)x < (uint32_t)v.w;
}

struct tnc_conv_turn {
    int64_t tap, taps, places;
    int32_t at, step;
};
TNC_FN tnc_conv_turn tnc_conv_turn_of(const tnc_conv_axis &x, int64_t r) {
    tnc_conv_turn t;
    t.tap = 0;
    while (t.tap < x.every && t.tap < x.taps && (t.tap * x.dilation - x.pad - r) % x.stride)
        t.tap++;
    t.taps = t.tap < x.every && t.tap < x.taps ? (x.taps - 1 - t.tap) / x.every + 1 : 0;
    t.places = (x.n - r + x.stride - 1) / x.stride;
    t.at = (int32_t)((r + x.pad - t.tap * x.dilation) / x.stride);
    t.step = (int32_t)(-x.every * x.dilation / x.stride);
    return t;
}
TNC_FN void tnc_conv_phase_of(const tnc_conv &v, int64_t number, tnc_conv_phase *to) {
    *to = v.phase;
    if (!v.turned) return;
    const int64_t r = number / v.x.phases, s = number % v.x.phases;
    const tnc_conv_turn y = tnc_conv_turn_of(v.y, r), x = tnc_conv_turn_of(v.x, s);
    to->k *= y.taps * x.taps;
    to->p *= y.places * x.places;
    to->a = y.tap * v.a_y + x.tap * v.a_x;
    to->c = r * v.x.n + s;
    to->of_k.middle = y.taps;
    to->of_k.inner = x.taps;
    to->of_k.step[1] = v.y.every * v.a_y;
    to->of_k.step[2] = v.x.every * v.a_x;
    to->of_k.y = y.at;
    to->of_k.x = x.at;
    to->of_k.y_step = y.step;
    to->of_k.x_step = x.step;
    to->of_p.middle = y.places;
    to->of_p.inner = x.places;
}

TNC_FN int64_t tnc_conv_blocks(const tnc_conv &v, int64_t k) {
    return v.cut.images ? v.blocks : (k + TNC_CONV_BLOCK - 1) / TNC_CONV_BLOCK;
}
TNC_FN void tnc_conv_block_of(const tnc_conv &v, int64_t k, int64_t b, int64_t *begin,
                              int64_t *end) {
    if (!v.cut.images) {
        *begin = b * TNC_CONV_BLOCK;
        *end = k - *begin < TNC_CONV_BLOCK ? k : *begin + TNC_CONV_BLOCK;
        return;
    }
    const tn_conv_blocks &c = v.cut;
    const int64_t round = c.images * v.lines, each = (round + c.lines - 1) / c.lines * c.pieces,
                  r = b / each, i = b % each, line = r * round + i / c.pieces * c.lines,
                  piece = i % c.pieces * c.piece;
    int64_t last = line + c.lines;
    if (last > (r + 1) * round) last = (r + 1) * round;
    *begin = line * v.width + piece;
    *end = last * v.width;
    if (*end > k) *end = k;
    if (c.pieces > 1 && v.width - piece > c.piece) *end = *begin + c.piece;
}

template <class T, class E>
struct tnc_conv_of {
    TNC_FN T get(const char *at, int64_t i, int) { return (T)((const E *)at)[i]; }
};
template <>
struct tnc_conv_of<float, uint16_t> {
    TNC_FN float get(const char *at, int64_t i, int dtype) {
        const uint16_t h = ((const uint16_t *)at)[i];
        return dtype == TN_BF16 ? tnc_from_bf16(h) : tnc_from_f16(h);
    }
};
TNC_FN void tnc_conv_store(char *at, int64_t i, int dtype, float v) {
    if (dtype == TN_F32)
        ((float *)at)[i] = v;
    else
        ((uint16_t *)at)[i] = dtype == TN_BF16 ? tnc_to_bf16(v) : tnc_to_f16(v);
}
TNC_FN void tnc_conv_store(char *at, int64_t i, int, double v) { ((double *)at)[i] = v; }
template <class T>
TNC_FN void tnc_conv_put(const tnc_conv &v, int64_t part, int64_t i, T x) {
    if (v.split > 1)
        ((T *)v.c)[part * v.elements + i] = x;
    else
        tnc_conv_store(v.c, i, v.dtype, x);
}

#ifdef __CUDACC__
#define CONV_UNROLL _Pragma("unroll")
#else
#define CONV_UNROLL
#endif

enum { TNC_CONV_K = 16 };

template <class T, int MR>
struct tnc_conv_tile {
    enum {
        V = 16 / sizeof(T),
        G = MR < V ? MR : V,
        PR = 32 / sizeof(T),
        TM = 16 * MR,
        TP = 16 * PR,
        A = TM / G + 1,
        B = TP / V + 1
    };
    typedef tnc_pack<T, G> a_pack;
    typedef tnc_pack<T, V> b_pack;
    T acc[MR][PR], total[MR][PR];
    T next_a[MR], next_b[PR];
};
template <class T, int MR>
struct tnc_conv_room {
    const char *a, *b;
    int64_t a_at, b_at, m0, p0, p;
    const tnc_conv_place *ks, *ps;
    typename tnc_conv_tile<T, MR>::a_pack *as;
    typename tnc_conv_tile<T, MR>::b_pack *bs;
};

template <class T, class E, int MR>
TNC_FN void tnc_conv_load(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int k0, int n,
                          tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    const int tid = (int)threadIdx.x;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int e = tid + i * 256, k = k0 + e % TNC_CONV_K;
        const int64_t m = r.m0 + e / TNC_CONV_K;
        t->next_a[i] =
            k < n && m < v.m
                ? tnc_conv_of<T, E>::get(v.a, r.a_at + m * v.a_m + r.ks[k].other, v.dtype)
                : (T)0;
    }
    CONV_UNROLL
    for (int i = 0; i < X::PR; i++) {
        const int e = tid + i * 256, p = v.cut.images ? e / TNC_CONV_K : e % X::TP,
                  k = k0 + (v.cut.images ? e % TNC_CONV_K : e / X::TP);
        T x = 0;
        if (k < n && r.p0 + p < r.p) {
            const tnc_conv_place &q = r.ks[k], &w = r.ps[p];
            if (tnc_conv_inside(v, q.y + w.y, q.x + w.x))
                x = tnc_conv_of<T, E>::get(v.b, r.b_at + q.b + w.b, v.dtype);
        }
        t->next_b[i] = x;
    }
}
template <class T, int MR>
TNC_FN void tnc_conv_keep(const tnc_conv &v, const tnc_conv_room<T, MR> &r,
                          const tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    const int tid = (int)threadIdx.x;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int e = tid + i * 256, k = e % TNC_CONV_K, m = e / TNC_CONV_K;
        r.as[k * X::A + m / X::G].e[m % X::G] = t->next_a[i];
    }
    CONV_UNROLL
    for (int i = 0; i < X::PR; i++) {
        const int e = tid + i * 256, p = v.cut.images ? e / TNC_CONV_K : e % X::TP,
                  k = v.cut.images ? e % TNC_CONV_K : e / X::TP;
        r.bs[k * X::B + p / X::V].e[p % X::V] = t->next_b[i];
    }
}
TNC_FN float tnc_conv_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_conv_fma(double a, double b, double c) { return fma(a, b, c); }

template <class T, int MR>
TNC_FN void tnc_conv_term(const tnc_conv_room<T, MR> &r, int k, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    const int y = (int)threadIdx.x / 16, x = (int)threadIdx.x % 16;
    typename X::a_pack a[MR / X::G];
    typename X::b_pack b[X::PR / X::V];
    CONV_UNROLL
    for (int g = 0; g < MR / X::G; g++) a[g] = r.as[k * X::A + g * 16 + y];
    CONV_UNROLL
    for (int g = 0; g < X::PR / X::V; g++) b[g] = r.bs[k * X::B + g * 16 + x];
    CONV_UNROLL
    for (int i = 0; i < MR; i++) CONV_UNROLL
    for (int j = 0; j < X::PR; j++)
        t->acc[i][j] = tnc_conv_fma(a[i / X::G].e[i % X::G], b[j / X::V].e[j % X::V], t->acc[i][j]);
}

template <class T, class E, int MR>
TNC_FN void tnc_conv_chains(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int n,
                            tnc_conv_tile<T, MR> *t) {
    tnc_conv_load<T, E, MR>(v, r, 0, n, t);
    for (int k0 = 0; k0 < n; k0 += TNC_CONV_K) {
        __syncthreads();
        tnc_conv_keep(v, r, t);
        __syncthreads();
        if (k0 + TNC_CONV_K < n) tnc_conv_load<T, E, MR>(v, r, k0 + TNC_CONV_K, n, t);
        if (n - k0 >= TNC_CONV_K) {
            CONV_UNROLL
            for (int k = 0; k < TNC_CONV_K; k++) tnc_conv_term(r, k, t);
        } else {
            for (int k = 0; k < n - k0; k++) tnc_conv_term(r, k, t);
        }
    }
}

template <class T, int MR>
TNC_FN int tnc_conv_m(int i) {
    typedef tnc_conv_tile<T, MR> X;
    return (i / X::G * 16 + (int)threadIdx.x / 16) * X::G + i % X::G;
}
template <class T, int MR>
TNC_FN int tnc_conv_p(int j) {
    typedef tnc_conv_tile<T, MR> X;
    return (j / X::V * 16 + (int)threadIdx.x % 16) * X::V + j % X::V;
}

template <class T, class E, int MR>
TNC_FN void tnc_conv_begin(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int64_t group,
                           bool first, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int64_t m = r.m0 + tnc_conv_m<T, MR>(i);
        const T start =
            first && v.bias && m < v.m
                ? tnc_conv_of<T, E>::get(v.bias, (group * v.m + m) * v.bias_step, v.dtype)
                : (T)0;
        CONV_UNROLL
        for (int j = 0; j < X::PR; j++) t->acc[i][j] = start;
    }
}
template <class T, int MR>
TNC_FN void tnc_conv_add(bool first, tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) CONV_UNROLL
    for (int j = 0; j < X::PR; j++)
        t->total[i][j] = first ? t->acc[i][j] : t->total[i][j] + t->acc[i][j];
}
template <class T, int MR>
TNC_FN void tnc_conv_write(const tnc_conv &v, const tnc_conv_room<T, MR> &r, int64_t at,
                           int64_t part, const tnc_conv_tile<T, MR> *t) {
    typedef tnc_conv_tile<T, MR> X;
    CONV_UNROLL
    for (int i = 0; i < MR; i++) {
        const int64_t m = r.m0 + tnc_conv_m<T, MR>(i);
        CONV_UNROLL
        for (int j = 0; j < X::PR; j++) {
            const int p = tnc_conv_p<T, MR>(j);
            if (m < v.m && r.p0 + p < r.p)
                tnc_conv_put(v, part, at + m * v.c_m + r.ps[p].other, t->total[i][j]);
        }
    }
}

struct tnc_conv_job {
    int64_t m, p, part, group, phase;
};
TNC_FN tnc_conv_job tnc_conv_job_of(const tnc_conv &v, int64_t i) {
    tnc_conv_job j;
    j.m = i % v.m_tiles;
    i /= v.m_tiles;
    j.p = i % v.p_tiles;
    i /= v.p_tiles;
    j.part = i % v.split;
    i /= v.split;
    j.group = i % v.groups;
    j.phase = i / v.groups;
    return j;
}

template <class T, class E, int MR>
__global__ void __launch_bounds__(256, 2) tnc_conv_tiles(tnc_conv v) {
    typedef tnc_conv_tile<T, MR> X;
    typedef typename X::a_pack a_pack;
    typedef typename X::b_pack b_pack;
    TNC_SHARED(tnc_conv_phase, phase, 1);
    TNC_SHARED(tnc_conv_place, ks, TNC_CONV_BLOCK);
    TNC_SHARED(tnc_conv_place, ps, X::TP);
    TNC_SHARED(a_pack, as, TNC_CONV_K * X::A);
    TNC_SHARED(b_pack, bs, TNC_CONV_K * X::B);
    const int tid = (int)threadIdx.x;
    for (int64_t job = blockIdx.x; job < v.jobs; job += gridDim.x) {
        const tnc_conv_job j = tnc_conv_job_of(v, job);
        tnc_conv_room<T, MR> r;
        X t;
        __syncthreads();
        if (tid == 0) tnc_conv_phase_of(v, j.phase, phase);
        __syncthreads();
        r.m0 = j.m * X::TM, r.p0 = j.p * X::TP, r.p = phase->p;
        r.a_at = phase->a + j.group * v.a_group, r.b_at = j.group * v.b_group;
        r.ks = ks, r.ps = ps, r.as = as, r.bs = bs;
        const int64_t all = tnc_conv_blocks(v, phase->k), first = v.first + j.part,
                      end = v.split > 1 ? first + 1 : all;
        if (r.p0 >= r.p || (v.split > 1 && first >= all)) continue;
        if (tid < X::TP) ps[tid] = tnc_conv_place_of(v, phase->of_p, r.p0 + tid);
        tnc_conv_begin<T, E, MR>(v, r, j.group, false, &t);
        tnc_conv_add(true, &t);
        for (int64_t b = first; b < end; b++) {
            int64_t from, to;
            tnc_conv_block_of(v, phase->k, b, &from, &to);
            __syncthreads();
            for (int i = tid; i < to - from; i += 256)
                ks[i] = tnc_conv_place_of(v, phase->of_k, from + i);
            __syncthreads();
            tnc_conv_begin<T, E, MR>(v, r, j.group, b == 0, &t);
            tnc_conv_chains<T, E, MR>(v, r, (int)(to - from), &t);
            tnc_conv_add(b == first, &t);
        }
        __syncthreads();
        tnc_conv_write(v, r, phase->c + j.group * v.c_group, j.part, &t);
    }
}

template <class T, class E>
struct tnc_conv_real {
    typedef T part;
    enum { blocks = 1 };
    TNC_FN T get(const char *at, int64_t i, int dtype) {
        return tnc_conv_of<T, E>::get(at, i, dtype);
    }
    TNC_FN T term(const tnc_conv &, T a, T b, T sum) { return tnc_conv_fma(a, b, sum); }
    TNC_FN T plus(T a, T b) { return a + b; }
    TNC_FN T zero() { return 0; }
    TNC_FN void put(const tnc_conv &v, int64_t part, int64_t i, T x) {
        tnc_conv_put(v, part, i, x);
    }
};
struct tnc_conv_integer {
    typedef uint64_t part;
    enum { blocks = 0 };
    TNC_FN uint64_t get(const char *at, int64_t i, int dtype) {
        const int64_t bytes = dtype == TN_I64 ? 8 : dtype == TN_I32 ? 4 : dtype == TN_I16 ? 2 : 1;
        return (uint64_t)tnc_load_real<int64_t>(at + i * bytes, dtype);
    }
    TNC_FN uint64_t term(const tnc_conv &, uint64_t a, uint64_t b, uint64_t sum) {
        return sum + a * b;
    }
    TNC_FN uint64_t plus(uint64_t a, uint64_t b) { return a + b; }
    TNC_FN uint64_t zero() { return 0; }
    TNC_FN void put(const tnc_conv &v, int64_t, int64_t i, uint64_t x) {
        const int64_t bytes = v.dtype == TN_I64   ? 8
                              : v.dtype == TN_I32 ? 4
                              : v.dtype == TN_I16 ? 2
                                                  : 1;
        tnc_store_real(v.c + i * bytes, v.dtype, (int64_t)x);
    }
};
struct tnc_conv_complex {
    typedef tnc_c128 part;
    enum { blocks = 0 };
    TNC_FN tnc_c128 get(const char *at, int64_t i, int dtype) {
        tnc_c128 z;
        if (dtype == TN_C64) {
            z.re = ((const float *)at)[2 * i];
            z.im = ((const float *)at)[2 * i + 1];
        } else {
            z.re = ((const double *)at)[2 * i];
            z.im = ((const double *)at)[2 * i + 1];
        }
        return z;
    }
    TNC_FN tnc_c128 term(const tnc_conv &v, tnc_c128 a, tnc_c128 b, tnc_c128 sum) {
        const tnc_c128 x = v.swap ? b : a, y = v.swap ? a : b;
        const double im = v.conj ? -y.im : y.im;
        sum.re = fma(-x.im, im, fma(x.re, y.re, sum.re));
        sum.im = fma(x.im, y.re, fma(x.re, im, sum.im));
        return sum;
    }
    TNC_FN tnc_c128 plus(tnc_c128 a, tnc_c128) { return a; }
    TNC_FN tnc_c128 zero() {
        tnc_c128 z;
        z.re = z.im = 0;
        return z;
    }
    TNC_FN void put(const tnc_conv &v, int64_t, int64_t i, tnc_c128 z) {
        if (v.dtype == TN_C64) {
            ((float *)v.c)[2 * i] = (float)z.re;
            ((float *)v.c)[2 * i + 1] = (float)z.im;
        } else {
            ((double *)v.c)[2 * i] = z.re;
            ((double *)v.c)[2 * i + 1] = z.im;
        }
    }
};

template <class R>
TNC_FN typename R::part tnc_conv_chain(const tnc_conv &v, const tnc_conv_digits &d, int64_t a,
                                       int64_t b, const tnc_conv_place &p, int64_t k, int64_t end,
                                       typename R::part sum) {
    int64_t x = k % d.inner, y = k / d.inner % d.middle, outer = k / d.inner / d.middle;
    for (; k < end; k++) {
        const int32_t row = d.y + (int32_t)y * d.y_step + p.y,
                      col = d.x + (int32_t)x * d.x_step + p.x;
        const bool inside = tnc_conv_inside(v, row, col);
        if (inside || R::blocks) {
            const typename R::part w = R::get(v.a,
                                              a + outer * d.step[0] + y * d.step[1] + x * d.step[2],
                                              v.dtype),
                                   z = inside
                                           ? R::get(v.b,
                                                    b + outer * d.outer + row * v.row + col * v.col,
                                                    v.dtype)
                                           : R::zero();
            sum = R::term(v, w, z, sum);
        }
        if (++x < d.inner) continue;
        x = 0;
        if (++y < d.middle) continue;
        y = 0;
        outer++;
    }
    return sum;
}

template <class R>
__global__ void __launch_bounds__(256) tnc_conv_direct(tnc_conv v) {
    typedef typename R::part part;
    TNC_SHARED(tnc_conv_phase, phase, 1);
    for (int64_t job = blockIdx.x; job < v.jobs; job += gridDim.x) {
        const tnc_conv_job j = tnc_conv_job_of(v, job);
        __syncthreads();
        if (threadIdx.x == 0) tnc_conv_phase_of(v, j.phase, phase);
        __syncthreads();
        const int64_t p = j.p * 256 + threadIdx.x, channel = j.group * v.m + j.m, k = phase->k,
                      blocks = R::blocks ? tnc_conv_blocks(v, k) : k > 0, first = v.first + j.part,
                      end = v.split > 1 ? first + 1 : blocks;
        if (p >= phase->p || first >= end || first >= blocks) {
            if (p < phase->p && v.split == 1)
                R::put(v, 0,
                       phase->c + j.group * v.c_group + j.m * v.c_m +
                           tnc_conv_place_of(v, phase->of_p, p).other,
                       R::zero());
            continue;
        }
        const tnc_conv_place at = tnc_conv_place_of(v, phase->of_p, p);
        const int64_t a = phase->a + j.group * v.a_group + j.m * v.a_m;
        const int64_t b = j.group * v.b_group + at.b - at.y * v.row - at.x * v.col;
        part total = R::zero();
        for (int64_t i = first; i < end; i++) {
            int64_t from = 0, to = k;
            part sum = R::zero();
            if (R::blocks) tnc_conv_block_of(v, k, i, &from, &to);
            if (i == 0 && v.bias) sum = R::get(v.bias, channel * v.bias_step, v.dtype);
            sum = tnc_conv_chain<R>(v, phase->of_k, a, b, at, from, to, sum);
            total = i == first ? sum : R::plus(total, sum);
        }
        R::put(v, j.part, phase->c + j.group * v.c_group + j.m * v.c_m + at.other, total);
    }
}

template <class T, class E>
TNC_FN T tnc_conv_lane(const tnc_conv &v, int64_t a, int64_t b, const tnc_conv_place &p, int lane,
                       int64_t from, int64_t to) {
    const tnc_conv_digits &d = v.phase.of_k;
    T sum = 0;
    while (from < to) {
        const int64_t line = from / v.width, left = from - line * v.width, image = line / v.lines,
                      y = line - image * v.lines, rest = to - from,
                      n = v.width - left < rest ? v.width - left : rest;
        const int32_t row = d.y + (int32_t)y * d.y_step + p.y;
        for (int64_t i = lane; i < n; i += 16) {
            const int32_t col = d.x + (int32_t)(left + i) * d.x_step + p.x;
            const T g = tnc_conv_of<T, E>::get(
                v.a, a + image * d.step[0] + y * d.step[1] + (left + i) * d.step[2], v.dtype);
            T x = 0;
            if (tnc_conv_inside(v, row, col))
                x = tnc_conv_of<T, E>::get(v.b, b + image * d.outer + row * v.row + col * v.col,
                                           v.dtype);
            sum = tnc_conv_fma(x, g, sum);
        }
        from += n;
    }
    return sum;
}
template <class T, class E>
__global__ void __launch_bounds__(256) tnc_conv_lanes(tnc_conv v) {
    const int64_t teams = (int64_t)gridDim.x * blockDim.x / 16;
    const int lane = (int)(threadIdx.x % 16);
    for (int64_t begin = 0; begin < v.jobs; begin += teams) {
        const int64_t job = begin + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 16;
        const bool mine = job < v.jobs;
        const tnc_conv_job j = tnc_conv_job_of(v, mine ? job : 0);
        const tnc_conv_place p = tnc_conv_place_of(v, v.phase.of_p, j.p);
        const int64_t first = v.first + j.part, count = v.split > 1 ? 1 : v.blocks,
                      a = j.group * v.a_group + j.m * v.a_m,
                      b = j.group * v.b_group + p.b - p.y * v.row - p.x * v.col;
        T total = 0;
        for (int64_t i = 0; i < count; i++) {
            int64_t from = 0, to = 0;
            if (mine && first + i < v.blocks)
                tnc_conv_block_of(v, v.phase.k, first + i, &from, &to);
            T sum = tnc_conv_lane<T, E>(v, a, b, p, lane, from, to);
            for (int h = 8; h; h /= 2) sum += __shfl_down_sync(0xffffffffu, sum, h);
            total = i ? total + sum : sum;
        }
        if (mine && !lane && (v.split == 1 || first < v.blocks))
            tnc_conv_put(v, j.part, j.group * v.c_group + j.m * v.c_m + p.other, total);
    }
}

template <class T>
__global__ void __launch_bounds__(256)
    tnc_conv_sums(const T *parts, T *sums, char *out, int dtype, int64_t elements, int64_t count,
                  bool first, bool last) {
    for (int64_t i = TNC_FIRST(); i < elements; i += TNC_STEP()) {
        T sum = first ? parts[i] : sums[i];
        for (int64_t s = first; s < count; s++) sum = sum + parts[s * elements + i];
        if (last)
            tnc_conv_store(out, i, dtype, sum);
        else
            sums[i] = sum;
    }
}

enum { CONV_OUTPUT, CONV_INPUT, CONV_WEIGHT };

typedef struct conv_planes {
    const char *at;
    int64_t n, c, h, w, image, channel, row, col;
} conv_planes;
static conv_planes conv_planes_of(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const int64_t *size = o.size + o.ndim - 3, *stride = o.stride + o.ndim - 3;
    const conv_planes p = {o.at,     o.ndim == 4 ? o.size[0] : 1,   size[0],   size[1],
                           size[2],  o.ndim == 4 ? o.stride[0] : 0, stride[0], stride[1],
                           stride[2]};
    return p;
}
static int64_t conv_option(tn_ints option, int k, int64_t otherwise) {
    return option.n < 1 ? otherwise : option.at[k && option.n > 1];
}
typedef struct conv_options {
    int64_t stride[2], pad[2], dilation[2], groups;
} conv_options;
static conv_options conv_options_of(tn_ints stride, tn_ints padding, tn_ints dilation,
                                    int64_t groups) {
    conv_options o;
    for (int k = 0; k < 2; k++) {
        o.stride[k] = conv_option(stride, k, 1);
        o.pad[k] = conv_option(padding, k, 0);
        o.dilation[k] = conv_option(dilation, k, 1);
    }
    o.groups = groups;
    return o;
}

static void conv_digits(tnc_conv_digits *d, int64_t middle, int64_t inner, int64_t outer_step,
                        int64_t middle_step, int64_t inner_step, int64_t b_step) {
    d->middle = middle;
    d->inner = inner;
    d->step[0] = outer_step;
    d->step[1] = middle_step;
    d->step[2] = inner_step;
    d->outer = b_step;
}
static void conv_of_pixels(tnc_conv_digits *d, const conv_options *o) {
    d->y = (int32_t)-o->pad[0];
    d->x = (int32_t)-o->pad[1];
    d->y_step = (int32_t)o->stride[0];
    d->x_step = (int32_t)o->stride[1];
}
static void conv_of_taps(tnc_conv_digits *d, const conv_options *o) {
    d->y_step = (int32_t)o->dilation[0];
    d->x_step = (int32_t)o->dilation[1];
}
static int64_t conv_common(int64_t a, int64_t b) {
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}
static void conv_axis(tnc_conv_axis *x, int64_t n, int64_t taps, const conv_options *o, int k) {
    x->n = n;
    x->taps = taps;
    x->stride = o->stride[k];
    x->pad = o->pad[k];
    x->dilation = o->dilation[k];
    x->every = x->stride / conv_common(x->stride, x->dilation);
    x->phases = x->stride < n ? x->stride : n;
}

static void conv_source(tnc_conv *v, const conv_planes &b, int64_t channels) {
    v->b = b.at;
    v->b_group = channels * b.channel;
    v->row = b.row;
    v->col = b.col;
    v->h = (int32_t)b.h;
    v->w = (int32_t)b.w;
}
static void conv_plan_output(tnc_conv *v, const conv_planes &x, const conv_planes &w,
                             const conv_planes &y, const conv_options *o) {
    tnc_conv_phase *p = &v->phase;
    const int64_t plane = y.h * y.w;
    v->m = w.n / o->groups;
    v->a = w.at;
    v->a_m = w.image;
    v->a_group = v->m * w.image;
    conv_source(v, x, w.c);
    v->c_m = plane;
    v->c_group = v->m * plane;
    p->k = w.c * w.h * w.w;
    p->p = y.n * plane;
    conv_digits(&p->of_k, w.h, w.w, w.channel, w.row, w.col, x.channel);
    conv_digits(&p->of_p, y.h, y.w, w.n * plane, y.w, 1, x.image);
    conv_of_taps(&p->of_k, o);
    conv_of_pixels(&p->of_p, o);
    v->swap = true;
}
static void conv_plan_input(tnc_conv *v, const conv_planes &d, const conv_planes &w,
                            const conv_planes &x, const conv_options *o) {
    tnc_conv_phase *p = &v->phase;
    const int64_t og = w.n / o->groups, plane = x.h * x.w;
    v->m = w.c;
    v->a = w.at;
    v->a_m = w.channel;
    v->a_group = og * w.image;
    conv_source(v, d, og);
    v->c_m = plane;
    v->c_group = w.c * plane;
    v->turned = true;
    conv_axis(&v->y, x.h, w.h, o, 0);
    conv_axis(&v->x, x.w, w.w, o, 1);
    v->phases = v->y.phases * v->x.phases;
    v->a_y = w.row;
    v->a_x = w.col;
    p->k = og;
    p->p = x.n;
    conv_digits(&p->of_k, 1, 1, w.image, 0, 0, d.channel);
    conv_digits(&p->of_p, 1, 1, x.c * plane, v->y.stride * x.w, v->x.stride, d.image);
    p->of_p.y_step = p->of_p.x_step = 1;
    v->swap = v->conj = true;
}
static void conv_plan_weight(tnc_conv *v, const conv_planes &d, const conv_planes &x,
                             const conv_planes &w, const conv_options *o) {
    tnc_conv_phase *p = &v->phase;
    const int64_t taps = w.c * w.h * w.w;
    v->m = w.n / o->groups;
    v->a = d.at;
    v->a_m = d.channel;
    v->a_group = v->m * d.channel;
    conv_source(v, x, w.c);
    v->c_m = taps;
    v->c_group = v->m * taps;
    p->k = d.n * d.h * d.w;
    p->p = taps;
    conv_digits(&p->of_k, d.h, d.w, d.image, d.row, d.col, x.image);
    conv_digits(&p->of_p, w.h, w.w, w.h * w.w, w.w, 1, x.channel);
    conv_of_pixels(&p->of_k, o);
    conv_of_taps(&p->of_p, o);
    v->lines = d.h;
    v->width = d.w;
    v->conj = true;
}

static bool conv_floats(const tnc_conv &v) {
    return v.dtype == TN_F32 || v.dtype == TN_F64 || v.dtype == TN_F16 || v.dtype == TN_BF16;
}
static int conv_tile_m(const tnc_conv &v) {
    if (!conv_floats(v) || v.cut.lanes || (!v.cut.images && v.m <= 4)) return 1;
    return v.m <= 16 ? 16 : v.m <= 32 ? 32 : 64;
}
static int64_t conv_weight_blocks(const tnc_conv &v, int64_t images) {
    const tn_conv_blocks &c = v.cut;
    const int64_t full = images / c.images, rest = images % c.images;
    return (full * ((c.images * v.lines + c.lines - 1) / c.lines) +
            (rest * v.lines + c.lines - 1) / c.lines) *
           c.pieces;
}

static void conv_jobs(tnc_conv *v, const tn_frame *f) {
    const int m = conv_tile_m(*v), wide = v->dtype == TN_F64 ? 64 : 128;
    const int64_t p = !v->turned ? v->phase.p
                                 : v->phase.p * ((v->y.n + v->y.stride - 1) / v->y.stride) *
                                       ((v->x.n + v->x.stride - 1) / v->x.stride),
                  each = v->cut.lanes ? 1
                         : m == 1     ? 256
                                      : wide,
                  enough = 2 * (int64_t)tnc_device_of(f)->processors * (v->cut.lanes ? 64 : 1);
    v->m_tiles = (v->m + m - 1) / m;
    v->p_tiles = (p + each - 1) / each;
    v->split = 1;
    v->jobs = v->m_tiles * v->p_tiles * v->groups * v->phases;
    if (!conv_floats(*v) || v->phases > 1 || v->blocks < 2 || v->jobs >= enough || !v->jobs) return;
    v->split = (enough + v->jobs - 1) / v->jobs;
    if (v->split > v->blocks) v->split = v->blocks;
    v->jobs *= v->split;
}

static void conv_plan(tnc_conv *v, tn_frame *f, int of, const conv_options &o) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const conv_planes a = conv_planes_of(f->in[0]), b = conv_planes_of(f->in[1]),
                      c = conv_planes_of(f->out[0]);
    memset(v, 0, sizeof *v);
    v->dtype = out.dtype;
    v->groups = o.groups;
    v->phases = 1;
    v->c = out.at;
    v->elements = out.numel;
    if (of == CONV_OUTPUT) {
        conv_plan_output(v, a, b, c, &o);
        if (f->in[2]) {
            const tn_operand bias = tn_operand_of(f->in[2]);
            v->bias = bias.at;
            v->bias_step = bias.stride[0];
        }
    } else if (of == CONV_INPUT) {
        conv_plan_input(v, a, b, c, &o);
    } else {
        conv_plan_weight(v, a, b, c, &o);
        if (conv_floats(*v)) tn_conv_blocks_of(&v->cut, f);
    }
    if (v->cut.images)
        v->blocks = conv_weight_blocks(*v, a.n);
    else if (v->phases == 1)
        v->blocks = (v->phase.k * (v->turned ? b.h * b.w : 1) + TNC_CONV_BLOCK - 1) /
                    TNC_CONV_BLOCK;
    conv_jobs(v, f);
}

static bool conv_prepare_as(tn_frame *f, int of, const conv_options &o) {
    const conv_planes x = conv_planes_of(of == CONV_OUTPUT  ? f->in[0]
                                         : of == CONV_INPUT ? f->out[0]
                                                            : f->in[1]);
    int64_t bytes;
    tnc_conv v;
    for (int k = 0; k < 2; k++)
        if ((k ? x.w : x.h) + 2 * o.pad[k] > 1 << 30 || o.stride[k] > 1 << 30 ||
            o.dilation[k] > 1 << 30)
            return tn_fail(f, TN_UNSUPPORTED,
                           "a convolution over more than 2^30 rows or columns has no kernel on the "
                           "device");
    conv_plan(&v, f, of, o);
    if (v.split == 1) return true;
    if (__builtin_mul_overflow(v.elements, v.split + 1, &bytes) ||
        __builtin_mul_overflow(bytes, v.dtype == TN_F64 ? 8 : 4, &bytes))
        return tn_fail(f, TN_MEMORY, "the sizes are too large");
    return tn_device_scratch(f, bytes) != NULL;
}

template <class T, class E>
static void conv_launch(const tnc_conv &v, cudaStream_t s) {
    const unsigned grid = tnc_blocks(v.jobs, 1);
    if (v.cut.lanes) {
        TNC_LAUNCH((tnc_conv_lanes<T, E>), tnc_blocks(v.jobs, 16), 256, s, v);
        return;
    }
    switch (conv_tile_m(v)) {
    case 1: TNC_LAUNCH((tnc_conv_direct<tnc_conv_real<T, E>>), grid, 256, s, v); break;
    case 16: TNC_LAUNCH((tnc_conv_tiles<T, E, 1>), grid, 256, s, v); break;
    case 32: TNC_LAUNCH((tnc_conv_tiles<T, E, 2>), grid, 256, s, v); break;
    default: TNC_LAUNCH((tnc_conv_tiles<T, E, 4>), grid, 256, s, v);
    }
}
template <class T, class E>
static void conv_run_floats(tn_frame *f, tnc_conv v) {
    const cudaStream_t s = tnc_stream(f);
    char *out = v.c;
    T *parts = (T *)f->scratch, *sums = parts + v.split * v.elements;
    if (v.split == 1) {
        conv_launch<T, E>(v, s);
        return;
    }
    v.c = (char *)parts;
    for (v.first = 0; v.first < v.blocks; v.first += v.split) {
        const int64_t left = v.blocks - v.first, n = left < v.split ? left : v.split;
        conv_launch<T, E>(v, s);
        TNC_LAUNCH_PLAIN((tnc_conv_sums<T>), tnc_blocks(v.elements, 256), 256, s, parts, sums, out,
                         v.dtype, v.elements, n, v.first == 0, n == left);
    }
}
static void conv_run_as(tn_frame *f, int of, const conv_options &o) {
    tnc_conv v;
    conv_plan(&v, f, of, o);
    if (!v.elements) return;
    switch (v.dtype) {
    case TN_F32: conv_run_floats<float, float>(f, v); break;
    case TN_F64: conv_run_floats<double, double>(f, v); break;
    case TN_F16:
    case TN_BF16: conv_run_floats<float, uint16_t>(f, v); break;
    case TN_C64:
    case TN_C128:
        TNC_LAUNCH((tnc_conv_direct<tnc_conv_complex>), tnc_blocks(v.jobs, 1), 256, tnc_stream(f),
                   v);
        break;
    default:
        TNC_LAUNCH((tnc_conv_direct<tnc_conv_integer>), tnc_blocks(v.jobs, 1), 256, tnc_stream(f),
                   v);
    }
}

#define CONV_ROW(row, of)                                                                       \
    static bool row##_prepare(tn_frame *f) {                                                    \
        TN_ARGS(row, a, f);                                                                     \
        return conv_prepare_as(f, of,                                                           \
                               conv_options_of(a->stride, a->padding, a->dilation, a->groups)); \
    }                                                                                           \
    static void row##_run(tn_frame *f) {                                                        \
        TN_ARGS(row, a, f);                                                                     \
        conv_run_as(f, of, conv_options_of(a->stride, a->padding, a->dilation, a->groups));     \
    }
CONV_ROW(conv2d, CONV_OUTPUT)
CONV_ROW(conv2d_input_grad, CONV_INPUT)
CONV_ROW(conv2d_weight_grad, CONV_WEIGHT)

static const tn_device_row conv_table[] = {
    {"conv2d", false, NULL, conv2d_prepare, conv2d_run},
    {"conv2d_input_grad", false, NULL, conv2d_input_grad_prepare, conv2d_input_grad_run},
    {"conv2d_weight_grad", false, NULL, conv2d_weight_grad_prepare, conv2d_weight_grad_run}};
TNC_FAMILY(conv, conv_table)
#undef CONV_ROW
#undef CONV_UNROLL

/* src/cuda/pool.cu - poolings over windows of two dimensions and their gradients, with the sums and choices of the CPU (ops/layers/max_pool.c, avg_pool.c) */

struct tnc_pool_planes {
    char *at;
    int64_t c, h, w, image, channel, row, col;
    int32_t dtype, part;
};
struct tnc_pool_axis {
    int64_t n, out, k, stride, pad, dilation;
};
struct tnc_pool {
    tnc_pool_planes from, to, index;
    tnc_pool_axis y, x;
    int64_t elements;
    int32_t parts;
    double divisor;
    bool include_pad, pairs;
};

struct tnc_pool_element {
    int64_t image, channel, y, x;
    int32_t part;
};
TNC_FN tnc_pool_element tnc_pool_element_of(const tnc_pool &v, int64_t i) {
    tnc_pool_element e;
    int64_t q = i / v.parts;
    e.part = (int32_t)(i - q * v.parts);
    i = q / v.to.w;
    e.x = q - i * v.to.w;
    q = i / v.to.h;
    e.y = i - q * v.to.h;
    e.image = q / v.to.c;
    e.channel = q - e.image * v.to.c;
    return e;
}
TNC_FN char *tnc_pool_plane(const tnc_pool_planes &t, const tnc_pool_element &e) {
    return t.at + e.image * t.image + e.channel * t.channel + e.part * t.part;
}
TNC_FN char *tnc_pool_at(const tnc_pool_planes &t, const tnc_pool_element &e) {
    return tnc_pool_plane(t, e) + e.y * t.row + e.x * t.col;
}
template <class T>
TNC_FN void tnc_pool_put(const tnc_pool &v, const tnc_pool_element &e, T value) {
    char *at = tnc_pool_at(v.to, e);
    if (v.parts == 2)
        tnc_put<T>(at, value);
    else
        tnc_store_real(at, v.to.dtype, value);
}

struct tnc_pool_range {
    int64_t begin, end;
};
TNC_FN tnc_pool_range tnc_pool_inside(const tnc_pool_axis &a, int64_t p) {
    const int64_t from = p * a.stride - a.pad, d = a.dilation;
    tnc_pool_range r;
    r.begin = from < 0 ? (d - 1 - from) / d : 0;
    r.end = from < a.n ? (a.n - 1 - from) / d + 1 : 0;
    if (r.end > a.k) r.end = a.k;
    return r;
}
TNC_FN tnc_pool_range tnc_pool_covering(const tnc_pool_axis &a, int64_t i) {
    const int64_t last = i + a.pad, first = last - (a.k - 1) * a.dilation;
    tnc_pool_range r;
    r.begin = first > 0 ? (first + a.stride - 1) / a.stride : 0;
    r.end = last / a.stride + 1;
    if (r.end > a.out) r.end = a.out;
    return r;
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_max(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const int64_t y = e.y * v.y.stride - v.y.pad, x = e.x * v.x.stride - v.x.pad;
        const tnc_pool_range rows = tnc_pool_inside(v.y, e.y), cols = tnc_pool_inside(v.x, e.x);
        const char *from = tnc_pool_plane(v.from, e);
        int64_t at = -1;
        T best = 0;
        for (int64_t r = rows.begin; r < rows.end; r++)
            for (int64_t c = cols.begin; c < cols.end; c++) {
                const T z = tnc_load_real<T>(from + (y + r * v.y.dilation) * v.from.row +
                                                 (x + c * v.x.dilation) * v.from.col,
                                             v.from.dtype);
                if (at < 0 || z > best || z != z) {
                    best = z;
                    at = r * v.x.k + c;
                }
            }
        tnc_pool_put(v, e, best);
        if (v.index.at) tnc_store_real(tnc_pool_at(v.index, e), v.index.dtype, at);
    }
}

TNC_FN bool tnc_pool_place(const tnc_pool &v, int64_t at, int64_t p, int64_t q, int64_t *y,
                           int64_t *x) {
    const int64_t r = at / v.x.k;
    *y = p * v.y.stride - v.y.pad + r * v.y.dilation;
    *x = q * v.x.stride - v.x.pad + (at - r * v.x.k) * v.x.dilation;
    return at >= 0 && r < v.y.k;
}
TNC_FN int64_t tnc_pool_index(const tnc_pool &v, const char *plane, int64_t p, int64_t q) {
    const char *at = plane + p * v.index.row + q * v.index.col;
    return v.index.dtype == TN_U8 ? (int64_t)tnc_get<uint8_t>(at) : (int64_t)tnc_get<int32_t>(at);
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_scatter(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_range ps = tnc_pool_covering(v.y, e.y), qs = tnc_pool_covering(v.x, e.x);
        const char *grad = tnc_pool_plane(v.from, e), *index = tnc_pool_plane(v.index, e);
        T sum = 0;
        for (int64_t p = ps.begin; p < ps.end; p++)
            for (int64_t q = qs.begin; q < qs.end; q++) {
                int64_t y, x;
                if (!tnc_pool_place(v, tnc_pool_index(v, index, p, q), p, q, &y, &x) || y != e.y ||
                    x != e.x)
                    continue;
                const T g = tnc_load_real<T>(grad + p * v.from.row + q * v.from.col, v.from.dtype);
                sum = v.pairs ? g : sum + g;
            }
        tnc_pool_put(v, e, sum);
    }
}

template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_pick(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        int64_t y, x;
        T value = 0;
        if (tnc_pool_place(v, tnc_pool_index(v, tnc_pool_plane(v.index, e), e.y, e.x), e.y, e.x, &y,
                           &x) &&
            y >= 0 && y < v.y.n && x >= 0 && x < v.x.n)
            value = tnc_load_real<T>(tnc_pool_plane(v.from, e) + y * v.from.row + x * v.from.col,
                                     v.from.dtype);
        tnc_pool_put(v, e, value);
    }
}

struct tnc_pool_window {
    int64_t begin, end, count;
};
TNC_FN tnc_pool_window tnc_pool_window_of(const tnc_pool_axis &a, int64_t p) {
    tnc_pool_window w;
    if (!a.k) {
        const int64_t q = a.n / a.out, r = a.n % a.out;
        w.begin = p * q + p * r / a.out;
        w.end = (p + 1) * q + ((p + 1) * r + a.out - 1) / a.out;
        w.count = w.end - w.begin;
        return w;
    }
    w.begin = p * a.stride - a.pad;
    w.end = w.begin + a.k;
    if (w.end > a.n + a.pad) w.end = a.n + a.pad;
    w.count = w.end - w.begin;
    if (w.begin < 0) w.begin = 0;
    if (w.end > a.n) w.end = a.n;
    return w;
}
TNC_FN double tnc_pool_divisor(const tnc_pool &v, const tnc_pool_window &y,
                               const tnc_pool_window &x) {
    if (v.divisor != 0) return v.divisor;
    if (v.include_pad) return (double)(y.count * x.count);
    return (double)((y.end - y.begin) * (x.end - x.begin));
}
TNC_FN tnc_pool_range tnc_pool_averaging(const tnc_pool_axis &a, int64_t i) {
    tnc_pool_range r;
    if (a.k) return tnc_pool_covering(a, i);
    r.begin = (int64_t)((double)i * (double)a.out / (double)a.n);
    if (r.begin >= a.out) r.begin = a.out - 1;
    while (r.begin > 0 && tnc_pool_window_of(a, r.begin - 1).end > i) r.begin--;
    while (r.begin < a.out && tnc_pool_window_of(a, r.begin).end <= i) r.begin++;
    r.end = r.begin;
    while (r.end < a.out && tnc_pool_window_of(a, r.end).begin <= i) r.end++;
    return r;
}

TNC_FN int64_t tnc_pool_quotient(uint64_t sum, double d) {
    const int64_t by = d >= 9223372036854775808.0   ? INT64_MAX
                       : d < -9223372036854775808.0 ? INT64_MIN
                                                    : (int64_t)d;
    return by == -1 ? (int64_t)(0 - sum) : (int64_t)sum / by;
}
TNC_FN double tnc_pool_quotient(double sum, double d) { return sum / d; }

template <class T, class S>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_avg(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_window y = tnc_pool_window_of(v.y, e.y), x = tnc_pool_window_of(v.x, e.x);
        const char *from = tnc_pool_plane(v.from, e);
        S sum = 0;
        for (int64_t r = y.begin; r < y.end; r++)
            for (int64_t c = x.begin; c < x.end; c++)
                sum =
                    sum + (S)tnc_load_real<T>(from + r * v.from.row + c * v.from.col, v.from.dtype);
        tnc_pool_put(v, e, (T)tnc_pool_quotient(sum, tnc_pool_divisor(v, y, x)));
    }
}
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_pool_avg_grad(tnc_pool v) {
    for (int64_t i = TNC_FIRST(); i < v.elements; i += TNC_STEP()) {
        const tnc_pool_element e = tnc_pool_element_of(v, i);
        const tnc_pool_range ps = tnc_pool_averaging(v.y, e.y), qs = tnc_pool_averaging(v.x, e.x);
        const char *grad = tnc_pool_plane(v.from, e);
        T sum = 0;
        for (int64_t p = ps.begin; p < ps.end; p++) {
            const tnc_pool_window y = tnc_pool_window_of(v.y, p);
            for (int64_t q = qs.begin; q < qs.end; q++) {
                const double d = tnc_pool_divisor(v, y, tnc_pool_window_of(v.x, q));
                const T g = tnc_load_real<T>(grad + p * v.from.row + q * v.from.col, v.from.dtype);
                sum = sum + (T)((double)g / d);
            }
        }
        tnc_pool_put(v, e, sum);
    }
}

static tnc_pool_planes pool_planes_of(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const bool complex = o.dtype == TN_C64 || o.dtype == TN_C128;
    tnc_pool_planes p;
    memset(&p, 0, sizeof p);
    if (!t) return p;
    const int64_t *size = o.size + o.ndim - 3, *stride = o.stride + o.ndim - 3;
    p.at = o.at;
    p.c = size[0];
    p.h = size[1];
    p.w = size[2];
    p.image = o.ndim == 4 ? o.stride[0] * o.bytes : 0;
    p.channel = stride[0] * o.bytes;
    p.row = stride[1] * o.bytes;
    p.col = stride[2] * o.bytes;
    p.dtype = o.dtype;
    if (complex) p.dtype = o.dtype == TN_C64 ? TN_F32 : TN_F64;
    p.part = complex ? o.bytes / 2 : 0;
    return p;
}
static int64_t pool_option(tn_ints option, int k, int64_t otherwise) {
    return option.n < 1 ? otherwise : option.at[k && option.n > 1];
}
static void pool_axis(tnc_pool_axis *a, int k, tn_ints kernel, tn_ints stride, tn_ints padding,
                      tn_ints dilation) {
    a->k = pool_option(kernel, k, 1);
    a->stride = pool_option(stride, k, a->k);
    a->pad = pool_option(padding, k, 0);
    a->dilation = pool_option(dilation, k, 1);
}
static void pool_plan(tnc_pool *v, const tn_frame *f, const tn_tensor *wide,
                      const tn_tensor *narrow) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const tnc_pool_planes w = pool_planes_of(wide), n = pool_planes_of(narrow);
    memset(v, 0, sizeof *v);
    v->from = pool_planes_of(f->in[0]);
    v->to = pool_planes_of(f->out[0]);
    v->parts = v->to.part ? 2 : 1;
    v->elements = out.numel * v->parts;
    v->y.n = w.h;
    v->x.n = w.w;
    v->y.out = n.h;
    v->x.out = n.w;
}
static bool pool_is_pairs(const tnc_pool *v) {
    for (int k = 0; k < 2; k++) {
        const tnc_pool_axis &a = k ? v->x : v->y;
        if (a.k != 2 || a.stride != 2 || a.pad || a.dilation != 1 || 2 * a.out > a.n) return false;
    }
    return v->from.dtype != TN_F64;
}

#define POOL_LAUNCH(kernel, v)                                                             \
    do {                                                                                   \
        if ((v).elements)                                                                  \
            TNC_LAUNCH_PLAIN((kernel), tnc_blocks((v).elements, TNC_THREADS), TNC_THREADS, \
                             tnc_stream(f), v);                                            \
    } while (0)
#define POOL_LAUNCH_FLOAT(kernel, v)        \
    do {                                    \
        if ((v).from.dtype == TN_F64)       \
            POOL_LAUNCH(kernel<double>, v); \
        else                                \
            POOL_LAUNCH(kernel<float>, v);  \
    } while (0)
static bool pool_is_float(const tnc_pool &v) {
    return v.from.dtype == TN_F32 || v.from.dtype == TN_F16 || v.from.dtype == TN_BF16;
}

static void max_pool2d_run(tn_frame *f) {
    TN_ARGS(max_pool2d, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    if (f->nout > 1) v.index = pool_planes_of(f->out[1]);
    if (pool_is_float(v))
        POOL_LAUNCH(tnc_pool_max<float>, v);
    else if (v.from.dtype == TN_F64)
        POOL_LAUNCH(tnc_pool_max<double>, v);
    else
        POOL_LAUNCH(tnc_pool_max<int64_t>, v);
}
static void max_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(max_pool2d_input_grad, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    v.index = pool_planes_of(f->in[1]);
    v.pairs = pool_is_pairs(&v);
    POOL_LAUNCH_FLOAT(tnc_pool_scatter, v);
}
static void max_pool2d_pick_run(tn_frame *f) {
    TN_ARGS(max_pool2d_pick, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_axis(&v.y, 0, a->kernel_size, a->stride, a->padding, a->dilation);
    pool_axis(&v.x, 1, a->kernel_size, a->stride, a->padding, a->dilation);
    v.index = pool_planes_of(f->in[1]);
    POOL_LAUNCH_FLOAT(tnc_pool_pick, v);
}

static void pool_average(tnc_pool *v, tn_ints kernel, tn_ints stride, tn_ints padding,
                         bool include_pad, int64_t divisor) {
    const tn_ints none = tn_ints_of(NULL, 0);
    pool_axis(&v->y, 0, kernel, stride, padding, none);
    pool_axis(&v->x, 1, kernel, stride, padding, none);
    v->include_pad = include_pad;
    v->divisor = divisor == TN_NONE ? 0 : (double)divisor;
}
static void pool_average_run(tn_frame *f, const tnc_pool &v) {
    if (pool_is_float(v))
        POOL_LAUNCH((tnc_pool_avg<float, double>), v);
    else if (v.from.dtype == TN_F64)
        POOL_LAUNCH((tnc_pool_avg<double, double>), v);
    else
        POOL_LAUNCH((tnc_pool_avg<int64_t, uint64_t>), v);
}
static void avg_pool2d_run(tn_frame *f) {
    TN_ARGS(avg_pool2d, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_average(&v, a->kernel_size, a->stride, a->padding, a->count_include_pad,
                 a->divisor_override);
    pool_average_run(f, v);
}
static void avg_pool2d_input_grad_run(tn_frame *f) {
    TN_ARGS(avg_pool2d_input_grad, a, f);
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    pool_average(&v, a->kernel_size, a->stride, a->padding, a->count_include_pad,
                 a->divisor_override);
    POOL_LAUNCH_FLOAT(tnc_pool_avg_grad, v);
}
static void adaptive_avg_pool2d_run(tn_frame *f) {
    tnc_pool v;
    pool_plan(&v, f, f->in[0], f->out[0]);
    pool_average_run(f, v);
}
static void adaptive_avg_pool2d_input_grad_run(tn_frame *f) {
    tnc_pool v;
    pool_plan(&v, f, f->out[0], f->in[0]);
    POOL_LAUNCH_FLOAT(tnc_pool_avg_grad, v);
}

#define POOL_ROW(row) \
    { #row, false, NULL, NULL, row##_run }
static const tn_device_row pool_table[] = {POOL_ROW(max_pool2d),
                                           POOL_ROW(max_pool2d_input_grad),
                                           POOL_ROW(max_pool2d_pick),
                                           POOL_ROW(avg_pool2d),
                                           POOL_ROW(avg_pool2d_input_grad),
                                           POOL_ROW(adaptive_avg_pool2d),
                                           POOL_ROW(adaptive_avg_pool2d_input_grad)};
TNC_FAMILY(pool, pool_table)
#undef POOL_ROW
#undef POOL_LAUNCH
#undef POOL_LAUNCH_FLOAT

/* src/cuda/batch_norm.cu - batch_norm and its fused gradient, with the statistics and sums of the CPU (ops/layers/batch_norm.c, ops/reduction/statistics.c) */

struct tnc_batch_sums {
    float one, two;
};
struct tnc_batch_two : tnc_joined<tnc_batch_sums> {
    typedef float element;
    TNC_FN tnc_batch_sums meet(tnc_batch_sums a, tnc_batch_sums b) {
        return {a.one + b.one, a.two + b.two};
    }
    TNC_FN tnc_batch_sums from(tnc_batch_sums a, int lanes) {
        return {__shfl_down_sync(0xffffffffu, a.one, lanes),
                __shfl_down_sync(0xffffffffu, a.two, lanes)};
    }
    TNC_FN tnc_batch_sums step(tnc_batch_sums a, float x, float mean, float dy) {
        return {a.one + dy, fmaf(dy, x - mean, a.two)};
    }
    template <class R>
    TNC_FN void give(const R &, const tnc_lanes &l, int64_t at, tnc_batch_sums a) {
        ((tnc_batch_sums *)l.out[0])[at] = a;
    }
};
TNC_FN float tnc_batch_fma(float a, float b, float c) { return fmaf(a, b, c); }
TNC_FN double tnc_batch_fma(double a, double b, double c) { return fma(a, b, c); }

struct tnc_batch_vector {
    char *at;
    int64_t step;
    int32_t dtype;
};
template <class T>
TNC_FN T tnc_batch_number(const tnc_batch_vector &t, int64_t i, T otherwise) {
    return t.at ? tnc_load_real<T>(t.at + i * t.step, t.dtype) : otherwise;
}
struct tnc_batch_channels {
    const tnc_moments *spread;
    tnc_batch_vector running_mean, running_var, weight, bias, mean, rstd;
    char *numbers;
    int64_t channels;
    double count, momentum, eps;
};
template <class T>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_numbers(tnc_batch_channels v) {
    T *numbers = (T *)v.numbers;
    for (int64_t i = TNC_FIRST(); i < v.channels; i += TNC_STEP()) {
        double mean, var;
        if (v.spread) {
            const double m2 = v.spread[i].m2;
            mean = v.spread[i].mean;
            for (int k = 0; k < 2; k++) {
                const tnc_batch_vector &t = k ? v.running_var : v.running_mean;
                const double now = k ? m2 / (v.count > 1 ? v.count - 1 : 1) : mean;
                if (!t.at) continue;
                tnc_store_real(
                    t.at + i * t.step, t.dtype,
                    fma(v.momentum, now, (1 - v.momentum) * tnc_batch_number<double>(t, i, 0)));
            }
            var = m2 / v.count;
        } else {
            mean = tnc_batch_number<double>(v.running_mean, i, 0);
            var = tnc_batch_number<double>(v.running_var, i, 0);
        }
        const double rstd = 1 / sqrt(var + v.eps),
                     scale = (double)tnc_batch_number<T>(v.weight, i, 1) * rstd;
        numbers[i] = (T)mean;
        numbers[v.channels + i] = (T)scale;
        numbers[2 * v.channels + i] = tnc_batch_number<T>(v.bias, i, 0);
        if (v.mean.at) ((T *)v.mean.at)[i] = (T)mean;
        if (v.rstd.at) ((T *)v.rstd.at)[i] = (T)rstd;
    }
}

struct tnc_batch_slopes {
    const tnc_batch_sums *sums;
    tnc_batch_vector mean, rstd, weight, grad_weight, grad_bias;
    float *numbers;
    int64_t channels;
    double count;
};
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_back_numbers(tnc_batch_slopes v) {
    for (int64_t i = TNC_FIRST(); i < v.channels; i += TNC_STEP()) {
        double dw = 0, db = 0;
        if (v.sums) {
            const double rstd = (double)tnc_batch_number<float>(v.rstd, i, 1),
                         scale = (double)tnc_batch_number<float>(v.weight, i, 1) * rstd;
            dw = (double)v.sums[i].two * rstd;
            db = (double)v.sums[i].one;
            v.numbers[v.channels + i] = (float)scale;
            v.numbers[2 * v.channels + i] = (float)(-scale * dw * rstd / v.count);
            v.numbers[3 * v.channels + i] = (float)(-scale * db / v.count);
        }
        tnc_store_real(v.grad_weight.at + i * v.grad_weight.step, v.grad_weight.dtype, dw);
        tnc_store_real(v.grad_bias.at + i * v.grad_bias.step, v.grad_bias.dtype, db);
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_batch_means(tnc_batch_vector mean, float *to, int64_t n) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP())
        to[i] = tnc_batch_number<float>(mean, i, 0);
}

struct tnc_batch {
    const char *x, *dy;
    char *y;
    const char *numbers;
    int64_t numel, channels, run;
    int32_t ndim, dtype, bytes;
    bool x_flat, dy_flat;
    bool packs;
    int64_t size[TN_MAX_DIMS], x_step[TN_MAX_DIMS], dy_step[TN_MAX_DIMS];
    int64_t lines, pieces;
};
TNC_FN int64_t tnc_batch_channel(const tnc_batch &v, int64_t e) {
    if (v.numel <= UINT32_MAX)
        return (int64_t)((uint32_t)e / (uint32_t)v.run % (uint32_t)v.channels);
    return e / v.run % v.channels;
}
template <class T>
TNC_FN T tnc_batch_x(const tnc_batch &v, int64_t e) {
    const int64_t at = v.x_flat ? e * v.bytes : tnc_offset(v.ndim, v.size, v.x_step, e);
    return tnc_load_real<T>(v.x + at, v.dtype);
}
TNC_FN float tnc_batch_dy(const tnc_batch &v, int64_t e) {
    const int64_t at = v.dy_flat ? e * v.bytes : tnc_offset(v.ndim, v.size, v.dy_step, e);
    return tnc_load_real<float>(v.dy + at, v.dtype);
}

template <class T>
TNC_FN T tnc_batch_affine(const tnc_batch &v, int64_t c, T x) {
    const T *numbers = (const T *)v.numbers;
    return tnc_batch_fma(x - numbers[c], numbers[v.channels + c], numbers[2 * v.channels + c]);
}
TNC_FN float tnc_batch_slope(const tnc_batch &v, int64_t c, float x, float dy) {
    const float *numbers = (const float *)v.numbers;
    return fmaf(dy, numbers[v.channels + c],
                fmaf(x - numbers[c], numbers[2 * v.channels + c], numbers[3 * v.channels + c]));
}

template <class T, bool back>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_apply(tnc_batch v) {
    for (int64_t e = TNC_FIRST(); e < v.numel; e += TNC_STEP()) {
        const int64_t c = tnc_batch_channel(v, e);
        const T x = tnc_batch_x<T>(v, e);
        const T y = back ? (T)tnc_batch_slope(v, c, (float)x, tnc_batch_dy(v, e))
                         : tnc_batch_affine<T>(v, c, x);
        tnc_store_real(v.y + e * v.bytes, v.dtype, y);
    }
}
template <class T, bool back>
__global__ void __launch_bounds__(TNC_THREADS) tnc_batch_apply_packs(tnc_batch v) {
    enum { EACH = 16 / sizeof(T) };
    typedef tnc_pack<T, EACH> pack;
    for (int64_t i = TNC_FIRST(); i < v.numel / EACH; i += TNC_STEP()) {
        const int64_t c = tnc_batch_channel(v, i * EACH);
        const pack x = tnc_aligned<pack>(v.x)[i];
        pack y = x;
        if (back) y = tnc_aligned<pack>(v.dy)[i];
        for (int j = 0; j < EACH; j++) {
            const int64_t channel = v.run == 1 ? c + j : c;
            y.e[j] = back ? (T)tnc_batch_slope(v, channel, (float)x.e[j], (float)y.e[j])
                          : tnc_batch_affine<T>(v, channel, x.e[j]);
        }
        ((pack *)v.y)[i] = y;
    }
}

__global__ void __launch_bounds__(128) tnc_batch_moments(tnc_batch v, tnc_lanes l) {
    enum { EACH = 4, LANES = TNC_TEAM * EACH };
    const int64_t all = l.results * l.blocks;
    const int t = (int)(threadIdx.x % TNC_TEAM);
    const tnc_batch_two r = {};
    for (int64_t first = 0; first < all; first += TNC_TEAMS()) {
        const int64_t job = first + TNC_TEAM_NUMBER(), c = job < all ? job / l.blocks : 0,
                      b = job < all ? job % l.blocks : 0, begin = b % v.pieces * TNC_BLOCK,
                      left = v.run - begin, at = (b / v.pieces * v.channels + c) * v.run + begin,
                      n = job >= all         ? 0
                          : left < TNC_BLOCK ? left
                                             : (int64_t)TNC_BLOCK;
        const float mean = ((const float *)v.numbers)[c];
        tnc_batch_sums a[EACH] = {};
        for (int64_t i = t * EACH; i < n; i += LANES)
            for (int j = 0; j < EACH && i + j < n; j++)
                a[j] = r.step(a[j], tnc_batch_x<float>(v, at + i + j), mean,
                              tnc_batch_dy(v, at + i + j));
        a[0] = tnc_team_fold(r, a);
        if (job < all && !t) tnc_block_done(r, l, c, b, a[0]);
    }
}
__global__ void __launch_bounds__(128) tnc_batch_moments_columns(tnc_batch v, tnc_lanes l) {
    const int64_t all = l.results * l.blocks;
    const tnc_batch_two r = {};
    for (int64_t job = TNC_FIRST(); job < all; job += TNC_STEP()) {
        const int64_t c = job % v.channels, b = job / v.channels, begin = b * TNC_BLOCK_ROWS,
                      left = v.lines - begin,
                      end = left < TNC_BLOCK_ROWS ? v.lines : begin + TNC_BLOCK_ROWS;
        const float mean = ((const float *)v.numbers)[c];
        tnc_batch_sums a = {};
        for (int64_t i = begin; i < end; i++)
            a = r.step(a, tnc_batch_x<float>(v, i * v.channels + c), mean,
                       tnc_batch_dy(v, i * v.channels + c));
        tnc_block_done(r, l, c, b, a);
    }
}

static tnc_batch_vector batch_vector(const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    tnc_batch_vector v;
    v.at = o.at;
    v.step = t ? o.stride[0] * o.bytes : 0;
    v.dtype = o.dtype;
    return v;
}

static void batch_plan(tnc_batch *v, const tn_tensor *x, const tn_tensor *dy, const tn_tensor *y) {
    const tn_operand ox = tn_operand_of(x), od = tn_operand_of(dy), oy = tn_operand_of(y);
    int order[TN_MAX_DIMS];
    memset(v, 0, sizeof *v);
    v->x = ox.at;
    v->dy = od.at;
    v->y = oy.at;
    v->numel = oy.numel;
    v->channels = oy.size[1];
    v->dtype = ox.dtype;
    v->bytes = ox.bytes;
    for (int d = 0; d < oy.ndim; d++) {
        int at = v->ndim;
        if (oy.size[d] == 1) continue;
        for (; at > 0 && oy.stride[order[at - 1]] < oy.stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
        v->ndim++;
    }
    v->x_flat = v->dy_flat = true;
    for (int i = 0; i < v->ndim; i++) {
        const int d = order[i];
        v->size[i] = oy.size[d];
        v->x_step[i] = ox.stride[d] * ox.bytes;
        v->x_flat = v->x_flat && ox.stride[d] == oy.stride[d];
        if (!dy) continue;
        v->dy_step[i] = od.stride[d] * od.bytes;
        v->dy_flat = v->dy_flat && od.stride[d] == oy.stride[d];
    }
    v->run = !v->numel || !oy.row_major ? 1 : v->numel / (oy.size[0] * oy.size[1]);
    const int each = v->dtype == TN_F64 ? 2 : 4;
    v->packs = (v->dtype == TN_F32 || v->dtype == TN_F64) && v->x_flat && v->dy_flat &&
               (v->run == 1 ? v->channels : v->run) % each == 0 &&
               ((uintptr_t)v->x | (uintptr_t)v->dy | (uintptr_t)v->y) % 16 == 0;
    v->lines = v->numel ? v->numel / v->channels / v->run : 0;
    v->pieces = (v->run + TNC_BLOCK - 1) / TNC_BLOCK;
}

template <class T, bool back>
static void batch_apply(cudaStream_t s, const tnc_batch &v) {
    if (v.packs)
        TNC_LAUNCH_PLAIN((tnc_batch_apply_packs<T, back>),
                         tnc_blocks(v.numel * (int64_t)sizeof(T) / 16, TNC_THREADS), TNC_THREADS, s,
                         v);
    else
        TNC_LAUNCH_PLAIN((tnc_batch_apply<T, back>), tnc_blocks(v.numel, TNC_THREADS), TNC_THREADS,
                         s, v);
}

static void batch_lanes(tnc_lanes *l, const tn_frame *f) {
    bool gone[TN_MAX_DIMS];
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = d != 1 && d < (int)tn_ndim(f->in[0]);
    tnc_lanes_of(l, f, f->in[0], gone, tnc_reduce_compute((int)tn_dtype_of(f->in[0])),
                 TN_REDUCE_PLAIN);
}
static void batch_sums(tnc_lanes *l, const tnc_batch &v) {
    memset(l, 0, sizeof *l);
    l->results = l->p.keep[0] = v.channels;
    l->p.nkeep = 1;
    l->p.keep_out[0] = l->p.width = 1;
    l->p.n = v.lines * v.run;
    l->p.columns = v.run == 1;
    l->blocks = v.run == 1 ? (v.lines + TNC_BLOCK_ROWS - 1) / TNC_BLOCK_ROWS : v.lines * v.pieces;
}

static int64_t batch_room(int64_t channels, int64_t part, int64_t numbers) {
    return channels * (part + numbers * 8);
}
static bool batch_scratch(tn_frame *f, const tnc_lanes &l, int64_t channels, int64_t part,
                          int64_t numbers) {
    int64_t bytes;
    if (!tnc_lanes_bytes(&l, part, &bytes) ||
        __builtin_add_overflow(bytes, batch_room(channels, part, numbers), &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !bytes || tn_device_scratch(f, bytes) != NULL;
}
static void batch_place(tnc_lanes *l, char *scratch, int64_t channels, int64_t part,
                        int64_t numbers) {
    l->out[0] = scratch;
    l->parts = scratch + batch_room(channels, part, numbers);
}

enum { BATCH_NUMBERS = 4 };

static bool batch_norm_prepare(tn_frame *f) {
    tnc_lanes l;
    batch_lanes(&l, f);
    return batch_scratch(f, l, tn_size(f->in[0], 1), (int64_t)sizeof(tnc_moments), BATCH_NUMBERS);
}
static void batch_channels(tnc_batch_channels *c, tn_frame *f, const tnc_batch &v) {
    TN_ARGS(batch_norm, a, f);
    memset(c, 0, sizeof *c);
    c->channels = v.channels;
    c->count = (double)(v.numel / v.channels);
    c->momentum = a->momentum;
    c->eps = a->eps;
    c->running_mean = batch_vector(a->running_mean);
    c->running_var = batch_vector(a->running_var);
    c->weight = batch_vector(a->weight);
    c->bias = batch_vector(a->bias);
    c->numbers = (char *)f->scratch + v.channels * (int64_t)sizeof(tnc_moments);
    if (a->training) c->spread = (const tnc_moments *)f->scratch;
    if (f->nout <= 2) return;
    c->mean = batch_vector(f->out[1]);
    c->rstd = batch_vector(f->out[2]);
}
static void batch_norm_run(tn_frame *f) {
    TN_ARGS(batch_norm, a, f);
    const cudaStream_t s = tnc_stream(f);
    tnc_batch_channels c;
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, f->in[0], NULL, f->out[0]);
    if (!v.numel) return;
    batch_channels(&c, f, v);
    v.numbers = c.numbers;
    if (a->training) {
        batch_lanes(&l, f);
        batch_place(&l, (char *)f->scratch, v.channels, (int64_t)sizeof(tnc_moments),
                    BATCH_NUMBERS);
        tnc_variance_parts(s, l);
    }
    if (v.dtype == TN_F64) {
        TNC_LAUNCH_PLAIN((tnc_batch_numbers<double>), tnc_blocks(v.channels, TNC_THREADS),
                         TNC_THREADS, s, c);
        batch_apply<double, false>(s, v);
    } else {
        TNC_LAUNCH_PLAIN((tnc_batch_numbers<float>), tnc_blocks(v.channels, TNC_THREADS),
                         TNC_THREADS, s, c);
        batch_apply<float, false>(s, v);
    }
}

static bool batch_norm_backward_prepare(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, a->input, a->grad_out, f->out[0]);
    batch_sums(&l, v);
    return batch_scratch(f, l, v.channels, (int64_t)sizeof(tnc_batch_sums), BATCH_NUMBERS);
}
static void batch_moments(cudaStream_t s, const tnc_batch &v, const tnc_lanes &l) {
    const int64_t jobs = l.results * l.blocks;
    if (l.p.columns)
        TNC_LAUNCH_PLAIN((tnc_batch_moments_columns), tnc_blocks(jobs, 128), 128, s, v, l);
    else
        TNC_LAUNCH((tnc_batch_moments), tnc_blocks(jobs, 128 / TNC_TEAM), 128, s, v, l);
    tnc_reduce_trees(s, l, tnc_batch_two());
}
static void batch_norm_backward_run(tn_frame *f) {
    TN_ARGS(batch_norm_backward, a, f);
    const cudaStream_t s = tnc_stream(f);
    tnc_batch_slopes n;
    tnc_batch v;
    tnc_lanes l;
    batch_plan(&v, a->input, a->grad_out, f->out[0]);
    if (!v.channels) return;
    memset(&n, 0, sizeof n);
    n.channels = v.channels;
    n.count = (double)v.numel / (double)v.channels;
    n.mean = batch_vector(a->mean);
    n.rstd = batch_vector(a->rstd);
    n.weight = batch_vector(a->weight);
    n.grad_weight = batch_vector(f->out[1]);
    n.grad_bias = batch_vector(f->out[2]);
    n.numbers = (float *)((tnc_batch_sums *)f->scratch + v.channels);
    v.numbers = (const char *)n.numbers;
    if (v.numel) {
        batch_sums(&l, v);
        batch_place(&l, (char *)f->scratch, v.channels, (int64_t)sizeof(tnc_batch_sums),
                    BATCH_NUMBERS);
        TNC_LAUNCH_PLAIN((tnc_batch_means), tnc_blocks(v.channels, TNC_THREADS), TNC_THREADS, s,
                         n.mean, n.numbers, v.channels);
        batch_moments(s, v, l);
        n.sums = (const tnc_batch_sums *)f->scratch;
    }
    TNC_LAUNCH_PLAIN((tnc_batch_back_numbers), tnc_blocks(v.channels, TNC_THREADS), TNC_THREADS, s,
                     n);
    if (v.numel) batch_apply<float, true>(s, v);
}

static const tn_device_row batch_norm_table[] = {
    {"batch_norm", false, NULL, batch_norm_prepare, batch_norm_run},
    {"batch_norm_backward", false, NULL, batch_norm_backward_prepare, batch_norm_backward_run}};
TNC_FAMILY(batch_norm, batch_norm_table)

/* src/cuda/nccl.cu - several ranks with a device each, by NCCL: the one file that knows it */

#include <new>
#ifndef TNC_EMULATED
#ifndef _WIN32
#include <dlfcn.h>
#endif
#else

#include <condition_variable>
#include <map>
#include <vector>
#endif

typedef struct nccl_comm *nccl_comm_t;
struct nccl_id {
    char bytes[128];
};
enum { NCCL_SUM, NCCL_PRODUCT, NCCL_MAX, NCCL_MIN, NCCL_AVG };
enum {
    NCCL_I8,
    NCCL_U8,
    NCCL_I32,
    NCCL_I64 = 4,
    NCCL_F16 = 6,
    NCCL_F32,
    NCCL_F64,
    NCCL_BF16,
    NCCL_NONE
};

#define NCCL_FUNCTIONS(X)                                                                          \
    X(GetUniqueId, (nccl_id *))                                                                    \
    X(CommInitRank, (nccl_comm_t *, int ranks, nccl_id, int rank))                                 \
    X(CommDestroy, (nccl_comm_t))                                                                  \
    X(AllReduce,                                                                                   \
      (const void *, void *, size_t count, int type, int op, nccl_comm_t, cudaStream_t))           \
    X(Reduce,                                                                                      \
      (const void *, void *, size_t count, int type, int op, int root, nccl_comm_t, cudaStream_t)) \
    X(Broadcast,                                                                                   \
      (const void *, void *, size_t count, int type, int root, nccl_comm_t, cudaStream_t))         \
    X(AllGather, (const void *, void *, size_t count, int type, nccl_comm_t, cudaStream_t))        \
    X(ReduceScatter,                                                                               \
      (const void *, void *, size_t count, int type, int op, nccl_comm_t, cudaStream_t))           \
    X(GroupStart, (void))                                                                          \
    X(GroupEnd, (void))                                                                            \
    X(Send, (const void *, size_t count, int type, int peer, nccl_comm_t, cudaStream_t))           \
    X(Recv, (void *, size_t count, int type, int peer, nccl_comm_t, cudaStream_t))
struct nccl_library {
#define NCCL_MEMBER(name, parameters) int(*name) parameters;
    NCCL_FUNCTIONS(NCCL_MEMBER)
#undef NCCL_MEMBER
};
static nccl_library nccl;

#ifdef TNC_EMULATED

struct emu_world {
    std::mutex lock;
    std::condition_variable turned;
    int ranks = 0, arrived = 0;
    unsigned turn = 0;
    std::vector<const char *> at;
    void meet() {
        std::unique_lock<std::mutex> held(lock);
        const unsigned now = turn;
        if (++arrived == ranks) {
            arrived = 0;
            turn++;
            turned.notify_all();
        }
        turned.wait(held, [&] { return turn != now; });
    }
};
struct nccl_comm {
    emu_world *world;
    int rank;
};
static std::mutex emu_worlds_lock;
static std::map<int, emu_world> emu_worlds;

static const int emu_types[] = {TN_I8, TN_U8,  TN_I32, 0,      TN_I64,
                                0,     TN_F16, TN_F32, TN_F64, TN_BF16};
static size_t emu_bytes(int type) { return (size_t)tnc_dtype_bytes(emu_types[type]); }

static int emu_GetUniqueId(nccl_id *id) {
    static std::atomic<int> number{1};
    const int mine = number++;
    memcpy(id->bytes, &mine, sizeof mine);
    return !emu_number("EMU_NCCL", 1);
}
static int emu_CommInitRank(nccl_comm_t *c, int ranks, nccl_id id, int rank) {
    int number;
    memcpy(&number, id.bytes, sizeof number);
    std::lock_guard<std::mutex> hold(emu_worlds_lock);
    emu_world *w = &emu_worlds[number];
    w->ranks = ranks;
    w->at.resize((size_t)ranks);
    *c = new nccl_comm{w, rank};
    return 0;
}
static int emu_CommDestroy(nccl_comm_t c) {
    delete c;
    return 0;
}
template <class Make>
static int emu_all(nccl_comm_t c, const void *from, size_t bytes, void *to, size_t result,
                   cudaStream_t s, const Make &make) {
    std::vector<char> mine(bytes + 1), made(result + 1);
    if (bytes) cudaMemcpyAsync(mine.data(), from, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    c->world->at[(size_t)c->rank] = mine.data();
    c->world->meet();
    make(c->world->at, made.data());
    c->world->meet();
    if (result) cudaMemcpyAsync(to, made.data(), result, cudaMemcpyHostToDevice, s);
    return cudaStreamSynchronize(s);
}
static void emu_reduce(const std::vector<const char *> &all, size_t first, size_t count, int type,
                       int op, char *to) {
    const size_t each = emu_bytes(type);
    const int dtype = emu_types[type];
    for (size_t i = 0; i < count; i++) {
        double v = 0;
        for (size_t r = 0; r < all.size(); r++) {
            const double x = tnc_load_real<double>(all[r] + (first + i) * each, dtype);
            v = !r                   ? x
                : op == NCCL_PRODUCT ? v * x
                : op == NCCL_MAX     ? (x > v ? x : v)
                : op == NCCL_MIN     ? (x < v ? x : v)
                                     : v + x;
        }
        tnc_store_real(to + i * each, dtype, op == NCCL_AVG ? v / (double)all.size() : v);
    }
}
static int emu_AllReduce(const void *from, void *to, size_t n, int type, int op, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, bytes, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       emu_reduce(all, 0, n, type, op, made);
                   });
}
static int emu_Reduce(const void *from, void *to, size_t n, int type, int op, int root,
                      nccl_comm_t c, cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, bytes, to, root == c->rank ? bytes : 0, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       if (root == c->rank) emu_reduce(all, 0, n, type, op, made);
                   });
}
static int emu_Broadcast(const void *from, void *to, size_t n, int type, int root, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, root == c->rank ? bytes : 0, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       memcpy(made, all[(size_t)root], bytes);
                   });
}
static int emu_AllGather(const void *from, void *to, size_t n, int type, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type), ranks = (size_t)c->world->ranks;
    return emu_all(c, from, bytes, to, ranks * bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       for (size_t r = 0; r < ranks; r++) memcpy(made + r * bytes, all[r], bytes);
                   });
}
static int emu_ReduceScatter(const void *from, void *to, size_t n, int type, int op, nccl_comm_t c,
                             cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type), ranks = (size_t)c->world->ranks;
    return emu_all(c, from, ranks * bytes, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       emu_reduce(all, (size_t)c->rank * n, n, type, op, made);
                   });
}
static thread_local struct {
    const void *from;
    void *to;
    size_t bytes;
    nccl_comm_t comm;
    cudaStream_t stream;
} emu_group;
static int emu_GroupStart(void) { return 0; }
static int emu_Send(const void *from, size_t n, int type, int peer, nccl_comm_t c, cudaStream_t s) {
    if (peer == 0) emu_group.from = from;
    emu_group.bytes = n * emu_bytes(type);
    emu_group.comm = c;
    emu_group.stream = s;
    return 0;
}
static int emu_Recv(void *to, size_t n, int type, int peer, nccl_comm_t c, cudaStream_t s) {
    (void)n, (void)type, (void)c, (void)s;
    if (peer == 0) emu_group.to = to;
    return 0;
}
static int emu_GroupEnd(void) {
    const size_t bytes = emu_group.bytes, ranks = (size_t)emu_group.comm->world->ranks;
    const size_t mine = (size_t)emu_group.comm->rank;
    return emu_all(emu_group.comm, emu_group.from, ranks * bytes, emu_group.to, ranks * bytes,
                   emu_group.stream, [&](const std::vector<const char *> &all, char *made) {
                       for (size_t r = 0; r < ranks; r++)
                           memcpy(made + r * bytes, all[r] + mine * bytes, bytes);
                   });
}
static bool nccl_open(void) {
#define NCCL_FIND(name, parameters) nccl.name = emu_##name;
    NCCL_FUNCTIONS(NCCL_FIND)
#undef NCCL_FIND
    return true;
}
#else
static bool nccl_open(void) {
#ifdef _WIN32
    return false;
#else
    void *at = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool whole = true;
    if (!at) return false;
#define NCCL_FIND(name, parameters)               \
    {                                             \
        void *found = dlsym(at, "nccl" #name);    \
        memcpy(&nccl.name, &found, sizeof found); \
        whole = whole && found;                   \
    }
    NCCL_FUNCTIONS(NCCL_FIND)
#undef NCCL_FIND
    return whole;
#endif
}
#endif

static bool nccl_there(void) {
    static const bool there = nccl_open();
    return there;
}

struct nccl_kept {
    nccl_comm_t comm;
    int32_t device;
};
static void nccl_release(void *at) {
    nccl_kept *k = (nccl_kept *)at;
    if (!cudaSetDevice(k->device)) nccl.CommDestroy(k->comm);
    delete k;
}

struct nccl_word {
    nccl_id id;
    int32_t device, ready;
};
enum { NCCL_RANKS = TNC_DEVICES };

static bool nccl_words_fit(tn_frame *f, const tn_collective *c, const nccl_word *word) {
    for (int32_t r = 0; r < c->size; r++) {
        if (!word[r].ready)
            return tn_fail(f, TN_UNSUPPORTED,
                           "rank %d has no NCCL (libnccl.so.2), which joins the devices of several "
                           "ranks",
                           (int)r);
        for (int32_t q = 0; q < r; q++)
            if (word[q].device == word[r].device)
                return tn_fail(f, TN_UNSUPPORTED,
                               "ranks %d and %d use the same device: NCCL wants one each", (int)q,
                               (int)r);
    }
    return true;
}

static bool nccl_begin(tn_frame *f, const tn_collective *c) {
    static thread_local nccl_word all[NCCL_RANKS];
    nccl_word mine;
    memset(&mine, 0, sizeof mine);
    mine.device = tn_frame_device(f);
    mine.ready = nccl_there() && (c->rank || !nccl.GetUniqueId(&mine.id));
    if (c->size > NCCL_RANKS)
        return tn_fail(f, TN_UNSUPPORTED, "a group on devices has at most %d ranks",
                       (int)NCCL_RANKS);
    if (!tn_collective_share(f, c, &mine, all, (int64_t)sizeof mine) || !nccl_words_fit(f, c, all))
        return false;
    nccl_kept *k = new (std::nothrow) nccl_kept{NULL, mine.device};
    if (!k) return tn_fail(f, TN_MEMORY, "out of memory");
    if (cudaSetDevice(mine.device) || nccl.CommInitRank(&k->comm, c->size, all[0].id, c->rank)) {
        delete k;
        return tn_fail(f, TN_INTERNAL, "NCCL refuses to join the devices of the ranks");
    }
    tn_group_keep(c->group, k, nccl_release);
    return true;
}

static int nccl_type(const tn_collective *c, size_t *each) {
    const tn_dtype d = tn_dtype_of(c->input);
    *each = 1;
    if (!c->op) {
        *each = (size_t)tn_dtype_bytes(d);
        return NCCL_U8;
    }
    switch (d) {
    case TN_BOOL:
    case TN_U8: return NCCL_U8;
    case TN_I8: return NCCL_I8;
    case TN_I32: return NCCL_I32;
    case TN_I64: return NCCL_I64;
    case TN_F16: return NCCL_F16;
    case TN_BF16: return NCCL_BF16;
    case TN_F32: return NCCL_F32;
    case TN_F64: return NCCL_F64;
    case TN_C64: *each = 2; return NCCL_F32;
    case TN_C128: *each = 2; return NCCL_F64;
    default: return NCCL_NONE;
    }
}
static int nccl_op(const tn_collective *c) {
    const bool truth = tn_dtype_of(c->input) == TN_BOOL;
    switch (c->op) {
    case TN_REDUCE_OP_SUM: return truth ? NCCL_MAX : NCCL_SUM;
    case TN_REDUCE_OP_AVG: return NCCL_AVG;
    case TN_REDUCE_OP_PRODUCT: return truth ? NCCL_MIN : NCCL_PRODUCT;
    case TN_REDUCE_OP_MIN: return NCCL_MIN;
    default: return NCCL_MAX;
    }
}

static bool nccl_takes(tn_frame *f, const tn_collective *c) {
    const char kind = tni_dtype_kind(tn_dtype_of(c->input));
    size_t each;
    if (!tn_operand_of(c->input).row_major || !tn_operand_of(c->output).row_major)
        return tn_fail(f, TN_UNSUPPORTED, "tensors of a device must be contiguous");
    if (c->op >= TN_REDUCE_OP_BAND || nccl_type(c, &each) == NCCL_NONE)
        return tn_fail(f, TN_UNSUPPORTED, "NCCL has no such reduction of %s",
                       tn_dtype_name(tn_dtype_of(c->input)));
    if (tnc_exact() && (kind == 'f' || kind == 'c') && c->op && c->op <= TN_REDUCE_OP_PRODUCT)
        return tn_fail(f, TN_UNSUPPORTED,
                       "NCCL adds in an order of its own, which exact mode refuses");
    return true;
}

static bool nccl_look(tn_frame *f) {
    tn_collective c;
    tn_collective_of(&c, f);
    if (!tn_collective_meet(f, &c) || !nccl_takes(f, &c)) return false;
    if (c.size == 1) return true;
    const nccl_kept *k = (const nccl_kept *)tn_group_kept(c.group);
    if (!k) return nccl_begin(f, &c);
    return k->device == tn_frame_device(f) ||
           tn_fail(f, TN_UNSUPPORTED, "the group has begun on cuda:%d", (int)k->device);
}

static int nccl_all_to_all(const tn_collective *c, const char *in, char *out, size_t bytes,
                           nccl_comm_t comm, cudaStream_t s) {
    const size_t part = bytes / (size_t)c->size;
    int bad = nccl.GroupStart();
    for (int32_t r = 0; r < c->size && !bad; r++) {
        bad = nccl.Send(in + (size_t)r * part, part, NCCL_U8, r, comm, s);
        if (!bad) bad = nccl.Recv(out + (size_t)r * part, part, NCCL_U8, r, comm, s);
    }
    return nccl.GroupEnd() || bad;
}

static int nccl_go(const tn_collective *c, const void *in, void *out, size_t n, nccl_comm_t comm,
                   cudaStream_t s) {
    size_t each;
    const int type = nccl_type(c, &each), op = nccl_op(c);
    const size_t count = n * each;
    switch (c->kind) {
    case TN_BROADCAST: return nccl.Broadcast(in, out, count, type, c->peer, comm, s);
    case TN_ALL_REDUCE: return nccl.AllReduce(in, out, count, type, op, comm, s);
    case TN_REDUCE: return nccl.Reduce(in, out, count, type, op, c->peer, comm, s);
    case TN_ALL_GATHER: return nccl.AllGather(in, out, count, type, comm, s);
    case TN_REDUCE_SCATTER:
        return nccl.ReduceScatter(in, out, count / (size_t)c->size, type, op, comm, s);
    default: return nccl_all_to_all(c, (const char *)in, (char *)out, count, comm, s);
    }
}

static void nccl_run(tn_frame *f) {
    tn_collective c;
    tn_collective_of(&c, f);
    const tn_operand in = tn_operand_of(c.input), out = tn_operand_of(c.output);
    const cudaStream_t s = tnc_stream(f);
    int none = 0;
    if (!in.numel) return;
    if (c.size == 1) {
        if (in.at != out.at)
            cudaMemcpyAsync(out.at, in.at, (size_t)in.numel * in.bytes, cudaMemcpyDeviceToDevice,
                            s);
        return;
    }
    const nccl_kept *k = (const nccl_kept *)tn_group_kept(c.group);
    if (nccl_go(&c, in.at, out.at, (size_t)in.numel, k->comm, s))
        tnc_device_of(f)->broken.compare_exchange_strong(none, (int)cudaErrorUnknown);
}

static const tn_device_row nccl_rows[] = {
    {"distributed_broadcast", false, nccl_look, NULL, nccl_run},
    {"distributed_all_reduce", false, nccl_look, NULL, nccl_run},
    {"distributed_reduce", false, nccl_look, NULL, nccl_run},
    {"distributed_all_gather", false, nccl_look, NULL, nccl_run},
    {"distributed_reduce_scatter", false, nccl_look, NULL, nccl_run},
    {"distributed_all_to_all", false, nccl_look, NULL, nccl_run},
};
TNC_FAMILY(nccl, nccl_rows)

/* src/cuda/backend.cu - what the core asks of the backend (api/device.h): devices, waits, bytes up and down, the rows of all families, and the function that a module exports */

#include <stdlib.h>

#include <new>
#include <vector>

static tnc_device backend_devices[TNC_DEVICES];
static std::mutex backend_lock;

TNC_PRIV tnc_device *tnc_device_at(int32_t device) { return &backend_devices[device]; }

TNC_PRIV cudaStream_t tnc_stream_of(int32_t device) {
    cudaSetDevice(device);
    return backend_devices[device].stream;
}

TNC_PRIV void tnc_launched() {
    const cudaError_t e = cudaPeekAtLastError();
    int device = 0, none = 0;
    if (e == cudaSuccess || cudaGetDevice(&device) != cudaSuccess) return;
    backend_devices[device].broken.compare_exchange_strong(none, (int)e);
}

static bool backend_exact(void) {
    const char *said = getenv("TN_CUDA_EXACT");
#ifdef TNC_EMULATED
    return !said || strcmp(said, "0") != 0;
#else
    return said && strcmp(said, "1") == 0;
#endif
}
TNC_PRIV bool tnc_exact(void) {
    static const bool exact = backend_exact();
    return exact;
}

static bool backend_failed(cudaError_t e, char *why, size_t room) {
    snprintf(why, room, "%s", cudaGetErrorString(e));
    return false;
}

static bool backend_open(int32_t device, char *why, size_t room) {
    std::lock_guard<std::mutex> hold(backend_lock);
    tnc_device *d = &backend_devices[device];
    tnc_fault *fault = NULL;
    cudaError_t e;
    if (d->fault) return true;
    e = cudaSetDevice(device);
    if (!e) e = cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, device);
    if (!e) e = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    if (!e) e = cudaHostAlloc((void **)&fault, sizeof *fault, cudaHostAllocDefault);
    if (e) return backend_failed(e, why, room);
    memset(fault, 0, sizeof *fault);
    d->fault = fault;
    return true;
}

static bool backend_wait(int32_t device, tn_fault *fault, char *why, size_t room) {
    tnc_device *d = &backend_devices[device];
    cudaError_t e = cudaSetDevice(device);
    if (!e) e = cudaStreamSynchronize(d->stream);
    if (!e) e = (cudaError_t)d->broken.load();
    if (!e) e = cudaGetLastError();
    if (e) return backend_failed(e, why, room);
    std::lock_guard<std::mutex> hold(backend_lock);
    if (!d->fault->ticket) return true;
    fault->ticket = d->fault->ticket;
    fault->value = (int64_t)d->fault->value;
    fault->bound = (int64_t)d->fault->bound;
    memset(d->fault, 0, sizeof *d->fault);
    return true;
}

static void backend_properties(int32_t device, tn_device_properties *to) {
    cudaDeviceProp p;
    int runtime = 0;
    size_t left = 0, all = 0;
    if (cudaGetDeviceProperties(&p, device) || cudaRuntimeGetVersion(&runtime)) {
        (void)cudaGetLastError();
        return;
    }
    snprintf(to->name, sizeof to->name, "%.120s", p.name);
    to->major = p.major;
    to->minor = p.minor;
    to->processors = p.multiProcessorCount;
    to->threads = p.maxThreadsPerMultiProcessor;
    to->runtime = runtime;
    to->memory = (int64_t)p.totalGlobalMem;
    to->cache = p.l2CacheSize;
    if (!backend_devices[device].fault || cudaSetDevice(device)) return;
    if (!cudaMemGetInfo(&left, &all)) to->left = (int64_t)left;
}

static bool backend_reads_later(const void *host) {
    cudaPointerAttributes a;
    if (tnc_host_is(host)) return true;
    if (cudaPointerGetAttributes(&a, host) == cudaSuccess)
        return a.type != cudaMemoryTypeUnregistered;
    (void)cudaGetLastError();
    return true;
}

static bool backend_copy(int32_t device, void *to, const void *from, int64_t bytes,
                         enum tn_copy how, char *why, size_t room) {
    cudaStream_t s = backend_devices[device].stream;
    const bool up = (how & TN_COPY_UP) != 0;
    const void *host = up ? from : to;
    cudaError_t e = cudaSetDevice(device);
    if (!e)
        e = cudaMemcpyAsync(to, from, (size_t)bytes,
                            up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, s);
    if (e) return backend_failed(e, why, room);
    if (how & TN_COPY_LATER && tnc_host_busy(host, s)) return true;
    if (!up || backend_reads_later(host)) e = cudaStreamSynchronize(s);
    return !e || backend_failed(e, why, room);
}

static const tn_device_row *backend_rows(int32_t *count) {
    static std::vector<tn_device_row> rows;
    std::lock_guard<std::mutex> hold(backend_lock);
#define BACKEND_ADD(name)                                \
    {                                                    \
        int n;                                           \
        const tn_device_row *of = tnc_##name##_rows(&n); \
        rows.insert(rows.end(), of, of + n);             \
    }
    try {
        if (rows.empty()) {
            TNC_FAMILIES(BACKEND_ADD)
        }
    } catch (const std::bad_alloc &) {
        rows.clear();
    }
#undef BACKEND_ADD
    *count = (int32_t)rows.size();
    return rows.empty() ? NULL : rows.data();
}

static const tn_backend *backend_find(char *why, size_t room) {
    static tn_backend cuda;
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e || !n) {
        snprintf(why, room, "%s", e ? cudaGetErrorString(e) : "the driver knows no device");
        return NULL;
    }
    cuda.rows = backend_rows(&cuda.nrows);
    if (!cuda.rows) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    cuda.version = TN_BACKEND_VERSION;
    cuda.bytes = sizeof cuda;
    cuda.kind = "cuda";
    cuda.count = n > TNC_DEVICES ? (int)TNC_DEVICES : n;
    cuda.open = backend_open;
    cuda.alloc = tnc_alloc;
    cuda.free = tnc_free;
    cuda.copy = backend_copy;
    cuda.elements = tnc_elements;
    cuda.fill = tnc_fill;
    cuda.wait = backend_wait;
    cuda.trim = tnc_trim;
    cuda.memory = tnc_memory;
    cuda.reset_peak = tnc_reset_peak;
    cuda.limit = tnc_limit;
    cuda.snapshot = tnc_snapshot;
    cuda.host_alloc = tnc_host_alloc;
    cuda.host_free = tnc_host_free;
    cuda.properties = backend_properties;
    return &cuda;
}

#ifndef TN_IMPORT
TN_API const tn_backend *tn_cuda_backend(char *why, size_t room) { return backend_find(why, room); }
#else
extern "C" __attribute__((visibility("default"))) const tn_backend *
tn_backend_of_module(const void *exports, char *why, size_t room) {
    if (!tn_import((const tn_exports *)exports)) {
        snprintf(why, room, "its module was compiled for another version of tensor.h");
        return NULL;
    }
    return backend_find(why, room);
}
#endif
#endif /* TENSOR_CUDA_IMPLEMENTATION */

#else /* text that is compiled several times */

#if TNI_CUDA_SECTION == 1
#undef TNI_CUDA_SECTION
#ifdef TN_PREFIX
#define tn_cuda_backend TNI_JOIN(TN_PREFIX, tn_cuda_backend)
#define tn_cuda_layout_3e9fc36b8491 TNI_JOIN(TN_PREFIX, tn_cuda_layout_3e9fc36b8491)
#endif
#ifdef TN_IMPORT
#define tn_cuda_backend (*tni_at_tn_cuda_backend)
#endif
#elif TNI_CUDA_SECTION == 2
#undef TNI_CUDA_SECTION
#define TNI_SYMBOLS_CUDA(X) \
    X(tn_cuda_backend)
#ifdef TN_EXPORT
#define TNI_SYMBOL(name) (void (*)(void))name,
static TNI_UNUSED const tn_exports *tn_cuda_exported(void) {
    static void (*const at[])(void) = {TNI_SYMBOLS_CUDA(TNI_SYMBOL)};
    static const tn_exports all = {"3e9fc36b8491", at, 1};
    return &all;
}
#undef TNI_SYMBOL
#elif defined(TN_IMPORT)
#define TNI_SYMBOL(name) memcpy(&tni_at_##name, at++, sizeof tni_at_##name);
static TNI_UNUSED bool tn_cuda_import(const tn_exports *e) {
    if (!e || e->n != 1 || strcmp(e->layout, "3e9fc36b8491") != 0) return false;
    void (*const *at)(void) = e->at;
    TNI_SYMBOLS_CUDA(TNI_SYMBOL)
    return true;
}
#undef TNI_SYMBOL
#endif
#endif
#endif
