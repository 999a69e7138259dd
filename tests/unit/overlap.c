/* overlap.c - the predicates of overlap against sets of addresses: what is refused is what does
 * overlap, and nothing else. Up to 4 dimensions, sizes up to 4, strides from 0 on. */
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

static const check_test tests[] = {CHECK_TEST(overlap_is_exact)};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
