/* chosen.cuh - the elements where a mask is true, numbered in row-major order: tiles are counted,
 * the counts summed up, and then each tile knows the number of its first.
 *
 * A sink S is a struct with
 *     hit(s, at, i, rank)   element i is the rank-th true one; at: places of the walk's operands
 *     miss(s, at, i, rank)  element i is not true, and rank are before it
 * A block has a tile of 4096 elements, 256 at a time, so that neighbours are read together. */
#ifndef TNC_CUDA_CHOSEN_CUH
#define TNC_CUDA_CHOSEN_CUH

#include "places.cuh"

enum { TNC_TILE = 4096, TNC_WARPS = TNC_THREADS / 32 };

/* Whether the element is not zero (NaN is not). */
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

/* A mask and what is walked beside it: operand 0 is the mask. */
struct tnc_chosen {
    tnc_far<3> w;
    const char *mask;
    int32_t dtype;
    int64_t tiles, *counts; /* tiles + 1: the true ones before each tile, and all */
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
/* Fills c.counts. */
TNC_PRIV void tnc_chosen_count(cudaStream_t s, const tnc_chosen &c);
/* For look: how many are true; waits. False with an error. */
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
            if (in && !hit) S::miss(sink, at, i, mine);
            __syncthreads();
        }
    }
}
/* Behind tnc_chosen_count. */
template <class S>
static inline void tnc_chosen_run(cudaStream_t s, const tnc_chosen &c, const S &sink) {
    if (c.tiles)
        TNC_LAUNCH((tnc_chosen_kernel<S>), tnc_blocks(c.tiles, 1), TNC_THREADS, s, c, sink);
}

#endif
