/* overlap.c - the predicates of overlap against sets of addresses: what is refused is what does
 * overlap, and nothing else. Up to 4 dimensions, sizes up to 4, strides from 0 on: every shape of
 * a set of strides, every pair of such shapes at several distances, and larger ones by chance. */
#include "../../src/tensor/tensor.h"
#include "../check.h"

#include <stdlib.h>

enum { ROUNDS = 200000, REACH = 400, BYTES = 8 };

static uint64_t state = 1;
static int64_t below(int64_t n) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

/* A header without a scope: sizes, strides and offset by chance. */
static void draw(tn_tensor *t, int64_t *dims, tni_storage *s) {
    static const uint8_t dtypes[] = {TN_U8, TN_I16, TN_F32, TN_F64};
    static const int64_t strides[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 20};
    memset(t, 0, sizeof *t);
    t->dtype = dtypes[below(4)];
    t->ndim = (uint8_t)below(5);
    t->size = dims;
    t->stride = dims + 4;
    t->storage = s;
    t->offset = below(12);
    t->numel = 1;
    for (int i = 0; i < t->ndim; i++) {
        t->size[i] = below(8) ? 1 + below(4) : 0;
        t->stride[i] = strides[below(12)];
        t->numel *= t->size[i];
    }
    if (tni_is_row_major(t->ndim, t->size, t->stride)) t->flags |= TNI_CONTIGUOUS;
}

/* Marks each byte of t with the number of elements that hold it. */
static void mark(const tn_tensor *t, uint8_t *byte) {
    memset(byte, 0, REACH * BYTES);
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = t->offset, rest = i;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % t->size[d] * t->stride[d];
            rest /= t->size[d];
        }
        for (int64_t k = 0; k < tni_dtype_size(t); k++) byte[at * tni_dtype_size(t) + k]++;
    }
}

static uint8_t of_a[REACH * BYTES], of_b[REACH * BYTES];

static void overlap_is_exact(void) {
    static double data[REACH];
    tni_storage s;
    int64_t wrong_self = 0, wrong_pair = 0, selves = 0, pairs = 0;
    memset(&s, 0, sizeof s);
    s.data = data;
    s.bytes = sizeof data;
    for (int i = 0; i < ROUNDS; i++) {
        tn_tensor a, b;
        int64_t da[8], db[8];
        bool self = false, pair = false;
        draw(&a, da, &s), draw(&b, db, &s);
        mark(&a, of_a), mark(&b, of_b);
        for (int k = 0; k < REACH * BYTES; k++) {
            self = self || of_a[k] > 1;
            pair = pair || (of_a[k] && of_b[k]);
        }
        wrong_self += tni_overlaps_itself(&a) != self;
        wrong_pair += tni_overlap(&a, &b) != pair;
        selves += self, pairs += pair;
    }
    CHECK_EQ(wrong_self, 0);
    CHECK_EQ(wrong_pair, 0);
    CHECK(selves > ROUNDS / 20 && selves < ROUNDS * 19 / 20); /* both kinds were drawn */
    CHECK(pairs > ROUNDS / 20 && pairs < ROUNDS * 19 / 20);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The elements of a shape as bits. */
typedef struct set {
    uint64_t at[2];
} set;
typedef struct shape {
    int ndim;
    int64_t size[4], stride[4];
    set elements;
    bool self;
} shape;

static void fill(shape *s) {
    int64_t n = 1;
    memset(&s->elements, 0, sizeof s->elements);
    s->self = false;
    for (int d = 0; d < s->ndim; d++) n *= s->size[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0, rest = i;
        for (int d = 0; d < s->ndim; rest /= s->size[d], d++)
            at += rest % s->size[d] * s->stride[d];
        s->self = s->self || (s->elements.at[at / 64] >> at % 64 & 1);
        s->elements.at[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static void header(tn_tensor *t, shape *s, tni_storage *memory, int64_t offset) {
    memset(t, 0, sizeof *t);
    t->dtype = TN_F32;
    t->ndim = (uint8_t)s->ndim;
    t->size = s->size, t->stride = s->stride;
    t->storage = memory;
    t->offset = offset;
    t->numel = 1;
    for (int d = 0; d < s->ndim; d++) t->numel *= s->size[d];
    if (tni_is_row_major(s->ndim, s->size, s->stride)) t->flags |= TNI_CONTIGUOUS;
}

static tni_storage memory_of(void) {
    static float data[256];
    tni_storage m;
    memset(&m, 0, sizeof m);
    m.data = data, m.bytes = sizeof data;
    return m;
}

static void every_shape_overlaps_itself_or_not(void) {
    static const int64_t strides[] = {0, 1, 2, 3, 4, 5, 6, 8};
    tni_storage memory = memory_of();
    int64_t count = 0, overlapping = 0, false_positive = 0, false_negative = 0;
    for (int ndim = 0, kinds = 1; ndim <= 4; ndim++, kinds *= 40)
        for (int code = 0; code < kinds; code++) {
            shape s;
            tn_tensor t;
            bool is;
            s.ndim = ndim;
            for (int d = 0, rest = code; d < ndim; d++, rest /= 40)
                s.size[d] = rest % 5, s.stride[d] = strides[rest % 40 / 5];
            fill(&s);
            header(&t, &s, &memory, 0);
            is = tni_overlaps_itself(&t);
            count++, overlapping += s.self;
            false_positive += is && !s.self, false_negative += !is && s.self;
        }
    CHECK_EQ(false_positive, 0);
    CHECK_EQ(false_negative, 0);
    CHECK(overlapping > count / 10 && overlapping < count * 9 / 10);
    printf("promise 14: every shape of 0..4 dimensions, sizes 0..4, 8 strides from 0: %lld, of "
           "which %lld overlap; %lld false negatives, %lld false positives\n",
           (long long)count, (long long)overlapping, (long long)false_negative,
           (long long)false_positive);
}

/* All shapes of up to 4 dimensions of sizes 2..4, each as one order of its dimensions, with a
 * dimension of size 1 here and there: neither changes the elements. */
enum { MOST_SHAPES = 4000 };
static shape shapes[MOST_SHAPES];
static int shapes_of(int kinds, const int64_t *strides) {
    int n = 0, kind[4];
    for (int code = 0, all = (kinds + 1) * (kinds + 1) * (kinds + 1) * (kinds + 1); code < all;
         code++) {
        shape *s = &shapes[n];
        bool rising = true;
        for (int d = 0, rest = code; d < 4; d++, rest /= kinds + 1) kind[d] = rest % (kinds + 1);
        for (int d = 1; d < 4; d++) rising = rising && kind[d - 1] <= kind[d];
        if (!rising) continue;
        s->ndim = 0;
        for (int d = 0; d < 4; d++) { /* kind 0: no dimension, or one of size 1 */
            const int64_t size = kind[d] ? 2 + (kind[d] - 1) % 3 : 1;
            if (!kind[d] && below(2)) continue;
            const int to = (int)below(s->ndim + 1);
            for (int k = s->ndim; k > to; k--)
                s->size[k] = s->size[k - 1], s->stride[k] = s->stride[k - 1];
            s->size[to] = size;
            s->stride[to] = kind[d] ? strides[(kind[d] - 1) / 3] : below(9);
            s->ndim++;
        }
        fill(s);
        n++;
    }
    return n;
}

static bool meet(const shape *a, const shape *b, int64_t distance) {
    const uint64_t low = b->elements.at[0], high = b->elements.at[1];
    const uint64_t carried = distance ? low >> (64 - distance) : 0;
    return (a->elements.at[0] & low << distance) ||
           (a->elements.at[1] & (high << distance | carried));
}

static void every_pair_of_shapes_meets_or_not(void) {
    static const int64_t strides[] = {0, 1, 2, 3, 5}, distances[] = {0, 1, 7, 2, 3, 5, 10, 16, 23};
    const bool all = getenv("TN_FULL") != NULL;
    const int kinds = all ? 15 : getenv("TN_QUICK") ? 6 : 9, far = all ? 9 : 3;
    const int n = shapes_of(kinds, strides);
    tni_storage memory = memory_of();
    int64_t count = 0, meeting = 0, false_positive = 0, false_negative = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < far; k++) {
                tn_tensor a, b;
                const bool due = meet(&shapes[i], &shapes[j], distances[k]);
                bool is;
                header(&a, &shapes[i], &memory, 0);
                header(&b, &shapes[j], &memory, distances[k]);
                is = (i + j + k) % 2 ? tni_overlap(&a, &b) : tni_overlap(&b, &a);
                count++, meeting += due;
                false_positive += is && !due, false_negative += !is && due;
            }
    CHECK_EQ(false_positive, 0);
    CHECK_EQ(false_negative, 0);
    CHECK(meeting > count / 20 && meeting < count * 19 / 20);
    printf("promise 14: every pair of %d shapes of 0..4 dimensions, sizes 1..4, %d strides from 0, "
           "at %d distances: %lld, of which %lld meet; %lld false negatives, "
           "%lld false positives\n",
           n, kinds / 3, far, (long long)count, (long long)meeting, (long long)false_negative,
           (long long)false_positive);
}

static const check_test tests[] = {CHECK_TEST(overlap_is_exact),
                                   CHECK_TEST(every_shape_overlaps_itself_or_not),
                                   CHECK_TEST(every_pair_of_shapes_meets_or_not)};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
