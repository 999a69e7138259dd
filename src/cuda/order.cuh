/* order.cuh - a stable sort of keys with their places, rows of them side by side. */
#ifndef TNC_CUDA_ORDER_CUH
#define TNC_CUDA_ORDER_CUH

#include "cuda.cuh"

/* No two of a row are equal, since places differ, so the order is one only. Behind all: NOWHERE. */
struct alignas(16) tnc_item {
    uint64_t key;
    int64_t place;
};
enum { TNC_ORDER_TILE = 1024 };
TNC_FN bool tnc_before(const tnc_item &a, const tnc_item &b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
}

/* Sorts each of `rows` rows of n items. Two buffers of rows x n; says in which of them the sorted
 * ones lie, which depends on n alone. */
TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                             int64_t n);
/* The first k of each row only, in order, k at most n. They lie k apart a row. */
TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, tnc_item *room, int64_t rows,
                                   int64_t n, int64_t k, int64_t *row);
/* Bytes of both buffers; false: too many. */
static inline bool tnc_order_bytes(int64_t rows, int64_t n, int64_t *bytes) {
    return !__builtin_mul_overflow(rows, n, bytes) && !__builtin_mul_overflow(*bytes, 32, bytes);
}

#endif
