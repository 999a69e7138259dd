/* blocks.cuh - products, triangular systems and factorizations of batches of matrices by blocks, in
 * the order of the CPU (cpu/matrix_blocks.c, cpu/lu.c): half of the columns, then a product that
 * brings the other half up to date. The host splits, all matrices of a batch go together. */
#ifndef TNC_CUDA_BLOCKS_CUH
#define TNC_CUDA_BLOCKS_CUH

#include "factors.cuh"

/* Column-major matrices in memory of the device, complex numbers as pairs. */
struct tnc_block {
    char *at;
    int64_t m, n, ld, each, batches; /* each: bytes from one matrix to the next */
    int32_t dtype;
    const int32_t *stopped; /* matrices of a batch with a number here stay as they are; or NULL */
};
/* One matrix of a batch. */
template <class T, int parts>
TNC_FN tnc_matrix<T, parts> tnc_block_at(const tnc_block &b, int64_t batch) {
    return tnc_matrix<T, parts>{(T *)(void *)(b.at + batch * b.each), parts, b.ld * parts};
}
/* Of more columns systems and factorizations go by halves. */
enum { TNC_COLUMNS_ALONE = 48 };
enum { TNC_AS_IS, TNC_TRANSPOSED = 1, TNC_ADJOINT = 3 }; /* how a matrix is read */

/* In *room, which moves behind it. */
static inline tnc_block tnc_block_in(char **room, int dtype, int64_t m, int64_t n,
                                     int64_t batches) {
    const tnc_block b = {*room, m, n, m, m * n * tnc_dtype_bytes(dtype), batches, dtype, NULL};
    *room += b.each * batches;
    return b;
}
/* The m x n matrix within b whose upper left element is (i, j). */
static inline tnc_block tnc_block_part(const tnc_block &b, int64_t i, int64_t j, int64_t m,
                                       int64_t n) {
    tnc_block part = b;
    part.at += (i + j * b.ld) * tnc_dtype_bytes(b.dtype);
    part.m = m;
    part.n = n;
    return part;
}

/* From a tensor's matrices, broadcast to the batches of `like`, and back. */
TNC_PRIV void tnc_block_load(cudaStream_t s, const tnc_block &b, const tn_operand &t,
                             const tn_operand &like, int how);
TNC_PRIV void tnc_block_store(cudaStream_t s, const tnc_block &b, const tn_operand &t, int how);
/* From vectors (b.n is 1), whose batches are those of matrices. */
TNC_PRIV void tnc_block_load_vectors(cudaStream_t s, const tnc_block &b, const tn_operand &t);
/* What lies on the diagonal, above and below it: as it is, zeros, or ones. */
enum tnc_block_keep { TNC_KEEP_UNIT, TNC_KEEP_LOWER, TNC_KEEP_UPPER, TNC_KEEP_REFLECTIONS };
TNC_PRIV void tnc_block_clear(cudaStream_t s, const tnc_block &b, tnc_block_keep keep);
/* c = [c +] alpha op(a) op(b); alpha is 1 where c is not read, else 1 or -1. */
TNC_PRIV void tnc_block_product(cudaStream_t s, const tnc_block &c, const tnc_block &a, int how_a,
                                const tnc_block &b, int how_b, double alpha, bool add);
/* t x = b in place of b, of the triangle t; `unit`: its diagonal counts as ones. */
TNC_PRIV void tnc_block_solve(cudaStream_t s, const tnc_block &t, const tnc_block &x, bool upper,
                              bool unit);
/* x op(t) = b in place of b, where op(t) is upper triangular. */
TNC_PRIV void tnc_block_solve_right(cudaStream_t s, const tnc_block &x, const tnc_block &t, int how,
                                    bool unit);

/* Pivots of matrices: each exchanged with row at[i] - 1, counted from the matrix's row `first`. */
struct tnc_pivots {
    int32_t *at;
    int64_t n; /* a matrix */
};
/* Rows of x as the pivots `from` to `end` say, or back; row 0 of x is row `first` of theirs. */
TNC_PRIV void tnc_block_exchange(cudaStream_t s, const tnc_block &x, const tnc_pivots &p,
                                 int64_t from, int64_t end, int64_t first, bool back);
/* a becomes L and U; info, which is 0 before, the first zero on U's diagonal, counted from 1. */
TNC_PRIV void tnc_block_lu(cudaStream_t s, const tnc_block &a, const tnc_pivots &p, int32_t *info);
TNC_PRIV void tnc_block_lu_solve(cudaStream_t s, const tnc_block &lu, const tnc_pivots &p,
                                 const tnc_block &x, bool adjoint);

#endif
