/* reflectors.cuh - blocks of reflections of batches of matrices, in the order of the CPU
 * (cpu/householder.c). */
#ifndef TNC_CUDA_REFLECTORS_CUH
#define TNC_CUDA_REFLECTORS_CUH

#include "blocks.cuh"

/* So many reflections are applied at once. */
enum { TNC_REFLECTIONS = 32 };
/* H_0 H_1 ... = I - V T V^H; w, u: room for products with as many columns as are given. */
struct tnc_reflectors {
    tnc_block v, t, w, u;
};
/* For prepare: matrices of m rows and so many columns in all, m factors, and blocks that are
 * applied to at most `wide` columns. */
TNC_PRIV bool tnc_reflectors_scratch(tn_frame *f, const tn_operand &t, int64_t batches, int64_t m,
                                     int64_t columns, int64_t wide);
TNC_PRIV tnc_reflectors tnc_reflectors_in(char **room, int dtype, int64_t m, int64_t n,
                                          int64_t batches);
/* The first q.n columns of the product of the n reflections in a. */
TNC_PRIV void tnc_reflections_product(cudaStream_t s, tnc_reflectors *r, const tnc_block &a,
                                      int64_t n, const tnc_block &taus, const tnc_block &q);
/* a becomes R on and above its diagonal, the reflections below it; taus their factors. */
TNC_PRIV void tnc_block_qr(cudaStream_t s, tnc_reflectors *r, const tnc_block &a,
                           const tnc_block &taus);
/* The same column by column. */
TNC_PRIV void tnc_block_qr_columns(cudaStream_t s, const tnc_block &a, const tnc_block &taus);

#endif
