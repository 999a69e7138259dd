/* sort.h - lanes of elements in order, or in part, by keys that compare as unsigned numbers
 * (keys.c).
 *
 * NaN is the largest, and the zeros are equal. Of equal elements the first comes first, so there is
 * one order only, whatever finds it. All functions return early, with NULL or a place of no
 * meaning, if the call is to stop. */
#ifndef TNI_OPS_INDEXING_SORT_H
#define TNI_OPS_INDEXING_SORT_H

#include "../../call/call.h"

/* n elements, one or more, `step` bytes apart. */
typedef struct tni_sort_lane {
    const char *at;
    int64_t n, step;
    uint64_t turn; /* all ones: the largest come first; else 0 */
    int dtype;
} tni_sort_lane;

/* For check: scratch for `lanes` lanes of n elements, for each worker of tn_each; 0 lanes: one for
 * the call. */
TN_PRIV bool tni_sort_scratch(tn_frame *f, int64_t n, int64_t lanes);
/* The first element of lane i along d, numbered row-major over the other dimensions. */
TN_PRIV char *tni_sort_lane_at(const tn_tensor *t, int d, int64_t i);
/* A lane of t along d; at: bytes of its first element. A tensor without dimensions is a lane. */
TN_PRIV tni_sort_lane tni_sort_lane_of(const tn_tensor *t, int d, const char *at, bool descending);

/* The places of all elements in order. */
TN_PRIV const uint64_t *tni_sort_order(const tni_sort_lane *l, void *scratch);
/* The places of the first k elements in order, k at most n. */
TN_PRIV const uint64_t *tni_sort_first(const tni_sort_lane *l, int64_t k, void *scratch);
/* Makes the lane's keys in scratch. A NaN's is tni_sort_nan, if turn is 0. */
TN_PRIV const uint64_t *tni_sort_keys(const tni_sort_lane *l, void *scratch);
TN_PRIV uint64_t tni_sort_nan(int dtype);
/* After tni_sort_keys, which it changes: the place of the k-th element in order, from 0. */
TN_PRIV int64_t tni_sort_kth(const tni_sort_lane *l, int64_t k, void *scratch);

#endif
