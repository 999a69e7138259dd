/* cuda.cuh - what all files of the backend share: the runtime, one device's state, grids.
 *
 * Every file is compiled by nvcc for the device (hipcc: hip.h) and, with TNC_EMULATION naming a
 * header that has CUDA's words for the host (tests/cuda_host), by a C++ compiler. Kernels are
 * launched by TNC_LAUNCH, or by TNC_LAUNCH_PLAIN if they have no barrier, no shared memory and no
 * warp operation; shared memory is declared by TNC_SHARED. They are compiled without contraction
 * (-fmad=false): an fma stands where the CPU has one, so the bits are the CPU's. */
#ifndef TNC_CUDA_CUDA_CUH
#define TNC_CUDA_CUDA_CUH

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <atomic>
#include <mutex>

#include "hip.h"

#ifdef TNC_EMULATION
#include TNC_EMULATION
#else
#ifndef __HIP__
#include <cuda_runtime.h>
#endif
#define TNC_SHARED(T, name, n) __shared__ T name[n]
#define TNC_LAUNCH(kernel, grid, block, stream, ...) \
    (kernel<<<grid, block, 0, stream>>>(__VA_ARGS__), tnc_asked())
#define TNC_LAUNCH_PLAIN TNC_LAUNCH
#endif

#include "../api/ops.h"
#include "../api/cuda.h"

/* Functions that the files share; in one translation unit they need no linkage. */
#ifdef TNI_OBJECTS
#define TNC_PRIV
#else
#define TNC_PRIV static
#endif
#define TNC_FN static __device__ __forceinline__

/* A static object that is never destroyed: others free tensors when main has ended. */
template <class T>
union tnc_lasting {
    T value;
    tnc_lasting() : value() {}
    ~tnc_lasting() {}
};

/* --- a device --------------------------------------------------------------------------------- */

enum { TNC_DEVICES = 64 };
/* Where kernels tell of an index out of range: host memory that both see. */
struct tnc_fault {
    unsigned long long claim;                /* of the kernel that fills it: the first */
    unsigned long long ticket, value, bound; /* ticket is written last; 0: there is none */
};
struct tnc_device {
    cudaStream_t stream; /* the device's own */
    bool open;
    int processors;
    std::atomic<int> broken; /* cudaError_t of what was refused first; 0: nothing */
};
TNC_PRIV tnc_device *tnc_device_at(int32_t device);
/* The place of a context that has opened the device; owner: its number. */
TNC_PRIV tnc_fault *tnc_fault_of(int32_t device, uint64_t owner);
/* Whether the CPU's bits count more than speed: TN_CUDA_EXACT=1 in the environment; in emulation
 * unless it is 0. Random numbers are then drawn by the host. */
TNC_PRIV bool tnc_exact(void);
/* Whether vendors' libraries may multiply float32 with 10 bits of mantissa: TN_CUDA_TF32=1. */
TNC_PRIV bool tnc_tf32(void);
static inline tnc_device *tnc_device_of(const tn_frame *f) {
    return tnc_device_at(tn_frame_device(f));
}
TNC_PRIV const tn_backend *tnc_backend();
TNC_PRIV const tn_backend_streams *tnc_streams();
/* Whether no stream was made beside the devices' own. */
TNC_PRIV bool tnc_one_stream();
/* The thread's current stream of a device. */
TNC_PRIV cudaStream_t tnc_stream_now(int32_t device);
/* The same, and the device becomes the thread's current one: a launch needs that. */
TNC_PRIV cudaStream_t tnc_stream_of(int32_t device);
/* Behind a wait that said e: whether the device is whole, and a fault of its kernels. */
TNC_PRIV bool tnc_waited(int32_t device, cudaError_t e, tn_fault *fault, char *why, size_t room);
static inline cudaStream_t tnc_stream(const tn_frame *f) {
    return tnc_stream_of(tn_frame_device(f));
}
/* Behind a launch, a copy or a fill that run asks for: the first one that is refused breaks its
 * device, which the next wait tells. */
TNC_PRIV void tnc_asked();

/* --- grids ------------------------------------------------------------------------------------ */

enum { TNC_THREADS = 256 };

/* Elements that 32-bit arithmetic may number. */
static inline int64_t tnc_piece(void) {
#ifdef TNC_EMULATED
    static const int64_t most = emu_number("EMU_PIECE", 1 << 30); /* few: walks go by pieces */
    return most;
#else
    return 1 << 30;
#endif
}

/* Blocks for n jobs, `each` a block; kernels loop over the grid, so fewer do as well. */
static inline unsigned tnc_blocks(int64_t n, int64_t each) {
#ifdef TNC_EMULATED
    static const int64_t most = emu_number("EMU_BLOCKS", 1 << 16); /* few: loops go round */
#else
    const int64_t most = 1 << 16;
#endif
    const int64_t blocks = (n + each - 1) / each;
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}
/* for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP()) */
#define TNC_FIRST() ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define TNC_STEP() ((int64_t)gridDim.x * blockDim.x)

/* Sizes and strides of a walk as kernels take them: n elements, numbered from the innermost
 * dimension on. */
template <int operands>
struct tnc_walk {
    char *at[operands];
    int64_t n;
    int32_t ndim;
    uint32_t size[TN_MAX_DIMS];
    int64_t stride[operands][TN_MAX_DIMS];
};
/* Where element i of each operand lies, in bytes; the outermost dimension takes what is left. */
template <int operands>
TNC_FN void tnc_walk_to(const tnc_walk<operands> &w, uint32_t i, int64_t *at) {
    for (int k = 0; k < operands; k++) at[k] = 0;
    for (int d = 0; d < w.ndim; d++) {
        const uint32_t q = d + 1 < w.ndim ? i / w.size[d] : 0, r = i - q * w.size[d];
        for (int k = 0; k < operands; k++) at[k] += (int64_t)r * w.stride[k][d];
        i = q;
    }
}

/* Where element `i` of the dimensions from `from` on lies in operand k, in bytes. */
static inline int64_t tnc_walk_outer(const tn_walk_plan &p, int from, int k, int64_t i) {
    int64_t at = 0;
    for (int d = from; d < p.ndim; d++) {
        at += i % p.size[d] * p.stride[k][d];
        i /= p.size[d];
    }
    return at;
}
/* Calls run(part) with pieces of the walk that 32-bit numbers reach, in the order of its elements:
 * whole dimensions as long as they fit, rows of the next one, each element of those beyond. */
template <int operands, class Run>
static inline void tnc_walk_pieces(const tn_walk_plan &p, const Run &run) {
    tnc_walk<operands> w;
    int64_t inner = 1, outer, rows;
    int cut = 0;
    if (!p.numel) return;
    while (cut < p.ndim - 1 && p.size[cut] <= tnc_piece() / inner) inner *= p.size[cut++];
    outer = p.numel / inner / p.size[cut];
    rows = tnc_piece() / inner;
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

/* Bytes of an element. */
static inline int tnc_dtype_bytes(int dtype) { return (int)tn_dtype_bytes((tn_dtype)dtype); }

#endif
