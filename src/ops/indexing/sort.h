/* sort.h - lanes of elements as pairs of key and place, in order or in part (sort.c). */
#ifndef TNI_OPS_INDEXING_SORT_H
#define TNI_OPS_INDEXING_SORT_H

#include "../../call/call.h"

/* Keys order as unsigned numbers: NaN is the largest, TNI_SORT_NAN; the zeros are equal. */
#define TNI_SORT_NAN (~UINT64_C(0))
typedef struct tni_sort_pair {
    uint64_t key;
    int64_t place;
} tni_sort_pair;

/* The n elements `step` bytes apart as pairs; false if the call is to stop. */
TN_PRIV bool tni_sort_keys(tni_sort_pair *p, const char *from, int64_t step, int64_t n, int dtype);
/* Sorts n pairs at p by way of room, which has as many places; returns where they lie at last. */
TN_PRIV tni_sort_pair *tni_sort_pairs(tni_sort_pair *p, tni_sort_pair *room, int64_t n);
/* Moves the k smallest of n pairs to the front, in any order. */
TN_PRIV void tni_sort_select(tni_sort_pair *p, int64_t n, int64_t k);

#endif
