/* order.cuh - a stable sort of keys with their places, rows of them side by side. The items of a
 * row come in the order of their places. */
#ifndef TNC_CUDA_ORDER_CUH
#define TNC_CUDA_ORDER_CUH

#include "cuda.cuh"

/* No two of a row are equal, since places differ, so the order is one only. Behind all: NOWHERE. */
struct alignas(16) tnc_item {
    uint64_t key;
    int64_t place;
};
enum {
    TNC_ORDER_TILE = 1024,  /* items that are sorted in shared memory */
    TNC_ORDER_VALUES = 256, /* of a digit of a key */
    TNC_ORDER_BLOCK = 2048  /* items that are dealt out by a digit together */
};
TNC_FN bool tnc_before(const tnc_item &a, const tnc_item &b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
}

/* Sorts each of `rows` rows of n items, of whose keys so many low bits decide, with memory of
 * tnc_order_bytes that begins with them; says where in it the sorted ones lie. */
TNC_PRIV tnc_item *tnc_order(cudaStream_t s, tnc_item *items, int64_t rows, int64_t n, int bits);
/* The first k of each row only, in order, k at most n. They lie *row apart. */
TNC_PRIV tnc_item *tnc_order_first(cudaStream_t s, tnc_item *items, int64_t rows, int64_t n,
                                   int64_t k, int bits, int64_t *row);
/* Whether that is done digit by digit: where it takes fewer passes over memory than merging. */
static inline bool tnc_order_by_digits(int64_t n, int bits) {
    int merges = 0;
    for (int64_t width = TNC_ORDER_TILE; width < n; width *= 2) merges++;
    return (bits + 7) / 8 < merges && n < UINT32_MAX;
}
/* Items twice, and for digits counts of each value in each block of a row and in all of it. False:
 * too many. */
static inline bool tnc_order_bytes(int64_t rows, int64_t n, int bits, int64_t *bytes) {
    int64_t counts = 0;
    if (__builtin_mul_overflow(rows, n, bytes) || __builtin_mul_overflow(*bytes, 32, bytes))
        return false;
    if (tnc_order_by_digits(n, bits)) /* less than the items */
        counts = rows * TNC_ORDER_VALUES * (n / TNC_ORDER_BLOCK + 2) * 4;
    return !__builtin_add_overflow(*bytes, counts, bytes);
}

#endif
