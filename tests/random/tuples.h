/* tuples.h - argument tuples at the ends of their ranges, from a row's samples.
 *
 * Integers, sizes, dims, strides, list members and the contents of index tensors come from
 * {0, 1, -1, n-1, n, 2^31, 2^32+1, INT64_MIN, INT64_MAX}, n a size, the number of dimensions or of
 * elements of a tensor of the same call. A tuple is a sample with none, some or all of its
 * arguments replaced and some of the defaults given. Tensors of more than 2^20 elements have no
 * data: the whole tuple is on meta then. */
#ifndef TNI_TESTS_TUPLES_H
#define TNI_TESTS_TUPLES_H

#include "../ops/sample.h"

enum { TUPLE_INTS = 1200, TUPLE_MEMBERS = 64 };

typedef struct tuple {
    int spoilt; /* arguments that were drawn */
    bool meta;  /* some tensor has more than 2^20 elements */
    int nints, nfloats, nmembers;
    int64_t ints[TUPLE_INTS]; /* what drawn lists point at */
    double floats[128];
    tn_tensor *members[TUPLE_MEMBERS];
} tuple;

void tuple_seed(uint64_t seed); /* of all that is drawn */
int64_t tuple_below(int64_t n);
int64_t tuple_int(const sample *s);
double tuple_float(void);
/* A tensor in place of old (which may be NULL). */
tn_tensor *tuple_tensor(const sample *s, tn_tensor *old, bool *meta);
/* Replaces arguments of s, whose parameters gen has; also the optional ones. */
void tuple_spoil(tuple *t, sample *s, const tn_gen *gen);
/* Puts all tensors of s on meta; false when that fails. */
bool tuple_to_meta(sample *s);
/* Makes floating tensors of s leaves, most of the time. */
void tuple_leaves(sample *s);
/* What distinguishes a tuple: kinds, numbers, shapes, strides and the contents of indices. */
uint64_t tuple_hash(const sample *s);

#endif
