/* chosen.cu - how many elements of a mask are true, in each tile and before it. */
#include "chosen.cuh"
#include "memory.cuh"

/* A block a tile; each thread has 16 elements of it. */
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

/* One block: counts become the sums of those before them; behind them stands the sum of all. */
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

/* --- host ------------------------------------------------------------------------------------- */

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
    c.counts = (int64_t *)tnc_alloc_for(f, tnc_chosen_bytes(c));
    if (!c.counts) return false;
    tnc_chosen_count(tnc_stream(f), c);
    done = tnc_look_at(f, count, c.counts + c.tiles, 8);
    tnc_free(device, c.counts);
    return done;
}
