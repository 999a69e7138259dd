/* random.cuh - words of Philox4x32-10: J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
 * 3", SC 2011. The same as generator.c's. */
#ifndef TNC_CUDA_RANDOM_CUH
#define TNC_CUDA_RANDOM_CUH

#include "cuda.cuh"

/* Words 4 i to 4 i + 3 of a draw. */
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

/* The first of two words is the high half. */
TNC_FN uint64_t tnc_wide(const uint32_t *word) { return (uint64_t)word[0] << 32 | word[1]; }
/* Uniform in [0, 1), of 53 and of 24 bits, as the CPU's. */
TNC_FN double tnc_u53(const uint32_t *word) {
    return (double)(int64_t)(tnc_wide(word) & 0x1fffffffffffffu) * (1.0 / 9007199254740992.0);
}
TNC_FN float tnc_u24(uint32_t word) {
    return (float)(int32_t)(word & 0xffffffu) * (1.0f / 16777216.0f);
}

#endif
